// SPDX-License-Identifier: Apache-2.0
// extension — what an engine may add to the CPU device: handlers for the instructions that its pass inserts, and a say
// in how threads at these are scheduled.
//
// Observers hear of an execution and change nothing (observer.h). An extension steers it. A device is made with its
// extensions (VmConfig.extensions) and knows no more of them than this table. Everything else starts in `decoded`:
// there an extension recognizes tagged instructions and gives them handlers of its own. What such a handler may ask of
// the device is in core/extend.h: to open a window, to pause, to have the running threads held.
//
// An extension must not touch instructions that no pass has inserted in a way that the program could notice. Its random
// numbers come from the launch, so that one seed still means one execution. All functions run on the thread that drives
// the device, or, while a launch is spread over several threads (VmConfig.jobs), on those: only launch state may be
// written then.
#ifndef GR_VM_EXTENSION_H
#define GR_VM_EXTENSION_H

#include "vm/vm.h"

enum { VM_EXTENSIONS = 8 }; // of one device at most

// A function that is NULL is not called.
typedef struct VmExtension {
    const char *name;
    // Each device keeps so many bytes for the extension: zero at first, handed to the functions below as `state`.
    size_t device_bytes;
    // Once for each function of a module that is loaded, when its instructions are complete and none has run. It may
    // replace handlers, and ask for bytes of each launch's own (gr_vm_launch_room). False: out of memory.
    bool (*decoded)(VmModule *m, VmFunc *f);
    // Whether the engine's own code has a function of that name: in text of ours whose tags a fatbinary dropped with
    // the comments (PtxModule.ours). A fault there is blamed on the program's function that called it.
    bool (*owns)(const char *function);
    // What a thread did at a breakpoint of this module, as in "thread (0,0,0) executed brkpt". NULL: nothing to add.
    const char *(*breakpoint)(const PtxModule *m);
    // An observer asks what the program has in memory at `at`. `bytes` holds what is there: bytes that only the
    // extension wrote are to be replaced by the program's.
    void (*program_bytes)(const void *state, const uint8_t *at, uint32_t n, uint8_t *bytes);
    // No launch runs any more: after the last of several that ran together, or before the device goes. Frees `state`'s.
    void (*idle)(void *state);
} VmExtension;

// Those of the engines of the product, up to NULL, for a driver to put into VmConfig.extensions: from the library
// gr_engine_extensions, whose list the build makes (cmake/Engines.cmake). The device itself never looks at it.
extern const VmExtension *const gr_vm_extensions[];

#endif
