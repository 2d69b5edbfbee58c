// SPDX-License-Identifier: Apache-2.0
#include "engines/collider/pass/collider_time.h"

#include "base/str.h"
#include "engines/collider/pass/collider_again.h"
#include "engines/collider/pass/collider_brief.h"
#include "engines/collider/pass/collider_halves.h"
#include "engines/collider/pass/collider_look.h"
#include "engines/collider/pass/collider_pace.h"
#include "engines/collider/pass/collider_segment.h"

#include <stddef.h>
#include <stdio.h>

// A step of the generator alone: 5 modulo 8, as the bases below are.
enum { STEP = GR_WAIT_STEP };

static const PtxReg *generator(ColliderWork *w, PtxFunc *f) {
    if (!w->random)
        w->random = gr_ptx_new_reg(f, PTX_U32);
    return w->random;
}

// The generator multiplies its odd state by `base`, modulo 2^32: what overflows is the next digit, in that base, of the
// number state / 2^32, so one multiplication draws a uniform number below `base` and is the step as well (ptxas makes
// one IMAD.WIDE of both halves). Bases that are 3 or 5 modulo 8 have the longest period that there is, 2^30 (Knuth,
// volume 2, 3.2.1.2).
static uint32_t base_for(uint32_t ns) {
    static const uint8_t bases[] = {3, 5, 11, 13, 19, 21, 27, 29};
    unsigned k = 0, bits = ns ? 32 - (unsigned)__builtin_clz(ns) : 0;
    while (k + 1 < sizeof bases && bases[k] <= bits)
        k++;
    return bases[k];
}

// Drawn once per warp: all lanes of a converged warp hold the same generator state. Each power of two below the maximum
// is equally likely: a race whose other side is near is met as well as one whose other side is far. nanosleep takes up
// to twice as long as it is told (PTX ISA 9.7.19.2), which keeps two fifths below the maximum and fills the gaps; they
// make the mean a sixteenth of the maximum.
static gr_status draw_any(ColliderWork *w, const Access *a, PtxStmt *at, uint32_t max_ns, const char *drawn) {
    const char *r = generator(w, a->func)->name;
    uint32_t longest = max_ns < 5 ? 1 : (uint32_t)((uint64_t)max_ns * 2 / 5), base = base_for(longest);
    return gr_access_put(a, at, NULL, 0, "mul.hi.u32 %s, %s, %u; mul.lo.u32 %s, %s, %u; shr.u32 %s, %u, %s;",
                         drawn, r, base, r, r, base, drawn, longest, drawn);
}

gr_status gr_collider_chance(ColliderWork *w, const Access *a, PtxStmt *at, uint32_t of, const PtxReg *p) {
    const char *r = generator(w, a->func)->name;
    return gr_access_put(a, at, NULL, 0, "mul.lo.u32 %s, %s, %u; setp.lt.u32 %s, %s, %u;", r, r, STEP,
                         p->name, r, of);
}

uint32_t gr_collider_longest(uint32_t max_ns) {
    return max_ns > UINT32_MAX / WAIT_LONGEST ? UINT32_MAX : max_ns * WAIT_LONGEST;
}

// A thread whose L has come down to the least has had its windows outside loops: in long straight code many of the
// shortest waits cost more than they find. Where it keeps what it accesses it goes on, because what no window is open
// for ends that.
static uint32_t least_of(uint32_t max_ns) {
    return max_ns > WAIT_LEAST_NS ? (uint32_t)(((uint64_t)WAIT_LEAST_NS << 32) / max_ns) : UINT32_MAX;
}

gr_status gr_collider_last(const ColliderWork *w, const Access *a, PtxStmt *at, uint32_t max_ns) {
    uint32_t least = least_of(max_ns);
    const PtxReg *open = w->pace ? w->pace->outside : NULL;
    if (!open)
        return GR_OK;
    const char *p = gr_ptx_new_reg(a->func, PTX_PRED)->name, *length = w->length->name;
    if (w->watches)
        return gr_access_put(a, at, NULL, 0, "setp.gt.or.u32 %s, %s, %u, %s; and.pred %s, %s, %s;", p, length,
                             least, w->watches->name, open->name, open->name, p);
    return gr_access_put(a, at, NULL, 0, "setp.gt.and.u32 %s, %s, %u, %s;", open->name, length, least,
                         open->name);
}

// What is left of the longest maximum, in 2^-32; in windows it becomes less.
static gr_status put_share(ColliderWork *w, const Access *a, PtxStmt *at, ColliderWait what, uint32_t max_ns,
                           const char *drawn) {
    gr_collider_need_waits(w, a->func);
    const char *length = w->length->name;
    GR_PUT(a, at, "mul.hi.u32 %s, %s, %s;", drawn, drawn, length);
    if (what == WAIT_WINDOW || what == WAIT_STORED) {
        PtxReg *t = gr_ptx_new_reg(a->func, PTX_U32);
        uint32_t least = least_of(max_ns);
        GR_PUT(a, at, "shr.u32 %s, %s, 3; sub.u32 %s, %s, %s; max.u32 %s, %s, %u;", t->name, length, length,
               length, t->name, length, length, least);
        GR_MUST(gr_collider_last(w, a, at, max_ns));
    }
    return GR_OK;
}

// About one length; the high bits of the state are a uniform number.
static gr_status draw_even(ColliderWork *w, const Access *a, PtxStmt *at, ColliderWait what, uint32_t max_ns,
                           const char *drawn) {
    const char *r = generator(w, a->func)->name;
    uint32_t half = max_ns / 2;
    PtxReg *p;
    GR_PUT(a, at, "mul.lo.u32 %s, %s, %u;", r, r, STEP);
    switch (what) {
    case WAIT_WINDOW:
        GR_PUT(a, at, "mul.hi.u32 %s, %s, %u; add.u32 %s, %s, %u;", drawn, r, half, drawn, drawn, half);
        break;
    case WAIT_STORED:
        p = gr_ptx_new_reg(a->func, PTX_PRED);
        GR_PUT(a, at,
               "setp.lt.u32 %s, %s, %u; mul.lo.u32 %s, %s, %u; mul.hi.u32 %s, %s, %u; "
               "add.u32 %s, %s, %u; selp.b32 %s, %s, 0, %s;",
               p->name, r, 5u << 29, r, r, STEP, drawn, r, half, drawn, drawn, half, drawn, drawn, p->name);
        break;
    case WAIT_LATE:
        GR_PUT(a, at, "mul.hi.u32 %s, %s, %u; max.u32 %s, %s, %u; sub.u32 %s, %s, %u;", drawn, r, max_ns,
               drawn, drawn, half, drawn, drawn, half);
        break;
    case WAIT_POISON: GR_PUT(a, at, "mul.hi.u32 %s, %s, %u;", drawn, r, max_ns); break;
    }
    return put_share(w, a, at, what, max_ns, drawn);
}

gr_status gr_collider_draw(ColliderWork *w, const Access *a, PtxStmt *at, ColliderWait what, uint32_t max_ns,
                           char delay[DELAY_TEXT]) {
    if (max_ns <= 1) {
        gr_format(delay, DELAY_TEXT, "%u", max_ns);
        return GR_OK;
    }
    generator(w, a->func);
    PtxReg *drawn = gr_ptx_new_reg(a->func, PTX_U32);
    gr_format(delay, DELAY_TEXT, "%s", drawn->name);
    return w->o->thinned ? draw_even(w, a, at, what, gr_collider_longest(max_ns), drawn->name)
                         : draw_any(w, a, at, max_ns, drawn->name);
}

gr_status gr_collider_sleep(ColliderWork *w, const Access *a, PtxStmt *at, const char *delay) {
    char guard[64];
    if (!w->o->thinned || *delay != '%')
        return gr_access_put(a, at, NULL, 0, "%snanosleep.u32 %s;", gr_access_guard(a, guard, sizeof guard),
                             delay);
    for (unsigned k = 0; k < WAIT_PARTS; k++) {
        PtxReg *t = gr_ptx_new_reg(a->func, PTX_U32), *top = gr_ptx_new_reg(a->func, PTX_U32);
        PtxReg *sleeps = gr_ptx_new_reg(a->func, PTX_PRED);
        // The highest bit that is set; 0 of 0.
        GR_PUT(a, at, "clz.b32 %s, %s; mov.u32 %s, 0x80000000; shr.u32 %s, %s, %s; sub.u32 %s, %s, %s;",
               t->name, delay, top->name, t->name, top->name, t->name, delay, delay, t->name);
        if (a->guard)
            GR_PUT(a, at, "setp.ge.and.u32 %s, %s, %u, %s;", sleeps->name, t->name, (unsigned)WAIT_SHORT_NS,
                   a->guard->name);
        else
            GR_PUT(a, at, "setp.ge.u32 %s, %s, %u;", sleeps->name, t->name, (unsigned)WAIT_SHORT_NS);
        GR_PUT(a, at, "@%s nanosleep.u32 %s;", sleeps->name, t->name);
    }
    return GR_OK;
}

void gr_collider_need_waits(ColliderWork *w, PtxFunc *f) {
    generator(w, f);
    if (!w->length)
        w->length = gr_ptx_new_reg(f, PTX_U32);
}

gr_status gr_collider_draw_below(ColliderWork *w, const Access *a, PtxStmt *at, uint32_t below,
                                 const char *drawn) {
    const char *r = w->random->name;
    return gr_access_put(a, at, NULL, 0, "mul.lo.u32 %s, %s, %u; mul.hi.u32 %s, %s, %u;", r, r, STEP, drawn,
                         r, below);
}

gr_status gr_collider_draw_about(ColliderWork *w, const Access *a, PtxStmt *at, uint32_t ns,
                                 const char *drawn) {
    GR_MUST(gr_collider_draw_below(w, a, at, ns / 2, drawn));
    return gr_access_put(a, at, NULL, 0, "add.u32 %s, %s, %u;", drawn, drawn, ns / 2);
}

gr_status gr_collider_sleep_about(ColliderWork *w, const Access *a, PtxStmt *at, uint32_t ns) {
    const char *t = gr_ptx_new_reg(a->func, PTX_U32)->name;
    GR_MUST(gr_collider_draw_about(w, a, at, ns, t));
    return gr_collider_sleep(w, a, at, t);
}

gr_status gr_collider_wait(ColliderWork *w, const Access *a, PtxStmt *at, ColliderWait what,
                           uint32_t max_ns) {
    char delay[DELAY_TEXT];
    if (max_ns == 0)
        return GR_OK;
    if (w->brief)
        return gr_brief_wait(w, a, at, what, max_ns);
    GR_MUST(gr_collider_draw(w, a, at, what, max_ns, delay));
    return gr_collider_sleep(w, a, at, delay);
}

gr_status gr_collider_come_late(ColliderWork *w, Access *a) {
    Gate gate;
    if (!w->pace || !w->o->write_delay_ns)
        return GR_OK;
    GR_MUST(gr_pace_open(w, a, a->before, &gate));
    if (a->site->access != PTX_ACCESS_READ)
        GR_MUST(gr_segment_own(w, a, gate.at, gate.open));
    a->guard = NULL; // the gate has it
    GR_MUST(gr_look_late(w, a, gate.at));
    GR_MUST(gr_again_over(w->again, a, gate.at, gate.open));
    return gr_pace_close(a, &gate);
}

// A length in hundredths of the maximum, as 2^-32 of the longest maximum.
static uint32_t share_of(uint32_t hundredths) {
    return (uint32_t)((uint64_t)UINT32_MAX * hundredths / (100 * WAIT_LONGEST));
}

static unsigned count_of(const PtxFunc *f) {
    return (unsigned)(offsetof(GrControl, launches) + f->index % GR_LAUNCH_COUNTS * sizeof(uint32_t));
}

gr_status gr_collider_count_launch(const ColliderWork *w, const Access *a, PtxStmt *at, const PtxReg *p) {
    return gr_access_put(a, at, NULL, 0, "@%s red.relaxed.gpu.global.add.u32 [__gr%s_control+%u], 1;",
                         p->name, w->o->suffix, count_of(a->func));
}

// How often the kernel was launched before, modulo WAIT_AGAIN; 0 in a function that is called. The launch's last block
// counts it when its own look is over: so all blocks of a launch that fits on the device see one number.
static gr_status put_count(ColliderWork *w, PtxFunc *f, PtxStmt *at, const char *count) {
    StrBuf text = {0};
    if (!f->is_entry) {
        gr_str_addf(&text, "mov.u32 %s, 0;", count);
    } else {
        unsigned place = count_of(f);
        const char *t = gr_ptx_new_reg(f, PTX_U32)->name, *u = gr_ptx_new_reg(f, PTX_U32)->name,
                   *last = (w->segment ? w->segment->counts : gr_ptx_new_reg(f, PTX_PRED))->name;
        gr_str_addf(&text, "ld.relaxed.gpu.global.u32 %s, [__gr%s_control+%u];", count, w->o->suffix, place);
        gr_str_addf(&text,
                    "mov.u32 %s, %%nctaid.x; mov.u32 %s, %%nctaid.y; mul.lo.u32 %s, %s, %s;"
                    "mov.u32 %s, %%nctaid.z; mul.lo.u32 %s, %s, %s; sub.u32 %s, %s, %s; add.u32 %s, %s, -1;",
                    t, u, t, t, u, u, t, t, u, t, t, w->pace->in_grid->name, t, t);
        for (const char *axis = "xyz"; *axis; axis++)
            gr_str_addf(&text, "mov.u32 %s, %%tid.%c; or.b32 %s, %s, %s;", u, *axis, t, t, u);
        // The count is a condition so that the addition comes behind the load.
        gr_str_addf(&text, "setp.eq.u32 %s, %s, 0; setp.ne.and.u32 %s, %s, %u, %s;", last, t, last, count,
                    UINT32_MAX, last);
        if (!w->segment)
            gr_str_addf(&text, "@%s red.relaxed.gpu.global.add.u32 [__gr%s_control+%u], 1;", last,
                        w->o->suffix, place);
        gr_str_addf(&text, "and.b32 %s, %s, %u;", count, count, WAIT_AGAIN - 1u);
    }
    return gr_emit_str(f, at, 0, &text, NULL, 0, w->err);
}

// In later launches of a kernel all windows stay shut but in one of WAIT_ONE_IN, which the seed chooses, and where
// something may run beside the launch.
static gr_status put_rare(ColliderWork *w, PtxFunc *f, PtxStmt *at, const char *seed) {
    const char *t = gr_ptx_new_reg(f, PTX_U32)->name, *p = gr_ptx_new_reg(f, PTX_PRED)->name,
               *count = w->count->name;
    char beside[128] = "";
    if (w->o->beside)
        gr_format(beside, sizeof beside,
                  "ld.global.nc.u32 %s, [__gr%s_control+%u]; setp.eq.and.u32 %s, %s, 0, %s;", t, w->o->suffix,
                  (unsigned)offsetof(GrControl, beside), p, t, p);
    return gr_emit(
        f, at, 0, NULL, 0, w->err,
        "add.u32 %s, %s, %s; and.b32 %s, %s, %u; setp.ne.u32 %s, %s, 0; setp.ge.and.u32 %s, %s, %u, "
        "%s; %s@%s mov.u32 %s, 0;",
        t, seed, count, t, t, WAIT_ONE_IN - 1u, p, t, p, count, (unsigned)WAIT_FIRST, p, beside, p,
        w->pace->threshold->name);
}

// How many threads the launch has, or HALVES_THREADS + 1 or more: each factor is cut to that, so that no product
// overflows.
static void add_threads(StrBuf *text, PtxFunc *f, const char *all) {
    enum { CUT = HALVES_THREADS + 1 };
    const char *n = gr_ptx_new_reg(f, PTX_U32)->name;
    gr_str_addf(text,
                "mov.u32 %s, %%ntid.x; mov.u32 %s, %%ntid.y; mul.lo.u32 %s, %s, %s; mov.u32 %s, %%ntid.z; "
                "mul.lo.u32 %s, %s, %s;",
                all, n, all, all, n, n, all, all, n);
    for (const char *axis = "xyz"; *axis; axis++)
        gr_str_addf(text,
                    "min.u32 %s, %s, %u; mov.u32 %s, %%nctaid.%c; min.u32 %s, %s, %u; mul.lo.u32 %s, %s, %s;",
                    all, all, (unsigned)CUT, n, *axis, n, n, (unsigned)CUT, all, all, n);
}

// Whether threads keep what they access, in blocks whose windows all open; the others are to lose no time.
static void add_watches(const ColliderWork *w, StrBuf *text, PtxFunc *f) {
    static const WaitKind kinds[WAIT_CYCLE] = WAIT_KINDS;
    const char *watches = w->watches->name, *p = gr_ptx_new_reg(f, PTX_PRED)->name, *few = w->few->name;
    gr_str_addf(text, "setp.ne.u32 %s, 0, 0; setp.le.u32 %s, %s, %u; setp.lt.and.u32 %s, %s, %u, %s;",
                watches, few, w->threads->name, (unsigned)HALVES_THREADS, few, w->count->name,
                (unsigned)WAIT_FIRST, few);
    for (unsigned k = 0; k < WAIT_CYCLE; k++)
        if (kinds[k].watches)
            gr_str_addf(text, "setp.eq%s.u32 %s, %s, %u%s%s; or.pred %s, %s, %s;", kinds[k].few ? ".and" : "",
                        p, w->kind->name, k, kinds[k].few ? ", " : "", kinds[k].few ? few : "", watches,
                        watches, p);
    gr_str_addf(text, "setp.eq.and.u32 %s, %s, %u, %s;", watches, w->pace->threshold->name, UINT32_MAX,
                watches);
}

// To `over` at once where all windows stay shut: most of a kernel's launches are such, and what is set in between is
// asked for in windows alone.
static gr_status put_shut(ColliderWork *w, PtxFunc *f, PtxStmt *at, PtxLabel *over) {
    PtxOperand to = gr_ptx_label_operand(over);
    return gr_emit(f, at, 0, &to, 1, w->err, "@%s bra $0;", w->shuts->name);
}

gr_status gr_collider_begin_count(ColliderWork *w, PtxFunc *f, PtxStmt *at) {
    StrBuf code = {0};
    w->count = w->kind = w->threads = w->shuts = NULL;
    if (!w->length || !f->is_entry || w->pace->shut)
        return GR_OK;
    w->count = gr_ptx_new_reg(f, PTX_U32);
    GR_MUST(put_count(w, f, at, w->count->name));
    const char *seed = gr_ptx_new_reg(f, PTX_U32)->name;
    w->kind = gr_ptx_new_reg(f, PTX_U32);
    char text[160];
    const char *kind = w->kind->name;
    GR_MUST(gr_ptx_insert(f, at, 0, gr_collider_seed(w, seed, text, sizeof text), NULL, 0, NULL, w->err));
    GR_MUST(put_rare(w, f, at, seed));
    w->shuts = gr_ptx_new_reg(f, PTX_PRED);
    GR_EMIT(f, at, w->err, "setp.eq.u32 %s, %s, 0;", w->shuts->name, w->pace->threshold->name);
    if (w->watches)
        GR_EMIT(f, at, w->err, "setp.ne.u32 %s, 0, 0;", w->watches->name);
    PtxLabel *over = gr_ptx_new_label(f);
    GR_MUST(put_shut(w, f, at, over));
    gr_str_addf(&code, "shr.u32 %s, %s, 1; add.u32 %s, %s, %s; rem.u32 %s, %s, %u;", kind, w->count->name,
                kind, kind, seed, kind, kind, (unsigned)WAIT_CYCLE);
    w->threads = gr_ptx_new_reg(f, PTX_U32);
    add_threads(&code, f, w->threads->name);
    if (w->watches)
        add_watches(w, &code, f);
    GR_MUST(gr_emit_str(f, at, 0, &code, NULL, 0, w->err));
    gr_ptx_insert_label(f, at, over);
    return GR_OK;
}

// Whether the other side of a race may be far: threads that wait for others do so by strong accesses, and fences go
// with them. An asynchronous copy takes its time. What is called may have some.
static bool has_far_sides(const PtxFunc *f) {
    for (const PtxStmt *s = f->first; s; s = s->next) {
        if (s->kind != PTX_INSTR || s->tag.inserted)
            continue;
        const PtxInstr *i = s->instr;
        if (i->op == PTX_OP_FENCE || i->op == PTX_OP_MEMBAR || i->op == PTX_OP_ATOM || i->op == PTX_OP_RED ||
            i->op == PTX_OP_CALL || i->op == PTX_OP_CP || i->op == PTX_OP_MBARRIER ||
            (i->sem != PTX_SEM_NONE && i->sem != PTX_WEAK))
            return true;
    }
    return false;
}

// No kind's L is longer, in hundredths.
static uint32_t longest_in(const PtxFunc *f) { return has_far_sides(f) ? UINT32_MAX : WAIT_NEAR; }

// L, by the kind of the launch. In most kinds one half of the warps is quick. `turn` is the seed and the launch's
// number together.
static gr_status put_kind(ColliderWork *w, PtxFunc *f, PtxStmt *at, const char *count, const char *turn) {
    static const WaitKind kinds[WAIT_CYCLE] = WAIT_KINDS;
    const char *length = w->length->name, *kind = gr_ptx_new_reg(f, PTX_U32)->name,
               *is = gr_ptx_new_reg(f, PTX_PRED)->name, *quick = gr_ptx_new_reg(f, PTX_PRED)->name,
               *l = gr_ptx_new_reg(f, PTX_U32)->name;
    const uint32_t called = f->is_entry ? 1 : WAIT_CALLED, most = longest_in(f);
    StrBuf text = {0};
    char seed[96];
    if (w->kind) {
        kind = w->kind->name;
        gr_str_addf(&text, "%s add.u32 %s, %s, %s;", gr_collider_seed(w, turn, seed, sizeof seed), turn, turn,
                    count);
    } else {
        gr_str_addf(&text, "%s add.u32 %s, %s, %s; rem.u32 %s, %s, %u;",
                    gr_collider_seed(w, kind, seed, sizeof seed), turn, kind, count, kind, kind,
                    (unsigned)WAIT_CYCLE);
    }
    const char *warp = gr_halves_warp(&text, f);
    gr_str_addf(&text, "shr.u32 %s, %s, 1;", l, turn); // so that blocks and warps do not turn together
    gr_halves_of(&text, f, warp, l, quick);
    gr_str_addf(&text, "mov.u32 %s, %u;", length, share_of(WAIT_USUAL) / called);
    for (unsigned k = 0; k < WAIT_CYCLE; k++)
        if (kinds[k].hundredths <= most) {
            uint32_t share = share_of(kinds[k].hundredths) / called;
            gr_str_addf(&text, "setp.eq.u32 %s, %s, %u; selp.b32 %s, %u, %u, %s; @%s mov.u32 %s, %s;", is,
                        kind, k, l, share / kinds[k].quicker, share, quick, is, length, l);
        }
    return gr_emit_str(f, at, 0, &text, NULL, 0, w->err);
}

// Where L is short, it is longer in small launches.
static gr_status put_small(ColliderWork *w, PtxFunc *f, PtxStmt *at) {
    static const WaitKind kinds[WAIT_CYCLE] = WAIT_KINDS;
    const char *length = w->length->name;
    StrBuf text = {0};
    w->small = gr_ptx_new_reg(f, PTX_PRED);
    const char *p = w->small->name;
    gr_str_addf(&text, "setp.le.u32 %s, %s, %u;", p, w->threads->name, (unsigned)WAIT_SMALL_THREADS);
    for (unsigned k = 0; k < WAIT_CYCLE; k++)
        if (kinds[k].hundredths > WAIT_USUAL && kinds[k].hundredths <= longest_in(f))
            gr_str_addf(&text, "setp.ne.and.u32 %s, %s, %u, %s;", p, w->kind->name, k, p);
    gr_str_addf(&text, "@%s mul.lo.u32 %s, %s, %u;", p, length, length, (unsigned)WAIT_SMALL);
    return gr_emit_str(f, at, 0, &text, NULL, 0, w->err);
}

// One half of the blocks is quick, the other one in the next launch.
static gr_status put_quick(ColliderWork *w, PtxFunc *f, PtxStmt *at, const char *turn) {
    const char *length = w->length->name, *quick = gr_ptx_new_reg(f, PTX_PRED)->name;
    StrBuf text = {0};
    gr_halves_of(&text, f, gr_halves_block(w, &text, f, turn), turn, quick);
    gr_str_addf(&text, "@%s shr.u32 %s, %s, %u;", quick, length, length,
                (unsigned)__builtin_ctz(WAIT_QUICKER));
    return gr_emit_str(f, at, 0, &text, NULL, 0, w->err);
}

// A budget leaves no time for long waits, and makes waits shorter as it makes windows fewer: a kernel ends with its
// last warp, and so takes as long with one window as with many.
static gr_status begin_length(ColliderWork *w, PtxFunc *f, PtxStmt *at) {
    const char *length = w->length->name;
    if (w->pace->shut)
        return gr_emit(f, at, 0, NULL, 0, w->err, "mov.u32 %s, %u; mul.hi.u32 %s, %s, %s;", length,
                       share_of(f->is_entry ? WAIT_USUAL : WAIT_USUAL / WAIT_CALLED), length, length,
                       w->pace->shut->name);
    const char *count = gr_ptx_new_reg(f, PTX_U32)->name, *turn = gr_ptx_new_reg(f, PTX_U32)->name;
    GR_EMIT(f, at, w->err, f->is_entry ? "mov.u32 %s, %s;" : "mov.u32 %s, 0;", count,
            f->is_entry ? w->count->name : "");
    GR_MUST(put_kind(w, f, at, count, turn));
    if (f->is_entry) {
        GR_MUST(put_small(w, f, at));
        GR_MUST(put_quick(w, f, at, turn));
    }
    // Half as long behind 2 launches, a quarter behind 4, and so on.
    return gr_emit(f, at, 0, NULL, 0, w->err,
                   "shr.u32 %s, %s, 1; clz.b32 %s, %s; sub.u32 %s, 32, %s; shr.u32 %s, %s, %s;", count, count,
                   count, count, count, count, length, length, count);
}

// Each launch that is held tells the host that it has begun. In one of four all warps wait long as well; but not where
// it is one of many.
static gr_status put_beside(ColliderWork *w, PtxFunc *f, PtxStmt *at) {
    char seed[96];
    const char *r = w->random->name, *grid = gr_ptx_new_reg(f, PTX_U64)->name,
               *t = gr_ptx_new_reg(f, PTX_U32)->name, *h = gr_ptx_new_reg(f, PTX_U32)->name,
               *told = gr_ptx_new_reg(f, PTX_U32)->name, *p = gr_ptx_new_reg(f, PTX_PRED)->name;
    PtxLabel *over = gr_ptx_new_label(f);
    PtxOperand to = gr_ptx_label_operand(over);
    GR_EMIT(f, at, w->err, "ld.global.nc.u32 %s, [__gr%s_control+%u];", told, w->o->suffix,
            (unsigned)offsetof(GrControl, beside));
    GR_MUST(gr_emit(f, at, 0, &to, 1, w->err, "setp.eq.u32 %s, %s, 0; @%s bra $0;", p, told, p));
    if (w->hold)
        GR_EMIT(f, at, w->err, "mul.lo.u32 %s, %s, %u; call (%s), __gr%s_begun, (%s, %s, %u);", r, r,
                (unsigned)STEP, w->hold->name, w->o->suffix, told, r, w->n_holds);
    // What waits for the host has other waits to be in time for.
    GR_EMIT(f, at, w->err, "@%s shr.u32 %s, %s, %u;", w->small->name, w->length->name, w->length->name,
            (unsigned)__builtin_ctz(WAIT_SMALL));
    GR_EMIT(f, at, w->err,
            "%s mov.u64 %s, %%gridid; cvt.u32.u64 %s, %s; mad.lo.u32 %s, %s, 3, %s; mul.lo.u32 %s, %s, %u;"
            "and.b32 %s, %s, %u; setp.eq.u32 %s, %s, 0; setp.ge.and.u32 %s, %s, %u, %s; @%s mov.u32 %s, %u;",
            gr_collider_seed(w, h, seed, sizeof seed), grid, t, grid, t, h, t, t, t, 0x9E3779B1u, h, told,
            3u << GR_BESIDE_SHORTER, p, h, p, t, 3u << 30, p, p, w->length->name, UINT32_MAX);
    gr_ptx_insert_label(f, at, over);
    return GR_OK;
}

gr_status gr_collider_begin_waits(ColliderWork *w, PtxFunc *f, PtxStmt *at) {
    if (!w->length)
        return GR_OK;
    PtxLabel *over = w->shuts ? gr_ptx_new_label(f) : NULL;
    if (w->hold) {
        GR_EMIT(f, at, w->err, "mov.u32 %s, 0;", w->hold->name);
    }
    if (over)
        GR_MUST(put_shut(w, f, at, over));
    GR_MUST(begin_length(w, f, at));
    if (w->o->beside && f->is_entry && !w->pace->shut)
        GR_MUST(put_beside(w, f, at));
    if (over)
        gr_ptx_insert_label(f, at, over);
    return GR_OK;
}
