// SPDX-License-Identifier: Apache-2.0
// collider's device runtime for bulk copies, which needs sm_90 as they do. One runtime has it behind all of
// collider_copy.c.
// The generic address of that place in the shared memory of another block of the cluster.
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
        (void)look_again(site, in_block(dst, (uint32_t)__builtin_ctz(left)), src, bytes, before);
}

// ---- Copies that come late ----------------------------------------------------------------------------------------

enum { JAM_BYTES = 1 << 18, JAM_MOST = 8 };

GR_GLOBAL char __gr_jam_bytes[JAM_BYTES] __attribute__((aligned(128)));

// Makes the copies that this multiprocessor is told of next come some `ns` later: it does bulk operations one after the
// other, and these first. Measured on an H100: a prefetch of 256 KB takes 1850 clocks, so a byte takes 1/256 ns or so;
// a larger one takes no longer, and one of 1 MB nothing at all. The thread goes on after some 40 clocks for each, while
// no more than eight are under way. Nothing of the program is read. In one case of four twice as late, in one four
// times: others may look only after waits of their own.
void __gr_jam(uint32_t ns) {
    uint64_t left = (uint64_t)ns << (8 + (ns & 2 ? 1 + (ns & 1) : 0));
    for (uint32_t k = 0; k < JAM_MOST && left >= sizeof(Piece); k++) {
        uint32_t bytes = left < JAM_BYTES ? (uint32_t)left : JAM_BYTES; // a multiple of 16
        __asm__ volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"((uint64_t)__gr_jam_bytes),
                         "r"(bytes)
                         : "memory");
        left -= bytes;
    }
}
