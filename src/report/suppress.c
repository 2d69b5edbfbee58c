// SPDX-License-Identifier: Apache-2.0
// suppress — see suppress.h.
#include "report/suppress.h"

#include "base/map.h"
#include "report/report_internal.h"

#include <stdlib.h>
#include <string.h>

// ---- Reading -------------------------------------------------------------------------------------------------------

static const char *const words[] = {
#define SUPPRESSION(id, word, matches) word,
#include "report/suppressions.def"
#undef SUPPRESSION
};

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
    const char *wrong = kind == GR_RULE_PAIR ? gr_pair_read(&rule, &s->arena) : NULL;
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

void gr_suppressions_free(GrSuppressions *s) {
    gr_vec_free(&s->rules);
    gr_arena_free(&s->arena);
}

// ---- Matching ------------------------------------------------------------------------------------------------------

// `pattern` from its beginning against all of `text`; a * takes as little as it can and more when that fails.
static bool matches_from(const char *pattern, const char *text) {
    const char *star = NULL, *taken = NULL;
    for (;;) {
        if (pattern[0] == '$' && !pattern[1] && !*text)
            return true;
        if (!*pattern)
            return true; // an open end
        if (*pattern == '*') {
            star = ++pattern;
            taken = text;
        } else if (*text && *pattern == *text) {
            pattern++;
            text++;
        } else if (star && *taken) {
            pattern = star;
            text = ++taken;
        } else {
            return false;
        }
    }
}

bool gr_pattern_matches(const char *pattern, const char *text) {
    if (*pattern == '^')
        return matches_from(pattern + 1, text);
    for (;; text++) {
        if (matches_from(pattern, text))
            return true;
        if (!*text)
            return false;
    }
}

static bool name_matches(const char *pattern, const char *name, Arena *arena) {
    return name &&
           (gr_pattern_matches(pattern, name) || gr_pattern_matches(pattern, gr_demangle(name, arena)));
}

// Any place of the access, by its file or function.
static bool access_matches(const GrRule *rule, const GrAccess *a, Arena *arena) {
    for (uint32_t k = 0; k <= a->n_inlined; k++) {
        const GrFrame *f = gr_access_frame(a, k);
        if ((f->file && gr_pattern_matches(rule->pattern, f->file)) ||
            name_matches(rule->pattern, f->function, arena))
            return true;
    }
    return false;
}

static bool headline_matches(const GrRule *rule, const GrAccess *a) {
    const char *file = gr_access_frame(a, a->headline)->file;
    return file && gr_pattern_matches(rule->pattern, file);
}

static bool rule_matches(const GrRule *rule, const GrRace *race, Arena *arena) {
    if (rule->kind == GR_RULE_PAIR)
        return gr_pair_matches(rule, race);
    if (rule->kind == GR_RULE_MODULE)
        return race->found.module && gr_pattern_matches(rule->pattern, race->found.module);
    if (rule->kind != GR_RULE_FILE && name_matches(rule->pattern, race->found.kernel, arena))
        return true;
    if (rule->kind == GR_RULE_KERNEL)
        return false;
    for (unsigned k = 0; k < race->found.n_accesses; k++) {
        const GrAccess *a = &race->found.accesses[k];
        if (rule->kind == GR_RULE_FILE ? headline_matches(rule, a) : access_matches(rule, a, arena))
            return true;
    }
    return race->witness && rule_matches(rule, race->witness, arena);
}

// The first rule that matches counts it. NULL: none does.
static const GrRule *hide(GrSuppressions *s, const GrRace *race, Arena *arena) {
    for (size_t k = 0; s && k < s->rules.len; k++) {
        GrRule *rule = &s->rules.data[k];
        if (rule_matches(rule, race, arena)) {
            rule->races++;
            rule->count += race->found.count;
            return rule;
        }
    }
    return NULL;
}

// What was hidden has been counted with others: those go by their own counts now.
static void part_tallies(GrReport *r, const Map *hidden) {
    for (size_t i = 0; i < r->races.len && hidden->len; i++)
        if (gr_map_get_u64(hidden, r->races.data[i].found.tally))
            r->races.data[i].found.tally = 0;
}

// Takes those that a rule hides out of `races`. A report without memory for them lacks them.
static void apply_to(GrReport *r, GrSuppressions *s, GrRaceVec *races, Map *hidden) {
    size_t kept = 0;
    for (size_t i = 0; i < races->len; i++) {
        GrRace race = races->data[i];
        race.hidden_by = hide(s, &race, &r->arena);
        if (!race.hidden_by) {
            races->data[kept++] = race;
            continue;
        }
        if (race.found.tally)
            (void)gr_map_put_u64(hidden, race.found.tally, s);
        (void)gr_vec_push(&r->hidden, race);
    }
    races->len = kept;
}

static void apply(GrReport *r, GrSuppressions *s, Map *hidden) {
    apply_to(r, s, &r->races, hidden);
    apply_to(r, s, &r->misuses, hidden);
}

void gr_suppressions_apply(GrReport *r) {
    Map hidden = {0}; // tallies
    apply(r, r->suppressions, &hidden);
    apply(r, r->bundled, &hidden);
    part_tallies(r, &hidden);
    gr_map_free(&hidden);
}
