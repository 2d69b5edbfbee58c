// SPDX-License-Identifier: Apache-2.0
// decode_mem — loads and stores of every state space, cvta, isspacep, mapa, createpolicy.
#include "vm/core/decode.h"
#include "vm/core/exec.h"
#include "vm/core/exec_mem.h"

static bool is_param(PtxSpace s) { return s == PTX_PARAM || s == PTX_PARAM_ENTRY || s == PTX_PARAM_FUNC; }

static PtxSpace plain_space(PtxSpace s) {
    if (s == PTX_SHARED_CTA || s == PTX_SHARED_CLUSTER)
        return PTX_SHARED;
    return is_param(s) ? PTX_PARAM : s;
}

// The address operand: *slot, its width and the constant offset.
bool gr_vm_decode_address(Decoder *d, const PtxOperand *a, PtxSpace space, uint32_t *slot, uint8_t *width,
                          uint64_t *offset) {
    if (a->kind != PTX_O_ADDRESS || a->n_sub > 1)
        return false;
    *width = 8;
    *offset = 0;
    if (a->n_sub == 0) {
        *slot = gr_vm_const_slot(d, (uint64_t)a->offset, 8);
        return true;
    }
    const PtxOperand *base = &a->sub[0];
    if (base->kind == PTX_O_VAR) {
        VmFill fill;
        if (!gr_vm_var_fill(d, base->var, base->offset + a->offset, 8, &fill))
            return false;
        if (space == PTX_GENERIC && fill.kind == VM_FILL_SHARED)
            fill.bits += VM_SHARED_BASE;
        if (space == PTX_GENERIC && fill.kind == VM_FILL_LOCAL)
            fill.bits += VM_LOCAL_BASE;
        *slot = gr_vm_fill_slot(d, fill);
        return true;
    }
    if (base->kind == PTX_O_INT) {
        *slot = gr_vm_const_slot(d, base->bits + (uint64_t)a->offset, 8);
        return true;
    }
    if (base->kind != PTX_O_REG)
        return false;
    *width = (uint8_t)gr_vm_lane_bytes(base->reg->type);
    if (*width != 4 && *width != 8)
        return false;
    *slot = gr_vm_src(d, base, base->reg->type);
    *offset = (uint64_t)a->offset;
    return *slot != VM_NO_SLOT;
}

// Data operands of a load or store into info.
static bool decode_data(Decoder *d, const PtxOperand *o, PtxType t, bool store, VmMemInfo *info,
                        uint32_t *slots, uint8_t *reg_bytes) {
    PtxOperand tmp[8];
    unsigned n;
    const PtxOperand *e = gr_vm_elements(d, o, tmp, &n);
    if (n != info->vec)
        return false;
    for (unsigned k = 0; k < n; k++) {
        if (!store && e[k].kind == PTX_O_SINK) {
            slots[k] = VM_NO_SLOT;
            reg_bytes[k] = info->elem < 2 ? 2 : info->elem;
            continue;
        }
        PtxType own = gr_vm_operand_type(&e[k], t); // may be wider (PTX ISA 9.4.1)
        slots[k] = store ? gr_vm_src(d, &e[k], own) : gr_vm_dst(d, &e[k], own);
        if (slots[k] == VM_NO_SLOT)
            return false;
        reg_bytes[k] = (uint8_t)gr_vm_lane_bytes(own);
        if (reg_bytes[k] == 0 || (info->elem > reg_bytes[k]))
            return false;
        // Of floating-point types the register has the size (9.4.1); what ptxas makes of others is a conversion.
        if (e[k].kind == PTX_O_REG && (t == PTX_F32 || t == PTX_F64) && reg_bytes[k] != info->elem)
            return false;
    }
    return true;
}

VmMemInfo *gr_vm_mem_elements(Decoder *d, const PtxInstr *i, PtxAccess access, unsigned bytes, unsigned vec) {
    VmMemInfo *info = GR_NEW(d->f->arena, VmMemInfo);
    if (!info)
        return NULL;
    info->space = plain_space(i->space);
    info->access = access;
    info->cluster = i->space == PTX_SHARED_CLUSTER || info->space == PTX_GENERIC;
    info->sem = i->sem == PTX_SEM_NONE ? PTX_WEAK : i->sem;
    info->scope = i->scope;
    info->vec = (uint8_t)vec;
    info->elem = (uint8_t)bytes;
    info->size = (uint8_t)(vec * bytes);
    info->silent = d->stmt->site == 0;
    info->site = (VmSiteInfo){.stmt = d->stmt, .site = d->stmt->site, .access = access};
    return info;
}

VmMemInfo *gr_vm_mem_insn(Decoder *d, const PtxInstr *i, PtxAccess access) {
    PtxType t = i->type[0];
    for (unsigned k = 1; k < 4 && i->type[k] != PTX_NOTYPE; k++)
        t = i->type[k]; // the last type written is the element's
    unsigned bits = gr_ptx_type_bits(t), vec = i->vec ? i->vec : 1;
    if (bits < 8 || bits > 128 || vec > VM_MAX_VEC)
        return NULL;
    VmMemInfo *info = gr_vm_mem_elements(d, i, access, bits / 8, vec);
    if (info)
        info->sext = gr_ptx_type_is_signed(t);
    return info;
}

// ld.param and st.param of a function's own or a call's parameter: bytes in the frame.
static bool decode_frame_param(Decoder *d, const PtxInstr *i, VmMemInfo *info, const PtxOperand *a,
                               const PtxOperand *data, bool store) {
    const PtxVar *v = a->sub[0].var;
    int64_t offset = a->offset + a->sub[0].offset;
    PtxType t = i->type[0];
    uint32_t at;
    if (gr_vm_kernel_param_offset(d->f, v, &at)) { // a kernel's, into a register that has other definitions
        if (store || !decode_data(d, data, t, false, info, info->slot, info->reg_bytes))
            return false;
        for (unsigned k = 0; k < info->vec; k++) {
            if (info->slot[k] == VM_NO_SLOT)
                continue;
            VmFill fill = {.kind = VM_FILL_PARAM,
                           .width = info->reg_bytes[k],
                           .bits = at + (uint64_t)offset + k * info->elem,
                           .size = info->elem,
                           .sext = info->sext};
            if ((uint64_t)offset + (k + 1u) * info->elem > gr_vm_var_size(v))
                return false;
            uint32_t src = gr_vm_fill_slot(d, fill);
            VmExec x = info->reg_bytes[k] == 2   ? gr_vm_x_mov16
                       : info->reg_bytes[k] == 4 ? gr_vm_x_mov32
                       : info->reg_bytes[k] == 8 ? gr_vm_x_mov64
                                                 : gr_vm_x_mov128;
            VmInsn *n = gr_vm_emit(d, x, x);
            if (n) {
                n->d = info->slot[k];
                n->a = src;
            }
        }
        return true;
    }
    const VmParamSlot *p = gr_vm_param_slot(d, v);
    if (!p || offset < 0 || (uint64_t)offset + info->size > p->stride ||
        !decode_data(d, data, t, store, info, info->slot, info->reg_bytes))
        return false;
    if (info->vec == 1 && offset == 0 && p->stride == info->elem && info->reg_bytes[0] == info->elem &&
        info->slot[0] != VM_NO_SLOT) { // has the layout of a register
        VmExec x = info->elem == 2   ? gr_vm_x_mov16
                   : info->elem == 4 ? gr_vm_x_mov32
                   : info->elem == 8 ? gr_vm_x_mov64
                                     : NULL;
        if (x) {
            VmInsn *n = gr_vm_emit(d, x, x);
            if (n) {
                n->d = store ? p->offset : info->slot[0];
                n->a = store ? info->slot[0] : p->offset;
            }
            return true;
        }
    }
    VmInsn *n = gr_vm_emit(d, store ? gr_vm_x_stp : gr_vm_x_ldp, store ? gr_vm_x_stp : gr_vm_x_ldp);
    if (n) {
        n->a = p->offset;
        n->b = p->stride;
        n->imm = (uint64_t)offset;
        n->extra = info;
    }
    return true;
}

// The access of parameter space is of a parameter in local memory: by its name, or by an address in a register. In
// functions such an address can be nothing else.
static bool is_of_spilled(const Decoder *d, const PtxInstr *i, const PtxOperand *a) {
    if (!d->spilled.len || (i->space != PTX_PARAM && i->space != PTX_PARAM_FUNC) ||
        a->kind != PTX_O_ADDRESS || a->n_sub != 1)
        return false;
    return a->sub[0].kind == PTX_O_REG || (a->sub[0].kind == PTX_O_VAR && gr_vm_is_spilled(d, a->sub[0].var));
}

static bool decode_access(Decoder *d, const PtxInstr *i, bool store) {
    if (i->n_operands < 2)
        return false;
    const PtxOperand *a = &i->operands[store ? 0 : 1], *data = &i->operands[store ? 1 : 0];
    VmMemInfo *info = gr_vm_mem_insn(d, i, store ? PTX_ACCESS_WRITE : PTX_ACCESS_READ);
    if (!info || info->space == PTX_TMEM || info->space == PTX_SPACE_OTHER)
        return false;
    if (is_of_spilled(d, i, a))
        info->space = PTX_LOCAL;
    else if (info->space == PTX_PARAM && a->kind == PTX_O_ADDRESS && a->n_sub == 1 &&
             a->sub[0].kind == PTX_O_VAR)
        return decode_frame_param(d, i, info, a, data, store);
    uint32_t slot;
    uint64_t offset;
    if (!gr_vm_decode_address(d, a, info->space, &slot, &info->address_size, &offset) ||
        !decode_data(d, data, i->type[0], store, info, info->slot, info->reg_bytes))
        return false;
    if (!store)
        info->speculated = gr_map_get_u64(&d->speculated, (uint64_t)(uintptr_t)d->stmt);
    VmExec x[2];
    gr_vm_mem_select(d, info, store, x);
    gr_vm_decode_arrival(d, info, x);
    VmInsn *n = gr_vm_emit(d, x[0], x[1]);
    if (!n)
        return true;
    n->a = slot;
    n->b = info->slot[0];
    n->d = info->slot[0];
    n->imm = offset;
    n->e = d->m->counts.caches++;
    n->extra = info;
    gr_vm_fix_rejoin(d);
    return true;
}

// cvta.space d, a: to generic; cvta.to.space d, a: back (PTX ISA 9.7.9.20).
static bool decode_cvta(Decoder *d, const PtxInstr *i) {
    if (i->n_operands != 2)
        return false;
    PtxSpace space = plain_space(i->space == PTX_GENERIC ? i->space2 : i->space);
    uint64_t base = space == PTX_SHARED ? VM_SHARED_BASE : space == PTX_LOCAL ? VM_LOCAL_BASE : 0;
    if (gr_ptx_instr_has(i, PTX_MOD_to))
        base = 0 - base;
    if (gr_ptx_type_bits(i->type[0]) != 64)
        return false;
    uint32_t src = gr_vm_src(d, &i->operands[1], i->type[0]), dst = gr_vm_dst(d, &i->operands[0], i->type[0]);
    if (src == VM_NO_SLOT || dst == VM_NO_SLOT)
        return false;
    VmExec x = base ? gr_vm_x_add64 : gr_vm_x_mov64;
    VmInsn *n = gr_vm_emit(d, x, x);
    if (n) {
        n->d = dst;
        n->a = src;
        n->imm = base;
    }
    return true;
}

static bool decode_isspacep(Decoder *d, const PtxInstr *i) {
    if (i->n_operands != 2)
        return false;
    uint32_t dst = gr_vm_dst(d, &i->operands[0], PTX_PRED), src = gr_vm_src(d, &i->operands[1], PTX_B64);
    if (src == VM_NO_SLOT || dst == VM_NO_SLOT)
        return false;
    VmInsn *n = gr_vm_emit(d, gr_vm_x_isspacep, gr_vm_x_isspacep);
    if (n) {
        n->d = dst;
        n->a = src;
        n->imm = i->space == PTX_SHARED_CLUSTER ? PTX_SHARED_CLUSTER : plain_space(i->space);
    }
    return true;
}

// mapa{.shared::cluster}.type d, a, rank; getctarank{.shared::cluster}.type d, a (PTX ISA 9.7.9.23 and 9.7.9.24).
static bool decode_mapa(Decoder *d, const PtxInstr *i) {
    bool mapa = i->op == PTX_OP_MAPA;
    uint32_t width = gr_ptx_type_bits(i->type[0]) / 8, rank = 0;
    VmMapaInfo *info = GR_NEW(d->f->arena, VmMapaInfo);
    if (!info || i->n_operands != (mapa ? 3 : 2) || (width != 4 && width != 8) ||
        (i->space != PTX_GENERIC && i->space != PTX_SHARED_CLUSTER))
        return false;
    info->generic = i->space == PTX_GENERIC;
    info->wide = width == 8;
    if (info->generic && !info->wide)
        return false;
    uint32_t src = gr_vm_src(d, &i->operands[1], i->type[0]);
    if (mapa)
        rank = gr_vm_src(d, &i->operands[2], PTX_B32);
    uint32_t dst = gr_vm_dst(d, &i->operands[0], mapa ? i->type[0] : PTX_B32);
    if (dst == VM_NO_SLOT || src == VM_NO_SLOT || rank == VM_NO_SLOT)
        return false;
    VmExec x = mapa ? gr_vm_x_mapa : gr_vm_x_getctarank;
    VmInsn *n = gr_vm_emit(d, x, x);
    if (n) {
        n->d = dst;
        n->a = src;
        n->b = rank;
        n->extra = info;
    }
    return true;
}

bool gr_vm_decode_mem(Decoder *d, const PtxInstr *i) {
    switch (i->op) {
    case PTX_OP_LD:
    case PTX_OP_LDU: return decode_access(d, i, false);
    case PTX_OP_ST: return !gr_ptx_instr_has(i, PTX_MOD_async) && decode_access(d, i, true);
    case PTX_OP_CVTA: return decode_cvta(d, i);
    case PTX_OP_ISSPACEP: return decode_isspacep(d, i);
    case PTX_OP_MAPA:
    case PTX_OP_GETCTARANK: return decode_mapa(d, i);
    case PTX_OP_CREATEPOLICY: { // an opaque hint: any value will do
        uint32_t dst = i->n_operands ? gr_vm_dst(d, &i->operands[0], PTX_B64) : VM_NO_SLOT;
        if (dst == VM_NO_SLOT)
            return false;
        uint32_t zero = gr_vm_const_slot(d, 0, 8);
        VmInsn *n = gr_vm_emit(d, gr_vm_x_mov64, gr_vm_x_mov64);
        if (n) {
            n->d = dst;
            n->a = zero;
        }
        return true;
    }
    default: return false;
    }
}
