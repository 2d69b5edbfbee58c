// SPDX-License-Identifier: Apache-2.0
// Host code of many shapes around launches; compiled only. The launches are numbered.
#include <cmath>
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <stdexcept>
#include <vector>

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        cudaError_t error_ = (call);                                                                         \
        if (error_ != cudaSuccess) {                                                                         \
            fprintf(stderr, "%s\n", cudaGetErrorString(error_));                                             \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

struct Image {
    int *data;
    int w, h;
    short depth;
};

__global__ void add(int *a, int *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[i] += b[i];
}
__global__ void fill(Image img, int value) { img.data[threadIdx.y * img.w + threadIdx.x] = value; }
template <typename T, int K> __global__ void scale(T *a, unsigned n, long long by) {
    a[threadIdx.x * K % n] *= by;
}

class Runner {
  public:
    Runner(int n, int threads) : n_(n), threads_(threads) {
        CHECK(cudaMalloc(&a_, n_ * sizeof(int)));
        CHECK(cudaMalloc(&b_, n_ * sizeof(int)));
    }
    void run() {
        add<<<(n_ + threads_ - 1) / threads_, threads_>>>(a_, b_, n_); // LAUNCH members
        CHECK(cudaGetLastError());
    }
    ~Runner() {
        cudaFree(a_);
        cudaFree(b_);
    }

  private:
    int n_, threads_;
    int *a_, *b_;
};

// Nothing calls it.
void library(int *a, int *b, int n) {
    if (n <= 0)
        return;
    add<<<(int)ceil(n / 256.0), 256>>>(a, b, n); // LAUNCH library
}

// Calls itself.
static void again(int *a, int n) {
    if (n < 2)
        return;
    add<<<1, n>>>(a, a, n); // LAUNCH recursive
    again(a, n / 2);
}

static int checked(int n) {
    if (n % 32 != 0)
        throw std::runtime_error("n");
    if (n < 64) {
        std::cout << "too small\n";
        exit(2);
    }
    return n;
}

int main(int argc, char **argv) {
    if (argc < 3)
        return 1;
    int n = checked(atoi(argv[1])), m;
    std::cin >> m;
    if (m < 1 || m > 1000) {
        std::cerr << "no\n";
        return 1;
    }
    int *a, *b;
    CHECK(cudaMalloc(&a, n * sizeof(int)));
    CHECK(cudaMalloc((void **)&b, m * sizeof(int)));
    add<<<n / 32, 32>>>(a, b, m);        // LAUNCH plain
    add<<<m, 64>>>(a, a + n / 2, n / 2); // LAUNCH halves

    Image img;
    img.w = n;
    img.h = m;
    img.depth = 3;
    CHECK(cudaMalloc(&img.data, img.w * img.h * sizeof(int)));
    CHECK(cudaMemset(img.data, 0, 4));
    fill<<<1, dim3(img.w, img.h)>>>(img, 7); // LAUNCH struct

    scale<int, 3><<<dim3(m), dim3(m, m)>>>(a, n, m); // LAUNCH template

    Runner runner(n, 128);
    runner.run();

    for (int d = n; d > 0; d /= 2) {
        add<<<1, d>>>(a, b, d); // LAUNCH divided
    }
    for (unsigned s = 1; s < (unsigned)n; s <<= 1) {
        add<<<1, 32>>>(a, b, s); // LAUNCH doubled
    }

    int count = m * 2;
    void *args[] = {&a, &b, &count};
    CHECK(cudaLaunchKernel((const void *)add, dim3(count), dim3(16, 2), args, 0, 0)); // LAUNCH explicit
    CHECK(cudaLaunchCooperativeKernel((void *)add, dim3(4), dim3(32), args));         // LAUNCH cooperative

    // What the device wrote is not what was there before.
    int found = 5;
    CHECK(cudaMemcpy(&found, a, sizeof found, cudaMemcpyDeviceToHost));
    add<<<1, 32>>>(a, b, found); // LAUNCH copied

    std::vector<int> host(m);
    if (host.size() > 8 && (n > 500 || m == 3)) {
        add<<<1, 32>>>(a, b, host.size()); // LAUNCH vector
    }
    int *in = a, *out = b;
    for (int k = 0; k < m; k++) {
        add<<<1, 32>>>(in, out, k); // LAUNCH swapped
        std::swap(in, out);
    }
    again(a, n);
    return 0;
}
