// SPDX-License-Identifier: Apache-2.0
// Launches of several kinds for --record-launches: launches [EQUAL [DIFFERENT [kill]]].
#include <csignal>
#include <cstdio>
#include <cstdlib>

struct Shape {
    int rows, stride;
    float *to;
    short tag;
};

__device__ float table[256];

extern "C" __global__ void shift(float *to, const float *from, int n, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i * by] = from[i]; // SHIFT
}

extern "C" __global__ void shaped(Shape s, const float *from) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < s.rows)
        s.to[i * s.stride] = from[i];
}

extern "C" __global__ void first(float *to) {
    if (threadIdx.x == 0)
        to[0] = blockIdx.x; // FIRST
}

extern "C" __global__ void bare() {}
extern "C" __global__ void unused(int *p) { *p = threadIdx.x; }

int main(int argc, char **argv) {
    int equal = argc > 1 ? atoi(argv[1]) : 0, different = argc > 2 ? atoi(argv[2]) : 0;
    float *a, *b, *t, *pooled;
    cudaMalloc(&a, 4096);
    cudaMalloc(&b, 8192);
    cudaGetSymbolAddress((void **)&t, table);
    shift<<<2, 32>>>(a, b, 64, 0);
    for (int k = 0; k < 10; k++)
        shift<<<dim3(1, 1, 1), dim3(64, 1, 1)>>>(a, a + 100, 64, 1);
    shaped<<<2, 32>>>(Shape{64, 1, b, 7}, t);
    first<<<1, 32>>>(a);

    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    shift<<<1, 32, 0, stream>>>(a, b, 17, 1);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    for (int k = 0; k < 3; k++)
        cudaGraphLaunch(exec, stream);

    // A graph that allocates is launched as a whole.
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    cudaMallocAsync(&pooled, 256, stream);
    first<<<1, 32, 0, stream>>>(pooled);
    cudaFreeAsync(pooled, stream);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, stream);

    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = 4;
    config.blockDim = 32;
    config.dynamicSmemBytes = 128;
    config.attrs = &attribute;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, bare);

    bare<<<1, 2000>>>(); // refused: it is no launch
    cudaGetLastError();
    for (int k = 0; k < equal; k++)
        bare<<<1, 1>>>();
    for (int k = 0; k < different; k++)
        bare<<<k + 2, 1>>>();
    cudaError_t rc = cudaDeviceSynchronize();
    if (argc > 3)
        raise(SIGKILL);
    if (rc != cudaSuccess)
        printf("%s\n", cudaGetErrorString(rc));
    return rc != cudaSuccess;
}
