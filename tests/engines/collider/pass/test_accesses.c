// SPDX-License-Identifier: Apache-2.0
// test_accesses — every form of weak access that the CPU device executes: the collider finds who writes into its
// window, is silent about the byte beside it, and changes nothing that the program computes.
//
// Warp 0 makes the access again and again, each lane at its own 64 bytes; warp 1 stores single bytes at an offset from
// there, strongly, so that only the access under test can report.
#include "../../../vm/harness.h"

#include "engines/collider/device/record.h"
#include "engines/collider/pass/collider.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// %g, %c and %s: a lane's place in global memory, and in shared memory as a generic address and as an offset; %p1 is
// true for odd lanes. %out and %base are the places of lane 0.
static const char head[] =
    ".version 8.6\n.target sm_100\n.address_size 64\n"
    ".visible .entry k(.param .u64 out, .param .u32 off) .reqnctapercluster 1, 1, 1 {\n"
    ".reg .pred %p<8>; .reg .b8 %b<9>; .reg .b16 %h<9>; .reg .b32 %r<40>, %s, %base; .reg .f32 "
    "%f<9>;\n"
    ".reg .b64 %d<9>, %g, %c, %out; .reg .b128 %q<4>; .reg .b32 %v<8>; .reg .b64 %w<8>;\n"
    ".shared .align 64 .b8 s[2176]; .shared .b64 bar;\n"
    "ld.param.u64 %out, [out]; ld.param.u32 %v0, [off]; mov.u32 %v1, %tid.x; and.b32 %v2, %v1, 31;\n"
    "mov.u32 %base, s; shl.b32 %v3, %v2, 6; add.u32 %s, %base, %v3; cvt.u64.u32 %w0, %v3;\n"
    "add.s64 %g, %out, %w0; cvt.u64.u32 %c, %s; cvta.shared.u64 %c, %c; add.u32 %v0, %v0, %v3;\n"
    "cvt.u64.u32 %w1, %v0; add.s64 %w1, %out, %w1; add.u32 %v0, %base, %v0;\n"
    "and.b32 %v4, %v1, 1; setp.ne.u32 %p1, %v4, 0; setp.ge.u32 %p7, %v1, 32; mov.u32 %v5, 0;\n"
    "mov.u32 %r1, 0x01020304; mov.u32 %r2, 5; mov.u32 %r3, 6; mov.u32 %r4, 7; mov.b64 %d1, {%r1, "
    "%r2};\n"
    "mov.b64 %d2, {%r3, %r4}; mov.b128 %q1, {%d1, %d2}; mov.b16 %h1, 3; cvt.u8.u32 %b1, %r2;\n"
    "mov.f32 %f1, 0f3F800000; mov.u64 %d0, %g; mov.u32 %r0, %s;\n"
    "setp.eq.u32 %p6, %v1, 0; @%p6 mbarrier.init.shared.b64 [bar], 1; bar.sync 0;\n"
    "L: @%p7 bra OTHER;\n";
static const char tail[] =
    "bra NEXT;\n"
    "OTHER: add.u32 %v6, %v5, 1; st.volatile.global.u8 [%w1], %v6; st.volatile.shared.u8 [%v0], %v6;\n"
    "NEXT: add.u32 %v5, %v5, 1; setp.lt.u32 %p6, %v5, 40; @%p6 bra L;\n"
    "bar.sync 0; setp.eq.u32 %p6, %v1, 0; @%p6 mbarrier.arrive.shared.b64 %w2, [bar];\n"
    "W: mbarrier.try_wait.parity.shared.b64 %p6, [bar], 0; @!%p6 bra W;\n"
    "shl.b32 %v6, %v1, 2; add.u32 %v7, %base, %v6; cvt.u64.u32 %w2, %v6; add.s64 %w2, "
    "%out, %w2;\n"
    "mov.u32 %v5, 0;\n"
    "C: ld.volatile.shared.u32 %v6, [%v7]; st.volatile.global.u32 [%w2+4096], %v6; add.u32 %v7, %v7, "
    "256;\n"
    "add.s64 %w2, %w2, 256; add.u32 %v5, %v5, 1; setp.lt.u32 %p6, %v5, 8; @%p6 bra C;\n"
    "ret; }\n";

enum { SITES = 32, BYTES = 8192, SLOTS = (SITES + 1) * GR_CLASS_COUNT * (int)sizeof(GrSlot) };

typedef struct Form {
    const char *text; // the access, which is the first site of the kernel
    GrRaceClass class;
    int hit, miss; // offsets that the access reads or writes, and not
} Form;

#define R8    "{%r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12}"
#define F8    "{%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}"
#define TILE  "cvt.u64.u32 %d3, %base; cvta.shared.u64 %d3, %d3;" // a warp's in shared memory, generic
#define READ  GR_CLASS_CLOBBERED_READ
#define WRITE GR_CLASS_LOST_UPDATE

static const Form forms[] = {
    {"ld.global.u32 %r5, [%g];", READ, 3, 4},
    {"ld.global.b128 %q2, [%g];", READ, 15, 16},
    {"ld.global.b128 %q2, [%g+16];", READ, 16, 15},
    {"ld.global.nc.b128 %q2, [%g];", READ, 7, 16},
    {"ld.b128 %q2, [%c];", READ, 8, 16},
    {"@%p1 ld.shared.b128 %q2, [%s];", READ, 0, 16},
    {"st.global.b128 [%g], %q1;", WRITE, 15, 16},
    {"st.b128 [%c+16], %q1;", WRITE, 16, 15},
    {"@!%p1 st.shared::cluster.b128 [%s], %q1;", WRITE, 1, 16},
    {".pragma \"used_bytes_mask 0xff0f\"; ld.global.b128 %q2, [%g];", READ, 8, 4},
    {"ld.global.b8 %b2, [%g];", READ, 0, 1},
    {"ld.shared.s8 %b2, [%s+1];", READ, 1, 0},
    {"ld.global.v4.b8 {%b2, _, %b3, %b4}, [%g];", READ, 2, 1},
    {"st.global.b8 [%g], %b1;", WRITE, 0, 1},
    {"st.shared.v2.b8 [%s], {%b1, %b1};", WRITE, 1, 2},
    {"ld.global.s8 %d3, [%g];", READ, 0, 1},
    {"ld.global.s16 %r5, [%g];", READ, 1, 2},
    {"ld.u8 %r5, [%c];", READ, 0, 1},
    {"ld.shared.v2.u16 {_, %h2}, [%s];", READ, 2, 1},
    {"st.global.v4.u8 [%g], {%r1, %r2, %r3, 9};", WRITE, 3, 4},
    {"st.shared.u16 [%s+2], %r1;", WRITE, 2, 4},
    {"st.global.u8 [%g], -1;", WRITE, 0, 1},
    {"ld.global.v8.f32 {%f2, _, %f3, %f4, %f5, %f6, %f7, %f8}, [%g];", READ, 31, 4},
    {"ld.weak.v4.b64 {%d0, %d2, %d3, %d4}, [%d0]; mov.u64 %d0, %g;", READ, 0, 32},
    {"st.global.v8.f32 [%g], {%f1, %f1, %f1, %f1, %f1, %f1, %f1, 0f40000000};", WRITE, 31, 32},
    {"ldu.global.u32 %r5, [%g];", READ, 3, 4},
    {"ldu.v4.f32 {%f2, %f3, %f4, %f5}, [%g];", READ, 13, 16},
    {"ldu.global.b128 %q2, [%g];", READ, 15, 16},
    {"ld.global.nc.L1::no_allocate.L2::cache_hint.L2::128B.v2.u32 {%r5, %r6}, [%g], %d1;", READ, 7, 8},
    {"ld.global.ca.nc.s8 %r5, [%g];", READ, 0, 1},
    {"ld.weak.global.cs.u64 %d3, [%g];", READ, 7, 8},
    {"ld.global.u32 %r5, [%g].unified;", READ, 1, 4},
    {"st.weak.global.wt.u32 [%g], %r1;", WRITE, 2, 4},
    {"st.global.L2::cache_hint.v2.u32 [%g], {%r1, %r2}, %d1;", WRITE, 7, 8},
    {"ld.shared::cta.u64 %d3, [%s];", READ, 7, 8},
    {"ld.shared::cluster.v4.u32 {%r5, %r6, %r7, %r8}, [%s];", READ, 12, 16},
    {"ld.shared.u32 %r0, [%r0]; mov.u32 %r0, %s;", READ, 2, 4},
    {"st.bulk.weak.shared::cta [%s], 24, 0;", WRITE, 23, 24},
    {"mov.u64 %d3, 16; @%p1 st.bulk [%c+8], %d3, 0;", WRITE, 8, 7},
    // Once: nothing orders what is issued again with what is still on its way.
    {"setp.eq.u32 %p2, %v5, 3; @%p2 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 4;"
     "@%p2 st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%s], %r1, [bar];",
     READ, 3, 4},
    {"setp.eq.and.u32 %p2, %v5, 3, %p1; @%p2 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 16;"
     "@%p2 st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [%s], {%d1, 7}, [bar];",
     READ, 15, 16},
    {"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r5, %r6, %r7, %r8}, [%s];", READ, 15, 16},
    {"ldmatrix.sync.aligned.m8n8.x4.trans.b16 {%r5, %r6, %r7, %r8}, [%c+16];", READ, 16, 15},
    {"@!%p7 ldmatrix.sync.aligned.m8n8.x1.shared::cta.b16 {%r0}, [%r0+16]; mov.u32 %r0, %s;", READ, 31, 15},
    {"ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r5, _}, [%s];", READ, 3, 16},
    {"stmatrix.sync.aligned.m8n8.x4.shared.b16 [%s], {%r1, %r2, %r3, %r4};", WRITE, 15, 16},
    {"stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%s], {%r1, %r2, %r3, %r4};", WRITE, 6, 16},
    {"@!%p7 stmatrix.sync.aligned.m8n8.x1.shared.b16 [%s+16], {%r1};", WRITE, 31, 32},
    {"stmatrix.sync.aligned.m8n8.x2.trans.b16 [%c], {%r1, %r2};", WRITE, 0, 16},
    {"{ stmatrix.sync.aligned.m8n8.x2.shared.b16 [%s], {%r1, %r2}; }", WRITE, 12, 16},
    // Lines of 16 or 32 bytes, one every 64.
    {"wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 " R8 ", [%base], 32;", READ, 31, 32},
    {"wmma.load.b.sync.aligned.col.m16n16k16.f16 " R8 ", [%out], 32;", READ, 0, 63},
    {"mov.u32 %r20, 32; wmma.load.b.sync.aligned.row.m32n8k16.global.bf16 {%r5, %r6}, [%out+16], %r20;", READ,
     17, 15},
    {"wmma.load.a.sync.aligned.row.m16n16k8.global.tf32 {%r5, %r6, %r7, %r8}, [%out], 16;", READ, 30, 33},
    {"wmma.load.a.sync.aligned.row.m8n8k4.shared::cta.f64 {%d3}, [%base], 8;", READ, 31, 32},
    {"wmma.load.b.sync.aligned.col.m32n8k16.shared.u8 {%r5}, [%base], 64;", READ, 15, 16},
    {"wmma.load.a.sync.aligned.row.m32n8k16.global.s8 {%r5, %r6, %r7, %r8}, [%out], 64;", READ, 8, 16},
    {"wmma.load.a.sync.aligned.row.m8n8k32.shared.u4 {%r5}, [%base], 128;", READ, 15, 16},
    {"wmma.load.b.sync.aligned.col.m8n8k128.global.b1 {%r5}, [%out], 512;", READ, 4, 16},
    {"@!%p7 wmma.load.c.sync.aligned.row.m32n8k16.global.f32 " F8 ", [%out], 16;", READ, 31, 32},
    {TILE " @!%p7 wmma.load.c.sync.aligned.col.m8n32k16.f16 {%r5, %r6, %r7, %r8}, [%d3], 32;", READ, 2, 16},
    {"wmma.store.d.sync.aligned.row.m32n8k16.shared.f32 [%base], " F8 ", 16;", WRITE, 31, 32},
    {"wmma.store.d.sync.aligned.row.m32n8k16.f16 [%out], {%r1, %r2, %r3, %r4}, 32;", WRITE, 15, 16},
    {TILE " @!%p7 wmma.store.d.sync.aligned.col.m8n32k16.f16 [%d3], {%r1, %r2, %r3, %r4}, 32;", WRITE, 15,
     16},
    {"wmma.store.d.sync.aligned.row.m8n8k32.global.s32 [%out+64], {%r1, %r2}, 16;", WRITE, 3, 33},
};

static char *rewritten(const char *form, bool check) {
    PtxModule *m;
    gr_error err = {0};
    StrBuf program = {0}, text = {0};
    gr_str_addf(&program, "%s%s\n%s", head, form, tail);
    GrSiteStatus status[SITES + 1];
    ColliderOptions o = {
        .seed = 7, .read_delay_ns = 5000, .write_delay_ns = 5000, .same_value = true, .suffix = ""};
    if (gr_ptx_parse_ours(program.data, program.len, "k", &m, &err) != GR_OK)
        fail_msg("%s: %s", form, err.msg);
    assert_true(m->n_sites <= SITES);
    if (check && gr_collider_rewrite(m, &o, status, &err) != GR_OK)
        fail_msg("%s: %s", form, err.msg);
    if (check && status[1] != GR_SITE_CHECKED)
        fail_msg("%s: status %d", form, (int)status[1]);
    assert_int_equal(gr_ptx_print(m, 0, &text, &err), GR_OK);
    gr_ptx_free(m);
    gr_str_free(&program);
    return text.data;
}

typedef struct Outcome {
    uint64_t memory, reports, of_class;
    GrSlot slot; // of the class wanted
} Outcome;

static const VmObserver *listener;

static Outcome run(const char *text, const char *form, uint64_t seed, bool checked, GrRaceClass class,
                   uint64_t off) {
    Rig r;
    VmConfig c = {.seed = seed, .split_one_in = listener ? 0 : 64};
    rig_open(&r, text, &c);
    if (listener)
        assert_int_equal(gr_vm_observe(r.dev, listener, NULL), GR_OK);
    uint64_t out = rig_alloc(&r, BYTES), slots = checked ? rig_alloc(&r, SLOTS) : 0;
    if (checked) {
        GrControl control = {.slots = slots, .n_sites = SITES};
        uint64_t at, size;
        bool managed;
        char name[64];
        assert_true(gr_vm_module_global(r.mod, gr_collider_control_name("", name, sizeof name), &at, &size,
                                        &managed));
        memcpy(rig_view(&r, at, sizeof control), &control, sizeof control);
    }
    if (RIG_RUN(&r, "k", 1, 64, out, off) != VM_FAULT_NONE)
        fail_msg("%s: %s", form, r.fault.msg);
    Outcome o = {.memory = gr_hash_bytes(rig_view(&r, out, BYTES), BYTES)};
    const GrSlot *s = checked ? rig_view(&r, slots, SLOTS) : NULL;
    for (unsigned k = 0; checked && k < (SITES + 1) * GR_CLASS_COUNT; k++)
        o.reports += s[k].count;
    if (checked) {
        o.slot = s[1 * GR_CLASS_COUNT + class];
        o.of_class = o.slot.count;
    }
    rig_close(&r);
    return o;
}

static void check_form(const Form *f) {
    char *plain = rewritten(f->text, false), *checked = rewritten(f->text, true);
    bool found = false;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        Outcome racy = run(checked, f->text, seed, true, f->class, (uint64_t)f->hit);
        found = found || racy.of_class;
        if (racy.reports != racy.of_class)
            fail_msg("%s: reported as another class or elsewhere", f->text);
        Outcome twin = run(checked, f->text, seed, true, f->class, (uint64_t)f->miss);
        if (twin.reports)
            fail_msg("%s: reports byte %d, seed %d", f->text, f->miss, (int)seed);
        Outcome bare = run(plain, f->text, seed, false, f->class, (uint64_t)f->miss);
        if (twin.memory != bare.memory)
            fail_msg("%s: the checks change the program's memory", f->text);
    }
    if (!found)
        fail_msg("%s: nothing found at byte %d", f->text, f->hit);
    free(plain);
    free(checked);
}

static void every_form(void **state) {
    (void)state;
    for (unsigned k = 0; k < sizeof forms / sizeof *forms; k++)
        check_form(&forms[k]);
}

// Lanes that store to one address: different values, and all the same ones. Of 256 bits only the second half differs.
static void within_a_warp(void **state) {
    (void)state;
    static const struct {
        const char *text;
        GrRaceClass class;
        unsigned address, size;
        uint32_t lanes;
    } cases[] = {
        {"st.b128 [%c], %q1;", GR_CLASS_COUNT, 0, 0, 0},
        {"cvt.u64.u32 %d2, %v2; mov.b128 %q1, {%d1, %d2}; st.shared.b128 [%base], %q1;", GR_CLASS_INTRA_WARP,
         8, 8, 0xffffffff},
        {"st.shared.b128 [%base], %q1;", GR_CLASS_INTRA_WARP_SAME, 0, 8, 0xffffffff},
        {"cvt.u8.u32 %b1, %v2; st.shared.b8 [%base+3], %b1;", GR_CLASS_INTRA_WARP, 3, 1, 0xffffffff},
        {"stmatrix.sync.aligned.m8n8.x4.shared.b16 [%s], {%r1, %r2, %r3, %r4};", GR_CLASS_COUNT, 0, 0, 0},
        {"st.bulk.weak.shared::cta [%base+8], 8, 0;", GR_CLASS_INTRA_WARP_SAME, 8, 8, 0xffffffff},
        {"mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 4;"
         "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%base+4], %v2, [bar];",
         GR_CLASS_INTRA_WARP, 4, 4, 0xffffffff},
        {"stmatrix.sync.aligned.m8n8.x1.shared.b16 [%base], {%v2};", GR_CLASS_INTRA_WARP, 0, 8, 0xff},
        {"stmatrix.sync.aligned.m8n8.x2.trans.b16 [%c], {%v2, %v2};", GR_CLASS_COUNT, 0, 0, 0},
        {"cvt.rn.f32.u32 %f2, %v2; st.global.v8.f32 [%out], {%f1,%f1,%f1,%f1,%f1,%f1,%f2,%f1};",
         GR_CLASS_INTRA_WARP, 24, 8, 0xffffffff},
    };
    for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++) {
        char *checked = rewritten(cases[k].text, true);
        GrRaceClass class = cases[k].class == GR_CLASS_COUNT ? GR_CLASS_INTRA_WARP : cases[k].class;
        Outcome o = run(checked, cases[k].text, 1, true, class, 40);
        if (!o.of_class != (cases[k].class == GR_CLASS_COUNT))
            fail_msg("%s: %d reports of %d", cases[k].text, (int)o.of_class, (int)o.reports);
        if (cases[k].class != GR_CLASS_COUNT) {
            assert_int_equal(o.slot.address % 64, cases[k].address);
            assert_int_equal(o.slot.size, cases[k].size);
            assert_int_equal(o.slot.lanes, cases[k].lanes);
        }
        free(checked);
    }
}

typedef struct Heard {
    unsigned opened, closed, wrong, size;
    PtxAccess access;
} Heard;

static void on_window(void *user, const VmWindowEvent *e) {
    Heard *h = user;
    h->closed += !e->opens;
    if (!e->opens)
        return;
    h->opened++;
    h->wrong += e->where.site != 1 || e->where.mask != 0xffffffff || e->size != h->size ||
                e->access != h->access || e->space != PTX_SHARED;
}

// Of a matrix, too, those who listen hear what is watched: the row that a lane names, or each word that it stored.
static void windows_are_told(void **state) {
    (void)state;
    static const struct {
        const char *text;
        unsigned size, parts;
        PtxAccess access;
    } cases[] = {
        {"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r5, %r6, %r7, %r8}, [%s];", 16, 1, PTX_ACCESS_READ},
        {"stmatrix.sync.aligned.m8n8.x4.shared.b16 [%s], {%r1, %r2, %r3, %r4};", 4, 4, PTX_ACCESS_WRITE},
        {"stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%s], {%r1, %r2};", 2, 4, PTX_ACCESS_WRITE},
        {"wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 " R8 ", [%base], 32;", 16, 1, PTX_ACCESS_READ},
        {"wmma.load.c.sync.aligned.row.m32n8k16.shared.f32 " F8 ", [%base], 16;", 16, 2, PTX_ACCESS_READ},
        {"wmma.store.d.sync.aligned.row.m32n8k16.shared.f32 [%base], " F8 ", 16;", 16, 2, PTX_ACCESS_WRITE},
        {"wmma.store.d.sync.aligned.col.m8n32k16.shared.f16 [%base], {%r1, %r2, %r3, %r4}, 32;", 2, 8,
         PTX_ACCESS_WRITE},
        {"wmma.store.d.sync.aligned.row.m8n8k32.shared.s32 [%base], {%r1, %r2}, 16;", 8, 1, PTX_ACCESS_WRITE},
    };
    for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++) {
        Heard h = {.size = cases[k].size, .access = cases[k].access};
        VmObserver o = {.user = &h, .window = on_window};
        listener = &o;
        char *checked = rewritten(cases[k].text, true);
        run(checked, cases[k].text, 1, true, GR_CLASS_LOST_UPDATE, 40);
        free(checked);
        listener = NULL;
        assert_true(h.closed > 20); // of 40: some take no time
        assert_int_equal(h.opened, h.closed * cases[k].parts);
        assert_int_equal(h.wrong, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form),
        cmocka_unit_test(within_a_warp),
        cmocka_unit_test(windows_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
