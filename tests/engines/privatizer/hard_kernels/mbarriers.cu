// SPDX-License-Identifier: Apache-2.0
// Threads that arrive and wait at mbarriers. `mbarriers`: a kernel without races, whose results are looked at; `mbarriers racy`: each has the races that are named.
#include <cstdint>
#include <cstdio>
#include <cstring>

enum { BLOCKS = 3, HALF = 64, ROUNDS = 5, SLOTS = 2 };

__device__ uint32_t at(uint64_t *bar) { return (uint32_t)__cvta_generic_to_shared(bar); }
__device__ void make(uint64_t *bar, int n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at(bar)), "r"(n) : "memory"); }
__device__ uint64_t arrive(uint64_t *bar) {
    uint64_t token;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(at(bar)) : "memory");
    return token;
}
__device__ void wait(uint64_t *bar, uint64_t token) {
    asm volatile("{ .reg .pred p;\nAGAIN: mbarrier.test_wait.shared.b64 p, [%0], %1;\n@!p bra AGAIN; }" ::"r"(at(bar)), "l"(token) : "memory");
}
__device__ void wait_parity(uint64_t *bar, int parity) {
    asm volatile("{ .reg .pred p;\nAGAIN: mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n@!p bra AGAIN; }" ::"r"(at(bar)), "r"(parity) : "memory");
}

enum Lack { NOTHING, LATE_WRITE, NO_FULL };

// One half of a block fills slots that the other half adds up.
template <Lack LACKS> __global__ void hands_over(const int *in, int *out) {
    __shared__ int slot[SLOTS][HALF];
    __shared__ uint64_t full[SLOTS], empty[SLOTS], all;
    int t = threadIdx.x, sum = 0;
    if (t == 0) {
        make(&all, 2 * HALF);
        for (int k = 0; k < SLOTS; k++) {
            make(&full[k], HALF);
            make(&empty[k], HALF);
        }
    }
    __syncthreads();
    if (t < HALF) {
        for (int r = 0; r < ROUNDS; r++) {
            int k = r % SLOTS;
            if (r >= SLOTS)
                wait_parity(&empty[k], r / SLOTS + 1 & 1);
            if (LACKS == LATE_WRITE && r == 2)
                arrive(&full[k]);
            slot[k][t] = in[t] * (r + 1);
            if (!(LACKS == LATE_WRITE && r == 2))
                arrive(&full[k]);
        }
        arrive(&all);
        if (t < 5)
            return;
    } else {
        for (int r = 0; r < ROUNDS; r++) {
            int k = r % SLOTS;
            if (!(LACKS == NO_FULL && r == 0))
                wait_parity(&full[k], r / SLOTS & 1);
            if (LACKS == LATE_WRITE)
                sum += slot[k][2 * HALF - 1 - t]; // RACE
            else if (LACKS == NO_FULL)
                sum += slot[k][2 * HALF - 1 - t]; // RACE
            else
                sum += slot[k][2 * HALF - 1 - t];
            arrive(&empty[k]);
        }
        wait(&all, arrive(&all));
    }
    if (t >= HALF)
        out[blockIdx.x * HALF + t - HALF] = sum;
}

// All threads of the block meet, and what they read decides where they write.
template <bool RACY> __global__ void meets(const int *in, int *out) {
    __shared__ int a[HALF], b[HALF], c[HALF];
    __shared__ uint64_t all;
    int t = threadIdx.x;
    if (t == 0)
        make(&all, HALF);
    a[t] = c[t] = 0;
    __syncthreads();
    for (int r = 0; r < 4; r++) {
        a[(t + r) % HALF] = in[t];
        uint64_t token = arrive(&all);
        int own = t * r;
        if (RACY && r == 1)
            own += 1000 * a[(t + 40) % HALF]; // RACE
        wait(&all, token);
        b[a[(t + r) % HALF]] = own;
        wait(&all, arrive(&all));
        if (RACY && r == 3)
            c[b[t] / 6 % HALF] = t; // RACE
    }
    wait(&all, arrive(&all));
    out[blockIdx.x * HALF + t] = RACY ? c[t / 2] : b[t];
}

// Nobody comes: the block stops, and what was before is checked.
__global__ void waits(int *flag, int *out) {
    __shared__ int s[HALF];
    __shared__ uint64_t one;
    int t = threadIdx.x;
    if (t == 0)
        make(&one, 1);
    s[t / 2] = t; // RACE
    __syncthreads();
    if (t == 0 && atomicAdd(flag, 1) == BLOCKS - 1) // the last block arrives
        for (int k = 0; k < BLOCKS; k++)
            atomicExch(&flag[1 + k], 1);
    if (t == 0) {
        while (!*(volatile int *)&flag[1 + blockIdx.x])
            ;
        arrive(&one);
    }
    wait_parity(&one, 0);
    out[blockIdx.x * HALF + t] = s[t / 2];
}

int main(int argc, char **argv) {
    enum { N = BLOCKS * HALF };
    int *in, *out, got[N], was[HALF];
    cudaMalloc(&in, sizeof was);
    cudaMalloc(&out, sizeof got);
    for (int i = 0; i < HALF; i++)
        was[i] = HALF - 1 - i;
    cudaMemcpy(in, was, sizeof was, cudaMemcpyHostToDevice);
    if (argc > 1 && !strcmp(argv[1], "racy")) {
        int *flag;
        cudaMalloc(&flag, 4 * (BLOCKS + 1));
        cudaMemset(flag, 0, 4 * (BLOCKS + 1));
        hands_over<LATE_WRITE><<<BLOCKS, 2 * HALF>>>(in, out);
        hands_over<NO_FULL><<<BLOCKS, 2 * HALF>>>(in, out);
        meets<true><<<BLOCKS, HALF>>>(in, out);
        waits<<<BLOCKS, HALF>>>(flag, out);
        return cudaDeviceSynchronize() != cudaSuccess;
    }
    bool right = true;
    auto look = [&](auto want) {
        right = right && cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost) == cudaSuccess;
        for (int i = 0; i < N; i++)
            right = right && got[i] == want(i % HALF);
    };
    hands_over<NOTHING><<<BLOCKS, 2 * HALF>>>(in, out);
    look([](int i) { return i * ROUNDS * (ROUNDS + 1) / 2; });
    meets<false><<<BLOCKS, HALF>>>(in, out);
    look([](int i) { return (HALF - 1 - i) * 3; });
    puts(right ? "PASS" : "FAIL");
    return !right;
}
