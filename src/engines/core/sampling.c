// SPDX-License-Identifier: Apache-2.0
#include "engines/core/sampling.h"

#include "coverage/aims.h"
#include "engines/core/control.h"

#include <stdlib.h>
#include <string.h>

// How often it was chosen. In a kernel that no run has launched there is nothing to be watched: as far as is known,
// since runs see every launch but those of graphs. Such are chosen an eighth as often. Where the schedule makes threads
// wait, no thread waits without a window. So with every other seed those accesses come first.
static uint64_t level(const void *user, SampleSite site) {
    const GrSampling *g = user;
    if (g->seed % 2 && gr_aims_waits_at(g->aim, site.function, site.nth))
        return 0;
    const GrCoveredFunction *f = gr_map_get_u64(&g->coverage.by_id, site.function);
    const GrCoveredSite *s = f ? gr_coverage_site(f, site.nth) : NULL;
    uint64_t chosen = s ? s->chosen : 0;
    return 1 + (f && !f->launched ? 8 * (chosen + 1) : chosen);
}

gr_status gr_sampling_choose(const GrSampling *g, const PtxModule *m, GrSiteStatus *status, gr_error *err) {
    if (m->n_funcs == 1 && gr_control_is(m->funcs[0]->name))
        return GR_OK;
    return gr_sample_choose(&(SampleChoice){.spec = &g->spec, .seed = g->seed, .level = level, .user = g}, m,
                            status, err);
}

gr_status gr_sampling_init(GrSampling *g, GrSession *session, const GrOptions *o, gr_error *err) {
    gr_coverage_init(&g->coverage);
    g->seed = o->seed;
    g->aim = strdup(o->aim);
    GR_NEED(g->aim, err);
    gr_status st = gr_sample_parse(o->sample, &g->spec, err);
    if (st != GR_OK || !gr_sampling_chooses(g) || !o->coverage[0])
        return st;
    gr_error why = {0};
    char where[800];
    // The launcher has read it before: it was changed since.
    if (gr_coverage_read(o->coverage, &g->coverage, &why) != GR_OK && session)
        session->note(session, "the coverage file cannot be read", gr_error_text(&why, where, sizeof where));
    return GR_OK;
}

void gr_sampling_free(GrSampling *g) {
    gr_sample_free(&g->spec);
    gr_coverage_free(&g->coverage);
    free(g->aim);
}
