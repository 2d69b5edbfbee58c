// SPDX-License-Identifier: Apache-2.0
// model — what one thread of a kernel accesses, as terms: where, when, and between which barriers.
//
// Made from PTX of -O0 shape (nvcc -Xcicc -O0, or --Ofast-compile=max), where one access of the source is one of the
// PTX. Calls are inlined, the local depot is forwarded, loops are summed up by counters. What cannot be followed
// becomes a free symbol, or a GrGap: it is never left out. The model says more than can happen, never less: a proof
// that it has no race holds for the kernel.
#ifndef GR_ENGINES_VERIFIER_KERNEL_MODEL_H
#define GR_ENGINES_VERIFIER_KERNEL_MODEL_H

#include "base/status.h"
#include "base/vec.h"
#include "engines/verifier/kernel/linked.h"
#include "engines/verifier/term/term.h"

// ---- Memory -----------------------------------------------------------------------------------------------------

typedef enum GrObjectKind {
    GR_OBJECT_PARAM,  // what a pointer parameter points to; the host says which allocation
    GR_OBJECT_GLOBAL, // a variable of the module
    GR_OBJECT_SHARED, // a shared variable, or dynamic shared memory: one for each block
    // A pointer that was loaded or not computed from a pointer: may be any global memory. Offsets are addresses.
    GR_OBJECT_UNKNOWN,
} GrObjectKind;

typedef struct GrObject {
    GrObjectKind kind;
    uint32_t id;            // dense from 0, within the model
    const PtxVar *var;      // GLOBAL, SHARED
    uint32_t param, offset; // PARAM: parameter, and byte within it where the pointer stands
    uint64_t size;          // bytes; 0 not known
    bool written;           // by some access of the model, or by one that may be to any object
    const char *name;       // for people: the variable, "parameter 2", "a pointer loaded at line 12"
    GrSymbol *symbol;       // OBJECT: for READs
} GrObject;

static inline bool gr_is_same_object(const GrObject *a, const GrObject *b) { // of two models of a kernel
    return a->kind == b->kind && a->var == b->var && a->param == b->param && a->offset == b->offset;
}

// ---- Places ------------------------------------------------------------------------------------------------------

typedef struct GrPlace {         // one position of the source, and the calls that led there
    const char *file, *function; // function: NULL in the kernel itself
    uint32_t line;
    const struct GrPlace *inlined_at;
} GrPlace;

// ---- Loops and barriers ------------------------------------------------------------------------------------------

// Which threads meet.
typedef enum GrReach {
    GR_REACH_WARP,
    GR_REACH_BLOCK,
    GR_REACH_GRID,
    GR_REACHES,
} GrReach;

typedef struct GrLoop {
    uint32_t id, line;
    const struct GrLoop *parent;
    GrSymbol *counter;  // scope THREAD: how often the back edge was taken
    const GrTerm *left; // what holds of its counter and others when a thread leaves it; NULL: not known
    bool has_barrier;   // some barrier of the block is in it
    // All threads of a warp, a block, the grid go round equally often: by the condition, or a barrier in each round.
    bool uniform[GR_REACHES];
} GrLoop;

// Whether `inner` is `outer` or lies in it. `outer` NULL, the kernel itself: always.
static inline bool gr_loop_is_within(const GrLoop *inner, const GrLoop *outer) {
    while (inner && inner != outer)
        inner = inner->parent;
    return inner == outer;
}

typedef enum GrBarrierKind {
    GR_BARRIER_ENTRY, // the kernel's begin, as a barrier
    GR_BARRIER_BLOCK, // bar.sync, barrier.sync of all threads
    GR_BARRIER_WARP,  // bar.warp.sync
    GR_BARRIER_GRID,  // a cooperative grid's barrier
    GR_BARRIER_SOME,  // a barrier of some threads, or a named one: `number`, `count`
} GrBarrierKind;

// All such threads meet at such a barrier, if they come to it. The entry is one for all.
static inline bool gr_barrier_joins(GrBarrierKind kind, GrReach reach) {
    switch (kind) {
    case GR_BARRIER_ENTRY:
    case GR_BARRIER_GRID: return true;
    case GR_BARRIER_BLOCK: return reach != GR_REACH_GRID;
    case GR_BARRIER_WARP: return reach == GR_REACH_WARP;
    case GR_BARRIER_SOME: break;
    }
    return false;
}

typedef struct GrBarrier {
    uint32_t id;
    GrBarrierKind kind;
    const PtxStmt *stmt;
    const GrTerm *guard;          // when a thread comes to it
    const GrTerm *mask;           // WARP: lanes; NULL: not known
    const GrTerm *number, *count; // SOME
    const GrLoop *loop;
    bool each_round; // of every loop around it, a thread comes to it in each round
    const GrPlace *place;
    const void *flat; // the model's own
} GrBarrier;

// How an access can come after a barrier with no other one of the same reach between: `rounds` is how often the back
// edge of the innermost loop around the barrier was taken since.
typedef enum GrRounds {
    GR_ROUNDS_SAME,
    GR_ROUNDS_NEXT,
    GR_ROUNDS_ANY,
    GR_ROUNDS_LEFT, // the loop
    GR_ROUNDS_FLIGHT // the access is an asynchronous copy, and the barrier comes before the wait that completes it
} GrRounds;
typedef struct GrAfter {
    const GrBarrier *barrier;
    GrRounds rounds;
    // Bit n: with n back edges of that loop since (2: or more), before it was left or not. FLIGHT: with n back edges
    // between the copy and the barrier; from the loop's entry, if the copy is not in it.
    uint8_t taken;
    // FLIGHT: back edges of the outermost loop around the copy until that loop was left. 0 if the barrier is in it.
    uint8_t own;
    // Bits of loops (id below 64) that were entered since and took no back edge: their counters are 0.
    uint64_t still;
} GrAfter;
typedef VEC(GrAfter) GrAfters;

// ---- Accesses ------------------------------------------------------------------------------------------------------

// A fence or a barrier of the block on every path to the access (`before`) or on every path from it to the kernel's end
// (`behind`), or an atomic there that may take or release a lock.
typedef struct GrSync {
    const PtxStmt *stmt;
    PtxScope scope;
    PtxSem sem;                                        // of a fence or an access with semantics
    bool is_fence, is_cas, is_exch, is_write, is_read; // a strong store may publish, a strong load may wait
    // The barrier of the whole block that it is; NULL: none. Only in kernels that may wait in a loop.
    const GrBarrier *barrier;
    bool spins;                          // a loop repeats it until it has the value that it waits for
    const struct GrKernelAccess *access; // that it is; NULL: of a fence
    const GrLoop *wait;                  // of one that spins: the loop that repeats it
    const GrLoop *round;                 // of one that spins: the loop around `wait`; NULL: none
    GrObject *object;                    // of an atomic or a strong access
    const GrTerm *offset;
    const GrTerm *result; // the value that it returned; NULL: not known
    const GrTerm *until;  // of one that spins: what holds when its loop is left
    const GrPlace *place;
} GrSync;

// Back edges that are not counted further; and those of a loop around, so that nothing is known of the inner one's.
enum { GR_FLIGHT_MANY = 6, GR_FLIGHT_ANY = 7 };

// What a thread accesses while an asynchronous copy of its own may be under way.
typedef struct GrFlight {
    const struct GrKernelAccess *other;
    const GrLoop *loop; // each of those around `other`; NULL: there is none
    uint8_t taken, own; // of that loop, as in GrAfter
} GrFlight;

typedef struct GrKernelAccess {
    uint32_t id;
    const PtxStmt *stmt; // in the original module
    const PtxFunc *func; // whose statement it is: the kernel, or what it calls
    uint32_t site;       // PtxSite.id
    const GrPlace *place;
    bool reads, writes, atomic, strong;
    PtxScope scope; // of strong ones
    PtxSem sem;
    bool async;    // performed later (cp.async)
    bool keeps;    // an atomic that writes what it finds, as one that adds 0
    uint32_t size; // bytes from offset on
    uint32_t unit; // bytes of one of its elements: a vector is several accesses side by side (PTX ISA 8.2.2)
    GrObject *object;
    const GrTerm *offset; // 64 bits
    const GrTerm *guard;  // 1 bit: when the thread makes it
    const GrTerm *value;  // of a store, where known; else NULL
    const GrTerm *compare,
        *swap; // of atom.cas what it compares with and writes; of atom.exch what it writes; else NULL
    const GrSync *sync; // of a strong one
    const GrLoop *loop; // innermost; NULL: none
    // By the barriers that join these threads; GRID: empty if the kernel has no barrier of the grid.
    GrAfters after[GR_REACHES];
    VEC(GrSync *) before, behind; // in program order, nearest last / first
    VEC(GrFlight) flights;        // of an asynchronous copy
    const void *flat;             // the model's own
} GrKernelAccess;

// What the model leaves open: verdicts that it concerns are `unknown`.
typedef struct GrGap {
    const char *why; // "indirect call", "texture", "recursion", "wmma", …
    const GrPlace *place;
    bool of_link;         // the modules do not link: `why` is a sentence that says what to do
    bool whole_kernel;    // else only the accesses that are not there (their objects are named in `why`)
    const GrTerm *unless; // of the launch: where this holds, nothing is left open. NULL: it always is
} GrGap;

typedef struct GrKernelModel {
    Arena arena;
    const GrLinked *linked; // NULL: the kernel's module is alone
    const PtxFunc *func;
    VEC(GrObject *) objects;
    VEC(GrKernelAccess *) accesses;
    VEC(GrBarrier *) barriers;
    VEC(GrLoop *) loops;
    VEC(GrGap) gaps;
    VEC(const GrTerm *)
    facts; // that hold in every thread: tid < ntid, loop counters >= 0, what atomics return, uniform values
    VEC(const GrTerm *)
    no_wrap; // 32-bit operations on addresses that integers read as exact: for the check of the assumption
    bool shared_escapes; // what is UNKNOWN may be shared memory, too
    struct KFlat *flat;  // the model's own
    unsigned walks;
} GrKernelModel;

// The model of kernel `f`, of one of the modules that `l` links (NULL: its module alone). Terms are made in `t`, which
// must outlive the model, and so must the modules and *l. GR_ERR_UNSUPPORTED never: `gaps` has what is not understood.
// GR_ERR_LIMIT: more than `most_accesses` (0: 20000) or terms after inlining; also a gap in effect.
gr_status gr_kernel_model(GrTerms *t, const GrLinked *l, const PtxFunc *f, uint32_t most_accesses,
                          GrKernelModel *out, gr_error *err);
// The model where other threads may change these objects (of an earlier model; they may be memory that is written):
// each load from them is a free value. A READ of them would have one value for all threads and all times.
gr_status gr_kernel_model_changing(GrTerms *t, const GrLinked *l, const PtxFunc *f, uint32_t most_accesses,
                                   const GrObject *const *changing, size_t n_changing, GrKernelModel *out,
                                   gr_error *err);
void gr_kernel_model_free(GrKernelModel *m);

bool gr_kernel_has_grid_barrier(const GrKernelModel *m);

// The symbol of `bits` bits at byte `offset` of the kernel's parameter `param` (one for each place, made at need).
const GrSymbol *gr_kernel_param(GrTerms *t, const PtxFunc *f, uint32_t param, uint32_t offset, uint32_t bits);
const GrSymbol *gr_kernel_special(GrTerms *t, const char *name); // "%tid.x", …: 32 bits, with its range

#endif
