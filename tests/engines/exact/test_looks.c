// SPDX-License-Identifier: Apache-2.0
// test_looks — how often an access is held against others that are remembered (peek_looks): twice the accesses to one
// place take about twice as many looks, whether they race or are in order. Races that have been found take few.
#include "base/str.h"
#include "device_api/work.h"
#include "engines/exact/exact.h"
#include "harness.h"
#include "peek.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define HEAD                                                                                                 \
    ".visible .entry k(.param .u64 p) { .reg .b64 %rd<8>; .reg .b32 %r<16>; .reg .pred %p<4>; .shared "      \
    ".align 16 .b8 s[4096];\n"                                                                               \
    "ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd1, %rd1; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;\n"   \
    "mov.u32 %r8, s; shl.b32 %r3, %r1, 2; add.u32 %r3, %r3, %r8; mul.wide.u32 %rd2, %r1, 4;\n"               \
    "add.s64 %rd3, %rd1, %rd2; setp.eq.u32 %p1, %r1, 0;\n"

// `text` that many times over. Twice as much: of the blocks, or of the text.
typedef struct Case {
    const char *name, *text;
    uint32_t times, grid, block;
    bool blocks;
    uint32_t split; // a warp, about once in so many accesses; 0: never
    uint32_t most;  // looks for each instruction of a warp
} Case;

#define SUM(at) "ld.global.u32 %r5, [%rd1+" at "]; add.u32 %r5, %r5, %r1; st.global.u32 [%rd1+" at "], %r5;\n"

static const Case cases[] = {
    {"a sum without atomics, at many places of the code", SUM("0"), 5, 16, 32, true, 0, 1200},
    {"a word, and atomic operations on its neighbour", SUM("4") "atom.global.add.u32 %r5, [%rd1], 1;\n", 2,
     16, 32, true, 0, 500},
    {"weak stores beside strong ones", "st.global.u32 [%rd1], %r1; st.relaxed.gpu.global.u32 [%rd1], %r1;\n",
     2, 16, 32, true, 0, 500},
    {"stores of bytes beside strong ones of the word",
     "mov.u32 %r5, 0; st.global.u8 [%rd1], %r1; st.global.u8 [%rd1+1], %r5; st.global.u8 [%rd1+2], %r5; "
     "st.global.u8 [%rd1+3], %r5; mov.u32 %r5, 1; st.relaxed.gpu.global.u32 [%rd1], %r5;\n",
     1, 32, 32, true, 0, 1500},
    {"weak loads beside atomic operations",
     "ld.global.u32 %r5, [%rd1]; atom.global.add.u32 %r5, [%rd1], 1;\n", 2, 16, 32, true, 0, 500},
    {"many instructions, one row", "ld.global.u32 %r5, [%rd3]; st.global.u32 [%rd3], %r1;\n", 100, 1, 32,
     false, 40, 300},
    {"many instructions, one word",
     "ld.global.u32 %r5, [%rd1]; bar.warp.sync -1; @%p1 st.global.u32 [%rd1], %r5; bar.warp.sync -1;\n", 100,
     1, 32, false, 0, 50},
    {"a tile without its second barrier",
     "st.shared.u32 [%r3], %r1; bar.sync 0; ld.shared.u32 %r4, [s+0]; ld.shared.u32 %r4, [s+4]; "
     "ld.shared.u32 %r4, [s+8]; ld.shared.u32 %r4, [s+12]; ld.shared.u32 %r4, [s+16]; ld.shared.u32 %r4, "
     "[s+20]; "
     "ld.shared.u32 %r4, [s+24]; ld.shared.u32 %r4, [s+28];\n",
     8, 2, 128, true, 0, 28}, // each pair is found twice: of lanes and of warps
};

static uint64_t looks(const Case *c, uint32_t by, uint64_t *instructions) {
    Rig r;
    Exact *x;
    VmConfig config = {.seed = 3, .quantum = 8, .split_one_in = c->split};
    ExactOptions options = {.found = NULL};
    uint32_t times = c->blocks ? c->times : c->times * by, grid = c->blocks ? c->grid * by : c->grid;
    StrBuf text = {0};
    gr_str_add(&text, HEAD);
    for (uint32_t k = 0; k < times; k++)
        gr_str_add(&text, c->text);
    gr_str_add(&text, "ret; }\n");
    rig_open(&r, text.data, &config);
    assert_int_equal(gr_exact_create(&options, &x, NULL), GR_OK);
    VmObserver o = gr_exact_observer(x);
    assert_int_equal(gr_vm_observe(r.dev, &o, NULL), GR_OK);
    uint64_t memory = rig_alloc(&r, 4096);
    for (unsigned n = 0; n < 2; n++) // what the first launch did lies below what the second one does
        assert_int_equal(RIG_RUN(&r, "k", grid, c->block, memory), VM_FAULT_NONE);
    uint64_t all = peek_looks(x);
    *instructions = 2ull * times * grid * (c->block / 32);
    assert_int_equal(peek_doubts(x), 0);
    gr_exact_free(x);
    rig_close(&r);
    gr_str_free(&text);
    return all;
}

static void grow_with_the_work(void **state) {
    const Case *c = *state;
    uint64_t n, twice, few = looks(c, 1, &n), many = looks(c, 2, &twice);
    if (many > few * 5 / 2 + twice)
        fail_msg("%u looks, and %u for twice the work", (unsigned)few, (unsigned)many);
    if (many > c->most * twice)
        fail_msg("%u looks for %u times the code", (unsigned)many, (unsigned)twice);
}

// Each thread of the device releases a word of a page of its own, and waits. The host looks into one page after the
// other.
static uint64_t host_looks(uint32_t pages) {
    enum { PAGE = 4096, STEPS = 1 << 20 };
    static const char text[] =
        ".visible .entry k(.param .u64 p) { .reg .b64 %rd<8>; .reg .b32 %r<8>; .reg .pred %p1;\n"
        "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r1, %r2, 32, %r1;\n"
        "mul.wide.u32 %rd2, %r1, 4096; add.s64 %rd2, %rd1, %rd2; st.release.sys.global.u32 [%rd2+8], 1;\n"
        "L: ld.relaxed.sys.global.u32 %r3, [%rd1]; setp.eq.u32 %p1, %r3, 0; @%p1 bra L; ret; }\n";
    Rig r;
    Exact *x;
    VmConfig config = {.seed = 3};
    ExactOptions options = {.found = NULL};
    rig_open(&r, text, &config);
    assert_int_equal(gr_exact_create(&options, &x, NULL), GR_OK);
    VmObserver o = gr_exact_observer(x);
    assert_int_equal(gr_vm_observe(r.dev, &o, NULL), GR_OK);
    uint64_t memory = rig_alloc(&r, (uint64_t)pages * PAGE), before;
    VmLaunch *l = rig_start(&r, "k", (Dims){pages / 32, 32, 0}, 1, &memory);
    (void)gr_vm_run(r.dev, STEPS);
    assert_false(gr_vm_launch_done(l));
    before = peek_looks(x);
    for (uint32_t k = 0; k < pages; k++) { // every other page first, so that what is open grows together late
        uint64_t at = memory + (uint64_t)(k * 2 % pages + (k * 2 >= pages)) * PAGE;
        GrHostTouch t = {.address = at + 16, .size = 4, .access = PTX_ACCESS_READ, .pc = 1};
        gr_exact_host_opened(x, at, PAGE);
        gr_exact_host_touched(x, &t);
    }
    before = peek_looks(x) - before;
    *(uint32_t *)rig_view(&r, memory, 4) = 1;
    rig_drain(&r, STEPS);
    gr_vm_launch_free(l);
    gr_exact_free(x);
    rig_close(&r);
    return before;
}

static void the_host_looks_once(void **state) {
    (void)state;
    uint64_t few = host_looks(256), many = host_looks(512);
    assert_true(few >= 256);
    if (many > few * 5 / 2)
        fail_msg("%u looks, and %u for twice the pages", (unsigned)few, (unsigned)many);
}

int main(void) {
    enum { N = sizeof cases / sizeof *cases };
    struct CMUnitTest tests[N + 1];
    tests[N] = (struct CMUnitTest){.name = "pages that the host opens", .test_func = the_host_looks_once};
    for (unsigned k = 0; k < N; k++)
        tests[k] = (struct CMUnitTest){.name = cases[k].name,
                                       .test_func = grow_with_the_work,
                                       .initial_state = (void *)(uintptr_t)&cases[k]};
    return _cmocka_run_group_tests("looks", tests, N + 1, NULL, NULL);
}
