// SPDX-License-Identifier: Apache-2.0
// redirect — an access goes to the thread's private copy (LDetector, section 5.2): to the address that the copy's base
// and the original address make.
#include "engines/privatizer/device/control.h"
#include "engines/privatizer/pass/code.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

// The predicate under which the access happens, as an operand of setp: ", !%p3"; nothing: always.
typedef struct Guard {
    char combine[8];  // ".and" or nothing
    char operand[80]; // ", !$1" or nothing
    char alone[16];   // "@!$1 " or nothing
} Guard;

static void guard_of(const PtxInstr *i, Guard *g) {
    const char *sign = i->guard_negated ? "!" : "";
    *g = (Guard){{0}, {0}, {0}};
    if (!i->guard)
        return;
    snprintf(g->combine, sizeof g->combine, ".and");
    snprintf(g->operand, sizeof g->operand, ", %s$1", sign);
    snprintf(g->alone, sizeof g->alone, "@%s$1 ", sign);
}

// The same operation where the register says, if it is not 0.
static gr_status put_copy_at(const Code *c, PtxStmt *s, PtxReg *to) {
    PtxReg *due = gr_ptx_new_reg(c->f, PTX_PRED);
    GR_CODE(c, s, "setp.ne.u64 %s, %s, 0;", due->name, to->name);
    return gr_code_again(c, s, due, to, NULL);
}

// An atomic operation, or a strong store, notes the word. It is done once more for all units, and on what is for all
// blocks.
static gr_status put_update(const Code *c, PtxStmt *s, PtxReg *to, PtxReg *kept, uint32_t size, bool result) {
    PtxReg *common = gr_ptx_new_reg(c->f, PTX_B64);
    GR_CODE(c, s, "mov.u64 %s, 0; @%s call (%s), __gr%s_updated, (%s, %s, %u, %d);", common->name, kept->name,
            common->name, c->suffix, to->name, c->pass->name, size, result);
    if (result)
        return gr_code_result(c, s, to, common, kept);
    GR_MUST(put_copy_at(c, s, common));
    if (!c->warps)
        return GR_OK;
    PtxReg *all = gr_ptx_new_reg(c->f, PTX_B64);
    GR_CODE(c, s, "mov.u64 %s, 0; @%s call (%s), __gr%s_updates_all, (%s, %s);", all->name, kept->name,
            all->name, c->suffix, to->name, c->pass->name);
    return put_copy_at(c, s, all);
}

// In code for blocks, an access to shared memory by a generic address is the launch's own where another block of the
// cluster may have it, or where threads of a block order what they do by it: they do so in both passes. What follows is
// for other lanes.
static gr_status put_own(const Code *c, PtxStmt *s, PtxReg *at) {
    PtxInstr *i = s->instr;
    PtxReg *in = gr_ptx_new_reg(c->f, PTX_PRED), *out = gr_ptx_new_reg(c->f, PTX_PRED);
    PtxOperand guard = i->guard ? gr_ptx_reg_operand(i->guard) : (PtxOperand){0};
    GR_CODE(c, s, "isspacep.shared%s %s, %s; not.pred %s, %s;", c->clusters ? "::cluster" : "", in->name,
            at->name, out->name, in->name);
    if (i->guard)
        GR_CODE_OPS(c, s, &guard, 1,
                    "{ .reg .pred own; %s.pred own, $0; and.pred %s, %s, own; and.pred %s, %s, own; }",
                    i->guard_negated ? "not" : "mov", in->name, in->name, out->name, out->name);
    GR_MUST(gr_code_again(c, s, in, at, NULL));
    i->guard = out;
    i->guard_negated = false;
    return GR_OK;
}

// A strong load of what all units see: in pass 2 what it was in pass 1.
static gr_status put_strong_load(const Code *c, PtxStmt *s, const Guard *g, const PtxOperand *ops,
                                 unsigned n_ops, const PtxReg *at, uint32_t what) {
    PtxReg *to = gr_ptx_new_reg(c->f, PTX_B64), *kept = gr_ptx_new_reg(c->f, PTX_PRED),
           *lost = gr_ptx_new_reg(c->f, PTX_PRED);
    PtxOperand leaves = gr_ptx_label_operand(what & GR_AT_STOPS && c->stops ? c->stops : c->leaves);
    GR_CODE_OPS(c, s, ops, n_ops,
                "mov.u64 %s, 1; %scall (%s), __gr%s_strong, (%s, %s, %u); setp.eq.u64 %s, %s, 0; "
                "setp.ne%s.u64 %s, %s, 0%s;",
                to->name, g->alone, to->name, c->suffix, at->name, c->copy->name, what, lost->name, to->name,
                g->combine, kept->name, to->name, g->operand);
    GR_CODE_OPS(c, s, &leaves, 1, "@%s bra $0;", lost->name);
    PtxReg *told = gr_ptx_new_reg(c->f, PTX_PRED);
    GR_CODE(c, s, "and.pred %s, %s, %s; @%s call __gr%s_look, (%u, %s, %u, 0, %s, %s, %s);", told->name,
            kept->name, c->asks->name, told->name, c->suffix, c->f->module->sites[s->site].id, at->name, what,
            c->copy->name, c->pass->name, c->sequence->name);
    gr_code_change_space(s->instr);
    return gr_code_result(c, s, to, NULL, kept);
}

// An access to shared memory that all threads of the private run share (code for blocks): results are the same in both
// passes.
static gr_status put_shared_result(const Code *c, PtxStmt *s, const Guard *g, const PtxOperand *ops,
                                   unsigned n_ops, PtxReg *at) {
    PtxReg *kept = gr_ptx_new_reg(c->f, PTX_PRED);
    GR_CODE_OPS(c, s, ops, n_ops, "setp.eq%s.u32 %s, 0, 0%s;", g->combine, kept->name, g->operand);
    return gr_code_result(c, s, at, NULL, kept);
}

// Whether the value that is stored is all of gr_code_value().
static bool is_one_value(const PtxInstr *i, uint32_t bytes) {
    const PtxOperand *value = i->n_operands == 2 ? &i->operands[1] : NULL;
    unsigned bits = value && value->kind == PTX_O_REG ? gr_ptx_type_bits(value->reg->type) : 0;
    return value && bytes <= 8 && (value->kind == PTX_O_INT || (bits >= 16 && bits <= 64));
}

// Whether the value of a load need not be used.
static bool is_maybe(const Code *c, const PtxSite *site) {
    Speculation spec;
    Decisions decisions;
    return site->access == PTX_ACCESS_READ && site->stmt &&
           (gr_speculated(c->uses, site->stmt, &spec) ||
            gr_decisions(c->uses, c->live->cfg, site->stmt, &decisions));
}

// The registers of a lookup.
typedef struct Lookup {
    bool shared, stores;
    const PtxReg *at;
    PtxReg *offset, *line, *row, *number, *made, *to; // number: of the row. offset: in the end, in the line
    PtxReg *in, *has, *is_made, *slow;
} Lookup;

// Whether the line has a row, and where that is. Of the number of the row, in the end, one less: so none is the
// largest.
static gr_status put_row(const Code *c, PtxStmt *s, const Guard *g, const PtxOperand *ops, unsigned n_ops,
                         const Lookup *l) {
    if (l->shared)
        GR_CODE(c, s, "mov.b64 %s, %s;", l->offset->name, l->at->name);
    else
        GR_CODE(c, s, "sub.u64 %s, %s, %s;", l->offset->name, l->at->name, c->arena_base->name);
    GR_CODE_OPS(c, s, ops, n_ops, "setp.lt%s.u64 %s, %s, %s%s; mov.u32 %s, %u; mov.u32 %s, 0;", g->combine,
                l->in->name, l->offset->name, l->shared ? c->shared_bytes->name : c->arena_bytes->name,
                g->operand, l->number->name, GR_ROW_EDGE, l->made->name);
    GR_CODE(c, s, "shr.u64 %s, %s, %u; shl.b64 %s, %s, 2; add.u64 %s, %s, %s; @%s ld.global.u32 %s, [%s];",
            l->line->name, l->offset->name, (unsigned)GR_LINE_SHIFT, l->line->name, l->line->name,
            l->line->name, l->line->name, l->shared ? c->table->name : c->arena_table->name, l->in->name,
            l->number->name, l->line->name);
    return gr_code_put(
        c, s, NULL, 0,
        "mad.wide.u32 %s, %s, %s, %s; sub.u32 %s, %s, 1; setp.lt.u32 %s, %s, %u; and.b64 %s, %s, %u;",
        l->row->name, l->number->name, c->row_bytes->name, c->rows->name, l->number->name, l->number->name,
        l->has->name, l->number->name, GR_ROW_EDGE - 1, l->offset->name,
        l->shared ? l->at->name : l->offset->name, (unsigned)GR_LINE - 1);
}

// A load of a line that no unit wrote, or by a thread that has stored nothing in the region, needs no more. Then it is
// done, and the thread goes on at `end`.
static gr_status put_quick_load(const Code *c, PtxStmt *s, const Lookup *l, PtxLabel *end) {
    PtxReg *quick = gr_ptx_new_reg(c->f, PTX_PRED), *plain = gr_ptx_new_reg(c->f, PTX_PRED),
           *to = gr_ptx_new_reg(c->f, PTX_B64);
    PtxOperand behind = gr_ptx_label_operand(end);
    GR_CODE(c, s, "setp.eq.u32 %s, %s, 0xffffffff;", quick->name, l->number->name);
    if (c->plain)
        GR_CODE(c, s, "and.pred %s, %s, %s; or.pred %s, %s, %s;", plain->name, l->has->name, c->plain->name,
                quick->name, quick->name, plain->name);
    GR_CODE(c, s, "and.pred %s, %s, %s; and.pred %s, %s, %s; add.u64 %s, %s, %s; add.u64 %s, %s, %s;",
            quick->name, quick->name, l->in->name, quick->name, quick->name, c->unasked->name, to->name,
            l->row->name, c->unmade->name, to->name, to->name, l->offset->name);
    if (l->shared)
        GR_CODE(c, s, "@!%s add.u64 %s, %s, %s;", l->has->name, to->name, c->unwritten->name,
                l->offset->name);
    else
        GR_CODE(c, s, "@!%s mov.b64 %s, %s;", l->has->name, to->name, l->at->name);
    GR_MUST(gr_code_again(c, s, quick, to, NULL));
    return gr_code_put(c, s, &behind, 1, "@%s bra $0;", quick->name);
}

// A load of memory that the launch only reads, if it stays in there, is done at once, and the thread goes on behind it.
static gr_status put_only_read(const Code *c, PtxStmt *s, const PtxReg *at, unsigned group) {
    PtxFunc *f = c->f;
    PtxReg *in = gr_ptx_new_reg(f, PTX_PRED), *over;
    PtxLabel *end = gr_ptx_new_label(f);
    PtxOperand behind = gr_ptx_label_operand(end);
    gr_ptx_insert_label(f, s->next, end);
    GR_MUST(gr_code_is_proved(c, s, at, offsetof(GrPrivControl, only_read), group, in));
    GR_MUST(gr_code_own(c, s, in, &over));
    GR_MUST(gr_code_again(c, s, in, (PtxReg *)at, NULL));
    return gr_code_put(c, s, &behind, 1, "@%s bra $0;", over->name);
}

// A store to memory that the launch only writes, each unit elsewhere, is left out, and the thread goes on behind it:
// what it would store is told.
static gr_status put_only_written(const Code *c, PtxStmt *s, const PtxSite *site, const PtxReg *at,
                                  unsigned group) {
    PtxReg *value, *in = gr_ptx_new_reg(c->f, PTX_PRED), *over;
    PtxLabel *end = gr_ptx_new_label(c->f);
    PtxOperand behind = gr_ptx_label_operand(end);
    gr_ptx_insert_label(c->f, s->next, end);
    GR_MUST(gr_code_is_proved(c, s, at, offsetof(GrPrivControl, only_written), group, in));
    GR_MUST(gr_code_own(c, s, in, &over));
    GR_MUST(gr_code_value(c, s, site->size, &value));
    GR_MUST(gr_code_hash(c, s, at, in, value));
    return gr_code_put(c, s, &behind, 1, "@%s bra $0;", over->name);
}

// Likewise a load, where that is known. So there is no other way, and the thread need not wait for one load before it
// does the next one.
static gr_status put_known_read(const Code *c, PtxStmt *s, const PtxReg *at, unsigned group) {
    PtxFunc *f = c->f;
    PtxInstr *i = s->instr;
    const GrBase *base;
    GR_MUST(gr_code_base(c, s, group, &base));
    if (base)
        return gr_code_base_read(c, s, base);
    PtxReg *begin = gr_ptx_new_reg(f, PTX_B64), *size = gr_ptx_new_reg(f, PTX_B64),
           *in = gr_ptx_new_reg(f, PTX_PRED), *out = gr_ptx_new_reg(f, PTX_PRED),
           *to = gr_ptx_new_reg(f, PTX_B64);
    PtxOperand guard = i->guard ? gr_ptx_reg_operand(i->guard) : (PtxOperand){0};
    char control[64];
    gr_privatizer_control_name(c->suffix, control, sizeof control);
    GR_CODE(c, s,
            "ld.global.nc.v2.u64 {%s, %s}, [%s+%zu]; sub.u64 %s, %s, %s; setp.lt.u64 %s, %s, %s; "
            "not.pred %s, %s; selp.b64 %s, %s, %s, %s;",
            begin->name, size->name, control,
            offsetof(GrPrivControl, only_read) + (group - 1) * sizeof(GrPrivProved), to->name, at->name,
            begin->name, in->name, to->name, size->name, out->name, in->name, to->name, at->name, begin->name,
            in->name);
    if (i->guard)
        GR_CODE_OPS(c, s, &guard, 1, "{ .reg .pred own; %s.pred own, $0; and.pred %s, %s, own; }",
                    i->guard_negated ? "not" : "mov", out->name, out->name);
    GR_CODE(c, s, "@%s mov.u32 %s, %d;", out->name, c->left->name, GR_LEFT_WILD);
    // The load comes in any case, else what it loads to would have to be kept until then.
    return gr_code_set_address(c, gr_code_address_of(i), to, 0);
}

// Whether the granule is the unit's, in the new predicate *is_own. A store takes one that is nobody's.
static gr_status put_owner(const Code *c, PtxStmt *s, const Lookup *l, PtxReg **is_own) {
    PtxFunc *f = c->f;
    PtxReg *owner = gr_ptx_new_reg(f, PTX_B32), *at = gr_ptx_new_reg(f, PTX_B64);
    *is_own = gr_ptx_new_reg(f, PTX_PRED);
    GR_CODE(c, s,
            "shr.u64 %s, %s, %u; shl.b64 %s, %s, 2; add.u64 %s, %s, %s; mov.u32 %s, 0; @%s "
            "ld.global.u32 %s, [%s+%u];",
            at->name, l->offset->name, c->granule, at->name, at->name, at->name, at->name, l->row->name,
            owner->name, l->has->name, owner->name, at->name, (unsigned)GR_ROW_OWNERS);
    if (l->stores) {
        PtxReg *flags = gr_ptx_new_reg(f, PTX_B32), *free = gr_ptx_new_reg(f, PTX_PRED), *once;
        GR_MUST(gr_code_once(c, s, &once));
        GR_CODE(
            c, s,
            "mov.u32 %s, %d; @%s ld.global.u32 %s, [%s+%zu]; and.b32 %s, %s, %d; setp.eq.u32 %s, %s, 0; "
            "@%s setp.ne.u32 %s, 0, 0; @%s call (%s), __gr%s_list, (%s, %s); setp.ne.u32 %s, %s, 0; and.pred "
            "%s, %s, %s; setp.eq.and.u32 %s, %s, 0, %s; @%s setp.ne.u32 %s, 0, 0; ",
            flags->name, GR_ROW_LISTED, l->has->name, flags->name, l->row->name,
            (size_t)GR_ROW_HEAD + offsetof(GrPrivRow, flags), flags->name, flags->name, GR_ROW_LISTED,
            free->name, flags->name, once->name, free->name, free->name, flags->name, c->suffix, l->row->name,
            l->number->name, free->name, flags->name, free->name, free->name, l->has->name, free->name,
            owner->name, free->name, once->name, free->name);
        GR_CODE(c, s, "@%s atom.global.cas.b32 %s, [%s+%u], 0, %s; setp.eq.and.u32 %s, %s, 0, %s;",
                free->name, owner->name, at->name, (unsigned)GR_ROW_OWNERS, c->me->name, free->name,
                owner->name, free->name);
        GR_CODE(c, s, "setp.eq.or.u32 %s, %s, %s, %s;", (*is_own)->name, owner->name, c->me->name,
                free->name);
    } else {
        GR_CODE(c, s, "setp.eq.u32 %s, %s, %s;", (*is_own)->name, owner->name, c->me->name);
    }
    return GR_OK;
}

// The number of the unit's private copy, where the row has such.
static gr_status put_made(const Code *c, PtxStmt *s, const Lookup *l, const PtxReg *is_own) {
    PtxReg *numbered = gr_ptx_new_reg(c->f, PTX_B32), *has = gr_ptx_new_reg(c->f, PTX_PRED);
    GR_CODE(c, s,
            "mov.u32 %s, 0; @%s ld.global.u32 %s, [%s+%zu]; setp.eq.u32 %s, %s, %d; add.u64 %s, "
            "%s, %s; @%s ld.global.u32 %s, [%s]; setp.ge.u32 %s, %s, %d; mad.wide.u32 %s, %s, %u, "
            "%s;",
            numbered->name, l->has->name, numbered->name, l->row->name,
            (size_t)GR_ROW_HEAD + offsetof(GrPrivRow, numbered), has->name, numbered->name, GR_NUMBERED,
            l->line->name, l->row->name, c->number->name, has->name, l->made->name, l->line->name,
            l->is_made->name, l->made->name, GR_COPY_FIRST, l->to->name, l->made->name, (unsigned)GR_LINE,
            c->copies->name);
    if (!l->stores)
        GR_CODE(c, s, "add.u64 %s, %s, %s; @!%s mov.b64 %s, %s;", l->line->name, l->row->name,
                c->unmade->name, l->is_made->name, l->to->name, l->line->name);
    if (is_own)
        GR_CODE(c, s, "add.u64 %s, %s, %u; @%s mov.b64 %s, %s; or.pred %s, %s, %s;", l->line->name,
                l->row->name, (unsigned)GR_ROW_OWN, is_own->name, l->to->name, l->line->name,
                l->is_made->name, l->is_made->name, is_own->name);
    return gr_code_put(c, s, NULL, 0, "add.u64 %s, %s, %s;", l->to->name, l->to->name, l->offset->name);
}

// Where the access at address `at` goes, in the new register *out; 0: nowhere. Memory in the arena, and shared memory,
// is looked up here: a load of a line that nobody wrote goes to the program's own memory, other accesses to what the
// unit owns, or to its private copy, if that is made. Whatever else there is, __gr_at does.
static gr_status put_lookup(const Code *all, PtxStmt *copy, const PtxSite *site, const Guard *g,
                            const PtxOperand *ops, unsigned n_ops, const PtxReg *at, const PtxReg *low,
                            uint32_t what, PtxReg **out) {
    PtxFunc *f = all->f;
    Code at_hand;
    const Code *c = &at_hand;
    Lookup l = {.shared = (what & GR_AT_SPACE) == GR_AT_SHARED, .stores = what & GR_AT_STORE, .at = at};
    PtxReg **wide[] = {&l.offset, &l.line, &l.row, &l.to}, **words[] = {&l.number, &l.made},
           **predicates[] = {&l.in, &l.has, &l.is_made, &l.slow}, *is_own = NULL;
    for (size_t k = 0; k < sizeof wide / sizeof *wide; k++)
        *wide[k] = gr_ptx_new_reg(f, PTX_B64);
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        *words[k] = gr_ptx_new_reg(f, PTX_B32);
    for (size_t k = 0; k < sizeof predicates / sizeof *predicates; k++)
        *predicates[k] = gr_ptx_new_reg(f, PTX_PRED);
    *out = l.to;
    GR_MUST(gr_code_at_hand(all, copy,
                            low        ? GR_HAND_NEAR
                            : l.shared ? GR_HAND_SHARED
                                       : GR_HAND_ARENA,
                            &at_hand));
    if (low) { // else __gr_at knows
        GR_MUST(gr_code_near(c, copy, site, low, at, l.to, l.slow, n_ops > 1 ? &ops[1] : NULL,
                             copy->instr->guard_negated));
        goto found;
    }
    GR_MUST(put_row(c, copy, g, ops, n_ops, &l));
    if (!l.stores) {
        PtxLabel *end = gr_ptx_new_label(f);
        gr_ptx_insert_label(f, copy->next, end);
        GR_MUST(put_quick_load(c, copy, &l, end));
    }
    if (c->granule)
        GR_MUST(put_owner(c, copy, &l, &is_own));
    GR_MUST(put_made(c, copy, &l, is_own));
    if (l.stores) {
        GR_CODE(c, copy, "not.pred %s, %s;", l.slow->name, l.is_made->name);
    } else {
        GR_CODE(c, copy, "setp.ge.u32 %s, %s, %u; setp.ne.and.u32 %s, %s, 0xffffffff, %s;", l.slow->name,
                l.number->name, GR_ROW_EDGE - 1, l.slow->name, l.number->name, l.slow->name);
        if (l.shared)
            GR_CODE(c, copy, "@!%s add.u64 %s, %s, %s;", l.has->name, l.to->name, c->unwritten->name,
                    l.offset->name);
        else
            GR_CODE(c, copy, "@!%s mov.b64 %s, %s;", l.has->name, l.to->name, at->name);
    }
found:
    if (n_ops > 1)
        GR_CODE_OPS(c, copy, ops, n_ops, "selp.u32 %s, 1, 0, %s; setp.ne.and.u32 %s, %s, 0%s;", l.made->name,
                    l.slow->name, l.slow->name, l.made->name, g->operand);
    if (low && l.stores)
        GR_CODE(c, copy, "@%s setp.eq.u32 %s, 0, 0;", l.slow->name, c->copied->name);
    GrAside aside;
    if (!all->known) {
        GR_CODE(c, copy, "@%s call (%s), __gr%s_at, (%s, %s, %u, %s);", l.slow->name, l.to->name, c->suffix,
                at->name, c->copy->name, what, c->unmade->name);
    } else {
        GR_MUST(gr_code_aside_now(all, &aside));
        GR_MUST(gr_code_aside(all, copy, &aside, l.slow, "call (%s), __gr%s_at, (%s, %s, %u, %s);",
                              l.to->name, c->suffix, at->name, c->copy->name, what, c->unmade->name));
    }
    return GR_OK;
}

// As gr_code_lanes(), of a store that goes to `to` in the warp's copy of near memory. If all lanes store, each leaves
// its number there, and finds another one's where two store to one place: else nothing is called. (With masks that are
// no constants ptxas looks first whether all lanes have the same one.)
static gr_status put_near_lanes(const Code *c, PtxStmt *s, const PtxSite *site, const PtxReg *to,
                                const PtxReg *at, PtxReg *kept, const PtxReg *lanes, uint32_t what,
                                const PtxReg *value) {
    PtxLabel *some = gr_ptx_new_label(c->f), *apart = gr_ptx_new_label(c->f);
    PtxOperand labels[2] = {gr_ptx_label_operand(some), gr_ptx_label_operand(apart)};
    GR_CODE_OPS(c, s, labels, 2,
                "{ .reg .b32 own, seen; .reg .pred other; setp.ne.u32 other, %s, 0xffffffff; @other bra $0; "
                "mov.u32 own, %%laneid; mov.u32 seen, own; @%s st.shared.u8 [%s], own; "
                "bar.warp.sync 0xffffffff; @%s ld.shared.u8 seen, [%s]; setp.ne.u32 other, seen, own; "
                "vote.sync.any.pred other, other, 0xffffffff; @!other bra $1; }",
                lanes->name, kept->name, to->name, kept->name, to->name);
    gr_ptx_insert_label(c->f, s, some);
    GR_MUST(gr_code_lanes(c, s, site, at, kept, lanes, what, value));
    gr_ptx_insert_label(c->f, s, apart);
    return GR_OK;
}

// An access to near memory, where there is no other way.
static gr_status put_known_near(const Code *c, PtxStmt *s, const PtxSite *site, const PtxReg *at,
                                const PtxReg *low, uint32_t what) {
    PtxInstr *i = s->instr;
    PtxReg *to = (PtxReg *)low, *kept, *value, *generic = gr_ptx_new_reg(c->f, PTX_B64), *lanes = NULL;
    if (!(what & GR_AT_STORE)) {
        const GrBase *base;
        GR_MUST(gr_code_base(c, s, 0, &base));
        if (base)
            return gr_code_base_near(c, s, site, base);
        GR_MUST(gr_code_near_known_load(c, s, site, low, &to));
        return gr_code_set_address(c, gr_code_address_of(i), to, 0);
    } else {
        if (c->by_warps) // they are compared
            GR_MUST(gr_code_together(c, s, &lanes));
        GR_MUST(gr_code_near_known_store(c, s, site, low, &to, &kept));
        GR_CODE(c, s, "@%s setp.%s.u32 %s, 0, 0;", kept->name, c->dense ? "eq" : "ne",
                c->dense ? c->stored->name : c->plain->name);
        GR_MUST(gr_code_value(c, s, site->size, &value));
        GR_MUST(gr_code_hash(c, s, at, kept, value));
        if (lanes && !c->dense)
            GR_CODE(c, s, "bar.warp.sync %s;", lanes->name);
        if (lanes)
            GR_CODE(c, s, "mov.u64 %s, 0; cvta.shared.u64 %s, %s; add.u64 %s, %s, %s;", generic->name,
                    generic->name, generic->name, generic->name, generic->name, at->name);
        if (lanes && c->dense)
            GR_MUST(put_near_lanes(c, s, site, to, generic, kept, lanes, what, value));
        else if (lanes)
            GR_MUST(gr_code_lanes(c, s, site, generic, kept, lanes, what, value));
    }
    GR_MUST(gr_code_set_address(c, gr_code_address_of(i), to, 0));
    i->guard = kept;
    i->guard_negated = false;
    return GR_OK;
}

// 0: it is a part of what a site does, and of that nothing is known.
static uint32_t number_of(const Code *c, const PtxSite *site) {
    return site->stmt ? (uint32_t)(site - c->f->module->sites) : 0;
}

gr_status gr_code_redirect(const Code *c, PtxStmt *copy, const PtxSite *site) {
    uint32_t number = number_of(c, site);
    PtxInstr *i = copy->instr;
    PtxOperand *address = gr_code_address_of(i);
    bool shared = gr_is_shared_space(site->space), inside = shared || site->space == PTX_SHARED_CLUSTER;
    bool generic = site->space == PTX_GENERIC;
    bool result = gr_has_result(site, c->live, c->set);
    if (!address || (!generic && site->space != PTX_GLOBAL && !(inside && (c->warps || result))))
        return GR_OK;
    uint32_t what = site->size << GR_AT_SIZE | (site->access & PTX_ACCESS_WRITE ? GR_AT_STORE : 0);
    what |= site->access == PTX_ACCESS_RMW ? GR_AT_ATOMIC : is_maybe(c, site) ? GR_AT_MAYBE : 0;
    what |= site->strong ? GR_AT_STRONG | (c->warps || c->stops ? GR_AT_STOPS : 0) : 0;
    what |= generic ? GR_AT_GENERIC : shared ? GR_AT_SHARED : GR_AT_GLOBAL;
    bool noted = c->updates && i->op == PTX_OP_ST && !site->strong;
    if (noted && c->brief && is_one_value(i, site->size)) {
        what |= GR_AT_NOTED; // so the call does that, too
        noted = false;
    }
    Guard g;
    PtxReg *at, *to, *kept = gr_ptx_new_reg(c->f, PTX_PRED);
    GR_MUST(gr_code_address(c, copy, address, &at));
    unsigned roles = c->roles ? c->roles[number] : 0;
    if (inside && !c->warps && roles & GR_ORDERS_INNER)
        return GR_OK;
    if (generic && !c->warps && (roles & GR_ORDERS_INNER || c->clusters))
        GR_MUST(put_own(c, copy, at));
    if (c->dense && !c->warps)
        return gr_code_windowed(c, copy, site, at, what);
    guard_of(i, &g);
    PtxOperand ops[2] = {{0}, i->guard ? gr_ptx_reg_operand(i->guard) : (PtxOperand){0}};
    unsigned n_ops = i->guard ? 2 : 0;
    roles &= ~(unsigned)GR_ORDERS_INNER;
    if (roles & GR_ORDERS_READ && c->stops) {
        PtxOperand there[2] = {gr_ptx_label_operand(c->stops), ops[1]};
        GR_CODE_OPS(c, copy, there, n_ops ? n_ops : 1, "%sbra $0;", g.alone);
    }
    if (roles && c->warps)
        GR_CODE_OPS(c, copy, ops, n_ops, "%scall __gr%s_orders, (%s, %u, %s);", g.alone, c->suffix,
                    c->copy->name, roles, c->pass->name);
    if (inside && !c->warps)
        return put_shared_result(c, copy, &g, ops, n_ops, at);
    if (site->strong && i->op == PTX_OP_LD)
        return put_strong_load(c, copy, &g, ops, n_ops, at, what);
    PtxReg *low = NULL;
    if (gr_near_fits(c, site)) {
        GR_MUST(gr_code_near_low(c, copy, at, &low));
        if (c->known &&
            (c->dense ||
             !(what & GR_AT_STORE && !c->in_loop))) // a call costs what the loop could have kept in registers
            return put_known_near(c, copy, site, at, low, what);
        if (!(site->access & PTX_ACCESS_WRITE))
            GR_MUST(gr_code_near_quick(c, copy, low));
    }
    unsigned group = c->groups && i->op == PTX_OP_LD && !generic ? c->groups[number] : 0;
    if (group && c->known)
        return put_known_read(c, copy, at, group);
    gr_code_change_space(i);
    if (c->dense && site->space == PTX_GLOBAL && (i->op == PTX_OP_LD || i->op == PTX_OP_ST) && !site->strong)
        GR_MUST(gr_code_near_window(c, copy, site, at, what));
    unsigned puts = c->puts && i->op == PTX_OP_ST && !generic ? c->puts[number] : 0;
    if (puts)
        GR_MUST(put_only_written(c, copy, site, at, puts));
    if (group)
        GR_MUST(put_only_read(c, copy, at, group));
    // Lanes of one store are compared (gr_code_lanes), so they have to come there together.
    bool compares = (c->warps || c->whole) && i->op == PTX_OP_ST && !site->strong,
         together = compares && (c->whole || c->by_warps) && !c->brief;
    PtxReg *lanes = NULL, *value = NULL;
    if (together)
        GR_MUST(gr_code_together(c, copy, &lanes));
    if (c->brief) {
        to = gr_ptx_new_reg(c->f, PTX_B64);
        if (what & GR_AT_STORE)
            GR_MUST(gr_code_value(c, copy, site->size, &value));
        GR_CODE_OPS(c, copy, ops, n_ops,
                    "mov.u64 %s, 0; %scall (%s), __gr%s_%s, (%u, %s, %u, %s, %s, %s, %s);", to->name, g.alone,
                    to->name, c->suffix, compares ? "puts" : "goes", site->id, at->name, what,
                    value ? value->name : "0", c->copy->name, c->pass->name, c->sequence->name);
    } else if (generic) {
        to = gr_ptx_new_reg(c->f, PTX_B64);
        if (c->copied && what & GR_AT_STORE)
            GR_CODE(c, copy,
                    c->known ? "{ .reg .pred in; isspacep.shared in, %s; @in mov.u32 %s, 1; }"
                             : "{ .reg .pred in; isspacep.shared in, %s; @in setp.eq.u32 %s, 0, 0; }",
                    at->name, c->known ? c->left->name : c->copied->name);
        GR_CODE_OPS(c, copy, ops, n_ops, "mov.u64 %s, 0; %scall (%s), __gr%s_at, (%s, %s, %u, %s);", to->name,
                    g.alone, to->name, c->suffix, at->name, c->copy->name, what, c->unmade->name);
    } else {
        GR_MUST(put_lookup(c, copy, site, &g, ops, n_ops, at, low, what, &to));
    }
    if (together)
        GR_CODE(c, copy, "bar.warp.sync %s;", lanes->name);
    // Without a private copy the access cannot be made, and what the thread would do next is worth nothing.
    PtxReg *lost = gr_ptx_new_reg(c->f, PTX_PRED);
    PtxOperand leaves = gr_ptx_label_operand(what & GR_AT_STOPS && c->stops ? c->stops : c->leaves);
    GR_CODE_OPS(c, copy, ops, n_ops, "setp.eq%s.u64 %s, %s, 0%s; setp.ne%s.u64 %s, %s, 0%s;", g.combine,
                lost->name, to->name, g.operand, g.combine, kept->name, to->name, g.operand);
    GR_CODE_OPS(c, copy, &leaves, 1, "@%s bra $0;", lost->name);
    PtxReg *told = gr_ptx_new_reg(c->f, PTX_PRED), *common = NULL;
    if (what & GR_AT_STORE && c->plain && !c->brief)
        GR_CODE(c, copy, "@%s setp.ne.u32 %s, 0, 0;", kept->name, c->plain->name);
    if (what & GR_AT_STORE && !value)
        GR_MUST(gr_code_value(c, copy, site->size, &value));
    if (value)
        GR_MUST(gr_code_hash(c, copy, at, kept, value));
    if (noted)
        common = gr_ptx_new_reg(c->f, PTX_B64);
    if (common)
        GR_CODE(c, copy, "mov.u64 %s, 0; @%s call (%s), __gr%s_stored, (%s, %s, %u);", common->name,
                kept->name, common->name, c->suffix, to->name, c->pass->name, site->size);
    if (!c->known && !c->brief)
        GR_CODE(c, copy, "and.pred %s, %s, %s; @%s call __gr%s_look, (%u, %s, %u, %s, %s, %s, %s);",
                told->name, kept->name, c->asks->name, told->name, c->suffix, site->id, at->name, what,
                value ? value->name : "0", c->copy->name, c->pass->name, c->sequence->name);
    if (compares && c->brief) // 1: another lane's value stays
        GR_CODE(c, copy, "setp.ne.and.u64 %s, %s, 1, %s;", kept->name, to->name, kept->name);
    else if (compares)
        GR_MUST(gr_code_lanes(c, copy, site, c->whole ? at : to, kept, lanes, what, value));
    GR_MUST(gr_code_set_address(c, address, to, 0));
    i->guard = kept;
    i->guard_negated = false;
    if (common)
        GR_MUST(put_copy_at(c, copy, common));
    if (site->access == PTX_ACCESS_RMW || site->strong)
        GR_MUST(put_update(c, copy, to, kept, site->size, result));
    return GR_OK;
}

gr_status gr_code_access(const Code *c, PtxStmt *s, const PtxSite *site, PtxAccess access, PtxSpace space,
                         uint32_t size, const PtxOperand *ops, unsigned n_ops, const char *fmt, ...) {
    char text[256];
    PtxStmt *made = NULL;
    PtxSite own = *site;
    va_list words;
    va_start(words, fmt);
    vsnprintf(text, sizeof text, fmt, words);
    va_end(words);
    own.stmt = NULL;
    own.access = access;
    own.space = space;
    own.size = size;
    own.async = own.copy = false;
    gr_status st = gr_ptx_insert(c->f, s, 0, text, ops, n_ops, &made, c->err);
    if (st == GR_OK && !c->warps && gr_is_shared_space(space))
        st = gr_code_inside(c, made, &own);
    return st == GR_OK ? gr_code_redirect(c, made, &own) : st;
}

const char *gr_space_words(PtxSpace space) {
    return space == PTX_GLOBAL ? ".global" : space == PTX_GENERIC ? "" : ".shared";
}
