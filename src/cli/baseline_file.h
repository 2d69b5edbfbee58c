// SPDX-License-Identifier: Apache-2.0
// baseline_file — the file of --baseline: read before anything is run, held against the report at the end.
#ifndef GR_CLI_BASELINE_FILE_H
#define GR_CLI_BASELINE_FILE_H

#include "report/baseline.h"

typedef struct GrBaselineFile {
    GrReport report;
    const char *name; // as the user calls it; NULL: there is none
} GrBaselineFile;

// `name` is the value of --baseline, "": none. On failure the file cannot be read, or is no report.
gr_status gr_baseline_open(GrBaselineFile *b, const char *name, gr_error *err);
// Marks what the report shares with it; nothing without one. GR_ERR_NOMEM.
gr_status gr_baseline_apply(const GrBaselineFile *b, GrReport *report, gr_error *err);
void gr_baseline_close(GrBaselineFile *b);

#endif
