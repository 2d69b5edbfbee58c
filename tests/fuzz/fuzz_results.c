// SPDX-License-Identifier: Apache-2.0
// Results files of any bytes: records, modules, counters, slots, up to the finished report in both forms. The input is
// what follows the header page; the records' hashes are made right first, since no fuzzer would get past them.
#include "engines/core/engine.h"
#include "report/replay.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void repair_hashes(uint8_t *file, size_t len) {
    for (size_t at = GR_RESULTS_HEADER; at + sizeof(GrRecordHeader) <= len; at += GR_RESULTS_GRID) {
        GrRecordHeader h;
        memcpy(&h, file + at, sizeof h);
        if (h.magic != GR_RECORD_MAGIC || h.size > len - at - sizeof h)
            continue;
        h.hash = gr_record_hash(&h, file + at + sizeof h);
        memcpy(file + at, &h, sizeof h);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t len = GR_RESULTS_HEADER + size;
    uint8_t *file = calloc(1, len);
    GrResultsHeader h = {.version = GR_RESULTS_VERSION, .header_size = GR_RESULTS_HEADER, .end = len};
    memcpy(h.magic, GR_RESULTS_MAGIC, sizeof h.magic);
    memcpy(file, &h, sizeof h);
    memcpy(file + GR_RESULTS_HEADER, data, size);
    repair_hashes(file, len);
    GrResultsView view;
    GrReport report;
    gr_report_init(&report);
    report.find_class = gr_engine_class;
    report.find_decoder = gr_engine_decoder;
    if (gr_results_parse(file, len, &view, NULL) == GR_OK) {
        StrBuf text = {0}, json = {0};
        if (gr_report_build(&report, &view, NULL) == GR_OK) {
            StrBuf targets = {0}; // the file as a run's and as its replay's
            gr_replay_targets(&report, &view, &targets);
            gr_replay_take(&report, &view, 1, 1, NULL);
            gr_str_free(&targets);
            gr_report_text(&report, &text);
            gr_report_json(&report, &json, NULL);
        }
        gr_str_free(&text);
        gr_str_free(&json);
        gr_results_release(&view);
    }
    gr_report_free(&report);
    free(file);
    return 0;
}
