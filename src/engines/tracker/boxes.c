// SPDX-License-Identifier: Apache-2.0
#include "engines/tracker/boxes.h"

#include "engines/tracker/device/word.h"

#include <string.h>

typedef void *View(unsigned long long at, size_t size);

uint64_t gr_box_end(const GrBox *b) {
    return b->at + (b->depth - 1) * (b->depth > 1 ? b->slice : 0) +
           (b->height - 1) * (b->height > 1 ? b->pitch : 0) + b->width;
}

// A box on its way through the metadata.
typedef struct Walk {
    View *view;
    GrLaunches *all;
    uint64_t dir, newest; // dir: of one context
    const GrCopyState *copy;
    bool (*before)(void *user, const GrLaunchState *l);
    void *user;
    // The launch that was asked about last.
    uint64_t asked;
    GrLaunchState *unordered; // NULL: it comes before
} Walk;

// The cells of the 64 KiB around the address; NULL: there are none.
static uint8_t *cells_at(const Walk *w, uint64_t at) {
    uint64_t top = at >> GR_DIR_SHIFT,
             *dir = top < GR_DIR_COUNT ? w->view(w->dir + top * sizeof(uint64_t), sizeof(uint64_t)) : NULL;
    uint64_t *part =
        dir && *dir
            ? w->view(*dir + (at >> GR_PART_SHIFT & (GR_PART_COUNT - 1)) * sizeof(uint64_t), sizeof(uint64_t))
            : NULL;
    return part && *part ? w->view(*part, ((size_t)1 << GR_PART_SHIFT) / 4 / GR_GROUP * sizeof(GrCell))
                         : NULL;
}

// Calls `f` for the cells of the box, each with the bytes of its four that are in it.
static void each_cell(Walk *w, void (*f)(Walk *w, GrCell *c, uint64_t at, uint32_t bytes)) {
    const GrCopyState *c = w->copy;
    for (uint64_t row = 0; row < c->height * c->depth; row++) {
        uint64_t at = c->at + row / c->height * c->slice + row % c->height * c->pitch, end = at + c->width;
        while (at < end) {
            uint64_t next = ((at >> GR_PART_SHIFT) + 1) << GR_PART_SHIFT;
            uint8_t *cells = cells_at(w, at);
            for (next = next < end ? next : end; cells && at < next; at = (at | 3) + 1) {
                uint32_t from = (uint32_t)at & 3,
                         to = end - (at & ~UINT64_C(3)) < 4 ? (uint32_t)(end & 3) : 4;
                uint64_t cell = gr_group_offset((at & ((1u << GR_PART_SHIFT) - 1)) >> 2, sizeof(GrCell));
                f(w, (GrCell *)(cells + cell), at & ~UINT64_C(3), (15u >> (4 - to)) & (15u << from));
            }
            at = next;
        }
    }
}

// ---- Races ---------------------------------------------------------------------------------------------------------

// The place of the pair, or a new one (gr_put_pair of device/state.h). NULL: there is no room.
static GrPair *pair_of(GrPair *pairs, uint32_t n, uint64_t key, bool *fresh) {
    uint32_t at = (uint32_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 40);
    for (uint32_t k = 0; k < GR_PAIR_TRIES; k++) {
        GrPair *p = &pairs[(at + k) & (n - 1)];
        uint64_t there = 0;
        *fresh = __atomic_compare_exchange_n(&p->key, &there, key, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
        if (*fresh || there == key)
            return p;
    }
    return NULL;
}

static void put_pair(const Walk *w, const GrLaunchState *l, const GrEntry *e, uint64_t at, uint32_t both) {
    uint32_t class = w->copy->what >> GR_WHAT_BY == GR_BY_FREE     ? CLASS_FREED
                     : w->copy->what >> GR_WHAT_BY == GR_BY_ALLOC  ? CLASS_ALLOCATED
                     : e->writes && w->copy->what & GR_WHAT_WRITES ? CLASS_WRITE_WRITE
                                                                   : CLASS_READ_WRITE;
    GrTrackedHeader *head = w->view(l->area, sizeof *head + l->pairs * sizeof(GrPair));
    bool fresh;
    if (!head)
        return;
    uint64_t key = (uint64_t) class << 56 | (uint64_t)e->site << 28 | w->copy->what >> GR_WHAT_BY << 24;
    GrPair *p = e->site ? pair_of((GrPair *)(head + 1), l->pairs, key, &fresh) : NULL;
    if (!p) {
        __atomic_fetch_add(&head->dropped, 1, __ATOMIC_RELAXED);
        return;
    }
    __atomic_fetch_add(&p->count, 1, __ATOMIC_RELAXED);
    if (!fresh)
        return;
    p->class = class;
    p->address = at + (uint32_t)__builtin_ctz(both);
    p->bytes = (uint32_t)__builtin_popcount(both);
    p->side[0] = (GrTrackedSide){.launch = l->number,
                                 .site = e->site,
                                 .what = (e->writes ? GR_WHAT_WRITES : 0) | e->strength << GR_WHAT_STRENGTH,
                                 .thread = {e->tid % l->block[0], e->tid / l->block[0] % l->block[1],
                                            e->tid / l->block[0] / l->block[1]},
                                 .block = {e->block % l->grid[0], e->block / l->grid[0] % l->grid[1],
                                           e->block / l->grid[0] / l->grid[1]},
                                 .warp = e->tid / 32};
    p->side[1] = (GrTrackedSide){.site = w->copy->call, .what = w->copy->what};
    __atomic_store_n(&p->state, GR_PAIR_READY, __ATOMIC_RELEASE);
}

// The launch of that number, if it is unordered with the box. NULL: it comes before, or that is not known.
static GrLaunchState *unordered(Walk *w, uint64_t number) {
    if (number == w->asked)
        return w->unordered;
    GrLaunchState *l = &w->all->of[number % GR_LAUNCHES];
    bool known = number > w->all->settled && l->number == number && l->module;
    w->asked = number;
    // After a release since the launch began the host may have seen the access, or another launch that comes before.
    w->unordered = known && !w->before(w->user, l) && w->copy->begun <= l->begun ? l : NULL;
    return w->unordered;
}

static void look(Walk *w, GrCell *c, uint64_t at, uint32_t bytes) {
    for (unsigned k = 0; k < 2; k++) {
        uint64_t word = __atomic_load_n(&c->word[k].is, __ATOMIC_RELAXED);
        uint32_t both = gr_word_bytes(word) & bytes;
        GrEntry e;
        if (!both || !(word & GR_WORD_WRITES || w->copy->what & GR_WHAT_WRITES) || word & GR_WORD_SEEN ||
            gr_word_strength(word) == GR_PENDING ||
            !gr_word_read(word, __atomic_load_n(&c->more[k].is, __ATOMIC_RELAXED), &e))
            continue;
        const unsigned more = 32 - GR_WORD_LAUNCH_BITS;
        int32_t behind = (int32_t)((e.launch - (uint32_t)w->newest) << more) >> more;
        const GrLaunchState *l = unordered(w, w->newest + (uint64_t)(int64_t)behind);
        if (l)
            put_pair(w, l, &e, at, both);
    }
}

static void clear(Walk *w, GrCell *c, uint64_t at, uint32_t bytes) {
    (void)w, (void)at, (void)bytes;
    for (unsigned k = 0; k < sizeof c->word / sizeof *c->word; k++)
        c->word[k].is = c->more[k].is = 0;
}

static View *view_of(GrSession *s) { return (View *)s->symbol(s, "gr_cpu_device_view"); }

void gr_boxes_look(GrSession *s, GrLaunches *all, uint64_t newest, const GrCopyState *c,
                   bool (*before)(void *user, const GrLaunchState *l), void *user) {
    Walk w = {.view = view_of(s), .all = all, .newest = newest, .copy = c, .before = before, .user = user};
    for (unsigned k = 0; k < all->contexts && w.view; k++) {
        w.dir = all->dir[k];
        each_cell(&w, look);
    }
}

void gr_boxes_clear(GrSession *s, GrLaunches *all, const GrCopyState *c) {
    Walk w = {.view = view_of(s), .copy = c};
    for (unsigned k = 0; k < all->contexts && w.view; k++) {
        w.dir = all->dir[k];
        each_cell(&w, clear);
    }
}
