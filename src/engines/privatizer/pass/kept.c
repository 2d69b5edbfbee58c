// SPDX-License-Identifier: Apache-2.0
// In a set, registers of 64 bits come first, of them the hash of what the thread stored, then those of 32 bits and
// predicates, then those of 16: so two or four are stored and loaded at once.
#include "engines/privatizer/pass/kept.h"

#include <stdio.h>
#include <string.h>

enum { AT_ONCE = 16 }; // bytes, at most

typedef enum Way { NOTE, COMPARE, FETCH } Way;

// Registers that go together, and what is stored or loaded of them.
typedef struct Group {
    const Code *c;
    PtxStmt *at;
    const char *base;
    Way way;
    PtxReg *unlike;
    PtxReg *regs[4], *words[4];
    unsigned n, bits, from; // bits: of each; from: bytes
} Group;

static unsigned size_of(const PtxReg *r) {
    unsigned bits = gr_ptx_type_bits(r->type);
    return bits == 64 ? 8 : bits == 16 ? 2 : 4;
}

static bool is_predicate(const PtxReg *r) { return r->type == PTX_PRED; }

static gr_status to_word(const Group *g, unsigned i, const PtxReg *word) {
    PtxOperand own = gr_ptx_reg_operand(g->regs[i]);
    return gr_code_put(g->c, g->at, &own, 1, "selp.b32 %s, 1, 0, $0;", word->name);
}

// The word has what was noted.
static gr_status compare(const Group *g, unsigned i) {
    PtxReg *own = g->regs[i];
    gr_status st = GR_OK;
    if (is_predicate(own)) {
        own = gr_ptx_new_reg(g->c->f, PTX_B32);
        st = to_word(g, i, own);
    }
    PtxOperand op = gr_ptx_reg_operand(own);
    return st != GR_OK ? st
                       : gr_code_put(g->c, g->at, &op, 1, "setp.ne.or.b%u %s, $0, %s, %s;", g->bits,
                                     g->unlike->name, g->words[i]->name, g->unlike->name);
}

// All registers of the group, by one instruction.
static gr_status put_group(Group *g) {
    static const char *const vectors[] = {"", "", ".v2", "", ".v4"};
    static const char *const lists[] = {"", "$0", "{$0, $1}", "", "{$0, $1, $2, $3}"};
    PtxOperand ops[4];
    for (unsigned i = 0; i < g->n; i++) {
        bool direct = g->way != COMPARE && !is_predicate(g->regs[i]);
        PtxType type = g->bits == 64 ? PTX_B64 : g->bits == 16 ? PTX_B16 : PTX_B32;
        g->words[i] = direct ? g->regs[i] : gr_ptx_new_reg(g->c->f, type);
        ops[i] = gr_ptx_reg_operand(g->words[i]);
        if (g->way == NOTE && !direct)
            GR_MUST(to_word(g, i, g->words[i]));
    }
    char text[100];
    if (g->way == NOTE)
        snprintf(text, sizeof text, "st.local%s.b%u [%s+%u], %s;", vectors[g->n], g->bits, g->base, g->from,
                 lists[g->n]);
    else
        snprintf(text, sizeof text, "ld.local%s.b%u %s, [%s+%u];", vectors[g->n], g->bits, lists[g->n],
                 g->base, g->from);
    GR_CODE_OPS(g->c, g->at, ops, g->n, "%s", text);
    for (unsigned i = 0; i < g->n; i++) {
        PtxOperand own = gr_ptx_reg_operand(g->regs[i]);
        if (g->way == COMPARE)
            GR_MUST(compare(g, i));
        else if (g->way == FETCH && is_predicate(g->regs[i]))
            GR_CODE_OPS(g->c, g->at, &own, 1, "setp.ne.u32 $0, %s, 0;", g->words[i]->name);
    }
    g->from += g->n * g->bits / 8;
    g->n = 0;
    return GR_OK;
}

// What is left of a group that is not full: its instructions take two words, or one.
static gr_status put_rest(Group *g) {
    gr_status st = GR_OK;
    Group all = *g;
    for (unsigned done = 0; done < all.n && st == GR_OK;) {
        g->n = all.n - done >= 2 ? 2 : 1;
        memcpy(g->regs, all.regs + done, g->n * sizeof *g->regs);
        done += g->n;
        st = put_group(g);
    }
    g->n = 0;
    return st;
}

static gr_status put_next(Group *g, PtxReg *r) {
    g->regs[g->n++] = r;
    return g->n == (g->bits == 64 ? 2 : 4) ? put_group(g) : GR_OK;
}

// Of one size. `g` NULL: none is written. Gives how many bytes that takes, in *from.
static gr_status put_of_size(const Code *c, Group *g, unsigned size, unsigned *from) {
    gr_status st = GR_OK;
    unsigned n = 0;
    if (g) {
        g->bits = size * 8;
        g->from = *from;
    }
    if (size == 8) {
        n++;
        if (g)
            st = put_next(g, c->stores);
    }
    for (uint32_t k = 0; k < c->live->n_regs && st == GR_OK; k++) {
        PtxReg *own = c->body.regs[k] ? c->body.regs[k] : c->f->regs[k];
        if (!gr_live_has(c->live, c->set, c->f->regs[k]) || size_of(own) != size)
            continue;
        n++;
        if (g)
            st = put_next(g, own);
    }
    *from = (*from + n * size + AT_ONCE - 1) / AT_ONCE * AT_ONCE;
    return g && st == GR_OK ? put_rest(g) : st;
}

// The set of what is live at `from`. `g` NULL: none is written. *bytes: of it.
static gr_status put_set(const Code *c, Group *g, const PtxStmt *from, unsigned *bytes) {
    *bytes = 0;
    if (!from || !gr_live_before(c->live, from, c->set))
        memset(c->set, 0, c->live->n_words * sizeof *c->set);
    GR_MUST(put_of_size(c, g, 8, bytes));
    GR_MUST(put_of_size(c, g, 4, bytes));
    return put_of_size(c, g, 2, bytes);
}

gr_status gr_kept_find(const Code *c, const PtxStmt *const *from, size_t n, Kept *out) {
    out->size = AT_ONCE;
    out->at = gr_ptx_new_reg(c->f, PTX_B32);
    for (size_t k = 0; k < n; k++) {
        unsigned bytes;
        GR_MUST(put_set(c, NULL, from[k], &bytes));
        out->size = bytes > out->size ? bytes : out->size;
    }
    // Copies of the code with as much share it: a thread takes one of them.
    snprintf(out->name, sizeof out->name, "__gr_kept_%u", out->size);
    if (!gr_code_declares(c, out->name))
        GR_CODE(c, c->f->first, ".local .align 16 .b8 %s[%u];", out->name, 2 * out->size);
    return gr_code_put(c, c->body.n ? c->body.stmt[0] : NULL, NULL, 0, "mov.u32 %s, 0;", out->at->name);
}

static gr_status put(const Code *c, const Kept *k, PtxStmt *at, const PtxStmt *from, Way way,
                     PtxReg *unlike) {
    unsigned bytes;
    PtxReg *base = gr_ptx_new_reg(c->f, PTX_B64), *offset = gr_ptx_new_reg(c->f, PTX_B32);
    Group g = {.c = c, .at = at, .base = base->name, .way = way, .unlike = unlike};
    if (way == FETCH)
        GR_CODE(c, at, "mov.u32 %s, %s;", offset->name, k->at->name);
    else
        GR_CODE(c, at, "sub.u32 %s, %u, %s;", offset->name, k->size, k->at->name);
    GR_CODE(c, at, "{ .reg .b64 set; mov.u64 set, %s; cvt.u64.u32 %s, %s; add.u64 %s, %s, set; }", k->name,
            base->name, offset->name, base->name, base->name);
    return put_set(c, &g, from, &bytes);
}

gr_status gr_kept_note(const Code *c, const Kept *k, PtxStmt *at, const PtxStmt *from) {
    return put(c, k, at, from, NOTE, NULL);
}

gr_status gr_kept_compare(const Code *c, const Kept *k, PtxStmt *at, const PtxStmt *from, PtxReg *unlike) {
    return put(c, k, at, from, COMPARE, unlike);
}

gr_status gr_kept_turn(const Code *c, const Kept *k, PtxStmt *at) {
    return gr_code_put(c, at, NULL, 0, "sub.u32 %s, %u, %s;", k->at->name, k->size, k->at->name);
}

gr_status gr_kept_fetch(const Code *c, const Kept *k, PtxStmt *at, const PtxStmt *from) {
    return put(c, k, at, from, FETCH, NULL);
}
