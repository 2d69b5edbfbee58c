// SPDX-License-Identifier: Apache-2.0
// control WORD...: does what the words say, one after the other, and prints what gpurace's calls returned. For test_control.py.
#include <gpurace/gpurace.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <thread>
#include <unistd.h>

__global__ void racy(int *p)
{
    for (int i = 0; i < 64; i++)
        p[0] = p[0] + (int)threadIdx.x; // RACE
}

__global__ void adds(int *p) { p[1] += 1; }

static std::atomic<int> turn;
static char token;

// Threads that hand over a turn by an atomic, which gpurace does not see.
static void handed_over(int *p, bool declared)
{
    auto take = [=](int mine) {
        cudaStream_t stream;
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        while (turn.load() != mine)
            usleep(1000);
        if (declared)
            gpurace_acquire(&token);
        adds<<<1, 1, 0, stream>>>(p);
        cudaStreamSynchronize(stream);
        if (declared)
            gpurace_release(&token);
        turn.store(mine + 1);
    };
    turn.store(0);
    std::thread first(take, 0), second(take, 1);
    first.join();
    second.join();
}

int main(int argc, char **argv)
{
    int *p = nullptr;
    setvbuf(stdout, nullptr, _IONBF, 0);
    for (int k = 1; k < argc; k++) {
        const char *word = argv[k];
        if (!p && strcmp(word, "stop") && strcmp(word, "start")) // these two may be called before CUDA is there
            cudaMalloc(&p, 4096);
        if (!strcmp(word, "race"))
            racy<<<2, 64>>>(p);
        else if (!strcmp(word, "stop"))
            printf("stop %d\n", gpurace_stop());
        else if (!strcmp(word, "start"))
            printf("start %d\n", gpurace_start());
        else if (!strcmp(word, "report"))
            printf("report %d\n", gpurace_report_now());
        else if (!strcmp(word, "line"))
            printf("line %d\n", getchar());
        else if (!strcmp(word, "unseen"))
            handed_over(p, false);
        else if (!strcmp(word, "declared"))
            handed_over(p, true);
        else if (!strcmp(word, "there"))
            printf("there %d\n", access(argv[++k], F_OK) == 0);
        if (!strcmp(word, "race"))
            cudaDeviceSynchronize();
    }
    return 0;
}
