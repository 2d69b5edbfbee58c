// SPDX-License-Identifier: Apache-2.0
// history — cells with more than two places, to measure what they would find (tests/race/history.sh); the product's
// have two. The first two places work as in the product. The others keep the last accesses that had to leave those, or
// found no room there: for each thread a write and a read. Part of tracker.c; not for several threads at once.
#ifndef GR_ENGINES_TRACKER_DEVICE_HISTORY_H
#define GR_ENGINES_TRACKER_DEVICE_HISTORY_H

GR_INLINE int same_kind(uint64_t a, uint64_t b) {
    return gr_word_block(a) == gr_word_block(b) && gr_word_tid(a) == gr_word_tid(b) &&
           !((a ^ b) & GR_WORD_WRITES);
}

// Puts the access into the first of the further places, and moves the others back.
static void keep_older(const Look *l, GR_GLOBAL GrCell *cell, uint64_t word, uint64_t more, uint64_t own) {
    if (GR_HISTORY <= 2 || outdated(l, word, own))
        return;
    unsigned k = 2;
    for (; k + 1 < GR_HISTORY; k++) {
        uint64_t there = gr_load64(&cell->word[k].is);
        if (outdated(l, there, own) || same_kind(there, word))
            break;
    }
    for (; k > 2; k--) {
        gr_store64(&cell->word[k].is, gr_load64(&cell->word[k - 1].is));
        gr_store64(&cell->more[k].is, gr_load64(&cell->more[k - 1].is));
    }
    gr_store64(&cell->word[2].is, word);
    gr_store64(&cell->more[2].is, more);
}

#endif
