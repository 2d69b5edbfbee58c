// SPDX-License-Identifier: Apache-2.0
#include "engines/privatizer/races.h"

#include <string.h>

// The classes of exact: the same races.
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

// Of two units, at least one a store, and not both strong.
static bool races(const GrPrivSeen *one, const GrPrivSeen *other) {
    return one->copy != other->copy && (is_store(one) || is_store(other)) &&
           !(one->what & other->what & GR_AT_STRONG);
}

static bool is_same_value(const GrPrivSeen *one, const GrPrivSeen *other) {
    return !((one->what | other->what) & GR_AT_ATOMIC) && one->offset == other->offset &&
           one->what == other->what && one->value == other->value;
}

// The same pair of instructions is one race.
static void put(GrPrivateArea *area, const GrPrivateRace *race, unsigned *n) {
    for (unsigned k = 0; k < GR_PRIVATE_RACES; k++) {
        GrPrivateRace *r = &area->race[k];
        if (!r->state) {
            *r = *race;
            __atomic_store_n(&r->state, 1, __ATOMIC_RELEASE);
            ++*n;
            return;
        }
        bool same = r->side[0].site == race->side[0].site && r->side[1].site == race->side[1].site,
             other = r->side[0].site == race->side[1].site && r->side[1].site == race->side[0].site;
        if (r->class == race->class && r->level == race->level && (same || other)) {
            r->count++;
            r->bytes += race->bytes;
            r->copies |= race->copies;
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

static void put_pair(const Passes *p, const GrPrivFound *f, uint64_t offset, const GrPrivSeen *one,
                     const GrPrivSeen *other, GrPrivateArea *area, unsigned *n) {
    bool writes = is_store(one) && is_store(other), same = writes && is_same_value(one, other);
    if ((same && !p->same_value) || p->left_out[one->site] || p->left_out[other->site])
        return;
    const GrPrivSeen *first = is_store(one) && !writes ? other : one, *second = first == one ? other : one;
    GrPrivateRace r = {.class = same     ? CLASS_SAME_VALUE
                                : writes ? CLASS_WRITE_WRITE
                                         : CLASS_READ_WRITE,
                       .level = between(p, one, other),
                       .shared = offset < p->layout->shared_bytes,
                       .launch = p->launch->number,
                       .count = 1,
                       .address = gr_layout_address(p->layout, offset),
                       .bytes = f->bytes,
                       .copies = f->copies,
                       .region = f->region};
    put_side(&r.side[0], first);
    put_side(&r.side[1], second);
    put(area, &r, n);
}

// Which accesses of those that were seen race with each other; and with `reader`, which accessed the byte in pass 2. NULL: none.
static bool put_pairs(const Passes *p, const GrPrivFound *f, uint64_t offset, const GrPrivSeen *reader,
                      const GrPrivLog *log, GrPrivateArea *area, unsigned *n) {
    bool placed = false;
    for (unsigned i = 0; i < GR_MOST_SEEN; i++) {
        const GrPrivSeen *one = &log->seen[i];
        if (one->state != 2 || one->what & GR_AT_MAYBE)
            continue;
        if (reader && races(one, reader)) {
            put_pair(p, f, offset, reader, one, area, n);
            placed = true;
        }
        for (unsigned j = i + 1; j < GR_MOST_SEEN; j++) {
            const GrPrivSeen *other = &log->seen[j];
            if (other->state != 2 || other->what & GR_AT_MAYBE || !races(one, other))
                continue;
            put_pair(p, f, offset, one, other, area, n);
            placed = true;
        }
    }
    return placed;
}

// Where this run found it. A run in which atomic operations came in another order may find it elsewhere. NULL: nowhere.
static const GrPrivFound *found_again(const GrPrivLog *log, const GrPrivFound *f) {
    for (unsigned k = 0; k < GR_MOST_FOUND; k++) {
        const GrPrivFound *again = &log->found[k];
        if (again->state == 2 && again->kind == f->kind && again->region == f->region &&
            again->part == f->part)
            return again;
    }
    return NULL;
}

// Runs the round again, and asks which units access that byte in pass 1 of the region.
static CUresult find_pairs(Passes *p, const PassPlan *plan, const GrPrivFound *f, uint64_t offset,
                           const GrPrivSeen *reader, GrPrivateArea *area, unsigned *n, bool *placed) {
    enum { TRIES = 4 };
    GrPrivAsk ask = {.kind = GR_ASK_WHO, .block = f->block, .sequence = f->sequence, .offset = offset};
    CUresult rc = CUDA_SUCCESS;
    bool done = false;
    for (unsigned k = 0; k < TRIES && rc == CUDA_SUCCESS && !done; k++) {
        GrPrivLog log;
        const GrPrivFound *again;
        rc = gr_passes_run(p, plan, f->round, 1, &ask, &log);
        done = rc == CUDA_SUCCESS && put_pairs(p, f, ask.offset, reader, &log, area, n);
        *placed |= done;
        again = reader ? NULL : found_again(&log, f); // a reader is one of that byte
        if (!again || again->offset == ask.offset)    // another run would tell nothing else
            break;
        ask.block = again->block;
        ask.sequence = again->sequence;
        ask.offset = again->offset;
    }
    return rc;
}

// What is known at once: two lanes of one store.
static void put_lanes(const Passes *p, const GrPrivFound *f, GrPrivateArea *area, unsigned *n) {
    GrPrivSeen side[2] = {{0}};
    const uint32_t *grid = p->launch->grid, *block = p->launch->block;
    for (unsigned k = 0; k < 2; k++)
        side[k] =
            (GrPrivSeen){.site = f->region,
                         .what = GR_AT_STORE | f->size << GR_AT_SIZE,
                         .value = f->same ? 0 : k,
                         .thread = {f->copy[k] % block[0], f->copy[k] / block[0] % block[1],
                                    f->copy[k] / block[0] / block[1]},
                         .block = {(uint32_t)(f->block % grid[0]), (uint32_t)(f->block / grid[0] % grid[1]),
                                   (uint32_t)(f->block / grid[0] / grid[1])}};
    put_pair(p, f, f->offset, &side[0], &side[1], area, n);
}

// The same instruction as one before.
static bool is_again(const GrPrivLog *log, unsigned k) {
    for (unsigned i = 0; i < k; i++)
        if (log->seen[i].state == 2 && log->seen[i].site == log->seen[k].site)
            return true;
    return false;
}

// Loads of what others had changed, by units of these copies: those whose value is used, if there are such.
static CUresult find_reads_of(Passes *p, const PassPlan *plan, const GrPrivFound *f, uint64_t copies,
                              GrPrivateArea *area, unsigned *n, bool *placed) {
    GrPrivAsk ask = {.kind = GR_ASK_READS, .block = f->block, .sequence = f->sequence, .copies = copies};
    GrPrivLog log;
    CUresult rc = gr_passes_run(p, plan, f->round, 1, &ask, &log);
    for (uint32_t maybe = 0; maybe <= GR_AT_MAYBE && !*placed; maybe += GR_AT_MAYBE)
        for (unsigned i = 0; i < GR_MOST_SEEN && rc == CUDA_SUCCESS; i++) {
            const GrPrivSeen *s = &log.seen[i];
            if (s->state == 2 && (s->what & GR_AT_MAYBE) == maybe && !is_again(&log, i))
                rc = find_pairs(p, plan, f, s->offset, s, area, n, placed);
        }
    return rc;
}

static CUresult find_reads(Passes *p, const PassPlan *plan, const GrPrivFound *f, GrPrivateArea *area,
                           unsigned *n, bool *placed) {
    CUresult rc = find_reads_of(p, plan, f, f->copies, area, n, placed);
    // What it stored may have been what was there before: then others that stored there are seen like this.
    if (rc == CUDA_SUCCESS && !*placed && f->bytes)
        rc = find_pairs(p, plan, f, f->offset, NULL, area, n, placed);
    // A shuffle may have brought the value from another unit, which read it.
    if (rc == CUDA_SUCCESS && !*placed)
        rc = find_reads_of(p, plan, f, ~UINT64_C(0), area, n, placed);
    return rc;
}

// Warps that find the same at once may each write it.
static bool is_told(const GrPrivLog *log, unsigned k) {
    for (unsigned i = 0; i < k; i++)
        if (log->found[i].state == 2 && log->found[i].kind == log->found[k].kind &&
            log->found[i].region == log->found[k].region && log->found[i].round == log->found[k].round &&
            log->found[i].part == log->found[k].part)
            return true;
    return false;
}

CUresult gr_races_find(Passes *p, const PassPlan *plan, const GrPrivLog *log, GrPrivateArea *area,
                       RacesFound *found) {
    CUresult rc = CUDA_SUCCESS;
    for (unsigned k = 0; k < GR_MOST_FOUND && rc == CUDA_SUCCESS; k++) {
        const GrPrivFound *f = &log->found[k];
        bool placed = f->kind == GR_FOUND_LANES;
        if (f->state != 2 || is_told(log, k))
            continue;
        if (f->kind == GR_FOUND_LANES)
            put_lanes(p, f, area, &found->races);
        else if (f->kind == GR_FOUND_WRITES)
            rc = find_pairs(p, plan, f, f->offset, NULL, area, &found->races, &placed);
        else
            rc = find_reads(p, plan, f, area, &found->races, &placed);
        found->placed += placed;
        found->unplaced += !placed;
    }
    return rc;
}
