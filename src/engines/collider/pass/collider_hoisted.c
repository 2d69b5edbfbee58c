// SPDX-License-Identifier: Apache-2.0
#include "engines/collider/pass/collider_hoisted.h"

#include "engines/collider/pass/collider_segment.h"
#include "engines/collider/pass/collider_together.h"

static bool selects(const PtxFunc *f) {
    for (const PtxStmt *s = f->first; s; s = s->next)
        if (s->kind == PTX_INSTR && !s->tag.inserted &&
            (s->instr->op == PTX_OP_SELP ||
             ((s->instr->op == PTX_OP_AND || s->instr->op == PTX_OP_OR) && s->instr->type[0] == PTX_PRED)))
            return true;
    return false;
}

// Notes of each statement inside a scope of the program the outermost scope. False: out of memory.
static bool find_scopes(const PtxFunc *f, Map *scopes) {
    PtxStmt *outermost = NULL;
    unsigned depth = 0;
    for (PtxStmt *s = f->first; s; s = s->next) {
        if (s->kind == PTX_SCOPE_OPEN && !s->tag.inserted && depth++ == 0)
            outermost = s;
        else if (depth && !gr_map_put_u64(scopes, (uintptr_t)s, outermost))
            return false;
        if (s->kind == PTX_SCOPE_CLOSE && !s->tag.inserted && depth)
            depth--;
    }
    return true;
}

// Code is put before a scope, which is the program's inline assembly, or a call. What is inside may be a choice by a
// register of its own.
static bool can_be_put(const Map *scopes, Decisions *d) {
    for (unsigned k = 0; k < d->n; k++) {
        PtxStmt *scope = gr_map_get_u64(scopes, (uintptr_t)d->at[k].at);
        if (scope && d->at[k].pred)
            return false;
        if (scope)
            d->at[k].at = scope;
    }
    for (unsigned k = 0; k < d->n_holders; k++)
        if (gr_map_get_u64(scopes, (uintptr_t)d->holder[k].by))
            return false;
    return true;
}

// Whether the register has no other values than those that holders have.
static bool is_only_ours(const Hoisted *h, const PtxReg *r) {
    uint32_t ours = 0;
    for (unsigned k = 0; k < h->d.n_holders; k++)
        ours += h->d.holder[k].reg == r;
    return h->uses->regs[r->index].defs == ours;
}

// What stands behind the load, in its straight line, holds the value as long as the load's own register: one flag is
// enough.
static bool shares_flag(const Hoisted *h, const PtxStmt *load, unsigned k) {
    return h->uses->regs[h->d.holder[k].reg->index].defs == 1 && gr_leads_to(load, h->d.holder[k].by);
}

static void choose_flags(Hoisted *h, PtxFunc *f, const PtxStmt *load) {
    PtxReg *of_load = gr_ptx_new_reg(f, PTX_PRED);
    for (unsigned k = 0; k < h->d.n_holders; k++) {
        h->shares[k] = shares_flag(h, load, k);
        h->raced[k] = h->shares[k] ? of_load : NULL;
        for (unsigned x = 0; x < k && !h->raced[k]; x++)
            if (h->d.holder[x].reg == h->d.holder[k].reg)
                h->raced[k] = h->raced[x];
        if (!h->raced[k])
            h->raced[k] = gr_ptx_new_reg(f, PTX_PRED);
    }
}

void gr_collider_forget_code(HoistedCode *code) {
    gr_arena_free(&code->arena);
    gr_map_free(&code->scopes);
}

gr_status gr_collider_is_hoisted(ColliderWork *w, const Access *a, const DefUse *uses, HoistedCode *code,
                                 Hoisted *h, bool *is) {
    *is = false;
    if (!code->looked)
        code->selects = selects(a->func);
    code->looked = true;
    if (a->nested || code->has_none || gr_used_at_once(code->selects ? NULL : uses, a->stmt))
        return GR_OK;
    if (!code->has_cfg) {
        gr_error why = {0};
        gr_arena_init(&code->arena);
        gr_status st = gr_cfg_build(a->func, &code->arena, &code->cfg, &why);
        if (st == GR_ERR_NOMEM || (st == GR_OK && !find_scopes(a->func, &code->scopes)))
            return gr_no_memory(w->err);
        code->has_cfg = st == GR_OK;
        code->has_none = st != GR_OK; // its branches make no sense: the assembler will say so
        if (st != GR_OK)
            return GR_OK;
    }
    *h = (Hoisted){.uses = uses};
    *is = gr_may_be_discarded(uses, &code->cfg, a->stmt, &h->d) && can_be_put(&code->scopes, &h->d);
    if (*is)
        choose_flags(h, a->func, a->stmt);
    return GR_OK;
}

static gr_status put_false(const Access *a, PtxStmt *at, const PtxReg *p) {
    return gr_access_put(a, at, NULL, 0, "setp.ne.u32 %s, 0, 0;", p->name);
}

static const PtxReg *flag_of(const Hoisted *h, const PtxReg *r) {
    for (unsigned k = 0; k < h->d.n_holders; k++)
        if (h->d.holder[k].reg == r)
            return h->raced[k];
    return NULL;
}

static bool is_first_of(const Hoisted *h, unsigned k) {
    for (unsigned x = 0; x < k; x++)
        if (h->raced[x] == h->raced[k])
            return false;
    return true;
}

gr_status gr_collider_keep_hoisted(ColliderWork *w, Access *a, PtxStmt *at) {
    Hoisted *h = w->hoisted;
    if (!w->segment || h->d.n_holders != 1 || !is_only_ours(h, h->d.holder[0].reg))
        return GR_OK;
    PtxReg *kept = gr_ptx_new_reg(a->func, PTX_PRED);
    GR_MUST(gr_segment_keep_unused(w, a, at, kept, &h->words));
    if (h->words)
        h->kept = kept;
    return GR_OK;
}

gr_status gr_collider_remember(Hoisted *h, const Access *a, PtxStmt *at, const PtxReg *address,
                               const PtxReg *expected, const PtxReg *seen) {
    h->address = address;
    h->expected = expected;
    h->seen = seen;
    for (unsigned k = 0; k < h->d.n_holders; k++)
        if (h->d.holder[k].by == a->stmt && is_first_of(h, k))
            GR_PUT(a, at, "setp.eq.u32 %s, 0, 0;", h->raced[k]->name);
    return GR_OK;
}

// Arithmetic: its result has raced where one of its sources has.
static gr_status put_step(const Access *a, const Hoisted *h, unsigned k) {
    PtxStmt *s = h->d.holder[k].by;
    const PtxInstr *i = s->instr;
    const PtxReg *sum = NULL;
    for (unsigned o = 1; o < i->n_operands; o++) {
        const PtxReg *from = i->operands[o].kind == PTX_O_REG ? flag_of(h, i->operands[o].reg) : NULL;
        if (!from || from == sum)
            continue;
        if (!sum) {
            sum = from;
            continue;
        }
        PtxReg *both = gr_ptx_new_reg(a->func, PTX_PRED);
        GR_PUT(a, s, "or.pred %s, %s, %s;", both->name, sum->name, from->name);
        sum = both;
    }
    if (sum && sum != h->raced[k])
        GR_PUT(a, s, "mov.pred %s, %s;", h->raced[k]->name, sum->name);
    return GR_OK;
}

static bool gives(const Hoisted *h, const PtxStmt *s, const PtxReg *r) {
    for (unsigned k = 0; k < h->d.n_holders; k++)
        if (h->d.holder[k].reg == r && h->d.holder[k].by == s)
            return true;
    return false;
}

// What else is put into the register is no value of the load. Under a guard the old one may stay.
static gr_status put_ends(const Access *a, const Hoisted *h, const PtxReg *r, const PtxReg *flag) {
    for (PtxStmt *s = a->func->first; s; s = s->next) {
        if (s->kind != PTX_INSTR || s->tag.inserted || !gr_ptx_instr_writes(s->instr, r) || gives(h, s, r))
            continue;
        if (!s->instr->guard) {
            GR_MUST(put_false(a, s, flag));
            continue;
        }
        PtxOperand guard = gr_ptx_reg_operand(s->instr->guard);
        PtxReg *stays = gr_ptx_new_reg(a->func, PTX_PRED);
        GR_PUT_OPS(a, s, &guard, 1,
                   s->instr->guard_negated ? "mov.pred %s, $0; and.pred %s, %s, %s;"
                                           : "not.pred %s, $0; and.pred %s, %s, %s;",
                   stays->name, flag->name, flag->name, stays->name);
    }
    return GR_OK;
}

// A use reports once: then what the registers hold is told.
static gr_status put_use(ColliderWork *w, const Access *a, const Hoisted *h, unsigned k) {
    PtxStmt *at = h->d.at[k].at, *pragma = NULL;
    if (at->kind == PTX_INSTR)
        (void)gr_ptx_used_bytes(at, &pragma);
    at = pragma ? pragma : at;
    const PtxReg *raced = flag_of(h, h->d.at[k].of), *uses = raced;
    Access here = *a;
    Detour away;
    PtxLabel *same = gr_ptx_new_label(a->func);
    PtxOperand to = gr_ptx_label_operand(same);
    if (h->kept) {
        PtxReg *either = gr_ptx_new_reg(a->func, PTX_PRED);
        GR_PUT(a, at, "or.pred %s, %s, %s;", either->name, raced->name, h->kept->name);
        uses = either;
    }
    if (h->d.at[k].pred) {
        PtxOperand pred = gr_ptx_reg_operand(h->d.at[k].pred);
        PtxReg *both = gr_ptx_new_reg(a->func, PTX_PRED);
        if (h->d.at[k].negated)
            GR_PUT_OPS(a, at, &pred, 1, "not.pred %s, $0; and.pred %s, %s, %s;", both->name, both->name,
                       both->name, uses->name);
        else
            GR_PUT_OPS(a, at, &pred, 1, "and.pred %s, $0, %s;", both->name, uses->name);
        uses = both;
    }
    GR_MUST(gr_together_open_detour(w, &here, at, uses, &away));
    if (h->kept) {
        GR_MUST(gr_segment_used(w, a, away.at, h->kept, h->words));
        GR_PUT_OPS(a, away.at, &to, 1, "@!%s bra $0;", raced->name);
    }
    GR_MUST(gr_collider_report(w, a, away.at, GR_CLASS_CLOBBERED_READ, h->address, h->expected, h->seen));
    for (unsigned x = 0; x < h->d.n_holders; x++)
        if (is_first_of(h, x))
            GR_MUST(put_false(a, away.at, h->raced[x]));
    if (h->kept)
        gr_ptx_insert_label(a->func, away.at, same);
    return gr_collider_close_detour(&here, &away);
}

gr_status gr_collider_put_uses(ColliderWork *w, Access *a, Hoisted *h) {
    for (unsigned k = 0; k < h->d.n_holders; k++) {
        const PtxReg *r = h->d.holder[k].reg;
        if (h->d.holder[k].by != a->stmt && !h->shares[k])
            GR_MUST(put_step(a, h, k));
        if (!is_first_of(h, k))
            continue;
        if (h->d.holder[k].by == a->stmt)
            GR_MUST(put_false(a, a->before, h->raced[k]));
        GR_MUST(put_false(a, gr_function_start(a->func), h->raced[k]));
        if (!is_only_ours(h, r))
            GR_MUST(put_ends(a, h, r, h->raced[k]));
    }
    if (h->kept) {
        GR_MUST(put_false(a, a->before, h->kept));
        GR_MUST(put_false(a, gr_function_start(a->func), h->kept));
    }
    for (unsigned k = 0; k < h->d.n; k++)
        GR_MUST(put_use(w, a, h, k));
    return GR_OK;
}
