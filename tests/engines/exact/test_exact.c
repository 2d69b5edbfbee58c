// SPDX-License-Identifier: Apache-2.0
// test_exact — small kernels, racy and race-free, on the CPU device with the causality engine listening.
//
// A case is the body of a kernel. Accesses that matter are marked with a letter ("// =A"); the case says which pairs
// race, in which class. Over some seeds every one of them must be reported, and never anything else.
#include "engines/exact/exact.h"
#include "harness.h"
#include "peek.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SEEDS = SANITIZED ? 8 : 12 };

// %rd1: global memory; %r1: thread, %r2: block, %r4: 4 * thread; %rd3: %rd1 + 4 * thread; %p1: thread 0; %p2: block 0;
// %p3: first thread of the grid; s: shared memory, %r5 its address, %r6: %r5 + 4 * thread; %r3: lane.
static const char head[] =
    ".reg .pred %p<20>; .reg .b16 %h<4>; .reg .b32 %r<40>; .reg .b64 %rd<20>;\n"
    ".shared .align 16 .b8 s[8192];\n"
    "ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd1, %rd1; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;\n"
    "mov.u32 %r3, %laneid; shl.b32 %r4, %r1, 2; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;\n"
    "mov.u32 %r5, s; add.u32 %r6, %r5, %r4; setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p2, %r2, 0; and.pred %p3, "
    "%p1, %p2;\n"
    "setp.eq.u32 %p4, %r1, 1; setp.lt.u32 %p5, %r1, 32; setp.lt.u32 %p6, %r1, 64; setp.eq.u32 %p7, %r1, 32; "
    "not.pred %p8, %p2;\n"
    "and.pred %p9, %p1, %p8;\n";

typedef struct Case {
    const char *name, *body;
    uint32_t grid, block;
    const char *races; // "A-B write-write race; …", letters in order
} Case;

#include "cases.h"

typedef struct Seen {
    char text[64][64];
    unsigned n;
} Seen;

static bool has(const Seen *s, const char *text) {
    for (unsigned k = 0; k < s->n; k++)
        if (!strcmp(s->text[k], text))
            return true;
    return false;
}

static void add(Seen *s, const char *text) {
    if (!has(s, text) && s->n < 64)
        snprintf(s->text[s->n++], sizeof s->text[0], "%s", text);
}

// The letter behind the statement at `line` of the text, '?' when it has none.
static char mark_of(const char *text, uint32_t line) {
    for (uint32_t k = 1; k < line && text; k++)
        text = strchr(text, '\n') + 1;
    const char *end = strchr(text, '\n'), *at = strstr(text, "// =");
    return at && at < end ? at[4] : '?';
}

static void name_race(const Rig *r, const char *text, const Race *race, char out[64]) {
    char a = mark_of(text, r->ptx->sites[race->side[0].site].stmt->line);
    char b = mark_of(text, r->ptx->sites[race->side[1].site].stmt->line);
    snprintf(out, 64, "%c-%c %s", a < b ? a : b, a < b ? b : a, gr_exact_classes[race->class].name);
}

// The order that was missing is named, and fits the class and the two sides.
static void check_order(const Race *race) {
    const RaceSide *a = &race->side[0], *b = &race->side[1];
    bool one_block = a->launch == b->launch && a->block_linear == b->block_linear,
         one_warp = one_block && a->thread[0] / 32 == b->thread[0] / 32;
    const char *want = race->class == RACE_SCOPE ? "too narrow: they are in two blocks"
                       : race->class == RACE_PROXY || race->class == RACE_PROXY_READ ? "fence.proxy.async"
                       : strstr(race->order, "asynchronous")                         ? "no wait"
                       : one_warp                                                    ? "lanes of one warp"
                       : one_block                                                   ? "no __syncthreads()"
                       : race->space == PTX_SHARED && a->launch == b->launch ? "blocks are of one cluster"
                                                                             : "no release by the one";
    if (!strstr(race->order, want))
        fail_msg("'%s' says nothing of '%s'", race->order, want);
    if (race->class == RACE_SCOPE) {
        static const char *const names[] = {"", ".cta", ".cluster", ".gpu", ".sys"};
        PtxScope narrow = a->scope < b->scope ? a->scope : b->scope;
        assert_non_null(strstr(race->order, names[narrow]));
    }
}

// Which accesses are judged: all, those that are weak, or those whose letter is an even one.
typedef enum Part { ALL, WEAK, EVEN, PARTS } Part;

typedef struct Filter {
    Part part;
    const char *text;
} Filter;

static bool wants(void *user, const PtxModule *m, const PtxSite *site) {
    const Filter *f = user;
    (void)m;
    return f->part == WEAK ? !site->strong : mark_of(f->text, site->stmt->line) % 2 == 0;
}

static void run_case(const Case *c, uint64_t seed, Part part, Seen *seen) {
    Rig r;
    StrBuf text = {0};
    gr_error err = {0};
    Exact *x;
    gr_str_addf(&text,
                ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)%s "
                "{\n%s%s\nret;\n}\n",
                strncmp(c->name, "cluster", 7) ? "" : " .reqnctapercluster 2, 1, 1", head, c->body);
    VmConfig config = {.seed = seed, .watchdog_ns = 20000000, .split_one_in = 8};
    rig_open(&r, text.data, &config);
    ExactOptions options = {.no_same_value = strstr(c->body, NO_SAME_VALUE),
                            .volatiles =
                                strstr(c->body, VOLATILES) ? EXACT_VOLATILE_ALL : EXACT_VOLATILE_LOCKSTEP,
                            .speculated = strstr(c->body, SPECULATED),
                            .proxy_reads = strstr(c->body, PROXY_READS),
                            .shorten_at = seed % 2 ? 128 : 0};
    Filter filter = {part, text.data};
    if (part != ALL) {
        options.user = &filter;
        options.wanted_site = wants;
    }
    assert_int_equal(gr_exact_create(&options, &x, &err), GR_OK);
    VmObserver o = gr_exact_observer(x);
    assert_int_equal(gr_vm_observe(r.dev, &o, &err), GR_OK);
    uint64_t memory = rig_alloc(&r, 1 << 16);
    if (RIG_RUN(&r, "k", c->grid, c->block, memory) != VM_FAULT_NONE)
        fail_msg("%s, seed %llu: %s", c->name, (unsigned long long)seed, r.fault.msg);
    for (size_t k = 0; k < gr_exact_races(x); k++) {
        char name[64];
        const Race *race = peek_race(x, k);
        name_race(&r, text.data, race, name);
        add(seen, name);
        assert_true(race->count > 0 && race->overlap_bytes > 0);
        for (unsigned s = 0; s < 2 && part != ALL; s++)
            assert_true(wants(&filter, r.ptx, &r.ptx->sites[race->side[s].site]));
        check_order(race);
        assert_int_equal(race->side[0].module, gr_exact_fingerprint(r.ptx));
    }
    assert_false(gr_exact_incomplete(x));
    assert_int_equal(peek_doubts(x), 0);
    rig_close(&r);
    gr_exact_free(x);
    gr_str_free(&text);
}

// Where only some are judged nothing else is reported: what the others order is ordered, although they are no side of a
// race. And what is reported where all are is still.
static unsigned check_parts(const Case *c, uint64_t seed, const Seen *all, const Seen *want) {
    unsigned wrong = 0;
    for (Part part = WEAK; part < PARTS; part++) {
        Seen some = {0};
        run_case(c, seed, part, &some);
        for (unsigned k = 0; k < some.n; k++)
            // What a third store changed between the two is not known when that one is left out.
            if (!has(want, some.text[k]) && !strstr(some.text[k], "same-value")) {
                print_error("%s: reported when only some are judged: %s\n", c->name, some.text[k]);
                wrong++;
            }
        for (unsigned k = 0; k < all->n && part == EVEN; k++) {
            const char *t = all->text[k];
            char same[64];
            snprintf(same, sizeof same, "%.3s same-value write", t);
            if (t[0] % 2 == 0 && t[2] % 2 == 0 && !has(&some, t) &&
                !(strstr(t, "write-write") && has(&some, same))) {
                print_error("%s: not reported when only some are judged: %s\n", c->name, t);
                wrong++;
            }
        }
    }
    return wrong;
}

static void check_case(void **state) {
    const Case *c = *state;
    Seen seen = {0}, want = {0};
    char all[1024];
    snprintf(all, sizeof all, "%s", c->races);
    for (char *p = strtok(all, ";"); p; p = strtok(NULL, ";"))
        add(&want, p + strspn(p, " "));
    unsigned wrong = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        Seen now = {0};
        run_case(c, seed, ALL, &now);
        for (unsigned k = 0; k < now.n; k++)
            add(&seen, now.text[k]);
        if (seed <= SEEDS / 4)
            wrong += check_parts(c, seed, &now, &want);
    }
    for (unsigned k = 0; k < seen.n; k++)
        if (!has(&want, seen.text[k])) {
            print_error("%s: reported: %s\n", c->name, seen.text[k]);
            wrong++;
        }
    for (unsigned k = 0; k < want.n; k++)
        if (!has(&seen, want.text[k])) {
            print_error("%s: not reported: %s\n", c->name, want.text[k]);
            wrong++;
        }
    assert_int_equal(wrong, 0);
}

// One launch after another is ordered; two at the same time are not.
static void launches(void **state) {
    (void)state;
    static const char text[] =
        ".visible .entry k(.param .u64 p) { .reg .b64 %rd<4>; .reg .b32 %r<4>; .reg .pred %p<2>;\n"
        "mov.u32 %r2, 0; L: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 500; @%p1 bra L;\n"
        "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;\n"
        "st.global.u32 [%rd1], %r1;\nret; }\n";
    for (unsigned together = 0; together < 2; together++) {
        Rig r;
        Exact *x;
        VmConfig config = {.seed = 1, .quantum = 4};
        rig_open(&r, text, &config);
        assert_int_equal(gr_exact_create(NULL, &x, NULL), GR_OK);
        VmObserver o = gr_exact_observer(x);
        assert_int_equal(gr_vm_observe(r.dev, &o, NULL), GR_OK);
        uint64_t memory = rig_alloc(&r, 4096);
        if (together) {
            VmLaunch *a = rig_start(&r, "k", (Dims){1, 32, 0}, 1, &memory),
                     *b = rig_start(&r, "k", (Dims){1, 32, 0}, 1, &memory);
            rig_drain(&r, 1);
            gr_vm_launch_free(a);
            gr_vm_launch_free(b);
        } else {
            RIG_RUN(&r, "k", 1, 32, memory);
            RIG_RUN(&r, "k", 1, 32, memory);
        }
        assert_int_equal(gr_exact_races(x), together);
        if (together) {
            const Race *race = peek_race(x, 0);
            assert_int_equal(race->count, 32);
            assert_int_equal(race->side[0].launch + race->side[1].launch, 3);
            assert_int_equal(race->overlap_bytes, 4);
        }
        rig_close(&r);
        gr_exact_free(x);
    }
}

// Each side's address is where that access began, also within a word of four bytes and for vectors, whichever side
// noticed.
static void addresses(void **state) {
    (void)state;
    static const struct {
        const char *store, *load;
        uint32_t at[2], overlap, bytes; // of the store and the load, from %rd1
    } of[] = {
        {"st.global.u8 [%rd1+3], %r1;", "ld.global.u8 %r6, [%rd1+3];", {3, 3}, 3, 1},
        {"st.global.u16 [%rd1+6], %h1;", "ld.global.u16 %h2, [%rd1+6];", {6, 6}, 6, 2},
        {"st.global.u16 [%rd1+2], %h1;", "ld.global.u32 %r6, [%rd1];", {2, 0}, 2, 2},
        {"st.global.u8 [%rd1+9], %r1;", "ld.global.v2.u32 {%r6,%r7}, [%rd1+8];", {9, 8}, 9, 1},
        {"st.global.v4.u32 [%rd1+16], {%r1,%r1,%r1,%r1};", "ld.global.u16 %h2, [%rd1+30];", {16, 30}, 30, 2},
    };
    for (size_t k = 0; k < sizeof of / sizeof *of * 2; k++) {
        const bool load_first = k % 2;
        char text[4096];
        snprintf(text, sizeof text,
                 ".visible .entry k(.param .u64 p) { %s mov.u16 %%h1, 5; mov.u32 %%r7, 0;\n"
                 "@%%p1 bra FIRST; bra.uni OTHER;\nFIRST: @!%%p2 bra SECOND;\n%s\nbra.uni OTHER;\n"
                 "SECOND: add.u32 %%r7, %%r7, 1; setp.lt.u32 %%p10, %%r7, 900; @%%p10 bra SECOND;\n%s\n"
                 "OTHER: ret; }\n",
                 head, load_first ? of[k / 2].load : of[k / 2].store,
                 load_first ? of[k / 2].store : of[k / 2].load);
        Rig r;
        Exact *x;
        rig_open(&r, text, &(VmConfig){.seed = 1});
        assert_int_equal(gr_exact_create(NULL, &x, NULL), GR_OK);
        VmObserver o = gr_exact_observer(x);
        assert_int_equal(gr_vm_observe(r.dev, &o, NULL), GR_OK);
        uint64_t memory = rig_alloc(&r, 4096);
        assert_int_equal(RIG_RUN(&r, "k", 2, 32, memory), VM_FAULT_NONE);
        assert_int_equal(gr_exact_races(x), 1);
        const Race *race = peek_race(x, 0);
        for (unsigned s = 0; s < 2; s++)
            assert_int_equal(race->side[s].address - memory,
                             of[k / 2].at[race->side[s].access == PTX_ACCESS_READ]);
        assert_int_equal(race->overlap - memory, of[k / 2].overlap);
        assert_int_equal(race->overlap_bytes, of[k / 2].bytes);
        rig_close(&r);
        gr_exact_free(x);
    }
}

// A kernel that accesses memory for very long takes no more memory for that, and what it did at first is not forgotten.
static void long_run(void **state) {
    (void)state;
    enum { ROUNDS = SANITIZED ? 15000 : 150000 };
    static const char text[] =
        ".visible .entry k(.param .u64 p, .param .u32 n) { .reg .b64 %rd<4>; .reg .b32 %r<8>; .reg .pred "
        "%p<4>;\n"
        "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r5, %ntid.x;\n"
        "mad.lo.u32 %r4, %r3, %r5, %r1; mul.wide.u32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2;\n"
        "setp.eq.u32 %p1, %r4, 0; setp.eq.u32 %p3, %r3, 1; mov.u32 %r2, 0; ld.param.u32 %r7, [n];\n"
        "@%p1 st.global.u32 [%rd1+4096], %r1;\n"
        "L: st.global.u32 [%rd3], %r2; bar.sync 0; add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, %r7; @%p2 "
        "bra L;\n"
        "@%p3 ld.global.u32 %r6, [%rd1+4096];\nret; }\n";
    Rig r;
    Exact *x;
    VmConfig config = {.seed = 1};
    rig_open(&r, text, &config);
    assert_int_equal(gr_exact_create(NULL, &x, NULL), GR_OK);
    VmObserver o = gr_exact_observer(x);
    assert_int_equal(gr_vm_observe(r.dev, &o, NULL), GR_OK);
    uint64_t memory = rig_alloc(&r, 8192);
    assert_int_equal(RIG_RUN(&r, "k", 2, 256, memory, ROUNDS), VM_FAULT_NONE);
    assert_false(gr_exact_incomplete(x));
    assert_int_equal(gr_exact_races(x), 1);
    assert_int_equal(peek_race(x, 0)->overlap, memory + 4096);
    assert_int_equal(peek_race(x, 0)->count, 256);
    // 16 instructions, epochs and warps for each round
    assert_in_range(gr_exact_shadow_bytes(x), 1, 10 << 20);
    assert_in_range(peek_collections(x), ROUNDS / 7500, ROUNDS / 750);
    rig_close(&r);
    gr_exact_free(x);
}

static void poll(const char *name, const char *text, uint32_t blocks, uint64_t most) {
    Rig r;
    Exact *x;
    rig_open(&r, text, &(VmConfig){.seed = 1});
    assert_int_equal(gr_exact_create(NULL, &x, NULL), GR_OK);
    VmObserver o = gr_exact_observer(x);
    assert_int_equal(gr_vm_observe(r.dev, &o, NULL), GR_OK);
    uint64_t memory = rig_alloc(&r, 4096);
    assert_int_equal(RIG_RUN(&r, "k", blocks, 32, memory), VM_FAULT_NONE);
    assert_false(gr_exact_incomplete(x));
    assert_int_equal(gr_exact_races(x), 0);
    if (gr_exact_shadow_bytes(x) > most)
        fail_msg("%s: %llu bytes", name, (unsigned long long)gr_exact_shadow_bytes(x));
    rig_close(&r);
    gr_exact_free(x);
}

// What polling takes is a matter of how many threads there are, not of how often they look or how often what they look
// at changes.
static void polling(void **state) {
    (void)state;
    static const struct {
        const char *look, *take, *give;
    } way[] = {
        {"ld.acquire.gpu.global.u32 %r9, [%rd1];", "", "st.release.gpu.global.u32 [%rd1], %r9;"},
        {"ld.volatile.global.u32 %r9, [%rd1];", "membar.gl;",
         "membar.gl; st.volatile.global.u32 [%rd1], %r9;"},
        {"ld.relaxed.gpu.global.u32 %r9, [%rd1];", "", "red.relaxed.gpu.global.max.u32 [%rd1], %r9;"},
        {"atom.relaxed.gpu.global.cas.b32 %r9, [%rd1], 77777, 0;", "fence.acq_rel.gpu;",
         "fence.acq_rel.gpu; atom.relaxed.gpu.global.exch.b32 %r12, [%rd1], %r9;"},
    };
    for (size_t k = 0; k < sizeof way / sizeof *way; k++) {
        char text[4096];
        // One block counts, and the others wait until it has done so.
        snprintf(text, sizeof text,
                 ".visible .entry k(.param .u64 p) { %s @!%%p1 bra END; mov.u32 %%r9, 0; mov.u32 %%r13, 0; "
                 "@%%p8 bra POLL;\n"
                 "COUNT: add.u32 %%r13, %%r13, 1; and.b32 %%r14, %%r13, 31; setp.ne.u32 %%p10, %%r14, 0; "
                 "@%%p10 bra COUNT;\n"
                 "add.u32 %%r9, %%r9, 1; %s setp.lt.u32 %%p10, %%r9, 1000; @%%p10 bra COUNT; bra END;\n"
                 "POLL: %s setp.lt.u32 %%p10, %%r9, 1000; @%%p10 bra POLL;\nEND: ret; }\n",
                 head, way[k].give, way[k].look);
        poll(way[k].give, text, SANITIZED ? 6 : 32, 400000);
        // All pass a turn round, and with it the right to a plain variable.
        snprintf(text, sizeof text,
                 ".visible .entry k(.param .u64 p) { %s @!%%p1 bra END; mov.u32 %%r7, 0; mov.u32 %%r10, "
                 "%%nctaid.x;\n"
                 "ROUND: mad.lo.u32 %%r8, %%r7, %%r10, %%r2;\n"
                 "POLL: %s setp.ne.u32 %%p10, %%r9, %%r8; @%%p10 bra POLL;\n"
                 "%s ld.global.u32 %%r11, [%%rd1+256]; add.u32 %%r11, %%r11, 1; st.global.u32 [%%rd1+256], "
                 "%%r11;\n"
                 "add.u32 %%r9, %%r9, 1; %s\n"
                 "add.u32 %%r7, %%r7, 1; setp.lt.u32 %%p11, %%r7, 20; @%%p11 bra ROUND;\nEND: ret; }\n",
                 head, way[k].look, way[k].take, way[k].give);
        if (k != 2) // which orders nothing
            poll(way[k].give, text, SANITIZED ? 5 : 24, 1000000);
    }
}

int main(void) {
    enum { N = sizeof cases / sizeof *cases };
    static struct CMUnitTest tests[N + 4];
    for (unsigned k = 0; k < N; k++)
        tests[k] = (struct CMUnitTest){
            .name = cases[k].name, .test_func = check_case, .initial_state = (void *)(uintptr_t)&cases[k]};
    tests[N] = (struct CMUnitTest){.name = "launches", .test_func = launches};
    tests[N + 1] = (struct CMUnitTest){.name = "a long run", .test_func = long_run};
    tests[N + 2] = (struct CMUnitTest){.name = "addresses", .test_func = addresses};
    tests[N + 3] = (struct CMUnitTest){.name = "polling", .test_func = polling};
    return _cmocka_run_group_tests("exact", tests, N + 4, NULL, NULL);
}
