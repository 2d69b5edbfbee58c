// SPDX-License-Identifier: Apache-2.0
// Launches through pointers to kernels: c_ has no race in any of its launches, r_ has one in some. test_check.py asks that none of r_ is proved
// and all of c_ are, and that no race is shown: the pointer might have been to another kernel.
#include <cuda_runtime.h>
#include <vector>

#define AT (blockIdx.x * blockDim.x + threadIdx.x)

__global__ void c_same(int *out, const int *in, int n) { if (AT < n) out[AT] = in[AT]; }
__global__ void c_next(int *out, const int *in, int n) { if (AT < n) out[AT] = in[AT + 1]; }
__global__ void r_halves(int *out, const int *in, int n) { if (AT < n) out[AT / 2] = in[AT]; }
// Its direct launch has two allocations, the one through a pointer has one.
__global__ void r_shift(int *out, const int *in, int n, int by) { if (AT < n) out[AT] = in[AT + by]; }
// What a structure becomes in the call is not followed.
struct All { int *out; const int *in, *other; };
__global__ void r_members(All p, int n) { if (AT < n) p.out[AT] = p.in[AT + 1]; }

int main(int argc, char **) {
    const int n = 1024;
    std::vector<int> x(n);
    int *a, *b;
    cudaMalloc(&a, 2 * n * sizeof(int));
    cudaMalloc(&b, 2 * n * sizeof(int));
    typedef void (*Kernel)(int *, const int *, int);
    const struct { const char *name; Kernel kernel; } ways[] = {{"same", c_same}, {"next", c_next}, {"halves", r_halves}};
    for (auto &way : ways)
        way.kernel<<<n / 64, 64>>>(a, b, n);
    r_shift<<<n / 64, 64>>>(a, b, n, 1);
    void (*volatile shift)(int *, const int *, int, int) = r_shift;
    shift<<<n / 64, 64>>>(a, a, n, 1);
    void (*volatile members)(All, int) = r_members;
    members<<<n / 64, 64>>>({a, argc > 1 ? a : b, b}, n);
    return cudaDeviceSynchronize() != cudaSuccess;
}
