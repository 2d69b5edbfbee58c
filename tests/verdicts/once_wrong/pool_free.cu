// SPDX-License-Identifier: Apache-2.0
// cudaFree of memory of cudaMallocAsync returns at once, while a kernel uses the memory; and cudaMallocAsync in the legacy stream orders no other
// streams with each other. On an H100 both is so.
//
//     pool_free CASE
//
// running: the memory is freed while its kernel runs, queued: before it begins, copied: while a memset is under way. later: the host waits for the kernel behind the
// free. fixed: it waits before. beside: other work goes on all the while. sets: a kernel polls a flag that the host sets behind the free.
// gone: a kernel that is launched later uses the memory, while an earlier one still runs; behind: it comes after that one. That is a fault, as it
// is in order. twice: the second cudaFree is refused.
// alloc: a kernel in one blocking stream, cudaMallocAsync in the legacy one, and a kernel in another blocking stream, which reads what the first one
// wrote. memset: a memset in the legacy stream instead does order them. used: what was allocated so is used in the other stream, which comes after it.
//
// expect: exact,tracker -- running => races class "freed while in use"
// expect: exact -- fixed => clean
// expect: exact,tracker -- alloc => races
// expect: exact,tracker,collider -- used => clean
// expect: exact,tracker -- queued => races class "freed while in use" soak
// expect: exact,tracker -- later => races class "freed while in use" soak
// expect: exact -- copied => races class "freed while in use" soak
// expect: exact,tracker,collider -- fixed => clean soak
// expect: exact,tracker,collider -- beside => clean soak
// expect: exact,tracker -- sets => clean soak
// expect: exact,tracker -- memset => clean soak
// expect: exact,tracker -- twice => clean soak
// expect: exact,tracker -- gone => inconclusive says "illegal address" not "freed while in use" soak
// expect: exact,tracker -- behind => inconclusive says "illegal address" not "freed while in use" soak
#include "../../check.h"

constexpr int N = 64;

__global__ void fill(int *data)
{
    int sum = 0;
    for (int k = 0; k < 500; k++)
        sum += k ^ threadIdx.x;
    data[threadIdx.x] = sum;
}

__global__ void use(const int *data, int *out) { out[threadIdx.x] = data[threadIdx.x] + 1; }

__global__ void poll(int *flag, int *out)
{
    while (!atomicAdd_system(flag, 0))
        ;
    *out = 1;
}

static bool is(const char *a, const char *b) { return !strcmp(a, b); }

int main(int argc, char **argv)
{
    if (argc < 2)
        return 3;
    const char *what = argv[1];
    int *flag, *memory, *other_memory, *out, *data;
    cudaStream_t one, two, apart;
    CHECK(cudaStreamCreate(&one));
    CHECK(cudaStreamCreate(&two));
    CHECK(cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking));
    CHECK(cudaHostAlloc((void **)&flag, sizeof(int), 0));
    CHECK(cudaMalloc((void **)&out, N * sizeof(int)));
    CHECK(cudaMalloc((void **)&data, N * sizeof(int)));
    CHECK(cudaMallocAsync((void **)&memory, N * sizeof(int), one));
    CHECK(cudaMallocAsync((void **)&other_memory, N * sizeof(int), one));
    CHECK(cudaDeviceSynchronize());
    *flag = 0;
    if (is(what, "running") || is(what, "later") || is(what, "fixed") || is(what, "twice")) {
        fill<<<1, N, 0, one>>>(memory);
        if (is(what, "fixed") || is(what, "twice"))
            CHECK(cudaStreamSynchronize(one));
        CHECK(cudaFree(memory));
        if (is(what, "later"))
            CHECK(cudaStreamSynchronize(one));
        if (is(what, "twice")) {
            cudaError_t second = cudaFree(memory);
            if (second != cudaErrorInvalidValue)
                return 4;
        }
    } else if (is(what, "queued")) {
        poll<<<1, 1, 0, one>>>(flag, out);
        fill<<<1, N, 0, one>>>(memory);
        CHECK(cudaFree(memory));
        __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
    } else if (is(what, "copied")) {
        CHECK(cudaMemsetAsync(memory, 0, N * sizeof(int), one));
        CHECK(cudaFree(memory));
    } else if (is(what, "beside")) {
        fill<<<1, N, 0, one>>>(memory);
        CHECK(cudaStreamSynchronize(one));
        fill<<<1, N, 0, apart>>>(data);
        CHECK(cudaFree(memory));
        use<<<1, N, 0, apart>>>(data, out);
    } else if (is(what, "sets") || is(what, "gone") || is(what, "behind")) {
        poll<<<1, 1, 0, one>>>(flag, out);
        CHECK(cudaFree(memory));
        if (is(what, "gone")) {
            fill<<<1, N, 0, apart>>>(memory);
            if (cudaStreamSynchronize(apart) != cudaErrorIllegalAddress)
                return 4;
            return 0;
        }
        if (is(what, "behind")) {
            fill<<<1, N, 0, one>>>(memory);
            __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
            return cudaStreamSynchronize(one) == cudaErrorIllegalAddress ? 0 : 4;
        }
        fill<<<1, N, 0, apart>>>(other_memory);
        CHECK(cudaStreamSynchronize(apart));
        __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
    } else if (is(what, "alloc") || is(what, "memset")) {
        int *more = nullptr;
        fill<<<1, N, 0, one>>>(data);
        if (is(what, "alloc"))
            CHECK(cudaMallocAsync((void **)&more, 256, 0));
        else
            CHECK(cudaMemsetAsync(other_memory, 0, 4, 0));
        use<<<1, N, 0, two>>>(data, out);
    } else if (is(what, "used")) {
        int *more = nullptr;
        fill<<<1, N, 0, one>>>(data);
        CHECK(cudaMallocAsync((void **)&more, N * sizeof(int), 0));
        fill<<<1, N, 0, two>>>(more);
    } else {
        return 3;
    }
    CHECK(cudaDeviceSynchronize());
    puts("done");
}
