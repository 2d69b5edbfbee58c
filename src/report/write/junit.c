// SPDX-License-Identifier: Apache-2.0
// The report as JUnit XML, which continuous integration shows as tests: each kernel that was launched, or looked at, is
// one. It fails with its causes, and is skipped when it was not checked. What stands against a clean verdict is an
// error of the test `verdict`.
#include "base/escape.h"
#include "report/write/cause_words.h"
#include "report/write/formats.h"
#include "report/write/text_internal.h"

#include <string.h>

// XML 1.0 has no control characters but these, and no bytes that are no UTF-8: they are escaped as in the text report.
// `lines`: line breaks stay, for they were made here, and a tab, of a proposed edit, is a blank.
static void add_text(const char *text, bool lines, StrBuf *out) {
    static const struct {
        char c;
        const char *as;
    } marks[] = {{'<', "&lt;"}, {'>', "&gt;"}, {'&', "&amp;"}, {'"', "&quot;"}};
    char as[GR_ESCAPED_ROOM];
    for (size_t left = strlen(text), n; left; text += n, left -= n) {
        n = gr_escape_char(text, left, as);
        const char *to = lines && *text == '\n' ? "\n" : lines && *text == '\t' ? " " : as;
        for (size_t k = 0; k < sizeof marks / sizeof *marks; k++)
            if (*text == marks[k].c)
                to = marks[k].as;
        gr_str_add(out, to);
    }
}

static void add_attribute(const char *name, const char *text, StrBuf *out) {
    gr_str_addf(out, " %s=\"", name);
    add_text(text, false, out);
    gr_str_addc(out, '"');
}

typedef struct Writer {
    const GrReport *report;
    Arena *arena;
    StrBuf cases;
    const GrCauseRaces *causes;
    size_t n_causes; // that are listed
    bool *told;      // [causes, then misuses]: under a kernel
    size_t tests, failures, errors, skipped;
} Writer;

// Whether a race is one of this kernel's.
static bool is_of(const GrRace *race, const GrKernelCoverage *k) {
    for (uint32_t i = 0; i < race->n_kernels && i < 20; i++)
        if (!gr_compare_texts(race->kernels[i], k->name))
            return true;
    return race->n_kernels < 2 && race->found.kernel && !strcmp(race->found.kernel, k->name);
}

static bool cause_is_of(const GrCauseRaces *c, const GrKernelCoverage *k) {
    for (uint32_t i = 0; i < c->n; i++)
        if (is_of(c->races[i], k))
            return true;
    return false;
}

// A cause (NULL: a misuse) as the text report has it, as a failure; a known one as output.
static void add_found(Writer *w, size_t at, const GrRace *shown, bool known, const char *what,
                      const GrCauseRaces *c) {
    const GrReport *r = w->report;
    const GrFrame *f = gr_race_place(shown);
    StrBuf text = {0}, head = {0}, fix = {0};
    gr_str_addf(&head, "%s%s", known ? "known: " : "", what);
    if (f->file && f->line) {
        gr_str_add(&head, " at ");
        gr_report_place(r, f, &head);
    }
    if (c && gr_cause_fix(r, c, true, &fix))
        gr_str_addf(&head, ". Fix: %s", fix.data ? fix.data : "");
    if (c)
        gr_text_cause(r, c, 0, w->arena, &text); // the first of one, so the text says what its class means
    else
        gr_text_misuse(r, shown, w->arena, &text);
    gr_str_add(&w->cases, known ? "      <system-out>" : "      <failure");
    if (!known) {
        add_attribute("type", what, &w->cases);
        add_attribute("message", head.data ? head.data : "", &w->cases);
        gr_str_addc(&w->cases, '>');
    }
    add_text(text.data ? text.data : "", true, &w->cases);
    gr_str_add(&w->cases, known ? "</system-out>\n" : "</failure>\n");
    w->cases.oom |= text.oom || head.oom || fix.oom;
    w->told[at] = true;
    gr_str_free(&text);
    gr_str_free(&head);
    gr_str_free(&fix);
}

static void begin_case(Writer *w, const char *class, const char *name) {
    w->tests++;
    gr_str_add(&w->cases, "    <testcase");
    add_attribute("classname", class, &w->cases);
    add_attribute("name", name, &w->cases);
    gr_str_add(&w->cases, ">\n");
}

// Adds the kernel's causes and misuses (NULL: those that name no kernel of the list). False: none of them fails.
static bool add_all(Writer *w, const GrKernelCoverage *k) {
    const GrReport *r = w->report;
    bool fails = false;
    for (size_t at = 0; at < w->n_causes; at++) {
        const GrCauseRaces *c = &w->causes[at];
        if (w->told[at] || (k && !cause_is_of(c, k)))
            continue;
        add_found(w, at, c->shown, c->known, gr_cause_name(r, c), c);
        fails |= !c->known;
    }
    for (size_t i = 0; i < r->misuses.len; i++) {
        const GrRace *misuse = &r->misuses.data[i];
        if (w->told[w->n_causes + i] || (k && !is_of(misuse, k)))
            continue;
        add_found(w, w->n_causes + i, misuse, misuse->known, gr_report_class(r, misuse->found.class)->name,
                  NULL);
        fails |= !misuse->known;
    }
    return fails;
}

static void add_kernel(Writer *w, const GrKernelCoverage *k) {
    begin_case(w, k->module && *k->module ? k->module : "gpurace", gr_demangle(k->name, w->arena));
    if (k->unchecked) {
        gr_str_add(&w->cases, "      <skipped");
        add_attribute("message", k->unchecked, &w->cases);
        gr_str_add(&w->cases, "/>\n");
        w->skipped++;
    } else {
        w->failures += add_all(w, k);
    }
    gr_str_add(&w->cases, "    </testcase>\n");
}

// What no kernel of the list has: races of the host, for example.
static void add_others(Writer *w) {
    size_t before = w->cases.len, tests = w->tests;
    begin_case(w, "gpurace", "other races");
    size_t empty = w->cases.len;
    w->failures += add_all(w, NULL);
    if (w->cases.len == empty) {
        w->cases.len = before;
        w->tests = tests;
        return;
    }
    gr_str_add(&w->cases, "    </testcase>\n");
}

static void add_verdict(Writer *w) {
    const GrReport *r = w->report;
    begin_case(w, "gpurace", "verdict");
    if (r->verdict == GR_VERDICT_INCONCLUSIVE) {
        w->errors++;
        gr_str_add(&w->cases, "      <error type=\"inconclusive\"");
        add_attribute("message", r->reasons.len ? r->reasons.data[0].text : "inconclusive", &w->cases);
        gr_str_addc(&w->cases, '>');
        for (size_t k = 0; k < r->reasons.len; k++) {
            add_text(r->reasons.data[k].text, false, &w->cases);
            gr_str_addc(&w->cases, '\n');
        }
        gr_str_add(&w->cases, "</error>\n");
    }
    gr_str_addf(&w->cases, "      <system-out>verdict: %s\n", gr_verdict_name(r->verdict));
    add_text(r->reproduce, false, &w->cases);
    gr_str_add(&w->cases, "\n</system-out>\n    </testcase>\n");
}

gr_status gr_report_junit(const GrReport *report, StrBuf *out, gr_error *err) {
    Arena arena;
    GrReport plain = *report, *r = &plain; // what it points to is the report's own
    plain.look.color = false;              // XML has no codes that paint
    gr_arena_init(&arena);
    Writer w = {.report = r, .arena = &arena};
    size_t n = 0;
    w.causes = gr_report_causes(r, &arena, &n);
    for (size_t races = 0; w.causes && w.n_causes < n && races < gr_report_listed(r);)
        races += w.causes[w.n_causes++].n;
    w.told = GR_NEW_ARRAY(&arena, bool, w.n_causes + r->misuses.len + 1);
    bool ok = w.causes && w.told;
    for (size_t k = 0; ok && k < r->kernels.len; k++)
        if (r->kernels.data[k].launches || !r->ran)
            add_kernel(&w, &r->kernels.data[k]);
    if (ok) {
        add_others(&w);
        add_verdict(&w);
        gr_str_addf(out,
                    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"gpurace\" "
                    "tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\">\n",
                    w.tests, w.failures, w.errors, w.skipped);
        gr_str_addn(out, w.cases.data, w.cases.len);
        gr_str_add(out, "  </testsuite>\n</testsuites>\n");
    }
    ok = ok && !w.cases.oom && !out->oom;
    gr_str_free(&w.cases);
    gr_arena_free(&arena);
    return ok ? GR_OK : gr_no_memory(err);
}
