// SPDX-License-Identifier: Apache-2.0
// Kernels that call functions which are not inlined, with parameters and results of all kinds. In `computes` nothing races, and each thread has to have what the host has. `puts`, `reads` and `counts`
// race within the functions that they call; `twice` calls one that has a variable of the block, and races where that does not meet. `calls_itself` is refused.
#include <cstdio>
#include <cstring>

enum { THREADS = 64, BLOCKS = 3, N = THREADS * BLOCKS };

struct Pair {
    short a;
    long long b;
};
struct Big {
    int of[5];
    char c;
};

__host__ __device__ __noinline__ int sizes(char c, short h, int w, long long q, float f, double d, bool p, unsigned char u) {
    return c + 3 * h + (p ? w : -w) + (int)(q >> 33) + (int)(f * 4) + (int)(d / 2) + u;
}
__host__ __device__ __noinline__ Pair pair(int v) {
    Pair p = {(short)(v * 7), (long long)v << 34};
    return p;
}
__host__ __device__ __noinline__ int sum(Big b, Pair p) {
    int s = b.c + p.a + (int)(p.b >> 34);
    for (int v : b.of)
        s = s * 3 + v;
    return s;
}
__host__ __device__ __noinline__ void fill(int *a, int n, int from) {
    for (int i = 0; i < n; i++)
        a[i] = from + i * i;
}
// Leaves early, in a loop, and after a nested call.
__host__ __device__ __noinline__ int first_over(const int *a, int n, int least) {
    if (least < 0)
        return -1;
    for (int i = 0; i < n; i++)
        if (a[i] > least)
            return i + pair(i).a;
    return n;
}
__host__ __device__ __noinline__ double half(double d, float f) { return d / 2 + f; }
__host__ __device__ __noinline__ int deep(int v, int *to) {
    int a[4];
    fill(a, 4, v);
    *to += first_over(a, 4, v % 9 - 1);
    return a[3] + (int)half(v, .5f);
}
__host__ __device__ int all_of(int v) {
    Big b = {{v, v + 1, v * v, 5, -v}, (char)v};
    int s = sizes((char)v, (short)-v, v * 3, (long long)v << 35, v * .75f, v * 5., v % 3 == 0, (unsigned char)(v * 9)), more = 0;
    s += sum(b, pair(v + 2));
    for (int k = 0; k < v % 4; k++)
        s += deep(v + k, &more) + deep(v - k, &more);
    return s + more;
}

__device__ __noinline__ void meet() { __syncthreads(); }
__device__ __noinline__ int exchange(int *cell, int t, int v) {
    cell[t] = v;
    meet();
    int other = cell[THREADS - 1 - t];
    meet();
    return other;
}
__device__ __noinline__ int take(int *next) { return atomicAdd(next, 1); }

__global__ void computes(const int *in, int *out, int *next, int *taken) {
    __shared__ int cell[THREADS];
    int t = threadIdx.x, i = blockIdx.x * THREADS + t, v = all_of(in[i]);
    v += exchange(cell, t, v);
    out[i] = v + exchange(cell, t, in[i]);
    if (in[i] % 5 == 0)
        taken[take(next)] = i;
}

__device__ __noinline__ void put(int *to, int v) {
    *to = v; // RACE puts
}
__global__ void puts(int *out) { put(out + threadIdx.x / 2, threadIdx.x); }

__device__ __noinline__ int look(const int *from) {
    return *from; // RACE reads
}
__global__ void reads(int *out) {
    __shared__ int cell[THREADS];
    cell[threadIdx.x] = threadIdx.x; // RACE reads
    int got = look(&cell[threadIdx.x ^ 33]);
    __syncthreads();
    out[threadIdx.x] = got;
}

__global__ void counts(int *out) {
    if (threadIdx.x == 5)
        out[0] = 3; // RACE counts
    take(out);
}

__device__ __noinline__ int last_of(int v, bool meets) {
    __shared__ int last;
    if (threadIdx.x == THREADS - 1)
        last = v; // RACE twice
    if (meets)
        meet();
    int got = last; // RACE twice
    meet();
    return got;
}
__global__ void twice(int *out) {
    int v = last_of(threadIdx.x, true);
    out[threadIdx.x] = v + last_of(threadIdx.x + 1000, false);
}

__device__ __noinline__ int tree(int *cells, int n) {
    if (n < 2)
        return cells[n] += 1;
    return tree(cells, n - 1) + tree(cells, n - 2);
}
__global__ void calls_itself(int *out) { out[threadIdx.x * 8] = tree(out + threadIdx.x * 8, 4); }

int main(int argc, char **argv) {
    static int in[N], got[N], taken[N];
    int *d_in, *d_out, *d_next, *d_taken, wrong = 0, next = 0, n = 0, want = 0;
    for (int i = 0; i < N; i++)
        in[i] = i * 37 % 101 - 20;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, N * 8 * sizeof(int));
    cudaMalloc(&d_next, sizeof(int));
    cudaMalloc(&d_taken, sizeof taken);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    cudaMemset(d_out, 0, N * 8 * sizeof(int));
    cudaMemset(d_next, 0, sizeof(int));
    const char *what = argc > 1 ? argv[1] : "computes";
    if (!strcmp(what, "computes")) {
        computes<<<BLOCKS, THREADS>>>(d_in, d_out, d_next, d_taken);
        cudaMemcpy(got, d_out, sizeof got, cudaMemcpyDeviceToHost);
        cudaMemcpy(taken, d_taken, sizeof taken, cudaMemcpyDeviceToHost);
        cudaMemcpy(&next, d_next, sizeof next, cudaMemcpyDeviceToHost);
        for (int i = 0; i < N; i++) {
            int other = i / THREADS * THREADS + THREADS - 1 - i % THREADS;
            wrong += got[i] != all_of(in[i]) + all_of(in[other]) + in[other];
            want += in[i] % 5 == 0 ? i : 0;
            n += in[i] % 5 == 0;
        }
        for (int k = 0; k < next; k++)
            want -= taken[k];
        wrong += want != 0 || next != n;
    }
    const struct {
        const char *name;
        void (*kernel)(int *);
    } others[] = {{"puts", puts}, {"reads", reads}, {"counts", counts}, {"twice", twice}, {"calls_itself", calls_itself}};
    for (auto &o : others)
        if (!strcmp(what, o.name))
            o.kernel<<<1, THREADS>>>(d_out);
    printf("%s\n", cudaDeviceSynchronize() != cudaSuccess ? cudaGetErrorName(cudaGetLastError()) : wrong ? "FAILED" : "PASS");
}
