// SPDX-License-Identifier: Apache-2.0
// Accesses of 1 and 2 bytes that begin inside a word of four.
#include <cstdlib>

template <class T> __global__ void read_write(T *p, T *out, int at) {
    if (blockIdx.x == 0)
        out[threadIdx.x] = p[threadIdx.x];
    else if (threadIdx.x == at)
        p[at] = 5;
}

template <class T> __global__ void write_read(T *p, T *out, int at) {
    if (blockIdx.x == 0)
        p[threadIdx.x] = threadIdx.x;
    else if (threadIdx.x == at)
        out[0] = p[at];
}

int main(int argc, char **argv) {
    void *p, *out;
    int at = argc > 2 ? atoi(argv[2]) : 0;
    cudaMalloc(&p, 256);
    cudaMalloc(&out, 256);
    cudaMemset(p, 0, 256);
    switch (argv[1][0]) {
    case '0': read_write<<<2, 32>>>((short *)p, (short *)out, at); break;
    case '1': read_write<<<2, 32>>>((char *)p, (char *)out, at); break;
    case '2': write_read<<<2, 32>>>((short *)p, (short *)out, at); break;
    case '3': write_read<<<2, 32>>>((char *)p, (char *)out, at); break;
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}
