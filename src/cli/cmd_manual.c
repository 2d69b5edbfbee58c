// SPDX-License-Identifier: Apache-2.0
// gpurace manual — pages of the manual, made from the tables of commands and options: `gpurace manual run | man -l -`.
//
// Exit status: 0; 2 when the command line makes no sense; 1 when a page cannot be written.
#include "cli/commands.h"

#include "base/own.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

// Writes text for roff: no escapes, no requests, and minus signs that can be copied.
static void add_text(const char *text, StrBuf *out) {
    bool line = true; // at its beginning
    for (; *text; line = *text++ == '\n') {
        if (line && (*text == '.' || *text == '\''))
            gr_str_add(out, "\\&");
        if (*text == '\\')
            gr_str_add(out, "\\e");
        else if (*text == '-')
            gr_str_add(out, "\\-");
        else
            gr_str_addc(out, *text);
    }
}

// A word for the head of the page, in capitals.
static void add_head(const char *command, StrBuf *out) {
    gr_str_add(out, ".\\\" Made from the tables of commands and options.\n.TH \"GPURACE");
    for (const char *p = command ? command : ""; *p; p++)
        gr_str_addf(out, "%s%c", p == command ? "\\-" : "", toupper((unsigned char)*p));
    gr_str_add(out, "\" 1 \"\" \"gpurace " GPURACE_VERSION "\" \"gpurace\"\n.SH NAME\ngpurace");
    if (command)
        gr_str_addf(out, "\\-%s", command);
    gr_str_add(out, " \\- ");
}

static void add_option(const GrOptTable *t, const GrOptRow *r, StrBuf *out) {
    uint64_t lowest, highest;
    gr_str_add(out, ".TP\n\\fB\\-\\-");
    add_text(r->name, out);
    gr_str_add(out, "\\fR");
    if (*r->arg) {
        gr_str_add(out, " \\fI");
        add_text(r->arg, out);
        gr_str_add(out, "\\fR");
    }
    gr_str_addc(out, '\n');
    if (t->engine)
        gr_str_addf(out, "%s: ", t->engine);
    add_text(r->help, out);
    gr_str_addc(out, '.');
    if (gr_options_range(t, r, &lowest, &highest))
        gr_str_addf(out, " From %llu to %llu.", (unsigned long long)lowest, (unsigned long long)highest);
    if (*r->deflt && r->type != OPT_FLAG) {
        gr_str_add(out, " Default: ");
        add_text(r->deflt, out);
        gr_str_addc(out, '.');
    }
    gr_str_addc(out, '\n');
}

static void add_options(const GrCommand *c, StrBuf *out) {
    const GrOptTable *t;
    const GrOptRow *r;
    bool any = false;
    for (size_t k = 0; (r = gr_options_row(k, &t)); k++) {
        if (!gr_command_takes(c, r))
            continue;
        if (!any)
            gr_str_add(out, ".SH OPTIONS\n");
        any = true;
        add_option(t, r, out);
    }
}

static void add_command(const GrCommand *c, StrBuf *out) {
    add_head(c->name, out);
    add_text(c->summary, out);
    gr_str_addf(out, "\n.SH SYNOPSIS\n\\fBgpurace %s\\fR %s", c->name, c->options ? "[options] " : "");
    add_text(c->operands, out);
    gr_str_add(out, "\n.SH DESCRIPTION\n`");
    gr_str_addf(out, "gpurace %s \\-\\-help` says more.\n", c->name);
    if (c->options)
        gr_str_add(out, "The environment takes the same options: GPURACE_OPTIONS=\"name=value name='two "
                        "words'\". The command "
                        "line wins.\n");
    add_options(c, out);
    gr_str_add(out, ".SH SEE ALSO\n\\fBgpurace\\fR(1)\n");
}

static void add_overview(StrBuf *out) {
    const GrCommand *c;
    add_head(NULL, out);
    gr_str_add(out,
               "find data races in CUDA programs\n.SH SYNOPSIS\n\\fBgpurace\\fR \\fICOMMAND\\fR [options]\n"
               ".SH DESCRIPTION\ngpurace runs a CUDA program and reports its data races: on a CUDA device "
               "that runs on the CPU, so "
               "that no GPU is needed, or on a real GPU, where the program's PTX is rewritten when it is "
               "loaded. The program "
               "is not changed.\n.SH COMMANDS\n");
    for (size_t k = 0; (c = gr_command(k)); k++) {
        gr_str_addf(out, ".TP\n\\fB%s\\fR\n", c->name);
        add_text(c->summary, out);
        gr_str_addf(out, ". See \\fBgpurace\\-%s\\fR(1).\n", c->name);
    }
    gr_str_add(out, ".SH EXIT STATUS\n66: races were found. 67: the verdict is inconclusive and \\-\\-strict "
                    "was given. 2: the command "
                    "line makes no sense. 1: gpurace itself failed. Else the program's own.\n");
}

static gr_status make_page(const GrCommand *c, StrBuf *out, gr_error *err) {
    if (c)
        add_command(c, out);
    else
        add_overview(out);
    return out->oom ? gr_no_memory(err) : GR_OK;
}

static gr_status write_page(const GrCommand *c, const char *folder, gr_error *err) {
    StrBuf page = {0}, path = {0};
    gr_str_addf(&path, "%s/gpurace%s%s.1", folder, c ? "-" : "", c ? c->name : "");
    gr_status st = path.oom ? gr_no_memory(err) : make_page(c, &page, err);
    if (st == GR_OK)
        st = gr_own_write(path.data, GR_OWN_MANUAL, page.data, page.len, err);
    gr_str_free(&page);
    gr_str_free(&path);
    return st;
}

static gr_status write_all(const char *folder, gr_error *err) {
    const GrCommand *c;
    gr_status st = write_page(NULL, folder, err);
    for (size_t k = 0; st == GR_OK && (c = gr_command(k)); k++)
        st = write_page(c, folder, err);
    return st;
}

int gr_cmd_manual(int argc, char **argv) {
    gr_error err = {0};
    StrBuf page = {0};
    gr_status st;
    if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
        return gr_print_help("manual", stdout);
    bool all = argc == 3 && !strcmp(argv[1], "--all");
    const GrCommand *c = argc == 2 ? gr_command_find(argv[1]) : NULL;
    if (!all && (argc > 2 || (argc == 2 && !c)))
        return gr_print_help("manual", stderr);
    if (all) {
        st = write_all(argv[2], &err);
    } else {
        st = make_page(c, &page, &err);
        if (st == GR_OK && (fputs(page.data, stdout) < 0 || fflush(stdout)))
            st = gr_fail(&err, GR_ERR_IO, "the page could not be written");
    }
    gr_str_free(&page);
    if (st != GR_OK)
        fprintf(stderr, "gpurace: %s\n", err.msg);
    return st == GR_OK ? 0 : EXIT_OURS;
}
