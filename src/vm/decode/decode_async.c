// SPDX-License-Identifier: Apache-2.0
// decode_async — cp.async, bulk copies and reductions, mbarrier, st.async, red.async, st.bulk.
//
// A form is decoded only if each of its modifiers is known. All others, the tensor forms and multimem among them, are
// named as absent.
#include "vm/async/async.h"
#include "vm/core/decode.h"
#include "vm/core/exec.h"
#include "vm/core/exec_mem.h"

#include <string.h>

static bool has(const PtxInstr *i, PtxMod m) { return gr_ptx_instr_has(i, m); }

// Modifiers that change nothing here, or are summarized in the instruction's fields.
static bool harmless(PtxMod m) {
    switch (m) {
    case PTX_MOD_shared:
    case PTX_MOD_shared__cta:
    case PTX_MOD_shared__cluster:
    case PTX_MOD_global:
    case PTX_MOD_L2__cache_hint:
    case PTX_MOD_L2__64B:
    case PTX_MOD_L2__128B:
    case PTX_MOD_L2__256B:
    case PTX_MOD_weak:
    case PTX_MOD_relaxed:
    case PTX_MOD_acquire:
    case PTX_MOD_release:
    case PTX_MOD_mmio:
    case PTX_MOD_cta:
    case PTX_MOD_cluster:
    case PTX_MOD_gpu:
    case PTX_MOD_sys: return true;
    default: return false;
    }
}

// Every modifier is harmless, one of `known`, or a type.
static bool only(const PtxInstr *i, const PtxMod *known, size_t n) {
    for (unsigned k = 0; k < i->n_mods; k++) {
        PtxMod m = i->mods[k].id;
        bool ok = m != PTX_MOD_UNKNOWN && (m <= PTX_MOD_pred || harmless(m));
        for (size_t j = 0; j < n && !ok; j++)
            ok = known[j] == m;
        if (!ok)
            return false;
    }
    return true;
}
#define ONLY(i, ...)                                                                                         \
    only(i, (const PtxMod[]){__VA_ARGS__}, sizeof((const PtxMod[]){__VA_ARGS__}) / sizeof(PtxMod))

static bool address(Decoder *d, const PtxOperand *o, PtxSpace space, VmAddress *out) {
    out->space = space == PTX_SHARED ? PTX_SHARED_CTA : space;
    bool shared = space == PTX_SHARED || space == PTX_SHARED_CTA || space == PTX_SHARED_CLUSTER;
    return gr_vm_decode_address(d, o, shared ? PTX_SHARED : space, &out->slot, &out->width, &out->offset);
}

// Emits a memory instruction, with an inline cache and a rejoin point for lanes that are parted before it.
static bool emit(Decoder *d, VmExec x, void *extra, const uint32_t slot[3], uint32_t dst) {
    if (slot[0] == VM_NO_SLOT || slot[1] == VM_NO_SLOT || slot[2] == VM_NO_SLOT || dst == VM_NO_SLOT)
        return false;
    VmInsn *n = gr_vm_emit(d, x, x);
    if (!n)
        return true;
    n->a = slot[0];
    n->b = slot[1];
    n->c = slot[2];
    n->d = dst;
    n->e = d->m->counts.caches++;
    n->extra = extra;
    gr_vm_fix_rejoin(d);
    return true;
}

// ---- cp.async ------------------------------------------------------------------------------------------------------

static bool is_pred(const PtxOperand *o) { return o->kind == PTX_O_REG && o->reg->type == PTX_PRED; }

// cp.async.{ca,cg}.shared.global [dst], [src], cp-size{, src-size | ignore-src}{, cache-policy}
static bool decode_copy(Decoder *d, const PtxInstr *i) {
    VmCopyInfo *info = GR_NEW(d->f->arena, VmCopyInfo);
    unsigned n = i->n_operands - (has(i, PTX_MOD_L2__cache_hint) ? 1u : 0u);
    uint32_t slot[3] = {0};
    if (!info || !ONLY(i, PTX_MOD_async, PTX_MOD_ca, PTX_MOD_cg) || n < 3 || n > 4 ||
        i->operands[2].kind != PTX_O_INT || i->space == PTX_SHARED_CLUSTER || i->space2 != PTX_GLOBAL)
        return false;
    info->bytes = (uint8_t)i->operands[2].bits;
    if ((info->bytes != 4 && info->bytes != 8 && info->bytes != 16) || i->operands[2].bits > 16 ||
        !address(d, &i->operands[0], i->space, &info->dst) ||
        !address(d, &i->operands[1], i->space2, &info->src))
        return false;
    info->has_ignore = n == 4 && is_pred(&i->operands[3]);
    info->has_size = n == 4 && !info->has_ignore;
    if (info->has_size)
        slot[0] = gr_vm_src(d, &i->operands[3], PTX_B32);
    if (info->has_ignore)
        slot[1] = gr_vm_src(d, &i->operands[3], PTX_PRED);
    return emit(d, gr_vm_x_cp_async, info, slot, 0);
}

static bool decode_group(Decoder *d, const PtxInstr *i) {
    VmGroupInfo *info = GR_NEW(d->f->arena, VmGroupInfo);
    bool commit = has(i, PTX_MOD_commit_group), wait = has(i, PTX_MOD_wait_group);
    if (!info || !ONLY(i, PTX_MOD_async, PTX_MOD_bulk, PTX_MOD_commit_group, PTX_MOD_wait_group,
                       PTX_MOD_wait_all, PTX_MOD_read))
        return false;
    info->bulk = has(i, PTX_MOD_bulk);
    info->all = has(i, PTX_MOD_wait_all);
    info->read_only = has(i, PTX_MOD_read);
    if (wait && (i->n_operands != 1 || i->operands[0].kind != PTX_O_INT))
        return false;
    VmExec x = commit ? gr_vm_x_async_commit : gr_vm_x_async_wait;
    VmInsn *n = gr_vm_emit(d, x, x);
    if (n) {
        n->extra = info;
        n->imm = wait ? (uint32_t)i->operands[0].bits : 0;
    }
    return true;
}

// cp.async.mbarrier.arrive{.noinc}{.shared}.b64 [addr]
static bool decode_copy_arrive(Decoder *d, const PtxInstr *i) {
    VmMbarInfo *info = GR_NEW(d->f->arena, VmMbarInfo);
    if (!info || !ONLY(i, PTX_MOD_async, PTX_MOD_mbarrier, PTX_MOD_arrive, PTX_MOD_noinc) ||
        i->n_operands != 1 || !address(d, &i->operands[0], i->space, &info->at))
        return false;
    info->has_count = !has(i, PTX_MOD_noinc);
    return emit(d, gr_vm_x_cp_async_arrive, info, (const uint32_t[3]){0}, 0);
}

// ---- Bulk operations -----------------------------------------------------------------------------------------------

// cp.async.bulk.DST.SRC.DONE… [dst], [src], size{, [mbar]}{, ctaMask}{, cache-policy}{, byteMask}
// cp.reduce.async.bulk.DST.SRC.DONE….OP.TYPE [dst], [src], size{, [mbar]}{, cache-policy}
static bool decode_bulk(Decoder *d, const PtxInstr *i) {
    bool reduces = has(i, PTX_MOD_reduce), bar = has(i, PTX_MOD_mbarrier__complete_tx__bytes);
    VmCopyInfo *info = GR_NEW(d->f->arena, VmCopyInfo);
    if (!info ||
        !ONLY(i, PTX_MOD_async, PTX_MOD_bulk, PTX_MOD_reduce, PTX_MOD_mbarrier__complete_tx__bytes,
              PTX_MOD_bulk_group, PTX_MOD_multicast__cluster, PTX_MOD_cp_mask, PTX_MOD_and, PTX_MOD_or,
              PTX_MOD_xor, PTX_MOD_add, PTX_MOD_inc, PTX_MOD_dec, PTX_MOD_min, PTX_MOD_max, PTX_MOD_noftz) ||
        bar == has(i, PTX_MOD_bulk_group) || (bar && i->space == PTX_GLOBAL) ||
        (!bar && i->space != PTX_GLOBAL))
        return false;
    info->has_bar = bar;
    info->has_blocks = has(i, PTX_MOD_multicast__cluster);
    info->has_bytes = has(i, PTX_MOD_cp_mask);
    unsigned at = 3, need = 3u + bar + info->has_blocks + has(i, PTX_MOD_L2__cache_hint) + info->has_bytes;
    uint32_t slot[3] = {0};
    if (i->n_operands != need || (info->has_blocks && i->space != PTX_SHARED_CLUSTER) ||
        !address(d, &i->operands[0], i->space, &info->dst) ||
        !address(d, &i->operands[1], i->space2, &info->src))
        return false;
    if (reduces) {
        VmAtomOp op;
        if (!gr_vm_atom_op(i, i->type[0], &op) || op.cas || op.exch)
            return false;
        info->apply = op.apply;
        info->elem = (uint8_t)(gr_ptx_type_bits(i->type[0]) / 8);
    }
    slot[0] = gr_vm_src(d, &i->operands[2], PTX_B32);
    if (bar && !address(d, &i->operands[at++], i->space, &info->bar))
        return false;
    if (info->has_blocks)
        slot[1] = gr_vm_src(d, &i->operands[at++], PTX_B16);
    at += has(i, PTX_MOD_L2__cache_hint);
    if (info->has_bytes)
        slot[2] = gr_vm_src(d, &i->operands[at], PTX_B16);
    return emit(d, gr_vm_x_bulk, info, slot, 0);
}

static bool decode_cp(Decoder *d, const PtxInstr *i) {
    if (has(i, PTX_MOD_tensor))
        return false;
    if (has(i, PTX_MOD_prefetch)) { // cp.async.bulk.prefetch.L2.global: a hint
        if (!ONLY(i, PTX_MOD_async, PTX_MOD_bulk, PTX_MOD_prefetch, PTX_MOD_L2))
            return false;
        gr_vm_emit(d, gr_vm_x_nop, gr_vm_x_nop);
        return true;
    }
    if (has(i, PTX_MOD_commit_group) || has(i, PTX_MOD_wait_group) || has(i, PTX_MOD_wait_all))
        return decode_group(d, i);
    if (has(i, PTX_MOD_mbarrier))
        return decode_copy_arrive(d, i);
    return has(i, PTX_MOD_bulk) ? decode_bulk(d, i) : decode_copy(d, i);
}

// ---- mbarrier ------------------------------------------------------------------------------------------------------

static bool mbar_op(const PtxInstr *i, VmMbarOp *out) {
    static const struct {
        PtxMod mod;
        VmMbarOp op;
    } rows[] = {{PTX_MOD_init, VM_MBAR_DO_INIT},
                {PTX_MOD_inval, VM_MBAR_DO_INVAL},
                {PTX_MOD_arrive_drop, VM_MBAR_DO_DROP},
                {PTX_MOD_arrive, VM_MBAR_DO_ARRIVE},
                {PTX_MOD_test_wait, VM_MBAR_DO_TEST},
                {PTX_MOD_try_wait, VM_MBAR_DO_TRY},
                {PTX_MOD_complete_tx, VM_MBAR_DO_COMPLETE},
                {PTX_MOD_expect_tx, VM_MBAR_DO_EXPECT}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (i->n_mods && i->mods[0].id == rows[k].mod) {
            *out = rows[k].op;
            return true;
        }
    return false;
}

// mbarrier.pending_count.b64 count, state
static bool decode_pending(Decoder *d, const PtxInstr *i) {
    if (i->n_operands != 2)
        return false;
    uint32_t dst = gr_vm_dst(d, &i->operands[0], PTX_B32), src = gr_vm_src(d, &i->operands[1], PTX_B64);
    return emit(d, gr_vm_x_mbarrier_pending, NULL, (const uint32_t[3]){src}, dst);
}

// mbarrier.{test,try}_wait{.parity} p, [addr], state-or-parity{, time}
static bool decode_mbar_wait(Decoder *d, const PtxInstr *i, VmMbarInfo *info) {
    unsigned n = i->n_operands;
    uint32_t slot[3] = {0}, dst;
    info->parity = has(i, PTX_MOD_parity);
    info->has_hint = n == 4;
    if (n < 3 || n > (info->op == VM_MBAR_DO_TRY ? 4 : 3) ||
        !address(d, &i->operands[1], i->space, &info->at))
        return false;
    dst = gr_vm_dst(d, &i->operands[0], PTX_PRED);
    slot[1] = gr_vm_src(d, &i->operands[2], info->parity ? PTX_B32 : PTX_B64);
    if (info->has_hint)
        slot[2] = gr_vm_src(d, &i->operands[3], PTX_B32);
    return emit(d, gr_vm_x_mbarrier_test, info, slot, dst);
}

// init [addr], count; inval [addr]; expect_tx, complete_tx [addr], bytes; arrive state, [addr]{, count or bytes}
static bool decode_mbar_change(Decoder *d, const PtxInstr *i, VmMbarInfo *info) {
    bool arrives = info->op == VM_MBAR_DO_ARRIVE || info->op == VM_MBAR_DO_DROP;
    unsigned at = 0, n = i->n_operands;
    uint32_t slot[3] = {0}, dst = 0;
    info->no_complete = has(i, PTX_MOD_noComplete);
    if (arrives) {
        if (n < 2 || n > 3)
            return false;
        // An object of another block yields no state.
        info->has_state = i->operands[at].kind != PTX_O_SINK;
        if (info->has_state)
            dst = gr_vm_dst(d, &i->operands[at], PTX_B64);
        at++;
    } else if (n != (info->op == VM_MBAR_DO_INVAL ? 1 : 2))
        return false;
    if (!address(d, &i->operands[at++], i->space, &info->at))
        return false;
    bool tx = info->op == VM_MBAR_DO_EXPECT || info->op == VM_MBAR_DO_COMPLETE || has(i, PTX_MOD_expect_tx);
    info->has_tx = tx;
    info->has_count = !tx && at < n;
    if (tx && at == n)
        return false;
    if (at < n)
        slot[tx ? 2 : 1] = gr_vm_src(d, &i->operands[at], PTX_B32);
    return emit(d, gr_vm_x_mbarrier, info, slot, dst);
}

static bool decode_mbarrier(Decoder *d, const PtxInstr *i, bool *control) {
    if (i->n_mods && i->mods[0].id == PTX_MOD_pending_count)
        return decode_pending(d, i);
    VmMbarInfo *info = GR_NEW(d->f->arena, VmMbarInfo);
    if (!info || !mbar_op(i, &info->op) ||
        !ONLY(i, i->mods[0].id, PTX_MOD_expect_tx, PTX_MOD_noComplete, PTX_MOD_parity))
        return false;
    bool wait = info->op == VM_MBAR_DO_TEST || info->op == VM_MBAR_DO_TRY;
    bool tx = info->op == VM_MBAR_DO_EXPECT || info->op == VM_MBAR_DO_COMPLETE;
    // Defaults: acquire or release, at the block's scope (9.7.13.15.13 to 16).
    info->sem = i->sem != PTX_SEM_NONE ? i->sem : tx ? PTX_RELAXED : wait ? PTX_ACQUIRE : PTX_RELEASE;
    info->scope = i->scope != PTX_SCOPE_NONE ? i->scope : PTX_SCOPE_CTA;
    *control = wait;
    return wait ? decode_mbar_wait(d, i, info) : decode_mbar_change(d, i, info);
}

// ---- st.async, red.async, st.bulk ----------------------------------------------------------------------------------

// st.async{.weak}{.shared::cluster}.mbarrier::complete_tx::bytes{.vec}.type [a], b, [mbar]
// st.async{.mmio}.release.scope{.global}.type [a], b
// red.async: the same with an operation
static bool decode_store(Decoder *d, const PtxInstr *i) {
    bool red = i->op == PTX_OP_RED, bar = has(i, PTX_MOD_mbarrier__complete_tx__bytes);
    VmStoreInfo *info = GR_NEW(d->f->arena, VmStoreInfo);
    unsigned n;
    PtxOperand tmp[8];
    if (!info || i->n_operands != (bar ? 3 : 2) ||
        !ONLY(i, PTX_MOD_async, PTX_MOD_mbarrier__complete_tx__bytes, PTX_MOD_v2, PTX_MOD_v4, PTX_MOD_and,
              PTX_MOD_or, PTX_MOD_xor, PTX_MOD_add, PTX_MOD_inc, PTX_MOD_dec, PTX_MOD_min, PTX_MOD_max))
        return false;
    // Without a space the address is generic; with an mbarrier it must then be one of shared memory.
    PtxSpace space = i->space;
    info->has_bar = bar;
    info->vec = i->vec ? i->vec : 1;
    info->elem = (uint8_t)(gr_ptx_type_bits(i->type[0]) / 8);
    if ((info->elem != 4 && info->elem != 8 && (bar || (info->elem != 1 && info->elem != 2))) ||
        info->vec > 4 || (red && (info->vec != 1 || info->elem < 4)))
        return false;
    if (red) {
        VmAtomOp op;
        if (!gr_vm_atom_op(i, i->type[0], &op) || op.cas || op.exch)
            return false;
        info->apply = op.apply;
    }
    const PtxOperand *e = gr_vm_elements(d, &i->operands[1], tmp, &n);
    if (n != info->vec)
        return false;
    for (unsigned k = 0; k < n; k++) {
        PtxType own = gr_vm_operand_type(&e[k], i->type[0]);
        info->slot[k] = gr_vm_src(d, &e[k], own);
        info->reg_bytes[k] = (uint8_t)gr_vm_lane_bytes(own);
        if (info->slot[k] == VM_NO_SLOT || info->reg_bytes[k] < info->elem)
            return false;
    }
    if (!address(d, &i->operands[0], space, &info->dst) ||
        (bar && !address(d, &i->operands[2], space, &info->bar)))
        return false;
    return emit(d, gr_vm_x_store_async, info, (const uint32_t[3]){0}, 0);
}

// st.bulk{.weak}{.shared::cta} [a], size, 0
static bool decode_st_bulk(Decoder *d, const PtxInstr *i) {
    VmAddress *dst = GR_NEW(d->f->arena, VmAddress);
    if (!dst || !ONLY(i, PTX_MOD_bulk) || i->n_operands != 3 || i->operands[2].kind != PTX_O_INT ||
        i->operands[2].bits != 0 || !address(d, &i->operands[0], i->space, dst))
        return false;
    uint32_t size = gr_vm_src(d, &i->operands[1], PTX_B64);
    return emit(d, gr_vm_x_st_bulk, dst, (const uint32_t[3]){size}, 0);
}

bool gr_vm_decode_async(Decoder *d, const PtxInstr *i, bool *control) {
    switch (i->op) {
    case PTX_OP_CP: return decode_cp(d, i);
    case PTX_OP_MBARRIER: return decode_mbarrier(d, i, control);
    case PTX_OP_RED: return has(i, PTX_MOD_async) && decode_store(d, i);
    case PTX_OP_ST:
        return has(i, PTX_MOD_async) ? decode_store(d, i) : has(i, PTX_MOD_bulk) && decode_st_bulk(d, i);
    default: return false;
    }
}
