// SPDX-License-Identifier: Apache-2.0
// gpurace report — reads reports that were written as JSON, merges them, and writes them in any format. No program
// runs.
//
// Exit status: 0 when the report was written; with --baseline --error-exitcode (66) when there are new races; 2: the
// command line makes no sense; 1: a report cannot be read, or not written.
#include "cli/baseline_file.h"
#include "cli/commands.h"
#include "cli/config.h"
#include "cli/write_report.h"
#include "options/options.h"
#include "report/read/read_report.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

static int report(const GrOptions *o, int n, char **paths) {
    GrReport r;
    GrBaselineFile baseline = {.name = NULL};
    gr_error err = {0};
    char folder[PATH_MAX];
    bool lost = false;
    gr_status st = GR_OK;
    gr_report_init(&r);
    r.folder = getcwd(folder, sizeof folder);
    r.max_reports = o->max_listed;
    r.paths = o->path_map;
    for (int k = 0; k < n && st == GR_OK; k++)
        st = gr_report_add_file(&r, paths[k], &err);
    if (st == GR_OK)
        st = gr_report_added(&r, &err);
    if (st == GR_OK)
        st = gr_baseline_open(&baseline, o->baseline, &err);
    if (st == GR_OK)
        st = gr_baseline_apply(&baseline, &r, &err);
    if (st == GR_OK)
        st = gr_write_report(&r, o, stdout, &lost, &err);
    bool fails = o->baseline[0] && gr_report_fails(&r);
    gr_baseline_close(&baseline);
    gr_report_free(&r);
    return st != GR_OK ? gr_complain(EXIT_OURS, &err) : fails ? (int)o->error_exitcode : lost ? EXIT_OURS : 0;
}

int gr_cmd_report(int argc, char **argv) {
    GrOptions o;
    gr_error err = {0};
    int n = 0, status;
    bool help = false;
    if (gr_options_init(&o, &err) != GR_OK)
        return gr_complain(EXIT_OURS, &err);
    if (gr_config_read(&o, OPT_REPORT, argc, argv, &err) != GR_OK ||
        gr_options_parse_words(&o, OPT_REPORT, argc, argv, &n, NULL, &help, &err) != GR_OK ||
        (!help && gr_write_report_check(&o, &err) != GR_OK)) {
        status = gr_complain(EXIT_USAGE, &err);
    } else if (help) {
        status = gr_print_help("report", stdout);
    } else if (!n) {
        fputs("gpurace: no report was given: gpurace report [options] REPORT.json...\n", stderr);
        status = EXIT_USAGE;
    } else {
        status = report(&o, n, argv + 1);
    }
    gr_options_free(&o);
    return status;
}
