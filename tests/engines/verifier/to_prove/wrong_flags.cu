// SPDX-License-Identifier: Apache-2.0
// A flag orders only if it is 0 when the kernel begins: c_ has the host make it 0, r_ does not. test_check.py asks that none of r_ is proved and all of c_ are.
#include "hand_over.h"

#include <cuda_runtime.h>

// With a large n the loop ends though the flag is 0: the sum wraps.
__global__ void r_wraps(int *flag, int *data, int n) {
    if (blockIdx.x == 0) {
        *data = 1;
        __threadfence();
        *(volatile int *)flag = 1;
    } else {
        while ((int)((unsigned)n + 2000000000u - *(volatile unsigned *)flag * 2000000000u) > n) {
        }
        __threadfence();
        data[blockIdx.x] = *data;
    }
}

__device__ int own, set = 1, copied, found, later;
__global__ void c_memset(int *flag, int *data) { hand_over(flag, data); }
__global__ void c_memset_async(int *flag, int *data) { hand_over(flag, data); }
__global__ void c_each_round(int *flag, int *data) { hand_over(flag, data); }
__global__ void c_behind_a_kernel(int *flag, int *data) { hand_over(flag, data); }
__global__ void c_stored(int *flag, int *data) { hand_over(flag, data); }
__global__ void c_copied(int *flag, int *data) { hand_over(flag, data); }
__global__ void c_copied_array(int *flag, int *data) { hand_over(flag, data); }
__global__ void c_both_ways(int *flag, int *data) { hand_over(flag, data); }
__global__ void c_unknown_size(int *flag, int *data) { hand_over(flag, data); }
__global__ void c_variable(int *data) { hand_over(&own, data); }
__global__ void r_nothing(int *flag, int *data) { hand_over(flag, data); }
__global__ void r_memset_one(int *flag, int *data) { hand_over(flag, data); }
__global__ void r_part(int *flag, int *data) { hand_over(flag, data); }
__global__ void r_behind_it(int *flag, int *data) { hand_over(flag, data); }
__global__ void r_other_memory(int *flag, int *data) { hand_over(flag, data); }
__global__ void r_again(int *flag, int *data) { hand_over(flag, data); }
__global__ void r_rounds(int *flag, int *data) { hand_over(flag, data); }
__global__ void r_one_way(int *flag, int *data) { hand_over(flag, data); }
__global__ void r_kernel_between(int *flag, int *data) { hand_over(flag, data); }
__global__ void r_copied(int *flag, int *data) { hand_over(flag, data); }
__global__ void r_copied_array(int *flag, int *data) { hand_over(flag, data); }
__global__ void r_stored(int *flag, int *data) { hand_over(flag, data); }
__global__ void r_stored_later(int *flag, int *data) { hand_over(flag, data); }
__global__ void r_function_between(int *flag, int *data) { hand_over(flag, data); }
__global__ void r_size_of_another(int *flag, int *data) { hand_over(flag, data); }
__global__ void r_variable_set(int *data) { hand_over(&set, data); }
__global__ void r_variable_copied(int *data) { hand_over(&copied, data); }
__global__ void r_variable_found(int *data) { hand_over(&found, data); }
__global__ void r_variable_later(int *data) { hand_over(&later, data); }
__global__ void c_captured(int *flag, int *data) { hand_over(flag, data); }
__global__ void r_captured(int *flag, int *data) { hand_over(flag, data); }
__global__ void r_variable_captured(int *data) { hand_over(&own, data); }
__global__ void r_copied_3d(int *flag, int *data) { hand_over(flag, data); }
__global__ void r_as_number(int *flag, int *data) { hand_over(flag, data); }
__global__ void c_number(unsigned long long address) { if (blockIdx.x == 0) *(int *)address = 1; }
__global__ void c_touch(int *p) { p[blockIdx.x] = 1; }

void elsewhere(int *p);

int main(int argc, char **argv) {
    int *f, *g, *m, *d, one = 1, zero = 0, zeros[100] = {}, ones[100] = {1};
    void *address;
    cudaStream_t stream;
    cudaMalloc(&d, 4096);
    switch (argc) { // variables, each on a way of its own
    case 10: c_variable<<<8, 1>>>(d); return 0;
    case 11: r_variable_set<<<8, 1>>>(d); return 0;
    case 12: cudaMemcpyToSymbol(copied, &one, sizeof one); r_variable_copied<<<8, 1>>>(d); return 0;
    case 13: cudaGetSymbolAddress(&address, found); cudaMemset(address, 1, 4); r_variable_found<<<8, 1>>>(d); return 0;
    case 14: c_touch<<<8, 1>>>(d); r_variable_later<<<8, 1>>>(d); return 0;
    case 15:
        cudaStreamCreate(&stream);
        cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
        r_variable_captured<<<8, 1, 0, stream>>>(d);
        return 0;
    }
    cudaMalloc(&f, 400);
    cudaMalloc(&g, 400);
    cudaMallocManaged(&m, 4);
    r_nothing<<<8, 1>>>(f, d);
    cudaMemset(f, 0, 400);
    c_memset<<<8, 1>>>(f, d);
    cudaMemset(f, 0, 400);
    r_wraps<<<8, 1>>>(f, d, argc);
    cudaMemsetAsync(f, 0, 400);
    c_memset_async<<<8, 1>>>(f, d);
    for (int k = 0; k < argc; k++) {
        cudaMemset(f, 0, 400);
        c_each_round<<<8, 1>>>(f, d);
    }
    cudaMemset(f, 0, 400);
    c_touch<<<8, 1>>>(g);
    c_behind_a_kernel<<<8, 1>>>(f, d);
    *m = 0;
    c_stored<<<8, 1>>>(m, d);
    cudaDeviceSynchronize();
    int *w;
    cudaMalloc(&w, 4);
    cudaMemcpy(w, &zero, 4, cudaMemcpyHostToDevice);
    c_copied<<<8, 1>>>(w, d);
    cudaMemcpy(f, zeros, 400, cudaMemcpyHostToDevice);
    c_copied_array<<<8, 1>>>(f, d);
    if (argc > 3)
        cudaMemset(f, 0, 400);
    else
        cudaMemsetAsync(f, 0, 400);
    c_both_ways<<<8, 1>>>(f, d);
    int *u;
    cudaMalloc(&u, argc * sizeof(int));
    cudaMemset(u, 0, argc * sizeof(int));
    c_unknown_size<<<8, 1>>>(u, d);

    cudaMemset(f, 1, 400);
    r_memset_one<<<8, 1>>>(f, d);
    cudaMemset(f, 0, 396);
    r_part<<<8, 1>>>(f, d);
    cudaMemset(f + 1, 0, 400);
    r_behind_it<<<8, 1>>>(f, d);
    cudaMemset(g, 0, 400);
    r_other_memory<<<8, 1>>>(f, d);
    cudaMemset(f, 0, 400);
    r_again<<<8, 1>>>(f, d);
    r_again<<<8, 1>>>(f, d);
    cudaMemset(f, 0, 400);
    for (int k = 0; k < argc; k++)
        r_rounds<<<8, 1>>>(f, d);
    if (argc > 4)
        cudaMemset(f, 0, 400);
    r_one_way<<<8, 1>>>(f, d);
    cudaMemset(f, 0, 400);
    c_touch<<<8, 1>>>(f);
    r_kernel_between<<<8, 1>>>(f, d);
    cudaMemcpy(w, &one, 4, cudaMemcpyHostToDevice);
    r_copied<<<8, 1>>>(w, d);
    cudaMemcpy(f, ones, 400, cudaMemcpyHostToDevice);
    r_copied_array<<<8, 1>>>(f, d);
    cudaDeviceSynchronize();
    *m = 1;
    r_stored<<<8, 1>>>(m, d);
    cudaMemset(m, 0, 4);
    cudaDeviceSynchronize();
    *m = argc;
    r_stored_later<<<8, 1>>>(m, d);
    cudaMemset(f, 0, 400);
    elsewhere(f);
    r_function_between<<<8, 1>>>(f, d);
    cudaMalloc(&u, argc * sizeof(int));
    cudaMemset(u, 0, argc);
    r_size_of_another<<<8, 1>>>(u, d);
    cudaStreamCreate(&stream);
    cudaMemset(f, 0, 400);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    r_captured<<<8, 1, 0, stream>>>(f, d);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    cudaMemsetAsync(f, 0, 400, stream);
    c_captured<<<8, 1, 0, stream>>>(f, d);
    cudaMemcpy3DParms all = {};
    all.srcPtr = make_cudaPitchedPtr(g, 400, 400, 1);
    all.dstPtr = make_cudaPitchedPtr(f, 400, 400, 1);
    all.extent = make_cudaExtent(400, 1, 1);
    cudaMemset(f, 0, 400);
    cudaMemcpy3D(&all);
    r_copied_3d<<<8, 1>>>(f, d);
    cudaMemset(f, 0, 400);
    c_number<<<8, 1>>>((unsigned long long)f);
    r_as_number<<<8, 1>>>(f, d);
    return cudaDeviceSynchronize();
}
