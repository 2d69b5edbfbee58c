// SPDX-License-Identifier: Apache-2.0
// dense — code for kernels in which each unit has a private copy of all that the launch may write, at a constant
// distance from the program's own (LDetector, section 5.2). So nothing is looked up. In code for blocks what is
// elsewhere has to be known: loads of memory that is only read, and stores to memory that is only written.
#include "engines/privatizer/device/control.h"
#include "engines/privatizer/pass/code.h"

#include <stddef.h>
#include <string.h>

gr_status gr_code_window(Code *c) {
    PtxReg **wide[] = {&c->window_at, &c->window_size, &c->window_off};
    for (size_t k = 0; k < sizeof wide / sizeof *wide; k++)
        *wide[k] = gr_ptx_new_reg(c->f, PTX_B64);
    c->window_others = gr_ptx_new_reg(c->f, PTX_B32);
    GR_MUST(gr_code_field(c, NULL, "u64", c->window_at, offsetof(GrPrivControl, window.at)));
    GR_MUST(gr_code_field(c, NULL, "u64", c->window_size, offsetof(GrPrivControl, window.size)));
    GR_MUST(gr_code_field(c, NULL, "u64", c->window_off, offsetof(GrPrivControl, window.copies)));
    if (c->warps)
        return gr_code_put(
            c, NULL, NULL, 0,
            "{ .reg .b64 own; cvta.shared.u64 %s, %s; cvt.u64.u32 own, %s; add.u64 %s, %s, own; }",
            c->window_off->name, c->window_off->name, c->near_unmade->name, c->window_off->name,
            c->window_off->name);
    GR_MUST(gr_code_field(c, NULL, "u32", c->window_others, offsetof(GrPrivControl, privates)));
    return gr_code_put(c, NULL, NULL, 0, "mad.wide.u32 %s, %s, %u, %s; sub.u32 %s, %s, 1;",
                       c->window_off->name, c->copy->name, (unsigned)GR_LINE, c->window_off->name,
                       c->window_others->name, c->window_others->name);
}

// An access that is due, and to nothing that is known, makes the thread's work worth nothing.
static gr_status put_wild(const Code *c, PtxStmt *s, const PtxReg *due, const PtxReg *known) {
    return gr_code_put(
        c, s, NULL, 0,
        "{ .reg .pred lost; not.pred lost, %s; and.pred lost, lost, %s; @lost mov.u32 %s, %d; }", known->name,
        due->name, c->left->name, GR_LEFT_WILD);
}

// The unit has stored to the line that is `off` behind the window's begin.
static gr_status put_stored(const Code *c, PtxStmt *s, const PtxReg *off, const PtxReg *due) {
    PtxReg *stored = gr_ptx_new_reg(c->f, PTX_B64);
    gr_status st = gr_code_field(c, s, "u64", stored, offsetof(GrPrivControl, window.stored));
    return st != GR_OK
               ? st
               : gr_code_put(
                     c, s, NULL, 0,
                     "{ .reg .b32 line; .reg .b64 all; shr.u32 line, %s, %u; cvt.u64.u32 all, %s; "
                     "add.u64 %s, %s, all; cvt.u64.u32 all, line; add.u64 %s, %s, all; mad.wide.u32 %s, "
                     "line, %s, %s; @%s st.global.u8 [%s], 1; }",
                     off->name, (unsigned)GR_LINE_SHIFT, c->copy->name, stored->name, stored->name,
                     stored->name, stored->name, stored->name, c->window_others->name, stored->name,
                     due->name, stored->name);
}

static gr_status put_store(const Code *c, PtxStmt *s, const PtxSite *site, const PtxReg *at, PtxReg *kept,
                           const PtxReg *known, uint32_t what) {
    PtxReg *value, *lanes;
    if (c->whole)
        GR_MUST(gr_code_together(c, s, &lanes));
    GR_MUST(gr_code_value(c, s, site->size, &value));
    GR_MUST(gr_code_hash(c, s, at, known, value));
    if (c->whole)
        GR_MUST(gr_code_lanes(c, s, site, at, kept, lanes, what, value));
    s->instr->guard = kept;
    s->instr->guard_negated = false;
    return GR_OK;
}

gr_status gr_code_windowed(const Code *c, PtxStmt *s, const PtxSite *site, const PtxReg *at, uint32_t what) {
    PtxFunc *f = c->f;
    PtxInstr *i = s->instr;
    bool stores = what & GR_AT_STORE;
    const uint8_t *groups = stores ? c->puts : c->groups;
    unsigned group = groups ? groups[site - f->module->sites] : 0;
    PtxReg *in = gr_ptx_new_reg(f, PTX_PRED), *known = gr_ptx_new_reg(f, PTX_PRED),
           *due = gr_ptx_new_reg(f, PTX_PRED), *to = gr_ptx_new_reg(f, PTX_B64),
           *off = gr_ptx_new_reg(f, PTX_B32);
    PtxOperand guard = i->guard ? gr_ptx_reg_operand(i->guard) : (PtxOperand){0};
    char control[64];
    gr_privatizer_control_name(c->suffix, control, sizeof control);
    if (i->guard)
        GR_CODE_OPS(c, s, &guard, 1, "%s.pred %s, $0;", i->guard_negated ? "not" : "mov", due->name);
    else
        GR_CODE(c, s, "setp.eq.u32 %s, 0, 0;", due->name);
    GR_CODE(c, s, "sub.u64 %s, %s, %s; setp.lt.u64 %s, %s, %s; mov.pred %s, %s;", to->name, at->name,
            c->window_at->name, in->name, to->name, c->window_size->name, known->name, in->name);
    // The line comes as often as there are units, and the thread's own is behind those of the units before.
    GR_CODE(c, s,
            "{ .reg .b32 line; .reg .b64 all; cvt.u32.u64 %s, %s; and.b32 line, %s, %d; "
            "mad.wide.u32 all, line, %s, %s; add.u64 %s, %s, all; }",
            off->name, to->name, off->name, -GR_LINE, c->window_others->name, c->window_off->name, to->name,
            to->name);
    if (group) {
        PtxReg *proved = gr_ptx_new_reg(f, PTX_PRED);
        GR_MUST(gr_code_is_proved(
            c, s, at, stores ? offsetof(GrPrivControl, only_written) : offsetof(GrPrivControl, only_read),
            group, proved));
        GR_CODE(c, s, "or.pred %s, %s, %s;", known->name, known->name, proved->name);
    }
    GR_MUST(put_wild(c, s, due, known));
    // A load comes in any case, as its guard says: from the control, if nothing is known.
    GR_CODE(c, s, "@!%s mov.b64 %s, %s; @!%s mov.u64 %s, %s;", in->name, to->name, at->name, known->name,
            to->name, control);
    gr_code_change_space(i);
    if (stores) {
        GR_CODE(c, s, "and.pred %s, %s, %s; and.pred %s, %s, %s;", in->name, in->name, due->name, known->name,
                known->name, due->name);
        GR_MUST(put_stored(c, s, off, in));
        GR_MUST(put_store(c, s, site, at, in, known, what));
    }
    return gr_code_set_address(c, gr_code_address_of(i), to, 0);
}

// The access once more before itself, to shared memory by a generic address.
static gr_status put_generic(const Code *c, PtxStmt *s, PtxReg *guard, PtxReg *to) {
    PtxInstr *i = s->instr;
    unsigned n = 0, had = i->n_mods;
    size_t size = had * sizeof *i->mods;
    void *kept = gr_arena_alloc(c->arena, size + 1);
    GR_NEED(kept, c->err);
    memcpy(kept, i->mods, size);
    for (unsigned k = 0; k < had; k++)
        if (i->mods[k].id != PTX_MOD_global)
            i->mods[n++] = i->mods[k];
    i->n_mods = (uint16_t)n;
    gr_ptx_instr_summarize(i);
    gr_status st = gr_code_again(c, s, guard, to, NULL);
    memcpy(i->mods, kept, size);
    i->n_mods = (uint16_t)had;
    gr_ptx_instr_summarize(i);
    return st;
}

gr_status gr_code_near_window(const Code *c, PtxStmt *s, const PtxSite *site, const PtxReg *at,
                              uint32_t what) {
    PtxFunc *f = c->f;
    PtxInstr *i = s->instr;
    PtxReg *in = gr_ptx_new_reg(f, PTX_PRED), *to = gr_ptx_new_reg(f, PTX_B64);
    PtxLabel *others = gr_ptx_new_label(f), *end = gr_ptx_new_label(f);
    PtxOperand guard = i->guard ? gr_ptx_reg_operand(i->guard) : (PtxOperand){0},
               to_others = gr_ptx_label_operand(others), behind = gr_ptx_label_operand(end);
    gr_ptx_insert_label(f, s->next, end);
    GR_CODE(c, s, "sub.u64 %s, %s, %s; setp.lt.u64 %s, %s, %s; add.u64 %s, %s, %s;", to->name, at->name,
            c->window_at->name, in->name, to->name, c->window_size->name, to->name, to->name,
            c->window_off->name);
    GR_CODE_OPS(c, s, &to_others, 1, "@!%s bra $0;", in->name);
    if (i->guard)
        GR_CODE_OPS(c, s, &guard, 1, "%s.pred %s, $0;", i->guard_negated ? "not" : "mov", in->name);
    if (what & GR_AT_STORE) {
        PtxReg *value, *lanes;
        GR_MUST(gr_code_together(c, s, &lanes));
        GR_MUST(gr_code_value(c, s, site->size, &value));
        GR_MUST(gr_code_hash(c, s, at, in, value));
        GR_CODE(c, s, "@%s setp.eq.u32 %s, 0, 0;", in->name, c->stored->name);
        GR_MUST(gr_code_lanes(c, s, site, at, in, lanes, what, value));
    }
    GR_MUST(put_generic(c, s, in, to));
    GR_CODE_OPS(c, s, &behind, 1, "bra $0;");
    gr_ptx_insert_label(f, s, others);
    return GR_OK;
}

gr_status gr_code_window_ends(const Code *c, PtxStmt *s) {
    return gr_code_put(c, s, NULL, 0,
                       "{ .reg .pred wild; setp.eq.u32 wild, %s, %d; @wild call __gr%s_wild; }",
                       c->left->name, GR_LEFT_WILD, c->suffix);
}
