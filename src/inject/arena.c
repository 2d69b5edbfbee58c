// SPDX-License-Identifier: Apache-2.0
// The arena: for an engine with CAP_ARENA the program's device memory lies in one range of addresses, reserved once per
// device. So the engine's own data about that memory can lie at a computed distance.
//
//     arena    |piece     |piece                  |   free    |piece |                                  free |
//     pieces   |block block  block|  one block of many bytes  |block  block|
//
// A piece is memory of the driver's virtual memory functions, created and mapped as a whole. A large allocation has a
// piece for itself, small ones share one, at multiples of 512 bytes as cuMemAlloc's. Each block has a ticket, an
// ordinary allocation of a byte. The driver allocates and frees the ticket, and the program gets its answers; freeing
// the ticket waits as freeing the memory would. Questions about an address in a block get the answers about its ticket.
//
// Stream-ordered memory stays the driver's; all memory does if the driver lacks the functions or addresses run out.
#include "base/vec.h"
#include "inject/handlers.h"
#include "inject/memory.h"
#include "inject/session.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_DEVICES = 64, ALIGN = 512 };
#define MIB          ((size_t)1 << 20)
#define GRANULE      (2 * MIB)
#define SHARED_LEAST (2 * MIB)
#define SHARED_MOST  (64 * MIB)

typedef struct Piece {
    CUdeviceptr at;
    size_t size;
    CUmemGenericAllocationHandle handle;
    size_t next;      // bytes from its start: behind the last block that was put at the end
    size_t too_large; // as many bytes were looked for in vain since a block was last freed
    uint32_t blocks;
    uint64_t peers; // devices that have access besides its own
    bool shared;
    bool busy; // it is being mapped or unmapped, without the lock
} Piece;

typedef struct Block {
    CUdeviceptr at, ticket;
    size_t size, ticket_size;
    CUcontext context;
    uint64_t freed; // in stream order, at that count of `clock`; 0: it was not
    bool leaving;   // a thread is about to free it
} Block;

typedef struct DeviceArena {
    GrArena pub;
    bool tried;
    VEC(Piece *) pieces; // by address, like the next
    VEC(Block) blocks;
    uint64_t peers;
    uint64_t clock;
} DeviceArena;

// The driver's own functions, found once.
static struct {
    bool asked;
    CUresult (*device)(CUdevice *), (*total)(size_t *, CUdevice), (*push)(CUcontext), (*pop)(CUcontext *);
    CUresult (*reserve)(CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long);
    CUresult (*create)(CUmemGenericAllocationHandle *, size_t, const CUmemAllocationProp *,
                       unsigned long long);
    CUresult (*release)(CUmemGenericAllocationHandle);
    CUresult (*map)(CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle, unsigned long long);
    CUresult (*unmap)(CUdeviceptr, size_t);
    CUresult (*access)(CUdeviceptr, size_t, const CUmemAccessDesc *, size_t);
    CUresult (*wait)(void);
} cu;

static DeviceArena *arenas[MAX_DEVICES];
// Not held while the driver may wait for the device.
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void after_fork(void) { pthread_mutex_init(&mutex, NULL); }
__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(NULL, NULL, after_fork); }

static size_t round_up(size_t n, size_t to) { return n > SIZE_MAX - to ? 0 : (n + to - 1) / to * to; }

// ---- Reserving -----------------------------------------------------------------------------------------------------

static bool ask(void) {
#define ASK(field, name) cu.field = (__typeof__(cu.field))gr_driver_function(name)
    if (!cu.asked) {
        ASK(device, "cuCtxGetDevice");
        ASK(total, "cuDeviceTotalMem");
        ASK(push, "cuCtxPushCurrent");
        ASK(pop, "cuCtxPopCurrent");
        ASK(reserve, "cuMemAddressReserve");
        ASK(create, "cuMemCreate");
        ASK(release, "cuMemRelease");
        ASK(map, "cuMemMap");
        ASK(unmap, "cuMemUnmap");
        ASK(access, "cuMemSetAccess");
        ASK(wait, "cuCtxSynchronize");
        cu.asked = true;
    }
#undef ASK
    return cu.device && cu.total && cu.reserve && cu.create && cu.release && cu.map && cu.unmap &&
           cu.access && cu.wait;
}

// Twice the device's memory, up to a power of two, so that there is room between large allocations.
static size_t extent_of(CUdevice device) {
    size_t total = 0, size = GRANULE;
    if (cu.total(&total, device) != CUDA_SUCCESS)
        return 0;
    while (size < total && size < SIZE_MAX / 4)
        size *= 2;
    return 2 * size;
}

static void reserve(DeviceArena *a, CUdevice device) {
    size_t size = ask() ? extent_of(device) : 0;
    CUdeviceptr base = 0;
    a->tried = true;
    if (!size || cu.reserve(&base, size, 0, 0, 0) != CUDA_SUCCESS)
        gr_session_remarkf(
            "device memory lies where the driver puts it: the driver reserves no addresses for it");
    else
        a->pub = (GrArena){device, base, size};
}

// The arena of the current context's device; NULL: there is none. With the lock.
static DeviceArena *current(void) {
    CUdevice device = -1;
    if (!(gr_session.engine->caps & CAP_ARENA) || (!ask() && !cu.device) ||
        cu.device(&device) != CUDA_SUCCESS || device < 0 || device >= MAX_DEVICES)
        return NULL;
    DeviceArena *a = arenas[device];
    if (!a && !(a = arenas[device] = calloc(1, sizeof *a)))
        return NULL;
    if (!a->tried)
        reserve(a, device);
    return a->pub.base ? a : NULL;
}

bool gr_arena_of_device(GrArena *out) {
    pthread_mutex_lock(&mutex);
    const DeviceArena *a = current();
    if (a)
        *out = a->pub;
    pthread_mutex_unlock(&mutex);
    return a;
}

// ---- Pieces --------------------------------------------------------------------------------------------------------

// What follows is with the lock, unless it says otherwise.

// How many pieces begin at or before the address.
static size_t count_to(const DeviceArena *a, CUdeviceptr at) {
    size_t lo = 0, hi = a->blocks.len;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (a->blocks.data[mid].at <= at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static Piece *piece_of(const DeviceArena *a, CUdeviceptr at) {
    for (size_t i = 0; i < a->pieces.len; i++)
        if (at - a->pieces.data[i]->at < a->pieces.data[i]->size)
            return a->pieces.data[i];
    return NULL;
}

// Takes addresses, the lowest that are free. NULL: there are none.
static Piece *new_piece(DeviceArena *a, size_t size, bool shared) {
    CUdeviceptr at = a->pub.base;
    size_t i = 0;
    for (; i < a->pieces.len && a->pieces.data[i]->at - at < size; i++)
        at = a->pieces.data[i]->at + a->pieces.data[i]->size;
    if (size > a->pub.size || at - a->pub.base > a->pub.size - size)
        return NULL;
    Piece *p = malloc(sizeof *p);
    if (!p || !gr_vec_push(&a->pieces, p)) {
        free(p);
        return NULL;
    }
    memmove(a->pieces.data + i + 1, a->pieces.data + i, (a->pieces.len - 1 - i) * sizeof *a->pieces.data);
    a->pieces.data[i] = p;
    *p = (Piece){.at = at, .size = size, .too_large = SIZE_MAX, .shared = shared, .busy = true};
    return p;
}

static void remove_piece(DeviceArena *a, Piece *p) {
    gr_vec_drop(&a->pieces, p);
    free(p);
}

// Lets devices into the piece. Without the lock; the piece is busy.
static CUresult give_access(const DeviceArena *a, const Piece *p, uint64_t peers) {
    CUmemAccessDesc desc[MAX_DEVICES];
    size_t n = 0;
    for (int d = 0; d < MAX_DEVICES; d++)
        if (d == a->pub.device || peers >> d & 1)
            desc[n++] =
                (CUmemAccessDesc){{CU_MEM_LOCATION_TYPE_DEVICE, d}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    return cu.access(p->at, p->size, desc, n);
}

// Creates and maps the piece's memory. Without the lock; the piece is busy.
static CUresult back(const DeviceArena *a, Piece *p, uint64_t peers) {
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, a->pub.device}};
    CUresult rc = cu.create(&p->handle, p->size, &prop, 0);
    if (rc != CUDA_SUCCESS)
        return rc;
    rc = cu.map(p->at, p->size, 0, p->handle, 0);
    if (rc == CUDA_SUCCESS) {
        rc = give_access(a, p, peers);
        if (rc == CUDA_SUCCESS)
            return rc;
        (void)cu.unmap(p->at, p->size);
    }
    (void)cu.release(p->handle);
    return rc;
}

// Gives the memory of a piece without blocks back. The lock is not held meanwhile.
static void retire(DeviceArena *a, Piece *p) {
    p->busy = true;
    pthread_mutex_unlock(&mutex);
    CUresult rc = cu.unmap(p->at, p->size);
    CUresult released = cu.release(p->handle);
    pthread_mutex_lock(&mutex);
    if (rc == CUDA_SUCCESS && released == CUDA_SUCCESS)
        remove_piece(a, p); // else its addresses are not used again
}

// Retires idle pieces. A shared kind keeps one piece for later blocks, unless `all`.
static void retire_idle(DeviceArena *a, bool all) {
    unsigned kept = 0;
    for (size_t i = 0; i < a->pieces.len; i++) {
        Piece *p = a->pieces.data[i];
        if (p->blocks || p->busy || (!all && p->shared && !kept++))
            continue;
        retire(a, p);
        i = (size_t)-1; // other threads were let in
        kept = 0;
    }
}

// ---- Blocks --------------------------------------------------------------------------------------------------------

// Takes a free place in the piece: at its end, or between blocks. 0: there is none.
static CUdeviceptr place_in(const DeviceArena *a, Piece *p, size_t room) {
    if (p->busy || !p->shared || room > p->size || room >= p->too_large)
        return 0;
    if (room <= p->size - p->next) {
        p->next += room;
        return p->at + p->next - room;
    }
    CUdeviceptr at = p->at;
    size_t i = count_to(a, p->at - 1);
    for (; i < a->blocks.len && a->blocks.data[i].at < p->at + p->size; i++) {
        if (a->blocks.data[i].at - at >= room)
            return at;
        at = a->blocks.data[i].at + round_up(a->blocks.data[i].size, ALIGN);
    }
    if (p->at + p->size - at < room) {
        p->too_large = room;
        return 0;
    }
    p->next = at + room - p->at; // the last blocks before had gone
    return at;
}

static bool add_block(DeviceArena *a, Piece *p, CUdeviceptr at, size_t size) {
    if (!gr_vec_push(&a->blocks, ((Block){0})))
        return false;
    size_t i = a->blocks.len - 1;
    for (; i > 0 && a->blocks.data[i - 1].at > at; i--)
        a->blocks.data[i] = a->blocks.data[i - 1];
    a->blocks.data[i] = (Block){.at = at, .size = size, .context = gr_current_context(), .leaving = true};
    p->blocks++;
    return true;
}

static Block *block_at(const DeviceArena *a, CUdeviceptr at) {
    size_t n = count_to(a, at);
    Block *b = n ? &a->blocks.data[n - 1] : NULL;
    return b && at - b->at < b->size ? b : NULL;
}

static void remove_block(DeviceArena *a, Block *b) {
    Piece *p = piece_of(a, b->at);
    p->too_large = SIZE_MAX;
    if (--p->blocks == 0)
        p->next = 0;
    size_t i = (size_t)(b - a->blocks.data);
    memmove(b, b + 1, (a->blocks.len - 1 - i) * sizeof *b);
    a->blocks.len--;
}

// Takes back memory freed in stream order whose turn has come: the context's earlier work is done.
static void sweep(DeviceArena *a, CUcontext context, uint64_t until) {
    for (size_t i = a->blocks.len; i-- > 0;) {
        Block *b = &a->blocks.data[i];
        if (b->freed && b->freed <= until && b->context == context)
            remove_block(a, b);
    }
}

// Small allocations share pieces, which are the larger the more there are.
static size_t size_of_piece(const DeviceArena *a, size_t room, bool shared) {
    size_t have = 0, size = SHARED_LEAST;
    for (size_t i = 0; shared && i < a->pieces.len; i++)
        have += a->pieces.data[i]->shared ? a->pieces.data[i]->size : 0;
    while (shared && size < SHARED_MOST && (size < have || size < room))
        size *= 2;
    return shared ? size : round_up(room, GRANULE);
}

// Makes a block in a new piece; *rc says why not. Gives the lock up meanwhile.
static CUdeviceptr place_anew(DeviceArena *a, size_t size, size_t piece_size, bool shared, CUresult *rc) {
    Piece *p = new_piece(a, piece_size, shared);
    *rc = CUDA_ERROR_INVALID_VALUE;
    if (!p)
        return 0;
    do {
        uint64_t peers = a->peers;
        bool is_new = !p->handle;
        pthread_mutex_unlock(&mutex);
        *rc = is_new ? back(a, p, peers) : give_access(a, p, peers);
        pthread_mutex_lock(&mutex);
        p->peers = peers;
    } while (*rc == CUDA_SUCCESS && p->peers != a->peers); // meanwhile another device was let in
    if (*rc != CUDA_SUCCESS) {
        remove_piece(a, p);
        return 0;
    }
    p->busy = false;
    p->next = round_up(size, ALIGN);
    CUdeviceptr at = p->at;
    return add_block(a, p, at, size) ? at : 0;
}

static CUdeviceptr place(DeviceArena *a, size_t size, CUresult *rc) {
    size_t room = round_up(size, ALIGN);
    bool shared = room <= SHARED_MOST / 4;
    *rc = CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; room && shared && i < a->pieces.len; i++) {
        Piece *p = a->pieces.data[i];
        CUdeviceptr at = place_in(a, p, room);
        if (at)
            return add_block(a, p, at, size) ? at : 0;
    }
    size_t piece = room ? size_of_piece(a, room, shared) : 0;
    CUdeviceptr at = piece ? place_anew(a, size, piece, shared, rc) : 0;
    size_t least = round_up(room, GRANULE);
    return at || *rc != CUDA_ERROR_OUT_OF_MEMORY || least >= piece ? at
                                                                   : place_anew(a, size, least, shared, rc);
}

// ---- What on_memory.c calls, without the lock ----------------------------------------------------------------------

CUdeviceptr gr_placed_alloc(size_t size) {
    CUresult rc;
    pthread_mutex_lock(&mutex);
    DeviceArena *a = size ? current() : NULL;
    CUdeviceptr at = a ? place(a, size, &rc) : 0;
    if (a && !at && rc == CUDA_ERROR_OUT_OF_MEMORY) {
        uint64_t until = a->clock;
        CUcontext context = gr_current_context();
        bool some = false;
        for (size_t i = 0; i < a->blocks.len; i++)
            some = some || a->blocks.data[i].freed;
        pthread_mutex_unlock(&mutex);
        CUresult waited = some ? cu.wait() : CUDA_ERROR_NOT_READY;
        pthread_mutex_lock(&mutex);
        if (waited == CUDA_SUCCESS)
            sweep(a, context, until);
        retire_idle(a, true);
        at = place(a, size, &rc);
    }
    pthread_mutex_unlock(&mutex);
    return at;
}

CUresult gr_placed_outside(CUresult rc) {
    if (rc == CUDA_SUCCESS && gr_session.engine->caps & CAP_ARENA)
        gr_session_remarkf(
            "some device memory of the program lies outside of the range that the engine asked for");
    return rc;
}

static DeviceArena *arena_of(CUdeviceptr at) {
    for (int d = 0; d < MAX_DEVICES; d++)
        if (arenas[d] && at - arenas[d]->pub.base < arenas[d]->pub.size)
            return arenas[d];
    return NULL;
}

CUresult gr_placed_keep(CUresult rc, CUdeviceptr at, CUdeviceptr ticket, size_t ticket_size) {
    pthread_mutex_lock(&mutex);
    DeviceArena *a = arena_of(at);
    Block *b = block_at(a, at);
    if (rc == CUDA_SUCCESS) {
        b->ticket = ticket;
        b->ticket_size = ticket_size;
        b->leaving = false;
    } else {
        remove_block(a, b);
        retire_idle(a, false);
    }
    pthread_mutex_unlock(&mutex);
    return rc;
}

CUdeviceptr gr_placed_leave(CUdeviceptr at, uint64_t *clock) {
    pthread_mutex_lock(&mutex);
    DeviceArena *a = at ? arena_of(at) : NULL;
    Block *b = a ? block_at(a, at) : NULL;
    CUdeviceptr ticket = b && b->at == at && !b->leaving ? b->ticket : 0;
    if (ticket) {
        b->leaving = true;
        *clock = a->clock;
    }
    pthread_mutex_unlock(&mutex);
    return ticket;
}

CUresult gr_placed_left(CUresult rc, CUdeviceptr at, uint64_t clock, bool in_stream_order) {
    pthread_mutex_lock(&mutex);
    DeviceArena *a = arena_of(at);
    Block *b = block_at(a, at);
    if (rc != CUDA_SUCCESS)
        b->leaving = false;
    else if (in_stream_order)
        b->freed = ++a->clock;
    else {
        CUcontext context = b->context;
        remove_block(a, b);
        sweep(a, context, clock);
        retire_idle(a, false);
    }
    pthread_mutex_unlock(&mutex);
    return rc;
}

void gr_placed_context_ends(CUcontext context) {
    pthread_mutex_lock(&mutex);
    for (int d = 0; d < MAX_DEVICES; d++) {
        DeviceArena *a = arenas[d];
        for (size_t i = a ? a->blocks.len : 0; i-- > 0;)
            if (a->blocks.data[i].context == context)
                remove_block(a, &a->blocks.data[i]);
        if (a)
            retire_idle(a, true);
    }
    pthread_mutex_unlock(&mutex);
}

// ---- What the program asks -----------------------------------------------------------------------------------------

bool gr_placed_at(CUdeviceptr at, GrPlaced *out, bool *inside) {
    if (!(gr_session.engine->caps & CAP_ARENA)) {
        *inside = false;
        return false;
    }
    pthread_mutex_lock(&mutex);
    const DeviceArena *a = at ? arena_of(at) : NULL;
    const Block *b = a ? block_at(a, at) : NULL;
    bool found = b && b->ticket && !b->leaving;
    if (found)
        *out = (GrPlaced){b->at, b->ticket, b->size};
    pthread_mutex_unlock(&mutex);
    *inside = a;
    return found;
}

// The program may still allocate what shared pieces have left.
CUresult gr_on_mem_get_info(CUresult (*real)(size_t *, size_t *), size_t *free_bytes, size_t *total) {
    CUresult rc = real(free_bytes, total);
    if (rc != CUDA_SUCCESS || !free_bytes || !(gr_session.engine->caps & CAP_ARENA))
        return rc;
    pthread_mutex_lock(&mutex);
    const DeviceArena *a = current();
    for (size_t i = 0; a && i < a->pieces.len; i++)
        *free_bytes += a->pieces.data[i]->busy && !a->pieces.data[i]->blocks ? 0 : a->pieces.data[i]->size;
    for (size_t i = 0; a && i < a->blocks.len; i++)
        *free_bytes -= a->blocks.data[i].size - a->blocks.data[i].ticket_size;
    pthread_mutex_unlock(&mutex);
    return rc;
}

// ---- Other devices -------------------------------------------------------------------------------------------------

// cuCtxEnablePeerAccess is about ordinary memory: each piece needs its own access, which a disabling call leaves.
static void let_in(DeviceArena *a, int device) {
    a->peers |= UINT64_C(1) << device;
    for (size_t i = 0; i < a->pieces.len; i++) {
        Piece *p = a->pieces.data[i];
        if (p->busy || p->peers == a->peers)
            continue;
        uint64_t peers = a->peers;
        p->busy = true;
        pthread_mutex_unlock(&mutex);
        CUresult rc = give_access(a, p, peers);
        pthread_mutex_lock(&mutex);
        p->busy = false;
        p->peers = peers;
        if (rc != CUDA_SUCCESS)
            gr_session_notef("device %d gets no access to memory of device %d that this engine has placed",
                             device, (int)a->pub.device);
        i = (size_t)-1; // other threads were let in
    }
}

CUresult gr_on_enable_peer(CUresult (*real)(CUcontext, unsigned), CUcontext peer, unsigned flags) {
    CUresult rc = real(peer, flags);
    CUdevice own = -1;
    CUcontext popped;
    if (rc != CUDA_SUCCESS || !(gr_session.engine->caps & CAP_ARENA))
        return rc;
    pthread_mutex_lock(&mutex);
    if (ask() && cu.push && cu.pop && cu.device(&own) == CUDA_SUCCESS && own >= 0 && own < MAX_DEVICES &&
        cu.push(peer) == CUDA_SUCCESS) {
        DeviceArena *a = current();
        (void)cu.pop(&popped);
        if (a)
            let_in(a, own);
    }
    pthread_mutex_unlock(&mutex);
    return rc;
}
