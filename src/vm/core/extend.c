// SPDX-License-Identifier: Apache-2.0
#include "vm/core/extend.h"
#include "vm/core/device.h"

#include <stdlib.h>
#include <string.h>

gr_status gr_vm_extend(VmDevice *d, gr_error *err) {
    for (const VmExtension *const *e = d->config.extensions; e && *e; e++) {
        if (d->n_extensions == VM_EXTENSIONS)
            return gr_fail(err, GR_ERR_LIMIT, "a device has at most %d extensions", VM_EXTENSIONS);
        void *state = calloc(1, (*e)->device_bytes + 1);
        GR_NEED(state, err);
        d->extension_state[d->n_extensions++] = state;
    }
    return GR_OK;
}

void gr_vm_unextend(VmDevice *d) {
    gr_vm_idle(d);
    for (unsigned k = 0; k < d->n_extensions; k++)
        free(d->extension_state[k]);
    d->n_extensions = 0;
}

void *gr_vm_extension_state(const VmDevice *d, const VmExtension *e) {
    for (unsigned k = 0; k < d->n_extensions; k++)
        if (d->config.extensions[k] == e)
            return d->extension_state[k];
    return NULL;
}

bool gr_vm_decoded(VmModule *m, VmFunc *f) {
    const VmDevice *d = m->device;
    for (unsigned k = 0; k < d->n_extensions; k++)
        if (d->config.extensions[k]->decoded && !d->config.extensions[k]->decoded(m, f))
            return false;
    return true;
}

void gr_vm_idle(VmDevice *d) {
    for (unsigned k = 0; k < d->n_extensions; k++)
        if (d->config.extensions[k]->idle)
            d->config.extensions[k]->idle(d->extension_state[k]);
}

void gr_vm_program_bytes(const VmDevice *d, const uint8_t *at, uint32_t n, uint8_t *out) {
    memcpy(out, at, n);
    for (unsigned k = 0; k < d->n_extensions; k++)
        if (d->config.extensions[k]->program_bytes)
            d->config.extensions[k]->program_bytes(d->extension_state[k], at, n, out);
}

const char *gr_vm_breakpoint(const VmFunc *f) {
    const VmDevice *d = f->module->device;
    const char *text = NULL;
    for (unsigned k = 0; k < d->n_extensions && !text; k++)
        if (f->ptx && f->ptx->module->ours && d->config.extensions[k]->breakpoint)
            text = d->config.extensions[k]->breakpoint(f->ptx->module);
    return text ? text : "executed brkpt";
}

bool gr_vm_is_inserted(const VmFunc *f) {
    const VmDevice *d = f->module->device;
    bool inserted = f->ptx && f->ptx->tag.inserted;
    bool ours = f->ptx && f->ptx->module->ours;
    for (unsigned k = 0; k < d->n_extensions && ours && !inserted; k++)
        inserted = d->config.extensions[k]->owns && d->config.extensions[k]->owns(f->name);
    return inserted;
}
