// SPDX-License-Identifier: Apache-2.0
// collider_access — the collider's code around one load or one store (figures 1 and 3 of the paper).
#ifndef GR_ENGINES_COLLIDER_PASS_COLLIDER_ACCESS_H
#define GR_ENGINES_COLLIDER_PASS_COLLIDER_ACCESS_H

#include "engines/collider/device/record.h"
#include "engines/collider/pass/collider.h"
#include "passes/emit.h"
#include "ptx/speculate.h"

typedef struct Again Again;             // collider_again.h
typedef struct Segment Segment;         // collider_segment.h
typedef struct Polled Polled;           // collider_polled.h
typedef struct SourceWatch SourceWatch; // collider_source.c
typedef struct HeldCopy HeldCopy;       // collider_held.h
typedef struct LaterIssue LaterIssue;   // collider_later.c

// Lanes that are to go on together (collider_together.h): which, in a register; the label behind the place where they
// are.
typedef struct Lanes {
    PtxReg *mask;
    PtxLabel *behind;
} Lanes;

// One function under rewriting.
typedef struct ColliderWork {
    PtxModule *module;
    const ColliderOptions *o;
    PtxReg *random;   // the generator's state; NULL until the first delay needs it
    PtxReg *count;    // how often the kernel was launched before, modulo WAIT_AGAIN; NULL: nobody asks
    PtxReg *kind;     // of the launch (collider_time.h); likewise
    PtxReg *threads;  // how many the launch has, if they are few; likewise
    PtxReg *few;      // whether these are few, and the launch among the kernel's first; likewise
    PtxReg *shuts;    // whether all windows stay shut in this launch; likewise
    PtxReg *watches;  // whether threads keep what they access in this launch; NULL: nobody asks
    PtxReg *length;   // what is left of the delays (collider_time.h); likewise
    PtxReg *hold;     // how a thread of a kernel is held (device/hold.h); NULL: no window asks
    PtxReg *small;    // whether the waits are longer because the launch is small (collider_time.h)
    unsigned n_holds; // places of the function where it may be
    // Bulk copies of which a thread watches the source until it waits (collider_source.h).
    SourceWatch *sources;
    const Polled *polled; // memory that strong reads are of; NULL where nothing is poisoned
    PtxReg *groups;       // how many bulk groups it has begun
    HeldCopy *held;       // a cp.async that a thread holds back (collider_held.h); NULL: none is
    LaterIssue *later;    // what a thread issues later (collider_later.h); the last one in the text
    PtxReg *issues;       // of such an operation under rewriting: which lanes issue it where it stands
    gr_error *err;
    bool classifies;   // only reads what each access is: nothing is inserted
    bool brief;        // windows are calls (collider_brief.h)
    struct Pace *pace; // which windows open; NULL: all
    Lanes joins;       // that began together, and go on together behind what parts them; no mask: they do not
    Again *again;      // which loads later windows look at again; used with a pace only
    Segment *segment;  // what the thread keeps of its accesses; NULL: nothing
    // Where the window that is being written stays shut unless this holds; NULL: it always opens.
    PtxReg *open;
    // Of the load under rewriting, if threads may throw its value away (collider_hoisted.h).
    struct Hoisted *hoisted;
} ColliderWork;

// Code that leaves the seed in the register `into` (ColliderOptions.seed_at_load), written to buf.
const char *gr_collider_seed(const ColliderWork *w, const char *into, char *buf, size_t size);

// Insert the checks around the access; *a was filled by gr_access_read. `spec` tells which lanes use a speculated
// load's value; NULL: all.
gr_status gr_collider_load(ColliderWork *w, Access *a, const Speculation *spec);
gr_status gr_collider_store(ColliderWork *w, Access *a);

// One window for `n` loads, before `at`: a delay, all of them again, and the comparisons. Each was read by
// gr_access_read, and gr_collider_prepare has made what it needs of it. `spec` is of one load.
gr_status gr_collider_prepare(Access *a);
gr_status gr_collider_loads(ColliderWork *w, Access *a, unsigned n, PtxStmt *at, const Speculation *spec);
// The same without the delay.
gr_status gr_collider_looks(ColliderWork *w, Access *a, unsigned n, PtxStmt *at, const Speculation *spec);

// ---- Pieces, for checks of other shapes ----------------------------------------------------------------------

// A guard may be the program's own register, so it goes in by name only when that name is unambiguous; ours always are.
gr_status gr_collider_own_guard(Access *a);

// A strong load of the access's bytes at a->after, as `type` into fresh registers of `reg_type`; unused elements go to
// the sink.
gr_status gr_collider_repeat(Access *a, const char *type, PtxType reg_type, PtxOperand *again);

// Compares before[] with after[] (registers of `bits` bits, a->used[] of each), and reports `class` where they differ.
gr_status gr_collider_compare(ColliderWork *w, Access *a, const PtxOperand *before, const PtxOperand *after,
                              unsigned bits, GrRaceClass class, const Speculation *spec);

// Leaves the generic address of the access in the new register *out.
gr_status gr_collider_generic(const Access *a, PtxStmt *at, PtxReg **out);

// The call that reports, at `at`; a breakpoint before it where nobody is attached.
gr_status gr_collider_report(const ColliderWork *w, const Access *a, PtxStmt *at, GrRaceClass class,
                             const PtxReg *address, const PtxReg *expected, const PtxReg *seen);

// The argument of a report that says the class, and what kind of access it is.
uint32_t gr_collider_meta(const ColliderWork *w, const Access *a, GrRaceClass class);
// A breakpoint at `at` where no runtime is attached; `attached` becomes the guard of the call that reports.
gr_status gr_collider_breakpoint(const ColliderWork *w, const Access *a, PtxStmt *at, char *attached,
                                 size_t size);

// The stored elements, as registers of exactly the stored width (8-bit ones in 16): what a reload of the same bytes
// yields.
gr_status gr_collider_stored(Access *a, unsigned bits, PtxOperand *stored);

// Figure 3b: before the store, do lanes of this warp target one address? `alone`, if not NULL, becomes whether no other
// lane has this lane's.
gr_status gr_collider_warp_check(ColliderWork *w, Access *a, const PtxOperand *stored, unsigned bits,
                                 const PtxReg *alone);

// Reports that the lanes `peers` are about to store to `address`; this one half[0] and half[1], of which `size` bytes
// are shown.
gr_status gr_collider_report_warp(ColliderWork *w, Access *a, PtxStmt *at, unsigned size,
                                  const PtxReg *address, const PtxReg *peers, PtxReg *const half[2]);

// A conditional detour: code inserted at d->at runs when `condition` holds. At the outermost scope it stands at the end
// of the function, so that the fast path falls through; inside a nested scope (inline assembly) it must stay there, and
// is jumped over.
typedef struct Detour {
    PtxStmt *at;
    PtxLabel *back;
    bool inline_;
} Detour;
gr_status gr_collider_open_detour(Access *a, PtxStmt *at, const PtxReg *condition, Detour *d);
gr_status gr_collider_close_detour(Access *a, Detour *d);

// The same for an access of the whole warp: all lanes take the detour when `condition` holds for any, and those for
// which it does not are led round what is inserted between the two. No lane goes on before all have looked.
gr_status gr_collider_open_together(Access *a, PtxStmt *at, const PtxReg *condition, Detour *d,
                                    PtxLabel **others);
gr_status gr_collider_close_together(Access *a, Detour *d, PtxLabel *others);

#endif
