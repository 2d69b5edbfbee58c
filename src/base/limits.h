// SPDX-License-Identifier: Apache-2.0
// limits — what the system lets a process have.
#ifndef GR_BASE_LIMITS_H
#define GR_BASE_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

// Whether this process may write to a file up to byte `end` (ulimit -f). A write beyond sends SIGXFSZ, which ends the
// program. So gpurace calls this before it writes inside a program. False sets errno to EFBIG.
bool gr_file_may_grow(uint64_t end);

// What to do about an errno that a limit has caused: " (…)", or "".
const char *gr_limit_advice(int error);

#endif
