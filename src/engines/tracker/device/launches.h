// SPDX-License-Identifier: Apache-2.0
// launches — which launches and copies may run beside this thread's launch, which of them come before it, and where the
// states of their threads are. The host writes this (engines/tracker/launches.h); nothing is known if
// GrTrackerControl.launches is 0. Device code only.
#ifndef GR_ENGINES_TRACKER_DEVICE_LAUNCHES_H
#define GR_ENGINES_TRACKER_DEVICE_LAUNCHES_H

#include "engines/tracker/device/record.h"

// A GPU's driver tells nothing of launches (engines/tracker/launches.h), so there the code that compares them is left
// out: it would take registers.
GR_INLINE GR_GLOBAL GrLaunches *gr_launches(void) {
#ifdef GR_SEQUENTIAL
    return (GR_GLOBAL GrLaunches *)GR_CONTROL.launches;
#else
    return 0;
#endif
}

// The state of that launch; 0: not known, or no more.
GR_INLINE GR_GLOBAL GrLaunchState *gr_launch_state(uint32_t number) {
    GR_GLOBAL GrLaunches *all = gr_launches();
    if (!all)
        return 0;
    GR_GLOBAL GrLaunchState *l = &all->of[number & (GR_LAUNCHES - 1)];
    return (uint32_t)gr_load64(&l->number) == number ? l : 0;
}

// Where the states of the launch's threads and blocks begin. Launches that run at the same time have places of their
// own, as long as there are enough: multiples of the golden ratio lie far apart.
GR_INLINE uint32_t gr_places_of(uint32_t launch) {
    GR_GLOBAL GrLaunchState *l = gr_launch_state(launch);
#ifdef GR_SEQUENTIAL
    return l ? gr_load32(&l->places) : 0;
#else
    return l ? gr_load32(&l->places) : launch * GR_PLACES;
#endif
}

GR_INLINE GR_GLOBAL GrThreadState *gr_thread_place(uint32_t places, uint32_t thread) {
    uint32_t n = ((places >> 12) + thread) & (GR_THREADS - 1);
    return (GR_GLOBAL GrThreadState *)(GR_CONTROL.threads + gr_group_offset(n, sizeof(GrThreadState)));
}

GR_INLINE GR_GLOBAL GrBlockState *gr_block_place(uint32_t places, uint32_t block) {
    GR_GLOBAL GrBlockState *all = (GR_GLOBAL GrBlockState *)GR_CONTROL.blocks;
    return &all[((places >> 15) + block) & (GR_BLOCKS - 1)];
}

// What the launch knows of others; 0: not known.
GR_INLINE GR_GLOBAL GrView *gr_view(uint32_t number) {
    GR_GLOBAL GrLaunches *all = gr_launches();
    GR_GLOBAL GrView *v = &all->view[number & (GR_VIEWS - 1)];
    return (uint32_t)gr_load64(&v->number) == number ? v : 0;
}

// How another launch stands to this one.
typedef enum Stands { STANDS_BEFORE, STANDS_APART, STANDS_UNKNOWN } Stands;

GR_INLINE Stands gr_stands(uint32_t mine, uint32_t number, GR_GLOBAL GrLaunchState **of) {
    GR_GLOBAL GrLaunches *all = gr_launches();
    *of = 0;
    if ((int32_t)(number - (uint32_t)gr_load64(&all->settled)) <= 0)
        return STANDS_BEFORE;
    GR_GLOBAL GrView *v = gr_view(mine);
    *of = gr_launch_state(number);
    if (v && (int32_t)(number - (uint32_t)gr_load64(&v->floor)) <= 0)
        return STANDS_BEFORE;
    if (!v || !*of)
        return STANDS_UNKNOWN;
    uint32_t stream = gr_load32(&(*of)->stream);
    uint64_t known = gr_load64(&v->known[stream & (GR_STREAMS - 1)]);
    if ((uint32_t)(known >> 32) != stream)
        return STANDS_UNKNOWN;
    return (uint32_t)known >= gr_load32(&(*of)->turn) ? STANDS_BEFORE : STANDS_APART;
}

GR_INLINE uint32_t gr_threads_of(GR_GLOBAL GrLaunchState *l) {
    return gr_load32(&l->block[0]) * gr_load32(&l->block[1]) * gr_load32(&l->block[2]);
}

// The byte is in the box.
GR_INLINE int gr_in_box(GR_GLOBAL GrCopyState *c, uint64_t at) {
    uint64_t from = gr_load64(&c->at);
    if (at < from || at >= gr_load64(&c->end))
        return 0;
    uint64_t offset = at - from, slice = gr_load64(&c->slice), pitch = gr_load64(&c->pitch);
    if (slice && offset / slice < gr_load64(&c->depth))
        offset %= slice;
    if (pitch && offset / pitch < gr_load64(&c->height))
        offset %= pitch;
    return offset < gr_load64(&c->width);
}

#endif
