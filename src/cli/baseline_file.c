// SPDX-License-Identifier: Apache-2.0
#include "cli/baseline_file.h"

#include "report/read/read_report.h"

gr_status gr_baseline_open(GrBaselineFile *b, const char *name, gr_error *err) {
    b->name = NULL;
    if (!*name)
        return GR_OK;
    b->name = name;
    gr_report_init(&b->report);
    return gr_report_read(name, &b->report, err);
}

gr_status gr_baseline_apply(const GrBaselineFile *b, GrReport *report, gr_error *err) {
    return b->name ? gr_report_compare(report, &b->report, b->name, err) : GR_OK;
}

void gr_baseline_close(GrBaselineFile *b) {
    if (b->name)
        gr_report_free(&b->report);
    b->name = NULL;
}
