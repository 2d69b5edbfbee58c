// SPDX-License-Identifier: Apache-2.0
#include "passes/origin.h"

// What a register holds. The order is that of knowledge: joining two of different kinds gives a higher one.
enum { NOTHING, NUMBER, PRIVATE, ROOT, UNKNOWN = ROOT + ORIGIN_ROOTS };

static bool is_root(uint8_t v) { return v >= ROOT && v < UNKNOWN; }

static uint8_t root_of(Origins *o, const PtxVar *var, int64_t offset) {
    for (uint32_t k = 0; k < o->n_roots; k++)
        if (o->roots[k].var == var && o->roots[k].offset == offset)
            return (uint8_t)(ROOT + k);
    if (o->n_roots == ORIGIN_ROOTS)
        return UNKNOWN;
    o->roots[o->n_roots] = (OriginRoot){var, offset, var->is_ptr || var->space == PTX_GLOBAL};
    return (uint8_t)(ROOT + o->n_roots++);
}

// Joins what a register may hold. A null pointer and a number are no other place.
static uint8_t join(uint8_t a, uint8_t b) {
    if (a == b || b == NOTHING || (b == NUMBER && a != NOTHING))
        return a;
    return a <= NUMBER ? b : UNKNOWN;
}

// A sum of a place and a number is the place; of two parameters one is the pointer and the other a number.
static uint8_t sum(const Origins *o, uint8_t a, uint8_t b) {
    if (a == NOTHING || b == NOTHING)
        return NOTHING;
    if (is_root(a) && is_root(b) && a != b && o->roots[a - ROOT].pointer != o->roots[b - ROOT].pointer)
        return o->roots[a - ROOT].pointer ? a : b;
    return a == NUMBER ? b : b == NUMBER ? a : UNKNOWN;
}

static uint8_t value_of(Origins *o, const PtxOperand *v) {
    switch (v->kind) {
    case PTX_O_INT:
    case PTX_O_SREG: return NUMBER;
    case PTX_O_REG:
        if (v->elem || v->negated || v->reg->index >= o->n_regs)
            return UNKNOWN;
        return gr_ptx_type_bits(v->reg->type) < 64 ? NUMBER : o->regs[v->reg->index];
    case PTX_O_VAR:
        // The size of a variable of another module is not known here.
        return v->var->space == PTX_GLOBAL
                   ? v->var->is_extern || !v->var->size ? UNKNOWN : root_of(o, v->var, 0)
                   : PRIVATE;
    default: return UNKNOWN;
    }
}

static bool is_parameter(const PtxFunc *f, const PtxVar *v) {
    for (uint32_t k = 0; k < f->n_params; k++)
        if (f->params[k] == v)
            return f->is_entry;
    return false;
}

// What element `k` of a load is.
static uint8_t loaded(Origins *o, const PtxFunc *f, const PtxInstr *i, unsigned k) {
    const PtxOperand *at = i->n_operands > 1 ? &i->operands[1] : NULL;
    bool param = i->space == PTX_PARAM || i->space == PTX_PARAM_ENTRY;
    if (!at || !param || at->kind != PTX_O_ADDRESS || at->n_sub != 1 || at->sub[0].kind != PTX_O_VAR ||
        !is_parameter(f, at->sub[0].var) || gr_ptx_type_bits(i->type[0]) != 64)
        return UNKNOWN;
    return root_of(o, at->sub[0].var, at->offset + 8 * (int64_t)k);
}

static uint8_t computed(Origins *o, const PtxInstr *i) {
    uint8_t v[4] = {NOTHING, NOTHING, NOTHING, NOTHING};
    for (unsigned k = 1; k < i->n_operands && k < 4; k++)
        v[k] = value_of(o, &i->operands[k]);
    bool numbers = v[1] <= NUMBER && v[2] <= NUMBER && v[3] <= NUMBER;
    switch (i->op) {
    case PTX_OP_MOV: return v[1];
    case PTX_OP_CVTA:
        if (is_root(v[1]) && i->space == PTX_GLOBAL)
            o->roots[v[1] - ROOT].pointer = true;
        return i->space == PTX_GLOBAL ? v[1] : PRIVATE;
    case PTX_OP_ADD: return sum(o, v[1], v[2]);
    case PTX_OP_SUB: return v[2] == NUMBER || numbers ? v[1] : v[2] == NOTHING ? NOTHING : UNKNOWN;
    case PTX_OP_MAD: return v[3];
    case PTX_OP_SELP: return join(v[1], v[2]);
    case PTX_OP_AND:
    case PTX_OP_OR:
        return v[1] == NUMBER                       ? v[2]
               : v[2] == NUMBER                     ? v[1]
               : v[1] == NOTHING || v[2] == NOTHING ? NOTHING
                                                    : UNKNOWN;
    case PTX_OP_MUL:
    case PTX_OP_SHL:
    case PTX_OP_SHR:
    case PTX_OP_DIV:
    case PTX_OP_REM: return NUMBER; // no place is a multiple of another
    case PTX_OP_CVT: return v[1];
    default: return numbers ? NUMBER : UNKNOWN;
    }
}

static bool give(Origins *o, const PtxOperand *to, uint8_t v) {
    if (to->kind != PTX_O_REG || to->reg->index >= o->n_regs || gr_ptx_type_bits(to->reg->type) < 64)
        return false;
    uint8_t *is = &o->regs[to->reg->index], now = to->elem ? UNKNOWN : join(*is, v);
    bool changed = now != *is;
    *is = now;
    return changed;
}

static bool follow(Origins *o, const PtxFunc *f, const PtxInstr *i) {
    if (!i->n_operands || gr_ptx_op_flags(i->op) & PTX_F_NO_DST)
        return false;
    const PtxOperand *to = &i->operands[0];
    bool many = to->kind == PTX_O_VECTOR || to->kind == PTX_O_PAREN || to->kind == PTX_O_PAIR;
    bool load = i->op == PTX_OP_LD || i->op == PTX_OP_LDU, changed = false;
    if (!many)
        return give(o, to, load ? loaded(o, f, i, 0) : computed(o, i));
    for (unsigned k = 0; k < to->n_sub; k++)
        changed |= give(o, &to->sub[k], load ? loaded(o, f, i, k) : UNKNOWN);
    return changed;
}

bool gr_origins_find(const PtxFunc *f, Arena *arena, Origins *o) {
    *o = (Origins){.n_regs = f->n_regs};
    o->regs = GR_NEW_ARRAY(arena, uint8_t, (size_t)f->n_regs + 1);
    if (!o->regs)
        return false;
    // A register goes up a few times at most, and so a loop's registers settle soon.
    for (bool changed = true; changed;) {
        changed = false;
        for (const PtxStmt *s = f->first; s; s = s->next)
            if (s->kind == PTX_INSTR && !s->tag.inserted)
                changed |= follow(o, f, s->instr);
    }
    return true;
}

OriginKind gr_origin_of(const Origins *o, const PtxOperand *address, uint32_t *root) {
    if (!address || address->kind != PTX_O_ADDRESS || address->n_sub != 1)
        return ORIGIN_UNKNOWN;
    Origins copy = *o; // a variable that is named here alone becomes no root
    uint8_t v = value_of(&copy, &address->sub[0]);
    if (v == PRIVATE)
        return ORIGIN_PRIVATE;
    if (!is_root(v) || v - ROOT >= (int)o->n_roots)
        return ORIGIN_UNKNOWN;
    *root = (uint32_t)(v - ROOT);
    return ORIGIN_ROOT;
}
