// SPDX-License-Identifier: Apache-2.0
// extent — tells a kernel of the allocations that its parameters point to (pass/quiet.h). Device code only; part of
// tracker.c.
#ifndef GR_ENGINES_TRACKER_DEVICE_EXTENT_H
#define GR_ENGINES_TRACKER_DEVICE_EXTENT_H

#include "engines/tracker/device/state.h"

GR_ENTRY uint64_t __gr_extent(uint64_t base) {
    GR_GLOBAL GrExtent *all = (GR_GLOBAL GrExtent *)GR_CONTROL.extents;
    uint32_t slot = gr_extent_slot(base);
    GR_GLOBAL GrLaunches *launches = gr_launches();
    if (launches && gr_load64(&launches->several)) // another launch may write what this one only reads
        return 0;
    GR_ROLLED
    for (uint32_t n = 0; all && n < GR_EXTENT_TRIES; n++) {
        GR_GLOBAL GrExtent *e = &all[(slot + n) % GR_EXTENTS];
        uint64_t begin = gr_fetch64(&e->begin), end = gr_fetch64(&e->end);
        if (!begin)
            return 0;
        if (begin == base)
            return end > base ? end - base : 0;
    }
    return 0;
}

GR_ENTRY void __gr_stray(uint64_t at) {
    if (GR_CONTROL.area)
        gr_store64(&((GR_GLOBAL GrTrackedHeader *)GR_CONTROL.area)->stray, at);
}

#endif
