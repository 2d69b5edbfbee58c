// SPDX-License-Identifier: Apache-2.0
// fuzz_api — hostile programs: the input is a sequence of calls of the CUDA driver API, made in this process, which
// libgpurace.so is preloaded into. GPURACE_OPTIONS names the engine: "engine=tracker". Whatever the calls are, nothing
// of gpurace's crashes; that they fail is fine, and what kernels do is their own affair.
//
// The input is a module's text, a zero, and the bytes that api_calls.def's calls are drawn from. Without a zero it is
// all text, and the module is loaded and its kernels are launched. Without a text the module is one of ours, which
// stays loaded from input to input, since an engine takes a quarter of a second for one here. A slot keeps its handle
// when that is destroyed, so later calls use it as a bad program would. What the driver cannot check (a stray pointer
// of the host) is never passed.
#include "fuzz_api.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

enum { SLOTS = 8, CALLS = 64, MADE = 256, PARAMS = 1 << 14, OWN_BYTES = 1 << 16, PARAM_BYTES = 1 << 17 };

typedef enum Kind {
    CTX,
    STREAM,
    EVENT,
    MODULE,
    FUNC,
    LIBRARY,
    KERNEL,
    LINK,
    POOL,
    GRAPH,
    NODE,
    EXEC,
    PAGES,
    MEMORY,
    HOST,
    RESERVED,
    KINDS
} Kind;

typedef struct Made {
    Kind kind;
    uint64_t handle;
} Made;

static struct {
    const uint8_t *at, *end; // of the input's calls
    const char *text;        // its module
    size_t text_len;
    uint64_t slot[KINDS][SLOTS];
    Made made[MADE]; // to be destroyed at the end
    size_t n_made;
    struct {
        Kind kind;
        uint64_t *at, before;
    } news[4]; // of the call that is being made
    unsigned n_news;
    char *copy; // of a text, for the call
    unsigned loads;
} in;

// The context that stays, and its modules; made anew when a kernel has failed.
static struct {
    CUcontext context;
    CUmodule module[FUZZ_TEXTS];
} lasting;

static char own[OWN_BYTES] __attribute__((aligned(4096)));
static uint64_t out[OWN_BYTES / 8], values[PARAM_BYTES / 8];
static void *params[PARAMS];
static const uint32_t always_zero;

// ---- what a call takes from the input --------------------------------------------------------------------

static unsigned byte(void) { return in.at < in.end ? *in.at++ : 0; }

// Small, or one that something may be wrong with.
static uint64_t number(void) {
    static const uint64_t odd[] = {32,         33,         64,         127,     128,       255,
                                   256,        1023,       1024,       1025,    4095,      4096,
                                   65535,      65536,      100000,     1 << 20, 1 << 21,   1 << 24,
                                   1 << 30,    0x7fffffff, 0x80000000, ~0u,     ~0u - 1,   1ull << 32,
                                   1ull << 40, 1ull << 47, 1ull << 63, ~0ull,   ~0ull - 1, ~0ull - 4095};
    unsigned b = byte();
    return b < 192 ? b % 32 : odd[(b - 192) % (sizeof odd / sizeof *odd)];
}

static uint64_t *slot_of(Kind kind) {
    unsigned b = byte();
    if (b >= 248) // of another kind
        kind = (Kind)(byte() % KINDS);
    return &in.slot[kind][b % SLOTS];
}

static uint64_t old_handle(Kind kind) {
    uint64_t h = *slot_of(kind);
    return h || kind != STREAM ? h : byte() % 3; // the default ones
}

static void *new_handle(Kind kind) {
    unsigned b = byte();
    if (b == 255)
        return NULL;
    uint64_t *at = &in.slot[kind][b % SLOTS];
    if (in.n_news < sizeof in.news / sizeof *in.news) {
        in.news[in.n_news].kind = kind;
        in.news[in.n_news].before = *at;
        in.news[in.n_news++].at = at;
    }
    return at;
}

// In memory that a slot names, or anywhere.
static uint64_t address(void) {
    unsigned b = byte();
    uint64_t at = in.slot[b & 32 ? HOST : MEMORY][b % SLOTS];
    return b < 128 ? at : b < 240 ? at + number() : at ? at - number() : 0;
}

// Not far from memory that is or was there: for calls that take any other address for the host's own.
static uint64_t near_memory(void) {
    unsigned b = byte();
    uint64_t at = in.slot[b & 32 ? HOST : MEMORY][b % SLOTS], more = b < 128 ? 0 : number();
    return at ? at + (more < 1 << 24 ? more : 0) : 0;
}

static unsigned dimension(void) {
    unsigned b = byte();
    return b < 128 ? 1 + b % 3 : b < 224 ? 1 + b % 70 : (unsigned)number();
}

// A text of its own, as long as it is: the input's or one of ours, cut off or with another byte in it.
static char *text(size_t *len) {
    unsigned b = byte(), cut = byte();
    const char *from = b % 4 && in.text_len ? in.text : fuzz_texts[b / 4 % FUZZ_TEXTS];
    size_t n = b % 4 && in.text_len ? in.text_len : strlen(from);
    if (cut & 128)
        n = n * (cut & 127) / 128;
    free(in.copy);
    in.copy = malloc(n + 1);
    if (n)
        memcpy(in.copy, from, n);
    if ((cut & 64) && n)
        in.copy[(byte() * 256 + byte()) % n] = (char)byte();
    in.copy[n] = 0;
    if (len)
        *len = n;
    return in.copy;
}

// What is no text has no length: the driver reads as much as its header says.
static const char *image(void) {
    const char *t = text(NULL);
    if (in.loads++) // loading is most of the work
        return "";
    return (unsigned char)t[0] < 0x80 && t[0] != 0x7f && t[0] != 'P' ? t : "";
}

static const char *name(void) {
    static const char *const names[] = {"store",         "sum", "barrier",   "global_array", "managed",
                                        "managed_array", "",    "/dev/null", "no",           "atomics"};
    unsigned b = byte();
    return b == 255 ? NULL : names[b % (sizeof names / sizeof *names)];
}

static CUgraphNode *nodes(void) { return (CUgraphNode *)&in.slot[NODE][byte() % SLOTS]; }

// ---- calls that need more than their arguments -----------------------------------------------------------

static void CUDA_CB on_host(void *user) { (void)user; }
static void CUDA_CB on_callback(CUstream s, CUresult r, void *user) { (void)s, (void)r, (void)user; }

static void set_params(void) {
    for (unsigned k = 0; k < 6; k++)
        values[k] = k == 5 ? number() : address();
    params[byte() % 8] = NULL;
}

static void **some_params(void) {
    for (unsigned k = 0; k < PARAMS; k++)
        params[k] = &values[k % 64];
    unsigned b = byte();
    if (b >= 250)
        return b == 250 ? NULL : (set_params(), params);
    // A kernel that fails takes the context with it, and the modules in there: most shall not.
    for (unsigned k = 0; k < 64; k++)
        values[k] = in.slot[MEMORY][b < 64 ? (b + k) % SLOTS : 0];
    for (unsigned k = 0; k < 64; k++)
        values[k] = values[k] ? values[k] : in.slot[MEMORY][0];
    return params;
}

// A grid that the device would take, and take long for, becomes a small one.
static void keep_small(unsigned *x, unsigned *y, unsigned *z, uint64_t block) {
    bool refused = block > 1024 || *x > 0x7fffffff || *y > 65535 || *z > 65535;
    if (refused || (uint64_t)*x * *y * *z * block <= 1 << 13)
        return;
    *x = 1 + *x % 3;
    *y = *z = 1;
}

static CUresult launch_kernel(uint64_t f) {
    unsigned d[6];
    for (unsigned k = 0; k < 6; k++)
        d[k] = dimension();
    keep_small(&d[0], &d[1], &d[2], (uint64_t)d[3] * d[4] * d[5]);
    unsigned shared = (unsigned)number();
    CUstream s = (CUstream)old_handle(STREAM);
    return cuLaunchKernel((CUfunction)f, d[0], d[1], d[2], d[3], d[4], d[5], shared, s, some_params(), NULL);
}

static CUresult launch_plainly(uint64_t f) {
    return cuLaunchKernel((CUfunction)f, 2, 1, 1, 40, 1, 1, 0, (CUstream)old_handle(STREAM), some_params(),
                          NULL);
}

static CUresult launch_cooperative(uint64_t f) {
    unsigned grid = dimension(), block = dimension();
    unsigned y = 1, z = 1;
    keep_small(&grid, &y, &z, block);
    CUstream s = (CUstream)old_handle(STREAM);
    return cuLaunchCooperativeKernel((CUfunction)f, grid, 1, 1, block, 1, 1, (unsigned)number(), s,
                                     some_params());
}

static void set_attribute(CUlaunchAttribute *a) {
    static const CUlaunchAttributeID ids[] = {
        CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
        CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION};
    unsigned b = byte();
    a->id = b < 200 ? ids[b % 4] : (CUlaunchAttributeID)(b - 200);
    for (unsigned k = 0; k < sizeof a->value; k++)
        a->value.pad[k] = 0;
    if (a->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT ||
        a->id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT)
        a->value.programmaticEvent.event = (CUevent)old_handle(EVENT);
    else
        a->value.clusterDim.x = dimension(), a->value.clusterDim.y = dimension(),
        a->value.clusterDim.z = dimension();
}

static CUresult launch_ex(uint64_t f) {
    CUlaunchAttribute attributes[3];
    CUlaunchConfig c = {.gridDimX = dimension(),
                        .gridDimY = dimension(),
                        .gridDimZ = 1,
                        .blockDimX = dimension(),
                        .blockDimY = dimension(),
                        .blockDimZ = 1};
    keep_small(&c.gridDimX, &c.gridDimY, &c.gridDimZ, (uint64_t)c.blockDimX * c.blockDimY);
    c.sharedMemBytes = (unsigned)number();
    c.hStream = (CUstream)old_handle(STREAM);
    c.attrs = attributes;
    for (unsigned n = byte() % 4; c.numAttrs < n; c.numAttrs++)
        set_attribute(&attributes[c.numAttrs]);
    return cuLaunchKernelEx(&c, (CUfunction)f, some_params(), NULL);
}

static CUresult occupancy_clusters(uint64_t f) {
    CUlaunchAttribute a;
    set_attribute(&a);
    CUlaunchConfig c = {.gridDimX = dimension(),
                        .gridDimY = 1,
                        .gridDimZ = 1,
                        .blockDimX = dimension(),
                        .blockDimY = 1,
                        .blockDimZ = 1,
                        .attrs = &a,
                        .numAttrs = 1};
    return cuOccupancyMaxActiveClusters((int *)out, (CUfunction)f, &c);
}

static CUresult all_functions(uint64_t module) {
    CUresult r = cuModuleEnumerateFunctions((CUfunction *)out, SLOTS, (CUmodule)module);
    unsigned n = 0;
    if (r == CUDA_SUCCESS && cuModuleGetFunctionCount(&n, (CUmodule)module) == CUDA_SUCCESS)
        memcpy(in.slot[FUNC], out, (n < SLOTS ? n : SLOTS) * sizeof *out);
    return r;
}

static bool lasts(const void *module) {
    for (unsigned k = 0; k < FUZZ_TEXTS; k++)
        if (lasting.module[k] == module)
            return true;
    return false;
}

static CUresult unload(uint64_t module) {
    return lasts((void *)module) && byte() < 224 ? CUDA_SUCCESS : cuModuleUnload((CUmodule)module);
}

static CUresult link_add(uint64_t link) {
    size_t len;
    char *data = text(&len);
    return cuLinkAddData_v2((CUlinkState)link,
                            byte() % 4 ? CU_JIT_INPUT_PTX : (CUjitInputType)(byte() % CU_JIT_NUM_INPUT_TYPES),
                            data, len, "text", 0, NULL, NULL);
}

static CUresult link_load(uint64_t link, void *module) {
    void *image;
    size_t size;
    CUresult r = cuLinkComplete((CUlinkState)link, &image, &size);
    return r == CUDA_SUCCESS && module ? cuModuleLoadData(module, image) : r;
}

// The program itself writes to memory that it shares with the device, if that is still there.
static CUresult touch(void) {
    uint64_t at = in.slot[byte() & 1 ? HOST : MEMORY][byte() % SLOTS];
    CUmemorytype type = 0;
    unsigned managed = 0;
    if (cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at) != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_VALUE;
    cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, at);
    if (managed || type == CU_MEMORYTYPE_HOST)
        *(volatile char *)at += 1;
    return CUDA_SUCCESS;
}

static CUresult pool_create(void) {
    CUmemPoolProps p = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                        .location = {CU_MEM_LOCATION_TYPE_DEVICE, (int)(byte() % 3)}};
    return cuMemPoolCreate(new_handle(POOL), &p);
}

static CUresult pages_create(void) {
    CUmemAllocationProp p = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                             .location = {CU_MEM_LOCATION_TYPE_DEVICE, (int)(byte() % 3)}};
    return cuMemCreate(new_handle(PAGES), fuzz_size(number()), &p, 0);
}

static CUresult pages_access(uint64_t at) {
    CUmemAccessDesc d = {{CU_MEM_LOCATION_TYPE_DEVICE, (int)(byte() % 3)}, byte() % 4};
    return cuMemSetAccess(at, fuzz_size(number()), &d, 1);
}

// Between two devices any box; beside memory of our own, one that fits there.
static CUDA_MEMCPY3D box(void) {
    CUDA_MEMCPY3D c = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .dstMemoryType = CU_MEMORYTYPE_DEVICE};
    unsigned ours = byte() % 3;
    bool fits = ours != 0;
    c.srcDevice = address(), c.dstDevice = address();
    c.WidthInBytes = fits ? byte() : number(), c.Height = fits ? byte() % 8 : number(),
    c.Depth = fits ? byte() % 4 : number();
    c.srcPitch = fits ? 256 : number(), c.dstPitch = fits ? 256 : number();
    c.srcHeight = fits ? 8 : number(), c.dstHeight = fits ? 8 : number();
    c.srcXInBytes = byte() % 4;
    if (ours == 1)
        c.srcMemoryType = CU_MEMORYTYPE_HOST, c.srcHost = own;
    if (ours == 2)
        c.dstMemoryType = CU_MEMORYTYPE_HOST, c.dstHost = own;
    return c;
}

static CUresult copy_box(uint64_t stream) {
    CUDA_MEMCPY3D c = box();
    return stream ? cuMemcpy3DAsync_v2(&c, (CUstream)stream) : cuMemcpy3D_v2(&c);
}

static CUresult capture_mode(void) {
    CUstreamCaptureMode mode = (CUstreamCaptureMode)(byte() % 4);
    return cuThreadExchangeStreamCaptureMode(&mode);
}

static CUDA_KERNEL_NODE_PARAMS kernel_node(void) {
    unsigned of_library = byte() % 8 == 0;
    uint64_t f = old_handle(of_library ? KERNEL : FUNC);
    CUDA_KERNEL_NODE_PARAMS p = {.gridDimX = dimension(),
                                 .gridDimY = 1,
                                 .gridDimZ = 1,
                                 .blockDimX = dimension(),
                                 .blockDimY = 1,
                                 .blockDimZ = 1};
    p.func = of_library ? NULL : (CUfunction)f;
    p.kern = of_library ? (CUkernel)f : NULL;
    keep_small(&p.gridDimX, &p.gridDimY, &p.gridDimZ, p.blockDimX);
    p.sharedMemBytes = (unsigned)number();
    p.kernelParams = some_params();
    return p;
}

static CUresult node_kernel(void *node, uint64_t graph) {
    CUDA_KERNEL_NODE_PARAMS p = kernel_node();
    CUgraphNode *after = nodes();
    return cuGraphAddKernelNode_v2(node, (CUgraph)graph, after, byte() % 2, &p);
}

static CUresult exec_kernel(uint64_t exec, uint64_t node) {
    CUDA_KERNEL_NODE_PARAMS p = kernel_node();
    return cuGraphExecKernelNodeSetParams_v2((CUgraphExec)exec, (CUgraphNode)node, &p);
}

static CUresult node_copy(void *node, uint64_t graph) {
    CUDA_MEMCPY3D c = box();
    CUgraphNode *after = nodes();
    return cuGraphAddMemcpyNode(node, (CUgraph)graph, after, byte() % 2, &c,
                                (CUcontext)in.slot[CTX][byte() % SLOTS]);
}

static CUresult node_fill(void *node, uint64_t graph) {
    CUDA_MEMSET_NODE_PARAMS p = {.dst = address(),
                                 .pitch = number(),
                                 .value = byte(),
                                 .elementSize = byte() % 5,
                                 .width = number(),
                                 .height = number()};
    CUgraphNode *after = nodes();
    return cuGraphAddMemsetNode(node, (CUgraph)graph, after, byte() % 2, &p,
                                (CUcontext)in.slot[CTX][byte() % SLOTS]);
}

static CUresult node_host(void *node, uint64_t graph) {
    CUDA_HOST_NODE_PARAMS p = {.fn = byte() % 16 ? on_host : NULL};
    CUgraphNode *after = nodes();
    return cuGraphAddHostNode(node, (CUgraph)graph, after, byte() % 2, &p);
}

static CUresult node_alloc(void *node, uint64_t graph) {
    CUDA_MEM_ALLOC_NODE_PARAMS p = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, (int)(byte() % 3)}}};
    p.bytesize = fuzz_size(number());
    CUgraphNode *after = nodes();
    CUresult r = cuGraphAddMemAllocNode(node, (CUgraph)graph, after, byte() % 2, &p);
    if (r == CUDA_SUCCESS)
        in.slot[MEMORY][byte() % SLOTS] = p.dptr;
    return r;
}

static CUresult graph_nodes(uint64_t graph) {
    size_t n = SLOTS;
    CUresult r = cuGraphGetNodes((CUgraph)graph, (CUgraphNode *)out, &n);
    if (r == CUDA_SUCCESS && n <= SLOTS)
        memcpy(in.slot[NODE], out, n * sizeof *out);
    return r;
}

static CUresult launch_once(uint64_t graph, uint64_t stream) {
    CUgraphExec e;
    CUresult r = cuGraphInstantiateWithFlags(&e, (CUgraph)graph, 0);
    if (r == CUDA_SUCCESS)
        r = cuGraphLaunch(e, (CUstream)stream);
    return r == CUDA_SUCCESS ? cuGraphExecDestroy(e) : r;
}

// ---- the calls -------------------------------------------------------------------------------------------

#define OLD(kind) (void *)old_handle(kind)
#define AT(kind)  old_handle(kind)
#define NEW(kind) new_handle(kind)
#define NUMBER    number()
#define SMALL     (unsigned)(byte() % 64)
#define FLAGS     (byte() < 200 ? 0 : (unsigned)(byte() % 32))
#define SIZE      fuzz_size(number())
#define DEVICE    (int)(byte() % 3)
#define ADDRESS   address()
#define NEAR      near_memory()
#define OUT       ((byte() == 255) ? NULL : (void *)out)
#define TEXT      image()
#define NAME      name()
#define NODES     nodes()
#define N_NODES   (byte() % 2)
#define OWN       own
#define OWN_SIZE  (size_t)(byte() * 256 % OWN_BYTES)

#define CALL(name, call)                                                                                     \
    static CUresult call_##name(void) { return call; }
#include "api_calls.def"
#undef CALL

static const struct {
    const char *name;
    CUresult (*make)(void);
} calls[] = {
#define CALL(name, call) {#name, call_##name},
#include "api_calls.def"
#undef CALL
};
enum { N_CALLS = sizeof calls / sizeof *calls };

static void remember_new(CUresult r) {
    for (unsigned k = 0; k < in.n_news; k++)
        if (r == CUDA_SUCCESS && *in.news[k].at != in.news[k].before && in.n_made < MADE)
            in.made[in.n_made++] = (Made){in.news[k].kind, *in.news[k].at};
    in.n_news = 0;
}

static void make_call(unsigned which) {
    if (fuzz_says_calls)
        fprintf(stderr, "%s\n", calls[which].name);
    CUresult r = calls[which].make();
    if (fuzz_says_calls)
        fprintf(stderr, "  %d\n", (int)r);
    remember_new(r);
}

static bool works(CUcontext c) {
    return c && cuCtxSetCurrent(c) == CUDA_SUCCESS && cuCtxSynchronize() == CUDA_SUCCESS;
}

// What the input itself destroyed.
static void forget_gone(void) {
    unsigned n;
    for (unsigned k = 0; k < FUZZ_TEXTS; k++)
        if (lasting.module[k] && cuModuleGetFunctionCount(&n, lasting.module[k]) == CUDA_ERROR_INVALID_HANDLE)
            lasting.module[k] = NULL;
}

// The lasting context, current, and its module of that number.
static uint64_t lasting_module(unsigned which) {
    if (!works(lasting.context)) {
        if (lasting.context)
            cuCtxDestroy_v2(lasting.context);
        memset(&lasting, 0, sizeof lasting);
        cuCtxCreate_v2(&lasting.context, 0, 0);
    }
    forget_gone();
    if (!lasting.module[which])
        cuModuleLoadData(&lasting.module[which], fuzz_texts[which]);
    return (uint64_t)lasting.module[which];
}

static uint64_t module_of_text(void) {
    static const uint8_t whole[] = {1, 0};
    uint64_t module = 0;
    in.at = whole;
    in.end = whole + sizeof whole;
    cuDevicePrimaryCtxRetain((CUcontext *)&in.slot[CTX][0], 0);
    cuCtxSetCurrent((CUcontext)in.slot[CTX][0]);
    cuModuleLoadData((CUmodule *)&module, image());
    return module;
}

// What a program does first, as most inputs would else get nowhere: a context, memory, a module and its kernels.
static void begin(const uint8_t *at, const uint8_t *last) {
    uint64_t module = 0;
    if (in.text_len)
        module = module_of_text();
    in.at = at;
    in.end = last;
    if (!in.text_len)
        module = lasting_module(byte() % FUZZ_TEXTS);
    cuMemAlloc_v2((CUdeviceptr *)&in.slot[MEMORY][0], 8192);
    in.made[in.n_made++] = (Made){MEMORY, in.slot[MEMORY][0]};
    in.slot[MODULE][0] = module;
    if (module)
        all_functions(module);
}

static void launch_all(void) {
    for (unsigned k = 0; k < 4; k++)
        if (in.slot[FUNC][k])
            launch_plainly(in.slot[FUNC][k]);
    cuCtxSynchronize();
}

// ---- the end ---------------------------------------------------------------------------------------------

static void destroy(const Made *m) {
    void *h = (void *)m->handle;
    switch (m->kind) {
    case STREAM: cuStreamDestroy_v2(h); break;
    case EVENT: cuEventDestroy_v2(h); break;
    case MODULE:
        if (!lasts(h))
            cuModuleUnload(h);
        break;
    case LIBRARY: cuLibraryUnload(h); break;
    case LINK: cuLinkDestroy(h); break;
    case POOL: cuMemPoolDestroy(h); break;
    case GRAPH: cuGraphDestroy(h); break;
    case EXEC: cuGraphExecDestroy(h); break;
    case PAGES: cuMemRelease(m->handle); break;
    case MEMORY: cuMemFree_v2(m->handle); break;
    case HOST: cuMemFreeHost(h); break;
    default: break;
    }
}

static void release_reserved(uint64_t at) {
    static const size_t sizes[] = {FUZZ_PAGES, 2 * FUZZ_PAGES, 4 * FUZZ_PAGES};
    for (unsigned k = 0; k < 3; k++) {
        cuMemUnmap(at, sizes[k]);
        cuMemAddressFree(at, sizes[k]);
    }
}

// The process is then as it was. What a program does wrong shall be seen in the same input, not in one after it.
static void end(void) {
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    CUcontext other;
    cuThreadExchangeStreamCaptureMode(&mode);
    while (cuCtxPopCurrent_v2(&other) == CUDA_SUCCESS) {
    }
    if (lasting.context && !in.text_len)
        cuCtxSetCurrent(lasting.context);
    else if (cuDevicePrimaryCtxRetain(&other, 0) == CUDA_SUCCESS)
        cuCtxSetCurrent(other);
    for (size_t k = in.n_made; k--;)
        if (in.made[k].kind == RESERVED)
            release_reserved(in.made[k].handle);
        else
            destroy(&in.made[k]);
    for (size_t k = 0; k < in.n_made; k++)
        if (in.made[k].kind == CTX && in.made[k].handle != (uint64_t)lasting.context)
            cuCtxDestroy_v2((CUcontext)in.made[k].handle);
    cuMemHostUnregister(own);
    for (int device = 0; device < 2; device++) {
        cuDevicePrimaryCtxReset_v2(device);
        while (cuDevicePrimaryCtxRelease_v2(device) == CUDA_SUCCESS) {
        }
    }
    cuCtxPopCurrent_v2(&other);
    free(in.copy);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    fuzz_attach((*argv)[0]);
    return cuInit(0) == CUDA_SUCCESS ? 0 : (abort(), 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint8_t *zero = size ? memchr(data, 0, size) : NULL;
    size_t len = zero ? (size_t)(zero - data) : size;
    char *module = malloc(len + 1);
    memset(&in, 0, sizeof in);
    if (len)
        memcpy(module, data, len);
    module[len] = 0;
    in.text = module;
    in.text_len = len;
    begin(zero ? zero + 1 : NULL, zero ? data + size : NULL);
    if (!zero)
        launch_all();
    for (unsigned k = 0; k < CALLS && in.at < in.end; k++)
        make_call(byte() % N_CALLS);
    end();
    free(module);
    return 0;
}
