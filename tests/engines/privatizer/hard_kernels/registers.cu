// SPDX-License-Identifier: Apache-2.0
// What each thread holds in registers of all sizes from barrier to barrier. In `holds` nothing races, and each thread has to have what it had. In `keeps` a thread reads what its neighbour
// writes, and holds it over a barrier in one register alone, of a kind that the template's parameter says.
#include <cstdio>

enum { THREADS = 64 };

struct Held {
    short h1, h2, h3, h4, h5;
    int w1, w2;
    float f1, f2, f3;
    long long q1, q2;
    double d1, d2;
    bool p1, p2, p3;

    __host__ __device__ Held(int v)
        : h1((short)(v * 3)), h2((short)(v - 7)), h3((short)(v ^ 0x55)), h4((short)~v), h5((short)(v << 3)), w1(v + 1), w2(v * v), f1(v * .5f), f2(v - .25f), f3(v * 1.75f),
          q1((long long)v << 33), q2((long long)v * 1000003), d1(v / 3.), d2(v * 7.5), p1(v % 3 == 0), p2(v % 5 == 1), p3(v > 900) {}
    __host__ __device__ void step(int k) {
        h1 += p1 ? 3 : 5, h2 ^= h1, h3 = (short)(h3 + h2), h4 = (short)(h4 - h3), h5 = (short)(h5 + h4);
        w1 += p2 ? w2 : h5, w2 ^= k;
        f1 += f2, f2 = p3 ? f3 : -f2, f3 += 1;
        q1 ^= q2, q2 += w1;
        d1 += d2, d2 = -d2;
        p1 = p2 != p3, p2 = (w1 & 1) != 0, p3 = !p3;
    }
    __host__ __device__ long long all() const {
        return h1 + h2 + h3 + h4 + h5 + w1 + w2 + (long long)(f1 + f2 + f3) + q1 + q2 + (long long)(d1 + d2) + p1 + 2 * p2 + 4 * p3;
    }
};

__global__ void holds(const int *in, long long *out) {
    __shared__ int sum[2];
    int t = threadIdx.x;
    Held held(in[t]);
    if (t < 2)
        sum[t] = t;
    __syncthreads();
    for (int k = 0; k < in[THREADS]; k++) { // nobody knows how often
        if (t == k % THREADS)
            sum[k % 2] += k;
        held.step(k);
        __syncthreads();
        held.w2 += sum[k % 2];
        __syncthreads();
    }
    out[t] = held.all();
}

template <typename T> __global__ void keeps(T *out) {
    __shared__ T cell[THREADS];
    cell[threadIdx.x] = 1;
    __syncthreads();
    if (threadIdx.x == 0)
        cell[0] = 7;
    T kept = threadIdx.x == THREADS - 1 ? cell[0] : 2;
    __syncthreads();
    out[threadIdx.x] = kept + cell[threadIdx.x];
}

__global__ void decides(int *out) {
    __shared__ int cell;
    if (threadIdx.x == 1)
        cell = 1;
    __syncthreads();
    if (threadIdx.x == 0)
        cell = 7;
    bool kept = threadIdx.x == THREADS - 1 && cell == 7;
    __syncthreads();
    out[threadIdx.x] = kept ? out[threadIdx.x + 1] : 3;
}

int main() {
    int start[THREADS + 1], *in, rounds = 9, bad = 0;
    long long *out, now[THREADS];
    for (int k = 0; k < THREADS; k++)
        start[k] = (k * 7919 + 13) % 1009;
    start[THREADS] = rounds;
    if (cudaMalloc(&in, sizeof start) || cudaMalloc(&out, (THREADS + 1) * sizeof *out) || cudaMemcpy(in, start, sizeof start, cudaMemcpyHostToDevice))
        return 1;
    holds<<<1, THREADS>>>(in, out);
    if (cudaMemcpy(now, out, sizeof now, cudaMemcpyDeviceToHost))
        return 1;
    for (int t = 0; t < THREADS; t++) {
        Held held(start[t]);
        for (int k = 0, sum[2] = {0, 1}; k < rounds; k++) {
            sum[k % 2] += k;
            held.step(k);
            held.w2 += sum[k % 2];
        }
        bad += held.all() != now[t];
    }
    keeps<short><<<1, THREADS>>>((short *)out);
    keeps<int><<<1, THREADS>>>((int *)out);
    keeps<float><<<1, THREADS>>>((float *)out);
    keeps<long long><<<1, THREADS>>>(out);
    keeps<double><<<1, THREADS>>>((double *)out);
    decides<<<1, THREADS>>>((int *)out);
    bool failed = cudaDeviceSynchronize() != cudaSuccess;
    printf("%s\n", bad || failed ? "FAIL" : "PASS");
    return bad || failed;
}
