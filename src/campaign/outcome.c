// SPDX-License-Identifier: Apache-2.0
#include "campaign/outcome.h"

#include "base/str.h"
#include "report/read/read_report.h"
#include "report/title.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

static bool add_race(GrCampaignOutcome *o, GrReport *r, const GrRace *race, Arena *arena) {
    StrBuf title = {0};
    gr_race_title(r, race, &title);
    GrCampaignRace seen = {.id = race->id ? gr_arena_strdup(arena, race->id) : NULL,
                           .title = title.oom ? NULL : gr_arena_strdup(arena, title.data),
                           .count = race->found.count};
    gr_str_free(&title);
    return seen.id && seen.title && gr_vec_push(&o->races, seen);
}

static bool take(GrCampaignOutcome *o, GrReport *r, Arena *arena) {
    bool ok = (o->verdict = gr_arena_strdup(arena, gr_verdict_name(r->verdict))) != NULL;
    o->is_void = r->is_void;
    for (size_t k = 0; ok && k < r->races.len; k++)
        ok = add_race(o, r, &r->races.data[k], arena);
    for (size_t k = 0; ok && k < r->misuses.len; k++)
        ok = add_race(o, r, &r->misuses.data[k], arena);
    for (size_t k = 0; ok && k < r->reasons.len; k++) {
        const char *reason = gr_arena_strdup(arena, r->reasons.data[k].text);
        ok = reason && gr_vec_push(&o->reasons, reason);
    }
    return ok;
}

gr_status gr_outcome_read(const char *path, Arena *arena, GrCampaignOutcome *o, gr_error *err) {
    char *text = NULL, folder[PATH_MAX];
    size_t len;
    gr_error why;
    GrReport r;
    o->verdict = GR_CAMPAIGN_FAILED;
    if (access(path, R_OK))
        return GR_OK;
    GR_MUST(gr_file_read(path, &text, &len, err));
    gr_report_init(&r);
    r.folder = getcwd(folder, sizeof folder);
    gr_status st = gr_report_parse(path, text, len, &r, &why);
    if (st == GR_OK)
        st = (o->report = gr_arena_strndup(arena, text, len)) && take(o, &r, arena) ? GR_OK : GR_ERR_NOMEM;
    gr_report_free(&r);
    free(text);
    return st == GR_ERR_NOMEM ? gr_fail(err, st, "out of memory") : GR_OK; // what is no report is none
}
