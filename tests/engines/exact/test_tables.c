// SPDX-License-Identifier: Apache-2.0
// test_tables — launches of one stream that read and write the same memory by many instructions, and then a write that
// nothing orders with them: it races with each of the instructions, on each of the words, and what is remembered does
// not grow with the launches.
#include "device_api/hooks.h"
#include "engines/exact/exact_internal.h"
#include "peek.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BASE = 0x10000000, SITES = 8, BLOCKS = 8, SPREAD = 16, WORDS = SITES + BLOCKS * SPREAD + LANES };

typedef struct Program {
    Exact *exact;
    PtxModule *ptx;
    VmObserver observer;
    uint64_t launches, items;
    uint32_t load[SITES], store[SITES];
    bool raced[SITES][WORDS]; // by instruction
    unsigned n_raced;
} Program;

static void occurred(void *user, const ExactOccurrence *o) {
    Program *p = user;
    for (unsigned k = 0; k < SITES; k++)
        for (unsigned s = 0; s < 2; s++) // sites of the execution are those of its only module
            if (o->site[s] == p->load[k] || o->site[s] == p->store[k]) {
                bool *seen = &p->raced[k][(o->at - BASE) / 4];
                p->n_raced += !*seen;
                *seen = true;
            }
}

static void make(Program *p) {
    char text[2048] = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
                      ".reg .b64 %rd<2>; .reg .b32 %r<2>;\nld.param.u64 %rd1, [p];\n";
    for (unsigned k = 0; k < SITES; k++)
        strcat(text, "ld.global.u32 %r1, [%rd1];\n");
    for (unsigned k = 0; k <= SITES; k++)
        strcat(text, "st.global.u32 [%rd1], %r1;\n");
    strcat(text, "ret;\n}\n");
    *p = (Program){.launches = 0};
    ExactOptions o = {.occurred = occurred, .user = p};
    assert_int_equal(gr_ptx_parse(text, strlen(text), "k", &p->ptx, NULL), GR_OK);
    assert_int_equal(gr_exact_create(&o, &p->exact, NULL), GR_OK);
    p->observer = gr_exact_observer(p->exact);
    unsigned loads = 0, stores = 0;
    for (uint32_t k = 1; k <= p->ptx->n_sites; k++) {
        if (p->ptx->sites[k].space != PTX_GLOBAL)
            continue;
        if (p->ptx->sites[k].access == PTX_ACCESS_READ)
            p->load[loads++] = k;
        else if (stores++ < SITES)
            p->store[stores - 1] = k;
    }
    assert_int_equal(loads, SITES);
    assert_int_equal(stores, SITES + 1);
}

static void drop(Program *p) {
    assert_false(gr_exact_incomplete(p->exact));
    gr_exact_free(p->exact);
    gr_ptx_free(p->ptx);
}

// All lanes of a block's only warp access words side by side.
static void access_words(Program *p, uint64_t block, uint32_t site, uint64_t word, uint32_t lanes) {
    uint64_t address[LANES];
    for (uint32_t l = 0; l < LANES; l++)
        address[l] = BASE + 4 * (word + l);
    VmAccessEvent a = {.where = {.launch = p->launches,
                                 .block_linear = block,
                                 .mask = lanes,
                                 .module = p->ptx,
                                 .site = site,
                                 .stmt = p->ptx->sites[site].stmt},
                       .access = p->ptx->sites[site].access,
                       .space = PTX_GLOBAL,
                       .sem = PTX_WEAK,
                       .size = 4,
                       .address = address};
    p->observer.access(p->observer.user, &a);
}

static void begin(Program *p, uint64_t stream) {
    GrWork w = {.size = sizeof w,
                .kind = GR_WORK_SUBMITTED,
                .type = GR_WORK_KERNEL,
                .item = ++p->items,
                .stream = stream,
                .context = 1,
                .launch = ++p->launches};
    gr_exact_work(p->exact, &w);
    w.kind = GR_WORK_BEGINS;
    gr_exact_work(p->exact, &w);
    VmLaunchEvent e = {
        .launch = p->launches, .grid = {BLOCKS, 1, 1}, .block = {32, 1, 1}, .cluster = {1, 1, 1}};
    p->observer.launch_begin(p->observer.user, &e);
    for (uint64_t b = 0; b < BLOCKS; b++)
        p->observer.block_begin(p->observer.user, p->launches, b);
}

static void end(Program *p, uint64_t stream) {
    VmLaunchEvent e = {.launch = p->launches};
    for (uint64_t b = 0; b < BLOCKS; b++)
        p->observer.block_end(p->observer.user, p->launches, b);
    p->observer.launch_end(p->observer.user, &e, false);
    GrWork w = {.size = sizeof w,
                .kind = GR_WORK_ENDED,
                .type = GR_WORK_KERNEL,
                .item = p->items,
                .stream = stream,
                .context = 1,
                .launch = p->launches};
    gr_exact_work(p->exact, &w);
}

// Windows that overlap: every block reads by every instruction.
static void read_windows(Program *p) {
    begin(p, 1);
    for (uint64_t b = 0; b < BLOCKS; b++)
        for (unsigned k = 0; k < SITES; k++)
            access_words(p, b, p->load[k], b * SPREAD + k, UINT32_MAX);
    end(p, 1);
}

// Words of every block, by another instruction in each launch, and by other lanes.
static void write_words(Program *p, unsigned launch) {
    begin(p, 1);
    for (uint64_t b = 0; b < BLOCKS / 2; b++)
        access_words(p, b, p->store[launch % SITES], b * LANES, UINT32_C(0x55555555) << launch / SITES % 2);
    end(p, 1);
}

static void write_all(Program *p, uint64_t stream) {
    begin(p, stream);
    for (uint64_t w = 0; w + LANES <= WORDS; w += LANES)
        access_words(p, 0, p->store[SITES - 1] + 1, w, UINT32_MAX);
    end(p, stream);
}

static size_t kept(const Program *p) {
    const Shadow *s = &p->exact->shadow;
    return s->runs.len + s->nodes.len + s->tables.list.len + s->used_slabs;
}

static void reads_by_many_launches(void **state) {
    (void)state;
    static Program p;
    make(&p);
    for (unsigned k = 0; k < 3; k++)
        read_windows(&p);
    size_t before = kept(&p);
    for (unsigned k = 0; k < 100; k++)
        read_windows(&p);
    assert_int_equal(kept(&p), before);
    write_all(&p, 1); // comes after all of them
    assert_int_equal(p.n_raced, 0);
    write_all(&p, 2);
    for (unsigned k = 0; k < SITES; k++)
        for (unsigned w = k; w < k + (BLOCKS - 1) * SPREAD + LANES && w < WORDS / LANES * LANES; w++)
            assert_true(p.raced[k][w]);
    drop(&p);
}

static void writes_by_many_launches(void **state) {
    (void)state;
    static Program p;
    make(&p);
    for (unsigned k = 0; k < 4 * SITES; k++)
        write_words(&p, k);
    size_t before = kept(&p);
    for (unsigned k = 0; k < 100 * SITES; k++)
        write_words(&p, k);
    assert_int_equal(kept(&p), before);
    assert_int_equal(p.n_raced, 0);
    write_all(&p, 2);
    for (unsigned k = 0; k < SITES; k++)
        for (unsigned w = 0; w < BLOCKS / 2 * LANES; w++)
            assert_true(p.raced[k][w]);
    drop(&p);
}

// A warp of every block reads one word, or its own, again and again: two of them are remembered for each instruction.
static void reads_by_many_blocks(void **state) {
    (void)state;
    static Program p;
    make(&p);
    begin(&p, 1);
    size_t first = 0;
    for (unsigned round = 0; round < 50; round++) {
        for (uint64_t b = 0; b < BLOCKS; b++)
            for (unsigned k = 0; k < SITES; k++)
                access_words(&p, (b * 5 + round) % BLOCKS, p.load[k], (b * 7 + round) % SPREAD,
                             UINT32_C(1) << (b + round) % 32);
        first = round == 40 ? kept(&p) : first;
    }
    assert_int_equal(kept(&p), first);
    end(&p, 1);
    drop(&p);
}

// A race of the store that is waited for with another one.
typedef struct Pair {
    uint32_t site[2];
    unsigned n;
} Pair;

static void met(void *user, const ExactOccurrence *o) {
    Pair *p = user;
    p->n += (o->site[0] == p->site[0] && o->site[1] == p->site[1]) ||
            (o->site[1] == p->site[0] && o->site[0] == p->site[1]);
}

enum { MANY = 400 };

// A kernel of MANY loads, each with a store behind it. Yields the site of the first.
static uint32_t make_many(Program *p, Pair *pair) {
    static const char head[] =
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
        ".reg .b64 %rd<2>; .reg .b32 %r<2>;\nld.param.u64 %rd1, [p];\n",
                      pair_of[] = "ld.global.u32 %r1, [%rd1]; st.global.u32 [%rd1], %r1;\n";
    static char text[sizeof head + MANY * sizeof pair_of + 16];
    strcpy(text, head);
    for (unsigned k = 0; k < MANY; k++)
        memcpy(text + strlen(head) + k * strlen(pair_of), pair_of, sizeof pair_of);
    strcat(text, "ret;\n}\n");
    *p = (Program){.launches = 0};
    ExactOptions o = {.occurred = met, .user = pair};
    assert_int_equal(gr_ptx_parse(text, strlen(text), "k", &p->ptx, NULL), GR_OK);
    assert_int_equal(gr_exact_create(&o, &p->exact, NULL), GR_OK);
    p->observer = gr_exact_observer(p->exact);
    uint32_t first = 1;
    while (p->ptx->sites[first].space != PTX_GLOBAL)
        first++;
    assert_int_equal(p->ptx->n_sites, first + 2 * MANY - 1);
    return first;
}

// A launch that does that. How often it looked at what was remembered.
static uint64_t access_once(Program *p, uint64_t stream, uint32_t load, uint32_t store) {
    uint64_t before = peek_looks(p->exact);
    begin(p, stream);
    if (load)
        access_words(p, 0, load, 0, UINT32_MAX);
    if (store)
        access_words(p, 0, store, 0, UINT32_MAX);
    end(p, stream);
    return peek_looks(p->exact) - before;
}

// Each launch comes to a line by instructions of its own. The line has a table for each of them, and a launch looks at
// a few. What another stream did there since, by one of these instructions, is found all the same.
static void launches_by_many_instructions(void **state) {
    (void)state;
    static Program p;
    static Pair pair;
    uint32_t first = make_many(&p, &pair);
    uint64_t early = 0, late = 0;
    for (uint32_t k = 0; k < MANY - 1; k++) {
        uint64_t looks = access_once(&p, 1, first + 2 * k, first + 2 * k + 1);
        uint64_t *most = k < MANY / 2 ? &early : &late;
        *most = looks > *most ? looks : *most;
    }
    if (late > early + 4)
        fail_msg("at most %u looks, and %u behind so many launches", (unsigned)early, (unsigned)late);
    GrWork wait = {.size = sizeof wait, .kind = GR_WORK_WAITED}; // the host, for all
    gr_exact_work(p.exact, &wait);
    pair = (Pair){.site = {first + 10, first + 2 * MANY - 1}};
    (void)access_once(&p, 2, first + 10, 0);
    (void)access_once(&p, 1, 0, first + 2 * MANY - 1);
    assert_int_equal(pair.n, LANES);
    drop(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_by_many_launches),
        cmocka_unit_test(writes_by_many_launches),
        cmocka_unit_test(reads_by_many_blocks),
        cmocka_unit_test(launches_by_many_instructions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
