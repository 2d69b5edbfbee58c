// SPDX-License-Identifier: Apache-2.0
// rows_matrix — wmma and mma.sync as conformance rows: each warp multiplies matrices of its own, whose sums are
// representable, so that their order does not show. Of wmma a row is a load of each operand, the product and the store.
#include "row.h"
#include "values.h"

#include "../vm/matrix_ref.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Words of 64 bits: a register each, of a, b and c; the matrices of a warp's 32 threads lie side by side.
enum { N_IN = 16, N_OUT = 4, FIRST_B = 8, FIRST_C = 12, LANES = 32 };
enum { AT_B = 1024, AT_C = 2048 }; // wmma: bytes of a warp's 4096

typedef struct Case {
    const Wmma *w; // or
    const Mma *m;
    unsigned layouts; // wmma: bits of a, b, c, d
} Case;

static void product(const Row *row, unsigned warp, Product *p) {
    const Case *x = row->data;
    uint32_t seed = (uint32_t)value_hash(row->name) + warp;
    p->or_bits = strstr(row->name, "xor") != NULL;
    if (x->w)
        ref_choose(p, x->w->shape, x->w->a, x->w->a, x->w->c, x->w->d, seed);
    else
        ref_choose(p, x->m->shape, x->m->a, x->m->b, x->m->c, x->m->c, seed);
}

// ---- mma.sync ------------------------------------------------------------------------------------------------

static void put_element(const Type *t, uint64_t *words, unsigned i, double v) {
    unsigned per = t->bits == 64 ? 1 : 32 / t->bits;
    ref_put(t, words + i / per, i % per, v);
}

static void fill_mma(const Row *row, uint64_t *in) {
    static Product p;
    memset(in, 0, (size_t)row->n * N_IN * 8);
    for (unsigned t = 0; t < row->n; t++, in += N_IN) {
        unsigned lane = t % LANES, r = 0, c = 0;
        if (lane == 0)
            product(row, t / LANES, &p);
        for (unsigned i = 0; i < p.m * p.k / LANES; i++) {
            ref_at_a(&p, lane, i, &r, &c);
            put_element(p.a, in, i, p.va[r * p.k + c]);
        }
        for (unsigned i = 0; i < p.k * p.n / LANES; i++) {
            ref_at_b(&p, lane, i, &r, &c);
            put_element(p.b, in + FIRST_B, i, p.vb[r * p.n + c]);
        }
        for (unsigned i = 0; i < p.m * p.n / LANES; i++) {
            ref_at_c(lane, i, &r, &c);
            put_element(p.c, in + FIRST_C, i, p.vc[r * p.n + c]);
        }
    }
}

static void expect_mma(const Row *row, const uint64_t *in, uint64_t *out) {
    static Product p;
    (void)in;
    for (unsigned t = 0; t < row->n; t++, out += N_OUT) {
        unsigned r = 0, c = 0;
        if (t % LANES == 0)
            product(row, t / LANES, &p);
        for (unsigned i = 0; i < p.m * p.n / LANES; i++) {
            ref_at_c(t % LANES, i, &r, &c);
            put_element(p.d, out, i, p.vd[r * p.n + c]);
        }
    }
}

static void registers(Row *row, const char *a, const char *b, const char *c, const char *d) {
    const char *type[4] = {d, a, b, c};
    for (unsigned k = 0; k < 4; k++)
        row_text(row, ".reg .%s %%%c<8>;\n", ref_type(type[k])->reg, "dabc"[k]);
}

static void operands(Row *row, const unsigned n[4]) {
    char list[64];
    for (unsigned k = 0; k < 4; k++)
        row_text(row, "%s %s", k ? "," : "", ref_fragment(list, "dabc"[k], n[k]));
    row_text(row, ";\n");
}

static void text_mma(Row *row, const Mma *x) {
    static const unsigned first[4] = {0, 0, FIRST_B, FIRST_C};
    const char *type[4] = {x->c, x->a, x->b, x->c};
    row_begin(row, "");
    registers(row, x->a, x->b, x->c, x->c);
    for (unsigned k = 1; k < 4; k++)
        for (unsigned e = 0; e < x->n[k]; e++)
            row_text(row, "ld.global.%s %%%c%u, [%%in+%u];\n", ref_type(type[k])->reg, "dabc"[k], e,
                     8 * (first[k] + e));
    row_text(row, "%s", row->name);
    operands(row, x->n);
    for (unsigned e = 0; e < x->n[0]; e++)
        row_text(row, "st.global.%s [%%out+%u], %%d%u;\n", ref_type(x->c)->reg, 8 * e, e);
    row_end(row);
}

// ---- wmma ----------------------------------------------------------------------------------------------------

static void put_matrix(const Type *t, void *p, unsigned rows, unsigned columns, bool by_columns,
                       const double *v) {
    for (unsigned r = 0; r < rows; r++)
        for (unsigned c = 0; c < columns; c++)
            ref_put(t, p, by_columns ? c * rows + r : r * columns + c, v[r * columns + c]);
}

static void fill_wmma(const Row *row, uint64_t *in) {
    static Product p;
    const Case *x = row->data;
    memset(in, 0, (size_t)row->n * N_IN * 8);
    for (unsigned w = 0; w < row->n / LANES; w++, in += LANES * N_IN) {
        product(row, w, &p);
        put_matrix(p.a, in, p.m, p.k, x->layouts & 1, p.va);
        put_matrix(p.b, in + AT_B / 8, p.k, p.n, x->layouts & 2, p.vb);
        put_matrix(p.c, in + AT_C / 8, p.m, p.n, x->layouts & 4, p.vc);
    }
}

static void expect_wmma(const Row *row, const uint64_t *in, uint64_t *out) {
    static Product p;
    const Case *x = row->data;
    (void)in;
    for (unsigned w = 0; w < row->n / LANES; w++, out += LANES * N_OUT) {
        product(row, w, &p);
        put_matrix(p.d, out, p.m, p.n, x->layouts & 8, p.vd);
    }
}

static void text_wmma(Row *row, const Wmma *x, unsigned layouts) {
    static const unsigned at[3] = {0, AT_B, AT_C};
    char list[64];
    row_begin(row, "");
    registers(row, x->a, x->a, x->c, x->d);
    row_text(
        row,
        ".reg .b64 %%p, %%q;\nand.b32 %%ti, %%ti, 31;\nmul.wide.u32 %%p, %%ti, %u;\nsub.u64 %%p, %%in, %%p;\n"
        "mul.wide.u32 %%q, %%ti, %u;\nsub.u64 %%q, %%out, %%q;\n",
        8 * N_IN, 8 * N_OUT);
    for (unsigned k = 0; k < 3; k++)
        row_text(row, "wmma.load.%c.sync.aligned.%s.%s.global.%s %s, [%%p+%u];\n", "abc"[k],
                 layouts >> k & 1 ? "col" : "row", x->shape, k < 2 ? x->a : x->c,
                 ref_fragment(list, "abc"[k], x -> n[k + 1]), at[k]);
    row_text(row, "%.*s", (int)strcspn(row->name, " "), row->name);
    operands(row, x->n);
    row_text(row, "wmma.store.d.sync.aligned.%s.%s.global.%s [%%q], %s;\n", layouts & 8 ? "col" : "row",
             x->shape, x->d, ref_fragment(list, 'd', x->n[0]));
    row_end(row);
}

// ---- All -------------------------------------------------------------------------------------------------------

static Row *new_row(const Case *x) {
    static Row row;
    memset(&row, 0, sizeof row);
    row.n = 512;
    row.n_in = N_IN;
    row.n_out = N_OUT;
    row.fill = x->w ? fill_wmma : fill_mma;
    row.expect = x->w ? expect_wmma : expect_mma;
    row.data = x;
    return &row;
}

void rows_matrix(OnRow on, void *arg) {
    for (size_t k = 0; k < ref_n_mmas; k++) {
        const Mma *m = &ref_mmas[k];
        Case x = {.m = m};
        Row *row = new_row(&x);
        if (strstr(m->text, ".rm"))
            continue; // of which x - x is -0
        snprintf(row->name, sizeof row->name, "mma.sync.aligned.%s.row.col.%s", m->shape, m->text);
        text_mma(row, m);
        on(row, arg);
    }
    for (size_t k = 0; k < ref_n_wmmas; k++) // the accumulators by rows and by columns in turn
        for (unsigned ab = 0; ab < 4; ab++) {
            const Wmma *w = &ref_wmmas[k];
            Case x = {.w = w, .layouts = ab | (ab << 2 ^ 4)};
            Row *row = new_row(&x);
            if (w->rows_and_columns && ab != 2)
                continue;
            snprintf(row->name, sizeof row->name, "wmma.mma%s.sync.aligned.%s.%s.%s.%s",
                     strcmp(w->a, "b1") ? "" : ".xor.popc", ab & 1 ? "col" : "row", ab & 2 ? "col" : "row",
                     w->shape, w->mma);
            text_wmma(row, w, x.layouts);
            on(row, arg);
        }
}
