// SPDX-License-Identifier: Apache-2.0
// The report against golden files: a results file made by hand becomes golden/*.txt and *.json, byte for byte, whatever
// the order of its records. UPDATE_GOLDEN=1 in the environment writes them.
#include "engines/collider/device/record.h"
#include "engines/exact/classes.h"
#include "findings/misuse_record.h"
#include "findings/race.h"
#include "ptx/ptx.h"
#include "report_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void compare_report_of(const char *name, const char *engine, const char *evidence,
                              const char *reproduce) {
    GrReport report;
    gr_report_init(&report);
    report.engine = engine;
    report.evidence = evidence;
    report.reproduce = reproduce;
    rig_build(&report, "cpu");
    rig_compare(&report, name);
    gr_report_free(&report);
}

static void compare_report(const char *name) { compare_report_of(name, "", "", ""); }

static void test_races(void **state) {
    (void)state;
    GrResults r;
    rig_attach(&r);
    rig_racy_run(&r);
    rig_end(&r, 0);
    compare_report("races");
}

static void add_misuse(GrResults *r, const char *file, uint32_t line) {
    StrBuf b = {0};
    const GrFrame inlined[] = {{"_Z5outeri", "golden/sample.cu", 5, 3},
                               {"_Z6reducePf", "golden/sample.cu", 7, 0}};
    GrMisuseInfo m = {.class = 62, // mbarrier initialized twice
                      .kernel = "_Z6reducePf",
                      .at = {"init", file, line, 5},
                      .inlined = inlined,
                      .n_inlined = 2,
                      .detail = "thread (5,0,0) of block (1,0,0) did it",
                      .ptx_line = 77,
                      .thread = {5, 0, 0},
                      .block = {1, 0, 0},
                      .launch = 2};
    uint64_t *count = gr_results_area(r, sizeof *count, &m.count_at);
    assert_non_null(count);
    *count = 2;
    gr_misuse_write(&m, &b);
    rig_append(r, GR_RECORD_MISUSE, &b);
}

// Races of which both sides are known: who did what where, in one sentence.
static void test_pairs(void **state) {
    (void)state;
    GrResults r;
    rig_attach(&r);
    rig_text(&r, GR_RECORD_PROCESS_BEGIN, "");
    rig_module(&r, 1, "sample.cu", NULL);
    rig_kernel(&r, 0, 1, "_Z6reducePf",
               (GrKernelCounts){.launches = 2, .grid = {4, 1, 1}, .block = {64, 1, 1}});
    rig_log(&r, (const uint32_t[]){1, 1}, 2);
    GrRaceSide load = {.module = 1, .site = 1, .access = PTX_ACCESS_READ, .launch = 1, .size = 4},
               store = {.module = 1,
                        .site = 2,
                        .access = PTX_ACCESS_WRITE,
                        .launch = 1,
                        .thread = {1, 0, 0},
                        .size = 4},
               atomic = {.module = 1,
                         .site = 4,
                         .access = PTX_ACCESS_RMW,
                         .scope = PTX_SCOPE_CTA,
                         .launch = 1,
                         .address = 0x7f0000001000,
                         .size = 4};
    rig_pair(&r,
             &(GrRaceInfo){.class = RACE_READ_WRITE,
                           .space = 1,
                           .side = {load, store},
                           .overlap_bytes = 4,
                           .order = "both are lanes of one warp, and no __syncwarp() or barrier is between"});
    GrRaceSide far = atomic;
    far.scope = PTX_SCOPE_GPU;
    far.block[0] = 3;
    rig_pair(&r, &(GrRaceInfo){
                     .class = RACE_SCOPE,
                     .side = {far, atomic},
                     .overlap = 0x7f0000001000,
                     .overlap_bytes = 4,
                     .order = "scope .cta is too narrow: they are in two blocks, which takes .gpu or wider"});
    GrRaceSide other = store;
    other.launch = 2;
    rig_pair(&r,
             &(GrRaceInfo){.class = RACE_SAME_VALUE,
                           .side = {other, store},
                           .overlap = 0x7f0000002000,
                           .overlap_bytes = 4,
                           .order = "no stream order, event or synchronization between the two launches"});
    GrRaceSide flag = load, seen = atomic;
    flag.marks = GR_SIDE_VOLATILE;
    flag.scope = seen.scope = PTX_SCOPE_SYS;
    rig_pair(&r, &(GrRaceInfo){.class = RACE_VOLATILE,
                               .side = {flag, seen},
                               .overlap = 0x7f0000001000,
                               .overlap_bytes = 4,
                               .order = "no __syncthreads() or other barrier of both warps between"});
    GrRaceSide hoisted = load, copy = {.by = GR_SIDE_COPY, .access = PTX_ACCESS_WRITE, .launch = 3};
    hoisted.marks = GR_SIDE_DISCARDED;
    rig_pair(&r, &(GrRaceInfo){.class = RACE_SPECULATED,
                               .space = 1,
                               .side = {store, hoisted},
                               .overlap_bytes = 4,
                               .order = "no __syncthreads() or other barrier of both warps between"});
    rig_pair(&r, &(GrRaceInfo){.class = RACE_READ_WRITE,
                               .side = {copy, load},
                               .overlap = 0x7f0000003000,
                               .overlap_bytes = 2,
                               .order = "no stream order, event or synchronization between the two"});
    add_misuse(&r, "golden/sample.cu", 3);
    add_misuse(&r, "golden/sample.cu", 3); // once more: one entry
    add_misuse(&r, NULL, 0);
    rig_end(&r, 0);
    compare_report_of("pairs", "exact", "unordered by causality",
                      "gpurace run --engine exact --device cpu --seed 1 -- ./sample");
}

static void test_clean(void **state) {
    (void)state;
    GrResults r;
    rig_attach(&r);
    rig_text(&r, GR_RECORD_PROCESS_BEGIN, "");
    rig_module(&r, 1, "sample.cu", NULL);
    rig_kernel(&r, 0, 1, "plain", (GrKernelCounts){.launches = 1, .grid = {1, 1, 1}, .block = {32, 1, 1}});
    rig_text(&r, GR_RECORD_REMARK, "the host polls: this run may not be repeatable");
    rig_text(&r, GR_RECORD_BLIND, "races with the host's own accesses (collider)");
    rig_text(&r, GR_RECORD_BLIND, "a missing fence.proxy.async (collider)");
    rig_end(&r, 0);
    compare_report("clean");
}

static void test_inconclusive(void **state) {
    (void)state;
    GrResults r;
    rig_attach(&r);
    rig_text(&r, GR_RECORD_PROCESS_BEGIN, "");
    rig_kernel(&r, 0, 2, "_Z4coldi", // its module's record comes later
               (GrKernelCounts){
                   .launches = 2, .failed = 1, .last_error = 700, .grid = {1, 1, 1}, .block = {1, 1, 1}});
    rig_module(&r, 2, "module 2", "it holds no PTX");
    rig_text(&r, GR_RECORD_ABSENT, "cuGraphCreate");
    rig_text(&r, GR_RECORD_NOTE, "something was not understood");
    rig_text(&r, GR_RECORD_NOTE, "something was not understood");
    StrBuf b = {0};
    gr_put_str(&b, "_Z4coldi");
    gr_put_str(&b, "was stopped by the device: illegal address");
    gr_put_u64(&b, 1);
    rig_append(&r, GR_RECORD_FAULT, &b);
    gr_results_count_dropped(&r);
    rig_end(&r, 1);
    rig_attach(&r);
    rig_text(&r, GR_RECORD_PROCESS_BEGIN, ""); // a second process, which never ends
    gr_results_detach(&r);
    compare_report("inconclusive");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_new_file, rig_remove_file)

int main(void) {
    if (chdir(GOLDEN_DIR))
        return 1;
    const struct CMUnitTest tests[] = {
        TEST(test_races),
        TEST(test_pairs),
        TEST(test_clean),
        TEST(test_inconclusive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
