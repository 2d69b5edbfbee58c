// SPDX-License-Identifier: Apache-2.0
// libcu++ in kernels: atomics of several scopes and types, a semaphore, a latch and a barrier in shared memory, std::span,
// array, tuple, optional, complex, chrono and bit functions.
#include "complete.h"
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/semaphore>
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/chrono>
#include <cuda/std/complex>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>

__device__ cuda::atomic<unsigned, cuda::thread_scope_device> ticket;
__device__ cuda::atomic<double, cuda::thread_scope_device> total;
__device__ cuda::counting_semaphore<cuda::thread_scope_device, 3> gate{3};
__device__ cuda::atomic<int, cuda::thread_scope_device> inside, most;

__global__ void counters(unsigned *seen, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned mine = ticket.fetch_add(1, cuda::memory_order_relaxed);
    seen[mine] = 1;
    total.fetch_add(0.5);
}

__global__ void gated()
{
    if (threadIdx.x)
        return;
    gate.acquire();
    int now = inside.fetch_add(1) + 1;
    most.fetch_max(now);
    inside.fetch_sub(1);
    gate.release();
}

typedef cuda::barrier<cuda::thread_scope_block> Barrier;

#pragma nv_diag_suppress static_var_with_dynamic_init // init() does it

__global__ void phases(int *data, int rounds)
{
    __shared__ Barrier barrier;
    __shared__ cuda::latch<cuda::thread_scope_block> *start;
    __shared__ alignas(cuda::latch<cuda::thread_scope_block>) char memory[sizeof(cuda::latch<cuda::thread_scope_block>)];
    __shared__ int row[2][128];
    int t = threadIdx.x, n = blockDim.x;
    if (t == 0) {
        init(&barrier, n);
        start = new (memory) cuda::latch<cuda::thread_scope_block>(n);
    }
    __syncthreads();
    row[0][t] = data[blockIdx.x * n + t];
    start->arrive_and_wait();
    for (int r = 0; r < rounds; r++) {
        row[(r + 1) & 1][t] = row[r & 1][t] + row[r & 1][(t + 1) % n];
        barrier.wait(barrier.arrive());
    }
    data[blockIdx.x * n + t] = row[rounds & 1][t];
}

__host__ __device__ cuda::std::optional<cuda::std::tuple<int, unsigned>> describe(cuda::std::span<const unsigned> s)
{
    unsigned bits = 0;
    int widest = 0;
    for (unsigned x : s) {
        bits += cuda::std::popcount(x);
        widest = max(widest, (int)cuda::std::bit_width(x));
    }
    if (bits % 2)
        return {};
    return cuda::std::make_tuple(widest, bits);
}

__host__ __device__ cuda::std::complex<double> power(cuda::std::complex<double> z, int n)
{
    cuda::std::array<cuda::std::complex<double>, 2> p = {1.0, z};
    for (int i = 0; i < n; i++)
        p[0] *= p[1];
    return p[0];
}

__global__ void vocabulary(const unsigned *x, int n, int each, int *widest, double *powers)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i * each >= n)
        return;
    auto part = cuda::std::span<const unsigned>(x, n).subspan(i * each, min(each, n - i * each));
    auto d = describe(part);
    widest[i] = d ? (int)(cuda::std::get<0>(*d) * 1000 + cuda::std::get<1>(*d)) : -1;
    auto z = power({1.0, i * 0.01}, 5);
    powers[2 * i] = z.real();
    powers[2 * i + 1] = z.imag();
}

// There are no atomic operations on one and two bytes: libcu++ works on the word around them.
__device__ cuda::atomic<signed char, cuda::thread_scope_device> byte{-100};

__global__ void small(short *at_the_end, unsigned *shared_sums)
{
    __shared__ short s;
    if (threadIdx.x == 0)
        s = 0;
    __syncthreads();
    cuda::atomic_ref<short, cuda::thread_scope_block>(s).fetch_add(3);
    cuda::atomic_ref<short, cuda::thread_scope_device>(*at_the_end).fetch_add(-1);
    byte.fetch_add(1);
    __syncthreads();
    if (threadIdx.x == 0)
        shared_sums[blockIdx.x] = s;
}

__global__ void nap(long long *slept)
{
    auto begin = cuda::std::chrono::system_clock::now();
    __nanosleep(2000);
    *slept = cuda::std::chrono::duration_cast<cuda::std::chrono::nanoseconds>(cuda::std::chrono::system_clock::now() - begin).count();
}

int main()
{
    const int n = 1003;
    unsigned *seen = device_zeros<unsigned>(n);
    counters<<<blocks_for(n, 96), 96>>>(seen, n);
    gated<<<40, 32>>>();
    finish_launches();
    expect_same("tickets", from_device(seen, n), std::vector<unsigned>(n, 1));
    double sum;
    int peak;
    CHECK(cudaMemcpyFromSymbol(&sum, total, sizeof sum));
    CHECK(cudaMemcpyFromSymbol(&peak, most, sizeof peak));
    expect_same("sum", sum, 0.5 * n);
    EXPECT(peak >= 1 && peak <= 3);

    const int block = 70, blocks = 3, rounds = 9;
    std::vector<int> data(block * blocks), next;
    for (size_t i = 0; i < data.size(); i++)
        data[i] = (int)(i * 37 % 101);
    int *d = to_device(data);
    phases<<<blocks, block>>>(d, rounds);
    finish_launches();
    for (int r = 0; r < rounds; r++) {
        next = data;
        for (int b = 0; b < blocks; b++)
            for (int t = 0; t < block; t++)
                next[b * block + t] = data[b * block + t] + data[b * block + (t + 1) % block];
        data = next;
    }
    expect_same("phases", from_device(d, data.size()), data);

    Random random(44);
    std::vector<unsigned> x(n);
    for (auto &e : x)
        e = random.next() >> random.below(32);
    const int each = 7, parts = (n + each - 1) / each;
    int *widest = device_new<int>(parts);
    double *powers = device_new<double>(2 * parts);
    vocabulary<<<blocks_for(parts, 64), 64>>>(to_device(x), n, each, widest, powers);
    finish_launches();
    std::vector<int> want;
    std::vector<double> want_powers;
    for (int i = 0; i < parts; i++) {
        auto part = describe(cuda::std::span<const unsigned>(x.data(), n).subspan(i * each, std::min(each, n - i * each)));
        want.push_back(part ? (int)(cuda::std::get<0>(*part) * 1000 + cuda::std::get<1>(*part)) : -1);
        auto z = power({1.0, i * 0.01}, 5);
        want_powers.insert(want_powers.end(), {z.real(), z.imag()});
    }
    expect_same("spans", from_device(widest, parts), want);
    expect_near("powers", from_device(powers, 2 * parts), want_powers, 1e-12);
    short *one = device_zeros<short>(1);
    unsigned *shared_sums = device_zeros<unsigned>(2);
    signed char last;
    small<<<2, 40>>>(one, shared_sums);
    finish_launches();
    expect_same("two bytes", from_device(one), (short)-80);
    expect_same("in shared memory", from_device(shared_sums, 2), std::vector<unsigned>(2, 120));
    CHECK(cudaMemcpyFromSymbol(&last, byte, 1));
    expect_same("one byte", last, (signed char)-20);
    long long *slept = device_new<long long>(1);
    nap<<<1, 1>>>(slept);
    finish_launches();
    EXPECT(from_device(slept) > 0); // a GPU sleeps for up to twice as long as told, or less
    return finish();
}
