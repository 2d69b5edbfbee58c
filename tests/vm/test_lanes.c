// SPDX-License-Identifier: Apache-2.0
// test_lanes — loads and stores in every shape, on every instruction set this machine has, against the handlers that
// take one lane at a time: the bytes must be the same.
#include "harness.h"

#include "base/rng.h"
#include "vm/mem/mem_kernels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SPACE = 4096, PATTERNS = 8, STEP = SANITIZED ? 3 : 1 };

static const struct Shape {
    const char *type, *regs; // of the elements; their register class
    unsigned vec, size;      // elements, bytes of all
} shapes[] = {
    {"u8", "h", 1, 1},   {"s8", "h", 1, 1},   {"u8", "r", 1, 1},  {"s8", "r", 1, 1},
    {"u16", "h", 1, 2},  {"s16", "r", 1, 2},  {"s16", "q", 1, 2}, {"b32", "r", 1, 4},
    {"s32", "q", 1, 4},  {"u32", "q", 1, 4},  {"b64", "q", 1, 8}, {"b32", "r", 2, 8},
    {"b64", "q", 2, 16}, {"b32", "r", 4, 16}, {"u8", "h", 4, 4},  {"u16", "h", 2, 4},
};
static const char *const spaces[] = {"global", "shared", "generic", "local", "genericlocal"};

static void add_list(StrBuf *s, const struct Shape *k, unsigned first) {
    gr_str_addf(s, k->vec > 1 ? "{" : "");
    for (unsigned e = 0; e < k->vec; e++)
        gr_str_addf(s, "%s%%%s%u", e ? ", " : "", k->regs, first + e);
    gr_str_addf(s, k->vec > 1 ? "}" : "");
}

// Per thread: table entry t is an offset, bit 31 says that the thread takes part. Copies one element from the space at
// that offset into registers that held a pattern, and from there to the space at the offset plus SPACE / 2, unless
// others are there as well; then the whole space and the registers to `out`.
static char *program(const struct Shape *k, const char *where) {
    StrBuf s = {0};
    bool local = strstr(where, "local"), shared = !strcmp(where, "shared") || !strcmp(where, "generic");
    char vec[16] = "", space[16] = "";
    if (k->vec > 1)
        snprintf(vec, sizeof vec, ".v%u", k->vec);
    if (strncmp(where, "generic", 7) != 0)
        snprintf(space, sizeof space, ".%s", where);
    gr_str_addf(&s,
                ".visible .entry k(.param .u64 table, .param .u64 data, .param .u64 out) {\n"
                ".reg .pred %%p<4>; .reg .b16 %%h<16>; .reg .b32 %%r<32>; .reg .b64 %%q<32>; .shared .align "
                "16 .b8 sh[%u]; "
                ".local .align 16 .b8 lo[%u];\n"
                "mov.u32 %%r20, %%tid.x; mul.wide.u32 %%q20, %%r20, 4; ld.param.u64 %%q21, [table]; add.s64 "
                "%%q21, %%q21, %%q20;\n"
                "ld.global.u32 %%r21, [%%q21]; setp.lt.s32 %%p1, %%r21, 0; and.b32 %%r21, %%r21, 0xffff; "
                "cvt.u64.u32 %%q22, "
                "%%r21;\nld.param.u64 %%q23, [data]; ld.param.u64 %%q24, [out];\n",
                SPACE, SPACE);
    // Fill the space: shared by its 32 threads, local by each for itself.
    if (local)
        gr_str_addf(&s, "mov.u64 %%q25, lo; mov.u32 %%r22, 0; ");
    else if (shared)
        gr_str_addf(&s, "mov.u64 %%q25, sh; shl.b32 %%r22, %%r20, 2; ");
    if (local || shared)
        gr_str_addf(
            &s,
            "\nF: cvt.u64.u32 %%q26, %%r22; add.s64 %%q27, %%q23, %%q26; ld.global.u32 %%r23, [%%q27]; "
            "add.u32 %%r23, "
            "%%r23, %%r20; add.s64 %%q27, %%q25, %%q26; st.%s.u32 [%%q27], %%r23; add.u32 %%r22, %%r22, %u; "
            "setp.lt.u32 %%p2, %%r22, %u; @%%p2 bra F; bar.sync 0;\n",
            local ? "local" : "shared", local ? 4 : 128, SPACE);
    else
        gr_str_addf(&s, "mov.u64 %%q25, %%q23;\n");
    if (!strncmp(where, "generic", 7))
        gr_str_addf(&s, "cvta.%s.u64 %%q28, %%q25;\n", local ? "local" : "shared");
    else
        gr_str_addf(&s, "mov.u64 %%q28, %%q25;\n");
    gr_str_addf(&s, "add.s64 %%q28, %%q28, %%q22;\n");
    for (unsigned e = 0; e < k->vec; e++)
        gr_str_addf(&s, "mov.b%s %%%s%u, -%u;\n",
                    *k->regs == 'h'   ? "16"
                    : *k->regs == 'r' ? "32"
                                      : "64",
                    k->regs, e, e + 3);
    gr_str_addf(&s, "@!%%p1 bra J;\nld%s%s.%s ", space, vec, k->type);
    add_list(&s, k, 0);
    gr_str_addf(&s, ", [%%q28];\nst%s%s.%s [%%q28+%u], ", space, vec, k->type, SPACE / 2);
    add_list(&s, k, 0);
    gr_str_addf(&s, ";\nJ: bar.sync 0; mul.wide.u32 %%q20, %%r20, 64; add.s64 %%q20, %%q24, %%q20;\n");
    for (unsigned e = 0; e < k->vec; e++)
        gr_str_addf(&s, "st.global.b%s [%%q20+%u], %%%s%u;\n",
                    *k->regs == 'h'   ? "16"
                    : *k->regs == 'r' ? "32"
                                      : "64",
                    8 * e, k->regs, e);
    gr_str_addf(&s,
                "mov.u32 %%r22, 0; mul.wide.u32 %%q20, %%r20, %u; add.s64 %%q24, %%q24, %%q20;\nD: "
                "cvt.u64.u32 %%q26, %%r22; "
                "add.s64 %%q27, %%q25, %%q26; ld.%s.u32 %%r23, [%%q27]; add.s64 %%q27, %%q24, %%q26; "
                "st.global.u32 [%%q27+2048], "
                "%%r23; add.u32 %%r22, %%r22, 4; setp.lt.u32 %%p2, %%r22, %u; @%%p2 bra D; ret; }\n",
                SPACE,
                local    ? "local"
                : shared ? "shared"
                         : "global",
                SPACE);
    return s.data;
}

static void fill_table(uint32_t table[32], unsigned pattern, unsigned size, bool part, Rng *rng) {
    uint32_t mask = part ? (uint32_t)gr_rng_next(rng) | 1u << 7 : UINT32_MAX;
    for (unsigned l = 0; l < 32; l++) {
        uint32_t at;
        switch (pattern) {
        case 0: at = l; break;                      // consecutive
        case 1: at = 5; break;                      // all the same
        case 2: at = l % 16 + l / 16 * 40; break;   // two rows
        case 3: at = l / 16 * 3; break;             // two values
        case 4: at = 31 - l; break;                 // backwards
        case 5: at = 3 * l; break;                  // strided
        case 6: at = l == 9 ? 60 : l; break;        // one astray
        default: at = gr_rng_below(rng, 64); break; // anywhere
        }
        table[l] = (at * size) | (mask >> l & 1 ? 0x80000000u : 0);
    }
}

static uint64_t run(const char *isa, const char *text, const uint32_t table[32]) {
    assert_true(gr_vm_mem_use(isa));
    Rig r;
    VmConfig c = {.seed = 3};
    rig_open(&r, text, &c);
    uint64_t t = rig_alloc(&r, 128), data = rig_alloc(&r, SPACE), out = rig_alloc(&r, 2048 + 33 * SPACE);
    memcpy(rig_view(&r, t, 128), table, 128);
    uint8_t *p = rig_view(&r, data, SPACE);
    for (unsigned k = 0; k < SPACE; k++)
        p[k] = (uint8_t)(k * 167u >> 1);
    if (RIG_RUN(&r, "k", 1, 32, t, data, out) != VM_FAULT_NONE)
        fail_msg("%s", r.fault.msg);
    uint64_t hash = gr_hash_bytes(rig_view(&r, out, 2048 + 33 * SPACE), 2048 + 33 * SPACE);
    rig_close(&r);
    return hash;
}

static void every_shape_as_lane_by_lane(void **state) {
    (void)state;
    static const char *const isas[] = {"base", "v3", "v4"};
    Rng rng = gr_rng_fork(11, 0, 0);
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (size_t s = 0; s < sizeof spaces / sizeof *spaces; s++) {
            char *text = program(&shapes[k], spaces[s]);
            for (unsigned pattern = k % STEP; pattern < 2 * PATTERNS; pattern += STEP) {
                uint32_t table[32];
                fill_table(table, pattern / 2, shapes[k].size, pattern % 2, &rng);
                uint64_t want = run("none", text, table);
                for (size_t x = 0; x < sizeof isas / sizeof *isas; x++)
                    if (gr_vm_mem_use(isas[x]) && run(isas[x], text, table) != want)
                        fail_msg("%s: %s x %u in %s registers, %s, pattern %u", isas[x], shapes[k].type,
                                 shapes[k].vec, shapes[k].regs, spaces[s], pattern);
            }
            free(text);
        }
    gr_vm_mem_use(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_shape_as_lane_by_lane)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
