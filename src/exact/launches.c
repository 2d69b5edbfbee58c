// SPDX-License-Identifier: Apache-2.0
// launches — launches and blocks, from their beginning to their end, and what is kept of them.
#include "exact/order_internal.h"

#include <stdlib.h>
#include <string.h>

static void forget_fences(Order *o) {
    gr_order_fences_free(&o->fenced);
    for (size_t k = 0; k < o->cluster_sc.len; k++)
        if (o->cluster_sc.entries[k].live)
            gr_clock_release(o->cluster_sc.entries[k].value);
    for (unsigned k = 0; k < 64; k++)
        gr_clock_take(&o->device_sc[k], NULL);
    gr_clock_take(&o->system_sc, NULL);
    gr_map_free(&o->cluster_sc);
}

void gr_order_expect(Order *o, uint64_t number, Clock *known) {
    o->told = true;
    if (known && !gr_map_put_u64(&o->expected, number, known)) {
        gr_clock_release(known);
        o->nomem = true;
    }
}

void gr_order_settle(Order *o) {
    if (o->active.len)
        return;
    o->settled = (uint32_t)o->launches.len;
    gr_order_vars_free(&o->sync);
    gr_map_free(&o->exits);
    forget_fences(o);
    for (size_t k = o->launches.len; k-- > 0 && (o->launches.data[k]->known || o->launches.data[k]->end);) {
        gr_clock_take(&o->launches.data[k]->known, NULL);
        gr_clock_take(&o->launches.data[k]->end, NULL);
    }
}

Launch *gr_order_launch_begin(Order *o, const VmLaunchEvent *e) {
    Launch *l = calloc(1, sizeof *l);
    if (!l || !gr_vec_push(&o->launches, l)) {
        free(l);
        o->nomem = true;
        return NULL;
    }
    l->number = e->launch;
    l->index = (uint32_t)(o->launches.len - 1);
    l->order = o;
    l->device = e->device;
    l->begun = ++o->moment;
    l->known = gr_map_remove_u64(&o->expected, e->launch);
    l->shared_bytes = e->shared_bytes;
    l->bulk = e->bulk;
    l->apart = !e->orders && e->cluster[0] * e->cluster[1] * e->cluster[2] == 1;
    memcpy(l->grid, e->grid, sizeof l->grid);
    memcpy(l->block, e->block, sizeof l->block);
    memcpy(l->cluster, e->cluster, sizeof l->cluster);
    l->threads = e->block[0] * e->block[1] * e->block[2];
    l->n_blocks = (uint64_t)e->grid[0] * e->grid[1] * e->grid[2];
    l->pages = calloc(l->n_blocks / PAGE_BLOCKS + 1, sizeof *l->pages);
    if (!l->pages || !gr_vec_push(&o->active, l))
        o->nomem = true;
    return l;
}

void gr_order_launch_end(Order *o, Launch *l, bool faulted) {
    for (uint64_t k = 0; l->pages && k <= l->n_blocks / PAGE_BLOCKS; k++) {
        for (uint32_t i = 0; l->pages[k] && l->pages[k]->live && i < PAGE_BLOCKS; i++)
            if (l->pages[k]->block[i])
                gr_order_block_end(o, l->pages[k]->block[i]);
        free(l->pages[k]);
    }
    l->cut = faulted;
    l->ended = ++o->moment;
    free(l->pages);
    l->pages = NULL;
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
    return ((uint64_t)l->index + 1) << 40 | (x / c[0] + nx * (y / c[1] + ny * (z / c[2])));
}

// A block that has ended leaves its memory to the next one of as many warps, with its warps as new: everything in them that
// is not set here is zero.
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

// Where the block's pointer is kept. NULL: out of memory.
static Block **place_of(Launch *l, uint64_t linear) {
    if (!l->pages || linear >= l->n_blocks)
        return NULL;
    BlockPage **p = &l->pages[linear / PAGE_BLOCKS];
    if (!*p)
        *p = calloc(1, sizeof **p);
    if (!*p)
        return NULL;
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

Block *gr_order_block_begin(Order *o, Launch *l, uint64_t linear) {
    BlockInfo info = {.linear = linear, .cluster = cluster_of(l, linear), .launch = l->index};
    Block *b = take_block(o, (l->threads + LANES - 1) / LANES), **place = place_of(l, linear);
    if (!b || !place || (!o->info.len && !gr_vec_push(&o->info, (BlockInfo){0})) ||
        !gr_vec_push(&o->info, info)) {
        if (b)
            free_block(b);
        o->nomem = true;
        return NULL;
    }
    b->id = o->info.len - 1;
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
            w->epoch[i] = 1;
    }
    *place = b;
    return b;
}

static void free_warp(Warp *w) {
    gr_order_forget_lanes(w);
    gr_clock_release(w->imp);
    gr_clock_release(w->cached);
    gr_clock_release(w->cached_imp);
    for (uint32_t m = w->synced; m; m &= m - 1) {
        gr_order_lane_sync_free(w->sync[__builtin_ctz(m)]);
        w->sync[__builtin_ctz(m)] = NULL;
    }
    free(w->groups);
    gr_vec_free(&w->waited);
    w->imp = w->cached = w->cached_imp = NULL;
    w->groups = NULL;
    w->exited = w->synced = w->n_groups = w->cached_floor = w->cached_groups = 0;
    w->recent_of = 0;
    w->has_imp = false;
}

static void free_blocks(Order *o) {
    for (Block *b = o->free_blocks, *next; b; b = next) {
        next = b->next_free;
        free_block(b);
    }
    o->free_blocks = NULL;
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
    for (uint32_t k = 0; k < b->n_warps; k++)
        free_warp(&b->warps[k]);
    for (unsigned k = 0; k < BARRIERS; k++)
        gr_clock_release(b->barrier[k].clock);
    for (size_t k = 0; k < b->mbars.len; k++) {
        gr_sources_clear(&b->mbars.data[k].now);
        gr_sources_clear(&b->mbars.data[k].over);
        gr_clock_release(b->mbars.data[k].now_ops);
        gr_clock_release(b->mbars.data[k].over_ops);
    }
    for (size_t k = 0; k < b->ops.len; k++)
        gr_order_op_free(b->ops.data[k]);
    gr_order_vars_free(&b->sync);
    for (size_t k = o->phases.len; k-- > 0 && b->alone;)
        if (o->phases.data[k].cluster == b->cluster)
            gr_order_drop_phase(o, k);
    gr_clock_release(b->base);
    gr_clock_release(b->sc);
    gr_clock_release(b->left);
    gr_vec_free(&b->mbars);
    gr_vec_free(&b->ops);
    leave_place(l, b->linear);
    if (o->free_blocks && o->free_blocks->n_warps != b->n_warps)
        free_blocks(o);
    b->next_free = o->free_blocks;
    o->free_blocks = b;
}

void gr_order_free(Order *o) {
    for (size_t k = 0; k < o->launches.len; k++) {
        Launch *l = o->launches.data[k];
        if (!l->ended)
            gr_order_launch_end(o, l, true);
        gr_clock_release(l->known);
        gr_clock_release(l->end);
        free(l);
    }
    free_blocks(o);
    while (o->phases.len)
        gr_order_drop_phase(o, 0);
    gr_order_vars_free(&o->sync);
    forget_fences(o);
    for (size_t k = 0; k < o->expected.len; k++)
        if (o->expected.entries[k].live)
            gr_clock_release(o->expected.entries[k].value);
    gr_map_free(&o->expected);
    gr_map_free(&o->exits);
    gr_vec_free(&o->phases);
    gr_vec_free(&o->launches);
    gr_vec_free(&o->active);
    gr_vec_free(&o->info);
}
