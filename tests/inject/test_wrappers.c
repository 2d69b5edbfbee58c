// SPDX-License-Identifier: Apache-2.0
// The way in that a real GPU needs, tested without one: fatbin wrappers of the program are rewritten before its runtime
// registers them. What follows (the CPU device and its runtime) then meets rewritten PTX that it was never handed by an
// interposed call. Usage: test_wrappers LIBGPURACE CPU_DEVICE_DIR PROGRAM PROGRAM_BUILT_WITH_RDC
#include "engines/core/engine.h"
#include "report/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char **args;
static gr_error err;

static void run(const char *program, const char *kernel, const char *file, GrReport *report) {
    assert_int_equal(gr_results_create(file, &err), GR_OK);
    pid_t pid = fork();
    if (pid == 0) {
        char preload[3000];
        snprintf(preload, sizeof preload, "%s:%s/libcuda.so.1:%s/libcudart.so.13", args[1], args[2], args[2]);
        setenv("GPURACE_RESULTS", file, 1);
        setenv("GPURACE_MERGED_OPTIONS", "device=gpu", 1); // so that wrappers are rewritten
        setenv("LD_PRELOAD", preload, 1);
        execl(program, program, kernel, "sync", (char *)NULL);
        _exit(127);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    GrResultsView view;
    assert_int_equal(gr_results_open(file, &view, &err), GR_OK);
    gr_report_init(report);
    report->find_class = gr_engine_class;
    report->find_decoder = gr_engine_decoder;
    assert_int_equal(gr_report_build(report, &view, &err), GR_OK);
    gr_results_close(&view);
}

static void test_kernel(const char *program, const char *kernel, GrVerdict verdict) {
    char file[] = "/tmp/gpurace-test-wrappers-XXXXXX";
    close(mkstemp(file));
    GrReport report;
    run(program, kernel, file, &report);
    for (size_t i = 0; i < report.reasons.len; i++)
        print_message("%s\n", report.reasons.data[i].text);
    assert_int_equal(report.verdict, verdict);
    assert_int_equal(report.modules_checked, 1); // not rewritten a second time when the runtime loads it
    assert_int_equal(report.modules_unchecked, 0);
    assert_int_equal(report.launches_checked, 1);
    gr_report_free(&report);
    unlink(file);
}

static void test_racy(void **state) {
    (void)state;
    test_kernel(args[3], "racy", GR_VERDICT_RACES);
}

static void test_quiet(void **state) {
    (void)state;
    test_kernel(args[3], "quiet", GR_VERDICT_CLEAN);
}

// The runtime registers each unit's container, rewritten by then, and loads a list of them.
static void test_linked(void **state) {
    (void)state;
    test_kernel(args[4], "racy", GR_VERDICT_RACES);
    test_kernel(args[4], "quiet", GR_VERDICT_CLEAN);
}

int main(int argc, char **argv) {
    if (argc < 5)
        return 2;
    args = argv;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_racy), cmocka_unit_test(test_quiet),
                                       cmocka_unit_test(test_linked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
