// SPDX-License-Identifier: Apache-2.0
// gpurace diff — which races one report has and another has not.
//
// Exit status: --error-exitcode (66) when the second has races that the first has not; else 0; 2: the command line
// makes no sense; 1: a report cannot be read, or the list not written.
#include "base/own.h"
#include "cli/commands.h"
#include "options/options.h"
#include "report/baseline.h"
#include "report/read/read_report.h"
#include "report/write/diff.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static gr_status write_diff(const GrDiff *d, const GrOptions *o, gr_error *err) {
    StrBuf out = {0};
    gr_status st = GR_OK;
    if (!strcmp(o->list_format, "json"))
        st = gr_diff_json(d, &out, err);
    else
        gr_diff_text(d, &out);
    if (st == GR_OK && out.oom)
        st = gr_no_memory(err);
    if (st == GR_OK && o->output[0])
        st = gr_own_write(o->output, GR_OWN_REPORT, out.data, out.len, err);
    else if (st == GR_OK && (fputs(out.data, stdout) < 0 || fflush(stdout)))
        st = gr_fail(err, GR_ERR_IO, "cannot write to standard output");
    gr_str_free(&out);
    return st;
}

static int diff(const GrOptions *o, const char *before, const char *after) {
    GrReport a, b;
    gr_error err = {0};
    char folder[PATH_MAX];
    gr_status st;
    gr_report_init(&a);
    gr_report_init(&b);
    GR_TRY(gr_report_read(before, &a, &err));
    GR_TRY(gr_report_read(after, &b, &err));
    a.folder = b.folder = getcwd(folder, sizeof folder);
    GR_TRY(gr_report_compare(&b, &a, before, &err));
    GR_TRY(gr_report_compare(&a, &b, after, &err));
    GR_TRY(write_diff(&(GrDiff){&a, &b, before, after}, o, &err));
done:;
    int status = st != GR_OK ? gr_complain(EXIT_OURS, &err) : b.baseline.fresh ? (int)o->error_exitcode : 0;
    gr_report_free(&a);
    gr_report_free(&b);
    return status;
}

int gr_cmd_diff(int argc, char **argv) {
    GrOptions o;
    gr_error err = {0};
    int n = 0, status;
    bool help = false;
    if (gr_options_init(&o, &err) != GR_OK)
        return gr_complain(EXIT_OURS, &err);
    if (gr_options_parse_words(&o, OPT_DIFF, argc, argv, &n, NULL, &help, &err) != GR_OK) {
        status = gr_complain(EXIT_USAGE, &err);
    } else if (help) {
        status = gr_print_help("diff", stdout);
    } else if (n != 2) {
        fputs("gpurace: two reports are needed: gpurace diff [options] BEFORE.json AFTER.json\n", stderr);
        status = EXIT_USAGE;
    } else {
        status = diff(&o, argv[1], argv[2]);
    }
    gr_options_free(&o);
    return status;
}
