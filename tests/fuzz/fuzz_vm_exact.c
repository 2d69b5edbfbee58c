// SPDX-License-Identifier: Apache-2.0
// fuzz_vm_exact — any PTX that parses, run on the CPU device with the causality engine listening, which gives numbers
// of stamps to others as soon as it can: it never crashes, and never contradicts itself.
#include "../engines/exact/peek.h"
#include "engines/exact/exact.h"
#include "fuzz_vm.h"

#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void doubted(void *user, const char *check) {
    (void)user;
    fprintf(stderr, "an internal check failed: %s\n", check);
    abort();
}

static void check_race(const Race *r, const PtxModule *m) {
    for (unsigned k = 0; k < 2; k++)
        if (r->side[k].site > m->n_sites || (r->side[k].by == RACE_BY_KERNEL && !r->side[k].site))
            abort();
    if (!r->count || !r->overlap_bytes || !r->order || !r->order[0])
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    PtxModule *ptx;
    VmModule *mod = NULL;
    Exact *x;
    if (gr_ptx_parse((const char *)data, size, "input", &ptx, NULL) != GR_OK)
        return 0;
    VmDevice *dev = fuzz_device(size);
    ExactOptions o = {.doubted = doubted,
                      .collect_every = 1 + size % 3,
                      .volatiles = (ExactVolatiles)(size % 5 % 3),
                      .speculated = size & 8};
    if (gr_exact_create(&o, &x, NULL) != GR_OK)
        abort();
    VmObserver observer = gr_exact_observer(x);
    if (gr_vm_observe(dev, &observer, NULL) != GR_OK)
        abort();
    if (gr_vm_module_load(dev, &ptx, 1, NULL, NULL, &mod, NULL) == GR_OK)
        fuzz_run(dev, mod, size & 1);
    for (size_t k = 0; k < gr_exact_races(x); k++)
        check_race(peek_race(x, k), ptx);
    gr_vm_destroy(dev); // the module goes with it
    gr_exact_free(x);
    gr_ptx_free(ptx);
    return 0;
}
