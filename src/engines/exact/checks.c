// SPDX-License-Identifier: Apache-2.0
// checks — compares what the engine says of a race with what else it knows of the two accesses, in every build. Each
// stamp says which site, block and thread it stands for, and where it was used. A stamp that stands for another access
// than the one remembered there would contradict one of these before long.
#include "engines/exact/exact_internal.h"

const char *gr_exact_check_text(ExactCheck c) {
    static const char *const texts[] = {
#define EXACT_CHECK(id, text) text,
#include "engines/exact/checks.def"
#undef EXACT_CHECK
    };
    return c < EXACT_CHECK_COUNT ? texts[c] : "";
}

void gr_exact_doubt(Exact *x, ExactCheck c) {
    if (x->doubts & 1u << c)
        return;
    x->doubts |= 1u << c;
    if (x->options.doubted)
        x->options.doubted(x->options.user, gr_exact_check_text(c));
}

// ---- Which memory a site reaches -----------------------------------------------------------------------------------

enum { IN_GLOBAL = 1, IN_SHARED = 2, ANYWHERE = IN_GLOBAL | IN_SHARED };

static unsigned reach_of(PtxSpace s) {
    switch (s) {
    case PTX_GLOBAL: return IN_GLOBAL;
    case PTX_SHARED:
    case PTX_SHARED_CTA:
    case PTX_SHARED_CLUSTER: return IN_SHARED;
    default: return ANYWHERE;
    }
}

static unsigned site_reach(const PtxSite *s) {
    switch (s->op) {
    case PTX_OP_LD:
    case PTX_OP_LDU:
    case PTX_OP_ST:
    case PTX_OP_ATOM:
    case PTX_OP_RED:
    case PTX_OP_LDMATRIX:
    case PTX_OP_STMATRIX: return reach_of(s->space);
    case PTX_OP_CP: return reach_of(s->space) | reach_of(s->src_space);
    default: return ANYWHERE;
    }
}

bool gr_exact_note_reach(Exact *x, const PtxModule *m, uint32_t first) {
    if (x->reach.len > first) // memory ran out halfway through another
        x->reach.len = first;
    while (x->reach.len <= first) // the host's sites, and the module's number 0
        if (!gr_vec_push(&x->reach, ANYWHERE))
            return false;
    for (uint32_t k = 1; k <= m->n_sites; k++)
        if (!gr_vec_push(&x->reach, (uint8_t)site_reach(&m->sites[k])))
            return false;
    return true;
}

// ---- Races ---------------------------------------------------------------------------------------------------------

// The thread at p can access the owner's shared memory: it is of the block or of its cluster.
static bool reaches(const Exact *x, const Block *owner, const Point *p) {
    const BlockInfo *b = gr_order_info(&x->order, p->id);
    return p->launch == owner->launch->index && (b->linear == owner->linear || b->cluster == owner->cluster);
}

static ExactCheck failed_by(const Exact *x, const Block *owner, const Stamp *s, uint32_t lane, uint64_t at) {
    const Order *o = &x->order;
    const BlockInfo *b = gr_order_info(o, s->at.id);
    if (!b->launch || s->at.launch >= o->launches.len)
        return CHECK_FORGOTTEN;
    const Launch *l = o->launches.data[s->at.launch];
    if (b->launch != s->at.launch)
        return CHECK_BLOCK;
    if ((uint64_t)s->at.warp * LANES + lane >= l->threads)
        return CHECK_THREAD;
    if (owner && (s->at.id != owner->id || l != owner->launch) && !reaches(x, owner, &s->at))
        return CHECK_OWNER;
    if (s->site && !l->host && s->site < x->reach.len &&
        !(x->reach.data[s->site] & (owner ? IN_SHARED : IN_GLOBAL)))
        return CHECK_SPACE;
    return gr_stamp_has_reached(s, at) ? EXACT_CHECK_COUNT : CHECK_RANGE;
}

static bool holds(Exact *x, ExactCheck c) {
    if (c != EXACT_CHECK_COUNT)
        gr_exact_doubt(x, c);
    return c == EXACT_CHECK_COUNT;
}

bool gr_exact_is_sound_with(Exact *x, const Access *a, uint32_t lane, const Stamp *theirs,
                            uint32_t their_lane, uint64_t at) {
    const Stamp *mine = &x->shadow.stamps.data[a->stamp];
    ExactCheck c = failed_by(x, a->owner, theirs, their_lane, at);
    if (c == EXACT_CHECK_COUNT && mine->access == PTX_ACCESS_READ && theirs->access == PTX_ACCESS_READ)
        c = CHECK_READS;
    if (c == EXACT_CHECK_COUNT && lane == their_lane &&
        gr_order_same_thread(&x->order, &mine->at, &theirs->at))
        c = CHECK_SELF;
    return holds(x, c);
}

bool gr_exact_is_sound(Exact *x, const Access *a, uint32_t lane, const Stamp *theirs, uint32_t their_lane,
                       uint64_t at) {
    return holds(x, failed_by(x, a->owner, &x->shadow.stamps.data[a->stamp], lane, at)) &&
           gr_exact_is_sound_with(x, a, lane, theirs, their_lane, at);
}
