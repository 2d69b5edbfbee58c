// SPDX-License-Identifier: Apache-2.0
// Speckle-reducing anisotropic diffusion (as Rodinia's srad): mean and variance by reduction, coefficients, and the update,
// with stream-ordered allocations (cudaMallocAsync) for everything between the steps.
#include "complete.h"

__global__ void moments(const float *image, int n, double *sums)
{
    double a = 0, b = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        a += image[i];
        b += (double)image[i] * image[i];
    }
    for (int d = 16; d; d /= 2) {
        a += __shfl_down_sync(~0u, a, d);
        b += __shfl_down_sync(~0u, b, d);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&sums[0], a);
        atomicAdd(&sums[1], b);
    }
}

__host__ __device__ float coefficient(float c, float n, float s, float w, float e, float q0)
{
    float dn = n - c, ds = s - c, dw = w - c, de = e - c;
    float g2 = (dn * dn + ds * ds + dw * dw + de * de) / (c * c), l = (dn + ds + dw + de) / c;
    float num = 0.5f * g2 - l * l / 16, den = 1 + 0.25f * l, q = num / (den * den);
    float k = 1 / (1 + (q - q0) / (q0 * (1 + q0)));
    return k < 0 ? 0 : k > 1 ? 1 : k;
}

__host__ __device__ int at(int x, int y, int w, int h)
{
    return (y < 0 ? 0 : y >= h ? h - 1 : y) * w + (x < 0 ? 0 : x >= w ? w - 1 : x);
}

__host__ __device__ float spread(const double *sums, int n)
{
    double mean = sums[0] / n, variance = sums[1] / n - mean * mean;
    return (float)(variance / (mean * mean));
}

__global__ void coefficients(const float *j, float *c, int w, int h, const double *sums)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        c[y * w + x] = coefficient(j[y * w + x], j[at(x, y - 1, w, h)], j[at(x, y + 1, w, h)], j[at(x - 1, y, w, h)],
                                   j[at(x + 1, y, w, h)], spread(sums, w * h));
}

__host__ __device__ float updated(const float *j, const float *c, int x, int y, int w, int h)
{
    float v = j[y * w + x], k = c[y * w + x];
    float d = k * (j[at(x, y - 1, w, h)] - v) + c[at(x, y + 1, w, h)] * (j[at(x, y + 1, w, h)] - v) +
              k * (j[at(x - 1, y, w, h)] - v) + c[at(x + 1, y, w, h)] * (j[at(x + 1, y, w, h)] - v);
    return v + 0.125f * d;
}

__global__ void update(const float *j, const float *c, float *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        out[y * w + x] = updated(j, c, x, y, w, h);
}

int main()
{
    const int w = 91, h = 67, n = w * h, steps = 8;
    Random random(59);
    std::vector<float> image(n), c(n), next(n);
    for (auto &e : image)
        e = expf(random.uniform() + (&e - image.data()) % w / 30 * 0.5f);
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    float *now, *then, *coeff;
    double *sums;
    dim3 block(24, 8), grid(blocks_for(w, 24), blocks_for(h, 8));
    CHECK(cudaMallocAsync(&now, n * sizeof(float), stream));
    CHECK(cudaMemcpyAsync(now, image.data(), n * sizeof(float), cudaMemcpyHostToDevice, stream));
    for (int s = 0; s < steps; s++) {
        CHECK(cudaMallocAsync(&then, n * sizeof(float), stream));
        CHECK(cudaMallocAsync(&coeff, n * sizeof(float), stream));
        CHECK(cudaMallocAsync(&sums, 2 * sizeof(double), stream));
        CHECK(cudaMemsetAsync(sums, 0, 2 * sizeof(double), stream));
        moments<<<5, 128, 0, stream>>>(now, n, sums);
        coefficients<<<grid, block, 0, stream>>>(now, coeff, w, h, sums);
        update<<<grid, block, 0, stream>>>(now, coeff, then, w, h);
        CHECK(cudaFreeAsync(sums, stream));
        CHECK(cudaFreeAsync(coeff, stream));
        CHECK(cudaFreeAsync(now, stream));
        now = then;
    }
    std::vector<float> got(n);
    CHECK(cudaMemcpyAsync(got.data(), now, n * sizeof(float), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaFreeAsync(now, stream));
    CHECK(cudaStreamDestroy(stream));
    for (int s = 0; s < steps; s++) {
        double m[2] = {0, 0};
        for (float v : image) {
            m[0] += v;
            m[1] += (double)v * v;
        }
        const float *j = image.data();
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++)
                c[y * w + x] = coefficient(j[y * w + x], j[at(x, y - 1, w, h)], j[at(x, y + 1, w, h)], j[at(x - 1, y, w, h)],
                                           j[at(x + 1, y, w, h)], spread(m, n));
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++)
                next[y * w + x] = updated(j, c.data(), x, y, w, h);
        image.swap(next);
    }
    expect_near("image", got, image, 1e-4);
    return finish();
}
