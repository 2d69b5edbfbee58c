// SPDX-License-Identifier: Apache-2.0
// merge — the two steps of the LDetector paper's figure 3 on the lines of a slot: behind pass 1 what each copy changed goes into the union, and each
// copy becomes the union without its own changes; behind pass 2 each copy has to be the union.
//
// Data-parallel as the paper's section 4.3: a warp takes lines, its lanes take neighbouring words, and only the word's lane looks at it, in all
// copies. So nothing is atomic but the report. Comparing, union and the new private copies are one step.
#ifndef GR_PRIVATIZER_MERGE_H
#define GR_PRIVATIZER_MERGE_H

#include "device_api/device.h"
#include "engines/privatizer/device/control.h"

typedef struct Slot {
    uint64_t base, united, privates, stride, span, lines, n_lines, log, changed;
    uint32_t n;
    uint32_t region;
    uint64_t block, sequence;
    int commits, once;
} Slot;

// The threads that do it.
typedef struct Team {
    uint32_t thread, threads;
} Team;

GR_INLINE uint32_t word_at(uint64_t at) { return *(volatile GR_GLOBAL uint32_t *)at; }
GR_INLINE void put_word(uint64_t at, uint32_t v) { *(volatile GR_GLOBAL uint32_t *)at = v; }
GR_INLINE uint8_t byte_at(uint64_t at) { return *(volatile GR_GLOBAL uint8_t *)at; }
GR_INLINE void put_byte(uint64_t at, uint8_t v) { *(volatile GR_GLOBAL uint8_t *)at = v; }
GR_INLINE uint64_t copy_of(const Slot *s, uint32_t k) { return s->privates + k * s->stride; }
GR_INLINE uint64_t touched_at(const Slot *s, uint64_t copy, uint64_t at) { return copy + s->span + at / 4; }

// Of the union `touched` says which copy changed the word: its number and one; OWNER_MANY: several, or one with too high a number. OWNER_UPDATED: atomic operations
// updated it. 0: none.
enum { OWNER_UPDATED = 254, OWNER_MANY = 255 };
GR_INLINE uint8_t owner_of(uint32_t copy) {
    return (uint8_t)(copy + 1 < OWNER_UPDATED ? copy + 1 : OWNER_MANY);
}

// 0xff in each byte that is not 0.
GR_INLINE uint32_t bytes_of(uint32_t v) {
    v |= v >> 4 & 0x0f0f0f0f;
    v |= v >> 2 & 0x03030303;
    v |= v >> 1 & 0x01010101;
    return (v & 0x01010101) * 0xff;
}

static GR_NOINLINE void gr_priv_found(uint64_t to, const GrPrivFound *what) {
    GR_GLOBAL GrPrivLog *log = (GR_GLOBAL GrPrivLog *)to;
    GR_ROLLED for (uint32_t k = 0; k < GR_MOST_FOUND; k++) {
        GR_GLOBAL GrPrivFound *f = &log->found[(what->region * 7 + what->kind + k) % GR_MOST_FOUND];
        uint32_t state = gr_compare_swap(&f->state, 0, 1);
        if (state == 0) {
            f->kind = what->kind;
            f->region = what->region;
            f->copy[0] = what->copy[0];
            f->copy[1] = what->copy[1];
            f->size = what->size;
            f->same = what->same;
            f->offset = what->offset;
            f->block = what->block;
            f->sequence = what->sequence;
            gr_store32(&f->state, 2);
        }
        // One that is being written may become the same: then there are two for one region, and the host has both.
        if (state == 0 || (gr_load32(&f->state) == 2 && f->kind == what->kind && f->region == what->region)) {
            gr_count(&f->bytes, what->bytes);
            __asm__ volatile("red.relaxed.sys.global.or.b64 [%0], %1;" ::"l"(&f->copies), "l"(what->copies));
            return;
        }
    }
    gr_add32(&log->dropped, 1);
}

static GR_NOINLINE void gr_priv_report(const Slot *s, uint32_t kind, uint32_t one, uint32_t other,
                                       uint64_t at, uint32_t bytes) {
    gr_priv_found(s->log, &(GrPrivFound){.kind = kind,
                                         .region = s->region,
                                         .copy = {one, other},
                                         .offset = at,
                                         .block = s->block,
                                         .sequence = s->sequence,
                                         .bytes = (uint64_t)__builtin_popcount(bytes) / 8,
                                         .copies = (uint64_t)1 << one % 64 | (uint64_t)1 << other % 64});
}

// One word behind pass 1. Gives whether two copies changed the same byte, or one stored to a word that another one updated.
GR_INLINE int merge_word(const Slot *s, uint64_t at) {
    uint32_t was = word_at(s->base + at), all = was, changed = 0, twice = 0, owner = 0;
    uint32_t updaters = 0, updated = 0, stores = 0, stored = 0,
             last = 0; // how many copies, and the last of them
    uint64_t updater[2] = {0, 0};
    GR_ROLLED for (uint32_t k = 0; k < s->n; k++) {
        uint64_t copy = copy_of(s, k);
        uint32_t now = word_at(copy + at), own = bytes_of(now ^ was),
                 touched = byte_at(touched_at(s, copy, at));
        int updates = touched & GR_UPDATED, plain = touched & GR_STORED || (own && !updates);
        if (updates)
            owner = OWNER_UPDATED;
        else if (own && owner != OWNER_UPDATED)
            owner = owner ? OWNER_MANY : owner_of(k);
        if ((updates && stores) || (plain && updaters)) {
            gr_priv_report(s, GR_FOUND_WRITES, k, stores ? stored : updated, at, 0xff);
            twice = 1;
        }
        if (plain) {
            stores++;
            stored = k;
        }
        if (updates) {
            updater[updaters > 0] = copy;
            updaters++;
            updated = k;
            continue;
        }
        if (own & changed)
            gr_priv_report(s, GR_FOUND_WRITES, k, last, at, own & changed);
        twice |= own & changed;
        all = (all & ~own) | (now & own);
        changed |= own;
        last = own ? k : last;
    }
    if (updaters)
        all = word_at(updater[0] + at);
    put_word(s->united + at, all);
    put_byte(touched_at(s, s->united, at), (uint8_t)owner);
    if (all == was && !updaters)
        return twice != 0;
    GR_ROLLED for (uint32_t k = 0; k < s->n; k++) {
        uint64_t copy = copy_of(s, k);
        uint32_t now = word_at(copy + at), own = bytes_of(now ^ was);
        // Of an update another one is what this copy finds: one of the orders in which they may come.
        if (updaters)
            put_word(copy + at, copy != updater[0] ? all : updaters > 1 ? word_at(updater[1] + at) : was);
        else
            put_word(copy + at, (all & ~own) | (was & own));
    }
    return twice != 0;
}

// One word behind pass 2. `united`: it was merged; else nobody wrote it in pass 1. `told`: two copies wrote in its line, which was reported.
GR_INLINE void check_word(const Slot *s, uint64_t at, int united, int told) {
    uint32_t all = word_at((united ? s->united : s->base) + at), updaters = 0;
    uint64_t updater = 0;
    GR_ROLLED for (uint32_t k = 0; k < s->n; k++) {
        uint64_t touched = touched_at(s, copy_of(s, k), at);
        int updates = byte_at(touched) & GR_UPDATED;
        updaters += updates != 0;
        updater = updates ? copy_of(s, k) : updater;
        put_byte(touched, 0);
    }
    if (updaters) // one has stored besides, maybe; of several the base has all updates by now
        all = word_at((updaters == 1 ? updater : s->base) + at);
    GR_ROLLED for (uint32_t k = 0; k < s->n && !updaters && !told; k++) {
        uint32_t now = word_at(copy_of(s, k) + at);
        if (now != all)
            gr_priv_report(s, GR_FOUND_READ, k, k, at, bytes_of(now ^ all));
    }
    if (!s->commits)
        all = word_at(s->base + at);
    else if (united || updaters)
        put_word(s->base + at, all);
    GR_ROLLED for (uint32_t k = 0; k < s->n; k++) put_word(copy_of(s, k) + at, all);
}

// One word where a region ends that runs once: what the units wrote, in their order, becomes the base.
GR_INLINE void merge_once(const Slot *s, uint64_t at) {
    uint32_t was = word_at(s->base + at), all = was, updaters = 0, updated = 0;
    GR_ROLLED for (uint32_t k = 0; k < s->n; k++) {
        uint64_t copy = copy_of(s, k), touched = touched_at(s, copy, at);
        uint32_t now = word_at(copy + at), own = bytes_of(now ^ was);
        if (byte_at(touched) & GR_UPDATED) {
            updaters++;
            updated = now;
        } else {
            all = (all & ~own) | (now & own);
        }
        put_byte(touched, 0);
    }
    if (updaters) {
        all = updaters == 1 ? updated : was;
        put_byte(touched_at(s, s->base, at), GR_UPDATED);
    }
    put_word(s->base + at, all);
    GR_ROLLED for (uint32_t k = 0; k < s->n; k++) put_word(copy_of(s, k) + at, all);
}

enum { LINE_LISTED = 1, LINE_MERGED = 2, LINE_TOLD = 4 };

GR_INLINE uint64_t flag_at(uint64_t lines, uint64_t line) { return lines + sizeof(GrPrivLines) + 4 * line; }

GR_INLINE void one_line(const Slot *s, uint64_t line, uint32_t lane, uint32_t lanes, int merges) {
    uint64_t flag = flag_at(s->lines, line);
    uint32_t was = word_at(flag);
    int twice = 0;
    GR_ROLLED for (uint32_t k = lane; k < GR_LINE / 4; k += lanes) {
        uint64_t at = line * GR_LINE + k * 4;
        if (s->once)
            merge_once(s, at);
        else if (merges)
            twice |= merge_word(s, at);
        else
            check_word(s, at, was & LINE_MERGED, was & LINE_TOLD);
    }
    uint32_t members = lanes == 32 ? ~0u : (1u << lanes) - 1;
    int told = !gr_all(members, !twice);
    if (lane)
        return;
    put_word(flag, merges && !s->once ? LINE_LISTED | LINE_MERGED | (told ? LINE_TOLD : 0) : 0);
    if (s->once)
        put_byte(s->changed + line, 1);
}

// All lines that were written in the region. The last step of a region makes the other list ready.
static GR_NOINLINE void gr_priv_all_lines(const Slot *s, const Team *t, int merges) {
    uint32_t lane = t->thread % 32, warp = t->thread / 32, warps = (t->threads + 31) / 32,
             list = s->sequence & 1;
    uint32_t lanes = t->threads - warp * 32 < 32 ? t->threads - warp * 32 : 32;
    uint64_t lines = s->lines + sizeof(GrPrivLines) + 4 * s->n_lines * (1 + list);
    GR_GLOBAL volatile GrPrivLines *of = (GR_GLOBAL volatile GrPrivLines *)s->lines;
    uint32_t n = of->count[list];
    GR_ROLLED for (uint32_t k = warp; k < n; k += warps)
        one_line(s, word_at(lines + 4 * (uint64_t)k), lane, lanes, merges);
    if (t->thread == 0 && (s->once || !merges)) {
        of->count[1 - list] = 0;
        of->now = 1 - list;
    }
}

#endif
