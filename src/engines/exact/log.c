// SPDX-License-Identifier: Apache-2.0
// log — see log.h.
#include "engines/exact/log.h"

#include <stdlib.h>
#include <string.h>

enum { LOG_FIRST = 4 << 10, LOG_LONG = 1 << 20, LOG_MAX = 8 << 20, ALL_LOGS_MAX = 256 << 20 };

void gr_note_addresses(const Note *n, uint32_t size, uint32_t at[LANES]) {
    const uint32_t *list = (const uint32_t *)(n + 1) + ((n->compared + 1u) & ~1u);
    if (gr_note_is_listed(n)) {
        memcpy(at, list, LANES * sizeof *at);
        return;
    }
    for (uint32_t l = 0; l < LANES; l++) {
        uint32_t shape = l < LANES / 2 ? n->shape : n->other_shape;
        at[l] = shape == IN_STRIDES ? (uint32_t)n->base[0] + l * (uint32_t)n->base[1]
                                    : (uint32_t)n->base[l / 16] + (shape == VM_STEPS ? l * size : 0);
    }
}

// ---- Shortening ----------------------------------------------------------------------------------------------------

// A note of weak reads.
typedef struct Read {
    uint32_t at;     // in the log
    uint32_t before; // the one before by the same instruction and warp, its number and 1; 0: there is none
} Read;

// Which lanes have read a place by one instruction of a warp.
typedef struct Seen {
    uint32_t lanes; // that have read it, in the epoch at hand or later
    uint32_t place; // of the set at hand, its number and 1
} Seen;

typedef struct Shortening {
    Exact *x;
    Tile *t;
    uint8_t *out; // the new log
    size_t len, cap;
    VEC(Read) reads;
    VEC(uint32_t) last; // the last read of each instruction and warp, its number and 1
    Map groups;         // instruction and warp -> index of `last`, and 1
    Seen *seen;         // by address
    VEC(Place) places;  // of the instruction and warp at hand
    size_t first;       // of the places: that of the set at hand
} Shortening;

static const Note *note_at(const Shortening *s, size_t at) {
    return (const Note *)(const void *)(s->t->log + at);
}

static bool is_weak_read(const Exact *x, const Note *n) {
    const Stamp *s = &x->kinds.data[n->site].stamp;
    return s->access == PTX_ACCESS_READ && !s->strong;
}

static bool put_out(Shortening *s, const void *data, size_t bytes) {
    if (s->len + bytes > s->cap)
        return false;
    memcpy(s->out + s->len, data, bytes);
    s->len += bytes;
    return true;
}

static bool add_read(Shortening *s, const Note *n, size_t at) {
    uint64_t key = ((uint64_t)n->site << 5 | n->warp) + 1;
    size_t group = (size_t)(uintptr_t)gr_map_get_u64(&s->groups, key);
    if (!group) {
        group = s->last.len + 1;
        if (!gr_vec_push(&s->last, 0) ||
            !gr_map_put_u64(&s->groups, key, (void *)(uintptr_t)group)) // NOLINT(performance-no-int-to-ptr)
            return false;
    }
    Read r = {(uint32_t)at, s->last.data[group - 1]};
    if (!gr_vec_push(&s->reads, r))
        return false;
    s->last.data[group - 1] = (uint32_t)s->reads.len;
    return true;
}

// Copies everything but weak reads into the new log, and notes the weak reads.
static bool sort_out(Shortening *s) {
    for (size_t at = 0; at < s->t->log_len; at += gr_note_size(note_at(s, at))) {
        const Note *n = note_at(s, at);
        if (!(is_weak_read(s->x, n) ? add_read(s, n, at) : put_out(s, n, gr_note_size(n))))
            return false;
    }
    return true;
}

// Adds to the set at hand that `lanes` read at `at`.
static bool add_place(Shortening *s, uint32_t at, uint32_t lanes) {
    if (at >= s->t->n_lines * LINE_BYTES)
        return false;
    Seen *seen = &s->seen[at];
    lanes &= ~seen->lanes;
    if (!lanes)
        return true;
    seen->lanes |= lanes;
    if (seen->place > s->first) {
        s->places.data[seen->place - 1].lanes |= lanes;
        return true;
    }
    Place p = {at, lanes};
    if (!gr_vec_push(&s->places, p))
        return false;
    seen->place = (uint32_t)s->places.len;
    return true;
}

static bool add_note(Shortening *s, const Note *n) {
    const Place *p = gr_note_places(n);
    for (int32_t k = 0; n->set && k < n->base[0]; k++)
        if (!add_place(s, p[k].at, p[k].lanes))
            return false;
    uint32_t at[LANES];
    if (!n->set)
        gr_note_addresses(n, s->x->kinds.data[n->site].stamp.size, at);
    for (uint32_t m = n->set ? 0 : n->lanes; m; m &= m - 1)
        if (!add_place(s, at[__builtin_ctz(m)], m & -m))
            return false;
    return true;
}

// Writes the set at hand, of which `like` is a note, and begins the next one.
static bool put_set(Shortening *s, const Note *like) {
    Note n = *like;
    size_t count = s->places.len - s->first;
    n.set = 1;
    n.compared = 0;
    n.shape = n.other_shape = VM_SAME;
    n.base[0] = (int32_t)count;
    n.base[1] = 0;
    n.lanes = 0;
    for (size_t k = s->first; k < s->places.len; k++)
        n.lanes |= s->places.data[k].lanes;
    bool done = !count || (put_out(s, &n, sizeof n) &&
                           put_out(s, s->places.data + s->first, count * sizeof *s->places.data));
    s->first = s->places.len;
    return done;
}

// Goes from the last read of an instruction and warp back to the first, so from later epochs to earlier ones.
static bool put_sets(Shortening *s, uint32_t last) {
    const Note *set = note_at(s, s->reads.data[last - 1].at);
    s->places.len = s->first = 0;
    for (uint32_t r = last; r; r = s->reads.data[r - 1].before) {
        const Note *n = note_at(s, s->reads.data[r - 1].at);
        if (n->epoch != set->epoch && !put_set(s, set))
            return false;
        set = n;
        if (!add_note(s, n))
            return false;
    }
    if (!put_set(s, set))
        return false;
    for (size_t k = 0; k < s->places.len; k++)
        s->seen[s->places.data[k].at] = (Seen){0, 0};
    return true;
}

static bool shorten(Shortening *s) {
    s->out = malloc(s->cap);
    s->seen = calloc(s->t->n_lines, LINE_BYTES * sizeof *s->seen);
    bool done = s->out && s->seen && sort_out(s);
    for (size_t k = 0; done && k < s->last.len; k++)
        done = put_sets(s, s->last.data[k]);
    if (done) {
        memcpy(s->t->log, s->out, s->len);
        s->t->log_len = s->len;
    }
    return done;
}

// Shortens the log to half of its length, so that it pays (in tests, to less). False: the log does not become as short.
static bool make_short(Exact *x, Tile *t) {
    Shortening s = {.x = x, .t = t, .cap = x->options.shorten_at ? t->log_len - 1 : t->log_len / 2};
    bool done = shorten(&s);
    free(s.out);
    free(s.seen);
    gr_vec_free(&s.reads);
    gr_vec_free(&s.last);
    gr_vec_free(&s.places);
    gr_map_free(&s.groups);
    return done;
}

// ---- Room ----------------------------------------------------------------------------------------------------------

static bool grow(Shadow *s, Tile *t) {
    size_t cap = t->log_cap ? t->log_cap * 2 : LOG_FIRST;
    if (cap > LOG_MAX || s->log_bytes + cap - t->log_cap > ALL_LOGS_MAX)
        return false;
    uint8_t *log = realloc(t->log, cap);
    if (!log)
        return false;
    s->log_bytes += cap - t->log_cap;
    t->log = log;
    t->log_cap = cap;
    return true;
}

bool gr_log_make_room(Exact *x, Tile *t, size_t bytes) {
    bool fits = t->log_len + bytes <= t->log_cap;
    if (__builtin_expect(x->options.shorten_at != 0, 0) && t->log_len >= x->options.shorten_at)
        make_short(x, t);
    else if (fits)
        return true;
    else if (t->log_len >= LOG_LONG)
        make_short(x, t);
    return t->log_len + bytes <= t->log_cap || grow(&x->shadow, t) ||
           (t->log_len < LOG_LONG && make_short(x, t) && t->log_len + bytes <= t->log_cap);
}
