// SPDX-License-Identifier: Apache-2.0
// Which loads the tracker's pass leaves out because barriers order them (phases.h) or a store tells of them
// (updates.h), which parameter an address comes from (origin.h), and which ends of threads it minds (paths.h).
#include "engines/tracker/pass/paths.h"
#include "engines/tracker/pass/phases.h"
#include "engines/tracker/pass/quiet.h"
#include "engines/tracker/pass/updates.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static PtxModule *parse(const char *params, const char *body) {
    PtxModule *m;
    gr_error err;
    StrBuf text = {0};
    gr_str_addf(
        &text,
        ".version 8.0\n.target sm_80\n.address_size 64\n.global .b32 v[16];\n.shared .b32 s[64];\n"
        ".extern .func g(.param .b64 a);\n.visible .entry k(%s)\n{\n.reg .pred %%p<4>;\n.reg .b32 %%r<8>;\n"
        ".reg .b64 %%rd<12>;\n%s\nret;\n}\n",
        params, body);
    if (gr_ptx_parse(text.data, text.len, "test", &m, &err) != GR_OK)
        fail_msg("%s\n%s", err.msg, text.data);
    gr_str_free(&text);
    return m;
}

static PtxFunc *kernel(const PtxModule *m) { return gr_ptx_find_func(m, "k"); }

// ---- Barriers ------------------------------------------------------------------------------------------------

#define TILE(condition)                                                                                      \
    "ld.param.u32 %r1, [n]; mov.u32 %r2, 0; mov.u32 %r3, %tid.x;\nL: st.shared.u32 [s], %r3; bar.sync 0;\n"  \
    "ld.shared.u32 %r4, [s+4]; bar.sync 0;\nadd.s32 %r2, %r2, 1; " condition " @%p1 bra L;"

static const struct {
    const char *why, *body;
    int still; // of the last load
} rows[] = {
    {"tiles", TILE("setp.lt.s32 %p1, %r2, %r1;"), 1},
    {"as many tiles as the thread says", TILE("setp.lt.s32 %p1, %r2, %r3;"), 0},
    {"as many as shared memory says", TILE("setp.lt.s32 %p1, %r2, %r4;"), 0},
    {"as many as the size of the block", TILE("mov.u32 %r5, %ntid.x; setp.lt.s32 %p1, %r2, %r5;"), 1},
    {"no second barrier",
     "L: st.shared.u32 [s], 1; bar.sync 0; ld.shared.u32 %r1, [s]; ld.param.u32 %r2, [n]; setp.eq.u32 %p1, "
     "%r2, 0; @%p1 bra L;",
     0},
    {"no barrier", "st.shared.u32 [s], 1; ld.shared.u32 %r1, [s];", 0},
    {"once", "st.shared.u32 [s], 1; bar.sync 0; ld.shared.u32 %r1, [s];", 1},
    {"barrier.sync", "st.shared.u32 [s], 1; barrier.sync 0; ld.shared.u32 %r1, [s];", 1},
    {"a barrier of some threads", "st.shared.u32 [s], 1; bar.sync 0, 64; ld.shared.u32 %r1, [s];", 0},
    {"a barrier of the warp", "st.shared.u32 [s], 1; bar.warp.sync -1; ld.shared.u32 %r1, [s]; bar.sync 0;",
     0},
    {"a barrier under a guard",
     "setp.eq.u32 %p1, 0, 0; st.shared.u32 [s], 1; @%p1 bar.sync 0; ld.shared.u32 %r1, [s];", 0},
    {"a barrier whose number is a value",
     "mov.u32 %r1, 0; st.shared.u32 [s], 1; bar.sync %r1; ld.shared.u32 %r1, [s];", 0},
    {"a barrier that some warps do not reach",
     "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32; @%p1 bra L; st.shared.u32 [s], 1; bar.sync 0; L: "
     "bar.sync 0; ld.shared.u32 %r1, [s];",
     0},
    {"some threads leave before",
     "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32; @%p1 ret; st.shared.u32 [s], 1; bar.sync 0; "
     "ld.shared.u32 %r1, [s];",
     0},
    {"all threads of a block leave before",
     "mov.u32 %r1, %ctaid.x; setp.lt.u32 %p1, %r1, 32; @%p1 ret; st.shared.u32 [s], 1; bar.sync 0; "
     "ld.shared.u32 %r2, [s];",
     1},
    {"a branch without a barrier in it",
     "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32; @%p1 bra L; st.shared.u32 [s], 1; L: bar.sync 0; "
     "ld.shared.u32 %r1, [s];",
     1},
    {"a value that a branch chooses",
     "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32; mov.u32 %r2, 0; @%p1 bra L; mov.u32 %r2, 1; L: "
     "setp.eq.u32 %p2, %r2, 0;"
     "st.shared.u32 [s], 1; @%p2 bra M; bar.sync 0; M: bar.sync 0; ld.shared.u32 %r1, [s];",
     0},
    {"a write of some, too",
     "bar.sync 0; mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32; @%p1 st.shared.u32 [s], 1; ld.shared.u32 "
     "%r1, [s];",
     0},
    {"an atomic, too", "bar.sync 0; red.shared.add.u32 [s], 1; ld.shared.u32 %r1, [s];", 0},
    {"a generic store, which may be of shared memory",
     "ld.param.u64 %rd1, [p]; bar.sync 0; st.u32 [%rd1], 1; ld.shared.u32 %r1, [s];", 0},
    {"a store to global memory",
     "ld.param.u64 %rd1, [p]; st.shared.u32 [s], 1; bar.sync 0; st.global.u32 [%rd1], 1; ld.shared.u32 %r1, "
     "[s];",
     1},
    {"a copy, which may come later",
     "ld.param.u64 %rd1, [p]; cp.async.ca.shared.global [s], [%rd1], 4; bar.sync 0; ld.shared.u32 %r1, [s];",
     0},
    {"a call",
     "ld.param.u64 %rd1, [p]; st.shared.u32 [s], 1; bar.sync 0; { .param .b64 a; st.param.b64 [a], %rd1; "
     "call g, (a); } ld.shared.u32 %r1, [s];",
     0},
    {"a strong load", "bar.sync 0; ld.volatile.shared.u32 %r1, [s];", 0},
    {"global memory, where other blocks are",
     "ld.param.u64 %rd1, [p]; bar.sync 0; ld.global.u32 %r1, [%rd1];", 0},
};

static void test_phases(void **state) {
    (void)state;
    for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++) {
        PtxModule *m = parse(".param .u32 n, .param .u64 p", rows[k].body);
        gr_error err;
        Cfg g;
        Arena arena;
        gr_arena_init(&arena);
        bool still[16] = {false};
        assert_true(m->n_sites < 16 && m->n_funcs < 16);
        assert_int_equal(gr_cfg_build(kernel(m), &arena, &g, &err), GR_OK);
        assert_true(gr_phases_find(kernel(m), &g, &arena, still));
        uint32_t last = m->n_sites;
        while (m->sites[last].access != PTX_ACCESS_READ)
            last--;
        if (still[last] != rows[k].still)
            fail_msg("%s: %d", rows[k].why, still[last]);
        for (uint32_t s = 1; s < last; s++)
            assert_false(still[s]);
        gr_arena_free(&arena);
        gr_ptx_free(m);
    }
}

// ---- Parameters ----------------------------------------------------------------------------------------------

#define POINTERS                                                                                             \
    "ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; ld.param.u64 %rd3, [n]; cvta.to.global.u64 %rd1, %rd1;" \
    "cvta.to.global.u64 %rd2, %rd2; mov.u32 %r1, %tid.x; mul.wide.u32 %rd4, %r1, 4;"

static const struct {
    const char *why, *body;
    const char *reads, *writes; // roots; writes "?": nothing is known
} places[] = {
    {"plain",
     POINTERS "add.s64 %rd5, %rd1, %rd4; add.s64 %rd6, %rd4, %rd2; ld.global.u32 %r2, [%rd5]; st.global.u32 "
              "[%rd6+4], %r2;",
     "p", "q"},
    {"generic",
     POINTERS "add.s64 %rd5, %rd1, %rd4; add.s64 %rd6, %rd4, %rd2; ld.u32 %r2, [%rd5]; st.u32 [%rd6], %r2;",
     "p", "q"},
    {"one is written, too",
     POINTERS "ld.global.u32 %r2, [%rd1]; ld.global.u32 %r3, [%rd2]; st.global.u32 [%rd2], %r2; "
              "red.global.add.u32 [%rd2], 1;",
     "p", "q"},
    {"an index that is a parameter",
     POINTERS "add.s64 %rd5, %rd1, %rd3; add.s64 %rd6, %rd3, %rd2; ld.global.u32 %r2, [%rd5]; st.global.u32 "
              "[%rd6], %r2;",
     "p", "q"},
    {"all are written", POINTERS "ld.global.u32 %r2, [%rd1]; st.global.u32 [%rd1], %r2;", "", "?"},
    {"a store to one of two",
     POINTERS "setp.eq.u32 %p1, %r1, 0; selp.b64 %rd5, %rd1, %rd2, %p1; ld.global.u32 %r2, [%rd1]; "
              "st.global.u32 [%rd5], %r2;",
     "", "?"},
    {"a store to one of two by a branch",
     POINTERS "setp.eq.u32 %p1, %r1, 0; mov.u64 %rd5, %rd1; @%p1 bra L; mov.u64 %rd5, %rd2; L: ld.global.u32 "
              "%r2, [%rd1]; st.global.u32 [%rd5], %r2;",
     "", "?"},
    {"a loop",
     POINTERS "L: ld.global.u32 %r2, [%rd1]; add.s64 %rd1, %rd1, 4; st.global.u32 [%rd2], %r2; add.s64 %rd2, "
              "%rd2, %rd4; bra L;",
     "p", "q"},
    {"a pointer that was loaded",
     POINTERS "ld.global.u64 %rd5, [%rd2]; ld.global.u32 %r2, [%rd1]; st.global.u32 [%rd5], %r2;", "", "?"},
    {"an index that was loaded",
     POINTERS "ld.global.u64 %rd5, [%rd1]; shl.b64 %rd6, %rd5, 2; add.s64 %rd7, %rd2, %rd6; st.global.u32 "
              "[%rd7], %r1;",
     "p", "q"},
    {"a variable", POINTERS "ld.global.u32 %r2, [%rd1]; st.global.u32 [v], %r2;", "", "?"},
    {"a variable by its address",
     POINTERS
     "mov.u64 %rd5, v; add.s64 %rd5, %rd5, %rd4; ld.global.u32 %r2, [%rd1]; st.global.u32 [%rd5], %r2;",
     "p", "v"},
    {"a copy",
     POINTERS "ld.global.u32 %r2, [%rd1]; cp.async.bulk.global.shared::cta.bulk_group [%rd2], [s], 16;", "",
     "?"},
    {"a copy to shared memory",
     POINTERS "ld.global.u32 %r2, [%rd1]; cp.async.ca.shared.global [s], [%rd2], 4;", "p", ""},
    {"a call", POINTERS "ld.global.u32 %r2, [%rd1]; { .param .b64 a; st.param.b64 [a], %rd1; call g, (a); }",
     "", "?"},
    {"a strong load", POINTERS "ld.relaxed.gpu.global.u32 %r2, [%rd1]; st.global.u32 [%rd2], %r2;", "", "?"},
};

static bool names(const char *list, const PtxVar *v) { return *list && strchr(list, v->name[0]); }

static void test_parameters(void **state) {
    (void)state;
    for (unsigned k = 0; k < sizeof places / sizeof *places; k++) {
        PtxModule *m = parse(".param .u64 p, .param .u64 q, .param .u64 n", places[k].body);
        GrSiteStatus status[16] = {0};
        uint32_t stamps[16] = {0}, again[16] = {0};
        Quiet q;
        gr_error err;
        Arena arena;
        gr_arena_init(&arena);
        assert_true(m->n_sites < 16);
        assert_int_equal(gr_quiet_find(kernel(m), status, stamps, &arena, &q, &err), GR_OK);
        bool known = places[k].writes[0] != '?';
        if (q.on != known)
            fail_msg("%s: %d", places[k].why, q.on);
        for (uint32_t n = 0; q.on && n < q.origins.n_roots; n++)
            if (q.reads[n] != names(places[k].reads, q.origins.roots[n].var) ||
                q.writes[n] != names(places[k].writes, q.origins.roots[n].var))
                fail_msg("%s: %s: %d, %d", places[k].why, q.origins.roots[n].var->name, q.reads[n],
                         q.writes[n]);
        // A store that is left alone tells nobody where it goes.
        for (uint32_t n = 1; n <= m->n_sites; n++)
            status[n] = m->sites[n].access & PTX_ACCESS_WRITE ? GR_SITE_FILTERED : status[n];
        assert_int_equal(gr_quiet_find(kernel(m), status, again, &arena, &q, &err), GR_OK);
        assert_true(!q.on || !places[k].writes[0]);
        gr_arena_free(&arena);
        gr_ptx_free(m);
    }
}

// ---- Updates -------------------------------------------------------------------------------------------------

#define GLOBAL "ld.param.u64 %rd1, [p]; "
#define LOAD   "ld.global.u32 %r1, [%rd1+8]; "
#define STORE  "st.global.u32 [%rd1+8], %r1;"

static const struct {
    const char *why, *body;
    int told; // the store tells of the load
} updates[] = {
    {"an update", GLOBAL LOAD "add.s32 %r1, %r1, 1; " STORE, 1},
    {"of a shared variable", "ld.shared.u32 %r1, [s]; st.shared.u32 [s], %r1;", 1},
    {"an access of another place between", GLOBAL LOAD "st.global.u32 [%rd1], %r1; " STORE, 1},
    {"another place", GLOBAL LOAD "st.global.u32 [%rd1+4], %r1;", 0},
    {"another variable", "ld.shared.u32 %r1, [s]; st.shared.u32 [s+4], %r1;", 0},
    {"another space", GLOBAL LOAD "st.u32 [%rd1+8], %r1;", 0},
    {"fewer bytes", GLOBAL LOAD "st.global.u16 [%rd1+8], %r1;", 0},
    {"the address changes", GLOBAL LOAD "add.s64 %rd1, %rd1, 4; " STORE, 0},
    {"the load is the address", GLOBAL "ld.global.u64 %rd1, [%rd1]; st.global.u64 [%rd1], %rd1;", 0},
    {"a barrier between", GLOBAL LOAD "bar.sync 0; " STORE, 0},
    {"a fence between", GLOBAL LOAD "membar.gl; " STORE, 0},
    {"an atomic between", GLOBAL LOAD "red.global.add.u32 [%rd1], 1; " STORE, 0},
    {"a branch between", GLOBAL LOAD "setp.eq.u32 %p1, %r1, 0; @%p1 bra L; " STORE " L:", 0},
    {"a label between", GLOBAL LOAD "L: " STORE " setp.eq.u32 %p1, %r1, 0; @%p1 bra L;", 0},
    {"an end between", GLOBAL LOAD "setp.eq.u32 %p1, %r1, 0; @%p1 ret; " STORE, 0},
    {"a guard", GLOBAL LOAD "setp.eq.u32 %p1, %r1, 0; @%p1 " STORE, 0},
    {"a strong load", GLOBAL "ld.relaxed.gpu.global.u32 %r1, [%rd1+8]; " STORE, 0},
    {"a strong store", GLOBAL LOAD "st.relaxed.gpu.global.u32 [%rd1+8], %r1;", 0},
    {"another line", GLOBAL "\n.loc 1 7 1\n" LOAD "\n.loc 1 8 1\n" STORE, 0},
    {"the same line", GLOBAL "\n.loc 1 7 1\n" LOAD "\n.loc 1 7 9\n" STORE, 1},
};

static void test_updates(void **state) {
    (void)state;
    for (unsigned k = 0; k < sizeof updates / sizeof *updates; k++) {
        PtxModule *m = parse(".param .u64 p", updates[k].body);
        GrSiteStatus status[16] = {0};
        bool still[16] = {false};
        Updates u;
        DefUse uses;
        Cfg g;
        gr_error err;
        Arena arena;
        gr_arena_init(&arena);
        assert_true(m->n_sites < 16);
        assert_int_equal(gr_cfg_build(kernel(m), &arena, &g, &err), GR_OK);
        assert_int_equal(gr_defuse_build(kernel(m), &uses, &err), GR_OK);
        uint32_t last = m->n_sites;
        while (!(m->sites[last].access & PTX_ACCESS_WRITE) || m->sites[last].space == PTX_PARAM)
            last--;
        for (unsigned left = 0; left < 4; left++) { // the load, the store, or either is left out
            memset(status, 0, sizeof status);
            uint32_t load = 1;
            while (m->sites[load].access != PTX_ACCESS_READ)
                load++;
            status[load] = left == 1 ? GR_SITE_FILTERED : status[load];
            status[last] = left == 2 ? GR_SITE_SAMPLED_OUT : status[last];
            still[load] = left == 3;
            u = (Updates){GR_NEW_ARRAY(&arena, uint32_t, 16), GR_NEW_ARRAY(&arena, bool, 16)};
            gr_updates_find(kernel(m), &uses, &g, status, still, &u);
            bool told = u.load_of[last] != 0;
            if (told != (updates[k].told && !left) || (told && (u.load_of[last] != load || !u.told[load])))
                fail_msg("%s: %d", updates[k].why, told);
        }
        gr_defuse_free(&uses);
        gr_arena_free(&arena);
        gr_ptx_free(m);
    }
}

// ---- Ends ------------------------------------------------------------------------------------------------------

static const struct {
    const char *why, *body;
    int any;
} ends[] = {
    {"no barrier", "st.shared.u32 [s], 1;", 0},
    {"all pass it", "bar.sync 0;", 0},
    {"some threads end before", "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32; @%p1 ret; bar.sync 0;", 1},
    {"some threads go around it",
     "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32; @%p1 bra L; bar.sync 0; L:", 1},
    {"all threads of a block end before",
     "mov.u32 %r1, %ctaid.x; setp.lt.u32 %p1, %r1, 32; @%p1 ret; bar.sync 0;", 0},
    {"a loop that may go round not at all",
     "ld.param.u32 %r1, [n]; setp.eq.u32 %p1, %r1, 0; @%p1 bra M; L: bar.sync 0; sub.s32 %r1, %r1, 1; "
     "setp.ne.u32 %p1, %r1, 0; @%p1 bra L; M:",
     0},
    {"a loop as long as the thread says",
     "mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; @%p1 bra M; L: bar.sync 0; sub.s32 %r1, %r1, 1; "
     "setp.ne.u32 %p1, %r1, 0; @%p1 bra L; M:",
     1},
    {"a guard", "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32; @%p1 bar.sync 0;", 1},
};

static void test_ends(void **state) {
    (void)state;
    for (unsigned k = 0; k < sizeof ends / sizeof *ends; k++) {
        PtxModule *m = parse(".param .u32 n", ends[k].body);
        Ends e;
        Cfg g;
        gr_error err;
        Arena arena;
        gr_arena_init(&arena);
        assert_int_equal(gr_cfg_build(kernel(m), &arena, &g, &err), GR_OK);
        assert_true(gr_paths_ends(kernel(m), &g, &arena, &e));
        if (e.any != ends[k].any)
            fail_msg("%s: %d", ends[k].why, e.any);
        gr_arena_free(&arena);
        gr_ptx_free(m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_phases), cmocka_unit_test(test_parameters),
                                       cmocka_unit_test(test_updates), cmocka_unit_test(test_ends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
