// SPDX-License-Identifier: Apache-2.0
// fault — how instructions say what is wrong: faults, which end the launch, and misuse. Internal to the VM.
#ifndef GR_VM_CORE_FAULT_H
#define GR_VM_CORE_FAULT_H

#include "vm/core/launch.h"

#include <stdarg.h>

// Ends the launch. `lane` is the thread to blame, -1 for the first active one. Returns NULL with w->stop set.
const VmInsn *gr_vm_fault(VmWarp *w, const VmInsn *i, VmFaultKind kind, int lane, uint64_t address,
                          const char *fmt, ...) __attribute__((format(printf, 6, 7)));
// An access of that lane to where it may not go faults. But under VmConfig.pass_strays observers are told of a misuse
// and w->stop stays as it is: the access is not to happen, and the lane reads zero. Returns NULL either way.
const VmInsn *gr_vm_stray(VmWarp *w, const VmInsn *i, VmFaultKind kind, unsigned lane, uint64_t address,
                          const char *fmt, ...) __attribute__((format(printf, 6, 7)));
// misuse.c: tells observers that `threads` threads did it at once, of which `lane` is one; the launch goes on.
void gr_vm_misuse(VmWarp *w, const VmInsn *i, VmMisuse kind, unsigned lane, uint32_t threads, const char *fmt,
                  ...) __attribute__((format(printf, 6, 7)));
void gr_vm_misuse_args(VmWarp *w, const VmInsn *i, VmMisuse kind, unsigned lane, uint32_t threads,
                       const char *fmt, va_list ap);
void gr_vm_misuse_fault(const VmLaunch *l, VmMisuse kind);
// A fault that is one. Yields NULL.
#define gr_vm_fault_misuse(w, i, misuse, ...)                                                                \
    (rest_of(w)->launch->faulted ? gr_vm_fault((w), (i), __VA_ARGS__)                                        \
                                 : (gr_vm_fault((w), (i), __VA_ARGS__),                                      \
                                    gr_vm_misuse_fault(rest_of(w)->launch, (misuse)), (const VmInsn *)NULL))
// A stray access whose fault is one. Yields NULL.
#define gr_vm_stray_misuse(w, i, misuse, ...)                                                                \
    (rest_of(w)->launch->faulted                                                                             \
         ? gr_vm_stray((w), (i), __VA_ARGS__)                                                                \
         : (gr_vm_stray((w), (i), __VA_ARGS__),                                                              \
            rest_of(w)->launch->faulted ? gr_vm_misuse_fault(rest_of(w)->launch, (misuse)) : (void)0,        \
            (const VmInsn *)NULL))
void gr_vm_deadlock(VmBlock *b);
void gr_vm_endless(VmBlock *b);    // its threads wait or poll, and nothing can change
void gr_vm_timeout(VmWarpRest *r); // the watchdog's; r ran last
void gr_vm_fault_launch(VmLaunch *l, VmFaultKind kind, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void gr_vm_thread_of(const VmWarpRest *r, unsigned lane, uint32_t thread[3]);

#endif
