// SPDX-License-Identifier: Apache-2.0
// held — loads that observers hear of late.
//
// A load that the compiler hoisted out of its guard (ptx/speculate.h) is no access of a thread that throws the value
// away. So the VM holds it back until the thread has chosen. That is no lie as long as the thread has neither learnt
// anything from others meanwhile nor told them anything: others' accesses are still ordered with the load as they were.
// So whatever orders a lane's work settles its loads first (gr_vm_tell_sync, gr_vm_report_async), for all lanes that an
// event speaks for, not only for those of the split that it names.
#include "vm/core/device.h"
#include "vm/core/exec.h"
#include "vm/core/exec_mem.h"
#include "vm/core/launch.h"
#include "vm/core/tell.h"
#include "vm/core/warp.h"
#include "vm/observe/observe_internal.h"

// The lanes whose load is of memory that was freed since: observers have heard of that and forgotten the memory.
static uint32_t freed_since(const VmWarpRest *r, const VmHeldLoad *h, uint32_t lanes) {
    const VmMem *mem = r->launch->device->mem;
    const VmMemInfo *info = h->insn->extra;
    uint32_t freed = 0;
    if (gr_vm_mem_generation(mem) == h->generation ||
        (info->space != PTX_GLOBAL && info->space != PTX_GENERIC))
        return 0;
    for (uint32_t m = lanes; m; m &= m - 1) {
        uint64_t at = h->address[__builtin_ctz(m)], start, size;
        if (!gr_vm_mem_find_for(mem, at, r->launch->number) && gr_vm_mem_was_freed(mem, at, &start, &size))
            freed |= m & -m;
    }
    return freed;
}

static void settle(VmWarpRest *r, VmHeldLoad *h, uint32_t lanes, uint32_t discards) {
    h->lanes &= ~lanes;
    uint32_t freed = lanes ? freed_since(r, h, lanes) : 0;
    const VmMemInfo *info = freed ? h->insn->extra : NULL;
    for (uint32_t m = freed & ~discards; m; m &= m - 1)
        gr_vm_report_gone(&r->hot, h->insn, (unsigned)__builtin_ctz(m), h->address[__builtin_ctz(m)],
                          info->size, info->access, info->site.module);
    if (lanes & ~freed)
        gr_vm_tell_access(&r->hot, h->insn, h->address, lanes & ~freed, discards);
}

void gr_vm_settle_loads(VmWarpRest *r, uint32_t mask, uint32_t discards) {
    for (uint32_t k = 0; r->holding & mask && k < r->launch->module->counts.speculated; k++)
        settle(r, &r->held[k], r->held[k].lanes & mask, discards);
    r->holding &= ~mask;
}

bool gr_vm_holds_loads(const VmWarpRest *r) {
    uint32_t lanes = 0;
    for (uint32_t k = 0; r->holding && k < r->launch->module->counts.speculated; k++)
        lanes |= r->held[k].lanes;
    return lanes & r->live;
}

void gr_vm_settle_before(VmWarp *w, const VmInsn *i) {
    const VmMemInfo *info = i->extra;
    if (!i->tagged && !info->silent && (info->access == PTX_ACCESS_RMW || info->sem != PTX_WEAK))
        gr_vm_settle_loads(rest_of(w), w->mask, 0);
}

void gr_vm_hold_load(VmWarp *w, const VmInsn *i, const uint64_t address[VM_LANES], uint32_t mask) {
    VmWarpRest *r = rest_of(w);
    const VmSpeculated *s = ((const VmMemInfo *)i->extra)->speculated;
    if (!r->held)
        r->held = gr_vm_own(r->launch, r->launch->module->counts.speculated * sizeof *r->held);
    if (!r->held) { // out of memory
        gr_vm_tell_access(w, i, address, mask, 0);
        return;
    }
    (void)gr_vm_site_info(
        r, i->extra); // which knows the module, whatever function the warp is in when the load is told
    VmHeldLoad *h = &r->held[s->number];
    settle(r, h, h->lanes & mask, 0); // of another activation, or of a value that is still in use
    h->insn = i;
    if (!h->lanes)
        h->generation = gr_vm_mem_generation(r->launch->device->mem);
    h->lanes |= mask;
    r->holding |= mask;
    for (uint32_t k = 0; k < s->n_decisions; k++)
        h->passed[k] &= ~mask;
    for (uint32_t m = mask; m; m &= m - 1)
        h->address[__builtin_ctz(m)] = address[__builtin_ctz(m)];
}

static void decide(VmWarp *w, const VmDecision *d) {
    VmWarpRest *r = rest_of(w);
    VmHeldLoad *h = &r->held[d->load->number];
    uint32_t lanes = h->lanes & w->mask, keep = d->negated ? ~VM_PRED(w, d->pred) : VM_PRED(w, d->pred);
    settle(r, h, lanes & keep, 0);
    lanes &= ~keep;
    h->passed[d->index] |= lanes;
    for (uint32_t k = 0; k < d->load->n_decisions; k++)
        lanes &= h->passed[k];
    settle(r, h, lanes, lanes);
}

VM_HANDLER(gr_vm_x_decide) {
    if (rest_of(w)->holding & w->mask)
        for (const VmDecision *d = i->extra; d; d = d->next)
            decide(w, d);
    return i->body[w->partial](w, i);
}
