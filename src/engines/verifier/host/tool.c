// SPDX-License-Identifier: Apache-2.0
#include "engines/verifier/host/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

// A program in one of the folders of PATH.
static const char *on_path(Arena *a, const char *name) {
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t len = strcspn(path, ":");
        const char *file = gr_arena_printf(a, "%.*s/%s", (int)len, path, name);
        if (len && file && access(file, X_OK) == 0)
            return file;
        path += len + (path[len] == ':');
    }
    return NULL;
}

const char *gr_tool_nvcc(Arena *a) {
    const char *home = getenv("CUDA_HOME"), *file;
    if (home && *home && (file = gr_arena_printf(a, "%s/bin/nvcc", home)) && access(file, X_OK) == 0)
        return file;
    if ((file = on_path(a, "nvcc")))
        return file;
    static const char *const others[] = {"/usr/local/cuda/bin/nvcc", GPURACE_BUILD_NVCC};
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        if (*others[k] && access(others[k], X_OK) == 0)
            return others[k];
    }
    return NULL;
}

const char *gr_tool_clang(Arena *a) {
    const char *file = on_path(a, "clang++-19");
    static const char debian[] = "/usr/lib/llvm-19/bin/clang++";
    return file ? file : access(debian, X_OK) == 0 ? debian : NULL;
}

gr_status gr_tool_run(const ToolWords *w, bool quiet, int *exit_status, gr_error *err) {
    char **argv = calloc(w->words.len + 1, sizeof *argv);
    if (!argv)
        return gr_fail(err, GR_ERR_NOMEM, "starting %s", w->words.data[0]);
    for (size_t k = 0; k < w->words.len; k++)
        argv[k] = (char *)(uintptr_t)w->words.data[k];
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (w->folder)
        posix_spawn_file_actions_addchdir_np(&actions, w->folder);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    // What a compiler has to say is no part of a report.
    if (quiet)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, 2, 1);
    pid_t pid;
    int failed = posix_spawn(&pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    gr_status st = failed ? gr_fail(err, GR_ERR_IO, "%s%s%s: %s", argv[0], w->folder ? ", started in " : "",
                                    w->folder ? w->folder : "", strerror(failed))
                          : GR_OK;
    free(argv);
    if (st != GR_OK)
        return st;
    int how;
    while (waitpid(pid, &how, 0) < 0) {
        if (errno != EINTR)
            return gr_fail(err, GR_ERR_IO, "waiting for %s: %s", w->words.data[0], strerror(errno));
    }
    *exit_status = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
    return GR_OK;
}

void gr_tool_print(const ToolWords *w, StrBuf *out) {
    for (size_t k = 0; k < w->words.len; k++) {
        const char *word = w->words.data[k];
        bool plain = *word && !word[strcspn(word, " \t\n'\"\\$&|;<>()*?`")];
        if (k)
            gr_str_addc(out, ' ');
        if (plain) {
            gr_str_add(out, word);
            continue;
        }
        gr_str_addc(out, '\'');
        for (; *word; word++) {
            if (*word == '\'')
                gr_str_add(out, "'\\''");
            else
                gr_str_addc(out, *word);
        }
        gr_str_addc(out, '\'');
    }
}
