// SPDX-License-Identifier: Apache-2.0
// merge_internal — what the files that merge reports share.
#ifndef GR_REPORT_READ_MERGE_INTERNAL_H
#define GR_REPORT_READ_MERGE_INTERNAL_H

#include "base/map.h"
#include "report/report_internal.h"

// What is taken into `to` is copied: the other report need not live on.
typedef struct GrMerge {
    GrReport *to;
    Map runs;       // id -> GrRunOf, those of `to`
    Interner texts; // in the arena of `to`
    bool nomem;
} GrMerge;

static inline void gr_merge_check(bool done, GrMerge *m) { m->nomem |= !done; }

// A copy; NULL for NULL.
static inline const char *gr_merge_text(GrMerge *m, const char *text) {
    const char *copy = text ? gr_intern(&m->texts, text, strlen(text)) : NULL;
    m->nomem |= text && !copy;
    return copy;
}

// A race of `from` as one of m->to, with no runs (merge_copy.c).
GrRace gr_merge_copy(GrMerge *m, const GrReport *from, const GrRace *race);

// merge_coverage.c
void gr_merge_coverage(GrMerge *m, const GrReport *from);

#endif
