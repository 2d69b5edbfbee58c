// SPDX-License-Identifier: Apache-2.0
// fuzz_rewrite — any PTX that parses, rewritten by the collider: function by function or at once it becomes the same text, which parses
// and prints the same again. (fuzz_vm_collider runs it.)
#include "engines/collider/pass/collider.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static PtxModule *parse(const char *text, size_t len, bool must) {
    PtxModule *m = NULL;
    gr_error err = {0};
    if (gr_ptx_parse(text, len, "text", &m, &err) != GR_OK && must) {
        fprintf(stderr, "%u:%u: %s in:\n%s\n", err.line, err.col, err.msg, text);
        abort();
    }
    return m;
}

// False: it is refused.
static bool rewrite(const char *text, size_t len, bool later, StrBuf *out) {
    PtxModule *m = parse(text, len, true);
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
    if (st == GR_OK)
        st = gr_ptx_print_later(m, 0, out, NULL, NULL, &err);
    if (st != GR_OK && !err.msg[0])
        abort();
    if (st == GR_ERR_INTERNAL || st == GR_ERR_SYNTAX) { // the pass's own text
        fprintf(stderr, "%s\n", err.msg);
        abort();
    }
    for (uint32_t k = 1; k <= m->n_sites && st == GR_OK; k++)
        if (status[k] == GR_SITE_UNSEEN && m->sites[k].func->has_body)
            abort();
    free(status);
    gr_ptx_free(m);
    return st == GR_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    PtxModule *m = parse((const char *)data, size, false);
    if (!m)
        return 0;
    gr_ptx_free(m);
    StrBuf once = {0}, parts = {0}, again = {0};
    bool ok = rewrite((const char *)data, size, false, &once);
    if (rewrite((const char *)data, size, true, &parts) != ok)
        abort();
    if (ok) {
        if (strcmp(once.data, parts.data) != 0)
            abort();
        m = parse(once.data, once.len, true);
        if (gr_ptx_print(m, 0, &again, NULL) != GR_OK || strcmp(once.data, again.data) != 0)
            abort();
        gr_ptx_free(m);
    }
    gr_str_free(&once);
    gr_str_free(&parts);
    gr_str_free(&again);
    return 0;
}
