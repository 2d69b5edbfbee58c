// SPDX-License-Identifier: Apache-2.0
// Threads mark elements of a bool array (as Rodinia's bfs does: g_updating_graph_mask[id] = true): two threads store the same value to one byte. The byte
// need not be the first of its word.
// expect: privatizer -- 8 => races only "same-value write"
// expect: privatizer -- 4 => races only "same-value write" soak
// expect: exact,privatizer -- 2 => races only "same-value write" soak
// expect: exact,privatizer -- 16 => races only "same-value write" soak
// expect: exact,privatizer -- 64 => races only "same-value write" soak
#include <cstdio>
#include <cstdlib>
__global__ void mark(const int *first, const int *edge, const bool *go, const bool *seen, bool *mask, int n) {
    int t = blockIdx.x * 512 + threadIdx.x;
    if (t < n && go[t]) {
        for (int i = first[t]; i < first[t + 1]; i++) {
            int id = edge[i];
            if (!seen[id])
                mask[id] = true;
        }
    }
}
int main(int argc, char **argv) {
    const int n = 2048; int every = argc > 1 ? atoi(argv[1]) : 8;
    int *first, *edge; bool *go, *seen, *mask;
    cudaMallocManaged(&first, (n + 1) * 4); cudaMallocManaged(&edge, n * 8 * 4); cudaMallocManaged(&go, n); cudaMallocManaged(&seen, n);
    cudaMalloc(&mask, n);
    cudaMemset(mask, 0, n);
    srand(1);
    for (int i = 0; i <= n; i++) first[i] = i * 8;
    for (int i = 0; i < n * 8; i++) edge[i] = rand() % n;
    for (int i = 0; i < n; i++) { go[i] = i % every == 0; seen[i] = i % 3 == 0; }
    mark<<<n / 512, 512>>>(first, edge, go, seen, mask, n);
    cudaError_t e = cudaDeviceSynchronize();
    printf("%s\n", cudaGetErrorString(e));
}
