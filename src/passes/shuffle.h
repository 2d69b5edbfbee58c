// SPDX-License-Identifier: Apache-2.0
// shuffle — block shuffling: blocks of a grid swap their indices, so that the hardware starts them in another order.
//
// Source: SuperCollider paper, section 3.5.2: blockIdx.x := (a * blockIdx.x + b) mod gridDim.x. Here it is the whole
// grid, in all three dimensions, by 64-bit arithmetic; clusters stay whole. Every function computes alike from %ctaid,
// so that it agrees with its kernel and with other passes' code. Grids of more than 2^32 blocks stay as they are.
#ifndef GR_PASSES_SHUFFLE_H
#define GR_PASSES_SHUFFLE_H

#include "ptx/ptx.h"

// Rewrites every read of %ctaid and %clusterid in `m`. GR_ERR_UNSUPPORTED, with the place, for one that is not
// understood (of a whole vector, or of half a register); the module is in an undefined state then.
gr_status gr_shuffle_blocks(PtxModule *m, uint64_t seed, gr_error *err);

#endif
