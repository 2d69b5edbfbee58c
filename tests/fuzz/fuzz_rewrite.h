// SPDX-License-Identifier: Apache-2.0
// fuzz_rewrite — what the fuzzers of the engines' passes share: what a pass makes of a module that parses must parse,
// and print the same.
#ifndef GR_FUZZ_REWRITE_H
#define GR_FUZZ_REWRITE_H

#include "ptx/ptx.h"
#include "ptx/site_status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// NULL: it does not parse, which ends the fuzzer where it must.
static PtxModule *fuzz_parse(const char *text, size_t len, bool must) {
    PtxModule *m = NULL;
    gr_error err = {0};
    if (gr_ptx_parse(text, len, "text", &m, &err) != GR_OK && must) {
        fprintf(stderr, "%u:%u: %s in:\n%s\n", err.line, err.col, err.msg, text);
        abort();
    }
    return m;
}

// A device runtime whose functions do nothing: the whole one takes a hundred times as long to link as most modules take
// to rewrite.
static inline char *fuzz_stub(const char *ptx) {
    char *stub = malloc(strlen(ptx) + 1), *to = stub;
    bool body = false;
    for (const char *line = ptx, *next; *line; line = next) {
        next = line + strcspn(line, "\n");
        next += *next == '\n';
        body = body && strncmp(line, "}", 1);
        if (!body)
            to = (char *)memcpy(to, line, (size_t)(next - line)) + (next - line);
        body = body || !strncmp(line, "{", 1);
    }
    *to = 0;
    return stub;
}

// What the pass left of the module goes into `out`; false: it refused the module, for which it must have said why. `st`
// is what it returned. `status`: all sites must have been seen; NULL: not all need to be.
static bool fuzz_rewritten(PtxModule *m, gr_status st, gr_error *err, const GrSiteStatus *status,
                           StrBuf *out) {
    if (st == GR_OK)
        st = gr_ptx_print_later(m, 0, out, NULL, NULL, err);
    if (st != GR_OK && !err->msg[0])
        abort();
    if (st == GR_ERR_INTERNAL || st == GR_ERR_SYNTAX) { // the pass's own text
        fprintf(stderr, "%s\n", err->msg);
        abort();
    }
    for (uint32_t k = 1; k <= m->n_sites && st == GR_OK && status; k++)
        if (status[k] == GR_SITE_UNSEEN && m->sites[k].func->has_body)
            abort();
    return st == GR_OK;
}

// Ends the fuzzer where two texts differ, with what is there.
static inline void fuzz_same(const char *a, const char *b) {
    size_t at = 0;
    while (a[at] && a[at] == b[at])
        at++;
    if (a[at] == b[at])
        return;
    at = at < 200 ? 0 : at - 200;
    fprintf(stderr, "the texts differ:\n%.300s\n---- and ----\n%.300s\n", a + at, b + at);
    abort();
}

// What is printed next to each other may have another order when it is read again, but only once.
static inline void fuzz_parses_again(const StrBuf *text) {
    StrBuf print[2] = {{0}, {0}};
    gr_error err = {0};
    for (unsigned k = 0; k < 2; k++) {
        const StrBuf *from = k ? &print[0] : text;
        PtxModule *m = fuzz_parse(from->data, from->len, true);
        if (gr_ptx_print(m, 0, &print[k], &err) != GR_OK) {
            fprintf(stderr, "%s\n", err.msg);
            abort();
        }
        gr_ptx_free(m);
    }
    fuzz_same(print[0].data, print[1].data);
    gr_str_free(&print[0]);
    gr_str_free(&print[1]);
}

#endif
