// SPDX-License-Identifier: Apache-2.0
// Half precision and bfloat16: dot products in pairs with fused multiply-add, softmax, conversions both ways, comparisons and
// atomics on pairs, and 8-bit dot products (dp4a, dp2a) of a quantized layer.
#include "complete.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T> struct Pair;
template <> struct Pair<__half> {
    typedef __half2 type;
    __host__ __device__ static __half from(float x)
    {
        return __float2half(x);
    }
    __host__ __device__ static float to(__half x)
    {
        return __half2float(x);
    }
};
template <> struct Pair<__nv_bfloat16> {
    typedef __nv_bfloat162 type;
    __host__ __device__ static __nv_bfloat16 from(float x)
    {
        return __float2bfloat16(x);
    }
    __host__ __device__ static float to(__nv_bfloat16 x)
    {
        return __bfloat162float(x);
    }
};

template <class T> __global__ void polynomial(const T *x, T *y, int n)
{
    typedef typename Pair<T>::type Two;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (2 * i + 1 < n) {
        Two v = ((const Two *)x)[i], a = {Pair<T>::from(0.5f), Pair<T>::from(-0.25f)}, b = {Pair<T>::from(1.5f), Pair<T>::from(2.0f)};
        Two p = __hfma2(__hfma2(a, v, b), v, a);
        ((Two *)y)[i] = __hmax2(p, __hneg2(p)) - v * b;
    } else if (2 * i < n) {
        y[2 * i] = x[2 * i];
    }
}

// A row per block: exp(x - max) / sum, sums in float.
__global__ void softmax(const __half *in, __half *out, int width)
{
    __shared__ float shared[32];
    const __half *row = in + blockIdx.x * width;
    auto all = [&](float v, bool adding) {
        for (int d = 16; d; d /= 2) {
            float o = __shfl_xor_sync(~0u, v, d);
            v = adding ? v + o : fmaxf(v, o);
        }
        __syncthreads();
        if (threadIdx.x % 32 == 0)
            shared[threadIdx.x / 32] = v;
        __syncthreads();
        v = shared[0];
        for (int w = 1; w < blockDim.x / 32; w++)
            v = adding ? v + shared[w] : fmaxf(v, shared[w]);
        return v;
    };
    float top = -INFINITY, sum = 0;
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        top = fmaxf(top, __half2float(row[i]));
    top = all(top, false);
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        sum += __expf(__half2float(row[i]) - top);
    sum = all(sum, true);
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        out[blockIdx.x * width + i] = __float2half_rn(__expf(__half2float(row[i]) - top) / sum);
}

__global__ void count_pairs(const __half2 *x, int n, __half2 *sum, int *greater)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    atomicAdd(sum, __floats2half2_rn(1.0f, __hgt(__low2half(x[i]), __high2half(x[i])) ? 1.0f : 0.0f));
    if (__hbgt2(x[i], __float2half2_rn(0.0f)))
        atomicAdd(greater, 1);
}

__global__ void quantized(const int *a, const int *b, int *out, int words, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x, sum = 0, half = 0;
    if (row >= rows)
        return;
    for (int i = 0; i < words; i++) {
        sum = __dp4a(a[row * words + i], b[i], sum);
        half = __dp2a_lo(a[row * words + i], b[i], half);
    }
    out[2 * row] = sum;
    out[2 * row + 1] = half;
}

template <class T> static void test_polynomial(const char *name)
{
    const int n = 1003;
    Random random(52);
    std::vector<T> x(n), want(n);
    for (auto &e : x)
        e = Pair<T>::from(4 * random.uniform() - 2);
    for (int i = 0; i < n; i++) { // rounded after each operation, as the device does
        auto r = [](double v) { return Pair<T>::to(Pair<T>::from((float)v)); };
        float v = Pair<T>::to(x[i]), a = i % 2 ? -0.25f : 0.5f, b = i % 2 ? 2.0f : 1.5f;
        float p = r((double)r((double)a * v + b) * v + a);
        want[i] = i == n - 1 ? x[i] : Pair<T>::from(fabsf(p) - r(v * b));
    }
    T *y = device_new<T>(n);
    polynomial<T><<<blocks_for((n + 1) / 2, 64), 64>>>(to_device(x), y, n);
    finish_launches();
    std::vector<float> got_f, want_f;
    std::vector<T> got = from_device(y, n);
    for (int i = 0; i < n; i++) {
        got_f.push_back(Pair<T>::to(got[i]));
        want_f.push_back(Pair<T>::to(want[i]));
    }
    // The compiler may fuse the last multiplication and subtraction, which then round once: a unit in the last place.
    expect_near(name, got_f, want_f, sizeof(T) && name[0] == 'h' ? 4e-3 : 3e-2);
}

int main()
{
    test_polynomial<__half>("half");
    test_polynomial<__nv_bfloat16>("bfloat16");
    const int rows = 7, width = 201;
    Random random(53);
    std::vector<__half> in(rows * width);
    for (auto &e : in)
        e = __float2half(10 * random.uniform() - 5);
    __half *out = device_new<__half>(in.size()), *d = to_device(in);
    softmax<<<rows, 96>>>(d, out, width);
    finish_launches();
    std::vector<double> want(in.size());
    for (int r = 0; r < rows; r++) {
        double sum = 0;
        for (int i = 0; i < width; i++)
            sum += want[r * width + i] = exp((double)__half2float(in[r * width + i]));
        for (int i = 0; i < width; i++)
            want[r * width + i] /= sum;
    }
    std::vector<float> got;
    for (auto &e : from_device(out, in.size()))
        got.push_back(__half2float(e));
    expect_near("softmax", got, want, 1e-4);

    int pairs = (int)in.size() / 2, low = 0, both = 0, *greater = device_zeros<int>(1);
    for (int i = 0; i < pairs; i++) {
        float a = __half2float(in[2 * i]), b = __half2float(in[2 * i + 1]);
        low += a > b;
        both += a > 0 && b > 0;
    }
    __half2 *sum = device_zeros<__half2>(1);
    count_pairs<<<blocks_for(pairs, 96), 96>>>((__half2 *)d, pairs, sum, greater);
    finish_launches();
    __half2 s = from_device(sum);
    expect_same("pairs", (int)__half2float(s.x), pairs);
    expect_same("in order", (int)__half2float(s.y), low);
    expect_same("both positive", from_device(greater), both);

    const int words = 19, neurons = 77;
    std::vector<int> a(words * neurons), b(words), want_sums;
    for (auto &e : a)
        e = (int)random.next();
    for (auto &e : b)
        e = (int)random.next();
    for (int r = 0; r < neurons; r++) {
        int total = 0, half = 0;
        for (int i = 0; i < words; i++)
            for (int k = 0; k < 4; k++) {
                int x = (signed char)(a[r * words + i] >> 8 * k), y = (signed char)(b[i] >> 8 * k);
                total += x * y;
                if (k < 2)
                    half += (short)(a[r * words + i] >> 16 * k) * y;
            }
        want_sums.insert(want_sums.end(), {total, half});
    }
    int *sums = device_new<int>(2 * neurons);
    quantized<<<blocks_for(neurons, 32), 32>>>(to_device(a), to_device(b), sums, words, neurons);
    finish_launches();
    expect_same("quantized", from_device(sums, 2 * neurons), want_sums);
    return finish();
}
