// SPDX-License-Identifier: Apache-2.0
// engine coming — prints what it is told before the driver is, for tests: streams, copies, fills and graphs. For what
// has a destination it prints the first byte there, too, which tells that the work was not done yet.
#include "engines/core/engine.h"
#include "options/options.h"

#include <stdio.h>
#include <stdlib.h>

static gr_status coming_begin(GrSession *s, const struct GrOptions *o, void **self, gr_error *err) {
    (void)o, (void)err;
    *self = s;
    return GR_OK;
}

static void coming_stream(void *self, unsigned flags) {
    (void)self;
    printf("coming: stream %u\n", flags);
}

static void coming_no_stream(void *self, unsigned flags) {
    (void)self;
    printf("coming: no stream %u\n", flags);
}

static bool coming_work(void *self, const GrComing *w) {
    static const char *const kinds[] = {"copy", "fill", "chain", "branches"};
    GrSession *s = self;
    CUresult (*read)(void *, CUdeviceptr, size_t) =
        (CUresult(*)(void *, CUdeviceptr, size_t))s->driver(s, "cuMemcpyDtoH");
    unsigned char first = 0;
    if (w->to && read(&first, w->to, 1) != CUDA_SUCCESS)
        printf("coming: what is there cannot be read\n");
    printf("coming: %s %zu %s %s %u\n", kinds[w->kind], w->size, w->async ? "in" : "at once",
           !w->stream                          ? "legacy"
           : w->stream == CU_STREAM_PER_THREAD ? "own"
                                               : "stream",
           first);
    return w->kind == GR_COMING_COPY && w->size == 4096;
}

// Of launches, those that have an address of memory that the host sees, too.
static void coming_launch(void *self, const GrLaunch *l) {
    GrSession *s = self;
    GrRange r;
    if (s->points(s, l, 1u << GR_RANGE_PINNED | 1u << GR_RANGE_MANAGED, &r))
        printf("coming: launch of %s with %zu bytes of %s memory\n", l->kernel, r.size,
               r.kind == GR_RANGE_PINNED ? "pinned" : "managed");
}

// The injection keeps what it knows of memory for an engine that is told of it.
static void coming_allocated(void *self, const GrRange *r) { (void)self, (void)r; }

const GrEngine gr_engine_coming = {
    .name = "coming",
    .summary = "prints what comes (tests only)",
    .evidence = "none",
    .caps = CAP_CPU | CAP_GPU,
    .begin = coming_begin,
    .stream_created = coming_stream,
    .stream_destroyed = coming_no_stream,
    .submitting = coming_work,
    .allocated = coming_allocated,
    .launching = coming_launch,
};
