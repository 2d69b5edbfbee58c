// SPDX-License-Identifier: Apache-2.0
// The report as text: its races (text_race.c), misuses, the verdict, what it covers, and how to see it again.
#include "base/escape.h"
#include "report/suppress.h"
#include "report/write/cause_words.h"
#include "report/write/text_internal.h"

#include <string.h>

static void add_list(const char *head, const GrCountedVec *v, StrBuf *out) {
    for (size_t i = 0; i < v->len; i++) {
        gr_escaped_addf(out, "%s%s", head, v->data[i].text);
        if (v->data[i].count > 1)
            gr_escaped_addf(out, " (%llu times)", (unsigned long long)v->data[i].count);
        gr_str_addc(out, '\n');
    }
}

// The launched ones' names, told apart. NULL: out of memory.
static const char *const *kernel_names(const GrReport *r, Arena *arena) {
    const char **names = GR_NEW_ARRAY(arena, const char *, r->kernels.len + 1);
    size_t n = 0;
    for (size_t i = 0; names && i < r->kernels.len; i++)
        if (r->kernels.data[i].launches)
            names[n++] = r->kernels.data[i].name;
    return names ? gr_telling_names(names, n, arena) : NULL;
}

static void add_kernels(const GrReport *r, Arena *arena, StrBuf *out) {
    size_t checked = 0, launched = 0, idle = 0;
    uint64_t stopped = 0;
    for (size_t i = 0; i < r->kernels.len; i++) {
        const GrKernelCoverage *k = &r->kernels.data[i];
        launched += k->launches != 0;
        checked += k->launches && !k->unchecked;
        idle += !k->launches;
    }
    if (!r->ran) {
        gr_escaped_addf(out, "  kernels   %zu decided\n", r->kernels.len);
        return;
    }
    for (size_t i = 0; i < r->faults.len; i++)
        stopped += r->faults.data[i].count;
    gr_escaped_addf(out, "  kernels   %zu launched, %zu of them checked; %zu never launched\n", launched,
                    checked, idle);
    gr_escaped_addf(out, "  launches  %llu checked, %llu not", (unsigned long long)r->launches_checked,
                    (unsigned long long)r->launches_unchecked);
    if (r->launches_left_out)
        gr_escaped_addf(out, " (%llu left out by options%s", (unsigned long long)r->launches_left_out,
                        r->launches_stopped ? "" : ")");
    if (r->launches_stopped)
        gr_escaped_addf(out, "%s%llu while checking was stopped)", r->launches_left_out ? ", " : " (",
                        (unsigned long long)r->launches_stopped);
    if (stopped)
        gr_escaped_addf(out, "; %llu of them stopped, and looked at up to there",
                        (unsigned long long)stopped);
    gr_str_addc(out, '\n');
    const char *const *names = kernel_names(r, arena);
    enum { FEW = 20 };
    size_t n = 0, most = r->look.verbose ? SIZE_MAX : FEW;
    for (size_t i = 0; names && i < r->kernels.len && n < most; i++) {
        const GrKernelCoverage *k = &r->kernels.data[i];
        if (!k->launches)
            continue;
        gr_escaped_addf(out, "            %s: %llu", names[n++], (unsigned long long)k->launches);
        gr_text_triple(k->launches == 1 ? ", grid" : ", the first of them with grid", k->grid, out);
        gr_text_triple(" block", k->block, out);
        if (k->failed)
            gr_escaped_addf(out, ", %llu failed", (unsigned long long)k->failed);
        if (k->unchecked)
            gr_escaped_addf(out, ", not checked: %s", k->unchecked);
        gr_str_addc(out, '\n');
    }
    if (n < launched)
        gr_escaped_addf(out, "            and %zu more (--verbose lists all)\n", launched - n);
}

static void add_hidden(const GrRule *rule, StrBuf *out) {
    gr_escaped_addf(out, "  hidden    %llu race%s that occurred %llu time%s, by ",
                    (unsigned long long)rule->races, rule->races == 1 ? "" : "s",
                    (unsigned long long)rule->count, rule->count == 1 ? "" : "s");
}

static void add_suppressions(const GrReport *r, StrBuf *out) {
    const GrSuppressions *s = r->suppressions, *bundled = r->bundled;
    for (size_t i = 0; s && i < s->rules.len; i++) {
        const GrRule *hides = &s->rules.data[i];
        if (hides->races) {
            add_hidden(hides, out);
            gr_escaped_addf(out, "'%s' (%s:%u)\n", hides->text, hides->path, hides->line);
        } else {
            gr_escaped_addf(out, "  remark    '%s' (%s:%u) hid nothing\n", hides->text, hides->path,
                            hides->line);
        }
    }
    bool any = false;
    for (size_t i = 0; bundled && i < bundled->rules.len; i++) {
        const GrRule *hides = &bundled->rules.data[i];
        if (!hides->races)
            continue;
        any = true;
        add_hidden(hides, out);
        gr_escaped_addf(out, "a rule that comes with gpurace: %s (%s:%u)\n",
                        hides->why ? hides->why : hides->text, hides->path, hides->line);
    }
    const GrSuppressions *comments = r->comments;
    for (size_t i = 0; comments && i < comments->rules.len; i++) {
        const GrRule *hides = &comments->rules.data[i];
        if (!hides->races)
            continue;
        add_hidden(hides, out);
        gr_escaped_addf(out, "a comment in the source: %s:%u \"%s\"\n", gr_report_file(r, hides->path),
                        hides->line, hides->why ? hides->why : "");
    }
    if (any)
        gr_str_add(out, "            --bundled-suppressions no shows them (docs/suppressions.md)\n");
}

static void add_conflicts(const GrReport *r, StrBuf *out) {
    uint64_t n = r->aimed_at;
    if (!n && !r->so_far.conflicts)
        return;
    gr_str_add(out, "  conflicts ");
    if (r->so_far.conflicts)
        gr_escaped_addf(out, "%llu pair%s of accesses touched the same bytes so far; %llu %s seen to overlap",
                        (unsigned long long)r->so_far.conflicts, r->so_far.conflicts == 1 ? "" : "s",
                        (unsigned long long)r->so_far.met, r->so_far.met == 1 ? "was" : "were");
    if (n)
        gr_escaped_addf(out, "%sthis run aimed at %llu access%s", r->so_far.conflicts ? "; " : "",
                        (unsigned long long)n, n == 1 ? "" : "es");
    gr_str_addc(out, '\n');
}

// What the engine does not look for here, in one line.
static void add_blind(const GrReport *r, StrBuf *out) {
    for (size_t i = 0; i < r->blind.len; i++)
        gr_escaped_addf(out, "%s%s", i ? "; " : "  blind to  ", r->blind.data[i].text);
    if (r->blind.len)
        gr_str_addc(out, '\n');
}

// How many runs were merged, and what they came to.
static void add_runs(const GrReport *r, StrBuf *out) {
    size_t n[3] = {0, 0, 0};
    for (size_t k = 0; k < r->runs.len; k++)
        n[r->runs.data[k]->verdict]++;
    gr_escaped_addf(out, "  runs      %zu, seeds %llu to %llu: %zu with races, %zu clean, %zu inconclusive\n",
                    r->runs.len, (unsigned long long)r->runs.data[0]->seed,
                    (unsigned long long)r->runs.data[r->runs.len - 1]->seed, n[GR_VERDICT_RACES],
                    n[GR_VERDICT_CLEAN], n[GR_VERDICT_INCONCLUSIVE]);
    gr_escaped_addf(out,
                    "  engine    %s (%s), device %s\n"
                    "            what follows is the most that any run says of each thing\n",
                    r->engine, r->evidence, r->device);
}

static void add_coverage(const GrReport *r, Arena *arena, StrBuf *out) {
    static const char *const texts[] = {
#define SITE_STATUS(id, text) text,
#include "ptx/site_status.def"
#undef SITE_STATUS
    };
    if (!r->ran) {
        gr_escaped_addf(out, "  engine    %s (%s), no run\n", r->engine, r->evidence);
        add_kernels(r, arena, out);
        add_list("  remark    ", &r->remarks, out);
        add_blind(r, out);
        add_suppressions(r, out);
        return;
    }
    if (r->runs.len)
        add_runs(r, out);
    else
        gr_escaped_addf(out, "  engine    %s (%s), device %s, seed %llu\n", r->engine, r->evidence, r->device,
                        (unsigned long long)r->seed);
    if (r->poisoned)
        gr_str_add(out, "  poison    before a store waits, its value is stored with the lowest bit turned "
                        "(--poison no leaves that out)\n");
    gr_escaped_addf(out, "  modules   %llu checked, %llu not\n", (unsigned long long)r->modules_checked,
                    (unsigned long long)r->modules_unchecked);
    add_kernels(r, arena, out);
    gr_escaped_addf(out, "  accesses  %llu checked", (unsigned long long)r->sites[GR_SITE_CHECKED]);
    for (unsigned i = 0; i < GR_SITE_STATUS_COUNT; i++)
        if (i != GR_SITE_CHECKED && r->sites[i])
            gr_escaped_addf(out, "; %llu %s", (unsigned long long)r->sites[i], texts[i]);
    gr_str_addc(out, '\n');
    if (r->sample[0])
        gr_escaped_addf(
            out,
            "  sampled   %llu of %llu accesses, by --sample; %llu of them in kernels that were launched\n",
            (unsigned long long)r->sites[GR_SITE_CHECKED], (unsigned long long)gr_report_qualifying(r),
            (unsigned long long)r->watched);
    if (r->so_far.runs)
        gr_escaped_addf(out, "  coverage  %llu of %llu accesses watched so far, in %llu run%s (%s)\n",
                        (unsigned long long)r->so_far.watched, (unsigned long long)r->so_far.accesses,
                        (unsigned long long)r->so_far.runs, r->so_far.runs == 1 ? "" : "s", r->so_far.name);
    add_conflicts(r, out);
    add_list("  remark    ", &r->remarks, out);
    add_blind(r, out);
    add_suppressions(r, out);
}

void gr_text_misuse(const GrReport *r, const GrRace *misuse, Arena *arena, StrBuf *out) {
    const GrFinding *m = &misuse->found;
    const GrAccess *a = &m->accesses[0];
    const GrClass *class = gr_report_class(r, m->class);
    gr_str_add(out, GR_TEXT_RULE);
    gr_text_paint(r, GR_PAINT_HEAD, out);
    const GrFrame *at = gr_access_frame(a, a->headline);
    if (at->file && at->line)
        gr_text_place(r, at, out);
    else
        gr_text_ptx_line(a, m->kernel, out);
    gr_escaped_addf(out, ": %s: %s ", gr_misuse_title(class), class->name);
    if (m->kernel)
        gr_escaped_addf(out, "in kernel %s", gr_short_name(m->kernel, arena));
    if (at->function && (!m->kernel || strcmp(at->function, m->kernel)))
        gr_escaped_addf(out, "%sin %s", m->kernel ? ", " : "", gr_short_name(at->function, arena));
    gr_text_paint(r, GR_PAINT_OFF, out);
    gr_escaped_addf(out, "\n\n    %s\n\n", class->meaning);
    gr_text_source(r, a, arena, out);
    for (uint32_t f = a->headline; f < a->n_inlined; f++) {
        at = &a->inlined[f];
        gr_str_add(out, "    inlined at ");
        gr_text_place(r, at, out);
        if (at->function)
            gr_escaped_addf(out, " in %s", gr_short_name(at->function, arena));
        gr_str_addc(out, '\n');
        gr_text_excerpt(r, at, out);
    }
    gr_escaped_addf(out, "    %s", m->detail);
    if (m->launch)
        gr_escaped_addf(out, ", launch %llu", (unsigned long long)m->launch);
    gr_str_addc(out, '\n');
    gr_text_stack(r, "launched from", m->accesses[0].stack, arena, out);
    gr_text_runs(r, misuse->seen, misuse->n_seen, misuse, out);
    gr_escaped_addf(
        out, "    occurred %llu time%s%s\n    evidence: undefined behaviour, or no progress (engine %s)\n",
        (unsigned long long)m->count, m->count == 1 ? "" : "s",
        m->count == 1 ? "" : ", each thread counted, the first as above", m->engine ? m->engine : r->engine);
}

// What the baseline has, a line each: causes of which it has all races, other races, misuses.
static void add_known(const GrReport *r, Arena *arena, StrBuf *out) {
    size_t n = 0;
    const GrCauseRaces *causes = gr_report_causes(r, arena, &n);
    out->oom |= !causes;
    for (size_t k = 0; causes && k < n; k++) {
        const GrCauseRaces *c = &causes[k];
        if (c->known) {
            gr_str_add(out, "  ");
            gr_cause_line(r, c, arena, out);
        }
        for (uint32_t i = 0; i < c->n && !c->known; i++)
            if (c->races[i]->known) {
                gr_str_add(out, "  ");
                gr_text_line(r, c->races[i], false, arena, out);
            }
    }
    for (size_t k = 0; k < r->misuses.len; k++)
        if (r->misuses.data[k].known) {
            gr_str_add(out, "  ");
            gr_text_line(r, &r->misuses.data[k], true, arena, out);
        }
}

// A line for each race that is new, or all where there is no baseline.
static void add_lines(const GrReport *r, Arena *arena, StrBuf *out) {
    size_t listed = 0, before = out->len;
    for (; gr_report_lists(r, listed, out->len - before); listed++)
        if (!r->races.data[listed].known)
            gr_text_line(r, &r->races.data[listed], false, arena, out);
    for (size_t k = 0; k < r->misuses.len; k++)
        if (!r->misuses.data[k].known)
            gr_text_line(r, &r->misuses.data[k], true, arena, out);
}

static void add_last(const GrReport *r, StrBuf *out) {
    bool fails = r->verdict == GR_VERDICT_RACES && (!r->baseline.name || r->baseline.fresh);
    gr_text_paint(r,
                  fails                                   ? GR_PAINT_HEAD
                  : r->verdict == GR_VERDICT_INCONCLUSIVE ? GR_PAINT_WARN
                                                          : GR_PAINT_GOOD,
                  out);
    gr_str_add(out, "gpurace: ");
    gr_report_summary(r, out);
    gr_text_paint(r, GR_PAINT_OFF, out);
    gr_str_addc(out, '\n');
}

// The causes, and how many races are not listed.
static void add_causes(const GrReport *r, Arena *arena, StrBuf *out) {
    size_t n = 0, listed = 0, before = out->len;
    const GrCauseRaces *causes = gr_report_causes(r, arena, &n);
    out->oom |= !causes;
    for (size_t k = 0; causes && k < n && gr_report_lists(r, listed, out->len - before); k++) {
        if (!causes[k].known)
            gr_text_cause(r, causes, k, arena, out);
        listed += causes[k].n;
    }
    uint64_t left = r->races.len - listed + r->unlisted;
    if (left)
        gr_escaped_addf(out, GR_TEXT_RULE "%llu more races are not listed (--max-reports 0 lists all)\n",
                        (unsigned long long)left);
}

// The races, in full.
static void add_races(const GrReport *r, Arena *arena, StrBuf *out) {
    add_causes(r, arena, out);
    for (size_t i = 0; i < r->misuses.len; i++)
        if (!r->misuses.data[i].known)
            gr_text_misuse(r, &r->misuses.data[i], arena, out);
    if (r->baseline.known) {
        gr_escaped_addf(out, GR_TEXT_RULE "known races, which %s has, too:\n", r->baseline.name);
        add_known(r, arena, out);
    }
}

void gr_report_text(const GrReport *r, StrBuf *out) {
    Arena arena; // of demangled names
    size_t from = out->len;
    gr_arena_init(&arena);
    if (r->look.quiet) {
        add_lines(r, &arena, out);
    } else {
        add_races(r, &arena, out);
        gr_str_add(out, GR_TEXT_RULE "gpurace: ");
        gr_report_verdict(r, out);
        gr_str_addc(out, '\n');
        add_list(r->verdict == GR_VERDICT_RACES ? "  besides   " : "  because   ", &r->reasons, out);
        add_coverage(r, &arena, out);
        gr_escaped_addf(out, "  again     %s\n", r->reproduce);
    }
    add_last(r, out);
    if (r->look.width)
        gr_text_break(out, from, r->look.width);
    gr_arena_free(&arena);
}
