// SPDX-License-Identifier: Apache-2.0
// LABELS: exact-soak
// Blocked Cholesky factorization: the diagonal tile in one block, the panel below it, and the symmetric update, with more
// shared memory than 48 KB for the panel kernel. The last tile is smaller.
#include "complete.h"

const int TILE = 40;

__global__ void diagonal(float *a, int n, int k, int size)
{
    __shared__ float t[TILE][TILE + 1];
    for (int i = threadIdx.x; i < size * size; i += blockDim.x)
        t[i / size][i % size] = a[(k + i / size) * n + k + i % size];
    __syncthreads();
    for (int j = 0; j < size; j++) {
        if (threadIdx.x == 0)
            t[j][j] = sqrtf(t[j][j]);
        __syncthreads();
        for (int i = j + 1 + threadIdx.x; i < size; i += blockDim.x)
            t[i][j] /= t[j][j];
        __syncthreads();
        for (int e = threadIdx.x; e < size * size; e += blockDim.x) {
            int r = e / size, c = e % size;
            if (c > j && r >= c)
                t[r][c] -= t[r][j] * t[c][j];
        }
        __syncthreads();
    }
    for (int i = threadIdx.x; i < size * size; i += blockDim.x)
        if (i / size >= i % size)
            a[(k + i / size) * n + k + i % size] = t[i / size][i % size];
}

// A thread per row below the diagonal tile; the tile and all rows are in shared memory.
__global__ void panel(float *a, int n, int k, int size)
{
    extern __shared__ float shared[];
    float *tile = shared, *rows = shared + TILE * TILE;
    for (int i = threadIdx.x; i < size * size; i += blockDim.x)
        tile[i / size * TILE + i % size] = a[(k + i / size) * n + k + i % size];
    int count = n - k - size;
    for (int i = threadIdx.x; i < count * size; i += blockDim.x)
        rows[i] = a[(k + size + i / size) * n + k + i % size];
    __syncthreads();
    for (int r = threadIdx.x; r < count; r += blockDim.x)
        for (int j = 0; j < size; j++) {
            float x = rows[r * size + j];
            for (int l = 0; l < j; l++)
                x -= rows[r * size + l] * tile[j * TILE + l];
            rows[r * size + j] = x / tile[j * TILE + j];
        }
    __syncthreads();
    for (int i = threadIdx.x; i < count * size; i += blockDim.x)
        a[(k + size + i / size) * n + k + i % size] = rows[i];
}

__global__ void update(float *a, int n, int k, int size)
{
    int j = k + size + blockIdx.x * blockDim.x + threadIdx.x, i = k + size + blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j > i)
        return;
    float sum = a[i * n + j];
    for (int l = 0; l < size; l++)
        sum -= a[i * n + k + l] * a[j * n + k + l];
    a[i * n + j] = sum;
}

int main()
{
    const int n = 387;
    Random random(24);
    std::vector<float> l(n * n, 0.0f), a(n * n, 0.0f), want;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            l[i * n + j] = i == j ? 4 + random.uniform() : (random.uniform() - 0.5f) * 0.3f;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = 0;
            for (int k = 0; k <= j; k++)
                sum += (double)l[i * n + k] * l[j * n + k];
            a[i * n + j] = (float)sum; // only the lower half: the upper stays 0
        }
    size_t bytes = (TILE * TILE + (n - TILE) * TILE) * sizeof(float);
    EXPECT(bytes > 48 * 1024);
    CHECK(cudaFuncSetAttribute(panel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
    float *d = to_device(a);
    for (int k = 0; k < n; k += TILE) {
        int size = std::min(TILE, n - k), left = n - k - size;
        diagonal<<<1, 96>>>(d, n, k, size);
        if (left == 0)
            break;
        panel<<<1, 192, bytes>>>(d, n, k, size);
        update<<<dim3(blocks_for(left, 16), blocks_for(left, 16)), dim3(16, 16)>>>(d, n, k, size);
    }
    finish_launches();
    expect_near("factor", from_device(d, n * n), l, 2e-4);
    return finish();
}
