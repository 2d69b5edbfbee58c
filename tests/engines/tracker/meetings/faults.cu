// SPDX-License-Identifier: Apache-2.0
// faults WORD...: does what each word says, one after the other, and prints what CUDA said of it. For test_faults.py: what the tracker
// reports when something goes wrong besides a race.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>

void launch_without_ptx(int *p); // faults_part.cu

__global__ void racy(int *p) { p[0] = (int)threadIdx.x; } // RACY

__global__ void quiet(int *p) { p[blockIdx.x * blockDim.x + threadIdx.x] += 1; }

// What comes first races; then the kernel fails.
__global__ void traps(int *p)
{
    p[0] = (int)threadIdx.x; // BEFORE TRAP
    __syncthreads();
    if (threadIdx.x == 0)
        __trap();
}

__global__ void illegal(int *p, int *wrong)
{
    p[0] = (int)threadIdx.x; // BEFORE ILLEGAL
    __syncthreads();
    if (threadIdx.x == 0)
        *wrong = 1;
}

// Both have memory of their own: nothing races.
__global__ void both(int *p, int *q)
{
    p[threadIdx.x] += 1;
    q[threadIdx.x] += 1;
}

__global__ void touch(char *p, size_t step) { p[step * threadIdx.x] = 1; }

// The threads write the same place of a far part of the memory.
__global__ void far(char *p, size_t at) { *(int *)(p + at) = (int)threadIdx.x; } // FAR

static const int N = 64;

static void say(const char *what)
{
    cudaError_t done = cudaDeviceSynchronize(), last = cudaGetLastError();
    printf("%s: %s\n", what, cudaGetErrorName(done != cudaSuccess ? done : last));
}

static int *memory(size_t bytes = 4096)
{
    int *p = nullptr;
    if (cudaMalloc(&p, bytes) == cudaSuccess)
        cudaMemset(p, 0, bytes < 4096 ? bytes : 4096);
    return p;
}

template <typename F> static F driver(F, const char *name)
{
    static void *library = dlopen("libcuda.so.1", RTLD_NOW);
    return (F)dlsym(library, name);
}

// A kernel in each of two contexts of one device; each race is in memory of its context.
static void contexts(void)
{
    int *p = memory();
    racy<<<1, N>>>(p);
    say("first context");
    CUcontext own = nullptr;
    auto create = driver((CUresult(*)(CUcontext *, unsigned, CUdevice))nullptr, "cuCtxCreate_v2");
    auto destroy = driver((CUresult(*)(CUcontext))nullptr, "cuCtxDestroy_v2");
    auto set = driver((CUresult(*)(CUcontext))nullptr, "cuCtxSetCurrent");
    auto get = driver((CUresult(*)(CUcontext *))nullptr, "cuCtxGetCurrent");
    CUcontext before = nullptr;
    get(&before);
    if (create(&own, 0, 0) != CUDA_SUCCESS)
        exit(3);
    int *q = memory();
    racy<<<1, N>>>(q);
    quiet<<<1, N>>>(q);
    say("second context");
    set(before);
    quiet<<<1, N>>>(p);
    say("first context again");
    destroy(own);
    racy<<<1, N>>>(p);
    say("first context at last");
}

// Two devices; then memory of the first one, used by the second one as well.
static void devices(bool peers)
{
    int *p = memory();
    racy<<<1, N>>>(p);
    say("first device");
    if (cudaSetDevice(1) != cudaSuccess)
        exit(4);
    int *q = memory();
    racy<<<1, N>>>(q);
    quiet<<<1, N>>>(q);
    say("second device");
    if (peers) {
        cudaDeviceEnablePeerAccess(0, 0);
        racy<<<1, N>>>(p);
        say("peer");
        int *m = nullptr;
        cudaMallocManaged(&m, 4096);
        racy<<<1, N>>>(m);
        say("managed, second device");
        cudaSetDevice(0);
        racy<<<1, N>>>(m);
        say("managed, first device");
    }
    cudaSetDevice(0);
}

// The most that the process had in memory, with all that the tool keeps in it.
static void say_resident(void)
{
    char line[256];
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, "VmHWM:", 6))
            printf("resident %ld KiB\n", atol(line + 6));
    if (f)
        fclose(f);
}

static void many(int n)
{
    int *p = memory();
    for (int k = 0; k < n; k++)
        quiet<<<1, N>>>(p);
    say("many");
    say_resident();
}

static void big(int percent)
{
    size_t free_bytes = 0, total = 0;
    cudaMemGetInfo(&free_bytes, &total);
    size_t bytes = total / 100 * (size_t)percent & ~(size_t)4095;
    char *p = (char *)memory(bytes);
    printf("big: %s\n", p ? "allocated" : "no memory");
    if (!p)
        return;
    touch<<<1, N>>>(p, bytes / N);
    say("touch");
    far<<<1, N>>>(p, bytes - 64);
    say("far");
    cudaFree(p);
}

int main(int argc, char **argv)
{
    for (int k = 1; k < argc; k++) {
        const char *w = argv[k];
        int *p = memory();
        if (!strcmp(w, "racy")) {
            racy<<<1, N>>>(p);
            say(w);
        } else if (!strcmp(w, "quiet")) {
            quiet<<<1, N>>>(p);
            say(w);
        } else if (!strcmp(w, "no_ptx")) {
            launch_without_ptx(p);
            say(w);
        } else if (!strcmp(w, "traps")) {
            traps<<<1, N>>>(p);
            say(w);
        } else if (!strcmp(w, "illegal")) {
            illegal<<<1, N>>>(p, p + (1 << 26));
            say(w);
        } else if (!strcmp(w, "wide")) { // with memory that the tool has no room for
            int *q = memory((size_t)8 << 20);
            both<<<1, N>>>(p, q + (1 << 20));
            racy<<<1, N>>>(p);
            say(w);
        } else if (!strcmp(w, "reset")) {
            printf("reset: %s\n", cudaGetErrorName(cudaDeviceReset()));
        } else if (!strcmp(w, "contexts")) {
            contexts();
        } else if (!strcmp(w, "devices") || !strcmp(w, "peers")) {
            devices(*w == 'p');
        } else if (!strncmp(w, "many=", 5)) {
            many(atoi(w + 5));
        } else if (!strncmp(w, "big=", 4)) {
            big(atoi(w + 4));
        }
    }
    return 0;
}
