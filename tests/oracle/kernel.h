// SPDX-License-Identifier: Apache-2.0
// kernel — small random kernels, as lists of statements from which any may be left out; and their PTX.
//
// Up to three blocks of up to four threads that do something (slots); the other threads of a block only meet at
// barriers. A statement is executed by some of the 12, or by everyone.
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
    OP_HOLD, // a load that is held back, number `value`: what becomes of its value is decided by `count`, a HoldStyle
    OP_CHOOSE, // of load number `value`, for the lanes of `other`
    OP_MEET,   // lanes meet in another way: `value` is the MeetKind
    OP_AWAY,   // a function meets (value 1) or fences, of another module if there is one
} StatementOp;

// How lanes come together, and what speaks for some of them. Those with an instruction of their own (OP_MEET) come
// first.
#define MEETINGS(X)                                                                                          \
    X(VOTE, "vote.sync")                                                                                     \
    X(SHFL, "shfl.sync")                                                                                     \
    X(MATCH, "match.sync")                                                                                   \
    X(REDUX, "redux.sync")                                                                                   \
    X(ELECT, "elect.sync")                                                                                   \
    X(ACTIVEMASK, "activemask")                                                                              \
    X(LDMATRIX, "ldmatrix")                                                                                  \
    X(STMATRIX, "stmatrix")                                                                                  \
    X(MOVMATRIX, "movmatrix")                                                                                \
    X(MMA, "mma.sync")                                                                                       \
    X(WMMA, "wmma.load")                                                                                     \
    X(RED, "barrier.red")                                                                                    \
    X(WARP_SYNC, "bar.warp.sync")                                                                            \
    X(BARRIER, "barrier.sync")                                                                               \
    X(COUNTED, "barrier.sync with a count")                                                                  \
    X(ARRIVE, "barrier.arrive")                                                                              \
    X(CLUSTER, "barrier.cluster.arrive")                                                                     \
    X(MBAR_ARRIVE, "mbarrier.arrive")                                                                        \
    X(MBAR_WAIT, "mbarrier.test_wait")                                                                       \
    X(CP_WAIT, "cp.async.wait_group")                                                                        \
    X(CP_ARRIVE, "arrival of a cp.async")                                                                    \
    X(BULK_WAIT, "cp.async.bulk.wait_group")                                                                 \
    X(FENCE, "fence")                                                                                        \
    X(STRONG, "strong operation")                                                                            \
    X(AWAY, "function of another module")                                                                    \
    X(EXIT, "exit of another lane")

typedef enum MeetKind {
#define MEETING(id, name) MEET_##id,
    MEETINGS(MEETING)
#undef MEETING
        MEETINGS_COUNT,
    MEET_INSTRUCTIONS = MEET_RED + 1, // so many are OP_MEET's
    MEET_NONE = MEETINGS_COUNT,
} MeetKind;

typedef enum HoldStyle { HOLD_SELECTS, HOLD_COMPUTES, HOLD_TESTS, HOLD_STYLES } HoldStyle;
enum {
    HELD = 16,
    MARKED = 512
}; // loads that are held back; where in global memory what marks them and meetings reads

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
    bool marks;                     // loads before loads that are held back, choices and meetings say so
    bool linked;                    // the functions of OP_AWAY are in a module of their own
    uint32_t n;
    Statement s[STATEMENTS];
    const char *kind; // what it was made as
} Kernel;

// The kernel of that number. Some are made to be free of races.
void kernel_make(uint64_t number, Kernel *k);
// One synchronization less or weaker. False: there is none.
bool kernel_mutate(uint64_t number, Kernel *k);
void kernel_text(const Kernel *k, StrBuf *out); // a module; its kernel is k(memory)
void kernel_away(StrBuf *out);                  // the module of Kernel.linked
// The kernel of that number among those with loads that are held back around meetings.
void kernel_make_held(uint64_t number, Kernel *k);
MeetKind statement_meeting(const Statement *s);

#endif
