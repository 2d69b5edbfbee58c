// SPDX-License-Identifier: Apache-2.0
// sites — which statements access memory, how, and their numbers.
//
// Everything that reads or writes memory is a site, so that an engine can say of each whether it was checked. What
// is not: parameters (ld.param, st.param), mbarrier operations (synchronization objects), prefetches, and the
// tool's own inserted statements and functions.
#include "ptx/ptx.h"

static bool is_param(PtxSpace s) { return s == PTX_PARAM || s == PTX_PARAM_ENTRY || s == PTX_PARAM_FUNC; }

static uint32_t immediate(const PtxInstr *i, unsigned k) {
    return k < i->n_operands && i->operands[k].kind == PTX_O_INT ? (uint32_t)i->operands[k].bits : 0;
}

// Bytes one lane touches, of ld, st, atom, red and whatever else has one type and a vector width.
static uint32_t typed_size(const PtxInstr *i) { return gr_ptx_type_bits(i->type[0]) / 8 * i->vec; }

static void classify_copy(const PtxInstr *i, PtxSite *s) {
    s->copy = s->async = true;
    s->access = i->op == PTX_OP_CP && gr_ptx_instr_has(i, PTX_MOD_reduce) ? PTX_ACCESS_RMW : PTX_ACCESS_WRITE;
    s->src_space = i->space2;
    // cp.async.ca.shared.global [dst], [src], 16: only this form's size is certain to be an operand at that place.
    if (i->op == PTX_OP_CP && !gr_ptx_instr_has(i, PTX_MOD_bulk))
        s->size = immediate(i, 2);
    else if (i->op == PTX_OP_CP && !gr_ptx_instr_has(i, PTX_MOD_tensor))
        s->size = immediate(i, 2);
}

// False when the statement accesses nothing an engine could care for.
static bool classify(const PtxInstr *i, PtxSite *s) {
    unsigned f = gr_ptx_instr_flags(i);
    if (!(f & (PTX_F_READS | PTX_F_WRITES)))
        return false;
    s->space = i->space;
    s->access = (f & PTX_F_ATOMIC)                        ? PTX_ACCESS_RMW
                : (f & PTX_F_READS) && (f & PTX_F_WRITES) ? PTX_ACCESS_RMW
                : (f & PTX_F_READS)                       ? PTX_ACCESS_READ
                                                          : PTX_ACCESS_WRITE;
    s->async = f & PTX_F_ASYNC;
    s->strong = i->sem != PTX_SEM_NONE && i->sem != PTX_WEAK;
    switch (i->op) {
    case PTX_OP_LD:
    case PTX_OP_LDU:
    case PTX_OP_ST:
        if (is_param(i->space))
            return false;
        // st.bulk [a], size, 0 (9.7.9.13)
        s->size = i->n_mods && i->mods[0].id == PTX_MOD_bulk ? immediate(i, 1) : typed_size(i);
        return true;
    case PTX_OP_ATOM:
    case PTX_OP_RED:
        s->strong = true; // without a semantics they are .relaxed (9.7.13.5)
        s->size = typed_size(i);
        return true;
    case PTX_OP_MULTIMEM:
        s->strong = true;
        s->size = typed_size(i);
        if (f & PTX_F_ASYNC)
            classify_copy(i, s);
        return true;
    case PTX_OP_CP: classify_copy(i, s); return true;
    case PTX_OP_LDMATRIX:
    case PTX_OP_STMATRIX:
        s->size = 16; // each address is that of a row of eight 16-bit elements (9.7.14.5.15)
        return true;
    case PTX_OP_WMMA: return true;
    case PTX_OP_TENSORMAP: return true;
    case PTX_OP_TEX:
    case PTX_OP_TLD4:
    case PTX_OP_SULD:
    case PTX_OP_SUST:
    case PTX_OP_SURED: s->space = PTX_SPACE_OTHER; return true;
    case PTX_OP_WGMMA:   // reads shared memory through descriptors
    case PTX_OP_TCGEN05: // tensor memory, and shared memory through descriptors
        s->space = i->op == PTX_OP_WGMMA ? PTX_SHARED_CTA : PTX_TMEM;
        return true;
    default: return true;
    }
}

gr_status gr_ptx_number_sites(PtxModule *m, gr_error *err) {
    // Counted first, in source order, which is the order of the items (a linked runtime's functions have other indices).
    PtxSite probe;
    for (int pass = 0; pass < 2; pass++) {
        uint32_t n = 0;
        for (PtxItem *item = m->items; item; item = item->next) {
            PtxFunc *f = item->kind == PTX_ITEM_FUNC ? item->func : NULL;
            if (!f || f->tag.inserted)
                continue;
            for (PtxStmt *s = f->first; s; s = s->next) {
                if (s->kind != PTX_INSTR || s->tag.inserted)
                    continue;
                probe = (PtxSite){0};
                s->site = 0;
                if (!classify(s->instr, &probe))
                    continue;
                s->site = probe.id = ++n;
                probe.func = f;
                probe.stmt = s;
                if (pass == 1)
                    m->sites[n] = probe;
            }
        }
        if (pass == 1)
            break;
        m->n_sites = n;
        if (!(m->sites = GR_NEW_ARRAY(&m->arena, PtxSite, (size_t)n + 1)))
            return gr_fail(err, GR_ERR_NOMEM, "out of memory");
    }
    return GR_OK;
}
