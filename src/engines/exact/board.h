// SPDX-License-Identifier: Apache-2.0
// board — the last threads that accessed each word of a block's shared memory in one phase: enough to say that nothing
// there races.
//
// Every 4 bytes (or fewer, `grain`) have an entry for the last thread that wrote, one for the threads that have read
// since, and one for the threads that performed atomic operations since. An access is fine if it comes after all
// accesses that it conflicts with: there are none, or they are of its own thread, or of threads of which it knows
// (order.h). An access that comes after a write comes after everything that the write came after, so the last write is
// enough. "Not fine" says little: only the shadow tells races.
//
// The idea is that of epochs in C. Flanagan, S. N. Freund: FastTrack: Efficient and Precise Dynamic Race Detection,
// PLDI 2009.
#ifndef GR_ENGINES_EXACT_BOARD_H
#define GR_ENGINES_EXACT_BOARD_H

#include "engines/exact/order/order.h"

typedef enum BoardClass { BOARD_READ, BOARD_WRITE, BOARD_ATOM } BoardClass;

// An entry, 0: none. From the top: a zero, generation (6 bits), 1 bit: threads of several warps, warp (5), epoch since
// the phase began (13), lane (6; 32: several of the warp).
enum {
    BOARD_LANE_BITS = 6,
    BOARD_EPOCH_BITS = 13,
    BOARD_WARP_SHIFT = BOARD_LANE_BITS + BOARD_EPOCH_BITS,
    BOARD_SEVERAL_SHIFT = BOARD_WARP_SHIFT + 5,
    BOARD_GENERATION_SHIFT = BOARD_SEVERAL_SHIFT + 1,
    BOARD_GENERATIONS = 1 << (31 - BOARD_GENERATION_SHIFT), // no entry looks negative: vectors compare so
    BOARD_EPOCHS = 1 << BOARD_EPOCH_BITS,
    BOARD_GRAIN = 2, // the coarsest
};

typedef struct Board {
    uint32_t *by[3];     // by BoardClass: entries; NULL: no thread has done so yet
    uint32_t n, bytes;   // entries; of shared memory
    uint32_t generation; // entries of another one are as good as empty
    uint32_t epoch;      // before the phase
    unsigned grain;      // an entry stands for 1 << grain bytes
    bool atoms;          // there have been atomic operations in this phase
} Board;

// What the lanes of a warp do.
typedef struct BoardAccess {
    const Order *order;
    View view;
    BoardClass class;
    bool past;            // it came before what is on the board, and is known not to race with it
    uint32_t lanes, size; // size: bytes of each lane, a power of two up to 16
    uint32_t epoch;       // of all of them
    uint8_t shape[2];     // VmShape; and base: as in VmGlance
    uint32_t base[2];
    const uint32_t *at; // [32]; NULL unless scattered
    bool again;         // out: some of it was written before in this phase
    uint32_t known;     // of the board's
} BoardAccess;

// A new phase, in which nothing has happened yet. False: out of memory.
bool gr_board_begin(Board *b, uint32_t bytes, unsigned grain, uint32_t epoch);
// Puts the access on the board. False: it may race with what is there, or cannot be told. Then the board is of no more
// use in this phase.
bool gr_board_access(Board *b, BoardAccess *a);
void gr_board_free(Board *b);

#endif
