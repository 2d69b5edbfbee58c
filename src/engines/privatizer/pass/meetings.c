// SPDX-License-Identifier: Apache-2.0
// meetings — barriers of the grid in the copies of the code (grid.h). In code for warps a block stops there: what other blocks wrote is not in its private copies. In code for blocks all blocks
// end the region together. The program's way of waiting is left out then: a thread that counts finds that it is the last one.
#include "engines/privatizer/pass/code.h"

bool gr_has_regions(const Code *c) { return c->warps || c->grid->n; }

gr_status gr_code_meeting(const Code *c, PtxStmt *s, GrGridPart part) {
    gr_status st = GR_OK;
    PtxInstr *i = s->instr;
    const char *guard = !i->guard ? "" : i->guard_negated ? "@!$1 " : "@$1 ";
    PtxOperand ops[2] = {i->operands[0], i->guard ? gr_ptx_reg_operand(i->guard) : (PtxOperand){0}};
    if (c->warps && part == GR_GRID_COUNTS) {
        PtxOperand leaves[2] = {gr_ptx_label_operand(c->leaves), ops[1]};
        GR_TRY(gr_code_put(c, s, leaves, 2, "%scall __gr%s_waits; %sbra $0;", guard, c->suffix, guard));
    } else {
        GR_TRY(gr_code_put(c, s, ops, 2, "%smov.b32 $0, %s;", guard,
                           part == GR_GRID_COUNTS ? "0" : "0x80000000"));
    }
    s->kind = PTX_RAW;
    s->text = "";
done:
    return st;
}

// Thread 0 meets those of other blocks, and tells the other threads of its own whether to go on.
gr_status gr_code_parts(const Code *c) {
    if (c->warps)
        return gr_code_put(c, NULL, NULL, 0, "barrier.sync 0;");
    PtxReg *came = gr_ptx_new_reg(c->f, PTX_B32), *lost = gr_ptx_new_reg(c->f, PTX_PRED);
    return gr_code_put(c, NULL, NULL, 0,
                       "barrier.sync 0; call (%s), __gr%s_meets; setp.eq.u32 %s, %s, 0; barrier.red.or.pred "
                       "%s, 0, %s; @%s ret;",
                       came->name, c->suffix, lost->name, came->name, lost->name, lost->name, lost->name);
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
    return c->warps || !c->body.n ? GR_OK
                                  : gr_code_put(c, c->body.stmt[0], NULL, 0,
                                                "call __gr%s_keep_shared; barrier.sync 0;", c->suffix);
}

gr_status gr_code_shared(const Code *c, const PtxReg *start, bool second) {
    if (c->warps)
        return GR_OK;
    if (!second)
        return gr_code_put(c, NULL, NULL, 0, "call __gr%s_again_shared;", c->suffix);
    return gr_code_put(c, NULL, NULL, 0, "call __gr%s_check_shared, (%s, %s, %s);", c->suffix, start->name,
                       c->copy->name, c->sequence->name);
}
