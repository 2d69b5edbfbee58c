// SPDX-License-Identifier: Apache-2.0
// segment — what a thread keeps of an access, in its local memory (engines/collider/pass/collider_segment.h).
#ifndef GR_ENGINES_COLLIDER_DEVICE_SEGMENT_H
#define GR_ENGINES_COLLIDER_DEVICE_SEGMENT_H

#include "engines/collider/device/record.h"

enum { GR_SEGMENT_KEEPS = 8 }; // words; a power of two

// What becomes of an entry: it is looked at; it is a late store, which will turn the lowest bit of `now`; or it is not
// looked at yet, because the thread may throw away what it loaded.
enum { GR_KEPT_WATCHED, GR_KEPT_LATE, GR_KEPT_UNUSED };

// A word of an access.
typedef struct GrKept {
    uint64_t address;    // generic; 0: nothing is kept here
    uint32_t now;        // what memory has there
    uint32_t state;      // GR_KEPT_...
    uint32_t site, meta; // as __gr_report wants them
    uint64_t unused;
} GrKept;

#endif
