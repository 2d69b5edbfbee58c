// SPDX-License-Identifier: Apache-2.0
// chosen — which launches are checked, by their numbers.
#ifndef GR_INJECT_CHOSEN_H
#define GR_INJECT_CHOSEN_H

#include "base/status.h"

#include <stdint.h>

struct GrOptions;

typedef enum GrChoice {
    GR_CHOSEN,
    GR_NOT_CHOSEN, // by --only-launches
} GrChoice;

gr_status gr_chosen_begin(const struct GrOptions *o, gr_error *err);
// Any thread, any lock.
GrChoice gr_chosen(uint64_t launch);

#endif
