// SPDX-License-Identifier: Apache-2.0
// What a report comes to, and each reason why it would not be "clean".
#include "report/build.h"

#include <stdio.h>
#include <string.h>

static const char *const status_texts[] = {
#define SITE_STATUS(id, text) text,
#include "ptx/site_status.def"
#undef SITE_STATUS
};

static void add_reason(Build *b, const char *text) {
    char *copy = gr_arena_strdup(&b->report->arena, text);
    if (!copy || !gr_build_count(&b->report->reasons, copy))
        b->nomem = true;
}

static void add_reasonf(Build *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add_reasonf(Build *b, const char *fmt, ...) {
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    add_reason(b, text);
}

static void judge_processes(Build *b) {
    uint64_t unended = 0, unfinished = 0;
    for (size_t i = 0; i < b->processes.len; i++) {
        unended += !b->processes.data[i].ended;
        unfinished += b->processes.data[i].unfinished;
    }
    if (unended)
        add_reasonf(b, "%llu process%s that used CUDA did not end in an orderly way",
                    (unsigned long long)unended, unended == 1 ? "" : "es");
    if (unfinished)
        add_reasonf(b, "%llu launch%s had not finished when the program ended",
                    (unsigned long long)unfinished, unfinished == 1 ? "" : "es");
}

static bool was_remarked(const GrReport *r, const char *text) {
    for (size_t i = 0; i < r->remarks.len; i++)
        if (!strcmp(r->remarks.data[i].text, text))
            return true;
    return false;
}

void gr_build_verdict(Build *b) {
    GrReport *r = b->report;
    for (size_t i = 0; i < r->doubts.len; i++)
        add_reasonf(b,
                    "an internal check failed: %s. No report of this run is to be relied on; it is a mistake "
                    "of gpurace's, please report it",
                    r->doubts.data[i].text);
    if (!b->processes.len)
        add_reason(b, GR_REASON_UNUSED);
    else if (!b->modules.len)
        add_reason(b, "no CUDA module was loaded");
    else if (!r->launches_checked && !r->launches_unchecked && !was_remarked(r, GR_REMARK_GRAPH))
        add_reason(b, "no kernel was launched");
    size_t excluded = 0;
    for (size_t i = 0; i < r->kernels.len; i++) {
        const GrKernelCoverage *k = &r->kernels.data[i];
        excluded += k->launches && k->excluded;
        if (k->launches && k->unchecked && !k->excluded)
            add_reasonf(b, "kernel %s was not checked: %s", gr_short_name(k->name, &r->arena), k->unchecked);
    }
    if (excluded && !r->launches_checked)
        add_reason(b, "the options exclude every kernel that was launched: nothing was checked");
    else if (r->launches_checked && r->sites[GR_SITE_FILTERED] && !r->sites[GR_SITE_CHECKED])
        add_reason(b, "the options exclude every access: nothing was checked");
    if (r->sample[0] && r->modules_checked && !r->watched)
        add_reason(b, "--sample chose no access of a kernel that was launched: nothing was watched");
    for (size_t i = 0; i < b->not_understood.len; i++) {
        const Unchecked *u = &b->not_understood.data[i];
        // The outermost place is in the program's own source, the innermost often in a header of CUDA's.
        const GrFrame *at = u->first->n_inlined ? &u->first->inlined[u->first->n_inlined - 1] : &u->first->at;
        bool one = u->count == 1;
        bool known = u->first->status != GR_SITE_NOT_UNDERSTOOD;
        const char *why = known ? status_texts[u->first->status] + strlen("not instrumented: ") : "";
        add_reasonf(b, "%llu memory access%s of %s%s %s not %s%s%s, %s%s%s%s%u", (unsigned long long)u->count,
                    one ? "" : "es", u->kernel ? "kernel " : "device functions",
                    u->kernel ? gr_short_name(u->kernel, &r->arena) : "", one ? "was" : "were",
                    known ? "checked (" : "understood and not checked", why, known ? ")" : "",
                    one ? "" : "the first ", at->file ? "at " : "at PTX line ", at->file ? at->file : "",
                    at->file ? ":" : "", at->file ? at->line : u->first->ptx_line);
    }
    judge_processes(b);
    for (size_t i = 0; i < r->faults.len; i++)
        add_reason(b, r->faults.data[i].text);
    for (size_t i = 0; i < r->notes.len; i++)
        add_reason(b, r->notes.data[i].text);
    for (size_t i = 0; i < r->absent.len; i++)
        add_reasonf(b, "%s is not supported on this device, and the program called it",
                    r->absent.data[i].text);
    if (r->unconfirmed)
        add_reasonf(
            b,
            "%llu race%s of the collider not confirmed by causality in the same execution: a mistake of "
            "one of the two engines, please report it",
            (unsigned long long)r->unconfirmed, r->unconfirmed == 1 ? " is" : "s are");
    if (r->dropped)
        add_reasonf(b, "%llu record%s could not be written", (unsigned long long)r->dropped,
                    r->dropped == 1 ? "" : "s");
    if (r->damaged)
        add_reason(b, "the results file is damaged: something may be missing");
    r->verdict = r->doubts.len                    ? GR_VERDICT_INCONCLUSIVE
                 : r->races.len || r->misuses.len ? GR_VERDICT_RACES
                 : r->reasons.len                 ? GR_VERDICT_INCONCLUSIVE
                                                  : GR_VERDICT_CLEAN;
}

const char *gr_verdict_name(GrVerdict v) {
    return v == GR_VERDICT_CLEAN ? "clean" : v == GR_VERDICT_RACES ? "races" : "inconclusive";
}
