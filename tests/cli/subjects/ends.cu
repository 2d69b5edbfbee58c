// SPDX-License-Identifier: Apache-2.0
// ends KERNEL END: launches one kernel and ends in one way. For test_device.py, which says what must be reported.
#undef NDEBUG
#include <cassert>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

__global__ void quiet(int *p) { p[threadIdx.x] = (int)threadIdx.x; }

__global__ void racy(int *p)
{
    for (int i = 0; i < 64; i++)
        p[0] = p[0] + (int)threadIdx.x; // RACE
}

__global__ void counted(int *p)
{
    if (threadIdx.x == 0)
        p[1] = p[0]; // READS
    else
        atomicAdd(p, 1);
}

__global__ void out_of_bounds(int *p)
{
    if (threadIdx.x == 0)
        p[1 << 24] = 1; // OUT OF BOUNDS
}

__global__ void misaligned(int *p)
{
    if (threadIdx.x == 0)
        *(int *)((char *)p + 1) = 1; // MISALIGNED
}

__global__ void endless(volatile int *p)
{
    while (*p >= 0) // ENDLESS
        ;
}

__device__ __noinline__ int deep(int n, volatile int *p)
{
    volatile int here[64];
    here[n & 63] = *p;
    return n == 0 ? 0 : deep(n + 1, here) + here[(n + 1) & 63];
}

__global__ void stack_overflow(int *p) { p[0] = deep(1, p); }

__global__ void barrier(int *p)
{
    if (threadIdx.x < 32)
        __syncthreads(); // NOT ALL
    else
        while (((volatile int *)p)[1] == 0)
            ;
    p[0] = 1;
}

__global__ void asserts(int *p)
{
    assert(p[threadIdx.x] != 0); // ASSERTS
}

// Four threads that launch at once, each in a stream and on memory of its own.
static void launch_from_threads()
{
    std::thread threads[4];
    for (std::thread &t : threads)
        t = std::thread([] {
            int *mine;
            cudaStream_t stream;
            cudaMalloc(&mine, 1024);
            cudaStreamCreate(&stream);
            for (int i = 0; i < 50; i++)
                quiet<<<1, 64, 0, stream>>>(mine);
            cudaStreamSynchronize(stream);
        });
    for (std::thread &t : threads)
        t.join();
}

static int usage() { return 10; }

int main(int argc, char **argv)
{
    if (argc < 3)
        return usage();
    const char *kernel = argv[1], *end = argv[2];
    if (!strcmp(end, "unsupported")) { // before anything that works
        cudaArray_t array;
        cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
        printf("%s\n", cudaGetErrorName(cudaMallocArray(&array, &format, 32, 2)));
    }
    int *p;
    if (cudaMalloc(&p, 1024) != cudaSuccess || cudaMemset(p, 0, 1024) != cudaSuccess) {
        printf("no memory: %s\n", cudaGetErrorString(cudaGetLastError()));
        return 11;
    }
#define LAUNCH(name)                                                                                         \
    if (!strcmp(kernel, #name))                                                                              \
        name<<<1, 64>>>(p);
    LAUNCH(quiet) LAUNCH(racy) LAUNCH(counted) LAUNCH(out_of_bounds) LAUNCH(misaligned) LAUNCH(endless) LAUNCH(stack_overflow)
    LAUNCH(barrier) LAUNCH(asserts)
    if (!strcmp(end, "return"))
        return 0;
    cudaError_t e = cudaDeviceSynchronize();
    printf("%s\n", cudaGetErrorName(e));
    fflush(stdout);
    if (!strcmp(end, "crash"))
        *(volatile int *)nullptr = 1;
    if (!strcmp(end, "abort"))
        abort();
    if (!strcmp(end, "kill"))
        kill(getpid(), SIGKILL);
    if (!strcmp(end, "_exit"))
        _exit(4);
    if (!strcmp(end, "hang"))
        for (;;)
            pause();
    if (!strcmp(end, "threads"))
        launch_from_threads();
    if (!strcmp(end, "fork")) {
        int status;
        pid_t child = fork();
        if (child == 0)
            exit(5);
        waitpid(child, &status, 0);
        return WEXITSTATUS(status) == 5 ? 0 : 12;
    }
    if (!strcmp(end, "children")) { // processes of their own that use CUDA; one of them is killed
        for (int i = 0; i < 2; i++)
            if (fork() == 0)
                execl("/proc/self/exe", argv[0], "racy", i ? "kill" : "sync", nullptr);
        while (wait(nullptr) > 0) {}
    }
    return e == cudaSuccess ? 0 : 1;
}
