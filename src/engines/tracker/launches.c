// SPDX-License-Identifier: Apache-2.0
// launches — see launches.h. All but the first and the last part runs with the driver's lock held.
#include "engines/tracker/launches.h"

#include "base/vec.h"
#include "engines/core/work.h"
#include "engines/tracker/boxes.h"
#include "engines/tracker/device/record.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT_COPIES = 512, KEPT_ALLOCATIONS = 1 << 14 };

// A kernel that runs.
typedef struct Running {
    uint64_t launch, stream; // the stream's number in work.h
    Clock *known;
} Running;

// A copy or a fill that has begun, and may not come before all that is yet to begin.
typedef struct Copy {
    WorkTurn turn;
    GrCopyState side[2];
    unsigned n_sides;
} Copy;

struct TrackerLaunches {
    GrSession *session;
    bool listens, nomem, several;
    CUdeviceptr at;
    GrLaunches *out; // where this process sees it
    Work work;
    Clock *unaware;    // Work.host before the last host function began,
    uint64_t function; // which counted as this wait (GrWork.waits)
    uint64_t only;     // the first stream that got work
    uint64_t first;    // streams have higher numbers
    VEC(uint32_t)
    begun; // by the stream's number less `first` less 1: the last turn that has begun since everything was settled
    Clock *all;       // begun as a clock
    Clock *lost;      // what GrLaunches has no more, as a clock
    uint64_t lost_to; // launches with higher numbers are there
    VEC(Running) running;
    VEC(Copy) copies, allocations; // allocations that nothing has freed
    uint64_t newest, forgotten;    // launch; copies
    uint64_t not_compared;         // allocations with launches
    VEC(CUdeviceptr) dirs;         // of contexts
    bool quiet;                    // read without the lock
};

// ---- What comes before what ----------------------------------------------------------------------------------------

static uint32_t *begun_of(TrackerLaunches *t, uint64_t stream) {
    while (t->begun.len < stream - t->first)
        if (!gr_vec_push(&t->begun, 0)) {
            t->nomem = true;
            return NULL;
        }
    return &t->begun.data[stream - t->first - 1];
}

// The last turn of the stream that `known` includes, of those since everything was settled.
static uint32_t known_of(const Clock *known, uint64_t stream) {
    return gr_clock_get(known, gr_stream_key(stream));
}

// An order may be forgotten: nothing is compared then, as nothing can be told from a race.
static bool has_forgotten(const TrackerLaunches *t) {
    return t->nomem || t->work.nomem || gr_clock_starved();
}

// Notes that a turn has begun. Takes `known` if that includes all that has begun before (`alone`): then the two clocks
// share structure, and comparing them costs little.
static void note_begun(TrackerLaunches *t, WorkTurn turn, bool alone, Clock *known, uint32_t *begun) {
    *begun = turn.turn;
    if (alone)
        gr_clock_take(&t->all, gr_clock_retain(known));
    gr_clock_add(&t->all, gr_stream_key(turn.stream), turn.turn);
}

// `known` includes `what`. Costs as much as the two differ.
static bool includes(Clock *known, Clock *what) {
    Clock *both = gr_clock_join(known, what);
    bool is = both == known;
    gr_clock_release(both);
    return is;
}

static bool knows_all(const TrackerLaunches *t, Clock *known) {
    return has_forgotten(t) || includes(known, t->all);
}

// The turn that the item which begins will have had when it has ended: items of a stream end in the order in which they
// begin.
static WorkTurn next_turn(const TrackerLaunches *t, const GrWork *w) {
    const WorkStream *s = gr_work_stream(&t->work, w->stream);
    if (!s)
        return (WorkTurn){0};
    uint32_t turn = s->turn + 1;
    for (size_t k = 0; k < t->running.len; k++)
        turn += t->running.data[k].stream == s->number;
    return (WorkTurn){s->number, turn};
}

// ---- What device code reads ----------------------------------------------------------------------------------------

static uint32_t numbers(const TrackerLaunches *t) {
    return t->out ? __atomic_load_n((const uint32_t *)&t->out->numbers, __ATOMIC_RELAXED) : 0;
}

static GrLaunchState *state_of(const TrackerLaunches *t, uint64_t launch) {
    GrLaunchState *l = t->out ? &t->out->of[launch % GR_LAUNCHES] : NULL;
    return l && l->number == launch ? l : NULL;
}

static GrView *view_of(const TrackerLaunches *t, uint64_t launch) {
    GrView *v = t->out ? &t->out->view[launch % GR_VIEWS] : NULL;
    return v && v->number == launch ? v : NULL;
}

// Sets a place of the view. A stream of which not everything comes before the launch goes before one of which
// everything does.
static void put_known(TrackerLaunches *t, GrView *v, const Clock *known, uint64_t stream) {
    uint32_t turn = known_of(known, stream), *begun = begun_of(t, stream);
    uint64_t *place = &v->known[stream % GR_STREAMS];
    bool taken = *place && *place >> 32 != (uint32_t)stream;
    if (!taken || (begun && turn < *begun))
        *place = stream << 32 | turn;
}

static void put_copy(TrackerLaunches *t, GrView *v, const Copy *c) {
    for (unsigned k = 0; k < c->n_sides; k++) {
        if (v->copies == GR_COPIES && c->side[k].what >> GR_WHAT_BY == GR_BY_ALLOC)
            t->not_compared++;
        else if (v->copies == GR_COPIES)
            t->forgotten++;
        else
            v->copy[v->copies++] = c->side[k];
    }
}

// Notes that a launch has taken an old one's place.
static void lose(TrackerLaunches *t, const GrLaunchState *old) {
    if (old->number <= t->out->settled || old->stream <= t->first || old->stream - t->first > t->begun.len)
        return;
    gr_clock_add(&t->lost, gr_stream_key(old->stream), old->turn);
    t->lost_to = old->number > t->lost_to ? old->number : t->lost_to;
}

// The number up to which all launches come before what has `known`; 0: not known.
static uint64_t floor_of(const TrackerLaunches *t, Clock *known) {
    return includes(known, t->lost) ? t->lost_to : 0;
}

// A view that is being filled. A place gets the newest of its streams of which not all comes before the launch, else
// the oldest.
typedef struct Filling {
    TrackerLaunches *t;
    GrView *view;
    const Clock *known;
    unsigned n; // places that have one of which not all comes before
} Filling;

static void fill_place(Filling *f, uint64_t stream) {
    const TrackerLaunches *t = f->t;
    uint64_t *place = &f->view->known[stream % GR_STREAMS];
    uint32_t turn = known_of(f->known, stream);
    if (stream <= t->first || stream - t->first > t->begun.len || stream <= *place >> 32 ||
        turn >= t->begun.data[stream - t->first - 1])
        return;
    f->n += !*place;
    *place = stream << 32 | turn;
}

static void fill_changed(void *user, uint64_t key, uint32_t v) {
    (void)v;
    if ((key & 7) == GR_STREAM_LEVEL)
        fill_place(user, key >> 3);
}

// Looks at the newest streams one by one; of others only at those of which something is not known.
static void fill_view(TrackerLaunches *t, GrView *v, Clock *known) {
    enum { NEWEST = 4 * GR_STREAMS };
    Filling f = {t, v, known, 0};
    size_t n = t->begun.len, k = 0;
    for (; k < n && k < NEWEST && f.n < GR_STREAMS; k++)
        fill_place(&f, t->first + n - k);
    if (k < n && f.n < GR_STREAMS) {
        Clock *both = gr_clock_join(known, t->all);
        gr_clock_changes(known, both, fill_changed, &f);
        gr_clock_release(both);
    }
    for (k = 0; k < n && k < GR_STREAMS; k++) {
        uint64_t stream = t->first + 1 + k, *place = &v->known[stream % GR_STREAMS];
        if (!*place)
            *place = stream << 32 | known_of(known, stream);
    }
}

static GrView *new_view(TrackerLaunches *t, const Running *r) {
    GrView *v = &t->out->view[r->launch % GR_VIEWS];
    memset(v, 0, offsetof(GrView, copy));
    fill_view(t, v, r->known);
    for (size_t k = 0; k < t->copies.len; k++)
        if (t->copies.data[k].turn.turn > known_of(r->known, t->copies.data[k].turn.stream))
            put_copy(t, v, &t->copies.data[k]);
    for (size_t k = 0; k < t->allocations.len; k++)
        if (t->allocations.data[k].turn.turn > known_of(r->known, t->allocations.data[k].turn.stream))
            put_copy(t, v, &t->allocations.data[k]);
    v->floor = floor_of(t, r->known);
    v->number = r->launch;
    return v;
}

// Something has begun beside the kernels that run: a launch in that stream, or a copy. Tells them.
static void tell_running(TrackerLaunches *t, uint64_t stream, const Copy *c) {
    for (size_t k = 0; k < t->running.len && t->out && !has_forgotten(t); k++) {
        const Running *r = &t->running.data[k];
        GrLaunchState *l = state_of(t, r->launch);
        GrView *v = !l ? NULL : l->apart ? view_of(t, r->launch) : new_view(t, r);
        if (!v) // a later launch has its place
            continue;
        put_known(t, v, r->known, stream);
        if (c)
            put_copy(t, v, c);
        __atomic_store_n(&l->apart, 1, __ATOMIC_RELEASE);
    }
}

// ---- Kernels -------------------------------------------------------------------------------------------------------

static void kernel_begins(TrackerLaunches *t, const GrWork *w, Clock *known) {
    WorkTurn turn = next_turn(t, w);
    // A kernel that may begin early counts as one that waits at once for those before it: what it does before its wait
    // is not compared with them.
    if (turn.turn > 1)
        gr_clock_add(&known, gr_stream_key(turn.stream), turn.turn - 1);
    Running r = {w->launch, turn.stream, known};
    t->newest = w->launch > t->newest ? w->launch : t->newest;
    uint32_t *begun = turn.turn ? begun_of(t, turn.stream) : NULL;
    if (!begun) {
        gr_clock_release(known);
        return;
    }
    tell_running(t, turn.stream, NULL);
    bool alone = knows_all(t, known);
    note_begun(t, turn, alone, known, begun);
    alone &= !t->running.len || has_forgotten(t);
    if (t->out) {
        GrLaunchState *l = &t->out->of[w->launch % GR_LAUNCHES];
        lose(t, l);
        *l = (GrLaunchState){.stream = (uint32_t)turn.stream,
                             .device = (uint32_t)w->device,
                             .turn = turn.turn,
                             .begun = numbers(t),
                             .ended = ~0u,
                             .places = alone ? 0 : (uint32_t)w->launch * GR_PLACES};
        l->number = w->launch;
        if (!alone) {
            (void)new_view(t, &r);
            l->apart = 1;
        }
    }
    if (!gr_vec_push(&t->running, r)) {
        gr_clock_release(known);
        t->nomem = true;
    }
}

static void kernel_ended(TrackerLaunches *t, const GrWork *w) {
    GrLaunchState *l = state_of(t, w->launch);
    if (l)
        l->ended = numbers(t);
    for (size_t k = 0; k < t->running.len; k++)
        if (t->running.data[k].launch == w->launch) {
            gr_clock_release(t->running.data[k].known);
            for (size_t n = k + 1; n < t->running.len; n++)
                t->running.data[n - 1] = t->running.data[n];
            t->running.len--;
            return;
        }
}

// ---- Copies, fills and frees ---------------------------------------------------------------------------------------

typedef struct Asks {
    const Clock *known;
    uint64_t last; // launches with greater numbers come after
} Asks;

// The launch is ordered with the item that begins, or with the free.
static bool comes_before(void *user, const GrLaunchState *l) {
    const Asks *a = user;
    return l->turn <= known_of(a->known, l->stream) || l->number > a->last;
}

static void add_side(Copy *c, const GrBox *b, uint32_t what, uint32_t begun, uint32_t call) {
    if (!b->at || !b->width || !b->height || !b->depth)
        return;
    c->side[c->n_sides++] = (GrCopyState){.at = b->at,
                                          .end = gr_box_end(b),
                                          .width = b->width,
                                          .height = b->height,
                                          .depth = b->depth,
                                          .pitch = b->height > 1 ? b->pitch : 0,
                                          .slice = b->depth > 1 ? b->slice : 0,
                                          .begun = begun,
                                          .what = what,
                                          .call = call};
}

static Copy copy_of(const TrackerLaunches *t, const GrWork *w) {
    Copy c = {.n_sides = 0};
    uint32_t by = w->type == GR_WORK_COPY    ? GR_BY_COPY
                  : w->type == GR_WORK_FILL  ? GR_BY_FILL
                  : w->type == GR_WORK_ALLOC ? GR_BY_ALLOC
                                             : GR_BY_FREE;
    if (w->type == GR_WORK_COPY)
        add_side(&c, &w->from, GR_WHAT_READS | by << GR_WHAT_BY, numbers(t), w->call);
    add_side(&c, &w->to, GR_WHAT_WRITES | by << GR_WHAT_BY, numbers(t), w->call);
    return c;
}

// Keeps a copy; the oldest one goes when there are too many.
static void keep_copy(TrackerLaunches *t, const Copy *c) {
    if (t->copies.len == KEPT_COPIES) {
        WorkTurn oldest = t->copies.data[0].turn;
        t->forgotten += oldest.turn > known_of(t->work.host, oldest.stream);
        gr_vec_remove(&t->copies, 0);
    }
    t->nomem |= !gr_vec_push(&t->copies, *c);
}

// Keeps an allocation. If there are too many, those that the host knows of go, as they come before everything else.
static void keep_allocation(TrackerLaunches *t, const Copy *c) {
    size_t n = 0;
    for (size_t k = 0; t->allocations.len == KEPT_ALLOCATIONS && k < KEPT_ALLOCATIONS; k++) {
        const Copy *a = &t->allocations.data[k];
        if (a->turn.turn > known_of(t->work.host, a->turn.stream))
            t->allocations.data[n++] = *a;
    }
    if (t->allocations.len == KEPT_ALLOCATIONS)
        t->allocations.len = n;
    if (t->allocations.len == KEPT_ALLOCATIONS)
        t->not_compared++;
    else
        t->nomem |= !gr_vec_push(&t->allocations, *c);
}

// Drops copies to memory that is gone: what comes at the same place later is another allocation.
static void forget_copies(TrackerLaunches *t, const GrCopyState *gone) {
    for (size_t k = 0; k < t->copies.len; k++) {
        Copy *c = &t->copies.data[k];
        unsigned n = 0;
        for (unsigned i = 0; i < c->n_sides; i++)
            if (c->side[i].end <= gone->at || c->side[i].at >= gone->end)
                c->side[n++] = c->side[i];
        c->n_sides = n;
    }
    size_t left = 0;
    for (size_t k = 0; k < t->allocations.len; k++)
        if (t->allocations.data[k].side[0].at != gone->at)
            t->allocations.data[left++] = t->allocations.data[k];
    t->allocations.len = left;
}

static void copy_begins(TrackerLaunches *t, const GrWork *w, Clock *known) {
    Copy c = copy_of(t, w);
    bool alone = knows_all(t, known);
    c.turn = next_turn(t, w);
    uint32_t *begun = c.turn.turn ? begun_of(t, c.turn.stream) : NULL;
    if (!begun)
        return;
    note_begun(t, c.turn, alone, known, begun);
    Asks a = {known, UINT64_MAX};
    for (unsigned k = 0; k < c.n_sides && t->out && !alone; k++)
        gr_boxes_look(t->session, t->out, t->newest, &c.side[k], comes_before, &a);
    tell_running(t, c.turn.stream, &c);
    if (w->type == GR_WORK_ALLOC) {
        if (c.n_sides)
            keep_allocation(t, &c);
        return;
    }
    if (w->type != GR_WORK_FREE) {
        keep_copy(t, &c);
        return;
    }
    if (c.n_sides)
        forget_copies(t, &c.side[0]);
    if (c.n_sides && t->out && !alone)
        gr_boxes_clear(t->session, t->out, &c.side[0]);
}

// The host frees memory, after what it had waited for at its call.
static void freed(TrackerLaunches *t, const GrWork *w) {
    Copy c = copy_of(t, w);
    Clock *known = gr_work_freed(&t->work, w);
    Asks a = {known, w->launch};
    if (c.n_sides)
        forget_copies(t, &c.side[0]);
    if (t->out && c.n_sides && !knows_all(t, known)) {
        gr_boxes_look(t->session, t->out, t->newest, &c.side[0], comes_before, &a);
        gr_boxes_clear(t->session, t->out, &c.side[0]);
    }
    gr_clock_release(known);
}

// ---- Work ----------------------------------------------------------------------------------------------------------

static bool accesses(const GrWork *w) {
    return w->type == GR_WORK_KERNEL || w->type == GR_WORK_COPY || w->type == GR_WORK_FILL ||
           w->type == GR_WORK_ALLOC || w->type == GR_WORK_FREE;
}

static void begins(TrackerLaunches *t, const GrWork *w) {
    Clock *prior, *known = gr_work_begins(&t->work, w, &prior);
    if (prior)
        gr_clock_take(&known, prior);
    if (w->type == GR_WORK_KERNEL) {
        kernel_begins(t, w, known);
        return;
    }
    if (accesses(w))
        copy_begins(t, w, known);
    if (w->type == GR_WORK_HOST) { // a thread of the host runs it, which may tell the others
        gr_clock_take(&t->unaware, gr_clock_retain(t->work.host));
        t->function = w->waits;
        gr_clock_merge(&t->work.host, known);
    }
    gr_clock_release(known);
}

// A call that began before the host function did knows nothing of it.
static void submitted(TrackerLaunches *t, const GrWork *w) {
    Clock *now = t->work.host;
    if (w->began < t->function)
        t->work.host = t->unaware;
    gr_work_submitted(&t->work, w);
    t->work.host = now;
}

// Everything is over, and all later work knows that.
static void settle(TrackerLaunches *t) {
    gr_work_settle(&t->work);
    gr_clock_take(&t->unaware, NULL);
    t->function = 0;
    t->begun.len = 0;
    gr_clock_take(&t->all, NULL);
    gr_clock_take(&t->lost, NULL);
    t->lost_to = 0;
    t->first = t->work.n_streams;
    t->copies.len = t->allocations.len = 0;
    __atomic_store_n(&t->quiet, true, __ATOMIC_RELAXED);
    if (t->out)
        t->out->settled = t->newest;
}

static void hear(void *user, const GrWork *w) {
    TrackerLaunches *t = user;
    void *(*view)(unsigned long long, size_t) =
        t->at && !t->out
            ? (void *(*)(unsigned long long, size_t))t->session->symbol(t->session, "gr_cpu_device_view")
            : NULL;
    if (view)
        t->out = view(t->at, sizeof *t->out);
    switch (w->kind) {
    case GR_WORK_SUBMITTED:
        t->only = t->only ? t->only : w->stream;
        t->several |= !w->legacy || w->stream != t->only; // each device has a default stream
        if (t->out)
            t->out->several = t->several;
        __atomic_store_n(&t->quiet, false, __ATOMIC_RELAXED);
        submitted(t, w);
        break;
    case GR_WORK_BEGINS: begins(t, w); break;
    case GR_WORK_ENDED:
        if (w->type == GR_WORK_KERNEL)
            kernel_ended(t, w);
        (void)gr_work_ended(&t->work, w, accesses(w), NULL);
        break;
    case GR_WORK_FREES: submitted(t, w); break;
    case GR_WORK_FREED: freed(t, w); break;
    case GR_WORK_WAITED:
        if (gr_work_waited(&t->work, w) && !t->running.len)
            settle(t);
        break;
    }
}

// ---- Without the driver's lock -------------------------------------------------------------------------------------

TrackerLaunches *gr_tracker_launches_new(GrSession *s) {
    TrackerLaunches *t = calloc(1, sizeof *t);
    if (t)
        t->session = s;
    return t;
}

gr_status gr_tracker_launches_listen(TrackerLaunches *t, gr_error *err) {
    int (*observe)(void (*)(void *, const GrWork *), void *) =
        t->listens ? NULL
                   : (int (*)(void (*)(void *, const GrWork *), void *))t->session->symbol(
                         t->session, "gr_cpu_device_observe_work");
    if (observe && observe(hear, t))
        return gr_fail(err, GR_ERR_NOMEM, "the device takes no more ears");
    t->listens |= observe != NULL;
    return GR_OK;
}

bool gr_tracker_launches_listens(const TrackerLaunches *t) { return t->listens; }

CUdeviceptr gr_tracker_launches_at(TrackerLaunches *t) {
    if (t->listens && !t->at)
        t->at = t->session->take(t->session, sizeof(GrLaunches));
    if (t->listens && !t->at)
        t->session->note(
            t->session, "engine tracker",
            "the device has no room for the order of launches: accesses of two launches were not compared");
    return t->at;
}

void gr_tracker_launches_metadata(TrackerLaunches *t, CUdeviceptr dir) {
    CUdeviceptr at = gr_tracker_launches_at(t);
    for (size_t k = 0; k < t->dirs.len; k++)
        if (t->dirs.data[k] == dir)
            return;
    uint64_t n = t->dirs.len + 1;
    if (!at || n > GR_CONTEXTS || !gr_vec_push(&t->dirs, dir))
        return;
    (void)t->session->write(t->session, at + offsetof(GrLaunches, dir) + (n - 1) * sizeof dir, &dir,
                            sizeof dir);
    (void)t->session->write(t->session, at + offsetof(GrLaunches, contexts), &n, sizeof n);
}

bool gr_tracker_launches_quiet(const TrackerLaunches *t) {
    return __atomic_load_n(&t->quiet, __ATOMIC_RELAXED) || !t->at;
}

void gr_tracker_launches_finish(const TrackerLaunches *t) {
    char text[160];
    if (t->forgotten) {
        snprintf(text, sizeof text,
                 "%llu copies were forgotten, which launches that nothing orders behind them may race with",
                 (unsigned long long)t->forgotten);
        t->session->note(t->session, "engine tracker", text);
    }
    if (t->not_compared) {
        snprintf(text, sizeof text,
                 "%llu times an allocation was not compared with a launch that nothing orders behind it: "
                 "there were too many",
                 (unsigned long long)t->not_compared);
        t->session->remark(t->session, text);
    }
    if (has_forgotten(t))
        t->session->note(t->session, "engine tracker",
                         "memory ran out, and the order of launches is not known");
}
