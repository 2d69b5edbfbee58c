// SPDX-License-Identifier: Apache-2.0
// The report as workflow commands of GitHub Actions, a line each: the log's reader annotates the line of the source.
// GitHub shows the first ten errors and ten warnings of a step; the surest races come first.
#include "base/escape.h"
#include "report/report_internal.h"
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

static void add_race(const GrReport *r, const GrRace *race, bool misuse, StrBuf *out) {
    const GrRace *shown = race->watched ? race->watched : race, *pair = gr_race_pair(race);
    const GrAccess *a = &shown->found.accesses[0];
    const GrClass *class = gr_report_class(r, race->found.class);
    StrBuf text = {0}, title = {0};
    gr_escaped_addf(&title, "%s: %s", misuse ? gr_misuse_title(class) : "data race", class->name);
    if (misuse)
        gr_escaped_addf(&text, "%s. %s", race->found.detail, class->meaning);
    else if (pair && pair->found.order)
        gr_race_sentence(r, pair, &text);
    else
        gr_add_escaped(class->meaning, &text);
    gr_escaped_addf(&text, "\nid %s, again: %s", race->id ? race->id : "?", gr_race_reproduce(r, race));
    add_command(r, race->judged && !race->witness ? "warning" : "error", gr_access_frame(a, a->headline),
                title.data ? title.data : "", text.data ? text.data : "", out);
    out->oom |= text.oom || title.oom;
    gr_str_free(&text);
    gr_str_free(&title);
}

static void add_reason(const GrReport *r, const char *reason, StrBuf *out) {
    StrBuf text = {0};
    gr_add_escaped(reason, &text);
    add_command(r, "warning", NULL, "gpurace: not everything was checked", text.data ? text.data : "", out);
    out->oom |= text.oom;
    gr_str_free(&text);
}

gr_status gr_report_github(const GrReport *r, StrBuf *out, gr_error *err) {
    size_t listed = gr_report_listed(r);
    StrBuf verdict = {0};
    for (size_t k = 0; k < listed; k++)
        if (!r->races.data[k].known)
            add_race(r, &r->races.data[k], false, out);
    for (size_t k = 0; k < r->misuses.len; k++)
        if (!r->misuses.data[k].known)
            add_race(r, &r->misuses.data[k], true, out);
    for (size_t k = 0; k < r->reasons.len; k++)
        add_reason(r, r->reasons.data[k].text, out);
    gr_report_summary(r, &verdict);
    add_command(r, "notice", NULL, "gpurace", verdict.data ? verdict.data : "", out);
    out->oom |= verdict.oom;
    gr_str_free(&verdict);
    return out->oom ? gr_no_memory(err) : GR_OK;
}
