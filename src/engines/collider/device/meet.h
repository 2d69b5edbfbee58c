// SPDX-License-Identifier: Apache-2.0
// meet — what `--attribute` shares between the inserted code, its device runtime and the host: the table of open
// windows, and the records of which threads met.
//
// A replay looks for the other side of races whose one side is known (section 7.5 of the SuperCollider paper). At those
// sites, the targets, a thread publishes the bytes it looks at before its access and withdraws them after its second
// look. Every store and atomic operation looks its own bytes up there:
//
//     slot of the table, one word for four bytes of memory           low half of the word
//     +----------------------------+-------------------+        bit  0      published
//     | tag: hash of the 32 bytes  | low half          |             1      met: a thread has touched the bytes
//     +----------------------------+-------------------+             2-5    which of the four bytes
//       row: other bits of the hash; place in the row:               6-15   target
//       which word of the 32 bytes                                   16-31  number of the window, at random
//
// Why a match is a race, with nothing but relaxed operations: say P publishes, makes its access A and withdraws, in
// program order with nothing of the program's between; and C makes its access S and reads P's word next to it, with
// nothing in between. If S were ordered before A it would be ordered before the publication too, and if A were ordered
// before S, so would be the withdrawal: C could not have read the word in between. For a weak S one reading, on either
// side of it, does, because nothing synchronizes between. A strong S may itself be what synchronizes: C must see the
// word before S and, unchanged, after it.
//
// C marks the word with a compare-and-swap, having claimed the target's record: of each target one meeting is recorded,
// both sides of it. P sees the mark when it withdraws, and adds its own side.
#ifndef GR_ENGINES_COLLIDER_DEVICE_MEET_H
#define GR_ENGINES_COLLIDER_DEVICE_MEET_H

#include <stdint.h>

enum {
    GR_MEET_ROWS = 1024,
    GR_MEET_ROW_WORDS = 8, // of 32 bytes of memory, the most that one access touches
    GR_MEET_TARGETS = 1024,
    GR_MEET_PUBLISHED = 1,
    GR_MEET_MET = 2,
    GR_MEET_BYTES = 2, // shifts
    GR_MEET_TARGET = 6,
    GR_MEET_NUMBER = 16,
};
#define GR_MEET_HASH                                                                                         \
    UINT64_C(                                                                                                \
        0x9E3779B97F4A7C15)  // hash: (address / 32 ^ salt) * this; tag its high half, row its bits 22 to 31
#define GR_MEET_ROW_SHIFT 16 // hash >> this & mask: the row's offset in bytes
#define GR_MEET_ROW_MASK  0xffc0

typedef struct GrMeetSide {
    uint64_t launch, address; // of shared memory the offset
    uint32_t module, site;    // GrModuleInfo.number
    uint32_t thread[3], block[3], size;
    uint32_t ready;
} GrMeetSide;

// One for each target, behind its module's GrSlots.
typedef struct GrMeeting {
    uint32_t state; // GR_SLOT_EMPTY, or GR_SLOT_CLAIMED by the other side
    uint32_t space; // 0 global, 1 shared
    GrMeetSide first, other;
} GrMeeting;

// In device memory, one for each context.
typedef struct GrMeetTable {
    uint64_t words[GR_MEET_ROWS][GR_MEET_ROW_WORDS];
    uint64_t records[GR_MEET_TARGETS]; // device addresses of the GrMeetings; 0: its module is not loaded
    uint32_t stretch_ns,
        stretch_mask; // windows are kept open so much longer, all of them (0) or one in mask + 1
} GrMeetTable;

// How an access is described to the runtime: its size in bytes, and whether in shared memory.
enum { GR_MEET_SHARED = 1 << 8 };

#endif
