// SPDX-License-Identifier: Apache-2.0
// static — an engine that needs no run of a program (CAP_STATIC): it looks at files and hands over what it found. It
// needs neither <cuda.h> nor a process.
#ifndef GR_ENGINES_CORE_STATIC_H
#define GR_ENGINES_CORE_STATIC_H

#include "base/arena.h"
#include "findings/finding.h"

#include <stddef.h>

struct GrOptions; // options/options.h

typedef struct GrStaticInput {
    const char *const *files; // as the user names them, `n` of them
    size_t n;
    const char *const *words; // what stands behind `--`, the last one NULL; the engine says what it is for
    const struct GrOptions *options;
} GrStaticInput;

// Where the engine puts what it knows. Each function copies what it is given; what findings point to has to live in
// `arena`, which is the report's. GR_ERR_NOMEM: memory is out.
typedef struct GrStaticSink {
    Arena *arena;
    GrSink findings;
    void *user;
    gr_status (*kernel)(void *user, const char *name,
                        const char *file); // it was looked at, and nothing in it is open
    gr_status (*reason)(
        void *user,
        const char *text); // why there is no clean verdict: what could not be looked at or decided
    // A file could not be looked at: which, why, and what to do. It is a reason as well; the other files are looked at.
    gr_status (*unread)(void *user, const char *text);
    gr_status (*remark)(void *user, const char *text); // worth knowing
    // Tells what the program or a kernel uses, as bits (GrUse): the report names those in GrEngine.blind.
    gr_status (*uses)(void *user, unsigned bits);
    gr_status (*possible)(void *user, const GrPossible *p); // a reason of which the places are known
} GrStaticSink;

typedef struct GrStaticEngine {
    // A failure is one of the whole command: a compiler that is not there, for example.
    gr_status (*check)(const GrStaticInput *in, const GrStaticSink *to, gr_error *err);
} GrStaticEngine;

#endif
