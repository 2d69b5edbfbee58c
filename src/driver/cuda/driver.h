// SPDX-License-Identifier: Apache-2.0
// driver — what the parts of the CPU device's libcuda.so.1 share.
//
// The CUDA driver API over src/vm. Every entry point is: gr_cu_enter (take the one lock, let the device advance a
// seeded quantum, check the context), work on the objects below, gr_cu_leave. Work is queued on streams and done by
// the engine in queue.c, only while somebody holds the lock. docs/execution-model.md, "The API", says what a
// program may rely on.
#ifndef GR_DRIVER_CUDA_DRIVER_H
#define GR_DRIVER_CUDA_DRIVER_H

// All ABI versions of each entry point under their exported names, and visible.
#define __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_PUSH_VISIBILITY_DEFAULT
#include <cuda.h>

#include "base/map.h"
#include "base/rng.h"
#include "base/vec.h"
#include "vm/vm.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define GR_CU_VERSION     13000
#define GR_CU_MAX_DEVICES 32
#define GR_CU_MAX_JOBS    64

// ---- Objects behind handles --------------------------------------------------------------------------------

typedef enum HandleKind {
    HANDLE_NONE,
    HANDLE_CTX,
    HANDLE_STREAM,
    HANDLE_EVENT,
    HANDLE_MODULE,
    HANDLE_FUNC,
    HANDLE_LIBRARY,
    HANDLE_KERNEL,
    HANDLE_LINK,
    HANDLE_POOL,
    HANDLE_GRAPH,
    HANDLE_NODE,
    HANDLE_EXEC,
} HandleKind;

typedef struct Dev Dev;
typedef struct Ctx Ctx;
typedef struct Stream Stream;
typedef struct Item Item;
typedef struct Image Image;
typedef struct Module Module;
typedef struct Func Func;
typedef struct Library Library;
typedef struct Kernel Kernel;
typedef struct MemPool MemPool;
typedef struct Node Node;       // of a graph (graph.h)
typedef struct Capture Capture; // of streams into a graph

struct Dev {
    int ordinal;
    VmDevice *vm;
    const VmProps *props;
    Ctx *primary;
    unsigned primary_refs, primary_flags;
    MemPool *default_pool, *pool;
    unsigned running;    // launches that the VM has and that have not ended
    size_t printf_bytes; // of the buffer of kernels' output
};

// The size of the buffer of kernels' output: the default, and the least that can be asked for (as an H200 answers).
enum { GR_PRINTF_BYTES = 8650752, GR_PRINTF_LEAST = 512 << 10 };

struct Ctx {
    HandleKind kind;
    uint64_t id;
    Dev *dev;
    bool is_primary;
    unsigned flags, api_version;
    size_t limits[CU_LIMIT_MAX];
    CUfunc_cache cache;
    CUsharedconfig shared;
    CUresult sticky; // a fault's code: every later call returns it
    Stream *legacy;
    VEC(Module *) modules;
    Map allocs;     // address -> VmRange: freed with the context
    uint64_t peers; // devices whose access was enabled
};

struct Stream {
    HandleKind kind;
    Ctx *ctx;
    uint64_t id;
    unsigned flags; // CU_STREAM_NON_BLOCKING
    int priority;
    bool dying;        // destroyed by the program, work left
    Item *head, *tail; // in order of submission
    CUstreamAttrValue window, sync_policy;
    Capture *capture;  // work goes there instead
    VEC(Node *) after; // while it captures: what the next node depends on
};

// The point in a stream where an event was recorded: what waits refer to, as the event may be recorded anew.
typedef struct Mark {
    unsigned refs;
    bool done;
    uint64_t ns; // virtual time
    Dev *dev;
} Mark;

typedef struct Event {
    HandleKind kind;
    Ctx *ctx;
    unsigned flags;
    Mark *mark;        // of the last record; NULL: never recorded
    uint64_t captured; // the last record was into the capture of this number; 0: into a stream
    VEC(Node *) after; // and then it stands for these
} Event;

// PTX modules of one image, parsed once, shared by all that load it.
struct Image {
    unsigned refs;
    PtxModule **modules;
    size_t count;
};

struct Module {
    HandleKind kind;
    Ctx *ctx;
    VmModule *vm;
    Image *image;
    Library *library; // NULL unless loaded for one
    Map funcs;        // name -> Func *
};

struct Func {
    HandleKind kind;
    Module *module;
    VmFunc *vm;
    uint32_t max_dynamic_shared;
    int carveout, non_portable_cluster, cluster_policy;
    uint32_t cluster[3];
    CUfunc_cache cache;
};

struct Library {
    HandleKind kind;
    Image *image;
    VEC(Module *) modules; // one per context that used it
    Map kernels;           // name -> Kernel *
};

// A kernel of a library. What was set on it is set on each context's function when that is made.
struct Kernel {
    HandleKind kind;
    Library *library;
    const char *name;
};

struct MemPool {
    HandleKind kind;
    Dev *dev;
    uint64_t release_threshold, used, used_high, reserved_high;
    int reuse_event, reuse_opportunistic, reuse_internal;
    uint32_t peers; // devices that were given access, a bit each
    Map allocs;     // address -> VmRange
};

// ---- State of the process (init.c) -------------------------------------------------------------------------

typedef struct DriverConfig {
#define CONFIG(type, name, deflt, help) type name;
#include "driver/cuda/config.def"
#undef CONFIG
} DriverConfig;

typedef struct Driver {
    bool initialized, forked;
    bool exiting; // exit handlers run: what is still queued will not be done
    CUresult init_result;
    DriverConfig config;
    VmMem *mem;
    Dev devices[GR_CU_MAX_DEVICES];
    int n_devices;
    Map handles; // live objects by address; each begins with its HandleKind
    uint64_t next_id;
} Driver;

extern Driver gr_cu;

CUresult gr_cu_status(gr_status st); // what CUDA calls it
Dev *gr_cu_device(CUdevice ordinal); // NULL when there is none
gr_status gr_cu_parse_config(const char *text, DriverConfig *config, gr_error *err);

// NULL when `handle` is no live object of that kind.
void *gr_cu_handle(const void *handle, HandleKind kind);
bool gr_cu_handle_add(void *object, HandleKind kind); // sets the kind; false when memory is out
void gr_cu_handle_remove(void *object);

// ---- Entering and leaving (lock.c) -------------------------------------------------------------------------

typedef enum ApiNeed {
    API_ANY,     // nothing
    API_INIT,    // cuInit was called
    API_CONTEXT, // and a context is current, without a sticky error
    API_CLEANUP, // and a context is current; it may have failed
} ApiNeed;

// Takes the lock unless it returns an error. *ctx (may be NULL) is the current context.
CUresult gr_cu_enter(ApiNeed need, Ctx **ctx, const char *function);
CUresult gr_cu_leave(CUresult result);

#define API_ENTER(need, ctx)                                                                                 \
    do {                                                                                                     \
        CUresult enter_ = gr_cu_enter((need), (ctx), __func__);                                              \
        if (enter_ != CUDA_SUCCESS)                                                                          \
            return enter_;                                                                                   \
    } while (0)

void gr_cu_lock(void);
void gr_cu_unlock(void);
bool gr_cu_lock_is_mine(void); // only in a signal handler
bool gr_cu_contended(void);    // another thread waits for the lock
// The calling thread, never 0, and how many waits had returned when its call began.
int gr_cu_caller(uint64_t *began);
// Gives the lock up until gr_cu_wake, or for at most `ms` milliseconds (0: without limit).
void gr_cu_wait(unsigned ms);
void gr_cu_wake(void);
uint64_t gr_cu_real_ms(void);
uint64_t gr_cu_calls(int *caller); // how often calls entered or left, and the thread that did last
bool gr_cu_busy(void);             // a thread holds the lock or waits for it
void gr_cu_in_callback(bool yes);  // this thread runs a host function: no CUDA calls from it
int gr_cu_start_thread(void *(*body)(void *), const char *name);
// Whether the process has no threads but the calling one and the tool's own.
bool gr_cu_host_is_alone(void);

// ---- Hooks (init.c) ----------------------------------------------------------------------------------------

void gr_cu_hook_absent(const char *name);
void gr_cu_hook_note(const char *what);

// ---- Contexts (context.c) ----------------------------------------------------------------------------------

Ctx *gr_ctx_current(void);                 // NULL when none
void gr_ctx_fail(Ctx *ctx, CUresult code); // sticky; cancels all queued work
void gr_ctx_clear(Ctx *ctx);               // frees all that is in it; it stays usable
// A stream per thread and context, made on first use. NULL when memory is out.
Stream *gr_ctx_thread_stream(Ctx *ctx);

// ---- Streams and events (stream.c, event.c) ----------------------------------------------------------------

// Resolves handle 0 and the special ones in `ctx`.
CUresult gr_stream_get(Ctx *ctx, CUstream handle, Stream **out);
Stream *gr_stream_new(Ctx *ctx, unsigned flags, int priority);
void gr_stream_free(Stream *s); // what is queued is still done
Mark *gr_mark_new(Dev *dev);
Mark *gr_mark_ref(Mark *m);
void gr_mark_unref(Mark *m);
// The event is recorded behind what is in the stream now.
CUresult gr_event_record(Event *e, Stream *s);

// The clusters of a launch of `f`: those asked for (0, 0, 0: none asked) or those it requires, into `cluster`, which
// stays zero when there are none. As CUDA checks it; the number of blocks in one is not checked (gr_launch_max_cluster).
CUresult gr_launch_cluster(const Func *f, const uint32_t grid[3], uint32_t cluster[3]);
uint32_t gr_launch_max_cluster(const Func *f);
void gr_event_set(Event *e, Mark *m); // takes the reference; NULL: as if never recorded

// ---- The work engine (queue.c, callback.c) -----------------------------------------------------------------

typedef enum ItemKind {
    ITEM_KERNEL,
    ITEM_COPY,
    ITEM_FILL,
    ITEM_RECORD,
    ITEM_WAIT,
    ITEM_HOST,
    ITEM_FREE,
    ITEM_WRITE_VALUE,
    ITEM_WAIT_VALUE,
    ITEM_BARRIER, // nothing to do: ends when its turn comes
} ItemKind;

// A box of bytes between two views (gr_vm_mem_view) or host pointers; a linear copy is one row.
typedef struct CopyJob {
    char *dst;
    const char *src;
    size_t width, height, depth;
    size_t dst_pitch, dst_slice, src_pitch, src_slice;
    size_t row, done;            // progress: rows finished, bytes of the current one
    uint64_t dst_addr, src_addr; // as the program sees them; 0: pageable memory of the host, or staged
} CopyJob;

typedef struct FillJob {
    char *dst;
    size_t width, height, pitch; // width in elements
    unsigned element;            // 1, 2 or 4 bytes
    uint32_t value;
    uint64_t addr; // of dst, as the program sees it
    size_t row;
} FillJob;

typedef struct KernelJob {
    VmLaunchParams params;
    VmLaunch *launch; // NULL until started
    Func *func;
    CUfunction handle; // as the program named it
    bool early;        // programmatic stream serialization: that it may begin early is not used, but told
} KernelJob;

typedef struct HostJob {
    CUhostFn fn;
    CUstreamCallback callback; // instead of fn
    CUstream stream;           // as the program named it
    void *user;
    bool started;
} HostJob;

typedef struct ValueJob {
    void *view;
    uint64_t value;
    unsigned flags;
    bool wide; // 64 bits
} ValueJob;

struct Item {
    Item *next;
    uint64_t seq; // over all streams
    ItemKind kind;
    Stream *stream;
    bool late; // comes when nothing else can
    Rng rng;   // own draws, so that they do not depend on when it runs
    union {
        CopyJob copy;
        FillJob fill;
        KernelJob kernel;
        HostJob host;
        ValueJob value;
        Mark *mark;
        uint64_t address;
    };
    void *owned; // staging or parameter buffer, freed with the item
};

Item *gr_item_new(ItemKind kind);
Item *gr_item_clone(const Item *it); // one that was not submitted; NULL when memory is out
void gr_item_free(Item *it);
void gr_queue_submit(Stream *s, Item *it);
// The same, or into the graph that the stream captures.
CUresult gr_submit(Stream *s, Item *it);
void gr_queue_finish(Item *it); // the head of its stream has ended
bool gr_queue_copy_chunk(CopyJob *c, size_t bytes);
bool gr_queue_fill_rows(FillJob *f, size_t rows);

uint64_t gr_queue_pending(void); // items over all streams
uint64_t gr_queue_launches(uint64_t *unfinished);
void gr_queue_asked(void);   // the call asks whether work has ended
void gr_queue_leave(void);   // a call that may have submitted something returns
void gr_queue_advance(void); // the quantum of one API call
unsigned gr_queue_pending_streams(void);
void gr_queue_print_times(void);
void gr_queue_exit(uint64_t steps); // what is done once exit was called: at most so much, and little in all
uint64_t gr_queue_slice(void);      // a slice for the device thread; 0: nothing could run
CUresult gr_queue_drain_stream(Stream *s); // all that is queued there now
CUresult gr_queue_drain_ctx(Ctx *ctx);     // likewise for all streams of the context
CUresult gr_queue_drain_mark(Ctx *ctx, Mark *m);
void gr_queue_drain_device(void); // every context: before memory goes away
void gr_queue_outlast(
    void); // likewise, but the program may not rely on it: the host knows no more than before
void gr_queue_cancel(Ctx *ctx);
void gr_queue_add_stream(Stream *s);
void gr_queue_remove_stream(Stream *s);
Stream *gr_queue_stream(size_t i); // NULL past the last
void gr_queue_seed(uint64_t seed);

// Observers of work (work.c): `kind` is a GrWorkKind of hooks.h. The host has waited for a stream, for all of a context,
// for everything (all NULL), or for a mark.
void gr_work_item(const Item *it, int kind);
void gr_work_waited(uint64_t stream, const Ctx *ctx, const Mark *mark);
// The host frees it without having waited for anything.
void gr_work_freed(const VmRange *r);
uint64_t gr_work_waits(void); // of which gr_work_waited told

bool gr_callback_busy(void); // one runs: another has to wait
// Hands a host function to the callback thread and waits a while.
void gr_callback_run(Item *it, bool draining);
void gr_device_thread_start(void);
void gr_note_unrepeatable(const char *what); // counts and tells
uint64_t gr_device_thread_unrepeatable(void);
void gr_fault_report(Ctx *ctx, const Item *it, const VmFault *fault);
CUresult gr_fault_code(VmFaultKind kind);

// ---- Capture (capture.c) -------------------------------------------------------------------------------------

// Whether a capture in the context forbids what the caller is about to do; then the capture is invalid from now on.
bool gr_capture_forbids(Ctx *ctx);
// The same: to wait for the stream or ask about it, to ask about an event that was captured, to use the legacy stream
// beside blocking ones. CUDA_SUCCESS if not.
CUresult gr_capture_stream_forbids(Stream *s);
CUresult gr_capture_event_forbids(const Event *e);
CUresult gr_capture_implicit(const Stream *s);
// To do anything that capture does not observe; and whether the entry point is always such (unsafe.def).
CUresult gr_capture_unsafe(void);
CUresult gr_capture_unsafe_in(const Stream *s); // the same with a stream that does not capture
bool gr_capture_is_unsafe(const char *function);
// Nodes of the graph that the stream captures.
CUresult gr_capture_item(Stream *s, Item *it); // takes the item
CUresult gr_capture_copy(Stream *s, const CUDA_MEMCPY3D *copy);
CUresult gr_capture_alloc(Stream *s, size_t size, CUdeviceptr *out);
CUresult gr_capture_free(Stream *s, CUdeviceptr address);
CUresult gr_capture_event(Stream *s, Event *e, CUgraphNodeType type);
// Edges of it: the event stands for what the stream captured last; the stream waits for what it stands for.
CUresult gr_capture_record(Stream *s, Event *e);
CUresult gr_capture_wait(Stream *s, Event *e);
void gr_capture_forget(Stream *s); // it is about to go

// What graph nodes do, as items that are not submitted (launch.c, copy.c, fill.c).
CUresult gr_launch_item(Ctx *ctx, const CUlaunchConfig *config, CUfunction f, void **params, void **extra,
                        Item **out);
CUresult gr_copy_item(const CUDA_MEMCPY3D *copy, Item **out);
CUresult gr_fill_item(const CUDA_MEMSET_NODE_PARAMS *fill, Item **out);

// ---- Printing (print.c) ------------------------------------------------------------------------------------

void gr_print_attach(Dev *d);
void gr_print_flush(void); // at synchronization points, as CUDA

// ---- Images, modules, functions ----------------------------------------------------------------------------

typedef struct JitLog {
    char *error, *info;
    size_t error_size, info_size;
    void **error_size_out, **info_size_out;
} JitLog;

void gr_jit_log_init(JitLog *log, unsigned n, const CUjit_option *options, void **values);
void gr_jit_log_error(JitLog *log, const gr_error *err);

// PTX texts, each allocated and terminated.
typedef struct PtxTexts {
    char **data;
    size_t len, cap;
} PtxTexts;

// The PTX of an image of any kind: text, fatbin, wrapper, or what cuLinkComplete made. `size` may be
// GR_FATBIN_UNBOUNDED. CUDA_ERROR_NO_BINARY_FOR_GPU when there is none for this device.
CUresult gr_image_texts(const void *data, size_t size, JitLog *log, PtxTexts *out);
void gr_ptx_texts_free(PtxTexts *t);
CUresult gr_image_load(const void *data, size_t size, JitLog *log, Image **out);
CUresult gr_image_load_file(const char *path, JitLog *log, Image **out);
CUresult gr_image_parse(const PtxTexts *texts, JitLog *log, Image **out);
// Marks the entries of a fatbin that belong together, as translation units of one module.
#define GR_LINKED_OPTION "gpurace-linked"
void gr_image_unref(Image *image);

CUresult gr_module_new(Ctx *ctx, Image *image, Library *library, JitLog *log, Module **out);
void gr_module_free(Module *m);
CUresult gr_module_func(Module *m, const char *name, Func **out);
CUresult gr_library_module(Library *lib, Ctx *ctx, Module **out);
void gr_library_forget(Library *lib, Module *m);
// A CUfunction, or a CUkernel in its place.
CUresult gr_func_get(Ctx *ctx, CUfunction handle, Func **out);
CUresult gr_func_attribute(Func *f, CUfunction_attribute attribute, int *value);
CUresult gr_func_set_attribute(Func *f, CUfunction_attribute attribute, int value);
CUresult gr_func_param_info(const Func *f, size_t index, size_t *offset, size_t *size);

// ---- Memory ------------------------------------------------------------------------------------------------

// The tool's view of [addr, addr+size), which must lie in one allocation.
void *gr_mem_device_view(CUdeviceptr addr, size_t size);
void gr_mem_count_visible(int64_t n); // managed variables of modules
bool gr_mem_host_visible(void);       // pinned, managed or registered memory exists
CUresult gr_mem_free_now(uint64_t addr);
CUresult gr_mem_alloc(Ctx *ctx, VmMemKind kind, size_t size, unsigned flags, VmRange **out);
bool gr_mem_reserved(uint64_t addr);  // among the allocations: an address that is in none of them is stray
void gr_advice_forget(uint64_t addr); // of managed memory that is about to be freed
MemPool *gr_pool_new(Dev *dev);
CUresult gr_pool_alloc(Ctx *ctx, MemPool *pool, size_t size, CUdeviceptr *out);
void gr_pool_forget(VmRange *r); // it is about to be freed

// The per-thread default stream instead of the legacy one.
static inline CUstream gr_per_thread(CUstream s) { return s == NULL ? CU_STREAM_PER_THREAD : s; }

#endif
