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
    clear_map(&w->marks);
    clear_map(&w->submitted);
    gr_clock_release(w->host);
}

static WorkStream *stream_of(Work *w, const GrWork *e) {
    for (size_t k = 0; k < w->streams.len; k++)
        if (w->streams.data[k].id == e->stream)
            return &w->streams.data[k];
    WorkStream s = {.id = e->stream,
                    .context = e->context,
                    .legacy = e->legacy,
                    .blocking = e->blocking,
                    .number = ++w->n_streams};
    if (!gr_vec_push(&w->streams, s)) {
        w->nomem = true;
        return NULL;
    }
    return &w->streams.data[w->streams.len - 1];
}

void gr_work_submitted(Work *w, const GrWork *e) {
    w->pending++;
    if (w->host && !gr_map_put_u64(&w->submitted, e->item, gr_clock_retain(w->host)))
        w->nomem = true;
}

// Its turn has come: so the legacy stream has waited for the blocking ones of its context, and they for it. But an allocation in the legacy stream
// waits for none of them, and what comes after it knows no more than it.
Clock *gr_work_begins(Work *w, const GrWork *e, Clock **prior) {
    WorkStream *mine = stream_of(w, e);
    Clock *c = gr_map_remove_u64(&w->submitted, e->item);
    *prior = NULL;
    if (!mine)
        return c;
    bool early = e->early && mine->kernel, kernel = e->type == GR_WORK_KERNEL;
    bool apart = e->type == GR_WORK_ALLOC && !e->node && mine->legacy;
    for (size_t k = 0; k < w->streams.len && (mine->legacy || mine->blocking) && !apart; k++) {
        const WorkStream *s = &w->streams.data[k];
        if (s->context == mine->context && (mine->legacy ? s->blocking : s->legacy))
            gr_clock_merge(&c, s->clock);
    }
    gr_clock_merge(&mine->clock, c);
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
}

// Whether the host has waited for the stream: for the legacy one as what is submitted to it would.
static bool is_waited(const WorkStream *s, const GrWork *e) {
    if (e->stream && s->id != e->stream)
        return e->legacy && s->context == e->context && s->blocking;
    return e->stream || !e->context || s->context == e->context;
}

bool gr_work_waited(Work *w, const GrWork *e) {
    if (e->mark)
        gr_clock_merge(&w->host, gr_map_get_u64(&w->marks, (uint64_t)(uintptr_t)e->mark));
    for (size_t k = 0; k < w->streams.len && !e->mark; k++)
        if (is_waited(&w->streams.data[k], e))
            gr_clock_merge(&w->host, w->streams.data[k].clock);
    if (w->pending)
        return false;
    for (size_t k = 0; k < w->streams.len; k++) // all over, but does the host know?
        if (w->streams.data[k].clock) {
            Clock *both = gr_clock_join(w->host, w->streams.data[k].clock);
            bool knows = both == w->host;
            gr_clock_release(both);
            if (!knows)
                return false;
        }
    return true;
}

// Streams come and go, those of a graph's branches with each launch of it: one that gets work again has a new number.
void gr_work_settle(Work *w) {
    for (size_t k = 0; k < w->streams.len; k++) {
        gr_clock_take(&w->streams.data[k].before, NULL);
        gr_clock_take(&w->streams.data[k].clock, NULL);
    }
    w->streams.len = 0;
    gr_clock_take(&w->host, NULL);
    clear_map(&w->marks);
}
