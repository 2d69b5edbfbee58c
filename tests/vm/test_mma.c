// SPDX-License-Identifier: Apache-2.0
// test_mma — mma.sync: fragments as the ISA draws them against plain products, and how sums are rounded.
#include "harness.h"
#include "matrix_ref.h"

#include <fenv.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// ---- mma.sync ------------------------------------------------------------------------------------------------

// Register k of a lane of operand x (d, a, b, c) is at ((x * 8 + k) * 32 + lane) * 8.
static void mma_text(StrBuf *s, const Mma *x) {
    const Type *t[4] = {ref_type(x->c), ref_type(x->a), ref_type(x->b), ref_type(x->c)};
    gr_str_add(s, ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
                  ".reg .b64 %p<4>; .reg .b32 %t;\n");
    for (unsigned k = 0; k < 4; k++)
        gr_str_addf(s, ".reg .%s %%%c<8>;\n", t[k]->reg, "dabc"[k]);
    gr_str_add(
        s, "ld.param.u64 %p0, [p]; mov.u32 %t, %tid.x; mul.wide.u32 %p1, %t, 8; add.u64 %p0, %p0, %p1;\n");
    for (unsigned k = 1; k < 4; k++)
        for (unsigned e = 0; e < x->n[k]; e++)
            gr_str_addf(s, "ld.global.%s %%%c%u, [%%p0+%u];\n", t[k]->reg, "dabc"[k], e, (k * 8 + e) * 256);
    gr_str_addf(s, "mma.sync.aligned.%s.row.col.%s ", x->shape, x->text);
    for (unsigned k = 0; k < 4; k++) {
        char list[64];
        gr_str_addf(s, "%s%s", ref_fragment(list, "dabc"[k], x -> n[k]), k < 3 ? ", " : ";\n");
    }
    for (unsigned e = 0; e < x->n[0]; e++)
        gr_str_addf(s, "st.global.%s [%%p0+%u], %%d%u;\n", t[0]->reg, e * 256, e);
    gr_str_add(s, "ret; }\n");
}

// The place of element i of a lane of an operand.
static void put_element(const Type *t, void *p, unsigned operand, unsigned lane, unsigned i, double v) {
    unsigned per = t->bits == 64 ? 1 : 32 / t->bits, reg = i / per;
    ref_put(t, (uint64_t *)p + (operand * 8 + reg) * 32 + lane, i % per, v);
}

// EM-151
static void mma_multiplies(void **unused) {
    (void)unused;
    for (size_t j = 0; j < ref_n_mmas; j++) {
        const Mma *x = &ref_mmas[j];
        StrBuf s = {0};
        Rig r;
        Product *p = calloc(1, sizeof *p);
        uint64_t *expected = calloc(8 * 32, sizeof *expected);
        assert_true(p && expected);
        p->or_bits = strstr(x->text, "xor") != NULL;
        if (strstr(x->text, ".rm"))
            fesetround(FE_DOWNWARD); // nothing is inexact, but x - x is -0
        ref_choose(p, x->shape, x->a, x->b, x->c, x->c, (uint32_t)j);
        fesetround(FE_TONEAREST);
        mma_text(&s, x);
        rig_open(&r, s.data, NULL);
        uint64_t at = rig_alloc(&r, 4 * 8 * 256);
        void *in = rig_view(&r, at, 4 * 8 * 256);
        for (unsigned lane = 0; lane < 32; lane++) {
            unsigned row = 0, col = 0;
            for (unsigned i = 0; i < p->m * p->k / 32; i++) {
                ref_at_a(p, lane, i, &row, &col);
                put_element(p->a, in, 1, lane, i, p->va[row * p->k + col]);
            }
            for (unsigned i = 0; i < p->k * p->n / 32; i++) {
                ref_at_b(p, lane, i, &row, &col);
                put_element(p->b, in, 2, lane, i, p->vb[row * p->n + col]);
            }
            for (unsigned i = 0; i < p->m * p->n / 32; i++) {
                ref_at_c(lane, i, &row, &col);
                put_element(p->c, in, 3, lane, i, p->vc[row * p->n + col]);
                put_element(p->d, expected, 0, lane, i, p->vd[row * p->n + col]);
            }
        }
        VmFaultKind f = RIG_RUN(&r, "k", 1, 32, at);
        if (f != VM_FAULT_NONE)
            fail_msg("%s\n%s", r.fault.msg, s.data);
        if (memcmp(rig_view(&r, at, 8 * 256), expected, 8 * 256))
            fail_msg("wrong:\n%s", s.data);
        assert_int_equal(r.undefined, 0);
        rig_close(&r);
        gr_str_free(&s);
        free(expected);
        free(p);
    }
}

// ---- Numbers -------------------------------------------------------------------------------------------------

// One warp multiplies: A's first row and B's first column are `a` and `b`, C is `c` throughout; D's first element.
static uint64_t first_of(const char *name, const char *text, const char *ab, const char *cd,
                         const uint64_t *a, const uint64_t *b, uint64_t c) {
    Mma x = {.text = text, .a = ab, .b = ab, .c = cd, .shape = name};
    Product p = {0};
    StrBuf s = {0};
    Rig r;
    ref_choose(&p, name, ab, ab, cd, cd, 1);
    unsigned per[3] = {32 / p.c->bits, 32 / p.a->bits, 32 / p.b->bits};
    unsigned n[3] = {p.m * p.n / 32, p.m * p.k / 32, p.k * p.n / 32};
    for (unsigned k = 0; k < 3; k++)
        x.n[k] = per[k] ? n[k] / per[k] : n[k];
    x.n[3] = x.n[0];
    mma_text(&s, &x);
    rig_open(&r, s.data, NULL);
    uint64_t at = rig_alloc(&r, 4 * 8 * 256), *in = rig_view(&r, at, 4 * 8 * 256);
    for (unsigned lane = 0; lane < 32; lane++) {
        unsigned row, col;
        for (unsigned k = 0; k < 3; k++)
            for (unsigned i = 0; i < n[k]; i++) {
                const Type *t = k ? p.a : p.c;
                unsigned reg = per[k] ? i / per[k] : i, shift = per[k] ? i % per[k] * t->bits : 0;
                uint64_t v = c;
                if (k == 1)
                    ref_at_a(&p, lane, i, &row, &col), v = row ? 0 : a[col];
                else if (k == 2)
                    ref_at_b(&p, lane, i, &row, &col), v = col ? 0 : b[row];
                in[((k ? k : 3) * 8 + reg) * 32 + lane] |= v << shift;
            }
    }
    assert_int_equal(RIG_RUN(&r, "k", 1, 32, at), VM_FAULT_NONE);
    uint64_t d = in[0] & (p.c->bits == 64 ? UINT64_MAX : (UINT64_C(1) << p.c->bits) - 1);
    rig_close(&r);
    gr_str_free(&s);
    return d;
}

// EM-152: sums in the order of k, each rounded to f32; f16 rounded once more at the end; f64 as asked for.
static void sums_are_rounded(void **unused) {
    (void)unused;
    const Type *h = ref_type("f16"), *f = ref_type("f32"), *d = ref_type("f64"), *t = ref_type("tf32"),
               *g = ref_type("bf16");
    uint64_t a[32], b[32];
    for (unsigned k = 0; k < 32; k++)
        a[k] = b[k] = ref_encode(h, 1);
    const char *f32 = "f32.f16.f16.f32", *f16 = "f16.f16.f16.f16";
    // 2^24 + 1 is 2^24 in f32, sixteen times
    assert_int_equal(first_of("m16n8k16", f32, "f16", "f32", a, b, ref_encode(f, 0x1p24)),
                     ref_encode(f, 0x1p24));
    a[0] = ref_encode(h, 2); // comes first: 2^24 + 2, and then ties to even: + 1 is 2^24 + 4, + 1 stays
    assert_int_equal(first_of("m16n8k16", f32, "f16", "f32", a, b, ref_encode(f, 0x1p24)),
                     ref_encode(f, 0x1p24 + 4));
    // f16: 2048 + 1 + 1 + … is exact until the end
    a[0] = ref_encode(h, 2);
    assert_int_equal(first_of("m16n8k16", f16, "f16", "f16", a, b, ref_encode(h, 2048)),
                     ref_encode(h, 2064)); // 2065
    a[0] = ref_encode(h, 4);
    assert_int_equal(first_of("m16n8k16", f16, "f16", "f16", a, b, ref_encode(h, 2048)),
                     ref_encode(h, 2068)); // 2067: to even
    // products that f32 has not
    for (unsigned k = 0; k < 32; k++)
        a[k] = b[k] = 0;
    a[0] = ref_encode(g, -0x1p100), b[0] = ref_encode(g, 0x1p28);
    assert_int_equal(first_of("m16n8k8", "f32.bf16.bf16.f32", "bf16", "f32", a, b, ref_encode(f, 0x1.8p127)),
                     ref_encode(f, -0x1p126));
    a[0] = ref_encode(t, 1) | 0x1fff, b[0] = ref_encode(t, 1); // the lower bits of tf32 are not looked at
    assert_int_equal(first_of("m16n8k8", "f32.tf32.tf32.f32", "tf32", "f32", a, b, 0), ref_encode(f, 1));
    // not a number
    a[0] = 0x7e00, b[0] = ref_encode(h, 1);
    assert_int_equal(first_of("m16n8k16", f32, "f16", "f32", a, b, 0), 0x7fffffff);
    assert_int_equal(first_of("m16n8k16", f16, "f16", "f16", a, b, 0), 0x7fff);
    a[0] = 0x7f, b[0] = 0x38; // e4m3: NaN * 1
    assert_int_equal(first_of("m16n8k32", "f32.e4m3.e4m3.f32", "e4m3", "f32", a, b, 0), 0x7fffffff);
    a[0] = 0x7e, b[0] = 0x01; // 448 * 2^-9
    assert_int_equal(first_of("m16n8k32", "f32.e4m3.e4m3.f32", "e4m3", "f32", a, b, 0), ref_encode(f, 0.875));
    a[0] = ref_encode(d, 0x1p-60), b[0] = ref_encode(d, 1);
    static const struct {
        const char *text;
        double up, down; // 1 + 2^-60, -1 - 2^-60 …
    } rounds[] = {{"f64.f64.f64.f64", 1, -1},
                  {"rz.f64.f64.f64.f64", 1, -1},
                  {"rm.f64.f64.f64.f64", 1, -1 - 0x1p-52},
                  {"rp.f64.f64.f64.f64", 1 + 0x1p-52, -1}};
    for (unsigned k = 0; k < 4; k++) {
        a[0] = ref_encode(d, 0x1p-60);
        assert_int_equal(first_of("m8n8k4", rounds[k].text, "f64", "f64", a, b, ref_encode(d, 1)),
                         ref_encode(d, rounds[k].up));
        a[0] = ref_encode(d, -0x1p-60);
        assert_int_equal(first_of("m8n8k4", rounds[k].text, "f64", "f64", a, b, ref_encode(d, -1)),
                         ref_encode(d, rounds[k].down));
    }
    a[0] = ref_encode(d, 1 + 0x1p-52), b[0] = ref_encode(d, 1 - 0x1p-52); // fused: 1 - 2^-104
    assert_int_equal(first_of("m8n8k4", "f64.f64.f64.f64", "f64", "f64", a, b, ref_encode(d, -1)),
                     ref_encode(d, -0x1p-104));
    a[0] = 0x7ff8000000000123;
    assert_int_equal(first_of("m8n8k4", "f64.f64.f64.f64", "f64", "f64", a, b, 0), 0xfff8000000000000);
}

// EM-153
static void integers_wrap_or_saturate(void **unused) {
    (void)unused;
    uint64_t a[32], b[32];
    for (unsigned k = 0; k < 32; k++)
        a[k] = b[k] = 127;
    assert_int_equal(first_of("m16n8k32", "s32.s8.s8.s32", "s8", "s32", a, b, INT32_MAX),
                     0x80000000u + 32 * 127 * 127 - 1);
    assert_int_equal(first_of("m16n8k32", "satfinite.s32.s8.s8.s32", "s8", "s32", a, b, INT32_MAX),
                     INT32_MAX);
    for (unsigned k = 0; k < 32; k++)
        a[k] = k % 2 ? 127 : 0x80; // passes the limit on the way, and comes back
    assert_int_equal(first_of("m16n8k32", "satfinite.s32.s8.s8.s32", "s8", "s32", a, b, 0x80000001),
                     0x80000000);
    for (unsigned k = 0; k < 32; k++)
        a[k] = k % 2 ? 127 : 0x81;
    assert_int_equal(first_of("m16n8k32", "satfinite.s32.s8.s8.s32", "s8", "s32", a, b, 0x80000001),
                     0x80000001);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mma_multiplies),
        cmocka_unit_test(sums_are_rounded),
        cmocka_unit_test(integers_wrap_or_saturate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
