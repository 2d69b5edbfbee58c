// SPDX-License-Identifier: Apache-2.0
// brief's device runtime — windows as calls, for functions of so many accesses that code in each place would be too
// much (engines/collider/pass/collider_brief.h).
//
// Names of functions are unlike those of other runtimes, which may be in the module as well.
//
// An access is described by what reports say of it (record.h) and, above GR_META_ELEMENTS, how many elements it has: 1,
// 2, 4 or more, 16 bytes in all at most. Its address is a generic one. Its value is in two words, as memory has it.
#include "engines/collider/device/brief.h"
#include "device_api/device.h"

void __gr_report(uint32_t site, uint32_t meta, uint64_t address, uint64_t expected, uint64_t seen);
void __gr_report_warp(uint32_t site, uint32_t meta, uint64_t address, uint32_t peers, uint64_t lo,
                      uint64_t hi);

extern GR_GLOBAL volatile GrControl __gr_control;

typedef struct Value {
    uint64_t lo, hi;
} Value;

GR_INLINE uint32_t element_of(uint32_t meta) { return meta >> GR_META_SIZE & 0xff; }
GR_INLINE uint32_t bytes_of(uint32_t meta) { return element_of(meta) << (meta >> GR_META_ELEMENTS & 7); }
GR_INLINE uint32_t without_elements(uint32_t meta) { return meta & ((1u << GR_META_ELEMENTS) - 1); }

GR_INLINE uint32_t high_product(uint32_t a, uint32_t b) { return (uint32_t)((uint64_t)a * b >> 32); }

static GR_NOINLINE void brief_sleep(uint32_t ns) {
    GR_ROLLED
    for (uint32_t parts = GR_WAIT_PARTS; ns >= GR_WAIT_SHORT_NS && parts; parts--) {
        uint32_t top = 0x80000000u >> __builtin_clz(ns);
        gr_sleep(top);
        ns -= top;
    }
}

// Waits up to `max_ns`, as the kind (GrBriefWait) has it. `state`: what the wait is drawn from, and above that the
// share of waits that the thread makes, in 2^-32; both come back changed. engines/collider/pass/collider_time.c draws
// alike.
GR_NOINLINE uint64_t __gr_brief_wait(uint64_t state, uint32_t kind, uint32_t max_ns) {
    uint32_t random = (uint32_t)state * GR_WAIT_STEP, share = (uint32_t)(state >> 32), half = max_ns / 2, ns;
    uint32_t least =
        max_ns > GR_WAIT_LEAST_NS ? (uint32_t)(((uint64_t)GR_WAIT_LEAST_NS << 32) / max_ns) : UINT32_MAX;
    if (kind == GR_BRIEF_LATE) {
        ns = high_product(random, max_ns);
        ns = (ns > half ? ns : half) - half;
    } else if (kind == GR_BRIEF_POISON) {
        ns = high_product(random, max_ns);
    } else {
        uint32_t waits = kind == GR_BRIEF_WINDOW || random < 5u << 29;
        if (kind == GR_BRIEF_STORED)
            random *= GR_WAIT_STEP;
        ns = waits ? half + high_product(random, half) : 0;
    }
    ns = high_product(ns, share);
    if (kind == GR_BRIEF_WINDOW || kind == GR_BRIEF_STORED) {
        share -= share >> 3;
        share = share > least ? share : least;
    }
    brief_sleep(ns);
    return (uint64_t)share << 32 | random;
}

GR_INLINE Value load_again(uint64_t at, uint32_t bytes) {
    Value v = {0, 0};
    uint32_t word = 0;
    if (bytes == 16)
        __asm__ volatile("ld.relaxed.sys.v2.u64 {%0, %1}, [%2];"
                         : "=l"(v.lo), "=l"(v.hi)
                         : "l"(at)
                         : "memory");
    else if (bytes == 8)
        __asm__ volatile("ld.relaxed.sys.u64 %0, [%1];" : "=l"(v.lo) : "l"(at) : "memory");
    else if (bytes == 4)
        __asm__ volatile("ld.relaxed.sys.u32 %0, [%1];" : "=r"(word) : "l"(at) : "memory");
    else if (bytes == 2)
        __asm__ volatile("{ .reg .b16 h; ld.relaxed.sys.u16 h, [%1]; cvt.u32.u16 %0, h; }"
                         : "=r"(word)
                         : "l"(at)
                         : "memory");
    else
        __asm__ volatile("ld.relaxed.sys.u8 %0, [%1];" : "=r"(word) : "l"(at) : "memory");
    if (bytes < 8)
        v.lo = word;
    return v;
}

// The first element that differs.
static GR_NOINLINE void brief_report(uint32_t site, uint32_t meta, uint64_t at, Value was, Value is) {
    uint32_t size = element_of(meta), in = 0;
    uint64_t a = was.lo, b = is.lo, low = size < 8 ? (UINT64_C(1) << 8 * size) - 1 : ~UINT64_C(0);
    if (a == b) {
        a = was.hi;
        b = is.hi;
        at += 8;
    }
    while (size < 8 && in < 8 - size && !((a ^ b) >> 8 * in & low))
        in += size;
    __gr_report(site, without_elements(meta), at + in, a >> 8 * in & low, b >> 8 * in & low);
}

// Looks at the access again, whose value is to be `lo` and `hi`.
GR_NOINLINE void __gr_brief_look(uint32_t site, uint32_t meta, uint64_t at, uint64_t lo, uint64_t hi) {
    Value is = load_again(at, bytes_of(meta)), was = {lo, hi};
    if (is.lo != lo || is.hi != hi)
        brief_report(site, meta, at, was, is);
}

// Whether lanes of the warp store to one place here. Lanes that store side by side, in their order, do not.
GR_INLINE void check_warp(uint32_t site, uint32_t meta, uint64_t at, Value v) {
    uint32_t mask = gr_active_mask(), bytes = bytes_of(meta), peers;
    if (gr_match_all(mask, (uint32_t)at - gr_lane() * bytes))
        return;
    peers = gr_match_any(mask, at);
    if (peers & (peers - 1))
        __gr_report_warp(site,
                         (without_elements(meta) & ~(0xffu << GR_META_SIZE | 0xffu)) | GR_CLASS_INTRA_WARP |
                             (bytes < 8 ? bytes : 8) << GR_META_SIZE,
                         at, peers, v.lo, v.hi);
}

GR_INLINE int may_be_address(uint64_t v) { return v >> 32 && v >> 32 < 1u << 17; }

GR_INLINE int is_kept(uint64_t at) {
    uint64_t offset;
    return !gr_is_shared(at, &offset) && at - __gr_control.kept < __gr_control.kept_bytes &&
           __gr_control.kept_granules >> (at >> GR_GRANULE_SHIFT & (GR_GRANULES - 1)) & 1;
}

GR_INLINE void store_turned(uint64_t at, uint32_t bytes, Value v) {
    if (bytes == 16)
        __asm__ volatile("st.relaxed.sys.v2.u64 [%0], {%1, %2};" ::"l"(at), "l"(v.lo), "l"(v.hi) : "memory");
    else if (bytes == 8)
        __asm__ volatile("st.relaxed.sys.u64 [%0], %1;" ::"l"(at), "l"(v.lo) : "memory");
    else if (bytes == 4)
        __asm__ volatile("st.relaxed.sys.u32 [%0], %1;" ::"l"(at), "r"((uint32_t)v.lo) : "memory");
    else if (bytes == 2)
        __asm__ volatile("{ .reg .b16 h; cvt.u16.u32 h, %1; st.relaxed.sys.u16 [%0], h; }" ::"l"(at),
                         "r"((uint32_t)v.lo)
                         : "memory");
    else
        __asm__ volatile("st.relaxed.sys.u8 [%0], %1;" ::"l"(at), "r"((uint32_t)v.lo) : "memory");
}

// Before a store of `lo` and `hi` by the lanes that perform it (others draw and wait, too): checks within the warp,
// waits, and leaves garbage there for a while if `flags` allow it (GrBriefFlags). State and times: see __gr_brief_wait.
uint64_t __gr_brief_before(uint64_t state, uint32_t site, uint32_t meta, uint64_t at, uint64_t lo,
                           uint64_t hi, uint32_t max_ns, uint32_t flags) {
    uint32_t bytes = bytes_of(meta), size = element_of(meta);
    uint64_t low = size == 8 ? 1 : size == 4 ? 0x100000001 : size == 2 ? 0x1000100010001 : 0x101010101010101;
    Value v = {lo, hi}, turned = {lo ^ low, hi ^ (bytes == 16 ? low : 0)};
    if (bytes < 8)
        turned.lo &= (UINT64_C(1) << 8 * bytes) - 1;
    if (flags & GR_BRIEF_PERFORMS)
        check_warp(site, meta, at, v);
    state = __gr_brief_wait(state, GR_BRIEF_LATE, max_ns);
    if (!(flags & GR_BRIEF_POISONS) || !(flags & GR_BRIEF_PERFORMS) || is_kept(at) ||
        (flags & GR_BRIEF_ADDRESSES && (may_be_address(lo) || (bytes == 16 && may_be_address(hi)))))
        return state;
    store_turned(at, bytes, turned);
    state = __gr_brief_wait(state, GR_BRIEF_POISON, max_ns);
    __gr_brief_look(site, meta, at, turned.lo, turned.hi);
    return state;
}
