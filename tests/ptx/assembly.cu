// SPDX-License-Identifier: Apache-2.0
// Inline assembly: nested scopes with names of their own, the same ones in each expansion, odd spacing, predicates,
// vectors and clusters. Compiled for the round trip, never run.
#include <cstdint>

__device__ __forceinline__ void wait(uint32_t bar, uint32_t parity) {
    asm volatile("{\n"
                 ".reg .pred P1;\n"
                 "LAB_WAIT:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n"
                 "@P1 bra DONE;\n"
                 "bra   LAB_WAIT;\n"
                 "DONE:\n"
                 "}\n" ::"r"(bar), "r"(parity) : "memory");
}

__device__ __forceinline__ uint32_t elect() {
    uint32_t pred = 0;
    asm volatile("{ .reg .pred p; .reg .b32 lane;\n elect.sync lane|p, 0xffffffff;\n"
                 "  @p mov.s32 %0, 1; }" : "+r"(pred));
    return pred;
}

__device__ __forceinline__ uint4 load4(const uint32_t *p, int guard) {
    uint4 v;
    asm volatile("{\n .reg .pred p;\n setp.ne.b32 p, %5, 0;\n mov.b32 %0, 0; mov.b32 %1, 0; mov.b32 %2, 0; mov.b32 %3, 0;\n"
                 " @ p ld .global.L1::no_allocate.L2::128B .v4.u32 { %0 , %1 , %2, %3 } , [ %4 + 16 ] ; // tail\n"
                 "/* between */ }\n"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p), "r"(guard));
    return v;
}

__global__ void assembly(uint32_t *p, uint64_t *q, int n) {
    __shared__ alignas(8) uint64_t bar[2];
    uint32_t at = (uint32_t)__cvta_generic_to_shared(bar);
    if (elect())
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at), "r"(1));
    __syncthreads();
    asm volatile("{ .reg .b64 state; mbarrier.arrive.release.cta.shared::cta.b64 state, [%0]; }" ::"r"(at) : "memory");
    wait(at, 0);
    wait(at + 8, 1);
    uint4 v = load4(p + 4 * threadIdx.x, n);
    uint32_t lo, hi, packed;
    asm("mov.b64 {%0, %1}, %2;" : "=r"(lo), "=r"(hi) : "l"(q[threadIdx.x]));
    asm("{ .reg .b16 a, b; cvt.u16.u32 a, %1; cvt.u16.u32 b, %2; mov.b32 %0, {b, a}; }" : "=r"(packed) : "r"(lo), "r"(hi));
    asm volatile("fence.acq_rel.gpu; red.relaxed.gpu.global.add.u32 [%0], %1;" ::"l"(p), "r"(packed) : "memory");
    asm volatile("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(lo) : "r"(v.x), "r"(v.y), "r"(v.z));
    p[threadIdx.x] = lo + v.w;
}
