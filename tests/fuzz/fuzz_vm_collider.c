// SPDX-License-Identifier: Apache-2.0
// fuzz_vm_collider — any PTX that parses, rewritten by the collider, printed and parsed again as a driver would, and
// run on the CPU device with watchpoints: nothing of it crashes, and what the collider makes is PTX.
#include "engines/collider/device/record.h"
#include "engines/collider/pass/collider.h"
#include "engines/collider/watch/watch.h"
#include "fuzz_vm.h"

#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SITES = 4096 };

// The module as the collider leaves it, from its text. NULL: it cannot be rewritten.
static PtxModule *rewrite(PtxModule *ptx, size_t size) {
    static GrSiteStatus status[SITES + 1];
    ColliderOptions o = {.seed = (uint32_t)size,
                         .read_delay_ns = size & 1 ? 1000 : 0,
                         .write_delay_ns = size & 2 ? 1000 : 0,
                         .same_value = size & 4,
                         .poison = size & 8,
                         .thinned = size & 16,
                         .suffix = ""};
    gr_error err = {0};
    StrBuf text = {0};
    PtxModule *out = NULL;
    if (gr_collider_rewrite(ptx, &o, status, NULL) == GR_OK && gr_ptx_print(ptx, 0, &text, NULL) == GR_OK &&
        gr_ptx_parse_ours(text.data, text.len, "rewritten", &out, &err) != GR_OK) {
        fprintf(stderr, "the rewritten module does not parse: %s (line %u)\n", err.msg, (unsigned)err.line);
        fwrite(text.data, 1, text.len, stderr);
        abort();
    }
    gr_str_free(&text);
    return out;
}

static void arm(VmModule *mod, const PtxModule *ptx) {
    static VmRange *slots;
    uint64_t at, bytes, room = (uint64_t)(SITES + 1) * GR_CLASS_COUNT * sizeof(GrSlot);
    bool managed;
    char name[64];
    if (!gr_vm_module_global(mod, gr_collider_control_name("", name, sizeof name), &at, &bytes, &managed))
        return;
    GrControl control = {.slots = fuzz_alloc(&slots, room), .n_sites = ptx->n_sites};
    memcpy(gr_vm_mem_view(fuzz_mem(), at, sizeof control), &control, sizeof control);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    PtxModule *original, *ptx;
    VmModule *mod = NULL;
    Watch *w;
    WatchOptions wo = {0};
    if (gr_ptx_parse((const char *)data, size, "input", &original, NULL) != GR_OK)
        return 0;
    ptx = original->n_sites <= SITES ? rewrite(original, size) : NULL;
    gr_ptx_free(original);
    if (!ptx)
        return 0;
    VmDevice *dev = fuzz_device(size);
    if (gr_watchpoints_create(&wo, &w, NULL) != GR_OK)
        abort();
    VmObserver o = gr_watchpoints_observer(w);
    if (gr_vm_observe(dev, &o, NULL) != GR_OK)
        abort();
    if (gr_vm_module_load(dev, &ptx, 1, NULL, NULL, &mod, NULL) == GR_OK) {
        arm(mod, ptx);
        fuzz_run(dev, mod, size & 16);
    }
    gr_vm_destroy(dev); // the module goes with it
    gr_watchpoints_free(w);
    gr_ptx_free(ptx);
    return 0;
}
