// SPDX-License-Identifier: Apache-2.0
// tree — the processes that descend from this one. A subreaper (prctl PR_SET_CHILD_SUBREAPER) adopts descendants whose
// parents end: so it can wait for what a program leaves running (daemons, setsid, a double fork), and name it.
#ifndef GR_CLI_RUN_TREE_H
#define GR_CLI_RUN_TREE_H

#include "base/vec.h"

#include <stdbool.h>
#include <sys/types.h>

typedef struct GrTreeProcess {
    pid_t pid, parent;
    char program[256]; // its file, or where that cannot be read the kernel's short name of it
} GrTreeProcess;

typedef VEC(GrTreeProcess) GrTree;

// The descendants of this process that run, without `before` and theirs: children that this process had from the start.
// `before` may be NULL. Empty where there is no /proc.
void gr_tree_read(const GrTree *before, GrTree *out);
void gr_tree_free(GrTree *t);

#endif
