// SPDX-License-Identifier: Apache-2.0
// lint — doubtful rules of a suppressions file: without a reason, too wide, given twice, or hiding nothing.
#ifndef GR_REPORT_LINT_H
#define GR_REPORT_LINT_H

#include "report/suppress.h"

// Counts in rules->rules[].races what the rules of the report hid, rules being told apart by their text.
void gr_lint_count(GrSuppressions *rules, const GrReport *report);

// Tells what is doubtful, rule by rule. `reports`: how many were counted; 0: whether a rule hides something is not
// known. Each text is valid during the call.
void gr_lint(const GrSuppressions *rules, uint64_t reports,
             void (*tell)(void *user, const GrRule *rule, const char *text), void *user);

// Tells of comments `gpurace: ok` in a source file that give no reason, and so hide nothing.
void gr_lint_source(const char *text, size_t len,
                    void (*tell)(void *user, const GrRule *rule, const char *text), void *user);

#endif
