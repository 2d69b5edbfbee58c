// SPDX-License-Identifier: Apache-2.0
// engine arena — wants the program's device memory in one range of addresses, and looks whether it is there, for tests.
//
// A range that lies elsewhere, is not aligned or overlaps another one is a note, so the verdict is inconclusive. What
// was told is printed at the end.
#include "engines/core/engine.h"
#include "options/options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_RANGES = 1 << 16, ALIGN = 512 };

typedef struct Looker {
    GrSession *session;
    GrRange ranges[MAX_RANGES];
    unsigned n_ranges, total, others;
    size_t bytes, most, mapped;
} Looker;

static gr_status looker_begin(GrSession *s, const struct GrOptions *o, void **self, gr_error *err) {
    (void)o;
    Looker *l = calloc(1, sizeof *l);
    if (!l)
        return gr_fail(err, GR_ERR_NOMEM, "out of memory");
    l->session = s;
    *self = l;
    return GR_OK;
}

static void complain(const Looker *l, const char *what, const GrRange *r) {
    char text[160];
    snprintf(text, sizeof text, "%zu bytes at 0x%" PRIx64 " %s", r->size, (uint64_t)r->at, what);
    l->session->note(l->session, "arena", text);
}

static bool is_inside(const Looker *l, const GrRange *r) {
    GrArena a;
    if (!l->session->arena(l->session, &a)) {
        complain(l, "came, and there is no arena", r);
        return true;
    }
    return r->at >= a.base && r->at - a.base < a.size && r->size <= a.size - (r->at - a.base);
}

static void looker_allocated(void *self, const GrRange *r) {
    Looker *l = self;
    bool inside = is_inside(l, r);
    bool mine = r->kind == GR_RANGE_DEVICE;
    if (inside != mine)
        complain(l, mine ? "are not in the arena" : "are in the arena, though other memory than it is for",
                 r);
    if (mine && r->at % ALIGN)
        complain(l, "are not aligned", r);
    for (unsigned i = 0; i < l->n_ranges; i++)
        if (r->at < l->ranges[i].at + l->ranges[i].size && l->ranges[i].at < r->at + r->size)
            complain(l, "overlap other memory", r);
    if (l->n_ranges < MAX_RANGES)
        l->ranges[l->n_ranges++] = *r;
    l->total += mine;
    l->others += !mine && r->kind != GR_RANGE_MAPPING;
    l->mapped += r->kind == GR_RANGE_MAPPING ? r->size : 0;
    l->bytes += mine ? r->size : 0;
    l->most = l->bytes > l->most ? l->bytes : l->most;
}

static void looker_freed(void *self, const GrRange *r) {
    Looker *l = self;
    for (unsigned i = 0; i < l->n_ranges; i++)
        if (l->ranges[i].at == r->at) {
            l->bytes -= r->kind == GR_RANGE_DEVICE ? r->size : 0;
            l->mapped -= r->kind == GR_RANGE_MAPPING ? r->size : 0;
            l->ranges[i] = l->ranges[--l->n_ranges];
            return;
        }
}

static void looker_finish(void *self) {
    const Looker *l = self;
    printf("arena: %u allocations, %zu bytes at most, %zu left, %u other ranges, %zu bytes mapped\n",
           l->total, l->most, l->bytes, l->others, l->mapped);
    free(self);
}

const GrEngine gr_engine_arena = {
    .name = "arena",
    .summary = "looks where the program's memory lies (tests only)",
    .evidence = "none",
    .caps = CAP_CPU | CAP_GPU | CAP_ARENA,
    .begin = looker_begin,
    .allocated = looker_allocated,
    .freed = looker_freed,
    .finish = looker_finish,
};
