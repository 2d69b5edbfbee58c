// SPDX-License-Identifier: Apache-2.0
// near — accesses to shared memory whose row is in shared memory, too (device/control.h): what the thread owns is where the program has it, and what it does not own is as far from there
// as c->near_unmade says. So no table is looked at, and a load of a thread that has stored nothing in the region only adds that.
#include "engines/privatizer/device/control.h"
#include "engines/privatizer/pass/code.h"

#include <stddef.h>

bool gr_near_fits(const Code *c, const PtxSite *site) {
    return c->warps && c->near_entry && gr_is_shared_space(site->space) && !site->strong &&
           site->access != PTX_ACCESS_RMW && site->size >> c->near_shift;
}

// Of the owners of what the access is to.
typedef struct Entries {
    unsigned bits;     // all of them; above 64 nothing is done here
    PtxReg *at, *mine; // where they are, and what the thread's look like
} Entries;

static gr_status put_entries(const Code *c, PtxStmt *s, const PtxSite *site, const PtxReg *low, Entries *out) {
    gr_status st = GR_OK;
    unsigned bits = (site->size >> c->near_shift) * c->near_entry * 8;
    const unsigned shift = c->near_entry == 2 ? 1 : 2;
    *out = (Entries){.bits = bits, .at = gr_ptx_new_reg(c->f, PTX_B32)};
    if (bits > 64)
        return GR_OK;
    out->mine = gr_ptx_new_reg(c->f, bits == 64 ? PTX_B64 : bits == 32 ? PTX_B32 : PTX_B16);
    GR_TRY(gr_code_put(c, s, NULL, 0, "shr.u32 %s, %s, %u; shl.b32 %s, %s, %u; add.u32 %s, %s, %s;",
                       out->at->name, low->name, c->near_shift, out->at->name, out->at->name, shift,
                       out->at->name, out->at->name, c->near_owners->name));
    const char *me = c->me->name, *mine = out->mine->name;
    if (bits == 16)
        GR_TRY(gr_code_put(c, s, NULL, 0, "cvt.u16.u32 %s, %s;", mine, me));
    else if (bits == 32 && c->near_entry == 4)
        GR_TRY(gr_code_put(c, s, NULL, 0, "mov.b32 %s, %s;", mine, me));
    else if (bits == 32)
        GR_TRY(gr_code_put(c, s, NULL, 0, "mul.lo.u32 %s, %s, 0x10001;", mine, me));
    else if (c->near_entry == 4)
        GR_TRY(gr_code_put(c, s, NULL, 0, "mov.b64 %s, {%s, %s};", mine, me, me));
    else
        GR_TRY(gr_code_put(c, s, NULL, 0,
                           "{ .reg .b32 two; mul.lo.u32 two, %s, 0x10001; mov.b64 %s, {two, two}; }", me,
                           mine));
done:
    return st;
}

gr_status gr_code_near_low(const Code *c, PtxStmt *s, const PtxReg *at, PtxReg **low) {
    *low = gr_ptx_new_reg(c->f, PTX_B32);
    return gr_code_put(c, s, NULL, 0, "cvt.u32.u64 %s, %s;", (*low)->name, at->name);
}

gr_status gr_code_near_quick(const Code *c, PtxStmt *s, const PtxReg *low) {
    gr_status st = GR_OK;
    PtxFunc *f = c->f;
    PtxInstr *i = s->instr;
    PtxReg *quick = gr_ptx_new_reg(f, PTX_PRED), *to = gr_ptx_new_reg(f, PTX_B32), *over = quick;
    PtxLabel *end = gr_ptx_new_label(f);
    PtxOperand behind = gr_ptx_label_operand(end),
               guard = i->guard ? gr_ptx_reg_operand(i->guard) : (PtxOperand){0};
    gr_ptx_insert_label(f, s->next, end);
    GR_TRY(gr_code_put(c, s, NULL, 0, "setp.lt.and.u32 %s, %s, %s, %s; add.u32 %s, %s, %s;", quick->name,
                       low->name, c->near_end->name, c->plain->name, to->name, low->name,
                       c->near_unmade->name));
    if (i->guard) { // lanes that do not load go on with those that do
        over = gr_ptx_new_reg(f, PTX_PRED);
        GR_TRY(gr_code_put(c, s, &guard, 1,
                           "{ .reg .pred own; %s.pred own, $0; and.pred %s, %s, own; not.pred own, own; or.pred "
                           "%s, %s, own; }",
                           i->guard_negated ? "not" : "mov", quick->name, quick->name, over->name,
                           quick->name));
    }
    GR_TRY(gr_code_again(c, s, quick, to, NULL));
    GR_TRY(gr_code_put(c, s, &behind, 1, "@%s bra $0;", over->name));
done:
    return st;
}

// Whether another unit's copy of the line, or the thread's own, may be made: then __gr_at has to look.
static gr_status put_numbered(const Code *c, PtxStmt *s, const PtxReg *low, const PtxReg *in,
                              const PtxReg *out) {
    if (!c->by_warps)
        return gr_code_put(c, s, NULL, 0, "mov.pred %s, %s;", out->name, c->copied->name);
    return gr_code_put(c, s, NULL, 0,
                       "{ .reg .b32 line, any; mov.u32 any, 0; shr.u32 line, %s, %u; mad.lo.u32 line, line, "
                       "%u, %s; @%s ld.shared.u32 any, [line+%u]; setp.ne.u32 %s, any, 0; }",
                       low->name, (unsigned)GR_LINE_SHIFT, (unsigned)sizeof(GrPrivRow), c->near_heads->name,
                       in->name, (unsigned)offsetof(GrPrivRow, numbered), out->name);
}

static gr_status put_load(const Code *c, PtxStmt *s, const PtxSite *site, const PtxReg *low,
                          const PtxReg *in, const PtxReg *at, const PtxReg *to, const PtxReg *slow) {
    gr_status st = GR_OK;
    PtxFunc *f = c->f;
    Entries e;
    PtxReg *own = gr_ptx_new_reg(f, PTX_PRED), *some = gr_ptx_new_reg(f, PTX_PRED),
           *more = gr_ptx_new_reg(f, PTX_B64);
    GR_TRY(put_entries(c, s, site, low, &e));
    GR_TRY(put_numbered(c, s, low, in, slow));
    if (e.bits <= 64)
        GR_TRY(gr_code_put(c, s, NULL, 0,
                           "{ .reg .b%u has; mov.b%u has, 0; @%s ld.shared.b%u has, [%s]; setp.eq.b%u %s, has, %s; "
                           "setp.ne.b%u %s, has, 0; }",
                           e.bits, e.bits, in->name, e.bits, e.at->name, e.bits, own->name, e.mine->name,
                           e.bits, some->name));
    else
        GR_TRY(gr_code_put(c, s, NULL, 0, "setp.ne.u32 %s, 0, 0; setp.eq.u32 %s, 0, 0;", own->name,
                           some->name));
    if (e.bits > c->near_entry * 8) // some of it may be the thread's
        GR_TRY(gr_code_put(c, s, NULL, 0, "or.pred %s, %s, %s;", slow->name, slow->name, some->name));
    GR_TRY(gr_code_put(c, s, NULL, 0,
                       "not.pred %s, %s; and.pred %s, %s, %s; not.pred %s, %s; or.pred %s, %s, %s;", some->name,
                       own->name, slow->name, slow->name, some->name, some->name, in->name, slow->name,
                       slow->name, some->name));
    GR_TRY(gr_code_put(c, s, NULL, 0, "cvt.u64.u32 %s, %s; add.u64 %s, %s, %s; @!%s add.u64 %s, %s, %s;",
                       more->name, c->near_unmade->name, to->name, c->window->name, at->name, own->name,
                       to->name, to->name, more->name));
done:
    return st;
}

static gr_status put_store(const Code *c, PtxStmt *s, const PtxSite *site, const PtxReg *low,
                           const PtxReg *in, const PtxReg *at, const PtxReg *to, const PtxReg *slow) {
    gr_status st = GR_OK;
    Entries e;
    GR_TRY(put_entries(c, s, site, low, &e));
    GR_TRY(gr_code_put(c, s, NULL, 0, "add.u64 %s, %s, %s; setp.eq.u32 %s, 0, 0;", to->name, c->window->name,
                       at->name, slow->name));
    if (e.bits <= 64)
        GR_TRY(gr_code_put(
            c, s, NULL, 0,
            "{ .reg .b%u had; .reg .pred own; mov.b%u had, %s; @%s atom.shared.cas.b%u had, [%s], 0, %s; "
            "setp.eq.b%u own, had, %s; setp.eq.or.b%u own, had, 0, own; and.pred own, own, %s; not.pred %s, "
            "own; }",
            e.bits, e.bits, e.mine->name, in->name, e.bits, e.at->name, e.mine->name, e.bits, e.mine->name,
            e.bits, in->name, slow->name));
done:
    return st;
}

gr_status gr_code_near(const Code *c, PtxStmt *s, const PtxSite *site, const PtxReg *low, const PtxReg *at,
                       const PtxReg *to, const PtxReg *slow, const PtxOperand *guard, bool negated) {
    gr_status st = GR_OK;
    PtxReg *in = gr_ptx_new_reg(c->f, PTX_PRED), *from = gr_ptx_new_reg(c->f, PTX_B32); // with size 0 nothing is in
    GR_TRY(gr_code_put(c, s, NULL, 0, "sub.u32 %s, %s, %s; setp.lt.u32 %s, %s, %s;", from->name, low->name,
                       c->near_first->name, in->name, from->name, c->near_size->name));
    if (guard)
        GR_TRY(gr_code_put(c, s, guard, 1,
                           "{ .reg .pred own; %s.pred own, $0; and.pred %s, %s, own; }",
                           negated ? "not" : "mov", in->name, in->name));
    if (site->access & PTX_ACCESS_WRITE)
        GR_TRY(put_store(c, s, site, low, in, at, to, slow));
    else
        GR_TRY(put_load(c, s, site, low, in, at, to, slow));
done:
    return st;
}
