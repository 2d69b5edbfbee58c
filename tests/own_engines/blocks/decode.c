// SPDX-License-Identifier: Apache-2.0
#include "blocks.h"

const GrClass blocks_classes[] = {
#define CLASS(id, number, text, meaning) {number, text, meaning, GR_KIND_RACE},
#include "classes.def"
#undef CLASS
    {.number = 0},
};

static gr_status decode(const GrArea *area, const GrSink *to, gr_error *err) {
    const GrModuleInfo *m = area->module;
    const BlocksCell *cells = (const BlocksCell *)(const void *)area->bytes;
    if (m->area_bytes != ((uint64_t)m->n_sites + 1) * sizeof *cells)
        return gr_fail(err, GR_ERR_FORMAT, "an area of %llu bytes", (unsigned long long)m->area_bytes);
    for (uint32_t k = 1; k <= m->n_sites; k++) {
        const BlocksCell *c = &cells[k];
        uint64_t apart = c->count ? (uint64_t)c->last_plus - (UINT32_MAX - c->first_neg) : 0;
        if (!c->count || apart < cells[0].count)
            continue;
        GrFinding f = {.class = blocks_classes[0].number,
                       .kernel = m->sites[k].kernel,
                       .module = m->name,
                       .space = "global",
                       .count = c->count,
                       .accesses = {gr_access_at(&m->sites[k], m->sites[k].size)},
                       .n_accesses = 1};
        if (!to->take(to->user, &f))
            return gr_fail(err, GR_ERR_NOMEM, "out of memory");
    }
    return GR_OK;
}

const GrDecoder blocks_decoder = {.tag = {"blocks", 1, 1}, .decode = decode};
