// SPDX-License-Identifier: Apache-2.0
// host — from .cu files to what their host code says of launches: nvcc with clang as host compiler, then LLVM IR. Nothing of the user's
// program is executed.
#ifndef GR_VERIFIER_HOST_H
#define GR_VERIFIER_HOST_H

#include "engines/verifier/host/launch.h"

#include <stdio.h>

typedef struct GrHostInput {
    const char *const *files; // .cu (or .cc, .cpp) of one program; if more than one has a main: of several
    size_t n_files;
    const char *const *words; // the user's words for nvcc
    size_t n_words;
    unsigned classes;  // bit n: facts of class n (GrFactClass)
    bool kernels_only; // PTX is wanted, and nothing of launches
} GrHostInput;
#define GR_FACTS_ALL 0x3eu

typedef struct GrHostPtx {
    const char *file; // the source
    char *text;       // terminated
    size_t len;
} GrHostPtx;

// PTX of the files, in their order; of -O0 shape.
typedef struct GrHostCode {
    VEC(GrHostPtx) ptx;
} GrHostCode;
void gr_host_code_free(GrHostCode *c);

// Compiles the files and looks at what the host code says. *out and *code are to be freed in every case (gr_host_free, gr_host_code_free).
// GR_ERR_NOT_FOUND: no nvcc. GR_ERR_ARGUMENT: nvcc refused a file; its own words went to stderr. Without clang or LLVM there is PTX, no launch,
// and out->reasons says so.
gr_status gr_host_facts(GrTerms *t, const GrHostInput *in, GrHost *out, GrHostCode *code, gr_error *err);

// The part without nvcc: bitcode files. GR_ERR_UNSUPPORTED: this build has no LLVM.
gr_status gr_host_read(GrTerms *t, const char *const *bitcode, size_t n, unsigned classes, GrHost *out,
                       gr_error *err);

// For people and tests: each launch with what is known of it.
void gr_host_print(const GrHost *h, StrBuf *out);

#endif
