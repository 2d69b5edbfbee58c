// SPDX-License-Identifier: Apache-2.0
// hidden — what the report says of processes of the program that gpurace was not in, or that outlived the run.
#ifndef GR_CLI_RUN_HIDDEN_H
#define GR_CLI_RUN_HIDDEN_H

#include "cli/run/launch.h"
#include "findings/reader.h"
#include "report/report.h"

// Before the report is built: adds a reason for each that may use CUDA, and a remark for others that still run.
void gr_hidden_tell(const GrResultsView *view, const GrEnding *ending, uint64_t waited, GrReport *report);

#endif
