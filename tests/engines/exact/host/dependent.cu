// SPDX-License-Identifier: Apache-2.0
// Programmatic dependent launches: ./dependent CASE race|fixed. cases.py says what the labels mean.
//
// RACE no_wait: read-write race; cudaGridDependencySynchronize
// RACE write_early: write-write race; cudaGridDependencySynchronize
// RACE one_waits: read-write race; cudaGridDependencySynchronize
// RACE chain: read-write race; cudaGridDependencySynchronize
// CLEAN before_primary
// CLEAN not_allowed
// CLEAN copy_between
// CLEAN later
#include "../../../check.h"

enum { N = 512, ALL, ONE, NONE };

__global__ void primary(int *p) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    cudaTriggerProgrammaticLaunchCompletion();
    p[i] = i;
}

// Which threads wait: ALL, ONE of each block (with a barrier behind it in `barrier`), NONE.
__global__ void secondary(const int *p, int *q, int who, bool barrier) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (who == ALL || (who == ONE && threadIdx.x == 0))
        cudaGridDependencySynchronize();
    if (barrier)
        __syncthreads();
    q[i] = p[N - 1 - i];
}

__global__ void pass(int *q) { q[blockIdx.x * blockDim.x + threadIdx.x] = -1; }

static int *p, *q, *r;
static cudaStream_t s;

template <typename... T, typename... A> static void dependent(void (*kernel)(T...), bool allowed, A... args) {
    cudaLaunchAttribute a = {};
    a.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    a.val.programmaticStreamSerializationAllowed = allowed;
    cudaLaunchConfig_t c = {};
    c.gridDim = N / 128;
    c.blockDim = 128;
    c.stream = s;
    c.attrs = &a;
    c.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&c, kernel, args...));
}

static void first(void) { primary<<<N / 128, 128, 0, s>>>(p); }

int main(int argc, char **argv) {
    if (argc < 3)
        return 2;
    const char *name = argv[1];
    bool fixed = !strcmp(argv[2], "fixed");
    CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&p, N * sizeof *p));
    CHECK(cudaMalloc(&q, N * sizeof *q));
    CHECK(cudaMalloc(&r, N * sizeof *r));
    CHECK(cudaMemset(p, 0, N * sizeof *p));
    CHECK(cudaDeviceSynchronize());
    if (!strcmp(name, "no_wait")) {
        first();
        dependent(secondary, true, (const int *)p, q, fixed ? ALL : NONE, false);
    } else if (!strcmp(name, "write_early")) {
        first();
        if (fixed)
            dependent(pass, false, p);
        else
            dependent(pass, true, p);
    } else if (!strcmp(name, "one_waits")) { // the barrier tells the others
        first();
        dependent(secondary, true, (const int *)p, q, ONE, fixed);
    } else if (!strcmp(
                   name,
                   "chain")) { // the third may begin before the second has ended, and that before the first
        first();
        dependent(pass, true, r);
        dependent(secondary, true, (const int *)p, q, fixed ? ALL : NONE, false);
    } else if (!strcmp(name, "before_primary")) { // what was over before the primary began
        CHECK(cudaMemsetAsync(q, 0, N * sizeof *q, s));
        pass<<<N / 128, 128, 0, s>>>(q);
        first();
        dependent(pass, true, q);
    } else if (!strcmp(name, "not_allowed")) {
        first();
        dependent(secondary, false, (const int *)p, q, NONE, false);
    } else if (!strcmp(name, "copy_between")) { // only kernels overlap
        first();
        CHECK(cudaMemsetAsync(q, 0, N * sizeof *q, s));
        dependent(secondary, true, (const int *)p, q, NONE, false);
    } else if (!strcmp(name, "later")) { // who comes after both knows both
        first();
        dependent(pass, true, q);
        secondary<<<N / 128, 128, 0, s>>>(p, q, NONE, false);
    } else {
        return 2;
    }
    CHECK(cudaDeviceSynchronize());
    return 0;
}
