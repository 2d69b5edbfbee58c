// SPDX-License-Identifier: Apache-2.0
// cause — one mistake, one report: races that one edit would end get one cause.
//
// A forgotten barrier makes many pairs of lines race, and an update without an atomic races as a read, as a write and
// as a write of the same value. Races are of one cause
//
//   - where they are of the same two lines, whatever their class and space;
//   - where both are updates without an atomic (repair/propose.h) of one line, or of two lines that are such;
//   - where one edit orders both, and both are of threads of one launch or have a line in common;
//   - where the source proposes no edit: if they have a line, the variable and the missing order in common.
//
// What is done under a condition that itself races follows from that. Where strong operations of a kernel race (a lock
// whose scope is too narrow, for example), what they should have ordered races, too. Such causes follow: they come
// last, and nothing is proposed for them.
//
// A cause is named by its edit: the text that is proposed and the lines around it. A race of which only one side is
// known, or that another engine did not confirm, is a cause by itself.
#include "findings/missing.h"
#include "repair/propose.h"
#include "report/report_internal.h"

#include <stdlib.h>
#include <string.h>

// A proposal is a few lines; one of endless lines is none. A race is held against the last so many causes of its
// function, and with an edit for so many races of one.
enum { LONGEST = 4000, NEAR = 64, HELD = 24 };

typedef struct Group {
    GrSpot spots[2];
    const GrRace *first; // its pair
    GrUpdate update;     // op and line of an update without an atomic
    bool is_update, proposed;
    bool alone;            // it is no other race's
    const GrRepair *given; // what a report that was read proposes for all its races, if one edit; else NULL
    VEC(const GrFinding *) found; // of its races
    size_t before; // the number, from 1, of the last group before it in the same function; 0: none
} Group;

typedef struct Finder {
    GrReport *report;
    GrRepairs repairs;
    VEC(Group) groups;
    Map at_lines,
        in_function; // hash of both lines, of the function's name -> number of the last such group, from 1
    Map ids;
} Finder;

// ---- What belongs together -----------------------------------------------------------------------------------------

static bool same_repair(const GrRepair *a, const GrRepair *b) {
    return a && b && !strcmp(a->file, b->file) && !strcmp(a->hunks, b->hunks);
}

static bool is_of_block(GrWidth w) { return w == GR_WIDTH_LANES || w == GR_WIDTH_WARPS; }

// Both sides are threads of one launch, and a barrier, fence or wider scope is missing.
static bool is_of_launch(const GrFinding *f) {
    GrWidth w = gr_missing_width(f->order);
    return (w != GR_WIDTH_NONE && w <= GR_WIDTH_BLOCKS) || (f->accesses[0].strong && f->accesses[1].strong);
}

static bool same_order(const GrFinding *a, const GrFinding *b) {
    GrWidth w = gr_missing_width(a->order), v = gr_missing_width(b->order);
    return w == v ? w != GR_WIDTH_NONE || !gr_compare_texts(a->order, b->order)
                  : is_of_block(w) && is_of_block(v);
}

static bool share_a_spot(const GrSpot a[2], const GrSpot b[2]) {
    for (unsigned k = 0; k < 4; k++)
        if (!gr_compare_spots(&a[k & 1], &b[k >> 1]))
            return true;
    return false;
}

// Whether both are of one variable or allocation, or came through one argument of a kernel, as far as that is known.
static bool same_object(const GrFinding *f, const GrFinding *o) {
    const GrAccess *a = &f->accesses[0], *b = &o->accesses[0];
    const GrHeld *m = a->memory, *n = b->memory;
    const char *x = a->variable ? a->variable : m ? m->name : NULL;
    const char *y = b->variable ? b->variable : n ? n->name : NULL;
    if (x || y)
        return x && y && !strcmp(x, y);
    if (m && n && m->place.line)
        return m->place.line == n->place.line && !gr_compare_texts(m->place.file, n->place.file);
    return a->argument && a->argument == b->argument && !gr_compare_texts(f->kernel, o->kernel);
}

static bool is_line_of(const GrUpdate *u, const GrSpot *s) {
    return u->line == s->line && !gr_compare_texts(u->file, s->file);
}

// Both lines are updates without an atomic, this group's the one.
static bool joins_updates(const Finder *x, const Group *g, const GrSpot spots[2]) {
    bool mine = false;
    unsigned lines = 0;
    for (size_t k = 0; k < x->groups.len; k++) {
        const Group *o = &x->groups.data[k];
        for (unsigned s = 0; s < 2 && o->is_update; s++)
            if (is_line_of(&o->update, &spots[s])) {
                lines |= 1u << s;
                mine |= o == g;
            }
    }
    return mine && lines == 3;
}

static bool one_edit(Finder *x, const Group *g, const GrFinding *f) {
    const GrFinding *all[HELD + 1];
    GrProposal out[GR_REPAIR_PROPOSALS];
    size_t n = g->found.len < HELD ? g->found.len : HELD;
    for (size_t k = 0; k < n; k++)
        all[k] = g->found.data[k];
    all[n] = f;
    unsigned proposed = gr_repair_propose(&x->repairs, all, n + 1, out);
    bool of_block = is_of_block(gr_missing_width(f->order)), fits = proposed && !of_block;
    for (unsigned k = 0; k < proposed; k++) // two barriers that are missing are two mistakes
        fits |= out[k].n == 1;
    return fits;
}

static bool belongs(Finder *x, const Group *g, const GrRace *pair, const GrSpot spots[2],
                    const GrUpdate *update, const GrRepair *repair) {
    const GrFinding *f = &pair->found, *o = &g->first->found;
    if (g->alone || gr_compare_texts(f->engine, o->engine))
        return false;
    if (!gr_compare_spots(&spots[0], &g->spots[0]) && !gr_compare_spots(&spots[1], &g->spots[1]))
        return true;
    if (update || g->is_update)
        return update && g->is_update
                   ? update->line == g->update.line && !gr_compare_texts(update->file, g->update.file)
                   : joins_updates(x, g, spots);
    bool shares = share_a_spot(spots, g->spots);
    if (!same_order(f, o) || !(shares || is_of_launch(f)))
        return false;
    if (g->proposed)
        return one_edit(x, g, f);
    if (g->given && same_repair(g->given, repair))
        return true;
    return shares && same_object(f, o);
}

// ---- Names and edits -----------------------------------------------------------------------------------------------

// The hunks without the numbers of lines.
static uint64_t hash_of_hunks(const char *hunks) {
    uint64_t h = 0;
    while (*hunks) {
        size_t n = strcspn(hunks, "\n");
        if (*hunks != '@')
            h = h * 31 + gr_hash_bytes(hunks, n);
        hunks += n + (hunks[n] != 0);
    }
    return h;
}

// Fences and scopes can be mended at several places, and which of them a run tells varies.
static bool is_vague(const GrRepair *repair) {
    return !strncmp(repair->what, "insert __threadfence", 20) || !strncmp(repair->what, "widen", 5);
}

// By the edit, or by the kernel and what the edit does, or by the name of the race that is first in the alphabet of
// names.
static const char *name_of(Finder *x, const Group *g, const GrRepair *repair, const char *least) {
    Arena *arena = &x->report->arena;
    const char *kind = g->is_update ? "update" : "order";
    const char *kernel = gr_plain_name(g->first->found.kernel, arena);
    uint64_t hash = !repair            ? gr_hash_bytes(least, strlen(least))
                    : is_vague(repair) ? gr_hash_bytes(kernel ? kernel : "", kernel ? strlen(kernel) : 0)
                                       : hash_of_hunks(repair->hunks);
    char *text =
        gr_arena_printf(arena, "%s|%s|%llx", kind, repair ? repair->what : "", (unsigned long long)hash);
    if (!text)
        return NULL;
    hash = gr_hash_bytes(text, strlen(text));
    size_t times = (size_t)gr_map_get_u64(&x->ids, hash) + 1;
    if (!gr_map_put_u64(&x->ids, hash, (void *)times))
        return NULL;
    return times == 1 ? gr_arena_printf(arena, "%016llx", (unsigned long long)hash)
                      : gr_arena_printf(arena, "%016llx-%zu", (unsigned long long)hash, times);
}

// An update needs an atomic operation; and no fence orders two stores.
static bool is_apt(const Group *g, const GrProposal *p) {
    bool reads = false;
    for (size_t k = 0; k < g->found.len; k++)
        for (unsigned s = 0; s < 2; s++)
            reads |= strcmp(g->found.data[k]->accesses[s].kind, "store") != 0;
    return (!g->is_update || !strncmp(p->what, "use atomic", 10)) &&
           (reads || strncmp(p->what, "insert __threadfence", 20));
}

// *out: the first proposal that fits all of the group's races; NULL: none. False: out of memory.
static bool propose(Finder *x, const Group *g, const GrRepair **out) {
    GrProposal all[GR_REPAIR_PROPOSALS];
    StrBuf hunks = {0};
    Arena *arena = &x->report->arena;
    *out = NULL;
    unsigned n = g->alone ? 0 : gr_repair_propose(&x->repairs, g->found.data, g->found.len, all), at = 0;
    while (at < n && !is_apt(g, &all[at]))
        at++;
    if (at == n)
        return true;
    gr_repair_hunks(&all[at], &hunks);
    GrRepair *repair = GR_NEW(arena, GrRepair);
    const char *copy = hunks.oom ? NULL : gr_arena_strdup(arena, hunks.data),
               *what = gr_arena_strdup(arena, all[at].what);
    bool ok = repair && copy && what;
    if (ok && hunks.len <= LONGEST) {
        *repair = (GrRepair){what, all[at].file, copy, all[at].loop};
        *out = repair;
    }
    gr_str_free(&hunks);
    return ok;
}

// ---- All -----------------------------------------------------------------------------------------------------------

static uint64_t hash_of_lines(const GrSpot spots[2]) {
    uint64_t h = 0;
    for (unsigned k = 0; k < 2; k++) {
        const char *of[] = {spots[k].file, spots[k].kind, spots[k].module};
        for (unsigned n = 0; n < 3; n++)
            h = h * 31 + (of[n] ? gr_hash_bytes(of[n], strlen(of[n])) : n);
        h = (h * 31 + spots[k].line) * 31 + spots[k].ptx_line;
    }
    return h;
}

static uint64_t hash_of_function(const GrFinding *f) {
    const char *function = gr_access_frame(&f->accesses[0], f->accesses[0].headline)->function;
    function = function ? function : f->kernel ? f->kernel : "";
    return gr_hash_bytes(function, strlen(function));
}

// The number, from 1, of the group to which a race like `fresh` belongs; 0: none.
static size_t group_for(Finder *x, const Group *fresh, const GrRepair *repair) {
    const GrUpdate *update = fresh->is_update ? &fresh->update : NULL;
    size_t at = (size_t)gr_map_get_u64(&x->at_lines, hash_of_lines(fresh->spots));
    if (at && belongs(x, &x->groups.data[at - 1], fresh->first, fresh->spots, update, repair))
        return at;
    at = (size_t)gr_map_get_u64(&x->in_function, hash_of_function(&fresh->first->found));
    for (unsigned k = 0; at && k < NEAR; k++, at = x->groups.data[at - 1].before)
        if (belongs(x, &x->groups.data[at - 1], fresh->first, fresh->spots, update, repair))
            return at;
    return 0;
}

// Of a race of which one side is known: the update without an atomic at its line; 0: there is none.
static size_t update_of(const Finder *x, const Group *fresh) {
    size_t at = (size_t)gr_map_get_u64(&x->at_lines, hash_of_lines(fresh->spots));
    const Group *g = at ? &x->groups.data[at - 1] : NULL;
    return g && g->is_update && !gr_compare_spots(&g->spots[0], &fresh->spots[0]) &&
                   !gr_compare_texts(g->first->found.engine, fresh->first->found.engine)
               ? at
               : 0;
}

static bool add_group(Finder *x, Group *fresh) {
    GrProposal out[GR_REPAIR_PROPOSALS];
    const GrFinding *f = &fresh->first->found;
    uint64_t function = hash_of_function(f);
    fresh->proposed = !fresh->alone && gr_repair_propose(&x->repairs, &f, 1, out) > 0;
    fresh->before = (size_t)gr_map_get_u64(&x->in_function, function);
    return gr_vec_push(&x->groups, *fresh) &&
           gr_map_put_u64(&x->at_lines, hash_of_lines(fresh->spots), (void *)x->groups.len) &&
           gr_map_put_u64(&x->in_function, function, (void *)x->groups.len);
}

// Puts the race into the group to which it belongs, or into a fresh one. False: out of memory.
static bool put(Finder *x, GrRace *race) {
    const GrRace *pair = gr_race_pair(race);
    Group fresh = {
        .first = pair ? pair : race, .alone = !pair || gr_race_is_unconfirmed(race), .given = race->repair};
    const GrFinding *f = &fresh.first->found;
    fresh.is_update = !fresh.alone && gr_repair_update(&x->repairs, f, &fresh.update);
    gr_race_spots(fresh.first, fresh.spots);
    size_t at = fresh.alone ? update_of(x, &fresh) : group_for(x, &fresh, race->repair);
    if (!at && !add_group(x, &fresh))
        return false;
    race->cause = (uint32_t)(at ? at : x->groups.len);
    if (at && fresh.alone)
        return true;
    Group *g = &x->groups.data[race->cause - 1];
    if (g->given && !same_repair(g->given, race->repair))
        g->given = NULL;
    return gr_vec_push(&g->found, f);
}

static bool is_of_strong(const Group *g) {
    const GrFinding *f = &g->first->found;
    return f->n_accesses == 2 && f->accesses[0].strong && f->accesses[1].strong &&
           !f->accesses[0].is_volatile && !f->accesses[1].is_volatile;
}

// Both sides are under a condition in a line that another cause is a race of.
static bool is_under(Finder *x, const Group *g, const Group *other) {
    const GrAccess *a = g->first->found.accesses;
    bool under = other != g && !other->alone && g->first->found.n_accesses == 2;
    for (unsigned k = 0; k < 2 && under; k++) {
        bool any = false;
        for (unsigned s = 0; s < 2 && !any; s++)
            any =
                !other->spots[s].kind && gr_repair_depends(&x->repairs, gr_access_frame(&a[k], a[k].headline),
                                                           other->spots[s].file, other->spots[s].line);
        under = any;
    }
    return under;
}

static bool follows(Finder *x, const Group *g) {
    GrWidth w = gr_missing_width(g->first->found.order);
    bool any = false;
    if (g->alone ||
        is_of_strong(g)) // of two causes that might explain each other the synchronization comes first
        return false;
    for (size_t k = 0; k < x->groups.len && k < NEAR && !any; k++) {
        const Group *o = &x->groups.data[k];
        bool strong = is_of_strong(o) && (w == GR_WIDTH_CLUSTER || w == GR_WIDTH_BLOCKS);
        any = (strong && !gr_compare_texts(o->first->found.kernel, g->first->found.kernel)) ||
              is_under(x, g, o);
    }
    return any;
}

static gr_status name_all(Finder *x, size_t n, gr_error *err) {
    GrReport *r = x->report;
    const char **least = calloc(x->groups.len + 1, sizeof *least);
    bool ok = least;
    for (size_t k = 0; ok && k < n; k++) {
        const GrRace *race = &r->races.data[k];
        if (race->cause && (!least[race->cause - 1] || strcmp(race->id, least[race->cause - 1]) < 0))
            least[race->cause - 1] = race->id;
    }
    for (size_t k = 0; ok && k < x->groups.len; k++) {
        const Group *g = &x->groups.data[k];
        GrCause c = {.update = g->is_update ? "" : NULL, .follows = follows(x, g)};
        ok = c.follows || propose(x, g, &c.repair);
        c.repair = c.repair || c.follows ? c.repair : g->given;
        ok = ok && (c.id = name_of(x, g, c.repair, least[k]));
        if (c.repair && !strncmp(c.repair->what, "use atomic", 10) && !c.update)
            c.update = ""; // two updates, each at a line of its own
        if (ok && g->is_update && g->update.object)
            ok = (c.update = gr_arena_strdup(&r->arena, g->update.object));
        ok = ok && gr_vec_push(&r->causes, c);
    }
    for (size_t k = 0; ok && k < n; k++)
        if (r->races.data[k].cause)
            r->races.data[k].repair = r->causes.data[r->races.data[k].cause - 1].repair;
    free(least);
    return ok ? GR_OK : gr_no_memory(err);
}

gr_status gr_report_find_causes(GrReport *r, gr_error *err) {
    Finder x = {.report = r};
    bool ok = true;
    size_t n = r->races.len;
    if (r->max_reports && r->max_reports < n)
        n = (size_t)r->max_reports;
    gr_arena_init(&x.repairs.arena);
    r->causes.len = 0;
    for (unsigned sides = 2; sides > 0; sides--) // what only one side is known of finds the others
        for (size_t k = 0; k < n && ok; k++)
            if ((gr_race_pair(&r->races.data[k]) != NULL) == (sides == 2))
                ok = put(&x, &r->races.data[k]);
    gr_status st = ok ? name_all(&x, n, err) : gr_no_memory(err);
    for (size_t k = 0; k < x.groups.len; k++)
        gr_vec_free(&x.groups.data[k].found);
    gr_vec_free(&x.groups);
    gr_map_free(&x.at_lines);
    gr_map_free(&x.in_function);
    gr_map_free(&x.ids);
    gr_repairs_free(&x.repairs);
    return st;
}

// A load whose value nobody used: a race of another class says more of the mistake.
static bool is_idle(const GrRace *pair) {
    return pair->found.accesses[0].discarded || pair->found.accesses[1].discarded;
}

// Adds the race to its cause, which is *c.
static void add_race(GrCauseRaces *c, const GrRace *race) {
    const GrRace *pair = gr_race_pair(race), *shown = gr_race_pair(c->shown);
    if (pair && (!shown || (gr_compare_widths(pair, shown) < 0 && !is_idle(pair))))
        c->shown = race; // of one side only is known less
    c->n++;
    c->count += race->found.count;
    c->known &= race->known;
}

// The number of the race's cause among `out`, from 0; `at` has those of causes that were met, from 1.
static size_t cause_of(const GrReport *r, const GrRace *race, size_t *at, GrCauseRaces *out, size_t *used) {
    size_t *number = &at[race->cause];
    if (!race->cause || !*number) {
        out[*used] = (GrCauseRaces){
            .cause = race->cause ? &r->causes.data[race->cause - 1] : NULL, .shown = race, .known = true};
        *number = ++*used;
    }
    return *number - 1;
}

const GrCauseRaces *gr_report_causes(const GrReport *r, Arena *arena, size_t *n) {
    size_t *at = GR_NEW_ARRAY(arena, size_t, r->causes.len + 1), used = 0;
    GrCauseRaces *out = GR_NEW_ARRAY(arena, GrCauseRaces, r->races.len + 1);
    const GrRace **races = GR_NEW_ARRAY(arena, const GrRace *, r->races.len + 1);
    size_t *of = GR_NEW_ARRAY(arena, size_t, r->races.len + 1);
    if (!at || !out || !races || !of)
        return NULL;
    for (unsigned later = 0; later < 2; later++) // those that follow from others come last
        for (size_t k = 0; k < r->races.len; k++) {
            const GrRace *race = &r->races.data[k];
            if ((race->cause && r->causes.data[race->cause - 1].follows) != (later != 0))
                continue;
            of[k] = cause_of(r, race, at, out, &used);
            add_race(&out[of[k]], race);
        }
    for (size_t k = 0; k < used; k++) {
        out[k].races = races;
        races += out[k].n;
        out[k].n = 0;
    }
    for (size_t k = 0; k < r->races.len; k++) {
        GrCauseRaces *c = &out[of[k]];
        ((const GrRace **)c->races)[c->n++] = &r->races.data[k];
    }
    *n = used;
    return out;
}

const char *gr_cause_name(const GrReport *r, const GrCauseRaces *c) {
    return c->cause && c->cause->update ? "update without an atomic"
                                        : gr_report_class(r, c->shown->found.class)->name;
}
