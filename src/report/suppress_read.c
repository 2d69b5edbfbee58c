// SPDX-License-Identifier: Apache-2.0
// Files of rules, read.
#include "report/report_internal.h"
#include "report/suppress.h"

#include <stdlib.h>
#include <string.h>

static const char *const words[] = {
#define SUPPRESSION(id, word, matches) word,
#include "report/suppressions.def"
#undef SUPPRESSION
};

// Reads the words of a SIDES, whose pattern becomes the text that gr_race_rule makes. NULL, or what is wrong with them.
static const char *read_sides(GrRule *rule, Arena *arena) {
    char *text = gr_arena_strdup(arena, rule->pattern), *word[3];
    unsigned n = 0;
    if (!text)
        return "out of memory";
    for (char *rest = text, *w; (w = strsep(&rest, " \t"));) {
        if (!*w)
            continue;
        if (n == 3)
            return "this rule has a class and two sides and no more";
        word[n++] = w;
    }
    if (n < 3)
        return "this rule has a class and two sides, with a blank between them; ? is a side that is not "
               "known";
    bool swapped = strcmp(word[2], "?") && strcmp(word[1], word[2]) > 0;
    rule->pattern = gr_arena_printf(arena, "sides:%s %s %s", word[0], word[1 + swapped], word[2 - swapped]);
    return rule->pattern ? NULL : "out of memory";
}

// The pattern of a whole name.
static const char *whole(const char *pattern, Arena *arena) {
    pattern += *pattern == '^';
    size_t len = strlen(pattern);
    len -= len && pattern[len - 1] == '$';
    return gr_arena_printf(arena, "^%.*s$", (int)len, pattern);
}

static gr_status read_rule(GrSuppressions *s, const char *line, size_t len, uint32_t number, const char *why,
                           gr_error *err) {
    static const char known[] = "one of "
#define SUPPRESSION(id, word, matches) word ":, "
#include "report/suppressions.def"
#undef SUPPRESSION
        ;
    const char *colon = memchr(line, ':', len);
    unsigned kind = 0;
    while (kind < GR_RULE_COUNT && (!colon || strlen(words[kind]) != (size_t)(colon - line) ||
                                    memcmp(words[kind], line, (size_t)(colon - line)) != 0))
        kind++;
    if (kind == GR_RULE_COUNT)
        return gr_fail_at(err, GR_ERR_SYNTAX, s->path, number, 1,
                          "a rule begins with %sbut this one with '%.*s'", known,
                          (int)(colon ? colon - line : (ptrdiff_t)len), line);
    if (colon + 1 == line + len)
        return gr_fail_at(err, GR_ERR_SYNTAX, s->path, number, (unsigned)(colon - line) + 2,
                          "no pattern behind the colon; * matches everything");
    char *text = gr_arena_alloc(&s->arena, len + 1);
    GR_NEED(text, err);
    memcpy(text, line, len);
    text[len] = 0;
    GrRule rule = {.kind = (GrRuleKind)kind,
                   .text = text,
                   .path = s->path,
                   .pattern = text + (colon + 1 - line),
                   .why = why,
                   .line = number};
    const char *wrong = kind == GR_RULE_PAIR    ? gr_pair_read(&rule, &s->arena)
                        : kind == GR_RULE_SIDES ? read_sides(&rule, &s->arena)
                                                : NULL;
    if (kind == GR_RULE_RACE || kind == GR_RULE_KERNEL) {
        rule.pattern = whole(rule.pattern, &s->arena);
        GR_NEED(rule.pattern, err);
    }
    if (wrong)
        return gr_fail_at(err, GR_ERR_SYNTAX, s->path, number, (unsigned)(colon - line) + 2, "%s", wrong);
    return gr_vec_push(&s->rules, rule) ? GR_OK : gr_no_memory(err);
}

// The text of a comment; NULL: it says nothing.
static const char *comment(const char *at, const char *last, Arena *arena) {
    while (at < last && (*at == '#' || *at == ' ' || *at == '\t'))
        at++;
    return at < last ? gr_arena_strndup(arena, at, (size_t)(last - at)) : NULL;
}

gr_status gr_suppressions_parse(const char *path, const char *text, size_t len, GrSuppressions *out,
                                gr_error *err) {
    memset(out, 0, sizeof *out);
    gr_arena_init(&out->arena);
    out->path = path;
    uint32_t number = 1;
    const char *why = NULL;
    bool explains = false; // the line before is a comment
    for (const char *at = text, *end; at < text + len; at = end + 1, number++) {
        end = memchr(at, '\n', (size_t)(text + len - at));
        end = end ? end : text + len;
        const char *last = end;
        while (at < last && (*at == ' ' || *at == '\t'))
            at++;
        while (last > at && strchr(" \t\r", last[-1]))
            last--;
        bool is_comment = at < last && *at == '#';
        if (is_comment && !explains)
            why = comment(at, last, &out->arena);
        else if (at == last)
            why = NULL;
        gr_status st = GR_OK;
        if (at < last && !is_comment)
            st = read_rule(out, at, (size_t)(last - at), number, why, err);
        if (st != GR_OK)
            return st;
        explains = is_comment;
    }
    return GR_OK;
}

gr_status gr_suppressions_read(const char *path, GrSuppressions *out, gr_error *err) {
    char *text = NULL;
    size_t len;
    memset(out, 0, sizeof *out);
    gr_arena_init(&out->arena);
    gr_status st = gr_file_read(path, &text, &len, err);
    if (st == GR_OK)
        st = gr_suppressions_parse(path, text, len, out, err);
    free(text);
    return st;
}

gr_status gr_suppressions_bundled(GrSuppressions *out, gr_error *err) {
    extern const char gr_bundled_suppressions[];
    return gr_suppressions_parse("bundled.supp", gr_bundled_suppressions, strlen(gr_bundled_suppressions),
                                 out, err);
}

GrSuppressions *gr_suppressions_new(Arena *arena) {
    GrSuppressions *s = GR_NEW(arena, GrSuppressions);
    if (s)
        gr_arena_init(&s->arena);
    return s;
}

void gr_suppressions_free(GrSuppressions *s) {
    gr_vec_free(&s->rules);
    gr_arena_free(&s->arena);
}
