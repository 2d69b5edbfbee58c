// SPDX-License-Identifier: Apache-2.0
// attribution — a replay for `--attribute`: which sites are looked for, and the table in which windows are published
// (engines/collider/device/meet.h).
//
// The command puts the number of the replay and the targets into the environment, each as the fingerprint of its
// module's PTX and a site: "1 9f3c….12". Without them nothing here does anything. Windows that stay open longer meet
// more accesses, and change the execution more. So the first replay is like the first run. In the second one all
// windows of targets stay open for the longest delay after the second look, in the third one in 16 of them, and so on
// from the beginning. In both of these stores and atomic operations come late besides.
#ifndef GR_ENGINES_COLLIDER_ATTRIBUTION_H
#define GR_ENGINES_COLLIDER_ATTRIBUTION_H

#include "base/vec.h"
#include "engines/collider/device/record.h"
#include "engines/core/engine.h"

typedef struct GrAttribution {
    GrSession *session;
    uint32_t stretch_ns, stretch_mask; // as in GrMeetTable
    uint32_t late_ns;                  // as in MeetOptions
    VEC(struct GrTarget {
        uint64_t module;
        uint32_t site;
    })
    targets;
    VEC(struct GrTable {
        CUcontext context;
        CUdeviceptr at;
    })
    tables;
    bool failed; // said once
} GrAttribution;

// `longest`: the longest delay of the collider, in nanoseconds.
void gr_attribution_init(GrAttribution *a, GrSession *s, uint32_t longest);
void gr_attribution_free(GrAttribution *a);

// Runs after the collider's rewriting: adds its own code, and room in the records for the module's targets.
gr_status gr_attribution_rewrite(GrAttribution *a, PtxModule *ptx, GrModule *m, const char *suffix,
                                 gr_error *err);

// The module is in the driver: fills what its control variable says of the table.
void gr_attribution_attach(GrAttribution *a, const GrModule *m, GrControl *control);

#endif
