// SPDX-License-Identifier: Apache-2.0
// fuzz_vm — what the fuzzers of the CPU device share: the kernels of a module, launched with pointers to memory that is
// there.
#ifndef GR_FUZZ_VM_H
#define GR_FUZZ_VM_H

#include "vm/extension.h"
#include "vm/vm.h"

#include <stdlib.h>
#include <string.h>

enum { FUZZ_MEMORY = 1 << 13, FUZZ_PARAMS = 1 << 16, FUZZ_KERNELS = 4, FUZZ_TURNS = 10, FUZZ_BUDGET = 200 };

static void fuzz_drop(void *user, const char *text, size_t len, uint64_t cost) {
    (void)user;
    (void)text;
    (void)len;
    (void)cost;
}

// One for the process: it reserves address space.
static VmMem *fuzz_mem(void) {
    static VmMem *mem;
    if (!mem && gr_vm_mem_create(&mem, NULL) != GR_OK)
        abort();
    return mem;
}

// `bytes` zeroed bytes of device memory that stay; *range is theirs alone.
static uint64_t fuzz_alloc(VmRange **range, uint64_t bytes) {
    if (!*range && gr_vm_mem_alloc(fuzz_mem(), VM_MEM_DEVICE, 0, bytes, 256, range, NULL) != GR_OK)
        abort();
    memset(gr_vm_mem_view(fuzz_mem(), (*range)->addr, bytes), 0, bytes);
    return (*range)->addr;
}

static VmDevice *fuzz_device(uint64_t seed) {
    VmDevice *dev;
    VmConfig c = {.mem = fuzz_mem(),
                  .seed = seed,
                  .split_one_in = 5,
                  .quantum = 20,
                  .heap_bytes = 1 << 16,
                  .extensions = gr_vm_extensions};
    if (gr_vm_create(&c, &dev, NULL) != GR_OK)
        abort();
    gr_vm_set_print(dev, fuzz_drop, NULL);
    return dev;
}

// The memory that parameters point to, as zeros.
static uint64_t fuzz_memory(void) {
    static VmRange *memory;
    return fuzz_alloc(&memory, FUZZ_MEMORY);
}

// Runs the first kernels of the module for a while, every parameter a pointer; `together`: two at a time. Numbers of
// launches begin above `before`.
static void fuzz_run_from(VmDevice *dev, VmModule *mod, bool together, uint64_t before) {
    static uint64_t params[FUZZ_PARAMS / 8];
    uint64_t at = fuzz_memory();
    for (size_t k = 0; k < FUZZ_PARAMS / 8; k++)
        params[k] = at;
    VmFunc *const *kernels;
    VmLaunch *l[2] = {NULL, NULL};
    size_t n = gr_vm_module_kernels(mod, &kernels);
    for (size_t k = 0; k < n && k < FUZZ_KERNELS; k++) {
        VmLaunchParams p = {.func = kernels[k],
                            .grid = {2, 1, 1},
                            .block = {40, 1, 1},
                            .params = params,
                            .launch = before + 2 * k + 1};
        for (unsigned i = 0; i <= together; i++, p.launch++)
            if (gr_vm_launch(dev, &p, &l[i], NULL) != GR_OK)
                l[i] = NULL;
        for (unsigned i = 0; i <= together; i++) {
            for (unsigned turns = 0; l[i] && turns < FUZZ_TURNS && !gr_vm_launch_done(l[i]); turns++)
                gr_vm_run(dev, FUZZ_BUDGET);
            if (l[i])
                gr_vm_launch_free(l[i]);
        }
    }
}

static inline void fuzz_run(VmDevice *dev, VmModule *mod, bool together) {
    fuzz_run_from(dev, mod, together, 0);
}

#endif
