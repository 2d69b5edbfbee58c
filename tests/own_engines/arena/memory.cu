// SPDX-License-Identifier: Apache-2.0
// A program that allocates and frees in all ways, and asks the driver about its memory. It gets the same answers when an engine places
// the memory. Run it with two devices.
// Arguments: none, or "share" or "full" for what differs.
#include "../../complete/complete.h"

#include <cuda.h>
#include <algorithm>
#include <thread>

template <class F> static F *driver(const char *name) {
    void *f = nullptr;
    cudaDriverEntryPointQueryResult found;
    CHECK(cudaGetDriverEntryPointByVersion(name, &f, 12000, cudaEnableDefault, &found));
    if (found != cudaDriverEntryPointSuccess || !f) {
        printf("the driver has no %s\n", name);
        exit(2);
    }
    return (F *)f;
}
#define DRIVER(call, ...) driver<decltype(call)>(#call)(__VA_ARGS__)

static const size_t MIB = 1 << 20;

__global__ void fill(unsigned *p, size_t n, unsigned value) {
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        p[i] = value;
}

__global__ void differ(const unsigned *p, size_t n, unsigned value, unsigned *count) {
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (p[i] != value)
            atomicAdd(count, 1);
}

static size_t free_bytes() {
    size_t n, total;
    CHECK(cudaMemGetInfo(&n, &total));
    return n;
}

// ---- Allocations of many sizes, freed in any order ----------------------------------------------------------------

struct Allocation {
    unsigned *p;
    size_t words;
    unsigned value;
};

static void any_order(uint64_t seed, int rounds) {
    Random random(seed);
    std::vector<Allocation> live;
    unsigned *count = device_zeros<unsigned>(1);
    for (int k = 0; k < rounds; k++) {
        if (live.size() < 40 && random.below(5) > 1) {
            // Mostly small, some of several pages, few large ones.
            unsigned kind = random.below(20);
            size_t bytes = kind == 0 ? 20 * MIB + random.below(8 * MIB) : kind < 4 ? random.below(MIB) : random.below(3000);
            Allocation a = {nullptr, bytes / 4 + 1, random.next()};
            CHECK(cudaMalloc(&a.p, a.words * 4));
            EXPECT((uintptr_t)a.p % 256 == 0);
            size_t some = std::min<size_t>(a.words, 512);
            fill<<<2, 128>>>(a.p, some, a.value);
            fill<<<2, 128>>>(a.p + a.words - some, some, a.value);
            live.push_back(a);
        } else if (!live.empty()) {
            size_t i = random.below((uint32_t)live.size());
            Allocation a = live[i];
            size_t some = std::min<size_t>(a.words, 512);
            differ<<<2, 128>>>(a.p, some, a.value, count);
            differ<<<2, 128>>>(a.p + a.words - some, some, a.value, count);
            if (random.below(4) == 0)
                CHECK(cudaFreeAsync(a.p, 0));
            else
                CHECK(cudaFree(a.p));
            live[i] = live.back();
            live.pop_back();
        }
    }
    expect_same("words that others wrote", from_device(count), 0u);
    for (const Allocation &a : live)
        CHECK(cudaFree(a.p));
    CHECK(cudaFree(count));
}

static void many_small() {
    std::vector<unsigned *> all(3000);
    for (unsigned *&p : all)
        CHECK(cudaMalloc(&p, 100));
    for (size_t i = 0; i < all.size(); i += 2)
        CHECK(cudaFree(all[i]));
    for (size_t i = 0; i < all.size(); i += 2)
        CHECK(cudaMalloc(&all[i], 600));
    std::sort(all.begin(), all.end());
    EXPECT(std::unique(all.begin(), all.end()) == all.end());
    for (unsigned *p : all)
        CHECK(cudaFree(p));
}

// ---- Rows, stream order -------------------------------------------------------------------------------------------

static void rows() {
    const size_t width = 1000, height = 77;
    char *p, *q;
    size_t pitch, other;
    CHECK(cudaMallocPitch(&p, &pitch, width, height));
    CHECK(cudaMallocPitch(&q, &other, width, height));
    EXPECT(pitch >= width && pitch % 256 == 0 && other == pitch);
    CHECK(cudaMemset2D(p, pitch, 7, width, height));
    CHECK(cudaMemcpy2D(q, other, p, pitch, width, height, cudaMemcpyDeviceToDevice));
    std::vector<char> host(width * height), want(width * height, 7);
    CHECK(cudaMemcpy2D(host.data(), width, q, other, width, height, cudaMemcpyDeviceToHost));
    expect_same("rows", host, want);
    CUdeviceptr base;
    size_t size;
    EXPECT(DRIVER(cuMemGetAddressRange, &base, &size, (CUdeviceptr)q + 5000) == CUDA_SUCCESS);
    EXPECT(base == (CUdeviceptr)q && size == other * height);
    CHECK(cudaFree(p));
    CHECK(cudaFree(q));
    EXPECT(cudaMallocPitch(&p, &pitch, 0, 0) == cudaSuccess);
    EXPECT(DRIVER(cuMemAllocPitch, &base, &pitch, width, height, 3) == CUDA_ERROR_INVALID_VALUE);
}

static void stream_order() {
    cudaStream_t s;
    CHECK(cudaStreamCreate(&s));
    unsigned *pooled, *plain, *count = device_zeros<unsigned>(1);
    for (unsigned k = 0; k < 8; k++) {
        CHECK(cudaMallocAsync(&pooled, 4096, s));
        CHECK(cudaMalloc(&plain, 4096));
        fill<<<1, 128, 0, s>>>(pooled, 1024, k);
        fill<<<1, 128, 0, s>>>(plain, 1024, k);
        differ<<<1, 128, 0, s>>>(pooled, 1024, k, count);
        differ<<<1, 128, 0, s>>>(plain, 1024, k, count);
        CHECK(cudaFreeAsync(pooled, s));
        CHECK(cudaFreeAsync(plain, s)); // its place is not used again before
        EXPECT(cudaFree(plain) != cudaSuccess);
        unsigned *next;
        CHECK(cudaMalloc(&next, 4096));
        fill<<<1, 128>>>(next, 1024, 99);
        CHECK(cudaStreamSynchronize(s));
        CHECK(cudaFree(next));
    }
    expect_same("stream order", from_device(count), 0u);
    CHECK(cudaFree(count));
    CHECK(cudaStreamDestroy(s));
    (void)cudaGetLastError();
}

// ---- What the driver says of it ------------------------------------------------------------------------------------

static uint64_t attribute(CUpointer_attribute a, CUdeviceptr p) {
    uint64_t v = 0;
    EXPECT(DRIVER(cuPointerGetAttribute, &v, a, p) == CUDA_SUCCESS);
    return v;
}

static void answers() {
    size_t before = free_bytes(), size = 0;
    CUdeviceptr p, q, base = 0;
    EXPECT(DRIVER(cuMemAlloc, &p, 5000) == CUDA_SUCCESS);
    EXPECT(DRIVER(cuMemAlloc, &q, 3 * MIB) == CUDA_SUCCESS);
    EXPECT(before - free_bytes() == 5000 + 3 * MIB);
    EXPECT(DRIVER(cuMemGetAddressRange, &base, &size, p + 4999) == CUDA_SUCCESS && base == p && size == 5000);
    EXPECT(DRIVER(cuMemGetAddressRange, &base, &size, q + MIB) == CUDA_SUCCESS && base == q && size == 3 * MIB);
    EXPECT(DRIVER(cuMemGetAddressRange, &base, nullptr, p + 5000) == CUDA_ERROR_NOT_FOUND);
    CUcontext context;
    EXPECT(DRIVER(cuCtxGetCurrent, &context) == CUDA_SUCCESS);
    EXPECT(attribute(CU_POINTER_ATTRIBUTE_CONTEXT, p + 1) == (uint64_t)context);
    EXPECT(attribute(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p) == CU_MEMORYTYPE_DEVICE);
    EXPECT(attribute(CU_POINTER_ATTRIBUTE_DEVICE_POINTER, p + 7) == p + 7);
    EXPECT(attribute(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, p + 7) == p);
    EXPECT(attribute(CU_POINTER_ATTRIBUTE_RANGE_SIZE, p + 7) == 5000);
    EXPECT(attribute(CU_POINTER_ATTRIBUTE_MAPPED, p) == 1);
    EXPECT(attribute(CU_POINTER_ATTRIBUTE_IS_MANAGED, p) == 0);
    EXPECT(attribute(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p) == 0);
    EXPECT(attribute(CU_POINTER_ATTRIBUTE_BUFFER_ID, p) == attribute(CU_POINTER_ATTRIBUTE_BUFFER_ID, p + 4000));
    EXPECT(attribute(CU_POINTER_ATTRIBUTE_BUFFER_ID, p) != attribute(CU_POINTER_ATTRIBUTE_BUFFER_ID, q));
    cudaPointerAttributes a;
    CHECK(cudaPointerGetAttributes(&a, (void *)(q + 9)));
    EXPECT(a.type == cudaMemoryTypeDevice && a.device == 0 && a.devicePointer == (void *)(q + 9));
    CUmemGenericAllocationHandle h;
    EXPECT(DRIVER(cuMemRetainAllocationHandle, &h, (void *)p) == CUDA_ERROR_INVALID_VALUE);
    // No start of an allocation; freed twice.
    EXPECT(DRIVER(cuMemFree, p + 512) == CUDA_ERROR_INVALID_VALUE);
    EXPECT(DRIVER(cuMemFree, p) == CUDA_SUCCESS);
    EXPECT(DRIVER(cuMemFree, p) == CUDA_ERROR_INVALID_VALUE);
    EXPECT(DRIVER(cuMemGetAddressRange, &base, &size, p) == CUDA_ERROR_NOT_FOUND);
    uint64_t v;
    EXPECT(DRIVER(cuPointerGetAttribute, &v, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cudaPointerGetAttributes(&a, (void *)p));
    EXPECT(a.type == cudaMemoryTypeUnregistered);
    EXPECT(DRIVER(cuMemFree, q) == CUDA_SUCCESS);
    EXPECT(DRIVER(cuMemFree, 0) == CUDA_SUCCESS);
    EXPECT(DRIVER(cuMemAlloc, &p, 0) == CUDA_ERROR_INVALID_VALUE);
    EXPECT(DRIVER(cuMemAlloc, nullptr, 10) == CUDA_ERROR_INVALID_VALUE);
    EXPECT(free_bytes() == before);
}

// An allocation beside a capture is refused, and what was captured is lost: as ever.
static void beside_a_capture() {
    cudaStream_t s;
    cudaGraph_t graph = nullptr;
    CUdeviceptr p = 0;
    size_t before = free_bytes();
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    EXPECT(DRIVER(cuMemAlloc, &p, 100) == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    EXPECT(cudaStreamEndCapture(s, &graph) == cudaErrorStreamCaptureInvalidated);
    (void)cudaGetLastError();
    CHECK(cudaStreamDestroy(s));
    EXPECT(free_bytes() == before);
}

// ---- The program's own mappings ------------------------------------------------------------------------------------

// Access is given again and again to what grows, and the pieces go in another order. Two of them stay.
static void mappings() {
    const size_t piece = 2 * MIB;
    int there = 0;
    EXPECT(DRIVER(cuDeviceGetAttribute, &there, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0) == CUDA_SUCCESS);
    if (!there)
        return;
    CUmemAllocationProp prop = {};
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CUmemAccessDesc access = {prop.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUdeviceptr base = 0;
    EXPECT(DRIVER(cuMemAddressReserve, &base, 8 * piece, 0, 0, 0) == CUDA_SUCCESS);
    auto map = [&](size_t k) {
        CUmemGenericAllocationHandle h;
        EXPECT(DRIVER(cuMemCreate, &h, piece, &prop, 0) == CUDA_SUCCESS);
        EXPECT(DRIVER(cuMemMap, base + k * piece, piece, 0, h, 0) == CUDA_SUCCESS);
        EXPECT(DRIVER(cuMemRelease, h) == CUDA_SUCCESS);
    };
    for (size_t k = 0; k < 8; k++) {
        map(k);
        size_t from = k % 3 ? 0 : k; // all so far, or the new one alone
        EXPECT(DRIVER(cuMemSetAccess, base + from * piece, (k + 1 - from) * piece, &access, 1) == CUDA_SUCCESS);
    }
    EXPECT(DRIVER(cuMemSetAccess, base, 8 * piece, &access, 1) == CUDA_SUCCESS);
    fill<<<4, 128>>>((unsigned *)base, 8 * piece / 4, 1);
    CHECK(cudaDeviceSynchronize());
    EXPECT(DRIVER(cuMemUnmap, base + 2 * piece, 3 * piece) == CUDA_SUCCESS);
    EXPECT(DRIVER(cuMemUnmap, base + 7 * piece, piece) == CUDA_SUCCESS);
    EXPECT(DRIVER(cuMemUnmap, base, piece) == CUDA_SUCCESS);
    map(3);
    EXPECT(DRIVER(cuMemSetAccess, base + 3 * piece, piece, &access, 1) == CUDA_SUCCESS);
    EXPECT(DRIVER(cuMemUnmap, base + 5 * piece, piece) == CUDA_SUCCESS);
    EXPECT(DRIVER(cuMemUnmap, base + piece, piece) == CUDA_SUCCESS); // 3 and 6 are left
}

// ---- All of it -----------------------------------------------------------------------------------------------------

static void out_of_memory() {
    size_t before = free_bytes();
    std::vector<void *> all;
    void *p, *small;
    CHECK(cudaMalloc(&small, 4096));
    CHECK(cudaFreeAsync(small, 0)); // its turn comes when there is nothing else
    EXPECT(cudaMalloc(&p, before + 1) == cudaErrorMemoryAllocation);
    EXPECT(cudaMalloc(&p, (size_t)1 << 50) == cudaErrorMemoryAllocation);
    for (size_t size = (size_t)1 << 30; size >= 2 * MIB; size /= 2)
        while (cudaMalloc(&p, size) == cudaSuccess)
            all.push_back(p);
    EXPECT(cudaGetLastError() == cudaErrorMemoryAllocation);
    EXPECT(free_bytes() < 8 * MIB);
    for (size_t i = 0; i < all.size(); i++)
        CHECK(cudaFree(all[(i * 7919) % all.size()] ? all[i] : nullptr));
    CHECK(cudaMalloc(&p, before - 200 * MIB)); // and it is all there again
    CHECK(cudaFree(p));
    CHECK(cudaDeviceSynchronize());
    EXPECT(free_bytes() == before);
}

// ---- Threads, devices, the end of a context ------------------------------------------------------------------------

static void threads() {
    std::vector<std::thread> all;
    for (int t = 0; t < 3; t++)
        all.emplace_back([t] { any_order(100 + (uint64_t)t, 40); });
    for (std::thread &t : all)
        t.join();
}

static void devices() {
    unsigned *there, *later, count = 1;
    CHECK(cudaSetDevice(1));
    CHECK(cudaMalloc(&there, 4096));
    fill<<<1, 128>>>(there, 1024, 5);
    CHECK(cudaDeviceSynchronize());
    EXPECT(attribute(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, (CUdeviceptr)there) == 1);
    CHECK(cudaSetDevice(0));
    unsigned *here = device_new<unsigned>(1024), *n = device_zeros<unsigned>(1);
    CHECK(cudaMemcpyPeer(here, 0, there, 1, 4096));
    differ<<<1, 128>>>(here, 1024, 5, n);
    expect_same("copied from the other device", from_device(n), 0u);
    CHECK(cudaDeviceEnablePeerAccess(1, 0));
    CHECK(cudaSetDevice(1));
    CHECK(cudaMalloc(&later, 40 * MIB));
    CHECK(cudaMemset(later, 0, 40 * MIB));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaSetDevice(0));
    differ<<<1, 128>>>(there, 1024, 5, n); // memory from before and after
    differ<<<1, 128>>>(later + 9 * MIB, 1024, 0, n);
    fill<<<1, 128>>>(later, 1024, 6);
    expect_same("seen from the other device", from_device(n), 0u);
    CHECK(cudaMemcpy(&count, later + 1023, 4, cudaMemcpyDeviceToHost));
    expect_same("written from the other device", count, 6u);
    CHECK(cudaFree(here));
    CHECK(cudaFree(n));
    CHECK(cudaFree(later)); // of the other device
    CHECK(cudaSetDevice(1));
    CHECK(cudaFree(there));
    CHECK(cudaSetDevice(0));
}

static void reset() {
    size_t before = free_bytes();
    void *p;
    for (int k = 0; k < 10; k++)
        CHECK(cudaMalloc(&p, 5 * MIB * (size_t)(k % 3) + 100));
    CHECK(cudaDeviceReset());
    EXPECT(free_bytes() == before);
    any_order(5, 40);
}

// ---- What an engine cannot give: alone, by the program's argument ---------------------------------------------------

static int share() {
    CUdeviceptr p;
    CUipcMemHandle handle;
    unsigned yes = 1;
    EXPECT(DRIVER(cuMemAlloc, &p, 4096) == CUDA_SUCCESS);
    EXPECT(DRIVER(cuIpcGetMemHandle, &handle, p) == CUDA_ERROR_NOT_SUPPORTED);
    EXPECT(DRIVER(cuPointerSetAttribute, &yes, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p) == CUDA_ERROR_NOT_SUPPORTED);
    EXPECT(attribute(CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, p) == 0);
    return finish();
}

// Up to the last bytes, which are less than what can be mapped.
static int fill_up() {
    void *p;
    unsigned n = 0;
    for (size_t size = (size_t)1 << 30; size >= 256; size /= 2)
        for (; cudaMalloc(&p, size) == cudaSuccess; n++)
            fill<<<1, 32>>>((unsigned *)p, 64, n);
    EXPECT(cudaGetLastError() == cudaErrorMemoryAllocation);
    CHECK(cudaDeviceSynchronize());
    EXPECT(free_bytes() < 64 << 10);
    return finish();
}

int main(int argc, char **argv) {
    CHECK(cudaFree(nullptr));
    if (argc > 1)
        return strcmp(argv[1], "share") == 0 ? share() : fill_up();
    answers();
    any_order(1, 300);
    many_small();
    rows();
    stream_order();
    beside_a_capture();
    out_of_memory();
    threads();
    devices();
    reset();
    mappings();
    return finish();
}
