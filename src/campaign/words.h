// SPDX-License-Identifier: Apache-2.0
// words — a line of words as a shell reads it: quotes and backslashes work, nothing is expanded.
#ifndef GR_CAMPAIGN_WORDS_H
#define GR_CAMPAIGN_WORDS_H

#include "base/arena.h"

#include <stddef.h>

// Splits text[0 .. len). *words, in `arena`, ends with NULL. NULL, or what is wrong (at *at), or "" (out of memory).
const char *gr_words_split(const char *text, size_t len, Arena *arena, char ***words, size_t *n, size_t *at);

#endif
