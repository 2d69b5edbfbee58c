// SPDX-License-Identifier: Apache-2.0
// fuzz_vm — any PTX that parses: loading and running it never crashes, whatever it does.
#include "fuzz_vm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    PtxModule *ptx;
    VmModule *mod = NULL;
    if (gr_ptx_parse_ours((const char *)data, size, "input", &ptx, NULL) != GR_OK)
        return 0;
    VmDevice *dev = fuzz_device(size);
    if (gr_vm_module_load(dev, &ptx, 1, NULL, NULL, &mod, NULL) == GR_OK)
        fuzz_run(dev, mod, false);
    gr_vm_destroy(dev); // the module goes with it
    gr_ptx_free(ptx);
    return 0;
}
