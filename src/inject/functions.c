// SPDX-License-Identifier: Apache-2.0
// The functions of a module as its record names them: what --sample calls them, and which kernels may run them.
#include "inject/functions.h"

#include "passes/sample.h"
#include "ptx/reach.h"

#include <stdlib.h>
#include <string.h>

// Which kernels may run each function that is no kernel: counted first, then noted.
typedef struct Reached {
    GrFunctionInfo **of; // by PtxFunc.index; NULL: a kernel, or it has no accesses
    uint32_t kernel;
    bool counts;
} Reached;

static void reached(void *user, const PtxFunc *f) {
    Reached *r = user;
    GrFunctionInfo *i = r->of[f->index];
    if (!i)
        return;
    if (!r->counts)
        ((uint32_t *)i->kernels)[i->n_kernels] = r->kernel;
    i->n_kernels++;
}

static void each_kernel(const PtxModule *ptx, uint32_t *stamps, Reached *r) {
    uint32_t first = r->counts ? 1 : ptx->n_funcs + 1; // stamps that were not there before
    r->kernel = 0;
    for (uint32_t f = 0; f < ptx->n_funcs; f++)
        if (ptx->funcs[f]->is_entry && ptx->funcs[f]->has_body) {
            gr_ptx_each_reachable(ptx->funcs[f], stamps, first + f, reached, r);
            r->kernel++;
        }
}

static bool find_kernels(const PtxModule *ptx, GrModuleInfo *m, GrFunctionInfo **of, Arena *arena) {
    uint32_t *stamps = calloc((size_t)ptx->n_funcs + 1, sizeof *stamps);
    Reached r = {of, 0, true};
    bool ok = stamps != NULL;
    if (ok)
        each_kernel(ptx, stamps, &r);
    for (uint32_t k = 0; ok && k < m->n_functions; k++) {
        GrFunctionInfo *i = &m->functions[k];
        i->kernels = GR_NEW_ARRAY(arena, uint32_t, (size_t)i->n_kernels + 1);
        i->n_kernels = 0;
        ok = i->kernels != NULL;
    }
    r.counts = false;
    if (ok)
        each_kernel(ptx, stamps, &r);
    free(stamps);
    return ok;
}

gr_status gr_describe_functions(const PtxModule *ptx, Arena *arena, GrModuleInfo *m, gr_error *err) {
    GrFunctionInfo **of = calloc((size_t)ptx->n_funcs + 1, sizeof *of);
    const PtxFunc *last = NULL;
    bool any = false;
    m->n_functions = 0;
    m->functions = GR_NEW_ARRAY(arena, GrFunctionInfo, (size_t)ptx->n_funcs + 1);
    bool ok = m->functions && of;
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
        if (f->is_entry)
            continue;
        of[f->index] = i;
        any = true;
    }
    ok = ok && (!any || find_kernels(ptx, m, of, arena));
    free(of);
    if (!ok)
        m->n_functions = 0;
    return ok ? GR_OK : gr_no_memory(err);
}
