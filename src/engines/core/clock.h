// SPDX-License-Identifier: Apache-2.0
// clock — what is known of others: an immutable, reference-counted map from a 64-bit key to a 32-bit epoch.
//
// NULL is the empty clock; a larger epoch includes the smaller ones. Clocks share structure: joining two versions of
// one clock costs what they differ in, and a join that adds nothing to one side is that side itself. A hash-array
// mapped trie of 16-way nodes over the bijectively mixed key, so that equal maps have equal shapes. Keys that differ in
// nothing but the five bits above the lowest three share a leaf, where their epochs lie side by side.
#ifndef GR_ENGINES_CORE_CLOCK_H
#define GR_ENGINES_CORE_CLOCK_H

#include "base/map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Clock Clock;

// Keys with this bit stand apart from the others: one step tells the two kinds apart.
#define GR_CLOCK_APART (UINT64_C(1) << 63)

Clock *gr_clock_retain(Clock *c); // yields c
void gr_clock_drop(Clock *c);     // there is one
static inline void gr_clock_release(Clock *c) {
    if (c)
        gr_clock_drop(c);
}

// 0 when absent.
uint32_t gr_clock_get(const Clock *c, uint64_t key);

// c with key at no less than v. A reference of the caller's own.
Clock *gr_clock_with(Clock *c, uint64_t key, uint32_t v);

// Clocks in a variable, which keeps its reference: take owns c, merge does not.
static inline void gr_clock_take(Clock **to, Clock *c) {
    gr_clock_release(*to);
    *to = c;
}
void gr_clock_add(Clock **to, uint64_t key, uint32_t v);
void gr_clock_merge(Clock **to, Clock *c);

// The join of both: a reference of the caller's own; to a or b itself when that says it all.
Clock *gr_clock_join(Clock *a, Clock *b);

// Calls `f` for every entry; in no particular order.
void gr_clock_each(const Clock *c, void (*f)(void *user, uint64_t key, uint32_t v), void *user);

// The entries of c with GR_CLOCK_APART in their keys, or without (references of the caller's own); whether c has such.
Clock *gr_clock_apart(Clock *c);
Clock *gr_clock_without_apart(Clock *c);
bool gr_clock_has_apart(const Clock *c);

// Calls `f` for every entry of `now` that says more than `old`, which `now` includes; what they share costs nothing.
void gr_clock_changes(const Clock *old, const Clock *now, void (*f)(void *user, uint64_t key, uint32_t v),
                      void *user);

// Leaves entries out of clocks, many of which share structure: what is shared stays shared, and is gone through once.
typedef struct ClockFilter {
    bool (*keep)(void *user, uint64_t key);
    void *user;
    Map done;         // node -> what became of it
    uint64_t visited; // nodes
} ClockFilter;
// Puts what is kept of *c in its place.
void gr_clock_filter(ClockFilter *f, Clock **c);
void gr_clock_filter_end(ClockFilter *f); // forgets what became of nodes: `keep` may change now

// What all clocks of the process take.
uint64_t gr_clock_bytes(void);

// Memory ran out at some time in this process: some clocks know less than they should.
bool gr_clock_starved(void);

#endif
