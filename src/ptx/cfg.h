// SPDX-License-Identifier: Apache-2.0
// cfg — basic blocks of one function, with dominators and post-dominators.
//
// Block 0 is the entry. A virtual exit block (the last one, without statements) is the successor of every block that
// ends in ret or exit, and of blocks that trap. So every block has a post-dominator. Blocks that cannot reach the exit
// (infinite loops) get an edge to it for post-dominance only (`to_exit`). Dominators: Cooper, Harvey, Kennedy, "A
// Simple, Fast Dominance Algorithm".
#ifndef GR_PTX_CFG_H
#define GR_PTX_CFG_H

#include "ptx/ptx.h"

typedef struct CfgBlock {
    uint32_t id;
    PtxStmt *first, *last; // inclusive; NULL for the exit block; labels belong to the block they start
    uint32_t *succs, *preds;
    uint32_t n_succs, n_preds;
    uint32_t rpo;   // position in reverse post-order; UINT32_MAX when unreachable
    uint32_t idom;  // UINT32_MAX for the entry and for unreachable blocks
    uint32_t ipdom; // UINT32_MAX for the exit block
    bool to_exit;
} CfgBlock;

// A statement and its block.
typedef struct CfgMark {
    const PtxStmt *stmt;
    uint32_t block;
} CfgMark;

typedef struct Cfg {
    const PtxFunc *func;
    CfgBlock *blocks;
    uint32_t n_blocks; // exit block included: blocks[n_blocks - 1]
    uint32_t *order;   // reverse post-order of the reachable blocks
    uint32_t n_order;
    // Sorted by address, for gr_cfg_block_of: every statement of the function, as it was built, is near behind one.
    CfgMark *marks;
    uint32_t n_marks;
} Cfg;

// Builds the graph in `arena`. A branch to a label of another function is GR_ERR_SYNTAX. `brx.idx` goes to
// each of its targets.
gr_status gr_cfg_build(const PtxFunc *f, Arena *arena, Cfg *out, gr_error *err);

uint32_t gr_cfg_block_of(const Cfg *g, const PtxStmt *s); // UINT32_MAX when not found
bool gr_cfg_dominates(const Cfg *g, uint32_t a, uint32_t b);
bool gr_cfg_postdominates(const Cfg *g, uint32_t a, uint32_t b);

#endif
