// SPDX-License-Identifier: Apache-2.0
// The race-directed schedule across streams, copies and the host: whoever is held in a window stays there while
// anything else can move. docs/execution-model.md, "The API".
//
// The device thread is off (idle=0): only API calls move the device.
#include "driver_common.h"

// *at = value; a window; *seen = whether *at is something else now; *done = 1
// clang-format off
static const char held_ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry put(.param .u64 at, .param .u64 seen, .param .u64 done, .param .u32 value) {\n"
    "  .reg .b32 %r<5>; .reg .b64 %rd<6>; .reg .pred %p1;\n"
    "  ld.param.u64 %rd1, [at]; ld.param.u64 %rd2, [seen]; ld.param.u64 %rd3, [done]; ld.param.u32 %r1, [value];\n"
    "  st.relaxed.sys.global.u32 [%rd1], %r1;\n"
    "  /*@gr:1*/ nanosleep.u32 100;\n"
    "  ld.relaxed.sys.global.u32 %r2, [%rd1]; setp.ne.u32 %p1, %r1, %r2; mov.u32 %r3, 1;\n"
    "  @%p1 st.relaxed.sys.global.u32 [%rd2], %r3; st.relaxed.sys.global.u32 [%rd3], %r3; ret; }\n";
// clang-format on

static CUmodule module;
static CUfunction put;
static unsigned *at, *seen, *done;
static CUdeviceptr on_device, source; // copies between two places of the host wait
static CUstream one, other;

static int start(void **state) {
    (void)state;
    driver_start();
    OK(cuModuleLoadData(&module, held_ptx));
    OK(cuModuleGetFunction(&put, module, "put"));
    OK(cuMemHostAlloc((void **)&at, 4, 0));
    OK(cuMemHostAlloc((void **)&seen, 4, 0));
    OK(cuMemHostAlloc((void **)&done, 4, 0));
    OK(cuMemAlloc(&on_device, 4));
    OK(cuMemAlloc(&source, 4));
    OK(cuMemsetD32(source, 9, 1));
    OK(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    return 0;
}

static int clear(void **state) {
    (void)state;
    OK(cuCtxSynchronize());
    *at = *seen = *done = 0;
    OK(cuMemsetD32(on_device, 0, 1));
    OK(cuCtxSynchronize());
    return 0;
}

static void launch_at(CUdeviceptr a, CUstream s, unsigned value) {
    CUdeviceptr b = (CUdeviceptr)(uintptr_t)seen, c = (CUdeviceptr)(uintptr_t)done;
    OK(cuLaunchKernel(put, 1, 1, 1, 1, 1, 1, 0, s, (void *[]){&a, &b, &c, &value}, NULL));
}

static void launch(CUstream s, unsigned value) { launch_at((CUdeviceptr)(uintptr_t)at, s, value); }

static void copy(CUstream s) { OK(cuMemcpyDtoDAsync(on_device, source, 4, s)); }

// [EM-145]: calls that wait for nothing return, and what was submitted is at times under way by then.
static void test_host_returns(void **state) {
    unsigned begun = 0, at_once = 0;
    for (unsigned k = 0; k < 40; k++) {
        clear(state);
        launch(one, 1);
        at_once += *at;
        int n;
        OK(cuDeviceGetCount(&n));
        begun += *at;
        assert_int_equal(*done, 0);
        OK(cuStreamSynchronize(one));
        assert_int_equal(*done, 1);
    }
    assert_in_range(at_once, 5, 35);
    assert_in_range(begun, at_once, 40);
}

// [EM-146]
static void test_streams_meet(void **state) {
    for (unsigned k = 0; k < 20; k++) {
        clear(state);
        launch(one, 1);
        launch(other, 2);
        OK(cuStreamSynchronize(k % 2 ? one : other));
        OK(cuCtxSynchronize());
        assert_int_equal(*seen, 1);
    }
}

static void test_copies_come_in_windows(void **state) { // [EM-146], whichever was submitted first
    unsigned met[2] = {0, 0};
    for (unsigned k = 0; k < 80; k++) {
        clear(state);
        if (k % 2)
            copy(other);
        launch_at(on_device, one, 1);
        if (k % 2 == 0)
            copy(other);
        OK(cuCtxSynchronize());
        met[k % 2] += *seen;
    }
    assert_in_range(met[0], 30, 40);
    assert_in_range(met[1], 15, 39);
}

// What comes later in the stream does not come in the window of what comes before.
static void test_order_of_a_stream(void **state) { // [EM-103]
    for (unsigned k = 0; k < 20; k++) {
        clear(state);
        launch_at(on_device, one, 1);
        copy(one);
        launch_at(on_device, one, 2);
        OK(cuStreamSynchronize(one));
        assert_int_equal(*seen, 0);
    }
}

static void test_polling_helps(void **state) { // [EM-147]
    for (unsigned k = 0; k < 10; k++) {
        clear(state);
        launch(one, 1);
        unsigned polls = 0;
        while (cuStreamQuery(one) == CUDA_ERROR_NOT_READY)
            assert_in_range(++polls, 1, 1000);
        assert_int_equal(*done, 1);
    }
}

int main(void) {
    setenv("GPURACE_CPU_DEVICE", "idle=0,schedule=4,split=0", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_host_returns),           cmocka_unit_test(test_streams_meet),
        cmocka_unit_test(test_copies_come_in_windows), cmocka_unit_test(test_order_of_a_stream),
        cmocka_unit_test(test_polling_helps),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
