// SPDX-License-Identifier: Apache-2.0
// exec_carry — watches a program that the watched process starts, too. If its environment lacks what carries gpurace
// (`env -i`, clearenv, an LD_PRELOAD of the program's own), that is put back. If gpurace cannot get into it all the
// same, a note says so (findings/hidden.h), before it starts.
//
// Called between fork and exec: nothing here allocates, locks or looks up a symbol.
#ifndef GR_INJECT_EXEC_CARRY_H
#define GR_INJECT_EXEC_CARRY_H

#include <limits.h>

enum { GR_EXEC_VARIABLES = 4096 };

// Room for an environment, on the caller's stack.
typedef struct GrExecRoom {
    char *envp[GR_EXEC_VARIABLES];
    char preload[2 * PATH_MAX];
} GrExecRoom;

// The environment for the program at `path` (NULL: not known): `envp`, or `envp` with what it lacks, in `room`.
char *const *gr_exec_carry(const char *path, char *const envp[], GrExecRoom *room);

// Puts what is missing into this process's environment, for C functions that start a shell with it. May allocate.
void gr_exec_carry_own(void);

#endif
