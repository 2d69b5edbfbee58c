// SPDX-License-Identifier: Apache-2.0
#include "engines/privatizer/ready.h"

static bool is_one_of(const GrPrivProved *of, unsigned n, uint64_t at) {
    for (unsigned k = 0; k < n; k++)
        if (of[k].size && of[k].at == at)
            return true;
    return false;
}

uint64_t gr_ready_spans(const Passes *p, uint32_t mode, GrPrivSpan out[GR_SPANS]) {
    uint64_t lines = 0;
    unsigned n = 0;
    for (size_t k = 0; k < p->layout->extents.len; k++) {
        const GrPrivExtent *e = &p->layout->extents.data[k];
        uint64_t first = (e->offset + GR_LINE - 1) / GR_LINE, end = (e->offset + e->size) / GR_LINE;
        if (!e->of_device || is_one_of(p->proved->only_read, GR_ONLY_READ, e->at) ||
            is_one_of(p->proved->only_written[mode != GR_OF_BLOCKS], GR_ONLY_WRITTEN, e->at) || first >= end)
            continue;
        if (n == GR_SPANS || end - first > GR_MOST_READY)
            return 0;
        out[n++] =
            (GrPrivSpan){e->at + (first * GR_LINE - e->offset), (uint32_t)first, (uint32_t)(end - first)};
        lines += end - first;
    }
    return lines;
}

uint64_t gr_window_spans(const Passes *p, uint32_t mode, GrPrivSpan out[GR_SPANS]) {
    enum { APART = 512 }; // of two allocations side by side: less than any takes
    uint64_t next = 0;    // the first line behind what there is
    out[0].lines = 0;
    for (size_t k = 0; k < p->layout->extents.len; k++) {
        const GrPrivExtent *e = &p->layout->extents.data[k];
        uint64_t first = e->offset / GR_LINE, end = (e->offset + e->size + GR_LINE - 1) / GR_LINE;
        if (is_one_of(p->proved->only_read, GR_ONLY_READ, e->at) ||
            is_one_of(p->proved->only_written[mode != GR_OF_BLOCKS], GR_ONLY_WRITTEN, e->at))
            continue;
        if (k >= p->layout->n_inside || !e->of_device ||
            (out[0].lines && (first < next || (first - next) * GR_LINE >= APART)))
            return 0;
        if (!out[0].lines)
            out[0] = (GrPrivSpan){e->at - (e->offset - first * GR_LINE), (uint32_t)first, 0};
        if (end - out[0].first > GR_MOST_READY)
            return 0;
        out[0].lines = (uint32_t)(end - out[0].first);
        next = end;
    }
    return out[0].lines;
}

uint64_t gr_ready_number(const Passes *p, uint32_t mode) {
    GrPrivSpan spans[GR_SPANS] = {{0}};
    uint64_t sum = gr_ready_spans(p, mode, spans);
    for (unsigned k = 0; k < GR_SPANS; k++)
        sum = (sum ^ spans[k].first ^ (uint64_t)spans[k].lines << 32) * UINT64_C(0x9e3779b97f4a7c15) +
              (sum >> 29);
    return sum;
}
