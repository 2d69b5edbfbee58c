// SPDX-License-Identifier: Apache-2.0
#include "engines/privatizer/pass/calls.h"

#include "engines/privatizer/pass/suits.h"

#include <string.h>

static bool is_clock(const PtxOperand *o) {
    static const char *const clocks[] = {"%clock", "%globaltimer", "%pm"};
    for (size_t k = 0; o->kind == PTX_O_SREG && k < sizeof clocks / sizeof *clocks; k++)
        if (!strncmp(o->text, clocks[k], strlen(clocks[k])))
            return true;
    for (unsigned k = 0; k < o->n_sub; k++)
        if (is_clock(&o->sub[k]))
            return true;
    return false;
}

bool gr_reads_clock(const PtxInstr *i) {
    for (unsigned k = 0; k < i->n_operands; k++)
        if (is_clock(&i->operands[k]))
            return true;
    return false;
}

bool gr_is_clock(const PtxInstr *i, unsigned *half) {
    static const struct {
        const char *name;
        unsigned half;
    } clocks[] = {{"%clock", 1},       {"%clock_hi", 2},       {"%clock64", 0},
                  {"%globaltimer", 0}, {"%globaltimer_lo", 1}, {"%globaltimer_hi", 2}};
    bool reads = i->op == PTX_OP_MOV && i->n_operands == 2 && i->operands[0].kind == PTX_O_REG &&
                 i->operands[1].kind == PTX_O_SREG;
    for (size_t k = 0; reads && k < sizeof clocks / sizeof *clocks; k++)
        if (!strcmp(i->operands[1].text, clocks[k].name)) {
            *half = clocks[k].half;
            return true;
        }
    return false;
}

const char *gr_calls_instead(const PtxFunc *f) {
    static const char *const names[][2] = {{"vprintf", "print"}, {"__assertfail", "fail"}};
    for (size_t k = 0; f && !f->has_body && k < sizeof names / sizeof *names; k++)
        if (!strcmp(f->name, names[k][0]))
            return names[k][1];
    return NULL;
}

// Whether the function computes alone, if all do that it calls.
static bool is_alone(const PtxFunc *f) {
    if (!f->has_body)
        return false;
    for (const PtxStmt *s = f->first; s; s = s->next) {
        const PtxInstr *i = s->kind == PTX_INSTR ? s->instr : NULL;
        if (!i)
            continue;
        bool accesses = s->site && !gr_is_private_space(f->module->sites[s->site].space);
        // Where lanes wait for each other, the kernel's code has to see to it that none waits for ever.
        unsigned most = PTX_F_BARRIER | PTX_F_FENCE | PTX_F_ASYNC | PTX_F_ATOMIC | PTX_F_COLLECTIVE;
        if (accesses || gr_ptx_instr_flags(i) & most || i->op == PTX_OP_MBARRIER || i->op == PTX_OP_CP ||
            i->op == PTX_OP_TRAP || gr_reads_clock(i))
            return false;
    }
    return true;
}

static void take(const PtxModule *m, const char *name, bool *taken) {
    const PtxFunc *f = name ? gr_ptx_find_func(m, name) : NULL;
    if (f)
        taken[f->index] = true;
}

static void take_operand(const PtxModule *m, const PtxOperand *o, bool *taken) {
    if (o->kind == PTX_O_FUNC || o->kind == PTX_O_RAW)
        take(m, o->text, taken);
    for (unsigned k = 0; k < o->n_sub; k++)
        take_operand(m, &o->sub[k], taken);
}

// Functions whose address stands anywhere but in a call of them.
static void find_taken(const PtxModule *m, bool *taken) {
    for (uint32_t k = 0; k < m->n_vars; k++)
        for (uint32_t j = 0; j < m->vars[k]->n_init; j++)
            take(m, m->vars[k]->init[j].symbol, taken);
    for (uint32_t k = 0; k < m->n_funcs; k++)
        for (const PtxStmt *s = m->funcs[k]->first; s; s = s->next)
            for (unsigned j = 0; s->kind == PTX_INSTR && j < s->instr->n_operands; j++)
                if (s->instr->op != PTX_OP_CALL)
                    take_operand(m, &s->instr->operands[j], taken);
}

static bool calls_harmless(const PtxFunc *f, const GrCalls *c) {
    for (const PtxStmt *s = f->first; s; s = s->next) {
        const PtxInstr *i = s->kind == PTX_INSTR ? s->instr : NULL;
        if (i && i->op == PTX_OP_CALL && !(i->callee ? c->harmless[i->callee->index] : c->by_address))
            return false;
    }
    return true;
}

gr_status gr_calls_find(const PtxModule *m, Arena *arena, GrCalls *out, gr_error *err) {
    bool *taken = GR_NEW_ARRAY(arena, bool, (size_t)m->n_funcs + 1);
    out->harmless = GR_NEW_ARRAY(arena, bool, (size_t)m->n_funcs + 1);
    out->by_address = true;
    GR_NEED(taken && out->harmless, err);
    find_taken(m, taken);
    for (uint32_t k = 0; k < m->n_funcs; k++) {
        const PtxFunc *f = m->funcs[k];
        out->harmless[k] = is_alone(f);
        // A module that is linked with others may get the address of a function of theirs.
        out->by_address &= f->is_entry || f->tag.inserted || !(f->is_visible || f->is_extern || f->is_weak) ||
                           gr_calls_instead(f) != NULL;
    }
    // What may be harmless is so until something says otherwise: functions that call each other alone are.
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = 0; k < m->n_funcs; k++) {
            bool now = out->harmless[k] && calls_harmless(m->funcs[k], out);
            changed |= now != out->harmless[k];
            out->harmless[k] = now;
            if (taken[k] && !now && !m->funcs[k]->is_entry && out->by_address) {
                out->by_address = false;
                changed = true;
            }
        }
    }
    return GR_OK;
}
