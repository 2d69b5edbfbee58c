// SPDX-License-Identifier: Apache-2.0
// The solver: kernels as people write them, with and without what keeps their threads apart; bit tricks; memory that is
// read; sizes that differ; and queries that nothing decides.
#include "kernels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const char *const answers[] = {"no", "yes", "open", "assumed", "unknown"};

static void expect(const char *name, GrAnswer answer) {
    GrSolved s = solved();
    print_message("%-45s %-8s %.3f s  %s\n", name, answers[s.answer], s.seconds, s.how);
    assert_int_equal(s.answer, answer);
    assert_true(s.answer != GR_ANSWER_YES || model_is_right(&s));
    gr_solved_free(&s);
}

static void test_kernels(void **state) {
    (void)state;
    for (unsigned k = 0; k < N_KERNELS; k++) {
        begin();
        kernels[k].build();
        expect(kernels[k].name, kernels[k].answer);
    }
    end();
}

// Nobody reads the model: what is refuted stays refuted, and nothing else is.
static void test_any_model(void **state) {
    (void)state;
    for (unsigned k = 0; k < N_KERNELS; k++) {
        begin();
        kernels[k].build();
        q.any_model = true;
        GrSolved s = solved();
        assert_int_equal(s.answer == GR_ANSWER_NO, kernels[k].answer == GR_ANSWER_NO);
        assert_true(s.answer != GR_ANSWER_YES || model_is_right(&s));
        gr_solved_free(&s);
    }
    begin(); // a sum of a machine is never that large
    T x = sym(GR_SYM_LAUNCH, 32, "x", 0, INT32_MAX), y = sym(GR_SYM_LAUNCH, 32, "y", 0, INT32_MAX);
    must(lt(num(INT32_MAX), add(x, y)));
    q.any_model = true;
    expect("a sum too large, any model", GR_ANSWER_NO);
    begin(); // integers can, a machine's bytes cannot
    const GrSymbol *first = gr_symbol(&q.t, GR_SYM_OBJECT, GR_SYM_LAUNCH, 64, "first");
    must(eq(gr_term_resize(&q.t, 32, false, gr_term_read(&q.t, 8, first, wide(num(0)))), num(1)));
    must(eq(gr_term_read(&q.t, 32, first, wide(num(0))), num(2)));
    q.any_model = true;
    expect("two widths of one cell, any model", GR_ANSWER_OPEN);
    end();
}

// Two accesses that meet by 32-bit overflow only.
static void test_wrap(void **state) {
    (void)state;
    for (unsigned wrap = 0; wrap < 2; wrap++) {
        begin();
        own_block = false;
        T i = thr("i", 0, 1 << 20);
        must(ne(of(i, 1), of(i, 2)));
        T index = mul(i, num(1 << 14));
        meet(index, index, 4);
        q.wrap = wrap;
        expect("a product that overflows for any size", GR_ANSWER_YES);
    }
    end();
}

// Sizes and indices without a sign, all of 32 bits, and what is cut to 32.
static T positive_any(GrSymScope scope, const char *name) {
    return gr_term_sym(&q.t, gr_symbol(&q.t, GR_SYM_HOST, scope, 32, name));
}
static T ult(T a, T b) { return gr_term_2(&q.t, GR_TERM_ULT, a, b); }
static T widened(T a) { return gr_term_resize(&q.t, 64, false, a); }
static void meet_widened(T i, T j, int64_t size) {
    T bytes = gr_term_const(&q.t, 64, (uint64_t)size);
    q.overlap = (GrOverlap){mul(widened(of(i, 1)), bytes), mul(widened(of(j, 2)), bytes), (uint32_t)size,
                            (uint32_t)size};
    q.has_overlap = true;
}

static void test_signs(void **state) {
    (void)state;
    begin();
    launch(2, true);
    T w = positive_any(GR_SYM_LAUNCH, "w"), h = positive_any(GR_SYM_LAUNCH, "h");
    each(both(ult(at(0), w), ult(at(1), h)));
    T index = add(mul(at(1), w), at(0));
    meet_widened(index, index, 4);
    expect("rows of an unsigned length", GR_ANSWER_NO);

    begin();
    launch(1, true);
    T n = positive_any(GR_SYM_LAUNCH, "n");
    each(ult(at(0), n));
    index = sub(sub(n, num(1)), at(0));
    meet_widened(index, index, 4);
    expect("from the end, unsigned", GR_ANSWER_NO);

    begin();
    launch(1, true);
    T m = gr_term_sym(
        &q.t, gr_symbol(&q.t, GR_SYM_HOST, GR_SYM_LAUNCH, 64, "m")); // size_t m, (int)m is a row's length
    T row = gr_term_resize(&q.t, 32, false, m), y = thr("y", 0, 100);
    must(both(gr_term_2(&q.t, GR_TERM_ULT, gr_term_const(&q.t, 64, 0), m),
              gr_term_2(&q.t, GR_TERM_ULT, m, gr_term_const(&q.t, 64, 1 << 20))));
    each(lt(at(0), row));
    index = add(mul(y, row), at(0));
    meet(index, index, 4);
    expect("a size_t cut to int", GR_ANSWER_NO);

    begin(); // -1 is the largest number
    T x = positive_any(GR_SYM_LAUNCH, "x");
    must(ult(num(-2), x));
    expect("above the largest but one", GR_ANSWER_YES);
    must(lt(num(0), x));
    expect("that is not positive", GR_ANSWER_NO);
    end();
}

static void test_bytes(void **state) {
    (void)state;
    begin();
    launch(2, true);
    T pitch = sym(GR_SYM_LAUNCH, 64, "pitch", 0, (int64_t)1 << 40), width = all("width", 0, BIG);
    must(le(mul(wide(width), wide(num(4))), pitch));
    each(lt(at(0), width));
    T offset = add(mul(wide(at(1)), pitch), mul(wide(at(0)), wide(num(4))));
    q.overlap = (GrOverlap){of(offset, 1), of(offset, 2), 4, 4};
    q.has_overlap = true;
    expect("a pitch in bytes", GR_ANSWER_NO);

    static const struct {
        int64_t at, bytes, from, to; // bytes at 16 * i + at, and 4 at 16 * j + from, in other elements
        GrAnswer answer;
    } parts[] = {{3, 1, 4, 4, GR_ANSWER_NO},   {0, 16, 12, 4, GR_ANSWER_NO}, {0, 17, 0, 4, GR_ANSWER_YES},
                 {15, 1, 13, 4, GR_ANSWER_NO}, {14, 4, 0, 2, GR_ANSWER_YES}, {14, 2, -2, 2, GR_ANSWER_YES},
                 {14, 2, -3, 1, GR_ANSWER_NO}};
    for (unsigned k = 0; k < sizeof parts / sizeof *parts; k++) {
        begin();
        own_block = false;
        T i = thr("i", 0, BIG);
        must(ne(of(i, 1), of(i, 2)));
        T element = mul(wide(i), wide(num(16)));
        q.overlap = (GrOverlap){add(of(element, 1), wide(num(parts[k].at))),
                                add(of(element, 2), wide(num(parts[k].from))), (uint32_t)parts[k].bytes,
                                (uint32_t)parts[k].to};
        q.has_overlap = true;
        expect("parts of elements", parts[k].answer);
    }
    end();
}

static void test_bit_tricks(void **state) {
    (void)state;
    begin();
    launch(1, false);
    block_is(0, 256);
    T base = all("base", 0, BIG), t = l.thread[0];
    T ring = op(GR_TERM_AND, add(base, t), num(255));
    meet(ring, ring, 4);
    expect("ring buffer", GR_ANSWER_NO);

    begin(); // each pair of a bitonic sort belongs to one thread
    launch(1, false);
    block_is(0, 512);
    t = l.thread[0];
    T k = all("k", 0, 8), j = op(GR_TERM_SHL, num(1), k), partner = op(GR_TERM_XOR, t, j);
    each(lt(t, partner));
    meet(t, partner, 4);
    expect("bitonic", GR_ANSWER_NO);

    begin(); // if ((t & (2 * d - 1)) == 0) s[t] += s[t + d], d a power of two
    launch(1, false);
    block_is(0, 512);
    t = l.thread[0];
    T d = op(GR_TERM_SHL, num(1), all("k", 0, 8));
    each(eq(op(GR_TERM_AND, t, sub(mul(num(2), d), num(1))), num(0)));
    meet(t, add(t, d), 4);
    expect("reduction with a mask", GR_ANSWER_NO);

    begin();
    launch(1, false);
    t = l.thread[0];
    T half = op(GR_TERM_XOR, t, op(GR_TERM_LSHR, t, num(1)));
    meet(half, op(GR_TERM_LSHR, half, num(1)), 4);
    expect("Gray code", GR_ANSWER_YES);
    end();
}

// a[first[i] + k], where first[] is read.
static void test_reads(void **state) {
    (void)state;
    for (unsigned same = 0; same < 2; same++) {
        begin();
        launch(1, false);
        GrSymbol *first = gr_symbol(&q.t, GR_SYM_OBJECT, GR_SYM_LAUNCH, 64, "first");
        T t = l.thread[0], row = same ? all("row", 0, BIG) : thr("row", 0, BIG);
        T begins = gr_term_read(&q.t, 32, first, mul(wide(row), wide(num(4))));
        each(both(le(num(0), begins), lt(begins, num(BIG))));
        T i = add(begins, t);
        meet(i, i, 4);
        expect(same ? "one row" : "rows of memory's", same ? GR_ANSWER_NO : GR_ANSWER_YES);
    }
    begin(); // first[i] == 2 and first[j] == 3: then i is not j
    GrSymbol *first = gr_symbol(&q.t, GR_SYM_OBJECT, GR_SYM_LAUNCH, 64, "first");
    T i = all("i", 0, BIG), j = all("j", 0, BIG);
    must(eq(gr_term_read(&q.t, 32, first, mul(wide(i), wide(num(4)))), num(2)));
    must(eq(gr_term_read(&q.t, 32, first, mul(wide(j), wide(num(4)))), num(3)));
    expect("two cells", GR_ANSWER_YES);
    must(eq(i, j));
    expect("one cell", GR_ANSWER_NO);
    q.wrap = true;
    expect("one cell, as bits", GR_ANSWER_NO);
    // Of a byte in two widths the solver knows nothing: no model then, and no proof.
    begin();
    T byte = gr_term_read(&q.t, 8, first, wide(num(0))), word = gr_term_read(&q.t, 32, first, wide(num(0)));
    must(eq(gr_term_resize(&q.t, 32, false, byte), num(1)));
    must(eq(word, num(2)));
    q.seconds = 2;
    expect("two widths of one cell", GR_ANSWER_UNKNOWN);
    end();
}

static void test_nonsense(void **state) {
    (void)state;
    GrSolved s;
    gr_error err;
    begin();
    expect("nothing", GR_ANSWER_YES);
    must(gr_term_false(&q.t));
    expect("false", GR_ANSWER_NO);
    begin();
    T x = all("x", 0, BIG);
    must(both(lt(x, num(5)), lt(num(5), x)));
    expect("less and more than 5", GR_ANSWER_NO);
    begin();
    x = all("x", 0, 10);
    must(eq(quo(x, num(0)), num(-1))); // all bits
    must(eq(rem(x, num(0)), num(7)));
    expect("by 0", GR_ANSWER_YES);
    q.terms[0] = x;
    GrQuery query = {.terms = q.terms, .n_terms = 1};
    assert_int_equal(gr_solve(q.solver, &query, &s, &err), GR_ERR_ARGUMENT);
    query = (GrQuery){.overlap = &(GrOverlap){x, x, 4, 4}};
    assert_int_equal(gr_solve(q.solver, &query, &s, &err), GR_ERR_ARGUMENT);
    end();
}

static void test_too_hard(void **state) {
    (void)state;
    begin(); // factors of a product of two primes
    T x = sym(GR_SYM_LAUNCH, 64, "x", 2, INT64_MAX), y = sym(GR_SYM_LAUNCH, 64, "y", 2, INT64_MAX);
    must(eq(mul(x, y), gr_term_const(&q.t, 64, 4294967291ull * 2147483647ull)));
    must(lt(x, y));
    q.seconds = 1e-6; // no time at all, on any machine
    expect("two large factors", GR_ANSWER_UNKNOWN);

    begin();
    T z[3], sum = num(0);
    for (unsigned k = 0; k < 3; k++) {
        z[k] = sym(GR_SYM_LAUNCH, 64, "z", -((int64_t)1 << 20), (int64_t)1 << 20);
        sum = add(sum, mul(mul(z[k], z[k]), z[k]));
    }
    must(eq(sum, num(114))); // whether it is a sum of three cubes is not known
    q.seconds = 1e-6;        // no time at all, on any machine
    GrSolved s = solved();
    print_message("three cubes: %s, %s\n", answers[s.answer], s.how);
    assert_int_equal(s.answer, GR_ANSWER_UNKNOWN);
    assert_non_null(strstr(s.how, "integers"));
    gr_solved_free(&s);
    end();
}

// What is taken to lie in its range is named, and with q.wrap is not; what integers refute on that condition only is no
// proof.
static void test_trust(void **state) {
    (void)state;
    for (unsigned wrap = 0; wrap < 2; wrap++) {
        begin();
        launch(1, false);
        T stride = all("stride", 1, BIG), product = mul(l.thread[0], stride);
        meet(product, product, 4);
        q.wrap = wrap;
        GrSolved s = solved();
        assert_int_equal(s.answer, wrap ? GR_ANSWER_YES : GR_ANSWER_NO);
        assert_true(wrap ? !s.wraps : s.wraps == of(product, 1) || s.wraps == of(product, 2));
        gr_solved_free(&s);
    }
    for (unsigned bounded = 0; bounded < 2; bounded++) { // nothing is trusted that cannot overflow
        begin();
        launch(1, false);
        T stride = all("stride", 1, BIG), product = mul(l.thread[0], stride);
        if (bounded)
            must(lt(stride, num(1 << 20)));
        meet(product, product, 4);
        GrSolved s = solved();
        assert_int_equal(s.answer, GR_ANSWER_NO);
        assert_int_equal(!s.wraps, bounded);
        gr_solved_free(&s);
    }
    for (unsigned hard = 0; hard < 2;
         hard++) { // four times a number meets that of another by wrapping: if the factors can be found
        begin();
        own_block = false;
        T i = thr("i", 0, INT32_MAX), x = sym(GR_SYM_LAUNCH, 64, "x", 2, (int64_t)1 << 32),
          y = sym(GR_SYM_LAUNCH, 64, "y", 2, (int64_t)1 << 32);
        must(ne(of(i, 1), of(i, 2)));
        if (hard) {
            must(eq(mul(x, y), gr_term_const(&q.t, 64, 4294967291ull * 2147483647ull)));
            must(lt(x, y));
        }
        meet(mul(i, num(4)), mul(i, num(4)), 4);
        q.seconds = 3;
        GrSolved s = solved();
        print_message("four times a number: %s, %s\n", answers[s.answer], s.how);
        bool assumed = hard && s.answer == GR_ANSWER_ASSUMED; // a fast machine may find the factors
        assert_true(assumed || s.answer == GR_ANSWER_YES);
        assert_true(!assumed || s.wraps == of(mul(i, num(4)), 1) || s.wraps == of(mul(i, num(4)), 2));
        gr_solved_free(&s);
    }
    end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels),  cmocka_unit_test(test_wrap),       cmocka_unit_test(test_signs),
        cmocka_unit_test(test_bytes),    cmocka_unit_test(test_bit_tricks), cmocka_unit_test(test_reads),
        cmocka_unit_test(test_nonsense), cmocka_unit_test(test_too_hard),   cmocka_unit_test(test_any_model),
        cmocka_unit_test(test_trust),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
