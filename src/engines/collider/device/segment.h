// SPDX-License-Identifier: Apache-2.0
// segment — what a thread keeps of an access, in its local memory (engines/collider/pass/collider_segment.h).
#ifndef GR_DEVICE_SEGMENT_H
#define GR_DEVICE_SEGMENT_H

#include "engines/collider/device/record.h"

enum { GR_SEGMENT_KEEPS = 8 }; // words; a power of two

// A word of an access.
typedef struct GrKept {
    uint64_t address;    // generic; 0: nothing is kept here
    uint32_t now;        // what memory has there
    uint32_t turned;     // 1: a late store, which will turn the lowest bit of `now`
    uint32_t site, meta; // as __gr_report wants them
    uint64_t unused;
} GrKept;

#endif
