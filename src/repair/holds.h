// SPDX-License-Identifier: Apache-2.0
// holds — which statements hold a barrier whenever they run: __syncthreads() and its like, a group's sync(), bar.sync
// in asm, calls of the file's functions that hold one, loops whose body does.
#ifndef GR_REPAIR_HOLDS_H
#define GR_REPAIR_HOLDS_H

#include "repair/code.h"

// Where a barrier is to be inserted: in `block`, before a statement of it; NULL: at its end.
typedef struct GrGap {
    const GrStatement *block, *before;
} GrGap;

// Which barriers of the text count.
typedef enum GrHeldBy {
    GR_HELD_BY_WARP,  // those of a warp, and wider ones
    GR_HELD_BY_BLOCK, // those of a block, and wider ones
    GR_HELD_BY_CLUSTER,
    GR_HELD_BY_GAPS // none but those to be inserted
} GrHeldBy;

typedef struct GrHolds {
    const GrCode *code;
    const GrFunctionCode *function;
    GrHeldBy by;
    const GrGap *gaps;
    unsigned n_gaps;
} GrHolds;

// Says of each function of the file whether its calls are barriers. What is not asked has none.
void gr_holds_functions(GrCode *c);

bool gr_holds(const GrHolds *h, const GrStatement *s);

// Whether one comes behind `s`, or before it, on the way through what is around it inside of `stop`.
bool gr_holds_behind(const GrHolds *h, const GrStatement *s, const GrStatement *stop);
bool gr_holds_before(const GrHolds *h, const GrStatement *s, const GrStatement *stop);

bool gr_holds_gap(const GrHolds *h, const GrStatement *block, const GrStatement *before);

#endif
