// SPDX-License-Identifier: Apache-2.0
// control — the positive control of `gpurace selftest`: a kernel with one known race, and its repaired twin.
//
// Threads of two warps store to their own word and load that of a thread of the other warp, turn by turn. The twin has
// the two barriers that the racy kernel lacks. Both are PTX that every engine checks and every driver takes. They use
// memory of their module alone and take no parameters.
#ifndef GR_ENGINES_CORE_CONTROL_H
#define GR_ENGINES_CORE_CONTROL_H

#include <stdbool.h>

#define GR_CONTROL_RACY "gpurace_planted_race"
#define GR_CONTROL_TWIN "gpurace_planted_twin"

enum { GR_CONTROL_BLOCKS = 2, GR_CONTROL_THREADS = 64 };

extern const char gr_control_racy[], gr_control_twin[]; // PTX, a kernel each

// Whether it is one of the two kernels. They are checked whatever the options leave out.
bool gr_control_is(const char *kernel);

#endif
