// SPDX-License-Identifier: Apache-2.0
#include "engines/collider/pass/collider_group.h"

#include "engines/collider/pass/collider_segment.h"

gr_status gr_group_close(ColliderWork *w, LoadGroup *g, PtxStmt *at) {
    unsigned n = g->n;
    g->n = g->words = 0;
    if (!n)
        return GR_OK;
    Gate gate;
    GR_MUST(gr_pace_open(w, &g->loads[0], at, &gate));
    for (unsigned k = 0; k < n; k++) {
        Access *a = &g->loads[k];
        a->before = a->after = a->report = gate.at; // nothing that they read has changed since
        GR_MUST(gr_collider_prepare(a));
    }
    GR_MUST(gr_collider_loads(w, g->loads, n, gate.at, NULL));
    for (unsigned k = 0; k < n; k++)
        GR_MUST(gr_segment_keep_load(w, &g->loads[k], gate.at));
    GR_MUST(gr_pace_close(&g->loads[0], &gate));
    if (w->o->write_delay_ns > 1 && !w->brief) // else there is no wait in which to look
        gr_again_take(w->again, g->loads, n, gate.open, w->pace->depth[w->pace->block]);
    return GR_OK;
}

gr_status gr_group_step(ColliderWork *w, LoadGroup *g, PtxStmt *s) {
    if (!g->n || s->kind == PTX_LOC || s->kind == PTX_PRAGMA)
        return GR_OK;
    bool on = s->kind == PTX_INSTR && (gr_again_computes(s->instr) || gr_again_loads(s->instr)) &&
              !gr_again_disturbs(g->loads, g->n, s->instr);
    PtxStmt *at = s;
    if (!on)
        (void)gr_ptx_used_bytes(s, &at); // a load's pragma belongs to it
    return on ? GR_OK : gr_group_close(w, g, at);
}

gr_status gr_group_load(ColliderWork *w, LoadGroup *g, Access *a, const Speculation *spec) {
    bool used = false, alone = spec || a->nested || !w->pace;
    for (unsigned k = 0; k < a->n; k++) {
        used = used || a->used[k];
        alone = alone || (a->value[k]->kind == PTX_O_REG && a->address.sub[0].kind == PTX_O_REG &&
                          a->value[k]->reg == a->address.sub[0].reg); // it changes its own address
    }
    if (!used)
        return GR_OK;
    unsigned words = gr_again_words(a);
    if (g->n && (alone || g->n == GROUP_LOADS || g->words + words > GROUP_WORDS ||
                 a->stmt->instr->guard != g->loads[0].stmt->instr->guard ||
                 a->stmt->instr->guard_negated != g->loads[0].stmt->instr->guard_negated))
        GR_MUST(gr_group_close(w, g, a->before));
    if (!alone) {
        g->loads[g->n++] = *a;
        g->words += words;
        return GR_OK;
    }
    return gr_collider_load(w, a, spec);
}
