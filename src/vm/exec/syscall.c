// SPDX-License-Identifier: Apache-2.0
// syscall — functions that programs call and the device provides: vprintf, __assertfail, malloc, free, memcpy,
// memset. Their arguments are parameter bytes of the call, as for any function.
#include "base/address.h"
#include "vm/core/device.h"
#include "vm/core/exec.h"
#include "vm/core/exec_mem.h"
#include "vm/core/fault.h"
#include "vm/core/launch.h"
#include "vm/exec/printf.h"
#include "vm/sched/spread.h"

#include <stdio.h>
#include <string.h>

// Argument n of lane l, zero extended.
static uint64_t arg(VmWarp *w, const VmInsn *i, unsigned n, unsigned l) {
    const VmCallInfo *c = i->extra;
    uint64_t v = 0;
    if (n < c->n_args && c->args[n].offset != VM_NO_SLOT) {
        uint32_t size = c->args[n].stride < 8 ? c->args[n].stride : 8;
        memcpy(&v, w->frame + c->args[n].offset + (size_t)l * c->args[n].stride, size);
    }
    return v;
}

static void give(VmWarp *w, const VmInsn *i, unsigned l, uint64_t v) {
    const VmCallInfo *c = i->extra;
    if (c->n_rets && c->rets[0].offset != VM_NO_SLOT) {
        uint32_t size = c->rets[0].stride < 8 ? c->rets[0].stride : 8;
        memcpy(w->frame + c->rets[0].offset + (size_t)l * c->rets[0].stride, &v, size);
    }
}

#define EACH_LANE(l)                                                                                         \
    for (uint32_t m_ = w->mask, l; m_ && (l = (uint32_t)__builtin_ctz(m_), true); m_ &= m_ - 1)

static const VmInsn *bad_pointer(VmWarp *w, const VmInsn *i, unsigned l, uint64_t address, const char *what) {
    char at[GR_ADDRESS_TEXT];
    return gr_vm_fault(w, i, VM_FAULT_ILLEGAL_ADDRESS, (int)l, address, "passed %s a bad pointer, %s", what,
                       gr_address_text(address, at));
}

// The call does nothing, where that is no fault.
static void stray_pointer(VmWarp *w, const VmInsn *i, unsigned l, uint64_t address, const char *what) {
    char at[GR_ADDRESS_TEXT];
    gr_vm_stray(w, i, VM_FAULT_ILLEGAL_ADDRESS, l, address, "passed %s a bad pointer, %s", what,
                gr_address_text(address, at));
}

static VM_HANDLER(sys_vprintf) {
    VmDevice *d = rest_of(w)->launch->device;
    EACH_LANE(l) {
        const char *format = gr_vm_generic_string(w, l, arg(w, i, 0, l));
        if (!format)
            return bad_pointer(w, i, l, arg(w, i, 0, l), "printf");
        StrBuf out = {0};
        uint64_t cost, bad;
        int n = gr_vm_format(w, l, format, arg(w, i, 1, l), &out, &cost, &bad);
        gr_vm_share_lock(rest_of(w)->launch);
        if (out.len && !bad)
            d->print(d->print_user, out.data, out.len, cost);
        gr_vm_share_unlock(rest_of(w)->launch);
        gr_str_free(&out);
        if (bad)
            return bad_pointer(w, i, l, bad, "printf's %s");
        give(w, i, l, (uint64_t)(int64_t)n);
    }
    return i + 1;
}

// Prints what CUDA prints (CUDA C++ Programming Guide, "Assertion").
static VM_HANDLER(sys_assertfail) {
    VmWarpRest *r = rest_of(w);
    unsigned l = (unsigned)__builtin_ctz(w->mask);
    const char *text[3];
    for (unsigned k = 0; k < 3; k++) {
        text[k] = gr_vm_generic_string(w, l, arg(w, i, k == 2 ? 3 : k, l));
        if (!text[k])
            text[k] = "?";
    }
    uint32_t line = (uint32_t)arg(w, i, 2, l), t[3];
    EACH_LANE(k) {
        gr_vm_thread_of(r, k, t);
        fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n", text[1],
                line, text[2], r->block->ctaid[0], r->block->ctaid[1], r->block->ctaid[2], t[0], t[1], t[2],
                text[0]);
    }
    return gr_vm_fault(w, i, VM_FAULT_ASSERT, (int)l, 0, "failed the assertion `%s` (%s:%u)", text[0],
                       text[1], line);
}

static VM_HANDLER(sys_malloc) {
    VmDevice *d = rest_of(w)->launch->device;
    EACH_LANE(l) {
        uint64_t size = arg(w, i, 0, l);
        VmRange *r = NULL;
        gr_vm_share_lock(rest_of(w)->launch);
        if (size && size <= d->config.heap_bytes - d->heap_used &&
            gr_vm_mem_alloc(d->mem, VM_MEM_HEAP, d->config.index, size, 16, &r, NULL) == GR_OK)
            d->heap_used += size;
        gr_vm_share_unlock(rest_of(w)->launch);
        give(w, i, l, r ? r->addr : 0);
    }
    return i + 1;
}

// Makes inline caches forget a range that is gone.
static void forget_in(VmLaunch *l, uint64_t address) {
    for (uint32_t k = 0; k < l->module->counts.caches; k++)
        if (l->caches[k].lo == address)
            l->caches[k] = (VmCache){0};
}

// Other shares notice at their next turn (VmLaunch.caches_generation).
static void forget(VmLaunch *mine, uint64_t address) {
    for (VmLaunch *l = mine->device->active; l && !mine->in; l = l->next)
        forget_in(l, address);
    forget_in(mine, address);
}

static VM_HANDLER(sys_free) {
    VmDevice *d = rest_of(w)->launch->device;
    EACH_LANE(l) {
        uint64_t address = arg(w, i, 0, l);
        if (!address)
            continue;
        VmLaunch *launch = rest_of(w)->launch;
        gr_vm_share_lock(launch);
        const VmRange *r = gr_vm_mem_find(d->mem, address);
        bool good = r && r->kind == VM_MEM_HEAP && r->addr == address;
        if (good) {
            gr_vm_report_free(w, i, l, address, r->size);
            d->heap_used -= r->size;
            gr_vm_mem_free(d->mem, address, NULL);
        }
        gr_vm_share_unlock(launch);
        if (!good)
            return bad_pointer(w, i, l, address, "free");
        forget(launch, address);
    }
    return i + 1;
}

static VM_HANDLER(sys_memcpy) {
    EACH_LANE(l) {
        uint64_t to = arg(w, i, 0, l), from = arg(w, i, 1, l), n = arg(w, i, 2, l);
        void *t = n ? gr_vm_generic(w, l, to, n) : NULL;
        const void *f = n ? gr_vm_generic(w, l, from, n) : NULL;
        if (n && !t)
            stray_pointer(w, i, l, to, "memcpy");
        else if (n && !f)
            stray_pointer(w, i, l, from, "memcpy");
        else if (n)
            memmove(t, f, n);
        if (w->stop == VM_STOP_FAULT)
            return NULL;
        give(w, i, l, to);
    }
    return i + 1;
}

static VM_HANDLER(sys_memset) {
    EACH_LANE(l) {
        uint64_t to = arg(w, i, 0, l), n = arg(w, i, 2, l);
        void *t = n ? gr_vm_generic(w, l, to, n) : NULL;
        if (n && !t)
            stray_pointer(w, i, l, to, "memset");
        else if (n)
            memset(t, (int)arg(w, i, 1, l), n);
        if (w->stop == VM_STOP_FAULT)
            return NULL;
        give(w, i, l, to);
    }
    return i + 1;
}

const VmBuiltin *gr_vm_builtin(const char *name) {
    static const VmBuiltin all[] = {
        {"vprintf", sys_vprintf}, {"__assertfail", sys_assertfail}, {"malloc", sys_malloc},
        {"free", sys_free},       {"memcpy", sys_memcpy},           {"memmove", sys_memcpy},
        {"memset", sys_memset},
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (!strcmp(name, all[k].name))
            return &all[k];
    return NULL;
}
