// SPDX-License-Identifier: Apache-2.0
// One mistake each, which many pairs of instructions show: of a template's instances, of unrolled copies, noticed by either side.
#include <cstring>

// A barrier is missing between the stores and the loads, which are unrolled, in each of six instances.
template <class T> __global__ void instances(T *out) {
    __shared__ T s[128];
#pragma unroll
    for (int i = 0; i < 2; i++)
        s[threadIdx.x + 64 * i] = (T)threadIdx.x; // stores
    T sum = 0;
#pragma unroll
    for (int i = 0; i < 4; i++)
        sum += s[(threadIdx.x + 32 * i) % 128]; // loads
    out[threadIdx.x] = sum;
}

// Their names are told apart behind their hundredth character only.
template <int N> struct a_name_that_is_long_enough_for_nobody_to_want_to_read_it_twice {
    static constexpr int value = N;
};
template <class A, class B> __global__ void long_names(int *p) {
    if (threadIdx.x == 0)
        p[A::value] = B::value + blockIdx.x; // long
}

__global__ void other_kernel(int *p) {
    p[0] = threadIdx.x; // other
}

// 31 lanes store over what another has stored.
__global__ void same_place(int *p) {
    p[0] = threadIdx.x; // same place
}

// The warps take turns at noticing that the other's store has come in between.
__global__ void both_notice(int *p) {
    for (int i = 0; i < 40; i++)
        if (threadIdx.x == 0)
            p[0] = 2 * i; // one
        else if (threadIdx.x == 32)
            p[0] = 2 * i + 1; // another
}

int main(int argc, char **argv) {
    int *p;
    cudaMalloc(&p, 1 << 16);
    if (!strcmp(argv[1], "instances")) {
        instances<<<1, 64>>>(p);
        instances<<<1, 64>>>((unsigned *)p);
        instances<<<1, 64>>>((float *)p);
        instances<<<1, 64>>>((double *)p);
        instances<<<1, 64>>>((short *)p);
        instances<<<1, 64>>>((long long *)p);
    } else if (!strcmp(argv[1], "long names")) {
        using One = a_name_that_is_long_enough_for_nobody_to_want_to_read_it_twice<1>;
        using Two = a_name_that_is_long_enough_for_nobody_to_want_to_read_it_twice<2>;
        long_names<One, One><<<2, 32>>>(p);
        long_names<One, Two><<<2, 32>>>(p);
        long_names<Two, Two><<<2, 32>>>(p);
    } else if (!strcmp(argv[1], "same place")) {
        same_place<<<1, 32>>>(p);
        other_kernel<<<1, 32>>>(p);
    } else {
        both_notice<<<1, 64>>>(p);
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}
