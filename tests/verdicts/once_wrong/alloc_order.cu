// SPDX-License-Identifier: Apache-2.0
// Memory that one stream allocates is there for the work that comes after the allocation. 0 to 6: work in another stream does not; 7 to 12: it does.
// expect: exact -- 0 => races only "used before its allocation"
// expect: exact -- 1 => races only "used before its allocation" soak
// expect: exact -- 2 => races only "used before its allocation" soak
// expect: exact -- 3 => races only "used before its allocation" soak
// expect: exact -- 4 => races only "used before its allocation" soak
// expect: exact -- 5 => races only "used before its allocation" says "cudaMallocAsync at "
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
#include "../../check.h"
__global__ void fill(int *p) { p[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
__global__ void nothing() {}
enum { N = 512 };

static void use(int how, int *p, cudaStream_t s) {
    static int host[N];
    switch (how) {
    case 1: CHECK(cudaMemcpyAsync(p, host, N * 4, cudaMemcpyHostToDevice, s)); break;
    case 2: CHECK(cudaMemsetAsync(p, 0, N * 4, s)); break;
    case 3: {
        cudaGraph_t g;
        cudaGraphExec_t e;
        cudaStream_t c;
        CHECK(cudaStreamCreateWithFlags(&c, cudaStreamNonBlocking));
        CHECK(cudaStreamBeginCapture(c, cudaStreamCaptureModeRelaxed));
        fill<<<N / 128, 128, 0, c>>>(p);
        CHECK(cudaStreamEndCapture(c, &g));
        CHECK(cudaGraphInstantiate(&e, g, 0));
        CHECK(cudaGraphLaunch(e, s));
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
    CHECK(cudaMemPoolCreate(&pool, &props));
    CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    CHECK(cudaStreamCreate(&blocking));
    CHECK(cudaEventCreate(&e));
    for (int round = 0; round < 3; round++) {
        int *p, *q;
        nothing<<<1, 32, 0, a>>>();
        CHECK(cudaMallocAsync(&q, N * 4, a)); // of which nobody else hears
        if (how == 4)
            CHECK(cudaMallocFromPoolAsync(&p, N * 4, pool, a));
        else if (how == 9)
            CHECK(cudaMallocAsync(&p, N * 4, 0));
        else
            CHECK(cudaMallocAsync(&p, N * 4, a));
        if (how == 6) { // not for the stream that allocates
            CHECK(cudaEventRecord(e, blocking));
            CHECK(cudaStreamWaitEvent(b, e, 0));
            CHECK(cudaStreamSynchronize(blocking));
        }
        if (how == 7 || how == 12)
            CHECK(cudaStreamSynchronize(a));
        if (how == 8) {
            CHECK(cudaEventRecord(e, a));
            CHECK(cudaEventSynchronize(e));
        }
        if (how == 10 || how == 11) {
            CHECK(cudaEventRecord(e, a));
            CHECK(cudaStreamWaitEvent(b, e, 0));
        }
        use(how == 12 ? 3 : how, p, how == 9 ? blocking : b);
        fill<<<N / 128, 128, 0, a>>>(q);
        CHECK(cudaFreeAsync(q, a));
        if (how == 11) { // it goes back to its own stream
            CHECK(cudaEventRecord(e, b));
            CHECK(cudaStreamWaitEvent(a, e, 0));
        }
        CHECK(cudaFreeAsync(p, how == 9 ? blocking : how == 11 ? a : b));
    }
    CHECK(cudaDeviceSynchronize());
    printf("ok\n");
}
