// SPDX-License-Identifier: Apache-2.0
// launches — launches and blocks, from their beginning to their end, and what is kept of them. sweep.c frees it.
#include "engines/exact/order/order_internal.h"

#include <stdlib.h>
#include <string.h>

const BlockInfo gr_order_nobody;

static void forget_fences(Order *o) {
    gr_order_fences_free(&o->fenced);
    gr_sc_forget(o);
}

void gr_order_expect(Order *o, uint64_t number, Clock *known) {
    o->told = true;
    if (known && !gr_map_put_u64(&o->expected, number, known)) {
        gr_clock_release(known);
        o->nomem = true;
    }
}

void gr_order_expect_prior(Order *o, uint64_t number, Clock *prior) {
    if (prior && !gr_map_put_u64(&o->priors, number, prior)) {
        gr_clock_release(prior);
        o->nomem = true;
    }
}

static void forget_infos(Order *o) {
    for (size_t k = 0; k < o->infos.len; k++)
        if (o->infos.data[k]) {
            free(o->infos.data[k]);
            o->table_bytes -= sizeof(InfoPage);
        }
    o->infos.len = 0;
    o->first_info = (o->next_id + INFO_BLOCKS - 1) >> INFO_SHIFT;
    o->next_id = o->first_info << INFO_SHIFT;
}

void gr_order_settle(Order *o) {
    if (o->active.len)
        return;
    gr_order_forget_joined(o);
    gr_order_vars_free(&o->sync);
    gr_map_free(&o->sync_pages);
    gr_map_free(&o->exits);
    gr_map_free(&o->by_number);
    forget_fences(o);
    for (size_t k = 1; k < o->launches.len; k++)
        if (o->launches.data[k] != o->launches.data[0])
            gr_order_free_launch(o, o->launches.data[k]);
    o->launches.len = o->launches.len ? 1 : 0;
    o->free_launches.len = 0;
    forget_infos(o);
}

// ---- Launches ------------------------------------------------------------------------------------------------------

void gr_order_free_launch(Order *o, Launch *l) {
    o->launches.data[l->index] = o->launches.data[0];
    if (!gr_vec_push(&o->free_launches, l->index))
        o->nomem = true;
    gr_clock_release(l->known);
    gr_clock_release(l->prior);
    gr_clock_release(l->sure);
    gr_clock_release(l->end);
    free(l);
    o->table_bytes -= sizeof *l;
}

static bool add_launch(Order *o, Launch *l) {
    if (o->free_launches.len) {
        l->index = o->free_launches.data[--o->free_launches.len];
        o->launches.data[l->index] = l;
        return true;
    }
    l->index = (uint32_t)o->launches.len;
    return o->launches.len < UINT32_MAX && gr_vec_push(&o->launches, l);
}

static Launch *new_launch(Order *o) {
    static const Launch gone = {.ended = 1, .grid = {1, 1, 1}, .block = {1, 1, 1}, .cluster = {1, 1, 1}};
    Launch *l = calloc(1, sizeof *l);
    if (!l || (!o->launches.len && !gr_vec_push(&o->launches, (Launch *)(uintptr_t)&gone)) ||
        !add_launch(o, l)) {
        free(l);
        o->nomem = true;
        return NULL;
    }
    o->table_bytes += sizeof *l;
    return l;
}

static uint64_t count_clusters(const VmLaunchEvent *e) {
    uint64_t n = 1;
    for (unsigned k = 0; k < 3; k++)
        n *= e->grid[k] / e->cluster[k] + 1;
    return n;
}

Launch *gr_order_launch_begin(Order *o, const VmLaunchEvent *e) {
    Launch *l = new_launch(o);
    if (!l)
        return NULL;
    l->number = e->launch;
    l->call = o->begins.number == e->launch ? o->begins.call : 0;
    l->order = o;
    l->first_cluster = o->next_cluster + 1;
    o->next_cluster += count_clusters(e);
    l->device = e->device;
    l->begun = ++o->moment;
    o->talking &= o->active.len != 0;
    l->known = gr_map_remove_u64(&o->expected, e->launch);
    l->prior = gr_map_remove_u64(&o->priors, e->launch);
    l->shared_bytes = e->shared_bytes;
    l->bulk = e->bulk;
    l->apart = !e->orders && e->cluster[0] * e->cluster[1] * e->cluster[2] == 1;
    memcpy(l->grid, e->grid, sizeof l->grid);
    memcpy(l->block, e->block, sizeof l->block);
    memcpy(l->cluster, e->cluster, sizeof l->cluster);
    l->threads = e->block[0] * e->block[1] * e->block[2];
    l->n_blocks = (uint64_t)e->grid[0] * e->grid[1] * e->grid[2];
    l->pages = calloc(l->n_blocks / PAGE_BLOCKS + 1, sizeof *l->pages);
    l->told = !o->told || !l->number;
    if (!l->pages || !gr_vec_push(&o->active, l) ||
        (!l->told && !gr_map_put_u64(&o->by_number, l->number, l)))
        o->nomem = true;
    return l;
}

Launch *gr_order_told(Order *o, uint64_t number) {
    Launch *l = gr_map_remove_u64(&o->by_number, number);
    if (l)
        l->told = true;
    return l;
}

void gr_order_had_turn(Launch *l, WorkTurn turn) {
    l->stream = turn.stream;
    l->turn = turn.turn;
    gr_clock_take(&l->end, NULL); // its stream knows it
}

void gr_order_launch_end(Order *o, Launch *l, bool faulted) {
    for (uint64_t k = 0; l->pages && k <= l->n_blocks / PAGE_BLOCKS; k++) {
        for (uint32_t i = 0; l->pages[k] && l->pages[k]->live && i < l->pages[k]->n; i++)
            if (l->pages[k]->block[i])
                gr_order_block_end(o, l->pages[k]->block[i]);
        free(l->pages[k]);
        l->pages[k] = NULL;
    }
    l->cut = faulted;
    l->ended = ++o->moment;
    free(l->pages);
    l->pages = NULL;
    gr_clock_take(&l->known, NULL); // none of its threads asks any more
    gr_clock_take(&l->prior, NULL);
    gr_clock_take(&l->sure, NULL);
    for (size_t k = 0; k < o->active.len; k++)
        if (o->active.data[k] == l)
            o->active.data[k] = o->active.data[--o->active.len];
    o->version++;
}

Launch *gr_order_launch(const Order *o, uint64_t number) {
    for (size_t k = 0; k < o->active.len; k++)
        if (o->active.data[k]->number == number)
            return o->active.data[k];
    return NULL;
}

static uint64_t cluster_of(const Launch *l, uint64_t linear) {
    const uint32_t *c = l->cluster;
    uint64_t x = linear % l->grid[0], y = linear / l->grid[0] % l->grid[1],
             z = linear / l->grid[0] / l->grid[1];
    uint64_t nx = l->grid[0] / c[0], ny = l->grid[1] / c[1];
    return l->first_cluster + x / c[0] + nx * (y / c[1] + ny * (z / c[2]));
}

// A block that has ended leaves its memory to the next one of as many warps, whose warps begin as new: everything in
// them that is not set here is zero.
static Block *take_block(Order *o, uint32_t n_warps) {
    Block *b = o->free_blocks;
    if (b && b->n_warps == n_warps) {
        Warp *warps = b->warps;
        o->free_blocks = b->next_free;
        memset(b, 0, sizeof *b);
        b->warps = warps;
    } else {
        b = calloc(1, sizeof *b);
        if (b)
            b->warps = calloc(n_warps, sizeof *b->warps);
    }
    if (b && !b->warps) {
        free(b);
        b = NULL;
    }
    if (b)
        b->n_warps = n_warps;
    return b;
}

static void free_block(Block *b) {
    free(b->warps);
    free(b);
}

// Where the launch keeps the block's pointer. NULL: out of memory.
static Block **place_of(Launch *l, uint64_t linear) {
    if (!l->pages || linear >= l->n_blocks)
        return NULL;
    BlockPage **p = &l->pages[linear / PAGE_BLOCKS];
    if (!*p) {
        uint64_t left = l->n_blocks - linear / PAGE_BLOCKS * PAGE_BLOCKS;
        uint32_t n = left < PAGE_BLOCKS ? (uint32_t)left : PAGE_BLOCKS;
        *p = calloc(1, sizeof **p + n * sizeof(Block *));
        if (!*p)
            return NULL;
        (*p)->n = n;
    }
    (*p)->live++;
    return &(*p)->block[linear % PAGE_BLOCKS];
}

static void leave_place(Launch *l, uint64_t linear) {
    BlockPage **p = &l->pages[linear / PAGE_BLOCKS];
    (*p)->block[linear % PAGE_BLOCKS] = NULL;
    if (--(*p)->live == 0 && l->n_blocks > PAGE_BLOCKS) {
        free(*p);
        *p = NULL;
    }
}

uint64_t gr_order_new_id(Order *o, const BlockInfo *info) {
    if (!o->next_id)
        o->next_id = 1;
    while ((o->next_id >> INFO_SHIFT) - o->first_info >= o->infos.len)
        if (!gr_vec_push(&o->infos, NULL))
            return 0;
    InfoPage **p = &o->infos.data[(o->next_id >> INFO_SHIFT) - o->first_info];
    if (!*p) {
        *p = calloc(1, sizeof **p);
        if (!*p)
            return 0;
        o->table_bytes += sizeof **p;
    }
    (*p)->of[o->next_id % INFO_BLOCKS] = *info;
    return o->next_id++;
}

BlockInfo *gr_order_own_info(Order *o, uint64_t id) {
    return &o->infos.data[(id >> INFO_SHIFT) - o->first_info]->of[id % INFO_BLOCKS];
}

Block *gr_order_block_begin(Order *o, Launch *l, uint64_t linear) {
    BlockInfo info = {.linear = linear, .cluster = cluster_of(l, linear), .launch = l->index};
    Block *b = take_block(o, (l->threads + LANES - 1) / LANES), **place = place_of(l, linear);
    uint64_t id = b && place ? gr_order_new_id(o, &info) : 0;
    if (!id) {
        if (b)
            free_block(b);
        o->nomem = true;
        return NULL;
    }
    b->id = id;
    b->linear = linear;
    b->cluster = info.cluster;
    b->alone = l->cluster[0] * l->cluster[1] * l->cluster[2] == 1;
    b->launch = l;
    b->epoch = 1;
    b->base = gr_clock_retain(l->known);
    for (uint32_t k = 0; k < b->n_warps; k++) {
        Warp *w = &b->warps[k];
        uint32_t have = l->threads - k * LANES;
        w->index = k;
        w->exists = have >= LANES ? UINT32_MAX : (UINT32_C(1) << have) - 1;
        w->even = 1;
        for (uint32_t i = 0; i < LANES; i++)
            w->epoch[i] = w->learnt_in[i] = 1;
    }
    *place = b;
    return b;
}

static void free_warp(Warp *w) {
    gr_order_forget_lanes(w);
    gr_clock_release(w->imp);
    gr_clock_release(w->cached);
    gr_clock_release(w->cached_imp);
    gr_clock_take(&w->led, NULL);
    for (unsigned k = 0; k < LEARNT; k++)
        gr_clock_take(&w->learnt[k], NULL);
    for (uint32_t m = w->synced; m; m &= m - 1) {
        gr_order_lane_sync_free(w->sync[__builtin_ctz(m)]);
        w->sync[__builtin_ctz(m)] = NULL;
    }
    free(w->groups);
    gr_vec_free(&w->copies);
    free(w->dekker);
    gr_vec_free(&w->waited);
    if (w->has_waited)
        memset(w->waited_to, 0, sizeof w->waited_to);
    w->has_waited = false;
    w->least_waited = 0;
    w->imp = w->cached = w->cached_imp = NULL;
    w->groups = NULL;
    w->dekker = NULL;
    w->exited = w->synced = w->n_groups = w->cached_floor = w->cached_groups = w->cached_copied = w->bumped =
        0;
    w->recent_of = 0;
    w->has_imp = false;
    if (w->looked)
        memset(w->look, 0, sizeof w->look);
    w->looked = false;
}

static void free_blocks(Order *o) {
    for (Block *b = o->free_blocks, *next; b; b = next) {
        next = b->next_free;
        free_block(b);
    }
    o->free_blocks = NULL;
}

Block *gr_order_peer(const Block *b, uint32_t k) {
    const Launch *l = b->launch;
    const uint32_t *c = l->cluster, *g = l->grid;
    uint64_t x = b->linear % g[0] / c[0] * c[0] + k % c[0],
             y = b->linear / g[0] % g[1] / c[1] * c[1] + k / c[0] % c[1],
             z = b->linear / g[0] / g[1] / c[2] * c[2] + k / c[0] / c[1];
    return x < g[0] && y < g[1] ? gr_order_block(l, x + g[0] * (y + g[1] * z)) : NULL;
}

// Another block of b's cluster is still there. They all begin before any of them does anything.
static bool has_peers(const Block *b) {
    for (uint32_t k = 0; k < gr_cluster_size(b->launch) && !b->alone; k++) {
        const Block *p = gr_order_peer(b, k);
        if (p && p != b)
            return true;
    }
    return false;
}

// Drops what only the threads of the cluster needed.
static void forget_cluster(Order *o, uint64_t cluster) {
    for (size_t k = o->phases.len; k-- > 0;)
        if (o->phases.data[k].cluster == cluster)
            gr_order_drop_phase(o, k);
    gr_sc_forget_cluster(o, cluster);
}

void gr_order_block_end(Order *o, Block *b) {
    Launch *l = b->launch;
    Clock *last = NULL;
    for (uint32_t k = 0; k < b->n_warps; k++) {
        Warp *w = &b->warps[k];
        for (uint32_t m = w->exists; m; m &= m - 1) {
            Clock *c = imports_of(b, w, (uint32_t)__builtin_ctz(m));
            if (c != last && c != l->known)
                gr_clock_merge(&l->end, c);
            last = c;
            if (!w->own)
                break;
        }
    }
    gr_clock_merge(&l->end, b->left);
    if (gr_clock_has_apart(l->end)) // what leads to later launches they know
        gr_clock_take(&l->end, gr_clock_without_apart(l->end));
    for (uint32_t k = 0; k < b->n_warps; k++)
        free_warp(&b->warps[k]);
    for (unsigned k = 0; k < BARRIERS; k++)
        gr_clock_release(b->barrier[k].clock);
    for (size_t k = 0; k < b->mbars.len; k++)
        gr_mbar_clear(&b->mbars.data[k]);
    for (size_t k = 0; k < b->ops.len; k++)
        gr_order_op_free(o, b->ops.data[k]);
    gr_order_vars_free(&b->sync);
    gr_talks_free(&b->talks);
    if (!has_peers(b))
        forget_cluster(o, b->cluster);
    gr_clock_release(b->base);
    gr_sc_order_clear(&b->sc);
    gr_clock_release(b->left);
    gr_clock_release(b->met);
    gr_vec_free(&b->arrivals);
    gr_vec_free(&b->mbars);
    gr_vec_free(&b->ops);
    leave_place(l, b->linear);
    if (o->free_blocks && o->free_blocks->n_warps != b->n_warps)
        free_blocks(o);
    b->next_free = o->free_blocks;
    o->free_blocks = b;
}

void gr_order_free(Order *o) {
    for (size_t k = 1; k < o->launches.len; k++)
        if (!o->launches.data[k]->ended)
            gr_order_launch_end(o, o->launches.data[k], true);
    gr_order_settle(o);
    free_blocks(o);
    for (Op *op = o->free_ops, *next; op; op = next) {
        next = op->next_free;
        free(op);
    }
    o->free_ops = NULL;
    while (o->phases.len)
        gr_order_drop_phase(o, 0);
    for (size_t k = 0; k < o->expected.len; k++)
        if (o->expected.entries[k].live)
            gr_clock_release(o->expected.entries[k].value);
    for (size_t k = 0; k < o->priors.len; k++)
        if (o->priors.entries[k].live)
            gr_clock_release(o->priors.entries[k].value);
    gr_map_free(&o->priors);
    gr_map_free(&o->expected);
    gr_vec_free(&o->phases);
    gr_vec_free(&o->launches);
    gr_vec_free(&o->free_launches);
    gr_vec_free(&o->active);
    gr_vec_free(&o->infos);
}
