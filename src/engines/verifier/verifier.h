// SPDX-License-Identifier: Apache-2.0
// verifier — what libgpurace-verifier.so offers to engine.c, which loads it. Only that library has Z3 and LLVM.
#ifndef GR_ENGINES_VERIFIER_VERIFIER_H
#define GR_ENGINES_VERIFIER_VERIFIER_H

#include "engines/core/static.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct GrVerifierSettings {
    bool wrap, replay, verbose, explain;
    bool facts[6]; // by GrFactClass
    unsigned jobs; // kernels side by side, 1 or more
    double solver_seconds;
    const char *cache;    // the folder of kept answers; NULL: none
    bool cache_wanted;    // the user named it: a failure with it is told
    const char *launches; // a file of recorded launches; NULL: launches are taken from host code
    const char *command;  // this gpurace, for replays
    const char *folder;   // of the library, and of what it needs beside it
} GrVerifierSettings;

#define GR_VERIFIER_LIBRARY "libgpurace-verifier.so"
// The function in the library has the name GR_VERIFIER_CHECK.
#define GR_VERIFIER_CHECK "gr_verifier_check"
typedef gr_status GrVerifierCheck(const GrStaticInput *in, const GrVerifierSettings *set,
                                  const GrStaticSink *to, gr_error *err);
__attribute__((visibility("default"))) GrVerifierCheck gr_verifier_check;

#endif
