// SPDX-License-Identifier: Apache-2.0
// test_watch — the table of watchpoints, told of windows, accesses, operations, copies and the host by hand.
#include "base/rng.h"
#include "engines/collider/watch/watch.h"
#include "engines/exact/classes.h"
#include "peek.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// A device: launch 1 of blocks of 64 threads, whatever is asked of it.
typedef struct Rig {
    Watch *watch;
    VmObserver o;
    unsigned found;
    Race last;
    uint64_t counted;
    bool pending;
    unsigned pendings;
} Rig;

static PtxModule module;
static PtxInstr load_instr;
static PtxStmt load_stmt = {.kind = PTX_INSTR, .instr = &load_instr};

static void on_found(void *user, Race *r) {
    Rig *g = user;
    g->found++;
    g->last = *r;
    r->mine.count = &g->counted;
}

static bool on_wanted(void *user, const char *kernel) {
    (void)user;
    return strcmp(kernel, "unwanted") != 0;
}

static void on_pending(void *user, bool on) {
    Rig *g = user;
    g->pending = on;
    g->pendings++;
}

static void launch(Rig *g, uint64_t number, const char *name) {
    PtxFunc f = {.name = (char *)(uintptr_t)name};
    VmLaunchEvent e = {.launch = number, .kernel = &f, .grid = {4, 1, 1}, .block = {64, 1, 1}};
    g->o.launch_begin(g->o.user, &e);
}

static void end(Rig *g, uint64_t number) {
    VmLaunchEvent e = {.launch = number};
    g->o.launch_end(g->o.user, &e, false);
}

static void open_rig(Rig *g, bool no_same_value) {
    memset(g, 0, sizeof *g);
    WatchOptions o = {.found = on_found,
                      .wanted = on_wanted,
                      .pending = on_pending,
                      .user = g,
                      .no_same_value = no_same_value};
    assert_int_equal(gr_watchpoints_create(&o, &g->watch, NULL), GR_OK);
    g->o = gr_watchpoints_observer(g->watch);
    launch(g, 1, "k");
    launch(g, 2, "k");
}

static void close_rig(Rig *g) {
    assert_false(gr_watchpoints_incomplete(g->watch));
    gr_watchpoints_free(g->watch);
}

// Who, and what: one lane, or all of a warp side by side.
typedef struct Who {
    uint64_t launch, block;
    uint32_t warp, mask, site;
} Who;
#define A                 ((Who){1, 0, 0, 1, 1})
#define B                 ((Who){1, 1, 0, 1, 2})
#define WHOLE(warp, site) ((Who){1, 0, warp, UINT32_MAX, site})

static VmWhere where(Who w) {
    return (VmWhere){.launch = w.launch,
                     .block = {(uint32_t)w.block, 0, 0},
                     .block_linear = w.block,
                     .warp = w.warp,
                     .mask = w.mask,
                     .site = w.site,
                     .module = &module,
                     .stmt = NULL};
}

static void steps(uint64_t address[32], uint64_t at, uint32_t size) {
    for (unsigned l = 0; l < 32; l++)
        address[l] = at + (uint64_t)l * size;
}

static void window_in(Rig *g, uint64_t id, Who w, PtxAccess access, PtxSpace space, uint64_t owner,
                      uint64_t at, uint32_t size) {
    uint64_t address[32];
    steps(address, at, size);
    VmWindowEvent e = {.id = id,
                       .opens = true,
                       .where = where(w),
                       .access = access,
                       .space = space,
                       .owner = owner,
                       .size = size,
                       .address = address};
    g->o.window(g->o.user, &e);
}

static void window(Rig *g, uint64_t id, Who w, PtxAccess access, uint64_t at, uint32_t size) {
    window_in(g, id, w, access, PTX_GLOBAL, 0, at, size);
}

static void shut(Rig *g, uint64_t id) {
    VmWindowEvent e = {.id = id};
    g->o.window(g->o.user, &e);
}

static bool same_answer;
static bool is_same(const VmAccessEvent *e, unsigned lane, uint32_t from, uint32_t n) {
    (void)e, (void)lane, (void)from, (void)n;
    return same_answer;
}

// As the device does it: first a glance, where the accesses are of that kind. How often it was a race.
static unsigned touch_in(Rig *g, Who w, PtxAccess access, PtxSem sem, PtxSpace space, uint64_t owner,
                         uint64_t at, uint32_t size) {
    unsigned before = g->found;
    uint64_t count = g->counted, address[32];
    steps(address, at, size);
    VmSiteInfo info = {.site = w.site, .size = size, .access = access, .sem = sem, .module = &module};
    VmGlance glance = {.launch = w.launch,
                       .block_linear = w.block,
                       .site = &info,
                       .warp = w.warp,
                       .mask = w.mask,
                       .space = space,
                       .shape = {VM_STEPS, VM_STEPS},
                       .base = {at, at},
                       .lanes = address};
    bool nothing = owner == w.block || space == PTX_GLOBAL ? g->o.glance(g->o.user, &glance) : false;
    VmGlance scattered = glance;
    scattered.shape[0] = scattered.shape[1] = VM_SCATTERED;
    if (owner == w.block || space == PTX_GLOBAL)
        assert_int_equal(g->o.glance(g->o.user, &scattered), nothing);
    VmAccessEvent e = {.where = where(w),
                       .access = access,
                       .sem = sem,
                       .space = space,
                       .owner = owner,
                       .size = size,
                       .address = address,
                       .same = access == PTX_ACCESS_WRITE ? is_same : NULL};
    g->o.access(g->o.user, &e);
    if (nothing) // a glance may say too little, never too much
        assert_int_equal(g->counted, count);
    return g->found - before + (g->counted > count && g->found == before);
}

static unsigned touch(Rig *g, Who w, PtxAccess access, uint64_t at, uint32_t size) {
    return touch_in(g, w, access, PTX_WEAK, PTX_GLOBAL, 0, at, size);
}

#define READ  PTX_ACCESS_READ
#define WRITE PTX_ACCESS_WRITE
#define RMW   PTX_ACCESS_RMW

// ---- Threads -----------------------------------------------------------------------------------------------

static void open_windows_are_met(void **state) {
    (void)state;
    Rig g;
    open_rig(&g, false);
    assert_int_equal(touch(&g, B, WRITE, 0x1000, 4), 0);
    window(&g, 1, A, READ, 0x1000, 4);
    assert_int_equal(peek_open(g.watch), 1);
    assert_int_equal(g.o.interest[1], 1);
    assert_int_equal(touch(&g, B, READ, 0x1000, 4), 0);
    assert_int_equal(touch(&g, B, WRITE, 0x1000, 4), 1);
    assert_int_equal(g.last.class, RACE_READ_WRITE);
    assert_int_equal(g.last.space, PTX_GLOBAL);
    assert_int_equal(g.last.overlap, 0x1000);
    assert_int_equal(g.last.overlap_bytes, 4);
    assert_int_equal(g.last.side[0].site, 2);
    assert_int_equal(g.last.side[0].block[0], 1);
    assert_int_equal(g.last.side[0].access, WRITE);
    assert_int_equal(g.last.side[1].site, 1);
    assert_int_equal(g.last.side[1].access, READ);
    assert_non_null(g.last.order);
    shut(&g, 1);
    assert_int_equal(g.o.interest[1], 0);
    assert_int_equal(touch(&g, B, WRITE, 0x1000, 4), 0);
    assert_int_equal(gr_watchpoints_races(g.watch), 1);
    close_rig(&g);
}

// One race for each pair of places, however often and whichever of the two waited.
static void pairs_are_counted(void **state) {
    (void)state;
    Rig g;
    open_rig(&g, false);
    window(&g, 1, A, WRITE, 0x1000, 4);
    for (unsigned k = 0; k < 5; k++)
        touch(&g, B, READ, 0x1000, 4);
    shut(&g, 1);
    window(&g, 2, B, READ, 0x1000, 4);
    touch(&g, A, WRITE, 0x1000, 4);
    assert_int_equal(g.found, 1);
    assert_int_equal(g.counted, 6);
    assert_int_equal(gr_watchpoints_race(g.watch, 0)->count, 6);
    touch(&g, (Who){1, 2, 0, 1, 3}, WRITE, 0x1000, 4);
    assert_int_equal(g.found, 2);
    close_rig(&g);
}

static void overlap_is_exact(void **state) {
    (void)state;
    Rig g;
    open_rig(&g, false);
    window(&g, 1, A, WRITE, 0x1002, 2); // neighbours of all sizes, and over the end of a line
    assert_int_equal(touch(&g, B, WRITE, 0x1000, 2), 0);
    assert_int_equal(touch(&g, B, WRITE, 0x1004, 4), 0);
    assert_int_equal(touch(&g, B, WRITE, 0x1001, 1), 0);
    assert_int_equal(touch(&g, B, WRITE, 0x1003, 1), 1);
    assert_int_equal(g.last.overlap, 0x1003);
    assert_int_equal(g.last.overlap_bytes, 1);
    assert_int_equal(touch(&g, B, READ, 0x1000, 16), 1);
    assert_int_equal(g.last.overlap, 0x1002);
    assert_int_equal(g.last.overlap_bytes, 2);
    shut(&g, 1);
    window(&g, 2, A, READ, 0x10f8, 16);
    assert_int_equal(touch(&g, B, WRITE, 0x1108, 8), 0);
    assert_int_equal(touch(&g, B, WRITE, 0x10f0, 8), 0);
    assert_int_equal(touch(&g, (Who){1, 1, 0, 1, 4}, WRITE, 0x1100, 8), 1);
    assert_int_equal(touch(&g, (Who){1, 1, 0, 1, 5}, WRITE, 0x10f8, 1), 1);
    // A warp's lanes, of which only each second one is there.
    window(&g, 3, (Who){1, 0, 0, 0x55555555, 6}, WRITE, 0x2000, 4);
    assert_int_equal(touch(&g, (Who){1, 1, 0, 0xaaaaaaaa, 7}, WRITE, 0x2000, 4), 0);
    assert_int_equal(touch(&g, (Who){1, 1, 0, 0x00000004, 7}, WRITE, 0x2000, 4), 1);
    assert_int_equal(g.last.side[0].thread[0], 2);
    assert_int_equal(g.last.side[1].thread[0], 2);
    close_rig(&g);
}

// Bytes that go nowhere or that nobody uses are none of a load's.
static void unused_bytes_do_not_race(void **state) {
    (void)state;
    static PtxOperand sub[4] = {
        {.kind = PTX_O_SINK}, {.kind = PTX_O_REG}, {.kind = PTX_O_SINK}, {.kind = PTX_O_REG}};
    static PtxOperand to = {.kind = PTX_O_VECTOR, .sub = sub, .n_sub = 4};
    static PtxInstr instr = {.operands = &to, .n_operands = 1};
    static PtxStmt pragma = {.kind = PTX_PRAGMA, .text = "used_bytes_mask 0x0f0f"};
    PtxStmt stmt = {.kind = PTX_INSTR, .instr = &instr};
    Rig g;
    open_rig(&g, false);
    uint64_t address[32];
    steps(address, 0x1000, 16);
    VmWindowEvent e = {.id = 1,
                       .opens = true,
                       .where = where(A),
                       .access = READ,
                       .space = PTX_GLOBAL,
                       .size = 16,
                       .address = address};
    e.where.stmt = &stmt;
    g.o.window(g.o.user, &e);
    assert_int_equal(touch(&g, B, WRITE, 0x1000, 4), 0);
    assert_int_equal(touch(&g, B, WRITE, 0x1008, 4), 0);
    assert_int_equal(touch(&g, B, WRITE, 0x1004, 4), 1);
    assert_int_equal(g.last.overlap, 0x1004);
    assert_int_equal(g.last.overlap_bytes, 4);
    shut(&g, 1);
    stmt.prev = &pragma;
    e.id = 2;
    e.where.site = 3;
    g.o.window(g.o.user, &e);
    assert_int_equal(touch(&g, B, WRITE, 0x1004, 4), 0);
    assert_int_equal(touch(&g, B, WRITE, 0x100c, 4), 0);
    close_rig(&g);
}

static void own_accesses_do_not_race(void **state) {
    (void)state;
    Rig g;
    open_rig(&g, false);
    window(&g, 1, A, WRITE, 0x1000, 4);
    assert_int_equal(touch(&g, A, WRITE, 0x1000, 4), 0);
    assert_int_equal(touch(&g, (Who){1, 0, 0, 2, 1}, WRITE, 0x1000 - 4, 4), 1); // another lane
    assert_string_equal(g.last.order,
                        "both are lanes of one warp, and no __syncwarp() or barrier is between");
    assert_int_equal(touch(&g, (Who){1, 0, 1, 1, 2}, WRITE, 0x1000, 4), 1); // another warp
    assert_int_equal(touch(&g, (Who){2, 0, 0, 1, 3}, WRITE, 0x1000, 4), 1); // another launch
    assert_string_equal(g.last.order, "no stream order, event or synchronization between the two launches");
    close_rig(&g);
}

static void spaces_and_owners(void **state) {
    (void)state;
    Rig g;
    open_rig(&g, false);
    window_in(&g, 1, A, WRITE, PTX_SHARED, 0, 0x40, 4);
    assert_int_equal(touch(&g, B, WRITE, 0x40, 4), 0);
    assert_int_equal(touch_in(&g, B, WRITE, PTX_WEAK, PTX_SHARED, 1, 0x40, 4), 0);
    assert_int_equal(touch_in(&g, (Who){2, 0, 0, 1, 2}, WRITE, PTX_WEAK, PTX_SHARED, 0, 0x40, 4), 0);
    assert_int_equal(touch_in(&g, (Who){1, 0, 1, 1, 2}, READ, PTX_WEAK, PTX_SHARED, 0, 0x40, 4), 1);
    assert_int_equal(g.last.space, PTX_SHARED);
    assert_int_equal(touch_in(&g, (Who){1, 1, 0, 1, 3}, READ, PTX_WEAK, PTX_SHARED, 0, 0x40, 4), 1); // dsmem
    shut(&g, 1);
    // One window in several places.
    window_in(&g, 2, WHOLE(0, 4), READ, PTX_SHARED, 0, 0x80, 4);
    window(&g, 2, (Who){1, 0, 0, 0xff, 4}, READ, 0x5000, 4);
    assert_int_equal(peek_open(g.watch), 2);
    assert_int_equal(touch(&g, (Who){1, 1, 0, 1, 5}, WRITE, 0x5008, 4), 1);
    assert_int_equal(touch_in(&g, (Who){1, 0, 1, 1, 6}, WRITE, PTX_WEAK, PTX_SHARED, 0, 0x84, 4), 1);
    shut(&g, 2);
    assert_int_equal(peek_open(g.watch), 0);
    close_rig(&g);
}

static void strength_and_classes(void **state) {
    (void)state;
    Rig g;
    open_rig(&g, false);
    window(&g, 1, A, READ, 0x1000, 4);
    assert_int_equal(touch_in(&g, B, RMW, PTX_RELAXED, PTX_GLOBAL, 0, 0x1000, 4), 1);
    assert_int_equal(g.last.class, RACE_READ_WRITE);
    assert_true(g.last.side[0].strong);
    assert_int_equal(g.last.side[0].scope, PTX_SCOPE_GPU);
    assert_int_equal(touch_in(&g, (Who){1, 1, 0, 1, 3}, WRITE, PTX_VOLATILE, PTX_GLOBAL, 0, 0x1000, 4), 1);
    assert_true(g.last.side[0].is_volatile);
    window(&g, 2, A, WRITE, 0x2000, 4);
    assert_int_equal(touch_in(&g, (Who){1, 1, 0, 1, 4}, RMW, PTX_RELAXED, PTX_GLOBAL, 0, 0x2000, 4), 1);
    assert_int_equal(g.last.class, RACE_WRITE_WRITE);
    close_rig(&g);
}

// Equal bytes are a class of their own, until somebody has changed them.
static void same_values(void **state) {
    (void)state;
    Rig g;
    open_rig(&g, false);
    same_answer = true;
    window(&g, 1, A, WRITE, 0x1000, 4);
    assert_int_equal(touch(&g, B, WRITE, 0x1000, 4), 1);
    assert_int_equal(g.last.class, RACE_SAME_VALUE);
    same_answer = false;
    assert_int_equal(touch(&g, (Who){1, 2, 0, 1, 3}, WRITE, 0x1000, 4), 1);
    assert_int_equal(g.last.class, RACE_WRITE_WRITE);
    same_answer = true; // as what the third one left
    assert_int_equal(touch(&g, (Who){1, 3, 0, 1, 4}, WRITE, 0x1000, 4), 1);
    assert_int_equal(g.last.class, RACE_WRITE_WRITE);
    close_rig(&g);
    open_rig(&g, true);
    window(&g, 1, A, WRITE, 0x1000, 4);
    assert_int_equal(touch(&g, B, WRITE, 0x1000, 4), 0);
    same_answer = false;
    assert_int_equal(touch(&g, B, WRITE, 0x1000, 4), 1);
    close_rig(&g);
}

// Many at once, at random, against the obvious implementation.
static void many_windows(void **state) {
    (void)state;
    enum { N = 600, BYTES = 4096 };
    static struct {
        uint64_t at, block;
        uint32_t size;
        bool open, writes;
    } w[N];
    memset(w, 0, sizeof w);
    Rig g;
    open_rig(&g, false);
    Rng rng = gr_rng_fork(42, 0, 0);
#define DRAW(n) gr_rng_below(&rng, (n))
    uint64_t expected = 0;
    for (unsigned round = 0; round < 20000; round++) {
        unsigned k = DRAW(N);
        uint32_t size = 1u << DRAW(5);
        uint64_t at = 16 * (uint64_t)DRAW(BYTES / 16), block = DRAW(4);
        at += size * (uint64_t)DRAW(16 / size);
        bool writes = DRAW(2);
        if (w[k].open) {
            shut(&g, k + 1);
            w[k].open = false;
        } else if (round % 3) {
            // A site of its own: an access is counted once for each that it races with.
            window(&g, k + 1, (Who){1, block, 0, 1, 10 + k}, writes ? WRITE : READ, at, size);
            w[k].at = at, w[k].size = size, w[k].block = block, w[k].open = true, w[k].writes = writes;
        } else {
            for (unsigned j = 0; j < N; j++)
                expected += w[j].open && w[j].block != block && (w[j].writes || writes) &&
                            at < w[j].at + w[j].size && w[j].at < at + size;
            touch(&g, (Who){1, block, 0, 1, 2}, writes ? WRITE : READ, at, size);
            assert_int_equal(g.counted, expected);
        }
    }
    assert_true(expected > 1000);
    end(&g, 1);
    assert_int_equal(peek_open(g.watch), 0);
    close_rig(&g);
}

static void launches_end_and_are_filtered(void **state) {
    (void)state;
    Rig g;
    open_rig(&g, false);
    launch(&g, 3, "unwanted");
    window(&g, 1, (Who){3, 0, 0, 1, 1}, WRITE, 0x1000, 4);
    assert_int_equal(peek_open(g.watch), 0);
    window(&g, 2, A, WRITE, 0x1000, 4);
    assert_int_equal(touch(&g, (Who){3, 1, 0, 1, 2}, WRITE, 0x1000, 4), 0);
    window(&g, 3, (Who){2, 0, 0, 1, 3}, WRITE, 0x2000, 4);
    end(&g, 1);
    assert_int_equal(peek_open(g.watch), 1);
    assert_int_equal(touch(&g, (Who){2, 1, 0, 1, 4}, WRITE, 0x1000, 4), 0);
    assert_int_equal(touch(&g, (Who){2, 1, 0, 1, 4}, WRITE, 0x2000, 4), 1);
    close_rig(&g);
}

// ---- Speculated loads --------------------------------------------------------------------------------------

static void speculated(Rig *g, Who w, uint64_t id, uint64_t at) {
    uint64_t address[32];
    steps(address, at, 4);
    VmWindowEvent e = {.id = id,
                       .opens = true,
                       .where = where(w),
                       .access = READ,
                       .space = PTX_GLOBAL,
                       .size = 4,
                       .address = address,
                       .speculated = true};
    e.where.stmt = &load_stmt;
    g->o.window(g->o.user, &e);
}

// The load's fate. It may itself meet windows that are open then.
static void settle(Rig *g, Who w, uint64_t at, uint32_t discards) {
    uint64_t address[32];
    steps(address, at, 4);
    VmAccessEvent e = {.where = where(w),
                       .access = READ,
                       .sem = PTX_WEAK,
                       .space = PTX_GLOBAL,
                       .size = 4,
                       .address = address,
                       .discards = discards};
    e.where.stmt = &load_stmt;
    g->o.access(g->o.user, &e);
}

static void speculated_loads_wait(void **state) {
    (void)state;
    Rig g;
    open_rig(&g, false);
    const Who two = {1, 0, 0, 3, 1};
    speculated(&g, two, 1, 0x1000);
    touch(&g, (Who){1, 1, 0, 3, 2}, WRITE, 0x1000, 4); // both lanes
    shut(&g, 1);
    assert_int_equal(g.counted, 0);
    settle(&g, (Who){1, 0, 1, 3, 1}, 0x1000, 3); // another warp's
    settle(&g, two, 0x1000, 1);                  // lane 0 throws it away
    assert_int_equal(g.counted, 1);
    assert_int_equal(g.last.side[1].thread[0], 1);
    settle(&g, two, 0x1000, 0);
    assert_int_equal(g.counted, 1);
    speculated(&g, two, 2, 0x1000);
    touch(&g, (Who){1, 1, 0, 3, 2}, WRITE, 0x1000, 4);
    end(&g, 1); // nobody will say
    settle(&g, two, 0x1000, 0);
    assert_int_equal(g.counted, 1);
    // As the other side: lanes that discard it are none.
    window(&g, 3, (Who){2, 1, 0, 3, 3}, WRITE, 0x2000, 4);
    settle(&g, (Who){2, 0, 0, 3, 1}, 0x2000, 1);
    assert_int_equal(g.counted, 2);
    assert_int_equal(g.last.side[0].thread[0], 1);
    close_rig(&g);
}

// ---- Asynchronous operations -------------------------------------------------------------------------------

typedef struct Op {
    Who who;
    uint64_t op, from, to; // from 0: registers
    uint32_t size;
    PtxAccess access;
    bool partial;
} Op;

static VmAsyncEvent op_event(const Op *o, VmAsyncKind kind, const uint64_t *address) {
    return (VmAsyncEvent){.where = where(o->who),
                          .kind = kind,
                          .op = o->op,
                          .access = kind == VM_ASYNC_READ ? READ : o->access,
                          .space = kind == VM_ASYNC_READ ? PTX_GLOBAL : PTX_SHARED,
                          .block = kind == VM_ASYNC_READ ? 0 : o->who.block,
                          .size = o->size,
                          .partial = o->partial,
                          .address = address};
}

static void async(Rig *g, const Op *o, VmAsyncKind kind) {
    uint64_t to[32], from[32];
    steps(to, o->to, o->size);
    steps(from, o->from, o->size);
    VmAsyncEvent e = op_event(o, kind, kind == VM_ASYNC_READ ? from : to);
    if (kind == VM_ASYNC_ISSUE && o->from) {
        e.source = from;
        e.source_space = PTX_GLOBAL;
    }
    g->o.async(g->o.user, &e);
}

static unsigned shared(Rig *g, Who w, PtxAccess access, PtxSem sem, uint64_t at) {
    return touch_in(g, w, access, sem, PTX_SHARED, w.block, at, 4);
}

static void operations_are_windows(void **state) {
    (void)state;
    Rig g;
    open_rig(&g, false);
    const Op o = {{1, 0, 0, 3, 1}, 1, 0x1000, 0x40, 4, WRITE, false};
    async(&g, &o, VM_ASYNC_ISSUE);
    assert_int_equal(peek_open(g.watch), 2);
    assert_int_equal(touch(&g, B, READ, 0x1000, 4), 0);  // both read
    assert_int_equal(touch(&g, B, WRITE, 0x1000, 4), 1); // its source
    assert_true(g.last.side[1].async);
    assert_int_equal(shared(&g, (Who){1, 0, 0, 1, 3}, READ, PTX_WEAK, 0x40), 1); // its own thread
    assert_string_equal(
        g.last.order,
        "no wait for the asynchronous operation (its group, or the mbarrier it completes on) between");
    assert_int_equal(shared(&g, (Who){1, 0, 1, 1, 4}, WRITE, PTX_RELAXED, 0x44), 1);
    assert_int_equal(shared(&g, (Who){1, 1, 1, 1, 4}, WRITE, PTX_RELAXED, 0x44), 0); // other memory
    // Lanes are done apart.
    Op first = o;
    first.who.mask = 1;
    async(&g, &first, VM_ASYNC_READ);
    uint64_t before = g.counted;
    touch(&g, B, WRITE, 0x1000, 4);
    assert_int_equal(g.counted, before);
    touch(&g, (Who){1, 1, 0, 2, 2}, WRITE, 0x1000, 4);
    assert_int_equal(g.counted, before + 1);
    async(&g, &first, VM_ASYNC_WRITE);
    shared(&g, (Who){1, 0, 1, 1, 3}, READ, PTX_WEAK, 0x40);
    assert_int_equal(g.counted, before + 1);
    first.who.mask = 2;
    async(&g, &first, VM_ASYNC_READ);
    async(&g, &first, VM_ASYNC_WRITE);
    assert_int_equal(peek_open(g.watch), 0);
    close_rig(&g);
}

static void operations_meet_windows(void **state) {
    (void)state;
    Rig g;
    open_rig(&g, false);
    const Op o = {{1, 0, 0, 1, 1}, 7, 0x1000, 0x40, 4, WRITE, false};
    window(&g, 1, B, WRITE, 0x1000, 4);
    window_in(&g, 2, (Who){1, 0, 0, 1, 3}, READ, PTX_SHARED, 0, 0x40, 4); // of the thread that started it
    async(&g, &o, VM_ASYNC_READ);
    assert_int_equal(g.found, 1);
    async(&g, &o, VM_ASYNC_WRITE);
    assert_int_equal(g.found, 2);
    // Two operations; but not two parts of one, nor two reductions, nor one whose bytes are not known.
    Op other = o;
    other.op = 8;
    other.from = 0;
    other.who.site = 4;
    async(&g, &other, VM_ASYNC_ISSUE);
    shut(&g, 2);
    async(&g, &other, VM_ASYNC_WRITE);
    assert_int_equal(g.found, 2);
    async(&g, &other, VM_ASYNC_ISSUE);
    async(&g, &o, VM_ASYNC_WRITE);
    assert_int_equal(g.found, 3);
    async(&g, &other, VM_ASYNC_WRITE);
    other.access = RMW;
    async(&g, &other, VM_ASYNC_ISSUE);
    Op reduces = other;
    reduces.op = 9;
    async(&g, &reduces, VM_ASYNC_WRITE);
    assert_int_equal(shared(&g, (Who){1, 0, 1, 1, 5}, RMW, PTX_RELAXED, 0x40), 0);
    assert_int_equal(g.found, 3);
    assert_int_equal(shared(&g, (Who){1, 0, 1, 1, 5}, READ, PTX_WEAK, 0x40), 1);
    async(&g, &other, VM_ASYNC_WRITE);
    other.access = WRITE;
    other.partial = true;
    async(&g, &other, VM_ASYNC_ISSUE);
    assert_int_equal(shared(&g, (Who){1, 0, 1, 1, 6}, READ, PTX_WEAK, 0x40), 0);
    async(&g, &other, VM_ASYNC_WRITE);
    close_rig(&g);
}

// Lanes read what they are told to, which may be less than they write.
static void short_sources(void **state) {
    (void)state;
    Rig g;
    open_rig(&g, false);
    uint64_t to[32], from[32];
    static const uint8_t bytes[32] = {8, 16, 0};
    steps(to, 0x100, 16);
    steps(from, 0x1000, 16);
    const Op o = {{1, 0, 0, 7, 1}, 1, 0x1000, 0x100, 16, WRITE, false};
    VmAsyncEvent e = op_event(&o, VM_ASYNC_ISSUE, to);
    e.source = from;
    e.source_space = PTX_GLOBAL;
    e.source_bytes = bytes;
    g.o.async(g.o.user, &e);
    assert_int_equal(touch(&g, B, WRITE, 0x1008, 8), 0);
    assert_int_equal(touch(&g, B, WRITE, 0x1020, 8), 0);
    assert_int_equal(touch(&g, B, WRITE, 0x1018, 8), 1);
    close_rig(&g);
}

// ---- Copies and the host -----------------------------------------------------------------------------------

static void copies(void **state) {
    (void)state;
    Rig g;
    open_rig(&g, false);
    const GrBox from = {0x1000, 8, 2, 2, 0x20, 0x100}, to = {0x9000, 32, 1, 1, 0, 0}, none = {0};
    window(&g, 1, A, WRITE, 0x1128, 4); // behind the end of the last row
    window(&g, 2, (Who){1, 0, 0, 1, 2}, WRITE, 0x1124, 4);
    window(&g, 3, (Who){1, 0, 0, 1, 3}, READ, 0x1000, 4);
    gr_watchpoints_submitted(g.watch);
    assert_true(g.pending);
    gr_watchpoints_copy_begins(g.watch, 5, 77, false, &from, &to);
    assert_int_equal(g.found, 1);
    assert_int_equal(g.last.side[0].call, 77);
    assert_int_equal(g.last.side[0].by, RACE_BY_COPY);
    assert_int_equal(g.last.side[0].access, READ);
    assert_int_equal(g.last.side[1].site, 2);
    assert_int_equal(g.last.overlap, 0x1124);
    shut(&g, 1), shut(&g, 2), shut(&g, 3);
    assert_int_equal(g.o.interest[1], 1);
    assert_int_equal(touch(&g, B, READ, 0x1020, 4), 0);
    assert_int_equal(touch(&g, B, WRITE, 0x1008, 4), 0); // between rows
    assert_int_equal(touch(&g, B, WRITE, 0x1020, 4), 1);
    assert_int_equal(touch(&g, B, READ, 0x901c, 4), 1);
    assert_int_equal(g.last.side[1].access, WRITE);
    assert_int_equal(touch(&g, B, READ, 0x9020, 4), 0);
    // A memset meets the copy.
    const GrBox fill = {0x9010, 4, 1, 1, 0, 0};
    gr_watchpoints_submitted(g.watch);
    gr_watchpoints_copy_begins(g.watch, 6, 0, true, &none, &fill);
    assert_int_equal(g.last.side[0].by, RACE_BY_FILL);
    assert_int_equal(g.last.side[1].by, RACE_BY_COPY);
    assert_int_equal(g.last.side[1].call, 77);
    assert_int_equal(g.last.class, RACE_WRITE_WRITE);
    unsigned found = g.found;
    gr_watchpoints_ended(g.watch, 5);
    gr_watchpoints_ended(g.watch, 6);
    assert_false(g.pending);
    assert_int_equal(g.o.interest[1], 0);
    assert_int_equal(touch(&g, B, WRITE, 0x9000, 4), 0);
    assert_int_equal(g.found, found);
    close_rig(&g);
}

static void large_copies(void **state) {
    (void)state;
    Rig g;
    open_rig(&g, false);
    for (uint64_t k = 0; k < 100; k++)
        window(&g, k + 1, (Who){1, k, 0, UINT32_MAX, 10 + (uint32_t)k}, READ, 0x100000 + k * 4096, 4);
    const GrBox from = {0x7000000, 1 << 20, 1, 1, 0, 0}, to = {0x100000, 1 << 20, 1, 1, 0, 0};
    gr_watchpoints_submitted(g.watch);
    gr_watchpoints_copy_begins(g.watch, 1, 0, false, &from, &to);
    assert_int_equal(g.found, 100); // one copy met every window, of 32 lanes each
    assert_int_equal(g.counted, 100);
    close_rig(&g);
}

static void the_host(void **state) {
    (void)state;
    Rig g;
    open_rig(&g, false);
    GrHostTouch reads = {0x1000, 4, 0x400123, READ, true, 1}, writes = {0x1000, 4, 0x400456, WRITE, true, 1};
    window(&g, 1, A, WRITE, 0x1000, 4);
    gr_watchpoints_host_touched(g.watch, &reads);
    assert_int_equal(g.found, 1);
    assert_int_equal(g.last.side[0].by, RACE_BY_HOST);
    assert_int_equal(g.last.side[0].pc, 0x400123);
    assert_true(strstr(g.last.order, "the host did not wait for the launch") != NULL);
    gr_watchpoints_host_touched(g.watch, &writes);
    assert_int_equal(g.found, 2);
    assert_int_equal(g.last.class, RACE_WRITE_WRITE);
    shut(&g, 1);
    window(&g, 2, B, READ, 0x1000, 4);
    gr_watchpoints_host_touched(g.watch, &reads);
    assert_int_equal(g.found, 2);
    gr_watchpoints_host_touched(g.watch, &writes);
    assert_int_equal(g.found, 3);
    shut(&g, 2);
    gr_watchpoints_host_touched(g.watch, &writes);
    const GrBox from = {0x1000, 4, 1, 1, 0, 0}, to = {0x2000, 4, 1, 1, 0, 0};
    gr_watchpoints_submitted(g.watch);
    gr_watchpoints_copy_begins(g.watch, 1, 0, false, &from, &to);
    gr_watchpoints_host_touched(g.watch, &reads);
    assert_int_equal(g.found, 3);
    gr_watchpoints_host_touched(g.watch, &writes);
    assert_int_equal(g.found, 4);
    assert_true(strstr(g.last.order, "the host did not wait for the copy") != NULL);
    close_rig(&g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open_windows_are_met),
        cmocka_unit_test(pairs_are_counted),
        cmocka_unit_test(overlap_is_exact),
        cmocka_unit_test(unused_bytes_do_not_race),
        cmocka_unit_test(own_accesses_do_not_race),
        cmocka_unit_test(spaces_and_owners),
        cmocka_unit_test(strength_and_classes),
        cmocka_unit_test(same_values),
        cmocka_unit_test(many_windows),
        cmocka_unit_test(launches_end_and_are_filtered),
        cmocka_unit_test(speculated_loads_wait),
        cmocka_unit_test(operations_are_windows),
        cmocka_unit_test(operations_meet_windows),
        cmocka_unit_test(short_sources),
        cmocka_unit_test(copies),
        cmocka_unit_test(large_copies),
        cmocka_unit_test(the_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
