// SPDX-License-Identifier: Apache-2.0
// term — values that are not known yet, as a graph: what kernels compute, what hosts pass to them, and what must hold.
//
// A term is a value of 1 to 64 bits. Equal terms are one object, so that pointers compare. Constants fold as they are
// built. Terms live in their GrTerms and die with it. Every function that builds a term yields NULL when memory is out,
// and when an operand is NULL; so only the last result has to be looked at.
//
// A term means machine arithmetic (gr_term_value). Whoever reads terms as integers without bounds (solve/) says so.
#ifndef GR_ENGINES_VERIFIER_TERM_TERM_H
#define GR_ENGINES_VERIFIER_TERM_TERM_H

#include "base/arena.h"
#include "base/map.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum GrTermOp {
#define TERM(id, text, operands) GR_TERM_##id,
#include "engines/verifier/term/term.def"
#undef TERM
    GR_TERM_OPS
} GrTermOp;

// Threads for which a symbol has one value.
typedef enum GrSymScope {
    GR_SYM_LAUNCH, // all threads of a launch: parameters, dimensions, variables of the host
    GR_SYM_BLOCK,  // the threads of a block
    GR_SYM_THREAD, // one thread, and of a loop one iteration
} GrSymScope;

// Where a symbol's value comes from.
typedef enum GrSymKind {
    GR_SYM_PARAM,   // bytes of a kernel's parameter
    GR_SYM_HOST,    // a value of the host's: input, or the result of a call
    GR_SYM_SPECIAL, // a special register: `name` is PTX's, such as "%tid.x"
    GR_SYM_COUNTER, // how often a loop's back edge has been taken, from 0
    // A value that may be anything: `name` says why (a load of memory that threads write, an atomic's result).
    GR_SYM_FREE,
    GR_SYM_OBJECT, // memory that a READ reads
} GrSymKind;

typedef struct GrSymbol {
    const char *name; // for people; may not be unique
    GrSymKind kind;
    GrSymScope scope;
    uint32_t bits;
    uint32_t id;               // dense from 0, within the GrTerms
    int64_t low, high;         // what is known of its value, read as signed; low <= high
    const struct GrSymbol *of; // of an instance (gr_term_of_thread): the original; else NULL
    uint32_t thread;           // of an instance: which thread, 1 or 2; else 0
    uint32_t param, offset;    // PARAM: number of the parameter, byte within it
    const void *owner; // for whoever made the symbol: the loop of a COUNTER, the variable of an OBJECT
} GrSymbol;

// The line that a term comes from.
typedef struct GrOrigin {
    const char *file; // NULL: of PTX
    uint32_t line;    // 0: not known
} GrOrigin;

typedef struct GrTerm {
    GrTermOp op;
    uint32_t bits;
    uint32_t id;         // dense from 0; operands have smaller ones
    uint64_t value;      // CONST: zero-extended
    const GrSymbol *sym; // SYM, READ
    const struct GrTerm *arg[3];
    GrOrigin from; // of whoever made it first
} GrTerm;

typedef struct GrTerms {
    Arena arena;
    const GrTerm **slots; // by structure
    size_t n_terms, n_slots;
    GrSymbol **symbols; // by id
    uint32_t n_symbols, cap_symbols;
    Map instances; // of symbols, by id and thread
    GrOrigin now;  // of the terms that are made from now on (gr_terms_at)
} GrTerms;

void gr_terms_init(GrTerms *t);
void gr_terms_free(GrTerms *t);

// From now on terms belong to that line; 0: to none. `file` is copied.
void gr_terms_at(GrTerms *t, const char *file, uint32_t line);

// ---- Building ---------------------------------------------------------------------------------------------------

// A new symbol; `name` is copied. low and high are the whole range of the width.
GrSymbol *gr_symbol(GrTerms *t, GrSymKind kind, GrSymScope scope, uint32_t bits, const char *name);
const GrTerm *gr_term_sym(GrTerms *t, const GrSymbol *s);
const GrTerm *gr_term_const(GrTerms *t, uint32_t bits, uint64_t value); // bits above the width are dropped
const GrTerm *gr_term_read(GrTerms *t, uint32_t bits, const GrSymbol *object, const GrTerm *offset);
// Any operation with operands; of ADD to NOT all have one width.
const GrTerm *gr_term_1(GrTerms *t, GrTermOp op, uint32_t bits,
                        const GrTerm *a); // bits: of SEXT, ZEXT and TRUNC
const GrTerm *gr_term_2(GrTerms *t, GrTermOp op, const GrTerm *a, const GrTerm *b);
const GrTerm *gr_term_ite(GrTerms *t, const GrTerm *c, const GrTerm *a, const GrTerm *b);
// Resizes a term of any width: TRUNC, itself, or an extension.
const GrTerm *gr_term_resize(GrTerms *t, uint32_t bits, bool is_signed, const GrTerm *a);
const GrTerm *gr_term_true(GrTerms *t);
const GrTerm *gr_term_false(GrTerms *t);
static inline bool gr_term_is_const(const GrTerm *a, uint64_t value) {
    return a->op == GR_TERM_CONST && a->value == value;
}
static inline int64_t gr_sign_extend(uint64_t v, uint32_t bits) {
    return bits >= 64 ? (int64_t)v : (int64_t)(v << (64 - bits)) >> (64 - bits);
}
// A constant, sign-extended. Of GR_TERM_CONST only.
static inline int64_t gr_term_signed(const GrTerm *a) { return gr_sign_extend(a->value, a->bits); }

// ---- Changing ----------------------------------------------------------------------------------------------------

// A copy in which `replace` gives a symbol's substitute (NULL: the symbol, or its gr_term_sym instance), of its width.
typedef struct GrReplace {
    const GrTerm *(*symbol)(void *user, GrTerms *t, const GrSymbol *s);
    // What stands for the object of a READ; NULL member: itself.
    const GrSymbol *(*object)(void *user, GrTerms *t, const GrSymbol *s);
    void *user;
} GrReplace;
const GrTerm *gr_term_replace(GrTerms *t, const GrTerm *a, const GrReplace *r);

// The term as thread 1 or 2 of a pair has it: symbols of scope THREAD become that thread's own. With own_block those of
// BLOCK too; else both threads are of one block.
const GrTerm *gr_term_of_thread(GrTerms *t, const GrTerm *a, uint32_t thread, bool own_block);
// The instance of a symbol that gr_term_of_thread uses; the symbol itself where it has none.
const GrSymbol *gr_symbol_of_thread(GrTerms *t, const GrSymbol *s, uint32_t thread, bool own_block);
// Two threads have one value of it; own_block: two threads of two blocks.
bool gr_symbol_is_shared(const GrSymbol *s, bool own_block);

// ---- Looking -----------------------------------------------------------------------------------------------------

// The value in machine arithmetic, zero-extended. `symbol` gives values of symbols, `read` of memory.
typedef struct GrValues {
    uint64_t (*symbol)(void *user, const GrSymbol *s);
    uint64_t (*read)(void *user, const GrSymbol *object, uint64_t offset, uint32_t bits);
    void *user;
} GrValues;
// False: memory is out.
bool gr_term_value(const GrTerm *a, const GrValues *v, uint64_t *out);

// Calls `see` once for each symbol in the term (objects of READs too). False: memory is out.
bool gr_term_symbols(const GrTerm *a, void (*see)(void *user, const GrSymbol *s), void *user);
// Calls `see` once for each object that a READ in the term reads, not for mere addresses. False: memory is out.
bool gr_term_reads(const GrTerm *a, void (*see)(void *user, const GrSymbol *object), void *user);

// The term of that id; NULL: there is none.
const GrTerm *gr_term_numbered(const GrTerms *t, uint32_t id);

// For people: (%ctaid.x * %ntid.x + %tid.x) * 4.
void gr_term_print(const GrTerm *a, StrBuf *out);

#endif
