// SPDX-License-Identifier: Apache-2.0
// The end of a report: holds races against each other, hides and groups them, and says the verdict with its reasons.
#include "base/escape.h"
#include "coverage/aims.h"
#include "report/report_internal.h"
#include "report/suppress.h"

#include <stdio.h>
#include <stdlib.h>
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

static void add_copy(Judge *j, const char *copy) {
    if (!copy || !gr_report_count(&j->report->reasons, copy))
        j->nomem = true;
}

// A note is a reason that came as often.
static void add_note(Judge *j, const GrCounted *note) {
    GrCountedVec *reasons = &j->report->reasons;
    size_t had = reasons->len;
    j->report->is_void |= strstr(note->text, GR_REASON_NO_VARIABLE) != NULL;
    add_copy(j, note->text);
    if (reasons->len > had)
        reasons->data[had].count = note->count;
}

static void add_reason(Judge *j, const char *text) { add_copy(j, gr_arena_strdup(&j->report->arena, text)); }

static void add_reasonf(Judge *j, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add_reasonf(Judge *j, const char *fmt, ...) {
    va_list words;
    va_start(words, fmt);
    add_copy(j, gr_arena_vprintf(&j->report->arena, fmt, words));
    va_end(words);
}

// A void run shows nothing of what it was made for, so it must not pass by itself.
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

// Kernels are told together, as a library may bring hundreds: those of one module for one cause, or all of one cause
// that has more modules than EACH.
enum { EACH = 4, SOME = 3 };
typedef struct Kernels {
    const char *cause, *module; // module: "" where they are of several, or it has no name
    const char *names[EACH];
    size_t n;
} Kernels;

typedef struct Groups {
    VEC(Kernels) all;
    Map at;      // number in `all` + 1, by cause and module
    Map modules; // how many, by cause
} Groups;

static const char *module_of(const GrKernelCoverage *k) { return k->module ? k->module : ""; }

// The kernels of `cause` in `module`, NULL when memory is out.
static Kernels *kernels_of(Judge *j, const char *cause, const char *module, Groups *g) {
    char *key = gr_arena_printf(&j->report->arena, "%s\n%s", cause, module);
    size_t known = key ? (size_t)gr_map_get(&g->at, key) : 0;
    if (known)
        return &g->all.data[known - 1];
    Kernels new = {.cause = cause, .module = module};
    if (!key || !gr_vec_push(&g->all, new) || !gr_map_put(&g->at, key, (void *)g->all.len))
        return NULL;
    return &g->all.data[g->all.len - 1];
}

static void add_kernel(Judge *j, const GrKernelCoverage *k, const char *cause, Groups *g) {
    Kernels *of = kernels_of(j, cause, (size_t)gr_map_get(&g->modules, cause) > EACH ? "" : module_of(k), g);
    if (of && of->n < EACH)
        of->names[of->n] = gr_short_name(k->name, &j->report->arena);
    if (of)
        of->n++;
    j->nomem |= !of;
}

static void add_module(Judge *j, const GrKernelCoverage *k, const char *cause, Groups *g) {
    size_t before = g->all.len, n = (size_t)gr_map_get(&g->modules, cause);
    j->nomem |= !kernels_of(j, cause, module_of(k), g) ||
                (g->all.len > before && !gr_map_put(&g->modules, cause, (void *)(n + 1)));
}

typedef struct Words {
    const char *one, *was; // around a kernel's name
    const char *many, *were;
} Words;

// Few kernels are told of in a reason each, of many some are named.
static void tell_of_kernels(Judge *j, const Kernels *k, const Words *w) {
    if (k->n <= EACH) // 0: told of with another module's
        for (size_t i = 0; i < k->n; i++)
            add_reasonf(j, "%s%s%s%s", w->one, k->names[i], w->was, k->cause);
    else
        add_reasonf(j, "%s%zu kernels%s%s%s%s. They are %s, %s, %s and %zu others", w->many, k->n,
                    *k->module ? " of " : "", k->module, w->were, k->cause, k->names[0], k->names[1],
                    k->names[2], k->n - SOME);
}

static const char *cause_unchecked(Judge *j, const GrKernelCoverage *k) {
    (void)j;
    return is_unchecked(k) ? k->unchecked : NULL;
}

static const char *cause_failed(Judge *j, const GrKernelCoverage *k) {
    char *cause = k->failed ? gr_arena_printf(&j->report->arena, "CUDA error %d", k->error) : NULL;
    j->nomem |= k->failed && !cause;
    return cause;
}

typedef const char *CauseOf(Judge *j, const GrKernelCoverage *k);

static void for_causes(Judge *j, CauseOf *cause_of, Groups *g,
                       void (*add)(Judge *j, const GrKernelCoverage *k, const char *cause, Groups *g)) {
    const GrReport *r = j->report;
    for (size_t i = 0; i < r->kernels.len; i++) {
        const char *cause = cause_of(j, &r->kernels.data[i]);
        if (cause)
            add(j, &r->kernels.data[i], cause, g);
    }
}

// Tells of the kernels that have a cause.
static void tell_causes(Judge *j, CauseOf *cause_of, const Words *w) {
    Groups g = {0};
    for_causes(j, cause_of, &g, add_module);
    for_causes(j, cause_of, &g, add_kernel);
    for (size_t i = 0; i < g.all.len; i++)
        tell_of_kernels(j, &g.all.data[i], w);
    gr_map_free(&g.at);
    gr_map_free(&g.modules);
    gr_vec_free(&g.all);
}

static void judge_kernels(Judge *j) {
    static const Words unchecked = {"kernel ", " was not checked: ", "", " were not checked: "};
    GrReport *r = j->report;
    tell_causes(j, cause_unchecked, &unchecked);
    size_t excluded = 0;
    for (size_t i = 0; i < r->kernels.len; i++)
        excluded += r->kernels.data[i].launches && r->kernels.data[i].excluded;
    if (r->launches_left_out + r->launches_stopped && !r->launches_checked)
        add_void(j, "every launch was left out: nothing was checked");
    else if (excluded && !r->launches_checked)
        add_void(j, "the options exclude every kernel that was launched: nothing was checked");
    else if (r->launches_checked && r->sites[GR_SITE_FILTERED] && !r->sites[GR_SITE_CHECKED])
        add_void(j, "the options exclude every access: nothing was checked");
    if (r->sample[0] && r->modules_checked && !r->watched)
        add_void(j, "--sample chose no access of a kernel that was launched: nothing was watched");
}

// Where the first access that was left alone stands, in `at` for a reason.
static void add_left_alone(Judge *j, const GrLeftAlone *u, const char *of, uint64_t count) {
    GrAccess a = gr_access_at(u->first, 0);
    const GrFrame *at = gr_access_frame(&a, a.headline);
    bool one = count == 1;
    bool known = u->first->status != GR_SITE_NOT_UNDERSTOOD;
    const char *why = known ? status_texts[u->first->status] + strlen("not instrumented: ") : "";
    add_reasonf(j, "%llu memory access%s of %s %s not %s%s%s, %s%s%s%s%u", (unsigned long long)count,
                one ? "" : "es", of, one ? "was" : "were", known ? "checked (" : "understood and not checked",
                why, known ? ")" : "", one ? "" : "the first ", at->file ? "at " : "at PTX line ",
                at->file ? at->file : "", at->file ? ":" : "", at->file ? at->line : u->first->ptx_line);
}

// Few kernels with accesses left alone for one cause have a reason each; many have one reason.
static void judge_accesses(Judge *j) {
    GrReport *r = j->report;
    size_t kernels[GR_SITE_STATUS_COUNT] = {0};
    uint64_t accesses[GR_SITE_STATUS_COUNT] = {0};
    for (size_t i = 0; i < r->not_understood.len; i++) {
        kernels[r->not_understood.data[i].first->status]++;
        accesses[r->not_understood.data[i].first->status] += r->not_understood.data[i].count;
    }
    for (size_t i = 0; i < r->not_understood.len; i++) {
        const GrLeftAlone *u = &r->not_understood.data[i];
        size_t *n = &kernels[u->first->status];
        const char *name = u->kernel ? gr_short_name(u->kernel, &r->arena) : NULL;
        char *of = *n > EACH ? gr_arena_printf(&r->arena, "%zu kernels", *n)
                   : name    ? gr_arena_printf(&r->arena, "kernel %s", name)
                             : gr_arena_strdup(&r->arena, "device functions");
        if (*n && of)
            add_left_alone(j, u, of, *n > EACH ? accesses[u->first->status] : u->count);
        j->nomem |= !of;
        if (*n > EACH)
            *n = 0; // told
    }
}

static void judge_processes(Judge *j) {
    const GrReport *r = j->report;
    if (r->going) {
        add_reason(j, "the program is still running: this is what was found so far");
        return;
    }
    if (r->unended)
        add_reasonf(j, "%llu process%s that used CUDA did not end in an orderly way",
                    (unsigned long long)r->unended, r->unended == 1 ? "" : "es");
    if (r->unfinished)
        add_reasonf(j, "%llu launch%s had not finished when the program ended",
                    (unsigned long long)r->unfinished, r->unfinished == 1 ? "" : "es");
}

// Says every reason against a clean verdict, and the verdict.
static gr_status decide(GrReport *r, gr_error *err) {
    Judge judge = {.report = r}, *j = &judge;
    for (size_t i = 0; i < r->doubts.len; i++)
        add_reasonf(j,
                    "an internal check failed: %s. Do not rely on any report of this run; this is a mistake "
                    "in gpurace, please report it",
                    r->doubts.data[i].text);
    if (r->ran)
        judge_use(j);
    static const Words failed = {"a launch of ", " failed with ", "launches of ", " failed with "};
    tell_causes(j, cause_failed, &failed);
    judge_kernels(j);
    judge_accesses(j);
    judge_processes(j);
    for (size_t i = 0; i < r->faults.len; i++)
        add_void(j, r->faults.data[i].text);
    for (size_t i = 0; i < r->notes.len; i++)
        add_note(j, &r->notes.data[i]);
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
    j->nomem |= !gr_report_fold(&r->reasons, &r->arena);
    return j->nomem ? gr_no_memory(err) : GR_OK;
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
    uint64_t out_of = r->launches_left_out + r->launches_stopped;
    if (r->verdict == GR_VERDICT_CLEAN && out_of)
        gr_escaped_addf(out, " (%llu of %llu launches were checked)", (unsigned long long)r->launches_checked,
                        (unsigned long long)(r->launches_checked + out_of));
    if (races)
        gr_escaped_addf(out, " (%llu)", (unsigned long long)races);
    if (r->misuses.len)
        gr_escaped_addf(out, "%s %s misused in %zu place%s", races ? ", and" : ":", misused(r),
                        r->misuses.len, r->misuses.len == 1 ? "" : "s");
}

// "No races" is said of what was looked for. The text's parentheses name the engine.
static void add_blind(const GrReport *r, StrBuf *out) {
    for (size_t i = 0; i < r->blind.len; i++) {
        const char *text = r->blind.data[i].text, *engine = strrchr(text, '(');
        size_t len = engine && engine > text ? (size_t)(engine - text) - 1 : strlen(text);
        gr_escaped_addf(out, "%s%.*s", i ? "; " : ", but not looked for: ", (int)len, text);
    }
}

void gr_report_counted(uint64_t races, uint64_t causes, const char *which, StrBuf *out) {
    gr_escaped_addf(out, "%llu%s", (unsigned long long)races, which);
    if (causes && causes < races)
        gr_escaped_addf(out, " (%llu cause%s)", (unsigned long long)causes, causes == 1 ? "" : "s");
}

void gr_report_summary(const GrReport *r, StrBuf *out) {
    uint64_t races = r->races.len + r->unlisted;
    if (races || !r->misuses.len)
        gr_escaped_addf(out, races ? "%llu race%s" : "no races", (unsigned long long)races,
                        races == 1 ? "" : "s");
    if (r->causes.len && r->causes.len < r->races.len)
        gr_escaped_addf(out, " of %zu cause%s", r->causes.len, r->causes.len == 1 ? "" : "s");
    if (r->misuses.len)
        gr_escaped_addf(out, "%s%zu misuse%s of %s", races ? ", " : "", r->misuses.len,
                        r->misuses.len == 1 ? "" : "s", misused(r));
    if (r->verdict == GR_VERDICT_CLEAN && r->blind.len)
        add_blind(r, out);
    if (r->baseline.name) {
        gr_str_add(out, ": ");
        gr_report_counted(r->baseline.fresh, r->baseline.causes.fresh, " new", out);
        gr_str_add(out, ", ");
        gr_report_counted(r->baseline.known, r->baseline.causes.known, " known", out);
        gr_str_add(out, ", ");
        gr_report_counted(r->baseline.gone, r->baseline.causes.gone, " gone", out);
        gr_escaped_addf(out, " (baseline %s)", r->baseline.name);
    }
    if (r->verdict == GR_VERDICT_INCONCLUSIVE)
        gr_str_add(out, races || r->misuses.len ? ", but do not rely on them"
                                                : ", but not everything was checked");
}

const char *gr_verdict_name(GrVerdict v) {
    return v == GR_VERDICT_CLEAN ? "clean" : v == GR_VERDICT_RACES ? "races" : "inconclusive";
}

gr_status gr_report_finish(GrReport *r, gr_error *err) {
    gr_report_sort(r);
    GR_MUST(gr_report_merge(r, err));
    if (r->causal.engine)
        GR_MUST(gr_report_confirm(r, err));
    GR_NEED(gr_suppressions_apply(r), err);
    GR_MUST(gr_report_group(r, err));
    gr_map_free(&r->misuse_at); // their numbers have changed
    GR_MUST(gr_report_identify(r, err));
    gr_report_order(r);
    GR_MUST(gr_report_find_causes(r, err));
    r->aimed_at = r->aim ? gr_aims_waiting(r->aim) : 0;
    if (r->so_far.path && r->functions.len) {
        gr_error why = {0};
        char where[800];
        if (gr_report_cover(r, &why) != GR_OK &&
            gr_report_reason(r, "this run is not in the coverage file: %s",
                             gr_error_text(&why, where, sizeof where)) != GR_OK)
            return gr_no_memory(err);
    }
    return decide(r, err);
}
