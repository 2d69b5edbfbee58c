// SPDX-License-Identifier: Apache-2.0
// The report as JSON: docs/report.schema.json describes it.
#include "coverage/aims.h"
#include "report/report_internal.h"
#include "report/suppress.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

// "_new" functions of jansson return NULL when memory is out, and its setters pass that on: one check at the end.

// JSON takes UTF-8 only; a path may be anything.
static json_t *text_json(const char *s) {
    json_t *j = json_string(s);
    if (j || !s)
        return j;
    StrBuf plain = {0};
    for (; *s; s++)
        gr_str_addc(&plain, (unsigned char)*s < 128 ? *s : '?');
    j = json_string(plain.data ? plain.data : "");
    gr_str_free(&plain);
    return j;
}

static json_t *text_or_null(const char *s) { return s && *s ? text_json(s) : json_null(); }
static json_t *number_or_null(uint64_t n) { return n ? json_integer((json_int_t)n) : json_null(); }
static json_t *triple(const uint32_t v[3]) { return json_pack("[i,i,i]", (int)v[0], (int)v[1], (int)v[2]); }

static json_t *hex(uint64_t v) {
    char buf[32];
    snprintf(buf, sizeof buf, "0x%llx", (unsigned long long)v);
    return json_string(buf);
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

static bool set(json_t *object, const char *key, json_t *v) {
    return json_object_set_new(object, key, v) == 0;
}

static json_t *frame_json(const GrFrame *f, Arena *arena) {
    json_t *o = json_object();
    bool ok = set(o, "file", text_or_null(f->file)) && set(o, "line", number_or_null(f->line)) &&
              set(o, "column", number_or_null(f->col)) &&
              set(o, "function", text_or_null(gr_demangle(f->function, arena)));
    if (ok)
        return o;
    json_decref(o);
    return NULL;
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
        if (f->file || f->line)
            ok = json_array_append_new(frames, frame_json(f, arena)) == 0;
    }
    if (ok)
        return frames;
    json_decref(frames);
    return NULL;
}

static json_t *access_json(const GrRace *race, const GrAccess *a, Arena *arena) {
    const GrFrame *headline = gr_access_frame(a, a->headline);
    json_t *o = frame_json(headline, arena);
    bool ok = o && set(o, "kind", text_json(a->kind));
    // A device function's name is the access's own; else it is the kernel's.
    if (ok && !headline->function)
        ok = set(o, "function", text_or_null(gr_demangle(race->found.kernel, arena)));
    ok = ok && set(o, "frames", frames_json(a, arena)) && set(o, "ptx_line", number_or_null(a->ptx_line)) &&
         set(o, "size", json_integer(a->size)) &&
         set(o, "thread", a->has_thread ? triple(a->thread) : json_null()) &&
         set(o, "block", a->has_thread ? triple(a->block) : json_null()) &&
         set(o, "address", a->has_thread || a->lanes || a->host ? hex(a->address) : json_null());
    if (ok && a->near)
        ok = set(o, "near", frame_json(a->near, arena));
    if (ok && a->has_rank)
        ok = set(o, "cluster_rank", json_integer(a->rank));
    if (ok && race->found.order)
        ok = set(o, "scope", text_or_null(a->strong)) && set(o, "asynchronous", json_boolean(a->async)) &&
             set(o, "volatile", json_boolean(a->is_volatile)) &&
             set(o, "discarded", json_boolean(a->discarded)) && set(o, "launch", number_or_null(a->launch));
    if (ok && a->lanes)
        ok = set(o, "lanes", lanes_json(a->lanes));
    if (ok)
        return o;
    json_decref(o);
    return NULL;
}

static json_t *sentence(const GrReport *r, const GrRace *race) {
    StrBuf s = {0};
    gr_race_sentence(r, race, &s);
    json_t *j = text_json(s.data ? s.data : "");
    gr_str_free(&s);
    return j;
}

// A few of those that the race was seen in.
static json_t *kernel_names(const GrRace *race, Arena *arena) {
    enum { LISTED = 20 };
    json_t *names = json_array();
    bool ok = names;
    for (uint32_t k = 0; ok && k < race->n_kernels && k < LISTED; k++)
        ok = json_array_append_new(names, text_json(gr_demangle(race->kernels[k], arena))) == 0;
    return ok ? json_pack("{s:i,s:o}", "number", (int)race->n_kernels, "names", names)
              : (json_decref(names), NULL);
}

static json_t *race_json(const GrReport *r, const GrRace *race, Arena *arena) {
    json_t *o = json_object(), *accesses = json_array();
    bool ok = o && accesses && set(o, "class", json_string(gr_report_class(r, race->found.class)->name)) &&
              set(o, "meaning", json_string(gr_report_class(r, race->found.class)->meaning)) &&
              set(o, "engine", text_json(race->found.engine ? race->found.engine : r->engine)) &&
              set(o, "evidence", text_json(race->found.evidence ? race->found.evidence : r->evidence)) &&
              set(o, "kernel", text_or_null(gr_demangle(race->found.kernel, arena))) &&
              set(o, "module", text_or_null(race->found.module)) &&
              set(o, "launch", number_or_null(race->found.launch)) &&
              set(o, "space", text_json(race->found.space)) &&
              set(o, "count", json_integer((json_int_t)race->found.count)) &&
              set(o, "instructions", json_integer(race->n_sites)) &&
              (race->n_kernels < 2 || set(o, "kernels", kernel_names(race, arena))) &&
              set(o, "expected", value(race, race->found.expected)) &&
              set(o, "seen", value(race, race->found.seen));
    if (ok && race->found.detail)
        ok = set(o, race->found.launch ? "outcome" : "witness", text_json(race->found.detail));
    if (ok && race->found.lanes)
        ok = set(o, "lanes",
                 json_pack("{s:o,s:o,s:o}", "all", lanes_json(race->found.lanes), "stored_expected",
                           lanes_json(race->found.stored[0]), "stored_seen",
                           lanes_json(race->found.stored[1])));
    const GrRace *pair = race->watched ? race->watched : race;
    if (ok && pair->found.order)
        ok = set(o, "missing_order", text_json(pair->found.order)) && set(o, "sentence", sentence(r, pair)) &&
             set(o, "overlap",
                 json_pack("{s:o,s:I}", "address", hex(pair->found.overlap), "bytes",
                           (json_int_t)pair->found.overlap_bytes));
    // Two that met: what the collider noticed itself may have been between others of the same places.
    if (ok && race->watched)
        ok = json_array_append_new(accesses, access_json(pair, &pair->found.accesses[0], arena)) == 0;
    for (unsigned i = 0; ok && !race->watched && i < race->found.n_accesses; i++)
        ok = json_array_append_new(accesses, access_json(race, &race->found.accesses[i], arena)) == 0;
    if (ok && race->met)
        ok =
            json_array_append_new(accesses, access_json(race, &race->met->other, arena)) == 0 &&
            set(o, "replay",
                json_pack("{s:i,s:I,s:o}", "number", (int)race->met->replay, "seed",
                          (json_int_t)race->met->seed, "first", access_json(race, &race->met->first, arena)));
    if (ok && race->watched)
        ok = json_array_append_new(accesses,
                                   access_json(race->watched, &race->watched->found.accesses[1], arena)) == 0;
    const GrAccess *noticed = gr_race_noticed_elsewhere(race);
    if (ok && noticed)
        ok = set(o, "noticed", access_json(race, noticed, arena));
    ok = ok && set(o, "accesses", json_incref(accesses));
    if (ok && race->judged)
        ok = set(o, "witness", race->witness ? race_json(r, race->witness, arena) : json_null());
    json_decref(accesses);
    if (ok)
        return o;
    json_decref(o);
    return NULL;
}

static bool add_rule(json_t *list, const GrSuppressions *s, const GrRule *rule, bool bundled) {
    json_t *o =
        json_pack("{s:o,s:o,s:i,s:I,s:I}", "rule", text_json(rule->text), "file", text_json(s->path), "line",
                  (int)rule->line, "races", (json_int_t)rule->races, "count", (json_int_t)rule->count);
    bool ok = o && (!bundled || (set(o, "bundled", json_true()) && set(o, "why", text_or_null(rule->why))));
    return json_array_append_new(list, o) == 0 && ok;
}

// Of those that come with gpurace only what hid something.
static json_t *suppressions_json(const GrReport *r) {
    const GrSuppressions *s = r->suppressions, *bundled = r->bundled;
    json_t *a = json_array();
    bool ok = a;
    for (size_t i = 0; s && ok && i < s->rules.len; i++)
        ok = add_rule(a, s, &s->rules.data[i], false);
    for (size_t i = 0; bundled && ok && i < bundled->rules.len; i++)
        if (bundled->rules.data[i].races)
            ok = add_rule(a, bundled, &bundled->rules.data[i], true);
    if (ok)
        return a;
    json_decref(a);
    return NULL;
}

static json_t *texts_json(const GrCountedVec *v) {
    json_t *a = json_array();
    for (size_t i = 0; i < v->len; i++)
        if (json_array_append_new(a, text_json(v->data[i].text))) {
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
        bool ok = set(o, "name", text_json(gr_demangle(k->name, arena))) &&
                  set(o, "module", text_or_null(k->module)) &&
                  set(o, "checked", json_boolean(!k->unchecked)) &&
                  set(o, "why_not", text_or_null(k->unchecked)) &&
                  set(o, "launches", json_integer((json_int_t)k->launches)) &&
                  set(o, "failed", json_integer((json_int_t)k->failed));
        if (ok && k->launches)
            ok = set(o, "grid", triple(k->grid)) && set(o, "block", triple(k->block));
        if (!ok || json_array_append_new(a, json_incref(o))) {
            json_decref(o);
            json_decref(a);
            return NULL;
        }
        json_decref(o);
    }
    return a;
}

static json_t *sites_json(const GrReport *r) {
    static const char *const names[] = {
#define SITE_STATUS(id, text) #id,
#include "ptx/site_status.def"
#undef SITE_STATUS
    };
    json_t *o = json_object();
    for (unsigned i = 0; i < GR_SITE_STATUS_COUNT; i++) {
        char name[64];
        size_t n = 0;
        for (; names[i][n] && n < sizeof name - 1; n++)
            name[n] = (char)(names[i][n] >= 'A' && names[i][n] <= 'Z' ? names[i][n] + 32 : names[i][n]);
        name[n] = 0;
        if (!set(o, name, json_integer((json_int_t)r->sites[i]))) {
            json_decref(o);
            return NULL;
        }
    }
    return o;
}

static json_t *coverage_json(const GrReport *r, Arena *arena) {
    json_t *o = json_object();
    bool ok = o &&
              set(o, "modules",
                  json_pack("{s:I,s:I}", "checked", (json_int_t)r->modules_checked, "unchecked",
                            (json_int_t)r->modules_unchecked)) &&
              set(o, "kernels", kernels_json(r, arena)) &&
              set(o, "launches",
                  json_pack("{s:I,s:I}", "checked", (json_int_t)r->launches_checked, "unchecked",
                            (json_int_t)r->launches_unchecked)) &&
              set(o, "accesses", sites_json(r)) && set(o, "absent_entry_points", texts_json(&r->absent)) &&
              set(o, "notes", texts_json(&r->notes)) && set(o, "remarks", texts_json(&r->remarks)) &&
              set(o, "faults", texts_json(&r->faults)) &&
              set(o, "dropped_records", json_integer((json_int_t)r->dropped));
    if (ok && r->so_far.runs)
        ok = set(o, "so_far",
                 json_pack("{s:o,s:I,s:I,s:I,s:I,s:I,s:I}", "file", text_json(r->so_far.name), "runs",
                           (json_int_t)r->so_far.runs, "accesses", (json_int_t)r->so_far.accesses, "watched",
                           (json_int_t)r->so_far.watched, "conflicts", (json_int_t)r->so_far.conflicts, "met",
                           (json_int_t)r->so_far.met, "aimed_at",
                           (json_int_t)(r->aim ? gr_aims_waiting(r->aim) : 0)));
    if (ok && r->sample[0])
        ok = set(o, "sample",
                 json_pack("{s:o,s:I,s:I,s:I}", "spec", text_json(r->sample), "qualifying",
                           (json_int_t)gr_report_qualifying(r), "chosen",
                           (json_int_t)r->sites[GR_SITE_CHECKED], "watched", (json_int_t)r->watched));
    if (ok)
        return o;
    json_decref(o);
    return NULL;
}

static json_t *misuse_json(const GrReport *r, const GrFinding *m, Arena *arena) {
    const GrAccess *a = &m->accesses[0];
    const GrClass *class = gr_report_class(r, m->class);
    json_t *o = frame_json(gr_access_frame(a, a->headline), arena);
    bool ok = o != NULL;
    ok = ok && set(o, "class", json_string(class->name)) && set(o, "meaning", json_string(class->meaning)) &&
         set(o, "engine", text_json(r->engine)) &&
         set(o, "kernel", text_or_null(gr_demangle(m->kernel, arena))) &&
         set(o, "ptx_line", number_or_null(a->ptx_line)) && set(o, "thread", triple(a->thread)) &&
         set(o, "block", triple(a->block)) && set(o, "launch", number_or_null(m->launch)) &&
         set(o, "count", json_integer((json_int_t)m->count)) && set(o, "detail", text_json(m->detail)) &&
         set(o, "frames", frames_json(a, arena));
    if (ok)
        return o;
    json_decref(o);
    return NULL;
}

gr_status gr_report_json(const GrReport *r, StrBuf *out, gr_error *err) {
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
    if (ok && listed < r->races.len)
        ok = set(o, "races_not_listed", json_integer((json_int_t)(r->races.len - listed)));
    ok = ok && set(o, "tool", json_string("gpurace " GPURACE_VERSION)) &&
         set(o, "engine", text_json(r->engine)) && set(o, "evidence", text_json(r->evidence)) &&
         set(o, "device", text_json(r->device)) && set(o, "seed", json_integer((json_int_t)r->seed)) &&
         set(o, "reproduce", text_json(r->reproduce)) &&
         (!r->replays || set(o, "replays", json_integer((json_int_t)r->replays))) &&
         set(o, "verdict", json_string(gr_verdict_name(r->verdict))) &&
         set(o, "reasons", texts_json(&r->reasons)) && set(o, "coverage", coverage_json(r, &arena)) &&
         set(o, "races", json_incref(races)) && set(o, "misuses", json_incref(misuses));
    if (ok && (r->suppressions || r->bundled))
        ok = set(o, "suppressions", suppressions_json(r));
    char *text = ok ? json_dumps(o, JSON_INDENT(2)) : NULL;
    if (text) {
        gr_str_add(out, text);
        gr_str_addc(out, '\n');
    }
    free(text);
    json_decref(races);
    json_decref(misuses);
    json_decref(o);
    gr_arena_free(&arena);
    return text && !out->oom ? GR_OK
                             : gr_fail(err, GR_ERR_NOMEM, "out of memory (or a name that is no UTF-8)");
}
