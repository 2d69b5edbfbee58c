// SPDX-License-Identifier: Apache-2.0
#include "base/near.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 64 }; // what is longer is near to nothing

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

size_t gr_word_distance(const char *word, size_t len, const char *name, bool inside) {
    // rows[i % 3][k]: from the word's first i letters to a part of the name that ends at its letter k.
    size_t rows[3][LONGEST + 1], n = strlen(name);
    if (len > LONGEST || n > LONGEST)
        return len + n;
    for (size_t k = 0; k <= n; k++)
        rows[0][k] = inside ? 0 : k;
    for (size_t i = 1; i <= len; i++) {
        size_t *row = rows[i % 3], *above = rows[(i - 1) % 3];
        row[0] = i;
        for (size_t k = 1; k <= n; k++) {
            bool same = word[i - 1] == name[k - 1];
            row[k] = least(above[k - 1] + !same, least(above[k], row[k - 1]) + 1);
            if (i > 1 && k > 1 && word[i - 1] == name[k - 2] && word[i - 2] == name[k - 1])
                row[k] = least(row[k], rows[(i - 2) % 3][k - 2] + 1);
        }
    }
    const size_t *last = rows[len % 3];
    size_t best = last[n];
    for (size_t k = 0; inside && k <= n; k++)
        best = least(best, last[k]);
    return best;
}

void gr_near_try(GrNear *n, const char *name) {
    size_t len = n->len ? n->len : strlen(n->word), most = len < 3 ? 0 : len < 6 ? 1 : len / 3;
    size_t distance = gr_word_distance(n->word, len, name, n->inside);
    if (distance > most)
        return;
    if (n->inside) // of two names the one of which the word is most
        distance = distance * 2 * LONGEST + gr_word_distance(n->word, len, name, false);
    if (n->best && distance >= n->distance)
        return;
    n->best = name;
    n->distance = distance;
}

const char *gr_near_text(const GrNear *n, const char *prefix, char hint[GR_NEAR_ROOM]) {
    hint[0] = 0;
    if (n->best)
        snprintf(hint, GR_NEAR_ROOM, "; did you mean %s%s?", prefix, n->best);
    return hint;
}
