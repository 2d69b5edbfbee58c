// SPDX-License-Identifier: Apache-2.0
#include "report/report_internal.h"

static GrSpot spot_of(const GrRace *r, const GrAccess *a) {
    const GrFrame *f = gr_access_frame(a, a->headline);
    GrSpot s = {.kind = a->host || !a->ptx_line ? a->kind : NULL, .file = f->file, .line = f->line};
    if (!f->line && !s.kind) {
        s.module = r->found.module;
        s.ptx_line = a->ptx_line;
    }
    return s;
}

static int compare_numbers(uint32_t a, uint32_t b) { return (a > b) - (a < b); }

int gr_compare_spots(const GrSpot *a, const GrSpot *b) {
    int d;
    if ((d = gr_compare_texts(a->file, b->file)) || (d = compare_numbers(a->line, b->line)) ||
        (d = gr_compare_texts(a->kind, b->kind)) || (d = gr_compare_texts(a->module, b->module)))
        return d;
    return compare_numbers(a->ptx_line, b->ptx_line);
}

void gr_race_spots(const GrRace *pair, GrSpot spots[2]) {
    GrSpot first = spot_of(pair, &pair->found.accesses[0]), second = first;
    if (gr_race_pair(pair))
        second = spot_of(pair, &pair->found.accesses[1]);
    bool swapped = gr_compare_spots(&first, &second) > 0;
    spots[0] = swapped ? second : first;
    spots[1] = swapped ? first : second;
}
