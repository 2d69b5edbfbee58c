// SPDX-License-Identifier: Apache-2.0
// Work that some engines do not look at, a kind for each number, all of it in order. The report says what is not looked for.
// expect: privatizer -- 0 => clean says "blind to races between launches, or with copies, of different streams"
// expect: privatizer -- 1 => clean says "blind to races with asynchronous copies and fills" soak
// expect: privatizer -- 2 => clean says "blind to races with the host's own accesses" soak
// expect: privatizer -- 3 => clean says "blind to use of memory behind its free" soak
// expect: privatizer -- 4 => clean says "races between nodes of graphs" soak
// expect: tracker -- 2 => clean says "blind to races with the host's own accesses" soak
// expect: collider -- 3 => clean says "blind to use of memory behind its free" soak
// expect: collider+exact -- 0 => clean soak
// expect: exact -- 0 => clean soak
#include "../../check.h"
__global__ void add(int *x) { x[blockIdx.x * blockDim.x + threadIdx.x] += 1; }
int main(int argc, char **argv) {
    int kind = argc > 1 ? atoi(argv[1]) : 0, *x;
    cudaStream_t s, t;
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaStreamCreate(&t));
    if (kind == 2)
        CHECK(cudaMallocManaged(&x, 256 * sizeof(int)));
    else if (kind == 3)
        CHECK(cudaMallocAsync(&x, 256 * sizeof(int), s));
    else
        CHECK(cudaMalloc(&x, 256 * sizeof(int)));
    if (kind == 1)
        CHECK(cudaMemsetAsync(x, 0, 256 * sizeof(int), s));
    if (kind == 4) {
        cudaGraph_t graph;
        cudaGraphExec_t exec;
        CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
        add<<<4, 64, 0, s>>>(x);
        CHECK(cudaStreamEndCapture(s, &graph));
        CHECK(cudaGraphInstantiate(&exec, graph, 0));
        CHECK(cudaGraphLaunch(exec, s));
    }
    add<<<4, 64, 0, s>>>(x);
    CHECK(cudaStreamSynchronize(s));
    if (kind == 0)
        add<<<4, 64, 0, t>>>(x);
    CHECK(cudaDeviceSynchronize());
    printf("done\n");
}
