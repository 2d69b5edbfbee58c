// SPDX-License-Identifier: Apache-2.0
// gpurace — the command: picks a row of commands.def by name and calls it.
//
// Exit status of gpurace itself: 2 for a command line that makes no sense, else what the command returns.
#include "base/escape.h"
#include "base/own.h"
#include "cli/commands.h"
#include "cli/warden.h"
#include "engines/core/engine.h"
#include "options/options.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static const GrCommand commands[] = {
#define COMMAND(name, function, summary, caps, options, operands)                                            \
    {#name, summary, function, caps, options, operands},
#include "cli/commands.def"
#undef COMMAND
};

enum { EXIT_USAGE = 2, NCOMMANDS = sizeof commands / sizeof commands[0] };

static bool is_here(const GrCommand *c) { return !c->caps || gr_engines_that(c->caps)[0]; }

const GrCommand *gr_command(size_t k) {
    for (size_t i = 0; i < NCOMMANDS; i++)
        if (is_here(&commands[i]) && !k--)
            return &commands[i];
    return NULL;
}

const GrCommand *gr_command_find(const char *name) {
    const GrCommand *c;
    for (size_t k = 0; (c = gr_command(k)); k++)
        if (!strcmp(c->name, name))
            return c;
    return NULL;
}

bool gr_command_takes(const GrCommand *c, const GrOptRow *row) {
    const GrOptRow *own;
    if (row->commands & c->options || c->options != OPT_CAMPAIGN || !(row->commands & OPT_RUN))
        return row->commands & c->options;
    for (size_t k = 0; (own = gr_options_row(k, NULL)); k++)
        if (own->commands & OPT_CAMPAIGN && !strcmp(own->name, row->name))
            return false;
    return true;
}

static void print_usage(FILE *out) {
    fputs("usage: gpurace COMMAND [options]\n\n"
          "Finds data races in CUDA programs.\n\ncommands:\n",
          out);
    const GrCommand *c;
    for (size_t k = 0; (c = gr_command(k)); k++)
        fprintf(out, "  %-12s %s\n", c->name, c->summary);
    fputs("\n`gpurace COMMAND --help` describes a command; `gpurace --version` prints the version.\n", out);
}

static int unknown_command(const char *name) {
    fprintf(stderr, "gpurace: unknown command '%s'; `gpurace help` lists them\n", name);
    return EXIT_USAGE;
}

int gr_cmd_help(int argc, char **argv) {
    if (argc < 2 || argv[1][0] == '-') {
        print_usage(stdout);
        return 0;
    }
    const GrCommand *c = gr_command_find(argv[1]);
    if (!c)
        return unknown_command(argv[1]);
    char help[] = "--help";
    return c->run(2, (char *[]){argv[1], help, NULL});
}

int gr_complain(int status, const gr_error *err) {
    char text[sizeof err->file + sizeof err->msg + 32];
    StrBuf plain = {0};
    // What a file says may be quoted in it. Messages of several lines are our own.
    for (const char *line = gr_error_text(err, text, sizeof text); *line;) {
        size_t n = strcspn(line, "\n");
        gr_escaped_addf(&plain, "%.*s", (int)n, line);
        line += n;
        if (*line)
            gr_str_addc(&plain, *line++);
    }
    fprintf(stderr, "gpurace: %s\n", plain.data ? plain.data : "");
    gr_str_free(&plain);
    return status;
}

// A link to the program whose name ends so stands in for ptxas: gpurace-ptxas, and ptxas in a folder of `gpurace nvcc`.
static bool is_called(const char *path, const char *name) {
    const char *slash = path ? strrchr(path, '/') : NULL, *base = slash ? slash + 1 : path;
    size_t n = base ? strlen(base) : 0, m = strlen(name);
    return n >= m && !strcmp(base + n - m, name);
}

static void do_nothing(int sig) { (void)sig; }

// A file that becomes too large (ulimit -f) is an error of write, which is reported. A handler, not SIG_IGN: what is started gets the default.
static void survive_full_files(void) {
    struct sigaction before, ours = {.sa_handler = do_nothing, .sa_flags = SA_RESTART};
    if (!sigaction(SIGXFSZ, NULL, &before) && before.sa_handler == SIG_DFL)
        sigaction(SIGXFSZ, &ours, NULL);
}

static int run_command(const GrCommand *c, int argc, char **argv) {
    gr_own_tell_folders(gr_warden_folder);
    int status = c->run(argc, argv);
    gr_warden_end();
    return status;
}

int main(int argc, char **argv) {
    survive_full_files();
    if (is_called(argv[0], "ptxas"))
        return gr_cmd_ptxas(argc, argv);
    if (argc < 2) {
        print_usage(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("gpurace " GPURACE_VERSION);
        return 0;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_usage(stdout);
        return 0;
    }
    const GrCommand *c = gr_command_find(argv[1]);
    return c ? run_command(c, argc - 1, argv + 1) : unknown_command(argv[1]);
}
