// SPDX-License-Identifier: Apache-2.0
#include "engines/privatizer/races.h"

#include <string.h>

// The classes of exact: the same races.
enum {
#define CLASS(id, number, text, meaning) CLASS_##id = number,
#include "engines/exact/classes.def"
#undef CLASS
};

static void put_side(GrPrivateSide *to, const GrPrivSeen *s) {
    *to = (GrPrivateSide){.site = s->site, .store = s->store, .size = s->size};
    for (unsigned k = 0; k < 3; k++) {
        to->thread[k] = s->thread[k];
        to->block[k] = s->block[k];
    }
}

// The same pair of instructions is one race.
static void put(GrPrivateArea *area, const GrPrivateRace *race, unsigned *races) {
    for (unsigned k = 0; k < GR_PRIVATE_RACES; k++) {
        GrPrivateRace *r = &area->race[k];
        if (!r->state) {
            *r = *race;
            __atomic_store_n(&r->state, 1, __ATOMIC_RELEASE);
            ++*races;
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
                     const GrPrivSeen *other, GrPrivateArea *area, unsigned *races) {
    GrPrivateRace r = {.class = !one->store || !other->store ? CLASS_READ_WRITE
                                : f->kind == GR_FOUND_SAME   ? CLASS_SAME_VALUE
                                                             : CLASS_WRITE_WRITE,
                       .level = between(p, one, other),
                       .shared = offset < p->layout->shared_bytes,
                       .launch = p->launch->number,
                       .count = 1,
                       .address = gr_layout_address(p->layout, offset),
                       .bytes = f->bytes,
                       .copies = f->copies,
                       .region = f->region};
    put_side(&r.side[0], one);
    put_side(&r.side[1], other);
    put(area, &r, races);
}

// Which accesses to that byte come from two copies, one of them a store: `reader`, NULL: any two stores.
static CUresult find_writers(Passes *p, const PassPlan *plan, uint64_t round, const GrPrivFound *f,
                             uint64_t offset, const GrPrivSeen *reader, GrPrivateArea *area, unsigned *races,
                             bool *placed) {
    GrPrivAsk ask = {.kind = GR_ASK_WHO, .block = f->block, .sequence = f->sequence, .offset = offset};
    static _Thread_local GrPrivLog log;
    CUresult rc = gr_passes_run(p, plan, round, &ask, &log);
    for (unsigned i = 0; i < GR_MOST_SEEN && rc == CUDA_SUCCESS; i++) {
        const GrPrivSeen *one = &log.seen[i];
        if (one->state != 2 || !one->store)
            continue;
        if (reader && one->copy != reader->copy) {
            put_pair(p, f, offset, reader, one, area, races);
            *placed = true;
        }
        for (unsigned j = i + 1; j < GR_MOST_SEEN && !reader; j++)
            if (log.seen[j].state == 2 && log.seen[j].store && log.seen[j].copy != one->copy) {
                put_pair(p, f, offset, one, &log.seen[j], area, races);
                *placed = true;
            }
    }
    return rc;
}

// What is known at once: two lanes of one store.
static void put_lanes(const Passes *p, const GrPrivFound *f, GrPrivateArea *area, unsigned *races) {
    GrPrivSeen side[2] = {{0}};
    const uint32_t *grid = p->launch->grid, *block = p->launch->block;
    for (unsigned k = 0; k < 2; k++)
        side[k] =
            (GrPrivSeen){.site = f->region,
                         .store = 1,
                         .size = f->size,
                         .thread = {f->copy[k] % block[0], f->copy[k] / block[0] % block[1],
                                    f->copy[k] / block[0] / block[1]},
                         .block = {(uint32_t)(f->block % grid[0]), (uint32_t)(f->block / grid[0] % grid[1]),
                                   (uint32_t)(f->block / grid[0] / grid[1])}};
    put_pair(p, f, f->offset, &side[0], &side[1], area, races);
}

// The same instruction as one before.
static bool is_again(const GrPrivLog *log, unsigned k) {
    for (unsigned i = 0; i < k; i++)
        if (log->seen[i].state == 2 && log->seen[i].site == log->seen[k].site)
            return true;
    return false;
}

static CUresult find_reads(Passes *p, const PassPlan *plan, uint64_t round, const GrPrivFound *f,
                           GrPrivateArea *area, unsigned *races, bool *placed) {
    GrPrivAsk ask = {.kind = GR_ASK_READS, .block = f->block, .sequence = f->sequence, .copy = f->copy[0]};
    GrPrivLog log;
    CUresult rc = gr_passes_run(p, plan, round, &ask, &log);
    for (unsigned i = 0; i < GR_MOST_SEEN && rc == CUDA_SUCCESS; i++)
        if (log.seen[i].state == 2 && !is_again(&log, i))
            rc = find_writers(p, plan, round, f, log.seen[i].offset, &log.seen[i], area, races, placed);
    return rc;
}

// Warps that find the same at once may each write it.
static bool is_told(const GrPrivLog *log, unsigned k) {
    for (unsigned i = 0; i < k; i++)
        if (log->found[i].state == 2 && log->found[i].kind == log->found[k].kind &&
            log->found[i].region == log->found[k].region)
            return true;
    return false;
}

CUresult gr_races_find(Passes *p, const PassPlan *plan, uint64_t round, const GrPrivLog *log,
                       GrPrivateArea *area, unsigned *unplaced, unsigned *races) {
    CUresult rc = CUDA_SUCCESS;
    for (unsigned k = 0; k < GR_MOST_FOUND && rc == CUDA_SUCCESS; k++) {
        const GrPrivFound *f = &log->found[k];
        bool placed = false;
        if (f->state != 2 || is_told(log, k))
            continue;
        if (f->kind == GR_FOUND_LANES) {
            put_lanes(p, f, area, races);
            placed = true;
        } else if (f->kind != GR_FOUND_READ)
            rc = find_writers(p, plan, round, f, f->offset, NULL, area, races, &placed);
        else
            rc = find_reads(p, plan, round, f, area, races, &placed);
        *unplaced += !placed;
    }
    return rc;
}
