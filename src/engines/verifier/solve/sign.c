// SPDX-License-Identifier: Apache-2.0
// sign — which symbols are numbers without a sign.
//
// Bits have none. A size that is only ever compared, divided and widened as unsigned is read so: else it could be
// "negative", and rows of a length below 0 would overlap. A symbol that some operation with a sign comes to see keeps
// its own.
#include "engines/verifier/solve/reading.h"
#include "engines/verifier/term/machine.h"

typedef struct Signs {
    bool *with, *without; // by symbol id
    VEC(const GrTerm *) equalities;
    uint8_t *seen; // by term id: below an operation with a sign, without one, anywhere
} Signs;

enum { SEEN = 1, WITH = 2, WITHOUT = 4, DEEPEST = 12 };

static uint8_t of_operation(GrTermOp op) {
    switch (op) {
    case GR_TERM_SLT:
    case GR_TERM_SLE:
    case GR_TERM_SDIV:
    case GR_TERM_SREM:
    case GR_TERM_SEXT:
    case GR_TERM_ASHR: return WITH;
    case GR_TERM_ULT:
    case GR_TERM_ULE:
    case GR_TERM_UDIV:
    case GR_TERM_UREM:
    case GR_TERM_ZEXT:
    case GR_TERM_LSHR: return WITHOUT;
    default: return 0;
    }
}

// `above`: the operations above a term look at its sign, or do not.
static void look(Signs *s, const GrTerm *x, uint8_t above) {
    above |= SEEN;
    if ((s->seen[x->id] & above) == above)
        return;
    s->seen[x->id] |= above;
    if (x->op == GR_TERM_SYM) {
        s->with[x->sym->id] |= (above & WITH) != 0;
        s->without[x->sym->id] |= (above & WITHOUT) != 0;
    }
    if (above == SEEN && x->op == GR_TERM_EQ && x->arg[0]->bits > 1 && !gr_vec_push(&s->equalities, x))
        gr_attempt_nomem();
    for (unsigned k = 0; k < 3 && x->arg[k]; k++) {
        // A condition tells nothing of its operands, and an offset nothing of the value there.
        bool passes = x->arg[k]->bits > 1 && x->bits > 1 && x->op != GR_TERM_READ;
        look(s, x->arg[k], of_operation(x->op) | (passes ? above : 0));
    }
}

// A term may be below 0 as a number.
static bool has_sign(const Signs *s, const GrTerm *x, unsigned depth) {
    if (x->bits == 1)
        return false;
    switch (x->op) {
    case GR_TERM_CONST: return gr_term_signed(x) < 0;
    case GR_TERM_SYM: return x->sym->low < 0 && (s->with[x->sym->id] || !s->without[x->sym->id]);
    case GR_TERM_ZEXT: return false;
    case GR_TERM_ADD:
    case GR_TERM_MUL:
    case GR_TERM_UDIV:
    case GR_TERM_UREM:
    case GR_TERM_ITE:
        for (unsigned k = x->op == GR_TERM_ITE; k < 3 && x->arg[k]; k++)
            if (depth > DEEPEST || has_sign(s, x->arg[k], depth + 1))
                return true;
        return false;
    default: return true;
    }
}

// What may equal a number below 0 is a number with a sign, too. (Comparisons without a sign mean the same of both.)
static void spread(Signs *s) {
    bool more = true;
    while (more) {
        more = false;
        for (size_t k = 0; k < s->equalities.len; k++) {
            const GrTerm *x = s->equalities.data[k];
            if (!x || (!has_sign(s, x->arg[0], 0) && !has_sign(s, x->arg[1], 0)))
                continue;
            look(s, x->arg[0], WITH);
            look(s, x->arg[1], WITH);
            s->equalities.data[k] = NULL;
            more = true;
        }
    }
}

bool *gr_reading_unsigned(GrAttempt *a) {
    Signs s = {.with = GR_ATTEMPT_NEW(a, bool, a->t->n_symbols),
               .without = GR_ATTEMPT_NEW(a, bool, a->t->n_symbols),
               .seen = GR_ATTEMPT_NEW(a, uint8_t, a->t->n_terms)};
    for (size_t k = 0; k < a->q->n_terms; k++)
        look(&s, a->q->terms[k], 0);
    if (a->q->overlap) {
        look(&s, a->q->overlap->a, 0);
        look(&s, a->q->overlap->b, 0);
    }
    spread(&s);
    for (uint32_t k = 0; k < a->t->n_symbols; k++) {
        const GrSymbol *y = a->t->symbols[k];
        int64_t high = (int64_t)(gr_mask_bits(y->bits) >> 1);
        s.without[k] &= !s.with[k] && y->bits > 1 && y->low == -high - 1 && y->high == high;
    }
    return s.without;
}
