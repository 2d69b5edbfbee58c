// SPDX-License-Identifier: Apache-2.0
// Fast Fourier transforms: Stockham radix 2 with a kernel per stage on batches, radix 4 within one block in shared memory
// (bit-reversed output is put in order on the way out), and back again. Against a plain discrete transform in double.
#include "complete.h"
#include <complex>

__device__ float2 operator+(float2 a, float2 b)
{
    return {a.x + b.x, a.y + b.y};
}
__device__ float2 operator-(float2 a, float2 b)
{
    return {a.x - b.x, a.y - b.y};
}
__device__ float2 operator*(float2 a, float2 b)
{
    return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}

__global__ void stockham(const float2 *in, float2 *out, int n, int half, int stride, float sign)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n / 2)
        return;
    const float2 *x = in + (size_t)blockIdx.y * n;
    float2 *y = out + (size_t)blockIdx.y * n;
    int p = t / stride, q = t % stride;
    float s, c;
    sincospif(sign * p / half, &s, &c);
    float2 a = x[q + stride * p], b = x[q + stride * (p + half)];
    y[q + stride * 2 * p] = a + b;
    y[q + stride * (2 * p + 1)] = (a - b) * float2{c, s};
}

// One block transforms N points with N/4 threads.
template <int N> __global__ void radix4(float2 *data, float sign)
{
    __shared__ float2 x[N];
    float2 *mine = data + (size_t)blockIdx.x * N;
    int t = threadIdx.x;
    for (int k = 0; k < 4; k++)
        x[t + k * (N / 4)] = mine[t + k * (N / 4)];
    for (int span = N / 4; span >= 1; span /= 4) {
        __syncthreads();
        int j = t % span, base = t / span * 4 * span + j;
        float2 a = x[base], b = x[base + span], c = x[base + 2 * span], d = x[base + 3 * span];
        float2 ac = a + c, bd = b + d, ac2 = a - c, bd2 = b - d;
        bd2 = {-sign * bd2.y, sign * bd2.x};
        float angle = sign * 2 * j / (4 * span);
        float2 w1, w2, w3;
        sincospif(angle, &w1.y, &w1.x);
        w2 = w1 * w1;
        w3 = w2 * w1;
        x[base] = ac + bd;
        x[base + span] = (ac2 + bd2) * w1;
        x[base + 2 * span] = (ac - bd) * w2;
        x[base + 3 * span] = (ac2 - bd2) * w3;
    }
    __syncthreads();
    for (int k = 0; k < 4; k++) {
        int i = t + k * (N / 4), to = 0;
        for (int digits = i, left = N; left > 1; left /= 4, digits /= 4)
            to = to * 4 + digits % 4;
        mine[to] = x[i];
    }
}

static std::vector<float> flat(const std::vector<float2> &v)
{
    std::vector<float> f;
    for (auto &e : v)
        f.insert(f.end(), {e.x, e.y});
    return f;
}

int main()
{
    const int n = 256, batch = 5, block = 48;
    Random random(20);
    std::vector<float2> x(n * batch);
    for (auto &e : x)
        e = {random.uniform() - 0.5f, random.uniform() - 0.5f};
    std::vector<double> want;
    for (int b = 0; b < batch; b++)
        for (int k = 0; k < n; k++) {
            std::complex<double> sum = 0;
            for (int j = 0; j < n; j++)
                sum += std::complex<double>(x[b * n + j].x, x[b * n + j].y) * std::polar(1.0, -2 * M_PI * (j * k % n) / n);
            want.insert(want.end(), {sum.real(), sum.imag()});
        }
    float2 *d[2] = {to_device(x), device_new<float2>(x.size())};
    int side = 0;
    dim3 grid(blocks_for(n / 2, block), batch);
    for (int half = n / 2, stride = 1; half >= 1; half /= 2, stride *= 2, side ^= 1)
        stockham<<<grid, block>>>(d[side], d[!side], n, half, stride, -1.0f);
    expect_near("Stockham", flat(from_device(d[side], x.size())), want, 1e-5);
    for (int half = n / 2, stride = 1; half >= 1; half /= 2, stride *= 2, side ^= 1)
        stockham<<<grid, block>>>(d[side], d[!side], n, half, stride, 1.0f);
    std::vector<float> back = flat(from_device(d[side], x.size()));
    for (auto &e : back)
        e /= n;
    expect_near("Stockham, back", back, flat(x), 1e-5);

    float2 *r = to_device(x);
    radix4<n><<<batch, n / 4>>>(r, -1.0f);
    expect_near("radix 4", flat(from_device(r, x.size())), want, 1e-5);
    radix4<n><<<batch, n / 4>>>(r, 1.0f);
    back = flat(from_device(r, x.size()));
    for (auto &e : back)
        e /= n;
    expect_near("radix 4, back", back, flat(x), 1e-5);
    finish_launches();
    return finish();
}
