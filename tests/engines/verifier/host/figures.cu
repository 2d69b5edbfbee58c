// SPDX-License-Identifier: Apache-2.0
// The host code of figures 1 to 5 of the HGRD paper: one launch for each class of facts. Compiled only.
#include <cassert>
#include <cstdio>
#include <cstdlib>

__global__ void copy_upper(float *a, int rows, int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < rows && j < cols && i < j)
        a[j * cols + i] = a[i * cols + j];
}
__global__ void reduce_final(const float *in, float *out, int n) {
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        sum += in[i];
    }
    out[threadIdx.x] = sum;
}
__global__ void tone_map(const float *in, float *out, int width) {
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    out[y * width + x] = in[y * width + x];
}
__global__ void internal(float *m, int dim, int offset) { m[(blockIdx.x + offset) * dim + threadIdx.x] = 0; }
__global__ void shift(float *out, int row_size, int rows) {
    out[(blockIdx.y * blockDim.y + threadIdx.y) * row_size + threadIdx.x] = 1;
}

static void figure_1(int rows, int cols) {
    assert(rows == cols);
    float *a;
    cudaMalloc(&a, rows * cols * sizeof(float));
    copy_upper<<<dim3((rows + 15) / 16, (cols + 15) / 16), dim3(16, 16)>>>(a, rows, cols); // LAUNCH 1
}
static void figure_2(float *in, float *out, int n) {
    dim3 grid(1), block(128);
    reduce_final<<<grid, block>>>(in, out, n); // LAUNCH 2
}
static void figure_3(float *in, float *out, int width, int height) {
    dim3 grid(width / 16, height / 16, 1);
    tone_map<<<grid, dim3(16, 16, 1)>>>(in, out, width); // LAUNCH 3
}
static void figure_4(float *m, int dim) {
    for (int offset = 0; offset < dim; offset += 16) {
        internal<<<(dim - offset) / 16, 16>>>(m, dim, offset); // LAUNCH 4
    }
}
static void figure_5(int rows, size_t row_bytes) {
    float *out;
    size_t pitch;
    cudaMallocPitch((void **)&out, &pitch, row_bytes, rows);
    shift<<<dim3(4, rows / 4), dim3(16, 4)>>>(out, pitch / sizeof(float), rows); // LAUNCH 5
}

int main(int argc, char **argv) {
    float *in, *out;
    int n = atoi(argv[1]);
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    figure_1(atoi(argv[2]), atoi(argv[3]));
    figure_2(in, out, n);
    figure_3(in, out, n, atoi(argv[4]));
    figure_4(in, n);
    figure_5(atoi(argv[5]), atoi(argv[6]));
}
