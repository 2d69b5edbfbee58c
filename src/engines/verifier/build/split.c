// SPDX-License-Identifier: Apache-2.0
#include "engines/verifier/build/split.h"

#include "base/str.h"

#include <ctype.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_DEPTH = 8 }; // response files within response files

static gr_status no_memory(gr_error *err) { return gr_fail(err, GR_ERR_NOMEM, "reading a command"); }

// Reads the word that begins at *at, which is no blank. NULL: a quote has no end, or memory is out.
static const char *read_word(Arena *a, const char **at) {
    char *word = gr_arena_alloc(a, strlen(*at) + 1), *to = word, quote = 0;
    const char *from = *at;
    for (; word && *from && (quote || !isspace((unsigned char)*from)); from++) {
        if (quote ? *from == quote : *from == '\'' || *from == '"')
            quote = quote ? 0 : *from;
        else if (*from == '\\' && quote != '\'' && from[1] && (!quote || strchr("\"\\$`", from[1])))
            *to++ = *++from;
        else
            *to++ = *from;
    }
    *at = from;
    return quote ? NULL : word;
}

gr_status gr_split(Arena *a, const char *text, GrWords *out, gr_error *err) {
    while (*(text += strspn(text, " \t\r\n\v\f"))) {
        const char *word = read_word(a, &text);
        if (!word)
            return gr_fail(err, GR_ERR_SYNTAX, "a quote of a command has no end: %.80s", text);
        GR_NEED_OR(gr_vec_push(out, word), no_memory(err));
    }
    return GR_OK;
}

static gr_status expand(Arena *a, const char *folder, const char *const *words, size_t n, unsigned depth,
                        GrWords *out, gr_error *err);

static gr_status read_response(Arena *a, const char *folder, const char *name, unsigned depth, GrWords *out,
                               gr_error *err) {
    const char *path = folder && *name != '/' ? gr_arena_printf(a, "%s/%s", folder, name) : name;
    GrWords words = {0};
    char *text = NULL;
    size_t len;
    gr_status st = path ? gr_file_read(path, &text, &len, err) : no_memory(err);
    if (st == GR_OK)
        st = gr_split(a, text, &words, err);
    if (st == GR_OK)
        st = expand(a, folder, words.data, words.len, depth + 1, out, err);
    gr_vec_free(&words);
    free(text);
    return st;
}

// The file that the word at `k` names for nvcc, with *k then at the last word of the two; NULL: none.
static const char *options_file(const char *const *words, size_t n, size_t *k) {
    static const char *const names[] = {"--options-file", "-optf"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t len = strlen(names[i]);
        if (strncmp(words[*k], names[i], len) != 0)
            continue;
        if (words[*k][len] == '=')
            return words[*k] + len + 1;
        if (!words[*k][len] && *k + 1 < n)
            return words[++*k];
    }
    return NULL;
}

static bool is_there(Arena *a, const char *folder, const char *name) {
    const char *path = folder && *name != '/' ? gr_arena_printf(a, "%s/%s", folder, name) : name;
    return path && access(path, R_OK) == 0;
}

static gr_status expand(Arena *a, const char *folder, const char *const *words, size_t n, unsigned depth,
                        GrWords *out, gr_error *err) {
    gr_status st = GR_OK;
    for (size_t k = 0; k < n && st == GR_OK; k++) {
        const char *file = options_file(words, n, &k);
        if (!file && *words[k] == '@' && is_there(a, folder, words[k] + 1))
            file = words[k] + 1;
        if (file && depth == MOST_DEPTH)
            return gr_fail(err, GR_ERR_LIMIT, "%s: response files within response files, more than %d deep",
                           file, MOST_DEPTH);
        if (file)
            st = read_response(a, folder, file, depth, out, err);
        else if (!gr_vec_push(out, words[k]))
            st = no_memory(err);
    }
    return st;
}

gr_status gr_split_responses(Arena *a, const char *folder, const char *const *words, size_t n, GrWords *out,
                             gr_error *err) {
    return expand(a, folder, words, n, 0, out, err);
}
