// SPDX-License-Identifier: Apache-2.0
// test_jobs — launches whose blocks run on several threads (VmConfig.jobs): results that do not depend on the order are
// the same, blocks that wait for each other make progress, atomic operations are atomic, faults end everything. EM-70
// to EM-74 of docs/execution-model.md.
#include "harness.h"
#include "vm/core/launch.h"

#include "vm/core/exec_mem.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define KERNEL(name) ".visible .entry " name "(.param .u64 out) {\n"
#define REGS         ".reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<32>; .reg .b64 %rd<32>;\n"
// %rd1 the buffer, %r1 the thread in the block, %r2 the block, %r3 the thread, %r4 how many blocks.
#define PROLOGUE                                                                                             \
    REGS "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r4, %nctaid.x;"     \
         "mov.u32 %r5, %ntid.x; mad.lo.u32 %r3, %r2, %r5, %r1;\n"

static void open_jobs(Rig *r, const char *text, uint32_t jobs) {
    VmConfig c = {.seed = 5, .split_one_in = 100, .jobs = jobs, .watchdog_ns = 4000000000};
    rig_open(r, text, &c);
}

// EM-70, EM-72: every kind of element under contention: 2, 4, 8 and 16 bytes, with and without compare and swap.
static void atomics_are_atomic(void **state) {
    (void)state;
    static const char text[] = KERNEL("k") PROLOGUE
        "atom.global.add.u32 %r6, [%rd1], 1;"
        "red.global.add.u64 [%rd1+8], 3;"
        "atom.global.max.u32 %r7, [%rd1+16], %r3;"
        "atom.global.inc.u32 %r8, [%rd1+20], 999999;"
        "red.global.add.f64 [%rd1+24], 0d3FF0000000000000;"
        "mov.b16 %h1, 0x3c00; atom.global.add.noftz.f16 %h2, [%rd1+32], %h1;" // 1.0 up to 2048
        // A 16-bit counter and a 128-bit pair (n, 2n) by compare and swap.
        "A: ld.volatile.global.u16 %h3, [%rd1+34]; add.u16 %h4, %h3, 1; atom.global.cas.b16 %h5, [%rd1+34], "
        "%h3, %h4;"
        "setp.ne.u16 %p1, %h5, %h3; @%p1 bra A;"
        "{.reg .b128 %q<4>; .reg .b64 %x<8>;"
        "B: ld.volatile.global.u64 %x0, [%rd1+48]; shl.b64 %x1, %x0, 1; add.u64 %x2, %x0, 1; shl.b64 %x3, "
        "%x2, 1;"
        "mov.b128 %q0, {%x0, %x1}; mov.b128 %q1, {%x2, %x3};"
        "atom.global.cas.b128 %q2, [%rd1+48], %q0, %q1; mov.b128 {%x4, %x5}, %q2;"
        "setp.ne.u64 %p2, %x4, %x0; @%p2 bra B; setp.ne.u64 %p2, %x5, %x1; @%p2 bra B;}"
        // Tickets: nobody else has mine.
        "mul.wide.u32 %rd2, %r6, 4; add.u64 %rd3, %rd1, %rd2; red.global.add.u32 [%rd3+64], 1;"
        "ret; }";
    for (uint32_t jobs = 2; jobs <= 4; jobs++) {
        Rig r;
        open_jobs(&r, text, jobs);
        enum { N = 20 * 96 };
        uint64_t out = rig_alloc(&r, 64 + N * 4);
        assert_int_equal(RIG_RUN(&r, "k", 20, 96, out), VM_FAULT_NONE);
        uint32_t *u = rig_view(&r, out, 64 + N * 4);
        uint64_t wide[2], sum;
        double f;
        memcpy(&sum, u + 2, 8);
        memcpy(&f, u + 6, 8);
        memcpy(wide, u + 12, 16);
        assert_int_equal(u[0], N);
        assert_int_equal(sum, 3 * N);
        assert_int_equal(u[4], N - 1);
        assert_int_equal(u[5], N);
        assert_true(f == N);
        assert_int_equal(u[8] & 0xffff, 0x6780); // 1920
        assert_int_equal(u[8] >> 16, N);
        assert_int_equal(wide[0], N);
        assert_int_equal(wide[1], 2 * N);
        for (unsigned k = 0; k < N; k++)
            assert_int_equal(u[16 + k], 1);
        rig_close(&r);
    }
}

// EM-71: each block waits for the one before it, as in a scan with look-back.
static void blocks_wait_for_earlier_ones(void **state) {
    (void)state;
    static const char text[] = KERNEL("k") PROLOGUE
        "mul.wide.u32 %rd2, %r2, 4; add.u64 %rd3, %rd1, %rd2; mov.u32 %r6, 0;"
        "setp.ne.u32 %p1, %r1, 0; @%p1 bra JOIN; setp.eq.u32 %p2, %r2, 0; @%p2 bra FIRST;"
        "W: ld.acquire.gpu.global.u32 %r6, [%rd3+-4]; setp.eq.u32 %p3, %r6, 0; @%p3 bra W;"
        "FIRST: add.u32 %r6, %r6, 1; st.release.gpu.global.u32 [%rd3], %r6;"
        "JOIN: bar.sync 0; ret; }";
    for (uint32_t jobs = 2; jobs <= 4; jobs++) {
        Rig r;
        open_jobs(&r, text, jobs);
        enum { BLOCKS = 1000 };
        uint64_t out = rig_alloc(&r, BLOCKS * 4);
        assert_int_equal(RIG_RUN(&r, "k", BLOCKS, 64, out), VM_FAULT_NONE);
        const uint32_t *u = rig_view(&r, out, BLOCKS * 4);
        for (unsigned k = 0; k < BLOCKS; k++)
            assert_int_equal(u[k], k + 1);
        rig_close(&r);
    }
}

// A barrier of the whole grid, many times, and what it orders: plain accesses of all blocks before and after it. EM-71
static void grids_synchronize(void **state) {
    (void)state;
    static const char text[] = KERNEL("k") PROLOGUE
        "mul.wide.u32 %rd2, %r3, 4; add.u64 %rd3, %rd1, %rd2;" // my word
        "mov.u32 %r16, %nctaid.x; mul.lo.u32 %r16, %r16, %r5; add.u32 %r17, %r3, %r5; rem.u32 %r17, %r17, "
        "%r16;"
        "mul.wide.u32 %rd4, %r17, 4; add.u64 %rd5, %rd1, %rd4; mov.u32 %r10, 0;" // the next block's
        "L: st.global.u32 [%rd3+4096], %r10; bar.sync 0; setp.ne.u32 %p1, %r1, 0; @%p1 bra S;"
        "fence.sc.gpu; add.u32 %r11, %r10, 1; mul.lo.u32 %r11, %r11, %r4; atom.global.add.u32 %r12, [%rd1], "
        "1;"
        "W: ld.volatile.global.u32 %r13, [%rd1]; setp.lt.u32 %p2, %r13, %r11; @%p2 bra W; fence.sc.gpu;"
        "S: bar.sync 0; ld.global.u32 %r14, [%rd5+4096];"
        "setp.lt.u32 %p3, %r14, %r10; @%p3 red.global.add.u32 [%rd1+8], 1;" // must not be older
        "add.u32 %r10, %r10, 1; setp.lt.u32 %p4, %r10, 50; @%p4 bra L; ret; }";
    for (uint32_t jobs = 2; jobs <= 4; jobs++) {
        Rig r;
        open_jobs(&r, text, jobs);
        uint64_t out = rig_alloc(&r, 16384);
        uint8_t params[8];
        memcpy(params, &out, 8);
        VmLaunchParams p = {.func = gr_vm_module_func(r.mod, "k"),
                            .grid = {12, 1, 1},
                            .block = {64, 1, 1},
                            .params = params,
                            .launch = 1,
                            .cooperative = true};
        VmLaunch *l;
        gr_error err = {0};
        assert_int_equal(gr_vm_launch(r.dev, &p, &l, &err), GR_OK);
        rig_drain(&r, 3000);
        assert_null(gr_vm_launch_fault(l));
        gr_vm_launch_free(l);
        const uint32_t *u = rig_view(&r, out, 16384);
        assert_int_equal(u[0], 12 * 50);
        assert_int_equal(u[2], 0);
        rig_close(&r);
    }
}

// EM-72: a lock by compare and swap, with fences, around plain accesses; and Dekker's algorithm's reads and writes: of
// two blocks that each write theirs and read the other's, with fence.sc between, one sees the other's.
static void locks_and_fences_hold(void **state) {
    (void)state;
    static const char text[] = KERNEL("lock") PROLOGUE
        "L: atom.acquire.gpu.global.cas.b32 %r6, [%rd1], 0, 1; setp.ne.u32 %p1, %r6, 0; @%p1 bra L;"
        "ld.global.u32 %r7, [%rd1+64]; add.u32 %r7, %r7, 1; st.global.u32 [%rd1+64], %r7;"
        "st.release.gpu.global.u32 [%rd1], 0; ret; }" KERNEL("dekker")
            PROLOGUE // words: round, mine, other's; two blocks of one thread
        "xor.b32 %r6, %r2, 1; mul.wide.u32 %rd2, %r2, 65536; mul.wide.u32 %rd3, %r6, 65536;"
        "add.u64 %rd4, %rd1, %rd2; add.u64 %rd5, %rd1, %rd3; mov.u32 %r7, 0; mov.u64 %rd6, %rd4; mov.u64 "
        "%rd7, %rd5;"
        "add.u64 %rd8, %rd4, 131072;"
        "L: st.relaxed.gpu.global.u32 [%rd6], 1; fence.sc.gpu; ld.relaxed.gpu.global.u32 %r8, [%rd7];"
        "st.global.u32 [%rd8], %r8; add.u64 %rd6, %rd6, 4; add.u64 %rd7, %rd7, 4; add.u64 %rd8, %rd8, 4;"
        "add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, 16384; @%p1 bra L; ret; }";
    for (uint32_t jobs = 2; jobs <= 3; jobs++) {
        Rig r;
        open_jobs(&r, text, jobs);
        uint64_t out = rig_alloc(&r, 4 * 65536);
        assert_int_equal(RIG_RUN(&r, "lock", 10, 40, out), VM_FAULT_NONE);
        uint32_t *u = rig_view(&r, out, 4 * 65536);
        assert_int_equal(u[16], 400);
        memset(u, 0, 4 * 65536);
        assert_int_equal(RIG_RUN(&r, "dekker", 2, 1, out), VM_FAULT_NONE);
        for (unsigned k = 0; k < 16384; k++)
            assert_true(u[32768 + k] | u[49152 + k]);
        rig_close(&r);
    }
}

// EM-73: one fault ends the launch on all threads and says who it was; another launch does not notice.
static void faults_end_all_shares(void **state) {
    (void)state;
    static const char text[] = KERNEL("bad") PROLOGUE
        "setp.ne.u32 %p1, %r3, 777; @%p1 bra L; mov.u64 %rd2, 64; st.global.u32 [%rd2], %r1;"
        "L: ld.volatile.global.u32 %r6, [%rd1]; setp.eq.u32 %p2, %r6, 0; @%p2 bra L; ret; }" KERNEL("stuck")
            PROLOGUE
        "setp.eq.u32 %p1, %r3, 777; @%p1 bra OTHER; bar.sync 0; ret; OTHER: bar.sync 1; ret; }" KERNEL(
            "endless") PROLOGUE "L: nanosleep.u32 1000; bra L; }" KERNEL("good") PROLOGUE
        "red.global.add.u32 [%rd1+4], 1; ret; }";
    for (uint32_t jobs = 2; jobs <= 4; jobs++) {
        Rig r;
        open_jobs(&r, text, jobs);
        uint64_t out = rig_alloc(&r, 64);
        VmLaunch *l = rig_start(&r, "bad", (Dims){16, 64, 0}, 1, &out);
        VmLaunch *good = rig_start(&r, "good", (Dims){100, 64, 0}, 1, &out);
        rig_drain(&r, 5000);
        const VmFault *f = gr_vm_launch_fault(l);
        assert_non_null(f);
        assert_int_equal(f->kind, VM_FAULT_ILLEGAL_ADDRESS);
        assert_int_equal(f->block[0] * 64 + f->thread[0], 777);
        assert_null(gr_vm_launch_fault(good));
        assert_int_equal(((uint32_t *)rig_view(&r, out, 64))[1], 6400);
        assert_true(good->instructions >= 6400);
        gr_vm_launch_free(l);
        gr_vm_launch_free(good);
        assert_int_equal(RIG_RUN(&r, "stuck", 16, 64, out), VM_FAULT_DEADLOCK);
        assert_int_equal(r.fault.block[0], 12);
        rig_close(&r);
        VmConfig soon = {.seed = 5, .jobs = jobs, .watchdog_ns = 5000000};
        rig_open(&r, text, &soon);
        out = rig_alloc(&r, 64);
        assert_int_equal(RIG_RUN(&r, "endless", 16, 64, out), VM_FAULT_TIMEOUT);
        rig_close(&r);
    }
}

// Threads that sleep until another block has done something; time passes on all threads. EM-71
static void sleepers_wake(void **state) {
    (void)state;
    static const char text[] = KERNEL("k") PROLOGUE
        "mov.u64 %rd2, %globaltimer; setp.ne.u32 %p1, %r2, 0; @%p1 bra W; nanosleep.u32 1000000; "
        "red.global.add.u32 [%rd1], 1; bra E;"
        "W: nanosleep.u32 2000; ld.volatile.global.u32 %r6, [%rd1]; setp.eq.u32 %p2, %r6, 0; @%p2 bra W;"
        "E: mov.u64 %rd3, %globaltimer; setp.lt.u64 %p3, %rd3, %rd2; @%p3 red.global.add.u32 [%rd1+4], 1;"
        "red.global.add.u32 [%rd1+8], 1; ret; }";
    Rig r;
    open_jobs(&r, text, 3);
    uint64_t out = rig_alloc(&r, 64);
    assert_int_equal(RIG_RUN(&r, "k", 6, 32, out), VM_FAULT_NONE);
    const uint32_t *u = rig_view(&r, out, 64);
    assert_int_equal(u[1], 0);
    assert_int_equal(u[2], 192);
    rig_close(&r);
}

// The heap and the output are everybody's: no allocation is handed out twice, no line is torn.
static void heap_and_output_are_shared(void **state) {
    (void)state;
    static const char text[] =
        ".extern .func (.param .b64 p) malloc (.param .b64 n); .extern .func free (.param .b64 p);"
        ".extern .func (.param .b32 n) vprintf (.param .b64 f, .param .b64 a);"
        ".global .align 1 .b8 fmt[8] = {60, 37, 117, 62, 10, 0};" // <%u>
        KERNEL("k") PROLOGUE ".local .align 8 .b8 buf[8]; .reg .b64 %a<8>; mov.u32 %r10, 0;"
                             "L: {.param .b64 n; .param .b64 p; st.param.b64 [n], 24; call.uni (p), malloc, "
                             "(n); ld.param.b64 %a1, [p];}"
                             "setp.eq.u64 %p1, %a1, 0; @%p1 bra E;"
                             "st.u32 [%a1], %r3; st.u32 [%a1+20], %r10; ld.u32 %r11, [%a1]; setp.eq.u32 %p2, "
                             "%r11, %r3; @%p2 red.global.add.u32 [%rd1], 1;"
                             "{.param .b64 p; st.param.b64 [p], %a1; call.uni free, (p);}"
                             "add.u32 %r10, %r10, 1; setp.lt.u32 %p3, %r10, 10; @%p3 bra L;"
                             "mov.u64 %a2, buf; cvta.local.u64 %a3, %a2; st.local.u32 [%a2], %r3; mov.u64 "
                             "%a4, fmt; cvta.global.u64 %a5, %a4;"
                             "{.param .b64 f; .param .b64 a; .param .b32 n; st.param.b64 [f], %a5; "
                             "st.param.b64 [a], %a3; call.uni (n), vprintf, (f, a);}"
                             "E: ret; }";
    Rig r;
    open_jobs(&r, text, 3);
    uint64_t out = rig_alloc(&r, 64);
    assert_int_equal(RIG_RUN(&r, "k", 12, 64, out), VM_FAULT_NONE);
    assert_int_equal(*(uint32_t *)rig_view(&r, out, 4), 12 * 64 * 10);
    static bool seen[12 * 64];
    memset(seen, 0, sizeof seen);
    unsigned lines = 0;
    for (char *p = r.printed.data; p && *p; lines++) {
        unsigned v;
        int used = 0;
        assert_int_equal(sscanf(p, "<%u>\n%n", &v, &used), 1);
        assert_true(used > 0 && v < 12 * 64 && !seen[v]);
        seen[v] = true;
        p += used;
    }
    assert_int_equal(lines, 12 * 64);
    rig_close(&r);
}

// Barriers, shared memory, shuffles, clusters: what is within a block or a cluster stays on one thread. EM-70
static void results_are_those_of_one_thread(void **state) {
    (void)state;
    static const char text[] = KERNEL("k") PROLOGUE
        ".shared .b32 s[128]; mov.u32 %r6, s; shl.b32 %r7, %r1, 2; add.u32 %r6, %r6, %r7; mov.u32 %r8, 0; "
        "mov.u32 %r9, %r3;"
        "L: st.shared.u32 [%r6], %r9; bar.sync 0; xor.b32 %r10, %r7, 256; mov.u32 %r11, s; add.u32 %r11, "
        "%r11, %r10;"
        "ld.shared.u32 %r12, [%r11]; bar.sync 0; shfl.sync.bfly.b32 %r13, %r12, 5, 31, -1; mad.lo.u32 %r9, "
        "%r13, 1664525, %r12;"
        "and.b32 %r14, %r9, 3; setp.eq.u32 %p1, %r14, 0; @%p1 bra M; add.u32 %r9, %r9, %r8; M:"
        "add.u32 %r8, %r8, 1; setp.lt.u32 %p2, %r8, 20; @%p2 bra L;"
        "mul.wide.u32 %rd2, %r3, 4; add.u64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r9; ret; }";
    enum { BYTES = 200 * 128 * 4 };
    void *want = NULL;
    for (uint32_t jobs = 1; jobs <= 5; jobs++) {
        Rig r;
        open_jobs(&r, text, jobs);
        uint64_t out = rig_alloc(&r, BYTES);
        assert_int_equal(RIG_RUN(&r, "k", 200, 128, out), VM_FAULT_NONE);
        void *got = rig_view(&r, out, BYTES);
        if (!want) {
            want = malloc(BYTES);
            memcpy(want, got, BYTES);
        }
        assert_memory_equal(want, got, BYTES);
        rig_close(&r);
    }
    free(want);
}

// EM-74: whoever listens hears one thread's execution, the same in every run.
static void listeners_hear_one_thread(void **state) {
    (void)state;
    static const char text[] =
        KERNEL("k") PROLOGUE "atom.global.add.u32 %r6, [%rd1], %r3; mul.wide.u32 %rd2, %r3, 4; add.u64 %rd3, "
                             "%rd1, %rd2; st.global.u32 [%rd3+8], %r6; ret; }";
    uint64_t hash = 0;
    for (uint32_t jobs = 1; jobs <= 3; jobs++) {
        Rig r;
        open_jobs(&r, text, jobs);
        Ear ear = {0};
        rig_listen(&r, &ear);
        uint64_t out = rig_alloc(&r, 65536);
        assert_int_equal(RIG_RUN(&r, "k", 50, 64, out), VM_FAULT_NONE);
        assert_true(jobs == 1 || ear.hash == hash);
        hash = ear.hash;
        rig_close(&r);
    }
}

// EM-135: half of the blocks store vectors of equal elements, the others count those that they see to be unequal.
static void strong_vectors_are_whole(void **state) {
    (void)state;
    static const char text[] = KERNEL("k") PROLOGUE
        "mov.u32 %r6, 0; mov.u32 %r20, 0; and.b32 %r7, %r2, 1; setp.eq.u32 %p1, %r7, 0; @%p1 bra READ;"
        "W: mad.lo.u32 %r8, %r3, 4096, %r6; cvt.u64.u32 %rd2, %r8; mov.b64 %rd3, {%r8, %r8};"
        "st.relaxed.gpu.global.v2.u64 [%rd1+64], {%rd3, %rd3}; st.relaxed.gpu.global.v4.u32 [%rd1+128], "
        "{%r8, "
        "%r8, %r8, %r8};"
        "st.relaxed.gpu.global.v2.u32 [%rd1+192], {%r8, %r8}; add.u32 %r6, %r6, 1; setp.lt.u32 %p2, %r6, "
        "4000; "
        "@%p2 bra W; ret;"
        "READ: ld.relaxed.gpu.global.v2.u64 {%rd4, %rd5}, [%rd1+64]; setp.ne.u64 %p3, %rd4, %rd5; @%p3 "
        "add.u32 "
        "%r20, %r20, 1;"
        "ld.relaxed.gpu.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd1+128]; setp.ne.u32 %p3, %r10, %r11; "
        "@%p3 "
        "add.u32 %r20, %r20, 1; setp.ne.u32 %p3, %r10, %r13; @%p3 add.u32 %r20, %r20, 1;"
        "ld.relaxed.gpu.global.v2.u32 {%r14, %r15}, [%rd1+192]; setp.ne.u32 %p3, %r14, %r15; @%p3 add.u32 "
        "%r20, "
        "%r20, 1;"
        "add.u32 %r6, %r6, 1; setp.lt.u32 %p2, %r6, 4000; @%p2 bra READ; red.global.add.u32 [%rd1], %r20; "
        "ret; }";
    for (uint32_t jobs = 2; jobs <= 4; jobs += 2) {
        Rig r;
        open_jobs(&r, text, jobs);
        uint64_t out = rig_alloc(&r, 256);
        assert_int_equal(RIG_RUN(&r, "k", 8, 4, out), VM_FAULT_NONE);
        assert_int_equal(*(uint32_t *)rig_view(&r, out, 4), 0);
        rig_close(&r);
    }
}

// Vectors of equal words, of 16 and of 8 bytes: what the host and the device store, each at its place.
typedef struct Vectors {
    _Alignas(16) uint32_t of_host[2][4], of_device[2][4];
    uint32_t unequal, ended; // loads of the device's; by the device
} Vectors;

// Stores vectors until the device has ended, and counts those of the device's that are not equal.
static void *store_vectors(void *user) {
    Vectors *v = user;
    uintptr_t unequal = 0;
    _Alignas(16) uint32_t there[4];
    for (uint32_t n = 0; !__atomic_load_n(&v->ended, __ATOMIC_RELAXED); n++) {
        _Alignas(16) uint32_t mine[4] = {n, n, n, n};
        for (uint32_t k = 0; k < 2; k++) {
            gr_vm_copy_whole(v->of_host[k], mine, 16 >> k);
            gr_vm_copy_whole(there, v->of_device[k], 16 >> k);
            unequal += memcmp(there, there + 1, k ? 4 : 12) != 0;
        }
    }
    return (void *)unequal;
}

// EM-135 of scope .sys, by one thread and one of the host.
static void strong_vectors_are_whole_for_the_host(void **state) {
    (void)state;
    static const char text[] = KERNEL("k") PROLOGUE
        "mov.u32 %r6, 0; mov.u32 %r20, 0;"
        "A: mov.b64 %rd3, {%r6, %r6}; mov.b32 {%h1, %h2}, %r6; st.relaxed.sys.global.v2.u64 [%rd1+32], "
        "{%rd3, %rd3};"
        "st.relaxed.sys.global.v4.u16 [%rd1+48], {%h1, %h2, %h1, %h2};"
        "ld.relaxed.sys.global.v2.u64 {%rd4, %rd5}, [%rd1]; setp.ne.u64 %p3, %rd4, %rd5; @%p3 add.u32 %r20, "
        "%r20, 1;"
        "ld.relaxed.sys.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd1]; setp.ne.u32 %p3, %r10, %r13;"
        "@%p3 add.u32 %r20, %r20, 1;"
        "ld.relaxed.sys.v2.u32 {%r14, %r15}, [%rd1+16]; setp.ne.u32 %p3, %r14, %r15; @%p3 add.u32 %r20, "
        "%r20, 1;"
        "ld.relaxed.sys.global.v4.u16 {%h1, %h2, %h3, %h4}, [%rd1+16]; setp.ne.u16 %p3, %h1, %h3;"
        "@%p3 add.u32 %r20, %r20, 1;"
        "add.u32 %r6, %r6, 1; setp.lt.u32 %p2, %r6, 4000; @%p2 bra A;"
        "red.global.add.u32 [%rd1+64], %r20; mov.u32 %r6, 1; st.relaxed.sys.global.u32 [%rd1+68], %r6; ret; "
        "}";
    Rig r;
    gr_error err = {0};
    VmRange *range;
    pthread_t host;
    void *unequal;
    open_jobs(&r, text, 1);
    assert_int_equal(gr_vm_mem_alloc(r.mem, VM_MEM_PINNED, 0, sizeof(Vectors), 256, &range, &err), GR_OK);
    Vectors *v = rig_view(&r, range->addr, sizeof *v);
    memset(v, 0, sizeof *v);
    assert_int_equal(pthread_create(&host, NULL, store_vectors, v), 0);
    assert_int_equal(RIG_RUN(&r, "k", 1, 32, range->addr), VM_FAULT_NONE);
    assert_int_equal(pthread_join(host, &unequal), 0);
    assert_int_equal(v->unequal, 0);
    assert_null(unequal);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(atomics_are_atomic),
        cmocka_unit_test(blocks_wait_for_earlier_ones),
        cmocka_unit_test(grids_synchronize),
        cmocka_unit_test(locks_and_fences_hold),
        cmocka_unit_test(faults_end_all_shares),
        cmocka_unit_test(sleepers_wake),
        cmocka_unit_test(heap_and_output_are_shared),
        cmocka_unit_test(results_are_those_of_one_thread),
        cmocka_unit_test(listeners_hear_one_thread),
        cmocka_unit_test(strong_vectors_are_whole),
        cmocka_unit_test(strong_vectors_are_whole_for_the_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
