// SPDX-License-Identifier: Apache-2.0
// fault — what went wrong, where, and which thread did it: a sentence for people and fields for programs. A fault ends
// its launch and nothing else.
#include "vm/core/fault.h"

#include "vm/core/block.h"
#include "vm/core/device.h"
#include "vm/core/extend.h"
#include "vm/core/warp.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    LOOP = 32, // instructions of a loop that polls
    TOLD = 4,  // waiting threads that are told
};

void gr_vm_thread_of(const VmWarpRest *r, unsigned lane, uint32_t thread[3]) {
    const VmLaunch *l = r->launch;
    uint32_t n = r->index * VM_LANES + lane;
    thread[0] = n % l->block[0];
    thread[1] = n / l->block[0] % l->block[1];
    thread[2] = n / l->block[0] / l->block[1];
}

// The line to blame: .loc chains name the innermost position first, which is where the fault is.
static void place(VmFault *f, const PtxStmt *s, const PtxModule *m) {
    if (!s)
        return;
    f->ptx_line = s->line;
    f->stmt = s;
    f->module = m;
    if (s->loc) {
        f->file = gr_ptx_file(m, s->loc->file);
        f->line = s->loc->line;
    }
}

static void begin(VmLaunch *l, VmFaultKind kind) {
    memset(&l->fault, 0, sizeof l->fault);
    l->fault.kind = kind;
    l->fault.shuffled = l->shuffle_by != 0;
    l->fault.kernel = l->kernel->name;
    l->fault.function = l->kernel->name;
    l->faulted = true;
    l->done = true;
}

static void append(char *buf, size_t cap, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void append(char *buf, size_t cap, const char *fmt, ...) {
    size_t len = strlen(buf);
    va_list ap;
    va_start(ap, fmt);
    if (len + 1 < cap)
        vsnprintf(buf + len, cap - len, fmt, ap);
    va_end(ap);
}

static void fault_args(VmWarp *w, const VmInsn *i, VmFaultKind kind, int lane, uint64_t address,
                       const char *fmt, va_list ap) {
    VmWarpRest *r = rest_of(w);
    VmLaunch *l = r->launch;
    w->stop = VM_STOP_FAULT;
    if (l->faulted)
        return;
    begin(l, kind);
    VmFault *f = &l->fault;
    // What a pass inserted has no place in the source: the program's own function that called it has one.
    const VmActivation *act = split_of(w)->act;
    const VmInsn *at = i;
    for (; act->caller && gr_vm_is_inserted(act->func); act = act->caller)
        at = act->call;
    const VmFunc *func = act->func;
    f->function = func->name;
    place(f, at ? at->stmt : NULL, func->ptx ? func->ptx->module : l->kernel->ptx->module);
    unsigned who = lane >= 0 ? (unsigned)lane : w->mask ? (unsigned)__builtin_ctz(w->mask) : 0;
    gr_vm_thread_of(r, who, f->thread);
    memcpy(f->block, r->block->ctaid, sizeof f->block);
    f->address = address;
    snprintf(f->msg, sizeof f->msg, "thread (%u,%u,%u) of block (%u,%u,%u) ", f->thread[0], f->thread[1],
             f->thread[2], f->block[0], f->block[1], f->block[2]);
    size_t len = strlen(f->msg);
    vsnprintf(f->msg + len, sizeof f->msg - len, fmt, ap);
}

const VmInsn *gr_vm_fault(VmWarp *w, const VmInsn *i, VmFaultKind kind, int lane, uint64_t address,
                          const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    fault_args(w, i, kind, lane, address, fmt, ap);
    va_end(ap);
    return NULL;
}

const VmInsn *gr_vm_stray(VmWarp *w, const VmInsn *i, VmFaultKind kind, unsigned lane, uint64_t address,
                          const char *fmt, ...) {
    VmWarpRest *r = rest_of(w);
    va_list ap;
    va_start(ap, fmt);
    if (!r->launch->device->config.pass_strays || r->strays == VM_STRAYS_FAULT || r->launch->faulted)
        fault_args(w, i, kind, (int)lane, address, fmt, ap);
    else if (r->strays == VM_STRAYS_TOLD)
        gr_vm_misuse_args(w, i, VM_MISUSE_STRAY, lane, 1, fmt, ap);
    va_end(ap);
    return NULL;
}

void gr_vm_fault_launch(VmLaunch *l, VmFaultKind kind, const char *fmt, ...) {
    if (l->faulted)
        return;
    begin(l, kind);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(l->fault.msg, sizeof l->fault.msg, fmt, ap);
    va_end(ap);
}

bool gr_vm_stop(VmDevice *d, uint64_t launch, const char *why) {
    VmLaunch *l = d->active;
    while (l && l->number != launch)
        l = l->next;
    if (!l || !l->started || l->done)
        return false;
    gr_vm_fault_launch(l, VM_FAULT_TRAP, "%s", why);
    if (l->turn && l->turn->left > 1) { // what is executed now is its turn's last instruction
        l->cut += (uint32_t)l->turn->left - 1;
        l->turn->left = 1;
    }
    return true;
}

// NULL: it goes round in a loop, as all do that no other thread could let go on when the launch is endless.
static const char *waits_for(const VmLaunch *l, const VmSplit *p) {
    bool endless = l->fault.kind == VM_FAULT_TIMEOUT;
    switch (p->state) {
    case VM_SPLIT_BARRIER: return "at a barrier";
    case VM_SPLIT_COLLECTIVE: return "at a warp-synchronous instruction";
    case VM_SPLIT_CLUSTER: return "at a cluster barrier";
    case VM_SPLIT_SLEEP: return endless ? NULL : "asleep";
    case VM_SPLIT_GATHER:
    case VM_SPLIT_JOIN: return endless ? NULL : "for its warp to meet again";
    default: return NULL;
    }
}

static const char *base_name(const char *path) {
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

// Where that is in the source: in the function that was written there, and where that was inlined, outermost.
static void append_place(VmFault *f, const PtxStmt *s, const PtxModule *m) {
    if (!s || !s->loc) {
        if (s)
            append(f->msg, sizeof f->msg, " (PTX line %u)", s->line);
        return;
    }
    append(f->msg, sizeof f->msg, " (%s:%u", base_name(gr_ptx_file(m, s->loc->file)), s->loc->line);
    const PtxLoc *outer = s->loc;
    while (outer->inlined_at)
        outer = outer->inlined_at;
    if (outer != s->loc)
        append(f->msg, sizeof f->msg, ", inlined at %s:%u", base_name(gr_ptx_file(m, outer->file)),
               outer->line);
    append(f->msg, sizeof f->msg, ")");
}

static void describe(VmLaunch *l, const VmWarpRest *r, const VmSplit *p, uint32_t mask, unsigned *told) {
    VmFault *f = &l->fault;
    uint32_t t[3];
    unsigned lane = (unsigned)__builtin_ctz(mask), n = (unsigned)__builtin_popcount(mask);
    const PtxStmt *s = p->pc->stmt;
    gr_vm_thread_of(r, lane, t);
    if (*told == 0) {
        memcpy(f->thread, t, sizeof t);
        memcpy(f->block, r->block->ctaid, sizeof f->block);
        f->function = p->act->func->name;
        place(f, s, p->act->func->ptx->module);
    }
    if (*told < TOLD) {
        append(f->msg, sizeof f->msg, "%sthread (%u,%u,%u)", *told ? "; " : "", t[0], t[1], t[2]);
        if (r->block->cluster->n > 1)
            append(f->msg, sizeof f->msg, " of block (%u,%u,%u)", r->block->ctaid[0], r->block->ctaid[1],
                   r->block->ctaid[2]);
        if (n > 1)
            append(f->msg, sizeof f->msg, " and %u more", n - 1);
        const char *what = waits_for(l, p);
        if (what)
            append(f->msg, sizeof f->msg, n > 1 ? " wait %s" : " waits %s", what);
        else
            append(f->msg, sizeof f->msg,
                   n > 1 ? " repeat a loop that changes nothing" : " repeats a loop that changes nothing");
        append_place(f, s, p->act->func->ptx->module);
    }
    ++*told;
}

static bool same_story(const VmLaunch *l, const VmSplit *p, const VmSplit *q) {
    const char *a = waits_for(l, p), *b = waits_for(l, q);
    // Where a split of a loop happens to be says nothing.
    return (a == b || (a && b && !strcmp(a, b))) && (!a || p->pc == q->pc) && p->act->func == q->act->func;
}

static void describe_block(VmLaunch *l, const VmBlock *b, unsigned *told) {
    for (uint32_t k = 0; !b->ended && k < b->n_warps; k++) {
        const VmWarpRest *r = &b->warps[k];
        uint32_t done = r->live ? 0 : UINT32_MAX;
        for (uint32_t s = 0; s < r->n_splits; s++) {
            uint32_t mask = 0;
            for (uint32_t o = s; o < r->n_splits && !(r->splits[s].mask & done); o++)
                mask |= same_story(l, &r->splits[s], &r->splits[o]) ? r->splits[o].mask : 0;
            if (mask)
                describe(l, r, &r->splits[s], mask, told);
            done |= mask;
        }
    }
}

// Suspended by try_wait, or, as far as one can tell, in a loop that polls.
static bool waits_at_mbarrier(const VmSplit *p) {
    ptrdiff_t far = p->mbar_insn ? p->pc - p->mbar_insn : 0;
    return p->mbar_sleeps || (p->mbar_insn && far >= -LOOP && far <= LOOP);
}

// A thread that waits at an mbarrier is more telling than one that happens to run. NULL: no thread in the block does.
static VmWarpRest *mbarrier_waiter(VmBlock *b) {
    for (uint32_t k = 0; k < b->n_warps; k++)
        for (uint32_t s = 0; b->warps[k].live && s < b->warps[k].n_splits; s++)
            if (waits_at_mbarrier(&b->warps[k].splits[s])) {
                b->warps[k].cur = s;
                return &b->warps[k];
            }
    return NULL;
}

void gr_vm_timeout(VmWarpRest *r) {
    unsigned long long ms = r->launch->device->config.watchdog_ns / 1000000;
    VmWarpRest *waiter = mbarrier_waiter(r->block);
    char where[120] = "";
    if (waiter) {
        r = waiter;
        gr_vm_mbar_describe(r, &r->splits[r->cur], where, sizeof where);
    } else if (r->cur >= r->n_splits)
        r->cur = 0;
    gr_vm_load_split(r);
    if (*where)
        gr_vm_fault(&r->hot, r->splits[r->cur].pc, VM_FAULT_TIMEOUT, -1, 0,
                    "waited %s when the kernel exceeded its time limit of %llu ms of device time", where, ms);
    else
        gr_vm_fault(&r->hot, r->splits[r->cur].pc, VM_FAULT_TIMEOUT, -1, 0,
                    "was running when the kernel exceeded its time limit of %llu ms of device time", ms);
}

// Which threads wait for what in the block, or in its cluster if they wait for that.
static void no_progress(VmBlock *b, VmFaultKind kind) {
    VmLaunch *l = b->launch;
    begin(l, kind);
    const VmCluster *c = b->cluster;
    if (c->n > 1 && gr_vm_waits_for_cluster(b))
        snprintf(l->fault.msg, sizeof l->fault.msg,
                 "the cluster of block (%u,%u,%u) can make no progress: ", c->block[0]->ctaid[0],
                 c->block[0]->ctaid[1], c->block[0]->ctaid[2]);
    else {
        snprintf(l->fault.msg, sizeof l->fault.msg, "block (%u,%u,%u) can make no progress: ", b->ctaid[0],
                 b->ctaid[1], b->ctaid[2]);
        c = NULL;
    }
    unsigned told = 0;
    for (uint32_t k = 0; k < (c ? c->n : 1); k++)
        describe_block(l, c ? c->block[k] : b, &told);
    if (told > TOLD)
        append(l->fault.msg, sizeof l->fault.msg, "; and others");
}

// No thread in the block, or in its cluster, can ever run again.
void gr_vm_deadlock(VmBlock *b) {
    if (b->launch->faulted)
        return;
    no_progress(b, VM_FAULT_DEADLOCK);
    gr_vm_misuse_fault(b->launch, VM_MISUSE_DEADLOCK);
}

// Polling for what never comes is no misuse: it may as well be a race's doing.
void gr_vm_endless(VmBlock *b) {
    if (!b->launch->faulted)
        no_progress(b, VM_FAULT_TIMEOUT);
}
