// SPDX-License-Identifier: Apache-2.0
// Stores of equal values that meet in parts: halves, vectors, stores of different sizes, predicated ones, of parts of a warp, of global and of
// shared memory. From 20 on values differ.
// expect: exact -- 0 => races only "same-value write" soak
// expect: exact -- 1 => races only "same-value write" soak
// expect: exact -- 2 => races only "same-value write"
// expect: exact -- 3 => races only "same-value write" soak
// expect: exact -- 4 => races only "same-value write" soak
// expect: exact -- 5 => races only "same-value write"
// expect: exact -- 6 => races only "same-value write" soak
// expect: exact -- 7 => races only "same-value write"
// expect: exact -- 8 => races only "same-value write" soak
// expect: exact -- 9 => races only "same-value write" soak
// expect: exact -- 10 => races only "same-value write" soak
// expect: exact -- 11 => races only "same-value write" soak
// expect: exact -- 20 => races class "write-write race" soak
// expect: exact -- 21 => races class "write-write race" soak
// expect: exact,tracker -- 22 => races only "write-write race"
// The tracker compares what two stores of different sizes store by a hash of the whole value, in which bytes that are all equal count as one.
// expect: tracker -- 1 => races only "same-value write" soak
// expect: tracker -- 2 => races only "same-value write"
// expect: tracker -- 4 => races only "same-value write" soak
// expect: tracker -- 7 => races only "same-value write" soak
// expect: tracker -- 8 => races class "write-write race" soak
// expect: tracker -- 11 => races only "same-value write" soak
// Four threads of a block store to each word of mode 5, and the tracker keeps two of them: it finds the race in some runs only.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
__global__ void shorts(unsigned short *m, int a) { m[threadIdx.x & 3] = 0x101; m[(threadIdx.x >> 1) & a] = 0x101; }
__global__ void vec(unsigned char *m, int a) { ((uchar4 *)m)[threadIdx.x & 1] = make_uchar4(1, 1, 1, 1); m[(threadIdx.x >> 1) & a] = 1; }
__global__ void sizes(unsigned char *m, int a) {
    if (threadIdx.x & 1) ((unsigned *)m)[threadIdx.x >> 1 & 1] = 0x01010101;
    else if (threadIdx.x & 2) ((unsigned short *)m)[threadIdx.x >> 2 & 3] = 0x0101;
    m[(threadIdx.x >> 1) & a] = 1;
    ((unsigned long long *)m)[0] = 0x0101010101010101ull;
}
__global__ void pred(unsigned char *m, int a) { if (threadIdx.x % 3) m[threadIdx.x & 3] = 1; if (threadIdx.x % 5) m[(threadIdx.x >> 1) & a] = 1; }
__global__ void twice(unsigned *m, unsigned *n) { m[threadIdx.x] = 1; n[threadIdx.x] = 1; }
__global__ void thrice(unsigned char *m, unsigned char *n) { m[threadIdx.x] = 1; n[threadIdx.x] = 1; m[threadIdx.x] = 1; }
__global__ void inshared(unsigned char *out, int a) {
    __shared__ unsigned char s[64];
    s[threadIdx.x] = 0; __syncthreads();
    s[threadIdx.x & 3] = 1; s[(threadIdx.x >> 1) & a] = 1; __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}
__global__ void sharedsizes(unsigned char *out, int a) {
    __shared__ __align__(8) unsigned char s[64];
    s[threadIdx.x] = 0; __syncthreads();
    if (threadIdx.x & 1) ((unsigned *)s)[threadIdx.x >> 1 & 1] = 0x01010101;
    else if (threadIdx.x & 2) ((unsigned short *)s)[threadIdx.x >> 2 & 3] = 0x0101;
    s[(threadIdx.x >> 1) & a] = 1;
    ((unsigned long long *)s)[0] = 0x0101010101010101ull;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}
__global__ void partly(unsigned char *m, int a) { // the word changes, the byte that both store does not
    if (threadIdx.x & 1) ((unsigned *)m)[0] = 0x00020001; else m[a - 7] = 1;
}
__global__ void sharedtwice(unsigned *out, int a) {
    __shared__ unsigned s[64];
    s[threadIdx.x] = 0; __syncthreads();
    s[threadIdx.x & 31] = 1; s[(threadIdx.x & 31) & (a | 31)] = 1;
    __syncthreads(); out[threadIdx.x] = s[threadIdx.x];
}
__global__ void differs(unsigned char *m, int a) { m[threadIdx.x & 3] = 1; m[(threadIdx.x >> 1) & a] = 2; }
__global__ void between(unsigned char *m, int a) { m[0] = threadIdx.x & 1 ? 1 : 2; }
__global__ void ends(int *m) { m[threadIdx.x] = blockIdx.x ? 0 : -1; }
int main(int c, char **v) {
    unsigned char *m; cudaMalloc(&m, 256); cudaMemset(m, 0, 256);
    switch (atoi(v[1])) {
    case 0: shorts<<<1, 32>>>((unsigned short *)m, 7); break;
    case 1: vec<<<1, 32>>>(m, 7); break;
    case 2: sizes<<<1, 32>>>(m, 7); break;
    case 3: pred<<<1, 32>>>(m, 7); break;
    case 4: twice<<<2, 32>>>((unsigned *)m, (unsigned *)m); break;
    case 5: thrice<<<2, 64>>>(m, m); break;
    case 6: inshared<<<1, 64>>>(m, 7); break;
    case 7: sharedsizes<<<1, 64>>>(m, 7); break;
    case 8: partly<<<1, 32>>>(m, 7); break;
    case 9: sharedtwice<<<1, 64>>>((unsigned *)m, 63); break;
    case 10: shorts<<<2, 64>>>((unsigned short *)m, 7); break;
    case 11: sizes<<<2, 64>>>(m, 7); break;
    case 20: differs<<<1, 32>>>(m, 7); break;
    case 21: between<<<1, 32>>>(m, 7); break;
    case 22: ends<<<2, 32>>>((int *)m); break;
    }
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
