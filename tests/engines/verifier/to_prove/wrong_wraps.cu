// SPDX-License-Identifier: Apache-2.0
// Kernels that race because an operation leaves the range of its bits: as numbers without bounds, no two threads' indices would meet. By the pigeonhole
// principle, or by plain equality after wrapping.
__device__ __forceinline__ unsigned number() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void top_byte(int *out) { out[(number() * 2654435761u) >> 24] = 1; }
__global__ void by_division(int *out) { out[(number() * 2654435761u) / 16777216u] = 1; }
__global__ void low_shift(int *out) { out[(number() << 24) >> 24] = 1; }
__global__ void low_product(int *out) { out[(number() * 16777216u) >> 24] = 1; }
__global__ void plain_product(int *out) { out[(number() * 16777216u) / 2] = 1; }
__global__ void sum(int *out) { out[((number() + 4294967040u) >> 8) & 3] = 1; }
__global__ void with_a_sign(int *out) {
    int hash = number() * 2654435761u;
    out[(hash >> 24) + 128] = 1;
}
__global__ void range_of_hash(int *out) { out[__umulhi(number() * 2654435769u, 256)] = 1; }
__global__ void byte(int *out) { out[(unsigned char)(number() * 3)] = 1; }
__global__ void negated(int *out) { out[(0u - number() * 2654435761u) >> 24] = 1; }
__global__ void of_64_bits(int *out) { out[((unsigned long long)number() * 11400714819323198485ull) >> 56] = 1; }
__global__ void low_of_64_bits(int *out) { out[((unsigned long long)number() << 56) >> 56] = 1; }
__global__ void seeded(int *out, unsigned seed) { out[((number() + seed) * 2654435769u) >> 24] = 1; }
__global__ void guarded(int *out) {
    if (number() * 0x80000000u == 0) // each other thread
        out[0] = 1;
}
__global__ void compared(int *out) {
    if (number() << 30 < 5u) // each fourth one
        out[0] = 1;
}
__global__ void of_few(int *out) {
    if (threadIdx.x * 0x80000001u < 4u) // 0 and 2, which bounds find after many steps; no size is to blame
        out[0] = 1;
}
__global__ void in_a_loop(int *out) {
    for (unsigned k = number() * 0x40000000u; k < 0x40000000u; k += 0x10000000u)
        out[k >> 28] = 1;
}
__global__ void shared_hash(int *out) {
    __shared__ int s[64];
    s[(threadIdx.x * 2654435761u) >> 26] = 1;
    __syncthreads();
    out[number()] = s[threadIdx.x & 63];
}
__global__ void last_bit(int *out) {
    for (unsigned d = 1; d; d <<= 1)
        if (d >> 31) // in the last round
            out[0] = 1;
}
// With so many threads that a product of 16 bits' factor wraps, too: any number of elements that the host is given.
__global__ void of_many(int *out, int n) {
    if (number() < n)
        out[(number() * 40503u) >> 8] = 1;
}

int main(int argc, char **) {
    int *out;
    cudaMalloc(&out, 1 << 26);
    top_byte<<<4, 256>>>(out);
    by_division<<<4, 256>>>(out);
    low_shift<<<4, 256>>>(out);
    low_product<<<4, 256>>>(out);
    plain_product<<<4, 256>>>(out);
    sum<<<4, 256>>>(out);
    with_a_sign<<<4, 256>>>(out);
    range_of_hash<<<4, 256>>>(out);
    byte<<<4, 256>>>(out);
    negated<<<4, 256>>>(out);
    of_64_bits<<<4, 256>>>(out);
    low_of_64_bits<<<4, 256>>>(out);
    seeded<<<4, 256>>>(out, argc);
    guarded<<<4, 256>>>(out);
    compared<<<4, 256>>>(out);
    of_few<<<1, 31>>>(out);
    in_a_loop<<<4, 256>>>(out);
    shared_hash<<<4, 256>>>(out);
    last_bit<<<4, 256>>>(out);
    of_many<<<(argc + 255) / 256, 256>>>(out, argc);
    return cudaDeviceSynchronize();
}
