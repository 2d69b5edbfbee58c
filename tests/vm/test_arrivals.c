// SPDX-License-Identifier: Apache-2.0
// test_arrivals — who is late at counters and flags (sched/arrive.c).
#include "harness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SEEDS = 20 };

#define HEAD                                                                                                 \
    ".visible .entry k(.param .u64 out) {\n"                                                                 \
    ".reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %rd<8>;\n"                                                \
    "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; and.b32 %r3, %r1, 31;\n"

// All warps mark that they are done, the first of each block counts its block, and the last one counts the marks.
static const char last_counts[] = HEAD
    "shr.u32 %r4, %r1, 5; mad.lo.u32 %r5, %r2, 4, %r4; mul.wide.u32 %rd2, %r5, 4; add.s64 %rd3, %rd1, %rd2;\n"
    "bar.sync 0; setp.ne.u32 %p1, %r3, 0; @%p1 ret; mov.u32 %r6, 0; mov.u32 %r8, 1;\n"
    "W: add.u32 %r6, %r6, 1; setp.lt.u32 %p2, %r6, 30; @%p2 bra W;\n"
    "st.relaxed.gpu.global.u32 [%rd3+64], %r8; setp.ne.u32 %p3, %r4, 0; @%p3 ret;\n"
    "membar.gl; atom.global.inc.u32 %r7, [%rd1], 3; setp.ne.u32 %p4, %r7, 3; @%p4 ret;\n"
    "mov.u32 %r6, 0; mov.u32 %r9, 0; mov.u64 %rd4, %rd1;\n"
    "S: ld.relaxed.gpu.global.u32 %r10, [%rd4+64]; add.u32 %r9, %r9, %r10; add.s64 %rd4, %rd4, 4;\n"
    "add.u32 %r6, %r6, 1; setp.lt.u32 %p5, %r6, 16; @%p5 bra S; st.global.u32 [%rd1+4], %r9; ret; }\n";

// Blocks meet, and take numbers as they leave: before the fence, and behind it.
static const char meet[] =
    HEAD "setp.ne.u32 %p1, %r3, 0; @%p1 ret; mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2;\n"
         "mov.u32 %r4, %nctaid.x; red.global.add.u32 [%rd1], 1;\n"
         "L: atom.global.add.u32 %r5, [%rd1], 0; setp.lt.u32 %p2, %r5, %r4; @%p2 bra L;\n"
         "atom.global.add.u32 %r6, [%rd1+4], 1; st.global.u32 [%rd3+64], %r6; membar.gl;\n"
         "atom.global.add.u32 %r7, [%rd1+8], 1; st.global.u32 [%rd3+128], %r7; ret; }\n";

static void run(const char *text, uint64_t seed, uint32_t grid, uint32_t block, uint32_t out[64]) {
    Rig r;
    VmConfig c = {.seed = seed, .split_one_in = 64};
    rig_open(&r, text, &c);
    uint64_t memory = rig_alloc(&r, 4096);
    if (RIG_RUN(&r, "k", grid, block, memory))
        fail_msg("seed %llu: %s", (unsigned long long)seed, r.fault.msg);
    memcpy(out, rig_view(&r, memory, 256), 256);
    rig_close(&r);
}

// EM-162
static void others_of_the_block_are_late(void **state) {
    (void)state;
    unsigned late = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        uint32_t out[64];
        run(last_counts, seed, 4, 4 * 32, out);
        assert_in_range(out[1], 4, 16);
        late += out[1] < 16;
    }
    assert_in_range(late, SEEDS * 3 / 5, SEEDS);
}

// EM-163
static void a_block_in_the_middle_leaves_last(void **state) {
    (void)state;
    unsigned first = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        for (uint32_t n = 2; n <= 6; n += 2) {
            uint32_t out[64], last = 0;
            run(meet, seed, n, 32, out);
            while (last < n && out[16 + last] != n - 1)
                last++;
            if (n > 2)
                assert_in_range(last, 1, n - 2);
            else
                assert_int_equal(last, 1);
            first += out[32 + last] == 0;
        }
    // Mostly the others wait for it behind their fence.
    assert_in_range(first, SEEDS * 3 / 2, SEEDS * 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(others_of_the_block_are_late),
        cmocka_unit_test(a_block_in_the_middle_leaves_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
