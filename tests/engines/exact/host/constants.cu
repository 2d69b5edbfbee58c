// SPDX-License-Identifier: Apache-2.0
// Constant memory that is written while kernels read it: ./constants CASE race|fixed. cases.py says what the labels mean.
//
// RACE other_stream: read-write race; no stream order, event or synchronization
// RACE by_address: read-write race; no stream order, event or synchronization
// CLEAN before
// CLEAN halves
#include "../../../check.h"

enum { N = 256 };
__constant__ int table[2 * N];

__global__ void read(int *out, int from) { out[threadIdx.x] = table[from + threadIdx.x]; }

// By a generic address.
__global__ void read_by_address(int *out, const int *p) { out[threadIdx.x] = p[threadIdx.x]; }

int main(int argc, char **argv) {
    if (argc < 3)
        return 2;
    const char *name = argv[1];
    bool fixed = !strcmp(argv[2], "fixed");
    cudaStream_t one, two;
    cudaEvent_t e;
    int *out, *host;
    void *address;
    CHECK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&e));
    CHECK(cudaMalloc(&out, N * sizeof *out));
    CHECK(cudaMallocHost((void **)&host, N * sizeof *host));
    CHECK(cudaGetSymbolAddress(&address, table));
    memset(host, 1, N * sizeof *host);
    CHECK(cudaMemcpyToSymbol(table, host, N * sizeof *host));
    CHECK(cudaDeviceSynchronize());
    if (!strcmp(name, "other_stream") || !strcmp(name, "by_address")) {
        if (!strcmp(name, "by_address"))
            read_by_address<<<1, N, 0, one>>>(out, (const int *)address);
        else
            read<<<1, N, 0, one>>>(out, 0);
        if (fixed) {
            CHECK(cudaEventRecord(e, one));
            CHECK(cudaStreamWaitEvent(two, e, 0));
        }
        CHECK(cudaMemcpyToSymbolAsync(table, host, N * sizeof *host, 0, cudaMemcpyHostToDevice, two));
    } else if (!strcmp(name, "before")) {
        CHECK(cudaMemcpyToSymbolAsync(table, host, N * sizeof *host, 0, cudaMemcpyHostToDevice, one));
        read<<<1, N, 0, one>>>(out, 0);
    } else if (!strcmp(name, "halves")) { // one half is filled while the other is read
        read<<<1, N, 0, one>>>(out, 0);
        CHECK(cudaMemcpyToSymbolAsync(table, host, N * sizeof *host, N * sizeof *host, cudaMemcpyHostToDevice,
                                      two));
        CHECK(cudaStreamSynchronize(one));
        read<<<1, N, 0, two>>>(out, N);
    } else {
        return 2;
    }
    CHECK(cudaDeviceSynchronize());
    return 0;
}
