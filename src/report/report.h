// SPDX-License-Identifier: Apache-2.0
// report — what a run found and what its verdict is worth: built from a results file, written as text or JSON.
//
// The model is independent of engines and of the file: races with their accesses, the coverage, and the reasons why a
// verdict could not be "clean". It holds nothing that differs between two runs that did the same: no process numbers,
// no times, no paths of ours. Races between the same two lines of the user's (copies made by unrolling and inlining, instances of
// templates, pairs of places in a toolkit's header that those lines call) are one race; without line information they are kept apart by their
// line in the PTX.
#ifndef GR_REPORT_REPORT_H
#define GR_REPORT_REPORT_H

#include "base/arena.h"
#include "base/demangle.h"
#include "base/status.h"
#include "base/str.h"
#include "base/vec.h"
#include "findings/conflict.h"
#include "findings/module_record.h"
#include "report/source.h"

#include "ptx/site_status.h"

#include <stdio.h>

// What a report of the collider's rests on, one of them or both.
#define GR_EVIDENCE_VALUE      "value changed"
#define GR_EVIDENCE_WATCHPOINT "conflicting access inside the window"

typedef enum GrVerdict { GR_VERDICT_CLEAN, GR_VERDICT_RACES, GR_VERDICT_INCONCLUSIVE } GrVerdict;

typedef struct GrAccess {
    const char *kind; // "load", "store", "atomic", "copy", "memset", "free", "host read", "host write"
    GrFrame at;
    const GrFrame *inlined;
    const GrFrame *near; // what comes before it in the PTX, where it has no line of its own; NULL: nothing
    uint32_t n_inlined, ptx_line, size;
    uint32_t headline;  // which of these places people are told: 0 `at`, 1 inlined[0], … (headline.h)
    const char *kernel; // NULL: not known
    bool has_thread;
    uint32_t thread[3], block[3];
    uint64_t address; // of shared memory the offset in its block's
    bool has_rank;    // which block of the cluster that is
    uint32_t rank;
    uint32_t lanes;              // of the warp, for accesses that several lanes do together; 0 else
    const char *strong;          // what makes it strong, its scope ("gpu"); NULL: weak, or not known
    bool async;                  // done by an asynchronous operation that the thread started
    bool is_volatile, discarded; // discarded: a load whose value was not used
    const char *did;             // "read", "wrote", "updated"; NULL: not known
    uint64_t launch;             // 0: not known
    bool host;                   // the program's own, on the host
} GrAccess;

// Two sides of a race that met in a replay (replay.h).
typedef struct GrMet {
    unsigned replay; // from 1
    uint64_t seed;   // of that run
    GrAccess first, other;
} GrMet;

typedef struct GrRace {
    unsigned seen_by; // of classes from GR_CLASS_COUNT on: GrSeenBy
    // Of the collider's own: the race that a watchpoint saw of the same place in the same execution, whose first access is
    // at that place and whose second is this one's other side. NULL: none.
    const struct GrRace *watched;
    unsigned class; // GrRaceClass, or GR_CLASS_COUNT and up: those of engines/exact/classes.def
    const char *kernel, *module, *space;
    uint64_t launch, count; // launch 0: not known
    uint32_t n_sites;       // instructions that were merged into this one
    // Accesses that raced as any pair with the same headlines; `tally` tells which count that is, 0: none.
    uint64_t tally, tally_count;
    const char *const
        *kernels; // of the races that were grouped into this one (group.c), sorted; NULL: `kernel` only
    uint32_t n_kernels, n_places; // n_places: how many pairs of places those were
    GrAccess accesses[2];         // the observer's first; the other side when it is known
    unsigned n_accesses;
    const char *order; // what would have ordered the two, a sentence's end; NULL: not known
    uint64_t overlap;  // the bytes that both touched; with `order`
    uint32_t overlap_bytes;
    uint32_t size; // bytes of expected and seen
    const uint8_t *expected, *seen;
    uint32_t lanes,
        stored
            [2]; // lanes of the warp that raced among themselves; which of them stored `expected`, and `seen`; 0: no such race
    const GrMet *met;              // where the other side was caught; NULL: nowhere
    const char *engine, *evidence; // NULL: the report's
    bool judged;                   // by another engine, in the same execution:
    const struct GrRace *witness;  // the race that it saw there; NULL: none, so one of the two is wrong
} GrRace;

// Synchronization that is wrong in itself.
typedef struct GrMisuse {
    const char *class, *meaning, *kernel, *detail;
    GrFrame at;
    const GrFrame *inlined; // where that was inlined, innermost first
    uint32_t n_inlined, ptx_line, thread[3], block[3];
    uint64_t launch, count;
} GrMisuse;

typedef struct GrKernelCoverage {
    const char *name, *module, *unchecked; // why it is not checked, NULL when it is
    bool excluded;                         // because the user said so
    uint64_t launches, failed;
    uint32_t grid[3], block[3]; // of the first launch
} GrKernelCoverage;

// A function of a module that was loaded, and whether it may have run.
typedef struct GrFunctionCoverage {
    const char *name;
    uint64_t id; // GrFunctionInfo.id
    bool is_kernel, launched;
    const GrSiteInfo *sites; // [0] to [n_sites - 1]
    uint32_t n_sites;
} GrFunctionCoverage;

// A text and how often it came.
typedef struct GrCounted {
    const char *text;
    uint64_t count;
} GrCounted;
typedef VEC(GrCounted) GrCountedVec;

typedef struct GrReport {
    Arena arena;
    // What was run, set by the caller before gr_report_build.
    const char *engine, *evidence, *device, *reproduce;
    const char *folder; // text: source files below it are named relative to it; NULL for none
    // What the user did not want checked: the option that says so, or NULL. Callbacks NULL: there is no such option.
    const char *(*excludes_kernel)(const void *user, const char *kernel);
    const char *(*excludes_file)(const void *user, const char *file);
    const void *excludes_user;
    const char *sample; // --sample; "": every access is watched
    // The file of --coverage, to which the run is added, NULL for none; and what it says of the accesses of this run's modules.
    struct {
        const char *path, *name; // name: as the user calls it
        uint64_t runs, watched, accesses;
        uint64_t conflicts,
            met; // pairs of accesses that touched the same bytes; those that were seen to overlap
    } so_far;
    const char *aim; // what the schedule was told to bring together (aim/aim.h); "": nothing
    uint64_t seed;
    uint64_t max_reports;                // list at most so many races; 0: all
    uint64_t replays;                    // that looked for other sides
    bool poisoned;                       // --poison-writes: before each value its complement was stored
    struct GrSuppressions *suppressions; // suppress.h; NULL: there are none
    struct GrSuppressions *bundled;      // those that come with gpurace; NULL: they are not wanted
    // Two engines ran, and the races of the first are held against those of causality, the second. Names NULL: only one did.
    struct GrSecondOpinion {
        const char *engine, *evidence;
    } first, causal;
    GrSources *sources; // of excerpts
    // From the results.
    GrVerdict verdict;
    VEC(GrRace) races;
    VEC(GrMisuse) misuses; // by kind and place
    VEC(GrKernelCoverage) kernels;
    uint64_t modules_checked, modules_unchecked, launches_checked, launches_unchecked;
    uint64_t sites[GR_SITE_STATUS_COUNT];
    VEC(GrFunctionCoverage) functions;
    uint64_t watched; // accesses that are checked, in functions that may have run
    GrCountedVec absent, notes, remarks, faults;
    GrCountedVec
        doubts; // internal checks of causality that failed: the verdict is inconclusive, whatever was found
    GrCountedVec reasons;    // why the verdict is not clean (when there are no races: inconclusive)
    VEC(uint64_t) faulted;   // numbers of launches that a fault ended
    VEC(Conflict) conflicts; // that this run noted, some of them several times
    uint64_t processes, dropped, damaged, unconfirmed;
} GrReport;

void gr_report_init(GrReport *r);
void gr_report_free(GrReport *r);

// Adds a reason that only the launcher knows ("the program was killed by signal 11"), before gr_report_build.
gr_status gr_report_reason(GrReport *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

// Adds something worth saying that takes nothing away from the verdict.
gr_status gr_report_remark(GrReport *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

// Reads everything out of `view` and decides the verdict.
gr_status gr_report_build(GrReport *r, const GrResultsView *view, gr_error *err);

// Both sides of a race and the order that was missing, in one sentence. Nothing when not both are known.
void gr_race_sentence(const GrReport *r, const GrRace *race, StrBuf *out);

// Both list at most max_reports races, and if that is not 0 about 9 MB of them; the others are counted.
void gr_report_text(const GrReport *r, StrBuf *out);
gr_status gr_report_json(const GrReport *r, StrBuf *out, gr_error *err);

// A line for each race and misuse, and a verdict that is races or inconclusive, for when the full report failed: `why` ("killed by signal
// 11"). Needs no memory. False when `out` cannot be written.
bool gr_report_brief(const GrReport *r, const char *why, FILE *out);

const char *gr_verdict_name(GrVerdict v);
// What a race class is called ("lost update") and what it means.
const char *gr_race_class_name(unsigned class);
const char *gr_race_class_meaning(unsigned class);

// The name of a kernel or function, demangled, for a line of text: what makes it long (template arguments, parameters) is left out.
const char *gr_short_name(const char *name, Arena *arena);

// Names like gr_short_name's, each with what tells it from others of them that are short for the same. NULL: out of memory.
const char *const *gr_telling_names(const char *const *names, size_t n, Arena *arena);

// Appends `size` little endian bytes as 0x…, as an unsigned number and, where they make a plausible one, as a float.
void gr_value_text(const uint8_t *bytes, uint32_t size, StrBuf *out);

#endif
