// SPDX-License-Identifier: Apache-2.0
// test_pace — which windows open where the inserted code decides (collider_pace.h), and which loads share one
// (collider_group.h).
//
// Each delay of the inserted code is replaced by an atomic addition to a counter of the access, so the counters tell
// how often each window opened.
#include "../../../vm/harness.h"
#include "rewritten.h"

#include "engines/collider/device/record.h"
#include "engines/collider/pass/collider_group.h"
#include "engines/collider/pass/collider_time.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SITES = 32, LANES = 32 };

static const char head[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .global .align 8 .b32 counters[32];\n"
    ".visible .entry k(.param .u64 out, .param .u64 times) {\n"
    ".reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>; .shared .align 16 .b8 s[4096];\n"
    "ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [times]; cvt.u32.u64 %r1, %rd2; mov.u32 %r2, s;\n"
    "mov.u32 %r3, %tid.x; shl.b32 %r3, %r3, 2; add.u32 %r2, %r2, %r3; mov.u32 %r4, 0;\n"
    "mov.u32 %r20, %ctaid.x; mov.u32 %r21, %ntid.x; mul.lo.u32 %r20, %r20, %r21; mul.wide.u32 %rd3, %r20, "
    "4;\n"
    "add.s64 %rd1, %rd1, %rd3; cvt.u64.u32 %rd3, %r3; add.s64 %rd1, %rd1, %rd3;\n";

typedef struct Options {
    bool budget;
    double share; // of the windows, with a budget
    uint32_t grid, seed;
    bool seed_at_load;
    bool beside; // and counter 0 gets how long all threads together wait
    uint32_t held;
} Options;

static char *rewritten(const char *body, const Options *of) {
    StrBuf program = {0}, text = {0}, counted = {0};
    ColliderOptions o = {
        .seed = of->seed, .read_delay_ns = 5000, .write_delay_ns = 5000, .thinned = true, .suffix = ""};
    o.budget = of->budget;
    o.seed_at_load = of->seed_at_load;
    o.beside = of->beside;
    gr_str_addf(&program, "%s%s ret; }\n", head, body);
    gr_test_rewrite(program.data, &o, SITES - 1, &text);
    for (char *line = text.data, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        unsigned site, shorter, length, by;
        // What makes the next window shorter (collider_time.c): once in each window.
        if (sscanf(line, " /*@gr:%u*/ shr.u32 %%gr%u, %%gr%u, %u;", &site, &shorter, &length, &by) == 4 &&
            by == 3)
            gr_str_addf(&counted, "red.global.add.u32 [counters+%u], 1;\n", site * 4);
        const char *sleep = strstr(line, "nanosleep.u32 ");
        if (!sleep || sleep > end)
            gr_str_addn(&counted, line, (size_t)(end + 1 - line));
        else if (o.beside) // with its guard
            gr_str_addf(&counted, "%.*sred.global.add.u32 [counters], %.*s\n", (int)(sleep - line), line,
                        (int)(end - sleep - 14), sleep + 14);
    }
    gr_str_free(&program);
    gr_str_free(&text);
    return counted.data;
}

// How often the windows of each access opened, over all threads.
static void count(const char *body, uint64_t times, const Options *o, uint32_t counters[SITES]) {
    Rig r;
    VmConfig c = {.seed = 1};
    uint64_t at, size;
    bool managed;
    char *text = rewritten(body, o);
    rig_open(&r, text, &c);
    uint64_t out = rig_alloc(&r, (uint64_t)o->grid * 4 * LANES * 4 + 256),
             slots = rig_alloc(&r, (SITES + 1) * GR_CLASS_COUNT * sizeof(GrSlot));
    GrControl control = {.slots = slots,
                         .n_sites = SITES,
                         .shut = (uint32_t)((1 - o->share) * UINT32_MAX),
                         .seed = o->seed,
                         .beside = o->held};
    assert_true(gr_vm_module_global(r.mod, "__gr_control", &at, &size, &managed));
    assert_int_equal(size, sizeof control);
    memcpy(rig_view(&r, at, sizeof control), &control, sizeof control);
    if (RIG_RUN(&r, "k", o->grid, LANES, out, times) != VM_FAULT_NONE)
        fail_msg("%s: %s", body, r.fault.msg);
    assert_true(gr_vm_module_global(r.mod, "counters", &at, &size, &managed));
    memcpy(counters, rig_view(&r, at, SITES * 4), SITES * 4);
    const GrSlot *s = rig_view(&r, slots, (SITES + 1) * GR_CLASS_COUNT * sizeof(GrSlot));
    for (unsigned k = 0; k < (SITES + 1) * GR_CLASS_COUNT; k++)
        assert_int_equal(s[k].count, 0);
    rig_close(&r);
    free(text);
}

static const Options plain = {.share = 1, .grid = 1, .seed = 7};

#define LOOP(inside) "L: " inside " add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, %r1; @%p1 bra L;"

static void first_ones_open(void **state) {
    uint32_t n[SITES];
    (void)state;
    count("ld.global.u32 %r5, [%rd1]; st.global.u32 [%rd1], %r5;", 1, &plain, n); // no loop
    assert_int_equal(n[1], LANES);
    assert_int_equal(n[2], LANES);
    for (uint32_t seed = 1; seed < 6; seed++) {
        Options o = {.share = 1, .grid = 1, .seed = seed};
        count(LOOP("ld.global.u32 %r5, [%rd1]; st.shared.u32 [%r2], %r5;"), PACE_EACH, &o, n);
        assert_int_equal(n[1], PACE_EACH * LANES);
        assert_int_equal(n[2], PACE_EACH * LANES);
        // PACE_EACH at each of five shares, which takes 31 * PACE_EACH times, then one in 32.
        count(LOOP("ld.global.u32 %r5, [%rd1];"), 1000, &o, n);
        assert_in_range(n[1], 50 * LANES, 160 * LANES);
        count(LOOP("ld.global.u32 %r5, [%rd1];"), 20000, &o, n);
        assert_in_range(n[1], 300 * LANES, 1600 * LANES);
    }
}

// What runs rarely in a loop has first times of its own.
static void rare_places_count_by_themselves(void **state) {
    uint32_t n[SITES];
    (void)state;
    count(LOOP("and.b32 %r6, %r4, 127; setp.ne.u32 %p2, %r6, 0; ld.shared.u32 %r8, [%r2]; @%p2 bra N; "
               "ld.global.u32 %r5, [%rd1]; st.shared.u32 [%r2], %r5;"
               "N: @!%p2 ld.global.u32 %r7, [%rd1];"),
          128 * PACE_EACH, &plain, n);
    assert_in_range(n[1], 50 * LANES, 200 * LANES);
    assert_int_equal(n[2], PACE_EACH * LANES);
    assert_int_equal(n[3], PACE_EACH * LANES);
    assert_int_equal(n[4], PACE_EACH * LANES); // guarded
}

// More of them than have counters of their own; and few lanes count for more.
static void places_that_share_a_counter(void **state) {
    uint32_t n[SITES];
    StrBuf body = {0};
    (void)state;
    gr_str_add(&body, "L: ld.shared.u32 %r8, [%r2];");
    for (unsigned k = 0; k < 8; k++)
        gr_str_addf(&body,
                    "setp.ne.u32 %%p2, %%r4, %u; @%%p2 bra N%u; ld.global.u32 %%r5, [%%rd1]; N%u: ", 900 + k,
                    k, k);
    for (unsigned k = 8; k < 12; k++) // often
        gr_str_addf(&body,
                    "setp.eq.u32 %%p2, %%r4, %u; @%%p2 bra N%u; ld.global.u32 %%r5, [%%rd1]; N%u: ", 900 + k,
                    k, k);
    gr_str_add(&body, "add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, %r1; @%p1 bra L;");
    count(body.data, 1000, &plain, n);
    gr_str_free(&body);
    for (unsigned k = 0; k < 8; k++)
        assert_int_equal(n[2 + k], LANES);
    for (unsigned k = 8; k < 12; k++)
        assert_in_range(n[2 + k], LANES, 300 * LANES);
    // One lane after the other: a window for the first time of each, then one in four.
    count(LOOP("and.b32 %r6, %r4, 31; shl.b32 %r6, %r6, 2; setp.ne.u32 %p2, %r6, %r3; @%p2 bra N; "
               "ld.global.u32 %r5, [%rd1]; N:"),
          32, &plain, n);
    assert_int_equal(n[1], LANES);
    count(LOOP("and.b32 %r6, %r4, 31; shl.b32 %r6, %r6, 2; setp.ne.u32 %p2, %r6, %r3; @%p2 bra N; "
               "ld.global.u32 %r5, [%rd1]; N:"),
          32 * 100, &plain, n);
    assert_in_range(n[1], 2 * LANES, 20 * LANES);
}

// Blocks behind the first ones have fewer windows.
static void later_blocks_open_fewer(void **state) {
    uint32_t n[SITES];
    (void)state;
    Options o = {.share = 1, .grid = PACE_WARPS, .seed = 3};
    count("ld.global.u32 %r5, [%rd1];", 1, &o, n);
    assert_int_equal(n[1], PACE_WARPS * LANES);
    o.grid = PACE_WARPS * 3; // half of the next PACE_WARPS, a quarter of those after them
    count("ld.global.u32 %r5, [%rd1];", 1, &o, n);
    assert_in_range(n[1], PACE_WARPS * LANES * 5 / 4, PACE_WARPS * LANES * 9 / 4);
}

// In long straight code the windows of a thread end where its waits have become as short as they can, but not in
// launches in which threads keep what they access.
static void straight_code_closes(void **state) {
    uint32_t n[SITES], closed = 0;
    StrBuf body = {0};
    (void)state;
    for (unsigned k = 1; k < SITES; k++)
        gr_str_addf(&body, "ld.shared.u32 %%r5, [%%r2]; bar.sync 0;");
    for (uint32_t seed = 1; seed <= 10; seed++) {
        Options o = {.share = 1, .grid = 1, .seed = seed, .seed_at_load = true};
        count(body.data, 1, &o, n);
        assert_int_equal(n[4], LANES);
        if (seed % WAIT_CYCLE == 1 || seed % WAIT_CYCLE == 3)
            assert_int_equal(n[SITES - 1], LANES);
        closed += n[SITES - 1] == 0;
    }
    assert_in_range(closed, 2, 6);
    gr_str_free(&body);
}

static void budget_shuts_them(void **state) {
    uint32_t n[SITES];
    (void)state;
    Options o = {.budget = true, .share = 0, .grid = 64, .seed = 3};
    const char *both = "ld.global.u32 %r5, [%rd1]; bar.sync 0;" LOOP("ld.shared.u32 %r8, [%r2];");
    count(both, 100, &o, n);
    assert_in_range(n[1] + n[2], 0, LANES); // one in 2^32
    o.share = 1;
    count(both, PACE_EACH, &o, n);
    assert_int_equal(n[1], 64 * LANES);
    assert_int_equal(n[2], 64 * PACE_EACH * LANES);
    o.share = 0.25;
    count(both, 100, &o, n);
    assert_in_range(n[1], 4 * LANES, 40 * LANES);
    assert_in_range(n[2], 64 * 8 * LANES, 64 * 45 * LANES);
}

// A launch beside which something may run waits 80 us at most instead of 5, one of four times; each of the others no
// longer than usual.
static void held_launches_wait_long(void **state) {
    enum { SEEDS = 40 };
    static const char body[] = "ld.global.u32 %r5, [%rd1]; add.u32 %r6, %r5, 1; st.global.u32 [%rd1], %r6;";
    unsigned longer = 0, usual = 0;
    (void)state;
    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        Options o = {.share = 1, .grid = 1, .seed = seed, .seed_at_load = true, .beside = true};
        uint32_t n[SITES], most, held;
        count(body, 1, &o, n);
        most = n[0] / LANES;
        o.held = 1;
        count(body, 1, &o, n);
        held = n[0] / LANES;
        assert_int_equal(n[1], LANES); // no window more or fewer
        assert_in_range(held, 0, 80000 * 4);
        usual += held <= 4 * most;
        longer += held >= 40000;
    }
    assert_in_range(longer, SEEDS / 10, SEEDS / 2);
    assert_in_range(usual, SEEDS / 2, SEEDS - longer);
}

// Which loads share a delay: that of the first one.
static void loads_share(void **state) {
    static const struct {
        const char *body;
        unsigned delays[SITES]; // of one thread
    } cases[] = {
        {"ld.shared.u32 %r5, [%r2]; ld.shared.u32 %r6, [%r2+4]; add.u32 %r7, %r5, %r6; ld.global.u32 %r8, "
         "[%rd1];",
         {0, 1}},
        {"ld.shared.u32 %r5, [%r2]; st.shared.u32 [%r2], %r5; ld.shared.u32 %r6, [%r2];",
         {0, 1, 1, 1}}, // its own store is no other thread's
        {"ld.shared.u32 %r5, [%r2]; bar.sync 0; ld.shared.u32 %r6, [%r2];", {0, 1, 1}},
        {"ld.shared.u32 %r5, [%r2]; membar.gl; ld.shared.u32 %r6, [%r2];", {0, 1, 1}},
        {"ld.shared.u32 %r5, [%r2]; atom.shared.add.u32 %r7, [%r2], 0; ld.shared.u32 %r6, [%r2];",
         {0, 1, 0, 1}},
        {"ld.shared.u32 %r5, [%r2]; ld.volatile.shared.u32 %r7, [%r2]; ld.shared.u32 %r6, [%r2];",
         {0, 1, 0, 1}},
        {"ld.shared.u32 %r5, [%r2]; add.u32 %r5, %r5, 1; ld.shared.u32 %r6, [%r2];",
         {0, 1, 1}}, // the value is lost
        {"ld.shared.u32 %r5, [%r2]; ld.shared.u32 %r5, [%r2+4];", {0, 1, 1}},
        {"ld.shared.u32 %r5, [%r2]; add.u32 %r2, %r2, 4; ld.shared.u32 %r6, [%r2];",
         {0, 1, 1}}, // the address is lost
        {"ld.shared.u32 %r5, [%r2]; ld.shared.u32 %r2, [%r2]; ld.shared.u32 %r6, [s];", {0, 1, 1, 1}},
        {"setp.eq.u32 %p2, %r1, 1; @%p2 ld.shared.u32 %r5, [%r2]; @%p2 ld.shared.u32 %r6, [%r2]; "
         "ld.shared.u32 %r7, [%r2];",
         {0, 1, 0, 1}},
        {"ld.shared.u32 %r5, [%r2]; N: ld.shared.u32 %r6, [%r2];", {0, 1, 1}},
        {"ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [s]; ld.shared.v4.u32 {%r9, %r10, %r11, %r12}, [s+16]; "
         "ld.shared.u32 %r13, [%r2];",
         {0, 1, 0, 1}},
    };
    (void)state;
    for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++) {
        uint32_t n[SITES];
        count(cases[k].body, 1, &plain, n);
        for (unsigned s = 1; s < SITES; s++)
            if (n[s] != cases[k].delays[s] * LANES)
                fail_msg("%s: %u delays at access %u", cases[k].body, n[s] / LANES, s);
    }
}

// Where the code reads the seed, no text depends on it.
static void one_text_for_all_seeds(void **state) {
    (void)state;
    for (unsigned way = 0; way < 4; way++) {
        Options o = {.budget = way & 1, .seed_at_load = way & 2, .seed = 1};
        const char *body =
            "ld.global.u32 %r5, [%rd1]; " LOOP("ld.shared.u32 %r8, [%r2]; st.shared.u32 [%r2], %r8;");
        char *one = rewritten(body, &o);
        o.seed = 2;
        char *two = rewritten(body, &o);
        assert_int_equal(!strcmp(one, two), o.seed_at_load);
        free(one);
        free(two);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_ones_open),
        cmocka_unit_test(rare_places_count_by_themselves),
        cmocka_unit_test(places_that_share_a_counter),
        cmocka_unit_test(later_blocks_open_fewer),
        cmocka_unit_test(straight_code_closes),
        cmocka_unit_test(budget_shuts_them),
        cmocka_unit_test(held_launches_wait_long),
        cmocka_unit_test(loads_share),
        cmocka_unit_test(one_text_for_all_seeds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
