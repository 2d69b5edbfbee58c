// SPDX-License-Identifier: Apache-2.0
// exec_ctl — guards, branches, rejoin points, exit, traps, nanosleep.
#include "vm/core/exec.h"
#include "vm/core/extend.h"
#include "vm/core/fault.h"
#include "vm/core/warp.h"

VM_HANDLER(gr_vm_x_unknown) {
    return gr_vm_fault(w, i, VM_FAULT_ILLEGAL_INSTRUCTION, -1, 0,
                       "executed '%s', which this device does not have", (const char *)i->extra);
}

VM_HANDLER(gr_vm_x_end) { return split_of(w)->act->caller ? gr_vm_x_ret(w, i) : gr_vm_x_exit(w, i); }

VM_HANDLER(gr_vm_x_nop) {
    (void)w;
    return i + 1;
}

static inline uint32_t guard_mask(const VmWarp *w, const VmInsn *i) {
    uint32_t p = VM_PRED(w, i->guard);
    return (i->guard_negated ? ~p : p) & w->mask;
}

VM_HANDLER(gr_vm_x_guard) {
    uint32_t m = guard_mask(w, i), mask = w->mask;
    if (!m)
        return i + 1;
    if (m == mask)
        return i->body[w->partial](w, i);
    uint8_t partial = w->partial;
    w->mask = m;
    w->partial = 1;
    const VmInsn *next = i->body[1](w, i);
    if (next) { // otherwise the state is loaded from the split again
        w->mask = mask;
        w->partial = partial;
    }
    return next;
}

// For calls, barriers, collectives and the like: the lanes that do not take part go on by themselves.
VM_HANDLER(gr_vm_x_guard_control) {
    uint32_t m = guard_mask(w, i);
    if (!m)
        return i + 1;
    if (m == w->mask)
        return i->body[w->partial](w, i);
    return gr_vm_diverge(w, m, i, i + 1, i->rejoin);
}

VM_HANDLER(gr_vm_x_bra) {
    (void)w;
    return i->target;
}

VM_HANDLER(gr_vm_x_bra_if) {
    uint32_t m = guard_mask(w, i);
    if (!m)
        return i + 1;
    if (m == w->mask)
        return i->target;
    return gr_vm_diverge(w, m, i->target, i + 1, i->rejoin);
}

VM_HANDLER(gr_vm_x_brx) {
    const VmBranchTable *t = i->extra;
    const uint32_t *index = VM_U32(w, i->a);
    uint32_t first = index[__builtin_ctz(w->mask)], same = 0;
    for (uint32_t m = w->mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        same |= (uint32_t)(index[l] == first) << l;
    }
    if (first >= t->n)
        return gr_vm_fault(w, i, VM_FAULT_INVALID_PC, -1, first, "brx.idx with index %u of a list of %u",
                           first, t->n);
    if (same == w->mask)
        return t->target[first];
    return gr_vm_diverge(w, same, t->target[first], i, i->rejoin);
}

VM_HANDLER(gr_vm_x_exit) {
    (void)i;
    gr_vm_lanes_exit(w, w->mask);
    w->stop = VM_STOP_WAIT;
    return NULL;
}

VM_HANDLER(gr_vm_x_exit_if) {
    uint32_t m = guard_mask(w, i);
    if (!m)
        return i + 1;
    bool all = m == w->mask;
    if (!all)
        split_of(w)->pc = i + 1;
    gr_vm_lanes_exit(w, m);
    w->stop = all ? VM_STOP_WAIT : VM_STOP_SWITCH;
    return NULL;
}

VM_HANDLER(gr_vm_x_trap) { return gr_vm_fault(w, i, VM_FAULT_TRAP, -1, 0, "executed trap"); }

// No debugger is attached, ever.
VM_HANDLER(gr_vm_x_brkpt) {
    return gr_vm_fault(w, i, VM_FAULT_BREAKPOINT, -1, 0, "%s", gr_vm_breakpoint(split_of(w)->act->func));
}

// PTX ISA 9.7.19.2: suspends for a time in [0, 2t]. The seed chooses the time, never less than half of t, so that a
// pause is one.
uint64_t gr_vm_pause_ns(VmWarp *w, const VmInsn *i) {
    const uint32_t *t = VM_U32(w, i->a);
    uint32_t longest = 0;
    for (unsigned l = 0; l < VM_LANES; l++) {
        uint32_t v = w->mask >> l & 1 ? t[l] : 0;
        longest = v > longest ? v : longest;
    }
    if (longest > 1000000)
        longest = 1000000; // the longest duration there is
    return longest / 2 +
           (longest ? gr_rng_below(&rest_of(w)->launch->sleep_rng, longest + longest / 2 + 1) : 0);
}

const VmInsn *gr_vm_pause(VmWarp *w, const VmInsn *i, uint64_t ns) {
    VmWarpRest *r = rest_of(w);
    split_of(w)->pc = i + 1;
    if (!ns)
        return stop_at(w, i + 1, VM_STOP_SWITCH);
    if (!gr_vm_sleep_until(r, *r->launch->clock_ps + ns * 1000))
        return gr_vm_fault(w, i, VM_FAULT_LIMIT, -1, 0, "out of memory");
    w->stop = VM_STOP_WAIT;
    return NULL;
}

VM_HANDLER(gr_vm_x_nanosleep) { return gr_vm_pause(w, i, gr_vm_pause_ns(w, i)); }
