// SPDX-License-Identifier: Apache-2.0
// What a report comes to, and each reason why it would not be "clean".
#include "base/escape.h"
#include "report/report_internal.h"

#include <stdio.h>
#include <string.h>

static const char *const status_texts[] = {
#define SITE_STATUS(id, text) text,
#include "ptx/site_status.def"
#undef SITE_STATUS
};

typedef struct Judge {
    GrReport *report;
    bool nomem;
} Judge;

static void add_copy(Judge *j, char *copy) {
    if (!copy || !gr_report_count(&j->report->reasons, copy))
        j->nomem = true;
}

static void add_reason(Judge *j, const char *text) { add_copy(j, gr_arena_strdup(&j->report->arena, text)); }

static void add_reasonf(Judge *j, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add_reasonf(Judge *j, const char *fmt, ...) {
    va_list words;
    va_start(words, fmt);
    add_copy(j, gr_arena_vprintf(&j->report->arena, fmt, words));
    va_end(words);
}

// Such a run shows nothing of what it was made for, so that it must not pass by itself.
static void add_void(Judge *j, const char *text) {
    j->report->is_void = true;
    add_reason(j, text);
}

static bool was_remarked(const GrReport *r, const char *text) {
    for (size_t i = 0; i < r->remarks.len; i++)
        if (!strcmp(r->remarks.data[i].text, text))
            return true;
    return false;
}

static void judge_use(Judge *j) {
    const GrReport *r = j->report;
    if (!r->processes)
        add_reason(j, GR_REASON_UNUSED);
    else if (!r->modules)
        add_reason(j, "no CUDA module was loaded");
    else if (!r->launches_checked && !r->launches_unchecked && !was_remarked(r, GR_REMARK_GRAPH))
        add_reason(j, "no kernel was launched");
}

static bool is_unchecked(const GrKernelCoverage *k) { return k->launches && k->unchecked && !k->excluded; }

static bool same_cause(const GrKernelCoverage *a, const GrKernelCoverage *b) {
    return !strcmp(a->unchecked, b->unchecked) &&
           (a->module && b->module ? !strcmp(a->module, b->module) : a->module == b->module);
}

// A library may bring hundreds of kernels that are not checked, for one cause: it is named once, with some of them. Told with the first of them,
// number `first`.
static void tell_of_unchecked(Judge *j, size_t first) {
    enum { EACH = 4, SOME = 3 };
    GrReport *r = j->report;
    const GrKernelCoverage *k = &r->kernels.data[first];
    size_t n = 0;
    for (size_t i = 0; i < first; i++)
        if (is_unchecked(&r->kernels.data[i]) && same_cause(k, &r->kernels.data[i]))
            return;
    for (size_t i = first; i < r->kernels.len; i++)
        n += is_unchecked(&r->kernels.data[i]) && same_cause(k, &r->kernels.data[i]);
    StrBuf names = {0};
    size_t told = 0;
    for (size_t i = first; i < r->kernels.len && told < (n > EACH ? SOME : n); i++) {
        const GrKernelCoverage *o = &r->kernels.data[i];
        if (!is_unchecked(o) || !same_cause(k, o))
            continue;
        const char *name = gr_short_name(o->name, &r->arena);
        if (n > EACH)
            gr_str_addf(&names, "%s%s", told ? ", " : "", name);
        else
            add_reasonf(j, "kernel %s was not checked: %s", name, k->unchecked);
        told++;
    }
    bool named = k->module && *k->module;
    if (n > EACH && !names.oom)
        add_reasonf(j, "%zu kernels%s%s were not checked: %s. They are %s and %zu others", n,
                    named ? " of " : "", named ? k->module : "", k->unchecked, names.data, n - told);
    j->nomem |= names.oom;
    gr_str_free(&names);
}

static void judge_kernels(Judge *j) {
    GrReport *r = j->report;
    size_t excluded = 0;
    for (size_t i = 0; i < r->kernels.len; i++) {
        const GrKernelCoverage *k = &r->kernels.data[i];
        excluded += k->launches && k->excluded;
        if (is_unchecked(k))
            tell_of_unchecked(j, i);
    }
    if (excluded && !r->launches_checked)
        add_void(j, "the options exclude every kernel that was launched: nothing was checked");
    else if (r->launches_checked && r->sites[GR_SITE_FILTERED] && !r->sites[GR_SITE_CHECKED])
        add_void(j, "the options exclude every access: nothing was checked");
    if (r->sample[0] && r->modules_checked && !r->watched)
        add_void(j, "--sample chose no access of a kernel that was launched: nothing was watched");
}

static void judge_accesses(Judge *j) {
    GrReport *r = j->report;
    for (size_t i = 0; i < r->not_understood.len; i++) {
        const GrLeftAlone *u = &r->not_understood.data[i];
        GrAccess a = gr_access_at(u->first, 0);
        const GrFrame *at = gr_access_frame(&a, a.headline);
        bool one = u->count == 1;
        bool known = u->first->status != GR_SITE_NOT_UNDERSTOOD;
        const char *why = known ? status_texts[u->first->status] + strlen("not instrumented: ") : "";
        add_reasonf(j, "%llu memory access%s of %s%s %s not %s%s%s, %s%s%s%s%u", (unsigned long long)u->count,
                    one ? "" : "es", u->kernel ? "kernel " : "device functions",
                    u->kernel ? gr_short_name(u->kernel, &r->arena) : "", one ? "was" : "were",
                    known ? "checked (" : "understood and not checked", why, known ? ")" : "",
                    one ? "" : "the first ", at->file ? "at " : "at PTX line ", at->file ? at->file : "",
                    at->file ? ":" : "", at->file ? at->line : u->first->ptx_line);
    }
}

static void judge_processes(Judge *j) {
    const GrReport *r = j->report;
    if (r->unended)
        add_reasonf(j, "%llu process%s that used CUDA did not end in an orderly way",
                    (unsigned long long)r->unended, r->unended == 1 ? "" : "es");
    if (r->unfinished)
        add_reasonf(j, "%llu launch%s had not finished when the program ended",
                    (unsigned long long)r->unfinished, r->unfinished == 1 ? "" : "es");
}

gr_status gr_report_judge(GrReport *r, gr_error *err) {
    Judge judge = {.report = r}, *j = &judge;
    for (size_t i = 0; i < r->doubts.len; i++)
        add_reasonf(j,
                    "an internal check failed: %s. Do not rely on any report of this run; this is a mistake "
                    "in gpurace, please report it",
                    r->doubts.data[i].text);
    if (r->ran)
        judge_use(j);
    judge_kernels(j);
    judge_accesses(j);
    judge_processes(j);
    for (size_t i = 0; i < r->faults.len; i++)
        add_void(j, r->faults.data[i].text);
    for (size_t i = 0; i < r->notes.len; i++)
        if (strstr(r->notes.data[i].text, GR_REASON_NO_VARIABLE))
            add_void(j, r->notes.data[i].text);
        else
            add_reason(j, r->notes.data[i].text);
    for (size_t i = 0; i < r->absent.len; i++)
        add_reasonf(j, "%s is not supported on this device, and the program called it",
                    r->absent.data[i].text);
    if (r->unconfirmed)
        add_reasonf(j,
                    "%llu race%s of the %s %s not confirmed by causality in the same execution: a mistake of "
                    "one of the two engines, please report it",
                    (unsigned long long)r->unconfirmed, r->unconfirmed == 1 ? "" : "s", r->first.engine,
                    r->unconfirmed == 1 ? "is" : "are");
    if (r->dropped)
        add_reasonf(j, "%llu record%s could not be written", (unsigned long long)r->dropped,
                    r->dropped == 1 ? "" : "s");
    if (r->damaged)
        add_reason(j, "the results file is damaged: something may be missing");
    r->verdict = r->doubts.len                    ? GR_VERDICT_INCONCLUSIVE
                 : r->races.len || r->misuses.len ? GR_VERDICT_RACES
                 : r->reasons.len                 ? GR_VERDICT_INCONCLUSIVE
                                                  : GR_VERDICT_CLEAN;
    return j->nomem ? gr_fail(err, GR_ERR_NOMEM, "out of memory") : GR_OK;
}

// What was misused.
static const char *misused(const GrReport *r) {
    bool strays = false, others = false;
    for (size_t k = 0; k < r->misuses.len; k++) {
        bool stray = gr_class_is_stray(gr_report_class(r, r->misuses.data[k].found.class));
        strays |= stray;
        others |= !stray;
    }
    return !strays ? "synchronization" : others ? "synchronization or memory" : "memory";
}

void gr_report_verdict(const GrReport *r, StrBuf *out) {
    uint64_t races = r->races.len + r->unlisted;
    gr_escaped_addf(out, "verdict: %s", gr_verdict_name(r->verdict));
    if (r->verdict == GR_VERDICT_CLEAN && r->sample[0])
        gr_escaped_addf(out, " (%llu of %llu accesses were watched)", (unsigned long long)r->watched,
                        (unsigned long long)gr_report_qualifying(r));
    if (races)
        gr_escaped_addf(out, " (%llu)", (unsigned long long)races);
    if (r->misuses.len)
        gr_escaped_addf(out, "%s %s misused in %zu place%s", races ? ", and" : ":", misused(r),
                        r->misuses.len, r->misuses.len == 1 ? "" : "s");
}

void gr_report_summary(const GrReport *r, StrBuf *out) {
    uint64_t races = r->races.len + r->unlisted;
    if (races || !r->misuses.len)
        gr_escaped_addf(out, races ? "%llu race%s" : "no races", (unsigned long long)races,
                        races == 1 ? "" : "s");
    if (r->misuses.len)
        gr_escaped_addf(out, "%s%zu misuse%s of %s", races ? ", " : "", r->misuses.len,
                        r->misuses.len == 1 ? "" : "s", misused(r));
    if (r->baseline.name)
        gr_escaped_addf(out, ": %llu new, %llu known, %llu gone (baseline %s)",
                        (unsigned long long)r->baseline.fresh, (unsigned long long)r->baseline.known,
                        (unsigned long long)r->baseline.gone, r->baseline.name);
    if (r->verdict == GR_VERDICT_INCONCLUSIVE)
        gr_str_add(out, races || r->misuses.len ? ", but do not rely on them"
                                                : ", but not everything was checked");
}

const char *gr_verdict_name(GrVerdict v) {
    return v == GR_VERDICT_CLEAN ? "clean" : v == GR_VERDICT_RACES ? "races" : "inconclusive";
}
