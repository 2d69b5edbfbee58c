// SPDX-License-Identifier: Apache-2.0
// tracker_gpu — what engines cost on a GPU, as a program that is run without gpurace and under each engine (tracker_gpu.py does so). Each
// measurement is a line "NAME VALUE UNIT", written at once.
//
//     tracker_gpu [ROUNDS [LOG2 [PART]]]
//
// Times are medians of ROUNDS launches, by events (with TRACKER_GPU_CLOCK=host in the environment by the host's clock: the events of the CPU device are
// virtual time), after one that does not count; LOG2 is the size of the largest arrays, in elements. PART is one of
//     kernels     those of kernels.cu (without a PART: only these)
//     contention  many threads at one word, and at words of their own
//     wide        blocks of 1024 threads of a kernel that does not say so
//     memory      bytes that are in use on the device, and resident in the process, beside those that the program allocated
//     launches    100000 short launches (1000 where LOG2 is below 16)
//     big         60 % of the device's memory in one piece, after other work
//     reset       cudaDeviceReset() between launches
#include "kernels.cu"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#define MUST(call)                                                                                           \
    do {                                                                                                     \
        cudaError_t e_ = (call);                                                                             \
        if (e_ != cudaSuccess) {                                                                             \
            std::printf("failed: %s: %s\n", #call, cudaGetErrorString(e_));                                  \
            std::fflush(stdout);                                                                             \
            std::exit(1);                                                                                    \
        }                                                                                                    \
    } while (0)

static int rounds = 5, n = 1 << 22;

static void tell(const char *name, double value, const char *unit)
{
    std::printf("%s %.4f %s\n", name, value, unit);
    std::fflush(stdout);
}

static double now_ms()
{
    using namespace std::chrono;
    return duration<double, std::milli>(steady_clock::now().time_since_epoch()).count();
}

static void timed(const char *name, const std::function<void()> &launch)
{
    cudaEvent_t from, to;
    MUST(cudaEventCreate(&from));
    MUST(cudaEventCreate(&to));
    std::vector<float> all;
    bool host = std::getenv("TRACKER_GPU_CLOCK");
    for (int k = 0; k <= rounds; k++) {
        float ms;
        double begin = now_ms();
        MUST(cudaEventRecord(from));
        launch();
        MUST(cudaGetLastError());
        MUST(cudaEventRecord(to));
        MUST(cudaEventSynchronize(to));
        MUST(cudaEventElapsedTime(&ms, from, to));
        if (host)
            ms = (float)(now_ms() - begin);
        if (k)
            all.push_back(ms);
    }
    std::sort(all.begin(), all.end());
    tell(name, all[all.size() / 2], "ms");
}

template <typename T> static T *memory(size_t count)
{
    T *p;
    MUST(cudaMalloc(&p, count * sizeof(T)));
    MUST(cudaMemset(p, 0, count * sizeof(T)));
    return p;
}

static void kernels()
{
    int side = n >= 1 << 20 ? 512 : 64, bodies = n >= 1 << 20 ? 1 << 12 : 256;
    float *x = memory<float>(n), *y = memory<float>(n);
    float *a = memory<float>(side * side), *b = memory<float>(side * side), *c = memory<float>(side * side);
    unsigned *in = memory<unsigned>(n), *out = memory<unsigned>(n);
    float4 *p = memory<float4>(bodies), *q = memory<float4>(bodies);
    std::vector<unsigned> values(n);
    for (int k = 0; k < n; k++)
        values[k] = k * 2654435761u;
    MUST(cudaMemcpy(in, values.data(), n * 4, cudaMemcpyHostToDevice));
    timed("saxpy", [&] { saxpy<<<n / 256, 256>>>(n, 2.0f, x, y); });
    timed("matmul", [&] { matmul<<<side * side / 256, 256>>>(a, b, c, side); });
    timed("reduce", [&] { reduce<<<n / 256, 256>>>((int *)in, (int *)out, n); });
    timed("hist", [&] { hist<<<n >= 1 << 20 ? 1024 : 16, 256>>>(in, out, n); });
    timed("ghist", [&] { ghist<<<n / 256, 256>>>(in, out, n); });
    timed("nbody", [&] { nbody<<<bodies / 256, 256>>>(p, q, bodies); });
    timed("touch4", [&] { touch4<<<n / 256, 256>>>(out, n); });
}

// ---- Contention --------------------------------------------------------------------------------------------

// Thread i uses word i * step of p: with step 0 all threads use one.
__global__ void add_at(unsigned *p, int step)
{
    unsigned *at = p + (size_t)(blockIdx.x * blockDim.x + threadIdx.x) * step;
    for (int k = 0; k < 16; k++)
        atomicAdd(at, 1);
}

__global__ void load_at(const unsigned *p, unsigned *sum, int step)
{
    const volatile unsigned *at = p + (size_t)(blockIdx.x * blockDim.x + threadIdx.x) * step;
    unsigned s = 0;
    for (int k = 0; k < 16; k++)
        s += *at;
    if (s == 1)
        *sum = s;
}

__global__ void read_at(const unsigned *p, unsigned *out, int step)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = p[(size_t)i * step];
}

static void contention()
{
    int threads = n / 64 < 73728 ? n / 64 : 73728; // as many as the paper's worst case has
    threads = threads < 256 ? 256 : threads / 256 * 256;
    unsigned *p = memory<unsigned>(threads), *out = memory<unsigned>(threads);
    for (int step = 0; step < 2; step++) {
        timed(step ? "atomics_spread" : "atomics_one", [&] { add_at<<<threads / 256, 256>>>(p, step); });
        timed(step ? "polls_spread" : "polls_one", [&] { load_at<<<threads / 256, 256>>>(p, out, step); });
        timed(step ? "reads_spread" : "reads_one", [&] { read_at<<<threads / 256, 256>>>(p, out, step); });
    }
}

// ---- Amounts -----------------------------------------------------------------------------------------------

static void wide()
{
    float *x = memory<float>(n), *y = memory<float>(n);
    timed("saxpy_1024", [&] { saxpy<<<n / 1024 ? n / 1024 : 1, 1024>>>(n, 2.0f, x, y); });
}

static double resident_bytes()
{
    char line[256];
    double kib = 0;
    FILE *f = std::fopen("/proc/self/status", "r");
    while (f && std::fgets(line, sizeof line, f))
        if (!std::strncmp(line, "VmHWM:", 6))
            kib = std::atof(line + 6);
    if (f)
        std::fclose(f);
    return kib * 1024;
}

static double used_bytes()
{
    size_t free_bytes, total;
    MUST(cudaMemGetInfo(&free_bytes, &total));
    return (double)(total - free_bytes);
}

static void memory_in_use()
{
    MUST(cudaFree(nullptr));
    double before = used_bytes();
    float *x = memory<float>(n), *y = memory<float>(n);
    saxpy<<<n / 256, 256>>>(n, 2.0f, x, y);
    MUST(cudaDeviceSynchronize());
    double more = used_bytes() - before, own = 8.0 * n;
    tell("memory_program", own, "bytes");
    tell("memory_before_allocations", before, "bytes");
    tell("memory_beside", more - own, "bytes");
    tell("memory_of_process", resident_bytes(), "bytes");
}

__global__ void step(int *p) { p[threadIdx.x]++; }

static void launches()
{
    int count = n < 1 << 16 ? 1000 : 100000;
    int *p = memory<int>(64);
    double before = used_bytes(), from = now_ms();
    for (int k = 0; k < count; k++)
        step<<<1, 64>>>(p);
    MUST(cudaDeviceSynchronize());
    tell("launch", (now_ms() - from) * 1000 / count, "us");
    tell("launches_memory", used_bytes() - before, "bytes");
}

static void big()
{
    int *p = memory<int>(n);
    touch4<<<n / 256, 256>>>((unsigned *)p, n);
    MUST(cudaDeviceSynchronize());
    size_t free_bytes, total;
    MUST(cudaMemGetInfo(&free_bytes, &total));
    size_t bytes = total / 10 * 6 & ~(size_t)0xffff;
    unsigned *q;
    cudaError_t e = cudaMalloc(&q, bytes);
    if (e != cudaSuccess) {
        std::printf("failed: 60 %% of the memory: %s\n", cudaGetErrorString(e));
        std::exit(1);
    }
    // One piece at the front, one at the end.
    timed("big_front", [&] { touch4<<<n / 256, 256>>>(q, n); });
    timed("big_end", [&] { touch4<<<n / 256, 256>>>(q + bytes / 4 - n, n); });
    tell("big_memory_used", used_bytes() / total * 100, "percent");
}

static void reset()
{
    for (int k = 0; k < 3; k++) {
        int *p = memory<int>(64);
        step<<<1, 64>>>(p);
        MUST(cudaGetLastError());
        MUST(cudaDeviceSynchronize());
        MUST(cudaDeviceReset());
    }
    tell("resets", 3, "times");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)();
    } parts[] = {{"kernels", kernels}, {"contention", contention}, {"wide", wide}, {"memory", memory_in_use}, {"launches", launches}, {"big", big}, {"reset", reset}};
    rounds = argc > 1 ? std::atoi(argv[1]) : rounds;
    n = 1 << (argc > 2 ? std::atoi(argv[2]) : 22);
    const char *part = argc > 3 ? argv[3] : "kernels";
    double from = now_ms();
    MUST(cudaFree(nullptr)); // the device, and the engine's part in it
    step<<<1, 64>>>(memory<int>(64));
    MUST(cudaDeviceSynchronize());
    tell("start", now_ms() - from, "ms");
    for (const auto &p : parts)
        if (!std::strcmp(p.name, part)) {
            p.run();
            if (p.run != reset)
                MUST(cudaDeviceSynchronize());
            return 0;
        }
    std::fprintf(stderr, "tracker_gpu: no part is called %s\n", part);
    return 2;
}
