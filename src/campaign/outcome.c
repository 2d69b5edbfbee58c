// SPDX-License-Identifier: Apache-2.0
#include "campaign/outcome.h"

#include "base/str.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *text_of(const json_t *o, const char *key) {
    const char *text = json_string_value(json_object_get(o, key));
    return text ? text : "?";
}

// Where an access is, without what changes from run to run.
static void add_place(const json_t *access, StrBuf *out) {
    gr_str_addf(out, "%s:%lld", text_of(access, "file"),
                (long long)json_integer_value(json_object_get(access, "line")));
}

static bool add_race(GrCampaignOutcome *o, const json_t *race, Arena *arena) {
    StrBuf title = {0};
    const json_t *accesses = json_object_get(race, "accesses");
    add_place(json_array_get(accesses, 0), &title);
    if (json_array_size(accesses) > 1) {
        gr_str_add(&title, " and ");
        add_place(json_array_get(accesses, 1), &title);
    }
    gr_str_addf(&title, ": %s in kernel %s", text_of(race, "class"), text_of(race, "kernel"));
    GrCampaignRace r = {.id = title.oom
                                  ? NULL
                                  : gr_arena_printf(arena, "%016llx",
                                                    (unsigned long long)gr_hash_bytes(title.data, title.len)),
                        .title = title.oom ? NULL : gr_arena_strdup(arena, title.data),
                        .count = (uint64_t)json_integer_value(json_object_get(race, "count"))};
    gr_str_free(&title);
    return r.id && r.title && gr_vec_push(&o->races, r);
}

gr_status gr_outcome_read(const char *path, Arena *arena, GrCampaignOutcome *o, gr_error *err) {
    char *text = NULL;
    size_t len;
    o->verdict = GR_CAMPAIGN_FAILED;
    if (access(path, R_OK))
        return GR_OK;
    gr_status st = gr_file_read(path, &text, &len, err);
    json_t *all = st == GR_OK ? json_loadb(text, len, 0, NULL) : NULL, *one;
    size_t k;
    bool ok = true;
    if (all) {
        o->report = gr_arena_strndup(arena, text, len);
        o->verdict = gr_arena_strdup(arena, text_of(all, "verdict"));
        ok = o->report && o->verdict;
        json_array_foreach(json_object_get(all, "races"), k, one) ok = ok && add_race(o, one, arena);
        json_array_foreach(json_object_get(all, "reasons"), k, one) {
            const char *reason = gr_arena_strdup(arena, json_string_value(one));
            ok = ok && reason && gr_vec_push(&o->reasons, reason);
        }
    }
    json_decref(all);
    free(text);
    return ok ? st : gr_fail(err, GR_ERR_NOMEM, "out of memory");
}
