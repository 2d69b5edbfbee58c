// SPDX-License-Identifier: Apache-2.0
#include "report/write/diff.h"

#include "base/escape.h"
#include "report/write/json_internal.h"
#include "report/write/text_internal.h"

#include <stdlib.h>

// What is listed: of which report, and whether it is in the other one, too.
typedef struct List {
    const char *word;
    bool of_after, known;
} List;

static const List lists[] = {
    {"new", true, false},
    {"gone", false, false},
    {"both", true, true},
};

typedef void See(void *user, const GrReport *r, const GrRace *race, bool misuse);

// How many there are, each shown to `see`, which may be NULL.
static size_t each(const GrDiff *d, const List *list, See *see, void *user) {
    const GrReport *r = list->of_after ? d->after : d->before;
    size_t n = 0;
    for (unsigned misuse = 0; misuse < 2; misuse++) {
        const GrRaceVec *races = misuse ? &r->misuses : &r->races;
        for (size_t k = 0; k < races->len; k++)
            if (races->data[k].known == list->known) {
                n++;
                if (see)
                    see(user, r, &races->data[k], misuse);
            }
    }
    return n;
}

typedef struct TextTo {
    StrBuf *out;
    Arena arena;
} TextTo;

static void see_text(void *user, const GrReport *r, const GrRace *race, bool misuse) {
    TextTo *to = user;
    gr_str_add(to->out, "  ");
    gr_text_line(r, race, misuse, &to->arena, to->out);
}

void gr_diff_text(const GrDiff *d, StrBuf *out) {
    TextTo to = {.out = out};
    gr_arena_init(&to.arena);
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        size_t n = each(d, &lists[k], NULL, NULL);
        const char *name = lists[k].of_after ? d->after_name : d->before_name;
        gr_escaped_addf(out, "%s: %zu, ", lists[k].word, n);
        if (lists[k].known)
            gr_escaped_addf(out, "in both\n");
        else
            gr_escaped_addf(out, "in %s only\n", name);
        each(d, &lists[k], see_text, &to);
    }
    if (d->before->unlisted || d->after->unlisted)
        gr_str_add(out, "one of the reports does not list all of its races (--max-reports): what is new or "
                        "gone may be among those\n");
    gr_arena_free(&to.arena);
}

static void see_json(void *user, const GrReport *r, const GrRace *race, bool misuse) {
    json_t *o = json_object();
    const GrFrame *f = gr_race_place(race);
    (void)misuse;
    bool ok = gr_json_set(o, "id", gr_json_text(race->id)) &&
              gr_json_set(o, "line_id", gr_json_text(race->line_id)) &&
              gr_json_set(o, "class", gr_json_text(gr_report_class(r, race->found.class)->name)) &&
              gr_json_set(o, "kernel", race->found.kernel ? gr_json_text(race->found.kernel) : json_null()) &&
              gr_json_set(o, "file", f->file ? gr_json_text(f->file) : json_null()) &&
              gr_json_set(o, "line", f->line ? json_integer(f->line) : json_null()) &&
              gr_json_set(o, "count", json_integer((json_int_t)race->found.count));
    if (!ok) {
        json_decref(o);
        o = NULL;
    }
    json_array_append_new(user, o); // a list that lacks one is found by its length
}

gr_status gr_diff_json(const GrDiff *d, StrBuf *out, gr_error *err) {
    json_t *o = json_object();
    bool ok = gr_json_set(o, "tool", gr_json_text(d->after->tool)) &&
              gr_json_set(o, "before", gr_json_text(d->before_name)) &&
              gr_json_set(o, "after", gr_json_text(d->after_name));
    for (size_t k = 0; ok && k < sizeof lists / sizeof *lists; k++) {
        json_t *list = json_array();
        size_t n = each(d, &lists[k], see_json, list);
        ok = list && json_array_size(list) == n && gr_json_set(o, lists[k].word, json_incref(list));
        json_decref(list);
    }
    char *text = ok ? json_dumps(o, JSON_INDENT(2)) : NULL;
    if (text)
        gr_str_addf(out, "%s\n", text);
    free(text);
    json_decref(o);
    return text && !out->oom ? GR_OK : gr_no_memory(err);
}
