// SPDX-License-Identifier: Apache-2.0
// Unit tests of libcudart.so.13 over the fake driver of fake_cuda.h: what nvcc-generated code asks of a runtime, which
// driver calls each entry point makes, and what happens when they fail.
#include "driver/cudart/registration.h"
#include "fake_cuda.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <pthread.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

// The per-thread twins, which the headers declare only in place of the plain ones.
cudaError_t cudaMemcpy_ptds(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind);
cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t stream);
cudaError_t cudaProfilerStart(void); // of cuda_profiler_api.h, not in every distribution of the headers

// ---- the "program": what nvcc would generate

static int sum;
static void run_add(void **args) { sum = *(int *)args[0] + *(int *)args[1]; }

static FakeKernel kernels[] = {
    {"add", run_add, CUDA_SUCCESS}, {"fault", NULL, CUDA_ERROR_ILLEGAL_ADDRESS}, {NULL, NULL, CUDA_SUCCESS}};
static int device_table[4], device_managed = 41;
static FakeGlobal globals[] = {{"table", device_table, sizeof device_table}, {NULL, NULL, 0}};
static FakeGlobal managed[] = {{"counter", &device_managed, sizeof device_managed}, {NULL, NULL, 0}};

static FakeImage good = {.kernels = kernels, .globals = globals, .managed = managed};
static FakeImage bad = {.load_result = CUDA_ERROR_NO_BINARY_FOR_GPU};

// Host stubs and shadow variables: only their addresses matter.
static char add_stub, fault_stub, absent_stub, bad_stub, table_shadow, unknown_shadow;
static int *counter_slot;
static void **good_handle, **bad_handle;

static void register_function(void **handle, char *stub, const char *name) {
    __cudaRegisterFunction(handle, stub, stub, name, -1, NULL, NULL, NULL, NULL, NULL);
}

static int setup_program(void **state) {
    (void)state;
    good_handle = __cudaRegisterFatBinary(&good);
    register_function(good_handle, &add_stub, "add");
    register_function(good_handle, &fault_stub, "fault");
    register_function(good_handle, &absent_stub, "absent");
    __cudaRegisterVar(good_handle, &table_shadow, &table_shadow, "table", 0, sizeof device_table, 0, 0);
    __cudaRegisterManagedVar(good_handle, (void **)&counter_slot, (char *)&counter_slot, "counter", 0,
                             sizeof device_managed, 0, 0);
    __cudaRegisterFatBinaryEnd(good_handle);
    bad_handle = __cudaRegisterFatBinary(&bad);
    register_function(bad_handle, &bad_stub, "bad");
    __cudaRegisterFatBinaryEnd(bad_handle);
    return 0;
}

// ---- helpers

static const char *absent_name = "";
void gr_api_absent(const char *name);
void gr_api_absent(const char *name) { absent_name = name; } // found by the library with dlsym

#define assert_calls(expected) assert_string_equal(fake_take_log(), expected)
#define assert_ok(call)        assert_int_equal(call, cudaSuccess)

static int clean_slate(void **state) {
    (void)state;
    fake_fail("", CUDA_SUCCESS);
    cudaFree(NULL);
    cudaGetLastError();
    fake_take_log();
    return 0;
}

static const dim3 one = {1, 1, 1};

// As nvcc's launch expression and stub do it.
static cudaError_t launch_as_compiled(void *stub, dim3 grid, dim3 block, size_t shared, void **args) {
    cudaKernel_t kernel = NULL;
    dim3 g, b;
    size_t s = 0;
    cudaStream_t stream = (cudaStream_t)-1L;
    if (__cudaPushCallConfiguration(grid, block, shared, NULL) != 0)
        return cudaErrorUnknown;
    __cudaGetKernel(&kernel, stub);
    if (__cudaPopCallConfiguration(&g, &b, &s, &stream) != cudaSuccess)
        return cudaErrorUnknown;
    return __cudaLaunchKernel(kernel, g, b, args, s, stream);
}

// ---- start-up; first, since it needs an untouched process

static void constructors_touch_no_driver(void **state) {
    (void)state;
    assert_calls("");
    assert_int_equal(good.loads + bad.loads, 0);
}

static void a_driver_without_device_is_reported_by_every_call(void **state) {
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        fake_fail("cuInit", CUDA_ERROR_NO_DEVICE);
        int count = -1, version = 0;
        void *p = NULL;
        bool fine = cudaGetDeviceCount(&count) == cudaErrorNoDevice && count == 0 &&
                    cudaMalloc(&p, 4) == cudaErrorNoDevice && cudaGetLastError() == cudaErrorNoDevice &&
                    cudaDriverGetVersion(&version) == cudaSuccess && version == 13000 &&
                    launch_as_compiled(&add_stub, one, one, 0, NULL) == cudaErrorNoDevice;
        _exit(fine ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void the_first_real_call_makes_the_primary_context_current(void **state) {
    (void)state;
    int count = 0;
    assert_ok(cudaGetDeviceCount(&count));
    assert_int_equal(count, 2);
    assert_calls("cuInit(0)"); // asking creates no context
    assert_ok(cudaFree(NULL));
    assert_calls("cuDevicePrimaryCtxRetain(0) cuCtxSetCurrent(0)");
    assert_ok(cudaFree(NULL));
    assert_calls("");
}

// ---- launches

static void a_compiled_launch_loads_its_image_once_and_runs(void **state) {
    (void)state;
    int a = 2, b = 40;
    void *args[] = {&a, &b};
    assert_ok(launch_as_compiled(&add_stub, (dim3){3, 2, 1}, (dim3){64, 1, 1}, 16, args));
    assert_int_equal(sum, 42);
    assert_calls("cuLibraryLoadData(0,1=1) cuLibraryGetManaged(counter) cuLibraryGetKernel(add) "
                 "cuLaunchKernel(add,3,2,1,64,1,1,16,0)");
    assert_ok(launch_as_compiled(&add_stub, one, one, 0, args));
    assert_calls("cuLaunchKernel(add,1,1,1,1,1,1,0,0)");
    assert_int_equal(good.loads, 1);
}

static void launches_by_host_function_and_per_thread_stream(void **state) {
    (void)state;
    int a = 1, b = 2;
    void *args[] = {&a, &b};
    assert_ok(cudaLaunchKernel(&add_stub, one, one, args, 0, cudaStreamPerThread));
    assert_calls("cuLaunchKernel(add,1,1,1,1,1,1,0,per-thread)");
    cudaKernel_t kernel = NULL;
    assert_ok(__cudaGetKernel(&kernel, &add_stub));
    assert_ptr_equal(kernel, &kernels[0]); // the driver's own handle, for programs that mix the APIs
    assert_ok(__cudaLaunchKernel_ptsz(kernel, one, one, args, 0, NULL));
    assert_calls("cuLaunchKernel_ptsz(add,1,1,1,1,1,1,0,0)");
    // A cudaKernel_t stands for itself where a function is asked for.
    assert_ok(cudaLaunchKernel(kernel, one, one, args, 0, NULL));
    assert_calls("cuLaunchKernel(add,1,1,1,1,1,1,0,0)");
}

static void extended_launches_pass_their_attributes(void **state) {
    (void)state;
    int a = 1, b = 2;
    void *args[] = {&a, &b};
    cudaLaunchAttribute attribute = {.id = cudaLaunchAttributeCooperative, .val = {.cooperative = 1}};
    cudaLaunchConfig_t config = {.gridDim = {2, 1, 1},
                                 .blockDim = {32, 1, 1},
                                 .dynamicSmemBytes = 8,
                                 .attrs = &attribute,
                                 .numAttrs = 1};
    assert_ok(cudaLaunchKernelExC(&config, &add_stub, args));
    assert_calls("attribute(2,1) cuLaunchKernelEx(add,2,1,1,32,1,1,8,0)");
}

static void bad_configurations_have_the_runtimes_errors(void **state) {
    (void)state;
    int a = 1, b = 2;
    void *args[] = {&a, &b};
    assert_int_equal(launch_as_compiled(&add_stub, (dim3){0, 1, 1}, one, 0, args),
                     cudaErrorInvalidConfiguration);
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidConfiguration);
    assert_int_equal(launch_as_compiled(&add_stub, one, (dim3){2048, 1, 1}, 0, args),
                     cudaErrorInvalidConfiguration);
    assert_int_equal(launch_as_compiled(&add_stub, one, (dim3){64, 64, 1}, 0, args),
                     cudaErrorInvalidConfiguration);
    assert_int_equal(launch_as_compiled(&add_stub, one, one, 1 << 20, args), cudaErrorInvalidValue);
    assert_int_equal(launch_as_compiled(&add_stub, one, one, (size_t)1 << 33, args), cudaErrorInvalidValue);
}

static void an_image_the_driver_refuses_hurts_only_its_own_kernels(void **state) {
    (void)state;
    int a = 1, b = 2;
    void *args[] = {&a, &b};
    cudaKernel_t kernel = NULL;
    assert_int_equal(__cudaGetKernel(&kernel, &bad_stub), cudaErrorNoKernelImageForDevice);
    assert_non_null(kernel); // so that the launch can say why, now and later
    assert_int_equal(__cudaLaunchKernel(kernel, one, one, args, 0, NULL), cudaErrorNoKernelImageForDevice);
    assert_int_equal(__cudaLaunchKernel(kernel, one, one, args, 0, NULL), cudaErrorNoKernelImageForDevice);
    assert_int_equal(cudaGetLastError(), cudaErrorNoKernelImageForDevice);
    assert_int_equal(cudaLaunchKernel(&bad_stub, one, one, args, 0, NULL), cudaErrorNoKernelImageForDevice);
    assert_int_equal(bad.loads, 1); // the driver was not asked again
    assert_ok(cudaLaunchKernel(&add_stub, one, one, args, 0, NULL));
    // A kernel that its image does not hold.
    assert_int_equal(cudaLaunchKernel(&absent_stub, one, one, args, 0, NULL), cudaErrorInvalidDeviceFunction);
    assert_int_equal(launch_as_compiled(&absent_stub, one, one, 0, args), cudaErrorInvalidDeviceFunction);
    assert_int_equal(cudaLaunchKernel(NULL, one, one, args, 0, NULL), cudaErrorInvalidDeviceFunction);
}

static void nested_configurations_form_a_stack(void **state) {
    (void)state;
    for (unsigned i = 1; i <= 100; i++)
        assert_int_equal(
            __cudaPushCallConfiguration((dim3){i, 1, 1}, (dim3){1, i, 1}, i, (cudaStream_t)(size_t)i), 0);
    for (unsigned i = 100; i >= 1; i--) {
        dim3 g, b;
        size_t shared = 0;
        cudaStream_t stream = NULL;
        assert_ok(__cudaPopCallConfiguration(&g, &b, &shared, &stream));
        assert_int_equal(g.x, i);
        assert_int_equal(b.y, i);
        assert_int_equal(shared, i);
        assert_ptr_equal(stream, (cudaStream_t)(size_t)i);
    }
    dim3 d;
    size_t shared;
    cudaStream_t stream;
    assert_int_equal(__cudaPopCallConfiguration(&d, &d, &shared, &stream), cudaErrorMissingConfiguration);
}

static void function_attributes_come_from_the_driver(void **state) {
    (void)state;
    struct cudaFuncAttributes a;
    assert_ok(cudaFuncGetAttributes(&a, &add_stub));
    assert_int_equal(a.maxThreadsPerBlock, 100 + CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    assert_int_equal(a.sharedSizeBytes, 100 + CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    assert_int_equal(a.numRegs, 100 + CU_FUNC_ATTRIBUTE_NUM_REGS);
    assert_int_equal(a.requiredClusterWidth, 0); // this driver does not know it
}

// ---- memory

static void allocation_maps_to_the_driver(void **state) {
    (void)state;
    void *p = (void *)1;
    assert_ok(cudaMalloc(&p, 0));
    assert_null(p);
    assert_ok(cudaFree(NULL));
    assert_ok(cudaFreeHost(NULL));
    assert_calls("");
    assert_ok(cudaMalloc(&p, 16));
    assert_ok(cudaMemset(p, 7, 16));
    assert_int_equal(((char *)p)[15], 7);
    assert_ok(cudaFree(p));
    assert_calls("cuMemAlloc(16) cuMemsetD8(7,16) cuMemFree()");
    assert_ok(cudaHostAlloc(&p, 8, cudaHostAllocWriteCombined));
    assert_ok(cudaFreeHost(p));
    assert_calls("cuMemHostAlloc(8,6) cuMemFreeHost()"); // always mapped
    assert_int_equal(cudaHostAlloc(&p, 8, 64), cudaErrorInvalidValue);
    size_t pitch = 0;
    assert_ok(cudaMallocPitch(&p, &pitch, 100, 3));
    assert_int_equal(pitch, 512);
    assert_ok(cudaFree(p));
    struct cudaPitchedPtr box;
    assert_ok(cudaMalloc3D(&box, (struct cudaExtent){100, 3, 4}));
    assert_int_equal(box.ysize, 3);
    assert_ok(cudaFree(box.ptr));
    assert_calls("cuMemAllocPitch(100,3,16) cuMemFree() cuMemAllocPitch(100,12,16) cuMemFree()");
    p = (void *)3;
    assert_int_equal(cudaMalloc(&p, SIZE_MAX / 2), cudaErrorMemoryAllocation);
    assert_ptr_equal(p, (void *)3);
    assert_int_equal(cudaMalloc3D(&box, (struct cudaExtent){1, SIZE_MAX, 2}), cudaErrorMemoryAllocation);
    assert_int_equal(cudaMalloc(NULL, 4), cudaErrorInvalidValue);
}

static void copies_use_the_call_of_their_direction(void **state) {
    (void)state;
    int from = 5, to = 0;
    assert_ok(cudaMemcpy(&to, &from, 4, cudaMemcpyHostToDevice));
    assert_ok(cudaMemcpy(&to, &from, 4, cudaMemcpyDeviceToHost));
    assert_ok(cudaMemcpy(&to, &from, 4, cudaMemcpyDeviceToDevice));
    assert_ok(cudaMemcpy(&to, &from, 4, cudaMemcpyHostToHost));
    assert_ok(cudaMemcpy(&to, &from, 4, cudaMemcpyDefault));
    assert_calls("cuMemcpyHtoD(4) cuMemcpyDtoH(4) cuMemcpyDtoD(4) cuMemcpy(4) cuMemcpy(4)");
    assert_int_equal(to, 5);
    assert_ok(cudaMemcpyAsync(&to, &from, 4, cudaMemcpyHostToDevice, NULL));
    assert_ok(cudaMemcpyAsync(&to, &from, 4, cudaMemcpyDeviceToHost, cudaStreamLegacy));
    assert_ok(cudaMemcpyAsync(&to, &from, 4, cudaMemcpyDefault, cudaStreamPerThread));
    assert_calls("cuMemcpyHtoDAsync(4,0) cuMemcpyDtoHAsync(4,legacy) cuMemcpyAsync(4,per-thread)");
    assert_ok(cudaMemcpy(&to, &from, 0, cudaMemcpyHostToDevice));
    assert_ok(cudaMemcpy_ptds(&to, &from, 4, cudaMemcpyHostToDevice));
    assert_ok(cudaStreamSynchronize_ptsz(NULL));
    assert_calls("cuMemcpyHtoD_ptds(4) cuStreamSynchronize_ptsz(0)");
    assert_ok(cudaMemcpyPeer(&to, 1, &from, 0, 4));
    assert_calls("cuDevicePrimaryCtxRetain(1) cuMemcpyPeer(1,0,4)");
    assert_int_equal(cudaMemcpy(&to, &from, 4, (enum cudaMemcpyKind)9), cudaErrorInvalidMemcpyDirection);
    assert_int_equal(cudaMemcpyPeer(&to, 7, &from, 0, 4), cudaErrorInvalidDevice);
}

static void rectangles_and_boxes(void **state) {
    (void)state;
    char from[4][8], to[4][8] = {{0}};
    memset(from, 'x', sizeof from);
    assert_ok(cudaMemcpy2D(to, 8, from, 8, 3, 2, cudaMemcpyHostToDevice));
    assert_calls("cuMemcpy2DUnaligned(1->2,3x2)");
    assert_memory_equal(to, "xxx\0\0\0\0\0xxx\0\0\0\0\0\0\0\0\0", 18);
    assert_int_equal(cudaMemcpy2D(to, 2, from, 8, 3, 2, cudaMemcpyHostToDevice), cudaErrorInvalidPitchValue);
    assert_ok(cudaMemcpy2D(to, 8, from, 8, 3, 0, cudaMemcpyHostToDevice));
    assert_calls("");
    struct cudaMemcpy3DParms p = {.srcPtr = {from, 8, 8, 2},
                                  .dstPtr = {to, 8, 8, 2},
                                  .dstPos = {2, 1, 0},
                                  .extent = {3, 1, 2},
                                  .kind = cudaMemcpyDefault};
    memset(to, 0, sizeof to);
    assert_ok(cudaMemcpy3D(&p));
    assert_calls("cuMemcpy3D(4->4,3x1x2)");
    assert_memory_equal(to, "\0\0\0\0\0\0\0\0\0\0xxx\0\0\0\0\0\0\0\0\0\0\0\0\0xxx\0\0\0", 32);
    p.srcArray = (cudaArray_t)&p;
    assert_int_equal(cudaMemcpy3D(&p), cudaErrorNotSupported);
    assert_string_equal(absent_name, "cudaMemcpy3D with cudaArray");
    // A box without gaps is one rectangle, another is one per slice.
    assert_ok(cudaMemset3D((struct cudaPitchedPtr){to, 8, 8, 2}, 1, (struct cudaExtent){8, 2, 2}));
    assert_calls("cuMemsetD2D8(8,1,8x4)");
    assert_ok(cudaMemset3D((struct cudaPitchedPtr){to, 8, 8, 2}, 2, (struct cudaExtent){8, 1, 2}));
    assert_calls("cuMemsetD2D8(8,2,8x1) cuMemsetD2D8(8,2,8x1)");
    assert_int_equal(to[0][7], 2);
    assert_int_equal(to[1][0], 1);
    assert_int_equal(to[2][0], 2);
    assert_int_equal(to[3][7], 1);
}

static void symbols_are_copied_within_their_bounds(void **state) {
    (void)state;
    int two[2] = {8, 9}, back[4] = {0};
    assert_ok(cudaMemcpyToSymbol(&table_shadow, two, 8, 4, cudaMemcpyHostToDevice));
    assert_ok(cudaMemcpyFromSymbol(back, &table_shadow, 16, 0, cudaMemcpyDeviceToHost));
    assert_memory_equal(back, ((int[]){0, 8, 9, 0}), 16);
    assert_calls("cuLibraryGetGlobal(table) cuMemcpyHtoD(8) cuLibraryGetGlobal(table) cuMemcpyDtoH(16)");
    assert_ok(cudaMemcpyToSymbolAsync(&table_shadow, two, 8, 0, cudaMemcpyDefault, cudaStreamLegacy));
    assert_calls("cuLibraryGetGlobal(table) cuMemcpyAsync(8,legacy)");
    assert_int_equal(cudaMemcpyToSymbol(&table_shadow, two, 8, 12, cudaMemcpyHostToDevice),
                     cudaErrorInvalidValue);
    assert_int_equal(cudaMemcpyToSymbol(&table_shadow, two, 8, SIZE_MAX - 3, cudaMemcpyHostToDevice),
                     cudaErrorInvalidValue);
    assert_int_equal(cudaMemcpyToSymbol(&table_shadow, two, 8, 0, cudaMemcpyDeviceToHost),
                     cudaErrorInvalidMemcpyDirection);
    assert_int_equal(cudaMemcpyFromSymbol(back, &unknown_shadow, 4, 0, cudaMemcpyDeviceToHost),
                     cudaErrorInvalidSymbol);
    void *address = NULL;
    size_t size = 0;
    assert_ok(cudaGetSymbolAddress(&address, &table_shadow));
    assert_ok(cudaGetSymbolSize(&size, &table_shadow));
    assert_ptr_equal(address, device_table);
    assert_int_equal(size, 16);
}

static void managed_variables_get_their_address_before_the_host_reads_them(void **state) {
    (void)state;
    __cudaInitModule(good_handle);
    assert_ptr_equal(counter_slot, &device_managed);
    assert_int_equal(*counter_slot, 41);
    // The program passes the variable itself, that is where the slot points to.
    void *address = NULL;
    assert_ok(cudaGetSymbolAddress(&address, counter_slot));
    assert_ptr_equal(address, &device_managed);
}

static void pointers_are_told_apart(void **state) {
    (void)state;
    struct cudaPointerAttributes a;
    assert_ok(cudaPointerGetAttributes(&a, (void *)0x1000));
    assert_int_equal(a.type, cudaMemoryTypeDevice);
    assert_int_equal(a.device, 0);
    assert_ptr_equal(a.devicePointer, (void *)0x1000);
    assert_null(a.hostPointer);
    assert_ok(cudaPointerGetAttributes(&a, (void *)0x1001));
    assert_int_equal(a.type, cudaMemoryTypeUnregistered);
    assert_int_equal(a.device, cudaInvalidDeviceId);
    assert_null(a.devicePointer);
}

// ---- errors

static void errors_stay_until_taken_and_belong_to_a_thread(void **state) {
    (void)state;
    void *p;
    fake_fail("cuMemAlloc", CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(cudaMalloc(&p, 4), cudaErrorMemoryAllocation);
    fake_fail("", CUDA_SUCCESS);
    assert_ok(cudaDeviceSynchronize()); // success does not clear it
    assert_int_equal(cudaPeekAtLastError(), cudaErrorMemoryAllocation);
    assert_int_equal(cudaGetLastError(), cudaErrorMemoryAllocation);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    fake_fail("cuMemAlloc", (CUresult)916); // a result that the runtime has no error for
    assert_int_equal(cudaMalloc(&p, 4), cudaErrorUnknown);
    assert_int_equal(cudaGetLastError(), cudaErrorUnknown);
    fake_fail("cuStreamQuery", CUDA_ERROR_NOT_READY);
    assert_int_equal(cudaStreamQuery(NULL), cudaErrorNotReady); // an answer, not an error
    assert_int_equal(cudaPeekAtLastError(), cudaSuccess);
}

static void *peek_elsewhere(void *unused) {
    (void)unused;
    return (void *)(size_t)cudaPeekAtLastError();
}

static void a_fault_is_sticky_until_the_device_is_reset(void **state) {
    (void)state;
    void *p = NULL, *other = (void *)1;
    pthread_t thread;
    assert_ok(launch_as_compiled(&fault_stub, one, one, 0, NULL)); // asynchronous: nobody knows yet
    assert_int_equal(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    assert_int_equal(cudaMalloc(&p, 4), cudaErrorIllegalAddress);
    assert_int_equal(cudaGetLastError(), cudaErrorIllegalAddress);
    assert_int_equal(cudaGetLastError(), cudaErrorIllegalAddress);
    assert_int_equal(cudaMalloc(NULL, 4), cudaErrorInvalidValue);
    assert_int_equal(cudaGetLastError(), cudaErrorIllegalAddress);
    assert_int_equal(pthread_create(&thread, NULL, peek_elsewhere, NULL), 0);
    assert_int_equal(pthread_join(thread, &other), 0);
    assert_ptr_equal(other, (void *)cudaSuccess);
    fake_take_log();
    assert_ok(cudaDeviceReset());
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    assert_ok(cudaMalloc(&p, 4)); // the next call makes a new context
    assert_ok(cudaFree(p));
    assert_calls("cuDevicePrimaryCtxReset(0) cuDevicePrimaryCtxRelease(0) cuCtxSetCurrent() "
                 "cuDevicePrimaryCtxRetain(0) cuCtxSetCurrent(0) cuMemAlloc(4) cuMemFree()");
}

static void errors_have_names_and_texts(void **state) {
    (void)state;
    assert_string_equal(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue");
    assert_string_equal(cudaGetErrorString(cudaErrorIllegalAddress),
                        "an illegal memory access was encountered");
    assert_string_equal(cudaGetErrorString(cudaSuccess), "no error");
    assert_string_equal(cudaGetErrorName((cudaError_t)10), "unrecognized error code");
    assert_string_equal(cudaGetErrorString((cudaError_t)-1), "unrecognized error code");
    assert_string_equal(cudaGetErrorString((cudaError_t)12345), "unrecognized error code");
}

static void absent_entry_points_say_so(void **state) {
    (void)state;
    cudaTextureObject_t texture = 0;
    absent_name = "";
    assert_int_equal(cudaCreateTextureObject(&texture, NULL, NULL, NULL), cudaErrorNotSupported);
    assert_string_equal(absent_name, "cudaCreateTextureObject");
    assert_int_equal(cudaGetLastError(), cudaErrorNotSupported);
    // Present here, but the driver lacks what it needs.
    assert_int_equal(cudaProfilerStart(), cudaErrorNotSupported);
    assert_string_equal(absent_name, "cuProfilerStart");
}

static void every_entry_point_of_the_table_is_exported_with_its_version(void **state) {
    (void)state;
    static const struct {
        const char *name, *suffix;
    } rows[] = {
#define SUFFIX_NONE ""
#define SUFFIX_PTDS "_ptds"
#define SUFFIX_PTSZ "_ptsz"
#define GR_SECTION(title)
#define GR_API(name, status, variant) {#name, SUFFIX_##variant},
#include "driver/cudart/api.def"
#undef GR_API
    };
    void *library = dlopen("libcudart.so.13", RTLD_NOW | RTLD_NOLOAD);
    assert_non_null(library);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char twin[128];
        snprintf(twin, sizeof twin, "%s%s", rows[i].name, rows[i].suffix);
        if (dlvsym(library, rows[i].name, "libcudart.so.13") == NULL ||
            dlvsym(library, twin, "libcudart.so.13") == NULL)
            fail_msg("%s or %s is not exported", rows[i].name, twin);
    }
    dlclose(library);
}

// ---- devices, streams, entry points

static void devices_and_contexts(void **state) {
    (void)state;
    struct cudaDeviceProp prop;
    int device = -1, value = 0;
    assert_ok(cudaGetDeviceProperties(&prop, 1));
    assert_string_equal(prop.name, "Fake 1");
    assert_int_equal(prop.warpSize, 32);
    assert_int_equal(prop.major, 9);
    assert_int_equal(prop.sharedMemPerBlock, 49152);
    assert_int_equal(prop.totalGlobalMem, (size_t)2 << 30);
    assert_int_equal(prop.clusterLaunch, 0);
    assert_int_equal(cudaGetDeviceProperties(&prop, 2), cudaErrorInvalidDevice);
    assert_ok(cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, 0));
    assert_int_equal(value, 1024);
    fake_take_log();
    assert_ok(cudaSetDevice(1));
    assert_calls("cuCtxSetCurrent(1)"); // retained by the peer copy above
    assert_ok(cudaGetDevice(&device));
    assert_int_equal(device, 1);
    assert_int_equal(cudaSetDevice(2), cudaErrorInvalidDevice);
    assert_ok(cudaGetDevice(&device));
    assert_int_equal(device, 1);
    assert_ok(cudaSetDevice(0));
}

static void *use_foreign_context(void *result) {
    // A context made current through the driver API is used as it is.
    CUresult (*set_current)(CUcontext) = NULL;
    *(bool *)result = cudaGetDriverEntryPointByVersion("cuCtxSetCurrent", (void **)&set_current, 4000, 0,
                                                       NULL) == cudaSuccess &&
                      set_current(fake_context()) == CUDA_SUCCESS && cudaDeviceSynchronize() == cudaSuccess;
    return NULL;
}

static void a_context_of_the_driver_api_is_respected(void **state) {
    (void)state;
    bool fine = false;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, use_foreign_context, &fine), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(fine);
    assert_calls("cuCtxSetCurrent(0) cuCtxSynchronize()"); // one SetCurrent: the thread's own
}

static void device_flags(void **state) {
    (void)state;
    unsigned flags = 0;
    assert_ok(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync | cudaDeviceMapHost));
    assert_calls("cuDevicePrimaryCtxSetFlags(0,4)");
    assert_ok(cudaGetDeviceFlags(&flags));
    assert_int_equal(flags, cudaDeviceScheduleBlockingSync | cudaDeviceMapHost);
    assert_int_equal(cudaSetDeviceFlags(1 << 20), cudaErrorInvalidValue);
}

typedef struct Seen {
    cudaStream_t stream;
    cudaError_t status;
} Seen;

static void CUDART_CB on_callback(cudaStream_t stream, cudaError_t status, void *data) {
    *(Seen *)data = (Seen){stream, status};
}

static void streams(void **state) {
    (void)state;
    cudaStream_t s = NULL;
    Seen seen = {NULL, cudaSuccess};
    assert_ok(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    assert_ok(cudaStreamSynchronize(s));
    assert_ok(cudaStreamAddCallback(s, on_callback, &seen, 0));
    assert_ptr_equal(seen.stream, s);
    assert_int_equal(seen.status, cudaErrorLaunchFailure);
    assert_ok(cudaStreamDestroy(s));
    assert_calls("cuStreamCreate(1) cuStreamSynchronize(s) cuStreamAddCallback(s,0) cuStreamDestroy(s)");
    assert_int_equal(cudaStreamDestroy(NULL), cudaErrorInvalidResourceHandle);
    assert_int_equal(cudaStreamCreateWithFlags(&s, 8), cudaErrorInvalidValue);
    assert_int_equal(cudaEventRecord(NULL, NULL), cudaErrorInvalidResourceHandle);
}

static void driver_entry_points(void **state) {
    (void)state;
    void *fn = NULL;
    enum cudaDriverEntryPointQueryResult status = cudaDriverEntryPointSymbolNotFound;
    assert_ok(cudaGetDriverEntryPointByVersion("cuMemAlloc", &fn, 3020, cudaEnableDefault, &status));
    assert_non_null(fn);
    assert_int_equal(status, cudaDriverEntryPointSuccess);
    assert_ok(cudaGetDriverEntryPointByVersion("cuNoSuchThing", &fn, 13000, cudaEnableDefault, &status));
    assert_null(fn);
    assert_int_equal(status, cudaDriverEntryPointSymbolNotFound);
    int version = 0;
    assert_ok(cudaRuntimeGetVersion(&version));
    assert_int_equal(version, CUDART_VERSION);
}

// ---- the end; last, since the program is gone afterwards

static void unregistering_unloads_what_was_loaded(void **state) {
    (void)state;
    __cudaUnregisterFatBinary(bad_handle);
    assert_calls("");
    __cudaUnregisterFatBinary(good_handle);
    assert_calls("cuLibraryUnload()");
    assert_int_equal(good.unloads, 1);
    assert_int_equal(cudaMemcpyToSymbol(&table_shadow, &table_shadow, 1, 0, cudaMemcpyHostToDevice),
                     cudaErrorInvalidSymbol);
    setup_program(NULL); // as dlopen of a library with kernels does
    int a = 1, b = 2;
    void *args[] = {&a, &b};
    assert_ok(cudaLaunchKernel(&add_stub, one, one, args, 0, NULL));
    assert_int_equal(good.loads, 2);
    __cudaUnregisterFatBinary(good_handle);
    __cudaUnregisterFatBinary(bad_handle);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constructors_touch_no_driver),
        cmocka_unit_test(a_driver_without_device_is_reported_by_every_call),
        cmocka_unit_test(the_first_real_call_makes_the_primary_context_current),
        cmocka_unit_test_setup(a_compiled_launch_loads_its_image_once_and_runs, clean_slate),
        cmocka_unit_test_setup(launches_by_host_function_and_per_thread_stream, clean_slate),
        cmocka_unit_test_setup(extended_launches_pass_their_attributes, clean_slate),
        cmocka_unit_test_setup(bad_configurations_have_the_runtimes_errors, clean_slate),
        cmocka_unit_test_setup(an_image_the_driver_refuses_hurts_only_its_own_kernels, clean_slate),
        cmocka_unit_test_setup(nested_configurations_form_a_stack, clean_slate),
        cmocka_unit_test_setup(function_attributes_come_from_the_driver, clean_slate),
        cmocka_unit_test_setup(allocation_maps_to_the_driver, clean_slate),
        cmocka_unit_test_setup(copies_use_the_call_of_their_direction, clean_slate),
        cmocka_unit_test_setup(rectangles_and_boxes, clean_slate),
        cmocka_unit_test_setup(symbols_are_copied_within_their_bounds, clean_slate),
        cmocka_unit_test_setup(managed_variables_get_their_address_before_the_host_reads_them, clean_slate),
        cmocka_unit_test_setup(pointers_are_told_apart, clean_slate),
        cmocka_unit_test_setup(errors_stay_until_taken_and_belong_to_a_thread, clean_slate),
        cmocka_unit_test_setup(a_fault_is_sticky_until_the_device_is_reset, clean_slate),
        cmocka_unit_test_setup(errors_have_names_and_texts, clean_slate),
        cmocka_unit_test_setup(absent_entry_points_say_so, clean_slate),
        cmocka_unit_test_setup(every_entry_point_of_the_table_is_exported_with_its_version, clean_slate),
        cmocka_unit_test_setup(devices_and_contexts, clean_slate),
        cmocka_unit_test_setup(a_context_of_the_driver_api_is_respected, clean_slate),
        cmocka_unit_test_setup(device_flags, clean_slate),
        cmocka_unit_test_setup(streams, clean_slate),
        cmocka_unit_test_setup(driver_entry_points, clean_slate),
        cmocka_unit_test_setup(unregistering_unloads_what_was_loaded, clean_slate),
    };
    return cmocka_run_group_tests(tests, setup_program, NULL);
}
