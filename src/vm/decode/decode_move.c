// SPDX-License-Identifier: Apache-2.0
// decode_move — mov between scalars and vectors, and mov of what is not a plain register (addresses, special
// registers, functions, parameters): where aliases did not make it superfluous.
#include "vm/core/decode.h"
#include "vm/core/exec.h"

static VmExec mov_of(uint32_t width) {
    switch (width) {
    case 0: return gr_vm_x_mov_pred;
    case 2: return gr_vm_x_mov16;
    case 4: return gr_vm_x_mov32;
    case 8: return gr_vm_x_mov64;
    default: return gr_vm_x_mov128;
    }
}

// mov.b64 d, {a, b} and mov.b64 {a, b}, d (PTX ISA 9.7.9.2): the first element is the least significant.
static bool decode_pack(Decoder *d, const PtxInstr *i) {
    bool pack = i->operands[1].kind == PTX_O_VECTOR;
    const PtxOperand *v = &i->operands[pack ? 1 : 0], *s = &i->operands[pack ? 0 : 1];
    PtxType t = i->type[0];
    unsigned bytes = gr_ptx_type_bits(t) / 8;
    if (v->n_sub == 0 || v->n_sub > 16 || bytes % v->n_sub)
        return false;
    VmPack *p = GR_NEW(d->f->arena, VmPack);
    if (!p)
        return false;
    p->n = v->n_sub;
    p->bytes = (uint8_t)(bytes / v->n_sub);
    p->lane = (uint8_t)gr_vm_lane_bytes(t);
    PtxType elem = p->bytes == 1 ? PTX_B8 : p->bytes == 2 ? PTX_B16 : p->bytes == 4 ? PTX_B32 : PTX_B64;
    uint32_t whole = pack ? gr_vm_dst(d, s, t) : gr_vm_src(d, s, t);
    if (whole == VM_NO_SLOT)
        return false;
    for (unsigned k = 0; k < p->n; k++) {
        const PtxOperand *e = &v->sub[k];
        PtxType own = gr_vm_operand_type(e, elem);
        p->reg_bytes[k] = (uint8_t)gr_vm_lane_bytes(own);
        if (p->reg_bytes[k] < p->bytes)
            return false;
        if (!pack && e->kind == PTX_O_SINK)
            p->slot[k] = VM_NO_SLOT;
        else {
            p->slot[k] = pack ? gr_vm_src(d, e, own) : gr_vm_dst(d, e, own);
            if (p->slot[k] == VM_NO_SLOT)
                return false;
        }
    }
    VmInsn *n = gr_vm_emit(d, pack ? gr_vm_x_pack : gr_vm_x_unpack, pack ? gr_vm_x_pack : gr_vm_x_unpack);
    if (n) {
        n->d = n->a = whole;
        n->extra = p;
    }
    return true;
}

bool gr_vm_decode_move(Decoder *d, const PtxInstr *i) {
    if (i->op != PTX_OP_MOV || i->n_operands != 2)
        return false;
    const PtxOperand *o = &i->operands[0], *s = &i->operands[1];
    if (o->kind == PTX_O_VECTOR && s->kind == PTX_O_VECTOR)
        return false;
    if (o->kind == PTX_O_VECTOR || s->kind == PTX_O_VECTOR)
        return decode_pack(d, i);
    if (s->kind != PTX_O_VAR && s->kind != PTX_O_SREG && s->kind != PTX_O_FUNC &&
        !(s->kind == PTX_O_REG && (s->elem || o->elem)))
        return false;
    PtxType t = i->type[0];
    // mov.u32 %r, %clock64 does not exist, mov.u64 %rd, %clock does not either; a wider register gets zeros.
    PtxType read = o->kind == PTX_O_REG ? o->reg->type : t;
    uint32_t src = gr_vm_src(d, s, read), dst = gr_vm_dst(d, o, read);
    if (src == VM_NO_SLOT || dst == VM_NO_SLOT)
        return false;
    VmExec x = mov_of(gr_vm_lane_bytes(read));
    VmInsn *n = gr_vm_emit(d, x, x);
    if (n) {
        n->d = dst;
        n->a = src;
    }
    return true;
}
