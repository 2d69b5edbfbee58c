// SPDX-License-Identifier: Apache-2.0
// Three devices: each has its own memory, streams, current device per thread, copies between them in every form, and
// kernels that use another's memory. [EM-125] [EM-128]
// DEVICES: 3
#include "../../../check.h"

#include <thread>
#include <vector>

static const int n = 4096, count = 3;

__device__ int where = -1;

__global__ void fill(int *data, int start)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = start + i;
    if (i == 0)
        where = start;
}

__global__ void add(int *to, const int *from)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] += from[i];
}

static void each_its_own(int **data)
{
    int devices = 0;
    CHECK(cudaGetDeviceCount(&devices));
    EXPECT_EQ(devices, count);
    for (int d = 0; d < count; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaMalloc(&data[d], n * sizeof(int)));
        fill<<<n / 256, 256>>>(data[d], 1000 * d);
        CHECK(cudaGetLastError());
    }
    for (int d = 0; d < count; d++) {
        int current = -1, value = -2;
        cudaPointerAttributes a;
        CHECK(cudaSetDevice(d));
        CHECK(cudaGetDevice(&current));
        EXPECT_EQ(current, d);
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaMemcpyFromSymbol(&value, where, sizeof value)); // the variable is there once per device
        EXPECT_EQ(value, 1000 * d);
        CHECK(cudaPointerGetAttributes(&a, data[d]));
        EXPECT_EQ(a.device, d);
        char id[32];
        int back = -1;
        CHECK(cudaDeviceGetPCIBusId(id, sizeof id, d));
        CHECK(cudaDeviceGetByPCIBusId(&back, id));
        EXPECT_EQ(back, d);
    }
}

static void copies(int **data)
{
    std::vector<int> host(n);
    cudaStream_t s;
    CHECK(cudaSetDevice(0));
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaMemcpyPeer(data[0], 0, data[1], 1, n * sizeof(int)));
    CHECK(cudaMemcpy(host.data(), data[0], n * sizeof(int), cudaMemcpyDeviceToHost));
    EXPECT_EQ(host[n - 1], 1000 + n - 1);
    CHECK(cudaMemcpyPeerAsync(data[0], 0, data[2], 2, n * sizeof(int), s));
    CHECK(cudaStreamSynchronize(s));
    CHECK(cudaMemcpy(host.data(), data[0], n * sizeof(int), cudaMemcpyDefault));
    EXPECT_EQ(host[n - 1], 2000 + n - 1);
    CHECK(cudaMemcpy(data[0], data[1], n * sizeof(int), cudaMemcpyDefault));
    CHECK(cudaMemcpy(host.data(), data[0], n * sizeof(int), cudaMemcpyDefault));
    EXPECT_EQ(host[7], 1007);
    cudaMemcpy3DPeerParms p = {};
    p.srcPtr = make_cudaPitchedPtr(data[2], 64 * sizeof(int), 64, n / 64);
    p.dstPtr = make_cudaPitchedPtr(data[0], 64 * sizeof(int), 64, n / 64);
    p.srcDevice = 2;
    p.extent = make_cudaExtent(8 * sizeof(int), 2, 1);
    CHECK(cudaMemcpy3DPeer(&p));
    CHECK(cudaMemcpy(host.data(), data[0], n * sizeof(int), cudaMemcpyDefault));
    EXPECT_EQ(host[7], 2007);
    EXPECT_EQ(host[8], 1008);
    EXPECT_EQ(host[64 + 7], 2071);
    EXPECT_EQ(host[128], 1128);
    CHECK(cudaStreamDestroy(s));
}

// A copy between devices waits for what both do, and what both do next waits for it.
static void copies_in_order(int **data)
{
    std::vector<int> host(n);
    for (int round = 0; round < 30; round++) {
        CHECK(cudaSetDevice(1));
        fill<<<n / 256, 256>>>(data[1], round);
        CHECK(cudaSetDevice(2));
        fill<<<n / 256, 256>>>(data[2], -1);
        CHECK(cudaSetDevice(round % count));
        CHECK(cudaMemcpyPeer(data[2], 2, data[1], 1, n * sizeof(int)));
        CHECK(cudaSetDevice(1));
        fill<<<n / 256, 256>>>(data[1], -2);
        CHECK(cudaSetDevice(2));
        CHECK(cudaMemcpy(host.data(), data[2], n * sizeof(int), cudaMemcpyDeviceToHost));
        for (int i = 0; i < n; i++)
            EXPECT_EQ(host[i], round + i);
    }
    for (int d = 1; d < count; d++) {
        CHECK(cudaSetDevice(d));
        fill<<<n / 256, 256>>>(data[d], 1000 * d);
        CHECK(cudaDeviceSynchronize());
    }
}

static void peers(int **data)
{
    int can = 0;
    CHECK(cudaDeviceCanAccessPeer(&can, 0, 1));
    EXPECT_EQ(can, 1);
    CHECK(cudaDeviceCanAccessPeer(&can, 0, 0));
    EXPECT_EQ(can, 0);
    CHECK(cudaSetDevice(0));
    EXPECT_EQ(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
    CHECK(cudaDeviceEnablePeerAccess(1, 0));
    EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
    EXPECT_EQ(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessUnsupported);
    EXPECT_EQ(cudaGetLastError(), cudaErrorPeerAccessUnsupported);
    CHECK(cudaMemset(data[0], 0, n * sizeof(int)));
    add<<<n / 256, 256>>>(data[0], data[1]);
    CHECK(cudaDeviceSynchronize());
    int value = 0;
    CHECK(cudaMemcpy(&value, data[0] + 9, sizeof value, cudaMemcpyDeviceToHost));
    EXPECT_EQ(value, 1009);
    CHECK(cudaDeviceDisablePeerAccess(1));
    // Without access it is an illegal address, of the context that did it only.
    add<<<n / 256, 256>>>(data[0], data[1]);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    CHECK(cudaDeviceReset());
    CHECK(cudaSetDevice(1));
    CHECK(cudaMemcpy(&value, data[1] + 9, sizeof value, cudaMemcpyDeviceToHost));
    EXPECT_EQ(value, 1009);
}

// Events order streams of different devices; each thread has a device of its own.
static void threads_and_events()
{
    std::vector<std::thread> threads;
    int *managed;
    CHECK(cudaMallocManaged(&managed, count * n * sizeof(int)));
    for (int d = 0; d < count; d++)
        threads.emplace_back([=] {
            CHECK(cudaSetDevice(d));
            fill<<<n / 256, 256>>>(managed + d * n, d);
            CHECK(cudaDeviceSynchronize());
        });
    for (auto &t : threads)
        t.join();
    for (int d = 0; d < count; d++)
        EXPECT_EQ(managed[d * n + 5], d + 5);
    int *data;
    cudaEvent_t filled;
    cudaStream_t first, second;
    CHECK(cudaSetDevice(1));
    CHECK(cudaMalloc(&data, n * sizeof(int)));
    CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&filled, cudaEventDisableTiming));
    fill<<<n / 256, 256, 0, first>>>(data, 70);
    CHECK(cudaEventRecord(filled, first));
    CHECK(cudaSetDevice(2));
    CHECK(cudaDeviceEnablePeerAccess(1, 0));
    CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    CHECK(cudaMemsetAsync(managed, 0, n * sizeof(int), second));
    CHECK(cudaStreamWaitEvent(second, filled, 0));
    add<<<n / 256, 256, 0, second>>>(managed, data);
    CHECK(cudaStreamSynchronize(second));
    EXPECT_EQ(managed[n - 1], 70 + n - 1);
}

int main()
{
    int *data[count];
    each_its_own(data);
    copies(data);
    copies_in_order(data);
    peers(data);
    threads_and_events();
    return finish();
}
