// SPDX-License-Identifier: Apache-2.0
// tool — looks for nvcc and clang, starts them, and waits for them.
#ifndef GR_ENGINES_VERIFIER_HOST_TOOL_H
#define GR_ENGINES_VERIFIER_HOST_TOOL_H

#include "base/status.h"
#include "base/str.h"
#include "base/vec.h"

typedef struct ToolWords {
    VEC(const char *) words; // not owned
    const char *folder;      // where it runs; NULL: here
} ToolWords;

// The path of nvcc: in $CUDA_HOME, on PATH, in /usr/local/cuda, or the one of this build; NULL: there is none.
const char *gr_tool_nvcc(Arena *a);
// The path of clang 19's C++ compiler; NULL: there is none.
const char *gr_tool_clang(Arena *a);
// Runs it and waits. *exit_status: 128 + N if signal N ended it. Its output goes where ours goes, or nowhere.
gr_status gr_tool_run(const ToolWords *w, bool quiet, int *exit_status, gr_error *err);
// The words as one would type them.
void gr_tool_print(const ToolWords *w, StrBuf *out);

#endif
