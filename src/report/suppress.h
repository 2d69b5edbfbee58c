// SPDX-License-Identifier: Apache-2.0
// suppress — races that the user knows of and does not want to be told: a file of rules, one a line, as
// ThreadSanitizer has them.
//
//     # comments, blank lines
//     race:histogram_kernel        suppressions.def has the words before the colon
//     file:third_party/*/scan.cuh$
//     pair:lib/queue.cuh:40 lib/queue.cuh:52,53<lib/pop.cuh:17
//     sides:read-write-race/shared src/scan.cu:17 src/scan.cu:21
//
// race: and kernel: take a name as a whole: as the source spells it, without its parameters, without its namespaces, or
// as the linker does. Other patterns match anywhere in the text unless ^ or $ hold them to an end. * stands for
// anything. sides: is what reports offer: it hides one race. What a rule hides is counted, and a rule that hid nothing
// is named, so that none outlives its reason.
//
// A comment in the source is a rule, too (suppress_comment.c).
#ifndef GR_REPORT_SUPPRESS_H
#define GR_REPORT_SUPPRESS_H

#include "report/report.h"

typedef enum GrRuleKind {
#define SUPPRESSION(id, word, matches) GR_RULE_##id,
#include "report/suppressions.def"
#undef SUPPRESSION
    GR_RULE_COUNT,
    GR_RULE_COMMENT = GR_RULE_COUNT // in the source; no file of rules has such
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
    bool alone;            // of a COMMENT: nothing else is in its line, so it is for the next line as well
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
// Without rules, in `arena`; to be freed all the same. NULL: out of memory.
GrSuppressions *gr_suppressions_new(Arena *arena);
void gr_suppressions_free(GrSuppressions *s);

// Whether the two sides of the race are at the places of the rule, a PAIR.
bool gr_pair_matches(const GrRule *rule, const GrRace *race);
// Reads the two places of `rule->pattern`. NULL, or what is wrong with them.
const char *gr_pair_read(GrRule *rule, Arena *arena);

// Appends the rule that hides the race and no other of its report: both sides, the class and the space.
void gr_race_rule(const GrReport *r, const GrRace *race, StrBuf *out);

// `// gpurace: ok REASON` in a line of the source.
typedef struct GrComment {
    const char *reason; // `len` bytes of the line
    size_t len;
    bool alone;
} GrComment;
// False: the line has none.
bool gr_comment_read(const char *line, size_t len, GrComment *out);
bool gr_comment_matches(const GrRule *rule, const GrRace *race);
// Adds a rule for each comment in the lines of the report's races. False: out of memory.
bool gr_comments_find(GrReport *r, GrSuppressions *to);

// Takes what a rule matches out of r->races and r->misuses. `r->suppressions` and `r->bundled` (or NULL) count it, and
// r->comments, which this makes. False: out of memory.
bool gr_suppressions_apply(GrReport *r);

// Whether `pattern`, as rules have them, matches `text`.
bool gr_pattern_matches(const char *pattern, const char *text);

#endif
