// SPDX-License-Identifier: Apache-2.0
// copies — cp.async, by which a thread copies 4 to 16 bytes at any time between the copy's start and its wait (PTX ISA
// 9.7.9.25). Nobody else may write the source in that time, or touch the destination. So in each region that has some
// of it, the source is loaded, and something is stored that the destination did not hold before:
//
//     cp.async.ca.shared.global [d], [s], 4;    the copy that this instruction has under way is done now; ld v, [s]; st
//                                               [d], ~v; this one is under way
//     barrier, end of the thread                of those under way: ld v, [s]; st [d], ~v ^ the region's number
//     cp.async.wait_group n;                    of those of groups that are waited for: ld v, [s]; st [d], v
//
// In code for blocks, where the destination is not private, a copy is done when it is started; so it is where there are
// too many copies and places for the code to be written to all.
#include "engines/privatizer/pass/code.h"

#include <stdio.h>

// A cp.async of the kernel, and what its thread has under way of it, in registers that pass 2 of a region begins with
// as pass 1 did.
struct Copying {
    const PtxStmt *s;
    const PtxSite *site;
    unsigned size;
    PtxReg *group; // its group's number and one; 0: nothing is under way
    PtxReg *from, *to;
};

enum { MOST_PLACES = 2048 };

static unsigned immediate(const PtxInstr *i, unsigned k) {
    return k < i->n_operands && i->operands[k].kind == PTX_O_INT ? (unsigned)i->operands[k].bits : 0;
}

bool gr_is_copy(const PtxInstr *i) {
    unsigned size = immediate(i, 2);
    return i->op == PTX_OP_CP && !gr_ptx_instr_has(i, PTX_MOD_bulk) && !gr_ptx_instr_has(i, PTX_MOD_reduce) &&
           i->n_operands >= 3 && (size == 4 || size == 8 || size == 16);
}

// ---- One copy -------------------------------------------------------------------------------------------------------

// What is copied: registers of 32 bits, and how ld and st have them.
typedef struct Words {
    unsigned n;
    PtxReg *v[4];
    const char *vector;
    char text[200];
} Words;

static void new_words(const Code *c, unsigned size, Words *w) {
    char *at = w->text, *end = at + sizeof w->text;
    w->n = size / 4;
    w->vector = size == 4 ? "" : size == 8 ? ".v2" : ".v4";
    for (unsigned k = 0; k < w->n; k++) {
        w->v[k] = gr_ptx_new_reg(c->f, PTX_B32);
        at += snprintf(at, (size_t)(end - at), "%s%s", k ? ", " : size == 4 ? "" : "{", w->v[k]->name);
    }
    snprintf(at, (size_t)(end - at), "%s", size == 4 ? "" : "}");
}

static gr_status put_load(const Code *c, PtxStmt *s, const PtxSite *site, const Words *w, const PtxReg *when,
                          const PtxReg *from) {
    return gr_code_access(c, s, site, PTX_ACCESS_READ, site->src_space, w->n * 4, NULL, 0,
                          "@%s ld%s%s.b32 %s, [%s];", when->name, gr_space_words(site->src_space), w->vector,
                          w->text, from->name);
}

static gr_status put_store(const Code *c, PtxStmt *s, const PtxSite *site, const Words *w, const PtxReg *when,
                           const PtxReg *to) {
    return gr_code_access(c, s, site, PTX_ACCESS_WRITE, site->space, w->n * 4, NULL, 0,
                          "@%s st%s%s.b32 [%s], %s;", when->name, gr_space_words(site->space), w->vector,
                          to->name, w->text);
}

// What the destination may hold as well until the copy is waited for. `when`: else the words stay.
static gr_status put_unlike(const Code *c, PtxStmt *s, const Words *w, const PtxReg *when) {
    PtxReg *region = gr_ptx_new_reg(c->f, PTX_B32);
    GR_CODE(c, s, "mul.lo.u32 %s, %s, 0x01010101; not.b32 %s, %s;", region->name, c->sequence->name,
            region->name, region->name);
    for (unsigned k = 0; k < w->n; k++)
        GR_CODE(c, s, "@%s xor.b32 %s, %s, %s;", when->name, w->v[k]->name, w->v[k]->name, region->name);
    return GR_OK;
}

// ---- What is under way ----------------------------------------------------------------------------------------------

// Under `when`, and if there is one, the copy is done, or only may be. `when` NULL: always.
static gr_status put_under_way(const Code *c, PtxStmt *s, const Copying *of, const PtxReg *when,
                               bool is_done) {
    PtxReg *is = gr_ptx_new_reg(c->f, PTX_PRED);
    Words w;
    new_words(c, of->size, &w);
    GR_CODE(c, s, "setp.ne%s.u32 %s, %s, 0%s%s;", when ? ".and" : "", is->name, of->group->name,
            when ? ", " : "", when ? when->name : "");
    GR_MUST(put_load(c, s, of->site, &w, is, of->from));
    if (!is_done)
        GR_MUST(put_unlike(c, s, &w, is));
    GR_MUST(put_store(c, s, of->site, &w, is, of->to));
    if (is_done)
        GR_CODE(c, s, "@%s mov.u32 %s, 0;", is->name, of->group->name);
    return GR_OK;
}

static bool is_group(const PtxInstr *i, PtxMod mod) {
    return i->op == PTX_OP_CP && gr_ptx_instr_has(i, mod) && !gr_ptx_instr_has(i, PTX_MOD_bulk);
}

static bool is_wait(const PtxInstr *i) {
    return is_group(i, PTX_MOD_wait_group) || is_group(i, PTX_MOD_wait_all);
}

static bool is_end(const PtxInstr *i) { return gr_is_full_barrier(i) || gr_ptx_instr_flags(i) & PTX_F_EXIT; }

static PtxReg *guard_of(const Code *c, PtxStmt *s, gr_status *st) {
    const PtxInstr *i = s->instr;
    if (!i->guard)
        return NULL;
    PtxOperand own = gr_ptx_reg_operand(i->guard);
    PtxReg *is = gr_ptx_new_reg(c->f, PTX_PRED);
    *st = gr_code_put(c, s, &own, 1, "%s.pred %s, $0;", i->guard_negated ? "not" : "mov", is->name);
    return is;
}

static gr_status put_wait(const Code *c, PtxStmt *s) {
    gr_status st = GR_OK;
    const PtxInstr *i = s->instr;
    PtxReg *guard = guard_of(c, s, &st), *is = gr_ptx_new_reg(c->f, PTX_PRED),
           *last = gr_ptx_new_reg(c->f, PTX_B32);
    bool all = gr_ptx_instr_has(i, PTX_MOD_wait_all); // and those of no group yet
    GR_MUST(st);
    for (unsigned k = 0; k < c->n_copying; k++) {
        GR_CODE(c, s, "add.u32 %s, %s, %u; setp.le%s.u32 %s, %s, %s%s%s;", last->name,
                c->copying[k].group->name, all ? 0 : immediate(i, 0), guard ? ".and" : "", is->name,
                all ? "0" : last->name, c->group->name, guard ? ", " : "", guard ? guard->name : "");
        GR_MUST(put_under_way(c, s, &c->copying[k], is, true));
    }
    return GR_OK;
}

// The copies of a kernel, and where code of each of them has to be.
typedef struct Counted {
    unsigned copies, places;
} Counted;

static void count(Counted *n, const PtxStmt *s) {
    if (s->kind != PTX_INSTR)
        return;
    n->copies += gr_is_copy(s->instr);
    n->places += gr_is_copy(s->instr) || is_wait(s->instr) || is_end(s->instr);
}

static bool are_too_many(const Counted *n) { return (uint64_t)n->copies * n->places > MOST_PLACES; }

unsigned gr_early_copies(const PtxFunc *f) {
    Counted n = {0, 0};
    for (const PtxStmt *s = f->first; s; s = s->next)
        count(&n, s);
    return are_too_many(&n) ? n.copies : 0;
}

gr_status gr_code_find_copies(Code *c) {
    gr_status st = GR_OK;
    const PtxModule *m = c->f->module;
    Counted n = {0, 0};
    for (size_t k = 0; k < c->body.n; k++)
        count(&n, c->body.stmt[k]);
    unsigned copies = n.copies;
    if (!copies || !c->warps || are_too_many(&n))
        return GR_OK;
    c->copying = GR_NEW_ARRAY(c->arena, Copying, copies);
    c->kept_too = GR_NEW_ARRAY(c->arena, PtxReg *, 3 * (size_t)copies + 1);
    GR_NEED(c->copying && c->kept_too, c->err);
    PtxStmt *first = c->body.stmt[0];
    c->group = c->kept_too[c->n_kept_too++] = gr_ptx_new_reg(c->f, PTX_B32);
    GR_CODE(c, first, "mov.u32 %s, 0;", c->group->name);
    for (size_t k = 0; k < c->body.n; k++) {
        const PtxStmt *s = c->body.stmt[k];
        if (s->kind != PTX_INSTR || !gr_is_copy(s->instr))
            continue;
        Copying *of = &c->copying[c->n_copying++];
        *of = (Copying){s,
                        &m->sites[c->body.from[k]->site],
                        immediate(s->instr, 2),
                        gr_ptx_new_reg(c->f, PTX_B32),
                        gr_ptx_new_reg(c->f, PTX_B64),
                        gr_ptx_new_reg(c->f, PTX_B64)};
        c->kept_too[c->n_kept_too++] = of->group;
        c->kept_too[c->n_kept_too++] = of->from;
        c->kept_too[c->n_kept_too++] = of->to;
        GR_CODE(c, first, "mov.u32 %s, 0; mov.u64 %s, 0; mov.u64 %s, 0;", of->group->name, of->from->name,
                of->to->name);
    }
    for (size_t k = 0; k < c->body.n; k++) {
        PtxStmt *s = c->body.stmt[k];
        if (s->kind != PTX_INSTR)
            continue;
        PtxReg *guard =
            is_group(s->instr, PTX_MOD_commit_group) || is_end(s->instr) ? guard_of(c, s, &st) : NULL;
        GR_MUST(st);
        if (is_wait(s->instr))
            GR_MUST(put_wait(c, s));
        else if (is_group(s->instr, PTX_MOD_commit_group))
            GR_CODE(c, s, "%s%s%sadd.u32 %s, %s, 1;", guard ? "@" : "", guard ? guard->name : "",
                    guard ? " " : "", c->group->name, c->group->name);
        for (unsigned j = 0; j < c->n_copying && is_end(s->instr); j++)
            GR_MUST(put_under_way(c, s, &c->copying[j], guard, false));
    }
    return GR_OK;
}

// ---- cp.async itself ------------------------------------------------------------------------------------------------

// Bytes that are copied where fewer than all are; the others are 0 already. `some`: there are such, and `n` of them.
static gr_status put_tail(const Code *c, PtxStmt *s, const PtxSite *site, const PtxReg *from,
                          const PtxReg *to, const PtxReg *some, const PtxReg *n) {
    PtxFunc *f = c->f;
    PtxLabel *again = gr_ptx_new_label(f), *end = gr_ptx_new_label(f);
    PtxReg *k = gr_ptx_new_reg(f, PTX_B64), *at = gr_ptx_new_reg(f, PTX_B64), *v = gr_ptx_new_reg(f, PTX_B32),
           *most = gr_ptx_new_reg(f, PTX_B64), *more = gr_ptx_new_reg(f, PTX_PRED);
    PtxOperand to_end = gr_ptx_label_operand(end), to_again = gr_ptx_label_operand(again);
    GR_CODE_OPS(c, s, &to_end, 1, "@!%s bra $0; mov.u64 %s, 0; cvt.u64.u32 %s, %s;", some->name, k->name,
                most->name, n->name);
    gr_ptx_insert_label(f, s, again);
    GR_CODE(c, s, "add.u64 %s, %s, %s;", at->name, from->name, k->name);
    GR_MUST(gr_code_access(c, s, site, PTX_ACCESS_READ, site->src_space, 1, NULL, 0, "ld%s.u8 %s, [%s];",
                           gr_space_words(site->src_space), v->name, at->name));
    GR_CODE(c, s, "add.u64 %s, %s, %s;", at->name, to->name, k->name);
    GR_MUST(gr_code_access(c, s, site, PTX_ACCESS_WRITE, site->space, 1, NULL, 0, "st%s.u8 [%s], %s;",
                           gr_space_words(site->space), at->name, v->name));
    GR_CODE_OPS(c, s, &to_again, 1, "add.u64 %s, %s, 1; setp.lt.u64 %s, %s, %s; @%s bra $0;", k->name,
                k->name, more->name, k->name, most->name, more->name);
    gr_ptx_insert_label(f, s, end);
    return GR_OK;
}

// NULL: it is done when it is started.
static const Copying *copying_of(const Code *c, const PtxStmt *s) {
    for (unsigned k = 0; k < c->n_copying; k++)
        if (c->copying[k].s == s)
            return &c->copying[k];
    return NULL;
}

gr_status gr_code_copy(const Code *c, PtxStmt *s, const PtxSite *site) {
    gr_status st = GR_OK;
    PtxFunc *f = c->f;
    const PtxInstr *i = s->instr;
    unsigned size = immediate(i, 2), n = i->n_operands - gr_ptx_instr_has(i, PTX_MOD_L2__cache_hint);
    const Copying *of = copying_of(c, s);
    PtxReg *from, *to, *guard = guard_of(c, s, &st), *is = gr_ptx_new_reg(f, PTX_PRED),
                       *all = gr_ptx_new_reg(f, PTX_PRED), *some = NULL, *least = gr_ptx_new_reg(f, PTX_B32);
    Words w;
    new_words(c, size, &w);
    GR_MUST(st);
    if (of)
        GR_MUST(put_under_way(c, s, of, guard, true));
    for (unsigned k = 0; k < w.n; k++)
        GR_CODE(c, s, "mov.u32 %s, 0;", w.v[k]->name);
    GR_MUST(gr_code_address(c, s, &i->operands[0], &to));
    GR_MUST(gr_code_address(c, s, &i->operands[1], &from));
    GR_CODE(c, s, guard ? "mov.pred %s, %s;" : "setp.eq.u32 %s, 0, 0;", is->name, guard ? guard->name : "");
    GR_CODE(c, s, "mov.pred %s, %s;", all->name, is->name);
    if (n > 3 && i->operands[3].kind == PTX_O_REG && i->operands[3].reg->type == PTX_PRED) { // ignore-src
        PtxOperand own = i->operands[3];
        bool negated = own.negated;
        own.negated = false;
        GR_CODE_OPS(c, s, &own, 1, "{ .reg .pred n; %s.pred n, $0; and.pred %s, %s, n; }",
                    negated ? "mov" : "not", all->name, all->name);
    } else if (n > 3 && !(i->operands[3].kind == PTX_O_INT && immediate(i, 3) >= size)) { // src-size
        some = gr_ptx_new_reg(f, PTX_PRED);
        GR_CODE_OPS(c, s, &i->operands[3], 1,
                    "mov.b32 %s, $0; setp.ge.and.u32 %s, %s, %u, %s; setp.lt.and.u32 %s, %s, %u, %s; "
                    "setp.ne.and.u32 %s, %s, 0, %s;",
                    least->name, all->name, least->name, size, is->name, some->name, least->name, size,
                    is->name, some->name, least->name, some->name);
    }
    GR_MUST(put_load(c, s, site, &w, all, from));
    if (of) {
        GR_MUST(put_unlike(c, s, &w, all));
        GR_CODE(c, s, "@%s add.u32 %s, %s, 1; @%s mov.b64 %s, %s; @%s mov.b64 %s, %s;", all->name,
                of->group->name, c->group->name, all->name, of->from->name, from->name, all->name,
                of->to->name, to->name);
    }
    GR_MUST(put_store(c, s, site, &w, is, to));
    if (some)
        GR_MUST(put_tail(c, s, site, from, to, some, least));
    s->kind = PTX_RAW;
    s->text = "";
    return GR_OK;
}
