// SPDX-License-Identifier: Apache-2.0
#include "engines/privatizer/races.h"

#include "engines/privatizer/device/first.h"

#include <stdlib.h>
#include <string.h>

// The privatizer reports exact's classes, as the races are the same.
enum {
#define CLASS(id, number, text, meaning) CLASS_##id = number,
#include "engines/exact/classes.def"
#undef CLASS
};

static bool is_store(const GrPrivSeen *s) { return s->what & GR_AT_STORE; }

static void put_side(GrPrivateSide *to, const GrPrivSeen *s) {
    *to = (GrPrivateSide){.site = s->site,
                          .store = is_store(s),
                          .atomic = s->what & GR_AT_ATOMIC,
                          .size = s->what >> GR_AT_SIZE};
    memcpy(to->thread, s->thread, sizeof to->thread);
    memcpy(to->block, s->block, sizeof to->block);
}

// The accesses are of two units, at least one is a store, and not both are strong.
static bool races(const GrPrivSeen *one, const GrPrivSeen *other) {
    return one->copy != other->copy && (is_store(one) || is_store(other)) &&
           !(one->what & other->what & GR_AT_STRONG);
}

static bool is_same_value(const GrPrivSeen *one, const GrPrivSeen *other) {
    return !((one->what | other->what) & GR_AT_ATOMIC) && one->offset == other->offset &&
           one->what == other->what && one->value == other->value;
}

// Adds what the same launch and round found in another part of the region.
static void add_part(GrPrivateRace *r, const GrPrivateRace *part) {
    if (r->launch != part->launch || r->round != part->round || r->region != part->region ||
        r->last == part->last)
        return;
    r->last = part->last;
    r->bytes += part->bytes;
    for (unsigned k = 0; k < GR_FOUND_COPIES / 64; k++)
        r->copies[k] |= part->copies[k];
}

// Notes in `known` that race k is one of its races.
static void add_known(Known *known, unsigned k) {
    for (size_t i = 0; i < known->races.len; i++)
        if (known->races.data[i] == k)
            return;
    (void)gr_vec_push(&known->races, (uint16_t)k); // else it is counted less often
}

// Adds the race to the area; one pair of instructions is one race.
static void put(GrPrivateArea *area, const GrPrivateRace *race, RacesFound *found, Known *known) {
    for (unsigned k = 0; k < GR_PRIVATE_RACES; k++) {
        GrPrivateRace *r = &area->race[k];
        if (!r->state) {
            *r = *race;
            __atomic_store_n(&r->state, 1, __ATOMIC_RELEASE);
            found->races++;
            add_known(known, k);
            return;
        }
        bool same = r->side[0].site == race->side[0].site && r->side[1].site == race->side[1].site,
             other = r->side[0].site == race->side[1].site && r->side[1].site == race->side[0].site;
        if (r->class == race->class && r->level == race->level && (same || other)) {
            r->count++;
            r->regions |= race->regions;
            add_part(r, race);
            add_known(known, k);
            return;
        }
    }
    area->dropped++;
}

static GrBetween between(const Passes *p, const GrPrivSeen *one, const GrPrivSeen *other) {
    const uint32_t *size = p->launch->block, *x = one->thread, *y = other->thread;
    if (memcmp(one->block, other->block, sizeof one->block))
        return GR_BETWEEN_BLOCKS;
    return (x[0] + size[0] * (x[1] + size[1] * x[2])) / 32 == (y[0] + size[0] * (y[1] + size[1] * y[2])) / 32
               ? GR_BETWEEN_LANES
               : GR_BETWEEN_WARPS;
}

typedef struct Pair {
    uint64_t offset;
    GrPrivSeen one, other;
} Pair;

// A search for the accesses that made two private copies differ, and where its results go.
typedef struct Search {
    Passes *p;
    PassPlan plan; // with as much room as the search needs
    const GrPrivFound *f;
    GrPrivateArea *area;
    RacesFound *found;
    Known *known;
    // What else the last run that asked for reads found in the same block, and the pairs that came of it: they explain
    // differences of the same units as well.
    GrPrivLog last;
    uint64_t last_round, last_copies;
    bool is_last, keeps; // keeps: pairs that come are of it
    VEC(Pair) pairs;
} Search;

// Only the texts of accesses name shared memory.
static bool is_target(const Passes *p, uint64_t offset, const GrPrivSeen *one, const GrPrivSeen *other) {
    if (!p->targets->is_set)
        return true;
    if (offset < p->layout->shared_bytes)
        return p->target_of[one->site] == TARGET_WANTED || p->target_of[other->site] == TARGET_WANTED;
    return gr_targets_want(p->targets, gr_layout_variable(p->layout, gr_layout_address(p->layout, offset)));
}

static void put_pair(Search *s, uint64_t offset, const GrPrivSeen *one, const GrPrivSeen *other) {
    const Passes *p = s->p;
    if (s->keeps && !gr_vec_push(&s->pairs, ((Pair){offset, *one, *other})))
        s->is_last = false; // then the next is looked for by itself
    const GrPrivFound *f = s->f;
    bool writes = is_store(one) && is_store(other), same = writes && is_same_value(one, other);
    if ((same && !p->same_value) || p->left_out[one->site] || p->left_out[other->site] ||
        !is_target(p, offset, one, other))
        return;
    // The reader comes first; of two writers the one that comes first in the kernel, so that the report does not depend
    // on which was seen first.
    bool turned = writes ? one->site > other->site : is_store(one);
    const GrPrivSeen *first = turned ? other : one, *second = turned ? one : other;
    GrPrivateRace r = {.class = same     ? CLASS_SAME_VALUE
                                : writes ? CLASS_WRITE_WRITE
                                         : CLASS_READ_WRITE,
                       .level = between(p, one, other),
                       .shared = offset < p->layout->shared_bytes,
                       .launch = p->launch->number,
                       .count = 1,
                       .address = gr_layout_address(p->layout, offset),
                       .bytes = f->bytes,
                       .region = f->region,
                       .round = f->round + 1,
                       .regions = UINT64_C(1) << (f->region < 63 ? f->region : 63),
                       .last = f->part,
                       .unit = s->plan.mode == GR_OF_BLOCKS && !p->whole ? 0 : s->plan.threads};
    if (f->kind == GR_FOUND_LANES) { // `region` is the store
        r.region = GR_NO_REGION;
        r.regions = 0;
        r.unit = 1;
    }
    memcpy(r.copies, f->copies, sizeof r.copies);
    put_side(&r.side[0], first);
    put_side(&r.side[1], second);
    put(s->area, &r, s->found, s->known);
}

// Adds the pairs of seen accesses that race with each other, or with `reader`, which accessed the byte in pass 2. NULL:
// no reader.
static bool put_pairs(Search *s, uint64_t offset, const GrPrivSeen *reader, const GrPrivLog *log) {
    bool placed = false;
    for (unsigned i = 0; i < GR_MOST_SEEN; i++) {
        const GrPrivSeen *one = &log->seen[i];
        if (one->state != 2 || one->what & GR_AT_MAYBE)
            continue;
        if (reader && races(one, reader)) {
            put_pair(s, offset, reader, one);
            placed = true;
        }
        for (unsigned j = i + 1; j < GR_MOST_SEEN; j++) {
            const GrPrivSeen *other = &log->seen[j];
            if (other->state != 2 || other->what & GR_AT_MAYBE || !races(one, other))
                continue;
            put_pair(s, offset, one, other);
            placed = true;
        }
    }
    return placed;
}

static bool is_same(const GrPrivFound *one, const GrPrivFound *other) {
    return one->state == 2 && other->state == 2 && one->kind == other->kind && one->region == other->region &&
           one->round == other->round && one->part == other->part;
}

// Warps that find the same at once may each write it: *out becomes what all say, and where that comes first. False: an
// earlier entry says the same.
static bool gather(const GrPrivLog *log, unsigned k, GrPrivFound *out) {
    *out = log->found[k];
    for (unsigned i = 0; i < GR_MOST_FOUND; i++) {
        const GrPrivFound *f = &log->found[i];
        if (i == k || !is_same(f, out))
            continue;
        if (i < k)
            return false;
        for (unsigned n = 0; n < GR_FOUND_COPIES / 64; n++)
            out->copies[n] |= f->copies[n];
        out->bytes += f->block == out->block && f->sequence == out->sequence ? f->bytes : 0;
        out->first = f->first > out->first ? f->first : out->first;
    }
    gr_first_take(out);
    return true;
}

// Sets *out to where this run found f. False: nowhere, as atomic operations came in another order.
static bool found_again(const GrPrivLog *log, const GrPrivFound *f, GrPrivFound *out) {
    for (unsigned k = 0; k < GR_MOST_FOUND; k++) {
        const GrPrivFound *again = &log->found[k];
        if (again->state == 2 && again->kind == f->kind && again->region == f->region &&
            again->part == f->part)
            return gather(log, k, out);
    }
    return false;
}

// Runs the round again, and asks. If atomic operations come in another order the launch may write more, or go further.
static CUresult run_again(Search *s, const GrPrivAsk *asked, GrPrivLog *log) {
    CUresult rc;
    GrPrivAsk ask = *asked;
    ask.shared = ask.offset < s->p->layout->shared_bytes;
    ask.address = gr_layout_address(s->p->layout, ask.offset);
    for (;;) {
        rc = gr_passes_run(s->p, &s->plan, s->f->round, 1, &ask, log);
        if (rc != CUDA_SUCCESS || !log->head.full || !gr_passes_more(s->p, &s->plan, log->head.full))
            break;
    }
    s->found->outside |= log->head.outside != 0;
    s->found->cut += log->head.outside || log->head.over || log->head.apart || log->head.full;
    return rc;
}

// Asks which units access that byte in pass 1 of the region.
static CUresult find_pairs(Search *s, uint64_t offset, const GrPrivSeen *reader, bool *placed) {
    enum { TRIES = 8 };
    const GrPrivFound *f = s->f;
    GrPrivAsk ask = {.kind = GR_ASK_COPY, .block = f->block, .sequence = f->sequence, .offset = offset};
    CUresult rc = CUDA_SUCCESS;
    bool done = false;
    for (unsigned k = 0; k < TRIES && rc == CUDA_SUCCESS && !done; k++) {
        GrPrivLog log;
        GrPrivFound again;
        rc = run_again(s, &ask, &log);
        done = rc == CUDA_SUCCESS && put_pairs(s, ask.offset, reader, &log);
        *placed |= done;
        if (reader) // it is one of that byte
            break;
        if (!found_again(&log, f, &again)) // not in this order of atomic operations
            continue;
        if (again.offset == ask.offset && again.block == ask.block &&
            again.sequence == ask.sequence) // another run would tell nothing else
            break;
        ask.block = again.block;
        ask.sequence = again.sequence;
        ask.offset = again.offset;
    }
    return rc;
}

// Adds a race that needs no search: two lanes of one store.
static void put_lanes(Search *s) {
    GrPrivSeen side[2] = {{0}};
    const GrPrivFound *f = s->f;
    const uint32_t *grid = s->p->launch->grid, *block = s->p->launch->block;
    for (unsigned k = 0; k < 2; k++)
        side[k] =
            (GrPrivSeen){.site = f->region,
                         .what = GR_AT_STORE | f->size << GR_AT_SIZE,
                         .value = f->same ? 0 : k,
                         .thread = {f->copy[k] % block[0], f->copy[k] / block[0] % block[1],
                                    f->copy[k] / block[0] / block[1]},
                         .block = {(uint32_t)(f->block % grid[0]), (uint32_t)(f->block / grid[0] % grid[1]),
                                   (uint32_t)(f->block / grid[0] / grid[1])}};
    put_pair(s, f->offset, &side[0], &side[1]);
}

// An earlier entry is of the same instruction.
static bool is_again(const GrPrivLog *log, unsigned k) {
    for (unsigned i = 0; i < k; i++)
        if (log->seen[i].state == 2 && log->seen[i].site == log->seen[k].site)
            return true;
    return false;
}

// Asks which loads by units of these copies (bits, modulo 64) saw what others had changed; prefers loads whose value is
// used. *again: where that run found the difference. *found false: nowhere.
static CUresult find_reads_at(Search *s, uint64_t copies, bool *placed, GrPrivFound *again, bool *found) {
    GrPrivAsk ask = {
        .kind = GR_ASK_READS, .block = s->f->block, .sequence = s->f->sequence, .copies = copies};
    GrPrivLog log;
    CUresult rc = run_again(s, &ask, &log);
    *found = rc == CUDA_SUCCESS && found_again(&log, s->f, again);
    s->pairs.len = 0;
    s->last = log;
    s->is_last = s->keeps = rc == CUDA_SUCCESS;
    for (uint32_t maybe = 0; maybe <= GR_AT_MAYBE && !*placed; maybe += GR_AT_MAYBE)
        for (unsigned i = 0; i < GR_MOST_SEEN && rc == CUDA_SUCCESS; i++) {
            const GrPrivSeen *seen = &log.seen[i];
            if (seen->state == 2 && (seen->what & GR_AT_MAYBE) == maybe && !is_again(&log, i))
                rc = find_pairs(s, seen->offset, seen, placed);
        }
    s->keeps = false;
    s->is_last = s->is_last && *placed;
    return rc;
}

// If atomic operations come in another order, the difference may be in another block, or in a later region.
static CUresult find_reads_of(Search *s, uint64_t copies, bool *placed) {
    enum { TRIES = 4 };
    const GrPrivFound *f = s->f;
    GrPrivFound at, again;
    CUresult rc = CUDA_SUCCESS;
    bool found = true;
    for (unsigned k = 0; k < TRIES && rc == CUDA_SUCCESS && found && !*placed; k++) {
        rc = find_reads_at(s, copies, placed, &again, &found);
        found = found && (again.block != s->f->block || again.sequence != s->f->sequence);
        if (found) {
            at = again;
            s->f = &at;
        }
    }
    s->f = f;
    return rc;
}

// The numbers, modulo 64, of the copies in f, as bits.
static uint64_t copies_of(const GrPrivFound *f) {
    uint64_t copies = 0;
    for (unsigned k = 0; k < GR_FOUND_COPIES / 64; k++)
        copies |= f->copies[k];
    return copies;
}

// The last run that asked for reads of the same units found this, too.
static bool put_last(Search *s) {
    GrPrivFound again;
    if (!s->is_last || s->last_round != s->f->round || s->last_copies != copies_of(s->f) ||
        !found_again(&s->last, s->f, &again))
        return false;
    for (size_t k = 0; k < s->pairs.len; k++)
        put_pair(s, s->pairs.data[k].offset, &s->pairs.data[k].one, &s->pairs.data[k].other);
    return true;
}

static CUresult find_reads(Search *s, bool *placed) {
    const GrPrivFound *f = s->f;
    uint64_t copies = copies_of(f);
    s->last_round = f->round;
    s->last_copies = copies;
    CUresult rc = find_reads_of(s, copies, placed);
    // A unit may have stored what was there before: this finds others that stored there.
    if (rc == CUDA_SUCCESS && !*placed && f->bytes)
        rc = find_pairs(s, f->offset, NULL, placed);
    // A shuffle may have brought the value from another unit, which read it.
    if (rc == CUDA_SUCCESS && !*placed)
        rc = find_reads_of(s, ~UINT64_C(0), placed);
    return rc;
}

static bool are_due(uint64_t launches) { return !(launches & (launches - 1)); }

void gr_races_free(KnownRaces *known) {
    for (size_t k = 0; k < known->len; k++)
        gr_vec_free(&known->data[k].races);
    gr_vec_free(known);
}

static bool is_of_place(const Known *k, const Known *other) {
    return k->mode == other->mode && k->kind == other->kind && k->region == other->region &&
           k->part == other->part;
}

// What is known of that place in this layout, else of all layouts that have no entry; NULL: nothing. *layouts: how many
// have an entry.
static Known *find_known(const KnownRaces *all, const Known *place, unsigned *layouts) {
    Known *own = NULL, *others = NULL;
    *layouts = 0;
    for (size_t i = 0; i < all->len && !own; i++) {
        Known *k = &all->data[i];
        if (!is_of_place(k, place))
            continue;
        if (k->others)
            others = k;
        else if (k->layout == place->layout)
            own = k;
        *layouts += !k->others;
    }
    return own ? own : others;
}

// What is known of such a place, perhaps still empty; NULL: out of memory.
static Known *known_of(KnownRaces *all, const Passes *p, const PassPlan *plan, const GrPrivFound *f) {
    Known one = {.layout = gr_layout_number(p->layout),
                 .mode = plan->mode,
                 .kind = f->kind,
                 .region = f->region,
                 .part = f->part};
    unsigned layouts;
    Known *k = find_known(all, &one, &layouts);
    one.others = layouts >= GR_MOST_LAYOUTS;
    if (!k && gr_vec_push(all, one))
        k = &all->data[all->len - 1];
    if (k && k->last != p->launch->number + 1) {
        k->launches++;
        k->last = p->launch->number + 1;
    }
    return k;
}

// Counts the races as often as the launch has found them.
static void count_again(GrPrivateArea *area, const Known *known) {
    for (size_t k = 0; k < known->races.len; k++)
        area->race[known->races.data[k]].count++;
}

void gr_races_expect(const Passes *p, const PassPlan *plan, const KnownRaces *known, GrPrivExpected *out) {
    uint64_t layout = gr_layout_number(p->layout);
    unsigned layouts;
    out->n = 0;
    for (size_t k = 0; k < known->len && plan->rounds == 1 && out->n < GR_MOST_EXPECTED; k++) {
        const Known *one = &known->data[k];
        Known here = *one;
        here.layout = layout;
        if ((!one->others && one->layout != layout) || one->mode != plan->mode ||
            one->kind == GR_FOUND_LANES || are_due(one->launches + 1) ||
            (one->others && find_known(known, &here, &layouts) != one))
            continue;
        out->of[out->n].kind = one->kind;
        out->of[out->n].region = one->region;
        out->of[out->n].part = one->part;
        out->of[out->n++].known = (uint32_t)k;
    }
}

void gr_races_count(const Passes *p, const GrPrivExpected *expected, uint64_t again, GrPrivateArea *area,
                    KnownRaces *known, RacesFound *found) {
    for (uint32_t k = 0; k < expected->n; k++) {
        Known *one = &known->data[expected->of[k].known];
        if (!(again >> k & 1))
            continue;
        one->launches++;
        one->last = p->launch->number + 1;
        count_again(area, one);
        found->placed += one->placed;
        found->unplaced += !one->placed;
    }
}

CUresult gr_races_find(Passes *p, const PassPlan *plan, const GrPrivLog *log, GrPrivateArea *area,
                       KnownRaces *known, RacesFound *found) {
    CUresult rc = CUDA_SUCCESS;
    Search s = {.p = p, .plan = *plan, .area = area, .found = found};
    for (uint64_t round = 0; round < plan->rounds; round++)
        for (unsigned k = 0; k < GR_MOST_FOUND && rc == CUDA_SUCCESS; k++) {
            GrPrivFound f;
            if (log->found[k].state != 2 || log->found[k].round != round || !gather(log, k, &f))
                continue;
            Known nowhere = {.launches = 1};
            s.f = &f;
            s.known = known_of(known, p, plan, &f);
            s.known = s.known ? s.known : &nowhere;
            bool again = !are_due(s.known->launches),
                 placed = f.kind == GR_FOUND_LANES || (again && s.known->placed);
            if (f.kind == GR_FOUND_LANES)
                put_lanes(&s);
            else if (again)
                count_again(area, s.known);
            else if (f.kind == GR_FOUND_WRITES)
                rc = find_pairs(&s, f.offset, NULL, &placed);
            else if (put_last(&s))
                placed = true;
            else
                rc = find_reads(&s, &placed);
            s.known->placed |= placed;
            gr_vec_free(&nowhere.races);
            found->placed += placed;
            found->unplaced += !placed;
        }
    gr_vec_free(&s.pairs);
    return rc;
}
