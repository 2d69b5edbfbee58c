// SPDX-License-Identifier: Apache-2.0
// process — the processes of the system, as /proc has them, and where the program of this one is.
#ifndef GR_BASE_PROCESS_H
#define GR_BASE_PROCESS_H

#include "base/status.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct GrProcess {
    pid_t pid, parent, session;
    bool ended;     // nobody has taken its status yet
    uint64_t pages; // of memory that it has
    char name[64];  // the kernel's short one
} GrProcess;

// Allocates nothing. False: it is gone, or there is no /proc.
bool gr_process_read(pid_t pid, GrProcess *out);
// Calls `visit` for each.
void gr_processes(void (*visit)(void *user, const GrProcess *p), void *user);

// Where the running program is.
gr_status gr_process_self(char path[PATH_MAX], gr_error *err);

#endif
