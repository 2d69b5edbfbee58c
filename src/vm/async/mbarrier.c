// SPDX-License-Identifier: Apache-2.0
// mbarrier — mbarrier objects (PTX ISA 9.0, 9.7.13.15): what their 64 bits mean, what changes them, which threads wait.
//
// The object is opaque; ours is
//
//     bits  0..19  arrivals expected in each phase       (1 to 2^20 - 1; less after arrive_drop)
//     bits 20..39  arrivals pending in this phase
//     bits 40..60  transactions (bytes) pending, signed  (-(2^20 - 1) to 2^20 - 1)
//     bits 61..62  number of the phase, modulo 4: its parity is bit 61
//     bit  63      it is one
//
// so memory that was never initialized, or overwritten, is most likely found out. The state that an arrival yields is
// the object before it. A phase is over when nothing is pending; then the next begins, and splits that try_wait
// suspended look again.
#include "vm/core/block.h"
#include "vm/core/exec.h"
#include "vm/core/exec_mem.h"
#include "vm/core/fault.h"

#include "vm/async/async.h"

#include <stdio.h>
#include <string.h>

enum { COUNT_MAX = (1 << 20) - 1, WAIT_NS = 8192, WAIT_DOUBLINGS = 7, WAIT_MAX_NS = 1 << 20 };

typedef struct Word {
    uint32_t expected, pending, phase;
    int32_t tx;
} Word;

static bool unpack(uint64_t v, Word *x) {
    *x = (Word){.expected = (uint32_t)v & COUNT_MAX,
                .pending = (uint32_t)(v >> 20) & COUNT_MAX,
                .phase = (uint32_t)(v >> 61) & 3,
                .tx = (int32_t)((int64_t)(v << 3) >> 43)};
    return v >> 63;
}

static uint64_t pack(const Word *x) {
    return UINT64_C(1) << 63 | (uint64_t)x->phase << 61 | ((uint64_t)(uint32_t)x->tx & 0x1fffff) << 40 |
           (uint64_t)x->pending << 20 | x->expected;
}

// One change of one object, by a lane or by an operation of its.
typedef struct Change {
    VmWarp *w;
    const VmInsn *i;
    unsigned lane;
    VmEnd bar;
    uint64_t op;             // 0: the instruction itself
    const PtxModule *module; // of an operation's instruction
    PtxSem sem;
    PtxScope scope;
} Change;

static void report(const Change *c, VmAsyncKind kind, uint32_t phase, uint32_t count) {
    VmAsyncEvent e = {.where = {.module = c->module},
                      .kind = kind,
                      .completes = VM_COMPLETES_MBARRIER,
                      .op = c->op,
                      .bar_block = c->bar.block->linear,
                      .bar = c->bar.at,
                      .phase = phase,
                      .count = count,
                      .sem = c->sem,
                      .scope = c->scope};
    gr_vm_report_async(rest_of(c->w), c->i, UINT32_C(1) << c->lane, &e);
}

#define FAULT(c, misuse, ...)                                                                                \
    ((void)gr_vm_fault_misuse((c)->w, (c)->i, VM_MISUSE_MBARRIER_##misuse, VM_FAULT_ILLEGAL_INSTRUCTION,     \
                              (int)(c)->lane, (c)->bar.at, __VA_ARGS__),                                     \
     false)

static uint8_t *bytes_of(const Change *c) {
    if (!c->bar.block) {
        gr_vm_fault(c->w, c->i, VM_FAULT_ADDRESS_SPACE, (int)c->lane, c->bar.at,
                    "used 0x%llx, which is no address of shared memory, as an mbarrier",
                    (unsigned long long)c->bar.at);
        return NULL;
    }
    return gr_vm_bar_host(c->w, c->i, c->lane, c->bar);
}

static bool fetch(const Change *c, uint8_t **at, uint64_t *bits, Word *x) {
    *at = bytes_of(c);
    if (!*at)
        return false;
    memcpy(bits, *at, 8);
    if (!unpack(*bits, x))
        return FAULT(c, NONE,
                     "used shared memory at offset 0x%llx as an mbarrier; it was not initialized as one",
                     (unsigned long long)c->bar.at);
    return true;
}

// ---- Waiters -------------------------------------------------------------------------------------------------------

static void wake(VmBlock *b, uint64_t at) {
    if (!b->mbar_waiters)
        return;
    b->mbar_waiters = false;
    for (uint32_t k = 0; k < b->n_warps; k++) {
        VmWarpRest *r = &b->warps[k];
        for (uint32_t s = 0; r->live && s < r->n_splits; s++) {
            const VmSplit *p = &r->splits[s];
            if (p->state != VM_SPLIT_SLEEP || !p->mbar_sleeps)
                continue;
            if (p->mbar == at)
                gr_vm_split_set_state(r, s, VM_SPLIT_READY);
            else
                b->mbar_waiters = true;
        }
    }
}

void gr_vm_mbar_describe(const VmWarpRest *r, const VmSplit *p, char *out, size_t cap) {
    uint64_t bits, at = p->mbar;
    Word x;
    if (at + 8 > r->block->shared_bytes)
        return;
    memcpy(&bits, r->block->shared + at, 8);
    if (!unpack(bits, &x))
        snprintf(out, cap, "at offset 0x%llx of shared memory, where no mbarrier is any more",
                 (unsigned long long)at);
    else
        snprintf(
            out, cap,
            "at the mbarrier at offset 0x%llx of shared memory, which lacks %u of %u arrivals and %d bytes",
            (unsigned long long)at, x.pending, x.expected, (int)x.tx);
}

// ---- Changes -------------------------------------------------------------------------------------------------------

// After a change: is the phase over?
static void settle(const Change *c, uint8_t *at, Word *x) {
    bool over = x->pending == 0 && x->tx == 0;
    uint32_t phase = x->phase;
    if (over) {
        x->phase = (phase + 1) & 3;
        x->pending = x->expected;
    }
    uint64_t bits = pack(x);
    memcpy(at, &bits, 8);
    if (over) {
        report(c, VM_MBAR_PHASE, phase, 0);
        wake(c->bar.block, c->bar.at);
    }
}

static bool change_tx(const Change *c, bool expect, uint32_t bytes) {
    uint8_t *at;
    uint64_t bits;
    Word x;
    if (!fetch(c, &at, &bits, &x))
        return false;
    int64_t tx = x.tx + (expect ? (int64_t)bytes : -(int64_t)bytes);
    if (tx > COUNT_MAX || tx < -COUNT_MAX)
        return FAULT(c, COUNT, "%s %u bytes at the mbarrier at offset 0x%llx, which counts at most %d",
                     expect ? "expected" : "completed", bytes, (unsigned long long)c->bar.at, COUNT_MAX);
    x.tx = (int32_t)tx;
    report(c, expect ? VM_MBAR_EXPECT : VM_MBAR_TX, x.phase, bytes);
    settle(c, at, &x);
    return true;
}

static bool change_count(const Change *c, uint32_t count, bool drop, bool no_complete, uint64_t *before) {
    uint8_t *at;
    Word x;
    if (!fetch(c, &at, before, &x))
        return false;
    if (!count || count > x.pending || (drop && count > x.expected))
        return FAULT(
            c, COUNT,
            "arrived %u times at the mbarrier at offset 0x%llx, which expects %u of %u more in this phase",
            count, (unsigned long long)c->bar.at, x.pending, x.expected);
    x.pending -= count;
    if (drop)
        x.expected -= count;
    if (no_complete && !x.pending && !x.tx)
        return FAULT(c, COUNT,
                     "completed the phase of the mbarrier at offset 0x%llx by an arrival with .noComplete",
                     (unsigned long long)c->bar.at);
    report(c, drop ? VM_MBAR_DROP : VM_MBAR_ARRIVE, x.phase, count);
    settle(c, at, &x);
    return true;
}

// Notes that there is, or is not any more, an mbarrier at `at`; whether there was. What is too many is forgotten.
static bool remember(VmBlock *b, uint64_t at, bool is) {
    for (uint32_t k = 0; k < b->n_mbars; k++)
        if (b->mbars[k] == at) {
            if (!is)
                b->mbars[k] = b->mbars[--b->n_mbars];
            return true;
        }
    if (is && b->n_mbars < VM_MBARS_KEPT)
        b->mbars[b->n_mbars++] = (uint32_t)at;
    return false;
}

static bool init(const Change *c, uint32_t count) {
    uint8_t *at = bytes_of(c);
    if (!at)
        return false;
    if (!count || count > COUNT_MAX)
        return FAULT(c, COUNT, "initialized an mbarrier for %u arrivals; from 1 to %d are possible", count,
                     COUNT_MAX);
    uint64_t old;
    Word was;
    memcpy(&old, at, 8);
    // What was overwritten in between is none any more, although that is undefined behaviour too.
    if (remember(c->bar.block, c->bar.at, true) && unpack(old, &was))
        gr_vm_misuse(c->w, c->i, VM_MISUSE_MBARRIER_REINIT, c->lane, 1,
                     "initialized the mbarrier at offset 0x%llx of shared memory, which was not invalidated",
                     (unsigned long long)c->bar.at);
    uint64_t bits = pack(&(Word){.expected = count, .pending = count});
    memcpy(at, &bits, 8);
    report(c, VM_MBAR_INIT, 0, count);
    return true;
}

static bool invalidate(const Change *c) {
    uint8_t *at;
    uint64_t bits;
    Word x;
    if (!fetch(c, &at, &bits, &x))
        return false;
    (void)remember(c->bar.block, c->bar.at, false);
    report(c, VM_MBAR_INVAL, x.phase, 0);
    memset(at, 0, 8);
    return true;
}

// ---- Of asynchronous operations ------------------------------------------------------------------------------------

static Change change_by(VmAsyncOp *op, unsigned lane) {
    return (Change){.w = &op->warp->hot,
                    .i = op->insn,
                    .lane = lane,
                    .bar = op->act == VM_ASYNC_ARRIVE ? (VmEnd){op->bar.block, op->dst[lane]} : op->bar,
                    .op = op->id,
                    .module = op->module,
                    .sem = op->act == VM_ASYNC_ARRIVE ? PTX_SEM_NONE : PTX_RELAXED,
                    .scope = op->act == VM_ASYNC_ARRIVE ? PTX_SCOPE_CTA : PTX_SCOPE_CLUSTER};
}

bool gr_vm_mbar_arrive(VmAsyncOp *op, unsigned lane) {
    Change c = change_by(op, lane);
    uint64_t before;
    return change_count(&c, 1, false, false, &before);
}

bool gr_vm_mbar_complete(VmAsyncOp *op, unsigned lane, uint32_t bytes) {
    Change c = change_by(op, lane);
    return change_tx(&c, false, bytes);
}

bool gr_vm_mbar_pend(VmWarp *w, const VmInsn *i, unsigned lane, VmEnd bar) {
    Change c = {.w = w, .i = i, .lane = lane, .bar = bar};
    uint8_t *at;
    uint64_t bits;
    Word x;
    if (!fetch(&c, &at, &bits, &x))
        return false;
    if (x.pending == COUNT_MAX)
        return FAULT(&c, COUNT, "expected more than %d arrivals at an mbarrier", COUNT_MAX);
    x.pending++;
    bits = pack(&x);
    memcpy(at, &bits, 8);
    return true;
}

// ---- Instructions --------------------------------------------------------------------------------------------------

static bool lane_change(VmWarp *w, const VmInsn *i, const Change *c) {
    const VmMbarInfo *info = i->extra;
    unsigned l = c->lane;
    uint32_t count = info->has_count ? VM_U32(w, i->b)[l] : 1;
    uint64_t before;
    switch (info->op) {
    case VM_MBAR_DO_INIT: return init(c, count);
    case VM_MBAR_DO_INVAL: return invalidate(c);
    case VM_MBAR_DO_EXPECT: return change_tx(c, true, VM_U32(w, i->c)[l]);
    case VM_MBAR_DO_COMPLETE: return change_tx(c, false, VM_U32(w, i->c)[l]);
    default:
        if (info->has_tx && !change_tx(c, true, VM_U32(w, i->c)[l]))
            return false;
        if (!change_count(c, count, info->op == VM_MBAR_DO_DROP, info->no_complete, &before))
            return false;
        if (info->has_state)
            VM_U64(w, i->d)[l] = before;
        return true;
    }
}

VM_HANDLER(gr_vm_x_mbarrier) {
    const VmMbarInfo *info = i->extra;
    if (--w->budget <= 0 && gr_vm_access_hook(w, i))
        return NULL;
    unsigned turn = gr_vm_rotation(w);
    for (unsigned k = 0; k < VM_LANES; k++) {
        Change c = {.w = w, .i = i, .lane = commit_lane(k, turn), .sem = info->sem, .scope = info->scope};
        if (!(w->mask >> c.lane & 1))
            continue;
        if (!gr_vm_bar_end(w, i, c.lane, &info->at, &c.bar) || !lane_change(w, i, &c))
            return NULL;
    }
    return i + 1;
}

// The lanes whose phase is over; *at: where the first of the others waits. False: faulted.
static bool test(VmWarp *w, const VmInsn *i, uint32_t *over, uint64_t *at) {
    const VmMbarInfo *info = i->extra;
    *over = 0;
    for (uint32_t m = w->mask; m; m &= m - 1) {
        Change c = {
            .w = w, .i = i, .lane = (unsigned)__builtin_ctz(m), .sem = info->sem, .scope = info->scope};
        uint8_t *host;
        uint64_t bits;
        Word x, then;
        if (!gr_vm_bar_end(w, i, c.lane, &info->at, &c.bar) || !fetch(&c, &host, &bits, &x))
            return false;
        bool is;
        if (info->parity)
            is = (VM_U32(w, i->b)[c.lane] & 1) != (x.phase & 1);
        else {
            if (!unpack(VM_U64(w, i->b)[c.lane], &then))
                return FAULT(&c, NONE, "waited for a phase with a state that no arrival gave");
            is = then.phase != x.phase;
        }
        if (is)
            *over |= UINT32_C(1) << c.lane;
        else if (*over == (w->mask & ((UINT32_C(1) << c.lane) - 1)))
            *at = c.bar.at;
        if (is)
            report(&c, VM_MBAR_WAIT, x.phase, 0);
    }
    return true;
}

// How long a split may be suspended: the hint if there is one, else a time that the device chooses, longer where it was
// in vain before. Shorter ones come too.
static uint64_t patience(VmWarp *w, const VmInsn *i) {
    const VmMbarInfo *info = i->extra;
    uint32_t tries = split_of(w)->mbar_tries,
             ns = WAIT_NS << (tries < WAIT_DOUBLINGS ? tries : WAIT_DOUBLINGS);
    if (info->has_hint) {
        ns = VM_U32(w, i->c)[__builtin_ctz(w->mask)];
        ns = ns > WAIT_MAX_NS ? WAIT_MAX_NS : ns;
    }
    Rng *rng = &rest_of(w)->launch->async_rng;
    return ns ? ns - gr_rng_below(rng, ns / 2 + 1) : 0;
}

VM_HANDLER(gr_vm_x_mbarrier_test) {
    const VmMbarInfo *info = i->extra;
    VmWarpRest *r = rest_of(w);
    VmLaunch *l = r->launch;
    uint32_t over;
    uint64_t at = 0;
    if (!test(w, i, &over, &at))
        return NULL;
    VmSplit *p = split_of(w);
    bool again = p->mbar_sleeps && p->mbar_insn == i;
    if (info->op == VM_MBAR_DO_TRY && !over) {
        uint64_t until = again ? p->until : *l->clock_ps + patience(w, i) * 1000;
        if (until > *l->clock_ps) {
            p->pc = i;
            p->mbar_sleeps = true;
            p->mbar_insn = i;
            p->mbar = (uint32_t)at;
            r->block->mbar_waiters = true;
            if (!gr_vm_sleep_until(r, until))
                return gr_vm_fault(w, i, VM_FAULT_LIMIT, -1, 0, "out of memory");
            w->stop = VM_STOP_WAIT;
            return NULL;
        }
    }
    if (over)
        p->mbar_tries = 0;
    else if (again && p->mbar_tries < WAIT_DOUBLINGS)
        p->mbar_tries++;
    p->mbar_sleeps = false;
    p->mbar_insn = over ? NULL : i;
    p->mbar = (uint32_t)at;
    uint32_t *pred = &VM_PRED(w, i->d);
    *pred = (*pred & ~w->mask) | over;
    // A thread that polls lets others run.
    return over == w->mask ? i + 1 : stop_at(w, i + 1, VM_STOP_YIELD);
}

VM_HANDLER(gr_vm_x_mbarrier_pending) {
    for (uint32_t m = w->mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        Word x;
        unpack(VM_U64(w, i->a)[l], &x);
        VM_U32(w, i->d)[l] = x.pending;
    }
    return i + 1;
}
