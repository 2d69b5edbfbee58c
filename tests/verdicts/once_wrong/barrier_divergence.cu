// SPDX-License-Identifier: Apache-2.0
// A __syncthreads() that stands in both branches, of which lanes of one warp take different ones: undefined, whatever the data is. Engines that do not look for
// it say so.
// expect: exact -- 48 => races class "barrier divergence"
// expect: privatizer -- 48 => clean says "blind to barriers of a block that some of its threads do not come to"
// expect: tracker -- 48 => clean says "blind to barriers of a block that some of its threads do not come to" soak
// expect: collider -- 48 => races class "barrier divergence" soak
// expect: exact,tracker,privatizer,collider -DFIXED -- 48 => clean soak
#include <cstdio>
#include <cstdlib>
__global__ void divergent(int *out, int limit) {
    __shared__ int s[128];
    s[threadIdx.x] = threadIdx.x;
#ifdef FIXED
    __syncthreads();
    if (threadIdx.x < limit)
        out[threadIdx.x] = s[127 - threadIdx.x];
#else
    if (threadIdx.x < limit) {
        __syncthreads();
        out[threadIdx.x] = s[threadIdx.x];
    } else {
        __syncthreads();
        out[threadIdx.x] = s[threadIdx.x] + 1;
    }
#endif
}
int main(int argc, char **argv) {
    int *out;
    cudaMalloc(&out, 128 * sizeof(int));
    divergent<<<1, 128>>>(out, argc > 1 ? atoi(argv[1]) : 64);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
