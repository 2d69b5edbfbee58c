// SPDX-License-Identifier: Apache-2.0
// The list of engines: names, two at once, what each can do, and docs/engines.md, which is written from it.
#include "base/outfile.h"
#include "engines/core/engine.h"
#include "options/options.h"
#include "pages.h"
#include "ptx/ptx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static gr_error err;

static void test_names(void **state) {
    (void)state;
    assert_non_null(gr_engine_find("collider"));
    assert_non_null(gr_engine_find("none"));
    assert_null(gr_engine_find("colliders"));
    assert_null(gr_engine_find(""));
    assert_null(gr_engine_find("+"));
    assert_null(gr_engine_find("exact+"));
    assert_null(gr_engine_find("+exact"));
    assert_null(gr_engine_find("collider+exact+none"));
    assert_null(gr_engine_why_not("exact+nothing"));
}

static void test_two_at_once(void **state) {
    (void)state;
    const GrEngine *collider = gr_engine_find("collider"), *exact = gr_engine_find("exact");
    for (unsigned k = 0; k < 2; k++) {
        const GrEngine *e = gr_engine_find(k ? "exact+collider" : "collider+exact");
        assert_non_null(e);
        assert_ptr_equal(gr_engine_part(e, k), collider);
        assert_ptr_equal(gr_engine_part(e, !k), exact);
        assert_null(gr_engine_part(e, 2));
        assert_int_equal(e->caps & (CAP_CPU | CAP_GPU), CAP_CPU);
        assert_int_equal(e->caps & (CAP_REWRITES | CAP_LISTENS), CAP_REWRITES | CAP_LISTENS);
    }
    assert_null(gr_engine_part(collider, 0));
    static const char *const never[] = {"exact+exact", "none+exact", "collider+none", "collider+collider"};
    for (size_t k = 0; k < sizeof never / sizeof *never; k++) {
        assert_null(gr_engine_find(never[k]));
        assert_non_null(gr_engine_why_not(never[k]));
    }
    assert_null(gr_engine_why_not("collider+exact"));
}

static void test_the_default(void **state) {
    (void)state;
    GrOptions o;
    assert_int_equal(gr_options_init(&o, &err), GR_OK);
    assert_string_equal(gr_engine_choose(&o, false)->name, "exact");
    assert_true(o.caps & CAP_CAUSALITY);
    o.engine = "auto";
    assert_string_equal(gr_engine_choose(&o, true)->name, "collider");
    assert_true(o.caps & CAP_WINDOWS);
    o.engine = "another injection's";
    assert_null(gr_engine_choose(&o, true));
    assert_true(o.caps & CAP_CHECKS);
    gr_options_free(&o);
}

static void describe(StrBuf *out) {
    enum { MOST = 16 };
    const char *names[MOST];
    unsigned caps[MOST];
    size_t n = 0;
    gr_str_add(
        out, "# Engines\n\n"
             "<!-- Written from the engines' rows: `UPDATE_DOCS=1 build/tests/engines/core/test_engines`; a "
             "test compares. -->\n\n"
             "An engine is a way to find races; `gpurace engines` lists them. `--engine A+B` runs two in one "
             "execution, if they do not "
             "contradict "
             "each other.\n\n"
             "| engine | what it does | what a finding is worth |\n|---|---|---|\n");
    for (const GrEngine *const *e = gr_engines; *e && n < MOST - 1; e++) {
        gr_str_addf(out, "| `%s` | %s | %s |\n", (*e)->name, (*e)->summary, (*e)->evidence);
        names[n] = (*e)->name;
        caps[n++] = (*e)->caps;
    }
    const GrEngine *both = gr_engine_find("collider+exact");
    names[n] = both->name;
    caps[n++] = both->caps;
    gr_str_add(
        out,
        "\nWhat each can do, and which options of `gpurace run` it heeds, or of `gpurace check` if it needs "
        "no run. Some have conditions besides (docs/options.md).\n\n");
    options_of_engines(names, caps, n, out);
}

static const char *const uses[] = {
#define USE(id, what) what,
#include "engines/core/uses.def"
#undef USE
};

static void describe_blind(StrBuf *out) {
    static const char *const devices[] = {NULL, "CPU device", "GPU", "each"};
    gr_str_add(
        out,
        "\nWhat each does not look for where a program has such work: its report then has a line `blind to` "
        "(docs/verdicts.md). From the engines' blind.def.\n\n"
        "| a program with | engine | device | not looked for |\n|---|---|---|---|\n");
    for (unsigned use = 0; use < GR_USES; use++)
        for (const GrEngine *const *e = gr_engines; *e; e++)
            for (const GrBlind *b = (*e)->blind; b && b->what; b++)
                if (b->use == use)
                    gr_str_addf(out, "| %s | `%s` | %s | %s |\n", uses[use], (*e)->name, devices[b->devices],
                                b->what);
}

static void test_what_engines_are_blind_to(void **state) {
    (void)state;
    const GrEngine *both = gr_engine_find("collider+exact"), *tracker = gr_engine_find("tracker");
    for (const GrEngine *const *e = gr_engines; *e; e++)
        for (const GrBlind *b = (*e)->blind; b && b->what; b++) {
            assert_true(b->devices & GR_BLIND_ANY && *b->what && b->use < GR_USES);
            assert_true((*e)->caps & (CAP_CPU | CAP_STATIC) || !(b->devices & GR_BLIND_CPU));
            assert_true((*e)->caps & (CAP_GPU | CAP_STATIC) || !(b->devices & GR_BLIND_GPU));
            for (unsigned device = GR_BLIND_CPU; device <= GR_BLIND_GPU; device++) // one row of a kind
                assert_true(!(b->devices & device) || gr_blind_find((*e)->blind, b->use, device) == b);
        }
    assert_non_null(gr_blind_find(tracker->blind, GR_USE_HOST, GR_BLIND_CPU));
    assert_null(gr_blind_find(tracker->blind, GR_USE_STREAMS, GR_BLIND_CPU));
    assert_non_null(gr_blind_find(tracker->blind, GR_USE_STREAMS, GR_BLIND_GPU));
    assert_null(gr_blind_find(NULL, GR_USE_STREAMS, GR_BLIND_GPU));
    // Of two what neither looks for: exact looks for missing proxy fences.
    assert_null(gr_blind_find(both->blind, GR_USE_PROXIES, GR_BLIND_CPU));
    assert_non_null(gr_blind_find(both->blind, GR_USE_MBARRIERS, GR_BLIND_CPU));
}

#define KERNEL(body)                                                                                         \
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u32 n)\n{\n"                   \
    ".reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<3>; .shared .b64 m[4];\n"                              \
    "mov.u32 %r1, %tid.x; ld.param.u32 %r2, [n]; setp.lt.u32 %p1, %r1, %r2; setp.lt.u32 %p2, %r2, 7;\n" body \
    "ret;\n}\n"

static unsigned uses_of(const char *text) {
    PtxModule *m = NULL;
    unsigned callees = GR_USES_UNKNOWN;
    assert_int_equal(gr_ptx_parse(text, strlen(text), "text", &m, &err), GR_OK);
    unsigned uses_found = gr_uses_of_kernel(m->funcs[m->n_funcs - 1], ~0u, &callees);
    gr_ptx_free(m);
    return uses_found;
}

static void test_what_kernels_use(void **state) {
    (void)state;
    const unsigned barriers = 1u << GR_USE_BARRIERS;
    assert_int_equal(uses_of(KERNEL("bar.sync 0;\n")), 0);
    assert_int_equal(uses_of(KERNEL("@%p1 bar.sync 0;\n")), barriers);
    assert_int_equal(uses_of(KERNEL("@%p1 bra L;\nbar.sync 0;\nL:\n")), barriers);
    assert_int_equal(uses_of(KERNEL("@%p1 bra L;\nmov.u32 %r3, 1;\nL:\nbar.sync 0;\n")),
                     0);                                                         // they meet before
    assert_int_equal(uses_of(KERNEL("@%p2 bra L;\nbar.sync 0;\nL:\n")), 0);      // all take the same way
    assert_int_equal(uses_of(KERNEL("@%p1 bra L;\nbar.warp.sync 1;\nL:\n")), 0); // of a warp
    assert_int_equal(uses_of(KERNEL("@%p1 bra L;\nret;\nL:\nbar.sync 0;\n")), barriers); // some have ended
    assert_int_equal(uses_of(KERNEL("griddepcontrol.wait;\n")), 1u << GR_USE_DEPENDENT);
    assert_int_equal(uses_of(KERNEL("mbarrier.init.shared.b64 [m], 1;\n")), 1u << GR_USE_MBARRIERS);
    assert_int_equal(uses_of(KERNEL("fence.proxy.async;\n")), 1u << GR_USE_PROXIES);
    assert_int_equal(uses_of(KERNEL("cp.async.ca.shared.global [m], [%rd1], 4;\n")),
                     1u << GR_USE_COPIES_OF_THREADS);
    assert_int_equal(uses_of(KERNEL("cp.async.bulk.wait_group 0;\n")), 1u << GR_USE_PROXIES);
    // A function that may be called counts, and one that is not does not.
    static const char callee[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n.func f(.param .b32 x)\n{\n.reg .b32 %r<2>; .reg "
        ".pred "
        "%p1;\nld.param.u32 %r1, [x]; setp.eq.u32 %p1, %r1, 0; @%p1 bar.sync 0;\nret;\n}\n"
        ".visible .entry k()\n{\n";
    char text[1000];
    snprintf(text, sizeof text, "%s{ .param .b32 a; st.param.b32 [a], 1; call.uni f, (a); }\nret;\n}\n",
             callee);
    assert_int_equal(uses_of(text), barriers);
    snprintf(text, sizeof text, "%sret;\n}\n", callee);
    assert_int_equal(uses_of(text), 0);
}

static void test_page_is_up_to_date(void **state) {
    (void)state;
    StrBuf now = {0};
    char *page;
    size_t len;
    describe(&now);
    describe_blind(&now);
    if (getenv("UPDATE_DOCS"))
        assert_int_equal(gr_file_write(ENGINES_MD, now.data, now.len, &err), GR_OK);
    assert_int_equal(gr_file_read(ENGINES_MD, &page, &len, &err), GR_OK);
    assert_string_equal(page, now.data);
    free(page);
    gr_str_free(&now);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_two_at_once),
        cmocka_unit_test(test_the_default),
        cmocka_unit_test(test_what_engines_are_blind_to),
        cmocka_unit_test(test_what_kernels_use),
        cmocka_unit_test(test_page_is_up_to_date),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
