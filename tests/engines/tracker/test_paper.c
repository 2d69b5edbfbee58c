// SPDX-License-Identifier: Apache-2.0
// The rules of the iGUARD paper (device/paper.c), run on the host. Each row of expected.tsv has its events run through
// the device runtime, and the races must be the table's. Without a rule that decides a row, as the table has it, the
// outcome must be another one.
//
//     test_paper EXPECTED.TSV
#include "fake_device.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static uint32_t without; // rules that do not count
#define GR_PAPER_WITHOUT without
#include "engines/tracker/device/paper.c"

// ---- What threads do -------------------------------------------------------------------------------------------

enum { X = 256, ATOMIC = GR_WHAT_WRITES | GR_WHAT_READS | GR_WHAT_ATOMIC };

static void as(uint32_t block, uint32_t tid, uint32_t mask) {
    gr_now.block = block;
    gr_now.tid = tid;
    gr_now.mask = mask ? mask : 1u << tid % 32;
}

// Whoever was there before has left counters and locks.
static void launch(void) {
    gr_now.launch++;
    for (uint32_t n = 0; n < BLOCKS * THREADS; n++) {
        as(n / THREADS, n % THREADS, 0);
        __gr_begin();
    }
}

static void order(GrOrder kind, GrStrength scope, uint32_t how) {
    __gr_order((uint32_t)kind | (uint32_t)scope << GR_ORDER_SCOPE | how, ~0u);
}
enum { BOTH = GR_ORDER_RELEASES | GR_ORDER_ACQUIRES };

static void block_barrier(uint32_t block) {
    for (uint32_t t = 0; t < THREADS; t++) {
        as(block, t, ~0u);
        order(GR_ORDER_BARRIER, GR_STRONG_CTA, BOTH);
    }
}

static void warp_barrier(uint32_t block, uint32_t warp) {
    for (uint32_t t = 0; t < 32; t++) {
        as(block, warp * 32 + t, ~0u);
        order(GR_ORDER_WARP, GR_STRONG_CTA, BOTH);
    }
}

static void touch(char mark, uint32_t what, uint32_t size, uint64_t at) {
    __gr_access(mark ? (uint32_t)(mark - 'A') + 1 : 27, what | size, at, ~UINT64_C(0));
}

static char mark_of(uint32_t site) { return site && site < 27 ? (char)('A' + site - 1) : '?'; }

static int by_text(const void *a, const void *b) { return strcmp(a, b); }

// The races that were recorded, as the table has them; "dropped" for those whose other side has no site.
static const char *races(void) {
    static char text[512];
    char all[PAIRS + 1][16];
    unsigned n = 0;
    const GrTrackedHeader *head = (const GrTrackedHeader *)(uintptr_t)control.area;
    const GrPair *p = (const GrPair *)(head + 1);
    if (head->dropped)
        snprintf(all[n++], sizeof *all, "dropped");
    for (unsigned k = 0; k < PAIRS; k++) {
        if (p[k].state != GR_PAIR_READY)
            continue;
        char a = mark_of(p[k].side[0].site), b = mark_of(p[k].side[1].site);
        assert_int_equal(p[k].class, 39 + p[k].rule);
        snprintf(all[n++], sizeof *all, "%c%c R%u", a < b ? a : b, a < b ? b : a, p[k].rule);
    }
    qsort(all, n, sizeof *all, by_text);
    size_t len = 0;
    text[0] = 0;
    for (unsigned k = 0; k < n; k++)
        if (!k || strcmp(all[k], all[k - 1]))
            len += (size_t)snprintf(text + len, sizeof text - len, "%s%s", len ? ", " : "", all[k]);
    return len ? text : "clean";
}

// ---- The events of the table (table2.py) -------------------------------------------------------------------------

static uint64_t word_of(const char *name, uint32_t tid) {
    static const uint32_t locks[] = {0, 9, 18};
    uint32_t k = *name == 'x'     ? X
                 : *name == 'f'   ? X + 64
                 : *name == 'g'   ? X + 128
                 : *name == 'l'   ? locks[1]
                 : name[1] == '%' ? locks[tid % 3]
                 : name[1] >= '0' ? locks[(name[1] - '0') % 3]
                                  : locks[0];
    return (uint64_t)k * 4;
}

static void one(uint32_t block, uint32_t tid, uint32_t mask, const char *op, char mark, const char *name,
                int byte) {
    bool narrow = op[0] && op[1] && op[strlen(op) - 1] == 'b' && strcmp(op, "fb");
    uint32_t atomic = ATOMIC | (uint32_t)(narrow ? GR_STRONG_CTA : GR_STRONG_GPU) << GR_WHAT_STRENGTH;
    uint64_t at = word_of(*name ? name : "x", tid) + (uint64_t)(byte < 0 ? 0 : byte);
    uint32_t size = byte < 0 ? 4 : 1;
    as(block, tid, mask);
    if (!strcmp(op, "bar"))
        block_barrier(block);
    else if (!strcmp(op, "sw"))
        warp_barrier(block, tid / 32);
    else if (!strcmp(op, "f") || !strcmp(op, "fb"))
        order(GR_ORDER_FENCE, op[1] ? GR_STRONG_CTA : GR_STRONG_GPU, BOTH);
    else if (!strcmp(op, "r"))
        touch(mark, GR_WHAT_READS, size, at);
    else if (!strcmp(op, "w"))
        touch(mark, GR_WHAT_WRITES, size, at);
    else if (!strncmp(op, "cas", 3))
        touch(mark, atomic | GR_WHAT_CAS, size, at);
    else if (!strncmp(op, "xch", 3))
        touch(mark, atomic | GR_WHAT_EXCH, size, at);
    else if (!strcmp(op, "a") || !strcmp(op, "ab"))
        touch(mark, atomic, size, at);
    else
        fail_msg("unknown operation %s", op);
}

// [TIMES*]THREADS:OPERATION[.MARK][@NAME][#BYTE]
static void event(const char *text) {
    char who[64] = "", op[8] = "", name[8] = "", mark = 0;
    int byte = -1;
    unsigned times = 1;
    const char *star = strchr(text, '*'), *p = star ? star + 1 : text;
    if (star)
        times = (unsigned)strtoul(text, NULL, 10);
    if (!strcmp(p, "launch")) {
        launch();
        return;
    }
    assert_true(sscanf(p, "%63[^:]:%7[a-z]", who, op) == 2);
    const char *rest = strchr(p, ':') + 1 + strlen(op);
    while (*rest) {
        int n = 0;
        if (*rest == '.')
            mark = rest[1], n = 2;
        else if (*rest == '@')
            assert_int_equal(sscanf(rest, "@%7[a-z0-9%%]%n", name, &n), 1);
        else if (*rest == '#')
            assert_int_equal(sscanf(rest, "#%d%n", &byte, &n), 1);
        assert_true(n > 0);
        rest += n;
    }
    for (unsigned k = 0; k < times; k++) {
        uint32_t mask = 0, block, tid;
        for (const char *t = who; t; t = strchr(t, '+') ? strchr(t, '+') + 1 : NULL)
            if (sscanf(t, "%u.%u", &block, &tid) == 2)
                mask |= 1u << tid % 32;
        for (const char *t = who; t; t = strchr(t, '+') ? strchr(t, '+') + 1 : NULL)
            if (sscanf(t, "%u.%u", &block, &tid) == 2)
                one(block, tid, mask, op, mark, name, byte);
    }
}

static const char *run(const char *events, bool words, uint32_t disabled) {
    char copy[1024], *save;
    assert_true(strlen(events) < sizeof copy);
    snprintf(copy, sizeof copy, "%s", events);
    new_memory(words);
    without = disabled;
    launch();
    for (char *e = strtok_r(copy, " \n", &save); e; e = strtok_r(NULL, " \n", &save))
        event(e);
    without = 0;
    return races();
}

// ---- The table ---------------------------------------------------------------------------------------------------

enum { NAME, PTX, TRACKER, PAPER, ORIGINAL, DECIDES, HOW, REASON, EVENTS, COLUMNS };
static const char *table_path;

static unsigned rule_bit(const char *name) {
    return (name[0] == 'R' ? GR_PAPER_SAFE : 0u) + (unsigned)(name[1] - '1');
}

// What the column "decides" says: 0, or how it is wrong.
static const char *wrong_without(char **c, uint32_t *decided) {
    const char *d = c[DECIDES], *plus = strchr(d, '+'), *other = strchr(d, '>');
    uint32_t first = 1u << rule_bit(d), second = plus ? 1u << rule_bit(plus + 1) : 0;
    bool clean = !strcmp(c[PAPER], "clean");
    const char *says = run(c[EVENTS], false, first | second);
    *decided |= first | second;
    if (other) {
        char wanted[64];
        snprintf(wanted, sizeof wanted, "%.2s %s", c[PAPER], other + 1);
        return strcmp(says, wanted) ? "without the first it is not of the second" : NULL;
    }
    if (!strcmp(says, "clean") == clean)
        return "nothing changes without";
    if (plus &&
        (strcmp(run(c[EVENTS], false, first), c[PAPER]) || strcmp(run(c[EVENTS], false, second), c[PAPER])))
        return "one of two decides alone";
    return NULL;
}

static void test_table(void **state) {
    (void)state;
    FILE *f = fopen(table_path, "r");
    char line[4096], *c[COLUMNS];
    unsigned rows = 0, bad = 0;
    uint32_t decided = 0;
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        unsigned n = 0;
        for (char *p = line; p && n < COLUMNS; p = strchr(p, '\t') ? strchr(p, '\t') + 1 : NULL)
            c[n++] = p;
        assert_int_equal(n, COLUMNS);
        for (char *p = line; (p = strpbrk(p, "\t\n"));)
            *p++ = 0;
        if (!rows++)
            continue;
        bool same = !strcmp(c[ORIGINAL], "=");
        const char *original = same ? c[PAPER] : c[ORIGINAL], *says;
        if (strcmp(says = run(c[EVENTS], true, 0), original))
            bad++, print_error("%s: it is %s, not %s\n", c[NAME], says, original);
        original = strchr(c[EVENTS], '#') ? c[PAPER] : original;
        if (strcmp(says = run(c[EVENTS], false, 0), original))
            bad++, print_error("%s, by bytes: it is %s, not %s\n", c[NAME], says, original);
        const char *why = *c[DECIDES] != '-' && same ? wrong_without(c, &decided) : NULL;
        if (why)
            bad++, print_error("%s: %s %s\n", c[NAME], why, c[DECIDES]);
    }
    fclose(f);
    assert_true(rows > 100);
    assert_int_equal(bad, 0);
    assert_int_equal(decided, (1u << (GR_PAPER_SAFE + GR_PAPER_RACES)) - 1); // each rule decides somewhere
}

// ---- What the table does not have ---------------------------------------------------------------------------------

// Barriers that the paper does not know, between a store by thread 0 and a load by another one.
static const char *around(void (*middle)(void), uint32_t block, uint32_t tid) {
    new_memory(false);
    launch();
    as(0, 0, 0);
    touch('A', GR_WHAT_WRITES, 4, X * 4);
    middle();
    as(block, tid, 0);
    touch('B', GR_WHAT_READS, 4, X * 4);
    return races();
}
static void nothing(void) {}
static void named_barrier(void) {
    for (uint32_t warp = 0; warp < 2; warp++)
        for (uint32_t t = 0; t < 32; t++) {
            as(0, warp * 32 + t, ~0u);
            order(GR_ORDER_SOME, GR_STRONG_CTA, BOTH);
        }
}
static void mbarrier_wait(void) {
    as(0, 32, 0);
    order(GR_ORDER_SOME, GR_STRONG_CTA, GR_ORDER_ACQUIRES);
}
static void cluster_arrive(void) {
    as(0, 0, 0);
    order(GR_ORDER_CLUSTER, GR_STRONG_CLUSTER, GR_ORDER_RELEASES);
}
static void own_wait(void) {
    as(0, 0, 0);
    order(GR_ORDER_WAIT, GR_STRONG_CTA, 0);
}

static void test_other_barriers(void **state) {
    (void)state;
    assert_string_equal(around(nothing, 0, 32), "AB R3");
    assert_string_equal(around(named_barrier, 0, 32), "clean");
    assert_string_equal(around(named_barrier, 0, 96), "clean"); // of the whole block
    assert_string_equal(around(named_barrier, 1, 0), "AB R4");
    assert_string_equal(around(mbarrier_wait, 0, 32), "clean");
    assert_string_equal(around(mbarrier_wait, 1, 0), "AB R4");
    assert_string_equal(around(cluster_arrive, 0, 32), "clean");
    assert_string_equal(around(cluster_arrive, 1, 0), "clean"); // a device fence, too
    assert_string_equal(around(own_wait, 0, 32), "AB R3");
}

// Of named barriers, each warp's arrival counts: one that arrives early takes nobody with it who has stored before.
static void test_arrival(void **state) {
    (void)state;
    new_memory(false);
    launch();
    as(0, 0, ~0u);
    order(GR_ORDER_SOME, GR_STRONG_CTA, BOTH);
    as(0, 32, 0);
    touch('A', GR_WHAT_WRITES, 4, X * 4);
    as(0, 32, ~0u);
    order(GR_ORDER_SOME, GR_STRONG_CTA, BOTH); // the first lane of its warp
    as(0, 0, 0);
    touch('B', GR_WHAT_READS, 4, X * 4);
    assert_string_equal(races(), "clean");
}

// Shared memory of two blocks is not the same memory, whether or not they share word_cells; within a block it is
// checked as global memory is.
static void test_shared(void **state) {
    (void)state;
    enum { SHARED = GR_SPACE_SHARED << GR_WHAT_SPACE, ONE_BLOCK = 2048 / 4 / GR_GROUP * sizeof(GrCell) };
    for (int shared = 0; shared < 2; shared++) {
        control.shared_bytes = shared ? ONE_BLOCK : SHARED_BYTES;
        new_memory(false);
        launch();
        for (uint32_t block = 0; block < 2; block++) {
            as(block, 0, 0);
            touch('A', GR_WHAT_WRITES | SHARED, 4, 1024);
        }
        assert_string_equal(races(), "clean");
        as(1, 64, 0);
        touch('B', GR_WHAT_READS | SHARED, 4, 1024);
        assert_string_equal(races(), "AB R3");
    }
    control.shared_bytes = SHARED_BYTES;
}

// A group of lanes counts once: half as many barriers as would wrap do not.
static void test_half_way(void **state) {
    (void)state;
    assert_string_equal(run("0.0:w.A 32*0.0:sw 0.1:r.B", false, 0), "clean");
    assert_string_equal(run("0.0:w.A 32*0.0:f 1.0:r.B", false, 0), "clean");
    assert_string_equal(run("0.0:w.A 128*0.0:bar 0.32:r.B", false, 0), "clean");
}

// What a launch left does not meet what comes later: not its accesses, and not its locks.
static void test_launches(void **state) {
    (void)state;
    new_memory(false);
    launch();
    as(0, 0, 0);
    touch(0, ATOMIC | GR_WHAT_CAS | GR_STRONG_GPU << GR_WHAT_STRENGTH, 4, 0);
    order(GR_ORDER_FENCE, GR_STRONG_GPU, BOTH);
    touch('A', GR_WHAT_WRITES, 4, X * 4);
    assert_int_equal(gr_lock_bloom(locks_of(&(Me){gr_now.launch, 0, 0, gr_thread_state(0, 0)})), 0x101);
    launch();
    as(0, 0, 0);
    assert_int_equal(gr_lock_bloom(locks_of(&(Me){gr_now.launch, 0, 0, gr_thread_state(0, 0)})), 0);
    as(1, 0, 0);
    touch('B', GR_WHAT_WRITES, 4, X * 4);
    assert_string_equal(races(), "clean");
}

// isThread stays: lanes that have once taken locks together have tables of their own.
static void test_locks_of_lanes(void **state) {
    (void)state;
    const uint32_t cas = ATOMIC | GR_WHAT_CAS | GR_STRONG_GPU << GR_WHAT_STRENGTH;
    const uint32_t own = gr_lock_bloom(gr_lock_fence(gr_lock_take(0, 36, 0), 0)); // lane 1's lock
    new_memory(false);
    launch();
    for (uint32_t t = 0; t < 2; t++) {
        as(0, t, 3);
        touch(0, cas, 4, (uint64_t)t * 36);
    }
    as(0, 1, 0); // alone now
    order(GR_ORDER_FENCE, GR_STRONG_GPU, BOTH);
    for (uint32_t t = 0; t < 2; t++)
        assert_int_equal(gr_lock_bloom(locks_of(&(Me){gr_now.launch, 0, t, gr_thread_state(0, t)})),
                         t ? own : 0); // lane 0 had no fence
    as(0, 0, 0);
    touch(0, cas, 4, 72);
    order(GR_ORDER_FENCE, GR_STRONG_GPU, BOTH);
    assert_int_equal(gr_lock_bloom(locks_of(&(Me){gr_now.launch, 0, 1, gr_thread_state(0, 1)})), own);
}

static void store_of_another(void) {
    struct Now was = gr_now;
    as(1, 0, 0);
    touch('B', GR_WHAT_WRITES, 4, X * 4);
    gr_now = was;
}

// Two stores at once: the one that looked before the other came finds it when it puts itself in place.
static void test_at_once(void **state) {
    (void)state;
    new_memory(false);
    launch();
    between = store_of_another;
    as(0, 0, 0);
    touch('A', GR_WHAT_WRITES, 4, X * 4);
    assert_string_equal(races(), "AB R4");
}

static void atomic_of_another(void) {
    struct Now was = gr_now;
    as(1, 0, 0);
    touch('B', ATOMIC | GR_STRONG_GPU << GR_WHAT_STRENGTH, 4, X * 4);
    gr_now = was;
}

// An atomic that is entered as the last accessor, and not yet as the last writer, is known to be an atomic.
static void test_half_entered(void **state) {
    (void)state;
    new_memory(false);
    launch();
    entering = atomic_of_another;
    entered = &word_cells[X / GR_GROUP].word[0].is;
    as(0, 0, 0);
    touch('A', ATOMIC | GR_STRONG_GPU << GR_WHAT_STRENGTH, 4, X * 4);
    assert_null(entering);
    assert_string_equal(races(), "clean");
    touch('C', GR_WHAT_WRITES, 4, X * 4); // the other one came last
    assert_string_equal(races(), "BC R4");
}

// Where the halves of a side are of two accesses, nothing is judged, and the next access finds a whole one.
static void test_torn(void **state) {
    (void)state;
    new_memory(false);
    launch();
    as(0, 0, 0);
    touch('A', GR_WHAT_WRITES, 4, X * 4);
    word_cells[X / GR_GROUP].more[1].is ^= UINT64_C(1) << 56;
    as(1, 0, 0);
    touch('B', GR_WHAT_WRITES, 4, X * 4);
    assert_string_equal(races(), "clean");
    as(2, 0, 0);
    touch('C', GR_WHAT_WRITES, 4, X * 4);
    assert_string_equal(races(), "BC R4");
}

// A wide access, and one that is not aligned to a word, look into each cell.
static void test_wide(void **state) {
    (void)state;
    for (uint32_t k = 0; k < 4; k++) {
        new_memory(false);
        launch();
        as(0, 0, 0);
        touch('A', GR_WHAT_WRITES, 16, X * 4);
        as(1, 0, 0);
        touch('B', GR_WHAT_READS, 4, (uint64_t)(X + k) * 4);
        assert_string_equal(races(), "AB R4");
    }
    new_memory(false);
    launch();
    as(0, 0, 0);
    __gr_range(1, GR_WHAT_WRITES, X * 4 + 2, 4);
    as(1, 0, 0);
    touch('B', GR_WHAT_READS, 2, X * 4); // before it
    assert_string_equal(races(), "clean");
    touch('B', GR_WHAT_READS, 2, X * 4 + 4);
    assert_string_equal(races(), "AB R4");
}

// A strong access to memory without metadata is left alone in silence, a weak one is told.
static void test_unchecked(void **state) {
    (void)state;
    const GrTrackedHeader *head = (const GrTrackedHeader *)(uintptr_t)control.area;
    new_memory(false);
    launch();
    as(0, 0, 0);
    touch('A', ATOMIC | GR_STRONG_GPU << GR_WHAT_STRENGTH, 4, UINT64_C(1) << 40);
    assert_int_equal(head->unchecked, 0);
    touch('A', GR_WHAT_READS, 4, UINT64_C(1) << 40);
    assert_int_equal(head->unchecked, UINT64_C(1) << 40);
}

int main(int argc, char **argv) {
    if (argc < 2 || !make_memory())
        return 2;
    table_path = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),    cmocka_unit_test(test_other_barriers),
        cmocka_unit_test(test_arrival),  cmocka_unit_test(test_shared),
        cmocka_unit_test(test_launches), cmocka_unit_test(test_locks_of_lanes),
        cmocka_unit_test(test_at_once),  cmocka_unit_test(test_half_entered),
        cmocka_unit_test(test_half_way), cmocka_unit_test(test_torn),
        cmocka_unit_test(test_wide),     cmocka_unit_test(test_unchecked),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free_memory();
    return failed;
}
