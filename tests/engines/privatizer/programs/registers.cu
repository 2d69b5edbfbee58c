// SPDX-License-Identifier: Apache-2.0
// What each thread holds in registers of all sizes from barrier to barrier. In `holds` nothing races, and each thread has to have what it had. In `keeps` a thread reads what its neighbour
// writes, and holds it over a barrier in one register alone, of a kind that the template's parameter says.
#include <cstdio>

enum { THREADS = 64 };

__global__ void holds(const int *in, long long *out) {
    __shared__ int sum[2];
    int t = threadIdx.x, v = in[t];
    short h1 = (short)(v * 3), h2 = (short)(v - 7), h3 = (short)(v ^ 0x55), h4 = (short)~v, h5 = (short)(v << 3);
    int w1 = v + 1, w2 = v * v;
    float f1 = v * .5f, f2 = v - .25f, f3 = v * 1.75f;
    long long q1 = (long long)v << 33, q2 = (long long)v * 1000003;
    double d1 = v / 3., d2 = v * 7.5;
    bool p1 = v % 3 == 0, p2 = v % 5 == 1, p3 = v > 900;
    if (t < 2)
        sum[t] = t;
    __syncthreads();
    for (int k = 0; k < in[THREADS]; k++) { // nobody knows how often
        if (t == k % THREADS)
            sum[k % 2] += k;
        h1 += p1 ? 3 : 5, h2 ^= h1, h3 = (short)(h3 + h2), h4 = (short)(h4 - h3), h5 = (short)(h5 + h4);
        w1 += p2 ? w2 : h5, w2 ^= k;
        f1 += f2, f2 = p3 ? f3 : -f2, f3 += 1;
        q1 ^= q2, q2 += w1;
        d1 += d2, d2 = -d2;
        p1 = p2 != p3, p2 = (w1 & 1) != 0, p3 = !p3;
        __syncthreads();
        w2 += sum[k % 2];
        __syncthreads();
    }
    out[t] = h1 + h2 + h3 + h4 + h5 + w1 + w2 + (long long)(f1 + f2 + f3) + q1 + q2 + (long long)(d1 + d2) + p1 + 2 * p2 + 4 * p3;
}

template <typename T> __device__ bool is(T v) { return v == 7; }

template <typename T> __global__ void keeps(T *out) {
    __shared__ volatile T cell[THREADS];
    T *plain = (T *)cell;
    plain[threadIdx.x] = 1;
    __syncthreads();
    if (threadIdx.x == 0)
        plain[0] = 7;
    T kept = threadIdx.x == THREADS - 1 ? plain[0] : 2;
    __syncthreads();
    out[threadIdx.x] = kept + plain[threadIdx.x];
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
    int sum[2] = {0, 1};
    long long want[THREADS];
    short h[5][THREADS];
    int w[2][THREADS];
    float f[3][THREADS];
    long long q[2][THREADS];
    double d[2][THREADS];
    bool p[3][THREADS];
    for (int t = 0; t < THREADS; t++) {
        int v = start[t];
        h[0][t] = (short)(v * 3), h[1][t] = (short)(v - 7), h[2][t] = (short)(v ^ 0x55), h[3][t] = (short)~v, h[4][t] = (short)(v << 3);
        w[0][t] = v + 1, w[1][t] = v * v;
        f[0][t] = v * .5f, f[1][t] = v - .25f, f[2][t] = v * 1.75f;
        q[0][t] = (long long)v << 33, q[1][t] = (long long)v * 1000003;
        d[0][t] = v / 3., d[1][t] = v * 7.5;
        p[0][t] = v % 3 == 0, p[1][t] = v % 5 == 1, p[2][t] = v > 900;
    }
    for (int k = 0; k < rounds; k++) {
        sum[k % 2] += k;
        for (int t = 0; t < THREADS; t++) {
            h[0][t] += p[0][t] ? 3 : 5, h[1][t] ^= h[0][t], h[2][t] = (short)(h[2][t] + h[1][t]), h[3][t] = (short)(h[3][t] - h[2][t]), h[4][t] = (short)(h[4][t] + h[3][t]);
            w[0][t] += p[1][t] ? w[1][t] : h[4][t], w[1][t] ^= k;
            f[0][t] += f[1][t], f[1][t] = p[2][t] ? f[2][t] : -f[1][t], f[2][t] += 1;
            q[0][t] ^= q[1][t], q[1][t] += w[0][t];
            d[0][t] += d[1][t], d[1][t] = -d[1][t];
            p[0][t] = p[1][t] != p[2][t], p[1][t] = (w[0][t] & 1) != 0, p[2][t] = !p[2][t];
            w[1][t] += sum[k % 2];
        }
    }
    for (int t = 0; t < THREADS; t++) {
        want[t] = h[0][t] + h[1][t] + h[2][t] + h[3][t] + h[4][t] + w[0][t] + w[1][t] + (long long)(f[0][t] + f[1][t] + f[2][t]) + q[0][t] + q[1][t] +
                  (long long)(d[0][t] + d[1][t]) + p[0][t] + 2 * p[1][t] + 4 * p[2][t];
        bad += want[t] != now[t];
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
