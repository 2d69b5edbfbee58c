// SPDX-License-Identifier: Apache-2.0
// Stores by several lanes of one warp to one place, a kernel each: what test_lanes.py knows about them is in its table.
#include <cstdint>

__global__ void three_values(uint32_t *out) { out[3] = threadIdx.x % 3; }

__global__ void two_groups(uint32_t *out) { out[threadIdx.x / 16] = threadIdx.x % 2; }

__global__ void two_kinds(uint32_t *out) { out[threadIdx.x / 16] = threadIdx.x < 16 ? 9 : threadIdx.x; }

__global__ void bytes(uint8_t *out) { out[5 + (threadIdx.x & 4)] = (uint8_t)(0xf0 + (threadIdx.x & 1)); }

__global__ void halves(uint16_t *out) { out[threadIdx.x < 30 ? threadIdx.x : 30] = (uint16_t)(threadIdx.x + 0x100); }

__global__ void doubles(double *out) { out[threadIdx.x / 2] = threadIdx.x & 1 ? -0.0 : 0.0; }

__global__ void vectors(uint4 *out) { out[threadIdx.x / 8] = make_uint4(1, 2, 3, threadIdx.x & 7); }

__global__ void in_shared(uint32_t *out) {
    __shared__ uint32_t s[8];
    s[threadIdx.x & 6] = threadIdx.x & 7;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x & 6];
}

__global__ void generic(uint32_t *out, int which) {
    __shared__ uint32_t s[2];
    uint32_t *p = which ? s : out;
    p[threadIdx.x & 1] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x + 2] = p[threadIdx.x & 1];
}

__global__ void diverged(uint32_t *out) {
    if (threadIdx.x % 5 == 1) {
        out[32 + threadIdx.x] = 1;
        __syncwarp(0x84210842);
        *out = threadIdx.x;
    }
}

__global__ void after_exit(uint32_t *out) {
    if (threadIdx.x < 29)
        return;
    *out = threadIdx.x / 30;
}

__global__ void second_warp(uint32_t *out) { out[threadIdx.x < 40 ? threadIdx.x : 40] = threadIdx.x; }

__global__ void same(uint32_t *out) { out[threadIdx.x / 8] = 7; }

__global__ void clean(uint32_t *out, uint8_t *bytes, int zero) {
    uint32_t own[4] = {0, 1, 2, 3};
    uint32_t *p = zero ? out : own; // generic, and at one local address in all lanes
    p[zero & 3] = threadIdx.x;
    bytes[threadIdx.x] = (uint8_t)threadIdx.x;
    out[threadIdx.x] = own[threadIdx.x & 3] + p[0];
}

int main() {
    uint8_t *m;
    cudaMalloc(&m, 1024);
    cudaMemset(m, 0, 1024);
    three_values<<<1, 32>>>((uint32_t *)m);
    two_groups<<<1, 32>>>((uint32_t *)m);
    two_kinds<<<1, 32>>>((uint32_t *)m);
    bytes<<<1, 32>>>(m);
    halves<<<1, 32>>>((uint16_t *)m);
    doubles<<<1, 32>>>((double *)m);
    vectors<<<1, 32>>>((uint4 *)m);
    in_shared<<<1, 32>>>((uint32_t *)m);
    generic<<<1, 32>>>((uint32_t *)m, 1);
    diverged<<<1, 32>>>((uint32_t *)m);
    after_exit<<<1, 32>>>((uint32_t *)m);
    second_warp<<<1, 64>>>((uint32_t *)m);
    same<<<1, 32>>>((uint32_t *)m);
    clean<<<1, 32>>>((uint32_t *)m, m + 512, 0);
    return cudaDeviceSynchronize() != cudaSuccess;
}
