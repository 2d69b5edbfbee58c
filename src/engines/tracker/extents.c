// SPDX-License-Identifier: Apache-2.0
#include "engines/tracker/extents.h"

#include "engines/tracker/device/record.h"

#include <stdlib.h>

struct Extents {
    GrSession *session;
    CUdeviceptr table;
    GrExtent entries[GR_EXTENTS]; // what the device has
    uint32_t used[GR_EXTENTS];    // entries that were ever used
    uint32_t n_used;
    uint64_t highest; // no entry ends behind it: most allocations lie behind all that were there before
};

Extents *gr_extents_new(GrSession *s) {
    Extents *x = calloc(1, sizeof *x);
    CUdeviceptr table = x ? s->take(s, sizeof x->entries) : 0;
    if (!table) {
        free(x);
        return NULL;
    }
    x->session = s;
    x->table = table;
    return x;
}

void gr_extents_free(Extents *x) { free(x); }

CUdeviceptr gr_extents_table(const Extents *x) { return x ? x->table : 0; }

static void set(Extents *x, uint32_t k, uint64_t begin, uint64_t end) {
    x->entries[k] = (GrExtent){begin, end};
    (void)x->session->write(x->session, x->table + k * sizeof(GrExtent), &x->entries[k], sizeof(GrExtent));
}

// The host hears of the range's whole life, and kernels that use it have ended when it goes.
static bool is_lasting(const GrRange *r) {
    return r->kind == GR_RANGE_DEVICE || r->kind == GR_RANGE_MANAGED || r->kind == GR_RANGE_PINNED ||
           r->kind == GR_RANGE_REGISTERED;
}

void gr_extents_add(Extents *x, const GrRange *r) {
    if (!x || !r->size)
        return;
    for (uint32_t n = 0; n < x->n_used && r->at < x->highest; n++) {
        const GrExtent *e = &x->entries[x->used[n]];
        if (e->end && e->begin < r->at + r->size && r->at < e->end)
            set(x, x->used[n], e->begin, 0);
    }
    if (!is_lasting(r) || r->at % GR_EXTENT_ALIGN)
        return;
    for (uint32_t n = 0, k = gr_extent_slot(r->at); n < GR_EXTENT_TRIES; n++, k = (k + 1) % GR_EXTENTS) {
        if (x->entries[k].begin && x->entries[k].begin != r->at)
            continue;
        if (!x->entries[k].begin)
            x->used[x->n_used++] = k;
        set(x, k, r->at, r->at + r->size);
        x->highest = r->at + r->size > x->highest ? r->at + r->size : x->highest;
        return;
    }
}

void gr_extents_remove(Extents *x, uint64_t at) {
    if (!x)
        return;
    for (uint32_t n = 0, k = gr_extent_slot(at); n < GR_EXTENT_TRIES; n++, k = (k + 1) % GR_EXTENTS)
        if (x->entries[k].begin == at)
            set(x, k, at, 0);
}
