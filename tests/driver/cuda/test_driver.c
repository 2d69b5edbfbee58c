// SPDX-License-Identifier: Apache-2.0
// The driver API over the CPU device: what can be asked, modules, libraries, memory, launches, and CUDA's error codes.
#include "driver_common.h"

#include "device_api/hooks.h"

#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

// ---- The tool's hooks, as libgpurace.so exports them ---------------------------------------------------------

static char absent[64][64];
static unsigned n_absent;
static GrApiFault last_fault;
static char fault_text[512], fault_kernel[64];
static unsigned n_faults;

void gr_api_absent(const char *name) {
    if (n_absent < 64)
        snprintf(absent[n_absent++], sizeof absent[0], "%s", name);
}

void gr_api_fault(const GrApiFault *f) {
    last_fault = *f;
    snprintf(fault_text, sizeof fault_text, "%s", f->text);
    snprintf(fault_kernel, sizeof fault_kernel, "%s", f->kernel ? f->kernel : "");
    n_faults++;
}

static int start(void **state) {
    (void)state;
    driver_start();
    return 0;
}

// ---- Questions ----------------------------------------------------------------------------------------------

static void test_device(void **state) {
    (void)state;
    int n, value, version;
    char name[64];
    size_t total;
    CUdevice d;
    CUuuid a, b;
    OK(cuDriverGetVersion(&version));
    assert_int_equal(version, 13000);
    OK(cuDeviceGetCount(&n));
    assert_int_equal(n, 2);
    OK(cuDeviceGet(&d, 1));
    assert_int_equal(cuDeviceGet(&d, 2), CUDA_ERROR_INVALID_DEVICE);
    assert_int_equal(cuDeviceGet(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuDeviceGetName(name, sizeof name, 0));
    assert_string_equal(name, "gpurace CPU device");
    OK(cuDeviceTotalMem(&total, 0));
    assert_true(total > 1 << 20);
    OK(cuDeviceGetUuid(&a, 0));
    OK(cuDeviceGetUuid(&b, 1));
    assert_memory_not_equal(&a, &b, sizeof a);
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
    assert_int_equal(value, 9);
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
    assert_int_equal(value, 32);
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0));
    assert_int_equal(value, 1024);
    for (int i = 1; i < CU_DEVICE_ATTRIBUTE_MAX; i++)
        OK(cuDeviceGetAttribute(&value, (CUdevice_attribute)i, 0));
    assert_int_equal(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MAX, 0), CUDA_ERROR_INVALID_VALUE);
    char bus[16];
    OK(cuDeviceGetPCIBusId(bus, sizeof bus, 1));
    OK(cuDeviceGetByPCIBusId(&d, bus));
    assert_int_equal(d, 1);
    OK(cuDeviceCanAccessPeer(&value, 0, 1));
    assert_int_equal(value, 1);
}

static void test_error_names(void **state) {
    (void)state;
    const char *text;
    OK(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
    assert_string_equal(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
    OK(cuGetErrorString(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
    assert_string_equal(text, "an illegal memory access was encountered");
    assert_int_equal(cuGetErrorName((CUresult)12345, &text), CUDA_ERROR_INVALID_VALUE);
    assert_null(text);
}

static void test_get_proc_address(void **state) {
    (void)state;
    void *fn, *v2;
    CUdriverProcAddressQueryResult status;
    // A name may be empty and the status pointer NULL: a runtime's first lookup is like that.
    assert_int_equal(cuGetProcAddress("", &fn, 0, 0, NULL), CUDA_ERROR_NOT_FOUND);
    OK(cuGetProcAddress("cuMemAlloc", &v2, 3020, 0, &status));
    assert_ptr_equal(v2, cuMemAlloc);
    assert_int_equal(status, CU_GET_PROC_ADDRESS_SUCCESS);
    OK(cuGetProcAddress("cuMemAlloc", &fn, 2000, 0, &status));
    assert_ptr_not_equal(fn, v2);
    OK(cuGetProcAddress("cuMemAlloc", &fn, 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status));
    assert_ptr_equal(fn, v2); // it has no stream to vary
    OK(cuGetProcAddress("cuLaunchKernel", &fn, 12000, 0, &status));
    assert_ptr_equal(fn, cuLaunchKernel);
    OK(cuGetProcAddress("cuLaunchKernel", &v2, 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM,
                        &status));
    assert_ptr_not_equal(fn, v2);
    assert_int_equal(cuGetProcAddress("cuLibraryLoadData", &fn, 11000, 0, &status), CUDA_ERROR_NOT_FOUND);
    assert_int_equal(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    assert_null(fn);
    assert_int_equal(cuGetProcAddress("cuNoSuchThing", &fn, 13000, 0, &status), CUDA_ERROR_NOT_FOUND);
    assert_int_equal(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    // "cuGetProcAddress" itself has two ABIs.
    OK(cuGetProcAddress("cuGetProcAddress", &fn, 11030, 0, &status));
    OK(cuGetProcAddress("cuGetProcAddress", &v2, 12000, 0, &status));
    assert_ptr_not_equal(fn, v2);
    assert_ptr_equal(v2, cuGetProcAddress);
    const void *table = &status;
    assert_int_equal(cuGetExportTable(&table, &(CUuuid){{0}}), CUDA_ERROR_NOT_FOUND);
    assert_null(table);
}

static void test_absent_is_named_once(void **state) {
    (void)state;
    CUtexObject t;
    n_absent = 0;
    assert_int_equal(cuTexObjectCreate(&t, NULL, NULL, NULL), CUDA_ERROR_NOT_SUPPORTED);
    assert_int_equal(cuTexObjectCreate(&t, NULL, NULL, NULL), CUDA_ERROR_NOT_SUPPORTED);
    assert_int_equal(n_absent, 1);
    assert_string_equal(absent[0], "cuTexObjectCreate");
}

// ---- Contexts -----------------------------------------------------------------------------------------------

static void test_contexts(void **state) {
    (void)state;
    CUcontext c, now;
    CUdevice d;
    unsigned version;
    size_t limit;
    OK(cuCtxGetCurrent(&now));
    assert_ptr_equal(now, driver_context);
    OK(cuCtxCreate(&c, NULL, 0, 1));
    OK(cuCtxGetDevice(&d));
    assert_int_equal(d, 1);
    OK(cuCtxGetApiVersion(c, &version));
    OK(cuCtxGetLimit(&limit, CU_LIMIT_STACK_SIZE));
    assert_int_equal(limit, 1024);
    OK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
    OK(cuCtxGetLimit(&limit, CU_LIMIT_STACK_SIZE));
    assert_int_equal(limit, 4096);
    assert_int_equal(cuCtxSetLimit(CU_LIMIT_MAX, 1), CUDA_ERROR_INVALID_VALUE);
    OK(cuCtxPushCurrent(driver_context));
    OK(cuCtxPopCurrent(&now));
    assert_ptr_equal(now, driver_context);
    OK(cuCtxDestroy(c));
    OK(cuCtxGetCurrent(&now));
    assert_ptr_equal(now, driver_context);
    assert_int_equal(cuCtxPushCurrent(c), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuCtxSetCurrent(NULL));
    CUdeviceptr p;
    assert_int_equal(cuMemAlloc(&p, 4), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuCtxSetCurrent(driver_context));
}

// ---- Modules ------------------------------------------------------------------------------------------------

static void test_module(void **state) {
    (void)state;
    CUmodule m;
    CUfunction f;
    CUdeviceptr p;
    size_t size;
    unsigned n, value = 0;
    const char *name;
    OK(cuModuleLoadData(&m, driver_ptx));
    OK(cuModuleGetFunction(&f, m, "fill"));
    OK(cuFuncGetName(&name, f));
    assert_string_equal(name, "fill");
    assert_int_equal(cuModuleGetFunction(&f, m, "nothing"), CUDA_ERROR_NOT_FOUND);
    OK(cuModuleGetFunctionCount(&n, m));
    assert_int_equal(n, 8);
    OK(cuModuleGetGlobal(&p, &size, m, "counter"));
    assert_int_equal(size, 4);
    OK(cuMemcpyDtoH(&value, p, 4));
    assert_int_equal(value, 7);
    assert_int_equal(cuModuleGetGlobal(&p, &size, m, "nothing"), CUDA_ERROR_NOT_FOUND);
    OK(cuModuleUnload(m));
    assert_int_equal(cuModuleGetFunction(&f, m, "fill"), CUDA_ERROR_INVALID_HANDLE);
}

static void test_bad_images(void **state) {
    (void)state;
    CUmodule m;
    char log[512] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof log};
    const char bad[] = ".version 8.0\n.target sm_90\n.address_size 64\n.entry f( { ret; }\n";
    assert_int_equal(cuModuleLoadDataEx(&m, bad, 2, options, values), CUDA_ERROR_INVALID_PTX);
    assert_non_null(strstr(log, ":4:"));
    assert_int_equal((size_t)values[1], strlen(log) + 1);
    // For a later GPU, unresolved, no image at all, machine code.
    assert_int_equal(
        cuModuleLoadData(&m, ".version 8.7\n.target sm_100\n.address_size 64\n.entry f() { ret; }\n"),
        CUDA_ERROR_INVALID_PTX);
    assert_int_equal(
        cuModuleLoadData(&m, ".version 8.0\n.target sm_90\n.address_size 64\n.extern .func nowhere;\n"
                             ".entry f() { call nowhere; ret; }\n"),
        CUDA_ERROR_INVALID_PTX);
    assert_int_equal(cuModuleLoadData(&m, "\x01\x02\x03\x04nonsense"), CUDA_ERROR_INVALID_IMAGE);
    assert_int_equal(cuModuleLoadData(&m, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuModuleLoad(&m, "/nonexistent.ptx"), CUDA_ERROR_FILE_NOT_FOUND);
    unsigned char cubin[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1, 0x33, 7};
    cubin[18] = 190; // EM_CUDA
    assert_int_equal(cuModuleLoadData(&m, cubin), CUDA_ERROR_NO_BINARY_FOR_GPU);
}

static void test_library(void **state) {
    (void)state;
    CUlibrary lib;
    CUkernel k, all[16];
    CUfunction f;
    CUdeviceptr p;
    size_t size, offset;
    unsigned n;
    int value;
    const char *name;
    OK(cuLibraryLoadData(&lib, driver_ptx, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernelCount(&n, lib));
    assert_int_equal(n, 8);
    OK(cuLibraryEnumerateKernels(all, 16, lib));
    OK(cuLibraryGetKernel(&k, lib, "bounded"));
    OK(cuKernelGetName(&name, k));
    assert_string_equal(name, "bounded");
    OK(cuKernelGetFunction(&f, k));
    OK(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, k, 0));
    assert_int_equal(value, 128);
    OK(cuKernelGetParamInfo(k, 1, &offset, &size));
    assert_int_equal(offset, 20);
    assert_int_equal(size, 2);
    assert_int_equal(cuKernelGetParamInfo(k, 2, &offset, &size), CUDA_ERROR_INVALID_VALUE);
    OK(cuLibraryGetGlobal(&p, &size, lib, "scale"));
    assert_int_equal(cuLibraryGetManaged(&p, &size, lib, "scale"), CUDA_ERROR_NOT_FOUND);
    assert_int_equal(cuLibraryGetKernel(&k, lib, "nothing"), CUDA_ERROR_NOT_FOUND);
    // A kernel stands for its function at a launch.
    unsigned factor = 5, out[4] = {0}, five = 5;
    OK(cuLibraryGetGlobal(&p, &size, lib, "scale"));
    OK(cuMemcpyHtoD(p, &factor, 4));
    CUdeviceptr d;
    OK(cuMemAlloc(&d, sizeof out));
    OK(cuLibraryGetKernel(&k, lib, "fill"));
    OK(cuLaunchKernel((CUfunction)k, 1, 1, 1, 4, 1, 1, 0, NULL, (void *[]){&d, &five}, NULL));
    OK(cuMemcpyDtoH(out, d, sizeof out));
    assert_int_equal(out[3], 25);
    OK(cuMemFree(d));
    OK(cuLibraryUnload(lib));
    assert_int_equal(cuLibraryGetKernel(&k, lib, "fill"), CUDA_ERROR_INVALID_HANDLE);
}

static void test_link(void **state) {
    (void)state;
    static const char a[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n.extern .func (.param .b32 r) six ();\n"
        ".visible .entry main(.param .u64 p) { .reg .b32 %r1; .reg .b64 %rd1;\n"
        "ld.param.u64 %rd1, [p]; { .param .b32 v; call.uni (v), six, (); ld.param.b32 %r1, [v]; }\n"
        "st.global.u32 [%rd1], %r1; ret; }\n";
    static const char b[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .func (.param .b32 r) six () {\n"
        ".reg .b32 %r1; mov.u32 %r1, 6; st.param.b32 [r], %r1; ret; }\n";
    CUlinkState link;
    CUmodule m;
    CUfunction f;
    CUdeviceptr d;
    void *image;
    size_t size;
    unsigned out = 0;
    char log[256] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof log};
    OK(cuLinkCreate(2, options, values, &link));
    OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)a, sizeof a, "a", 0, NULL, NULL));
    OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)b, sizeof b, "b", 0, NULL, NULL));
    OK(cuLinkComplete(link, &image, &size));
    OK(cuModuleLoadData(&m, image));
    OK(cuLinkDestroy(link));
    OK(cuModuleGetFunction(&f, m, "main"));
    OK(cuMemAlloc(&d, 4));
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&d}, NULL));
    OK(cuMemcpyDtoH(&out, d, 4));
    assert_int_equal(out, 6);
    OK(cuMemFree(d));
    OK(cuModuleUnload(m));
    values[1] = (void *)(uintptr_t)sizeof log; // it came back as the length written
    OK(cuLinkCreate(2, options, values, &link));
    assert_int_equal(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)".version x", 10, "c", 0, NULL, NULL),
                     CUDA_ERROR_INVALID_PTX);
    assert_true(log[0] != 0);
    OK(cuLinkDestroy(link));
}

// ---- Memory -------------------------------------------------------------------------------------------------

static void test_memory(void **state) {
    (void)state;
    CUdeviceptr d, base;
    size_t size, free_bytes, total;
    unsigned char in[300], out[300];
    OK(cuMemAlloc(&d, 300));
    for (int i = 0; i < 300; i++)
        in[i] = (unsigned char)(i * 7);
    OK(cuMemcpyHtoD(d, in, 300));
    OK(cuMemcpyDtoH(out, d, 300));
    assert_memory_equal(in, out, 300);
    // [EM-121] Exact to the byte, before and behind.
    assert_int_equal(cuMemcpyHtoD(d, in, 301), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemcpyDtoH(out, d + 1, 300), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemcpyDtoH(out, d - 1, 2), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemsetD8(d, 0, 301), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemcpyHtoD(0, in, 1), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemcpyHtoD(d, NULL, 1), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemcpyHtoD(d, in, 0));
    OK(cuMemGetAddressRange(&base, &size, d + 17));
    assert_int_equal(base, d);
    assert_int_equal(size, 300);
    OK(cuMemGetInfo(&free_bytes, &total));
    assert_true(free_bytes < total);
    OK(cuMemFree(d));
    assert_int_equal(cuMemFree(d), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemcpyDtoH(out, d, 1), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemcpy((CUdeviceptr)(uintptr_t)out, d, 1), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree(0));
    assert_int_equal(cuMemAlloc(&d, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemAlloc(&d, (size_t)1 << 60), CUDA_ERROR_OUT_OF_MEMORY);
    CUdeviceptr counter;
    OK(cuModuleGetGlobal(&counter, NULL, driver_module, "counter"));
    assert_int_equal(cuMemFree(counter), CUDA_ERROR_INVALID_VALUE);
}

static void test_memset(void **state) {
    (void)state;
    CUdeviceptr d;
    size_t pitch;
    uint32_t out[64];
    OK(cuMemAlloc(&d, sizeof out));
    OK(cuMemsetD32(d, 0xdeadbeef, 64));
    OK(cuMemsetD16(d + 4, 0x1234, 2));
    OK(cuMemsetD8(d, 0xff, 1));
    OK(cuMemcpyDtoH(out, d, sizeof out));
    assert_int_equal(out[0], 0xdeadbeff);
    assert_int_equal(out[1], 0x12341234);
    assert_int_equal(out[63], 0xdeadbeef);
    assert_int_equal(cuMemsetD32(d + 2, 0, 1), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree(d));
    OK(cuMemAllocPitch(&d, &pitch, 20, 5, 4));
    assert_int_equal(pitch % 512, 0);
    OK(cuMemsetD2D32(d, pitch, 9, 5, 5));
    OK(cuMemsetD2D8(d + pitch, pitch, 0, 20, 1));
    CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                       .srcDevice = d,
                       .srcPitch = pitch,
                       .dstMemoryType = CU_MEMORYTYPE_HOST,
                       .dstHost = out,
                       .dstPitch = 20,
                       .WidthInBytes = 20,
                       .Height = 3};
    OK(cuMemcpy2D(&c));
    assert_int_equal(out[4], 9);
    assert_int_equal(out[5], 0);
    assert_int_equal(out[9], 0);
    assert_int_equal(out[14], 9);
    c.srcPitch = 8;
    assert_int_equal(cuMemcpy2D(&c), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree(d));
}

static void test_copy_3d(void **state) {
    (void)state;
    // A box of 2 x 3 x 2 bytes out of one of 4 x 5 x 3.
    unsigned char in[60], out[12];
    CUdeviceptr d;
    for (unsigned i = 0; i < 60; i++)
        in[i] = (unsigned char)i;
    OK(cuMemAlloc(&d, sizeof in));
    OK(cuMemcpyHtoD(d, in, sizeof in));
    CUDA_MEMCPY3D c = {.srcXInBytes = 1,
                       .srcY = 2,
                       .srcZ = 1,
                       .srcMemoryType = CU_MEMORYTYPE_DEVICE,
                       .srcDevice = d,
                       .srcPitch = 4,
                       .srcHeight = 5,
                       .dstMemoryType = CU_MEMORYTYPE_HOST,
                       .dstHost = out,
                       .dstPitch = 2,
                       .dstHeight = 3,
                       .WidthInBytes = 2,
                       .Height = 3,
                       .Depth = 2};
    OK(cuMemcpy3D(&c));
    for (unsigned z = 0, i = 0; z < 2; z++)
        for (unsigned y = 0; y < 3; y++)
            for (unsigned x = 0; x < 2; x++)
                assert_int_equal(out[i++], (z + 1) * 20 + (y + 2) * 4 + x + 1);
    c.srcZ = 2;
    assert_int_equal(cuMemcpy3D(&c), CUDA_ERROR_INVALID_VALUE);
    c.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    assert_int_equal(cuMemcpy3D(&c), CUDA_ERROR_NOT_SUPPORTED);
    OK(cuMemFree(d));
}

static void test_host_memory(void **state) {
    (void)state;
    unsigned *p, *q;
    CUdeviceptr d, m;
    unsigned flags, two = 2;
    static unsigned own[1024];
    OK(cuMemHostAlloc((void **)&p, 64, CU_MEMHOSTALLOC_PORTABLE));
    p[0] = 11; // the host's too
    OK(cuMemHostGetDevicePointer(&d, p, 0));
    OK(driver_launch("fill", 1, 4, NULL, (void *[]){&d, &two}));
    OK(cuCtxSynchronize());
    assert_int_equal(p[3], 6);
    OK(cuMemHostGetFlags(&flags, p));
    assert_true(flags & CU_MEMHOSTALLOC_PORTABLE);
    assert_int_equal(cuMemFree((CUdeviceptr)(uintptr_t)p), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFreeHost(p));
    OK(cuMemHostRegister(own, sizeof own, 0));
    assert_int_equal(cuMemHostRegister(own, sizeof own, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    OK(cuMemHostGetDevicePointer(&d, own, 0));
    OK(driver_launch("fill", 8, 128, NULL, (void *[]){&d, &two}));
    OK(cuCtxSynchronize());
    assert_int_equal(own[1023], 6);
    OK(cuMemHostUnregister(own));
    assert_int_equal(cuMemHostUnregister(own), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    OK(cuMemAllocManaged(&m, 64, CU_MEM_ATTACH_GLOBAL));
    q = (unsigned *)(uintptr_t)m;
    OK(driver_launch("fill", 1, 4, NULL, (void *[]){&m, &two}));
    OK(cuCtxSynchronize());
    assert_int_equal(q[3], 6);
    OK(cuMemAdvise(m, 64, CU_MEM_ADVISE_SET_READ_MOSTLY,
                   (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE}));
    OK(cuMemPrefetchAsync(m, 64, (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_HOST}, 0, NULL));
    OK(cuMemFree(m));
}

static void test_pointer_attributes(void **state) {
    (void)state;
    CUdeviceptr d, m;
    CUmemorytype type;
    bool managed;
    int ordinal, local;
    void *host;
    OK(cuMemAlloc(&d, 8));
    OK(cuMemAllocManaged(&m, 8, CU_MEM_ATTACH_GLOBAL));
    CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                   CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_HOST_POINTER};
    void *data[] = {&type, &managed, &ordinal, &host};
    OK(cuPointerGetAttributes(4, which, data, d + 3));
    assert_int_equal(type, CU_MEMORYTYPE_DEVICE);
    assert_false(managed);
    assert_int_equal(ordinal, 0);
    assert_null(host);
    OK(cuPointerGetAttributes(4, which, data, m));
    assert_true(managed);
    assert_int_equal((CUdeviceptr)(uintptr_t)host, m);
    OK(cuPointerGetAttributes(4, which, data, (CUdeviceptr)(uintptr_t)&local));
    assert_int_equal(type, 0);
    assert_int_equal(
        cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)&local),
        CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree(d));
    OK(cuMemFree(m));
}

// ---- Launches -----------------------------------------------------------------------------------------------

static void test_launch(void **state) {
    (void)state;
    CUdeviceptr d;
    unsigned out[256], seven = 7;
    OK(cuMemAlloc(&d, sizeof out));
    OK(driver_launch("fill", 2, 128, NULL, (void *[]){&d, &seven}));
    OK(cuMemcpyDtoH(out, d, sizeof out));
    for (int i = 0; i < 256; i++)
        assert_int_equal(out[i], 21);
    // The caller's own parameter buffer.
    struct {
        CUdeviceptr p;
        unsigned value;
    } buffer = {d, 8};
    size_t size = 12;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    OK(cuLaunchKernel(driver_kernel("fill"), 1, 1, 1, 32, 1, 1, 0, NULL, NULL, extra));
    OK(cuMemcpyDtoH(out, d, sizeof out));
    assert_int_equal(out[31], 24);
    assert_int_equal(out[32], 21);
    CUlaunchAttribute attr = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value = {.cooperative = 1}};
    CUlaunchConfig config = {.gridDimX = 2,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 32,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .attrs = &attr,
                             .numAttrs = 1};
    OK(cuLaunchKernelEx(&config, driver_kernel("fill"), (void *[]){&d, &seven}, NULL));
    OK(cuCtxSynchronize());
    config.gridDimX = 1 << 24;
    assert_int_equal(cuLaunchKernelEx(&config, driver_kernel("fill"), (void *[]){&d, &seven}, NULL),
                     CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    OK(cuMemFree(d));
}

static void test_launch_errors(void **state) {
    (void)state;
    CUfunction f = driver_kernel("fill"), bounded = driver_kernel("bounded"), fixed = driver_kernel("fixed");
    CUdeviceptr d = 0;
    unsigned v = 0;
    void *params[] = {&d, &v};
    char s[20] = "";
    short h = 0;
    void *bounded_params[] = {s, &h};
    const struct {
        unsigned g[3], b[3], shared;
    } bad[] = {{{0, 1, 1}, {1, 1, 1}, 0},       {{1, 1, 1}, {0, 1, 1}, 0},    {{1, 65536, 1}, {1, 1, 1}, 0},
               {{1, 1, 1}, {1025, 1, 1}, 0},    {{1, 1, 1}, {64, 64, 1}, 0},  {{1, 1, 1}, {1, 1, 65}, 0},
               {{1, 1, 1}, {1, 1, 1}, 1 << 20}, {{1, 1, 1}, {1, 1, 1}, 49153}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(cuLaunchKernel(f, bad[i].g[0], bad[i].g[1], bad[i].g[2], bad[i].b[0], bad[i].b[1],
                                        bad[i].b[2], bad[i].shared, NULL, params, NULL),
                         CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL),
                     CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, (CUstream)0x1234, params, NULL),
                     CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(cuLaunchKernel(bounded, 1, 1, 1, 256, 1, 1, 0, NULL, bounded_params, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    OK(cuLaunchKernel(bounded, 1, 1, 1, 128, 1, 1, 0, NULL, bounded_params, NULL));
    assert_int_equal(cuLaunchKernel(fixed, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cuLaunchKernel(fixed, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
    // More shared memory than 48 KiB has to be asked for.
    OK(cuFuncSetAttribute(fixed, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000));
    OK(cuLaunchKernel(fixed, 1, 1, 1, 64, 1, 1, 100000, NULL, NULL, NULL));
    assert_int_equal(cuFuncSetAttribute(fixed, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 20),
                     CUDA_ERROR_INVALID_VALUE);
    OK(cuCtxSynchronize());
}

static void test_occupancy(void **state) {
    (void)state;
    int blocks, grid, block, sms;
    CUfunction f = driver_kernel("fill");
    OK(cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 1024, 0));
    assert_true(blocks >= 1 && blocks <= 2);
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, f, NULL, 0, 0));
    assert_true(block % 32 == 0 && block >= 256);
    assert_int_equal(grid % sms, 0);
    assert_int_equal(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 0, 0), CUDA_ERROR_INVALID_VALUE);
}

static void test_two_devices(void **state) {
    (void)state;
    CUcontext c;
    CUmodule m;
    CUfunction f;
    CUstream s;
    CUevent e;
    CUdeviceptr here, there;
    unsigned out[64], nine = 9;
    OK(cuMemAlloc(&here, sizeof out));
    OK(cuEventCreate(&e, 0));
    OK(driver_launch("fill", 1, 64, NULL, (void *[]){&here, &nine}));
    OK(cuEventRecord(e, NULL));
    OK(cuDevicePrimaryCtxRetain(&c, 1));
    OK(cuCtxPushCurrent(c));
    OK(cuModuleLoadData(&m, driver_ptx));
    OK(cuModuleGetFunction(&f, m, "fill"));
    OK(cuMemAlloc(&there, sizeof out));
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    assert_int_equal(cuEventRecord(e, s), CUDA_ERROR_INVALID_HANDLE); // an event of the other device
    OK(cuStreamWaitEvent(s, e, 0));
    OK(cuMemcpyPeerAsync(there, c, here, driver_context, sizeof out, s));
    OK(cuStreamSynchronize(s));
    OK(cuMemcpyDtoH(out, there, sizeof out));
    assert_int_equal(out[63], 27);
    // A function of one context in a stream of another.
    assert_int_equal(
        cuLaunchKernel(driver_kernel("fill"), 1, 1, 1, 1, 1, 1, 0, s, (void *[]){&there, &nine}, NULL),
        CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(cuCtxEnablePeerAccess(c, 0), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
    OK(cuCtxEnablePeerAccess(driver_context, 0));
    OK(cuLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, s, (void *[]){&here, &nine}, NULL)); // one address space
    OK(cuStreamSynchronize(s));
    assert_int_equal(cuCtxEnablePeerAccess(driver_context, 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    OK(cuCtxPopCurrent(NULL));
    OK(cuMemFree(here));
    OK(cuEventDestroy(e));
    OK(cuDevicePrimaryCtxRelease(1));
    int active;
    unsigned flags;
    OK(cuDevicePrimaryCtxGetState(1, &flags, &active));
    assert_false(active);
}

// ---- Faults: last, as they spoil the context, in its own --------------------------------------------------------

// [EM-116] The fault is the tool's to hear, and every later call's answer, until the context is made anew.
static void test_fault(void **state) {
    (void)state;
    CUcontext c;
    CUmodule m;
    CUfunction f;
    CUdeviceptr d;
    uint64_t before = gr_cpu_device_launches(NULL);
    OK(cuCtxCreate(&c, NULL, 0, 0));
    OK(cuModuleLoadData(&m, driver_ptx));
    OK(cuModuleGetFunction(&f, m, "poke"));
    OK(cuMemAlloc(&d, 400));
    CUdeviceptr past = d + 400;
    n_faults = 0;
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&past}, NULL));
    assert_int_equal(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(n_faults, 1);
    assert_int_equal(last_fault.code, CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_string_equal(last_fault.kind, "illegal address");
    assert_string_equal(fault_kernel, "poke");
    assert_int_equal(last_fault.address, past);
    assert_int_equal(last_fault.launch, before + 1); // [EM-117]
    assert_true(strlen(fault_text) > 0);
    assert_int_equal(cuMemAlloc(&past, 4), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(cuStreamSynchronize(NULL), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&past}, NULL),
                     CUDA_ERROR_ILLEGAL_ADDRESS);
    // Other contexts do not notice.
    OK(cuCtxPushCurrent(driver_context));
    OK(cuCtxSynchronize());
    OK(cuCtxPopCurrent(NULL));
    OK(cuCtxDestroy(c));
    // Misaligned, in the primary context, which a reset repairs.
    OK(cuMemAlloc(&d, 16));
    d += 2;
    OK(driver_launch("poke", 1, 1, NULL, (void *[]){&d}));
    assert_int_equal(cuCtxSynchronize(), CUDA_ERROR_MISALIGNED_ADDRESS);
    OK(cuDevicePrimaryCtxReset(0));
    OK(cuCtxSynchronize());
    OK(cuModuleLoadData(&driver_module, driver_ptx));
}

static void test_watchdog(void **state) {
    (void)state;
    n_faults = 0;
    OK(driver_launch("forever", 1, 32, NULL, NULL));
    assert_int_equal(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_TIMEOUT);
    assert_int_equal(n_faults, 1);
    assert_string_equal(fault_kernel, "forever");
    OK(cuDevicePrimaryCtxReset(0));
    OK(cuModuleLoadData(&driver_module, driver_ptx));
}

// ---- Settings, each in a process of its own ----------------------------------------------------------------------

// What cuInit says in a child with these settings.
static int init_with(const char *settings) {
    fflush(NULL);
    char command[512], self[256];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(n > 0);
    self[n] = 0;
    snprintf(command, sizeof command, "GPURACE_CPU_DEVICE='%s' '%s' init 2>&1", settings, self);
    FILE *f = popen(command, "r"); // NOLINT(cert-env33-c): a test names itself
    assert_non_null(f);
    char line[256] = "";
    while (fgets(line, sizeof line, f))
        snprintf(fault_text, sizeof fault_text, "%s", line);
    return WEXITSTATUS(pclose(f));
}

static void test_settings(void **state) {
    (void)state;
    assert_int_equal(init_with("seed=7,split=0,quantum=10,devices=3"), 3);
    assert_int_equal(init_with(""), 1);
    assert_int_equal(init_with("sede=7"), 101);
    assert_non_null(strstr(fault_text, "unknown setting 'sede'"));
    assert_int_equal(init_with("seed=x"), 101);
    assert_non_null(strstr(fault_text, "'seed'"));
    assert_int_equal(init_with("devices=0"), 101);
    assert_int_equal(init_with("seed"), 101);
    char message[128];
    assert_int_equal(gr_cpu_device_config("seed=2", message, sizeof message), -1); // too late here
    assert_non_null(strstr(message, "in use"));
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "init") == 0) {
        int n;
        if (cuDeviceGetCount(&n) != CUDA_ERROR_NOT_INITIALIZED)
            return 102;
        if (cuInit(0) != CUDA_SUCCESS)
            return 101;
        return cuDeviceGetCount(&n) == CUDA_SUCCESS ? n : 103;
    }
    setenv("GPURACE_CPU_DEVICE", "seed=3,devices=2,watchdog=50000000", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_device),
        cmocka_unit_test(test_error_names),
        cmocka_unit_test(test_get_proc_address),
        cmocka_unit_test(test_absent_is_named_once),
        cmocka_unit_test(test_contexts),
        cmocka_unit_test(test_module),
        cmocka_unit_test(test_bad_images),
        cmocka_unit_test(test_library),
        cmocka_unit_test(test_link),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_memset),
        cmocka_unit_test(test_copy_3d),
        cmocka_unit_test(test_host_memory),
        cmocka_unit_test(test_pointer_attributes),
        cmocka_unit_test(test_launch),
        cmocka_unit_test(test_launch_errors),
        cmocka_unit_test(test_occupancy),
        cmocka_unit_test(test_two_devices),
        cmocka_unit_test(test_fault),
        cmocka_unit_test(test_watchdog),
        cmocka_unit_test(test_settings),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
