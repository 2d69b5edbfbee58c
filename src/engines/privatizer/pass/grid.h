// SPDX-License-Identifier: Apache-2.0
// grid — barriers of the grid: the code of cooperative groups for them, which the compiler inlines (grid_group::sync;
// arrive and wait are the same code in two parts).
//
//     barrier.sync 0;                              ARRIVES: the block has come
//     @first thread of the block:
//         atom.add.release.gpu.u32 old, [w], n;    COUNTS
//     again:
//         ld.acquire.gpu.u32 now, [w];             LOOKS, until the highest bit is another one
//         xor x, now, old; @x is not negative: bra again;
//     barrier.sync 0;
//
// w is in the memory that the driver gives to a cooperative launch, at %envreg1 and %envreg2. Barriers that programs
// make themselves by atomic operations are none of these.
#ifndef GR_ENGINES_PRIVATIZER_PASS_GRID_H
#define GR_ENGINES_PRIVATIZER_PASS_GRID_H

#include "ptx/cfg.h"

typedef enum GrGridPart { GR_GRID_NO_PART, GR_GRID_ARRIVES, GR_GRID_COUNTS, GR_GRID_LOOKS } GrGridPart;

typedef struct GrGridPiece {
    const PtxStmt *s;
    GrGridPart part;
} GrGridPiece;

typedef struct GrGrid {
    GrGridPiece *pieces;
    uint32_t n; // 0: there is no barrier of the grid, or one that is not like this
} GrGrid;

// In `arena`. A kernel with mbarriers has none: what shared memory has of them cannot be kept and put back.
// GR_ERR_NOMEM.
gr_status gr_grid_find(const Cfg *g, Arena *arena, GrGrid *out, gr_error *err);

GrGridPart gr_grid_part(const GrGrid *grid, const PtxStmt *s);

// An access to the driver's memory, which is none of the program's.
bool gr_grid_is_access(const GrGrid *grid, const PtxStmt *s);

#endif
