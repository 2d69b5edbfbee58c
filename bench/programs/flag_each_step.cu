// SPDX-License-Identifier: Apache-2.0
// A breadth-first search over a long, thin graph: a launch for each level, and after each a flag goes back to the host.
// ARGS: 2000
// GROWS: 1000 | 2000 | 4000 | 8000
// GROWS privatizer: 250 | 500 | 1000
#include <cstdio>
#include <cstdlib>
#include <vector>

enum { WIDTH = 256 };

// Node (level, k) has edges to (level + 1, k) and (level + 1, k + 1).
__global__ void expand(int *distance, int levels, int level, int *more) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (level + 1 >= levels || k >= WIDTH || distance[level * WIDTH + k] != level)
        return;
    for (int to = k; to <= k + 1; to++) {
        int *d = &distance[(level + 1) * WIDTH + to % WIDTH];
        if (atomicCAS(d, -1, level + 1) == -1)
            atomicExch(more, 1);
    }
}

int main(int argc, char **argv) {
    int levels = argc > 1 ? atoi(argv[1]) : 2000, *distance, *more, level = 0;
    std::vector<int> host(levels * WIDTH, -1);
    for (int k = 0; k < WIDTH; k++)
        host[k] = 0;
    cudaMalloc(&distance, host.size() * sizeof(int));
    cudaMalloc(&more, sizeof *more);
    cudaMemcpy(distance, host.data(), host.size() * sizeof(int), cudaMemcpyHostToDevice);
    for (int again = 1; again; level++) {
        again = 0;
        cudaMemcpy(more, &again, sizeof again, cudaMemcpyHostToDevice);
        expand<<<2, WIDTH / 2>>>(distance, levels, level, more);
        cudaMemcpy(&again, more, sizeof again, cudaMemcpyDeviceToHost);
    }
    cudaMemcpy(host.data(), distance, host.size() * sizeof(int), cudaMemcpyDeviceToHost);
    for (int k = 0; k < levels * WIDTH; k++)
        if (host[k] != k / WIDTH)
            return printf("distance[%d] is %d\n", k, host[k]), 1;
    printf(level == levels ? "PASS\n" : "%d levels\n", level);
}
