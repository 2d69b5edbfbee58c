// SPDX-License-Identifier: Apache-2.0
#include "engines/collider/pass/collider_time.h"

#include "base/str.h"
#include "engines/collider/pass/collider_pace.h"

#include <stddef.h>
#include <stdio.h>

// A step of the generator alone. 29 is 5 modulo 8, as the bases below are.
enum { STEP = 29 };

static const PtxReg *generator(ColliderWork *w, PtxFunc *f) {
    if (!w->random)
        w->random = gr_ptx_new_reg(f, PTX_U32);
    return w->random;
}

// The generator multiplies its odd state by `base`, modulo 2^32: what overflows is the next digit, in that base, of the number
// state / 2^32, so one multiplication draws a uniform number below `base` and is the step as well (ptxas makes one IMAD.WIDE of both
// halves). Bases that are 3 or 5 modulo 8 have the longest period that there is, 2^30 (Knuth, volume 2, 3.2.1.2).
static uint32_t base_for(uint32_t ns) {
    static const uint8_t bases[] = {3, 5, 11, 13, 19, 21, 27, 29};
    unsigned k = 0, bits = ns ? 32 - (unsigned)__builtin_clz(ns) : 0;
    while (k + 1 < sizeof bases && bases[k] <= bits)
        k++;
    return bases[k];
}

// Drawn once per warp: all lanes of a converged warp hold the same generator state. Each power of two below
// the maximum is equally likely: a race whose other side is near is met as well as one whose other side is far. nanosleep takes
// up to twice as long as it is told (PTX ISA 9.7.19.2), which keeps two fifths below the maximum and fills the gaps; they make
// the mean a sixteenth of the maximum.
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

static uint32_t longest_of(uint32_t max_ns) {
    return max_ns > UINT32_MAX / WAIT_LONGEST ? UINT32_MAX : max_ns * WAIT_LONGEST;
}

// What is left of the longest maximum, in 2^-32; in windows it becomes less.
static gr_status put_share(ColliderWork *w, const Access *a, PtxStmt *at, ColliderWait what, uint32_t max_ns,
                           const char *drawn) {
    gr_status st = GR_OK;
    if (!w->length)
        w->length = gr_ptx_new_reg(a->func, PTX_U32);
    const char *length = w->length->name;
    GR_TRY(gr_access_put(a, at, NULL, 0, "mul.hi.u32 %s, %s, %s;", drawn, drawn, length));
    if (what == WAIT_WINDOW || what == WAIT_STORED) {
        PtxReg *t = gr_ptx_new_reg(a->func, PTX_U32);
        uint32_t least =
            max_ns > WAIT_LEAST_NS ? (uint32_t)(((uint64_t)WAIT_LEAST_NS << 32) / max_ns) : UINT32_MAX;
        GR_TRY(gr_access_put(a, at, NULL, 0, "shr.u32 %s, %s, 3; sub.u32 %s, %s, %s; max.u32 %s, %s, %u;",
                             t->name, length, length, length, t->name, length, length, least));
    }
done:
    return st;
}

// About one length; the high bits of the state are a uniform number.
static gr_status draw_even(ColliderWork *w, const Access *a, PtxStmt *at, ColliderWait what, uint32_t max_ns,
                           const char *drawn) {
    gr_status st = GR_OK;
    const char *r = generator(w, a->func)->name;
    uint32_t half = max_ns / 2;
    PtxReg *p;
    GR_TRY(gr_access_put(a, at, NULL, 0, "mul.lo.u32 %s, %s, %u;", r, r, STEP));
    switch (what) {
    case WAIT_WINDOW:
        GR_TRY(gr_access_put(a, at, NULL, 0, "mul.hi.u32 %s, %s, %u; add.u32 %s, %s, %u;", drawn, r, half,
                             drawn, drawn, half));
        break;
    case WAIT_STORED:
        p = gr_ptx_new_reg(a->func, PTX_PRED);
        GR_TRY(gr_access_put(a, at, NULL, 0,
                             "setp.lt.u32 %s, %s, %u; mul.lo.u32 %s, %s, %u; mul.hi.u32 %s, %s, %u; "
                             "add.u32 %s, %s, %u; selp.b32 %s, %s, 0, %s;",
                             p->name, r, 5u << 29, r, r, STEP, drawn, r, half, drawn, drawn, half, drawn,
                             drawn, p->name));
        break;
    case WAIT_LATE:
        GR_TRY(gr_access_put(a, at, NULL, 0, "mul.hi.u32 %s, %s, %u; max.u32 %s, %s, %u; sub.u32 %s, %s, %u;",
                             drawn, r, max_ns, drawn, drawn, half, drawn, drawn, half));
        break;
    case WAIT_POISON:
        GR_TRY(gr_access_put(a, at, NULL, 0, "mul.hi.u32 %s, %s, %u;", drawn, r, max_ns));
        break;
    }
    st = put_share(w, a, at, what, max_ns, drawn);
done:
    return st;
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
    return w->o->thinned ? draw_even(w, a, at, what, longest_of(max_ns), drawn->name)
                         : draw_any(w, a, at, max_ns, drawn->name);
}

static gr_status put_sleeps(ColliderWork *w, const Access *a, PtxStmt *at, const char *delay, bool fixed) {
    gr_status st = GR_OK;
    char guard[64];
    const char *g = gr_access_guard(a, guard, sizeof guard);
    if (!w->o->thinned || fixed)
        return gr_access_put(a, at, NULL, 0, "%snanosleep.u32 %s;", g, delay);
    for (unsigned k = 0; k < WAIT_PARTS; k++) {
        PtxReg *t = gr_ptx_new_reg(a->func, PTX_U32), *top = gr_ptx_new_reg(a->func, PTX_U32);
        // The highest bit that is set; 0 of 0.
        GR_TRY(gr_access_put(a, at, NULL, 0,
                             "clz.b32 %s, %s; mov.u32 %s, 0x80000000; shr.u32 %s, %s, %s; sub.u32 %s, %s, %s;"
                             "%snanosleep.u32 %s;",
                             t->name, delay, top->name, t->name, top->name, t->name, delay, delay, t->name, g,
                             t->name));
    }
done:
    return st;
}

gr_status gr_collider_wait(ColliderWork *w, const Access *a, PtxStmt *at, ColliderWait what,
                           uint32_t max_ns) {
    gr_status st = GR_OK;
    char delay[DELAY_TEXT];
    if (max_ns == 0)
        return GR_OK;
    GR_TRY(gr_collider_draw(w, a, at, what, max_ns, delay));
    GR_TRY(put_sleeps(w, a, at, delay, max_ns <= 1));
done:
    return st;
}

gr_status gr_collider_come_late(ColliderWork *w, Access *a) {
    gr_status st = GR_OK;
    Gate gate;
    if (!w->pace || !w->o->write_delay_ns)
        return GR_OK;
    GR_TRY(gr_pace_open(w, a, a->before, &gate));
    a->guard = NULL; // the gate has it
    GR_TRY(gr_collider_wait(w, a, gate.at, WAIT_LATE, w->o->write_delay_ns));
    GR_TRY(gr_pace_close(a, &gate));
done:
    return st;
}

// The launch and the seed say how long the waits are: 2 of WAIT_CYCLE are special. A budget leaves no time for these, and makes waits
// shorter as it makes windows fewer: a kernel ends with its last warp, and so takes as long with one window as with many.
static gr_status begin_length(ColliderWork *w, PtxFunc *f, PtxStmt *at) {
    gr_status st = GR_OK;
    char text[640], seed[96];
    PtxReg *grid = gr_ptx_new_reg(f, PTX_U64), *t = gr_ptx_new_reg(f, PTX_U32);
    PtxReg *longer = gr_ptx_new_reg(f, PTX_PRED), *longest = gr_ptx_new_reg(f, PTX_PRED);
    PtxReg *quick = gr_ptx_new_reg(f, PTX_PRED), *later = gr_ptx_new_reg(f, PTX_PRED);
    uint32_t all = f->is_entry ? UINT32_MAX : UINT32_MAX / WAIT_CALLED;
    const char *length = w->length->name, *r = w->random->name;
    if (w->pace->shut) {
        gr_format(text, sizeof text, "mov.u32 %s, %u; mul.hi.u32 %s, %s, %s;", length, all / WAIT_LONGEST,
                  length, length, w->pace->shut->name);
        return gr_ptx_insert(f, at, 0, text, NULL, 0, NULL, w->err);
    }
    gr_format(text, sizeof text,
              "%s mov.u64 %s, %%gridid; cvt.u32.u64 %s, %s; add.u32 %s, %s, %s; and.b32 %s, %s, %u;"
              "setp.gt.u64 %s, %s, %u; setp.ne.and.u32 %s, %s, 0, %s; rem.u32 %s, %s, %u;",
              gr_collider_seed(w, length, seed, sizeof seed), grid->name, t->name, grid->name, t->name,
              t->name, length, length, t->name, WAIT_RARELY - 1u, later->name, grid->name,
              (unsigned)WAIT_LAUNCHES, later->name, length, later->name, t->name, t->name,
              (unsigned)WAIT_CYCLE);
    GR_TRY(gr_ptx_insert(f, at, 0, text, NULL, 0, NULL, w->err));
    gr_format(text, sizeof text,
              "setp.eq.u32 %s, %s, 2; setp.eq.u32 %s, %s, 4;"
              "selp.b32 %s, %u, %u, %s; selp.b32 %s, %u, %s, %s; @%s mov.u32 %s, %u;",
              longer->name, t->name, longest->name, t->name, length, all / WAIT_LONGEST * WAIT_LONGER,
              all / WAIT_LONGEST, longer->name, length, all, length, longest->name, later->name, length,
              all / WAIT_LONGEST / WAIT_CALLED);
    GR_TRY(gr_ptx_insert(f, at, 0, text, NULL, 0, NULL, w->err));
    gr_format(text, sizeof text,
              "or.pred %s, %s, %s; @%s setp.ne.u32 %s, 0, 0; mul.lo.u32 %s, %s, %u; setp.lt.and.s32 %s, %s, "
              "0, %s; @%s shr.u32 %s, %s, %u;",
              longer->name, longer->name, longest->name, later->name, longer->name, r, r, (unsigned)STEP,
              quick->name, r, longer->name, quick->name, length, length,
              (unsigned)__builtin_ctz(WAIT_QUICKER));
    st = gr_ptx_insert(f, at, 0, text, NULL, 0, NULL, w->err);
done:
    return st;
}

// In three of four launches beside which something may run all warps wait long; the others have the lengths above.
static gr_status put_beside(ColliderWork *w, PtxFunc *f, PtxStmt *at) {
    char text[512], seed[96];
    PtxReg *grid = gr_ptx_new_reg(f, PTX_U64), *t = gr_ptx_new_reg(f, PTX_U32),
           *h = gr_ptx_new_reg(f, PTX_U32);
    PtxReg *p = gr_ptx_new_reg(f, PTX_PRED);
    gr_format(
        text, sizeof text,
        "%s mov.u64 %s, %%gridid; cvt.u32.u64 %s, %s; mad.lo.u32 %s, %s, 3, %s; mul.lo.u32 %s, %s, %u;"
        "ld.global.nc.u32 %s, [__gr%s_control+%u]; setp.ne.u32 %s, %s, 0; setp.ge.and.u32 %s, %s, %u, %s;"
        "@%s mov.u32 %s, %u;",
        gr_collider_seed(w, h->name, seed, sizeof seed), grid->name, t->name, grid->name, t->name, h->name,
        t->name, t->name, t->name, 0x9E3779B1u, h->name, w->o->suffix, (unsigned)offsetof(GrControl, beside),
        p->name, h->name, p->name, t->name, 1u << 30, p->name, p->name, w->length->name, UINT32_MAX);
    return gr_ptx_insert(f, at, 0, text, NULL, 0, NULL, w->err);
}

gr_status gr_collider_begin_waits(ColliderWork *w, PtxFunc *f, PtxStmt *at) {
    gr_status st = GR_OK;
    char text[256];
    uint32_t most =
        longest_of(w->o->read_delay_ns > w->o->write_delay_ns ? w->o->read_delay_ns : w->o->write_delay_ns);
    if (!w->length)
        return GR_OK;
    GR_TRY(begin_length(w, f, at));
    if (w->o->beside && f->is_entry && !w->pace->shut)
        GR_TRY(put_beside(w, f, at));
    if (!w->pace->outside || !f->is_entry)
        return GR_OK;
    PtxReg *t = gr_ptx_new_reg(f, PTX_U32);
    gr_format(text, sizeof text,
              "mul.lo.u32 %s, %s, %u; mul.hi.u32 %s, %s, %u; mul.hi.u32 %s, %s, %s; @%s nanosleep.u32 %s;",
              w->random->name, w->random->name, STEP, t->name, w->random->name, most, t->name, t->name,
              w->length->name, w->pace->outside->name, t->name);
    st = gr_ptx_insert(f, at, 0, text, NULL, 0, NULL, w->err);
done:
    return st;
}
