// SPDX-License-Identifier: Apache-2.0
// A kernel runs in a stream of its own. The program waits by a call that names the legacy default stream, in which nothing was submitted, and
// then reads what the kernel wrote: on the host, or by a kernel in a stream that waits for nothing.
//
//     host_waits CALL STREAM READER
//
// STREAM: `blocking` or `thread` (the per-thread default stream): such streams are waited for. `apart` (cudaStreamNonBlocking): not, so there
// is a race. `legacy`: the default stream itself: waiting for a blocking stream (`other`) does not wait for it, as a GPU shows, so there is a
// race. An asynchronous copy from pageable memory waits for nothing in any stream.
//
// expect: exact -- synchronize blocking host => clean
// expect: exact -- synchronize apart host => races
// expect: exact,tracker -- copy blocking kernel => clean
// expect: exact,tracker -- copy apart kernel => races
// expect: exact,tracker,collider -- synchronize blocking kernel => clean soak
// expect: exact,tracker -- synchronize apart kernel => races soak
// expect: exact,tracker -- synchronize thread kernel => clean soak
// expect: exact -- synchronize thread host => clean soak
// expect: exact -- query blocking host => clean soak
// expect: exact -- query apart host => races soak
// expect: exact,tracker -- query blocking kernel => clean soak
// expect: exact,tracker -- query apart kernel => races soak
// expect: exact -- copy blocking host => clean soak
// expect: exact -- copy apart host => races soak
// expect: exact,tracker -- symbol blocking kernel => clean soak
// expect: exact,tracker -- symbol apart kernel => races soak
// expect: exact -- rows blocking host => clean soak
// expect: exact -- rows apart host => races soak
// expect: exact -- event blocking host => clean soak
// expect: exact -- event apart host => races soak
// expect: exact,tracker -- async blocking kernel => races soak
// expect: exact -- async blocking host => races soak
// expect: exact,tracker -- other legacy kernel => races soak
// expect: exact -- other legacy host => races soak
// expect: exact,tracker -- other blocking kernel => races soak
// expect: exact -- other blocking host => races soak
//
// What no text of CUDA's decides is as on an H100. Copies between host memory, memsets of memory that the host uses, too, cudaHostUnregister and
// cudaFree of ordinary memory wait; a copy between devices that are one, cudaHostRegister, cudaMemPoolTrimTo, and cudaFree of memory of
// cudaMallocAsync do not.
//
// expect: exact -- host_copy blocking host => clean soak
// expect: exact,tracker -- host_copy blocking kernel => clean soak
// expect: exact,tracker -- host_copy apart kernel => races soak
// expect: exact -- memset_pinned blocking host => clean soak
// expect: exact,tracker -- memset_pinned blocking kernel => clean soak
// expect: exact,tracker -- memset_pinned apart kernel => races soak
// expect: exact -- memset_managed blocking host => clean soak
// expect: exact,tracker -- memset_managed blocking kernel => clean soak
// expect: exact,tracker -- memset_managed apart kernel => races soak
// expect: exact,tracker -- memset_device blocking kernel => races soak
// expect: exact -- from_managed blocking host => clean soak
// expect: exact,tracker -- from_managed blocking kernel => clean soak
// expect: exact,tracker -- from_managed apart kernel => races soak
// expect: exact,tracker -- peer blocking kernel => races soak
// expect: exact -- unregister apart host => clean soak
// expect: exact,tracker -- unregister apart kernel => clean soak
// expect: exact,tracker -- register blocking kernel => races soak
// expect: exact,tracker -- trim blocking kernel => races soak
// expect: exact -- free apart host => clean soak
// expect: exact,tracker -- free apart kernel => clean soak
// expect: exact -- free_pool blocking host => races soak
// expect: exact,tracker -- free_pool blocking kernel => races soak
#include "../../check.h"

__device__ int symbol;

__global__ void fill(int *data)
{
    int sum = 0;
    for (int k = 0; k < 2000; k++)
        sum += k ^ threadIdx.x;
    data[threadIdx.x] = sum;
}

__global__ void use(const int *data, int *out) { out[threadIdx.x] = data[threadIdx.x] + 1; }

static int *pinned, *managed, *registered, *plain, *pool;
static void *page;

// What the calls need; none of it is under way later.
static void prepare()
{
    page = aligned_alloc(4096, 8192);
    CHECK(cudaHostAlloc((void **)&pinned, 256, 0));
    CHECK(cudaMallocManaged((void **)&managed, 256));
    CHECK(cudaMalloc((void **)&plain, 256));
    CHECK(cudaMallocAsync((void **)&pool, 256, 0));
    registered = (int *)((char *)page + 4096);
    CHECK(cudaHostRegister(registered, 4096, 0));
    CHECK(cudaDeviceSynchronize());
}

// Waits for the kernel, or not, in one of these ways.
static void wait(const char *call, int *device, int *pageable, cudaStream_t other)
{
    if (!strcmp(call, "synchronize")) {
        CHECK(cudaStreamSynchronize(0));
    } else if (!strcmp(call, "query")) {
        cudaError_t e;
        while ((e = cudaStreamQuery(0)) == cudaErrorNotReady)
            ;
        CHECK(e);
    } else if (!strcmp(call, "copy")) {
        CHECK(cudaMemcpy(device, pageable, 4, cudaMemcpyHostToDevice));
    } else if (!strcmp(call, "symbol")) {
        CHECK(cudaMemcpyToSymbol(symbol, pageable, 4));
    } else if (!strcmp(call, "rows")) {
        CHECK(cudaMemcpy2D(device, 32, pageable, 32, 16, 4, cudaMemcpyHostToDevice));
    } else if (!strcmp(call, "event")) {
        cudaEvent_t e;
        CHECK(cudaEventCreate(&e));
        CHECK(cudaEventRecord(e, 0));
        CHECK(cudaEventSynchronize(e));
    } else if (!strcmp(call, "async")) {
        CHECK(cudaMemcpyAsync(device, pageable, 4, cudaMemcpyHostToDevice, 0));
    } else if (!strcmp(call, "other")) {
        CHECK(cudaStreamSynchronize(other));
    } else if (!strcmp(call, "host_copy")) {
        CHECK(cudaMemcpy(pageable + 32, pageable, 4, cudaMemcpyHostToHost));
    } else if (!strcmp(call, "memset_pinned")) {
        CHECK(cudaMemset(pinned, 0, 4));
    } else if (!strcmp(call, "memset_managed")) {
        CHECK(cudaMemset(managed, 0, 4));
    } else if (!strcmp(call, "memset_device")) {
        CHECK(cudaMemset(device, 0, 4));
    } else if (!strcmp(call, "from_managed")) {
        CHECK(cudaMemcpy(device, managed, 4, cudaMemcpyDefault));
    } else if (!strcmp(call, "peer")) {
        CHECK(cudaMemcpyPeer(device, 0, plain, 0, 4));
    } else if (!strcmp(call, "register")) {
        CHECK(cudaHostRegister(page, 4096, 0));
    } else if (!strcmp(call, "unregister")) {
        CHECK(cudaHostUnregister(registered));
    } else if (!strcmp(call, "trim")) {
        cudaMemPool_t p;
        CHECK(cudaDeviceGetDefaultMemPool(&p, 0));
        CHECK(cudaMemPoolTrimTo(p, 0));
    } else if (!strcmp(call, "free")) {
        CHECK(cudaFree(plain));
    } else if (!strcmp(call, "free_pool")) {
        CHECK(cudaFree(pool));
    } else {
        exit(3);
    }
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 3;
    int *data, *out, *device, *pageable = (int *)calloc(64, sizeof(int)), sum = 0;
    cudaStream_t stream = cudaStreamPerThread, other, reader;
    CHECK(cudaHostAlloc((void **)&data, 64 * sizeof(int), 0));
    CHECK(cudaMalloc((void **)&out, 64 * sizeof(int)));
    CHECK(cudaMalloc((void **)&device, 64 * sizeof(int)));
    if (!strcmp(argv[2], "legacy"))
        stream = cudaStreamLegacy;
    else if (strcmp(argv[2], "thread"))
        CHECK(cudaStreamCreateWithFlags(&stream, strcmp(argv[2], "apart") ? cudaStreamDefault : cudaStreamNonBlocking));
    CHECK(cudaStreamCreate(&other));
    CHECK(cudaStreamCreateWithFlags(&reader, cudaStreamNonBlocking));
    prepare();
    fill<<<1, 64, 0, stream>>>(data);
    wait(argv[1], device, pageable, other);
    if (!strcmp(argv[3], "host"))
        for (int k = 0; k < 64; k++)
            sum += data[k];
    else
        use<<<1, 64, 0, reader>>>(data, out);
    CHECK(cudaDeviceSynchronize());
    printf("%d\n", sum);
}
