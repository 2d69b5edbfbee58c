// SPDX-License-Identifier: Apache-2.0
#include "passes/named.h"

#include <string.h>

enum { DEEPEST = 48 }; // registers on the way; further back nothing is looked for

// What a register holds.
typedef enum What { NUMBER, NAME, UNKNOWN } What;

struct NamedValue {
    uint8_t state, what; // state: NEW, ON_THE_WAY, DONE
    NamedAs name;
};
typedef struct NamedValue Value;
enum { NEW, ON_THE_WAY, DONE };

static const Value number = {.what = NUMBER}, unknown = {.what = UNKNOWN};

static void add_def(Named *n, const PtxOperand *to, const PtxInstr *i, uint32_t *last) {
    if (to->kind == PTX_O_VECTOR || to->kind == PTX_O_PAREN || to->kind == PTX_O_PAIR) {
        for (unsigned k = 0; k < to->n_sub; k++)
            add_def(n, &to->sub[k], i, last);
        return;
    }
    if (to->kind != PTX_O_REG || to->reg->index >= n->f->n_regs)
        return;
    n->defs[*last] = i;
    n->next[*last] = n->first[to->reg->index];
    n->first[to->reg->index] = ++*last;
}

static uint32_t count_dsts(const PtxOperand *to) {
    uint32_t count = to->kind == PTX_O_REG;
    for (unsigned k = 0; to->kind != PTX_O_ADDRESS && k < to->n_sub; k++)
        count += count_dsts(&to->sub[k]);
    return count;
}

static bool has_dst(const PtxStmt *s) {
    return s->kind == PTX_INSTR && !s->tag.inserted && s->instr->n_operands &&
           !(gr_ptx_op_flags(s->instr->op) & PTX_F_NO_DST);
}

bool gr_named_index(const PtxFunc *f, Arena *arena, Named *out) {
    uint32_t all = 0, last = 0;
    for (const PtxStmt *s = f->first; s; s = s->next)
        if (has_dst(s))
            all += count_dsts(&s->instr->operands[0]);
    *out = (Named){.f = f,
                   .first = GR_NEW_ARRAY(arena, uint32_t, (size_t)f->n_regs + 1),
                   .next = GR_NEW_ARRAY(arena, uint32_t, (size_t)all + 1),
                   .defs = GR_NEW_ARRAY(arena, const PtxInstr *, (size_t)all + 1),
                   .values = GR_NEW_ARRAY(arena, Value, (size_t)f->n_regs + 1),
                   .n_defs = all};
    if (!out->first || !out->next || !out->defs || !out->values)
        return false;
    for (const PtxStmt *s = f->first; s; s = s->next)
        if (has_dst(s))
            add_def(out, &s->instr->operands[0], s->instr, &last);
    return true;
}

// Joins two values that one register may hold.
static Value join(Value a, Value b) {
    if (a.what == NUMBER || b.what == NUMBER)
        return a.what == NUMBER ? b : a;
    bool same = a.what == NAME && b.what == NAME && a.name.variable == b.name.variable &&
                a.name.argument == b.name.argument;
    return same ? a : unknown;
}

// A sum: a variable stays a place whatever is added to it; a parameter may be a pointer or a number.
static Value sum(Value a, Value b) {
    if (a.what == UNKNOWN && b.what == NAME && b.name.variable)
        return b;
    return b.what == UNKNOWN && a.what == NAME && a.name.variable ? a : join(a, b);
}

static Value of_reg(const Named *n, const PtxReg *r, unsigned deep);

static Value of_variable(const PtxVar *v) {
    return v->space == PTX_PARAM || v->space == PTX_PARAM_ENTRY || v->space == PTX_PARAM_FUNC
               ? unknown
               : (Value){.what = NAME, .name.variable = v};
}

static Value of_operand(const Named *n, const PtxOperand *v, unsigned deep) {
    switch (v->kind) {
    case PTX_O_INT:
    case PTX_O_SREG: return number;
    case PTX_O_REG: return v->elem ? unknown : of_reg(n, v->reg, deep + 1);
    case PTX_O_VAR: return of_variable(v->var);
    default: return unknown;
    }
}

// The value of a load: a kernel's pointer parameter names it; a pointer that lies in memory has no name.
static Value loaded(const Named *n, const PtxInstr *i) {
    const PtxOperand *at = i->n_operands > 1 ? &i->operands[1] : NULL;
    if (gr_ptx_type_bits(i->type[0]) < 64)
        return number;
    if (!at || at->kind != PTX_O_ADDRESS || at->n_sub != 1 || at->sub[0].kind != PTX_O_VAR || !n->f->is_entry)
        return unknown;
    for (uint32_t k = 0; k < n->f->n_params; k++)
        if (n->f->params[k] == at->sub[0].var)
            return (Value){.what = NAME, .name.argument = k + 1};
    return unknown;
}

static Value computed(const Named *n, const PtxInstr *i, const PtxReg *to, unsigned deep) {
    const PtxOperand *o = i->operands;
    switch (i->op) {
    case PTX_OP_LD:
    case PTX_OP_LDU: return loaded(n, i);
    case PTX_OP_MOV:
    case PTX_OP_CVTA:
    case PTX_OP_CVT:
    case PTX_OP_AND: return i->n_operands > 1 ? of_operand(n, &o[1], deep) : unknown;
    case PTX_OP_ADD:
    case PTX_OP_SUB:
    case PTX_OP_OR:
        return i->n_operands > 2 ? sum(of_operand(n, &o[1], deep), of_operand(n, &o[2], deep)) : unknown;
    case PTX_OP_SELP:
        return i->n_operands > 2 ? join(of_operand(n, &o[1], deep), of_operand(n, &o[2], deep)) : unknown;
    case PTX_OP_MAD: return i->n_operands > 3 ? of_operand(n, &o[3], deep) : unknown;
    case PTX_OP_MUL:
    case PTX_OP_SHL:
    case PTX_OP_SHR:
    case PTX_OP_DIV:
    case PTX_OP_REM: return number; // no place is a multiple of another
    default: return gr_ptx_type_bits(to->type) < 64 ? number : unknown;
    }
}

static Value of_reg(const Named *n, const PtxReg *r, unsigned deep) {
    if (deep > DEEPEST || r->index >= n->f->n_regs)
        return unknown;
    Value *v = &n->values[r->index];
    if (v->state == ON_THE_WAY) // a loop: what it adds to a place is no other place
        return number;
    if (v->state == DONE)
        return *v;
    uint32_t def = n->first[r->index];
    Value all = def ? number : unknown;
    v->state = ON_THE_WAY;
    for (; def && all.what != UNKNOWN; def = n->next[def - 1])
        all = join(all, computed(n, n->defs[def - 1], r, deep));
    all.state = DONE;
    *v = all;
    return all;
}

NamedAs gr_named_at(const Named *n, const PtxStmt *s) {
    const PtxInstr *i = s->instr;
    for (unsigned k = 0; k < i->n_operands; k++) {
        const PtxOperand *at = &i->operands[k];
        if (at->kind != PTX_O_ADDRESS)
            continue;
        Value v = at->n_sub == 1 ? of_operand(n, &at->sub[0], 0) : unknown;
        return v.what == NAME ? v.name : (NamedAs){.argument = 0};
    }
    return (NamedAs){.argument = 0};
}
