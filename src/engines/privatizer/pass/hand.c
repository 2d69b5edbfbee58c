// SPDX-License-Identifier: Apache-2.0
// hand — what an access needs to find its private copy is loaded where it is needed: a kernel that keeps all of it in
// registers has too few for itself.
#include "engines/privatizer/device/control.h"
#include "engines/privatizer/pass/code.h"

#include <stddef.h>

gr_status gr_code_field(const Code *c, PtxStmt *s, const char *type, const PtxReg *to, size_t at) {
    char control[64];
    gr_privatizer_control_name(c->suffix, control, sizeof control);
    return gr_code_put(c, s, NULL, 0, "ld.global.nc.%s %s, [%s+%zu];", type, to->name, control, at);
}

static gr_status put_predicate(const Code *c, PtxStmt *s, size_t at, PtxReg **out) {
    PtxReg *word = gr_ptx_new_reg(c->f, PTX_B32);
    *out = gr_ptx_new_reg(c->f, PTX_PRED);
    gr_status st = gr_code_field(c, s, "u32", word, at);
    return st == GR_OK ? gr_code_put(c, s, NULL, 0, "setp.ne.u32 %s, %s, 0;", (*out)->name, word->name) : st;
}

static gr_status put_constant(const Code *c, PtxStmt *s, bool value, PtxReg **out) {
    *out = gr_ptx_new_reg(c->f, PTX_PRED);
    return gr_code_put(c, s, NULL, 0, "setp.%s.u32 %s, 0, 0;", value ? "eq" : "ne", (*out)->name);
}

gr_status gr_code_alone(const Code *c, PtxStmt *s, PtxReg **out) {
    if (c->known && !c->by_warps)
        return put_constant(c, s, true, out);
    return put_predicate(c, s, offsetof(GrPrivControl, alone), out);
}

gr_status gr_code_once(const Code *c, PtxStmt *s, PtxReg **out) {
    if (c->known)
        return put_constant(c, s, false, out);
    return put_predicate(c, s, offsetof(GrPrivControl, once), out);
}

gr_status gr_code_at_hand(const Code *c, PtxStmt *s, unsigned needs, Code *out) {
    *out = *c;
    const unsigned rows = GR_HAND_ARENA | GR_HAND_SHARED;
    const struct {
        unsigned needs;
        PtxReg **to;
        bool wide;
        size_t at, of_slot; // of_slot 0: in the control for warps, too
    } fields[] = {
        {GR_HAND_ARENA, &out->arena_base, true, offsetof(GrPrivControl, arena), 0},
        {GR_HAND_ARENA, &out->arena_bytes, true, offsetof(GrPrivControl, arena_bytes), 0},
        {GR_HAND_ARENA, &out->arena_table, true, offsetof(GrPrivControl, arena_table),
         offsetof(GrPrivSlot, arena_table)},
        {GR_HAND_SHARED, &out->shared_bytes, true, offsetof(GrPrivControl, shared_bytes), 0},
        {GR_HAND_SHARED, &out->table, true, offsetof(GrPrivControl, tables), offsetof(GrPrivSlot, table)},
        {rows, &out->rows, true, offsetof(GrPrivControl, rows_from), offsetof(GrPrivSlot, rows)},
        {rows, &out->copies, true, offsetof(GrPrivControl, copies_from), offsetof(GrPrivSlot, copies)},
        {rows, &out->row_bytes, false, offsetof(GrPrivControl, row_bytes), 0},
        {GR_HAND_NEAR, &out->near_first, false, offsetof(GrPrivControl, near.first), 0},
        {GR_HAND_NEAR, &out->near_size, false, offsetof(GrPrivControl, near.size), 0},
        {GR_HAND_NEAR, &out->near_owners, false, offsetof(GrPrivControl, near.owners), 0},
        {GR_HAND_NEAR, &out->near_heads, false, offsetof(GrPrivControl, near.heads), 0},
    };
    for (size_t k = 0; k < sizeof fields / sizeof *fields; k++) {
        if (!(fields[k].needs & needs) || (fields[k].to == &out->near_heads && !c->by_warps))
            continue;
        const char *type = fields[k].wide ? "u64" : "u32";
        *fields[k].to = gr_ptx_new_reg(c->f, fields[k].wide ? PTX_B64 : PTX_B32);
        if (c->warps && fields[k].of_slot)
            GR_CODE(c, s, "ld.global.%s %s, [%s+%zu];", type, (*fields[k].to)->name, c->slot->name,
                    fields[k].of_slot);
        else
            GR_MUST(gr_code_field(c, s, type, *fields[k].to, fields[k].at));
    }
    out->me = gr_ptx_new_reg(c->f, PTX_B32);
    GR_CODE(c, s, "add.u32 %s, %s, 1;", out->me->name, c->copy->name);
    if (needs & rows) {
        out->number = gr_ptx_new_reg(c->f, PTX_B64);
        out->unasked = gr_ptx_new_reg(c->f, PTX_PRED);
        GR_CODE(c, s, "mul.wide.u32 %s, %s, 4; add.u64 %s, %s, %zu; not.pred %s, %s;", out->number->name,
                c->copy->name, out->number->name, out->number->name, (size_t)GR_ROW_COPIES,
                out->unasked->name, c->asks->name);
    }
    if (needs & GR_HAND_SHARED) {
        out->unwritten = gr_ptx_new_reg(c->f, PTX_B64);
        GR_CODE(c, s, "mov.u64 %s, __gr%s_unwritten;", out->unwritten->name, c->suffix);
    }
    if (needs & GR_HAND_NEAR) {
        out->window = gr_ptx_new_reg(c->f, PTX_B64);
        GR_CODE(c, s, "mov.u64 %s, 0; cvta.shared.u64 %s, %s;", out->window->name, out->window->name,
                out->window->name);
    }
    return GR_OK;
}
