// SPDX-License-Identifier: Apache-2.0
// suppress — see suppress.h.
#include "report/suppress.h"

#include "base/map.h"
#include "report/report_internal.h"

#include <string.h>

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

// "void ns::scan<int>(int*)" without its type and parameters, with the template's arguments or not. `out` has room.
static void plain_name(const char *spelled, bool arguments, char *out) {
    char *q = out;
    int depth = 0;
    for (const char *p = spelled; *p; p++) {
        size_t anonymous = strncmp(p, "(anonymous namespace)", 21) ? 0 : 21;
        if (anonymous && (!depth || arguments)) {
            memcpy(q, p, anonymous);
            q[10] = '_'; // its blank is none
            q += anonymous;
            p += anonymous - 1;
            continue;
        }
        if (*p == '(' && !depth)
            break;
        depth += *p == '<';
        if (!depth)
            q = *p == ' ' ? out : q; // a type was before it
        if ((!depth && *p != ' ') || (depth && arguments))
            *q++ = *p;
        depth -= *p == '>' && depth;
    }
    *q = 0;
}

// Behind the namespaces.
static const char *last_name(const char *plain) {
    const char *last = plain;
    int depth = 0;
    for (const char *p = plain; *p; p++) {
        depth += (*p == '<') - (*p == '>' && depth);
        if (!depth && p[0] == ':' && p[1] == ':' && p[2])
            last = p + 2;
    }
    return last;
}

// As the linker spells it, as the source does, and that without parameters, the template's arguments and namespaces.
static bool name_matches(const char *pattern, const char *name, Arena *arena) {
    const char *spelled = name ? gr_demangle(name, arena) : NULL;
    if (!spelled)
        return false;
    char *plain = gr_arena_alloc(arena, strlen(spelled) + 1);
    bool found = gr_pattern_matches(pattern, name) || gr_pattern_matches(pattern, spelled);
    for (unsigned arguments = 0; plain && arguments < 2 && !found; arguments++) {
        plain_name(spelled, arguments, plain);
        found = gr_pattern_matches(pattern, plain) || gr_pattern_matches(pattern, last_name(plain));
    }
    return found;
}

// The path, or its end from the beginning of a name.
static bool path_matches(const char *pattern, const char *path) {
    for (; path; path = strchr(path, '/') ? strchr(path, '/') + 1 : NULL)
        if (gr_pattern_matches(pattern, path))
            return true;
    return false;
}

// Any place of the access, by its file or function.
static bool access_matches(const GrRule *rule, const GrAccess *a, Arena *arena) {
    for (uint32_t k = 0; k <= a->n_inlined; k++) {
        const GrFrame *f = gr_access_frame(a, k);
        if (path_matches(rule->pattern, f->file) || name_matches(rule->pattern, f->function, arena))
            return true;
    }
    return false;
}

static bool headline_matches(const GrRule *rule, const GrAccess *a) {
    const char *file = gr_access_frame(a, a->headline)->file;
    return file && gr_pattern_matches(rule->pattern, file);
}

// `own`: the race's own rule.
static bool rule_matches(const GrRule *rule, const GrRace *race, const char *own, Arena *arena) {
    if (rule->kind == GR_RULE_PAIR)
        return gr_pair_matches(rule, race);
    if (rule->kind == GR_RULE_SIDES)
        return !strcmp(rule->pattern, own);
    if (rule->kind == GR_RULE_COMMENT)
        return gr_comment_matches(rule, race);
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
    return race->witness && rule_matches(rule, race->witness, own, arena);
}

// The first rule that matches counts it. NULL: none does.
static const GrRule *hide(const GrReport *r, GrSuppressions *s, const GrRace *race) {
    StrBuf own = {0};
    Arena arena;
    GrRule *rule = NULL;
    if (!s || !s->rules.len)
        return NULL;
    gr_arena_init(&arena);
    gr_race_rule(r, race, &own);
    for (size_t k = 0; k < s->rules.len && !rule; k++)
        if (rule_matches(&s->rules.data[k], race, own.data && !own.oom ? own.data : "", &arena))
            rule = &s->rules.data[k];
    gr_arena_free(&arena);
    if (rule) {
        rule->races++;
        rule->count += race->found.count;
    }
    gr_str_free(&own);
    return rule;
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
        race.hidden_by = hide(r, s, &race);
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

bool gr_suppressions_apply(GrReport *r) {
    Map hidden = {0}; // tallies
    apply(r, r->suppressions, &hidden);
    apply(r, r->bundled, &hidden);
    bool ok = (r->comments = gr_suppressions_new(&r->arena)) && gr_comments_find(r, r->comments);
    apply(r, r->comments, &hidden);
    part_tallies(r, &hidden);
    gr_map_free(&hidden);
    return ok;
}
