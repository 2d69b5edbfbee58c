// SPDX-License-Identifier: Apache-2.0
// The kernels that vm_bench times; kernels.cl has the same in OpenCL.
extern "C" __global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

#define TILE 16
extern "C" __global__ void matmul(const float *a, const float *b, float *c, int n) {
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    int tx = threadIdx.x % TILE, ty = threadIdx.x / TILE, tiles = n / TILE;
    int col = (blockIdx.x % tiles) * TILE + tx, row = (blockIdx.x / tiles) * TILE + ty;
    float sum = 0;
    for (int t = 0; t < tiles; t++) {
        as[ty][tx] = a[row * n + t * TILE + tx];
        bs[ty][tx] = b[(t * TILE + ty) * n + col];
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += as[ty][k] * bs[k][tx];
        __syncthreads();
    }
    c[row * n + col] = sum;
}

extern "C" __global__ void reduce(const int *in, int *out, int n) {
    __shared__ int s[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    s[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int k = 128; k > 0; k >>= 1) {
        if (t < k)
            s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

extern "C" __global__ void hist(const unsigned *in, unsigned *out, int n) {
    __shared__ unsigned s[256];
    s[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&s[in[i] & 255], 1);
    __syncthreads();
    atomicAdd(&out[threadIdx.x], s[threadIdx.x]);
}

extern "C" __global__ void ghist(const unsigned *in, unsigned *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&out[in[i] & 255], 1);
}

extern "C" __global__ void bfs(const unsigned *first, const unsigned *to, unsigned *level, unsigned *flags, unsigned *again,
                               unsigned now, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned *frontier = flags + now % 2 * n, *next = flags + (now + 1) % 2 * n;
    if (i >= n || !frontier[i])
        return;
    frontier[i] = 0;
    for (unsigned e = first[i]; e < first[i + 1]; e++) {
        unsigned j = to[e];
        if (atomicCAS(&level[j], 0xffffffff, now + 1) == 0xffffffff) {
            next[j] = 1;
            atomicOr(again, 1);
        }
    }
}

extern "C" __global__ void nbody(const float4 *p, float4 *a, int n) {
    __shared__ float4 s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = p[i];
    float x = 0, y = 0, z = 0;
    for (int t = 0; t < n; t += 256) {
        s[threadIdx.x] = p[t + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 256; k++) {
            float dx = s[k].x - me.x, dy = s[k].y - me.y, dz = s[k].z - me.z;
            float r = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-2f);
            float f = s[k].w * r * r * r;
            x += f * dx;
            y += f * dy;
            z += f * dz;
        }
        __syncthreads();
    }
    a[i] = make_float4(x, y, z, 0);
}

// For any number of threads: none writes, but the compiler does not know.
extern "C" __global__ void many(const unsigned *in, unsigned *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = in[i & 0xffff] ^ i;
    for (int k = 0; k < 4; k++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
    }
    if (x == 0xffffffff && i == 0)
        *out = i;
}

// A working set: every element is read and written once.
extern "C" __global__ void touch4(unsigned *p, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] += i;
}
extern "C" __global__ void touch1(unsigned char *p, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] += i;
}

extern "C" __global__ void collatz(int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, steps = 0;
    if (i >= n)
        return;
    for (unsigned long long v = i + 1; v != 1; steps++)
        v = v & 1 ? 3 * v + 1 : v / 2;
    out[i] = steps;
}

// Long inner loops over shared memory, where a window at each access costs most. Each thread reads a whole table, at places that its neighbours read a step later.
#define TABLE 1024
extern "C" __global__ void table(const float *in, float *out, int n) {
    __shared__ float s[TABLE];
    for (int k = threadIdx.x; k < TABLE; k += blockDim.x)
        s[k] = in[(blockIdx.x * 37 + k) % n];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 4 * TABLE; k++)
        sum = sum * 0.5f + s[(threadIdx.x + k) % TABLE];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Each address is what was loaded before: no two loads overlap.
extern "C" __global__ void chase(const unsigned *in, unsigned *out, int n) {
    __shared__ unsigned s[TABLE];
    for (int k = threadIdx.x; k < TABLE; k += blockDim.x)
        s[k] = (in[(blockIdx.x + k) % n] + k * 7 + 1) % TABLE;
    __syncthreads();
    unsigned at = threadIdx.x, sum = 0;
    for (int k = 0; k < 4 * TABLE; k++) {
        at = s[at];
        sum += at++;
        at %= TABLE;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Loads, a store and two barriers in each step.
extern "C" __global__ void relax(const float *in, float *out, int n) {
    __shared__ float s[256];
    unsigned t = threadIdx.x, i = blockIdx.x * 256 + t;
    s[t] = in[i % n];
    __syncthreads();
    for (int k = 0; k < 1024; k++) {
        float mean = (s[(t + 255) % 256] + s[t] + s[(t + 1) % 256]) / 3;
        __syncthreads();
        s[t] = mean;
        __syncthreads();
    }
    out[i] = s[t];
}
