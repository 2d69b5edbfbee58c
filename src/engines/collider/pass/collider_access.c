// SPDX-License-Identifier: Apache-2.0
#include "engines/collider/pass/collider_access.h"

#include "base/str.h"
#include "engines/collider/device/record.h"
#include "engines/collider/pass/collider_brief.h"
#include "engines/collider/pass/collider_group.h"
#include "engines/collider/pass/collider_held.h"
#include "engines/collider/pass/collider_hoisted.h"
#include "engines/collider/pass/collider_look.h"
#include "engines/collider/pass/collider_poison.h"
#include "engines/collider/pass/collider_segment.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

// ---- Pieces ------------------------------------------------------------------------------------------------

const char *gr_collider_seed(const ColliderWork *w, const char *into, char *buf, size_t size) {
    if (w->o->seed_at_load)
        gr_format(buf, size, "ld.global.nc.u32 %s, [__gr%s_control+%u];", into, w->o->suffix,
                  (unsigned)offsetof(GrControl, seed));
    else
        gr_format(buf, size, "mov.u32 %s, %u;", into, w->o->seed);
    return buf;
}

gr_status gr_collider_own_guard(Access *a) {
    if (!a->guard || a->guard != a->stmt->instr->guard)
        return GR_OK;
    PtxReg *copy = gr_ptx_new_reg(a->func, PTX_PRED);
    PtxOperand g = gr_ptx_reg_operand(a->guard);
    a->guard = copy;
    return gr_access_put(a, a->before, &g, 1, "mov.pred %s, $0;", copy->name);
}

// Everything a load's repeat keeps of the original: the space, the vector, the type. Cache operators and .nc go
// (.relaxed refuses them).
static void repeat_mods(const Access *a, const char *type, char *buf, size_t size) {
    const PtxInstr *i = a->stmt->instr;
    const char *space = "";
    for (unsigned k = 0; k < i->n_mods; k++)
        if (i->mods[k].text && (!strncmp(i->mods[k].text, "shared", 6) || !strcmp(i->mods[k].text, "global")))
            space = i->mods[k].text;
    char vec[16] = "";
    if (a->n > 1)
        gr_format(vec, sizeof vec, ".v%u", a->n);
    gr_format(buf, size, "ld.relaxed.sys%s%s%s.%s", *space ? "." : "", space, vec, type);
}

uint32_t gr_collider_meta(const ColliderWork *w, const Access *a, GrRaceClass class) {
    uint32_t space = a->site->space == PTX_TMEM      ? GR_META_TENSOR
                     : a->offsets                    ? GR_META_SHARED
                     : a->site->space == PTX_GLOBAL  ? GR_META_GLOBAL
                     : a->site->space == PTX_GENERIC ? GR_META_GENERIC
                                                     : GR_META_SHARED;
    return (uint32_t) class | space << GR_META_SPACE | a->bytes << GR_META_SIZE |
           (w->o->same_value ? GR_META_WANT_SAME : 0);
}

// At the end of the function the source position is the last statement's; a debugger that stops in a detour shall show
// the access's.
static gr_status put_position(const Access *a) {
    const PtxStmt *s = a->stmt->loc ? a->stmt : NULL;
    while (s && s->kind != PTX_LOC)
        s = s->prev;
    return s ? gr_ptx_insert(a->func, NULL, a->site->id, s->text, NULL, 0, NULL, a->err) : GR_OK;
}

gr_status gr_collider_open_detour(Access *a, PtxStmt *at, const PtxReg *condition, Detour *d) {
    d->inline_ = a->nested;
    d->back = gr_ptx_new_label(a->func);
    d->at = at;
    PtxLabel *away = d->inline_ ? d->back : gr_ptx_new_label(a->func);
    PtxOperand target = gr_ptx_label_operand(away);
    GR_PUT_OPS(a, at, &target, 1, "@%s%s bra $0;", d->inline_ ? "!" : "", condition->name);
    if (!d->inline_) {
        gr_ptx_insert_label(a->func, at, d->back);
        gr_ptx_insert_label(a->func, NULL, away);
        GR_MUST(put_position(a));
        PtxOperand back = gr_ptx_label_operand(d->back);
        GR_PUT_OPS(a, NULL, &back, 1, "bra $0;");
        d->at = a->func->last; // what is inserted stands before the way back
    }
    return GR_OK;
}

gr_status gr_collider_close_detour(Access *a, Detour *d) {
    if (d->inline_)
        gr_ptx_insert_label(a->func, d->at, d->back);
    return GR_OK;
}

gr_status gr_collider_open_together(Access *a, PtxStmt *at, const PtxReg *condition, Detour *d,
                                    PtxLabel **others) {
    PtxReg *any = gr_ptx_new_reg(a->func, PTX_PRED);
    // A warp that is in several parts does not perform it, and must not vote.
    if (a->whole)
        GR_PUT(a, at, "setp.ne.u32 %s, 0, 0; @%s vote.sync.any.pred %s, %s, 0xffffffff;", any->name,
               a->whole->name, any->name, condition->name);
    else
        GR_PUT(a, at, "vote.sync.any.pred %s, %s, 0xffffffff;", any->name, condition->name);
    GR_MUST(gr_collider_open_detour(a, at, any, d));
    *others = gr_ptx_new_label(a->func);
    PtxOperand target = gr_ptx_label_operand(*others);
    return gr_access_put(a, d->at, &target, 1, "@!%s bra $0;", condition->name);
}

gr_status gr_collider_close_together(Access *a, Detour *d, PtxLabel *others) {
    gr_ptx_insert_label(a->func, d->at, others);
    return gr_collider_close_detour(a, d);
}

// ---- Repeat and compare --------------------------------------------------------------------------------------

// Section 4.5 of the paper: a program that was rewritten ahead of time, and that no runtime is attached to, stops where
// a debugger can look. Here and not in the runtime's function, which has no place in the source, and from which
// debuggers find no way back to its caller. Without line information it may as well stop there. `attached` becomes the
// guard of the call that reports.
gr_status gr_collider_breakpoint(const ColliderWork *w, const Access *a, PtxStmt *at, char *attached,
                                 size_t size) {
    *attached = 0;
    if (w->o->attached || !a->stmt->loc)
        return GR_OK;
    PtxReg *slots = gr_ptx_new_reg(a->func, PTX_B64), *alone = gr_ptx_new_reg(a->func, PTX_PRED);
    gr_format(attached, size, "@!%s ", alone->name);
    return gr_access_put(a, at, NULL, 0,
                         "ld.volatile.global.u64 %s, [__gr%s_control]; setp.eq.u64 %s, %s, 0; @%s brkpt;",
                         slots->name, w->o->suffix, alone->name, slots->name, alone->name);
}

// The address of element `k`.
static gr_status put_address(Access *a, PtxStmt *at, unsigned k, PtxReg **out) {
    if (a->at[0]) {
        unsigned bits = gr_ptx_type_bits(a->at[k]->type);
        return gr_access_widen(a, at, gr_ptx_reg_operand((PtxReg *)a->at[k]), bits, out);
    }
    GR_MUST(gr_access_address64(a, at, out));
    if (k)
        GR_PUT(a, at, "add.s64 %s, %s, %u;", (*out)->name, (*out)->name, k * a->bytes);
    return GR_OK;
}

gr_status gr_collider_generic(const Access *a, PtxStmt *at, PtxReg **out) {
    GR_MUST(gr_access_address64(a, at, out));
    if (a->site->space != PTX_GLOBAL && a->site->space != PTX_GENERIC)
        GR_PUT(a, at, "cvta.%s.u64 %s, %s;",
               a->site->space == PTX_SHARED_CLUSTER ? "shared::cluster" : "shared", (*out)->name,
               (*out)->name);
    return GR_OK;
}

gr_status gr_collider_report(const ColliderWork *w, const Access *a, PtxStmt *at, GrRaceClass class,
                             const PtxReg *address, const PtxReg *expected, const PtxReg *seen) {
    char attached[64];
    GR_MUST(gr_collider_breakpoint(w, a, at, attached, sizeof attached));
    return gr_access_put(a, at, NULL, 0, "%scall __gr%s_report, (%u, %u, %s, %s, %s);", attached,
                         w->o->suffix, a->site->id, gr_collider_meta(w, a, class), address->name,
                         expected->name, seen->name);
}

// What a look has compared: the elements of which there is something to compare, and whether any of them differs.
typedef struct Compared {
    PtxOperand old[EMIT_MAX_ELEMENTS], new[EMIT_MAX_ELEMENTS];
    unsigned where[EMIT_MAX_ELEMENTS], n, bits;
    PtxReg *differs;
} Compared;

static gr_status put_comparison(Access *a, const PtxOperand *before, const PtxOperand *after, unsigned bits,
                                Compared *c) {
    c->differs = gr_ptx_new_reg(a->func, PTX_PRED);
    c->n = 0;
    c->bits = bits;
    for (unsigned k = 0; k < a->n; k++) {
        unsigned n = c->n;
        if (!a->used[k])
            continue;
        c->old[n] = before[k];
        c->new[n] = after[k];
        if (a->used[k] != UINT64_MAX) {
            PtxType t = bits == 64 ? PTX_B64 : bits == 32 ? PTX_B32 : PTX_B16;
            PtxReg *x = gr_ptx_new_reg(a->func, t), *y = gr_ptx_new_reg(a->func, t);
            PtxOperand both[2] = {c->old[n], c->new[n]};
            unsigned long long mask = a->used[k] & (bits == 64 ? UINT64_MAX : (1ull << bits) - 1);
            GR_PUT_OPS(a, a->after, both, 2, "and.b%u %s, $0, 0x%llx; and.b%u %s, $1, 0x%llx;", bits, x->name,
                       mask, bits, y->name, mask);
            c->old[n] = gr_ptx_reg_operand(x);
            c->new[n] = gr_ptx_reg_operand(y);
        }
        c->where[c->n++] = k;
    }
    if (!c->n)
        return gr_fail(a->err, GR_ERR_INTERNAL, "site %u: nothing to compare", a->site->id);
    for (unsigned k = 0; k < c->n; k++) {
        PtxOperand both[2] = {c->old[k], c->new[k]};
        const char *differs = c->differs->name;
        if (k == 0 && c->n == 1 && a->guard)
            GR_PUT_OPS(a, a->after, both, 2, "setp.ne.and.b%u %s, $0, $1, %s;", bits, differs,
                       a->guard->name);
        else if (k == 0)
            GR_PUT_OPS(a, a->after, both, 2, "setp.ne.b%u %s, $0, $1;", bits, differs);
        else
            GR_PUT_OPS(a, a->after, both, 2, "setp.ne.or.b%u %s, $0, $1, %s;", bits, differs, differs);
    }
    if (c->n > 1 && a->guard)
        GR_PUT(a, a->after, "and.pred %s, %s, %s;", c->differs->name, c->differs->name, a->guard->name);
    return GR_OK;
}

// Of the elements that differ the first one.
static gr_status put_difference(ColliderWork *w, Access *a, PtxStmt *at, const Compared *c,
                                GrRaceClass class) {
    PtxReg *address, *expected, *seen;
    unsigned n = c->n, bits = c->bits;
    GR_MUST(put_address(a, at, c->where[n - 1], &address));
    GR_MUST(gr_access_widen(a, at, c->old[n - 1], bits, &expected));
    GR_MUST(gr_access_widen(a, at, c->new[n - 1], bits, &seen));
    for (unsigned k = n - 1; k-- > 0;) {
        PtxReg *p = gr_ptx_new_reg(a->func, PTX_PRED), *x, *y, *z;
        PtxOperand both[2] = {c->old[k], c->new[k]};
        GR_PUT_OPS(a, at, both, 2, "setp.ne.b%u %s, $0, $1;", bits, p->name);
        GR_MUST(gr_access_widen(a, at, c->old[k], bits, &x));
        GR_MUST(gr_access_widen(a, at, c->new[k], bits, &y));
        GR_PUT(a, at, "selp.b64 %s, %s, %s, %s; selp.b64 %s, %s, %s, %s;", expected->name, x->name,
               expected->name, p->name, seen->name, y->name, seen->name, p->name);
        if (a->at[0] && a->at[c->where[k]] == a->at[c->where[n - 1]])
            continue;
        GR_MUST(put_address(a, at, c->where[k], &z));
        GR_PUT(a, at, "selp.b64 %s, %s, %s, %s;", address->name, z->name, address->name, p->name);
    }
    if (w->hoisted)
        GR_MUST(gr_collider_remember(w->hoisted, a, at, address, expected, seen));
    else
        GR_MUST(gr_collider_report(w, a, at, class, address, expected, seen));
    return GR_OK;
}

gr_status gr_collider_compare(ColliderWork *w, Access *a, const PtxOperand *before, const PtxOperand *after,
                              unsigned bits, GrRaceClass class, const Speculation *spec) {
    Compared c;
    GR_MUST(put_comparison(a, before, after, bits, &c));
    if (spec)
        GR_MUST(gr_access_kept(a, a->report, spec, c.differs));
    if (spec && w->open)
        GR_PUT(a, a->report, "and.pred %s, %s, %s;", c.differs->name, c.differs->name, w->open->name);

    Detour d;
    PtxLabel *others = NULL;
    if (a->together)
        GR_MUST(gr_collider_open_together(a, a->report, c.differs, &d, &others));
    else
        GR_MUST(gr_collider_open_detour(a, a->report, c.differs, &d));
    GR_MUST(put_difference(w, a, d.at, &c, class));
    if (a->together)
        GR_MUST(gr_collider_close_together(a, &d, others));
    else
        GR_MUST(gr_collider_close_detour(a, &d));
    return GR_OK;
}

gr_status gr_collider_repeat(Access *a, const char *type, PtxType reg_type, PtxOperand *again) {
    char mods[96], guard[64];
    const char *g = gr_access_guard(a, guard, sizeof guard);
    repeat_mods(a, type, mods, sizeof mods);
    StrBuf list = {0};
    for (unsigned k = 0; k < a->n; k++) {
        PtxReg *r = a->used[k] ? gr_ptx_new_reg(a->func, reg_type) : NULL;
        again[k] = r ? gr_ptx_reg_operand(r) : (PtxOperand){.kind = PTX_O_SINK};
        gr_str_addf(&list, "%s%s", k ? ", " : "", r ? r->name : "_");
    }
    gr_status st = list.oom ? gr_no_memory(a->err)
                            : gr_access_put(a, a->after, &a->address, 1,
                                            a->n > 1 ? "%s%s {%s}, $0;" : "%s%s %s, $0;", g, mods, list.data);
    gr_str_free(&list);
    return st;
}

gr_status gr_collider_prepare(Access *a) {
    GR_MUST(gr_access_prepare(a));
    return gr_collider_own_guard(a);
}

// Of several loads, a lane waits if it may have made one of them.
static const PtxReg *guard_of_all(const Access *a, unsigned n) {
    for (unsigned k = 0; k < n; k++)
        if (n > 1 && a[k].site->space == PTX_GENERIC)
            return NULL;
    return a->guard;
}

// So many loads are repeated before the first of them is compared: more at once would take less time and more
// registers.
enum { AT_ONCE = 4 };

// All of them are compared before one way out of line leads to the reports: what is executed in each look is one piece.
static gr_status put_differences(ColliderWork *w, Access *a, unsigned n, PtxStmt *at,
                                 PtxOperand again[AT_ONCE][EMIT_MAX_ELEMENTS]) {
    Compared *c = GR_NEW_ARRAY(&w->module->arena, Compared, n);
    PtxReg *any = gr_ptx_new_reg(a->func, PTX_PRED);
    Detour d;
    GR_NEED(c, w->err);
    for (unsigned k = 0; k < n; k++) {
        PtxOperand before[EMIT_MAX_ELEMENTS];
        for (unsigned v = 0; v < a[k].n; v++)
            before[v] = *a[k].value[v];
        GR_MUST(put_comparison(&a[k], before, again[k], gr_access_compare_bits(&a[k]), &c[k]));
        if (k)
            GR_PUT(&a[k], at, "or.pred %s, %s, %s;", any->name, k == 1 ? c[0].differs->name : any->name,
                   c[k].differs->name);
    }
    GR_MUST(gr_collider_open_detour(a, at, any, &d));
    for (unsigned k = 0; k < n; k++) {
        PtxLabel *same = gr_ptx_new_label(a->func);
        PtxOperand to = gr_ptx_label_operand(same);
        GR_PUT_OPS(&a[k], d.at, &to, 1, "@!%s bra $0;", c[k].differs->name);
        GR_MUST(put_difference(w, &a[k], d.at, &c[k], GR_CLASS_CLOBBERED_READ));
        gr_ptx_insert_label(a->func, d.at, same);
    }
    return gr_collider_close_detour(a, &d);
}

static gr_status put_looks(ColliderWork *w, Access *a, unsigned n, PtxStmt *at, const Speculation *spec) {
    PtxOperand again[AT_ONCE][EMIT_MAX_ELEMENTS], before[EMIT_MAX_ELEMENTS];
    for (unsigned k = 0; k < n; k++) {
        a[k].after = at;
        a[k].report = spec ? spec->last->next : at;
        GR_MUST(gr_access_comparable(&a[k], at));
        unsigned bits = gr_access_compare_bits(&a[k]);
        // The repeat has the original's type and register width, so that both extend alike.
        GR_MUST(gr_collider_repeat(&a[k], gr_ptx_type_text(a[k].type),
                                   bits == 64   ? PTX_B64
                                   : bits == 32 ? PTX_B32
                                                : PTX_B16,
                                   again[k]));
    }
    if (n > 1)
        return put_differences(w, a, n, at, again);
    for (unsigned v = 0; v < a->n; v++)
        before[v] = *a->value[v];
    return gr_collider_compare(w, a, before, again[0], gr_access_compare_bits(a), GR_CLASS_CLOBBERED_READ,
                               spec);
}

gr_status gr_collider_looks(ColliderWork *w, Access *a, unsigned n, PtxStmt *at, const Speculation *spec) {
    for (unsigned first = 0; first < n; first += AT_ONCE)
        GR_MUST(put_looks(w, a + first, n - first < AT_ONCE ? n - first : AT_ONCE, at, spec));
    return GR_OK;
}

static gr_status put_brief_look(ColliderWork *w, Access *a, PtxStmt *at, const Speculation *spec) {
    PtxOperand values[EMIT_MAX_ELEMENTS];
    BriefAccess b;
    GR_MUST(gr_access_comparable(a, at));
    for (unsigned k = 0; k < a->n; k++)
        values[k] = *a->value[k];
    if (spec || !gr_brief_knows(w, a, values, gr_access_compare_bits(a)))
        return gr_collider_looks(w, a, 1, at, spec);
    GR_MUST(gr_brief_access(a, at, values, gr_access_compare_bits(a), &b));
    return gr_brief_look(w, a, at, &b, GR_CLASS_CLOBBERED_READ);
}

gr_status gr_collider_loads(ColliderWork *w, Access *a, unsigned n, PtxStmt *at, const Speculation *spec) {
    Access pause = *a;
    Look look;
    pause.after = at;
    pause.guard = (PtxReg *)guard_of_all(a, n);
    GR_MUST(gr_held_in_window(w, a, n, at));
    if (w->brief) {
        GR_MUST(gr_brief_wait(w, &pause, at, WAIT_WINDOW, w->o->read_delay_ns));
        for (unsigned k = 0; k < n; k++)
            GR_MUST(put_brief_look(w, &a[k], at, spec));
        return GR_OK;
    }
    GR_MUST(gr_look_begin(w, &pause, at, WAIT_WINDOW, w->o->read_delay_ns, &look));
    GR_MUST(gr_collider_looks(w, a, n, at, spec));
    return gr_look_end(w, &pause, at, &look, LOOK_HELD);
}

// Figure 1: load, delay, load again, compare.
gr_status gr_collider_load(ColliderWork *w, Access *a, const Speculation *spec) {
    gr_status st = GR_OK;
    bool any = false;
    Gate gate;
    for (unsigned k = 0; k < a->n; k++)
        any = any || a->used[k];
    if (!any)
        return GR_OK;
    if (spec)
        a->report = spec->last->next;
    GR_TRY(gr_collider_prepare(a));
    GR_TRY(gr_pace_open(w, a, a->after, &gate));
    w->open = gate.open;
    GR_TRY(gr_collider_loads(w, a, 1, gate.at, spec));
    if (w->hoisted)
        GR_TRY(gr_collider_keep_hoisted(w, a, gate.at));
    else if (!spec)
        GR_TRY(gr_segment_keep_load(w, a, gate.at));
    GR_TRY(gr_pace_close(a, &gate));
done:
    w->open = NULL;
    return st;
}

gr_status gr_collider_stored(Access *a, unsigned bits, PtxOperand *stored) {
    for (unsigned k = 0; k < a->n; k++) {
        PtxOperand v = stored[k] = *a->value[k];
        if (v.kind == PTX_O_SINK)
            continue;
        unsigned have = v.kind == PTX_O_REG ? gr_ptx_type_bits(v.reg->type) : 0;
        if (have == a->bytes * 8)
            continue;
        PtxReg *r = gr_ptx_new_reg(a->func, bits == 64 ? PTX_B64 : bits == 32 ? PTX_B32 : PTX_B16);
        stored[k] = gr_ptx_reg_operand(r);
        if (v.kind == PTX_O_INT) {
            uint64_t x = v.bits & (a->bytes >= 8 ? UINT64_MAX : (1ull << a->bytes * 8) - 1);
            GR_PUT(a, a->before, "mov.b%u %s, 0x%llx;", bits, r->name, (unsigned long long)x);
        } else if (v.kind != PTX_O_REG) {
            GR_PUT_OPS(a, a->before, &v, 1, "mov.f%u %s, $0;", bits, r->name);
        } else if (have == bits) { // 8 of 16
            GR_PUT_OPS(a, a->before, &v, 1, "and.b16 %s, $0, 0xff;", r->name);
        } else {
            PtxReg *t = gr_ptx_new_reg(a->func, have == 64 ? PTX_B64 : PTX_B32);
            GR_PUT_OPS(a, a->before, &v, 1, "mov.b%u %s, $0; cvt.u%u.u%u %s, %s;", have, t->name, bits, have,
                       r->name, t->name);
            if (a->bytes == 1)
                GR_PUT(a, a->before, "and.b16 %s, %s, 0xff;", r->name, r->name);
        }
    }
    return GR_OK;
}

// By calls, when its window is open.
static gr_status put_brief_store(ColliderWork *w, Access *a, Gate *gate, const PtxOperand *stored,
                                 unsigned bits) {
    BriefAccess b;
    GR_MUST(gr_brief_access(a, gate->at, stored, bits, &b));
    GR_MUST(gr_held_at_store(w, a, gate->at));
    GR_MUST(gr_brief_before(w, a, gate->at, &b));
    GR_MUST(gr_pace_close(a, gate));
    GR_MUST(gr_pace_open_again(w, a, a->after, gate));
    GR_MUST(gr_held_at_store(w, a, gate->at));
    GR_MUST(gr_brief_wait(w, a, gate->at, WAIT_STORED, w->o->write_delay_ns));
    GR_MUST(gr_brief_look(w, a, gate->at, &b, GR_CLASS_LOST_UPDATE));
    return gr_pace_close(a, gate);
}

// Figure 3: the intra-warp check, the store, delay, load back, compare.
gr_status gr_collider_store(ColliderWork *w, Access *a) {
    unsigned bits = a->bytes < 2 ? 16 : a->bytes * 8;
    PtxOperand stored[EMIT_MAX_ELEMENTS], again[EMIT_MAX_ELEMENTS];
    char type[16];
    gr_format(type, sizeof type, "b%u", a->bytes * 8);
    Gate gate;
    Look look;
    PtxReg *alone = NULL;
    bool late = false, poisoned = false, may_be_late = w->o->poison && gr_segment_may_be_late(w, a);
    if (may_be_late) {
        alone = gr_ptx_new_reg(a->func, PTX_PRED);
        if (!w->segment->late)
            w->segment->late = gr_ptx_new_reg(a->func, PTX_PRED);
    }
    GR_MUST(gr_pace_open(w, a, a->before, &gate));
    a->before = gate.at;
    GR_MUST(gr_collider_prepare(a));
    GR_MUST(gr_access_comparable(a, a->before));
    GR_MUST(gr_collider_stored(a, bits, stored));
    if (gr_brief_knows(w, a, stored, bits))
        return put_brief_store(w, a, &gate, stored, bits);
    GR_MUST(gr_collider_warp_check(w, a, stored, bits, alone));
    // Threads that come together would all be done with their stores, or with the garbage, before the first of them
    // looks.
    if (w->o->poison || w->o->thinned)
        GR_MUST(gr_collider_wait(w, a, a->before, WAIT_LATE, w->o->write_delay_ns));
    GR_MUST(gr_segment_own(w, a, a->before, gate.open)); // what the wait was long enough to show is seen
    GR_MUST(gr_held_at_store(w, a, a->before));
    if (w->o->poison) {
        char mods[96];
        repeat_mods(a, type, mods, sizeof mods);
        GR_MUST(gr_collider_poison(w, a, stored, type, bits, mods + strlen("ld"), alone, &late, &poisoned));
    }
    GR_MUST(gr_pace_close(a, &gate));
    if (late)
        GR_MUST(gr_segment_store(w, a));
    GR_MUST(gr_pace_open_again(w, a, a->after, &gate));
    a->after = a->report = gate.at;
    PtxLabel *over = late ? gr_ptx_new_label(a->func) : NULL;
    if (late) {
        PtxOperand to = gr_ptx_label_operand(over);
        GR_PUT_OPS(a, gate.at, &to, 1, "@%s bra $0;", w->segment->late->name);
    }
    if (w->pace)
        GR_MUST(gr_again_over(w->again, a, gate.at, gate.open));
    GR_MUST(gr_held_at_store(w, a, gate.at));
    GR_MUST(gr_look_begin(w, a, gate.at, WAIT_STORED, w->o->write_delay_ns, &look));
    GR_MUST(gr_collider_repeat(a, type, bits == 64 ? PTX_B64 : bits == 32 ? PTX_B32 : PTX_B16, again));
    GR_MUST(gr_collider_compare(w, a, stored, again, bits, GR_CLASS_LOST_UPDATE, NULL));
    if (w->pace)
        GR_MUST(gr_again_look(w, w->again, a, gate.at, gate.open));
    // A thread that is held with its garbage sees all that it would see here.
    GR_MUST(gr_look_end(w, a, gate.at, &look, poisoned ? LOOK_STAYS : LOOK_HELD));
    GR_MUST(gr_segment_keep(w, a, gate.at, stored, bits, GR_CLASS_LOST_UPDATE));
    if (late)
        gr_ptx_insert_label(a->func, gate.at, over);
    return gr_pace_close(a, &gate);
}
