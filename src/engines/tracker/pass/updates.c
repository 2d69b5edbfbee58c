// SPDX-License-Identifier: Apache-2.0
#include "engines/tracker/pass/updates.h"

#include "engines/tracker/device/record.h"
#include "engines/tracker/pass/order.h"

enum {
    BACK = 64,                            // statements to look back; code that nvcc makes has the load near
    SITES_BACK = 1u << GR_WHAT_BACK_BITS, // further back than a call can say
};

static bool is_weak(const PtxSite *site, PtxOp op) {
    return site->stmt->instr->op == op && !site->strong && !site->async && !site->stmt->instr->guard;
}

static bool same_line(const PtxLoc *a, const PtxLoc *b) {
    return a == b || (a && b && a->file == b->file && a->line == b->line && a->inlined_at == b->inlined_at);
}

static bool same_address(const PtxOperand *a, const PtxOperand *b) {
    return a->kind == PTX_O_ADDRESS && a->n_sub == 1 && a->offset == b->offset &&
           a->sub[0].kind == b->sub[0].kind &&
           ((a->sub[0].kind == PTX_O_REG && a->sub[0].reg == b->sub[0].reg) ||
            (a->sub[0].kind == PTX_O_VAR && a->sub[0].var == b->sub[0].var));
}

// The load and the store touch the same bytes.
static bool same_bytes(const Access *load, const Access *store) {
    if (load->n * load->bytes != store->n * store->bytes)
        return false;
    for (unsigned k = 0; k < load->n; k++)
        if (load->bytes < 8 ? ~load->used[k] & ((UINT64_C(1) << load->bytes * 8) - 1) : ~load->used[k])
            return false;
    return true;
}

// The load that the store of `to` may tell of; 0: none. A thread that comes to the store has passed all statements that
// this looks at.
static uint32_t load_before(const PtxModule *m, const Access *to) {
    const PtxOperand *address = &to->address;
    const PtxReg *base = address->sub[0].kind == PTX_O_REG ? address->sub[0].reg : NULL;
    const PtxStmt *s = to->stmt->prev;
    for (unsigned n = 0; s && n < BACK; n++, s = s->prev) {
        if (s->kind == PTX_LOC || s->kind == PTX_PRAGMA)
            continue;
        if (s->kind != PTX_INSTR || gr_tracker_synchronizes(m, s) ||
            gr_ptx_instr_flags(s->instr) & (PTX_F_BRANCH | PTX_F_EXIT) ||
            (base && gr_ptx_instr_writes(s->instr, base)))
            return 0;
        const PtxSite *site = s->site ? &m->sites[s->site] : NULL;
        if (site && is_weak(site, PTX_OP_LD) && site->space == to->site->space && s->instr->n_operands > 1 &&
            same_address(&s->instr->operands[1], address))
            return same_line(s->loc, to->stmt->loc) ? s->site : 0;
    }
    return 0;
}

void gr_updates_find(const PtxFunc *f, const DefUse *uses, const Cfg *g, const GrSiteStatus *status,
                     const bool *still, Updates *out) {
    const PtxModule *m = f->module;
    for (PtxStmt *s = f->first; s; s = s->next) {
        Access store, load;
        Speculation spec;
        Decisions decisions;
        if (s->kind != PTX_INSTR || s->tag.inserted || !s->site || gr_site_is_left_alone(status[s->site]) ||
            !is_weak(&m->sites[s->site], PTX_OP_ST) ||
            gr_access_read_any(&m->sites[s->site], &store) != GR_SITE_CHECKED)
            continue;
        uint32_t from = load_before(m, &store);
        if (!from || from > s->site || s->site - from >= SITES_BACK || out->told[from] || still[from] ||
            gr_site_is_left_alone(status[from]) ||
            gr_access_read_any(&m->sites[from], &load) != GR_SITE_CHECKED || !same_bytes(&load, &store) ||
            gr_speculated(uses, load.stmt, &spec) || gr_decisions(uses, g, load.stmt, &decisions))
            continue;
        out->load_of[s->site] = from;
        out->told[from] = true;
    }
}
