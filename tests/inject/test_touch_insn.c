// SPDX-License-Identifier: Apache-2.0
// What machine instructions touch: encodings as gcc's assembler makes them.
#include "inject/touch_insn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct {
    const char *text;
    uint8_t code[12];
    GrInsnTouch touch;
} insns[] = {
#define ROW(text, kind, size, ...)                                                                           \
    {                                                                                                        \
        text, {__VA_ARGS__}, { GR_INSN_##kind, size }                                                        \
    }
    ROW("mov %eax,(%rdi)", STORE, 4, 0x89, 0x07),
    ROW("mov (%rdi),%al", LOAD, 1, 0x8a, 0x07),
    ROW("mov %ax,(%rdi)", STORE, 2, 0x66, 0x89, 0x07),
    ROW("mov (%r8),%rax", LOAD, 8, 0x49, 0x8b, 0x00),
    ROW("movl $5,0x44(%rax)", STORE, 4, 0xc7, 0x40, 0x44, 5, 0, 0, 0),
    ROW("movb $5,(%rax)", STORE, 1, 0xc6, 0x00, 5),
    ROW("add %eax,(%rdi)", RMW, 4, 0x01, 0x07),
    ROW("add (%rdi),%rax", LOAD, 8, 0x48, 0x03, 0x07),
    ROW("cmp %eax,(%rdi)", LOAD, 4, 0x39, 0x07),
    ROW("cmpl $3,(%rdi)", LOAD, 4, 0x83, 0x3f, 3),
    ROW("addl $3,(%rdi)", RMW, 4, 0x83, 0x07, 3),
    ROW("lock xadd %eax,(%rdi)", RMW, 4, 0xf0, 0x0f, 0xc1, 0x07),
    ROW("lock cmpxchg %rax,(%rdi)", RMW, 8, 0xf0, 0x48, 0x0f, 0xb1, 0x07),
    ROW("lock cmpxchg16b (%rdi)", RMW, 16, 0xf0, 0x48, 0x0f, 0xc7, 0x0f),
    ROW("xchg %eax,(%rdi)", RMW, 4, 0x87, 0x07),
    ROW("testb $1,(%rdi)", LOAD, 1, 0xf6, 0x07, 1),
    ROW("negl (%rdi)", RMW, 4, 0xf7, 0x1f),
    ROW("incb (%rdi)", RMW, 1, 0xfe, 0x07),
    ROW("push (%rdi)", LOAD, 8, 0xff, 0x37),
    ROW("movzbl (%rdi),%eax", LOAD, 1, 0x0f, 0xb6, 0x07),
    ROW("movswl (%rdi),%eax", LOAD, 2, 0x0f, 0xbf, 0x07),
    ROW("movslq (%rdi),%rax", LOAD, 4, 0x48, 0x63, 0x07),
    ROW("rep stos %al,(%rdi)", STORE, 1, 0xf3, 0xaa),
    ROW("rep movsq", UNKNOWN, 8, 0xf3, 0x48, 0xa5),
    ROW("movss (%rdi),%xmm0", LOAD, 4, 0xf3, 0x0f, 0x10, 0x07),
    ROW("movsd %xmm0,(%rdi)", STORE, 8, 0xf2, 0x0f, 0x11, 0x07),
    ROW("movups %xmm0,(%rdi)", STORE, 16, 0x0f, 0x11, 0x07),
    ROW("movdqa (%rdi),%xmm0", LOAD, 16, 0x66, 0x0f, 0x6f, 0x07),
    ROW("movq %xmm0,(%rdi)", STORE, 8, 0x66, 0x0f, 0xd6, 0x07),
    ROW("movd (%rdi),%xmm0", LOAD, 4, 0x66, 0x0f, 0x6e, 0x07),
    ROW("addsd (%rdi),%xmm0", LOAD, 8, 0xf2, 0x0f, 0x58, 0x07),
    ROW("cvtsi2sd (%rdi),%xmm0", LOAD, 4, 0xf2, 0x0f, 0x2a, 0x07),
    ROW("vmovdqu (%rdi),%ymm0", LOAD, 32, 0xc5, 0xfe, 0x6f, 0x07),
    ROW("vmovdqu %ymm0,(%rdi)", STORE, 32, 0xc5, 0xfe, 0x7f, 0x07),
    ROW("vmovdqu64 %zmm0,(%rdi)", STORE, 64, 0x62, 0xf1, 0xfe, 0x48, 0x7f, 0x07),
    ROW("vmovdqu64 %zmm0,(%rdi){%k1}", STORE, 0, 0x62, 0xf1, 0xfe, 0x49, 0x7f, 0x07),
    ROW("vaddps (%rdi){1to16},%zmm1,%zmm0", LOAD, 4, 0x62, 0xf1, 0x74, 0x58, 0x58, 0x07),
    ROW("vbroadcastss (%rdi),%ymm0", LOAD, 4, 0xc4, 0xe2, 0x7d, 0x18, 0x07),
    ROW("flds (%rdi)", UNKNOWN, 4, 0xd9, 0x07),
    ROW("fxsave (%rdi)", UNKNOWN, 0, 0x0f, 0xae, 0x07),
};

static void test_insns(void **state) {
    (void)state;
#if !defined(__x86_64__)
    skip();
#endif
    for (size_t k = 0; k < sizeof insns / sizeof *insns; k++) {
        GrInsnTouch t = gr_insn_touch(insns[k].code);
        if (t.kind != insns[k].touch.kind || t.size != insns[k].touch.size)
            fail_msg("%s: kind %d, %u bytes", insns[k].text, (int)t.kind, (unsigned)t.size);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_insns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
