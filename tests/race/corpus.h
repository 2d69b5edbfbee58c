// SPDX-License-Identifier: Apache-2.0
// What every program of the corpus needs besides its kernel: checked CUDA calls, buffers that are filled and read back
// in order with everything else, and main. A program defines
//     static int test(bool fixed)     // returns how many results are wrong
//     CORPUS_MAIN(test)
// and is run as ./NAME (racy) or ./NAME fixed (its repaired twin). Both print NAME: PASS or FAIL; only the twin's
// failure is one, for a race leaves the result undefined. (A program that is clean as it stands has to pass too.)
#pragma once

#include "../check.h"

#include <vector>

// Launches kernel<true> or kernel<false>, as the variable `fixed` says.
#define LAUNCH_ASYNC(kernel, grid, block, shared, stream, ...)                                               \
    do {                                                                                                     \
        if (fixed) {                                                                                         \
            kernel<true><<<grid, block, shared, stream>>>(__VA_ARGS__);                                      \
        } else {                                                                                             \
            kernel<false><<<grid, block, shared, stream>>>(__VA_ARGS__);                                     \
        }                                                                                                    \
        CHECK(cudaGetLastError());                                                                           \
    } while (0)

// The same in the default stream, and waits for it.
#define LAUNCH(kernel, grid, block, ...)                                                                     \
    do {                                                                                                     \
        LAUNCH_ASYNC(kernel, grid, block, 0, 0, __VA_ARGS__);                                                \
        CHECK(cudaDeviceSynchronize());                                                                      \
    } while (0)

// Device memory of `count` elements, every byte set to `byte`; nothing is pending when the constructor returns.
template <typename T> class Buffer {
  public:
    explicit Buffer(size_t count, int byte = 0) : count_(count) {
        CHECK(cudaMalloc(&data_, count * sizeof(T)));
        CHECK(cudaMemset(data_, byte, count * sizeof(T)));
        CHECK(cudaDeviceSynchronize());
    }
    explicit Buffer(const std::vector<T> &from) : Buffer(from.size()) {
        CHECK(cudaMemcpy(data_, from.data(), bytes(), cudaMemcpyHostToDevice));
    }
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;
    ~Buffer() { cudaFree(data_); }

    operator T *() const { return data_; }
    size_t bytes() const { return count_ * sizeof(T); }

    // What it holds when everything submitted so far is done.
    std::vector<T> host() const {
        std::vector<T> to(count_);
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaMemcpy(to.data(), data_, bytes(), cudaMemcpyDeviceToHost));
        return to;
    }

  private:
    T *data_ = nullptr;
    size_t count_;
};

// How many elements differ from what `expected(index)` says.
template <typename T, typename F> static inline int count_wrong(const std::vector<T> &values, F expected) {
    int wrong = 0;
    for (size_t i = 0; i < values.size(); i++) {
        wrong += values[i] != static_cast<T>(expected(i));
    }
    return wrong;
}

// Runs `test` of the program whose source is `file`.
static inline int corpus_main(int argc, char **argv, const char *file, int (*test)(bool)) {
    const char *slash = strrchr(file, '/');
    const char *name = slash ? slash + 1 : file;
    bool fixed = false;
    for (int i = 1; i < argc; i++) {
        fixed |= strcmp(argv[i], "fixed") == 0;
    }
    int wrong = test(fixed);
    printf("%.*s: %s (%d wrong)\n", static_cast<int>(strcspn(name, ".")), name, wrong ? "FAIL" : "PASS",
           wrong);
    return fixed && wrong ? 1 : 0;
}

#define CORPUS_MAIN(test)                                                                                    \
    int main(int argc, char **argv) { return corpus_main(argc, argv, __FILE__, test); }
