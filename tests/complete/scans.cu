// SPDX-License-Identifier: Apache-2.0
// Prefix sums of any length by block sums at several levels, with three block scans: Hillis and Steele in two buffers,
// Blelloch up and down a tree (with padding against bank conflicts), and warps with shuffles. Each as a template argument.
#include "complete.h"

const int BLOCK = 128;

struct HillisSteele {
    static const int elements = BLOCK;
    __device__ static void run(int *x, int n) // exclusive, in place, of `elements` numbers
    {
        __shared__ int buffer[2][BLOCK];
        int t = threadIdx.x, from = 0, own = t < n ? x[t] : 0;
        buffer[0][t] = own;
        __syncthreads();
        for (int d = 1; d < BLOCK; d *= 2, from ^= 1) {
            buffer[!from][t] = buffer[from][t] + (t >= d ? buffer[from][t - d] : 0);
            __syncthreads();
        }
        if (t < n)
            x[t] = buffer[from][t] - own;
    }
};

struct Blelloch {
    static const int elements = 2 * BLOCK;
    __device__ static int pad(int i)
    {
        return i + i / 32;
    }
    __device__ static void run(int *x, int n)
    {
        __shared__ int tree[elements + elements / 32];
        int t = threadIdx.x;
        tree[pad(t)] = t < n ? x[t] : 0;
        tree[pad(t + BLOCK)] = t + BLOCK < n ? x[t + BLOCK] : 0;
        int stride = 1;
        for (int d = elements / 2; d > 0; d /= 2, stride *= 2) {
            __syncthreads();
            if (t < d)
                tree[pad(stride * (2 * t + 2) - 1)] += tree[pad(stride * (2 * t + 1) - 1)];
        }
        if (t == 0)
            tree[pad(elements - 1)] = 0;
        for (int d = 1; d < elements; d *= 2) {
            stride /= 2;
            __syncthreads();
            if (t < d) {
                int a = pad(stride * (2 * t + 1) - 1), b = pad(stride * (2 * t + 2) - 1), left = tree[a];
                tree[a] = tree[b];
                tree[b] += left;
            }
        }
        __syncthreads();
        if (t < n)
            x[t] = tree[pad(t)];
        if (t + BLOCK < n)
            x[t + BLOCK] = tree[pad(t + BLOCK)];
    }
};

struct Shuffles {
    static const int elements = BLOCK;
    __device__ static void run(int *x, int n)
    {
        __shared__ int warps[BLOCK / 32];
        int t = threadIdx.x, lane = t % 32, own = t < n ? x[t] : 0, sum = own;
        for (int d = 1; d < 32; d *= 2) {
            int below = __shfl_up_sync(~0u, sum, d);
            sum += lane >= d ? below : 0;
        }
        if (lane == 31)
            warps[t / 32] = sum;
        __syncthreads();
        for (int w = 0; w < t / 32; w++)
            sum += warps[w];
        if (t < n)
            x[t] = sum - own;
    }
};

// One more than the elements: the last of `sums` gets the total of each block.
template <class Scan> __global__ void scan_blocks(int *x, int n, int *sums)
{
    int base = blockIdx.x * Scan::elements, count = min(Scan::elements, n - base), last = 0;
    if (threadIdx.x == 0)
        last = x[base + count - 1];
    __syncthreads();
    Scan::run(x + base, count);
    __syncthreads();
    if (threadIdx.x == 0)
        sums[blockIdx.x] = x[base + count - 1] + last;
}

__global__ void add_sums(int *x, int n, const int *sums, int elements)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += sums[i / elements];
}

template <class Scan> void scan(int *x, int n)
{
    int blocks = (int)blocks_for(n, Scan::elements);
    int *sums = device_new<int>(blocks);
    scan_blocks<Scan><<<blocks, BLOCK>>>(x, n, sums);
    if (blocks > 1) {
        scan<Scan>(sums, blocks);
        add_sums<<<blocks_for(n, BLOCK), BLOCK>>>(x, n, sums, Scan::elements);
    }
    CHECK(cudaFree(sums));
}

template <class Scan> void test(const char *name)
{
    for (int n : {1, 31, 128, 129, 1000, 40009}) {
        Random random(n);
        std::vector<int> x(n), want(n);
        for (int i = 0, sum = 0; i < n; i++) {
            x[i] = (int)random.below(1000) - 400;
            want[i] = sum;
            sum += x[i];
        }
        int *d = to_device(x);
        scan<Scan>(d, n);
        finish_launches();
        expect_same(name, from_device(d, n), want);
    }
}

int main()
{
    test<HillisSteele>("Hillis-Steele");
    test<Blelloch>("Blelloch");
    test<Shuffles>("shuffles");
    return finish();
}
