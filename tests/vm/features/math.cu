// SPDX-License-Identifier: Apache-2.0
// The mathematical functions of float and double against the host's, within the errors that NVIDIA documents.
#include "../../check.h"

#include <cmath>

#define FUNCTIONS(F)                                                                                                   \
    F(sin) F(cos) F(tan) F(exp) F(exp2) F(log) F(log2) F(log10) F(sqrt) F(cbrt) F(sinh) F(cosh) F(tanh) F(asin)        \
    F(acos) F(atan) F(erf) F(erfc) F(tgamma) F(lgamma) F(floor) F(ceil) F(rint) F(trunc) F(expm1) F(log1p)

enum {
#define F(f) ID_##f,
    FUNCTIONS(F)
#undef F
    FUNCTION_COUNT
};

template <class T> __global__ void all(const T *x, T *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    T v = x[i];
#define F(f) out[ID_##f * n + i] = f(v);
    FUNCTIONS(F)
#undef F
    T *r = out + FUNCTION_COUNT * n;
    r[i] = pow(v, (T)1.5);
    r[n + i] = fmod(v * 10, (T)0.3);
    r[2 * n + i] = atan2(v, (T)0.7);
    r[3 * n + i] = hypot(v, (T)3);
    r[4 * n + i] = 1 / v;
    r[5 * n + i] = fma(v, v, (T)-1);
}

template <class T> static void compare(const char *name, T x, T got, double expected, double tolerance)
{
    bool same = std::isnan(expected) ? std::isnan(got) : fabs(got - expected) <= tolerance * (fabs(expected) + 1e-3);
    if (!same && ++failures <= 10)
        printf("%s(%.17g) is %.17g, expected %.17g\n", name, (double)x, (double)got, expected);
}

template <class T> static void run(double tolerance)
{
    const int n = 128;
    static T x[n], out[(FUNCTION_COUNT + 6) * n];
    for (int i = 0; i < n; i++)
        x[i] = (T)((i + 1) / 129.0);
    T *d_x, *d_out;
    CHECK(cudaMalloc(&d_x, sizeof x));
    CHECK(cudaMalloc(&d_out, sizeof out));
    CHECK(cudaMemcpy(d_x, x, sizeof x, cudaMemcpyHostToDevice));
    all<T><<<2, 64>>>(d_x, d_out, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) {
        double v = x[i];
#define F(f) compare(#f, x[i], out[ID_##f * n + i], f(v), tolerance);
        FUNCTIONS(F)
#undef F
        const T *r = out + FUNCTION_COUNT * n;
        compare("pow 1.5", x[i], r[i], pow(v, 1.5), tolerance);
        compare("fmod", x[i], r[n + i], (double)fmod((T)(x[i] * 10), (T)0.3), 0);
        compare("atan2", x[i], r[2 * n + i], atan2(v, (T)0.7), tolerance);
        compare("hypot", x[i], r[3 * n + i], hypot(v, 3), tolerance);
        compare("reciprocal", x[i], r[4 * n + i], (double)(1 / x[i]), 0);
        compare("fma", x[i], r[5 * n + i], (double)std::fma(x[i], x[i], (T)-1), 0);
    }
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_out));
}

int main()
{
    run<float>(2e-6);
    run<double>(5e-15);
    return finish();
}
