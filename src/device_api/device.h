// SPDX-License-Identifier: Apache-2.0
// device — the few things a device runtime needs of the GPU, as inline PTX: special registers, warp collectives and
// scoped atomics. clang's own atomics for nvptx do not survive ptxas, hence the assembly.
//
// Everything here is relaxed: a device runtime must not order the program's accesses (design: "The added instructions
// must order nothing"). So there is no fence, no barrier, no acquire and no release in this file.
#ifndef GR_DEVICE_API_DEVICE_H
#define GR_DEVICE_API_DEVICE_H

#ifdef GR_DEVICE_STAND_IN // of a runtime that is compiled for the host: the header that stands for this one
#include GR_DEVICE_STAND_IN
#else

#include <stdint.h>

#define GR_ENTRY    // before a function that inserted code calls
#define GR_GLOBAL   __attribute__((address_space(1)))
#define GR_INLINE   static inline __attribute__((always_inline))
#define GR_NOINLINE __attribute__((noinline))
#define GR_ROLLED   _Pragma("nounroll") // before a loop: code size counts more

GR_INLINE uint32_t gr_lane(void) {
    uint32_t v;
    __asm__("mov.u32 %0, %%laneid;" : "=r"(v));
    return v;
}

// The lanes with lower numbers.
GR_INLINE uint32_t gr_lanes_before(void) {
    uint32_t v;
    __asm__("mov.u32 %0, %%lanemask_lt;" : "=r"(v));
    return v;
}

// This lane.
GR_INLINE uint32_t gr_lane_bit(void) {
    uint32_t v;
    __asm__("mov.u32 %0, %%lanemask_eq;" : "=r"(v));
    return v;
}

// The lanes that execute this together, for the next instructions: nothing may part or join lanes in between.
GR_INLINE uint32_t gr_active_mask_now(void) {
    uint32_t v;
    __asm__ volatile("activemask.b32 %0;" : "=r"(v));
    return v;
}

// The lanes that execute this together, for later. The assembler takes activemask's value for equal in all lanes that
// are together, and asks one lane which others an instruction waits for. But groups that came here one after the other,
// each with a mask of its own, may be together by then. A mask with the lane's own bit set again hides its origin from
// the assembler, which then asks each lane.
GR_INLINE uint32_t gr_active_mask(void) {
    uint32_t v;
    __asm__ volatile("{ .reg .b32 own; activemask.b32 %0; mov.u32 own, %%lanemask_eq; or.b32 %0, %0, own; }"
                     : "=r"(v));
    return v;
}

// The lanes in `mask`, all of which come here, go on together. Orders no memory.
GR_INLINE void gr_rejoin(uint32_t mask) {
    uint32_t v;
    __asm__ volatile("{ .reg .pred p; setp.eq.u32 p, 0, 0; vote.sync.ballot.b32 %0, p, %1; }"
                     : "=r"(v)
                     : "r"(mask));
}

GR_INLINE uint32_t gr_match_any(uint32_t mask, uint64_t value) {
    uint32_t v;
    __asm__ volatile("match.any.sync.b64 %0, %1, %2;" : "=r"(v) : "l"(value), "r"(mask));
    return v;
}

// Whether all lanes of `mask` have the same value.
GR_INLINE int gr_match_all(uint32_t mask, uint32_t value) {
    uint32_t v;
    __asm__ volatile("{ .reg .pred p; .reg .b32 m; match.all.sync.b32 m|p, %1, %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(v)
                     : "r"(value), "r"(mask));
    return (int)v;
}

GR_INLINE uint32_t gr_shuffle32(uint32_t mask, uint32_t value, uint32_t lane) {
    uint32_t v;
    __asm__ volatile("shfl.sync.idx.b32 %0, %1, %2, 31, %3;" : "=r"(v) : "r"(value), "r"(lane), "r"(mask));
    return v;
}

GR_INLINE int gr_all(uint32_t mask, int value) {
    uint32_t v;
    __asm__ volatile(
        "{ .reg .pred p, q; setp.ne.u32 p, %1, 0; vote.sync.all.pred q, p, %2; selp.u32 %0, 1, 0, q; }"
        : "=r"(v)
        : "r"(value), "r"(mask));
    return (int)v;
}

GR_INLINE uint32_t gr_ballot(uint32_t mask, int value) {
    uint32_t v;
    __asm__ volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, %2; }"
                     : "=r"(v)
                     : "r"(value), "r"(mask));
    return v;
}

GR_INLINE uint64_t gr_shuffle64(uint32_t mask, uint64_t value, uint32_t lane) {
    uint32_t lo = gr_shuffle32(mask, (uint32_t)value, lane);
    uint32_t hi = gr_shuffle32(mask, (uint32_t)(value >> 32), lane);
    return (uint64_t)hi << 32 | lo;
}

GR_INLINE void gr_count_here(GR_GLOBAL uint64_t *at, uint64_t n) {
    __asm__ volatile("red.relaxed.sys.global.add.u64 [%0], %1;" ::"l"(at), "l"(n));
}

GR_INLINE void gr_max64_here(GR_GLOBAL uint64_t *at, uint64_t n) {
    __asm__ volatile("red.relaxed.sys.global.max.u64 [%0], %1;" ::"l"(at), "l"(n));
}

// The old value.
GR_INLINE uint32_t gr_add32_here(GR_GLOBAL uint32_t *at, uint32_t n) {
    uint32_t old;
    __asm__ volatile("atom.relaxed.sys.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(at), "r"(n));
    return old;
}

// The old value.
GR_INLINE uint32_t gr_compare_swap_here(GR_GLOBAL uint32_t *at, uint32_t expected, uint32_t desired) {
    uint32_t old;
    __asm__ volatile("atom.relaxed.sys.global.cas.b32 %0, [%1], %2, %3;"
                     : "=r"(old)
                     : "l"(at), "r"(expected), "r"(desired));
    return old;
}

GR_INLINE uint64_t gr_compare_swap64_here(GR_GLOBAL uint64_t *at, uint64_t expected, uint64_t desired) {
    uint64_t old;
    __asm__ volatile("atom.relaxed.sys.global.cas.b64 %0, [%1], %2, %3;"
                     : "=l"(old)
                     : "l"(at), "l"(expected), "l"(desired));
    return old;
}

GR_INLINE uint64_t gr_exchange64_here(GR_GLOBAL uint64_t *at, uint64_t v) {
    uint64_t old;
    __asm__ volatile("atom.relaxed.sys.global.exch.b64 %0, [%1], %2;" : "=l"(old) : "l"(at), "l"(v));
    return old;
}

// Memory that does not change while a kernel runs.
GR_INLINE uint64_t gr_fetch64(const GR_GLOBAL uint64_t *at) { return *at; }

GR_INLINE uint64_t gr_load64_here(GR_GLOBAL uint64_t *at) {
    uint64_t v;
    __asm__ volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(v) : "l"(at));
    return v;
}

// A load of what only threads of the block write: the multiprocessor's own cache may answer.
GR_INLINE uint64_t gr_load64_of_block_here(GR_GLOBAL uint64_t *at) {
    uint64_t v;
    __asm__ volatile("ld.relaxed.cta.global.u64 %0, [%1];" : "=l"(v) : "l"(at));
    return v;
}

GR_INLINE void gr_store64_of_block(GR_GLOBAL uint64_t *at, uint64_t v) {
    __asm__ volatile("st.relaxed.cta.global.u64 [%0], %1;" ::"l"(at), "l"(v));
}

GR_INLINE uint32_t gr_load32_here(GR_GLOBAL uint32_t *at) {
    uint32_t v;
    __asm__ volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(at));
    return v;
}

GR_INLINE void gr_store32(GR_GLOBAL uint32_t *at, uint32_t v) {
    __asm__ volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(at), "r"(v));
}

GR_INLINE void gr_store64(GR_GLOBAL uint64_t *at, uint64_t v) {
    __asm__ volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(at), "l"(v));
}

// ---- Strong accesses in functions that the program's code calls -----------------------------------------------
//
// ptxas begins a function with YIELD if it has strong loads or atomics: its caller may call it until another lane has
// stored something. From then on, lanes that wait at the end of a caller's branch no longer wait for those in the
// function, and the warp stays apart behind that branch. Programs that count on a warp being together (by activemask,
// or by a leader's atomic operation as the assembler makes it) then compute something else. In a function that calls no
// other, ptxas leaves the YIELD out if all strong operations are in loops that do not end by a loaded value (CUDA 13.0,
// sm_90 and later, seen in machine code; on an H100 the warp then stays together; code for sm_80 has it in loops, too).
// So GR_IN_LOOP runs a block once, as a loop: the assembler does not know that each lane has a bit. Functions that call
// others leave strong operations to functions of their own (GR_STRONG_BY_CALL).
#define GR_IN_LOOP  for (uint32_t gr_again = 1; gr_again; gr_again = !gr_lane_bit())

#ifdef GR_STRONG_BY_CALL
#define GR_STRONG(type, name, params, ...)                                                                   \
    __attribute__((unused)) static GR_NOINLINE type name params {                                            \
        type old = 0;                                                                                        \
        GR_IN_LOOP old = name##_here(__VA_ARGS__);                                                           \
        return old;                                                                                          \
    }
#define GR_STRONG_VOID(name)                                                                                 \
    __attribute__((unused)) static GR_NOINLINE void name(GR_GLOBAL uint64_t *at, uint64_t n) {               \
        GR_IN_LOOP name##_here(at, n);                                                                       \
    }
#else
#define GR_STRONG(type, name, params, ...)                                                                   \
    GR_INLINE type name params { return name##_here(__VA_ARGS__); }
#define GR_STRONG_VOID(name)                                                                                 \
    GR_INLINE void name(GR_GLOBAL uint64_t *at, uint64_t n) { name##_here(at, n); }
#endif
GR_STRONG_VOID(gr_count)
GR_STRONG_VOID(gr_max64)
GR_STRONG(uint32_t, gr_add32, (GR_GLOBAL uint32_t * at, uint32_t n), at, n)
GR_STRONG(uint32_t, gr_compare_swap, (GR_GLOBAL uint32_t * at, uint32_t expected, uint32_t desired), at,
          expected, desired)
GR_STRONG(uint64_t, gr_compare_swap64, (GR_GLOBAL uint64_t * at, uint64_t expected, uint64_t desired), at,
          expected, desired)
GR_STRONG(uint64_t, gr_exchange64, (GR_GLOBAL uint64_t * at, uint64_t v), at, v)
GR_STRONG(uint64_t, gr_load64, (GR_GLOBAL uint64_t * at), at)
GR_STRONG(uint64_t, gr_load64_of_block, (GR_GLOBAL uint64_t * at), at)
GR_STRONG(uint32_t, gr_load32, (GR_GLOBAL uint32_t * at), at)

// ---- Shared memory, special registers, time ---------------------------------------------------------------------

// Whether a generic address lies in the shared window; *offset is then the offset in it.
GR_INLINE int gr_is_shared(uint64_t generic, uint64_t *offset) {
    uint32_t yes;
    __asm__("{ .reg .pred p; isspacep.shared p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(yes) : "l"(generic));
    if (yes)
        __asm__("cvta.to.shared.u64 %0, %1;" : "=l"(*offset) : "l"(generic));
    return (int)yes;
}

#define GR_SREG32(name, reg)                                                                                 \
    GR_INLINE uint32_t name(void) {                                                                          \
        uint32_t v;                                                                                          \
        __asm__("mov.u32 %0, %%" reg ";" : "=r"(v));                                                         \
        return v;                                                                                            \
    }
GR_SREG32(gr_tid_x, "tid.x")
GR_SREG32(gr_tid_y, "tid.y")
GR_SREG32(gr_tid_z, "tid.z")
GR_SREG32(gr_ntid_x, "ntid.x")
GR_SREG32(gr_ntid_y, "ntid.y")
GR_SREG32(gr_ctaid_x, "ctaid.x")
GR_SREG32(gr_ctaid_y, "ctaid.y")
GR_SREG32(gr_ctaid_z, "ctaid.z")

GR_INLINE uint64_t gr_grid_id(void) {
    uint64_t v;
    __asm__("mov.u64 %0, %%gridid;" : "=l"(v));
    return v;
}

GR_INLINE void gr_sleep(uint32_t ns) {
    if (ns)
        __asm__ volatile("nanosleep.u32 %0;" ::"r"(ns) : "memory");
}

GR_INLINE uint32_t gr_clock(void) {
    uint32_t v;
    __asm__ volatile("mov.u32 %0, %%clock;" : "=r"(v));
    return v;
}

GR_INLINE void gr_breakpoint(void) { __asm__ volatile("brkpt;"); }
GR_INLINE void gr_trap(void) { __asm__ volatile("trap;"); }

#endif
#endif
