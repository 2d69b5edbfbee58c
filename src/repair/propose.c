// SPDX-License-Identifier: Apache-2.0
#include "repair/propose.h"

#include "findings/headline.h"
#include "repair/place.h"

#include <stdlib.h>
#include <string.h>

// How a pattern (patterns.def) looks for its edits, of all findings at once. `text` is the pattern's.
typedef void Propose(GrPlaces *p, const GrFinding *const *f, size_t n, const char *text, const char *what);

#define BARRIER(NAME, most, by)                                                                              \
    static void NAME(GrPlaces *p, const GrFinding *const *f, size_t n, const char *text, const char *what) { \
        gr_place_barrier(p, f, n, most, by, text, what);                                                     \
    }
BARRIER(WARP_BARRIER, GR_VARIES_BY_WARP, GR_HELD_BY_WARP)
BARRIER(BLOCK_BARRIER, GR_VARIES_NOT, GR_HELD_BY_BLOCK)
BARRIER(WARP_TO_BLOCK, GR_VARIES_NOT, GR_HELD_BY_WARP)
BARRIER(BLOCK_ANYHOW, GR_VARIES_NOT, GR_HELD_BY_GAPS)
BARRIER(ANYWHERE, GR_VARIES, GR_HELD_BY_GAPS)

static void ATOMIC(GrPlaces *p, const GrFinding *const *f, size_t n, const char *text, const char *what) {
    (void)text, (void)what;
    gr_place_atomics(p, f, n);
}

// Proposes for one finding.
typedef void ProposeOne(GrPlaces *p, const char *text, const char *what);

// Keeps, of what is proposed for each finding, what is proposed for all.
static void for_each(ProposeOne *one, GrPlaces *p, const GrFinding *const *f, size_t n, const char *text,
                     const char *what) {
    GrProposal first[GR_REPAIR_PROPOSALS], own[GR_REPAIR_PROPOSALS];
    GrPlaces all = {.repairs = p->repairs, .found = f[0], .out = first};
    one(&all, text, what);
    for (size_t k = 1; k < n && all.n; k++) {
        GrPlaces next = {.repairs = p->repairs, .found = f[k], .out = own};
        unsigned kept = 0;
        one(&next, text, what);
        for (unsigned i = 0; i < all.n; i++)
            for (unsigned j = 0; j < next.n; j++)
                if (gr_proposal_same(&first[i], &own[j])) {
                    first[kept++] = first[i];
                    break;
                }
        all.n = kept;
    }
    for (unsigned i = 0; i < all.n; i++)
        gr_place_add(p, &first[i]);
}

static void scopes(GrPlaces *p, const char *text, const char *what) {
    gr_place_scopes(p, *text ? text : NULL, what);
}

static void leader_of_block(GrPlaces *p, const char *text, const char *what) {
    gr_place_leader(p, GR_VARIES_NOT, text, what);
}
static void leader_of_warp(GrPlaces *p, const char *text, const char *what) {
    gr_place_leader(p, GR_VARIES_BY_WARP, text, what);
}

static void host_wait(GrPlaces *p, const char *text, const char *what) {
    (void)text, (void)what;
    gr_place_host_wait(p);
}
static void stream_wait(GrPlaces *p, const char *text, const char *what) {
    (void)text, (void)what;
    gr_place_stream_wait(p);
}
static void edge(GrPlaces *p, const char *text, const char *what) {
    (void)text, (void)what;
    gr_place_edge(p);
}

static void proxy(GrPlaces *p, const char *text, const char *what) {
    (void)text;
    gr_place_proxy(p, what);
}
static void wait_for_all(GrPlaces *p, const char *text, const char *what) {
    (void)text;
    gr_place_wait_for_all(p, what);
}
static void move(GrPlaces *p, const char *text, const char *what) {
    (void)text;
    gr_place_move(p, what);
}
static void cluster_end(GrPlaces *p, const char *text, const char *what) {
    (void)text;
    gr_place_cluster_end(p, what);
}

static void CLUSTER(GrPlaces *p, const GrFinding *const *f, size_t n, const char *text, const char *what) {
    (void)text;
    gr_place_cluster(p, f, n, what);
}

#define EACH(NAME, one)                                                                                      \
    static void NAME(GrPlaces *p, const GrFinding *const *f, size_t n, const char *text, const char *what) { \
        for_each(one, p, f, n, text, what);                                                                  \
    }
EACH(FENCES, gr_place_fences)
EACH(BLOCK_LEADER, leader_of_block)
EACH(WARP_LEADER, leader_of_warp)
EACH(SCOPES, scopes)
EACH(HOST_WAIT, host_wait)
EACH(STREAM_WAIT, stream_wait)
EACH(EDGE, edge)
EACH(PROXY, proxy)
EACH(GRID_WAIT, gr_place_grid_wait)
EACH(ISSUER_WAIT, gr_place_issuer_wait)
EACH(WAIT_FOR_ALL, wait_for_all)
EACH(MOVE, move)
EACH(CLUSTER_END, cluster_end)

static const struct Pattern {
    Propose *propose;
    const char *order, *text, *what;
} patterns[] = {
#define PATTERN(how, order, text, what) {how, order, text, what},
#include "repair/patterns.def"
#undef PATTERN
};

static bool begins(const char *order, const char *with) { return !strncmp(order, with, strlen(with)); }

// Which order takes more: of lanes, of a block's warps, any other.
static int width(const char *order) {
    return begins(order, "both are lanes") ? 0 : begins(order, "no __syncthreads()") ? 1 : 2;
}

// What a pattern goes by. NULL: nothing is known.
static const char *order_of(const GrFinding *f) {
    const char *peer = f->detail ? strstr(f->detail, "of the shared memory of block") : NULL;
    return f->n_accesses == 2 ? f->order : f->n_accesses ? peer : NULL;
}

unsigned gr_repair_propose(GrRepairs *r, const GrFinding *const *f, size_t n,
                           GrProposal out[GR_REPAIR_PROPOSALS]) {
    GrPlaces p = {.repairs = r, .out = out};
    const char *widest = NULL;
    for (size_t k = 0; k < n; k++) {
        const char *order = order_of(f[k]);
        if (!order)
            return 0;
        if (!widest || width(order) > width(widest))
            widest = order;
    }
    for (size_t k = 0; k < sizeof patterns / sizeof *patterns && widest; k++) {
        bool fit = begins(widest, patterns[k].order);
        for (size_t i = 0; i < n && fit; i++)
            fit = begins(order_of(f[i]), patterns[k].order) || width(order_of(f[i])) < width(widest);
        if (fit)
            patterns[k].propose(&p, f, n, patterns[k].text, patterns[k].what);
    }
    return p.n;
}
