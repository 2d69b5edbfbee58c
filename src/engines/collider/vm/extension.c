// SPDX-License-Identifier: Apache-2.0
#include "engines/collider/vm/extension.h"

#include "engines/collider/vm/parts.h"

#include <string.h>

static bool decoded(VmModule *m, VmFunc *f) {
    gr_collider_vm_poison(m, f);
    return gr_collider_vm_windows(f);
}

// The names of the device runtime (engines/collider/device).
static bool owns(const char *function) { return !strncmp(function, "__gr_", strlen("__gr_")); }

// A module that was rewritten ahead of time stops where it finds a race, if no tool is attached to collect it.
static const char *breakpoint(const PtxModule *m) {
    return gr_ptx_find_func(m, "__gr_report") ? "noticed a data race, and gpurace is not attached" : NULL;
}

const VmExtension gr_collider_vm = {
    .name = "collider",
    .device_bytes = sizeof(ColliderVm),
    .decoded = decoded,
    .owns = owns,
    .breakpoint = breakpoint,
    .program_bytes = gr_collider_vm_unpoisoned,
    .idle = gr_collider_vm_forget,
};
