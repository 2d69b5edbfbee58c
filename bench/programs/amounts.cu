// SPDX-License-Identifier: Apache-2.0
// amounts KIND N: blocks of 256 threads, or MiB that are written once, or launches in which 64 threads race for a word.
// ARGS: threads 64
// GROWS: threads 64 | threads 128 | threads 256 | threads 512
// GROWS: bytes 1 | bytes 2 | bytes 4 | bytes 8
// GROWS: races 500 | races 1000 | races 2000 | races 4000
// GROWS privatizer: bytes 1 | bytes 2 | bytes 4
// GROWS privatizer: threads 64 | threads 128 | threads 256 | threads 512
// GROWS privatizer: races 250 | races 500 | races 1000
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void own(int *p) { p[(blockIdx.x * blockDim.x + threadIdx.x) % 4096 + blockIdx.x / 16 * 4096] += 1; }
__global__ void write(int *p) { p[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
__global__ void race(int *p) { *p += 1; }

int main(int argc, char **argv) {
    const char *kind = argc > 1 ? argv[1] : "threads";
    int n = argc > 2 ? atoi(argv[2]) : 64, *p;
    size_t size = !strcmp(kind, "bytes") ? (size_t)n << 20 : (size_t)(n / 16 + 1) * 4096 * sizeof *p;
    cudaMalloc(&p, size);
    cudaMemset(p, 0, size);
    if (!strcmp(kind, "threads"))
        own<<<n, 256>>>(p);
    else if (!strcmp(kind, "bytes"))
        write<<<(n << 18) / 256, 256>>>(p);
    else
        for (int k = 0; k < n; k++)
            race<<<1, 64>>>(p);
    int first = 0;
    cudaMemcpy(&first, p, sizeof first, cudaMemcpyDeviceToHost);
    if (cudaDeviceSynchronize() != cudaSuccess || !first)
        return printf("p[0] is %d\n", first), 1;
    printf("PASS\n");
}
