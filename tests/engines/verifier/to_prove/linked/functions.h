// SPDX-License-Identifier: Apache-2.0
// What functions.cu has for kernels.cu.
__device__ void put(int *p, int i);
__device__ void put_by_own(int *p, int i);
__device__ void fill_own(int i);
__device__ int next_of_table();
__device__ int moved(const int *p);
__device__ void meet();
__device__ int exchange(int value);
__device__ int other_of_buffer();
__device__ int other_of_dynamic();
__device__ int pong(int n);
__device__ int ping(int n);

extern __device__ int table[65];
extern __constant__ int offset;

// In both files: one function, one variable.
template <class T> __device__ T *buffer() {
    static __shared__ T values[64];
    return values;
}
