// SPDX-License-Identifier: Apache-2.0
#include "engines/collider/pass/collider_segment.h"

#include "engines/collider/device/segment.h"
#include "engines/collider/pass/collider_halves.h"
#include "engines/collider/pass/collider_look.h"
#include "engines/collider/pass/collider_pace.h"
#include "engines/collider/pass/collider_stale.h"
#include "engines/collider/pass/collider_time.h"
#include "engines/collider/pass/collider_together.h"
#include "passes/runtime.h"

#include <stddef.h>

extern const char gr_segment_runtime_ptx[];

// ---- What is kept, and which stores may be late ---------------------------------------------------------------------

static bool keeps(const ColliderOptions *o) {
    return o->thinned && !o->budget && !o->choose && o->read_delay_ns > 1 && o->write_delay_ns > 1;
}

static bool has_generic(const Access *a) {
    PtxSpace space = a->site->space;
    return a->address.kind == PTX_O_ADDRESS && a->address.n_sub == 1 &&
           (space == PTX_GLOBAL || space == PTX_SHARED || space == PTX_SHARED_CTA ||
            space == PTX_SHARED_CLUSTER || space == PTX_GENERIC);
}

// Whether each place has one generic address. Where it may have another one, what the thread stores there ends all that
// it keeps.
static bool is_followed(const ColliderWork *w, const Access *a) {
    PtxSpace space = a->site->space;
    return has_generic(a) && space != PTX_SHARED_CLUSTER && (space == PTX_GLOBAL || !w->segment->aliases);
}

static bool is_early(const struct Segment *g, const PtxStmt *s) {
    for (unsigned k = 0; k < g->n_early; k++)
        if (g->early[k] == s)
            return true;
    return false;
}

// Where threads wait for the launch's others.
static bool is_end(const struct Segment *g, const PtxStmt *s) {
    return s->instr->op != PTX_OP_TRAP && gr_ptx_instr_flags(s->instr) & PTX_F_EXIT && !is_early(g, s);
}

static bool can_be_late(const struct Segment *g, const PtxStmt *s) {
    bool whole, zero;
    const PtxStmt *end = gr_sync_straight_end(s);
    if (!end)
        return false;
    return is_end(g, end) ||
           (g->meets && !g->polls && gr_sync_is_barrier(end->instr, &whole, &zero) && whole);
}

bool gr_segment_may_be_late(const ColliderWork *w, const Access *a) {
    for (unsigned k = 0; k < a->n; k++)
        if (a->value[k]->kind == PTX_O_SINK)
            return false;
    return w->segment && w->o->holds && !a->nested && a->bytes >= sizeof(uint32_t) &&
           a->n * a->bytes <= 4 * sizeof(uint32_t) && is_followed(w, a) && can_be_late(w->segment, a->stmt);
}

// ---- What is inserted ----------------------------------------------------------------------------------------------

static bool has_others(const PtxFunc *f, const GrSiteStatus *status) {
    for (const PtxStmt *s = f->first; s; s = s->next)
        if (s->site && gr_site_is_left_alone(status[s->site]))
            return true;
    return false;
}

gr_status gr_segment_begin(ColliderWork *w, const OrderModule *m, const PtxFunc *f,
                           const GrSiteStatus *status, struct Segment *g) {
    PtxFunc *func = (PtxFunc *)f;
    w->segment = NULL;
    *g = (struct Segment){0};
    gr_arena_init(&g->arena);
    if (!w->pace || w->brief || !keeps(w->o) || !f->is_entry || has_others(f, status))
        return GR_OK;
    g->entries = gr_ptx_new_reg(func, PTX_U64);
    g->kept = gr_ptx_new_reg(func, PTX_U32);
    g->left = gr_ptx_new_reg(func, PTX_U32);
    g->meets = gr_sync_can_meet(m, f);
    g->polls = gr_sync_polls_in_loops(f, w->pace);
    g->aliases = gr_sync_aliases(m, f);
    for (const PtxStmt *s = f->first; s; s = s->next)
        g->accesses = g->accesses || s->site;
    w->segment = g;
    GR_MUST(gr_sync_early_ends(f, &g->arena, &g->early, &g->n_early, w->err));
    // Where a thread may end while others begin, these may take the launch for the next one.
    g->meets = g->meets && !g->n_early;
    for (const PtxStmt *s = f->first; s && !g->late_at_end; s = s->next)
        if (s->kind == PTX_INSTR && s->instr->op == PTX_OP_ST && gr_sync_effect(s->instr) == ORDER_WRITES &&
            w->o->poison && w->o->holds) {
            const PtxStmt *end = gr_sync_straight_end(s);
            g->late_at_end = end && is_end(g, end);
        }
    w->watches = gr_ptx_new_reg(func, PTX_PRED);
    w->few = gr_ptx_new_reg(func, PTX_PRED);
    g->whole = gr_ptx_new_reg(func, PTX_PRED);
    g->small = gr_ptx_new_reg(func, PTX_PRED);
    g->threads = gr_ptx_new_reg(func, PTX_U32);
    g->counts = gr_ptx_new_reg(func, PTX_PRED);
    g->acts = gr_ptx_new_reg(func, PTX_PRED);
    g->passes = gr_ptx_new_reg(func, PTX_U32);
    g->late_starts = gr_ptx_new_reg(func, PTX_PRED);
    return GR_OK;
}

void gr_segment_free(struct Segment *g) { gr_arena_free(&g->arena); }

static Access access_of(const ColliderWork *w, PtxFunc *f, PtxStmt *s, bool nested) {
    return (Access){.func = f,
                    .stmt = s,
                    .before = s,
                    .after = s,
                    .report = s,
                    .site = s->site ? &w->module->sites[s->site] : &w->segment->nowhere,
                    .nested = nested,
                    .err = w->err};
}

// A statement that writes, and of which nothing else is known.
static gr_status put_forget(ColliderWork *w, PtxFunc *f, PtxStmt *s, bool nested) {
    Access a = access_of(w, f, s, nested);
    PtxOperand g = s->instr->guard ? gr_ptx_reg_operand(s->instr->guard) : (PtxOperand){.kind = PTX_O_SINK};
    return gr_access_put(&a, s, &g, s->instr->guard ? 1 : 0, "%smov.u32 %s, 0;",
                         !s->instr->guard          ? ""
                         : s->instr->guard_negated ? "@!$0 "
                                                   : "@$0 ",
                         w->segment->kept->name);
}

// Before a barrier of the whole block: another one.
static gr_status put_meeting(ColliderWork *w, const Access *a) {
    const PtxInstr *i = a->stmt->instr;
    bool aligned = i->op == PTX_OP_BAR || gr_ptx_instr_has(i, PTX_MOD_aligned);
    return gr_access_put(a, a->stmt, NULL, 0, "@%s %s 0;", w->segment->whole->name,
                         aligned ? "bar.sync" : "barrier.sync");
}

static gr_status put_look(const ColliderWork *w, const Access *a, PtxStmt *at) {
    return gr_access_put(a, at, NULL, 0, "call __gr%s_segment_look, (%s, %s);", w->o->suffix,
                         w->segment->entries->name, w->segment->kept->name);
}

// A way out of line that is taken in launches in which something may be kept, and there a look.
static gr_status put_look_if_kept(ColliderWork *w, Access *a, bool last) {
    const char *kept = w->segment->kept->name;
    PtxReg *condition = w->watches, *p;
    Detour d;
    if (a->stmt->instr->guard) {
        condition = gr_ptx_new_reg(a->func, PTX_PRED);
        GR_MUST(gr_access_performs(a, a->stmt, &p));
        GR_PUT(a, a->stmt, "and.pred %s, %s, %s;", condition->name, w->watches->name, p->name);
    }
    GR_MUST(gr_together_open_detour(w, a, a->stmt, condition, &d));
    GR_MUST(put_look(w, a, d.at));
    if (last)
        GR_PUT(a, d.at, "mov.u32 %s, 0;", kept);
    return gr_collider_close_detour(a, &d);
}

// At a barrier where stores may be late: all are here; a look; the late stores; all are here again.
static gr_status put_late_stores(ColliderWork *w, Access *a) {
    const struct Segment *g = w->segment;
    Detour d;
    GR_MUST(put_look_if_kept(w, a, false));
    GR_MUST(gr_together_open_detour(w, a, a->stmt, g->late, &d));
    GR_PUT(a, d.at, "call __gr%s_segment_store, (%s, %s); setp.ne.u32 %s, 0, 0;", w->o->suffix,
           g->entries->name, g->kept->name, g->late->name);
    GR_MUST(gr_collider_close_detour(a, &d));
    return put_meeting(w, a);
}

// At a thread's end: the launch's other threads come to theirs, and the thread looks meanwhile. One that may leave
// others behind at a barrier does not wait.
static gr_status put_meeting_of_launch(const ColliderWork *w, const Access *a, PtxStmt *at, unsigned part) {
    uint32_t max_ns = w->o->read_delay_ns, kernel = a->func->index % GR_LAUNCH_COUNTS;
    uint32_t longest = max_ns > UINT32_MAX / SEGMENT_END ? UINT32_MAX : max_ns * SEGMENT_END;
    const char *mine = gr_ptx_new_reg(a->func, PTX_U32)->name,
               *waited = gr_ptx_new_reg(a->func, PTX_U32)->name,
               *more = gr_ptx_new_reg(a->func, PTX_PRED)->name;
    PtxLabel *again = gr_ptx_new_label(a->func);
    PtxOperand to = gr_ptx_label_operand(again);
    GR_PUT(a, at, "call (%s), __gr%s_segment_come, (%u, %u, %s); mov.u32 %s, 0;", mine, w->o->suffix, kernel,
           part, w->segment->threads->name, waited);
    if (is_early(w->segment, a->stmt))
        return GR_OK;
    gr_ptx_insert_label(a->func, at, again);
    GR_MUST(put_look(w, a, at));
    return gr_access_put(
        a, at, &to, 1,
        "call (%s), __gr%s_segment_wait, (%u, %u, %s, %s, %u); setp.ne.u32 %s, %s, 0; @%s bra $0;", waited,
        w->o->suffix, kernel, part, mine, waited, longest, more, waited, more);
}

// The thread's end: in small launches a meeting; a look.
static gr_status put_last(ColliderWork *w, Access *a) {
    const struct Segment *g = w->segment;
    PtxReg *p = g->acts, *q;
    Detour d;
    PtxLabel *alone = gr_ptx_new_label(a->func);
    PtxOperand to = gr_ptx_label_operand(alone);
    if (a->stmt->instr->guard) {
        p = gr_ptx_new_reg(a->func, PTX_PRED);
        GR_MUST(gr_access_performs(a, a->stmt, &q));
        GR_PUT(a, a->stmt, "and.pred %s, %s, %s;", p->name, g->acts->name, q->name);
    }
    GR_MUST(gr_collider_open_detour(a, a->stmt, p, &d));
    GR_PUT_OPS(a, d.at, &to, 1, "@!%s bra $0;", g->small->name);
    GR_MUST(put_meeting_of_launch(w, a, d.at, 0));
    if (g->late_at_end) {
        GR_MUST(put_look(w, a, d.at));
        GR_PUT(a, d.at, "call __gr%s_segment_store, (%s, %s);", w->o->suffix, g->entries->name,
               g->kept->name);
        GR_MUST(put_meeting_of_launch(w, a, d.at, 1));
    }
    gr_ptx_insert_label(a->func, d.at, alone);
    GR_MUST(put_look(w, a, d.at));
    GR_PUT(a, d.at, "mov.u32 %s, 0;", g->kept->name);
    if (g->late)
        GR_PUT(a, d.at, "setp.ne.u32 %s, 0, 0;", g->late->name);
    GR_MUST(gr_collider_count_launch(w, a, d.at, g->counts));
    return gr_collider_close_detour(a, &d);
}

static gr_status put_end(ColliderWork *w, PtxFunc *f, PtxStmt *s, bool nested) {
    Access a = access_of(w, f, s, nested);
    const struct Segment *g = w->segment;
    bool whole = false, zero;
    if (gr_ptx_instr_flags(s->instr) & PTX_F_EXIT && s->instr->op != PTX_OP_TRAP)
        return put_last(w, &a);
    if (g->meets && gr_sync_is_barrier(s->instr, &whole, &zero) && whole)
        GR_MUST(put_meeting(w, &a));
    if (whole && g->meets && g->late)
        GR_MUST(put_late_stores(w, &a));
    GR_MUST(put_look_if_kept(w, &a, true));
    if (whole && g->meets) // so many barriers
        GR_PUT(&a, s, "add.s32 %s, %s, -1; setp.gt.and.s32 %s, %s, 0, %s;", g->passes->name, g->passes->name,
               g->whole->name, g->passes->name, g->whole->name);
    if (whole && g->meets && g->accesses)
        GR_MUST(gr_halves_again(w, &a, s->next, g->late_starts, g->passes, SEGMENT_BARRIERS));
    return GR_OK;
}

gr_status gr_segment_step(ColliderWork *w, PtxFunc *f, PtxStmt *s, bool nested) {
    struct Segment *g = w->segment;
    if (!g)
        return GR_OK;
    if (g->own)
        GR_MUST(put_forget(w, f, (PtxStmt *)g->own, nested));
    g->own = NULL;
    if (!s || s->kind != PTX_INSTR)
        return GR_OK;
    OrderEffect e = gr_sync_effect(s->instr);
    if (e == ORDER_WRITES)
        g->own = s;
    if (e == ORDER_ENDS)
        GR_MUST(put_end(w, f, s, nested));
    return GR_OK;
}

// At the statement `s`, where its window stays shut: what was inserted before it may stand elsewhere. All is kept no
// more.
static gr_status put_shut(ColliderWork *w, const Access *a, const PtxReg *open) {
    PtxStmt *s = a->stmt;
    const char *kept = w->segment->kept->name;
    PtxReg *p, *q;
    if (!s->instr->guard)
        return gr_access_put(a, s, NULL, 0, "@!%s mov.u32 %s, 0;", open->name, kept);
    q = gr_ptx_new_reg(a->func, PTX_PRED);
    GR_MUST(gr_access_performs(a, s, &p));
    return gr_access_put(a, s, NULL, 0, "not.pred %s, %s; and.pred %s, %s, %s; @%s mov.u32 %s, 0;", q->name,
                         open->name, q->name, q->name, p->name, q->name, kept);
}

// The same in a loop: in launches of few threads the rest stays kept, a few times. A way out of line, which is taken
// where something is kept.
static gr_status put_shut_in_loop(const ColliderWork *w, const Access *access, const PtxReg *open) {
    const struct Segment *g = w->segment;
    Access a = *access;
    PtxReg *own = gr_ptx_new_reg(a.func, PTX_PRED), *left = gr_ptx_new_reg(a.func, PTX_PRED), *p, *where;
    Detour d;
    GR_PUT(&a, a.stmt, "setp.ne.and.u32 %s, %s, 0, !%s;", own->name, g->kept->name, open->name);
    if (a.stmt->instr->guard) {
        GR_MUST(gr_access_performs(&a, a.stmt, &p));
        GR_PUT(&a, a.stmt, "and.pred %s, %s, %s;", own->name, own->name, p->name);
    }
    GR_MUST(gr_together_open_detour(w, &a, a.stmt, own, &d));
    GR_MUST(gr_collider_generic(&a, d.at, &where));
    GR_PUT(&a, d.at, "setp.le.u32 %s, %s, %u; setp.ge.and.s32 %s, %s, %u, %s; @%s sub.s32 %s, %s, %u;",
           left->name, g->threads->name, (unsigned)SEGMENT_FEW, left->name, g->left->name, SEGMENT_MOST / 2u,
           left->name, left->name, g->left->name, g->left->name, (unsigned)SEGMENT_SHUT);
    GR_PUT(&a, d.at, "@%s call __gr%s_segment_own, (%s, %s, %s, %u); selp.b32 %s, %s, 0, %s;", left->name,
           w->o->suffix, g->entries->name, g->kept->name, where->name, a.site->size, g->kept->name,
           g->kept->name, left->name);
    return gr_collider_close_detour(&a, &d);
}

gr_status gr_segment_own(ColliderWork *w, const Access *a, PtxStmt *at, const PtxReg *open) {
    struct Segment *g = w->segment;
    if (!g || g->own != a->stmt || !is_followed(w, a) || !a->site->size)
        return GR_OK;
    g->own = NULL;
    PtxReg *p = gr_ptx_new_reg(a->func, PTX_PRED), *where;
    // Outside loops a window is open wherever something may be kept, so there is no code for more.
    if (open)
        GR_MUST(open == w->pace->outside ? put_shut(w, a, open) : put_shut_in_loop(w, a, open));
    GR_MUST(gr_collider_generic(a, at, &where));
    if (a->guard) {
        PtxOperand guard = gr_ptx_reg_operand(a->guard);
        GR_PUT_OPS(a, at, &guard, 1, "setp.ne.and.u32 %s, %s, 0, $0;", p->name, g->kept->name);
    } else {
        GR_PUT(a, at, "setp.ne.u32 %s, %s, 0;", p->name, g->kept->name);
    }
    return gr_access_put(a, at, NULL, 0, "@%s call __gr%s_segment_own, (%s, %s, %s, %u);", p->name,
                         w->o->suffix, g->entries->name, g->kept->name, where->name, a->site->size);
}

// A word of the access, `offset` bytes behind its address. `now` is what memory has there.
static gr_status put_entry(const ColliderWork *w, const Access *a, PtxStmt *at, const PtxReg *address,
                           unsigned offset, const PtxReg *now, GrRaceClass class, unsigned state) {
    const struct Segment *g = w->segment;
    PtxReg *k = gr_ptx_new_reg(a->func, PTX_U32), *e = gr_ptx_new_reg(a->func, PTX_U64),
           *both = gr_ptx_new_reg(a->func, PTX_B64), *where = (PtxReg *)address;
    if (offset) {
        where = gr_ptx_new_reg(a->func, PTX_U64);
        GR_PUT(a, at, "add.s64 %s, %s, %u;", where->name, address->name, offset);
    }
    uint32_t space = a->site->space == PTX_SHARED_CLUSTER ? GR_META_SHARED : GR_META_GENERIC;
    uint32_t meta = (uint32_t) class | space << GR_META_SPACE | sizeof(uint32_t) << GR_META_SIZE;
    GR_PUT(a, at, "and.b32 %s, %s, %u; mad.wide.u32 %s, %s, %u, %s; mov.b64 %s, {%s, %u};", k->name,
           g->kept->name, GR_SEGMENT_KEEPS - 1u, e->name, k->name, (unsigned)sizeof(GrKept), g->entries->name,
           both->name, now->name, state);
    return gr_access_put(
        a, at, NULL, 0,
        "st.local.v2.u64 [%s], {%s, %s}; st.local.v2.u32 [%s+%u], {%u, %u}; add.u32 %s, %s, 1;", e->name,
        where->name, both->name, e->name, (unsigned)offsetof(GrKept, site), a->site->id, meta, g->kept->name,
        g->kept->name);
}

static bool uses_all(const Access *a, unsigned k) {
    uint64_t all = a->bytes < 8 ? (1ull << a->bytes * 8) - 1 : UINT64_MAX;
    return (a->used[k] & all) == all;
}

// What words of an access are kept: those of whole elements of 32 and 64 bits.
static bool is_kept(const ColliderWork *w, const Access *a, const PtxOperand *values, unsigned bits,
                    GrRaceClass class) {
    if (!w->segment || !has_generic(a) || a->bytes < sizeof(uint32_t) || bits != a->bytes * 8 ||
        a->n * a->bytes > GR_SEGMENT_KEEPS * sizeof(uint32_t))
        return false;
    for (unsigned k = 0; k < a->n; k++)
        if (values[k].kind != PTX_O_REG || (class == GR_CLASS_CLOBBERED_READ && !uses_all(a, k)))
            return false;
    return true;
}

static gr_status keep(ColliderWork *w, Access *a, PtxStmt *at, const PtxOperand *values, GrRaceClass class,
                      unsigned state) {
    bool late = state == GR_KEPT_LATE;
    PtxReg *address, *word[2];
    GR_MUST(gr_collider_generic(a, at, &address));
    for (unsigned k = 0; k < a->n; k++) {
        unsigned n = a->bytes / sizeof(uint32_t);
        word[0] = gr_ptx_new_reg(a->func, PTX_B32);
        word[1] = n > 1 ? gr_ptx_new_reg(a->func, PTX_B32) : NULL;
        if (n > 1)
            GR_PUT_OPS(a, at, &values[k], 1, "mov.b64 {%s, %s}, $0;", word[0]->name, word[1]->name);
        else
            GR_PUT_OPS(a, at, &values[k], 1, "mov.b32 %s, $0;", word[0]->name);
        for (unsigned j = 0; j < n; j++) {
            if (late && !j)
                GR_PUT(a, at, "xor.b32 %s, %s, 1;", word[0]->name, word[0]->name);
            GR_MUST(put_entry(w, a, at, address, k * a->bytes + j * (unsigned)sizeof(uint32_t), word[j],
                              class, late && j ? GR_KEPT_WATCHED : state));
        }
    }
    return GR_OK;
}

static unsigned words_of(const Access *a) { return a->n * a->bytes / (unsigned)sizeof(uint32_t); }

// Where the thread may keep more words.
static gr_status keep_if_left(ColliderWork *w, Access *a, PtxStmt *at, const PtxOperand *values,
                              GrRaceClass class, const PtxReg *kept) {
    PtxReg *p = gr_ptx_new_reg(a->func, PTX_PRED);
    PtxLabel *on = gr_ptx_new_label(a->func);
    PtxOperand to = gr_ptx_label_operand(on);
    unsigned words = words_of(a);
    const char *left = w->segment->left->name;
    if (a->guard)
        GR_PUT(a, at, "setp.ge.and.s32 %s, %s, %u, %s;", p->name, left, words, a->guard->name);
    else
        GR_PUT(a, at, "setp.ge.s32 %s, %s, %u;", p->name, left, words);
    GR_PUT_OPS(a, at, &to, 1, "@!%s bra $0; sub.s32 %s, %s, %u;", p->name, left, left, words);
    GR_MUST(keep(w, a, at, values, class, kept ? GR_KEPT_UNUSED : GR_KEPT_WATCHED));
    if (kept)
        GR_PUT(a, at, "setp.eq.u32 %s, 0, 0;", kept->name);
    gr_ptx_insert_label(a->func, at, on);
    return GR_OK;
}

gr_status gr_segment_keep(ColliderWork *w, Access *a, PtxStmt *at, const PtxOperand *values, unsigned bits,
                          GrRaceClass class) {
    return is_kept(w, a, values, bits, class) ? keep_if_left(w, a, at, values, class, NULL) : GR_OK;
}

gr_status gr_segment_late(ColliderWork *w, Access *a, PtxStmt *at, const PtxOperand *stored,
                          const PtxReg *alone, PtxLabel *over) {
    struct Segment *g = w->segment;
    PtxReg *p = gr_ptx_new_reg(a->func, PTX_PRED);
    PtxLabel *on = gr_ptx_new_label(a->func);
    PtxOperand to[2] = {gr_ptx_label_operand(on), gr_ptx_label_operand(over)};
    bool end = is_end(g, gr_sync_straight_end(a->stmt));
    GR_MUST(gr_collider_chance(w, a, at, 1u << 31, p));
    const PtxReg *hold = gr_look_hold(w, a);
    if (hold) // a thread that is to be held holds its garbage, and so has no late store
        GR_PUT(a, at, "setp.eq.and.u32 %s, %s, 0, %s;", p->name, hold->name, p->name);
    GR_PUT_OPS(a, at, to, 2, "and.pred %s, %s, %s; and.pred %s, %s, %s; @!%s bra $0;", p->name, p->name,
               alone->name, p->name, p->name, (end ? g->small : g->whole)->name, p->name);
    if (a->guard)
        GR_PUT_OPS(a, at, to, 2, "@!%s bra $1;", a->guard->name);
    GR_MUST(keep(w, a, at, stored, GR_CLASS_LOST_UPDATE, GR_KEPT_LATE));
    GR_PUT_OPS(a, at, to, 2, "setp.eq.u32 %s, 0, 0; bra $1;", g->late->name);
    gr_ptx_insert_label(a->func, at, on);
    return GR_OK;
}

gr_status gr_segment_store(ColliderWork *w, const Access *a) {
    struct Segment *g = w->segment;
    PtxInstr *i = a->stmt->instr;
    if (!i->guard) {
        i->guard = g->late;
        i->guard_negated = true;
        return GR_OK;
    }
    PtxReg *p, *q = gr_ptx_new_reg(a->func, PTX_PRED);
    GR_MUST(gr_access_performs(a, a->stmt, &p));
    GR_PUT(a, a->stmt, "not.pred %s, %s; and.pred %s, %s, %s;", q->name, g->late->name, p->name, p->name,
           q->name);
    i->guard = p;
    i->guard_negated = false;
    return GR_OK;
}

static gr_status keep_load(ColliderWork *w, Access *a, PtxStmt *at, const PtxReg *unused, unsigned *words) {
    PtxOperand values[EMIT_MAX_ELEMENTS];
    *words = 0;
    if (!w->segment)
        return GR_OK;
    GR_MUST(gr_access_comparable(a, at));
    for (unsigned k = 0; k < a->n; k++)
        values[k] = *a->value[k];
    if (!is_kept(w, a, values, gr_access_compare_bits(a), GR_CLASS_CLOBBERED_READ))
        return GR_OK;
    *words = words_of(a);
    return keep_if_left(w, a, at, values, GR_CLASS_CLOBBERED_READ, unused);
}

gr_status gr_segment_keep_load(ColliderWork *w, Access *a, PtxStmt *at) {
    unsigned words;
    return keep_load(w, a, at, NULL, &words);
}

gr_status gr_segment_keep_unused(ColliderWork *w, Access *a, PtxStmt *at, const PtxReg *kept,
                                 unsigned *words) {
    return keep_load(w, a, at, kept, words);
}

gr_status gr_segment_used(const ColliderWork *w, const Access *a, PtxStmt *at, const PtxReg *kept,
                          unsigned words) {
    return gr_access_put(
        a, at, NULL, 0, "@%s call __gr%s_segment_used, (%s, %s, %u, %u); setp.ne.u32 %s, 0, 0;", kept->name,
        w->o->suffix, w->segment->entries->name, w->segment->kept->name, a->site->id, words, kept->name);
}

// Whether the launch's threads meet at their ends: where its blocks are mostly all on the device together, in launches
// in which they keep something.
static gr_status put_small(ColliderWork *w, PtxFunc *f, PtxStmt *at) {
    const struct Segment *g = w->segment;
    const char *blocks = gr_ptx_new_reg(f, PTX_U32)->name, *t = gr_ptx_new_reg(f, PTX_U32)->name,
               *all = gr_ptx_new_reg(f, PTX_U64)->name, *p = g->small->name;
    return gr_emit(
        f, at, 0, NULL, 0, w->err,
        "or.pred %s, %s, %s; setp.ne.u32 %s, 0, 0; mov.u32 %s, 0; @!%s bra BEGIN;"
        "mov.u32 %s, %%nctaid.x; mov.u32 %s, %%nctaid.y; mul.lo.u32 %s, %s, %s; mov.u32 %s, "
        "%%nctaid.z; mul.lo.u32 %s, %s, %s;"
        "mov.u32 %s, %%ntid.x; mov.u32 %s, %%ntid.y; mul.lo.u32 %s, %s, %s; mov.u32 %s, %%ntid.z; "
        "mul.lo.u32 %s, %s, %s;"
        "mul.wide.u32 %s, %s, %s; mov.u32 %s, %%nsmid; setp.le.u32 %s, %s, %s; setp.le.and.u64 %s, %s, "
        "%u, %s; cvt.u32.u64 %s, %s; BEGIN:",
        g->acts->name, g->counts->name, w->watches->name, p, g->threads->name, w->watches->name, blocks, t,
        blocks, blocks, t, t, blocks, blocks, t, t, g->threads->name, t, t, g->threads->name,
        g->threads->name, t, t, g->threads->name, all, blocks, t, t, p, blocks, t, p, all,
        (unsigned)PACE_WARPS * 32, p, g->threads->name, all);
}

// The threads of a block keep something all or none, because barriers go by it. They may have read different counts of
// launches: the launch's last block, where it is soon over, counts the launch while others begin.
static gr_status put_agreement(const ColliderWork *w, PtxFunc *f, PtxStmt *at) {
    return gr_emit(f, at, 0, NULL, 0, w->err, "bar.red.and.pred %s, 0, %s;", w->watches->name,
                   w->watches->name);
}

gr_status gr_segment_finish(ColliderWork *w, PtxFunc *f, PtxStmt *at) {
    struct Segment *g = w->segment;
    if (!g)
        return GR_OK;
    const bool turns = w->count && w->o->poison && w->o->holds;
    if (g->meets || (turns && gr_stale_turns(f, at)))
        GR_MUST(put_agreement(w, f, at));
    GR_EMIT(f, f->first, w->err, ".local .align 16 .b8 __gr_kept[%u];",
            (unsigned)(GR_SEGMENT_KEEPS * sizeof(GrKept)));
    if (!w->count) { // no window, so nobody has set these
        GR_EMIT(f, at, w->err, "setp.ne.u32 %s, 0, 0; setp.ne.u32 %s, 0, 0; setp.ne.u32 %s, 0, 0;",
                w->watches->name, w->few->name, g->counts->name);
    }
    GR_EMIT(f, at, w->err,
            "mov.u64 %s, __gr_kept; mov.u32 %s, 0; selp.b32 %s, %u, 0, %s; mov.u32 %s, %u; mov.pred %s, %s;",
            g->entries->name, g->kept->name, g->left->name, (unsigned)SEGMENT_MOST, w->watches->name,
            g->passes->name, (unsigned)SEGMENT_BARRIERS, g->whole->name, w->watches->name);
    if (g->late)
        GR_EMIT(f, at, w->err, "setp.ne.u32 %s, 0, 0;", g->late->name);
    GR_MUST(put_small(w, f, at));
    if (turns)
        GR_MUST(gr_stale_turn(w, f, at));
    Access a = access_of(w, f, at, false);
    if (w->kind && w->length)
        return gr_halves_begin(w, &a, at, g->late_starts);
    return gr_emit(f, at, 0, NULL, 0, w->err, "setp.ne.u32 %s, 0, 0;", g->late_starts->name);
}

gr_status gr_segment_link(PtxModule *m, const ColliderOptions *o, const GrSiteStatus *status, gr_error *err) {
    bool some = false;
    for (uint32_t k = 1; k <= m->n_sites; k++)
        some = some || !gr_site_is_left_alone(status[k]);
    return some && keeps(o) ? gr_runtime_link(m, gr_segment_runtime_ptx, o->suffix, err) : GR_OK;
}
