// SPDX-License-Identifier: Apache-2.0
// Each race in NVIDIA's headers that a bundled rule is for (src/report/bundled.supp), and beside it mistakes of the user's own in the same
// headers, which stay.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cstring>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_select.cuh>
#include <cuda/atomic>
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/remove.h>
#include <thrust/unique.h>
#include <vector>

namespace cg = cooperative_groups;
using Device = cuda::atomic_ref<short, cuda::thread_scope_device>;
using System = cuda::atomic_ref<short, cuda::thread_scope_system>;
using Block = cuda::atomic_ref<short, cuda::thread_scope_block>;

__global__ void tile_reduce(const int *in, int *out) {
    __shared__ cg::block_tile_memory<128> memory;
    auto block = cg::this_thread_block(memory);
    auto tile = cg::tiled_partition<128>(block);
    int x = cg::reduce(tile, in[threadIdx.x], cg::plus<int>());
    int y = cg::reduce(tile, x ^ (int)threadIdx.x, cg::plus<int>());
    out[threadIdx.x] = y;
}

__global__ void copy_tail(const int *in, int *out) {
    __shared__ int s[64];
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    cg::memcpy_async(tile, s, in, sizeof(int) * 29);
    cg::wait(tile);
    if (threadIdx.x < 29)
        out[threadIdx.x] = s[28 - threadIdx.x];
}

template <class Ref> __global__ void mixed(short *s, int *out) {
    if (blockIdx.x == 0) {
        Ref(s[0]).fetch_add(1, cuda::memory_order_relaxed);
        Ref(s[0]).exchange(1);
        short expected = 1;
        Ref(s[0]).compare_exchange_strong(expected, 2);
    } else {
        *out = Ref(s[0]).load(cuda::memory_order_relaxed) + Ref(s[1]).load();
        Ref(s[0]).store(3, cuda::memory_order_relaxed);
        Ref(s[1]).store(3);
    }
}

// A plain store beside an atomic: the word is the atomic's, and it is the user's line.
__global__ void plain_beside(short *s) {
    if (blockIdx.x == 0)
        Device(s[0]).fetch_add(1, cuda::memory_order_relaxed);
    else
        s[1] = 4; // plain
}

struct Odd {
    template <class T> __device__ bool operator()(T x) const { return (int)x & 1; }
};

// From 0 to 3 in disorder; or all different.
template <class T> static T *numbers(int n, bool different = false) {
    std::vector<T> h(n);
    unsigned s = 5;
    for (int k = 0; k < n; k++) {
        s = s * 1664525u + 1013904223u;
        h[k] = (T)(different ? k : (s >> 9) % 4);
    }
    T *d;
    cudaMalloc(&d, n * sizeof(T));
    cudaMemcpy(d, h.data(), n * sizeof(T), cudaMemcpyHostToDevice);
    return d;
}

template <class T> static void select(int n) {
    T *d = numbers<T>(n);
    int *chosen;
    void *temp = nullptr;
    size_t bytes = 0;
    cudaMalloc(&chosen, sizeof(int));
    cub::DeviceSelect::If(temp, bytes, d, chosen, n, Odd());
    cudaMalloc(&temp, bytes);
    cub::DeviceSelect::If(temp, bytes, d, chosen, n, Odd());
}

// Thrust takes an iterator as it is: a device_ptr is read and written by functions of its own.
static void remove(int n) {
    auto d = thrust::device_pointer_cast(numbers<long long>(n));
    thrust::remove_if(d, d + n, Odd());
}

static void unique(int n) {
    for (bool different : {false, true}) {
        int *p = numbers<int>(n, different);
        auto d = thrust::device_pointer_cast(numbers<int>(n, different));
        thrust::unique(thrust::device, p, p + n);
        thrust::unique(d, d + n);
    }
}

static void unique_by_key(int n) {
    for (bool different : {false, true}) {
        int *p = numbers<int>(n, different), *q = numbers<int>(n);
        auto d = thrust::device_pointer_cast(numbers<int>(n, different)), e = thrust::device_pointer_cast(numbers<int>(n));
        thrust::unique_by_key(thrust::device, p, p + n, q);
        thrust::unique_by_key(d, d + n, e);
    }
}

static void runs(int n) {
    int *d = numbers<int>(n), *offsets, *lengths, *found;
    void *temp = nullptr;
    size_t bytes = 0;
    cudaMalloc(&offsets, n * sizeof(int));
    cudaMalloc(&lengths, n * sizeof(int));
    cudaMalloc(&found, sizeof(int));
    cub::DeviceRunLengthEncode::NonTrivialRuns(temp, bytes, d, offsets, lengths, found, n);
    cudaMalloc(&temp, bytes);
    cub::DeviceRunLengthEncode::NonTrivialRuns(temp, bytes, d, offsets, lengths, found, n);
}

int main(int argc, char **argv) {
    int *p;
    cudaMalloc(&p, 8192);
    cudaMemset(p, 1, 8192);
    if (!strcmp(argv[1], "tile"))
        tile_reduce<<<1, 128>>>(p, p + 512);
    else if (!strcmp(argv[1], "tail"))
        copy_tail<<<1, 32>>>(p, p + 512);
    else if (!strcmp(argv[1], "device"))
        mixed<Device><<<2, 1>>>((short *)p, p + 8);
    else if (!strcmp(argv[1], "system"))
        mixed<System><<<2, 1>>>((short *)p, p + 8);
    else if (!strcmp(argv[1], "block"))
        mixed<Block><<<2, 1>>>((short *)p, p + 8);
    else if (!strcmp(argv[1], "plain"))
        plain_beside<<<2, 1>>>((short *)p);
    else if (!strcmp(argv[1], "select"))
        select<long long>(30000);
    else if (!strcmp(argv[1], "select bytes"))
        select<char>(60000);
    else if (!strcmp(argv[1], "remove"))
        remove(30000);
    else if (!strcmp(argv[1], "unique"))
        unique(10000);
    else if (!strcmp(argv[1], "unique by key"))
        unique_by_key(10000);
    else if (!strcmp(argv[1], "runs"))
        runs(2000);
    return cudaDeviceSynchronize() != cudaSuccess;
}
