// SPDX-License-Identifier: Apache-2.0
// test_matrices — wmma against plain products of matrices; how the lanes of matrix instructions meet, and what is told
// of them.
#include "harness.h"
#include "matrix_ref.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// ---- wmma ----------------------------------------------------------------------------------------------------

enum { GENERIC, GLOBAL, SHARED, GENERIC_SHARED, SPACES, AREA = 8192 };

// Loads the operands, multiplies, and stores: four matrices, each in an area of its own, by rows or by columns as the
// bits of `layouts` say for a, b, c, d; lines `pad` elements longer than they need be, or without a stride.
static void wmma_text(StrBuf *s, const Wmma *x, const char *op, unsigned layouts, unsigned space,
                      bool stride) {
    static const char *const names[SPACES] = {"", ".global", ".shared", ""};
    const char *layout[4];
    char list[64];
    for (unsigned k = 0; k < 4; k++)
        layout[k] = layouts >> k & 1 ? "col" : "row";
    bool shared = space == SHARED || space == GENERIC_SHARED;
    unsigned width = space == SHARED ? 32 : 64;
    gr_str_addf(s, ".version 9.0\n.target sm_90\n.address_size 64\n.shared .align 32 .b8 s[%u];\n", 4 * AREA);
    gr_str_addf(
        s,
        ".visible .entry k(.param .u64 p, .param .u32 sa, .param .u32 sb, .param .u32 sc, .param .u32 sd) {\n"
        ".reg .pred %%q; .reg .b32 %%t<8>; .reg .b64 %%p<8>; .reg .b%u %%x<4>;\n",
        width);
    gr_str_addf(s, ".reg .%s %%d<8>; .reg .%s %%a<8>, %%b<8>; .reg .%s %%c<8>;\n", ref_type(x->d)->reg,
                ref_type(x->a)->reg, ref_type(x->c)->reg);
    gr_str_add(s, "ld.param.u64 %p0, [p]; cvta.to.global.u64 %p0, %p0; ld.param.u32 %t0, [sa]; ld.param.u32 "
                  "%t1, [sb];\n"
                  "ld.param.u32 %t2, [sc]; ld.param.u32 %t3, [sd];\n");
    if (shared)
        gr_str_addf(s,
                    "mov.u32 %%t4, %%tid.x; shl.b32 %%t4, %%t4, 2;\n"
                    "IN: cvt.u64.u32 %%p1, %%t4; add.u64 %%p1, %%p0, %%p1; ld.global.u32 %%t5, [%%p1];\n"
                    "mov.u32 %%t6, s; add.u32 %%t6, %%t6, %%t4; st.shared.u32 [%%t6], %%t5;\n"
                    "add.u32 %%t4, %%t4, 128; setp.lt.u32 %%q, %%t4, %u; @%%q bra IN; bar.warp.sync -1;\n",
                    4 * AREA);
    gr_str_addf(s, "mov.u%u %%x0, %s;\n", width, shared ? "s" : "%p0");
    if (space == GENERIC_SHARED)
        gr_str_add(s, "cvta.shared.u64 %x0, %x0;\n");
    for (unsigned k = 0; k < 3; k++) {
        gr_str_addf(s, "wmma.load.%c.sync.aligned.%s.%s%s.%s %s, [%%x0+%u]", "abc"[k], layout[k], x -> shape,
                    names[space], k < 2 ? x -> a : x -> c, ref_fragment(list, "abc"[k], x -> n[k + 1]),
                    k *AREA);
        gr_str_addf(s, stride ? ", %%t%u;\n" : ";\n", k);
    }
    gr_str_addf(s, "wmma.mma%s.sync.aligned.%s.%s.%s.%s ", op, layout[0], layout[1], x->shape, x->mma);
    for (unsigned k = 0; k < 4; k++)
        gr_str_addf(s, "%s%s", ref_fragment(list, "dabc"[k], x -> n[k]), k < 3 ? ", " : ";\n");
    gr_str_addf(s, "wmma.store.d.sync.aligned.%s.%s%s.%s [%%x0+%u], %s", layout[3], x->shape, names[space],
                x->d, 3 * AREA, ref_fragment(list, 'd', x->n[0]));
    gr_str_add(s, stride ? ", %t3;\n" : ";\n");
    if (shared)
        gr_str_addf(s,
                    "bar.warp.sync -1; mov.u32 %%t4, %%tid.x; shl.b32 %%t4, %%t4, 2;\n"
                    "OUT: cvt.u64.u32 %%p1, %%t4; add.u64 %%p1, %%p0, %%p1; mov.u32 %%t6, s; add.u32 %%t6, "
                    "%%t6, %%t4;\n"
                    "ld.shared.u32 %%t5, [%%t6]; st.global.u32 [%%p1], %%t5;\n"
                    "add.u32 %%t4, %%t4, 128; setp.lt.u32 %%q, %%t4, %u; @%%q bra OUT;\n",
                    4 * AREA);
    gr_str_add(s, "ret; }\n");
}

static void run_wmma(const Wmma *x, const char *op, unsigned layouts, unsigned space, bool stride) {
    StrBuf s = {0};
    Rig r;
    Product *p = calloc(1, sizeof *p);
    assert_non_null(p);
    p->or_bits = !strcmp(op, ".xor.popc");
    ref_choose(p, x->shape, x->a, x->a, x->c, x->d, layouts);
    wmma_text(&s, x, op, layouts, space, stride);
    rig_open(&r, s.data, NULL);
    uint64_t at = rig_alloc(&r, 4 * AREA);
    const Type *t[4] = {p->a, p->b, p->c, p->d};
    double *v[4] = {p->va, p->vb, p->vc, p->vd};
    unsigned rows[4] = {p->m, p->k, p->m, p->m}, columns[4] = {p->k, p->n, p->n, p->n}, ld[4];
    uint8_t *expected = calloc(1, AREA);
    assert_non_null(expected);
    for (unsigned k = 0; k < 4; k++) {
        bool col = layouts >> k & 1;
        ld[k] = (col ? rows[k] : columns[k]) + (stride ? 128 * (1 + k) / t[k]->bits : 0); // 16 bytes and more
        void *to = k == 3 ? expected : rig_view(&r, at + k * AREA, AREA);
        for (unsigned y = 0; y < rows[k]; y++)
            for (unsigned c = 0; c < columns[k]; c++)
                ref_put(t[k], to, (size_t)(col ? c * ld[k] + y : y * ld[k] + c), v[k][y * columns[k] + c]);
    }
    VmFaultKind f = RIG_RUN(&r, "k", 1, 32, at, ld[0], ld[1], ld[2], ld[3]);
    if (f != VM_FAULT_NONE)
        fail_msg("%s\n%s", r.fault.msg, s.data);
    if (memcmp(rig_view(&r, at + 3 * AREA, AREA), expected, AREA))
        fail_msg("wrong: layouts %x, space %u, stride %d of\n%s", layouts, space, (int)stride, s.data);
    assert_int_equal(r.undefined, 0);
    rig_close(&r);
    gr_str_free(&s);
    free(expected);
    free(p);
}

// EM-149: all forms, all layouts, all spaces, with and without a stride: nothing outside the matrix is written.
static void wmma_multiplies(void **unused) {
    (void)unused;
    for (size_t k = 0; k < ref_n_wmmas; k++)
        for (unsigned layouts = 0; layouts < 16; layouts++) {
            if (ref_wmmas[k].rows_and_columns && (layouts & 3) != 2)
                continue;
            bool bits = !strcmp(ref_wmmas[k].a, "b1");
            for (unsigned space = 0; space < SPACES; space++) {
                run_wmma(&ref_wmmas[k], bits ? ".xor.popc" : "", layouts, space, true);
                if (bits)
                    run_wmma(&ref_wmmas[k], ".and.popc", layouts, space, true);
            }
            run_wmma(&ref_wmmas[k], bits ? ".and.popc" : "", layouts, GLOBAL, false);
        }
}

// ---- Lanes ---------------------------------------------------------------------------------------------------

static const char divergent[] =
    ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n) {\n"
    ".reg .b64 %p<4>; .reg .b32 %t<4>, %a<8>, %s; .reg .f32 %c<8>; .reg .pred %q<3>;\n"
    "ld.param.u64 %p0, [p]; ld.param.u32 %t2, [n]; mov.u32 %t0, %tid.x; mov.u32 %t1, 0;\n"
    // lanes take their time, one by one; from %t2 on they leave
    "setp.ge.u32 %q1, %t0, %t2; @%q1 exit;\n"
    "L: setp.ge.u32 %q0, %t1, %t0; @%q0 bra OUT; add.u32 %t1, %t1, 1; bra L;\n"
    "OUT: wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}, [%p0], "
    "16;\n"
    "wmma.load.c.sync.aligned.col.m16n16k16.global.f32 {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7}, [%p0+512];\n"
    "wmma.store.d.sync.aligned.col.m16n16k16.global.f32 [%p0+1536], {%c0, %c1, %c2, %c3, %c4, %c5, %c6, "
    "%c7}, 20;\n"
    "mul.wide.u32 %p1, %t0, 32; add.u64 %p1, %p1, %p0;\n"
    "st.global.v4.b32 [%p1+4096], {%a0, %a1, %a2, %a3}; st.global.v4.b32 [%p1+4112], {%a4, %a5, %a6, %a7};\n"
    "ret; }\n";

typedef struct Heard {
    unsigned events[64], lanes[64], size[64], n; // by site
    uint64_t base, wrong, warps;
} Heard;

static void on_access(void *user, const VmAccessEvent *e) {
    Heard *h = user;
    unsigned site = e->where.site;
    assert_true(site < 64);
    h->events[site]++;
    h->lanes[site] += (unsigned)__builtin_popcount(e->where.mask);
    h->size[site] = e->size;
    h->wrong += site == 1 && e->access != PTX_ACCESS_READ;
    h->wrong += site == 3 && e->access != PTX_ACCESS_WRITE;
    for (unsigned l = 0; l < 32; l++)
        if (site == 1 && e->where.mask >> l & 1)
            h->wrong += e->address[l] != h->base + 16 * l; // its thirty-second
}

static void on_sync(void *user, const VmSyncEvent *e) { ((Heard *)user)->warps += e->kind == VM_SYNC_WARP; }

// EM-148: lanes wait for each other, which orders nothing; EM-149: a lane's part; EM-150: what is told.
static void lanes_meet(void **unused) {
    (void)unused;
    for (uint64_t seed = 1; seed < 5; seed++) {
        Rig r;
        VmConfig c = {.seed = seed, .split_one_in = 8};
        rig_open(&r, divergent, &c);
        uint64_t at = rig_alloc(&r, 8192);
        uint16_t *in = rig_view(&r, at, 8192);
        for (unsigned k = 0; k < 256; k++)
            in[k] = (uint16_t)(k + 1);
        float *acc = rig_view(&r, at + 512, 1024), *out = rig_view(&r, at + 1536, 2048);
        for (unsigned k = 0; k < 256; k++)
            acc[k] = (float)k;
        Heard h = {.base = at};
        VmObserver o = {.user = &h, .access = on_access, .sync = on_sync};
        assert_int_equal(gr_vm_observe(r.dev, &o, NULL), GR_OK);
        assert_int_equal(RIG_RUN(&r, "k", 1, 32, at, 32), VM_FAULT_NONE);
        assert_int_equal(r.undefined, 0);
        const uint32_t *regs = rig_view(&r, at + 4096, 1024);
        for (unsigned l = 0; l < 32; l++)
            for (unsigned k = 0; k < 8; k++)
                assert_int_equal(regs[8 * l + k], (8 * l + k % 4 * 2 + 1) | (8 * l + k % 4 * 2 + 2) << 16);
        for (unsigned col = 0; col < 16; col++)
            for (unsigned row = 0; row < 20; row++)
                if (col < 15 || row < 16)
                    assert_true(out[col * 20 + row] == (row < 16 ? (float)(col * 16 + row) : 0));
        assert_int_equal(h.wrong, 0);
        assert_int_equal(h.warps, 0);
        // a by rows: one access of each lane, of the 16 bytes that it holds; an accumulator by columns: one of each
        // element
        assert_int_equal(h.lanes[1], 32);
        assert_int_equal(h.size[1], 16);
        assert_int_equal(h.lanes[2], 256);
        assert_int_equal(h.lanes[3], 256);
        assert_int_equal(h.size[2], 4);
        assert_int_equal(h.size[3], 4);
        rig_close(&r);
    }
}

// EM-154: those that have left are not waited for, their parts stay as they are, and it is counted.
static void missing_lanes_are_counted(void **unused) {
    (void)unused;
    Rig r;
    rig_open(&r, divergent, NULL);
    uint64_t at = rig_alloc(&r, 8192);
    memset(rig_view(&r, at, 8192), 1, 8192);
    assert_int_equal(RIG_RUN(&r, "k", 1, 32, at, 31), VM_FAULT_NONE);
    assert_int_equal(r.undefined, 3);
    const uint32_t *regs = rig_view(&r, at + 4096, 1024);
    assert_int_equal(regs[8 * 30 + 7], 0x01010101);
    rig_close(&r);
    rig_open(
        &r,
        ".visible .entry k(.param .u64 p) { .reg .b64 %p<4>; .reg .b32 %t, %a<8>; ld.param.u64 %p0, [p];\n"
        "mov.u32 %t, %tid.x; and.b32 %t, %t, 16; mul.wide.u32 %p1, %t, 32; add.u64 %p0, %p0, %p1;\n"
        "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}, [%p0];\n"
        "ret; }\n",
        NULL);
    at = rig_alloc(&r, 2048);
    assert_int_equal(RIG_RUN(&r, "k", 1, 32, at), VM_FAULT_NONE);
    assert_int_equal(r.undefined, 1); // two addresses
    rig_close(&r);
}

static void faults_are_named(void **unused) {
    (void)unused;
    Rig r;
    static const char text[] =
        ".visible .entry k(.param .u64 p) { .reg .b64 %p<4>; .reg .b32 %a<8>; ld.param.u64 %p0, [p];\n"
        "wmma.load.a.sync.aligned.row.m16n16k16.f16 {%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}, [%p0];\n"
        "ret; }\n";
    rig_open(&r, text, NULL);
    uint64_t at = rig_alloc(&r, 2048);
    assert_int_equal(RIG_RUN(&r, "k", 1, 32, at + 2), VM_FAULT_MISALIGNED);
    assert_int_equal(RIG_RUN(&r, "k", 1, 32, at + 2048 - 256), VM_FAULT_ILLEGAL_ADDRESS);
    assert_non_null(strstr(r.fault.msg, "read 16 bytes"));
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wmma_multiplies),
        cmocka_unit_test(lanes_meet),
        cmocka_unit_test(missing_lanes_are_counted),
        cmocka_unit_test(faults_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
