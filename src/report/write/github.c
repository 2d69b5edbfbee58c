// SPDX-License-Identifier: Apache-2.0
// The report as workflow commands of GitHub Actions, a line each: the log's reader annotates the line of the source.
// GitHub shows the first ten errors and ten warnings of a step; the surest causes come first.
#include "base/escape.h"
#include "report/write/cause_words.h"
#include "report/write/formats.h"

#include <string.h>

// The text is escaped, so this file made its line breaks. They would end the command; in a property, more signs would.
static void add_text(const char *text, bool property, StrBuf *out) {
    for (const char *p = text; *p; p++)
        if (*p == '%' || *p == '\n' || (property && (*p == ':' || *p == ',')))
            gr_str_addf(out, "%%%02X", (unsigned char)*p);
        else
            gr_str_addc(out, *p);
}

static void add_command(const GrReport *r, const char *level, const GrFrame *at, const char *title,
                        const char *text, StrBuf *out) {
    gr_escaped_addf(out, "::%s ", level);
    if (at && at->file && at->line) {
        StrBuf file = {0};
        gr_add_escaped(gr_report_file(r, at->file), &file);
        gr_str_add(out, "file=");
        add_text(file.data ? file.data : "", true, out);
        out->oom |= file.oom;
        gr_str_free(&file);
        gr_escaped_addf(out, ",line=%u,", at->line);
        if (at->col)
            gr_escaped_addf(out, "col=%u,", at->col);
    }
    gr_str_add(out, "title=");
    add_text(title, true, out);
    gr_str_add(out, "::");
    add_text(text, false, out);
    gr_str_addc(out, '\n');
}

// What it is, at the line of `a`, and behind the text its id and the command that shows it again.
static void add_found(const GrReport *r, const GrRace *race, const GrAccess *a, const char *id, StrBuf *title,
                      StrBuf *text, StrBuf *out) {
    gr_escaped_addf(text, "\nid %s, again: %s", id ? id : "?", gr_race_reproduce(r, race));
    add_command(r, gr_race_is_unconfirmed(race) ? "warning" : "error", gr_access_frame(a, a->headline),
                title->data ? title->data : "", text->data ? text->data : "", out);
    out->oom |= text->oom || title->oom;
    gr_str_free(text);
    gr_str_free(title);
}

static void add_cause(const GrReport *r, const GrCauseRaces *c, Arena *arena, StrBuf *out) {
    const GrRace *race = c->shown, *shown = race->watched ? race->watched : race, *pair = gr_race_pair(race);
    StrBuf text = {0}, title = {0}, fix = {0};
    gr_escaped_addf(&title, "data race: %s", gr_cause_name(r, c));
    gr_cause_object(r, &shown->found, arena, &title);
    if (gr_cause_fix(r, c, true, &fix))
        gr_str_addf(&text, "Fix: %s\n", fix.data ? fix.data : "");
    if (pair && pair->found.order)
        gr_race_sentence(r, pair, &text);
    else
        gr_add_escaped(gr_cause_meaning(r, c), &text);
    out->oom |= fix.oom;
    gr_str_free(&fix);
    add_found(r, race, &shown->found.accesses[0], c->cause ? c->cause->id : race->id, &title, &text, out);
}

static void add_misuse(const GrReport *r, const GrRace *misuse, StrBuf *out) {
    const GrClass *class = gr_report_class(r, misuse->found.class);
    StrBuf text = {0}, title = {0};
    gr_escaped_addf(&title, "%s: %s", gr_misuse_title(class), class->name);
    gr_escaped_addf(&text, "%s. %s", misuse->found.detail, class->meaning);
    add_found(r, misuse, &misuse->found.accesses[0], misuse->id, &title, &text, out);
}

static void add_reason(const GrReport *r, const char *reason, const GrPossibleRace *possible, StrBuf *out) {
    StrBuf text = {0};
    gr_add_escaped(reason, &text);
    add_command(r, "warning", possible ? &possible->pair.sides[0] : NULL,
                possible ? "possible race" : "gpurace: not everything was checked",
                text.data ? text.data : "", out);
    out->oom |= text.oom;
    gr_str_free(&text);
}

gr_status gr_report_github(const GrReport *r, StrBuf *out, gr_error *err) {
    size_t listed = gr_report_listed(r), n = 0;
    StrBuf verdict = {0};
    Map possible = {0};
    Arena arena;
    gr_arena_init(&arena);
    const GrCauseRaces *causes = gr_report_causes(r, &arena, &n);
    out->oom |= !causes;
    for (size_t k = 0, told = 0; causes && k < n && told < listed; told += causes[k++].n)
        if (!causes[k].known)
            add_cause(r, &causes[k], &arena, out);
    gr_arena_free(&arena);
    out->oom |= !gr_possible_by_text(r, &possible);
    for (size_t k = 0; k < r->misuses.len; k++)
        if (!r->misuses.data[k].known)
            add_misuse(r, &r->misuses.data[k], out);
    for (size_t k = 0; k < r->reasons.len; k++)
        add_reason(r, r->reasons.data[k].text, gr_map_get(&possible, r->reasons.data[k].text), out);
    gr_map_free(&possible);
    gr_report_summary(r, &verdict);
    add_command(r, "notice", NULL, "gpurace", verdict.data ? verdict.data : "", out);
    out->oom |= verdict.oom;
    gr_str_free(&verdict);
    return out->oom ? gr_no_memory(err) : GR_OK;
}
