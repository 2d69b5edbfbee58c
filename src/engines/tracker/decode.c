// SPDX-License-Identifier: Apache-2.0
#include "engines/tracker/decode.h"

#include "device_api/shared_window.h"
#include "engines/tracker/device/word.h"
#include "findings/missing.h"
#include "ptx/ptx.h"

#include <string.h>

// Few sites get no more room than they can fill: programs may load thousands of small modules.
uint32_t gr_tracker_pairs(uint32_t n_sites) {
    const uint64_t possible = (uint64_t)n_sites * n_sites * 4,
                   usual = n_sites < 8 ? 64 : (uint64_t)n_sites * 8;
    uint32_t n = 4;
    while (n < GR_PAIRS_MOST && n < possible && n < usual)
        n *= 2;
    return n;
}

uint64_t gr_tracker_area_bytes(uint32_t n_sites) {
    return sizeof(GrTrackedHeader) + (uint64_t)gr_tracker_pairs(n_sites) * sizeof(GrPair);
}

// %gridid is a launch's number here only if it is small and that launch has the kernel's name: a GPU may count
// otherwise.
static uint64_t launch_number(const GrArea *area, uint64_t launch, const char *kernel) {
    const char *logged = area->kernel_of(area->user, launch);
    return logged && (!kernel || !strcmp(logged, kernel)) ? launch : 0;
}

static const char *scope_text(uint32_t what) {
    switch (what >> GR_WHAT_STRENGTH & 7) {
    case GR_STRONG_CTA: return "cta";
    case GR_STRONG_CLUSTER: return "cluster";
    case GR_STRONG_GPU: return "gpu";
    case GR_STRONG_SYS:
    case GR_VOLATILE: return "sys";
    default: return NULL;
    }
}

// The module that has the side's site; NULL: not known.
static const GrModuleInfo *module_of(const GrArea *area, const GrTrackedSide *s) {
    return s->module ? area->module_of(area->user, s->module) : area->module;
}

static GrAccess access_of(const GrArea *area, const GrPair *p, const GrTrackedSide *s) {
    uint32_t by = s->what >> GR_WHAT_BY;
    if (by)
        return (GrAccess){.kind = by == GR_BY_FREE    ? "free"
                                  : by == GR_BY_ALLOC ? "allocation"
                                  : by == GR_BY_FILL  ? "memset"
                                                      : "copy",
                          .address = p->address,
                          .call = s->site,
                          .did = by == GR_BY_FREE           ? "freed the memory"
                                 : by == GR_BY_ALLOC        ? "allocated the memory"
                                 : s->what & GR_WHAT_WRITES ? "wrote"
                                                            : "read"};
    const GrSiteInfo *site = &module_of(area, s)->sites[s->site];
    GrAccess a = gr_access_at(site, site->size);
    a.site = s->site;
    a.has_thread = true;
    a.address = p->address;
    a.kernel = site->kernel ? site->kernel : area->kernel_of(area->user, s->launch);
    a.launch = launch_number(area, s->launch, a.kernel);
    bool source = !(s->what & GR_WHAT_WRITES) && site->access != PTX_ACCESS_READ;
    a.strong = scope_text(s->what);
    a.async = (s->what >> GR_WHAT_STRENGTH & 7) == GR_ASYNC;
    if (source) // of a copy
        a.kind = "load";
    a.is_volatile = (s->what >> GR_WHAT_STRENGTH & 7) == GR_VOLATILE;
    a.did = site->access == PTX_ACCESS_RMW && !site->before && a.strong ? "updated"
            : s->what & GR_WHAT_WRITES                                  ? "wrote"
                                                                        : "read";
    memcpy(a.thread, s->thread, sizeof a.thread);
    memcpy(a.block, s->block, sizeof a.block);
    if (p->space)
        a.address &= (1u << GR_CPU_SHARED_SHIFT) - 1;
    return a;
}

static const char *missing(uint32_t class, const GrTrackedSide *a, const GrTrackedSide *b) {
    if (class == CLASS_CHANCE)
        return MISSING_CHANCE;
    if (a->what >> GR_WHAT_BY || b->what >> GR_WHAT_BY)
        return MISSING_STREAM;
    if (a->launch != b->launch)
        return MISSING_LAUNCHES;
    if (memcmp(a->block, b->block, sizeof a->block))
        return MISSING_BLOCKS;
    return a->warp == b->warp ? MISSING_LANES : MISSING_WARPS;
}

// False for a record that was being written when the program was killed.
static bool makes_sense(const GrArea *area, const GrPair *p) {
    if (p->state != GR_PAIR_READY || p->side[0].what >> GR_WHAT_BY)
        return false;
    for (unsigned k = 0; k < 2; k++) {
        const GrTrackedSide *s = &p->side[k];
        const GrModuleInfo *m = module_of(area, s);
        if (!(s->what >> GR_WHAT_BY) && (!m || !s->site || s->site > m->n_sites))
            return false;
    }
    return true;
}

static gr_status decode(const GrArea *area, const GrSink *to, gr_error *err) {
    const GrModuleInfo *m = area->module;
    uint32_t n = gr_tracker_pairs(m->n_sites);
    if (m->area_bytes < gr_tracker_area_bytes(m->n_sites))
        return gr_fail(err, GR_ERR_FORMAT, "the tracker's pairs are cut short");
    for (uint32_t k = 0; k < n; k++) {
        GrPair p;
        memcpy(&p, area->bytes + sizeof(GrTrackedHeader) + k * sizeof p, sizeof p);
        if (!makes_sense(area, &p))
            continue;
        GrFinding f = {.class = p.class,
                       .module = m->name,
                       .space = p.space ? "shared" : "global",
                       .count = p.count,
                       .accesses = {access_of(area, &p, &p.side[0]), access_of(area, &p, &p.side[1])},
                       .n_accesses = 2,
                       .order = missing(p.class, &p.side[0], &p.side[1]),
                       .overlap = p.address,
                       .overlap_bytes = p.bytes};
        f.kernel = f.accesses[0].kernel;
        f.launch = f.accesses[0].launch;
        GR_NEED(to->take(to->user, &f), err);
    }
    return GR_OK;
}

const GrDecoder gr_tracker_decoder = {.tag = {"tracker", 1, 2}, .decode = decode};
