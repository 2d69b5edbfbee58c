// SPDX-License-Identifier: Apache-2.0
// test_shuffle — block shuffling by rewriting: every index is given once, device functions agree with their kernel,
// clusters stay whole, and what cannot be shuffled is refused.
#include "../vm/harness.h"

#include "passes/shuffle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// Block (x, y, z) as it thinks it is writes: how often it was there, in which order it came, and its cluster.
#define BODY(cluster)                                                                                        \
    ".func (.reg .b32 %ret) index(.reg .b32 %nx, .reg .b32 %ny) { .reg .b32 %a<4>; mov.u32 %a0, %ctaid.z; "  \
    "mov.u32 %a1, %ctaid.y; mad.lo.u32 %a0, %a0, %ny, %a1; mov.u32 %a1, %ctaid.x; mad.lo.u32 %ret, %a0, "    \
    "%nx, %a1; ret; }\n"                                                                                     \
    ".visible .entry k(.param .u64 out) {\n.reg .b32 %r<16>; .reg .b64 %q<8>;\n"                             \
    "ld.param.u64 %q1, [out]; mov.u32 %r1, %nctaid.x; mov.u32 %r2, %nctaid.y; call (%r3), index, (%r1, "     \
    "%r2);"                                                                                                  \
    "mul.wide.u32 %q2, %r3, 16; add.s64 %q2, %q1, %q2; atom.global.add.u32 %r4, [%q2+16], 1;\n"              \
    "atom.global.add.u32 %r5, [%q1], 1; st.global.u32 [%q2+20], %r5; mov.u32 %r6, %ctaid.x; " cluster        \
    "st.global.u32 [%q2+24], %r7; st.global.u32 [%q2+28], %r6; ret; }"
#define PLAIN   ".version 7.0\n.target sm_70\n.address_size 64\n" BODY("mov.u32 %r7, 0; ")
#define CLUSTER ".version 8.0\n.target sm_90\n.address_size 64\n" BODY("mov.u32 %r7, %clusterid.x; ")

typedef struct Seen {
    uint32_t times, order, cluster, x;
} Seen;

static char *rewritten(const char *text, uint64_t seed) {
    PtxModule *m;
    gr_error err = {0};
    StrBuf out = {0};
    assert_int_equal(gr_ptx_parse(text, strlen(text), "k", &m, &err), GR_OK);
    assert_int_equal(gr_shuffle_blocks(m, seed, &err), GR_OK);
    assert_int_equal(gr_ptx_print(m, 0, &out, &err), GR_OK);
    gr_ptx_free(m);
    return out.data;
}

// How many blocks came right after the one before them.
static unsigned check(const char *text, uint64_t seed, const uint32_t grid[3], uint32_t cluster) {
    Rig r;
    VmConfig c = {.seed = 1, .sm_count = 1};
    char *ptx = rewritten(text, seed);
    rig_open(&r, ptx, &c);
    unsigned n = grid[0] * grid[1] * grid[2], ascents = 0;
    uint64_t out = rig_alloc(&r, 16 * (n + 1));
    VmLaunchParams p = {
        .func = gr_vm_module_func(r.mod, "k"), .block = {1, 1, 1}, .params = &out, .launch = 1};
    memcpy(p.grid, grid, sizeof p.grid);
    if (cluster)
        p.cluster[0] = cluster, p.cluster[1] = p.cluster[2] = 1;
    VmLaunch *l;
    assert_int_equal(gr_vm_launch(r.dev, &p, &l, NULL), GR_OK);
    rig_drain(&r, 10000);
    assert_null(gr_vm_launch_fault(l));
    gr_vm_launch_free(l);
    const Seen *seen = (const Seen *)rig_view(&r, out, 16 * (n + 1)) + 1;
    for (unsigned i = 0; i < n; i++) {
        assert_int_equal(seen[i].times, 1);
        assert_int_equal(seen[i].x, i % grid[0]); // the kernel and its function agree
        if (cluster)
            assert_int_equal(seen[i].cluster, seen[i].x / cluster);
        ascents += i && seen[i].order > seen[i - 1].order;
    }
    free(ptx);
    rig_close(&r);
    return ascents;
}

static void every_block_once(void **state) {
    (void)state;
    static const uint32_t grids[][3] = {{1, 1, 1}, {2, 1, 1}, {97, 1, 1}, {8, 5, 1}, {4, 3, 7}, {256, 1, 1}};
    unsigned differing = 0;
    for (uint64_t seed = 1; seed <= 5; seed++)
        for (size_t g = 0; g < sizeof grids / sizeof *grids; g++) {
            unsigned n = grids[g][0] * grids[g][1] * grids[g][2];
            differing += n > 2 && check(PLAIN, seed, grids[g], 0) < n - 1;
            if (grids[g][0] % 4 == 0)
                differing += check(CLUSTER, seed, grids[g], 4) < n - 1;
            check(CLUSTER, seed, grids[g], 0);
        }
    assert_true(differing >= 30);
}

static void what_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *says;
    } rows[] = {
        {".reg .b32 %r<5>; mov.v4.u32 {%r1, %r2, %r3, %r4}, %ctaid;", "vector"},
        {".reg .b16 %h<5>; mov.u16 %h1, %ctaid.x;", "32 bits"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        StrBuf text = {0};
        PtxModule *m;
        gr_error err = {0};
        gr_str_addf(&text, ".version 7.0\n.target sm_70\n.address_size 64\n.entry k() {\n%s ret; }",
                    rows[i].text);
        assert_int_equal(gr_ptx_parse(text.data, text.len, "k", &m, &err), GR_OK);
        assert_int_equal(gr_shuffle_blocks(m, 1, &err), GR_ERR_UNSUPPORTED);
        assert_non_null(strstr(err.msg, rows[i].says));
        assert_int_equal(err.line, 5);
        gr_ptx_free(m);
        gr_str_free(&text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_block_once), cmocka_unit_test(what_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
