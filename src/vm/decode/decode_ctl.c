// SPDX-License-Identifier: Apache-2.0
// decode_ctl — control flow: bra, brx.idx, call, ret, exit, trap, and what does nothing here.
#include "vm/core/decode.h"
#include "vm/core/exec.h"

#include <string.h>

static bool decode_bra(Decoder *d, const PtxInstr *i) {
    if (i->n_operands != 1 || i->operands[0].kind != PTX_O_LABEL || !i->operands[0].label->stmt)
        return false;
    if (!gr_vm_emit(d, gr_vm_x_bra, gr_vm_x_bra))
        return true;
    gr_vm_fix_target(d, i->operands[0].label);
    gr_vm_fix_rejoin(d);
    return true;
}

static bool decode_brx(Decoder *d, const PtxInstr *i) {
    if (i->n_operands != 2 || i->operands[1].kind != PTX_O_LABEL || !i->operands[1].label->stmt ||
        i->operands[1].label->stmt->kind != PTX_TARGETS)
        return false;
    const PtxStmt *t = i->operands[1].label->stmt;
    VmBranchTable *table =
        gr_arena_alloc(d->f->arena, sizeof *table + t->n_targets * sizeof table->target[0]);
    uint32_t a = gr_vm_src(d, &i->operands[0], PTX_U32);
    if (!table || a == VM_NO_SLOT)
        return false;
    VmInsn *n = gr_vm_emit(d, gr_vm_x_brx, gr_vm_x_brx);
    if (!n)
        return true;
    n->a = a;
    n->extra = table;
    table->n = t->n_targets;
    for (uint32_t k = 0; k < t->n_targets; k++) {
        if (!t->targets[k]->stmt)
            return false;
        VmFixup f = {.insn = d->code.len - 1,
                     .label = t->targets[k]->stmt,
                     .block = UINT32_MAX,
                     .where = &table->target[k]};
        if (!gr_vec_push(&d->fixups, f))
            d->oom = true;
    }
    gr_vm_fix_rejoin(d);
    return true;
}

static void note_callee(Decoder *d, VmFunc *f) {
    for (size_t k = 0; k < d->callees.len; k++)
        if (d->callees.data[k] == f)
            return;
    if (!gr_vec_push(&d->callees, f))
        d->oom = true;
}

// Arguments or results: .param variables, registers or constants.
static bool call_slots(Decoder *d, const PtxOperand *list, VmParamSlot **out, uint32_t *n) {
    const PtxOperand *e = list->kind == PTX_O_PAREN ? list->sub : list;
    *n = list->kind == PTX_O_PAREN ? list->n_sub : 1;
    *out = GR_NEW_ARRAY(d->f->arena, VmParamSlot, *n + 1);
    if (!*out)
        return false;
    for (uint32_t k = 0; k < *n; k++) {
        VmParamSlot *s = &(*out)[k];
        if (e[k].kind == PTX_O_VAR) {
            const VmParamSlot *p = gr_vm_param_slot(d, e[k].var);
            if (!p)
                return false;
            *s = *p;
        } else if (e[k].kind == PTX_O_REG) {
            *s = (VmParamSlot){gr_vm_src(d, &e[k], e[k].reg->type), gr_vm_lane_bytes(e[k].reg->type)};
        } else if (e[k].kind == PTX_O_SINK) {
            *s = (VmParamSlot){VM_NO_SLOT, 0};
        } else {
            *s = (VmParamSlot){gr_vm_src(d, &e[k], PTX_B64), 8};
            if (s->offset == VM_NO_SLOT)
                return false;
        }
    }
    return true;
}

// call{.uni} (ret), f, (args){, prototype}; with results and arguments optional.
static bool decode_call(Decoder *d, const PtxInstr *i) {
    if (!i->n_operands)
        return false;
    const PtxOperand *o = i->operands, *end = o + i->n_operands;
    VmCallInfo *c = GR_NEW(d->f->arena, VmCallInfo);
    if (!c)
        return false;
    if (o < end && o->kind == PTX_O_PAREN && !call_slots(d, o++, &c->rets, &c->n_rets))
        return false;
    if (o == end)
        return false;
    const PtxOperand *who = o++;
    if (i->callee || who->kind == PTX_O_FUNC) {
        c->callee = gr_vm_resolve_func(d->m, i->callee, who->text);
        if (!c->callee)
            return false;
        note_callee(d, c->callee);
    } else {
        c->target = gr_vm_src(d, who, PTX_B64);
        if (c->target == VM_NO_SLOT)
            return false;
        d->f->calls_indirect = true;
    }
    if (o < end && o->kind == PTX_O_PAREN && !call_slots(d, o++, &c->args, &c->n_args))
        return false;
    VmInsn *n = gr_vm_emit(d, gr_vm_x_call, gr_vm_x_call);
    if (n)
        n->extra = c;
    return true;
}

static bool emit_plain(Decoder *d, VmExec x) {
    gr_vm_emit(d, x, x);
    return true;
}

// alloca.u64 d, size{, align}; stacksave.u64 d; stackrestore.u64 a
static bool decode_stack(Decoder *d, const PtxInstr *i) {
    bool restore = i->op == PTX_OP_STACKRESTORE, alloc = i->op == PTX_OP_ALLOCA;
    uint32_t slot, size = 0;
    uint64_t align = 16;
    if (i->n_operands < (alloc ? 2 : 1) || gr_ptx_type_bits(i->type[0]) != 64)
        return false;
    if (alloc && i->n_operands > 2) {
        align = i->operands[2].bits;
        if (i->operands[2].kind != PTX_O_INT || !align || align > 4096 || (align & (align - 1)))
            return false;
    }
    if (alloc)
        size = gr_vm_src(d, &i->operands[1], PTX_U64);
    slot = restore ? gr_vm_src(d, &i->operands[0], PTX_U64) : gr_vm_dst(d, &i->operands[0], PTX_U64);
    if (slot == VM_NO_SLOT || size == VM_NO_SLOT)
        return false;
    VmExec x = restore ? gr_vm_x_stackrestore : alloc ? gr_vm_x_alloca : gr_vm_x_stacksave;
    VmInsn *n = gr_vm_emit(d, x, x);
    if (n) {
        n->d = slot;
        n->a = restore ? slot : size;
        n->imm = align;
    }
    d->f->calls_alloca |= alloc;
    return true;
}

bool gr_vm_decode_ctl(Decoder *d, const PtxInstr *i, bool *control) {
    switch (i->op) {
    case PTX_OP_BRA: return decode_bra(d, i);
    case PTX_OP_BRX: *control = true; return decode_brx(d, i);
    case PTX_OP_CALL: *control = true; return decode_call(d, i);
    case PTX_OP_RET:
        if (d->f->ptx->is_entry)
            return emit_plain(d, gr_vm_x_exit);
        *control = true;
        return emit_plain(d, gr_vm_x_ret);
    case PTX_OP_EXIT: return emit_plain(d, gr_vm_x_exit);
    case PTX_OP_TRAP: *control = true; return emit_plain(d, gr_vm_x_trap);
    case PTX_OP_BRKPT: *control = true; return emit_plain(d, gr_vm_x_brkpt);
    case PTX_OP_NANOSLEEP: {
        uint32_t a = i->n_operands == 1 ? gr_vm_src(d, &i->operands[0], PTX_U32) : VM_NO_SLOT;
        if (a == VM_NO_SLOT)
            return false;
        *control = true;
        VmInsn *n = gr_vm_emit(d, gr_vm_x_nanosleep, gr_vm_x_nanosleep);
        if (n) {
            n->a = a;
            gr_vm_fix_program_rejoin(d);
        }
        return true;
    }
    case PTX_OP_ALLOCA:
    case PTX_OP_STACKSAVE:
    case PTX_OP_STACKRESTORE: return decode_stack(d, i);
    // Hints, which change nothing here.
    case PTX_OP_PREFETCH:
    case PTX_OP_PREFETCHU:
    case PTX_OP_APPLYPRIORITY:
    case PTX_OP_DISCARD:
    case PTX_OP_PMEVENT: return emit_plain(d, gr_vm_x_nop);
    // Launches of a stream do not overlap here: the one has nothing to wait for, and the other no kernel to tell.
    case PTX_OP_GRIDDEPCONTROL:
        return emit_plain(d, gr_ptx_instr_has(i, PTX_MOD_wait) ? gr_vm_x_grid_wait : gr_vm_x_nop);
    case PTX_OP_SETMAXNREG: { // 24 to 256 in steps of 8 (PTX ISA 9.7.19.5)
        const PtxOperand *n = i->operands;
        return i->n_operands == 1 && n->kind == PTX_O_INT && n->bits >= 24 && n->bits <= 256 &&
               n->bits % 8 == 0 && emit_plain(d, gr_vm_x_nop);
    }
    default: return false;
    }
}
