// SPDX-License-Identifier: Apache-2.0
#include "report/host_place.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

// addr2line's two lines for the address: the function and file:line. False when it says nothing.
static bool ask(const char *object, uint64_t at, char *function, char *file, size_t room) {
    int ends[2];
    char address[32];
    snprintf(address, sizeof address, "0x%llx", (unsigned long long)at);
    char *const args[] = {"addr2line", "-f", "-e", (char *)object, address, NULL};
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
    if (f)
        fclose(f);
    if (ok)
        waitpid(child, NULL, 0);
    function[strcspn(function, "\n")] = file[strcspn(file, "\n")] = 0;
    return said;
}

GrFrame gr_host_place(const char *object, uint64_t at, const char *symbol, Arena *arena) {
    char function[4096] = "", file[4096] = "";
    GrFrame f = {.function = *symbol ? symbol : NULL};
    if (!*object || !ask(object, at, function, file, sizeof file))
        return f;
    char *colon = strrchr(file, ':');
    unsigned long line = colon ? strtoul(colon + 1, NULL, 10) : 0;
    if (*function && *function != '?')
        f.function = gr_arena_strndup(arena, function, strlen(function));
    if (line && *file != '?') {
        f.file = gr_arena_strndup(arena, file, (size_t)(colon - file));
        f.line = (uint32_t)line;
    }
    return f;
}
