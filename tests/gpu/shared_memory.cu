// SPDX-License-Identifier: Apache-2.0
// Two processes with one piece of device memory: one allocates it and hands it on by cudaIpcGetMemHandle, the other opens it. A kernel of
// each stores to all of it for a while: longer than a GPU works for one process before it turns to the next. Racy: both at the same
// time. Fixed: the owner's begins when the other process is done.
// Usage: shared_memory own|open PIPE-TO-OPENER PIPE-TO-OWNER racy|fixed
#include "../check.h"

#include <fcntl.h>
#include <unistd.h>

enum { BLOCKS = 64, THREADS = 128, COUNT = BLOCKS * THREADS, MILLISECONDS = 60 };

__device__ unsigned long long now()
{
    unsigned long long ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

// A thread stores to its own element; between stores it looks whether the element still has what it stored.
__global__ void own_stores(volatile int *seen, int *data, int mark)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, other = 0;
    unsigned long long end = now() + MILLISECONDS * 1000000ull;
    do {
        data[i] = mark; // SIDE
        asm volatile("" ::: "memory");
        other += data[i] != mark; // SIDE
    } while (now() < end);
    if (other)
        *seen = 1;
}

static int open_pipe(const char *path, int flags)
{
    int fd = open(path, flags);
    if (fd < 0)
        perror(path), exit(2);
    return fd;
}

static void put(int fd, const void *what, size_t size)
{
    if (write(fd, what, size) != (ssize_t)size)
        perror("write"), exit(2);
}

static void get(int fd, void *what, size_t size)
{
    if (read(fd, what, size) != (ssize_t)size) {
        printf("the other process is gone\n");
        exit(4);
    }
}

static bool met(int *data, int mark)
{
    int *seen, value = 0;
    CHECK(cudaMalloc(&seen, sizeof *seen));
    CHECK(cudaMemset(seen, 0, sizeof *seen));
    own_stores<<<BLOCKS, THREADS>>>(seen, data, mark);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(&value, seen, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

static int own(int to, int from, bool fixed)
{
    int *data, byte = 0, wrong = 0;
    static int result[COUNT];
    cudaIpcMemHandle_t handle;
    CHECK(cudaMalloc(&data, COUNT * sizeof *data));
    CHECK(cudaMemset(data, 0, COUNT * sizeof *data));
    CHECK(cudaIpcGetMemHandle(&handle, data));
    CHECK(cudaDeviceSynchronize());
    put(to, &handle, sizeof handle);
    get(from, &byte, 1); // the other has opened it, and begins
    if (fixed)
        get(from, &byte, 1); // and is done
    bool other = met(data, 1000000);
    if (!fixed)
        get(from, &byte, 1);
    CHECK(cudaMemcpy(result, data, sizeof result, cudaMemcpyDeviceToHost));
    for (int i = 0; i < COUNT; i++)
        wrong += result[i] != 1000000;
    printf("owner: %s%s\n", other ? "saw the other process's stores, " : "", !wrong ? "PASS" : "FAIL");
    return fixed && (wrong || other);
}

static int open_other(int to, int from)
{
    void *data;
    char byte = 1;
    cudaIpcMemHandle_t handle;
    get(from, &handle, sizeof handle);
    CHECK(cudaIpcOpenMemHandle(&data, handle, cudaIpcMemLazyEnablePeerAccess));
    put(to, &byte, 1);
    bool other = met((int *)data, 2000000);
    CHECK(cudaIpcCloseMemHandle(data));
    put(to, &byte, 1);
    printf("opener: %sPASS\n", other ? "saw the owner's stores, " : "");
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return printf("usage: shared_memory own|open PIPE-TO-OPENER PIPE-TO-OWNER racy|fixed\n"), 2;
    bool owner = !strcmp(argv[1], "own");
    int down = open_pipe(argv[2], owner ? O_WRONLY : O_RDONLY), up = open_pipe(argv[3], owner ? O_RDONLY : O_WRONLY);
    return owner ? own(down, up, !strcmp(argv[4], "fixed")) : open_other(up, down);
}
