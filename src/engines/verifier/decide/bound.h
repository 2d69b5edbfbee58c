// SPDX-License-Identifier: Apache-2.0
// bound — a kernel's model with one launch's values for parameters, grid and block: what the solver is asked about.
#ifndef GR_ENGINES_VERIFIER_DECIDE_BOUND_H
#define GR_ENGINES_VERIFIER_DECIDE_BOUND_H

#include "engines/verifier/host/launch.h"
#include "engines/verifier/kernel/model.h"
#include "engines/verifier/solve/solve.h"
#include "engines/verifier/verifier.h"

typedef VEC(const GrTerm *) GrTermVec;

// What the bytes of an access belong to.
typedef struct GrMemory {
    const GrObject *object;
    const GrAllocation *allocation; // of a pointer of the host's, where known
    const GrTerm *at;               // bytes from the allocation's begin to the object's; NULL: 0
    const GrArgument *one_of;       // of a pointer that is one of several (GrChoice); else NULL
    bool zero;                      // nothing but 0 when the kernel begins
    const GrTerm *which;            // the number of the allocation that it is, 32 bits; NULL: none is known
} GrMemory;

typedef struct GrBoundAccess {
    const GrKernelAccess *a;
    GrMemory memory;
    const GrTerm *offset, *guard; // the offset from the begin of the allocation, or else of the object
} GrBoundAccess;

// A barrier, and whether all threads of a block (a warp), or of the grid, come to it or none. The solver is asked once.
typedef struct GrBoundBarrier {
    const GrBarrier *b;
    const GrTerm *guard;
    struct {
        bool asked, solid;
    } in_block, in_grid;
} GrBoundBarrier;

// Two objects, and whether they can be the same allocation. The solver is asked once.
typedef struct GrMeeting {
    const GrObject *x, *y;
    bool can;
} GrMeeting;

// A loop that waits, and whether it ends only as a wait for a lock or a flag must (locks.c). The solver is asked once.
typedef struct GrWait {
    const GrSync *sync;
    bool blocks, sound; // blocks: for threads of two blocks
} GrWait;

typedef struct GrBound {
    GrTerms *t;
    const GrKernelModel *model;
    const GrHostLaunch *launch; // NULL: any launch
    const GrVerifierSettings *set;
    GrSolver *solver;
    bool no_barriers, no_locks; // as if the kernel had none: whether a proof needs them
    bool wraps;                 // arithmetic may overflow now, whatever the settings say
    double seconds_left;        // for this kernel and launch
    // Gathers operations of which proofs assume that they stay in the range of their bits; NULL: not gathered.
    GrTermVec *trusted;
    const GrTerm *grid[3], *block[3];   // 32 bits
    const GrTerm *thread[3], *place[3]; // %tid and %ctaid; 0 in a dimension of one
    const GrTerm *linear;               // the thread's number in its block
    GrTermVec same, each;               // facts of the launch, and of every thread
    VEC(GrBoundAccess) accesses;
    VEC(GrBoundBarrier) barriers; // as in the model
    VEC(GrMeeting) meetings;
    VEC(GrWait) waits;
} GrBound;

gr_status gr_bound_init(GrBound *b, GrTerms *t, const GrKernelModel *m, const GrHostLaunch *l,
                        const GrVerifierSettings *set, GrSolver *solver, gr_error *err);
void gr_bound_free(GrBound *b);

// A term of the model under this launch.
const GrTerm *gr_bound_term(GrBound *b, const GrTerm *a);

// ---- Building, of terms of width 1 -------------------------------------------------------------------------------

static inline const GrTerm *gr_not(GrTerms *t, const GrTerm *a) { return gr_term_1(t, GR_TERM_NOT, 1, a); }
static inline const GrTerm *gr_and(GrTerms *t, const GrTerm *a, const GrTerm *b) {
    return gr_term_2(t, GR_TERM_AND, a, b);
}
static inline const GrTerm *gr_or(GrTerms *t, const GrTerm *a, const GrTerm *b) {
    return gr_term_2(t, GR_TERM_OR, a, b);
}

// alias.c: the memory of an object of the model.
GrMemory gr_bound_memory(GrBound *b, const GrObject *o);

// Whether two accesses can touch the same bytes.
typedef enum GrAlias {
    GR_ALIAS_SAME,  // offsets say
    GR_ALIAS_APART, // never
    GR_ALIAS_WHICH, // offsets say, where both are the same allocation: `which`
    GR_ALIAS_MAYBE, // nothing says: `why`
} GrAlias;
GrAlias gr_bound_alias(GrBound *b, const GrMemory *x, const GrMemory *y, StrBuf *why);
// The allocation in one launch; NULL: not known.
const GrAllocation *gr_bound_allocation(const GrMemory *m, const GrValues *v);

#endif
