// SPDX-License-Identifier: Apache-2.0
// fuzz_vm — any PTX that parses: loading and running it never crashes, whatever it does.
#include "vm/vm.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void drop(void *user, const char *text, size_t len, uint64_t cost) {
    (void)cost;
    (void)user;
    (void)text;
    (void)len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static VmMem *mem;
    static uint8_t params[1 << 16];
    PtxModule *ptx;
    VmModule *mod = NULL;
    VmDevice *dev = NULL;
    VmFunc *const *kernels;
    if (!mem && gr_vm_mem_create(&mem, NULL) != GR_OK)
        abort();
    if (gr_ptx_parse((const char *)data, size, "input", &ptx, NULL) != GR_OK)
        return 0;
    VmConfig c = {.mem = mem, .seed = size, .split_one_in = 5, .quantum = 20, .heap_bytes = 1 << 16};
    if (gr_vm_create(&c, &dev, NULL) != GR_OK)
        abort();
    gr_vm_set_print(dev, drop, NULL);
    if (gr_vm_module_load(dev, &ptx, 1, &mod, NULL) == GR_OK) {
        size_t n = gr_vm_module_kernels(mod, &kernels);
        for (size_t k = 0; k < n && k < 4; k++) {
            VmLaunchParams p = {.func = kernels[k],
                                .grid = {2, 1, 1},
                                .block = {40, 1, 1},
                                .params = params,
                                .launch = k + 1};
            VmLaunch *l;
            if (gr_vm_launch(dev, &p, &l, NULL) != GR_OK)
                continue;
            for (unsigned turns = 0; turns < 20 && !gr_vm_launch_done(l); turns++)
                gr_vm_run(dev, 200);
            gr_vm_launch_free(l);
        }
    }
    gr_vm_destroy(dev); // the module goes with it
    gr_ptx_free(ptx);
    return 0;
}
