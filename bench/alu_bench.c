// SPDX-License-Identifier: Apache-2.0
// alu_bench — nanoseconds per warp instruction of the CPU device's arithmetic, per instruction set, with all lanes and
// with half of them active: straight lines of 200 times the same kernel. Arguments are kernels (alu_spec.def says which
// one an instruction uses); without any, the commonest.
#include "vm/alu/alu.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { LENGTH = 200, REPEATS = 50, SLOT = 256, N_SLOTS = 12 };

static uint8_t frame[SLOT * N_SLOTS] __attribute__((aligned(64)));

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static const VmInsn *stop(VmWarp *w, const VmInsn *i) {
    (void)w, (void)i;
    return NULL;
}

static double measure(const AluKernel *k, bool wide, bool partial) {
    static VmInsn code[LENGTH + 1];
    // numbers near 1 in either width of floating point
    for (unsigned j = 0; j < sizeof frame / (wide ? 8 : 4); j++) {
        if (wide)
            ((uint64_t *)frame)[j] = 0x3ff0000000000000 + j * 77777777;
        else
            ((uint32_t *)frame)[j] = 0x3f800000 + j * 77;
    }
    for (unsigned j = 0; j < LENGTH; j++)
        code[j] = (VmInsn){.exec = {k->exec[0], k->exec[1]},
                           .d = j % 4 * SLOT,
                           .d2 = 11 * SLOT,
                           .a = (4 + j % 3) * SLOT,
                           .b = 7 * SLOT,
                           .c = 8 * SLOT,
                           .e = 9 * SLOT};
    code[LENGTH].exec[0] = code[LENGTH].exec[1] = stop;
    VmWarp w = {.frame = frame, .mask = partial ? 0x0f0f3355 : ~0u, .live = ~0u, .partial = partial};
    double best = 1e300;
    for (unsigned r = 0; r < REPEATS; r++) {
        double start = now_ns();
        for (const VmInsn *i = code; i;)
            i = i->exec[w.partial](&w, i);
        double took = now_ns() - start;
        best = took < best ? took : best;
    }
    return best / LENGTH;
}

int main(int argc, char **argv) {
    static char *common[] = {"",
                             "mov.b32",
                             "add.b32",
                             "add.b64",
                             "mul_lo.b32",
                             "mad_lo.b32",
                             "mul_wide.s32",
                             "mul_lo.b64",
                             "and.b32",
                             "shl.b32",
                             "shr.u32",
                             "setp_lt.s32",
                             "setp_lt.f32",
                             "selp.b32",
                             "extend.s32_64",
                             "truncate.b64_32",
                             "add.f32",
                             "fma.f32",
                             "fma_ftz.f32",
                             "div.f32",
                             "sqrt.f32",
                             "fma.f64",
                             "cvt_hard.f32_s32",
                             "cvt_rzi.s32_f32",
                             "cvt_fast.f32_f16",
                             "cvt_fast.f32_bf16",
                             "fma.f16x2",
                             "ex2.f32",
                             "sin.f32",
                             "div.u32",
                             "div.s64"};
    if (argc < 2) {
        argv = common;
        argc = sizeof common / sizeof *common;
    }
    static const char *const isas[] = {"base", "v3", "v4"};
    unsigned saved = gr_alu_fp_enter();
    printf("ns per warp instruction: all lanes, half of them\n%-20s", "");
    for (unsigned v = 0; v < 3; v++)
        printf("%16s", gr_alu_use(isas[v]) ? isas[v] : "");
    printf("\n");
    for (int j = 1; j < argc; j++) {
        printf("%-20s", argv[j]);
        for (unsigned v = 0; v < 3; v++) {
            const AluKernel *k = gr_alu_use(isas[v]) ? gr_alu_kernel(argv[j]) : NULL;
            bool wide = strstr(argv[j], "64") != NULL;
            if (k)
                printf("%8.1f%8.1f", measure(k, wide, false), measure(k, wide, true));
        }
        printf("\n");
    }
    gr_alu_fp_leave(saved);
    return 0;
}
