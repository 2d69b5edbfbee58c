// SPDX-License-Identifier: Apache-2.0
// collider's device runtime for copies — emulates and watches those that inserted code does not do by itself: cp.async of
// lanes whose source is shorter than their destination, and bulk copies (passes/collider_async.h).
//
// Modules that have such copies get this in place of collider.c, which is part of it. All addresses are generic. Sources and destinations are compared with what was
// there before the delay; nothing is kept of a bulk copy but a hash of its source (FNV-1a, as in figure 4d of the paper, over words of 64
// bits: a change of one word always changes it), because the destination holds what was read of the source.
#include "device/collider.c"

enum { GENERIC = GR_META_GENERIC << GR_META_SPACE };

static uint64_t load_byte(uint64_t at) {
    uint32_t v;
    __asm__ volatile("ld.u8 %0, [%1];" : "=r"(v) : "l"(at) : "memory");
    return v;
}

static uint64_t load_byte_again(uint64_t at) {
    uint32_t v;
    __asm__ volatile("ld.relaxed.sys.u8 %0, [%1];" : "=r"(v) : "l"(at) : "memory");
    return v;
}

static void store_byte(uint64_t at, uint64_t v) {
    __asm__ volatile("st.u8 [%0], %1;" ::"l"(at), "r"((uint32_t)v) : "memory");
}

static void clobber_byte(uint64_t at, uint64_t v) {
    __asm__ volatile("st.relaxed.sys.u8 [%0], %1;" ::"l"(at), "r"((uint32_t)v) : "memory");
}

// cp.async of `bytes` bytes, of which the first `size` come from the source and the others are zero.
void __gr_copy_part(uint32_t site, uint64_t dst, uint64_t src, uint32_t size, uint32_t bytes,
                    uint32_t delay) {
    uint64_t word[2] = {0, 0}; // what was copied
    for (uint32_t k = 0; k < bytes; k++) {
        uint64_t v = k < size ? load_byte(src + k) : 0;
        if (k < 8)
            word[0] |= v << 8 * k;
        else
            word[1] |= v << (8 * k - 64);
        store_byte(dst + k, v);
    }
    gr_sleep(delay);
    for (uint32_t k = 0; k < bytes; k++) {
        uint64_t v = (k < 8 ? word[0] >> 8 * k : word[1] >> (8 * k - 64)) & 0xff;
        uint64_t now = k < size ? load_byte_again(src + k) : v;
        if (now != v)
            __gr_report(site, GR_CLASS_CLOBBERED_READ | GENERIC | 1 << GR_META_SIZE, src + k, v, now);
        now = load_byte_again(dst + k);
        if (now != v)
            __gr_report(site, GR_CLASS_LOST_UPDATE | GENERIC | 1 << GR_META_SIZE, dst + k, v, now);
        clobber_byte(dst + k, ~v);
    }
}
