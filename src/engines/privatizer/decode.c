// SPDX-License-Identifier: Apache-2.0
#include "engines/privatizer/decode.h"

#include "findings/missing.h"

#include <string.h>

static GrAccess access_of(const GrArea *area, const GrPrivateRace *r, const GrPrivateSide *s) {
    GrAccess a = gr_access_at(&area->module->sites[s->site], s->size);
    a.site = s->site;
    a.has_thread = true;
    a.address = r->address;
    a.kernel = area->kernel_of(area->user, r->launch);
    a.launch = r->launch;
    if (!s->store && !s->atomic && strcmp(a.kind, "load")) { // the side of an asynchronous copy that it reads
        a.kind = "load";
        a.variable = NULL;
        a.argument = 0;
    }
    a.did = s->atomic ? "updated" : s->store ? "wrote" : "read";
    memcpy(a.thread, s->thread, sizeof a.thread);
    memcpy(a.block, s->block, sizeof a.block);
    return a;
}

static unsigned copies_of(const GrPrivateRace *r) {
    unsigned n = 0;
    for (unsigned k = 0; k < GR_FOUND_COPIES / 64; k++)
        n += (unsigned)__builtin_popcountll(r->copies[k]);
    return n;
}

static char *detail_of(const GrArea *area, const GrPrivateRace *r) {
    unsigned copies = copies_of(r);
    const char *what = "what threads hold in registers, or stored,", *where = "";
    if (r->bytes)
        what = gr_arena_printf(area->arena, "%llu byte%s", (unsigned long long)r->bytes,
                               r->bytes == 1 ? "" : "s");
    if (what && r->region == GR_NO_REGION)
        return gr_arena_printf(area->arena, "%s stored by several lanes of a warp at once", what);
    if (r->region && !r->unit) // only kernels with such barriers have regions of blocks
        where = gr_arena_printf(area->arena, " behind barrier %u of the grid", r->region);
    else if (r->level != GR_BETWEEN_BLOCKS)
        where = r->region ? gr_arena_printf(area->arena, " behind barrier %u of the kernel", r->region)
                          : " before the kernel's first barrier";
    return what && where ? gr_arena_printf(area->arena, "%s came out otherwise%s, in %u private %s", what,
                                           where, copies, copies == 1 ? "copy" : "copies")
                         : NULL;
}

static const GrOutcome *outcome_of(const GrArea *area, const GrPrivateRace *r) {
    GrOutcome *out = GR_NEW(area->arena, GrOutcome);
    if (out)
        *out = (GrOutcome){.units = !r->unit       ? "blocks"
                                    : r->unit == 1 ? "threads"
                                                   : "warps",
                           .copies = copies_of(r),
                           .round = r->round,
                           .bytes = r->bytes,
                           .regions = r->regions};
    return out;
}

static gr_status decode(const GrArea *area, const GrSink *to, gr_error *err) {
    static const char *const missing[] = {MISSING_BLOCKS, MISSING_WARPS, MISSING_LANES};
    const GrModuleInfo *m = area->module;
    if (m->area_bytes != sizeof(GrPrivateArea))
        return gr_fail(err, GR_ERR_FORMAT, "the privatizer's area has %llu bytes",
                       (unsigned long long)m->area_bytes);
    for (uint32_t k = 0; k < GR_PRIVATE_RACES; k++) {
        GrPrivateRace r;
        memcpy(&r, area->bytes + offsetof(GrPrivateArea, race) + k * sizeof r, sizeof r);
        bool sound = r.state == 1 && r.level <= GR_BETWEEN_LANES;
        for (unsigned s = 0; s < 2; s++)
            sound = sound && r.side[s].site && r.side[s].site <= m->n_sites;
        if (!sound) // it was being written when the program was killed
            continue;
        GrFinding f = {.class = r.class,
                       .module = m->name,
                       .space = r.shared ? "shared" : "global",
                       .count = r.count,
                       .accesses = {access_of(area, &r, &r.side[0]), access_of(area, &r, &r.side[1])},
                       .n_accesses = 2,
                       .order = missing[r.level],
                       .overlap = r.address,
                       .overlap_bytes = 1,
                       .detail = detail_of(area, &r),
                       .outcome = outcome_of(area, &r)};
        f.kernel = f.accesses[0].kernel;
        f.launch = r.launch;
        GR_NEED(to->take(to->user, &f), err);
    }
    return GR_OK;
}

const GrDecoder gr_privatizer_decoder = {.tag = {"privatizer", 1, 2}, .decode = decode};
