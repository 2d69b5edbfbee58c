// SPDX-License-Identifier: Apache-2.0
// Kernels whose models are held against what they really access (test_model.c). kernels.ptx is made from this file, as make.sh says.
#include <cooperative_groups.h>
#include <cstdio>

struct Image {
    float *at;
    int width, height;
};

__device__ int where(const int *table, int i) { return table[i] * 2; }
__device__ void two(int x, int *a, int *b)
{
    *a = x;
    *b = x + 3;
}
template <int N> __device__ int steps(int x)
{
    int r = 0;
    for (int i = 0; i < N; i++)
        r += x;
    return r;
}
__device__ int table[64];
__device__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__device__ int one(int n) { return n; }
typedef int (*Function)(int);
__device__ Function choice[2] = {one, fib};

extern "C" {
__global__ void stride(float *a, const float *b, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        a[i] = b[i] * 2;
}

__global__ void reduce(const int *in, int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

__global__ void interleaved(int *data)
{
    for (unsigned d = 1; d < blockDim.x; d *= 2) {
        if (threadIdx.x % (2 * d) == 0)
            data[threadIdx.x] += data[threadIdx.x + d];
        __syncthreads();
    }
}

__global__ void transpose(float *out, const float *in, int w)
{
    __shared__ float tile[8][9];
    for (int j = 0; j < 8; j += 4)
        tile[threadIdx.y + j][threadIdx.x] = in[(blockIdx.y * 8 + threadIdx.y + j) * w + blockIdx.x * 8 + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < 8; j += 4)
        out[(blockIdx.x * 8 + threadIdx.y + j) * w + blockIdx.y * 8 + threadIdx.x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void fill(Image v, int k)
{
    int x = threadIdx.x, y = blockIdx.x;
    if (x >= v.width || y >= v.height)
        return;
    v.at[y * v.width + x] = k;
}

__global__ void calls(int *a, const int *from, int n)
{
    int local[4];
    two(n, &local[1], &local[3]);
    if (threadIdx.x & 1)
        a[where(from, threadIdx.x) + local[3]] = local[1];
    a[steps<3>(threadIdx.x) + 200] = 1;
}

__global__ void conditions(int *a, int x, int y)
{
    int t = threadIdx.x;
    if ((t > x && t < y) || t == 7)
        a[t] = 1;
    else if (!(t & 2))
        a[t + 64] = 2;
    int i = t < x ? t * 3 : 100 - t;
    a[i + 128] = 3;
}

__global__ void counters(int *a, int n, int m)
{
    for (int i = 0, j = 3; i < n; i++, j += 2) {
        for (int k = i; k < m; k++)
            a[k * 4 + j] = 1;
        a[i + 100] = j;
    }
}

__global__ void buffers(int *a, int *b, int rounds)
{
    int t = threadIdx.x;
    for (int r = 0; r < rounds; r++) {
        b[t + r * 32] = a[(t + 1) % blockDim.x + r * 64];
        __syncthreads();
        int *c = a;
        a = b;
        b = c;
    }
    a[t + 64] = 1;
}

__global__ void double_buffer(const int *in, int *out, int tiles)
{
    __shared__ int s[2][32];
    int t = threadIdx.x, now = 0;
    s[0][t] = in[t];
    __syncthreads();
    for (int k = 0; k < tiles; k++, now ^= 1) {
        if (k + 1 < tiles)
            s[!now][t] = in[(k + 1) * 16 + t];
        out[k * 16 + t] = s[now][15 - t + k];
        __syncthreads();
    }
}

__global__ void do_while(int *a, int n)
{
    int i = threadIdx.x;
    do {
        a[i] = 1;
        i += blockDim.x;
    } while (i < n);
    a[200 + i] = 2;
}

__global__ void early(int *a, const int *stop, int n)
{
    int i = 0;
    for (; i < n; i++) {
        if (stop[i])
            break;
        if (i & 1)
            continue;
        a[threadIdx.x * 16 + i] = i;
    }
    a[threadIdx.x * 16 + 15] = i;
}

__global__ void bits(unsigned *a, unsigned n)
{
    unsigned t = threadIdx.x, j = t ^ (1u << n);
    if ((t & (2u << n) - 1) == 0)
        a[j] = 1;
    a[64 + (t >> 2) + (t & 3) * 16] = 2;
    a[192 + min(t, n) + max((int)t - 8, -3) + 3] = __umulhi(t, 1u << 31);
    a[256 + (unsigned char)(t * 17)] = (short)t < 0;
}

__global__ void warps(int *a)
{
    __shared__ int s[64];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    s[threadIdx.x] = lane;
    __syncwarp();
    a[warp * 32 + lane] = s[warp * 32 + (lane + 1) % 32];
    __syncwarp();
    if (lane == 0)
        a[64 + warp] = s[warp * 32];
}

__global__ void dynamic(float *o, int n)
{
    extern __shared__ float room[];
    float *second = room + blockDim.x;
    second[threadIdx.x] = n;
    room[threadIdx.x] = 1;
    __syncthreads();
    o[threadIdx.x] = second[blockDim.x - 1 - threadIdx.x] + room[threadIdx.x ^ 1];
    table[(threadIdx.x * 5) % 64] = 1;
    atomicAdd(&table[threadIdx.x / 4], 1);
}

__global__ void wide(int4 *a, const short *b, long long n)
{
    long long i = threadIdx.x + n;
    a[i] = make_int4(1, 2, 3, b[-i + 40]);
    ((char *)a)[n * 100 + i] = 1;
}

__global__ void scan(int *a, int n)
{
    __shared__ int s[2][32];
    int t = threadIdx.x, in = 1, out = 0;
    s[out][t] = a[t];
    __syncthreads();
    for (int d = 1; d < n; d *= 2) {
        out = 1 - out;
        in = 1 - out;
        s[out][t] = t >= d ? s[in][t] + s[in][t - d] : s[in][t];
        __syncthreads();
    }
    a[t] = s[out][t];
}

__global__ void captured(int *a, int n)
{
    int sum[4] = {1, 2, 3, 4};
    auto put = [&](int i) { a[i * n + threadIdx.x] = sum[i]; };
    for (int i = 0; i < 4; i++) {
        sum[i] += n;
        put(i);
    }
}

__global__ void growing(int *a, int n)
{
    for (int i = 1; i < n; i += i + 1)
        a[i + threadIdx.x] = 1;
}

__global__ void down(int *a, int n, int step)
{
    for (int i = n - threadIdx.x; i > 0; i -= step)
        a[i] = 1;
}

__global__ void parts(int *a, int n)
{
    union {
        int whole[2];
        short half[4];
        char byte[8];
        long long all;
    } u;
    u.whole[0] = 0x10002;
    u.whole[1] = n;
    u.half[1] = 3;
    u.byte[4] = 5;
    a[u.whole[0] >> 16] = 1;
    a[u.half[0] + threadIdx.x] = 2;
    a[u.byte[4] + 32 + (u.whole[1] >> 8)] = 3;
    u.whole[1] = 0x6005;
    u.whole[0] = 0x10002;
    u.half[0] = 7;
    a[(u.all >> 16 & 255) + (u.all >> 44) + 64] = 4;
}

__global__ void instructions(char *a, int n)
{
    long long wide, sum;
    int field, high, put, logic;
    int t = threadIdx.x;
    asm("mul.wide.s32 %0, %1, %2;" : "=l"(wide) : "r"(t - 4), "r"(n));
    asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(sum) : "r"(t), "r"(3), "l"(wide));
    asm("bfe.s32 %0, %1, 1, 3;" : "=r"(field) : "r"(t));
    asm("mul.hi.s32 %0, %1, %2;" : "=r"(high) : "r"(t << 28), "r"(64));
    asm("bfi.b32 %0, %1, %2, 4, 3;" : "=r"(put) : "r"(t), "r"(n));
    asm("lop3.b32 %0, %1, %2, %3, 0x6a;" : "=r"(logic) : "r"(t), "r"(n), "r"(5));
    a[wide + 512] = 1;
    a[sum + 1024] = 2;
    a[field + 2048] = 3;
    a[high + 3072] = 4;
    a[put + 4000] = 5;
    a[(logic & 255) + 5000] = 6;
    a[6000 + (t - 8) / 3 + ((t - 8) % 3) * 16 + abs(t - 8) * 32] = 7;
}

__global__ void chosen(int *a, int n)
{
    int t = threadIdx.x, v;
    switch ((t + n) % 6) {
    case 0: v = 5; break;
    case 1: v = t * 2; break;
    case 2: v = 77; // falls through
    case 3: a[t + 400] = 1; v = 90; break;
    case 4: return;
    default: v = 200 + t;
    }
    a[v] = 2;
}

__global__ void counted(int *a, int n)
{
    int i = 0;
    while (i < n)
        i += 3;
    a[i + threadIdx.x] = 1;
}

__global__ void pointers(int *a, int n)
{
    int *end = a + n;
    for (int *p = a + threadIdx.x; p < end; p += blockDim.x)
        *p = 1;
}

__global__ void rotate(int *a, int *b, int *c, int rounds)
{
    for (int r = 0; r < rounds; r++) {
        c[threadIdx.x + r * 16] = a[threadIdx.x] + b[threadIdx.x + r * 16];
        int *first = a;
        a = b;
        b = c;
        c = first;
        __syncthreads();
    }
}

__global__ void shifted(int *a, int *b, int *c, int rounds)
{
    for (int r = 0; r < rounds; r++) {
        c[threadIdx.x + r * 16] = 1;
        a[threadIdx.x] = 1;
        int *first = a;
        a = b;
        b = c;
        c = a;
        if (rounds > 3)
            b = first;
    }
}

struct Member {
    int *at;
    int number, list[4];
    int *last;
};

struct Outer {
    struct Member *inner;
    int list[4], *number, *target;
};

// An index stays in its array: members before and behind keep what they have.
__global__ void members(int *a, int n)
{
    struct Member m = {a, (int)threadIdx.x, {}, a + 256};
    for (int i = 0; i < n; i++) {
        m.list[i & 3] = i;
        m.at[m.number + i * 16] = 1;
        m.last[m.number + i * 16] = 2;
    }
}

// The pointer that a store in the loop goes through lies in local memory itself.
__global__ void reached(int *a, int n)
{
    struct Member m = {a, (int)threadIdx.x, {}, a + 256};
    struct Outer o = {&m, {}, &m.number, &m.list[1]};
    for (int i = 0; i < n; i++) {
        o.inner->list[i & 3] = i;
        o.list[i & 1] = i;
        o.inner->at[o.inner->number + i * 16] = 1;
        for (int k = 0; k < 2; k++) {
            o.inner->list[k] = 7;
            o.inner->last[*o.number + k * 16] = 2;
        }
    }
}

__global__ void advanced(int *a, int n)
{
    struct Member m = {a, (int)threadIdx.x, {}, a + 256};
    struct Outer o = {&m};
    for (int i = 0; i < n; i++) {
        o.inner->list[i & 3] = i;
        o.inner->at[o.inner->number] = 1;
        o.inner->at += 16;
    }
    o.inner->at[512 + o.inner->number] = 2;
}

// What does change, by another name.
__global__ void renamed(int *a, int n)
{
    struct Member m = {a, (int)threadIdx.x, {}, a + 256};
    struct Outer o = {&m, {}, &m.number};
    for (int i = 0; i < n; i++) {
        o.inner->at[o.inner->number] = 1;
        *o.number = i * 16 + threadIdx.x;
    }
    o.inner->last[m.number] = 2;
}

// What changes in a later round only, because something else has changed in the round before.
__global__ void later(int *a, int n)
{
    int other = 0;
    struct Member m = {a, (int)threadIdx.x, {}, a + 256};
    struct Outer o = {&m, {}, &other, &other};
    for (int i = 0; i < n; i++) {
        m.at[m.number] = 1;
        *o.target = i * 16;
        o.target = o.number;
        if (i == 1)
            o.number = &m.number;
    }
    m.at[m.number + 512] = 2;
}

// The object that is worked on changes.
__global__ void swapped(int *a, int n)
{
    struct Member m = {a, (int)threadIdx.x}, l = {a + 512, (int)threadIdx.x + 16};
    struct Outer o = {&m};
    for (int i = 0; i < n; i++) {
        o.inner->at[o.inner->number + i * 32] = 1;
        if (i == 2)
            o.inner = &l;
    }
    o.inner->at[o.inner->number + 480] = 3;
}

// An index that leaves its array by a bound that is not constant.
__global__ void bounded(int *a, int n)
{
    struct Member m = {a, (int)threadIdx.x, {}, a + 256};
    int *list = &m.number;
    for (int i = 0; i <= n; i++)
        list[i] = i + threadIdx.x;
    m.at[m.number] = 1;
    m.last[m.list[3] * 16] = 2;
}

// Up to the last element, which is the last of another array.
__global__ void filled(int *a, int n)
{
    struct Member m = {a, (int)threadIdx.x, {}, a + 256};
    int *list = &m.number;
    for (int i = 0; i < 5; i++)
        list[i] = i * n + threadIdx.x;
    m.at[m.list[3]] = 1;
    m.last[threadIdx.x] = 2;
}

// Only modelled.
__global__ void lock(int *l, int *d)
{
    while (atomicCAS(l, 0, 1) != 0)
        ;
    __threadfence();
    *d += 1;
    __threadfence();
    atomicExch(l, 0);
}

__global__ void phases(int *a)
{
    cooperative_groups::grid_group g = cooperative_groups::this_grid();
    a[g.thread_rank()] = 1;
    g.sync();
    a[g.thread_rank() + 1] = 2;
}

__global__ void recursive(int *a, int n) { a[fib(n)] = 1; }
__global__ void indirect(int *a, int n) { a[n ? choice[n](n) : 0] = 1; }
__global__ void prints(int *a, int n)
{
    printf("%d\n", n);
    a[threadIdx.x] = n;
}
__global__ void loaded(int **a, int n) { a[n][threadIdx.x] = 1; }
__global__ void named(int *a)
{
    asm volatile("bar.sync 1, 64;" ::: "memory");
    a[threadIdx.x] = 1;
}
}
