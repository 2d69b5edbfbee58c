// SPDX-License-Identifier: Apache-2.0
// decode_operand — operands to frame slots: registers, aliases, constants, addresses, special registers.
#include "vm/core/decode.h"

#include "base/rng.h"
#include "vm/decode/forms.h"

#include <stdlib.h>
#include <string.h>

uint32_t gr_vm_lane_bytes(PtxType t) {
    unsigned bits = gr_ptx_type_bits(t);
    return t == PTX_PRED ? 0 : bits <= 16 ? 2 : bits / 8;
}

static void add_place(Decoder *d, uint32_t offset, uint32_t bytes) {
    if (!gr_vec_push(&d->places, ((VmLanePlace){offset, bytes})))
        d->oom = true;
}

uint32_t gr_vm_new_slot(Decoder *d, uint32_t width) {
    uint32_t bytes = width * VM_LANES;
    if (width == 0) {
        if (!d->pred_left) {
            d->pred_slot = d->frame;
            d->frame += 64;
            d->pred_left = 16;
        }
        d->pred_left--;
        uint32_t at = d->pred_slot;
        d->pred_slot += 4;
        add_place(d, at, 0);
        return at;
    }
    uint32_t at = d->frame;
    d->frame += (bytes + 63) & ~63u;
    add_place(d, at, width < 8 ? width : 8);
    if (width > 8) // low halves, then high ones
        add_place(d, at + 8 * VM_LANES, 8);
    return at;
}

uint32_t gr_vm_fill_slot(Decoder *d, VmFill fill) {
    uint64_t key = gr_mix64(fill.bits ^ gr_mix64(fill.bits_hi + 1) ^ (uint64_t)(uintptr_t)fill.var) ^
                   gr_mix64((uint64_t)fill.width << 32 | (uint64_t)fill.kind << 16 | (uint64_t)fill.dim << 8 |
                            fill.size | (fill.sext ? 1u << 31 : 0));
    size_t known = (size_t)(uintptr_t)gr_map_get_u64(&d->fill_of, key);
    if (known) {
        const VmFill *k = &d->fills.data[known - 1];
        if (k->width == fill.width && k->kind == fill.kind && k->bits == fill.bits &&
            k->bits_hi == fill.bits_hi && k->dim == fill.dim && k->var == fill.var && k->size == fill.size &&
            k->sext == fill.sext)
            return k->slot;
    }
    switch (fill.kind) {
    case VM_FILL_LOCAL:
    case VM_FILL_TID:
    case VM_FILL_WARPID: fill.cls = VM_FILL_WARP; break;
    case VM_FILL_CTAID:
    case VM_FILL_SMID:
    case VM_FILL_CLUSTERID:
    case VM_FILL_CLUSTER_CTAID:
    case VM_FILL_CLUSTER_CTARANK: fill.cls = VM_FILL_BLOCK; break;
    default: fill.cls = VM_FILL_STATIC;
    }
    fill.slot = gr_vm_new_slot(d, fill.width);
    if (!gr_vec_push(&d->fills, fill) || !gr_map_put_u64(&d->fill_of, key, (void *)(uintptr_t)d->fills.len))
        d->oom = true;
    return fill.slot;
}

uint32_t gr_vm_const_slot(Decoder *d, uint64_t bits, uint32_t width) {
    if (width == 0)
        bits = bits != 0;
    else if (width < 8)
        bits &= (UINT64_C(1) << (width * 8)) - 1;
    return gr_vm_fill_slot(d, (VmFill){.kind = VM_FILL_CONST, .width = (uint8_t)width, .bits = bits});
}

// ---- Special registers (PTX ISA 9.0 chapter 10) ------------------------------------------------------------

static const struct {
    const char *name; // without '%'; a trailing '.' takes x, y, z
    uint8_t kind, width;
} static_sregs[] = {
    {"tid.", VM_FILL_TID, 4},
    {"ntid.", VM_FILL_NTID, 4},
    {"ctaid.", VM_FILL_CTAID, 4},
    {"nctaid.", VM_FILL_NCTAID, 4},
    {"laneid", VM_FILL_LANEID, 4},
    {"lanemask_eq", VM_FILL_LANEMASK_EQ, 4},
    {"lanemask_le", VM_FILL_LANEMASK_LE, 4},
    {"lanemask_lt", VM_FILL_LANEMASK_LT, 4},
    {"lanemask_ge", VM_FILL_LANEMASK_GE, 4},
    {"lanemask_gt", VM_FILL_LANEMASK_GT, 4},
    {"warpid", VM_FILL_WARPID, 4},
    {"nwarpid", VM_FILL_NWARPID, 4},
    {"smid", VM_FILL_SMID, 4},
    {"nsmid", VM_FILL_NSMID, 4},
    {"gridid", VM_FILL_GRIDID, 8},
    {"dynamic_smem_size", VM_FILL_SMEM_DYNAMIC, 4},
    {"total_smem_size", VM_FILL_SMEM_TOTAL, 4},
    {"aggr_smem_size", VM_FILL_SMEM_TOTAL, 4},
    {"clusterid.", VM_FILL_CLUSTERID, 4},
    {"nclusterid.", VM_FILL_NCLUSTERID, 4},
    {"cluster_ctaid.", VM_FILL_CLUSTER_CTAID, 4},
    {"cluster_nctaid.", VM_FILL_CLUSTER_NCTAID, 4},
    {"cluster_ctarank", VM_FILL_CLUSTER_CTARANK, 4},
    {"cluster_nctarank", VM_FILL_CLUSTER_NCTARANK, 4},
    {"is_explicit_cluster", VM_FILL_CLUSTER_EXPLICIT, 0},
    {"warp_size", VM_FILL_CONST, 4},
};

// The reserved part of shared memory. PTX names its registers without saying what is where. Cooperative groups keep 32
// bytes of barriers and 8 for each warp at the second offset.
static const struct {
    const char *name;
    uint32_t bits;
    bool offset; // from the part's start; else the value itself
} reserved_sregs[] = {
    {"begin", 0, true},
    {"end", VM_SHARED_RESERVED, true},
    {"cap", VM_SHARED_RESERVED, false},
    {"0", 0, true},
    {"1", 256, true},
    {"2", 640, true},
};

static bool reserved_sreg(Decoder *d, const char *name, VmFill *out) {
    static const char prefix[] = "reserved_smem_offset_";
    if (strncmp(name, prefix, sizeof prefix - 1))
        return false;
    for (size_t k = 0; k < sizeof reserved_sregs / sizeof *reserved_sregs; k++)
        if (!strcmp(name + sizeof prefix - 1, reserved_sregs[k].name)) {
            d->f->wants_reserved = true;
            *out = (VmFill){.kind = reserved_sregs[k].offset ? VM_FILL_SMEM_RESERVED : VM_FILL_CONST,
                            .width = 4,
                            .bits = reserved_sregs[k].bits};
            return true;
        }
    return false;
}

bool gr_vm_static_sreg(Decoder *d, const char *name, VmFill *out) {
    const char *n = name + (*name == '%');
    if (reserved_sreg(d, n, out))
        return true;
    if (!strcmp(n, "envreg1") || !strcmp(n, "envreg2")) {
        *out = (VmFill){.kind = VM_FILL_ENVREG, .width = 4, .dim = (uint8_t)(n[6] - '0')};
        return true;
    }
    if (!strncmp(n, "envreg", 6)) {
        *out = (VmFill){.kind = VM_FILL_CONST, .width = 4};
        return true;
    }
    if (!strcmp(n, "current_graph_exec")) {
        *out = (VmFill){.kind = VM_FILL_CONST, .width = 8};
        return true;
    }
    for (size_t k = 0; k < sizeof static_sregs / sizeof *static_sregs; k++) {
        const char *want = static_sregs[k].name;
        size_t len = strlen(want);
        bool dim = want[len - 1] == '.';
        if (strncmp(n, want, len) || (dim ? (n[len] < 'x' || n[len] > 'z' || n[len + 1]) : n[len] != 0))
            continue;
        *out = (VmFill){.kind = static_sregs[k].kind,
                        .width = static_sregs[k].width,
                        .dim = dim ? (uint8_t)(n[len] - 'x') : 0};
        return true;
    }
    // The fourth component of the vectors is zero.
    static const char *const w4[] = {"tid.w", "ntid.w", "ctaid.w", "nctaid.w"};
    for (size_t k = 0; k < sizeof w4 / sizeof *w4; k++)
        if (!strcmp(n, w4[k])) {
            *out = (VmFill){.kind = VM_FILL_CONST, .width = 4};
            return true;
        }
    return false;
}

// ---- Variables ---------------------------------------------------------------------------------------------

bool gr_vm_kernel_param_offset(const VmFunc *f, const PtxVar *v, uint32_t *offset) {
    if (!f->ptx || !f->ptx->is_entry)
        return false;
    for (uint32_t k = 0; k < f->n_params; k++)
        if (f->ptx->params[k] == v) {
            *offset = f->params[k].offset;
            return true;
        }
    return false;
}

VmParamSlot *gr_vm_param_slot(Decoder *d, const PtxVar *v) {
    VmParamSlot *known = gr_map_get_u64(&d->param_of, (uint64_t)(uintptr_t)v);
    if (known)
        return known;
    uint64_t size = gr_vm_var_size(v);
    if (size == 0 || size > 1 << 16)
        return NULL;
    VmParamSlot *p = GR_NEW(d->f->arena, VmParamSlot);
    if (!p || !gr_map_put_u64(&d->param_of, (uint64_t)(uintptr_t)v, p)) {
        d->oom = true;
        return NULL;
    }
    p->stride = (uint32_t)size;
    p->offset = d->frame;
    d->frame += (p->stride * VM_LANES + 63) & ~63u;
    add_place(d, p->offset, p->stride);
    return p;
}

// Gives a variable a place in the activation's stack; *out: its address. False: there is no room.
static bool stack_fill(Decoder *d, const PtxVar *v, VmFill *out) {
    size_t known = (size_t)(uintptr_t)gr_map_get_u64(&d->local_of, (uint64_t)(uintptr_t)v);
    if (!known) {
        uint32_t align = gr_vm_var_align(v);
        uint64_t size = gr_vm_var_size(v);
        if (size > VM_LOCAL_SIZE - d->local_bytes - align)
            return false;
        d->local_bytes = (d->local_bytes + align - 1) / align * align;
        known = d->local_bytes + 1;
        d->local_bytes += (uint32_t)size;
        if (!gr_map_put_u64(&d->local_of, (uint64_t)(uintptr_t)v, (void *)(uintptr_t)known))
            d->oom = true;
    }
    out->kind = VM_FILL_LOCAL;
    out->bits += known - 1;
    return true;
}

static void note_shared(Decoder *d, const PtxVar *v) {
    for (size_t k = 0; k < d->shared.len; k++)
        if (d->shared.data[k] == v)
            return;
    if (!gr_vec_push(&d->shared, v))
        d->oom = true;
}

// What the address of `v` is, in its own state space.
bool gr_vm_var_fill(Decoder *d, const PtxVar *v, int64_t offset, uint32_t width, VmFill *out) {
    uint32_t at;
    *out = (VmFill){.width = (uint8_t)width, .bits = (uint64_t)offset};
    switch (v->space) {
    case PTX_SHARED:
    case PTX_SHARED_CTA:
    case PTX_SHARED_CLUSTER:
        note_shared(d, v);
        out->kind = VM_FILL_SHARED;
        out->var = v;
        return true;
    case PTX_LOCAL: return stack_fill(d, v, out);
    case PTX_PARAM:
    case PTX_PARAM_ENTRY:
    case PTX_PARAM_FUNC:
        if (gr_vm_is_spilled(d, v))
            return stack_fill(d, v, out);
        if (!gr_vm_kernel_param_offset(d->f, v, &at))
            return false;
        d->f->wants_param_buffer = true;
        out->kind = VM_FILL_PARAM_ADDR;
        out->bits += at;
        return true;
    default: {
        const VmGlobal *g = gr_map_get_u64(&d->m->global_of, (uint64_t)(uintptr_t)v);
        if (!g)
            return false;
        if (g->space == PTX_SHARED) {
            note_shared(d, g->var);
            out->kind = VM_FILL_SHARED;
            out->var = g->var;
            return true;
        }
        out->kind = d->m->is_runtime ? VM_FILL_RUNTIME : VM_FILL_CONST;
        out->bits += g->addr;
        out->bits_hi = d->m->is_runtime ? g->index : 0;
        return true;
    }
    }
}

// ---- Registers ---------------------------------------------------------------------------------------------

static uint32_t reg_own_slot(Decoder *d, const PtxReg *r) {
    if (d->slots[r->index] == VM_NO_SLOT) {
        uint32_t width = gr_vm_lane_bytes(r->type), n = r->vec > 1 ? r->vec : 1;
        uint32_t first = gr_vm_new_slot(d, width);
        for (uint32_t k = 1; k < n; k++)
            (void)gr_vm_new_slot(d, width); // consecutive: vector registers are never predicates
        d->slots[r->index] = first;
    }
    return d->slots[r->index];
}

static uint32_t alias_slot(Decoder *d, const PtxReg *r, const VmAliasInfo *a) {
    if (!a->param)
        return gr_vm_src(d, a->source, a->type);
    const PtxVar *v = a->source->sub[0].var;
    uint32_t at;
    if (gr_vm_kernel_param_offset(d->f, v, &at)) {
        uint32_t size = gr_ptx_type_bits(a->type) / 8;
        return gr_vm_fill_slot(d,
                               (VmFill){.kind = VM_FILL_PARAM,
                                        .width = (uint8_t)gr_vm_lane_bytes(r->type),
                                        .bits = at + (uint64_t)a->source->offset + (uint64_t)a->elem * size,
                                        .size = (uint8_t)size,
                                        .sext = gr_ptx_type_is_signed(a->type)});
    }
    const VmParamSlot *p = gr_vm_param_slot(d, v);
    return p ? p->offset : VM_NO_SLOT;
}

uint32_t gr_vm_reg_slot(Decoder *d, const PtxReg *r) {
    const VmAliasInfo *a = &d->alias[r->index];
    if (a->source) {
        uint32_t s = alias_slot(d, r, a);
        if (s != VM_NO_SLOT)
            return s;
    }
    return reg_own_slot(d, r);
}

static unsigned elem_index(char c) {
    switch (c) {
    case 'y':
    case 'g': return 1;
    case 'z':
    case 'b': return 2;
    case 'w':
    case 'a': return 3;
    default: return 0;
    }
}

// Sets *out to the place, within the register, of the component that an operand names. False: there is none, or the
// register has not the width of `t`: handlers go by the width, so a wrong one must not get through.
static bool elem_offset(const PtxOperand *o, PtxType t, uint32_t *out) {
    uint32_t width = gr_vm_lane_bytes(o->reg->type), n = o->elem ? elem_index(o->elem) : 0;
    *out = n * ((width * VM_LANES + 63) & ~63u);
    return width == gr_vm_lane_bytes(t) && (!n || n < o->reg->vec);
}

// ~p for an operand written !p.
static const VmInsn *not_full(VmWarp *w, const VmInsn *i) {
    VM_PRED(w, i->d) = ~VM_PRED(w, i->a);
    return i + 1;
}
static const VmInsn *not_part(VmWarp *w, const VmInsn *i) {
    VM_PRED(w, i->d) = (VM_PRED(w, i->d) & ~w->mask) | (~VM_PRED(w, i->a) & w->mask);
    return i + 1;
}

uint32_t gr_vm_src(Decoder *d, const PtxOperand *o, PtxType t) {
    VmFill fill;
    switch (o->kind) {
    case PTX_O_REG: {
        uint32_t at;
        if (o->text || !elem_offset(o, t, &at)) // text: a selector, which only video.c knows
            return VM_NO_SLOT;
        uint32_t s = gr_vm_reg_slot(d, o->reg) + at;
        if (o->negated) {
            if (o->reg->type != PTX_PRED)
                return VM_NO_SLOT;
            uint32_t tmp = gr_vm_new_slot(d, 0);
            VmInsn *n = gr_vm_emit(d, not_full, not_part);
            if (!n)
                return VM_NO_SLOT;
            n->a = s;
            n->d = tmp;
            return tmp;
        }
        return s;
    }
    case PTX_O_INT:
    case PTX_O_F32:
    case PTX_O_F64: return gr_vm_const_slot(d, gr_vm_immediate(o, t), gr_vm_lane_bytes(t));
    case PTX_O_VAR:
        if (!gr_vm_var_fill(d, o->var, o->offset, gr_vm_lane_bytes(t), &fill))
            return VM_NO_SLOT;
        return gr_vm_fill_slot(d, fill);
    case PTX_O_FUNC: {
        VmFunc *f = gr_vm_resolve_func(d->m, NULL, o->text);
        if (!f)
            return VM_NO_SLOT;
        f->address_taken = true;
        return gr_vm_const_slot(d, gr_vm_code_address(f), gr_vm_lane_bytes(t));
    }
    case PTX_O_SREG: {
        VmExec read[2];
        PtxType type;
        if (gr_vm_static_sreg(d, o->text, &fill)) {
            // mov.u64 %rd, %tid.x and mov.u16 %rs, %tid.x exist: the lanes take the reader's width.
            if (fill.width)
                fill.width = (uint8_t)gr_vm_lane_bytes(t);
            if (fill.kind == VM_FILL_CONST && !strcmp(o->text, "%warp_size"))
                fill.bits = VM_LANES;
            return gr_vm_fill_slot(d, fill);
        }
        if (!gr_vm_dynamic_sreg(o->text, read, &type))
            return VM_NO_SLOT;
        uint32_t tmp = gr_vm_new_slot(d, gr_vm_lane_bytes(t));
        VmInsn *n = gr_vm_emit(d, read[0], read[1]);
        if (!n)
            return VM_NO_SLOT;
        n->d = tmp;
        n->e = gr_vm_lane_bytes(t);
        return tmp;
    }
    default: return VM_NO_SLOT;
    }
}

uint32_t gr_vm_dst(Decoder *d, const PtxOperand *o, PtxType t) {
    uint32_t at;
    if (o->kind == PTX_O_SINK)
        return gr_vm_new_slot(d, gr_vm_lane_bytes(t));
    if (o->kind != PTX_O_REG || o->text || !elem_offset(o, t, &at)) // text: a part of the register
        return VM_NO_SLOT;
    return reg_own_slot(d, o->reg) + at;
}

PtxType gr_vm_operand_type(const PtxOperand *o, PtxType t) { return o->kind == PTX_O_REG ? o->reg->type : t; }

// The elements of a vector operand: {a, b}, a vector register, or a single operand.
const PtxOperand *gr_vm_elements(Decoder *d, const PtxOperand *o, PtxOperand tmp[8], unsigned *n) {
    (void)d;
    if (o->kind == PTX_O_VECTOR) {
        *n = o->n_sub;
        return o->sub;
    }
    if (o->kind == PTX_O_REG && o->reg->vec > 1 && !o->elem) {
        *n = o->reg->vec;
        for (unsigned k = 0; k < *n && k < 8; k++) {
            tmp[k] = *o;
            tmp[k].elem = "xyzw"[k & 3];
        }
        return tmp;
    }
    *n = 1;
    return o;
}
