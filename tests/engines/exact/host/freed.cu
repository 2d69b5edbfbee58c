// SPDX-License-Identifier: Apache-2.0
// Memory that is freed while others use it: ./freed CASE race|fixed. cases.py says what the labels mean.
//
// RACE other_stream: freed while in use; freed the memory
// RACE before_use: freed while in use; no stream order, event or synchronization
// RACE copied: freed while in use
// RACE pool_free: freed while in use; freed the memory
// CLEAN plain_free
// RACE heap_free: freed while in use; freed the memory at
// CLEAN reuse
// RACE unmapped: freed while in use; freed the memory
// CLEAN remapped
#include "../../../check.h"

#include <cuda.h>

static bool fixed, faults; // faults: the race may end in one

#define MUST(call) CHECK(faults ? ((void)(call), cudaSuccess) : (call))

static cudaStream_t one, two;
enum { N = 4096 };

__global__ void fill(int *p) { p[blockIdx.x * blockDim.x + threadIdx.x] = 1; }

static int *pool_memory(void) {
    int *p;
    MUST(cudaMallocAsync(&p, N * sizeof *p, one));
    MUST(cudaStreamSynchronize(one));
    return p;
}

static void order(void) {
    cudaEvent_t e;
    MUST(cudaEventCreate(&e));
    MUST(cudaEventRecord(e, one));
    MUST(cudaStreamWaitEvent(two, e, 0));
    MUST(cudaEventDestroy(e));
}

static void other_stream(void) {
    int *p = pool_memory();
    faults = !fixed;
    fill<<<N / 128, 128, 0, one>>>(p);
    if (fixed)
        order();
    MUST(cudaFreeAsync(p, two));
}

// The free may come first, and then the kernel faults.
static void before_use(void) {
    int *p = pool_memory();
    faults = !fixed;
    if (!fixed)
        MUST(cudaFreeAsync(p, two));
    fill<<<N / 128, 128, 0, one>>>(p);
    if (fixed)
        MUST(cudaFreeAsync(p, one));
}

static void copied(void) {
    int *p = pool_memory(), *q = pool_memory();
    fill<<<N / 128, 128, 0, one>>>(p);
    MUST(cudaMemcpyAsync(q, p, N * sizeof *p, cudaMemcpyDeviceToDevice, one));
    if (fixed)
        order();
    MUST(cudaFreeAsync(q, two));
}

// cudaFree does not wait for memory of cudaMallocAsync, it promises.
static void pool_free(void) {
    int *p = pool_memory();
    fill<<<N / 128, 128, 0, one>>>(p);
    if (fixed)
        MUST(cudaStreamSynchronize(one));
    MUST(cudaFree(p));
}

// For other memory it does.
static void plain_free(void) {
    int *p;
    MUST(cudaMalloc(&p, N * sizeof *p));
    fill<<<N / 128, 128, 0, one>>>(p);
    MUST(cudaFree(p));
}

__global__ void heap(bool fixed, int *out) {
    __shared__ int *p;
    if (threadIdx.x == 0)
        p = (int *)malloc(blockDim.x * sizeof *p);
    __syncthreads();
    p[threadIdx.x] = (int)threadIdx.x;
    if (fixed)
        __syncthreads();
    if (threadIdx.x == 64)
        free(p);
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

static void heap_free(void) {
    int *out;
    MUST(cudaMalloc(&out, N * sizeof *out));
    faults = !fixed;
    heap<<<2, 96, 0, one>>>(fixed, out);
    MUST(cudaStreamSynchronize(one));
}

// What is handed out again has no past: threads that nothing orders get each other's memory.
__global__ void churn(int *out) {
    int sum = 0;
    for (int k = 0; k < 40; k++) {
        volatile int *p = (int *)malloc(16 + k % 3 * 400);
        for (int i = 0; i < 4; i++)
            ((int *)p)[i] = k + i;
        sum += p[k % 4];
        free((void *)p);
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

static void reuse(void) {
    int *out;
    MUST(cudaMalloc(&out, N * sizeof *out));
    churn<<<4, 64, 0, one>>>(out);
    churn<<<4, 64, 0, two>>>(out + 256);
    MUST(cudaDeviceSynchronize());
    for (int k = 0; k < 20; k++) {
        int *p;
        cudaStream_t s = k % 2 ? one : two;
        MUST(cudaMallocAsync(&p, N * sizeof *p, s));
        fill<<<N / 128, 128, 0, s>>>(p);
        MUST(cudaFreeAsync(p, s));
    }
}

template <class F> static F *driver(const char *name) {
    void *f = nullptr;
    cudaDriverEntryPointQueryResult found;
    MUST(cudaGetDriverEntryPointByVersion(name, &f, 12000, cudaEnableDefault, &found));
    return (F *)f;
}
#define DRIVER(call, ...) (driver<decltype(call)>(#call)(__VA_ARGS__) == CUDA_SUCCESS ? (void)0 : exit(2))

enum { PIECE = 2 << 20 };

static CUdeviceptr place(CUdeviceptr at) {
    CUmemAllocationProp prop = {};
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CUmemAccessDesc access = {prop.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle h;
    if (!at)
        DRIVER(cuMemAddressReserve, &at, PIECE, 0, 0, 0);
    DRIVER(cuMemCreate, &h, PIECE, &prop, 0);
    DRIVER(cuMemMap, at, PIECE, 0, h, 0);
    DRIVER(cuMemSetAccess, at, PIECE, &access, 1);
    DRIVER(cuMemRelease, h);
    return at;
}

// That waits for nothing.
static void unmapped(void) {
    CUdeviceptr p = place(0);
    fill<<<N / 128, 128, 0, one>>>((int *)p);
    if (fixed)
        MUST(cudaStreamSynchronize(one));
    DRIVER(cuMemUnmap, p, PIECE);
}

// Other memory at the same addresses has no past. The wait is for the one stream alone.
static void remapped(void) {
    CUdeviceptr p = place(0);
    for (int k = 0; k < 6; k++) {
        cudaStream_t s = k % 2 ? one : two;
        fill<<<N / 128, 128, 0, s>>>((int *)p);
        MUST(cudaStreamSynchronize(s));
        DRIVER(cuMemUnmap, p, PIECE);
        place(p);
    }
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"other_stream", other_stream},
               {"before_use", before_use},
               {"copied", copied},
               {"pool_free", pool_free},
               {"plain_free", plain_free},
               {"heap_free", heap_free},
               {"reuse", reuse},
               {"unmapped", unmapped},
               {"remapped", remapped}};
    fixed = argc > 2 && !strcmp(argv[2], "fixed");
    MUST(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    MUST(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    for (const auto &c : all)
        if (argc > 1 && !strcmp(c.name, argv[1])) {
            c.run();
            MUST(cudaDeviceSynchronize());
            return 0;
        }
    return 2;
}
