// SPDX-License-Identifier: Apache-2.0
// Separable convolution (rows, then columns, weights in constant memory, tiles with aprons), against the full 2D one on the
// CPU; a median of 3 x 3 by a sorting network, and a bilateral filter.
#include "complete.h"
#include <algorithm>

const int RADIUS = 6, TX = 32, TY = 8;

__constant__ float weights[2 * RADIUS + 1];

__global__ void rows(const float *in, float *out, int w, int h)
{
    __shared__ float tile[TY][TX + 2 * RADIUS];
    int x0 = blockIdx.x * TX - RADIUS, y = blockIdx.y * TY + threadIdx.y;
    for (int i = threadIdx.x; i < TX + 2 * RADIUS; i += TX)
        tile[threadIdx.y][i] = y < h && x0 + i >= 0 && x0 + i < w ? in[y * w + x0 + i] : 0;
    __syncthreads();
    int x = blockIdx.x * TX + threadIdx.x;
    if (x >= w || y >= h)
        return;
    float sum = 0;
#pragma unroll
    for (int k = 0; k <= 2 * RADIUS; k++)
        sum += weights[k] * tile[threadIdx.y][threadIdx.x + k];
    out[y * w + x] = sum;
}

__global__ void columns(const float *in, float *out, int w, int h)
{
    __shared__ float tile[TY + 2 * RADIUS][TX];
    int x = blockIdx.x * TX + threadIdx.x, y0 = blockIdx.y * TY - RADIUS;
    for (int i = threadIdx.y; i < TY + 2 * RADIUS; i += TY)
        tile[i][threadIdx.x] = x < w && y0 + i >= 0 && y0 + i < h ? in[(y0 + i) * w + x] : 0;
    __syncthreads();
    int y = blockIdx.y * TY + threadIdx.y;
    if (x >= w || y >= h)
        return;
    float sum = 0;
#pragma unroll
    for (int k = 0; k <= 2 * RADIUS; k++)
        sum += weights[k] * tile[threadIdx.y + k][threadIdx.x];
    out[y * w + x] = sum;
}

__host__ __device__ int clamp(int i, int n)
{
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

__global__ void median(const float *in, float *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    float v[9];
#pragma unroll
    for (int k = 0; k < 9; k++)
        v[k] = in[clamp(y + k / 3 - 1, h) * w + clamp(x + k % 3 - 1, w)];
#pragma unroll
    for (int pass = 0; pass < 5; pass++) // the five smallest come to the front, in order
#pragma unroll
        for (int k = 8; k > pass; k--) {
            float low = fminf(v[k - 1], v[k]);
            v[k] = fmaxf(v[k - 1], v[k]);
            v[k - 1] = low;
        }
    out[y * w + x] = v[4];
}

__host__ __device__ float bilateral_at(const float *in, int w, int h, int x, int y)
{
    float center = in[y * w + x], sum = 0, total = 0;
    for (int j = -2; j <= 2; j++)
        for (int i = -2; i <= 2; i++) {
            float v = in[clamp(y + j, h) * w + clamp(x + i, w)], d = v - center;
            float k = expf(-0.25f * (i * i + j * j) - 8.0f * d * d);
            sum += k * v;
            total += k;
        }
    return sum / total;
}

__global__ void bilateral(const float *in, float *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        out[y * w + x] = bilateral_at(in, w, h, x, y);
}

int main()
{
    const int w = 133, h = 59;
    float k[2 * RADIUS + 1];
    Random random(33);
    for (auto &e : k)
        e = random.uniform() - 0.3f;
    CHECK(cudaMemcpyToSymbol(weights, k, sizeof k));
    std::vector<float> in(w * h), want(w * h);
    for (auto &e : in)
        e = random.uniform();
    float *d = to_device(in), *half = device_new<float>(w * h), *out = device_new<float>(w * h);
    dim3 block(TX, TY), grid(blocks_for(w, TX), blocks_for(h, TY));
    rows<<<grid, block>>>(d, half, w, h);
    columns<<<grid, block>>>(half, out, w, h);
    finish_launches();
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            double sum = 0;
            for (int j = -RADIUS; j <= RADIUS; j++)
                for (int i = -RADIUS; i <= RADIUS; i++)
                    if (x + i >= 0 && x + i < w && y + j >= 0 && y + j < h)
                        sum += (double)k[i + RADIUS] * k[j + RADIUS] * in[(y + j) * w + x + i];
            want[y * w + x] = (float)sum;
        }
    expect_near("separable", from_device(out, w * h), want, 1e-5);
    median<<<grid, block>>>(d, out, w, h);
    finish_launches();
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            float v[9];
            for (int i = 0; i < 9; i++)
                v[i] = in[clamp(y + i / 3 - 1, h) * w + clamp(x + i % 3 - 1, w)];
            std::nth_element(v, v + 4, v + 9);
            want[y * w + x] = v[4];
        }
    expect_same("median", from_device(out, w * h), want);
    bilateral<<<grid, block>>>(d, out, w, h);
    finish_launches();
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            want[y * w + x] = bilateral_at(in.data(), w, h, x, y);
    expect_near("bilateral", from_device(out, w * h), want, 1e-5);
    return finish();
}
