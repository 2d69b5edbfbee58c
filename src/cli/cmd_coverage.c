// SPDX-License-Identifier: Apache-2.0
// gpurace coverage — shows the file of --coverage: which accesses no run has watched so far, and which ones some run
// has. It also shows the pairs of accesses that touched the same bytes and were never seen to overlap
// (coverage_conflicts.c).
//
// Accesses of one place and kind (copies made by unrolling) are one line of the text; JSON has each. Exit status: 0; 2
// when the command line makes no sense or the file is none.
#include "base/log.h"
#include "cli/commands.h"
#include "cli/coverage_list.h"
#include "coverage/coverage.h"
#include "options/options.h"
#include "passes/sample.h"
#include "report/report.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Total {
    uint64_t accesses, watched, outdated; // outdated: accesses besides
} Total;

static Total count(const GrCoverage *c) {
    Total t = {0};
    for (size_t i = 0; i < c->functions.len; i++) {
        const GrCoveredFunction *f = c->functions.data[i];
        bool outdated = gr_coverage_outdated(c, f);
        t.outdated += outdated ? f->sites.len : 0;
        t.accesses += outdated ? 0 : f->sites.len;
        for (size_t k = 0; k < f->sites.len && !outdated; k++)
            t.watched += f->sites.data[k].watched != 0;
    }
    return t;
}

// ---- Text ----------------------------------------------------------------------------------------------------------

typedef struct Line {
    const GrCoveredFunction *function;
    const GrCoveredSite *least; // watched, of those that are merged here
    size_t accesses, watched;
} Line;
typedef VEC(Line) Lines;

static int compare_lines(const void *a, const void *b) {
    const Line *x = a, *y = b;
    int d = (x->watched > 0) - (y->watched > 0);
    d = d ? d : gr_covered_compare(x->least, y->least);
    d = d ? d : strcmp(x->function->name, y->function->name);
    return d ? d : (x->least->nth > y->least->nth) - (x->least->nth < y->least->nth);
}

static bool add_sites(const GrCoveredFunction *f, Lines *lines) {
    size_t first = lines->len;
    for (size_t k = 0; k < f->sites.len; k++) {
        const GrCoveredSite *s = &f->sites.data[k];
        size_t i = first;
        while (i < lines->len && (!s->line || gr_covered_compare(lines->data[i].least, s)))
            i++;
        if (i == lines->len && !gr_vec_push(lines, ((Line){.function = f, .least = s})))
            return false;
        Line *l = &lines->data[i];
        l->accesses++;
        l->watched += s->watched != 0;
        if (s->watched < l->least->watched)
            l->least = s;
    }
    return true;
}

static void print_line(const Line *l, Arena *arena) {
    const GrCoveredSite *s = l->least;
    printf("  ");
    gr_covered_print(l->function, s, arena);
    if (l->accesses > 1)
        printf(", %zu of %zu accesses watched", l->watched, l->accesses);
    else if (s->watched)
        printf(", watched in %u run%s", s->watched, s->watched == 1 ? "" : "s");
    if (!s->watched && s->chosen)
        printf(", chosen in %u run%s that did not launch it", s->chosen, s->chosen == 1 ? "" : "s");
    else if (!s->watched && !l->function->launched)
        printf(", never launched");
    printf("  [%016llx:%u]\n", (unsigned long long)l->function->id, s->nth);
}

static gr_status print_text(const GrCoverage *c, const char *path, gr_error *err) {
    Total t = count(c);
    Lines lines = {0};
    Arena arena;
    gr_arena_init(&arena);
    bool ok = true;
    for (size_t i = 0; ok && i < c->functions.len; i++)
        ok = gr_coverage_outdated(c, c->functions.data[i]) || add_sites(c->functions.data[i], &lines);
    printf("%s: %llu of %llu accesses watched, in %llu run%s\n", path, (unsigned long long)t.watched,
           (unsigned long long)t.accesses, (unsigned long long)c->runs, c->runs == 1 ? "" : "s");
    if (t.outdated)
        printf("(and %llu accesses of functions whose code has changed since)\n",
               (unsigned long long)t.outdated);
    if (lines.len)
        qsort(lines.data, lines.len, sizeof *lines.data, compare_lines);
    for (size_t i = 0; i < lines.len; i++) {
        bool watched = lines.data[i].watched > 0;
        if (i == 0 || watched != (lines.data[i - 1].watched > 0))
            puts(watched ? "watched:" : "never watched:");
        print_line(&lines.data[i], &arena);
    }
    ok = ok && gr_coverage_print_conflicts(c, &arena);
    gr_vec_free(&lines);
    gr_arena_free(&arena);
    return ok ? GR_OK : gr_no_memory(err);
}

// ---- JSON ----------------------------------------------------------------------------------------------------------

static json_t *function_json(const GrCoverage *c, const GrCoveredFunction *f, Arena *arena) {
    json_t *sites = json_array();
    char id[32];
    snprintf(id, sizeof id, "%016llx", (unsigned long long)f->id);
    for (size_t k = 0; k < f->sites.len; k++) {
        const GrCoveredSite *s = &f->sites.data[k];
        json_array_append_new(sites, json_pack("{s:I,s:I,s:I,s:s,s:I,s:o,s:I,s:I}", "number",
                                               (json_int_t)s->nth, "chosen", (json_int_t)s->chosen, "watched",
                                               (json_int_t)s->watched, "kind", s->kind, "size",
                                               (json_int_t)s->size, "file", gr_covered_text(s->file), "line",
                                               (json_int_t)s->line, "column", (json_int_t)s->col));
    }
    return json_pack("{s:o,s:s,s:b,s:I,s:I,s:b,s:o}", "name", gr_covered_text(gr_demangle(f->name, arena)),
                     "id", id, "kernel", (int)f->is_kernel, "launched", (json_int_t)f->launched, "last_run",
                     (json_int_t)f->last, "outdated", (int)gr_coverage_outdated(c, f), "accesses", sites);
}

static gr_status print_json(const GrCoverage *c, gr_error *err) {
    Arena arena;
    gr_arena_init(&arena);
    Total t = count(c);
    json_t *functions = json_array();
    bool ok = functions != NULL;
    for (size_t i = 0; ok && i < c->functions.len; i++)
        ok = json_array_append_new(functions, function_json(c, c->functions.data[i], &arena)) == 0;
    json_t *o = json_pack("{s:I,s:I,s:I,s:I,s:o,s:o}", "runs", (json_int_t)c->runs, "accesses",
                          (json_int_t)t.accesses, "watched", (json_int_t)t.watched, "outdated",
                          (json_int_t)t.outdated, "functions", functions, "conflicts",
                          gr_coverage_conflicts_json(c, &arena));
    char *text = ok && o ? json_dumps(o, JSON_INDENT(2)) : NULL;
    if (text)
        puts(text);
    ok = text != NULL;
    free(text);
    json_decref(o);
    gr_arena_free(&arena);
    return ok ? GR_OK : gr_no_memory(err);
}

// ---- The command ---------------------------------------------------------------------------------------------------

int gr_cmd_coverage(int argc, char **argv) {
    gr_error err = {0};
    char where[1024];
    GrOptions o;
    GrCoverage c;
    int n = 0, status = EXIT_USAGE;
    bool help = false;
    gr_coverage_init(&c);
    gr_status st;
    GR_TRY(gr_options_init(&o, &err));
    GR_TRY(gr_options_parse_words(&o, OPT_COVERAGE, argc, argv, &n, NULL, &help, &err));
    if (help) {
        status = gr_print_help("coverage", stdout);
        goto done;
    }
    if (n != 1)
        GR_TRY(gr_fail(&err, GR_ERR_ARGUMENT,
                       "the command takes one coverage file; `gpurace coverage --help` shows how"));
    if (access(argv[1], F_OK)) { // for `run` that is an empty one
        st = gr_fail(&err, GR_ERR_NOT_FOUND, "there is no file %s", argv[1]);
        goto done;
    }
    GR_TRY(gr_coverage_read(argv[1], &c, &err));
    GR_TRY(strcmp(o.list_format, "json") ? print_text(&c, argv[1], &err) : print_json(&c, &err));
    status = fflush(stdout) ? 1 : 0;
done:
    if (st != GR_OK)
        gr_log(LOG_ERROR, "%s", gr_error_text(&err, where, sizeof where));
    gr_coverage_free(&c);
    gr_options_free(&o);
    return status;
}
