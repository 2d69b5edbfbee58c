// SPDX-License-Identifier: Apache-2.0
// near — "did you mean": of several names the one that a misspelled word is nearest to.
//
//     GrNear near = {.word = "sede"};
//     for (...) gr_near_try(&near, name);
//     gr_near_text(&near, "--", hint)    // "; did you mean --seed?"
#ifndef GR_BASE_NEAR_H
#define GR_BASE_NEAR_H

#include <stdbool.h>
#include <stddef.h>

typedef struct GrNear {
    const char *word;
    size_t len;       // of the word; 0: all of it
    bool inside;      // the word may be a part of a name
    const char *best; // NULL: none is near enough
    size_t distance;  // 0: it is the word
} GrNear;

// How many letters differ between two words: left out, added, another one, or two that changed places (Damerau's
// distance, each place changed once). `inside`: between the word and the part of the name that is nearest.
size_t gr_word_distance(const char *word, size_t len, const char *name, bool inside);

// Takes the name if it is nearer than all before, and at most a third of the word's letters differ. It must live as
// long.
void gr_near_try(GrNear *n, const char *name);

// "; did you mean PREFIXname?", or "" if none was near. In `hint`.
enum { GR_NEAR_ROOM = 160 };
const char *gr_near_text(const GrNear *n, const char *prefix, char hint[GR_NEAR_ROOM]);

#endif
