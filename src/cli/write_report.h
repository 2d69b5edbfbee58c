// SPDX-License-Identifier: Apache-2.0
// write_report — puts a report where --format and --output want it.
#ifndef GR_CLI_WRITE_REPORT_H
#define GR_CLI_WRITE_REPORT_H

#include "options/options.h"
#include "report/report.h"

// What --format and --output say makes sense: with several formats there is a folder for them, which is made if need be. GR_ERR_ARGUMENT.
gr_status gr_write_report_check(const GrOptions *o, gr_error *err);

// Without --output it goes to `to`. A report that does not get to where it belongs goes there, too. *lost: it is not where the user looks for it.
gr_status gr_write_report(const GrReport *report, const GrOptions *o, FILE *to, bool *lost, gr_error *err);

#endif
