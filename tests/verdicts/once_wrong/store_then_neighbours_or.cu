// SPDX-License-Identifier: Apache-2.0
// Bit packing (as in Rodinia huffman, pack2): each lane stores the word that it takes to be its own, and ORs its last bits into the word after it,
// which is the next lane's own word. The lanes are of one warp and nothing orders the store before the atomic operation.
// expect: exact => races class "write-write race" soak
// expect: tracker => races soak
#include <cstdio>
__global__ void pack(const unsigned *src, const unsigned *at, unsigned *dst) {
    unsigned t = threadIdx.x, w = at[t], n = at[t + 1] - w, bits = src[t], i;
    atomicOr(&dst[w], bits >> 5);
    for (i = 1; i < n; i++)
        dst[w + i] = bits + i; // STORE
    atomicOr(&dst[w + i], bits << 27);
    bits = src[t + i];
    atomicOr(&dst[w + i], bits >> 5);
    atomicOr(&dst[w + i + 1], bits << 27); // OR: the next lane's first own word
}
int main() {
    unsigned *src, *at, *dst;
    cudaMallocManaged(&src, 4096); cudaMallocManaged(&at, 4096); cudaMallocManaged(&dst, 4096);
    for (int i = 0; i < 1024; i++) src[i] = i * 2654435761u;
    for (int i = 0; i < 40; i++) at[i] = i * 2;
    for (int r = 0; r < 4; r++) {
        pack<<<1, 32>>>(src, at, dst);
        cudaDeviceSynchronize();
    }
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
