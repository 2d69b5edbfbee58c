// SPDX-License-Identifier: Apache-2.0
// test_stores — VmAccessEvent.same against stores made byte by byte: lanes that share bytes wholly or in part, vectors,
// every order in which lanes commit, some lanes inactive.
#include "harness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LANES = 32, SPREAD = 20, BYTES = 16 };

// In round n the lanes store to 16 places or fewer, word j being bit j of lane * (n + 1): often what lies there
// already.
static const char program[] =
    ".visible .entry k(.param .u64 out) {\n"
    ".reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<8>;\n"
    "ld.param.u64 %rd1, [out]; mov.u32 %r1, %laneid; mov.u32 %r2, 0;\n"
    "L: shl.b32 %r3, %r1, 1; shr.u32 %r3, %r3, %r2; xor.b32 %r3, %r3, %r2; and.b32 %r3, %r3, 15;\n"
    "mul.wide.u32 %rd2, %r3, 16; add.s64 %rd2, %rd1, %rd2;\n"
    "add.u32 %r4, %r2, 1; mul.lo.u32 %r4, %r4, %r1; and.b32 %r5, %r4, 1; shr.u32 %r6, %r4, 1; and.b32 %r6, "
    "%r6, 1;\n"
    "shr.u32 %r7, %r4, 2; and.b32 %r7, %r7, 1; shr.u32 %r8, %r4, 3; and.b32 %r8, %r8, 1;\n"
    "and.b32 %r9, %r1, 3; setp.ne.u32 %p2, %r9, %r2;\n"
    "@%p2 st.global.v4.u32 [%rd2], {%r5, %r6, %r7, %r8};\n"
    "st.global.v2.u16 [%rd2+4], {%r5, %r6};\n"
    "st.global.u8 [%rd2+9], %r8;\n"
    "add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 8; @%p1 bra L; ret; }\n";

typedef struct Listener {
    Rig *rig;
    uint32_t round[4]; // by size
    uint64_t answers[2], rng;
} Listener;

static uint32_t any(Listener *l, uint32_t n) {
    l->rng = l->rng * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(l->rng >> 33) % n;
}

static void stored(uint32_t size, uint32_t lane, uint32_t round, uint8_t out[BYTES]) {
    uint32_t bits = lane * (round + 1), unit = size == 16 ? 4 : size == 4 ? 2 : 1;
    memset(out, 0, BYTES);
    for (uint32_t j = 0; j < size / unit; j++)
        out[j * unit] = bits >> (size == 1 ? 3 : j) & 1;
}

static void ask_all(Listener *l, const VmAccessEvent *e, uint32_t lane, uint32_t round,
                    const uint8_t *before) {
    uint8_t bytes[BYTES + 2 * (SPREAD + BYTES)], mine[BYTES];
    uint8_t *own = bytes + SPREAD + BYTES;
    memcpy(own, before, e->size);
    for (unsigned k = 0, o; (o = gr_vm_commit_lane(k, e->turn)) != lane; k++) {
        int64_t off = (int64_t)(e->address[o] - e->address[lane]);
        if (!(e->where.mask >> o & 1) || off > SPREAD || off < -SPREAD)
            continue;
        stored(e->size, o, round, mine);
        memcpy(own + off, mine, e->size);
    }
    stored(e->size, lane, round, mine);
    for (uint32_t from = 0; from < e->size; from++)
        for (uint32_t n = 1; from + n <= e->size; n++) {
            bool want = !memcmp(own + from, mine + from, n);
            if (e->same(e, lane, from, n) != want)
                fail_msg("lane %u, bytes %u to %u of %u: not %d", lane, from, from + n, e->size, want);
            l->answers[want]++;
        }
    assert_false(e->same(e, lane, 0, e->size + 1));
}

static void hear(void *user, const VmAccessEvent *e) {
    Listener *l = user;
    if (e->access != PTX_ACCESS_WRITE)
        return;
    uint32_t round = l->round[e->size == 16 ? 0 : e->size == 4 ? 1 : 2];
    for (uint32_t m = e->where.mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        const uint8_t *before = rig_view(l->rig, e->address[lane], e->size);
        ask_all(l, e, lane, round, before);
        // Instructions align their addresses; of others it holds as well.
        uint64_t moved[LANES];
        VmAccessEvent f = *e;
        f.address = moved;
        for (unsigned k = 0; k < LANES; k++)
            moved[k] = e->address[lane] - SPREAD + any(l, 2 * SPREAD + 1);
        moved[lane] = e->address[lane];
        ask_all(l, &f, lane, round, before);
    }
    l->round[e->size == 16 ? 0 : e->size == 4 ? 1 : 2]++;
}

static void same_as_byte_by_byte(void **state) {
    (void)state;
    Listener l = {.rng = 1};
    for (uint64_t seed = 1; seed <= 40; seed++) {
        Rig r;
        VmConfig config = {.seed = seed}; // it draws the turns
        VmObserver o = {.user = &l, .access = hear};
        gr_error err = {0};
        rig_open(&r, program, &config);
        l.rig = &r;
        memset(l.round, 0, sizeof l.round);
        assert_int_equal(gr_vm_observe(r.dev, &o, &err), GR_OK);
        assert_int_equal(RIG_RUN(&r, "k", 1, LANES, rig_alloc(&r, 512)), VM_FAULT_NONE);
        assert_int_equal(l.round[0], 8);
        rig_close(&r);
    }
    assert_true(l.answers[0] > 10000 && l.answers[1] > 10000);
}

static void numbers_of_lanes(void **state) {
    (void)state;
    for (uint32_t turn = 0; turn < 64; turn++)
        for (unsigned k = 0; k < LANES; k++) {
            uint32_t lane = UINT32_C(1) << gr_vm_commit_lane(k, turn);
            assert_int_equal(gr_vm_commit_numbers(lane, turn), UINT32_C(1) << k);
            assert_int_equal(gr_vm_commit_numbers(~lane, turn), ~(UINT32_C(1) << k));
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_as_byte_by_byte),
                                       cmocka_unit_test(numbers_of_lanes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
