// SPDX-License-Identifier: Apache-2.0
// The other half of linked.cu.
__device__ int other_counter;
__constant__ int other_table[4] = {0, 10, 20, 30};
static __device__ int offset = 2000;
__device__ int thrice(int x);

__device__ int other_work(int x)
{
    return x * x + offset;
}

__device__ int other_apply(int (*f)(int), int x)
{
    return f(x) + 7;
}

__global__ void other_kernel(int *out)
{
    out[threadIdx.x] = other_counter + thrice(threadIdx.x);
}

void launch_other(int *out)
{
    other_kernel<<<1, 32>>>(out);
}
