// SPDX-License-Identifier: Apache-2.0
// spot — where the user meets one side of a race.
#ifndef GR_REPORT_SPOT_H
#define GR_REPORT_SPOT_H

#include "report/report.h"

typedef struct GrSpot {
    const char *kind; // of what has no place in a kernel: "copy", "host read"; else NULL
    const char *file, *module;
    uint32_t line, ptx_line;
} GrSpot;

int gr_compare_spots(const GrSpot *a, const GrSpot *b);

// The spots of both sides of `pair`, the lower one first; where only one side is known, twice that.
void gr_race_spots(const GrRace *pair, GrSpot spots[2]);

#endif
