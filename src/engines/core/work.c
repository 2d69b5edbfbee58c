// SPDX-License-Identifier: Apache-2.0
// work — see work.h.
#include "engines/core/work.h"

#include <stdlib.h>

static void clear_map(Map *m) {
    for (size_t k = 0; k < m->len; k++)
        if (m->entries[k].live)
            gr_clock_release(m->entries[k].value);
    gr_map_free(m);
}

void gr_work_free(Work *w) {
    for (size_t k = 0; k < w->streams.len; k++) {
        gr_clock_release(w->streams.data[k].clock);
        gr_clock_release(w->streams.data[k].before);
    }
    gr_vec_free(&w->streams);
    gr_vec_free(&w->legacies);
    gr_vec_free(&w->newer);
    gr_map_free(&w->of);
    clear_map(&w->marks);
    clear_map(&w->submitted);
    gr_clock_release(w->host);
    gr_clock_release(w->knew);
}

static size_t place_of(const Work *w, uint64_t id) { return (size_t)(uintptr_t)gr_map_get_u64(&w->of, id); }

const WorkStream *gr_work_stream(const Work *w, uint64_t id) {
    size_t n = place_of(w, id);
    return n ? &w->streams.data[n - 1] : NULL;
}

static WorkStream *add_stream(Work *w, WorkStream s) {
    size_t n = w->streams.len;
    // Places of `newer` are there for all, so that no clock is left out when memory is.
    if (!gr_vec_reserve(&w->newer, n + 1) ||
        (s.legacy && !gr_vec_reserve(&w->legacies, w->legacies.len + 1)) || !gr_vec_push(&w->streams, s) ||
        !gr_map_put_u64(&w->of, s.id, (void *)(uintptr_t)(n + 1))) {
        w->streams.len = n;
        w->nomem = true;
        return NULL;
    }
    if (s.legacy)
        (void)gr_vec_push(&w->legacies, n);
    if (s.newer)
        (void)gr_vec_push(&w->newer, n);
    return &w->streams.data[n];
}

static WorkStream *stream_of(Work *w, const GrWork *e) {
    size_t n = place_of(w, e->stream);
    if (n)
        return &w->streams.data[n - 1];
    return add_stream(w, (WorkStream){.id = e->stream,
                                      .context = e->context,
                                      .legacy = e->legacy,
                                      .blocking = e->blocking,
                                      .number = ++w->n_streams});
}

// The stream's clock is another one now.
static void changed(Work *w, WorkStream *s) {
    size_t n = (size_t)(s - w->streams.data);
    w->n_known = n < w->n_known ? n : w->n_known;
    if (s->blocking && !s->newer) {
        s->newer = true;
        (void)gr_vec_push(&w->newer, n);
    }
}

// What the blocking streams of the context know that its legacy stream does not.
static void merge_blocking(Work *w, const WorkStream *legacy, Clock **to) {
    size_t kept = 0;
    for (size_t k = 0; k < w->newer.len; k++) {
        WorkStream *s = &w->streams.data[w->newer.data[k]];
        if (s->context != legacy->context) {
            w->newer.data[kept++] = w->newer.data[k];
            continue;
        }
        gr_clock_merge(to, s->clock);
        s->newer = false;
    }
    w->newer.len = kept;
}

static void merge_legacy(const Work *w, const WorkStream *blocking, Clock **to) {
    for (size_t k = 0; k < w->legacies.len; k++)
        if (w->streams.data[w->legacies.data[k]].context == blocking->context)
            gr_clock_merge(to, w->streams.data[w->legacies.data[k]].clock);
}

static void copy_map(Work *w, Map *to, const Map *from) {
    for (size_t k = 0; k < from->len; k++)
        if (from->entries[k].live &&
            !gr_map_put_u64(to, from->entries[k].key, gr_clock_retain(from->entries[k].value)))
            w->nomem = true;
}

void gr_work_copy(Work *to, const Work *from) {
    to->pending = from->pending;
    to->n_streams = from->n_streams; // the same numbers mean the same streams
    for (size_t k = 0; k < from->streams.len; k++) {
        const WorkStream *s = &from->streams.data[k];
        if (add_stream(to, *s)) {
            gr_clock_retain(s->clock);
            gr_clock_retain(s->before);
        }
    }
    copy_map(to, &to->marks, &from->marks);
    copy_map(to, &to->submitted, &from->submitted);
}

void gr_work_submitted(Work *w, const GrWork *e) {
    w->pending++;
    if (w->host && !gr_map_put_u64(&w->submitted, e->item, gr_clock_retain(w->host)))
        w->nomem = true;
}

// The item's turn has come: so the legacy stream has waited for the blocking ones of its context, and they for it. But
// an allocation in the legacy stream waits for none of them, and later work knows no more than it.
Clock *gr_work_begins(Work *w, const GrWork *e, Clock **prior) {
    WorkStream *mine = stream_of(w, e);
    Clock *c = gr_map_remove_u64(&w->submitted, e->item);
    *prior = NULL;
    if (!mine)
        return c;
    bool early = e->early && mine->kernel, kernel = e->type == GR_WORK_KERNEL;
    bool apart = e->type == GR_WORK_ALLOC && !e->node && mine->legacy;
    if (mine->legacy && !apart)
        merge_blocking(w, mine, &c);
    else if (mine->blocking && !apart)
        merge_legacy(w, mine, &c);
    gr_clock_merge(&mine->clock, c);
    changed(w, mine);
    if (early) {
        gr_clock_merge(&c, mine->before);
        *prior = gr_clock_retain(mine->clock);
    } else {
        gr_clock_take(&c, gr_clock_retain(mine->clock));
    }
    mine->kernel = kernel;
    gr_clock_take(&mine->before, kernel ? gr_clock_retain(c) : NULL);
    return c;
}

WorkTurn gr_work_next_turn(Work *w, const GrWork *e) {
    const WorkStream *mine = stream_of(w, e);
    return mine ? (WorkTurn){mine->number, mine->turn + 1} : (WorkTurn){0};
}

WorkTurn gr_work_ended(Work *w, const GrWork *e, bool accesses, Clock *end) {
    WorkTurn turn = {0};
    w->pending -= w->pending != 0;
    WorkStream *mine = stream_of(w, e);
    if (!mine)
        return turn;
    uint64_t mark = (uint64_t)(uintptr_t)e->mark;
    changed(w, mine);
    if (accesses) {
        gr_clock_merge(&mine->clock, end);
        turn = (WorkTurn){mine->number, ++mine->turn};
        gr_clock_add(&mine->clock, gr_stream_key(mine->number), mine->turn);
        w->nomem |= mine->turn == UINT32_MAX;
    }
    if (e->type == GR_WORK_WAIT)
        gr_clock_merge(&mine->clock, gr_map_get_u64(&w->marks, mark));
    if (e->type == GR_WORK_RECORD) {
        gr_clock_release(gr_map_remove_u64(&w->marks, mark));
        if (mine->clock && !gr_map_put_u64(&w->marks, mark, gr_clock_retain(mine->clock)))
            w->nomem = true;
    }
    if (e->type == GR_WORK_HOST) { // the function ran on the host
        gr_clock_merge(&w->host, mine->clock);
        gr_clock_merge(&mine->clock, w->host);
    }
    return turn;
}

Clock *gr_work_freed(Work *w, const GrWork *e) {
    w->pending -= w->pending != 0;
    return gr_map_remove_u64(&w->submitted, e->item);
}

WorkTurn gr_work_host_did(Work *w) {
    gr_clock_add(&w->host, gr_stream_key(0), ++w->host_turn);
    return (WorkTurn){0, w->host_turn};
}

static void sweep_map(ClockFilter *f, Map *m) {
    for (size_t k = 0; k < m->len; k++) {
        Clock *c = m->entries[k].live ? m->entries[k].value : NULL;
        if (!c)
            continue;
        gr_clock_filter(f, &c);
        m->entries[k].value = c;
    }
}

void gr_work_sweep(Work *w, ClockFilter *f) {
    for (size_t k = 0; k < w->streams.len; k++)
        gr_clock_filter(f, &w->streams.data[k].clock);
    for (size_t k = 0; k < w->streams.len; k++)
        gr_clock_filter(f, &w->streams.data[k].before);
    sweep_map(f, &w->marks);
    sweep_map(f, &w->submitted);
    gr_clock_filter(f, &w->host);
    gr_clock_filter(f, &w->knew);
}

// Merges what the host waited for: a stream (legacy: with those it waits for), a context, or all. True: everything.
static bool merge_waited(Work *w, const GrWork *e) {
    size_t merged = 0;
    const WorkStream *of = e->stream ? gr_work_stream(w, e->stream) : NULL;
    if (of)
        gr_clock_merge(&w->host, of->clock);
    for (size_t k = 0; k < w->streams.len && (e->legacy || !e->stream); k++) {
        const WorkStream *s = &w->streams.data[k];
        if (e->stream ? s->context == e->context && s->blocking : !e->context || s->context == e->context) {
            gr_clock_merge(&w->host, s->clock);
            merged++;
        }
    }
    return merged == w->streams.len;
}

static bool host_knows(const Work *w, Clock *c) {
    Clock *both = gr_clock_join(w->host, c);
    bool knows = !c || both == w->host;
    gr_clock_release(both);
    return knows;
}

bool gr_work_waited(Work *w, const GrWork *e) {
    if (e->mark)
        gr_clock_merge(&w->host, gr_map_get_u64(&w->marks, (uint64_t)(uintptr_t)e->mark));
    else if (merge_waited(w, e) && !w->pending)
        return true;
    if (w->pending)
        return false;
    // All work is over, but does the host know?
    if (!host_knows(w, w->knew))
        w->n_known = 0; // it is another thread of the host
    gr_clock_take(&w->knew, gr_clock_retain(w->host));
    while (w->n_known < w->streams.len && host_knows(w, w->streams.data[w->n_known].clock))
        w->n_known++;
    return w->n_known == w->streams.len;
}

// Streams come and go, those of a graph's branches with each launch of it: one that gets work again has a new number.
void gr_work_settle(Work *w) {
    for (size_t k = 0; k < w->streams.len; k++) {
        gr_clock_take(&w->streams.data[k].before, NULL);
        gr_clock_take(&w->streams.data[k].clock, NULL);
    }
    w->streams.len = w->legacies.len = w->newer.len = w->n_known = 0;
    gr_map_free(&w->of);
    gr_clock_take(&w->host, NULL);
    gr_clock_take(&w->knew, NULL);
    clear_map(&w->marks);
}
