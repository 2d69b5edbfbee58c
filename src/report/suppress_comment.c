// SPDX-License-Identifier: Apache-2.0
// `// gpurace: ok REASON` in the source hides the races at its line; alone in a line, those at the next one, too.
#include "report/report_internal.h"
#include "report/suppress.h"

#include <ctype.h>
#include <string.h>

static bool is_blank(const char *from, const char *to) {
    while (from < to && isspace((unsigned char)*from))
        from++;
    return from == to;
}

// `word` in [from, to), or NULL.
static const char *find(const char *from, const char *to, const char *word) {
    return from < to ? memmem(from, (size_t)(to - from), word, strlen(word)) : NULL;
}

bool gr_comment_read(const char *line, size_t len, GrComment *out) {
    const char *end = line + len, *opener = NULL, *mark = find(line, end, "gpurace:");
    for (const char *p = line; mark && p + 1 < mark; p++)
        if (p[0] == '/' && (p[1] == '/' || p[1] == '*') && (!opener || opener[1] == '*'))
            opener = opener && p[1] == '*' ? opener : p;
    if (!opener || !is_blank(opener + 2, mark))
        return false;
    const char *at = mark + strlen("gpurace:");
    while (at < end && isblank((unsigned char)*at))
        at++;
    if (end - at < 2 || memcmp(at, "ok", 2) != 0 || (end - at > 2 && isalnum((unsigned char)at[2])))
        return false;
    const char *close = opener[1] == '*' ? find(at, end, "*/") : NULL;
    out->alone = is_blank(line, opener) && (!close || is_blank(close + 2, end));
    end = close ? close : end;
    for (at += 2; at < end && (isspace((unsigned char)*at) || *at == ':');)
        at++;
    while (end > at && isspace((unsigned char)end[-1]))
        end--;
    out->reason = at;
    out->len = (size_t)(end - at);
    return true;
}

// Whether the rule, of a comment, is for the place.
static bool is_for(const GrRule *rule, const GrFrame *f) {
    return f->file && !strcmp(rule->path, f->file) &&
           (f->line == rule->line || (rule->alone && f->line == rule->line + 1));
}

bool gr_comment_matches(const GrRule *rule, const GrRace *race) {
    for (unsigned k = 0; k < race->found.n_accesses && *rule->why; k++) {
        const GrAccess *a = &race->found.accesses[k];
        if (is_for(rule, gr_access_frame(a, a->headline)))
            return true;
    }
    const GrRace *pair = gr_race_pair(race);
    return pair && pair != race && gr_comment_matches(rule, pair);
}

// Adds the rule of a comment in the line, once. An empty reason is remarked on. False: out of memory.
static bool add_line(GrReport *r, GrSuppressions *to, const GrFrame *f, uint32_t number) {
    size_t len;
    GrComment c;
    const char *line = number ? gr_source_line(r->sources, f->file, number, &len) : NULL;
    if (!line || !gr_comment_read(line, len, &c) || (number != f->line && !c.alone))
        return true;
    for (size_t k = 0; k < to->rules.len; k++)
        if (to->rules.data[k].line == number && !strcmp(to->rules.data[k].path, f->file))
            return true;
    if (!c.len && gr_report_remark(r, "%s:%u: a comment `gpurace: ok` without a reason hides nothing",
                                   gr_report_file(r, f->file), number) != GR_OK)
        return false;
    GrRule rule = {.kind = GR_RULE_COMMENT,
                   .path = f->file,
                   .line = number,
                   .alone = c.alone,
                   .why = gr_arena_strndup(&to->arena, c.reason, c.len)};
    rule.text = rule.why ? gr_arena_printf(&to->arena, "gpurace: ok %s", rule.why) : NULL;
    rule.pattern = rule.text;
    return rule.text && gr_vec_push(&to->rules, rule);
}

static bool add_all(GrReport *r, GrSuppressions *to, const GrRaceVec *races) {
    bool ok = true;
    for (size_t i = 0; i < races->len && ok; i++) {
        const GrRace *pair = gr_race_pair(&races->data[i]), *race = pair ? pair : &races->data[i];
        for (unsigned k = 0; k < race->found.n_accesses && ok; k++) {
            const GrAccess *a = &race->found.accesses[k];
            const GrFrame *f = gr_access_frame(a, a->headline);
            ok = !f->file || !f->line || (add_line(r, to, f, f->line) && add_line(r, to, f, f->line - 1));
        }
    }
    return ok;
}

bool gr_comments_find(GrReport *r, GrSuppressions *to) {
    return !r->sources || (add_all(r, to, &r->races) && add_all(r, to, &r->misuses));
}
