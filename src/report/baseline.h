// SPDX-License-Identifier: Apache-2.0
// baseline — which races another report has, too.
#ifndef GR_REPORT_BASELINE_H
#define GR_REPORT_BASELINE_H

#include "report/report.h"

// Marks the races and misuses of `r` that `base` has, too: of the same id, or else of the same line_id. Fills
// r->baseline, in which `name` is what the user calls the file of `base`; `base` need not live on. GR_ERR_NOMEM.
gr_status gr_report_compare(GrReport *r, const GrReport *base, const char *name, gr_error *err);

// Whether there is something that fails a run: races, and not all of them known.
static inline bool gr_report_fails(const GrReport *r) {
    return r->verdict == GR_VERDICT_RACES && (!r->baseline.name || r->baseline.fresh);
}

#endif
