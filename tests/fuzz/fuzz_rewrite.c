// SPDX-License-Identifier: Apache-2.0
// fuzz_rewrite — any PTX that parses, rewritten by the collider: function by function or at once it becomes the same
// lines, which parse and print the same again. (fuzz_vm_collider runs it.)
#include "fuzz_rewrite.h"
#include "engines/collider/pass/collider.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// False: it is refused.
static bool rewrite(const char *text, size_t len, bool later, StrBuf *out) {
    PtxModule *m = fuzz_parse(text, len, true);
    gr_error err = {0};
    ColliderOptions o = {.seed = (uint32_t)len,
                         .read_delay_ns = len % 3 ? 500 : 0,
                         .write_delay_ns = 500,
                         .same_value = len % 2,
                         .poison = len % 5 == 0,
                         .thinned = len % 7 < 4,
                         .budget = len % 7 == 1,
                         .holds = len % 7 < 3,
                         .suffix = "7",
                         .later = later};
    GrSiteStatus *status = calloc((size_t)m->n_sites + 1, sizeof *status);
    gr_status st = gr_collider_rewrite(m, &o, status, &err);
    bool ok = fuzz_rewritten(m, st, &err, status, out);
    free(status);
    gr_ptx_free(m);
    return ok;
}

// A sum over the lines, whatever their order.
static uint64_t sum_of_lines(const char *text) {
    uint64_t sum = 0, line = 0;
    for (; *text; text++) {
        line = (line ^ (unsigned char)*text) * 0x100000001b3;
        sum += *text == '\n' ? line : 0;
        line = *text == '\n' ? 0 : line;
    }
    return sum;
}

// Declarations may stand elsewhere.
static void same_lines(const char *a, const char *b) {
    if (strlen(a) != strlen(b) || sum_of_lines(a) != sum_of_lines(b))
        fuzz_same(a, b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    PtxModule *m = fuzz_parse((const char *)data, size, false);
    if (!m)
        return 0;
    gr_ptx_free(m);
    StrBuf once = {0}, parts = {0};
    bool ok = rewrite((const char *)data, size, false, &once);
    if (rewrite((const char *)data, size, true, &parts) != ok)
        abort();
    if (ok) {
        same_lines(once.data, parts.data);
        fuzz_parses_again(&once);
    }
    gr_str_free(&once);
    gr_str_free(&parts);
    return 0;
}
