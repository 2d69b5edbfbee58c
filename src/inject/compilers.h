// SPDX-License-Identifier: Apache-2.0
// compilers — interposes the just-in-time compilers of NVIDIA's toolkit, which hold the PTX of their machine code.
//
//     program ──▶ wrapper (exported under the compiler's own name) ──▶ handler ──▶ real function of this row
//
// A program gets at a wrapper by linking (our library comes first) and by dlsym and dlvsym (dl.c). A handler asks the
// compiler for the PTX, or keeps the PTX that went in, and notes whose machine code it is (machine.h). The program gets
// what the compiler answers, unchanged. No session is needed: a program may compile before its first call of the
// driver.
#ifndef GR_INJECT_COMPILERS_H
#define GR_INJECT_COMPILERS_H

#include "inject/hooks.h"

#include <stdint.h>

typedef struct GrCompiler {
    const char *symbol;
    GrFn wrapper;  // that dlsym gives
    GrFn exported; // the one that programs are linked with
    GrFn real;     // set once; NULL until it is known
} GrCompiler;

// What dlsym shall return for `symbol`, which is at `real`: its wrapper; NULL: `real` itself.
void *gr_compiler_wrapper(const char *symbol, void *real);

// Another function of the library of a row's real function; NULL: none has that name, plain or of the row's version.
GrFn gr_compiler_function(const GrCompiler *row, const char *name);

// The program was started by `gpurace run`.
bool gr_compilers_are_watched(void);

#define COMPILER(library, symbol, handler, params, args)                                                     \
    int gr_on_##handler(const GrCompiler *row, int(*real) params, GR_PARAMS params);
#define GR_PARAMS(...) __VA_ARGS__
#include "inject/compilers.def"
#undef COMPILER

#endif
