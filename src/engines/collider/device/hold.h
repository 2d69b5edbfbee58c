// SPDX-License-Identifier: Apache-2.0
// hold — holds a kernel until other work has come beside it (hold.h). A part of collider.c.
//
// One window of each warp lasts until the host says that nothing more comes, and no longer than the bounds below. The
// thread goes on looking meanwhile: its window asks for more time when its own is over (collider_look.h). What a thread
// knows of its hold is one word:
//
//     before    how many windows come first, HOLD_ONE for each, and how the launch is held (HOLD_HOW)
//     while     HOLD_ON, the number of the launch modulo GR_HOLD_RING, how often the host's state had changed, modulo
//               4, and when the hold ends;
//               HOLD_LEAVES: it ends whatever comes; HOLD_AGAIN: that is the end of another hold, since the kernel
//               stood still in the first one
//     0         it is over
//
// Nothing here orders memory. The host's words tell when to go on, never what was written.
#ifndef GR_ENGINES_COLLIDER_DEVICE_HOLD_H
#define GR_ENGINES_COLLIDER_DEVICE_HOLD_H

#include "device_api/device.h"
#include "engines/collider/device/record.h"

// Time is in units of 4096 ns, modulo 2^32; in the word modulo 2^16.
enum {
    HOLD_UNIT = 12,
    HOLD_LEAST = 75,    // 0.3 ms: a launch that lets others pass waits half of that or more for what comes
    HOLD_LONGER = 3,    // times that: one that stays
    HOLD_BUSY = 100,    // 0.4 ms: while the host is in a call
    HOLD_TOUCHES = 500, // 2 ms: while it may touch the launch's memory
    HOLD_MOST = 1000,   // in one launch
    HOLD_AWAY = 75,     // 0.3 ms behind the end of a hold: the kernel stood still, and is held once more
    HOLD_PASSED = 4,    // 16 us or up to twice that, behind the next launch's beginning
    HOLD_PIECE_NS = 8000,
    HOLD_WINDOWS = 4, // of one of the first so many windows
    HOLD_PARTS = 4
};
// Bits and places.
enum {
    HOLD_HOW = GR_BESIDE_STAYS | 3 << GR_BESIDE_SHORTER,
    HOLD_ON = 1 << 3,
    HOLD_LEAVES = 1 << 14,
    HOLD_AGAIN = 1 << 15,
    HOLD_STATE = 4,
    HOLD_NUMBER = 6,
    HOLD_ONE = 1 << 11,
    HOLD_END = 16
};

static uint32_t time_now(void) {
    uint64_t ns;
    __asm__ volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return (uint32_t)(ns >> HOLD_UNIT);
}

static GR_GLOBAL GrHold *words(void) { return (GR_GLOBAL GrHold *)__gr_control.hold; }

// Neighbours have numbers in a row.
static uint32_t warp_in_grid(void) {
    uint32_t thread = gr_tid_x() + gr_ntid_x() * (gr_tid_y() + gr_ntid_y() * gr_tid_z());
    uint32_t block = gr_ctaid_x() + gr_ctaid_y() + gr_ctaid_z();
    return (thread >> 5) + 2 * block;
}

GR_SREG32(threads_z, "ntid.z")
GR_SREG32(blocks_x, "nctaid.x")
GR_SREG32(blocks_y, "nctaid.y")
GR_SREG32(blocks_z, "nctaid.z")

static int is_single_warp(void) {
    return gr_ntid_x() * gr_ntid_y() * threads_z() <= 32 && blocks_x() * blocks_y() * blocks_z() == 1;
}

// A thread of a launch begins for which GrControl.beside was `told`. `random` is what it draws from, the same for all
// lanes; `most`: the places in the kernel's code where a thread may be held. Yields its word.
uint32_t __gr_begun(uint32_t told, uint32_t random, uint32_t most) {
    GR_GLOBAL GrHold *hold = words();
    uint32_t number = told >> GR_BESIDE_NUMBER;
    if (!hold)
        return 0;
    if (!(gr_tid_x() | gr_tid_y() | gr_tid_z() | gr_ctaid_x() | gr_ctaid_y() | gr_ctaid_z())) {
        __gr_control.since = (uint64_t)number << 32 | time_now();
        gr_store32(&hold->begun[number % GR_HOLD_RING], number);
    }
    uint32_t seed = __gr_control.seed, windows = 1;
    // By the seed: in most runs none of a few single warps goes on, a warp that is alone in one of two; with odd seeds
    // the first warp does, whose window is the first.
    if (told & GR_BESIDE_PARTS && (seed + 1 + warp_in_grid()) % HOLD_PARTS < 1u + is_single_warp())
        return 0;
    // The first window with every second seed, since most kernels have few; with other seeds in one case of two.
    most = most < HOLD_WINDOWS ? most : HOLD_WINDOWS;
    if (!(seed & 1) && most > 1 && random >> 31)
        windows = 2 + (random >> 16 & 0x7fff) % (most - 1);
    // Kernels of one graph begin together. About one half of them stays longer.
    if (told & 3 << GR_BESIDE_SHORTER)
        told ^= ((uint32_t)gr_grid_id() + 3 * seed) * 0x9E3779B1u >> 31;
    return windows * HOLD_ONE | number % GR_HOLD_RING << HOLD_NUMBER | (told & HOLD_HOW);
}

// From `least` to twice that.
static uint32_t about(uint32_t least, uint32_t now) { return least + (gr_clock() >> 4 ^ now) % (least + 1); }

// How long the thread is held by what the host does now. Kernels of one graph are not held longer for a call.
static uint32_t length_of(uint32_t word, uint32_t state, uint32_t now) {
    uint32_t shorter = word >> GR_BESIDE_SHORTER & 3;
    uint32_t least = HOLD_LEAST * (word & GR_BESIDE_STAYS ? HOLD_LONGER : 1) >> 2 * shorter >> 1;
    if (state == GR_HOST_TOUCHES)
        return HOLD_TOUCHES;
    return 1 + (state == GR_HOST_BUSY && !shorter ? HOLD_BUSY : about(least, now));
}

// Whether the GPU ran other processes' kernels, and nothing beside this one: a thread looks at the time more often.
static int is_away(uint32_t word, uint32_t now) {
    return word & HOLD_ON && !(word & HOLD_AGAIN) && (int16_t)(now - (word >> HOLD_END)) > HOLD_AWAY;
}

// Whether the launch is held for long enough, whatever comes. What is known of an older launch counts for nothing: the
// first thread of this one is about to say when it began.
static int is_over(uint32_t word, uint32_t now) {
    uint64_t since = __gr_control.since;
    uint32_t older = ((word >> HOLD_NUMBER) - (uint32_t)(since >> 32)) % GR_HOLD_RING;
    return (!older || older > GR_HOLD_RING / 2) && now - (uint32_t)since > HOLD_MOST;
}

// The thread waits in a window.
static void say_inside(GR_GLOBAL GrHold *hold, uint32_t word) {
    uint32_t k = (word >> HOLD_NUMBER) % GR_HOLD_RING, number = gr_load32(&hold->begun[k]);
    if ((int32_t)((uint32_t)gr_grid_id() - gr_load32(&hold->grid)) > 0)
        gr_store32(&hold->grid, (uint32_t)gr_grid_id());
    if (gr_load32(&hold->inside[k]) != number)
        gr_store32(&hold->inside[k], number);
}

// Whether a thread of a later launch has come to wait in a window. What they were told does not tell them apart:
// launches that come close behind each other in several streams may have got one number, and kernels of a graph have.
static int is_passed(GR_GLOBAL GrHold *hold) {
    uint32_t grid = gr_load32(&hold->grid);
    return !grid || (int32_t)(grid - (uint32_t)gr_grid_id()) > 0;
}

// A thread whose word is not 0 ends a window. Yields its next word, and above that how many ns the window stays open.
uint64_t __gr_hold(uint32_t word) {
    GR_GLOBAL GrHold *hold = words();
    uint32_t now = time_now(), on = word & HOLD_ON;
    if (!on && word >= 2 * HOLD_ONE)
        return word - HOLD_ONE;
    uint32_t host = gr_load32(&hold->host), state = host & ((1u << GR_HOST_STATE_BITS) - 1);
    uint32_t change = host >> GR_HOST_STATE_BITS & 3, length = 0;
    if (state == GR_HOST_WAITS || (!(on && word & HOLD_AGAIN) && !is_away(word, now) && is_over(word, now)))
        return 0;
    if (!on)
        say_inside(hold, word);
    if (is_away(word, now)) {
        word |= HOLD_AGAIN | HOLD_LEAVES;
        length = about(HOLD_LEAST / 2, now);
    } else if (on && !(word & (HOLD_LEAVES | GR_BESIDE_STAYS)) && is_passed(hold)) {
        word |= HOLD_LEAVES;
        length = about(HOLD_PASSED, now);
    } else if (!on || (!(word & HOLD_LEAVES) && change != (word >> HOLD_STATE & 3))) {
        length = length_of(word, state, now);
    } else if ((int16_t)((word >> HOLD_END) - now) <= 0) {
        return 0;
    }
    if (length) {
        uint32_t kept = word & ((HOLD_ONE - 1) | HOLD_LEAVES | HOLD_AGAIN) & ~(3u << HOLD_STATE);
        word = kept | HOLD_ON | change << HOLD_STATE | (now + length) << HOLD_END;
    }
    return (uint64_t)HOLD_PIECE_NS << 32 | word;
}

#endif
