// SPDX-License-Identifier: Apache-2.0
// aim_internal — what the two steps share: names of accesses from run to run (places.c), notes on them (conflicts.c).
#ifndef GR_AIM_AIM_INTERNAL_H
#define GR_AIM_AIM_INTERNAL_H

#include "aim/aim.h"
#include "base/map.h"
#include "base/vec.h"
#include "passes/sample.h"

typedef struct Place {
    SampleSite name;
    VmWish wish;
    uint64_t launch, block; // with STAYS: where
    uint32_t warp;
    uint32_t touched; // grains, up to a limit (conflicts.c)
} Place;

typedef struct Conflicts Conflicts;

struct Aim {
    AimOptions options;
    Map modules;        // the device's -> fingerprint
    Map known;          // fingerprint and number -> place
    Map names;          // -> place
    VEC(Place) places;  // from 1; 0 is none
    VEC(uint64_t) late; // kernels that begin late
    VEC(uint64_t) late_launches;
    VmWish otherwise;     // of accesses that no word names; NONE: there is no aim
    Conflicts *conflicts; // NULL: none are noted
};

// 0: not known, or memory is out.
uint32_t gr_aim_named(Aim *a, SampleSite s);
uint32_t gr_aim_known(const Aim *a, uint64_t fingerprint, uint32_t site);
uint32_t gr_aim_place(Aim *a, const PtxModule *m, uint32_t site);

// conflicts.c
Conflicts *gr_conflicts_new(Aim *a);
void gr_conflicts_free(Conflicts *c);
void gr_conflicts_listen(VmObserver *o); // whose user is the Aim
void gr_conflicts_launch(Conflicts *c, uint64_t launch, uint64_t stream, uint64_t blocking);
void gr_conflicts_waited(Conflicts *c, uint64_t stream, uint64_t legacy);
void gr_conflicts_met(Conflicts *c, uint32_t x, uint32_t y);

#endif
