// SPDX-License-Identifier: Apache-2.0
// pair — what is decided about two accesses of a kernel under a launch.
#ifndef GR_ENGINES_VERIFIER_DECIDE_PAIR_H
#define GR_ENGINES_VERIFIER_DECIDE_PAIR_H

#include "engines/verifier/decide/bound.h"

// Which two threads.
typedef enum GrLevel {
    GR_LEVEL_ANY_WARP, // of one block
    GR_LEVEL_WARPS,    // of one block, of two warps
    GR_LEVEL_WARP,     // of one warp
    GR_LEVEL_BLOCKS,   // of two blocks
    GR_LEVEL_ALONE,    // one and the same thread: of asynchronous accesses
} GrLevel;

typedef enum GrDecision {
    GR_PROVED,   // they cannot race
    GR_SHOWN,    // they do, in the witness; said only after its replay
    GR_POSSIBLE, // they may: `why` names what would have to be known
    GR_UNKNOWN,  // `why` says what defeated it
    GR_ASSUMED,  // they cannot unless an operation leaves the range of its bits: `why` names it
    GR_DECISIONS,
} GrDecision;

// A class of races, by its place in the tables of exact.
typedef enum GrRaceKind {
    GR_RACE_WRITES,
    GR_RACE_READ,
    GR_RACE_SCOPE,
    GR_RACE_SIZE,
    GR_RACE_VOLATILE
} GrRaceKind;

// One launch and two threads in it that race.
typedef struct GrWitness {
    uint32_t grid[3], block[3], thread[2][3], place[2][3];
    uint64_t offset[2], overlap; // bytes of the memory; where both are
    uint32_t bytes;
    GrSolved solved; // of all symbols
} GrWitness;

typedef struct GrVerdict {
    GrDecision decision;
    GrLevel level;
    GrRaceKind kind;
    const GrBoundAccess *sides[2]; // the first is thread 1's
    bool of_objects;               // `why` says all, whatever the two accesses are
    const char *missing;           // the order that is missing, the end of a sentence
    StrBuf why;
    GrWitness witness; // of SHOWN
} GrVerdict;

// Decides about accesses i and j (i <= j) of the bound model. `see` gets the verdict of each level that is not proved,
// and says whether the pair is settled: then other levels are left out. *proved: no level was open.
typedef struct GrPairUser {
    void *user;
    gr_status (*see)(void *user, GrVerdict *v, bool *settled, gr_error *err);
} GrPairUser;
gr_status gr_pair_decide(GrBound *b, size_t i, size_t j, const GrPairUser *to, bool *proved, gr_error *err);

// An atomic or a fence of that scope includes both of two such threads.
bool gr_scope_covers(PtxScope s, GrLevel level);

// Which order two such threads lack, if no lock or flag could give it.
const char *gr_pair_missing(GrLevel level, const GrBoundAccess *x, const GrBoundAccess *y);

// "the product at f.cu:12": an operation that may leave the range of its bits.
void gr_tell_operation(const GrTerm *a, StrBuf *out);

// The term as thread 1 or 2 has it. `own`: in a block of its own. NULL: the term is NULL, or memory is out.
const GrTerm *gr_pair_term(GrBound *b, const GrTerm *a, uint32_t thread, bool own);
// The block is known to be one warp.
bool gr_pair_is_one_warp(const GrBound *b);

// Adds what holds of two such threads.
gr_status gr_pair_facts(GrBound *b, GrLevel level, GrTermVec *out, gr_error *err);
// *never: no two such threads fulfil these n terms of theirs, and overlap as `o` says (NULL: whatever they touch). A
// NULL term: memory was out.
gr_status gr_pair_never(GrBound *b, GrLevel level, const GrTerm *const *terms, size_t n, const GrOverlap *o,
                        bool *never, gr_error *err);
gr_status gr_pair_solve(GrBound *b, const GrTermVec *terms, const GrOverlap *o, bool any_model, GrSolved *out,
                        gr_error *err);

#endif
