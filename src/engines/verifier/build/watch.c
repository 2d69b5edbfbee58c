// SPDX-License-Identifier: Apache-2.0
// watch — libgpurace-build.so, which `gpurace check --build` preloads into a build: each compiler, linker driver and archiver notes its own command
// as it starts. So no file of the build is edited, and it does not matter by which path or call a compiler was started. A compiler that another one
// starts (nvcc starts g++) notes nothing.
#include "engines/verifier/build/compilers.h"
#include "engines/verifier/build/split.h"

#include "base/str.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

// Response files may be gone when the build is over, so their words are noted. Where one cannot be read, the compiler says so itself.
static void note(const char *log, size_t n, const char *const *words) {
    char folder[PATH_MAX];
    Arena a;
    GrWords all = {0};
    StrBuf entry = {0};
    gr_arena_init(&a);
    if (getcwd(folder, sizeof folder) && gr_split_responses(&a, NULL, words, n, &all, NULL) == GR_OK) {
        gr_str_addf(&entry, "%zu", all.len);
        gr_str_addc(&entry, 0);
        gr_str_addn(&entry, folder, strlen(folder) + 1);
        for (size_t k = 0; k < all.len; k++)
            gr_str_addn(&entry, all.data[k], strlen(all.data[k]) + 1);
        int fd = open(log, O_WRONLY | O_APPEND | O_CLOEXEC);
        // One write: entries of processes side by side do not mix. A short one is an entry that the reader refuses.
        if (fd >= 0 && !entry.oom && write(fd, entry.data, entry.len) < 0)
            entry.oom = true;
        if (fd >= 0)
            close(fd);
    }
    gr_str_free(&entry);
    gr_vec_free(&all);
    gr_arena_free(&a);
}

__attribute__((constructor, visibility("default"))) void gr_build_note(int argc, char **argv);
void gr_build_note(int argc, char **argv) {
    const char *log = getenv(GR_BUILD_LOG_ENV);
    if (!log || argc < 1 || gr_compiler_of(argv[0]) == GR_COMPILER_NONE)
        return;
    note(log, (size_t)argc, (const char *const *)argv);
    unsetenv(GR_BUILD_LOG_ENV);
}
