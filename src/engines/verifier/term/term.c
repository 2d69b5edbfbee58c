// SPDX-License-Identifier: Apache-2.0
// term — making terms: one object for each, constants folded.
#include "engines/verifier/term/term.h"

#include "engines/verifier/term/machine.h"

#include <stdlib.h>

static const uint8_t operands[GR_TERM_OPS] = {
#define TERM(id, text, operands) [GR_TERM_##id] = (operands),
#include "engines/verifier/term/term.def"
#undef TERM
};

void gr_terms_init(GrTerms *t) {
    memset(t, 0, sizeof *t);
    gr_arena_init(&t->arena);
}

void gr_terms_free(GrTerms *t) {
    free(t->slots);
    free(t->symbols);
    gr_map_free(&t->instances);
    gr_arena_free(&t->arena);
    memset(t, 0, sizeof *t);
}

// ---- One object for each -----------------------------------------------------------------------------------------

static uint64_t hash_of(const GrTerm *a) {
    uint64_t key[6] = {(uint64_t)a->op << 32 | a->bits, a->value, a->sym ? a->sym->id + 1 : 0};
    for (unsigned k = 0; k < 3; k++)
        key[3 + k] = a->arg[k] ? a->arg[k]->id + 1 : 0;
    return gr_hash_bytes(key, sizeof key);
}

static bool same(const GrTerm *a, const GrTerm *b) {
    return a->op == b->op && a->bits == b->bits && a->value == b->value && a->sym == b->sym &&
           a->arg[0] == b->arg[0] && a->arg[1] == b->arg[1] && a->arg[2] == b->arg[2];
}

static const GrTerm **slot_of(const GrTerm **slots, size_t n, const GrTerm *a) {
    size_t k = hash_of(a) & (n - 1);
    while (slots[k] && !same(slots[k], a))
        k = (k + 1) & (n - 1);
    return &slots[k];
}

static bool grow(GrTerms *t) {
    size_t n = t->n_slots ? t->n_slots * 2 : 256;
    const GrTerm **slots = calloc(n, sizeof *slots);
    if (!slots)
        return false;
    for (size_t k = 0; k < t->n_slots; k++)
        if (t->slots[k])
            *slot_of(slots, n, t->slots[k]) = t->slots[k];
    free(t->slots);
    t->slots = slots;
    t->n_slots = n;
    return true;
}

static const GrTerm *make(GrTerms *t, const GrTerm *wanted) {
    if (t->n_terms * 2 >= t->n_slots && !grow(t))
        return NULL;
    const GrTerm **slot = slot_of(t->slots, t->n_slots, wanted);
    if (*slot)
        return *slot;
    GrTerm *a = GR_NEW(&t->arena, GrTerm);
    if (!a)
        return NULL;
    *a = *wanted;
    a->id = (uint32_t)t->n_terms++;
    a->from = t->now;
    return *slot = a;
}

const GrTerm *gr_term_numbered(const GrTerms *t, uint32_t id) {
    for (size_t k = 0; k < t->n_slots; k++)
        if (t->slots[k] && t->slots[k]->id == id)
            return t->slots[k];
    return NULL;
}

void gr_terms_at(GrTerms *t, const char *file, uint32_t line) {
    if (file && (!t->now.file || strcmp(t->now.file, file)))
        t->now.file = gr_arena_strdup(&t->arena, file);
    else if (!file)
        t->now.file = NULL;
    t->now.line = line;
}

// ---- Leaves ------------------------------------------------------------------------------------------------------

GrSymbol *gr_symbol(GrTerms *t, GrSymKind kind, GrSymScope scope, uint32_t bits, const char *name) {
    if (t->n_symbols == t->cap_symbols) {
        uint32_t cap = t->cap_symbols ? t->cap_symbols * 2 : 64;
        GrSymbol **more = realloc(t->symbols, cap * sizeof *more);
        if (!more)
            return NULL;
        t->symbols = more;
        t->cap_symbols = cap;
    }
    GrSymbol *s = GR_NEW(&t->arena, GrSymbol);
    char *own = gr_arena_strdup(&t->arena, name);
    if (!s || !own)
        return NULL;
    int64_t high = (int64_t)(gr_mask_bits(bits) >> 1);
    *s = (GrSymbol){.name = own,
                    .kind = kind,
                    .scope = scope,
                    .bits = bits,
                    .id = t->n_symbols,
                    .low = bits == 1 ? 0 : -high - 1,
                    .high = bits == 1 ? 1 : high};
    return t->symbols[t->n_symbols++] = s;
}

const GrTerm *gr_term_sym(GrTerms *t, const GrSymbol *s) {
    return s ? make(t, &(GrTerm){.op = GR_TERM_SYM, .bits = s->bits, .sym = s}) : NULL;
}

const GrTerm *gr_term_const(GrTerms *t, uint32_t bits, uint64_t value) {
    return make(t, &(GrTerm){.op = GR_TERM_CONST, .bits = bits, .value = value & gr_mask_bits(bits)});
}

const GrTerm *gr_term_read(GrTerms *t, uint32_t bits, const GrSymbol *object, const GrTerm *offset) {
    if (!object || !offset)
        return NULL;
    return make(t, &(GrTerm){.op = GR_TERM_READ, .bits = bits, .sym = object, .arg = {offset}});
}

const GrTerm *gr_term_true(GrTerms *t) { return gr_term_const(t, 1, 1); }
const GrTerm *gr_term_false(GrTerms *t) { return gr_term_const(t, 1, 0); }

// ---- Operations --------------------------------------------------------------------------------------------------

static bool is_comparison(GrTermOp op) { return op >= GR_TERM_EQ && op <= GR_TERM_ULE; }

static bool commutes(GrTermOp op) {
    return op == GR_TERM_ADD || op == GR_TERM_MUL || op == GR_TERM_AND || op == GR_TERM_OR ||
           op == GR_TERM_XOR || op == GR_TERM_EQ;
}

const GrTerm *gr_term_1(GrTerms *t, GrTermOp op, uint32_t bits, const GrTerm *a) {
    if (!a)
        return NULL;
    if (op == GR_TERM_NOT)
        bits = a->bits;
    if (bits == a->bits && op != GR_TERM_NOT)
        return a;
    if (a->op == GR_TERM_CONST)
        return gr_term_const(t, bits, gr_machine_op(op, bits, a->bits, a->value, 0, 0));
    if (op == GR_TERM_NOT && a->op == GR_TERM_NOT)
        return a->arg[0];
    if (op == a->op && (op == GR_TERM_SEXT || op == GR_TERM_ZEXT || op == GR_TERM_TRUNC))
        return gr_term_1(t, op, bits, a->arg[0]);
    // What was extended and is cut again.
    if (op == GR_TERM_TRUNC && (a->op == GR_TERM_SEXT || a->op == GR_TERM_ZEXT)) {
        if (bits <= a->arg[0]->bits)
            return gr_term_1(t, op, bits, a->arg[0]);
        return gr_term_1(t, a->op, bits, a->arg[0]);
    }
    return make(t, &(GrTerm){.op = op, .bits = bits, .arg = {a}});
}

// a OP b where the result is an operand or a constant; NULL: it is not.
static const GrTerm *simpler(GrTerms *t, GrTermOp op, const GrTerm *a, const GrTerm *b) {
    uint32_t bits = a->bits;
    uint64_t all = gr_mask_bits(bits);
    bool zero = gr_term_is_const(b, 0), one = gr_term_is_const(b, 1), full = gr_term_is_const(b, all);
    switch (op) {
    case GR_TERM_ADD:
    case GR_TERM_SHL:
    case GR_TERM_LSHR:
    case GR_TERM_ASHR: return zero ? a : NULL;
    case GR_TERM_SUB: return zero ? a : a == b ? gr_term_const(t, bits, 0) : NULL;
    case GR_TERM_MUL: return zero ? b : one ? a : NULL;
    case GR_TERM_SDIV:
    case GR_TERM_UDIV: return one && bits > 1 ? a : NULL;
    case GR_TERM_UREM:
    case GR_TERM_SREM: return one && bits > 1 ? gr_term_const(t, bits, 0) : NULL;
    case GR_TERM_AND: return zero ? b : full || a == b ? a : NULL;
    case GR_TERM_OR: return zero || a == b ? a : full ? b : NULL;
    case GR_TERM_XOR: return zero ? a : a == b ? gr_term_const(t, bits, 0) : NULL;
    case GR_TERM_EQ: return a == b ? gr_term_true(t) : bits == 1 && one ? a : NULL;
    case GR_TERM_SLE:
    case GR_TERM_ULE: return a == b ? gr_term_true(t) : NULL;
    case GR_TERM_SLT:
    case GR_TERM_ULT: return a == b ? gr_term_false(t) : NULL;
    default: return NULL;
    }
}

// (x + c) + d and (x * c) * d with constants.
static const GrTerm *gathered(GrTerms *t, GrTermOp op, const GrTerm *a, const GrTerm *b) {
    if ((op != GR_TERM_ADD && op != GR_TERM_MUL) || b->op != GR_TERM_CONST || a->op != op ||
        a->arg[1]->op != GR_TERM_CONST)
        return NULL;
    uint64_t both = gr_machine_op(op, a->bits, a->bits, a->arg[1]->value, b->value, 0);
    return gr_term_2(t, op, a->arg[0], gr_term_const(t, a->bits, both));
}

const GrTerm *gr_term_2(GrTerms *t, GrTermOp op, const GrTerm *a, const GrTerm *b) {
    if (!a || !b)
        return NULL;
    uint32_t bits = is_comparison(op) ? 1 : a->bits;
    if (a->op == GR_TERM_CONST && b->op == GR_TERM_CONST)
        return gr_term_const(t, bits, gr_machine_op(op, bits, a->bits, a->value, b->value, 0));
    if (commutes(op) && (a->op == GR_TERM_CONST || (b->op != GR_TERM_CONST && a->id > b->id))) {
        const GrTerm *swap = a;
        a = b;
        b = swap;
    }
    if (op == GR_TERM_SUB && b->op == GR_TERM_CONST && a->bits > 1) // one form for both
        return gr_term_2(t, GR_TERM_ADD, a, gr_term_const(t, bits, 0 - b->value));
    const GrTerm *less = simpler(t, op, a, b);
    less = less ? less : gathered(t, op, a, b);
    return less ? less : make(t, &(GrTerm){.op = op, .bits = bits, .arg = {a, b}});
}

const GrTerm *gr_term_ite(GrTerms *t, const GrTerm *c, const GrTerm *a, const GrTerm *b) {
    if (!c || !a || !b)
        return NULL;
    if (c->op == GR_TERM_CONST)
        return c->value ? a : b;
    if (a == b)
        return a;
    if (c->op == GR_TERM_NOT)
        return gr_term_ite(t, c->arg[0], b, a);
    if (a->bits == 1 && gr_term_is_const(a, 1) && gr_term_is_const(b, 0))
        return c;
    return make(t, &(GrTerm){.op = GR_TERM_ITE, .bits = a->bits, .arg = {c, a, b}});
}

const GrTerm *gr_term_resize(GrTerms *t, uint32_t bits, bool is_signed, const GrTerm *a) {
    if (!a)
        return NULL;
    GrTermOp op = bits < a->bits ? GR_TERM_TRUNC : is_signed ? GR_TERM_SEXT : GR_TERM_ZEXT;
    return gr_term_1(t, op, bits, a);
}

// ---- Changing ----------------------------------------------------------------------------------------------------

typedef struct Copy {
    GrTerms *t;
    const GrReplace *r;
    Map done; // by id
} Copy;

static const GrTerm *copy(Copy *c, const GrTerm *a);

static const GrTerm *rebuilt(Copy *c, const GrTerm *a) {
    const GrTerm *arg[3] = {NULL};
    for (unsigned k = 0; k < operands[a->op]; k++)
        if (!(arg[k] = copy(c, a->arg[k])))
            return NULL;
    switch (a->op) {
    case GR_TERM_CONST: return a;
    case GR_TERM_SYM: {
        const GrTerm *to = c->r->symbol ? c->r->symbol(c->r->user, c->t, a->sym) : NULL;
        return to ? to : a;
    }
    case GR_TERM_READ: {
        const GrSymbol *to = c->r->object ? c->r->object(c->r->user, c->t, a->sym) : NULL;
        return gr_term_read(c->t, a->bits, to ? to : a->sym, arg[0]);
    }
    case GR_TERM_ITE: return gr_term_ite(c->t, arg[0], arg[1], arg[2]);
    default:
        return operands[a->op] == 1 ? gr_term_1(c->t, a->op, a->bits, arg[0])
                                    : gr_term_2(c->t, a->op, arg[0], arg[1]);
    }
}

static const GrTerm *copy(Copy *c, const GrTerm *a) {
    const GrTerm *there = gr_map_get_u64(&c->done, a->id);
    if (there)
        return there;
    GrOrigin before = c->t->now;
    c->t->now = a->from;
    there = rebuilt(c, a);
    c->t->now = before;
    return there && gr_map_put_u64(&c->done, a->id, (void *)(uintptr_t)there) ? there : NULL;
}

const GrTerm *gr_term_replace(GrTerms *t, const GrTerm *a, const GrReplace *r) {
    if (!a)
        return NULL;
    Copy c = {.t = t, .r = r};
    const GrTerm *out = copy(&c, a);
    gr_map_free(&c.done);
    return out;
}

bool gr_symbol_is_shared(const GrSymbol *s, bool own_block) {
    return s->scope == GR_SYM_LAUNCH || (s->scope == GR_SYM_BLOCK && !own_block);
}

const GrSymbol *gr_symbol_of_thread(GrTerms *t, const GrSymbol *s, uint32_t thread, bool own_block) {
    if (s->of || gr_symbol_is_shared(s, own_block))
        return s;
    uint64_t key = (uint64_t)s->id << 2 | thread;
    GrSymbol *own = gr_map_get_u64(&t->instances, key);
    if (own)
        return own;
    char name[200];
    snprintf(name, sizeof name, "%s#%u", s->name, thread);
    own = gr_symbol(t, s->kind, s->scope, s->bits, name);
    if (!own || !gr_map_put_u64(&t->instances, key, own))
        return NULL;
    uint32_t id = own->id;
    const char *called = own->name;
    *own = *s;
    own->id = id;
    own->name = called;
    own->of = s;
    own->thread = thread;
    return own;
}

typedef struct Thread {
    uint32_t number;
    bool own_block;
} Thread;

static const GrTerm *instance(void *user, GrTerms *t, const GrSymbol *s) {
    const Thread *th = user;
    return gr_term_sym(t, gr_symbol_of_thread(t, s, th->number, th->own_block));
}

static const GrSymbol *instance_of_object(void *user, GrTerms *t, const GrSymbol *s) {
    const Thread *th = user;
    return gr_symbol_of_thread(t, s, th->number, th->own_block);
}

const GrTerm *gr_term_of_thread(GrTerms *t, const GrTerm *a, uint32_t thread, bool own_block) {
    Thread th = {thread, own_block};
    return gr_term_replace(t, a, &(GrReplace){instance, instance_of_object, &th});
}
