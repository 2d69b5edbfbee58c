// SPDX-License-Identifier: Apache-2.0
#include "engines/core/race_writer.h"

#include "engines/core/host_pc.h"
#include "engines/core/place.h"
#include "ptx/reach.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COUNTS = 4096 }; // per area

// ---- Modules and their headlines ---------------------------------------------------------------------------

static uint64_t headline_of(GrFileOwners *owners, uint64_t fingerprint, const PtxStmt *stmt) {
    const PtxLoc *l = gr_place_headline(owners, stmt->loc);
    if (!l || !l->line) {
        uint64_t place[2] = {fingerprint, stmt->line};
        return gr_hash_bytes(place, sizeof place);
    }
    const char *file = gr_ptx_file(owners->ptx, l->file);
    uint64_t place[2] = {file ? gr_hash_bytes(file, strlen(file)) : 0, l->line};
    return gr_hash_bytes(place, sizeof place);
}

// NULL: out of memory.
static uint64_t *headlines_of(const PtxModule *ptx, uint64_t fingerprint) {
    uint64_t *out = calloc((size_t)ptx->n_sites + 1, sizeof *out);
    GrFileOwners f = {.ptx = ptx, .whose = calloc((size_t)ptx->n_files + 1, sizeof *f.whose)};
    PtxFunc *open = NULL;
    bool ok = f.whose != NULL;
    for (uint32_t s = 1; out && ok && s <= ptx->n_sites; s++)
        if ((ok = gr_ptx_turn_to(&open, ptx->sites[s].func)))
            out[s] = headline_of(&f, fingerprint, ptx->sites[s].stmt);
    (void)gr_ptx_turn_to(&open, NULL);
    if (!ok) {
        free(out);
        out = NULL;
    }
    free(f.whose);
    return out;
}

static const WrittenModule *module_of(const RaceWriter *w, uint64_t fingerprint) {
    return gr_map_get_u64(&w->modules, fingerprint);
}

bool gr_race_writer_module(RaceWriter *w, uint64_t fingerprint, const PtxModule *ptx, uint64_t number) {
    WrittenModule *m = gr_map_get_u64(&w->modules, fingerprint);
    if (!m) {
        m = calloc(1, sizeof *m);
        if (m)
            m->headlines = headlines_of(ptx, fingerprint);
        if (!m || !m->headlines || !gr_map_put_u64(&w->modules, fingerprint, m)) {
            free(m ? m->headlines : NULL);
            free(m);
            return false;
        }
        m->n_sites = ptx->n_sites;
    }
    m->number = number;
    return true;
}

static uint64_t headline(const RaceWriter *w, const RaceSide *s) {
    const WrittenModule *m = s->by == RACE_BY_KERNEL ? module_of(w, s->module) : NULL;
    if (m && s->site && s->site <= m->n_sites)
        return m->headlines[s->site];
    uint64_t place[2] = {s->by | (s->node ? 256 : 0), s->pc};
    return gr_hash_bytes(place, sizeof place);
}

// Where an instruction of the host's program is. `symbol` gets the text, if there is one.
static void place_host(uint64_t pc, GrRaceSide *out, StrBuf *symbol) {
    GrHostPc of = gr_host_pc(pc, symbol);
    if (!of.object)
        return;
    out->object = of.object;
    out->at = of.at;
    out->symbol = symbol->data;
}

uint64_t *gr_race_writer_count(RaceWriter *w, uint64_t *at) {
    GrSession *s = w->session;
    if (!w->counts || w->counts_used == COUNTS) {
        w->counts = s->area(s, COUNTS * sizeof *w->counts, &w->counts_at);
        w->counts_used = 0;
    }
    if (!w->counts)
        return NULL;
    *at = w->counts_at + w->counts_used * sizeof *w->counts;
    return &w->counts[w->counts_used++];
}

static uint32_t narrow(uint64_t bytes) { return bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes; }

static GrRaceSide side_of(const RaceWriter *w, const RaceSide *s, StrBuf *symbol) {
    const WrittenModule *m = module_of(w, s->module);
    GrRaceSide out = {.module = m ? m->number : 0,
                      .site = s->site,
                      .access = s->access,
                      .scope = s->strong ? (uint32_t)s->scope : 0,
                      .marks = (s->is_volatile ? GR_SIDE_VOLATILE : 0) |
                               (s->discarded ? GR_SIDE_DISCARDED : 0) | (s->node ? GR_SIDE_NODE : 0),
                      .by = s->by == RACE_BY_HOST    ? GR_SIDE_HOST
                            : s->by == RACE_BY_COPY  ? GR_SIDE_COPY
                            : s->by == RACE_BY_FILL  ? GR_SIDE_FILL
                            : s->by == RACE_BY_FREE  ? GR_SIDE_FREE
                            : s->by == RACE_BY_ALLOC ? GR_SIDE_ALLOC
                            : s->async               ? GR_SIDE_ASYNC
                                                     : GR_SIDE_THREAD,
                      .launch = s->launch,
                      .address = s->address,
                      .thread = {s->thread[0], s->thread[1], s->thread[2]},
                      .block = {s->block[0], s->block[1], s->block[2]},
                      .size = narrow(s->size),
                      .stack = s->call};
    if (s->by == RACE_BY_HOST)
        place_host(s->pc, &out, symbol);
    if (s->by == RACE_BY_FREE) {
        out.object = s->file;
        out.symbol = s->function;
        out.at = s->line;
        out.site = s->ptx_line;
    }
    return out;
}

// Stops the launch of the later access, else of the earlier one: either may be the host or a copy, or have ended.
static void stop_launch(const RaceWriter *w, const Race *race) {
    int (*stop)(uint64_t, const char *) =
        (int (*)(uint64_t, const char *))w->session->symbol(w->session, "gr_cpu_device_stop");
    for (unsigned k = 0; stop && k < 2; k++)
        if (race->side[k].launch && stop(race->side[k].launch, "its first race was found (--stop)") == 0)
            return;
}

typedef struct Tally {
    RaceTally of;
    uint64_t at; // its place in the file
} Tally;

// What all races with these headlines count in. NULL: memory is out.
static Tally *tally_of(RaceWriter *w, const Race *race, GrSeenBy seen_by) {
    uint64_t a = headline(w, &race->side[0]), b = headline(w, &race->side[1]);
    uint64_t what[4] = {a < b ? a : b, a < b ? b : a, (uint64_t)race->class << 8 | (uint64_t)seen_by,
                        race->space == PTX_SHARED};
    uint64_t key = gr_hash_bytes(what, sizeof what);
    Tally *t = gr_map_get_u64(&w->tallies, key);
    if (t)
        return t;
    t = calloc(1, sizeof *t);
    if (!t || !gr_map_put_u64(&w->tallies, key, t)) {
        free(t);
        return NULL;
    }
    t->of.count = gr_race_writer_count(w, &t->at);
    w->session->raced(w->session);
    return t;
}

void gr_race_writer_put(RaceWriter *w, Race *race, GrSeenBy seen_by) {
    StrBuf symbol[2] = {{0}, {0}}, b = {0};
    Tally *tally = tally_of(w, race, seen_by);
    GrRaceInfo info = {.class = w->classes[race->class].number,
                       .space = race->space == PTX_SHARED,
                       .seen_by = seen_by,
                       .overlap = race->overlap,
                       .overlap_bytes = narrow(race->overlap_bytes),
                       .order = race->order,
                       .tally_at = tally && tally->of.count ? tally->at : 0};
    for (unsigned k = 0; k < 2; k++)
        info.side[k] = side_of(w, &race->side[k], &symbol[k]);
    race->mine.count = gr_race_writer_count(w, &info.count_at);
    race->ours = tally ? &tally->of : NULL;
    gr_race_write(&info, &b);
    w->session->record(w->session, GR_RECORD_RACE, &b);
    gr_str_free(&b);
    for (unsigned k = 0; k < 2; k++)
        gr_str_free(&symbol[k]);
    if (w->stop)
        stop_launch(w, race);
}
