// SPDX-License-Identifier: Apache-2.0
// meant — what the user of `gpurace run` probably meant by words that fit nothing.
#ifndef GR_CLI_MEANT_H
#define GR_CLI_MEANT_H

#include "report/report.h"

// If the pattern of --kernel or --not-kernel matches no kernel that was launched, and the name of one is near: says so,
// by gr_report_reason or gr_report_remark. An empty pattern is none.
void gr_say_kernel_meant(const char *option, const char *pattern, GrReport *report,
                         gr_status (*say)(GrReport *r, const char *fmt, ...));

// Whether `path` is a file of source code, which is no program: then says on standard error what to do with it.
bool gr_say_source(const char *path);

#endif
