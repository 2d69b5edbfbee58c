// SPDX-License-Identifier: Apache-2.0
// phase — what shared memory may never need to know.
//
// After a barrier of all threads no earlier access to a block's shared memory can race any more: the tile is fresh.
// From then on accesses are only written down, for as long as none of them can race: while all are reads, or all are
// relaxed atomic operations on elements of one size; else a board decides (board.h). The next barrier of all throws the
// log away. If something else comes before it, or something that may race, the shadow is told the log first, in its
// order. The log does not have what the threads knew then, hence `late` accesses: reads supersede no others. But
// threads never forget, so what was in order then is found in order now.
//
// For a block in a cluster the log holds its own threads' accesses, and the tile is fresh after a barrier of the
// cluster. The shadow is told the log before another block accesses the memory.
#include "engines/exact/log.h"
#include "engines/exact/order/order_internal.h"

#include <stdlib.h>
#include <string.h>

enum { WAIT_SHIFTS = 12 };
static const uint32_t PAID = 64;

static uint32_t *compared_of(Note *n) { return (uint32_t *)(n + 1); }

static void list_addresses(const VmGlance *g, uint32_t at[LANES]) {
    if (g->narrow) {
        const uint32_t *lanes = g->lanes, offset = (uint32_t)g->offset;
        for (unsigned l = 0; l < LANES; l++)
            at[l] = lanes[l] + offset;
    } else {
        const uint64_t *lanes = g->lanes;
        for (unsigned l = 0; l < LANES; l++)
            at[l] = (uint32_t)(lanes[l] + g->offset);
    }
}

// The lanes lie at equal distances.
static bool find_stride(const uint32_t at[LANES], uint32_t lanes, int32_t base[2]) {
    uint32_t first = (uint32_t)__builtin_ctz(lanes), rest = lanes & (lanes - 1);
    if (!rest)
        return false;
    uint32_t second = (uint32_t)__builtin_ctz(rest), wrong = 0;
    int32_t stride = (int32_t)(at[second] - at[first]) / (int32_t)(second - first);
    base[0] = (int32_t)(at[first] - first * (uint32_t)stride);
    base[1] = stride;
    for (uint32_t m = rest & (rest - 1), n = 0; m && n < 2; m &= m - 1, n++) { // most lie anyhow
        uint32_t l = (uint32_t)__builtin_ctz(m);
        if (at[l] != (uint32_t)base[0] + l * (uint32_t)stride)
            return false;
    }
    for (uint32_t l = 0; l < LANES; l++)
        wrong |= (uint32_t)(at[l] != (uint32_t)base[0] + l * (uint32_t)stride) << l;
    return !(wrong & lanes);
}

// Scattered lanes: their addresses follow the note, unless they lie at equal distances.
static __attribute__((noinline)) void list_note(Note *n, const VmGlance *g) {
    uint32_t *at = (uint32_t *)(n + 1);
    int32_t base[2];
    list_addresses(g, at);
    if (!find_stride(at, g->mask, base))
        return;
    n->shape = n->other_shape = IN_STRIDES;
    n->base[0] = base[0];
    n->base[1] = base[1];
}

// Writes a note behind the log, which does not contain it yet.
static Note *write_down(Exact *x, Tile *t, const VmGlance *g, const Kind *k, uint32_t epoch) {
    if (!gr_log_has_room(x, t, sizeof(Note) + (LANES + ACCESS_WORDS) * sizeof(uint32_t)))
        return NULL;
    Note *n = (Note *)(void *)(t->log + t->log_len);
    *n = (Note){.moment = x->moment,
                .site = k->stamp.site,
                .epoch = epoch,
                .lanes = g->mask,
                .base = {(int32_t)g->base[0], (int32_t)g->base[1]},
                .warp = g->warp % LANES,
                .turn = g->turn % 32,
                .shape = (unsigned)g->shape[0] & 3,
                .other_shape = (unsigned)g->shape[1] & 3};
    if (gr_note_is_listed(n))
        list_note(n, g);
    return n;
}

// Notes which lanes are known by now to have changed nothing.
static void compare(Note *n, const VmGlance *g) {
    uint32_t words = (g->site->size + CELL_BYTES - 1) / CELL_BYTES, same[ACCESS_WORDS];
    uint32_t *at = compared_of(n);
    g->same(g, same);
    if (gr_note_is_listed(n))
        memmove(at + ((words + 1) & ~1u), at, LANES * sizeof *at);
    memcpy(at, same, words * sizeof *at);
    n->compared = words & 7;
}

// ---- The board -----------------------------------------------------------------------------------------------------

static BoardAccess access_of(const Exact *x, Block *b, const Note *n) {
    const Stamp *s = &x->kinds.data[n->site].stamp;
    return (BoardAccess){.order = &x->order,
                         .view = {.launch = b->launch, .block = b, .warp = &b->warps[n->warp]},
                         .class = s->access == PTX_ACCESS_READ    ? BOARD_READ
                                  : s->access == PTX_ACCESS_WRITE ? BOARD_WRITE
                                                                  : BOARD_ATOM,
                         .lanes = n->lanes,
                         .size = s->size,
                         .epoch = n->epoch,
                         .shape = {(uint8_t)n->shape, (uint8_t)n->other_shape},
                         .base = {(uint32_t)n->base[0], (uint32_t)n->base[1]}};
}

static bool put(Exact *x, Block *b, const Note *n, bool past, bool *again) {
    uint32_t at[LANES];
    BoardAccess a = access_of(x, b, n);
    a.past = past;
    a.at = at;
    if (gr_note_is_listed(n) || n->shape == IN_STRIDES)
        gr_note_addresses(n, a.size, at);
    if (n->shape == IN_STRIDES) {
        a.shape[0] = a.shape[1] = VM_SCATTERED;
        a.base[0] = a.base[1] = 0;
    }
    bool fine = gr_board_access(&b->tile->board, &a);
    *again = a.again;
    return fine;
}

static bool put_set(Exact *x, Block *b, const Note *n) {
    const Place *p = gr_note_places(n);
    BoardAccess a = access_of(x, b, n);
    a.past = true;
    for (int32_t k = 0; k < n->base[0]; k++) {
        a.lanes = p[k].lanes;
        a.base[0] = a.base[1] = p[k].at;
        if (!gr_board_access(&b->tile->board, &a))
            return false;
    }
    return true;
}

// Begins a board and enters the log, which is in order.
static bool begin_board(Exact *x, Block *b) {
    Tile *t = b->tile;
    bool again;
    if (!gr_board_begin(&t->board, t->n_lines * LINE_BYTES, t->grain, t->epoch))
        return false;
    for (size_t at = 0; at < t->log_len;) {
        const Note *n = (const Note *)(const void *)(t->log + at);
        at += gr_note_size(n);
        if (!(n->set ? put_set(x, b, n) : put(x, b, n, true, &again)))
            return false;
    }
    t->phase = PHASE_BOARD;
    return true;
}

// Enters the access on the board. False: it may race.
static __attribute__((noinline)) bool is_fine(Exact *x, Block *b, const VmGlance *g, Note *n) {
    Tile *t = b->tile;
    bool again = false;
    if (t->phase != PHASE_BOARD && !begin_board(x, b))
        return false;
    if (!put(x, b, n, false, &again)) { // it may be a neighbour in the same word that it meets
        if (t->narrowest >= t->grain)
            return false;
        t->grain = t->narrowest;
        if (!begin_board(x, b) || !put(x, b, n, false, &again))
            return false;
    }
    if (!again)
        return true;
    // Whether stores were of what lay there matters only beside earlier ones.
    if (!g->same)
        return false;
    compare(n, g);
    return true;
}

// ---- Deferring -----------------------------------------------------------------------------------------------------

// A phase of only such accesses has no races.
static TilePhase phase_of(const Kind *k) {
    return k->stamp.access == PTX_ACCESS_READ    ? PHASE_READS
           : k->stamp.access == PTX_ACCESS_WRITE ? PHASE_BOARD
                                                 : PHASE_ATOMS;
}

// The strong accesses order nothing: no thread can acquire there, none of these has released or read anything before,
// and they do not say in which order fences came.
static bool orders_nothing(const Exact *x, const Block *b, const Warp *w, const VmGlance *g, const Kind *k) {
    return k->relaxed && k->stamp.elem == g->site->size && !(w->synced & g->mask) && !b->sync.live &&
           !gr_order_talks(&x->order, &b->talks, b, w, g->mask) && !x->open.len;
}

static bool can_wait(const Exact *x, const Block *b, const Warp *w, const VmGlance *g, const Kind *k) {
    const Tile *t = b->tile;
    uint32_t size = g->site->size;
    if (!k->stamp.strong)
        return k->stamp.access == PTX_ACCESS_READ || !b->sync.live;
    if (k->stamp.access == PTX_ACCESS_RMW && ((size != 4 && size != 8) || (t->elem && t->elem != size)))
        return false;
    return orders_nothing(x, b, w, g, k);
}

bool gr_exact_defer(Exact *x, Block *b, const Warp *w, const VmGlance *g, Kind *k, uint32_t epoch) {
    Tile *t = gr_shadow_tile(&x->shadow, b);
    if (!t || t->phase == PHASE_MIXED || !can_wait(x, b, w, g, k))
        return false;
    if (t->watching && gr_exact_watched(t, g) != WATCHES_NONE)
        return false;
    if (k->wait) {
        k->wait--;
        return false;
    }
    Note *n = write_down(x, t, g, k, epoch);
    if (!n)
        return false;
    TilePhase phase = phase_of(k);
    if (g->site->size < 1u << t->narrowest)
        t->narrowest = g->site->size == 1 ? 0 : 1;
    if (phase != PHASE_BOARD && (t->phase == PHASE_FRESH || t->phase == phase)) {
        t->phase = phase;
    } else if (!is_fine(x, b, g, n)) {
        return false;
    }
    if (k->stamp.access == PTX_ACCESS_RMW)
        t->elem = (uint8_t)g->site->size;
    k->deferred++;
    t->log_len += gr_note_size(n);
    if (t->watching)
        gr_exact_note_logged(t, g);
    return true;
}

// ---- What was deferred happens -------------------------------------------------------------------------------------

static bool replay_halves(Exact *x, Access *a, const Note *n, uint32_t size) {
    VmShape shape[2] = {(VmShape)n->shape, (VmShape)n->other_shape};
    uint64_t base[2] = {(uint64_t)n->base[0], (uint64_t)n->base[1]};
    return gr_exact_touch_shape(x, a, n->lanes, shape, base, size,
                                x->kinds.data[n->site].stamp.access == PTX_ACCESS_READ);
}

static void replay_set(Exact *x, Access *a, const Note *n, uint32_t size) {
    const Place *p = gr_note_places(n);
    for (int32_t k = 0; k < n->base[0] && a->stamp; k++) {
        for (uint32_t m = p[k].lanes; m; m &= m - 1)
            a->address[__builtin_ctz(m)] = p[k].at;
        gr_exact_touch(x, a, p[k].lanes, size);
    }
}

// Deferring was in vain: waits before it defers again, longer each time, unless deferring pays on the whole.
static void be_patient(Kind *k) {
    if (k->wait)
        return;
    if (k->deferred >> k->spoilt >= PAID)
        k->spoilt = 0;
    k->deferred = 0;
    k->wait = UINT32_C(1) << (k->spoilt < WAIT_SHIFTS ? k->spoilt++ : k->spoilt);
}

static void replay(Exact *x, Block *b, const Note *n) {
    Kind *k = &x->kinds.data[n->site];
    be_patient(k);
    Access a = {
        .view = {.launch = b->launch, .block = b, .warp = &b->warps[n->warp]}, .owner = b, .late = true};
    memcpy(a.unchanged, n + 1, n->compared * sizeof(uint32_t));
    Stamp s = k->stamp;
    s.at = (Point){b->id, n->epoch, b->launch->index, n->warp};
    a.stamp = gr_shadow_stamp(&x->shadow, &s, n->moment);
    uint32_t size = k->stamp.size;
    if (n->set) {
        replay_set(x, &a, n, size);
        return;
    }
    if (a.stamp && !s.strong && !n->compared && !gr_note_is_listed(n) && n->shape != IN_STRIDES &&
        !(size & (size - 1)) && size <= 16 && replay_halves(x, &a, n, size))
        return;
    uint32_t at[LANES];
    gr_note_addresses(n, size, at);
    for (unsigned l = 0; l < LANES; l++)
        a.address[l] = at[l];
    for (uint32_t i = 0, done = 0; i < LANES && a.stamp; i++) {
        uint32_t l = gr_vm_commit_lane(i, n->turn), same = UINT32_C(1) << l;
        if (!(n->lanes & ~done & same))
            continue;
        if (s.access == PTX_ACCESS_READ) // readers of one place are remembered together
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
        at += gr_note_size(n);
        replay(x, b, n);
    }
    t->log_len = 0;
}

// An operation other than cp.async is under way, and may access any of the memory.
static bool is_open(const Block *b) {
    for (size_t k = 0; k < b->ops.len && b->safe != b->floor; k++)
        if (b->ops.data[k]->completes != VM_COMPLETES_GROUP && b->ops.data[k]->floor < b->floor)
            return true;
    return false;
}

// A cp.async of the block has not been waited for, or another operation is under way.
static bool is_busy(const Block *b) {
    bool busy = b->ops.len != 0;
    for (uint32_t k = 0; k < b->n_warps && !busy; k++)
        busy = b->warps[k].copies.len != 0;
    return busy;
}

// All accesses from now on are of a later epoch.
static uint32_t past_epoch(const Block *b) {
    uint32_t least = b->epoch;
    for (uint32_t k = 0; k < b->n_warps; k++)
        for (uint32_t m = b->warps[k].exists; m; m &= m - 1) {
            uint32_t e = b->warps[k].epoch[__builtin_ctz(m)];
            least = e < least ? e : least;
        }
    return least - 1;
}

static void refresh(Block *b, uint32_t epoch) {
    Tile *t = b->tile;
    gr_order_vars_free(&b->sync); // all threads have acquired all that can be acquired from them
    gr_talks_free(&b->talks);
    gr_exact_keep_watched(b, t, t->generation++);
    t->phase = PHASE_FRESH;
    t->epoch = epoch;
    t->elem = 0;
    t->narrowest = BOARD_GRAIN;
    t->log_len = 0;
}

void gr_exact_fresh(Block *b) {
    if (b->tile && !b->tile->async && !is_open(b))
        refresh(b, b->floor);
}

void gr_exact_fresh_cluster(const Block *b) {
    uint32_t n = gr_cluster_size(b->launch);
    for (uint32_t k = 0; k < n; k++) {
        const Block *p = gr_order_peer(b, k);
        if (!p || is_busy(p))
            return;
    }
    for (uint32_t k = 0; k < n; k++) {
        Block *p = gr_order_peer(b, k);
        if (p->tile && !p->tile->async)
            refresh(p, past_epoch(p));
    }
}
