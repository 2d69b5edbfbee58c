// SPDX-License-Identifier: Apache-2.0
// ldmatrix and stmatrix with the count before the shape (.x4.m8n8), as CUTLASS writes them: ptxas takes modifiers in any order. The status is 1
// where a thread got other elements than with the usual order.
//
// expect: exact,tracker -DSTORE => clean exit 0
// expect: exact -DSTORE -DRACE => races
// expect: collider,privatizer -DSTORE => clean exit 0 soak
// expect: exact,tracker,collider => clean exit 0 soak
// expect: tracker -DSTORE -DRACE => races soak
#include <cstdio>

__global__ void k(unsigned *out, unsigned *usual)
{
    __shared__ __align__(16) unsigned tile[128];
    for (int i = threadIdx.x; i < 128; i += 32)
        tile[i] = i * 0x10001;
    __syncwarp();
    unsigned p = (unsigned)__cvta_generic_to_shared(tile + threadIdx.x * 4), a, b, c, d, e, f, g, h;
    asm volatile("ldmatrix.sync.aligned.x4.m8n8.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(p));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(e), "=r"(f), "=r"(g), "=r"(h) : "r"(p));
    out[threadIdx.x] = a ^ b * 3 ^ c * 5 ^ d * 7;
    usual[threadIdx.x] = e ^ f * 3 ^ g * 5 ^ h * 7;
    asm volatile("ldmatrix.sync.aligned.x2.trans.m8n8.shared.b16 {%0,%1}, [%2];" : "=r"(a), "=r"(b) : "r"(p));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(e), "=r"(f) : "r"(p));
    out[threadIdx.x + 32] = a ^ b * 3;
    usual[threadIdx.x + 32] = e ^ f * 3;
#ifdef STORE
    unsigned of_other = __shfl_xor_sync(~0u, d, 1); // what the thread beside stores to the word that is read
    __syncwarp();
    asm volatile("stmatrix.sync.aligned.x4.m8n8.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(p), "r"(d), "r"(c), "r"(b), "r"(a) : "memory");
#ifndef RACE
    __syncwarp();
#endif
    out[threadIdx.x] += tile[threadIdx.x ^ 1];
    usual[threadIdx.x] += of_other;
#endif
}

int main()
{
    unsigned *out, *usual;
    cudaMallocManaged(&out, 256);
    cudaMallocManaged(&usual, 256);
    k<<<1, 32>>>(out, usual);
    cudaError_t e = cudaDeviceSynchronize();
    int wrong = 0;
    for (int i = 0; i < 64; i++)
        wrong += out[i] != usual[i];
    printf("%s, %d wrong\n", cudaGetErrorString(e), wrong);
    return e != cudaSuccess || wrong;
}
