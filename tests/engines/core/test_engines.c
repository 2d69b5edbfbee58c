// SPDX-License-Identifier: Apache-2.0
// The list of engines: names, two at once, what each can do, and docs/engines.md, which is written from it.
#include "engines/core/engine.h"
#include "options/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
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
    gr_options_engines_markdown(names, caps, n, out);
}

static void test_page_is_up_to_date(void **state) {
    (void)state;
    StrBuf now = {0};
    char *page;
    size_t len;
    describe(&now);
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
        cmocka_unit_test(test_page_is_up_to_date),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
