// SPDX-License-Identifier: Apache-2.0
// title — a race in one line.
#ifndef GR_REPORT_TITLE_H
#define GR_REPORT_TITLE_H

#include "report/report.h"

// Appends what `race`, a race or a misuse of `r`, is: "scan.cu:17 and scan.cu:21: read-write race in kernel
// scan(int*)". Files are named as the report names them (GrReport.folder).
void gr_race_title(GrReport *r, const GrRace *race, StrBuf *out);

#endif
