// SPDX-License-Identifier: Apache-2.0
#include "cli/meant.h"

#include "base/demangle.h"
#include "base/near.h"
#include "base/regex.h"
#include "cli/commands.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

// A kernel's name without its scopes, template arguments and parameters.
static const char *plain_name(const char *kernel, Arena *arena) {
    const char *full = gr_demangle(kernel, arena);
    size_t n = full ? strcspn(full, "(<") : 0, from = n;
    while (from && full[from - 1] != ' ' && full[from - 1] != ':')
        from--;
    const char *name = full ? gr_arena_strndup(arena, full + from, n - from) : NULL;
    return name ? name : "";
}

void gr_say_kernel_meant(const char *option, const char *pattern, GrReport *report,
                         gr_status (*say)(GrReport *r, const char *fmt, ...)) {
    regex_t regex;
    char hint[GR_NEAR_ROOM];
    const char *word = pattern + (*pattern == '^');
    GrNear near = {.word = word, .len = strcspn(word, "$"), .inside = true};
    bool matches = !near.len || gr_regex_compile(&regex, pattern, NULL) != GR_OK;
    if (matches)
        return;
    for (size_t k = 0; k < report->kernels.len && !matches; k++) {
        const char *name = report->kernels.data[k].name;
        matches = report->kernels.data[k].launches &&
                  (!regexec(&regex, name, 0, NULL, 0) ||
                   !regexec(&regex, gr_demangle(name, &report->arena), 0, NULL, 0));
        if (report->kernels.data[k].launches)
            gr_near_try(&near, plain_name(name, &report->arena));
    }
    regfree(&regex);
    if (!matches && near.best)
        say(report, "%s %s matches no kernel that was launched%s", option, pattern,
            gr_near_text(&near, "", hint));
}

bool gr_say_source(const char *path) {
    static const char *const ends[] = {".cu", ".cuh", ".ptx", ".cpp", ".cc", ".c"};
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    struct stat st;
    bool is = false;
    for (size_t k = 0; k < sizeof ends / sizeof *ends && dot; k++)
        is |= !strcmp(dot, ends[k]);
    if (!is || stat(path, &st) || !S_ISREG(st.st_mode))
        return false;
    fprintf(stderr, "gpurace: %s is no program", path);
    if (gr_command_find("check"))
        fprintf(stderr, ": `gpurace check %s` looks for races in it without running it", path);
    if (strcmp(dot, ".ptx") && strcmp(dot, ".cuh"))
        fprintf(
            stderr,
            "; to run it, build it first: nvcc -lineinfo -cudart shared -o %.*s %s && gpurace run -- %s%.*s",
            (int)(dot - path), path, path, slash ? "" : "./", (int)(dot - path), path);
    fputc('\n', stderr);
    return true;
}
