// SPDX-License-Identifier: Apache-2.0
// rewrite — one PTX file through an engine's pass, as `gpurace run` does it when a program loads the module.
#ifndef GR_CLI_REWRITE_H
#define GR_CLI_REWRITE_H

#include "base/status.h"
#include "options/options.h"

typedef struct GrRewriting {
    GrOptions *options; // engine, seed and so on; an engine is chosen
    const char *path;   // of the PTX
    const char *output; // "": standard output
    bool quiet;         // says nothing of the sites on standard error
    bool linked;        // the result will be linked with others: what is inserted gets names of its own
    // What comes out: with how many registers every function can be compiled on its own; 0: they are not meant to be.
    unsigned link_registers;
} GrRewriting;

// GR_ERR_ARGUMENT: wrong options; else the file is wrong, or reading or writing failed. `output` is not left then.
gr_status gr_rewrite_file(GrRewriting *r, gr_error *err);

#endif
