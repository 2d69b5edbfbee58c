// SPDX-License-Identifier: Apache-2.0
// Several streams in a diamond of dependencies, copies in chunks that overlap with kernels, callbacks and host functions,
// priorities, events that are polled and timed, and the per-stream order of everything, many times over.
#include "complete.h"
#include <atomic>

__global__ void affine(const int *in, int *out, int n, int a, int b)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = in[i] * a + b;
}

__global__ void combine(const int *x, const int *y, int *out, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = x[i] * 3 + y[i];
}

static std::atomic<int> called;

static void CUDART_CB host_function(void *data)
{
    int *where = (int *)data;
    *where = ++called;
}

static void CUDART_CB callback(cudaStream_t, cudaError_t status, void *data)
{
    if (status == cudaSuccess)
        *(int *)data += 100;
}

int main()
{
    const int n = 3001, chunks = 5, rounds = 4;
    int *host, *result, low, high, marks[rounds] = {};
    CHECK(cudaMallocHost(&host, n * sizeof(int)));
    CHECK(cudaHostAlloc(&result, n * sizeof(int), cudaHostAllocDefault));
    CHECK(cudaDeviceGetStreamPriorityRange(&low, &high));
    EXPECT(high <= low);
    cudaStream_t s[4];
    for (int i = 0; i < 4; i++)
        CHECK(cudaStreamCreateWithPriority(&s[i], cudaStreamNonBlocking, i % 2 ? high : low));
    cudaEvent_t split, left, right, begin, end;
    CHECK(cudaEventCreateWithFlags(&split, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&left, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&right, cudaEventDisableTiming));
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    int *a = device_new<int>(n), *b = device_new<int>(n), *c = device_new<int>(n), *d = device_new<int>(n);
    Random random(46);
    std::vector<int> want(n), got(n);
    CHECK(cudaEventRecord(begin, s[0]));
    for (int r = 0; r < rounds; r++) {
        for (int i = 0; i < n; i++) {
            host[i] = (int)random.below(1000);
            want[i] = (host[i] * 2 + r) * 3 + (host[i] * 5 - r);
        }
        CHECK(cudaMemcpyAsync(a, host, n * sizeof(int), cudaMemcpyHostToDevice, s[0]));
        CHECK(cudaEventRecord(split, s[0]));
        CHECK(cudaStreamWaitEvent(s[1], split, 0));
        CHECK(cudaStreamWaitEvent(s[2], split, 0));
        affine<<<3, 96, 0, s[1]>>>(a, b, n, 2, r);
        affine<<<5, 64, 0, s[2]>>>(a, c, n, 5, -r);
        CHECK(cudaEventRecord(left, s[1]));
        CHECK(cudaEventRecord(right, s[2]));
        CHECK(cudaStreamWaitEvent(s[3], left, 0));
        CHECK(cudaStreamWaitEvent(s[3], right, 0));
        combine<<<4, 128, 0, s[3]>>>(b, c, d, n);
        CHECK(cudaMemcpyAsync(result, d, n * sizeof(int), cudaMemcpyDeviceToHost, s[3]));
        CHECK(cudaLaunchHostFunc(s[3], host_function, &marks[r]));
        CHECK(cudaStreamAddCallback(s[3], callback, &marks[r], 0));
        CHECK(cudaEventRecord(end, s[3]));
        long polls = 0;
        for (cudaError_t e; (e = cudaEventQuery(end)) != cudaSuccess; polls++) {
            if (e != cudaErrorNotReady)
                CHECK(e);
        }
        got.assign(result, result + n);
        expect_same("diamond", got, want);
        expect_same("mark", marks[r], 101 + r);
    }
    float ms = -1;
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    EXPECT(ms > 0);

    // In chunks over all streams; the last is shorter.
    for (int i = 0; i < n; i++)
        host[i] = i;
    CHECK(cudaMemset(b, 0, n * sizeof(int)));
    CHECK(cudaDeviceSynchronize());
    int each = (n + chunks - 1) / chunks;
    for (int k = 0; k < chunks; k++) {
        int at = k * each, count = std::min(each, n - at);
        cudaStream_t stream = s[k % 4];
        CHECK(cudaMemcpyAsync(a + at, host + at, count * sizeof(int), cudaMemcpyHostToDevice, stream));
        affine<<<2, 64, 0, stream>>>(a + at, b + at, count, 7, k);
        CHECK(cudaMemcpyAsync(result + at, b + at, count * sizeof(int), cudaMemcpyDeviceToHost, stream));
    }
    CHECK(cudaDeviceSynchronize());
    got.assign(result, result + n);
    for (int i = 0; i < n; i++)
        want[i] = i * 7 + i / each;
    expect_same("chunks", got, want);
    for (auto stream : s)
        CHECK(cudaStreamDestroy(stream));
    for (auto event : {split, left, right, begin, end})
        CHECK(cudaEventDestroy(event));
    CHECK(cudaFreeHost(host));
    CHECK(cudaFreeHost(result));
    return finish();
}
