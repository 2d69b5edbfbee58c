// SPDX-License-Identifier: Apache-2.0
// compilers — which programs compile, by their names. Shared by what watches a build and by what reads its commands.
#ifndef GR_ENGINES_VERIFIER_BUILD_COMPILERS_H
#define GR_ENGINES_VERIFIER_BUILD_COMPILERS_H

#include <string.h>

typedef enum GrCompiler {
    GR_COMPILER_NONE,
    GR_COMPILER_NVCC,
    GR_COMPILER_HOST,
    GR_COMPILER_CLANG,
    GR_COMPILER_AR
} GrCompiler;

// The log of a build that is watched, which this variable names: one entry for each command. An entry is a number n in
// decimal, the folder and n words, each with a NUL behind it.
#define GR_BUILD_LOG_ENV "GPURACE_BUILD_LOG"
#define GR_BUILD_LIBRARY "libgpurace-build.so"

static inline const char *gr_base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

// The program gets a compiler's command as its words, and may have the result at hand.
static inline int gr_is_compiler_launcher(const char *path) {
    const char *base = gr_base_name(path);
    return !strcmp(base, "ccache") || !strcmp(base, "sccache") || !strcmp(base, "distcc");
}

// What kind of program `path` is. Its name may have a target (x86_64-linux-gnu-g++) and a version (g++-12).
static inline GrCompiler gr_compiler_of(const char *path) {
    static const struct {
        const char *name;
        GrCompiler is;
    } known[] = {{"nvcc", GR_COMPILER_NVCC},     {"gcc", GR_COMPILER_HOST}, {"g++", GR_COMPILER_HOST},
                 {"cc", GR_COMPILER_HOST},       {"c++", GR_COMPILER_HOST}, {"clang", GR_COMPILER_CLANG},
                 {"clang++", GR_COMPILER_CLANG}, {"ar", GR_COMPILER_AR}};
    const char *base = gr_base_name(path);
    size_t len = strlen(base), end = len;
    while (end && strchr("0123456789.", base[end - 1]))
        end--;
    if (end < len && end && base[end - 1] == '-')
        len = end - 1;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        size_t n = strlen(known[k].name);
        if (len >= n && !memcmp(base + len - n, known[k].name, n) && (len == n || base[len - n - 1] == '-'))
            return known[k].is;
    }
    return GR_COMPILER_NONE;
}

#endif
