// SPDX-License-Identifier: Apache-2.0
// A library of kernels (-DLIBRARY), and a program with a kernel of its own that uses it.
#ifdef LIBRARY
__global__ void inside(int *a) { a[threadIdx.x] = 1; }
extern "C" void call_library(int *a) { inside<<<1, 64>>>(a); }
#else
extern "C" void call_library(int *);
__global__ void own(int *a) { a[threadIdx.x] = 2; }
int main() {
    int *a;
    cudaMalloc(&a, 64 * sizeof(int));
    own<<<1, 64>>>(a);
    call_library(a);
    return cudaDeviceSynchronize();
}
#endif
