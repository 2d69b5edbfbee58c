// SPDX-License-Identifier: Apache-2.0
#include "report/host_place.h"

#include "findings/headline.h"
#include "report/line_files.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

// "…/cuda_runtime.h:879": a file of the toolkit's or the system's, or none.
static bool is_foreign(const char *place) {
    char file[4096];
    snprintf(file, sizeof file, "%.*s", (int)(strrchr(place, ':') ? strrchr(place, ':') - place : 0), place);
    return *file == '?' || gr_is_toolkit_file(file);
}

// addr2line's two lines for the address: the function and file:line. `own`: of those that were inlined into one
// another, the innermost that is no toolkit's. False when it says nothing.
static bool ask(const char *object, uint64_t at, bool own, char *function, char *file, size_t room) {
    int ends[2];
    char address[32];
    snprintf(address, sizeof address, "0x%llx", (unsigned long long)at);
    char *const args[] = {"addr2line", own ? "-fi" : "-f", "-e", (char *)object, address, NULL};
    posix_spawn_file_actions_t files;
    pid_t child;
    if (pipe2(ends, O_CLOEXEC))
        return false;
    bool ok = !posix_spawn_file_actions_init(&files);
    if (ok) {
        posix_spawn_file_actions_adddup2(&files, ends[1], 1);
        posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
        ok = !posix_spawnp(&child, args[0], &files, NULL, args, environ);
        posix_spawn_file_actions_destroy(&files);
    }
    close(ends[1]);
    FILE *f = ok ? fdopen(ends[0], "r") : NULL;
    if (!f)
        close(ends[0]);
    bool said = f && fgets(function, (int)room, f) && fgets(file, (int)room, f);
    char outer[4096], place[4096];
    while (said && own && fgets(outer, sizeof outer, f) && fgets(place, sizeof place, f))
        if (is_foreign(file) && !is_foreign(place)) {
            snprintf(function, room, "%s", outer);
            snprintf(file, room, "%s", place);
        }
    if (f)
        fclose(f);
    if (ok)
        waitpid(child, NULL, 0);
    function[strcspn(function, "\n")] = file[strcspn(file, "\n")] = 0;
    return said;
}

static GrFrame place_of(const char *object, uint64_t at, const char *symbol, bool own, Arena *arena) {
    char function[4096] = "", file[4096] = "";
    GrFrame f = {.function = *symbol ? symbol : NULL};
    if (!*object || !ask(object, at, own, function, file, sizeof file))
        return f;
    char *colon = strrchr(file, ':');
    unsigned long line = colon ? strtoul(colon + 1, NULL, 10) : 0;
    if (*function && *function != '?')
        f.function = gr_arena_strndup(arena, function, strlen(function));
    if (line && *file != '?') {
        f.file = gr_arena_strndup(arena, file, (size_t)(colon - file));
        f.line = (uint32_t)line;
        const char *meant =
            f.file && gr_is_nvcc_file(f.file) ? gr_first_line_file(object, f.file, arena) : NULL;
        f.file = meant ? meant : f.file;
    }
    return f;
}

GrFrame gr_host_place(const char *object, uint64_t at, const char *symbol, Arena *arena) {
    return place_of(object, at, symbol, false, arena);
}

GrFrame gr_host_own_place(const char *object, uint64_t at, const char *symbol, Arena *arena) {
    return place_of(object, at, symbol, true, arena);
}
