// SPDX-License-Identifier: Apache-2.0
// segment's device runtime — looks again at what a thread keeps of its accesses
// (engines/collider/pass/collider_segment.h).
//
// Called from out of line only: when a thread that keeps something stores, or comes to the end of its segment.
#include "engines/collider/device/segment.h"
#include "device_api/device.h"
#include "engines/collider/device/late_starts.h"

void __gr_report(uint32_t site, uint32_t meta, uint64_t address, uint64_t expected, uint64_t seen);

extern GR_GLOBAL volatile GrControl __gr_control;

typedef __attribute__((address_space(5))) GrKept Kept;

static uint32_t count_of(uint32_t kept) { return kept < GR_SEGMENT_KEEPS ? kept : GR_SEGMENT_KEEPS; }

GR_INLINE uint32_t load_again(uint64_t at) {
    uint32_t v;
    __asm__ volatile("ld.relaxed.sys.u32 %0, [%1];" : "=r"(v) : "l"(at) : "memory");
    return v;
}

// Reports the change, and stops watching its place.
static GR_NOINLINE void report(Kept *k, uint32_t seen) {
    uint64_t at = k->address;
    if (k->state == GR_KEPT_UNUSED)
        return;
    if ((k->meta >> GR_META_SPACE & 0xff) ==
        GR_META_SHARED) // of another block, which a generic address does not tell
        __asm__("cvta.to.shared.u64 %0, %1;" : "=l"(at) : "l"(at));
    __gr_report(k->site, k->meta, at, k->now, seen);
    if (k->state == GR_KEPT_WATCHED)
        k->address = 0;
}

// The thread itself stores `bytes` bytes at the generic address `at`: a last look at what it overwrites.
void __gr_segment_own(Kept *entries, uint32_t kept, uint64_t at, uint32_t bytes) {
    uint32_t n = count_of(kept);
    GR_ROLLED
    for (uint32_t k = 0; k < n; k++) {
        uint64_t address = entries[k].address;
        if (address - at + 3 < bytes + 3) {
            uint32_t seen = load_again(address);
            if (seen != entries[k].now)
                report(&entries[k], seen);
            entries[k].address = 0;
        }
    }
}

// Looks at all that the thread keeps. Between two looks at one place the program does nothing that touches it. Code
// that runs for the first time is slow, so this is short.
GR_NOINLINE void __gr_segment_look(Kept *entries, uint32_t kept) {
    enum { TOGETHER = 2 };
    uint32_t n = count_of(kept);
    GR_ROLLED
    for (uint32_t k = 0; k < n; k += TOGETHER) {
        uint64_t first = entries[k].address, second = k + 1 < n ? entries[k + 1].address : 0;
        uint32_t seen = 0, other = 0;
        if (first)
            seen = load_again(first);
        if (second)
            other = load_again(second);
        if (first && seen != entries[k].now)
            report(&entries[k], seen);
        if (second && other != entries[k + 1].now)
            report(&entries[k + 1], other);
    }
}

// Makes the late stores, behind a look.
GR_NOINLINE void __gr_segment_store(Kept *entries, uint32_t kept) {
    uint32_t n = count_of(kept);
    GR_ROLLED
    for (uint32_t k = 0; k < n; k++) {
        if (entries[k].state == GR_KEPT_LATE && entries[k].address) {
            uint32_t v = entries[k].now ^ 1;
            entries[k].now = v;
            entries[k].state = GR_KEPT_WATCHED;
            __asm__ volatile("st.u32 [%0], %1;" ::"l"(entries[k].address), "r"(v) : "memory");
        }
    }
}

// The thread uses what its last visit loaded at `site`: from now on the newest `words` of that site are watched.
void __gr_segment_used(Kept *entries, uint32_t kept, uint32_t site, uint32_t words) {
    uint32_t oldest = kept - count_of(kept);
    GR_ROLLED
    for (uint32_t k = kept; k > oldest && words; k--) {
        Kept *e = &entries[(k - 1) % GR_SEGMENT_KEEPS];
        if (e->site == site) {
            e->state = GR_KEPT_WATCHED;
            words--;
        }
    }
}

GR_INLINE uint32_t thread_of_block(uint32_t *threads) {
    uint32_t x, y, z, nx, ny, nz;
    __asm__("mov.u32 %0, %%tid.x; mov.u32 %1, %%tid.y; mov.u32 %2, %%tid.z;" : "=r"(x), "=r"(y), "=r"(z));
    __asm__("mov.u32 %0, %%ntid.x; mov.u32 %1, %%ntid.y; mov.u32 %2, %%ntid.z;"
            : "=r"(nx), "=r"(ny), "=r"(nz));
    *threads = nx * ny * nz;
    return (z * ny + y) * nx + x;
}

// See gr_halves_of in engines/collider/pass/collider_halves.c.
GR_INLINE uint32_t in_half(uint32_t number, uint32_t turn) {
    uint32_t mask = (turn >> 1) * 0x9E3779B1u >> 15 | 1;
    return ((uint32_t)__builtin_popcount(mask & number) + turn) & 1;
}

// Whether the thread's warp begins late: 1 or 0. `kind`: a GrLateStarts. `threads`: of the launch. `block`: the block's
// number or its cluster's; `in_grid`: the block's number. `count`: how often the kernel was launched before.
uint32_t __gr_segment_starts_late(uint32_t kind, uint32_t turn, uint32_t block, uint32_t in_grid,
                                  uint32_t threads, uint32_t count) {
    uint32_t of_block, warp = thread_of_block(&of_block) / 32, many = threads > 64;
    if (threads <= 32)
        return 0;
    if (kind == GR_LATE_WARPS)
        return in_half(warp, turn) ^ in_half(block, turn >> 1);
    if (count)
        return 0;
    if (kind == GR_LATE_BLOCKS) // in one block: pairs of warps, if there are more than two
        return in_half(of_block == threads ? warp >> many : block, turn);
    return ((in_grid * ((of_block + 31) / 32) + warp + turn) & (many ? 3 : 1)) == 0;
}

// Turns the lowest bit of each word of the block's `bytes` bytes at `at` in shared memory: this thread's share.
void __gr_segment_stale(uint32_t at, uint32_t bytes) {
    uint32_t threads, v, first = (at + 3) & ~3u, end = at + bytes;
    GR_ROLLED
    for (uint32_t k = first + 4 * thread_of_block(&threads); k + 4 <= end; k += 4 * threads) {
        __asm__ volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(k) : "memory");
        __asm__ volatile("st.shared.u32 [%0], %1;" ::"r"(k), "r"(v ^ 1) : "memory");
    }
}

GR_INLINE GR_GLOBAL uint32_t *end_of(uint32_t kernel, uint32_t part) {
    return &((GR_GLOBAL GrControl *)&__gr_control)->ends[kernel][part];
}

// One of `all` threads of the launch comes to a part of the kernel's end. Returns __gr_segment_wait's `mine`; 0: all
// are here (the last ones reset the count). Neither function calls another one, so a kernel needs few registers for
// them.
uint32_t __gr_segment_come(uint32_t kernel, uint32_t part, uint32_t all) {
    GR_GLOBAL uint32_t *count = end_of(kernel, part);
    uint32_t active = gr_active_mask(), first = (uint32_t)__builtin_ctz(active), mine = 0;
    if (gr_lane() == first) {
        uint32_t here = (uint32_t)__builtin_popcount(active);
        mine = gr_add32(count, here) + here;
        if (mine >= all) {
            gr_add32(count, -all);
            mine = 0;
        }
    }
    return gr_shuffle32(active, mine, first);
}

// Waits for the others, after `waited` ns of it. Returns how many ns these are now; 0: no need to wait any more.
uint32_t __gr_segment_wait(uint32_t kernel, uint32_t part, uint32_t mine, uint32_t waited, uint32_t longest) {
    uint32_t step = 64 + waited / 8;
    if (!mine || waited >= longest || gr_load32(end_of(kernel, part)) < mine)
        return 0;
    gr_sleep(step);
    return waited + step;
}
