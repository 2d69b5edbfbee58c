// SPDX-License-Identifier: Apache-2.0
// test_blocks — progress, order, residency, barriers, time: EM-1 to EM-10 and EM-23 to EM-32 of
// docs/execution-model.md.
#include "harness.h"
#include "vm/core/launch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define KERNEL(name) ".visible .entry " name "(.param .u64 out) {\n"
#define REGS         ".reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>;\n"
// %rd1 the buffer, %r1 the thread in the block, %r2 the block, %rd2 the block's word.
#define PROLOGUE                                                                                             \
    REGS "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mul.wide.u32 %rd3, %r2, 4;"  \
         "add.s64 %rd2, %rd1, %rd3;\n"

static const uint32_t *words(Rig *r, uint64_t at, unsigned n) { return rig_view(r, at, n * 4u); }

// A racy kernel with barriers, divergence, atomics and sleep: everything that is drawn from the seed.
static const char busy[] =
    KERNEL("k") PROLOGUE ".shared .b32 s[64]; mov.u32 %r3, s; and.b32 %r4, %r1, 63; shl.b32 %r4, %r4, 2; "
                         "add.u32 %r3, %r3, %r4; mov.u32 %r5, 0;"
                         "L: ld.shared.u32 %r6, [%r3]; add.u32 %r6, %r6, %r1; st.shared.u32 [%r3], %r6; "
                         "and.b32 %r7, %r1, 7; setp.lt.u32 %p1, %r7, 3;"
                         "@%p1 bra SKIP; atom.global.add.u32 %r8, [%rd1+4096], %r6; mad.lo.u32 %r6, %r6, 3, "
                         "%r8; st.shared.u32 [%r3], %r6; nanosleep.u32 50;"
                         "SKIP: bar.sync 0; add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 10; @%p2 bra L;"
                         "ld.global.u32 %r9, [%rd2]; xor.b32 %r9, %r9, %r6; add.u32 %r9, %r9, %r2; "
                         "st.global.u32 [%rd2], %r9; ret; }";

typedef struct Outcome {
    uint64_t events, memory, ns, instructions;
} Outcome;

static Outcome run_busy(uint64_t seed, uint64_t budget, bool listen, bool warm_up) {
    Rig r;
    Ear ear = {0};
    VmConfig c = {.seed = seed, .split_one_in = 50};
    rig_open(&r, busy, &c);
    uint64_t out = rig_alloc(&r, 8192);
    if (warm_up) { // another launch before, with another number
        r.launches = 5;
        RIG_RUN(&r, "k", 3, 96, out);
        r.launches = 0;
        memset(rig_view(&r, out, 8192), 0, 8192);
    }
    if (listen)
        rig_listen(&r, &ear);
    VmLaunch *l = rig_start(&r, "k", (Dims){20, 128, 0}, 1, &out);
    rig_drain(&r, budget);
    assert_null(gr_vm_launch_fault(l));
    Outcome o = {ear.hash, gr_hash_bytes(rig_view(&r, out, 8192), 8192), l->end_ns - l->start_ns,
                 l->instructions};
    gr_vm_launch_free(l);
    rig_close(&r);
    return o;
}

// EM-1
static void works_only_when_run(void **state) {
    (void)state;
    Rig r;
    rig_open(&r, KERNEL("k") PROLOGUE "st.global.u32 [%rd2], 1; ret; }", NULL);
    uint64_t out = rig_alloc(&r, 4096);
    assert_int_equal(gr_vm_run(r.dev, 1000), VM_RUN_IDLE);
    VmLaunch *l = rig_start(&r, "k", (Dims){4, 32, 0}, 1, &out);
    assert_false(gr_vm_launch_done(l));
    assert_int_equal(words(&r, out, 4)[0], 0);
    assert_int_equal(gr_vm_run(r.dev, 1000000), VM_RUN_ENDED);
    assert_true(gr_vm_launch_done(l));
    assert_int_equal(words(&r, out, 4)[3], 1);
    gr_vm_launch_free(l);
    rig_close(&r);
}

// EM-2, EM-3, EM-49
static void same_seed_same_execution(void **state) {
    (void)state;
    Outcome a = run_busy(1, 1000000, true, false), b = run_busy(1, 1, true, false),
            quiet = run_busy(1, 999, false, false);
    assert_memory_equal(&a, &b, sizeof a);
    assert_int_equal(a.memory, quiet.memory);
    assert_int_equal(a.ns, quiet.ns);
    assert_int_equal(a.instructions, quiet.instructions);
    Outcome warm = run_busy(1, 77, true, true);
    assert_memory_equal(&warm, &a, sizeof a);
    warm = run_busy(1, 77, false, true);
    assert_int_equal(warm.memory, a.memory);
    unsigned different = 0;
    for (uint64_t seed = 2; seed < 12; seed++) {
        Outcome o = run_busy(seed, 100000, true, false);
        different += o.events != a.events && o.memory != a.memory;
    }
    assert_int_equal(different, 10);
}

// Store buffering: with sequential consistency never both read 0, and every other outcome occurs.
// EM-4
static void sequentially_consistent(void **state) {
    (void)state;
    unsigned seen[4] = {0};
    for (uint64_t seed = 0; seed < 300; seed++) {
        Rig r;
        VmConfig c = {.seed = seed, .quantum = 4, .split_one_in = 3};
        rig_open(&r,
                 KERNEL("k") PROLOGUE "setp.eq.u32 %p1, %r2, 0; @%p1 bra ONE;"
                                      "st.relaxed.gpu.global.u32 [%rd1], 1; ld.relaxed.gpu.global.u32 %r3, "
                                      "[%rd1+4]; st.global.u32 [%rd1+8], %r3; ret;"
                                      "ONE: st.relaxed.gpu.global.u32 [%rd1+4], 1; ld.relaxed.gpu.global.u32 "
                                      "%r3, [%rd1]; st.global.u32 [%rd1+12], %r3; ret; }",
                 &c);
        uint64_t out = rig_alloc(&r, 64);
        assert_int_equal(RIG_RUN(&r, "k", 2, 1, out), VM_FAULT_NONE);
        seen[words(&r, out, 4)[2] * 2 + words(&r, out, 4)[3]]++;
        rig_close(&r);
    }
    assert_int_equal(seen[0], 0);
    assert_true(seen[1] && seen[2] && seen[3]);
}

// 31 warps spin, one has to get through 50000 instructions: it does within a bounded number of turns.
// EM-5
static void fairness(void **state) {
    (void)state;
    Rig r;
    VmConfig c = {.seed = 7, .watchdog_ns = 100000000};
    rig_open(&r,
             KERNEL("k") PROLOGUE
             "mov.u32 %r4, %warpid; setp.eq.u32 %p1, %r4, 5; @%p1 bra WORK;"
             "WAIT: ld.volatile.global.u32 %r3, [%rd1]; setp.eq.u32 %p2, %r3, 0; @%p2 bra WAIT; ret;"
             "WORK: add.u32 %r5, %r5, 1; setp.lt.u32 %p3, %r5, 25000; @%p3 bra WORK; st.volatile.global.u32 "
             "[%rd1], 1; ret; }",
             &c);
    uint64_t out = rig_alloc(&r, 64);
    assert_int_equal(RIG_RUN(&r, "k", 1, 1024, out), VM_FAULT_NONE);
    rig_close(&r);
}

// The first launch waits for the second.
// EM-6
static void launches_run_concurrently(void **state) {
    (void)state;
    Rig r;
    VmConfig c = {.seed = 3};
    rig_open(&r,
             KERNEL("wait") PROLOGUE
             "W: ld.volatile.global.u32 %r3, [%rd1]; setp.eq.u32 %p1, %r3, 0; @%p1 bra W; ret; }\n" KERNEL(
                 "set") PROLOGUE "st.volatile.global.u32 [%rd1], 1; ret; }",
             &c);
    uint64_t out = rig_alloc(&r, 64);
    VmLaunch *a = rig_start(&r, "wait", (Dims){4, 64, 0}, 1, &out);
    assert_int_equal(gr_vm_run(r.dev, 20000), VM_RUN_PROGRESS);
    VmLaunch *b = rig_start(&r, "set", (Dims){1, 32, 0}, 1, &out);
    rig_drain(&r, 10000);
    assert_true(gr_vm_launch_done(a) && gr_vm_launch_done(b));
    assert_null(gr_vm_launch_fault(a));
    gr_vm_launch_free(a);
    gr_vm_launch_free(b);
    rig_close(&r);
}

// EM-53: without clusters, every block is one.
static void clusters(void **state) {
    (void)state;
    Rig r;
    rig_open(
        &r,
        KERNEL("k") PROLOGUE
        "mov.u32 %r3, %cluster_nctarank; barrier.cluster.arrive.aligned; st.volatile.global.u32 [%rd2], %r3;"
        "barrier.cluster.wait.aligned; barrier.cluster.arrive; barrier.cluster.wait; ret; }",
        NULL);
    uint64_t out = rig_alloc(&r, 64);
    assert_int_equal(RIG_RUN(&r, "k", 4, 100, out), VM_FAULT_NONE);
    assert_int_equal(words(&r, out, 4)[3], 1);
    rig_close(&r);
}

typedef struct Order {
    uint64_t next, resident, most;
    bool ascending;
} Order;

static void begin_block(void *user, uint64_t launch, uint64_t block) {
    Order *o = user;
    (void)launch;
    o->ascending &= block == o->next++;
    if (++o->resident > o->most)
        o->most = o->resident;
}

static void end_block(void *user, uint64_t launch, uint64_t block) {
    (void)launch;
    (void)block;
    ((Order *)user)->resident--;
}

// EM-7, EM-8
static void blocks_start_in_order(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 5; seed++) {
        Rig r;
        VmConfig c = {.seed = seed, .sm_count = 2};
        rig_open(&r,
                 KERNEL("k") PROLOGUE
                 ".shared .b8 s[50000]; nanosleep.u32 1000; bar.sync 0; nanosleep.u32 1000;"
                 "st.shared.u32 [s], 1; st.global.u32 [%rd2], %r2; ret; }",
                 &c);
        Order o = {.ascending = true};
        VmObserver ear = {.user = &o, .block_begin = begin_block, .block_end = end_block};
        assert_int_equal(gr_vm_observe(r.dev, &ear, NULL), GR_OK);
        uint64_t out = rig_alloc(&r, 4096);
        assert_int_equal(gr_vm_occupancy(r.dev, gr_vm_module_func(r.mod, "k"), 64, 0), 4); // 228 KiB / 50 KB
        assert_int_equal(gr_vm_occupancy(r.dev, gr_vm_module_func(r.mod, "k"), 1024, 0), 2);
        assert_int_equal(RIG_RUN(&r, "k", 100, 64, out), VM_FAULT_NONE);
        assert_true(o.ascending);
        assert_int_equal(o.next, 100);
        assert_int_equal(o.most, 8);
        assert_int_equal(words(&r, out, 100)[99], 99);
        rig_close(&r);
    }
}

typedef struct Starts {
    unsigned n, ascents; // blocks; of those, how many came right after their predecessor
    uint64_t last;
    bool seen[96];
} Starts;

static void note_start(void *user, uint64_t launch, uint64_t block) {
    Starts *s = user;
    (void)launch;
    assert_true(block < 96 && !s->seen[block]);
    s->seen[block] = true;
    s->ascents += s->n && block == s->last + 1;
    s->last = block;
    s->n++;
}

// EM-134
static void blocks_start_shuffled(void **state) {
    (void)state;
    static const uint32_t grids[][3] = {{96, 1, 1}, {8, 12, 1}, {4, 6, 4}};
    unsigned differs = 0;
    for (uint64_t seed = 1; seed <= 9; seed++)
        for (unsigned clustered = 0; clustered < 2; clustered++) {
            Rig r;
            VmConfig c = {.seed = seed, .shuffle_blocks = true};
            rig_open(&r, KERNEL("k") PROLOGUE "ret; }", &c);
            Starts s = {0};
            VmObserver ear = {.user = &s, .block_begin = note_start};
            assert_int_equal(gr_vm_observe(r.dev, &ear, NULL), GR_OK);
            uint64_t out = rig_alloc(&r, 4096);
            VmLaunch *l;
            VmLaunchParams p = {
                .func = gr_vm_module_func(r.mod, "k"), .block = {32, 1, 1}, .params = &out, .launch = 1};
            memcpy(p.grid, grids[seed % 3], sizeof p.grid);
            if (clustered)
                p.cluster[0] = p.cluster[1] = p.cluster[2] = 1, p.cluster[0] = 4;
            assert_int_equal(gr_vm_launch(r.dev, &p, &l, NULL), GR_OK);
            rig_drain(&r, 1000);
            assert_null(gr_vm_launch_fault(l));
            gr_vm_launch_free(l);
            assert_int_equal(s.n, 96);
            differs += s.last != 95;
            if (clustered && grids[seed % 3][1] == 1) // its blocks one after the other
                assert_true(s.ascents >= 72);
            rig_close(&r);
        }
    assert_true(differs > 9);
}

// A kernel whose blocks wait for the one before them ends in the usual order only, and the fault says why.
static void shuffled_chains_hang(void **state) {
    (void)state;
    for (unsigned shuffle = 0; shuffle < 2; shuffle++) {
        Rig r;
        VmConfig c = {.seed = 3, .sm_count = 1, .watchdog_ns = 2000000, .shuffle_blocks = shuffle};
        rig_open(&r,
                 KERNEL("k") PROLOGUE
                 "setp.eq.u32 %p1, %r2, 0; @%p1 bra SET; W: ld.volatile.global.u32 %r4, [%rd2+-4]; "
                 "setp.eq.u32 %p2, %r4, 0; @%p2 bra W; SET: st.volatile.global.u32 [%rd2], 1; ret; }",
                 &c);
        uint64_t out = rig_alloc(&r, 4096);
        assert_int_equal(RIG_RUN(&r, "k", 1000, 1, out), shuffle ? VM_FAULT_TIMEOUT : VM_FAULT_NONE);
        assert_int_equal(r.fault.shuffled, shuffle);
        rig_close(&r);
    }
}

// A barrier over the grid: works for as many blocks as can be resident (2 SMs of 2 blocks), not for one more.
// EM-9, EM-10, EM-32
static void grid_barriers(void **state) {
    (void)state;
    Rig r;
    VmConfig c = {.seed = 1, .sm_count = 2, .watchdog_ns = 2000000};
    rig_open(
        &r,
        KERNEL("k") PROLOGUE
        "mov.u32 %r5, %nctaid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra IN; atom.global.add.u32 %r3, [%rd1], 1;"
        "W: ld.volatile.global.u32 %r4, [%rd1]; setp.lt.u32 %p2, %r4, %r5; @%p2 bra W; IN: bar.sync 0; ret; "
        "}",
        &c);
    uint64_t out = rig_alloc(&r, 64);
    assert_int_equal(RIG_RUN(&r, "k", 4, 1024, out), VM_FAULT_NONE);
    memset(rig_view(&r, out, 64), 0, 64);
    assert_int_equal(RIG_RUN(&r, "k", 5, 1024, out), VM_FAULT_TIMEOUT);
    VmLaunchParams p = {.func = gr_vm_module_func(r.mod, "k"),
                        .grid = {5, 1, 1},
                        .block = {1024, 1, 1},
                        .params = &out,
                        .launch = 9,
                        .cooperative = true};
    VmLaunch *l;
    assert_int_equal(gr_vm_launch(r.dev, &p, &l, NULL), GR_ERR_LIMIT);
    rig_close(&r);
}

// Half of the block at one bar.sync, half at another, one thread gone, one that goes while the others wait.
// EM-23, EM-24
static void barriers_count_threads(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        Rig r;
        VmConfig c = {.seed = seed, .split_one_in = 3};
        rig_open(&r,
                 KERNEL("k") PROLOGUE "mul.wide.u32 %rd4, %r1, 4; add.s64 %rd5, %rd1, %rd4;"
                                      "setp.eq.u32 %p1, %r1, 5; @%p1 exit; setp.eq.u32 %p2, %r1, 70; @%p2 "
                                      "bra LATE; st.volatile.global.u32 [%rd5], 1;"
                                      "and.b32 %r3, %r1, 1; setp.eq.u32 %p3, %r3, 0; @%p3 bra EVEN; bar.sync "
                                      "0; bra IN; EVEN: bar.sync 0;"
                                      "IN: xor.b32 %r4, %r1, 32; mul.wide.u32 %rd4, %r4, 4; add.s64 %rd6, "
                                      "%rd1, %rd4; ld.volatile.global.u32 %r5, [%rd6];"
                                      "st.global.u32 [%rd5+1024], %r5; ret; LATE: nanosleep.u32 5000; ret; }",
                 &c);
        uint64_t out = rig_alloc(&r, 4096);
        assert_int_equal(RIG_RUN(&r, "k", 1, 100, out), VM_FAULT_NONE);
        const uint32_t *w = words(&r, out, 512);
        for (unsigned t = 0; t < 100; t++)
            if (t != 5 && t != 70)
                assert_int_equal(w[256 + t], (t ^ 32) != 5 && (t ^ 32) != 70 && (t ^ 32) < 100);
        rig_close(&r);
    }
}

// A producer warp arrives and does not wait, the ragged third warp of 16 threads consumes: 64 threads by count.
// EM-25, EM-26
static void named_barriers(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        Rig r;
        VmConfig c = {.seed = seed};
        rig_open(&r,
                 KERNEL("k") PROLOGUE
                 "mov.u32 %r3, %warpid; setp.eq.u32 %p1, %r3, 1; @%p1 bra NONE; setp.eq.u32 %p2, %r3, 2; "
                 "@%p2 bra TAKE;"
                 "nanosleep.u32 3000; st.volatile.global.u32 [%rd1], 9; bar.arrive 3, 64; "
                 "st.volatile.global.u32 [%rd1+4], 8; bra NONE;"
                 "TAKE: mov.u32 %r9, 3; barrier.sync %r9, 64; ld.volatile.global.u32 %r4, [%rd1]; "
                 "st.global.u32 [%rd1+8], %r4; NONE:"
                 "setp.lt.u32 %p3, %r1, 70; barrier.red.popc.u32 %r5, 1, %p3; bar.red.and.pred %p4, 1, %p3; "
                 "bar.red.or.pred %p5, 1, !%p3;"
                 "selp.u32 %r6, 1000, 0, %p4; selp.u32 %r7, 2000, 0, %p5; add.u32 %r5, %r5, %r6; add.u32 "
                 "%r5, %r5, %r7;"
                 "mul.wide.u32 %rd4, %r1, 4; add.s64 %rd5, %rd1, %rd4; st.global.u32 [%rd5+512], %r5; ret; }",
                 &c);
        uint64_t out = rig_alloc(&r, 4096);
        assert_int_equal(RIG_RUN(&r, "k", 1, 80, out), VM_FAULT_NONE);
        assert_int_equal(words(&r, out, 3)[1], 8);
        assert_int_equal(words(&r, out, 3)[2], 9);
        for (unsigned t = 0; t < 80; t++)
            assert_int_equal(words(&r, out, 256)[128 + t], 2070);
        rig_close(&r);
    }
}

static VmFault fault_of(const char *body, uint32_t threads) {
    Rig r;
    char text[2048];
    snprintf(text, sizeof text, "%s%s ret; }", KERNEL("k") PROLOGUE, body);
    rig_open(&r, text, NULL);
    uint64_t out = rig_alloc(&r, 4096);
    RIG_RUN(&r, "k", 1, threads, out);
    VmFault f = r.fault;
    rig_close(&r);
    return f;
}

// EM-27
static void barrier_misuse(void **state) {
    (void)state;
    VmFault f = fault_of("bar.sync %r1;", 64); // 32 barriers for 32 threads
    assert_int_equal(f.kind, VM_FAULT_ILLEGAL_INSTRUCTION);
    f = fault_of("mov.u32 %r3, 16; bar.sync %r3;", 32);
    assert_int_equal(f.kind, VM_FAULT_ILLEGAL_INSTRUCTION);
    assert_non_null(strstr(f.msg, "barrier 16"));
    f = fault_of("mov.u32 %r3, 33; bar.sync 1, %r3;", 64);
    assert_int_equal(f.kind, VM_FAULT_ILLEGAL_INSTRUCTION);
    f = fault_of("setp.lt.u32 %p1, %r1, 32; @%p1 bra A; bar.sync 1, 64; bra B; A: bar.sync 1; B:", 64);
    assert_int_equal(f.kind, VM_FAULT_ILLEGAL_INSTRUCTION);
    assert_non_null(strstr(f.msg, "while others wait"));
}

// EM-28
static void deadlock(void **state) {
    (void)state;
    VmFault f = fault_of("setp.lt.u32 %p1, %r1, 20; @%p1 bra A; bar.sync 1; bra B;\nA: bar.sync 2;\n B:", 64);
    assert_int_equal(f.kind, VM_FAULT_DEADLOCK);
    assert_non_null(strstr(f.msg, "block (0,0,0) can make no progress"));
    assert_non_null(strstr(f.msg, "at a barrier (PTX line"));
    f = fault_of("setp.lt.u32 %p1, %r1, 20; @%p1 bra A; bar.warp.sync 0xffffffff; bra B; A: bar.sync 0; B:",
                 32);
    assert_int_equal(f.kind, VM_FAULT_DEADLOCK);
    assert_non_null(strstr(f.msg, "warp-synchronous"));
}

// EM-29, EM-31
static void clocks(void **state) {
    (void)state;
    Rig r;
    rig_open(&r,
             KERNEL("k") PROLOGUE "mov.u64 %rd4, %globaltimer; mov.u64 %rd5, %clock64; mov.u32 %r3, %clock;"
                                  "L: add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 1000; @%p1 bra L;"
                                  "mov.u64 %rd6, %globaltimer; mov.u64 %rd7, %clock64; mov.u32 %r5, %clock; "
                                  "sub.s64 %rd6, %rd6, %rd4; sub.s64 %rd7, %rd7, %rd5;"
                                  "sub.u32 %r5, %r5, %r3; st.global.u64 [%rd1], %rd6; st.global.u64 "
                                  "[%rd1+8], %rd7; st.global.u32 [%rd1+16], %r5; ret; }",
             NULL);
    uint64_t out = rig_alloc(&r, 64), before = gr_vm_now_ns(r.dev);
    assert_int_equal(RIG_RUN(&r, "k", 1, 1, out), VM_FAULT_NONE);
    const uint64_t *t = rig_view(&r, out, 24);
    assert_in_range(t[0], 3000, 100000);                                 // 3000 instructions and some
    assert_true(t[1] * 1000 > t[0] * 1700 && t[1] * 1000 < t[0] * 1810); // at 1.755 GHz
    assert_true((uint32_t)t[2] > t[0]);
    uint64_t alone = gr_vm_now_ns(r.dev) - before;
    assert_in_range(alone, t[0], 200000);
    before = gr_vm_now_ns(r.dev);
    assert_int_equal(RIG_RUN(&r, "k", 8, 32, out), VM_FAULT_NONE); // eight at once take about as long as one
    assert_in_range(gr_vm_now_ns(r.dev) - before, alone / 2, alone * 4);
    before = gr_vm_now_ns(r.dev);
    gr_vm_advance_ns(r.dev, 12345);
    assert_int_equal(gr_vm_now_ns(r.dev), before + 12345);
    rig_close(&r);
}

// EM-30
static void sleep_lasts_as_long_as_the_seed_says(void **state) {
    (void)state;
    uint64_t least = UINT64_MAX, most = 0;
    for (uint64_t seed = 0; seed < 50; seed++) {
        Rig r;
        VmConfig c = {.seed = seed};
        rig_open(&r, KERNEL("k") PROLOGUE "nanosleep.u32 1000000; ret; }", &c);
        uint64_t out = rig_alloc(&r, 64);
        assert_int_equal(RIG_RUN(&r, "k", 1, 1, out), VM_FAULT_NONE);
        assert_in_range(r.ns, 500000, 2000100);
        least = r.ns < least ? r.ns : least;
        most = r.ns > most ? r.ns : most;
        rig_close(&r);
    }
    assert_true(least < 800000 && most > 1700000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(works_only_when_run),
        cmocka_unit_test(same_seed_same_execution),
        cmocka_unit_test(sequentially_consistent),
        cmocka_unit_test(fairness),
        cmocka_unit_test(launches_run_concurrently),
        cmocka_unit_test(blocks_start_in_order),
        cmocka_unit_test(blocks_start_shuffled),
        cmocka_unit_test(shuffled_chains_hang),
        cmocka_unit_test(grid_barriers),
        cmocka_unit_test(clusters),
        cmocka_unit_test(barriers_count_threads),
        cmocka_unit_test(named_barriers),
        cmocka_unit_test(barrier_misuse),
        cmocka_unit_test(deadlock),
        cmocka_unit_test(clocks),
        cmocka_unit_test(sleep_lasts_as_long_as_the_seed_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
