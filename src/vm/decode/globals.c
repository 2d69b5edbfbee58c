// SPDX-License-Identifier: Apache-2.0
// globals — module-scope variables: linking, addresses, initial values.
#include "vm/core/device.h"
#include "vm/core/program.h"

#include <string.h>

uint64_t gr_vm_var_size(const PtxVar *v) {
    if (v->size)
        return v->size;
    uint64_t elem = gr_ptx_type_bits(v->type) / 8;
    return v->n_init ? v->n_init * elem : 0; // .b8 s[] = {…}
}

uint32_t gr_vm_var_align(const PtxVar *v) {
    if (v->align)
        return v->align;
    uint32_t elem = gr_ptx_type_bits(v->type) / 8;
    elem *= v->vec ? v->vec : 1;
    return elem ? elem : 1;
}

static bool is_shared(PtxSpace s) {
    return s == PTX_SHARED || s == PTX_SHARED_CTA || s == PTX_SHARED_CLUSTER;
}

static VmGlobal *add_global(VmModule *m, const PtxVar *v, const char *name) {
    VmGlobal *g = GR_NEW(&m->arena, VmGlobal);
    if (!g || !gr_vec_push(&m->globals, g))
        return NULL;
    *g = (VmGlobal){.name = name,
                    .index = (uint32_t)m->globals.len - 1,
                    .var = v,
                    .space = is_shared(v->space) ? PTX_SHARED : v->space,
                    .size = gr_vm_var_size(v),
                    .managed = v->is_managed};
    return g;
}

static bool exported(const PtxVar *v) { return v->is_visible || v->is_weak || v->is_common; }

// Several .common declarations are one variable, as large as the largest; a strong definition beats weak ones.
static gr_status define(VmModule *m, const PtxVar *v, gr_error *err) {
    VmGlobal *known = gr_map_get(&m->global_by_name, v->name);
    if (known && exported(known->var) && exported(v)) {
        bool merge = v->is_common || v->is_weak;
        if (!merge && !known->var->is_common && !known->var->is_weak)
            return gr_fail(err, GR_ERR_ARGUMENT, "'%s' is defined more than once", v->name);
        if (!merge || (v->is_common && gr_vm_var_size(v) > known->size) ||
            (v->n_init && !known->var->n_init)) {
            known->var = v;
            known->size = gr_vm_var_size(v);
        }
        return gr_map_put_u64(&m->global_of, (uint64_t)(uintptr_t)v, known) ? GR_OK : gr_no_memory(err);
    }
    VmGlobal *g = add_global(m, v, v->name);
    if (!g || !gr_map_put_u64(&m->global_of, (uint64_t)(uintptr_t)v, g) ||
        ((!known || exported(v)) && !gr_map_put(&m->global_by_name, v->name, g)))
        return gr_no_memory(err);
    return GR_OK;
}

static gr_status define_statics(VmModule *m, PtxFunc *f, gr_error *err) {
    gr_status st = gr_ptx_open(f, err);
    if (st != GR_OK)
        return st;
    for (const PtxStmt *s = f->first; s && st == GR_OK; s = s->next)
        if (s->kind == PTX_DECL_VAR && (s->var->space == PTX_GLOBAL || s->var->space == PTX_CONST))
            st = define(m, s->var, err);
    gr_ptx_close(f);
    return st;
}

static gr_status define_all(VmModule *m, gr_error *err) {
    gr_status st = GR_OK;
    for (size_t k = 0; k < m->n_ptx && st == GR_OK; k++) {
        const PtxModule *p = m->ptx[k];
        for (uint32_t n = 0; n < p->n_vars && st == GR_OK; n++)
            if (!p->vars[n]->is_extern)
                st = define(m, p->vars[n], err);
        for (uint32_t n = 0; n < p->n_funcs && st == GR_OK; n++)
            if (p->funcs[n]->has_statics)
                st = define_statics(m, p->funcs[n], err);
    }
    return st;
}

static gr_status resolve_externs(VmModule *m, gr_error *err) {
    for (size_t k = 0; k < m->n_ptx; k++)
        for (uint32_t n = 0; n < m->ptx[k]->n_vars; n++) {
            const PtxVar *v = m->ptx[k]->vars[n];
            if (!v->is_extern)
                continue;
            VmGlobal *g = gr_map_get(&m->global_by_name, v->name);
            if (!g && is_shared(v->space)) // dynamic shared memory: every kernel's own
                continue;
            if (!g)
                return gr_fail(err, GR_ERR_NOT_FOUND, "unresolved variable '%s'", v->name);
            GR_NEED(gr_map_put_u64(&m->global_of, (uint64_t)(uintptr_t)v, g), err);
        }
    return GR_OK;
}

static gr_status allocate(VmModule *m, VmGlobal *g, gr_error *err) {
    if (g->space == PTX_SHARED || g->size == 0)
        return GR_OK;
    VmDevice *d = m->device;
    gr_status st = gr_vm_mem_alloc(d->mem, g->managed ? VM_MEM_MANAGED : VM_MEM_DEVICE, d->config.index,
                                   g->size, gr_vm_var_align(g->var), &g->range, err);
    if (st == GR_OK)
        g->addr = g->range->addr;
    return st;
}

// Finds where a symbol in an initializer of module `p` is.
static bool symbol_address(const VmModule *m, const PtxModule *p, const char *name, uint64_t *out) {
    const PtxVar *v = gr_ptx_find_var(p, name);
    const VmGlobal *g = v ? gr_map_get_u64(&m->global_of, (uint64_t)(uintptr_t)v) : NULL;
    if (!g && !v)
        g = gr_map_get(&m->global_by_name, name);
    if (g) {
        *out = g->addr;
        return g->space != PTX_SHARED;
    }
    const PtxFunc *pf = gr_ptx_find_func(p, name);
    const VmFunc *f = gr_vm_resolve_func(m, pf, name);
    if (!f)
        return false;
    ((VmFunc *)(uintptr_t)f)->address_taken = true;
    *out = gr_vm_code_address(f);
    return true;
}

static gr_status initialize(VmModule *m, const PtxModule *p, const VmGlobal *g, gr_error *err) {
    uint32_t elem = gr_ptx_type_bits(g->var->type) / 8;
    uint8_t *at = g->range ? gr_vm_mem_view(m->device->mem, g->addr, g->size) : NULL;
    if (!at || !elem || elem > 8)
        return GR_OK;
    for (uint32_t k = 0; k < g->var->n_init && (uint64_t)(k + 1) * elem <= g->size; k++) {
        const PtxInit *x = &g->var->init[k];
        uint64_t v = x->bits;
        if (x->symbol) {
            uint64_t base;
            if (!symbol_address(m, p, x->symbol, &base))
                return gr_fail(err, GR_ERR_NOT_FOUND, "unresolved symbol '%s' in the initial value of '%s'",
                               x->symbol, g->name);
            v += base;
            if (x->mask_byte)
                v = v >> (8 * (x->mask_byte - 1)) & 0xff;
        }
        memcpy(at + (uint64_t)k * elem, &v, elem);
    }
    return GR_OK;
}

static const PtxModule *module_of(const VmModule *m, const PtxVar *v) {
    if (v->func)
        return v->func->module;
    for (size_t k = 0; k < m->n_ptx; k++)
        for (uint32_t n = 0; n < m->ptx[k]->n_vars; n++)
            if (m->ptx[k]->vars[n] == v)
                return m->ptx[k];
    return m->runtime ? m->runtime->ptx[0] : m->ptx[0];
}

// The name that a variable of the runtime has here.
static const char *name_here(VmModule *m, const VmGlobal *g) {
    if (strncmp(g->name, "__gr_", strlen("__gr_")))
        return g->name;
    return gr_arena_printf(&m->arena, "__gr%s%s", m->suffix, g->name + strlen("__gr"));
}

static gr_status define_runtime(VmModule *m, gr_error *err) {
    for (size_t k = 0; m->runtime && k < m->runtime->globals.len; k++) {
        const VmGlobal *there = m->runtime->globals.data[k];
        const char *name = name_here(m, there);
        VmGlobal *g = name ? add_global(m, there->var, name) : NULL;
        if (!g || !gr_map_put_u64(&m->global_of, (uint64_t)(uintptr_t)there->var, g) ||
            (there->var->is_visible && !gr_map_put(&m->global_by_name, name, g)))
            return gr_no_memory(err);
    }
    return GR_OK;
}

gr_status gr_vm_link_data(VmModule *m, gr_error *err) {
    gr_status st = define_all(m, err);
    if (st == GR_OK)
        st = define_runtime(m, err);
    if (st == GR_OK)
        st = resolve_externs(m, err);
    if (m->is_runtime) // it has none of its own
        return st;
    for (size_t k = 0; k < m->globals.len && st == GR_OK; k++)
        st = allocate(m, m->globals.data[k], err);
    for (size_t k = 0; k < m->globals.len && st == GR_OK; k++)
        if (m->globals.data[k]->var->n_init)
            st = initialize(m, module_of(m, m->globals.data[k]->var), m->globals.data[k], err);
    for (size_t k = 0; k < m->globals.len && st == GR_OK; k++)
        if (m->globals.data[k]->space == PTX_CONST && m->globals.data[k]->range)
            m->globals.data[k]->range->read_only = true;
    return st == GR_OK ? gr_vm_place_runtime(m, err) : st;
}

bool gr_vm_module_global(const VmModule *m, const char *name, uint64_t *addr, uint64_t *size, bool *managed) {
    const VmGlobal *g = gr_map_get(&m->global_by_name, name);
    if (!g || g->space == PTX_SHARED || !g->range)
        return false;
    if (addr)
        *addr = g->addr;
    if (size)
        *size = g->size;
    if (managed)
        *managed = g->managed;
    return true;
}
