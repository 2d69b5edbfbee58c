// SPDX-License-Identifier: Apache-2.0
// decode_sync — barriers, fences, and what the lanes of a warp do together.
#include "vm/core/decode.h"
#include "vm/core/exec.h"
#include "vm/core/sync_insn.h"

static bool has(const PtxInstr *i, PtxMod m) { return gr_ptx_instr_has(i, m); }

static bool decode_cluster(Decoder *d, const PtxInstr *i) {
    VmExec x = has(i, PTX_MOD_arrive) ? gr_vm_x_cluster_arrive
               : has(i, PTX_MOD_wait) ? gr_vm_x_cluster_wait
                                      : NULL;
    if (!x || i->n_operands)
        return false;
    VmInsn *n = gr_vm_emit(d, x, x);
    if (n)
        n->imm = has(i, PTX_MOD_wait) ? PTX_ACQUIRE : i->sem == PTX_RELAXED ? PTX_RELAXED : PTX_RELEASE;
    gr_vm_fix_rejoin(d);
    return true;
}

// bar.sync a{, b}; bar.arrive a, b; bar.red.popc.u32 d, a{, b}, c; bar.red.and.pred p, a{, b}, c
static bool decode_barrier(Decoder *d, const PtxInstr *i) {
    VmBarrierInfo *info = GR_NEW(d->f->arena, VmBarrierInfo);
    if (!info)
        return false;
    unsigned at = 0, n = i->n_operands;
    uint32_t dst = 0, a, b = 0, c = 0;
    info->kind = has(i, PTX_MOD_red) ? VM_BAR_RED : has(i, PTX_MOD_arrive) ? VM_BAR_ARRIVE : VM_BAR_SYNC;
    if (info->kind == VM_BAR_SYNC && !has(i, PTX_MOD_sync))
        return false;
    if (info->kind == VM_BAR_RED) {
        info->op = has(i, PTX_MOD_popc) ? VM_BAR_POPC : has(i, PTX_MOD_and) ? VM_BAR_AND : VM_BAR_OR;
        if (n < 3)
            return false;
        dst = gr_vm_dst(d, &i->operands[at++], info->op == VM_BAR_POPC ? PTX_U32 : PTX_PRED);
        c = gr_vm_src(d, &i->operands[--n], PTX_PRED);
    }
    if (at >= n)
        return false;
    info->aligned = i->op == PTX_OP_BAR || has(i, PTX_MOD_aligned); // bar is barrier.aligned
    info->constant = i->operands[at].kind == PTX_O_INT;
    a = gr_vm_src(d, &i->operands[at++], PTX_U32);
    if (at < n) {
        info->counted = true;
        b = gr_vm_src(d, &i->operands[at++], PTX_U32);
    }
    if (at != n || a == VM_NO_SLOT || b == VM_NO_SLOT || c == VM_NO_SLOT || dst == VM_NO_SLOT)
        return false;
    VmInsn *k = gr_vm_emit(d, gr_vm_x_barrier, gr_vm_x_barrier);
    if (k) {
        k->d = dst;
        k->a = a;
        k->b = b;
        k->c = c;
        k->extra = info;
    }
    gr_vm_fix_rejoin(d);
    return true;
}

static bool proxy_of(const PtxInstr *i, VmProxy *out) {
    static const struct {
        PtxMod mod;
        VmProxy proxy;
    } rows[] = {
        {PTX_MOD_alias, VM_PROXY_ALIAS},
        {PTX_MOD_async, VM_PROXY_ASYNC},
        {PTX_MOD_async__generic, VM_PROXY_ASYNC},
        {PTX_MOD_async__global, VM_PROXY_ASYNC},
        {PTX_MOD_async__shared__cta, VM_PROXY_ASYNC},
        {PTX_MOD_async__shared__cluster, VM_PROXY_ASYNC},
        {PTX_MOD_tensormap__generic, VM_PROXY_TENSORMAP},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (has(i, rows[k].mod)) {
            *out = rows[k].proxy;
            return true;
        }
    return false;
}

static bool decode_fence(Decoder *d, const PtxInstr *i) {
    PtxSem sem = i->sem == PTX_SEM_NONE ? PTX_ACQ_REL : i->sem;
    PtxScope scope = i->scope;
    if (i->op == PTX_OP_MEMBAR) { // membar.level is fence.sc (PTX ISA 9.7.13.4)
        sem = PTX_SC;
        if (has(i, PTX_MOD_gl))
            scope = PTX_SCOPE_GPU;
    }
    VmProxy proxy = VM_PROXY_GENERIC;
    if (has(i, PTX_MOD_proxy)) { // for observers: memory is the same through all proxies here
        if (!proxy_of(i, &proxy))
            return false;
        sem = i->sem;
    } else if (has(i, PTX_MOD_mbarrier_init) || has(i, PTX_MOD_op_restrict__mbarrier_init)) {
        gr_vm_emit(d, gr_vm_x_nop, gr_vm_x_nop); // orders nothing but mbarrier.init
        return true;
    }
    VmInsn *n = gr_vm_emit(d, gr_vm_x_fence, gr_vm_x_fence);
    if (n)
        n->imm = (uint64_t)proxy << 16 | (uint64_t)sem << 8 | scope;
    return true;
}

static VmCollectiveOp op_of(const PtxInstr *i) {
    static const struct {
        PtxOp op;
        PtxMod mod;
        VmCollectiveOp is;
    } rows[] = {
        {PTX_OP_SHFL, PTX_MOD_up, VM_SHFL_UP},     {PTX_OP_SHFL, PTX_MOD_down, VM_SHFL_DOWN},
        {PTX_OP_SHFL, PTX_MOD_bfly, VM_SHFL_BFLY}, {PTX_OP_SHFL, PTX_MOD_idx, VM_SHFL_IDX},
        {PTX_OP_VOTE, PTX_MOD_all, VM_VOTE_ALL},   {PTX_OP_VOTE, PTX_MOD_any, VM_VOTE_ANY},
        {PTX_OP_VOTE, PTX_MOD_uni, VM_VOTE_UNI},   {PTX_OP_VOTE, PTX_MOD_ballot, VM_VOTE_BALLOT},
        {PTX_OP_MATCH, PTX_MOD_any, VM_MATCH_ANY}, {PTX_OP_MATCH, PTX_MOD_all, VM_MATCH_ALL},
        {PTX_OP_REDUX, PTX_MOD_add, VM_REDUX_ADD}, {PTX_OP_REDUX, PTX_MOD_min, VM_REDUX_MIN},
        {PTX_OP_REDUX, PTX_MOD_max, VM_REDUX_MAX}, {PTX_OP_REDUX, PTX_MOD_and, VM_REDUX_AND},
        {PTX_OP_REDUX, PTX_MOD_or, VM_REDUX_OR},   {PTX_OP_REDUX, PTX_MOD_xor, VM_REDUX_XOR},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (rows[k].op == i->op && has(i, rows[k].mod))
            return rows[k].is;
    return VM_COLL_NO_OP;
}

// Operands after the destination: shfl a, b, c{, mask}; vote a{, mask}; match a, mask; redux a, mask; elect mask.
static bool decode_collective(Decoder *d, const PtxInstr *i, VmCollectiveKind kind) {
    VmCollectiveInfo *info = GR_NEW(d->f->arena, VmCollectiveInfo);
    if (!info)
        return false;
    info->kind = kind;
    info->op = op_of(i);
    info->sync = kind == VM_COLL_BARRIER || kind == VM_COLL_ELECT || has(i, PTX_MOD_sync);
    info->type = i->type[0];
    info->abs = has(i, PTX_MOD_abs);
    info->nan = has(i, PTX_MOD_NaN);
    info->bytes = UINT8_MAX;
    if (info->op == VM_COLL_NO_OP && kind != VM_COLL_ELECT && kind != VM_COLL_BARRIER)
        return false;
    unsigned at = 0;
    uint32_t dst = 0, dst2 = 0, src[3] = {0, 0, 0}, mask = 0, n_src = 0;
    PtxType value = PTX_B32;
    if (kind != VM_COLL_BARRIER) {
        if (!i->n_operands)
            return false;
        const PtxOperand *o = &i->operands[at++], *second = NULL;
        if (o->kind == PTX_O_PAIR) {
            second = &o->sub[1];
            o = &o->sub[0];
        }
        info->d_is_pred = kind == VM_COLL_VOTE && info->op != VM_VOTE_BALLOT;
        info->has_d = o->kind != PTX_O_SINK;
        dst = gr_vm_dst(d, o, info->d_is_pred ? PTX_PRED : PTX_B32);
        if (second && second->kind != PTX_O_SINK) {
            info->has_d2 = true;
            dst2 = gr_vm_dst(d, second, PTX_PRED);
        }
    }
    switch (kind) {
    case VM_COLL_SHFL:
        n_src = 3;
        info->bytes = 4;
        break;
    case VM_COLL_VOTE:
        n_src = 1;
        value = PTX_PRED;
        info->bytes = 0;
        break;
    case VM_COLL_MATCH:
        n_src = 1;
        info->bytes = (uint8_t)(gr_ptx_type_bits(i->type[0]) / 8);
        value = info->bytes == 8 ? PTX_B64 : PTX_B32;
        break;
    case VM_COLL_REDUX:
        n_src = 1;
        info->bytes = 4;
        if (info->type != PTX_U32 && info->type != PTX_S32 && info->type != PTX_B32 && info->type != PTX_F32)
            return false;
        break;
    default: break;
    }
    if (i->n_operands < at + n_src + info->sync)
        return false;
    for (unsigned k = 0; k < n_src; k++)
        src[k] = gr_vm_src(d, &i->operands[at++], k ? PTX_B32 : value);
    if (info->sync) {
        info->constant = i->operands[at].kind == PTX_O_INT;
        mask = gr_vm_src(d, &i->operands[at++], PTX_B32);
    }
    if (dst == VM_NO_SLOT || dst2 == VM_NO_SLOT || src[0] == VM_NO_SLOT || src[1] == VM_NO_SLOT ||
        src[2] == VM_NO_SLOT || mask == VM_NO_SLOT)
        return false;
    VmInsn *k = gr_vm_emit(d, gr_vm_x_collective, gr_vm_x_collective);
    if (k) {
        k->d = dst;
        k->d2 = dst2;
        k->a = src[0];
        k->b = src[1];
        k->c = src[2];
        k->e = mask;
        k->extra = info;
    }
    gr_vm_fix_rejoin(d);
    return true;
}

bool gr_vm_decode_sync(Decoder *d, const PtxInstr *i, bool *control) {
    switch (i->op) {
    case PTX_OP_BAR:
    case PTX_OP_BARRIER:
        *control = true;
        if (has(i, PTX_MOD_warp))
            return decode_collective(d, i, VM_COLL_BARRIER);
        return has(i, PTX_MOD_cluster) ? decode_cluster(d, i) : decode_barrier(d, i);
    case PTX_OP_MEMBAR:
    case PTX_OP_FENCE: return decode_fence(d, i);
    case PTX_OP_SHFL: *control = true; return decode_collective(d, i, VM_COLL_SHFL);
    case PTX_OP_VOTE: *control = true; return decode_collective(d, i, VM_COLL_VOTE);
    case PTX_OP_MATCH: *control = true; return decode_collective(d, i, VM_COLL_MATCH);
    case PTX_OP_REDUX: *control = true; return decode_collective(d, i, VM_COLL_REDUX);
    case PTX_OP_ELECT: *control = true; return decode_collective(d, i, VM_COLL_ELECT);
    case PTX_OP_ACTIVEMASK: {
        uint32_t dst = i->n_operands == 1 ? gr_vm_dst(d, &i->operands[0], PTX_B32) : VM_NO_SLOT;
        if (dst == VM_NO_SLOT)
            return false;
        VmInsn *n = gr_vm_emit(d, gr_vm_x_activemask, gr_vm_x_activemask);
        if (n)
            n->d = dst;
        return true;
    }
    default: return false;
    }
}
