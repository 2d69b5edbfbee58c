// SPDX-License-Identifier: Apache-2.0
// Threads read bytes, a barrier of the block comes, and an asynchronous copy overwrites the bytes. Mode 0: a stage of shared memory, no
// proxy fence; 1: the readers fence before the barrier; 2: global memory, which a bulk store overwrites; 3: as 2, fenced; 4: a bulk store reads
// shared memory, its thread waits for that, and writes there: the wait is enough; 5: cp.async, which is no operation of the async proxy;
// 6: global memory that an earlier launch has read.
// expect: exact -- 0 => clean says "fence.proxy.async between: by PTX a race"
// expect: exact --proxy-reads yes -- 0 => races only "proxy read race" marked
// expect: exact --proxy-reads yes -- 1 => clean soak
// expect: exact --proxy-reads yes -- 2 => races only "proxy read race" marked soak
// expect: exact -- 2 => clean says "--proxy-reads yes reports them" soak
// expect: exact --proxy-reads yes -- 3 => clean soak
// expect: exact --proxy-reads yes -- 4 => clean soak
// expect: exact --proxy-reads yes -- 5 => clean soak
// expect: exact --proxy-reads yes -- 6 => clean soak
#include "../../check.h"
#include "tma.h"
__device__ void async16(unsigned to, const int *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\ncp.async.wait_all;" ::"r"(to), "l"(from) : "memory");
}
__global__ void stages(const int *in, int *out, int mode) {
    __shared__ __align__(128) int buf[64];
    __shared__ __align__(8) uint64_t full;
    const int t = threadIdx.x;
    int sum = 0;
    if (t == 0) {
        mbar_init(&full, 1);
        mbar_init_fence();
    }
    __syncthreads();
    for (int r = 0; r < 3; r++) {
        if (mode == 5 && t < 16)
            async16(sm(buf + 4 * t), in + r * 64 + 4 * t);
        if (mode != 5 && t == 0) {
            mbar_expect(&full, 256);
            bulk_load(buf, in + r * 64, 256, &full); //@R
        }
        if (mode == 5)
            __syncthreads();
        else
            mbar_wait(&full, r & 1);
        sum += buf[63 - t]; //@R
        if (mode == 1)
            proxy_fence();
        __syncthreads();
    }
    out[t] = sum;
}
__global__ void stores(int *data, int *out, int mode) {
    __shared__ __align__(128) int buf[64];
    const int t = threadIdx.x;
    buf[t] = t;
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    if (mode == 2 || mode == 3)
        out[t] = data[t]; //@R
    if (mode == 3)
        asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    if (t == 0) {
        bulk_store(data, buf, 256); //@R
        bulk_commit();
        bulk_wait_read<0>();
        buf[5] = 7;
        bulk_wait<0>();
    }
}
__global__ void looks(const int *data, int *out) { out[threadIdx.x] = data[threadIdx.x]; }
int main(int argc, char **argv) {
    int mode = argc > 1 ? atoi(argv[1]) : 0, *in, *out;
    CHECK(cudaMalloc(&in, 3 * 256));
    CHECK(cudaMalloc(&out, 256));
    CHECK(cudaMemset(in, 0, 3 * 256));
    if (mode <= 1 || mode == 5)
        stages<<<1, 64>>>(in, out, mode);
    else {
        looks<<<1, 64>>>(in, out);
        stores<<<1, 64>>>(in, out, mode);
    }
    CHECK(cudaDeviceSynchronize());
    printf("ok\n");
}
