// SPDX-License-Identifier: Apache-2.0
// tracker_gpu — the kernels of kernels.cu on a GPU as a program, to be run without gpurace and under each engine: prints "NAME MILLISECONDS",
// the median of ROUNDS launches by events.
//
//     tracker_gpu [ROUNDS]
#include "kernels.cu"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#define MUST(call)                                                                                           \
    do {                                                                                                     \
        cudaError_t e_ = (call);                                                                             \
        if (e_ != cudaSuccess) {                                                                             \
            std::printf("%s: %s\n", #call, cudaGetErrorString(e_));                                          \
            std::exit(1);                                                                                    \
        }                                                                                                    \
    } while (0)

static void timed(const char *name, int rounds, const std::function<void()> &launch) {
    cudaEvent_t from, to;
    MUST(cudaEventCreate(&from));
    MUST(cudaEventCreate(&to));
    std::vector<float> all;
    for (int k = 0; k <= rounds; k++) {
        float ms;
        MUST(cudaEventRecord(from));
        launch();
        MUST(cudaEventRecord(to));
        MUST(cudaEventSynchronize(to));
        MUST(cudaEventElapsedTime(&ms, from, to));
        if (k)
            all.push_back(ms);
    }
    std::sort(all.begin(), all.end());
    std::printf("%s %.4f\n", name, all[all.size() / 2]);
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? std::atoi(argv[1]) : 5;
    const int n = 1 << 22, side = 512, bodies = 1 << 12;
    float *x, *y, *a, *b, *c;
    unsigned *in, *out;
    float4 *p, *q;
    MUST(cudaMalloc(&x, n * 4));
    MUST(cudaMalloc(&y, n * 4));
    MUST(cudaMalloc(&a, side * side * 4));
    MUST(cudaMalloc(&b, side * side * 4));
    MUST(cudaMalloc(&c, side * side * 4));
    MUST(cudaMalloc(&in, n * 4));
    MUST(cudaMalloc(&out, n * 4));
    MUST(cudaMalloc(&p, bodies * 16));
    MUST(cudaMalloc(&q, bodies * 16));
    MUST(cudaMemset(x, 0, n * 4));
    MUST(cudaMemset(y, 0, n * 4));
    MUST(cudaMemset(in, 1, n * 4));
    MUST(cudaMemset(p, 0, bodies * 16));
    std::vector<unsigned> values(n);
    for (int k = 0; k < n; k++)
        values[k] = k * 2654435761u;
    MUST(cudaMemcpy(in, values.data(), n * 4, cudaMemcpyHostToDevice));
    timed("saxpy", rounds, [&] { saxpy<<<n / 256, 256>>>(n, 2.0f, x, y); });
    timed("matmul", rounds, [&] { matmul<<<side * side / 256, 256>>>(a, b, c, side); });
    timed("reduce", rounds, [&] { reduce<<<n / 256, 256>>>((int *)in, (int *)out, n); });
    timed("hist", rounds, [&] { hist<<<1024, 256>>>(in, out, n); });
    timed("ghist", rounds, [&] { ghist<<<n / 256, 256>>>(in, out, n); });
    timed("nbody", rounds, [&] { nbody<<<bodies / 256, 256>>>(p, q, bodies); });
    timed("touch4", rounds, [&] { touch4<<<n / 256, 256>>>(out, n); });
    MUST(cudaDeviceSynchronize());
    return 0;
}
