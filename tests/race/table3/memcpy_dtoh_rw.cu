// SPDX-License-Identifier: Apache-2.0
// cudaMemcpyAsync (DtoH) RW (SuperCollider, table 3): the copy to the host reads before the kernel, in another stream, is done.
// RACE 1: read-write race, global, can-overlap, with copy -- two streams, and nothing between them
// FIXED: the copy is submitted to the kernel's stream
#include "../corpus.h"

template <bool FIXED> __global__ void produce(int *data) {
    data[threadIdx.x] = threadIdx.x + 1; // SIDE 1
}

static int test(bool fixed) {
    Buffer<int> data(64);
    int *pinned, wrong = 0;
    cudaStream_t copies, kernels;
    CHECK(cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&kernels, cudaStreamNonBlocking));
    CHECK(cudaMallocHost(&pinned, data.bytes()));
    LAUNCH_ASYNC(produce, 1, 64, 0, kernels, data);
    cudaStream_t stream = fixed ? kernels : copies; // FIX
    CHECK(cudaMemcpyAsync(pinned, data, data.bytes(), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 64; i++) {
        wrong += pinned[i] != i + 1;
    }
    return wrong;
}

CORPUS_MAIN(test)
