// SPDX-License-Identifier: Apache-2.0
// values — what registers and local memory hold, as terms, at any point of a flat kernel.
//
// A walk executes every statement once, in reverse post-order. A register with one assignment has one term. Other
// registers and local memory are looked up backwards from where they are read: through the assignments of a block, then
// through its predecessors, which meet by ITE. What a loop changes is a symbol at its header (KPhi). When a walk is
// over, some of these symbols turn out to be start + step * rounds; the next walk uses that. Each walk begins with what
// the walk before has proved, and the first with nothing, so every one of them is right.
//
// A FREE symbol may always stand for a value: the model then says more than can happen. One FREE symbol has one name
// over all walks.
#ifndef GR_ENGINES_VERIFIER_KERNEL_VALUES_H
#define GR_ENGINES_VERIFIER_KERNEL_VALUES_H

#include "engines/verifier/kernel/flat.h"

// How far the address of local memory has come: K_KEPT it lies in local memory, K_ESCAPED it may lie anywhere.
enum { K_KEPT = 1, K_ESCAPED };
enum { GR_VAR_ESCAPED = -2, GR_VAR_KEPT = -3 };

typedef struct KDef { // an assignment
    // A register's number; n_regs + KVar.id; GR_VAR_ESCAPED or _KEPT: all known variables of that kind.
    uint32_t var;
    int64_t off;
    uint32_t size;
    const GrTerm *value; // NULL: anything, somewhere in these bytes
    const KStmt *stmt;
} KDef;

typedef struct KDefs {
    VEC(KDef) list;
} KDefs;

typedef enum KPhiKind {
    KPHI_OPEN,     // anything
    KPHI_SAME,     // as before the loop
    KPHI_STEP,     // start + step * rounds
    KPHI_CYCLE,    // the same few values in turn: a buffer's number, two pointers that change places
    KPHI_FUNCTION, // a function of the rounds, the same in every thread of a block
} KPhiKind;

typedef struct KPhi { // a value that a loop changes
    const KLoop *loop;
    uint32_t var, size, bits;
    int64_t off;
    KPhiKind kind;
    GrSymbol *sym;          // OPEN
    GrSymbol *function;     // FUNCTION: the object that is read
    const GrTerm *step;     // STEP, in terms of the walk that found it
    const GrTerm *cycle[4]; // CYCLE: constants, or
    struct KPhi *turn[4];   // those that it changes places with: in round k it is what number k was at first
    uint32_t n_cycle;
    const GrTerm *start, *now, *next; // in this walk; next: as a round leaves it
    unsigned walk;                    // the last one that asked; 0: none
    bool changes;                     // no longer taken for the same (assume.c)
} KPhi;

typedef struct KNote { // an assignment of local memory in the walk before
    uint32_t block, size;
    int64_t off;
} KNote;

typedef struct KNotes {
    VEC(KNote) list;
} KNotes;

// An mbarrier.init or an arrival at one (mbarrier.c), of shared memory.
typedef struct KArrival {
    const KStmt *stmt;
    const GrObject *object;
    int64_t at;
    const GrTerm *count; // of mbarrier.init; else NULL
} KArrival;

typedef struct KWalk {
    KFlat *f;
    GrTerms *t;
    GrKernelModel *out;
    unsigned walk; // from 1
    bool blind;    // no walk before says anything
    bool assumes;  // what loops change is taken for the same, as long as nothing speaks against it (assume.c)
    // Of registers.
    const GrTerm **reg;   // of those with one assignment
    uint32_t *n_assigns;  // by register
    const KStmt **assign; // the last of them
    KNotes *assigns;      // by register with several: blocks
    // Of this walk.
    KDefs *defs;                  // by block
    KNotes *notes, *notes_before; // by KVar; behind them GR_VAR_ESCAPED, then GR_VAR_KEPT
    size_t n_vars;
    uint8_t *escaped, *escaped_before; // by KVar: how far its address has come
    bool *holds, *holds_before;        // by KVar: the address of local memory may lie in it
    Map local_frees;                   // FREE symbols that local memory gave, by id: KVar.id + 1
    bool shared_escaped;
    VEC(bool) written; // by object: in this walk
    bool unknown_written, unknown_written_before;
    Map barriers; // KStmt.id + 1 to GrBarrier *
    VEC(KArrival) arrivals;
    uint32_t most_accesses;
    const GrObject *const *changing; // loads from them are free
    size_t n_changing;
    const GrTerm **cond, **guard,
        **branch;          // by block: from its dominator; from the entry; of its last statement
    uint32_t *mark, marks; // by block: of the search with that number (cond.c)
    Map memo, frees, phis;
    VEC(KPhi *) phi_list;
    unsigned depth;
    bool nomem;
    const char *limit;
} KWalk;

gr_status gr_walk_init(KWalk *w, KFlat *f, GrKernelModel *out);
gr_status gr_walk_begin(KWalk *w); // the next walk
// What can be reached from memory whose address may be anywhere may be known anywhere, too.
void gr_walk_spread(KWalk *w);
void gr_walk_free(KWalk *w);

// A FREE symbol for value number `slot` of a statement; the same in every walk. `why`: for people.
const GrTerm *gr_walk_free_value(KWalk *w, const KStmt *s, uint64_t slot, uint32_t bits, const char *why);

void gr_walk_set_reg(KWalk *w, const KStmt *s, const PtxReg *r, const GrTerm *value); // of any width: resized
const GrTerm *gr_walk_reg(KWalk *w, const KStmt *s, const PtxReg *r);
void gr_walk_store(KWalk *w, const KStmt *s, const KVar *v, int64_t off, uint32_t size, const GrTerm *value);
void gr_walk_clobber(KWalk *w, const KStmt *s, const KVar *v); // NULL: all that escaped
// Something of the bytes low to high of a variable changes.
void gr_walk_clobber_range(KWalk *w, const KStmt *s, const KVar *v, int64_t low, int64_t high);
void gr_walk_clobber_at(KWalk *w, const KStmt *s, const GrTerm *address); // a store to what is not known
const GrTerm *gr_walk_load(KWalk *w, const KStmt *s, const KVar *v, int64_t off, uint32_t size);
// From here on, other code may know the addresses in the term.
void gr_walk_escape(KWalk *w, const GrTerm *value);
void gr_walk_keep(KWalk *w, const KVar *in, const GrTerm *value); // as it is stored in local memory
// The address may be one of local memory that only local memory knows.
bool gr_walk_may_be_kept(KWalk *w, const GrTerm *address);
uint32_t gr_walk_reg_bits(const PtxReg *r);

// ---- Conditions (cond.c) -----------------------------------------------------------------------------------------

const GrTerm *gr_bool_and(GrTerms *t, const GrTerm *a, const GrTerm *b);
const GrTerm *gr_bool_or(GrTerms *t, const GrTerm *a, const GrTerm *b);
const GrTerm *gr_bool_not(GrTerms *t, const GrTerm *a);
const GrTerm *gr_bool_equal(GrTerms *t, const GrTerm *a, const GrTerm *b);                // of any width
const GrTerm *gr_bool_ite(GrTerms *t, const GrTerm *c, const GrTerm *a, const GrTerm *b); // of any width
void gr_walk_enter(KWalk *w, uint32_t block); // its condition, when all before are known
const GrTerm *gr_walk_edge(KWalk *w, uint32_t from, uint32_t to);
// No thread goes from the one block to the other, whatever the launch.
bool gr_walk_never_takes(const KWalk *w, uint32_t from, uint32_t to);
// Holds if a thread goes from `dominator` to `block`, which it dominates, in the same rounds of all loops around both.
const GrTerm *gr_walk_reached(KWalk *w, uint32_t dominator, uint32_t block);
bool gr_walk_is_forward(const KWalk *w, uint32_t from, uint32_t to);
// Holds if a loop was left in this round.
const GrTerm *gr_walk_left(KWalk *w, const KLoop *l);

gr_status gr_walk_all(KWalk *w, gr_error *err); // walk.c
gr_status gr_walk_once(KWalk *w, gr_error *err);
// What local memory keeps while a loop goes round, though single walks lose it. *holds: something was found, and the
// next walk may use what this one knows; else it must be blind.
gr_status gr_assume(KWalk *w, bool *holds, gr_error *err); // assume.c
gr_status gr_kernel_order(KWalk *w);                       // order.c, after the last walk

// ---- Recurrences (induction.c) -------------------------------------------------------------------------------------

// What a phi is in this walk, from its start value.
const GrTerm *gr_phi_value(KWalk *w, KPhi *p);
// What each round leaves of a phi; NULL: not the same each time.
const GrTerm *gr_phi_next(KWalk *w, const KPhi *p);
// A walk cannot follow the phi's values any further: addresses in them count as known anywhere.
void gr_phi_lose(KWalk *w, const KPhi *p, const GrTerm *next);
// When a walk is over: what its phis are. True: something new was found.
bool gr_phi_classify(KWalk *w);
// When a walk is over: KLoop.again. True: something new.
bool gr_loops_again(KWalk *w);
void gr_phi_facts(KWalk *w); // of the last walk, to the model's facts
// The term has one value for all rounds of a loop.
bool gr_term_invariant(KWalk *w, const KLoop *l, const GrTerm *a);
// What enters a loop at its header.
const GrTerm *gr_walk_before(KWalk *w, uint32_t header, uint32_t var, int64_t off, uint32_t size,
                             uint32_t bits);
// What a block leaves.
const GrTerm *gr_walk_at_end(KWalk *w, uint32_t block, uint32_t var, int64_t off, uint32_t size,
                             uint32_t bits);

#endif
