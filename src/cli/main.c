// SPDX-License-Identifier: Apache-2.0
// gpurace — the command: picks a row of commands.def by name and calls it.
//
// Exit status of gpurace itself: 2 for a command line that makes no sense, else what the command returns.
#include "base/near.h"
#include "base/own.h"
#include "cli/commands.h"
#include "cli/run/warden.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

// In the order of gr_commands.
static int (*const functions[])(int argc, char **argv) = {
#define COMMAND(name, function, summary, caps, options, operands) function,
#include "cli/commands.def"
#undef COMMAND
};

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
    GrNear near = {.word = name};
    char hint[GR_NEAR_ROOM];
    const GrCommand *c;
    for (size_t k = 0; (c = gr_command(k)); k++)
        gr_near_try(&near, c->name);
    fprintf(stderr, "gpurace: unknown command '%s'%s; `gpurace help` lists them\n", name,
            gr_near_text(&near, "", hint));
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
    return functions[c - gr_commands](2, (char *[]){argv[1], help, NULL});
}

// A link to the program whose name ends so stands in for ptxas: gpurace-ptxas, and ptxas in a folder of `gpurace nvcc`.
static bool is_called(const char *path, const char *name) {
    const char *slash = path ? strrchr(path, '/') : NULL, *base = slash ? slash + 1 : path;
    size_t n = base ? strlen(base) : 0, m = strlen(name);
    return n >= m && !strcmp(base + n - m, name);
}

static void do_nothing(int sig) { (void)sig; }

// A file that becomes too large (ulimit -f) is to be an error of write. No SIG_IGN: programs would inherit that.
static void survive_full_files(void) {
    struct sigaction before, ours = {.sa_handler = do_nothing, .sa_flags = SA_RESTART};
    if (!sigaction(SIGXFSZ, NULL, &before) && before.sa_handler == SIG_DFL)
        sigaction(SIGXFSZ, &ours, NULL);
}

static int run_command(const GrCommand *c, int argc, char **argv) {
    gr_own_tell_folders(gr_warden_folder);
    int status = functions[c - gr_commands](argc, argv);
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
