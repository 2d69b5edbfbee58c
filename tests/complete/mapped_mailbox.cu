// SPDX-License-Identifier: Apache-2.0
// A server kernel that lives on the device while the host sends it requests through flags in mapped memory and polls for the
// answers; several mailboxes, each with a warp that computes greatest common divisors. System-wide atomics on both sides.
#include "complete.h"
#include <cuda/atomic>
#include <numeric>

struct Mailbox {
    cuda::atomic<int, cuda::thread_scope_system> request, answer; // number of the latest one; request -1: stop
    int count, x[64], y[64], result[64];
};

__global__ void server(Mailbox *boxes)
{
    Mailbox &m = boxes[blockIdx.x];
    int lane = threadIdx.x;
    for (int done = 0;;) {
        int now;
        while ((now = m.request.load(cuda::memory_order_acquire)) == done)
            __nanosleep(200);
        now = __shfl_sync(~0u, now, 0); // lanes may have seen different ones
        if (now < 0)
            return;
        for (int i = lane; i < m.count; i += 32) {
            int a = m.x[i], b = m.y[i];
            while (b) {
                int t = a % b;
                a = b;
                b = t;
            }
            m.result[i] = a;
        }
        done = now;
        __syncwarp();
        if (lane == 0)
            m.answer.store(now, cuda::memory_order_release);
        __syncwarp();
    }
}

int main()
{
    const int boxes = 3, rounds = 7;
    Mailbox *m, *device_m;
    CHECK(cudaHostAlloc(&m, boxes * sizeof(Mailbox), cudaHostAllocMapped));
    memset((void *)m, 0, boxes * sizeof(Mailbox));
    CHECK(cudaHostGetDevicePointer(&device_m, m, 0));
    server<<<boxes, 32>>>(device_m);
    CHECK(cudaGetLastError());
    Random random(49);
    for (int r = 1; r <= rounds; r++) {
        for (int b = 0; b < boxes; b++) {
            m[b].count = 1 + (int)random.below(64);
            for (int i = 0; i < m[b].count; i++) {
                int common = 1 + (int)random.below(50);
                m[b].x[i] = common * (1 + (int)random.below(1000));
                m[b].y[i] = common * (1 + (int)random.below(1000));
            }
            m[b].request.store(r, cuda::memory_order_release);
        }
        for (int b = 0; b < boxes; b++) {
            while (m[b].answer.load(cuda::memory_order_acquire) != r)
                EXPECT(cudaStreamQuery(0) == cudaErrorNotReady);
            for (int i = 0; i < m[b].count; i++)
                expect_same("answer", m[b].result[i], std::gcd(m[b].x[i], m[b].y[i]));
        }
    }
    for (int b = 0; b < boxes; b++)
        m[b].request.store(-1, cuda::memory_order_release);
    finish_launches();
    CHECK(cudaFreeHost(m));
    return finish();
}
