// SPDX-License-Identifier: Apache-2.0
// runtime — device runtimes that modules share. Each device decodes their functions once. Each module has its own
// variables of a runtime, and the launch says which module it is (VM_FILL_RUNTIME).
#include "vm/core/device.h"
#include "vm/core/program.h"

#include <stdio.h>
#include <string.h>

gr_status gr_vm_take_runtime(VmModule *m, uint32_t *cap, gr_error *err) {
    const VmModule *r = m->runtime;
    if (!r)
        return GR_OK;
    *cap = r->n_funcs + 16;
    m->funcs = GR_NEW_ARRAY(&m->arena, VmFunc *, *cap);
    GR_NEED(m->funcs, err);
    memcpy(m->funcs, r->funcs, r->n_funcs * sizeof *r->funcs);
    m->n_funcs = r->n_funcs;
    m->counts.caches = r->counts.caches;
    m->counts.launch_room = r->counts.launch_room;
    m->orders = r->orders;
    m->tagged = r->tagged;
    return GR_OK;
}

// The runtime's name "__gr_NAME" for "__gr<suffix>_NAME" here; NULL: it is none of its names.
static const char *name_there(const VmModule *m, const char *name, char *buf, size_t size) {
    size_t n = strlen("__gr"), k = strlen(m->suffix);
    if (strncmp(name, "__gr", n) || strncmp(name + n, m->suffix, k) || name[n + k] != '_')
        return NULL;
    snprintf(buf, size, "__gr%s", name + n + k);
    return buf;
}

VmFunc *gr_vm_runtime_func(const VmModule *m, const PtxFunc *decl, const char *name) {
    char buf[128];
    if (!m->runtime)
        return NULL;
    VmFunc *f = decl ? gr_map_get_u64(&m->runtime->func_of, (uint64_t)(uintptr_t)decl) : NULL;
    const char *there = f || !name ? NULL : name_there(m, name, buf, sizeof buf);
    return there ? gr_map_get(&m->runtime->func_by_name, there) : f;
}

gr_status gr_vm_place_runtime(VmModule *m, gr_error *err) {
    const VmModule *r = m->runtime;
    if (!r)
        return GR_OK;
    m->runtime_at = GR_NEW_ARRAY(&m->arena, uint64_t, r->globals.len + 1);
    GR_NEED(m->runtime_at, err);
    for (size_t k = 0; k < r->globals.len; k++) {
        const VmGlobal *g = gr_map_get_u64(&m->global_of, (uint64_t)(uintptr_t)r->globals.data[k]->var);
        m->runtime_at[k] = g->addr;
    }
    return GR_OK;
}
