// SPDX-License-Identifier: Apache-2.0
// brief — what calls of windows say (engines/collider/pass/collider_brief.h, device/brief.c).
#ifndef GR_ENGINES_COLLIDER_DEVICE_BRIEF_H
#define GR_ENGINES_COLLIDER_DEVICE_BRIEF_H

#include "engines/collider/device/record.h"

enum { GR_META_ELEMENTS = 25 }; // in what describes an access: log2 of how many elements it has

typedef enum GrBriefWait { GR_BRIEF_WINDOW, GR_BRIEF_STORED, GR_BRIEF_LATE, GR_BRIEF_POISON } GrBriefWait;

enum GrBriefFlags {
    GR_BRIEF_POISONS = 1,  // garbage may be stored
    GR_BRIEF_PERFORMS = 4, // the lane performs the store
    GR_BRIEF_ADDRESSES = 2 // elements that may be addresses get none
};

// How waits are drawn and made (engines/collider/pass/collider_time.h).
enum {
    GR_WAIT_STEP = 29, // of the generator: 5 modulo 8
    GR_WAIT_PARTS = 2,
    GR_WAIT_SHORT_NS = 32, // a shorter part is left out: to sleep takes as long
    GR_WAIT_LEAST_NS = 50
};

#endif
