// SPDX-License-Identifier: Apache-2.0
// write_report — puts a report where --format and --output want it.
#ifndef GR_CLI_WRITE_REPORT_H
#define GR_CLI_WRITE_REPORT_H

#include "options/options.h"
#include "report/report.h"

// Checks --format and --output. Several formats need a folder, which is made if need be. GR_ERR_ARGUMENT.
gr_status gr_write_report_check(const GrOptions *o, gr_error *err);

// Writes to --output, else to `to`; also there if --output fails, and *lost then says that the user will miss it.
gr_status gr_write_report(const GrReport *report, const GrOptions *o, FILE *to, bool *lost, gr_error *err);

#endif
