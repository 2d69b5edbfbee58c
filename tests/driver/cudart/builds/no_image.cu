// SPDX-License-Identifier: Apache-2.0
// A program one of whose translation units holds no code for the device, machine code of another one only: its
// kernels and variables are errors where they are used, and nothing else suffers.
// WITH: no_image_other.cu -gencode arch=compute_75,code=sm_75
#include "../../../check.h"

cudaError_t launch_other(int *out);
cudaError_t read_other(int *out);

__global__ void mine(int *out) { *out = 7; }

int main()
{
    int *device, host = 0;
    CHECK(cudaMalloc(&device, sizeof *device));
    EXPECT_EQ(launch_other(device), cudaErrorNoKernelImageForDevice);
    EXPECT_EQ(launch_other(device), cudaErrorNoKernelImageForDevice); // again, when the stub has asked already
    EXPECT_EQ(read_other(&host), cudaErrorNoKernelImageForDevice);
    cudaGetLastError();
    mine<<<1, 1>>>(device);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT_EQ(host, 7);
    CHECK(cudaFree(device));
    return finish();
}
