// SPDX-License-Identifier: Apache-2.0
// code — one more copy of a kernel's code under construction: what its parts share.
#ifndef GR_ENGINES_PRIVATIZER_PASS_CODE_H
#define GR_ENGINES_PRIVATIZER_PASS_CODE_H

#include "engines/privatizer/pass/body.h"
#include "engines/privatizer/pass/mbarriers.h"
#include "engines/privatizer/pass/privatizer_pass.h"
#include "ptx/speculate.h"

typedef struct Copying Copying; // copies.c
typedef struct GrBase GrBase;   // bases.c
typedef struct GrAside {        // aside.c
    PtxReg **regs;
    unsigned n;
} GrAside;

// Code.left of a thread that has gone where it cannot in code for what is known (Code.known), or round too often: what
// it does is worth nothing.
enum { GR_LEFT_WILD = 1 };

typedef struct Code {
    PtxFunc *f;
    const char *suffix;
    bool warps; // else for blocks
    bool brief; // an access is a call (brief.h)
    const GrGrid *grid;
    Body body;
    const Liveness *live; // of the kernel's own code
    const DefUse *uses;   // likewise
    uint64_t *set;
    Arena *arena;
    // Registers of every thread, set where the code begins.
    PtxReg *copy;   // the number of the thread's private copy
    PtxReg *slot;   // code for warps: the block's GrPrivSlot
    PtxReg *unmade; // where in a row the thread finds what its copy would hold
    PtxReg *left;   // rounds of loops that may still come
    PtxReg *asks;   // accesses are to be told
    // Code for warps, of near memory (device/control.h). near_end: where it ends; 0: there is none; near_unmade: how
    // far behind the program's own memory the thread finds what it does not own; copied: the thread may have a private
    // copy of some line. NULL: the kernel has none.
    PtxReg *near_end, *near_unmade, *copied;
    unsigned near_shift, near_entry; // as in GrPrivNear; near_entry 0: nothing is near
    // Where gr_code_at_hand() has loaded them.
    PtxReg *me; // the number of the copy and one
    PtxReg *table, *rows, *row_bytes, *copies, *arena_base, *arena_bytes,
        *shared_bytes;   // rows, copies: where number 0 would be
    PtxReg *arena_table; // where the table would be of an arena that begins at its first line
    PtxReg *number;      // where in a row the number of the thread's copy is
    PtxReg *unwritten;   // a line of shared memory that nobody wrote
    PtxReg *unasked;
    PtxReg *near_first, *near_size, *near_owners, *near_heads,
        *window; // window: shared memory, by generic addresses
    // Likewise: and it has stored nothing in the region so far, in pass 2 nothing in pass 1 as well, and is not asked.
    PtxReg *plain;
    PtxReg *pass, *sequence;
    PtxReg *stores;   // a hash of what the thread stored, and where
    bool updates;     // the kernel has atomic operations or strong stores
    uint32_t granule; // PrivatizedKernel.granule
    PtxReg *notes, *note,
        *note_end;    // where the thread notes results of the region, in pass 1; NULL: the kernel has none
    PtxLabel *full;   // where a thread goes that has no room for them
    bool results;     // the kernel has accesses with results (suits.h)
    bool takes_turns; // PrivatizedKernel.takes_turns
    bool gathers;     // its lanes wait for each other
    bool by_warps;    // units are warps
    PtxReg *stage;    // memory of the warp, GR_STAGE bytes; NULL: the kernel needs none
    bool stages;      // it does
    bool pretends;    // the kernel prints, may fail an assertion, or reads a clock
    PtxReg *clock;    // its own, which goes on when it is read; NULL: the kernel reads none
    bool clusters;    // generic addresses may be of shared memory of other blocks
    bool orders;      // units may order what they do
    // Of all groups the memory that they only read is known, shared memory is near, and nothing is asked: accesses to
    // them need no other way.
    bool known;
    // Units have copies at a constant distance: code for warps, with `known`, of near memory (device/dense.h),
    // c->near_unmade behind the program's own; code for blocks, of GrPrivWindow: of window_size bytes from window_at
    // on, of which window_off has the thread's first line, and window_others lines of other units lie between that and
    // its next one.
    bool dense;
    PtxReg *window_at, *window_size, *window_off, *window_others;
    PtxReg *stored,
        // Code for warps: the thread has stored in the region to such; where that is told of its unit (GR_NEAR_STORED).
        *stored_at;
    bool whole;     // code for blocks: units may be warps of the grid, so lanes of a store are compared, too
    size_t now;     // of the body's statements, the one that is written now
    bool in_loop;   // which is in a loop
    GrBase **bases; // with `known`: by site (bases.c)
    GrAside aside;  // code for warps: registers that are needed wherever a region ends
    const uint8_t *groups, *puts; // by site, GrPlace.group and .puts; NULL: there are none
    const uint8_t *roles;         // by site, GR_ORDERS_...; NULL: there are none
    Copying *copying; // n_copying: the kernel's cp.async that are done some time, in code for warps
    unsigned n_copying, n_kept_too;
    PtxReg *group; // of these, the thread's, by number
    // Registers that pass 2 of a region begins with as pass 1 did, besides those of the program.
    PtxReg **kept_too;
    bool mbarriers;               // code for warps: the kernel has such; they end regions
    bool lanes;                   // code for warps: barriers of a warp can end regions (gr_suits_lanes)
    PtxReg *lanewise;             // then: they do
    PtxReg *exchanges, *meetings; // with gr_exchanges(): blocks do; how many have been
    PtxLabel *stops;  // code for blocks: where a thread goes that may learn of another block; NULL: none may
    PtxLabel *over;   // where a thread goes that has gone round too often
    PtxLabel *leaves; // where a thread goes that ends
    gr_error *err;
} Code;

// Inserts PTX text before `at` (NULL: at the end of the kernel). $0 ... stand for `ops`.
gr_status gr_code_put(const Code *c, PtxStmt *at, const PtxOperand *ops, unsigned n_ops, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
// These return what fails; GR_CODE has no operands.
#define GR_CODE_OPS(c, at, ops, n, ...) GR_MUST(gr_code_put(c, at, ops, n, __VA_ARGS__))
#define GR_CODE(c, at, ...)             GR_CODE_OPS(c, at, NULL, 0, __VA_ARGS__)

// hand.c: loads what accesses to the arena, to shared memory or to near memory need, and gives it in a copy of the
// code. A field of the control. And whether no other thread has this one's private copies, and whether regions run
// once, in the new predicate *out.
enum { GR_HAND_ARENA = 1, GR_HAND_SHARED = 2, GR_HAND_NEAR = 4 };
gr_status gr_code_at_hand(const Code *c, PtxStmt *s, unsigned needs, Code *out);
gr_status gr_code_field(const Code *c, PtxStmt *s, const char *type, const PtxReg *to, size_t at);
gr_status gr_code_alone(const Code *c, PtxStmt *s, PtxReg **out);
gr_status gr_code_once(const Code *c, PtxStmt *s, PtxReg **out);

// inside.c: an access to memory of the thread or the block that has no private copies, where an address that comes of
// what never was there stays within it.
gr_status gr_code_inside(const Code *c, PtxStmt *s, const PtxSite *site);

// code.c: code that leaves the address in the new 64-bit register *out.
gr_status gr_code_address(const Code *c, PtxStmt *at, const PtxOperand *address, PtxReg **out);
// The operand that is the address; NULL: there is none. And what it becomes.
PtxOperand *gr_code_address_of(PtxInstr *i);
gr_status gr_code_set_address(const Code *c, PtxOperand *address, PtxReg *to, int64_t offset);

// near.c: whether the access may be to near memory. Its address in the new register *low. A load that is done at once,
// and behind which the thread goes on. And, with c->near, where the access goes, as a generic address in *to, or in
// *slow that __gr_at has to say where.
bool gr_near_fits(const Code *c, const PtxSite *site);
gr_status gr_code_near_low(const Code *c, PtxStmt *s, const PtxReg *at, PtxReg **low);
gr_status gr_code_near_quick(const Code *c, PtxStmt *s, const PtxReg *low);
// With c->known: where a load or a store goes, in shared memory, in the register *to; and whether a store is to be
// made, in the new predicate *kept.
gr_status gr_code_near_known_load(const Code *c, PtxStmt *s, const PtxSite *site, const PtxReg *low,
                                  PtxReg **to);
gr_status gr_code_near_known_store(const Code *c, PtxStmt *s, const PtxSite *site, const PtxReg *low,
                                   PtxReg **to, PtxReg **kept);
// Likewise, of a load at at + `from`, whose owners are behind `owners`: whether it is the thread's own, in *own.
// `asks`: it may be.
gr_status gr_code_near_owned(const Code *c, PtxStmt *s, const PtxSite *site, const PtxReg *at,
                             const PtxReg *owners, int64_t from, const PtxReg *asks, PtxReg *own);
gr_status gr_code_near(const Code *c, PtxStmt *s, const PtxSite *site, const PtxReg *low, const PtxReg *at,
                       const PtxReg *to, const PtxReg *slow, const PtxOperand *guard, bool negated);

// bases.c: with c->known, what is common to the load and others of straight code, of near memory or (`group`) of memory
// that is only read; NULL: nothing is. Then how it loads.
gr_status gr_code_base(const Code *c, PtxStmt *s, unsigned group, const GrBase **out);
gr_status gr_code_base_near(const Code *c, PtxStmt *s, const PtxSite *site, const GrBase *b);
gr_status gr_code_base_read(const Code *c, PtxStmt *s, const GrBase *b);

// dense.c: in code for blocks with c->dense, loads where the window is; an access to it; where a thread ends.
gr_status gr_code_window(Code *c);
gr_status gr_code_windowed(const Code *c, PtxStmt *s, const PtxSite *site, const PtxReg *at, uint32_t what);
gr_status gr_code_window_ends(const Code *c, PtxStmt *s);
// Likewise in code for warps: what is in the window is done, and the thread goes on behind it.
gr_status gr_code_near_window(const Code *c, PtxStmt *s, const PtxSite *site, const PtxReg *at,
                              uint32_t what);

// stored.c, of a store that `at` is the address of: what it stores, as one number; a hash of all that the thread stored
// takes that in under `kept`; and of lanes that store to one place at once one keeps `kept`: `lanes` are those that
// came together (gr_code_together).
gr_status gr_code_value(const Code *c, PtxStmt *at, uint32_t bytes, PtxReg **out);
gr_status gr_code_hash(const Code *c, PtxStmt *at, const PtxReg *address, const PtxReg *kept,
                       const PtxReg *value);
gr_status gr_code_lanes(const Code *c, PtxStmt *s, const PtxSite *site, const PtxReg *to, PtxReg *kept,
                        const PtxReg *lanes, uint32_t what, const PtxReg *value);
gr_status gr_code_together(const Code *c, PtxStmt *s, PtxReg **lanes);
// stored.c: whether the address is in the memory of this group; `of`: in the control, that of all groups.
gr_status gr_code_is_proved(const Code *c, PtxStmt *s, const PtxReg *at, size_t of, unsigned group,
                            const PtxReg *in);

// code.c: the private copy of what is in shared memory may be there, or in global memory, so no state space is written;
// what is read may change, so it is not .nc.
void gr_code_change_space(PtxInstr *i);

// expand.c: whether the instruction, which is no plain access, is done by plain ones; and whether those need memory of
// the warp.
bool gr_expands(const PtxInstr *i);
bool gr_stages(const PtxInstr *i);

// redirect.c: one load or store that is a part of what the program's own site does.
gr_status gr_code_access(const Code *c, PtxStmt *s, const PtxSite *site, PtxAccess access, PtxSpace space,
                         uint32_t size, const PtxOperand *ops, unsigned n_ops, const char *fmt, ...)
    __attribute__((format(printf, 9, 10)));
const char *gr_space_words(PtxSpace space); // of such: ".global"

// copies.c: whether it is a cp.async that is followed.
bool gr_is_copy(const PtxInstr *i);

// copies.c: how many cp.async of a kernel, of which no code is made yet, are done when they are started, for all would
// need too much code; 0: they are followed.
unsigned gr_early_copies(const PtxFunc *f);

// copies.c: at ends of regions, and where they are waited for, what copies under way do; before the body is changed
// otherwise. And such a copy itself.
gr_status gr_code_find_copies(Code *c);
gr_status gr_code_copy(const Code *c, PtxStmt *s, const PtxSite *site);

// pretends.c: of the copy of a call, and of an instruction that reads a clock (gr_is_clock).
gr_status gr_code_call(const Code *c, PtxStmt *s);
gr_status gr_code_clock(const Code *c, PtxStmt *s, unsigned half);

// stops.c: whether a thread can stop, with no other one waiting for it. And the code, in code for blocks that has exits
// of its own; it sets c->stops.
bool gr_can_stop(const PtxFunc *f);
gr_status gr_code_stops(Code *c);

// expand.c: writes them in place of the copy `s` of the program's own `site`.
gr_status gr_code_expand(const Code *c, PtxStmt *s, const PtxSite *site);

// redirect.c: the access `copy`, which stands for the program's own `site`, or for a part of what that does (its `stmt`
// is NULL), goes to the private copy.
gr_status gr_code_redirect(const Code *c, PtxStmt *copy, const PtxSite *site);

// code.c: `holds` keeps the lanes that the guard of `s` lets through. *over holds for these, and for lanes that the
// guard leaves out: they go on together.
gr_status gr_code_own(const Code *c, PtxStmt *s, PtxReg *holds, PtxReg **over);

// code.c: the instruction once more before itself, under another guard, at another address, with another destination
// (NULL: its own).
gr_status gr_code_again(const Code *c, PtxStmt *s, PtxReg *guard, PtxReg *at, const PtxOperand *destination);

// aside.c. Whether the function has the variable. Declares the memory.
bool gr_code_declares(const Code *c, const char *variable);
gr_status gr_code_aside_begins(const Code *c);
// What the body's statement that is written now needs, and code behind it.
gr_status gr_code_aside_now(const Code *c, GrAside *out);
// The call, where `due` holds. `all`: registers that code behind it needs.
gr_status gr_code_aside(const Code *c, PtxStmt *at, const GrAside *all, const PtxReg *due, const char *fmt,
                        ...) __attribute__((format(printf, 5, 6)));

// At the end of the kernel: code for threads that find no room for a note, or have gone round a loop too often. The
// threads go on with the code that follows.
gr_status gr_code_lost(const Code *c);

// notes.c: an access with a result (gr_has_result). It is done at `to`, a private copy, under `kept`, and at `common`,
// for all units, if that is not 0; NULL: nothing is private.
gr_status gr_code_result(const Code *c, PtxStmt *s, PtxReg *to, PtxReg *common, PtxReg *kept);

// mbarriers.c: in front of `s`, what it does to an mbarrier (mbarriers.h): it makes one; in pass 1 it arrives, with a
// token of 32 bits; its destination gets the token; `over`: it need not wait.
gr_status gr_code_begins(const Code *c, PtxStmt *s);
gr_status gr_code_arrives(const Code *c, PtxStmt *s, const PtxReg *token);
gr_status gr_code_token(const Code *c, PtxStmt *s, const PtxReg *token);
gr_status gr_code_is_over(const Code *c, PtxStmt *s, const PtxReg *over);

// meetings.c: blocks may tell each other at barriers of the grid what they wrote, so that threads go on there. Not
// where results of atomic operations would have to be those of all blocks.
bool gr_exchanges(const Code *c);
// Where regions of code for warps end. `due`: the thread has come to a barrier of the grid; `all`: all threads of the
// block have ended. A block that has goes to `leaves` with the others.
gr_status gr_code_exchange(const Code *c, const PtxReg *due, const PtxReg *all, PtxLabel *leaves);

// Whether it runs in regions: from barrier to barrier of the block; in code for blocks, from barrier to barrier of the
// grid.
bool gr_has_regions(const Code *c);

// regions.c: barriers and ends of threads become ends of regions, which run twice.
gr_status gr_code_regions(Code *c);

// meetings.c: the copy of a part of a barrier of the grid, which is none of its ARRIVES.
gr_status gr_code_meeting(const Code *c, PtxStmt *s, GrGridPart part);

// meetings.c: steps of where a region ends, by all threads of the block. In code for warps most do nothing. In front of
// what all units do to the rows; in code for blocks all blocks meet, and a thread that learns that some have given up
// ends. gr_code_parts(): behind it.
gr_status gr_code_meets(const Code *c);
gr_status gr_code_parts(const Code *c);
// `all`: all threads of the block have ended. It tells the other blocks; then `all` is what all blocks have told.
gr_status gr_code_goes_on(const Code *c, const PtxReg *all);
gr_status gr_code_all_end(const Code *c, const PtxReg *all);
// Shared memory of code for blocks: in front of the first region; behind pass 1 it becomes what it was at the begin,
// behind pass 2 what it was at the end of pass 1.
gr_status gr_code_keep_shared(const Code *c);
gr_status gr_code_shared(const Code *c, const PtxReg *start, bool second);

#endif
