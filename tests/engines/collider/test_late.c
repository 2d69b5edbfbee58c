// SPDX-License-Identifier: Apache-2.0
// test_late — --late-work: which work comes late, in which programs, and what the driver is asked for it.
#include "engines/collider/device/record.h"
#include "engines/collider/gate.h"
#include "engines/collider/late.h"
#include "engines/collider/underway.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SPAN = 3000 }; // ns

static struct {
    unsigned n_functions, n_fills, n_remarks, n_prefetches, waited, word, n_events, n_records, n_queries,
        n_loads;
    bool runs;         // a launch has not ended
    GrRange points_to; // of each launch
    struct {
        CUhostFn f;
        void *gate;
    } functions[64]; // that are in streams
    unsigned n_waiting;
    GrHold *page, nowhere; // where the words are; with no_page, where the tests still write
    bool begins;           // a launch begins when it is asked for
    bool no_page;
    bool elsewhere;             // in another context
    bool in_turn;               // when a word was written last, the newest launch that was told had begun
    uint64_t extra, most_extra; // of the gates, ns
    CUstream in;
    CUdeviceptr at;
    bool refuses;
    unsigned type; // of the memory asked for; 0: pageable
    const char *lacks;
} d;

static const CUstream one = (CUstream)(uintptr_t)0x100, other = (CUstream)(uintptr_t)0x200,
                      blocking = (CUstream)(uintptr_t)0x300;
static const CUcontext context = (CUcontext)(uintptr_t)0x1000;

static CUresult current(CUcontext *c) {
    *c = d.elsewhere ? (CUcontext)(uintptr_t)0x2000 : context;
    return CUDA_SUCCESS;
}
static CUresult fill(CUdeviceptr at, unsigned word, size_t n, CUstream stream) {
    assert_int_equal(n, 1);
    d.n_fills++;
    d.at = at;
    d.word = word;
    d.in = stream;
    d.in_turn = d.page && d.page->begun[d.page->newest % GR_HOLD_RING] == d.page->newest;
    return d.refuses ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
static CUresult host_function(CUstream stream, CUhostFn f, void *gate) {
    assert_non_null(f);
    assert_in_range(d.n_waiting, 0, 63);
    d.functions[d.n_waiting].f = f;
    d.functions[d.n_waiting++].gate = gate;
    d.n_functions++;
    d.in = stream;
    d.extra += ((Gate *)gate)->extra;
    d.most_extra = ((Gate *)gate)->extra > d.most_extra ? ((Gate *)gate)->extra : d.most_extra;
    return CUDA_SUCCESS;
}
static CUresult register_page(void *at, size_t size, unsigned flags) {
    assert_int_equal((uintptr_t)at % 4096 + size % 4096, 0);
    assert_int_equal(flags, CU_MEMHOSTREGISTER_DEVICEMAP);
    d.page = d.no_page ? &d.nowhere : at;
    return d.no_page ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
}
static CUresult where(CUdeviceptr *out, void *at, unsigned flags) {
    assert_ptr_equal(at, d.page);
    assert_int_equal(flags, 0);
    *out = 0x9000;
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
    assert_in_range(d.n_events, 1, UNDERWAY_NEWEST);
    return CUDA_SUCCESS;
}
static CUresult record(CUevent e, CUstream stream) {
    (void)e, (void)stream;
    d.n_records++;
    if (d.begins)
        d.page->begun[d.page->newest % GR_HOLD_RING] = d.page->newest;
    return CUDA_SUCCESS;
}
static CUresult query(CUevent e) {
    assert_in_range((uintptr_t)e, 1, UNDERWAY_NEWEST);
    d.n_queries++;
    uint32_t newest = d.page->newest;
    if (d.begins)
        d.page->begun[newest % GR_HOLD_RING] = newest;
    return d.runs ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}
static CUresult stream_flags(CUstream s, unsigned *flags) {
    *flags = s == blocking ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING;
    return CUDA_SUCCESS;
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
               {"cuMemHostRegister", (void *)register_page},
               {"cuMemHostGetDevicePointer", (void *)where},
               {"cuStreamGetFlags", (void *)stream_flags},
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

static void load_kernels(GrSession *s) {
    (void)s;
    d.n_loads++;
}

static GrSession session = {
    .driver = driver, .remark = remark, .points = points, .load_kernels = load_kernels};
static const GrModule first = {.number = 1, .hash = 11}, second = {.number = 2, .hash = 22};

static GrLate *begin(bool always) {
    memset(&d, 0, sizeof d);
    GrLate *l = gr_late_new(&session, 1, SPAN, always);
    assert_non_null(l);
    assert_int_equal(gr_late_loaded(l, &first, 0x5000), 0x9000);
    assert_int_equal(gr_late_loaded(l, &second, 0x6000), 0x9000);
    return l;
}

static void end(GrLate *l);

static void launch(GrLate *l, const char *kernel, CUstream stream) {
    GrLaunch g = {.number = 1, .module = &first, .kernel = kernel, .stream = stream};
    gr_late_launching(l, &g);
    gr_late_launched(l, &g, CUDA_SUCCESS);
}

// The streams come to the functions that are in them.
static void go_on(void) {
    for (unsigned k = 0; k < d.n_waiting; k++)
        d.functions[k].f(d.functions[k].gate);
    d.n_waiting = 0;
}

static void wait_for(GrLate *l, GrWaitKind kind, CUstream stream) {
    GrWait w = {kind, stream};
    gr_late_waiting(l, &w);
    go_on();
    gr_late_waited(l, &w);
}

static void end(GrLate *l) {
    if (l && d.n_waiting)
        wait_for(l, GR_WAIT_ALL, NULL);
    gr_late_free(l);
}

static GrHostState host_state(void) { return (GrHostState)(d.page->host & ((1u << GR_HOST_STATE_BITS) - 1)); }

static bool submit(GrLate *l, GrComingKind kind, CUstream stream, CUdeviceptr from, bool async) {
    GrComing w = {.kind = kind, .stream = stream, .async = async, .to = 0x10, .from = from, .size = 64};
    bool staged = gr_late_submitting(l, &w);
    gr_late_submitted(l, &w);
    return staged;
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
        end(l);
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
        end(l);
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
    end(l);
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
        assert_int_equal(d.n_fills, k);
        if (k)
            assert_int_equal(host_state(), GR_HOST_TOUCHES); // it may touch the memory, which takes time
        assert_int_equal(d.n_prefetches, k == 2);
    }
    assert_int_equal(d.at, 0x5000 + offsetof(GrControl, beside));
    assert_int_equal(d.word >> GR_BESIDE_NUMBER, 2);
    assert_int_equal(d.word & ((1 << GR_BESIDE_NUMBER) - 1), GR_BESIDE_STAYS);
    end(l);
    // A managed variable has no address among the parameters.
    l = begin(false);
    gr_late_shared(l, &(GrRange){.at = 0x20, .size = 8, .kind = GR_RANGE_GLOBAL});
    launch(l, "a", NULL);
    assert_int_equal(d.n_fills, 1);
    assert_int_equal(d.n_prefetches, 0);
    end(l);
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
        wait_for(l, GR_WAIT_ALL, NULL);
        if (k < LATE_COMING)
            assert_int_equal(late, k + 1);
    }
    assert_in_range(late, TIMES / LATE_RARELY,
                    TIMES / LATE_RARELY + LATE_COMING + LATE_OFTEN / LATE_SOMETIMES);
    assert_in_range(d.most_extra, SPAN / 2, SPAN);
    submit(l, GR_COMING_COPY, one, 0x20, true); // of another kind
    assert_int_equal(d.n_functions, late + 1);
    end(l);
    // Each launch that is held gets a word, and the next one that is not.
    l = begin(true);
    for (unsigned k = 0; k < LATE_OFTEN; k++) {
        launch(l, "a", one);
        bool early = k < LATE_LAUNCHES;
        assert_int_equal(d.word != 0, early || k % LATE_SOMETIMES == 0);
        if (d.word)
            assert_int_equal(d.word >> GR_BESIDE_SHORTER & 3, !early);
        wait_for(l, GR_WAIT_ALL, NULL);
    }
    assert_int_equal(d.n_fills, LATE_LAUNCHES + 2 * (LATE_OFTEN / LATE_SOMETIMES - 1));
    assert_true(d.n_functions < LATE_LAUNCHES);
    end(l);
}

// The same program with the same seed has the same things late, in whatever order the kinds come.
static void repeats(void **state) {
    uint64_t extra[3];
    (void)state;
    for (unsigned way = 0; way < 3; way++) {
        memset(&d, 0, sizeof d);
        GrLate *l = gr_late_new(&session, way == 2 ? 2 : 1, SPAN, true);
        for (unsigned k = 0; k < 10; k++) {
            submit(l, way == 1 ? GR_COMING_FILL : GR_COMING_COPY, one, 0x20, true);
            submit(l, way == 1 ? GR_COMING_COPY : GR_COMING_FILL, other, 0x20, true);
            wait_for(l, GR_WAIT_ALL, NULL);
        }
        extra[way] = d.extra;
        end(l);
    }
    assert_int_equal(extra[0], extra[1]);
    assert_int_not_equal(extra[0], extra[2]);
}

// Unless asked, no copy from pageable memory comes behind its call.
static void pageable_copies(void **state) {
    (void)state;
    GrLate *l = begin(false);
    gr_late_stream_created(l, CU_STREAM_NON_BLOCKING);
    for (unsigned k = 0; k < LATE_COMING; k++)
        assert_false(submit(l, GR_COMING_COPY, one, 0x2000, false));
    assert_int_equal(d.n_functions, 0);
    end(l);
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
                 {0x2000, 0, true, true},
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
    d.type = 0; // large, from pageable memory: the call waits, async or not
    for (unsigned async = 0; async < 2; async++)
        gr_late_submitting(l, &(GrComing){.kind = GR_COMING_COPY,
                                          .stream = one,
                                          .async = async,
                                          .to = 0x10,
                                          .from = 0x3000,
                                          .size = 1 << 20});
    assert_int_equal(d.n_functions, before);
    end(l);
}

// While a launch that is held runs, most copies come late into the midst of it, and the others late into their stream.
static void in_the_midst(void **state) {
    unsigned in_stream = 0;
    (void)state;
    GrLate *l = begin(true);
    while (!d.n_records) { // in front of some there is a gate, and none waits for them
        launch(l, "a", one);
        go_on();
    }
    d.runs = d.begins = true;
    for (unsigned k = 0; k < LATE_COMING; k++) {
        unsigned asked = d.n_queries, before = d.n_functions;
        assert_false(submit(l, GR_COMING_COPY, other, 0x20, true));
        in_stream += d.n_functions > before;
        assert_true(d.n_functions > before || d.n_queries > asked);
        go_on();
    }
    assert_in_range(in_stream, 1, LATE_COMING / 2);
    // It does not begin, because it needs what comes: the wait has an end.
    d.begins = false;
    memset(d.page->begun, 0, sizeof d.page->begun);
    submit(l, GR_COMING_FILL, other, 0, true);
    go_on();
    d.runs = false;
    unsigned before = d.n_functions;
    submit(l, GR_COMING_FILL, other, 0, true);
    assert_int_equal(d.n_functions, before + 1);
    gr_late_context_ended(l, context);
    before = d.n_queries;
    submit(l, GR_COMING_FILL, other, 0, true);
    assert_int_equal(d.n_queries, before);
    end(l);
}

// Launches of one module read one word. So the next one that is not held is told so when the one before, in another
// stream, has begun; one in the same stream comes behind it by itself. A launch that does not begin is waited for, but
// not for ever.
static void in_turn(void **state) {
    (void)state;
    for (unsigned way = 0; way < 4; way++) {
        GrLate *l = begin(false);
        gr_late_stream_created(l, CU_STREAM_NON_BLOCKING);
        for (unsigned k = 0; k < LATE_LAUNCHES; k++) {
            launch(l, "a", one);
            go_on();
        }
        assert_true(d.n_records > 0 && d.word);
        d.runs = true;
        d.begins = way < 2;
        for (unsigned k = 0; d.word; k++) {
            assert_in_range(k, 0, 1);
            if (way == 1)
                submit(l, GR_COMING_GRAPH, other, 0, true);
            else
                launch(l, "a", way == 2 ? one : other);
        }
        assert_int_equal(d.in_turn, way < 2);
        d.runs = false;
        end(l);
    }
}

// A gate opens when a launch behind it has begun, when what comes in its stream is a launch, when the host waits, and
// by itself.
static void gates(void **state) {
    (void)state;
    GrLate *l = begin(true);
    submit(l, GR_COMING_FILL, one, 0, true);
    assert_int_equal(d.n_waiting, 1);
    go_on(); // by itself: nothing else comes
    submit(l, GR_COMING_FILL, one, 0, true);
    const Gate *g = d.functions[0].gate;
    launch(l, "a", other);
    d.page->begun[d.page->newest % GR_HOLD_RING] = d.page->newest;
    uint32_t shut = g->state;
    gr_late_waiting(l,
                    &(GrWait){GR_WAIT_ALL, NULL}); // the launch is about to begin, or has: it is not opened
    assert_int_equal(g->state, shut);
    go_on();
    assert_int_not_equal(g->state, shut);
    submit(l, GR_COMING_FILL, one, 0, true);
    g = d.functions[0].gate;
    launch(l, "b", one);
    assert_int_not_equal(g->state, shut);
    go_on();
    submit(l, GR_COMING_FILL, one, 0, true);
    g = d.functions[0].gate;
    gr_late_waiting(l, &(GrWait){GR_WAIT_EVENT, NULL});
    assert_int_not_equal(g->state, shut);
    go_on();
    // The legacy stream and the blocking ones wait for each other.
    static const CUstream pairs[][2] = {{NULL, blocking}, {blocking, NULL}, {NULL, one}, {one, NULL}};
    for (unsigned k = 0; k < 4; k++) {
        submit(l, GR_COMING_FILL, pairs[k][0], 0, true);
        g = d.functions[0].gate;
        launch(l, "b", pairs[k][1]);
        assert_int_equal(g->state == shut, k >= 2);
        d.page->begun[d.page->newest % GR_HOLD_RING] = d.page->newest;
        go_on();
    }
    // What waits for an event that stands behind it is behind it, too; but not once the event stands elsewhere.
    const CUevent event = (CUevent)(uintptr_t)0x700;
    for (unsigned way = 0; way < 4; way++) {
        if (way == 2)
            gr_late_ordered(l, &(GrOrdering){event, other, false});
        submit(l, GR_COMING_FILL, one, 0, true);
        g = d.functions[0].gate;
        if (way != 2)
            gr_late_ordered(l, &(GrOrdering){event, one, false});
        if (way)
            gr_late_ordered(l, &(GrOrdering){event, way == 3 ? blocking : other, true});
        launch(l, "b", way == 3 ? blocking : other);
        assert_int_equal(g->state == shut, way == 0 || way == 2);
        d.page->begun[d.page->newest % GR_HOLD_RING] = d.page->newest;
        go_on();
    }
    // No more than there is room for.
    for (unsigned k = 0; k < 2 * GATES; k++)
        launch(l, k % 2 ? "c" : "d", k % 3 ? one : other), submit(l, GR_COMING_COPY, other, 0x20, true);
    assert_in_range(d.n_waiting, 8, GATES);
    end(l);
}

// A launch in front of a gate, in another stream, may begin later than the gate opens: on a GPU that other processes
// use, too. So the gate waits for it.
static void gates_for_what_is_to_begin(void **state) {
    (void)state;
    GrLate *l = begin(true);
    while (!d.n_records) {
        launch(l, "a", one);
        go_on();
    }
    d.runs = true;
    for (unsigned k = 0; !d.n_waiting; k++) { // the others come late into the midst of it
        assert_in_range(k, 0, LATE_COMING - 1);
        submit(l, GR_COMING_COPY, other, 0x20, true);
    }
    const Gate *g = d.functions[0].gate;
    assert_true(g->for_newest);
    uint32_t shut = g->state;
    gr_late_waiting(l, &(GrWait){GR_WAIT_ALL, NULL});
    assert_int_equal(g->state, shut);
    assert_int_equal(host_state(), GR_HOST_TOUCHES); // and the launch for what is behind the gate
    d.page->begun[d.page->newest % GR_HOLD_RING] = d.page->newest;
    go_on();
    assert_int_equal(host_state(), GR_HOST_OPEN);
    d.runs = false;
    end(l);
}

// Gates open one after the other. So a launch that a gate waits for has none in front of it.
static void one_gate_for_a_launch(void **state) {
    (void)state;
    char kernel[2] = "A";
    GrLate *l = begin(true);
    submit(l, GR_COMING_FILL, one, 0, true);
    for (unsigned k = 0; k < 26; k++, kernel[0]++)
        launch(l, kernel, other);
    assert_int_equal(d.n_functions, 1);
    go_on();
    for (unsigned k = 0; k < 26; k++, kernel[0]++)
        launch(l, kernel, other), go_on();
    assert_in_range(d.n_functions, 2, 27);
    end(l);
}

// What held kernels are told.
static void host_states(void **state) {
    (void)state;
    GrLate *l = begin(false);
    gr_late_stream_created(l, CU_STREAM_NON_BLOCKING);
    GrLaunch g = {.number = 1, .module = &first, .kernel = "a", .stream = one};
    GrComing w = {.kind = GR_COMING_FILL, .stream = one, .async = true, .to = 0x10, .size = 64};
    gr_late_launching(l, &g);
    assert_int_equal(host_state(), GR_HOST_BUSY);
    gr_late_launched(l, &g, CUDA_SUCCESS);
    assert_int_equal(host_state(), GR_HOST_OPEN);
    // In one stream nothing comes beside it.
    gr_late_waiting(l, &(GrWait){GR_WAIT_STREAM, one});
    assert_int_equal(host_state(), GR_HOST_WAITS);
    gr_late_submitting(l, &w);
    assert_int_equal(host_state(), GR_HOST_BUSY);
    gr_late_submitted(l, &w);
    assert_int_equal(host_state(), GR_HOST_OPEN);
    gr_late_waiting(l, &(GrWait){GR_WAIT_STREAM, other});
    gr_late_waiting(l, &(GrWait){GR_WAIT_EVENT, NULL});
    assert_int_equal(host_state(), GR_HOST_OPEN);
    wait_for(l, GR_WAIT_ALL, NULL);
    assert_int_equal(host_state(), GR_HOST_WAITS);
    // What is in two streams, or in a graph with branches, may still come.
    for (unsigned way = 0; way < 2; way++) {
        if (way) {
            submit(l, GR_COMING_BRANCHING_GRAPH, one, 0, true);
        } else {
            launch(l, "b", one);
            submit(l, GR_COMING_COPY, other, 0x20, true);
        }
        gr_late_waiting(l, &(GrWait){GR_WAIT_ALL, NULL});
        assert_int_equal(host_state(), GR_HOST_OPEN);
        go_on();
        gr_late_waited(l, &(GrWait){GR_WAIT_ALL, NULL});
        gr_late_waiting(l, &(GrWait){GR_WAIT_ALL, NULL});
        assert_int_equal(host_state(), GR_HOST_WAITS);
    }
    // A kernel waits for what is behind a gate that is older, but not for what may be behind the kernel.
    submit(l, GR_COMING_FILL, other, 0, true);
    assert_int_equal(host_state(), GR_HOST_OPEN);
    launch(l, "a", one);
    assert_int_equal(host_state(), GR_HOST_TOUCHES);
    d.page->begun[d.page->newest % GR_HOLD_RING] = d.page->newest;
    go_on();
    assert_int_equal(host_state(), GR_HOST_OPEN);
    // A launch that the driver refuses.
    gr_late_launching(l, &g);
    gr_late_launched(l, &g, CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(host_state(), GR_HOST_OPEN);
    go_on();
    end(l);
}

// The driver would load a kernel, and wait for the device, when it is first launched: it is to do so before there is
// something to run beside.
static void kernels_are_loaded_before(void **state) {
    (void)state;
    GrLate *l = begin(false);
    submit(l, GR_COMING_COPY, one, 0x20, true);
    gr_late_stream_created(l, CU_STREAM_NON_BLOCKING); // something is under way
    submit(l, GR_COMING_COPY, one, 0x20, true);
    launch(l, "a", one);
    assert_int_equal(d.n_loads, 0);
    wait_for(l, GR_WAIT_ALL, NULL);
    launch(l, "a", one);
    assert_int_equal(d.n_loads, 1);
    wait_for(l, GR_WAIT_ALL, NULL);
    gr_late_stream_created(l, CU_STREAM_NON_BLOCKING);
    assert_int_equal(d.n_loads, 2);
    end(l);
}

// Kernels of one device hear that one of another device has begun.
static void several_devices(void **state) {
    (void)state;
    GrLate *l = begin(true);
    GrHold *of_first = d.page;
    d.elsewhere = d.begins = true;
    assert_int_equal(gr_late_loaded(l, &first, 0x7000), 0x9000);
    assert_ptr_not_equal(d.page, of_first);
    while (!d.n_records) // in front of some there is a gate
        launch(l, "a", one), wait_for(l, GR_WAIT_ALL, NULL);
    uint32_t number = d.page->newest;
    assert_int_equal(of_first->newest, number);
    assert_int_equal(of_first->begun[number % GR_HOLD_RING], number);
    assert_int_equal(of_first->host, d.page->host);
    assert_int_equal(d.at, 0x7000 + offsetof(GrControl, beside));
    end(l);
}

// Without a page kernels are told, and nothing waits for them.
static void no_page(void **state) {
    (void)state;
    memset(&d, 0, sizeof d);
    d.no_page = true;
    GrLate *l = gr_late_new(&session, 1, SPAN, true);
    assert_int_equal(gr_late_loaded(l, &first, 0x5000), 0);
    launch(l, "a", one);
    assert_int_equal(d.n_fills, 1);
    submit(l, GR_COMING_COPY, other, 0x20, true);
    assert_int_equal(d.n_functions, d.n_waiting);
    end(l);
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
    d.n_events = 0; // are gone
    for (unsigned k = 0; k < 20; k++)
        submit(l, GR_COMING_GRAPH, one, 0, true);
    assert_int_equal(d.n_fills, before);
    end(l);
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
    end(l);
    gr_late_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone),
        cmocka_unit_test(beside),
        cmocka_unit_test(host),
        cmocka_unit_test(next_run),
        cmocka_unit_test(rarely),
        cmocka_unit_test(repeats),
        cmocka_unit_test(pageable_copies),
        cmocka_unit_test(copies),
        cmocka_unit_test(in_the_midst),
        cmocka_unit_test(in_turn),
        cmocka_unit_test(gates),
        cmocka_unit_test(gates_for_what_is_to_begin),
        cmocka_unit_test(one_gate_for_a_launch),
        cmocka_unit_test(host_states),
        cmocka_unit_test(kernels_are_loaded_before),
        cmocka_unit_test(no_page),
        cmocka_unit_test(several_devices),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
