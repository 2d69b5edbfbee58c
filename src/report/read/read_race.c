// SPDX-License-Identifier: Apache-2.0
// A race, or a misuse, of a report that was written as JSON: json.c backwards.
#include "base/path_map.h"
#include "report/read/read_internal.h"
#include "report/suppress.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A class keeps what the report says of it, whether or not an engine of this build has it.
static uint32_t read_class(GrReader *x, const json_t *o, GrClassKind kind) {
    const char *name = gr_read_needed(x, o, "class"), *meaning = gr_read_text(x, o, "meaning");
    GrReport *r = x->report;
    for (size_t k = 0; k < r->classes.len; k++)
        if (!strcmp(r->classes.data[k].name, name) && r->classes.data[k].kind == kind)
            return r->classes.data[k].number;
    uint32_t number = GR_CLASS_READ + (uint32_t)r->classes.len;
    if (!gr_vec_push(&r->classes, ((GrClass){number, name, meaning ? meaning : "", kind})))
        gr_read_nomem(x);
    return number;
}

static uint64_t read_hex(GrReader *x, const json_t *o, const char *key) {
    const char *text = gr_read_text(x, o, key);
    char *end = NULL;
    if (!text)
        return 0;
    uint64_t v = strncmp(text, "0x", 2) ? 0 : strtoull(text + 2, &end, 16);
    if (!end || end == text + 2 || *end)
        gr_read_wrong(x, "'%s' is no number like 0x7f00", key);
    return v;
}

static unsigned digit(char c) { return (unsigned)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10); }

// 0x and the bytes, the highest first. NULL: there are none.
static const uint8_t *read_bytes(GrReader *x, const json_t *o, const char *key, uint32_t *size) {
    const char *text = gr_read_text(x, o, key);
    size_t n = text ? strlen(text) : 0;
    bool fits = n > 2 && n % 2 == 0 && n <= 2 + 2 * 64 && !strncmp(text, "0x", 2);
    for (size_t k = 2; fits && k < n; k++)
        fits = isxdigit((unsigned char)text[k]);
    if (!text)
        return NULL;
    uint8_t *bytes = fits ? gr_arena_alloc(&x->report->arena, n) : NULL;
    if (!fits)
        gr_read_wrong(x, "'%s' are no bytes like 0x0a1b", key);
    else if (!bytes)
        gr_read_nomem(x);
    *size = bytes ? (uint32_t)(n / 2 - 1) : 0;
    for (uint32_t k = 0; k < *size; k++)
        bytes[*size - 1 - k] = (uint8_t)(digit(text[2 + 2 * k]) << 4 | digit(text[3 + 2 * k]));
    return bytes;
}

static uint32_t read_lanes(GrReader *x, const json_t *o, const char *key) {
    const json_t *list = gr_read_list(x, o, key);
    uint32_t lanes = 0;
    for (size_t k = 0; k < json_array_size(list); k++) {
        json_int_t lane = json_integer_value(json_array_get(list, k));
        if (!json_is_integer(json_array_get(list, k)) || lane < 0 || lane > 31)
            gr_read_wrong(x, "'%s' are no lanes", key);
        else
            lanes |= UINT32_C(1) << lane;
    }
    return lanes;
}

// ---- Accesses -------------------------------------------------------------------------------------------------------

// The access's place, and where that was inlined.
static GrAccess read_places(GrReader *x, const json_t *o) {
    const json_t *list = gr_read_list(x, o, "frames");
    size_t n = json_array_size(list);
    GrFrame *frames = GR_NEW_ARRAY(&x->report->arena, GrFrame, n + 1);
    if (!frames) {
        gr_read_nomem(x);
        return (GrAccess){.kind = ""};
    }
    for (size_t k = 0; k < n; k++)
        frames[k] = gr_read_frame(x, json_array_get(list, k));
    if (!n)
        frames[0] = gr_read_frame(x, o);
    return gr_access_in(&frames[0], frames + 1, n ? (uint32_t)n - 1 : 0);
}

static const char *did(const char *kind) {
    return !strcmp(kind, "load") || !strcmp(kind, "host read") ? "read"
           : !strcmp(kind, "atomic")                           ? "updated"
           : !strncmp(kind, "free", 4)                         ? "freed the memory"
           : !strncmp(kind, "allocation", 10)                  ? "allocated the memory"
                                                               : "wrote";
}

static const GrStack *read_stack(GrReader *x, const json_t *o) {
    const json_t *list = gr_read_list(x, o, "stack");
    size_t n = json_array_size(list);
    GrStack *s = list ? GR_NEW(&x->report->arena, GrStack) : NULL;
    GrFrame *frames = s ? GR_NEW_ARRAY(&x->report->arena, GrFrame, n + 1) : NULL;
    if (list && !frames)
        gr_read_nomem(x);
    if (!frames)
        return NULL;
    for (size_t k = 0; k < n; k++)
        frames[k] = gr_read_frame(x, json_array_get(list, k));
    *s = (GrStack){gr_read_text(x, o, "called"), frames, (uint32_t)n};
    return s;
}

static const GrHeld *read_memory(GrReader *x, const json_t *o) {
    const json_t *memory = gr_read_object(x, o, "memory");
    GrHeld *m = memory ? GR_NEW(&x->report->arena, GrHeld) : NULL;
    if (memory && !m)
        gr_read_nomem(x);
    if (m)
        *m = (GrHeld){.kind = gr_read_needed(x, memory, "kind"),
                      .name = gr_read_text(x, memory, "variable"),
                      .place = gr_read_frame(x, memory),
                      .stack = read_stack(x, memory),
                      .offset = gr_read_number(x, memory, "offset", INT64_MAX),
                      .size = gr_read_number(x, memory, "size", INT64_MAX)};
    return m;
}

static GrAccess read_access(GrReader *x, const json_t *o) {
    GrAccess a = read_places(x, o);
    a.kind = gr_read_needed(x, o, "kind");
    a.ptx_line = (uint32_t)gr_read_number(x, o, "ptx_line", UINT32_MAX);
    a.size = (uint32_t)gr_read_number(x, o, "size", UINT32_MAX);
    a.has_thread = gr_read_triple(x, o, "thread", a.thread);
    gr_read_triple(x, o, "block", a.block);
    a.address = read_hex(x, o, "address");
    a.variable = gr_read_text(x, o, "variable");
    a.argument = (uint32_t)gr_read_number(x, o, "argument", UINT32_MAX);
    a.memory = read_memory(x, o);
    a.stack = read_stack(x, o);
    a.has_rank = json_object_get(o, "cluster_rank") != NULL;
    a.rank = (uint32_t)gr_read_number(x, o, "cluster_rank", UINT32_MAX);
    a.lanes = read_lanes(x, o, "lanes");
    a.strong = gr_read_text(x, o, "scope");
    a.async = gr_read_flag(o, "asynchronous");
    a.is_volatile = gr_read_flag(o, "volatile");
    a.discarded = gr_read_flag(o, "discarded");
    a.launch = gr_read_number(x, o, "launch", INT64_MAX);
    a.did = gr_read_text(x, o, "did");
    a.range = gr_read_text(x, o, "range");
    if (!a.did)
        a.did = did(a.kind);
    a.host = !strncmp(a.kind, "host ", 5);
    const json_t *near = gr_read_object(x, o, "near");
    GrFrame *before = near ? GR_NEW(&x->report->arena, GrFrame) : NULL;
    if (before)
        *before = gr_read_frame(x, near);
    a.near = before;
    return a;
}

static void read_accesses(GrReader *x, const json_t *o, GrFinding *f) {
    const json_t *list = gr_read_list(x, o, "accesses");
    f->n_accesses = (unsigned)json_array_size(list);
    if (f->n_accesses < 1 || f->n_accesses > 2) {
        gr_read_wrong(x, "'accesses' are not one or two");
        f->n_accesses = 1;
        f->accesses[0] = (GrAccess){.kind = ""};
        return;
    }
    for (unsigned k = 0; k < f->n_accesses; k++)
        f->accesses[k] = read_access(x, json_array_get(list, k));
}

// ---- Races ----------------------------------------------------------------------------------------------------------

static void read_kernels(GrReader *x, const json_t *o, GrRace *race) {
    enum { LISTED = 20 }; // of more there is only the number
    const json_t *kernels = gr_read_object(x, o, "kernels"), *names = gr_read_list(x, kernels, "names");
    size_t n = json_array_size(names);
    race->n_kernels = (uint32_t)gr_read_number(x, kernels, "number", UINT32_MAX);
    if (!kernels)
        return;
    const char **list = GR_NEW_ARRAY(&x->report->arena, const char *, n + 1);
    if (!list)
        gr_read_nomem(x);
    if (n != (race->n_kernels > LISTED ? LISTED : race->n_kernels))
        gr_read_wrong(x, "'kernels' names %zu of %u", n, race->n_kernels);
    for (size_t k = 0; list && k < n; k++) {
        const char *name = json_string_value(json_array_get(names, k));
        list[k] = gr_intern(&x->texts, name ? name : "?", strlen(name ? name : "?"));
    }
    race->kernels = list;
}

// A race that a value and a watchpoint showed: two findings; the accesses are the watchpoint's.
static void part_watched(GrReader *x, const json_t *o, GrRace *race) {
    const json_t *noticed = gr_read_object(x, o, "noticed");
    bool both = !strcmp(race->found.evidence, GR_EVIDENCE_VALUE "; " GR_EVIDENCE_WATCHPOINT);
    if (!race->found.order || !(noticed || both))
        return;
    GrRace *watched = GR_NEW(&x->report->arena, GrRace);
    if (!watched) {
        gr_read_nomem(x);
        return;
    }
    *watched = *race;
    watched->found.seen_by = GR_SEEN_BY_WATCHPOINT;
    watched->found.launch = watched->found.accesses[0].launch;
    watched->found.size = 0;
    watched->id = watched->line_id = NULL;
    race->watched = watched;
    race->found.order = NULL;
    race->found.n_accesses = 1;
    if (noticed)
        race->found.accesses[0] = read_access(x, noticed);
    if (noticed && gr_race_noticed_elsewhere(race))
        return;
    // Both findings are one occurrence.
    race->found.accesses[0] = watched->found.accesses[0];
    if (race->found.launch)
        race->found.launch = watched->found.launch;
}

static void read_met(GrReader *x, const json_t *o, GrRace *race) {
    const json_t *replay = gr_read_object(x, o, "replay");
    GrMet *met = replay && race->found.n_accesses == 2 ? GR_NEW(&x->report->arena, GrMet) : NULL;
    if (!met)
        return;
    met->replay = (unsigned)gr_read_number(x, replay, "number", UINT32_MAX);
    met->seed = gr_read_number(x, replay, "seed", INT64_MAX);
    met->other = race->found.accesses[1];
    met->first = read_access(x, gr_read_object(x, replay, "first"));
    race->met = met;
    race->found.n_accesses = 1;
}

static const GrRepair *read_repair(GrReader *x, const json_t *o) {
    const json_t *repair = gr_read_object(x, o, "repair");
    GrRepair *out = repair ? GR_NEW(&x->report->arena, GrRepair) : NULL;
    if (out)
        *out = (GrRepair){
            gr_read_needed(x, repair, "what"),
            gr_path_mapped(x->report->paths, gr_read_needed(x, repair, "file"), &x->report->arena),
            gr_read_needed(x, repair, "hunks"), (uint32_t)gr_read_number(x, repair, "loop", UINT32_MAX)};
    else if (repair)
        gr_read_nomem(x);
    return out;
}

static GrRace read_race(GrReader *x, const json_t *o);

// Another engine's word on the race, or the launch that the verifier's race needs.
static void read_witness(GrReader *x, const json_t *o, GrRace *race) {
    const json_t *witness = json_object_get(o, "witness");
    if (json_is_string(witness)) {
        race->found.detail = gr_read_text(x, o, "witness");
        return;
    }
    race->judged = witness != NULL;
    GrRace *w = json_is_object(witness) ? GR_NEW(&x->report->arena, GrRace) : NULL;
    if (w)
        *w = read_race(x, witness);
    race->witness = w;
}

static void read_seen(GrReader *x, const json_t *o, GrRace *race) {
    const json_t *list = gr_read_list(x, o, "seen_in");
    size_t n = json_array_size(list);
    GrSeenIn *seen = n ? GR_NEW_ARRAY(&x->report->arena, GrSeenIn, n) : NULL;
    for (size_t k = 0; seen && k < n; k++) {
        const json_t *v = json_array_get(list, k);
        const char *id = gr_read_needed(x, v, "run");
        seen[k].count = gr_read_number(x, v, "count", INT64_MAX);
        for (size_t i = 0; i < x->report->runs.len && !seen[k].run; i++)
            if (!strcmp(x->report->runs.data[i]->id, id))
                seen[k].run = x->report->runs.data[i];
        if (!seen[k].run)
            gr_read_wrong(x, "there is no run '%s'", id);
    }
    if (n > UINT32_MAX || !n != !x->report->runs.len)
        gr_read_wrong(x, "'seen_in' and 'runs' do not go together");
    race->seen = seen;
    race->n_seen = seen && x->st == GR_OK ? (uint32_t)n : 0;
}

static void read_names(GrReader *x, const json_t *o, GrRace *race) {
    race->id = gr_read_text(x, o, "id");
    race->line_id = gr_read_text(x, o, "line_id");
    race->rule = gr_read_text(x, o, "rule");
    if (!race->id != !race->line_id)
        gr_read_wrong(x, "one of 'id' and 'line_id' is missing");
    race->known = gr_read_flag(o, "known");
    race->n_sites = (uint32_t)gr_read_number(x, o, "instructions", UINT32_MAX);
}

static GrSeenBy seen_by(const char *evidence) {
    return !strncmp(evidence, GR_EVIDENCE_VALUE, strlen(GR_EVIDENCE_VALUE)) ? GR_SEEN_BY_VALUE
           : !strcmp(evidence, GR_EVIDENCE_WATCHPOINT)                      ? GR_SEEN_BY_WATCHPOINT
                                                                            : GR_SEEN_BY_ENGINE;
}

static const GrOutcome *read_outcome(GrReader *x, const json_t *race) {
    const json_t *o = gr_read_object(x, race, "differs"), *list = o ? gr_read_list(x, o, "regions") : NULL;
    GrOutcome *out = o ? GR_NEW(&x->report->arena, GrOutcome) : NULL;
    if (!out)
        return NULL;
    *out = (GrOutcome){.units = gr_read_needed(x, o, "units"),
                       .copies = (uint32_t)gr_read_number(x, o, "copies", UINT32_MAX),
                       .bytes = gr_read_number(x, o, "bytes", INT64_MAX),
                       .round = (uint32_t)gr_read_number(x, o, "round", UINT32_MAX)};
    for (size_t k = 0; k < json_array_size(list); k++) {
        json_int_t region = json_integer_value(json_array_get(list, k));
        if (!json_is_integer(json_array_get(list, k)) || region < 0 || region > 63)
            gr_read_wrong(x, "'regions' are no numbers of regions");
        else
            out->regions |= UINT64_C(1) << region;
    }
    return out;
}

static GrRace read_race(GrReader *x, const json_t *o) {
    GrRace race = {.number = 0};
    GrFinding *f = &race.found;
    const json_t *overlap = gr_read_object(x, o, "overlap"), *lanes = gr_read_object(x, o, "lanes");
    uint32_t seen_size = 0;
    read_names(x, o, &race);
    f->class = read_class(x, o, GR_KIND_RACE);
    f->engine = gr_read_needed(x, o, "engine");
    f->evidence = gr_read_needed(x, o, "evidence");
    f->seen_by = seen_by(f->evidence);
    f->kernel = gr_read_text(x, o, "kernel");
    f->module = gr_read_text(x, o, "module");
    f->launch = gr_read_number(x, o, "launch", INT64_MAX);
    f->space = gr_read_needed(x, o, "space");
    f->count = gr_read_number(x, o, "count", INT64_MAX);
    f->expected = read_bytes(x, o, "expected", &f->size);
    f->seen = read_bytes(x, o, "seen", &seen_size);
    if (f->size != seen_size)
        gr_read_wrong(x, "'expected' and 'seen' are of different sizes");
    f->stored_first = gr_read_flag(o, "stored_first");
    f->order = gr_read_text(x, o, "missing_order");
    f->overlap = read_hex(x, overlap, "address");
    f->overlap_bytes = (uint32_t)gr_read_number(x, overlap, "bytes", UINT32_MAX);
    f->lanes = read_lanes(x, lanes, "all");
    f->stored[0] = read_lanes(x, lanes, "stored_expected");
    f->stored[1] = read_lanes(x, lanes, "stored_seen");
    f->detail = gr_read_text(x, o, "outcome");
    f->outcome = read_outcome(x, o);
    read_accesses(x, o, f);
    if (f->order && f->n_accesses < 2)
        gr_read_wrong(x, "'missing_order' is of one access");
    race.repair = read_repair(x, o);
    read_kernels(x, o, &race);
    read_witness(x, o, &race);
    read_met(x, o, &race);
    part_watched(x, o, &race);
    return race;
}

static GrRace read_misuse(GrReader *x, const json_t *o) {
    GrRace misuse = {.number = 0};
    GrFinding *f = &misuse.found;
    read_names(x, o, &misuse);
    f->class = read_class(x, o, GR_KIND_MISUSE);
    f->engine = gr_read_needed(x, o, "engine");
    f->kernel = gr_read_text(x, o, "kernel");
    f->launch = gr_read_number(x, o, "launch", INT64_MAX);
    f->count = gr_read_number(x, o, "count", INT64_MAX);
    f->detail = gr_read_needed(x, o, "detail");
    f->n_accesses = 1;
    f->accesses[0] = read_places(x, o);
    f->accesses[0].kind = "";
    f->accesses[0].ptx_line = (uint32_t)gr_read_number(x, o, "ptx_line", UINT32_MAX);
    f->accesses[0].has_thread = gr_read_triple(x, o, "thread", f->accesses[0].thread);
    gr_read_triple(x, o, "block", f->accesses[0].block);
    f->accesses[0].stack = read_stack(x, o);
    return misuse;
}

static const GrRule *read_rule(GrReader *x, const json_t *o) {
    const json_t *by = gr_read_object(x, o, "hidden_by");
    GrRule *rule = GR_NEW(&x->report->arena, GrRule);
    if (!rule)
        gr_read_nomem(x);
    else
        *rule = (GrRule){.kind = gr_read_flag(by, "in_source") ? GR_RULE_COMMENT : GR_RULE_RACE,
                         .text = gr_read_needed(x, by, "rule"),
                         .path = gr_read_needed(x, by, "file"),
                         .why = gr_read_text(x, by, "why"),
                         .line = (uint32_t)gr_read_number(x, by, "line", UINT32_MAX)};
    return rule;
}

void gr_read_races(GrReader *x, const json_t *list, const char *what, GrRaceVec *out) {
    bool hidden = !strcmp(what, "hidden race");
    for (size_t k = 0; k < json_array_size(list) && x->st == GR_OK; k++) {
        const json_t *o = json_array_get(list, k);
        snprintf(x->where, sizeof x->where, "%s %zu: ", what, k + 1);
        bool misuse = !strcmp(what, "misuse") || (hidden && !json_object_get(o, "accesses"));
        GrRace race = misuse ? read_misuse(x, o) : read_race(x, o);
        if (hidden)
            race.hidden_by = read_rule(x, o);
        read_seen(x, o, &race);
        race.number = k;
        if (x->st == GR_OK && !gr_vec_push(out, race))
            gr_read_nomem(x);
    }
    x->where[0] = 0;
}
