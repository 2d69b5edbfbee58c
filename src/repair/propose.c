// SPDX-License-Identifier: Apache-2.0
#include "repair/propose.h"

#include "findings/headline.h"
#include "repair/place.h"

#include <stdlib.h>
#include <string.h>

// How a pattern (patterns.def) looks for its edits. `text` is the pattern's.
typedef void Propose(GrPlaces *p, const char *text, const char *what);

static void WARP_BARRIER(GrPlaces *p, const char *text, const char *what) {
    gr_place_barrier(p, GR_VARIES_BY_WARP, text, what);
}
static void BLOCK_BARRIER(GrPlaces *p, const char *text, const char *what) {
    gr_place_barrier(p, GR_VARIES_NOT, text, what);
}

static void ANYWHERE(GrPlaces *p, const char *text, const char *what) {
    gr_place_barrier(p, GR_VARIES, text, what);
}
static void FENCES(GrPlaces *p, const char *text, const char *what) { gr_place_fences(p, text, what); }
static void SCOPES(GrPlaces *p, const char *text, const char *what) {
    gr_place_scopes(p, *text ? text : NULL, what);
}
static void HOST_WAIT(GrPlaces *p, const char *text, const char *what) { gr_place_host_wait(p, text, what); }
static void STREAM_WAIT(GrPlaces *p, const char *text, const char *what) {
    gr_place_stream_wait(p, text, what);
}

static const struct Pattern {
    Propose *propose;
    const char *order, *text, *what;
} patterns[] = {
#define PATTERN(how, order, text, what) {how, order, text, what},
#include "repair/patterns.def"
#undef PATTERN
};

// All proposals for one finding.
static unsigned propose_one(GrRepairs *r, const GrFinding *f, GrProposal out[GR_REPAIR_PROPOSALS]) {
    GrPlaces p = {.repairs = r, .found = f, .out = out};
    for (size_t k = 0; k < sizeof patterns / sizeof *patterns && f->order && f->n_accesses == 2; k++)
        if (!strncmp(f->order, patterns[k].order, strlen(patterns[k].order)))
            patterns[k].propose(&p, patterns[k].text, patterns[k].what);
    return p.n;
}

static bool has(const GrProposal *all, unsigned n, const GrProposal *p) {
    for (unsigned k = 0; k < n; k++)
        if (gr_proposal_same(&all[k], p))
            return true;
    return false;
}

unsigned gr_repair_propose(GrRepairs *r, const GrFinding *const *f, size_t n,
                           GrProposal out[GR_REPAIR_PROPOSALS]) {
    unsigned n_out = n ? propose_one(r, f[0], out) : 0;
    for (size_t k = 1; k < n && n_out; k++) {
        GrProposal own[GR_REPAIR_PROPOSALS];
        unsigned n_own = propose_one(r, f[k], own), kept = 0;
        for (unsigned i = 0; i < n_out; i++)
            if (has(own, n_own, &out[i]))
                out[kept++] = out[i];
        n_out = kept;
    }
    return n_out;
}
