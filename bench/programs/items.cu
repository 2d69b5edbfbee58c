// SPDX-License-Identifier: Apache-2.0
// items KIND N: N things that the program keeps: streams with an event each, allocations, managed allocations with a launch behind each, or with one that
// the host waits for.
// ARGS: streams 1000
// GROWS: streams 12500 | streams 25000 | streams 50000 | streams 100000
// GROWS: allocations 125000 | allocations 250000 | allocations 500000 | allocations 1000000
// GROWS: managed 8000 | managed 16000 | managed 32000 | managed 64000 | managed 128000
// GROWS: waits 1000 | waits 2000 | waits 4000 | waits 8000
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

__global__ void add(int *p, int k) { p[threadIdx.x] += k; }

// Each stream waits for the event of the stream before.
static void streams(int n, int *p) {
    std::vector<cudaStream_t> s(n);
    std::vector<cudaEvent_t> e(n);
    for (int k = 0; k < n; k++) {
        cudaStreamCreateWithFlags(&s[k], cudaStreamNonBlocking);
        cudaEventCreateWithFlags(&e[k], cudaEventDisableTiming);
        if (k)
            cudaStreamWaitEvent(s[k], e[k - 1], 0);
        add<<<1, 32, 0, s[k]>>>(p, 1);
        cudaEventRecord(e[k], s[k]);
    }
}

static void allocations(int n, int *p) {
    for (int k = 0; k < n; k++) {
        int *mine;
        if (cudaMalloc(&mine, 512) != cudaSuccess)
            return;
    }
    add<<<1, 32>>>(p, n);
}

static void managed(int n, int *p, bool waits) {
    for (int k = 0; k < n; k++) {
        int *mine;
        if (cudaMallocManaged(&mine, 512) != cudaSuccess)
            return;
        mine[0] = k;
        add<<<1, 32>>>(p, 1);
        if (waits)
            cudaDeviceSynchronize();
    }
}

int main(int argc, char **argv) {
    const char *kind = argc > 1 ? argv[1] : "streams";
    int n = argc > 2 ? atoi(argv[2]) : 1000, *p, first = 0;
    cudaMalloc(&p, 32 * sizeof *p);
    cudaMemset(p, 0, 32 * sizeof *p);
    cudaDeviceSynchronize();
    if (!strcmp(kind, "streams"))
        streams(n, p);
    else if (!strcmp(kind, "allocations"))
        allocations(n, p);
    else
        managed(n, p, !strcmp(kind, "waits"));
    if (cudaDeviceSynchronize() != cudaSuccess || cudaMemcpy(&first, p, sizeof first, cudaMemcpyDeviceToHost) || first != n)
        return printf("p[0] is %d, not %d: %s\n", first, n, cudaGetErrorString(cudaGetLastError())), 1;
    printf("PASS\n");
}
