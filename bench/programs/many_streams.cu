// SPDX-License-Identifier: Apache-2.0
// 10^4 small launches in eight streams that hand on to each other now and then by events, and the host waits only at the end. All read one array, and
// each stream writes its own.
// ARGS: 10000
// GROWS: 10000 | 20000 | 40000 | 80000
// GROWS privatizer: 1000 | 2000 | 4000
#include <cstdio>
#include <cstdlib>

enum { STREAMS = 8, N = 64 };

__global__ void add(int *mine, const int *all) { mine[threadIdx.x] += all[threadIdx.x]; }

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 10000, *a, *ones, out[N], one[N];
    cudaStream_t s[STREAMS];
    cudaEvent_t e;
    for (int k = 0; k < N; k++)
        one[k] = 1;
    cudaMalloc(&a, STREAMS * sizeof out);
    cudaMalloc(&ones, sizeof one);
    cudaMemset(a, 0, STREAMS * sizeof out);
    cudaMemcpy(ones, one, sizeof one, cudaMemcpyHostToDevice);
    cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
    for (int k = 0; k < STREAMS; k++)
        cudaStreamCreateWithFlags(&s[k], cudaStreamNonBlocking);
    cudaDeviceSynchronize();
    for (int k = 0; k < n; k++) {
        int mine = k % STREAMS;
        add<<<1, N, 0, s[mine]>>>(a + mine * N, ones);
        if (k % 32 == 0) { // that one goes on after this one
            cudaEventRecord(e, s[mine]);
            cudaStreamWaitEvent(s[(mine + 1 + k / 32) % STREAMS], e);
        }
    }
    if (cudaDeviceSynchronize() != cudaSuccess)
        return printf("%s\n", cudaGetErrorString(cudaGetLastError())), 1;
    for (int k = 0; k < STREAMS; k++) {
        cudaMemcpy(out, a + k * N, sizeof out, cudaMemcpyDeviceToHost);
        if (out[N - 1] != (n - k + STREAMS - 1) / STREAMS)
            return printf("stream %d: %d\n", k, out[N - 1]), 1;
    }
    printf("PASS\n");
}
