// SPDX-License-Identifier: Apache-2.0
// The report as SARIF 2.1.0, the OASIS format that code hosts and editors read (docs/reports.md).
//
// A cause is a result, told by one of its races: the first side is the location, the other side the related location 1,
// and the places of its other races follow. Both sides are threads of one code flow, from the kernel down to the
// access. What stood against a clean verdict is a notification of the invocation. Files below the report's folder are
// named relative to it, as code hosts need it.
#include "base/escape.h"
#include "findings/headline.h"
#include "report/suppress.h"
#include "report/write/cause_words.h"
#include "report/write/formats.h"
#include "report/write/json_internal.h"
#include "report/write/sarif_fix.h"

#include <stdlib.h>
#include <string.h>

typedef struct Writer {
    const GrReport *report;
    Arena *arena;
    json_t *rules; // one for each class that was found
    Map rule_at;   // the class's name -> 1 + its place there
    bool nomem;
} Writer;

// Takes `v` over.
static void put(Writer *w, json_t *o, const char *key, json_t *v) { w->nomem |= !gr_json_set(o, key, v); }
static void add(Writer *w, json_t *list, json_t *v) { w->nomem |= json_array_append_new(list, v) != 0; }

static json_t *message(const char *text) {
    json_t *o = json_object();
    return gr_json_set(o, "text", gr_json_text(text)) ? o : (json_decref(o), NULL);
}

// Takes `text` over.
static json_t *message_of(Writer *w, StrBuf *text) {
    w->nomem |= text->oom;
    json_t *o = message(text->data ? text->data : "");
    gr_str_free(text);
    return o;
}

// ---- Places ---------------------------------------------------------------------------------------------------------

// RFC 3986: what is no letter, digit or one of -._~/ is written as %XX.
static const char *uri(Writer *w, const char *path) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
    StrBuf out = {0};
    if (*path == '/')
        gr_str_add(&out, "file://");
    for (const char *p = path; *p; p++)
        if (strchr(plain, *p))
            gr_str_addc(&out, *p);
        else
            gr_str_addf(&out, "%%%02X", (unsigned char)*p);
    char *text = out.oom ? NULL : gr_arena_strdup(w->arena, out.data ? out.data : "");
    w->nomem |= !text;
    gr_str_free(&out);
    return text ? text : "";
}

static json_t *artifact(Writer *w, const char *file) {
    const GrReport *r = w->report;
    size_t n = r->folder ? strlen(r->folder) : 0;
    bool below = n > 1 && !strncmp(file, r->folder, n) && file[n] == '/';
    json_t *o = json_object();
    put(w, o, "uri", json_string(uri(w, below ? file + n + 1 : file)));
    if (below || *file != '/')
        put(w, o, "uriBaseId", json_string("SRCROOT"));
    return o;
}

// Column `col` (bytes from 1) in units of UTF-16, as columnKind below says. A byte that is no UTF-8 counts as one
// (escape.h). Behind the line's end, and in a line that is not known, bytes are counted.
static uint32_t utf16_column(const char *line, size_t len, uint32_t col) {
    uint32_t units = 1;
    if (!line || col > len)
        return col;
    for (size_t at = 0, n; at + 1 < col; at += n) {
        uint32_t point;
        n = gr_utf8_char(line + at, len - at, &point);
        units += n && point >= 0x10000 ? 2 : 1;
        n = n ? n : 1;
    }
    return units;
}

static json_t *region(Writer *w, const GrFrame *f) {
    size_t len = 0;
    const char *line = w->report->sources ? gr_source_line(w->report->sources, f->file, f->line, &len) : NULL;
    char *copy = line ? gr_arena_strndup(w->arena, line, len < 400 ? len : 0) : NULL;
    json_t *o = json_object();
    put(w, o, "startLine", json_integer(f->line));
    if (f->col)
        put(w, o, "startColumn", json_integer(utf16_column(line, len, f->col)));
    if (copy && *copy)
        put(w, o, "snippet", message(copy));
    return o;
}

static json_t *place_in(Writer *w, const GrFrame *f, const char *name) {
    json_t *o = json_object(), *physical = json_object();
    if (f->file && f->line) {
        put(w, physical, "artifactLocation", artifact(w, f->file));
        put(w, physical, "region", region(w, f));
        put(w, o, "physicalLocation", json_incref(physical));
    }
    json_decref(physical);
    if (name)
        put(w, o, "logicalLocations",
            json_pack("[{s:o,s:s}]", "fullyQualifiedName", gr_json_text(gr_demangle(name, w->arena)), "kind",
                      "function"));
    return o;
}

// The location of an access at frame `k` of its places.
static json_t *location(Writer *w, const GrFinding *found, const GrAccess *a, uint32_t k) {
    const GrFrame *f = gr_access_frame(a, k);
    return place_in(w, f, f->function ? f->function : found->kernel);
}

// Where a frame is, if its line is known.
static const GrFrame *line_of(const GrFrame *f) { return f && f->file && f->line ? f : NULL; }

// Where a side is: its headline, or the program's call of the API. NULL: not known.
static const GrFrame *side_line(const GrAccess *a) {
    const GrFrame *f = line_of(gr_access_frame(a, a->headline));
    return f || a->ptx_line || a->host || !a->stack || !a->stack->n ? f : line_of(a->stack->frames);
}

static bool has_place(const GrAccess *a) { return side_line(a) != NULL; }

static json_t *side_location(Writer *w, const GrFinding *found, const GrAccess *a) {
    const GrFrame *f = side_line(a);
    f = f ? f : gr_access_frame(a, a->headline);
    return place_in(w, f, f->function ? f->function : found->kernel);
}

static void add_thread(const GrAccess *a, StrBuf *out) {
    if (a->has_thread)
        gr_escaped_addf(out, "block (%u,%u,%u) thread (%u,%u,%u)", a->block[0], a->block[1], a->block[2],
                        a->thread[0], a->thread[1], a->thread[2]);
    else
        gr_add_escaped(a->host ? "host" : a->kind, out);
}

// What the access did, which thread, and where in memory.
static json_t *access_message(Writer *w, const GrFinding *found, const GrAccess *a, const char *side) {
    StrBuf s = {0};
    gr_escaped_addf(&s, "%s: %s%s", side, a->async ? "asynchronous " : "", a->kind);
    if (a->size)
        gr_escaped_addf(&s, " of %u byte%s", a->size, a->size == 1 ? "" : "s");
    gr_str_add(&s, ", ");
    add_thread(a, &s);
    if (a->has_thread && found->space)
        gr_escaped_addf(&s, ", %s 0x%llx",
                        strcmp(found->space, "shared") ? "global address" : "shared memory, offset",
                        (unsigned long long)a->address);
    gr_access_memory(w->report, a, w->arena, &s);
    if (!has_place(a) && a->ptx_line)
        gr_escaped_addf(&s, ", PTX line %u", a->ptx_line);
    return message_of(w, &s);
}

// ---- Results --------------------------------------------------------------------------------------------------------

// "gpurace/read-write-race".
static const char *rule_id(Writer *w, const GrClass *class) {
    char *id = gr_arena_printf(w->arena, "gpurace/%s", class->name);
    w->nomem |= !id;
    char *to = id;
    for (char *from = id; from && *from; from++)
        if (strchr("abcdefghijklmnopqrstuvwxyz0123456789/", *from | (*from >= 'A' && *from <= 'Z' ? 32 : 0)))
            *to++ = (char)(*from | (*from >= 'A' && *from <= 'Z' ? 32 : 0));
        else if (to[-1] != '-')
            *to++ = '-';
    while (id && to[-1] == '-')
        to--;
    if (id)
        *to = 0;
    return id ? id : "gpurace";
}

static size_t rule_of(Writer *w, const GrClass *class, bool misuse) {
    size_t at = (size_t)gr_map_get(&w->rule_at, class->name);
    if (at)
        return at - 1;
    json_t *o = json_object(), *help = message(class->meaning);
    StrBuf page = {0};
    gr_escaped_addf(&page, "%s.\n\nAll classes of races: docs/classes.md of gpurace.", class->meaning);
    put(w, o, "id", json_string(rule_id(w, class)));
    put(w, o, "name", gr_json_text(class->name));
    put(w, o, "shortDescription", message(class->name));
    put(w, o, "fullDescription", json_incref(help));
    put(w, o, "help", message_of(w, &page));
    put(w, o, "defaultConfiguration", json_pack("{s:s}", "level", "error"));
    put(w, o, "properties",
        json_pack("{s:[s,s,s]}", "tags", "cuda", "concurrency",
                  gr_class_is_stray(class) ? "memory"
                  : misuse                 ? "synchronization"
                                           : "data-race"));
    json_decref(help);
    add(w, w->rules, o);
    w->nomem |= !gr_map_put(&w->rule_at, class->name, (void *)json_array_size(w->rules));
    return json_array_size(w->rules) - 1;
}

// From the kernel down to the access.
// From the program's main down to the call of CUDA.
static void add_calls(Writer *w, json_t *steps, const GrStack *stack) {
    for (uint32_t k = stack ? stack->n : 0; k-- > 0;) {
        const GrFrame *f = &stack->frames[k];
        if (!line_of(f))
            continue;
        StrBuf text = {0};
        gr_escaped_addf(&text, "calls %s",
                        k && stack->frames[k - 1].function
                            ? gr_short_name(stack->frames[k - 1].function, w->arena)
                        : !k && stack->call ? stack->call
                                            : "CUDA");
        json_t *place = place_in(w, f, f->function);
        put(w, place, "message", message_of(w, &text));
        add(w, steps, json_pack("{s:o}", "location", place));
    }
}

// From main to the kernel, and down to the access.
static json_t *thread_flow(Writer *w, const GrFinding *found, const GrAccess *a, const char *side) {
    json_t *o = json_object(), *steps = json_array();
    StrBuf id = {0};
    add_thread(a, &id);
    add_calls(w, steps, a->stack);
    for (uint32_t k = a->n_inlined + 1; k-- > 0;) {
        const GrFrame *f = gr_access_frame(a, k);
        if (k && !(f->file && f->line))
            continue;
        json_t *place = location(w, found, a, k);
        put(w, place, "message",
            k ? message("runs code that was inlined here") : access_message(w, found, a, side));
        add(w, steps, json_pack("{s:o}", "location", place));
    }
    put(w, o, "id", gr_json_text(id.data ? id.data : ""));
    put(w, o, "locations", json_incref(steps));
    json_decref(steps);
    gr_str_free(&id);
    return o;
}

static json_t *code_flow(Writer *w, const GrFinding *found, const char *order) {
    json_t *o = json_object(), *flows = json_array();
    for (unsigned k = 0; k < found->n_accesses; k++)
        add(w, flows, thread_flow(w, found, &found->accesses[k], k ? "the other side" : "one side"));
    if (order)
        put(w, o, "message", message(order));
    put(w, o, "threadFlows", json_incref(flows));
    json_decref(flows);
    return o;
}

static void add_kernel(Writer *w, const GrFinding *found, StrBuf *out) {
    if (found->kernel)
        gr_escaped_addf(out, " in kernel %s", gr_short_name(found->kernel, w->arena));
}

// The first sentence is what a code host shows as the title.
static json_t *cause_message(Writer *w, const GrCauseRaces *c, const GrRace *shown, const GrAccess *other) {
    const GrReport *r = w->report;
    const GrRace *race = c->shown;
    StrBuf s = {0}, fix = {0};
    gr_escaped_addf(&s, "Data race: %s", gr_cause_name(r, c));
    gr_cause_object(r, &shown->found, w->arena, &s);
    add_kernel(w, &race->found, &s);
    gr_str_add(&s, ". ");
    if (shown->found.order)
        gr_race_sentence(r, shown, &s);
    else
        gr_add_escaped(gr_cause_meaning(r, c), &s);
    if (other && has_place(other))
        gr_str_add(&s, ". The other side is [here](1)");
    if (gr_cause_fix(r, c, true, &fix))
        gr_str_addf(&s, ". Fix: %s", fix.data ? fix.data : "");
    gr_escaped_addf(&s, ". Occurred %llu time%s", (unsigned long long)c->count, c->count == 1 ? "" : "s");
    if (c->n > 1)
        gr_escaped_addf(&s, " as %u races", c->n);
    gr_escaped_addf(&s, "; evidence: %s (engine %s).",
                    race->found.evidence ? race->found.evidence : r->evidence,
                    race->found.engine ? race->found.engine : r->engine);
    s.oom |= fix.oom;
    gr_str_free(&fix);
    return message_of(w, &s);
}

static void add_common(Writer *w, json_t *o, const GrRace *race, bool misuse) {
    const GrClass *class = gr_report_class(w->report, race->found.class);
    size_t rule = rule_of(w, class, misuse);
    bool doubted = race->judged && !race->witness;
    put(w, o, "ruleId", json_string(rule_id(w, class)));
    put(w, o, "ruleIndex", json_integer((json_int_t)rule));
    put(w, o, "level", json_string(doubted ? "warning" : "error"));
    put(w, o, "kind", json_string("fail"));
    put(w, o, "partialFingerprints",
        json_pack("{s:s,s:s}", "raceSite/v1", race->id ? race->id : "", "raceLine/v1",
                  race->line_id ? race->line_id : ""));
    put(w, o, "occurrenceCount",
        json_integer(race->found.count > INT32_MAX ? INT32_MAX : (json_int_t)race->found.count));
    if (w->report->baseline.name)
        put(w, o, "baselineState", json_string(race->known ? "unchanged" : "new"));
}

static void add_places(Writer *w, json_t *o, const GrFinding *found, const GrAccess *a) {
    json_t *places = json_array();
    if (has_place(a) || found->kernel)
        add(w, places, location(w, found, a, a->headline));
    put(w, o, "locations", places);
}

// Takes `text` over.
static void add_related(Writer *w, json_t *list, json_t *place, json_t *text) {
    put(w, place, "id", json_integer((json_int_t)json_array_size(list) + 1));
    put(w, place, "message", text);
    add(w, list, place);
}

static bool same_place(const GrAccess *a, const GrAccess *b) {
    const GrFrame *f = side_line(a), *g = side_line(b);
    return f && g && f->line == g->line && f->col == g->col && !gr_compare_texts(f->file, g->file);
}

static void add_origin(Writer *w, json_t *list, const GrFrame *f, const char *text) {
    if (line_of(f))
        add_related(w, list, place_in(w, f, f->function), message(text));
}

// Where the program launched the kernels of both sides, and where it asked for the memory.
static void add_origins(Writer *w, json_t *list, const GrAccess *a, const GrAccess *b) {
    if (a->ptx_line && a->stack && a->stack->n)
        add_origin(w, list, a->stack->frames, "the kernel was launched here");
    if (b && b->ptx_line && b->launch != a->launch && b->stack && b->stack->n)
        add_origin(w, list, b->stack->frames, "the kernel of the other side was launched here");
    add_origin(w, list, a->memory ? &a->memory->place : NULL, "the memory was allocated here");
}

enum { MOST_PLACES = 1000 }; // of a cause

// The sides of the cause's races, each place once.
static json_t *related(Writer *w, const GrCauseRaces *c, const GrFinding *found, const GrAccess *other) {
    json_t *list = json_array();
    VEC(const GrAccess *) told = {0};
    bool ok = gr_vec_push(&told, &found->accesses[0]);
    if (ok && other && has_place(other)) {
        add_related(w, list, side_location(w, found, other),
                    access_message(w, found, other, "the other side"));
        ok = gr_vec_push(&told, other);
    }
    for (uint32_t k = 0; ok && k < c->n && told.len < MOST_PLACES; k++) {
        const GrRace *pair = gr_race_pair(c->races[k]);
        for (unsigned side = 0; ok && pair && side < pair->found.n_accesses; side++) {
            const GrAccess *a = &pair->found.accesses[side];
            size_t at = 0;
            while (at < told.len && !same_place(a, told.data[at]))
                at++;
            if (at < told.len || !has_place(a))
                continue;
            const char *class = gr_report_class(w->report, c->races[k]->found.class)->name;
            add_related(w, list, side_location(w, &pair->found, a),
                        access_message(w, &pair->found, a, class));
            ok = gr_vec_push(&told, a);
        }
    }
    add_origins(w, list, &found->accesses[0], other);
    w->nomem |= !ok;
    gr_vec_free(&told);
    return list;
}

static json_t *fixes(Writer *w, const GrRepair *repair) {
    json_t *change = json_object(), *fix = json_object();
    put(w, change, "artifactLocation", artifact(w, repair->file));
    put(w, change, "replacements", gr_sarif_replacements(repair->hunks));
    put(w, fix, "description", message(repair->what));
    put(w, fix, "artifactChanges", json_pack("[o]", change));
    return json_pack("[o]", fix);
}

// The cause's id, and those of its races under keys of their own, so that each of them can be found in another log.
static void add_fingerprints(Writer *w, json_t *o, const GrCauseRaces *c) {
    json_t *prints = json_object_get(o, "partialFingerprints");
    if (c->cause)
        put(w, prints, "cause/v1", json_string(c->cause->id));
    for (uint32_t k = 0; k < c->n; k++) {
        const GrRace *race = c->races[k];
        if (race == c->shown || !race->id)
            continue;
        char *key = gr_arena_printf(w->arena, "race/%s/v1", race->id);
        put(w, prints, key ? key : "race", key ? json_string(race->line_id) : NULL);
    }
}

// Whether another report, of --baseline, has the cause: all of its races, some of them, or none.
static const char *state_of(const GrCauseRaces *c) {
    uint32_t known = gr_cause_known(c);
    return known == c->n ? "unchanged" : known ? "updated" : "new";
}

static json_t *cause_result(Writer *w, const GrCauseRaces *c) {
    const GrRace *race = c->shown, *shown = race->watched ? race->watched : race;
    const GrFinding *found = &shown->found;
    const GrRace *pair = gr_race_pair(race);
    // The other side, of a replay or of another engine if need be.
    const GrAccess *other = race->met ? &race->met->other : pair ? &pair->found.accesses[1] : NULL;
    json_t *o = json_object();
    add_common(w, o, race, false);
    add_fingerprints(w, o, c);
    put(w, o, "occurrenceCount", json_integer(c->count > INT32_MAX ? INT32_MAX : (json_int_t)c->count));
    if (w->report->baseline.name)
        put(w, o, "baselineState", json_string(state_of(c)));
    put(w, o, "message", cause_message(w, c, shown, other));
    add_places(w, o, found, &found->accesses[0]);
    json_t *places = related(w, c, found, other);
    if (json_array_size(places))
        put(w, o, "relatedLocations", json_incref(places));
    json_decref(places);
    put(w, o, "codeFlows", json_pack("[o]", code_flow(w, pair ? &pair->found : found, found->order)));
    if (c->cause && c->cause->repair)
        put(w, o, "fixes", fixes(w, c->cause->repair));
    json_t *more = json_pack(
        "{s:o,s:o,s:o}", "engine", gr_json_text(race->found.engine ? race->found.engine : w->report->engine),
        "evidence", gr_json_text(race->found.evidence ? race->found.evidence : w->report->evidence), "space",
        gr_json_text(race->found.space));
    put(w, more, "reproduce", gr_json_text(gr_race_reproduce(w->report, race)));
    if (race->found.launch)
        put(w, more, "launch", json_integer((json_int_t)race->found.launch));
    if (gr_cause_why(c))
        put(w, more, "why", gr_json_text(gr_cause_why(c)));
    if (race->found.order || shown->found.order)
        put(w, more, "missingOrder", gr_json_text(shown->found.order));
    if (race->found.detail)
        put(w, more, "detail", gr_json_text(race->found.detail));
    if (race->found.size) {
        StrBuf before = {0}, after = {0};
        gr_value_text(race->found.expected, race->found.size, &before);
        gr_value_text(race->found.seen, race->found.size, &after);
        put(w, more, "expected", gr_json_text(before.data));
        put(w, more, "seen", gr_json_text(after.data));
        gr_str_free(&before);
        gr_str_free(&after);
    }
    put(w, o, "properties", more);
    return o;
}

// The rule that hides the result, and the comment above it as the reason.
static void add_suppression(Writer *w, json_t *o, const GrRule *rule) {
    StrBuf why = {0};
    bool explains = rule->why && rule->kind != GR_RULE_COMMENT; // that has it in its text
    gr_escaped_addf(&why, "%s%s%s (%s:%u)", explains ? rule->why : "", explains ? ": " : "", rule->text,
                    rule->path, rule->line);
    put(w, o, "suppressions",
        json_pack("[{s:s,s:s,s:o}]", "kind", rule->kind == GR_RULE_COMMENT ? "inSource" : "external",
                  "status", "accepted", "justification", gr_json_text(why.data ? why.data : "")));
    w->nomem |= why.oom;
    gr_str_free(&why);
}

static json_t *misuse_result(Writer *w, const GrRace *misuse) {
    const GrFinding *f = &misuse->found;
    json_t *o = json_object();
    StrBuf s = {0};
    add_common(w, o, misuse, true);
    const GrClass *class = gr_report_class(w->report, f->class);
    gr_escaped_addf(&s, "%s misuse: %s", gr_class_is_stray(class) ? "Memory" : "Synchronization",
                    class->name);
    add_kernel(w, f, &s);
    gr_escaped_addf(&s, ". %s. %s.", f->detail ? f->detail : "", class->meaning);
    put(w, o, "message", message_of(w, &s));
    add_places(w, o, f, &f->accesses[0]);
    put(w, o, "properties",
        json_pack("{s:o}", "engine", gr_json_text(f->engine ? f->engine : w->report->engine)));
    return o;
}

// A pair of places that may race: for a person to look at.
static json_t *possible_result(Writer *w, const GrPossibleRace *p) {
    static const GrClass class = {
        0, "possible race", "two accesses may race: no run showed it, and nothing excludes it", GR_KIND_RACE};
    json_t *o = json_object();
    put(w, o, "ruleIndex", json_integer((json_int_t)rule_of(w, &class, false)));
    put(w, o, "ruleId", json_string(rule_id(w, &class)));
    put(w, o, "level", json_string("none")); // as SARIF has it for all that is no failure
    put(w, o, "kind", json_string("review"));
    if (w->report->baseline.name)
        put(w, o, "baselineState", json_string(p->known ? "unchanged" : "new"));
    put(w, o, "message", message(p->pair.text));
    for (unsigned side = 0; side < 2; side++) {
        const GrAccess at = {.kind = "", .at = p->pair.sides[side]};
        json_t *place = location(w, &(GrFinding){.kernel = p->pair.kernel}, &at, 0);
        if (side)
            put(w, place, "message", message("the other side"));
        put(w, o, side ? "relatedLocations" : "locations", json_pack("[o]", place));
    }
    return o;
}

// ---- The run --------------------------------------------------------------------------------------------------------

static void add_notes(Writer *w, json_t *list, const GrCountedVec *texts, const char *level) {
    for (size_t k = 0; k < texts->len; k++)
        add(w, list, json_pack("{s:s,s:o}", "level", level, "message", message(texts->data[k].text)));
}

static json_t *invocation(Writer *w) {
    const GrReport *r = w->report;
    json_t *o = json_object(), *notes = json_array();
    bool failed = r->verdict == GR_VERDICT_INCONCLUSIVE;
    add_notes(w, notes, &r->reasons, failed ? "error" : "warning");
    add_notes(w, notes, &r->remarks, "note");
    for (size_t k = 0; k < r->blind.len; k++) {
        StrBuf text = {0};
        gr_escaped_addf(&text, "not looked for: %s", r->blind.data[k].text);
        add(w, notes,
            json_pack("{s:s,s:o}", "level", "note", "message", message(text.data ? text.data : "")));
        gr_str_free(&text);
    }
    put(w, o, "commandLine", gr_json_text(r->reproduce));
    put(w, o, "executionSuccessful", json_boolean(!failed));
    put(w, o, "toolExecutionNotifications", notes);
    return o;
}

static json_t *tool(Writer *w) {
    const char *name = w->report->tool, *space = strrchr(name, ' ');
    json_t *driver = json_object(), *o = json_object();
    put(w, driver, "name", json_string("gpurace"));
    put(w, driver, "version", gr_json_text(space ? space + 1 : name));
    put(w, driver, "rules", json_incref(w->rules));
    put(w, o, "driver", driver);
    return o;
}

static json_t *properties(const GrReport *r) {
    return json_pack("{s:s,s:o,s:o,s:o,s:I,s:I,s:I}", "verdict", gr_verdict_name(r->verdict), "engine",
                     gr_json_text(r->engine), "evidence", gr_json_text(r->evidence), "device",
                     gr_json_text(r->device), "seed", (json_int_t)r->seed, "launchesChecked",
                     (json_int_t)r->launches_checked, "launchesNotChecked",
                     (json_int_t)r->launches_unchecked);
}

static json_t *run_json(Writer *w) {
    const GrReport *r = w->report;
    json_t *run = json_object(), *results = json_array();
    size_t listed = 0;
    size_t n = 0, bytes = 0;
    const GrCauseRaces *causes = gr_report_causes(r, w->arena, &n);
    w->nomem |= !causes;
    for (size_t k = 0; causes && k < n && gr_report_lists(r, listed, bytes) && !w->nomem; k++) {
        json_t *result = cause_result(w, &causes[k]);
        bytes += result && r->max_reports ? 2 * json_dumpb(result, NULL, 0, JSON_COMPACT) : 0;
        listed += causes[k].n;
        add(w, results, result);
    }
    for (size_t k = 0; k < r->misuses.len && !w->nomem; k++)
        add(w, results, misuse_result(w, &r->misuses.data[k]));
    for (size_t k = 0; k < r->possible.len && !w->nomem; k++)
        add(w, results, possible_result(w, &r->possible.data[k]));
    for (size_t k = 0; k < r->hidden.len && (!r->max_reports || k < r->max_reports) && !w->nomem; k++) {
        const GrRace *race = &r->hidden.data[k];
        GrCauseRaces alone = {
            .shown = race, .races = &race, .n = 1, .count = race->found.count, .known = race->known};
        json_t *result = race->found.space ? cause_result(w, &alone) : misuse_result(w, race);
        add_suppression(w, result, race->hidden_by);
        add(w, results, result);
    }
    put(w, run, "tool", tool(w));
    put(w, run, "invocations", json_pack("[o]", invocation(w)));
    if (r->folder) {
        char *folder = gr_arena_printf(w->arena, "%s/", strcmp(r->folder, "/") ? r->folder : "");
        put(w, run, "originalUriBaseIds",
            json_pack("{s:{s:s}}", "SRCROOT", "uri", uri(w, folder ? folder : "/")));
    }
    put(w, run, "columnKind", json_string("utf16CodeUnits"));
    put(w, run, "results", results);
    put(w, run, "properties", properties(r));
    return run;
}

gr_status gr_report_sarif(const GrReport *r, StrBuf *out, gr_error *err) {
    Arena arena;
    gr_arena_init(&arena);
    Writer w = {.report = r, .arena = &arena, .rules = json_array()};
    json_t *o = json_object();
    put(&w, o, "$schema", json_string("https://json.schemastore.org/sarif-2.1.0.json"));
    put(&w, o, "version", json_string("2.1.0"));
    put(&w, o, "runs", json_pack("[o]", run_json(&w)));
    char *text = w.nomem ? NULL : json_dumps(o, JSON_INDENT(2));
    if (text) {
        gr_str_add(out, text);
        gr_str_addc(out, '\n');
    }
    free(text);
    json_decref(o);
    json_decref(w.rules);
    gr_map_free(&w.rule_at);
    gr_arena_free(&arena);
    return text && !out->oom ? GR_OK : gr_no_memory(err);
}
