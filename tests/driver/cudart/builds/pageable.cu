// SPDX-License-Identifier: Apache-2.0
// Kernels on memory that the program got without CUDA: malloc, the stack, globals; as under HMM. [EM-124]
#include "../../../check.h"

#include <sys/mman.h>
#include <unistd.h>
#include <vector>

static int global_data[64];
static const char text[] = "read-only";

__global__ void increment(int *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] += 1;
}

__global__ void count(const char *s, int *length)
{
    atomicAdd_system(length, 0); // an atomic on such memory
    int n = 0;
    while (s[n])
        n++;
    *length = n;
}

static void launch(int *data, int n)
{
    increment<<<(n + 63) / 64, 64>>>(data, n);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
}

int main()
{
    int value = 0;
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrPageableMemoryAccess, 0));
    EXPECT_EQ(value, 1);

    const int n = 100000;
    int *heap = (int *)calloc(n, sizeof(int)), stack[64] = {5};
    launch(heap, n);
    EXPECT_EQ(heap[0] + heap[n - 1], 2);
    launch(stack, 64);
    EXPECT_EQ(stack[0], 6);
    launch(global_data, 64);
    EXPECT_EQ(global_data[63], 1);
    std::vector<int> v(1000, 41);
    launch(v.data(), 1000);
    EXPECT_EQ(v[999], 42);
    int length = 0;
    count<<<1, 1>>>(text, &length);
    CHECK(cudaDeviceSynchronize());
    EXPECT_EQ(length, 9);

    // CUDA does not know it: copies take it for pageable, which it is.
    cudaPointerAttributes a;
    CHECK(cudaPointerGetAttributes(&a, heap));
    EXPECT_EQ(a.type, cudaMemoryTypeUnregistered);
    int *device;
    CHECK(cudaMalloc(&device, sizeof stack));
    CHECK(cudaMemcpy(device, stack, sizeof stack, cudaMemcpyDefault));
    CHECK(cudaMemcpy(&value, device, sizeof value, cudaMemcpyDefault));
    EXPECT_EQ(value, 6);
    // Registering it later changes nothing for kernels.
    CHECK(cudaHostRegister(heap, n * sizeof(int), cudaHostRegisterDefault));
    launch(heap, n);
    EXPECT_EQ(heap[n - 1], 2);
    CHECK(cudaHostUnregister(heap));
    launch(heap, n);
    EXPECT_EQ(heap[n - 1], 3);

    // Memory that was unmapped since is no memory, and what cannot be written is not.
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int *mapped = (int *)mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    launch(mapped, 64);
    EXPECT_EQ(mapped[3], 1);
    munmap(mapped, page);
    increment<<<1, 1>>>(mapped, 1);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    CHECK(cudaDeviceReset());
    increment<<<1, 1>>>((int *)(size_t)text, 1);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    CHECK(cudaDeviceReset());
    increment<<<1, 1>>>(nullptr, 1);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    CHECK(cudaDeviceReset());
    return finish();
}
