// SPDX-License-Identifier: Apache-2.0
// What a warp does at once on the CPU device (vm/warp.h, vm/fours.h): the same as its lanes one by one, and how many
// lanes it spares the whole way.
#include "engines/tracker/vm/lane.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool use_fours;
#define HAS_FOURS use_fours
static unsigned whole; // lanes that went the whole way
static void count_whole(uint32_t site, uint32_t what, uint64_t at, uint64_t value, uint64_t own);
#define GR_WHOLE count_whole
#include "engines/tracker/device/tracker.c"
#include "engines/tracker/vm/rules_ptx.c"

static void count_whole(uint32_t site, uint32_t what, uint64_t at, uint64_t value, uint64_t own) {
    whole++;
    __gr_access(site, what, at, value, own);
}

static bool has_fours(void) {
#ifdef __x86_64__
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
#else
    return false;
#endif
}

// ---- Two devices -----------------------------------------------------------------------------------------------

enum { THREADS = 128, WORDS = 64, PAIRS = 256, CELLS = 1 << 16, SITES = 6 };

typedef struct World {
    GrTrackerControl control;
    uint32_t numbers;
    void *area, *threads, *blocks, *cells, *talks;
} World;

enum {
    AREA_BYTES = sizeof(GrTrackedHeader) + PAIRS * sizeof(GrPair),
    BLOCK_BYTES = GR_BLOCKS * sizeof(GrBlockState)
};
static VmLaunch launch;
static VmBlock block;

static void make_world(World *w) {
    memset(w, 0, sizeof *w);
    w->numbers = 7;
    w->area = calloc(1, AREA_BYTES);
    w->threads = calloc(GR_THREADS / GR_GROUP, sizeof(GrThreadState));
    w->blocks = calloc(1, BLOCK_BYTES);
    w->cells = calloc(1, 2 * CELLS);
    w->talks = calloc(GR_TALKS, sizeof(GrTalk));
    assert_true(w->area && w->threads && w->blocks && w->cells && w->talks);
    w->control = (GrTrackerControl){.area = (uintptr_t)w->area,
                                    .threads = (uintptr_t)w->threads,
                                    .blocks = (uintptr_t)w->blocks,
                                    .numbers = (uintptr_t)&w->numbers,
                                    .shared = (uintptr_t)w->cells,
                                    .shared_bytes = CELLS,
                                    .pairs = PAIRS,
                                    .same_value = 1,
                                    .talks = (uintptr_t)w->talks};
}

static void drop_world(World *w) {
    free(w->area);
    free(w->threads);
    free(w->blocks);
    free(w->cells);
    free(w->talks);
}

static void assert_alike(const World *a, const World *b) {
    assert_memory_equal(a->cells, b->cells, 2 * CELLS);
    assert_memory_equal(a->area, b->area, AREA_BYTES);
    assert_memory_equal(a->blocks, b->blocks, BLOCK_BYTES / 1024); // those of the test
}

static void set_up(void) {
    memset(&launch, 0, sizeof launch);
    memset(&block, 0, sizeof block);
    launch.number = 1;
    for (unsigned k = 0; k < 3; k++)
        launch.block[k] = launch.grid[k] = launch.cluster[k] = 1;
    launch.block[0] = THREADS;
    launch.grid[0] = 64;
    block.shared_bytes = WORDS * 4;
}

// ---- Calls ---------------------------------------------------------------------------------------------------------

static uint32_t barriers[THREADS / VM_LANES];
static uint64_t seed;

static uint32_t draw(uint32_t n) {
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(seed >> 33) % n;
}

static uint64_t own_of_thread(uint32_t tid, uint32_t syncs) {
    return gr_word_of(&(GrEntry){.launch = (uint32_t)launch.number,
                                 .block = block.ctaid[0],
                                 .tid = tid,
                                 .barriers = barriers[tid / VM_LANES],
                                 .syncs = syncs});
}

typedef enum Shape { ONE, HALVES, ROW, ROW_TWICE, ANY, SHAPES } Shape;

static uint32_t word_of(Shape shape, uint32_t from, uint32_t lane) {
    switch (shape) {
    case ONE: return from;
    case HALVES: return (from + lane / 16) % WORDS;
    case ROW: return (from + lane) % WORDS;
    case ROW_TWICE: return (from + lane % 16) % WORDS;
    default: return draw(WORDS);
    }
}

typedef struct Arguments {
    uint64_t at[VM_LANES], value[VM_LANES], own[VM_LANES];
    uint32_t warp;
} Arguments;

static RuleCall call_of(Arguments *a, uint32_t warp, bool writes, Shape shape, uint32_t from, uint32_t site) {
    a->warp = warp;
    for (uint32_t lane = 0; lane < VM_LANES; lane++) {
        a->at[lane] = 4 * word_of(shape, from, lane);
        a->value[lane] = writes ? draw(3) : 0xf;
        a->own[lane] = own_of_thread(warp * VM_LANES + lane, 0);
    }
    uint32_t what = 4 | GR_SPACE_SHARED << GR_WHAT_SPACE |
                    (writes ? (uint32_t)GR_WHAT_WRITES | GR_WHAT_VALUE : (uint32_t)GR_WHAT_READS);
    return (RuleCall){
        .site = site, .what = what, .lanes = ~0u, .at = a->at, .value = a->value, .own = a->own};
}

static void run_call(World *w, const RuleCall *c, uint32_t warp, void (*how)(const RuleCall *)) {
    gr_now = (RuleLane){
        .launch = &launch, .block = &block, .control = &w->control, .warp = warp, .mask = c->lanes};
    how(c);
}

// A call of any kind that the common path has of shared memory.
static RuleCall any_call(Arguments *a) {
    bool writes = !draw(5);
    RuleCall c = call_of(a, draw(THREADS / VM_LANES), writes, (Shape)draw(SHAPES), draw(WORDS),
                         1 + draw(SITES) + (writes ? SITES : 0));
    if (!draw(4))
        c.lanes = draw(~0u) << 1 | 1;
    uint32_t used = draw(8) ? 0xf : draw(2) ? 3 : 0xc;
    for (uint32_t lane = 0; !writes && lane < VM_LANES; lane++)
        a->value[lane] = used;
    if (!draw(20)) // two bytes
        c.what = (c.what & ~0xffu) | 2;
    if (writes && !draw(10)) // tells of a load, too
        c.what |= UINT32_C(1) << GR_WHAT_BACK;
    for (uint32_t lane = 0, some = draw(10); !some && lane < VM_LANES; lane++) // passed another barrier
        a->own[lane] += draw(2) ? GR_OWN_BARRIER : 0;
    if (!draw(30))
        a->own[draw(VM_LANES)] = GR_OWN_SLOW;
    return c;
}

static void pass_barriers(void) {
    uint32_t most = 0;
    for (unsigned k = 0; k < THREADS / VM_LANES; k++)
        most = barriers[k] > most ? barriers[k] : most;
    for (unsigned k = 0; k < THREADS / VM_LANES; k++) // some come later
        barriers[k] = !draw(4) ? most : most + 1;
    if (most > 2000)
        memset(barriers, 0, sizeof barriers), launch.number++;
}

static void random_calls(bool by_fours) {
    World one, all;
    unsigned lanes = 0;
    use_fours = by_fours && has_fours();
    set_up();
    make_world(&one);
    make_world(&all);
    seed = 1;
    whole = 0;
    memset(barriers, 0, sizeof barriers);
    for (unsigned n = 0; n < 20000; n++) {
        Arguments a;
        if (!draw(12))
            pass_barriers();
        if (!draw(300)) // of the same low bits of the number
            launch.number += draw(2) ? 1 : 32;
        if (!draw(200))
            block.ctaid[0] = draw(2) ? 0 : CELLS / (2048 / 4 * 32); // which share cells
        one.control.same_value = all.control.same_value = draw(50) != 0;
        RuleCall c = any_call(&a);
        unsigned before = whole;
        run_call(&one, &c, a.warp, whole_ways);
        whole = before;
        run_call(&all, &c, a.warp, quick_call);
        lanes += (unsigned)__builtin_popcount(c.lanes);
        if (n % 200 == 0)
            assert_alike(&one, &all);
    }
    assert_alike(&one, &all);
    assert_in_range(whole, 1, lanes / 2); // both ways were taken
    drop_world(&one);
    drop_world(&all);
}

static void lanes_do_the_same(void **state) {
    (void)state;
    random_calls(false);
}

static void fours_do_the_same(void **state) {
    (void)state;
    random_calls(true);
}

// A tile that each warp stores a part of and all of them load, without the barrier behind the loads.
static void tile(World *w, unsigned rounds) {
    Arguments a;
    for (unsigned n = 0; n < rounds; n++) {
        for (uint32_t warp = 0; warp < THREADS / VM_LANES; warp++) {
            RuleCall store = call_of(&a, warp, true, ROW, warp * VM_LANES, 1);
            run_call(w, &store, warp, quick_call);
            barriers[warp]++;
        }
        for (uint32_t warp = 0; warp < THREADS / VM_LANES; warp++)
            for (uint32_t k = 0; k < 16; k++) {
                RuleCall row = call_of(&a, warp, false, ROW_TWICE, k, 2),
                         one = call_of(&a, warp, false, HALVES, k, 3);
                run_call(w, &row, warp, quick_call);
                run_call(w, &one, warp, quick_call);
            }
    }
}

static void known_races_are_short(void **state) {
    World w;
    (void)state;
    for (unsigned k = 0; k < 2; k++) {
        use_fours = k && has_fours();
        set_up();
        memset(barriers, 0, sizeof barriers);
        make_world(&w);
        tile(&w, 2);
        uint64_t races = 0;
        whole = 0;
        tile(&w, 10);
        for (unsigned n = 0; n < PAIRS; n++)
            races += ((GrPair *)((GrTrackedHeader *)w.area + 1))[n].count;
        assert_true(races > 200);
        assert_int_equal(whole, 0);
        drop_world(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lanes_do_the_same),
                                       cmocka_unit_test(fours_do_the_same),
                                       cmocka_unit_test(known_races_are_short)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
