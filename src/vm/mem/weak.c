// SPDX-License-Identifier: Apache-2.0
// weak — see weak.h.
//
// Time is the number of stores performed so far. The log keeps the last of them with the bytes that they overwrote.
// Memory at an earlier moment is memory now with those bytes put back, latest first.
#include "vm/mem/weak.h"

#include "base/map.h"
#include "base/vec.h"
#include "vm/core/block.h"
#include "vm/core/device.h"
#include "vm/core/exec_mem.h"
#include "vm/core/launch.h"

#include <stdlib.h>
#include <string.h>

enum {
    ELEMENT = 16,     // bytes, at most
    LOG = 1024,       // stores that are remembered
    FILTER = 4096,    // places whose last store is known at a glance
    GRAIN = 4,        // bytes, as a power of two, of one place
    BUFFER = 64,      // stores of a warp that may wait
    SEEN = 4096,      // words whose readings are remembered, of a warp
    DRAIN_ONE_IN = 8, // accesses
    STALE_ONE_IN = 2, // loads that could
};

typedef struct Pending {
    uint64_t address;
    uint8_t *host;
    uint8_t lane, size;
    bool global;
    uint8_t bytes[ELEMENT];
} Pending;

typedef struct VmWeakWarp {
    VmWarpRest *rest;
    VmWeak *weak;
    uint64_t acquired[VM_LANES];
    VEC(Pending) pending;
    Map seen; // word << 5 | lane -> moment as of which it was read
} VmWeakWarp;

typedef struct Overwritten {
    const uint8_t *host;
    const VmWeakWarp *by;
    uint8_t lane, size;
    uint8_t bytes[ELEMENT];
} Overwritten;

struct VmWeak {
    Rng rng;
    uint64_t now;
    Overwritten log[LOG]; // moment t is at t % LOG
    uint64_t last[FILTER];
    VEC(VmWeakWarp *) warps;
    bool incomplete; // memory ran out: some accesses were as they always are
};

VmWeak *gr_vm_weak_new(uint64_t seed, int device) {
    VmWeak *k = calloc(1, sizeof *k);
    if (k)
        k->rng = gr_rng_fork(seed, RNG_WEAK, (uint64_t)device);
    return k;
}

static void warp_free(VmWeakWarp *x) {
    x->rest->weak = NULL;
    gr_vec_free(&x->pending);
    gr_map_free(&x->seen);
    free(x);
}

void gr_vm_weak_free(VmWeak *k) {
    if (!k)
        return;
    for (size_t i = 0; i < k->warps.len; i++)
        warp_free(k->warps.data[i]);
    gr_vec_free(&k->warps);
    free(k);
}

bool gr_vm_weak_incomplete(const VmDevice *d) { return d->weak && d->weak->incomplete; }

uint64_t gr_vm_weak_now(const VmWeak *k) { return k->now; }

// What the warp has of this. NULL: out of memory, and its accesses are as usual.
static VmWeakWarp *warp_of(VmWarpRest *r) {
    if (r->weak)
        return r->weak;
    VmWeak *k = r->launch->device->weak;
    VmWeakWarp *x = calloc(1, sizeof *x);
    if (!x || !gr_vec_push(&k->warps, x)) {
        free(x);
        k->incomplete = true;
        return NULL;
    }
    x->rest = r;
    x->weak = k;
    for (unsigned l = 0; l < VM_LANES; l++)
        x->acquired[l] = r->block->weak_since;
    return r->weak = x;
}

static bool overlap(const uint8_t *a, uint32_t a_size, const uint8_t *b, uint32_t b_size) {
    return a < b + b_size && b < a + a_size;
}

// ---- Stores --------------------------------------------------------------------------------------------------------

static void note_store(VmWeak *k, const VmWeakWarp *by, unsigned lane, const uint8_t *host, uint32_t size) {
    Overwritten *o = &k->log[++k->now % LOG];
    *o = (Overwritten){.host = host, .by = by, .lane = (uint8_t)lane, .size = (uint8_t)size};
    memcpy(o->bytes, host, size);
    for (uintptr_t g = (uintptr_t)host >> GRAIN; g <= ((uintptr_t)host + size - 1) >> GRAIN; g++)
        k->last[g % FILTER] = k->now;
}

static void perform(VmWeakWarp *x, size_t n) {
    Pending p = x->pending.data[n];
    gr_vec_remove(&x->pending, n);
    if (p.global) {
        const VmLaunch *l = x->rest->launch;
        const VmRange *r = gr_vm_mem_reach(l->device->mem, p.address, l->number);
        if (!r || r->size - (p.address - r->addr) < p.size)
            return;
        p.host = (uint8_t *)(uintptr_t)p.address + r->delta;
    }
    note_store(x->weak, x, p.lane, p.host, p.size);
    gr_vm_copy_whole(p.host, p.bytes, p.size);
}

// Performs one waiting store, any but those with an earlier one of the same lane and location.
static void perform_any(VmWeakWarp *x) {
    size_t n = gr_rng_below(&x->weak->rng, (uint32_t)x->pending.len);
    const Pending *p = &x->pending.data[n];
    for (size_t i = 0; i < n; i++) {
        const Pending *q = &x->pending.data[i];
        if (q->lane == p->lane && overlap(q->host, q->size, p->host, p->size)) {
            n = i;
            break;
        }
    }
    perform(x, n);
}

// Performs stores now and then, of other warps too, so that a thread that waits for a store sees it in the end.
static void drain(VmWeakWarp *x) {
    VmWeak *k = x->weak;
    while (x->pending.len > BUFFER || (x->pending.len && !gr_rng_below(&k->rng, DRAIN_ONE_IN)))
        perform_any(x);
    if (gr_rng_below(&k->rng, DRAIN_ONE_IN))
        return;
    VmWeakWarp *other = k->warps.data[gr_rng_below(&k->rng, (uint32_t)k->warps.len)];
    if (other->pending.len)
        perform_any(other);
}

void gr_vm_weak_store(VmWarp *w, unsigned lane, bool global, uint64_t address, uint8_t *host,
                      const uint8_t *bytes, uint32_t size) {
    VmWeakWarp *x = warp_of(rest_of(w));
    Pending p = {
        .address = address, .host = host, .lane = (uint8_t)lane, .size = (uint8_t)size, .global = global};
    memcpy(p.bytes, bytes, size);
    if (!x || !gr_vec_push(&x->pending, p)) {
        rest_of(w)->launch->device->weak->incomplete = true;
        gr_vm_weak_release(rest_of(w), UINT32_C(1)
                                           << lane); // an older store there must not come after this one
        memcpy(host, bytes, size);
        return;
    }
    drain(x);
}

// ---- Loads ---------------------------------------------------------------------------------------------------------

static uint64_t seen_key(uintptr_t word, unsigned lane) { return (uint64_t)word << 5 | lane; }

static void set_seen(VmWeakWarp *x, unsigned lane, const uint8_t *host, uint32_t size, uint64_t moment) {
    if (x->seen.live > SEEN) { // no reading is as old as this
        gr_map_free(&x->seen);
        for (unsigned l = 0; l < VM_LANES; l++)
            x->acquired[l] = x->weak->now;
    }
    for (uintptr_t word = (uintptr_t)host / 4; word <= ((uintptr_t)host + size - 1) / 4; word++)
        if (!gr_map_put_u64(&x->seen, seen_key(word, lane), (void *)(uintptr_t)moment))
            x->acquired[lane] = x->weak->now; // out of memory: no reading is as old as this
}

// A thread has stored there since the lane last acquired.
static bool may_be_stale(const VmWeakWarp *x, unsigned lane, const uint8_t *host, uint32_t size) {
    uint64_t last = 0;
    for (uintptr_t g = (uintptr_t)host >> GRAIN; g <= ((uintptr_t)host + size - 1) >> GRAIN; g++)
        last = x->weak->last[g % FILTER] > last ? x->weak->last[g % FILTER] : last;
    return last > x->acquired[lane];
}

// Reads what memory held at a moment of chance; *out has what it holds now. Yields the moment as of which it was read.
static uint64_t look_back(VmWeakWarp *x, unsigned lane, const uint8_t *host, uint8_t *out, uint32_t size) {
    VmWeak *k = x->weak;
    uint64_t from = x->acquired[lane];
    for (uintptr_t word = (uintptr_t)host / 4; word <= ((uintptr_t)host + size - 1) / 4; word++) {
        uint64_t seen = (uintptr_t)gr_map_get_u64(&x->seen, seen_key(word, lane));
        from = seen > from ? seen : from;
    }
    if (k->now >= LOG && from < k->now - LOG + 1)
        from = k->now - LOG + 1;
    if (gr_rng_below(&k->rng, STALE_ONE_IN) || from >= k->now)
        return k->now;
    from += gr_rng_below(&k->rng, (uint32_t)(k->now - from));
    for (uint64_t t = k->now; t > from; t--) {
        const Overwritten *o = &k->log[t % LOG];
        if (!overlap(o->host, o->size, host, size))
            continue;
        if (o->by == x && o->lane == lane)
            return t;
        for (uint32_t b = 0; b < o->size; b++)
            if (o->host + b >= host && o->host + b < host + size)
                out[o->host + b - host] = o->bytes[b];
    }
    return from;
}

void gr_vm_weak_load(VmWarp *w, unsigned lane, const uint8_t *host, uint8_t *out, uint32_t size) {
    VmWeakWarp *x = warp_of(rest_of(w));
    memcpy(out, host, size);
    if (!x)
        return;
    if (may_be_stale(x, lane, host, size))
        set_seen(x, lane, host, size, look_back(x, lane, host, out, size));
    for (size_t n = 0; n < x->pending.len; n++) {
        const Pending *p = &x->pending.data[n];
        if (p->lane != lane || !overlap(p->host, p->size, host, size))
            continue;
        for (uint32_t b = 0; b < p->size; b++)
            if (p->host + b >= host && p->host + b < host + size)
                out[p->host + b - host] = p->bytes[b];
    }
    drain(x);
}

// ---- Order ---------------------------------------------------------------------------------------------------------

void gr_vm_weak_release(VmWarpRest *r, uint32_t mask) {
    VmWeakWarp *x = r->weak;
    for (size_t n = 0; x && n < x->pending.len;)
        if (mask >> x->pending.data[n].lane & 1)
            perform(x, n);
        else
            n++;
}

void gr_vm_weak_acquire(VmWarpRest *r, uint32_t mask) {
    VmWeakWarp *x = warp_of(r);
    for (uint32_t m = x ? mask : 0; m; m &= m - 1)
        x->acquired[__builtin_ctz(m)] = x->weak->now;
}

void gr_vm_weak_strong(VmWarp *w, unsigned lane, const uint8_t *host, uint32_t size, PtxSem sem,
                       bool writes) {
    VmWarpRest *r = rest_of(w);
    VmWeakWarp *x = warp_of(r);
    if (!x)
        return;
    drain(x); // first: what follows says what the operation sees
    if (sem == PTX_RELEASE || sem == PTX_ACQ_REL || sem == PTX_SC)
        gr_vm_weak_release(r, UINT32_C(1) << lane);
    for (size_t n = 0; n < x->pending.len;) {
        const Pending *p = &x->pending.data[n];
        if (p->lane == lane && overlap(p->host, p->size, host, size))
            perform(x, n);
        else
            n++;
    }
    if (writes)
        for (uint32_t at = 0; at < size; at += ELEMENT)
            note_store(x->weak, x, lane, host + at, size - at < ELEMENT ? size - at : ELEMENT);
    else if (may_be_stale(x, lane, host, size))
        set_seen(x, lane, host, size, x->weak->now);
    if (sem == PTX_ACQUIRE || sem == PTX_ACQ_REL || sem == PTX_SC)
        x->acquired[lane] = x->weak->now;
}

void gr_vm_weak_sync(VmWarpRest *r, uint32_t mask, VmSyncKind kind, uint32_t barrier, PtxSem sem) {
    switch (kind) {
    case VM_SYNC_WARP:
        mask = barrier; // all lanes that met
    /* fallthrough */
    case VM_SYNC_FENCE:
        gr_vm_weak_release(r, mask);
        gr_vm_weak_acquire(r, mask);
        break;
    case VM_SYNC_CLUSTER_ARRIVE:
        if (sem == PTX_RELAXED)
            break;
    /* fallthrough */
    case VM_SYNC_BARRIER_ARRIVE:
    case VM_SYNC_FENCE_PROXY: gr_vm_weak_release(r, mask); break;
    case VM_SYNC_CLUSTER_RELEASE:
    case VM_SYNC_GRID_WAIT:
    case VM_SYNC_BARRIER_RELEASE: gr_vm_weak_acquire(r, mask); break;
    }
}

void gr_vm_weak_async(VmWarpRest *r, uint32_t mask, VmAsyncKind kind) {
    if (kind == VM_ASYNC_READ || kind == VM_ASYNC_WRITE) // by no instruction
        return;
    gr_vm_weak_release(r, mask);
    gr_vm_weak_acquire(r, mask);
}

// ---- Ends ----------------------------------------------------------------------------------------------------------

static void forget(VmWeak *k, size_t n) {
    warp_free(k->warps.data[n]);
    k->warps.data[n] = k->warps.data[--k->warps.len];
}

void gr_vm_weak_block_end(VmBlock *b) {
    VmWeak *k = b->launch->device->weak;
    for (size_t n = k->warps.len; n-- > 0;)
        if (k->warps.data[n]->rest->block == b) {
            gr_vm_weak_release(k->warps.data[n]->rest, UINT32_MAX);
            forget(k, n);
        }
}

void gr_vm_weak_launch_end(VmLaunch *l) {
    VmWeak *k = l->device->weak;
    for (size_t n = k->warps.len; n-- > 0;)
        if (k->warps.data[n]->rest->launch == l)
            forget(k, n);
}
