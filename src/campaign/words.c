// SPDX-License-Identifier: Apache-2.0
#include "campaign/words.h"

#include "base/str.h"

#include <ctype.h>

// Reads a word from *at on, as a shell does, into `word`. NULL, or what is wrong.
static const char *read_word(const char **at, const char *last, StrBuf *word) {
    char quote = 0;
    for (; *at < last && (quote || !isspace((unsigned char)**at)); (*at)++) {
        char c = **at;
        if (quote ? c == quote : c == '\'' || c == '"')
            quote = quote ? 0 : c;
        else if (c == '\\' && quote != '\'' && *at + 1 < last)
            gr_str_addc(word, *++*at);
        else
            gr_str_addc(word, c);
    }
    return quote ? "a quote is not closed" : NULL;
}

const char *gr_words_split(const char *text, size_t len, Arena *arena, char ***words, size_t *n, size_t *at) {
    const char *last = text + len, *here = text;
    *n = 0;
    *words = gr_arena_array(arena, len + 1, sizeof **words); // more than enough
    if (!*words)
        return "";
    for (;;) {
        while (here < last && isspace((unsigned char)*here))
            here++;
        *at = (size_t)(here - text);
        if (here == last)
            return NULL;
        StrBuf word = {0};
        gr_str_add(&word, "");
        const char *wrong = read_word(&here, last, &word);
        char *copy = wrong || word.oom ? NULL : gr_arena_strdup(arena, word.data);
        gr_str_free(&word);
        if (!copy)
            return wrong ? wrong : "";
        (*words)[(*n)++] = copy;
    }
}
