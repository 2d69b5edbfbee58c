// SPDX-License-Identifier: Apache-2.0
#include "engines/collider/pass/collider_polled.h"

// red reads, but no thread learns what.
static bool polls(const PtxSite *s) {
    return s->strong && s->access != PTX_ACCESS_WRITE && s->stmt->instr->op != PTX_OP_RED;
}

static bool may_be_global(PtxSpace s) { return s == PTX_GLOBAL || s == PTX_GENERIC; }

static bool may_be_shared(PtxSpace s) { return s != PTX_GLOBAL; }

static void add_space(PolledSpaces *p, PtxSpace s) {
    p->global = p->global || may_be_global(s);
    p->shared = p->shared || may_be_shared(s);
}

PolledModule gr_polled_module(const PtxModule *m) {
    PolledModule p = {0};
    for (uint32_t k = 1; k <= m->n_sites; k++) {
        if (!polls(&m->sites[k]))
            continue;
        add_space(&p.all, m->sites[k].space);
        if (!m->sites[k].func->is_entry)
            add_space(&p.called, m->sites[k].space);
    }
    return p;
}

static const PtxOperand *address_of(const PtxStmt *s) {
    for (unsigned k = 0; k < s->instr->n_operands; k++)
        if (s->instr->operands[k].kind == PTX_O_ADDRESS)
            return &s->instr->operands[k];
    return NULL;
}

gr_status gr_polled_begin(const PtxModule *m, const PolledModule *module, const PtxFunc *f, Polled *out,
                          gr_error *err) {
    *out = (Polled){.is_kernel = f->is_entry, .any = f->is_entry ? module->called : module->all};
    if (!f->is_entry || !(module->all.global || module->all.shared))
        return GR_OK;
    GR_NEED(gr_origins_find(f, &out->arena, &out->origins), err);
    for (const PtxStmt *s = f->first; s; s = s->next) {
        const PtxSite *site = s->site && !s->tag.inserted ? &m->sites[s->site] : NULL;
        const PtxOperand *address = site && polls(site) ? address_of(s) : NULL;
        uint32_t root;
        if (!address)
            continue;
        OriginKind from = gr_origin_of(&out->origins, address, &root);
        if (from == ORIGIN_ROOT)
            out->roots |= 1u << root;
        else
            add_space(&out->any, from == ORIGIN_PRIVATE ? PTX_SHARED : site->space);
    }
    return GR_OK;
}

void gr_polled_free(Polled *p) { gr_arena_free(&p->arena); }

bool gr_is_polled(const Polled *p, const PtxSite *store, const PtxOperand *address) {
    uint32_t root = 0;
    OriginKind from = p->is_kernel ? gr_origin_of(&p->origins, address, &root) : ORIGIN_UNKNOWN;
    if (from == ORIGIN_PRIVATE || !may_be_global(store->space))
        return p->any.shared;
    if (from == ORIGIN_ROOT)
        return p->any.global || p->roots >> root & 1;
    return p->any.global || p->roots || (p->any.shared && may_be_shared(store->space));
}
