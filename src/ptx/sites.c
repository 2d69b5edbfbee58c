// SPDX-License-Identifier: Apache-2.0
// sites — which statements access memory, how, and their numbers.
//
// Everything that reads or writes memory is a site, so that an engine can say of each whether it was checked. No sites
// are parameters (ld.param, st.param), mbarrier operations (synchronization objects), prefetches, and the tool's own
// inserted statements and functions.
#include "ptx/parser.h"

#include <stdlib.h>
#include <string.h>

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
        s->strong = s->strong ||
                    (f & PTX_F_ATOMIC); // .ld_reduce and .st are weak unless they say otherwise (9.7.9.17)
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

bool gr_sites_of(PtxFunc *f, PtxSites *sites) {
    bool ok = sites->len || gr_vec_push(sites, (PtxSite){0}); // sites[0] is unused
    for (PtxStmt *s = f->tag.inserted ? NULL : f->first; s && ok; s = s->next) {
        if (s->kind != PTX_INSTR || s->tag.inserted ||
            !(gr_ptx_op_flags(s->instr->op) & (PTX_F_READS | PTX_F_WRITES)))
            continue;
        PtxSite site = {.id = (uint32_t)sites->len,
                        .func = f,
                        .stmt = s,
                        .loc = s->loc,
                        .op = s->instr->op,
                        .scope = s->instr->scope};
        s->site = 0;
        if (!classify(s->instr, &site))
            continue;
        s->site = site.id;
        ok = gr_vec_push(sites, site);
    }
    return ok;
}

gr_status gr_sites_take(PtxModule *m, PtxSites *sites, gr_error *err) {
    bool ok = sites->len || gr_vec_push(sites, (PtxSite){0});
    m->sites = ok ? GR_NEW_ARRAY(&m->arena, PtxSite, sites->len) : NULL;
    GR_NEED(m->sites, err);
    memcpy(m->sites, sites->data, sites->len * sizeof *m->sites);
    m->n_sites = (uint32_t)sites->len - 1;
    return GR_OK;
}

gr_status gr_ptx_number_sites(PtxModule *m, gr_error *err) {
    PtxSites sites = {0};
    bool ok = true;
    // Source order is the order of the items: a linked runtime's functions come last by index.
    for (PtxItem *item = m->items; item && ok; item = item->next)
        ok = item->kind != PTX_ITEM_FUNC || gr_sites_of(item->func, &sites);
    gr_status st = ok ? gr_sites_take(m, &sites, err) : gr_no_memory(err);
    gr_vec_free(&sites);
    return st;
}

uint64_t gr_ptx_used_bytes(const PtxStmt *s, PtxStmt **pragma) {
    for (PtxStmt *p = s->prev; p; p = p->prev) {
        if (p->kind == PTX_LOC)
            continue;
        if (p->kind != PTX_PRAGMA || !p->text)
            break;
        const char *at = strstr(p->text, "used_bytes_mask");
        if (pragma) // several may stand before one instruction; code goes before the first
            *pragma = p;
        if (at)
            return strtoull(at + strlen("used_bytes_mask"), NULL, 0);
    }
    return UINT64_MAX;
}
