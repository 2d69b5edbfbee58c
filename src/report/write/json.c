// SPDX-License-Identifier: Apache-2.0
// The report as JSON: docs/report.schema.json describes it.
#include "report/suppress.h"
#include "report/write/cause_words.h"
#include "report/write/json_internal.h"

#include <stdio.h>
#include <stdlib.h>

// "_new" functions of jansson return NULL when memory is out, and its setters pass that on: one check at the end.

static json_t *text_or_null(const char *s) { return s && *s ? gr_json_text(s) : json_null(); }
static json_t *number_or_null(uint64_t n) { return n ? json_integer((json_int_t)n) : json_null(); }
static json_t *triple(const uint32_t v[3]) { return json_pack("[i,i,i]", (int)v[0], (int)v[1], (int)v[2]); }

static json_t *hex(uint64_t v) {
    char buf[32];
    snprintf(buf, sizeof buf, "0x%llx", (unsigned long long)v);
    return json_string(buf);
}

// `j`, or NULL in its place where not all of it is there.
static json_t *if_made(bool ok, json_t *j) {
    if (ok)
        return j;
    json_decref(j);
    return NULL;
}

static json_t *value(const GrRace *race, const uint8_t *bytes) {
    StrBuf s = {0};
    if (!race->found.size)
        return json_null();
    gr_str_add(&s, "0x");
    for (uint32_t i = race->found.size; i-- > 0;)
        gr_str_addf(&s, "%02x", bytes[i]);
    json_t *j = json_string(s.data);
    gr_str_free(&s);
    return j;
}

static json_t *frame_json(const GrFrame *f, Arena *arena) {
    json_t *o = json_object();
    bool ok = gr_json_set(o, "file", text_or_null(f->file)) &&
              gr_json_set(o, "line", number_or_null(f->line)) &&
              gr_json_set(o, "column", number_or_null(f->col)) &&
              gr_json_set(o, "function", text_or_null(gr_demangle(f->function, arena)));
    return if_made(ok, o);
}

static json_t *lanes_json(uint32_t lanes) {
    json_t *a = json_array();
    for (int i = 0; a && i < 32; i++)
        if (lanes >> i & 1 && json_array_append_new(a, json_integer(i)) != 0) {
            json_decref(a);
            return NULL;
        }
    return a;
}

// All places of the access that are known, the innermost first.
static json_t *frames_json(const GrAccess *a, Arena *arena) {
    json_t *frames = json_array();
    bool ok = frames;
    for (uint32_t k = 0; ok && k <= a->n_inlined; k++) {
        const GrFrame *f = gr_access_frame(a, k);
        if (f->file || f->line || a->n_inlined)
            ok = json_array_append_new(frames, frame_json(f, arena)) == 0;
    }
    return if_made(ok, frames);
}

// The function of CUDA that was called, and from where. Nothing where that is not known.
static bool add_stack(json_t *o, const GrStack *s, Arena *arena) {
    json_t *frames = s ? json_array() : NULL;
    bool ok = !s || (frames && gr_json_set(o, "called", text_or_null(s->call)));
    for (uint32_t k = 0; s && ok && k < s->n; k++) {
        const GrFrame *f = &s->frames[k];
        ok = json_array_append_new(
                 frames, json_pack("{s:o,s:o,s:o}", "function", text_or_null(gr_demangle(f->function, arena)),
                                   "file", text_or_null(f->file), "line", number_or_null(f->line))) == 0;
    }
    ok = ok && (!s || gr_json_set(o, "stack", json_incref(frames)));
    json_decref(frames);
    return ok;
}

static json_t *memory_json(const GrHeld *m, Arena *arena) {
    json_t *o = frame_json(&m->place, arena);
    bool ok = o && gr_json_set(o, "kind", gr_json_text(m->kind)) &&
              gr_json_set(o, "variable", text_or_null(gr_demangle(m->name, arena))) &&
              gr_json_set(o, "offset", json_integer((json_int_t)m->offset)) &&
              gr_json_set(o, "size", json_integer((json_int_t)m->size)) && add_stack(o, m->stack, arena);
    return if_made(ok, o);
}

static json_t *access_json(const GrRace *race, const GrAccess *a, Arena *arena) {
    const GrFrame *headline = gr_access_frame(a, a->headline);
    json_t *o = frame_json(headline, arena);
    bool ok = o && gr_json_set(o, "kind", gr_json_text(a->kind));
    // A device function's name is the access's own; else it is the kernel's.
    if (ok && !headline->function)
        ok = gr_json_set(o, "function", text_or_null(gr_demangle(race->found.kernel, arena)));
    ok = ok && gr_json_set(o, "frames", frames_json(a, arena)) &&
         gr_json_set(o, "ptx_line", number_or_null(a->ptx_line)) &&
         gr_json_set(o, "size", json_integer(a->size)) &&
         gr_json_set(o, "thread", a->has_thread ? triple(a->thread) : json_null()) &&
         gr_json_set(o, "block", a->has_thread ? triple(a->block) : json_null()) &&
         gr_json_set(o, "address", a->has_thread || a->lanes || a->host ? hex(a->address) : json_null());
    if (ok && a->near)
        ok = gr_json_set(o, "near", frame_json(a->near, arena));
    if (ok && a->variable)
        ok = gr_json_set(o, "variable", gr_json_text(gr_demangle(a->variable, arena)));
    if (ok && a->argument)
        ok = gr_json_set(o, "argument", json_integer(a->argument));
    if (ok && a->memory)
        ok = gr_json_set(o, "memory", memory_json(a->memory, arena));
    ok = ok && add_stack(o, a->stack, arena);
    if (ok && a->has_rank)
        ok = gr_json_set(o, "cluster_rank", json_integer(a->rank));
    if (ok && a->did && !strcmp(a->kind, "copy"))
        ok = gr_json_set(o, "did", gr_json_text(a->did));
    if (ok && a->range)
        ok = gr_json_set(o, "range", gr_json_text(a->range));
    if (ok && race->met && a->launch)
        ok = gr_json_set(o, "launch", number_or_null(a->launch));
    if (ok && race->found.order)
        ok = gr_json_set(o, "scope", text_or_null(a->strong)) &&
             gr_json_set(o, "asynchronous", json_boolean(a->async)) &&
             gr_json_set(o, "volatile", json_boolean(a->is_volatile)) &&
             gr_json_set(o, "discarded", json_boolean(a->discarded)) &&
             gr_json_set(o, "launch", number_or_null(a->launch));
    if (ok && a->lanes)
        ok = gr_json_set(o, "lanes", lanes_json(a->lanes));
    return if_made(ok, o);
}

static json_t *sentence(const GrReport *r, const GrRace *race) {
    StrBuf s = {0};
    gr_race_sentence(r, race, &s);
    json_t *j = gr_json_text(s.data ? s.data : "");
    gr_str_free(&s);
    return j;
}

// A few of those that the race was seen in.
static json_t *kernel_names(const GrRace *race, Arena *arena) {
    enum { LISTED = 20 };
    json_t *names = json_array();
    bool ok = names;
    for (uint32_t k = 0; ok && k < race->n_kernels && k < LISTED; k++)
        ok = json_array_append_new(names, gr_json_text(gr_demangle(race->kernels[k], arena))) == 0;
    return ok ? json_pack("{s:i,s:o}", "number", (int)race->n_kernels, "names", names)
              : (json_decref(names), NULL);
}

// The runs of a merged report that saw it.
static bool add_seen(json_t *o, const GrSeenIn *seen, uint32_t n) {
    json_t *runs = n ? json_array() : NULL;
    bool ok = runs || !n;
    for (uint32_t k = 0; ok && k < n; k++)
        ok = json_array_append_new(runs, json_pack("{s:s,s:I}", "run", seen[k].run->id, "count",
                                                   (json_int_t)seen[k].count)) == 0;
    ok = ok && (!n || gr_json_set(o, "seen_in", json_incref(runs)));
    json_decref(runs);
    return ok;
}

// What it is called, whether the baseline has it, and of a merged report which runs saw it.
static bool add_names(const GrReport *r, json_t *o, const GrRace *race) {
    if (!race->id)
        return true; // a witness is part of a race, and has no name
    bool ok = gr_json_set(o, "id", json_string(race->id)) &&
              gr_json_set(o, "line_id", json_string(race->line_id)) &&
              (!race->rule || gr_json_set(o, "rule", gr_json_text(race->rule)));
    if (ok && r->baseline.name)
        ok = gr_json_set(o, "known", json_boolean(race->known));
    return ok && add_seen(o, race->seen, race->n_seen);
}

static json_t *outcome_json(const GrOutcome *of) {
    json_t *regions = json_array();
    for (unsigned k = 0; regions && k < 64; k++)
        if (of->regions >> k & 1 && json_array_append_new(regions, json_integer(k)) < 0) {
            json_decref(regions);
            return NULL;
        }
    return json_pack("{s:s,s:I,s:I,s:o,s:I}", "units", of->units, "copies", (json_int_t)of->copies, "bytes",
                     (json_int_t)of->bytes, "regions", regions, "round", (json_int_t)of->round);
}

static json_t *repair_json(const GrRepair *repair) {
    json_t *o = json_pack("{s:o,s:o,s:o}", "what", gr_json_text(repair->what), "file",
                          gr_json_text(repair->file), "hunks", gr_json_text(repair->hunks));
    bool ok = o && (!repair->loop || gr_json_set(o, "loop", json_integer(repair->loop)));
    return if_made(ok, o);
}

static json_t *race_json(const GrReport *r, const GrRace *race, Arena *arena) {
    json_t *o = json_object(), *accesses = json_array();
    bool ok =
        o && accesses && add_names(r, o, race) &&
        gr_json_set(o, "class", gr_json_text(gr_report_class(r, race->found.class)->name)) &&
        gr_json_set(o, "meaning", gr_json_text(gr_report_class(r, race->found.class)->meaning)) &&
        gr_json_set(o, "engine", gr_json_text(race->found.engine ? race->found.engine : r->engine)) &&
        gr_json_set(o, "evidence", gr_json_text(race->found.evidence ? race->found.evidence : r->evidence)) &&
        gr_json_set(o, "kernel", text_or_null(gr_demangle(race->found.kernel, arena))) &&
        gr_json_set(o, "module", text_or_null(race->found.module)) &&
        gr_json_set(o, "launch", number_or_null(race->found.launch)) &&
        gr_json_set(o, "space", gr_json_text(race->found.space)) &&
        gr_json_set(o, "count", json_integer((json_int_t)race->found.count)) &&
        gr_json_set(o, "instructions", json_integer(race->n_sites)) &&
        (race->n_kernels < 2 || gr_json_set(o, "kernels", kernel_names(race, arena))) &&
        gr_json_set(o, "expected", value(race, race->found.expected)) &&
        gr_json_set(o, "seen", value(race, race->found.seen)) &&
        (!race->found.size || !race->found.stored_first || gr_json_set(o, "stored_first", json_true()));
    if (ok && race->found.detail)
        ok = gr_json_set(o, race->found.launch ? "outcome" : "witness", gr_json_text(race->found.detail));
    if (ok && race->found.outcome)
        ok = gr_json_set(o, "differs", outcome_json(race->found.outcome));
    if (ok && race->found.lanes)
        ok = gr_json_set(o, "lanes",
                         json_pack("{s:o,s:o,s:o}", "all", lanes_json(race->found.lanes), "stored_expected",
                                   lanes_json(race->found.stored[0]), "stored_seen",
                                   lanes_json(race->found.stored[1])));
    const GrRace *pair = race->watched ? race->watched : race;
    if (ok && pair->found.order)
        ok = gr_json_set(o, "missing_order", gr_json_text(pair->found.order)) &&
             gr_json_set(o, "sentence", sentence(r, pair)) &&
             gr_json_set(o, "overlap",
                         json_pack("{s:o,s:I}", "address", hex(pair->found.overlap), "bytes",
                                   (json_int_t)pair->found.overlap_bytes));
    if (ok && race->repair)
        ok = gr_json_set(o, "repair", repair_json(race->repair));
    // Two that met: what the collider noticed itself may have been between others of the same places.
    if (ok && race->watched)
        ok = json_array_append_new(accesses, access_json(pair, &pair->found.accesses[0], arena)) == 0;
    for (unsigned i = 0; ok && !race->watched && i < race->found.n_accesses; i++)
        ok = json_array_append_new(accesses, access_json(race, &race->found.accesses[i], arena)) == 0;
    if (ok && race->met)
        ok = json_array_append_new(accesses, access_json(race, &race->met->other, arena)) == 0 &&
             gr_json_set(o, "replay",
                         json_pack("{s:i,s:I,s:o}", "number", (int)race->met->replay, "seed",
                                   (json_int_t)race->met->seed, "first",
                                   access_json(race, &race->met->first, arena)));
    if (ok && race->watched)
        ok = json_array_append_new(accesses,
                                   access_json(race->watched, &race->watched->found.accesses[1], arena)) == 0;
    const GrAccess *noticed = gr_race_noticed_elsewhere(race);
    if (ok && noticed)
        ok = gr_json_set(o, "noticed", access_json(race, noticed, arena));
    ok = ok && gr_json_set(o, "accesses", json_incref(accesses));
    if (ok && race->judged)
        ok = gr_json_set(o, "witness", race->witness ? race_json(r, race->witness, arena) : json_null());
    json_decref(accesses);
    return if_made(ok, o);
}

// `mark`: "bundled", "in_source"; NULL: it is of the user's file.
static bool add_rule(json_t *list, const GrRule *rule, const char *mark) {
    json_t *o = json_pack("{s:o,s:o,s:i,s:I,s:I}", "rule", gr_json_text(rule->text), "file",
                          gr_json_text(rule->path), "line", (int)rule->line, "races", (json_int_t)rule->races,
                          "count", (json_int_t)rule->count);
    bool ok =
        o && (!mark || (gr_json_set(o, mark, json_true()) && gr_json_set(o, "why", text_or_null(rule->why))));
    return json_array_append_new(list, o) == 0 && ok;
}

static bool add_rules(json_t *list, const GrSuppressions *s, const char *mark) {
    bool ok = true;
    for (size_t i = 0; s && ok && i < s->rules.len; i++)
        if (!mark || s->rules.data[i].races)
            ok = add_rule(list, &s->rules.data[i], mark);
    return ok;
}

// All of the user's rules; of the rules that come with gpurace, and of comments, those that hid something.
static json_t *suppressions_json(const GrReport *r) {
    json_t *a = json_array();
    bool ok = a && add_rules(a, r->suppressions, NULL) && add_rules(a, r->bundled, "bundled") &&
              add_rules(a, r->comments, "in_source");
    return if_made(ok, a);
}

static json_t *texts_json(const GrCountedVec *v) {
    json_t *a = json_array();
    for (size_t i = 0; i < v->len; i++)
        if (json_array_append_new(a, gr_json_text(v->data[i].text))) {
            json_decref(a);
            return NULL;
        }
    return a;
}

static json_t *kernels_json(const GrReport *r, Arena *arena) {
    json_t *a = json_array();
    for (size_t i = 0; i < r->kernels.len; i++) {
        const GrKernelCoverage *k = &r->kernels.data[i];
        json_t *o = json_object();
        bool ok = gr_json_set(o, "name", gr_json_text(gr_demangle(k->name, arena))) &&
                  gr_json_set(o, "module", text_or_null(k->module)) &&
                  gr_json_set(o, "checked", json_boolean(!k->unchecked)) &&
                  gr_json_set(o, "why_not", text_or_null(k->unchecked)) &&
                  gr_json_set(o, "launches", json_integer((json_int_t)k->launches)) &&
                  gr_json_set(o, "failed", json_integer((json_int_t)k->failed));
        if (ok && k->launches)
            ok = gr_json_set(o, "grid", triple(k->grid)) && gr_json_set(o, "block", triple(k->block));
        if (!ok || json_array_append_new(a, json_incref(o))) {
            json_decref(o);
            json_decref(a);
            return NULL;
        }
        json_decref(o);
    }
    return a;
}

const char *gr_json_status(unsigned status) {
    static char names[GR_SITE_STATUS_COUNT][24] = {
#define SITE_STATUS(id, text) #id,
#include "ptx/site_status.def"
#undef SITE_STATUS
    };
    for (char *c = names[status]; *c; c++)
        *c = (char)(*c >= 'A' && *c <= 'Z' ? *c + 32 : *c);
    return names[status];
}

static json_t *sites_json(const GrReport *r) {
    json_t *o = json_object();
    for (unsigned i = 0; i < GR_SITE_STATUS_COUNT; i++)
        if (!gr_json_set(o, gr_json_status(i), json_integer((json_int_t)r->sites[i]))) {
            json_decref(o);
            return NULL;
        }
    return o;
}

static json_t *launches_json(const GrReport *r) {
    json_t *o = json_pack("{s:I,s:I}", "checked", (json_int_t)r->launches_checked, "unchecked",
                          (json_int_t)r->launches_unchecked);
    if (o && r->launches_left_out)
        json_object_set_new(o, "left_out", json_integer((json_int_t)r->launches_left_out));
    if (o && r->launches_stopped)
        json_object_set_new(o, "stopped", json_integer((json_int_t)r->launches_stopped));
    return o;
}

static json_t *coverage_json(const GrReport *r, Arena *arena) {
    json_t *o = json_object();
    bool ok = o &&
              gr_json_set(o, "modules",
                          json_pack("{s:I,s:I}", "checked", (json_int_t)r->modules_checked, "unchecked",
                                    (json_int_t)r->modules_unchecked)) &&
              gr_json_set(o, "kernels", kernels_json(r, arena)) &&
              gr_json_set(o, "launches", launches_json(r)) && gr_json_set(o, "accesses", sites_json(r)) &&
              gr_json_set(o, "absent_entry_points", texts_json(&r->absent)) &&
              gr_json_set(o, "notes", texts_json(&r->notes)) &&
              gr_json_set(o, "remarks", texts_json(&r->remarks)) &&
              gr_json_set(o, "faults", texts_json(&r->faults)) &&
              gr_json_set(o, "dropped_records", json_integer((json_int_t)r->dropped)) &&
              (!r->blind.len || gr_json_set(o, "blind_to", texts_json(&r->blind)));
    if (ok && r->so_far.runs)
        ok = gr_json_set(o, "so_far",
                         json_pack("{s:o,s:I,s:I,s:I,s:I,s:I,s:I}", "file", gr_json_text(r->so_far.name),
                                   "runs", (json_int_t)r->so_far.runs, "accesses",
                                   (json_int_t)r->so_far.accesses, "watched", (json_int_t)r->so_far.watched,
                                   "conflicts", (json_int_t)r->so_far.conflicts, "met",
                                   (json_int_t)r->so_far.met, "aimed_at", (json_int_t)r->aimed_at));
    else if (ok && r->aimed_at)
        ok = gr_json_set(o, "aimed_at", json_integer((json_int_t)r->aimed_at));
    if (ok && r->sample[0])
        ok = gr_json_set(o, "sample",
                         json_pack("{s:o,s:I,s:I,s:I}", "spec", gr_json_text(r->sample), "qualifying",
                                   (json_int_t)gr_report_qualifying(r), "chosen",
                                   (json_int_t)r->sites[GR_SITE_CHECKED], "watched", (json_int_t)r->watched));
    return if_made(ok, o);
}

static json_t *misuse_json(const GrReport *r, const GrRace *misuse, Arena *arena) {
    const GrFinding *m = &misuse->found;
    const GrAccess *a = &m->accesses[0];
    const GrClass *class = gr_report_class(r, m->class);
    json_t *o = frame_json(gr_access_frame(a, a->headline), arena);
    bool ok = o != NULL;
    ok = ok && add_names(r, o, misuse) && gr_json_set(o, "class", gr_json_text(class->name)) &&
         gr_json_set(o, "meaning", gr_json_text(class->meaning)) &&
         gr_json_set(o, "engine", gr_json_text(m->engine ? m->engine : r->engine)) &&
         gr_json_set(o, "kernel", text_or_null(gr_demangle(m->kernel, arena))) &&
         gr_json_set(o, "ptx_line", number_or_null(a->ptx_line)) &&
         gr_json_set(o, "thread", triple(a->thread)) && gr_json_set(o, "block", triple(a->block)) &&
         gr_json_set(o, "launch", number_or_null(m->launch)) &&
         gr_json_set(o, "count", json_integer((json_int_t)m->count)) &&
         gr_json_set(o, "detail", gr_json_text(m->detail)) &&
         gr_json_set(o, "frames", frames_json(a, arena)) && add_stack(o, a->stack, arena);
    return if_made(ok, o);
}

// What rules hid, each with its rule.
static json_t *hidden_json(const GrReport *r, Arena *arena) {
    json_t *a = json_array();
    bool ok = a;
    for (size_t k = 0; ok && k < r->hidden.len && (!r->max_reports || k < r->max_reports); k++) {
        const GrRace *race = &r->hidden.data[k];
        const GrRule *rule = race->hidden_by;
        json_t *o = race->found.space ? race_json(r, race, arena) : misuse_json(r, race, arena);
        json_t *by =
            json_pack("{s:o,s:o,s:i,s:o}", "rule", gr_json_text(rule->text), "file", gr_json_text(rule->path),
                      "line", (int)rule->line, "why", text_or_null(rule->why));
        if (by && rule->kind == GR_RULE_COMMENT)
            json_object_set_new(by, "in_source", json_true());
        ok = o && gr_json_set(o, "hidden_by", by);
        ok = ok ? json_array_append_new(a, o) == 0 : (json_decref(o), false);
    }
    return if_made(ok, a);
}

// The texts of a list that came several times.
static bool add_times(json_t *o, const GrCountedVec *v) {
    bool ok = o;
    for (size_t i = 0; ok && i < v->len; i++)
        if (v->data[i].count > 1)
            ok = gr_json_set(o, v->data[i].text, json_integer((json_int_t)v->data[i].count));
    return ok;
}

// The times of reasons and remarks. NULL: out of memory.
static json_t *times_json(const GrReport *r) {
    json_t *o = json_object();
    if (add_times(o, &r->reasons) && add_times(o, &r->remarks))
        return o;
    json_decref(o);
    return NULL;
}

static json_t *runs_json(const GrReport *r) {
    json_t *a = json_array();
    bool ok = a;
    for (size_t k = 0; ok && k < r->runs.len; k++) {
        const GrRunOf *run = r->runs.data[k];
        json_t *o = json_pack("{s:s,s:o,s:o,s:o,s:o,s:I,s:o,s:s,s:I}", "id", run->id, "tool",
                              gr_json_text(run->tool), "engine", gr_json_text(run->engine), "evidence",
                              gr_json_text(run->evidence), "device", gr_json_text(run->device), "seed",
                              (json_int_t)run->seed, "reproduce", gr_json_text(run->reproduce), "verdict",
                              gr_verdict_name(run->verdict), "races", (json_int_t)run->races);
        ok = json_array_append_new(a, o) == 0;
    }
    return if_made(ok, a);
}

static json_t *cause_json(const GrReport *r, const GrCauseRaces *c, Arena *arena) {
    const GrRace *pair = gr_race_pair(c->shown);
    json_t *o = json_object(), *races = json_array();
    StrBuf fix = {0};
    uint32_t runs = 0;
    const GrSeenIn *seen = gr_cause_seen(c, arena, &runs);
    bool ok = o && races && seen;
    for (uint32_t k = 0; ok && k < c->n; k++)
        ok = json_array_append_new(races, json_string(c->races[k]->id)) == 0;
    ok = ok && gr_json_set(o, "id", json_string(c->cause->id)) &&
         gr_json_set(o, "what", gr_json_text(gr_cause_name(r, c))) &&
         gr_json_set(o, "meaning", gr_json_text(gr_cause_meaning(r, c))) &&
         gr_json_set(o, "shown", json_string(c->shown->id)) && gr_json_set(o, "races", json_incref(races)) &&
         gr_json_set(o, "count", json_integer((json_int_t)c->count)) && add_seen(o, seen, runs);
    if (ok && c->cause->follows)
        ok = gr_json_set(o, "follows", json_true());
    if (ok && c->cause->update)
        ok = gr_json_set(o, "update", gr_json_text(c->cause->update));
    if (ok && pair)
        ok = gr_json_set(o, "missing_order", gr_json_text(pair->found.order)) &&
             gr_json_set(o, "sentence", sentence(r, pair)) &&
             gr_json_set(o, "why", gr_json_text(gr_cause_why(c)));
    if (ok && gr_cause_fix(r, c, false, &fix))
        ok = !fix.oom && gr_json_set(o, "fix", gr_json_text(fix.data));
    if (ok && c->cause->repair)
        ok = gr_json_set(o, "repair", repair_json(c->cause->repair));
    gr_str_free(&fix);
    json_decref(races);
    return if_made(ok, o);
}

// Those of the races that are listed, without the others.
static json_t *causes_json(const GrReport *r, size_t listed, Arena *arena) {
    size_t n = 0;
    GrReport part = *r; // what it points to is the report's own
    part.races.len = listed;
    const GrCauseRaces *causes = gr_report_causes(&part, arena, &n);
    json_t *a = causes ? json_array() : NULL;
    bool ok = a;
    for (size_t k = 0; ok && k < n; k++)
        if (causes[k].cause)
            ok = json_array_append_new(a, cause_json(r, &causes[k], arena)) == 0;
    return if_made(ok, a);
}

static json_t *possible_json(const GrReport *r, Arena *arena) {
    json_t *a = json_array();
    bool ok = a;
    for (size_t k = 0; ok && k < r->possible.len; k++) {
        const GrPossibleRace *p = &r->possible.data[k];
        json_t *o = json_pack("{s:o,s:o,s:[o,o]}", "text", gr_json_text(p->pair.text), "kernel",
                              gr_json_text(gr_demangle(p->pair.kernel, arena)), "sides",
                              frame_json(&p->pair.sides[0], arena), frame_json(&p->pair.sides[1], arena));
        ok = o && (!r->baseline.name || gr_json_set(o, "known", json_boolean(p->known)));
        ok = json_array_append_new(a, o) == 0 && ok;
    }
    return if_made(ok, a);
}

// What only some reports have.
static bool add_rest(const GrReport *r, size_t listed, Arena *arena, json_t *o) {
    bool ok = true;
    json_t *times = times_json(r), *sources = gr_json_sources(r, listed);
    if (r->suppressions || r->bundled || (r->comments && r->comments->rules.len))
        ok = gr_json_set(o, "suppressions", suppressions_json(r));
    if (ok && r->hidden.len)
        ok = gr_json_set(o, "hidden", hidden_json(r, arena));
    if (ok && r->is_void)
        ok = gr_json_set(o, "void", json_true());
    if (ok && r->poisoned)
        ok = gr_json_set(o, "poison_writes", json_true());
    if (ok && r->baseline.name)
        ok = gr_json_set(
            o, "baseline",
            json_pack("{s:o,s:I,s:I,s:I,s:{s:I,s:I,s:I}}", "file", gr_json_text(r->baseline.name), "new",
                      (json_int_t)r->baseline.fresh, "known", (json_int_t)r->baseline.known, "gone",
                      (json_int_t)r->baseline.gone, "causes", "new", (json_int_t)r->baseline.causes.fresh,
                      "known", (json_int_t)r->baseline.causes.known, "gone",
                      (json_int_t)r->baseline.causes.gone));
    if (ok && r->runs.len)
        ok = gr_json_set(o, "runs", runs_json(r));
    if (ok && r->possible.len)
        ok = gr_json_set(o, "possible", possible_json(r, arena));
    if (ok && (!times || json_object_size(times)))
        ok = gr_json_set(o, "times", json_incref(times));
    if (ok && (!sources || json_object_size(sources)))
        ok = gr_json_set(o, "sources", json_incref(sources));
    json_decref(times);
    json_decref(sources);
    return ok;
}

json_t *gr_json_report(const GrReport *r) {
    Arena arena;
    gr_arena_init(&arena);
    json_t *o = json_object(), *races = json_array(), *misuses = json_array();
    bool ok = o && races && misuses;
    for (size_t i = 0; ok && i < r->misuses.len; i++)
        ok = json_array_append_new(misuses, misuse_json(r, &r->misuses.data[i], &arena)) == 0;
    size_t listed = 0;
    for (size_t bytes = 0; ok && gr_report_lists(r, listed, bytes); listed++) {
        json_t *race = race_json(r, &r->races.data[listed], &arena);
        bytes += race && r->max_reports ? 2 * json_dumpb(race, NULL, 0, JSON_COMPACT) : 0; // indented
        ok = json_array_append_new(races, race) == 0;
    }
    uint64_t unlisted = r->races.len - listed + r->unlisted;
    if (ok && unlisted)
        ok = gr_json_set(o, "races_not_listed", json_integer((json_int_t)unlisted));
    ok = ok && gr_json_set(o, "tool", gr_json_text(r->tool)) &&
         gr_json_set(o, "engine", gr_json_text(r->engine)) &&
         gr_json_set(o, "evidence", gr_json_text(r->evidence)) &&
         gr_json_set(o, "device", gr_json_text(r->device)) &&
         gr_json_set(o, "seed", json_integer((json_int_t)r->seed)) &&
         gr_json_set(o, "reproduce", gr_json_text(r->reproduce)) &&
         (!r->replays || gr_json_set(o, "replays", json_integer((json_int_t)r->replays))) &&
         gr_json_set(o, "verdict", json_string(gr_verdict_name(r->verdict))) &&
         gr_json_set(o, "reasons", texts_json(&r->reasons)) &&
         gr_json_set(o, "coverage", coverage_json(r, &arena)) &&
         gr_json_set(o, "format", json_integer(GR_JSON_FORMAT)) &&
         gr_json_set(o, "causes", causes_json(r, listed, &arena)) &&
         gr_json_set(o, "races", json_incref(races)) && gr_json_set(o, "misuses", json_incref(misuses));
    ok = ok && add_rest(r, listed, &arena, o);
    json_decref(races);
    json_decref(misuses);
    gr_arena_free(&arena);
    return if_made(ok, o);
}

gr_status gr_report_json(const GrReport *r, StrBuf *out, gr_error *err) {
    json_t *o = gr_json_report(r);
    char *text = o ? json_dumps(o, JSON_INDENT(2)) : NULL;
    if (text) {
        gr_str_add(out, text);
        gr_str_addc(out, '\n');
    }
    free(text);
    json_decref(o);
    return text && !out->oom ? GR_OK
                             : gr_fail(err, GR_ERR_NOMEM, "out of memory (or a name that is no UTF-8)");
}
