// SPDX-License-Identifier: Apache-2.0
// What was seen in one way, held against what was seen in another in the same execution.
//
// A value that changed under the collider's eyes, and a watchpoint's meeting with that access as one side, are one
// race: the watchpoint gives it its other side. A race of the collider, of either evidence, is confirmed by a race in
// causality whose sides are the same: the noticing access, or both where both are known. That race is its witness, and
// gives it its other side if nothing else does. An engine that itself says which two accesses race does not wait for
// them to meet: it may know another pair of instructions of the two lines than causality does. So a race in causality
// with the same headlines is its witness, at best of the same instructions. Evidence and witnesses are not listed a
// second time; races that only causality saw are.
#include "base/map.h"
#include "report/report_internal.h"

#include <stdlib.h>
#include <string.h>

static bool is_pair(const GrRace *r) { return r->found.order != NULL; }
static bool is_causal(const GrRace *r) { return r->found.seen_by == GR_SEEN_BY_CAUSALITY; }
static bool is_watched(const GrRace *r) { return r->found.seen_by == GR_SEEN_BY_WATCHPOINT; }
static bool is_by_value(const GrRace *r) { return r->found.seen_by == GR_SEEN_BY_VALUE; }
// Both sides are the engine's own word.
static bool is_stated(const GrRace *r) { return is_pair(r) && r->found.seen_by == GR_SEEN_BY_ENGINE; }

// Such races are only looked for as witnesses.
static bool is_speculated(const GrReport *r, const GrRace *race) {
    return gr_report_class(r, race->found.class)->kind == GR_KIND_HOISTED;
}

static bool same_text(const char *a, const char *b) { return a == b || (a && b && !strcmp(a, b)); }

static bool same_place(const GrRace *r, const GrAccess *a, const GrRace *s, const GrAccess *b) {
    if (strcmp(a->kind, b->kind) || !a->at.line != !b->at.line)
        return false;
    if (a->host || !(a->ptx_line | b->ptx_line)) // no access of a kernel's
        return a->at.line == b->at.line && same_text(a->at.file, b->at.file) &&
               same_text(a->at.function, b->at.function);
    if (!a->at.line)
        return a->ptx_line == b->ptx_line && r->found.module && s->found.module &&
               !strcmp(r->found.module, s->found.module);
    return a->at.line == b->at.line && a->at.col == b->at.col && a->at.file && b->at.file &&
           !strcmp(a->at.file, b->at.file);
}

// Whether a and b are on one line of the user's and of one kind.
static bool same_headline(const GrRace *r, const GrAccess *a, const GrRace *s, const GrAccess *b) {
    const GrFrame *f = gr_access_frame(a, a->headline), *g = gr_access_frame(b, b->headline);
    if (a->host || b->host || !a->ptx_line || !b->ptx_line || !f->line || !g->line)
        return same_place(r, a, s, b);
    return f->line == g->line && f->file && g->file && !strcmp(f->file, g->file) && !strcmp(a->kind, b->kind);
}

// Which side of w is the first one of `of`: 0 or 1; -1: none.
static int side_at(const GrRace *of, const GrRace *w) {
    for (int k = 0; k < 2 && !strcmp(of->found.space, w->found.space); k++)
        if (same_place(of, &of->found.accesses[0], w, &w->found.accesses[k]))
            return k;
    return -1;
}

typedef bool Same(const GrRace *r, const GrAccess *a, const GrRace *s, const GrAccess *b);

static bool same_sides(const GrRace *a, const GrRace *b, Same *same) {
    if (strcmp(a->found.space, b->found.space))
        return false;
    for (unsigned k = 0; k < 2; k++)
        if (same(a, &a->found.accesses[0], b, &b->found.accesses[k]) &&
            same(a, &a->found.accesses[1], b, &b->found.accesses[!k]))
            return true;
    return false;
}

static bool same_pair(const GrRace *a, const GrRace *b) { return same_sides(a, b, same_place); }

static bool is_witness(const GrRace *of, const GrRace *w) {
    return is_causal(w) && (is_stated(of) ? same_sides(of, w, same_headline)
                            : is_pair(of) ? same_pair(of, w)
                                          : side_at(of, w) >= 0);
}

// The witness of highest rank is shown, and of equals the first.
static unsigned rank(const GrReport *r, const GrRace *of, const GrRace *w) {
    unsigned rank = is_speculated(r, w) ? 0 : 4;
    return is_stated(of) ? rank + 2 * same_pair(of, w) + (of->found.class == w->found.class) : rank;
}

// Races that are part of another, or were looked for only as witnesses, are not listed by themselves.
static void keep_unused(GrReport *r, const bool *used) {
    size_t kept = 0;
    for (size_t i = 0; i < r->races.len; i++)
        if (!used[i])
            r->races.data[kept++] = r->races.data[i];
    r->races.len = kept;
}

// ---- Where to look --------------------------------------------------------------------------------------------

// The races of which both sides are known, by the place of either side: of a hash, in ascending order.
typedef struct Index {
    uint64_t (*hash)(const GrAccess *a);
    Map heads;      // hash -> 1 + its first entry
    uint32_t *next; // of entry 2 * race + side: 1 + the next one; 0: none
} Index;

static uint64_t hash_of(const GrAccess *a) {
    uint64_t place[3] = {a->at.line, a->at.line ? a->at.col : a->ptx_line,
                         a->at.line && a->at.file ? gr_hash_bytes(a->at.file, strlen(a->at.file)) : 0};
    if (a->host || !a->ptx_line)
        place[1] = 0;
    return gr_hash_bytes(place, sizeof place);
}

static uint64_t hash_of_headline(const GrAccess *a) {
    const GrFrame *f = gr_access_frame(a, a->headline);
    if (a->host || !a->ptx_line || !f->line)
        return hash_of(a);
    uint64_t place[2] = {f->line, f->file ? gr_hash_bytes(f->file, strlen(f->file)) : 0};
    return gr_hash_bytes(place, sizeof place);
}

static bool index_races(const GrReport *r, uint64_t (*hash)(const GrAccess *a), Index *out) {
    size_t n = r->races.len;
    *out = (Index){.hash = hash, .next = calloc(2 * n + 1, sizeof *out->next)};
    bool ok = out->next && n < UINT32_MAX / 2;
    for (size_t entry = 2 * n; ok && entry-- > 0;) {
        const GrRace *race = &r->races.data[entry / 2];
        if (!is_pair(race))
            continue;
        uint64_t place = hash(&race->found.accesses[entry % 2]);
        out->next[entry] = (uint32_t)(uintptr_t)gr_map_get_u64(&out->heads, place);
        ok = gr_map_put_u64(&out->heads, place, (void *)(entry + 1));
    }
    return ok;
}

static void index_free(Index *x) {
    gr_map_free(&x->heads);
    free(x->next);
}

static uint32_t first_at(const Index *x, const GrAccess *a) {
    return (uint32_t)(uintptr_t)gr_map_get_u64(&x->heads, x->hash(a));
}

// ---- Values and watchpoints --------------------------------------------------------------------------------

static bool same_thread(const GrAccess *a, const GrAccess *b) {
    return a->has_thread && b->has_thread && !memcmp(a->thread, b->thread, sizeof a->thread) &&
           !memcmp(a->block, b->block, sizeof a->block);
}

const GrAccess *gr_race_noticed_elsewhere(const GrRace *race) {
    const GrAccess *noticed = &race->found.accesses[0],
                   *met = race->watched ? &race->watched->found.accesses[0] : NULL;
    if (!met || !noticed->has_thread)
        return NULL;
    bool same = same_thread(noticed, met) && noticed->address == met->address &&
                (!race->found.launch || race->found.launch == race->watched->found.launch);
    return same ? NULL : noticed;
}

// The meeting at the place of `race` that it most likely is: of the race's thread, or else the most frequent one.
static size_t best_meeting(const GrReport *r, const Index *x, const GrRace *race) {
    size_t best = SIZE_MAX;
    bool exact = false;
    for (uint32_t at = first_at(x, &race->found.accesses[0]); at; at = x->next[at - 1]) {
        size_t k = (at - 1) / 2;
        const GrRace *w = &r->races.data[k];
        int side = is_watched(w) ? side_at(race, w) : -1;
        if (side < 0)
            continue;
        bool same = same_thread(&race->found.accesses[0], &w->found.accesses[side]);
        if (best == SIZE_MAX || (same && !exact) ||
            (same == exact && w->found.count > r->races.data[best].found.count)) {
            best = k;
            exact |= same;
        }
    }
    return best;
}

gr_status gr_report_merge(GrReport *r, gr_error *err) {
    size_t n = r->races.len;
    bool *used = GR_NEW_ARRAY(&r->arena, bool, n + 1);
    Index x;
    gr_status st = index_races(r, hash_of, &x) && used ? GR_OK : gr_no_memory(err);
    if (st != GR_OK)
        goto done;
    for (size_t i = 0; i < n; i++) {
        GrRace *race = &r->races.data[i];
        if (is_watched(race)) {
            race->found.engine = r->first.engine;
            race->found.evidence = GR_EVIDENCE_WATCHPOINT;
        }
        if (is_by_value(race))
            race->found.evidence = GR_EVIDENCE_VALUE;
        size_t k = is_by_value(race) && race->found.n_accesses == 1 ? best_meeting(r, &x, race) : SIZE_MAX;
        if (k == SIZE_MAX)
            continue;
        GrRace *w = gr_arena_alloc(&r->arena, sizeof *w);
        GR_TRY(w ? GR_OK : gr_no_memory(err));
        *w = r->races.data[k];
        // The first side is the one at the place of the race: of two, the one that it is more likely to be.
        int first = side_at(race, w);
        if (first == 0 && same_place(race, &race->found.accesses[0], w, &w->found.accesses[1]) &&
            (same_thread(&race->found.accesses[0], &w->found.accesses[1]) ||
             (race->found.launch && race->found.launch == w->found.accesses[1].launch)) &&
            !same_thread(&race->found.accesses[0], &w->found.accesses[0]))
            first = 1;
        if (first == 1) {
            w->found.accesses[0] = r->races.data[k].found.accesses[1];
            w->found.accesses[1] = r->races.data[k].found.accesses[0];
            w->found.launch = w->found.accesses[0].launch;
        }
        used[k] = true;
        race->watched = w;
        race->found.evidence = GR_EVIDENCE_VALUE "; " GR_EVIDENCE_WATCHPOINT;
    }
    keep_unused(r, used);
done:
    index_free(&x);
    return st;
}

// ---- Causality ---------------------------------------------------------------------------------------------

// Causality was followed everywhere, so that there would be witnesses.
static bool is_excluded(const GrReport *r, const GrRace *race) {
    for (unsigned k = 0; is_causal(race) && k < race->found.n_accesses; k++) {
        const GrAccess *a = &race->found.accesses[k];
        if (a->ptx_line && gr_report_excludes(r, a->kernel, a))
            return true;
    }
    return false;
}

// In a launch that a fault ended. The collider may have seen a race before what it is a race with was performed: an
// asynchronous operation under way, of which causality then never heard.
static bool was_cut_short(const GrReport *r, const GrRace *race) {
    for (size_t k = 0; k < r->faulted.len; k++) {
        uint64_t launch = r->faulted.data[k];
        if (race->found.launch == launch || race->found.accesses[0].launch == launch ||
            (race->found.n_accesses > 1 && race->found.accesses[1].launch == launch))
            return true;
    }
    return false;
}

gr_status gr_report_confirm(GrReport *r, gr_error *err) {
    size_t n = r->races.len, cut = 0;
    bool *used = GR_NEW_ARRAY(&r->arena, bool, n + 1);
    Index places, headlines;
    bool ok = index_races(r, hash_of, &places);
    ok = index_races(r, hash_of_headline, &headlines) && ok;
    gr_status st = ok && used ? GR_OK : gr_no_memory(err);
    if (st != GR_OK)
        goto done;
    for (size_t i = 0; i < n; i++) {
        GrRace *race = &r->races.data[i];
        const Index *x = is_stated(race) ? &headlines : &places;
        used[i] |= is_speculated(r, race) || is_excluded(r, race);
        if (is_causal(race)) {
            race->found.engine = r->causal.engine;
            race->found.evidence = r->causal.evidence;
            continue;
        }
        race->found.engine = r->first.engine;
        if (!race->found.evidence)
            race->found.evidence = r->first.evidence;
        race->judged = true;
        bool met = !race->watched; // or nothing did
        for (uint32_t at = first_at(x, &race->found.accesses[0]); at; at = x->next[at - 1]) {
            size_t k = (at - 1) / 2;
            if (!is_witness(race, &r->races.data[k]))
                continue;
            used[k] = true;
            met |= race->watched && same_pair(race->watched, &r->races.data[k]);
            if (race->witness && rank(r, race, race->witness) >= rank(r, race, &r->races.data[k]))
                continue;
            GrRace *w = gr_arena_alloc(&r->arena, sizeof *w);
            GR_TRY(w ? GR_OK : gr_no_memory(err));
            *w = r->races.data[k];
            w->found.engine = r->causal.engine;
            w->found.evidence = r->causal.evidence;
            race->witness = w;
        }
        bool unconfirmed = !race->witness || !met;
        if (unconfirmed && was_cut_short(r, race)) {
            race->judged = false;
            cut++;
        } else
            r->unconfirmed += unconfirmed;
    }
    if (cut && gr_report_remark(r,
                                "%zu race%s of the %s %s in a launch that a fault ended: causality may not "
                                "have seen both accesses, so the report does not ask causality",
                                cut, cut == 1 ? "" : "s", r->first.engine, cut == 1 ? "is" : "are") != GR_OK)
        st = gr_no_memory(err);
    keep_unused(r, used);
done:
    index_free(&places);
    index_free(&headlines);
    return st;
}
