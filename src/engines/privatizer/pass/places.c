// SPDX-License-Identifier: Apache-2.0
#include "engines/privatizer/pass/places.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PLACES = 512, MOST_NODES = 4096, MOST_STEPS = 100000 };

// What a register's value may have been computed from: pointers among the parameters, the address of a variable.
typedef struct Origin {
    uint64_t params;
    uint32_t var;
    bool lost; // it may be any address
} Origin;

typedef struct Finder {
    const Cfg *g;
    const PtxFunc *f;
    GrPlaces *out;
    VEC(GrPlaceNode) nodes;
    VEC(const PtxVar *) vars;
    const PtxStmt **def; // by PtxReg.index: its only definition
    bool *many;          // it has several
    uint32_t *node;      // of its value, and one; 0: not looked at
    Origin *origin;
    const PtxStmt *at; // where a number is used
    uint32_t steps;
    bool nomem;
} Finder;

// ---- Definitions ---------------------------------------------------------------------------------------------------------

// The destinations of an instruction: its first operand, if it has such.
static const PtxOperand *destination(const PtxInstr *i) {
    if (i->op == PTX_OP_CALL)
        return gr_ptx_call_parts(i).rets;
    bool reduces = i->op == PTX_OP_BAR || i->op == PTX_OP_BARRIER ? gr_ptx_instr_has(i, PTX_MOD_red) : false;
    return i->n_operands && (reduces || !(gr_ptx_op_flags(i->op) & PTX_F_NO_DST)) ? &i->operands[0] : NULL;
}

static void define(Finder *f, const PtxOperand *o, const PtxStmt *s) {
    if (o->kind == PTX_O_REG) {
        f->many[o->reg->index] |= f->def[o->reg->index] != NULL;
        f->def[o->reg->index] = s;
    }
    for (unsigned k = 0; k < o->n_sub && o->kind != PTX_O_ADDRESS; k++)
        define(f, &o->sub[k], s);
}

static bool defines(const PtxOperand *o, const PtxReg *r) {
    bool found = o->kind == PTX_O_REG && o->reg == r;
    for (unsigned k = 0; k < o->n_sub && o->kind != PTX_O_ADDRESS; k++)
        found = found || defines(&o->sub[k], r);
    return found;
}

// ---- Origins -------------------------------------------------------------------------------------------------------------

static uint32_t var_of(Finder *f, const PtxVar *v) {
    bool shared = v->space == PTX_SHARED || v->space == PTX_SHARED_CTA;
    if (v->is_extern && shared)
        return GR_VAR_EXTERN;
    for (size_t k = 0; k < f->vars.len; k++)
        if (f->vars.data[k] == v)
            return (uint32_t)k + GR_VAR_EXTERN + 1;
    f->nomem |= !gr_vec_push(&f->vars, v);
    return (uint32_t)f->vars.len + GR_VAR_EXTERN;
}

// Which parameter a load of parameters reads; UINT32_MAX: none.
static uint32_t param_of(const Finder *f, const PtxInstr *i) {
    const PtxOperand *a = i->n_operands > 1 ? &i->operands[1] : NULL;
    if (i->op != PTX_OP_LD || (i->space != PTX_PARAM && i->space != PTX_PARAM_ENTRY) || !a ||
        a->kind != PTX_O_ADDRESS || a->n_sub != 1 || a->sub[0].kind != PTX_O_VAR)
        return UINT32_MAX;
    for (uint32_t k = 0; k < f->f->n_params; k++)
        if (f->f->params[k] == a->sub[0].var || !strcmp(f->f->params[k]->name, a->sub[0].var->name))
            return k;
    return UINT32_MAX;
}

static Origin of_pointer(Finder *f, uint32_t param, int64_t offset) {
    GrPlaces *p = f->out;
    uint32_t k = 0;
    while (k < p->n_pointers && (p->pointers[k].param != param || p->pointers[k].offset != (uint32_t)offset))
        k++;
    if (k == sizeof p->pointers / sizeof *p->pointers)
        return (Origin){.lost = true};
    if (k == p->n_pointers) {
        p->pointers[k].param = param;
        p->pointers[k].offset = (uint32_t)offset;
        p->n_pointers++;
    }
    return (Origin){.params = (uint64_t)1 << k};
}

static Origin join(Origin a, Origin b) {
    return (Origin){.params = a.params | b.params,
                    .var = a.var ? a.var : b.var,
                    .lost = a.lost || b.lost || (a.var && b.var && a.var != b.var)};
}

static Origin of_operand(Finder *f, const PtxOperand *o) {
    Origin sum = {0};
    if (o->kind == PTX_O_REG)
        return f->origin[o->reg->index];
    if (o->kind == PTX_O_VAR)
        return (Origin){.var = var_of(f, o->var)};
    if (o->kind == PTX_O_FUNC || o->kind == PTX_O_RAW)
        return (Origin){.lost = true};
    for (unsigned k = 0; k < o->n_sub; k++)
        sum = join(sum, of_operand(f, &o->sub[k]));
    return sum;
}

// Of what the instruction gives. Numbers of 32 bits are no addresses, but those of shared memory.
static Origin of_instr(Finder *f, const PtxInstr *i) {
    uint32_t param = param_of(f, i);
    unsigned flags = gr_ptx_instr_flags(i);
    Origin sum = {0};
    if (param != UINT32_MAX)
        return i->vec > 1 ? (Origin){.lost = true} : of_pointer(f, param, i->operands[1].offset);
    if (flags & (PTX_F_READS | PTX_F_CALL) || i->op == PTX_OP_LD || i->op == PTX_OP_UNKNOWN ||
        i->op == PTX_OP_SHFL)
        return (Origin){.lost = true};
    for (unsigned k = destination(i) == &i->operands[0]; k < i->n_operands; k++)
        sum = join(sum, of_operand(f, &i->operands[k]));
    return sum;
}

static bool give(Finder *f, const PtxOperand *to, Origin from) {
    bool changed = false;
    if (to->kind == PTX_O_REG) {
        Origin *o = &f->origin[to->reg->index];
        if (gr_ptx_type_bits(to->reg->type) < 64) // loaded, or cut off: an index
            from = (Origin){.var = from.var, .lost = from.lost && from.var};
        Origin now = join(*o, from);
        changed = now.params != o->params || now.var != o->var || now.lost != o->lost;
        *o = now;
    }
    for (unsigned k = 0; k < to->n_sub && to->kind != PTX_O_ADDRESS; k++)
        changed |= give(f, &to->sub[k], from);
    return changed;
}

static void find_origins(Finder *f) {
    for (bool changed = true; changed && !f->nomem;) {
        changed = false;
        for (const PtxStmt *s = f->f->first; s; s = s->next) {
            const PtxOperand *to = s->kind == PTX_INSTR ? destination(s->instr) : NULL;
            if (to)
                changed |= give(f, to, of_instr(f, s->instr));
        }
    }
}

// ---- Numbers -------------------------------------------------------------------------------------------------------------

static uint32_t number_of(Finder *f, const PtxOperand *o, unsigned bits);

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
    return add_op(f, GR_PLACE_WIDEN, 64, is_signed, number_of(f, o, 32), 0);
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
        return number_of(f, &i->operands[1], to);
    return to > from ? widened(f, &i->operands[1], gr_ptx_type_is_signed(i->type[1]))
                     : add_op(f, GR_PLACE_NARROW, 32, true, number_of(f, &i->operands[1], 64), 0);
}

// mul and mad, .lo and .wide.
static uint32_t of_product(Finder *f, const PtxInstr *i, unsigned bits, bool is_signed) {
    bool wide = gr_ptx_instr_has(i, PTX_MOD_wide);
    uint32_t product;
    if (wide && bits == 32)
        product = add_op(f, GR_PLACE_MUL, 64, true, widened(f, &i->operands[1], is_signed),
                         widened(f, &i->operands[2], is_signed));
    else if (!wide && gr_ptx_instr_has(i, PTX_MOD_lo))
        product = add_op(f, GR_PLACE_MUL, bits, true, number_of(f, &i->operands[1], bits),
                         number_of(f, &i->operands[2], bits));
    else
        return 0;
    unsigned to = wide ? 64 : bits;
    return i->op == PTX_OP_MUL
               ? product
               : add_op(f, GR_PLACE_ADD, to, true, product, number_of(f, &i->operands[3], to));
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
    uint32_t at = add_int(f, (int64_t)o[k].bits, 32), own = number_of(f, &o[1], 32);
    if (!inserts)
        return add_op(f, GR_PLACE_AND, 32, true, add_op(f, GR_PLACE_SHR, 32, false, own, at),
                      add_int(f, mask, 32));
    uint32_t field = add_op(f, GR_PLACE_SHL, 32, true,
                            add_op(f, GR_PLACE_AND, 32, true, own, add_int(f, mask, 32)), at),
             rest = add_op(f, GR_PLACE_AND, 32, true, number_of(f, &o[2], 32),
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
    uint32_t param = param_of(f, i);
    if (i->guard || i->n_operands < 2 || i->operands[0].kind != PTX_O_REG || i->operands[0].elem)
        return 0;
    if (i->op == PTX_OP_CVT)
        return of_cvt(f, i);
    if (i->op == PTX_OP_CVTA) // to and from generic addresses: of global memory they are the same
        return number_of(f, &i->operands[1], 64);
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
    case PTX_OP_MOV: return number_of(f, &i->operands[1], bits);
    case PTX_OP_MUL:
    case PTX_OP_MAD: return i->n_operands < 3 ? 0 : of_product(f, i, bits, is_signed);
    case PTX_OP_BFI:
    case PTX_OP_BFE: return of_field(f, i, bits);
    default: break;
    }
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
        if (ops[k].from == i->op && i->n_operands == 3 && !gr_ptx_instr_has(i, PTX_MOD_sat) &&
            !gr_ptx_instr_has(i, PTX_MOD_cc)) {
            bool shifts = i->op == PTX_OP_SHL || i->op == PTX_OP_SHR;
            return add_op(f, ops[k].to, bits, is_signed, number_of(f, &i->operands[1], bits),
                          number_of(f, &i->operands[2], shifts ? 32 : bits));
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

// Of a register with several definitions, the one that comes last where it is used, if it is on the only way there. NULL: it is not known.
static const PtxStmt *definition_before(const Finder *f, const PtxReg *r) {
    for (const PtxStmt *s = f->at->prev; s && s->kind != PTX_LABEL_DEF; s = s->prev)
        if (s->kind == PTX_INSTR && destination(s->instr) && defines(destination(s->instr), r))
            return s;
    return NULL;
}

static uint32_t number_of(Finder *f, const PtxOperand *o, unsigned bits) {
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
        const PtxStmt *def = ++f->steps < MOST_STEPS ? definition_before(f, o->reg) : NULL;
        return def ? of_definition(f, def) : 0;
    }
    if (!f->node[r]) {
        f->node[r] = 1; // a value that is computed from itself is not known
        if (f->def[r])
            f->node[r] = of_definition(f, f->def[r]) + 1;
    }
    return f->node[r] - 1;
}

// ---- Accesses ------------------------------------------------------------------------------------------------------------

// Whether others see what the access is to. *fits: it is a load, a store or an atomic operation.
static bool is_seen(const PtxSite *site, bool *fits) {
    const PtxInstr *i = site->stmt->instr;
    *fits = !site->async && site->size &&
            (site->space == PTX_GENERIC || site->space == PTX_GLOBAL || site->space == PTX_SHARED ||
             site->space == PTX_SHARED_CTA) &&
            (i->op == PTX_OP_LD || i->op == PTX_OP_ST || i->op == PTX_OP_ATOM || i->op == PTX_OP_RED);
    return site->space != PTX_LOCAL && site->space != PTX_CONST && site->space != PTX_PARAM;
}

static GrPlace place_of(Finder *f, const PtxSite *site) {
    const PtxInstr *i = site->stmt->instr;
    bool shared = site->space == PTX_SHARED || site->space == PTX_SHARED_CTA;
    GrPlace p = {.size = site->size,
                 .write = site->access & PTX_ACCESS_WRITE,
                 .atomic = site->access == PTX_ACCESS_RMW,
                 .of_block = i->scope == PTX_SCOPE_CTA || i->scope == PTX_SCOPE_CLUSTER,
                 .shared = shared,
                 .generic = site->space == PTX_GENERIC,
                 .lost = true};
    for (unsigned k = 0; k < i->n_operands; k++) {
        const PtxOperand *o = &i->operands[k];
        if (o->kind != PTX_O_ADDRESS || o->n_sub != 1)
            continue;
        Origin from = of_operand(f, &o->sub[0]);
        f->at = site->stmt;
        const PtxReg *base = o->sub[0].kind == PTX_O_REG ? o->sub[0].reg : NULL;
        unsigned bits = base ? gr_ptx_type_bits(base->type) : 64;
        p.node =
            add_op(f, GR_PLACE_ADD, bits, true, number_of(f, &o->sub[0], bits), add_int(f, o->offset, bits));
        p.var = from.var;
        p.params = from.params;
        // By a generic address one comes to shared variables as well; those are not told apart from others here.
        p.lost = from.lost || (from.var && from.params && !shared) ||
                 (from.var && site->space == PTX_GENERIC) || (!from.var && !from.params && !shared);
        break;
    }
    // Without a variable it is an offset from the begin of shared memory, where any variable may lie.
    if (p.lost || (p.var && p.node && !f->nodes.data[p.node].in_var) || (shared && !p.var))
        p.node = 0;
    if (shared && !p.node) // somewhere in shared memory
        p.lost = true;
    return p;
}

static gr_status find(Finder *f, Arena *arena, bool *fits, gr_error *err) {
    gr_status st = GR_OK;
    PtxStmt **sites = GR_NEW_ARRAY(arena, PtxStmt *, MOST_PLACES);
    GrPlaces *p = f->out;
    p->places = GR_NEW_ARRAY(arena, GrPlace, MOST_PLACES);
    f->nomem |= !sites || !p->places || !gr_vec_push(&f->nodes, ((GrPlaceNode){0}));
    *fits = true;
    find_origins(f);
    for (PtxStmt *s = f->f->first; s && *fits && !f->nomem; s = s->next) {
        bool one = true;
        if (s->kind == PTX_INSTR &&
            s->instr->op == PTX_OP_CALL) // it may access memory, or compute an address
            *fits = false;
        if (!s->site || !is_seen(&f->f->module->sites[s->site], &one))
            continue;
        *fits = one && p->n_places < MOST_PLACES;
        if (*fits) {
            sites[p->n_places] = s;
            p->places[p->n_places++] = place_of(f, &f->f->module->sites[s->site]);
        }
    }
    p->n_nodes = (uint32_t)f->nodes.len;
    p->nodes = GR_NEW_ARRAY(arena, GrPlaceNode, f->nodes.len + 1);
    if (f->nomem || !p->nodes)
        return gr_fail(err, GR_ERR_NOMEM, "out of memory");
    memcpy(p->nodes, f->nodes.data, f->nodes.len * sizeof *p->nodes);
    if (*fits)
        GR_TRY(gr_places_find_meetings(f->g, sites, arena, p, err));
done:
    return st;
}

gr_status gr_places_find(const Cfg *g, Arena *arena, GrPlaces **out, gr_error *err) {
    size_t n = (size_t)g->func->n_regs + 1;
    bool fits = false;
    Finder f = {.g = g,
                .f = g->func,
                .out = GR_NEW(arena, GrPlaces),
                .def = GR_NEW_ARRAY(arena, const PtxStmt *, n),
                .many = GR_NEW_ARRAY(arena, bool, n),
                .node = GR_NEW_ARRAY(arena, uint32_t, n),
                .origin = GR_NEW_ARRAY(arena, Origin, n)};
    *out = NULL;
    if (!f.out || !f.def || !f.many || !f.node || !f.origin)
        return gr_fail(err, GR_ERR_NOMEM, "out of memory");
    for (const PtxStmt *s = f.f->first; s; s = s->next) {
        const PtxOperand *to = s->kind == PTX_INSTR ? destination(s->instr) : NULL;
        if (to)
            define(&f, to, s);
    }
    gr_status st = find(&f, arena, &fits, err);
    gr_vec_free(&f.nodes);
    gr_vec_free(&f.vars);
    *out = st == GR_OK && fits ? f.out : NULL;
    return st;
}

// ---- To be kept ----------------------------------------------------------------------------------------------------------

static void *keep(const void *from, size_t bytes, bool *ok) {
    void *to = malloc(bytes + 1);
    *ok = *ok && to;
    if (to)
        memcpy(to, from, bytes);
    return to;
}

GrPlaces *gr_places_keep(const GrPlaces *p) {
    bool ok = true;
    GrPlaces *to = keep(p, sizeof *p, &ok);
    if (!to)
        return NULL;
    to->nodes = keep(p->nodes, p->n_nodes * sizeof *p->nodes, &ok);
    to->places = keep(p->places, p->n_places * sizeof *p->places, &ok);
    to->together = keep(p->together, ((size_t)p->n_places * p->n_places + 63) / 64 * 8, &ok);
    if (ok)
        return to;
    gr_places_free(to);
    return NULL;
}

void gr_places_free(GrPlaces *p) {
    if (!p)
        return;
    free(p->nodes);
    free(p->places);
    free(p->together);
    free(p);
}
