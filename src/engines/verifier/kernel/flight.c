// SPDX-License-Identifier: Apache-2.0
// flight — what a thread does between an asynchronous copy and the wait that completes the copy.
//
// cp.async may read and write at any time between the instruction and the wait (PTX ISA, "cp.async"): so a copy is
// behind each barrier that the thread passes on the way, too. A wait completes what was committed, but for the newest
// groups. How many groups a thread has committed since is counted along each path, and counted too low if it is not
// known. A wait under a predicate completes nothing.
#include "engines/verifier/kernel/order.h"

#include "engines/verifier/term/range.h"

#include <stdlib.h>

enum {
    OPEN,        // the copy is in no group yet; OPEN + 1 + n: n groups were committed after its own
    PHASES = 18, // more groups behind it count for no more
    MANY = GR_FLIGHT_MANY,
    ANY = GR_FLIGHT_ANY,
    TURNS = (ANY + 1) * (ANY + 1), // of two loops
};

typedef struct Flight {
    KWalk *w;
    const Events *events;
    GrKernelAccess *copy;
    uint32_t start;    // its block
    const KLoop *loop; // whose rounds are counted; NULL: what is in no loop
    // The outermost loop around the copy, if `loop` is not in it: its rounds are counted, too.
    const KLoop *own;
    uint64_t *seen;     // by block and phase: bits of turns
    uint64_t *barrier;  // by barrier: bits of turns
    uint64_t *access;   // by access: bits of turns
    VEC(uint64_t) todo; // (block * PHASES + phase) * TURNS + turns
} Flight;

// How often `loop` and `own` have gone round, as one number.
static unsigned turns_of(unsigned turns, unsigned own) { return own * (ANY + 1) + turns; }
static unsigned of_loop(unsigned turns) { return turns % (ANY + 1); }
static unsigned of_own(unsigned turns) { return turns / (ANY + 1); }

// The phase behind a commit or a wait. False: the copy is complete.
static bool pass_group(const PtxInstr *i, unsigned *phase) {
    if (gr_ptx_instr_has(i, PTX_MOD_wait_all))
        return false;
    if (gr_ptx_instr_has(i, PTX_MOD_commit_group)) {
        *phase += *phase + 1 < PHASES;
        return true;
    }
    bool told = i->n_operands && i->operands[0].kind == PTX_O_INT;
    return *phase == OPEN || !told || *phase - OPEN - 1 < i->operands[0].bits;
}

// Goes over what stands behind event `from` of a block. False: the copy is complete there.
static bool pass(Flight *f, uint32_t block, size_t from, unsigned *phase, unsigned turns) {
    const GrLoop *loop = f->loop ? f->loop->loop : NULL;
    for (size_t k = from; k < f->events[block].list.len; k++) {
        const Event *e = &f->events[block].list.data[k];
        if (e->barrier && e->barrier->loop == loop)
            f->barrier[e->barrier->id] |= UINT64_C(1) << turns;
        else if (e->access && (loop ? gr_loop_is_within(e->access->loop, loop) : !e->access->loop))
            f->access[e->access->id] |= UINT64_C(1) << turns;
        else if (!e->barrier && !e->access && !pass_group(e->stmt->stmt.instr, phase))
            return false;
    }
    return true;
}

static unsigned one_more(unsigned turns) { return turns < MANY ? turns + 1 : turns; }

// How often the loops have gone round when that edge was taken.
static unsigned turn(const Flight *f, uint32_t from, uint32_t to, unsigned turns) {
    unsigned loop = of_loop(turns), own = of_own(turns);
    for (const KLoop *l = f->loop; l; l = l->parent)
        if (l->header == to && gr_flat_in_loop(f->w->f, l, from))
            loop = l == f->loop ? one_more(loop) : ANY;
    if (f->own && f->own->header == to && gr_flat_in_loop(f->w->f, f->own, from))
        own = one_more(own);
    return turns_of(loop, own);
}

typedef struct Rounds {
    const Flight *f;
    unsigned turns;
    bool other; // something that need not be the same as when the copy began
} Rounds;

// A counter in that round: as it was when the copy began, or since the loop began.
static const GrTerm *round_of(void *user, GrTerms *t, const GrSymbol *s) {
    const Rounds *r = user;
    const KLoop *l = s->kind == GR_SYM_COUNTER ? r->f->loop : NULL;
    while (l && s->owner != l->loop)
        l = l->parent;
    if (!l)
        return NULL;
    const GrTerm *gone = gr_term_const(t, s->bits, l == r->f->loop ? r->turns : 0);
    return gr_loop_is_within(r->f->copy->loop, l->loop) ? gr_term_2(t, GR_TERM_ADD, gr_term_sym(t, s), gone)
                                                        : gone;
}

static void see_other(void *user, const GrSymbol *s) {
    Rounds *r = user;
    bool around = s->kind == GR_SYM_COUNTER && gr_loop_is_within(r->f->loop->loop, s->owner);
    r->other |= s->kind == GR_SYM_FREE || s->kind == GR_SYM_OBJECT || (s->kind == GR_SYM_COUNTER && !around);
}

// No thread takes the edge in that round.
static bool never_takes(const Flight *f, uint32_t from, uint32_t to, unsigned turns) {
    Rounds r = {f, of_loop(turns), false};
    GrReplace rounds = {.symbol = round_of, .user = &r};
    if (gr_walk_never_takes(f->w, from, to))
        return true;
    if (of_loop(turns) >= MANY || !f->loop || !gr_flat_in_loop(f->w->f, f->loop, from))
        return false;
    const GrTerm *taken = gr_walk_edge(f->w, from, to);
    const GrTerm *now = taken ? gr_term_replace(f->w->t, taken, &rounds) : NULL;
    if (!now || !gr_term_symbols(now, see_other, &r)) {
        f->w->nomem = true;
        return false;
    }
    return gr_term_never(now, r.other ? NULL : f->copy->guard);
}

static bool go_on(Flight *f, uint32_t block, unsigned phase, unsigned turns) {
    const CfgBlock *b = &f->w->f->cfg.blocks[block];
    for (uint32_t k = 0; k < b->n_succs; k++) {
        uint32_t to = b->succs[k];
        if (never_takes(f, block, to, turns))
            continue;
        unsigned now = turn(f, block, to, turns);
        uint32_t at = to * PHASES + phase;
        if (f->seen[at] >> now & 1)
            continue;
        f->seen[at] |= UINT64_C(1) << now;
        if (!gr_vec_push(&f->todo, (uint64_t)at * TURNS + now))
            return false;
    }
    return true;
}

static bool add_barrier(Flight *f, const GrBarrier *b, unsigned own) {
    bool ok = true;
    uint8_t taken = (uint8_t)(f->barrier[b->id] >> turns_of(0, own));
    for (unsigned reach = 0; reach < GR_REACHES && taken && ok; reach++)
        if (gr_barrier_joins(b->kind, (GrReach)reach) &&
            (reach != GR_REACH_GRID || gr_kernel_has_grid_barrier(f->w->out)))
            ok = gr_vec_push(
                &f->copy->after[reach],
                ((GrAfter){.barrier = b, .rounds = GR_ROUNDS_FLIGHT, .taken = taken, .own = (uint8_t)own}));
    return ok;
}

static bool add(Flight *f) {
    GrKernelModel *m = f->w->out;
    bool ok = true;
    for (unsigned own = 0; own <= ANY; own++) {
        for (size_t k = 0; k < m->barriers.len && ok; k++)
            ok = add_barrier(f, m->barriers.data[k], own);
        for (size_t k = 0; k < m->accesses.len && ok; k++) {
            uint8_t taken = (uint8_t)(f->access[k] >> turns_of(0, own));
            ok = !taken || gr_vec_push(&f->copy->flights,
                                       ((GrFlight){m->accesses.data[k], f->loop ? f->loop->loop : NULL, taken,
                                                   (uint8_t)own}));
        }
    }
    return ok;
}

static bool follow(Flight *f, size_t event) {
    GrKernelModel *m = f->w->out;
    unsigned phase = OPEN;
    memset(f->seen, 0, (size_t)f->w->f->cfg.n_blocks * PHASES * sizeof *f->seen);
    memset(f->barrier, 0, m->barriers.len * sizeof *f->barrier);
    memset(f->access, 0, m->accesses.len * sizeof *f->access);
    f->todo.len = 0;
    f->own = f->w->f->loop_of[f->start];
    while (f->own && f->own->parent)
        f->own = f->own->parent;
    if (f->own && f->loop && gr_loop_is_within(f->loop->loop, f->own->loop))
        f->own = NULL;
    if (pass(f, f->start, event + 1, &phase, 0) && !go_on(f, f->start, phase, 0))
        return false;
    while (f->todo.len) {
        uint64_t t = f->todo.data[--f->todo.len];
        uint32_t block = (uint32_t)(t / TURNS / PHASES);
        unsigned turns = t % TURNS;
        phase = (unsigned)(t / TURNS % PHASES);
        if (pass(f, block, 0, &phase, turns) && !go_on(f, block, phase, turns))
            return false;
    }
    return add(f);
}

// A copy is two accesses. What is behind it stands behind both.
static size_t last_of(const Events *e, size_t event) {
    while (event + 1 < e->list.len && e->list.data[event + 1].stmt == e->list.data[event].stmt)
        event++;
    return event;
}

bool gr_flights(KWalk *w, const Events *events) {
    const KFlat *flat = w->f;
    GrKernelModel *m = w->out;
    Flight f = {.w = w,
                .events = events,
                .seen = calloc(1 + (size_t)flat->cfg.n_blocks * PHASES, sizeof *f.seen),
                .barrier = calloc(1 + m->barriers.len, sizeof *f.barrier),
                .access = calloc(1 + m->accesses.len, sizeof *f.access)};
    bool ok = f.seen && f.barrier && f.access;
    for (uint32_t b = 0; b < flat->cfg.n_blocks; b++)
        for (size_t k = 0; k < events[b].list.len && ok; k++) {
            const Event *e = &events[b].list.data[k];
            if (!e->access || !e->access->async)
                continue;
            size_t last = last_of(&events[b], k);
            f.copy = e->access;
            f.start = b;
            f.loop = NULL;
            ok = follow(&f, last);
            for (size_t l = 0; l < flat->loops.len && ok; l++) {
                f.loop = flat->loops.data[l];
                ok = follow(&f, last);
            }
        }
    free(f.seen);
    free(f.barrier);
    free(f.access);
    gr_vec_free(&f.todo);
    return ok;
}
