// SPDX-License-Identifier: Apache-2.0
// sample — which accesses of a module are watched in this run, when the user does not want all of them (--sample).
//
// Modules arrive one by one, in an order that may vary. So the sites of each module are chosen apart from other
// modules: only by the seed, the module's own code and what earlier runs did. A site is named by its function (name and
// code, not where it stands in the module or the source) and by its number among the function's sites, so that it keeps
// its name when other code changes.
#ifndef GR_PASSES_SAMPLE_H
#define GR_PASSES_SAMPLE_H

#include "base/vec.h"
#include "ptx/ptx.h"
#include "ptx/site_status.h"

typedef struct SampleSite {
    uint64_t function; // gr_sample_function
    uint32_t nth;      // among the function's sites, from 1
} SampleSite;

typedef struct SampleSpec {
    enum { SAMPLE_ALL, SAMPLE_COUNT, SAMPLE_FRACTION, SAMPLE_LIST } kind;
    uint64_t amount;       // COUNT: sites of each module. FRACTION: billionths of them
    VEC(SampleSite) sites; // LIST: these, in order
} SampleSpec;

// "3" sites of each module, "5%" or "0.05" of them, or just "FUNCTION:NTH,…"; "": all. GR_ERR_ARGUMENT: it is wrong.
gr_status gr_sample_parse(const char *text, SampleSpec *out, gr_error *err);
void gr_sample_free(SampleSpec *s);

// Appends the site as LIST names it.
void gr_sample_name(SampleSite site, StrBuf *out);

// The function's name and code as a number.
uint64_t gr_sample_function(const PtxFunc *f);

typedef struct SampleChoice {
    const SampleSpec *spec;
    uint64_t seed;
    // Sites of a lower level are chosen before others, the seed deciding among equals. NULL: all are equal.
    uint64_t (*level)(const void *user, SampleSite site);
    const void *user;
} SampleChoice;

// Sets the status of GR_SITE_CHECKED sites that are not chosen to GR_SITE_SAMPLED_OUT. Copies of one line and kind
// (unrolled loops) come after the first ones of all other lines. If a fraction is no whole number of sites, the seed
// decides about the last one.
gr_status gr_sample_choose(const SampleChoice *c, const PtxModule *m, GrSiteStatus *status, gr_error *err);

#endif
