// SPDX-License-Identifier: Apache-2.0
// planted — writes that are told late, and are older than anything the shadow remembers of their bytes: allocations
// (allocated.c). A line gets such a write when it is first touched, so untouched memory costs nothing.
#include "engines/exact/chains.h"

#include <stdlib.h>
#include <string.h>

static void plant_run(Shadow *s, Line *l, Run oldest) {
    Run *newest = &l->side[0];
    if (!newest->stamp) {
        *newest = oldest;
        l->length[0] = 1;
        return;
    }
    uint32_t number = gr_run_take(s, oldest);
    if (!number)
        return;
    Run *r = newest;
    while (r->next)
        r = &s->runs.data[r->next - 1];
    r->next = number;
    l->length[0] = (uint16_t)(l->length[0] + (l->length[0] < UINT16_MAX));
}

static History plant_entry(Shadow *s, History h, uint32_t stamp) {
    VEC(Entry) newer = {0};
    Entry e;
    for (History left = h; gr_history_next(s, &left, &e);)
        s->nomem |= !gr_vec_push(&newer, e);
    History now = gr_history_push(s, 0, (Entry){stamp, 1, ALL_BYTES, false}, true);
    while (newer.len) {
        History before = now;
        now = gr_history_push(s, before, newer.data[--newer.len], true);
        gr_history_release(s, before);
    }
    gr_vec_free(&newer);
    gr_history_release(s, h);
    return now;
}

static void plant_line(Shadow *s, Line *l, uint32_t stamp) {
    l->seen = 0;
    if (!gr_line_has_cells(l)) {
        plant_run(s, l, (Run){stamp, 1, gr_shape(FORM_WHOLE, 0), 0});
        return;
    }
    gr_line_written(s, l);
    for (unsigned k = 0; k < LINE_CELLS; k++)
        l->wide.cells[k].writes = plant_entry(s, l->wide.cells[k].writes, stamp);
}

// The index of the first planted write that ends after the address.
static size_t planted_from(const Shadow *s, uint64_t address) {
    size_t low = 0, high = s->planted.len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->planted.data[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void gr_shadow_plant_page(Shadow *s, Page *p, uint64_t at) {
    for (size_t k = planted_from(s, at); k < s->planted.len; k++) {
        const Planted *w = &s->planted.data[k];
        for (unsigned n = 0; n < PAGE_LINES; n++)
            if (at + n * LINE_BYTES >= w->at && at + n * LINE_BYTES < w->end)
                plant_line(s, &p->lines[n], w->stamp);
        if (w->end >= at + PAGE_LINES * LINE_BYTES)
            return;
    }
}

void gr_shadow_plant(Shadow *s, uint64_t at, uint64_t end, uint32_t stamp) {
    Planted w = {at, end, stamp};
    size_t k = planted_from(s, at);
    if (!gr_vec_push(&s->planted, w)) {
        s->nomem = true;
        return;
    }
    memmove(s->planted.data + k + 1, s->planted.data + k, (s->planted.len - 1 - k) * sizeof w);
    s->planted.data[k] = w;
    for (uint64_t from = at, next; from < end; from = next) {
        Page *p = gr_shadow_page(s, from, &next);
        for (uint64_t line = from; p && line < next && line < end; line += LINE_BYTES)
            plant_line(s, &p->lines[line / LINE_BYTES % PAGE_LINES], stamp);
    }
}

void gr_shadow_unplant(Shadow *s, uint64_t at) {
    size_t k = planted_from(s, at);
    if (k == s->planted.len || s->planted.data[k].at != at)
        return;
    gr_vec_remove(&s->planted, k);
}
