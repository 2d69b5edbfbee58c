// SPDX-License-Identifier: Apache-2.0
#include "engines/collider/pass/collider.h"

#include "base/str.h"
#include "engines/collider/pass/collider_async.h"
#include "engines/collider/pass/collider_brief.h"
#include "engines/collider/pass/collider_deferred.h"
#include "engines/collider/pass/collider_group.h"
#include "engines/collider/pass/collider_held.h"
#include "engines/collider/pass/collider_hoisted.h"
#include "engines/collider/pass/collider_later.h"
#include "engines/collider/pass/collider_matrix.h"
#include "engines/collider/pass/collider_order.h"
#include "engines/collider/pass/collider_polled.h"
#include "engines/collider/pass/collider_segment.h"
#include "engines/collider/pass/collider_source.h"
#include "engines/collider/pass/collider_tensor.h"
#include "engines/collider/pass/collider_time.h"
#include "engines/collider/pass/collider_together.h"
#include "passes/runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *gr_collider_control_name(const char *suffix, char *buf, size_t size) {
    snprintf(buf, size, "__gr%s_control", suffix);
    return buf;
}

// The state is odd (put_delay): even factors, an odd summand. Factors spread what they multiply over the high bits,
// which are drawn first.
static gr_status put_random_seed(ColliderWork *w, PtxFunc *f) {
    if (!w->random)
        return GR_OK;
    const uint32_t spread = 0xC2B2AE35u << 1;
    PtxReg *t = gr_ptx_new_reg(f, PTX_U32);
    char seed[200] = "", summand[32];
    const char *r = w->random->name;
    gr_format(summand, sizeof summand, "%u", w->o->seed * spread | 1);
    if (w->o->seed_at_load) {
        gr_format(summand, sizeof summand, "%s", t->name);
        gr_format(seed, sizeof seed, "ld.global.nc.u32 %s, [__gr%s_control+%u]; mad.lo.u32 %s, %s, %u, 1;",
                  t->name, w->o->suffix, (unsigned)offsetof(GrControl, seed), t->name, t->name, spread);
    }
    return gr_emit(f, gr_function_start(f), 0, NULL, 0, w->err,
                   "%smov.u32 %s, %%clock; mad.lo.u32 %s, %s, 0x9E3779B2, %s;"
                   "mov.u32 %s, %%ctaid.x; mad.lo.u32 %s, %s, 0x85EBCA6A, %s;"
                   "mov.u32 %s, %%warpid; mad.lo.u32 %s, %s, 0xCC9E2D52, %s;",
                   seed, r, r, r, summand, t->name, r, t->name, r, t->name, r, t->name, r);
}

static bool ends_thread(const PtxStmt *s) {
    while (s && (s->kind == PTX_LOC || s->kind == PTX_PRAGMA))
        s = s->prev;
    if (!s || s->kind != PTX_INSTR || s->instr->guard)
        return false;
    PtxOp op = s->instr->op;
    return op == PTX_OP_RET || op == PTX_OP_EXIT || op == PTX_OP_TRAP || op == PTX_OP_BRA;
}

// What is known of one function.
typedef struct FuncCode {
    DefUse uses;
    HoistedCode hoisted;
    LoadGroup group; // which the next load may join
    Again again;
    PtxStmt *end; // that is inserted, NULL: the program has one
} FuncCode;

static gr_status check_load(ColliderWork *w, Access *a, FuncCode *code) {
    Speculation spec;
    Hoisted hoisted;
    bool is_hoisted;
    if (gr_speculated(&code->uses, a->stmt, &spec))
        return gr_group_load(w, &code->group, a, &spec);
    GR_MUST(gr_collider_is_hoisted(w, a, &code->uses, &code->hoisted, &hoisted, &is_hoisted));
    if (!is_hoisted)
        return gr_group_load(w, &code->group, a, NULL);
    GR_MUST(gr_group_close(w, &code->group, a->before));
    w->hoisted = &hoisted;
    gr_status st = gr_collider_load(w, a, NULL);
    w->hoisted = NULL;
    return st == GR_OK ? gr_collider_put_uses(w, a, &hoisted) : st;
}

static gr_status check_plain(ColliderWork *w, Access *a, FuncCode *code, GrSiteStatus *status) {
    const Access where = *a;
    *status = gr_access_read(where.site, a);
    if ((*status != GR_SITE_CHECKED && *status != GR_SITE_STRONG) || w->classifies)
        return GR_OK;
    a->nested = where.nested;
    a->err = where.err;
    if (*status == GR_SITE_STRONG) // where few accesses are chosen, the others cost nothing
        return w->o->choose ? GR_OK : gr_collider_come_late(w, a);
    return a->site->access == PTX_ACCESS_READ ? check_load(w, a, code) : gr_collider_store(w, a);
}

// What checks an instruction, known by its opcode and first modifier (UNKNOWN: any); or why nothing does.
static const struct {
    PtxOp op;
    PtxMod first;
    gr_status (*check)(ColliderWork *w, Access *a, GrSiteStatus *status);
    GrSiteStatus why_not;
} families[] = {
    {PTX_OP_ST, PTX_MOD_async, gr_collider_store_async, 0},
    {PTX_OP_ST, PTX_MOD_bulk, gr_collider_store_bulk, 0},
    {PTX_OP_LDMATRIX, 0, gr_collider_ldmatrix, 0},
    {PTX_OP_STMATRIX, 0, gr_collider_stmatrix, 0},
    {PTX_OP_WMMA, 0, gr_collider_wmma, 0},
    {PTX_OP_TCGEN05, PTX_MOD_ld, gr_collider_tensor, 0},
    {PTX_OP_TCGEN05, PTX_MOD_st, gr_collider_tensor, 0},
    {PTX_OP_TCGEN05, PTX_MOD_alloc, NULL, GR_SITE_ALLOCATION},
    {PTX_OP_TCGEN05, 0, NULL, GR_SITE_DESCRIPTOR}, // mma, cp, shift
    {PTX_OP_WGMMA, 0, NULL, GR_SITE_DESCRIPTOR},
    {PTX_OP_MULTIMEM, 0, NULL, GR_SITE_MULTIMEM},
    {PTX_OP_TENSORMAP, 0, NULL, GR_SITE_OPAQUE},
    {PTX_OP_CLUSTERLAUNCHCONTROL, 0, NULL, GR_SITE_OPAQUE},
    {PTX_OP_TEX, 0, NULL, GR_SITE_TEXTURE},
    {PTX_OP_TLD4, 0, NULL, GR_SITE_TEXTURE},
    {PTX_OP_SULD, 0, NULL, GR_SITE_TEXTURE},
    {PTX_OP_SUST, 0, NULL, GR_SITE_TEXTURE},
    {PTX_OP_SURED, 0, NULL, GR_SITE_TEXTURE},
};

static gr_status check_site(ColliderWork *w, Access *a, FuncCode *code, GrSiteStatus *status) {
    if (a->stmt->instr->op == PTX_OP_CP) {
        Copy c;
        *status = gr_copy_read(a->site, a->nested, w->err, &c);
        if (*status != GR_SITE_CHECKED || w->classifies)
            return GR_OK;
        return c.bulk ? gr_collider_bulk(w, &c) : gr_collider_copy(w, &c);
    }
    const PtxInstr *i = a->stmt->instr;
    PtxMod first = i->n_mods ? i->mods[0].id : PTX_MOD_UNKNOWN;
    for (unsigned k = 0; k < sizeof families / sizeof *families; k++)
        if (families[k].op == i->op && (!families[k].first || families[k].first == first)) {
            *status = a->site->strong ? GR_SITE_STRONG : families[k].why_not;
            return families[k].check ? families[k].check(w, a, status) : GR_OK;
        }
    return check_plain(w, a, code, status); // ld, ldu, st; and whatever is not understood
}

// All sites but those that are left out on purpose.
static gr_status check_sites(ColliderWork *w, PtxFunc *f, FuncCode *code, GrSiteStatus *status) {
    unsigned depth = 0;
    PtxStmt *next;
    for (PtxStmt *s = f->first; s; s = next) {
        next = s->next;
        if (s->tag.inserted) {
            GR_MUST(gr_group_close(w, &code->group, s));
            if (s == code->end)
                GR_MUST(gr_segment_step(w, f, s, false));
            continue;
        }
        if (w->pace) {
            GR_MUST(gr_group_step(w, &code->group, s));
            gr_again_step(&code->again, s);
            gr_pace_step(w->pace, s);
        }
        GR_MUST(gr_segment_step(w, f, s, depth > 0));
        depth += s->kind == PTX_SCOPE_OPEN;
        depth -= s->kind == PTX_SCOPE_CLOSE && depth > 0;
        if (!s->site || gr_site_is_left_alone(status[s->site]))
            continue;
        Access a = {.func = f, .stmt = s, .before = s, .site = &w->module->sites[s->site]};
        a.nested = depth > 0;
        a.err = w->err;
        GR_MUST(check_site(w, &a, code, &status[s->site]));
    }
    GR_MUST(gr_group_close(w, &code->group, NULL));
    return gr_segment_step(w, f, NULL, false);
}

static gr_status rewrite_function(ColliderWork *w, PtxFunc *f, const PolledModule *module,
                                  const OrderModule *order, const TogetherModule *together,
                                  GrSiteStatus *status) {
    gr_status st = GR_OK;
    Polled polled = {0};
    Pace pace = {0};
    Segment segment = {.n_early = 0};
    HeldCopy held;
    FuncCode code = {.hoisted = {.has_cfg = false}, .again = {.n = 0}};
    GR_TRY(gr_defuse_build(f, &code.uses, w->err));
    w->random = w->length = w->hold = w->count = w->kind = w->shuts = w->watches = NULL;
    w->groups = w->few = NULL;
    w->n_holds = 0;
    w->sources = NULL;
    w->later = NULL;
    w->pace = NULL;
    w->again = &code.again;
    // Detours go to the end of the body: control must not fall into them. That instruction is an end of the thread like
    // one of the program's own, so it has to be read even where what is inserted is only text.
    if (!ends_thread(f->last) && !w->classifies)
        GR_TRY(gr_ptx_insert(f, NULL, 0, "ret;", NULL, 0, &code.end, w->err));
    if (w->o->thinned && !w->classifies) {
        GR_TRY(gr_pace_begin(&pace, w, f));
        w->pace = &pace;
    }
    GR_TRY(gr_together_begin(w, together, &code.uses, f));
    w->polled = NULL;
    if (w->o->poison && !w->classifies) {
        GR_TRY(gr_polled_begin(w->module, module, f, &polled, w->err));
        w->polled = &polled;
    }
    w->brief = w->pace && gr_brief_is(w->o, f, status);
    GR_TRY(gr_segment_begin(w, order, f, status, &segment));
    GR_TRY(gr_held_begin(w, f, &held, status));
    GR_TRY(check_sites(w, f, &code, status));
    GR_TRY(gr_held_finish(w, f, gr_function_start(f)));
    GR_TRY(gr_later_finish(w, f, gr_function_start(f)));
    PtxStmt *body = gr_function_start(f);
    GR_TRY(put_random_seed(w, f));
    if (w->pace && f->is_entry && w->length)
        gr_pace_need_block(&pace, f);
    if (w->pace)
        GR_TRY(gr_pace_finish(&pace, w, f, gr_function_start(f)));
    GR_TRY(gr_collider_begin_waits(w, f, body));
    GR_TRY(gr_source_finish(w, f, body));
    GR_TRY(gr_segment_finish(w, f, body));
    GR_TRY(gr_together_finish(w, f));
done:
    gr_segment_free(&segment);
    gr_polled_free(&polled);
    gr_pace_free(&pace);
    gr_defuse_free(&code.uses);
    gr_collider_forget_code(&code.hoisted);
    return st;
}

// What is needed to rewrite the functions one by one.
typedef struct Rewriting {
    ColliderWork w;
    ColliderOptions o;
    PolledModule polled;
    OrderModule order;
    TogetherModule together;
    bool *marked;
    uint32_t n_funcs; // the program's
    GrSiteStatus *status;
} Rewriting;

static gr_status rewrite_one(void *user, PtxFunc *f, gr_error *err) {
    Rewriting *r = user;
    r->w.err = err;
    if (f->index >= r->n_funcs || !r->marked[f->index] || !f->has_body || f->tag.inserted)
        return GR_OK;
    return rewrite_function(&r->w, f, &r->polled, &r->order, &r->together, r->status);
}

// Of which sites there is to choose: of those that would be checked.
static gr_status choose_sites(Rewriting *r, PtxModule *m, gr_error *err) {
    gr_status st = GR_OK;
    r->w.classifies = true;
    for (uint32_t k = 0; k < r->n_funcs && st == GR_OK; k++)
        st = rewrite_one(r, m->funcs[k], err);
    r->w.classifies = false;
    return st == GR_OK ? r->o.choose(r->o.user, m, r->status, err) : st;
}

static Rewriting *prepare(PtxModule *m, const ColliderOptions *o, GrSiteStatus *status) {
    Rewriting *r = GR_NEW(&m->arena, Rewriting);
    bool *marked = GR_NEW_ARRAY(&m->arena, bool, (size_t)m->n_funcs + 1);
    const char *suffix = gr_arena_strdup(&m->arena, o->suffix);
    TogetherModule together;
    if (!r || !marked || !suffix || !gr_together_module(m, &together))
        return NULL;
    *r = (Rewriting){.o = *o, .marked = marked, .n_funcs = m->n_funcs, .status = status};
    r->o.suffix = suffix;
    r->w = (ColliderWork){.module = m, .o = &r->o};
    r->polled = gr_polled_module(m);
    r->order = gr_sync_module(m);
    r->together = together;
    if (o->mark)
        o->mark(o->user, m, marked);
    else
        memset(marked, true, m->n_funcs * sizeof *marked);
    return r;
}

gr_status gr_collider_rewrite(PtxModule *m, const ColliderOptions *o, GrSiteStatus *status, gr_error *err) {
    Rewriting *r = prepare(m, o, status);
    GR_NEED(r, err);
    for (uint32_t k = 1; k <= m->n_sites; k++)
        status[k] = r->marked[m->sites[k].func->index] && (!o->wanted || o->wanted(o->user, m, &m->sites[k]))
                        ? GR_SITE_UNSEEN
                        : GR_SITE_FILTERED;
    if (o->choose)
        GR_MUST(choose_sites(r, m, err));
    GR_MUST(gr_runtime_raise(m, err));
    GR_MUST(gr_runtime_link(m, gr_copy_runtime(m, o->holds), o->suffix, err));
    GR_MUST(gr_segment_link(m, o, status, err));
    GR_MUST(gr_brief_link(m, o, status, err));
    if (o->later) {
        m->later = (PtxLater){rewrite_one, r};
        return GR_OK;
    }
    for (uint32_t k = 0; k < r->n_funcs; k++)
        GR_MUST(rewrite_one(r, m->funcs[k], err));
    GR_NEED(!m->nomem, err);
    return GR_OK;
}
