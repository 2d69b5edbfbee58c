// SPDX-License-Identifier: Apache-2.0
// test_functions — calls, faults, observers, special registers, printf and assert, atomics: EM-42 to EM-52 of
// docs/execution-model.md.
#include "harness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define KERNEL(name) ".visible .entry " name "(.param .u64 out) {\n"
#define REGS                                                                                                 \
    ".reg .pred %p<8>; .reg .b16 %h<16>; .reg .b32 %r<32>; .reg .b64 %rd<32>; .reg .f32 %f<8>; .reg .f64 "   \
    "%d<8>;\n"
#define PROLOGUE                                                                                             \
    REGS "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd2, %rd1, "    \
         "%rd3;\n"

static const uint32_t *words(Rig *r, uint64_t at, unsigned n) { return rig_view(r, at, n * 4u); }

static uint32_t fact(uint32_t n) { return n < 2 ? 1 : n * fact(n - 1); }
static uint32_t fib(uint32_t n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

// The address of a function's parameter is one of local memory, whichever way it is used; each call has its own.
// EM-42
static void parameters_have_addresses(void **state) {
    (void)state;
    static const char text[] =
        ".visible .func (.param .b32 ret) total(.param .align 8 .b8 s[24], .param .b32 n) {\n" REGS
        ".param .align 8 .b8 next[24]; .param .b32 less; .param .b32 got;\n"
        "mov.b64 %rd1, s+4; mov.b64 %rd5, s; ld.param.u32 %r1, [n]; ld.param.u32 %r2, [s]; mul.wide.u32 "
        "%rd2, %r1, 4;\n"
        "add.s64 %rd3, %rd1, %rd2; ld.param.u32 %r3, [%rd3+-4]; st.local.u32 [%rd1], 1000; ld.param.u32 %r4, "
        "[s+4];\n"
        "cvta.local.u64 %rd4, %rd5; ld.u32 %r5, [%rd4+8]; add.u32 %r6, %r3, %r4; add.u32 %r6, %r6, %r5;\n"
        "setp.eq.u32 %p1, %r1, 0; @%p1 bra E;\n"
        "st.param.b32 [next], %r2; st.param.b32 [next+4], 7; st.param.b32 [next+8], 8; st.param.b32 "
        "[next+12], 9;\n"
        "sub.u32 %r7, %r1, 1; st.param.b32 [less], %r7; call (got), total, (next, less); ld.param.b32 %r8, "
        "[got];\n"
        "add.u32 %r6, %r6, %r8; ld.param.u32 %r9, [%rd5+4]; add.u32 %r6, %r6, %r9;\n"
        "E: st.param.b32 [ret], %r6; ret; }\n" KERNEL("k") PROLOGUE
        ".param .align 8 .b8 s[24]; .param .b32 n; .param .b32 got;\n"
        "st.param.b32 [s], %r1; st.param.b32 [s+4], 7; st.param.b32 [s+8], 8; st.param.b32 [s+12], 9;\n"
        "and.b32 %r2, %r1, 3; st.param.b32 [n], %r2; call (got), total, (s, n); ld.param.b32 %r3, [got];\n"
        "st.global.u32 [%rd2], %r3; ret; }\n";
    for (uint64_t seed = 0; seed < 6; seed++) {
        Rig r;
        VmConfig c = {.seed = seed, .split_one_in = seed % 2 ? 4 : 0, .stack_bytes = 4096};
        rig_open(&r, text, &c);
        uint64_t out = rig_alloc(&r, 256);
        assert_int_equal(RIG_RUN(&r, "k", 1, 64, out), VM_FAULT_NONE);
        for (uint32_t t = 0; t < 64; t++) {
            uint32_t want = 0, s[] = {t, 7, 8, 9};
            for (uint32_t n = t % 4 + 1; n-- > 0;)
                want += s[n] + 1000 + s[2] + (n ? 1000 : 0);
            assert_int_equal(words(&r, out, 64)[t], want);
        }
        rig_close(&r);
    }
}

// Code by nvcc: structs by value both ways, pointers to functions, recursion, initialized pointers.
// EM-42
static void calls(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        Rig r;
        VmConfig c = {.seed = seed, .split_one_in = seed % 2 ? 8 : 0, .stack_bytes = 4096};
        rig_open_file(&r, GR_VM_PTX "/features.ptx", &c);
        uint64_t out = rig_alloc(&r, 4096);
        const VmParam *layout;
        uint32_t total;
        uint8_t buf[256] = {0};
        VmFunc *f = gr_vm_module_func(r.mod, "calls");
        assert_int_equal(gr_vm_func_params(f, &layout, &total), 3);
        struct {
            int a;
            char b;
            double c[3];
        } s = {11, 5, {1.5, 2.5, 3.5}};
        int n = 2;
        memcpy(buf + layout[0].offset, &s, sizeof s);
        memcpy(buf + layout[1].offset, &out, 8);
        memcpy(buf + layout[2].offset, &n, 4);
        VmLaunchParams p = {.func = f, .grid = {2, 1, 1}, .block = {96, 1, 1}, .params = buf, .launch = 1};
        VmLaunch *l;
        assert_int_equal(gr_vm_launch(r.dev, &p, &l, NULL), GR_OK);
        rig_drain(&r, 1000);
        if (gr_vm_launch_fault(l))
            fail_msg("%s", gr_vm_launch_fault(l)->msg);
        gr_vm_launch_free(l);
        for (uint32_t t = 0; t < 96; t++) {
            uint32_t x = t % 8, called = t % 4 == 0 ? fact(x) : t % 4 == 2 ? fib(x) : x + 1;
            uint32_t want = called + (uint32_t)(3.5 + 11 + 5) + (uint32_t)(t * 3.0 + t + (t + 1)) +
                            t * (2 + t % 3) + 7 + (t % 4 + 1);
            assert_int_equal(words(&r, out, 96)[t], want);
        }
        assert_int_equal(RIG_RUN(&r, "local_array", 1, 40, out, 25), VM_FAULT_NONE);
        for (unsigned t = 0; t < 40; t++) {
            uint32_t a[10] = {0};
            for (unsigned k = 0; k < 25; k++)
                a[(k * 7 + t) % 10] += k;
            assert_int_equal(words(&r, out, 40)[t], a[5]);
        }
        rig_close(&r);
    }
}

// EM-43
static void bad_targets(void **state) {
    (void)state;
    Rig r;
    rig_open(&r,
             KERNEL("k") PROLOGUE
             "P: .callprototype _ (); mov.u64 %rd4, 4096; call %rd4, P; ret; }\n" KERNEL("b") PROLOGUE
             "T: .branchtargets A, B; add.u32 %r2, %r1, 1; brx.idx %r2, T; A: st.global.u32 [%rd2], 1; ret; "
             "B: st.global.u32 [%rd2], 2; ret; }",
             NULL);
    uint64_t out = rig_alloc(&r, 256);
    assert_int_equal(RIG_RUN(&r, "k", 1, 32, out), VM_FAULT_INVALID_PC);
    assert_non_null(strstr(r.fault.msg, "0x1000"));
    assert_int_equal(RIG_RUN(&r, "b", 1, 1, out), VM_FAULT_NONE);
    assert_int_equal(words(&r, out, 1)[0], 2);
    assert_int_equal(RIG_RUN(&r, "b", 1, 2, out), VM_FAULT_INVALID_PC);
    rig_close(&r);
}

// EM-44
static void a_fault_ends_its_launch_only(void **state) {
    (void)state;
    Rig r;
    rig_open(&r,
             KERNEL("bad") PROLOGUE "st.global.u32 [%rd1], 1; membar.gl; trap; }\n" KERNEL("good") PROLOGUE
             "nanosleep.u32 100000; st.global.u32 [%rd2+4], 2; ret; }" KERNEL("stop") PROLOGUE
             "brkpt; ret; }",
             NULL);
    uint64_t out = rig_alloc(&r, 1024);
    assert_int_equal(RIG_RUN(&r, "stop", 1, 1, out), VM_FAULT_BREAKPOINT);
    VmLaunch *good = rig_start(&r, "good", (Dims){3, 64, 0}, 1, &out),
             *bad = rig_start(&r, "bad", (Dims){100, 64, 0}, 1, &out);
    rig_drain(&r, 1000);
    assert_null(gr_vm_launch_fault(good));
    assert_int_equal(gr_vm_launch_fault(bad)->kind, VM_FAULT_TRAP);
    assert_int_equal(words(&r, out, 2)[0], 1);
    assert_int_equal(words(&r, out, 2)[1], 2);
    gr_vm_launch_free(good);
    gr_vm_launch_free(bad);
    assert_int_equal(RIG_RUN(&r, "good", 1, 64, out), VM_FAULT_NONE);
    rig_close(&r);
}

// EM-45
static void unknown_instructions(void **state) {
    (void)state;
    Rig r;
    rig_open(&r,
             ".extern .func cudaDeviceSynchronize;\n.visible .entry k(.param .u64 out, .param .u32 n) {" REGS
             "ld.param.u64 %rd1, [out]; ld.param.u32 %r2, [n]; setp.eq.u32 %p1, %r2, 0; @%p1 bra OUT; "
             "setp.eq.u32 %p1, %r2, 2; @%p1 bra CALL;\n"
             "frobnicate.sync.v7.u32 %r3, %r2;\nCALL: call cudaDeviceSynchronize; OUT: st.global.u32 [%rd1], "
             "5; ret; }",
             NULL);
    const char *const *names;
    assert_int_equal(gr_vm_module_unknown(r.mod, &names), 2);
    assert_string_equal(names[0], "cudaDeviceSynchronize");
    assert_string_equal(names[1], "frobnicate.sync.v7.u32");
    uint64_t out = rig_alloc(&r, 64);
    assert_int_equal(RIG_RUN(&r, "k", 1, 1, out, 0), VM_FAULT_NONE);
    assert_int_equal(words(&r, out, 1)[0], 5);
    assert_int_equal(RIG_RUN(&r, "k", 1, 1, out, 1), VM_FAULT_ILLEGAL_INSTRUCTION);
    assert_non_null(strstr(r.fault.msg, "'frobnicate.sync.v7.u32'"));
    assert_true(r.fault.ptx_line > 4);
    assert_int_equal(RIG_RUN(&r, "k", 1, 1, out, 2), VM_FAULT_ILLEGAL_INSTRUCTION);
    assert_non_null(strstr(r.fault.msg, "cudaDeviceSynchronize"));
    rig_close(&r);
    rig_refuse(".extern .func nobody;\n.visible .entry k() { call nobody; ret; }", GR_ERR_NOT_FOUND);
    rig_refuse(".extern .global .u32 nothing;\n.visible .entry k() { .reg .b32 %r<2>; ld.global.u32 %r1, "
               "[nothing]; ret; }",
               GR_ERR_NOT_FOUND);
}

static unsigned line_of(const char *path, const char *text) {
    char *file;
    size_t len;
    assert_int_equal(gr_file_read(path, &file, &len, NULL), GR_OK);
    const char *at = strstr(file, text);
    assert_non_null(at);
    unsigned line = 1;
    for (const char *p = file; p < at; p++)
        line += *p == '\n';
    free(file);
    return line;
}

// EM-46
static void faults_name_the_innermost_line(void **state) {
    (void)state;
    Rig r;
    rig_open_file(&r, GR_VM_PTX "/features.ptx", NULL);
    uint64_t out = rig_alloc(&r, 40);
    assert_int_equal(RIG_RUN(&r, "inlined", 3, 1, out, 11), VM_FAULT_ILLEGAL_ADDRESS);
    assert_int_equal(r.fault.line, line_of(GR_VM_PTX "/features.cu", "p[i] = 1;"));
    assert_string_equal(r.fault.kernel, "inlined");
    assert_string_equal(r.fault.function, "inlined");
    assert_int_equal(r.fault.address, out + 44);
    assert_true(r.fault.block[0] < 3);
    assert_non_null(strstr(r.fault.msg, "4 bytes past the end of a 40-byte allocation"));
    rig_close(&r);
}

typedef struct Heard {
    unsigned reads, writes, atomics, arrive, release, warp, fence, spaces[16], order[32], n;
    uint64_t shared_at;
    uint32_t size;
    PtxSem sem;
    PtxScope scope;
    bool generic;
} Heard;

static void on_access(void *user, const VmAccessEvent *e) {
    Heard *h = user;
    h->reads += e->access == PTX_ACCESS_READ;
    h->writes += e->access == PTX_ACCESS_WRITE;
    h->atomics += e->access == PTX_ACCESS_RMW;
    h->spaces[e->space]++;
    if (e->space == PTX_SHARED)
        h->shared_at = e->address[__builtin_ctz(e->where.mask)];
    h->generic |= e->generic;
    if (e->access == PTX_ACCESS_RMW) {
        h->sem = e->sem;
        h->scope = e->scope;
        h->size = e->size;
    }
    if (h->n < 32)
        h->order[h->n++] = e->where.site;
}

static void on_sync(void *user, const VmSyncEvent *e) {
    Heard *h = user;
    h->arrive += e->kind == VM_SYNC_BARRIER_ARRIVE;
    h->release += e->kind == VM_SYNC_BARRIER_RELEASE;
    h->warp += e->kind == VM_SYNC_WARP;
    if (e->kind == VM_SYNC_FENCE) {
        h->fence++;
        assert_int_equal(e->sem, PTX_SC);
        assert_int_equal(e->scope, PTX_SCOPE_GPU);
    }
}

// EM-47, EM-48
static void observers(void **state) {
    (void)state;
    static const char plain[] = KERNEL("k") PROLOGUE
        ".shared .b32 s[4]; .local .b32 q[2]; st.shared.u32 [s+4], %r1; bar.sync 0; mov.u64 %rd4, s; "
        "cvta.shared.u64 %rd4, %rd4; setp.eq.u32 %p1, %r1, 0; selp.b64 %rd5, %rd4, %rd2, %p1;"
        "ld.u32 %r2, [%rd5]; membar.gl; bar.warp.sync -1; atom.acquire.cta.global.add.u64 %rd6, [%rd1+256], "
        "1; st.local.u32 [q], %r1; st.volatile.global.u32 [%rd2], %r2; ret; }";
    static const char tagged[] = KERNEL("k") PROLOGUE
        ".shared .b32 s[4]; .local .b32 q[2]; /*@gr*/ ld.global.u32 %r9, [%rd2]; /*@gr*/ nanosleep.u32 10; "
        "st.shared.u32 [s+4], %r1; bar.sync 0; mov.u64 %rd4, s; cvta.shared.u64 %rd4, %rd4; setp.eq.u32 %p1, "
        "%r1, 0; selp.b64 %rd5, %rd4, %rd2, %p1;"
        "ld.u32 %r2, [%rd5]; /*@gr*/ membar.gl; membar.gl; bar.warp.sync -1; /*@gr*/ atom.global.add.u32 "
        "%r8, [%rd1+512], 1; atom.acquire.cta.global.add.u64 %rd6, [%rd1+256], 1; st.local.u32 [q], %r1; "
        "st.volatile.global.u32 [%rd2], %r2; /*@gr*/ add.u32 %r7, %r7, 1; ret; }";
    uint64_t instructions[2];
    for (unsigned t = 0; t < 2; t++) {
        Rig r;
        Heard h = {0};
        rig_open(&r, t ? tagged : plain, NULL);
        VmObserver o = {.user = &h, .access = on_access, .sync = on_sync};
        assert_int_equal(gr_vm_observe(r.dev, &o, NULL), GR_OK);
        uint64_t out = rig_alloc(&r, 1024);
        assert_int_equal(RIG_RUN(&r, "k", 1, 32, out), VM_FAULT_NONE);
        assert_int_equal(h.reads, 2); // one generic load in two spaces
        assert_int_equal(h.writes, 3);
        assert_int_equal(h.atomics, 1);
        assert_int_equal(h.spaces[PTX_SHARED], 2);
        assert_int_equal(h.spaces[PTX_LOCAL], 1);
        assert_int_equal(h.spaces[PTX_GLOBAL], 3);
        assert_int_equal(h.shared_at, 0);
        assert_true(h.generic);
        assert_int_equal(h.sem, PTX_ACQUIRE);
        assert_int_equal(h.scope, PTX_SCOPE_CTA);
        assert_int_equal(h.size, 8);
        assert_int_equal(h.arrive, 1);
        assert_int_equal(h.release, 1);
        assert_int_equal(h.warp, 1);
        assert_int_equal(h.fence, 1);
        static const unsigned order[] = {1, 2, 2, 3, 4, 5};
        assert_memory_equal(h.order, order, sizeof order);
        instructions[t] = r.instructions;
        rig_close(&r);
    }
    assert_int_equal(instructions[0], instructions[1]);
    assert_int_equal(instructions[0], 32 * 17);
}

// EM-50
static void special_registers(void **state) {
    (void)state;
    static const char *const names[] = {"%tid.x",
                                        "%tid.y",
                                        "%tid.z",
                                        "%ntid.x",
                                        "%ntid.y",
                                        "%ntid.z",
                                        "%laneid",
                                        "%warpid",
                                        "%nwarpid",
                                        "%ctaid.x",
                                        "%ctaid.y",
                                        "%ctaid.z",
                                        "%nctaid.x",
                                        "%nctaid.y",
                                        "%nctaid.z",
                                        "%smid",
                                        "%nsmid",
                                        "%lanemask_eq",
                                        "%lanemask_le",
                                        "%lanemask_lt",
                                        "%lanemask_ge",
                                        "%lanemask_gt",
                                        "%clock",
                                        "%clock_hi",
                                        "%globaltimer_lo",
                                        "%globaltimer_hi",
                                        "%pm0",
                                        "%pm7",
                                        "%envreg0",
                                        "%envreg31",
                                        "%total_smem_size",
                                        "%dynamic_smem_size",
                                        "%aggr_smem_size",
                                        "%clusterid.x",
                                        "%nclusterid.x",
                                        "%cluster_ctaid.y",
                                        "%cluster_nctaid.z",
                                        "%cluster_ctarank",
                                        "%cluster_nctarank",
                                        "%reserved_smem_offset_begin",
                                        "%reserved_smem_offset_1"};
    static const char *const wide[] = {"%gridid", "%clock64", "%globaltimer", "%pm0_64",
                                       "%current_graph_exec"};
    StrBuf s = {0};
    gr_str_add(&s, KERNEL("k") PROLOGUE
               "{ .reg .pred %q; mov.pred %q, %is_explicit_cluster; } setp.ne.u32 %p1, %r1, 33; @%p1 exit;");
    unsigned n = sizeof names / sizeof *names, m = sizeof wide / sizeof *wide;
    for (unsigned k = 0; k < n; k++)
        gr_str_addf(&s, "mov.u32 %%r2, %s; st.global.u32 [%%rd1+%u], %%r2;\n", names[k], k * 4);
    for (unsigned k = 0; k < m; k++)
        gr_str_addf(&s, "mov.u64 %%rd4, %s; st.global.u64 [%%rd1+%u], %%rd4;\n", wide[k], 256 + k * 8);
    gr_str_add(&s, "ret; }");
    Rig r;
    rig_open(&r, s.data, NULL);
    gr_str_free(&s);
    assert_int_equal(gr_vm_module_unknown(r.mod, NULL), 0);
    uint64_t out = rig_alloc(&r, 1024);
    r.launches = 41;
    assert_int_equal(rig_run(&r, "k", (Dims){19, 64, 48}, 1, &out), VM_FAULT_NONE);
    const uint32_t *w = words(&r, out, 100);
    static const uint32_t want[] = {33, 0, 0, 64, 1, 1, 1, 1, 64};
    assert_memory_equal(w, want, sizeof want);
    assert_int_equal(w[12], 19);
    assert_int_equal(w[15], w[9] % 8);
    assert_int_equal(w[16], 8);
    static const uint32_t masks[] = {2, 3, 1, 0xfffffffe, 0xfffffffc};
    assert_memory_equal(&w[17], masks, sizeof masks);
    assert_int_equal(w[26] | w[27] | w[28] | w[29], 0);
    assert_int_equal(w[30], 48);
    assert_int_equal(w[31], 48);
    assert_int_equal(w[33], w[9]);
    assert_int_equal(w[34], 19);
    assert_int_equal(w[36], 1);
    assert_int_equal(w[38], 1);
    assert_int_equal(*(const uint64_t *)(const void *)&w[64], 42);
    rig_close(&r);
}

// EM-51
static void printing(void **state) {
    (void)state;
    Rig r;
    rig_open_file(&r, GR_VM_PTX "/features.ptx", NULL);
    assert_int_equal(RIG_RUN(&r, "print", 1, 2, 42), VM_FAULT_NONE);
    static const char line[] = "42  1.50 text x 1099511627776 0x10|42  |00ff|%|3000000000 %zu\n";
    char want[256];
    snprintf(want, sizeof want, "%s%splain\n", line, line);
    assert_string_equal(r.printed.data, want);
    rig_close(&r);
}

// EM-52
static void assertions(void **state) {
    (void)state;
    Rig r;
    rig_open_file(&r, GR_VM_PTX "/features.ptx", NULL);
    assert_int_equal(RIG_RUN(&r, "fails", 1, 1, 3), VM_FAULT_NONE);
    fflush(stderr);
    FILE *f = tmpfile();
    int saved = dup(2);
    dup2(fileno(f), 2);
    VmFaultKind kind = RIG_RUN(&r, "fails", 1, 1, 4);
    fflush(stderr);
    dup2(saved, 2);
    close(saved);
    char text[512] = "";
    rewind(f);
    size_t len = fread(text, 1, sizeof text - 1, f);
    text[len] = 0;
    fclose(f);
    assert_int_equal(kind, VM_FAULT_ASSERT);
    assert_non_null(strstr(r.fault.msg, "n == 3 && \"three\""));
    assert_non_null(strstr(text, "features.cu:"));
    assert_non_null(
        strstr(text, "inner(int): block: [0,0,0], thread: [0,0,0] Assertion `n == 3 && \"three\"` failed."));
    rig_close(&r);
}

// Two modules: a kernel here, a function, a variable and a table of functions there.
static void linking(void **state) {
    (void)state;
    static const char *const texts[] = {
        ".version 8.4\n.target sm_90\n.address_size 64\n.extern .func (.param .b32 r) twice(.param .b32 x); "
        ".extern .global .u32 shared_var; .weak .global .u32 w = 1; .common .global .b32 c[2];\n" KERNEL("k")
            PROLOGUE "{ .param .b32 a; .param .b32 b; st.param.b32 [a], 21; call (b), twice, (a); "
                     "ld.param.b32 %r2, [b]; } ld.global.u32 %r3, [shared_var]; ld.global.u32 %r4, [w];"
                     "mad.lo.u32 %r2, %r2, 100, %r3; mad.lo.u32 %r2, %r2, 10, %r4; st.global.u32 [c+12], 9; "
                     "st.global.u32 [%rd1], %r2; ret; }",
        ".version 8.4\n.target sm_90\n.address_size 64\n.visible .global .u32 shared_var = 34; .visible "
        ".global .u32 w = 7; .common .global .b32 c[4]; .global .u32 hidden;\n"
        ".visible .func (.param .b32 r) twice(.param .b32 x) { .reg .b32 %r<3>; ld.param.b32 %r1, [x]; "
        "shl.b32 %r2, %r1, 1; st.param.b32 [r], %r2; ret; }"};
    gr_error err = {0};
    PtxModule *ptx[2];
    Rig r = {0};
    assert_int_equal(gr_vm_mem_create(&r.mem, &err), GR_OK);
    VmConfig c = {.mem = r.mem};
    assert_int_equal(gr_vm_create(&c, &r.dev, &err), GR_OK);
    for (unsigned k = 0; k < 2; k++)
        assert_int_equal(gr_ptx_parse_ours(texts[k], strlen(texts[k]), "t", &ptx[k], &err), GR_OK);
    gr_status st = gr_vm_module_load(r.dev, ptx, 2, NULL, NULL, &r.mod, &err);
    if (st != GR_OK)
        fail_msg("%s", err.msg);
    uint64_t out = rig_alloc(&r, 64), size;
    assert_int_equal(RIG_RUN(&r, "k", 1, 1, out), VM_FAULT_NONE);
    assert_int_equal(words(&r, out, 1)[0], 42347);
    assert_true(gr_vm_module_global(r.mod, "c", NULL, &size, NULL));
    assert_int_equal(size, 16);
    r.ptx = ptx[0];
    rig_close(&r);
    gr_ptx_free(ptx[1]);
}

typedef struct Atom {
    const char *op, *type;
    unsigned bytes;
    uint64_t init, a, want; // 32 lanes apply `a`; want is the value after, UINT64_MAX: not checked
} Atom;

// Every operation and type, in global and shared memory: the final value, and that the old values are consistent.
static void atomics(void **state) {
    (void)state;
    static const Atom all[] = {{"add", "u32", 4, 5, 3, 101},
                               {"add", "s32", 4, 0, 0xffffffff, 0xffffffe0},
                               {"add", "u64", 8, 1ull << 40, 1, (1ull << 40) + 32},
                               {"add", "s64", 8, 0, (uint64_t)-1, (uint64_t)-32},
                               {"add", "f32", 4, 0, 0x3f000000, 0x41800000},
                               {"add", "f64", 8, 0, 0x3fe0000000000000, 0x4030000000000000},
                               {"add.noftz", "f16", 2, 0, 0x3800, 0x4c00},
                               {"add.noftz", "f16x2", 4, 0, 0x38003c00, 0x4c005000},
                               {"add.noftz", "bf16", 2, 0, 0x3f00, 0x4180},
                               {"add.noftz", "bf16x2", 4, 0, 0x3f003f80, 0x41804200},
                               {"min", "u32", 4, 9, 3, 3},
                               {"max", "u32", 4, 9, 0xffffffff, 0xffffffff},
                               {"min", "s32", 4, 9, 0xffffffff, 0xffffffff},
                               {"max", "s32", 4, 9, 0xffffffff, 9},
                               {"min", "u64", 8, 9, 3, 3},
                               {"max", "u64", 8, 9, 1ull << 63, 1ull << 63},
                               {"min", "s64", 8, 9, 1ull << 63, 1ull << 63},
                               {"max", "s64", 8, 9, 1ull << 63, 9},
                               {"inc", "u32", 4, 0, 9, 2},
                               {"dec", "u32", 4, 0, 9, 8},
                               {"and", "b32", 4, 0xff, 0x0f, 0x0f},
                               {"or", "b32", 4, 0xf0, 0x0f, 0xff},
                               {"xor", "b32", 4, 0xff, 0x0f, 0xff},
                               {"and", "b64", 8, ~0ull, 1ull << 40, 1ull << 40},
                               {"or", "b64", 8, 1, 1ull << 40, (1ull << 40) + 1},
                               {"xor", "b64", 8, 1, 1ull << 40, 1},
                               {"exch", "b32", 4, 1, 7, 7},
                               {"exch", "b64", 8, 1, 7, 7}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (unsigned space = 0; space < 3; space++) {
            const Atom *x = &all[k];
            static const char *const spaces[] = {".global", ".shared", ""};
            const char *reg = x->bytes == 2   ? "%h1"
                              : x->bytes == 4 ? "%r2"
                                              : "%rd9",
                       *old = x->bytes == 2   ? "%h2"
                              : x->bytes == 4 ? "%r3"
                                              : "%rd10";
            char text[4096];
            // red on half of the lanes, atom on the other half; then the word is copied to the start of the buffer.
            int n = snprintf(text, sizeof text, "%s", KERNEL("k") PROLOGUE);
            snprintf(text + n, sizeof text - (size_t)n,
                     ".shared .align 8 .b8 s[8]; ld.global.b%u %s, [%%rd1+8]; mov.u64 %%rd7, %s; %s"
                     "ld.global.b%u %s, [%%rd1]; setp.eq.u32 %%p2, %%r1, 0; @%%p2 st%s.b%u [%%rd7], %s; "
                     "bar.warp.sync -1;"
                     "setp.lt.u32 %%p1, %%r1, 16; @%%p1 red.relaxed.gpu%s.%s.%s [%%rd7], %s; @!%%p1 "
                     "atom%s.%s.%s %s, [%%rd7], %s; bar.warp.sync -1;"
                     "ld%s.b%u %s, [%%rd7]; @%%p2 st.global.b%u [%%rd1], %s; ret; }",
                     x->bytes * 8, reg, space == 1 ? "s" : "0", space == 1 ? "" : "mov.u64 %rd7, %rd1;",
                     x->bytes * 8, old, spaces[space], x->bytes * 8, old, spaces[space],
                     strcmp(x->op, "exch") ? x->op : "or",
                     strcmp(x->op, "exch") ? x->type
                     : x->bytes == 4       ? "b32"
                                           : "b64",
                     reg, spaces[space], x->op, x->type, old, reg, spaces[space], x->bytes * 8, old,
                     x->bytes * 8, old);
            Rig r;
            VmConfig c = {.seed = k};
            rig_open(&r, text, &c);
            const char *const *unknown;
            if (gr_vm_module_unknown(r.mod, &unknown))
                fail_msg("%s is not known", unknown[0]);
            uint64_t out = rig_alloc(&r, 256), got = 0;
            memcpy(rig_view(&r, out, 8), &x->init, x->bytes);
            memcpy(rig_view(&r, out + 8, 8), &x->a, x->bytes);
            if (RIG_RUN(&r, "k", 1, 32, out) != VM_FAULT_NONE)
                fail_msg("%s", r.fault.msg);
            memcpy(&got, rig_view(&r, out, 8), x->bytes);
            uint64_t mask = x->bytes == 8 ? ~0ull : (1ull << (x->bytes * 8)) - 1;
            if (got != (x->want & mask))
                fail_msg("atom%s.%s.%s: %lx, want %lx", spaces[space], x->op, x->type, (unsigned long)got,
                         (unsigned long)x->want);
            rig_close(&r);
        }
}

// cas of every width, vectors, b128, and the zeros that global f32 addition makes of subnormals.
static void more_atomics(void **state) {
    (void)state;
    Rig r;
    rig_open(&r,
             KERNEL("k") PROLOGUE
             "setp.eq.u32 %p1, %r1, 0;"
             "mov.b16 %h1, 5; mov.b16 %h2, 6; atom.global.cas.b16 %h3, [%rd1], %h1, %h2; atom.global.cas.b32 "
             "%r2, [%rd1+4], 7, 8; atom.global.cas.b32 %r3, [%rd1+8], 1, 2;"
             "atom.global.cas.b64 %rd4, [%rd1+16], 9, 10; { .reg .b128 %a, %b, %c; mov.b128 %a, {%rd5, "
             "%rd6}; mov.b128 %b, {%rd1, %rd1}; atom.global.cas.b128 %c, [%rd1+32], %a, %b; }"
             "mov.f32 %f1, 0f3f800000; mov.f32 %f2, 0f40000000; atom.global.v2.f32.add {%f3, %f4}, "
             "[%rd1+48], {%f1, %f2}; red.global.v2.f32.add [%rd1+48], {%f1, %f2};"
             "mov.b32 %f5, 0x00000001; atom.global.add.f32 %f6, [%rd1+56], %f5; ret; }",
             NULL);
    uint64_t out = rig_alloc(&r, 256);
    uint8_t *p = rig_view(&r, out, 256);
    *(uint16_t *)(void *)p = 5;
    *(uint32_t *)(void *)(p + 4) = 7;
    *(uint64_t *)(void *)(p + 16) = 9;
    *(uint32_t *)(void *)(p + 56) = 3;
    assert_int_equal(gr_vm_module_unknown(r.mod, NULL), 0);
    assert_int_equal(RIG_RUN(&r, "k", 1, 1, out), VM_FAULT_NONE);
    assert_int_equal(*(uint16_t *)(void *)p, 6);
    assert_int_equal(*(uint32_t *)(void *)(p + 4), 8);
    assert_int_equal(*(uint32_t *)(void *)(p + 8), 0);
    assert_int_equal(*(uint64_t *)(void *)(p + 16), 10);
    assert_int_equal(*(uint64_t *)(void *)(p + 40), out);
    assert_true(*(float *)(void *)(p + 48) == 2.0f && *(float *)(void *)(p + 52) == 4.0f);
    assert_int_equal(*(uint32_t *)(void *)(p + 56), 0);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls),
        cmocka_unit_test(parameters_have_addresses),
        cmocka_unit_test(bad_targets),
        cmocka_unit_test(a_fault_ends_its_launch_only),
        cmocka_unit_test(unknown_instructions),
        cmocka_unit_test(faults_name_the_innermost_line),
        cmocka_unit_test(observers),
        cmocka_unit_test(special_registers),
        cmocka_unit_test(printing),
        cmocka_unit_test(assertions),
        cmocka_unit_test(linking),
        cmocka_unit_test(atomics),
        cmocka_unit_test(more_atomics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
