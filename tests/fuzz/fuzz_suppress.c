// SPDX-License-Identifier: Apache-2.0
// Suppression files of any bytes: what is read matches, or does not, races with and without each of their parts.
#include "report/suppress.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const GrFrame inlined[] = {{"_Z3addPi", "/usr/local/cuda/include/cub/block/block_scan.cuh", 7, 3},
                                  {NULL, NULL, 0, 0}};

static GrRace race_of(unsigned shape) {
    GrRace r = {.found = {.module = shape & 1 ? "module 1" : NULL,
                          .kernel = shape & 2 ? "_Z6kernelPi" : NULL,
                          .count = 3,
                          .space = "global",
                          .n_accesses = shape & 4 ? 2 : 1}};
    for (unsigned k = 0; k < r.found.n_accesses; k++)
        r.found.accesses[k] =
            (GrAccess){.kind = "store",
                       .at = {shape & 8 ? "kernel(int*)" : NULL, shape & 16 ? "/home/a/x.cu" : NULL, 12, 5},
                       .inlined = inlined,
                       .n_inlined = shape & 32 ? 2 : 0};
    return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    GrSuppressions s = {0};
    gr_error err = {0};
    if (gr_suppressions_parse("rules", (const char *)data, size, &s, &err) == GR_OK) {
        GrReport r;
        gr_report_init(&r);
        r.suppressions = &s;
        for (unsigned shape = 0; shape < 64; shape++)
            if (!gr_vec_push(&r.races, race_of(shape)))
                abort();
        size_t before = r.races.len;
        if (!gr_suppressions_apply(&r))
            abort();
        for (size_t k = 0; k < s.rules.len; k++)
            before -= s.rules.data[k].races;
        if (before != r.races.len) // each is hidden by one rule, or there
            abort();
        gr_report_free(&r);
    } else if (!err.msg[0]) {
        abort();
    }
    gr_suppressions_free(&s);
    return 0;
}
