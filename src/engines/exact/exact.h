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

// Bytes of one word on which two accesses raced.
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
    // Called when a pair of sites first races; may set r->mine.count and r->ours.
    void (*found)(void *user, Race *r);
    // Called when a thread has accessed the shared memory of another block, and nothing orders that before the block's
    // end.
    void (*misused)(void *user, const struct VmMisuseEvent *e);
    // Called for each word and each two remembered accesses that race. For tests.
    void (*occurred)(void *user, const ExactOccurrence *o);
    void *user;
    // NULL: all launches are checked. Else only launches for which this is true, and sites in files that are wanted.
    // Other accesses are no side of a race, but they order.
    bool (*wanted)(void *user, const char *kernel, uint64_t launch);
    bool (*wanted_site)(void *user, const PtxModule *m, const PtxSite *site);
    bool no_same_value, speculated; // classes that are left out; that are looked for too
    // The async proxy's writes over reads without a proxy fence are reported, not only counted.
    bool proxy_reads;
    ExactVolatiles volatiles;
    // Called when an internal check (checks.def) fails for the first time: the engine's results cannot be relied on.
    void (*doubted)(void *user, const char *check);
    // After so many new stamps (shadow.h) unused numbers are collected; 0: when it pays. Tests set it, as the usual
    // number is never reached there.
    size_t collect_every;
    // With so many runs of a line (shadow.h) the next accesses go into tables; 0: when it pays. For tests, too.
    uint32_t tables_at;
    // The log of a phase (log.h) is shortened whenever it has so many bytes or more; 0: when it pays. For tests, too.
    uint32_t shorten_at;
    // Called with true when work is submitted and with false when the host has waited for all of it: in between the
    // host's own accesses matter. NULL: they are not seen.
    void (*watch)(void *user, bool on);
    const GrHostThreads *threads; // NULL: nothing is known of them
} ExactOptions;

gr_status gr_exact_create(const ExactOptions *o, Exact **out, gr_error *err);
void gr_exact_free(Exact *x);
VmObserver gr_exact_observer(Exact *x);
// The driver tells of streams, events, copies and waits. Without it, launches are ordered by when they ran.
void gr_exact_work(void *exact, const struct GrWork *w);

// The host's own accesses to memory that it shares with the device (GrHostWatcher of engines/core/engine.h).
void gr_exact_host_touched(void *exact, const struct GrHostTouch *t);
void gr_exact_host_opened(void *exact, uint64_t at, uint64_t size);

size_t gr_exact_races(const Exact *x);
// Memory ran out, so orders and accesses may be forgotten: a race may be missed, and no new one is reported.
bool gr_exact_incomplete(const Exact *x);
// The number of pairs of sites with unordered volatile accesses that were not reported.
size_t gr_exact_volatiles(const Exact *x);
// The number of accesses that only the order of fence.sc puts behind others, although their threads had heard of those
// without a fence behind.
size_t gr_exact_heard(const Exact *x);
// A remark on accesses that would have raced if calls of several host threads had come at other times; the caller frees
// it. NULL: nothing.
char *gr_exact_unsure(const Exact *x);
// A remark on reads that the async proxy overwrites without a proxy fence; the caller frees it. NULL: nothing.
char *gr_exact_proxy_reads(const Exact *x);
// A remark on stores and loads crosswise (dekker.h); the caller frees it. NULL: nothing.
char *gr_exact_dekker(const Exact *x);

// The bytes of memory that stand for accesses now.
uint64_t gr_exact_shadow_bytes(const Exact *x);

typedef enum ExactCheck {
#define EXACT_CHECK(id, text) CHECK_##id,
#include "engines/exact/checks.def"
#undef EXACT_CHECK
    EXACT_CHECK_COUNT
} ExactCheck;
const char *gr_exact_check_text(ExactCheck c); // completes "an internal check failed: "

// One number for all parses of one module's text, whatever a pass inserted and tagged.
uint64_t gr_exact_fingerprint(const PtxModule *m);

#endif
