// SPDX-License-Identifier: Apache-2.0
// async — the queue of operations in flight. See async.h.
//
// A warp's operations stand in a list in order of issue, because groups and cp.async.mbarrier.arrive speak of "all
// before"; otherwise PTX promises no order between two of them, and there is none (PTX ISA 9.0, 9.7.9.25.3).
#include "vm/async/async.h"
#include "vm/core/block.h"
#include "vm/core/launch.h"
#include "vm/core/policy.h"

#include <string.h>

enum { CHUNK = 8, DELAY_NS = 8192, DELAY_SHIFTS = 12, LONG_ONE_IN = 8, LONG_FACTOR = 16, AT_ONCE_ONE_IN = 8 };
enum { LATE_ONE_IN = 4, LATE_NS = 1000000 };

// ---- Records -------------------------------------------------------------------------------------------------------

static VmWarpAsync *of_warp(VmWarpRest *r) {
    if (!r->async)
        r->async = gr_vm_own(r->launch, sizeof *r->async);
    return r->async;
}

VmAsyncOp *gr_vm_async_new(VmWarpRest *r, const VmInsn *i, uint32_t mask) {
    VmBlock *b = r->block;
    if (!of_warp(r))
        return NULL;
    if (!b->async_free) {
        VmAsyncOp *chunk = gr_vm_own(r->launch, CHUNK * sizeof *chunk);
        if (!chunk)
            return NULL;
        for (unsigned k = 0; k < CHUNK; k++) {
            chunk[k].next = b->async_free;
            b->async_free = &chunk[k];
        }
    }
    VmAsyncOp *op = b->async_free;
    b->async_free = op->next;
    memset(op, 0, offsetof(VmAsyncOp, src));
    op->warp = r;
    op->insn = i;
    op->module = r->splits[r->cur].act->func->ptx->module;
    op->id = ++b->async_ids;
    op->mask = op->unread = op->unwritten = mask;
    op->byte_mask = UINT16_MAX;
    return op;
}

static void link_last(VmAsyncOp *op) {
    VmWarpAsync *q = op->warp->async;
    op->prev = q->last;
    op->next = NULL;
    if (q->last)
        q->last->next = op;
    else
        q->first = op;
    q->last = op;
}

static void finish(VmAsyncOp *op) {
    VmWarpAsync *q = op->warp->async;
    VmBlock *b = op->warp->block;
    if (op->prev)
        op->prev->next = op->next;
    else
        q->first = op->next;
    if (op->next)
        op->next->prev = op->prev;
    else
        q->last = op->prev;
    op->alarm = 0;
    op->next = b->async_free;
    b->async_free = op;
}

static bool faulted(const VmAsyncOp *op) { return op->warp->launch->faulted; }

// Some observer wants to know which lanes change something.
static bool compares(const VmAsyncOp *op) {
    return op->act == VM_ASYNC_COPY && op->bytes <= VM_ASYNC_ALIGN && op->byte_mask == UINT16_MAX &&
           op->warp->launch->device->listens_async;
}

static void report_bytes(VmAsyncOp *op, VmAsyncKind kind, uint32_t lanes, uint32_t bytes) {
    lanes &= ~op->nowhere;
    if (!op->warp->launch->device->listens_async || !lanes)
        return;
    bool read = kind == VM_ASYNC_READ;
    const VmBlock *b = read ? op->src_block : op->dst_block;
    VmAsyncEvent e = {.where = {.module = op->module},
                      .kind = kind,
                      .completes = op->completes,
                      .proxy = op->proxy,
                      .op = op->id,
                      .access = read                         ? PTX_ACCESS_READ
                                : op->act == VM_ASYNC_REDUCE ? PTX_ACCESS_RMW
                                                             : PTX_ACCESS_WRITE,
                      .space = b ? PTX_SHARED : PTX_GLOBAL,
                      .block = b ? b->linear : 0,
                      .size = bytes,
                      .address = read ? op->src : op->dst,
                      .partial = op->act == VM_ASYNC_COPY && op->byte_mask != UINT16_MAX,
                      .compared = kind == VM_ASYNC_WRITE && compares(op),
                      .unchanged = op->unchanged,
                      .turn = op->warp->rotate,
                      .bar_block = op->bar.block ? op->bar.block->linear : 0,
                      .bar = op->bar.at};
    if (kind == VM_ASYNC_ISSUE && op->unread) {
        e.source_space = op->src_block ? PTX_SHARED : PTX_GLOBAL;
        e.source_block = op->src_block ? op->src_block->linear : 0;
        e.source = op->src;
        e.source_bytes = op->bytes <= VM_ASYNC_ALIGN ? op->src_bytes : NULL;
    }
    gr_vm_report_async(op->warp, op->insn, lanes, &e);
}

static void report(VmAsyncOp *op, VmAsyncKind kind, uint32_t lanes) {
    report_bytes(op, kind, lanes, op->bytes);
}

// Lanes whose source is shorter than their destination read no more than it.
static void report_read(VmAsyncOp *op, uint32_t lanes) {
    if (op->bytes > VM_ASYNC_ALIGN) {
        report(op, VM_ASYNC_READ, lanes);
        return;
    }
    for (uint32_t left = lanes, same; left; left &= ~same) {
        uint8_t bytes = op->src_bytes[__builtin_ctz(left)];
        same = 0;
        for (uint32_t m = left; m; m &= m - 1)
            same |= (uint32_t)(op->src_bytes[__builtin_ctz(m)] == bytes) << __builtin_ctz(m);
        report_bytes(op, VM_ASYNC_READ, same, bytes);
    }
}

// ---- Reading and writing -------------------------------------------------------------------------------------------

// Moves of one size are moves of registers.
#define EACH_LANE(op, lanes, to, from)                                                                       \
    for (unsigned k_ = 0; k_ < VM_LANES; k_++) {                                                             \
        unsigned l = commit_lane(k_, (op)->warp->rotate);                                                    \
        if (!((lanes) >> l & 1))                                                                             \
            continue;                                                                                        \
        if ((op)->bytes == 16)                                                                               \
            memcpy(to, from, 16);                                                                            \
        else if ((op)->bytes == 8)                                                                           \
            memcpy(to, from, 8);                                                                             \
        else                                                                                                 \
            memcpy(to, from, 4);                                                                             \
    }

static bool is_direct(const VmAsyncOp *op) {
    return op->direct && op->generation == gr_vm_mem_generation(op->warp->launch->device->mem);
}

static void do_read(VmAsyncOp *op, uint32_t lanes) {
    lanes &= op->unread;
    if (!lanes)
        return;
    op->unread &= ~lanes;
    lanes &= ~op->nowhere;
    if (is_direct(op)) {
        EACH_LANE(op, lanes, op->data + l * VM_ASYNC_ALIGN,
                  (const uint8_t *)(uintptr_t)op->src[l] + op->delta)
        report(op, VM_ASYNC_READ, lanes);
        return;
    }
    for (uint32_t m = lanes; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint8_t *data = async_data(op, l);
        uint32_t n = op->bytes <= VM_ASYNC_ALIGN ? op->src_bytes[l] : op->bytes;
        memset(data + n, 0, op->bytes - n);
        if (!n)
            continue;
        const uint8_t *from = gr_vm_end_host(&op->warp->hot, op->insn, l, (VmEnd){op->src_block, op->src[l]},
                                             n, PTX_ACCESS_READ);
        if (faulted(op))
            return;
        if (from)
            memcpy(data, from, n);
        else { // freed since, say
            memset(data, 0, n);
            op->zeroed |= UINT32_C(1) << l;
        }
    }
    report_read(op, lanes & ~op->zeroed);
}

// Each element is updated atomically: other threads of the host may run other blocks.
static void reduce(const VmAsyncOp *op, uint8_t *to, const uint8_t *from, uint32_t bytes) {
#define EACH(T)                                                                                              \
    for (uint32_t k = 0; k < bytes; k += sizeof(T)) {                                                        \
        T *p = (T *)(void *)(to + k), a, old = __atomic_load_n(p, __ATOMIC_RELAXED), v;                      \
        memcpy(&a, from + k, sizeof a);                                                                      \
        do                                                                                                   \
            v = (T)op->apply(old, a, 0);                                                                     \
        while (!__atomic_compare_exchange_n(p, &old, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));         \
    }
    switch (op->elem) {
    case 2: EACH(uint16_t) break;
    case 4: EACH(uint32_t) break;
    default: EACH(uint64_t) break;
    }
#undef EACH
}

static void copy(const VmAsyncOp *op, uint8_t *to, const uint8_t *from) {
    if (op->byte_mask == UINT16_MAX) {
        memcpy(to, from, op->bytes);
        return;
    }
    for (uint32_t k = 0; k < op->bytes; k++)
        if (op->byte_mask >> (k % VM_ASYNC_ALIGN) & 1)
            to[k] = from[k];
}

static void write_compared(VmAsyncOp *op, unsigned l, uint8_t *to) {
    const uint8_t *from = async_data(op, l);
    op->unchanged |= (uint32_t)!memcmp(to, from, op->bytes) << l;
    memcpy(to, from, op->bytes);
}

static void do_write(VmAsyncOp *op, uint32_t lanes);

// cp.async.mbarrier.arrive: after all cp.async of the lanes before it.
static void do_arrive(VmAsyncOp *op, uint32_t lanes) {
    for (VmAsyncOp *p = op->warp->async->first, *next; p != op; p = next) {
        next = p->next;
        if (p->completes == VM_COMPLETES_GROUP && p->act != VM_ASYNC_ARRIVE)
            do_write(p, lanes);
        if (faulted(op))
            return;
    }
    for (uint32_t m = lanes; m; m &= m - 1)
        if (!gr_vm_mbar_arrive(op, (unsigned)__builtin_ctz(m)))
            return;
}

static void do_move(VmAsyncOp *op, uint32_t lanes) {
    const bool comparing = compares(op);
    do_read(op, lanes);
    op->unchanged = 0;
    if (op->direct && !faulted(op)) {
        for (unsigned k = 0; k < VM_LANES && comparing; k++) {
            unsigned l = commit_lane(k, op->warp->rotate);
            if (lanes >> l & 1)
                write_compared(op, l, op->dst_block->shared + op->dst[l]);
        }
        if (!comparing)
            EACH_LANE(op, lanes, op->dst_block->shared + op->dst[l], op->data + l * VM_ASYNC_ALIGN)
        report(op, VM_ASYNC_WRITE, lanes);
        return;
    }
    for (unsigned k = 0; k < VM_LANES && !faulted(op); k++) {
        unsigned l = commit_lane(k, op->warp->rotate);
        if (!((lanes & ~op->nowhere) >> l & 1))
            continue;
        uint8_t *to =
            gr_vm_end_host(&op->warp->hot, op->insn, l, (VmEnd){op->dst_block, op->dst[l]}, op->bytes,
                           op->act == VM_ASYNC_REDUCE ? PTX_ACCESS_RMW : PTX_ACCESS_WRITE);
        if (faulted(op))
            return;
        if (!to)
            op->nowhere |= UINT32_C(1) << l;
        else if (op->act == VM_ASYNC_REDUCE)
            reduce(op, to, async_data(op, l), op->bytes);
        else if (comparing)
            write_compared(op, l, to);
        else
            copy(op, to, async_data(op, l));
    }
    if (faulted(op))
        return;
    report(op, VM_ASYNC_WRITE, lanes);
    if (op->completes == VM_COMPLETES_MBARRIER)
        for (uint32_t m = lanes; m; m &= m - 1)
            if (!gr_vm_mbar_complete(op, (unsigned)__builtin_ctz(m), op->bytes))
                return;
}

static void do_write(VmAsyncOp *op, uint32_t lanes) {
    lanes &= op->unwritten;
    if (!lanes)
        return;
    op->unwritten &= ~lanes;
    if (op->act == VM_ASYNC_ARRIVE)
        do_arrive(op, lanes);
    else
        do_move(op, lanes);
    if (!op->unwritten)
        finish(op);
}

// ---- When ----------------------------------------------------------------------------------------------------------

// A delay of any order of magnitude: some operations are done at once, some are under way when the thread has gone far.
static uint64_t draw_delay(VmLaunch *l) {
    uint64_t bits = gr_rng_next(&l->async_rng);
    if (bits % AT_ONCE_ONE_IN == 0)
        return 0;
    // Where threads are held, the others go far in no time.
    if (l->device->policy && l->device->policy->hold && (bits >> 50) % LATE_ONE_IN == 0)
        return LATE_NS * UINT64_C(1000);
    uint64_t ns = (bits >> 8) % DELAY_NS >> (bits >> 32) % DELAY_SHIFTS;
    return ns * 1000 * ((bits >> 40) % LONG_ONE_IN ? 1 : LONG_FACTOR);
}

static bool set_alarm(VmAsyncOp *op, uint64_t ps) {
    VmLaunch *l = op->warp->launch;
    op->alarm = gr_vm_alarm(l, *l->clock_ps + ps, op);
    return op->alarm != 0;
}

bool gr_vm_async_issue(VmAsyncOp *op) {
    VmLaunch *l = op->warp->launch;
    link_last(op);
    if (op->act != VM_ASYNC_ARRIVE)
        report(op, VM_ASYNC_ISSUE, op->mask);
    bool at_once = gr_rng_below(&l->async_rng, AT_ONCE_ONE_IN) == 0;
    uint64_t read = at_once ? 0 : draw_delay(l);
    op->write_ps = at_once || !op->unread ? 0 : draw_delay(l);
    if (!op->unread && !read) { // a store, or an arrival
        do_write(op, op->mask);
        return !l->faulted;
    }
    if (read)
        return set_alarm(op, read);
    do_read(op, op->mask);
    if (l->faulted)
        return false;
    if (op->write_ps)
        return set_alarm(op, op->write_ps);
    do_write(op, op->mask);
    return !l->faulted;
}

void gr_vm_async_due(VmAsyncOp *op, uint64_t alarm) {
    if (op->alarm != alarm)
        return;
    if (op->unread && op->write_ps) {
        do_read(op, op->mask);
        // Out of memory for the alarm: then it writes at once.
        if (faulted(op) || set_alarm(op, op->write_ps))
            return;
    }
    do_write(op, op->mask);
}

// ---- Groups --------------------------------------------------------------------------------------------------------

bool gr_vm_async_commit(VmWarpRest *r, uint32_t mask, unsigned bulk) {
    VmWarpAsync *q = of_warp(r);
    if (!q)
        return false;
    for (uint32_t m = mask; m; m &= m - 1)
        q->groups[bulk][__builtin_ctz(m)]++;
    return true;
}

void gr_vm_async_wait(VmWarpRest *r, uint32_t mask, unsigned bulk, uint32_t keep, bool all, bool read_only) {
    VmWarpAsync *q = r->async;
    VmCompletion kind = bulk ? VM_COMPLETES_BULK : VM_COMPLETES_GROUP;
    for (VmAsyncOp *op = q ? q->first : NULL, *next; op && !r->launch->faulted; op = next) {
        next = op->next;
        uint32_t lanes = mask & (read_only ? op->unread : op->unwritten);
        if (op->completes != kind || op->act == VM_ASYNC_ARRIVE || !lanes)
            continue;
        for (uint32_t m = lanes; m && !all; m &= m - 1) {
            unsigned l = (unsigned)__builtin_ctz(m);
            uint64_t committed = q->groups[bulk][l];
            if ((uint64_t)op->group + keep >= committed)
                lanes &= ~(UINT32_C(1) << l);
        }
        if (read_only)
            do_read(op, lanes);
        else
            do_write(op, lanes);
    }
}

void gr_vm_async_flush(VmBlock *b) {
    for (uint32_t k = 0; k < b->n_warps; k++) {
        VmWarpAsync *q = b->warps[k].async;
        while (q && q->first && !b->launch->faulted)
            do_write(q->first, q->first->unwritten);
        if (q)
            memset(q->groups, 0, sizeof q->groups);
    }
    b->async_ids = 0;
}
