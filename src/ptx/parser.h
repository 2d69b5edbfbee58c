// SPDX-License-Identifier: Apache-2.0
// parser — state and entry points that the parser's files share.
//
//     parse.c     gr_ptx_parse, and the module level: headers, .file, .section, linkage
//     function.c  .entry and .func headers
//     variable.c  variable declarations and initializers
//     body.c      statements of a function
//     operand.c   operands and name resolution
//     names.c     what a name means where text is inserted
//     locs.c      .loc chains
#ifndef GR_PTX_PARSER_H
#define GR_PTX_PARSER_H

#include "base/vec.h"
#include "ptx/expr.h"
#include "ptx/lexer.h"
#include "ptx/ptx.h"
#include "ptx/symtab.h"

// A label while its function is being read. A label mentioned in a nested scope and not defined there is the one of
// an enclosing scope (`alias`), which is known only when the scope closes.
typedef struct LabelSym {
    PtxLabel label; // first: a PtxLabel of the parser is a LabelSym
    struct LabelSym *alias;
    uint32_t line, col; // of its first mention
    bool soft;          // mentioned where a label is not certain to be meant
    bool defined;
    struct LabelSym *next_unresolved;
} LabelSym;

// Registers declared as prefix<count>, made when mentioned.
typedef struct RegRange {
    PtxRegDecl *decl;
    uint32_t entry;
    PtxReg **regs; // dense part
    uint32_t cap;
    Map sparse; // numbers past DENSE_REGS
    struct RegRange *next;
} RegRange;

struct LocTable;

typedef VEC(PtxSite) PtxSites;
// Numbers the sites of `f`, on from those that there are. False: out of memory.
bool gr_sites_of(PtxFunc *f, PtxSites *sites);
gr_status gr_sites_take(PtxModule *m, PtxSites *sites, gr_error *err); // they are the module's

typedef struct Parser {
    Lexer lex;
    PtxModule *m;
    Arena *arena;  // the module's
    Arena scratch; // lives as long as the parser
    Arena local;   // while a function is read
    SymTab syms, labels;
    struct LocTable *locs;
    PtxFunc *f;        // the function being read
    const PtxLoc *loc; // the .loc in effect
    PtxLoc assembly;   // the first .loc of the inline assembly being read; line 0: there was none yet
    bool labels_open;  // some label needs resolving when the function ends
    RegRange *ranges;
    VEC(PtxOperand) ops;   // stack of operands being read
    VEC(PtxInstr *) calls; // direct ones, for their callee is looked up when all functions are known
    // gr_ptx_insert: text refers to the function's names from where it is inserted, and to $0 … $9.
    bool inserting;
    PtxStmt *at;
    const PtxOperand *args;
    unsigned n_args;
    uint32_t site;
    PtxStmt *first, *last; // the statements read so far
    // gr_ptx_link_runtime: items are collected here and everything is the tool's own.
    bool linking;
    PtxItem *items, *last_item;
    PtxSites sites;
    // gr_ptx_parse_shelved.
    bool shelving;
    size_t calls_kept; // of `calls`: those of functions before
    Arena body;        // of the function being read
    StrBuf bytes;
} Parser;

// Interns special registers, names of sources and the like, which are never renamed.
static inline const char *gr_parse_intern(Parser *p, const char *s, size_t len) {
    return gr_intern(&p->m->strings, s, len);
}

gr_status gr_parser_init(Parser *p, PtxModule *m, const char *text, size_t len, const char *name,
                         gr_error *err);
void gr_parser_free(Parser *p);
void gr_parse_forget_local(Parser *p); // what only the function that has been read needed

gr_status gr_parse_module(Parser *p);
typedef struct Linkage {
    bool is_extern, is_visible, is_weak, is_common;
} Linkage;

// The cursor is after ".entry" or ".func".
gr_status gr_parse_function(Parser *p, const Linkage *linkage, bool is_entry, PtxTag tag, uint32_t line);
// Formal parameters: "( … )", the cursor is before '('.
gr_status gr_parse_params(Parser *p, PtxVar ***out, uint32_t *n_out);

// One declarator list up to and including ';': `sink` receives each variable. The cursor is after ".global" etc.
typedef gr_status (*VarSink)(Parser *p, PtxVar *v, PtxTag tag);
gr_status gr_parse_variables(Parser *p, const Linkage *linkage, PtxSpace space, PtxTag tag, uint32_t line,
                             VarSink sink);
// What comes between a space and a name: .align, .v4, .b32, .ptr, .attribute. Ends before the name.
gr_status gr_parse_var_type(Parser *p, PtxVar *v);

// Statements up to '}' (consumed), or up to the end of the text when inserting.
gr_status gr_parse_body(Parser *p);
PtxStmt *gr_parse_new_stmt(Parser *p, PtxStmtKind kind, PtxTag tag);

// One operand, appended to p->ops. `label_expected`: an unknown name is a label's.
gr_status gr_parse_operand(Parser *p, bool label_expected, unsigned depth);
// Moves the operands from `base` up into an array of the module's.
gr_status gr_parse_take_operands(Parser *p, size_t base, PtxOperand **out, uint16_t *n_out);
gr_status gr_parse_guard(Parser *p, PtxReg **reg, bool *negated);
// The label `name` as mentioned here.
LabelSym *gr_parse_label_ref(Parser *p, Slice name, bool soft);
gr_status gr_parse_label_def(Parser *p, Slice name, PtxStmt *s);
// Makes a register, a range of registers or a variable known in the innermost scope, where its name must be new.
gr_status gr_parse_bind(Parser *p, Slice name, SymKind kind, void *obj);
gr_status gr_parse_scope_open(Parser *p);
void gr_parse_scope_close(Parser *p);
gr_status gr_parse_labels_end(Parser *p); // at the end of the function

PtxReg *gr_parse_make_reg(PtxFunc *f, const char *name, PtxType type, unsigned vec);
PtxReg *gr_parse_find_reg(Parser *p, Slice name);

// The register that a pass made, by its name, which no other name shadows; NULL: it is none.
PtxReg *gr_build_made_reg(const PtxFunc *f, const char *name, size_t len);
// Binding by name in the scope of `at`, for gr_ptx_insert.
PtxReg *gr_build_find_reg(PtxFunc *f, PtxStmt *at, const char *name);
PtxVar *gr_build_find_var(PtxFunc *f, PtxStmt *at, const char *name);
PtxLabel *gr_build_find_label(PtxFunc *f, const char *name);
bool gr_build_note_declared(PtxFunc *f, PtxStmt *s); // a statement that was inserted

// locs.c
gr_status gr_parse_loc(Parser *p, PtxTag tag); // the cursor is after ".loc"
gr_status gr_locs_finish(Parser *p);           // function names out of .debug_str
void gr_locs_free(struct LocTable *t);

// calls: sets PtxInstr.callee everywhere.
void gr_ptx_resolve_calls(PtxModule *m);

void gr_ptx_note_fresh(PtxFunc *f, const char *name);

#endif
