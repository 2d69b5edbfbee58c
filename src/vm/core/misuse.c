// SPDX-License-Identifier: Apache-2.0
// misuse — tells observers of synchronization that is wrong in itself (misuse.def).
#include "vm/core/device.h"
#include "vm/core/exec.h"
#include "vm/core/fault.h"
#include "vm/core/warp.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void tell(const VmDevice *d, const VmMisuseEvent *e) {
    for (size_t k = 0; k < d->observers.len; k++)
        if (d->observers.data[k].misuse)
            d->observers.data[k].misuse(d->observers.data[k].user, e);
}

void gr_vm_misuse_args(VmWarp *w, const VmInsn *i, VmMisuse kind, unsigned lane, uint32_t threads,
                       const char *fmt, va_list ap) {
    VmWarpRest *r = rest_of(w);
    const VmLaunch *l = r->launch;
    if (!l->device->observers.len || l->faulted || i->tagged)
        return;
    const VmFunc *f = split_of(w)->act->func;
    const PtxModule *m = f->ptx ? f->ptx->module : l->kernel->ptx->module;
    char text[1024];
    VmMisuseEvent e = {.kind = kind,
                       .threads = threads,
                       .launch = l->number,
                       .kernel = l->kernel->name,
                       .function = f->name,
                       .detail = text};
    gr_vm_thread_of(r, lane, e.thread);
    memcpy(e.block, r->block->ctaid, sizeof e.block);
    e.stmt = i->stmt;
    e.module = m;
    int n = snprintf(text, sizeof text, "thread (%u,%u,%u) of block (%u,%u,%u) ", e.thread[0], e.thread[1],
                     e.thread[2], e.block[0], e.block[1], e.block[2]);
    vsnprintf(text + n, sizeof text - (size_t)n, fmt, ap);
    tell(l->device, &e);
}

void gr_vm_misuse(VmWarp *w, const VmInsn *i, VmMisuse kind, unsigned lane, uint32_t threads, const char *fmt,
                  ...) {
    va_list ap;
    va_start(ap, fmt);
    gr_vm_misuse_args(w, i, kind, lane, threads, fmt, ap);
    va_end(ap);
}

// The launch's fault is one.
void gr_vm_misuse_fault(const VmLaunch *l, VmMisuse kind) {
    const VmFault *f = &l->fault;
    VmMisuseEvent e = {.kind = kind,
                       .threads = 1,
                       .ends = true,
                       .launch = l->number,
                       .kernel = f->kernel,
                       .function = f->function,
                       .stmt = f->stmt,
                       .module = f->module,
                       .detail = f->msg};
    memcpy(e.thread, f->thread, sizeof e.thread);
    memcpy(e.block, f->block, sizeof e.block);
    tell(l->device, &e);
}
