// SPDX-License-Identifier: Apache-2.0
// test_clusters — clusters of several blocks: their barrier, their registers, and their shared memory as all of them
// see it: EM-53 to EM-60 of docs/execution-model.md.
#include "harness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define KERNEL(name, cluster) ".visible .entry " name "(.param .u64 out) .reqnctapercluster " cluster " {\n"
#define REGS                  ".reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>;\n"
// %rd1 the buffer, %r1 the thread in the block, %r2 the block's rank.
#define PROLOGUE REGS "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %cluster_ctarank;\n"
#define SYNC     "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;\n"

static const uint32_t *words(Rig *r, uint64_t at, unsigned n) { return rig_view(r, at, n * 4u); }

static VmFaultKind run_once(const char *ptx, uint32_t grid, uint32_t block, VmFault *fault) {
    Rig r;
    rig_open(&r, ptx, NULL);
    uint64_t out = rig_alloc(&r, 8192);
    VmFaultKind k = RIG_RUN(&r, "k", grid, block, out);
    *fault = r.fault;
    rig_close(&r);
    return k;
}

// EM-53, EM-54: a 4 x 4 x 2 grid of 2 x 2 x 2 clusters; every block writes what it is.
static void registers(void **state) {
    (void)state;
    Rig r;
    rig_open(
        &r,
        ".visible .entry k(.param .u64 out) {" PROLOGUE
        "mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ctaid.y; mov.u32 %r5, %ctaid.z; mov.u32 %r6, %nctaid.x;"
        "mov.u32 %r7, %nctaid.y; mad.lo.u32 %r8, %r5, %r7, %r4; mad.lo.u32 %r8, %r8, %r6, %r3;"
        "mul.wide.u32 %rd2, %r8, 64; add.s64 %rd2, %rd1, %rd2;"
        "mov.u32 %r9, %clusterid.x; st.global.u32 [%rd2], %r9; mov.u32 %r9, %clusterid.y;"
        "st.global.u32 [%rd2+4], %r9; mov.u32 %r9, %clusterid.z; st.global.u32 [%rd2+8], %r9;"
        "mov.u32 %r9, %cluster_ctaid.x; st.global.u32 [%rd2+12], %r9; mov.u32 %r9, %cluster_ctaid.y;"
        "st.global.u32 [%rd2+16], %r9; mov.u32 %r9, %cluster_ctaid.z; st.global.u32 [%rd2+20], %r9;"
        "st.global.u32 [%rd2+24], %r2; mov.u32 %r9, %cluster_nctarank; st.global.u32 [%rd2+28], %r9;"
        "mov.u32 %r9, %nclusterid.x; st.global.u32 [%rd2+32], %r9; mov.u32 %r9, %nclusterid.z;"
        "st.global.u32 [%rd2+36], %r9; mov.u32 %r9, %cluster_nctaid.y; st.global.u32 [%rd2+40], %r9;"
        "mov.pred %p1, %is_explicit_cluster; selp.u32 %r9, 1, 0, %p1; st.global.u32 [%rd2+44], %r9; ret; }",
        NULL);
    uint64_t out = rig_alloc(&r, 32 * 64);
    VmLaunchParams p = {.func = gr_vm_module_func(r.mod, "k"),
                        .grid = {4, 4, 2},
                        .block = {32, 1, 1},
                        .params = &out,
                        .launch = 1,
                        .cluster = {2, 2, 2}};
    VmLaunch *l;
    assert_int_equal(gr_vm_launch(r.dev, &p, &l, NULL), GR_OK);
    rig_drain(&r, 1000);
    assert_null(gr_vm_launch_fault(l));
    gr_vm_launch_free(l);
    for (uint32_t b = 0; b < 32; b++) {
        uint32_t x = b % 4, y = b / 4 % 4, z = b / 16;
        const uint32_t want[12] = {
            x / 2, y / 2, z / 2, x % 2, y % 2, z % 2, x % 2 + 2 * (y % 2) + 4 * (z % 2), 8, 2, 1, 2, 1};
        assert_memory_equal(words(&r, out + b * 64u, 12), want, sizeof want);
    }
    rig_close(&r);
}

typedef struct Starts {
    uint64_t block[64];
    unsigned n, resident, most;
} Starts;

static void begin_block(void *user, uint64_t launch, uint64_t block) {
    Starts *s = user;
    (void)launch;
    s->block[s->n++ % 64] = block;
    if (++s->resident > s->most)
        s->most = s->resident;
}
static void end_block(void *user, uint64_t launch, uint64_t block) {
    (void)launch;
    (void)block;
    ((Starts *)user)->resident--;
}

// EM-54: whole clusters start, in order; residency holds for whole ones.
static void clusters_start_together(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 5; seed++) {
        Rig r;
        VmConfig c = {.seed = seed, .sm_count = 1};
        rig_open(&r, KERNEL("k", "4, 1, 1") PROLOGUE SYNC "nanosleep.u32 1000;" SYNC "ret; }", &c);
        Starts s = {0};
        VmObserver ear = {.user = &s, .block_begin = begin_block, .block_end = end_block};
        assert_int_equal(gr_vm_observe(r.dev, &ear, NULL), GR_OK);
        uint64_t out = rig_alloc(&r, 4096);
        // 6 blocks of 320 threads fit on the multiprocessor: one cluster of 4.
        assert_int_equal(gr_vm_occupancy(r.dev, gr_vm_module_func(r.mod, "k"), 320, 0), 6);
        assert_int_equal(RIG_RUN(&r, "k", 32, 320, out), VM_FAULT_NONE);
        assert_int_equal(s.n, 32);
        for (unsigned k = 0; k < 32; k++)
            assert_int_equal(s.block[k], k);
        assert_int_equal(s.most, 4);
        rig_close(&r);
    }
}

// EM-55: nobody is past the barrier before all have arrived; a warp may do other things between arriving and waiting.
static void barrier(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 8; seed++) {
        Rig r;
        VmConfig c = {.seed = seed, .split_one_in = 20};
        rig_open(
            &r,
            KERNEL("k", "4, 1, 1") PROLOGUE
            "mov.u32 %r3, 0; mov.u32 %r10, %clusterid.x; mul.wide.u32 %rd3, %r10, 4; add.s64 %rd3, %rd1, "
            "%rd3;"
            "L: atom.global.add.u32 %r4, [%rd3], 1; barrier.cluster.arrive; add.u32 %r5, %r3, 1;"
            "barrier.cluster.wait; ld.global.u32 %r6, [%rd3]; mul.lo.u32 %r7, %r5, 280;" // 4 blocks of 70
            "setp.lt.u32 %p1, %r6, %r7; @%p1 st.global.u32 [%rd1+128], 1;" SYNC
            "mov.u32 %r3, %r5; setp.lt.u32 %p2, %r3, 5; @%p2 bra L; ret; }",
            &c);
        uint64_t out = rig_alloc(&r, 4096);
        assert_int_equal(RIG_RUN(&r, "k", 12, 70, out), VM_FAULT_NONE);
        for (unsigned k = 0; k < 3; k++)
            assert_int_equal(words(&r, out, 3)[k], 5 * 280);
        assert_int_equal(words(&r, out, 33)[32], 0);
        rig_close(&r);
    }
}

// EM-55: who has exited is not waited for, arrived before or not; whole blocks neither.
static void barrier_and_exits(void **state) {
    (void)state;
    Rig r;
    rig_open(
        &r,
        KERNEL("k", "4, 1, 1") PROLOGUE
        "setp.eq.u32 %p1, %r2, 1; @%p1 exit; setp.lt.u32 %p2, %r1, 5; @%p2 nanosleep.u32 5000; @%p2 exit;"
        "barrier.cluster.arrive; setp.lt.u32 %p3, %r1, 40; @%p3 exit; barrier.cluster.wait;"
        "atom.global.add.u32 %r4, [%rd1], 1; ret; }",
        NULL);
    uint64_t out = rig_alloc(&r, 64);
    assert_int_equal(RIG_RUN(&r, "k", 4, 64, out), VM_FAULT_NONE);
    assert_int_equal(words(&r, out, 1)[0], 3 * 24);
    rig_close(&r);
}

// EM-56: arriving twice, and waiting without having arrived.
static void barrier_misuse(void **state) {
    (void)state;
    VmFault f;
    assert_int_equal(run_once(KERNEL("k", "2, 1, 1") PROLOGUE
                              "barrier.cluster.arrive; setp.eq.u32 %p1, %r1, 3; @%p1 barrier.cluster.arrive;"
                              "barrier.cluster.wait; ret; }",
                              2, 32, &f),
                     VM_FAULT_ILLEGAL_INSTRUCTION);
    assert_non_null(strstr(f.msg, "thread (3,0,0)"));
    assert_non_null(strstr(f.msg, "arrived at the cluster barrier again"));
    assert_int_equal(run_once(KERNEL("k", "2, 1, 1") PROLOGUE "barrier.cluster.wait; ret; }", 2, 32, &f),
                     VM_FAULT_ILLEGAL_INSTRUCTION);
    assert_non_null(strstr(f.msg, "without having arrived"));
}

// EM-57: a cluster barrier that a block never reaches because it waits for something else.
static void deadlock(void **state) {
    (void)state;
    VmFault f;
    assert_int_equal(run_once(KERNEL("k", "2, 1, 1") PROLOGUE
                              "setp.eq.u32 %p1, %r2, 1; @%p1 bra B;" SYNC "ret;"
                              "B: setp.lt.u32 %p2, %r1, 16; @%p2 bra C; bar.sync 1; C: " SYNC "ret; }",
                              2, 32, &f),
                     VM_FAULT_DEADLOCK);
    assert_non_null(strstr(f.msg, "cluster"));
    assert_non_null(strstr(f.msg, "of block (0,0,0) and 31 more wait at a cluster barrier"));
    assert_non_null(strstr(f.msg, "of block (1,0,0)"));
    assert_non_null(strstr(f.msg, "at a barrier"));
    // A block that waits for its own threads alone is a deadlock though its neighbour runs for ever.
    assert_int_equal(run_once(KERNEL("k", "2, 1, 1") PROLOGUE
                              "setp.eq.u32 %p1, %r2, 1; @%p1 bra B; L: ld.volatile.global.u32 %r3, [%rd1];"
                              "setp.eq.u32 %p2, %r3, 0; @%p2 bra L; ret; B: bar.sync 2, 64; ret; }",
                              2, 32, &f),
                     VM_FAULT_DEADLOCK);
    assert_non_null(strstr(f.msg, "block (1,0,0) can make no progress"));
}

// EM-58: every block writes its rank and word to all blocks of the cluster, in every form there is, and reads back.
static void remote_forms(void **state) {
    (void)state;
    static const char *const forms[] = {
        // 32-bit shared::cluster addresses
        "mapa.shared::cluster.u32 %r20, s, %r5; st.shared::cluster.u32 [%r20+16], %r6; "
        "ld.shared::cluster.u32 %r7, [%r20+16];",
        // 64-bit ones
        "mov.u64 %rd4, s; mapa.shared::cluster.u64 %rd5, %rd4, %r5; st.shared::cluster.u32 [%rd5+16], %r6; "
        "ld.shared::cluster.u32 %r7, [%rd5+16];",
        // generic
        "mov.u64 %rd4, s; cvta.shared.u64 %rd4, %rd4; mapa.u64 %rd5, %rd4, %r5; st.u32 [%rd5+16], %r6; "
        "ld.u32 %r7, [%rd5+16];",
        // generic from a cluster address, and back
        "mov.u64 %rd4, s; mapa.shared::cluster.u64 %rd5, %rd4, %r5; cvta.shared::cluster.u64 %rd6, %rd5; "
        "st.u32 [%rd6+16], %r6; cvta.to.shared::cluster.u64 %rd7, %rd6; ld.shared::cluster.u32 %r7, "
        "[%rd7+16];",
        // vectors
        "mapa.shared::cluster.u32 %r20, s, %r5; st.shared::cluster.v4.u32 [%r20+16], {%r6, %r1, %r2, %r5}; "
        "ld.shared::cluster.v2.u32 {%r7, %r21}, [%r20+16]; ld.shared::cluster.v4.u32 {%r22, %r23, %r24, "
        "%r25}, "
        "[%r20+16]; setp.ne.u32 %p5, %r25, %r5; @%p5 trap;",
        "mapa.shared::cluster.u32 %r20, s, %r5; cvt.u64.u32 %rd8, %r6; st.shared::cluster.v2.u64 [%r20+16], "
        "{%rd8, %rd1}; ld.shared::cluster.v2.u64 {%rd9, %rd10}, [%r20+16]; cvt.u32.u64 %r7, %rd9;",
        // parts of words
        "mapa.shared::cluster.u32 %r20, s, %r5; shr.u32 %r21, %r6, 8; cvt.u16.u32 %h1, %r6; cvt.u16.u32 %h2, "
        "%r21;"
        "st.shared::cluster.u8 [%r20+16], %h1; st.shared::cluster.u8 [%r20+17], %h2; st.shared::cluster.u16 "
        "[%r20+18], 0; ld.shared::cluster.u16 %h3, [%r20+16]; ld.shared::cluster.s8 %h4, [%r20+17];"
        "cvt.u32.u16 %r7, %h3;",
        // atomics
        "mapa.shared::cluster.u32 %r20, s, %r5; st.shared::cluster.u32 [%r20+16], 0; "
        "red.relaxed.cluster.shared::cluster.add.u32 [%r20+16], %r6; "
        "atom.acq_rel.cluster.shared::cluster.exch.b32 %r7, [%r20+16], %r6; setp.ne.u32 %p5, %r7, %r6; @%p5 "
        "trap; "
        "atom.shared::cluster.cas.b32 %r7, [%r20+16], %r6, %r6;",
        "mov.u64 %rd4, s; cvta.shared.u64 %rd4, %rd4; mapa.u64 %rd5, %rd4, %r5; st.u64 [%rd5+16], 0; "
        "cvt.u64.u32 %rd8, %r6; atom.add.u64 %rd9, [%rd5+16], %rd8; ld.u32 %r7, [%rd5+16];",
    };
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
        char text[3000];
        snprintf(
            text, sizeof text,
            "%s%s.shared .align 16 .b8 pad[48]; .shared .align 16 .b8 s[4096];"
            "st.shared.u32 [pad], 7;"
            // one thread of each block in turn: the words of the others are %%tid * 16 apart
            "mov.u32 %%r3, %%cluster_nctarank; mov.u32 %%r8, 0; mov.u32 %%r5, 0;" SYNC
            "L: mad.lo.u32 %%r6, %%r2, 100, %%r5; add.u32 %%r6, %%r6, 1000; setp.ne.u32 %%p3, %%r1, 0;"
            "setp.ne.u32 %%p4, %%r8, %%r2; or.pred %%p3, %%p3, %%p4; @%%p3 bra NEXT;\n%s\n"
            "setp.ne.u32 %%p1, %%r6, %%r7; @%%p1 trap; ld.shared.u32 %%r9, [s+16]; "
            "setp.eq.u32 %%p1, %%r5, %%r2; setp.ne.and.u32 %%p2, %%r9, %%r6, %%p1; @%%p2 trap;"
            "NEXT:" SYNC
            // now everyone looks at its own
            "ld.shared.u32 %%r9, [s+16]; setp.ne.u32 %%p1, %%r5, %%r2; mad.lo.u32 %%r10, %%r8, 100, %%r5;"
            "add.u32 %%r10, %%r10, 1000; setp.ne.u32 %%p2, %%r9, %%r10; @!%%p1 bra MINE; bra OTHER;"
            "MINE: @%%p2 trap; OTHER: add.u32 %%r5, %%r5, 1; setp.lt.u32 %%p1, %%r5, %%r3;" SYNC
            "@%%p1 bra L;"
            "mov.u32 %%r5, 0; add.u32 %%r8, %%r8, 1; setp.lt.u32 %%p1, %%r8, %%r3; @%%p1 bra L;"
            "atom.global.add.u32 %%r9, [%%rd1], 1; ret; }",
            KERNEL("k", "4, 1, 1"), PROLOGUE, forms[k]);
        Rig r;
        rig_open(&r, text, NULL);
        uint64_t out = rig_alloc(&r, 64);
        if (RIG_RUN(&r, "k", 8, 40, out) != VM_FAULT_NONE)
            fail_msg("form %zu: %s", k, r.fault.msg);
        assert_int_equal(words(&r, out, 1)[0], 8 * 40);
        rig_close(&r);
    }
}

// EM-58: what one block hands to another as an address of its own means the same there; dynamic shared memory too.
static void addresses_travel(void **state) {
    (void)state;
    Rig r;
    rig_open(
        &r,
        ".extern .shared .align 16 .b8 dyn[];" KERNEL("k", "2, 1, 1") PROLOGUE
        "mov.u64 %rd4, dyn; cvta.shared.u64 %rd4, %rd4; mul.wide.u32 %rd5, %r2, 8; add.s64 %rd5, %rd1, %rd5;"
        "add.u32 %r3, %r2, 50; st.shared.u32 [dyn], %r3; st.global.u64 [%rd5], %rd4;" SYNC
        "xor.b32 %r4, %r2, 1; mul.wide.u32 %rd5, %r4, 8; add.s64 %rd5, %rd1, %rd5; ld.global.u64 %rd6, "
        "[%rd5];"
        "ld.u32 %r5, [%rd6]; mul.wide.u32 %rd7, %r2, 4; add.s64 %rd7, %rd1, %rd7;"
        "isspacep.shared::cluster %p1, %rd6; isspacep.shared::cta %p2, %rd6; selp.u32 %r6, 256, 0, %p1; "
        "selp.u32 %r7, 512, 0, %p2; add.u32 %r5, %r5, %r6; add.u32 %r5, %r5, %r7;"
        "isspacep.shared %p3, %rd4; selp.u32 %r6, 1024, 0, %p3; add.u32 %r5, %r5, %r6; isspacep.global %p3, "
        "%rd6;"
        "selp.u32 %r6, 2048, 0, %p3; add.u32 %r5, %r5, %r6; getctarank.u64 %r8, %rd6; shl.b32 %r8, %r8, 16;"
        "add.u32 %r5, %r5, %r8; cvta.to.shared.u64 %rd8, %rd4; cvt.u32.u64 %r9, %rd8;"
        "getctarank.shared::cluster.u32 %r10, %r9; shl.b32 %r10, %r10, 20; add.u32 %r5, %r5, %r10;"
        "st.global.u32 [%rd7+64], %r5;" SYNC "ret; }",
        NULL);
    uint64_t out = rig_alloc(&r, 256);
    Dims d = {2, 32, 128};
    assert_int_equal(rig_run(&r, "k", d, 1, &out), VM_FAULT_NONE);
    // block 0: found 51 and the flags, the other's rank 1, its own 0
    assert_int_equal(words(&r, out + 64, 2)[0], 51 + 256 + 1024 + (1 << 16));
    assert_int_equal(words(&r, out + 64, 2)[1], 50 + 256 + 1024 + (1 << 20));
    rig_close(&r);
}

// EM-59
static void remote_faults(void **state) {
    (void)state;
    static const struct {
        const char *body;
        VmFaultKind kind;
        const char *says;
    } rows[] = {
        {"setp.eq.u32 %p1, %r2, 1; @%p1 exit; nanosleep.u32 100000; mapa.shared::cluster.u32 %r4, s, 1; "
         "ld.shared::cluster.u32 %r5, [%r4]; ret; }",
         VM_FAULT_CLUSTER_BLOCK,
         "read 4 bytes of the shared memory of block (1,0,0), whose threads have all exited"},
        {"mapa.shared::cluster.u32 %r4, s, 5; st.shared::cluster.u32 [%r4], 1;" SYNC "ret; }",
         VM_FAULT_CLUSTER_BLOCK, "wrote 4 bytes of the shared memory of block 5 of a cluster of 2"},
        {"mov.u64 %rd4, s; cvta.shared.u64 %rd4, %rd4; mapa.u64 %rd4, %rd4, 1000; atom.add.u32 %r4, [%rd4], "
         "1;" SYNC "ret; }",
         VM_FAULT_CLUSTER_BLOCK, "updated 4 bytes of the shared memory of block 255 of a cluster of 2"},
        {"setp.eq.u32 %p1, %r2, 1; @%p1 bra E; mapa.shared::cluster.u32 %r4, s, 1; ld.shared::cluster.u32 "
         "%r5, "
         "[%r4+64]; E:" SYNC "ret; }",
         VM_FAULT_ILLEGAL_ADDRESS,
         "read 4 bytes at offset 0x40 of 64 bytes of the shared memory of block (1,0,0)"},
        {"setp.eq.u32 %p1, %r2, 1; @%p1 bra E; mapa.shared::cluster.u32 %r4, s, 1; ld.shared::cta.u32 %r5, "
         "[%r4]; "
         "E:" SYNC "ret; }",
         VM_FAULT_ADDRESS_SPACE, "of the shared memory of block (1,0,0) as if it were its own"},
        {"setp.eq.u32 %p1, %r2, 0; @%p1 bra E; ld.shared.u32 %r5, [s+64]; E:" SYNC "ret; }",
         VM_FAULT_ILLEGAL_ADDRESS, "read 4 bytes at offset 0x40 of 64 bytes of shared memory"},
        {"mapa.u64 %rd4, %rd1, 1; ret; }", VM_FAULT_ADDRESS_SPACE,
         "which is not an address of shared memory"},
        {"mapa.shared::cluster.u32 %r4, s, 1; st.shared::cluster.u32 [%r4+2], 1;" SYNC "ret; }",
         VM_FAULT_MISALIGNED, "wrote 4 bytes"},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char text[1500];
        VmFault f;
        snprintf(text, sizeof text, "%s%s.shared .align 16 .b8 s[64];%s", KERNEL("k", "2, 1, 1"), PROLOGUE,
                 rows[k].body);
        VmFaultKind got = run_once(text, 2, 32, &f);
        if (got != rows[k].kind || !strstr(f.msg, rows[k].says))
            fail_msg("row %zu: kind %d, %s", k, (int)got, f.msg);
    }
}

typedef struct Heard {
    uint64_t own, remote, arrive[2], release[2], relaxed;
    bool wrong;
} Heard;

static void hear_access(void *user, const VmAccessEvent *e) {
    Heard *h = user;
    if (e->space != PTX_SHARED)
        return;
    unsigned lanes = (unsigned)__builtin_popcount(e->where.mask);
    if (e->owner == e->where.block_linear)
        h->own += lanes;
    else {
        h->remote += lanes;
        h->wrong |= e->owner / 2 != e->where.block_linear / 2;
    }
    for (uint32_t m = e->where.mask; m; m &= m - 1)
        h->wrong |= e->address[__builtin_ctz(m)] != 8u * (unsigned)__builtin_ctz(m);
}

static void hear_sync(void *user, const VmSyncEvent *e) {
    Heard *h = user;
    if (e->kind != VM_SYNC_CLUSTER_ARRIVE && e->kind != VM_SYNC_CLUSTER_RELEASE)
        return;
    bool arrive = e->kind == VM_SYNC_CLUSTER_ARRIVE;
    unsigned lanes = (unsigned)__builtin_popcount(e->where.mask);
    if (e->barrier > 1) {
        h->wrong = true;
        return;
    }
    (arrive ? h->arrive : h->release)[e->barrier] += lanes;
    h->relaxed += e->sem == PTX_RELAXED ? lanes : 0;
    h->wrong |= e->scope != PTX_SCOPE_CLUSTER || e->cluster != e->where.block_linear / 2 ||
                e->sem != (!arrive      ? PTX_ACQUIRE
                           : e->barrier ? PTX_RELAXED
                                        : PTX_RELEASE);
}

// EM-60
static void observers_hear_clusters(void **state) {
    (void)state;
    Rig r;
    Heard h = {0};
    rig_open(&r,
             KERNEL("k", "2, 1, 1") PROLOGUE
             ".shared .align 16 .b8 s[256]; " SYNC // phase 0
             "shr.u32 %r4, %r1, 4; mov.u32 %r5, s; shl.b32 %r6, %r1, 3; add.u32 %r5, %r5, %r6;"
             "mapa.shared::cluster.u32 %r7, %r5, %r4; atom.shared::cluster.add.u64 %rd3, [%r7], "
             "1;" // half and half
             "barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned; ret; }",
             NULL);
    VmObserver ear = {.user = &h, .access = hear_access, .sync = hear_sync};
    assert_int_equal(gr_vm_observe(r.dev, &ear, NULL), GR_OK);
    uint64_t out = rig_alloc(&r, 64);
    assert_int_equal(RIG_RUN(&r, "k", 2, 32, out), VM_FAULT_NONE);
    assert_false(h.wrong);
    assert_int_equal(h.own, 32);
    assert_int_equal(h.remote, 32);
    for (unsigned k = 0; k < 2; k++) {
        assert_int_equal(h.arrive[k], 64);
        assert_int_equal(h.release[k], 64);
    }
    assert_int_equal(h.relaxed, 64);
    rig_close(&r);
}

// Functions called, and their frames used again by other blocks: addresses of shared variables must be the block's.
static void frames_move_between_blocks(void **state) {
    (void)state;
    Rig r;
    rig_open(
        &r,
        ".shared .align 4 .b8 g[64];"
        ".func (.param .b32 res) f(.param .b32 a) { " REGS "ld.param.u32 %r1, [a]; st.shared.u32 [g], %r1;"
        "mov.u32 %r2, g; st.param.b32 [res], %r2; ret; }" KERNEL("k", "4, 1, 1") PROLOGUE
        "mov.u32 %r9, 0; L: { .param .b32 p; .param .b32 q; st.param.b32 [p], %r2; call.uni (q), f, (p); "
        "ld.param.b32 %r3, [q]; } shr.u32 %r4, %r3, 24; setp.ne.u32 %p1, %r4, %r2; @%p1 trap;"
        "ld.shared.u32 %r5, [g]; setp.ne.u32 %p1, %r5, %r2; @%p1 trap; add.u32 %r9, %r9, 1; setp.lt.u32 %p2, "
        "%r9, 20; nanosleep.u32 100; @%p2 bra L;" SYNC "ret; }",
        NULL);
    uint64_t out = rig_alloc(&r, 64);
    if (RIG_RUN(&r, "k", 64, 32, out) != VM_FAULT_NONE)
        fail_msg("%s", r.fault.msg);
    rig_close(&r);
}

// EM-10 for clusters, and what the device refuses.
static void refusals(void **state) {
    (void)state;
    Rig r;
    gr_error err;
    VmConfig c = {.sm_count = 1};
    rig_open(&r, ".visible .entry k() { ret; } .visible .entry two() .reqnctapercluster 2, 1, 1 { ret; }",
             &c);
    VmLaunchParams p = {.func = gr_vm_module_func(r.mod, "k"),
                        .grid = {34, 1, 1},
                        .block = {32, 1, 1},
                        .launch = 1,
                        .cluster = {17, 1, 1}};
    VmLaunch *l;
    assert_int_equal(gr_vm_launch(r.dev, &p, &l, &err), GR_ERR_LIMIT);
    p.cluster[0] = 4;
    assert_int_equal(gr_vm_launch(r.dev, &p, &l, &err), GR_ERR_ARGUMENT);
    p.cluster[0] = 2;
    p.cooperative = true; // 32 are resident
    assert_int_equal(gr_vm_launch(r.dev, &p, &l, &err), GR_ERR_LIMIT);
    p.func = gr_vm_module_func(r.mod, "two");
    p.cooperative = false;
    p.cluster[0] = 1;
    assert_int_equal(gr_vm_launch(r.dev, &p, &l, &err), GR_ERR_ARGUMENT);
    p.cluster[0] = 0;
    p.grid[0] = 3;
    assert_int_equal(gr_vm_launch(r.dev, &p, &l, &err), GR_ERR_ARGUMENT);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers),
        cmocka_unit_test(clusters_start_together),
        cmocka_unit_test(barrier),
        cmocka_unit_test(barrier_and_exits),
        cmocka_unit_test(barrier_misuse),
        cmocka_unit_test(deadlock),
        cmocka_unit_test(remote_forms),
        cmocka_unit_test(addresses_travel),
        cmocka_unit_test(remote_faults),
        cmocka_unit_test(observers_hear_clusters),
        cmocka_unit_test(frames_move_between_blocks),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests_name("vm.clusters", tests, NULL, NULL);
}
