// SPDX-License-Identifier: Apache-2.0
// driver — what the parts of the CPU device's libcuda.so.1 share.
//
// The CUDA driver API over src/vm. Every entry point is: gr_cu_enter (take the one lock, let the device advance a
// seeded quantum, check the context), work on the objects below, gr_cu_leave. Work is queued on streams and done by the
// engine in queue.c, only while a thread holds the lock. docs/execution-model.md, "The API", says what a program may
// rely on.
#ifndef GR_DRIVER_CUDA_DRIVER_H
#define GR_DRIVER_CUDA_DRIVER_H

// All ABI versions of each entry point under their exported names, and visible.
#define __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_PUSH_VISIBILITY_DEFAULT
#include <cuda.h>

#include "base/map.h"
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
    HANDLE_PAGES,
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
// The calling thread, never 0; *began: how many waits had returned when its call began.
int gr_cu_caller(uint64_t *began);
void gr_cu_call_begins(void); // now, before it asks for the lock
// Gives the lock up until gr_cu_wake, or for at most `ms` milliseconds (0: without limit).
void gr_cu_wait(unsigned ms);
void gr_cu_wake(void);
uint64_t gr_cu_real_ms(void);
uint64_t gr_cu_calls(int *caller); // how often calls entered or left, and the thread that did last
bool gr_cu_busy(void);             // a thread holds the lock or waits for it
void gr_cu_in_callback(bool yes);  // this thread runs a host function: no CUDA calls from it
int gr_cu_start_thread(void *(*body)(void *), const char *name);
// The process has no threads but the calling one and the tool's own.
bool gr_cu_host_is_alone(void);

// ---- Hooks (init.c) ----------------------------------------------------------------------------------------

void gr_cu_hook_absent(const char *name);
void gr_cu_hook_note(const char *what);

// ---- Contexts (context.c) ----------------------------------------------------------------------------------

// A reference to a context for what may outlive it.
typedef struct CtxRef {
    Ctx *ctx;
    uint64_t id; // a destroyed context's address may be another one's by now
} CtxRef;
CtxRef gr_ctx_ref(Ctx *ctx);               // of NULL, too
Ctx *gr_ctx_of(CtxRef ref);                // NULL: it was destroyed, or there was none
Ctx *gr_ctx_current(void);                 // NULL when none
void gr_ctx_fail(Ctx *ctx, CUresult code); // sticky; cancels all queued work

// ---- Printing (print.c) ------------------------------------------------------------------------------------

void gr_print_attach(Dev *d);
void gr_print_flush(void); // at synchronization points, as CUDA

#endif
