// SPDX-License-Identifier: Apache-2.0
// nvcc -ptx -arch=compute_80 -lineinfo features.cu
#include <cassert>
#include <cstdio>
struct S {
    int a;
    char b;
    double c[3];
};
__device__ __noinline__ int fact(int n) { return n < 2 ? 1 : n * fact(n - 1); }
__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__device__ __noinline__ double pick(S s, int i) { return s.c[i] + s.a + s.b; }
__device__ __noinline__ S make(int n) {
    S s = {n, (char)(n + 1), {n * 2.0, n * 3.0, n * 4.0}};
    return s;
}
__device__ __noinline__ int inc(int x) { return x + 1; }
__device__ int (*table[4])(int) = {fact, inc, fib, inc};
__device__ int gv = 7;
__device__ int *gp = &gv;
__constant__ float cc[4] = {1, 2, 3, 4};
extern "C" __global__ void calls(S s, int *o, int n) {
    int t = threadIdx.x;
    S m = make(t);
    o[t] = table[t & 3](t % 8) + (int)pick(s, n) + (int)pick(m, 1) + (int)m.c[t % 3] + *gp + (int)cc[t & 3];
}
extern "C" __global__ void local_array(int *o, int n) {
    int a[10];
    for (int i = 0; i < 10; i++)
        a[i] = 0;
    for (int i = 0; i < n; i++)
        a[(i * 7 + threadIdx.x) % 10] += i;
    o[threadIdx.x] = a[n % 10];
}
extern "C" __global__ void print(int n) {
    printf("%d %5.2f %s %c %lld %p|%-4d|%04x|%%|%u %zu\n", n, 1.5f, "text", 'x', 1ll << 40, (void *)0x10, n, 255, 3000000000u,
           (size_t)7);
    if (threadIdx.x == 1)
        printf("plain\n");
}
__device__ __forceinline__ void inner(int n) {
    assert(n == 3 && "three");
}
extern "C" __global__ void fails(int n) { inner(n); }
extern "C" __global__ void heap(int **o, int n) {
    int *p = (int *)malloc(n);
    if (p)
        p[0] = threadIdx.x;
    o[threadIdx.x] = p;
}
extern "C" __global__ void use_heap(int **o, int at) {
    o[threadIdx.x][at] += 100;
}
extern "C" __global__ void free_heap(int **o) { free(o[threadIdx.x]); }
__device__ __forceinline__ void store(int *p, int i) {
    p[i] = 1;
}
extern "C" __global__ void inlined(int *p, int i) {
    store(p, i);
}
