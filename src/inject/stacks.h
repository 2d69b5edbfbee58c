// SPDX-License-Identifier: Apache-2.0
// stacks — from where the program called CUDA: its call stack at each call that makes work or memory, by number. A
// stack is unwound and written to the results file (findings/stack_record.h) when it is first seen; later calls by the
// same way cost some hundred instructions.
#ifndef GR_INJECT_STACKS_H
#define GR_INJECT_STACKS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// Whether calls of this entry point stand in reports.
static inline __attribute__((always_inline)) bool gr_stack_is_wanted(const char *entry) {
    return !strncmp(entry, "cuMem", 5) || !strncmp(entry, "cuLaunch", 8) ||
           !strncmp(entry, "cuGraphLaunch", 13) || !strncmp(entry, "cuGraphAdd", 10) ||
           !strncmp(entry, "cuIpcOpen", 9) || !strncmp(entry, "cuExternalMemory", 16);
}

// The program called `entry`, whose wrapper has the frame at `frame` (__builtin_frame_address(0)). Without any lock: it
// may ask the dynamic linker, which may be waiting for a call of CUDA that a library makes as it is loaded.
void gr_stack_begin(const char *entry, const void *frame);
void gr_stack_end(void);

// The stack of the call that this thread is in; 0: none is known.
uint32_t gr_stack_here(void);

// How many were seen.
uint32_t gr_stacks(void);

#endif
