// SPDX-License-Identifier: Apache-2.0
// record — what the tracker's inserted code, its device runtimes and the host say to each other.
//
// Freestanding: compiled for the device (clang, nvptx64) and for the host.
//
// Inserted code calls the functions of one runtime (tracker.c: the rules of PTX; paper.c: the rules of iGUARD's table
// 2). Those marked * have one argument more under the rules of PTX, `own` (quick.h), the last one.
//   __gr_begin(kept)                    first in a kernel; gives `own`. kept 1: the thread's state is in memory from
//                                       the beginning, for __gr_own. The paper's has no argument.
//   __gr_own()                          gives `own`: first in another function, and behind the program's own calls
//   __gr_access(site, what, at, value)  * before an access of the program, by the lanes that make it
//   __gr_load_shared(..., where)        the same for a kind of access (GR_QUICK below): a weak load or store, or a
//                                       strong read (get) or change, of .shared or .global. Not what acquires, is
//                                       volatile or asynchronous. `where`: a register of the function, from
//   __gr_load_shared_word(..., where)   the same for at most four bytes. Gives what is left to do, in one number; 0:
//                                       nothing. If there is something:
//   __gr_rest(..., that number)         * does that, with the same first four arguments
//   __gr_where(shared)                  for .shared (1) or .global (0)
//   __gr_saw(what, at)                  * behind a strong access that reads
//   __gr_saw_at(what, at, own, where)   the same for .shared or .global. Not 0: it is left to __gr_saw
//   __gr_range(site, what, at, bytes)   * the same for more bytes than an instruction of one thread accesses at once
//   __gr_extent(base)                   where a kernel begins: how large the allocation is that begins there; 0: not
//                                       known
//   __gr_stray(at)                      before a store that leaves the allocation of its parameter (pass/quiet.h)
//   __gr_order(what, lanes)             * gives `own`. `lanes`: of the warp that meet, or how many groups; before a
//                                       fence, a barrier and what releases; behind what acquires
#ifndef GR_ENGINES_TRACKER_DEVICE_RECORD_H
#define GR_ENGINES_TRACKER_DEVICE_RECORD_H

#include <stdint.h>

// ---- An access: `what` -----------------------------------------------------------------------------------

// How strong an access is, and its scope. The order matters: a higher scope includes a lower one.
typedef enum GrStrength {
    GR_WEAK,
    GR_STRONG_CTA,
    GR_STRONG_CLUSTER,
    GR_STRONG_GPU,
    GR_STRONG_SYS,
    GR_VOLATILE, // relaxed, of system scope
    GR_ASYNC,    // weak, performed later: over when its thread has waited, or (wide) an mbarrier has told
    GR_PENDING,  // in metadata: an atomic that acquires and may not have happened yet
} GrStrength;

enum {
    GR_WHAT_SIZE = 0,     // bits 0 to 7: bytes of one lane
    GR_WHAT_STRENGTH = 8, // bits 8 to 10: GrStrength
    GR_WHAT_WRITES = 1 << 11,
    GR_WHAT_READS = 1 << 12,
    GR_WHAT_ATOMIC = 1 << 13, // atom or red: GR_WHAT_WRITES and GR_WHAT_READS are set, too
    GR_WHAT_SPACE = 14,       // bits 14 and 15: GrSpace, as written
    GR_WHAT_CAS = 1 << 16,    // atom.cas: may take a lock
    GR_WHAT_EXCH = 1 << 17,   // atom.exch: may release a lock
    GR_WHAT_VALUE = 1 << 18,  // `value` is what a store of at most 8 bytes stores
    // Of a strong access: an element has 8 bytes or more; of GR_ASYNC: it completes on an mbarrier; of a weak one: a
    // warp performs it (wmma).
    GR_WHAT_WIDE = 1 << 19,
    GR_WHAT_ACQUIRES = 1 << 20, // the access itself acquires: what it sees may order it
    GR_WHAT_DATA = 1 << 21,     // of a volatile load: its value is data, no flag and nothing that is polled
    GR_WHAT_REDUCES = 1 << 24,  // of GR_ASYNC: it adds or the like, atomically
    GR_WHAT_BULK = 1 << 23,     // of GR_ASYNC that is over when its thread has waited: of the bulk groups
    GR_WHAT_LEFT = 1 << 22,     // of __gr_saw: the access itself was not told
    GR_WHAT_BY = 24,            // bits 24 to 26, of a side of a pair only: GrBy
    // Bits 27 to 31, of a weak store: this call tells a load of the same bytes, too, whose site is so many sites back;
    // 0: none.
    GR_WHAT_BACK = 27,
    GR_WHAT_BACK_BITS = 5,
};
#define GR_WHAT_ALONE(what) ((what) & ((1u << GR_WHAT_BACK) - 1)) // without that load
// `value` of a load: which of its bytes the program uses.
// The thread that made an access.
typedef enum GrBy { GR_BY_KERNEL, GR_BY_COPY, GR_BY_FILL, GR_BY_FREE, GR_BY_ALLOC } GrBy;
typedef enum GrSpace {
    GR_SPACE_GLOBAL,
    GR_SPACE_SHARED,
    GR_SPACE_GENERIC,
    GR_SPACE_CLUSTER
} GrSpace; // CLUSTER: an address of shared::cluster

// ---- An instruction that orders: `what` --------------------------------------------------------------------

enum {
    GR_ORDER_KIND = 0,  // bits 0 to 3: GrOrder
    GR_ORDER_SCOPE = 4, // bits 4 to 6: GrStrength, of CTA to SYS
    GR_ORDER_RELEASES = 1 << 7,
    GR_ORDER_ACQUIRES = 1 << 8,
    GR_ORDER_BULK = 1 << 9,  // of GR_ORDER_WAIT and GR_ORDER_COMMIT: the bulk groups
    GR_ORDER_READ = 1 << 10, // of GR_ORDER_WAIT: only until the sources have been read
    // Of GR_ORDER_BARRIER: threads may have come to GR_ORDER_END instead of the barrier.
    GR_ORDER_LEFT = 1 << 11,
};
enum { GR_ORDER_TOLD = 1 << 12 }; // an mbarrier of the block may have told that what completes on it is over
enum { GR_ORDER_SC = 1 << 13 };   // of GR_ORDER_FENCE: fence.sc
typedef enum GrOrder {
    GR_ORDER_FENCE,   // fence, membar; or the release or acquire of an access
    GR_ORDER_BARRIER, // bar.sync and barrier.sync of all threads of the block
    GR_ORDER_SOME,    // a barrier of some threads, an mbarrier, an asynchronous copy
    GR_ORDER_WARP,    // bar.warp.sync
    GR_ORDER_CLUSTER, // barrier.cluster
    GR_ORDER_WAIT, // the thread waits for its own asynchronous operations, but for those of the last `lanes` groups
    GR_ORDER_COMMIT, // its asynchronous operations so far make a group
    GR_ORDER_END,    // the thread ends
} GrOrder;

// ---- Accesses of the common path: functions ---------------------------------------------------------------------

// name, of shared memory, writes, strong
#define GR_QUICK(X)                                                                                          \
    X(load_shared, 1, 0, 0)                                                                                  \
    X(load_global, 0, 0, 0)                                                                                  \
    X(store_shared, 1, 1, 0)                                                                                 \
    X(store_global, 0, 1, 0)                                                                                 \
    X(get_shared, 1, 0, 1)                                                                                   \
    X(get_global, 0, 0, 1)                                                                                   \
    X(change_shared, 1, 1, 1)                                                                                \
    X(change_global, 0, 1, 1)

// ---- Memory of the engine ------------------------------------------------------------------------------------

// Where metadata of any address lies: dir[at >> 32] is 0 or the address of a table of GR_PART_COUNT entries, each 0 or
// the address of the metadata of 64 KiB.
enum { GR_DIR_SHIFT = 32, GR_DIR_COUNT = 1 << 17, GR_PART_SHIFT = 16, GR_PART_COUNT = 1 << 16 };

// How many accesses a cell keeps. Numbers other than 2 are for measurements on the CPU device, under PTX's rules
// (history.h).
#ifndef GR_HISTORY
#define GR_HISTORY 2
#endif

// A word of one of GR_GROUP neighbours. Those of the others lie beside it, so that a warp whose lanes access neighbours
// needs few sectors of the cache: one for four lanes.
enum { GR_GROUP = 32 };
typedef struct GrWord {
    uint64_t is, of_others[GR_GROUP - 1];
} GrWord;

// The cell of four bytes of the program, the first of GR_GROUP. `more` is read only if `word` is of this launch.
typedef struct GrCell {
    // GR_HISTORY accesses as the rule set packs them: which thread, in which interval, which bytes
    GrWord word[GR_HISTORY < 2 ? 2 : GR_HISTORY];
    // The other half of each: instruction, launch, and what checks that both halves belong together.
    GrWord more[GR_HISTORY < 2 ? 2 : GR_HISTORY];
} GrCell;

// Where number n of an array of GrCell or GrThreadState begins, in bytes.
static inline uint64_t gr_group_offset(uint64_t n, uint64_t group) {
    return n / GR_GROUP * group + n % GR_GROUP * sizeof(uint64_t);
}

// No block has more shared memory. Behind the last block's cells are as many that nobody owns: so nothing checks
// whether an offset is too large.
enum { GR_SHARED_MOST = 1 << 18 };

// An allocation, in the slot of the address where it begins or in one of the next. `begin` 0: no entry is here nor
// behind; `end` 0: the program has freed it.
enum { GR_EXTENTS = 1 << 14, GR_EXTENT_TRIES = 16, GR_EXTENT_ALIGN = 32 };
typedef struct GrExtent {
    uint64_t begin, end;
} GrExtent;
static inline uint32_t gr_extent_slot(uint64_t begin) {
    return (uint32_t)(begin * UINT64_C(0x9E3779B97F4A7C15) >> 50);
}

// The state of a thread of a launch; threads whose numbers are equal modulo GR_THREADS share one.
enum { GR_THREADS = 1 << 20 };
typedef struct GrThreadState {
    GrWord word[14]; // as the rule set packs them; of the first of GR_GROUP threads
} GrThreadState;

// The state of a block; blocks whose numbers are equal modulo GR_BLOCKS share one.
enum { GR_BLOCKS = 1 << 17 };
typedef struct GrBlockState {
    uint64_t word[11];
} GrBlockState;

// What strong accesses have passed on at a place, on the CPU device: numbers of releases (GrTrackerControl.numbers).
// Places with equal hashes share one.
enum { GR_TALKS = 1 << 16 };
typedef struct GrTalk {
    uint32_t most, by;     // the highest number, and the thread that left it
    uint32_t next, unused; // the highest that another thread left
} GrTalk;
static inline uint32_t gr_talk_slot(uint64_t at, uint32_t block) {
    return (uint32_t)(((at >> 2) + ((uint64_t)block << 40)) * UINT64_C(0x9E3779B97F4A7C15) >> 48);
}

// ---- Launches and copies --------------------------------------------------------------------------------------

// What is known of a launch, by its number modulo GR_LAUNCHES. The host writes it as the launch begins.
enum { GR_LAUNCHES = 1 << 13 };
#define GR_PLACES 0x9E3779B1u
typedef struct GrLaunchState {
    uint64_t number;       // 0: none
    uint32_t stream, turn; // its place in the order of its stream
    uint32_t begun,
        ended; // the number of the last release or acquire then (GrTrackerControl.numbers); ended ~0: it runs
    uint32_t apart; // not all that has left accesses in metadata comes before it
    // Where the states of its threads begin: its number times GR_PLACES, or 0 where nothing can run beside it.
    uint32_t places;
    // The launch's threads write this as they begin, the module's number last.
    uint32_t module, pairs; // GrTrackerControl; module 0: no thread has begun
    uint32_t block[3], grid[3];
    uint32_t device, unused; // by the host
    uint64_t area;
} GrLaunchState;

// A side of a copy, a fill, or a free.
typedef struct GrCopyState {
    uint64_t at, end;                            // of the bytes in between some are touched
    uint64_t width, height, depth, pitch, slice; // GrBox
    uint32_t begun, what;  // as in GrLaunchState; GR_WHAT_WRITES or GR_WHAT_READS, GrBy << GR_WHAT_BY
    uint32_t call, unused; // GrWork.call
} GrCopyState;

// What a launch that is `apart` knows of others; by its number modulo GR_VIEWS.
enum { GR_VIEWS = 128, GR_STREAMS = 256, GR_COPIES = 64 };
typedef struct GrView {
    uint64_t number; // 0: none
    uint64_t floor;  // launches up to that number come before the launch
    // By the stream's number modulo GR_STREAMS: stream << 32 | the last turn that comes before the launch.
    uint64_t known[GR_STREAMS];
    uint32_t copies, unused; // of `copy`, that do not come before the launch
    GrCopyState copy[GR_COPIES];
} GrView;

enum { GR_CONTEXTS = 16 };
typedef struct GrLaunches {
    uint64_t dir[GR_CONTEXTS], contexts; // GrTrackerControl.dir of each; for the host
    uint64_t numbers;                    // GrTrackerControl.numbers is the address of this
    uint64_t several; // not all work so far is of one stream: launches may run side by side
    uint64_t settled; // launches up to that number come before all that begins from now on
    GrLaunchState of[GR_LAUNCHES];
    GrView view[GR_VIEWS];
} GrLaunches;

// ---- Races -----------------------------------------------------------------------------------------------------

enum { GR_PAIR_EMPTY = 0, GR_PAIR_CLAIMED = 1, GR_PAIR_READY = 2 };

typedef struct GrTrackedSide {
    uint64_t launch;     // %gridid; 0: of no kernel
    uint32_t site, what; // site: of the API's, GrWork.call
    uint32_t thread[3], block[3];
    uint32_t warp;   // within the block
    uint32_t module; // whose site that is; 0: of the module whose area this is
} GrTrackedSide;

// A pair of instructions of one module that raced. Which slot: of the hash of `key`, the next free one.
typedef struct GrPair {
    uint32_t state;
    uint32_t rule;          // place in the rules of the rule set
    uint64_t key;           // both sites and the class
    uint64_t count;         // accesses that raced
    uint64_t address;       // of the second side; of shared memory the offset
    uint32_t class, space;  // GrClass.number; 0 global, 1 shared
    uint32_t bytes, unused; // that both touched, from address on
    GrTrackedSide side[2];  // the later access first
} GrPair;

enum { GR_PAIRS_MOST = 8192, GR_PAIR_TRIES = 64 };

// At the front of a module's area.
typedef struct GrTrackedHeader {
    uint64_t dropped; // races for which there was no room
    // An address without metadata that a thread accessed; 1: a thread accessed whose counters are full.
    uint64_t unchecked;
    uint64_t rules;   // 0 ptx, 1 paper
    uint64_t stray;   // an address that a store reached outside the allocation of its parameter
    uint64_t unknown; // pairs of accesses of two launches whose order is not known
    uint64_t crowded; // accesses by threads whose place another thread has taken
} GrTrackedHeader;

// Which strong pairs are reported because one of them is volatile.
typedef enum GrVolatiles {
    GR_VOLATILES_NONE,
    GR_VOLATILES_LANES, // a lane loads from shared memory as data what another lane of its warp stores
    GR_VOLATILES_ALL,
} GrVolatiles;

typedef enum GrWords {
    GR_WORDS_BYTES,
    GR_WORDS_WHOLE,     // 4 bytes are one place
    GR_WORDS_LOOKED_UP, // for measurements: metadata is found and loaded, and nothing is done with it
} GrWords;

// The variable "__gr_control" of each rewritten module; the injection fills it after loading.
typedef struct GrTrackerControl {
    uint64_t area;    // device address of GrTrackedHeader and `pairs` of GrPair; 0: nothing is tracked
    uint64_t dir;     // of uint64_t[GR_DIR_COUNT]
    uint64_t threads; // of GrThreadState[GR_THREADS]
    uint64_t blocks;  // of GrBlockState[GR_BLOCKS]
    uint64_t numbers; // of one uint32_t
    uint64_t shared;  // cells of shared memory: a power of two of bytes
    uint64_t shared_bytes;
    uint64_t extents;   // of GrExtent[GR_EXTENTS]; 0: nothing is known of allocations
    uint32_t pairs;     // places for GrPair, a power of two
    uint32_t volatiles; // GrVolatiles
    uint32_t same_value;
    uint32_t stop;
    uint32_t word_mode; // GrWords
    uint32_t paper;     // the rules of the iGUARD paper
    uint32_t module;    // its number, from 1
    uint32_t unused;
    uint64_t launches; // of GrLaunches; 0: only accesses of one launch are compared
    uint64_t talks;    // of GrTalk[GR_TALKS]; 0: whatever a thread acquires may come from any release before
} GrTrackerControl;

#endif
