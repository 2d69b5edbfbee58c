// SPDX-License-Identifier: Apache-2.0
// fences — what threads lack that signal to each other: a fence beside the signal, or a barrier between the threads
// that a leader signals for and the leader.
#include "repair/signal.h"

#include <string.h>

static bool is_store(const GrAccess *a) { return a->kind && strcmp(a->kind, "load") != 0; }

// The sides with the one that writes first.
static void by_writes(const GrFinding *f, const GrAccess *out[2]) {
    bool swap = is_store(&f->accesses[0]) && !is_store(&f->accesses[1]);
    out[0] = &f->accesses[swap ? 0 : 1];
    out[1] = &f->accesses[swap ? 1 : 0];
}

// The k-th place of the access. False: it is in no text.
static bool place_at(GrRepairs *r, const GrAccess *a, uint32_t k, GrPlace *out) {
    GrAccess one = *a;
    one.at = *gr_access_frame(a, k);
    one.n_inlined = 0;
    return gr_place_of(r, &one, out);
}

// The innermost place of the access whose function signals.
static bool place_signalling(GrRepairs *r, const GrAccess *a, GrPlace *out) {
    for (uint32_t k = 0; k <= a->n_inlined; k++)
        if (place_at(r, a, k, out) &&
            gr_signals(&out->file->code, out->function, out->function->head, out->function->body->to))
            return true;
    return false;
}

// ---- Fences ------------------------------------------------------------------------------------------------

typedef struct Fence {
    const char *text, *what;
} Fence;

static bool behind(GrPlaces *p, const GrPlace *at, const Fence *f, GrProposal *add) {
    const GrStatement *s = gr_place_in_block(at->statement);
    return s && !gr_fences(add->code, s->next) && gr_place_put_behind(p, add, s, f->text);
}

static bool before(GrPlaces *p, const GrPlace *at, const Fence *f, GrProposal *add) {
    const GrStatement *s = gr_place_in_block(at->statement);
    return s && !gr_fences(add->code, gr_before(s)) && gr_place_put_before(p, add, s, f->text);
}

// Behind the one side, before the other; where both lack a fence, both first.
static void two_fences(GrPlaces *p, const GrPlace *one, const GrPlace *other, const Fence *f) {
    GrProposal first = gr_place_proposal(one, f->what), second = gr_place_proposal(other, f->what);
    bool has_first = behind(p, one, f, &first), has_second = before(p, other, f, &second);
    if (has_first && has_second && one->file == other->file) {
        GrProposal both = first;
        if (before(p, other, f, &both))
            gr_place_add(p, &both);
    }
    gr_place_add(p, &first);
    gr_place_add(p, &second);
}

// Behind the loops that wait for a signal.
static void behind_waits(GrPlaces *p, const GrPlace *at, const GrStatement *in, const Fence *f) {
    for (const GrStatement *s = in->child; s; s = s->next) {
        GrProposal one = gr_place_proposal(at, f->what);
        GrPlace loop = *at;
        loop.statement = s;
        if (!gr_waits(&at->file->code, at->function, s))
            behind_waits(p, at, s, f);
        else if (behind(p, &loop, f, &one))
            gr_place_add(p, &one);
    }
}

// The same in the function and in those that it calls.
static void behind_all_waits(GrPlaces *p, const GrPlace *at, const Fence *f) {
    const GrCode *c = &at->file->code;
    behind_waits(p, at, at->function->body, f);
    for (uint32_t k = at->function->body->from; k < at->function->body->to; k++)
        for (size_t i = 0; gr_token_is_name(&c->tokens.data[k]) && i < c->functions.len; i++) {
            GrPlace called = *at;
            called.function = &c->functions.data[i];
            if (called.function->device && called.function->name &&
                gr_token_same(called.function->name, &c->tokens.data[k]))
                behind_waits(p, &called, called.function->body, f);
        }
}

// Whether the function, or one that it calls, waits for a signal in a loop.
static bool waits_in(const GrPlace *at, const GrFunctionCode *f, const GrStatement *in) {
    for (const GrStatement *s = in->child; s; s = s->next)
        if (gr_waits(&at->file->code, f, s) || waits_in(at, f, s))
            return true;
    return false;
}

// Whether a thread may have heard a signal before it comes to the place: from a statement before it, a condition that
// it is under, or an earlier turn of a loop. A fence orders nothing for a thread that asked nobody.
static bool hears(const GrPlace *at) {
    const GrCode *c = &at->file->code;
    for (const GrStatement *s = at->statement; s && s->parent; s = s->parent) {
        const GrStatement *in = s->parent;
        for (const GrStatement *q = in->kind == GR_STMT_BLOCK ? gr_before(s) : NULL; q; q = gr_before(q))
            if (gr_signals(c, at->function, q->from, q->to))
                return true;
        if (in->kind != GR_STMT_BLOCK && gr_signals(c, at->function, in->decides, in->decided))
            return true;
        if (in->kind == GR_STMT_LOOP && gr_signals(c, at->function, in->from, in->to))
            return true;
    }
    return false;
}

void gr_place_fences(GrPlaces *p, const char *text, const char *what) {
    const GrAccess *side[2];
    GrPlace at[2];
    Fence f = {text, what};
    by_writes(p->found, side);
    if (!place_signalling(p->repairs, side[0], &at[0]) || !place_signalling(p->repairs, side[1], &at[1]) ||
        !hears(&at[1]))
        return;
    // Within a block barriers are the usual order: a fence only where threads wait for flags.
    if (strstr(text, "_block") && !waits_in(&at[0], at[0].function, at[0].function->body) &&
        !waits_in(&at[1], at[1].function, at[1].function->body))
        return;
    two_fences(p, &at[0], &at[1], &f);
    behind_all_waits(p, &at[1], &f);
    two_fences(p, &at[1], &at[0], &f);
}

// ---- Leaders -----------------------------------------------------------------------------------------------

typedef struct Leader {
    GrVaries most;
    const char *text, *what;
} Leader;

static GrHolds holds_of(const GrPlace *at, const Leader *l) {
    return (GrHolds){.code = &at->file->code,
                     .function = at->function,
                     .by = l->most == GR_VARIES_NOT ? GR_HELD_BY_BLOCK : GR_HELD_BY_WARP};
}

// Whether all come to the condition, and some into it.
static bool some_enter(const GrPlace *at, const Leader *l, const GrStatement *s) {
    const GrReach *r = gr_repair_reach(at->file, at->function);
    return r && s->kind == GR_STMT_IF && s->child && gr_reach_all(r, s, l->most) &&
           !gr_reach_all(r, s->child, l->most);
}

static bool waits_within(const GrPlace *at, const GrStatement *s) {
    if (gr_waits(&at->file->code, at->function, s))
        return true;
    for (const GrStatement *c = s->child; c; c = c->next)
        if (waits_within(at, c))
            return true;
    return false;
}

// The condition behind the access under which one thread signals that all have done theirs, with no barrier between.
static const GrStatement *signals_behind(const GrPlace *at, const Leader *l) {
    GrHolds h = holds_of(at, l);
    for (const GrStatement *s = at->statement; s && s->parent; s = s->parent)
        for (const GrStatement *q = s->parent->kind == GR_STMT_BLOCK ? s->next : NULL; q; q = q->next) {
            if (gr_holds(&h, q))
                return NULL;
            if (some_enter(at, l, q) && gr_signals(&at->file->code, at->function, q->child->from, q->to))
                return q;
        }
    return NULL;
}

// The statement behind the condition under which one thread waits for all, before the access.
static const GrStatement *waits_before(const GrPlace *at, const Leader *l) {
    GrHolds h = holds_of(at, l);
    for (const GrStatement *s = at->statement; s && s->parent; s = s->parent)
        for (const GrStatement *q = s->parent->kind == GR_STMT_BLOCK ? gr_before(s) : NULL; q;
             q = gr_before(q)) {
            if (gr_holds(&h, q))
                return NULL;
            if (some_enter(at, l, q) && waits_within(at, q))
                return q->next;
        }
    return NULL;
}

typedef struct Found {
    GrPlace place;
    const GrStatement *before; // NULL: there is none
} Found;

static Found find(GrPlaces *p, const GrAccess *a, const Leader *l,
                  const GrStatement *(*look)(const GrPlace *at, const Leader *l)) {
    Found f = {.before = NULL};
    for (uint32_t k = 0; k <= a->n_inlined && !f.before; k++)
        if (place_at(p->repairs, a, k, &f.place))
            f.before = look(&f.place, l);
    return f;
}

static void propose(GrPlaces *p, const Leader *l, const Found *const *at, unsigned n) {
    GrProposal one = {.n = 0};
    for (unsigned k = 0; k < n; k++) {
        if (!at[k]->before)
            return;
        if (!k)
            one = gr_place_proposal(&at[k]->place, l->what);
        if (one.code != &at[k]->place.file->code || !gr_place_put_before(p, &one, at[k]->before, l->text))
            return;
    }
    gr_place_add(p, &one);
}

void gr_place_leader(GrPlaces *p, GrVaries most, const char *text, const char *what) {
    const GrAccess *side[2];
    Leader l = {most, text, what};
    by_writes(p->found, side);
    for (unsigned k = 0; k < 2; k++) {
        Found told = find(p, side[k], &l, signals_behind), seen = find(p, side[1 - k], &l, waits_before);
        const Found *both[] = {&told, &seen};
        propose(p, &l, both, 1);
        propose(p, &l, both + 1, 1);
        propose(p, &l, both, 2);
    }
}
