// SPDX-License-Identifier: Apache-2.0
// attribution — a replay for `--attribute`: which sites are looked for, and the table in which windows are published (device/meet.h).
//
// The command puts the targets into the environment, each as the fingerprint of its module's PTX and a site: "9f3c….12". Without
// them nothing here does anything.
#ifndef GR_INJECT_ATTRIBUTION_H
#define GR_INJECT_ATTRIBUTION_H

#include "base/vec.h"
#include "device/record.h"
#include "inject/engine.h"

typedef struct GrAttribution {
    GrSession *session;
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

void gr_attribution_init(GrAttribution *a, GrSession *s);
void gr_attribution_free(GrAttribution *a);

// Behind the collider's rewriting: does its own, and makes room in the records for the module's targets.
gr_status gr_attribution_rewrite(GrAttribution *a, PtxModule *ptx, GrModule *m, const char *suffix,
                                 gr_error *err);

// The module is in the driver: fills what its control variable says of the table.
void gr_attribution_attach(GrAttribution *a, const GrModule *m, GrControl *control);

#endif
