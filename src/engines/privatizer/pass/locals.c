// SPDX-License-Identifier: Apache-2.0
#include "engines/privatizer/pass/locals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The code for warps has such, and the code for blocks.
static const char *prefix_of(const Code *c, LocalCopy copy) {
    static const char *const prefixes[2][3] = {{"", "__gr_kept_of_grid_", "__gr_noted_of_grid_"},
                                               {"", "__gr_kept_", "__gr_noted_"}};
    return prefixes[c->warps][copy];
}

// The code for warps is there with and without its general way. A thread takes one of them, so both have the same
// copies.
static bool is_declared(const PtxFunc *f, const char *prefix, const char *name) {
    size_t n = strlen(prefix);
    for (const PtxStmt *s = f->first; s; s = s->next)
        if (s->kind == PTX_DECL_VAR && !strncmp(s->var->name, prefix, n) && !strcmp(s->var->name + n, name))
            return true;
    return false;
}

gr_status gr_locals_find(const Code *c, Locals *out) {
    unsigned depth = 0;
    PtxStmt *next;
    for (PtxStmt *s = c->f->first; s; s = next) {
        next = s->next;
        depth += s->kind == PTX_SCOPE_OPEN;
        depth -= s->kind == PTX_SCOPE_CLOSE;
        if (s->kind != PTX_DECL_VAR || s->var->space != PTX_LOCAL || depth || s->tag.inserted)
            continue;
        gr_status st = GR_OK;
        if (!is_declared(c->f, prefix_of(c, GR_LOCALS_KEPT), s->var->name))
            st = gr_code_put(c, s, NULL, 0, ".local .align 8 .b8 %s%s[%llu]; .local .align 8 .b8 %s%s[%llu];",
                             prefix_of(c, GR_LOCALS_KEPT), s->var->name, (unsigned long long)s->var->size,
                             prefix_of(c, GR_LOCALS_NOTED), s->var->name, (unsigned long long)s->var->size);
        if (st != GR_OK)
            return st;
        GR_NEED(gr_vec_push(&out->vars, s->var), c->err);
    }
    return GR_OK;
}

gr_status gr_locals_copy(const Code *c, const Locals *l, PtxStmt *at, LocalCopy to, LocalCopy from) {
    const char *to_prefix = prefix_of(c, to), *from_prefix = prefix_of(c, from);
    gr_status st = GR_OK;
    for (size_t k = 0; k < l->vars.len && st == GR_OK; k++) {
        const PtxVar *v = l->vars.data[k];
        bool words = v->size % 4 == 0 && (v->align >= 4 || gr_ptx_type_bits(v->type) >= 32);
        const char *type = words ? "u32" : "u8";
        PtxReg *a = gr_ptx_new_reg(c->f, PTX_B64), *b = gr_ptx_new_reg(c->f, PTX_B64),
               *n = gr_ptx_new_reg(c->f, PTX_B32), *value = gr_ptx_new_reg(c->f, PTX_B32),
               *more = gr_ptx_new_reg(c->f, PTX_PRED);
        if (!v->size)
            continue;
        st = gr_code_put(c, at, NULL, 0,
                         "mov.u64 %s, %s%s; mov.u64 %s, %s%s; mov.u32 %s, %llu; AGAIN: ld.local.%s %s, [%s]; "
                         "st.local.%s [%s], %s; add.s64 %s, %s, %u; add.s64 %s, %s, %u; sub.u32 %s, %s, 1; "
                         "setp.ne.u32 %s, %s, 0; @%s bra AGAIN;",
                         a->name, from_prefix, v->name, b->name, to_prefix, v->name, n->name,
                         (unsigned long long)(words ? v->size / 4 : v->size), type, value->name, a->name,
                         type, b->name, value->name, a->name, a->name, words ? 4 : 1, b->name, b->name,
                         words ? 4 : 1, n->name, n->name, more->name, n->name, more->name);
    }
    return st;
}
