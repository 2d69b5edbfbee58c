// SPDX-License-Identifier: Apache-2.0
#include "engines/privatizer/pass/brief.h"

#include <stdlib.h>

enum { MOST_OF_KERNEL = 96, MOST_OF_MODULE = 192 }; // accesses

typedef struct Sized {
    uint32_t index, accesses;
} Sized;

static int by_accesses(const void *a, const void *b) {
    const Sized *x = a, *y = b;
    return x->accesses != y->accesses ? (x->accesses > y->accesses) - (x->accesses < y->accesses)
                                      : (x->index > y->index) - (x->index < y->index);
}

static uint32_t accesses_of(const PtxModule *m, const PtxFunc *f) {
    uint32_t n = 0;
    for (const PtxStmt *s = f->first; s; s = s->next) {
        PtxSpace space = s->site ? m->sites[s->site].space : PTX_LOCAL;
        n += space != PTX_LOCAL && space != PTX_CONST;
    }
    return n;
}

gr_status gr_code_find_brief(const PtxModule *m, const bool *marked, Arena *arena, bool **out,
                             gr_error *err) {
    Sized *kernels = GR_NEW_ARRAY(arena, Sized, (size_t)m->n_funcs + 1);
    uint32_t n = 0, sum = 0;
    *out = GR_NEW_ARRAY(arena, bool, (size_t)m->n_funcs + 1);
    GR_NEED(kernels && *out, err);
    for (uint32_t k = 0; k < m->n_funcs; k++)
        if (marked[k] && m->funcs[k]->is_entry)
            kernels[n++] = (Sized){k, accesses_of(m, m->funcs[k])};
    qsort(kernels, n, sizeof *kernels, by_accesses);
    for (uint32_t k = 0; k < n; k++) {
        sum += kernels[k].accesses;
        (*out)[kernels[k].index] = kernels[k].accesses > MOST_OF_KERNEL || sum > MOST_OF_MODULE;
    }
    return GR_OK;
}
