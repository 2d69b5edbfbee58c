// SPDX-License-Identifier: Apache-2.0
// gpurace suppressions — looks over a file of rules: which have no reason, hide too much, or hide nothing.
//
// Exit status: 0 when nothing is doubtful; 3 when something is; 2: the command line makes no sense, or a rule is not
// understood; 1: a report cannot be read.
#include "cli/commands.h"
#include "report/lint.h"
#include "report/read/read_report.h"

#include <stdio.h>
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

int gr_cmd_suppressions(int argc, char **argv) {
    gr_error err = {0};
    GrSuppressions rules;
    bool help = argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"));
    if (help || argc < 2 || argv[1][0] == '-')
        return gr_print_help("suppressions", help ? stdout : stderr);
    int status = 0;
    Doubts d = {.path = argv[1]};
    if (gr_suppressions_read(argv[1], &rules, &err) != GR_OK)
        status = gr_complain(EXIT_USAGE, &err);
    for (int k = 2; k < argc && !status; k++)
        if (count(&rules, argv[k], &err) != GR_OK)
            status = gr_complain(EXIT_OURS, &err);
    if (!status) {
        gr_lint(&rules, (uint64_t)argc - 2, tell, &d);
        status = fflush(stdout) ? EXIT_OURS : d.n ? EXIT_DOUBTS : 0;
    }
    gr_suppressions_free(&rules);
    return status;
}
