// SPDX-License-Identifier: Apache-2.0
// reach — whether all threads of a block, or of a warp, come to a place of a function, as far as its text tells.
//
// A name varies when what it is assigned comes from threadIdx, from memory, from a call that is not known, or under a
// condition that varies. The answer is "no" whenever the text does not show that all come.
#ifndef GR_REPAIR_REACH_H
#define GR_REPAIR_REACH_H

#include "repair/code.h"

// How a value varies: not within a block; between warps only; as a thread's linear number in the block; in any way.
typedef enum GrVaries { GR_VARIES_NOT, GR_VARIES_BY_WARP, GR_VARIES_LINEAR, GR_VARIES } GrVaries;

typedef struct GrVaryingName {
    GrToken name;
    GrVaries how;
} GrVaryingName;

typedef struct GrReach {
    const GrCode *code;
    const GrFunctionCode *function;
    VEC(GrVaryingName) names;
    bool oom;
} GrReach;

// False: out of memory; then, too, gr_reach_free is due.
bool gr_reach_read(GrReach *r, const GrCode *c, const GrFunctionCode *f);
void gr_reach_free(GrReach *r);

// Whether all threads whose values may vary no more than `most` come to the statement: NOT: all of the block; BY_WARP:
// all of each warp that comes. Statements in a loop: as often as each other.
bool gr_reach_all(const GrReach *r, const GrStatement *s, GrVaries most);

#endif
