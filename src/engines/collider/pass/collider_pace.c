// SPDX-License-Identifier: Apache-2.0
#include "engines/collider/pass/collider_pace.h"

#include "engines/collider/pass/collider_time.h"
#include "engines/collider/pass/collider_together.h"

#include <stddef.h>
#include <string.h>

// ---- The function's blocks -----------------------------------------------------------------------------------------

static bool ends_block(const PtxStmt *s) {
    return s->kind == PTX_INSTR && (gr_ptx_instr_flags(s->instr) & (PTX_F_BRANCH | PTX_F_EXIT));
}

static uint32_t next_block(const PtxStmt *s, uint32_t block, bool *ended) {
    if (*ended || s->kind == PTX_LABEL_DEF)
        block++;
    *ended = ends_block(s);
    return block;
}

// A loop has a jump back, and what lies between the two ends of the jumps back of a loop is all of it. `back` gets, at
// each block, how many such ranges begin there, less those that end before it. `seen`: the block of each label that was
// passed, 0 for none.
static void note_jump(int32_t *back, const uint32_t *seen, const PtxLabel *l, uint32_t block) {
    uint32_t to = l ? seen[l->index] : 0;
    if (to) {
        back[to]++;
        back[block + 1]--;
    }
}

static void note_jumps(int32_t *back, const uint32_t *seen, const PtxStmt *s, uint32_t block) {
    for (unsigned k = 0; k < s->instr->n_operands; k++) {
        const PtxLabel *l = s->instr->operands[k].kind == PTX_O_LABEL ? s->instr->operands[k].label : NULL;
        note_jump(back, seen, l, block);
        for (uint32_t t = 0; l && l->stmt && t < l->stmt->n_targets && l->stmt->targets; t++) // brx.idx
            note_jump(back, seen, l->stmt->targets[t], block);
    }
}

// The blocks with accesses in the deepest loops, PACE_OWN at most, have thresholds of their own.
static gr_status choose_depth(Pace *p, const ColliderWork *w, const PtxFunc *f, uint32_t n_blocks) {
    uint32_t *at = GR_NEW_ARRAY(&p->arena, uint32_t, (size_t)n_blocks + 2), block = 0, counted = 0, sum = 0;
    bool ended = true;
    GR_NEED(at, w->err);
    for (const PtxStmt *s = f->first; s; s = s->next) {
        block = next_block(s, block, &ended);
        if (s->site && counted != block && p->depth[block])
            at[p->depth[counted = block]]++;
    }
    p->least_depth = n_blocks + 1;
    for (uint32_t d = n_blocks; d && sum + at[d] <= PACE_OWN; sum += at[d--])
        p->least_depth = d;
    return GR_OK;
}

gr_status gr_pace_begin(Pace *p, const ColliderWork *w, const PtxFunc *f) {
    *p = (Pace){.ended = true, .open_block = UINT32_MAX, .entry = f->is_entry};
    gr_arena_init(&p->arena);
    uint32_t n = 1, block = 0;
    bool ended = true;
    for (const PtxStmt *s = f->first; s; s = s->next)
        n = next_block(s, n, &ended);
    int32_t *back = GR_NEW_ARRAY(&p->arena, int32_t, (size_t)n + 2);
    uint32_t *seen = GR_NEW_ARRAY(&p->arena, uint32_t, (size_t)f->n_labels + 1);
    uint32_t *depth = GR_NEW_ARRAY(&p->arena, uint32_t, (size_t)n + 2);
    GR_NEED(back && seen && depth, w->err);
    ended = true;
    for (const PtxStmt *s = f->first; s; s = s->next) {
        block = next_block(s, block, &ended);
        if (s->kind == PTX_LABEL_DEF)
            seen[s->label->index] = block;
        else if (s->kind == PTX_INSTR && ended)
            note_jumps(back, seen, s, block);
    }
    int32_t in = 0;
    for (uint32_t k = 0; k <= n; k++)
        depth[k] = (uint32_t)(in += back[k]);
    p->depth = depth;
    return choose_depth(p, w, f, n);
}

void gr_pace_free(Pace *p) {
    gr_str_free(&p->thresholds);
    gr_arena_free(&p->arena);
}

void gr_pace_step(Pace *p, const PtxStmt *s) { p->block = next_block(s, p->block, &p->ended); }

// ---- Decisions -----------------------------------------------------------------------------------------------------

// Odd, and 2^32 divided by the golden number (Knuth, volume 3, 6.4).
static const uint32_t factor = 0x9E3779B1;

// What the seed adds. ptxas must not know that all lanes have the same.
static gr_status put_phase(const Pace *p, ColliderWork *w, PtxFunc *f, PtxStmt *at) {
    const char *x = p->phase->name, *lane = gr_ptx_new_reg(f, PTX_U32)->name;
    char seed[96];
    return gr_emit(f, at, 0, NULL, 0, w->err,
                   "mov.u32 %s, %%lanemask_lt; and.b32 %s, %s, 0x80000000; %s mad.lo.u32 %s, %s, %u, %s;",
                   lane, lane, lane, gr_collider_seed(w, x, seed, sizeof seed), x, x, 0x85EBCA6Bu, lane);
}

// A number of the clock, in `t`. A square, so that no step of the clock makes it go up or down slowly.
static gr_status put_number(const Pace *p, PtxFunc *f, PtxStmt *at, uint32_t site, const PtxReg *t,
                            gr_error *err) {
    const char *clock = gr_ptx_new_reg(f, PTX_U32)->name, *x = t->name;
    return gr_emit(f, at, site, NULL, 0, err,
                   "mov.u32 %s, %%clock; mad.lo.u32 %s, %s, %u, %s; mul.lo.u32 %s, %s, %s;", clock, x, clock,
                   factor, p->phase->name, x, x, clock);
}

// The threshold of a kernel's thread, by how many warps the blocks before its own have.
static gr_status put_threshold(const Pace *p, ColliderWork *w, PtxFunc *f, PtxStmt *at) {
    enum { LANES = 32 };
    PtxReg *t = gr_ptx_new_reg(f, PTX_U32), *u = gr_ptx_new_reg(f, PTX_U32);
    PtxReg *before = gr_ptx_new_reg(f, PTX_U64);
    const char *b = p->in_grid->name, *x = t->name, *y = u->name, *n = before->name, *c = p->threshold->name;
    return gr_emit(
        f, at, 0, NULL, 0, w->err,
        "mov.u32 %s, %%ctaid.z; mov.u32 %s, %%nctaid.y; mov.u32 %s, %%ctaid.y; mad.lo.u32 %s, %s, %s, %s;"
        "mov.u32 %s, %%nctaid.x; mov.u32 %s, %%ctaid.x; mad.lo.u32 %s, %s, %s, %s;"
        "mov.u32 %s, %%ntid.x; mov.u32 %s, %%ntid.y; mul.lo.u32 %s, %s, %s; mov.u32 %s, %%ntid.z; mul.lo.u32 "
        "%s, %s, %s;"
        "mul.wide.u32 %s, %s, %s; shr.u64 %s, %s, %u; cvt.u32.u64 %s, %s; clz.b32 %s, %s; sub.u32 %s, 32, %s;"
        "min.u32 %s, %s, %u; mov.u32 %s, %u; shr.u32 %s, %s, %s;",
        b, x, y, b, b, x, y, x, y, b, b, x, y, x, y, x, x, y, y, x, x, y, n, b, x, n, n,
        (unsigned)__builtin_ctz(PACE_WARPS * LANES), x, n, x, x, x, x, x, x, PACE_RAREST, c, UINT32_MAX, c, c,
        x);
}

gr_status gr_pace_finish(Pace *p, ColliderWork *w, PtxFunc *f, PtxStmt *at) {
    GR_NEED(!p->thresholds.oom, w->err);
    if (p->phase)
        GR_MUST(put_phase(p, w, f, at));
    if (p->threshold) {
        GR_MUST(put_threshold(p, w, f, at));
        GR_MUST(gr_collider_begin_count(w, f, at));
    }
    if (p->thresholds.len)
        GR_MUST(gr_ptx_insert(f, at, 0, p->thresholds.data, NULL, 0, NULL, w->err));
    if (p->shut)
        GR_EMIT(f, at, w->err, "ld.global.nc.u32 %s, [__gr%s_control+%u]; not.b32 %s, %s;", p->shut->name,
                w->o->suffix, (unsigned)offsetof(GrControl, shut), p->shut->name, p->shut->name);
    if (p->outside) {
        PtxReg *t = gr_ptx_new_reg(f, PTX_U32), *least = p->threshold ? p->threshold : p->shut;
        if (p->threshold && p->shut) {
            least = gr_ptx_new_reg(f, PTX_U32);
            GR_EMIT(f, at, w->err, "min.u32 %s, %s, %s;", least->name, p->threshold->name, p->shut->name);
        }
        GR_MUST(put_number(p, f, at, 0, t, w->err));
        GR_EMIT(f, at, w->err, "setp.le.u32 %s, %s, %s;", p->outside->name, t->name, least->name);
    }
    return GR_OK;
}

// The condition as a register: what the program calls it may be ambiguous here.
static gr_status own_guard(Access *a, PtxStmt *at, PtxReg **guard) {
    const PtxInstr *i = a->stmt->instr;
    *guard = NULL;
    if (!i->guard)
        return GR_OK;
    *guard = gr_ptx_new_reg(a->func, PTX_PRED);
    PtxOperand g = gr_ptx_reg_operand(i->guard);
    return gr_access_put(a, at, &g, 1, "%s.pred %s, $0;", i->guard_negated ? "not" : "mov", (*guard)->name);
}

// Where the window opened: the threshold falls. Its low bits count down, by 1 where all lanes are here, by 32 where it
// is one.
static gr_status put_fall(Access *a, PtxStmt *at, const PtxReg *threshold) {
    PtxReg *t = gr_ptx_new_reg(a->func, PTX_U32), *step = gr_ptx_new_reg(a->func, PTX_U32);
    PtxReg *last = gr_ptx_new_reg(a->func, PTX_PRED);
    const char *c = threshold->name, *x = t->name, *n = step->name;
    return gr_access_put(
        a, at, NULL, 0,
        "activemask.b32 %s; popc.b32 %s, %s; clz.b32 %s, %s; add.u32 %s, %s, -26; mov.u32 %s, 1; "
        "shl.b32 %s, %s, %s;"
        "and.b32 %s, %s, %u; setp.lt.u32 %s, %s, %s; shr.u32 %s, %s, 1; or.b32 %s, %s, %u;"
        "max.u32 %s, %s, %u; sub.u32 %s, %s, %s; selp.b32 %s, %s, %s, %s;",
        n, n, n, x, n, x, x, n, n, n, x, x, c, PACE_EACH - 1, last->name, x, n, x, c, x, x, PACE_EACH - 1, x,
        x, UINT32_MAX >> PACE_RAREST, c, c, n, c, x, c, last->name);
}

gr_status gr_pace_open_again(ColliderWork *w, Access *a, PtxStmt *at, Gate *gate) {
    Pace *p = w->pace;
    Detour *d = &gate->detour;
    gate->at = at;
    if (!gate->open)
        return GR_OK;
    // Where the window before ends right here, one way out of line leads to both.
    if (p->last && p->last_open == gate->open && at && at->prev == p->last) {
        gate->at = p->last_at;
        *d = (Detour){.at = gate->at};
        return GR_OK;
    }
    GR_MUST(gr_together_open_detour(w, a, at, gate->open, d));
    gate->at = d->at;
    p->last = d->inline_ || !at ? NULL : at->prev;
    p->last_open = gate->open;
    p->last_at = d->at;
    return GR_OK;
}

void gr_pace_need_block(Pace *p, PtxFunc *f) {
    if (!p->threshold) {
        p->threshold = gr_ptx_new_reg(f, PTX_U32);
        p->in_grid = gr_ptx_new_reg(f, PTX_U32);
    }
}

// The kernel's threshold, and the share of windows that a budget leaves: where one of them is needed.
static void need_thresholds(Pace *p, const ColliderWork *w, PtxFunc *f) {
    if (p->entry)
        gr_pace_need_block(p, f);
    if (w->o->budget && !p->shut)
        p->shut = gr_ptx_new_reg(f, PTX_U32);
}

// A register that is set at the function's start.
static PtxReg *begun(Pace *p, PtxFunc *f, const char *value) {
    PtxReg *r = gr_ptx_new_reg(f, PTX_U32);
    gr_str_addf(&p->thresholds, "mov.u32 %s, %s;", r->name, value);
    return r;
}

// The threshold of what is decided for, and, where others share it, the bit of p->firsts that tells of its first
// window.
static PtxReg *threshold_of(Pace *p, PtxFunc *f, uint32_t *first) {
    const char *most = p->threshold ? p->threshold->name : "0xffffffff";
    *first = 0;
    if (p->depth[p->block] >= p->least_depth && p->n_own < PACE_OWN) {
        p->n_own++;
        return begun(p, f, most);
    }
    if (!p->shared)
        p->shared = begun(p, f, most);
    if (p->n_firsts % 32 == 0)
        p->firsts = begun(p, f, "0");
    *first = 1u << p->n_firsts++ % 32;
    return p->shared;
}

// What was decided for the block, or for the access if it has a guard.
typedef struct Decision {
    PtxReg *threshold, *open, *firsts;
    uint32_t first;
} Decision;

static gr_status decide(ColliderWork *w, Access *a, PtxStmt *at, Decision *d) {
    Pace *p = w->pace;
    PtxReg *t = gr_ptx_new_reg(a->func, PTX_U32), *guard;
    d->threshold = threshold_of(p, a->func, &d->first);
    d->firsts = p->firsts;
    d->open = gr_ptx_new_reg(a->func, PTX_PRED);
    if (!p->phase)
        p->phase = gr_ptx_new_reg(a->func, PTX_U32);
    GR_MUST(own_guard(a, at, &guard));
    GR_MUST(put_number(p, a->func, at, a->site->id, t, w->err));
    const char *least = d->threshold->name, *open = d->open->name;
    if (p->shut) {
        PtxReg *both = gr_ptx_new_reg(a->func, PTX_U32);
        GR_PUT(a, at, "min.u32 %s, %s, %s;", both->name, least, p->shut->name);
        least = both->name;
    }
    if (d->first) {
        // The kernel's threshold and the budget hold for the first time as well.
        PtxReg *bit = gr_ptx_new_reg(a->func, PTX_U32), *again = gr_ptx_new_reg(a->func, PTX_PRED);
        PtxReg *most = gr_ptx_new_reg(a->func, PTX_U32);
        const char *of_kernel = p->threshold ? p->threshold->name : "0xffffffff";
        GR_PUT(a, at, "and.b32 %s, %s, %u; setp.ne.u32 %s, %s, 0;", bit->name, d->firsts->name, d->first,
               again->name, bit->name);
        if (p->shut)
            GR_PUT(a, at, "mov.u32 %s, %s; min.u32 %s, %s, %s; selp.b32 %s, %s, %s, %s;", most->name,
                   of_kernel, most->name, most->name, p->shut->name, most->name, least, most->name,
                   again->name);
        else
            GR_PUT(a, at, "selp.b32 %s, %s, %s, %s;", most->name, least, of_kernel, again->name);
        least = most->name;
    }
    if (guard)
        GR_PUT(a, at, "setp.le.and.u32 %s, %s, %s, %s;", open, t->name, least, guard->name);
    else
        GR_PUT(a, at, "setp.le.u32 %s, %s, %s;", open, t->name, least);
    return GR_OK;
}

gr_status gr_pace_open(ColliderWork *w, Access *a, PtxStmt *at, Gate *gate) {
    Pace *p = w->pace;
    *gate = (Gate){.at = at};
    if (!p)
        return GR_OK;
    need_thresholds(p, w, a->func);
    if (!p->depth[p->block]) {
        if ((p->threshold || p->shut) && !p->outside)
            p->outside = gr_ptx_new_reg(a->func, PTX_PRED);
        if (p->outside && !p->phase)
            p->phase = gr_ptx_new_reg(a->func, PTX_U32);
        gate->open = p->outside;
        return gr_pace_open_again(w, a, at, gate);
    }
    bool guarded = a->stmt->instr->guard != NULL;
    if (p->open && p->open_block == p->block && !guarded) {
        gate->open = p->open;
        return gr_pace_open_again(w, a, at, gate);
    }
    Decision d;
    GR_MUST(decide(w, a, at, &d));
    gate->open = d.open;
    GR_MUST(gr_pace_open_again(w, a, at, gate));
    if (d.first)
        GR_PUT(a, gate->at, "or.b32 %s, %s, %u;", d.firsts->name, d.firsts->name, d.first);
    GR_MUST(put_fall(a, gate->at, d.threshold));
    if (!guarded) {
        p->open = gate->open;
        p->open_block = p->block;
    }
    return GR_OK;
}

gr_status gr_pace_close(Access *a, Gate *gate) {
    return gate->open ? gr_collider_close_detour(a, &gate->detour) : GR_OK;
}
