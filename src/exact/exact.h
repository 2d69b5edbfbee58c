// SPDX-License-Identifier: Apache-2.0
// exact — the causality engine: listens to an execution and says which accesses raced, by PTX's own definition.
//
// Two accesses race when they overlap, at least one writes, neither happened before the other in causality order, and they are not
// both strong with scopes that include each other (PTX ISA 9.0, "Memory Consistency Model", "Data races"). Every pair of
// sites that raced is one ExactRace per class, with the first time it did, and a count. docs/exact.md says how.
#ifndef GR_EXACT_EXACT_H
#define GR_EXACT_EXACT_H

#include "base/status.h"
#include "vm/observer.h"

typedef struct Exact Exact;
struct GrWork; // driver/cuda/hooks.h, like the next
struct GrHostTouch;

typedef enum ExactClass {
#define EXACT_CLASS(id, text, meaning) EXACT_##id,
#include "exact/races.def"
#undef EXACT_CLASS
    EXACT_CLASS_COUNT
} ExactClass;

typedef struct ExactSide {
    uint64_t module; // gr_exact_fingerprint
    uint32_t site;   // within it
    PtxAccess access;
    bool strong, async;          // async: done by an asynchronous operation that this thread started
    bool is_volatile, discarded; // discarded: what was read was not used
    enum {
        EXACT_BY_KERNEL,
        EXACT_BY_COPY,
        EXACT_BY_FILL,
        EXACT_BY_HOST
    } by;           // else site and threads mean nothing
    uint64_t pc;    // of the host's instruction
    PtxScope scope; // of strong ones
    uint64_t launch, block_linear;
    uint32_t thread[3], block[3];
    uint64_t address;
    uint32_t size;
} ExactSide;

typedef struct ExactRace {
    ExactClass class;
    PtxSpace space;
    ExactSide side[2]; // the later one first: it is the one that noticed
    uint64_t overlap;  // first byte that both touched, and how many
    uint32_t overlap_bytes;
    char order[256];   // what would have ordered them, a sentence's end: "no __syncthreads() … between"
    uint64_t count;    // words and threads, of those that were remembered
    uint64_t *counter; // counts too, unless NULL
} ExactRace;

// Some bytes of one word on which two accesses raced.
typedef struct ExactOccurrence {
    ExactClass class;
    PtxSpace space;
    uint64_t launch, block;  // SHARED: whose memory
    uint64_t at;             // of the word
    uint32_t bytes, site[2]; // a bit per byte; numbered over the execution: of its first module as that does
} ExactOccurrence;

typedef struct ExactOptions {
    // Called when a pair of sites is first seen to race; it may set r->counter.
    void (*found)(void *user, ExactRace *r);
    // Called for every word that races, for every two accesses that are remembered: for tests.
    void (*occurred)(void *user, const ExactOccurrence *o);
    void *user;
    // NULL: all kernels are checked. Else the launches of those for which it says so; and of the sites, those in files that are
    // wanted. Other accesses are neither side of a race, but what they order is ordered.
    bool (*wanted)(void *user, const char *kernel);
    bool (*wanted_site)(void *user, const PtxModule *m, const PtxSite *site);
    bool no_same_value, volatiles, speculated; // classes that are left out; that are looked for too
    // Called when synchronization that is wrong in itself is first seen at a place; yields what to count it in, or NULL.
    uint64_t *(*misused)(void *user, const VmMisuseEvent *e);
    // Whether the host's own accesses matter now: true with each submission of work, false when the host has waited for all
    // of it. NULL: nobody sees them.
    void (*watch)(void *user, bool on);
} ExactOptions;

gr_status gr_exact_create(const ExactOptions *o, Exact **out, gr_error *err);
void gr_exact_free(Exact *x);
VmObserver gr_exact_observer(Exact *x);
// What the driver says of streams, events, copies and waits. Without it, launches are ordered by when they ran.
void gr_exact_work(void *exact, const struct GrWork *w);

// The host's own accesses to memory that it shares with the device (GrHostWatcher of inject/engine.h).
void gr_exact_host_touched(void *exact, const struct GrHostTouch *t);
void gr_exact_host_opened(void *exact, uint64_t at, uint64_t size);

size_t gr_exact_races(const Exact *x);
const ExactRace *gr_exact_race(const Exact *x, size_t k);
// Something was forgotten because memory ran out: what was not reported may still be a race.
bool gr_exact_incomplete(const Exact *x);
// All the memory that stands for accesses now.
uint64_t gr_exact_shadow_bytes(const Exact *x);

const char *gr_exact_misuse_name(unsigned kind); // VmMisuse
const char *gr_exact_misuse_meaning(unsigned kind);
const char *gr_exact_class_name(unsigned class);
const char *gr_exact_class_meaning(unsigned class);

// The same for every parse of one module's text, whatever was inserted and tagged.
uint64_t gr_exact_fingerprint(const PtxModule *m);

#endif
