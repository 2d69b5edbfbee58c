// SPDX-License-Identifier: Apache-2.0
// fuzz_ptx — any bytes: parsing never crashes, and what parses prints to text that parses to the same print. Nothing in
// a program's text becomes a tag, not even where the print is read as ours.
#include "ptx/cfg.h"
#include "ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void print(const PtxModule *m, unsigned flags, StrBuf *out) {
    gr_error err;
    gr_status st = gr_ptx_print(m, flags, out, &err);
    // A debug module's labels stay, and an opcode not understood may hide registers: refused, not wrong.
    if (st != GR_OK && st != GR_ERR_ARGUMENT && st != GR_ERR_UNSUPPORTED)
        abort();
}

static PtxModule *parse(const StrBuf *text) {
    PtxModule *m;
    gr_error err;
    if (gr_ptx_parse_ours(text->data, text->len, "printed", &m, &err) == GR_OK)
        return m;
    fprintf(stderr, "%u:%u: %s in:\n%s\n", err.line, err.col, err.msg, text->data);
    abort();
}

static void expect_no_tags(const PtxModule *m) {
    for (const PtxItem *i = m->items; i; i = i->next)
        if (i->tag.inserted)
            abort();
    for (uint32_t k = 0; k < m->n_funcs; k++)
        for (const PtxStmt *s = m->funcs[k]->first; s; s = s->next)
            if (s->tag.inserted || m->funcs[k]->tag.inserted)
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    PtxModule *m, *again;
    StrBuf first = {0}, second = {0};
    if (gr_ptx_parse((const char *)data, size, "input", &m, NULL) != GR_OK)
        return 0;
    Arena arena = {0};
    for (uint32_t k = 0; k < m->n_funcs; k++)
        (void)gr_cfg_build(m->funcs[k], &arena, &(Cfg){0}, NULL);
    gr_arena_free(&arena);
    print(m, 0, &first);
    print(again = parse(&first), 0, &second);
    expect_no_tags(m);
    expect_no_tags(again);
    if (strcmp(first.data, second.data) != 0)
        abort();
    gr_ptx_free(again);
    gr_ptx_free(m);
    gr_str_free(&first);
    gr_str_free(&second);
    return 0;
}
