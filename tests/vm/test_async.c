// SPDX-License-Identifier: Apache-2.0
// test_async — asynchronous copies and mbarriers: EM-79 to EM-90 of docs/execution-model.md. The kernels are in
// ptx/async.ptx, which ptxas takes.
#include "async_expect.h"
#include "harness.h"

#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { SEEDS = SANITIZED ? 80 : 200 };

static void open_rig(Rig *r, uint64_t seed) {
    VmConfig c = {.seed = seed, .watchdog_ns = 10000000};
    rig_open_file(r, GR_VM_PTX "/async.ptx", &c);
}

static uint32_t *words(Rig *r, uint64_t at, unsigned n) { return rig_view(r, at, n * 4u); }

static uint64_t numbered(Rig *r, unsigned n, uint32_t first) {
    uint64_t at = rig_alloc(r, n * 4u);
    for (unsigned k = 0; k < n; k++)
        words(r, at, n)[k] = first + k;
    return at;
}

static void ends_well(Rig *r, VmFaultKind kind) {
    if (kind != VM_FAULT_NONE)
        fail_msg("%s", r->fault.msg);
}
#define RUN(r, ...) ends_well(r, RIG_RUN(r, __VA_ARGS__))

// ---- cp.async ------------------------------------------------------------------------------------------------------

static void sizes(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        Rig r;
        open_rig(&r, seed);
        uint64_t in = numbered(&r, 1024, 1000), out = rig_alloc(&r, 4096);
        RUN(&r, "copy_sizes", 1, 64, in, out);
        for (unsigned t = 0; t < 64; t++) {
            const uint32_t *w = words(&r, out, 1024) + t * 8, first = 1000 + t * 8;
            assert_int_equal(w[0], first);
            assert_int_equal(w[1], UINT32_MAX);
            uint64_t mask = t % 8 ? ~UINT64_C(0) >> (64 - 8 * (t % 8)) : 0;
            uint64_t want = ((uint64_t)(first + 3) << 32 | (first + 2)) & mask;
            assert_memory_equal(&w[2], &want, 8);
            for (unsigned k = 0; k < 4; k++)
                assert_int_equal(w[4 + k], t % 2 ? 0 : first + 4 + k);
        }
        rig_close(&r);
    }
}

// What a wait covers is there, of the rest some is and some is not; the source is read when the seed says.
// EM-80, EM-81, EM-82
static void groups(void **state) {
    (void)state;
    for (unsigned keep = 0; keep <= 5; keep++) {
        unsigned sure = keep <= 3 ? 4 - keep : keep == 4 ? 4 : 0, early[4] = {0}, late[4] = {0}, changed = 0;
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            Rig r;
            open_rig(&r, seed);
            uint64_t in = numbered(&r, 4, 100), out = rig_alloc(&r, 64);
            RUN(&r, "copy_groups", 1, 1, in, out, keep);
            const uint32_t *w = words(&r, out, 8);
            for (unsigned k = 0; k < 4; k++) {
                assert_true(w[k] == 0 || w[k] == 100 + k);
                early[k] += w[k] != 0;
                late[k] += w[k] == 0;
                assert_true(w[4 + k] == 100 + k || (k == 3 && w[4 + k] == 77));
            }
            changed += w[7] == 77;
            rig_close(&r);
        }
        for (unsigned k = 0; k < sure; k++)
            assert_int_equal(late[k], 0);
        for (unsigned k = sure; k < 4; k++)
            assert_true(early[k] > 5 && late[k] > 5);
        if (sure == 4)
            assert_int_equal(changed, 0);
        else
            assert_true(changed > 5 && changed < SEEDS - 5);
    }
}

// EM-83
static void copies_arrive(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++)
        for (unsigned noinc = 0; noinc < 2; noinc++) {
            Rig r;
            open_rig(&r, seed);
            uint64_t in = numbered(&r, 128, 500), out = rig_alloc(&r, 128);
            RUN(&r, "copy_mbarrier", 1, 32, in, out, noinc);
            for (unsigned t = 0; t < 32; t++)
                assert_int_equal(words(&r, out, 32)[t], 500 + (t + 1) % 32 * 4 + 3);
            rig_close(&r);
        }
}

// ---- mbarrier ------------------------------------------------------------------------------------------------------

// EM-84
static void forms(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        Rig r;
        open_rig(&r, seed);
        uint64_t out = rig_alloc(&r, 128);
        RUN(&r, "mbarrier_forms", 1, 1, out);
        for (unsigned k = 0; k < 17; k++)
            if (words(&r, out, 17)[k] != mbarrier_forms_want[k])
                fail_msg("question %u: %u, not %u", k, words(&r, out, 17)[k], mbarrier_forms_want[k]);
        rig_close(&r);
    }
}

// Who waits costs nothing: with seven warps waiting the kernel executes hardly more than the one that works.
// EM-85
static void waiters_are_suspended(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        Rig r;
        open_rig(&r, seed);
        uint64_t out = rig_alloc(&r, 1024);
        RUN(&r, "wait_long", 1, 256, out);
        for (unsigned t = 0; t < 256; t++)
            assert_int_equal(words(&r, out, 256)[t], 20000);
        assert_true(r.instructions < 32 * 60000 + 32 * 8 * 500);
        rig_close(&r);
    }
}

// EM-85, EM-86
static void waiters_wake_up(void **state) {
    (void)state;
    Rig r;
    open_rig(&r, 1);
    uint64_t out = rig_alloc(&r, 64);
    RUN(&r, "wait_never", 1, 1, out, 10);
    assert_int_equal(words(&r, out, 1)[0], 10);
    assert_true(r.ns >= 10 * 2000 && r.ns < 10 * 4000 + 4000);
    assert_int_equal(RIG_RUN(&r, "wait_never", 1, 1, out, UINT32_MAX), VM_FAULT_TIMEOUT);
    assert_non_null(strstr(r.fault.msg,
                           "at the mbarrier at offset 0x0 of shared memory, which lacks 1 of 2 arrivals and "
                           "48 bytes"));
    assert_int_not_equal(r.fault.ptx_line, 0);
    rig_close(&r);
}

// ---- Bulk operations -----------------------------------------------------------------------------------------------

// EM-80, EM-87, EM-88
static void bulk(void **state) {
    (void)state;
    for (unsigned wait = 0; wait < 8; wait++) {
        unsigned early = 0, torn = 0, kept = 0, there = 0;
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            Rig r;
            open_rig(&r, seed);
            uint64_t in = numbered(&r, 384, 7000), out = rig_alloc(&r, 4096);
            RUN(&r, "bulk_round", 1, 1, in, out, wait);
            const uint32_t *w = words(&r, out, 1024);
            for (unsigned k = 0; k < 384; k++)
                if (k != 1)
                    assert_int_equal(w[k], 7000 + k);
            assert_true(w[1] == 7001 || w[1] == 12345);
            assert_true((w[512] == 7000 || w[512] == 0) && (w[513] == 7383 || w[513] == 0));
            early += w[512] && w[513];
            torn += !w[512] != !w[513];
            kept += w[1] == 7001;
            there += w[514] == 7000;
            rig_close(&r);
        }
        if (wait & 1)
            assert_int_equal(early, SEEDS);
        else
            assert_true(early > 0 && early < SEEDS - 20 && torn > 5);
        if (wait & 6)
            assert_int_equal(kept, SEEDS);
        else
            assert_true(kept > 5 && kept < SEEDS - 5);
        if (wait & 4)
            assert_int_equal(there, SEEDS);
        else
            assert_true(there > 5 && there < SEEDS - 5);
    }
}

static void bulk_other_forms(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        Rig r;
        open_rig(&r, seed);
        uint64_t in = numbered(&r, 64, 300), out = rig_alloc(&r, 256);
        RUN(&r, "bulk_forms", 1, 1, in, out);
        assert_memory_equal(words(&r, out, 32), words(&r, in, 32), 128);
        rig_close(&r);
    }
}

// EM-89
static void end_of_the_block(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        Rig r;
        open_rig(&r, seed);
        uint64_t out = rig_alloc(&r, 64);
        RUN(&r, "bulk_abandoned", 1, 1, out);
        assert_int_equal(words(&r, out, 4)[3], 42);
        rig_close(&r);
    }
}

// EM-88
static void buffer_is_free_after_reading(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        Rig r;
        open_rig(&r, seed);
        uint64_t out = rig_alloc(&r, 256);
        RUN(&r, "bulk_reuse", 1, 1, out);
        for (unsigned k = 0; k < 32; k++)
            assert_int_equal(words(&r, out, 32)[k], k / 4);
        rig_close(&r);
    }
}

// ---- Reductions ----------------------------------------------------------------------------------------------------

static void reductions(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 5; seed++) {
        Rig r;
        open_rig(&r, seed);
        uint64_t in = rig_alloc(&r, 1024), out = rig_alloc(&r, 1024);
        memcpy(rig_view(&r, in, 1024), reduce_from, sizeof reduce_from);
        memcpy(rig_view(&r, out, 1024), reduce_to, sizeof reduce_to);
        RUN(&r, "reduce_global", 1, 1, in, out);
        const Cell *got = rig_view(&r, out, sizeof reduce_want);
        for (unsigned k = 0; k < 27; k++)
            if (memcmp(got[k].u, reduce_want[k].u, 16))
                fail_msg("reduction %u: %08x %08x %08x %08x", k, got[k].u[0], got[k].u[1], got[k].u[2],
                         got[k].u[3]);
        rig_close(&r);
    }
}

static void updates_of_shared_memory(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        Rig r;
        open_rig(&r, seed);
        uint64_t out = rig_alloc(&r, 128);
        RUN(&r, "shared_updates", 1, 1, out);
        for (unsigned k = 0; k < 32; k++)
            if (words(&r, out, 32)[k] != shared_updates_want[k])
                fail_msg("word %u: %u, not %u", k, words(&r, out, 32)[k], shared_updates_want[k]);
        rig_close(&r);
    }
}

// Blocks on several threads of the host.
static void jobs(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 5; seed++) {
        Rig r;
        VmConfig c = {.seed = seed, .watchdog_ns = 100000000, .jobs = 2};
        rig_open_file(&r, GR_VM_PTX "/async.ptx", &c);
        uint64_t in = numbered(&r, 128, 500), out = rig_alloc(&r, 1024);
        RUN(&r, "copy_mbarrier", 100, 32, in, out, 1);
        for (unsigned t = 0; t < 32; t++)
            assert_int_equal(words(&r, out, 32)[t], 500 + (t + 1) % 32 * 4 + 3);
        memset(rig_view(&r, out, 128), 0, 128);
        RUN(&r, "reduce_blocks", 100, 32, out);
        for (unsigned t = 0; t < 32; t++)
            assert_int_equal(words(&r, out, 32)[t], 6400);
        RUN(&r, "wait_long", 20, 256, out);
        assert_int_equal(words(&r, out, 256)[255], 20000);
        rig_close(&r);
    }
}

static void clusters(void **state) {
    (void)state;
    unsigned faults = 0;
    for (uint64_t seed = 0; seed < 50; seed++) {
        Rig r;
        open_rig(&r, seed);
        uint64_t out = rig_alloc(&r, 64);
        RUN(&r, "remote", 8, 1, out, 0);
        assert_int_equal(words(&r, out, 1)[0], 4711);
        if (RIG_RUN(&r, "remote", 2, 1, out, 1) != VM_FAULT_NONE) {
            assert_int_equal(r.fault.kind, VM_FAULT_CLUSTER_BLOCK);
            assert_non_null(strstr(r.fault.msg, "of block (0,0,0), whose threads have all exited"));
            faults++;
        }
        rig_close(&r);
    }
    assert_int_equal(faults, 50);
}

static void forms_of_later_devices(void **state) {
    (void)state;
    Rig r;
    rig_open_file(&r, GR_VM_PTX "/async_sm100.ptx", NULL);
    uint64_t out = rig_alloc(&r, 128);
    words(&r, out, 18)[17] = 30;
    RUN(&r, "later_forms", 1, 1, out);
    const uint8_t *b = rig_view(&r, out, 64);
    for (unsigned k = 0; k < 64; k++)
        assert_int_equal(b[k], (0x5a >> k % 16 & 1) && (k < 32 || k >= 48) ? 0xff : 0);
    assert_int_equal(words(&r, out, 18)[16], 5);
    assert_int_equal(words(&r, out, 18)[17], 35);
    rig_close(&r);
}

// ---- Mistakes ------------------------------------------------------------------------------------------------------

// EM-87
static void mistakes(void **state) {
    (void)state;
    static const struct {
        VmFaultKind kind;
        const char *says;
    } want[] = {
        {VM_FAULT_MISALIGNED, "the source"},
        {VM_FAULT_MISALIGNED, "the size 0x18, which is not a multiple of 16"},
        {VM_FAULT_ILLEGAL_ADDRESS, "read 512 bytes at"},
        {VM_FAULT_ILLEGAL_ADDRESS, "past the end of a 256-byte allocation"},
        {VM_FAULT_ILLEGAL_INSTRUCTION, "as an mbarrier; it was not initialized as one"},
        {VM_FAULT_ILLEGAL_INSTRUCTION,
         "arrived 2 times at the mbarrier at offset 0x0, which expects 1 of 1 more"},
        {VM_FAULT_ILLEGAL_INSTRUCTION, "initialized an mbarrier for 0 arrivals"},
        {VM_FAULT_ILLEGAL_INSTRUCTION, "by an arrival with .noComplete"},
        {VM_FAULT_ADDRESS_SPACE, "which is no address of shared memory, as an mbarrier"},
        {VM_FAULT_ILLEGAL_INSTRUCTION, "copied to block 1 of its cluster, which has 1"},
        {VM_FAULT_MISALIGNED, "an mbarrier at 0x4, which is not a multiple of 8"},
        {VM_FAULT_ILLEGAL_INSTRUCTION, "copied 9 bytes to a place of 8"},
        {VM_FAULT_MISALIGNED, "the destination"},
        {VM_FAULT_ILLEGAL_INSTRUCTION, "expected 1048576 bytes at the mbarrier"},
        {VM_FAULT_ILLEGAL_INSTRUCTION, "it was not initialized as one"},
    };
    unsigned later = 0;
    for (unsigned k = 0; k < sizeof want / sizeof *want; k++)
        for (uint64_t seed = 0; seed < 10; seed++) {
            Rig r;
            open_rig(&r, seed);
            uint64_t in = rig_alloc(&r, 256);
            VmFaultKind got = RIG_RUN(&r, "mistakes", 1, 1, in, k);
            bool may_be_late = k == 14; // the copy may have completed before
            if (may_be_late && got == VM_FAULT_NONE) {
                later++;
                rig_close(&r);
                continue;
            }
            if (got != want[k].kind || !strstr(r.fault.msg, want[k].says))
                fail_msg("mistake %u: kind %d, %s", k, got, r.fault.msg);
            assert_int_not_equal(r.fault.ptx_line, 0);
            rig_close(&r);
        }
    assert_true(later < 10);
}

// setmaxnreg is for compute capability 9.0a.
static void register_counts(void **state) {
    (void)state;
    Rig r;
    rig_open(&r,
             ".visible .entry k() { setmaxnreg.inc.sync.aligned.u32 240; setmaxnreg.dec.sync.aligned.u32 24; "
             "ret; }"
             ".visible .entry odd() { setmaxnreg.inc.sync.aligned.u32 41; ret; }",
             NULL);
    RUN(&r, "k", 1, 128, 0);
    assert_int_equal(RIG_RUN(&r, "odd", 1, 128, 0), VM_FAULT_ILLEGAL_INSTRUCTION);
    assert_non_null(strstr(r.fault.msg, "setmaxnreg.inc.sync.aligned.u32"));
    rig_close(&r);
}

// EM-79
static void without_clusters(void **state) {
    (void)state;
    for (unsigned k = 0; k < 4; k++) {
        Rig r;
        open_rig(&r, k);
        assert_int_equal(RIG_RUN(&r, "no_cluster", 1, 1, k), VM_FAULT_ILLEGAL_INSTRUCTION);
        assert_non_null(strstr(r.fault.msg, "launched without clusters"));
        rig_close(&r);
    }
}

static void absent_is_named(void **state) {
    (void)state;
    Rig r;
    open_rig(&r, 0);
    const char *const *names;
    assert_int_equal(gr_vm_module_unknown(r.mod, &names), 1);
    assert_non_null(strstr(names[0], "cp.async.bulk.tensor.1d"));
    uint64_t in = rig_alloc(&r, 256);
    assert_int_equal(RIG_RUN(&r, "tensor", 1, 1, in), VM_FAULT_ILLEGAL_INSTRUCTION);
    assert_non_null(strstr(r.fault.msg, "cp.async.bulk.tensor.1d"));
    RUN(&r, "fences", 1, 1, in);
    rig_close(&r);
}

// ---- Observers -----------------------------------------------------------------------------------------------------

typedef struct Story {
    unsigned n[16], fences, accesses;
    uint64_t issued, read_bytes, written_bytes, hash;
    bool order, proxies[4];
} Story;

static void on_async(void *user, const VmAsyncEvent *e) {
    Story *s = user;
    s->n[e->kind]++;
    uint64_t lanes = (uint64_t)__builtin_popcount(e->where.mask);
    if (e->kind == VM_ASYNC_ISSUE)
        s->issued = e->op;
    if (e->kind == VM_ASYNC_READ)
        s->read_bytes += lanes * e->size;
    if (e->kind == VM_ASYNC_WRITE)
        s->written_bytes += lanes * e->size;
    if (e->kind == VM_ASYNC_READ || e->kind == VM_ASYNC_WRITE) {
        s->order &= e->op && e->op <= s->issued && e->where.site != 0;
        s->hash = gr_mix64(s->hash + e->address[__builtin_ctz(e->where.mask)]);
    }
    s->hash = gr_mix64(s->hash + ((uint64_t)e->kind << 32 | e->count) + e->op);
}

static void on_access(void *user, const VmAccessEvent *e) {
    (void)e;
    ((Story *)user)->accesses++;
}

static void on_sync(void *user, const VmSyncEvent *e) {
    Story *s = user;
    if (e->kind == VM_SYNC_FENCE_PROXY) {
        s->fences++;
        s->proxies[e->proxy] = true;
    }
}

static Story listen(const char *kernel, uint64_t seed, unsigned threads, uint32_t wait, uint64_t *ns) {
    Rig r;
    Story s = {.order = true};
    open_rig(&r, seed);
    VmObserver o = {.user = &s, .access = on_access, .sync = on_sync, .async = on_async};
    assert_int_equal(gr_vm_observe(r.dev, &o, NULL), GR_OK);
    uint64_t in = numbered(&r, 1024, 1), out = rig_alloc(&r, 4096);
    RUN(&r, kernel, 1, threads, in, out, wait);
    *ns = r.ns;
    rig_close(&r);
    return s;
}

// EM-90
static void observers(void **state) {
    (void)state;
    uint64_t ns;
    Story s = listen("bulk_round", 3, 1, 7, &ns);
    assert_int_equal(s.n[VM_ASYNC_ISSUE], 9); // three copies in three pieces
    assert_int_equal(s.read_bytes, 3 * 1536);
    assert_int_equal(s.written_bytes, 3 * 1536);
    assert_int_equal(s.n[VM_ASYNC_COMMIT], 1);
    assert_int_equal(s.n[VM_ASYNC_WAIT], 2);
    assert_int_equal(s.n[VM_MBAR_INIT], 1);
    assert_int_equal(s.n[VM_MBAR_EXPECT], 2);
    assert_int_equal(s.n[VM_MBAR_ARRIVE], 2);
    assert_int_equal(s.n[VM_MBAR_TX], 6);
    assert_int_equal(s.n[VM_MBAR_PHASE], 2);
    assert_int_equal(s.n[VM_MBAR_WAIT], 3);
    assert_true(s.order);
    assert_int_equal(s.fences, 2);
    assert_true(s.proxies[VM_PROXY_ASYNC]);
    s = listen("copy_mbarrier", 4, 32, 1, &ns);
    assert_int_equal(s.read_bytes, 512);
    assert_int_equal(s.n[VM_MBAR_ARRIVE], 32);
    assert_int_equal(s.n[VM_MBAR_PHASE], 1);
    s = listen("copy_sizes", 5, 32, 0, &ns);
    assert_int_equal(s.written_bytes, 32 * 28);
    assert_int_equal(s.read_bytes, 32 * 4 + 4 * (0 + 1 + 2 + 3 + 4 + 5 + 6 + 7) + 16 * 16);
    s = listen("fences", 5, 1, 0, &ns);
    assert_int_equal(s.fences, 9);
    assert_true(s.proxies[VM_PROXY_ALIAS] && s.proxies[VM_PROXY_ASYNC] && s.proxies[VM_PROXY_TENSORMAP]);
}

// EM-80
static void same_seed(void **state) {
    (void)state;
    unsigned different = 0;
    for (uint64_t seed = 0; seed < 10; seed++) {
        uint64_t ns[3];
        Story a = listen("bulk_round", seed, 1, 0, &ns[0]), b = listen("bulk_round", seed, 1, 0, &ns[1]),
              c = listen("bulk_round", seed + 100, 1, 0, &ns[2]);
        assert_memory_equal(&a, &b, sizeof a);
        assert_int_equal(ns[0], ns[1]);
        different += a.hash != c.hash;
    }
    assert_true(different > 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),
        cmocka_unit_test(groups),
        cmocka_unit_test(copies_arrive),
        cmocka_unit_test(forms),
        cmocka_unit_test(waiters_are_suspended),
        cmocka_unit_test(waiters_wake_up),
        cmocka_unit_test(bulk),
        cmocka_unit_test(bulk_other_forms),
        cmocka_unit_test(end_of_the_block),
        cmocka_unit_test(buffer_is_free_after_reading),
        cmocka_unit_test(reductions),
        cmocka_unit_test(updates_of_shared_memory),
        cmocka_unit_test(jobs),
        cmocka_unit_test(clusters),
        cmocka_unit_test(forms_of_later_devices),
        cmocka_unit_test(mistakes),
        cmocka_unit_test(register_counts),
        cmocka_unit_test(without_clusters),
        cmocka_unit_test(absent_is_named),
        cmocka_unit_test(observers),
        cmocka_unit_test(same_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
