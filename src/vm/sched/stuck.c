// SPDX-License-Identifier: Apache-2.0
// stuck — finds that kernels can never go on: each of their threads waits, or repeats a loop that changes nothing.
//
// Now and then the device looks closely for a while (a look). During a look it classifies every instruction before it
// executes it. What could change memory, or what others do, ends the look: a store or an atomic operation that alters
// bytes, barriers, clocks, asynchronous operations, output. So all loads of a look that got to its end saw the same
// memory. A thread's next step depends on its registers and on what it loads. So if a split comes twice to one
// instruction with equal registers during a look, its lanes repeat that way for ever, however they are scheduled. When
// all lanes that live do, or wait since before the look began, nothing on this device can change any more. The driver
// says whether something else can (VM_RUN_STUCK).
//
// Looks are far apart, and farther each time that one finds nothing, up to GAP_MAX.
#include "vm/sched/stuck.h"

#include "base/rng.h"
#include "vm/core/device.h"
#include "vm/core/exec.h"
#include "vm/core/exec_mem.h"
#include "vm/core/fault.h"
#include "vm/core/launch.h"

#include <string.h>

enum { GAP_MIN = 1 << 22, GAP_MAX = 1 << 26, LOOK_MIN = 1 << 18, LOOK_MAX = 1 << 24, JUDGE_EVERY = 1 << 14 };

static void end_look(VmStuck *s) {
    s->looking = false;
    s->gap = s->gap < GAP_MAX ? s->gap * 2 : GAP_MAX;
    s->next = s->executed + s->gap;
}

// ---- What an instruction may change ------------------------------------------------------------------------

typedef enum Effect {
    NOTHING, // but registers
    LOADS,
    STORES, // bytes of memory, at once: whether they change is looked at
    MEETS,  // lanes of a warp exchange values
    CHANGES,
} Effect;

static Effect effect_of(const VmInsn *i) {
    const PtxInstr *p = i->stmt && i->stmt->kind == PTX_INSTR ? i->stmt->instr : NULL;
    unsigned flags = p ? gr_ptx_op_flags(p->op) : 0;
    if (i->exec[0] == gr_vm_x_spill)
        return CHANGES;
    if (!p)
        return NOTHING; // a rejoin point
    switch (p->op) {
    case PTX_OP_ST:
    case PTX_OP_ATOM:
    case PTX_OP_RED:
        return gr_ptx_instr_has(p, PTX_MOD_async) || i->tagged ? CHANGES
               : p->space == PTX_PARAM                         ? NOTHING
                                                               : STORES;
    case PTX_OP_LD:
    case PTX_OP_LDU: return p->space == PTX_PARAM || i->tagged ? NOTHING : LOADS;
    case PTX_OP_SHFL:
    case PTX_OP_VOTE:
    case PTX_OP_MATCH:
    case PTX_OP_REDUX:
    case PTX_OP_ELECT: return MEETS;
    case PTX_OP_BAR:
    case PTX_OP_BARRIER: return gr_ptx_instr_has(p, PTX_MOD_warp) ? MEETS : CHANGES;
    case PTX_OP_MBARRIER:
        return gr_ptx_instr_has(p, PTX_MOD_try_wait) || gr_ptx_instr_has(p, PTX_MOD_test_wait) ? NOTHING
                                                                                               : CHANGES;
    case PTX_OP_RET: return NOTHING;
    case PTX_OP_ACTIVEMASK:
    case PTX_OP_ALLOCA:
    case PTX_OP_GRIDDEPCONTROL: return CHANGES;
    default:
        return flags & (PTX_F_WRITES | PTX_F_ASYNC | PTX_F_EXIT | PTX_F_COLLECTIVE | PTX_F_BARRIER) ? CHANGES
                                                                                                    : NOTHING;
    }
}

// The lanes whose guard lets them take part.
static uint32_t taking_part(const VmWarp *w, const VmInsn *i) {
    if (i->exec[0] != gr_vm_x_guard)
        return w->mask;
    uint32_t p = VM_PRED(w, i->guard);
    return (i->guard_negated ? ~p : p) & w->mask;
}

// Executes a store or an atomic operation; *changed: it changed some byte.
static const VmInsn *execute_store(VmWarp *w, const VmInsn *i, bool *changed) {
    const VmMemInfo *info = i->extra;
    uint64_t address[VM_LANES];
    uint8_t *host[VM_LANES], before[VM_LANES][16 * VM_MAX_VEC];
    uint32_t mask = w->mask, lanes;
    w->mask = taking_part(w, i);
    bool found = gr_vm_look_up(w, i, address, host, &lanes);
    w->mask = mask;
    if (!found) // the launch is over
        return NULL;
    for (uint32_t m = lanes; m; m &= m - 1)
        memcpy(before[__builtin_ctz(m)], host[__builtin_ctz(m)], info->size);
    const VmInsn *next = i->exec[w->partial](w, i);
    for (uint32_t m = lanes; m; m &= m - 1)
        *changed |= memcmp(before[__builtin_ctz(m)], host[__builtin_ctz(m)], info->size) != 0;
    return next;
}

// Other processes may share memory of the process that CUDA does not know.
static bool loaded_pageable(const VmWarp *w, const VmInsn *i) {
    const VmRange *range = NULL;
    const VmCache *c = &w->caches[i->e];
    if (c->lo < c->hi)
        range = gr_vm_mem_before(rest_of((VmWarp *)w)->launch->device->mem, c->lo);
    return range && range->kind == VM_MEM_PAGEABLE;
}

// ---- What repeats ------------------------------------------------------------------------------------------

// Hashes registers, a multiple of 64 bytes, in four sums, so that none waits for another one.
static uint64_t hash_of(const uint8_t *frame, uint32_t bytes) {
    uint64_t h[4] = {1, 2, 3, 4}, word;
    for (uint32_t at = 0; at < bytes; at += sizeof h)
        for (uint32_t k = 0; k < 4; k++) {
            memcpy(&word, frame + at + k * sizeof word, sizeof word);
            h[k] = (h[k] ^ word) * 0x9e3779b97f4a7c15u;
            h[k] ^= h[k] >> 32;
        }
    return gr_mix64(gr_mix64(gr_mix64(h[0]) ^ h[1]) ^ h[2]) ^ h[3];
}

static uint64_t state_of(const VmSplit *p) {
    uint64_t h = p->mask;
    for (const VmActivation *a = p->act; a; a = a->caller) {
        h = gr_mix64(h ^ (uint64_t)(uintptr_t)a->ret ^ (uint64_t)a->func->index << 32);
        h = gr_mix64(h ^ hash_of(a->frame, a->func->frame_bytes));
    }
    return h;
}

// The state of all running splits of a warp whose lanes exchange values: their future depends on no order either.
static uint64_t joint_state(const VmWarpRest *r) {
    uint64_t sum = 0;
    for (uint32_t s = 0; s < r->n_splits; s++) {
        const VmSplit *p = &r->splits[s];
        const VmInsn *pc = s == r->cur ? NULL : p->pc;
        sum += gr_mix64(state_of(p) ^ (uint64_t)(uintptr_t)pc ^ (uint64_t)p->state << 56);
    }
    return sum;
}

// The split is about to execute `i`. Remembers its state after 1, 2, 4, … returns to where that was: then it is one of
// the states that repeat, if any do.
static void compare(VmWarpRest *r, const VmInsn *i, const VmStuck *s) {
    VmSplit *p = &r->splits[r->cur];
    VmSeenState *seen = &r->seen[r->cur];
    bool known = seen->look == s->look && seen->mask == p->mask;
    if (known && seen->pc != i)
        return;
    if (known && seen->again) {
        seen->again = false;
        return;
    }
    uint64_t state = r->meets ? joint_state(r) : state_of(p);
    if (known && seen->state == state) {
        r->repeating |= r->meets ? r->live : p->mask;
        return;
    }
    uint32_t visits = known ? seen->visits + 1 : 1;
    if (visits & (visits - 1))
        seen->visits = visits;
    else
        *seen = (VmSeenState){.pc = i, .state = state, .look = s->look, .mask = p->mask, .visits = visits};
}

static void begin_warp(VmWarpRest *r, const VmStuck *s) {
    if (r->look == s->look)
        return;
    r->look = s->look;
    r->ran = r->repeating = 0;
    r->meets = false;
}

// Lanes wait for each other: from now on the warp repeats something only if all of it does.
static void note_meeting(VmWarpRest *r, bool waits) {
    if (!waits || r->meets)
        return;
    r->meets = true;
    r->repeating = 0;
    for (uint32_t s = 0; s < r->n_splits; s++)
        r->seen[s].look = 0;
}

const VmInsn *gr_vm_look(VmWarp *w, const VmInsn *i, uint64_t *weight) {
    VmWarpRest *r = rest_of(w);
    VmStuck *s = &r->launch->device->stuck;
    begin_warp(r, s);
    do {
        *weight += i->weight;
        VmSplit *p = &r->splits[r->cur];
        const VmActivation *act = p->act;
        Effect e = s->looking ? effect_of(i) : NOTHING;
        bool last = i[1].stmt != i->stmt, changed = e == CHANGES;
        r->ran |= p->mask;
        if (s->looking && !changed && p->mask & ~r->repeating)
            compare(r, i, s);
        const VmInsn *next = e == STORES && last ? execute_store(w, i, &changed) : i->exec[w->partial](w, i);
        if (e == LOADS && last)
            changed |= loaded_pageable(w, i);
        else if (e == MEETS)
            note_meeting(r, !next);
        else if (i->stmt && i->stmt->kind == PTX_INSTR && i->stmt->instr->op == PTX_OP_CALL && next == i + 1)
            changed |= split_of(w)->act == act; // a function of the device's own, such as vprintf
        if (!next && !r->launch->done &&
            split_of(w)->pc == i) // another split's turn, or a pause, comes first
            r->seen[r->cur].again = true;
        changed |= !next && w->stop == VM_STOP_CLOCK;
        if (changed && s->looking)
            end_look(s);
        i = next;
    } while (--w->left > 0 && i);
    return i;
}

// ---- Judging -----------------------------------------------------------------------------------------------

// Each lane repeats what it does, or has waited all the time for what other threads do.
static bool warp_is_stuck(const VmWarpRest *r, const VmStuck *s) {
    uint32_t ran = r->look == s->look ? r->ran : 0, repeating = r->look == s->look ? r->repeating : 0;
    for (uint32_t k = 0; k < r->n_splits; k++) {
        const VmSplit *p = &r->splits[k];
        bool waits =
            p->state == VM_SPLIT_BARRIER || p->state == VM_SPLIT_COLLECTIVE || p->state == VM_SPLIT_CLUSTER;
        if (p->mask & ~repeating && (!waits || p->mask & ran))
            return false;
    }
    return true;
}

static bool launch_is_stuck(const VmLaunch *l, const VmStuck *s) {
    if (!l->started || l->done || l->spread || l->n_held ||
        (l->next_block < l->n_blocks && l->resident + l->cluster_blocks <= l->max_resident))
        return false;
    for (uint32_t k = 0; k < l->n_sleepers; k++)
        if (l->sleepers[k].op)
            return false;
    for (const VmBlock *b = l->blocks; b; b = b->next)
        for (uint32_t k = 0; k < b->n_warps; k++)
            if (b->warps[k].live && !warp_is_stuck(&b->warps[k], s))
                return false;
    return true;
}

static bool is_stuck(const VmDevice *d) {
    for (const VmLaunch *l = d->active; l; l = l->next)
        if (!launch_is_stuck(l, &d->stuck))
            return false;
    return true;
}

void gr_vm_stuck_init(VmStuck *s) { *s = (VmStuck){.next = GAP_MIN, .gap = GAP_MIN, .most = LOOK_MIN}; }

void gr_vm_stuck_due(VmDevice *d) {
    VmStuck *s = &d->stuck;
    if (d->weak)
        return;
    if (!s->looking) {
        s->looking = true;
        s->look++;
        s->ends = s->executed + s->most;
    } else if (is_stuck(d)) {
        s->found = true;
        s->looking = false;
        s->next = s->executed + s->gap; // if the driver lets it go on
        return;
    } else if (s->executed >= s->ends) {
        s->most = s->most < LOOK_MAX ? s->most * 2 : LOOK_MAX;
        end_look(s);
        return;
    }
    s->next = s->executed + JUDGE_EVERY;
}

void gr_vm_end_stuck(VmDevice *d) {
    for (VmLaunch *l = d->active, *next; l; l = next) {
        next = l->next;
        if (!l->started || l->done || !l->blocks)
            continue;
        gr_vm_endless(l->blocks);
        gr_vm_launch_finish(l);
    }
}
