// SPDX-License-Identifier: Apache-2.0
// A report without a run: of an engine that nobody has, with a table of classes of its own. golden/proved.* are what
// comes of it.
#include "report_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const GrClass classes[] = {
    {9001, "proved race", "two threads may reach the same bytes, and nothing orders one before the other",
     GR_KIND_RACE},
    {9002, "proved misuse", "a barrier that some threads of a block never reach", GR_KIND_MISUSE},
    {.number = 0},
};

static const GrClass *find_class(uint32_t number) { return gr_class_in(classes, number); }

static void begin(GrReport *r) {
    gr_report_init(r);
    r->find_class = find_class;
    r->engine = "prover";
    r->evidence = "proved possible";
    r->device = "none";
    r->reproduce = "gpurace check golden/sample.cu";
    r->modules = r->modules_checked = 1;
    r->sites[GR_SITE_CHECKED] = 2;
    GrKernelCoverage k = {.name = "_Z6reducePf", .module = "sample.cu"};
    assert_true(gr_vec_push(&r->kernels, k));
}

static const GrFrame load = {"_Z6reducePf", "golden/sample.cu", 7, 17},
                     store = {"add_up", "golden/sample.cu", 3, 5},
                     caller = {"_Z6reducePf", "golden/sample.cu", 8, 12};

// Both sides, but no run: no address, and threads as the proof has them.
static GrFinding race(void) {
    GrFinding f = {.class = 9001,
                   .kernel = "_Z6reducePf",
                   .module = "sample.cu",
                   .space = "shared",
                   .count = 1,
                   .accesses = {gr_access_in(&load, NULL, 0), gr_access_in(&store, &caller, 1)},
                   .n_accesses = 2,
                   .order = "no __syncthreads() or other barrier of both warps between",
                   .overlap_bytes = 4};
    for (unsigned k = 0; k < 2; k++) {
        GrAccess *a = &f.accesses[k];
        a->kind = k ? "store" : "load";
        a->did = k ? "wrote" : "read";
        a->kernel = f.kernel;
        a->ptx_line = 31 + 4 * k;
        a->size = 4;
        a->has_thread = true;
        a->thread[0] = 33 * k;
    }
    return f;
}

static void test_race(void **state) {
    (void)state;
    GrReport r;
    begin(&r);
    GrFinding one = race(), again = race();
    again.accesses[0] = one.accesses[1];
    again.accesses[1] = one.accesses[0];
    assert_int_equal(gr_report_add(&r, &one, &rig_err), GR_OK);
    assert_int_equal(gr_report_add(&r, &again, &rig_err), GR_OK); // the other side noticed: still one race
    assert_int_equal(gr_report_finish(&r, &rig_err), GR_OK);
    assert_int_equal(r.verdict, GR_VERDICT_RACES);
    assert_int_equal(r.races.len, 1);
    assert_int_equal(r.races.data[0].found.count, 2);
    rig_compare(&r, "proved");
    gr_report_free(&r);
}

static void test_misuse(void **state) {
    (void)state;
    GrReport r;
    begin(&r);
    GrFinding f = {.class = 9002,
                   .kernel = "_Z6reducePf",
                   .count = 1,
                   .detail = "thread (0,0,0) of block (0,0,0) returns before it",
                   .accesses = {gr_access_in(&store, &caller, 1)},
                   .n_accesses = 1};
    assert_int_equal(gr_report_add(&r, &f, &rig_err), GR_OK);
    assert_int_equal(gr_report_finish(&r, &rig_err), GR_OK);
    assert_int_equal(r.verdict, GR_VERDICT_RACES);
    assert_int_equal(r.races.len, 0);
    assert_int_equal(r.misuses.len, 1);
    gr_report_free(&r);
}

static void test_none(void **state) {
    (void)state;
    GrReport r;
    begin(&r);
    assert_int_equal(gr_report_finish(&r, &rig_err), GR_OK);
    assert_int_equal(r.verdict, GR_VERDICT_CLEAN);
    gr_report_free(&r);
    begin(&r);
    assert_int_equal(gr_report_reason(&r, "a loop was not unrolled to its end"), GR_OK);
    assert_int_equal(gr_report_finish(&r, &rig_err), GR_OK);
    assert_int_equal(r.verdict, GR_VERDICT_INCONCLUSIVE);
    gr_report_free(&r);
}

// A kernel's name may be longer than any buffer: of a reason nothing is cut off.
static void test_long_names(void **state) {
    (void)state;
    GrReport r;
    char name[5000];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    begin(&r);
    assert_int_equal(gr_report_reason(&r, "kernel %s: why", name), GR_OK);
    assert_int_equal(gr_report_remark(&r, "kernel %s: so", name), GR_OK);
    assert_int_equal(gr_report_finish(&r, &rig_err), GR_OK);
    assert_string_equal(r.reasons.data[0].text + strlen("kernel ") + strlen(name), ": why");
    assert_string_equal(r.remarks.data[0].text + strlen("kernel ") + strlen(name), ": so");
    gr_report_free(&r);
}

static void test_nonsense(void **state) {
    (void)state;
    GrReport r;
    begin(&r);
    GrFinding f = race();
    f.class = 9003; // nobody's
    assert_int_equal(gr_report_add(&r, &f, &rig_err), GR_ERR_ARGUMENT);
    f = race();
    f.n_accesses = 0;
    assert_int_equal(gr_report_add(&r, &f, &rig_err), GR_ERR_ARGUMENT);
    assert_int_equal(r.races.len, 0);
    gr_report_free(&r);
}

int main(void) {
    if (chdir(GOLDEN_DIR))
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_race),       cmocka_unit_test(test_misuse),   cmocka_unit_test(test_none),
        cmocka_unit_test(test_long_names), cmocka_unit_test(test_nonsense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
