// SPDX-License-Identifier: Apache-2.0
// engine rerun — runs each launch twice from the same memory and compares what the two runs leave, for tests.
//
// It proves that a launch can be run again, and that all memory is told: a range that was not told is not restored, so
// a kernel that reads and writes it leaves other bytes the second time. One line is printed for each launch, copy, fill
// and range.
#include "engines/core/engine.h"
#include "options/options.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RANGES = 1024 };

typedef struct Rerun {
    GrSession *session;
    pthread_mutex_t lock; // around_launch is called without the injection's
    GrRange ranges[MAX_RANGES];
    unsigned n_ranges;
} Rerun;

static const char *const kinds[] = {"device", "pool",    "managed",  "pinned", "registered",
                                    "global", "mapping", "imported", "graph"};

static gr_status rerun_begin(GrSession *s, const struct GrOptions *o, void **self, gr_error *err) {
    (void)o;
    Rerun *r = calloc(1, sizeof *r);
    if (!r)
        return gr_fail(err, GR_ERR_NOMEM, "out of memory");
    r->session = s;
    pthread_mutex_init(&r->lock, NULL);
    *self = r;
    return GR_OK;
}

// ---- What is found -----------------------------------------------------------------------------------------

// The host writes a module's area, not device code.
typedef struct RerunArea {
    uint64_t count, launch; // launches that differed; the first of them
} RerunArea;

static const GrClass classes[] = {
#define CLASS(id, number, text, meaning) {number, text, meaning, GR_KIND_RACE},
#include "classes.def"
#undef CLASS
    {.number = 0},
};

// At the kernel's first store: which one it was is not known.
static gr_status decode(const GrArea *area, const GrSink *to, gr_error *err) {
    const RerunArea *a = (const RerunArea *)(const void *)area->bytes;
    const GrModuleInfo *m = area->module;
    if (m->area_bytes != sizeof *a)
        return gr_fail(err, GR_ERR_FORMAT, "an area of %llu bytes", (unsigned long long)m->area_bytes);
    const char *kernel = a->count ? area->kernel_of(area->user, a->launch) : NULL;
    for (uint32_t k = 1; kernel && k <= m->n_sites; k++) {
        const GrSiteInfo *s = &m->sites[k];
        if (s->access == PTX_ACCESS_READ || !s->kernel || strcmp(s->kernel, kernel) != 0)
            continue;
        GrFinding f = {.class = classes[0].number,
                       .kernel = kernel,
                       .module = m->name,
                       .space = "global",
                       .launch = a->launch,
                       .count = a->count,
                       .accesses = {gr_access_at(s, s->size)},
                       .n_accesses = 1};
        return to->take(to->user, &f) ? GR_OK : gr_fail(err, GR_ERR_NOMEM, "out of memory");
    }
    return GR_OK;
}

static const GrDecoder decoder = {.tag = {"rerun", 1, 1}, .decode = decode};

static gr_status rerun_rewrite(void *self, PtxModule *ptx, GrModule *m, gr_error *err) {
    (void)self;
    (void)ptx;
    (void)err;
    m->record_bytes = sizeof(RerunArea);
    m->record_tag = decoder.tag;
    for (uint32_t k = 1; k <= m->n_sites; k++)
        m->checked_sites[k] = GR_SITE_CHECKED;
    return GR_OK;
}

// ---- Memory ------------------------------------------------------------------------------------------------

static void rerun_allocated(void *self, const GrRange *range) {
    Rerun *r = self;
    pthread_mutex_lock(&r->lock);
    if (r->n_ranges < MAX_RANGES)
        r->ranges[r->n_ranges++] = *range;
    pthread_mutex_unlock(&r->lock);
    printf("rerun: allocated %s %zu\n", kinds[range->kind], range->size);
}

static void rerun_freed(void *self, const GrRange *range) {
    Rerun *r = self;
    pthread_mutex_lock(&r->lock);
    for (unsigned i = 0; i < r->n_ranges; i++)
        if (r->ranges[i].at == range->at)
            r->ranges[i] = r->ranges[--r->n_ranges];
    pthread_mutex_unlock(&r->lock);
    printf("rerun: freed %s %zu\n", kinds[range->kind], range->size);
}

static void rerun_copied(void *self, const GrCopy *c) {
    (void)self;
    printf("rerun: copied %llu x %llu x %llu %s\n", (unsigned long long)c->to.width,
           (unsigned long long)c->to.height, (unsigned long long)c->to.depth, c->async ? "async" : "sync");
}

static void rerun_filled(void *self, const GrFill *f) {
    (void)self;
    printf("rerun: filled %llu x %llu with %llu of %u %s\n", (unsigned long long)f->to.width,
           (unsigned long long)f->to.height, (unsigned long long)f->value, f->element,
           f->async ? "async" : "sync");
}

// ---- Launches ----------------------------------------------------------------------------------------------

// The bytes of all ranges, one behind the other.
typedef struct Image {
    char *bytes;
    size_t size;
} Image;

static size_t total(const Rerun *r) {
    size_t n = 0;
    for (unsigned i = 0; i < r->n_ranges; i++)
        n += r->ranges[i].size;
    return n;
}

static CUresult save(Rerun *r, Image *out) {
    CUresult (*wait)(void) = (CUresult(*)(void))r->session->driver(r->session, "cuCtxSynchronize");
    CUresult (*read)(void *, CUdeviceptr, size_t) =
        (CUresult(*)(void *, CUdeviceptr, size_t))r->session->driver(r->session, "cuMemcpyDtoH");
    CUresult rc = wait();
    size_t at = 0;
    *out = (Image){malloc(total(r) + 1), total(r)};
    for (unsigned i = 0; i < r->n_ranges && rc == CUDA_SUCCESS; i++) {
        rc =
            out->bytes ? read(out->bytes + at, r->ranges[i].at, r->ranges[i].size) : CUDA_ERROR_OUT_OF_MEMORY;
        at += r->ranges[i].size;
    }
    return rc;
}

static CUresult restore(Rerun *r, const Image *from) {
    CUresult (*write)(CUdeviceptr, const void *, size_t) =
        (CUresult(*)(CUdeviceptr, const void *, size_t))r->session->driver(r->session, "cuMemcpyHtoD");
    CUresult rc = CUDA_SUCCESS;
    size_t at = 0;
    for (unsigned i = 0; i < r->n_ranges && rc == CUDA_SUCCESS; i++) {
        rc = write(r->ranges[i].at, from->bytes + at, r->ranges[i].size);
        at += r->ranges[i].size;
    }
    return rc;
}

static void say(Rerun *r, const GrLaunch *l, CUresult rc, bool same) {
    printf("rerun: launch %llu %s %s error %d params %zu cluster %u%s%s%s\n", (unsigned long long)l->number,
           l->kernel, same ? "SAME" : "DIFFERENT", (int)rc, l->params_known ? l->param_bytes : 0,
           l->cluster[0], l->cooperative ? " cooperative" : "", l->from_graph ? " graph" : "",
           l->module ? "" : " unknown");
    if (same)
        return;
    RerunArea *area = l->module ? l->module->records : NULL;
    if (!area)
        r->session->note(r->session, "rerun",
                         "a launch of an unknown module leaves other memory when it runs again");
    else if (!area->count++)
        area->launch = l->number;
}

static CUresult rerun_around_launch(void *self, const GrLaunch *l, GrRun *run) {
    Rerun *r = self;
    Image before = {0}, first = {0}, second = {0};
    // Other memory than the launch's, to show that the engine's parameters are taken.
    void *params = l->params_known ? malloc(l->param_bytes + 1) : NULL;
    if (params)
        memcpy(params, l->params, l->param_bytes);
    pthread_mutex_lock(&r->lock);
    CUresult rc = save(r, &before);
    if (rc == CUDA_SUCCESS)
        rc = run->submit(run, NULL);
    if (rc == CUDA_SUCCESS)
        rc = save(r, &first);
    if (rc == CUDA_SUCCESS)
        rc = restore(r, &before);
    if (rc == CUDA_SUCCESS)
        rc = run->submit(run, params);
    if (rc == CUDA_SUCCESS)
        rc = save(r, &second);
    bool same = rc == CUDA_SUCCESS && !memcmp(first.bytes, second.bytes, first.size);
    say(r, l, rc, same);
    pthread_mutex_unlock(&r->lock);
    free(params);
    free(before.bytes);
    free(first.bytes);
    free(second.bytes);
    return rc;
}

static void rerun_finish(void *self) { free(self); }

const GrEngine gr_engine_rerun = {
    .name = "rerun",
    .summary = "runs each launch twice and compares (tests only)",
    .evidence = "differs from run to run",
    .caps = CAP_CPU | CAP_GPU | CAP_CHECKS | CAP_RERUNS,
    .classes = classes,
    .decoder = &decoder,
    .begin = rerun_begin,
    .rewrite = rerun_rewrite,
    .allocated = rerun_allocated,
    .freed = rerun_freed,
    .copied = rerun_copied,
    .filled = rerun_filled,
    .around_launch = rerun_around_launch,
    .finish = rerun_finish,
};
