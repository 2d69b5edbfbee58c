// SPDX-License-Identifier: Apache-2.0
#include "report/lint.h"

#include <stdio.h>
#include <string.h>

enum { SHORTEST = 3 };

void gr_lint_count(GrSuppressions *rules, const GrReport *report) {
    const GrSuppressions *seen = report->suppressions;
    for (size_t k = 0; seen && k < seen->rules.len; k++)
        for (size_t i = 0; i < rules->rules.len; i++)
            if (!strcmp(rules->rules.data[i].text, seen->rules.data[k].text)) {
                rules->rules.data[i].races += seen->rules.data[k].races;
                break; // of two that are the same the first hides
            }
}

// The characters that a text must have: without anchors and stars.
static size_t literals(const char *pattern) {
    size_t n = 0;
    for (; *pattern; pattern++)
        n += !strchr("^$*", *pattern);
    return n;
}

// What names nothing but a kind of file, or a folder that each machine has.
static bool is_everywhere(const char *pattern) {
    static const char *const common[] = {".cu",  ".cuh", ".h",    ".hpp", ".hh",  ".c", ".cc",
                                         ".cpp", "/usr", "/home", "src",  "void", "int"};
    char bare[8] = "";
    size_t n = 0;
    for (; *pattern; pattern++)
        if (!strchr("^$*", *pattern)) {
            if (n + 1 == sizeof bare)
                return false;
            bare[n++] = *pattern;
        }
    for (size_t k = 0; k < sizeof common / sizeof *common; k++)
        if (!strcmp(bare, common[k]))
            return true;
    return false;
}

static bool is_plain(const char *pattern) { return !pattern[strcspn(pattern, "^$*")]; }

// `earlier` hides all that `rule` could: the same text, or a part of it without anchors.
static bool covers(const GrRule *earlier, const GrRule *rule) {
    if (!strcmp(earlier->text, rule->text))
        return true;
    return earlier->kind == rule->kind && rule->kind != GR_RULE_PAIR && is_plain(earlier->pattern) &&
           strstr(rule->pattern, earlier->pattern);
}

void gr_lint(const GrSuppressions *rules, uint64_t reports,
             void (*tell)(void *user, const GrRule *rule, const char *text), void *user) {
    char text[160];
    for (size_t k = 0; k < rules->rules.len; k++) {
        const GrRule *rule = &rules->rules.data[k], *earlier = rules->rules.data;
        if (!rule->why)
            tell(user, rule, "no reason: write it in a comment in the line before");
        if (rule->kind != GR_RULE_PAIR && !literals(rule->pattern))
            tell(user, rule, "too broad: the pattern matches everything");
        else if (rule->kind != GR_RULE_PAIR && literals(rule->pattern) < SHORTEST)
            tell(user, rule, "too broad: so short a pattern matches much besides what is meant");
        else if (rule->kind != GR_RULE_PAIR && is_everywhere(rule->pattern))
            tell(user, rule, "too broad: nearly every program has such a name");
        while (earlier < rule && !covers(earlier, rule))
            earlier++;
        if (earlier < rule) {
            snprintf(text, sizeof text,
                     "hides nothing more: the rule of line %u hides all that this one could", earlier->line);
            tell(user, rule, text);
        } else if (reports && !rule->races) {
            snprintf(text, sizeof text, "unused: it hid no race in %llu report%s",
                     (unsigned long long)reports, reports == 1 ? "" : "s");
            tell(user, rule, text);
        }
    }
}
