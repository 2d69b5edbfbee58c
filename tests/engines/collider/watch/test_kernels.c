// SPDX-License-Identifier: Apache-2.0
// test_kernels — whole kernels under the collider's pass with watchpoints: races whose values show nothing are seen
// with both sides, and their repaired twins are silent.
#include "engines/exact/classes.h"
#include "harness.h"
#include "peek.h"

#include "engines/collider/device/record.h"
#include "engines/collider/pass/collider.h"
#include "engines/collider/watch/watch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SITES = 32, SLOTS = (SITES + 1) * 384 * GR_CLASS_COUNT, SEEDS = 20 };

// %r1: thread; %p1: thread 0; %p2: thread 32; %r2: block; SYNC: a barrier in the twins.
#define HEAD                                                                                                 \
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out) {\n"                  \
    ".reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>; .shared .align 16 .b8 s[256];\n"                 \
    "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r9, s;\n"                \
    "setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p2, %r1, 32;\n"

// What met, over some seeds: a bit for each class, how often a value told, and the sites of the last.
typedef struct Seen {
    uint32_t classes, site[2], thread[2];
    PtxAccess access[2];
    uint64_t values;
    unsigned seeds; // that saw anything
} Seen;

static Seen watch(const char *text, const char *sync) {
    Seen seen = {0};
    StrBuf full = {0};
    for (const char *at = text, *mark; at; at = mark ? mark + 4 : NULL) {
        mark = strstr(at, "SYNC");
        gr_str_addn(&full, at, mark ? (size_t)(mark - at) : strlen(at));
        gr_str_add(&full, mark ? sync : "");
    }
    PtxModule *m;
    gr_error err = {0};
    StrBuf out = {0};
    GrSiteStatus status[SITES + 1];
    ColliderOptions o = {.seed = 7, .read_delay_ns = 5000, .write_delay_ns = 5000, .suffix = ""};
    assert_int_equal(gr_ptx_parse(full.data, full.len, "k", &m, &err), GR_OK);
    assert_true(m->n_sites <= SITES);
    assert_int_equal(gr_collider_rewrite(m, &o, status, &err), GR_OK);
    assert_int_equal(gr_ptx_print(m, 0, &out, &err), GR_OK);
    gr_ptx_free(m);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        Rig r;
        Watch *w;
        VmConfig c = {.seed = seed, .split_one_in = 64};
        rig_open(&r, out.data, &c);
        uint64_t memory = rig_alloc(&r, 4096), at, size;
        GrControl control = {.slots = rig_alloc(&r, SLOTS), .n_sites = SITES};
        char name[64];
        bool managed;
        assert_true(gr_vm_module_global(r.mod, gr_collider_control_name("", name, sizeof name), &at, &size,
                                        &managed));
        memcpy(rig_view(&r, at, sizeof control), &control, sizeof control);
        assert_int_equal(gr_watchpoints_create(NULL, &w, NULL), GR_OK);
        VmObserver listens = gr_watchpoints_observer(w);
        assert_int_equal(gr_vm_observe(r.dev, &listens, NULL), GR_OK);
        VmLaunch *l = rig_start(&r, "k", (Dims){2, 64, 0}, 1, &memory);
        rig_drain(&r, 100000);
        if (gr_vm_launch_fault(l))
            fail_msg("%s", gr_vm_launch_fault(l)->msg);
        gr_vm_launch_free(l);
        assert_int_equal(peek_open(w), 0);
        for (size_t k = 0; k < gr_watchpoints_races(w); k++) {
            const Race *race = gr_watchpoints_race(w, k);
            seen.classes |= 1u << race->class;
            for (unsigned s = 0; s < 2; s++) {
                seen.site[s] = race->side[s].site;
                seen.thread[s] = race->side[s].thread[0];
                seen.access[s] = race->side[s].access;
            }
        }
        seen.seeds += gr_watchpoints_races(w) != 0;
        const GrSlot *slots = rig_view(&r, control.slots, SLOTS);
        for (unsigned k = 0; k < (SITES + 1) * GR_CLASS_COUNT; k++)
            seen.values += slots[k].count;
        gr_watchpoints_free(w);
        rig_close(&r);
    }
    gr_str_free(&full);
    gr_str_free(&out);
    return seen;
}

#define ONLY(class) (1u << RACE_##class)

static void same_value_by_two_warps(void **state) {
    (void)state;
    static const char text[] =
        HEAD "and.b32 %r3, %r1, 31; setp.eq.u32 %p3, %r3, 0; setp.eq.u32 %p4, %r2, 0;\n"
             "and.pred %p5, %p1, %p4; @%p5 st.global.u32 [%rd1], 7;\n"
             "SYNC\n"
             "and.pred %p6, %p2, %p4; @%p6 st.global.u32 [%rd1], 7; ret; }\n";
    Seen racy = watch(text, ""), fixed = watch(text, "bar.sync 0;");
    assert_true(racy.seeds > 0);
    assert_int_equal(racy.classes, ONLY(SAME_VALUE));
    assert_int_equal(racy.values, 0);
    assert_int_equal(racy.thread[0] + racy.thread[1], 32);
    assert_int_equal(fixed.seeds + fixed.values, 0);
}

// A value that changes and changes back: who looks again sees what was there.
static void changes_back(void **state) {
    (void)state;
    static const char text[] =
        HEAD "setp.eq.u32 %p4, %r2, 0; and.pred %p5, %p1, %p4; @!%p5 bra OTHER;\n"
             "ld.shared.u32 %r4, [%r9]; ld.shared.u32 %r5, [%r9]; ld.shared.u32 %r6, [%r9];\n"
             "OTHER: SYNC @!%p2 bra DONE;\n"
             "atom.shared.exch.b32 %r7, [%r9], 1; atom.shared.exch.b32 %r7, [%r9], 0;\n"
             "DONE: ret; }\n";
    Seen racy = watch(text, ""), fixed = watch(text, "bar.sync 0;");
    assert_true(racy.seeds > 0);
    assert_int_equal(racy.classes, ONLY(READ_WRITE));
    assert_int_equal(racy.access[0], PTX_ACCESS_RMW);
    assert_int_equal(racy.access[1], PTX_ACCESS_READ);
    assert_int_equal(fixed.seeds + fixed.values, 0);
}

// A copy under way is a window, and against its own thread too.
static void operations_under_way(void **state) {
    (void)state;
    static const char text[] = HEAD "setp.eq.u32 %p4, %r2, 0; and.pred %p5, %p1, %p4; @!%p5 bra DONE;\n"
                                    "cp.async.ca.shared.global [%r9], [%rd1], 4; SYNC\n"
                                    "ld.shared.u32 %r4, [%r9]; st.global.u32 [%rd1+8], %r4; DONE:\n"
                                    "cp.async.wait_all; ret; }\n";
    Seen racy = watch(text, ""), fixed = watch(text, "cp.async.wait_all;");
    assert_true(racy.seeds > SEEDS / 2);
    assert_int_equal(racy.classes, ONLY(READ_WRITE));
    assert_int_equal(racy.thread[0] + racy.thread[1], 0);
    assert_int_equal(fixed.seeds + fixed.values, 0);
}

static void neighbours(void **state) {
    (void)state;
    static const char text[] =
        HEAD "cvt.u64.u32 %rd2, %r1; add.u64 %rd2, %rd2, %rd1; mul.wide.u32 %rd3, %r2, 64;\n"
             "add.u64 %rd2, %rd2, %rd3; st.global.u8 [%rd2], %r1; ld.global.u8 %r4, [%rd2];\n"
             "st.global.u8 [%rd2+256], %r4; SYNC ret; }\n";
    Seen silent = watch(text, "");
    assert_int_equal(silent.seeds + silent.values, 0);
}

// A load that is hoisted out of its guard is an access of the lanes that keep the value.
static void hoisted_loads(void **state) {
    (void)state;
    static const char text[] =
        HEAD "setp.eq.u32 %p4, %r1, 5; ld.shared.u32 %r4, [%r9];\n"
             "mad.lo.u32 %r4, %r4, 3, 7; selp.b32 %r5, %r4, 0, %p4; SYNC\n"
             "@%p2 st.shared.u32 [%r9], 6;\n"
             "mul.wide.u32 %rd3, %r1, 4; mad.wide.u32 %rd3, %r2, 256, %rd3; add.u64 %rd3, %rd3, %rd1;\n"
             "st.global.u32 [%rd3], %r5; ret; }\n";
    Seen racy = watch(text, ""), fixed = watch(text, "bar.sync 0;");
    assert_true(racy.seeds > 0);
    assert_int_equal(racy.classes, ONLY(READ_WRITE));
    assert_int_equal(racy.thread[0] + racy.thread[1], 5 + 32);
    assert_int_equal(fixed.seeds + fixed.values, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_value_by_two_warps), cmocka_unit_test(changes_back),
        cmocka_unit_test(operations_under_way),    cmocka_unit_test(neighbours),
        cmocka_unit_test(hoisted_loads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
