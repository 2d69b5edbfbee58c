// SPDX-License-Identifier: Apache-2.0
// LU decomposition with partial pivoting (one launch each for pivot, exchange, and update of what is left), then the
// solution of a linear system by forward and backward substitution in one block. Rodinia's lud and gaussian in one.
#include "complete.h"

__global__ void find_pivot(const double *a, int n, int k, int *pivot)
{
    __shared__ double best[64];
    __shared__ int where[64];
    int t = threadIdx.x;
    best[t] = -1;
    where[t] = n;
    for (int i = k + t; i < n; i += 64)
        if (fabs(a[i * n + k]) > best[t]) {
            best[t] = fabs(a[i * n + k]);
            where[t] = i;
        }
    for (int d = 32; d > 0; d /= 2) {
        __syncthreads();
        if (t < d && (best[t + d] > best[t] || (best[t + d] == best[t] && where[t + d] < where[t]))) {
            best[t] = best[t + d];
            where[t] = where[t + d];
        }
    }
    if (t == 0)
        pivot[k] = where[0];
}

__global__ void exchange(double *a, double *b, int n, int k, const int *pivot)
{
    int p = pivot[k], j = blockIdx.x * blockDim.x + threadIdx.x;
    if (p == k || j > n)
        return;
    double *x = j < n ? &a[k * n + j] : &b[k], *y = j < n ? &a[p * n + j] : &b[p], t = *x;
    *x = *y;
    *y = t;
}

__global__ void scale(double *a, int n, int k)
{
    int i = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[i * n + k] /= a[k * n + k];
}

__global__ void update(double *a, int n, int k)
{
    int j = k + 1 + blockIdx.x * blockDim.x + threadIdx.x, i = k + 1 + blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j < n)
        a[i * n + j] -= a[i * n + k] * a[k * n + j];
}

__global__ void substitute(const double *a, double *b, int n)
{
    for (int k = 0; k < n; k++) {
        for (int i = k + 1 + threadIdx.x; i < n; i += blockDim.x)
            b[i] -= a[i * n + k] * b[k];
        __syncthreads();
    }
    for (int k = n - 1; k >= 0; k--) {
        if (threadIdx.x == 0)
            b[k] /= a[k * n + k];
        __syncthreads();
        for (int i = threadIdx.x; i < k; i += blockDim.x)
            b[i] -= a[i * n + k] * b[k];
        __syncthreads();
    }
}

int main()
{
    const int n = 67;
    Random random(23);
    std::vector<double> a(n * n), x(n), b(n, 0.0);
    for (auto &e : a)
        e = random.uniform() - 0.5;
    for (auto &e : x)
        e = random.uniform() * 10;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            b[i] += a[i * n + j] * x[j];
    double *d_a = to_device(a), *d_b = to_device(b);
    int *pivot = device_new<int>(n);
    for (int k = 0; k < n; k++) {
        find_pivot<<<1, 64>>>(d_a, n, k, pivot);
        exchange<<<blocks_for(n + 1, 64), 64>>>(d_a, d_b, n, k, pivot);
        if (k == n - 1)
            break;
        scale<<<blocks_for(n - 1 - k, 64), 64>>>(d_a, n, k);
        update<<<dim3(blocks_for(n - 1 - k, 16), blocks_for(n - 1 - k, 8)), dim3(16, 8)>>>(d_a, n, k);
    }
    substitute<<<1, 80>>>(d_a, d_b, n);
    finish_launches();
    expect_near("solution", from_device(d_b, n), x, 1e-9);

    std::vector<int> want_pivot(n);
    for (int k = 0; k < n; k++) {
        int p = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(a[i * n + k]) > fabs(a[p * n + k]))
                p = i;
        want_pivot[k] = p;
        for (int j = 0; j < n; j++)
            std::swap(a[k * n + j], a[p * n + j]);
        for (int i = k + 1; i < n; i++) {
            a[i * n + k] /= a[k * n + k];
            for (int j = k + 1; j < n; j++)
                a[i * n + j] -= a[i * n + k] * a[k * n + j];
        }
    }
    expect_same("pivots", from_device(pivot, n), want_pivot);
    expect_near("factors", from_device(d_a, n * n), a, 1e-9);
    return finish();
}
