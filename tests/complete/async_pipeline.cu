// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies to shared memory: cuda::pipeline with several stages per thread and per block, with producer and
// consumer warps, cooperative groups' memcpy_async, the __pipeline primitives (cp.async), and cuda::memcpy_async on a barrier
// (bulk copies where the alignment allows them).
#include "complete.h"
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;

#pragma nv_diag_suppress static_var_with_dynamic_init // the library's init() does it

const int BLOCK = 96, STAGES = 3;

__device__ int mix(int x, int y)
{
    return x * 31 + (y ^ x >> 3);
}

// Every thread copies for itself what it reads: no barrier is needed.
__global__ void per_thread(const int4 *in, int *out, int tiles)
{
    __shared__ int4 buffer[STAGES][BLOCK];
    auto pipe = cuda::make_pipeline();
    int t = threadIdx.x, sum = 0;
    const int4 *mine = in + (size_t)blockIdx.x * tiles * BLOCK + t;
    for (int fetched = 0, used = 0; used < tiles; used++) {
        for (; fetched < tiles && fetched < used + STAGES; fetched++) {
            pipe.producer_acquire();
            cuda::memcpy_async(&buffer[fetched % STAGES][t], mine + fetched * BLOCK, cuda::aligned_size_t<16>(16), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        int4 v = buffer[used % STAGES][t];
        sum = mix(sum, v.x + v.y - v.z + v.w);
        pipe.consumer_release();
    }
    out[blockIdx.x * BLOCK + t] = sum;
}

// The block copies together, and reads what others copied.
__global__ void per_block(const int *in, int *out, int tiles)
{
    __shared__ int buffer[2][BLOCK];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    const int *mine = in + (size_t)blockIdx.x * tiles * BLOCK;
    int t = threadIdx.x, sum = 0;
    pipe.producer_acquire();
    cuda::memcpy_async(block, buffer[0], mine, sizeof(int) * BLOCK, pipe);
    pipe.producer_commit();
    for (int i = 0; i < tiles; i++) {
        if (i + 1 < tiles) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, buffer[(i + 1) % 2], mine + (i + 1) * BLOCK, sizeof(int) * BLOCK, pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum = mix(sum, buffer[i % 2][(t + 7) % BLOCK] + buffer[i % 2][BLOCK - 1 - t]);
        pipe.consumer_release();
    }
    out[blockIdx.x * BLOCK + t] = sum;
}

// One warp fetches, the others compute.
__global__ void specialized(const int *in, int *out, int tiles)
{
    __shared__ int buffer[STAGES][BLOCK];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    auto block = cg::this_thread_block();
    bool producer = threadIdx.x >= BLOCK;
    auto pipe = cuda::make_pipeline(block, &state, producer ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    const int *mine = in + (size_t)blockIdx.x * tiles * BLOCK;
    if (producer) {
        int lane = threadIdx.x - BLOCK;
        for (int i = 0; i < tiles; i++) {
            pipe.producer_acquire();
            for (int k = lane; k < BLOCK; k += 32)
                cuda::memcpy_async(&buffer[i % STAGES][k], mine + i * BLOCK + k, sizeof(int), pipe);
            pipe.producer_commit();
        }
        return;
    }
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < tiles; i++) {
        pipe.consumer_wait();
        sum = mix(sum, buffer[i % STAGES][(t + 7) % BLOCK] + buffer[i % STAGES][BLOCK - 1 - t]);
        pipe.consumer_release();
    }
    out[blockIdx.x * BLOCK + t] = sum;
}

__global__ void groups(const int *in, int *out, int tiles)
{
    __shared__ int buffer[2][BLOCK];
    auto block = cg::this_thread_block();
    const int *mine = in + (size_t)blockIdx.x * tiles * BLOCK;
    int t = threadIdx.x, sum = 0;
    cg::memcpy_async(block, buffer[0], mine, sizeof(int) * BLOCK);
    for (int i = 0; i < tiles; i++) {
        if (i + 1 < tiles) {
            cg::memcpy_async(block, buffer[(i + 1) % 2], mine + (i + 1) * BLOCK, sizeof(int) * BLOCK);
            cg::wait_prior<1>(block);
        } else {
            cg::wait(block);
        }
        sum = mix(sum, buffer[i % 2][(t + 7) % BLOCK] + buffer[i % 2][BLOCK - 1 - t]);
        block.sync(); // before it is filled again
    }
    out[blockIdx.x * BLOCK + t] = sum;
}

// 4-byte copies by cp.async, with zeros where the row ends.
__global__ void primitives(const float *in, float *out, int width, int rows)
{
    __shared__ float row[2][BLOCK + 2];
    int t = threadIdx.x, x = blockIdx.x * BLOCK + t;
    auto fetch = [&](int r) {
        if (r < rows) {
            for (int k = t; k < BLOCK + 2; k += BLOCK) {
                int at = (int)blockIdx.x * BLOCK + k - 1;
                bool inside = at >= 0 && at < width;
                __pipeline_memcpy_async(&row[r % 2][k], &in[r * width + (inside ? at : 0)], 4, inside ? 0 : 4);
            }
        }
        __pipeline_commit();
    };
    fetch(0);
    for (int r = 0; r < rows; r++) {
        fetch(r + 1);
        __pipeline_wait_prior(1);
        __syncthreads();
        if (x < width)
            out[r * width + x] = row[r % 2][t] + 2 * row[r % 2][t + 1] + row[r % 2][t + 2];
        __syncthreads();
    }
}

__global__ void bulk(const double *in, double *out, int tiles)
{
    __shared__ alignas(16) double buffer[2][BLOCK];
    __shared__ cuda::barrier<cuda::thread_scope_block> ready[2];
    auto block = cg::this_thread_block();
    const double *mine = in + (size_t)blockIdx.x * tiles * BLOCK;
    double *to = out + (size_t)blockIdx.x * tiles * BLOCK;
    int t = threadIdx.x;
    if (t < 2)
        init(&ready[t], BLOCK);
    block.sync();
    cuda::memcpy_async(block, buffer[0], mine, cuda::aligned_size_t<16>(sizeof(double) * BLOCK), ready[0]);
    for (int i = 0; i < tiles; i++) {
        if (i + 1 < tiles)
            cuda::memcpy_async(block, buffer[(i + 1) % 2], mine + (i + 1) * BLOCK, cuda::aligned_size_t<16>(sizeof(double) * BLOCK),
                               ready[(i + 1) % 2]);
        ready[i % 2].arrive_and_wait();
        to[i * BLOCK + t] = buffer[i % 2][BLOCK - 1 - t] * 0.5;
        block.sync();
    }
}

int main()
{
    const int blocks = 5, tiles = 11, n = blocks * tiles * BLOCK;
    Random random(56);
    std::vector<int> x(4 * n), want(blocks * BLOCK), want4(blocks * BLOCK);
    for (auto &e : x)
        e = (int)random.below(100000);
    for (int b = 0; b < blocks; b++)
        for (int t = 0; t < BLOCK; t++) {
            int sum = 0, sum4 = 0;
            auto step = [](int a, int y) { return (int)((unsigned)a * 31 + (unsigned)(y ^ a >> 3)); };
            for (int i = 0; i < tiles; i++) {
                const int *tile = &x[(b * tiles + i) * BLOCK], *v = &x[4 * ((b * tiles + i) * BLOCK + t)];
                sum = step(sum, tile[(t + 7) % BLOCK] + tile[BLOCK - 1 - t]);
                sum4 = step(sum4, v[0] + v[1] - v[2] + v[3]);
            }
            want[b * BLOCK + t] = sum;
            want4[b * BLOCK + t] = sum4;
        }
    int *d = to_device(x), *out = device_new<int>(blocks * BLOCK);
    per_thread<<<blocks, BLOCK>>>((const int4 *)d, out, tiles);
    finish_launches();
    expect_same("per thread", from_device(out, want.size()), want4);
    const struct {
        const char *name;
        void (*kernel)(const int *, int *, int);
        int threads;
    } ways[] = {{"per block", per_block, BLOCK}, {"specialized", specialized, BLOCK + 32}, {"groups", groups, BLOCK}};
    for (auto &way : ways) {
        CHECK(cudaMemset(out, 0, want.size() * sizeof(int)));
        way.kernel<<<blocks, way.threads>>>(d, out, tiles);
        finish_launches();
        expect_same(way.name, from_device(out, want.size()), want);
    }

    const int width = 331, rows = 9;
    std::vector<float> f(width * rows), want_f(f.size());
    for (auto &e : f)
        e = random.uniform();
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < width; i++)
            want_f[r * width + i] = (i ? f[r * width + i - 1] : 0) + 2 * f[r * width + i] + (i + 1 < width ? f[r * width + i + 1] : 0);
    float *out_f = device_new<float>(f.size());
    primitives<<<blocks_for(width, BLOCK), BLOCK>>>(to_device(f), out_f, width, rows);
    finish_launches();
    expect_near("primitives", from_device(out_f, f.size()), want_f, 1e-6);

    std::vector<double> g(n), want_g(n);
    for (auto &e : g)
        e = random.uniform();
    for (int i = 0; i < n; i++)
        want_g[i] = g[i / BLOCK * BLOCK + BLOCK - 1 - i % BLOCK] * 0.5;
    double *out_g = device_new<double>(n);
    bulk<<<blocks, BLOCK>>>(to_device(g), out_g, tiles);
    finish_launches();
    expect_same("bulk", from_device(out_g, n), want_g);
    return finish();
}
