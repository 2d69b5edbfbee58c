// SPDX-License-Identifier: Apache-2.0
// What a host function stores to pinned or managed memory, against a kernel or a copy of another stream, before or after it; and what the
// program's thread reads behind a host function that has run.
//
//     host_function_touches WHAT ORDER [managed]
//
// WHAT: `kernel`, `copy`: in stream t, submitted after the host function of stream s; `kernel_before`, `copy_before`: before it; `host`: the
// program's thread reads what the kernel before the host function stored; `host_write`: it stores what the kernel behind the host function
// reads. ORDER as in host_functions.cu; `flag` of host_write: the host function polls it. `none` of what comes later is a race if the host
// function began after that, else a remark. What came before it is a race: nobody waited.
//
// expect: exact -- kernel none => races only "read-write race" marked or "different host threads would race"
// expect: exact -- kernel none managed => races only "read-write race" marked or "different host threads would race" soak
// expect: exact -- copy none => races only "read-write race" marked or "different host threads would race"
// expect: exact -- copy none managed => races only "read-write race" marked or "different host threads would race" soak
// expect: exact -- kernel flag => clean says "1 pair of accesses by the work of different host threads would race"
// expect: exact -- copy flag => clean says "1 pair of accesses by the work of different host threads would race"
// expect: exact -- copy flag managed => clean says "1 pair of accesses by the work of different host threads would race" soak
// expect: exact -- kernel stream => clean lacks "different host threads"
// expect: exact -- kernel event => clean lacks "different host threads"
// expect: exact -- kernel condition => clean lacks "different host threads"
// expect: exact -- copy stream => clean lacks "different host threads" soak
// expect: exact -- copy event => clean lacks "different host threads" soak
// expect: exact -- copy condition => clean lacks "different host threads" soak
// expect: exact -- kernel event managed => clean lacks "different host threads" soak
// expect: exact -- kernel_before none => races only "read-write race" marked
// expect: exact -- copy_before none => races only "read-write race" marked
// expect: exact -- kernel_before stream => clean lacks "different host threads" soak
// expect: exact -- copy_before event => clean lacks "different host threads" soak
// expect: exact -- host none => races only "read-write race" marked or "different host threads would race"
// expect: exact -- host stream => clean lacks "different host threads"
// expect: exact -- host condition => clean lacks "different host threads" soak
// expect: exact -- host flag => clean soak
// expect: exact -- host_write none => races only "read-write race" marked or "different host threads would race"
// expect: exact -- host_write flag => clean says "1 pair of accesses by the work of different host threads would race"
// expect: exact -- host_write stream => clean lacks "different host threads"
#include "../../check.h"

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>

__global__ void store(int *a, int v) { a[threadIdx.x] = v; } //@R
__global__ void use(const int *p, int *a) { a[threadIdx.x] = p[threadIdx.x]; } //@R

static std::atomic<int> flag{0};
static bool told;
static std::mutex guard;
static std::condition_variable changed;
static cudaStream_t s, t;
static int *p; // the host function's

static void polls(void *)
{
    while (!flag)
        ;
}

static void host_function(void *data)
{
    if (data)
        for (int k = 0; k < 32; k++)
            p[k] = k; //@R
    flag = 1;
    std::lock_guard<std::mutex> hold(guard);
    told = true;
    changed.notify_one();
}

static void put_in_order(const char *order, cudaStream_t from, cudaStream_t to)
{
    cudaEvent_t e;
    if (!strcmp(order, "stream")) {
        CHECK(cudaStreamSynchronize(from));
    } else if (!strcmp(order, "event")) {
        CHECK(cudaEventCreate(&e));
        CHECK(cudaEventRecord(e, from));
        CHECK(cudaStreamWaitEvent(to, e, 0));
    } else if (!strcmp(order, "condition")) {
        std::unique_lock<std::mutex> hold(guard);
        changed.wait(hold, [] { return told; });
    } else if (!strcmp(order, "flag")) {
        while (!flag)
            ;
    }
}

static void other(const char *what, int *a)
{
    if (!strncmp(what, "kernel", 6))
        use<<<1, 32, 0, t>>>(p, a);
    else
        CHECK(cudaMemcpyAsync(a, p, 128, cudaMemcpyDefault, t)); //@R
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 3;
    const char *what = argv[1], *order = argv[2];
    int *a, sum = 0;
    CHECK(cudaMalloc(&a, 256));
    if (argc > 3)
        CHECK(cudaMallocManaged(&p, 128));
    else
        CHECK(cudaMallocHost(&p, 128));
    CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    if (strstr(what, "before")) {
        other(what, a + 32);
        put_in_order(order, t, s);
    }
    if (!strcmp(what, "host_write")) {
        if (!strcmp(order, "stream"))
            p[5] = 5;
        store<<<1, 32, 0, s>>>(a, 1);
        CHECK(cudaLaunchHostFunc(s, strcmp(order, "flag") ? host_function : polls, nullptr));
        use<<<1, 32, 0, s>>>(p, a);
        if (strcmp(order, "stream"))
            p[5] = 5; //@R
        flag = 1;
        CHECK(cudaDeviceSynchronize());
        return 0;
    }
    store<<<1, 32, 0, s>>>(strcmp(what, "host") ? a : p, 1);
    CHECK(cudaLaunchHostFunc(s, host_function, strcmp(what, "host") ? p : nullptr));
    if (!strcmp(what, "host")) {
        put_in_order(order, s, t);
        sum = p[5]; //@R
    } else if (!strstr(what, "before")) {
        put_in_order(order, s, t);
        other(what, a + 32);
    }
    CHECK(cudaDeviceSynchronize());
    printf("%d\n", sum);
}
