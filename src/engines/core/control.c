// SPDX-License-Identifier: Apache-2.0
#include "engines/core/control.h"

#include <string.h>

// 64 turns, so that on a GPU each thread is at work while the others are.
#define KERNEL(name, barrier)                                                                                \
    ".version 7.0\n.target sm_70\n.address_size 64\n"                                                        \
    ".global .align 4 .b8 gpurace_words[512];\n"                                                             \
    ".global .align 4 .b8 gpurace_sums[512];\n"                                                              \
    ".visible .entry " name "()\n{\n"                                                                        \
    ".reg .b32 %r<8>;\n.reg .b64 %a<5>;\n.reg .pred %p;\n"                                                   \
    "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n"                                                         \
    "shl.b32 %r2, %r2, 6;\nadd.u32 %r1, %r1, %r2;\nxor.b32 %r2, %r1, 32;\n"                                  \
    "mov.u64 %a1, gpurace_words;\nmul.wide.u32 %a2, %r1, 4;\nmul.wide.u32 %a3, %r2, 4;\n"                    \
    "mov.u64 %a4, gpurace_sums;\nadd.u64 %a4, %a4, %a2;\n"                                                   \
    "add.u64 %a2, %a1, %a2;\nadd.u64 %a3, %a1, %a3;\n"                                                       \
    "mov.u32 %r3, 0;\nmov.u32 %r4, 0;\n"                                                                     \
    "turn:\n"                                                                                                \
    "add.u32 %r3, %r3, 1;\n"                                                                                 \
    "st.global.u32 [%a2], %r3;\n" barrier "ld.global.u32 %r5, [%a3];\n" barrier "add.u32 %r4, %r4, %r5;\n"   \
    "setp.lt.u32 %p, %r3, 64;\n@%p bra turn;\n"                                                              \
    "st.global.u32 [%a4], %r4;\nret;\n}\n"

const char gr_control_racy[] = KERNEL(GR_CONTROL_RACY, "");
const char gr_control_twin[] = KERNEL(GR_CONTROL_TWIN, "bar.sync 0;\n");

bool gr_control_is(const char *kernel) {
    return kernel && (!strcmp(kernel, GR_CONTROL_RACY) || !strcmp(kernel, GR_CONTROL_TWIN));
}
