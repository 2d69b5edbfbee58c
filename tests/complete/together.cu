// SPDX-License-Identifier: Apache-2.0
// Lanes that take those for their warp that they meet behind a branch: coalesced_threads(), __activemask(), counters that one lane raises for all that are there.
// On a GPU a warp is together again behind each of these branches, so what is counted there is compared with that. CUDA does not promise it, and the CPU device parts warps
// on purpose: there the counters' sums alone are compared, and that each lane got a place of its own.
#include "complete.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

enum { SUM, LEADERS, OTHERS, COUNTERS = OTHERS + 4 };

struct Work {
    unsigned *in, *out, *mask, *count; // by thread, but for the counters
};

__device__ unsigned number() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void after_load(Work w, unsigned cut)
{
    unsigned i = number(), lane = i % 32, v = 0;
    if (lane < cut)
        v = w.in[i];
    w.mask[i] = __activemask();
    w.out[i] = v;
}

__global__ void after_store(Work w, unsigned cut)
{
    unsigned i = number(), lane = i % 32;
    if (lane < cut)
        w.out[i] = i * 3;
    w.mask[i] = __activemask();
}

__global__ void after_both(Work w, unsigned cut)
{
    unsigned i = number(), lane = i % 32;
    if (lane < cut) {
        unsigned v = w.in[i];
        w.out[i] = v + 1;
    } else {
        unsigned v = w.in[i ^ 1];
        w.out[i] = v * 5;
    }
    w.mask[i] = cg::coalesced_threads().size() == 32 ? ~0u : 1;
}

__global__ void after_loop(Work w, unsigned cut)
{
    unsigned i = number(), lane = i % 32, n = gridDim.x * blockDim.x, v = 0;
    if (lane < cut)
        for (unsigned k = 0; k < 6; k++) {
            v += w.in[(i + k * 32) % n];
            w.out[i] = v;
        }
    w.mask[i] = __activemask();
}

__global__ void after_uneven_loop(Work w, unsigned cut)
{
    unsigned i = number(), lane = i % 32, n = gridDim.x * blockDim.x, v = 0;
    for (unsigned k = 0; k < lane % 5 + (lane < cut); k++) {
        v += w.in[(i + k * 32) % n];
        w.out[i] = v;
    }
    w.mask[i] = __activemask();
}

__global__ void after_shared(Work w, unsigned cut)
{
    __shared__ unsigned t[256];
    unsigned i = number(), lane = i % 32;
    t[threadIdx.x] = i;
    if (lane < cut) {
        t[threadIdx.x] += w.in[i];
        if (lane & 1)
            t[threadIdx.x] *= 3;
    }
    w.mask[i] = __activemask();
    w.out[i] = t[threadIdx.x];
}

__device__ __noinline__ void put(unsigned *at, unsigned v)
{
    if (*at != v)
        *at = v;
}

__global__ void after_call(Work w, unsigned cut)
{
    unsigned i = number(), lane = i % 32;
    if (lane < cut)
        put(&w.out[i], w.in[i]);
    w.mask[i] = __activemask();
}

__global__ void after_atomic(Work w, unsigned cut)
{
    unsigned i = number(), lane = i % 32;
    if (lane < cut) {
        unsigned v = w.in[i];
        w.out[i] = v;
        atomicAdd(&w.count[OTHERS + lane % 4], v & 1);
    }
    w.mask[i] = __activemask();
}

// In the branch: the lanes of the branch.
__global__ void within(Work w, unsigned cut)
{
    unsigned i = number(), lane = i % 32, m = ~0u;
    if (lane < 16) {
        unsigned v = w.in[i];
        if (lane < cut / 2)
            w.out[i] = v;
        m = __activemask() == 0xffff ? ~0u : 0;
    }
    w.mask[i] = m;
}

__global__ void sums(Work w, unsigned cut)
{
    unsigned i = number(), lane = i % 32;
    if (lane < cut)
        w.out[i] = w.in[i];
    else
        w.out[i] = 7;
    unsigned here = __activemask(), all = __reduce_add_sync(here, 1u);
    w.mask[i] = all == 32 && __ballot_sync(here, lane & 1) == 0xaaaaaaaa ? ~0u : 0;
}

// All that come to the counter take a place each, one lane for all of them.
__device__ unsigned take(unsigned *count)
{
    cg::coalesced_group g = cg::coalesced_threads();
    unsigned first = 0;
    if (g.thread_rank() == 0) {
        first = atomicAdd(&count[SUM], g.size());
        atomicAdd(&count[LEADERS], 1);
    }
    return g.shfl(first, 0) + g.thread_rank();
}

__global__ void places(Work w, unsigned cut)
{
    unsigned i = number(), lane = i % 32;
    w.mask[i] = ~0u;
    if (lane < cut)
        w.out[i] = w.in[i];
    w.out[i] = take(w.count);
}

// Those whose number is odd take one, behind stores of some of them.
__global__ void some_places(Work w, unsigned cut)
{
    unsigned i = number(), lane = i % 32;
    w.mask[i] = ~0u;
    if (lane < cut)
        w.out[i] = w.in[i];
    if (w.in[i] & 1)
        w.out[i] = take(w.count);
    else
        w.out[i] = ~0u;
}

// The leader by hand, in a loop.
__global__ void rounds(Work w, unsigned cut)
{
    unsigned i = number(), lane = i % 32, n = gridDim.x * blockDim.x, got = 0;
    for (unsigned k = 0; k < 4; k++) {
        if (lane < cut + k)
            w.out[i] = w.in[(i + 32 * k) % n];
        unsigned here = __activemask(), leader = __ffs(here) - 1, first = 0;
        if (lane == leader) {
            first = atomicAdd(&w.count[SUM], __popc(here));
            atomicAdd(&w.count[LEADERS], 1);
        }
        got += __shfl_sync(here, first, leader) != ~0u;
    }
    w.mask[i] = got == 4 ? ~0u : 0;
}

struct Kernel {
    const char *name;
    void (*f)(Work, unsigned);
    unsigned each, leaders; // what a thread adds to SUM, and a warp to LEADERS
    bool places, odd;       // each thread, or each whose number is odd, gets a place
};
static const Kernel kernels[] = {
    {"after_load", after_load},     {"after_store", after_store},   {"after_both", after_both},
    {"after_loop", after_loop},     {"after_uneven_loop", after_uneven_loop},
    {"after_shared", after_shared}, {"after_call", after_call},     {"after_atomic", after_atomic},
    {"within", within},             {"sums", sums},                 {"places", places, 1, 1, true},
    {"some_places", some_places, 1, 1, true, true},                 {"rounds", rounds, 4, 4},
};

static void judge(const Kernel &k, const Work &w, const std::vector<unsigned> &in, unsigned n, bool together)
{
    std::vector<unsigned> mask = from_device(w.mask, n), out = from_device(w.out, n), count = from_device(w.count, COUNTERS);
    std::vector<bool> taken(n);
    unsigned apart = 0, threads = 0, twice = 0;
    for (unsigned i = 0; i < n; i++) {
        apart += mask[i] != ~0u;
        if (k.odd && !(in[i] & 1))
            continue;
        threads++;
        if (k.places) {
            twice += out[i] >= n || taken[out[i] % n];
            taken[out[i] % n] = true;
        }
    }
    expect_same(k.name, count[SUM], k.each * threads);
    expect_same(k.name, twice, 0u);
    if (together) {
        expect_same(k.name, apart, 0u);
        expect_same(k.name, count[LEADERS], k.leaders * n / 32);
    }
}

int main()
{
    cudaDeviceProp prop;
    CHECK(cudaGetDeviceProperties(&prop, 0));
    const bool together = !strstr(prop.name, "CPU");
    const int launches = together ? 16 : 3; // one in four has windows under gpurace, on a GPU
    const unsigned most = 16 * 128;
    std::vector<unsigned> in(most);
    for (unsigned k = 0; k < most; k++)
        in[k] = k * 7 + (k >> 3);
    Work w = {to_device(in), device_zeros<unsigned>(most), device_zeros<unsigned>(most), device_zeros<unsigned>(COUNTERS)};
    for (const Kernel &k : kernels)
        for (int l = 0; l < launches; l++) {
            unsigned blocks = l % 3 == 2 ? 16 : l % 3 ? 4 : 1, block = l % 3 == 2 ? 128 : 64;
            CHECK(cudaMemset(w.count, 0, COUNTERS * sizeof(unsigned)));
            k.f<<<blocks, block>>>(w, 3 + l * 5 % 26);
            finish_launches();
            judge(k, w, in, blocks * block, together);
        }
    return finish();
}
