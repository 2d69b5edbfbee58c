// SPDX-License-Identifier: Apache-2.0
// meetings — barriers of the grid in the copies of the code (grid.h). In code for blocks all blocks end the region
// together. In code for warps blocks tell each other what they wrote; where they cannot, a block stops there. The
// program's way of waiting is left out: a thread that counts finds that it is the last one.
#include "engines/privatizer/pass/code.h"

// In front of a barrier behind calls. ptxas takes it that lanes which come to a call together leave it together. They
// need not, and a warp that comes to a barrier in parts is counted more than once: blocks then stop with an illegal
// instruction, or wait for ever. ptxas leaves bar.warp.sync out as well, but where it sees that lanes may part; the
// number of a copy is never that one.
static gr_status put_together(const Code *c, PtxStmt *at) {
    return gr_code_put(
        c, at, NULL, 0,
        "{ .reg .pred part; setp.eq.u32 part, %s, -1; @part nanosleep.u32 1; bar.warp.sync 0xffffffff; }",
        c->copy->name);
}

bool gr_exchanges(const Code *c) { return c->warps && c->grid->n && !c->takes_turns && !c->roles; }

bool gr_has_regions(const Code *c) { return c->warps || c->grid->n; }

gr_status gr_code_meeting(const Code *c, PtxStmt *s, GrGridPart part) {
    PtxInstr *i = s->instr;
    const char *guard = !i->guard ? "" : i->guard_negated ? "@!$1 " : "@$1 ";
    PtxOperand ops[2] = {i->operands[0], i->guard ? gr_ptx_reg_operand(i->guard) : (PtxOperand){0}};
    if (c->warps && part == GR_GRID_COUNTS) {
        PtxOperand leaves[2] = {gr_ptx_label_operand(c->leaves), ops[1]};
        PtxReg *stops = gr_ptx_new_reg(c->f, PTX_PRED);
        GR_CODE(c, s, gr_exchanges(c) ? "not.pred %s, %s;" : "setp.eq.u32 %s, 0, 0;", stops->name,
                gr_exchanges(c) ? c->exchanges->name : "");
        if (i->guard)
            GR_CODE_OPS(c, s, leaves, 2, "{ .reg .pred own; %s.pred own, $1; and.pred %s, %s, own; }",
                        i->guard_negated ? "not" : "mov", stops->name, stops->name);
        GR_CODE_OPS(c, s, leaves, 1, "@%s call __gr%s_waits; @%s bra $0;", stops->name, c->suffix,
                    stops->name);
    }
    GR_CODE_OPS(c, s, ops, 2, "%smov.b32 $0, %s;", guard, part == GR_GRID_COUNTS ? "0" : "0x80000000");
    s->kind = PTX_RAW;
    s->text = "";
    return GR_OK;
}

// The block's first thread meets those of other blocks, and tells the others of its own whether to go on. At `leaves`
// otherwise; NULL: they end.
static gr_status put_meeting(const Code *c, PtxLabel *leaves) {
    PtxReg *came = gr_ptx_new_reg(c->f, PTX_B32), *lost = gr_ptx_new_reg(c->f, PTX_PRED);
    PtxOperand there = leaves ? gr_ptx_label_operand(leaves) : (PtxOperand){0};
    GR_MUST(put_together(c, NULL));
    GR_CODE(c, NULL, "barrier.sync 0; call (%s), __gr%s_meets; setp.eq.u32 %s, %s, 0;", came->name, c->suffix,
            lost->name, came->name);
    GR_MUST(put_together(c, NULL));
    return gr_code_put(c, NULL, &there, 1, "barrier.red.or.pred %s, 0, %s; @%s %s;", lost->name, lost->name,
                       lost->name, leaves ? "bra $0" : "ret");
}

gr_status gr_code_parts(const Code *c) {
    return c->warps ? gr_code_put(c, NULL, NULL, 0, "barrier.sync 0;") : put_meeting(c, NULL);
}

gr_status gr_code_exchange(const Code *c, const PtxReg *due, const PtxReg *all, PtxLabel *leaves) {
    static const char *const steps[] = {"finds_rows", "gives", "unites"};
    PtxReg *ended = gr_ptx_new_reg(c->f, PTX_B32);
    PtxLabel *again = gr_ptx_new_label(c->f), *skip = gr_ptx_new_label(c->f);
    PtxOperand over[2] = {gr_ptx_label_operand(skip), gr_ptx_label_operand(again)},
               there = gr_ptx_label_operand(leaves);
    GR_CODE_OPS(c, NULL, over, 2,
                "@!%s bra $0; barrier.red.or.pred %s, 0, %s; or.pred %s, %s, %s; @!%s bra $0;",
                c->exchanges->name, due->name, due->name, due->name, due->name, all->name, due->name);
    gr_ptx_insert_label(c->f, NULL, again);
    GR_CODE(c, NULL, "@!%s call __gr%s_goes_on, (%s);", all->name, c->suffix, c->meetings->name);
    for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
        GR_CODE(c, NULL, "call __gr%s_%s;", c->suffix, steps[k]);
        GR_MUST(put_meeting(c, leaves));
    }
    GR_CODE(c, NULL, "call __gr%s_takes; call (%s), __gr%s_all_end, (%s);", c->suffix, ended->name, c->suffix,
            c->meetings->name);
    GR_MUST(put_together(c, NULL));
    GR_CODE_OPS(c, NULL, &there, 1, "barrier.sync 0; add.u32 %s, %s, 1; setp.ne.u32 %s, %s, 0; @%s bra $0;",
                c->meetings->name, c->meetings->name, due->name, ended->name, due->name);
    GR_CODE_OPS(c, NULL, over, 2, "@%s bra $1;", all->name);
    gr_ptx_insert_label(c->f, NULL, skip);
    return GR_OK;
}

gr_status gr_code_meets(const Code *c) { return c->warps ? GR_OK : gr_code_parts(c); }

gr_status gr_code_goes_on(const Code *c, const PtxReg *all) {
    return c->warps ? GR_OK
                    : gr_code_put(c, NULL, NULL, 0, "@!%s call __gr%s_goes_on, (%s);", all->name, c->suffix,
                                  c->sequence->name);
}

gr_status gr_code_all_end(const Code *c, const PtxReg *all) {
    PtxReg *goes_on = gr_ptx_new_reg(c->f, PTX_B32);
    return c->warps ? GR_OK
                    : gr_code_put(c, NULL, NULL, 0, "call (%s), __gr%s_all_end, (%s); setp.ne.u32 %s, %s, 0;",
                                  goes_on->name, c->suffix, c->sequence->name, all->name, goes_on->name);
}

gr_status gr_code_keep_shared(const Code *c) {
    PtxStmt *at = c->body.n ? c->body.stmt[0] : NULL;
    if (c->warps)
        return GR_OK;
    GR_CODE(c, at, "call __gr%s_keep_shared;", c->suffix);
    GR_MUST(put_together(c, at));
    return gr_code_put(c, at, NULL, 0, "barrier.sync 0;");
}

gr_status gr_code_shared(const Code *c, const PtxReg *start, bool second) {
    if (c->warps)
        return GR_OK;
    if (!second)
        return gr_code_put(c, NULL, NULL, 0, "call __gr%s_again_shared;", c->suffix);
    return gr_code_put(c, NULL, NULL, 0, "call __gr%s_check_shared, (%s, %s, %s);", c->suffix, start->name,
                       c->copy->name, c->sequence->name);
}
