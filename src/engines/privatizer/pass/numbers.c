// SPDX-License-Identifier: Apache-2.0
// numbers — how a kernel's text computes a number from the launch's parameters and the thread's place.
#include "engines/privatizer/pass/finder.h"

#include <string.h>

enum { MOST_NODES = 4096, MOST_STEPS = 100000 };

const PtxOperand *gr_find_destination(const PtxInstr *i) {
    if (i->op == PTX_OP_CALL)
        return gr_ptx_call_parts(i).rets;
    bool reduces = i->op == PTX_OP_BAR || i->op == PTX_OP_BARRIER ? gr_ptx_instr_has(i, PTX_MOD_red) : false;
    return i->n_operands && (reduces || !(gr_ptx_op_flags(i->op) & PTX_F_NO_DST)) ? &i->operands[0] : NULL;
}

static bool defines(const PtxOperand *o, const PtxReg *r) {
    bool found = o->kind == PTX_O_REG && o->reg == r;
    for (unsigned k = 0; k < o->n_sub && o->kind != PTX_O_ADDRESS; k++)
        found = found || defines(&o->sub[k], r);
    return found;
}

const PtxStmt *gr_find_definition(const Finder *f, const PtxReg *r) {
    for (const PtxStmt *s = f->at->prev; s && s->kind != PTX_LABEL_DEF; s = s->prev)
        if (s->kind == PTX_INSTR && gr_find_destination(s->instr) &&
            defines(gr_find_destination(s->instr), r))
            return s;
    return NULL;
}

uint32_t gr_find_param(const Finder *f, const PtxInstr *i) {
    const PtxOperand *a = i->n_operands > 1 ? &i->operands[1] : NULL;
    if (i->op != PTX_OP_LD || (i->space != PTX_PARAM && i->space != PTX_PARAM_ENTRY) || !a ||
        a->kind != PTX_O_ADDRESS || a->n_sub != 1 || a->sub[0].kind != PTX_O_VAR)
        return UINT32_MAX;
    for (uint32_t k = 0; k < f->f->n_params; k++)
        if (f->f->params[k] == a->sub[0].var || !strcmp(f->f->params[k]->name, a->sub[0].var->name))
            return k;
    return UINT32_MAX;
}

static uint32_t add(Finder *f, GrPlaceNode n) {
    bool binary = n.op >= GR_PLACE_ADD;
    if (binary && (!n.a || (n.op < GR_PLACE_WIDEN && !n.b)))
        return 0;
    if (binary) { // an address of a variable stays one, by adding to it
        bool a = f->nodes.data[n.a].in_var, b = n.op < GR_PLACE_WIDEN && f->nodes.data[n.b].in_var;
        if ((a && b) || (b && n.op != GR_PLACE_ADD) ||
            (a && n.op != GR_PLACE_ADD && n.op != GR_PLACE_SUB && n.op != GR_PLACE_WIDEN))
            return 0;
        n.in_var = a || b;
    }
    if (f->nodes.len >= MOST_NODES)
        return 0;
    f->nomem |= !gr_vec_push(&f->nodes, n);
    return f->nomem ? 0 : (uint32_t)f->nodes.len - 1;
}

static uint32_t add_int(Finder *f, int64_t value, unsigned bits) {
    return add(f, (GrPlaceNode){.op = GR_PLACE_INT,
                                .bits = (uint8_t)bits,
                                .value = bits == 32 ? (int32_t)value : value});
}

static uint32_t add_op(Finder *f, GrPlaceOp op, unsigned bits, bool is_signed, uint32_t a, uint32_t b) {
    return add(
        f, (GrPlaceNode){.op = (uint8_t)op, .bits = (uint8_t)bits, .is_signed = is_signed, .a = a, .b = b});
}

static uint32_t widened(Finder *f, const PtxOperand *o, bool is_signed) {
    return add_op(f, GR_PLACE_WIDEN, 64, is_signed, gr_find_number(f, o, 32), 0);
}

static uint32_t of_sreg(Finder *f, const char *text) {
    static const struct {
        const char *name;
        GrPlaceOp op;
    } regs[] = {{"%tid.", GR_PLACE_THREAD},
                {"%ctaid.", GR_PLACE_BLOCK},
                {"%ntid.", GR_PLACE_THREADS},
                {"%nctaid.", GR_PLACE_BLOCKS}};
    for (size_t k = 0; k < sizeof regs / sizeof *regs; k++) {
        size_t n = strlen(regs[k].name);
        if (!strncmp(text, regs[k].name, n) && text[n] >= 'x' && text[n] <= 'z')
            return add(f,
                       (GrPlaceNode){.op = (uint8_t)regs[k].op, .bits = 32, .a = (uint32_t)(text[n] - 'x')});
    }
    return 0;
}

static uint32_t of_cvt(Finder *f, const PtxInstr *i) {
    unsigned to = gr_ptx_type_bits(i->type[0]), from = gr_ptx_type_bits(i->type[1]);
    if (gr_ptx_type_is_float(i->type[0]) || gr_ptx_type_is_float(i->type[1]) ||
        gr_ptx_instr_has(i, PTX_MOD_sat) || from < 32 || to < 32 || from > 64 || to > 64)
        return 0;
    if (to == from)
        return gr_find_number(f, &i->operands[1], to);
    return to > from ? widened(f, &i->operands[1], gr_ptx_type_is_signed(i->type[1]))
                     : add_op(f, GR_PLACE_NARROW, 32, true, gr_find_number(f, &i->operands[1], 64), 0);
}

// mul and mad, .lo and .wide.
static uint32_t of_product(Finder *f, const PtxInstr *i, unsigned bits, bool is_signed) {
    bool wide = gr_ptx_instr_has(i, PTX_MOD_wide);
    uint32_t product;
    if (wide && bits == 32)
        product = add_op(f, GR_PLACE_MUL, 64, true, widened(f, &i->operands[1], is_signed),
                         widened(f, &i->operands[2], is_signed));
    else if (!wide && gr_ptx_instr_has(i, PTX_MOD_lo))
        product = add_op(f, GR_PLACE_MUL, bits, true, gr_find_number(f, &i->operands[1], bits),
                         gr_find_number(f, &i->operands[2], bits));
    else
        return 0;
    unsigned to = wide ? 64 : bits;
    return i->op == PTX_OP_MUL
               ? product
               : add_op(f, GR_PLACE_ADD, to, true, product, gr_find_number(f, &i->operands[3], to));
}

// The bits of a field, of constant place and size.
static uint32_t of_field(Finder *f, const PtxInstr *i, unsigned bits) {
    const PtxOperand *o = i->operands;
    bool inserts = i->op == PTX_OP_BFI;
    unsigned k = inserts ? 3 : 2;
    if (bits != 32 || i->n_operands != k + 2 || o[k].kind != PTX_O_INT || o[k + 1].kind != PTX_O_INT ||
        (!inserts && gr_ptx_type_is_signed(i->type[0])) || o[k].bits > 31 || !o[k + 1].bits ||
        o[k].bits + o[k + 1].bits > 32)
        return 0;
    int64_t mask = (int64_t)(((uint64_t)1 << o[k + 1].bits) - 1);
    uint32_t at = add_int(f, (int64_t)o[k].bits, 32), own = gr_find_number(f, &o[1], 32);
    if (!inserts)
        return add_op(f, GR_PLACE_AND, 32, true, add_op(f, GR_PLACE_SHR, 32, false, own, at),
                      add_int(f, mask, 32));
    uint32_t field = add_op(f, GR_PLACE_SHL, 32, true,
                            add_op(f, GR_PLACE_AND, 32, true, own, add_int(f, mask, 32)), at),
             rest = add_op(f, GR_PLACE_AND, 32, true, gr_find_number(f, &o[2], 32),
                           add_int(f, ~(mask << o[k].bits), 32));
    return add_op(f, GR_PLACE_OR, 32, true, rest, field);
}

static uint32_t of_instruction(Finder *f, const PtxInstr *i) {
    static const struct {
        PtxOp from;
        GrPlaceOp to;
    } ops[] = {{PTX_OP_ADD, GR_PLACE_ADD}, {PTX_OP_SUB, GR_PLACE_SUB}, {PTX_OP_DIV, GR_PLACE_DIV},
               {PTX_OP_REM, GR_PLACE_REM}, {PTX_OP_SHL, GR_PLACE_SHL}, {PTX_OP_SHR, GR_PLACE_SHR},
               {PTX_OP_AND, GR_PLACE_AND}, {PTX_OP_OR, GR_PLACE_OR},   {PTX_OP_XOR, GR_PLACE_XOR}};
    unsigned bits = gr_ptx_type_bits(i->type[0]);
    bool is_signed = gr_ptx_type_is_signed(i->type[0]);
    uint32_t param = gr_find_param(f, i);
    if (i->guard || i->n_operands < 2 || i->operands[0].kind != PTX_O_REG || i->operands[0].elem)
        return 0;
    if (i->op == PTX_OP_CVT)
        return of_cvt(f, i);
    if (i->op == PTX_OP_CVTA) // to and from generic addresses: of global memory they are the same
        return gr_find_number(f, &i->operands[1], 64);
    if (gr_ptx_type_is_float(i->type[0]) || (bits != 32 && bits != 64))
        return 0;
    if (param != UINT32_MAX)
        return i->vec > 1 ? 0
                          : add(f, (GrPlaceNode){.op = GR_PLACE_PARAM,
                                                 .bits = (uint8_t)bits,
                                                 .a = param,
                                                 .b = bits / 8,
                                                 .value = i->operands[1].offset});
    switch (i->op) {
    case PTX_OP_MOV: return gr_find_number(f, &i->operands[1], bits);
    case PTX_OP_MUL: return i->n_operands < 3 ? 0 : of_product(f, i, bits, is_signed);
    case PTX_OP_MAD: return i->n_operands < 4 ? 0 : of_product(f, i, bits, is_signed);
    case PTX_OP_BFI:
    case PTX_OP_BFE: return of_field(f, i, bits);
    default: break;
    }
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
        if (ops[k].from == i->op && i->n_operands == 3 && !gr_ptx_instr_has(i, PTX_MOD_sat) &&
            !gr_ptx_instr_has(i, PTX_MOD_cc)) {
            bool shifts = i->op == PTX_OP_SHL || i->op == PTX_OP_SHR;
            return add_op(f, ops[k].to, bits, is_signed, gr_find_number(f, &i->operands[1], bits),
                          gr_find_number(f, &i->operands[2], shifts ? 32 : bits));
        }
    return 0;
}

static uint32_t of_definition(Finder *f, const PtxStmt *def) {
    const PtxStmt *at = f->at;
    f->at = def;
    uint32_t node = of_instruction(f, def->instr);
    f->at = at;
    return node;
}

uint32_t gr_find_number(Finder *f, const PtxOperand *o, unsigned bits) {
    if (o->negated)
        return 0;
    if (o->kind == PTX_O_INT)
        return add_int(f, (int64_t)o->bits, bits);
    if (o->kind == PTX_O_SREG)
        return of_sreg(f, o->text);
    if (o->kind == PTX_O_VAR) {
        uint32_t at = add_int(f, o->offset, bits);
        if (at)
            f->nodes.data[at].in_var = true;
        return at;
    }
    if (o->kind != PTX_O_REG || o->elem || o->reg->vec > 1 || gr_ptx_type_bits(o->reg->type) != bits)
        return 0;
    uint32_t r = o->reg->index;
    if (f->many[r]) {
        const PtxStmt *def = ++f->steps < MOST_STEPS ? gr_find_definition(f, o->reg) : NULL;
        return def ? of_definition(f, def) : 0;
    }
    if (!f->node[r]) {
        f->node[r] = 1; // a value that is computed from itself is not known
        if (f->def[r])
            f->node[r] = of_definition(f, f->def[r]) + 1;
    }
    return f->node[r] - 1;
}

uint32_t gr_find_sum(Finder *f, const PtxOperand *o, int64_t n, unsigned bits) {
    return add_op(f, GR_PLACE_ADD, bits, true, gr_find_number(f, o, bits), add_int(f, n, bits));
}
