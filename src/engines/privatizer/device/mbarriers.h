// SPDX-License-Identifier: Apache-2.0
// mbarriers — what code for warps has in place of the program's mbarriers (pass/mbarriers.h), in the same 8 bytes of
// shared memory, which nothing else uses in a private run. For the one file with the runtime of inserted code.
//
//     bits:  0       20        40        60      62
//            | count | pending | arrived | phase | region |
// `arrived` is of one region, whose sequence's lowest bits `region` has. A later region adds it to `pending`, and to
// phases. If a region is taken for an older one, arrivals count later.
#ifndef GR_ENGINES_PRIVATIZER_DEVICE_MBARRIERS_H
#define GR_ENGINES_PRIVATIZER_DEVICE_MBARRIERS_H

#include "engines/privatizer/device/here.h"

enum { MBAR_BITS = 20, MBAR_MASK = (1 << MBAR_BITS) - 1 };

GR_INLINE uint64_t mbar_at(uint32_t at) {
    uint64_t v;
    __asm__ volatile("ld.volatile.shared.u64 %0, [%1];" : "=l"(v) : "r"(at) : "memory");
    return v;
}

GR_INLINE uint64_t swap_mbar(uint32_t at, uint64_t expected, uint64_t desired) {
    uint64_t old;
    __asm__ volatile("atom.relaxed.cta.shared.cas.b64 %0, [%1], %2, %3;"
                     : "=l"(old)
                     : "r"(at), "l"(expected), "l"(desired)
                     : "memory");
    return old;
}

GR_INLINE uint64_t mbar_of(uint64_t count, uint64_t pending, uint64_t arrived, uint64_t phase,
                           uint32_t sequence) {
    return count | pending << MBAR_BITS | arrived << 2 * MBAR_BITS | (phase & 3) << 3 * MBAR_BITS |
           (uint64_t)(sequence & 3) << 62;
}

// The mbarrier's word as the region finds it.
static GR_NOINLINE uint64_t gr_priv_mbar(uint64_t v, uint32_t sequence) {
    uint64_t count = v & MBAR_MASK, pending = v >> MBAR_BITS & MBAR_MASK,
             arrived = v >> 2 * MBAR_BITS & MBAR_MASK, phase = v >> 3 * MBAR_BITS & 3;
    if (v >> 62 == (sequence & 3) || !count)
        return v;
    GR_ROLLED while (arrived >= pending) {
        arrived -= pending;
        pending = count;
        phase++;
    }
    return mbar_of(count, pending - arrived, 0, phase, sequence);
}

void __gr_begins(uint32_t at, uint32_t count, uint32_t sequence) {
    uint64_t v = mbar_of(count, count, 0, 0, sequence);
    __asm__ volatile("st.volatile.shared.u64 [%0], %1;" ::"r"(at), "l"(v) : "memory");
}

uint32_t __gr_arrives(uint32_t at, uint32_t n, uint32_t sequence) {
    GR_ROLLED for (;;) {
        uint64_t was = mbar_at(at), now = gr_priv_mbar(was, sequence);
        if (swap_mbar(at, was, now + ((uint64_t)n << 2 * MBAR_BITS)) == was)
            return (uint32_t)(now >> 3 * MBAR_BITS) & 3;
    }
}

// `which`: a token that an arrival gave, or the parity of a phase.
uint32_t __gr_is_over(uint32_t at, uint32_t which, uint32_t parity, uint32_t sequence) {
    uint32_t phase = (uint32_t)(gr_priv_mbar(mbar_at(at), sequence) >> 3 * MBAR_BITS) & 3;
    return parity ? (phase & 1) != (which & 1) : phase != (which & 3);
}

#endif
