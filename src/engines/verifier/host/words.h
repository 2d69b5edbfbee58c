// SPDX-License-Identifier: Apache-2.0
// words — which words of a command that compiles a source are passed on, and which are decided here.
#ifndef GR_ENGINES_VERIFIER_HOST_WORDS_H
#define GR_ENGINES_VERIFIER_HOST_WORDS_H

#include "base/arena.h"
#include "base/status.h"
#include "base/vec.h"

#include <stdbool.h>

typedef struct Words {
    VEC(const char *) user; // what is passed on; not owned
    const char *arch;       // "90": the newest architecture that they name
    bool ndebug;            // NDEBUG is defined
    bool relocatable;       // device code is linked: -rdc=true, or -dc, in whose place *user has -rdc=true
} Words;

// Sorts `n` words of nvcc. *out is to be freed in every case (gr_words_free); what it points to is in `a` or the words.
gr_status gr_words_sort(Arena *a, const char *const *words, size_t n, Words *out, gr_error *err);
// Sorts words of a C or C++ compiler.
gr_status gr_words_sort_host(const char *const *words, size_t n, Words *out, gr_error *err);
void gr_words_free(Words *w);

#endif
