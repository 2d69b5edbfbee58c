// SPDX-License-Identifier: Apache-2.0
// induction — what a loop does to a value, as a function of how often it has gone round.
//
// start + step * rounds where each round adds the same. A value that each round makes of uniform values alone (a stride
// that is halved) is a function of the rounds: a READ of an object of its own, so that threads in the same round have
// the same.
#include "engines/verifier/kernel/values.h"
#include "engines/verifier/term/range.h"

// ---- What a term depends on -------------------------------------------------------------------------------------

typedef struct Depends {
    KWalk *w;
    const KLoop *loop;
    const KPhi *phi; // may be in it; NULL
    bool varies, is_thread, is_block;
} Depends;

static KPhi *phi_of_symbol(KWalk *w, const GrSymbol *s) {
    for (size_t k = 0; k < w->phi_list.len; k++)
        if (w->phi_list.data[k]->sym == s || w->phi_list.data[k]->function == s)
            return w->phi_list.data[k];
    return NULL;
}

static const KLoop *loop_of_counter(const KWalk *w, const GrSymbol *s) {
    for (size_t k = 0; k < w->f->loops.len; k++)
        if (w->f->loops.data[k]->loop == s->owner)
            return w->f->loops.data[k];
    return NULL;
}

static bool is_inside(const KLoop *inner, const KLoop *outer) {
    while (inner && inner != outer)
        inner = inner->parent;
    return inner != NULL;
}

static void see_variance(void *user, const GrSymbol *s) {
    Depends *d = user;
    if (s->kind == GR_SYM_COUNTER) {
        d->varies |= is_inside(loop_of_counter(d->w, s), d->loop);
    } else if (s->kind == GR_SYM_FREE && s->owner) {
        if (!d->phi || s != d->phi->sym)
            d->varies |= gr_flat_in_loop(d->w->f, d->loop, ((const KStmt *)s->owner)->block);
    }
}

bool gr_term_invariant(KWalk *w, const KLoop *l, const GrTerm *a) {
    Depends d = {.w = w, .loop = l};
    return a && gr_term_symbols(a, see_variance, &d) && !d.varies;
}

static void see_uniformity(void *user, const GrSymbol *s) {
    Depends *d = user;
    if (d->phi && s == d->phi->sym)
        return;
    d->is_block |= s->scope == GR_SYM_BLOCK;
    if (s->scope != GR_SYM_THREAD)
        return;
    if (s->kind == GR_SYM_COUNTER) {
        const KLoop *l = loop_of_counter(d->w, s);
        d->is_thread |= l != d->loop && l != d->loop->parent; // a function of the rounds of two loops at most
    } else {
        d->is_thread = true;
    }
}

// Which threads have one value of what the phi begins with and becomes, in the same round.
static GrSymScope scope_of(KWalk *w, const KPhi *p, const GrTerm *next) {
    Depends d = {.w = w, .loop = p->loop, .phi = p};
    if (!p->start || !gr_term_symbols(next, see_uniformity, &d) ||
        !gr_term_symbols(p->start, see_uniformity, &d) || d.is_thread)
        return GR_SYM_THREAD;
    return d.is_block ? GR_SYM_BLOCK : GR_SYM_LAUNCH;
}

// ---- Values ------------------------------------------------------------------------------------------------------

static const GrTerm *now_of(void *user, GrTerms *t, const GrSymbol *s) {
    (void)t;
    const KPhi *p = s->kind == GR_SYM_FREE ? phi_of_symbol(user, s) : NULL;
    KWalk *w = user;
    return p && p->sym == s && p->walk == w->walk ? p->now : NULL;
}

static const GrTerm *cycled(KWalk *w, KPhi *p, const GrTerm *rounds) {
    const GrTerm *at = gr_term_2(w->t, GR_TERM_UREM, rounds, gr_term_const(w->t, 32, p->n_cycle)),
                 *out = NULL;
    for (uint32_t k = p->n_cycle; k--;) {
        const KPhi *q = p->turn[k];
        const GrTerm *v =
            q ? gr_walk_before(w, q->loop->header, q->var, q->off, q->size, q->bits) : p->cycle[k];
        const GrTerm *now = gr_term_2(w->t, GR_TERM_EQ, at, gr_term_const(w->t, 32, k));
        out = out ? gr_term_ite(w->t, now, v, out) : v;
    }
    return out;
}

const GrTerm *gr_phi_value(KWalk *w, KPhi *p) {
    const GrTerm *rounds = gr_term_sym(w->t, p->loop->loop->counter);
    switch (p->kind) {
    case KPHI_OPEN:
        if (w->assumes && !p->changes && p->start)
            return p->start;
        break;
    case KPHI_SAME: return p->start;
    case KPHI_STEP: {
        if (p->bits < 8)
            break;
        const GrTerm *step = gr_term_replace(w->t, p->step, &(GrReplace){now_of, NULL, w});
        rounds = gr_term_resize(w->t, p->bits, false, rounds);
        return gr_term_2(w->t, GR_TERM_ADD, p->start, gr_term_2(w->t, GR_TERM_MUL, rounds, step));
    }
    case KPHI_CYCLE: return cycled(w, p, rounds);
    case KPHI_FUNCTION: {
        const GrTerm *at = gr_term_resize(w->t, 64, false, rounds);
        if (p->loop->parent) {
            const GrTerm *outer =
                gr_term_resize(w->t, 64, false, gr_term_sym(w->t, p->loop->parent->loop->counter));
            at = gr_term_2(w->t, GR_TERM_ADD, at,
                           gr_term_2(w->t, GR_TERM_SHL, outer, gr_term_const(w->t, 64, 32)));
        }
        return gr_term_read(w->t, p->bits, p->function, at);
    }
    }
    return gr_term_sym(w->t, p->sym);
}

// ---- What each round adds ------------------------------------------------------------------------------------------

typedef struct Rest {
    GrTerms *t;
    const GrSymbol *phi;
    const GrTerm *sum;
    unsigned found;
} Rest;

// Adds all addends of `a` but the phi itself.
static void gather(Rest *r, const GrTerm *a, unsigned depth) {
    if (a->op == GR_TERM_SYM && a->sym == r->phi) {
        r->found++;
    } else if (a->op == GR_TERM_ADD && depth < 30) {
        gather(r, a->arg[0], depth + 1);
        gather(r, a->arg[1], depth + 1);
    } else if (a->op == GR_TERM_SUB && depth < 30) {
        gather(r, a->arg[0], depth + 1);
        r->sum = gr_term_2(r->t, GR_TERM_SUB, r->sum, a->arg[1]);
    } else {
        r->sum = gr_term_2(r->t, GR_TERM_ADD, r->sum, a);
    }
}

static void see_phi(void *user, const GrSymbol *s) {
    Depends *d = user;
    d->varies |= s == d->phi->sym;
}

static bool mentions(KWalk *w, const KPhi *p, const GrTerm *a) {
    Depends d = {.w = w, .phi = p};
    return !gr_term_symbols(a, see_phi, &d) || d.varies;
}

static bool is_step(KWalk *w, KPhi *p) {
    Rest r = {.t = w->t, .phi = p->sym, .sum = gr_term_const(w->t, p->bits, 0)};
    gather(&r, p->next, 0);
    if (r.found != 1 || !r.sum || mentions(w, p, r.sum) || !gr_term_invariant(w, p->loop, r.sum))
        return false;
    p->step = r.sum;
    return true;
}

// ---- What comes again -----------------------------------------------------------------------------------------------

typedef struct Bind {
    const GrSymbol *sym;
    const GrTerm *to;
} Bind;

static const GrTerm *bound(void *user, GrTerms *t, const GrSymbol *s) {
    (void)t;
    const Bind *b = user;
    return s == b->sym ? b->to : NULL;
}

// p becomes what q was, q what another was, and the last one what p was.
static bool changes_places(KWalk *w, KPhi *p) {
    KPhi *q = p;
    for (p->n_cycle = 0; p->n_cycle < 4;) {
        p->turn[p->n_cycle++] = q;
        const GrTerm *next = NULL;
        for (size_t k = 0; k < q->loop->latches.len; k++) {
            const GrTerm *v = gr_walk_at_end(w, q->loop->latches.data[k], q->var, q->off, q->size, q->bits);
            if (!v || v->op != GR_TERM_SYM || (next && next != v))
                return false;
            next = v;
        }
        if (!next || next->sym == p->sym)
            return next != NULL;
        q = phi_of_symbol(w, next->sym);
        if (!q || q->loop != p->loop || q->sym != next->sym || q->walk != w->walk || q->bits != p->bits)
            return false;
    }
    return false;
}

static bool is_cycle(KWalk *w, KPhi *p) {
    if (p->next->op == GR_TERM_SYM)
        return changes_places(w, p);
    if (!p->start || p->start->op != GR_TERM_CONST)
        return false;
    const GrTerm *v = p->start;
    for (p->n_cycle = 0; p->n_cycle < 4 && v; p->n_cycle++) {
        if (p->n_cycle && v == p->start)
            return true;
        if (v->op != GR_TERM_CONST)
            return false;
        p->cycle[p->n_cycle] = v;
        Bind b = {p->sym, v};
        v = gr_term_replace(w->t, p->next, &(GrReplace){bound, NULL, &b});
    }
    return v == p->start;
}

// ---- Halving and doubling ------------------------------------------------------------------------------------------

static bool fact(KWalk *w, const GrTerm *a) {
    bool ok = a && gr_vec_push(&w->out->facts, a);
    w->nomem |= !ok;
    return ok;
}

static const GrTerm *implies(GrTerms *t, const GrTerm *a, const GrTerm *b) {
    return gr_bool_or(t, gr_bool_not(t, a), b);
}

// When a thread takes a back edge of the loop.
static const GrTerm *goes_on(KWalk *w, const KLoop *l) {
    const GrTerm *back = NULL;
    for (size_t e = 0; e < l->latches.len; e++) {
        uint32_t from = l->latches.data[e];
        const GrTerm *c =
            gr_bool_and(w->t, gr_walk_reached(w, l->header, from), gr_walk_edge(w, from, l->header));
        back = back ? gr_bool_or(w->t, back, c) : c;
    }
    return back;
}

// The condition says that `a` is less than something.
static bool is_compared(const GrTerm *c, bool is, const GrTerm *a, unsigned depth) {
    if (depth > 20 || c->bits != 1)
        return false;
    if (c->op == GR_TERM_NOT)
        return is_compared(c->arg[0], !is, a, depth + 1);
    if (c->op == (is ? GR_TERM_AND : GR_TERM_OR))
        return is_compared(c->arg[0], is, a, depth + 1) || is_compared(c->arg[1], is, a, depth + 1);
    return c->op >= GR_TERM_SLT && c->op <= GR_TERM_ULE && c->arg[is ? 0 : 1] == a;
}

// The loop ends before a value that each round multiplies wraps: it goes on only below a number that is small enough,
// or below one of which that is assumed, and noted.
static bool is_kept_small(KWalk *w, const KPhi *p) {
    const GrTerm *back = goes_on(w, p->loop), *by = p->next->arg[1];
    if (!back)
        return false;
    int64_t high = gr_term_range(p->now, back).high, k = gr_term_signed(by);
    if (p->next->op == GR_TERM_SHL)
        k = k >= 0 && k < 32 ? (int64_t)1 << k : INT64_MAX;
    int64_t most = (int64_t)(UINT64_MAX >> (65 - p->bits));
    if (k > 0 && high <= most / k)
        return true;
    if (!is_compared(back, true, p->now, 0))
        return false;
    w->nomem |= !gr_vec_push(&w->out->no_wrap, p->next);
    return true;
}

// Adds facts of a value that each round divides or multiplies; after the last walk, so in its terms.
void gr_phi_facts(KWalk *w) {
    GrTerms *t = w->t;
    for (size_t k = 0; k < w->phi_list.len; k++) {
        KPhi *p = w->phi_list.data[k];
        if (p->walk != w->walk || !p->now || !p->next || !p->start || p->now == p->start || p->bits < 8 ||
            p->kind == KPHI_STEP)
            continue;
        const GrTerm *zero = gr_term_const(t, p->bits, 0), *n = p->next, *by = n->arg[1];
        if (!n->arg[0] || n->arg[0] != p->now || !by || by->op != GR_TERM_CONST)
            continue;
        bool shrinks = (n->op == GR_TERM_SDIV && gr_term_signed(by) > 0) || n->op == GR_TERM_ASHR ||
                       n->op == GR_TERM_LSHR || (n->op == GR_TERM_UDIV && by->value);
        bool is_unsigned = n->op == GR_TERM_UDIV || n->op == GR_TERM_LSHR;
        bool grows = (n->op == GR_TERM_MUL && gr_term_signed(by) > 0) || n->op == GR_TERM_SHL;
        const GrTerm *positive = gr_term_2(t, GR_TERM_SLE, zero, p->start);
        if (shrinks) {
            if (is_unsigned)
                fact(w, gr_term_2(t, GR_TERM_ULE, p->now, p->start));
            fact(w, implies(t, positive,
                            gr_bool_and(t, gr_term_2(t, GR_TERM_SLE, zero, p->now),
                                        gr_term_2(t, GR_TERM_SLE, p->now, p->start))));
        } else if (grows && is_kept_small(w, p)) {
            fact(w, implies(t, positive, gr_term_2(t, GR_TERM_SLE, p->start, p->now)));
        }
    }
}

// ---- After a walk --------------------------------------------------------------------------------------------------

// Loses track of the value, so addresses in it escape. What local memory holds was noted as it was stored.
void gr_phi_lose(KWalk *w, const KPhi *p, const GrTerm *next) {
    if (p->var >= w->f->n_regs)
        return;
    gr_walk_escape(w, p->start);
    gr_walk_escape(w, next);
}

const GrTerm *gr_phi_next(KWalk *w, const KPhi *p) {
    const GrTerm *next = NULL;
    for (size_t k = 0; k < p->loop->latches.len; k++) {
        const GrTerm *v = gr_walk_at_end(w, p->loop->latches.data[k], p->var, p->off, p->size, p->bits);
        if (v && next && v != next) { // rounds end differently
            gr_phi_lose(w, p, v);
            gr_phi_lose(w, p, next);
        }
        if (!v || (next && v != next))
            return NULL;
        next = v;
    }
    return next;
}

static bool classify(KWalk *w, KPhi *p) {
    const GrTerm *next = gr_phi_next(w, p);
    if (!next)
        return false;
    p->next = next;
    if (p->kind != KPHI_OPEN)
        return false;
    if (next == p->now) {
        p->kind = KPHI_SAME;
    } else if (is_step(w, p)) {
        p->kind = KPHI_STEP;
    } else if (is_cycle(w, p)) {
        p->kind = KPHI_CYCLE;
    } else if (scope_of(w, p, next) != GR_SYM_THREAD && (!p->loop->parent || !p->loop->parent->parent)) {
        p->kind = KPHI_FUNCTION;
        p->function = gr_symbol(w->t, GR_SYM_OBJECT, scope_of(w, p, next), p->bits, p->sym->name);
        if (!p->function)
            w->nomem = true;
    } else {
        gr_phi_lose(w, p, next);
        return false;
    }
    return true;
}

bool gr_phi_classify(KWalk *w) {
    bool found = false;
    // Looking up may make new ones.
    for (size_t k = 0; k < w->phi_list.len && !w->nomem; k++)
        if (w->phi_list.data[k]->walk == w->walk && w->phi_list.data[k]->loop->latches.len)
            found |= classify(w, w->phi_list.data[k]);
    return found;
}

// ---- The round before -----------------------------------------------------------------------------------------------

static void see_other_rounds(void *user, const GrSymbol *s) {
    Depends *d = user;
    if (s != d->loop->loop->counter)
        see_variance(user, s);
}

static const GrTerm *a_round_ago(void *user, GrTerms *t, const GrSymbol *s) {
    return s == user ? gr_term_2(t, GR_TERM_SUB, gr_term_sym(t, s), gr_term_const(t, s->bits, 1)) : NULL;
}

bool gr_loops_again(KWalk *w) {
    bool found = false;
    for (size_t k = 0; k < w->f->loops.len; k++) {
        KLoop *l = w->f->loops.data[k];
        const GrTerm *back = goes_on(w, l);
        Depends d = {.w = w, .loop = l};
        if (l->again || !back || back->op == GR_TERM_CONST || !gr_term_symbols(back, see_other_rounds, &d) ||
            d.varies)
            continue;
        GrSymbol *n = l->loop->counter;
        const GrTerm *before = gr_term_replace(w->t, back, &(GrReplace){a_round_ago, NULL, n});
        const GrTerm *first = gr_term_2(w->t, GR_TERM_EQ, gr_term_sym(w->t, n), gr_term_const(w->t, 32, 0));
        l->again = gr_bool_or(w->t, first, before);
        w->nomem |= !l->again;
        found = true;
    }
    return found;
}
