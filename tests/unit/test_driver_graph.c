// SPDX-License-Identifier: Apache-2.0
// Unit tests of graphs in libcuda.so.1 over the CPU device: what the runtime's programs (tests/cudart/graphs.cu) do not
// come by, and that branches really run side by side. [EM-127]
#include "driver_common.h"

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
    OK(cuCtxCreate(&c, NULL, 0, 0));
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
    assert_int_equal(cuStreamEndCapture(s, &captured), CUDA_ERROR_INVALID_HANDLE);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(other));
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
        cmocka_unit_test_setup_teardown(test_what_is_refused, fresh, drop),
        cmocka_unit_test_setup_teardown(test_outlives_its_context, fresh, drop),
        cmocka_unit_test_setup_teardown(test_printed, fresh, drop),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
