// SPDX-License-Identifier: Apache-2.0
// kernel — small random kernels, as lists of statements from which any may be left out; and their PTX.
//
// Up to three blocks of up to four threads that do something (slots); the other threads of a block only meet at barriers. A
// statement is executed by some of the 12, or by everyone.
#ifndef GR_TEST_ORACLE_KERNEL_H
#define GR_TEST_ORACLE_KERNEL_H

#include "base/rng.h"
#include "base/str.h"
#include "vm/observer.h"

enum { SLOTS = 4, BLOCKS = 3, STATEMENTS = 64, EVERYONE = 0xffff, MEMORY = 512, LAUNCHES = 4 };

typedef enum StatementOp {
    OP_LOAD,
    OP_STORE,
    OP_ATOM, // adds; with `tests`, sees whether `value` was there
    OP_EXCH,
    OP_RED,
    OP_AWAIT, // loads up to some times, until it sees `value`
    OP_LOCK,  // compares 0 and swaps 1, likewise
    OP_FENCE,
    OP_PROXY_FENCE,
    OP_BARRIER,    // number `value`; of `count` threads unless 0
    OP_BAR_ARRIVE, // likewise
    OP_WARP_SYNC,  // the executing lanes of each warp; everyone: full mask
    OP_EXIT,
    OP_LOOP, // up to OP_END_LOOP, `count` times
    OP_END_LOOP,
    OP_MBAR_INIT, // for `count`
    OP_MBAR_ARRIVE,
    OP_MBAR_EXPECT, // arrives, and expects `count` bytes
    OP_MBAR_WAIT,   // for the phase of parity `value`
    OP_CP_ASYNC,    // from global memory, `other`, to shared
    OP_CP_COMMIT,
    OP_CP_WAIT,    // count; 9: all
    OP_CP_ARRIVE,  // noinc, at the mbarrier
    OP_BULK_LOAD,  // from global memory, `other`, to shared; completes on mbarrier `value`
    OP_BULK_STORE, // from shared memory, `other`, to global
    OP_BULK_REDUCE,
    OP_BULK_COMMIT,
    OP_BULK_WAIT, // with `tests`: .read
    OP_CLUSTER_ARRIVE,
    OP_CLUSTER_WAIT,
} StatementOp;

typedef enum Where { IN_GLOBAL, IN_SHARED, IN_REMOTE } Where; // remote: the other block's of the cluster

typedef struct Statement {
    StatementOp op;
    uint16_t who; // bit 4 * block + slot, or EVERYONE
    int8_t warp;  // only that warp of everyone; -1
    bool if_seen; // only if the last OP_AWAIT, OP_LOCK or test saw what it looked for
    bool tests;
    bool generic;  // through a generic address
    bool branches; // around it instead of a predicate on it
    Where where;
    uint16_t at, other;
    uint8_t size, vec, value, count;
    PtxSem sem;
    PtxScope scope;
} Statement;

typedef struct Kernel {
    uint32_t grid, block, launches; // block: 2, 4, 34 or 64 threads; up to LAUNCHES
    uint32_t repeats;               // everything is done once, and then so many times more
    bool cluster, together;         // together: the launches run at the same time
    uint32_t n;
    Statement s[STATEMENTS];
    const char *kind; // what it was made as
} Kernel;

// The kernel of that number. Some are made to be free of races.
void kernel_make(uint64_t number, Kernel *k);
// One synchronization less or weaker. False: there is none.
bool kernel_mutate(uint64_t number, Kernel *k);
void kernel_text(const Kernel *k, StrBuf *out); // a module; its kernel is k(memory)

#endif
