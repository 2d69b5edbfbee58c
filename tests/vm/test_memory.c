// SPDX-License-Identifier: Apache-2.0
// test_memory — addresses, bounds, windows, stacks, heap, vectors: EM-33 to EM-41 of docs/execution-model.md.
#include "base/address.h"
#include "harness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define KERNEL(name) ".visible .entry " name "(.param .u64 out) {\n"
#define REGS                                                                                                 \
    ".reg .pred %p<8>; .reg .b16 %h<16>; .reg .b32 %r<32>; .reg .b64 %rd<32>; .reg .f32 %f<8>; .reg .f64 "   \
    "%d<8>;\n"
// %rd1 the buffer, %r1 the thread, %rd2 the thread's word.
#define PROLOGUE                                                                                             \
    REGS "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd2, %rd1, "    \
         "%rd3;\n"

static const uint32_t *words(Rig *r, uint64_t at, unsigned n) { return rig_view(r, at, n * 4u); }

// Runs `body` in one kernel over a buffer of `bytes` bytes.
static VmFault run_body(const char *body, uint32_t threads, uint64_t bytes, uint32_t *copy, unsigned n) {
    Rig r;
    char text[8192];
    snprintf(text, sizeof text, "%s%s ret; }", KERNEL("k") PROLOGUE, body);
    rig_open(&r, text, NULL);
    uint64_t out = rig_alloc(&r, bytes);
    RIG_RUN(&r, "k", 1, threads, out);
    VmFault f = r.fault;
    if (copy)
        memcpy(copy, words(&r, out, n), n * 4u);
    if (f.kind && !copy)
        f.address -= out; // relative, for the tests
    rig_close(&r);
    return f;
}

// EM-33
static void addresses_repeat(void **state) {
    (void)state;
    uint64_t first[4] = {0};
    for (unsigned turn = 0; turn < 2; turn++) {
        Rig r;
        rig_open(&r, ".global .u32 g[5]; " KERNEL("k") "ret; }", NULL);
        uint64_t at[4], size;
        assert_true(gr_vm_module_global(r.mod, "g", &at[0], &size, NULL));
        assert_int_equal(size, 20);
        for (unsigned k = 1; k < 4; k++)
            at[k] = rig_alloc(&r, k * 1000);
        if (turn)
            assert_memory_equal(at, first, sizeof at);
        memcpy(first, at, sizeof at);
        rig_close(&r);
    }
    assert_true(first[1] % 256 == 0 && first[2] > first[1]);
}

// EM-33: and says so where it cannot be.
static void another_region_is_told(void **state) {
    (void)state;
    VmMem *m[2];
    assert_int_equal(gr_vm_mem_create(&m[0], NULL), GR_OK);
    assert_int_equal(gr_vm_mem_create(&m[1], NULL), GR_OK); // the first has the usual place
    VmRange *r[2];
    for (unsigned k = 0; k < 2; k++) {
        assert_int_equal(gr_vm_mem_moved(m[k]), k);
        assert_int_equal(gr_vm_mem_alloc(m[k], VM_MEM_DEVICE, 0, 16, 16, &r[k], NULL), GR_OK);
        assert_false(gr_address_is_drawn(r[k]->addr)); // both where Linux puts nothing
    }
    assert_true(r[0]->addr != r[1]->addr);
    gr_vm_mem_destroy(m[1]);
    gr_vm_mem_destroy(m[0]);
}

// EM-34
static void bounds_are_exact(void **state) {
    (void)state;
    VmFault f = run_body("ld.global.u8 %r2, [%rd1+12];", 1, 13, NULL, 0);
    assert_int_equal(f.kind, VM_FAULT_NONE);
    f = run_body("ld.global.u8 %r2, [%rd1+13];", 1, 13, NULL, 0);
    assert_int_equal(f.kind, VM_FAULT_ILLEGAL_ADDRESS);
    f = run_body("st.global.u32 [%rd1+12], %r2;", 1, 13, NULL, 0);
    assert_int_equal(f.kind, VM_FAULT_ILLEGAL_ADDRESS);
    assert_non_null(strstr(f.msg, "wrote 4 bytes"));
    assert_non_null(strstr(f.msg, "past the end of a 13-byte allocation"));
    f = run_body("ld.u32 %r2, [%rd1+-4];", 1, 16, NULL, 0);
    assert_int_equal(f.kind, VM_FAULT_ILLEGAL_ADDRESS);
    assert_non_null(strstr(f.msg, "4 bytes before a 16-byte allocation"));
    // The quick paths: one lane of 32 outside, by vectors and by atomics.
    f = run_body("ld.global.u32 %r2, [%rd2]; ld.global.u32 %r2, [%rd2];", 32, 127, NULL, 0);
    assert_int_equal(f.kind, VM_FAULT_ILLEGAL_ADDRESS);
    assert_int_equal(f.thread[0], 31);
    f = run_body("ld.global.u32 %r2, [%rd1]; mov.u32 %r5, 0; L: ld.global.u32 %r2, [%rd2]; add.s64 %rd2, "
                 "%rd2, 4; add.u32 %r5, %r5, 1;"
                 "setp.lt.u32 %p1, %r5, 100; @%p1 bra L;",
                 32, 256, NULL, 0);
    assert_int_equal(f.kind, VM_FAULT_ILLEGAL_ADDRESS);
    assert_int_equal(f.address, 256);
    f = run_body("mov.u64 %rd4, 0; ld.u32 %r2, [%rd4+8];", 1, 16, NULL, 0);
    assert_int_equal(f.kind, VM_FAULT_ILLEGAL_ADDRESS);
    assert_non_null(strstr(f.msg, "null pointer plus 8"));
    f = run_body("mov.u64 %rd4, 0x8000000000000000; st.u32 [%rd4], %r2;", 1, 16, NULL, 0);
    assert_int_equal(f.kind, VM_FAULT_ILLEGAL_ADDRESS);
    f = run_body("mov.u64 %rd4, -4; atom.global.add.u32 %r2, [%rd4], 1;", 1, 16, NULL, 0);
    assert_int_equal(f.kind, VM_FAULT_ILLEGAL_ADDRESS);
}

// EM-34: the aligned word around a variable of one or two bytes, for what libcu++ makes of its atomic operations.
static void strong_words_may_pass_an_end(void **state) {
    (void)state;
    static const char *const fine[] = {
        "ld.relaxed.gpu.b32 %r2, [%rd1];",
        "ld.volatile.b32 %r2, [%rd1];",
        "st.release.sys.b32 [%rd1], %r2;",
        "mov.u32 %r3, 5; atom.cas.acquire.gpu.b32 %r2, [%rd1], 0, %r3;",
        "red.global.or.b32 [%rd1], 1;",
        // Quick paths, which know where the instruction went before: the word that begins in the allocation is the
        // last.
        "mov.u32 %r3, 1; atom.global.add.u32 %r2, [%rd1], %r3; atom.global.add.u32 %r2, [%rd1], %r3;",
    };
    static const char *const faults[] = {
        "ld.b32 %r2, [%rd1];", // weak: no such operation
        "st.b32 [%rd1], %r2;",
        "ld.relaxed.gpu.b32 %r2, [%rd1+4];", // begins outside
        "ld.relaxed.gpu.b16 %h2, [%rd1+2];",
        "ld.relaxed.gpu.b64 %rd3, [%rd1];", // no word
        "atom.global.add.u64 %rd3, [%rd1], 1;",
    };
    for (uint64_t bytes = 1; bytes < 4; bytes++)
        for (size_t k = 0; k < sizeof fine / sizeof *fine; k++)
            assert_int_equal(run_body(fine[k], 1, bytes, NULL, 0).kind, VM_FAULT_NONE);
    for (size_t k = 0; k < sizeof faults / sizeof *faults; k++)
        assert_int_equal(run_body(faults[k], 1, 2, NULL, 0).kind, VM_FAULT_ILLEGAL_ADDRESS);
    uint32_t was = 0;
    (void)run_body("mov.u32 %r3, 7; st.global.u16 [%rd1], 3; atom.cas.acquire.gpu.b32 %r2, [%rd1], 3, %r3;",
                   1, 4, &was, 1);
    assert_int_equal(was, 7);
    // The end of shared memory, alone and as others of the cluster see it.
    static const struct {
        const char *body;
        VmFaultKind kind;
    } rows[] = {
        {"atom.cas.relaxed.cta.shared.b32 %r2, [%r3+4], 0, 1;", VM_FAULT_NONE},
        {"ld.relaxed.cta.shared.b32 %r2, [%r3+4];", VM_FAULT_NONE},
        {"ld.shared.b32 %r2, [%r3+4];", VM_FAULT_ILLEGAL_ADDRESS},
        {"ld.relaxed.cta.shared.b32 %r2, [%r3+8];", VM_FAULT_ILLEGAL_ADDRESS},
        {"mapa.shared::cluster.u32 %r4, %r3, 0; atom.add.relaxed.cluster.shared::cluster.u32 %r2, [%r4+4], "
         "1;",
         VM_FAULT_NONE},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char text[4096];
        Rig r;
        snprintf(text, sizeof text, "%s%s ret; }",
                 KERNEL("k") REGS ".shared .align 2 .b8 s[6]; mov.u32 %r3, s;", rows[k].body);
        rig_open(&r, text, NULL);
        assert_int_equal(RIG_RUN(&r, "k", 1, 1, rig_alloc(&r, 4)), rows[k].kind);
        rig_close(&r);
    }
}

// EM-35
static void freed_memory_faults(void **state) {
    (void)state;
    Rig r;
    rig_open(&r, KERNEL("k") PROLOGUE "st.global.u32 [%rd1], 1; ret; }", NULL);
    uint64_t a = rig_alloc(&r, 64);
    assert_int_equal(RIG_RUN(&r, "k", 1, 1, a), VM_FAULT_NONE);
    assert_int_equal(gr_vm_mem_free(r.mem, a, NULL), GR_OK);
    assert_int_equal(RIG_RUN(&r, "k", 1, 1, a), VM_FAULT_ILLEGAL_ADDRESS);
    assert_non_null(strstr(r.fault.msg, "in a 64-byte allocation that was freed"));
    assert_true(rig_alloc(&r, 64) > a);
    assert_int_equal(gr_vm_mem_free(r.mem, a, NULL), GR_ERR_ARGUMENT);
    rig_close(&r);
}

// EM-36
static void alignment(void **state) {
    (void)state;
    VmFault f = run_body("ld.global.u16 %h1, [%rd1+1];", 1, 64, NULL, 0);
    assert_int_equal(f.kind, VM_FAULT_MISALIGNED);
    f = run_body("ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd1+8];", 1, 64, NULL, 0);
    assert_int_equal(f.kind, VM_FAULT_MISALIGNED);
    assert_int_equal(f.address, 8);
    assert_non_null(strstr(f.msg, "not a multiple of 16"));
    f = run_body(".shared .align 8 .b8 s[64]; mov.u32 %r2, s; st.shared.u32 [%r2+6], %r1;", 1, 64, NULL, 0);
    assert_int_equal(f.kind, VM_FAULT_MISALIGNED);
    f = run_body("ld.global.u64 %rd5, [%rd1]; add.s64 %rd2, %rd2, %rd3; ld.global.u64 %rd5, [%rd2]; "
                 "atom.global.add.u32 %r2, [%rd2+2], 1;",
                 32, 256, NULL, 0);
    assert_int_equal(f.kind, VM_FAULT_MISALIGNED);
}

// EM-37
static void generic_addresses(void **state) {
    (void)state;
    uint32_t w[256];
    VmFault f =
        run_body(".shared .b32 s[64]; .local .b32 l[4]; mov.u32 %r2, s; mov.u64 %rd4, s; cvta.shared.u64 "
                 "%rd5, %rd4; add.s64 %rd5, %rd5, %rd3;"
                 "st.u32 [%rd5], %r1; bar.sync 0; xor.b32 %r4, %r1, 1; shl.b32 %r4, %r4, 2; add.u32 %r2, "
                 "%r2, %r4; ld.shared.u32 %r5, [%r2]; st.global.u32 [%rd2], %r5;"
                 "mov.u64 %rd6, l; cvta.local.u64 %rd7, %rd6; st.local.u32 [%rd6+4], %r1; ld.u32 %r6, "
                 "[%rd7+4]; add.u32 %r6, %r6, 5; st.u32 [%rd7+4], %r6; ld.local.u32 %r7, [l+4];"
                 "cvta.to.shared.u64 %rd8, %rd5; sub.s64 %rd9, %rd8, %rd3; cvt.u32.u64 %r8, %rd9; mov.u32 "
                 "%r9, s; sub.u32 %r8, %r8, %r9; add.u32 %r7, %r7, %r8; st.global.u32 [%rd2+128], %r7;"
                 "isspacep.shared %p1, %rd5; isspacep.local %p2, %rd7; isspacep.global %p3, %rd1; "
                 "isspacep.global %p4, %rd5;"
                 "selp.u32 %r10, 1, 0, %p1; selp.u32 %r11, 2, 0, %p2; selp.u32 %r12, 4, 0, %p3; selp.u32 "
                 "%r13, 8, 0, %p4; or.b32 %r10, %r10, %r11; or.b32 %r10, %r10, %r12; or.b32 %r10, %r10, %r13;"
                 "st.global.u32 [%rd2+256], %r10; bar.sync 0; atom.add.u32 %r14, [%rd5], 7; ld.u32 %r14, "
                 "[%rd5]; st.global.u32 [%rd2+384], %r14;",
                 32, 1024, w, 256);
    assert_int_equal(f.kind, VM_FAULT_NONE);
    for (unsigned l = 0; l < 32; l++) {
        assert_int_equal(w[l], l ^ 1);
        assert_int_equal(w[32 + l], l + 5);
        assert_int_equal(w[64 + l], 7);
        assert_int_equal(w[96 + l], l + 7);
    }
    f = run_body(".shared .b32 s[64]; st.shared.u32 [s+256], 1;", 1, 64, NULL, 0);
    assert_int_equal(f.kind, VM_FAULT_ILLEGAL_ADDRESS);
    assert_non_null(strstr(f.msg, "256 bytes of shared memory"));
    f = run_body(".shared .b32 s[64]; mov.u64 %rd4, s; cvta.shared.u64 %rd4, %rd4; ld.u32 %r2, [%rd4]; "
                 "ld.u32 %r2, [%rd4+-4];",
                 1, 64, NULL, 0);
    assert_int_equal(f.kind, VM_FAULT_ILLEGAL_ADDRESS);
    f = run_body(".local .b32 l[4]; st.local.u32 [l+1024], 1;", 1, 64, NULL, 0);
    assert_int_equal(f.kind, VM_FAULT_ILLEGAL_ADDRESS);
    f = run_body(
        ".shared .b32 s[64]; mov.u64 %rd4, s; cvta.shared.u64 %rd4, %rd4; ld.global.u32 %r2, [%rd4];", 1, 64,
        NULL, 0);
    assert_int_equal(f.kind, VM_FAULT_ADDRESS_SPACE);
}

// In a program without clusters there is no other block that such an address could be of.
// EM-37
static void wild_shared_addresses(void **state) {
    (void)state;
    static const struct {
        uint32_t at;
        const char *says;
    } cases[] = {
        {0xffffff00, "at shared address 0xffffff00, 256 bytes before the block's 256 bytes of shared memory"},
        {0x05000000, "at offset 0x5000000 of 256 bytes of shared memory"},
        {256, "at offset 0x100 of 256 bytes of shared memory"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        Rig r;
        rig_open(&r,
                 ".visible .entry k(.param .u64 out) { .reg .b32 %r<4>; .reg .b64 %rd<4>; .shared .b32 s[64];"
                 "ld.param.u64 %rd1, [out]; ld.global.u32 %r1, [%rd1]; mov.u32 %r2, s; add.u32 %r1, %r1, %r2;"
                 "st.shared.u32 [%r1], 1; ret; }",
                 NULL);
        uint64_t out = rig_alloc(&r, 4);
        *(uint32_t *)rig_view(&r, out, 4) = cases[k].at;
        assert_int_equal(RIG_RUN(&r, "k", 1, 1, out), VM_FAULT_ILLEGAL_ADDRESS);
        assert_non_null(strstr(r.fault.msg, cases[k].says));
        rig_close(&r);
    }
}

// Kernel parameters by address, by element, sign extended, and in registers with several definitions.
static void parameters(void **state) {
    (void)state;
    Rig r;
    rig_open(&r,
             ".visible .entry k(.param .u64 out, .param .s16 small, .param .align 8 .b8 big[16]) {" REGS
             "ld.param.u64 %rd1, [out]; ld.param.s16 %r2, [small]; st.global.u32 [%rd1], %r2; mov.u64 %rd4, "
             "big; cvta.param.u64 %rd5, %rd4; ld.u32 %r3, [%rd5+4];"
             "ld.param.u32 %r4, [%rd4+8]; add.u32 %r3, %r3, %r4; st.global.u32 [%rd1+4], %r3; "
             "ld.param.v2.u32 {%r5, %r6}, [big+8]; sub.u32 %r5, %r6, %r5; st.global.u32 [%rd1+8], %r5;"
             "mov.u32 %r7, %tid.x; setp.eq.u32 %p1, %r7, 0; mov.u32 %r8, 1; @%p1 ld.param.u32 %r8, [big+12]; "
             "st.global.u32 [%rd1+12], %r8; ret; }",
             NULL);
    uint64_t out = rig_alloc(&r, 64);
    const VmParam *layout;
    uint32_t total;
    assert_int_equal(gr_vm_func_params(gr_vm_module_func(r.mod, "k"), &layout, &total), 3);
    assert_int_equal(layout[2].offset, 16);
    assert_int_equal(total, 32);
    uint8_t buf[32] = {0};
    int16_t small = -3;
    uint32_t big[4] = {0, 10, 20, 35};
    memcpy(buf, &out, 8);
    memcpy(buf + 8, &small, 2);
    memcpy(buf + 16, big, 16);
    VmLaunchParams p = {.func = gr_vm_module_func(r.mod, "k"),
                        .grid = {1, 1, 1},
                        .block = {1, 1, 1},
                        .params = buf,
                        .launch = 1};
    VmLaunch *l;
    assert_int_equal(gr_vm_launch(r.dev, &p, &l, NULL), GR_OK);
    rig_drain(&r, 1000);
    assert_null(gr_vm_launch_fault(l));
    gr_vm_launch_free(l);
    const uint32_t *w = words(&r, out, 4);
    assert_int_equal(w[0], (uint32_t)-3);
    assert_int_equal(w[1], 30);
    assert_int_equal(w[2], 15);
    assert_int_equal(w[3], 35);
    rig_close(&r);
}

// EM-38
static void shared_layout(void **state) {
    (void)state;
    Rig r;
    rig_open(&r,
             ".extern .shared .align 16 .b8 dyn[]; .shared .align 4 .b8 unused[4096]; .shared .align 4 .b8 "
             "deep[20];\n"
             ".func f() { .reg .b32 %r<2>; mov.u32 %r1, 5; st.shared.u32 [deep+16], %r1; ret; }\n" KERNEL("k")
                 PROLOGUE ".shared .align 4 .b8 own[12]; call f; mov.u32 %r2, own; mov.u32 %r3, dyn; mov.u32 "
                          "%r4, %dynamic_smem_size; mov.u32 %r5, %total_smem_size;"
                          "st.shared.u32 [%r3+96], %r4; st.shared.u32 [%r2], %r4; st.global.v2.u32 [%rd1], "
                          "{%r2, %r3}; st.global.v2.u32 [%rd1+8], {%r4, %r5}; ret; }\n" KERNEL("reserved")
                              PROLOGUE
             ".shared .align 4 .b8 own2[12]; mov.u32 %r2, %reserved_smem_offset_begin; mov.u32 %r3, "
             "%reserved_smem_offset_end; mov.u32 %r4, %reserved_smem_offset_1; mov.u32 %r5, "
             "%total_smem_size; st.shared.u32 [%r4+284], %r5; st.shared.u32 [own2+8], %r5;"
             "st.global.v4.u32 [%rd1], {%r2, %r3, %r4, %r5}; st.shared.u32 [%r3], %r5; ret; }",
             NULL);
    uint64_t out = rig_alloc(&r, 64);
    assert_int_equal(gr_vm_func_attrs(gr_vm_module_func(r.mod, "k"))->shared_static, 32);
    assert_int_equal(rig_run(&r, "k", (Dims){1, 1, 100}, 1, &out), VM_FAULT_NONE);
    const uint32_t *w = words(&r, out, 4);
    assert_true(w[0] < 32 && w[1] == 32 && w[2] == 100 && w[3] == 132);
    assert_int_equal(rig_run(&r, "k", (Dims){1, 1, 96}, 1, &out), VM_FAULT_ILLEGAL_ADDRESS);
    // The reserved part is behind all that, and no more than it: its last byte is the last there is.
    assert_int_equal(rig_run(&r, "reserved", (Dims){1, 1, 100}, 1, &out), VM_FAULT_ILLEGAL_ADDRESS);
    w = words(&r, out, 4);
    assert_true(w[0] >= 112 && w[1] == w[0] + 1024 && w[2] > w[0] && w[2] + 288 <= w[1] && w[3] == 112);
    rig_close(&r);
}

// EM-39
static void constants(void **state) {
    (void)state;
    Rig r;
    rig_open(&r,
             ".const .align 4 .u32 c[3] = {7, 8, 9}; .global .u64 p[3] = {c, c+4, generic(c)+8}; .global "
             ".align 8 .u8 b[4] = {1, 2};\n" KERNEL("k") PROLOGUE
             "ld.const.u32 %r2, [c+8]; ld.global.u64 %rd4, [p+8]; ld.const.u32 %r3, [%rd4]; ld.global.u64 "
             "%rd5, [p+16]; ld.u32 %r4, [%rd5];"
             "ld.global.u8 %r5, [b+1]; mad.lo.u32 %r2, %r2, 10, %r3; mad.lo.u32 %r2, %r2, 10, %r4; "
             "mad.lo.u32 %r2, %r2, 10, %r5; st.global.u32 [%rd1], %r2; ret; }\n" KERNEL("w") PROLOGUE
             "mov.u64 %rd4, c; st.u32 [%rd4], 1; ret; }",
             NULL);
    uint64_t out = rig_alloc(&r, 64);
    assert_int_equal(RIG_RUN(&r, "k", 1, 1, out), VM_FAULT_NONE);
    assert_int_equal(words(&r, out, 1)[0], 9892);
    assert_int_equal(RIG_RUN(&r, "w", 1, 1, out), VM_FAULT_ILLEGAL_ADDRESS);
    assert_non_null(strstr(r.fault.msg, "constant memory"));
    rig_close(&r);
}

// Recursion to a depth the parameter says, 16 bytes and an 8-byte local array per call.
// EM-40
static void stacks(void **state) {
    (void)state;
    static const char text[] =
        ".func (.param .b32 ret) f(.param .b32 n) { .reg .b32 %r<8>; .reg .pred %p<2>; .local .b32 a[2];"
        "ld.param.b32 %r1, [n]; st.local.u32 [a+4], %r1; setp.eq.u32 %p1, %r1, 0; mov.u32 %r3, 0; @%p1 bra "
        "DONE; sub.u32 %r2, %r1, 1;"
        "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r2; call.uni (y), f, (x); ld.param.b32 %r3, [y]; "
        "}"
        "DONE: ld.local.u32 %r4, [a+4]; add.u32 %r3, %r3, %r4; st.param.b32 [ret], %r3; ret; }\n"
        ".visible .entry k(.param .u64 out, .param .u32 depth) {" REGS
        "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd2, %rd1, %rd3;"
        "ld.param.u32 %r2, [depth]; add.u32 %r2, %r2, %r1; { .param .b32 x; .param .b32 y; st.param.b32 [x], "
        "%r2; call.uni (y), f, (x); ld.param.b32 %r3, [y]; } st.global.u32 [%rd2], %r3; ret; }\n"
        ".visible .entry flat(.param .u64 out) { .reg .b64 %rd<4>; .reg .b32 %r<4>; .local .b8 big[100000]; "
        "ld.param.u64 %rd1, [out]; mov.u32 %r1, 3; st.local.u32 [big+99996], %r1; ld.local.u32 %r2, "
        "[big+99996]; st.global.u32 [%rd1], %r2; ret; }";
    Rig r;
    rig_open(&r, text, NULL);
    uint64_t out = rig_alloc(&r, 4096);
    assert_int_equal(RIG_RUN(&r, "k", 1, 10, out, 20), VM_FAULT_NONE);
    for (unsigned l = 0; l < 10; l++)
        assert_int_equal(words(&r, out, 10)[l], (20 + l) * (21 + l) / 2);
    assert_int_equal(RIG_RUN(&r, "k", 1, 10, out, 200), VM_FAULT_STACK_OVERFLOW);
    assert_string_equal(r.fault.function, "f");
    gr_vm_set_stack(r.dev, 16384);
    assert_int_equal(RIG_RUN(&r, "k", 1, 10, out, 200), VM_FAULT_NONE);
    assert_int_equal(words(&r, out, 10)[9], 209 * 210 / 2);
    assert_int_equal(RIG_RUN(&r, "flat", 1, 1, out), VM_FAULT_NONE);
    assert_int_equal(words(&r, out, 1)[0], 3);
    rig_close(&r);
}

// Lanes ask for different amounts, and a function called from there gets stack above it.
// EM-40
static void dynamic_stack(void **state) {
    (void)state;
    Rig r;
    rig_open(
        &r,
        ".func (.param .b32 ret) f(.param .b32 n) { .reg .b32 %r<4>; .local .b32 a[4]; ld.param.b32 %r1, "
        "[n]; "
        "st.local.u32 [a], %r1; ld.local.u32 %r2, [a]; st.param.b32 [ret], %r2; ret; }\n" KERNEL("k") PROLOGUE
        "stacksave.u64 %rd9; cvt.u64.u32 %rd4, %r1; mul.lo.u64 %rd4, %rd4, 8; add.u64 %rd4, %rd4, 8; "
        "alloca.u64 %rd5, %rd4, 32;"
        "and.b64 %rd6, %rd5, 31; cvt.u32.u64 %r4, %rd6; add.u64 %rd7, %rd5, %rd4; st.local.u32 [%rd7+-4], "
        "%r1;"
        "{ .param .b32 x; .param .b32 y; st.param.b32 [x], 9; call.uni (y), f, (x); ld.param.b32 %r3, [y]; }"
        "ld.local.u32 %r2, [%rd7+-4]; add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r4; st.global.u32 [%rd2], "
        "%r2;"
        "mov.u32 %r5, 0; L: stackrestore.u64 %rd9; alloca.u64 %rd8, 400; add.u32 %r5, %r5, 1; setp.lt.u32 "
        "%p1, %r5, 100; @%p1 bra L;"
        "setp.eq.u32 %p1, %r1, 33; @!%p1 bra OUT; alloca.u64 %rd8, 2000; OUT: ret; }",
        NULL);
    uint64_t out = rig_alloc(&r, 4096);
    assert_int_equal(gr_vm_module_unknown(r.mod, NULL), 0);
    assert_int_equal(RIG_RUN(&r, "k", 1, 32, out), VM_FAULT_NONE);
    for (unsigned l = 0; l < 32; l++)
        assert_int_equal(words(&r, out, 32)[l], l + 9);
    assert_int_equal(RIG_RUN(&r, "k", 1, 34, out), VM_FAULT_STACK_OVERFLOW);
    rig_close(&r);
}

// EM-41
static void device_heap(void **state) {
    (void)state;
    Rig r;
    VmConfig c = {.heap_bytes = 1000};
    rig_open_file(&r, GR_VM_PTX "/features.ptx", &c);
    uint64_t out = rig_alloc(&r, 256);
    assert_int_equal(RIG_RUN(&r, "heap", 1, 12, out, 100), VM_FAULT_NONE);
    const uint64_t *p = rig_view(&r, out, 96);
    unsigned got = 0;
    for (unsigned k = 0; k < 12; k++)
        got += p[k] != 0;
    assert_int_equal(got, 10);
    assert_int_equal(RIG_RUN(&r, "use_heap", 1, 10, out, 0), VM_FAULT_NONE);
    assert_int_equal(*(uint32_t *)rig_view(&r, p[3], 4), 103);
    assert_int_equal(RIG_RUN(&r, "use_heap", 1, 10, out, 25), VM_FAULT_ILLEGAL_ADDRESS);
    assert_int_equal(RIG_RUN(&r, "free_heap", 1, 12, out), VM_FAULT_NONE);
    assert_int_equal(RIG_RUN(&r, "use_heap", 1, 1, out, 0), VM_FAULT_ILLEGAL_ADDRESS);
    assert_int_equal(RIG_RUN(&r, "free_heap", 1, 1, out), VM_FAULT_ILLEGAL_ADDRESS);
    assert_int_equal(RIG_RUN(&r, "heap", 1, 10, out, 100), VM_FAULT_NONE);
    assert_true(p[9] != 0);
    rig_close(&r);
}

// Elements narrower than their registers, sign and zero extension, vectors of every shape, '_' and volatile.
static void shapes_of_access(void **state) {
    (void)state;
    uint32_t w[256];
    VmFault f = run_body(
        "mov.u32 %r2, 0x80ff7f01; st.global.u32 [%rd1], %r2;"
        "ld.global.s8 %r3, [%rd1+3]; st.global.u32 [%rd1+16], %r3; ld.global.u8 %r3, [%rd1+3]; st.global.u32 "
        "[%rd1+20], %r3; ld.global.s16 %rd4, [%rd1+2]; st.global.u64 [%rd1+24], %rd4;"
        "ld.global.v4.u8 {%h1, _, %h2, %h3}, [%rd1]; st.global.v2.u16 [%rd1+32], {%h1, %h2}; st.global.b8 "
        "[%rd1+36], %r2; st.global.u16 [%rd1+38], %h3;"
        "mov.b64 %rd5, {%r2, %r3}; mov.b64 {%r4, %r5}, %rd5; st.global.v2.b64 [%rd1+48], {%rd5, %rd4}; "
        "ld.volatile.global.v2.f64 {%d1, %d2}, [%rd1+48]; st.volatile.global.v2.f64 [%rd1+64], {%d2, %d1};"
        "mov.b32 {%h4, %h5}, %r2; mov.b32 %r6, {%h5, %h4}; st.global.u32 [%rd1+80], %r6; ld.global.nc.v4.f32 "
        "{%f1, %f2, %f3, %f4}, [%rd1+48]; st.global.v4.f32 [%rd1+96], {%f4, %f3, %f2, %f1};"
        "{ .reg .b128 %q; mov.b128 %q, {%rd4, %rd5}; st.global.b128 [%rd1+112], %q; ld.global.b128 %q, "
        "[%rd1+112]; mov.b128 {%rd6, %rd7}, %q; st.global.u64 [%rd1+128], %rd7; }"
        "{ .reg .v4 .f32 %v; ld.global.v4.f32 %v, [%rd1+96]; mov.f32 %f5, %v.y; st.global.f32 [%rd1+136], "
        "%f5; st.global.v4.f32 [%rd1+144], %v; }",
        1, 1024, w, 64);
    assert_int_equal(f.kind, VM_FAULT_NONE);
    assert_int_equal(w[4], 0xffffff80);
    assert_int_equal(w[5], 0x80);
    assert_int_equal(w[6], 0xffff80ff);
    assert_int_equal(w[7], 0xffffffff);
    assert_int_equal(w[8], 0x00ff0001);
    assert_int_equal(w[9], 0x00800001);
    assert_int_equal(w[12], 0x80ff7f01);
    assert_int_equal(w[13], 0x80);
    assert_memory_equal(&w[16], &w[14], 8);
    assert_memory_equal(&w[18], &w[12], 8);
    assert_int_equal(w[20], 0x7f0180ff);
    assert_int_equal(w[24], w[15]);
    assert_int_equal(w[27], w[12]);
    assert_memory_equal(&w[28], &w[14], 8);
    assert_memory_equal(&w[30], &w[12], 8);
    assert_memory_equal(&w[32], &w[12], 8);
    assert_int_equal(w[34], w[25]);
    assert_memory_equal(&w[36], &w[24], 16);
}

// Every pattern the quick paths tell apart, full and half warps, loads and stores, against plain C.
static void address_patterns(void **state) {
    (void)state;
    static const char *const maps[] = {
        "mov.u32 %r2, %r1;",    "mov.u32 %r2, 5;",         "xor.b32 %r2, %r1, 31;", "and.b32 %r2, %r1, 15;",
        "shr.u32 %r2, %r1, 3;", "mul.lo.u32 %r2, %r1, 2;", "and.b32 %r2, %r1, 8;"};
    for (unsigned m = 0; m < sizeof maps / sizeof *maps; m++)
        for (unsigned half = 0; half < 2; half++) {
            uint32_t w[512];
            char body[2048];
            snprintf(body, sizeof body,
                     "add.u32 %%r9, %%r1, 1000; st.global.u32 [%%rd2], %%r9; st.global.u32 [%%rd2+128], "
                     "%%r9; .shared .b64 s[64]; bar.sync 0; %s"
                     "setp.ge.u32 %%p1, %%r1, %u; @%%p1 bra OUT; mul.wide.u32 %%rd4, %%r2, 4; add.s64 %%rd5, "
                     "%%rd1, %%rd4; ld.global.u32 %%r3, [%%rd5]; st.global.u32 [%%rd2+256], %%r3;"
                     "mul.wide.u32 %%rd6, %%r2, 8; cvt.u32.u64 %%r4, %%rd6; mov.u32 %%r5, s; add.u32 %%r5, "
                     "%%r5, %%r4; cvt.u64.u32 %%rd7, %%r1; st.shared.u64 [%%r5], %%rd7; bar.warp.sync %u;"
                     "ld.shared.u64 %%rd8, [%%r5]; cvt.u32.u64 %%r6, %%rd8; st.global.u32 [%%rd2+512], %%r6; "
                     "add.s64 %%rd9, %%rd1, 1024; add.s64 %%rd9, %%rd9, %%rd4; st.u32 [%%rd9], %%r1; OUT:",
                     maps[m], half ? 20u : 32u, half ? 0xfffffu : UINT32_MAX);
            VmFault f = run_body(body, 32, 2048, w, 512);
            assert_int_equal(f.kind, VM_FAULT_NONE);
            for (unsigned l = 0; l < (half ? 20u : 32u); l++) {
                unsigned map[] = {l, 5, l ^ 31, l & 15, l >> 3, 2 * l, l & 8}, at = map[m];
                assert_int_equal(w[64 + l], 1000 + at % 32);
                uint32_t winner = w[128 + l],
                         wm[] = {winner, 5, winner ^ 31, winner & 15, winner >> 3, 2 * winner, winner & 8};
                assert_int_equal(wm[m], at);
                winner = w[256 + at];
                uint32_t wg[] = {winner, 5, winner ^ 31, winner & 15, winner >> 3, 2 * winner, winner & 8};
                assert_int_equal(wg[m], at);
            }
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_repeat),    cmocka_unit_test(another_region_is_told),
        cmocka_unit_test(bounds_are_exact),    cmocka_unit_test(strong_words_may_pass_an_end),
        cmocka_unit_test(freed_memory_faults), cmocka_unit_test(alignment),
        cmocka_unit_test(generic_addresses),   cmocka_unit_test(wild_shared_addresses),
        cmocka_unit_test(parameters),          cmocka_unit_test(shared_layout),
        cmocka_unit_test(constants),           cmocka_unit_test(stacks),
        cmocka_unit_test(dynamic_stack),       cmocka_unit_test(device_heap),
        cmocka_unit_test(shapes_of_access),    cmocka_unit_test(address_patterns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
