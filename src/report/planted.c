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

// Why a module with a planted race was not checked; NULL: it was.
static const char *why_unchecked(const Build *b) {
    const char *why = NULL;
    for (size_t k = 0; k < b->planted.len && !why; k++) {
        const Planted *p = &b->planted.data[k];
        const GrModuleInfo *m = gr_build_module(b, p->process, p->module);
        why = p->found || !m ? NULL : m->unchecked;
    }
    return why;
}

// What became of the race, once all is read. NULL: out of memory.
static const char *tell(Build *b, bool found) {
    GrReport *r = b->report;
    const char *device = strcmp(r->device, "gpu") ? "CPU device" : "GPU", *why = why_unchecked(b);
    if (!b->planted.len)
        return gr_arena_printf(&r->arena, "selftest: no race was planted: %s",
                               b->not_planted ? b->not_planted : "gpurace saw no launch of the program");
    if (b->not_planted)
        return gr_arena_printf(&r->arena, "selftest: not everywhere a race was planted: %s", b->not_planted);
    if (!found)
        return gr_arena_printf(&r->arena,
                               "selftest: the planted race was MISSED by %s on the %s, so what this run says "
                               "of the program means nothing%s%s",
                               r->engine, device, why ? ": " : "", why ? why : "");
    return gr_arena_printf(
        &r->arena, "selftest: the planted race was found by %s on the %s%s", r->engine, device,
        r->launches_checked ? ""
                            : ", but no launch of the program's own was checked: none of its "
                              "races can be found here");
}

void gr_build_selftest(Build *b) {
    GrReport *r = b->report;
    size_t found = 0;
    if (!r->selftest.wanted)
        return;
    for (size_t k = 0; k < b->planted.len; k++)
        found += b->planted.data[k].found;
    bool all = b->planted.len && found == b->planted.len && !b->not_planted;
    const char *text = r->selftest.text = tell(b, all);
    r->selftest.missed = !all || !r->launches_checked;
    b->nomem |= !text || (r->selftest.missed ? gr_report_reason(r, "%s", text)
                                             : gr_report_remark(r, "%s", text)) != GR_OK;
}
