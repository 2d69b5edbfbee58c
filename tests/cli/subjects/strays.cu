// SPDX-License-Identifier: Apache-2.0
// Accesses to where no memory is, each by one thread of 32 unless said otherwise: what becomes of them under --on-fault continue (test_strays.py).
// Usage: strays CASE...; prints for each how the program went on, and what the 32 threads have.
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void loads(const float *in, float *out) {
    int t = threadIdx.x;
    float west = *(const volatile float *)(in + t - 1); // STRAY: load
    out[t] = in[t] - west + 1;
}

__global__ void stores(float *out, float *own) {
    out[threadIdx.x == 31 ? 1 << 28 : threadIdx.x] = 2; // STRAY: store
    own[threadIdx.x] = 1;
}

__global__ void vectors(const float4 *in, float *out) {
    float4 v = in[threadIdx.x == 3 ? 1 << 28 : threadIdx.x]; // STRAY: vector
    out[threadIdx.x] = v.x + v.w + 1;
}

__global__ void atomics(int *a, float *out) {
    out[threadIdx.x] = 1 + atomicAdd(a + (threadIdx.x == 9 ? 1 << 28 : threadIdx.x), 1); // STRAY: atomic
}

__global__ void shared(int far, float *out) {
    __shared__ int s[32];
    s[threadIdx.x] = 0;
    __syncwarp();
    out[threadIdx.x] = 1 + s[threadIdx.x == 4 ? far : threadIdx.x]; // STRAY: shared
}

__global__ void local(int far, float *out) {
    int a[8];
    for (int i = 0; i < 8; i++)
        a[(i + far) & 7] = 0;
    out[threadIdx.x] = 1 + a[threadIdx.x == 5 ? far : threadIdx.x & 7]; // STRAY: local
}

__global__ void null(const int *p, float *out) {
    out[threadIdx.x] = threadIdx.x == 6 ? 1 + *p : 1; // STRAY: null
}

__global__ void misaligned(const char *p, float *out) {
    out[threadIdx.x] = 1 + *(const int *)(p + (threadIdx.x == 7 ? 2 : 4)); // STRAY: misaligned
}

__global__ void copies(const float *in, float *out) {
    __shared__ float s[32];
    unsigned to = (unsigned)__cvta_generic_to_shared(&s[threadIdx.x]);
    const float *from = in + (threadIdx.x == 8 ? 1 << 28 : threadIdx.x);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory"); // STRAY: copy
    asm volatile("cp.async.wait_all;" ::: "memory");
    out[threadIdx.x] = 1 + s[threadIdx.x];
}

__global__ void bulk(const char *in, float *out) {
    __shared__ __align__(128) int s[32];
    s[threadIdx.x] = 0;
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncwarp();
    if (threadIdx.x == 0) {
        unsigned from = (unsigned)__cvta_generic_to_shared(s);
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 128;" ::"l"(in + (1 << 28)), "r"(from) : "memory"); // STRAY: bulk
        asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;" ::: "memory");
    }
    __syncwarp();
    out[threadIdx.x] = 1 + s[threadIdx.x];
}

// A million.
__global__ void many(const float *in, float *out) {
    float s = 1;
    for (int i = 0; i < 1000; i++)
        s += in[(1 << 28) + i * 1024 + threadIdx.x]; // STRAY: many
    if (threadIdx.x < 32)
        out[threadIdx.x] = s;
}

// How the case goes on, and what its threads have.
static void run(const char *which, float *in, float *out) {
    float host[32];
    cudaMemset(in, 0, 512);
    cudaMemset(out, 0, 128);
#define CASE(name, threads, ...)                                                                             \
    if (!strcmp(which, #name))                                                                               \
        name<<<1, threads>>>(__VA_ARGS__);
    CASE(loads, 32, in, out)
    CASE(stores, 32, in, out)
    CASE(vectors, 32, (const float4 *)in, out)
    CASE(atomics, 32, (int *)in, out)
    CASE(shared, 32, 1 << 18, out)
    CASE(local, 32, 1 << 20, out)
    CASE(null, 32, nullptr, out)
    CASE(misaligned, 32, (const char *)in, out)
    CASE(copies, 32, in, out)
    CASE(bulk, 32, (const char *)in, out)
    CASE(many, 1024, in, out)
    printf("%s", cudaGetErrorName(cudaDeviceSynchronize()));
    if (!cudaMemcpy(host, out, 128, cudaMemcpyDeviceToHost))
        for (int k = 0; k < 32; k++)
            printf(" %g", host[k]);
    printf("\n");
}

int main(int argc, char **argv) {
    float *in, *out;
    if (cudaMalloc(&in, 512) || cudaMalloc(&out, 128))
        return 2;
    for (int k = 1; k < argc; k++)
        run(argv[k], in, out);
}
