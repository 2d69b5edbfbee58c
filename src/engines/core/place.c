// SPDX-License-Identifier: Apache-2.0
#include "engines/core/place.h"

#include "findings/headline.h"

enum { DEEPEST = 64 }; // places that are looked at
enum { UNKNOWN, OWN, TOOLKIT };

typedef struct Places {
    GrFileOwners *owners;
    const PtxLoc *of[DEEPEST];
} Places;

static bool is_own(void *places, uint32_t k) {
    const Places *p = places;
    const PtxModule *m = p->owners->ptx;
    for (uint32_t n = 0; n < m->n_files; n++) {
        if (m->files[n].index != p->of[k]->file)
            continue;
        uint8_t whose = p->owners->whose ? p->owners->whose[n] : UNKNOWN;
        if (whose == UNKNOWN)
            whose = gr_is_toolkit_file(m->files[n].path) ? TOOLKIT : OWN;
        if (p->owners->whose)
            p->owners->whose[n] = whose;
        return whose == OWN;
    }
    return false;
}

const PtxLoc *gr_place_headline(GrFileOwners *o, const PtxLoc *loc) {
    Places p = {.owners = o};
    uint32_t n = 0;
    for (const PtxLoc *l = loc; l && n < DEEPEST; l = l->inlined_at)
        p.of[n++] = l;
    return n ? p.of[gr_headline(is_own, &p, n)] : NULL;
}

const char *gr_place_file(const PtxModule *m, const PtxLoc *loc) {
    GrFileOwners owners = {.ptx = m};
    const PtxLoc *l = gr_place_headline(&owners, loc);
    return l ? gr_ptx_file(m, l->file) : NULL;
}
