// SPDX-License-Identifier: Apache-2.0
// A race of one report, copied into another with all that it points to.
#include "report/read/merge_internal.h"
#include "report/suppress.h"

#include <string.h>

static GrFrame copy_frame(GrMerge *m, const GrFrame *f) {
    return (GrFrame){gr_merge_text(m, f->function), gr_merge_text(m, f->file), f->line, f->col};
}

static void *copy_bytes(GrMerge *m, const void *from, size_t size) {
    void *copy = from ? gr_arena_alloc(&m->to->arena, size + 1) : NULL;
    gr_merge_check(copy || !from, m);
    if (copy)
        memcpy(copy, from, size);
    return copy;
}

static const GrStack *copy_stack(GrMerge *m, const GrStack *s) {
    GrStack *copy = copy_bytes(m, s, sizeof *s);
    GrFrame *frames = copy ? copy_bytes(m, s->frames, s->n * sizeof *frames) : NULL;
    for (uint32_t k = 0; frames && k < s->n; k++)
        frames[k] = copy_frame(m, &s->frames[k]);
    if (copy)
        *copy = (GrStack){gr_merge_text(m, s->call), frames, frames ? s->n : 0};
    return copy;
}

static const GrHeld *copy_memory(GrMerge *m, const GrHeld *memory) {
    GrHeld *copy = copy_bytes(m, memory, sizeof *memory);
    if (copy) {
        copy->kind = gr_merge_text(m, memory->kind);
        copy->name = gr_merge_text(m, memory->name);
        copy->place = copy_frame(m, &memory->place);
        copy->stack = copy_stack(m, memory->stack);
    }
    return copy;
}

static GrAccess copy_access(GrMerge *m, const GrAccess *a) {
    GrAccess out = *a;
    GrFrame *inlined = copy_bytes(m, a->inlined, a->n_inlined * sizeof *inlined),
            *near = copy_bytes(m, a->near, a->near ? sizeof *near : 0);
    for (uint32_t k = 0; inlined && k < a->n_inlined; k++)
        inlined[k] = copy_frame(m, &a->inlined[k]);
    if (near)
        *near = copy_frame(m, a->near);
    out.kind = gr_merge_text(m, a->kind);
    out.at = copy_frame(m, &a->at);
    out.inlined = inlined;
    out.near = near;
    out.kernel = gr_merge_text(m, a->kernel);
    out.variable = gr_merge_text(m, a->variable);
    out.memory = copy_memory(m, a->memory);
    out.stack = copy_stack(m, a->stack);
    out.strong = gr_merge_text(m, a->strong);
    out.did = gr_merge_text(m, a->did);
    out.range = gr_merge_text(m, a->range);
    return out;
}

static uint32_t copy_class(GrMerge *m, const GrClass *class) {
    GrReport *to = m->to;
    for (size_t k = 0; k < to->classes.len; k++)
        if (!strcmp(to->classes.data[k].name, class->name) && to->classes.data[k].kind == class->kind)
            return to->classes.data[k].number;
    GrClass copy = {GR_CLASS_READ + (uint32_t)to->classes.len, gr_merge_text(m, class->name),
                    gr_merge_text(m, class->meaning), class->kind};
    gr_merge_check(gr_vec_push(&to->classes, copy), m);
    return copy.number;
}

static GrFinding copy_finding(GrMerge *m, const GrReport *from, const GrFinding *f) {
    GrFinding out = *f;
    out.class = copy_class(m, gr_report_class(from, f->class));
    out.engine = gr_merge_text(m, f->engine ? f->engine : from->engine);
    out.evidence = gr_merge_text(m, f->evidence ? f->evidence : from->evidence);
    out.kernel = gr_merge_text(m, f->kernel);
    out.module = gr_merge_text(m, f->module);
    out.space = gr_merge_text(m, f->space);
    out.order = gr_merge_text(m, f->order);
    out.detail = gr_merge_text(m, f->detail);
    GrOutcome *outcome = copy_bytes(m, f->outcome, sizeof *outcome);
    if (outcome)
        outcome->units = gr_merge_text(m, f->outcome->units);
    out.outcome = outcome;
    out.expected = copy_bytes(m, f->expected, f->size);
    out.seen = copy_bytes(m, f->seen, f->size);
    for (unsigned k = 0; k < f->n_accesses; k++)
        out.accesses[k] = copy_access(m, &f->accesses[k]);
    return out;
}

static const GrRace *copy_part(GrMerge *m, const GrReport *from, const GrRace *race) {
    GrRace *copy = copy_bytes(m, race, sizeof *race);
    if (copy)
        *copy = gr_merge_copy(m, from, race);
    return copy;
}

static const GrMet *copy_met(GrMerge *m, const GrMet *met) {
    GrMet *copy = copy_bytes(m, met, sizeof *met);
    if (copy) {
        copy->first = copy_access(m, &met->first);
        copy->other = copy_access(m, &met->other);
    }
    return copy;
}

static const GrRule *copy_rule(GrMerge *m, const GrRule *rule) {
    GrRule *copy = copy_bytes(m, rule, sizeof *rule);
    if (copy) {
        copy->text = gr_merge_text(m, rule->text);
        copy->path = gr_merge_text(m, rule->path);
        copy->why = gr_merge_text(m, rule->why);
    }
    return copy;
}

static const GrRepair *copy_repair(GrMerge *m, const GrRepair *repair) {
    GrRepair *copy = copy_bytes(m, repair, sizeof *repair);
    if (copy)
        *copy = (GrRepair){gr_merge_text(m, repair->what), gr_merge_text(m, repair->file),
                           gr_merge_text(m, repair->hunks), repair->loop};
    return copy;
}

GrRace gr_merge_copy(GrMerge *m, const GrReport *from, const GrRace *race) {
    enum { LISTED = 20 }; // kernels of which a report has the names
    GrRace out = *race;
    uint32_t n = race->n_kernels > LISTED ? LISTED : race->n_kernels;
    const char **kernels = copy_bytes(m, race->kernels, n * sizeof *kernels);
    for (uint32_t k = 0; kernels && k < n; k++)
        kernels[k] = gr_merge_text(m, race->kernels[k]);
    out.found = copy_finding(m, from, &race->found);
    out.id = gr_merge_text(m, race->id);
    out.line_id = gr_merge_text(m, race->line_id);
    out.rule = gr_merge_text(m, race->rule);
    out.seen = NULL;
    out.n_seen = 0;
    out.watched = copy_part(m, from, race->watched);
    out.witness = copy_part(m, from, race->witness);
    out.kernels = kernels;
    out.repair = copy_repair(m, race->repair);
    out.met = copy_met(m, race->met);
    out.hidden_by = copy_rule(m, race->hidden_by);
    return out;
}
