// SPDX-License-Identifier: Apache-2.0
// collider's device runtime for copies to several blocks of a cluster (.multicast::cluster): with it and with all of collider_copy.c.
//
// mapa needs sm_90, as do these copies; so this is apart.
#include "engines/collider/device/collider_copy.c"

// The generic address of the same place in the shared memory of another block of the cluster.
static uint64_t in_block(uint64_t address, uint32_t rank) {
    uint64_t there;
    __asm__("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(address), "r"(rank));
    return there;
}

// A bulk copy to `dst` in each block of the mask `ranks`.
void __gr_copy_multicast(uint32_t site, uint64_t dst, uint64_t src, uint32_t bytes, uint32_t delay,
                         uint32_t ranks) {
    uint64_t before = 0;
    for (uint32_t left = ranks; left; left &= left - 1) {
        uint64_t h = emulate(in_block(dst, (uint32_t)__builtin_ctz(left)), src, bytes);
        if (left == ranks)
            before = h;
        else if (h != before)
            report_change(site, GR_CLASS_CLOBBERED_READ, src, 0, 0, 0, 0);
    }
    gr_sleep(delay);
    for (uint32_t left = ranks; left; left &= left - 1)
        look_again(site, in_block(dst, (uint32_t)__builtin_ctz(left)), src, bytes, before);
}
