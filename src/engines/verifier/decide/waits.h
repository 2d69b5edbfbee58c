// SPDX-License-Identifier: Apache-2.0
// waits — loops that wait until they have a lock or see a flag, and how good the fences around are.
#ifndef GR_ENGINES_VERIFIER_DECIDE_WAITS_H
#define GR_ENGINES_VERIFIER_DECIDE_WAITS_H

#include "engines/verifier/decide/pair.h"

// One half of a lock or a flag.
typedef enum GrFlaw { GR_SOUND, GR_FLAW_NONE, GR_FLAW_NO_FENCE, GR_FLAW_NARROW } GrFlaw;
typedef struct GrHalf {
    const GrSync *at; // the atomic, the store or the load
    GrFlaw flaw;
} GrHalf;

bool gr_wait_acquires(const GrSync *s);
bool gr_wait_releases(const GrSync *s);

// How good `at` is with the fences that were met on the way to it. `orders`: by its own semantics.
GrHalf gr_half_of(const GrSync *at, bool orders, bool fence, bool narrow_fence, GrLevel level);
const char *gr_flaw_text(GrFlaw f);
extern const char gr_flag_may_be_set[]; // what is wrong with a flag that is not 0 at first

// The access may be the atomic that takes a lock.
bool gr_wait_takes(const GrSync *s);

// What the lock holds while it is free. False: not known, or taking it leaves that.
bool gr_wait_free_value(GrBound *b, const GrSync *s, uint64_t *value);

// *out: a thread that leaves the loop of `s` has the lock; or the flag that it waited for was set.
gr_status gr_wait_is_sound(GrBound *b, const GrSync *s, GrLevel level, bool *out, gr_error *err);

// The loop of `s` has ended at the access. Inside that loop, an access also runs in rounds that do not end it.
bool gr_wait_is_over(const GrKernelAccess *a, const GrSync *s);

// *may: `more` may hold while the two conflict, as `terms` and `o` say.
gr_status gr_wait_may_hold(GrBound *b, const GrTermVec *terms, const GrOverlap *o, const GrTerm *more,
                           bool *may, gr_error *err);
// *differ: the places `mine`, of thread 1, and `other`, of thread 2, may differ in a conflict, as `terms` and `o` say.
gr_status gr_wait_may_differ(GrBound *b, const GrTermVec *terms, const GrOverlap *o, const GrTerm *mine,
                             const GrTerm *other, bool *differ, gr_error *err);

// Another thread of a block.
typedef struct GrOther {
    uint32_t number;        // of the thread in its block, along x; GR_ANY_THREAD: not known
    const GrLoop *loop;     // whose counter is the same for all threads of the block; NULL: none
    const GrSymbol *result; // what the thread's wait read last, for which `fresh` stands; NULL: none
    const GrTerm *fresh;
} GrOther;
#define GR_ANY_THREAD UINT32_MAX
// The term as that thread has it, in the block (and round) of thread 1 or 2 of the pair. NULL: it depends on more that
// is the thread's own; or memory is out.
const GrTerm *gr_wait_term_of(GrBound *b, const GrTerm *a, const GrOther *other, uint32_t thread);

// A barrier of the block comes between the loop of `take` and the access: what one thread of the block waited for there
// has come for all. *flaw: of the fence between that loop and the barrier, for two blocks.
bool gr_wait_barrier_behind(const GrKernelAccess *take, const GrKernelAccess *a, GrFlaw *flaw);
// A barrier of the block comes between the access and `give`. *flaw: of the fence between barrier and `give`.
bool gr_wait_barrier_before(const GrKernelAccess *give, const GrKernelAccess *a, GrFlaw *flaw);

// The two are of one size, as accesses of a lock or a flag must be: others are not morally strong.
bool gr_wait_same_width(const GrKernelAccess *x, const GrKernelAccess *y);

// The access may touch the bytes of the lock or flag.
bool gr_wait_may_meet(GrBound *b, const GrBoundAccess *x, const GrSync *s);

#endif
