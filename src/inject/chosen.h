// SPDX-License-Identifier: Apache-2.0
// chosen — which launches are checked, by their numbers: those of --only-launches that are launched in a range of
// --only-ranges (nvtx.h) while checking is not stopped (gpurace/gpurace.h, --toggle-signal).
#ifndef GR_INJECT_CHOSEN_H
#define GR_INJECT_CHOSEN_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct GrOptions;

typedef enum GrChoice {
    GR_CHOSEN,
    GR_NOT_CHOSEN, // by --only-launches, --only-ranges
    GR_STOPPED
} GrChoice;

gr_status gr_chosen_begin(const struct GrOptions *o, gr_error *err);
// With the session's lock: the calling thread's launch gets this number now, and checking is stopped or not. A number
// may come again.
void gr_chosen_reserved(uint64_t launch, bool stopped);
// Any thread, any lock.
GrChoice gr_chosen(uint64_t launch);

#endif
