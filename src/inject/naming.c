// SPDX-License-Identifier: Apache-2.0
#include "inject/naming.h"

#include "findings/range_record.h"
#include "inject/session.h"
#include "inject/stacks.h"

// A program may allocate without end. Later memory has no name then.
enum { MOST = 20000 };
static unsigned noted;

static const char *kind_of(const GrRange *r) {
    static const char *const kinds[] = {[GR_RANGE_DEVICE] = "device",
                                        [GR_RANGE_POOL] = "pool",
                                        [GR_RANGE_MANAGED] = "managed",
                                        [GR_RANGE_PINNED] = "pinned",
                                        [GR_RANGE_REGISTERED] = "registered",
                                        [GR_RANGE_GLOBAL] = "variable",
                                        [GR_RANGE_MAPPING] = "mapping",
                                        [GR_RANGE_IMPORTED] = "imported",
                                        [GR_RANGE_GRAPH] = "graph"};
    return kinds[r->kind];
}

static void note(GrRecordKind kind, const GrRangeInfo *info) {
    StrBuf b = {0};
    gr_range_write(info, &b);
    gr_results_append(&gr_session.results, kind, &b);
    gr_str_free(&b);
}

// An engine that finds nothing needs no names.
static bool is_wanted(void) { return noted < MOST && gr_session.engine->caps & CAP_CHECKS; }

void gr_naming_came(const GrRange *r) {
    if (!is_wanted() || !r->at || !r->size)
        return;
    noted++;
    note(GR_RECORD_CAME, &(GrRangeInfo){.at = r->at,
                                        .size = r->size,
                                        .launch = gr_session.n_launches,
                                        .kind = kind_of(r),
                                        .stack = gr_stack_here()});
}

void gr_naming_went(CUdeviceptr at) {
    if (is_wanted() && at)
        note(GR_RECORD_WENT, &(GrRangeInfo){.at = at, .launch = gr_session.n_launches});
}
