// SPDX-License-Identifier: Apache-2.0
// Memory that one stream allocates is there for the work that comes after the allocation. 0 to 6: work in another stream does not; 7 to 12: it does.
// expect: exact -- 0 => races only "used before its allocation"
// expect: exact -- 1 => races only "used before its allocation" soak
// expect: exact -- 2 => races only "used before its allocation" soak
// expect: exact -- 3 => races only "used before its allocation" soak
// expect: exact -- 4 => races only "used before its allocation" soak
// expect: exact -- 5 => races only "used before its allocation" says "an allocation that the program asked the API for"
// expect: exact -- 6 => races only "used before its allocation" soak
// expect: tracker -- 0 => races soak
// expect: tracker -- 4 => races soak
// expect: exact -- 7 => clean soak
// expect: exact -- 8 => clean soak
// expect: exact -- 9 => clean soak
// expect: exact -- 10 => clean
// expect: exact -- 11 => clean soak
// expect: exact -- 12 => clean soak
// expect: tracker,collider,collider+exact,privatizer -- 10 => silent soak
// expect: tracker -- 11 => silent soak
#include "h.h"
__global__ void fill(int *p) { p[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
__global__ void nothing() {}
enum { N = 512 };

static void use(int how, int *p, cudaStream_t s) {
    static int host[N];
    switch (how) {
    case 1: CK(cudaMemcpyAsync(p, host, N * 4, cudaMemcpyHostToDevice, s)); break;
    case 2: CK(cudaMemsetAsync(p, 0, N * 4, s)); break;
    case 3: {
        cudaGraph_t g;
        cudaGraphExec_t e;
        cudaStream_t c;
        CK(cudaStreamCreateWithFlags(&c, cudaStreamNonBlocking));
        CK(cudaStreamBeginCapture(c, cudaStreamCaptureModeRelaxed));
        fill<<<N / 128, 128, 0, c>>>(p);
        CK(cudaStreamEndCapture(c, &g));
        CK(cudaGraphInstantiate(&e, g, 0));
        CK(cudaGraphLaunch(e, s));
        break;
    }
    case 5: break; // it is freed only
    default: fill<<<N / 128, 128, 0, s>>>(p);
    }
}

int main(int argc, char **argv) {
    int how = argc > 1 ? atoi(argv[1]) : 0;
    cudaStream_t a, b, blocking;
    cudaEvent_t e;
    cudaMemPool_t pool;
    cudaMemPoolProps props = {};
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    CK(cudaMemPoolCreate(&pool, &props));
    CK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    CK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    CK(cudaStreamCreate(&blocking));
    CK(cudaEventCreate(&e));
    for (int round = 0; round < 3; round++) {
        int *p, *q;
        nothing<<<1, 32, 0, a>>>();
        CK(cudaMallocAsync(&q, N * 4, a)); // of which nobody else hears
        if (how == 4)
            CK(cudaMallocFromPoolAsync(&p, N * 4, pool, a));
        else if (how == 9)
            CK(cudaMallocAsync(&p, N * 4, 0));
        else
            CK(cudaMallocAsync(&p, N * 4, a));
        if (how == 6) { // not for the stream that allocates
            CK(cudaEventRecord(e, blocking));
            CK(cudaStreamWaitEvent(b, e, 0));
            CK(cudaStreamSynchronize(blocking));
        }
        if (how == 7 || how == 12)
            CK(cudaStreamSynchronize(a));
        if (how == 8) {
            CK(cudaEventRecord(e, a));
            CK(cudaEventSynchronize(e));
        }
        if (how == 10 || how == 11) {
            CK(cudaEventRecord(e, a));
            CK(cudaStreamWaitEvent(b, e, 0));
        }
        use(how == 12 ? 3 : how, p, how == 9 ? blocking : b);
        fill<<<N / 128, 128, 0, a>>>(q);
        CK(cudaFreeAsync(q, a));
        if (how == 11) { // it goes back to its own stream
            CK(cudaEventRecord(e, b));
            CK(cudaStreamWaitEvent(a, e, 0));
        }
        CK(cudaFreeAsync(p, how == 9 ? blocking : how == 11 ? a : b));
    }
    CK(cudaDeviceSynchronize());
    printf("ok\n");
}
