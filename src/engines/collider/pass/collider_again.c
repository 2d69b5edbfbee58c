// SPDX-License-Identifier: Apache-2.0
#include "engines/collider/pass/collider_again.h"

#include "ptx/defuse.h"

#include <string.h>

unsigned gr_again_words(const Access *a) {
    unsigned each = gr_access_compare_bits(a) / 32;
    return a->n * (each ? each : 1);
}

// Whatever else the instruction may do is not known to do nothing.
bool gr_again_computes(const PtxInstr *i) {
    switch (i->op) {
    case PTX_OP_MOV: // of vectors, too
    case PTX_OP_DIV:
    case PTX_OP_REM:
    case PTX_OP_LOP3:
    case PTX_OP_SHF:
    case PTX_OP_BFE:
    case PTX_OP_BFI:
    case PTX_OP_PRMT:
    case PTX_OP_CVTA:
    case PTX_OP_SETP:
    case PTX_OP_SET:
    case PTX_OP_SELP:
    case PTX_OP_RCP:
    case PTX_OP_SQRT:
    case PTX_OP_RSQRT:
    case PTX_OP_SIN:
    case PTX_OP_COS:
    case PTX_OP_LG2:
    case PTX_OP_EX2: return true;
    default: return gr_defuse_is_pure(i);
    }
}

bool gr_again_loads(const PtxInstr *i) {
    return (i->op == PTX_OP_LD || i->op == PTX_OP_LDU) && (i->sem == PTX_SEM_NONE || i->sem == PTX_WEAK);
}

bool gr_again_disturbs(const Access *loads, unsigned n, const PtxInstr *i) {
    for (unsigned k = 0; k < n; k++) {
        const Access *a = &loads[k];
        const PtxOperand *base = &a->address.sub[0];
        const PtxReg *guard = a->stmt->instr->guard;
        if ((base->kind == PTX_O_REG && gr_ptx_instr_writes(i, base->reg)) ||
            (guard && gr_ptx_instr_writes(i, guard)))
            return true;
        for (unsigned v = 0; v < a->n; v++)
            if (a->value[v]->kind == PTX_O_REG && gr_ptx_instr_writes(i, a->value[v]->reg))
                return true;
    }
    return false;
}

// An access that orders nothing: of an atomic operation no semantics is .relaxed.
static bool orders_nothing(const PtxInstr *i) {
    if (i->op != PTX_OP_LD && i->op != PTX_OP_ST && i->op != PTX_OP_ATOM && i->op != PTX_OP_RED)
        return false;
    return i->sem == PTX_SEM_NONE || i->sem == PTX_WEAK || i->sem == PTX_RELAXED || i->sem == PTX_VOLATILE;
}

void gr_again_step(Again *g, const PtxStmt *s) {
    if (!g->n || s->kind == PTX_LOC || s->kind == PTX_PRAGMA)
        return;
    const PtxInstr *i = s->kind == PTX_INSTR ? s->instr : NULL;
    if (!i || (g->over && !g->told) || gr_again_disturbs(g->loads, g->n, i))
        g->n = 0;
    g->over = NULL;
    if (!g->n || gr_again_computes(i) || gr_again_loads(i))
        return;
    if (i->op == PTX_OP_BRA && i->guard) // a thread that goes on comes from here
        return;
    g->told = false;
    g->over = s;
    if (!orders_nothing(i))
        g->n = 0;
}

// Whether what is known may be looked at in a window that opens by `open`; if not, it is forgotten.
static bool opens_with(Again *g, const PtxReg *open) {
    if (g->open != open)
        g->n = 0;
    return g->n > 0;
}

void gr_again_take(Again *g, const Access *loads, unsigned n, const PtxReg *open, bool in_loop) {
    unsigned words = 0, most = in_loop ? AGAIN_IN_LOOP : AGAIN_WORDS;
    for (unsigned k = 0; k < n; k++)
        words += gr_again_words(&loads[k]);
    if (in_loop || !opens_with(g, open) || g->n + n > AGAIN_LOADS || g->words + words > most)
        g->n = g->words = 0;
    g->open = open;
    g->over = NULL;
    if (loads->nested || n > AGAIN_LOADS || words > most)
        return;
    memcpy(g->loads + g->n, loads, n * sizeof *loads);
    g->n += n;
    g->words += words;
}

// Whether one place has one address.
static bool has_address(const Access *a) {
    const PtxInstr *i = a->stmt->instr;
    if ((a->site->space != PTX_GLOBAL && a->site->space != PTX_SHARED) || a->address.kind != PTX_O_ADDRESS ||
        a->address.n_sub != 1 || !a->bytes)
        return false;
    for (unsigned k = 0; k < i->n_mods; k++)
        if (i->mods[k].id == PTX_MOD_async ||
            (i->mods[k].text && !strcmp(i->mods[k].text, "shared::cluster")))
            return false;
    return true;
}

// The bytes overlap where 0 <= by - load + bytes of `by` - 1 < bytes of both - 1.
static gr_status put_touches(Access *load, const Access *by, PtxStmt *at) {
    PtxReg *x, *y, *other = gr_ptx_new_reg(by->func, PTX_PRED);
    unsigned stored = (by->n ? by->n : 1) * by->bytes, loaded = load->n * load->bytes;
    GR_MUST(gr_access_address64(by, at, &x));
    GR_MUST(gr_access_address64(load, at, &y));
    GR_PUT(by, at, "sub.s64 %s, %s, %s; add.s64 %s, %s, %u; setp.ge.u64 %s, %s, %u;", x->name, x->name,
           y->name, x->name, x->name, stored - 1, other->name, x->name, loaded + stored - 1);
    if (load->guard)
        GR_PUT(by, at, "and.pred %s, %s, %s;", other->name, other->name, load->guard->name);
    load->guard = other;
    return GR_OK;
}

gr_status gr_again_over(Again *g, const Access *by, PtxStmt *at, const PtxReg *open) {
    if (g->over != by->stmt || by->nested || !has_address(by))
        g->n = 0;
    if (!opens_with(g, open))
        return GR_OK;
    unsigned kept = 0;
    for (unsigned k = 0; k < g->n; k++) {
        Access *load = &g->loads[k];
        if (!has_address(load))
            continue;
        if (load->site->space == by->site->space && by->site->access != PTX_ACCESS_READ)
            GR_MUST(put_touches(load, by, at));
        g->loads[kept++] = *load;
    }
    g->n = kept;
    g->told = true;
    return GR_OK;
}

gr_status gr_again_look(ColliderWork *w, Again *g, const Access *by, PtxStmt *at, const PtxReg *open) {
    if (g->over != by->stmt || by->nested)
        g->n = 0;
    return opens_with(g, open) ? gr_collider_looks(w, g->loads, g->n, at, NULL) : GR_OK;
}
