// Many launches that leave nothing to remember, then a race. What a launch is known by is given back when nothing remembers it, and the
// numbers of launches and blocks go on.
// expect: exact -- 14000 0 => races class "write-write race"
// expect: exact,tracker -- 14000 2 => races class "write-write race" soak
// expect: exact,tracker -- 14000 5 => races class "write-write race" soak
// expect: exact,tracker -- 3000 6 => races class "write-write race" soak
// expect: exact,tracker -- 3000 7 => races class "write-write race" soak
#include <cstdio>
#include <cstdlib>

__global__ void nothing() {}

__global__ void shared_only(int n) {
    __shared__ int s[64];
    s[threadIdx.x] = n;
    __syncthreads();
    if (s[63 - threadIdx.x] < 0)
        __trap();
}

__global__ void touch(int *p) { p[threadIdx.x] = 1; }

__global__ void racy(int *p) { p[0] = threadIdx.x; }

int main(int c, char **v) {
    int n = c > 1 ? atoi(v[1]) : 14000, mode = c > 2 ? atoi(v[2]) : 0, *p, *q;
    cudaStream_t s[2], own;
    cudaStreamCreate(&s[0]);
    cudaStreamCreate(&s[1]);
    for (int i = 0; i < n; i++) {
        if (mode == 0)
            nothing<<<1, 1>>>();
        if (mode == 1) {
            nothing<<<1, 1>>>();
            cudaDeviceSynchronize();
        }
        if (mode == 2)
            shared_only<<<1, 64>>>(i);
        if (mode == 3) {
            cudaMallocAsync(&q, 256, s[0]);
            touch<<<1, 32, 0, s[0]>>>(q);
            cudaFreeAsync(q, s[0]);
        }
        if (mode == 4) {
            cudaMalloc(&q, 256);
            touch<<<1, 32>>>(q);
            cudaFree(q);
        }
        if (mode == 5)
            nothing<<<1, 1, 0, s[i & 1]>>>();
        if (mode == 7) {
            cudaMallocAsync(&q, 256, s[0]);
            touch<<<1, 32, 0, s[0]>>>(q);
            cudaFreeAsync(q, s[0]);
            if (i % 64 == 0)
                cudaDeviceSynchronize();
        }
        if (mode == 6) { // a stream for each launch
            cudaStreamCreate(&own);
            nothing<<<1, 1, 0, own>>>();
            cudaStreamSynchronize(own);
            cudaStreamDestroy(own);
        }
    }
    cudaMalloc(&p, 4);
    racy<<<1, 64>>>(p);
    printf("%d\n", (int)cudaDeviceSynchronize());
}
