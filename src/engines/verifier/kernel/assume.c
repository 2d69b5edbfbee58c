// SPDX-License-Identifier: Apache-2.0
// assume — what local memory keeps while a loop goes round, though single walks lose it.
//
// A walk that does not know where a pointer points takes each store through it for one to any local memory. If the
// pointer itself lies in local memory, as a member of an object, and the store in a loop, then the next round has lost
// the pointer, and no walk finds it again. So walks here begin at the other end: they assume that a loop changes
// nothing. A walk shows for which values that is wrong; the next walk does not assume it of these. The last walk finds
// no such value, and no store and no escape that it did not assume, too. So its assumptions hold at the begin of the
// first round, and at the end of each round if at its begin: by induction, in all of them.
#include "engines/verifier/kernel/values.h"

enum { MOST_WALKS = 16 };

// The assignment is one of those of the walk before.
static bool was_noted(const KNotes *before, const KNote *n, size_t likely) {
    size_t most = before->list.len;
    for (size_t k = 0; k < most; k++) {
        const KNote *o = &before->list.data[(likely + k) % most];
        if (o->block == n->block && o->off <= n->off && n->off + n->size <= o->off + o->size)
            return true;
    }
    return false;
}

static bool is_noted(const KWalk *w) {
    for (size_t v = 0; v < w->n_vars + 2; v++)
        for (size_t k = 0; k < w->notes[v].list.len; k++)
            if (!was_noted(&w->notes_before[v], &w->notes[v].list.data[k], k))
                return false;
    return true;
}

// What the walk used of the walk before holds of itself, too.
static bool is_settled(KWalk *w) {
    gr_walk_spread(w);
    for (size_t k = 0; k < w->n_vars; k++)
        if (w->escaped[k] > w->escaped_before[k] || w->holds[k] > w->holds_before[k])
            return false;
    for (size_t k = 0; k < w->written.len; k++)
        if (w->written.data[k] && !w->out->objects.data[k]->written)
            return false;
    return w->unknown_written <= w->unknown_written_before && is_noted(w);
}

static bool is_open(const KWalk *w, const KPhi *p) {
    return p->walk == w->walk && p->kind == KPHI_OPEN && p->loop->latches.len;
}

// True: some value changes that was taken for the same.
static bool find_changes(KWalk *w) {
    bool found = false;
    for (size_t k = 0; k < w->phi_list.len && !w->nomem; k++) { // looking up may make new ones
        KPhi *p = w->phi_list.data[k];
        if (!is_open(w, p))
            continue;
        const GrTerm *next = gr_phi_next(w, p);
        if (!p->changes && next && next == p->now && p->now == p->start)
            continue;
        found |= !p->changes;
        p->changes = true;
        if (next)
            gr_phi_lose(w, p, next);
    }
    return found;
}

gr_status gr_assume(KWalk *w, bool *holds, gr_error *err) {
    gr_status st = GR_OK;
    *holds = false;
    w->assumes = true;
    for (unsigned n = 0; n < MOST_WALKS && !*holds && st == GR_OK; n++) {
        st = gr_walk_once(w, err);
        *holds = st == GR_OK && !find_changes(w) && is_settled(w);
        if (w->nomem)
            st = gr_no_memory(err);
    }
    w->assumes = false;
    for (size_t k = 0; *holds && k < w->phi_list.len; k++) {
        KPhi *p = w->phi_list.data[k];
        if (is_open(w, p) && !p->changes)
            p->kind = KPHI_SAME;
    }
    return st;
}
