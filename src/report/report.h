// SPDX-License-Identifier: Apache-2.0
// report — what a run found and what its verdict is worth: built from a results file, or read from a report as JSON
// (read_report.h); written as text or JSON.
//
// The model is independent of engines and of the file: findings become races with their accesses, the coverage, and the
// reasons why a verdict could not be "clean". It holds nothing that differs between two runs that did the same: no
// process numbers, no times, no paths of ours. Races between the same two lines of the user's (copies made by unrolling
// and inlining, instances of templates, pairs of places in a toolkit's header that those lines call) are one race.
// Without line information they are kept apart by their line in the PTX.
#ifndef GR_REPORT_REPORT_H
#define GR_REPORT_REPORT_H

#include "base/arena.h"
#include "base/demangle.h"
#include "base/map.h"
#include "base/status.h"
#include "base/str.h"
#include "base/vec.h"
#include "findings/area.h"
#include "findings/conflict.h"
#include "findings/reader.h"
#include "report/lines/source.h"

#include "ptx/site_status.h"

#include <stdio.h>

typedef enum GrVerdict { GR_VERDICT_CLEAN, GR_VERDICT_RACES, GR_VERDICT_INCONCLUSIVE } GrVerdict;

// Two sides of a race that met in a replay (replay.h).
typedef struct GrMet {
    unsigned replay; // from 1
    uint64_t seed;   // of that run
    GrAccess first, other;
} GrMet;

// A run of a program, or of an engine that needs no run, that a merged report is made of (merge.h).
typedef struct GrRunOf {
    const char *id; // of what it found: two runs that found the same are one
    const char *tool, *engine, *evidence, *device, *reproduce;
    uint64_t seed;
    GrVerdict verdict;
    uint64_t races; // and misuses, that its report counted
} GrRunOf;

// A run that saw a race, and how often.
typedef struct GrSeenIn {
    const GrRunOf *run;
    uint64_t count;
} GrSeenIn;

// An edit that may repair a race (repair/propose.h): what it does, in which file, as hunks of a unified diff.
typedef struct GrRepair {
    const char *what, *file, *hunks;
    uint32_t loop; // the line of the loop whose turns it keeps apart; 0: none
} GrRepair;

// A race: one finding, or several merged ones of the same places. Or a misuse of synchronization (one side).
typedef struct GrRace {
    GrFinding found;
    // Names of the race that are equal over seeds, machines and builds of unchanged code (identity.c). `id` is made of
    // the text of the lines where they can be read, so it stays when lines move; `line_id` of their numbers. Both are
    // 16 hexadecimal digits, and "-2" and so on behind them where a report has several such.
    const char *id, *line_id;
    const char *rule; // for --suppressions: hides this race and no other of the report (suppress_rule.c)
    // The runs of a merged report that saw the race, by seed, then id. The race is shown as the first one saw it.
    const GrSeenIn *seen;
    uint32_t n_seen;                // 0: the report is of one run
    bool known;                     // the baseline has it, too (baseline.h)
    const struct GrRule *hidden_by; // of GrReport.hidden (suppress.h)
    uint64_t number;                // in the order in which they were added
    // For a race that a value showed: the race that a watchpoint saw at that place in that execution, with the place as
    // its first access and this race's other side as its second. NULL: none.
    const struct GrRace *watched;
    uint32_t n_sites; // instructions that were merged into this one
    // Kernels of the races that were grouped into this one (group.c), sorted; NULL: `kernel` only.
    const char *const *kernels;
    uint32_t n_kernels, n_places; // n_places: how many pairs of places those were
    const GrMet *met;             // where the other side was caught; NULL: nowhere
    const GrRepair *repair;       // that is proposed for its cause; NULL: none
    uint32_t cause;               // a number in GrReport.causes, from 1; 0: none
    bool judged;                  // by another engine, in the same execution:
    const struct GrRace *witness; // the race that it saw there; NULL: none, so one of the two is wrong
} GrRace;

typedef VEC(GrRace) GrRaceVec;

// One mistake: all races that one edit would end, as far as that is known (cause.c).
typedef struct GrCause {
    const char *id; // equal over seeds, machines and builds of unchanged code, like GrRace.id
    // The object that is read, changed and written back without an atomic; NULL: it is none.
    const char *update;
    const GrRepair *repair; // fits all its races; NULL: nothing is proposed
    bool follows; // another cause is a broken synchronization of the same kernel, which may explain it
} GrCause;

// A pair of places whose accesses may race.
typedef struct GrPossibleRace {
    GrPossible pair;
    bool known; // the baseline has it
} GrPossibleRace;

// A cause with its races, as reports show it.
typedef struct GrCauseRaces {
    const GrCause *cause;       // NULL: a race by itself
    const GrRace *shown;        // of its races, that whose threads are furthest apart
    const GrRace *const *races; // in the order of the report
    uint32_t n;
    uint64_t count; // occurrences
    bool known;     // the baseline has all of them
} GrCauseRaces;

typedef struct GrKernelCoverage {
    const char *name, *module, *unchecked; // why it is not checked, NULL when it is
    bool excluded;                         // because the user said so
    uint64_t launches, failed;
    int error;                  // CUDA's, of the last launch that failed, as gr_report_build has seen it
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
// In the order of their first coming. `at` (a text's number + 1) lets gr_report_count find a text at once.
typedef struct GrCountedVec {
    GrCounted *data;
    size_t len, cap;
    Map at;
} GrCountedVec;

// Accesses of one kernel (NULL: of device functions, whose callers are not known) that the engine left alone.
typedef struct GrLeftAlone {
    const char *kernel;
    const GrSiteInfo *first;
    uint64_t count;
} GrLeftAlone;

typedef struct GrReport {
    Arena arena;
    // What the engines of this build say of findings (gr_engine_class, gr_engine_decoder).
    const GrClass *(*find_class)(uint32_t number);          // NULL: no class is known
    const GrDecoder *(*find_decoder)(const GrAreaTag *tag); // NULL: no area is understood
    // What was run, set by the caller before gr_report_build or gr_report_add.
    const char *engine, *evidence, *device, *reproduce;
    const char *paths;  // of --path-map (base/path_map.h): files are elsewhere than where they were compiled
    const char *folder; // text: source files below it are named relative to it; NULL for none
    // What the user did not want checked: the option that says so, or NULL. Callbacks NULL: there is no such option.
    const char *(*excludes_kernel)(const void *user, const char *kernel);
    const char *(*excludes_file)(const void *user, const char *file);
    const void *excludes_user;
    const char *sample; // --sample; "": every access is watched
    // The file of --coverage, to which the run is added (NULL: none), and what it says of this run's accesses.
    struct {
        const char *path, *name; // name: as the user calls it
        uint64_t runs, watched, accesses;
        uint64_t conflicts,
            met; // pairs of accesses that touched the same bytes; those that were seen to overlap
    } so_far;
    uint64_t aimed_at; // accesses at which the schedule made threads wait for others
    const char *aim;   // what the schedule was told to bring together (aim/aim.h); NULL: nothing
    uint64_t seed;
    uint64_t max_reports; // list at most so many races; 0: all
    uint64_t replays;     // that looked for other sides
    // `gpurace selftest`: the race that was planted. It is no race of the report.
    struct {
        bool wanted, missed; // missed: nothing says that a race of the program would be found
        const char *text;    // what became of it
    } selftest;
    bool poisoned;       // --poison: before each value another one was stored, with the lowest bit turned
    const char *drawing; // SVG without scripts, which a page of HTML shows below its races; NULL: none
    const char *tool;    // that found all this, and its version
    struct GrSuppressions *suppressions; // suppress.h; NULL: there are none
    struct GrSuppressions *bundled;      // the rules that come with gpurace; NULL: they are not wanted
    // In the source (suppress_comment.c); the report's own; NULL: there are none.
    struct GrSuppressions *comments;
    bool owns_rules; // gr_report_free frees both
    // Of two engines: causality, the second, judges the races of the first. Names NULL: only one engine ran.
    struct GrSecondOpinion {
        const char *engine, *evidence;
    } first, causal;
    GrSources *sources; // of excerpts
    // How it looks as text. All zero: plain, in full, and lines are as long as they are.
    struct {
        bool color, quiet;        // quiet: a line for each race
        bool verbose, full_names; // all that is known of each race; signatures of functions
        unsigned width;           // columns; 0: lines are not broken
    } look;
    // What was found.
    GrVerdict verdict;
    GrRaceVec races;
    VEC(GrCause) causes;
    VEC(GrPossibleRace) possible; // each has a reason of the same text
    GrRaceVec misuses;            // by kind and place
    Map misuse_at;                // number + 1, until they are sorted
    GrRaceVec hidden;  // races and misuses (those have no space) that a rule hides; no part of the verdict
    uint64_t unlisted; // races that a report which was read had counted only (--max-reports)
    VEC(const GrRunOf *) runs; // of a merged report: by seed, then id. Empty: the report is of one run
    const char *content;       // of a report that was read and is of one run: what its GrRunOf.id would be
    struct {
        const char *name;            // of the file of --baseline, as the user calls it; NULL: there is none
        uint64_t known, fresh, gone; // races and misuses: in both; here only; there only
        struct {
            uint64_t known, fresh, gone; // all of whose races are
        } causes;
    } baseline;
    VEC(GrClass) classes; // of a report that was read: their numbers are its own (GR_CLASS_READ)
    // The coverage: of gr_report_build, or of a caller that knows better.
    bool ran;   // a program was run, and should have used CUDA
    bool going; // it still runs: this is what was found so far
    VEC(GrKernelCoverage) kernels;
    uint64_t modules; // that were loaded, by all processes
    uint64_t modules_checked, modules_unchecked, launches_checked, launches_unchecked;
    // Of the latter, those of kernels that are checked: left out by --only-launches, or while checking was stopped.
    uint64_t launches_left_out, launches_stopped;
    uint64_t sites[GR_SITE_STATUS_COUNT];
    VEC(GrFunctionCoverage) functions;
    VEC(GrLeftAlone) not_understood; // only what may have run
    uint64_t watched;                // accesses that are checked, in functions that may have run
    GrCountedVec absent, notes, remarks, faults;
    // What the engine does not look for, though the program has such work, and in parentheses which engine.
    GrCountedVec blind;
    // Internal checks of causality that failed: the verdict is inconclusive, whatever was found.
    GrCountedVec doubts;
    GrCountedVec reasons; // why the verdict is not clean (when there are no races: inconclusive)
    bool is_void; // of these, one fails a run by itself: nothing was left to check, or a kernel was stopped
    VEC(uint64_t) faulted;   // numbers of launches that a fault ended
    VEC(Conflict) conflicts; // that this run noted, some of them several times
    uint64_t processes, dropped, damaged, unconfirmed;
    uint64_t unended;    // processes that did not end in an orderly way
    uint64_t unfinished; // launches that had not finished when the program ended
} GrReport;

enum { GR_CLASS_READ = 1 << 24 }; // the first number of classes that a report brought with it

void gr_report_init(GrReport *r);
void gr_report_free(GrReport *r);

// Adds a reason that only the launcher knows ("the program was killed by signal 11"), before gr_report_build.
gr_status gr_report_reason(GrReport *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

// Adds a reason of which the places are known. All is copied.
gr_status gr_report_possible(GrReport *r, const GrPossible *p);

// Adds something worth saying that takes nothing away from the verdict.
gr_status gr_report_remark(GrReport *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

// Adds what the engine does not look for here, and in parentheses which engine.
gr_status gr_report_blind(GrReport *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

// The report of a run: reads everything out of `view` and decides the verdict.
gr_status gr_report_build(GrReport *r, const GrResultsView *view, gr_error *err);

// The report of a command that runs no process: what it found, one finding after the other; then, with the coverage
// filled in, the verdict. The finding is copied; what it points to must live as long as the report, for example in its
// arena. GR_ERR_ARGUMENT: its class is not known.
gr_status gr_report_add(GrReport *r, const GrFinding *f, gr_error *err);
gr_status gr_report_finish(GrReport *r, gr_error *err);

// The causes of the report's races, in the order in which their first ones stand there. In `arena`; NULL: out of
// memory.
const GrCauseRaces *gr_report_causes(const GrReport *r, Arena *arena, size_t *n);

// What it is called: "read-write race", "update without an atomic".
const char *gr_cause_name(const GrReport *r, const GrCauseRaces *c);

// Both sides of a race and the order that was missing, in one sentence. Nothing when not both are known.
void gr_race_sentence(const GrReport *r, const GrRace *race, StrBuf *out);

// Both list at most max_reports races, and if that is not 0 about 5 MB of them; the others are counted.
void gr_report_text(const GrReport *r, StrBuf *out);
gr_status gr_report_json(const GrReport *r, StrBuf *out, gr_error *err);

// A line for each race and misuse, and a verdict that is races or inconclusive, for when the full report failed: `why`
// ("killed by signal 11"). Needs no memory. False when `out` cannot be written.
bool gr_report_brief(const GrReport *r, const char *why, FILE *out);

// The verdict and how many races there are, in a line without its end: "verdict: races (3)".
void gr_report_verdict(const GrReport *r, StrBuf *out);
// The verdict in words: "3 races: 1 new, 2 known".
void gr_report_summary(const GrReport *r, StrBuf *out);

const char *gr_verdict_name(GrVerdict v);
// What a class is called ("lost update") and what it means; never NULL.
const GrClass *gr_report_class(const GrReport *r, uint32_t number);

// The demangled name of a kernel or function, without template arguments and parameters, for a line of text; of Numba's
// the name that the function has in Python.
const char *gr_short_name(const char *name, Arena *arena);

// The demangled name of a kernel or function without parameters and without the type that it returns; NULL: out of
// memory.
const char *gr_plain_name(const char *name, Arena *arena);

// The name of a variable, demangled, without the function or the namespace that it is in.
const char *gr_variable_name(const char *name, Arena *arena);

// Names like gr_short_name's, each with what tells it from its equals among `names`. NULL: out of memory.
const char *const *gr_telling_names(const char *const *names, size_t n, Arena *arena);

// Appends `size` little endian bytes as 0x…, as an unsigned number and, where they make a plausible one, as a float.
void gr_value_text(const uint8_t *bytes, uint32_t size, StrBuf *out);

#endif
