// SPDX-License-Identifier: Apache-2.0
// bisect small (LDetector, table V; CUDA SDK): eigenvalues of a symmetric tridiagonal matrix. One block halves intervals and keeps the halves that have eigenvalues, until they
// are narrow. No race.
#include "program.h"

#include <cmath>

enum { MOST = 512 };

// How many eigenvalues are below x: the signs of a Sturm sequence.
__host__ __device__ static int below(const float *diagonal, const float *beside, int n, float x) {
    int count = 0;
    float d = 1;
    for (int k = 0; k < n; k++) {
        d = diagonal[k] - x - (k ? beside[k] * beside[k] / d : 0);
        d = fabsf(d) < 1e-20f ? -1e-20f : d;
        count += d < 0;
    }
    return count;
}

__global__ void bisect(const float *diagonal, const float *beside, float *eigenvalue, int n, float low, float high, float narrow) {
    __shared__ float left[MOST], right[MOST];
    __shared__ unsigned short first[MOST], end[MOST];
    __shared__ int place[2][MOST];
    int t = threadIdx.x, active = 1;
    if (t == 0) {
        left[0] = low, right[0] = high;
        first[0] = 0, end[0] = (unsigned short)n;
    }
    __syncthreads();
    for (int step = 0; step < 40; step++) {
        float l = 0, r = 0, middle = 0;
        int f = 0, e = 0, count = 0, children = 0, now = 0;
        if (t < active) {
            l = left[t], r = right[t], f = first[t], e = end[t];
            middle = r - l > narrow ? (l + r) / 2 : r;
            count = r - l > narrow ? below(diagonal, beside, n, middle) : e;
            children = (count > f) + (e > count);
        }
        place[0][t] = children;
        __syncthreads();
        for (int d = 1; d < MOST; d *= 2, now ^= 1) {
            place[now ^ 1][t] = place[now][t] + (t >= d ? place[now][t - d] : 0);
            __syncthreads();
        }
        active = place[now][MOST - 1];
        int to = place[now][t] - children;
        if (count > f) {
            left[to] = l, right[to] = middle;
            first[to] = (unsigned short)f, end[to] = (unsigned short)count;
            to++;
        }
        if (e > count && children) {
            left[to] = middle, right[to] = r;
            first[to] = (unsigned short)count, end[to] = (unsigned short)e;
        }
        __syncthreads();
        if (__syncthreads_and(t >= active || right[t] - left[t] <= narrow))
            break;
    }
    for (int k = t < active ? first[t] : MOST; k < (t < active ? end[t] : 0); k++)
        eigenvalue[k] = (left[t] + right[t]) / 2;
}

int main(int argc, char **argv) {
    Program p(argc, argv);
    int n = (int)p.part(MOST, 8);
    std::vector<float> d(n), b(n);
    for (int k = 0; k < n; k++)
        d[k] = (float)(scrambled(k) % 1000) / 100, b[k] = (float)(scrambled(k + n) % 100) / 100;
    const float low = -3, high = 13, narrow = 1e-3f; // Gershgorin's circles are in there
    float *diagonal = p.memory(d), *beside = p.memory(b), *eigenvalue = p.memory<float>(n);
    p.time(bisect, 1, MOST, [] {}, [&] { bisect<<<1, MOST>>>(diagonal, beside, eigenvalue, n, low, high, narrow); });
    std::vector<float> out = p.host(eigenvalue, n);
    bool right = true;
    for (int k = 0; k < n; k++)
        right &= below(d.data(), b.data(), n, out[k] - narrow) <= k && below(d.data(), b.data(), n, out[k] + narrow) > k;
    return p.verdict(right);
}
