// SPDX-License-Identifier: Apache-2.0
// The race that `gpurace selftest` plants beside the program's own kernels: it is kept out of the report, which says
// whether it was found.
#include "report/build.h"

#include <string.h>

// {u64 module number, 0 where nothing was planted, str why}
void gr_build_take_planted(Build *b, const GrRecord *rec) {
    GrCursor c = gr_cursor(rec);
    Planted p = {.process = rec->process, .module = gr_get_u64(&c)};
    const char *why = gr_get_str(&c, &b->report->arena);
    if (c.bad)
        b->report->damaged++;
    else if (*why)
        b->not_planted = why;
    else
        b->nomem |= !gr_vec_push(&b->planted, p);
}

Planted *gr_build_planted(const Build *b, uint64_t process, uint64_t module) {
    for (size_t k = 0; k < b->planted.len; k++)
        if (b->planted.data[k].process == process && b->planted.data[k].module == module)
            return &b->planted.data[k];
    return NULL;
}

void gr_build_selftest(Build *b) {
    GrReport *r = b->report;
    size_t found = 0, planted = b->planted.len;
    if (!r->selftest.wanted)
        return;
    for (size_t k = 0; k < planted; k++)
        found += b->planted.data[k].found;
    bool all = planted && found == planted && !b->not_planted;
    const char *by = gr_arena_printf(&r->arena, "by %s on the %s", r->engine,
                                     strcmp(r->device, "gpu") ? "CPU device" : "GPU");
    r->selftest.missed = !all || !r->launches_checked;
    r->selftest.text =
        !by        ? NULL
        : !planted ? gr_arena_printf(&r->arena, "selftest: no race was planted: %s",
                                     b->not_planted ? b->not_planted : "gpurace saw no launch of the program")
        : b->not_planted
            ? gr_arena_printf(&r->arena, "selftest: not everywhere a race was planted: %s", b->not_planted)
        : !all ? gr_arena_printf(&r->arena,
                                 "selftest: the planted race was MISSED %s, so what this run says of the "
                                 "program means nothing",
                                 by)
        : r->launches_checked
            ? gr_arena_printf(&r->arena, "selftest: the planted race was found %s", by)
            : gr_arena_printf(&r->arena,
                              "selftest: the planted race was found %s, but no launch of the "
                              "program's own was checked: none of its races can be found here",
                              by);
    b->nomem |=
        !r->selftest.text || (r->selftest.missed ? gr_report_reason(r, "%s", r->selftest.text)
                                                 : gr_report_remark(r, "%s", r->selftest.text)) != GR_OK;
}
