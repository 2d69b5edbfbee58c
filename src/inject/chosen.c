// SPDX-License-Identifier: Apache-2.0
#include "inject/chosen.h"

#include "engines/core/selection.h"

#include <pthread.h>

static GrLaunchRanges only;                              // of --only-launches
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // a leaf, of `pauses`
static GrLaunchRanges pauses;                            // launches while checking was stopped, in order

gr_status gr_chosen_begin(const GrOptions *o, gr_error *err) {
    return gr_launch_ranges_read(o->only_launches, &only, err);
}

void gr_chosen_reserved(uint64_t launch, bool stopped) {
    pthread_mutex_lock(&lock);
    struct GrLaunchRange *last = pauses.of.len ? &pauses.of.data[pauses.of.len - 1] : NULL;
    if (last && launch >= last->first && launch <= last->last) {
        last->last = stopped ? launch : launch - 1; // the driver had refused it
        pauses.of.len -= last->last < last->first;
    } else if (stopped && last && last->last + 1 == launch) {
        last->last = launch;
    } else if (stopped) {
        (void)gr_vec_push(&pauses.of, ((struct GrLaunchRange){launch, launch})); // else it is checked
    }
    pthread_mutex_unlock(&lock);
}

GrChoice gr_chosen(uint64_t launch) {
    pthread_mutex_lock(&lock);
    bool paused = pauses.of.len && gr_launch_ranges_have(&pauses, launch);
    pthread_mutex_unlock(&lock);
    return paused ? GR_STOPPED : gr_launch_ranges_have(&only, launch) ? GR_CHOSEN : GR_NOT_CHOSEN;
}
