// SPDX-License-Identifier: Apache-2.0
// A bitonic sort in global memory: a launch for each step.
// ARGS: 16384
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void step(int *a, int j, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, o = i ^ j;
    if (o <= i)
        return;
    int x = a[i], y = a[o];
    if ((x > y) == !(i & k)) {
        a[i] = y;
        a[o] = x;
    }
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 16384, *d;
    std::vector<int> a(n), got(n);
    for (int k = 0; k < n; k++)
        a[k] = (int)(k * 2654435761u >> 8);
    cudaMalloc(&d, n * 4);
    cudaMemcpy(d, a.data(), n * 4, cudaMemcpyHostToDevice);
    for (int k = 2; k <= n; k *= 2)
        for (int j = k / 2; j; j /= 2)
            step<<<n / 256, 256>>>(d, j, k);
    cudaMemcpy(got.data(), d, n * 4, cudaMemcpyDeviceToHost);
    std::sort(a.begin(), a.end());
    puts(a == got ? "PASS" : "FAIL");
}
