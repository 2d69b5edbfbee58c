// SPDX-License-Identifier: Apache-2.0
// Unit tests of graphs in libcuda.so.1 over the CPU device: what the runtime's programs
// (tests/driver/cudart/builds/graphs.cu) do not come by, and that branches really run side by side. [EM-127]
#include "driver_common.h"

#include "device_api/hooks.h"

#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

static CUgraph graph;
static CUdeviceptr data, next;
enum { MANY = 400 };

static int start(void **state) {
    (void)state;
    driver_start();
    OK(cuMemAlloc(&data, 4 * MANY * sizeof(unsigned)));
    OK(cuMemAlloc(&next, 64));
    return 0;
}

static int fresh(void **state) {
    (void)state;
    OK(cuMemsetD8(data, 0, 4 * MANY * sizeof(unsigned)));
    OK(cuMemsetD8(next, 0, 64));
    OK(cuCtxSynchronize());
    OK(cuGraphCreate(&graph, 0));
    return 0;
}

static int drop(void **state) {
    (void)state;
    OK(cuGraphDestroy(graph));
    return 0;
}

// `id`, n times, to the log.
static CUgraphNode append(unsigned id, unsigned n, const CUgraphNode *after, size_t n_after) {
    CUgraphNode node;
    CUDA_KERNEL_NODE_PARAMS p = {.func = driver_kernel("append"),
                                 .gridDimX = 1,
                                 .gridDimY = 1,
                                 .gridDimZ = 1,
                                 .blockDimX = 1,
                                 .blockDimY = 1,
                                 .blockDimZ = 1,
                                 .kernelParams = (void *[]){&next, &data, &id, &n}};
    OK(cuGraphAddKernelNode(&node, graph, after, n_after, &p));
    return node;
}

static void run(unsigned *log, size_t n) {
    CUgraphExec exec;
    CUDA_GRAPH_INSTANTIATE_PARAMS p = {0};
    OK(cuGraphInstantiateWithParams(&exec, graph, &p));
    assert_int_equal(p.result_out, CUDA_GRAPH_INSTANTIATE_SUCCESS);
    OK(cuGraphLaunch(exec, NULL));
    OK(cuGraphExecDestroy(exec)); // its work is done all the same
    OK(cuMemcpyDtoH(log, data, n * sizeof *log));
}

static void test_branches_interleave(void **state) {
    (void)state;
    unsigned log[2 * MANY], changes = 0;
    append(1, MANY, NULL, 0);
    append(2, MANY, NULL, 0);
    run(log, 2 * MANY);
    for (unsigned i = 1; i < 2 * MANY; i++)
        changes += log[i] != log[i - 1];
    assert_true(changes > 2);
}

static void test_edges_order(void **state) {
    (void)state;
    unsigned log[3 * MANY];
    CUgraphNode second = append(2, MANY, NULL, 0),
                first = append(1, MANY, NULL, 0); // created the other way round
    append(3, MANY, (CUgraphNode[]){second, first}, 2);
    CUgraphNode from[1] = {first}, to[1] = {second};
    OK(cuGraphAddDependencies(graph, from, to, NULL, 1));
    assert_int_equal(cuGraphAddDependencies(graph, from, to, NULL, 1),
                     CUDA_ERROR_INVALID_VALUE); // there already
    run(log, 3 * MANY);
    for (unsigned i = 0; i < 3 * MANY; i++)
        assert_int_equal(log[i], 1 + i / MANY);
    OK(cuGraphRemoveDependencies(graph, from, to, NULL, 1));
    size_t roots = 8;
    CUgraphNode list[8];
    OK(cuGraphGetRootNodes(graph, list, &roots));
    assert_int_equal(roots, 2);
    assert_ptr_equal(list[0], second);
    assert_null(list[2]);
}

static void test_capture_into_a_graph(void **state) {
    (void)state;
    CUstream s;
    CUgraph same;
    unsigned out[2] = {0}, five = 5;
    CUgraphNode fill, empty;
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    CUDA_MEMSET_NODE_PARAMS p = {.dst = data, .value = 9, .elementSize = 4, .width = 2, .height = 1};
    OK(cuGraphAddMemsetNode(&fill, graph, NULL, 0, &p, driver_context));
    OK(cuStreamBeginCaptureToGraph(s, graph, &fill, NULL, 1, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(driver_launch("fill", 1, 1, s, (void *[]){&data, &five}));
    OK(cuGraphAddEmptyNode(&empty, graph, &fill, 1));
    OK(cuStreamUpdateCaptureDependencies(s, &empty, NULL, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
    CUstreamCaptureStatus status;
    size_t n = 0;
    OK(cuStreamGetCaptureInfo(s, &status, NULL, &same, NULL, NULL, &n));
    assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    assert_ptr_equal(same, graph);
    assert_int_equal(n, 2);
    OK(cuStreamEndCapture(s, &same));
    assert_ptr_equal(same, graph);
    run(out, 2);
    assert_int_equal(out[0], 15);
    assert_int_equal(out[1], 9);
    OK(cuStreamDestroy(s));
}

static void test_memory_nodes(void **state) {
    (void)state;
    CUgraphNode alloc, fill, copy, free_node;
    CUDA_MEM_ALLOC_NODE_PARAMS a = {.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                                  .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
                                    .bytesize = 4},
                               got;
    OK(cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &a));
    OK(cuGraphMemAllocNodeGetParams(alloc, &got));
    assert_int_equal(got.dptr, a.dptr);
    CUDA_MEMSET_NODE_PARAMS p = {.dst = a.dptr, .value = 77, .elementSize = 4, .width = 1, .height = 1};
    OK(cuGraphAddMemsetNode(&fill, graph, &alloc, 1, &p, driver_context));
    CUDA_MEMCPY3D c = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                       .srcDevice = a.dptr,
                       .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                       .dstDevice = data,
                       .WidthInBytes = 4,
                       .Height = 1,
                       .Depth = 1};
    OK(cuGraphAddMemcpyNode(&copy, graph, &fill, 1, &c, driver_context));
    OK(cuGraphAddMemFreeNode(&free_node, graph, &copy, 1, a.dptr));
    unsigned out = 0;
    run(&out, 1);
    assert_int_equal(out, 77);
    OK(cuGraphDestroy(graph));
    assert_int_equal(cuMemsetD8(a.dptr, 0, 4), CUDA_ERROR_INVALID_VALUE); // gone with the graph
    OK(cuGraphCreate(&graph, 0));
}

static CUdeviceptr add_alloc(CUgraph g, CUgraphNode *node) {
    CUDA_MEM_ALLOC_NODE_PARAMS a = {.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                                  .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
                                    .bytesize = 4};
    OK(cuGraphAddMemAllocNode(node, g, NULL, 0, &a));
    return a.dptr;
}

// A graph that allocates a word and sets it.
static CUdeviceptr make_allocating(CUgraphNode *fill) {
    CUgraphNode alloc;
    CUdeviceptr p = add_alloc(graph, &alloc);
    CUDA_MEMSET_NODE_PARAMS set = {.dst = p, .value = 77, .elementSize = 4, .width = 1, .height = 1};
    OK(cuGraphAddMemsetNode(fill, graph, &alloc, 1, &set, driver_context));
    return p;
}

// After each kind of free the graph can be launched again, and not before; and what is free is not freed again.
static void test_memory_freed_outside(void **state) {
    (void)state;
    CUgraphNode fill, free_node;
    CUgraph freeing;
    CUgraphExec exec, free_exec;
    CUdeviceptr p = make_allocating(&fill);
    unsigned out = 0;
    OK(cuGraphCreate(&freeing, 0));
    OK(cuGraphAddMemFreeNode(&free_node, freeing, NULL, 0, p));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphInstantiateWithFlags(&free_exec, freeing, 0));
    assert_int_equal(cuMemFree(p), CUDA_ERROR_INVALID_VALUE); // not allocated yet
    for (unsigned how = 0; how < 3; how++) {
        OK(cuGraphLaunch(exec, NULL));
        assert_int_equal(cuGraphLaunch(exec, NULL), CUDA_ERROR_INVALID_VALUE);
        OK(cuMemcpyDtoH(&out, p, 4));
        assert_int_equal(out, 77);
        OK(how == 0 ? cuMemFree(p) : how == 1 ? cuMemFreeAsync(p, NULL) : cuGraphLaunch(free_exec, NULL));
        assert_int_equal(cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
        assert_int_equal(cuMemFreeAsync(p, NULL), CUDA_ERROR_INVALID_VALUE);
        assert_int_equal(cuGraphLaunch(free_exec, NULL), CUDA_ERROR_INVALID_VALUE);
    }
    // It outlives its graph, until it is freed.
    OK(cuGraphLaunch(exec, NULL));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuMemsetD32(p, 5, 1));
    OK(cuMemcpyDtoH(&out, p, 4));
    assert_int_equal(out, 5);
    OK(cuMemFreeAsync(p, NULL));
    OK(cuCtxSynchronize());
    assert_int_equal(cuMemsetD32(p, 5, 1), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphExecDestroy(free_exec));
    OK(cuGraphDestroy(freeing));
    OK(cuGraphCreate(&graph, 0));
}

// What is told of memory that begins at `watched`, in order: a letter each, capitals for nodes of a graph.
static CUdeviceptr watched;
static char told[64];
static void hear(void *user, const GrWork *w) {
    (void)user;
    size_t n = strlen(told);
    const char *letter = w->type == GR_WORK_ALLOC  ? "aA"
                         : w->type == GR_WORK_FILL ? "s"
                         : w->type == GR_WORK_FREE ? "fF"
                                                   : NULL;
    if (w->kind == GR_WORK_BEGINS && letter && w->to.at == watched && n + 1 < sizeof told)
        told[n] = letter[w->node && letter[1]];
}

static void test_memory_is_told(void **state) {
    (void)state;
    CUgraphNode fill, free_node;
    CUgraphExec exec;
    CUstream s;
    assert_int_equal(gr_cpu_device_observe_work(hear, NULL), 0);
    watched = make_allocating(&fill);
    OK(cuGraphAddMemFreeNode(&free_node, graph, &fill, 1, watched));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphLaunch(exec, NULL));
    OK(cuGraphLaunch(exec, NULL));
    OK(cuCtxSynchronize());
    assert_string_equal(told, "AsFAsF");
    OK(cuGraphExecDestroy(exec));
    memset(told, 0, sizeof told);
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuMemAllocAsync(&watched, 64, s));
    OK(cuMemsetD8Async(watched, 0, 64, s));
    OK(cuMemFreeAsync(watched, s));
    OK(cuStreamSynchronize(s));
    assert_string_equal(told, "asf");
    OK(cuStreamDestroy(s));
    watched = 0;
}

static void test_memory_freed_by_the_next_launch(void **state) {
    (void)state;
    CUgraphNode fill;
    CUgraphExec exec;
    CUdeviceptr p = make_allocating(&fill);
    unsigned out = 0;
    OK(cuGraphInstantiateWithFlags(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    for (unsigned k = 0; k < 3; k++)
        OK(cuGraphLaunch(exec, NULL));
    OK(cuMemcpyDtoH(&out, p, 4));
    assert_int_equal(out, 77);
    OK(cuMemFree(p));
    OK(cuGraphExecDestroy(exec));
}

static void test_who_may_free(void **state) {
    (void)state;
    CUgraphNode fill, node, other_alloc;
    CUgraph other;
    CUgraphExec exec;
    CUdeviceptr p = make_allocating(&fill);
    OK(cuGraphCreate(&other, 0));
    CUdeviceptr q = add_alloc(other, &other_alloc);
    OK(cuGraphAddMemFreeNode(&node, graph, &fill, 1, p));
    assert_int_equal(cuGraphAddMemFreeNode(&node, graph, &fill, 1, p), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuGraphAddMemFreeNode(&node, other, NULL, 0, p), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuGraphAddMemFreeNode(&node, graph, NULL, 0, data), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphAddMemFreeNode(&node, graph, NULL, 0, q));
    assert_int_equal(cuGraphAddMemFreeNode(&node, other, NULL, 0, q), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    assert_int_equal(cuGraphLaunch(exec, NULL), CUDA_ERROR_INVALID_VALUE); // q is not allocated
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(other));
}

static void test_what_is_refused(void **state) {
    (void)state;
    CUgraphNode node = append(1, 1, NULL, 0), other;
    CUgraph second;
    CUgraphExec exec;
    OK(cuGraphCreate(&second, 0));
    assert_int_equal(cuGraphAddEmptyNode(&other, second, &node, 1),
                     CUDA_ERROR_INVALID_VALUE); // of another graph
    assert_int_equal(cuGraphCreate(&second, 1), CUDA_ERROR_INVALID_VALUE);
    CUDA_MEMSET_NODE_PARAMS p = {.dst = 64, .value = 9, .elementSize = 4, .width = 2, .height = 1};
    assert_int_equal(cuGraphAddMemsetNode(&other, graph, NULL, 0, &p, driver_context),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuGraphMemsetNodeSetParams(node, &p),
                     CUDA_ERROR_INVALID_VALUE); // a node of another type
    assert_int_equal(cuGraphInstantiateWithFlags(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH),
                     CUDA_ERROR_NOT_SUPPORTED);
    assert_int_equal(cuGraphLaunch((CUgraphExec)graph, NULL), CUDA_ERROR_INVALID_VALUE);
    // Memory that is gone when the graph is launched.
    CUdeviceptr gone;
    OK(cuMemAlloc(&gone, 8));
    p.dst = gone;
    OK(cuGraphAddMemsetNode(&other, graph, NULL, 0, &p, driver_context));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuMemFree(gone));
    assert_int_equal(cuGraphLaunch(exec, NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(second));
}

// What a graph refers to may go before it.
static void test_outlives_its_context(void **state) {
    (void)state;
    CUcontext c;
    CUmodule m;
    CUstream s;
    CUgraph other, captured;
    CUgraphNode node;
    CUgraphExec exec, again;
    // The C library keeps some of what is freed for itself, so that no other context would get it.
    CUcontext gone[16];
    for (unsigned k = 0; k < 16; k++)
        OK(cuCtxCreate(&gone[k], NULL, 0, 0));
    OK(cuCtxCreate(&c, NULL, 0, 0));
    for (unsigned k = 0; k < 16; k++)
        OK(cuCtxDestroy(gone[k]));
    OK(cuModuleLoadData(&m, driver_ptx));
    OK(cuGraphCreate(&other, 0));
    CUDA_KERNEL_NODE_PARAMS p = {
        .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 64, .blockDimY = 1, .blockDimZ = 1};
    OK(cuModuleGetFunction(&p.func, m, "fixed"));
    OK(cuGraphAddKernelNode(&node, other, NULL, 0, &p));
    OK(cuGraphInstantiateWithFlags(&exec, other, 0));
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuGraphLaunch(exec, NULL));
    OK(cuModuleUnload(m));
    assert_int_equal(cuGraphLaunch(exec, NULL), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(cuGraphInstantiateWithFlags(&again, other, 0), CUDA_ERROR_INVALID_HANDLE);
    OK(cuCtxDestroy(c));
    OK(cuCtxSetCurrent(driver_context));
    assert_int_equal(cuGraphLaunch(exec, NULL), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    // Another context, which may have the address of the old one, is not where the graph was to run.
    for (unsigned k = 0; k < 16; k++) {
        OK(cuCtxCreate(&gone[k], NULL, 0, 0));
        assert_int_equal(cuGraphLaunch(exec, NULL), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    }
    for (unsigned k = 0; k < 16; k++)
        OK(cuCtxDestroy(gone[k]));
    OK(cuCtxSetCurrent(driver_context));
    assert_int_equal(cuStreamEndCapture(s, &captured), CUDA_ERROR_INVALID_HANDLE);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(other));
}

// ---- What may not be done beside a capture ------------------------------------------------------------------

// What an H200 (driver 580.159) answers: calls that capture does not observe, and those that the others show to be
// none.
static CUstream capturing, other;
static CUevent event;
static CUmodule module;
static CUlibrary library;
static CUgraphExec exec;
static CUmemoryPool pool;
static CUdeviceptr memory, managed, queued;
static void *host;
static _Alignas(65536) char pages[1 << 16];

#define LOCATION                                                                                             \
    (CUmemLocation) { .type = CU_MEM_LOCATION_TYPE_DEVICE }
#define UNSAFE_CALLS                                                                                         \
    CALL(cuMemAlloc(&p, 64))                                                                                 \
    CALL(cuMemAllocPitch(&p, &n, 64, 4, 4))                                                                  \
    CALL(cuMemAllocHost(&at, 64))                                                                            \
    CALL(cuMemHostAlloc(&at, 64, 0))                                                                         \
    CALL(cuMemAllocManaged(&p, 64, CU_MEM_ATTACH_GLOBAL))                                                    \
    CALL(cuMemFree(memory))                                                                                  \
    CALL(cuMemFree(0))                                                                                       \
    CALL(cuMemFreeHost(host))                                                                                \
    CALL(cuMemFreeHost(NULL))                                                                                \
    CALL(cuMemHostRegister(pages, sizeof pages, 0))                                                          \
    CALL(cuMemAllocAsync(&p, 64, other))                                                                     \
    CALL(cuMemAllocFromPoolAsync(&p, 64, pool, other))                                                       \
    CALL(cuMemFreeAsync(queued, other))                                                                      \
    CALL(cuMemPoolCreate(&q, &props))                                                                        \
    CALL(cuMemPoolDestroy(pool))                                                                             \
    CALL(cuMemPoolTrimTo(pool, 0))                                                                           \
    CALL(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &v))                                 \
    CALL(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &v))                                 \
    CALL(cuMemPoolSetAccess(pool, &access, 1))                                                               \
    CALL(cuDeviceSetMemPool(0, pool))                                                                        \
    CALL(cuMemAdvise(managed, 64, CU_MEM_ADVISE_SET_READ_MOSTLY, LOCATION))                                  \
    CALL(cuPointerSetAttribute(&yes, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, memory))                              \
    CALL(cuStreamAttachMemAsync(other, managed, 0, CU_MEM_ATTACH_HOST))                                      \
    CALL(cuStreamQuery(other))                                                                               \
    CALL(cuStreamSynchronize(other))                                                                         \
    CALL(cuEventQuery(event))                                                                                \
    CALL(cuEventSynchronize(event))                                                                          \
    CALL(cuModuleUnload(module))                                                                             \
    CALL(cuLibraryUnload(library))                                                                           \
    CALL(cuGraphInstantiate(&x, graph, 0))                                                                   \
    CALL(cuGraphExecDestroy(exec))                                                                           \
    CALL(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 2048))                                                           \
    CALL(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_NONE))
#define SAFE_CALLS                                                                                           \
    CALL(cuMemGetInfo(&n, &m))                                                                               \
    CALL(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING))                                                         \
    CALL(cuEventCreate(&e, 0))                                                                               \
    CALL(cuEventRecord(event, other))                                                                        \
    CALL(cuModuleLoadData(&l, driver_ptx))                                                                   \
    CALL(cuMemcpyDtoD(memory, memory + 32, 16))                                                              \
    CALL(cuMemsetD8(memory, 0, 16))                                                                          \
    CALL(cuMemsetD8Async(memory, 0, 16, other))                                                              \
    CALL(cuGraphLaunch(exec, other))                                                                         \
    CALL(cuGraphCreate(&g, 0))                                                                               \
    CALL(cuCtxGetLimit(&n, CU_LIMIT_STACK_SIZE))

typedef struct Try {
    unsigned k;
    CUresult result;
    const char *name;
} Try;

static void *try_call(void *of) {
    Try *y = of;
    CUdeviceptr p;
    size_t n, m;
    void *at;
    CUmemoryPool q;
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = LOCATION};
    CUmemAccessDesc access = {.location = LOCATION, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    cuuint64_t v = 0;
    int yes = 1;
    CUgraphExec x;
    CUgraph g;
    CUstream t;
    CUevent e;
    CUmodule l;
    unsigned k = 0;
    OK(cuCtxSetCurrent(driver_context));
    y->name = NULL;
#define CALL(call)                                                                                           \
    if (k++ == y->k) {                                                                                       \
        y->name = #call;                                                                                     \
        y->result = call;                                                                                    \
    }
    UNSAFE_CALLS
    unsigned unsafe = k;
    SAFE_CALLS
#undef CALL
    y->k = y->k >= unsafe; // from now on: whether it is safe
    return NULL;
}

static void make_all(unsigned flags) {
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = LOCATION};
    OK(cuStreamCreate(&capturing, flags));
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&event, 0));
    OK(cuModuleLoadData(&module, driver_ptx));
    OK(cuLibraryLoadData(&library, driver_ptx, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuMemPoolCreate(&pool, &props));
    OK(cuMemAlloc(&memory, 64));
    OK(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL));
    OK(cuMemAllocAsync(&queued, 64, other));
    OK(cuMemAllocHost(&host, 64));
    OK(cuEventRecord(event, other));
    OK(cuCtxSynchronize());
}

// Whether all unsafe calls are refused in this thread or another one while one captures.
static void expect_refusal(CUstreamCaptureMode mode, CUstreamCaptureMode mine, bool elsewhere, bool refused) {
    for (unsigned k = 0;; k++) {
        Try y = {.k = k};
        CUstreamCaptureMode m = mine;
        CUstreamCaptureStatus status;
        CUgraph out = NULL;
        pthread_t thread;
        make_all(CU_STREAM_NON_BLOCKING);
        OK(cuStreamBeginCapture(capturing, mode));
        OK(cuThreadExchangeStreamCaptureMode(&m));
        if (elsewhere) {
            assert_int_equal(pthread_create(&thread, NULL, try_call, &y), 0);
            pthread_join(thread, NULL);
        } else
            try_call(&y);
        OK(cuThreadExchangeStreamCaptureMode(&m));
        bool expected = refused && !y.k;
        OK(cuStreamIsCapturing(capturing, &status));
        CUresult end = cuStreamEndCapture(capturing, &out);
        (void)cuMemHostUnregister(pages);
        if (!y.name)
            return;
        if (y.result != (expected ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS))
            fail_msg("%s: %d", y.name, y.result);
        assert_int_equal(status,
                         expected ? CU_STREAM_CAPTURE_STATUS_INVALIDATED : CU_STREAM_CAPTURE_STATUS_ACTIVE);
        assert_int_equal(end, expected ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS);
    }
}

static void test_unsafe_calls(void **state) {
    (void)state;
    const CUstreamCaptureMode global = CU_STREAM_CAPTURE_MODE_GLOBAL,
                              local = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                              relaxed = CU_STREAM_CAPTURE_MODE_RELAXED;
    expect_refusal(global, global, false, true);
    expect_refusal(global, global, true, true);
    expect_refusal(local, global, false, true);
    expect_refusal(local, global, true, false);
    expect_refusal(relaxed, global, false, false);
    expect_refusal(global, relaxed, false, false);
    expect_refusal(global, local, false, true);
}

// A blocking stream captures: the legacy stream cannot be used, but asking whether it captures spoils nothing.
static void test_legacy_stream_beside_a_capture(void **state) {
    (void)state;
    CUstreamCaptureStatus status;
    CUgraph out;
    make_all(0);
    OK(cuStreamBeginCapture(capturing, CU_STREAM_CAPTURE_MODE_RELAXED));
    assert_int_equal(cuStreamIsCapturing(NULL, &status), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    OK(cuStreamEndCapture(capturing, &out));
    OK(cuStreamBeginCapture(capturing, CU_STREAM_CAPTURE_MODE_GLOBAL));
    assert_int_equal(cuStreamQuery(NULL), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    assert_int_equal(cuStreamEndCapture(capturing, &out), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(cuStreamBeginCapture(capturing, CU_STREAM_CAPTURE_MODE_RELAXED));
    assert_int_equal(cuMemAllocAsync(&queued, 64, NULL), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    assert_int_equal(cuStreamEndCapture(capturing, &out), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

static void *end_it(void *result) {
    CUgraph out;
    OK(cuCtxSetCurrent(driver_context));
    *(CUresult *)result = cuStreamEndCapture(capturing, &out);
    return NULL;
}

static void test_captures_end_where_they_began(void **state) {
    (void)state;
    for (unsigned mode = CU_STREAM_CAPTURE_MODE_GLOBAL; mode <= CU_STREAM_CAPTURE_MODE_RELAXED; mode++) {
        CUresult result;
        CUgraph out;
        pthread_t thread;
        float ms;
        OK(cuStreamCreate(&capturing, CU_STREAM_NON_BLOCKING));
        OK(cuEventCreate(&event, 0));
        OK(cuStreamBeginCapture(capturing, (CUstreamCaptureMode)mode));
        OK(cuEventRecord(event, capturing));
        assert_int_equal(cuEventElapsedTime(&ms, event, event), CUDA_ERROR_CAPTURED_EVENT); // and goes on
        assert_int_equal(pthread_create(&thread, NULL, end_it, &result), 0);
        pthread_join(thread, NULL);
        assert_int_equal(result, mode == CU_STREAM_CAPTURE_MODE_RELAXED
                                     ? CUDA_SUCCESS
                                     : CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
        assert_int_equal(cuStreamEndCapture(capturing, &out), CUDA_ERROR_ILLEGAL_STATE); // it is over
    }
}

static void test_printed(void **state) {
    (void)state;
    char path[] = "/tmp/gpurace-graph-XXXXXX", text[512] = "";
    CUgraphNode node = append(1, 1, NULL, 0);
    append(2, 1, &node, 1);
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    OK(cuGraphDebugDotPrint(graph, path, 0));
    assert_true(read(fd, text, sizeof text - 1) > 0);
    assert_non_null(strstr(text, "kernel append"));
    assert_non_null(strstr(text, "node_0 -> node_1"));
    close(fd);
    unlink(path);
}

int main(void) {
    setenv("GPURACE_CPU_DEVICE", "seed=5,idle=0", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_branches_interleave, fresh, drop),
        cmocka_unit_test_setup_teardown(test_edges_order, fresh, drop),
        cmocka_unit_test_setup_teardown(test_capture_into_a_graph, fresh, drop),
        cmocka_unit_test_setup_teardown(test_memory_nodes, fresh, drop),
        cmocka_unit_test_setup_teardown(test_memory_freed_outside, fresh, drop),
        cmocka_unit_test_setup_teardown(test_memory_freed_by_the_next_launch, fresh, drop),
        cmocka_unit_test_setup_teardown(test_memory_is_told, fresh, drop),
        cmocka_unit_test_setup_teardown(test_who_may_free, fresh, drop),
        cmocka_unit_test_setup_teardown(test_what_is_refused, fresh, drop),
        cmocka_unit_test_setup_teardown(test_outlives_its_context, fresh, drop),
        cmocka_unit_test_setup_teardown(test_unsafe_calls, fresh, drop),
        cmocka_unit_test_setup_teardown(test_legacy_stream_beside_a_capture, fresh, drop),
        cmocka_unit_test_setup_teardown(test_captures_end_where_they_began, fresh, drop),
        cmocka_unit_test_setup_teardown(test_printed, fresh, drop),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
