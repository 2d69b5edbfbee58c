// SPDX-License-Identifier: Apache-2.0
// test_conflicts — which conflicts are noted of executions on the CPU device, and what is known of them: each order
// that is looked at makes a conflict be passed over, and nothing else does.
#include "harness.h"

#include "aim/aim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SEEDS = 8, PAIRS = 16 };

static gr_error err;
static uint64_t fingerprint(const PtxModule *m) { return (void)m, 1; }

typedef struct Notes {
    Conflict pair[PAIRS];
    size_t n;
    unsigned told, runs; // runs that noted something
} Notes;

// As the file of --coverage keeps them.
static void noted(void *user, const Conflict *c) {
    Notes *n = user;
    n->told++;
    for (size_t k = 0; k < n->n; k++)
        if (n->pair[k].side[0].nth == c->side[0].nth && n->pair[k].side[1].nth == c->side[1].nth) {
            gr_conflict_add(&n->pair[k], c);
            return;
        }
    assert_true(n->n < PAIRS);
    assert_true(c->side[0].function == c->side[1].function && c->side[0].nth <= c->side[1].nth);
    n->pair[n->n++] = *c;
}

static const Conflict *pair(const Notes *n, uint32_t x, uint32_t y) {
    for (size_t k = 0; k < n->n; k++)
        if (n->pair[k].side[0].nth == x && n->pair[k].side[1].nth == y)
            return &n->pair[k];
    return NULL;
}

typedef struct Bed {
    Rig rig;
    Aim *aim;
    uint64_t out;
} Bed;

// %r1: thread; %r2: block; %r9: shared memory; %p0, %p1, %p16, %p32: that thread of block 0; %p9: thread 0 of block 1.
#define HEAD                                                                                                 \
    ".visible .entry k(.param .u64 out) {\n"                                                                 \
    ".reg .pred %p<40>; .reg .b32 %r<32>; .reg .b64 %rd<16>; .shared .align 16 .b8 s[256];\n"                \
    "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r9, s;\n"                \
    "setp.eq.u32 %p8, %r2, 0; setp.eq.and.u32 %p0, %r1, 0, %p8; setp.eq.and.u32 %p1, %r1, 1, %p8;\n"         \
    "setp.eq.and.u32 %p16, %r1, 16, %p8; setp.eq.and.u32 %p32, %r1, 32, %p8;\n"                              \
    "setp.eq.u32 %p10, %r2, 1; setp.eq.and.u32 %p9, %r1, 0, %p10;\n"

// ORDER in `text` becomes `order`.
static void open_bed(Bed *b, const char *text, const char *order, const VmConfig *c, Notes *n) {
    StrBuf full = {0};
    gr_str_add(&full, HEAD);
    for (const char *at = text, *mark; at; at = mark ? mark + 5 : NULL) {
        mark = strstr(at, "ORDER");
        gr_str_addn(&full, at, mark ? (size_t)(mark - at) : strlen(at));
        gr_str_add(&full, mark ? order : "");
    }
    gr_str_add(&full, " ret; }\n");
    rig_open(&b->rig, full.data, c);
    gr_str_free(&full);
    AimOptions o = {.at = "", .notes = true, .noted = noted, .user = n, .fingerprint = fingerprint};
    assert_int_equal(gr_aim_create(&o, &b->aim, &err), GR_OK);
    assert_true(gr_aim_module(b->aim, b->rig.ptx));
    VmObserver listens = gr_aim_observer(b->aim);
    assert_int_equal(gr_vm_observe(b->rig.dev, &listens, &err), GR_OK);
    b->out = rig_alloc(&b->rig, 4096);
}

static void close_bed(Bed *b) {
    gr_aim_free(b->aim);
    rig_close(&b->rig);
}

// What is noted over some seeds.
static Notes note(const char *text, const char *order, uint32_t grid, uint32_t block) {
    static const VmSchedule schedules[] = {VM_SCHEDULE_DEFAULT, VM_SCHEDULE_DIRECTED};
    Notes n = {0};
    for (uint64_t k = 0; k < 2 * SEEDS; k++) {
        VmConfig c = {.seed = 1 + k / 2, .schedule = schedules[k % 2]};
        Bed b;
        unsigned told = n.told;
        open_bed(&b, text, order, &c, &n);
        if (RIG_RUN(&b.rig, "k", grid, block, b.out))
            fail_msg("%s", b.rig.fault.msg);
        close_bed(&b);
        n.runs += n.told > told;
    }
    return n;
}

static void nothing(const char *text, const char *order, uint32_t grid, uint32_t block) {
    Notes n = note(text, order, grid, block);
    if (n.n)
        fail_msg("%u and %u are noted, with '%s' in %s", n.pair[0].side[0].nth, n.pair[0].side[1].nth, order,
                 text);
}

// The only one; each run notes it.
static Conflict always(const char *text, uint32_t grid, uint32_t block, uint32_t x, uint32_t y) {
    Notes n = note(text, "", grid, block);
    if (n.n != 1 || !pair(&n, x, y) || n.runs != 2 * SEEDS)
        fail_msg("%zu are noted by %u runs in %s", n.n, n.runs, text);
    return n.pair[0];
}

// The only one.
static Conflict one(const char *text, const char *order, uint32_t grid, uint32_t block, uint32_t x,
                    uint32_t y) {
    Notes n = note(text, order, grid, block);
    if (n.n != 1 || !pair(&n, x, y))
        fail_msg("%zu are noted, with '%s' in %s", n.n, order, text);
    return n.pair[0];
}

// ---- Within a block ------------------------------------------------------------------------------------------

static const char two_warps[] = "@%p0 st.global.u32 [%rd1], 7; ORDER @%p32 ld.global.u32 %r3, [%rd1];";

static void two_warps_meet(void **state) {
    (void)state;
    Conflict c = one(two_warps, "", 1, 64, 1, 2);
    assert_true(c.likely && !c.met);
    for (unsigned k = 0; k < 2; k++) {
        assert_true(c.side[k].waits && c.side[k].first); // in some seeds this one, in some that
        assert_int_equal(c.side[k].launch, 1);
        assert_int_equal(c.side[k].block, 0);
        assert_int_equal(c.side[k].warp, k);
        assert_int_equal(c.side[k].aimed, 0);
    }
    nothing(two_warps, "bar.sync 0;", 1, 64);
    one(two_warps, "bar.warp.sync -1;", 1, 64, 1, 2);
    one(two_warps, "membar.gl;", 1, 64, 1, 2);
    nothing("@%p0 st.shared.u32 [%r9], 7; ORDER @%p32 st.shared.u32 [%r9], 7;", "bar.sync 0;", 1, 64);
    one("@%p0 st.shared.u32 [%r9], 7; ORDER @%p32 st.shared.u32 [%r9], 7;", "", 1, 64, 1, 2);
}

// Both orders in one run are told.
static void now_this_now_that(void **state) {
    (void)state;
    Notes n = {0};
    Bed b;
    open_bed(&b,
             "mov.u32 %r5, 0; L: @%p0 st.global.u32 [%rd1], %r5; @%p32 ld.global.u32 %r3, [%rd1]; add.u32 "
             "%r5, %r5, 1;\n"
             "setp.lt.u32 %p5, %r5, 400; @%p5 bra L;",
             "", &(VmConfig){.seed = 3, .quantum = 16}, &n);
    assert_int_equal(RIG_RUN(&b.rig, "k", 1, 64, b.out), VM_FAULT_NONE);
    close_bed(&b);
    assert_int_equal(n.n, 1);
    assert_true(n.pair[0].side[0].first && n.pair[0].side[1].first);
}

// What a barrier orders is what came before it: after it all begins anew.
static void behind_a_barrier(void **state) {
    (void)state;
    one("@%p0 st.global.u32 [%rd1], 7; bar.sync 0; @%p0 st.global.u32 [%rd1], 7; @%p32 ld.global.u32 %r3, "
        "[%rd1];",
        "", 1, 64, 2, 3);
}

static void readers_and_neighbours(void **state) {
    (void)state;
    nothing("@%p0 ld.global.u32 %r3, [%rd1]; @%p32 ld.global.u32 %r3, [%rd1];", "", 1, 64);
    nothing("@%p0 st.global.u32 [%rd1], 7; @%p32 st.global.u32 [%rd1+4], 7;", "", 1, 64);
    nothing("@%p0 st.global.u32 [%rd1], 7; @%p0 ld.global.u32 %r3, [%rd1];", "", 1, 64);
    nothing(".local .b32 here; @%p0 st.local.u32 [here], 7; @%p32 st.local.u32 [here], 7;", "", 1, 64);
    // Of vectors each part.
    one("@%p0 st.global.v4.u32 [%rd1], {%r1,%r1,%r1,%r1}; @%p32 st.global.u32 [%rd1+12], 7;", "", 1, 64, 1,
        2);
    nothing("@%p0 st.global.v4.u32 [%rd1], {%r1,%r1,%r1,%r1}; @%p32 st.global.u32 [%rd1+16], 7;", "", 1, 64);
    // One instruction of two lanes.
    Conflict c = one("mov.u32 %r3, 5; st.global.u32 [%rd1], %r3;", "", 1, 2, 1, 1);
    assert_true(c.side[0].first && c.side[1].first && c.likely);
}

static void lanes(void **state) {
    (void)state;
    static const char near[] = "@%p0 st.shared.u32 [%r9], 7; ORDER @%p1 ld.shared.u32 %r3, [%r9];",
                      far[] = "@%p0 st.shared.u32 [%r9], 7; ORDER @%p16 ld.shared.u32 %r3, [%r9];",
                      // each lane with those of its own half
        halves[] = "setp.lt.u32 %p20, %r1, 16; selp.b32 %r8, 65535, -65536, %p20; bar.warp.sync %r8;";
    assert_true(one(near, "", 1, 32, 1, 2).likely);
    nothing(near, "bar.warp.sync -1;", 1, 32);
    nothing(far, "bar.warp.sync -1;", 1, 32);
    nothing(near, halves, 1, 32);
    one(far, halves, 1, 32, 1, 2);
    // Before both of them.
    one("bar.warp.sync -1; @%p0 st.shared.u32 [%r9], 7; @%p1 ld.shared.u32 %r3, [%r9];", "", 1, 32, 1, 2);
}

// ---- Strong accesses and fences ------------------------------------------------------------------------------

static void strong(void **state) {
    (void)state;
    nothing("@%p0 atom.global.add.u32 %r3, [%rd1], 1; @%p32 atom.global.add.u32 %r3, [%rd1], 1;", "", 1, 64);
    nothing("@%p0 st.relaxed.gpu.global.u32 [%rd1], 1; @%p9 ld.volatile.global.u32 %r3, [%rd1];", "", 2, 32);
    Conflict c =
        one("@%p0 atom.global.add.u32 %r3, [%rd1], 1; @%p32 ld.global.u32 %r3, [%rd1];", "", 1, 64, 1, 2);
    assert_true(!c.side[0].waits && c.side[1].waits && c.likely);
    c = one("@%p0 st.global.u32 [%rd1], 1; @%p32 atom.global.add.u32 %r3, [%rd1], 1;", "", 1, 64, 1, 2);
    assert_true(c.side[0].waits && !c.side[1].waits && c.likely);
}

// A message: thread 0 writes, and says so by a flag, for which the first thread of another warp waits, or of another
// block. What each does between the two, and how the flag is accessed.
typedef struct Message {
    const char *writer, *reader, *flag;
} Message;

static Conflict message(Message m, unsigned blocks) {
    const char *reader = blocks == 1 ? "%p32" : "%p9";
    StrBuf text = {0};
    gr_str_addf(
        &text,
        "mov.b64 %%rd2, 0; @%%p0 st.global.u32 [%%rd1], 7; @%%p0 %s @%%p0 st%s.global.u32 [%%rd1+8], 1;\n",
        m.writer, m.flag);
    gr_str_addf(
        &text, "@!%s bra DONE; L: ld%s.global.u32 %%r3, [%%rd1+8]; setp.eq.u32 %%p5, %%r3, 0; @%%p5 bra L;\n",
        reader, m.flag);
    gr_str_addf(&text, "%s ld.global.u32 %%r4, [%%rd1]; DONE:", m.reader);
    Notes n = note(text.data, "", blocks, 64);
    const Conflict *c = pair(&n, 1, 4), *flags = pair(&n, 2, 3);
    assert_non_null(c);
    assert_int_equal(flags != NULL, !*m.flag);
    assert_true(!flags || flags->likely);
    assert_true(c->side[0].first && !c->side[1].first);
    gr_str_free(&text);
    return *c;
}

#define NOTHING "mov.u32 %r7, 0;"
#define FENCE   "fence.acq_rel.gpu;"
#define RELAXED ".relaxed.gpu"

static void ordered(void **state) {
    (void)state;
    for (unsigned blocks = 1; blocks <= 2; blocks++) {
        assert_false(message((Message){FENCE, FENCE, RELAXED}, blocks).likely);
        assert_false(message((Message){FENCE, FENCE, ""}, blocks).likely);
        assert_false(message((Message){NOTHING, NOTHING, RELAXED}, blocks)
                         .likely); // it may be an acquire pattern's part
        // One of the two did nothing.
        assert_true(message((Message){FENCE, NOTHING, ""}, blocks).likely);
        assert_true(message((Message){NOTHING, FENCE, ""}, blocks).likely);
    }
    // Lane 0 of either warp met itself alone.
    assert_true(message((Message){NOTHING, "bar.warp.sync 1;", ""}, 1).likely);
}

static void other_barriers(void **state) {
    (void)state;
    static const char by_mbarrier[] =
        "@%p0 mbarrier.init.shared.b64 [%r9], 1; bar.sync 0; @%p0 st.global.u32 [%rd1], 7;\n"
        "@%p0 mbarrier.arrive.shared.b64 %rd5, [%r9]; @!%p32 bra DONE;\n"
        "L: mbarrier.test_wait.parity.shared.b64 %p5, [%r9], 0; @!%p5 bra L; ld.global.u32 %r3, [%rd1]; "
        "DONE:",
                      by_cluster[] =
                          "@%p0 st.global.u32 [%rd1], 7; barrier.cluster.arrive; barrier.cluster.wait;\n"
                          "@%p32 ld.global.u32 %r3, [%rd1];";
    assert_false(one(by_mbarrier, "", 1, 64, 1, 2).likely);
    assert_false(one(by_cluster, "", 1, 64, 1, 2).likely);
}

// ---- Blocks --------------------------------------------------------------------------------------------------

static void blocks(void **state) {
    (void)state;
    static const char text[] = "@%p0 st.global.u32 [%rd1], 7; ORDER @%p9 ld.global.u32 %r3, [%rd1];";
    Conflict c = one(text, "", 2, 32, 1, 2);
    assert_true(c.likely && c.side[0].block == 0 && c.side[1].block == 1);
    one(text, "bar.sync 0;", 2, 32, 1, 2); // not theirs
    one(text, "bar.warp.sync -1;", 2, 32, 1, 2);
    // Each has shared memory of its own.
    nothing("@%p0 st.shared.u32 [%r9], 7; @%p9 st.shared.u32 [%r9], 7;", "", 2, 32);
}

// Of an access that has touched much, some bytes are looked at, and of the other side the same.
static void busy_accesses(void **state) {
    (void)state;
    // Each block stores 8192 words of its own, and then 1024 that the other one stores too.
    Notes n = {0};
    Bed b;
    open_bed(
        &b,
        "mov.u32 %r5, 0; mul.lo.u32 %r6, %r2, 32768; L: setp.lt.u32 %p5, %r5, 8192; selp.b32 %r7, %r6, "
        "65536, %p5;\n"
        "shl.b32 %r8, %r5, 2; @!%p5 sub.u32 %r8, %r8, 32768; add.u32 %r7, %r7, %r8; cvt.u64.u32 %rd2, %r7;\n"
        "add.s64 %rd2, %rd2, %rd1; st.global.u32 [%rd2], %r5; add.u32 %r5, %r5, 1; setp.lt.u32 %p6, %r5, "
        "9216;\n"
        "@%p6 bra L;",
        "", NULL, &n);
    uint64_t out = rig_alloc(&b.rig, 1 << 17);
    assert_int_equal(RIG_RUN(&b.rig, "k", 2, 1, out), VM_FAULT_NONE);
    close_bed(&b);
    assert_true(n.n == 1 && pair(&n, 1, 1));
}

// ---- Asynchronous copies -------------------------------------------------------------------------------------

#define COPY   "@%p0 cp.async.ca.shared.global [%r9], [%rd1], 4;"
#define WAIT   "cp.async.wait_all;"
#define SETTLE " cp.async.wait_all;"
// Thread 0 says that it has come here, and the first one of the other warp waits for that; orders nothing.
#define TELL "@%p0 st.relaxed.cta.global.u32 [%rd1+8], 1; @!%p32 bra DONE;\n"
#define HEAR "L: ld.relaxed.cta.global.u32 %r3, [%rd1+8]; setp.eq.u32 %p5, %r3, 0; @%p5 bra L;\n"

static void copies(void **state) {
    (void)state;
    // Of a thread with itself, and the read may come first.
    Conflict c = one(COPY "ORDER @%p0 ld.shared.u32 %r3, [%r9];" SETTLE, "", 1, 32, 1, 2);
    assert_true(!c.side[0].waits && c.side[1].waits && c.side[0].first && c.side[1].first);
    nothing(COPY "ORDER @%p0 ld.shared.u32 %r3, [%r9];" SETTLE, WAIT, 1, 32);
    one(COPY "ORDER @%p0 ld.shared.u32 %r3, [%r9];" SETTLE, "bar.sync 0;", 1, 32, 1, 2); // no wait
    nothing("@%p0 st.shared.u32 [%r9], 7; " COPY SETTLE, "", 1, 32); // before it is issued
    // Of another warp: both are needed, and in this order.
    static const char other[] = COPY "ORDER @%p32 ld.shared.u32 %r3, [%r9];" SETTLE;
    one(other, "", 1, 64, 1, 2);
    one(other, WAIT, 1, 64, 1, 2);
    c = one(other, "bar.sync 0;", 1, 64, 1, 2);
    assert_true(c.side[0].first && c.side[1].first);
    one(other, "bar.sync 0;" WAIT, 1, 64, 1, 2);
    nothing(other, WAIT "bar.sync 0;", 1, 64);
    // Who waits, waits for copies of its own: not those of another warp, nor those of another lane.
    c = always(COPY WAIT TELL HEAR WAIT "ld.shared.u32 %r3, [%r9]; DONE:", 1, 64, 1, 4);
    assert_true(c.side[0].first && !c.side[1].first);
    always(COPY TELL HEAR WAIT "ld.shared.u32 %r3, [%r9]; DONE: bar.sync 0;" SETTLE, 1, 64, 1,
           4); // may come after the barrier
    always(COPY "setp.lt.u32 %p21, %r1, 32; @%p21 bra M; cp.async.wait_all; M: bar.sync 0; @%p32 "
                "ld.shared.u32 %r3, [%r9];" SETTLE,
           1, 64, 1, 2);
    always(COPY "bar.warp.sync -1;" WAIT "@%p1 ld.shared.u32 %r3, [%r9];", 1, 32, 1, 2);
    static const char before[] = "@%p1 st.shared.u32 [%r9], 7; ORDER " COPY SETTLE;
    one(before, "", 1, 32, 1, 2);
    nothing(before, "bar.warp.sync -1;", 1, 32);
    static const char lane[] = COPY WAIT "ORDER @%p1 ld.shared.u32 %r3, [%r9];";
    one(lane, "", 1, 32, 1, 2);
    nothing(lane, "bar.warp.sync -1;", 1, 32);
    nothing(lane, "bar.sync 0;", 1, 32);
    // An mbarrier tells everybody.
    nothing("@%p0 mbarrier.init.shared.b64 [%r9+8], 1; bar.sync 0; " COPY
            "@%p0 cp.async.mbarrier.arrive.noinc.shared.b64 [%r9+8]; @!%p32 bra DONE;\n"
            "L: mbarrier.test_wait.parity.shared.b64 %p5, [%r9+8], 0; @!%p5 bra L; ld.shared.u32 %r3, [%r9]; "
            "DONE:" SETTLE,
            "", 1, 64);
    // Its source.
    one(COPY "ORDER @%p0 st.global.u32 [%rd1], 7;" SETTLE, "", 1, 32, 1, 2);
    nothing(COPY "ORDER @%p0 st.global.u32 [%rd1], 7;" SETTLE, WAIT, 1, 32);
}

// ---- Launches ------------------------------------------------------------------------------------------------

typedef enum Between {
    NOT_WAITED,
    WAITED,
    WAITED_FOR_ALL,
    WAITED_FOR_ANOTHER,
    WAITED_FOR_LEGACY,
    WAITED_FOR_OTHER_LEGACY,
    WAITED_TOO_LATE
} Between;

// The contexts of legacy streams: the launches' own, and another one.
enum { LEGACY = 3, OTHER_LEGACY = 4 };

// One launch after the other, which write and read one place.
static size_t launches_in(uint64_t stream, uint64_t other, Between what, uint64_t blocking) {
    Notes n = {0};
    Bed b;
    open_bed(&b, "@%p0 st.global.u32 [%rd1], 7;", "", NULL, &n);
    if (what == WAITED_TOO_LATE)
        gr_aim_launch(b.aim, 2, other, blocking);
    gr_aim_launch(b.aim, 1, stream, blocking);
    assert_int_equal(RIG_RUN(&b.rig, "k", 1, 32, b.out), VM_FAULT_NONE);
    if (what != NOT_WAITED)
        gr_aim_waited(b.aim,
                      what == WAITED_FOR_ALL                      ? 0
                      : what == WAITED || what == WAITED_TOO_LATE ? stream
                                                                  : 77,
                      what == WAITED_FOR_LEGACY         ? LEGACY
                      : what == WAITED_FOR_OTHER_LEGACY ? OTHER_LEGACY
                                                        : 0);
    if (what != WAITED_TOO_LATE)
        gr_aim_launch(b.aim, 2, other, blocking);
    assert_int_equal(RIG_RUN(&b.rig, "k", 1, 32, b.out), VM_FAULT_NONE);
    close_bed(&b);
    if (n.n) {
        assert_int_equal(n.pair[0].side[0].launch, 1); // of one access the first side is who came first
        assert_int_equal(n.pair[0].side[1].launch, 2);
        assert_true(n.pair[0].likely);
    }
    return n.n;
}

static size_t launches(uint64_t stream, uint64_t other, Between what) {
    return launches_in(stream, other, what, LEGACY);
}

static void two_launches(void **state) {
    (void)state;
    assert_int_equal(launches(5, 5, NOT_WAITED), 0);
    assert_int_equal(launches(5, 6, NOT_WAITED), 1);
    assert_int_equal(launches(5, 6, WAITED), 0);
    assert_int_equal(launches(5, 6, WAITED_FOR_ALL), 0);
    assert_int_equal(launches(5, 6, WAITED_FOR_ANOTHER), 1);
    assert_int_equal(launches(5, 6, WAITED_FOR_LEGACY), 0);
    assert_int_equal(launches(5, 6, WAITED_FOR_OTHER_LEGACY), 1);
    assert_int_equal(launches_in(5, 6, WAITED_FOR_LEGACY, 0), 1); // non-blocking streams
    assert_int_equal(launches(5, 6, WAITED_TOO_LATE), 1);         // the second had begun
}

// ---- What met ------------------------------------------------------------------------------------------------

static void met(void **state) {
    (void)state;
    Notes n = {0};
    Bed b;
    open_bed(&b, two_warps, "", NULL, &n);
    Race r = {.side = {{.by = RACE_BY_HOST, .module = 1, .site = 2},
                       {.by = RACE_BY_KERNEL, .module = 1, .site = 1}}};
    gr_aim_met(b.aim, &r); // nobody can name them
    r.side[0] = (RaceSide){.by = RACE_BY_KERNEL, .module = 2, .site = 2};
    gr_aim_met(b.aim, &r);
    r.side[0] = (RaceSide){.by = RACE_BY_KERNEL, .module = 1, .site = 99};
    gr_aim_met(b.aim, &r);
    assert_int_equal(n.told, 0);
    r.side[0].site = 2;
    gr_aim_met(b.aim, &r);
    assert_int_equal(n.told, 1);
    assert_true(n.n == 1 && pair(&n, 1, 2) && n.pair[0].met && !n.pair[0].likely);
    gr_aim_met(b.aim, &r);
    assert_int_equal(n.told, 1); // nothing new
    assert_int_equal(RIG_RUN(&b.rig, "k", 1, 64, b.out), VM_FAULT_NONE);
    assert_true(n.n == 1 && n.pair[0].met && n.pair[0].likely && n.pair[0].side[0].launch == 1);
    close_bed(&b);
}

// Each is told once for each thing that is new of it, not for each access.
static void told_seldom(void **state) {
    (void)state;
    Notes n =
        note("mov.u32 %r5, 0; L: st.global.u32 [%rd1], %r5; add.u32 %r5, %r5, 1; setp.lt.u32 %p5, %r5, 200; "
             "@%p5 bra L;",
             "", 2, 64);
    assert_int_equal(n.n, 1);
    assert_in_range(n.told, 2 * SEEDS, 2 * 2 * SEEDS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_warps_meet),
        cmocka_unit_test(behind_a_barrier),
        cmocka_unit_test(readers_and_neighbours),
        cmocka_unit_test(lanes),
        cmocka_unit_test(busy_accesses),
        cmocka_unit_test(now_this_now_that),
        cmocka_unit_test(other_barriers),
        cmocka_unit_test(strong),
        cmocka_unit_test(ordered),
        cmocka_unit_test(blocks),
        cmocka_unit_test(copies),
        cmocka_unit_test(two_launches),
        cmocka_unit_test(met),
        cmocka_unit_test(told_seldom),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
