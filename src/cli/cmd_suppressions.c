// SPDX-License-Identifier: Apache-2.0
// gpurace suppressions — looks over a file of rules: which have no reason, hide too much, or hide nothing; and over
// sources: which comments `gpurace: ok` give no reason.
//
// Exit status: 0 when nothing is doubtful; 3 when something is; 2: the command line makes no sense, or a rule is not
// understood; 1: a report cannot be read.
#include "base/outfile.h"
#include "cli/commands.h"
#include "report/lint.h"
#include "report/read/read_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static gr_status count(GrSuppressions *rules, const char *path, gr_error *err) {
    GrReport r;
    gr_report_init(&r);
    gr_status st = gr_report_read(path, &r, err);
    if (st == GR_OK)
        gr_lint_count(rules, &r);
    gr_report_free(&r);
    return st;
}

typedef struct Doubts {
    const char *path;
    uint64_t n;
} Doubts;

static void tell(void *user, const GrRule *rule, const char *text) {
    Doubts *d = user;
    printf("%s:%u: %s: %s\n", d->path, rule->line, rule->text, text);
    d->n++;
}

static bool is_source(const char *path) {
    static const char *const ends[] = {".cu", ".cuh", ".h",   ".hh",  ".hpp", ".hxx",
                                       ".c",  ".cc",  ".cpp", ".cxx", ".inl"};
    const char *end = strrchr(path, '.');
    for (size_t k = 0; end && k < sizeof ends / sizeof *ends; k++)
        if (!strcmp(end, ends[k]))
            return true;
    return false;
}

static gr_status look_over_source(Doubts *d, const char *path, gr_error *err) {
    char *text = NULL;
    size_t len;
    gr_status st = gr_file_read(path, &text, &len, err);
    d->path = path;
    if (st == GR_OK)
        gr_lint_source(text, len, tell, d);
    free(text);
    return st;
}

int gr_cmd_suppressions(int argc, char **argv) {
    gr_error err = {0};
    GrSuppressions rules = {0};
    bool help = argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"));
    if (help || argc < 2 || argv[1][0] == '-')
        return gr_print_help("suppressions", help ? stdout : stderr);
    int status = 0;
    const char *file = NULL; // of the rules
    uint64_t reports = 0;
    Doubts d = {.n = 0};
    for (int k = 1; k < argc && !status; k++)
        if (is_source(argv[k]))
            status = look_over_source(&d, argv[k], &err) == GR_OK ? 0 : gr_complain(EXIT_OURS, &err);
        else if (!file)
            status = gr_suppressions_read(file = argv[k], &rules, &err) == GR_OK
                         ? 0
                         : gr_complain(EXIT_USAGE, &err);
        else if (reports++, count(&rules, argv[k], &err) != GR_OK)
            status = gr_complain(EXIT_OURS, &err);
    if (!status) {
        d.path = file;
        gr_lint(&rules, reports, tell, &d);
        status = fflush(stdout) ? EXIT_OURS : d.n ? EXIT_DOUBTS : 0;
    }
    gr_suppressions_free(&rules);
    return status;
}
