// SPDX-License-Identifier: Apache-2.0
#include "engines/collider/pass/collider_later.h"

#include "base/str.h"
#include "engines/collider/pass/collider_again.h"
#include "engines/collider/pass/collider_time.h"

// Of so many operations of a function, each of which takes registers; three of four are issued later.
enum { LATER_MOST = 4, LATER_BEHIND = 4 }; // the second: where others come before, times as late
static const uint32_t later = 3u << 30;

// An operation that a thread may hold.
struct LaterIssue {
    struct LaterIssue *next; // the one that comes before it in the text
    Access of;
    const char *text; // the operation, of registers of its own
    PtxReg *held;     // whether it is still to be issued
    CopyEnds ends;    // what is looked at before; hash NULL: nothing is
    unsigned n;       // how many there are up to this one
};

gr_status gr_later_prepare(ColliderWork *w, Access *a) {
    w->issues = NULL;
    if (!gr_copy_may_be_late(w) || (w->later && w->later->n >= LATER_MOST))
        return GR_OK;
    return gr_access_performs(a, a->before, &w->issues);
}

// ---- The issue -----------------------------------------------------------------------------------------------------

// A register that keeps what `o` is, and its name as an operand.
static gr_status keep(const Access *a, const PtxOperand *o, const PtxReg *take, StrBuf *text) {
    if (o->kind == PTX_O_INT) {
        gr_str_addf(text, "%lld", (long long)o->bits);
        return GR_OK;
    }
    unsigned bits = gr_ptx_type_bits(o->reg->type);
    PtxReg *r = gr_ptx_new_reg(a->func, bits == 64 ? PTX_B64 : bits == 32 ? PTX_B32 : PTX_B16);
    GR_PUT_OPS(a, a->before, o, 1, "@%s mov.b%u %s, $0;", take->name, bits, r->name);
    gr_str_add(text, r->name);
    return GR_OK;
}

static gr_status keep_address(const Access *a, const PtxOperand *o, const PtxReg *take, StrBuf *text) {
    Access end = *a;
    PtxReg *now, *r = gr_ptx_new_reg(a->func, PTX_B64);
    end.address = *o;
    GR_MUST(gr_access_address64(&end, a->before, &now));
    GR_PUT(a, a->before, "@%s mov.b64 %s, %s;", take->name, r->name, now->name);
    gr_str_addf(text, "[%s]", r->name);
    return GR_OK;
}

static bool is_value(const PtxOperand *o) {
    return o->kind == PTX_O_INT ||
           (o->kind == PTX_O_REG && o->reg->type != PTX_PRED && gr_ptx_type_bits(o->reg->type) >= 16);
}

static bool can_stand_again(const PtxInstr *i) {
    for (unsigned k = 0; k < i->n_operands; k++) {
        const PtxOperand *o = &i->operands[k];
        bool good = o->kind == PTX_O_ADDRESS ? o->n_sub == 1 : o->kind == PTX_O_VECTOR || is_value(o);
        for (unsigned v = 0; o->kind == PTX_O_VECTOR && v < o->n_sub; v++)
            good = good && is_value(&o->sub[v]);
        if (!good)
            return false;
    }
    return true;
}

static gr_status keep_operation(const Access *a, const PtxReg *take, StrBuf *text) {
    const PtxInstr *i = a->stmt->instr;
    gr_str_add(text, i->opcode);
    for (unsigned k = 0; k < i->n_mods; k++)
        gr_str_addf(text, ".%s", i->mods[k].text);
    for (unsigned k = 0; k < i->n_operands; k++) {
        const PtxOperand *o = &i->operands[k];
        gr_str_add(text, k ? ", " : " ");
        if (o->kind == PTX_O_ADDRESS) {
            GR_MUST(keep_address(a, o, take, text));
        } else if (o->kind == PTX_O_VECTOR) {
            for (unsigned v = 0; v < o->n_sub; v++) {
                gr_str_add(text, v ? ", " : "{");
                GR_MUST(keep(a, &o->sub[v], take, text));
            }
            gr_str_add(text, "}");
        } else {
            GR_MUST(keep(a, o, take, text));
        }
    }
    return GR_OK;
}

// What is looked at before a bulk copy is issued.
static gr_status keep_ends(LaterIssue *l, const PtxReg *take, const CopyEnds *now) {
    PtxFunc *f = l->of.func;
    const char *t = take->name;
    l->ends = (CopyEnds){gr_ptx_new_reg(f, PTX_U64), gr_ptx_new_reg(f, PTX_U64), gr_ptx_new_reg(f, PTX_U32),
                         gr_ptx_new_reg(f, PTX_U64)};
    return gr_access_put(&l->of, l->of.before, NULL, 0,
                         "@%s mov.u64 %s, %s; @%s mov.u64 %s, %s; @%s mov.b32 %s, %s; @%s mov.u64 %s, %s;", t,
                         l->ends.dst->name, now->dst->name, t, l->ends.src->name, now->src->name, t,
                         l->ends.size->name, now->size->name, t, l->ends.hash->name, now->hash->name);
}

gr_status gr_later_take(ColliderWork *w, Access *a, const CopyEnds *ends) {
    gr_status st = GR_OK;
    StrBuf text = {0};
    PtxInstr *i = a->stmt->instr;
    if (!w->issues || !can_stand_again(i))
        return GR_OK;
    LaterIssue *l = GR_NEW(&w->module->arena, LaterIssue);
    PtxSite *site = l ? GR_NEW(&w->module->arena, PtxSite) : NULL;
    GR_NEED(site, w->err);
    *site = *a->site;
    *l = (LaterIssue){.next = w->later,
                      .of = *a,
                      .held = gr_ptx_new_reg(a->func, PTX_PRED),
                      .n = w->later ? w->later->n + 1 : 1};
    PtxReg *take = gr_ptx_new_reg(a->func, PTX_PRED);
    GR_TRY(gr_collider_chance(w, a, a->before, later, take));
    GR_TRY(gr_access_put(a, a->before, NULL, 0, "and.pred %s, %s, %s;", take->name, take->name,
                         w->issues->name));
    GR_TRY(keep_operation(a, take, &text));
    l->text = text.oom ? NULL : gr_arena_strdup(&w->module->arena, text.data);
    GR_TRY(l->text ? GR_OK : gr_no_memory(w->err));
    if (ends)
        GR_TRY(keep_ends(l, take, ends));
    GR_TRY(gr_access_put(a, a->before, NULL, 0, "@%s setp.eq.u32 %s, 0, 0; @%s setp.ne.u32 %s, 0, 0;",
                         take->name, l->held->name, take->name, w->issues->name));
    l->of.site = site;
    w->later = l;
    i->guard = w->issues;
    i->guard_negated = false;
done:
    gr_str_free(&text);
    return st;
}

// ---- Later ---------------------------------------------------------------------------------------------------------

static uint8_t bit_of(const LaterIssue *l) { return (uint8_t)(1u << (l->n - 1)); }

// Where `issues` holds, of which the thread holds the operation. The look takes microseconds, so it comes before what
// makes a bulk copy late.
static gr_status put_issue(ColliderWork *w, const LaterIssue *l, PtxStmt *at, const PtxReg *issues,
                           uint32_t times) {
    char delay[DELAY_TEXT];
    const char *p = issues->name;
    if (l->ends.hash)
        GR_PUT(&l->of, at, "@%s call __gr%s_bulk_held, (%u, %s, %s, %s, %s);", p, w->o->suffix,
               l->of.site->id, l->ends.dst->name, l->ends.src->name, l->ends.size->name, l->ends.hash->name);
    if (gr_ptx_instr_has(l->of.stmt->instr, PTX_MOD_bulk)) {
        GR_MUST(gr_bulk_jam(w, &l->of, at, times, issues));
    } else {
        GR_MUST(gr_collider_draw(w, &l->of, at, WAIT_POISON, gr_copy_delay_ns(w) / 2, delay));
        GR_PUT(&l->of, at, "@%s nanosleep.u32 %s;", p, delay);
    }
    return gr_access_put(&l->of, at, NULL, 0, "@%s %s; @%s setp.ne.u32 %s, 0, 0;", p, l->text, p,
                         l->held->name);
}

// All that may be held: the newest first, behind the oldest in one case of two. So each may be the last one to come. A
// copy behind another one comes later: threads that were to wait for both go through windows of their own before they
// read what it brings.
static gr_status put_issues(ColliderWork *w, uint8_t held, PtxStmt *at) {
    const LaterIssue *oldest = NULL;
    for (const LaterIssue *l = w->later; l; l = l->next)
        if (held & bit_of(l))
            oldest = l;
    if (held & (held - 1)) {
        PtxReg *p = gr_ptx_new_reg(oldest->of.func, PTX_PRED);
        GR_MUST(gr_collider_chance(w, &oldest->of, at, 1u << 31, p));
        GR_PUT(&oldest->of, at, "and.pred %s, %s, %s;", p->name, p->name, oldest->held->name);
        GR_MUST(put_issue(w, oldest, at, p, 1));
    }
    for (const LaterIssue *l = w->later; l; l = l->next)
        if (held & bit_of(l))
            GR_MUST(put_issue(w, l, at, l->held, held & (held - 1) ? LATER_BEHIND : 1));
    return GR_OK;
}

// A set of operations that a thread may hold, and whether the place has been passed.
enum { PASSED = 1u << LATER_MOST };

static bool goes_back(const PtxStmt *s, const uint8_t *at) {
    for (unsigned k = 0; k < s->instr->n_operands; k++) {
        const PtxLabel *l = s->instr->operands[k].kind == PTX_O_LABEL ? s->instr->operands[k].label : NULL;
        if (!l || at[l->index] & PASSED || (l->stmt && l->stmt->n_targets)) // brx.idx may go anywhere
            return true;
    }
    return s->instr->n_operands == 0;
}

// Whether the thread may wait here, or not come forward for long.
static bool may_wait(const ColliderWork *w, const PtxStmt *s, const uint8_t *at) {
    const PtxInstr *i = s->instr;
    if (gr_ptx_instr_flags(i) & PTX_F_BRANCH)
        return goes_back(s, at);
    if (gr_ptx_instr_has(i, PTX_MOD_arrive) || gr_ptx_instr_has(i, PTX_MOD_expect_tx) || i->op == PTX_OP_CP)
        return false;
    if (i->op == PTX_OP_LD || i->op == PTX_OP_ST)
        return s->site && w->module->sites[s->site].strong;
    return i->op != PTX_OP_MAPA && !gr_again_computes(i);
}

// `held` may be held at `s`, and goes on to where `s` may go. Nothing is held where the thread goes back, so text order
// is enough.
static uint8_t follow(const PtxStmt *s, uint8_t held, uint8_t *at) {
    if (!(gr_ptx_instr_flags(s->instr) & PTX_F_BRANCH))
        return held;
    for (unsigned k = 0; k < s->instr->n_operands; k++)
        if (s->instr->operands[k].kind == PTX_O_LABEL)
            at[s->instr->operands[k].label->index] |= held;
    return s->instr->guard ? held : 0;
}

gr_status gr_later_finish(ColliderWork *w, PtxFunc *f, PtxStmt *start) {
    if (!w->later)
        return GR_OK;
    uint8_t *at = GR_NEW_ARRAY(&w->module->arena, uint8_t, (size_t)f->n_labels + 1), held = 0;
    GR_NEED(at, w->err);
    for (PtxStmt *s = f->first; s; s = s->next) {
        if (s->kind == PTX_LABEL_DEF) {
            held |= at[s->label->index] & (PASSED - 1);
            at[s->label->index] |= PASSED;
        }
        // Of what is inserted only the end of the function is an end.
        bool ends = s->kind == PTX_INSTR && (gr_ptx_instr_flags(s->instr) & PTX_F_EXIT);
        if (s->kind != PTX_INSTR || (s->tag.inserted && !ends))
            continue;
        if (held && may_wait(w, s, at)) {
            GR_MUST(put_issues(w, held, s));
            held = 0;
        }
        held = follow(s, held, at);
        for (const LaterIssue *l = w->later; l; l = l->next)
            held |= l->of.stmt == s ? bit_of(l) : 0;
    }
    for (const LaterIssue *l = w->later; l; l = l->next)
        GR_EMIT(f, start, w->err, "setp.ne.u32 %s, 0, 0;", l->held->name);
    return GR_OK;
}
