// SPDX-License-Identifier: Apache-2.0
// Overlapping windows of an image that nobody writes, by several launches, as in bilateral filters and local entropy.
// ARGS: 256 6
// GROWS: 256 3 | 256 6 | 256 12 | 256 24
// GROWS privatizer: 64 6 | 64 12 | 64 24
#include <cstdio>
#include <cstdlib>
#include <vector>

enum { REACH = 2 };

template <typename T> __global__ void window(const T *in, float *out, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= width)
        return;
    float sum = 0;
    for (int dy = -REACH; dy <= REACH; dy++)
        for (int dx = -REACH; dx <= REACH; dx++) {
            int xx = x + dx, yy = y + dy;
            if (xx >= 0 && yy >= 0 && xx < width && yy < width)
                sum += in[yy * width + xx];
        }
    out[y * width + x] = sum;
}

template <typename T> bool run(int width, int launches) {
    T *in;
    float *out;
    std::vector<float> got(width * width);
    cudaMalloc(&in, width * width * sizeof(T));
    cudaMalloc(&out, width * width * 4);
    cudaMemset(in, 0, width * width * sizeof(T));
    for (int k = 0; k < launches; k++)
        window<<<dim3((width + 15) / 16, (width + 15) / 16), dim3(16, 16)>>>(in, out, width);
    cudaMemcpy(got.data(), out, width * width * 4, cudaMemcpyDeviceToHost);
    for (float v : got)
        if (v != 0)
            return false;
    return true;
}

int main(int argc, char **argv) {
    int width = argc > 1 ? atoi(argv[1]) : 256, launches = argc > 2 ? atoi(argv[2]) : 6;
    puts(run<float>(width, launches) && run<char>(width, launches) ? "PASS" : "FAIL");
}
