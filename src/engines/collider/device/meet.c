// SPDX-License-Identifier: Apache-2.0
// meet's device runtime — publishes windows, and catches threads that touch them (meet.h says how, and why that is
// sound). What is called for every access is inline (engines/collider/pass/meet.c); this is for targets, and for
// accesses that seem to match.
#include "engines/collider/device/meet.h"
#include "device_api/device.h"
#include "engines/collider/device/record.h"

extern GR_GLOBAL volatile GrControl __gr_control;

typedef GR_GLOBAL GrMeetTable Table;

// What inserted code reads where no table is attached: nothing is ever published here.
GR_GLOBAL uint64_t __gr_no_windows[GR_MEET_ROW_WORDS];

GR_INLINE Table *table_of(void) { return (Table *)__gr_control.windows; }

GR_INLINE uint32_t row_of(uint64_t hash) {
    return (uint32_t)(hash >> GR_MEET_ROW_SHIFT & GR_MEET_ROW_MASK) / (GR_MEET_ROW_WORDS * 8);
}

GR_INLINE uint32_t words_of(uint32_t what) {
    uint32_t size = what & 0xff;
    return size <= 4 ? 1 : size / 4;
}

// The bytes of one word that the access touches.
GR_INLINE uint32_t bytes_of(uint32_t what, uint64_t at) {
    uint32_t size = what & 0xff;
    return size >= 4 ? 15 : ((1u << size) - 1) << (at & 3);
}

GR_INLINE int matches(uint64_t word, uint64_t hash, uint32_t bytes) {
    return (word ^ hash) >> 32 == 0 && word & GR_MEET_PUBLISHED && !(word & GR_MEET_MET) &&
           word >> GR_MEET_BYTES & bytes;
}

// The word of a window that has bytes of this access, or 0.
uint64_t __gr_look(uint32_t what, uint64_t at, uint64_t hash) {
    Table *t = table_of();
    if (!t)
        return 0;
    uint32_t bytes = bytes_of(what, at), first = at >> 2 & 7, n = words_of(what), row = row_of(hash);
#pragma nounroll
    for (uint32_t k = 0; k < n; k++) {
        uint64_t word = gr_load64(&t->words[row][(first + k) & 7]);
        if (matches(word, hash, bytes))
            return word;
    }
    return 0;
}

static void write_side(GR_GLOBAL GrMeetSide *s, uint32_t site, uint32_t what, uint64_t at) {
    gr_store64(&s->launch, gr_grid_id());
    gr_store64(&s->address, at);
    gr_store32(&s->module, __gr_control.module);
    gr_store32(&s->site, site);
    gr_store32(&s->thread[0], gr_tid_x());
    gr_store32(&s->thread[1], gr_tid_y());
    gr_store32(&s->thread[2], gr_tid_z());
    gr_store32(&s->block[0], gr_ctaid_x());
    gr_store32(&s->block[1], gr_ctaid_y());
    gr_store32(&s->block[2], gr_ctaid_z());
    gr_store32(&s->size, what & 0xff);
    gr_store32(&s->ready, 1);
}

// The access touches bytes of the window `word`: records it if that is still open, and its target has no record yet.
void __gr_caught(uint32_t site, uint32_t what, uint64_t at, uint64_t hash, uint64_t word) {
    Table *t = table_of();
    if (!word || !t)
        return;
    GR_GLOBAL GrMeeting *m =
        (GR_GLOBAL GrMeeting *)gr_load64(&t->records[word >> GR_MEET_TARGET & (GR_MEET_TARGETS - 1)]);
    if (!m || gr_load32(&m->state) != GR_SLOT_EMPTY ||
        gr_compare_swap(&m->state, GR_SLOT_EMPTY, GR_SLOT_CLAIMED) != GR_SLOT_EMPTY)
        return;
    uint32_t first = at >> 2 & 7, n = words_of(what), row = row_of(hash);
#pragma nounroll
    for (uint32_t k = 0; k < n; k++)
        if (gr_compare_swap64(&t->words[row][(first + k) & 7], word, word | GR_MEET_MET) == word) {
            gr_store32(&m->space, what & GR_MEET_SHARED ? 1 : 0);
            write_side(&m->other, site, what, at);
            return;
        }
    gr_store32(&m->state, GR_SLOT_EMPTY);
}

// Opens a window of the target; what it returns closes it again. 0: none was opened, because another has the place.
uint32_t __gr_publish(uint32_t target, uint32_t what, uint64_t at, uint64_t hash) {
    Table *t = table_of();
    if (!t)
        return 0;
    uint32_t n = words_of(what), bytes = bytes_of(what, at), some = gr_clock() * 0x9E3779B1 ^ gr_lane();
    // A place has room for one: neighbours in a word take turns. A wide access publishes one word, each time another.
    if (bytes != 15 && some >> 31)
        return 0;
    GR_GLOBAL GrMeeting *m = (GR_GLOBAL GrMeeting *)gr_load64(&t->records[target]);
    if (!m || gr_load32(&m->state) != GR_SLOT_EMPTY) // met already
        return 0;
    uint32_t place = ((uint32_t)(at >> 2) + (some >> 20) % n) & 7;
    uint64_t word = (hash & UINT64_C(0xffffffff00000000)) | GR_MEET_PUBLISHED | bytes << GR_MEET_BYTES |
                    target << GR_MEET_TARGET | (uint64_t)(some & 0xffff) << GR_MEET_NUMBER;
    uint32_t row = row_of(hash);
    GR_GLOBAL uint64_t *slot = &t->words[row][place];
    if (gr_load64(slot) || gr_compare_swap64(slot, 0, word))
        return 0;
    return row * GR_MEET_ROW_WORDS + place + 1;
}

// Closes it. Whether a thread has met it.
uint32_t __gr_withdraw(uint32_t opened) {
    Table *t = table_of();
    if (!t)
        return 0;
    if (((gr_clock() * 0x9E3779B1) >> 20 & gr_load32(&t->stretch_mask)) == 0)
        gr_sleep(gr_load32(&t->stretch_ns));
    return gr_exchange64(&t->words[0][0] + (opened - 1), 0) & GR_MEET_MET ? 1 : 0;
}

// The window was met: adds this side, or forgets it when the access turned out to be none (`kept` 0).
void __gr_met(uint32_t target, uint32_t site, uint32_t what, uint64_t at, uint32_t kept) {
    GR_GLOBAL GrMeeting *m = (GR_GLOBAL GrMeeting *)gr_load64(&table_of()->records[target]);
    if (!m)
        return;
    if (kept) {
        write_side(&m->first, site, what, at);
    } else if (gr_load32(&m->other.ready)) { // else its writer is not done: the record is lost for this run
        gr_store32(&m->other.ready, 0);
        gr_store32(&m->state, GR_SLOT_EMPTY);
    }
}
