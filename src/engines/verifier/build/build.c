// SPDX-License-Identifier: Apache-2.0
// build — runs a build that is watched, and reads what its compilers noted.
#include "engines/verifier/build/build.h"

#include "base/own.h"
#include "engines/verifier/build/compilers.h"
#include "engines/verifier/host/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static gr_status no_memory(gr_error *err) { return gr_fail(err, GR_ERR_NOMEM, "reading a build"); }

void gr_build_init(GrBuild *b, const char *const *words) {
    *b = (GrBuild){.words = words};
    gr_arena_init(&b->arena);
    while (words[b->n_words])
        b->n_words++;
}

void gr_build_free(GrBuild *b) {
    for (size_t k = 0; k < b->outputs.len; k++)
        gr_vec_free(&b->outputs.data[k].sources);
    gr_vec_free(&b->outputs);
    gr_vec_free(&b->sources);
    gr_vec_free(&b->programs);
    gr_vec_free(&b->reasons);
    gr_vec_free(&b->unread);
    gr_vec_free(&b->remarks);
    gr_arena_free(&b->arena);
}

gr_status gr_build_unread(GrBuild *b, const char *text, gr_error *err) {
    return text && gr_vec_push(&b->unread, text) ? GR_OK : no_memory(err);
}

const char *gr_build_missing(const char *file) {
    struct stat s;
    if (stat(file, &s) != 0 || access(file, R_OK) != 0)
        return strerror(errno);
    return S_ISDIR(s.st_mode) ? "it is a folder" : NULL;
}

gr_status gr_build_add_file(GrBuild *b, const char *file, gr_error *err) {
    const char *missing = gr_build_missing(file);
    if (missing)
        return gr_build_unread(
            b,
            gr_arena_printf(&b->arena, "%s: %s: nothing of it was checked; correct its name, or leave it out",
                            file, missing),
            err);
    GrHostSource s = {.file = file, .words = b->words, .n_words = b->n_words};
    return gr_vec_push(&b->sources, s) ? GR_OK : no_memory(err);
}

// A file that a build tool compiles to see what the compiler is.
static bool is_probe(const char *path) {
    static const char *const parts[] = {"/CMakeFiles/CMakeScratch/", "/CMakeFiles/CMakeTmp/", "/CompilerIdC",
                                        "/Modules/CMake"};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        if (strstr(path, parts[k]))
            return true;
    return !strncmp(path, "/dev/", 5);
}

static bool compiles_probe(const char *folder, const char *const *words, size_t n) {
    if (strstr(folder, "/CMakeFiles/"))
        return true;
    for (size_t k = 1; k < n; k++)
        if (*words[k] != '-' && is_probe(words[k]))
            return true;
    return false;
}

static gr_status read_log(GrBuild *b, const char *at, const char *end, gr_error *err) {
    gr_status st = GR_OK;
    GrWords words = {0};
    while (at < end && st == GR_OK) {
        char *rest;
        size_t n = strtoul(at, &rest, 10);
        bool whole = !*rest && rest > at && rest < end;
        const char *folder = whole ? rest + 1 : end;
        words.len = 0;
        at = whole ? folder + strlen(folder) + 1 : end;
        for (; whole && words.len < n && at < end; at += strlen(at) + 1)
            if (!gr_vec_push(&words, gr_arena_strdup(&b->arena, at)) || !words.data[words.len - 1])
                GR_TRY(no_memory(err));
        if (!whole || words.len < n)
            GR_TRY(gr_fail(err, GR_ERR_IO, "what the build's compilers noted is damaged: is the disk full?"));
        if (!compiles_probe(folder, words.data, n))
            st = gr_build_add_command(b, folder, words.data, n, err);
    }
done:
    gr_vec_free(&words);
    return st;
}

static gr_status run(const char *command, const char *library, const char *log, gr_error *err) {
    const char *before = getenv("LD_PRELOAD");
    StrBuf preload = {0};
    gr_str_addf(&preload, "%s%s%s", library, before && *before ? ":" : "", before ? before : "");
    GR_NEED_OR(!preload.oom, no_memory(err));
    int how = 0;
    pid_t pid = fork();
    if (pid == 0) {
        if (!setenv("LD_PRELOAD", preload.data, 1) && !setenv(GR_BUILD_LOG_ENV, log, 1))
            execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    gr_str_free(&preload);
    if (pid < 0)
        return gr_fail(err, GR_ERR_IO, "fork: %s", strerror(errno));
    while (waitpid(pid, &how, 0) < 0)
        if (errno != EINTR)
            return gr_fail(err, GR_ERR_IO, "waiting for the build: %s", strerror(errno));
    if (WIFSIGNALED(how))
        return gr_fail(err, GR_ERR_ARGUMENT, "the build was ended by signal %d: nothing was checked (%s)",
                       WTERMSIG(how), command);
    return WEXITSTATUS(how)
               ? gr_fail(err, GR_ERR_ARGUMENT, "the build failed with status %d: nothing was checked (%s)",
                         WEXITSTATUS(how), command)
               : GR_OK;
}

gr_status gr_build_watch(GrBuild *b, const char *command, const char *library, gr_error *err) {
    gr_status st;
    char folder[PATH_MAX] = "", top[PATH_MAX], *text = NULL;
    size_t len, before = b->sources.len;
    if (library[strcspn(library, " :")])
        return gr_fail(err, GR_ERR_UNSUPPORTED,
                       "%s: a build cannot be watched from a folder whose name has a blank or a colon in it "
                       "(LD_PRELOAD)",
                       library);
    if (access(library, R_OK) != 0)
        return gr_fail(err, GR_ERR_NOT_FOUND, "%s: %s: gpurace is not installed as a whole", library,
                       strerror(errno));
    if (!getcwd(top, sizeof top) || !(b->top = gr_arena_strdup(&b->arena, top)))
        return gr_fail(err, GR_ERR_IO, "the folder of the build: %s", strerror(errno));
    GR_TRY(gr_own_folder(folder, "check", err));
    const char *log = gr_arena_printf(&b->arena, "%s/log", folder);
    if (!log)
        GR_TRY(no_memory(err));
    GR_TRY(gr_own_write(log, GR_OWN_SCRATCH, "", 0, err));
    GR_TRY(run(command, library, log, err));
    GR_TRY(gr_file_read(log, &text, &len, err));
    GR_TRY(read_log(b, text, text + len, err));
    // The noted words have these flags.
    unsetenv("NVCC_PREPEND_FLAGS");
    unsetenv("NVCC_APPEND_FLAGS");
    GR_TRY(gr_build_drop_gone(b, err));
    if (b->sources.len == before)
        GR_TRY(gr_fail(err, GR_ERR_ARGUMENT,
                       "nothing was compiled, perhaps because all was up to date: clean first (make "
                       "clean), and try again (%s)",
                       command));
    GR_TRY(gr_build_find_programs(b, err));
done:
    if (*folder)
        (void)gr_own_remove_folder(folder, NULL);
    free(text);
    return st;
}
