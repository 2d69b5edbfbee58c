// SPDX-License-Identifier: Apache-2.0
// host — what the host code of .cu files says of launches: nvcc with clang as host compiler, then LLVM IR. Executes
// nothing of the user's program.
#ifndef GR_ENGINES_VERIFIER_HOST_HOST_H
#define GR_ENGINES_VERIFIER_HOST_HOST_H

#include "engines/verifier/host/launch.h"

#include <stdio.h>

// A file that is compiled, and how.
typedef struct GrHostSource {
    const char *file;   // a .cu, or one that nvcc's or clang's words make something to compile
    const char *folder; // where the compiler runs, and relative names in the words count from; NULL: here
    const char *const *words; // the user's words for nvcc; of a host_only source for the C or C++ compiler
    size_t n_words;
    bool host_only; // C or C++ without kernels: clang alone compiles it
    bool c;         // of these: C
} GrHostSource;

// Sources that are linked together, by their numbers.
typedef struct GrHostProgram {
    const size_t *sources;
    size_t n;
} GrHostProgram;

typedef struct GrHostInput {
    const GrHostSource *sources;
    size_t n_sources;
    // Which of them make a program. None: all are one; if several have a main, each of these with all that have none.
    const GrHostProgram *programs;
    size_t n_programs;
    unsigned classes;  // bit n: facts of class n (GrFactClass)
    bool kernels_only; // PTX is wanted, and nothing of launches
} GrHostInput;
#define GR_FACTS_ALL 0x3eu

typedef struct GrHostPtx {
    const char *file; // the source
    char *text;       // terminated
    size_t len;
    size_t source;    // its number
    bool relocatable; // -rdc=true: it is linked with other such code of its program
} GrHostPtx;

// PTX of the files, in their order; of -O0 shape.
typedef struct GrHostCode {
    VEC(GrHostPtx) ptx;
    VEC(GrHostProgram)
    programs; // by number (GrHostLaunch.program); the numbers of their sources live in the GrHost's arena
} GrHostCode;
void gr_host_code_free(GrHostCode *c);

// Compiles the files and looks at what the host code says. The caller frees *out and *code in every case (gr_host_free,
// gr_host_code_free). out->unread names a file that nvcc refuses (nvcc's own words went to stderr), and the others are
// looked at. GR_ERR_NOT_FOUND: no nvcc. Without clang or LLVM there is PTX, no launch, and out->reasons says so.
gr_status gr_host_facts(GrTerms *t, const GrHostInput *in, GrHost *out, GrHostCode *code, gr_error *err);

// Reads bitcode files, without nvcc, as program number out->program. GR_ERR_UNSUPPORTED: this build has no LLVM.
gr_status gr_host_read(GrTerms *t, const char *const *bitcode, size_t n, unsigned classes, GrHost *out,
                       gr_error *err);
gr_status gr_host_has_main(const char *bitcode, bool *has, gr_error *err);

#endif
