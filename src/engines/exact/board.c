// SPDX-License-Identifier: Apache-2.0
// board — see board.h.
#include "engines/exact/board.h"

#include <stdlib.h>
#include <string.h>

// NO_LANE: of no entry.
enum { MAX_SIZE = 16, SEVERAL_LANES = LANES, NO_LANE = (1 << BOARD_LANE_BITS) - 1 };

static const uint32_t WARP_END = UINT32_C(1) << BOARD_WARP_SHIFT, EPOCH_MASK = (uint32_t)(BOARD_EPOCHS - 1)
                                                                               << BOARD_LANE_BITS;

void gr_board_free(Board *b) {
    for (unsigned k = 0; k < 3; k++)
        free(b->by[k]);
    *b = (Board){.n = 0};
}

bool gr_board_begin(Board *b, uint32_t bytes, unsigned grain, uint32_t epoch) {
    if (b->bytes != bytes || b->grain != grain)
        gr_board_free(b);
    b->bytes = bytes;
    b->grain = grain;
    b->n = (bytes >> grain) + 1;
    b->epoch = epoch;
    b->atoms = false;
    if (++b->generation >= BOARD_GENERATIONS) {
        for (unsigned k = 0; k < 3; k++)
            if (b->by[k])
                memset(b->by[k], 0, b->n * sizeof *b->by[k]);
        b->generation = 1;
    }
    for (unsigned k = BOARD_READ; k <= BOARD_WRITE; k++)
        if (!b->by[k] && !(b->by[k] = calloc(b->n, sizeof *b->by[k])))
            return false;
    return true;
}

// ---- One entry -----------------------------------------------------------------------------------------------------

// What an access is held against, the same for all its lanes.
typedef struct Mine {
    uint32_t generation, warp; // the least entry of the generation, of the warp
    uint32_t epoch;            // in its place
    uint32_t known; // entries of the warp below this are known to all its lanes, relative to `warp`
} Mine;

static inline bool is_clear(const Mine *m, uint32_t entry, uint32_t lane) {
    uint32_t d = entry - m->warp;
    return (entry < m->generation) | (d < m->known) | ((d & ~EPOCH_MASK) == lane);
}

// All of `lanes` come after the accesses that the entry stands for.
static __attribute__((noinline)) bool comes_after(const Board *b, BoardAccess *a, uint32_t entry,
                                                  uint32_t lanes) {
    if (entry >> BOARD_SEVERAL_SHIFT & 1)
        return false;
    uint32_t lane = entry & NO_LANE, code = entry >> BOARD_LANE_BITS;
    if (a->known == code)
        return true;
    const Block *block = a->view.block;
    Point p = {.id = block->id,
               .epoch = b->epoch + (code & (BOARD_EPOCHS - 1)),
               .launch = block->launch->index,
               .warp = entry >> BOARD_WARP_SHIFT & (LANES - 1)};
    for (uint32_t m = lanes; m; m &= m - 1) {
        a->view.lane = (uint32_t)__builtin_ctz(m);
        if (gr_order_knows_warp(a->order, &a->view, &p)) {
            if (!a->view.warp->own) { // and so do the others
                a->known = code;
                return true;
            }
        } else if (lane == SEVERAL_LANES || !gr_order_knows(a->order, &a->view, &p, lane)) {
            return false;
        }
    }
    return true;
}

static inline bool is_fine(const Board *b, BoardAccess *a, const Mine *m, uint32_t entry, uint32_t lane) {
    return is_clear(m, entry, lane) || comes_after(b, a, entry, UINT32_C(1) << lane);
}

// The entry once a lane, or several lanes of the warp (NO_LANE), have accessed the word as the entry's lanes did.
static inline uint32_t join(const Mine *m, uint32_t entry, uint32_t lane) {
    uint32_t d = entry - m->warp, was = d & EPOCH_MASK;
    uint32_t epoch = d < WARP_END && was > m->epoch ? was : m->epoch; // what is past need not come in order
    return is_clear(m, entry, lane) ? m->warp | epoch | (lane == NO_LANE ? SEVERAL_LANES : lane)
           : d < WARP_END           ? m->warp | epoch | SEVERAL_LANES
                                    : m->generation | UINT32_C(1) << BOARD_SEVERAL_SHIFT;
}

// ---- Lanes side by side --------------------------------------------------------------------------------------------

// A run of n entries, 1 << shift for each lane from `lane` on.
typedef struct Stretch {
    uint32_t first, n, lane, shift;
} Stretch;

// Entries side by side, and the same as signed numbers. No entry has its top bit set.
typedef uint32_t Some __attribute__((vector_size(16)));
typedef int32_t Signed __attribute__((vector_size(16)));
enum { SOME = sizeof(Some) / sizeof(uint32_t) };

static inline Some load(const uint32_t *e) {
    Some v;
    memcpy(&v, e, sizeof v);
    return v;
}

static inline bool any(Some v) {
    uint64_t half[2];
    memcpy(half, &v, sizeof half);
    return half[0] | half[1];
}

// The lanes of the entries from number k of the stretch on.
static inline Some lanes_from(const Stretch *s, uint32_t k) {
    return ((Some){k, k + 1, k + 2, k + 3} >> s->shift) + s->lane;
}

// is_clear for each entry: all bits or none.
static inline Some are_clear(const Mine *m, Some entry, Some lane) {
    Some d = entry - m->warp;
    Some old = (Some)((Signed)entry < (int32_t)m->generation),
         known = (Some)((Signed)d < (int32_t)m->known) & ~(Some)((Signed)d < 0),
         own = (Some)((Signed)(d & ~EPOCH_MASK) == (Signed)lane);
    return old | known | own;
}

static bool stretch_is_clear(const Board *b, BoardAccess *a, const Mine *m, BoardClass class,
                             const Stretch *s) {
    const uint32_t *e = b->by[class] + s->first;
    const Mine mine = *m;
    uint32_t lane = s->lane, shift = s->shift, k = 0, bad = 0;
    Some clear = ~(Some){0};
    for (; k + SOME <= s->n; k += SOME)
        clear &= are_clear(&mine, load(e + k), lanes_from(s, k));
    for (; k < s->n; k++)
        bad |= !is_clear(&mine, e[k], lane + (k >> shift));
    bad |= any(~clear);
    for (k = 0; bad && k < s->n; k++)
        if (!is_fine(b, a, &mine, e[k], lane + (k >> shift)))
            return false;
    return true;
}

static bool any_in(const uint32_t *e, uint32_t n, uint32_t generation) {
    Some some = {0};
    uint32_t k = 0, one = 0;
    for (; k + SOME <= n; k += SOME)
        some |= (Some)((Signed)load(e + k) >= (int32_t)generation);
    for (; k < n; k++)
        one |= e[k] >= generation;
    return one | any(some);
}

// Enters the lanes as the last that accessed the stretch.
static void fill_stretch(uint32_t *e, const Mine *m, const Stretch *s) {
    uint32_t mine = m->warp | m->epoch, k = 0;
    for (; k + SOME <= s->n; k += SOME) {
        Some v = lanes_from(s, k) | mine;
        memcpy(e + k, &v, sizeof v);
    }
    for (; k < s->n; k++)
        e[k] = mine | (s->lane + (k >> s->shift));
}

static inline Some choose(Some which, Some a, Some b) { return (which & a) | (~which & b); }

// join for each entry.
static inline Some join_some(const Mine *m, Some entry, Some lane) {
    Some d = entry - m->warp, was = d & EPOCH_MASK, none = {0};
    Some ours = (Some)((Signed)d < (int32_t)WARP_END) & ~(Some)((Signed)d < 0),
         later = ours & (Some)((Signed)was > (int32_t)m->epoch);
    Some epoch = choose(later, was, none + m->epoch) | m->warp;
    Some met =
        choose(ours, epoch | SEVERAL_LANES, none + (m->generation | UINT32_C(1) << BOARD_SEVERAL_SHIFT));
    return choose(are_clear(m, entry, lane), epoch | lane, met);
}

static void join_stretch(Board *b, const BoardAccess *a, const Mine *m, const Stretch *s) {
    uint32_t *e = b->by[a->class] + s->first;
    const Mine mine = *m;
    uint32_t lane = s->lane, shift = s->shift, k = 0;
    for (; k + SOME <= s->n; k += SOME) {
        Some v = join_some(&mine, load(e + k), lanes_from(s, k));
        memcpy(e + k, &v, sizeof v);
    }
    for (; k < s->n; k++)
        e[k] = join(&mine, e[k], lane + (k >> shift));
}

// Accesses of the two classes conflict.
static inline bool conflicts(const Board *b, BoardClass class, BoardClass with) {
    return with == BOARD_ATOM ? b->atoms && class != BOARD_ATOM : class != with || class == BOARD_WRITE;
}

static bool put_stretch(Board *b, BoardAccess *a, const Mine *m, const Stretch *s) {
    bool any[3]; // threads have done that there, in this phase, as far as it matters
    for (unsigned k = 0; k < 3; k++) {
        bool matters =
            k == a->class || a->class == BOARD_WRITE || (!a->past && conflicts(b, a->class, (BoardClass)k));
        any[k] = matters && (k != BOARD_ATOM || b->atoms) && any_in(b->by[k] + s->first, s->n, m->generation);
    }
    for (unsigned k = 0; k < 3 && !a->past; k++)
        if (any[k] && conflicts(b, a->class, (BoardClass)k) && !stretch_is_clear(b, a, m, (BoardClass)k, s))
            return false;
    if (a->class != BOARD_WRITE && any[a->class]) {
        join_stretch(b, a, m, s);
        return true;
    }
    fill_stretch(b->by[a->class] + s->first, m, s);
    a->again |= a->class == BOARD_WRITE && any[BOARD_WRITE];
    // Reads before this write no longer matter.
    for (unsigned k = 0; k < 3 && a->class == BOARD_WRITE; k++)
        if (k != BOARD_WRITE && any[k])
            memset(b->by[k] + s->first, 0, s->n * sizeof *b->by[k]);
    return true;
}

static bool put_steps(Board *b, BoardAccess *a, const Mine *m, uint32_t lanes, uint32_t base) {
    unsigned shift = (unsigned)__builtin_ctz(a->size) - b->grain;
    while (lanes) {
        uint32_t lane = (uint32_t)__builtin_ctz(lanes),
                 n = (uint32_t)__builtin_ctzll(~(uint64_t)(lanes >> lane));
        Stretch s = {(base + lane * a->size) >> b->grain, n << shift, lane, shift};
        if (s.first >= b->n || s.n > b->n - s.first || !put_stretch(b, a, m, &s))
            return false;
        lanes &= n == LANES ? 0 : ~(((UINT32_C(1) << n) - 1) << lane);
    }
    return true;
}

// ---- Other lanes ---------------------------------------------------------------------------------------------------

// The board's entries, by what of the access matters to each.
typedef struct Rows {
    uint32_t *reads, *writes, *atoms; // atoms NULL: there are none
    bool past;
} Rows;

static inline Rows rows_of(const Board *b, const BoardAccess *a) {
    return (Rows){b->by[BOARD_READ], b->by[BOARD_WRITE], b->atoms ? b->by[BOARD_ATOM] : NULL, a->past};
}

// Enters what `lanes` do to one entry; lane: the only one, or NO_LANE.
static inline __attribute__((always_inline)) bool put_entry(const Board *b, BoardAccess *a, const Rows *rows,
                                                            const Mine *m, BoardClass class, uint32_t at,
                                                            uint32_t lane, uint32_t lanes) {
    uint32_t *w = &rows->writes[at], *r = &rows->reads[at], *x = rows->atoms ? &rows->atoms[at] : NULL;
    if (!rows->past &&
        ((!is_clear(m, *w, lane) && !comes_after(b, a, *w, lanes)) ||
         (class != BOARD_READ && !is_clear(m, *r, lane) && !comes_after(b, a, *r, lanes)) ||
         (class != BOARD_ATOM && x && !is_clear(m, *x, lane) && !comes_after(b, a, *x, lanes))))
        return false;
    if (class != BOARD_WRITE) {
        uint32_t *e = class == BOARD_READ ? r : x;
        *e = join(m, *e, lane);
        return true;
    }
    a->again |= *w >= m->generation;
    *w = m->warp | m->epoch | lane;
    *r = 0;
    if (x)
        *x = 0;
    return true;
}

static bool put_place(const Board *b, BoardAccess *a, const Mine *m, uint32_t lanes, uint32_t at) {
    const Rows rows = rows_of(b, a);
    uint32_t n = a->size >> b->grain, first = at >> b->grain, lane = (uint32_t)__builtin_ctz(lanes);
    n += !n;
    if (lanes & (lanes - 1)) {
        if (a->class == BOARD_WRITE)
            return false;
        lane = NO_LANE;
    }
    if (first >= b->n || n > b->n - first)
        return false;
    for (uint32_t k = 0; k < n; k++)
        if (!put_entry(b, a, &rows, m, a->class, first + k, lane, lanes))
            return false;
    return true;
}

static inline __attribute__((always_inline)) bool put_each(const Board *b, BoardAccess *a, const Mine *m,
                                                           BoardClass class, uint32_t lanes,
                                                           const uint32_t *at) {
    const Rows rows = rows_of(b, a);
    const Mine mine = *m;
    uint32_t grain = b->grain, end = b->n, n = a->size >> grain;
    n += !n;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest), first = at[lane] >> grain;
        if (first >= end || n > end - first)
            return false;
        for (uint32_t k = 0; k < n; k++)
            if (!put_entry(b, a, &rows, &mine, class, first + k, lane, rest & -rest))
                return false;
    }
    return true;
}

static bool put_scattered(Board *b, BoardAccess *a, const Mine *m, uint32_t lanes, const uint32_t *at) {
    switch (a->class) {
    case BOARD_READ: return put_each(b, a, m, BOARD_READ, lanes, at);
    case BOARD_WRITE: return put_each(b, a, m, BOARD_WRITE, lanes, at);
    default: return put_each(b, a, m, BOARD_ATOM, lanes, at);
    }
}

static bool put_half(Board *b, BoardAccess *a, const Mine *m, unsigned shape, uint32_t lanes, uint32_t base) {
    if (shape == VM_SAME)
        return put_place(b, a, m, lanes, base);
    if (shape == VM_SCATTERED)
        return put_scattered(b, a, m, lanes, a->at);
    if (a->size >> b->grain)
        return put_steps(b, a, m, lanes, base);
    uint32_t at[LANES]; // several lanes share an entry
    for (uint32_t l = 0; l < LANES; l++)
        at[l] = base + l * a->size;
    return put_scattered(b, a, m, lanes, at);
}

// What the warp did up to that epoch is known to all its lanes.
static uint32_t floor_of(const Warp *w) {
    uint32_t floor = 0;
    for (uint32_t g = 0; g < w->n_groups; g++)
        if (w->group[g].mask == w->exists && w->group[g].floor > floor)
            floor = w->group[g].floor;
    return floor;
}

bool gr_board_access(Board *b, BoardAccess *a) {
    uint32_t epoch = a->epoch - b->epoch, floor = a->past ? 0 : floor_of(a->view.warp),
             warp = a->view.warp->index;
    if (epoch >= BOARD_EPOCHS || a->size > MAX_SIZE || (a->size & (a->size - 1)) || warp >= LANES)
        return false;
    if (a->class == BOARD_ATOM) {
        if (!b->by[BOARD_ATOM] && !(b->by[BOARD_ATOM] = calloc(b->n, sizeof *b->by[BOARD_ATOM])))
            return false;
        b->atoms = true;
    }
    Mine m = {.generation = b->generation << BOARD_GENERATION_SHIFT, .epoch = epoch << BOARD_LANE_BITS};
    m.warp = m.generation | warp << BOARD_WARP_SHIFT;
    m.known = floor > b->epoch ? (floor - b->epoch + 1) << BOARD_LANE_BITS : 0;
    a->known = UINT32_MAX;
    a->again = false;
    if (a->shape[0] == a->shape[1] && a->base[0] == a->base[1])
        return put_half(b, a, &m, a->shape[0], a->lanes, a->base[0]);
    for (unsigned h = 0; h < 2; h++) {
        uint32_t lanes = a->lanes & UINT32_C(0xffff) << 16 * h;
        if (lanes && !put_half(b, a, &m, a->shape[h], lanes, a->base[h]))
            return false;
    }
    return true;
}
