// SPDX-License-Identifier: Apache-2.0
// Terms: what is built means what its parts mean on a machine, whatever was folded; equal terms are one; instances keep
// threads apart.
#include "base/rng.h"
#include "engines/verifier/term/machine.h"
#include "engines/verifier/term/range.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

// A term and what it has to be, built side by side with the symbols a, b, c of one width.
typedef struct Pair {
    const GrTerm *term;
    uint64_t value;
} Pair;

static uint64_t values[3];
static const GrSymbol *symbols[3];

static uint64_t value_of(void *user, const GrSymbol *s) {
    (void)user;
    for (unsigned k = 0; k < 3; k++)
        if (symbols[k] == s)
            return values[k];
    return 0;
}
static uint64_t no_read(void *user, const GrSymbol *s, uint64_t offset, uint32_t bits) {
    (void)user, (void)s, (void)bits;
    return offset * 3;
}
static const GrValues machine = {value_of, no_read, NULL};

static Pair leaf(GrTerms *t, Rng *seed, uint32_t bits) {
    static const uint64_t special[] = {0, 1, 2, UINT64_MAX, 3, 7};
    unsigned k = gr_rng_next(seed) % 4;
    if (k < 3)
        return (Pair){gr_term_sym(t, symbols[k]), values[k]};
    uint64_t v = gr_rng_next(seed) % 2 ? special[gr_rng_next(seed) % 6] : gr_rng_next(seed);
    return (Pair){gr_term_const(t, bits, v), v & gr_mask_bits(bits)};
}

static Pair grown(GrTerms *t, Rng *seed, uint32_t bits, unsigned depth) {
    if (!depth)
        return leaf(t, seed, bits);
    Pair a = grown(t, seed, bits, depth - 1), b = grown(t, seed, bits, depth - 1);
    unsigned pick = gr_rng_next(seed) % 16;
    if (pick < 12) {
        GrTermOp op = GR_TERM_ADD + pick;
        if (op >= GR_TERM_NOT)
            op = GR_TERM_XOR;
        return (Pair){gr_term_2(t, op, a.term, b.term), gr_machine_op(op, bits, bits, a.value, b.value, 0)};
    }
    if (pick == 12)
        return (Pair){gr_term_1(t, GR_TERM_NOT, bits, a.term), ~a.value & gr_mask_bits(bits)};
    if (pick == 13) { // cut and extended again
        bool sign = gr_rng_next(seed) % 2;
        const GrTerm *cut = gr_term_resize(t, bits / 2, false, a.term);
        uint64_t half = a.value & gr_mask_bits(bits / 2);
        uint64_t wide = sign ? (uint64_t)gr_sign_extend(half, bits / 2) & gr_mask_bits(bits) : half;
        return (Pair){gr_term_resize(t, bits, sign, cut), wide};
    }
    if (pick == 14)
        return (Pair){gr_term_read(t, bits, symbols[0], a.term), a.value * 3 & gr_mask_bits(bits)};
    GrTermOp op = GR_TERM_EQ + gr_rng_next(seed) % 5;
    const GrTerm *c = gr_term_2(t, op, a.term, b.term);
    bool holds = gr_machine_op(op, 1, bits, a.value, b.value, 0);
    return (Pair){gr_term_ite(t, c, b.term, a.term), holds ? b.value : a.value};
}

static void test_random(void **state) {
    (void)state;
    Rng seed = gr_rng(7);
    for (unsigned n = 0; n < 4000; n++) {
        uint32_t bits = (const uint32_t[]){8, 16, 32, 64}[n % 4];
        GrTerms t;
        gr_terms_init(&t);
        for (unsigned k = 0; k < 3; k++) {
            symbols[k] = gr_symbol(&t, GR_SYM_FREE, GR_SYM_THREAD, bits, "s");
            values[k] =
                (gr_rng_next(&seed) % 3 ? gr_rng_next(&seed) % 4 : gr_rng_next(&seed)) & gr_mask_bits(bits);
        }
        Pair p = grown(&t, &seed, bits, 1 + n % 5);
        uint64_t value;
        assert_non_null(p.term);
        assert_int_equal(p.term->bits, bits);
        assert_true(gr_term_value(p.term, &machine, &value));
        assert_int_equal(value, p.value);
        gr_terms_free(&t);
    }
}

// A term or a part of it, compared with a constant that is often near, or the contrary.
static Pair compared(GrTerms *t, Rng *seed, Pair p) {
    static const GrTermOp ops[] = {GR_TERM_EQ, GR_TERM_SLT, GR_TERM_SLE, GR_TERM_ULT, GR_TERM_ULE};
    uint32_t bits = p.term->bits;
    GrTermOp op = ops[gr_rng_next(seed) % 5];
    const GrTerm *part = p.term;
    while (part->arg[0] && part->arg[0]->bits == bits && gr_rng_next(seed) % 2)
        part = part->arg[0];
    uint64_t a, v;
    assert_true(gr_term_value(part, &machine, &a));
    v = (gr_rng_next(seed) % 4 ? a + gr_rng_next(seed) % 5 - 2 : gr_rng_next(seed)) & gr_mask_bits(bits);
    const GrTerm *c = gr_term_const(t, bits, v);
    bool swap = gr_rng_next(seed) % 2, negate = gr_rng_next(seed) % 2;
    bool holds = gr_machine_op(op, 1, bits, swap ? v : a, swap ? a : v, 0);
    const GrTerm *is = swap ? gr_term_2(t, op, c, part) : gr_term_2(t, op, part, c);
    return (Pair){negate ? gr_term_1(t, GR_TERM_NOT, 1, is) : is, holds != negate};
}

// A value is in its range where the guard holds.
static void test_ranges(void **state) {
    (void)state;
    Rng seed = gr_rng(11);
    unsigned held = 0, bounded = 0;
    for (unsigned n = 0; n < 20000; n++) {
        uint32_t bits = (const uint32_t[]){8, 16, 32, 64}[n % 4];
        GrTerms t;
        gr_terms_init(&t);
        for (unsigned k = 0; k < 3; k++) {
            GrSymbol *s = gr_symbol(&t, GR_SYM_FREE, GR_SYM_THREAD, bits, "s");
            values[k] =
                (gr_rng_next(&seed) % 3 ? gr_rng_next(&seed) % 4 : gr_rng_next(&seed)) & gr_mask_bits(bits);
            if (values[k] < 100) {
                s->low = (int64_t)(gr_rng_next(&seed) % (values[k] + 1));
                s->high = (int64_t)(values[k] + gr_rng_next(&seed) % 20);
            }
            symbols[k] = s;
        }
        Pair p = grown(&t, &seed, bits, 1 + n % 4);
        const GrTerm *guard = gr_term_true(&t);
        bool holds = true;
        for (unsigned k = gr_rng_next(&seed) % 3; k--;) {
            Pair c = compared(&t, &seed, p), d = compared(&t, &seed, p);
            bool either = gr_rng_next(&seed) % 3 == 0;
            guard = gr_term_2(&t, GR_TERM_AND, guard,
                              either ? gr_term_2(&t, GR_TERM_OR, c.term, d.term) : c.term);
            holds = holds && (either ? c.value || d.value : c.value);
        }
        GrTermRange r = gr_term_range(p.term, guard);
        int64_t value = gr_sign_extend(p.value, bits);
        held += holds;
        bounded += holds && (uint64_t)r.high - (uint64_t)r.low - 1 < 19;
        assert_true(!holds || (r.low <= value && value <= r.high));
        gr_terms_free(&t);
    }
    assert_true(held > 5000 && bounded > 500);
}

static void test_one_object(void **state) {
    (void)state;
    GrTerms t;
    gr_terms_init(&t);
    const GrTerm *x = gr_term_sym(&t, gr_symbol(&t, GR_SYM_HOST, GR_SYM_LAUNCH, 32, "x"));
    const GrTerm *y = gr_term_sym(&t, gr_symbol(&t, GR_SYM_HOST, GR_SYM_LAUNCH, 32, "y"));
    const GrTerm *two = gr_term_const(&t, 32, 2);
    assert_ptr_equal(gr_term_2(&t, GR_TERM_ADD, x, y), gr_term_2(&t, GR_TERM_ADD, y, x));
    assert_ptr_not_equal(gr_term_2(&t, GR_TERM_SUB, x, y), gr_term_2(&t, GR_TERM_SUB, y, x));
    assert_ptr_equal(gr_term_2(&t, GR_TERM_SUB, gr_term_2(&t, GR_TERM_ADD, x, two), two), x);
    assert_ptr_equal(gr_term_2(&t, GR_TERM_SUB, x, x), gr_term_const(&t, 32, 0));
    assert_null(gr_term_2(&t, GR_TERM_ADD, x, NULL));
    gr_terms_free(&t);
}

static void count(void *user, const GrSymbol *s) {
    (void)s;
    ++*(unsigned *)user;
}

static void test_threads(void **state) {
    (void)state;
    GrTerms t;
    gr_terms_init(&t);
    const GrTerm *tid = gr_term_sym(&t, gr_symbol(&t, GR_SYM_SPECIAL, GR_SYM_THREAD, 32, "%tid.x"));
    const GrTerm *block = gr_term_sym(&t, gr_symbol(&t, GR_SYM_SPECIAL, GR_SYM_BLOCK, 32, "%ctaid.x"));
    const GrTerm *n = gr_term_sym(&t, gr_symbol(&t, GR_SYM_PARAM, GR_SYM_LAUNCH, 32, "n"));
    const GrTerm *i = gr_term_2(&t, GR_TERM_ADD, gr_term_2(&t, GR_TERM_MUL, block, n), tid);
    const GrTerm *one = gr_term_of_thread(&t, i, 1, false), *two = gr_term_of_thread(&t, i, 2, false);
    const GrTerm *far = gr_term_of_thread(&t, i, 2, true);
    unsigned seen = 0;
    assert_ptr_not_equal(one, two);
    assert_ptr_not_equal(two, far);
    assert_ptr_equal(one, gr_term_of_thread(&t, i, 1, false));
    assert_true(gr_term_symbols(gr_term_2(&t, GR_TERM_SUB, one, two), count, &seen));
    assert_int_equal(seen, 4); // the block and n are shared
    seen = 0;
    assert_true(gr_term_symbols(gr_term_2(&t, GR_TERM_SUB, one, far), count, &seen));
    assert_int_equal(seen, 5);
    const GrSymbol *object = gr_symbol(&t, GR_SYM_OBJECT, GR_SYM_LAUNCH, 64, "s");
    const GrTerm *address = gr_term_sym(&t, object), *read = gr_term_read(&t, 32, object, address);
    seen = 0;
    assert_true(gr_term_reads(address, count, &seen));
    assert_int_equal(seen, 0);
    assert_true(gr_term_reads(gr_term_2(&t, GR_TERM_ADD, read, one), count, &seen));
    assert_int_equal(seen, 1);
    StrBuf text = {0};
    gr_term_print(one, &text);
    assert_string_equal(text.data, "(%ctaid.x * n) + %tid.x#1");
    gr_str_free(&text);
    gr_terms_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_one_object),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
