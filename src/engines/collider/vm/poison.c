// SPDX-License-Identifier: Apache-2.0
// poison — what memory would hold without poisoned writes (engines/collider/pass/collider.h).
//
// The collider's --poison-writes stores the complement of a value before the value. Whether two threads store equal
// values is a question about the program's memory, in which there are no complements. So a poisoned byte's old value is
// kept until the program itself stores to that byte.
#include "engines/collider/vm/extension.h"
#include "engines/collider/vm/parts.h"
#include "vm/core/device.h"
#include "vm/core/exec.h"
#include "vm/core/exec_mem.h"
#include "vm/core/extend.h"
#include "vm/mem/mem_kernels.h"

#include <stdlib.h>
#include <string.h>

enum { WORD = 8 };

// WORD aligned bytes of the device's memory.
typedef struct Poisoned {
    uint8_t before[WORD], with[WORD]; // `with`: otherwise a thread has stored there since
    bool is[WORD];
} Poisoned;

static uint64_t key_of(const uint8_t *at) { return (uint64_t)(uintptr_t)at / WORD; }

static const Poisoned *poisoned(const ColliderVm *c, const uint8_t *at) {
    const Poisoned *p = gr_map_get_u64(&c->poisoned, key_of(at));
    unsigned k = (uintptr_t)at % WORD;
    return p && p->is[k] && p->with[k] == *at ? p : NULL;
}

void gr_collider_vm_unpoisoned(const void *state, const uint8_t *at, uint32_t n, uint8_t *bytes) {
    const ColliderVm *c = state;
    for (uint32_t k = 0; k < n && c->poisoned.live; k++) {
        const Poisoned *p = poisoned(c, at + k);
        if (p)
            bytes[k] = p->before[(uintptr_t)(at + k) % WORD];
    }
}

// Without memory for it the complement is taken for the program's: then stores of one value look like different ones.
static void poison_byte(ColliderVm *c, const uint8_t *at, uint8_t with) {
    Poisoned *p = gr_map_get_u64(&c->poisoned, key_of(at));
    unsigned k = (uintptr_t)at % WORD;
    if (!p) {
        p = calloc(1, sizeof *p);
        if (!p || !gr_map_put_u64(&c->poisoned, key_of(at), p)) {
            free(p);
            return;
        }
    }
    if (!p->is[k] || p->with[k] != *at)
        p->before[k] = *at;
    p->with[k] = with;
    p->is[k] = true;
}

static void store_byte(ColliderVm *c, const uint8_t *at) {
    Poisoned *p = gr_map_get_u64(&c->poisoned, key_of(at));
    if (!p)
        return;
    p->is[(uintptr_t)at % WORD] = false;
    for (unsigned k = 0; k < WORD; k++)
        if (p->is[k])
            return;
    free(gr_map_remove_u64(&c->poisoned, key_of(at)));
}

void gr_collider_vm_forget(void *state) {
    ColliderVm *c = state;
    for (size_t k = 0; k < c->poisoned.len; k++)
        if (c->poisoned.entries[k].live)
            free(c->poisoned.entries[k].value);
    gr_map_free(&c->poisoned);
}

// ---- Executing ---------------------------------------------------------------------------------------------

// Only observers ask; and while one listens, blocks run on one thread. NULL: no observer asks.
static ColliderVm *asked(VmWarp *w) {
    const VmDevice *d = rest_of(w)->launch->device;
    return d->listens_access ? gr_vm_extension_state(d, &gr_collider_vm) : NULL;
}

static bool is_called(VmWarp *w, const VmInsn *i) { return --w->budget <= 0 && gr_vm_access_hook(w, i); }

static VM_HANDLER(x_poison) {
    const VmMemInfo *info = i->extra;
    uint64_t address[VM_LANES];
    uint8_t *host[VM_LANES], bytes[16 * VM_MAX_VEC];
    if (is_called(w, i))
        return NULL;
    ColliderVm *c = asked(w);
    if (c) {
        uint32_t lanes;
        if (!gr_vm_look_up(w, i, address, host, &lanes))
            return NULL;
        unsigned turn = gr_vm_rotation(w);
        for (unsigned k = 0; k < VM_LANES; k++) {
            unsigned l = commit_lane(k, turn);
            if (!(lanes >> l & 1))
                continue;
            gr_vm_stored(w, info, l, bytes);
            for (uint32_t b = 0; b < info->size; b++)
                poison_byte(c, host[l] + b, bytes[b]);
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
    ColliderVm *c = asked(w);
    uint32_t lanes;
    if (next && c && gr_vm_look_up(w, i, address, host, &lanes))
        for (uint32_t m = lanes; m; m &= m - 1)
            for (uint32_t b = 0; b < info->size; b++)
                store_byte(c, host[__builtin_ctz(m)] + b);
    return next;
}

// ---- Recognizing ------------------------------------------------------------------------------------------

static VmExec *handlers(VmInsn *i) { return i->body[0] ? i->body : i->exec; }

// A store whose `extra` is a VmMemInfo.
static bool is_store(VmInsn *i) {
    VmExec x = handlers(i)[0];
    return i->stmt && i->stmt->kind == PTX_INSTR && i->stmt->instr->op == PTX_OP_ST && i->extra &&
           !gr_ptx_instr_has(i->stmt->instr, PTX_MOD_async) && x != gr_vm_x_unknown && x != gr_vm_x_stp;
}

// What is inserted before a store, and stores itself, poisons; what is inserted before an asynchronous copy does not
// (the copy is no access of this instruction).
void gr_collider_vm_poison(VmModule *m, VmFunc *f) {
    const PtxModule *ptx = f->ptx->module;
    uint32_t poisoned_site = 0; // whose store comes next
    if (m->device->weak)
        return;
    for (VmInsn *i = f->code; i < f->code + f->n_code; i++) {
        if (!is_store(i))
            continue;
        const PtxStmt *s = i->stmt;
        const VmMemInfo *info = i->extra;
        uint32_t site = s->tag.inserted ? s->tag.site : 0;
        VmExec *x = handlers(i);
        if (site && site <= ptx->n_sites && info->sem == PTX_RELAXED && ptx->sites[site].stmt &&
            ptx->sites[site].stmt->instr->op == PTX_OP_ST) {
            poisoned_site = site;
            x[0] = x[1] = x_poison;
        } else if (!s->tag.inserted && s->site && s->site == poisoned_site)
            x[0] = x[1] = x_poisoned;
    }
}
