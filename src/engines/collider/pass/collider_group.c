// SPDX-License-Identifier: Apache-2.0
#include "engines/collider/pass/collider_group.h"

#include "ptx/defuse.h"

static unsigned words_of(const Access *a) {
    unsigned each = gr_access_compare_bits(a) / 32;
    return a->n * (each ? each : 1);
}

// Whatever else the instruction may do is not known to do nothing.
bool gr_group_computes(const PtxInstr *i) {
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

static bool loads_only(const PtxStmt *s) {
    const PtxInstr *i = s->instr;
    if (i->op != PTX_OP_LD && i->op != PTX_OP_LDU)
        return false;
    return i->sem == PTX_SEM_NONE || i->sem == PTX_WEAK;
}

// Whether `i` changes what the windows of the group read.
static bool disturbs(const LoadGroup *g, const PtxInstr *i) {
    for (unsigned k = 0; k < g->n; k++) {
        const Access *a = &g->loads[k];
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

gr_status gr_group_close(ColliderWork *w, LoadGroup *g, PtxStmt *at) {
    gr_status st = GR_OK;
    unsigned n = g->n;
    g->n = g->words = 0;
    if (!n)
        return GR_OK;
    Gate gate;
    GR_TRY(gr_pace_open(w, &g->loads[0], at, &gate));
    for (unsigned k = 0; k < n; k++) {
        Access *a = &g->loads[k];
        a->before = a->after = a->report = gate.at; // nothing that they read has changed since
        GR_TRY(gr_collider_prepare(a));
    }
    GR_TRY(gr_collider_loads(w, g->loads, n, gate.at, NULL));
    GR_TRY(gr_pace_close(&g->loads[0], &gate));
done:
    return st;
}

gr_status gr_group_step(ColliderWork *w, LoadGroup *g, PtxStmt *s) {
    if (!g->n || s->kind == PTX_LOC || s->kind == PTX_PRAGMA)
        return GR_OK;
    bool on =
        s->kind == PTX_INSTR && (gr_group_computes(s->instr) || loads_only(s)) && !disturbs(g, s->instr);
    PtxStmt *at = s;
    if (!on)
        (void)gr_ptx_used_bytes(s, &at); // a load's pragma belongs to it
    return on ? GR_OK : gr_group_close(w, g, at);
}

gr_status gr_group_load(ColliderWork *w, LoadGroup *g, Access *a, const Speculation *spec) {
    gr_status st = GR_OK;
    bool used = false, alone = spec || a->nested || !w->pace;
    for (unsigned k = 0; k < a->n; k++) {
        used = used || a->used[k];
        alone = alone || (a->value[k]->kind == PTX_O_REG && a->address.sub[0].kind == PTX_O_REG &&
                          a->value[k]->reg == a->address.sub[0].reg); // it changes its own address
    }
    if (!used)
        return GR_OK;
    unsigned words = words_of(a);
    if (g->n && (alone || g->n == GROUP_LOADS || g->words + words > GROUP_WORDS ||
                 a->stmt->instr->guard != g->loads[0].stmt->instr->guard ||
                 a->stmt->instr->guard_negated != g->loads[0].stmt->instr->guard_negated))
        GR_TRY(gr_group_close(w, g, a->before));
    if (!alone) {
        g->loads[g->n++] = *a;
        g->words += words;
        return GR_OK;
    }
    GR_TRY(gr_collider_load(w, a, spec));
done:
    return st;
}
