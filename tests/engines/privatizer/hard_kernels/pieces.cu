// SPDX-License-Identifier: Apache-2.0
// Kernels whose lanes load and store matrices together, or copy asynchronously. Without a word nothing races, and the program checks what came out. `racy`: each kernel has one race, one
// side of which is in the line with RACE.
#include <cstdio>
#include <cstring>
#include <cuda_pipeline_primitives.h>
#include <cuda_runtime.h>
#include <mma.h>
#include <vector>

using namespace nvcuda;
using std::vector;

// Each warp multiplies a tile by itself: from global memory, or by way of shared memory; half of it goes back by columns.
template <class Shape, class Layout>
__device__ void square(const half *a, const half *b, float *c, unsigned stride_b, wmma::layout_t layout) {
    wmma::fragment<wmma::matrix_a, Shape::m, Shape::n, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, Shape::m, Shape::n, 16, half, Layout> fb;
    wmma::fragment<wmma::accumulator, Shape::m, Shape::n, 16, float> fc;
    wmma::fill_fragment(fc, 1.0f);
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, stride_b);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, layout == wmma::mem_row_major ? Shape::n : Shape::m, layout);
}
struct Wide {
    static const int m = 8, n = 32;
};
struct Even {
    static const int m = 16, n = 16;
};

__global__ void matrices(const half *a, const half *b, float *c) {
    __shared__ half sa[2][256];
    __shared__ float sc[2][256];
    int t = threadIdx.x, w = t / 32;
    for (int i = t; i < 512; i += 64)
        sa[i / 256][i % 256] = a[blockIdx.x * 512 + i];
    __syncthreads();
    square<Even, wmma::col_major>(sa[1 - w], b, sc[w], 16, wmma::mem_row_major);
    square<Wide, wmma::row_major>(sa[w], b, c + 1024 * blockIdx.x + 512 + 256 * w, 32, wmma::mem_col_major);
    __syncthreads();
    for (int i = t; i < 512; i += 64)
        c[1024 * blockIdx.x + i] = sc[1 - i / 256][i % 256];
}

// Rows of 16 bytes, by ldmatrix, back by stmatrix, once turned each: what comes out is what came in.
__global__ void rows(const int *in, int *out) {
    __shared__ alignas(16) int s[2][128];
    int t = threadIdx.x;
    for (int i = t; i < 128; i += 32)
        s[0][i] = in[i];
    __syncthreads();
    unsigned from = (unsigned)__cvta_generic_to_shared(&s[0][4 * t]), to = (unsigned)__cvta_generic_to_shared(&s[1][4 * t]), a, b, c, d;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(from) : "memory");
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%4], {%0, %1, %2, %3};" ::"r"(a), "r"(b), "r"(c), "r"(d), "r"(to) : "memory");
    __syncthreads();
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(to) : "memory");
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(c), "=r"(d) : "r"((unsigned)__cvta_generic_to_shared(&s[1][64 + 4 * (t % 16)])) : "memory");
    __syncthreads();
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%4], {%0, %1, %2, %3};" ::"r"(a), "r"(b), "r"(c), "r"(d), "r"(from) : "memory");
    __syncthreads();
    for (int i = t; i < 128; i += 32)
        out[i] = s[0][i];
}

template <int BYTES> __device__ void copy(char *to, const char *from, int n, int rest) {
    for (int i = threadIdx.x * BYTES; i < n; i += blockDim.x * BYTES)
        __pipeline_memcpy_async(to + i, from + i, BYTES, i + BYTES > n - rest ? i + BYTES - (n - rest) < BYTES ? i + BYTES - (n - rest) : BYTES : 0);
}

// Tiles by copies of 4, 8 and 16 bytes in turn, the last bytes of each 0; one is under way while another one is read.
__global__ void tiles(const char *in, int *out, int n) {
    __shared__ alignas(16) char s[2][640];
    int sum = 0, t = threadIdx.x;
    auto fetch = [&](int k) {
        if (k < n && k % 3 == 0)
            copy<4>(s[k % 2], in + 640 * k, 640, 6);
        else if (k < n && k % 3 == 1)
            copy<8>(s[k % 2], in + 640 * k, 640, 13);
        else if (k < n)
            copy<16>(s[k % 2], in + 640 * k, 640, 16);
        __pipeline_commit();
    };
    fetch(0);
    for (int k = 0; k < n; k++) {
        fetch(k + 1);
        __pipeline_wait_prior(1);
        __syncthreads();
        for (int i = t; i < 640; i += 64)
            sum += s[k % 2][639 - i] * (i % 7 + k);
        __syncthreads();
    }
    out[t] = sum;
}

__global__ void no_barrier(const half *a, const half *b, float *c) {
    __shared__ alignas(32) half tile[256];
    for (int i = threadIdx.x; i < 256; i += 64)
        tile[i] = a[i];                                                                                   // RACE
    square<Even, wmma::col_major>(tile, b, c + 256 * (threadIdx.x / 32), 16, wmma::mem_row_major);
}

__global__ void one_tile(const half *a, const half *b, float *c) { // of both warps
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> f;
    wmma::fill_fragment(f, 1.0f + threadIdx.x / 32);
    wmma::store_matrix_sync(c + 64 * (threadIdx.x / 32), f, 16, wmma::mem_row_major); // RACE
}

__global__ void early_rows(const int *in, int *out) {
    __shared__ alignas(16) int s[256];
    int t = threadIdx.x;
    unsigned a;
    s[t] = in[t]; // RACE
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(a) : "r"((unsigned)__cvta_generic_to_shared(&s[4 * (t % 8)])) : "memory");
    out[t] = a;
}

__global__ void refilled(const int *in, int *out) { // while others read
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    out[t] = s[63 - t];
    __pipeline_memcpy_async(&s[t], &in[t], 4); // RACE
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[64 + t] = s[63 - t];
}

__global__ void copied_source(int *in, int *out) { // that others write
    __shared__ int s[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], &in[63 - t], 4);
    __pipeline_commit();
    in[t] = 1000 + t; // RACE
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = s[t];
}

template <class T> static T *device(const vector<T> &v) {
    T *p;
    cudaMalloc(&p, v.size() * sizeof(T));
    cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
    return p;
}

template <class T> static vector<T> host(const T *p, size_t n) {
    vector<T> v(n);
    cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost);
    return v;
}

// c[i] of a tile: `m` rows of a times the matrix b, whose element (k, j) is at k * down + j * across.
static float product(const vector<half> &a, size_t tile, const vector<half> &b, int i, int j, int down, int across) {
    float sum = 1;
    for (int k = 0; k < 16; k++)
        sum += __half2float(a[tile + i * 16 + k]) * __half2float(b[k * down + j * across]);
    return sum;
}

int main(int argc, char **argv) {
    vector<half> a(1024), b(512);
    for (size_t i = 0; i < a.size(); i++)
        a[i] = __int2half_rn((int)(i * 7 % 11) - 5);
    for (size_t i = 0; i < b.size(); i++)
        b[i] = __int2half_rn((int)(i * 5 % 13) - 6);
    half *da = device(a), *db = device(b);
    float *c = device(vector<float>(2048));
    vector<int> numbers(256);
    for (int i = 0; i < 256; i++)
        numbers[i] = 3 * i + 1;
    int *in = device(numbers), *out = device(vector<int>(256));
    if (argc > 1 && !strcmp(argv[1], "racy")) {
        no_barrier<<<1, 64>>>(da, db, c);
        one_tile<<<1, 64>>>(da, db, c);
        early_rows<<<1, 64>>>(in, out);
        refilled<<<1, 64>>>(in, out);
        copied_source<<<1, 64>>>(in, out);
        return cudaDeviceSynchronize() != cudaSuccess;
    }
    bool right = true;
    matrices<<<2, 64>>>(da, db, c);
    auto got = host(c, 2048);
    for (int block = 0; block < 2; block++)
        for (int w = 0; w < 2; w++)
            for (int i = 0; i < 256; i++) {
                size_t tile = 512 * block + 256 * w;
                right = right && got[1024 * block + 256 * w + i] == product(a, tile, b, i / 16, i % 16, 1, 16);
                right = right && got[1024 * block + 512 + 256 * w + i] == product(a, tile, b, i % 8, i / 8, 32, 1);
            }
    rows<<<1, 32>>>(in, out);
    auto same = host(out, 128);
    for (int i = 0; i < 128; i++)
        right = right && same[i] == numbers[i];
    const int n = 5;
    vector<char> bytes(640 * n);
    for (size_t i = 0; i < bytes.size(); i++)
        bytes[i] = (char)(i * 31 % 101);
    tiles<<<1, 64>>>(device(bytes), out, n);
    auto sums = host(out, 64);
    for (int t = 0; t < 64; t++) {
        int want = 0;
        for (int k = 0; k < n; k++)
            for (int i = t; i < 640; i += 64)
                want += 639 - i >= 640 - (k % 3 == 0 ? 6 : k % 3 == 1 ? 13 : 16) ? 0 : bytes[640 * k + 639 - i] * (i % 7 + k);
        right = right && sums[t] == want;
    }
    printf("%s\n", right && cudaDeviceSynchronize() == cudaSuccess ? "PASS" : "FAIL");
    return !right;
}
