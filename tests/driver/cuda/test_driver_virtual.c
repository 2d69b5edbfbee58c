// SPDX-License-Identifier: Apache-2.0
// Virtual memory management: reserved addresses, memory with a handle, mappings and access. [EM-160] [EM-161]
#include "driver_common.h"

#include "device_api/hooks.h"

#define MIB ((size_t)1 << 20)

static unsigned n_notes;
static char last_note[256];
static unsigned n_freed;
static uint64_t last_freed, last_freed_size;

void gr_api_note(const char *what) {
    snprintf(last_note, sizeof last_note, "%s", what);
    n_notes++;
}

static void hear(void *user, const GrWork *w) {
    (void)user;
    if (w->kind != GR_WORK_FREED)
        return;
    n_freed++;
    last_freed = w->to.at;
    last_freed_size = w->to.width;
}

static int group_start(void **state) {
    (void)state;
    driver_start();
    assert_int_equal(gr_cpu_device_observe_work(hear, NULL), 0);
    return 0;
}

static const CUmemAllocationProp on_device = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                              .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};

static CUdeviceptr reserve(size_t size) {
    CUdeviceptr at = 0;
    OK(cuMemAddressReserve(&at, size, 0, 0, 0));
    return at;
}

static CUmemGenericAllocationHandle create(size_t size) {
    CUmemGenericAllocationHandle h = 0;
    OK(cuMemCreate(&h, size, &on_device, 0));
    return h;
}

static CUresult access(CUdeviceptr at, size_t size, CUmemAccess_flags flags) {
    CUmemAccessDesc d = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, flags};
    return cuMemSetAccess(at, size, &d, 1);
}

#define READ_WRITE CU_MEM_ACCESS_FLAGS_PROT_READWRITE

// Maps new memory, which goes when it is unmapped, and gives access.
static void place(CUdeviceptr at, size_t size) {
    CUmemGenericAllocationHandle h = create(size);
    OK(cuMemMap(at, size, 0, h, 0));
    OK(cuMemRelease(h));
    OK(access(at, size, READ_WRITE));
}

static size_t bytes_used(void) {
    size_t free_bytes, total;
    OK(cuMemGetInfo(&free_bytes, &total));
    return total - free_bytes;
}

static unsigned word_at(CUdeviceptr at) {
    unsigned v;
    OK(cuMemcpyDtoH(&v, at, 4));
    return v;
}

static void fill(CUdeviceptr at, unsigned value, unsigned words) {
    OK(driver_launch("fill", words / 256, 256, NULL, (void *[]){&at, &value}));
}

// ---- Addresses -----------------------------------------------------------------------------------------------

static void test_reserve(void **state) {
    (void)state;
    CUdeviceptr at, other;
    int yes = 0;
    OK(cuDeviceGetAttribute(&yes, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0));
    assert_int_equal(yes, 1);
    static const struct {
        size_t size, align;
        CUdeviceptr hint;
        unsigned long long flags;
    } bad[] = {{0, 0, 0, 0},         {4096, 0, 0, 0},    {MIB, 0, 0, 0},
               {3 * MIB, 0, 0, 0},   {2 * MIB, 3, 0, 0}, {2 * MIB, 0, 4097, 0},
               {2 * MIB, 0, MIB, 0}, {2 * MIB, 0, 0, 1}, {(size_t)1 << 60, 0, 0, 0}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(cuMemAddressReserve(&at, bad[i].size, bad[i].align, bad[i].hint, bad[i].flags),
                         bad[i].size >> 60 ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemAddressReserve(NULL, 2 * MIB, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemAddressReserve(&at, 2 * MIB, 4096, 0, 0));
    assert_int_equal(at % (2 * MIB), 0);
    // The neighbour as a hint; and where something is already.
    OK(cuMemAddressReserve(&other, 2 * MIB, 0, at + 2 * MIB, 0));
    assert_int_equal(other, at + 2 * MIB);
    CUdeviceptr third;
    OK(cuMemAddressReserve(&third, 2 * MIB, 0, at, 0));
    assert_true(third >= other + 2 * MIB || third + 2 * MIB <= at);
    OK(cuMemAddressFree(third, 2 * MIB));
    OK(cuMemAddressFree(other, 2 * MIB));
    assert_int_equal(cuMemAddressFree(at, 4 * MIB), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemAddressFree(at + MIB, MIB), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemAddressFree(at, 2 * MIB));
    assert_int_equal(cuMemAddressFree(at, 2 * MIB), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemAddressReserve(&at, 64 * MIB, (size_t)1 << 30, 0, 0));
    assert_int_equal(at % ((size_t)1 << 30), 0);
    OK(cuMemAddressFree(at, 64 * MIB));
}

static void test_reserve_much(void **state) { // it takes no memory
    (void)state;
#ifdef __SANITIZE_THREAD__
    const size_t size = (size_t)64 << 30; // more addresses are not left
#else
    const size_t size = (size_t)633 << 30;
#endif
    size_t before = bytes_used();
    CUdeviceptr at = reserve(size);
    assert_int_equal(bytes_used(), before);
    place(at + size - 4 * MIB, 4 * MIB);
    fill(at + size - 4096, 5, 1024);
    assert_int_equal(word_at(at + size - 4), 15);
    assert_int_equal(cuMemAddressFree(at, size), CUDA_ERROR_INVALID_VALUE); // something is mapped
    OK(cuMemUnmap(at, size));
    OK(cuMemAddressFree(at, size));
    assert_int_equal(bytes_used(), before);
}

// ---- Memory --------------------------------------------------------------------------------------------------

static void test_create(void **state) {
    (void)state;
    CUmemGenericAllocationHandle h;
    size_t n = 0, before = bytes_used();
    OK(cuMemGetAllocationGranularity(&n, &on_device, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    assert_int_equal(n, 2 * MIB);
    n = 0;
    OK(cuMemGetAllocationGranularity(&n, &on_device, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    assert_int_equal(n, 2 * MIB);
    assert_int_equal(cuMemGetAllocationGranularity(&n, &on_device, (CUmemAllocationGranularity_flags)7),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemCreate(&h, MIB, &on_device, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemCreate(&h, 0, &on_device, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemCreate(&h, 2 * MIB, &on_device, 1), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemCreate(&h, (size_t)1 << 45, &on_device, 0), CUDA_ERROR_OUT_OF_MEMORY);
    CUmemAllocationProp p = on_device;
    p.location.id = 99;
    assert_int_equal(cuMemCreate(&h, 2 * MIB, &p, 0), CUDA_ERROR_INVALID_DEVICE);
    p = on_device;
    p.type = CU_MEM_ALLOCATION_TYPE_INVALID;
    assert_int_equal(cuMemCreate(&h, 2 * MIB, &p, 0), CUDA_ERROR_INVALID_VALUE);
    p = on_device;
    p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    assert_int_equal(cuMemCreate(&h, 2 * MIB, &p, 0), CUDA_ERROR_NOT_SUPPORTED);
    p = on_device;
    p.location.type = CU_MEM_LOCATION_TYPE_HOST;
    assert_int_equal(cuMemCreate(&h, 2 * MIB, &p, 0), CUDA_ERROR_NOT_SUPPORTED);
    assert_int_equal(bytes_used(), before);
    h = create(4 * MIB);
    assert_int_equal(bytes_used(), before + 4 * MIB);
    OK(cuMemGetAllocationPropertiesFromHandle(&p, h));
    assert_int_equal(p.type, on_device.type);
    assert_int_equal(p.location.id, 0);
    int fd;
    assert_int_equal(cuMemExportToShareableHandle(&fd, h, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
                     CUDA_ERROR_NOT_SUPPORTED);
    OK(cuMemRelease(h));
    assert_int_equal(bytes_used(), before);
    assert_int_equal(cuMemRelease(h), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemGetAllocationPropertiesFromHandle(&p, h), CUDA_ERROR_INVALID_VALUE);
}

static void test_lives_until_released_and_unmapped(void **state) {
    (void)state;
    size_t before = bytes_used();
    CUdeviceptr at = reserve(16 * MIB);
    CUmemGenericAllocationHandle h = create(4 * MIB), again, other;
    OK(cuMemMap(at, 4 * MIB, 0, h, 0));
    OK(cuMemRelease(h));
    OK(access(at, 4 * MIB, READ_WRITE));
    assert_int_equal(bytes_used(), before + 4 * MIB);
    assert_int_equal(cuMemMap(at + 8 * MIB, 4 * MIB, 0, h, 0), CUDA_ERROR_INVALID_VALUE); // released
    OK(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)(at + 5)));
    assert_int_equal(again, h);
    OK(cuMemRetainAllocationHandle(&other, (void *)(uintptr_t)(at + MIB)));
    OK(cuMemRelease(h));
    fill(at, 2, 256);
    OK(cuMemUnmap(at, 4 * MIB));
    assert_int_equal(bytes_used(), before + 4 * MIB); // there is a reference
    OK(cuMemMap(at + 8 * MIB, 4 * MIB, 0, h, 0));
    OK(access(at + 8 * MIB, 4 * MIB, READ_WRITE));
    assert_int_equal(word_at(at + 8 * MIB), 6); // what was written at the first place
    OK(cuMemRelease(h));
    OK(cuMemUnmap(at, 16 * MIB));
    assert_int_equal(bytes_used(), before);
    assert_int_equal(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)at), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemAddressFree(at, 16 * MIB));
}

// ---- Mappings ------------------------------------------------------------------------------------------------

static void test_map(void **state) {
    (void)state;
    CUdeviceptr at = reserve(64 * MIB);
    CUmemGenericAllocationHandle h = create(4 * MIB), h2 = create(4 * MIB);
    assert_int_equal(cuMemMap((CUdeviceptr)1 << 44, 4 * MIB, 0, h, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemMap(at + MIB, 4 * MIB, 0, h, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemMap(at + 62 * MIB, 4 * MIB, 0, h, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemMap(at, 4 * MIB, 0, h, 1), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemMap(at, 0, 0, h, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemMap(at, 4 * MIB, 0, 7, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemMap(at, 6 * MIB, 0, h, 0), CUDA_ERROR_NOT_SUPPORTED);
    assert_int_equal(cuMemMap(at, 2 * MIB, 0, h, 0), CUDA_ERROR_NOT_SUPPORTED);
    assert_int_equal(cuMemMap(at, 2 * MIB, 2 * MIB, h, 0), CUDA_ERROR_NOT_SUPPORTED);
    OK(cuMemMap(at, 4 * MIB, 0, h, 0));
    assert_int_equal(cuMemMap(at, 4 * MIB, 0, h, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemMap(at + 2 * MIB, 4 * MIB, 0, h2, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemMap(at + 4 * MIB, 4 * MIB, 0, h2, 0));
    assert_int_equal(access(at, 2 * MIB, READ_WRITE), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(access(at, 16 * MIB, READ_WRITE), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(access(at + 32 * MIB, 2 * MIB, READ_WRITE), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(access(at, 8 * MIB, (CUmemAccess_flags)2), CUDA_ERROR_INVALID_VALUE);
    CUmemAccessDesc d = {{CU_MEM_LOCATION_TYPE_DEVICE, 99}, READ_WRITE};
    assert_int_equal(cuMemSetAccess(at, 8 * MIB, &d, 1), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemSetAccess(at, 8 * MIB, &d, 0), CUDA_ERROR_INVALID_VALUE);
    d = (CUmemAccessDesc){{CU_MEM_LOCATION_TYPE_HOST, 0}, READ_WRITE};
    assert_int_equal(cuMemSetAccess(at, 8 * MIB, &d, 1), CUDA_ERROR_NOT_SUPPORTED);
    OK(access(at, 8 * MIB, READ_WRITE));
    // Over both: a memset, a kernel, a copy.
    static unsigned char bytes[8 * MIB];
    OK(cuMemsetD8(at, 5, 8 * MIB));
    OK(cuMemcpyDtoH(bytes, at, 8 * MIB));
    assert_int_equal(bytes[0] + bytes[4 * MIB] + bytes[8 * MIB - 1], 15);
    fill(at + 4 * MIB - 512, 4, 256);
    assert_int_equal(word_at(at + 4 * MIB - 4), 12);
    assert_int_equal(word_at(at + 4 * MIB), 12);
    assert_int_equal(cuMemcpyDtoH(bytes, at + 4 * MIB, 8 * MIB), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemFree(at), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemUnmap(at, 2 * MIB), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemUnmap(at + 2 * MIB, 4 * MIB), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemUnmap(at, 66 * MIB), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemUnmap(at + 4 * MIB, 4 * MIB));
    assert_int_equal(cuMemcpyDtoH(bytes, at, 8 * MIB), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemcpyDtoH(bytes, at, 4 * MIB));
    OK(cuMemUnmap(at, 16 * MIB)); // a part of it is not mapped
    assert_int_equal(cuMemcpyDtoH(bytes, at, 4), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemcpyHtoD(at, bytes, 4), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemUnmap(at, 4 * MIB)); // as a GPU's driver, which has nothing to do
    OK(cuMemAddressFree(at, 64 * MIB));
    assert_int_equal(cuMemUnmap(at, 4 * MIB), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemRelease(h));
    OK(cuMemRelease(h2));
}

static void test_aliases(void **state) {
    (void)state;
    CUdeviceptr at = reserve(8 * MIB);
    CUmemGenericAllocationHandle h = create(2 * MIB);
    n_notes = 0;
    OK(cuMemMap(at, 2 * MIB, 0, h, 0));
    OK(access(at, 2 * MIB, READ_WRITE));
    assert_int_equal(n_notes, 0);
    OK(cuMemMap(at + 4 * MIB, 2 * MIB, 0, h, 0));
    OK(access(at + 4 * MIB, 2 * MIB, READ_WRITE));
    assert_int_equal(n_notes, 1);
    assert_non_null(strstr(last_note, "maps the same memory to several addresses"));
    fill(at, 7, 256);
    assert_int_equal(word_at(at + 4 * MIB + 1020), 21);
    OK(cuMemUnmap(at, 2 * MIB));
    assert_int_equal(word_at(at + 4 * MIB), 21);
    OK(cuMemUnmap(at + 4 * MIB, 2 * MIB));
    OK(cuMemRelease(h));
    OK(cuMemAddressFree(at, 8 * MIB));
}

// What was mapped is gone, and what is mapped there later is new.
static void test_listeners(void **state) {
    (void)state;
    CUdeviceptr at = reserve(4 * MIB);
    place(at, 2 * MIB);
    fill(at, 7, 256);
    n_freed = 0;
    OK(cuMemUnmap(at, 2 * MIB));
    assert_int_equal(n_freed, 1);
    assert_int_equal(last_freed, at);
    assert_int_equal(last_freed_size, 2 * MIB);
    CUmemGenericAllocationHandle h = create(2 * MIB);
    OK(cuMemMap(at, 2 * MIB, 0, h, 0));
    OK(cuMemUnmap(at, 2 * MIB)); // nothing could be used there
    assert_int_equal(n_freed, 1);
    OK(cuMemMap(at, 2 * MIB, 0, h, 0));
    OK(access(at, 2 * MIB, READ_WRITE));
    assert_int_equal(word_at(at), 0);
    OK(access(at, 2 * MIB, CU_MEM_ACCESS_FLAGS_PROT_NONE));
    assert_int_equal(n_freed, 2);
    OK(cuMemUnmap(at, 2 * MIB));
    assert_int_equal(n_freed, 2);
    OK(cuMemRelease(h));
    OK(cuMemAddressFree(at, 4 * MIB));
}

// ---- What is known of addresses --------------------------------------------------------------------------------

static uint64_t attribute(CUpointer_attribute a, CUdeviceptr p) {
    uint64_t v = 0;
    OK(cuPointerGetAttribute(&v, a, p));
    return v;
}

static unsigned long long access_of(CUdeviceptr p) {
    unsigned long long flags = 99;
    OK(cuMemGetAccess(&flags, &on_device.location, p));
    return flags;
}

static void test_attributes(void **state) {
    (void)state;
    CUdeviceptr at = reserve(16 * MIB), base = 0;
    unsigned long long flags;
    size_t size = 0;
    uint64_t v;
    assert_int_equal(cuMemGetAccess(&flags, &on_device.location, at), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuPointerGetAttribute(&v, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at),
                     CUDA_ERROR_INVALID_VALUE);
    CUmemGenericAllocationHandle h = create(2 * MIB), h2 = create(2 * MIB);
    OK(cuMemMap(at + 2 * MIB, 2 * MIB, 0, h, 0));
    OK(cuMemMap(at + 4 * MIB, 2 * MIB, 0, h2, 0));
    assert_int_equal(access_of(at + 2 * MIB), CU_MEM_ACCESS_FLAGS_PROT_NONE);
    assert_int_equal(attribute(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at + 2 * MIB), CU_MEMORYTYPE_DEVICE);
    assert_int_equal(attribute(CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, at + 2 * MIB), 0);
    assert_int_equal(cuPointerGetAttribute(&v, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, at + 2 * MIB),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemGetAddressRange(&base, &size, at + 2 * MIB), CUDA_ERROR_NOT_FOUND);
    OK(access(at + 2 * MIB, 4 * MIB, READ_WRITE));
    assert_int_equal(access_of(at + 2 * MIB), READ_WRITE);
    CUdeviceptr p = at + 4 * MIB + 5;
    OK(cuMemGetAddressRange(&base, &size, p));
    assert_int_equal(base, at + 4 * MIB);
    assert_int_equal(size, 2 * MIB);
    assert_int_equal(attribute(CU_POINTER_ATTRIBUTE_DEVICE_POINTER, p), p);
    assert_int_equal(attribute(CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, p), at + 4 * MIB);
    assert_int_equal(attribute(CU_POINTER_ATTRIBUTE_MAPPING_SIZE, p), 2 * MIB);
    assert_int_equal(attribute(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, p), at);
    assert_int_equal(attribute(CU_POINTER_ATTRIBUTE_RANGE_SIZE, p), 16 * MIB);
    assert_int_equal(attribute(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p), 0);
    assert_int_equal(attribute(CU_POINTER_ATTRIBUTE_IS_MANAGED, p), 0);
    assert_int_equal(attribute(CU_POINTER_ATTRIBUTE_MAPPED, p), 1);
    assert_int_equal(attribute(CU_POINTER_ATTRIBUTE_CONTEXT, p), 0);
    assert_int_equal(attribute(CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, p), 3);
    assert_int_not_equal(attribute(CU_POINTER_ATTRIBUTE_BUFFER_ID, p),
                         attribute(CU_POINTER_ATTRIBUTE_BUFFER_ID, at + 2 * MIB));
    assert_int_equal(cuPointerGetAttribute(&v, CU_POINTER_ATTRIBUTE_HOST_POINTER, p),
                     CUDA_ERROR_INVALID_VALUE);
    CUmemorytype type = 0;
    void *host = &type;
    OK(cuPointerGetAttributes(
        2, (CUpointer_attribute[]){CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_HOST_POINTER},
        (void *[]){&type, &host}, p));
    assert_int_equal(type, CU_MEMORYTYPE_DEVICE);
    assert_null(host);
    CUmemLocation bad = {CU_MEM_LOCATION_TYPE_DEVICE, 99};
    assert_int_equal(cuMemGetAccess(&flags, &bad, p), CUDA_ERROR_INVALID_DEVICE);
    bad.type = CU_MEM_LOCATION_TYPE_HOST;
    OK(cuMemGetAccess(&flags, &bad, p));
    assert_int_equal(flags, 0);
    OK(cuMemUnmap(at, 16 * MIB));
    assert_int_equal(cuMemGetAddressRange(&base, &size, p), CUDA_ERROR_NOT_FOUND);
    OK(cuMemRelease(h));
    OK(cuMemRelease(h2));
    OK(cuMemAddressFree(at, 16 * MIB));
}

// ---- Faults, each of which ends the context --------------------------------------------------------------------

static char fault_text[512];

void gr_api_fault(const GrApiFault *f) { snprintf(fault_text, sizeof fault_text, "%s", f->text); }

static void expect_fault(CUdeviceptr at, const char *kernel, const char *text) {
    unsigned value = 1;
    OK(driver_launch(kernel, 1, 1, NULL, (void *[]){&at, &value}));
    assert_int_equal(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    if (!strstr(fault_text, text))
        fail_msg("%s", fault_text);
    OK(cuDevicePrimaryCtxReset(0));
    OK(cuDevicePrimaryCtxRetain(&driver_context, 0));
    driver_start();
}

static void test_faults(void **state) {
    (void)state;
    CUdeviceptr at = reserve(16 * MIB);
    expect_fault(at + 8 * MIB, "poke", "in 16777216 reserved bytes, where no memory is mapped");
    CUmemGenericAllocationHandle h = create(2 * MIB);
    OK(cuMemMap(at, 2 * MIB, 0, h, 0));
    expect_fault(at, "poke", "to which no device was given access");
    OK(access(at, 2 * MIB, CU_MEM_ACCESS_FLAGS_PROT_READ));
    assert_int_equal(access_of(at), CU_MEM_ACCESS_FLAGS_PROT_READ);
    assert_int_equal(word_at(at), 0);
    expect_fault(at, "poke", "mapped read-only memory");
    OK(access(at, 2 * MIB, READ_WRITE));
    OK(driver_launch("poke", 1, 1, NULL, (void *[]){&at}));
    OK(cuCtxSynchronize());
    assert_int_equal(word_at(at), 1);
    expect_fault(at + 2 * MIB, "poke", "where no memory is mapped");
    assert_int_equal(word_at(at), 1); // it belongs to no context
    OK(cuMemUnmap(at, 2 * MIB));
    OK(cuMemRelease(h));
    expect_fault(at, "poke", "where no memory is mapped");
    OK(cuMemAddressFree(at, 16 * MIB));
    expect_fault(at, "poke", "in a 2097152-byte allocation that was freed");
}

// Work that was submitted before still finds it.
static void test_unmap_while_in_use(void **state) {
    (void)state;
    CUdeviceptr at = reserve(8 * MIB), there;
    CUmemGenericAllocationHandle h = create(8 * MIB);
    OK(cuMemMap(at, 8 * MIB, 0, h, 0));
    OK(access(at, 8 * MIB, READ_WRITE));
    fill(at, 9, 8 * MIB / 4);
    OK(cuMemUnmap(at, 8 * MIB));
    OK(cuCtxSynchronize());
    OK(cuMemAddressReserve(&there, 8 * MIB, 0, 0, 0));
    OK(cuMemMap(there, 8 * MIB, 0, h, 0));
    OK(access(there, 8 * MIB, READ_WRITE));
    assert_int_equal(word_at(there + 8 * MIB - 4), 27);
    OK(cuMemUnmap(there, 8 * MIB));
    OK(cuMemRelease(h));
    OK(cuMemAddressFree(at, 8 * MIB));
    OK(cuMemAddressFree(there, 8 * MIB));
}

int main(void) {
    setenv("GPURACE_CPU_DEVICE", "seed=1,idle=0", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reserve),
        cmocka_unit_test(test_reserve_much),
        cmocka_unit_test(test_create),
        cmocka_unit_test(test_lives_until_released_and_unmapped),
        cmocka_unit_test(test_map),
        cmocka_unit_test(test_aliases),
        cmocka_unit_test(test_listeners),
        cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_unmap_while_in_use),
        cmocka_unit_test(test_faults),
    };
    return cmocka_run_group_tests(tests, group_start, NULL);
}
