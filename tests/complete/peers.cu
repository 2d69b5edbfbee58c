// SPDX-License-Identifier: Apache-2.0
// DEVICE: devices=3
// A ring all-reduce over several devices: each sums one part that goes round in peer copies, then the sums go round; and a
// kernel that reads the memory of another device directly.
#include "complete.h"

const int MOST = 8;

__global__ void add(float *to, const float *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] += from[i];
}

__global__ void gather(const float *a, const float *b, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = a[i] - b[n - 1 - i];
}

int main()
{
    const int part = 331, block = 96;
    int devices;
    CHECK(cudaGetDeviceCount(&devices));
    EXPECT(devices == 3);
    devices = std::min(devices, MOST);
    const int n = part * devices;
    Random random(47);
    std::vector<float> want(n, 0.0f), all[MOST];
    float *data[MOST], *inbox[MOST];
    cudaStream_t stream[MOST];
    for (int d = 0; d < devices; d++) {
        CHECK(cudaSetDevice(d));
        for (int e = 0; e < devices; e++)
            if (e != d)
                CHECK(cudaDeviceEnablePeerAccess(e, 0));
        CHECK(cudaStreamCreate(&stream[d]));
        all[d].resize(n);
        for (int i = 0; i < n; i++)
            want[i] += all[d][i] = (float)random.below(1000);
        data[d] = to_device(all[d]);
        inbox[d] = device_new<float>(part);
    }
    auto everyone_waits = [&] {
        for (int d = 0; d < devices; d++) {
            CHECK(cudaSetDevice(d));
            CHECK(cudaStreamSynchronize(stream[d]));
        }
    };
    for (int step = 0; step < 2 * (devices - 1); step++) {
        bool adding = step < devices - 1;
        for (int d = 0; d < devices; d++) {
            int to = (d + 1) % devices, p = ((adding ? d - step : d + 1 - (step - devices + 1)) % devices + devices) % devices;
            CHECK(cudaSetDevice(d));
            CHECK(cudaMemcpyPeerAsync(adding ? inbox[to] : data[to] + p * part, to, data[d] + p * part, d, part * sizeof(float), stream[d]));
        }
        everyone_waits();
        for (int d = 0; adding && d < devices; d++) {
            int p = ((d - 1 - step) % devices + devices) % devices;
            CHECK(cudaSetDevice(d));
            add<<<blocks_for(part, block), block, 0, stream[d]>>>(data[d] + p * part, inbox[d], part);
        }
        everyone_waits();
    }
    for (int d = 0; d < devices; d++) {
        CHECK(cudaSetDevice(d));
        expect_same("sums", from_device(data[d], n), want);
    }
    CHECK(cudaSetDevice(devices - 1));
    float *a = to_device(all[0]), *out = device_new<float>(n);
    CHECK(cudaDeviceSynchronize()); // the copy may still be on its way, and orders itself with this device's work only
    CHECK(cudaSetDevice(0));
    gather<<<blocks_for(n, block), block>>>(a, data[devices - 1], data[0], n);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpyPeer(out, devices - 1, data[0], 0, n * sizeof(float)));
    CHECK(cudaSetDevice(devices - 1));
    std::vector<float> differences(n);
    for (int i = 0; i < n; i++)
        differences[i] = all[0][i] - want[n - 1 - i];
    expect_same("peer reads", from_device(out, n), differences);
    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, data[1]));
    EXPECT(attributes.device == 1 && attributes.type == cudaMemoryTypeDevice);
    finish_launches();
    return finish();
}
