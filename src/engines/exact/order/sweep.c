// SPDX-License-Identifier: Apache-2.0
// sweep — gives back what no access can ask about any more: launches that are over, what is known of their blocks, and
// what clocks say of these.
//
// Running threads ask of order, about accesses that the shadow remembers (stamps) and about proxy fences. So everything
// of a launch goes once it has ended, its stream knows so, and nothing remembered is of it. Such a launch's accesses
// were superseded: whatever may race with one later races with a newer access of its kind, too (history.c). Clocks are
// never asked about threads that have gone, and drop them.
#include "engines/exact/order/order_internal.h"

#include <stdlib.h>

void gr_order_mark_begin(Order *o) {
    for (size_t k = 1; k < o->launches.len; k++)
        if (o->launches.data[k] != o->launches.data[0])
            o->launches.data[k]->needed = false;
    for (size_t k = 0; k < o->infos.len; k++)
        if (o->infos.data[k])
            o->infos.data[k]->needed = false;
}

void gr_order_mark(Order *o, uint32_t launch, uint64_t id) {
    uint64_t page = (id >> INFO_SHIFT) - o->first_info;
    if (launch && launch < o->launches.len && o->launches.data[launch] != o->launches.data[0])
        o->launches.data[launch]->needed = true;
    if (page < o->infos.len && o->infos.data[page])
        o->infos.data[page]->needed = true;
}

bool gr_order_is_needed(const Order *o, uint64_t id) {
    const BlockInfo *i = gr_order_info(o, id);
    uint64_t page = (id >> INFO_SHIFT) - o->first_info;
    return i->launch && o->launches.data[i->launch]->needed && o->infos.data[page]->needed;
}

typedef struct Search {
    const Order *order;
    bool found;
} Search;

static void look(void *user, uint64_t key, uint32_t v) {
    Search *s = user;
    (void)v;
    s->found |= level_of(key) != BY_STREAM && gr_order_is_needed(s->order, id_of(key));
}

bool gr_order_names_needed(const Order *o, const Clock *c) {
    Search s = {o, false};
    gr_clock_each(c, look, &s);
    return s.found;
}

// ---- Threads that are there ----------------------------------------------------------------------------------------

static void mark_block(Order *o, const Block *b) {
    gr_order_mark(o, b->launch->index, b->id);
    if (b->copies)
        gr_order_mark(o, b->launch->index, b->copies);
    for (size_t k = 0; k < b->ops.len; k++)
        gr_order_mark(o, b->launch->index, b->ops.data[k]->id);
}

// Marks launches that run, or have not ended for their streams; and the host's, which is not active.
static void mark_running(Order *o) {
    for (size_t k = 1; k < o->launches.len; k++) {
        Launch *l = o->launches.data[k];
        if (l == o->launches.data[0] || (l->ended && l->told && (l->turn || !l->number || !o->told)))
            continue;
        l->needed = true;
        for (uint64_t p = 0; l->pages && p <= l->n_blocks / PAGE_BLOCKS; p++)
            for (uint32_t i = 0; l->pages[p] && i < l->pages[p]->n; i++)
                if (l->pages[p]->block[i])
                    mark_block(o, l->pages[p]->block[i]);
    }
}

// ---- What goes -----------------------------------------------------------------------------------------------------

// Frees pages without blocks, but not the one of the next number: its place says where the numbers go on.
static void free_infos(Order *o) {
    size_t gone = 0;
    gr_order_mark(o, 0, o->next_id);
    for (size_t k = 0; k < o->infos.len; k++) {
        InfoPage *p = o->infos.data[k];
        if (p && !p->needed) {
            free(p);
            o->infos.data[k] = p = NULL;
            o->table_bytes -= sizeof *p;
        }
        for (size_t i = 0; p && i < INFO_BLOCKS; i++)
            if (!o->launches.data[p->of[i].launch]->needed)
                p->of[i].launch = 0;
        gone += gone == k && !p;
    }
    for (size_t k = gone; k < o->infos.len; k++)
        o->infos.data[k - gone] = o->infos.data[k];
    o->infos.len -= gone;
    o->first_info += gone;
}

static void free_launches(Order *o) {
    for (size_t k = 1; k < o->launches.len; k++) {
        Launch *l = o->launches.data[k];
        if (l != o->launches.data[0] && !l->needed)
            gr_order_free_launch(o, l);
    }
}

static bool is_kept(void *user, uint64_t key) {
    return level_of(key) == BY_STREAM || gr_order_info(user, id_of(key))->launch;
}

void gr_order_sweep_clock(Sweep *s, Clock **c) { gr_clock_filter(&s->filter, c); }

static void sweep_exits(Order *o) {
    for (size_t k = 0, n = o->exits.len; k < n; k++)
        if (o->exits.entries[k].live && !is_kept(o, o->exits.entries[k].key))
            (void)gr_map_remove_u64(&o->exits, o->exits.entries[k].key);
}

static void sweep_values(Sweep *s, Map *clocks) {
    for (size_t k = 0; k < clocks->len; k++) {
        Clock *c = clocks->entries[k].live ? clocks->entries[k].value : NULL;
        if (!c)
            continue;
        gr_order_sweep_clock(s, &c);
        clocks->entries[k].value = c;
    }
}

// Filters all clocks that outlive a launch.
static void sweep_clocks(Sweep *s) {
    Order *o = s->order;
    for (size_t k = 0; k < o->sync.len; k++)
        if (o->sync.entries[k].live)
            gr_sources_sweep(s, &((SyncVar *)o->sync.entries[k].value)->sources);
    for (size_t k = 0; k < o->phases.len; k++) {
        gr_sources_sweep(s, &o->phases.data[k].sources);
        gr_order_sweep_clock(s, &o->phases.data[k].met);
    }
    gr_sc_sweep(s);
    sweep_values(s, &o->expected);
    for (size_t k = 0; k < o->active.len; k++)
        gr_order_sweep_clock(s, &o->active.data[k]->end);
    gr_order_sweep_fences(s);
}

void gr_order_sweep(Order *o, Sweep *s) {
    *s = (Sweep){.order = o, .filter = {.keep = is_kept, .user = o}};
    gr_order_forget_joined(o);
    if (!o->launches.len)
        return;
    mark_running(o);
    gr_order_mark_fences(o);
    gr_sc_mark(o);
    free_infos(o);
    free_launches(o);
    sweep_exits(o);
    sweep_clocks(s);
}

void gr_order_sweep_end(Sweep *s) {
    gr_clock_filter_end(&s->filter);
    s->order->version++;
}
