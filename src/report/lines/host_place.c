// SPDX-License-Identifier: Apache-2.0
#include "report/lines/host_place.h"

#include "report/lines/line_files.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

typedef struct Asking {
    const char *object;
    Arena *arena;
    GrTakePlace *take;
    void *user;
} Asking;

// Starts addr2line for the addresses. NULL: that is not possible. *child is to be waited for.
static FILE *start(const Asking *a, const uint64_t *at, unsigned n, pid_t *child) {
    char addresses[GR_HOST_PLACES_MOST][32];
    char *args[GR_HOST_PLACES_MOST + 8] = {"addr2line", "-afi", "-e", (char *)a->object};
    int ends[2];
    posix_spawn_file_actions_t files;
    for (unsigned k = 0; k < n; k++) {
        snprintf(addresses[k], sizeof addresses[k], "0x%llx", (unsigned long long)at[k]);
        args[4 + k] = addresses[k];
    }
    if (pipe2(ends, O_CLOEXEC))
        return NULL;
    bool ok = !posix_spawn_file_actions_init(&files);
    if (ok) {
        posix_spawn_file_actions_adddup2(&files, ends[1], 1);
        posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
        ok = !posix_spawnp(child, args[0], &files, NULL, args, environ);
        posix_spawn_file_actions_destroy(&files);
    }
    close(ends[1]);
    FILE *f = ok ? fdopen(ends[0], "r") : NULL;
    if (!f)
        close(ends[0]);
    if (!f && ok)
        waitpid(*child, NULL, 0);
    return f;
}

// A function and FILE:LINE, as addr2line says them.
static void hand_over(const Asking *a, unsigned k, const char *function, char *place) {
    GrFrame f = {.function = NULL};
    char *colon = strrchr(place, ':');
    unsigned long line = colon ? strtoul(colon + 1, NULL, 10) : 0;
    if (*function && *function != '?')
        f.function = gr_arena_strdup(a->arena, function);
    if (line && *place != '?') {
        f.file = gr_arena_strndup(a->arena, place, (size_t)(colon - place));
        f.line = (uint32_t)line;
        const char *meant =
            f.file && gr_is_nvcc_file(f.file) ? gr_first_line_file(a->object, f.file, a->arena) : NULL;
        f.file = meant ? meant : f.file;
    }
    a->take(a->user, k, &f);
}

void gr_host_places(const char *object, const uint64_t *at, unsigned n, Arena *arena, GrTakePlace *take,
                    void *user) {
    Asking a = {object, arena, take, user};
    pid_t child;
    char line[4096], function[4096];
    n = n < GR_HOST_PLACES_MOST ? n : GR_HOST_PLACES_MOST;
    FILE *f = n && *object && access(object, R_OK) == 0 ? start(&a, at, n, &child) : NULL;
    unsigned begun = 0; // so many addresses
    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        if (!strncmp(line, "0x", 2) && begun < n) {
            begun++;
            continue;
        }
        snprintf(function, sizeof function, "%s", line);
        if (!begun || !fgets(line, sizeof line, f))
            break;
        line[strcspn(line, "\n")] = 0;
        hand_over(&a, begun - 1, function, line);
    }
    if (!f)
        return;
    fclose(f);
    waitpid(child, NULL, 0);
}

static void take_first(void *user, unsigned k, const GrFrame *f) {
    GrFrame *out = user;
    (void)k;
    if (!out->file && !out->function)
        *out = *f;
}

GrFrame gr_host_place(const char *object, uint64_t at, const char *symbol, Arena *arena) {
    GrFrame f = {.function = NULL};
    gr_host_places(object, &at, 1, arena, take_first, &f);
    if (!f.function && *symbol)
        f.function = symbol;
    return f;
}
