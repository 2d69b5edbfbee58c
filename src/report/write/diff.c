// SPDX-License-Identifier: Apache-2.0
#include "report/write/diff.h"

#include "base/escape.h"
#include "report/write/cause_words.h"
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

// Shows a list: causes of which all races are in it, and the other races and misuses. `cause` and `race` may be NULL.
typedef struct See {
    void *user;
    void (*cause)(void *user, const GrReport *r, const GrCauseRaces *c);
    void (*race)(void *user, const GrReport *r, const GrRace *race, bool misuse);
} See;

typedef struct Counts {
    size_t races, causes; // misuses are races here
} Counts;

static void see_cause(const List *list, const See *see, const GrReport *r, const GrCauseRaces *c, Counts *n) {
    bool whole = gr_cause_known(c) == (list->known ? c->n : 0);
    n->causes += whole;
    if (whole && see->cause)
        see->cause(see->user, r, c);
    for (uint32_t i = 0; i < c->n; i++)
        if (c->races[i]->known == list->known) {
            n->races++;
            if (see->race && !(whole && see->cause))
                see->race(see->user, r, c->races[i], false);
        }
}

// False: out of memory.
static bool each(const GrDiff *d, const List *list, const See *see, Arena *arena, Counts *n) {
    const GrReport *r = list->of_after ? d->after : d->before;
    size_t causes = 0;
    const GrCauseRaces *all = gr_report_causes(r, arena, &causes);
    *n = (Counts){0};
    for (size_t k = 0; all && k < causes; k++)
        see_cause(list, see, r, &all[k], n);
    for (size_t k = 0; k < r->misuses.len; k++)
        if (r->misuses.data[k].known == list->known) {
            n->races++;
            if (see->race)
                see->race(see->user, r, &r->misuses.data[k], true);
        }
    return all;
}

typedef struct TextTo {
    StrBuf *out;
    Arena *arena;
} TextTo;

static void cause_text(void *user, const GrReport *r, const GrCauseRaces *c) {
    TextTo *to = user;
    gr_str_add(to->out, "  ");
    gr_cause_line(r, c, to->arena, to->out);
}

static void race_text(void *user, const GrReport *r, const GrRace *race, bool misuse) {
    TextTo *to = user;
    gr_str_add(to->out, "  ");
    gr_text_line(r, race, misuse, to->arena, to->out);
}

void gr_diff_text(const GrDiff *d, StrBuf *out) {
    Arena arena;
    gr_arena_init(&arena);
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        Counts n;
        const char *name = lists[k].of_after ? d->after_name : d->before_name;
        out->oom |= !each(d, &lists[k], &(See){0}, &arena, &n);
        const char *where = lists[k].known ? ", in both" : gr_arena_printf(&arena, ", in %s only", name);
        gr_escaped_addf(out, "%s: ", lists[k].word);
        gr_report_counted(n.races, n.causes, where ? where : "", out);
        gr_str_addc(out, '\n');
        each(d, &lists[k], &(See){&(TextTo){out, &arena}, cause_text, race_text}, &arena, &n);
    }
    if (d->before->unlisted || d->after->unlisted)
        gr_str_add(out, "one of the reports does not list all of its races (--max-reports): what is new or "
                        "gone may be among those\n");
    gr_arena_free(&arena);
}

// Kernel, place and count of what is told by `shown`.
static bool add_place(json_t *o, const GrRace *shown, uint64_t count) {
    const GrFrame *f = gr_race_place(shown);
    return gr_json_set(o, "kernel", shown->found.kernel ? gr_json_text(shown->found.kernel) : json_null()) &&
           gr_json_set(o, "file", f->file ? gr_json_text(f->file) : json_null()) &&
           gr_json_set(o, "line", f->line ? json_integer(f->line) : json_null()) &&
           gr_json_set(o, "count", json_integer((json_int_t)count));
}

// A list that lacks one is found by its length.
static void append(json_t *list, json_t *o, bool ok) {
    json_array_append_new(list, ok ? o : (json_decref(o), NULL));
}

static void race_json(void *user, const GrReport *r, const GrRace *race, bool misuse) {
    json_t *o = json_object();
    (void)misuse;
    append(user, o,
           gr_json_set(o, "id", gr_json_text(race->id)) &&
               gr_json_set(o, "line_id", gr_json_text(race->line_id)) &&
               gr_json_set(o, "class", gr_json_text(gr_report_class(r, race->found.class)->name)) &&
               add_place(o, race, race->found.count));
}

static void cause_json(void *user, const GrReport *r, const GrCauseRaces *c) {
    json_t *o = json_object(), *races = json_array();
    bool ok = races;
    for (uint32_t k = 0; ok && k < c->n; k++)
        ok = json_array_append_new(races, gr_json_text(c->races[k]->id)) == 0;
    append(user, o,
           ok && gr_json_set(o, "id", gr_json_text(c->cause ? c->cause->id : c->shown->id)) &&
               gr_json_set(o, "what", gr_json_text(gr_cause_name(r, c))) &&
               gr_json_set(o, "races", json_incref(races)) && add_place(o, c->shown, c->count));
    json_decref(races);
}

gr_status gr_diff_json(const GrDiff *d, StrBuf *out, gr_error *err) {
    Arena arena;
    json_t *o = json_object(), *causes = json_object();
    gr_arena_init(&arena);
    bool ok = gr_json_set(o, "tool", gr_json_text(d->after->tool)) &&
              gr_json_set(o, "before", gr_json_text(d->before_name)) &&
              gr_json_set(o, "after", gr_json_text(d->after_name));
    for (size_t k = 0; ok && k < sizeof lists / sizeof *lists; k++) {
        json_t *races = json_array(), *whole = json_array();
        Counts n;
        ok = races && whole && each(d, &lists[k], &(See){races, NULL, race_json}, &arena, &n) &&
             each(d, &lists[k], &(See){whole, cause_json, NULL}, &arena, &n) &&
             json_array_size(races) == n.races && json_array_size(whole) == n.causes &&
             gr_json_set(o, lists[k].word, json_incref(races)) &&
             gr_json_set(causes, lists[k].word, json_incref(whole));
        json_decref(races);
        json_decref(whole);
    }
    ok = ok && gr_json_set(o, "causes", json_incref(causes));
    json_decref(causes);
    gr_arena_free(&arena);
    char *text = ok ? json_dumps(o, JSON_INDENT(2)) : NULL;
    if (text)
        gr_str_addf(out, "%s\n", text);
    free(text);
    json_decref(o);
    return text && !out->oom ? GR_OK : gr_no_memory(err);
}
