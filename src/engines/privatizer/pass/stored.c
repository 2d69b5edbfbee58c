// SPDX-License-Identifier: Apache-2.0
// stored — what a store tells: its value, a hash of all that the thread stored, and which of the lanes at one place
// stores.
#include "engines/privatizer/device/control.h"
#include "engines/privatizer/pass/code.h"

// What a store stores, as one number of 64 bits in the new register *out: of several elements one that differs if they
// do, most likely.
gr_status gr_code_value(const Code *c, PtxStmt *at, uint32_t bytes, PtxReg **out) {
    const PtxInstr *i = at->instr;
    const PtxOperand *address = gr_code_address_of(at->instr), *value = address + 1;
    if (value == i->operands + i->n_operands) // red of nothing: there is none
        value = address;
    unsigned n = value->kind == PTX_O_VECTOR ? value->n_sub : 1, size = bytes / (n ? n : 1);
    PtxReg *one = gr_ptx_new_reg(c->f, PTX_B64);
    *out = gr_ptx_new_reg(c->f, PTX_B64);
    GR_CODE(c, at, "mov.u64 %s, 0;", (*out)->name);
    for (unsigned k = 0; k < n; k++) {
        const PtxOperand *o = value->kind == PTX_O_VECTOR ? &value->sub[k] : value;
        unsigned bits = o->kind == PTX_O_REG ? gr_ptx_type_bits(o->reg->type) : size * 8;
        if (o->kind == PTX_O_REG && (bits == 16 || bits == 32)) {
            PtxReg *low = gr_ptx_new_reg(c->f, bits == 16 ? PTX_B16 : PTX_B32);
            GR_CODE_OPS(c, at, o, 1, "mov.b%u %s, $0; cvt.u64.u%u %s, %s;", bits, low->name, bits, one->name,
                        low->name);
        } else if (bits == 64 || (o->kind == PTX_O_INT && bits < 64)) {
            GR_CODE_OPS(c, at, o, 1, "mov.b64 %s, $0;", one->name);
        } else {
            continue; // 128 bits, or a literal that the register takes as it is
        }
        if (size < 8)
            GR_CODE(c, at, "and.b64 %s, %s, 0x%llx;", one->name, one->name, (1ull << size * 8) - 1);
        GR_CODE(c, at, "mad.lo.u64 %s, %s, 0x9e3779b97f4a7c15, %s;", (*out)->name, (*out)->name, one->name);
    }
    return GR_OK;
}

// In pass 2 a thread has to store the same as in pass 1, at the same places, in the same order: also what changes
// nothing.
gr_status gr_code_hash(const Code *c, PtxStmt *at, const PtxReg *address, const PtxReg *kept,
                       const PtxReg *value) {
    const char *hash = gr_ptx_new_reg(c->f, PTX_B64)->name;
    return gr_code_put(
        c, at, NULL, 0,
        "mad.lo.u64 %s, %s, 0x2545f4914f6cdd1d, %s; @%s mad.lo.u64 %s, %s, 0x9e3779b97f4a7c15, %s;", hash,
        address->name, value->name, kept->name, c->stores->name, c->stores->name, hash);
}

gr_status gr_code_together(const Code *c, PtxStmt *s, PtxReg **lanes) {
    *lanes = gr_ptx_new_reg(c->f, PTX_B32);
    const char *name = (*lanes)->name;
    return gr_code_put(
        c, s, NULL, 0,
        "{ .reg .b32 own; activemask.b32 %s; mov.u32 own, %%lanemask_eq; or.b32 %s, %s, own; }", name, name,
        name);
}

// All lanes of a warp that store at addresses which never fall, to a window (so 32 bits tell them apart): those at one
// place are neighbours. They need no call, unless the store is to be told; `slow`: where that is made.
static gr_status put_neighbours(const Code *c, PtxStmt *s, const PtxReg *at, const PtxReg *kept,
                                const PtxReg *lanes, const PtxReg *pass, PtxLabel *slow, PtxLabel *end) {
    PtxOperand to[2] = {gr_ptx_label_operand(slow), gr_ptx_label_operand(end)};
    return gr_code_put(
        c, s, to, 2,
        "{ .reg .b32 own, other; .reg .pred is, has; setp.ne.u32 is, %s, 0xffffffff; @is bra $0; "
        "vote.sync.all.pred is, %s, 0xffffffff; @!is bra $0; cvt.u32.u64 own, %s; "
        "shfl.sync.up.b32 other|has, own, 1, 0, 0xffffffff; setp.lt.and.u32 is, own, other, has; "
        "vote.sync.any.pred is, is, 0xffffffff; @is bra $0; setp.eq.and.u32 is, own, other, has; "
        "vote.sync.any.pred is, is, 0xffffffff; @!is bra $1; setp.eq.u32 is, %s, 1; "
        "vote.sync.any.pred is, is, 0xffffffff; @is bra $0; shfl.sync.down.b32 other|has, own, 1, 31, "
        "0xffffffff; setp.eq.and.u32 is, own, other, has; @is setp.ne.u32 %s, 0, 0; bra $1; }",
        lanes->name, kept->name, at->name, pass->name, kept->name);
}

// Of lanes that store to one place at once, one does.
gr_status gr_code_lanes(const Code *c, PtxStmt *s, const PtxSite *site, const PtxReg *to, PtxReg *kept,
                        const PtxReg *lanes, uint32_t what, const PtxReg *value) {
    PtxReg *last = gr_ptx_new_reg(c->f, PTX_B32), *due = gr_ptx_new_reg(c->f, PTX_PRED), *alone,
           *pass = c->pass;
    GR_MUST(gr_code_alone(c, s, &alone));
    PtxLabel *slow = NULL, *end = NULL;
    if (c->whole && c->dense) { // a thread tells of it once, as in pass 2 it does not
        pass = gr_ptx_new_reg(c->f, PTX_B32);
        GR_CODE(c, c->body.stmt[0], "mov.u32 %s, %s;", pass->name, c->pass->name);
        slow = gr_ptx_new_label(c->f);
        end = gr_ptx_new_label(c->f);
        GR_MUST(put_neighbours(c, s, to, kept, lanes, pass, slow, end));
        gr_ptx_insert_label(c->f, s, slow);
    }
    if (c->dense)
        GR_CODE(c, s, "bar.warp.sync %s;", lanes->name);
    GR_CODE(c, s,
            "selp.u32 %s, 1, 0, %s; not.pred %s, %s; and.pred %s, %s, %s; @%s call (%s), "
            "__gr%s_lanes, (%u, %s, %u, %s, %s, %s); setp.ne.u32 %s, %s, 0;",
            last->name, kept->name, due->name, alone->name, due->name, due->name, kept->name, due->name,
            last->name, c->suffix, site->id, to->name, what, value->name, pass->name, c->sequence->name,
            kept->name, last->name);
    if (pass != c->pass) // of lanes of which it keeps the last one
        GR_CODE(
            c, s,
            "{ .reg .pred lost; not.pred lost, %s; and.pred lost, lost, %s; vote.sync.any.pred lost, lost, "
            "%s; @lost mov.u32 %s, 2; }",
            kept->name, due->name, lanes->name, pass->name);
    if (end)
        gr_ptx_insert_label(c->f, s, end);
    return GR_OK;
}

// Whether the address is in the memory of this group; `of`: in the control, that of all groups.
gr_status gr_code_is_proved(const Code *c, PtxStmt *s, const PtxReg *at, size_t of, unsigned group,
                            const PtxReg *in) {
    PtxReg *begin = gr_ptx_new_reg(c->f, PTX_B64), *size = gr_ptx_new_reg(c->f, PTX_B64);
    char control[64];
    gr_privatizer_control_name(c->suffix, control, sizeof control);
    return gr_code_put(c, s, NULL, 0,
                       "ld.global.nc.v2.u64 {%s, %s}, [%s+%zu]; sub.u64 %s, %s, %s; setp.lt.u64 %s, %s, %s;",
                       begin->name, size->name, control, of + (group - 1) * sizeof(GrPrivProved), begin->name,
                       at->name, begin->name, in->name, begin->name, size->name);
}
