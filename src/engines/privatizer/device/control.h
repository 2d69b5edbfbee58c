// SPDX-License-Identifier: Apache-2.0
// control — what the privatizer's inserted code, its device runtime and the host say to each other.
//
// Freestanding: compiled for the device (clang, nvptx64) and for the host.
//
// Memory of a check. A slot is for all blocks at once (GR_OF_BLOCKS), or for one block (GR_OF_WARPS). A slot has `privates` + 2 copies, `stride` bytes apart:
//
//     slot:   | base | union | private 0 | private 1 | ...
//     copy:   | shared memory of the block | the arena | other memory | touched |
//               shared_bytes                 arena_bytes
//              <------------------ span ------------------------------><-span/4->
//
// The base is the memory as it was when the region began, the union what all wrote in it. A unit (a block; a warp or a thread of a block) has the private copy
// unit / divide % privates. `touched` has a byte for each word of four: GR_UPDATED: an atomic operation of this copy's units updated it; GR_STORED: a store wrote it, of kernels with
// atomic operations.
//
// Inserted code calls these functions of the runtime:
//   __gr_enter(), __gr_leave()    code for warps: the block takes a slot, and gives it back
//   __gr_mine()                   where the thread's private copy is; 0: the thread's block has no slot, and the kernel ends
//   __gr_lines()                  where the words of the slot's lines are
//   __gr_line(line)               a line is written, and not on the region's list
//   __gr_asks()                   1: accesses are to be told to __gr_look
//   __gr_at(a, mine, what)        where in the private copy the access to address `a` goes; 0: nowhere, the access is left out
//   __gr_stored(at, mine, bytes)  a store to `at` of the private copy, in a kernel with atomic operations
//   __gr_updates_all(at, mine, bytes)  with `once`, gives where an atomic operation is to be done for all blocks; 0: nowhere
//   __gr_done(stores, mine)       the thread ends, in code for blocks; `stores`: a hash of all that it stored and where
//   __gr_updated(at, mine, pass, bytes)  an atomic operation updates `at` of the private copy; gives where it is to be done once more; 0: nowhere
//   __gr_lanes(site, at, what, value, mine, pass, sequence)   before a store of code for warps; gives 1 to the lane whose value stays there
//   __gr_look(site, at, what, value, mine, pass, sequence)   an access to `at` of the private copy, when asked
//   __gr_over()                   a loop went round too often
//   __gr_differs(region, mine, sequence)   a thread has other results in registers than in pass 1
//   __gr_gather(ends)             where a region ends, in kernels whose lanes wait for each other; 0: not all threads came, and this one ends
//   __gr_merge(region, sequence), __gr_check(...)     by all threads of a block, where a region ends
#ifndef GR_PRIVATIZER_CONTROL_H
#define GR_PRIVATIZER_CONTROL_H

#include <stdint.h>

// What the launch is: GrPrivControl.mode.
enum {
    GR_AS_IT_IS,  // the program's own
    GR_OF_BLOCKS, // each block has a private copy: the launch is one region
    GR_OF_WARPS,  // each warp, or each thread, of a block has one, from barrier to barrier
};

// Which lines of a slot were written: this, then a word for each line (LINE_LISTED and others of merge.h), then two lists of lines. A region has one list, the
// next region the other one.
typedef struct GrPrivLines {
    uint32_t now; // the list of the region that runs
    uint32_t count[2];
    uint32_t arrived; // threads at ends of regions, of all regions so far
} GrPrivLines;
#define GR_LINES_BYTES(n_lines) (sizeof(GrPrivLines) + 12 * (n_lines))

enum { GR_UPDATED = 1, GR_STORED = 2 };

enum { GR_LINE_SHIFT = 9, GR_LINE = 1 << GR_LINE_SHIFT }; // bytes of a copy that are compared or not

// What of an access: the `what` of __gr_at and __gr_look.
enum {
    GR_AT_GLOBAL = 0,
    GR_AT_SHARED = 1,
    GR_AT_GENERIC = 2,
    GR_AT_SPACE = 3, // mask
    GR_AT_STORE = 4,
    GR_AT_ATOMIC = 8, // a store, too
    GR_AT_MAYBE = 16, // a load that the compiler may have moved out of its guard: its value need not be used
    GR_AT_SIZE = 8,   // bits from 8 on: bytes
};

// Memory outside of the arena.
typedef struct GrPrivExtent {
    uint64_t at, size;
    uint64_t offset; // in a copy
} GrPrivExtent;

// Two private copies that were found different from what order would have made of them.
enum { GR_FOUND_WRITES = 1, GR_FOUND_READ = 2, GR_FOUND_LANES = 3 };
typedef struct GrPrivFound {
    uint32_t state; // 0: free, 1: being written, 2: there
    uint32_t kind;
    uint32_t region;                  // where it began: 0: the kernel, else a barrier of it. LANES: the site
    uint32_t copy[2];                 // READ: [0] alone. LANES: the numbers of the two threads in their block
    uint32_t size;                    // LANES: of the access
    uint32_t same, pad;               // LANES: all of them stored the same
    uint64_t offset, block, sequence; // of the first
    uint64_t bytes;                   // all
    uint64_t copies;                  // bits: which took part, number modulo 64
} GrPrivFound;

// An access that was asked for.
typedef struct GrPrivSeen {
    uint32_t state;
    uint32_t site, copy, what;
    uint64_t offset, value; // value: of a store, all of it
    uint32_t thread[3], block[3];
} GrPrivSeen;

enum { GR_MOST_FOUND = 64, GR_MOST_SEEN = 64 };
typedef struct GrPrivLog {
    uint64_t outside; // an address without a private copy; 0: there was none
    uint32_t over;    // a loop went round too often
    uint32_t dropped; // that found had no room for
    uint32_t apart;   // threads did not meet at the end of a region
    uint32_t pad;
    GrPrivFound found[GR_MOST_FOUND];
    GrPrivSeen seen[GR_MOST_SEEN];
} GrPrivLog;

// Which accesses the host asks for, in one region of one block (GR_OF_WARPS) or the launch.
enum {
    GR_ASK_NOTHING,
    GR_ASK_WHO,  // in pass 1: which copy's units access the byte at `offset`
    GR_ASK_READS // in pass 2: what units of `copies` load that others changed
};
typedef struct GrPrivAsk {
    uint32_t kind, pad;
    uint64_t copies; // READS: of which copies: bits, number modulo 64
    uint64_t block, sequence, offset;
} GrPrivAsk;

typedef struct GrPrivControl {
    uint32_t mode, pass; // pass: of GR_OF_BLOCKS
    uint64_t slots;
    uint64_t arena, arena_bytes, shared_bytes;
    uint64_t span, stride, copies, slot_stride;
    uint64_t lines, lines_stride; // GrPrivLines of each slot
    uint64_t extents;
    uint32_t n_extents, privates;
    uint64_t divide;
    uint32_t threads; // GR_OF_WARPS: of a unit: 32 or 1
    // Likewise: each region runs once, and what its units wrote is merged in their order: the launch is the program's (section 4.6).
    uint32_t once;
    uint64_t first; // with `once`: the first of `slots` blocks that run
    uint64_t sum;   // with `once`: one more copy, for the atomic operations of all blocks
    uint64_t log;
    uint64_t sums;    // GR_OF_BLOCKS: of each copy what its threads stored, of pass 1 and of pass 2
    uint64_t taken;   // GR_OF_WARPS: of each slot 4 bytes: a block has it
    uint64_t slot_of; // likewise of each block: its slot and one
    uint64_t changed; // with `once`: a byte for each line: some slot has changed it
    uint64_t most_rounds;
    GrPrivAsk ask;
} GrPrivControl;

#endif
