// SPDX-License-Identifier: Apache-2.0
// The whole of a report that was written as JSON; read_race.c reads its races.
#include "report/read/read_report.h"
#include "base/path_map.h"
#include "report/read/read_internal.h"
#include "report/suppress.h"

#include <stdlib.h>
#include <string.h>

// ---- Coverage ------------------------------------------------------------------------------------------------------

static void read_texts(GrReader *x, const json_t *o, const char *key, const json_t *times,
                       GrCountedVec *out) {
    const json_t *list = gr_read_list(x, o, key);
    size_t k;
    json_t *v;
    json_array_foreach(list, k, v) {
        const char *text =
            json_is_string(v) ? gr_intern(&x->texts, json_string_value(v), json_string_length(v)) : NULL;
        if (!json_is_string(v))
            gr_read_wrong(x, "an entry of '%s' is no text", key);
        uint64_t n = text && times ? gr_read_number(x, times, text, INT64_MAX) : 0;
        if (!text || !gr_vec_push(out, ((GrCounted){text, n ? n : 1})))
            gr_read_nomem(x);
    }
}

static void read_kernels(GrReader *x, const json_t *coverage) {
    const json_t *list = gr_read_list(x, coverage, "kernels");
    size_t k;
    json_t *v;
    json_array_foreach(list, k, v) {
        const char *why = gr_read_text(x, v, "why_not");
        GrKernelCoverage kernel = {.name = gr_read_needed(x, v, "name"),
                                   .module = gr_read_text(x, v, "module"),
                                   .unchecked = why,
                                   .launches = gr_read_number(x, v, "launches", INT64_MAX),
                                   .failed = gr_read_number(x, v, "failed", INT64_MAX)};
        gr_read_triple(x, v, "grid", kernel.grid);
        gr_read_triple(x, v, "block", kernel.block);
        if (!gr_vec_push(&x->report->kernels, kernel))
            gr_read_nomem(x);
    }
}

static void read_split(GrReader *x, const json_t *coverage, const char *key, uint64_t *checked,
                       uint64_t *unchecked) {
    const json_t *o = gr_read_object(x, coverage, key);
    *checked = gr_read_number(x, o, "checked", INT64_MAX);
    *unchecked = gr_read_number(x, o, "unchecked", INT64_MAX);
}

static void read_coverage(GrReader *x, const json_t *o, const json_t *times) {
    GrReport *r = x->report;
    read_split(x, o, "modules", &r->modules_checked, &r->modules_unchecked);
    read_split(x, o, "launches", &r->launches_checked, &r->launches_unchecked);
    r->launches_left_out = gr_read_number(x, gr_read_object(x, o, "launches"), "left_out", INT64_MAX);
    r->launches_stopped = gr_read_number(x, gr_read_object(x, o, "launches"), "stopped", INT64_MAX);
    read_kernels(x, o);
    const json_t *sites = gr_read_object(x, o, "accesses");
    for (unsigned k = 0; k < GR_SITE_STATUS_COUNT; k++)
        r->sites[k] = gr_read_number(x, sites, gr_json_status(k), INT64_MAX);
    read_texts(x, o, "absent_entry_points", NULL, &r->absent);
    read_texts(x, o, "notes", NULL, &r->notes);
    read_texts(x, o, "remarks", times, &r->remarks);
    read_texts(x, o, "faults", NULL, &r->faults);
    read_texts(x, o, "blind_to", NULL, &r->blind);
    r->dropped = gr_read_number(x, o, "dropped_records", INT64_MAX);
    r->aimed_at = gr_read_number(x, o, "aimed_at", INT64_MAX);
    const json_t *so_far = gr_read_object(x, o, "so_far"), *sample = gr_read_object(x, o, "sample");
    if (so_far) {
        r->so_far.name = gr_read_needed(x, so_far, "file");
        r->so_far.runs = gr_read_number(x, so_far, "runs", INT64_MAX);
        r->so_far.accesses = gr_read_number(x, so_far, "accesses", INT64_MAX);
        r->so_far.watched = gr_read_number(x, so_far, "watched", INT64_MAX);
        r->so_far.conflicts = gr_read_number(x, so_far, "conflicts", INT64_MAX);
        r->so_far.met = gr_read_number(x, so_far, "met", INT64_MAX);
        r->aimed_at = gr_read_number(x, so_far, "aimed_at", INT64_MAX);
    }
    if (sample) {
        r->sample = gr_read_needed(x, sample, "spec");
        r->watched = gr_read_number(x, sample, "watched", INT64_MAX);
    }
}

// ---- What hid races -------------------------------------------------------------------------------------------------

static struct GrSuppressions *new_rules(GrReader *x) {
    GrSuppressions *s = gr_suppressions_new(&x->report->arena);
    if (!s)
        gr_read_nomem(x);
    return s;
}

static void read_rules(GrReader *x, const json_t *o) {
    const json_t *list = gr_read_list(x, o, "suppressions");
    GrReport *r = x->report;
    r->owns_rules = true;
    if (!list || !(r->suppressions = new_rules(x)) || !(r->bundled = new_rules(x)) ||
        !(r->comments = new_rules(x)))
        return;
    size_t k;
    json_t *v;
    json_array_foreach(list, k, v) {
        GrRule rule = {.text = gr_read_needed(x, v, "rule"),
                       .path = gr_read_needed(x, v, "file"),
                       .why = gr_read_text(x, v, "why"),
                       .line = (uint32_t)gr_read_number(x, v, "line", UINT32_MAX),
                       .races = gr_read_number(x, v, "races", INT64_MAX),
                       .count = gr_read_number(x, v, "count", INT64_MAX)};
        GrSuppressions *to = gr_read_flag(v, "bundled")     ? r->bundled
                             : gr_read_flag(v, "in_source") ? r->comments
                                                            : r->suppressions;
        if (to == r->comments)
            rule.kind = GR_RULE_COMMENT;
        if (!gr_vec_push(&to->rules, rule))
            gr_read_nomem(x);
    }
}

// ---- The rest -------------------------------------------------------------------------------------------------------

static void read_sources(GrReader *x, const json_t *report) {
    json_t *files = (json_t *)(uintptr_t)gr_read_object(x, report, "sources"), *lines, *text;
    const char *file, *line;
    json_object_foreach(files, file, lines) {
        file = gr_path_mapped(x->report->paths, file, &x->report->arena);
        const char *path = gr_intern(&x->texts, file, strlen(file));
        json_object_foreach(lines, line, text) {
            unsigned long n = strtoul(line, NULL, 10);
            const char *says = json_is_string(text)
                                   ? gr_intern(&x->texts, json_string_value(text), json_string_length(text))
                                   : NULL;
            if (!n || n > UINT32_MAX || !json_is_string(text))
                gr_read_wrong(x, "a line of 'sources' makes no sense");
            else if (!path || !says || !gr_source_give(x->report->sources, path, (uint32_t)n, says))
                gr_read_nomem(x);
        }
    }
}

static GrVerdict verdict_of(GrReader *x, const json_t *o) {
    static const GrVerdict all[] = {GR_VERDICT_CLEAN, GR_VERDICT_RACES, GR_VERDICT_INCONCLUSIVE};
    const char *word = gr_read_needed(x, o, "verdict");
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (!strcmp(word, gr_verdict_name(all[k])))
            return all[k];
    gr_read_wrong(x, "there is no verdict '%s'", word);
    return GR_VERDICT_INCONCLUSIVE;
}

static void read_runs(GrReader *x, const json_t *report) {
    const json_t *list = gr_read_list(x, report, "runs");
    size_t k;
    json_t *v;
    json_array_foreach(list, k, v) {
        GrRunOf *run = GR_NEW(&x->report->arena, GrRunOf);
        if (!run || !gr_vec_push(&x->report->runs, run)) {
            gr_read_nomem(x);
            return;
        }
        *run = (GrRunOf){.id = gr_read_needed(x, v, "id"),
                         .tool = gr_read_needed(x, v, "tool"),
                         .engine = gr_read_needed(x, v, "engine"),
                         .evidence = gr_read_needed(x, v, "evidence"),
                         .device = gr_read_needed(x, v, "device"),
                         .reproduce = gr_read_needed(x, v, "reproduce"),
                         .seed = gr_read_number(x, v, "seed", INT64_MAX),
                         .races = gr_read_number(x, v, "races", INT64_MAX),
                         .verdict = verdict_of(x, v)};
    }
}

static void read_possible(GrReader *x, const json_t *report) {
    const json_t *list = gr_read_list(x, report, "possible");
    size_t k;
    json_t *v;
    json_array_foreach(list, k, v) {
        const json_t *sides = gr_read_list(x, v, "sides");
        GrPossibleRace p = {.pair = {.text = gr_read_needed(x, v, "text"),
                                     .kernel = gr_read_needed(x, v, "kernel"),
                                     .sides = {{.file = NULL}, {.file = NULL}}},
                            .known = gr_read_flag(v, "known")};
        if (json_array_size(sides) != 2)
            gr_read_wrong(x, "a possible race has no two sides");
        for (size_t side = 0; side < 2; side++)
            p.pair.sides[side] = gr_read_frame(x, json_array_get(sides, side));
        if (!gr_vec_push(&x->report->possible, p))
            gr_read_nomem(x);
    }
}

static void drop_names(json_t *races) {
    size_t k;
    json_t *v;
    json_array_foreach(races, k, v) {
        json_object_del(v, "id");
        json_object_del(v, "line_id");
        json_object_del(v, "rule");
        json_object_del(v, "known");
    }
}

// Hashes what the report says: not how the file was written, nor what depends on local sources or other reports, nor
// how its races are grouped.
static void read_content(GrReader *x) {
    uint64_t most = x->report->max_reports;
    x->report->max_reports = 0;
    json_t *o = gr_json_report(x->report);
    x->report->max_reports = most;
    json_object_del(o, "sources");
    json_object_del(o, "baseline");
    json_object_del(o, "causes");
    json_object_del(o, "format");
    drop_names(json_object_get(o, "races"));
    drop_names(json_object_get(o, "possible"));
    drop_names(json_object_get(o, "misuses"));
    drop_names(json_object_get(o, "hidden"));
    char *all = o ? json_dumps(o, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    json_decref(o);
    if (all)
        x->report->content = gr_arena_printf(&x->report->arena, "%016llx",
                                             (unsigned long long)gr_hash_bytes(all, strlen(all)));
    if (!x->report->content)
        gr_read_nomem(x);
    free(all);
}

// False: a cause names a race that is not there or is of another cause, as where somebody left out some of the races.
static bool read_cause(GrReader *x, const json_t *v, const Map *at) {
    GrReport *r = x->report;
    GrCause cause = {.id = gr_read_needed(x, v, "id"),
                     .update = gr_read_text(x, v, "update"),
                     .follows = gr_read_flag(v, "follows")};
    const json_t *races = gr_read_list(x, v, "races");
    size_t k;
    json_t *id;
    json_array_foreach(races, k, id) {
        size_t place = json_is_string(id) ? (size_t)gr_map_get(at, json_string_value(id)) : 0;
        GrRace *race = place ? &r->races.data[place - 1] : NULL;
        if (!race || race->cause)
            return false;
        race->cause = (uint32_t)r->causes.len + 1;
        cause.repair = race->repair;
    }
    if (!gr_vec_push(&r->causes, cause))
        gr_read_nomem(x);
    return true;
}

// Reads the causes, or finds those of the races that are there.
static void read_causes(GrReader *x, const json_t *o) {
    GrReport *r = x->report;
    const json_t *list = gr_read_list(x, o, "causes");
    Map at = {0};
    size_t k;
    json_t *v;
    bool fits = list != NULL;
    for (k = 0; k < r->races.len; k++)
        if (!gr_map_put(&at, r->races.data[k].id, (void *)(k + 1)))
            gr_read_nomem(x);
    for (k = 0; fits && k < json_array_size(list) && (v = json_array_get(list, k)); k++)
        fits = read_cause(x, v, &at);
    gr_map_free(&at);
    for (k = 0; k < r->races.len && !fits; k++)
        r->races.data[k].cause = 0;
    if (!fits && x->st == GR_OK)
        x->st = gr_report_find_causes(r, x->err);
}

static void read_report(GrReader *x, const json_t *o) {
    GrReport *r = x->report;
    const json_t *times = gr_read_object(x, o, "times"), *coverage = gr_read_object(x, o, "coverage");
    if (!coverage || !json_object_get(o, "races"))
        gr_read_wrong(x, "'races' or 'coverage' are missing");
    r->tool = gr_read_needed(x, o, "tool");
    r->engine = gr_read_needed(x, o, "engine");
    r->evidence = gr_read_needed(x, o, "evidence");
    r->device = gr_read_needed(x, o, "device");
    r->reproduce = gr_read_needed(x, o, "reproduce");
    r->ran = strcmp(r->device, "none") != 0;
    r->seed = gr_read_number(x, o, "seed", INT64_MAX);
    r->replays = gr_read_number(x, o, "replays", INT64_MAX);
    r->unlisted = gr_read_number(x, o, "races_not_listed", INT64_MAX);
    r->poisoned = gr_read_flag(o, "poison_writes");
    r->is_void = gr_read_flag(o, "void");
    r->verdict = verdict_of(x, o);
    read_texts(x, o, "reasons", times, &r->reasons);
    read_coverage(x, coverage, times);
    read_rules(x, o);
    read_sources(x, o);
    const json_t *baseline = gr_read_object(x, o, "baseline");
    if (baseline) {
        r->baseline.name = gr_read_needed(x, baseline, "file");
        r->baseline.fresh = gr_read_number(x, baseline, "new", INT64_MAX);
        r->baseline.known = gr_read_number(x, baseline, "known", INT64_MAX);
        r->baseline.gone = gr_read_number(x, baseline, "gone", INT64_MAX);
        const json_t *causes = gr_read_object(x, baseline, "causes");
        r->baseline.causes.fresh = gr_read_number(x, causes, "new", INT64_MAX);
        r->baseline.causes.known = gr_read_number(x, causes, "known", INT64_MAX);
        r->baseline.causes.gone = gr_read_number(x, causes, "gone", INT64_MAX);
    }
    read_runs(x, o);
    read_possible(x, o);
    gr_read_races(x, gr_read_list(x, o, "races"), "race", &r->races);
    gr_read_races(x, gr_read_list(x, o, "misuses"), "misuse", &r->misuses);
    gr_read_races(x, gr_read_list(x, o, "hidden"), "hidden race", &r->hidden);
    // A report of a gpurace that named no races.
    bool named = true;
    for (size_t k = 0; k < r->races.len; k++)
        named &= r->races.data[k].id != NULL;
    for (size_t k = 0; k < r->misuses.len; k++)
        named &= r->misuses.data[k].id != NULL;
    for (size_t k = 0; k < r->hidden.len; k++)
        named &= r->hidden.data[k].id != NULL;
    if (!named && x->st == GR_OK)
        x->st = gr_report_identify(r, x->err);
    if (x->st == GR_OK)
        read_causes(x, o);
    if (!r->runs.len && x->st == GR_OK)
        read_content(x);
}

gr_status gr_report_parse(const char *path, const char *text, size_t len, GrReport *r, gr_error *err) {
    GrReader x = {.report = r, .path = path, .err = err, .where = ""};
    json_error_t why;
    GR_NEED(r->sources, err);
    json_t *o = json_loadb(text, len, JSON_REJECT_DUPLICATES, &why);
    if (!o && json_error_code(&why) == json_error_out_of_memory)
        return gr_no_memory(err);
    if (!o)
        return gr_fail_at(err, GR_ERR_SYNTAX, path, (unsigned)(why.line > 0 ? why.line : 0),
                          (unsigned)(why.column > 0 ? why.column : 0),
                          "%s: a report is JSON, as `gpurace run --format json` writes it", why.text);
    gr_intern_init(&x.texts, &r->arena);
    if (!json_is_object(o))
        gr_read_wrong(&x, "it is no object");
    else
        read_report(&x, o);
    json_decref(o);
    gr_intern_free(&x.texts);
    return x.st;
}

gr_status gr_report_read(const char *path, GrReport *r, gr_error *err) {
    char *text;
    size_t len;
    GR_MUST(gr_file_read(path, &text, &len, err));
    gr_status st = gr_report_parse(path, text, len, r, err);
    free(text);
    return st;
}
