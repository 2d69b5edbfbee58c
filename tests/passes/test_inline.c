// SPDX-License-Identifier: Apache-2.0
// test_inline — functions put in place of calls: a kernel computes the same, and a module that is printed and read
// again has the same sites. What cannot be put in stays a call.
#include "../vm/harness.h"

#include "passes/inline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { THREADS = 64, WORDS = 4 * THREADS };

// Each thread has its number in %r1, four words of its own at %rd3, and puts what it has in %r2 there at the end.
#define KERNEL(body)                                                                                         \
    ".visible .entry k(.param .u64 k_0) { .reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<20>; .reg .f32 "   \
    "%f<4>; .reg .b64 %rd<20>;\n"                                                                            \
    "ld.param.u64 %rd1, [k_0]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 16; add.s64 %rd3, %rd1, "        \
    "%rd2;\n" body "st.global.u32 [%rd3], %r2; ret; }\n"
#define CALL_ADD(of)                                                                                         \
    "{ .param .b64 param0; st.param.b64 [param0+0], %rd3; .param .b32 param1; st.param.b32 [param1+0], " of  \
    "; .param .b32 retval0; call.uni (retval0), add, (param0, param1); ld.param.b32 %r2, [retval0+0]; }\n"
// Adds to the word behind the address; gives what was there, twice if the thread's number is odd: it returns early
// then.
#define ADD                                                                                                  \
    ".func (.param .b32 add_r) add(.param .b64 add_0, .param .b32 add_1) { .reg .pred %p<2>; .reg .b32 "     \
    "%r<9>; .reg .b64 %rd<3>; ld.param.u64 %rd1, [add_0]; ld.param.u32 %r1, [add_1]; ld.u32 %r2, [%rd1+4]; " \
    "add.s32 %r3, %r2, %r1; st.u32 [%rd1+4], %r3; mov.u32 %r4, %tid.x; and.b32 %r5, %r4, 1; setp.eq.s32 "    \
    "%p1, %r5, 1; shl.b32 %r6, %r2, 1; @%p1 st.param.b32 [add_r+0], %r6; @%p1 ret; st.param.b32 "            \
    "[add_r+0], %r2; ret; }\n"

typedef struct Case {
    const char *what, *text;
    unsigned calls; // that are left
} Case;

static const Case cases[] = {
    {"registers, several calls, an early return",
     ADD KERNEL(CALL_ADD("%r1") CALL_ADD("%r2") CALL_ADD("-7") "add.s32 %r2, %r2, 3;"), 0},
    {"a structure by value, and one as the result",
     ".func (.param .align 8 .b8 g_r[16]) g(.param .align 4 .b8 g_0[12]) { .reg .b32 %r<9>; .reg .b64 "
     "%rd<3>; ld.param.u32 %r1, [g_0+8]; ld.param.v2.u32 {%r2, %r3}, [g_0]; add.s32 %r4, %r1, %r2; "
     "cvt.u64.u32 "
     "%rd1, %r4; st.param.b64 [g_r+8], %rd1; st.param.b32 [g_r+0], %r3; ret; }\n" KERNEL(
         "{ .param .align 4 .b8 param0[12]; st.param.v2.b32 [param0+0], {%r1, 5}; st.param.b32 [param0+8], "
         "%r1; .param .align 8 .b8 retval0[16]; call.uni (retval0), g, (param0); ld.param.b32 %r3, "
         "[retval0+0]; ld.param.b64 %rd4, [retval0+8]; } cvt.u32.u64 %r4, %rd4; mad.lo.s32 %r2, %r4, 100, "
         "%r3;"),
     0},
    {"16 bits, and literals",
     ".func (.param .b32 g_r) g(.param .b16 g_0, .param .b32 g_1, .param .b64 g_2) { .reg .b16 %h<2>; .reg "
     ".b32 "
     "%r<9>; .reg .f32 %f<4>; .reg .f64 %d<2>; ld.param.u16 %h1, [g_0]; cvt.s32.s16 %r1, %h1; ld.param.f32 "
     "%f1, "
     "[g_1]; cvt.rzi.s32.f32 %r2, %f1; ld.param.f64 %d1, [g_2]; cvt.rzi.s32.f64 %r3, %d1; mad.lo.s32 %r4, "
     "%r1, "
     "1000, %r2; add.s32 %r4, %r4, %r3; st.param.b32 [g_r+0], %r4; ret; }\n" KERNEL(
         "cvt.u16.u32 %h1, %r1; { .param .b16 param0; st.param.b16 [param0+0], %h1; .param .b32 param1; "
         "st.param.f32 [param1+0], 0f40A00000; .param .b64 param2; st.param.f64 [param2+0], "
         "0d4059000000000000; "
         ".param .b32 retval0; call.uni (retval0), g, (param0, param1, param2); ld.param.b32 %r2, "
         "[retval0+0]; }"),
     0},
    {"variables of the thread, a loop, a nested call",
     ADD ".func (.param .b32 g_r) g(.param .b64 g_0, .param .b32 g_1) { .local .align 4 .b8 depot[16]; .reg "
         ".pred "
         "%p<2>; .reg .b32 %r<9>; .reg .b64 %rd<9>; mov.u64 %rd5, depot; cvta.local.u64 %rd3, %rd5; "
         "ld.param.u64 %rd6, [g_0]; ld.param.u32 %r1, [g_1]; st.u32 [%rd3+4], %r1; mov.u32 %r3, 0;\n"
         "AGAIN: " CALL_ADD("%r3") "add.s32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 5; @%p1 bra AGAIN;\n"
                                   "ld.u32 %r4, [%rd3+4]; mov.u64 %rd3, %rd6; " CALL_ADD(
                                       "%r4") "add.s32 %r5, %r4, %r2; st.param.b32 [g_r+0], "
                                              "%r5; ret; }\n" KERNEL(
                                                  "{ .param .b64 param0; st.param.b64 [param0+0], %rd3; "
                                                  ".param .b32 param1; st.param.b32 [param1+0], %r1; "
                                                  ".param .b32 retval0; call.uni (retval0), g, (param0, "
                                                  "param1); ld.param.b32 %r2, [retval0+0]; }"),
     0},
    {"a variable of the block is one for both calls, and not the kernel's of that name",
     ".func (.param .b32 g_r) g(.param .b32 g_0) { .shared .align 4 .b8 cell[256]; .reg .b32 %r<9>; .reg "
     ".b64 "
     "%rd<9>; mov.u32 %r1, %tid.x; mul.wide.u32 %rd1, %r1, 4; mov.u64 %rd2, cell; add.s64 %rd3, %rd2, %rd1; "
     "ld.shared.u32 %r2, [%rd3]; ld.param.u32 %r3, [g_0]; st.shared.u32 [%rd3], %r3; st.param.b32 [g_r+0], "
     "%r2; "
     "ret; }\n" KERNEL(".shared .align 4 .b8 cell[4]; mov.u32 %r9, 77; st.shared.u32 [cell], %r9; bar.sync 0;"
                       "{ .param .b32 param0; st.param.b32 [param0+0], %r1; .param .b32 retval0; call.uni "
                       "(retval0), g, (param0); "
                       "ld.param.b32 %r4, [retval0+0]; }"
                       "{ .param .b32 param0; st.param.b32 [param0+0], 1; .param .b32 retval0; call.uni "
                       "(retval0), g, (param0); "
                       "ld.param.b32 %r5, [retval0+0]; } bar.sync 0; ld.shared.u32 %r6, [cell]; mad.lo.s32 "
                       "%r2, %r5, 100, %r6;"),
     0},
    {"without parameters, and with nothing but them",
     ".func g() { .reg .b32 %r<2>; bar.sync 0; ret; }\n.func h(.param .b64 h_0) { .reg .b64 %rd<2>; .reg "
     ".b32 %r<2>; "
     "ld.param.u64 %rd1, [h_0]; mov.u32 %r1, 9; st.u32 [%rd1+8], %r1; }\n" KERNEL(
         "call.uni g; { .param .b64 param0; st.param.b64 [param0+0], %rd3; call.uni h, (param0); } mov.u32 "
         "%r2, 4;"),
     0},
    {"a function that calls itself",
     ".func (.param .b32 g_r) g(.param .b32 g_0);\n"
     ".func (.param .b32 g_r) g(.param .b32 g_0) { .reg .pred %p<2>; .reg .b32 %r<9>; ld.param.u32 %r1, "
     "[g_0]; "
     "mov.u32 %r2, 1; setp.lt.u32 %p1, %r1, 2; @%p1 bra E; sub.s32 %r3, %r1, 1; { .param .b32 param0; "
     "st.param.b32 "
     "[param0+0], %r3; .param .b32 retval0; call.uni (retval0), g, (param0); ld.param.b32 %r4, [retval0+0]; "
     "} "
     "mul.lo.s32 %r2, %r4, %r1; E: st.param.b32 [g_r+0], %r2; ret; }\n" KERNEL(
         "and.b32 %r3, %r1, 7; { .param .b32 param0; st.param.b32 [param0+0], %r3; .param .b32 retval0; "
         "call.uni "
         "(retval0), g, (param0); ld.param.b32 %r2, [retval0+0]; }"),
     1},
    {"a call under a predicate",
     ADD KERNEL(
         "setp.lt.u32 %p1, %r1, 9; { .param .b64 param0; st.param.b64 [param0+0], %rd3; .param .b32 param1; "
         "st.param.b32 [param1+0], 4; .param .b32 retval0; @%p1 call (retval0), add, (param0, param1); "
         "ld.param.b32 %r2, [retval0+0]; }"),
     1},
    {"a parameter whose address is taken, as clang reads structures by value",
     ".func (.param .b32 g_r) g(.param .align 4 .b8 g_0[16], .param .b32 g_1, .param .b64 g_2) { .reg .b32 "
     "%r<9>; .reg "
     ".b64 %rd<9>; mov.b64 %rd1, g_0; mov.b64 %rd2, g_0+4; ld.param.u32 %r1, [g_1]; and.b32 %r1, %r1, 3; "
     "mul.wide.u32 "
     "%rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3; ld.param.u32 %r2, [%rd4]; ld.param.u32 %r3, [g_0+8]; "
     "st.local.u32 [%rd2], "
     "77; ld.param.u32 %r4, [g_0+4]; ld.param.u64 %rd5, [g_2]; st.u32 [%rd5+4], %r4; mad.lo.s32 %r5, %r2, "
     "100, %r3; "
     "st.param.b32 [g_r+0], %r5; ret; }\n" KERNEL(
         "{ .param .align 4 .b8 param0[16]; st.param.v2.b32 [param0+0], {%r1, 5}; st.param.v2.b32 "
         "[param0+8], {6, %r1}; "
         ".param .b32 param1; st.param.b32 [param1+0], %r1; .param .b64 param2; st.param.b64 [param2+0], "
         "%rd3; .param "
         ".b32 retval0; call.uni (retval0), g, (param0, param1, param2); ld.param.b32 %r2, [retval0+0]; }"),
     0},
};

static bool all(const void *user, const PtxFunc *callee) {
    (void)user, (void)callee;
    return true;
}

static PtxModule *parsed(const char *text, const char *what) {
    PtxModule *m = NULL;
    gr_error err = {0};
    if (gr_ptx_parse_ours(text, strlen(text), "it", &m, &err) != GR_OK)
        fail_msg("%s: %s:%u: %s", what, text, err.line, err.msg);
    return m;
}

static void run(const char *text, const char *what, uint32_t seed, uint32_t *out) {
    Rig r;
    VmConfig c = {.seed = seed};
    rig_open(&r, text, &c);
    uint64_t at = rig_alloc(&r, WORDS * sizeof *out);
    uint32_t *view = rig_view(&r, at, WORDS * sizeof *out);
    for (unsigned k = 0; k < WORDS; k++)
        view[k] = k * 3;
    if (RIG_RUN(&r, "k", 1, THREADS, at) != VM_FAULT_NONE)
        fail_msg("%s: %s", what, r.fault.msg);
    memcpy(out, rig_view(&r, at, WORDS * sizeof *out), WORDS * sizeof *out);
    rig_close(&r);
}

static void kernels_compute_the_same(void **state) {
    static uint32_t want[WORDS], got[WORDS];
    (void)state;
    for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++) {
        StrBuf text = {0}, out = {0};
        gr_error err = {0};
        GrInlined inlined = {0};
        unsigned calls = 0;
        gr_str_addf(&text, ".version 8.0\n.target sm_90\n.address_size 64\n%s", cases[k].text);
        run(text.data, cases[k].what, 1, want);
        PtxModule *m = parsed(text.data, cases[k].what);
        PtxFunc *f = gr_ptx_find_func(m, "k");
        uint32_t n_sites = m->n_sites;
        if (gr_inline_calls(&inlined, m, f, all, NULL, &err) != GR_OK)
            fail_msg("%s: %s", cases[k].what, err.msg);
        assert_true(cases[k].calls || m->n_sites > n_sites || k == 1 ||
                    k == 2); // these access parameters alone
        for (const PtxStmt *s = f->first; s; s = s->next) {
            calls += s->kind == PTX_INSTR && s->instr->op == PTX_OP_CALL;
            if (s->site) {
                assert_ptr_equal(m->sites[s->site].stmt, s);
                assert_true(m->sites[s->site].id <= n_sites);
            }
        }
        if (calls != cases[k].calls)
            fail_msg("%s: %u calls are left", cases[k].what, calls);
        gr_inline_end(&inlined, m);
        assert_int_equal(m->n_sites, n_sites);
        assert_int_equal(gr_ptx_print(m, 0, &out, &err), GR_OK);
        PtxModule *again = parsed(out.data, cases[k].what);
        assert_int_equal(again->n_sites, n_sites);
        for (uint32_t i = 1; i <= n_sites; i++) {
            assert_int_equal(again->sites[i].space, m->sites[i].space);
            assert_int_equal(again->sites[i].access, m->sites[i].access);
            assert_string_equal(again->sites[i].func->name, m->sites[i].func->name);
        }
        for (uint32_t seed = 1; seed < 5; seed++) {
            run(out.data, cases[k].what, seed, got);
            for (unsigned i = 0; i < WORDS; i++)
                if (got[i] != want[i])
                    fail_msg("%s, seed %u: word %u is %u, not %u\n%s", cases[k].what, seed, i, got[i],
                             want[i], out.data);
        }
        gr_ptx_free(again);
        gr_ptx_free(m);
        gr_str_free(&text);
        gr_str_free(&out);
    }
}

// What the module calls x, the kernel calls something else so: the function's x must not become that.
static void names_are_not_taken(void **state) {
    static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n.global .align 4 .u32 x;\n"
                               ".func g() { .reg .b32 %r<2>; mov.u32 %r1, 1; st.global.u32 [x], %r1; ret; }\n"
                               ".visible .entry k() { .local .align 4 .b8 x[4]; .reg .b32 %r<2>; "
                               "st.local.u32 [x], 3; call.uni g; ret; }\n";
    GrInlined inlined = {0};
    gr_error err = {0};
    (void)state;
    PtxModule *m = parsed(text, "names");
    assert_int_equal(gr_inline_calls(&inlined, m, gr_ptx_find_func(m, "k"), all, NULL, &err),
                     GR_ERR_INTERNAL);
    gr_inline_end(&inlined, m);
    assert_int_equal(m->n_sites, 2);
    gr_ptx_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_compute_the_same),
        cmocka_unit_test(names_are_not_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
