// SPDX-License-Identifier: Apache-2.0
// Modules of our own: a bit of everything that engines treat in a way of its own.
#include "fuzz_api.h"

#define HEAD ".version 7.8\n.target sm_90\n.address_size 64\n"
#define ARGS ".param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n, .param .u64 d, .param .u64 e"
#define POINTER                                                                                              \
    "  .reg .u64 %rd<9>;\n  .reg .u32 %r<9>;\n  .reg .pred %p<4>;\n  ld.param.u64 %rd1, [a];\n"              \
    "  cvta.to.global.u64 %rd2, %rd1;\n  mov.u32 %r1, %tid.x;\n  mul.wide.u32 %rd3, %r1, 4;\n"               \
    "  add.u64 %rd4, %rd2, %rd3;\n"

const char *const fuzz_texts[FUZZ_TEXTS] = {
    HEAD ".visible .global .align 4 .u32 global_array[64];\n"
         ".visible .entry store(" ARGS ") {\n" POINTER
         "  ld.global.u32 %r2, [%rd4+4];\n  st.global.u32 [%rd4], %r2;\n  mov.u64 %rd5, global_array;\n"
         "  st.global.u32 [%rd5], %r1;\n  ret;\n}\n"
         ".visible .entry sum(" ARGS ") {\n" POINTER "  .shared .align 4 .u32 s[64];\n  mov.u32 %r3, s;\n"
         "  and.b32 %r4, %r1, 31;\n  shl.b32 %r5, %r4, 2;\n  add.u32 %r3, %r3, %r5;\n  st.shared.u32 [%r3], "
         "%r1;\n  bar.sync 0;\n"
         "  ld.shared.u32 %r6, [%r3+4];\n  red.global.add.u32 [%rd2], %r6;\n  ret;\n}\n",
    HEAD ".visible .entry barrier(" ARGS ") {\n" POINTER "  setp.lt.u32 %p1, %r1, 7;\n  @%p1 bra OUT;\n"
         "  bar.sync 0;\nOUT:\n  barrier.cluster.arrive;\n  barrier.cluster.wait;\n  st.global.u32 [%rd4], "
         "1;\n  ret;\n}\n",
    HEAD ".visible .entry atomics(" ARGS ") {\n" POINTER
         "LOOP:\n  add.u32 %r5, %r5, 1;\n  setp.gt.u32 %p2, %r5, 20;\n  @%p2 bra OUT;\n"
         "  atom.global.cas.b32 %r2, [%rd2], 0, 1;\n  setp.ne.u32 %p1, %r2, 0;\n  @%p1 bra LOOP;\n"
         "  ld.global.u32 %r3, [%rd2+8];\n  st.global.u32 [%rd2+8], %r3;\n  membar.gl;\n  "
         "atom.global.exch.b32 %r2, [%rd2], 0;\nOUT:\n  ret;\n}\n",
    HEAD ".visible .global .attribute(.managed) .align 4 .u32 managed_array[32];\n"
         ".visible .entry managed(" ARGS ") {\n" POINTER
         "  mov.u64 %rd5, managed_array;\n  add.u64 %rd5, %rd5, %rd3;\n  st.global.u32 [%rd5], %r1;\n"
         "  ld.global.v2.u32 {%r2, %r3}, [%rd2];\n  st.global.v2.u32 [%rd2+64], {%r3, %r2};\n  ret;\n}\n",
    HEAD ".extern .shared .align 16 .b8 dyn[];\n.visible .entry store(" ARGS ") {\n" POINTER
         "  mov.u32 %r3, dyn;\n  st.shared.u32 [%r3+64], %r1;\n  cvt.u64.u32 %rd6, %r3;\n  cvta.shared.u64 "
         "%rd6, %rd6;\n  st.u32 [%rd6], %r1;\n"
         "  cp.async.ca.shared.global [%r3], [%rd2], 16;\n  cp.async.commit_group;\n  cp.async.wait_group "
         "0;\n  ld.param.u32 %r4, [n];\n"
         "  setp.eq.u32 %p1, %r4, 31;\n  @%p1 trap;\n  ret;\n}\n",
    HEAD ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);\n"
         ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n"
         ".func leaf(.param .u64 p) {\n  .reg .u64 %rd<2>;\n  ld.param.u64 %rd1, [p];\n  st.u32 [%rd1], 5;\n "
         " ret;\n}\n"
         ".visible .entry store(" ARGS ") {\n" POINTER
         "  { .param .b64 x; .param .b64 y; st.param.b64 [x], 64; call.uni (y), malloc, (x); ld.param.b64 "
         "%rd5, [y]; }\n"
         "  { .param .b64 x; st.param.b64 [x], %rd5; call.uni leaf, (x); }\n"
         "  { .param .b64 x; st.param.b64 [x], %rd5; call.uni free, (x); }\n  ret;\n}\n",
    HEAD ".visible .entry sum(" ARGS ") {\n" POINTER
         "  .shared .align 8 .b64 bar;\n  mov.u32 %r3, bar;\n  setp.ne.u32 %p1, %r1, 0;\n"
         "  @%p1 bra IN;\n  mbarrier.init.shared.b64 [%r3], 4;\nIN:\n  bar.sync 0;\n  "
         "mbarrier.arrive.shared.b64 %rd6, [%r3];\n"
         "  griddepcontrol.wait;\n  st.global.u32 [%rd4], 3;\n  bar.warp.sync -1;\n  shfl.sync.idx.b32 %r4, "
         "%r1, 3, 31, -1;\n"
         "  st.volatile.global.u32 [%rd4], %r4;\n  ret;\n}\n",
    HEAD ".visible .entry barrier(" ARGS ") .maxntid 64 .reqnctapercluster 2 {\n" POINTER
         "LOOP:\n  nanosleep.u32 100;\n  ld.relaxed.gpu.global.u32 %r2, [%rd2];\n  setp.ne.u32 %p1, %r2, "
         "77;\n  @%p1 bra OUT;\n"
         "  bra LOOP;\nOUT:\n  ret;\n}\n",
};
