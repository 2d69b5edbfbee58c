// SPDX-License-Identifier: Apache-2.0
// toolkit — where nvcc and ptxas are: the user's, and never gpurace itself under such a name.
#ifndef GR_CLI_RUN_TOOLKIT_H
#define GR_CLI_RUN_TOOLKIT_H

#include "base/status.h"

#include <limits.h>

// Finds a program of the CUDA toolkit, "nvcc" or "ptxas", as an absolute path. In this order: what GPURACE_NVCC or
// GPURACE_PTXAS names; the ptxas that Triton brings, if Triton calls us; bin/ of $CUDA_HOME; beside the nvcc on the
// PATH; the PATH; /usr/local/cuda/bin; the toolkit that tools/setup.sh puts into the build folder. GR_ERR_NOT_FOUND:
// there is none, or the variable names none.
gr_status gr_toolkit_find(const char *name, char path[PATH_MAX], gr_error *err);

// Runs the program at `path` and waits for it; argv[0] is what it is called. Its standard error goes to the descriptor
// `errors`; -1: to ours. Returns its exit status, 128 + N when signal N killed it, 127 when it cannot be run.
int gr_toolkit_call(const char *path, char *const *argv, int errors);

#endif
