// SPDX-License-Identifier: Apache-2.0
// suits — on which kernels the passes can be run: none whose effects cannot be undone or repeated, or whose threads
// wait for each other.
#ifndef GR_ENGINES_PRIVATIZER_PASS_SUITS_H
#define GR_ENGINES_PRIVATIZER_PASS_SUITS_H

#include "engines/privatizer/pass/calls.h"
#include "engines/privatizer/pass/grid.h"
#include "ptx/liveness.h"
#include "ptx/ptx.h"

typedef enum GrUnsuited {
    GR_SUITS,
#define REASON(id, text) GR_UNSUITED_##id,
#include "engines/privatizer/pass/reasons.def"
#undef REASON
} GrUnsuited;

// A sentence's end. NULL: GR_SUITS.
const char *gr_unsuited_text(GrUnsuited why);

static inline bool gr_is_barrier(const PtxInstr *i) { return i->op == PTX_OP_BAR || i->op == PTX_OP_BARRIER; }

// Of some lanes or all.
static inline bool gr_is_warp_barrier(const PtxInstr *i) {
    return gr_is_barrier(i) && gr_ptx_instr_has(i, PTX_MOD_warp);
}

// A barrier at which all threads of the block meet, whatever it reduces.
static inline bool gr_is_full_barrier(const PtxInstr *i) {
    if (!gr_is_barrier(i) || gr_is_warp_barrier(i) || i->guard || gr_ptx_instr_has(i, PTX_MOD_cluster) ||
        gr_ptx_instr_has(i, PTX_MOD_arrive))
        return false;
    bool reduces = gr_ptx_instr_has(i, PTX_MOD_red);
    unsigned first = reduces, most = reduces ? 3 : 1; // red: destination, number, predicate
    return i->n_operands > first && i->n_operands <= most && i->operands[first].kind == PTX_O_INT &&
           i->operands[first].bits == 0;
}

// Of the block.
static inline bool gr_is_shared_space(PtxSpace s) { return s == PTX_SHARED || s == PTX_SHARED_CTA; }

// Of the thread, or never written.
static inline bool gr_is_private_space(PtxSpace s) {
    return s == PTX_LOCAL || s == PTX_CONST || s == PTX_PARAM || s == PTX_PARAM_ENTRY || s == PTX_PARAM_FUNC;
}

// Whether the access gives the thread what other units may have made of the memory at that time: atomic operations, and
// strong loads. It is the same in both passes.
static inline bool gr_has_result(const PtxSite *site, const Liveness *live, uint64_t *set) {
    const PtxInstr *i = site->stmt ? site->stmt->instr : NULL;
    return i && site->strong && !gr_is_private_space(site->space) &&
           (i->op == PTX_OP_LD || (i->op == PTX_OP_ATOM && !gr_live_is_dead(live, site->stmt, set)));
}

typedef struct GrSuits {
    GrUnsuited why;
    const PtxStmt *at; // the first such instruction; NULL: none
} GrSuits;

// What is looked at of a kernel.
typedef struct GrKernelLook {
    const PtxFunc *f;
    const Liveness *live; // of its graph
    uint64_t *set;        // live->n_words words to work in
    const GrCalls *calls;
    bool warps; // for private copies of warps, and so of shared memory; else of clusters, of the launch
    // By site: those by which units may order what they do (pass/order.h); NULL: there are none.
    const uint8_t *roles;
    const GrGrid *grid;
} GrKernelLook;

// Of a kernel that suits, whether its barriers of a warp, of which there are some, can end regions: each is of all
// lanes, and nothing is under way there, or a matrix of all lanes.
bool gr_suits_lanes(const GrKernelLook *l);

// Whether private copies can be made.
GrSuits gr_suits(const GrKernelLook *l);

#endif
