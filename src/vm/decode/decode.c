// SPDX-License-Identifier: Apache-2.0
// decode — one PtxFunc to an array of VmInsn. See decode.h for how registers and aliases are treated.
//
// At the start of every block where diverged lanes are expected to meet (the immediate post-dominator of a branch that
// may diverge) and after every call stands a rejoin instruction. Divergent instructions point to theirs.
#include "vm/core/decode.h"

#include "ptx/fate.h"
#include "vm/core/exec.h"
#include "vm/core/extend.h"
#include "vm/decode/forms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

VmInsn *gr_vm_emit(Decoder *d, VmExec full, VmExec part) {
    VmInsn n = {.exec = {full, part}, .stmt = d->stmt};
    if (!gr_vec_push(&d->code, n)) {
        d->oom = true;
        return NULL;
    }
    return &d->code.data[d->code.len - 1];
}

void gr_vm_fix_target(Decoder *d, const PtxLabel *label) {
    VmFixup f = {.insn = d->code.len - 1, .label = label->stmt, .block = UINT32_MAX};
    if (!gr_vec_push(&d->fixups, f))
        d->oom = true;
}

// The nearest block after the current one that all lanes pass and that has a rejoin instruction. For the program's own
// instructions a place where only inserted branches meet does not count: instrumentation must not bring lanes together
// that the program would let run apart. Each block on the way keeps the answer, as long functions of inserted branches
// have long ways.
static uint32_t rejoin_block(const Decoder *d, bool inserted) {
    if (d->block == UINT32_MAX)
        return UINT32_MAX;
    const bool *stands = inserted ? d->is_rejoin : d->is_program_rejoin;
    uint32_t *known = d->rejoin_of[inserted], exit = d->cfg.n_blocks - 1;
    uint32_t from = d->cfg.blocks[d->block].ipdom, b = from;
    while (b != UINT32_MAX && !known[b] && b != exit && !stands[b])
        b = d->cfg.blocks[b].ipdom;
    uint32_t found = b == UINT32_MAX || b == exit ? UINT32_MAX : known[b] ? known[b] - 2 : b;
    for (uint32_t k = from; k != b && k != UINT32_MAX; k = d->cfg.blocks[k].ipdom)
        known[k] = found + 2;
    return found;
}

static bool fix_rejoin(Decoder *d, bool inserted) {
    uint32_t b = rejoin_block(d, inserted);
    if (b == UINT32_MAX)
        return false;
    VmFixup f = {.insn = d->code.len - 1, .block = b, .rejoin = true};
    if (!gr_vec_push(&d->fixups, f))
        d->oom = true;
    return true;
}

// Gives the last instruction its rejoin point. False when that is the end of the function.
bool gr_vm_fix_rejoin(Decoder *d) {
    return fix_rejoin(d, d->f->ptx->tag.inserted || (d->stmt && d->stmt->tag.inserted));
}

// Gives the last instruction the rejoin point of lanes that the program's own instructions part.
void gr_vm_fix_program_rejoin(Decoder *d) { (void)fix_rejoin(d, false); }

static void find_rejoin_blocks(Decoder *d) {
    for (uint32_t b = 0; b + 1 < d->cfg.n_blocks; b++) {
        const CfgBlock *k = &d->cfg.blocks[b];
        if (k->n_succs >= 2 && k->ipdom != UINT32_MAX && k->ipdom != d->cfg.n_blocks - 1) {
            d->is_rejoin[k->ipdom] = true;
            if (!k->last->tag.inserted)
                d->is_program_rejoin[k->ipdom] = true;
        }
    }
}

// ---- Unknown instructions ----------------------------------------------------------------------------------

static void note_unknown(Decoder *d, const char *text) {
    for (size_t k = 0; k < d->m->unknown.len; k++)
        if (!strcmp(d->m->unknown.data[k], text))
            return;
    const char *copy = gr_arena_strdup(&d->m->arena, text);
    if (!copy || !gr_vec_push(&d->m->unknown, copy))
        d->oom = true;
}

static void emit_unknown(Decoder *d, const PtxInstr *i) {
    char text[160];
    int at = snprintf(text, sizeof text, "%s", i->opcode ? i->opcode : "?");
    for (unsigned k = 0; k < i->n_mods && at > 0 && (size_t)at < sizeof text; k++)
        at += snprintf(text + at, sizeof text - (size_t)at, ".%s", i->mods[k].text);
    note_unknown(d, text);
    VmInsn *n = gr_vm_emit(d, gr_vm_x_unknown, gr_vm_x_unknown);
    if (n)
        n->extra = gr_arena_strdup(d->f->arena, text);
}

// ---- Arithmetic --------------------------------------------------------------------------------------------

static bool decode_alu(Decoder *d, const PtxInstr *i) {
    VmAlu alu;
    memset(&alu, 0, sizeof alu);
    if (!gr_vm_alu_select(i, &alu))
        return false;
    uint32_t src[4] = {0}, dst = 0, dst2 = 0;
    unsigned at = 0;
    if (alu.dst != PTX_NOTYPE) {
        if (i->n_operands == 0)
            return false;
        const PtxOperand *o = &i->operands[at++];
        const PtxOperand *second = NULL;
        if (o->kind == PTX_O_PAIR) {
            second = &o->sub[1];
            o = &o->sub[0];
        }
        dst = gr_vm_dst(d, o, alu.dst);
        if (alu.dst2 != PTX_NOTYPE) {
            PtxOperand sink = {.kind = PTX_O_SINK};
            dst2 = gr_vm_dst(d, second ? second : &sink, alu.dst2);
        }
        if (dst == VM_NO_SLOT || dst2 == VM_NO_SLOT)
            return false;
    }
    if (i->n_operands - at < alu.n_src + (alu.skip ? 1u : 0u))
        return false;
    for (unsigned k = 0; k < alu.n_src; k++) {
        src[k] = gr_vm_src(d, &i->operands[at + k + (alu.skip && k >= alu.skip ? 1u : 0u)], alu.src[k]);
        if (src[k] == VM_NO_SLOT)
            return false;
    }
    VmInsn *n = gr_vm_emit(d, alu.exec[0], alu.exec[1]);
    if (!n)
        return true;
    n->d = dst;
    n->d2 = dst2;
    n->a = src[0];
    n->b = src[1];
    n->c = src[2];
    n->e = src[3];
    n->imm = alu.imm;
    return true;
}

// ---- One statement -----------------------------------------------------------------------------------------

// An instruction that aliases made superfluous: its only destination lives elsewhere.
static bool is_aliased(const Decoder *d, const PtxInstr *i) {
    if (i->guard || i->n_operands < 2 || (i->op != PTX_OP_MOV && i->op != PTX_OP_CVTA && i->op != PTX_OP_LD))
        return false;
    const PtxOperand *o = &i->operands[0];
    unsigned n = o->kind == PTX_O_VECTOR ? o->n_sub : 1;
    const PtxOperand *e = o->kind == PTX_O_VECTOR ? o->sub : o;
    for (unsigned k = 0; k < n; k++)
        if (e[k].kind != PTX_O_SINK && (e[k].kind != PTX_O_REG || !d->alias[e[k].reg->index].source))
            return false;
    return true;
}

static void apply_guard(Decoder *d, const PtxInstr *i, size_t first, bool control) {
    uint32_t slot = gr_vm_reg_slot(d, i->guard);
    for (size_t k = first; k < d->code.len; k++) {
        VmInsn *n = &d->code.data[k];
        n->guard = slot;
        n->guard_negated = i->guard_negated;
        if (n->exec[0] == gr_vm_x_bra || n->exec[0] == gr_vm_x_exit) { // these look at the guard themselves
            n->exec[0] = n->exec[1] = n->exec[0] == gr_vm_x_bra ? gr_vm_x_bra_if : gr_vm_x_exit_if;
            continue;
        }
        n->body[0] = n->exec[0];
        n->body[1] = n->exec[1];
        // Instructions before the last read operands, which is harmless for lanes that the guard excludes. (ldmatrix
        // and its like have collectives among them.)
        bool last = k == d->code.len - 1 || n->exec[0] == gr_vm_x_collective;
        n->exec[0] = n->exec[1] = control && last ? gr_vm_x_guard_control : gr_vm_x_guard;
    }
}

static bool decode_any(Decoder *d, const PtxInstr *i, bool *control) {
    return gr_vm_decode_ctl(d, i, control) || gr_vm_decode_sync(d, i, control) ||
           gr_vm_decode_async(d, i, control) || gr_vm_decode_mem(d, i) || gr_vm_decode_atom(d, i) ||
           gr_vm_decode_move(d, i) || decode_alu(d, i) || gr_vm_decode_video(d, i) ||
           gr_vm_decode_matrix(d, i, control) || gr_vm_decode_wmma(d, i, control) ||
           gr_vm_decode_product(d, i, control);
}

// ---- Speculated loads --------------------------------------------------------------------------------------

static bool add_speculated(Decoder *d, const PtxStmt *s, const Decisions *found) {
    VmSpeculated *p = GR_NEW(d->f->arena, VmSpeculated);
    if (!p || !gr_map_put_u64(&d->speculated, (uint64_t)(uintptr_t)s, p))
        return false;
    *p = (VmSpeculated){d->m->counts.speculated++, found->n};
    for (unsigned k = 0; k < found->n; k++) {
        uint64_t at = (uint64_t)(uintptr_t)found->at[k].at;
        PtxOperand pred = {.kind = PTX_O_REG, .reg = found->at[k].pred};
        VmDecision *n = GR_NEW(d->f->arena, VmDecision);
        if (!n)
            return false;
        *n = (VmDecision){.next = gr_map_get_u64(&d->decides, at),
                          .load = p,
                          .index = k,
                          .pred = gr_vm_src(d, &pred, PTX_PRED),
                          .negated = found->at[k].negated};
        if (!gr_map_put_u64(&d->decides, at, n))
            return false;
    }
    return true;
}

static gr_status find_speculated(Decoder *d) {
    gr_status st = GR_OK;
    DefUse uses = {0};
    bool selects = false;
    for (const PtxStmt *s = d->f->ptx->first; s && !selects; s = s->next)
        selects = s->kind == PTX_INSTR && s->instr->op == PTX_OP_SELP;
    if (!selects || d->f->ptx->tag.inserted)
        return GR_OK;
    GR_TRY(gr_defuse_build(d->f->ptx, &uses, d->err));
    for (PtxStmt *s = d->f->ptx->first; s; s = s->next) {
        Decisions found;
        if (s->kind != PTX_INSTR || s->instr->op != PTX_OP_LD || !s->site || s->tag.inserted ||
            (s->instr->sem != PTX_SEM_NONE && s->instr->sem != PTX_WEAK) || gr_used_at_once(NULL, s) ||
            !gr_decisions(&uses, &d->cfg, s, &found))
            continue;
        if (!add_speculated(d, s, &found))
            st = gr_no_memory(d->err);
    }
done:
    gr_defuse_free(&uses);
    return st;
}

static void wrap_decision(Decoder *d, const PtxStmt *s) {
    VmDecision *p = gr_map_get_u64(&d->decides, (uint64_t)(uintptr_t)s);
    if (!p)
        return;
    VmInsn *n = &d->code.data[d->code.len - 1];
    n->body[0] = n->exec[0];
    n->body[1] = n->exec[1];
    n->exec[0] = n->exec[1] = gr_vm_x_decide;
    n->extra = p;
}

static void decode_instr(Decoder *d, const PtxStmt *s) {
    const PtxInstr *i = s->instr;
    size_t first = d->code.len, fixups = d->fixups.len;
    bool control = false;
    if (d->weight < UINT16_MAX && !s->tag.inserted)
        d->weight++;
    if (is_aliased(d, i))
        return;
    bool ok = gr_vm_form_allows(i) && decode_any(d, i, &control);
    if (!ok) {
        d->code.len = first;
        d->fixups.len = fixups;
        emit_unknown(d, i);
        control = false;
    }
    if (d->code.len == first)
        return;
    if (i->guard)
        apply_guard(d, i, first, control);
    else if (ok)
        wrap_decision(d, s);
    for (size_t k = first; k < d->code.len; k++) {
        VmInsn *n = &d->code.data[k];
        n->tagged = s->tag.inserted || d->f->ptx->tag.inserted;
        n->site = s->site;
        n->weight = 0;
    }
    if (d->code.data[first].tagged)
        d->m->tagged = true;
    else
        d->code.data[d->code.len - 1].weight = d->weight;
    d->weight = 0;
    if (d->code.data[d->code.len - 1].exec[0] == gr_vm_x_call ||
        d->code.data[d->code.len - 1].body[0] == gr_vm_x_call)
        gr_vm_emit(d, gr_vm_x_rejoin, gr_vm_x_rejoin);
}

static bool decode_body(Decoder *d) {
    Map starts = {0};
    for (uint32_t b = 0; b + 1 < d->cfg.n_blocks; b++)
        if (d->cfg.blocks[b].first &&
            !gr_map_put_u64(&starts, (uint64_t)(uintptr_t)d->cfg.blocks[b].first, (void *)(uintptr_t)(b + 1)))
            d->oom = true;
    d->stmt = d->f->ptx->first;
    if (!gr_vm_spill(d))
        d->oom = true;
    for (const PtxStmt *s = d->f->ptx->first; s && !d->oom; s = s->next) {
        d->stmt = s;
        size_t b = (size_t)(uintptr_t)gr_map_get_u64(&starts, (uint64_t)(uintptr_t)s);
        if (b) {
            d->block = (uint32_t)b - 1;
            d->block_code[d->block] = (uint32_t)d->code.len;
            if (d->is_rejoin[d->block])
                gr_vm_emit(d, gr_vm_x_rejoin, gr_vm_x_rejoin);
        }
        if (s->kind == PTX_LABEL_DEF) {
            // A block starts with its labels, of which there may be several: their address is the rejoin
            // instruction if there is one.
            size_t at = d->code.len;
            if (d->block != UINT32_MAX && d->is_rejoin[d->block] && at == d->block_code[d->block] + 1)
                at--;
            if (!gr_map_put_u64(&d->address_of, (uint64_t)(uintptr_t)s, (void *)(uintptr_t)(at + 1)))
                d->oom = true;
        } else if (s->kind == PTX_INSTR)
            decode_instr(d, s);
    }
    d->stmt = d->f->ptx->last;
    gr_vm_emit(d, gr_vm_x_end, gr_vm_x_end); // falling off the end is ret
    gr_map_free(&starts);
    return !d->oom;
}

static int by_class(const void *x, const void *y) {
    const VmFill *a = x, *b = y;
    return a->cls != b->cls ? (a->cls < b->cls ? -1 : 1) : a->slot < b->slot ? -1 : a->slot > b->slot;
}

// Keeps what kernels that come to the function need of it, as their layout depends on that.
static bool keep_needs(Decoder *d) {
    VmFunc *f = d->f;
    if (f->known)
        return true;
    f->known = true;
    f->callees = GR_NEW_ARRAY(&d->m->arena, VmFunc *, d->callees.len);
    f->shared = GR_NEW_ARRAY(&d->m->arena, const PtxVar *, d->shared.len);
    if (!f->callees || !f->shared)
        return false;
    for (size_t k = 0; k < d->callees.len; k++)
        f->callees[f->n_callees++] = d->callees.data[k];
    for (size_t k = 0; k < d->shared.len; k++)
        f->shared[f->n_shared++] = d->shared.data[k];
    return true;
}

static bool finish(Decoder *d) {
    VmFunc *f = d->f;
    f->n_code = (uint32_t)d->code.len;
    size_t bytes = (d->code.len * sizeof(VmInsn) + 63) & ~(size_t)63;
    char *raw = gr_arena_alloc(f->arena, bytes + 64);
    if (!raw)
        return false;
    f->code = (VmInsn *)(void *)(((uintptr_t)raw + 63) & ~(uintptr_t)63);
    memcpy(f->code, d->code.data, d->code.len * sizeof(VmInsn));
    for (size_t k = 0; k < d->fixups.len; k++) {
        const VmFixup *x = &d->fixups.data[k];
        const VmInsn *to = NULL;
        if (x->label) {
            size_t at = (size_t)(uintptr_t)gr_map_get_u64(&d->address_of, (uint64_t)(uintptr_t)x->label);
            to = at ? &f->code[at - 1] : NULL;
        } else if (x->block != UINT32_MAX)
            to = &f->code[d->block_code[x->block]];
        if (!to)
            to = &f->code[f->n_code - 1];
        if (x->where)
            *x->where = to;
        else if (x->rejoin)
            f->code[x->insn].rejoin = to;
        else
            f->code[x->insn].target = to;
    }
    f->frame_bytes = (d->frame + 63) & ~63u;
    if (d->fills.len)
        qsort(d->fills.data, d->fills.len, sizeof(VmFill), by_class);
    f->fills = GR_NEW_ARRAY(f->arena, VmFill, d->fills.len + 1);
    if (!f->fills || !keep_needs(d))
        return false;
    f->n_static = f->n_warp = f->n_block = 0;
    for (size_t k = 0; k < d->fills.len; k++) {
        f->fills[k] = d->fills.data[k];
        f->n_static += f->fills[k].cls == VM_FILL_STATIC;
        f->n_warp += f->fills[k].cls == VM_FILL_WARP;
        f->n_block += f->fills[k].cls == VM_FILL_BLOCK;
    }
    if (!f->ptx->is_entry) {
        f->places = GR_NEW_ARRAY(f->arena, VmLanePlace, d->places.len + 1);
        if (!f->places)
            return false;
        if (d->places.len)
            memcpy(f->places, d->places.data, d->places.len * sizeof *f->places);
        f->n_places = (uint32_t)d->places.len;
    }
    f->local_bytes = (d->local_bytes + 15) & ~15u;
    return true;
}

static bool formal_slots(Decoder *d, PtxVar **vars, uint32_t n, VmParamSlot **out) {
    *out = GR_NEW_ARRAY(d->f->arena, VmParamSlot, n + 1);
    if (!*out)
        return false;
    for (uint32_t k = 0; k < n; k++) {
        if (d->f->ptx->reg_params) { // .reg parameters: the variable names a register
            for (uint32_t r = 0; r < d->f->ptx->n_regs; r++)
                if (!strcmp(d->f->ptx->regs[r]->name, vars[k]->name))
                    (*out)[k] = (VmParamSlot){.offset = gr_vm_reg_slot(d, d->f->ptx->regs[r]),
                                              .stride = gr_vm_lane_bytes(d->f->ptx->regs[r]->type)};
            continue;
        }
        const VmParamSlot *p = gr_vm_param_slot(d, vars[k]);
        if (p)
            (*out)[k] = *p;
    }
    return true;
}

void gr_vm_forget(VmFunc *f) {
    if (f->arena)
        gr_ptx_close(f->ptx);
    f->arena = NULL;
    f->code = NULL;
    f->n_code = 0;
    f->fills = NULL;
    f->places = NULL;
    f->formals = f->rets = NULL;
}

gr_status gr_vm_decode(VmFunc *f, Arena *arena, gr_error *err) {
    gr_status st = GR_OK;
    VmModule *m = f->module;
    VmCounts counts = m->counts;
    bool again = f->known;
    Decoder d = {.m = m, .f = f, .pm = f->ptx->module, .err = err, .block = UINT32_MAX};
    Arena scratch;
    gr_arena_init(&scratch);
    GR_TRY(gr_ptx_open(f->ptx, err));
    f->arena = arena;
    if (again)
        m->counts = f->first;
    else
        f->first = counts;
    GR_TRY(gr_cfg_build(f->ptx, &scratch, &d.cfg, err));
    d.is_rejoin = GR_NEW_ARRAY(&scratch, bool, d.cfg.n_blocks + 1);
    d.is_program_rejoin = GR_NEW_ARRAY(&scratch, bool, d.cfg.n_blocks + 1);
    d.block_code = GR_NEW_ARRAY(&scratch, uint32_t, d.cfg.n_blocks + 1);
    for (unsigned k = 0; k < 2; k++)
        d.rejoin_of[k] = GR_NEW_ARRAY(&scratch, uint32_t, d.cfg.n_blocks + 1);
    GR_TRY(d.is_rejoin && d.is_program_rejoin && d.block_code && d.rejoin_of[0] && d.rejoin_of[1] &&
                   gr_vm_find_spilled(&d) && gr_vm_find_aliases(&d) && gr_vm_share_slots(&d)
               ? GR_OK
               : gr_no_memory(err));
    find_rejoin_blocks(&d);
    GR_TRY(find_speculated(&d));
    if (!f->ptx->is_entry && (!formal_slots(&d, f->ptx->params, f->ptx->n_params, &f->formals) ||
                              !formal_slots(&d, f->ptx->rets, f->ptx->n_rets, &f->rets)))
        d.oom = true;
    if (d.oom || !decode_body(&d) || !finish(&d) || !gr_vm_decoded(m, f))
        st = gr_fail(err, GR_ERR_NOMEM, "out of memory while decoding %s", f->name);
done:
    if (again)
        m->counts = counts;
    if (st != GR_OK)
        gr_vm_forget(f);
    gr_arena_free(&scratch);
    free(d.slots);
    free(d.defs);
    free(d.alias);
    gr_vec_free(&d.code);
    gr_vec_free(&d.fixups);
    gr_vec_free(&d.fills);
    gr_vec_free(&d.places);
    gr_vec_free(&d.callees);
    gr_vec_free(&d.shared);
    gr_vec_free(&d.spilled);
    gr_map_free(&d.fill_of);
    gr_map_free(&d.param_of);
    gr_map_free(&d.local_of);
    gr_map_free(&d.address_of);
    gr_map_free(&d.speculated);
    gr_map_free(&d.decides);
    return st;
}
