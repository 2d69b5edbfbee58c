// SPDX-License-Identifier: Apache-2.0
// diff — two reports beside each other: which causes and races are new, gone, and in both.
#ifndef GR_REPORT_WRITE_DIFF_H
#define GR_REPORT_WRITE_DIFF_H

#include "report/report.h"

// Two reports that were compared (gr_report_compare in both directions), and the user's names of their files.
typedef struct GrDiff {
    const GrReport *before, *after;
    const char *before_name, *after_name;
} GrDiff;

void gr_diff_text(const GrDiff *d, StrBuf *out);
gr_status gr_diff_json(const GrDiff *d, StrBuf *out, gr_error *err);

#endif
