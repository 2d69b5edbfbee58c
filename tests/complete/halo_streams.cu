// SPDX-License-Identifier: Apache-2.0
// DEVICE: devices=2
// A wave equation in one dimension, split over two devices. Each has a stream for its inner part and one for its edge and
// the halo that it sends to the other with peer copies; events order them. Ends that reflect.
#include "complete.h"
#include <algorithm>

// Points from..to-1 of a local array whose points 0 and n+1 are halos.
__global__ void advance(const float *older, const float *now, float *next, int from, int to)
{
    int i = from + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < to)
        next[i] = 2 * now[i] - older[i] + 0.3f * (now[i - 1] - 2 * now[i] + now[i + 1]);
}

struct Part {
    int device, n;
    float *field[3];
    cudaStream_t inner, edge;
    cudaEvent_t inner_done[3], edge_done[3];
};

int main()
{
    const int total = 3001, split = 1403, steps = 40, block = 64;
    int count;
    CHECK(cudaGetDeviceCount(&count));
    EXPECT(count == 2);
    std::vector<float> older(total + 2, 0.0f), now(total + 2, 0.0f), next(total + 2, 0.0f);
    for (int i = 1; i <= total; i++)
        older[i] = now[i] = expf(-0.0005f * (i - 1390) * (i - 1390)) + 0.1f * sinf(i * 0.05f);

    Part part[2];
    for (int p = 0; p < 2; p++) {
        Part &m = part[p];
        m.device = p % count;
        m.n = p ? total - split : split;
        CHECK(cudaSetDevice(m.device));
        int can = 0;
        if (count > 1) {
            CHECK(cudaDeviceCanAccessPeer(&can, m.device, !p));
            EXPECT(can);
            CHECK(cudaDeviceEnablePeerAccess(!p, 0));
        }
        for (int k = 0; k < 3; k++) {
            m.field[k] = device_zeros<float>(m.n + 2);
            CHECK(cudaEventCreateWithFlags(&m.inner_done[k], cudaEventDisableTiming));
            CHECK(cudaEventCreateWithFlags(&m.edge_done[k], cudaEventDisableTiming));
        }
        for (int k = 0; k < 2; k++)
            CHECK(cudaMemcpy(m.field[k], now.data() + (p ? split : 0), (m.n + 2) * sizeof(float), cudaMemcpyHostToDevice));
        CHECK(cudaStreamCreateWithFlags(&m.inner, cudaStreamNonBlocking));
        CHECK(cudaStreamCreateWithFlags(&m.edge, cudaStreamNonBlocking));
        CHECK(cudaDeviceSynchronize());
    }
    for (int s = 0; s < steps; s++) {
        int a = s % 3, b = (s + 1) % 3, c = (s + 2) % 3; // older, now, next; events have the number of the field they complete
        for (int p = 0; p < 2; p++) {
            Part &m = part[p], &other = part[!p];
            CHECK(cudaSetDevice(m.device));
            int lo = p ? 2 : 1, hi = p ? m.n + 1 : m.n; // all but the point next to the other part
            if (s > 0) { // the edge's points and the halo of `now`, and whoever read `next` as the oldest
                CHECK(cudaStreamWaitEvent(m.inner, m.edge_done[b], 0));
                CHECK(cudaStreamWaitEvent(m.edge, m.inner_done[b], 0));
                CHECK(cudaStreamWaitEvent(m.edge, other.edge_done[b], 0));
            }
            advance<<<blocks_for(hi - lo, block), block, 0, m.inner>>>(m.field[a], m.field[b], m.field[c], lo, hi);
            CHECK(cudaEventRecord(m.inner_done[c], m.inner));
            int e = p ? 1 : m.n;
            advance<<<1, 32, 0, m.edge>>>(m.field[a], m.field[b], m.field[c], e, e + 1);
        }
        for (int p = 0; p < 2; p++) { // to the other's halo, whose old contents its kernels of the last step have read
            Part &m = part[p], &other = part[!p];
            CHECK(cudaSetDevice(m.device));
            CHECK(cudaMemcpyPeerAsync(other.field[c] + (p ? other.n + 1 : 0), other.device, m.field[c] + (p ? 1 : m.n), m.device,
                                      sizeof(float), m.edge));
            CHECK(cudaEventRecord(m.edge_done[c], m.edge));
        }
    }
    std::vector<float> got;
    for (auto &m : part) {
        CHECK(cudaSetDevice(m.device));
        CHECK(cudaDeviceSynchronize());
        std::vector<float> mine = from_device(m.field[(steps + 1) % 3] + 1, m.n);
        got.insert(got.end(), mine.begin(), mine.end());
    }
    for (int s = 0; s < steps; s++) {
        for (int i = 1; i <= total; i++)
            next[i] = 2 * now[i] - older[i] + 0.3f * (now[i - 1] - 2 * now[i] + now[i + 1]);
        older = now;
        std::swap(now, next);
        now[0] = now[total + 1] = 0;
    }
    now.erase(now.begin());
    now.pop_back();
    expect_near("wave", got, now, 1e-4);
    return finish();
}
