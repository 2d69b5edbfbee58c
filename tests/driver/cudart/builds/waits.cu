// SPDX-License-Identifier: Apache-2.0
// Which calls wait for a kernel that runs in another place: a row for each call, a column for each kind of stream in which the kernel runs.
// "waits": the kernel is over when the call returns (a query: when it answers that all is over; else: when what is submitted begins). "returns": it is not.
// waits.expected is what the CPU device and an H100 must print.
//
//     nvcc -std=c++17 -arch=sm_90 -o waits waits.cu && ./waits
//
// The kernel polls a word of pinned memory, and ends by itself after some 100 ms of a GPU's time. After a call that returned it is released. So
// nothing depends on the host's time.
// EXPECTED: waits.expected
#include "../../../check.h"

// As compiled with -default-stream per-thread.
extern "C" {
cudaError_t CUDARTAPI cudaStreamSynchronize_ptsz(cudaStream_t stream);
cudaError_t CUDARTAPI cudaStreamQuery_ptsz(cudaStream_t stream);
cudaError_t CUDARTAPI cudaMemcpy_ptds(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind);
cudaError_t CUDARTAPI cudaMemcpyAsync_ptsz(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind, cudaStream_t stream);
}

constexpr unsigned TURNS = 20000;            // of the kernel that is waited for; 5 us of a GPU each
constexpr size_t SMALL = 4, LARGE = 4 << 20; // bytes
constexpr size_t PITCH = 512, ROWS = 8;

// In pinned memory.
struct Box {
    unsigned released, over;
    unsigned seen; // `over`, when what was submitted behind the kernel began
};
static volatile Box *box;

__global__ void hold(volatile Box *b)
{
    for (unsigned k = 0; k < TURNS && !b->released; k++)
        __nanosleep(4000);
    b->over = 1;
}

__global__ void look(volatile Box *b) { b->seen = b->over; }
static void look_on_host(void *) { box->seen = box->over; }

// What the calls use. `kernel`: where the kernel runs; `other`, `apart`: a blocking and a non-blocking stream where it does not.
static cudaStream_t kernel, other, apart;
static cudaEvent_t event, idle_event;
static char *pageable, *pinned, *managed, *device, *device2;
static void *victim;
__device__ char symbol[LARGE];

static void prepare_event() { CHECK(cudaEventRecord(event, kernel)); }
static void prepare_pool_memory() { CHECK(cudaMallocAsync(&victim, LARGE, other)); CHECK(cudaStreamSynchronize(other)); }

// Asks until the answer is that the work has ended.
static void ask(cudaError_t (*query)())
{
    cudaError_t e;
    while ((e = query()) == cudaErrorNotReady)
        ;
    CHECK(e);
}

static void copy_2d(void *to, const void *from, cudaMemcpyKind kind) { CHECK(cudaMemcpy2D(to, PITCH, from, PITCH, 100, ROWS, kind)); }
static void copy_3d(void *to, const void *from, cudaMemcpyKind kind)
{
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr(const_cast<void *>(from), PITCH, 100, ROWS);
    p.dstPtr = make_cudaPitchedPtr(to, PITCH, 100, ROWS);
    p.extent = make_cudaExtent(100, ROWS, 2);
    p.kind = kind;
    CHECK(cudaMemcpy3D(&p));
}

// Submits a kernel that looks whether the first one is over, behind what was submitted to the stream.
static void look_in(cudaStream_t s)
{
    look<<<1, 1, 0, s>>>(box);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(s));
}

enum Kind { CALL, ORDER }; // what is looked at: when the call returns, when what it submits begins

struct Row {
    const char *name;
    Kind kind;
    void (*call)();
    void (*before)(); // the kernel is launched
    void (*behind)(); // the kernel has been launched
    void (*after)();
};

#define DO(...) [] { __VA_ARGS__; }
#define H2D cudaMemcpyHostToDevice
#define D2H cudaMemcpyDeviceToHost
#define D2D cudaMemcpyDeviceToDevice
#define MALLOC DO(CHECK(cudaMalloc(&victim, LARGE)))
#define FREE   DO(CHECK(cudaFree(victim)))

static const Row rows[] = {
    // Who waits for the legacy stream waits for blocking streams, whether or not it has work of its own. Who waits for a blocking stream does not wait for the legacy one.
    {"cudaStreamSynchronize(0)", CALL, DO(CHECK(cudaStreamSynchronize(0)))},
    {"cudaStreamSynchronize(cudaStreamLegacy)", CALL, DO(CHECK(cudaStreamSynchronize(cudaStreamLegacy)))},
    {"cudaStreamSynchronize(0) behind a memset in it", CALL, DO(CHECK(cudaMemsetAsync(device, 0, SMALL, 0)); CHECK(cudaStreamSynchronize(0)))},
    {"cudaStreamQuery(0)", CALL, DO(ask([] { return cudaStreamQuery(0); }))},
    {"cudaStreamQuery(cudaStreamLegacy)", CALL, DO(ask([] { return cudaStreamQuery(cudaStreamLegacy); }))},
    {"cudaEventSynchronize of a record in the legacy stream", CALL, DO(CHECK(cudaEventRecord(event, 0)); CHECK(cudaEventSynchronize(event)))},
    {"cudaEventQuery of a record in the legacy stream", CALL, DO(CHECK(cudaEventRecord(event, 0)); ask([] { return cudaEventQuery(event); }))},
    {"a host function in the legacy stream", ORDER, DO(CHECK(cudaLaunchHostFunc(0, look_on_host, nullptr)); CHECK(cudaStreamSynchronize(0)))},
    {"a kernel in the legacy stream", ORDER, DO(look_in(0))},
    {"a kernel in another blocking stream", ORDER, DO(look_in(other))},
    {"a kernel in another blocking stream, behind a memset in the legacy one", ORDER, DO(CHECK(cudaMemsetAsync(device, 0, SMALL, 0)); look_in(other))},
    {"a kernel in another blocking stream, behind cudaStreamWaitEvent in the legacy one", ORDER,
     DO(CHECK(cudaStreamWaitEvent(0, idle_event, 0)); look_in(other))},
    {"a kernel in a non-blocking stream, behind a memset in the legacy one", ORDER, DO(CHECK(cudaMemsetAsync(device, 0, SMALL, 0)); look_in(apart))},
    // Other streams, and events.
    {"cudaStreamSynchronize(the kernel's stream)", CALL, DO(CHECK(cudaStreamSynchronize(kernel)))},
    {"cudaStreamQuery(the kernel's stream)", CALL, DO(ask([] { return cudaStreamQuery(kernel); }))},
    {"cudaStreamSynchronize(another blocking stream)", CALL, DO(CHECK(cudaStreamSynchronize(other)))},
    {"cudaStreamQuery(another blocking stream)", CALL, DO(ask([] { return cudaStreamQuery(other); }))},
    {"cudaStreamSynchronize(a non-blocking stream)", CALL, DO(CHECK(cudaStreamSynchronize(apart)))},
    {"cudaEventSynchronize of a record behind the kernel", CALL, DO(CHECK(cudaEventSynchronize(event))), nullptr, prepare_event},
    {"cudaEventQuery of a record behind the kernel", CALL, DO(ask([] { return cudaEventQuery(event); })), nullptr, prepare_event},
    {"cudaEventSynchronize of a record in another blocking stream", CALL, DO(CHECK(cudaEventRecord(event, other)); CHECK(cudaEventSynchronize(event)))},
    {"cudaDeviceSynchronize", CALL, DO(CHECK(cudaDeviceSynchronize()))},
    // The per-thread default stream.
    {"per-thread: cudaStreamSynchronize(0)", CALL, DO(CHECK(cudaStreamSynchronize_ptsz(0)))},
    {"per-thread: cudaStreamSynchronize(cudaStreamLegacy)", CALL, DO(CHECK(cudaStreamSynchronize_ptsz(cudaStreamLegacy)))},
    {"per-thread: cudaStreamQuery(0)", CALL, DO(ask([] { return cudaStreamQuery_ptsz(0); }))},
    {"per-thread: cudaMemcpy host to device, pageable", CALL, DO(CHECK(cudaMemcpy_ptds(device, pageable, SMALL, H2D)))},
    {"per-thread: cudaMemcpy host to device, pinned", CALL, DO(CHECK(cudaMemcpy_ptds(device, pinned, SMALL, H2D)))},
    {"per-thread: cudaMemcpy device to host, pageable", CALL, DO(CHECK(cudaMemcpy_ptds(pageable, device, SMALL, D2H)))},
    {"per-thread: cudaMemcpyAsync device to host, pinned", CALL, DO(CHECK(cudaMemcpyAsync_ptsz(pinned, device, SMALL, D2H, 0)))},
    // Copies in the legacy stream. From pageable memory a stream synchronization comes before the copy.
    {"cudaMemcpy host to device, pageable, 4 bytes", CALL, DO(CHECK(cudaMemcpy(device, pageable, SMALL, H2D)))},
    {"cudaMemcpy host to device, pageable, 4 MB", CALL, DO(CHECK(cudaMemcpy(device, pageable, LARGE, H2D)))},
    {"cudaMemcpy host to device, pageable, direction by default", CALL, DO(CHECK(cudaMemcpy(device, pageable, SMALL, cudaMemcpyDefault)))},
    {"cudaMemcpy host to device, pinned, 4 bytes", CALL, DO(CHECK(cudaMemcpy(device, pinned, SMALL, H2D)))},
    {"cudaMemcpy host to device, pinned, 1 MB", CALL, DO(CHECK(cudaMemcpy(device, pinned, 1 << 20, H2D)))},
    {"cudaMemcpy device to host, pageable", CALL, DO(CHECK(cudaMemcpy(pageable, device, SMALL, D2H)))},
    {"cudaMemcpy device to host, pinned", CALL, DO(CHECK(cudaMemcpy(pinned, device, SMALL, D2H)))},
    {"cudaMemcpy device to device", CALL, DO(CHECK(cudaMemcpy(device2, device, SMALL, D2D)))},
    {"cudaMemcpyToSymbol, pageable", CALL, DO(CHECK(cudaMemcpyToSymbol(symbol, pageable, SMALL)))},
    {"cudaMemcpyFromSymbol, pageable", CALL, DO(CHECK(cudaMemcpyFromSymbol(pageable, symbol, SMALL)))},
    {"cudaMemcpy2D host to device, pageable", CALL, DO(copy_2d(device, pageable, H2D))},
    {"cudaMemcpy2D device to host, pageable", CALL, DO(copy_2d(pageable, device, D2H))},
    {"cudaMemcpy2D device to device", CALL, DO(copy_2d(device2, device, D2D))},
    {"cudaMemcpy3D host to device, pageable", CALL, DO(copy_3d(device, pageable, H2D))},
    {"cudaMemcpy3D device to host, pageable", CALL, DO(copy_3d(pageable, device, D2H))},
    {"cudaMemset, device memory", CALL, DO(CHECK(cudaMemset(device, 0, SMALL)))},
    // Asynchronous copies.
    {"cudaMemcpyAsync host to device, pageable, 4 bytes, the kernel's stream", CALL, DO(CHECK(cudaMemcpyAsync(device, pageable, SMALL, H2D, kernel)))},
    {"cudaMemcpyAsync host to device, pageable, 1 MB, the kernel's stream", CALL, DO(CHECK(cudaMemcpyAsync(device, pageable, 1 << 20, H2D, kernel)))},
    {"cudaMemcpyAsync host to device, pageable, 4 bytes, the legacy stream", CALL, DO(CHECK(cudaMemcpyAsync(device, pageable, SMALL, H2D, 0)))},
    {"cudaMemcpyAsync host to device, pinned, the kernel's stream", CALL, DO(CHECK(cudaMemcpyAsync(device, pinned, SMALL, H2D, kernel)))},
    {"cudaMemcpyAsync device to host, pageable, the kernel's stream", CALL, DO(CHECK(cudaMemcpyAsync(pageable, device, SMALL, D2H, kernel)))},
    {"cudaMemcpyAsync device to host, pageable, the legacy stream", CALL, DO(CHECK(cudaMemcpyAsync(pageable, device, SMALL, D2H, 0)))},
    {"cudaMemcpyAsync device to host, pageable, another blocking stream", CALL, DO(CHECK(cudaMemcpyAsync(pageable, device, SMALL, D2H, other)))},
    {"cudaMemcpyAsync device to host, pageable, a non-blocking stream", CALL, DO(CHECK(cudaMemcpyAsync(pageable, device, SMALL, D2H, apart)))},
    {"cudaMemcpyAsync device to host, pinned, the kernel's stream", CALL, DO(CHECK(cudaMemcpyAsync(pinned, device, SMALL, D2H, kernel)))},
    {"cudaMemcpyAsync device to device, the kernel's stream", CALL, DO(CHECK(cudaMemcpyAsync(device2, device, SMALL, D2D, kernel)))},
    {"cudaMemsetAsync, the kernel's stream", CALL, DO(CHECK(cudaMemsetAsync(device, 0, SMALL, kernel)))},
    {"cudaLaunchHostFunc, the kernel's stream", CALL, DO(CHECK(cudaLaunchHostFunc(kernel, look_on_host, nullptr)))},
    // Memory.
    {"cudaMalloc", CALL, MALLOC, nullptr, nullptr, FREE},
    {"cudaHostAlloc", CALL, DO(CHECK(cudaHostAlloc(&victim, 4096, 0))), nullptr, nullptr, DO(CHECK(cudaFreeHost(victim)))},
    {"cudaMallocManaged", CALL, DO(CHECK(cudaMallocManaged(&victim, 4096))), nullptr, nullptr, FREE},
    {"cudaMallocAsync, another blocking stream", CALL, DO(CHECK(cudaMallocAsync(&victim, 4096, other))), nullptr, nullptr, FREE},
    {"cudaFree, device memory", CALL, FREE, MALLOC},
    {"cudaFree, managed memory", CALL, FREE, DO(CHECK(cudaMallocManaged(&victim, 4096)))},
    {"cudaFreeHost", CALL, DO(CHECK(cudaFreeHost(victim))), DO(CHECK(cudaHostAlloc(&victim, 4096, 0)))},
    {"cudaHostRegister and cudaHostUnregister", CALL, DO(CHECK(cudaHostRegister(pageable, 4096, 0)); CHECK(cudaHostUnregister(pageable)))},
    {"cudaFreeAsync, another blocking stream", CALL, DO(CHECK(cudaFreeAsync(victim, other))), prepare_pool_memory},
    // What makes and ends streams and events, and settings.
    {"cudaStreamCreate and cudaStreamDestroy", CALL, DO(cudaStream_t s; CHECK(cudaStreamCreate(&s)); CHECK(cudaStreamDestroy(s)))},
    {"cudaEventCreate and cudaEventDestroy", CALL, DO(cudaEvent_t e; CHECK(cudaEventCreate(&e)); CHECK(cudaEventDestroy(e)))},
    {"cudaFuncSetAttribute", CALL, DO(CHECK(cudaFuncSetAttribute(look, cudaFuncAttributeMaxDynamicSharedMemorySize, 4096)))},
    // What no text of CUDA's decides.
    {"a kernel in another blocking stream, behind cudaEventRecord in the legacy one", ORDER, DO(CHECK(cudaEventRecord(event, 0)); look_in(other))},
    {"a kernel in another blocking stream, behind cudaMallocAsync in the legacy one", ORDER, DO(CHECK(cudaMallocAsync(&victim, 4096, 0)); look_in(other)),
     nullptr, nullptr, FREE},
    {"cudaMemcpy host to host, pageable", CALL, DO(CHECK(cudaMemcpy(pageable + 64, pageable, SMALL, cudaMemcpyHostToHost)))},
    {"cudaMemcpy host to host, pinned", CALL, DO(CHECK(cudaMemcpy(pinned + 64, pinned, SMALL, cudaMemcpyHostToHost)))},
    {"cudaMemcpyAsync host to host, pageable, the kernel's stream", CALL,
     DO(CHECK(cudaMemcpyAsync(pageable + 64, pageable, SMALL, cudaMemcpyHostToHost, kernel)))},
    {"cudaMemcpyAsync host to host, pinned, the kernel's stream", CALL, DO(CHECK(cudaMemcpyAsync(pinned + 64, pinned, SMALL, cudaMemcpyHostToHost, kernel)))},
    {"cudaMemcpy from pageable to managed memory", CALL, DO(CHECK(cudaMemcpy(managed, pageable, SMALL, cudaMemcpyDefault)))},
    {"cudaMemcpy from managed to device memory", CALL, DO(CHECK(cudaMemcpy(device, managed, SMALL, cudaMemcpyDefault)))},
    {"cudaMemcpyAsync from device to managed memory, the kernel's stream", CALL, DO(CHECK(cudaMemcpyAsync(managed, device, SMALL, cudaMemcpyDefault, kernel)))},
    {"cudaMemset, managed memory", CALL, DO(CHECK(cudaMemset(managed, 0, SMALL)))},
    {"cudaMemset, pinned memory", CALL, DO(CHECK(cudaMemset(pinned, 0, SMALL)))},
    {"cudaMemcpyPeer on one device", CALL, DO(CHECK(cudaMemcpyPeer(device2, 0, device, 0, SMALL)))},
    {"cudaHostRegister", CALL, DO(CHECK(cudaHostRegister(pageable, 4096, 0))), nullptr, nullptr, DO(CHECK(cudaHostUnregister(pageable)))},
    {"cudaHostUnregister", CALL, DO(CHECK(cudaHostUnregister(pageable))), DO(CHECK(cudaHostRegister(pageable, 4096, 0)))},
    {"cudaFree of memory of cudaMallocAsync", CALL, FREE, prepare_pool_memory},
    {"cudaMemPoolTrimTo", CALL, DO(cudaMemPool_t p; CHECK(cudaDeviceGetDefaultMemPool(&p, 0)); CHECK(cudaMemPoolTrimTo(p, 0)))},
};

static void run(void (*f)())
{
    if (f)
        f();
}

static const char *answer(const Row &r, bool with_kernel)
{
    run(r.before);
    CHECK(cudaDeviceSynchronize());
    box->released = box->over = box->seen = 0;
    if (with_kernel) {
        hold<<<1, 1, 0, kernel>>>(box);
        CHECK(cudaGetLastError());
    }
    run(r.behind);
    r.call();
    bool over = r.kind == CALL ? box->over : box->seen;
    box->released = 1;
    CHECK(cudaDeviceSynchronize());
    run(r.after);
    return over ? "waits" : "returns";
}

static void print_rows(const cudaStream_t *streams)
{
    printf("%-82s %-8s %-8s %-12s %s\n", "", "legacy", "blocking", "non-blocking", "per-thread");
    for (const Row &row : rows) {
        const char *cell[4];
        for (unsigned c = 0; c < 4; c++) {
            kernel = streams[c];
            if (c == 0) // what is used for the first time may wait for other reasons
                answer(row, false);
            cell[c] = answer(row, true);
        }
        printf("%-82s %-8s %-8s %-12s %s\n", row.name, cell[0], cell[1], cell[2], cell[3]);
        fflush(stdout);
    }
}

#if __CUDACC_VER_MAJOR__ >= 12
// Three kernels in one stream, the later two with programmatic stream serialization. The first one lets the next begin at once, and stores later.
// The second one ends at once, and may wait. The third one waits, and must see what the first one stored.
__global__ void first(volatile unsigned *stored)
{
    cudaTriggerProgrammaticLaunchCompletion();
    for (unsigned k = 0; k < TURNS / 4; k++)
        __nanosleep(4000);
    *stored = 1;
}

__global__ void second(bool waits)
{
    cudaTriggerProgrammaticLaunchCompletion();
    if (waits)
        cudaGridDependencySynchronize();
}

__global__ void third(volatile unsigned *stored, volatile unsigned *seen)
{
    cudaGridDependencySynchronize();
    *seen = *stored;
}

static void print_dependent(bool waits)
{
    volatile unsigned *stored = &box->released, *seen = &box->seen;
    *stored = *seen = 0;
    cudaLaunchAttribute a = {};
    a.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    a.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t c = {};
    c.gridDim = c.blockDim = 1;
    c.stream = other;
    CHECK(cudaLaunchKernelEx(&c, first, stored));
    c.attrs = &a;
    c.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&c, second, waits));
    CHECK(cudaLaunchKernelEx(&c, third, stored, seen));
    CHECK(cudaDeviceSynchronize());
    printf("the third of three dependent launches, where the second %s: %s\n", waits ? "waits" : "does not wait", *seen ? "waits for the first" : "does not");
}
#endif

int main()
{
    cudaStream_t blocking, apart_too;
    CHECK(cudaStreamCreate(&blocking));
    CHECK(cudaStreamCreateWithFlags(&apart_too, cudaStreamNonBlocking));
    CHECK(cudaStreamCreate(&other));
    CHECK(cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&event));
    CHECK(cudaEventCreate(&idle_event));
    CHECK(cudaEventRecord(idle_event, apart));
    CHECK(cudaHostAlloc((void **)&box, sizeof *box, 0));
    CHECK(cudaHostAlloc((void **)&pinned, LARGE, 0));
    CHECK(cudaMallocManaged((void **)&managed, 4096));
    CHECK(cudaMalloc((void **)&device, LARGE));
    CHECK(cudaMalloc((void **)&device2, LARGE));
    pageable = (char *)aligned_alloc(4096, LARGE);
    memset(pageable, 1, LARGE);
    memset(pinned, 1, LARGE);
    box->released = 1;
    hold<<<1, 1>>>(box);
    look<<<1, 1>>>(box);
    CHECK(cudaDeviceSynchronize());
    const cudaStream_t streams[] = {cudaStreamLegacy, blocking, apart_too, cudaStreamPerThread};
    print_rows(streams);
#if __CUDACC_VER_MAJOR__ >= 12
    print_dependent(true);
    print_dependent(false);
#endif
    return 0;
}
