// SPDX-License-Identifier: Apache-2.0
#include "cli/run/hidden.h"

#include "cli/run/program.h"

// The program of a note was started by a process that gpurace was in; most such programs have nothing to do with CUDA.
static bool matters(const GrHidden *h) {
    return !gr_hidden_is_started(h->why) || gr_program_may_use_cuda(h->program, h->why == GR_HIDDEN_STATIC);
}

static void tell_of_hidden(const GrResultsView *view, GrReport *report) {
    GrHidden h;
    for (unsigned k = 0; gr_results_hidden(view, k, &h); k++) {
        char more[64] = "";
        if (!matters(&h))
            continue;
        if (h.count > 1)
            snprintf(more, sizeof more, ", the first of %u,", h.count);
        gr_report_reason(report, "process %d (%s)%s was not watched, and may have used CUDA: %s", h.pid,
                         h.program, more, gr_hidden_words(h.why));
    }
    if (view->hidden_more)
        gr_report_reason(report, "%llu more processes were not watched, and may have used CUDA",
                         (unsigned long long)view->hidden_more);
}

static void tell_of_left(const GrEnding *ending, uint64_t waited, GrReport *report) {
    for (size_t i = 0; i < ending->left.len; i++) {
        const GrTreeProcess *p = &ending->left.data[i];
        char path[64];
        snprintf(path, sizeof path, "/proc/%ld/exe", (long)p->pid);
        if (gr_program_may_use_cuda(path, false))
            gr_report_reason(
                report,
                "process %ld (%s) still ran %llu s after the program had ended, and what it does from "
                "then on is not seen: let the program wait for it, or wait longer (--wait)",
                (long)p->pid, p->program, (unsigned long long)waited);
        else
            gr_report_remark(report,
                             "process %ld (%s) still ran when the report was made; it shows no sign of CUDA",
                             (long)p->pid, p->program);
    }
}

void gr_hidden_tell(const GrResultsView *view, const GrEnding *ending, uint64_t waited, GrReport *report) {
    tell_of_hidden(view, report);
    tell_of_left(ending, waited, report);
}
