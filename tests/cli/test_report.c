// SPDX-License-Identifier: Apache-2.0
// The report against golden files: a results file made by hand becomes golden/*.txt and *.json, byte for byte, whatever
// the order of its records. UPDATE_GOLDEN=1 in the environment writes them.
#include "../nomem.h"
#include "device/meet.h"
#include "device/record.h"
#include "exact/race.h"
#include "ptx/ptx.h"
#include "report/misuse_record.h"
#include "report/race_record.h"
#include "report/replay.h"
#include "report/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

static gr_error err;
static char path[64];

static int new_file(void **state) {
    (void)state;
    strcpy(path, "/tmp/gpurace-test-report-XXXXXX");
    close(mkstemp(path));
    return gr_results_create(path, &err) == GR_OK ? 0 : -1;
}

static int remove_file(void **state) {
    (void)state;
    return unlink(path);
}

static void append(GrResults *r, GrRecordKind kind, StrBuf *b) {
    gr_results_append(r, kind, b);
    gr_str_free(b);
}

static void append_text(GrResults *r, GrRecordKind kind, const char *text) {
    StrBuf b = {0};
    gr_put_str(&b, text);
    append(r, kind, &b);
}

static const GrFrame caller = {"_Z6reducePf", "golden/sample.cu", 8, 12};

enum { SITES = 6 };

// Two kernels and a device function; site 5 has no line.
static GrSiteInfo sites[SITES + 1] = {
    [1] = {{"_Z6reducePf", "golden/sample.cu", 7, 17},
           NULL,
           0,
           "_Z6reducePf",
           "f32",
           31,
           4,
           PTX_ACCESS_READ,
           PTX_SHARED,
           GR_SITE_CHECKED,
           false,
           {NULL, NULL, 0, 0}},
    [2] = {{"add_up", "golden/sample.cu", 3, 5},
           &caller,
           1,
           NULL,
           "u32",
           35,
           4,
           PTX_ACCESS_WRITE,
           PTX_GLOBAL,
           GR_SITE_CHECKED,
           false,
           {NULL, NULL, 0, 0}},
    [3] = {{"_Z6reducePf", "golden/sample.cu", 7, 17},
           NULL,
           0,
           "_Z6reducePf",
           "f32",
           39,
           4,
           PTX_ACCESS_READ,
           PTX_SHARED,
           GR_SITE_CHECKED,
           false,
           {NULL, NULL, 0, 0}},
    [4] = {{"_Z6reducePf", "golden/sample.cu", 9, 1},
           NULL,
           0,
           "_Z6reducePf",
           "u32",
           41,
           4,
           PTX_ACCESS_RMW,
           PTX_GLOBAL,
           GR_SITE_STRONG,
           false,
           {NULL, NULL, 0, 0}},
    [5] = {{"plain", NULL, 0, 0},
           NULL,
           0,
           "plain",
           "b8",
           60,
           1,
           PTX_ACCESS_WRITE,
           PTX_GENERIC,
           GR_SITE_CHECKED,
           false,
           {NULL, NULL, 0, 0}},
    [6] = {{"plain", NULL, 0, 0},
           NULL,
           0,
           "plain",
           "b8",
           61,
           1,
           PTX_ACCESS_WRITE,
           PTX_LOCAL,
           GR_SITE_PRIVATE,
           false,
           {NULL, NULL, 0, 0}},
};

static unsigned room; // for meetings, behind a module's slots

static GrSlot *add_module(GrResults *r, uint64_t number, const char *name, const char *unchecked) {
    static const char *kernels[] = {"_Z6reducePf", "plain", "never"};
    GrModuleInfo m = {.number = number,
                      .hash = 77 + number,
                      .name = name,
                      .unchecked = unchecked,
                      .kernels = kernels,
                      .n_kernels = 3,
                      .n_sites = SITES,
                      .sites = sites};
    if (unchecked)
        m.n_kernels = m.n_sites = 0;
    m.slot_bytes = ((uint64_t)m.n_sites + 1) * GR_CLASS_COUNT * sizeof(GrSlot) + room * sizeof(GrMeeting);
    GrSlot *slots = gr_results_area(r, m.slot_bytes, &m.slots);
    assert_non_null(slots);
    StrBuf b = {0};
    gr_module_write(&m, &b);
    append(r, GR_RECORD_MODULE, &b);
    return slots;
}

static void add_kernel(GrResults *r, uint64_t index, uint64_t module, const char *name, GrKernelCounts n) {
    StrBuf b = {0};
    uint64_t offset;
    GrKernelCounts *counts = gr_results_area(r, sizeof n, &offset);
    assert_non_null(counts);
    *counts = n;
    gr_put_u64(&b, index);
    gr_put_u64(&b, module);
    gr_put_str(&b, name);
    gr_put_u64(&b, offset);
    append(r, GR_RECORD_KERNEL, &b);
}

static void add_log(GrResults *r, const uint32_t *kernels, uint64_t n) {
    StrBuf b = {0};
    uint64_t offset;
    uint32_t *log = gr_results_area(r, n * sizeof *log, &offset);
    assert_non_null(log);
    memcpy(log, kernels, n * sizeof *log);
    gr_put_u64(&b, 1);
    gr_put_u64(&b, n);
    gr_put_u64(&b, offset);
    append(r, GR_RECORD_LAUNCH_LOG, &b);
}

static void set_slot(GrSlot *slots, uint32_t site, GrRaceClass class, GrSlot s, uint64_t expected,
                     uint64_t seen) {
    s.state = GR_SLOT_READY;
    memcpy(s.expected, &expected, 8);
    memcpy(s.seen, &seen, 8);
    slots[site * GR_CLASS_COUNT + class] = s;
}

static void end_process(GrResults *r, uint64_t unfinished) {
    StrBuf b = {0};
    gr_put_u64(&b, unfinished);
    append(r, GR_RECORD_PROCESS_END, &b);
}

static void make_racy_run(GrResults *r) {
    append_text(r, GR_RECORD_PROCESS_BEGIN, "");
    GrSlot *slots = add_module(r, 1, "sample.cu", NULL);
    add_kernel(r, 0, 1, "_Z6reducePf",
               (GrKernelCounts){.launches = 3, .grid = {4, 1, 1}, .block = {64, 1, 1}});
    add_kernel(r, 1, 1, "plain", (GrKernelCounts){.launches = 1, .grid = {1, 1, 1}, .block = {32, 1, 1}});
    add_log(r, (const uint32_t[]){1, 2, 1, 1}, 4);
    set_slot(slots, 1, GR_CLASS_CLOBBERED_READ,
             (GrSlot){.count = 40,
                      .launch = 1,
                      .address = 0x84,
                      .thread = {33, 0, 0},
                      .block = {2, 0, 0},
                      .space = 1,
                      .size = 4},
             0x3f800000, 0x40200000);
    set_slot(slots, 3, GR_CLASS_CLOBBERED_READ,
             (GrSlot){.count = 2, .launch = 3, .address = 0x88, .thread = {1, 0, 0}, .space = 1, .size = 4},
             1, 2);
    set_slot(slots, 2, GR_CLASS_LOST_UPDATE,
             (GrSlot){.count = 1, .launch = 3, .address = 0x7f0000001000, .thread = {5, 1, 0}, .size = 4}, 7,
             8);
    set_slot(slots, 5, GR_CLASS_INTRA_WARP,
             (GrSlot){.count = 9,
                      .launch = 2,
                      .address = 0x7f0000002003,
                      .lanes = 0x80000005,
                      .stored = {5, 0x80000000},
                      .size = 1},
             1, 255);
    slots[5 * GR_CLASS_COUNT + GR_CLASS_INTRA_WARP_SAME].count = 3; // stopped before it could say more
}

static void build(GrReport *report, const char *device) {
    GrResultsView v;
    assert_int_equal(gr_results_open(path, &v, &err), GR_OK);
    if (!*report->engine) {
        report->engine = "collider";
        report->evidence = "value changed";
        report->reproduce = "gpurace run --engine collider --device cpu --seed 1 -- ./sample";
    }
    report->device = device;
    report->seed = 1;
    assert_int_equal(gr_report_build(report, &v, &err), GR_OK);
    gr_results_close(&v);
}

static void compare_file(const char *name, const StrBuf *now) {
    char file[64];
    snprintf(file, sizeof file, "golden/%s", name);
    if (getenv("UPDATE_GOLDEN"))
        assert_int_equal(gr_file_write(file, now->data, now->len, &err), GR_OK);
    char *golden;
    size_t len;
    assert_int_equal(gr_file_read(file, &golden, &len, &err), GR_OK);
    assert_string_equal(now->data, golden);
    free(golden);
}

static void compare_report_of(const char *name, const char *engine, const char *evidence,
                              const char *reproduce) {
    char file[64];
    GrReport report;
    gr_report_init(&report);
    report.engine = engine;
    report.evidence = evidence;
    report.reproduce = reproduce;
    build(&report, "cpu");
    StrBuf text = {0}, json = {0};
    gr_report_text(&report, &text);
    assert_int_equal(gr_report_json(&report, &json, &err), GR_OK);
    snprintf(file, sizeof file, "%s.txt", name);
    compare_file(file, &text);
    snprintf(file, sizeof file, "%s.json", name);
    compare_file(file, &json);
    gr_str_free(&text);
    gr_str_free(&json);
    gr_report_free(&report);
}

static void compare_report(const char *name) { compare_report_of(name, "", "", ""); }

static void test_races(void **state) {
    (void)state;
    GrResults r;
    assert_int_equal(gr_results_attach(path, &r, &err), GR_OK);
    make_racy_run(&r);
    end_process(&r, 0);
    gr_results_detach(&r);
    compare_report("races");
}

static void add_pair(GrResults *r, const GrRaceInfo *info) {
    StrBuf b = {0};
    GrRaceInfo i = *info;
    uint64_t *count = gr_results_area(r, sizeof *count, &i.count_at);
    assert_non_null(count);
    *count = 3;
    gr_race_write(&i, &b);
    append(r, GR_RECORD_RACE, &b);
}

static void add_misuse(GrResults *r, const char *file, uint32_t line) {
    StrBuf b = {0};
    const GrFrame inlined[] = {{"_Z5outeri", "golden/sample.cu", 5, 3},
                               {"_Z6reducePf", "golden/sample.cu", 7, 0}};
    GrMisuseInfo m = {.class = "mbarrier initialized twice",
                      .meaning = "what it means",
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
    append(r, GR_RECORD_MISUSE, &b);
}

// Races of which both sides are known: who did what where, in one sentence.
static void test_pairs(void **state) {
    (void)state;
    GrResults r;
    assert_int_equal(gr_results_attach(path, &r, &err), GR_OK);
    append_text(&r, GR_RECORD_PROCESS_BEGIN, "");
    add_module(&r, 1, "sample.cu", NULL);
    add_kernel(&r, 0, 1, "_Z6reducePf",
               (GrKernelCounts){.launches = 2, .grid = {4, 1, 1}, .block = {64, 1, 1}});
    add_log(&r, (const uint32_t[]){1, 1}, 2);
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
    add_pair(&r,
             &(GrRaceInfo){.class = RACE_READ_WRITE,
                           .space = 1,
                           .side = {load, store},
                           .overlap_bytes = 4,
                           .order = "both are lanes of one warp, and no __syncwarp() or barrier is between"});
    GrRaceSide far = atomic;
    far.scope = PTX_SCOPE_GPU;
    far.block[0] = 3;
    add_pair(&r, &(GrRaceInfo){
                     .class = RACE_SCOPE,
                     .side = {far, atomic},
                     .overlap = 0x7f0000001000,
                     .overlap_bytes = 4,
                     .order = "scope .cta is too narrow: they are in two blocks, which takes .gpu or wider"});
    GrRaceSide other = store;
    other.launch = 2;
    add_pair(&r,
             &(GrRaceInfo){.class = RACE_SAME_VALUE,
                           .side = {other, store},
                           .overlap = 0x7f0000002000,
                           .overlap_bytes = 4,
                           .order = "no stream order, event or synchronization between the two launches"});
    GrRaceSide flag = load, seen = atomic;
    flag.marks = GR_SIDE_VOLATILE;
    flag.scope = seen.scope = PTX_SCOPE_SYS;
    add_pair(&r, &(GrRaceInfo){.class = RACE_VOLATILE,
                               .side = {flag, seen},
                               .overlap = 0x7f0000001000,
                               .overlap_bytes = 4,
                               .order = "no __syncthreads() or other barrier of both warps between"});
    GrRaceSide hoisted = load, copy = {.by = GR_SIDE_COPY, .access = PTX_ACCESS_WRITE, .launch = 3};
    hoisted.marks = GR_SIDE_DISCARDED;
    add_pair(&r, &(GrRaceInfo){.class = RACE_SPECULATED,
                               .space = 1,
                               .side = {store, hoisted},
                               .overlap_bytes = 4,
                               .order = "no __syncthreads() or other barrier of both warps between"});
    add_pair(&r, &(GrRaceInfo){.class = RACE_READ_WRITE,
                               .side = {copy, load},
                               .overlap = 0x7f0000003000,
                               .overlap_bytes = 2,
                               .order = "no stream order, event or synchronization between the two"});
    add_misuse(&r, "golden/sample.cu", 3);
    add_misuse(&r, "golden/sample.cu", 3); // once more: one entry
    add_misuse(&r, NULL, 0);
    end_process(&r, 0);
    gr_results_detach(&r);
    compare_report_of("pairs", "exact", "unordered by causality",
                      "gpurace run --engine exact --device cpu --seed 1 -- ./sample");
}

// A race that a watchpoint saw in launch 1, and causality did not; a fault ends launch `faulted`, 0: none. How many races are said not to be confirmed.
static uint64_t unconfirmed(uint64_t faulted, bool *judged, bool *remarked) {
    GrResults r;
    GrReport report;
    assert_int_equal(gr_results_create(path, &err), GR_OK);
    assert_int_equal(gr_results_attach(path, &r, &err), GR_OK);
    append_text(&r, GR_RECORD_PROCESS_BEGIN, "");
    add_module(&r, 1, "sample.cu", NULL);
    GrRaceSide load = {.module = 1, .site = 1, .access = PTX_ACCESS_READ, .launch = 1, .size = 4},
               store = {.module = 1, .site = 2, .access = PTX_ACCESS_WRITE, .launch = 1, .size = 4};
    add_pair(&r, &(GrRaceInfo){.class = RACE_READ_WRITE,
                               .seen_by = GR_SEEN_BY_WATCHPOINT,
                               .side = {load, store},
                               .overlap_bytes = 4,
                               .order = "nothing"});
    if (faulted) {
        StrBuf b = {0};
        gr_put_str(&b, "_Z6reducePf");
        gr_put_str(&b, "was stopped by the device: illegal address");
        gr_put_u64(&b, faulted);
        append(&r, GR_RECORD_FAULT, &b);
    }
    end_process(&r, 0);
    gr_results_detach(&r);
    gr_report_init(&report);
    report.engine = report.evidence = report.reproduce = "";
    report.first = (struct GrSecondOpinion){"collider", "value changed"};
    report.causal = (struct GrSecondOpinion){"exact", "unordered by causality"};
    build(&report, "cpu");
    assert_int_equal(report.races.len, 1);
    *judged = report.races.data[0].judged;
    *remarked = report.remarks.len == 1 && strstr(report.remarks.data[0].text, "a fault ended") != NULL;
    uint64_t n = report.unconfirmed;
    gr_report_free(&report);
    return n;
}

static void test_cut_short_by_a_fault(void **state) {
    (void)state;
    bool judged, remarked;
    assert_int_equal(unconfirmed(0, &judged, &remarked), 1);
    assert_true(judged && !remarked);
    assert_int_equal(unconfirmed(2, &judged, &remarked), 1); // another launch
    assert_true(judged && !remarked);
    assert_int_equal(unconfirmed(1, &judged, &remarked), 0);
    assert_true(!judged && remarked);
}

// Shared memory of other blocks, by its place in the cluster's window.
static void test_cluster_addresses(void **state) {
    (void)state;
    static const struct {
        GrSlot slot;
        const char *says;
    } rows[] = {
        {{.address = GR_CPU_SHARED_WINDOW + 0x30000fc},
         "shared address, offset 0xfc of block 3 of the cluster"},
        {{.address = GR_CPU_SHARED_WINDOW + 0x10}, "shared address, offset 0x10 of block 0 of the cluster"},
        {{.address = 0x1000020, .space = 1}, "shared address, offset 0x20 of block 1 of the cluster"},
        {{.address = 0x20, .space = 1}, "shared address, offset 0x20\n"},
        {{.address = GR_CPU_SHARED_WINDOW - 4}, "global address 0x80fffffffffc\n"},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        GrResults r;
        GrReport report;
        StrBuf text = {0};
        if (k)
            assert_int_equal(gr_results_create(path, &err), GR_OK);
        assert_int_equal(gr_results_attach(path, &r, &err), GR_OK);
        append_text(&r, GR_RECORD_PROCESS_BEGIN, "");
        GrSlot *slots = add_module(&r, 1, "sample.cu", NULL), slot = rows[k].slot;
        slot.count = slot.launch = 1;
        slot.size = 4;
        set_slot(slots, 1, GR_CLASS_CLOBBERED_READ, slot, 1, 2);
        end_process(&r, 0);
        gr_results_detach(&r);
        gr_report_init(&report);
        build(&report, "cpu");
        gr_report_text(&report, &text);
        if (!strstr(text.data, rows[k].says))
            fail_msg("row %zu: %s", k, text.data);
        gr_str_free(&text);
        gr_report_free(&report);
    }
}

static void expect_targets(const GrReport *report, const GrResultsView *v, size_t races,
                           const char *targets) {
    StrBuf out = {0};
    assert_int_equal(gr_replay_targets(report, v, &out), races);
    assert_string_equal(out.data, targets);
    gr_str_free(&out);
}

// Of what a replay left, only what makes sense gives a race its other side.
static void test_replay(void **state) {
    (void)state;
    GrResults r;
    GrReport report;
    GrResultsView first, second;
    assert_int_equal(gr_results_attach(path, &r, &err), GR_OK);
    make_racy_run(&r);
    end_process(&r, 0);
    gr_results_detach(&r);
    gr_report_init(&report);
    build(&report, "cpu");
    char *copy;
    size_t len;
    assert_int_equal(gr_file_read(path, &copy, &len, &err), GR_OK);
    assert_int_equal(gr_results_parse(copy, len, &first, &err), GR_OK);
    expect_targets(&report, &first, 2, "4e.2 4e.1 4e.3");

    const GrMeetSide reader = {.launch = 3, .address = 0x88, .module = 1, .site = 3, .size = 4, .ready = 1};
    const GrMeetSide writer = {
        .launch = 3, .address = 0x89, .module = 1, .site = 5, .thread = {7, 1, 0}, .size = 1, .ready = 1};
    GrMeeting all[7];
    for (unsigned k = 0; k < 7; k++)
        all[k] = (GrMeeting){.state = GR_SLOT_CLAIMED, .space = 1, .first = reader, .other = writer};
    memset(all[0].other.thread, 0, sizeof all[0].other.thread); // itself
    all[1].other.address = 0x8c;                                // beside it
    all[2].other.module = 9;                                    // nobody
    all[3].other.site = 100;
    all[4].other.ready = 0;  // was stopped
    all[5].other.launch = 4; // shared memory of another launch
    all[6].first.site = 1;   // and this one is right
    assert_int_equal(gr_results_create(path, &err), GR_OK);
    assert_int_equal(gr_results_attach(path, &r, &err), GR_OK);
    room = 7;
    GrSlot *slots = add_module(&r, 1, "sample.cu", NULL);
    room = 0;
    memcpy(slots + ((size_t)SITES + 1) * GR_CLASS_COUNT, all, sizeof all);
    gr_results_detach(&r);
    assert_int_equal(gr_results_open(path, &second, &err), GR_OK);
    assert_int_equal(gr_replay_take(&report, &second, 2, 41, &err), GR_OK);
    gr_results_close(&second);
    report.replays = 2;
    expect_targets(&report, &first, 1, "4e.2");

    StrBuf text = {0}, json = {0};
    gr_report_text(&report, &text);
    assert_non_null(strstr(text.data, "other side, caught by a replay: sample.cu, PTX line 60"));
    assert_non_null(strstr(
        text.data, "store of 1 byte, thread (7,1,0), block (0,0,0), shared address, offset 0x89, launch 3"));
    assert_non_null(strstr(text.data, "the two met in replay 2 (seed 41), not in the first run"));
    assert_non_null(strstr(text.data, "other side: not known: in 2 replays"));
    assert_int_equal(gr_report_json(&report, &json, &err), GR_OK);
    assert_non_null(strstr(json.data, "\"seed\": 41"));
    gr_str_free(&text);
    gr_str_free(&json);
    gr_results_release(&first);
    free(copy);
    gr_report_free(&report);
}

static void test_clean(void **state) {
    (void)state;
    GrResults r;
    assert_int_equal(gr_results_attach(path, &r, &err), GR_OK);
    append_text(&r, GR_RECORD_PROCESS_BEGIN, "");
    add_module(&r, 1, "sample.cu", NULL);
    add_kernel(&r, 0, 1, "plain", (GrKernelCounts){.launches = 1, .grid = {1, 1, 1}, .block = {32, 1, 1}});
    append_text(&r, GR_RECORD_REMARK, "the host polls: this run may not be repeatable");
    end_process(&r, 0);
    gr_results_detach(&r);
    compare_report("clean");
}

static void test_inconclusive(void **state) {
    (void)state;
    GrResults r;
    assert_int_equal(gr_results_attach(path, &r, &err), GR_OK);
    append_text(&r, GR_RECORD_PROCESS_BEGIN, "");
    add_kernel(&r, 0, 2, "_Z4coldi", // its module's record comes later
               (GrKernelCounts){
                   .launches = 2, .failed = 1, .last_error = 700, .grid = {1, 1, 1}, .block = {1, 1, 1}});
    add_module(&r, 2, "module 2", "it holds no PTX");
    append_text(&r, GR_RECORD_ABSENT, "cuGraphCreate");
    append_text(&r, GR_RECORD_NOTE, "something was not understood");
    append_text(&r, GR_RECORD_NOTE, "something was not understood");
    StrBuf b = {0};
    gr_put_str(&b, "_Z4coldi");
    gr_put_str(&b, "was stopped by the device: illegal address");
    gr_put_u64(&b, 1);
    append(&r, GR_RECORD_FAULT, &b);
    gr_results_count_dropped(&r);
    end_process(&r, 1);
    gr_results_detach(&r);
    assert_int_equal(gr_results_attach(path, &r, &err), GR_OK);
    append_text(&r, GR_RECORD_PROCESS_BEGIN, ""); // a second process, which never ends
    gr_results_detach(&r);
    compare_report("inconclusive");
}

// What an engine left as it was stands against a clean verdict only where it may have run.
static void test_not_understood(void **state) {
    (void)state;
    GrResults r;
    assert_int_equal(gr_results_attach(path, &r, &err), GR_OK);
    append_text(&r, GR_RECORD_PROCESS_BEGIN, "");
    GrSiteInfo saved[SITES + 1];
    memcpy(saved, sites, sizeof saved);
    for (int s = 1; s <= SITES; s++)
        sites[s].status = GR_SITE_NOT_UNDERSTOOD;
    add_module(&r, 1, "sample.cu", NULL);
    memcpy(sites, saved, sizeof saved);
    add_kernel(&r, 0, 1, "_Z6reducePf",
               (GrKernelCounts){.launches = 1, .grid = {1, 1, 1}, .block = {1, 1, 1}});
    end_process(&r, 0);
    gr_results_detach(&r);
    GrReport report;
    gr_report_init(&report);
    build(&report, "cpu");
    assert_int_equal(report.verdict, GR_VERDICT_INCONCLUSIVE);
    assert_int_equal(report.sites[GR_SITE_NOT_UNDERSTOOD], SITES);
    assert_int_equal(report.reasons.len, 2); // of `plain`, which was not launched, nothing
    assert_string_equal(
        report.reasons.data[0].text,
        "3 memory accesses of kernel reduce(float*) were not understood and not checked, the first at "
        "golden/sample.cu:7");
    assert_string_equal(
        report.reasons.data[1].text,
        "1 memory access of device functions was not understood and not checked, at golden/sample.cu:8");
    gr_report_free(&report);
}

static void test_nothing_happened(void **state) {
    (void)state;
    GrReport report;
    gr_report_init(&report);
    build(&report, "cpu");
    assert_int_equal(report.verdict, GR_VERDICT_INCONCLUSIVE);
    assert_string_equal(report.reasons.data[0].text, "the program did not use CUDA");
    gr_report_free(&report);
}

// An engine that contradicts itself is not believed: neither its races nor that there are none.
static void test_failed_check(void **state) {
    (void)state;
    GrResults r;
    assert_int_equal(gr_results_attach(path, &r, &err), GR_OK);
    make_racy_run(&r);
    append_text(&r, GR_RECORD_DOUBT, "two reads were taken for a race");
    end_process(&r, 0);
    gr_results_detach(&r);
    GrReport report;
    gr_report_init(&report);
    build(&report, "cpu");
    assert_int_equal(report.races.len, 4);
    assert_int_equal(report.verdict, GR_VERDICT_INCONCLUSIVE);
    StrBuf b = {0};
    gr_report_text(&report, &b);
    assert_non_null(strstr(b.data, "verdict: inconclusive"));
    assert_non_null(strstr(b.data, "an internal check failed: two reads were taken for a race"));
    gr_str_free(&b);
    gr_report_free(&report);
}

// Two processes that did the same (a program run by MPI): one race, counts added, modules counted once.
static void test_processes_merge(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        GrResults r;
        assert_int_equal(gr_results_attach(path, &r, &err), GR_OK);
        make_racy_run(&r);
        end_process(&r, 0);
        gr_results_detach(&r);
    }
    GrReport report;
    gr_report_init(&report);
    build(&report, "cpu");
    assert_int_equal(report.races.len, 4);
    assert_int_equal(report.races.data[2].count, 2);
    assert_int_equal(report.races.data[3].n_sites, 4);
    assert_int_equal(report.races.data[3].count, 84);
    assert_int_equal(report.modules_checked, 1);
    assert_int_equal(report.launches_checked, 8);
    assert_int_equal(report.verdict, GR_VERDICT_RACES);
    // Paths below the folder in which the command runs are shown relative to it, others as they are.
    StrBuf text = {0};
    report.folder = "golden";
    gr_report_text(&report, &text);
    assert_non_null(strstr(text.data, "\nsample.cu:3:5: data race"));
    gr_str_free(&text);
    report.folder = "gold";
    gr_report_text(&report, &text);
    assert_non_null(strstr(text.data, "\ngolden/sample.cu:3:5: data race"));
    gr_str_free(&text);
    gr_report_free(&report);
}

// Every changed byte of a module's record gives a report or an error, never a crash; nonsense is never "clean".
static void test_hostile_payloads(void **state) {
    (void)state;
    GrModuleInfo m = {.number = 1,
                      .name = "m",
                      .kernels = (const char *[]){"k"},
                      .n_kernels = 1,
                      .n_sites = SITES,
                      .sites = sites,
                      .functions = (GrFunctionInfo[]){{"k", 7, true, 1, 4, NULL, 0},
                                                      {"f", 8, false, 5, 2, (const uint32_t[]){0}, 1}},
                      .n_functions = 2};
    StrBuf b = {0};
    gr_module_write(&m, &b);
    for (size_t i = 0; i < b.len; i++)
        for (int bit = 0; bit < 8; bit++) {
            b.data[i] ^= (char)(1 << bit);
            Arena arena;
            gr_arena_init(&arena);
            GrModuleInfo back;
            GrRecord rec = {GR_RECORD_MODULE, 1, (const uint8_t *)b.data, b.len};
            gr_module_read(&rec, &arena, &back, &err);
            rec.size = i;
            assert_int_equal(gr_module_read(&rec, &arena, &back, &err), GR_ERR_FORMAT);
            gr_arena_free(&arena);
            b.data[i] ^= (char)(1 << bit);
        }
    gr_str_free(&b);
}

static void test_values(void **state) {
    (void)state;
    static const struct {
        uint64_t bits;
        uint32_t size;
        const char *text;
    } cases[] = {
        {0x3fc00000, 4, "0x3fc00000 (1069547520, as a float 1.5)"},
        {5, 4, "0x00000005 (5)"},
        {0x7fc00000, 4, "0x7fc00000 (2143289344)"},
        {0x4000000000000000, 8, "0x4000000000000000 (4611686018427387904, as a float 2)"},
        {0xff, 1, "0xff (255)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        StrBuf b = {0};
        gr_value_text((const uint8_t *)&cases[i].bits, cases[i].size, &b);
        assert_string_equal(b.data, cases[i].text);
        gr_str_free(&b);
    }
}

static void test_names(void **state) {
    (void)state;
    static const struct {
        const char *name, *text;
    } cases[] = {
        {"plain_c_name", "plain_c_name"},
        {"_Z6reducePf", "reduce(float*)"},
        {"_ZN3cub6detail6reduce18DeviceReduceKernelINS1_10policy_"
         "hubIijN4cuda3std4plusIiEEE10Policy1000EPijS7_iNS5_10"
         "__identityEEEvT0_PT3_T1_NS_13GridEvenShareISD_EET2_T4_",
         "void cub::detail::reduce::DeviceReduceKernel<...>(...)"},
        {"_Znonsense", "_Znonsense"},
    };
    Arena arena;
    gr_arena_init(&arena);
    if (strcmp(gr_demangle("_Z6reducePf", &arena), "_Z6reducePf")) // else there is no C++ library here
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
            assert_string_equal(gr_short_name(cases[i].name, &arena), cases[i].text);
    gr_arena_free(&arena);
}

// ---- memory that runs out ------------------------------------------------------------------------------------------------------------

static size_t count_of(const StrBuf *b, const char *word) {
    size_t n = 0;
    for (const char *p = b->data; p && (p = strstr(p, word)); p++)
        n++;
    return n;
}

// Builds and writes the report. What says that it succeeded has all races; names may be as the linker has them, and the source unread.
static bool report_once(void *user, bool must) {
    size_t *races = user;
    GrResultsView v;
    GrReport r;
    StrBuf text = {0}, json = {0};
    gr_report_init(&r);
    r.engine = r.evidence = r.reproduce = r.device = "x";
    gr_status st = gr_results_open(path, &v, &err), built = st;
    if (st == GR_OK) {
        built = gr_report_build(&r, &v, &err);
        gr_results_close(&v);
    }
    if (built == GR_OK)
        gr_report_text(&r, &text);
    gr_status in_json = built == GR_OK ? gr_report_json(&r, &json, &err) : built;
    unsigned long at = nomem_fails_at;
    nomem_stop();
    if (must)
        *races = r.races.len;
    if (built == GR_OK && !text.oom &&
        (count_of(&text, "data race: ") != *races || count_of(&text, "gpurace: verdict: races") != 1))
        fail_msg("the text lacks races when allocation %lu fails", at);
    if (in_json == GR_OK && count_of(&json, "\"class\"") < *races)
        fail_msg("the JSON lacks races when allocation %lu fails", at);
    if ((st != GR_OK && st != GR_ERR_NOMEM && st != GR_ERR_IO) ||
        (st == GR_OK && built != GR_OK && built != GR_ERR_NOMEM))
        fail_msg("when allocation %lu fails: %s", at, err.msg);
    gr_str_free(&text);
    gr_str_free(&json);
    gr_report_free(&r);
    return in_json == GR_OK;
}

static void test_no_memory(void **state) {
    (void)state;
    GrResults r;
    size_t races = 0;
    assert_int_equal(gr_results_attach(path, &r, &err), GR_OK);
    make_racy_run(&r);
    end_process(&r, 0);
    gr_results_detach(&r);
    json_set_alloc_funcs(__wrap_malloc, free);
    assert_true(nomem_each(report_once, &races, 2000) > 300);
    json_set_alloc_funcs(malloc, free);
    assert_true(races > 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, new_file, remove_file)

int main(void) {
    if (chdir(GOLDEN_DIR))
        return 1;
    const struct CMUnitTest tests[] = {
        TEST(test_races),
        TEST(test_pairs),
        TEST(test_cluster_addresses),
        TEST(test_replay),
        TEST(test_clean),
        TEST(test_inconclusive),
        TEST(test_not_understood),
        TEST(test_nothing_happened),
        TEST(test_failed_check),
        TEST(test_processes_merge),
        TEST(test_cut_short_by_a_fault),
        TEST(test_no_memory),
        cmocka_unit_test(test_hostile_payloads),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
