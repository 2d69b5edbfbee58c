// SPDX-License-Identifier: Apache-2.0
// suppress — races that the user knows of and does not want to be told: a file of rules, one a line, as
// ThreadSanitizer has them.
//
//     # comments, blank lines
//     race:histogram_kernel        suppressions.def has the words before the colon
//     file:third_party/*/scan.cuh$
//
// A pattern matches anywhere in the text unless ^ or $ hold it to an end; * stands for anything. Names are compared as the
// source spells them. What a rule hides is counted, and a rule that hid nothing is named, so that none outlives its reason.
#ifndef GR_REPORT_SUPPRESS_H
#define GR_REPORT_SUPPRESS_H

#include "report/report.h"

typedef enum GrRuleKind {
#define SUPPRESSION(id, word, matches) GR_RULE_##id,
#include "report/suppressions.def"
#undef SUPPRESSION
    GR_RULE_COUNT
} GrRuleKind;

typedef struct GrRule {
    GrRuleKind kind;
    const char *text;    // as it was written
    const char *pattern; // behind the colon
    uint32_t line;
    uint64_t races, count; // hidden so far; occurrences of those
} GrRule;

typedef struct GrSuppressions {
    Arena arena;
    const char *path;
    VEC(GrRule) rules;
} GrSuppressions;

// Reads a file of rules. A rule that is not understood is GR_ERR_SYNTAX, with its place.
gr_status gr_suppressions_read(const char *path, GrSuppressions *out, gr_error *err);
void gr_suppressions_free(GrSuppressions *s);

// Takes what a rule matches out of r->races and r->misuses. `r->suppressions`, which may be NULL, counts them.
void gr_suppressions_apply(GrReport *r);

// Whether `pattern`, as rules have them, matches `text`.
bool gr_pattern_matches(const char *pattern, const char *text);

#endif
