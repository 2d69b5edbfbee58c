// SPDX-License-Identifier: Apache-2.0
// watches — the destinations of cp.async, known when one is issued. Until its threads have waited for it and met all
// others, the shadow is told of accesses to these lines at once, without the log of phase.c. The lines stay when the
// rest of the tile is fresh.
#include "engines/exact/exact_internal.h"

#include <stdlib.h>
#include <string.h>

// ---- Lines ---------------------------------------------------------------------------------------------------------

// Ranges of lines that an access touches.
typedef struct Lines {
    uint32_t from[LANES], to[LANES];
    unsigned n;
} Lines;

static void add_lines(Lines *l, uint64_t from, uint64_t to) {
    l->from[l->n] = (uint32_t)(from / LINE_BYTES);
    l->to[l->n++] = (uint32_t)((to - 1) / LINE_BYTES) + 1;
}

static void lines_of_glance(const VmGlance *g, Lines *l) {
    l->n = 0;
    uint32_t size = g->site->size;
    bool scattered = g->shape[0] == VM_SCATTERED || g->shape[1] == VM_SCATTERED;
    for (uint32_t m = scattered ? g->mask : 0; m; m &= m - 1) {
        uint64_t at = gr_vm_glance_at(g, (unsigned)__builtin_ctz(m));
        add_lines(l, at, at + size);
    }
    for (unsigned h = 0; h < 2 && !scattered; h++) {
        uint32_t lanes = g->mask & UINT32_C(0xffff) << 16 * h, step = g->shape[h] == VM_STEPS ? size : 0;
        if (lanes)
            add_lines(l, g->base[h] + (uint64_t)__builtin_ctz(lanes) * step,
                      g->base[h] + (uint64_t)(31 - __builtin_clz(lanes)) * step + size);
    }
}

// Lanes side by side as one range.
static void lines_of(const uint64_t address[LANES], uint32_t lanes, uint32_t size, Lines *l) {
    l->n = 0;
    uint64_t from = 0, to = 0;
    for (uint32_t m = lanes; m; m &= m - 1) {
        uint64_t at = address[__builtin_ctz(m)];
        if (to && at == to) {
            to = at + size;
            continue;
        }
        if (to)
            add_lines(l, from, to);
        from = at;
        to = at + size;
    }
    if (to)
        add_lines(l, from, to);
}

static bool has_bit(const uint64_t *bits, uint32_t k) { return bits[k / 64] >> k % 64 & 1; }

static bool has_any(const Tile *t, const uint64_t *bits, const Lines *l) {
    for (unsigned n = 0; n < l->n; n++)
        for (uint32_t k = l->from[n]; k < l->to[n] && k < t->n_lines; k++)
            if (has_bit(bits, k))
                return true;
    return false;
}

static bool has_all(const Tile *t, const uint64_t *bits, const Lines *l) {
    for (unsigned n = 0; n < l->n; n++)
        for (uint32_t k = l->from[n]; k < l->to[n] && k < t->n_lines; k++)
            if (!has_bit(bits, k))
                return false;
    return true;
}

static void put_all(const Tile *t, uint64_t *bits, const Lines *l) {
    for (unsigned n = 0; n < l->n; n++)
        for (uint32_t k = l->from[n]; k < l->to[n] && k < t->n_lines; k++)
            bits[k / 64] |= UINT64_C(1) << k % 64;
}

static size_t words_of(const Tile *t) { return t->n_lines / 64 + 1; }

// ---- The destinations of cp.async ----------------------------------------------------------------------------------

enum { WATCHES_MAX = 1024 };

static bool begin_watching(Exact *x, Block *b, Tile *t) {
    gr_exact_catch_up(x, b); // its lines are not noted
    if (!t->watched) {
        t->watched = malloc(2 * words_of(t) * sizeof *t->watched);
        t->logged = t->watched ? t->watched + words_of(t) : NULL;
    }
    if (!t->watched)
        return false;
    memset(t->watched, 0, 2 * words_of(t) * sizeof *t->watched);
    return t->watching = true;
}

void gr_exact_watch(Exact *x, Block *b, const VmAsyncEvent *e) {
    Tile *t = gr_shadow_tile(&x->shadow, b);
    if (!t || t->async || !b->alone)
        return;
    if ((!t->watching && !begin_watching(x, b, t)) || e->space != PTX_SHARED || e->block != b->linear ||
        t->watches.len > WATCHES_MAX) { // where no thread waits for them: it is never fresh again
        gr_exact_catch_up(x, b);
        t->async = true;
        t->watching = false;
        return;
    }
    Lines l;
    lines_of(e->address, e->where.mask, e->size, &l);
    for (unsigned n = 0; n < l.n; n++) {
        Watch w = {e->where.warp, e->where.mask, (uint32_t)e->op, l.from[n], l.to[n]};
        if (!gr_vec_push(&t->watches, w))
            x->nomem = true;
    }
    if (has_any(t, t->logged, &l))
        gr_exact_catch_up(x, b);
    put_all(t, t->watched, &l);
}

static bool is_waited_for(const Block *b, const Watch *w) {
    const Warp *warp = &b->warps[w->warp];
    bool all = w->number <= b->copied || w->number <= warp->least_waited;
    for (uint32_t m = all ? 0 : w->mask; m; m &= m - 1)
        if (warp->waited_to[__builtin_ctz(m)] < w->number)
            return false;
    return true;
}

void gr_exact_keep_watched(const Block *b, Tile *t, uint64_t generation) {
    size_t kept = 0;
    if (!t->watching)
        return;
    memset(t->watched, 0, 2 * words_of(t) * sizeof *t->watched);
    for (size_t n = 0; n < t->watches.len; n++) {
        const Watch w = t->watches.data[n];
        if (is_waited_for(b, &w))
            continue;
        t->watches.data[kept++] = w;
        for (uint32_t k = w.from; k < w.to && k < t->n_lines; k++) {
            t->watched[k / 64] |= UINT64_C(1) << k % 64;
            if (t->made[k] == generation)
                t->made[k] = t->generation;
        }
    }
    t->watches.len = kept;
}

void gr_exact_catch_up_with(Exact *x, Block *b, const uint64_t address[LANES], uint32_t lanes,
                            uint32_t size) {
    Tile *t = gr_shadow_tile(&x->shadow, b);
    if (!t || t->phase == PHASE_MIXED)
        return;
    if (t->watching) {
        Lines l;
        lines_of(address, lanes, size, &l);
        if (has_all(t, t->watched, &l))
            return;
    }
    gr_exact_catch_up(x, b);
}

WatchedLines gr_exact_watched(const Tile *t, const VmGlance *g) {
    if (!t->watching)
        return WATCHES_NONE;
    Lines l;
    lines_of_glance(g, &l);
    if (!has_any(t, t->watched, &l))
        return WATCHES_NONE;
    return has_all(t, t->watched, &l) ? WATCHES_ALL : WATCHES_SOME;
}

void gr_exact_note_logged(Tile *t, const VmGlance *g) {
    if (!t->watching)
        return;
    Lines l;
    lines_of_glance(g, &l);
    put_all(t, t->logged, &l);
}
