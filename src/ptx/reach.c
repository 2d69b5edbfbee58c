// SPDX-License-Identifier: Apache-2.0
#include "ptx/reach.h"

#include "base/rng.h"

#include <string.h>

bool gr_ptx_turn_to(PtxFunc **open, PtxFunc *f) {
    if (*open == f)
        return true;
    if (*open)
        gr_ptx_close(*open);
    *open = f && gr_ptx_open(f, NULL) == GR_OK ? f : NULL;
    return *open == f;
}

// The function with its body. NULL: memory is out, and nothing is found in it.
static PtxFunc *open_of(const PtxFunc *f) {
    PtxFunc *open = NULL;
    return gr_ptx_turn_to(&open, f->module->funcs[f->index]) ? open : NULL;
}

static void close_it(PtxFunc *open) {
    if (open)
        gr_ptx_close(open);
}

bool gr_ptx_calls(const PtxFunc *f) {
    for (const PtxStmt *s = f->first; s; s = s->next)
        if (s->kind == PTX_INSTR && s->instr->op == PTX_OP_CALL)
            return true;
    return false;
}

void gr_ptx_each_reachable(const PtxFunc *f, uint32_t *stamps, uint32_t stamp, GrReached seen, void *user) {
    const PtxModule *m = f->module;
    if (stamps[f->index] == stamp)
        return;
    stamps[f->index] = stamp;
    seen(user, f);
    PtxFunc *open = open_of(f);
    for (const PtxStmt *s = open ? open->first : NULL; s; s = s->next) {
        if (s->kind != PTX_INSTR || s->instr->op != PTX_OP_CALL)
            continue;
        if (s->instr->callee) {
            gr_ptx_each_reachable(s->instr->callee, stamps, stamp, seen, user);
            continue;
        }
        for (uint32_t k = 0; k < m->n_funcs; k++)
            if (!m->funcs[k]->is_entry)
                gr_ptx_each_reachable(m->funcs[k], stamps, stamp, seen, user);
    }
    close_it(open);
}

void gr_ptx_mark_reachable(const PtxModule *m, const PtxFunc *f, bool *marked) {
    if (marked[f->index])
        return;
    marked[f->index] = true;
    PtxFunc *open = open_of(f);
    for (const PtxStmt *s = open ? open->first : NULL; s; s = s->next) {
        if (s->kind != PTX_INSTR || s->instr->op != PTX_OP_CALL)
            continue;
        if (s->instr->callee) {
            gr_ptx_mark_reachable(m, s->instr->callee, marked);
            continue;
        }
        for (uint32_t k = 0; k < m->n_funcs; k++)
            if (!m->funcs[k]->is_entry)
                gr_ptx_mark_reachable(m, m->funcs[k], marked);
    }
    close_it(open);
}

static uint64_t add_operand(uint64_t h, const PtxOperand *o) {
    h = gr_mix64(h + (uint64_t)o->kind);
    switch (o->kind) {
    case PTX_O_REG: h = gr_mix64(h ^ o->reg->index); break;
    case PTX_O_LABEL: h = gr_mix64(h ^ o->label->index); break;
    case PTX_O_INT:
    case PTX_O_F32:
    case PTX_O_F64: h = gr_mix64(h ^ o->bits); break;
    case PTX_O_SREG: h = gr_mix64(h ^ gr_hash_bytes(o->text, strlen(o->text))); break;
    default: h = gr_mix64(h ^ (uint64_t)o->offset);
    }
    for (unsigned k = 0; k < o->n_sub; k++)
        h = add_operand(h, &o->sub[k]);
    return h;
}

uint64_t gr_ptx_code_hash(const PtxFunc *f) {
    uint64_t h = gr_mix64(f->n_params + 1);
    PtxFunc *open = open_of(f);
    for (const PtxStmt *s = open ? open->first : NULL; s; s = s->next) {
        if (s->kind != PTX_INSTR || s->tag.inserted)
            continue;
        const PtxInstr *i = s->instr;
        h = gr_mix64(h ^ gr_hash_bytes(i->opcode, strlen(i->opcode)));
        for (unsigned k = 0; k < i->n_mods; k++)
            h = gr_mix64(h ^ gr_hash_bytes(i->mods[k].text, strlen(i->mods[k].text)));
        if (i->guard)
            h = gr_mix64(h + i->guard->index * 2 + i->guard_negated);
        for (unsigned k = 0; k < i->n_operands; k++)
            h = add_operand(h, &i->operands[k]);
    }
    close_it(open);
    return h;
}
