// SPDX-License-Identifier: Apache-2.0
#include "inject/chosen.h"

#include "engines/core/selection.h"

static GrLaunchRanges only; // of --only-launches

gr_status gr_chosen_begin(const GrOptions *o, gr_error *err) {
    return gr_launch_ranges_read(o->only_launches, &only, err);
}

GrChoice gr_chosen(uint64_t launch) {
    return gr_launch_ranges_have(&only, launch) ? GR_CHOSEN : GR_NOT_CHOSEN;
}
