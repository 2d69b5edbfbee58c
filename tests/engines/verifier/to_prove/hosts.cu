// SPDX-License-Identifier: Apache-2.0
// Programs whose kernels race or not by what their host code says. test_facts.py changes words of them, and has what becomes of it. Each is a namespace
// with a function `host` of three numbers that nobody knows.
#include <cassert>
#include <cstdlib>
#include <cuda_runtime.h>

namespace square {
__global__ void mirror(float *a, int rows, int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < j && j < rows) {
        a[j * cols + i] = a[i * cols + j];
    }
}
static void host(int rows, int cols, int) {
    assert(rows == cols);
    float *a;
    cudaMalloc(&a, rows * cols * sizeof(float));
    dim3 block(8, 8), grid((cols + 7) / 8, (rows + 7) / 8);
    mirror<<<grid, block>>>(a, rows, cols);
}
} // namespace square

namespace total {
__global__ void finish(const int *part, int *result, int parts) {
    __shared__ int sum;
    if (threadIdx.x == 0) {
        sum = 0;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < parts; i += blockDim.x) {
        atomicAdd(&sum, part[i]);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        *result = sum;
    }
}
static void host(int parts, int, int) {
    int *part, *result;
    cudaMalloc(&part, parts * sizeof(int));
    cudaMalloc(&result, sizeof(int));
    finish<<<1, 64>>>(part, result, parts);
}
} // namespace total

namespace tone {
__global__ void map(float *out, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    out[y * width + x] = 1;
}
static void host(int wide, int high, int) {
    float *out;
    cudaMalloc(&out, wide * high * sizeof(float));
    dim3 block(16, 16), grid(wide / 16, high / 16);
    map<<<grid, block>>>(out, wide);
}
} // namespace tone

namespace lud {
__global__ void inner(float *m, int dim, int offset) {
    int row = offset + (blockIdx.y + 1) * 8 + threadIdx.y, col = offset + (blockIdx.x + 1) * 8 + threadIdx.x;
    m[row * dim + col] = 1;
}
static void host(int dim, int, int) {
    float *m;
    cudaMalloc(&m, dim * dim * sizeof(float));
    for (int offset = 0; offset < dim; offset += 8) {
        int tiles = (dim - offset) / 8 - 1;
        inner<<<dim3(tiles, tiles), dim3(8, 8)>>>(m, dim, offset);
    }
}
} // namespace lud

namespace pitched {
__global__ void fill(float *to, int row_size) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    to[y * (row_size / 4) + x] = 1;
}
static void host(int width, int rows, int) {
    float *to;
    size_t row_size;
    cudaMallocPitch(&to, &row_size, width * sizeof(float), rows);
    fill<<<dim3(width / 16, rows / 4), dim3(16, 4)>>>(to, row_size);
}
} // namespace pitched

namespace halves {
__global__ void fold(float *a, int half) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] += a[i + half];
}
static void host(int n, int, int) {
    float *a;
    cudaMalloc(&a, n * sizeof(float));
    fold<<<n / 2 / 128, 128>>>(a, n / 2);
}
} // namespace halves

namespace warp {
__global__ void turn(int *out) {
    __shared__ int value[64];
    int t = threadIdx.x;
    value[t] = t;
    __syncwarp();
    out[blockIdx.x * blockDim.x + t] = value[(t + 1) % blockDim.x];
    __syncwarp();
    value[t] = 0;
}
static void host(int blocks, int, int) {
    int *out;
    cudaMalloc(&out, blocks * 64 * sizeof(int));
    turn<<<blocks, 32>>>(out);
}
} // namespace warp

namespace strides {
__global__ void scatter(int *out, int stride) { out[(blockIdx.x * blockDim.x + threadIdx.x) * stride] = stride; }
static void host(int n, int most, int) {
    int *out;
    cudaMalloc(&out, n * most * sizeof(int));
    for (int stride = 1; stride <= most; stride++) {
        scatter<<<n / 64, 64>>>(out, stride);
    }
}
} // namespace strides

namespace rows {
__global__ void row_of_block(int *a, int pitch) { a[blockIdx.x * pitch + threadIdx.x] = 1; }
static void host(int rows, int cols, int pitch) {
    int *a;
    assert(cols <= pitch);
    cudaMalloc(&a, rows * pitch * sizeof(int));
    row_of_block<<<rows, cols>>>(a, pitch);
}
} // namespace rows

namespace split {
__global__ void both(int *low, int *high, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        low[i] = high[i];
    }
}
static void host(int n, int, int) {
    int *all;
    cudaMalloc(&all, 2 * n * sizeof(int));
    both<<<(n + 63) / 64, 64>>>(all, all + n, n);
}
} // namespace split

namespace steps {
__global__ void every(int *out, int step) { out[(blockIdx.x * blockDim.x + threadIdx.x) * step] = 1; }
static void host(int n, int step, int) {
    int *out;
    cudaMalloc(&out, n * step * sizeof(int));
    every<<<n / 32, 32>>>(out, step);
}
} // namespace steps

namespace ring {
__global__ void place(int *out, int n) { out[threadIdx.x % n] = 1; }
static void host(int n, int, int) {
    if (n < 64) {
        return;
    }
    int *out;
    cudaMalloc(&out, n * sizeof(int));
    place<<<1, 64>>>(out, n);
}
} // namespace ring

namespace neighbours {
__global__ void shift(int *a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = a[i + 1];
}
static void host(int, int, int) {
    int *a;
    cudaMalloc(&a, 256 * sizeof(int));
    shift<<<2, 64>>>(a);
}
} // namespace neighbours

namespace twice {
__global__ void shift_back(int *a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = a[i + 1];
}
static void host(int, int, int) {
    int *a;
    cudaMalloc(&a, 256 * sizeof(int));
    shift_back<<<2, 64>>>(a);
    shift_back<<<3, 64>>>(a);
}
} // namespace twice

namespace levels {
__global__ void merge(int *a, int width) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 2 * width;
    a[i] += a[i + width];
}
static void host(int n, int, int) {
    int *a;
    cudaMalloc(&a, n * sizeof(int));
    for (int width = 1; width < n; width *= 2) {
        merge<<<(n / 2 / width + 31) / 32, 32>>>(a, width);
    }
}
} // namespace levels

int main(int argc, char **argv) {
    if (argc < 4) {
        return 1;
    }
#define HOST(program) program::host(atoi(argv[1]), atoi(argv[2]), atoi(argv[3]))
    HOST(square), HOST(total), HOST(tone), HOST(lud), HOST(pitched), HOST(halves), HOST(warp), HOST(strides), HOST(rows), HOST(split), HOST(steps);
    HOST(ring), HOST(neighbours), HOST(twice), HOST(levels);
    return cudaDeviceSynchronize() != cudaSuccess;
}
