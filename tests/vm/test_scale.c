// SPDX-License-Identifier: Apache-2.0
// test_scale — what large launches cost before they run, and what the device needs for itself.
#include "harness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define MIB ((uint64_t)1 << 20)

// One word per page of the buffer; 40 registers of 64 bits that are all alive, so that frames are large.
static void write_kernel(StrBuf *b) {
    gr_str_add(b, ".visible .entry k(.param .u64 out, .param .u64 words) {.reg .b64 %v<40>; .reg .b64 %a, "
                  "%n, %i; .reg .b32 %r<4>;"
                  ".reg .pred %p; ld.param.u64 %a, [out]; ld.param.u64 %n, [words]; mov.u32 %r0, %ctaid.x; "
                  "mov.u32 %r1, %ntid.x;"
                  "mov.u32 %r2, %tid.x; mad.lo.u32 %r3, %r0, %r1, %r2; cvt.u64.u32 %i, %r3; setp.ge.u64 %p, "
                  "%i, %n; @%p bra E;"
                  "mad.wide.u32 %a, %r3, 4096, %a;\n");
    for (unsigned k = 0; k < 40; k++)
        gr_str_addf(b, "add.u64 %%v%u, %%a, %u;\n", k, k);
    gr_str_add(b, "bar.sync 0;\n");
    for (unsigned k = 1; k < 40; k++)
        gr_str_addf(b, "xor.b64 %%v0, %%v0, %%v%u;\n", k);
    gr_str_add(b, "st.global.u64 [%a], %v0; E: ret; }");
}

// Bytes of memory that only this process uses, or its share of them.
static uint64_t footprint(void) {
    char line[256];
    unsigned long long kib = 0;
    FILE *f = fopen("/proc/self/smaps_rollup", "re");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "Pss: %llu kB", &kib) == 1)
            break;
    if (f)
        fclose(f);
    return kib << 10;
}

static double cpu_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

// Beyond 1.1 times what the program allocated: at most 64 MiB, with as many blocks resident as there can be.
static void little_memory_of_its_own(void **state) {
    (void)state;
    for (uint64_t mib = 1; mib <= 256; mib *= 256) {
        Rig r;
        StrBuf text = {0};
        uint64_t before = footprint(), most = 0;
        if (!before || SANITIZED) // then most of the memory in use is the sanitizer's
            skip();
        write_kernel(&text);
        rig_open(&r, text.data, &(VmConfig){.seed = 1});
        gr_str_free(&text);
        uint64_t words = mib * MIB / 4096, params[2] = {rig_alloc(&r, mib * MIB), words};
        VmLaunch *l =
            rig_start(&r, "k", (Dims){(uint32_t)(words / 256 > 512 ? words / 256 : 512), 256, 0}, 2, params);
        while (gr_vm_run(r.dev, 2000) == VM_RUN_PROGRESS) {
            uint64_t now = footprint() - before;
            most = now > most ? now : most;
        }
        assert_null(gr_vm_launch_fault(l));
        uint64_t now = footprint() - before;
        most = now > most ? now : most;
        print_message("%llu MiB allocated: %llu KiB used\n", (unsigned long long)mib,
                      (unsigned long long)(most >> 10));
        assert_true(most >= mib * MIB); // all of it was touched: the measurement measures
        assert_true(most <= 64 * MIB + mib * MIB / 10 * 11);
        gr_vm_launch_free(l);
        rig_close(&r);
    }
}

// Nothing is done per block before the first one runs.
static void a_million_blocks_start_at_once(void **state) {
    (void)state;
    static const char text[] =
        ".visible .entry k(.param .u64 out) {.reg .b64 %a; .reg .b32 %r<3>; .reg .pred %p; ld.param.u64 %a, "
        "[out];"
        "mov.u32 %r0, %ctaid.x; setp.ne.u32 %p, %r0, 0; @%p ret; st.global.u32 [%a], 7; ret;}";
    static const uint32_t grids[] = {1000, 1000000, 1000000000};
    double best[3] = {1e9, 1e9, 1e9};
    for (unsigned n = 0; n < 3; n++)
        for (unsigned again = 0; again < 5; again++) {
            Rig r;
            rig_open(&r, text, NULL);
            uint64_t out = rig_alloc(&r, 4);
            double from = cpu_ms();
            VmLaunch *l = rig_start(&r, "k", (Dims){grids[n], 32, 0}, 1, &out);
            while (*(volatile uint32_t *)rig_view(&r, out, 4) == 0)
                gr_vm_run(r.dev, 10);
            double ms = cpu_ms() - from;
            best[n] = ms < best[n] ? ms : best[n];
            gr_vm_launch_free(l);
            rig_close(&r);
        }
    print_message("first block has run after %.3f, %.3f, %.3f ms\n", best[0], best[1], best[2]);
    assert_true(best[1] < best[0] + 2);
    assert_true(best[2] < best[0] + 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(little_memory_of_its_own),
        cmocka_unit_test(a_million_blocks_start_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
