// SPDX-License-Identifier: Apache-2.0
// fuzz_rewrite_privatizer — any PTX that parses, rewritten by the privatizer, which looks at no site of a kernel that
// does not suit. (fuzz_api runs it.)
#include "engines/privatizer/pass/privatizer_pass.h"
#include "fuzz_rewrite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

extern const char gr_privatizer_runtime_ptx[];

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    PtxModule *m = fuzz_parse((const char *)data, size, false);
    if (!m)
        return 0;
    static char *runtime;
    if (!runtime)
        runtime = fuzz_stub(gr_privatizer_runtime_ptx);
    PrivatizerOptions o = {.suffix = "7", .runtime = runtime, .by_warps = size % 3 == 0};
    PrivatizedKernel *kernels;
    uint32_t n;
    gr_error err = {0};
    StrBuf out = {0};
    GrSiteStatus *status = calloc((size_t)m->n_sites + 1, sizeof *status);
    gr_status st = gr_privatizer_rewrite(m, &o, status, &kernels, &n, &err);
    if (fuzz_rewritten(m, st, &err, NULL, &out))
        fuzz_parses_again(&out);
    free(status);
    gr_ptx_free(m);
    gr_str_free(&out);
    return 0;
}
