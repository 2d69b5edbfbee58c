// SPDX-License-Identifier: Apache-2.0
// liveness — which registers of a function hold a value that its thread may read later.
//
// It follows one thread by the text. An instruction under a guard ends no value, as it may leave its destination as it
// was; nor does one that writes a part of a vector register. The carry of add.cc and its like is no register and not
// looked at.
#ifndef GR_PTX_LIVENESS_H
#define GR_PTX_LIVENESS_H

#include "ptx/cfg.h"

// Sets of registers, by bit PtxReg.index. Registers that the function gained behind gr_liveness_build() are in no set.
typedef struct Liveness {
    const Cfg *cfg;
    uint32_t n_regs, n_words;
    uint64_t *out; // n_words for each block: what is live behind its last statement
} Liveness;

// The sets are in `arena`. GR_ERR_NOMEM.
gr_status gr_liveness_build(const Cfg *g, Arena *arena, Liveness *l, gr_error *err);

// Writes l->n_words words: what is live before `s`. False: `s` is in no block of the graph, and nothing is written.
bool gr_live_before(const Liveness *l, const PtxStmt *s, uint64_t *set);
// Writes what is live behind `s`.
bool gr_live_behind(const Liveness *l, const PtxStmt *s, uint64_t *set);

static inline bool gr_live_has(const Liveness *l, const uint64_t *set, const PtxReg *r) {
    return r->index < l->n_regs && set[r->index / 64] >> r->index % 64 & 1;
}

// The instruction `s` has a destination that nothing reads later. `set`: l->n_words words, which are overwritten.
bool gr_live_is_dead(const Liveness *l, const PtxStmt *s, uint64_t *set);

#endif
