// SPDX-License-Identifier: Apache-2.0
// suppress — races that the user knows of and does not want to be told: a file of rules, one a line, as
// ThreadSanitizer has them.
//
//     # comments, blank lines
//     race:histogram_kernel        suppressions.def has the words before the colon
//     file:third_party/*/scan.cuh$
//     pair:lib/queue.cuh:40 lib/queue.cuh:52,53<lib/pop.cuh:17
//
// A pattern matches anywhere in the text unless ^ or $ hold it to an end; * stands for anything. Names are compared as
// the source spells them. What a rule hides is counted, and a rule that hid nothing is named, so that none outlives its
// reason.
#ifndef GR_REPORT_SUPPRESS_H
#define GR_REPORT_SUPPRESS_H

#include "report/report.h"

typedef enum GrRuleKind {
#define SUPPRESSION(id, word, matches) GR_RULE_##id,
#include "report/suppressions.def"
#undef SUPPRESSION
    GR_RULE_COUNT
} GrRuleKind;

// A line of a file, or one of several: the path ends with `file`, at the beginning of a name.
typedef struct GrRuleFrame {
    const char *file;
    const uint32_t *lines;
    uint32_t n_lines;
} GrRuleFrame;

// Where one side of a `pair` is and was inlined, the innermost first. All but the first may be left out.
typedef struct GrRulePlace {
    const GrRuleFrame *frames;
    uint32_t n;
} GrRulePlace;

typedef struct GrRule {
    GrRuleKind kind;
    const char *text;      // as it was written
    const char *path;      // of the file that it stands in
    const char *pattern;   // behind the colon
    GrRulePlace places[2]; // of a PAIR
    const char *why;       // the comment in front of it, its first line; NULL: none
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
// Reads rules from `text`, which errors call `path`.
gr_status gr_suppressions_parse(const char *path, const char *text, size_t len, GrSuppressions *out,
                                gr_error *err);
// The rules that come with gpurace, for races in NVIDIA's headers that no user can mend (bundled.supp).
gr_status gr_suppressions_bundled(GrSuppressions *out, gr_error *err);
void gr_suppressions_free(GrSuppressions *s);

// Whether the two sides of the race are at the places of the rule, a PAIR.
bool gr_pair_matches(const GrRule *rule, const GrRace *race);
// Reads the two places of `rule->pattern`. NULL, or what is wrong with them.
const char *gr_pair_read(GrRule *rule, Arena *arena);

// Appends a rule that hides the race: its pair of places; if one is not known the function, which may hide more.
void gr_race_rule(const GrRace *race, StrBuf *out);

// Takes what a rule matches out of r->races and r->misuses. `r->suppressions` and `r->bundled` (or NULL) count it.
void gr_suppressions_apply(GrReport *r);

// Whether `pattern`, as rules have them, matches `text`.
bool gr_pattern_matches(const char *pattern, const char *text);

#endif
