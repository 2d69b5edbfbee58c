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
    static const char *const common[] = {".cu",  ".cuh", ".h",    ".hpp", ".hh",  ".c",  ".cc",
                                         ".cpp", "/usr", "/home", "src",  "void", "int", "main"};
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

static bool is_name(const GrRule *r) { return r->kind == GR_RULE_RACE || r->kind == GR_RULE_KERNEL; }
static bool is_sided(const GrRule *r) { return r->kind == GR_RULE_PAIR || r->kind == GR_RULE_SIDES; }

static bool is_plain(const char *pattern) { return !pattern[strcspn(pattern, "^$*")]; }

// A part of a name, which many others have as well: *scan* of a function, or scan of a path.
static bool is_part(const GrRule *rule) {
    size_t len = strlen(rule->pattern);
    if (is_name(rule))
        return !strncmp(rule->pattern, "^*", 2) && len > 3 && !strcmp(rule->pattern + len - 2, "*$");
    return rule->kind == GR_RULE_FILE && is_plain(rule->pattern) && !strpbrk(rule->pattern, "./");
}

// `earlier` hides all that `rule` could: the same text, a part of it without anchors, or a name that has it.
static bool covers(const GrRule *earlier, const GrRule *rule) {
    char name[256];
    if (!strcmp(earlier->text, rule->text))
        return true;
    if (earlier->kind != rule->kind || is_sided(rule))
        return false;
    size_t len = strlen(rule->pattern);
    if (!is_name(rule))
        return is_plain(earlier->pattern) && strstr(rule->pattern, earlier->pattern);
    if (len - 2 >= sizeof name)
        return false;
    snprintf(name, sizeof name, "%.*s", (int)len - 2, rule->pattern + 1); // without ^ and $
    return gr_pattern_matches(earlier->pattern, name);
}

// One of ^ and $ held a part of a name to its beginning or end, before names were compared as a whole.
static bool is_old_form(const GrRule *rule) {
    const char *pattern = strchr(rule->text, ':');
    size_t len = pattern ? strlen(++pattern) : 0;
    return is_name(rule) && len && (*pattern == '^') != (pattern[len - 1] == '$');
}

// Whether an older gpurace took the rule for a part of a name.
static const char *once_more(const GrRule *rule) {
    return is_name(rule) && !strchr(rule->pattern, '*')
               ? "; names are compared as a whole (*NAME* is any that has NAME in it)"
               : "";
}

void gr_lint(const GrSuppressions *rules, uint64_t reports,
             void (*tell)(void *user, const GrRule *rule, const char *text), void *user) {
    char text[200];
    for (size_t k = 0; k < rules->rules.len; k++) {
        const GrRule *rule = &rules->rules.data[k], *earlier = rules->rules.data;
        if (!rule->why)
            tell(user, rule, "no reason: write it in a comment in the line before");
        if (!is_sided(rule) && !literals(rule->pattern))
            tell(user, rule, "too broad: the pattern matches everything");
        else if (!is_sided(rule) && literals(rule->pattern) < SHORTEST)
            tell(user, rule, "too broad: so short a pattern matches much besides what is meant");
        else if (!is_sided(rule) && is_everywhere(rule->pattern))
            tell(user, rule, "too broad: nearly every program has such a name");
        else if (is_part(rule))
            tell(user, rule,
                 is_name(rule)
                     ? "too broad: it matches each name that has this in it; a name is compared as a "
                       "whole, so that no * is needed"
                     : "too broad: it matches each path that has this in it; name the file as a whole");
        if (is_old_form(rule))
            tell(user, rule,
                 "old form: names are compared as a whole; NAME* is each that begins so, *NAME each that "
                 "ends so");
        while (earlier < rule && !covers(earlier, rule))
            earlier++;
        if (earlier < rule) {
            snprintf(text, sizeof text,
                     "hides nothing more: the rule of line %u hides all that this one could", earlier->line);
            tell(user, rule, text);
        } else if (reports && !rule->races) {
            snprintf(text, sizeof text, "unused: it hid no race in %llu report%s%s",
                     (unsigned long long)reports, reports == 1 ? "" : "s", once_more(rule));
            tell(user, rule, text);
        }
    }
}

void gr_lint_source(const char *text, size_t len,
                    void (*tell)(void *user, const GrRule *rule, const char *text), void *user) {
    GrRule rule = {.kind = GR_RULE_COMMENT, .text = "gpurace: ok"};
    GrComment c;
    for (const char *at = text, *end; at < text + len; at = end + 1) {
        end = memchr(at, '\n', (size_t)(text + len - at));
        end = end ? end : text + len;
        rule.line++;
        if (gr_comment_read(at, (size_t)(end - at), &c) && !c.len)
            tell(user, &rule, "no reason: write it behind ok, else the comment hides nothing");
    }
}
