// SPDX-License-Identifier: Apache-2.0
#include "engines/collider/pass/collider_held.h"

#include "base/str.h"
#include "engines/collider/pass/collider_time.h"

// Seven copies of eight are held; in three windows of four a held copy comes or goes though its own thread does not
// read it there.
static const uint32_t holds = 7u << 29, comes = 3u << 30;

gr_status gr_held_begin(ColliderWork *w, PtxFunc *f, HeldCopy *h, const GrSiteStatus *status) {
    w->held = NULL;
    if (!gr_copy_may_be_late(w))
        return GR_OK;
    for (PtxStmt *s = f->first; s && !w->held; s = s->next) {
        Copy c;
        const PtxSite *site = s->site && !s->tag.inserted ? &w->module->sites[s->site] : NULL;
        if (!site || s->instr->op != PTX_OP_CP || gr_site_is_left_alone(status[s->site]) ||
            gr_copy_read(site, false, w->err, &c) != GR_SITE_CHECKED || c.bulk)
            continue;
        *h = (HeldCopy){.held = gr_ptx_new_reg(f, PTX_PRED),
                        .site = gr_ptx_new_reg(f, PTX_U32),
                        .dst = gr_ptx_new_reg(f, PTX_U64),
                        .src = gr_ptx_new_reg(f, PTX_U64),
                        .bytes = gr_ptx_new_reg(f, PTX_U32),
                        .sum = gr_ptx_new_reg(f, PTX_U64),
                        .group = gr_ptx_new_reg(f, PTX_U32),
                        .groups = gr_ptx_new_reg(f, PTX_U32),
                        .of = *site};
        w->held = h;
    }
    return GR_OK;
}

// The runtime's function `how`, for the lanes of `p`, which hold a copy; `delay` comes before.
static gr_status put_copy(const ColliderWork *w, const Access *a, PtxStmt *at, const PtxReg *p,
                          const char *how, const char *delay) {
    const HeldCopy *h = w->held;
    return gr_access_put(a, at, NULL, 0, "@%s call __gr%s_copy_%s, (%s, %s, %s, %s, %s, %s);", p->name,
                         w->o->suffix, how, h->site->name, h->dst->name, h->src->name, h->bytes->name,
                         h->sum->name, delay);
}

static gr_status put_late(ColliderWork *w, const Access *a, PtxStmt *at, const PtxReg *p, const char *how) {
    char delay[DELAY_TEXT];
    GR_MUST(gr_collider_draw(w, a, at, WAIT_POISON, gr_copy_delay_ns(w) / 2, delay));
    return put_copy(w, a, at, p, how, delay);
}

// The held copy comes, and is held no more.
static gr_status put_end(ColliderWork *w, const Access *a, PtxStmt *at, const PtxReg *p, const char *how) {
    GR_MUST(put_late(w, a, at, p, how));
    return gr_access_put(a, at, NULL, 0, "@%s setp.ne.u32 %s, 0, 0;", p->name, w->held->held->name);
}

// ---- The issue -----------------------------------------------------------------------------------------------------

gr_status gr_held_prepare(ColliderWork *w, Copy *c) {
    w->issues = NULL;
    return w->held ? gr_access_performs(&c->dst, c->dst.before, &w->issues) : GR_OK;
}

// Of what was read: one number, which a change of either half changes.
static gr_status put_sum(Access *a, const PtxOperand *v, PtxReg **sum) {
    PtxReg *high;
    GR_MUST(gr_access_widen(a, a->before, v[0], a->bytes * 8, sum));
    if (a->n > 1) {
        GR_MUST(gr_access_widen(a, a->before, v[1], a->bytes * 8, &high));
        GR_PUT(a, a->before, "mad.lo.u64 %s, %s, %llu, %s;", (*sum)->name, high->name,
               (unsigned long long)GR_HELD_FACTOR, (*sum)->name);
    }
    return GR_OK;
}

gr_status gr_held_take(ColliderWork *w, Copy *c, const PtxOperand *v) {
    HeldCopy *h = w->held;
    Access *a = &c->dst;
    if (!h)
        return GR_OK;
    PtxReg *take = gr_ptx_new_reg(a->func, PTX_PRED), *both = gr_ptx_new_reg(a->func, PTX_PRED);
    PtxReg *bytes = gr_ptx_new_reg(a->func, PTX_U32), *dst, *src, *sum;
    GR_MUST(gr_collider_chance(w, a, a->before, holds, take));
    if (a->guard)
        GR_PUT(a, a->before, "and.pred %s, %s, %s;", take->name, take->name, a->guard->name);
    GR_PUT(a, a->before, "and.pred %s, %s, %s;", both->name, take->name, h->held->name);
    GR_MUST(put_copy(w, a, a->before, both, "held", "0"));
    GR_MUST(gr_copy_generic(a, a->before, &dst));
    GR_MUST(gr_copy_generic(&c->src, a->before, &src));
    GR_MUST(put_sum(a, v, &sum));
    // The low byte is how many are written, the next one how many are read.
    GR_PUT(a, a->before, "mov.u32 %s, %u;", bytes->name, c->bytes * 0x101);
    if (c->src.guard != a->guard)
        GR_PUT(a, a->before, "selp.b32 %s, %s, %u, %s;", bytes->name, bytes->name, c->bytes,
               c->src.guard->name);
    const char *t = take->name;
    GR_PUT(a, a->before,
           "@%s mov.u32 %s, %u; @%s mov.u64 %s, %s; @%s mov.u64 %s, %s; @%s mov.u32 %s, %s;"
           "@%s mov.u64 %s, %s; @%s mov.u32 %s, %s; @%s setp.eq.u32 %s, 0, 0;"
           "@%s setp.ne.u32 %s, 0, 0;",
           t, h->site->name, a->site->id, t, h->dst->name, dst->name, t, h->src->name, src->name, t,
           h->bytes->name, bytes->name, t, h->sum->name, sum->name, t, h->group->name, h->groups->name, t,
           h->held->name, t, w->issues->name);
    PtxInstr *i = a->stmt->instr;
    i->guard = w->issues;
    i->guard_negated = false;
    return GR_OK;
}

// ---- Later ---------------------------------------------------------------------------------------------------------

// Whether the load is of the 16 bytes that the held copy is about to write to, or some of them.
static gr_status put_reads_held(ColliderWork *w, const Access *a, PtxStmt *at, const PtxReg *now) {
    PtxSpace space = a->site->space;
    PtxReg *address, *p = gr_ptx_new_reg(a->func, PTX_PRED);
    if (space == PTX_GLOBAL)
        return GR_OK;
    GR_MUST(space == PTX_GENERIC ? gr_access_address64(a, at, &address) : gr_copy_generic(a, at, &address));
    return gr_access_put(a, at, NULL, 0, "xor.b64 %s, %s, %s; setp.lt.u64 %s, %s, 16; or.pred %s, %s, %s;",
                         address->name, address->name, w->held->dst->name, p->name, address->name, now->name,
                         now->name, p->name);
}

gr_status gr_held_in_window(ColliderWork *w, const Access *a, unsigned n, PtxStmt *at) {
    if (!w->held)
        return GR_OK;
    PtxReg *now = gr_ptx_new_reg(a->func, PTX_PRED);
    GR_MUST(gr_collider_chance(w, a, at, comes, now));
    for (unsigned k = 0; k < n; k++)
        GR_MUST(put_reads_held(w, &a[k], at, now));
    GR_PUT(a, at, "and.pred %s, %s, %s;", now->name, now->name, w->held->held->name);
    return put_late(w, a, at, now, "turned");
}

gr_status gr_held_at_store(ColliderWork *w, const Access *a, PtxStmt *at) {
    if (!w->held)
        return GR_OK;
    PtxReg *now = gr_ptx_new_reg(a->func, PTX_PRED);
    GR_MUST(gr_collider_chance(w, a, at, comes, now));
    GR_PUT(a, at, "and.pred %s, %s, %s;", now->name, now->name, w->held->held->name);
    return put_copy(w, a, at, now, "turned", "0");
}

static bool is_of_copies(const PtxStmt *s, PtxMod what) {
    return s->instr->op == PTX_OP_CP && !gr_ptx_instr_has(s->instr, PTX_MOD_bulk) &&
           gr_ptx_instr_has(s->instr, what);
}

static gr_status finish_at(ColliderWork *w, const Access *a, PtxStmt *s) {
    const HeldCopy *h = w->held;
    unsigned flags = gr_ptx_instr_flags(s->instr);
    if (flags & PTX_F_EXIT)
        return put_end(w, a, s, h->held, a->func->is_entry ? "left" : "held");
    if (flags & PTX_F_CALL) // what is called may wait
        return put_end(w, a, s, h->held, "held");
    if (is_of_copies(s, PTX_MOD_commit_group))
        return gr_access_put(a, s, NULL, 0, "add.u32 %s, %s, 1;", h->groups->name, h->groups->name);
    if (is_of_copies(s, PTX_MOD_wait_all))
        return put_end(w, a, s, h->held, "held");
    if (is_of_copies(s, PTX_MOD_mbarrier)) // it tells others of cp.async alone
        return put_end(w, a, s, h->held, "issued");
    if (is_of_copies(s, PTX_MOD_wait_group)) {
        PtxReg *since = gr_ptx_new_reg(a->func, PTX_U32), *covered = gr_ptx_new_reg(a->func, PTX_PRED);
        GR_PUT_OPS(a, s, s->instr->operands, 1, "sub.u32 %s, %s, %s; setp.gt.and.u32 %s, %s, $0, %s;",
                   since->name, h->groups->name, h->group->name, covered->name, since->name, h->held->name);
        GR_MUST(put_end(w, a, s, covered, "held"));
    }
    return GR_OK;
}

gr_status gr_held_finish(ColliderWork *w, PtxFunc *f, PtxStmt *at) {
    HeldCopy *h = w->held;
    if (!h)
        return GR_OK;
    Access a = {.func = f, .site = &h->of, .err = w->err};
    const PtxStmt *last = f->last;
    for (PtxStmt *s = f->first; s; s = s == last ? NULL : s->next) {
        // Of what is inserted only the end of the function is an end.
        bool ends = s->kind == PTX_INSTR && (gr_ptx_instr_flags(s->instr) & PTX_F_EXIT);
        if (s->kind == PTX_INSTR && (ends || !s->tag.inserted))
            GR_MUST(finish_at(w, &a, s));
    }
    return gr_emit(f, at, 0, NULL, 0, w->err, "setp.ne.u32 %s, 0, 0; mov.u32 %s, 0;", h->held->name,
                   h->groups->name);
}
