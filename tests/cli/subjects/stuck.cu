// SPDX-License-Identifier: Apache-2.0
// Kernels that wait for a flag, while something else may still set it, or nothing: stuck CASE prints how the synchronization ended. A
// block's first warp waits at a barrier, its second one polls.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <pthread.h>
#include <unistd.h>

static volatile int *flag; // in mapped memory
static cudaStream_t mine, other;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

__global__ void wait_for(volatile int *flag, int *out)
{
    if (threadIdx.x >= 32)
        while (*flag == 0) {
        }
    __syncthreads();
    out[threadIdx.x] = *flag;
}

static void *set_later(void *)
{
    usleep(400000); // long enough for the device to look
    *flag = 1;
    return NULL;
}

static void *wait_for_ever(void *)
{
    pthread_mutex_lock(&mutex);
    for (;;)
        pthread_cond_wait(&condition, &mutex);
    return NULL;
}

static void CUDART_CB function_that_sets(void *) { set_later(NULL); }
static void CUDART_CB function_that_sleeps(void *) { usleep(400000); }

// What else there is, before and after the kernel is launched. No copy may be pending that sets the flag without waiting: it would be
// done long before the device looks.
static void before(const char *what)
{
    static pthread_t thread;
    if (strcmp(what, "thread-sets") == 0)
        pthread_create(&thread, NULL, set_later, NULL);
    else if (strcmp(what, "thread-waits") == 0)
        pthread_create(&thread, NULL, wait_for_ever, NULL);
    else if (strcmp(what, "function-sets") == 0)
        cudaLaunchHostFunc(other, function_that_sets, NULL);
}

static void after(const char *what, int *out)
{
    static int one = 1, results[64];
    int *device_flag;
    cudaEvent_t behind;
    cudaHostGetDevicePointer((void **)&device_flag, (void *)flag, 0);
    cudaEventCreate(&behind);
    if (strcmp(what, "copy-behind-function") == 0) {
        cudaLaunchHostFunc(other, function_that_sleeps, NULL);
        cudaMemcpyAsync(device_flag, &one, sizeof one, cudaMemcpyDefault, other);
    } else if (strcmp(what, "copy-behind-kernel") == 0) {
        cudaMemcpyAsync(results, out, sizeof results, cudaMemcpyDeviceToHost, mine);
    } else if (strcmp(what, "copy-waits-for-kernel") == 0) {
        cudaEventRecord(behind, mine);
        cudaStreamWaitEvent(other, behind, 0);
        cudaMemcpyAsync(device_flag, &one, sizeof one, cudaMemcpyDefault, other);
    } else if (strcmp(what, "function-behind-kernel") == 0) {
        cudaLaunchHostFunc(mine, function_that_sets, NULL);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "alone";
    int *out, *device_flag;
    cudaHostAlloc((void **)&flag, sizeof *flag, cudaHostAllocMapped);
    *flag = 0;
    cudaHostGetDevicePointer((void **)&device_flag, (void *)flag, 0);
    cudaMalloc(&out, 64 * sizeof *out);
    cudaStreamCreateWithFlags(&mine, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    before(what);
    wait_for<<<1, 64, 0, mine>>>(device_flag, out);
    after(what, out);
    printf("%s\n", cudaGetErrorName(cudaStreamSynchronize(mine)));
    fflush(stdout);
    _exit(0); // a thread may wait for ever
}
