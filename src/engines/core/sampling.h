// SPDX-License-Identifier: Apache-2.0
// sampling — what --sample and --coverage mean for each engine that can watch some accesses and leave others alone.
#ifndef GR_ENGINES_CORE_SAMPLING_H
#define GR_ENGINES_CORE_SAMPLING_H

#include "coverage/coverage.h"
#include "engines/core/engine.h"
#include "options/options.h"
#include "passes/sample.h"

typedef struct GrSampling {
    SampleSpec spec;
    GrCoverage coverage; // what earlier runs watched
    uint64_t seed;
    char *aim; // --aim
} GrSampling;

// Zeros are no sampling. To be freed even on failure. `session`: NULL where no program runs.
gr_status gr_sampling_init(GrSampling *g, GrSession *session, const GrOptions *o, gr_error *err);
void gr_sampling_free(GrSampling *g);

// Whether there is anything to choose.
static inline bool gr_sampling_chooses(const GrSampling *g) { return g->spec.kind != SAMPLE_ALL; }

// Sets the status of checked sites (GR_SITE_CHECKED) that are not chosen to GR_SITE_SAMPLED_OUT.
gr_status gr_sampling_choose(const GrSampling *g, const PtxModule *m, GrSiteStatus *status, gr_error *err);

#endif
