// SPDX-License-Identifier: Apache-2.0
// Calls: recursion (one and two functions deep), function pointers, virtual functions, lambdas, structs by value.
#include "../../check.h"

__device__ __noinline__ int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__device__ __noinline__ bool is_odd(unsigned n);
__device__ __noinline__ bool is_even(unsigned n)
{
    return n == 0 || is_odd(n - 1);
}
__device__ __noinline__ bool is_odd(unsigned n)
{
    return n != 0 && is_even(n - 1);
}

__device__ __noinline__ void sort(int *a, int lo, int hi)
{
    if (lo >= hi)
        return;
    int pivot = a[(lo + hi) / 2], i = lo, j = hi;
    while (i <= j) {
        while (a[i] < pivot)
            i++;
        while (a[j] > pivot)
            j--;
        if (i <= j) {
            int swap = a[i];
            a[i++] = a[j];
            a[j--] = swap;
        }
    }
    sort(a, lo, j);
    sort(a, i, hi);
}

typedef int (*Operation)(int, int);
__device__ __noinline__ int plus(int a, int b)
{
    return a + b;
}
__device__ __noinline__ int minus(int a, int b)
{
    return a - b;
}
__device__ __noinline__ int times(int a, int b)
{
    return a * b;
}
__device__ Operation operations[3] = {plus, minus, times};

struct Shape {
    __device__ virtual int area() const = 0;
    __device__ virtual ~Shape() {}
};
struct Square : Shape {
    int side;
    __device__ Square(int s) : side(s) {}
    __device__ int area() const override { return side * side; }
};
struct Rectangle : Shape {
    int w, h;
    __device__ Rectangle(int a, int b) : w(a), h(b) {}
    __device__ int area() const override { return w * h; }
};

struct Big {
    double d[5];
    char c;
};
__device__ __noinline__ Big twice(Big b)
{
    for (double &v : b.d)
        v *= 2;
    b.c++;
    return b;
}

template <class F> __global__ void apply(int *out, F f)
{
    out[threadIdx.x] = f(threadIdx.x);
}

__global__ void calls(int *out, Big big)
{
    int t = threadIdx.x;
    int *r = out + 8 * t;
    r[0] = fibonacci(t % 12);
    r[1] = is_even(t);
    int a[16];
    for (int i = 0; i < 16; i++)
        a[i] = (i * 7 + t) % 16;
    sort(a, 0, 15);
    r[2] = 1;
    for (int i = 0; i < 16; i++)
        r[2] &= a[i] == i;
    r[3] = operations[t % 3](t, 5); // lanes of a warp call different functions
    Square square(t);
    Rectangle rectangle(t, 3);
    const Shape *shape = t % 2 ? (const Shape *)&square : (const Shape *)&rectangle;
    r[4] = shape->area();
    Big b = twice(twice(big));
    r[5] = (int)(b.d[0] + b.d[4]);
    r[6] = b.c;
    r[7] = (int)big.d[t % 5];
}

int main()
{
    const int n = 64;
    static int out[8 * n];
    int *d;
    Big big = {{1, 2, 3, 4, 5}, 'a'};
    CHECK(cudaMalloc(&d, sizeof out));
    CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 8192));
    calls<<<1, n>>>(d, big);
    CHECK(cudaMemcpy(out, d, sizeof out, cudaMemcpyDeviceToHost));
    int fib[12] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89};
    for (int t = 0; t < n; t++) {
        int *r = out + 8 * t;
        EXPECT_EQ(r[0], fib[t % 12]);
        EXPECT_EQ(r[1], t % 2 == 0);
        EXPECT_EQ(r[2], 1);
        EXPECT_EQ(r[3], t % 3 == 0 ? t + 5 : t % 3 == 1 ? t - 5 : t * 5);
        EXPECT_EQ(r[4], t % 2 ? t * t : 3 * t);
        EXPECT_EQ(r[5], 24);
        EXPECT_EQ(r[6], 'c');
        EXPECT_EQ(r[7], t % 5 + 1);
    }
    int k = 3;
    apply<<<1, n>>>(d, [k] __device__(int i) { return k * i + 1; });
    CHECK(cudaMemcpy(out, d, n * sizeof(int), cudaMemcpyDeviceToHost));
    for (int t = 0; t < n; t++)
        EXPECT_EQ(out[t], 3 * t + 1);
    CHECK(cudaFree(d));
    return finish();
}
