// SPDX-License-Identifier: Apache-2.0
// layout — finds what each kernel needs, by a walk over its call graph: shared variables, stack, attributes.
//
// Each kernel has its own places for shared variables, so that it pays only for those that it, or a function that it
// may call, names. A call through a pointer may reach any function whose address was taken.

#include "vm/core/device.h"
#include "vm/core/program.h"

#include <stdlib.h>
#include <string.h>

typedef struct Walk {
    const VmModule *m;
    uint8_t *state;  // by function: 0 new, 1 on the path, 2 done
    uint32_t *depth; // stack bytes from here down, valid when done
    VmFunc *kernel;
    bool recursive, indirect;
} Walk;

static bool place_shared(Walk *w, const VmFunc *f, gr_error *err) {
    for (uint32_t k = 0; k < f->n_shared; k++) {
        const PtxVar *v = f->shared[k];
        uint64_t size = gr_vm_var_size(v), align = gr_vm_var_align(v);
        if (gr_map_get_u64(&w->kernel->shared_layout, (uint64_t)(uintptr_t)v))
            continue;
        if (size == 0) { // the dynamic part: its place is known at the end
            w->kernel->shared_align =
                align > w->kernel->shared_align ? (uint32_t)align : w->kernel->shared_align;
            continue;
        }
        uint64_t at = (w->kernel->shared_static + align - 1) / align * align;
        if (at + size > VM_SHARED_SLOT) {
            gr_fail(err, GR_ERR_LIMIT, "%s: too much shared memory", w->kernel->name);
            return false;
        }
        if (!gr_map_put_u64(&w->kernel->shared_layout, (uint64_t)(uintptr_t)v, (void *)(uintptr_t)(at + 1))) {
            gr_no_memory(err);
            return false;
        }
        w->kernel->shared_static = (uint32_t)(at + size);
    }
    return true;
}

static bool visit(Walk *w, VmFunc *f, unsigned level, gr_error *err) {
    if (w->state[f->index] == 1)
        w->recursive = true;
    if (w->state[f->index])
        return true;
    if (level > 10000) {
        gr_fail(err, GR_ERR_LIMIT, "%s: calls nest too deeply", w->kernel->name);
        return false;
    }
    w->state[f->index] = 1;
    if (!place_shared(w, f, err))
        return false;
    uint32_t below = 0;
    for (uint32_t k = 0; k < f->n_callees; k++) {
        if (!visit(w, f->callees[k], level + 1, err))
            return false;
        uint32_t d = w->depth[f->callees[k]->index];
        below = d > below ? d : below;
    }
    if (f->calls_indirect && !w->indirect) {
        w->indirect = true;
        for (uint32_t k = 0; k < w->m->n_funcs; k++)
            if (w->m->funcs[k]->address_taken && !visit(w, w->m->funcs[k], level + 1, err))
                return false;
    }
    w->recursive |= f->calls_alloca;
    if (f->wants_param_buffer)
        w->kernel->wants_param_buffer = true;
    if (f->wants_reserved)
        w->kernel->wants_reserved = true;
    w->depth[f->index] = f->local_bytes + VM_CALL_BYTES + below;
    w->state[f->index] = 2;
    return true;
}

static void set_attrs(const VmModule *m, VmFunc *f) {
    const PtxModule *p = f->ptx->module;
    uint64_t most = 1;
    for (unsigned k = 0; k < 3; k++)
        most *= f->ptx->maxntid[k] ? f->ptx->maxntid[k] : 1;
    if (!f->ptx->maxntid[0] || most > 1024)
        most = 1024;
    f->attrs = (VmFuncAttrs){.max_threads = (uint32_t)most,
                             .regs = 32,
                             .shared_static = f->shared_static,
                             .local_bytes = f->local_bytes,
                             .ptx_version = p->sm,
                             .binary_version = m->device->props.cc_major * 10 + m->device->props.cc_minor};
    for (size_t k = 0; k < m->globals.len; k++)
        if (m->globals.data[k]->space == PTX_CONST)
            f->attrs.const_bytes += m->globals.data[k]->size;
    memcpy(f->attrs.reqntid, f->ptx->reqntid, sizeof f->attrs.reqntid);
    memcpy(f->attrs.cluster, f->ptx->reqcluster, sizeof f->attrs.cluster);
    f->attrs.max_cluster = f->ptx->max_cluster_rank;
    f->attrs.explicit_cluster = f->ptx->explicit_cluster;
}

gr_status gr_vm_layout(VmModule *m, gr_error *err) {
    gr_status st = GR_OK;
    Walk w = {.m = m};
    w.state = calloc(m->n_funcs + 1, 1);
    w.depth = calloc(m->n_funcs + 1, sizeof *w.depth);
    if (!w.state || !w.depth)
        st = gr_no_memory(err);
    for (uint32_t k = 0; k < m->n_kernels && st == GR_OK; k++) {
        VmFunc *f = m->kernels[k];
        memset(w.state, 0, m->n_funcs);
        w.kernel = f;
        w.recursive = w.indirect = false;
        if (!visit(&w, f, 0, err)) {
            st = err ? err->code : GR_ERR_LIMIT;
            break;
        }
        if (w.depth[f->index] > VM_LOCAL_MAX) {
            st = gr_fail(err, GR_ERR_LIMIT, "%s: more than %u KiB of local memory", f->name,
                         VM_LOCAL_MAX >> 10);
            break;
        }
        // Dynamic shared memory follows the static part, aligned for any type.
        uint32_t align = f->shared_align > 16 ? f->shared_align : 16;
        if (f->shared_align)
            f->shared_static = (f->shared_static + align - 1) / align * align;
        f->recursive = w.recursive || w.indirect;
        f->stack_bytes = w.depth[f->index];
        set_attrs(m, f);
    }
    free(w.state);
    free(w.depth);
    return st;
}
