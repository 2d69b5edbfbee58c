// SPDX-License-Identifier: Apache-2.0
// Which kernels ran, which of their accesses were checked, and why others were not.
#include "findings/headline.h"
#include "ptx/ptx.h"
#include "report/build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Keys of maps: a module may have 10^5 kernels, and all of them may run.
static uint64_t key_of(uint64_t a, uint64_t b, const char *name) {
    uint64_t of[3] = {a, b, name ? gr_hash_bytes(name, strlen(name)) : 0};
    return gr_hash_bytes(of, sizeof of);
}

GrKernelCoverage *gr_build_kernel(Build *b, const char *name, const char *module, const char *unchecked) {
    GrReport *r = b->report;
    const char *option = !unchecked && r->excludes_kernel ? r->excludes_kernel(r->excludes_user, name) : NULL;
    if (option) {
        unchecked = gr_arena_printf(&r->arena, "excluded by %s", option);
        b->nomem |= !unchecked;
    }
    uint64_t key = key_of(gr_hash_bytes(module, strlen(module)), unchecked != NULL, name);
    size_t at = (size_t)gr_map_get_u64(&b->coverage_at, key);
    if (at)
        return &r->kernels.data[at - 1];
    GrKernelCoverage k = {.name = name, .module = module, .unchecked = unchecked, .excluded = option != NULL};
    if (!gr_vec_push(&r->kernels, k) || !gr_map_put_u64(&b->coverage_at, key, (void *)r->kernels.len)) {
        b->nomem = true;
        return NULL;
    }
    return &r->kernels.data[r->kernels.len - 1];
}

static int compare_kernels(const void *a, const void *b) {
    const GrKernelCoverage *x = a, *y = b;
    int d = strcmp(x->name, y->name);
    return d ? d : strcmp(x->module, y->module);
}

static void add_not_understood(Build *b, const GrModuleInfo *m, const GrSiteInfo *site) {
    if (site->kernel) {
        const GrKernelCoverage *k = gr_build_kernel(b, site->kernel, m->name, m->unchecked);
        if (!k || !k->launches)
            return;
    }
    uint64_t key = key_of(site->status, site->kernel != NULL, site->kernel);
    size_t at = (size_t)gr_map_get_u64(&b->not_understood_at, key);
    if (at)
        b->report->not_understood.data[at - 1].count++;
    else if (!gr_vec_push(&b->report->not_understood, ((GrLeftAlone){site->kernel, site, 1})) ||
             !gr_map_put_u64(&b->not_understood_at, key, (void *)b->report->not_understood.len))
        b->nomem = true;
}

#define ANY_MODULE UINT64_MAX

void gr_build_launched(Build *b, const KernelInfo *k) {
    uint64_t any = key_of(k->process, ANY_MODULE, NULL), this = key_of(k->process, k->module, k->name);
    if (!gr_map_put_u64(&b->launched, any, b) || !gr_map_put_u64(&b->launched, this, b))
        b->nomem = true;
}

// NULL: any kernel of the module's process.
static bool was_launched(const Build *b, const GrModuleInfo *m, const char *kernel) {
    uint64_t key = kernel ? key_of(m->process, m->number, kernel) : key_of(m->process, ANY_MODULE, NULL);
    return gr_map_get_u64(&b->launched, key) != NULL;
}

static bool may_have_run(const Build *b, const GrModuleInfo *m, const GrFunctionInfo *f) {
    if (f->is_kernel)
        return was_launched(b, m, f->name);
    for (uint32_t i = 0; i < f->n_kernels; i++)
        if (was_launched(b, m, m->kernels[f->kernels[i]]))
            return true;
    return !f->n_kernels && was_launched(b, m, NULL); // kernels of other modules may call it (-rdc=true)
}

// The functions of a module that another process loaded before stand where `first` says.
static void take_functions(Build *b, const GrModuleInfo *m, size_t first, bool again) {
    GrReport *r = b->report;
    for (uint32_t i = 0; i < m->n_functions; i++) {
        const GrFunctionInfo *f = &m->functions[i];
        GrFunctionCoverage c = {.name = f->name,
                                .id = f->id,
                                .is_kernel = f->is_kernel,
                                .sites = &m->sites[f->first_site],
                                .n_sites = f->n_sites};
        if (!again && !gr_vec_push(&r->functions, c)) {
            b->nomem = true;
            return;
        }
        if (first + i < r->functions.len && r->functions.data[first + i].id == f->id)
            r->functions.data[first + i].launched |= may_have_run(b, m, f);
    }
}

static void count_watched(GrReport *r) {
    for (size_t i = 0; i < r->functions.len; i++) {
        const GrFunctionCoverage *f = &r->functions.data[i];
        for (uint32_t s = 0; f->launched && s < f->n_sites; s++)
            r->watched += f->sites[s].status == GR_SITE_CHECKED;
    }
}

// Left alone in code of the user's own, not in a header of the toolkit, which knows what it does.
static bool is_volatile_shared(const GrSiteInfo *s) {
    return s->status == GR_SITE_STRONG && s->is_volatile && s->space == PTX_SHARED &&
           !gr_is_toolkit_file(s->at.file);
}

// An engine for weak accesses finds a warp-synchronous scan of a volatile array clean. CUDA C++ calls it a race.
static void remark_on_volatiles(Build *b) {
    const GrSiteInfo *first = NULL;
    unsigned n = 0;
    for (size_t i = 0; i < b->report->functions.len; i++) {
        const GrFunctionCoverage *f = &b->report->functions.data[i];
        for (uint32_t s = 0; f->launched && s < f->n_sites; s++)
            if (is_volatile_shared(&f->sites[s])) {
                n++;
                first = first && first->at.line ? first : &f->sites[s];
            }
    }
    if (!n || b->report->causal.engine)
        return;
    char where[512] = "";
    if (first->at.line && first->at.file)
        snprintf(where, sizeof where, " (the first at %s:%u)", first->at.file, first->at.line);
    b->nomem |= gr_report_remark(b->report,
                                 "%u volatile access%s to shared memory%s left alone%s: by PTX no race, but "
                                 "by CUDA C++ a race where nothing orders them (--device cpu --engine exact)",
                                 n, n == 1 ? "" : "es", n == 1 ? " was" : " were", where) != GR_OK;
}

// Modules are counted once, however many processes loaded them; kernels that were never launched are listed too.
void gr_build_coverage(Build *b) {
    GrReport *r = b->report;
    size_t *first = gr_arena_alloc(&r->arena, (b->modules.len + 1) * sizeof *first);
    if (!first) {
        b->nomem = true;
        return;
    }
    for (size_t i = 0; i < b->modules.len; i++) {
        const GrModuleInfo *m = &b->modules.data[i];
        bool again = false;
        first[i] = r->functions.len;
        if (gr_build_planted(b, m->process, m->number))
            continue;
        for (size_t j = 0; j < i && !again; j++) {
            again = m->hash && b->modules.data[j].hash == m->hash && b->modules.data[j].process != m->process;
            if (again)
                first[i] = first[j];
        }
        take_functions(b, m, first[i], again);
        for (uint32_t k = 0; k < m->n_kernels; k++)
            gr_build_kernel(b, m->kernels[k], m->name, m->unchecked);
        if (again)
            continue;
        (*(m->unchecked ? &r->modules_unchecked : &r->modules_checked))++;
        for (uint32_t s = 1; s <= m->n_sites; s++) {
            r->sites[m->sites[s].status < GR_SITE_STATUS_COUNT ? m->sites[s].status : GR_SITE_UNSEEN]++;
            if (m->sites[s].status >= GR_SITE_NOT_UNDERSTOOD && m->sites[s].status < GR_SITE_STATUS_COUNT)
                add_not_understood(b, m, &m->sites[s]);
        }
    }
    count_watched(r);
    remark_on_volatiles(b);
    if (r->kernels.len)
        qsort(r->kernels.data, r->kernels.len, sizeof *r->kernels.data, compare_kernels);
}
