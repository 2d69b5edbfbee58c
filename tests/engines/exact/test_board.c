// SPDX-License-Identifier: Apache-2.0
// test_board — boards against every pair of accesses: whatever a board calls fine races with nothing. What it should
// call fine, it does.
#include "engines/exact/board.h"

#include "base/rng.h"
#include "engines/exact/order/order_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { WARPS = 3, THREADS = WARPS * LANES, BYTES = 96, PAST = 4000, ROUNDS = 400, STEPS = 60 };

// One access of a thread.
typedef struct Did {
    uint32_t thread, time, from, size;
    BoardClass class;
} Did;

// A block, and what its threads know of each other, told in full: known[t][u] is the last time of u that t knows of.
typedef struct World {
    Order order;
    Launch *launch;
    Block *block;
    Board board;
    Rng rng;
    uint32_t known[THREADS][THREADS];
    Did past[PAST];
    uint32_t n;
} World;

static void begin(World *w, uint64_t seed) {
    memset(w, 0, sizeof *w);
    w->rng = gr_rng(seed);
    VmLaunchEvent e = {.launch = 1,
                       .grid = {1, 1, 1},
                       .block = {THREADS, 1, 1},
                       .cluster = {1, 1, 1},
                       .shared_bytes = BYTES,
                       .orders = true};
    w->launch = gr_order_launch_begin(&w->order, &e);
    w->block = gr_order_block_begin(&w->order, w->launch, 0);
    for (uint32_t t = 0; t < THREADS; t++)
        w->known[t][t] = 1;
}

static void end(World *w) {
    assert_false(w->order.nomem);
    gr_board_free(&w->board);
    gr_order_block_end(&w->order, w->block);
    VmLaunchEvent e = {.launch = 1};
    gr_order_launch_end(&w->order, w->launch, false);
    (void)e;
    gr_order_free(&w->order);
}

static void phase(World *w, unsigned grain) {
    w->n = 0;
    assert_true(gr_board_begin(&w->board, BYTES, grain, w->block->floor));
}

static uint32_t below(World *w, uint32_t n) { return (uint32_t)gr_rng_below(&w->rng, n); }

// ---- Synchronization -----------------------------------------------------------------------------------------------

// The threads learn all that one of them knows, and go on to a later time.
static void meet(World *w, const bool of[THREADS]) {
    uint32_t all[THREADS] = {0};
    for (uint32_t t = 0; t < THREADS; t++)
        for (uint32_t u = 0; of[t] && u < THREADS; u++)
            all[u] = w->known[t][u] > all[u] ? w->known[t][u] : all[u];
    for (uint32_t t = 0; t < THREADS; t++)
        if (of[t]) {
            memcpy(w->known[t], all, sizeof all);
            w->known[t][t]++;
        }
}

static VmSyncEvent event(VmSyncKind kind, uint32_t warp, uint32_t mask) {
    return (VmSyncEvent){.where = {.launch = 1, .warp = warp, .mask = mask}, .kind = kind};
}

static void sync_warp(World *w, uint32_t warp, uint32_t mask) {
    bool of[THREADS] = {false};
    for (uint32_t l = 0; l < LANES; l++)
        of[warp * LANES + l] = mask >> l & 1;
    VmSyncEvent e = event(VM_SYNC_WARP, warp, mask);
    e.barrier = mask;
    gr_order_sync(&w->order, w->block, &e);
    meet(w, of);
}

// A barrier of the warps in `which`: of all, or by number.
static void barrier(World *w, uint32_t which) {
    bool of[THREADS] = {false}, all = which == (1u << WARPS) - 1;
    uint32_t n = (uint32_t)__builtin_popcount(which), left = n;
    for (unsigned leave = 0; leave < 2; leave++)
        for (uint32_t k = 0; k < WARPS; k++) {
            if (!(which >> k & 1))
                continue;
            VmSyncEvent e = event(leave ? VM_SYNC_BARRIER_RELEASE : VM_SYNC_BARRIER_ARRIVE, k, UINT32_MAX);
            e.barrier = all ? 0 : 1;
            e.count = all ? 0 : n * LANES;
            e.waits = true;
            e.last = !leave && !--left;
            gr_order_sync(&w->order, w->block, &e);
            for (uint32_t l = 0; l < LANES; l++)
                of[k * LANES + l] = true;
        }
    meet(w, of);
}

// ---- Accesses ------------------------------------------------------------------------------------------------------

static bool conflict(const Did *a, const Did *b) {
    return a->from < b->from + b->size && b->from < a->from + a->size &&
           (a->class != b->class || a->class == BOARD_WRITE);
}

// By the definition: an earlier access that this one does not come after.
static bool races(const World *w, const Did *d) {
    for (uint32_t k = 0; k < w->n; k++) {
        const Did *p = &w->past[k];
        if (p->thread != d->thread && conflict(p, d) && p->time > w->known[d->thread][p->thread])
            return true;
    }
    return false;
}

static void find_addresses(World *w, BoardAccess *a, uint32_t at[LANES]) {
    uint32_t places = BYTES / a->size;
    for (unsigned h = 0; h < 2; h++) {
        a->shape[h] = (uint8_t)(h && below(w, 2) ? a->shape[0] : below(w, 3));
        uint32_t some = a->lanes >> 16 * h & 0xffff, first = h * 16;
        a->base[h] = h && a->shape[1] == a->shape[0] && a->shape[0] == VM_SAME ? a->base[0]
                                                                               : a->size * below(w, places);
        if (a->shape[h] == VM_STEPS) { // those in use lie inside
            uint32_t low = some ? (uint32_t)__builtin_ctz(some) + first : 0,
                     high = some ? 31 - (uint32_t)__builtin_clz(some) + first : 0;
            if (high - low >= places)
                a->shape[h] = VM_SCATTERED;
            else
                a->base[h] = a->size * below(w, places - (high - low)) - low * a->size;
        }
        for (uint32_t l = first; l < first + 16; l++)
            at[l] = a->shape[h] == VM_SAME    ? a->base[h]
                    : a->shape[h] == VM_STEPS ? a->base[h] + l * a->size
                                              : a->size * below(w, places);
    }
    a->at = at;
}

// Whether the board called it fine; *racy: whether it races.
static bool access_shared(World *w, bool *racy) {
    uint32_t at[LANES], warp = below(w, WARPS), lanes = (uint32_t)gr_rng_next(&w->rng);
    Warp *by = &w->block->warps[warp];
    lanes =
        below(w, 3) ? lanes & (uint32_t)gr_rng_next(&w->rng) & (uint32_t)gr_rng_next(&w->rng) : UINT32_MAX;
    lanes |= UINT32_C(1) << below(w, LANES);
    uint32_t epoch = by->epoch[__builtin_ctz(lanes)];
    for (uint32_t l = 0; l < LANES; l++)
        lanes &= by->epoch[l] == epoch ? UINT32_MAX : ~(UINT32_C(1) << l);
    BoardAccess a = {.order = &w->order,
                     .view = {.launch = w->launch, .block = w->block, .warp = by},
                     .class = below(w, 2) ? BOARD_READ : (BoardClass)below(w, 3),
                     .lanes = lanes,
                     .epoch = epoch};
    a.size = a.class == BOARD_ATOM ? 4 : 1u << below(w, 5);
    find_addresses(w, &a, at);
    *racy = false;
    uint32_t before = w->n;
    for (uint32_t m = lanes; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m), t = warp * LANES + l;
        Did d = {t, w->known[t][t], at[l], a.size, a.class};
        *racy |= races(w, &d);
        assert_true(w->n < PAST);
        w->past[w->n++] = d;
    }
    bool fine = gr_board_access(&w->board, &a);
    bool again = false;
    for (uint32_t k = 0; k < before; k++)
        for (uint32_t n = before; n < w->n; n++)
            again |= w->past[k].class == BOARD_WRITE && w->past[n].class == BOARD_WRITE &&
                     conflict(&w->past[k], &w->past[n]);
    if (fine && again)
        assert_true(a.again);
    return fine;
}

static void against_all_pairs(void **state) {
    (void)state;
    static World w;
    uint32_t fine = 0, wrong = 0, racy = 0;
    begin(&w, 5);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        phase(&w, below(&w, 3));
        for (uint32_t step = 0; step < STEPS; step++) {
            bool is_racy;
            switch (below(&w, 8)) {
            case 0: barrier(&w, 3u << below(&w, WARPS - 1)); break;
            case 1:
            case 2:
                sync_warp(&w, below(&w, WARPS),
                          below(&w, 3) ? UINT32_MAX : (uint32_t)gr_rng_next(&w.rng) | 1);
                break;
            default:
                if (access_shared(&w, &is_racy)) {
                    assert_false(is_racy);
                    fine++;
                } else {
                    wrong += !is_racy;
                    racy += is_racy;
                    step = STEPS;
                }
            }
        }
        barrier(&w, (1u << WARPS) - 1);
    }
    assert_true(fine > 500 && racy > 100 && wrong < racy / 2);
    end(&w);
}

// ---- What is fine --------------------------------------------------------------------------------------------------

static bool by_warp(World *w, uint32_t warp, BoardClass class, VmShape shape, uint32_t lanes, uint32_t base,
                    uint32_t size, bool *again) {
    Warp *by = &w->block->warps[warp];
    BoardAccess a = {.order = &w->order,
                     .view = {.launch = w->launch, .block = w->block, .warp = by},
                     .class = class,
                     .lanes = lanes,
                     .size = size,
                     .epoch = by->epoch[__builtin_ctz(lanes)],
                     .shape = {(uint8_t)shape, (uint8_t)shape},
                     .base = {base, base}};
    bool fine = gr_board_access(&w->board, &a);
    if (again)
        *again = a.again;
    return fine;
}

// Lanes that wait for their warp between writing and reading, as a scan does; many phases, so that generations come
// around.
static void scans(void **state) {
    (void)state;
    static World w;
    begin(&w, 1);
    for (uint32_t round = 0; round < 3 * BOARD_GENERATIONS; round++) {
        phase(&w, round % 3);
        bool again;
        assert_true(by_warp(&w, 0, BOARD_WRITE, VM_STEPS, 0xffff, 0, 4, &again) && !again);
        for (uint32_t d = 1; d < 16; d *= 2) {
            sync_warp(&w, 0, UINT32_MAX);
            assert_true(by_warp(&w, 0, BOARD_READ, VM_STEPS, 0xffffu << d & 0xffff, 0 - 4 * d, 4, NULL));
            sync_warp(&w, 0, UINT32_MAX);
            assert_true(by_warp(&w, 0, BOARD_WRITE, VM_STEPS, 0xffffu << d & 0xffff, 0, 4, &again) && again);
        }
        assert_false(by_warp(&w, 0, BOARD_READ, VM_STEPS, 0xffff, 4, 4, NULL)); // nobody waited
        barrier(&w, (1u << WARPS) - 1);
    }
    end(&w);
}

// All read one place, then another warp writes there: not fine, though a barrier by number may be enough.
static void readers(void **state) {
    (void)state;
    static World w;
    begin(&w, 1);
    phase(&w, BOARD_GRAIN);
    assert_true(by_warp(&w, 0, BOARD_READ, VM_SAME, UINT32_MAX, 8, 4, NULL));
    barrier(&w, 3);
    assert_true(by_warp(&w, 1, BOARD_WRITE, VM_SAME, 2, 8, 4, NULL));
    assert_true(by_warp(&w, 1, BOARD_READ, VM_SAME, 2, 8, 4, NULL));
    assert_false(by_warp(&w, 1, BOARD_READ, VM_SAME, 6, 8, 4, NULL));
    phase(&w, BOARD_GRAIN);
    assert_true(by_warp(&w, 0, BOARD_ATOM, VM_SAME, UINT32_MAX, 8, 4, NULL));
    assert_true(by_warp(&w, 2, BOARD_ATOM, VM_SAME, UINT32_MAX, 8, 4, NULL));
    assert_true(by_warp(&w, 1, BOARD_READ, VM_SAME, UINT32_MAX, 12, 4, NULL));
    assert_false(by_warp(&w, 0, BOARD_READ, VM_SAME, UINT32_MAX, 8, 4, NULL));
    end(&w);
}

// Bytes side by side share an entry unless the grain is fine.
static void grains(void **state) {
    (void)state;
    static World w;
    begin(&w, 1);
    phase(&w, BOARD_GRAIN);
    assert_false(by_warp(&w, 0, BOARD_WRITE, VM_STEPS, UINT32_MAX, 0, 1, NULL));
    phase(&w, 0);
    assert_true(by_warp(&w, 0, BOARD_WRITE, VM_STEPS, UINT32_MAX, 0, 1, NULL));
    assert_true(by_warp(&w, 1, BOARD_WRITE, VM_STEPS, 0xff, 32, 8, NULL));
    assert_false(by_warp(&w, 2, BOARD_READ, VM_SAME, 1, 88, 8, NULL));
    phase(&w, 1);
    assert_true(by_warp(&w, 0, BOARD_READ, VM_STEPS, UINT32_MAX, 0, 1, NULL));
    assert_false(by_warp(&w, 0, BOARD_WRITE, VM_SAME, 1, 0, 1, NULL)); // its neighbour read
    end(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_all_pairs),
        cmocka_unit_test(scans),
        cmocka_unit_test(readers),
        cmocka_unit_test(grains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
