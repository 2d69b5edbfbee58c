// SPDX-License-Identifier: Apache-2.0
// The solver against brute force: random queries over so few values that all of them can be tried. In many of them a
// sum, a product or a shift wraps.
//
//   test_solve_random [COUNT [SEED]]
#include "queries.h"

#include "base/rng.h"
#include "base/sanitized.h"
#include "engines/verifier/term/machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static unsigned count = SANITIZED ? 40 : 120, seed = 1;

enum { MOST_SYMBOLS = 4, MOST_READS = 2, DEPTH = 3 };

static Rng chance;
static unsigned below(unsigned n) { return gr_rng_below(&chance, n); }

static T leaves[MOST_SYMBOLS + MOST_READS];
static const GrSymbol *symbols[MOST_SYMBOLS];
static unsigned n_symbols, n_reads;
static T reads[MOST_READS];

// ---- Making queries ------------------------------------------------------------------------------------------------

static bool large_too; // numbers that make products and shifts wrap

static T condition(unsigned depth);

static T value(unsigned depth) {
    static const GrTermOp plain[] = {GR_TERM_ADD, GR_TERM_SUB, GR_TERM_MUL, GR_TERM_ADD, GR_TERM_MUL};
    static const GrTermOp division[] = {GR_TERM_SDIV, GR_TERM_UDIV, GR_TERM_SREM, GR_TERM_UREM};
    static const GrTermOp shift[] = {GR_TERM_SHL, GR_TERM_LSHR, GR_TERM_ASHR};
    static const GrTermOp bits[] = {GR_TERM_AND, GR_TERM_OR, GR_TERM_XOR};
    static const int64_t large[] = {2654435761, INT32_MAX, INT32_MIN,   1 << 30,
                                    65537,      40503,     -1640531527, 255 << 24};
    if (!depth || !below(5)) {
        unsigned k = below(n_symbols + n_reads + 1);
        if (k < n_symbols + n_reads)
            return leaves[k];
        return num(large_too && !below(3) ? large[below(8)] : (int)below(9) - 2);
    }
    unsigned kind = below(20);
    if (kind < 9)
        return op(plain[below(5)], value(depth - 1), value(depth - 1));
    if (kind < 13)
        return op(division[below(4)], value(depth - 1), below(3) ? num(1 + (int)below(5)) : value(depth - 1));
    if (kind < 14)
        return op(shift[below(3)], value(depth - 1), num(large_too ? below(34) : below(4)));
    if (kind < 15)
        return op(GR_TERM_AND, value(depth - 1), num((const int[]){1, 3, 7, -2, -4, 6, 5, 2}[below(8)]));
    if (kind < 16)
        return op(bits[below(3)], value(depth - 1), below(2) ? num(below(5)) : value(depth - 1));
    if (kind < 17)
        return gr_term_1(&q.t, GR_TERM_NOT, 0, value(depth - 1));
    if (kind < 18) { // cut and extended again
        T cut = gr_term_resize(&q.t, 8, false, value(depth - 1));
        if (below(2))
            cut = gr_term_2(&q.t, GR_TERM_ADD, cut, gr_term_resize(&q.t, 8, false, value(depth - 1)));
        return gr_term_resize(&q.t, 32, below(2), cut);
    }
    if (kind < 19)
        return gr_term_resize(&q.t, 32, below(2), condition(depth - 1));
    return gr_term_ite(&q.t, condition(depth - 1), value(depth - 1), value(depth - 1));
}

static T condition(unsigned depth) {
    static const GrTermOp compare[] = {GR_TERM_EQ,  GR_TERM_SLT, GR_TERM_SLE, GR_TERM_ULT,
                                       GR_TERM_ULE, GR_TERM_SLT, GR_TERM_ULT};
    unsigned kind = below(12);
    if (depth && kind == 0)
        return both(condition(depth - 1), condition(depth - 1));
    if (depth && kind == 1)
        return any(condition(depth - 1), condition(depth - 1));
    if (depth && kind == 2)
        return op(below(2) ? GR_TERM_XOR : GR_TERM_EQ, condition(depth - 1), condition(depth - 1));
    if (kind < 5)
        return not(condition(depth));
    return op(compare[below(7)], value(depth), value(depth));
}

static T offset(void) {
    T v = value(2);
    if (below(3))
        v = op(GR_TERM_ADD, op(GR_TERM_MUL, v, num(1 << below(4))), value(1));
    v = gr_term_resize(&q.t, 64, below(4) != 0, v);
    if (!large_too || below(4))
        return v;
    // A hash of 64 bits.
    v = gr_term_2(&q.t, GR_TERM_MUL, v, gr_term_const(&q.t, 64, UINT64_C(11400714819323198485)));
    return below(2) ? v : gr_term_2(&q.t, GR_TERM_LSHR, v, gr_term_const(&q.t, 64, 54 + below(8)));
}

static void make(void) {
    large_too = below(2);
    n_symbols = 2 + below(MOST_SYMBOLS - 1);
    n_reads = below(4) ? 0 : 1 + below(MOST_READS);
    unsigned planned = n_reads;
    n_reads = 0;
    for (unsigned k = 0; k < n_symbols; k++) {
        int64_t low = below(3) ? 0 : (int)below(5) - 3;
        leaves[k] = sym(below(2) ? GR_SYM_LAUNCH : GR_SYM_THREAD, 32, "s", low, low + 1 + below(4));
        if (leaves[k]->sym->scope == GR_SYM_THREAD)
            leaves[k] = of(leaves[k], 1 + k % 2);
        symbols[k] = leaves[k]->sym;
    }
    GrSymbol *memory = gr_symbol(&q.t, GR_SYM_OBJECT, GR_SYM_LAUNCH, 64, "memory");
    T at[MOST_READS];
    for (unsigned k = 0; k < planned; k++)
        at[k] = gr_term_resize(&q.t, 64, true, op(GR_TERM_MUL, value(1), num(4)));
    for (unsigned k = 0; k < planned; k++) {
        reads[k] = leaves[n_symbols + k] = gr_term_read(&q.t, 32, memory, at[k]);
        must(op(GR_TERM_ULE, reads[k], num(1)));
    }
    n_reads = planned;
    for (unsigned k = 0, n = below(4); k < n; k++)
        must(condition(below(DEPTH)));
    static const uint32_t sizes[] = {1, 2, 4, 8, 16};
    if (below(4)) {
        uint32_t size = sizes[below(5)];
        q.overlap = (GrOverlap){offset(), offset(), size, below(3) ? size : sizes[below(5)]};
        q.has_overlap = true;
    }
}

// ---- Trying everything ---------------------------------------------------------------------------------------------

typedef struct Try {
    uint64_t symbol[MOST_SYMBOLS + MOST_READS]; // those of reads behind
    uint64_t at[MOST_READS];
    unsigned known; // reads
} Try;

static uint64_t symbol_value(void *user, const GrSymbol *s) {
    for (unsigned k = 0; k < n_symbols; k++)
        if (symbols[k] == s)
            return ((Try *)user)->symbol[k];
    return 0;
}
static uint64_t read_value(void *user, const GrSymbol *s, uint64_t offset, uint32_t bits) {
    Try *t = user;
    (void)s, (void)bits;
    for (unsigned k = 0; k < t->known; k++)
        if (t->at[k] == offset)
            return t->symbol[n_symbols + k];
    return 0;
}

// Whether a sum or product of 32 bits or more in the term leaves its width, with a sign.
static bool wraps(T x, const GrValues *v) {
    for (unsigned k = 0; k < 3 && x->arg[k]; k++)
        if (wraps(x->arg[k], v))
            return true;
    if (x->bits < 32 ||
        (x->op != GR_TERM_ADD && x->op != GR_TERM_SUB && x->op != GR_TERM_MUL && x->op != GR_TERM_SHL))
        return false;
    uint64_t a, b;
    gr_term_value(x->arg[0], v, &a);
    gr_term_value(x->arg[1], v, &b);
    __int128 l = gr_sign_extend(a, x->bits), r = gr_sign_extend(b, x->bits),
             half = (__int128)1 << (x->bits - 1);
    __int128 is = x->op == GR_TERM_ADD   ? l + r
                  : x->op == GR_TERM_SUB ? l - r
                  : x->op == GR_TERM_MUL ? l * r
                                         : l * ((__int128)1 << (b & 31));
    return is < -half || is >= half;
}

static bool wrapped; // in some try

static bool holds(const GrValues *v) {
    uint64_t a, b;
    for (size_t k = 0; k < q.n; k++)
        if (!gr_term_value(q.terms[k], v, &a) || !a)
            return false;
    if (!q.has_overlap)
        return true;
    gr_term_value(q.overlap.a, v, &a);
    gr_term_value(q.overlap.b, v, &b);
    return b - a < q.overlap.a_size || a - b < q.overlap.b_size;
}

static bool tried(Try *t) {
    GrValues v = {symbol_value, read_value, t};
    t->known = 0;
    for (unsigned k = 0; k < n_reads; k++) {
        gr_term_value(reads[k]->arg[0], &v, &t->at[k]);
        for (unsigned j = 0; j < k; j++)
            if (t->at[j] == t->at[k] && t->symbol[n_symbols + j] != t->symbol[n_symbols + k])
                return false;
        t->known++;
    }
    for (size_t k = 0; k < q.n; k++)
        wrapped = wrapped || wraps(q.terms[k], &v);
    wrapped = wrapped || (q.has_overlap && (wraps(q.overlap.a, &v) || wraps(q.overlap.b, &v)));
    return holds(&v);
}

// Whether the query holds of some values.
static bool all_tried(Try *t, unsigned k) {
    bool found = false;
    if (k == n_symbols + n_reads)
        return tried(t);
    bool is_read = k >= n_symbols;
    int64_t low = is_read ? 0 : leaves[k]->sym->low, high = is_read ? 1 : leaves[k]->sym->high;
    for (int64_t v = low; v <= high; v++) {
        t->symbol[k] = (uint64_t)v & UINT32_MAX;
        found |= all_tried(t, k + 1);
    }
    return found;
}

static void describe(T trusted) {
    StrBuf s = {0};
    if (trusted) {
        gr_str_add(&s, "trusted: ");
        gr_term_print(trusted, &s);
        gr_str_addc(&s, '\n');
    }
    for (unsigned k = 0; k < n_symbols; k++)
        gr_str_addf(&s, "%s (%u) in %lld..%lld\n", symbols[k]->name, symbols[k]->id,
                    (long long)symbols[k]->low, (long long)symbols[k]->high);
    for (size_t k = 0; k < q.n; k++) {
        gr_term_print(q.terms[k], &s);
        gr_str_addc(&s, '\n');
    }
    if (q.has_overlap) {
        gr_term_print(q.overlap.a, &s);
        gr_str_addf(&s, ", %u bytes, and ", q.overlap.a_size);
        gr_term_print(q.overlap.b, &s);
        gr_str_addf(&s, ", %u bytes\n", q.overlap.b_size);
    }
    print_error("%s", s.data);
    gr_str_free(&s);
}

static void test_random(void **state) {
    (void)state;
    unsigned yes = 0, unknown = 0, wrapping = 0, n = 0;
    for (unsigned k = 0; n < count; k++) {
        chance = gr_rng_fork(seed, 0, k);
        if (k % 200 == 0 && q.solver) // terms add up
            end();
        begin();
        make();
        Try t = {0};
        wrapped = false;
        bool is = all_tried(&t, 0);
        GrSolved s = solved();
        n++;
        wrapping += wrapped;
        yes += s.answer == GR_ANSWER_YES;
        unknown += s.answer == GR_ANSWER_UNKNOWN || s.answer == GR_ANSWER_ASSUMED;
        bool decided = s.answer == GR_ANSWER_YES || s.answer == GR_ANSWER_NO;
        bool right = !decided || s.answer == (is ? GR_ANSWER_YES : GR_ANSWER_NO);
        if (!right || !decided) {
            print_error("query %u of seed %u: brute force %d, solver %d (%s)\n", k, seed, is, s.answer,
                        s.how);
            describe(s.wraps);
        }
        assert_true(right);
        assert_true(s.answer != GR_ANSWER_YES || model_is_right(&s));
        gr_solved_free(&s);
    }
    end();
    print_message("%u queries: %u yes, %u not decided; %u can wrap\n", n, yes, unknown, wrapping);
    assert_true(yes > n / 5 && yes < n * 4 / 5); // both answers are tried
    assert_true(wrapping > n / 10 && unknown <= n / 50);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
    if (argc > 1)
        count = (unsigned)atoi(argv[1]);
    if (argc > 2)
        seed = (unsigned)atoi(argv[2]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
