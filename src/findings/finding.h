// SPDX-License-Identifier: Apache-2.0
// finding — one thing that an engine found, as engines hand it over and reports take it: the class, one or two
// accesses, what is missing between them.
//
// It knows no results file and no engine. What it points to lives as long as its maker says.
#ifndef GR_FINDINGS_FINDING_H
#define GR_FINDINGS_FINDING_H

#include "findings/classes.h"
#include "findings/module_record.h"

// What a finding rests on: findings of one execution are held against each other. Numbers stand in results files.
typedef enum GrSeenBy {
    GR_SEEN_BY_ENGINE,     // what the engine's evidence says
    GR_SEEN_BY_CAUSALITY,  // nothing ordered the two
    GR_SEEN_BY_WATCHPOINT, // the one came while the other was under way
    GR_SEEN_BY_VALUE,      // a value changed; the other side is not known
    GR_SEEN_BY_MEETING, // no race by itself: in a replay, the other side came while the first was under way
} GrSeenBy;

#define GR_EVIDENCE_VALUE      "value changed"
#define GR_EVIDENCE_WATCHPOINT "conflicting access inside the window"

// The memory that an access is in.
typedef struct GrHeld {
    const char *kind; // "device", "managed", "variable", …
    const char *name; // of a variable; else NULL
    GrFrame place;    // of the host: where it was asked for; what is not known is NULL or 0
    uint64_t offset, size;
    const struct GrStack *stack; // of that call; NULL: not known
} GrHeld;

// From where the program called CUDA.
typedef struct GrStack {
    const char *call;      // the function of CUDA, "cudaMemcpyAsync"; NULL: not known
    const GrFrame *frames; // of the program's own code, the innermost first; what is not known is NULL or 0
    uint32_t n;
} GrStack;

// One side. What is not known is NULL or 0.
typedef struct GrAccess {
    // "load", "store", "atomic", "copy", "memset", "free", "free node", "allocation", "allocation node", "host read",
    // "host write".
    const char *kind;
    GrFrame at;
    const GrFrame *inlined;
    const GrFrame *near; // what comes before it in the PTX, where it has no line of its own; NULL: nothing
    uint32_t n_inlined, ptx_line, size;
    uint32_t site;      // of the module, from 1; 0: not known
    uint32_t headline;  // which of these places people are told: 0 `at`, 1 inlined[0], … (headline.h)
    const char *kernel; // NULL: not known
    bool has_thread;
    uint32_t thread[3], block[3];
    uint64_t address;     // of shared memory the offset in its block's
    const char *variable; // that this is part of, by the instruction; NULL: not known
    uint32_t argument;    // of the kernel, from 1, through which the instruction got there; 0: not known
    const GrHeld *memory;
    bool has_rank; // which block of the cluster that is
    uint32_t rank;
    uint32_t lanes;              // of the warp, for accesses that several lanes do together; 0 else
    const char *strong;          // what makes it strong, its scope ("gpu"); NULL: weak, or not known
    bool async;                  // done by an asynchronous operation that the thread started
    bool is_volatile, discarded; // discarded: a load whose value was not used
    const char *did;             // "read", "wrote", "updated"; NULL: not known
    uint64_t launch;             // 0: not known
    uint32_t call;               // number of the stack of its launch, or of the API's call (stack_record.h)
    const GrStack *stack;        // of the launch, copy, memset, allocation or free
    const char *range;           // of NVTX, in which the launch stands: "outer/inner"; NULL: none
    bool host;                   // the program's own, on the host
} GrAccess;

// How much came out otherwise, of runs on private copies: of the launch, the round and the block that showed it first.
typedef struct GrOutcome {
    const char *units; // whose copies: "blocks", "warps", "threads"
    uint32_t copies, round;
    uint64_t bytes;
    // Bits: regions in which the pair was found: k begins behind barrier k of the kernel, 0 with the kernel; 63: all
    // later.
    uint64_t regions;
} GrOutcome;

typedef struct GrFinding {
    uint32_t class; // GrClass.number
    GrSeenBy seen_by;
    const char *engine, *evidence; // NULL: those of the whole report
    const char *kernel, *module;
    const char *space;      // "global", "shared", "tensor"; NULL: of a misuse
    uint64_t launch, count; // launch 0: not known
    // Accesses that raced as any pair with the same headlines; `tally` tells which count that is, 0: none.
    uint64_t tally, tally_count;
    GrAccess accesses[2]; // the observer's first; the other side when it is known
    unsigned n_accesses;
    const char *order; // what would have ordered the two, a sentence's end; NULL: not known
    uint64_t overlap;  // the bytes that both touched; with `order`
    uint32_t overlap_bytes;
    uint32_t size; // bytes of expected and seen; 0: values are not known
    const uint8_t *expected, *seen;
    bool stored_first; // the first access stored `expected`; else it read it
    // Lanes of one warp that raced among themselves: all, those that stored `expected`, and those that stored `seen`.
    uint32_t lanes, stored[2];
    // Of a misuse: which thread did what, a sentence without its end. Of a race that no run of the program showed: the
    // launch it needs. Of another race: what came out otherwise.
    const char *detail;
    const GrOutcome *outcome; // NULL: nothing is known
} GrFinding;

// Two accesses that may race: nothing showed it, and nothing excludes it.
typedef struct GrPossible {
    const char *text;   // a sentence that says so
    const char *kernel; // demangled or not
    GrFrame sides[2];   // their headlines
} GrPossible;

// Takes findings. `f` is read during the call; what it points to must outlive the taker's use. False: out of memory.
typedef struct GrSink {
    void *user;
    bool (*take)(void *user, const GrFinding *f);
} GrSink;

// "load", "store", "atomic": of a PtxAccess.
const char *gr_access_kind(uint32_t access);

// An access at `at`, which was inlined at those places, the innermost first. Knows its headline.
GrAccess gr_access_in(const GrFrame *at, const GrFrame *inlined, uint32_t n_inlined);

// The places of an access, the innermost first, then where that was inlined; GrAccess.headline is the number of one.
static inline const GrFrame *gr_access_frame(const GrAccess *a, uint32_t k) {
    return k ? &a->inlined[k - 1] : &a->at;
}

// An access of `size` bytes at that site, of which no more is known than its place.
GrAccess gr_access_at(const GrSiteInfo *site, uint32_t size);

#endif
