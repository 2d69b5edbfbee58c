// SPDX-License-Identifier: Apache-2.0
// Seeded asynchrony: what runs when, what waits for what, and that nothing hangs. docs/execution-model.md, "The API".
//
// The device thread is off (idle=0) unless a test is about it, so that only API calls move the device and the host can
// look at pinned memory in between.
#include "driver_log.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

// ---- Order --------------------------------------------------------------------------------------------------

static void test_lazy(void **state) { // [EM-100]
    (void)state;
    append(NULL, 1, 100);
    assert_int_equal(*next, 0);
    OK(cuCtxSynchronize());
    assert_int_equal(*next, 100);
}

static void test_in_stream_order(void **state) { // [EM-103]
    (void)state;
    CUstream s = stream(CU_STREAM_NON_BLOCKING);
    for (unsigned i = 1; i <= 5; i++)
        append(s, i, 20);
    OK(cuStreamSynchronize(s));
    assert_string_equal(runs(), "1x20 2x20 3x20 4x20 5x20");
    OK(cuStreamDestroy(s));
}

static void test_legacy_stream(void **state) { // [EM-104]
    (void)state;
    CUstream a = stream(0), b = stream(0);
    append(a, 1, 30);
    append(b, 1, 30);
    append(NULL, 2, 30);
    append(a, 3, 30);
    append(b, 3, 30);
    append(CU_STREAM_LEGACY, 4, 30);
    OK(cuCtxSynchronize());
    assert_string_equal(runs(), "1x60 2x30 3x60 4x30");
    OK(cuStreamDestroy(a));
    OK(cuStreamDestroy(b));
}

static void test_non_blocking_stream(void **state) { // [EM-105]
    (void)state;
    CUstream s = stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr flag, out;
    unsigned *p;
    OK(cuMemHostAlloc((void **)&p, 8, 0));
    flag = (CUdeviceptr)(uintptr_t)p;
    out = flag + 4;
    p[0] = p[1] = 0;
    // The default stream waits for something that only the other stream brings.
    OK(driver_launch("spin", 1, 1, NULL, (void *[]){&flag, &out}));
    OK(cuMemsetD32Async(flag, 1, 1, s));
    OK(cuCtxSynchronize());
    assert_int_equal(p[1], 1);
    OK(cuStreamDestroy(s));
    OK(cuMemFreeHost(p));
}

static void *use_thread_stream(void *arg) {
    OK(cuCtxSetCurrent(driver_context));
    append(CU_STREAM_PER_THREAD, *(unsigned *)arg, 50);
    return NULL;
}

static void test_per_thread_stream(void **state) { // [EM-106]
    (void)state;
    pthread_t t;
    unsigned one = 1;
    pthread_create(&t, NULL, use_thread_stream, &one);
    pthread_join(t, NULL);
    append(CU_STREAM_PER_THREAD, 2, 50); // another thread, another stream
    unsigned long long a, b;
    OK(cuStreamGetId(NULL, &a));
    OK(cuStreamGetId(CU_STREAM_PER_THREAD, &b));
    assert_true(a != b);
    append(NULL, 3, 50); // waits for both, as for any blocking stream
    OK(cuCtxSynchronize());
    assert_int_equal(*next, 150);
    for (unsigned i = 100; i < 150; i++)
        assert_int_equal(entries[i], 3);
}

static void test_events(void **state) { // [EM-114]
    (void)state;
    CUstream a = stream(CU_STREAM_NON_BLOCKING), b = stream(CU_STREAM_NON_BLOCKING);
    CUevent e;
    OK(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
    OK(cuStreamWaitEvent(b, e, 0)); // never recorded: no wait
    OK(cuEventQuery(e));
    append(a, 1, 100);
    OK(cuEventRecord(e, a));
    OK(cuStreamWaitEvent(b, e, 0));
    append(b, 2, 10);
    append(a, 3, 100); // the event's later life is nothing to b
    OK(cuEventRecord(e, a));
    OK(cuStreamSynchronize(b));
    unsigned first = 0;
    while (first < *next && entries[first] != 2)
        first++;
    assert_true(first >= 100);
    OK(cuEventSynchronize(e));
    assert_int_equal(*next, 210);
    OK(cuEventDestroy(e));
    OK(cuStreamDestroy(a));
    OK(cuStreamDestroy(b));
}

static void expect_gone(CUevent e) {
    CUevent other;
    float ms;
    OK(cuEventCreate(&other, 0));
    OK(cuEventRecord(other, NULL));
    assert_int_equal(cuEventRecord(e, NULL), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(cuStreamWaitEvent(NULL, e, 0), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(cuEventQuery(e), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(cuEventSynchronize(e), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(cuEventElapsedTime(&ms, e, other), CUDA_ERROR_INVALID_HANDLE);
    OK(cuEventDestroy(other));
}

// Also where another context has the address of the one that was destroyed.
static void test_event_of_a_destroyed_context(void **state) {
    (void)state;
    CUcontext c;
    CUevent e;
    OK(cuCtxCreate(&c, NULL, 0, 0));
    OK(cuEventCreate(&e, 0));
    OK(cuEventRecord(e, NULL));
    OK(cuCtxDestroy(c));
    OK(cuCtxSetCurrent(driver_context));
    expect_gone(e);
    OK(cuCtxCreate(&c, NULL, 0, 0));
    expect_gone(e);
    OK(cuCtxDestroy(c));
    OK(cuCtxSetCurrent(driver_context));
    OK(cuEventDestroy(e));
}

static void test_event_times(void **state) { // [EM-115]
    (void)state;
    CUevent a, b, c;
    float ms, copy_ms;
    OK(cuEventCreate(&a, 0));
    OK(cuEventCreate(&b, 0));
    OK(cuEventCreate(&c, CU_EVENT_DISABLE_TIMING));
    assert_int_equal(cuEventElapsedTime(&ms, a, b), CUDA_ERROR_INVALID_HANDLE);
    OK(cuEventRecord(a, NULL));
    append(NULL, 1, 1000);
    OK(cuEventRecord(b, NULL));
    assert_int_equal(cuEventElapsedTime(&ms, a, b), CUDA_ERROR_NOT_READY);
    OK(cuEventSynchronize(b));
    OK(cuEventElapsedTime(&ms, a, b));
    assert_true(ms > 0.002f && ms < 1000);
    usleep(3000); // the host's time is none of the device's
    OK(cuEventRecord(a, NULL));
    OK(cuMemsetD8Async(entries_d, 0, 16, NULL));
    OK(cuEventRecord(b, NULL));
    OK(cuCtxSynchronize());
    OK(cuEventElapsedTime(&copy_ms, a, b));
    assert_true(copy_ms > 0 && copy_ms < 1);
    assert_int_equal(cuEventElapsedTime(&ms, a, c), CUDA_ERROR_INVALID_HANDLE);
    OK(cuEventDestroy(a));
    OK(cuEventDestroy(b));
    OK(cuEventDestroy(c));
    assert_int_equal(cuEventQuery(a), CUDA_ERROR_INVALID_HANDLE);
}

// ---- Progress -----------------------------------------------------------------------------------------------

static void test_polling(void **state) { // [EM-101]
    (void)state;
    CUevent e;
    OK(cuEventCreate(&e, 0));
    append(NULL, 1, 3000);
    OK(cuEventRecord(e, NULL));
    unsigned polls = 0;
    CUresult r;
    while ((r = cuEventQuery(e)) == CUDA_ERROR_NOT_READY)
        assert_true(++polls < 1000000);
    assert_int_equal(r, CUDA_SUCCESS);
    assert_true(polls > 1);
    assert_int_equal(*next, 3000);
    append(NULL, 1, 1000);
    while ((r = cuStreamQuery(NULL)) == CUDA_ERROR_NOT_READY)
        assert_true(++polls < 1000000);
    assert_int_equal(r, CUDA_SUCCESS);
    OK(cuEventDestroy(e));
}

static void test_synchronization_points(void **state) { // [EM-112] [EM-111]
    (void)state;
    CUstream a = stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr d;
    CUmodule m;
    append(a, 1, 500);
    OK(cuStreamSynchronize(a));
    assert_int_equal(*next, 500);
    append(a, 1, 500);
    OK(cuCtxSynchronize());
    assert_int_equal(*next, 1000);
    OK(cuMemAlloc(&d, 4));
    append(a, 1, 500);
    OK(cuMemFree(d));
    assert_int_equal(*next, 1500);
    OK(cuModuleLoadData(&m, driver_ptx));
    append(a, 1, 500);
    OK(cuModuleUnload(m));
    assert_int_equal(*next, 2000);
    OK(cuStreamDestroy(a));
}

// Work that no call does by the way; what was before is over.
static void begin_long(CUstream s) {
    *next = 0;
    append(s, 1, LOG);
}

// Who waits for the legacy stream waits for blocking streams, too, even if it has no work of its own; and only for
// those.
static void test_waiting_for_the_legacy_stream(void **state) { // [EM-112] [EM-108]
    (void)state;
    CUstream handles[] = {NULL, CU_STREAM_LEGACY}, blocking = stream(0), other = stream(0);
    CUdeviceptr d;
    unsigned host[4] = {0};
    OK(cuMemAlloc(&d, sizeof host));
    for (unsigned k = 0; k < 2; k++) {
        begin_long(blocking);
        assert_int_equal(cuStreamQuery(handles[k]), CUDA_ERROR_NOT_READY);
        OK(cuStreamSynchronize(other)); // none of the others waits for another
        OK(cuStreamQuery(other));
        assert_true(*next < LOG);
        OK(cuStreamSynchronize(handles[k]));
        assert_int_equal(*next, LOG);
        OK(cuStreamQuery(handles[k]));
    }
    begin_long(
        NULL); // what is submitted to a blocking stream would wait for it, but who waits for the stream does not
    OK(cuStreamQuery(other));
    OK(cuStreamSynchronize(other));
    OK(cuStreamQuery(CU_STREAM_PER_THREAD));
    OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    assert_true(*next < LOG);
    OK(cuMemsetD32Async(d, 1, 4, other)); // now there is something that waits for it
    assert_int_equal(cuStreamQuery(other), CUDA_ERROR_NOT_READY);
    OK(cuStreamSynchronize(other));
    assert_int_equal(*next, LOG);
    begin_long(CU_STREAM_PER_THREAD); // a blocking stream
    OK(cuStreamSynchronize(NULL));
    assert_int_equal(*next, LOG);
    begin_long(blocking);
    OK(cuMemcpyHtoD(d, host, sizeof host)); // from pageable memory: first it waits for the same
    assert_int_equal(*next, LOG);
    OK(cuStreamDestroy(blocking));
    blocking = stream(CU_STREAM_NON_BLOCKING);
    begin_long(blocking);
    OK(cuStreamQuery(NULL));
    OK(cuStreamSynchronize(NULL));
    OK(cuMemcpyHtoD(d, host, sizeof host));
    OK(cuMemsetD32Async(d, 1, 4, CU_STREAM_LEGACY)); // now it has work of its own
    OK(cuStreamSynchronize(CU_STREAM_LEGACY));
    assert_true(*next < LOG);
    OK(cuCtxSynchronize());
    OK(cuStreamDestroy(blocking));
    OK(cuStreamDestroy(other));
    OK(cuMemFree(d));
}

// Memory of a pool is freed without waiting. What was submitted before goes on, and what comes later does not find it.
static void test_freeing_memory_of_a_pool(void **state) { // [EM-111]
    (void)state;
    CUstream a = stream(0), b = stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr d;
    size_t before, now, all;
    CUmemoryPool pool;
    cuuint64_t used;
    OK(cuDeviceGetDefaultMemPool(&pool, 0));
    OK(cuMemGetInfo(&before, &all));
    OK(cuMemAllocAsync(&d, 4, a));
    OK(cuMemsetD32Async(d, 7, 1, a));
    OK(cuStreamSynchronize(a));
    begin_long(a);
    OK(cuMemcpyAsync((CUdeviceptr)(uintptr_t)entries, d, 4, a));
    OK(cuMemFree(d));
    OK(cuMemGetInfo(&now, &all));
    assert_true(*next < LOG && now < before);
    assert_int_equal(cuMemFree(d), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemFreeAsync(d, a), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemsetD32Async(d, 0, 1, b), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    assert_int_equal(used, 0);
    OK(cuMemPoolTrimTo(pool, 0));
    OK(cuStreamSynchronize(a));
    assert_int_equal(*next, LOG);
    assert_int_equal(*entries, 7);
    OK(cuMemGetInfo(&now, &all));
    assert_int_equal(now, before);
    OK(cuStreamDestroy(a));
    OK(cuStreamDestroy(b));
}

// An allocation in the legacy stream, behind work of a blocking stream, holds up no other.
static void test_allocating_in_the_legacy_stream(void **state) { // [EM-104]
    (void)state;
    CUstream a = stream(0), b = stream(0);
    CUdeviceptr d;
    begin_long(a);
    OK(cuMemAllocAsync(&d, 4, NULL));
    OK(cuMemsetD32Async(d, 7, 1, b));
    OK(cuStreamSynchronize(b));
    assert_true(*next < LOG);
    OK(cuCtxSynchronize());
    begin_long(NULL); // but what was before it in its own stream does
    CUdeviceptr e;
    OK(cuMemAllocAsync(&e, 4, NULL));
    OK(cuMemsetD32Async(e, 7, 1, b));
    OK(cuStreamSynchronize(b));
    assert_int_equal(*next, LOG);
    OK(cuMemFree(d));
    OK(cuMemFree(e));
    OK(cuStreamDestroy(a));
    OK(cuStreamDestroy(b));
}

static void test_stream_destroyed_with_work(void **state) { // [EM-122]
    (void)state;
    CUstream a = stream(CU_STREAM_NON_BLOCKING);
    append(a, 1, 500);
    OK(cuStreamDestroy(a));
    assert_int_equal(cuStreamQuery(a), CUDA_ERROR_INVALID_HANDLE);
    OK(cuCtxSynchronize());
    assert_int_equal(*next, 500);
}

// ---- Copies -------------------------------------------------------------------------------------------------

static void test_copies(void **state) { // [EM-108] [EM-109]
    (void)state;
    CUdeviceptr d, e, managed;
    unsigned host[64], back[64], *pinned;
    OK(cuMemAlloc(&d, sizeof host));
    OK(cuMemAlloc(&e, sizeof host));
    OK(cuMemHostAlloc((void **)&pinned, sizeof host, 0));
    // Pageable memory is staged at the call: what becomes of it afterwards is the host's business.
    for (int sync = 0; sync < 2; sync++) {
        for (unsigned i = 0; i < 64; i++)
            host[i] = i + (unsigned)sync;
        OK(sync ? cuMemcpyHtoD(d, host, sizeof host) : cuMemcpyHtoDAsync(d, host, sizeof host, NULL));
        memset(host, 0xff, sizeof host);
        OK(cuMemcpyDtoHAsync(back, d, sizeof back, NULL)); // to pageable memory: done on return
        for (unsigned i = 0; i < 64; i++)
            assert_int_equal(back[i], i + (unsigned)sync);
    }
    // Pinned memory is read and written when the copy's turn comes; the synchronous form waits.
    pinned[0] = 1;
    OK(cuMemcpyHtoDAsync(d, pinned, sizeof host, NULL));
    pinned[0] = 2;
    OK(cuMemcpyDtoH(back, d, sizeof back));
    assert_int_equal(back[0], 2);
    pinned[0] = 3;
    OK(cuMemcpyHtoD(d, pinned, sizeof host));
    pinned[0] = 4;
    OK(cuMemcpyDtoH(back, d, sizeof back));
    assert_int_equal(back[0], 3);
    OK(cuMemcpyDtoHAsync(pinned, d, sizeof host, NULL));
    assert_int_equal(pinned[0], 4);
    OK(cuCtxSynchronize());
    assert_int_equal(pinned[0], 3);
    // So does the one from or to managed memory.
    OK(cuMemAllocManaged(&managed, sizeof host, CU_MEM_ATTACH_GLOBAL));
    host[0] = 78;
    OK(cuMemcpyHtoD(managed, host, sizeof host));
    assert_int_equal(*(unsigned *)(uintptr_t)managed, 78);
    OK(cuMemcpyDtoD(managed, d, sizeof host));
    assert_int_equal(*(unsigned *)(uintptr_t)managed, 3);
    OK(cuMemFree(managed));
    // Device to device: no wait. Host to host: done on return.
    append(NULL, 1, 4000);
    OK(cuMemcpyDtoD(e, d, sizeof host));
    assert_true(*next < 4000);
    host[0] = 77;
    OK(cuMemcpy((CUdeviceptr)(uintptr_t)back, (CUdeviceptr)(uintptr_t)host, 4));
    assert_int_equal(back[0], 77);
    assert_int_equal(*next, 4000);
    OK(cuMemFree(d));
    OK(cuMemFree(e));
    OK(cuMemFreeHost(pinned));
}

static void test_fills(void **state) { // [EM-110]
    (void)state;
    CUdeviceptr d;
    OK(cuMemAlloc(&d, 64));
    append(NULL, 1, 4000);
    OK(cuMemsetD32(d, 5, 16));
    assert_true(*next < 4000); // device memory: no wait
    OK(cuMemsetD32(entries_d + 16000, 5, 1));
    assert_int_equal(*next, 4000); // pinned memory: waits
    assert_int_equal(entries[4000], 5);
    OK(cuMemFree(d));
}

static void test_ordered_free(void **state) { // [EM-120]
    (void)state;
    CUdeviceptr d, d2;
    CUstream s = stream(CU_STREAM_NON_BLOCKING);
    unsigned one = 1, out = 0;
    OK(cuMemAllocAsync(&d, 64, s));
    OK(driver_launch("fill", 1, 16, s, (void *[]){&d, &one}));
    OK(cuMemcpyDtoHAsync(&out, d + 60, 4, s));
    assert_int_equal(out, 3);
    OK(driver_launch("fill", 1, 16, s, (void *[]){&d, &one})); // still there
    OK(cuMemFreeAsync(d, s));
    OK(cuStreamSynchronize(s));
    assert_int_equal(cuMemFreeAsync(d, s), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemAllocAsync(&d2, 64, s));
    assert_true(d2 != d); // addresses are not used again
    OK(cuMemFreeAsync(d2, s));
    OK(cuStreamDestroy(s));
}

// ---- Host functions -------------------------------------------------------------------------------------------

static pthread_t callback_thread;
static CUresult callback_result;
static unsigned seen_by_callback;

static void host_function(void *user) {
    CUdeviceptr d;
    *(int *)user = 1;
    callback_thread = pthread_self();
    callback_result = cuMemAlloc(&d, 4);
    seen_by_callback = *next;
}

static void test_host_function(void **state) { // [EM-113]
    (void)state;
    CUstream s = stream(CU_STREAM_NON_BLOCKING), named = NULL;
    int called = 0;
    append(s, 1, 200);
    OK(cuLaunchHostFunc(s, host_function, &called));
    append(s, 2, 200);
    OK(cuStreamAddCallback(s, stream_callback, &named, 0));
    OK(cuStreamSynchronize(s));
    assert_int_equal(called, 1);
    assert_int_equal(seen_by_callback, 200);
    assert_int_equal(callback_result, CUDA_ERROR_NOT_PERMITTED);
    assert_false(pthread_equal(callback_thread, pthread_self()));
    assert_ptr_equal(named, s);
    assert_int_equal(callback_status, CUDA_SUCCESS);
    assert_int_equal(*next, 400);
    assert_int_equal(cuLaunchHostFunc(s, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cuStreamDestroy(s));
}

static pthread_mutex_t program_lock = PTHREAD_MUTEX_INITIALIZER;

static void locking_function(void *user) {
    pthread_mutex_lock(&program_lock);
    *(int *)user = 1;
    pthread_mutex_unlock(&program_lock);
}

// A host function that waits for the thread whose query reached it does not stop that thread.
static void test_host_function_takes_a_lock(void **state) {
    (void)state;
    volatile int called = 0;
    n_notes = 0;
    pthread_mutex_lock(&program_lock);
    OK(cuLaunchHostFunc(NULL, locking_function, (void *)&called));
    for (int i = 0; i < 50; i++)
        assert_int_equal(cuStreamQuery(NULL), CUDA_ERROR_NOT_READY);
    pthread_mutex_unlock(&program_lock);
    OK(cuStreamSynchronize(NULL));
    assert_int_equal(called, 1);
    assert_true(n_notes > 0); // what ran meanwhile was a matter of real time
}

static void test_stream_values(void **state) {
    (void)state;
    CUstream a = stream(CU_STREAM_NON_BLOCKING), b = stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr d;
    OK(cuMemAlloc(&d, 8));
    OK(cuMemsetD8(d, 0, 8));
    OK(cuCtxSynchronize());
    OK(cuStreamWaitValue32(a, d, 5, CU_STREAM_WAIT_VALUE_GEQ));
    append(a, 2, 10);
    append(b, 1, 10);
    OK(cuStreamWriteValue32(b, d, 6, 0));
    OK(cuStreamSynchronize(a));
    assert_string_equal(runs(), "1x10 2x10");
    assert_int_equal(cuStreamWaitValue32(a, d + 1, 5, 0), CUDA_ERROR_INVALID_VALUE);
    CUstreamBatchMemOpParams ops[3] = {{.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32},
                                       {.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32},
                                       {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64}};
    ops[0].writeValue.address = ops[1].waitValue.address = ops[2].writeValue.address = d;
    ops[0].writeValue.value = ops[1].waitValue.value = 9;
    ops[1].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
    ops[2].writeValue.value64 = UINT64_C(1) << 40;
    OK(cuStreamBatchMemOp(b, 3, ops, 0));
    uint64_t value = 0;
    OK(cuStreamSynchronize(b));
    OK(cuMemcpyDtoH(&value, d, sizeof value));
    assert_true(value == UINT64_C(1) << 40);
    ops[2].operation = (CUstreamBatchMemOpType)99;
    assert_int_equal(cuStreamBatchMemOp(b, 3, ops, 0), CUDA_ERROR_NOT_SUPPORTED);
    OK(cuStreamSynchronize(b));
    OK(cuMemFree(d));
    OK(cuStreamDestroy(a));
    OK(cuStreamDestroy(b));
}

int main(void) {
    setenv("GPURACE_CPU_DEVICE", "seed=5,idle=0", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_lazy, clear),
        cmocka_unit_test_setup(test_in_stream_order, clear),
        cmocka_unit_test_setup(test_legacy_stream, clear),
        cmocka_unit_test_setup(test_non_blocking_stream, clear),
        cmocka_unit_test_setup(test_per_thread_stream, clear),
        cmocka_unit_test_setup(test_events, clear),
        cmocka_unit_test_setup(test_event_of_a_destroyed_context, clear),
        cmocka_unit_test_setup(test_event_times, clear),
        cmocka_unit_test_setup(test_polling, clear),
        cmocka_unit_test_setup(test_synchronization_points, clear),
        cmocka_unit_test_setup(test_waiting_for_the_legacy_stream, clear),
        cmocka_unit_test_setup(test_freeing_memory_of_a_pool, clear),
        cmocka_unit_test_setup(test_allocating_in_the_legacy_stream, clear),
        cmocka_unit_test_setup(test_stream_destroyed_with_work, clear),
        cmocka_unit_test_setup(test_copies, clear),
        cmocka_unit_test_setup(test_fills, clear),
        cmocka_unit_test_setup(test_ordered_free, clear),
        cmocka_unit_test_setup(test_host_function, clear),
        cmocka_unit_test_setup(test_host_function_takes_a_lock, clear),
        cmocka_unit_test_setup(test_stream_values, clear),
    };
    return cmocka_run_group_tests(tests, group_start, NULL);
}
