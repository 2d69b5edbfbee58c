// SPDX-License-Identifier: Apache-2.0
// Work of each kind, in the order of test_coming.py. Before each piece the destination begins with a byte that says which one it is.
#include "../../complete/complete.h"

static unsigned char *a, *b, host[4096], piece;

__global__ void set(unsigned char *p, int value)
{
    p[threadIdx.x] = (unsigned char)value;
}

struct Words
{
    int first;
    unsigned char *to;
};

extern "C" __global__ void nested(Words words)
{
    words.to[threadIdx.x] = 1;
}

extern "C" __global__ void given(int value, unsigned char *p)
{
    p[threadIdx.x] = (unsigned char)value;
}

// Memory of each kind, by its address, with something before it, and in a structure.
static void hand_over()
{
    unsigned char *pinned, *managed;
    CHECK(cudaMallocHost(&pinned, 256));
    CHECK(cudaMallocManaged(&managed, 512));
    nested<<<1, 32>>>(Words{1, a});
    given<<<1, 32>>>(2, a);
    nested<<<1, 32>>>(Words{1, pinned + 64});
    given<<<1, 32>>>(2, managed);
    CHECK(cudaDeviceSynchronize());
    EXPECT(pinned[64] == 1 && managed[31] == 2);
    CHECK(cudaFreeHost(pinned));
    given<<<1, 32>>>(3, a);
    given<<<1, 32>>>(3, managed + 480);
    CHECK(cudaDeviceSynchronize());
    EXPECT(managed[480] == 3);
    CHECK(cudaFree(managed));
}

// By a kernel, of which nothing is told.
static void mark()
{
    set<<<1, 32>>>(a, ++piece);
    CHECK(cudaDeviceSynchronize());
}

static cudaGraph_t captured(cudaStream_t one, cudaStream_t other)
{
    cudaGraph_t graph;
    cudaEvent_t begun, joined;
    CHECK(cudaEventCreate(&begun));
    CHECK(cudaEventCreate(&joined));
    CHECK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
    set<<<1, 32, 0, one>>>(a, 1);
    CHECK(cudaEventRecord(begun, one));
    if (other) {
        CHECK(cudaStreamWaitEvent(other, begun, 0));
        set<<<1, 32, 0, other>>>(b, 2);
        CHECK(cudaEventRecord(joined, other));
    }
    CHECK(cudaMemsetAsync(a + 64, 3, 64, one)); // is only recorded
    set<<<1, 32, 0, one>>>(a, 4);
    if (other)
        CHECK(cudaStreamWaitEvent(one, joined, 0));
    CHECK(cudaStreamEndCapture(one, &graph));
    CHECK(cudaEventDestroy(begun));
    CHECK(cudaEventDestroy(joined));
    return graph;
}

static void launch(cudaStream_t one, cudaStream_t other)
{
    cudaGraph_t graph = captured(one, other);
    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, one));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
}

int main()
{
    cudaStream_t plain, free;
    size_t bytes = sizeof host;
    CHECK(cudaMalloc(&a, bytes));
    CHECK(cudaMalloc(&b, bytes));
    CHECK(cudaStreamCreate(&plain));
    CHECK(cudaStreamCreateWithFlags(&free, cudaStreamNonBlocking));
    mark();
    CHECK(cudaMemcpy(a, host, bytes, cudaMemcpyHostToDevice));
    mark();
    CHECK(cudaMemcpy(a, b, 100, cudaMemcpyDeviceToDevice));
    mark();
    CHECK(cudaMemcpy(host, a, bytes, cudaMemcpyDeviceToHost)); // no kernel could notice
    CHECK(cudaMemcpyAsync(a, host, 200, cudaMemcpyHostToDevice, plain));
    CHECK(cudaDeviceSynchronize());
    mark();
    CHECK(cudaMemcpyAsync(a, b, 300, cudaMemcpyDeviceToDevice, free));
    CHECK(cudaDeviceSynchronize());
    mark();
    CHECK(cudaMemcpy2D(a, 64, host, 32, 32, 8, cudaMemcpyHostToDevice));
    mark();
    CHECK(cudaMemcpy2DAsync(a, 64, b, 64, 16, 8, cudaMemcpyDeviceToDevice, free));
    CHECK(cudaDeviceSynchronize());
    mark();
    CHECK(cudaMemset(a, 9, 500));
    mark();
    CHECK(cudaMemsetAsync(a, 9, 600, free));
    CHECK(cudaDeviceSynchronize());
    mark();
    CHECK(cudaMemsetAsync(a, 9, 700, cudaStreamPerThread));
    CHECK(cudaDeviceSynchronize());
    hand_over();
    launch(free, nullptr);
    launch(free, plain);
    CHECK(cudaStreamDestroy(free));
    CHECK(cudaStreamDestroy(plain));
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    return finish();
}
