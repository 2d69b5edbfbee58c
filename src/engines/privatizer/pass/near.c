// SPDX-License-Identifier: Apache-2.0
// near — accesses to shared memory whose row is in shared memory, too (device/control.h): what the thread owns is where
// the program has it, and what it does not own is as far from there as c->near_unmade says. So no table is looked at,
// and a load of a thread that has stored nothing in the region only adds that.
#include "engines/privatizer/device/control.h"
#include "engines/privatizer/pass/code.h"

#include <stddef.h>

// Parts of what owners look like, of 64 bits at most, that lie side by side.
typedef struct Parts {
    unsigned n, bits;
    PtxReg *mine; // what the thread's look like, in each
} Parts;

static gr_status put_mine(const Code *c, PtxStmt *s, const PtxSite *site, Parts *out) {
    unsigned bits = (site->size >> c->near_shift) * c->near_entry * 8;
    *out = (Parts){.n = bits > 64 ? bits / 64 : 1, .bits = bits > 64 ? 64 : bits};
    out->mine = gr_ptx_new_reg(c->f, out->bits == 64 ? PTX_B64 : out->bits == 32 ? PTX_B32 : PTX_B16);
    const char *me = c->me->name, *mine = out->mine->name;
    if (out->bits == 16)
        return gr_code_put(c, s, NULL, 0, "cvt.u16.u32 %s, %s;", mine, me);
    if (out->bits == 32)
        return gr_code_put(c, s, NULL, 0, "mul.lo.u32 %s, %s, %u;", mine, me,
                           c->near_entry == 4 ? 1 : 0x10001);
    return gr_code_put(c, s, NULL, 0, "{ .reg .b32 one; mul.lo.u32 one, %s, %u; mov.b64 %s, {one, one}; }",
                       me, c->near_entry == 4 ? 1 : 0x10001, mine);
}

// Owners of an access are as many bytes behind c->near_owners as the access is, where both have one size: it is
// aligned.
static gr_status put_parts(const Code *c, PtxStmt *s, const PtxSite *site, const PtxReg *low, PtxReg *at,
                           Parts *out) {
    const unsigned shift = c->near_entry == 2 ? 1 : 2;
    gr_status st =
        c->near_shift == shift
            ? gr_code_put(c, s, NULL, 0, "add.u32 %s, %s, %s;", at->name, low->name, c->near_owners->name)
            : gr_code_put(c, s, NULL, 0, "shr.u32 %s, %s, %u; shl.b32 %s, %s, %u; add.u32 %s, %s, %s;",
                          at->name, low->name, c->near_shift, at->name, at->name, shift, at->name, at->name,
                          c->near_owners->name);
    return st == GR_OK ? put_mine(c, s, site, out) : st;
}

bool gr_near_fits(const Code *c, const PtxSite *site) {
    return c->warps && c->near_entry && gr_is_shared_space(site->space) && !site->strong &&
           site->access != PTX_ACCESS_RMW && site->size >> c->near_shift;
}

gr_status gr_code_near_low(const Code *c, PtxStmt *s, const PtxReg *at, PtxReg **low) {
    *low = gr_ptx_new_reg(c->f, PTX_B32);
    return gr_code_put(c, s, NULL, 0, "cvt.u32.u64 %s, %s;", (*low)->name, at->name);
}

gr_status gr_code_near_quick(const Code *c, PtxStmt *s, const PtxReg *low) {
    PtxFunc *f = c->f;
    PtxReg *quick = gr_ptx_new_reg(f, PTX_PRED), *to = gr_ptx_new_reg(f, PTX_B32), *over;
    PtxLabel *end = gr_ptx_new_label(f);
    PtxOperand behind = gr_ptx_label_operand(end);
    gr_ptx_insert_label(f, s->next, end);
    GR_CODE(c, s, "setp.lt.and.u32 %s, %s, %s, %s; add.u32 %s, %s, %s;", quick->name, low->name,
            c->near_end->name, c->plain->name, to->name, low->name, c->near_unmade->name);
    GR_MUST(gr_code_own(c, s, quick, &over));
    GR_MUST(gr_code_again(c, s, quick, to, NULL));
    return gr_code_put(c, s, &behind, 1, "@%s bra $0;", over->name);
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

// Whether the unit owns all of it, in *own, and whether somebody owns some of it, in *some. Owners are `from` bytes
// behind `at`. `asks` NULL: they can be looked at in any case.
static gr_status put_parts_owned(const Code *c, PtxStmt *s, const Parts *p, const PtxReg *at, uint64_t from,
                                 const PtxReg *asks, PtxReg *own, PtxReg *some) {
    char first[80] = "";
    for (unsigned k = 0; k < p->n; k++) {
        if (asks)
            snprintf(first, sizeof first, "mov.b%u has, 0; @%s ", p->bits, asks->name);
        GR_CODE(c, s,
                "{ .reg .b%u has; %sld.shared.b%u has, [%s+%llu]; setp.eq%s.b%u %s, has, %s%s%s; "
                "setp.ne%s.b%u %s, has, 0%s%s; }",
                p->bits, first, p->bits, at->name, (unsigned long long)from + 8 * k, k ? ".and" : "", p->bits,
                own->name, p->mine->name, k ? ", " : "", k ? own->name : "", k ? ".or" : "", p->bits,
                some->name, k ? ", " : "", k ? some->name : "");
    }
    return GR_OK;
}

static gr_status put_owned(const Code *c, PtxStmt *s, const PtxSite *site, const PtxReg *low,
                           const PtxReg *asks, PtxReg *own, PtxReg *some) {
    Parts p;
    PtxReg *at = gr_ptx_new_reg(c->f, PTX_B32);
    gr_status st = put_parts(c, s, site, low, at, &p);
    return st == GR_OK ? put_parts_owned(c, s, &p, at, 0, asks, own, some) : st;
}

// The unit takes what is nobody's. Whether it has all of it, in *own.
static gr_status put_taken(const Code *c, PtxStmt *s, const PtxSite *site, const PtxReg *low,
                           const PtxReg *in, PtxReg *own) {
    Parts p;
    PtxReg *at = gr_ptx_new_reg(c->f, PTX_B32);
    GR_MUST(put_parts(c, s, site, low, at, &p));
    GR_CODE(c, s, "mov.pred %s, %s;", own->name, in->name);
    for (unsigned k = 0; k < p.n; k++)
        GR_CODE(c, s,
                "{ .reg .b%u had; .reg .pred has; mov.b%u had, %s; @%s atom.shared.cas.b%u had, [%s+%u], "
                "0, %s; setp.eq.b%u has, had, %s; setp.eq.or.b%u has, had, 0, has; and.pred %s, %s, has; "
                "}",
                p.bits, p.bits, p.mine->name, own->name, p.bits, at->name, 8 * k, p.mine->name, p.bits,
                p.mine->name, p.bits, own->name, own->name);
    return GR_OK;
}

static gr_status put_load(const Code *c, PtxStmt *s, const PtxSite *site, const PtxReg *low, const PtxReg *in,
                          const PtxReg *at, const PtxReg *to, const PtxReg *slow) {
    PtxFunc *f = c->f;
    PtxReg *own = gr_ptx_new_reg(f, PTX_PRED), *some = gr_ptx_new_reg(f, PTX_PRED),
           *more = gr_ptx_new_reg(f, PTX_B64);
    GR_MUST(put_numbered(c, s, low, in, slow));
    GR_MUST(put_owned(c, s, site, low, in, own, some));
    if (site->size > 1u << c->near_shift) // some of it may be the thread's
        GR_CODE(c, s, "or.pred %s, %s, %s;", slow->name, slow->name, some->name);
    GR_CODE(c, s, "not.pred %s, %s; and.pred %s, %s, %s; not.pred %s, %s; or.pred %s, %s, %s;", some->name,
            own->name, slow->name, slow->name, some->name, some->name, in->name, slow->name, slow->name,
            some->name);
    return gr_code_put(c, s, NULL, 0, "cvt.u64.u32 %s, %s; add.u64 %s, %s, %s; @!%s add.u64 %s, %s, %s;",
                       more->name, c->near_unmade->name, to->name, c->window->name, at->name, own->name,
                       to->name, to->name, more->name);
}

static gr_status put_store(const Code *c, PtxStmt *s, const PtxSite *site, const PtxReg *low,
                           const PtxReg *in, const PtxReg *at, const PtxReg *to, const PtxReg *slow) {
    PtxReg *own = gr_ptx_new_reg(c->f, PTX_PRED);
    GR_MUST(put_taken(c, s, site, low, in, own));
    return gr_code_put(c, s, NULL, 0, "add.u64 %s, %s, %s; not.pred %s, %s;", to->name, c->window->name,
                       at->name, slow->name, own->name);
}

// ---- Where there is no other way (Code.known) -----------------------------------------------------------------------

static gr_status put_guard(const Code *c, PtxStmt *s, const PtxReg *pred) {
    const PtxInstr *i = s->instr;
    PtxOperand guard = i->guard ? gr_ptx_reg_operand(i->guard) : (PtxOperand){0};
    return !i->guard
               ? GR_OK
               : gr_code_put(c, s, &guard, 1, "{ .reg .pred own; %s.pred own, $0; and.pred %s, %s, own; }",
                             i->guard_negated ? "not" : "mov", pred->name, pred->name);
}

// The thread is lost if `due` holds without `done`.
static gr_status put_wild(const Code *c, PtxStmt *s, const PtxReg *due, const PtxReg *done) {
    return gr_code_put(
        c, s, NULL, 0,
        "{ .reg .pred lost; not.pred lost, %s; and.pred lost, lost, %s; @lost mov.u32 %s, %d; }", done->name,
        due->name, c->left->name, GR_LEFT_WILD);
}

// What a thread may not find: some of what it loads is its own and some is not; or another's copy of the line is made.
static gr_status put_owned_wild(const Code *c, PtxStmt *s, const PtxSite *site, const PtxReg *low,
                                const PtxReg *asks, const PtxReg *own, const PtxReg *some) {
    PtxReg *numbered = gr_ptx_new_reg(c->f, PTX_PRED);
    if (site->size > 1u << c->near_shift)
        GR_MUST(put_wild(c, s, some, own));
    GR_MUST(put_numbered(c, s, low, asks, numbered));
    GR_CODE(c, s, "and.pred %s, %s, %s;", numbered->name, numbered->name, asks->name);
    return put_wild(c, s, numbered, own);
}

gr_status gr_code_near_owned(const Code *c, PtxStmt *s, const PtxSite *site, const PtxReg *at,
                             const PtxReg *owners, int64_t from, const PtxReg *asks, PtxReg *own) {
    Parts p;
    PtxReg *some = gr_ptx_new_reg(c->f, PTX_PRED), *low = gr_ptx_new_reg(c->f, PTX_B32);
    GR_MUST(put_mine(c, s, site, &p));
    GR_MUST(put_parts_owned(c, s, &p, owners, ((uint64_t)from >> c->near_shift) * c->near_entry, NULL, own,
                            some));
    GR_CODE(c, s, "add.u32 %s, %s, %lld;", low->name, at->name, (long long)from);
    GR_CODE(c, s, "and.pred %s, %s, %s;", some->name, some->name, asks->name);
    return put_owned_wild(c, s, site, low, asks, own, some);
}

gr_status gr_code_near_known_load(const Code *all, PtxStmt *s, const PtxSite *site, const PtxReg *low,
                                  PtxReg **to) {
    PtxFunc *f = all->f;
    Code at_hand;
    const Code *c = &at_hand;
    PtxReg *due = gr_ptx_new_reg(f, PTX_PRED), *asks = gr_ptx_new_reg(f, PTX_PRED),
           *own = gr_ptx_new_reg(f, PTX_PRED), *some = gr_ptx_new_reg(f, PTX_PRED),
           *in = gr_ptx_new_reg(f, PTX_PRED);
    *to = gr_ptx_new_reg(f, PTX_B32);
    GR_MUST(gr_code_at_hand(all, s, GR_HAND_NEAR, &at_hand));
    GR_CODE(c, s, "setp.eq.u32 %s, 0, 0;", due->name);
    GR_MUST(put_guard(c, s, due));
    GR_CODE(c, s, "setp.lt.and.u32 %s, %s, %s, %s; not.pred %s, %s; and.pred %s, %s, %s;", in->name,
            low->name, c->near_end->name, due->name, asks->name, c->plain->name, asks->name, asks->name,
            in->name);
    GR_MUST(put_wild(c, s, due, in));
    if (c->dense)
        return gr_code_put(c, s, NULL, 0, "add.u32 %s, %s, %s; @!%s mov.b32 %s, %s;", (*to)->name, low->name,
                           c->near_unmade->name, in->name, (*to)->name, c->near_end->name);
    GR_MUST(put_owned(c, s, site, low, asks, own, some));
    if (site->size > 1u << c->near_shift)
        GR_MUST(put_wild(c, s, some, own));
    PtxReg *numbered = gr_ptx_new_reg(f, PTX_PRED);
    GR_MUST(put_numbered(c, s, low, asks, numbered));
    GR_CODE(c, s, "and.pred %s, %s, %s;", numbered->name, numbered->name, asks->name);
    GR_MUST(put_wild(c, s, numbered, own));
    // The load comes in any case, else what it loads to would have to be kept until then.
    return gr_code_put(c, s, NULL, 0, "add.u32 %s, %s, %s; @%s mov.b32 %s, %s; @!%s mov.b32 %s, %s;",
                       (*to)->name, low->name, c->near_unmade->name, own->name, (*to)->name, low->name,
                       in->name, (*to)->name, c->near_end->name);
}

gr_status gr_code_near_known_store(const Code *all, PtxStmt *s, const PtxSite *site, const PtxReg *low,
                                   PtxReg **to, PtxReg **kept) {
    PtxFunc *f = all->f;
    Code at_hand;
    const Code *c = &at_hand;
    PtxReg *due = gr_ptx_new_reg(f, PTX_PRED), *in = gr_ptx_new_reg(f, PTX_PRED),
           *from = gr_ptx_new_reg(f, PTX_B32);
    *kept = gr_ptx_new_reg(f, PTX_PRED);
    *to = (PtxReg *)low;
    GR_MUST(gr_code_at_hand(all, s, GR_HAND_NEAR, &at_hand));
    GR_CODE(c, s, "setp.eq.u32 %s, 0, 0;", due->name);
    GR_MUST(put_guard(c, s, due));
    GR_CODE(c, s, "sub.u32 %s, %s, %s; setp.lt.and.u32 %s, %s, %s, %s;", from->name, low->name,
            c->near_first->name, in->name, from->name, c->near_size->name, due->name);
    if (c->dense) {
        *to = gr_ptx_new_reg(f, PTX_B32);
        GR_CODE(c, s, "mov.pred %s, %s; add.u32 %s, %s, %s;", (*kept)->name, in->name, (*to)->name, low->name,
                c->near_unmade->name);
    } else {
        GR_MUST(put_taken(c, s, site, low, in, *kept));
    }
    return put_wild(c, s, due, *kept);
}

// ---- Where there is -------------------------------------------------------------------------------------------------

gr_status gr_code_near(const Code *c, PtxStmt *s, const PtxSite *site, const PtxReg *low, const PtxReg *at,
                       const PtxReg *to, const PtxReg *slow, const PtxOperand *guard, bool negated) {
    PtxReg *in = gr_ptx_new_reg(c->f, PTX_PRED),
           *from = gr_ptx_new_reg(c->f, PTX_B32); // with size 0 nothing is in
    GR_CODE(c, s, "sub.u32 %s, %s, %s; setp.lt.u32 %s, %s, %s;", from->name, low->name, c->near_first->name,
            in->name, from->name, c->near_size->name);
    if (guard)
        GR_CODE_OPS(c, s, guard, 1, "{ .reg .pred own; %s.pred own, $0; and.pred %s, %s, own; }",
                    negated ? "not" : "mov", in->name, in->name);
    if (site->access & PTX_ACCESS_WRITE)
        GR_MUST(put_store(c, s, site, low, in, at, to, slow));
    else
        GR_MUST(put_load(c, s, site, low, in, at, to, slow));
    return GR_OK;
}
