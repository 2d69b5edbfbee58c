// SPDX-License-Identifier: Apache-2.0
// machine — terms in machine arithmetic, and terms as text.
#include "engines/verifier/term/machine.h"

#include <stdlib.h>

static uint64_t divided(uint64_t a, uint64_t b, uint32_t bits) {
    int64_t x = gr_sign_extend(a, bits), y = gr_sign_extend(b, bits);
    return !b ? UINT64_MAX : y == -1 ? 0 - (uint64_t)x : (uint64_t)(x / y);
}

static uint64_t remainder_of(uint64_t a, uint64_t b, uint32_t bits) {
    int64_t x = gr_sign_extend(a, bits), y = gr_sign_extend(b, bits);
    return !b ? a : y == -1 ? 0 : (uint64_t)(x % y);
}

static uint64_t compute(GrTermOp op, uint32_t from, uint64_t a, uint64_t b, uint64_t c) {
    int64_t x = gr_sign_extend(a, from), y = gr_sign_extend(b, from);
    switch (op) {
    case GR_TERM_ADD: return a + b;
    case GR_TERM_SUB: return a - b;
    case GR_TERM_MUL: return a * b;
    case GR_TERM_SDIV: return divided(a, b, from);
    case GR_TERM_UDIV: return b ? a / b : UINT64_MAX;
    case GR_TERM_SREM: return remainder_of(a, b, from);
    case GR_TERM_UREM: return b ? a % b : a;
    case GR_TERM_SHL: return b < from ? a << b : 0;
    case GR_TERM_LSHR: return b < from ? a >> b : 0;
    case GR_TERM_ASHR: return (uint64_t)(x >> (b < from ? b : from - 1));
    case GR_TERM_AND: return a & b;
    case GR_TERM_OR: return a | b;
    case GR_TERM_XOR: return a ^ b;
    case GR_TERM_NOT: return ~a;
    case GR_TERM_SEXT: return (uint64_t)x;
    case GR_TERM_ZEXT:
    case GR_TERM_TRUNC: return a;
    case GR_TERM_EQ: return a == b;
    case GR_TERM_SLT: return x < y;
    case GR_TERM_SLE: return x <= y;
    case GR_TERM_ULT: return a < b;
    case GR_TERM_ULE: return a <= b;
    case GR_TERM_ITE: return a ? b : c;
    case GR_TERM_CONST:
    case GR_TERM_SYM:
    case GR_TERM_READ:
    case GR_TERM_OPS: break;
    }
    return 0;
}

uint64_t gr_machine_op(GrTermOp op, uint32_t bits, uint32_t from, uint64_t a, uint64_t b, uint64_t c) {
    return compute(op, from, a, b, c) & gr_mask_bits(bits);
}

// ---- A whole term ------------------------------------------------------------------------------------------------

typedef struct Seen {
    Map known; // by id: number of the value + 1
    uint64_t *values;
    size_t n, cap;
    const GrValues *v;
    bool nomem;
} Seen;

static uint64_t keep(Seen *s, const GrTerm *a, uint64_t value) {
    if (s->n == s->cap) {
        size_t cap = s->cap ? s->cap * 2 : 64;
        uint64_t *more = realloc(s->values, cap * sizeof *more);
        if (!more) {
            s->nomem = true;
            return value;
        }
        s->values = more;
        s->cap = cap;
    }
    s->values[s->n++] = value;
    if (!gr_map_put_u64(&s->known, a->id, (void *)(uintptr_t)s->n))
        s->nomem = true;
    return value;
}

static uint64_t value_of(Seen *s, const GrTerm *a) {
    if (a->op == GR_TERM_CONST)
        return a->value;
    uintptr_t there = (uintptr_t)gr_map_get_u64(&s->known, a->id);
    if (there)
        return s->values[there - 1];
    uint64_t mask = gr_mask_bits(a->bits);
    if (a->op == GR_TERM_SYM)
        return keep(s, a, s->v->symbol(s->v->user, a->sym) & mask);
    uint64_t arg[3] = {0};
    for (unsigned k = 0; k < 3 && a->arg[k]; k++)
        arg[k] = value_of(s, a->arg[k]);
    if (a->op == GR_TERM_READ)
        return keep(s, a, s->v->read(s->v->user, a->sym, arg[0], a->bits) & mask);
    return keep(s, a, gr_machine_op(a->op, a->bits, a->arg[0]->bits, arg[0], arg[1], arg[2]));
}

bool gr_term_value(const GrTerm *a, const GrValues *v, uint64_t *out) {
    Seen s = {.v = v};
    *out = value_of(&s, a);
    gr_map_free(&s.known);
    free(s.values);
    return !s.nomem;
}

// ---- Symbols -----------------------------------------------------------------------------------------------------

typedef struct Walk {
    Map terms, symbols;
    void (*see)(void *user, const GrSymbol *s);
    void *user;
    bool reads; // only objects of READs
    bool nomem;
} Walk;

static void walk(Walk *w, const GrTerm *a) {
    if (w->nomem || gr_map_get_u64(&w->terms, a->id))
        return;
    w->nomem |= !gr_map_put_u64(&w->terms, a->id, w);
    for (unsigned k = 0; k < 3 && a->arg[k]; k++)
        walk(w, a->arg[k]);
    if (!a->sym || (w->reads && a->op != GR_TERM_READ) || gr_map_get_u64(&w->symbols, a->sym->id))
        return;
    w->nomem |= !gr_map_put_u64(&w->symbols, a->sym->id, w);
    w->see(w->user, a->sym);
}

static bool walk_all(Walk *w, const GrTerm *a) {
    walk(w, a);
    gr_map_free(&w->terms);
    gr_map_free(&w->symbols);
    return !w->nomem;
}

bool gr_term_symbols(const GrTerm *a, void (*see)(void *user, const GrSymbol *s), void *user) {
    return walk_all(&(Walk){.see = see, .user = user}, a);
}

bool gr_term_reads(const GrTerm *a, void (*see)(void *user, const GrSymbol *object), void *user) {
    return walk_all(&(Walk){.see = see, .user = user, .reads = true}, a);
}

// ---- Text --------------------------------------------------------------------------------------------------------

// Signs between two operands; NULL: written as a function.
static const char *const sign[GR_TERM_OPS] = {
    [GR_TERM_ADD] = " + ",    [GR_TERM_SUB] = " - ",   [GR_TERM_MUL] = " * ",   [GR_TERM_SDIV] = " / ",
    [GR_TERM_UDIV] = " /u ",  [GR_TERM_SREM] = " % ",  [GR_TERM_UREM] = " %u ", [GR_TERM_SHL] = " << ",
    [GR_TERM_LSHR] = " >>u ", [GR_TERM_ASHR] = " >> ", [GR_TERM_AND] = " & ",   [GR_TERM_OR] = " | ",
    [GR_TERM_XOR] = " ^ ",    [GR_TERM_EQ] = " == ",   [GR_TERM_SLT] = " < ",   [GR_TERM_SLE] = " <= ",
    [GR_TERM_ULT] = " <u ",   [GR_TERM_ULE] = " <=u ",
};

static const char *const names[GR_TERM_OPS] = {
#define TERM(id, text, operands) [GR_TERM_##id] = (text),
#include "engines/verifier/term/term.def"
#undef TERM
};

enum { DEEPEST = 24, LONGEST = 600 };

static void print(const GrTerm *a, unsigned depth, StrBuf *out) {
    if (depth > DEEPEST || out->len > LONGEST) {
        gr_str_add(out, "...");
        return;
    }
    if (a->op == GR_TERM_CONST) {
        gr_str_addf(out, "%lld", (long long)(a->bits == 1 ? (int64_t)a->value : gr_term_signed(a)));
    } else if (a->op == GR_TERM_SYM) {
        gr_str_add(out, a->sym->name);
    } else if (a->op == GR_TERM_SEXT || a->op == GR_TERM_ZEXT) { // what an index means stays the same
        print(a->arg[0], depth, out);
    } else if (sign[a->op]) {
        gr_str_add(out, depth ? "(" : "");
        print(a->arg[0], depth + 1, out);
        gr_str_add(out, sign[a->op]);
        print(a->arg[1], depth + 1, out);
        gr_str_add(out, depth ? ")" : "");
    } else {
        gr_str_add(out, a->op == GR_TERM_NOT ? "!" : a->op == GR_TERM_READ ? a->sym->name : names[a->op]);
        gr_str_addc(out, a->op == GR_TERM_READ ? '[' : '(');
        for (unsigned k = 0; k < 3 && a->arg[k]; k++) {
            gr_str_add(out, k ? ", " : "");
            print(a->arg[k], 0, out);
        }
        gr_str_addc(out, a->op == GR_TERM_READ ? ']' : ')');
    }
}

void gr_term_print(const GrTerm *a, StrBuf *out) { print(a, 0, out); }
