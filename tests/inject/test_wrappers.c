// SPDX-License-Identifier: Apache-2.0
// The way in that a real GPU needs, tested without one: fatbin wrappers of the program are rewritten before its runtime
// registers them. What follows (the CPU device and its runtime) then meets rewritten PTX that it was never handed by an
// interposed call. And modules of an engine that wants them linked (the tracker) go through the driver's linker. Usage:
// test_wrappers LIBGPURACE CPU_DEVICE_DIR PROGRAM PROGRAM_BUILT_WITH_RDC THE_SAME_WITHOUT_MACHINE_CODE
#include "base/str.h"
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

// What the program and gpurace write on standard error comes out as `said`, which the caller frees.
static void run(const char *program, const char *kernel, const char *options, const char *file,
                GrReport *report, char **said) {
    char log[64];
    size_t len;
    snprintf(log, sizeof log, "%s.log", file);
    assert_int_equal(gr_results_create(file, &err), GR_OK);
    pid_t pid = fork();
    if (pid == 0) {
        char preload[3000];
        snprintf(preload, sizeof preload, "%s:%s/libcuda.so.1:%s/libcudart.so.13", args[1], args[2], args[2]);
        setenv("GPURACE_RESULTS", file, 1);
        setenv("GPURACE_MERGED_OPTIONS", options, 1);
        setenv("LD_PRELOAD", preload, 1);
        if (!freopen(log, "w", stderr))
            _exit(126);
        execl(program, program, kernel, "sync", (char *)NULL);
        _exit(127);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(gr_file_read(log, said, &len, &err), GR_OK);
    unlink(log);
    GrResultsView view;
    assert_int_equal(gr_results_open(file, &view, &err), GR_OK);
    gr_report_init(report);
    report->find_class = gr_engine_class;
    report->find_decoder = gr_engine_decoder;
    assert_int_equal(gr_report_build(report, &view, &err), GR_OK);
    gr_results_close(&view);
}

// device=gpu, so that wrappers are rewritten. `says`: what gpurace says of the loading, or NULL.
static void test_kernel(const char *program, const char *kernel, const char *options, unsigned unchecked,
                        const char *says, GrVerdict verdict) {
    char file[] = "/tmp/gpurace-test-wrappers-XXXXXX";
    close(mkstemp(file));
    GrReport report;
    char *said;
    run(program, kernel, options, file, &report, &said);
    if (says && !strstr(said, says))
        fail_msg("'%s' is not in:\n%s", says, said);
    free(said);
    for (size_t i = 0; i < report.reasons.len; i++)
        print_message("%s\n", report.reasons.data[i].text);
    assert_int_equal(report.verdict, verdict);
    assert_int_equal(report.modules_checked, 1); // not rewritten a second time when the runtime loads it
    assert_int_equal(report.modules_unchecked, unchecked);
    assert_int_equal(report.launches_checked, 1);
    gr_report_free(&report);
    unlink(file);
}

static void test_racy(void **state) {
    (void)state;
    test_kernel(args[3], "racy", "device=gpu", 0, NULL, GR_VERDICT_RACES);
}

static void test_quiet(void **state) {
    (void)state;
    test_kernel(args[3], "quiet", "device=gpu", 0, NULL, GR_VERDICT_CLEAN);
}

// The runtime registers each unit's container, rewritten by then, and loads a list of them.
static void test_linked(void **state) {
    (void)state;
    test_kernel(args[4], "racy", "device=gpu", 0, NULL, GR_VERDICT_RACES);
    test_kernel(args[4], "quiet", "device=gpu", 0, NULL, GR_VERDICT_CLEAN);
}

// What the tracker rewrites is linked: it finds in it what it finds elsewhere.
static void test_tracker(void **state) {
    (void)state;
    const char *options = "device=gpu engine=tracker verbose";
    test_kernel(args[3], "racy", options, 0, "ends.cu: linked in ", GR_VERDICT_RACES);
    test_kernel(args[3], "quiet", options, 0, "ends.cu: linked in ", GR_VERDICT_CLEAN);
    test_kernel(args[4], "racy", options, 0, "ends.cu: linked in ", GR_VERDICT_RACES);
    // The device's runtime is a unit that this driver's linker does not take.
    const char *refused = "ends.cu is not linked, but loaded as PTX: ";
    test_kernel(args[5], "racy", options, 1, refused, GR_VERDICT_RACES);
    test_kernel(args[5], "racy", "device=gpu engine=tracker verbose link=units", 1, refused,
                GR_VERDICT_RACES);
}

// Where work may come beside kernels the driver is to have them before, unless the program sets it otherwise.
static void test_early(void **state) {
    static const char *const options[] = {"device=gpu verbose", "device=gpu verbose late-work=no",
                                          "device=gpu engine=none verbose"};
    (void)state;
    for (unsigned k = 0; k < sizeof options / sizeof *options; k++) {
        char file[] = "/tmp/gpurace-test-wrappers-XXXXXX", *said;
        close(mkstemp(file));
        GrReport report;
        run(args[3], "quiet", options[k], file, &report, &said);
        assert_int_equal(strstr(said, "bytes of PTX are loaded when the program begins") != NULL, k == 0);
        free(said);
        gr_report_free(&report);
        unlink(file);
    }
}

int main(int argc, char **argv) {
    if (argc < 6)
        return 2;
    args = argv;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_racy), cmocka_unit_test(test_quiet),
                                       cmocka_unit_test(test_linked), cmocka_unit_test(test_tracker),
                                       cmocka_unit_test(test_early)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
