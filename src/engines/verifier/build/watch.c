// SPDX-License-Identifier: Apache-2.0
// watch — libgpurace-build.so, which `gpurace check --build` preloads into a build: each compiler, linker driver and
// archiver notes its own command as it starts. So no file of the build is edited, and any path or call may start a
// compiler. A compiler that another one starts (nvcc starts g++) notes nothing.
#include "engines/verifier/build/compilers.h"
#include "engines/verifier/build/split.h"

#include "base/str.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

static void append(const char *log, const StrBuf *entry) {
    int fd = open(log, O_WRONLY | O_APPEND | O_CLOEXEC);
    // One write: entries of processes side by side do not mix. The reader refuses an entry that was cut short.
    if (fd >= 0 && write(fd, entry->data, entry->len) >= 0)
        close(fd);
}

// Words that nvcc takes from its environment, which the build may have set.
static gr_status add_flags(Arena *a, bool nvcc, const char *variable, GrWords *out) {
    const char *flags = nvcc ? getenv(variable) : NULL;
    return flags ? gr_split(a, flags, out, NULL) : GR_OK;
}

// Collects all words of the command. Response files may be gone when the build is over, so their words are taken now.
static gr_status collect(Arena *a, size_t n, const char *const *words, GrWords *out) {
    size_t first = gr_is_compiler_launcher(words[0]) ? 2 : 1;
    bool nvcc = gr_compiler_of(words[first - 1]) == GR_COMPILER_NVCC;
    GrWords typed = {0};
    gr_status st = GR_OK;
    for (size_t k = 0; k < n && st == GR_OK; k++) {
        if (k == first)
            st = add_flags(a, nvcc, "NVCC_PREPEND_FLAGS", &typed);
        if (st == GR_OK && !gr_vec_push(&typed, words[k]))
            st = GR_ERR_NOMEM;
    }
    if (st == GR_OK)
        st = add_flags(a, nvcc, "NVCC_APPEND_FLAGS", &typed);
    if (st == GR_OK)
        st = gr_split_responses(a, NULL, typed.data, typed.len, out, NULL);
    gr_vec_free(&typed);
    return st;
}

// If words cannot be read, the compiler says so itself, and the build fails.
static void note(const char *log, size_t n, const char *const *words) {
    char folder[PATH_MAX];
    Arena a;
    GrWords all = {0};
    StrBuf entry = {0};
    gr_arena_init(&a);
    if (getcwd(folder, sizeof folder) && collect(&a, n, words, &all) == GR_OK) {
        gr_str_addf(&entry, "%zu", all.len);
        gr_str_addc(&entry, 0);
        gr_str_addn(&entry, folder, strlen(folder) + 1);
        for (size_t k = 0; k < all.len; k++)
            gr_str_addn(&entry, all.data[k], strlen(all.data[k]) + 1);
        if (!entry.oom)
            append(log, &entry);
    }
    gr_str_free(&entry);
    gr_vec_free(&all);
    gr_arena_free(&a);
}

__attribute__((constructor, visibility("default"))) void gr_build_note(int argc, char **argv);
void gr_build_note(int argc, char **argv) {
    const char *log = getenv(GR_BUILD_LOG_ENV);
    int compiler = argc > 1 && gr_is_compiler_launcher(argv[0]);
    if (!log || argc < 1 || gr_compiler_of(argv[compiler]) == GR_COMPILER_NONE)
        return;
    note(log, (size_t)argc, (const char *const *)argv);
    unsetenv(GR_BUILD_LOG_ENV);
}
