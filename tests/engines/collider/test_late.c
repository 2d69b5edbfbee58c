// SPDX-License-Identifier: Apache-2.0
// test_late — --late-work: which work comes late, in which programs, and what the driver is asked for it.
#include "engines/collider/device/record.h"
#include "engines/collider/late.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SPAN = 3000 }; // ns

static struct {
    unsigned n_functions, n_fills, n_remarks, n_prefetches, waited, word, n_events, n_records, n_queries;
    unsigned begins;          // an event in front of a launch is reached when it was asked so often
    bool runs;                // a launch has not ended
    GrRange points_to;        // of each launch
    uint64_t asleep, longest; // ns, asked for
    CUstream in;
    CUdeviceptr at;
    bool refuses;
    unsigned type; // of the memory asked for; 0: pageable
    const char *lacks;
} d;

static const CUstream one = (CUstream)(uintptr_t)0x100, other = (CUstream)(uintptr_t)0x200;
static const CUcontext context = (CUcontext)(uintptr_t)0x1000;

static CUresult current(CUcontext *c) {
    *c = context;
    return CUDA_SUCCESS;
}
static CUresult fill(CUdeviceptr at, unsigned word, size_t n, CUstream stream) {
    assert_int_equal(n, 1);
    d.n_fills++;
    d.at = at;
    d.word = word;
    d.in = stream;
    return d.refuses ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
static CUresult host_function(CUstream stream, CUhostFn f, void *ns) {
    assert_non_null(f);
    d.n_functions++;
    d.in = stream;
    d.asleep += (uintptr_t)ns;
    d.longest = (uintptr_t)ns > d.longest ? (uintptr_t)ns : d.longest;
    f(ns);
    return CUDA_SUCCESS;
}
static CUresult ask(void *out, CUpointer_attribute what, CUdeviceptr at) {
    assert_int_equal(what, CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
    *(unsigned *)out = at < 0x1000 ? CU_MEMORYTYPE_DEVICE : d.type;
    return at >= 0x1000 && !d.type ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
static CUresult wait(CUstream stream) {
    d.waited = d.n_functions + 1;
    d.in = stream;
    return CUDA_SUCCESS;
}
static CUresult new_event(CUevent *e, unsigned flags) {
    assert_int_equal(flags, CU_EVENT_DISABLE_TIMING);
    *e = (CUevent)(uintptr_t)++d.n_events;
    assert_in_range(d.n_events, 1, 2);
    return CUDA_SUCCESS;
}
static CUresult record(CUevent e, CUstream stream) {
    (void)e, (void)stream;
    d.n_records++;
    return CUDA_SUCCESS;
}
// Event 1 stands in front of a launch, 2 behind it.
static CUresult query(CUevent e) {
    d.n_queries++;
    if ((uintptr_t)e == 2)
        return d.runs ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
    return d.begins && d.n_queries % d.begins == 0 ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}
static CUresult device(CUdevice *out) {
    *out = 5;
    return CUDA_SUCCESS;
}
static CUresult prefetch(CUdeviceptr at, size_t size, CUdevice to, CUstream stream) {
    assert_int_equal(to, 5);
    assert_true(stream == NULL);
    assert_int_equal(at, d.points_to.at);
    assert_in_range(size, 1, 2 << 20);
    d.n_prefetches++;
    return CUDA_SUCCESS;
}
static bool points(GrSession *s, const GrLaunch *g, unsigned kinds, GrRange *out) {
    (void)s, (void)g;
    *out = d.points_to;
    return d.points_to.size && kinds >> d.points_to.kind & 1;
}
static void *driver(GrSession *s, const char *name) {
    static const struct {
        const char *name;
        void *f;
    } all[] = {{"cuCtxGetCurrent", (void *)current},
               {"cuMemsetD32Async", (void *)fill},
               {"cuLaunchHostFunc", (void *)host_function},
               {"cuPointerGetAttribute", (void *)ask},
               {"cuCtxGetDevice", (void *)device},
               {"cuStreamSynchronize", (void *)wait},
               {"cuEventCreate", (void *)new_event},
               {"cuEventRecord", (void *)record},
               {"cuEventQuery", (void *)query},
               {"cuMemPrefetchAsync", (void *)prefetch}};
    (void)s;
    for (unsigned k = 0; k < sizeof all / sizeof *all; k++)
        if (!strcmp(all[k].name, name) && !(d.lacks && !strcmp(d.lacks, name)))
            return all[k].f;
    return NULL;
}
static void remark(GrSession *s, const char *text) {
    (void)s;
    assert_non_null(strstr(text, "--late-work"));
    d.n_remarks++;
}

static GrSession session = {.driver = driver, .remark = remark, .points = points};
static const GrModule first = {.number = 1, .hash = 11}, second = {.number = 2, .hash = 22};

static GrLate *begin(bool always) {
    memset(&d, 0, sizeof d);
    d.begins = 1;
    GrLate *l = gr_late_new(&session, 1, SPAN, always);
    assert_non_null(l);
    gr_late_loaded(l, &first, 0x5000);
    gr_late_loaded(l, &second, 0x6000);
    return l;
}

static void launch(GrLate *l, const char *kernel, CUstream stream) {
    GrLaunch g = {.number = 1, .module = &first, .kernel = kernel, .stream = stream};
    gr_late_launching(l, &g);
    gr_late_launched(l, &g, CUDA_SUCCESS);
}

static bool submit(GrLate *l, GrComingKind kind, CUstream stream, CUdeviceptr from, bool async) {
    return gr_late_submitting(
        l, &(GrComing){.kind = kind, .stream = stream, .async = async, .to = 0x10, .from = from, .size = 64});
}

// A program whose work is all in order pays nothing.
static void alone(void **state) {
    (void)state;
    for (unsigned streams = 0; streams < 2; streams++) {
        GrLate *l = begin(false);
        for (unsigned k = 0; streams && k < 3; k++) { // the legacy stream waits for it, and it for that one
            if (k)
                gr_late_stream_destroyed(l, CU_STREAM_DEFAULT);
            gr_late_stream_created(l, CU_STREAM_DEFAULT);
        }
        for (unsigned k = 0; k < 20; k++) {
            launch(l, "a", streams ? one : NULL);
            submit(l, GR_COMING_COPY, NULL, 0x20, true);
            submit(l, GR_COMING_FILL, NULL, 0, false);
            submit(l, GR_COMING_GRAPH, streams ? one : NULL, 0, true);
        }
        assert_int_equal(d.n_functions + d.n_fills + d.n_remarks, 0);
        gr_late_free(l);
    }
}

// What tells that work may run beside other work.
static void beside(void **state) {
    (void)state;
    for (unsigned way = 0; way < 5; way++) {
        GrLate *l = begin(way == 4);
        CUstream in = way == 2 ? CU_STREAM_PER_THREAD : one;
        if (way < 2)
            gr_late_stream_created(l, way == 0 ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT);
        if (way == 1)
            gr_late_stream_created(l, CU_STREAM_DEFAULT);
        if (way == 3)
            submit(l, GR_COMING_BRANCHING_GRAPH, in, 0, true);
        else
            submit(l, GR_COMING_COPY, in, 0x20, true);
        assert_int_equal(d.n_functions, way != 3); // of a graph in the only stream only the kernels are late
        assert_int_equal(d.n_fills, way == 3 ? 2 : 0);
        assert_true(d.in == in);
        gr_late_free(l);
    }
}

// A run in the same process knows nothing of the streams and the memory of the runs before it.
static void next_run(void **state) {
    (void)state;
    GrLate *l = begin(false);
    gr_late_stream_created(l, CU_STREAM_NON_BLOCKING);
    gr_late_shared(l, &(GrRange){.at = 0x20, .size = 8, .kind = GR_RANGE_PINNED});
    d.points_to = (GrRange){.at = 0x20, .size = 8, .kind = GR_RANGE_PINNED};
    gr_late_next_run(l, 2);
    launch(l, "a", one);
    submit(l, GR_COMING_COPY, one, 0x20, true);
    assert_int_equal(d.n_functions + d.n_fills, 0);
    gr_late_free(l);
}

// Memory that the host sees is about launches that may touch it: these wait long, and the host comes late.
static void host(void **state) {
    static const GrRangeKind kinds[] = {GR_RANGE_DEVICE, GR_RANGE_PINNED, GR_RANGE_MANAGED};
    (void)state;
    GrLate *l = begin(false);
    gr_late_shared(l, &(GrRange){.at = 0x20, .size = 8, .kind = GR_RANGE_PINNED});
    submit(l, GR_COMING_COPY, NULL, 0x20, true);
    assert_int_equal(d.n_functions, 0);
    for (unsigned k = 0; k < 3; k++) {
        d.points_to = (GrRange){.at = 0x100, .size = k == 2 ? 16 << 20 : 64, .kind = kinds[k]};
        launch(l, k == 2 ? "b" : "a", NULL);
        assert_int_equal(d.n_functions, 0);
        assert_int_equal(d.n_fills, k > 0);
        assert_int_equal(d.n_prefetches, k == 2);
    }
    assert_int_equal(d.at, 0x5000 + offsetof(GrControl, beside));
    assert_int_equal(d.word, 1);
    gr_late_free(l);
    // A managed variable has no address among the parameters.
    l = begin(false);
    gr_late_shared(l, &(GrRange){.at = 0x20, .size = 8, .kind = GR_RANGE_GLOBAL});
    launch(l, "a", NULL);
    assert_int_equal(d.n_fills, 1);
    assert_int_equal(d.n_prefetches, 0);
    gr_late_free(l);
}

// What is done often is rarely late.
static void rarely(void **state) {
    enum { TIMES = 64 * 64 };
    unsigned late = 0;
    (void)state;
    GrLate *l = begin(true);
    for (unsigned k = 0; k < TIMES; k++) {
        unsigned before = d.n_functions;
        submit(l, GR_COMING_FILL, one, 0, true);
        late += d.n_functions > before;
        if (k < LATE_COMING)
            assert_int_equal(late, k + 1);
    }
    assert_in_range(late, TIMES / LATE_RARELY,
                    TIMES / LATE_RARELY + LATE_COMING + LATE_OFTEN / LATE_SOMETIMES);
    assert_in_range(d.longest, SPAN, SPAN * 2);
    submit(l, GR_COMING_COPY, one, 0x20, true); // of another kind
    assert_int_equal(d.n_functions, late + 1);
    gr_late_free(l);
    // The word is written where it changes.
    l = begin(true);
    for (unsigned k = 0; k < LATE_OFTEN; k++)
        launch(l, "a", one);
    assert_int_equal(d.n_fills,
                     1 + 1 + 2 * (LATE_OFTEN / LATE_SOMETIMES - 2)); // held, not held, then single ones
    launch(l, "b", one);
    assert_int_equal(d.word, 1);
    assert_true(d.n_functions < LATE_LAUNCHES);
    assert_in_range(d.longest, 0, 2 * SPAN);
    gr_late_free(l);
}

// The same program with the same seed has the same things late, in whatever order the kinds come.
static void repeats(void **state) {
    uint64_t asleep[3];
    (void)state;
    for (unsigned way = 0; way < 3; way++) {
        memset(&d, 0, sizeof d);
        GrLate *l = gr_late_new(&session, way == 2 ? 2 : 1, SPAN, true);
        for (unsigned k = 0; k < 10; k++) {
            submit(l, way == 1 ? GR_COMING_FILL : GR_COMING_COPY, one, 0x20, true);
            submit(l, way == 1 ? GR_COMING_COPY : GR_COMING_FILL, other, 0x20, true);
        }
        asleep[way] = d.asleep;
        gr_late_free(l);
    }
    assert_int_equal(asleep[0], asleep[1]);
    assert_int_not_equal(asleep[0], asleep[2]);
}

// Unless asked, no copy from pageable memory comes behind its call.
static void pageable_copies(void **state) {
    (void)state;
    GrLate *l = begin(false);
    gr_late_stream_created(l, CU_STREAM_NON_BLOCKING);
    for (unsigned k = 0; k < LATE_COMING; k++)
        assert_false(submit(l, GR_COMING_COPY, one, 0x2000, false));
    assert_int_equal(d.n_functions, 0);
    gr_late_free(l);
}

// A call that waits for its copy is not made to wait longer.
static void copies(void **state) {
    (void)state;
    static const struct {
        CUdeviceptr from;
        unsigned type;
        bool async, late;
    } cases[] = {{0x20, CU_MEMORYTYPE_DEVICE, false, true},
                 {0x2000, CU_MEMORYTYPE_HOST, false, false},
                 {0x2000, 0, false, true},
                 {0x2000, CU_MEMORYTYPE_HOST, true, true},
                 {0x2000, CU_MEMORYTYPE_DEVICE, false, true},
                 {0, CU_MEMORYTYPE_HOST, false, true}};
    GrLate *l = begin(true);
    for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++) {
        unsigned before = d.n_functions;
        d.type = cases[k].type;
        bool pageable = cases[k].from && !cases[k].type && !cases[k].async;
        assert_int_equal(submit(l, GR_COMING_COPY, one, cases[k].from, cases[k].async), pageable);
        assert_int_equal(d.n_functions - before, cases[k].late);
        assert_int_equal(d.waited, pageable ? before + 1 : 0); // before the delay
        d.waited = 0;
    }
    unsigned before = d.n_functions;
    d.type = CU_MEMORYTYPE_HOST; // to the host: no kernel notices
    gr_late_submitting(
        l, &(GrComing){.kind = GR_COMING_COPY, .stream = one, .async = true, .to = 0x3000, .from = 0x10});
    d.type = 0; // large, from pageable memory: the call waits
    gr_late_submitting(
        l, &(GrComing){.kind = GR_COMING_COPY, .stream = one, .to = 0x10, .from = 0x3000, .size = 1 << 20});
    assert_int_equal(d.n_functions, before);
    gr_late_free(l);
}

// While a launch runs, most copies come late into the midst of it, and the others late into their stream.
static void in_the_midst(void **state) {
    unsigned in_stream = 0;
    (void)state;
    GrLate *l = begin(true);
    launch(l, "a", one);
    assert_int_equal(d.n_records, 2);
    d.runs = true;
    d.begins = 5;
    for (unsigned k = 0; k < LATE_COMING; k++) {
        unsigned asked = d.n_queries, before = d.n_functions;
        assert_false(submit(l, GR_COMING_COPY, other, 0x20, true));
        in_stream += d.n_functions > before;
        assert_true(d.n_functions > before || d.n_queries >= asked + 2);
    }
    assert_in_range(in_stream, 1, LATE_COMING / 2);
    // It does not begin, because it needs what comes: the wait has an end.
    d.begins = 0;
    submit(l, GR_COMING_FILL, other, 0, true);
    d.runs = false;
    unsigned before = d.n_functions;
    submit(l, GR_COMING_FILL, other, 0, true);
    assert_int_equal(d.n_functions, before + 1);
    gr_late_context_ended(l, context);
    before = d.n_queries;
    submit(l, GR_COMING_FILL, other, 0, true);
    assert_int_equal(d.n_queries, before);
    gr_late_free(l);
}

static void refusals(void **state) {
    (void)state;
    GrLate *l = begin(true);
    d.refuses = true;
    for (unsigned k = 0; k < 100; k++)
        launch(l, "a", one);
    assert_int_equal(d.n_remarks, 1);
    // A launch that may begin before the work in front of it has ended; a module that is gone.
    unsigned before = d.n_fills;
    gr_late_launching(l, &(GrLaunch){.module = &first, .kernel = "b", .programmatic = true});
    gr_late_unloaded(l, &first);
    launch(l, "c", one);
    assert_int_equal(d.n_fills, before);
    submit(l, GR_COMING_GRAPH, one, 0, true);
    assert_int_equal(d.at, 0x6000 + offsetof(GrControl, beside));
    before = d.n_fills;
    gr_late_context_ended(l, context);
    for (unsigned k = 0; k < 20; k++)
        submit(l, GR_COMING_GRAPH, one, 0, true);
    assert_int_equal(d.n_fills, before);
    gr_late_free(l);
    memset(&d, 0, sizeof d);
    d.lacks = "cuLaunchHostFunc";
    l = gr_late_new(&session, 1, SPAN, true);
    gr_late_loaded(l, &first, 0x5000);
    assert_int_equal(d.n_remarks, 0); // nothing was wanted of it yet
    for (unsigned k = 0; k < 20; k++) {
        launch(l, "a", one);
        submit(l, GR_COMING_COPY, one, 0x20, true);
    }
    assert_int_equal(d.n_remarks, 1);
    assert_int_equal(d.n_fills, 0);
    gr_late_free(l);
    gr_late_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone),           cmocka_unit_test(beside), cmocka_unit_test(host),
        cmocka_unit_test(next_run),        cmocka_unit_test(rarely), cmocka_unit_test(repeats),
        cmocka_unit_test(pageable_copies), cmocka_unit_test(copies), cmocka_unit_test(in_the_midst),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
