// SPDX-License-Identifier: Apache-2.0
// queue — the work that the program has queued on streams, and what does it: queue.c, a callback and a device thread.
#ifndef GR_DRIVER_CUDA_QUEUE_H
#define GR_DRIVER_CUDA_QUEUE_H

#include "base/rng.h"
#include "device_api/work.h"
#include "driver/cuda/stream.h"

typedef enum ItemKind {
    ITEM_KERNEL,
    ITEM_COPY,
    ITEM_FILL,
    ITEM_RECORD,
    ITEM_WAIT,
    ITEM_HOST,
    ITEM_ALLOC, // memory is there from now on: it was had when the call returned, and work comes after this
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
    uint64_t seq;  // over all streams
    uint32_t call; // GrWork.call
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
    bool node;                  // ALLOC and FREE: of a graph
    struct GraphMemory *memory; // ALLOC and FREE, of a graph's memory: a reference; else NULL
    void *owned;                // staging or parameter buffer, freed with the item
};

Item *gr_item_new(ItemKind kind);
Item *gr_item_clone(const Item *it); // one that was not submitted; NULL when memory is out
void gr_item_free(Item *it);
void gr_queue_submit(Stream *s, Item *it);
// Submits the item, or adds it to the graph that the stream captures.
CUresult gr_submit(Stream *s, Item *it);
void gr_queue_finish(Item *it); // the head of its stream has ended

uint64_t gr_queue_pending(void); // items over all streams
uint64_t gr_queue_launches(uint64_t *unfinished);
void gr_queue_asked(void);   // the call asks whether work has ended
void gr_queue_leave(void);   // a call that may have submitted something returns
void gr_queue_advance(void); // the quantum of one API call
unsigned gr_queue_pending_streams(void);
void gr_queue_print_times(void);
void gr_queue_exit(
    uint64_t steps); // the work that is done once exit was called: at most `steps`, and little in all
uint64_t gr_queue_slice(void); // a slice for the device thread; 0: nothing could run
// Drains all that is queued there now. A call that waits for the legacy stream also waits for the blocking ones of its
// context, even if nothing was queued in it (as an H100 does).
CUresult gr_queue_drain_stream(Stream *s);
bool gr_queue_is_done(const Stream *s); // whether that would not wait
CUresult gr_queue_drain_ctx(Ctx *ctx);  // of all streams
CUresult gr_queue_drain_mark(Ctx *ctx, Mark *m);
void gr_queue_drain_device(void); // every context: before memory goes away
// Drains every context, but the program may not rely on that: the host knows no more than before.
void gr_queue_outlast(void);
void gr_queue_cancel(Ctx *ctx);
uint64_t gr_queue_number(void); // of an item that nothing waits for: in the order of submission
uint64_t gr_queue_oldest(void); // the number of the first item that has not ended; UINT64_MAX: there is none
bool gr_queue_add_stream(Stream *s); // false: memory is out
void gr_queue_remove_stream(Stream *s);
Stream *gr_queue_stream(const Stream *after); // in order of creation; NULL: the first, and behind the last
void gr_queue_seed(uint64_t seed);

// Observers of work (work.c): the host waited for a stream, a context's streams, everything (all zero), or a mark.
typedef struct GrWaited {
    uint64_t stream;
    const Ctx *ctx;
    const Mark *mark;
    bool legacy; // the stream is its context's legacy one
} GrWaited;

void gr_work_item(const Item *it, GrWorkKind kind);
void gr_work_waited(GrWaited waited);
// The host frees memory without a wait (GR_WORK_FREES); the memory is gone (GR_WORK_FREED).
void gr_work_frees(GrWorkKind kind, uint64_t item, uint64_t launch, uint64_t addr, uint64_t size,
                   uint32_t call);
void gr_work_freed(uint64_t addr, uint64_t size); // both at once
uint32_t gr_work_call(void);                      // GrWork.call of what is submitted now
uint64_t gr_work_waits(void);                     // of which gr_work_waited told

// ---- retire.c ----------------------------------------------------------------------------------------------

// The program frees an allocation, and does not wait for its users: these go on, and then the memory goes.
void gr_retire(const VmRange *r);
// Frees retired objects that nothing uses any more.
void gr_retire_collect(void);
// Called as the program ends: engines hear of the rest, too.
void gr_retire_end(void);

// ---- callback.c, idle.c, fault.c ---------------------------------------------------------------------------

bool gr_callback_busy(void); // one runs: another has to wait
// Hands a host function to the callback thread and waits a while.
void gr_callback_run(Item *it, bool draining);
void gr_device_thread_start(void);
void gr_note_unrepeatable(const char *what); // counts and tells
uint64_t gr_device_thread_unrepeatable(void);
void gr_fault_report(Ctx *ctx, const Item *it, const VmFault *fault);
CUresult gr_fault_code(VmFaultKind kind);

#endif
