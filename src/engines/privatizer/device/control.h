// SPDX-License-Identifier: Apache-2.0
// control — what the privatizer's inserted code, its device runtime and the host say to each other.
//
// Freestanding: compiled for the device (clang, nvptx64) and for the host.
//
// A launch's memory is cut into lines of 128 bytes. A line is private from its first write on, which gives it a row. A
// slot is for all blocks at once (GR_OF_BLOCKS) or for one block (GR_OF_WARPS). It has a table with a word for each
// line, and rows:
//
//     lines:  | shared memory of the block | the arena | other memory |
//               shared_bytes                 arena_bytes
//              <------------------------ span ------------------------>
//     table:  the line's row, from 1 on; 0: no unit wrote it, and loads go to the program's own memory; GR_ROW_EDGE,
//             GR_ROW_BUSY
//     row:    | base | union | own | owners | touched, of both | GrPrivRow | number of each private copy of the line |
//               128    128     128   128      2 * 32 bytes       16          4 bytes each; 0: it is not made
//     copies: | 128 bytes | 128 bytes | ...   marks: | GrPrivMark | ...   of each private copy from number 2 on
//
// Mostly one unit writes all of a word. So a line's row has one private copy that units share, `own`: each granule of
// it (GrPrivControl.granule) belongs to the unit that wrote it first, and `owners` has that unit's number and one. A
// unit that writes a granule of another's gets a private copy of the line of its own.
//
// Where it fits, the rows of shared memory lie in shared memory too, behind the program's own and in address order
// (`near`). They need no table, and their `own` copy is the program's memory.
//
//     shared memory: | reserved | the program's: own | base | union | owners | GrPrivRow of each line | GR_NEAR_SAYS |
//                     near.first  near.size            size   size    near.entry bytes for each 1 << near.shift
//
// The base is the memory as it was when the region began. In pass 1 atomic operations are done for all units in the
// union; then the union is what all units wrote. A unit (a block; a warp or a thread of a block) has the private copy
// unit / divide % privates. Until its units write the line the copy is not made: they find the base in pass 1, and the
// union in pass 2. So a check costs by what was written, not by how much memory there is.
//
// Inserted code calls these functions of the runtime:
//   __gr_enter(), __gr_clear(), __gr_leave()   code for warps: the block takes a slot, makes its table as it was, and
//                                              gives the slot back
//   __gr_begin()                  by all threads of the block: near memory becomes what it is before it is written
//   __gr_slot()                   the block's GrPrivSlot; 0: it has none, and the kernel ends
//   __gr_copy()                   the number of the thread's private copy
//   __gr_at(a, copy, what, unmade)   where the access to address `a` goes, if it is not to a private copy that was
//                                    made; 0: nowhere, the access is left out.
//                                 `unmade`: where in a row the thread finds what its copy would hold
//   __gr_list(row, number)        a store is to a row that is not GR_ROW_LISTED; `number`: the row's less one. 0: it is
//                                 not the slot's
//   __gr_stored(at, pass, bytes)  a store to `at` of a private copy, in a kernel with atomic operations; gives where it
//                                 is to be done once more; 0: nowhere
//   __gr_updated(at, pass, bytes, observed) an atomic operation updates `at` of a private copy; gives where it is to be
//       done once more; 0: nowhere
//   __gr_updates_all(at, pass)    with `once` or `exchanges`, gives where an atomic operation is to be done for all
//                                 blocks; 0: nowhere
//   __gr_strong(a, copy, what)    where a strong load of address `a` goes in pass 1; 0: nowhere
//   __gr_notes()                  where the thread notes results of strong loads and atomic operations
//   __gr_no_notes()               there was no room for them
//   __gr_orders(a, copy, what, roles)   before an access that GR_ORDERS_...
//   __gr_stops()                  the thread stops, in code for blocks (pass/stops.c)
//   __gr_ends()                   by all threads of a block, in pass 1, where a region ends: 1: the block leaves
//   __gr_print(...), __gr_fail(...)   in place of the program's vprintf and __assertfail
//   __gr_stage()                  where the thread's warp has GR_STAGE bytes of memory for matrices
//   __gr_done(stores, copy)       the thread ends, in code for blocks; `stores`: a hash of all that it stored and where
//   __gr_lanes(site, at, what, value, pass, sequence)   before a store of code for warps; gives 1 to the lane whose
//                                                       value stays there
//   __gr_look(site, a, what, value, copy, pass, sequence)     an access to address `a`, when asked
//   __gr_goes(site, a, what, value, copy, pass, sequence)     in brief kernels (pass/brief.h): __gr_at() and
//                                                             __gr_look()
//   __gr_puts(site, a, what, value, copy, pass, sequence)     __gr_goes() and __gr_lanes(); 1: the value of another
//                                                             lane stays
//   __gr_wild()                   the thread has gone where it cannot in code for GrPrivControl.known: a load is
//                                 elsewhere than in memory that is only read, or units share a line
//   __gr_over()                   a loop went round too often
//   __gr_differs(region, copy, sequence)   a thread has other results in registers than in pass 1
//   __gr_region(region)           where a region ends, by threads that have begun one, if others may not have
//   __gr_begins(at, count, sequence), __gr_arrives(at, n, sequence),
//   __gr_is_over(at, which, parity, sequence)   device/mbarriers.h
//   __gr_gather(ends)             where a region ends, in kernels whose lanes wait for each other; 0: not all threads
//                                 came, and this one ends
//   __gr_merges(sequence), __gr_checks(...)   by all threads of a block, where a region ends, in kernels with near
//                                             memory and no roles, results or atomic operations: what most regions
//                                             need.
//                                 They give what else there is to do, bits of GR_REST_...; then
//   __gr_plain_merge(slot, sequence), __gr_plain_check(...)   with GR_REST_ROWS alone; 0: then nothing is left
//   __gr_dense_merges(sequence), __gr_dense_checks(sequence)   instead, where each unit has a copy of all near memory:
//                                                              __gr_merges() may say GR_REST_TELL, too, which
//                                                              __gr_merge() does
//   __gr_tells(region, sequence)  with GR_REST_TELL, by that thread
//   __gr_merge(region, sequence, rest), __gr_check(...)     what is left; in other kernels GR_REST_ALL
// and code for blocks that meet at barriers of the grid (pass/meetings.c, device/grid.h), by all threads of a block:
//   __gr_meets()                  all blocks meet; 0: some have given up
//   __gr_goes_on(sequence)        the block has not come to its end in the region; __gr_all_end(sequence): behind the
//                                 next meeting, whether all blocks have
//   __gr_keep_shared(), __gr_again_shared(), __gr_check_shared(region, copy, sequence)    the block's shared memory: at
//                                                                                         the kernel's begin, behind
//                                                                                         pass 1 and behind pass 2
// and code for warps:
//   __gr_waits()                  the block leaves at a barrier of the grid; with `exchanges` it need not:
//   __gr_finds_rows(), __gr_gives(), __gr_unites(), __gr_takes(), __gr_quits()    device/exchange.h
#ifndef GR_ENGINES_PRIVATIZER_DEVICE_CONTROL_H
#define GR_ENGINES_PRIVATIZER_DEVICE_CONTROL_H

#include <stdint.h>

// What the launch is: GrPrivControl.mode.
enum {
    GR_AS_IT_IS,  // the program's own
    GR_OF_BLOCKS, // each block has a private copy: the launch is one region
    GR_OF_WARPS,  // each warp, or each thread, of a block has one, from barrier to barrier
    GR_HELD,      // the program's own, which does nothing: the host looks at the logs first
};

// What is kept of a slot. A region has one list of the rows that were written in it, the next region the other one.
typedef struct GrPrivSlot {
    uint32_t now; // the list of the region that runs
    uint32_t count[2];
    uint32_t arrived; // threads at ends of regions, of all regions so far
    uint32_t used;    // rows
    uint32_t made;    // private copies, of all regions so far
    // GR_OF_WARPS: what the threads of the block in the slot start from.
    uint32_t asks; // accesses are to be told to __gr_look
    uint32_t ends; // the block leaves where its region ends: a thread waits for what does not come
    uint32_t reader,
        writer; // 1 + the copy of the unit whose accesses may order others (GR_ORDERS_...); 0: none; GR_MANY: several
    uint64_t since; // clock cycles, when the step began that the block is in
    // With barriers of the grid: GR_OF_WARPS, in the overlay's slot.
    uint64_t met;     // blocks that came to meetings, of all so far
    uint32_t goes_on; // the region's sequence and one: some block has not come to its end in it
    uint32_t ready;   // rows of the overlay, which blocks have found
    uint32_t region;  // GR_OF_WARPS: where some thread's region began, and one. 0: all threads do
    // Each access loads these. They have a line of their own, as atomic operations on the others take their line out of
    // the cache.
    uint64_t table __attribute__((aligned(128))), rows, copies; // where number 0 would be
    uint64_t arena_table;                                       // of the arena's first line
    uint64_t lists;
} GrPrivSlot;

#define GR_MANY 0xffffffffu

typedef struct GrPrivRow {
    uint32_t line;
    uint32_t flags; // GR_ROW_LISTED, and those of merge.h
    uint32_t was;   // what the table said: 0 or GR_ROW_EDGE
    // GR_NUMBERED; 0: there are no private copies but `own`, and the numbers of others say nothing.
    uint32_t numbered;
} GrPrivRow;

// `touched` has a byte for each word of four: UPDATED: an atomic operation updated it. STORED: a store wrote it, in a
// kernel with atomic operations. OBSERVED: the unit uses the result of an atomic operation, which may order its later
// stores: these are not STORED.
enum { GR_UPDATED = 1, GR_STORED = 2, GR_OBSERVED = 4 };
typedef struct GrPrivMark {
    uint8_t touched[32];
    uint32_t row, copy;
} GrPrivMark;

enum { GR_LINE_SHIFT = 7, GR_LINE = 1 << GR_LINE_SHIFT };

// What a table says that is no row. GR_ROW_EDGE: not all of the line is the program's. GR_ROW_BUSY: a thread makes the
// row. GR_ROW_NEAR and the line: the line's row is near.
#define GR_ROW_NEAR 0x40000000u
#define GR_ROW_EDGE 0xfffffffeu
#define GR_ROW_BUSY 0xffffffffu
enum { GR_NUMBERED = 1, GR_NUMBERED_BUSY = 2 };
// GrPrivRow.flags. LISTED: the region's list has the row, and units may take granules. From MADE on, for rows that are
// not near: a bit for some numbers of private copies, of which some were made.
enum { GR_ROW_LISTED = 1, GR_ROW_MADE = 16 };
enum { GR_COPY_BUSY = 1, GR_COPY_FIRST = 2 }; // numbers of private copies

// How a strong access may order what units do (pass/order.h). INNER: in code for blocks, an access to shared memory
// orders the threads of one unit.
enum { GR_ORDERS_READ = 1, GR_ORDERS_WRITE = 2, GR_ORDERS_INNER = 4 };

// ROWS: the region's list has rows. LINES: units have private copies of lines of near memory. ALL: nothing was done.
// TELL: the thread's near memory is not what it has to be.
enum { GR_REST_ROWS = 1, GR_REST_LINES = 2, GR_REST_ALL = 4, GR_REST_TELL = 8 };

// Stands for a region: a thread has not begun one (pass/regions.c).
#define GR_NO_BEGIN 0x7ffffffeu

enum { GR_STAGE = 1024 }; // the largest matrix of wmma

#define GR_ROW_OWN      (2 * GR_LINE)
#define GR_ROW_OWNERS   (3 * GR_LINE)
#define GR_ROW_TOUCHED  (4 * GR_LINE)
#define GR_ROW_HEAD     (GR_ROW_TOUCHED + 2 * (GR_LINE / 4))
#define GR_ROW_COPIES   (GR_ROW_HEAD + sizeof(GrPrivRow))
#define GR_ROW_BYTES(n) ((GR_ROW_COPIES + 4 * (uint64_t)(n) + GR_LINE - 1) / GR_LINE * GR_LINE)

// What kind of access it is: the `what` of __gr_at and __gr_look.
enum {
    GR_AT_GLOBAL = 0,
    GR_AT_SHARED = 1,
    GR_AT_GENERIC = 2,
    GR_AT_SPACE = 3, // mask
    GR_AT_STORE = 4,
    GR_AT_ATOMIC = 8,  // a store, too
    GR_AT_MAYBE = 16,  // a load that the compiler may have moved out of its guard: its value need not be used
    GR_AT_STRONG = 32, // not weak: two of them do not race
    GR_AT_STOPS = 64,  // where no memory of the program is, the thread stops
    GR_AT_NOTED = 128, // of a store: by __gr_goes() and __gr_puts(), as by __gr_stored()
    GR_AT_SIZE = 8,    // bits from 8 on: bytes
};

// A piece of the program's memory, by offset: those in the arena first, then the others, by address.
typedef struct GrPrivExtent {
    uint64_t at, size;
    uint64_t offset;    // in the span
    uint64_t of_device; // it is the GPU's own, whichever stream asks
} GrPrivExtent;

// How two private copies differ from what order would have made of them.
enum { GR_FOUND_WRITES = 1, GR_FOUND_READ = 2, GR_FOUND_LANES = 3 };
enum { GR_FOUND_COPIES = 256 };
typedef struct GrPrivFound {
    uint32_t state; // 0: free, 1: being written, 2: there
    uint32_t kind;
    uint32_t region; // where it began: 0: the kernel, else a barrier of it. LANES: the site
    uint32_t round;
    uint32_t part;    // of memory: one of each region, kind and part is told
    uint32_t size;    // LANES: of the access
    uint32_t copy[2]; // READ: [0] alone. LANES: the numbers of the two threads in their block
    uint64_t block,
        sequence; // of what was written first; gr_first_take() has what comes first in the program
    uint64_t copies[GR_FOUND_COPIES / 64]; // bits: which took part, number modulo GR_FOUND_COPIES
    // A warp that finds the same again loads all above at once, as memory is far.
    uint64_t offset;
    uint64_t bytes;     // that differ, each once, of that block's region
    uint32_t same, pad; // LANES: all of them stored the same
    uint64_t first;     // gr_first_key()
} GrPrivFound;

// An access that the host asked for.
typedef struct GrPrivSeen {
    uint32_t state;
    uint32_t site, copy, what;
    uint64_t offset, value; // value: of a store, all of it
    uint32_t thread[3], block[3];
} GrPrivSeen;

// The threads of all blocks of a copy add up in so many places.
enum { GR_SUMS = 32 };

// NEAR: an access is to bytes of several owners, which near memory cannot tell apart. WILD: __gr_wild().
enum { GR_FULL_ROWS = 1, GR_FULL_COPIES = 2, GR_FULL_NOTES = 3, GR_FULL_NEAR = 4, GR_FULL_WILD = 5 };
enum { GR_MOST_FOUND = 256, GR_MOST_SEEN = 128 };
// What the host looks at first of each log. All is 0 if nothing was found, and nothing went wrong.
typedef struct GrPrivHead {
    uint64_t outside; // an address without a private copy; 0: there was none
    uint32_t over;    // a loop went round too often
    uint32_t dropped; // that found had no room for
    uint32_t apart;   // threads did not meet at the end of a region
    uint32_t full;    // a slot had no room left: FULL_...
    uint32_t stopped; // GR_OF_BLOCKS: some threads did
    uint32_t ordered; // blocks of GR_OF_WARPS that left because units may have ordered what they do
    uint32_t waited;  // blocks of GR_OF_WARPS that left because a thread waits
    uint32_t any;     // something was found, or seen
    uint32_t skipped; // rounds that were not run, because what ran before them was cut short
    uint32_t unused;
} GrPrivHead;

// Blocks left their tables as they were in the middle of a region: later launches would take unmade rows for made ones.
// `exchanges`: as in GrPrivControl.
static inline int gr_is_cut_short(uint32_t apart, uint32_t full, uint32_t waited, uint32_t exchanges) {
    return apart || full || (exchanges && waited);
}

typedef struct GrPrivLog {
    GrPrivHead head;
    GrPrivFound found[GR_MOST_FOUND] __attribute__((aligned(16)));
    GrPrivSeen seen[GR_MOST_SEEN];
} GrPrivLog;

// Memory of the host that gets from all logs, by level, what the host has to know, so that it need not ask the driver.
// If the launch is held, it gets the `n` entries of `found`, too.
enum { GR_LOGS = 3 };
typedef struct GrPrivHeads {
    GrPrivHead of[GR_LOGS];
    uint64_t number;         // four times that of the launch that this is of, and GR_GATE_...
    uint64_t again[GR_LOGS]; // GR_GATE_AGAIN: GR_AGAIN() of that launch; they may come later than the number
    uint64_t n[GR_LOGS];
    GrPrivFound found[GR_LOGS][GR_MOST_FOUND];
} GrPrivHeads;

// HELD: the launch is held. AGAIN: it is not, as all that was found is expected.
enum { GR_GATE_HELD = 1, GR_GATE_AGAIN = 2, GR_GATE = 4 };
#define GR_AGAIN(number, bits) ((uint64_t)(number) << 32 | (bits)) // bits: which of GrPrivExpected.of

// What launches of the kernel found before, and is not searched for now: kind, region and part as in GrPrivFound.
// `known` is the host's.
enum { GR_MOST_EXPECTED = 16 };
typedef struct GrPrivExpected {
    uint32_t n;
    struct {
        uint32_t kind, region, part, known;
    } of[GR_MOST_EXPECTED];
} GrPrivExpected;

// Which accesses the host asks for, in one region of one block (GR_OF_WARPS) or the launch.
enum {
    GR_ASK_NOTHING,
    GR_ASK_COPY, // in pass 1: which copy's units access the byte at `offset`
    GR_ASK_READS // in pass 2: what units of `copies` load that others changed
};
typedef struct GrPrivAsk {
    uint32_t kind, shared; // shared: `address` is in shared memory
    uint64_t address;      // of the byte at `offset`
    uint64_t copies;       // READS: of which copies: bits, number modulo 64
    uint64_t block, sequence, offset;
} GrPrivAsk;

// What blocks spend their time with, GR_OF_WARPS (LDetector, figure 8). The passes make private copies at the first
// write; the merge makes what pass 2 starts from.
enum { GR_SPENT_PASS_1, GR_SPENT_MERGE, GR_SPENT_PASS_2, GR_SPENT_CHECK, GR_SPENT_CLEAR, GR_SPENT };

// Memory that the kernel's text and its parameters tell enough about, by group of sites. size 0: they do not. If the
// launch only reads it, loads of the group (GrPlace.group) go there without a look. If it only writes it, and no two
// units come to the same bytes, stores of the group (GrPlace.puts) are left out, as nobody would find them. But a
// thread must store the same in both passes.
typedef struct GrPrivProved {
    uint64_t at, size;
} GrPrivProved;
enum { GR_ONLY_READ = 16, GR_ONLY_WRITTEN = 8 };

// Everything is in bytes, `first` and `size` multiples of a line. size 0: nothing is near.
typedef struct GrPrivNear {
    uint32_t first, size;
    uint32_t shift, entry; // an owner is asked for each 1 << shift bytes, in `entry` bytes: 2 or 4
    uint32_t says;         // behind all of it: GR_NEAR_COUNT and so on
    uint32_t units; // that have a private copy of all of it each (device/dense.h); 0: they have what they own
    uint32_t stride, pad;   // with `units`: of a copy, which has the window behind near memory
    uint32_t owners, heads; // where they would be of the byte 0, and of the line 0
} GrPrivNear;
#define GR_NEAR_OWNERS(n) ((n)->first + 3 * (n)->size)
#define GR_NEAR_HEADS(n)  (GR_NEAR_OWNERS(n) + ((n)->size >> (n)->shift) * (n)->entry)
// Where `says` is. If units have copies of all near memory, the base lies behind these.
#define GR_NEAR_SAYS(n)                                                                                      \
    ((n)->units ? (n)->first + ((n)->units + 1) * (n)->stride                                                \
                : GR_NEAR_HEADS(n) + (n)->size / GR_LINE * (uint32_t)sizeof(GrPrivRow))
#define GR_NEAR_END(n) ((n)->says + GR_NEAR_SAID)
// Behind the heads: GrPrivSlot's count, now and arrived, which are nearer here; for each list's regions, whether some
// line of near memory has private copies; and whether a thread of the block has given up in __gr_gather().
enum {
    GR_NEAR_COUNT = 0,
    GR_NEAR_NUMBERED = 8,
    GR_NEAR_NOW = 16,
    GR_NEAR_ARRIVED = 20,
    GR_NEAR_APART = 24,
    GR_NEAR_STORED = 32, // with GrPrivNear.units, of each list's regions: a byte for each unit: it has stored
    GR_NEAR_UNITS = 32,
    GR_NEAR_SAID = GR_NEAR_STORED + 2 * GR_NEAR_UNITS
};
// For each line: the numbers of private copies, and which units changed its words (merge.h).
#define GR_NEAR_NUMBERS(copies) (4 * (uint64_t)(copies) + 2 * (GR_LINE / 4))

// Memory of the program of which each unit has a private copy (device/window.h): `size` bytes from `at` on, in
// multiples of a line. At `copies` the copies of all units of a line lie side by side, as comparing reads them
// together. GR_OF_WARPS, with GrPrivNear.units: each copy of near memory has its window behind it, the first at
// `copies` of shared memory. size 0: there is none.
typedef struct GrPrivWindow {
    uint64_t at, size, copies;
    uint64_t stored; // GR_OF_BLOCKS: of each line a byte for each unit: it has stored there
} GrPrivWindow;

enum { GR_KNOWN_NOT, GR_KNOWN, GR_KNOWN_DENSE };

typedef struct GrPrivControl {
    uint32_t mode, pass; // pass: of GR_OF_BLOCKS
    uint64_t arena;
    GrPrivProved only_read[GR_ONLY_READ]; // at a multiple of 16 bytes: inserted code loads both at once
    GrPrivProved only_written[GR_ONLY_WRITTEN];
    // GR_KNOWN_... GR_OF_WARPS: all groups of the kernel are known, its shared memory is near, and the host asks for
    // nothing: the code runs that takes all of it for granted.
    uint64_t known;
    uint64_t arena_bytes, shared_bytes, span;
    uint64_t slots;
    uint64_t slot;                // GrPrivSlot of each slot
    uint64_t tables, table_bytes; // of each slot
    uint64_t lists;               // of each slot two lists of `capacity` rows
    uint64_t rows, row_bytes;     // of each slot `capacity` rows
    // For each slot GR_NEAR_NUMBERS for each line of near memory; numbers are 0 between launches.
    uint64_t numbers;
    uint64_t rows_from, copies_from, arena_table; // GR_OF_BLOCKS: as in GrPrivSlot
    uint64_t copies, marks;                       // of each slot `most_copies` private copies of lines
    GrPrivWindow window;                          // with GR_KNOWN_DENSE
    uint64_t notes,
        note_bytes; // of each thread of each slot, or of the grid: results of pass 1, of kernels that use such
    uint64_t stage; // GR_STAGE bytes of each warp of each slot, or of the grid, of kernels that need them
    GrPrivNear near __attribute__((aligned(16))); // GR_OF_WARPS
    uint64_t extents;
    uint32_t n_extents, n_inside; // n_inside: of them, in the arena
    uint32_t capacity, most_copies;
    uint32_t privates, round;
    uint64_t divide;
    uint32_t threads; // GR_OF_WARPS: of a unit: 32 or 1
    // GR_OF_WARPS: each thread of a block has private copies of its own. GR_OF_BLOCKS: lanes are not compared.
    uint32_t alone;
    uint32_t all;        // all memory that is known has private copies
    uint32_t most_notes; // bytes; a thread that wants more waits
    uint32_t cluster[3]; // GR_OF_BLOCKS: how many blocks a unit has
    uint32_t granule;    // of `own`, as a power of two: each access is to one. 0: it is not used
    // own: where the shared memory that the program asked for ends. held: accesses without a private copy stay before
    // it (pass/inside.c); UINT32_MAX: they may go anywhere, in clusters, as addresses in shared memory have the block's
    // rank on a GPU.
    uint32_t own_shared, held_shared;
    // Each region runs once, and what units wrote is merged in their order: the launch is the program's (section 4.6).
    // One more slot has bases for the atomic operations of all blocks.
    uint32_t once;
    uint64_t log;
    // GR_OF_BLOCKS: for each copy, what its threads stored, in GR_SUMS parts, in pass 1 and in pass 2.
    uint64_t sums;
    uint64_t taken; // GR_OF_WARPS: of each slot 4 bytes: a block has it
    // 4 bytes for each block. GR_OF_WARPS: its slot and one; GR_OF_BLOCKS, with barriers of the grid: how many threads
    // have come to ends of regions, of all so far.
    uint64_t slot_of;
    // GR_OF_BLOCKS, with barriers of the grid: where each block's shared memory is kept, twice; its bytes, and the
    // first of them that the system has.
    uint64_t shared_kept;
    uint32_t block_shared, block_reserved;
    // GR_OF_WARPS: each block has the slot with its number, and blocks tell each other at barriers of the grid what
    // they wrote. The slot behind these, the overlay, has so many rows.
    uint32_t exchanges, overlay_rows;
    uint32_t ready; // rows that each slot has from the begin, the first ones
    // GR_OF_BLOCKS: units are the warps of the grid, for which the kernel is one region, too.
    uint32_t whole;
    // GR_OF_WARPS: barriers of a warp end regions, as those of the block do, in kernels that suit (pass/suits.h). In
    // kernels with mbarriers: arrivals do not end regions (pass/mbarriers.h).
    uint32_t lanes, pad;
    uint64_t changed; // with `once`: a byte for each line: some slot has changed it
    uint64_t most_rounds;
    uint64_t spent; // clock cycles of all blocks, by GR_SPENT_...; 0: nobody wants to know
    GrPrivAsk ask;
} GrPrivControl;

// Lines that get their rows before a unit writes there: `lines` lines at `at`, wholly the program's memory.
typedef struct GrPrivSpan {
    uint64_t at;
    uint32_t first, lines;
} GrPrivSpan;
enum { GR_SPANS = 16 };

// The parameter of __gr_set: what the control at `to` becomes, and memory that becomes 0, from the first slot on; all
// in multiples of 8 bytes.
typedef struct GrPrivSet {
    GrPrivControl control;
    uint64_t to, zeros, zero_bytes;
    GrPrivSpan spans[GR_SPANS]; // control.ready rows of each slot; or lines of control.window
    uint64_t lines;             // with control.window: of these
    uint64_t before, n_before;  // logs of what has run on the same tables, and the host has not seen yet
} GrPrivSet;

// The parameter of __gr_gate. `to`: a GrPrivHeads.
typedef struct GrPrivGate {
    uint64_t control, logs, to, number;
    GrPrivExpected expected[GR_LOGS];
} GrPrivGate;

// The parameter of the kernels that do the steps of a window.
typedef struct GrPrivWindowed {
    uint64_t control, lines;
    GrPrivSpan spans[GR_SPANS];
} GrPrivWindowed;

#endif
