// SPDX-License-Identifier: Apache-2.0
#include "engines/collider/pass/collider_halves.h"

#include "engines/collider/pass/collider_pace.h"
#include "engines/collider/pass/collider_segment.h"
#include "engines/collider/pass/collider_time.h"
#include "engines/collider/pass/collider_together.h"

// The number of a thread, block or cluster, whose coordinates are in the registers `is`, below those in `of`.
static const char *add_number(StrBuf *text, PtxFunc *f, const char *is, const char *of) {
    const char *n = gr_ptx_new_reg(f, PTX_U32)->name, *t = gr_ptx_new_reg(f, PTX_U32)->name,
               *u = gr_ptx_new_reg(f, PTX_U32)->name;
    gr_str_addf(text,
                "mov.u32 %s, %s.z; mov.u32 %s, %s.y; mov.u32 %s, %s.y; mad.lo.u32 %s, %s, %s, %s;"
                "mov.u32 %s, %s.x; mov.u32 %s, %s.x; mad.lo.u32 %s, %s, %s, %s;",
                n, is, t, of, u, is, n, n, t, u, t, of, u, is, n, n, t, u);
    return n;
}

const char *gr_halves_warp(StrBuf *text, PtxFunc *f) {
    const char *n = add_number(text, f, "%tid", "%ntid");
    gr_str_addf(text, "shr.u32 %s, %s, 5;", n, n);
    return n;
}

static bool has_clusters(const PtxFunc *f) {
    for (const PtxStmt *s = f->first; s; s = s->next)
        if (s->kind == PTX_INSTR && !s->tag.inserted && gr_ptx_instr_has(s->instr, PTX_MOD_cluster))
            return true;
    return false;
}

const char *gr_halves_block(const ColliderWork *w, StrBuf *text, PtxFunc *f, const char *turn) {
    const char *block = w->pace->in_grid->name;
    if (!has_clusters(f))
        return block;
    const char *p = gr_ptx_new_reg(f, PTX_PRED)->name, *t = gr_ptx_new_reg(f, PTX_U32)->name,
               *n = add_number(text, f, "%clusterid", "%nclusterid");
    gr_str_addf(text, "and.b32 %s, %s, 2; setp.ne.u32 %s, %s, 0; selp.b32 %s, %s, %s, %s;", t, turn, p, t, n,
                n, block, p);
    return n;
}

// Neighbours 2k and 2k + 1 never are in the same half, and which of them is in it is the other way round at the next
// `turn`. Of others, which go together is drawn anew at every second turn. So two blocks or warps that race wait
// differently long in each launch, if they are the only ones; a draw for each of them would leave them alike in one
// launch of two.
void gr_halves_of(StrBuf *text, PtxFunc *f, const char *number, const char *turn, const char *p) {
    const char *t = gr_ptx_new_reg(f, PTX_U32)->name;
    gr_str_addf(text,
                "shr.u32 %s, %s, 1; mul.lo.u32 %s, %s, 0x9E3779B1; shr.u32 %s, %s, 15; or.b32 %s, %s, 1;"
                "and.b32 %s, %s, %s; popc.b32 %s, %s; add.u32 %s, %s, %s; and.b32 %s, %s, 1; setp.ne.u32 %s, "
                "%s, 0;",
                t, turn, t, t, t, t, t, t, t, t, number, t, t, t, t, turn, t, t, p, t);
}

// Sets `late`. Which warps are late in each kind of launches is a digit of a number. A call, because code in the kernel
// would take more registers.
static void add_late(const ColliderWork *w, StrBuf *text, PtxFunc *f, const char *turn, const char *late) {
    enum { BITS = 4 };
    static const WaitKind kinds[WAIT_CYCLE] = WAIT_KINDS;
    const char *t = gr_ptx_new_reg(f, PTX_U32)->name, *block = gr_halves_block(w, text, f, turn);
    uint32_t digits = 0;
    for (unsigned k = 0; k < WAIT_CYCLE; k++)
        digits |= (uint32_t)kinds[k].late << BITS * k;
    gr_str_addf(
        text,
        "shl.b32 %s, %s, %u; shr.u32 %s, %u, %s; and.b32 %s, %s, %u; call (%s), __gr%s_segment_starts_late, "
        "(%s, %s, %s, %s, %s, %s); setp.ne.u32 %s, %s, 0;",
        t, w->kind->name, (unsigned)__builtin_ctz(BITS), t, digits, t, t, t, (1u << BITS) - 1, t,
        w->o->suffix, t, turn, block, w->pace->in_grid->name, w->threads->name, w->count->name, late, t);
}

gr_status gr_halves_begin(ColliderWork *w, const Access *a, PtxStmt *at, const PtxReg *late) {
    static const WaitKind kinds[WAIT_CYCLE] = WAIT_KINDS;
    PtxFunc *f = a->func;
    StrBuf text = {0};
    PtxLabel *on = gr_ptx_new_label(f);
    PtxOperand to = gr_ptx_label_operand(on);
    char seed[96];
    const char *turn = gr_ptx_new_reg(f, PTX_U32)->name, *p = gr_ptx_new_reg(f, PTX_PRED)->name,
               *few = gr_ptx_new_reg(f, PTX_PRED)->name, *length = w->length->name, *l = late->name,
               *ns = gr_ptx_new_reg(f, PTX_U32)->name, *less = gr_ptx_new_reg(f, PTX_U32)->name;
    gr_str_addf(&text, "setp.ne.u32 %s, 0, 0; and.pred %s, %s, %s;", l, p, w->watches->name, w->few->name);
    gr_str_addf(&text, "@!%s bra $0; %s add.u32 %s, %s, %s;", p, gr_collider_seed(w, turn, seed, sizeof seed),
                turn, turn, w->count->name);
    add_late(w, &text, f, turn, l);
    gr_str_addf(&text, "setp.ne.u32 %s, 0, 0;", few);
    for (unsigned k = 0; k < WAIT_CYCLE; k++)
        if (kinds[k].few)
            gr_str_addf(&text, "setp.eq.or.u32 %s, %s, %u, %s;", few, w->kind->name, k, few);
    gr_str_addf(&text,
                "@%s mov.u32 %s, %u; not.pred %s, %s; and.pred %s, %s, %s; @%s shr.u32 %s, %s, %u;"
                "@!%s bra $0;",
                few, w->segment->left->name, (unsigned)SEGMENT_MOST_LATE, p, l, p, p, few, p, length, length,
                (unsigned)__builtin_ctz(HALVES_EARLIER), l);
    GR_MUST(gr_emit_str(f, at, 0, &text, &to, 1, w->err));
    GR_MUST(gr_collider_draw_about(w, a, at, w->o->read_delay_ns, ns));
    GR_MUST(gr_collider_draw_below(w, a, at, HALVES_ORDERS, less));
    GR_PUT(a, at, "@%s mov.u32 %s, 0; shr.u32 %s, %s, %s;", few, less, ns, ns, less);
    GR_MUST(gr_collider_sleep(w, a, at, ns));
    GR_PUT(a, at, "and.pred %s, %s, %s;", l, l, few); // which are late again
    gr_ptx_insert_label(f, at, on);
    return GR_OK;
}

gr_status gr_halves_again(ColliderWork *w, const Access *a, PtxStmt *at, const PtxReg *late,
                          const PtxReg *left, unsigned all) {
    PtxReg *p = gr_ptx_new_reg(a->func, PTX_PRED);
    Access here = *a;
    Detour d;
    gr_collider_need_waits(w, a->func); // no access may have come yet
    GR_PUT(a, at, "setp.ge.and.s32 %s, %s, %u, %s;", p->name, left->name, all - HALVES_BARRIERS, late->name);
    GR_MUST(gr_together_open_detour(w, &here, at, p, &d));
    GR_MUST(gr_collider_sleep_about(w, a, d.at, w->o->read_delay_ns));
    return gr_collider_close_detour(&here, &d);
}
