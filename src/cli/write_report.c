// SPDX-License-Identifier: Apache-2.0
#include "cli/write_report.h"

#include "base/own.h"
#include "base/path_map.h"
#include "report/write/formats.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

// `--output -`: not a file that is looked at later.
static bool is_shown(const GrOptions *o) { return !strcmp(o->output, GR_STANDARD_OUTPUT); }

static void tell_verdict(const GrOptions *o, const GrReport *report) {
    StrBuf s = {0};
    gr_report_verdict(report, &s);
    if (report->baseline.name) {
        gr_str_add(&s, "; ");
        gr_report_summary(report, &s);
    }
    fprintf(stderr, "gpurace: %s%s%s\n", s.data ? s.data : "", is_shown(o) ? "" : "; the report is in ",
            is_shown(o) ? "" : o->output);
    gr_str_free(&s);
}

static bool is_wanted(const GrOptions *o, const GrFormat *f) {
    return gr_words_have(o->format, strlen(o->format), f->word);
}

static bool has_several(const GrOptions *o) { return strchr(o->format, ',') != NULL; }

// Where the report belongs in this format. NULL: no file. The caller frees it.
static gr_status path_of(const GrOptions *o, const GrFormat *f, char **out, gr_error *err) {
    StrBuf path = {0};
    *out = NULL;
    if (!o->output[0])
        return GR_OK;
    gr_str_add(&path, o->output);
    if (has_several(o))
        gr_str_addf(&path, "/%s", f->file);
    *out = path.oom ? NULL : gr_str_take(&path);
    return *out ? GR_OK : gr_no_memory(err);
}

static gr_status check_folder(const GrOptions *o, gr_error *err) {
    struct stat st;
    if (!o->output[0] || is_shown(o))
        return gr_fail(err, GR_ERR_ARGUMENT, "--format %s: several formats need --output FOLDER", o->format);
    if (mkdir(o->output, 0777) && errno != EEXIST)
        return gr_fail(err, GR_ERR_ARGUMENT, "--output: cannot make the folder %s: %s", o->output,
                       strerror(errno));
    if (stat(o->output, &st) || !S_ISDIR(st.st_mode))
        return gr_fail(err, GR_ERR_ARGUMENT, "--output: %s is no folder, which several formats need",
                       o->output);
    if (access(o->output, W_OK | X_OK))
        return gr_fail(err, GR_ERR_ARGUMENT, "--output: cannot write to the folder %s: %s", o->output,
                       strerror(errno));
    return GR_OK;
}

gr_status gr_write_report_check(const GrOptions *o, gr_error *err) {
    gr_status st = gr_path_map_check(o->path_map, err);
    if (st == GR_OK && has_several(o))
        st = check_folder(o, err);
    gr_error why = {0};
    for (const GrFormat *f = gr_formats; f->word && st == GR_OK; f++) {
        char *path = NULL;
        if (!is_wanted(o, f))
            continue;
        st = path_of(o, f, &path, err);
        if (path && gr_own_try(path, GR_OWN_REPORT, &why) != GR_OK)
            st = gr_fail(err, GR_ERR_ARGUMENT, "--output: %s", why.msg);
        free(path);
    }
    return st;
}

static bool is_terminal(FILE *to) {
    const char *term = getenv("TERM");
    return isatty(fileno(to)) && (!term || strcmp(term, "dumb"));
}

// How the text report looks where it is shown; a file gets no more than was asked for.
static void look_at(GrReport *report, const GrOptions *o, FILE *to, bool shown) {
    const char *no = getenv("NO_COLOR");
    bool terminal = shown && is_terminal(to);
    struct winsize size;
    report->look.quiet = o->quiet;
    report->look.verbose = o->verbose;
    report->look.full_names = o->full_names;
    report->look.color =
        !strcmp(o->color, "always") || (!strcmp(o->color, "auto") && terminal && !(no && *no));
    report->look.width = (unsigned)o->width;
    if (!o->width && terminal && !ioctl(fileno(to), TIOCGWINSZ, &size))
        report->look.width = size.ws_col;
}

static gr_status write_one(const GrReport *report, const GrOptions *o, const GrFormat *f, FILE *to,
                           bool *lost, gr_error *err) {
    StrBuf out = {0};
    gr_error why = {0};
    char *path = NULL;
    gr_status st;
    GrReport look = *report; // what it points to is the report's own
    GR_TRY(path_of(o, f, &path, err));
    look_at(&look, o, is_shown(o) ? stdout : to, !path || is_shown(o));
    GR_TRY(f->write(&look, &out, err));
    bool failed = path && gr_own_write(path, GR_OWN_REPORT, out.data, out.len, &why) != GR_OK;
    if (!path || failed)
        fwrite(out.data, 1, out.len, to);
    if (failed)
        fprintf(stderr, "gpurace: %s; the report is above\n", why.msg);
    *lost |= failed;
done:
    gr_str_free(&out);
    free(path);
    return st;
}

gr_status gr_write_report(const GrReport *report, const GrOptions *o, FILE *to, bool *lost, gr_error *err) {
    gr_status st = GR_OK;
    *lost = false;
    for (const GrFormat *f = gr_formats; f->word && st == GR_OK; f++)
        if (is_wanted(o, f))
            st = write_one(report, o, f, to, lost, err);
    if (st == GR_OK && o->output[0] && !*lost)
        tell_verdict(o, report);
    *lost |= fflush(to) || ferror(to);
    return st;
}
