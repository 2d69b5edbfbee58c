// SPDX-License-Identifier: Apache-2.0
// planted WAY: fills memory by one kernel and checks it, the kernel being launched in one of several ways. For
// test_selftest.py: what `gpurace selftest` plants beside it must change nothing.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

enum { N = 256 };

__global__ void fill(int *p) { p[blockIdx.x * blockDim.x + threadIdx.x] += (int)threadIdx.x; }

__global__ void racy(int *p)
{
    p[N] += 1; // RACE
    p[threadIdx.x] += (int)threadIdx.x;
}

static cudaError_t launch(const char *way, int *p)
{
    cudaStream_t s;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaError_t e = cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    if (e != cudaSuccess || !strcmp(way, "nothing"))
        return e;
    if (!strcmp(way, "racy"))
        racy<<<1, N, 0, s>>>(p);
    else if (!strcmp(way, "plain"))
        fill<<<1, N, 0, s>>>(p);
    else if (!strcmp(way, "captured")) {
        cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
        fill<<<1, N, 0, s>>>(p);
        e = cudaStreamEndCapture(s, &graph);
        if (e == cudaSuccess)
            e = cudaGraphInstantiate(&exec, graph, 0);
        if (e == cudaSuccess)
            e = cudaGraphLaunch(exec, s);
    }
    return e != cudaSuccess ? e : cudaStreamSynchronize(s);
}

int main(int, char **argv)
{
    static int host[N];
    int *p, bad = 0;
    cudaMalloc(&p, (N + 1) * sizeof *p);
    cudaMemset(p, 0, (N + 1) * sizeof *p);
    cudaDeviceSynchronize();
    cudaError_t e = launch(argv[1], p);
    cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
    for (int k = 0; k < N; k++)
        bad += host[k] != (strcmp(argv[1], "nothing") ? k : 0);
    printf("%s: %s, %d bad\n", argv[1], cudaGetErrorString(e), bad);
    return bad || e != cudaSuccess;
}
