// SPDX-License-Identifier: Apache-2.0
// coverage — which accesses of a program were watched so far, over many runs: the file of --coverage.
//
//     gpurace coverage 1
//     runs 17
//     function 9f3c0e5d1a2b4c6d kernel 12 17 _Z6matmulPf      of 17 runs, 12 launched it; the last to load it was
//                                                             number 17
//     3 2 1 load 4 17:9 /home/me/matmul.cu                    its 3rd access: chosen in 2 runs, watched in 1; what, and
//                                                             where
//     other 2 atomic 4 16:9 /home/me/matmul.cu                no access that can be watched, but a side of a conflict
//     conflict 9f3c0e5d1a2b4c6d:2 9f3c0e5d1a2b4c6d:3 likely open wf:3:1.0.4 w-:0:1.7.0
//     end 1 1                                                 so many accesses (the others apart) and conflicts; what
//                                                             is cut off has no end
//
// A conflict (findings/conflict.h) is of two accesses, `likely` or `ordered`, `open` or `met`. For each side: whether
// it waits (w), came first (f), in how many runs it was aimed at, and launch, block and warp where it was seen.
//
// A function is named by its name and its code (passes/sample.h): what was watched of it counts as long as its code is
// the same, whatever happens around it. `device` instead of `kernel`: a function that kernels call. Chosen is what was
// instrumented; watched, what was in a kernel that was launched besides. Several runs may update one file at a time.
// Each takes a lock on the file, reads it, adds to it, writes it anew beside it and renames that. So a reader never
// sees half of it. A file that is not understood is an error and stays as it is.
#ifndef GR_COVERAGE_COVERAGE_H
#define GR_COVERAGE_COVERAGE_H

#include "base/arena.h"
#include "base/map.h"
#include "base/status.h"
#include "base/str.h"
#include "base/vec.h"
#include "findings/conflict.h"

typedef struct GrCoveredSite {
    uint32_t nth; // among the function's, from 1
    uint32_t chosen, watched;
    uint32_t size, line, col;
    const char *kind, *file;      // "store"; NULL: not known
    bool chosen_now, watched_now; // in the run that is being added; not in the file
} GrCoveredSite;

typedef struct GrCoveredFunction {
    uint64_t id;
    const char *name;
    bool is_kernel;
    uint64_t launched,
        last; // runs that launched it (or a kernel that may call it); the last run that loaded it
    VEC(GrCoveredSite) sites;  // by number
    VEC(GrCoveredSite) others; // sides of conflicts that are none of these: where they are, and no more
    bool launched_now;
} GrCoveredFunction;

typedef struct GrCoverage {
    Arena arena;
    uint64_t runs;
    VEC(GrCoveredFunction *) functions; // in the order in which they were first seen
    Map by_id;
    VEC(Conflict) conflicts; // by their first two numbers none is twice
} GrCoverage;

void gr_coverage_init(GrCoverage *c);
void gr_coverage_free(GrCoverage *c);

// What the file says; nothing when there is none, or an empty one. `c` is initialized and empty.
gr_status gr_coverage_read(const char *path, GrCoverage *c, gr_error *err);
gr_status gr_coverage_parse(const char *text, size_t len, const char *path, GrCoverage *c, gr_error *err);
void gr_coverage_print(const GrCoverage *c, StrBuf *out);

// Adds one run to the file, under a lock: `add` gets the file's contents, with `runs` already one more.
gr_status gr_coverage_update(const char *path, gr_status (*add)(void *user, GrCoverage *c, gr_error *err),
                             void *user, gr_error *err);

// Whether the function's code has changed since, as far as can be told: a later run loaded another one of its name.
bool gr_coverage_outdated(const GrCoverage *c, const GrCoveredFunction *f);

// NULL: not there; with `name` it is added, and NULL means that memory is out.
GrCoveredFunction *gr_coverage_function(GrCoverage *c, uint64_t id, const char *name);
GrCoveredSite *gr_coverage_site(const GrCoveredFunction *f, uint32_t nth);
// The function's site `nth`, added if need be. Pointers to the function's other sites are stale then.
GrCoveredSite *gr_coverage_add_site(GrCoveredFunction *f, uint32_t nth);
// Site `nth` among the function's `others`.
GrCoveredSite *gr_coverage_other(const GrCoveredFunction *f, uint32_t nth);

#endif
