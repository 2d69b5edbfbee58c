// SPDX-License-Identifier: Apache-2.0
// report_internal — what the files that build a report share.
#ifndef GR_REPORT_INTERNAL_H
#define GR_REPORT_INTERNAL_H

#include "report/report.h"

// For a run of two engines (GrReport.both): says of the collider's races whether causality confirms them.
gr_status gr_report_confirm(GrReport *r, gr_error *err);

#endif
