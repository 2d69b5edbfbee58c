// SPDX-License-Identifier: Apache-2.0
// Small copies and small kernels in several streams that hand on to each other by events, and the same as a graph that is launched
// again and again: pieces of an array go to the device, are worked on, and come back.
// ARGS: 300
// GROWS: 100 | 200 | 400 | 800
// GROWS privatizer: 10 | 20 | 40
#include <cstdio>
#include <cstdlib>
#include <vector>

enum { STREAMS = 8, PIECE = 256 };

__global__ void add(float *a, const float *b) { a[threadIdx.x] += b[threadIdx.x]; }

// One round: each stream adds the piece of the stream before it to its own.
static void submit(cudaStream_t *s, cudaEvent_t *e, float *a, const float *in, float *out) {
    for (int k = 0; k < STREAMS; k++) {
        float *mine = a + k * PIECE, *other = a + (STREAMS + k) * PIECE;
        if (k)
            cudaStreamWaitEvent(s[k], e[k - 1], 0);
        cudaMemcpyAsync(other, in + k * PIECE, PIECE * sizeof *a, cudaMemcpyHostToDevice, s[k]);
        add<<<1, PIECE, 0, s[k]>>>(mine, other);
        if (k)
            add<<<1, PIECE, 0, s[k]>>>(mine, mine - PIECE);
        cudaMemcpyAsync(out + k * PIECE, mine, PIECE * sizeof *a, cudaMemcpyDeviceToHost, s[k]);
        cudaEventRecord(e[k], s[k]);
    }
    for (int k = 0; k + 1 < STREAMS; k++) // the next round reads what this one wrote
        cudaStreamWaitEvent(s[k], e[k + 1], 0);
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 300;
    float *a, *in, *out;
    cudaStream_t s[STREAMS];
    cudaEvent_t e[STREAMS], begun;
    cudaMalloc(&a, 2 * STREAMS * PIECE * sizeof *a);
    cudaMemset(a, 0, 2 * STREAMS * PIECE * sizeof *a);
    cudaMallocHost(&in, STREAMS * PIECE * sizeof *in);
    cudaMallocHost(&out, STREAMS * PIECE * sizeof *out);
    cudaEventCreateWithFlags(&begun, cudaEventDisableTiming);
    for (int k = 0; k < STREAMS; k++) {
        cudaStreamCreateWithFlags(&s[k], cudaStreamNonBlocking);
        cudaEventCreateWithFlags(&e[k], cudaEventDisableTiming);
    }
    for (int k = 0; k < STREAMS * PIECE; k++)
        in[k] = 1;
    cudaDeviceSynchronize();
    for (int r = 0; r < rounds; r++)
        submit(s, e, a, in, out);
    cudaDeviceSynchronize();

    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamBeginCapture(s[0], cudaStreamCaptureModeGlobal);
    cudaEventRecord(begun, s[0]);
    for (int k = 1; k < STREAMS; k++)
        cudaStreamWaitEvent(s[k], begun, 0);
    submit(s, e, a, in, out);
    cudaStreamWaitEvent(s[0], e[STREAMS - 1], 0);
    for (int k = 1; k < STREAMS; k++) {
        cudaEventRecord(e[k], s[k]);
        cudaStreamWaitEvent(s[0], e[k], 0);
    }
    if (cudaStreamEndCapture(s[0], &graph) != cudaSuccess || cudaGraphInstantiate(&exec, graph, 0) != cudaSuccess)
        return printf("no graph: %s\n", cudaGetErrorString(cudaGetLastError())), 1;
    for (int r = 0; r < rounds; r++)
        cudaGraphLaunch(exec, s[0]);
    if (cudaDeviceSynchronize() != cudaSuccess)
        return printf("%s\n", cudaGetErrorString(cudaGetLastError())), 1;

    std::vector<float> sum(STREAMS, 0); // floats may overflow to infinity: the same way
    for (int r = 0; r < 2 * rounds; r++)
        for (int k = 0; k < STREAMS; k++)
            sum[k] += 1, sum[k] += k ? sum[k - 1] : 0;
    for (int k = 0; k < STREAMS * PIECE; k++)
        if (out[k] != sum[k / PIECE])
            return printf("out[%d] is %g, not %g\n", k, out[k], sum[k / PIECE]), 1;
    printf("PASS\n");
}
