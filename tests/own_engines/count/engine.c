// SPDX-License-Identifier: Apache-2.0
// engine count — the engine of pass_count, for tests: after every launch it compares what the device counted with what
// the observers saw, site by site, and prints one line. That the two agree proves rewriting, tags and observers at
// once.
#include "engines/core/engine.h"
#include "device_api/hooks.h"
#include "options/options.h"
#include "pass_count.h"
#include "vm/observer.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// One launch at a time: the programs of the tests launch from one thread.
typedef struct Count {
    GrSession *session;
    uint64_t *seen; // by the observer, per site, since the last launch was compared
    uint32_t n_seen;
} Count;

static void on_access(void *user, const VmAccessEvent *e) {
    Count *c = user;
    if (e->where.site >= c->n_seen) {
        uint32_t n = e->where.site * 2 + 64;
        uint64_t *seen = realloc(c->seen, n * sizeof *seen);
        if (!seen)
            return; // the comparison will say that counts differ
        memset(seen + c->n_seen, 0, (n - c->n_seen) * sizeof *seen);
        c->seen = seen;
        c->n_seen = n;
    }
    c->seen[e->where.site] += (uint64_t)__builtin_popcount(e->where.mask);
}

static gr_status count_begin(GrSession *s, const struct GrOptions *o, void **self, gr_error *err) {
    (void)o;
    Count *c = calloc(1, sizeof *c);
    if (!c)
        return gr_fail(err, GR_ERR_NOMEM, "out of memory");
    c->session = s;
    int (*observe)(const VmObserver *) =
        (int (*)(const VmObserver *))dlsym(RTLD_DEFAULT, "gr_cpu_device_observe");
    VmObserver ear = {.user = c, .access = on_access};
    if (s && (!observe || observe(&ear) != 0)) {
        free(c);
        return gr_fail(err, GR_ERR_UNSUPPORTED, "engine count needs the CPU device");
    }
    *self = c;
    return GR_OK;
}

static const char *counter_name(const GrModule *m, char *buf, size_t size) {
    snprintf(buf, size, "__gr_counts_%llu", (unsigned long long)m->number);
    return buf;
}

static gr_status count_rewrite(void *self, PtxModule *ptx, GrModule *m, gr_error *err) {
    (void)self;
    char name[48];
    volatile int *volatile nowhere = NULL;
    if (gr_ptx_find_func(ptx, "crash_while_rewriting"))
        *nowhere = 0; // test_crash.py
    if (gr_ptx_find_func(ptx, "abort_while_rewriting"))
        abort();
    for (uint32_t k = 1; k <= m->n_sites; k++)
        m->checked_sites[k] = GR_SITE_CHECKED;
    return gr_count_rewrite(ptx, counter_name(m, name, sizeof name), err);
}

static gr_status count_loaded(void *self, GrModule *m, GrGetGlobal get_global, void *handle, gr_error *err) {
    (void)self;
    char name[48];
    CUdeviceptr at;
    size_t size;
    if (get_global(handle, counter_name(m, name, sizeof name), &at, &size) != CUDA_SUCCESS)
        return gr_fail(err, GR_ERR_NOT_FOUND, "no counters in module %s", m->name);
    m->engine_data = (void *)(uintptr_t)at;
    return GR_OK;
}

static void compare(Count *c, const GrLaunch *l) {
    CUresult (*sync)(CUstream) = (CUresult(*)(CUstream))c->session->driver(c->session, "cuStreamSynchronize");
    CUresult (*read)(void *, CUdeviceptr, size_t) =
        (CUresult(*)(void *, CUdeviceptr, size_t))c->session->driver(c->session, "cuMemcpyDtoH");
    CUresult (*fill)(CUdeviceptr, unsigned char, size_t) =
        (CUresult(*)(CUdeviceptr, unsigned char, size_t))c->session->driver(c->session, "cuMemsetD8");
    CUdeviceptr at = (CUdeviceptr)(uintptr_t)l->module->engine_data;
    uint32_t n = l->module->n_sites;
    size_t bytes = ((size_t)n + 1) * sizeof(uint64_t);
    uint64_t *counted = calloc(1, bytes), total = 0;
    if (!counted || !sync || !read || !fill)
        return;
    CUresult rc = sync(l->stream);
    if (rc == CUDA_SUCCESS)
        rc = read(counted, at, bytes);
    if (rc == CUDA_SUCCESS)
        rc = fill(at, 0, bytes);
    if (rc != CUDA_SUCCESS)
        printf("count: launch %llu %s: CUDA error %d\n", (unsigned long long)l->number, l->kernel, (int)rc);
    bool equal = rc == CUDA_SUCCESS;
    for (uint32_t k = 1; equal && k <= n; k++) {
        uint64_t seen = k < c->n_seen ? c->seen[k] : 0;
        total += seen;
        if (seen == counted[k])
            continue;
        printf("count: launch %llu %s site %u: device %llu, observer %llu DIFFERENT\n",
               (unsigned long long)l->number, l->kernel, k, (unsigned long long)counted[k],
               (unsigned long long)seen);
        equal = false;
    }
    printf("count: launch %llu %s sites %u accesses %llu %s\n", (unsigned long long)l->number, l->kernel, n,
           (unsigned long long)total, equal ? "equal" : "FAILED");
    fflush(stdout);
    if (c->n_seen)
        memset(c->seen, 0, c->n_seen * sizeof *c->seen);
    free(counted);
}

static CUresult count_around_launch(void *self, const GrLaunch *l, GrRun *run) {
    Count *c = self;
    CUresult result = run->submit(run, NULL);
    if (result == CUDA_SUCCESS && l->module && l->module->engine_data)
        compare(c, l);
    return result;
}

static void count_unloaded(void *self, GrModule *m) {
    (void)self;
    m->engine_data = NULL; // its counters went with it
}
static void count_finish(void *self) {
    free(((Count *)self)->seen);
    free(self);
}

const GrEngine gr_engine_count = {
    .name = "count",
    .summary = "counts accesses per site and compares with the observers (tests only)",
    .evidence = "counts",
    .caps = CAP_CPU | CAP_CHECKS | CAP_REWRITES | CAP_LISTENS,
    .begin = count_begin,
    .rewrite = count_rewrite,
    .loaded = count_loaded,
    .unloaded = count_unloaded,
    .around_launch = count_around_launch,
    .finish = count_finish,
};
