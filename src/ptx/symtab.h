// SPDX-License-Identifier: Apache-2.0
// symtab — names in nested scopes, for the parser.
//
// Every name ever seen has one slot, whose stack of bindings has the innermost on top; leaving a scope pops what
// was bound in it. Registers declared as prefix<count> are bound by their prefix, as a range, and become
// objects when first mentioned: a declaration of four thousand million registers costs nothing.
#ifndef GR_PTX_SYMTAB_H
#define GR_PTX_SYMTAB_H

#include "base/arena.h"
#include "ptx/lexer.h"

typedef enum SymKind { SYM_REG, SYM_RANGE, SYM_VAR, SYM_FUNC, SYM_LABEL } SymKind;

typedef struct Sym {
    struct SymName *name;
    struct Sym *outer;   // what it shadows
    struct Sym *sibling; // the one bound before it in the same scope
    SymKind kind;
    uint32_t depth;
    void *obj;
} Sym;

typedef struct SymName {
    const char *s;
    uint32_t len, hash;
    Sym *top;
} SymName;

typedef struct SymTab {
    Arena *arena; // of the names, and of the outermost bindings
    Arena *inner; // of bindings in scopes: may be emptied when all of those have been left
    SymName **slots;
    size_t cap, count;
    Sym **scopes; // the last binding of each open scope
    uint32_t depth, scopes_cap;
} SymTab;

void gr_sym_init(SymTab *t, Arena *arena, Arena *inner);
void gr_sym_free(SymTab *t);

bool gr_sym_push(SymTab *t); // false when memory is out
void gr_sym_pop(SymTab *t);

// The innermost binding of a name, or NULL.
Sym *gr_sym_find(const SymTab *t, const char *s, size_t len);
// Binds in the innermost scope; NULL when memory is out. `s` must outlive the table.
Sym *gr_sym_bind(SymTab *t, const char *s, size_t len, SymKind kind, void *obj);

#endif
