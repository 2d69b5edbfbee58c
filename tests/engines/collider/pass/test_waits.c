// SPDX-License-Identifier: Apache-2.0
// test_waits — how long threads wait on a GPU (collider_time.h): in which launches of a kernel, in which blocks, with
// which seeds.
//
// Each sleep of the code inserted in the kernel is replaced by an atomic addition of its length to a counter of the
// block.
#include "../../../vm/harness.h"
#include "rewritten.h"

#include "engines/collider/device/record.h"
#include "engines/collider/pass/collider_time.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    BLOCKS = 64,
    WARPS = 2,
    ALL_KINDS = 2 * WAIT_CYCLE,
    LAUNCHES = WAIT_AGAIN + ALL_KINDS,
    SITES = 8,
    MAXIMUM_NS = 5000
};

// With an atomic access, so that the other side of a race may be far, or without.
static const char kernel[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .global .align 4 .b32 slept[64];\n"
    ".visible .entry k(.param .u64 out) %s{\n"
    ".reg .pred %%p<2>; .reg .b32 %%r<9>; .reg .b64 %%rd<9>;\n"
    "ld.param.u64 %%rd1, [out]; mov.u32 %%r1, %%ctaid.x; mov.u32 %%r2, %%ntid.x; mov.u32 %%r3, %%tid.x;\n"
    "mad.lo.u32 %%r4, %%r1, %%r2, %%r3; mul.wide.u32 %%rd2, %%r4, 4; add.s64 %%rd1, %%rd1, %%rd2;\n"
    "ld.global.u32 %%r5, [%%rd1]; add.u32 %%r5, %%r5, 1; st.global.u32 [%%rd1], %%r5;\n";
static const char far[] = "red.global.add.u32 [%rd1], 1; ret; }\n", near[] = "ret; }\n";
// In clusters of two blocks.
static const char clusters[] = "barrier.cluster.arrive; barrier.cluster.wait; ret; }\n";

// The sleeps of all launches, for each block.
typedef struct Slept {
    uint32_t of[LAUNCHES][BLOCKS];
    uint64_t launch[LAUNCHES]; // of all blocks together
    uint32_t counted;          // launches, as the kernel has counted them
} Slept;

static char *rewritten(bool budget, const char *end_of_kernel) {
    StrBuf program = {0}, text = {0}, counted = {0};
    const ColliderOptions o = {.seed_at_load = true,
                               .read_delay_ns = MAXIMUM_NS,
                               .write_delay_ns = MAXIMUM_NS,
                               .thinned = true,
                               .budget = budget,
                               .suffix = ""};
    gr_str_addf(&program, kernel, end_of_kernel == clusters ? ".reqnctapercluster 2, 1, 1 " : "");
    gr_str_add(&program, end_of_kernel);
    gr_test_rewrite(program.data, &o, SITES - 1, &text);
    // The kernel's own code; what it calls stands before it.
    const char *line = strstr(text.data, ".entry k("), *sleep;
    assert_non_null(line);
    gr_str_addn(&counted, text.data, (size_t)(line - text.data));
    for (const char *word = "nanosleep.u32 "; (sleep = strstr(line, word)) != NULL;
         line = sleep + strlen(word)) {
        const char *guard = sleep;
        while (guard[-1] != '/') // the end of the tag
            guard--;
        const char *delay = sleep + strlen(word), *end = strchr(delay, ';');
        gr_str_addn(&counted, line, (size_t)(guard - line));
        gr_str_addf(&counted,
                    "{ .reg .b32 %%b; .reg .b64 %%a, %%s; mov.u32 %%b, %%ctaid.x; mul.wide.u32 %%a, %%b, 4;"
                    "mov.u64 %%s, slept; add.s64 %%s, %%s, %%a; %.*s red.global.add.u32 [%%s], %.*s; }",
                    (int)(sleep - guard), guard, (int)(end - delay), delay);
        sleep = end + 1 - strlen(word);
    }
    gr_str_add(&counted, line);
    gr_str_free(&program);
    gr_str_free(&text);
    return counted.data;
}

static void run_blocks(const char *end_of_kernel, uint32_t seed, bool budget, unsigned launches,
                       uint32_t blocks, Slept *s) {
    Rig r;
    VmConfig c = {.seed = seed};
    uint64_t control, slept, size;
    bool managed;
    char *text = rewritten(budget, end_of_kernel);
    rig_open(&r, text, &c);
    uint64_t out = rig_alloc(&r, BLOCKS * WARPS * 32 * 4);
    assert_true(gr_vm_module_global(r.mod, "__gr_control", &control, &size, &managed));
    assert_true(gr_vm_module_global(r.mod, "slept", &slept, &size, &managed));
    GrControl *block = rig_view(&r, control, sizeof *block);
    *block = (GrControl){.seed = seed, .n_sites = SITES};
    memset(s, 0, sizeof *s);
    for (unsigned k = 0; k < launches; k++) {
        memset(rig_view(&r, slept, sizeof s->of[k]), 0, sizeof s->of[k]);
        if (RIG_RUN(&r, "k", blocks, WARPS * 32, out) != VM_FAULT_NONE)
            fail_msg("%s", r.fault.msg);
        memcpy(s->of[k], rig_view(&r, slept, sizeof s->of[k]), sizeof s->of[k]);
        for (unsigned b = 0; b < BLOCKS; b++)
            s->launch[k] += s->of[k][b];
    }
    s->counted = ((GrControl *)rig_view(&r, control, sizeof *block))->launches[0];
    rig_close(&r);
    free(text);
}

static void run(const char *end_of_kernel, uint32_t seed, bool budget, unsigned launches, Slept *s) {
    run_blocks(end_of_kernel, seed, budget, launches, BLOCKS, s);
}

static uint64_t sum(const Slept *s, unsigned first, unsigned behind) {
    uint64_t all = 0;
    for (unsigned k = first; k < behind; k++)
        all += s->launch[k];
    return all;
}

static void later_launches_wait_less(void **state) {
    static Slept s;
    (void)state;
    run(near, 1, false, LAUNCHES, &s);
    assert_int_equal(s.counted, LAUNCHES);
    uint64_t first = sum(&s, 0, ALL_KINDS), last = sum(&s, WAIT_AGAIN - ALL_KINDS, WAIT_AGAIN);
    assert_true(last < first / 8);
    uint64_t again = sum(&s, WAIT_AGAIN, LAUNCHES);
    assert_in_range(again, first / 2, first * 2);
}

// The longest first launch of five seeds in a row, as a multiple of the shortest.
static double longest_of(const char *end_of_kernel) {
    static Slept s;
    uint64_t least = UINT64_MAX, most = 0;
    for (uint32_t seed = 7; seed < 7 + WAIT_CYCLE; seed++) {
        run(end_of_kernel, seed, false, 1, &s);
        least = s.launch[0] < least ? s.launch[0] : least;
        most = s.launch[0] > most ? s.launch[0] : most;
    }
    return (double)most / (double)least;
}

static void seeds_in_a_row_have_all_lengths(void **state) {
    (void)state;
    double of_far = longest_of(far), of_near = longest_of(near);
    assert_true(of_near > 1.5);
    assert_true(of_far > 1.5 * of_near);
}

// About half of the blocks wait a quarter, and not the same ones in the next launch.
static void half_of_the_blocks_are_quick(void **state) {
    static Slept s;
    unsigned quick[2] = {0}, both = 0;
    (void)state;
    run(near, 3, false, 2, &s);
    for (unsigned b = 0; b < BLOCKS; b++) {
        bool is[2];
        for (unsigned k = 0; k < 2; k++)
            quick[k] += is[k] = s.of[k][b] * (uint64_t)BLOCKS * 2 < s.launch[k];
        both += is[0] && is[1];
    }
    for (unsigned k = 0; k < 2; k++)
        assert_in_range(quick[k], BLOCKS / 5, BLOCKS * 4 / 5);
    assert_true(both < quick[0] && both < quick[1]);
}

// In each cluster one block of two is quick, or all of them are in one half of the clusters.
static void half_of_the_clusters_are_quick(void **state) {
    static Slept s;
    unsigned alike = 0, quick = 0, all = 0;
    (void)state;
    for (uint32_t seed = 5; seed < 15; seed++) {
        run(clusters, seed, false, 1, &s);
        unsigned same = 0, n[2] = {0};
        for (unsigned c = 0; c < BLOCKS / 2; c++) {
            bool is[2];
            for (unsigned k = 0; k < 2; k++)
                n[k] += is[k] = s.of[0][2 * c + k] * (uint64_t)BLOCKS * 2 < s.launch[0];
            same += is[0] == is[1];
        }
        alike += same > BLOCKS * 3 / 8;
        quick += n[0] + n[1];
        all += BLOCKS;
    }
    assert_in_range(alike, 4, 6);
    assert_in_range(quick, all / 4, all * 3 / 4);
}

// Where waits are short in large launches.
static void small_launches_wait_longer(void **state) {
    enum { FEW = WAIT_SMALL_THREADS / (WARPS * 32) };
    static Slept s;
    (void)state;
    for (uint32_t seed = 5; seed < 5 + WAIT_CYCLE; seed++) {
        static const WaitKind kinds[WAIT_CYCLE] = WAIT_KINDS;
        if (kinds[seed % WAIT_CYCLE].late != GR_LATE_NONE) // in all three of them some warps may begin late
            continue;
        uint64_t of[3] = {0}, blocks[3] = {FEW, FEW + 1, BLOCKS};
        for (unsigned k = 0; k < 3; k++) {
            run_blocks(near, seed, false, 1, (uint32_t)blocks[k], &s);
            of[k] = s.launch[0] / blocks[k];
        }
        uint32_t hundredths = kinds[seed % WAIT_CYCLE].hundredths;
        // Without far sides, as all the others.
        bool longer = hundredths <= WAIT_USUAL || hundredths > WAIT_NEAR;
        assert_true((of[0] > 2 * of[1]) == longer);
        assert_in_range(of[1], of[2] / 2, of[2] * 2);
    }
}

// It keeps its own account.
static void a_budget_counts_nothing(void **state) {
    static Slept s;
    (void)state;
    run(near, 1, true, 2, &s);
    assert_int_equal(s.counted, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(later_launches_wait_less),       cmocka_unit_test(seeds_in_a_row_have_all_lengths),
        cmocka_unit_test(half_of_the_blocks_are_quick),   cmocka_unit_test(small_launches_wait_longer),
        cmocka_unit_test(half_of_the_clusters_are_quick), cmocka_unit_test(a_budget_counts_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
