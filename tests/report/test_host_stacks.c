// SPDX-License-Identifier: Apache-2.0
// Records of call stacks and of sources that were compiled from memory, as the report reads them.
#include "report_rig.h"

#include "engines/exact/exact.h"
#include "findings/source_record.h"
#include "findings/stack_record.h"
#include "ptx/ptx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// Frames of Python's need no other program to be asked.
static void put_stack(GrResults *r, uint32_t number, const char *entry, uint32_t line) {
    GrStackInfo *s = calloc(1, sizeof *s);
    StrBuf b = {0};
    assert_non_null(s);
    s->number = number;
    s->entry = entry;
    s->n = 4;
    s->calls[0] = (GrStackCall){"/usr/lib/python3.11/site-packages/numba/launch.py", "launch", 7, 1};
    s->calls[1] = (GrStackCall){"/home/me/train.py", "step", line, 1};
    s->calls[2] = (GrStackCall){"/home/me/train.py", "main", line + 1, 1};
    s->calls[3] = (GrStackCall){"/home/me/train.py", "<module>", line + 2, 1};
    gr_stack_write(s, &b);
    rig_append(r, GR_RECORD_STACK, &b);
    free(s);
}

static void put_source(GrResults *r, const char *path, const char *text) {
    StrBuf b = {0};
    gr_source_write(&(GrSourceInfo){path, text}, &b);
    rig_append(r, GR_RECORD_SOURCE, &b);
}

// A load of launch 1 and a copy, which nothing orders.
static void begin(GrResults *r) {
    static const uint32_t kernels[] = {1};
    rig_attach(r);
    (void)rig_module(r, 1, "sample.cu", NULL);
    rig_kernel(r, 0, 1, "_Z6reducePf", (GrKernelCounts){.launches = 1, .first_launch = 1});
    rig_log(r, kernels, 1);
    rig_pair(r, &(GrRaceInfo){.class = RACE_READ_WRITE,
                              .seen_by = GR_SEEN_BY_CAUSALITY,
                              .side = {{.module = 1, .site = 1, .launch = 1, .size = 4, .stack = 1},
                                       {.by = GR_SIDE_COPY, .access = PTX_ACCESS_WRITE, .stack = 2}},
                              .overlap_bytes = 4,
                              .order = "no stream order, event or synchronization between the two"});
}

static void text_of(const GrReport *r, StrBuf *out) {
    GrReport full = *r;
    full.look.verbose = true;
    gr_report_text(&full, out);
    assert_false(out->oom);
    gr_str_addc(out, 0);
}

static void test_both_sides(void **state) {
    (void)state;
    GrResults r;
    GrReport report;
    StrBuf text = {0};
    begin(&r);
    put_stack(&r, 1, "cuLaunchKernel", 40);
    put_stack(&r, 2, "cuMemcpyHtoDAsync_v2_ptsz", 50);
    rig_end(&r, 0);
    rig_report(&report);
    assert_int_equal(report.races.len, 1);
    text_of(&report, &text);
    assert_non_null(strstr(text.data, "    launched from step at /home/me/train.py:40, called by main at "
                                      "/home/me/train.py:41, called by <module> at /home/me/train.py:42\n"));
    assert_non_null(strstr(text.data, "other side: cuMemcpyHtoDAsync at /home/me/train.py:50\n"));
    assert_non_null(strstr(text.data, "missing: cuMemcpyHtoDAsync at /home/me/train.py:50 wrote; "));
    assert_null(strstr(text.data, "site-packages"));
    gr_str_free(&text);
    rig_round_trip(&report);
    gr_report_free(&report);
}

// A stack that is not there, and one that is cut short.
static void test_damaged(void **state) {
    (void)state;
    GrResults r;
    GrReport report;
    StrBuf text = {0}, cut = {0};
    begin(&r);
    gr_put_u32(&cut, 2);
    gr_put_u32(&cut, GR_STACK_CALLS + 1);
    rig_append(&r, GR_RECORD_STACK, &cut);
    rig_end(&r, 0);
    rig_report(&report);
    assert_int_equal(report.races.len, 1);
    assert_int_not_equal(report.damaged, 0);
    text_of(&report, &text);
    assert_null(strstr(text.data, "launched from"));
    assert_non_null(strstr(text.data, "other side: a copy that the program asked the API for\n"));
    gr_str_free(&text);
    gr_report_free(&report);
}

// The rig's sites are in a file that is not there under this name.
static void test_sources(void **state) {
    static const char *const path = "/nowhere/generated.cu";
    static const char first[] = "int a;\nint b; // as it was compiled\nint c;\n";
    (void)state;
    for (int differ = 0; differ < 2; differ++) {
        GrResults r;
        GrReport report;
        size_t len = 0;
        rig_empty_file();
        begin(&r);
        put_source(&r, path, first);
        put_source(&r, path, differ ? "int other;\nint x;\n" : first);
        rig_end(&r, 0);
        rig_report(&report);
        const char *line = gr_source_line(report.sources, path, 2, &len);
        if (differ) {
            assert_null(line);
        } else {
            assert_int_equal(len, strlen("int b; // as it was compiled"));
            assert_memory_equal(line, "int b; // as it was compiled", len);
        }
        gr_report_free(&report);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_both_sides, rig_new_file, rig_remove_file),
        cmocka_unit_test_setup_teardown(test_damaged, rig_new_file, rig_remove_file),
        cmocka_unit_test_setup_teardown(test_sources, rig_new_file, rig_remove_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
