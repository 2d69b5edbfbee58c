// SPDX-License-Identifier: Apache-2.0
// build — what the parts that make a report of a results file share: build.c reads the records, build_races.c says what
// raced, build_coverage.c what ran and was checked, planted.c what became of the race of `gpurace selftest`.
#ifndef GR_REPORT_BUILD_H
#define GR_REPORT_BUILD_H

#include "base/map.h"
#include "report/host_stacks.h"

typedef struct KernelInfo {
    uint64_t process, index, module, done; // done: launches that did not fail
    const char *name;
} KernelInfo;

typedef struct LaunchLog {
    uint64_t process, first, count;
    const GrLogged *launches;
} LaunchLog;

// The launches of a process from `launch` on stand in these ranges of NVTX.
typedef struct RangesFrom {
    uint64_t process, launch;
    const char *names; // "": in none
} RangesFrom;

typedef struct Process {
    uint64_t number, unfinished;
    bool ended;
} Process;

// A module with a planted race.
typedef struct Planted {
    uint64_t process, module;
    bool found;
} Planted;

typedef struct Build {
    GrReport *report;
    const GrResultsView *view;
    VEC(GrModuleInfo) modules;
    VEC(KernelInfo) kernels;
    Map module_at, kernel_at; // process and number -> 1 + index; kernel_at: by the number that logs name
    Map coverage_at; // of a kernel's name, module and whether it is checked -> 1 + index in the report's kernels
    Map launched;    // what kernels ran: gr_build_launched's keys
    Map not_understood_at; // of a kernel's name and a status -> 1 + index in the report's not_understood
    VEC(LaunchLog) logs;
    VEC(RangesFrom) ranges; // as they were written
    VEC(Process) processes;
    VEC(Planted) planted;
    const char *not_planted; // why; NULL: nothing failed
    GrHostStacks stacks;
    bool nomem;
} Build;

static inline uint64_t gr_build_key(uint64_t process, uint64_t number) {
    uint64_t of[2] = {process, number};
    return gr_hash_bytes(of, sizeof of);
}

// The module of that number in that process; NULL: it was not seen.
static inline const GrModuleInfo *gr_build_module(const Build *b, uint64_t process, uint64_t number) {
    size_t at = (size_t)gr_map_get_u64(&b->module_at, gr_build_key(process, number));
    return at ? &b->modules.data[at - 1] : NULL;
}

// Says from where the program asked for what stands in the finding. False: out of memory.
bool gr_build_stacks(Build *b, uint64_t process, GrFinding *f);

// Adds what raced to the report: of areas and of records (build_races.c).
gr_status gr_build_races(Build *b, gr_error *err);

// build_coverage.c
void gr_build_launched(Build *b, const KernelInfo *k); // it ran
GrKernelCoverage *gr_build_kernel(Build *b, const char *name, const char *module, const char *unchecked);
void gr_build_coverage(Build *b);

// planted.c
void gr_build_take_planted(Build *b, const GrRecord *rec);
// NULL: the module is the program's.
Planted *gr_build_planted(const Build *b, uint64_t process, uint64_t module);
void gr_build_selftest(Build *b); // says what became of the race, once all is read

#endif
