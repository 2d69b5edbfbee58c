// SPDX-License-Identifier: Apache-2.0
#include "report_rig.h"
#include "../findings/attach.h"
#include "base/outfile.h"
#include "engines/collider/decode.h"
#include "engines/collider/device/meet.h"
#include "engines/core/engine.h"
#include "engines/exact/classes.h"
#include "ptx/ptx.h"
#include "report/read/read_report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

gr_error rig_err;
char rig_path[64];

int rig_new_file(void **state) {
    (void)state;
    strcpy(rig_path, "/tmp/gpurace-test-report-XXXXXX");
    close(mkstemp(rig_path));
    return gr_results_create(rig_path, &rig_err) == GR_OK ? 0 : -1;
}

int rig_remove_file(void **state) {
    (void)state;
    return unlink(rig_path);
}

void rig_empty_file(void) { assert_int_equal(gr_results_create(rig_path, &rig_err), GR_OK); }

void rig_attach(GrResults *r) { assert_int_equal(attach(rig_path, r, &rig_err), GR_OK); }

void rig_append(GrResults *r, GrRecordKind kind, StrBuf *b) {
    gr_results_append(r, kind, b);
    gr_str_free(b);
}

void rig_text(GrResults *r, GrRecordKind kind, const char *text) {
    StrBuf b = {0};
    gr_put_str(&b, text);
    rig_append(r, kind, &b);
}

static const GrFrame caller = {"_Z6reducePf", "golden/sample.cu", 8, 12};

GrSiteInfo rig_sites[RIG_SITES + 1] = {
    [1] = {.at = {"_Z6reducePf", "golden/sample.cu", 7, 17},
           .kernel = "_Z6reducePf",
           .variable = "_ZZ6reducePfE4sums",
           .type = "f32",
           .ptx_line = 31,
           .size = 4,
           .access = PTX_ACCESS_READ,
           .space = PTX_SHARED,
           .status = GR_SITE_CHECKED},
    [2] = {.at = {"add_up", "golden/sample.cu", 3, 5},
           .inlined = &caller,
           .n_inlined = 1,
           .type = "u32",
           .ptx_line = 35,
           .size = 4,
           .access = PTX_ACCESS_WRITE,
           .space = PTX_GLOBAL,
           .status = GR_SITE_CHECKED},
    [3] = {.at = {"_Z6reducePf", "golden/sample.cu", 7, 17},
           .kernel = "_Z6reducePf",
           .variable = "_ZZ6reducePfE4sums",
           .type = "f32",
           .ptx_line = 39,
           .size = 4,
           .access = PTX_ACCESS_READ,
           .space = PTX_SHARED,
           .status = GR_SITE_CHECKED},
    [4] = {.at = {"_Z6reducePf", "golden/sample.cu", 9, 1},
           .kernel = "_Z6reducePf",
           .type = "u32",
           .ptx_line = 41,
           .size = 4,
           .access = PTX_ACCESS_RMW,
           .space = PTX_GLOBAL,
           .status = GR_SITE_STRONG},
    [5] = {.at = {"plain", NULL, 0, 0},
           .kernel = "plain",
           .argument = 2,
           .type = "b8",
           .ptx_line = 60,
           .size = 1,
           .access = PTX_ACCESS_WRITE,
           .space = PTX_GENERIC,
           .status = GR_SITE_CHECKED},
    [6] = {.at = {"plain", NULL, 0, 0},
           .kernel = "plain",
           .type = "b8",
           .ptx_line = 61,
           .size = 1,
           .access = PTX_ACCESS_WRITE,
           .space = PTX_LOCAL,
           .status = GR_SITE_PRIVATE},
};

unsigned rig_room;
const GrAreaTag *rig_tag;
bool rig_short;

GrSlot *rig_module(GrResults *r, uint64_t number, const char *name, const char *unchecked) {
    static const char *kernels[] = {"_Z6reducePf", "plain", "never"};
    GrModuleInfo m = {.number = number,
                      .hash = 77 + number,
                      .name = name,
                      .unchecked = unchecked,
                      .kernels = kernels,
                      .n_kernels = 3,
                      .n_sites = RIG_SITES,
                      .sites = rig_sites};
    if (unchecked)
        m.n_kernels = m.n_sites = 0;
    m.area_tag = rig_tag ? *rig_tag : gr_collider_decoder.tag;
    m.area_bytes = gr_collider_slot_bytes(m.n_sites) + rig_room * sizeof(GrMeeting);
    GrSlot *slots = gr_results_area(r, m.area_bytes, &m.area);
    assert_non_null(slots);
    m.area_bytes -= rig_short;
    StrBuf b = {0};
    gr_module_write(&m, &b);
    rig_append(r, GR_RECORD_MODULE, &b);
    return slots;
}

void rig_kernel(GrResults *r, uint64_t index, uint64_t module, const char *name, GrKernelCounts n) {
    StrBuf b = {0};
    uint64_t offset;
    GrKernelCounts *counts = gr_results_area(r, sizeof n, &offset);
    assert_non_null(counts);
    *counts = n;
    gr_put_u64(&b, index);
    gr_put_u64(&b, module);
    gr_put_str(&b, name);
    gr_put_u64(&b, offset);
    rig_append(r, GR_RECORD_KERNEL, &b);
}

void rig_log(GrResults *r, const uint32_t *kernels, uint64_t n) {
    StrBuf b = {0};
    uint64_t offset;
    GrLogged *log = gr_results_area(r, n * sizeof *log, &offset);
    assert_non_null(log);
    for (uint64_t k = 0; k < n; k++)
        log[k] = (GrLogged){kernels[k], 0};
    gr_put_u64(&b, 1);
    gr_put_u64(&b, n);
    gr_put_u64(&b, offset);
    rig_append(r, GR_RECORD_LAUNCH_LOG, &b);
}

void rig_slot(GrSlot *slots, uint32_t site, GrRaceClass class, GrSlot s, uint64_t expected, uint64_t seen) {
    s.state = GR_SLOT_READY;
    memcpy(s.expected, &expected, 8);
    memcpy(s.seen, &seen, 8);
    slots[site * GR_CLASS_COUNT + class] = s;
}

void rig_end(GrResults *r, uint64_t unfinished) {
    StrBuf b = {0};
    gr_put_u64(&b, unfinished);
    rig_append(r, GR_RECORD_PROCESS_END, &b);
    gr_results_detach(r);
}

void rig_racy_run(GrResults *r) {
    rig_text(r, GR_RECORD_PROCESS_BEGIN, "");
    GrSlot *slots = rig_module(r, 1, "sample.cu", NULL);
    rig_kernel(r, 0, 1, "_Z6reducePf",
               (GrKernelCounts){.launches = 3, .grid = {4, 1, 1}, .block = {64, 1, 1}});
    rig_kernel(r, 1, 1, "plain", (GrKernelCounts){.launches = 1, .grid = {1, 1, 1}, .block = {32, 1, 1}});
    rig_log(r, (const uint32_t[]){1, 2, 1, 1}, 4);
    rig_slot(slots, 1, GR_CLASS_CLOBBERED_READ,
             (GrSlot){.count = 40,
                      .launch = 1,
                      .address = 0x84,
                      .thread = {33, 0, 0},
                      .block = {2, 0, 0},
                      .space = 1,
                      .size = 4},
             0x3f800000, 0x40200000);
    rig_slot(slots, 3, GR_CLASS_CLOBBERED_READ,
             (GrSlot){.count = 2, .launch = 3, .address = 0x88, .thread = {1, 0, 0}, .space = 1, .size = 4},
             1, 2);
    rig_slot(slots, 2, GR_CLASS_LOST_UPDATE,
             (GrSlot){.count = 1, .launch = 3, .address = 0x7f0000001000, .thread = {5, 1, 0}, .size = 4}, 7,
             8);
    rig_slot(slots, 5, GR_CLASS_INTRA_WARP,
             (GrSlot){.count = 9,
                      .launch = 2,
                      .address = 0x7f0000002003,
                      .lanes = 0x80000005,
                      .stored = {5, 0x80000000},
                      .size = 1},
             1, 255);
    slots[5 * GR_CLASS_COUNT + GR_CLASS_INTRA_WARP_SAME].count = 3; // stopped before it could say more
}

void rig_build(GrReport *report, const char *device) {
    GrResultsView v;
    assert_int_equal(gr_results_open(rig_path, &v, &rig_err), GR_OK);
    if (!*report->engine) {
        report->engine = "collider";
        report->evidence = "value changed";
        report->reproduce = "gpurace run --engine collider --device cpu --seed 1 -- ./sample";
    }
    report->find_class = gr_engine_class;
    report->find_decoder = gr_engine_decoder;
    report->device = device;
    report->seed = 1;
    assert_int_equal(gr_report_build(report, &v, &rig_err), GR_OK);
    gr_results_close(&v);
}

void rig_report(GrReport *report) {
    gr_report_init(report);
    rig_build(report, "cpu");
}

void rig_pair(GrResults *r, const GrRaceInfo *info) {
    StrBuf b = {0};
    GrRaceInfo i = *info;
    i.class = gr_exact_classes[info->class].number;
    uint64_t *count = gr_results_area(r, sizeof *count, &i.count_at);
    assert_non_null(count);
    *count = 3;
    gr_race_write(&i, &b);
    rig_append(r, GR_RECORD_RACE, &b);
}

void rig_round_trip(const GrReport *report) {
    GrReport again;
    StrBuf text = {0}, json = {0}, text_again = {0}, json_again = {0};
    gr_report_text(report, &text);
    assert_int_equal(gr_report_json(report, &json, &rig_err), GR_OK);
    gr_report_init(&again);
    if (gr_report_parse("it", json.data, json.len, &again, &rig_err) != GR_OK)
        fail_msg("%s", rig_err.msg);
    again.folder = report->folder;
    again.max_reports = report->max_reports;
    gr_report_text(&again, &text_again);
    assert_int_equal(gr_report_json(&again, &json_again, &rig_err), GR_OK);
    assert_string_equal(json_again.data, json.data);
    assert_string_equal(text_again.data, text.data);
    gr_str_free(&text);
    gr_str_free(&json);
    gr_str_free(&text_again);
    gr_str_free(&json_again);
    gr_report_free(&again);
}

static void compare_file(const char *name, const StrBuf *now) {
    char file[64];
    snprintf(file, sizeof file, "golden/%s", name);
    if (getenv("UPDATE_GOLDEN"))
        assert_int_equal(gr_file_write(file, now->data, now->len, &rig_err), GR_OK);
    char *golden;
    size_t len;
    assert_int_equal(gr_file_read(file, &golden, &len, &rig_err), GR_OK);
    assert_string_equal(now->data, golden);
    free(golden);
}

void rig_compare(const GrReport *report, const char *name) {
    char file[64];
    StrBuf text = {0}, json = {0}, full = {0};
    GrReport verbose = *report;
    verbose.look.verbose = verbose.look.full_names = true;
    rig_round_trip(report);
    gr_report_text(report, &text);
    gr_report_text(&verbose, &full);
    assert_int_equal(gr_report_json(report, &json, &rig_err), GR_OK);
    snprintf(file, sizeof file, "%s.txt", name);
    compare_file(file, &text);
    snprintf(file, sizeof file, "%s.verbose.txt", name);
    compare_file(file, &full);
    gr_str_free(&full);
    snprintf(file, sizeof file, "%s.json", name);
    compare_file(file, &json);
    gr_str_free(&text);
    gr_str_free(&json);
}
