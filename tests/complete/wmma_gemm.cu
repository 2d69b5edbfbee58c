// SPDX-License-Identifier: Apache-2.0
// Matrix products by nvcuda::wmma, of several types and fragment shapes: tiles in padded shared memory that four warps share,
// A by rows and B by columns or by rows; alpha and beta applied to the fragments; and one that goes without shared memory.
#include "complete.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

const int WARPS = 4;

// How the elements of a fragment type lie in memory, and what the host makes of a small number.
template <class T> struct Element { typedef T memory; static T of(int v) { return (T)v; } static double back(T v) { return (double)v; } };
template <> struct Element<__half> { typedef __half memory; static __half of(int v) { return __float2half((float)v / 2); } static double back(__half v) { return __half2float(v); } };
template <> struct Element<__nv_bfloat16> { typedef __nv_bfloat16 memory; static __nv_bfloat16 of(int v) { return __float2bfloat16((float)v / 2); } static double back(__nv_bfloat16 v) { return __bfloat162float(v); } };
template <> struct Element<wmma::precision::tf32> { typedef float memory; static float of(int v) { return (float)v / 2; } static double back(float v) { return v; } };

// C (m x n) = alpha A B + beta C. A block computes 2 x 2 fragments, one a warp; K is walked in steps of FK.
template <class T, class Acc, int FM, int FN, int FK, class LayoutB>
__global__ void tiled(int n, int k, Acc alpha, const typename Element<T>::memory *a, const typename Element<T>::memory *b, Acc beta, Acc *c)
{
    typedef typename Element<T>::memory M;
    const int PAD = 16 / sizeof(M); // lines stay aligned to 16 bytes, and 32 where a fragment starts
    const bool by_columns = std::is_same<LayoutB, wmma::col_major>::value;
    const int LA = FK + PAD, LB = (by_columns ? FK : 2 * FN) + PAD;
    __shared__ alignas(32) M as[2 * FM * LA];
    __shared__ alignas(32) M bs[(by_columns ? 2 * FN : FK) * LB];
    int t = threadIdx.x, warp = t / 32, row0 = blockIdx.y * 2 * FM, col0 = blockIdx.x * 2 * FN;
    int wr = warp / 2 * FM, wc = warp % 2 * FN;
    wmma::fragment<wmma::accumulator, FM, FN, FK, Acc> sum, old;
    wmma::fill_fragment(sum, Acc(0));
    for (int k0 = 0; k0 < k; k0 += FK) {
        for (int i = t; i < 2 * FM * FK; i += 32 * WARPS)
            as[i / FK * LA + i % FK] = a[(row0 + i / FK) * k + k0 + i % FK];
        for (int i = t; i < 2 * FN * FK; i += 32 * WARPS) { // B is k x n by rows
            int r = i / (2 * FN), col = i % (2 * FN);
            bs[by_columns ? col * LB + r : r * LB + col] = b[(k0 + r) * n + col0 + col];
        }
        __syncthreads();
        wmma::fragment<wmma::matrix_a, FM, FN, FK, T, wmma::row_major> fa;
        wmma::fragment<wmma::matrix_b, FM, FN, FK, T, LayoutB> fb;
        wmma::load_matrix_sync(fa, as + wr * LA, LA);
        wmma::load_matrix_sync(fb, by_columns ? bs + wc * LB : bs + wc, LB);
        wmma::mma_sync(sum, fa, fb, sum);
        __syncthreads();
    }
    Acc *to = c + (row0 + wr) * n + col0 + wc;
    wmma::load_matrix_sync(old, to, n, wmma::mem_row_major);
    for (int i = 0; i < sum.num_elements; i++)
        sum.x[i] = alpha * sum.x[i] + beta * old.x[i];
    wmma::store_matrix_sync(to, sum, n, wmma::mem_row_major);
}

template <class T, class Acc, int FM, int FN, int FK, class LayoutB> void test(const char *name)
{
    typedef typename Element<T>::memory M;
    const int m = 4 * FM, n = 6 * FN, k = 5 * FK;
    Random random(41);
    std::vector<M> a(m * k), b(k * n);
    std::vector<Acc> c(m * n), want(m * n);
    int least = std::is_unsigned<T>::value ? 0 : -4;
    for (auto &v : a)
        v = Element<T>::of((int)random.below(9) + least);
    for (auto &v : b)
        v = Element<T>::of((int)random.below(9) + least);
    for (auto &v : c)
        v = Acc((int)random.below(100));
    Acc alpha = Acc(2), beta = Acc(-3), *d_c = to_device(c);
    tiled<T, Acc, FM, FN, FK, LayoutB><<<dim3(n / (2 * FN), m / (2 * FM)), 32 * WARPS>>>(n, k, alpha, to_device(a), to_device(b), beta, d_c);
    finish_launches();
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int l = 0; l < k; l++)
                sum += Element<T>::back(a[i * k + l]) * Element<T>::back(b[l * n + j]);
            want[i * n + j] = Acc(2 * sum - 3 * (double)c[i * n + j]);
        }
    expect_same(name, from_device(d_c, m * n), want);
}

// A warp a tile, from global memory; the accumulators are f16 and C is stored by columns.
__global__ void direct(int m, int n, int k, const __half *a, const __half *b, __half *c)
{
    int row = blockIdx.y * 32, col = blockIdx.x * 8;
    wmma::fragment<wmma::accumulator, 32, 8, 16, __half> sum;
    wmma::fill_fragment(sum, __float2half(1.0f));
    for (int k0 = 0; k0 < k; k0 += 16) {
        wmma::fragment<wmma::matrix_a, 32, 8, 16, __half, wmma::col_major> fa;
        wmma::fragment<wmma::matrix_b, 32, 8, 16, __half, wmma::col_major> fb;
        wmma::load_matrix_sync(fa, a + k0 * m + row, m);
        wmma::load_matrix_sync(fb, b + col * k + k0, k);
        wmma::mma_sync(sum, fa, fb, sum);
    }
    wmma::store_matrix_sync(c + col * m + row, sum, m, wmma::mem_col_major);
}

void test_direct()
{
    const int m = 64, n = 24, k = 48;
    Random random(42);
    std::vector<__half> a(m * k), b(k * n);
    for (auto *v : {&a, &b})
        for (auto &e : *v)
            e = __float2half((float)((int)random.below(7) - 3));
    __half *d_c = device_zeros<__half>(m * n);
    direct<<<dim3(n / 8, m / 32), 32>>>(m, n, k, to_device(a), to_device(b), d_c);
    finish_launches();
    std::vector<float> want(m * n), got;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            want[j * m + i] = 1;
            for (int l = 0; l < k; l++)
                want[j * m + i] += __half2float(a[l * m + i]) * __half2float(b[j * k + l]);
        }
    for (__half v : from_device(d_c, m * n))
        got.push_back(__half2float(v));
    expect_same("direct", got, want);
}

int main()
{
    test<__half, float, 16, 16, 16, wmma::col_major>("half");
    test<__half, float, 32, 8, 16, wmma::row_major>("half, 32 x 8");
    test<__nv_bfloat16, float, 8, 32, 16, wmma::row_major>("bfloat16, 8 x 32");
    test<wmma::precision::tf32, float, 16, 16, 8, wmma::col_major>("tf32");
    test<double, double, 8, 8, 4, wmma::col_major>("double");
    test<signed char, int, 16, 16, 16, wmma::row_major>("int8");
    test<unsigned char, int, 16, 16, 16, wmma::col_major>("uint8");
    test_direct();
    return finish();
}
