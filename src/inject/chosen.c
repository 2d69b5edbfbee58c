// SPDX-License-Identifier: Apache-2.0
#include "inject/chosen.h"

#include "engines/core/selection.h"
#include "inject/nvtx.h"

#include <pthread.h>

static GrLaunchRanges only;                              // of --only-launches
static const char *ranges = "";                          // of --only-ranges, in the session's options
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // a leaf, of what follows
static GrLaunchRanges pauses;                            // launches while checking was stopped, in order
static GrLaunchRanges strangers;                         // launches outside of `ranges`, in order

gr_status gr_chosen_begin(const GrOptions *o, gr_error *err) {
    ranges = o->only_ranges;
    return gr_launch_ranges_read(o->only_launches, &only, err);
}

// Puts the launch into the list, or takes it out: its number may be there from a launch that the driver refused.
static void put(GrLaunchRanges *list, uint64_t launch, bool is_in) {
    struct GrLaunchRange *last = list->of.len ? &list->of.data[list->of.len - 1] : NULL;
    if (last && launch >= last->first && launch <= last->last) {
        last->last = is_in ? launch : launch - 1;
        list->of.len -= last->last < last->first;
    } else if (is_in && last && last->last + 1 == launch) {
        last->last = launch;
    } else if (is_in) {
        (void)gr_vec_push(&list->of, ((struct GrLaunchRange){launch, launch})); // else it is checked
    }
}

void gr_chosen_reserved(uint64_t launch, bool stopped) {
    pthread_mutex_lock(&lock);
    put(&pauses, launch, stopped);
    put(&strangers, launch, *ranges && !gr_nvtx_is_in(ranges));
    pthread_mutex_unlock(&lock);
}

static bool has(const GrLaunchRanges *list, uint64_t launch) {
    return list->of.len && gr_launch_ranges_have(list, launch);
}

GrChoice gr_chosen(uint64_t launch) {
    pthread_mutex_lock(&lock);
    bool paused = has(&pauses, launch), stranger = has(&strangers, launch);
    pthread_mutex_unlock(&lock);
    return paused                                              ? GR_STOPPED
           : stranger || !gr_launch_ranges_have(&only, launch) ? GR_NOT_CHOSEN
                                                               : GR_CHOSEN;
}
