// SPDX-License-Identifier: Apache-2.0
// phase — what shared memory may never need to know.
//
// After a barrier of all threads nothing that was done to a block's shared memory before can race any more: the tile is fresh. While
// everything that happens then is reads, or everything is relaxed atomic operations on elements of one size, nothing can race
// either, so such accesses are only written down. The next barrier of all throws the log away; but if something else comes before
// it, everything in the log happens in the shadow first, in its order. What the threads knew of each other then is not
// written down, hence `late` accesses: they supersede no others.
#include "exact/exact_internal.h"
#include "exact/order_internal.h"

#include <stdlib.h>
#include <string.h>

enum { LOG_FIRST = 4 << 10, LOG_MAX = 1 << 20, ALL_LOGS_MAX = 256 << 20, WAIT_SHIFTS = 12 };

typedef struct Note {
    uint64_t moment;
    uint32_t site, epoch, lanes;
    uint16_t warp, turn;
    uint8_t shape[2];
    bool listed; // 32 addresses follow
    int32_t base[2];
} Note;

static bool make_room(Shadow *s, Tile *t, size_t bytes) {
    if (t->log_len + bytes <= t->log_cap)
        return true;
    size_t cap = t->log_cap ? t->log_cap * 2 : LOG_FIRST;
    if (cap > LOG_MAX || s->log_bytes + cap - t->log_cap > ALL_LOGS_MAX)
        return false;
    uint8_t *log = realloc(t->log, cap);
    if (!log)
        return false;
    s->log_bytes += cap - t->log_cap;
    t->log = log;
    t->log_cap = cap;
    return true;
}

bool gr_exact_defer(Exact *x, Block *b, const Warp *w, const VmGlance *g, Kind *k, uint32_t epoch) {
    Tile *t = gr_shadow_tile(&x->shadow, b);
    if (!t || t->phase == PHASE_MIXED || !b->alone)
        return false;
    bool atom = k->stamp.strong;
    TilePhase phase = atom ? PHASE_ATOMS : PHASE_READS;
    if (atom ? !k->relaxed || k->stamp.access != PTX_ACCESS_RMW || k->stamp.elem != g->site->size ||
                   (g->site->size != 4 && g->site->size != 8) || (w->synced & g->mask) || b->sync.live
             : k->stamp.access != PTX_ACCESS_READ)
        return false;
    if (t->phase != PHASE_FRESH && (t->phase != phase || (atom && t->elem != g->site->size)))
        return false;
    if (k->wait) {
        k->wait--;
        return false;
    }
    bool listed = g->shape[0] == VM_SCATTERED || g->shape[1] == VM_SCATTERED;
    if (!make_room(&x->shadow, t, sizeof(Note) + (listed ? LANES * sizeof(uint32_t) : 0)))
        return false;
    t->phase = phase;
    t->elem = (uint8_t)g->site->size;
    Note *n = (Note *)(void *)(t->log + t->log_len);
    n->moment = x->moment;
    n->site = k->stamp.site;
    n->epoch = epoch;
    n->lanes = g->mask;
    n->warp = (uint16_t)g->warp;
    n->turn = (uint16_t)g->turn;
    n->shape[0] = g->shape[0];
    n->shape[1] = g->shape[1];
    n->listed = listed;
    n->base[0] = (int32_t)g->base[0];
    n->base[1] = (int32_t)g->base[1];
    t->log_len += sizeof *n;
    if (!listed)
        return true;
    uint32_t *at = (uint32_t *)(void *)(t->log + t->log_len);
    if (g->narrow) {
        const uint32_t *lanes = g->lanes, offset = (uint32_t)g->offset;
        for (unsigned l = 0; l < LANES; l++)
            at[l] = lanes[l] + offset;
    } else {
        const uint64_t *lanes = g->lanes;
        for (unsigned l = 0; l < LANES; l++)
            at[l] = (uint32_t)(lanes[l] + g->offset);
    }
    t->log_len += LANES * sizeof *at;
    return true;
}

static bool replay_halves(Exact *x, Access *a, const Note *n, uint32_t size) {
    if (n->shape[0] == n->shape[1] && n->base[0] == n->base[1])
        return gr_exact_touch_shape(x, a, n->lanes, (VmShape)n->shape[0], (uint64_t)n->base[0], size, true);
    for (unsigned h = 0; h < 2; h++) {
        uint32_t lanes = n->lanes & UINT32_C(0xffff) << 16 * h;
        if (lanes &&
            !gr_exact_touch_shape(x, a, lanes, (VmShape)n->shape[h], (uint64_t)n->base[h], size, true))
            return false;
    }
    return true;
}

static void replay(Exact *x, Block *b, const Note *n, const uint32_t *list) {
    Kind *k = &x->kinds.data[n->site];
    if (!k->wait) // next time it is more patient
        k->wait = UINT32_C(1) << (k->spoilt < WAIT_SHIFTS ? k->spoilt++ : k->spoilt);
    Access a = {
        .view = {.launch = b->launch, .block = b, .warp = &b->warps[n->warp]}, .owner = b, .late = true};
    Stamp s = k->stamp;
    s.at = (Point){b->id, n->epoch, b->launch->index, n->warp};
    a.stamp = gr_shadow_stamp(&x->shadow, &s, n->moment);
    uint32_t size = k->stamp.size;
    if (a.stamp && !s.strong && !n->listed && !(size & (size - 1)) && size <= 16 &&
        replay_halves(x, &a, n, size))
        return;
    for (unsigned l = 0; l < LANES; l++)
        a.address[l] =
            list ? list[l] : (uint64_t)n->base[l / 16] + (n->shape[l / 16] == VM_STEPS ? l * size : 0);
    for (uint32_t i = 0, done = 0; i < LANES && a.stamp; i++) {
        uint32_t l = gr_vm_commit_lane(i, n->turn), same = UINT32_C(1) << l;
        if (!(n->lanes & ~done & same))
            continue;
        if (!s.strong) // readers of one place are remembered together
            for (uint32_t j = 0; j < LANES; j++)
                same |= (n->lanes >> j & 1 && a.address[j] == a.address[l]) ? UINT32_C(1) << j : 0;
        done |= same;
        gr_exact_touch(x, &a, same, size);
    }
}

void gr_exact_catch_up(Exact *x, Block *b) {
    Tile *t = gr_shadow_tile(&x->shadow, b);
    if (!t || t->phase == PHASE_MIXED)
        return;
    t->phase = PHASE_MIXED;
    for (size_t at = 0; at < t->log_len;) {
        const Note *n = (const Note *)(const void *)(t->log + at);
        at += sizeof *n;
        replay(x, b, n, n->listed ? (const uint32_t *)(const void *)(t->log + at) : NULL);
        at += n->listed ? LANES * sizeof(uint32_t) : 0;
    }
    t->log_len = 0;
}

void gr_exact_fresh(Exact *x, Block *b) {
    Tile *t = b->tile;
    if (!t || t->async)
        return;
    gr_order_vars_free(&b->sync); // everybody has acquired all that can be acquired from them
    (void)x;
    t->generation++;
    t->phase = PHASE_FRESH;
    t->log_len = 0;
}
