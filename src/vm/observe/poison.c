// SPDX-License-Identifier: Apache-2.0
#include "vm/observe/poison.h"

#include "vm/core/exec_mem.h"
#include "vm/core/warp.h"
#include "vm/mem/mem_kernels.h"

#include <stdlib.h>
#include <string.h>

enum { WORD = 8 };

// Of WORD aligned bytes of the device's memory.
typedef struct Poisoned {
    uint8_t before[WORD], with[WORD]; // `with`: else somebody has stored there since
    bool is[WORD];
} Poisoned;

static uint64_t key_of(const uint8_t *at) { return (uint64_t)(uintptr_t)at / WORD; }

static const Poisoned *poisoned(const VmDevice *d, const uint8_t *at) {
    const Poisoned *p = gr_map_get_u64(&d->poisoned, key_of(at));
    unsigned k = (uintptr_t)at % WORD;
    return p && p->is[k] && p->with[k] == *at ? p : NULL;
}

void gr_vm_unpoisoned(const VmDevice *d, const uint8_t *host, uint32_t n, uint8_t *out) {
    memcpy(out, host, n);
    for (uint32_t k = 0; k < n && d->poisoned.live; k++) {
        const Poisoned *p = poisoned(d, host + k);
        if (p)
            out[k] = p->before[(uintptr_t)(host + k) % WORD];
    }
}

// Without memory for it the complement is taken for the program's: then stores of one value look like different ones.
static void poison_byte(VmDevice *d, const uint8_t *at, uint8_t with) {
    Poisoned *p = gr_map_get_u64(&d->poisoned, key_of(at));
    unsigned k = (uintptr_t)at % WORD;
    if (!p) {
        p = calloc(1, sizeof *p);
        if (!p || !gr_map_put_u64(&d->poisoned, key_of(at), p)) {
            free(p);
            return;
        }
    }
    if (!p->is[k] || p->with[k] != *at)
        p->before[k] = *at;
    p->with[k] = with;
    p->is[k] = true;
}

static void store_byte(VmDevice *d, const uint8_t *at) {
    Poisoned *p = gr_map_get_u64(&d->poisoned, key_of(at));
    if (!p)
        return;
    p->is[(uintptr_t)at % WORD] = false;
    for (unsigned k = 0; k < WORD; k++)
        if (p->is[k])
            return;
    free(gr_map_remove_u64(&d->poisoned, key_of(at)));
}

void gr_vm_poison_forget(VmDevice *d) {
    for (size_t k = 0; k < d->poisoned.len; k++)
        if (d->poisoned.entries[k].live)
            free(d->poisoned.entries[k].value);
    gr_map_free(&d->poisoned);
}

// ---- Executing ---------------------------------------------------------------------------------------------

// Only who listens asks; and then blocks run on one thread.
static bool is_asked(const VmWarp *w) {
    return ((const VmWarpRest *)(const void *)w)->launch->device->listens_access;
}

static bool is_called(VmWarp *w, const VmInsn *i) { return --w->budget <= 0 && gr_vm_access_hook(w, i); }

static VM_HANDLER(x_poison) {
    const VmMemInfo *info = i->extra;
    uint64_t address[VM_LANES];
    uint8_t *host[VM_LANES], bytes[16 * VM_MAX_VEC];
    if (is_called(w, i))
        return NULL;
    if (is_asked(w)) {
        if (!gr_vm_resolve(w, i, address, host))
            return NULL;
        unsigned turn = gr_vm_rotation(w);
        for (unsigned k = 0; k < VM_LANES; k++) {
            unsigned l = commit_lane(k, turn);
            if (!(w->mask >> l & 1))
                continue;
            gr_vm_stored(w, info, l, bytes);
            for (uint32_t b = 0; b < info->size; b++)
                poison_byte(rest_of(w)->launch->device, host[l] + b, bytes[b]);
        }
    }
    return gr_vm_x_mem_rest(w, i);
}

static VM_HANDLER(x_poisoned) {
    const VmMemInfo *info = i->extra;
    uint64_t address[VM_LANES];
    uint8_t *host[VM_LANES];
    if (is_called(w, i))
        return NULL;
    const VmInsn *next = gr_vm_x_mem_rest(w, i);
    if (next && is_asked(w) && gr_vm_resolve(w, i, address, host))
        for (uint32_t m = w->mask; m; m &= m - 1)
            for (uint32_t b = 0; b < info->size; b++)
                store_byte(rest_of(w)->launch->device, host[__builtin_ctz(m)] + b);
    return next;
}

// What is inserted before a store, and stores itself, poisons; what is inserted before an asynchronous copy does not (the copy is
// no access of this instruction).
void gr_vm_poison_select(Decoder *d, const VmMemInfo *info, VmExec out[2]) {
    const PtxStmt *s = d->stmt;
    uint32_t site = s->tag.inserted ? s->tag.site : 0;
    if (info->access != PTX_ACCESS_WRITE || d->m->device->weak)
        return;
    if (site && site <= d->pm->n_sites && info->sem == PTX_RELAXED && d->pm->sites[site].stmt &&
        d->pm->sites[site].stmt->instr->op == PTX_OP_ST) {
        d->poisoned_site = site;
        out[0] = out[1] = x_poison;
    } else if (!s->tag.inserted && s->site && s->site == d->poisoned_site)
        out[0] = out[1] = x_poisoned;
}
