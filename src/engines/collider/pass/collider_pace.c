// SPDX-License-Identifier: Apache-2.0
#include "engines/collider/pass/collider_pace.h"

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

// A loop has a jump back, and what lies between the two ends of the jumps back of a loop is all of it. `back` gets, at each block, how many
// such ranges begin there, less those that end before it. `seen`: the block of each label that was passed, 0 for none.
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

gr_status gr_pace_begin(Pace *p, const ColliderWork *w, const PtxFunc *f) {
    *p = (Pace){.ended = true, .open_block = UINT32_MAX};
    gr_arena_init(&p->arena);
    uint32_t n = 1, block = 0;
    bool ended = true;
    for (const PtxStmt *s = f->first; s; s = s->next)
        n = next_block(s, n, &ended);
    int32_t *back = GR_NEW_ARRAY(&p->arena, int32_t, (size_t)n + 2);
    uint32_t *seen = GR_NEW_ARRAY(&p->arena, uint32_t, (size_t)f->n_labels + 1);
    bool *repeats = GR_NEW_ARRAY(&p->arena, bool, (size_t)n + 2);
    if (!back || !seen || !repeats)
        return gr_fail(w->err, GR_ERR_NOMEM, "out of memory");
    ended = true;
    for (const PtxStmt *s = f->first; s; s = s->next) {
        block = next_block(s, block, &ended);
        if (s->kind == PTX_LABEL_DEF)
            seen[s->label->index] = block;
        else if (s->kind == PTX_INSTR && ended)
            note_jumps(back, seen, s, block);
    }
    int32_t depth = 0;
    for (uint32_t k = 0; k <= n; k++) {
        depth += back[k];
        repeats[k] = depth > 0;
    }
    p->repeats = repeats;
    return GR_OK;
}

void gr_pace_free(Pace *p) {
    gr_str_free(&p->thresholds);
    gr_arena_free(&p->arena);
}

void gr_pace_step(Pace *p, const PtxStmt *s) { p->block = next_block(s, p->block, &p->ended); }

gr_status gr_pace_finish(Pace *p, ColliderWork *w, PtxFunc *f, PtxStmt *at) {
    gr_status st = GR_OK;
    if (p->thresholds.oom)
        return gr_fail(w->err, GR_ERR_NOMEM, "out of memory");
    if (p->thresholds.len)
        GR_TRY(gr_ptx_insert(f, at, 0, p->thresholds.data, NULL, 0, NULL, w->err));
    if (p->shut) {
        char text[256];
        gr_format(text, sizeof text, "ld.volatile.global.u32 %s, [__gr%s_control+%u]; not.b32 %s, %s;",
                  p->shut->name, w->o->suffix, (unsigned)offsetof(GrControl, shut), p->shut->name,
                  p->shut->name);
        GR_TRY(gr_ptx_insert(f, at, 0, text, NULL, 0, NULL, w->err));
    }
done:
    return st;
}

// ---- Decisions -----------------------------------------------------------------------------------------------------

// Odd, of any size; the high half of a product with it decides.
static uint32_t factor(uint32_t seed) {
    uint64_t x = (seed + 0x9E3779B97F4A7C15u) * 0xBF58476D1CE4E5B9u;
    return (uint32_t)(x >> 32) | 0x40000001;
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

// Where the window opened: the threshold falls. Its low bits count.
static gr_status put_fall(Access *a, PtxStmt *at, const PtxReg *threshold) {
    PtxReg *t = gr_ptx_new_reg(a->func, PTX_U32), *last = gr_ptx_new_reg(a->func, PTX_PRED);
    const char *c = threshold->name;
    return gr_access_put(a, at, NULL, 0,
                         "and.b32 %s, %s, %u; setp.eq.u32 %s, %s, 0; shr.u32 %s, %s, 1; or.b32 %s, %s, %u;"
                         "max.u32 %s, %s, %u; add.u32 %s, %s, -1; selp.b32 %s, %s, %s, %s;",
                         t->name, c, PACE_EACH - 1, last->name, t->name, t->name, c, t->name, t->name,
                         PACE_EACH - 1, t->name, t->name, UINT32_MAX >> PACE_RAREST, c, c, c, t->name, c,
                         last->name);
}

gr_status gr_pace_open_again(ColliderWork *w, Access *a, PtxStmt *at, Gate *gate) {
    gr_status st = GR_OK;
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
    GR_TRY(gr_collider_open_detour(a, at, gate->open, d));
    gate->at = d->at;
    p->last = d->inline_ ? NULL : d->back->stmt;
    p->last_open = gate->open;
    p->last_at = d->at;
done:
    return st;
}

gr_status gr_pace_open(ColliderWork *w, Access *a, PtxStmt *at, Gate *gate) {
    gr_status st = GR_OK;
    Pace *p = w->pace;
    *gate = (Gate){.at = at};
    bool repeats = p && p->repeats[p->block];
    if (!repeats && !(p && w->o->budget))
        return GR_OK;
    if (p->open && p->open_block == p->block && !a->stmt->instr->guard) {
        gate->open = p->open;
        return gr_pace_open_again(w, a, at, gate);
    }
    if (w->o->budget && !p->shut)
        p->shut = gr_ptx_new_reg(a->func, PTX_U32);
    PtxReg *t = gr_ptx_new_reg(a->func, PTX_U32), *guard, *threshold = p->shut;
    gate->open = gr_ptx_new_reg(a->func, PTX_PRED);
    GR_TRY(own_guard(a, at, &guard));
    GR_TRY(gr_access_put(a, at, NULL, 0, "mov.u32 %s, %%clock; mul.lo.u32 %s, %s, %u;", t->name, t->name,
                         t->name, factor(w->o->seed)));
    if (repeats) {
        threshold = gr_ptx_new_reg(a->func, PTX_U32);
        gr_str_addf(&p->thresholds, "mov.u32 %s, %u;", threshold->name, UINT32_MAX);
    }
    const char *least = threshold->name;
    if (repeats && p->shut) {
        PtxReg *both = gr_ptx_new_reg(a->func, PTX_U32);
        GR_TRY(gr_access_put(a, at, NULL, 0, "min.u32 %s, %s, %s;", both->name, least, p->shut->name));
        least = both->name;
    }
    GR_TRY(gr_access_put(a, at, NULL, 0, "setp.le%s.u32 %s, %s, %s%s%s;", guard ? ".and" : "",
                         gate->open->name, t->name, least, guard ? ", " : "", guard ? guard->name : ""));
    GR_TRY(gr_pace_open_again(w, a, at, gate));
    if (repeats)
        GR_TRY(put_fall(a, gate->at, threshold));
    if (!guard) {
        p->open = gate->open;
        p->open_block = p->block;
    }
done:
    return st;
}

gr_status gr_pace_close(Access *a, Gate *gate) {
    return gate->open ? gr_collider_close_detour(a, &gate->detour) : GR_OK;
}
