// SPDX-License-Identifier: Apache-2.0
// exec_call — calls and returns. A call makes an activation with a frame of its own for the lanes that enter
// together; lanes that call different functions through a pointer part first.
#include "vm/core/device.h"
#include "vm/core/exec.h"
#include "vm/core/exec_mem.h"
#include "vm/core/fault.h"
#include "vm/core/warp.h"

#include <string.h>

// Copies parameter bytes of the lanes in `mask` between frames; a narrower destination cuts, a wider one gets
// zeros.
static void copy_param(uint8_t *to, const VmParamSlot *t, const uint8_t *from, const VmParamSlot *f,
                       uint32_t mask) {
    if (t->offset == VM_NO_SLOT || f->offset == VM_NO_SLOT)
        return;
    uint32_t n = t->stride < f->stride ? t->stride : f->stride;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint8_t *p = to + t->offset + (size_t)l * t->stride;
        memcpy(p, from + f->offset + (size_t)l * f->stride, n);
        memset(p + n, 0, t->stride - n);
    }
}

static VmFunc *by_address(const VmDevice *d, uint64_t address) {
    uint64_t n = (address - VM_CODE_BASE) / 16;
    if (address < VM_CODE_BASE || address % 16)
        return NULL;
    for (const VmModule *m = d->modules; m; m = m->next)
        if (n >= m->code_base && n - m->code_base < m->n_funcs)
            return m->funcs[n - m->code_base];
    return NULL;
}

static const VmInsn *enter(VmWarp *w, const VmInsn *i, VmFunc *f) {
    VmWarpRest *r = rest_of(w);
    const VmCallInfo *c = i->extra;
    VmSplit *p = split_of(w);
    VmActivation *caller = p->act;
    const VmModule *m = r->launch->module;
    if ((f->module != m && f->module != m->runtime) || !f->ptx || f->ptx->is_entry)
        return gr_vm_fault(w, i, VM_FAULT_INVALID_PC, -1, gr_vm_code_address(f),
                           "called %s, which is not linked "
                           "with this kernel",
                           f->name);
    uint64_t top =
        (uint64_t)caller->sp + caller->func->local_bytes + caller->dynamic + VM_CALL_BYTES + f->local_bytes;
    if (top > r->launch->stack_bytes)
        return gr_vm_fault(w, i, VM_FAULT_STACK_OVERFLOW, -1, 0,
                           "overflowed its stack of %u bytes (cudaLimitStackSize raises it) when calling %s",
                           r->launch->stack_bytes, f->name);
    VmActivation *a = gr_vm_activation(r, f, caller);
    if (!a)
        return gr_vm_fault(w, i, VM_FAULT_LIMIT, -1, 0, "found no memory to call %s", f->name);
    a->lanes = w->mask;
    a->call = i;
    a->ret = i + 1;
    for (uint32_t k = 0; k < c->n_args && k < f->ptx->n_params; k++)
        copy_param(a->frame, &f->formals[k], caller->frame, &c->args[k], w->mask);
    p->act = a;
    gr_vm_load_split(r);
    return f->code;
}

VM_HANDLER(gr_vm_x_call) {
    const VmCallInfo *c = i->extra;
    VmFunc *f = c->callee;
    if (!f) {
        const uint64_t *t = VM_U64(w, c->target);
        uint64_t first = t[__builtin_ctz(w->mask)];
        uint32_t same = 0;
        for (uint32_t m = w->mask; m; m &= m - 1) {
            unsigned l = (unsigned)__builtin_ctz(m);
            same |= (uint32_t)(t[l] == first) << l;
        }
        if (same != w->mask)
            return gr_vm_diverge(w, same, i, i, i + 1);
        f = by_address(rest_of(w)->launch->device, first);
        if (!f)
            return gr_vm_fault(w, i, VM_FAULT_INVALID_PC, -1, first,
                               "called address 0x%llx, where no function is", (unsigned long long)first);
    }
    if (f->builtin)
        return f->builtin->exec(w, i);
    if (!f->ptx)
        return gr_vm_fault(w, i, VM_FAULT_ILLEGAL_INSTRUCTION, -1, 0,
                           "called %s, which this device does not have", f->name);
    return enter(w, i, f);
}

VM_HANDLER(gr_vm_x_ret) {
    VmWarpRest *r = rest_of(w);
    VmSplit *p = split_of(w);
    VmActivation *a = p->act, *caller = a->caller;
    (void)i;
    if (!caller)
        return gr_vm_x_exit(w, i);
    const VmCallInfo *c = a->call->extra;
    for (uint32_t k = 0; k < c->n_rets && k < a->func->ptx->n_rets; k++)
        copy_param(caller->frame, &c->rets[k], a->frame, &a->func->rets[k], w->mask);
    // Joins inside the function were passed on the way here, except in code that no path leaves.
    while (p->top && p->top->act == a) {
        VmJoin *j = p->top;
        j->refs++;
        p->top = j->parent;
        if (p->top)
            p->top->refs++;
        gr_vm_join_unref(r, j);
        gr_vm_leave_joins(r, j, j->parent, w->mask);
        gr_vm_join_unref(r, j);
        p = split_of(w);
    }
    const VmInsn *next = a->ret;
    a->lanes &= ~w->mask;
    p->act = caller;
    if (!a->lanes)
        gr_vm_activation_free(r->launch, a);
    gr_vm_load_split(r);
    return next;
}

// ---- alloca (PTX ISA 9.7.17) -------------------------------------------------------------------------------
//
// The stack pointer belongs to the activation, not to the lane: all lanes get as much as the one that asks for
// most, and memory comes back only when all lanes restore together, or with the end of the function.

VM_HANDLER(gr_vm_x_alloca) {
    VmWarpRest *r = rest_of(w);
    VmActivation *a = split_of(w)->act;
    const uint64_t *size = VM_U64(w, i->a);
    uint64_t most = 0, align = i->imm;
    for (uint32_t m = w->mask; m; m &= m - 1)
        most = size[__builtin_ctz(m)] > most ? size[__builtin_ctz(m)] : most;
    uint64_t at = ((uint64_t)a->sp + a->func->local_bytes + a->dynamic + align - 1) / align * align;
    if (most > r->launch->stack_bytes || at + most > r->launch->stack_bytes)
        return gr_vm_fault(w, i, VM_FAULT_STACK_OVERFLOW, -1, 0,
                           "overflowed its stack of %u bytes with alloca", r->launch->stack_bytes);
    a->dynamic = (uint32_t)(at + ((most + 15) & ~UINT64_C(15)) - a->sp - a->func->local_bytes);
    for (uint32_t m = w->mask; m; m &= m - 1)
        VM_U64(w, i->d)[__builtin_ctz(m)] = at;
    return i + 1;
}

VM_HANDLER(gr_vm_x_stacksave) {
    for (uint32_t m = w->mask; m; m &= m - 1)
        VM_U64(w, i->d)[__builtin_ctz(m)] = split_of(w)->act->dynamic;
    return i + 1;
}

VM_HANDLER(gr_vm_x_stackrestore) {
    VmActivation *a = split_of(w)->act;
    uint64_t to = 0;
    for (uint32_t m = w->mask; m; m &= m - 1)
        to = VM_U64(w, i->a)[__builtin_ctz(m)] > to ? VM_U64(w, i->a)[__builtin_ctz(m)] : to;
    if (w->mask == a->lanes && to < a->dynamic)
        a->dynamic = (uint32_t)to;
    return i + 1;
}
