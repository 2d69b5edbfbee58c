// SPDX-License-Identifier: Apache-2.0
// hosts — see hosts.h.
#include "engines/exact/hosts.h"

#include <stdlib.h>

// How many launches are remembered for other threads after everything was waited for, and how many while another
// thread's call has begun.
enum { KEPT_LAUNCHES = 128, KEPT_FOR_CALLS = 1024 };
// How many moments of a thread are kept. If they are full, every other one goes, except the first and the last few.
enum { KEPT_MOMENTS = 64 };

static void clear(Map *m) {
    for (size_t k = 0; k < m->len; k++)
        if (m->entries[k].live)
            gr_clock_release(m->entries[k].value);
    gr_map_free(m);
}

static void forget_threads(Hosts *h) {
    for (size_t k = 0; k < h->threads.len; k++) {
        gr_clock_release(h->threads.data[k].known);
        gr_vec_free(&h->threads.data[k].heard);
    }
    h->threads.len = 0;
}

static void forget_moments(Hosts *h) {
    for (size_t n = 0; n < h->moments.len; n++) {
        HostMoments *m = &h->moments.data[n];
        for (size_t k = 0; k < m->len; k++)
            gr_clock_release(m->data[k].known);
        gr_vec_free(m);
    }
}

void gr_hosts_free(Hosts *h) {
    forget_threads(h);
    forget_moments(h);
    gr_vec_free(&h->threads);
    gr_clock_release(h->function.known);
    gr_vec_free(&h->function.heard);
    gr_clock_release(h->functions);
    gr_vec_free(&h->moments);
    for (unsigned k = 0; k < HOST_WAITS; k++)
        gr_clock_release(h->wait[k].known);
    gr_clock_release(h->besides);
    gr_work_free(&h->work);
    clear(&h->kernels);
}

void gr_hosts_sweep(Hosts *h, Sweep *s) {
    for (size_t k = 0; k < h->threads.len; k++)
        gr_order_sweep_clock(s, &h->threads.data[k].known);
    gr_order_sweep_clock(s, &h->function.known);
    gr_order_sweep_clock(s, &h->functions);
    for (size_t n = 0; n < h->moments.len; n++)
        for (size_t k = 0; k < h->moments.data[n].len; k++)
            gr_order_sweep_clock(s, &h->moments.data[n].data[k].known);
    for (unsigned k = 0; k < HOST_WAITS; k++)
        gr_order_sweep_clock(s, &h->wait[k].known);
    gr_order_sweep_clock(s, &h->besides);
    gr_work_sweep(&h->work, &s->filter);
}

static HostThread *thread_of(Hosts *h, uint64_t id) {
    for (size_t k = 0; k < h->threads.len; k++)
        if (h->threads.data[k].id == id)
            return &h->threads.data[k];
    HostThread t = {.id = id};
    if (!gr_vec_push(&h->threads, t)) {
        h->nomem = true;
        return NULL;
    }
    return &h->threads.data[h->threads.len - 1];
}

// ---- What threads tell each other ----------------------------------------------------------------------------------

// What the thread knew at the newest moment that is not after `moment`; NULL: all such moments are forgotten.
static Clock *known_at(const HostMoments *m, uint64_t moment) {
    Clock *found = NULL;
    for (size_t k = 0; k < m->len && m->data[k].moment <= moment; k++)
        found = m->data[k].known;
    return found;
}

// The calling thread t learns what others have told it.
static void learn(Hosts *h, HostThread *t) {
    uint32_t n = 0;
    uint64_t version = 0;
    const uint64_t *moment = h->order ? h->order->knows(&n, &version) : NULL;
    if (!moment || version == t->version)
        return;
    t->version = version;
    while (t->heard.len < n)
        if (!gr_vec_push(&t->heard, 0)) {
            h->nomem = true;
            return;
        }
    for (uint32_t k = 0; k < n && k < h->moments.len; k++)
        if (moment[k] != t->heard.data[k] && k + 1 != t->number) {
            gr_clock_merge(&t->known, known_at(&h->moments.data[k], moment[k]));
            t->heard.data[k] = moment[k];
        }
}

static void thin_out(HostMoments *m) {
    size_t kept = 1;
    for (size_t k = 1; k < m->len; k++)
        if (k % 2 == 0 || k >= m->len - KEPT_MOMENTS / 4)
            m->data[kept++] = m->data[k];
        else
            gr_clock_release(m->data[k].known);
    m->len = kept;
}

// The calling thread, which knows `known`, tells others from now on. Yields its number.
static uint32_t tell(Hosts *h, Clock *known) {
    uint64_t moment = 0;
    uint32_t number = h->order ? h->order->waited(&moment) : 0;
    while (h->moments.len < number)
        if (!gr_vec_push(&h->moments, ((HostMoments){0}))) {
            h->nomem = true;
            return 0;
        }
    if (!number)
        return 0;
    HostMoments *m = &h->moments.data[number - 1];
    if (m->len == KEPT_MOMENTS)
        thin_out(m);
    if (gr_vec_push(m, ((HostMoment){moment, known})))
        gr_clock_retain(known);
    else
        h->nomem = true;
    return number;
}

// ---- When calls began ----------------------------------------------------------------------------------------------

Clock *gr_hosts_when_begun(const Hosts *h, const Work *w, const GrWork *e) {
    if (e->began >= h->waits)
        return gr_clock_retain(w->host);
    Clock *c = NULL;
    uint64_t oldest = h->waits > HOST_WAITS ? h->waits - HOST_WAITS : 0;
    if (e->began < oldest) // too long ago: as if it had begun later
        c = gr_clock_retain(h->wait[oldest % HOST_WAITS].known);
    else if (e->began)
        c = gr_clock_retain(h->wait[(e->began - 1) % HOST_WAITS].known);
    gr_clock_merge(&c, h->besides);
    return c;
}

static void note(Hosts *h, const Work *w, const GrWork *e) {
    h->waits = e->waits;
    HostWait *at = &h->wait[(h->waits - 1) % HOST_WAITS];
    at->number = h->waits;
    gr_clock_take(&at->known, gr_clock_retain(w->host));
}

void gr_hosts_note_wait(Hosts *h, const Work *w, const GrWork *e) {
    note(h, w, e);
    HostThread *t = h->several ? thread_of(h, e->thread) : NULL;
    if (t)
        t->number = tell(h, t->known);
    else if (!h->several)
        (void)tell(h, w->host);
}

// Another function may have told the function's thread something before; that counts as told to this one. What the
// function tells others counts as including all its accesses.
void gr_hosts_function_begins(Hosts *h, Work *w, const GrWork *e, Clock *sure) {
    HostThread *f = &h->function;
    note(h, w, e);
    h->began = e->waits;
    h->runs = true;
    h->turn = gr_work_next_turn(w, e);
    f->id = e->thread;
    gr_clock_take(&f->known, gr_clock_retain(sure));
    f->heard.len = 0;
    f->version = 0;
    learn(h, f);
    gr_clock_merge(&h->functions, f->known);
    gr_clock_add(&h->functions, gr_stream_key(h->turn.stream), h->turn.turn);
    f->number = tell(h, h->functions);
}

void gr_hosts_function_did(Hosts *h, Clock *c) {
    for (unsigned k = 0; k < HOST_WAITS; k++)
        if (h->wait[k].number >= h->began)
            gr_clock_merge(&h->wait[k].known, c);
}

// ---- What is seen --------------------------------------------------------------------------------------------------

// Until now there was one thread and no host function: that thread knows for sure all that is known.
static void become_several(Hosts *h, const Work *w) {
    h->several = true;
    gr_work_copy(&h->work, w);
    if (h->threads.len)
        gr_clock_take(&h->threads.data[0].known, gr_clock_retain(w->host));
}

// Puts the thread's clock in place of the host's while the call is heard of.
static void enter(Hosts *h, const GrWork *e) {
    HostThread *t = thread_of(h, e->thread);
    if (!t)
        return;
    learn(h, t);
    gr_clock_merge(&t->known, h->besides); // for accesses to memory the host's threads are one
    h->work.host = t->known;
    if (e->kind == GR_WORK_WAITED)
        h->knows_all = gr_work_waited(&h->work, e);
    else
        gr_work_submitted(&h->work, e);
    t->known = h->work.host;
    h->work.host = NULL;
}

void gr_hosts_hear(Hosts *h, const Work *w, const GrWork *e) {
    if (!e->thread || (e->kind != GR_WORK_SUBMITTED && e->kind != GR_WORK_WAITED && e->kind != GR_WORK_FREES))
        return;
    h->unsettled += e->kind == GR_WORK_SUBMITTED;
    h->callers |= h->threads.len && h->threads.data[0].id != e->thread;
    bool several = h->callers || (e->kind == GR_WORK_SUBMITTED && e->type == GR_WORK_HOST);
    if (!h->several && !several) {
        (void)thread_of(h, e->thread);
        return;
    }
    if (!h->several)
        become_several(h, w);
    enter(h, e);
}

Clock *gr_hosts_begins(Hosts *h, const GrWork *e) {
    Clock *prior = NULL, *c = h->several ? gr_work_begins(&h->work, e, &prior) : NULL;
    if (prior) // the other clock says which threads wait
        gr_clock_take(&c, prior);
    return c;
}

void gr_hosts_expect(Hosts *h, uint64_t launch, Clock *sure) {
    if (sure && !gr_map_put_u64(&h->kernels, launch, sure)) {
        gr_clock_release(sure);
        h->nomem = true;
    }
}

void gr_hosts_launch_begins(Hosts *h, Launch *l) {
    l->has_sure = h->several;
    l->sure = h->several ? gr_map_remove_u64(&h->kernels, l->number) : NULL;
}

void gr_hosts_ended(Hosts *h, const GrWork *e, Launch *done) {
    if (!h->several)
        return;
    HostThread *f = e->type == GR_WORK_HOST ? &h->function : NULL;
    if (f) { // which other threads may have told something meanwhile
        learn(h, f);
        h->work.host = f->known;
        h->runs = false;
    }
    (void)gr_work_ended(&h->work, e, f || done, NULL); // the turn is that of the other clock
    if (f)
        f->known = h->work.host;
    h->work.host = NULL;
}

void gr_hosts_freed(Hosts *h, const GrWork *e) {
    if (h->several)
        gr_clock_release(gr_work_freed(&h->work, e));
}

bool gr_hosts_keep(const Hosts *h, const GrWork *e) {
    bool others = h->callers || (h->several && !h->knows_all);
    return h->unsettled < (e->contended ? KEPT_FOR_CALLS : others ? KEPT_LAUNCHES : 0);
}

void gr_hosts_settled(Hosts *h) {
    h->unsettled = 0;
    if (h->callers)
        forget_threads(h);
    else if (h->threads.len)
        gr_clock_take(&h->threads.data[0].known, NULL);
    h->several = h->callers; // until the next host function
    gr_clock_take(&h->function.known, NULL);
    gr_clock_take(&h->functions, NULL);
    forget_moments(h);
    if (h->order)
        h->order->settled();
    for (unsigned k = 0; k < HOST_WAITS; k++)
        gr_clock_take(&h->wait[k].known, NULL);
    gr_clock_take(&h->besides, NULL);
    clear(&h->kernels);
    clear(&h->work.submitted);
    gr_work_settle(&h->work);
}
