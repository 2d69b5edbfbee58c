// SPDX-License-Identifier: Apache-2.0
// sides KERNEL: races whose other side is known to the test by its line, and what poisoned writes must and must not show.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstring>


namespace cg = cooperative_groups;

enum { BLOCK = 128, BLOCKS = 4 };

// ---- Poisoned writes: who stores one value sees others do so -----------------------------------------------------

// The first lane of every warp: no two lanes of one warp.
__global__ void same(int *out)
{
    if (threadIdx.x % 32 == 0)
        out[blockIdx.x] = 7; // same
}

__global__ void same_shared(int *out)
{
    __shared__ short found;
    if (threadIdx.x == 0)
        found = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        found = 1; // same_shared
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockIdx.x] = found;
}

// An address: one bit of it is another address.
__global__ void same_address(int *out)
{
    if (threadIdx.x % 32 == 0)
        *(int **)(out + 2 * blockIdx.x) = out; // same_address
}

// Values that differ in the bit that poisoning turns.
__global__ void opposite(int *out)
{
    if (threadIdx.x % 64 == 0)
        out[blockIdx.x] = threadIdx.x ? 1 : 0; // opposite
}

// Neighbours in one word, in vectors and in all widths: no race, and the same memory afterwards.
__global__ void neighbours(int *out)
{
    __shared__ unsigned char bytes[BLOCK];
    int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    bytes[t] = (unsigned char)(t * 3);
    __syncthreads();
    unsigned char *b = (unsigned char *)(out + 4096);
    short *s = (short *)(out + 8192);
    b[i] = bytes[BLOCK - 1 - t];
    if (t % 3)
        s[i] = (short)(i - 100);
    ((int4 *)(out + 12288))[i] = make_int4(i, -i, 3, 4);
    ((double *)(out + 16384))[i] = i * 0.5;
    int mine[2] = {i, i + 1};
    int *local = mine + i % 2;
    *local += 1;
    out[i] = mine[0] * mine[1];
}

// ---- Attribution: a window of `first` is met at `other` -------------------------------------------------------------

#define AGAIN asm volatile("" ::: "memory") // so that the loop's accesses are made each time

__global__ void read_store(int *data)
{
    int sum = 0;
    for (int k = 0; k < 20; k++) {
        if (blockIdx.x == 0)
            sum += data[threadIdx.x]; // read_store first
        else if (blockIdx.x == 1)
            data[threadIdx.x] = k; // read_store other
        AGAIN;
    }
    data[1024 + blockIdx.x * BLOCK + threadIdx.x] = sum;
}

__global__ void read_atomic(int *data)
{
    int sum = 0;
    for (int k = 0; k < 20; k++) {
        if (blockIdx.x == 0)
            sum += data[threadIdx.x % 8]; // read_atomic first
        else if (blockIdx.x == 1)
            atomicAdd(&data[threadIdx.x % 8], 1); // read_atomic other
        AGAIN;
    }
    data[1024 + blockIdx.x * BLOCK + threadIdx.x] = sum;
}

__global__ void read_exchange(int *data)
{
    int sum = 0;
    for (int k = 0; k < 20; k++) {
        if (blockIdx.x == 0)
            sum += data[threadIdx.x % 8]; // read_exchange first
        else if (blockIdx.x == 1)
            sum += atomicExch(&data[threadIdx.x % 8], k); // read_exchange other
        AGAIN;
    }
    data[1024 + blockIdx.x * BLOCK + threadIdx.x] = sum;
}

__global__ void read_volatile(int *data)
{
    int sum = 0;
    for (int k = 0; k < 20; k++) {
        if (blockIdx.x == 0)
            sum += data[threadIdx.x]; // read_volatile first
        else if (blockIdx.x == 1)
            *(volatile int *)&data[threadIdx.x] = k; // read_volatile other
        AGAIN;
    }
    data[1024 + blockIdx.x * BLOCK + threadIdx.x] = sum;
}

__global__ void store_store(int *data)
{
    for (int k = 0; k < 20; k++) {
        if (blockIdx.x == 0)
            data[threadIdx.x] = k; // store_store first
        else if (blockIdx.x == 1)
            atomicExch(&data[threadIdx.x], -k); // store_store other
        AGAIN;
    }
}

__global__ void in_shared(int *data)
{
    __shared__ int s[64];
    int sum = 0;
    if (threadIdx.x < 64)
        s[threadIdx.x] = 0;
    __syncthreads();
    for (int k = 0; k < 20; k++) {
        if (threadIdx.x < 64)
            sum += s[threadIdx.x]; // in_shared first
        else
            s[threadIdx.x - 64] = k; // in_shared other
        AGAIN;
    }
    data[1024 + blockIdx.x * BLOCK + threadIdx.x] = sum;
}

__global__ void generic(int *data)
{
    __shared__ int s[64];
    int sum = 0;
    if (threadIdx.x < 64)
        s[threadIdx.x] = 0;
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < 20; k++) {
        const int *p = threadIdx.x % 2 ? &s[threadIdx.x] : &data[threadIdx.x];
        if (threadIdx.x < 64)
            sum += *p; // generic first
        else
            s[threadIdx.x - 64] = k; // generic other
        AGAIN;
    }
    data[1024 + blockIdx.x * BLOCK + threadIdx.x] = sum;
}

// Four bytes are stored, of which one is read, and sixteen read, of which four are stored.
__global__ void narrow(int *data)
{
    int sum = 0;
    for (int k = 0; k < 40; k++) {
        if (blockIdx.x == 0)
            sum += ((const unsigned char *)data)[threadIdx.x]; // narrow first
        else if (blockIdx.x == 1 && threadIdx.x < 32)
            data[threadIdx.x] = k * 0x01010101; // narrow other
        AGAIN;
    }
    data[1024 + blockIdx.x * BLOCK + threadIdx.x] = sum;
}

__global__ void wide(int *data)
{
    int sum = 0;
    for (int k = 0; k < 40; k++) {
        if (blockIdx.x == 0) {
            int4 v = ((const int4 *)data)[threadIdx.x]; // wide first
            sum += v.x + v.y + v.z + v.w;
        } else if (blockIdx.x == 1) {
            data[4 * threadIdx.x + 2] = k; // wide other
        }
        AGAIN;
    }
    data[1024 + blockIdx.x * BLOCK + threadIdx.x] = sum;
}

__global__ void __cluster_dims__(2, 1, 1) cluster(int *data)
{
    __shared__ int s[64];
    cg::cluster_group c = cg::this_cluster();
    int sum = 0;
    if (threadIdx.x < 64)
        s[threadIdx.x] = 0;
    c.sync();
    int *theirs = c.map_shared_rank(s, c.block_rank() ^ 1);
    for (int k = 0; k < 20; k++) {
        if (c.block_rank() == 0)
            sum += s[threadIdx.x % 64]; // cluster first
        else if (threadIdx.x < 64)
            theirs[threadIdx.x] = k; // cluster other
        AGAIN;
    }
    c.sync();
    data[1024 + blockIdx.x * BLOCK + threadIdx.x] = sum;
}

// The other side is a copy of the host's.
__global__ void copied(const int *data, int *out)
{
    int sum = 0;
    for (int k = 0; k < 200; k++) {
        sum += data[threadIdx.x]; // copied first
        AGAIN;
    }
    out[threadIdx.x] = sum;
}

int main(int argc, char **argv)
{
    static int out[32768];
    const char *name = argc > 1 ? argv[1] : "";
    char line[16] = "";
    static const struct {
        const char *name;
        void (*kernel)(int *);
    } kernels[] = {{"same", same}, {"same_shared", same_shared}, {"same_address", same_address}, {"opposite", opposite}, {"neighbours", neighbours}, {"read_store", read_store},
                   {"read_atomic", read_atomic}, {"read_exchange", read_exchange}, {"read_volatile", read_volatile},
                   {"store_store", store_store}, {"in_shared", in_shared}, {"generic", generic}, {"narrow", narrow},
                   {"wide", wide}, {"cluster", cluster}};
    if (argc > 2 && !strcmp(argv[2], "input")) { // the kernel's name is read from there
        if (!fgets(line, sizeof line, stdin))
            return 3;
        line[strcspn(line, "\n")] = 0;
        name = line;
    }
    int *d;
    const char *memory = argc > 2 ? argv[2] : "";
    cudaError_t got = !strcmp(memory, "pinned") ? cudaMallocHost(&d, sizeof out)
                      : !strcmp(memory, "managed") ? cudaMallocManaged(&d, sizeof out)
                                                   : cudaMalloc(&d, sizeof out);
    if (got != cudaSuccess)
        return 4;
    cudaMemset(d, 0, sizeof out);
    if (!strcmp(name, "copied")) {
        cudaStream_t streams[2];
        for (cudaStream_t &stream : streams)
            cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        int *pinned;
        cudaMallocHost(&pinned, BLOCK * sizeof *pinned);
        copied<<<1, BLOCK, 0, streams[0]>>>(d, d + 1024);
        for (int k = 0; k < 20; k++) {
            for (int t = 0; t < BLOCK; t++)
                pinned[t] = k;
            cudaMemcpyAsync(d, pinned, BLOCK * sizeof *pinned, cudaMemcpyHostToDevice, streams[1]);
            cudaStreamSynchronize(streams[1]);
        }
        cudaDeviceSynchronize();
    } else {
        const auto *k = kernels;
        while (k < kernels + sizeof kernels / sizeof *kernels && strcmp(k->name, name))
            k++;
        if (k == kernels + sizeof kernels / sizeof *kernels)
            return 2;
        k->kernel<<<BLOCKS, BLOCK>>>(d);
    }
    cudaError_t e = cudaMemcpy(out, d, sizeof out, cudaMemcpyDeviceToHost);
    unsigned sum = 0;
    for (int v : out)
        sum = sum * 31 + (unsigned)v;
    printf("%s: %u\n", cudaGetErrorName(e), sum);
    if (argc > 3) // the file that a program leaves
        if (FILE *f = fopen(argv[3], "a")) {
            fputs("run\n", f);
            fclose(f);
        }
    return e != cudaSuccess;
}
