// SPDX-License-Identifier: Apache-2.0
// aside — calls that are rare, in code that is not. What a thread has in registers is put aside in local memory around
// such a call, and fetched back behind it. So ptxas keeps it in registers everywhere else: what is still there behind a
// call of a function that takes all registers itself it would keep in local memory wherever it is used, also where
// nobody comes to the call.
#include "engines/privatizer/pass/code.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// Of a thread; what has no room stays where ptxas puts it.
enum { ASIDE = 640 };
static const char name[] = "__gr_aside";

bool gr_code_declares(const Code *c, const char *variable) {
    for (const PtxStmt *s = c->f->first; s; s = s->next)
        if (s->kind == PTX_DECL_VAR && !strcmp(s->var->name, variable))
            return true;
    return false;
}

// All copies of the code share it: a thread takes one of them.
gr_status gr_code_aside_begins(const Code *c) {
    return gr_code_declares(c, name)
               ? GR_OK
               : gr_code_put(c, c->f->first, NULL, 0, ".local .align 8 .b8 %s[%d];", name, ASIDE);
}

// One register goes there, or comes back. *used: bytes that are taken; `word`: a register of 32 bits.
static gr_status put_one(const Code *c, PtxStmt *at, PtxReg *r, PtxReg *word, unsigned *used, bool back) {
    unsigned bits = gr_ptx_type_bits(r->type), size = bits == 64 ? 8 : 4,
             from = (*used + size - 1) / size * size;
    PtxOperand ops[2] = {gr_ptx_reg_operand(r), gr_ptx_reg_operand(word)};
    if (from + size > ASIDE || (bits != 1 && bits != 16 && bits != 32 && bits != 64))
        return GR_OK;
    *used = from + size;
    if (bits == 1)
        return back ? gr_code_put(c, at, ops, 2, "ld.local.b32 $1, [%s+%u]; setp.ne.u32 $0, $1, 0;", name,
                                  from)
                    : gr_code_put(c, at, ops, 2, "selp.b32 $1, 1, 0, $0; st.local.b32 [%s+%u], $1;", name,
                                  from);
    return back ? gr_code_put(c, at, ops, 1, "ld.local.b%u $0, [%s+%u];", bits, name, from)
                : gr_code_put(c, at, ops, 1, "st.local.b%u [%s+%u], $0;", bits, name, from);
}

static gr_status put_all(const Code *c, PtxStmt *at, const GrAside *all, bool back) {
    gr_status st = GR_OK;
    unsigned used = 0;
    PtxReg *word = gr_ptx_new_reg(c->f, PTX_B32);
    for (unsigned k = 0; k < all->n && st == GR_OK; k++)
        st = put_one(c, at, all->regs[k], word, &used, back);
    return st;
}

gr_status gr_code_aside_now(const Code *c, GrAside *out) {
    const PtxStmt *from = c->body.from[c->now];
    uint32_t n = c->live->n_regs;
    *out = (GrAside){GR_NEW_ARRAY(c->arena, PtxReg *, (size_t)c->aside.n + n + 1), c->aside.n};
    GR_NEED(out->regs, c->err);
    if (c->aside.n)
        memcpy(out->regs, c->aside.regs, c->aside.n * sizeof *out->regs);
    if (!gr_live_before(c->live, from, c->set))
        return GR_OK;
    for (uint32_t k = 0; k < n; k++) {
        PtxReg *own = c->body.regs[k] ? c->body.regs[k] : c->f->regs[k];
        bool there = !gr_live_has(c->live, c->set, c->f->regs[k]);
        for (unsigned i = 0; i < c->aside.n && !there; i++)
            there = c->aside.regs[i] == own;
        if (!there)
            out->regs[out->n++] = own;
    }
    return GR_OK;
}

gr_status gr_code_aside(const Code *c, PtxStmt *at, const GrAside *all, const PtxReg *due, const char *fmt,
                        ...) {
    PtxLabel *over = gr_ptx_new_label(c->f);
    PtxOperand to = gr_ptx_label_operand(over);
    char call[300];
    va_list words;
    va_start(words, fmt);
    int n = vsnprintf(call, sizeof call, fmt, words);
    va_end(words);
    if (n < 0 || (size_t)n >= sizeof call)
        return gr_fail(c->err, GR_ERR_INTERNAL, "%s: a call of the privatizer is too long", c->f->name);
    GR_CODE_OPS(c, at, &to, 1, "@!%s bra $0;", due->name);
    GR_MUST(put_all(c, at, all, false));
    GR_CODE(c, at, "%s", call);
    GR_MUST(put_all(c, at, all, true));
    gr_ptx_insert_label(c->f, at, over);
    return GR_OK;
}
