// SPDX-License-Identifier: Apache-2.0
#include "engines/verifier/host/words.h"

#include <stdlib.h>
#include <string.h>

// What of the user's words is decided here: with a value in the next word, or without one.
static const char *const with_value[] = {"-o",
                                         "--output-file",
                                         "-ccbin",
                                         "--compiler-bindir",
                                         "-odir",
                                         "--output-directory",
                                         "-keep-dir",
                                         "--keep-dir",
                                         "-MF",
                                         "-dlto-dir",
                                         "-MT",
                                         "-Xptxas",
                                         "--ptxas-options",
                                         "-Xnvlink",
                                         "--nvlink-options",
                                         "-Xlinker",
                                         "--linker-options",
                                         "-t",
                                         "--threads"};
static const char *const alone[] = {"-c",
                                    "--compile",
                                    "-dc",
                                    "--device-c",
                                    "-dw",
                                    "--device-w",
                                    "-ptx",
                                    "--ptx",
                                    "-cubin",
                                    "--cubin",
                                    "-fatbin",
                                    "--fatbin",
                                    "-dlink",
                                    "--device-link",
                                    "-link",
                                    "--link",
                                    "-lib",
                                    "--lib",
                                    "-run",
                                    "--run",
                                    "-G",
                                    "--device-debug",
                                    "-lineinfo",
                                    "--generate-line-info",
                                    "-lto",
                                    "-dlto",
                                    "--dlink-time-opt",
                                    "-MMD",
                                    "-MD",
                                    "-keep",
                                    "--keep",
                                    "-E",
                                    "--preprocess",
                                    "-M",
                                    "-MM",
                                    "-dryrun",
                                    "--dryrun"};
static const char *const arches[] = {"-arch", "--gpu-architecture", "-gencode", "--generate-code",
                                     "-code", "--gpu-code"};

// Options of a C or C++ compiler.
static const char *const host_with_value[] = {"-o", "-MF", "-MT", "-MQ", "-Xlinker", "-L", "-l"};
static const char *const host_alone[] = {"-c",  "-S",   "-E",  "-M",      "-MM",
                                         "-MD", "-MMD", "-MP", "-shared", "-static"};
// Prefixes of options: optimization, debug information, the linker.
static const char *const host_prefixes[] = {"-O", "-g", "-l", "-L", "-Wl,", "-flto", "-Werror", "-fuse-ld"};
#define COUNT(a) (sizeof(a) / sizeof *(a))

static gr_status no_memory(gr_error *err) { return gr_fail(err, GR_ERR_NOMEM, "sorting words"); }

// Whether the word is one of those, or begins with one and "=".
static bool is_one(const char *word, const char *const *of, size_t n) {
    for (size_t k = 0; k < n; k++) {
        size_t len = strlen(of[k]);
        if (!strncmp(word, of[k], len) && (!word[len] || word[len] == '='))
            return true;
    }
    return false;
}

// The newest architecture in "compute_80", "arch=compute_90a,code=sm_90a", "sm_75".
static gr_status see_arch(Arena *a, Words *out, const char *text, gr_error *err) {
    while ((text = strpbrk(text, "sc"))) {
        size_t skip = !strncmp(text, "sm_", 3) ? 3 : !strncmp(text, "compute_", 8) ? 8 : 0;
        if (!skip) {
            text++;
            continue;
        }
        text += skip;
        size_t digits = strspn(text, "0123456789"), len = digits + strspn(text + digits, "af");
        if (digits && (!out->arch || atoi(text) > atoi(out->arch)) &&
            !(out->arch = gr_arena_strndup(a, text, len)))
            return no_memory(err);
    }
    return GR_OK;
}

// Whether a word (with the next one, where it is -D alone) defines NDEBUG.
static bool defines_ndebug(const char *word, const char *next) {
    const char *what = strncmp(word, "-D", 2) != 0 ? "" : word[2] ? word + 2 : next;
    return !strcmp(what, "NDEBUG") || !strncmp(what, "NDEBUG=", 7);
}

// Whether a word (with the next one, where it has no "=") says that device code is relocatable, or that it is not. *out
// is left alone if it says nothing of it.
static void see_relocatable(const char *word, const char *next, bool *out) {
    static const char *const names[] = {"-rdc", "--relocatable-device-code"};
    static const char *const dc[] = {"-dc", "--device-c"}, *const dw[] = {"-dw", "--device-w"};
    const char *value = strchr(word, '=');
    if (is_one(word, names, COUNT(names)))
        *out = !strcmp(value ? value + 1 : next, "true");
    else if (is_one(word, dc, COUNT(dc)))
        *out = true;
    else if (is_one(word, dw, COUNT(dw)))
        *out = false;
}

gr_status gr_words_sort(Arena *a, const char *const *words, size_t n, Words *out, gr_error *err) {
    gr_status st = GR_OK;
    bool named = false; // by its own word
    *out = (Words){0};
    for (size_t k = 0; k < n && st == GR_OK; k++) {
        const char *word = words[k], *next = k + 1 < n ? words[k + 1] : "";
        bool joined = strchr(word, '=') != NULL;
        see_relocatable(word, next, &out->relocatable);
        named |= !strncmp(word, "-rdc", 4) || !strncmp(word, "--relocatable", 13);
        if (is_one(word, arches, COUNT(arches))) {
            st = see_arch(a, out, joined ? word : next, err);
            k += !joined;
            continue;
        }
        if (is_one(word, with_value, COUNT(with_value))) {
            k += !joined;
            continue;
        }
        if (is_one(word, alone, COUNT(alone)) || !strncmp(word, "-l", 2) || !strncmp(word, "-L", 2) ||
            !strncmp(word, "--Ofast-compile", 15) || !strncmp(word, "-Ofc", 4))
            continue;
        out->ndebug |= defines_ndebug(word, next);
        if (!gr_vec_push(&out->user, word))
            st = no_memory(err);
    }
    if (st == GR_OK && out->relocatable && !named && !gr_vec_push(&out->user, "-rdc=true"))
        st = no_memory(err);
    if (!out->arch)
        out->arch = "90"; // what the CPU device has: code for older architectures alone is not looked at
    return st;
}

static bool begins(const char *word, const char *const *with, size_t n) {
    for (size_t k = 0; k < n; k++)
        if (!strncmp(word, with[k], strlen(with[k])))
            return true;
    return false;
}

gr_status gr_words_sort_host(const char *const *words, size_t n, Words *out, gr_error *err) {
    *out = (Words){0};
    for (size_t k = 0; k < n; k++) {
        const char *word = words[k];
        if (is_one(word, host_with_value, COUNT(host_with_value))) {
            k += !strchr(word, '=');
            continue;
        }
        if (is_one(word, host_alone, COUNT(host_alone)) || begins(word, host_prefixes, COUNT(host_prefixes)))
            continue;
        out->ndebug |= defines_ndebug(word, k + 1 < n ? words[k + 1] : "");
        GR_NEED_OR(gr_vec_push(&out->user, word), no_memory(err));
    }
    return GR_OK;
}

void gr_words_free(Words *w) { gr_vec_free(&w->user); }
