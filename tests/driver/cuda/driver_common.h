// SPDX-License-Identifier: Apache-2.0
// driver_common — kernels and checks that the tests of libcuda.so.1 share.
#ifndef GR_TESTS_DRIVER_COMMON_H
#define GR_TESTS_DRIVER_COMMON_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <cuda.h>

// clang-format off
static const char driver_ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .global .align 4 .u32 counter = 7;\n"
    ".visible .const .align 4 .u32 scale = 3;\n"
    ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n"
    ".global .align 1 .b8 text[7] = {104, 101, 108, 108, 111, 10, 0};\n"
    // p[i] = value * scale
    ".visible .entry fill(.param .u64 p, .param .u32 value) {\n"
    "  .reg .b32 %r<8>; .reg .b64 %rd<4>;\n"
    "  ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [value];\n"
    "  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r5, %r2, %r3, %r4;\n"
    "  ld.const.u32 %r6, [scale]; mul.lo.u32 %r7, %r1, %r6;\n"
    "  mul.wide.u32 %rd2, %r5, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r7; ret; }\n"
    // for n times: log[atomic next++] = id
    ".visible .entry append(.param .u64 next, .param .u64 log, .param .u32 id, .param .u32 n) {\n"
    "  .reg .b32 %r<5>; .reg .b64 %rd<6>; .reg .pred %p1;\n"
    "  ld.param.u64 %rd1, [next]; ld.param.u64 %rd2, [log]; ld.param.u32 %r1, [id]; ld.param.u32 %r2, [n];\n"
    "$again:\n"
    "  atom.global.add.u32 %r3, [%rd1], 1;\n"
    "  mul.wide.u32 %rd3, %r3, 4; add.s64 %rd4, %rd2, %rd3; st.global.u32 [%rd4], %r1;\n"
    "  sub.u32 %r2, %r2, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra $again; ret; }\n"
    // while (*flag == 0); *out = 1
    ".visible .entry spin(.param .u64 flag, .param .u64 out) {\n"
    "  .reg .b32 %r<3>; .reg .b64 %rd<3>; .reg .pred %p1;\n"
    "  ld.param.u64 %rd1, [flag]; ld.param.u64 %rd2, [out];\n"
    "$wait:\n"
    "  ld.relaxed.sys.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra $wait;\n"
    "  mov.u32 %r2, 1; st.relaxed.sys.global.u32 [%rd2], %r2; ret; }\n"
    // *(p) = 1, wherever p is
    ".visible .entry poke(.param .u64 p) {\n"
    "  .reg .b32 %r1; .reg .b64 %rd1;\n"
    "  ld.param.u64 %rd1, [p]; mov.u32 %r1, 1; st.global.u32 [%rd1], %r1; ret; }\n"
    ".visible .entry forever() {\n"
    "$loop:\n  bra $loop; }\n"
    ".visible .entry hello() {\n"
    "  .reg .b64 %rd<3>; .reg .b32 %r1;\n"
    "  mov.u64 %rd1, text; cvta.global.u64 %rd2, %rd1;\n"
    "  { .param .b64 f; st.param.b64 [f], %rd2; .param .b64 a; st.param.b64 [a], 0; .param .b32 r;\n"
    "    call.uni (r), vprintf, (f, a); ld.param.b32 %r1, [r]; }\n"
    "  ret; }\n"
    ".visible .entry bounded(.param .align 16 .b8 s[20], .param .u16 h) .maxntid 128, 1, 1 { ret; }\n"
    ".visible .entry fixed() .reqntid 64, 1, 1 { ret; }\n";
// clang-format on

#define OK(call) assert_int_equal((call), CUDA_SUCCESS)

// A context on device 0 with the kernels above loaded; stays current.
static CUcontext driver_context;
static CUmodule driver_module;

static inline void driver_start(void) {
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&driver_context, 0));
    OK(cuCtxSetCurrent(driver_context));
    char log[512] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    CUresult r = cuModuleLoadDataEx(&driver_module, driver_ptx, 2, options,
                                    (void *[]){log, (void *)(uintptr_t)sizeof log});
    if (r != CUDA_SUCCESS)
        fprintf(stderr, "%s\n", log);
    OK(r);
}

static inline CUfunction driver_kernel(const char *name) {
    CUfunction f;
    OK(cuModuleGetFunction(&f, driver_module, name));
    return f;
}

static inline CUresult driver_launch(const char *name, unsigned blocks, unsigned threads, CUstream s,
                                     void **params) {
    return cuLaunchKernel(driver_kernel(name), blocks, 1, 1, threads, 1, 1, 0, s, params, NULL);
}

#endif
