// SPDX-License-Identifier: Apache-2.0
// Several threads of the host that give the device work: ./threads CASE race|fixed. cases.py says what the labels mean.
//
// RACE together: write-write race; no stream order, event or synchronization
// RACE call_under_way: write-write race; no stream order, event or synchronization
// REMARK atomic_flag: different host threads
// REMARK openmp: different host threads
// CLEAN own_memory
// CLEAN events
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <thread>

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        cudaError_t e_ = (call);                                                                             \
        if (e_ != cudaSuccess) {                                                                             \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e_));                      \
            exit(2);                                                                                         \
        }                                                                                                    \
    } while (0)

static bool fixed;
enum { N = 256 };
static int *memory;

__global__ void bump(int *p) { p[threadIdx.x]++; }

__global__ void set(int *p, int to) { p[threadIdx.x] = to; }

__global__ void slow(int *p, int n) {
    int v = 0;
    for (int k = 0; k < n; k++)
        v = v * 5 + k;
    p[threadIdx.x] = v;
}

static cudaStream_t stream(void) {
    cudaStream_t s;
    CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    return s;
}

static void work(int *p) {
    cudaStream_t s = stream();
    bump<<<1, N, 0, s>>>(p);
    CHECK(cudaStreamSynchronize(s));
}

// Both submit before either waits.
static void together(void) {
    std::atomic<int> submitted{0};
    auto run = [&](int *p, int to) {
        cudaStream_t s = stream();
        set<<<1, N, 0, s>>>(p, to);
        for (submitted++; submitted < 2;)
            ;
        CHECK(cudaStreamSynchronize(s));
    };
    std::thread a(run, memory, 1), b(run, fixed ? memory + N : memory, 2);
    a.join();
    b.join();
}

// One begins its call while the other waits, and is let in only when that is over, or before.
static void call_under_way(void) {
    std::atomic<bool> waits{false};
    std::thread a([&] {
        cudaStream_t s = stream();
        slow<<<1, N, 0, s>>>(memory, 300000);
        waits = true;
        CHECK(cudaStreamSynchronize(s));
    });
    std::thread b([&] {
        cudaStream_t s = stream();
        while (!waits)
            ;
        slow<<<1, N, 0, s>>>(fixed ? memory + N : memory, 10);
        CHECK(cudaStreamSynchronize(s));
    });
    a.join();
    b.join();
}

// Ordered, by what is not seen.
static void atomic_flag(void) {
    std::atomic<bool> done{false};
    std::thread a([&] {
        work(memory);
        done = true;
    });
    std::thread b([&] {
        while (!done)
            ;
        work(memory);
    });
    a.join();
    b.join();
}

static void openmp(void) {
    work(memory);
#pragma omp parallel num_threads(3)
    {
#pragma omp critical
        work(memory);
    }
    work(memory);
}

static void own_memory(void) {
    std::thread a(work, memory), b(work, memory + N);
    a.join();
    b.join();
}

// What one thread records the other's stream waits for.
static void events(void) {
    cudaEvent_t e;
    CHECK(cudaEventCreate(&e));
    std::atomic<bool> recorded{false};
    std::thread a([&] {
        cudaStream_t s = stream();
        bump<<<1, N, 0, s>>>(memory);
        CHECK(cudaEventRecord(e, s));
        recorded = true;
    });
    std::thread b([&] {
        cudaStream_t s = stream();
        while (!recorded)
            ;
        CHECK(cudaStreamWaitEvent(s, e, 0));
        bump<<<1, N, 0, s>>>(memory);
        CHECK(cudaStreamSynchronize(s));
    });
    a.join();
    b.join();
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"together", together}, {"call_under_way", call_under_way}, {"atomic_flag", atomic_flag},
               {"openmp", openmp},     {"own_memory", own_memory},         {"events", events}};
    fixed = argc > 2 && !strcmp(argv[2], "fixed");
    CHECK(cudaMalloc(&memory, 2 * N * sizeof *memory));
    CHECK(cudaDeviceSynchronize());
    for (const auto &c : all)
        if (argc > 1 && !strcmp(c.name, argv[1])) {
            c.run();
            CHECK(cudaDeviceSynchronize());
            return 0;
        }
    return 2;
}
