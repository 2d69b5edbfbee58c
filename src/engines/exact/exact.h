// SPDX-License-Identifier: Apache-2.0
// exact — the causality engine: listens to an execution and says which accesses raced, by PTX's own definition.
//
// Two accesses race when they overlap, at least one writes, neither happened before the other in causality order, and
// they are not both strong with scopes that include each other. (PTX ISA 9.0, "Memory Consistency Model", "Data
// races".) Every pair of sites that raced is one Race per class, with the first time it did, and a count. docs/exact.md
// says how.
#ifndef GR_ENGINES_EXACT_EXACT_H
#define GR_ENGINES_EXACT_EXACT_H

#include "base/status.h"
#include "device_api/host_threads.h"
#include "engines/exact/classes.h"
#include "findings/race.h"
#include "vm/observer.h"

typedef struct Exact Exact;
struct GrWork; // device_api/work.h, like the next
struct GrHostTouch;

// Some bytes of one word on which two accesses raced.
typedef struct ExactOccurrence {
    RaceClass class;
    PtxSpace space;
    uint64_t launch, block;  // SHARED: whose memory
    uint64_t at;             // of the word
    uint32_t bytes, site[2]; // a bit per byte; numbered over the execution: of its first module as that does
} ExactOccurrence;

// Which unordered volatile accesses are reported: those that need the lanes of a warp to run in lockstep, none, all.
// The others are counted.
typedef enum ExactVolatiles {
    EXACT_VOLATILE_LOCKSTEP,
    EXACT_VOLATILE_NONE,
    EXACT_VOLATILE_ALL,
} ExactVolatiles;

typedef struct ExactOptions {
    // Called when a pair of sites is first seen to race; it may set r->mine.count and r->ours.
    void (*found)(void *user, Race *r);
    // Called when a thread has accessed the shared memory of another block, which might have ended by then for all that
    // orders the two.
    void (*misused)(void *user, const struct VmMisuseEvent *e);
    // Called for every word that races, for every two accesses that are remembered: for tests.
    void (*occurred)(void *user, const ExactOccurrence *o);
    void *user;
    // NULL: all kernels are checked. Else the launches of those for which it says so; and of the sites, those in files
    // that are wanted. Other accesses are neither side of a race, but what they order is ordered.
    bool (*wanted)(void *user, const char *kernel);
    bool (*wanted_site)(void *user, const PtxModule *m, const PtxSite *site);
    bool no_same_value, speculated; // classes that are left out; that are looked for too
    // Report what the async proxy overwrites without a fence after a read; else it is counted.
    bool proxy_reads;
    ExactVolatiles volatiles;
    // Called when an internal check (checks.def) has failed for the first time: what the engine says is not to be
    // relied on.
    void (*doubted)(void *user, const char *check);
    // Numbers of stamps (shadow.h) are collected and used again after so many new ones; 0: when it pays. For tests,
    // where the usual number would never be reached.
    size_t collect_every;
    // With so many runs of a line (shadow.h) the next accesses go into tables; 0: when it pays. For tests, too.
    uint32_t tables_at;
    // The log of a phase (log.h) is shortened whenever it has so many bytes or more; 0: when it pays. For tests, too.
    uint32_t shorten_at;
    // Whether the host's own accesses matter now: true with each submission of work, false when the host has waited for
    // all of it. NULL: they are not seen.
    void (*watch)(void *user, bool on);
    const GrHostThreads *threads; // NULL: nothing is known of them
} ExactOptions;

gr_status gr_exact_create(const ExactOptions *o, Exact **out, gr_error *err);
void gr_exact_free(Exact *x);
VmObserver gr_exact_observer(Exact *x);
// What the driver says of streams, events, copies and waits. Without it, launches are ordered by when they ran.
void gr_exact_work(void *exact, const struct GrWork *w);

// The host's own accesses to memory that it shares with the device (GrHostWatcher of engines/core/engine.h).
void gr_exact_host_touched(void *exact, const struct GrHostTouch *t);
void gr_exact_host_opened(void *exact, uint64_t at, uint64_t size);

size_t gr_exact_races(const Exact *x);
// Something was forgotten because memory ran out: what was not reported may still be a race. From then on none is: an
// order may be forgotten, too.
bool gr_exact_incomplete(const Exact *x);
// Pairs of sites with unordered volatile accesses that were not reported.
size_t gr_exact_volatiles(const Exact *x);
// Accesses that only the order of fence.sc puts behind others, whose threads had been heard of without a fence behind
// that.
size_t gr_exact_heard(const Exact *x);
// What is to be remarked of accesses that would have raced if calls of several threads of the host had come at other
// times, freed by the caller; NULL: nothing.
char *gr_exact_unsure(const Exact *x);
// What is to be remarked of reads and copies over the bytes without a proxy fence, freed by the caller; NULL: nothing.
char *gr_exact_proxy_reads(const Exact *x);
// What is to be remarked of stores and loads crosswise (dekker.h), freed by the caller; NULL: nothing.
char *gr_exact_dekker(const Exact *x);

// All the memory that stands for accesses now.
uint64_t gr_exact_shadow_bytes(const Exact *x);

typedef enum ExactCheck {
#define EXACT_CHECK(id, text) CHECK_##id,
#include "engines/exact/checks.def"
#undef EXACT_CHECK
    EXACT_CHECK_COUNT
} ExactCheck;
const char *gr_exact_check_text(ExactCheck c); // completes "an internal check failed: "

// The same for every parse of one module's text, whatever was inserted and tagged.
uint64_t gr_exact_fingerprint(const PtxModule *m);

#endif
