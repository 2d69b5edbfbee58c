// SPDX-License-Identifier: Apache-2.0
// Windows whose radius is known at run time only, so that one instruction in a loop reads all their elements.
// ARGS: 256 6 2
// GROWS: 256 3 2 | 256 6 2 | 256 12 2 | 256 24 2
// GROWS privatizer: 128 3 2 | 128 6 2 | 128 12 2
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void window(const float *in, float *out, int width, int radius) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= width)
        return;
    float sum = 0;
    for (int dy = -radius; dy <= radius; dy++)
        for (int dx = -radius; dx <= radius; dx++) {
            int xx = min(max(x + dx, 0), width - 1), yy = min(max(y + dy, 0), width - 1);
            sum += in[yy * width + xx];
        }
    out[y * width + x] = sum;
}

int main(int argc, char **argv) {
    int width = argc > 1 ? atoi(argv[1]) : 256, launches = argc > 2 ? atoi(argv[2]) : 6,
        radius = argc > 3 ? atoi(argv[3]) : 2, wrong = 0;
    float *in, *out;
    std::vector<float> ones(width * width, 1), got(width * width);
    cudaMalloc(&in, width * width * sizeof(float));
    cudaMalloc(&out, width * width * sizeof(float));
    cudaMemcpy(in, ones.data(), width * width * sizeof(float), cudaMemcpyHostToDevice);
    for (int k = 0; k < launches; k++)
        window<<<dim3((width + 15) / 16, (width + 15) / 16), dim3(16, 16)>>>(in, out, width, radius);
    cudaMemcpy(got.data(), out, width * width * sizeof(float), cudaMemcpyDeviceToHost);
    for (float v : got)
        wrong += v != (2 * radius + 1) * (2 * radius + 1);
    puts(wrong ? "FAIL" : "PASS");
}
