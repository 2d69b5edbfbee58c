// SPDX-License-Identifier: Apache-2.0
// Race-free kernels that are hard to run from barrier to barrier on private copies. The program checks its own results, so under
// --privatize deterministic it shows whether the code for warps does what the kernels' own code does. test_privatizer.py runs it.
#include "../../../check.h"

#include <numeric>
#include <vector>

constexpr int THREADS = 96, BLOCKS = 3, N = THREADS * BLOCKS;

__global__ void reduces(int *out) { // barriers that count, and threads that have ended before
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    out[i] = 0;
    if (t >= 80)
        return;
    int many = __syncthreads_count(t % 3 == 0), all = __syncthreads_and(t < 90), none = __syncthreads_or(t > 90), some = __syncthreads_or(!(t != 7));
    out[i] = many + 1000 * all + 10000 * none + 100000 * some;
}

__global__ void leaves(int *out, int n) { // threads leave one by one, in a loop with barriers
    __shared__ int s[THREADS];
    int t = threadIdx.x, sum = 0;
    s[t] = t;
    __syncthreads();
    for (int k = 0; k < n; k++) {
        if (t == 2 * k + 1)
            break;
        sum += s[(t + k) % THREADS];
        __syncthreads();
        s[t] += 1;
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + t] = sum;
}

__global__ void keeps(int *out, int n) { // an array in local memory, changed in each region
    __shared__ int s[THREADS];
    int t = threadIdx.x, a[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    for (int k = 0; k < n; k++) {
        a[(t + k) % 8] += k;
        s[t] = a[(t * k) % 8];
        __syncthreads();
        a[(t + 2 * k) % 8] ^= s[THREADS - 1 - t];
        __syncthreads();
    }
    int sum = 0;
    for (int k = 0; k < 8; k++)
        sum = sum * 31 + a[k];
    out[blockIdx.x * blockDim.x + t] = sum;
}

__global__ void nested(int *out, int n) { // loops of other lengths in each block
    __shared__ int s[2][THREADS];
    int t = threadIdx.x;
    s[0][t] = t;
    s[1][t] = 0;
    __syncthreads();
    for (int i = 0; i <= (int)blockIdx.x; i++) {
        for (int j = 0; j < n; j++) {
            s[(j + 1) % 2][t] = s[j % 2][(t + 1) % THREADS] + i;
            __syncthreads();
        }
        if (n % 2) {
            s[0][t] = s[1][t];
            __syncthreads();
        }
    }
    out[blockIdx.x * blockDim.x + t] = s[0][t];
}

__device__ int counters[16];
__constant__ int table[4] = {3, 1, 4, 1};

__global__ void counts(const int *in, int *bins, int *own) { // atomic operations whose results nobody reads, plain stores of one block to its own words
    __shared__ int s[16];
    int t = threadIdx.x, v = in[blockIdx.x * blockDim.x + t];
    if (t < 16)
        s[t] = 0;
    if (t == 0)
        own[blockIdx.x] = 0;
    __syncthreads();
    atomicAdd(&s[v % 16], table[v % 4]);
    atomicAdd(&own[blockIdx.x], v);
    atomicMax(&counters[v % 16], v);
    __syncthreads();
    if (t < 16)
        atomicAdd(&bins[t], s[t]);
}

__global__ void parts(unsigned char *bytes, short *shorts, double *doubles, float4 *vectors) { // neighbours in a word
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bytes[i] = (unsigned char)(i * 7);
    shorts[i] = (short)(i * 5);
    doubles[i] = i * 0.25;
    vectors[i] = make_float4(i, i + 1, i + 2, i + 3);
    __syncthreads();
    int other = blockIdx.x * blockDim.x + (blockDim.x - 1 - threadIdx.x);
    doubles[i] += 0; // its own
    float4 v = vectors[other];
    int sum = bytes[other] + shorts[other] + (int)v.w;
    __syncthreads();
    vectors[i].x = sum;
}

__global__ void within(int *data, int rounds) { // threads of a block talk through global memory
    int *own = data + blockIdx.x * blockDim.x, t = threadIdx.x;
    for (int k = 0; k < rounds; k++) {
        int v = own[(t + 1) % blockDim.x];
        __syncthreads();
        own[t] = v + 1;
        __syncthreads();
    }
}

__global__ void lanes(const int *in, int *out) { // barriers of a warp
    __shared__ int s[THREADS];
    int t = threadIdx.x, lane = t % 32, v = in[blockIdx.x * blockDim.x + t];
    s[t] = v;
    __syncwarp();
    int left = s[t - lane + (lane + 31) % 32];
    __syncwarp();
    s[t] = left + __shfl_xor_sync(~0u, v, 1);
    __syncthreads();
    out[blockIdx.x * blockDim.x + t] = s[(t + 32) % THREADS];
}

__global__ void reaches(int **rows, int *out) { // pointers in memory, dynamic shared memory
    extern __shared__ int s[];
    int t = threadIdx.x;
    s[t] = rows[blockIdx.x][t];
    __syncthreads();
    out[blockIdx.x * blockDim.x + t] = s[THREADS - 1 - t];
    rows[blockIdx.x][t] = -t;
}

static int wrong;
static void expect(const char *what, int i, long got, long want) {
    if (got != want && wrong++ < 10)
        printf("%s[%d] is %ld, not %ld\n", what, i, got, want);
}

int main() {
    std::vector<int> in(N), got(N);
    for (int i = 0; i < N; i++)
        in[i] = i * 37 % 101;
    int *a, *b, *pinned, *managed, **rows;
    CHECK(cudaMalloc(&a, N * sizeof(int)));
    CHECK(cudaMalloc(&b, N * sizeof(int)));
    CHECK(cudaMallocHost(&pinned, N * sizeof(int)));
    CHECK(cudaMallocManaged(&managed, N * sizeof(int)));
    CHECK(cudaMemcpy(a, in.data(), N * sizeof(int), cudaMemcpyHostToDevice));
    auto fetch = [&](int *from) { return cudaMemcpy(got.data(), from, N * sizeof(int), cudaMemcpyDefault); };

    reduces<<<BLOCKS, THREADS>>>(b);
    CHECK(fetch(b));
    for (int i = 0; i < N; i++)
        expect("reduces", i, got[i], i % THREADS < 80 ? 27 + 1000 + 100000 : 0);

    leaves<<<BLOCKS, THREADS>>>(managed, 40);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < N; i++) {
        std::vector<int> s(THREADS);
        std::iota(s.begin(), s.end(), 0);
        long sum = 0;
        int t = i % THREADS;
        for (int k = 0; k < 40 && t != 2 * k + 1; k++) {
            sum += s[(t + k) % THREADS];
            for (int u = 0; u < THREADS; u++)
                s[u] += u % 2 == 0 || u > 2 * k + 1;
        }
        expect("leaves", i, managed[i], sum);
    }

    keeps<<<BLOCKS, THREADS>>>(pinned, 11);
    CHECK(cudaDeviceSynchronize());
    {
        std::vector<std::vector<int>> l(THREADS, {1, 2, 3, 4, 5, 6, 7, 8});
        std::vector<int> s(THREADS);
        for (int k = 0; k < 11; k++) {
            for (int t = 0; t < THREADS; t++) {
                l[t][(t + k) % 8] += k;
                s[t] = l[t][t * k % 8];
            }
            for (int t = 0; t < THREADS; t++)
                l[t][(t + 2 * k) % 8] ^= s[THREADS - 1 - t];
        }
        for (int i = 0; i < N; i++) {
            int sum = 0;
            for (int v : l[i % THREADS])
                sum = sum * 31 + v;
            expect("keeps", i, pinned[i], sum);
        }
    }

    for (int n = 2; n < 4; n++) {
        nested<<<BLOCKS, THREADS>>>(b, n);
        CHECK(fetch(b));
        for (int i = 0; i < N; i++) {
            int rounds = i / THREADS + 1, add = 0;
            for (int k = 0; k < rounds; k++)
                add += k * n;
            expect("nested", i, got[i], (i % THREADS + rounds * n) % THREADS + add);
        }
    }

    int *bins, *own, host[16], sums[BLOCKS], most[16];
    CHECK(cudaMalloc(&bins, sizeof host));
    CHECK(cudaMalloc(&own, sizeof sums));
    CHECK(cudaMemset(bins, 0, sizeof host));
    CHECK(cudaMemset(own, 0x55, sizeof sums));
    counts<<<BLOCKS, THREADS>>>(a, bins, own);
    CHECK(cudaMemcpy(host, bins, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(sums, own, sizeof sums, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpyFromSymbol(most, counters, sizeof most));
    int want_bins[16] = {}, want_sums[BLOCKS] = {}, want_most[16] = {}, digits[4] = {3, 1, 4, 1};
    for (int i = 0; i < N; i++) {
        want_bins[in[i] % 16] += digits[in[i] % 4];
        want_sums[i / THREADS] += in[i];
        want_most[in[i] % 16] = std::max(want_most[in[i] % 16], in[i]);
    }
    for (int k = 0; k < 16; k++) {
        expect("bins", k, host[k], want_bins[k]);
        expect("counters", k, most[k], want_most[k]);
    }
    for (int k = 0; k < BLOCKS; k++)
        expect("own", k, sums[k], want_sums[k]);

    unsigned char *bytes, got_bytes[N];
    short *shorts, got_shorts[N];
    double *doubles, got_doubles[N];
    float4 *vectors, got_vectors[N];
    CHECK(cudaMalloc(&bytes, sizeof got_bytes));
    CHECK(cudaMalloc(&shorts, sizeof got_shorts));
    CHECK(cudaMalloc(&doubles, sizeof got_doubles));
    CHECK(cudaMalloc(&vectors, sizeof got_vectors));
    parts<<<BLOCKS, THREADS>>>(bytes, shorts, doubles, vectors);
    CHECK(cudaMemcpy(got_bytes, bytes, sizeof got_bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(got_shorts, shorts, sizeof got_shorts, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(got_doubles, doubles, sizeof got_doubles, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(got_vectors, vectors, sizeof got_vectors, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) {
        int o = i / THREADS * THREADS + THREADS - 1 - i % THREADS;
        expect("bytes", i, got_bytes[i], (unsigned char)(i * 7));
        expect("shorts", i, got_shorts[i], i * 5);
        expect("doubles", i, (long)(got_doubles[i] * 4), i);
        expect("vectors", i, (long)got_vectors[i].x, (unsigned char)(o * 7) + o * 5 + o + 3);
        expect("vectors.w", i, (long)got_vectors[i].w, i + 3);
    }

    CHECK(cudaMemcpy(b, in.data(), N * sizeof(int), cudaMemcpyHostToDevice));
    within<<<BLOCKS, THREADS>>>(b, 5);
    within<<<BLOCKS, THREADS>>>(b, 2);
    CHECK(fetch(b));
    for (int i = 0; i < N; i++)
        expect("within", i, got[i], in[i / THREADS * THREADS + (i + 7) % THREADS] + 7);

    lanes<<<BLOCKS, THREADS>>>(a, b);
    CHECK(fetch(b));
    for (int i = 0; i < N; i++) {
        int block = i / THREADS * THREADS, t = (i % THREADS + 32) % THREADS, lane = t % 32;
        expect("lanes", i, got[i], in[block + t - lane + (lane + 31) % 32] + in[block + (t ^ 1)]);
    }

    int *hold[BLOCKS];
    CHECK(cudaMalloc(&rows, sizeof hold));
    for (int k = 0; k < BLOCKS; k++) {
        CHECK(cudaMalloc(&hold[k], THREADS * sizeof(int)));
        CHECK(cudaMemcpy(hold[k], in.data() + k * THREADS, THREADS * sizeof(int), cudaMemcpyHostToDevice));
    }
    CHECK(cudaMemcpy(rows, hold, sizeof hold, cudaMemcpyHostToDevice));
    reaches<<<BLOCKS, THREADS, THREADS * sizeof(int)>>>(rows, b);
    CHECK(fetch(b));
    for (int i = 0; i < N; i++)
        expect("reaches", i, got[i], in[i / THREADS * THREADS + THREADS - 1 - i % THREADS]);
    for (int k = 0; k < BLOCKS; k++) {
        CHECK(cudaMemcpy(got.data(), hold[k], THREADS * sizeof(int), cudaMemcpyDeviceToHost));
        for (int t = 0; t < THREADS; t++)
            expect("rows", t, got[t], -t);
    }
    printf("%s\n", wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
