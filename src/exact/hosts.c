// SPDX-License-Identifier: Apache-2.0
// hosts — see hosts.h.
#include "exact/hosts.h"

#include <stdlib.h>

// So many launches are remembered for other threads after everything was waited for; so many while another thread's call has begun.
enum { KEPT_LAUNCHES = 128, KEPT_FOR_CALLS = 1024 };

static void clear(Map *m) {
    for (size_t k = 0; k < m->len; k++)
        if (m->entries[k].live)
            gr_clock_release(m->entries[k].value);
    gr_map_free(m);
}

void gr_hosts_free(Hosts *h) {
    for (size_t k = 0; k < h->threads.len; k++)
        gr_clock_release(h->threads.data[k].known);
    gr_vec_free(&h->threads);
    for (unsigned k = 0; k < HOST_WAITS; k++)
        gr_clock_release(h->wait[k].known);
    gr_clock_release(h->besides);
    gr_work_free(&h->work);
    clear(&h->kernels);
    gr_map_free(&h->pairs);
}

void gr_hosts_sweep(Hosts *h, Sweep *s) {
    for (size_t k = 0; k < h->threads.len; k++)
        gr_order_sweep_clock(s, &h->threads.data[k].known);
    for (unsigned k = 0; k < HOST_WAITS; k++)
        gr_order_sweep_clock(s, &h->wait[k].known);
    gr_order_sweep_clock(s, &h->besides);
    gr_work_sweep(&h->work, s);
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

void gr_hosts_note_wait(Hosts *h, const Work *w, const GrWork *e) {
    h->waits = e->waits;
    HostWait *at = &h->wait[(h->waits - 1) % HOST_WAITS];
    at->number = h->waits;
    gr_clock_take(&at->known, gr_clock_retain(w->host));
}

// ---- What is seen --------------------------------------------------------------------------------------------------

static HostThread *thread_of(Hosts *h, uint64_t id) {
    for (size_t k = 0; k < h->threads.len; k++)
        if (h->threads.data[k].id == id)
            return &h->threads.data[k];
    HostThread t = {id, NULL};
    if (!gr_vec_push(&h->threads, t)) {
        h->nomem = true;
        return NULL;
    }
    return &h->threads.data[h->threads.len - 1];
}

static void copy_map(Map *to, const Map *from, bool *nomem) {
    for (size_t k = 0; k < from->len; k++)
        if (from->entries[k].live &&
            !gr_map_put_u64(to, from->entries[k].key, gr_clock_retain(from->entries[k].value)))
            *nomem = true;
}

// Until now there was one thread: all that is known is known for sure, by that one.
static void become_several(Hosts *h, const Work *w) {
    h->several = true;
    h->work.pending = w->pending;
    h->work.n_streams = w->n_streams; // the same numbers mean the same streams
    for (size_t k = 0; k < w->streams.len; k++) {
        WorkStream s = w->streams.data[k];
        gr_clock_retain(s.clock);
        gr_clock_retain(s.before);
        if (!gr_vec_push(&h->work.streams, s))
            h->nomem = true;
    }
    copy_map(&h->work.marks, &w->marks, &h->nomem);
    copy_map(&h->work.submitted, &w->submitted, &h->nomem);
    if (h->threads.len)
        gr_clock_take(&h->threads.data[0].known, gr_clock_retain(w->host));
}

// The thread's clock takes the place of the host's while the call is heard of.
static void enter(Hosts *h, const GrWork *e, void (*f)(Work *w, const GrWork *e)) {
    HostThread *t = thread_of(h, e->thread);
    if (!t)
        return;
    h->work.host = t->known;
    f(&h->work, e);
    t->known = h->work.host;
    h->work.host = NULL;
}

static void waited(Work *w, const GrWork *e) { (void)gr_work_waited(w, e); }

void gr_hosts_hear(Hosts *h, const Work *w, const GrWork *e) {
    if (!e->thread || (e->kind != GR_WORK_SUBMITTED && e->kind != GR_WORK_WAITED))
        return;
    h->unsettled += e->kind == GR_WORK_SUBMITTED;
    if (!h->several && (!h->threads.len || h->threads.data[0].id == e->thread)) {
        (void)thread_of(h, e->thread);
        return;
    }
    if (!h->several)
        become_several(h, w);
    enter(h, e, e->kind == GR_WORK_SUBMITTED ? gr_work_submitted : waited);
}

Clock *gr_hosts_begins(Hosts *h, const GrWork *e) {
    Clock *prior = NULL, *c = h->several ? gr_work_begins(&h->work, e, &prior) : NULL;
    if (prior) // who waits is asked about by the other clock
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
    if (h->several)
        gr_work_ended(&h->work, e, done);
    gr_clock_take(&h->work.host, NULL); // host functions: what they know is told to nobody for sure
}

void gr_hosts_unsure_pair(Hosts *h, uint32_t a, uint32_t b) {
    uint64_t key = (uint64_t)(a < b ? a : b) << 32 | (a < b ? b : a);
    if (!gr_map_get_u64(&h->pairs, key) && !gr_map_put_u64(&h->pairs, key, h))
        h->nomem = true;
}

bool gr_hosts_keep(const Hosts *h, const GrWork *e) {
    return h->unsettled < (e->contended ? KEPT_FOR_CALLS : h->several ? KEPT_LAUNCHES : 0);
}

void gr_hosts_settled(Hosts *h) {
    h->unsettled = 0;
    for (size_t k = 0; k < h->threads.len; k++)
        gr_clock_take(&h->threads.data[k].known, NULL);
    for (unsigned k = 0; k < HOST_WAITS; k++)
        gr_clock_take(&h->wait[k].known, NULL);
    gr_clock_take(&h->besides, NULL);
    clear(&h->kernels);
    gr_work_settle(&h->work);
}
