// SPDX-License-Identifier: Apache-2.0
// async — operations that a thread starts and that happen later: cp.async, cp.async.bulk, cp.reduce.async.bulk,
// st.async, red.async, and the arrivals of cp.async.mbarrier.arrive. Internal.
//
// Each operation reads its source at one seeded moment and writes its destination at another (docs/execution-model.md,
// "Asynchronous operations"); until then nothing of it has happened. A wait that must see it makes it happen, so does
// the end of the block. It belongs to the block that issued it: its records, its order and its numbers are the
// block's; only the moments come from the launch's heap of sleepers.
#ifndef GR_VM_ASYNC_ASYNC_H
#define GR_VM_ASYNC_ASYNC_H

#include "vm/core/mem_insn.h"
#include "vm/core/warp.h"

// Bytes an operation's record holds between reading and writing. Larger bulk operations are done in pieces.
enum { VM_ASYNC_PIECE = 512, VM_ASYNC_ALIGN = 16 };

// A place in global memory or in some block's shared memory.
typedef struct VmEnd {
    VmBlock *block; // NULL: global memory
    uint64_t at;    // address, or offset within the block's shared memory
} VmEnd;

// An address operand.
typedef struct VmAddress {
    uint32_t slot;
    uint8_t width; // bytes of the register
    PtxSpace space;
    uint64_t offset;
} VmAddress;

typedef enum VmAsyncDo {
    VM_ASYNC_COPY,   // destination = source
    VM_ASYNC_REDUCE, // destination = op(destination, source), element by element
    VM_ASYNC_ARRIVE, // nothing but an arrival, after all earlier cp.async of the lanes
} VmAsyncDo;

struct VmAsyncOp {
    VmAsyncOp *prev, *next; // in the warp's list, in order of issue
    VmWarpRest *warp;
    const VmInsn *insn;
    const PtxModule *module; // that it is in
    uint64_t id;
    uint64_t alarm;    // number of the heap's entry that means this operation
    uint64_t write_ps; // how long after reading it writes
    uint32_t mask;     // lanes of the instruction
    uint32_t unread, unwritten;
    uint32_t group; // number of the group it is or will be in
    uint32_t bytes; // per lane
    uint8_t act;    // VmAsyncDo
    uint8_t completes;
    uint8_t proxy;
    uint8_t elem;       // REDUCE: bytes of an element
    uint16_t byte_mask; // COPY: which of 16 bytes are written
    uint32_t zeroed;    // lanes whose source is not looked at
    // Lanes whose destination is stray (gr_vm_stray): they move nothing, and observers do not hear of them.
    uint32_t nowhere;
    uint32_t unchanged; // lanes that wrote what was there already, in the last writing
    bool direct;        // cp.async of whole lanes between places known to be there …
    ptrdiff_t delta;    // … the source's here, while memory is of this generation
    uint64_t generation;
    uint64_t (*apply)(uint64_t old, uint64_t a, uint64_t b);
    VmBlock *src_block, *dst_block; // NULL: global memory
    VmEnd bar;                      // MBARRIER and ARRIVE
    uint64_t src[VM_LANES], dst[VM_LANES];
    uint8_t src_bytes[VM_LANES];  // cp.async: less than `bytes` leaves zeros
    uint8_t data[VM_ASYNC_PIECE]; // lane l's at l * 16 when `bytes` is at most 16, else one lane's
};

// What a warp has in flight, and how many groups each lane has committed: of cp.async, of bulk operations.
struct VmWarpAsync {
    VmAsyncOp *first, *last;
    uint32_t groups[2][VM_LANES];
};

// ---- async.c: the queue --------------------------------------------------------------------------------------------

// A record for an operation of the lanes `mask`, to be filled in and handed to gr_vm_async_issue. NULL: out of memory.
VmAsyncOp *gr_vm_async_new(VmWarpRest *r, const VmInsn *i, uint32_t mask);
// False: out of memory, or the launch has faulted.
bool gr_vm_async_issue(VmAsyncOp *op);
// The running lanes' operations so far become a group (bulk: 0 or 1).
bool gr_vm_async_commit(VmWarpRest *r, uint32_t mask, unsigned bulk);
// Performs the lanes' groups but the last `keep`, or all of that kind (`all`); with `read_only` only their reads.
void gr_vm_async_wait(VmWarpRest *r, uint32_t mask, unsigned bulk, uint32_t keep, bool all, bool read_only);

// ---- async_end.c: places -------------------------------------------------------------------------------------------

// Where the lane's address operand points. False: it is stray (gr_vm_stray).
bool gr_vm_async_end(VmWarp *w, const VmInsn *i, unsigned lane, const VmAddress *a, VmEnd *out);
// The bytes there. NULL: it is stray.
uint8_t *gr_vm_end_host(VmWarp *w, const VmInsn *i, unsigned lane, VmEnd end, uint64_t size,
                        PtxAccess access);
// False: `at` is no multiple of `align`, and the access is stray.
bool gr_vm_end_aligned(VmWarp *w, const VmInsn *i, unsigned lane, uint64_t at, uint32_t align,
                       const char *what);
// The first two for an mbarrier, which nothing can stand for: NULL and false when the launch has faulted.
bool gr_vm_bar_end(VmWarp *w, const VmInsn *i, unsigned lane, const VmAddress *a, VmEnd *out);
uint8_t *gr_vm_bar_host(VmWarp *w, const VmInsn *i, unsigned lane, VmEnd bar);

// ---- Operands, from decode_async.c to exec_async.c -----------------------------------------------------------------

typedef struct VmCopyInfo { // cp.async: a size of the source, b predicate that ignores it
    VmAddress dst, src;     // bulk: a size, b mask of blocks, c mask of bytes
    VmAddress bar;
    uint8_t bytes; // cp.async
    bool has_size, has_ignore, has_bar, has_blocks, has_bytes;
    uint8_t elem; // bulk reductions; 0: a copy
    uint64_t (*apply)(uint64_t old, uint64_t a, uint64_t b);
} VmCopyInfo;

typedef struct VmStoreInfo { // st.async, red.async
    VmAddress dst, bar;
    bool has_bar;
    uint8_t vec, elem;
    uint8_t reg_bytes[4];
    uint32_t slot[4];
    uint64_t (*apply)(uint64_t old, uint64_t a, uint64_t b); // NULL: a store
} VmStoreInfo;

typedef struct VmGroupInfo { // imm: how many groups may be left
    bool bulk, all, read_only;
} VmGroupInfo;

// ---- mbarrier.c ----------------------------------------------------------------------------------------------------

typedef enum VmMbarOp {
    VM_MBAR_DO_INIT,
    VM_MBAR_DO_INVAL,
    VM_MBAR_DO_EXPECT,
    VM_MBAR_DO_COMPLETE,
    VM_MBAR_DO_ARRIVE,
    VM_MBAR_DO_DROP,
    VM_MBAR_DO_TEST,
    VM_MBAR_DO_TRY,
} VmMbarOp;

typedef struct
    VmMbarInfo { // VmInsn: d the state or the predicate, b count, state or parity, c transactions or time
    VmMbarOp op;
    VmAddress at;
    bool has_state, has_count, has_tx, no_complete, parity, has_hint;
    PtxSem sem;
    PtxScope scope;
} VmMbarInfo;

// One arrival for an operation of `op`'s lane, and `bytes` of transactions completed by it. False: faulted.
bool gr_vm_mbar_arrive(VmAsyncOp *op, unsigned lane);
bool gr_vm_mbar_complete(VmAsyncOp *op, unsigned lane, uint32_t bytes);
// cp.async.mbarrier.arrive without .noinc: one more arrival is pending in this phase.
bool gr_vm_mbar_pend(VmWarp *w, const VmInsn *i, unsigned lane, VmEnd bar);

// ---- observe.c -----------------------------------------------------------------------------------------------------

// An access of one lane to a whole range.
void gr_vm_report_range(VmWarp *w, const VmInsn *i, unsigned lane, VmEnd end, uint64_t size,
                        PtxAccess access);
void gr_vm_report_async(VmWarpRest *r, const VmInsn *i, uint32_t mask, VmAsyncEvent *e);

static inline uint8_t *async_data(VmAsyncOp *op, unsigned lane) {
    return op->data + (op->bytes <= VM_ASYNC_ALIGN ? lane * VM_ASYNC_ALIGN : 0);
}

static inline uint64_t address_of(const VmWarp *w, const VmAddress *a, unsigned lane) {
    return a->width == 4 ? (uint32_t)(VM_U32(w, a->slot)[lane] + (uint32_t)a->offset)
                         : VM_U64(w, a->slot)[lane] + a->offset;
}

#endif
