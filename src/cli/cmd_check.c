// SPDX-License-Identifier: Apache-2.0
// gpurace check — looks for races in files, by an engine that needs no run of a program.
//
// Exit status: --error-exitcode (66) when there are races; 2 when a file could not be looked at, or the command line
// makes no sense; 67 when the verdict is inconclusive and --strict was given; else 0. 1: gpurace itself failed.
#include "base/path_map.h"
#include "cli/baseline_file.h"
#include "cli/commands.h"
#include "cli/config.h"
#include "cli/strict.h"
#include "cli/write_report.h"
#include "engines/core/engine.h"
#include "options/options.h"
#include "report/report.h"
#include "report/suppress.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct Check {
    GrOptions options;
    const GrEngine *engine;
    VEC(const char *) files;
    const char *const *words; // behind `--`
    GrReport report;
    GrSuppressions suppressions, bundled;
    GrBaselineFile baseline;
    gr_error why; // of a finding that the report did not take
    bool unread;  // a file could not be looked at
} Check;

// ---- What the engine says ----------------------------------------------------------------------------------

// The place of a side, where its files lie (--path-map).
static bool find_place(GrReport *r, GrAccess *a) {
    GrFrame *inlined = GR_NEW_ARRAY(&r->arena, GrFrame, (size_t)a->n_inlined + 1);
    if (!inlined)
        return false;
    a->at.file = gr_path_mapped(r->paths, a->at.file, &r->arena);
    for (uint32_t k = 0; k < a->n_inlined; k++) {
        inlined[k] = a->inlined[k];
        inlined[k].file = gr_path_mapped(r->paths, inlined[k].file, &r->arena);
    }
    a->inlined = inlined;
    return true;
}

static bool take(void *user, const GrFinding *f) {
    Check *c = user;
    GrFinding placed = *f;
    for (unsigned k = 0; k < f->n_accesses && c->report.paths[0]; k++)
        if (!find_place(&c->report, &placed.accesses[k]))
            return false;
    return gr_report_add(&c->report, &placed, &c->why) == GR_OK;
}

static gr_status looked_at(void *user, const char *name, const char *file) {
    GrReport *r = &((Check *)user)->report;
    GrKernelCoverage k = {.name = gr_arena_strdup(&r->arena, name),
                          .module = gr_arena_strdup(&r->arena, file)};
    return k.name && k.module && gr_vec_push(&r->kernels, k) ? GR_OK : GR_ERR_NOMEM;
}

static gr_status reason(void *user, const char *text) {
    return gr_report_reason(&((Check *)user)->report, "%s", text);
}
// The report says so, and where that goes to a file, standard error as well.
static gr_status unread(void *user, const char *text) {
    Check *c = user;
    c->unread = true;
    if (c->options.output[0])
        fprintf(stderr, "gpurace: %s\n", text);
    return gr_report_reason(&c->report, "%s", text);
}
static gr_status possible(void *user, const GrPossible *p) {
    return gr_report_possible(&((Check *)user)->report, p);
}
static gr_status remark(void *user, const char *text) {
    return gr_report_remark(&((Check *)user)->report, "%s", text);
}

static gr_status uses(void *user, unsigned bits) {
    Check *c = user;
    GrReport *r = &c->report;
    gr_status st = GR_OK;
    for (const GrBlind *b = c->engine->blind; b && b->what && st == GR_OK; b++)
        if (bits >> b->use & 1)
            st = gr_report_blind(r, "%s (%s)", b->what, c->engine->name);
    return st;
}

// ---- The command -------------------------------------------------------------------------------------------

static const GrEngine *choose_engine(const char *name) {
    for (const GrEngine *const *e = gr_engines; *e; e++)
        if ((*e)->caps & CAP_STATIC && (!strcmp(name, "auto") || !strcmp(name, (*e)->name)))
            return *e;
    return NULL;
}

static gr_status read_words(Check *c, int argc, char **argv, bool *help, gr_error *err) {
    int n, rest;
    GR_MUST(gr_config_read(&c->options, OPT_CHECK, argc, argv, err));
    GR_MUST(gr_options_parse_words(&c->options, OPT_CHECK, argc, argv, &n, &rest, help, err));
    for (int k = 1; k <= n; k++)
        GR_NEED(gr_vec_push(&c->files, argv[k]), err);
    if (rest < argc && !*help)
        c->words = (const char *const *)argv + rest;
    return GR_OK;
}

static void describe(Check *c, char folder[PATH_MAX]) {
    GrReport *r = &c->report;
    gr_report_init(r);
    r->find_class = gr_engine_class;
    r->engine = c->engine->name;
    r->evidence = c->engine->evidence;
    r->device = "none";
    r->seed = c->options.seed;
    r->max_reports = c->options.max_reports;
    r->paths = c->options.path_map;
    r->folder = getcwd(folder, PATH_MAX);
    r->suppressions = c->options.suppressions[0] ? &c->suppressions : NULL;
    r->bundled = c->options.bundled_suppressions ? &c->bundled : NULL;
}

static void reproduce(Check *c, StrBuf *out) {
    gr_str_add(out, "gpurace check");
    gr_options_reproduce(&c->options, OPT_CHECK, out);
    for (size_t k = 0; k < c->files.len; k++) {
        gr_str_addc(out, ' ');
        gr_shell_quote(c->files.data[k], out);
    }
    for (const char *const *w = c->words; w && *w; w++) {
        gr_str_add(out, w == c->words ? " -- " : " ");
        gr_shell_quote(*w, out);
    }
    c->report.reproduce = out->oom ? "" : out->data;
}

static int check(Check *c, gr_error *err) {
    static const char *const none[] = {NULL};
    gr_status st;
    StrBuf again = {0};
    char folder[PATH_MAX];
    bool lost = false;
    describe(c, folder);
    GrReport *r = &c->report;
    GrStaticInput in = {c->files.data, c->files.len, c->words ? c->words : none, &c->options};
    GrStaticSink to = {&r->arena, {c, take}, c, looked_at, reason, unread, remark, uses, possible};
    st = c->engine->still->check(&in, &to, err);
    if (c->why.code) { // a finding that the report refused: the engine knows only that it was not taken
        *err = c->why;
        st = c->why.code;
    }
    GR_TRY(st);
    if (!r->kernels.len && !r->reasons.len)
        GR_TRY(gr_report_reason(r, "there is no kernel in these files"));
    GR_TRY(gr_report_finish(r, err));
    reproduce(c, &again);
    GR_TRY(gr_baseline_apply(&c->baseline, r, err));
    GR_TRY(gr_write_report(r, &c->options, stderr, &lost, err));
done:;
    int status = st != GR_OK                                      ? gr_complain(EXIT_OURS, err)
                 : gr_report_fails(r)                             ? (int)c->options.error_exitcode
                 : lost                                           ? EXIT_OURS
                 : c->unread                                      ? EXIT_USAGE
                 : gr_strictly_fails_report(c->options.strict, r) ? EXIT_INCONCLUSIVE
                                                                  : 0;
    gr_str_free(&again);
    gr_report_free(r);
    return status;
}

static int command(Check *c, int argc, char **argv, gr_error *err) {
    bool help = false;
    char hint[GR_NEAR_ROOM];
    if (gr_options_init(&c->options, err) != GR_OK)
        return gr_complain(EXIT_OURS, err);
    if (read_words(c, argc, argv, &help, err) != GR_OK)
        return gr_complain(EXIT_USAGE, err);
    if (help)
        return gr_print_help("check", stdout);
    c->engine = choose_engine(c->options.checker);
    if (!c->engine) {
        fprintf(stderr,
                "gpurace: no engine '%s' checks files%s; `gpurace check --help` lists the engines that do\n",
                c->options.checker, gr_engine_meant(c->options.checker, hint));
        return EXIT_USAGE;
    }
    if (!c->files.len && !c->options.build[0]) {
        fputs(
            "gpurace: no file was given: gpurace check [options] FILE... [-- WORDS...], or --build COMMAND\n",
            stderr);
        return EXIT_USAGE;
    }
    c->options.engine = c->options.checker = c->engine->name;
    c->options.caps = c->engine->caps;
    if ((c->options.suppressions[0] &&
         gr_suppressions_read(c->options.suppressions, &c->suppressions, err) != GR_OK) ||
        gr_suppressions_bundled(&c->bundled, err) != GR_OK)
        return gr_complain(EXIT_USAGE, err);
    if (gr_baseline_open(&c->baseline, c->options.baseline, err) != GR_OK ||
        gr_write_report_check(&c->options, err) != GR_OK)
        return gr_complain(EXIT_USAGE, err);
    return check(c, err);
}

int gr_cmd_check(int argc, char **argv) {
    Check c = {.words = NULL};
    gr_error err = {0};
    int status = command(&c, argc, argv, &err);
    gr_baseline_close(&c.baseline);
    gr_suppressions_free(&c.suppressions);
    gr_suppressions_free(&c.bundled);
    gr_vec_free(&c.files);
    gr_options_free(&c.options);
    return status;
}
