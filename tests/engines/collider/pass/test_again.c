// SPDX-License-Identifier: Apache-2.0
// test_again — what the windows of a GPU see besides a change that is there when their wait is over: loads that later
// windows look at again (collider_again.h), what happens during a wait (collider_look.h), and garbage that is
// overwritten (collider_poison.h).
#include "../../../vm/harness.h"
#include "rewritten.h"

#include "engines/collider/device/record.h"
#include "engines/collider/pass/collider_look.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SITES = 48, LANES = 32 };

// %g and %s: a lane's word in global and in shared memory; %o: the byte offset of the other lane of its pair from
// there. %x is not 0.
static const char head[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                           ".visible .global .b32 looks;\n.visible .entry k(.param .u64 out) {\n"
                           ".reg .pred %p<8>; .reg .b32 %r<16>, %s, %t, %x; .reg .b64 %d<8>, %g, %h; .shared "
                           ".align 16 .b8 s[4096];\n"
                           "mov.u32 %t, %tid.x; add.u32 %x, %t, 100; ld.param.u64 %h, [out]; mul.wide.u32 "
                           "%d0, %t, 4; add.s64 %g, %h, %d0;\n"
                           "mov.u32 %s, s; shl.b32 %r0, %t, 2; add.u32 %s, %s, %r0; xor.b32 %r0, %t, 1; "
                           "mul.wide.u32 %d0, %r0, 4; add.s64 "
                           "%h, %h, %d0;\n";

typedef struct Found {
    uint64_t of[SITES][GR_CLASS_COUNT];
    uint64_t all;
    uint32_t looks;  // of all threads and windows
    uint64_t stored; // what the first lost update of the first site had stored
    uint32_t out;    // the kernel's first word of global memory
} Found;

// Runs `body`, as a GPU executes it, in a block of so many threads.
static Found run(const char *body, uint32_t threads, uint32_t seed, uint32_t delay, bool poison) {
    StrBuf program = {0}, text = {0};
    ColliderOptions o = {.seed = seed,
                         .read_delay_ns = delay,
                         .write_delay_ns = delay,
                         .thinned = true,
                         .poison = poison,
                         .holds = poison,
                         .suffix = ""};
    gr_str_addf(&program, "%s%s ret; }\n", head, body);
    gr_test_rewrite(program.data, &o, SITES - 1, &text);
    StrBuf counted = {0};
    const char *kernel = strstr(text.data, ".entry k("); // what it calls stands before it
    assert_non_null(kernel);
    gr_str_addn(&counted, text.data, (size_t)(kernel - text.data));
    for (const char *line = kernel, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        const char *look = strstr(line, "ld.relaxed.sys");
        if (look && look < end)
            gr_str_add(&counted, "red.global.add.u32 [looks], 1;\n");
        gr_str_addn(&counted, line, (size_t)(end + 1 - line));
    }
    Rig r;
    VmConfig c = {.seed = seed};
    uint64_t at, size, out, slots;
    bool managed;
    rig_open(&r, counted.data, &c);
    out = rig_alloc(&r, 4096);
    slots = rig_alloc(&r, (SITES + 1) * GR_CLASS_COUNT * sizeof(GrSlot));
    GrControl control = {.slots = slots, .n_sites = SITES};
    assert_true(gr_vm_module_global(r.mod, "__gr_control", &at, &size, &managed));
    memcpy(rig_view(&r, at, sizeof control), &control, sizeof control);
    if (RIG_RUN(&r, "k", 1, threads, out) != VM_FAULT_NONE)
        fail_msg("%s: %s", body, r.fault.msg);
    Found f = {.all = 0};
    const GrSlot *s = rig_view(&r, slots, (SITES + 1) * GR_CLASS_COUNT * sizeof(GrSlot));
    for (unsigned k = 0; k < SITES; k++)
        for (unsigned x = 0; x < GR_CLASS_COUNT; x++)
            f.all += f.of[k][x] = s[k * GR_CLASS_COUNT + x].count;
    memcpy(&f.stored, s[GR_CLASS_COUNT + GR_CLASS_LOST_UPDATE].expected, sizeof f.stored);
    assert_true(gr_vm_module_global(r.mod, "looks", &at, &size, &managed));
    memcpy(&f.looks, rig_view(&r, at, 4), 4);
    memcpy(&f.out, rig_view(&r, out, 4), 4);
    rig_close(&r);
    gr_str_free(&program);
    gr_str_free(&text);
    gr_str_free(&counted);
    return f;
}

// What one warp does in step: each lane loads its neighbour's word, and then something happens.
typedef struct Case {
    const char *what, *body;
    bool races; // at the load, which is the first site
} Case;

#define LOADS "ld.global.u32 %r1, [%h]; "

static const Case cases[] = {
    {"the neighbour stores", LOADS "st.global.u32 [%g], %x;", true},
    {"in shared memory", "ld.shared.u32 %r1, [%s]; st.shared.u32 [%s+4], %x;", true},
    {"some other store comes first", LOADS "st.shared.u32 [%s], %x; st.global.u32 [%g], %x;", true},
    {"another load comes between",
     LOADS "ld.shared.u32 %r2, [%s]; st.shared.u32 [%s], %x; st.global.u32 [%g], %x;", true},
    {"the thread goes on behind a branch",
     LOADS "setp.eq.u32 %p1, %r1, 77; @%p1 bra E; st.global.u32 [%g], %x; E:", true},
    {"the neighbour adds, and stores elsewhere", LOADS "red.global.add.u32 [%g], 1; st.shared.u32 [%s], %x;",
     true},
    {"part of the word is stored", LOADS "st.global.u8 [%g+3], %x;", true},
    {"the next word is stored", LOADS "st.global.u32 [%g+128], %x;", false},
    {"a vector holds the word",
     "and.b32 %r3, %t, 1; mul.wide.u32 %d2, %r3, 4; sub.s64 %d2, %g, %d2; ld.global.v2.u32 {%r1, %r2}, "
     "[%d2]; xor.b32 %r4, %t, 2; "
     "mul.wide.u32 %d3, %r4, 4; add.s64 %d3, %h, %d3; sub.s64 %d3, %d3, %d0; st.global.u32 [%d3], %x;",
     true},
    {"a vector holds the word that the thread stores",
     "and.b32 %r3, %t, 1; mul.wide.u32 %d2, %r3, 4; sub.s64 %d2, %g, %d2; ld.global.v2.u32 {%r1, %r2}, "
     "[%d2]; st.global.u32 [%g], %x;",
     false},
    {"the thread itself stores", LOADS "st.global.u32 [%h], %x; st.shared.u32 [%s], %x;", false},
    {"a byte of it", LOADS "st.global.u8 [%h+1], %x; st.shared.u32 [%s], %x;", false},
    {"the thread itself adds", LOADS "red.global.add.u32 [%h], 1; st.shared.u32 [%s], %x;", false},
    {"the thread itself swaps", LOADS "atom.global.exch.b32 %r3, [%h], %x; st.shared.u32 [%s], %x;", false},
    {"the thread itself stores strongly", LOADS "st.volatile.global.u32 [%h], %x; st.shared.u32 [%s], %x;",
     false},
    {"the warp is synchronized", LOADS "bar.warp.sync 0xffffffff; st.global.u32 [%g], %x;", false},
    {"the block is synchronized", LOADS "bar.sync 0; st.global.u32 [%g], %x;", false},
    {"a fence comes between",
     LOADS "fence.acq_rel.gpu; st.volatile.global.u32 [%g], %x; st.shared.u32 [%s], %x;", false},
    {"the loaded register is changed",
     LOADS "st.shared.u32 [%s], %x; add.u32 %r1, %r1, 1; st.shared.u32 [%s], %x;", false},
    {"the address is changed", LOADS "st.shared.u32 [%s], %x; add.s64 %h, %h, 128; st.shared.u32 [%s], %x;",
     false},
    {"the thread may come from elsewhere",
     "setp.eq.u32 %p1, %t, 77; @%p1 bra M; " LOADS "M: st.global.u32 [%g], %x;", false},
    {"the thread itself stores by a generic address",
     LOADS "cvta.global.u64 %d1, %h; st.u32 [%d1], %x; st.shared.u32 [%s], %x;", false},
    {"the thread itself stores by an address of its cluster",
     "ld.shared.u32 %r1, [%s]; mapa.shared::cluster.u32 %r2, %s, 0; st.shared::cluster.u32 [%r2], %x; "
     "st.shared.u32 [%s+2048], %x;",
     false},
};

// Whether threads keep what they access in a kernel's first launch.
static bool keeps(uint32_t seed) {
    static const WaitKind kinds[WAIT_CYCLE] = WAIT_KINDS;
    return kinds[seed % WAIT_CYCLE].watches;
}

static void loads_are_looked_at_again(void **state) {
    (void)state;
    for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++)
        for (uint32_t seed = 1; seed < 10; seed++) {
            if (keeps(seed))
                continue;
            Found f = run(cases[k].body, LANES, seed, 5000, seed % 2);
            if ((f.of[1][GR_CLASS_CLOBBERED_READ] != 0) != cases[k].races ||
                f.all != f.of[1][GR_CLASS_CLOBBERED_READ])
                fail_msg("%s, seed %u: %llu reports, %llu of the load", cases[k].what, seed,
                         (unsigned long long)f.all, (unsigned long long)f.of[1][GR_CLASS_CLOBBERED_READ]);
        }
}

#define WHILE "nanosleep.u32 6000; nanosleep.u32 6000; nanosleep.u32 6000; "

// Two warps: the first one accesses what the second one accesses much later, when all of the first one's windows are
// shut.
#define LATER(first, second)                                                                                 \
    "sub.s64 %d1, %g, 128; setp.ge.u32 %p1, %t, 32; @%p1 bra SECOND; " first                                 \
    " bra.uni E; SECOND: " WHILE WHILE second " E: "

// A loop; %r3 counts, and %p2 tells whether there is another round.
#define ROUNDS(times) "mov.u32 %r3, 0; L: add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, " times "; "

// One that no thread issues.
#define BULK                                                                                                 \
    "setp.eq.u32 %p3, %t, 99; mov.u32 %r5, s; @%p3 cp.async.bulk.shared::cluster.global.mbarrier::"          \
    "complete_tx::bytes [%r5], [%h], 16, [%r5];"

static const Case segments[] = {
    {"a store behind a load", LATER("ld.global.u32 %r1, [%g];", "st.global.u32 [%d1], %x;"), true},
    {"the segment ends at a barrier",
     LATER("ld.global.u32 %r1, [%g];", "st.global.u32 [%d1], %x;") "bar.sync 0;", true},
    {"in shared memory", LATER("ld.shared.u32 %r1, [%s];", "st.shared.u32 [%s+-128], %x;") "bar.sync 0;",
     true},
    {"by generic addresses", LATER("cvta.global.u64 %d2, %g; ld.u32 %r1, [%d2];", "st.global.u32 [%d1], %x;"),
     true},
    {"an atomic operation", LATER("ld.global.u32 %r1, [%g];", "red.global.add.u32 [%d1], 1;"), true},
    {"64 bits",
     LATER("and.b32 %r3, %t, 1; mul.wide.u32 %d2, %r3, 4; sub.s64 %d2, %g, %d2; ld.global.u64 %d3, [%d2];",
           "st.global.u32 [%d1], %x;"),
     true},
    {"a store behind a branch",
     LATER("ld.global.u32 %r1, [%g]; setp.eq.u32 %p2, %r1, 77; @%p2 bra E; st.shared.u32 [%s], %x;",
           "st.global.u32 [%d1], %x;"),
     true},
    {"a shuffle orders nothing",
     LATER("ld.global.u32 %r1, [%g]; shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;", "st.global.u32 [%d1], %x;"),
     true},
    {"a load behind a store", LATER("", "ld.global.u32 %r1, [%d1];") "bar.sync 0;", false},
    {"a barrier comes between",
     LATER("ld.global.u32 %r1, [%g];", "") "bar.sync 0; @%p1 st.global.u32 [%d1], %x;", false},
    {"a fence comes between",
     LATER("ld.global.u32 %r1, [%g]; fence.acq_rel.gpu;", "st.global.u32 [%d1], %x;"), false},
    {"a release comes between",
     LATER("ld.global.u32 %r1, [%g]; st.release.gpu.global.u32 [%h], 7;", "st.global.u32 [%d1], %x;"), false},
    {"the warp is synchronized",
     LATER("ld.global.u32 %r1, [%g]; bar.warp.sync 0xffffffff;", "st.global.u32 [%d1], %x;"), false},
    {"the thread itself stores", LATER("ld.global.u32 %r1, [%g]; st.global.u32 [%g], %x;", ""), false},
    {"a byte of it", LATER("ld.global.u32 %r1, [%g]; st.global.u8 [%g+1], %x;", ""), false},
    {"the thread itself adds", LATER("ld.global.u32 %r1, [%g]; red.global.add.u32 [%g], 1;", ""), false},
    {"under a guard",
     LATER("ld.global.u32 %r1, [%g]; setp.ne.u32 %p2, %t, 3; @%p2 st.global.u32 [%g], %x;", ""), false},
    {"by a generic address", LATER("ld.global.u32 %r1, [%g]; cvta.global.u64 %d2, %g; st.u32 [%d2], %x;", ""),
     false},
    {"by an asynchronous copy",
     LATER("ld.shared.u32 %r1, [%s]; cp.async.ca.shared.global [%s], [%g], 4; cp.async.wait_all;", ""),
     false},
    {"a matrix is stored",
     LATER("ld.shared.u32 %r1, [%s]; and.b32 %r4, %t, 7; shl.b32 %r4, %r4, 4; mov.u32 %r2, s; add.u32 %r2, "
           "%r2, %r4; stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r2], {%x};",
           ""),
     false},
    {"the value is used behind a branch",
     LATER("ld.global.u32 %r1, [%g]; setp.eq.u32 %p2, %t, 3; @%p2 bra E; st.global.u32 [%g+1024], %r1;",
           "st.global.u32 [%d1], %x;"),
     true},
    {"the value is thrown away there",
     LATER("ld.global.u32 %r1, [%g]; setp.ne.u32 %p2, %x, 0; @%p2 bra E; st.global.u32 [%g+1024], %r1;",
           "st.global.u32 [%d1], %x;"),
     false},
    {"only the value of the next round is used",
     LATER("mov.u32 %r3, 0; mov.b64 %d2, %g; L: ld.global.u32 %r1, [%d2]; add.s64 %d2, %d2, 1024; add.u32 "
           "%r3, %r3, 1; setp.lt.u32 %p2, %r3, 2; @%p2 bra L; st.global.u32 [%g+2048], %r1;",
           "st.global.u32 [%d1], %x;"),
     false},
    {"the value of the next round changes",
     LATER("mov.u32 %r3, 0; mov.b64 %d2, %g; L: ld.global.u32 %r1, [%d2]; add.s64 %d2, %d2, 1024; add.u32 "
           "%r3, %r3, 1; setp.lt.u32 %p2, %r3, 2; @%p2 bra L; st.global.u32 [%g+2048], %r1;",
           "st.global.u32 [%d1+1024], %x;"),
     true},
    {"the thread stores elsewhere so often that windows stay shut",
     LATER("ld.global.u32 %r1, [%g];" ROUNDS("12") "st.shared.u8 [%s], %r3; @%p2 bra L;",
           "st.global.u32 [%d1], %x;"),
     true},
    {"so often there",
     LATER("ld.global.u32 %r1, [%g];" ROUNDS("12") "st.global.u8 [%g], %r3; @%p2 bra L;", ""), false},
    {"a matrix of which nobody knows which lane loads what",
     LATER("mov.u32 %r0, s; wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 "
           "{%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%r0];",
           "st.shared.u32 [%s+-128], %x;"),
     true},
    {"a matrix, and a barrier behind it",
     LATER("mov.u32 %r0, s; wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 "
           "{%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%r0];",
           "") "bar.sync 0; @%p1 st.shared.u32 [%s+-128], %x;",
     false},
    {"the kernel has a bulk copy to a cluster's shared memory",
     LATER("ld.shared.u32 %r1, [%s];", "st.shared.u32 [%s+-128], %x;") BULK, true},
    {"another block's memory",
     LATER("mapa.shared::cluster.u32 %r2, %s, 0; ld.shared::cluster.u32 %r1, [%r2];",
           "st.shared.u32 [%s+-128], %x;"),
     true},
    {"the thread itself stores there by its block's address",
     LATER("mapa.shared::cluster.u32 %r2, %s, 0; ld.shared::cluster.u32 %r1, [%r2]; st.shared.u32 [%s], %x;",
           ""),
     false},
};

static void segments_are_watched_to_their_ends(void **state) {
    (void)state;
    for (unsigned k = 0; k < sizeof segments / sizeof *segments; k++)
        for (uint32_t seed = 1; seed < 10; seed++) {
            if (!keeps(seed))
                continue;
            Found f = run(segments[k].body, 2 * LANES, seed, 20000, false);
            if ((f.of[1][GR_CLASS_CLOBBERED_READ] != 0) != segments[k].races ||
                f.all != f.of[1][GR_CLASS_CLOBBERED_READ])
                fail_msg("%s, seed %u: %llu reports, %llu of the load", segments[k].what, seed,
                         (unsigned long long)f.all, (unsigned long long)f.of[1][GR_CLASS_CLOBBERED_READ]);
        }
}

// One warp looks behind several accesses, another one stores at once: that shows where the other one begins late, at
// the kernel's beginning or behind a barrier. What shows where a warp is late that has to be later than others is seen
// in those kinds alone.
static void warps_that_begin_late_show(void **state) {
#define OFTEN "ld.shared.u32 %r1, [%s]; xor.b32 %s, %s, 4; "
#define BEHIND_MANY                                                                                          \
    "sub.s64 %d1, %g, 128; setp.ge.u32 %p1, %t, 32; @%p1 bra SECOND; " OFTEN OFTEN OFTEN OFTEN OFTEN OFTEN   \
        OFTEN OFTEN "ld.global.u32 %r2, [%g]; bra.uni E; SECOND: st.global.u32 [%d1], %x; E: "
#define BARRIERS "bar.sync 0; bar.sync 0; bar.sync 0; bar.sync 0; "
#define ROUND                                                                                                \
    OFTEN OFTEN OFTEN OFTEN OFTEN OFTEN OFTEN OFTEN OFTEN OFTEN OFTEN OFTEN OFTEN OFTEN OFTEN OFTEN          \
        "bar.sync 0; "
    static const WaitKind kinds[WAIT_CYCLE] = WAIT_KINDS;
    static const struct {
        const char *what;
        GrLateStarts late;
        unsigned threads;
        const char *body;
    } bodies[] = {
        {"at the beginning", GR_LATE_WARPS, 64, BEHIND_MANY},
        {"behind a barrier", GR_LATE_WARPS, 64, "bar.sync 0; " BEHIND_MANY "bar.sync 0;"},
        {"behind the eighth", GR_LATE_WARPS, 64, BARRIERS BARRIERS BEHIND_MANY "bar.sync 0;"},
        {"when the thread has kept many words", GR_LATE_WARPS, 64, ROUND ROUND BEHIND_MANY "bar.sync 0;"},
        {"pairs of warps", GR_LATE_BLOCKS, 128,
         "setp.ge.u32 %p1, %t, 64; @%p1 bra SECOND; " OFTEN
         "bar.sync 1, 64; ld.global.u32 %r2, [%g+256]; bra.uni E; SECOND: bar.sync 2, 64; "
         "st.global.u32 [%g], %x; E:"},
        {"one warp of four", GR_LATE_FOURTH, 128,
         "shr.u32 %r3, %t, 5; setp.eq.u32 %p1, %r3, 1; @%p1 bra SECOND; " OFTEN
         "bar.sync 1, 96; setp.ne.u32 %p2, %r3, 3; @%p2 bra E; ld.global.u32 %r2, [%g+-256]; bra.uni E; "
         "SECOND: st.global.u32 [%g], %x; E:"},
    };
    (void)state;
    for (unsigned k = 0; k < sizeof bodies / sizeof *bodies; k++) {
        unsigned shown = 0, runs = 0;
        for (uint32_t seed = 1; seed < (SANITIZED ? 30 : 100); seed++) {
            GrLateStarts late = kinds[seed % WAIT_CYCLE].late;
            if (late != bodies[k].late && late != GR_LATE_NONE)
                continue;
            Found f = run(bodies[k].body, bodies[k].threads, seed, 20000, false);
            if (late == GR_LATE_NONE && f.all)
                fail_msg("%s, seed %u: %llu reports", bodies[k].what, seed, (unsigned long long)f.all);
            runs += late != GR_LATE_NONE;
            shown += f.all != 0;
        }
        if (!shown || shown < runs / 8 || shown > runs * 7 / 8)
            fail_msg("%s: seen in %u of %u runs", bodies[k].what, shown, runs);
    }
}

// A store that is late shows even to a load behind it: in one case of two.
static void late_stores_show(void **state) {
    static const char body[] =
        LATER("st.shared.u32 [%s], %x;", "ld.shared.u32 %r1, [%s+-128];") "bar.sync 0;";
    unsigned shown = 0, runs = 0;
    (void)state;
    for (uint32_t seed = 1; seed < 60; seed++) {
        Found f = run(body, 2 * LANES, seed, 200, true);
        if (!keeps(seed))
            continue;
        runs++;
        shown += f.of[2][GR_CLASS_CLOBBERED_READ] != 0;
    }
    assert_in_range(shown, runs / 5, runs * 4 / 5);
}

// What is in shared memory before is turned in the launches in which threads keep what they access, and only where
// values alone are looked at.
static void what_is_left_in_shared_memory_is_turned(void **state) {
    (void)state;
    for (uint32_t seed = 1; seed < 10; seed++)
        for (unsigned poison = 0; poison < 2; poison++) {
            Found f = run("ld.shared.u32 %r1, [s+4092]; st.global.u32 [%g], %r1;", LANES, seed, 5000, poison);
            assert_int_equal(f.out, keeps(seed) && poison);
            assert_int_equal(f.all, 0);
        }
}

// Without waits nothing is looked at again: the code is to be fast.
static void not_without_waits(void **state) {
    (void)state;
    assert_int_equal(run(cases[0].body, LANES, 1, 1, true).all, 0);
}

// A long wait has many looks, and a short one has one, behind which nothing is left of the wait.
static void looks_of_a_wait(void **state) {
    (void)state;
    for (uint32_t seed = 1; seed < 11; seed++) {
        uint32_t n = run("ld.global.u32 %r1, [%g];", LANES, seed, 50000000, false).looks / LANES;
        assert_in_range(n, LOOK_MOST / 2, LOOK_MOST + 1);
        assert_int_equal(run("ld.global.u32 %r1, [%g];", LANES, seed, LOOK_NS, false).looks, LANES);
    }
}

// So has that of a matrix, in which the warp looks together.
static void looks_at_a_matrix(void **state) {
    (void)state;
    for (uint32_t seed = 1; seed < 11; seed++) {
        uint32_t n = run("and.b32 %r4, %t, 7; shl.b32 %r4, %r4, 4; mov.u32 %r2, s; add.u32 %r2, %r2, %r4; "
                         "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r2];",
                         LANES, seed, 50000000, false)
                         .looks /
                     LANES;
        assert_in_range(n, LOOK_MOST / 2, LOOK_MOST + 2);
    }
}

// The second warp stores 77 all the time: the first one sees it where its own garbage was, and says what it had stored.
static void garbage_is_overwritten(void **state) {
    (void)state;
    unsigned garbage = 0;
    for (uint32_t seed = 1; seed < 11; seed++) {
        Found f =
            run("setp.ge.u32 %p1, %t, 32; @%p1 bra OTHER; mov.u32 %r1, 5; st.shared.u32 [s], %r1; bra E;\n"
                "OTHER: mov.u32 %r3, 0;\n"
                "L: st.volatile.shared.u32 [s], 77; nanosleep.u32 100; add.u32 %r3, %r3, 1; setp.lt.u32 %p2, "
                "%r3, "
                "500; @%p2 bra L; E:",
                2 * LANES, seed, 5000, true);
        assert_true(!f.of[1][GR_CLASS_LOST_UPDATE] || f.stored == 4 || f.stored == 5);
        garbage += f.stored == 4;
    }
    assert_in_range(garbage, 1, 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_are_looked_at_again),
        cmocka_unit_test(segments_are_watched_to_their_ends),
        cmocka_unit_test(warps_that_begin_late_show),
        cmocka_unit_test(late_stores_show),
        cmocka_unit_test(what_is_left_in_shared_memory_is_turned),
        cmocka_unit_test(not_without_waits),
        cmocka_unit_test(looks_of_a_wait),
        cmocka_unit_test(looks_at_a_matrix),
        cmocka_unit_test(garbage_is_overwritten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
