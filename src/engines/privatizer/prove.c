// SPDX-License-Identifier: Apache-2.0
#include "engines/privatizer/prove.h"

#include <stdlib.h>
#include <string.h>

// Limits of a proof: blocks of a launch, numbers that are computed, pairs of accesses, bytes of one array in which all
// threads are counted.
enum { MOST_BLOCKS = 1 << 18, MOST_NUMBERS = 1 << 24, MOST_PAIRS = 4096, MOST_CELLS = 1 << 22, KNOWN = 64 };

// The number c + block[the block's number] + thread[the thread's]; a pointer may be NULL, for nothing.
typedef struct Number {
    bool known;
    int64_t c, *block, *thread;
} Number;

typedef struct Prover {
    const GrPlaces *p;
    const GrLaunch *l;
    const Ranges *r;
    uint32_t blocks, threads;
    int64_t range[64]; // of each pointer: which memory it points into; -1: none
    Number *numbers;
    Arena arena;
} Prover;

// ---- Numbers --------------------------------------------------------------------------------------------------------

static int64_t wrap(uint64_t v, unsigned bits) { return bits == 32 ? (int32_t)(uint32_t)v : (int64_t)v; }

static uint64_t unsigned_of(int64_t v, unsigned bits) { return bits == 32 ? (uint32_t)v : (uint64_t)v; }

// Computes as the instruction does. False: a division by zero.
static bool compute(const GrPlaceNode *n, int64_t x, int64_t y, int64_t *out) {
    unsigned bits = n->bits;
    uint64_t ux = unsigned_of(x, bits), uy = unsigned_of(y, bits), shift = (uint32_t)y;
    bool overflows = y == 0 || (y == -1 && n->is_signed);
    switch (n->op) {
    case GR_PLACE_ADD: *out = wrap((uint64_t)x + (uint64_t)y, bits); return true;
    case GR_PLACE_SUB: *out = wrap((uint64_t)x - (uint64_t)y, bits); return true;
    case GR_PLACE_MUL: *out = wrap((uint64_t)x * (uint64_t)y, bits); return true;
    case GR_PLACE_AND: *out = x & y; return true;
    case GR_PLACE_OR: *out = x | y; return true;
    case GR_PLACE_XOR: *out = x ^ y; return true;
    case GR_PLACE_SHL: *out = shift >= bits ? 0 : wrap((uint64_t)x << shift, bits); return true;
    case GR_PLACE_SHR:
        *out = n->is_signed    ? x >> (shift >= bits ? bits - 1 : shift)
               : shift >= bits ? 0
                               : wrap(ux >> shift, bits);
        return true;
    case GR_PLACE_DIV:
        if (overflows)
            return false;
        *out = n->is_signed ? x / y : wrap(ux / uy, bits);
        return true;
    case GR_PLACE_REM:
        if (overflows)
            return false;
        *out = n->is_signed ? x % y : wrap(ux % uy, bits);
        return true;
    case GR_PLACE_WIDEN: *out = n->is_signed ? x : (int64_t)(uint32_t)x; return true;
    case GR_PLACE_NARROW: *out = wrap((uint64_t)x, 32); return true;
    default: return false;
    }
}

static void limits(const int64_t *v, uint32_t n, int64_t *low, int64_t *high) {
    *low = *high = v ? v[0] : 0;
    for (uint32_t k = 1; v && k < n; k++) {
        *low = v[k] < *low ? v[k] : *low;
        *high = v[k] > *high ? v[k] : *high;
    }
}

// The least and the largest of all. False: they may not fit.
static bool limits_of(const Prover *p, const Number *a, int64_t *low, int64_t *high) {
    int64_t block[2], thread[2];
    limits(a->block, p->blocks, &block[0], &block[1]);
    limits(a->thread, p->threads, &thread[0], &thread[1]);
    return !__builtin_add_overflow(block[0], thread[0], low) && !__builtin_add_overflow(*low, a->c, low) &&
           !__builtin_add_overflow(block[1], thread[1], high) && !__builtin_add_overflow(*high, a->c, high);
}

static bool fits(const Prover *p, const Number *a, int64_t least, int64_t most) {
    int64_t low, high;
    return limits_of(p, a, &low, &high) && low >= least && high <= most;
}

// Computes n for each block or each thread, as its operands depend on one of them only. `many`: of a or b or both.
static Number each(Prover *p, const GrPlaceNode *n, const Number *a, const Number *b, bool of_threads) {
    const int64_t *x = of_threads ? a->thread : a->block, *y = of_threads ? b->thread : b->block;
    uint32_t count = of_threads ? p->threads : p->blocks;
    int64_t *v = GR_NEW_ARRAY(&p->arena, int64_t, count);
    bool ok = v != NULL;
    for (uint32_t k = 0; k < count && ok; k++)
        ok = compute(n, a->c + (x ? x[k] : 0), b->c + (y ? y[k] : 0), &v[k]);
    return of_threads ? (Number){ok, 0, NULL, v} : (Number){ok, 0, v, NULL};
}

static int64_t *sum(Prover *p, int64_t *x, int64_t by_x, int64_t *y, int64_t by_y, uint32_t n, bool *ok) {
    if (!y && (!x || by_x == 1))
        return x;
    if (!x && by_y == 1)
        return y;
    int64_t *v = GR_NEW_ARRAY(&p->arena, int64_t, n);
    *ok = *ok && v;
    for (uint32_t k = 0; k < n && *ok; k++) {
        int64_t one = 0, other = 0;
        *ok = !(x && __builtin_mul_overflow(x[k], by_x, &one)) &&
              !(y && __builtin_mul_overflow(y[k], by_y, &other)) &&
              !__builtin_add_overflow(one, other, &v[k]);
    }
    return v;
}

static Number linear(Prover *p, const Number *a, int64_t by_a, const Number *b, int64_t by_b) {
    Number to = {.known = true};
    int64_t one, other;
    to.known = !__builtin_mul_overflow(a->c, by_a, &one) && !__builtin_mul_overflow(b->c, by_b, &other) &&
               !__builtin_add_overflow(one, other, &to.c);
    to.block = sum(p, a->block, by_a, b->block, by_b, p->blocks, &to.known);
    to.thread = sum(p, a->thread, by_a, b->thread, by_b, p->threads, &to.known);
    return to;
}

static bool is_constant(const Number *a) { return !a->block && !a->thread; }

// The bits that any of the numbers has; the number depends on blocks or threads only.
static uint64_t bits_of(const Prover *p, const Number *a) {
    uint64_t bits = 0;
    for (uint32_t k = 0; k < (a->block ? p->blocks : a->thread ? p->threads : 1); k++)
        bits |= (uint64_t)(a->c + (a->block ? a->block[k] : a->thread ? a->thread[k] : 0));
    return bits;
}

// Computes numbers that depend on block and thread: sums of what depends on either.
static Number mixed(Prover *p, const GrPlaceNode *n, const Number *a, const Number *b) {
    static const Number nothing = {.known = true};
    Number to = {0};
    bool one_each = !(a->block && a->thread) && !(b->block && b->thread);
    if (n->op == GR_PLACE_ADD || n->op == GR_PLACE_SUB)
        to = linear(p, a, 1, b, n->op == GR_PLACE_ADD ? 1 : -1);
    else if (n->op == GR_PLACE_MUL && (is_constant(a) || is_constant(b)))
        to = is_constant(b) ? linear(p, a, b->c, &nothing, 0) : linear(p, b, a->c, &nothing, 0);
    else if (n->op == GR_PLACE_SHL && is_constant(b) && b->c >= 0 && b->c < 31)
        to = linear(p, a, (int64_t)1 << b->c, &nothing, 0);
    else if (n->op == GR_PLACE_OR && one_each && !(bits_of(p, a) & bits_of(p, b)))
        to = linear(p, a, 1, b, 1);
    else if (n->op == GR_PLACE_WIDEN || n->op == GR_PLACE_NARROW)
        to = *a;
    // Within these limits no number is cut off, and none is read with another sign.
    int64_t least = n->op == GR_PLACE_WIDEN && !n->is_signed ? 0
                    : n->bits == 32                          ? INT32_MIN
                                                             : INT64_MIN / 2,
            most = n->bits == 32 ? INT32_MAX : INT64_MAX / 2;
    to.known = to.known && fits(p, &to, least, most);
    return to;
}

static Number of_place(Prover *p, const GrPlaceNode *n) {
    bool of_threads = n->op == GR_PLACE_THREAD;
    const uint32_t *size = of_threads ? p->l->block : p->l->grid;
    uint32_t count = of_threads ? p->threads : p->blocks, below = 1;
    int64_t *v = GR_NEW_ARRAY(&p->arena, int64_t, count);
    for (uint32_t k = 0; k < n->a; k++)
        below *= size[k];
    for (uint32_t k = 0; v && k < count; k++)
        v[k] = k / below % size[n->a];
    return of_threads ? (Number){v != NULL, 0, NULL, v} : (Number){v != NULL, 0, v, NULL};
}

static Number of_param(const Prover *p, const GrPlaceNode *n) {
    int64_t v = 0;
    const GrParam *param = n->a < p->l->n_params ? &p->l->layout[n->a] : NULL;
    if (!param || n->value < 0 || (uint64_t)n->value + n->b > param->size ||
        param->offset + param->size > p->l->param_bytes)
        return (Number){0};
    memcpy(&v, (const char *)p->l->params + param->offset + n->value, n->b);
    return (Number){true, wrap((uint64_t)v, n->bits), NULL, NULL};
}

static Number number_of(Prover *p, const GrPlaceNode *n) {
    static const Number nothing = {.known = true};
    switch (n->op) {
    case GR_PLACE_UNKNOWN: return (Number){0};
    case GR_PLACE_INT: return (Number){true, n->value, NULL, NULL};
    case GR_PLACE_PARAM: return of_param(p, n);
    case GR_PLACE_THREAD:
    case GR_PLACE_BLOCK: return of_place(p, n);
    case GR_PLACE_THREADS: return (Number){true, p->l->block[n->a], NULL, NULL};
    case GR_PLACE_BLOCKS: return (Number){true, p->l->grid[n->a], NULL, NULL};
    default: break;
    }
    const Number *a = &p->numbers[n->a], *b = n->op < GR_PLACE_WIDEN ? &p->numbers[n->b] : &nothing;
    if (!a->known || !b->known)
        return (Number){0};
    bool blocks = a->block || b->block, threads = a->thread || b->thread;
    if (blocks && threads)
        return mixed(p, n, a, b);
    if (blocks || threads)
        return each(p, n, a, b, threads);
    Number to = {0};
    to.known = compute(n, a->c, b->c, &to.c);
    return to;
}

// ---- Bytes ----------------------------------------------------------------------------------------------------------

typedef struct Bytes {
    int64_t low, high; // high: behind the last
    uint32_t who;      // the thread or block
    uint32_t which;    // of two accesses
} Bytes;

static int by_low(const void *a, const void *b) {
    const Bytes *x = a, *y = b;
    return (x->low > y->low) - (x->low < y->low);
}

// No two units come to the same bytes, one by each access (`same`: both are one access). In doubt false.
static bool are_apart(Bytes *v, size_t n, bool same) {
    size_t steps = 0;
    bool sorted = true;
    for (size_t k = 1; k < n && sorted; k++)
        sorted = v[k - 1].low <= v[k].low;
    if (!sorted)
        qsort(v, n, sizeof *v, by_low);
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n && v[j].low < v[i].high; j++)
            if ((v[i].who != v[j].who && (same || v[i].which != v[j].which)) || ++steps > 8 * n)
                return false;
    return true;
}

// The two count as one access: a thread that comes to one comes to the other.
static bool is_same(const Prover *p, const GrPlace *a, const GrPlace *b) {
    const Number *x = &p->numbers[a->node], *y = &p->numbers[b->node];
    return a == b || (x->c == y->c && x->block == y->block && x->thread == y->thread && a->size == b->size &&
                      !a->n_guards && !b->n_guards);
}

static bool holds(const GrPlaceGuard *g, int64_t x, int64_t y) {
    uint64_t ux = unsigned_of(x, g->bits), uy = unsigned_of(y, g->bits);
    bool less = g->is_signed ? x < y : ux < uy;
    switch (g->compare) {
    case GR_PLACE_EQ: return x == y;
    case GR_PLACE_NE: return x != y;
    case GR_PLACE_LT: return less;
    case GR_PLACE_LE: return less || x == y;
    case GR_PLACE_GT: return !less && x != y;
    default: return !less;
    }
}

// Thread number t of any block may come to the access. Guards that depend on the block, or are not known, do not count.
static bool comes(const Prover *p, const GrPlace *a, uint32_t t) {
    for (uint32_t k = 0; k < a->n_guards; k++) {
        const GrPlaceGuard *g = &a->guards[k];
        const Number *x = &p->numbers[g->a], *y = &p->numbers[g->b];
        if (x->known && y->known && !x->block && !y->block &&
            holds(g, x->c + (x->thread ? x->thread[t] : 0), y->c + (y->thread ? y->thread[t] : 0)) !=
                g->holds)
            return false;
    }
    return true;
}

static bool threads_are_apart(Prover *p, const GrPlace *a, const GrPlace *b) {
    const Number *x = &p->numbers[a->node], *y = &p->numbers[b->node];
    bool same = is_same(p, a, b);
    size_t n = 0;
    // The distance of the two must be the same in all blocks.
    int64_t between = y->c - x->c + (y->block ? y->block[0] : 0) - (x->block ? x->block[0] : 0);
    for (uint32_t k = 1; k < p->blocks && (x->block || y->block) && x->block != y->block; k++)
        if (y->c - x->c + (y->block ? y->block[k] : 0) - (x->block ? x->block[k] : 0) != between)
            return false;
    Bytes *v = calloc(2 * (size_t)p->threads, sizeof *v);
    for (uint32_t k = 0; v && k < p->threads; k++)
        if (comes(p, a, k))
            v[n++] = (Bytes){x->thread ? x->thread[k] : 0, (x->thread ? x->thread[k] : 0) + a->size, k, 0};
    for (uint32_t k = 0; v && !same && k < p->threads; k++) {
        int64_t low = between + (y->thread ? y->thread[k] : 0);
        if (comes(p, b, k))
            v[n++] = (Bytes){low, low + b->size, k, 1};
    }
    bool apart = v && are_apart(v, n, same);
    free(v);
    return apart;
}

// The least and the largest that threads which may come to the access add to its address. False: none comes.
static bool limits_of_comers(const Prover *p, const GrPlace *a, int64_t *low, int64_t *high) {
    const int64_t *v = p->numbers[a->node].thread;
    bool any = false;
    for (uint32_t k = 0; k < p->threads; k++) {
        int64_t at = v ? v[k] : 0;
        if (!comes(p, a, k))
            continue;
        *low = !any || at < *low ? at : *low;
        *high = !any || at > *high ? at : *high;
        any = true;
    }
    return any;
}

// No element is accessed from two blocks: goes through all threads of all blocks.
static bool elements_are_apart(Prover *p, const GrPlace *a) {
    const Number *x = &p->numbers[a->node];
    uint32_t size = a->size;
    int64_t low, high;
    if ((uint64_t)p->blocks * p->threads > MOST_CELLS || !limits_of(p, x, &low, &high) ||
        (high - low) / size >= MOST_CELLS)
        return false;
    uint32_t *owner = calloc((size_t)((high - low) / size) + 1, sizeof *owner);
    bool apart = owner != NULL;
    for (uint32_t b = 0; b < p->blocks && apart; b++)
        for (uint32_t t = 0; t < p->threads && apart; t++) {
            if (!comes(p, a, t))
                continue;
            int64_t at = x->c + (x->block ? x->block[b] : 0) + (x->thread ? x->thread[t] : 0) - low;
            uint32_t *o = &owner[at / size];
            apart = at % size == 0 && (*o == 0 || *o == b + 1);
            *o = b + 1;
        }
    free(owner);
    return apart;
}

static bool blocks_are_apart(Prover *p, const GrPlace *a, const GrPlace *b) {
    const Number *number[2] = {&p->numbers[a->node], &p->numbers[b->node]};
    uint32_t size[2] = {a->size, b->size};
    bool same = is_same(p, a, b);
    size_t n = 0;
    Bytes *v = calloc(2 * (size_t)p->blocks, sizeof *v);
    for (uint32_t which = 0; v && which < (same ? 1 : 2); which++) {
        const Number *x = number[which];
        int64_t low, high;
        if (!limits_of_comers(p, which ? b : a, &low, &high))
            continue;
        for (uint32_t k = 0; v && k < p->blocks; k++) {
            int64_t at = x->c + (x->block ? x->block[k] : 0);
            v[n++] = (Bytes){at + low, at + high + size[which], k, which};
        }
    }
    bool apart = v && are_apart(v, n, same);
    free(v);
    return apart || (same && elements_are_apart(p, a));
}

// ---- Memory ---------------------------------------------------------------------------------------------------------

static int64_t range_of(const Ranges *r, uint64_t at, CUcontext context) {
    for (size_t k = 0; k < r->list.len; k++)
        if (at - r->list.data[k].at < r->list.data[k].size &&
            (!r->list.data[k].context || r->list.data[k].context == context))
            return (int64_t)k;
    return -1;
}

static void find_ranges(Prover *p) {
    for (uint32_t k = 0; k < p->p->n_pointers; k++) {
        uint32_t param = p->p->pointers[k].param, offset = p->p->pointers[k].offset;
        uint64_t at = 0;
        p->range[k] = -1;
        if (param >= p->l->n_params || offset + sizeof at > p->l->layout[param].size)
            continue;
        memcpy(&at, (const char *)p->l->params + p->l->layout[param].offset + offset, sizeof at);
        p->range[k] = range_of(p->r, at, p->l->context);
    }
}

// The memory that the pointers among these parameters point into; -1: none, or several.
static int64_t memory_of(const Prover *p, uint64_t params) {
    int64_t range = -1;
    for (uint32_t k = 0; k < p->p->n_pointers; k++) {
        if (!(params >> k & 1) || p->range[k] < 0)
            continue;
        if (range >= 0 && range != p->range[k])
            return -1;
        range = p->range[k];
    }
    return range;
}

// The two are in different memory, whatever the indices. *same: they are in the same; neither: not known.
static bool are_elsewhere(const Prover *p, const GrPlace *a, const GrPlace *b, bool *same) {
    *same = false;
    if (a->shared != b->shared) {
        const GrPlace *other = a->shared ? b : a;
        return !other->generic || !other->lost;
    }
    if (a->shared) { // indices of one variable need not be known to tell it from another, but the others' need
        *same = a->var == b->var && a->node && b->node;
        return a->node && b->node && a->var != b->var;
    }
    if (a->lost || b->lost)
        return false;
    int64_t one = a->var ? -1 : memory_of(p, a->params), other = b->var ? -1 : memory_of(p, b->params);
    if ((!a->var && one < 0) || (!b->var && other < 0))
        return false;
    if (a->var || b->var) { // a pointer to a variable may be a parameter, too
        *same = a->var == b->var;
        int64_t range = a->var ? other : one;
        return a->var && b->var ? a->var != b->var : p->r->list.data[range].kind != GR_RANGE_GLOBAL;
    }
    *same = one == other;
    return one != other;
}

static bool cannot_race(const GrPlace *a, const GrPlace *b, bool blocks) {
    if (!a->write && !b->write)
        return true;
    return a->atomic && b->atomic && a->size == b->size && !(blocks && (a->of_block || b->of_block));
}

static bool pair_is_proved(Prover *p, const GrPlace *a, const GrPlace *b, bool blocks) {
    bool same;
    if (cannot_race(a, b, blocks) || are_elsewhere(p, a, b, &same))
        return true;
    return same && p->numbers[a->node].known && p->numbers[b->node].known &&
           (blocks ? blocks_are_apart(p, a, b) : threads_are_apart(p, a, b));
}

static bool is_proved(Prover *p, bool blocks) {
    const GrPlaces *places = p->p;
    size_t pairs = 0;
    for (uint32_t i = 0; i < places->n_places; i++)
        for (uint32_t k = i; k < places->n_places; k++) {
            const GrPlace *a = &places->places[i], *b = &places->places[k];
            // A block's shared memory is its own.
            if (blocks ? a->shared || b->shared : !gr_places_meet(places, i, k))
                continue;
            if (cannot_race(a, b, blocks))
                continue;
            if (++pairs > MOST_PAIRS || !pair_is_proved(p, a, b, blocks))
                return false;
        }
    return true;
}

// Finds memory that places of a group load from and nothing writes to.
static void find_only_read(const Prover *p, GrPrivProved *out) {
    const GrPlaces *places = p->p;
    for (uint32_t i = 0; i < places->n_places; i++) {
        const GrPlace *a = &places->places[i];
        GrPrivProved *to = a->group ? &out[a->group - 1] : NULL;
        int64_t range = to ? memory_of(p, a->params) : -1;
        bool same, written = false;
        if (range < 0 || to->size)
            continue;
        for (uint32_t k = 0; k < places->n_places && !written; k++)
            written = places->places[k].write && !are_elsewhere(p, a, &places->places[k], &same);
        if (!written)
            *to = (GrPrivProved){p->r->list.data[range].at, p->r->list.data[range].size};
    }
}

// The place may be in this memory.
static bool may_be_in(const Prover *p, const GrPlace *a, int64_t range) {
    if (a->shared)
        return a->generic && a->lost;
    int64_t its = a->lost || a->var ? -1 : memory_of(p, a->params);
    return its < 0 ? a->lost || !a->var || p->r->list.data[range].kind == GR_RANGE_GLOBAL : its == range;
}

// Nothing reads from the memory, and no two units write the same bytes there.
static bool is_only_written(Prover *p, int64_t range, bool blocks, size_t *pairs) {
    const GrPlaces *places = p->p;
    for (uint32_t i = 0; i < places->n_places; i++) {
        const GrPlace *a = &places->places[i];
        if (!may_be_in(p, a, range))
            continue;
        if (!a->write || a->atomic)
            return false;
        for (uint32_t k = i; k < places->n_places; k++)
            if (may_be_in(p, &places->places[k], range) && (blocks || gr_places_meet(places, i, k)) &&
                (++*pairs > MOST_PAIRS || !pair_is_proved(p, a, &places->places[k], blocks)))
                return false;
    }
    return true;
}

static void find_only_written(Prover *p, bool blocks, GrPrivProved *out) {
    const GrPlaces *places = p->p;
    size_t pairs = 0;
    for (uint32_t i = 0; i < places->n_places; i++) {
        const GrPlace *a = &places->places[i];
        GrPrivProved *to = a->puts ? &out[a->puts - 1] : NULL;
        int64_t range = to ? memory_of(p, a->params) : -1;
        if (range >= 0 && !to->size && is_only_written(p, range, blocks, &pairs))
            *to = (GrPrivProved){p->r->list.data[range].at, p->r->list.data[range].size};
    }
}

// ---- Launches -------------------------------------------------------------------------------------------------------

static uint64_t mix(uint64_t sum, uint64_t v) {
    sum = (sum ^ v) * UINT64_C(0x9e3779b97f4a7c15);
    return sum ^ sum >> 29;
}

// A number for everything on which the proof depends.
static uint64_t number_of_launch(const Prover *p) {
    uint64_t sum = 0;
    for (unsigned k = 0; k < 3; k++)
        sum = mix(mix(sum, p->l->grid[k]), p->l->block[k]);
    for (size_t k = 0; k < p->l->param_bytes; k++)
        sum = mix(sum, ((const unsigned char *)p->l->params)[k]);
    for (uint32_t k = 0; k < p->p->n_pointers; k++) {
        const GrRange *r = p->range[k] < 0 ? NULL : &p->r->list.data[p->range[k]];
        sum = mix(sum, r ? r->at : 0);
        sum = mix(sum, r ? r->size + r->kind : 0);
    }
    return sum;
}

static void prove(Prover *p, Proved *out) {
    uint64_t blocks = (uint64_t)p->l->grid[0] * p->l->grid[1] * p->l->grid[2],
             threads = (uint64_t)p->l->block[0] * p->l->block[1] * p->l->block[2];
    if (!blocks || !threads || blocks > MOST_BLOCKS || threads > 1024 ||
        blocks * p->p->n_nodes > MOST_NUMBERS)
        return;
    p->blocks = (uint32_t)blocks;
    p->threads = (uint32_t)threads;
    p->numbers = GR_NEW_ARRAY(&p->arena, Number, p->p->n_nodes);
    if (!p->numbers)
        return;
    for (uint32_t k = 0; k < p->p->n_nodes; k++)
        p->numbers[k] = number_of(p, &p->p->nodes[k]);
    out->levels = (is_proved(p, true) ? GR_PROVED_BLOCKS : 0) | (is_proved(p, false) ? GR_PROVED_THREADS : 0);
    find_only_written(p, true, out->only_written[0]);
    find_only_written(p, false, out->only_written[1]);
}

Proved gr_prove(const GrPlaces *places, const GrLaunch *l, const Ranges *r, Proofs *known) {
    Prover p = {.p = places, .l = l, .r = r};
    Proved proved = {0};
    if (!places || !l->params_known)
        return proved;
    find_ranges(&p);
    uint64_t launch = number_of_launch(&p);
    for (size_t k = 0; k < known->known.len; k++)
        if (known->known.data[k].launch == launch)
            return known->known.data[k].proved;
    prove(&p, &proved);
    gr_arena_free(&p.arena);
    find_only_read(&p, proved.only_read);
    struct Proof one = {.launch = launch, .proved = proved};
    if (known->known.len < KNOWN) {
        (void)gr_vec_push(&known->known, one);
    } else {
        known->known.data[known->next] = one;
        known->next = (known->next + 1) % KNOWN;
    }
    return proved;
}
