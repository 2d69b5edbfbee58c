// SPDX-License-Identifier: Apache-2.0
// replay — runs a witness: the kernel's PTX on the CPU device, in a process of its own. Only exact's report counts.
#ifndef GR_ENGINES_VERIFIER_DECIDE_REPLAY_H
#define GR_ENGINES_VERIFIER_DECIDE_REPLAY_H

#include "engines/verifier/decide/pair.h"
#include "engines/verifier/decide/units.h"

// One side of a race that exact reported.
typedef struct GrSeenSide {
    uint32_t ptx_line, thread[3], block[3];
    uint64_t address;
    const char *function; // demangled; NULL: not known
    struct GrSeenPlace {
        const char *file;
        uint32_t line;
    } * places; // the innermost first
    size_t n_places;
} GrSeenSide;

typedef struct GrSeenRace {
    const char *class, *missing;
    GrSeenSide sides[2];
    uint64_t overlap;
    uint32_t bytes;
    const char *launch; // of the witness that was replayed, for people
    bool turned;        // sides[1] is the one of the first access that was asked for
} GrSeenRace;

// The replays of one kernel and launch.
typedef struct GrReplays {
    Arena *arena;             // of all texts
    const GrLinkedUnit *unit; // whose kernel it is
    VEC(GrSeenRace) seen;
    unsigned runs;
    const char *why_not; // of the last: why it showed nothing; NULL: it ran
} GrReplays;

// The race of the two accesses that a replay of this verdict's witness, or an earlier one, shows; NULL: none (GR_OK).
gr_status gr_replay(GrReplays *r, GrBound *b, const GrVerdict *v, const GrSeenRace **out, gr_error *err);
void gr_replays_free(GrReplays *r);

// The launch of a witness: "grid (2,1,1), block (32,1,1), n = 33".
void gr_witness_text(GrBound *b, const GrWitness *w, StrBuf *out);

#endif
