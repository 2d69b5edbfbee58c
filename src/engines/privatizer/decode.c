// SPDX-License-Identifier: Apache-2.0
#include "engines/privatizer/decode.h"

#include "engines/core/missing.h"

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

static char *detail_of(const GrArea *area, const GrPrivateRace *r) {
    unsigned copies = (unsigned)__builtin_popcountll(r->copies);
    unsigned long long bytes = r->bytes;
    if (r->level == GR_BETWEEN_BLOCKS)
        return gr_arena_printf(area->arena, "%llu bytes came out otherwise, in %u private copies", bytes,
                               copies);
    if (!r->region)
        return gr_arena_printf(
            area->arena,
            "%llu bytes came out otherwise before the kernel's first barrier, in %u private copies", bytes,
            copies);
    return gr_arena_printf(
        area->arena, "%llu bytes came out otherwise behind barrier %u of the kernel, in %u private copies",
        bytes, r->region, copies);
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
                       .detail = detail_of(area, &r)};
        f.kernel = f.accesses[0].kernel;
        f.launch = r.launch;
        if (!to->take(to->user, &f))
            return gr_fail(err, GR_ERR_NOMEM, "out of memory");
    }
    return GR_OK;
}

const GrDecoder gr_privatizer_decoder = {.tag = {"privatizer", 1, 1}, .decode = decode};
