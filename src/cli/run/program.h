// SPDX-License-Identifier: Apache-2.0
// program — finds the program that is to be run, and says what stands against running it, before it starts.
#ifndef GR_CLI_RUN_PROGRAM_H
#define GR_CLI_RUN_PROGRAM_H

#include "base/status.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

// Finds `name` as a shell would. GR_ERR_NOT_FOUND, or GR_ERR_ARGUMENT when it is there and cannot be executed.
gr_status gr_program_find(const char *name, char path[PATH_MAX], gr_error *err);

// Whether it makes sense on the device. The error's text says what is wrong and what to do. Warnings go to standard
// error. *runtimes is which of the CPU device's CUDA runtimes it may ask for: file names, the last one NULL.
gr_status gr_program_check(const char *path, bool on_gpu, const char *const **runtimes, gr_error *err);

// Whether the file at `path` is a program that uses CUDA, or one that may load or start it, or cannot be looked at.
// `alone`: it is linked with -static, and what it starts is watched: it counts itself alone.
bool gr_program_may_use_cuda(const char *path, bool alone);

// Why the injection may not have got into the program at `path`, as one sentence: for runs that used no CUDA. `size`
// bytes of `out` are enough at 400.
void gr_program_unreached(const char *path, char *out, size_t size);

#endif
