// SPDX-License-Identifier: Apache-2.0
// What the programs of this folder share: sizes by argument, memory that is counted, launches that are timed.
//
//     PROGRAM [DIVIDE [ROUNDS]]
//
// With DIVIDE 1 a program has the grid, the block and about as much memory as in table V of the LDetector paper; with N
// there is an N-th of the blocks, or of the data where there is one block. Each measurement is a line "NAME VALUE
// UNIT". Times are medians of ROUNDS launches by events, or, with LDETECTOR_CLOCK=host in the environment, by the
// host's clock (the CPU device's events are virtual time). What a kernel works on is prepared anew for each launch.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <functional>
#include <string>
#include <vector>

#define MUST(call)                                                                                           \
    do {                                                                                                     \
        cudaError_t must_ = (call);                                                                          \
        if (must_ != cudaSuccess) {                                                                          \
            std::printf("failed: %s: %s\n", #call, cudaGetErrorString(must_));                               \
            std::exit(1);                                                                                    \
        }                                                                                                    \
    } while (0)

class Program {
  public:
    int divide = 1, rounds = 1;

    Program(int argc, char **argv) {
        divide = argc > 1 ? std::max(1, std::atoi(argv[1])) : 1;
        rounds = argc > 2 ? std::max(1, std::atoi(argv[2])) : 1;
    }

    // An N-th of what the paper's size has, and at least `least`.
    unsigned part(unsigned whole, unsigned least = 1) const {
        return std::max(whole / (unsigned)divide, least);
    }

    template <typename T> T *memory(size_t count) {
        T *p;
        MUST(cudaMalloc(&p, count * sizeof(T)));
        MUST(cudaMemset(p, 0, count * sizeof(T)));
        bytes_ += count * sizeof(T);
        return p;
    }

    template <typename T> T *memory(const std::vector<T> &from) {
        T *p = memory<T>(from.size());
        MUST(cudaMemcpy(p, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
        return p;
    }

    template <typename T> static std::vector<T> host(const T *from, size_t count) {
        std::vector<T> to(count);
        MUST(cudaMemcpy(to.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost));
        return to;
    }

    // The kernel that table V is about, and all of its launches together.
    template <typename K>
    void time(K *kernel, unsigned grid, dim3 block, const std::function<void()> &prepare,
              const std::function<void()> &launch) {
        cudaFuncAttributes of;
        MUST(cudaFuncGetAttributes(&of, (const void *)kernel));
        float first = 0, ms = median(prepare, launch, &first);
        tell("grid", grid, "blocks");
        tell("block", block.x * block.y * block.z, "threads");
        tell("shared", of.sharedSizeBytes, "bytes");
        tell("global", (double)bytes_, "bytes");
        tell("time", ms, "ms");
        tell("first", first, "ms");
    }

    // Milliseconds, of `rounds` of them. *first: of the first one; then each has a line as well.
    float median(const std::function<void()> &prepare, const std::function<void()> &launch,
                 float *first = nullptr) const {
        std::vector<float> all;
        for (int k = 0; k < rounds; k++) {
            prepare();
            all.push_back(once(launch));
        }
        if (first) {
            *first = all[0];
            for (int k = 0; k < rounds; k++)
                tell(("launch_" + std::to_string(k + 1)).c_str(), all[k], "ms");
        }
        std::sort(all.begin(), all.end());
        return all[all.size() / 2];
    }

    static void tell(const char *name, double value, const char *unit) {
        std::printf("%s %.4f %s\n", name, value, unit);
        std::fflush(stdout);
    }

    // For kernels without races.
    static int verdict(bool right) {
        std::printf(right ? "PASS\n" : "FAIL\n");
        return !right;
    }

  private:
    static float once(const std::function<void()> &launch) {
        using namespace std::chrono;
        cudaEvent_t from, to;
        float ms;
        MUST(cudaDeviceSynchronize());
        MUST(cudaEventCreate(&from));
        MUST(cudaEventCreate(&to));
        auto begin = steady_clock::now();
        MUST(cudaEventRecord(from));
        launch();
        MUST(cudaGetLastError());
        MUST(cudaEventRecord(to));
        MUST(cudaEventSynchronize(to));
        MUST(cudaEventElapsedTime(&ms, from, to));
        if (std::getenv("LDETECTOR_CLOCK"))
            ms = duration<float, std::milli>(steady_clock::now() - begin).count();
        MUST(cudaEventDestroy(from));
        MUST(cudaEventDestroy(to));
        return ms;
    }

    size_t bytes_ = 0;
};

// A number that is the same in each run.
static inline unsigned scrambled(unsigned k) {
    k = (k ^ k >> 16) * 0x7feb352du;
    k = (k ^ k >> 15) * 0x846ca68bu;
    return k ^ k >> 16;
}
