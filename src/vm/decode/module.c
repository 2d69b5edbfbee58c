// SPDX-License-Identifier: Apache-2.0
// module — loading: several PTX modules become one, names are resolved (PTX ISA 11.6), functions decoded.
#include "vm/core/device.h"
#include "vm/core/fault.h"
#include "vm/core/launch.h"
#include "vm/core/program.h"

#include <stdlib.h>
#include <string.h>

// Names that only the CUDA device runtime could resolve: calls of them fault, naming them.
static bool device_runtime(const char *name) {
    return !strncmp(name, "__cuda", 6) || !strncmp(name, "cuda", 4);
}

static VmFunc *add_func(VmModule *m, const char *name, PtxFunc *ptx, uint32_t *cap) {
    VmFunc *f = GR_NEW(&m->arena, VmFunc);
    if (!f)
        return NULL;
    if (m->n_funcs == *cap) {
        uint32_t grown = *cap ? *cap * 2 : 16;
        VmFunc **p = GR_NEW_ARRAY(&m->arena, VmFunc *, grown);
        if (!p)
            return NULL;
        if (m->n_funcs)
            memcpy(p, m->funcs, m->n_funcs * sizeof *p);
        m->funcs = p;
        *cap = grown;
    }
    f->name = name;
    f->ptx = ptx;
    f->module = m;
    f->index = m->n_funcs;
    m->funcs[m->n_funcs++] = f;
    return f;
}

static bool is_exported(const PtxFunc *f) { return f->is_entry || f->is_visible || f->is_weak; }

// A definition that others can see: a strong one wins over a weak one, and the first over later ones.
static gr_status export_func(VmModule *m, VmFunc *f, gr_error *err) {
    VmFunc *known = gr_map_get(&m->func_by_name, f->name);
    if (known && !known->ptx->is_weak && !f->ptx->is_weak && is_exported(known->ptx) && is_exported(f->ptx))
        return gr_fail(err, GR_ERR_ARGUMENT, "'%s' is defined more than once", f->name);
    if (known && (!is_exported(f->ptx) || (is_exported(known->ptx) && f->ptx->is_weak)))
        return GR_OK;
    return gr_map_put(&m->func_by_name, f->name, f) ? GR_OK : gr_no_memory(err);
}

VmFunc *gr_vm_resolve_func(const VmModule *m, const PtxFunc *decl, const char *name) {
    if (decl) {
        VmFunc *f = gr_map_get_u64(&m->func_of, (uint64_t)(uintptr_t)decl);
        if (f)
            return f;
        name = decl->name;
    }
    VmFunc *f = name ? gr_map_get(&m->func_by_name, name) : NULL;
    return f ? f : gr_vm_runtime_func(m, decl, name);
}

static gr_status link_definitions(VmModule *m, uint32_t *cap, gr_error *err) {
    for (size_t k = 0; k < m->n_ptx; k++)
        for (uint32_t n = 0; n < m->ptx[k]->n_funcs; n++) {
            PtxFunc *p = m->ptx[k]->funcs[n];
            if (!p->has_body)
                continue;
            VmFunc *f = add_func(m, p->name, p, cap);
            GR_NEED(f && gr_map_put_u64(&m->func_of, (uint64_t)(uintptr_t)p, f), err);
            GR_MUST(export_func(m, f, err));
        }
    return GR_OK;
}

static gr_status link_declarations(VmModule *m, uint32_t *cap, gr_error *err) {
    for (size_t k = 0; k < m->n_ptx; k++)
        for (uint32_t n = 0; n < m->ptx[k]->n_funcs; n++) {
            const PtxFunc *p = m->ptx[k]->funcs[n];
            if (p->has_body && !p->is_weak)
                continue;
            VmFunc *f = NULL;
            if (!p->is_extern && !p->is_weak) // a forward declaration of a function of this module
                for (uint32_t q = 0; q < m->ptx[k]->n_funcs && !f; q++)
                    if (m->ptx[k]->funcs[q]->has_body && !strcmp(m->ptx[k]->funcs[q]->name, p->name))
                        f = gr_map_get_u64(&m->func_of, (uint64_t)(uintptr_t)m->ptx[k]->funcs[q]);
            if (!f)
                f = gr_map_get(&m->func_by_name, p->name);
            if (!f) {
                const VmBuiltin *b = gr_vm_builtin(p->name);
                if (!b && !device_runtime(p->name))
                    return gr_fail(err, GR_ERR_NOT_FOUND, "unresolved function '%s'", p->name);
                f = add_func(m, p->name, NULL, cap);
                GR_NEED(f && gr_map_put(&m->func_by_name, p->name, f), err);
                f->builtin = b;
                if (!b && !gr_vec_push(&m->unknown, p->name))
                    return gr_no_memory(err);
            }
            GR_NEED(gr_map_put_u64(&m->func_of, (uint64_t)(uintptr_t)p, f), err);
        }
    return GR_OK;
}

static gr_status link_funcs(VmModule *m, gr_error *err) {
    uint32_t cap = 0;
    gr_status st = gr_vm_take_runtime(m, &cap, err);
    if (st == GR_OK)
        st = link_definitions(m, &cap, err);
    if (st == GR_OK)
        st = link_declarations(m, &cap, err);
    if (st != GR_OK)
        return st;
    m->kernels = GR_NEW_ARRAY(&m->arena, VmFunc *, m->n_funcs + 1);
    GR_NEED(m->kernels, err);
    for (uint32_t k = 0; k < m->n_funcs; k++)
        if (gr_vm_func_is_kernel(m->funcs[k]))
            m->kernels[m->n_kernels++] = m->funcs[k];
    return GR_OK;
}

// Offsets of a kernel's parameters in its buffer: each at its own alignment (PTX ISA 5.1.6.1).
static gr_status layout_params(VmModule *m, VmFunc *f, gr_error *err) {
    f->n_params = f->ptx->n_params;
    f->params = GR_NEW_ARRAY(&m->arena, VmParam, f->n_params + 1);
    GR_NEED(f->params, err);
    uint64_t at = 0;
    for (uint32_t k = 0; k < f->n_params; k++) {
        uint64_t align = gr_vm_var_align(f->ptx->params[k]), size = gr_vm_var_size(f->ptx->params[k]);
        at = (at + align - 1) / align * align;
        if (size > 65536 || at + size > 65536)
            return gr_fail(err, GR_ERR_UNSUPPORTED, "%s: more than 64 KiB of parameters", f->name);
        f->params[k] = (VmParam){(uint32_t)at, (uint32_t)size};
        at += size;
    }
    f->param_bytes = (uint32_t)at;
    return GR_OK;
}

// Notes whether threads of different blocks may synchronize, by fences or by operations that release or acquire; and
// whether some instruction is of the async proxy.
static void note_orders(VmModule *m, const PtxFunc *f) {
    for (const PtxStmt *s = f->first; s; s = s->next) {
        if (s->kind != PTX_INSTR)
            continue;
        const PtxInstr *i = s->instr;
        m->orders |= i->op == PTX_OP_FENCE || i->op == PTX_OP_MEMBAR || i->op == PTX_OP_MBARRIER ||
                     i->op == PTX_OP_GRIDDEPCONTROL || i->sem == PTX_ACQUIRE || i->sem == PTX_RELEASE ||
                     i->sem == PTX_ACQ_REL || i->sem == PTX_SC;
        m->bulk |= s->site && f->module->sites[s->site].async && gr_ptx_instr_has(i, PTX_MOD_bulk);
    }
}

static VmModule *new_module(VmDevice *d) {
    VmModule *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    gr_arena_init(&m->arena);
    m->device = d;
    m->next = d->modules;
    d->modules = m;
    return m;
}

// Decodes all functions, to find what is wrong with them and what kernels need of them. Keeps only a runtime's code.
// Other code is made again when a kernel that may come to it is launched (gr_vm_launch), as most kernels of most
// modules never are.
static gr_status decode_all(VmModule *m, gr_error *err) {
    gr_status st = GR_OK;
    Arena scratch;
    gr_arena_init(&scratch);
    for (uint32_t k = 0; k < m->n_funcs && st == GR_OK; k++) {
        VmFunc *f = m->funcs[k];
        if (!f->ptx || f->module != m)
            continue;
        st = gr_vm_decode(f, m->is_runtime ? &m->arena : &scratch, err);
        if (st == GR_OK)
            note_orders(m, f->ptx);
        if (m->is_runtime)
            continue;
        gr_vm_forget(f);
        gr_arena_rewind(&scratch);
    }
    gr_arena_free(&scratch);
    return st;
}

// Makes the code of `f` and of all functions that it may come to.
static gr_status make_ready(VmModule *m, VmFunc *f, gr_error *err) {
    if (!f->ptx || f->walk == m->device->walks)
        return GR_OK;
    f->walk = m->device->walks;
    if (!f->code)
        GR_MUST(gr_vm_decode(f, &f->module->arena, err));
    for (uint32_t k = 0; k < f->n_callees; k++)
        GR_MUST(make_ready(m, f->callees[k], err));
    for (uint32_t k = 0; f->calls_indirect && k < m->n_funcs; k++)
        if (m->funcs[k]->address_taken)
            GR_MUST(make_ready(m, m->funcs[k], err));
    return GR_OK;
}

gr_status gr_vm_launch(VmDevice *d, const VmLaunchParams *p, VmLaunch **out, gr_error *err) {
    VmFunc *f = p->func;
    *out = NULL;
    d->walks += !f->ready;
    gr_status st = f->ready ? GR_OK : make_ready(f->module, f, err);
    f->ready = st == GR_OK;
    return st == GR_OK ? gr_vm_begin(d, p, out, err) : st;
}

// Loads m, whose parts are known.
static gr_status load(VmModule *m, PtxModule *const *modules, size_t n, gr_error *err) {
    VmDevice *d = m->device;
    m->ptx = GR_NEW_ARRAY(&m->arena, PtxModule *, n + 1);
    GR_NEED(m->ptx, err);
    for (size_t k = 0; k < n; k++)
        m->ptx[m->n_ptx++] = modules[k];
    GR_MUST(link_funcs(m, err));
    m->code_base = d->code_next + 1; // functions of different modules have different addresses, none is null
    d->code_next += m->n_funcs + 1;
    GR_MUST(gr_vm_link_data(m, err));
    for (uint32_t k = 0; k < m->n_kernels; k++)
        GR_MUST(layout_params(m, m->kernels[k], err));
    GR_MUST(decode_all(m, err));
    return gr_vm_layout(m, err);
}

static gr_status load_runtime(VmDevice *d, PtxModule *ptx, VmModule **out, gr_error *err) {
    VmModule *m = new_module(d);
    GR_NEED(m, err);
    m->is_runtime = true;
    gr_status st = load(m, &ptx, 1, err);
    *out = st == GR_OK ? m : NULL;
    if (st != GR_OK)
        gr_vm_module_unload(m);
    return st;
}

gr_status gr_vm_runtime(VmDevice *d, PtxModule *ptx, VmModule **out, gr_error *err) {
    for (VmModule *m = d->runtimes; m; m = m->next_runtime)
        if (m->ptx[0] == ptx) {
            *out = m;
            return GR_OK;
        }
    gr_status st = load_runtime(d, ptx, out, err);
    if (st == GR_OK) {
        (*out)->next_runtime = d->runtimes;
        d->runtimes = *out;
    }
    return st;
}

gr_status gr_vm_module_load(VmDevice *d, PtxModule *const *modules, size_t n, VmModule *runtime,
                            const char *suffix, VmModule **out, gr_error *err) {
    VmModule *m = new_module(d);
    GR_NEED(m, err);
    m->runtime = runtime;
    m->suffix = suffix;
    gr_status st = load(m, modules, n, err);
    *out = st == GR_OK ? m : NULL;
    if (st != GR_OK)
        gr_vm_module_unload(m);
    return st;
}

void gr_vm_module_unload(VmModule *m) {
    if (!m)
        return;
    VmDevice *d = m->device;
    for (VmLaunch *l = d->active, *next; l; l = next) { // a launch whose code goes away cannot go on
        next = l->next;
        if (l->module == m) {
            gr_vm_fault_launch(l, VM_FAULT_INVALID_PC, "the module of %s was unloaded while it ran",
                               l->kernel->name);
            gr_vm_launch_finish(l);
        }
    }
    for (VmModule **at = &d->modules; *at; at = &(*at)->next)
        if (*at == m) {
            *at = m->next;
            break;
        }
    for (size_t k = 0; k < m->globals.len; k++)
        if (m->globals.data[k]->range)
            gr_vm_mem_free(d->mem, m->globals.data[k]->range->addr, NULL);
    for (uint32_t k = 0; k < m->n_funcs; k++)
        if (m->funcs[k]->module == m) {
            gr_map_free(&m->funcs[k]->shared_layout);
            gr_vm_forget(m->funcs[k]);
        }
    gr_vec_free(&m->globals);
    gr_vec_free(&m->unknown);
    gr_map_free(&m->func_of);
    gr_map_free(&m->func_by_name);
    gr_map_free(&m->global_of);
    gr_map_free(&m->global_by_name);
    gr_arena_free(&m->arena);
    free(m);
}

size_t gr_vm_module_unknown(const VmModule *m, const char *const **names) {
    if (names)
        *names = m->unknown.data;
    return m->unknown.len;
}

VmFunc *gr_vm_module_func(const VmModule *m, const char *name) { return gr_map_get(&m->func_by_name, name); }

size_t gr_vm_module_kernels(const VmModule *m, VmFunc *const **out) {
    if (out)
        *out = m->kernels;
    return m->n_kernels;
}

const char *gr_vm_func_name(const VmFunc *f) { return f->name; }
bool gr_vm_func_is_kernel(const VmFunc *f) { return f->ptx && f->ptx->is_entry; }
const VmFuncAttrs *gr_vm_func_attrs(const VmFunc *f) { return &f->attrs; }

size_t gr_vm_func_params(const VmFunc *f, const VmParam **out, uint32_t *total_bytes) {
    if (out)
        *out = f->params;
    if (total_bytes)
        *total_bytes = f->param_bytes;
    return f->n_params;
}
