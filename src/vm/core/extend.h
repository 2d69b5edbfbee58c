// SPDX-License-Identifier: Apache-2.0
// extend — what the handlers of an extension (extension.h) ask of the device, and the device of its extensions.
#ifndef GR_VM_CORE_EXTEND_H
#define GR_VM_CORE_EXTEND_H

#include "vm/core/device.h"
#include "vm/core/launch.h"
#include "vm/extension.h"

// ---- For extensions ----------------------------------------------------------------------------------------

// For VmExtension.decoded: reserves `bytes` in each launch of the module, zero at its begin (gr_vm_launch_state).
static inline uint32_t gr_vm_launch_room(VmModule *m, uint32_t bytes) {
    uint32_t at = m->counts.launch_room;
    m->counts.launch_room += (bytes + 7) & ~7u;
    return at;
}
static inline void *gr_vm_launch_state(const VmLaunch *l, uint32_t at) { return l->extension_state + at; }
// What the device keeps for the extension `e`.
void *gr_vm_extension_state(const VmDevice *d, const VmExtension *e);

// exec_ctl.c: draws how long nanosleep `i` takes, in ns; gr_vm_pause takes that long, and yields what a handler does.
uint64_t gr_vm_pause_ns(VmWarp *w, const VmInsn *i);
const VmInsn *gr_vm_pause(VmWarp *w, const VmInsn *i, uint64_t ns);

// hooks.c: the running split is about to pause at instruction `i`, behind an access of site `site`. A schedule with
// holds (policy.h) may hold it instead, or a part of it: then this is true, and the handler yields NULL. `held` is
// called for each part that is held, which then is the running split.
bool gr_vm_hold(VmWarp *w, const VmInsn *i, uint32_t site, void (*held)(VmWarp *w, const VmInsn *i));

// observe.c: tells observers of a window (VmWindowEvent). The running lanes made `access` and pause; `look` has the
// address. `first`: it is not a further part of the window that was opened before. Only where VmDevice.listens_window.
void gr_vm_open_window(VmWarp *w, const VmInsn *access, const VmInsn *look, bool first);
bool gr_vm_is_matrix(const VmInsn *i); // ldmatrix, stmatrix, wmma.load, wmma.store

// ---- For the device (extend.c) -----------------------------------------------------------------------------

gr_status gr_vm_extend(VmDevice *d, gr_error *err); // its states, as VmConfig.extensions says
void gr_vm_unextend(VmDevice *d);
bool gr_vm_decoded(VmModule *m, VmFunc *f); // false: out of memory
void gr_vm_idle(VmDevice *d);
// The program's bytes at `at`.
void gr_vm_program_bytes(const VmDevice *d, const uint8_t *at, uint32_t n, uint8_t *out);
bool gr_vm_is_inserted(const VmFunc *f);       // part of a device runtime, not of the program
const char *gr_vm_breakpoint(const VmFunc *f); // "executed brkpt" unless an extension knows better

#endif
