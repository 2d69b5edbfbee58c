// SPDX-License-Identifier: Apache-2.0
// The functions of a module as its record names them: what --sample calls them, and which kernels may run them.
#include "inject/functions.h"

#include "passes/sample.h"
#include "ptx/reach.h"

#include <stdlib.h>
#include <string.h>

// For every kernel the functions that it may reach: a row of n_funcs each.
static bool *reachable(const PtxModule *ptx, uint32_t n_kernels) {
    bool *reached = calloc((size_t)n_kernels + 1, (size_t)ptx->n_funcs + 1);
    uint32_t k = 0;
    for (uint32_t f = 0; reached && f < ptx->n_funcs; f++)
        if (ptx->funcs[f]->is_entry && ptx->funcs[f]->has_body)
            gr_ptx_mark_reachable(ptx, ptx->funcs[f], reached + (size_t)k++ * ptx->n_funcs);
    return reached;
}

static bool find_kernels(const PtxFunc *f, const bool *reached, Arena *arena, uint32_t n_kernels,
                         GrFunctionInfo *out) {
    uint32_t n_funcs = f->module->n_funcs;
    uint32_t *kernels = GR_NEW_ARRAY(arena, uint32_t, (size_t)n_kernels + 1);
    for (uint32_t k = 0; kernels && k < n_kernels; k++)
        if (reached[(size_t)k * n_funcs + f->index])
            kernels[out->n_kernels++] = k;
    out->kernels = kernels;
    return kernels != NULL;
}

gr_status gr_describe_functions(const PtxModule *ptx, Arena *arena, GrModuleInfo *m, gr_error *err) {
    bool *reached = NULL;
    const PtxFunc *last = NULL;
    m->n_functions = 0;
    m->functions = GR_NEW_ARRAY(arena, GrFunctionInfo, (size_t)ptx->n_funcs + 1);
    bool ok = m->functions != NULL;
    for (uint32_t s = 1; ok && s <= ptx->n_sites; s++) { // functions one after the other
        const PtxFunc *f = ptx->sites[s].func;
        if (f == last) {
            m->functions[m->n_functions - 1].n_sites++;
            continue;
        }
        GrFunctionInfo *i = &m->functions[m->n_functions++];
        *i = (GrFunctionInfo){.name = gr_arena_strdup(arena, f->name),
                              .id = gr_sample_function(f),
                              .is_kernel = f->is_entry,
                              .first_site = s,
                              .n_sites = 1};
        last = f;
        ok = i->name != NULL;
        if (!ok || f->is_entry)
            continue;
        if (!reached)
            reached = reachable(ptx, m->n_kernels);
        ok = reached && find_kernels(f, reached, arena, m->n_kernels, i);
    }
    free(reached);
    if (!ok)
        m->n_functions = 0;
    return ok ? GR_OK : gr_fail(err, GR_ERR_NOMEM, "out of memory");
}
