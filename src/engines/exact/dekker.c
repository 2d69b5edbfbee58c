// SPDX-License-Identifier: Apache-2.0
// dekker — see dekker.h.
#include "engines/exact/dekker.h"

#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

enum { LOADS = 1, STORES = 2 };

// ---- Which functions ------------------------------------------------------------------------------------------------

static bool is_shared_data(const PtxSite *s) {
    return s->strong && (s->space == PTX_GLOBAL || s->space == PTX_SHARED || s->space == PTX_GENERIC);
}

static bool note_functions(Dekker *d, const PtxModule *m) {
    d->has.len = 0;
    for (uint32_t k = 0; k < m->n_funcs; k++)
        if (!gr_vec_push(&d->has, 0))
            return false;
    for (uint32_t k = 1; k <= m->n_sites; k++) {
        const PtxSite *s = &m->sites[k];
        if (is_shared_data(s) && s->func->index < d->has.len)
            d->has.data[s->func->index] |= s->access == PTX_ACCESS_READ ? LOADS : STORES;
    }
    d->module = m->serial;
    return true;
}

static const PtxSite *site_of(Dekker *d, const DekkerAccess *a) {
    if (d->module != a->module->serial && !note_functions(d, a->module)) {
        d->nomem = true;
        return NULL;
    }
    const PtxSite *s = a->site && a->site <= a->module->n_sites ? &a->module->sites[a->site] : NULL;
    return s && s->func->index < d->has.len && d->has.data[s->func->index] == (LOADS | STORES) ? s : NULL;
}

// ---- What is said ---------------------------------------------------------------------------------------------------

void gr_exact_name_site(StrBuf *b, const PtxModule *m, uint32_t site) {
    const PtxStmt *s = m->sites[site].stmt;
    const PtxLoc *l = s->loc;
    while (l && l->inlined_at && l->inlined_at->file != l->file) // a header's function
        l = l->inlined_at;
    const char *file = l ? gr_ptx_file(m, l->file) : NULL;
    if (file)
        gr_str_addf(b, "%s:%u", file, l->line);
    else
        gr_str_addf(b, "PTX line %u", s->line);
}

static void confirm(Dekker *d, const PtxModule *m, const DekkerEdge *e, uint32_t store, uint32_t load) {
    if (e->store > m->n_sites || e->load > m->n_sites || store > m->n_sites || load > m->n_sites)
        return;
    uint64_t one = gr_mix64((uint64_t)e->store << 32 | e->load), two = gr_mix64((uint64_t)store << 32 | load),
             key = gr_mix64(m->serial) ^ (one + two);
    if (gr_map_get_u64(&d->pairs, key))
        return;
    d->nomem |= !gr_map_put_u64(&d->pairs, key, d);
    if (d->pairs.live > DEKKER_NAMED)
        return;
    gr_str_add(&d->named, d->named.len ? "; " : "");
    gr_exact_name_site(&d->named, m, e->store);
    gr_str_add(&d->named, " then ");
    gr_exact_name_site(&d->named, m, e->load);
    if (e->store == store && e->load == load)
        return;
    gr_str_add(&d->named, ", and ");
    gr_exact_name_site(&d->named, m, store);
    gr_str_add(&d->named, " then ");
    gr_exact_name_site(&d->named, m, load);
}

char *gr_dekker_text(const Dekker *d) {
    StrBuf b = {0};
    if (!d->pairs.live)
        return NULL;
    gr_str_addf(
        &b,
        "threads store to one place and then load another, crosswise, with no fence.sc between: both may see "
        "old values on a GPU, but never in this run, so races that follow from old values may be missed (%s",
        d->named.data ? d->named.data : "");
    if (d->pairs.live > DEKKER_NAMED)
        gr_str_addf(&b, "; and %zu more", d->pairs.live - DEKKER_NAMED);
    gr_str_add(&b, ")");
    return gr_str_take(&b);
}

// ---- Stores and loads -----------------------------------------------------------------------------------------------

static DekkerEdge *edge_of(const Dekker *d, uint64_t from, uint64_t to) {
    return &d->edges[gr_mix64(from + 3 * gr_mix64(to)) % DEKKER_EDGES];
}

static bool is_mine(const DekkerEdge *e, const Block *b, const Warp *w, unsigned lane) {
    return e->stored.id == b->id && e->stored.warp == w->index && e->lane == lane;
}

// The thread uses the value that it has loaded.
static void go_on(Dekker *d, const PtxModule *m, DekkerLane *l, const Block *b, const Warp *w,
                  unsigned lane) {
    for (unsigned k = 0; k < DEKKER_OPEN; k++) {
        DekkerEdge *e = l->open[k] ? &d->edges[l->open[k] - 1] : NULL;
        l->open[k] = 0;
        if (!e || !e->open || !is_mine(e, b, w, lane))
            continue;
        e->open = false;
        if (e->other_store && m)
            confirm(d, m, e, e->other_store, e->other_load);
    }
}

static void note_read(DekkerLane *l, uint64_t place, uint64_t now) {
    unsigned k = 0;
    while (k < DEKKER_READS && l->read[k].place != place)
        k++;
    if (k == DEKKER_READS) {
        k = l->next++ % DEKKER_READS;
        l->read[k].place = place;
        l->read[k].before = 0;
    }
    l->read[k].last = now;
}

static uint64_t read_before(const DekkerLane *l, uint64_t place) {
    for (unsigned k = 0; k < DEKKER_READS; k++)
        if (l->read[k].place == place)
            return l->read[k].before;
    return 0;
}

static void store(DekkerLane *l, uint64_t place, uint64_t now, uint32_t site, uint32_t epoch) {
    l->stored = place;
    l->stored_at = now;
    l->store = site;
    l->epoch = epoch;
    l->fenced = false;
    for (unsigned k = 0; k < DEKKER_READS; k++)
        l->read[k].before = l->read[k].last;
}

// Another thread stored to `place` and then loaded what this one has stored.
static void cross(Dekker *d, const Order *o, const View *v, const PtxModule *m, const DekkerLane *l,
                  uint64_t place, uint32_t site) {
    DekkerEdge *e = edge_of(d, place, l->stored);
    if (e->from != place || e->to != l->stored || e->stored.launch != v->launch->index ||
        is_mine(e, v->block, v->warp, v->lane) || e->loaded_at > l->stored_at || (e->fenced && l->fenced) ||
        read_before(l, place) > e->stored_at || gr_order_knows(o, v, &e->stored, e->lane))
        return;
    if (!e->open) {
        confirm(d, m, e, l->store, site);
        return;
    }
    e->other_store = l->store;
    e->other_load = site;
}

static void load(Dekker *d, const View *v, DekkerLane *l, uint64_t place, uint32_t site, uint64_t now) {
    DekkerEdge *e = edge_of(d, l->stored, place);
    if (!e->open || e->from != l->stored || e->to != place || !is_mine(e, v->block, v->warp, v->lane)) {
        *e = (DekkerEdge){.from = l->stored,
                          .to = place,
                          .stored = {v->block->id, l->epoch, v->launch->index, v->warp->index},
                          .lane = v->lane,
                          .store = l->store,
                          .stored_at = l->stored_at,
                          .open = true};
        l->open[1] = l->open[0];
        l->open[0] = (uint16_t)(e - d->edges + 1);
    }
    e->fenced = l->fenced;
    e->load = site;
    e->loaded_at = now;
    e->other_store = 0; // it looked again
}

static void one_lane(Dekker *d, const Order *o, const View *v, const DekkerAccess *a, const PtxSite *s) {
    DekkerLane *l = &v->warp->dekker[v->lane];
    uint64_t place = gr_mix64(a->lane_at(a->from, v->lane) ^ gr_mix64(a->owner)) | 1, now = ++d->moment;
    if (s->access != PTX_ACCESS_WRITE)
        note_read(l, place, now);
    if (s->access != PTX_ACCESS_READ) {
        go_on(d, a->module, l, v->block, v->warp, v->lane);
        store(l, place, now, a->site, v->warp->epoch[v->lane]);
    } else if (l->stored && l->stored != place) {
        cross(d, o, v, a->module, l, place, a->site);
        load(d, v, l, place, a->site, now);
    }
}

void gr_dekker_access(Dekker *d, const Order *o, Block *b, Warp *w, const DekkerAccess *a) {
    const PtxSite *s = d->spent < DEKKER_BUDGET ? site_of(d, a) : NULL;
    if (!s || (s->access == PTX_ACCESS_READ && !w->dekker)) // it has stored nothing
        return;
    if (!d->edges)
        d->edges = calloc(DEKKER_EDGES, sizeof *d->edges);
    if (!w->dekker)
        w->dekker = calloc(LANES, sizeof *w->dekker);
    if (!d->edges || !w->dekker) {
        d->nomem = true;
        return;
    }
    View v = {.launch = b->launch, .block = b, .warp = w};
    for (uint32_t m = a->mask; m; m &= m - 1, d->spent++) {
        v.lane = (uint32_t)__builtin_ctz(m);
        one_lane(d, o, &v, a, s);
    }
}

void gr_dekker_fence(Warp *w, uint32_t mask) {
    for (uint32_t m = w->dekker ? mask : 0; m; m &= m - 1)
        w->dekker[__builtin_ctz(m)].fenced = true;
}

void gr_dekker_block_ends(Dekker *d, Block *b) {
    for (uint32_t k = 0; d->edges && k < b->n_warps; k++) {
        const Warp *w = &b->warps[k];
        for (unsigned lane = 0; w->dekker && lane < LANES; lane++)
            go_on(d, b->launch->ptx, &w->dekker[lane], b, w, lane);
    }
}

void gr_dekker_free(Dekker *d) {
    gr_vec_free(&d->has);
    gr_map_free(&d->pairs);
    gr_str_free(&d->named);
    free(d->edges);
    d->edges = NULL;
}
