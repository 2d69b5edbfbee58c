// SPDX-License-Identifier: Apache-2.0
#include "engines/privatizer/races.h"

// The classes of exact: the same races.
enum {
#define CLASS(id, number, text, meaning) CLASS_##id = number,
#include "engines/exact/classes.def"
#undef CLASS
};

enum { MOST_READS = 8 }; // loads of one region for which a writer is looked for

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
        if (r->class == race->class && r->blocks == race->blocks && (same || other)) {
            r->count++;
            r->bytes += race->bytes;
            r->copies |= race->copies;
            return;
        }
    }
    area->dropped++;
}

static void put_pair(const Passes *p, uint32_t mode, const GrPrivFound *f, uint64_t offset, const GrPrivSeen *one,
                     const GrPrivSeen *other, GrPrivateArea *area, unsigned *races) {
    GrPrivateRace r = {.class = one->store && other->store ? CLASS_WRITE_WRITE : CLASS_READ_WRITE,
                       .blocks = mode == GR_OF_BLOCKS,
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
static CUresult find_writers(Passes *p, uint32_t mode, uint64_t round, const GrPrivFound *f, uint64_t offset,
                             const GrPrivSeen *reader, GrPrivateArea *area, unsigned *races, bool *placed) {
    GrPrivAsk ask = {.kind = GR_ASK_WHO, .block = f->block, .sequence = f->sequence, .offset = offset};
    static _Thread_local GrPrivLog log;
    CUresult rc = gr_passes_run(p, mode, &ask, &round, &log);
    for (unsigned i = 0; i < GR_MOST_SEEN && rc == CUDA_SUCCESS; i++) {
        const GrPrivSeen *one = &log.seen[i];
        if (one->state != 2 || !one->store)
            continue;
        if (reader && one->copy != reader->copy) {
            put_pair(p, mode, f, offset, reader, one, area, races);
            *placed = true;
        }
        for (unsigned j = i + 1; j < GR_MOST_SEEN && !reader; j++)
            if (log.seen[j].state == 2 && log.seen[j].store && log.seen[j].copy != one->copy) {
                put_pair(p, mode, f, offset, one, &log.seen[j], area, races);
                *placed = true;
            }
    }
    return rc;
}

static CUresult find_reads(Passes *p, uint32_t mode, uint64_t round, const GrPrivFound *f, GrPrivateArea *area,
                           unsigned *races, bool *placed) {
    GrPrivAsk ask = {.kind = GR_ASK_READS, .block = f->block, .sequence = f->sequence, .copy = f->copy[0]};
    GrPrivLog log;
    CUresult rc = gr_passes_run(p, mode, &ask, &round, &log);
    for (unsigned i = 0; i < MOST_READS && rc == CUDA_SUCCESS; i++)
        if (log.seen[i].state == 2)
            rc = find_writers(p, mode, round, f, log.seen[i].offset, &log.seen[i], area, races, placed);
    return rc;
}

CUresult gr_races_find(Passes *p, uint32_t mode, uint64_t round, const GrPrivLog *log, GrPrivateArea *area,
                       unsigned *unplaced, unsigned *races) {
    CUresult rc = CUDA_SUCCESS;
    for (unsigned k = 0; k < GR_MOST_FOUND && rc == CUDA_SUCCESS; k++) {
        const GrPrivFound *f = &log->found[k];
        bool placed = false;
        if (f->state != 2)
            continue;
        if (f->kind == GR_FOUND_WRITES)
            rc = find_writers(p, mode, round, f, f->offset, NULL, area, races, &placed);
        else
            rc = find_reads(p, mode, round, f, area, races, &placed);
        *unplaced += !placed;
    }
    return rc;
}
