// SPDX-License-Identifier: Apache-2.0
// suits — on which kernels the passes can be run: none whose effects cannot be undone or repeated, or whose threads wait for each other.
#ifndef GR_PRIVATIZER_PASS_SUITS_H
#define GR_PRIVATIZER_PASS_SUITS_H

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

// A barrier at which all threads of the block meet, whatever it reduces.
bool gr_is_full_barrier(const PtxInstr *i);
bool gr_is_shared_space(PtxSpace s);        // of the block
bool gr_is_private_space(PtxSpace s);       // of the thread, or never written
bool gr_is_warp_barrier(const PtxInstr *i); // of some lanes or all

// Whether the access gives the thread what other units may have made of the memory at that time: atomic operations, and strong loads. It is the same in both passes.
bool gr_has_result(const PtxSite *site, const Liveness *live, uint64_t *set);

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
    const uint8_t
        *roles; // by site: those by which units may order what they do (pass/order.h); NULL: there are none
    const GrGrid *grid;
} GrKernelLook;

// Of a kernel that suits, whether its barriers of a warp, of which there are some, can end regions: each is of all lanes, and nothing is under way there, or a matrix of all lanes.
bool gr_suits_lanes(const GrKernelLook *l);

// Whether private copies can be made.
GrSuits gr_suits(const GrKernelLook *l);

#endif
