// SPDX-License-Identifier: Apache-2.0
// flow — dominators and natural loops of a function in LLVM IR, which LLVM's C interface does not offer.
#ifndef GR_ENGINES_VERIFIER_HOST_FLOW_H
#define GR_ENGINES_VERIFIER_HOST_FLOW_H

#include "base/arena.h"
#include "base/map.h"

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct FlowBlock {
    LLVMBasicBlockRef block;
    uint32_t *preds; // of reachable blocks; one for each edge
    uint32_t n_preds;
    uint32_t idom; // the entry's is itself
    bool *loop;    // of a loop's header: which blocks are in the loop; else NULL
    // Header of the innermost loop around the block (a header's own loop counts); UINT32_MAX: none.
    uint32_t outer;
} FlowBlock;

// Reachable blocks in reverse postorder: number 0 is the entry, and a dominator has a smaller number.
typedef struct Flow {
    Arena arena;
    FlowBlock *blocks;
    uint32_t n;
    Map numbers; // block -> number + 1
} Flow;
#define FLOW_NONE UINT32_MAX

bool gr_flow_init(Flow *f, LLVMValueRef function); // false: memory is out
void gr_flow_free(Flow *f);
uint32_t gr_flow_number(const Flow *f, LLVMBasicBlockRef b); // FLOW_NONE: not reachable
bool gr_flow_dominates(const Flow *f, uint32_t a, uint32_t b);
// Every way to `b` takes the edge from `from` to `to`.
bool gr_flow_edge_dominates(const Flow *f, uint32_t from, uint32_t to, uint32_t b);
bool gr_flow_is_back_edge(const Flow *f, uint32_t from, uint32_t to);

#endif
