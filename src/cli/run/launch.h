// SPDX-License-Identifier: Apache-2.0
// launch — starts the program under the injection and waits for its end.
#ifndef GR_CLI_RUN_LAUNCH_H
#define GR_CLI_RUN_LAUNCH_H

#include "base/status.h"
#include "base/str.h"
#include "cli/run/tree.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

// Where the parts of gpurace are: beside the command in the build folder, or under PREFIX/lib/gpurace.
typedef struct GrParts {
    char injection[PATH_MAX]; // libgpurace.so
    char driver[PATH_MAX];    // libcuda.so.1 of the CPU device; its libcudart.so.N are in the same folder
} GrParts;

gr_status gr_find_parts(GrParts *out, gr_error *err);

typedef struct GrLaunchPlan {
    char **argv; // argv[0] is also the path
    const char *path;
    const char *preload;            // for LD_PRELOAD, before what is there already
    const char *const *environment; // name, value, name, value, …, NULL
    const char *results;            // the results file, of which the program gets a descriptor
    uint64_t timeout_s;             // 0: none
    uint64_t wait_s;                // for what the program leaves running
    bool repeatable;                // switch off what makes host addresses vary
    bool replay;                    // standard input is `input`, what is printed is dropped
    int input;
    int toggle, tell; // signals to us: start or stop checking; report what was found so far. 0: there is none
    void (*report)(void *user); // writes that report; NULL: nobody may ask for one
    void *user;
    const char *progress; // the results file whose counts are shown meanwhile (progress.h); NULL: none
} GrLaunchPlan;

typedef struct GrEnding {
    int status;     // of exit, when signal is 0
    int signal;     // that killed it
    bool timed_out; // and we sent it
    GrTree left;    // what still runs
} GrEnding;

// Signals that we get meanwhile are passed on. One that asks for an end also ends the wait for what the program left
// running. `out` is to be freed by gr_tree_free(&out->left).
gr_status gr_launch(const GrLaunchPlan *plan, GrEnding *out, gr_error *err);

#endif
