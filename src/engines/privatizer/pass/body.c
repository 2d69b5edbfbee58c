// SPDX-License-Identifier: Apache-2.0
#include "engines/privatizer/pass/body.h"

// Whether the statement is copied, at that depth of scopes.
static bool is_copied(const PtxStmt *s, unsigned depth) {
    switch (s->kind) {
    case PTX_DECL_REG:
    case PTX_DECL_VAR: return depth > 0;
    case PTX_LOC: return false;
    default: return true;
    }
}

static unsigned deeper(const PtxStmt *s, unsigned depth) {
    return depth + (s->kind == PTX_SCOPE_OPEN) - (s->kind == PTX_SCOPE_CLOSE);
}

gr_status gr_body_copy(PtxFunc *f, const PtxStmt *first, const PtxStmt *last, Arena *arena, Body *out,
                       gr_error *err) {
    gr_status st = GR_OK;
    StrBuf text = {0};
    PtxStmt *copy = NULL;
    unsigned depth = 0;
    size_t n = 0;
    for (const PtxStmt *s = first; s; s = s == last ? NULL : s->next) {
        if (is_copied(s, depth)) {
            gr_ptx_print_stmt(s, &text);
            gr_str_addc(&text, '\n');
            n++;
        }
        depth = deeper(s, depth);
    }
    if (text.oom)
        GR_TRY(gr_fail(err, GR_ERR_NOMEM, "out of memory"));
    GR_TRY(gr_ptx_insert(f, NULL, 0, text.data ? text.data : "", NULL, 0, &copy, err));
    *out = (Body){.stmt = GR_NEW_ARRAY(arena, PtxStmt *, n + 1),
                  .from = GR_NEW_ARRAY(arena, const PtxStmt *, n + 1)};
    if (!out->stmt || !out->from)
        GR_TRY(gr_fail(err, GR_ERR_NOMEM, "out of memory"));
    depth = 0;
    for (const PtxStmt *s = first; s; s = s == last ? NULL : s->next) {
        if (is_copied(s, depth)) {
            if (!copy || copy->kind != s->kind)
                GR_TRY(gr_fail(err, GR_ERR_INTERNAL, "%s: a copy of the code is another code", f->name));
            if (s->kind == PTX_INSTR || s->kind == PTX_LABEL_DEF) {
                out->stmt[out->n] = copy;
                out->from[out->n++] = s;
            }
            copy = copy->next;
        }
        depth = deeper(s, depth);
    }
done:
    gr_str_free(&text);
    return st;
}
