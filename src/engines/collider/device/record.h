// SPDX-License-Identifier: Apache-2.0
// record — the layout of what a device runtime writes and the host reads: one slot per (site, race class).
//
// Freestanding: compiled for the device (clang, nvptx64) and for the host. Slots live in memory that both
// sides see (normally the results file itself, mapped), start as zeros and are written by whichever thread
// claims them first; later occurrences only count. Index of a slot: site * GR_CLASS_COUNT + class; sites
// count from 1, slots of site 0 are unused.
#ifndef GR_ENGINES_COLLIDER_DEVICE_RECORD_H
#define GR_ENGINES_COLLIDER_DEVICE_RECORD_H

#include <stdint.h>

// Places in a site's slots, one for each class of classes.def.
typedef enum GrRaceClass {
#define CLASS(id, number, text, meaning) GR_CLASS_##id,
#include "engines/collider/classes.def"
#undef CLASS
    GR_CLASS_COUNT
} GrRaceClass;

enum { GR_SLOT_EMPTY = 0, GR_SLOT_CLAIMED = 1, GR_SLOT_READY = 2, GR_VALUE_BYTES = 16 };

typedef struct GrSlot {
    uint64_t count;     // occurrences, all threads and launches; 64 bits never overflow in practice
    uint32_t state;     // GR_SLOT_*; the fields below are valid once READY
    uint32_t lanes;     // intra-warp classes: the lanes of the warp that touched the address
    uint32_t stored[2]; // lanes that stored exactly `expected`, and `seen`
    uint64_t launch;    // %gridid of the first occurrence
    uint64_t address;   // as the program holds it: generic or global address, or offset in the shared window
    uint32_t thread[3], block[3];
    uint32_t space;                   // 0 global, 1 shared, 2 local (never reported), 3 tensor memory
    uint32_t size;                    // bytes accessed
    uint8_t expected[GR_VALUE_BYTES]; // little endian bytes, `size` of them
    uint8_t seen[GR_VALUE_BYTES];
} GrSlot;

// What a check packs into one word for the runtime: bits 0-7 the class, 8-15 the space as written, 16-23 bytes per
// element, and whether same-value writes are wanted.
enum {
    GR_META_SPACE = 8,
    GR_META_SIZE = 16,
    GR_META_WANT_SAME = 1 << 24,
    GR_META_GLOBAL = 0, // spaces
    GR_META_SHARED = 1,
    GR_META_GENERIC = 2,
    GR_META_TENSOR = 3
};

// What a copy that is held back read: its low half plus so many times its high half, modulo 2^64.
#define GR_HELD_FACTOR 0x100000001b3ull

enum { GR_CLUSTER_MOST = 16 }; // blocks: no cluster has more

enum { GR_LAUNCH_COUNTS = 32 }; // of a module's kernels; where it has more, several share one

// Granules of memory have 2 MiB. Bit n of GrControl.kept_granules stands for all with number n modulo 64.
enum { GR_GRANULE_SHIFT = 21, GR_GRANULES = 64 };

// What kernels that are held and the host tell each other (hold.h), in memory of the host that kernels of one context
// reach. All accesses are relaxed, of system scope.
typedef enum GrHostState {
    GR_HOST_WAITS,  // for work: nothing more comes, held kernels go on
    GR_HOST_OPEN,   // something may come at any time, or is on its way: they wait a while
    GR_HOST_BUSY,   // within a call after which something comes: they wait for that
    GR_HOST_TOUCHES // about to touch memory that a launch has; or work behind a gate is about to come
} GrHostState;
enum { GR_HOLD_RING = 32, GR_HOST_STATE_BITS = 2 };
typedef struct GrHold {
    uint32_t host;   // a GrHostState, and above it how often it has changed
    uint32_t newest; // number of the newest launch that is held
    uint32_t apart[30];
    // The low half of %gridid (it grows by launch) of the newest kernel with a thread in a window. 0: of another
    // context.
    uint32_t grid;
    uint32_t apart_too[31];
    // By a launch's number modulo GR_HOLD_RING: the number, when it has begun; when a thread of it waits in a window.
    uint32_t begun[GR_HOLD_RING], inside[GR_HOLD_RING];
} GrHold;

// GrControl.beside of a launch that is held: its number, and above that how it is held.
enum {
    GR_BESIDE_STAYS = 1,   // it waits longer than what comes beside it
    GR_BESIDE_SHORTER = 1, // place of two bits: one of many waits 4, 16 or 64 times less
    GR_BESIDE_PARTS = 8,   // one warp of four does not wait, and so passes what waits for it
    GR_BESIDE_NUMBER = 4   // place of the number, from 1
};

// Module-scope variable "__gr_control" of every rewritten module; the injection fills it after loading. When
// `slots` is null the program runs without a runtime, and a race stops at a breakpoint.
typedef struct GrControl {
    uint64_t slots;   // device address of the module's GrSlot array
    uint32_t n_sites; // highest site number
    uint32_t seed;
    uint32_t stop;    // not zero: trap at the first race
    uint32_t module;  // its number in the results
    uint64_t windows; // device address of the GrMeetTable; 0: none
    // --budget: the share of windows, in 2^-32, that stays shut; each thread reads it once, when it begins.
    uint32_t shut;
    // Not 0: something may run beside this launch, which therefore waits long (GR_BESIDE_*); read once, too.
    uint32_t beside;
    uint64_t hold; // device address of the context's GrHold; 0: there is none
    // When the newest held launch began, in the units of device/hold.h; above that, its number.
    uint64_t since;
    uint64_t kept, kept_bytes; // where no store is poisoned: the host or another device may look
    uint64_t kept_granules;    // and of that, only in granules whose bit is set (GR_GRANULE_SHIFT)
    // How many launches of a kernel have begun, by the kernel's number modulo GR_LAUNCH_COUNTS.
    uint32_t launches[GR_LAUNCH_COUNTS];
    // By that, too: how many threads of a launch are at its end, and at the end's second part.
    uint32_t ends[GR_LAUNCH_COUNTS][2];
} GrControl;

#endif
