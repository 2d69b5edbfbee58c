// SPDX-License-Identifier: Apache-2.0
// Reasons that repeat are one, with a number: texts that differ only in numbers, and kernels with one cause.
#include "report_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { MANY = 20000 };

// The report of a process with what `add` writes, `n` times.
static void report_of(void (*add)(GrResults *r, unsigned n), unsigned n, GrReport *report) {
    GrResults r;
    rig_empty_file();
    rig_attach(&r);
    rig_text(&r, GR_RECORD_PROCESS_BEGIN, "");
    add(&r, n);
    rig_end(&r, 0);
    rig_report(report);
}

static void add_notes(GrResults *r, unsigned n) {
    rig_module(r, 1, "sample.cu", NULL);
    rig_kernel(r, 0, 1, "plain", (GrKernelCounts){.launches = 1});
    for (unsigned k = 0; k < n; k++) {
        char text[64];
        snprintf(text, sizeof text, "module %u was not loaded (CUDA error %u)", k + 2, k % 2 ? 715 : 218);
        rig_text(r, GR_RECORD_NOTE, text);
    }
}

static void test_numbers(void **state) {
    (void)state;
    GrReport report;
    report_of(add_notes, 4, &report);
    assert_int_equal(report.reasons.len, 4);
    gr_report_free(&report);
    report_of(add_notes, MANY, &report);
    assert_int_equal(report.reasons.len, 1);
    assert_string_equal(
        report.reasons.data[0].text,
        "module 2 was not loaded (CUDA error 218); 19999 more differ from this only in numbers");
    assert_int_equal(report.reasons.data[0].count, 1);
    assert_int_equal(report.notes.len, MANY); // for JSON
    rig_round_trip(&report);
    gr_report_free(&report);
}

static void add_equal(GrResults *r, unsigned n) {
    add_notes(r, n);
    add_notes(r, n);
}

// How often they came is the sum of all.
static void test_counts(void **state) {
    (void)state;
    GrReport report;
    report_of(add_equal, 5, &report);
    assert_int_equal(report.reasons.len, 1);
    assert_string_equal(report.reasons.data[0].text,
                        "module 2 was not loaded (CUDA error 218); 4 more differ from this only in numbers");
    assert_int_equal(report.reasons.data[0].count, 10);
    gr_report_free(&report);
}

static const char *const names[] = {"copy", "fill", "scan", "sort", "sum", "zip"};

static void add_modules(GrResults *r, unsigned n) {
    for (unsigned k = 0; k < n; k++) {
        rig_module(r, k + 1, names[k], "only machine code");
        rig_kernel(r, k, k + 1, names[k], (GrKernelCounts){.launches = 1});
    }
}

static void test_modules(void **state) {
    (void)state;
    GrReport report;
    report_of(add_modules, 4, &report);
    assert_int_equal(report.reasons.len, 4);
    gr_report_free(&report);
    report_of(add_modules, 6, &report);
    assert_int_equal(report.reasons.len, 1);
    assert_string_equal(report.reasons.data[0].text,
                        "6 kernels were not checked: only machine code. They are "
                        "copy, fill, scan and 3 others");
    gr_report_free(&report);
}

static void add_failures(GrResults *r, unsigned n) {
    rig_module(r, 1, "sample.cu", NULL);
    for (unsigned k = 0; k < n; k++)
        rig_kernel(r, k, 1, names[k], (GrKernelCounts){.launches = 2, .failed = 1, .last_error = 700});
}

static void test_failures(void **state) {
    (void)state;
    GrReport report;
    report_of(add_failures, 1, &report);
    assert_string_equal(report.reasons.data[0].text, "a launch of copy failed with CUDA error 700");
    gr_report_free(&report);
    report_of(add_failures, 6, &report);
    assert_int_equal(report.reasons.len, 1);
    assert_string_equal(report.reasons.data[0].text,
                        "launches of 6 kernels of sample.cu failed with CUDA error "
                        "700. They are copy, fill, scan and 3 others");
    gr_report_free(&report);
}

static void add_left_alone(GrResults *r, unsigned n) {
    GrSiteInfo saved[RIG_SITES + 1];
    memcpy(saved, rig_sites, sizeof saved);
    for (unsigned k = 0; k < n; k++) {
        rig_sites[k + 1].status = GR_SITE_NOT_UNDERSTOOD;
        rig_sites[k + 1].kernel = names[k];
    }
    rig_module(r, 1, "sample.cu", NULL);
    memcpy(rig_sites, saved, sizeof saved);
    for (unsigned k = 0; k < n; k++)
        rig_kernel(r, k, 1, names[k], (GrKernelCounts){.launches = 1});
}

static void test_accesses(void **state) {
    (void)state;
    GrReport report;
    report_of(add_left_alone, 4, &report);
    assert_int_equal(report.reasons.len, 4);
    gr_report_free(&report);
    report_of(add_left_alone, 6, &report);
    assert_int_equal(report.reasons.len, 1);
    assert_string_equal(report.reasons.data[0].text,
                        "6 memory accesses of 6 kernels were not understood and not "
                        "checked, the first at golden/sample.cu:7");
    gr_report_free(&report);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_new_file, rig_remove_file)

int main(void) {
    if (chdir(GOLDEN_DIR))
        return 1;
    const struct CMUnitTest tests[] = {TEST(test_numbers), TEST(test_counts), TEST(test_modules),
                                       TEST(test_failures), TEST(test_accesses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
