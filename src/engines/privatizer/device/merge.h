// SPDX-License-Identifier: Apache-2.0
// merge — the two steps of the LDetector paper's figure 3 on the rows of a slot. Behind pass 1 the union gets what each
// copy changed, and each copy becomes the union without its own changes. Behind pass 2 each copy has to be the union. A
// copy that was not made is what it has to be.
//
// Data-parallel as in the paper's section 4.3: a warp takes rows, its lanes take neighbouring words, and only the
// word's lane looks at it, in all copies. So only the report needs atomics. One step compares, makes the union and the
// new private copies.
#ifndef GR_ENGINES_PRIVATIZER_DEVICE_MERGE_H
#define GR_ENGINES_PRIVATIZER_DEVICE_MERGE_H

#include "device_api/device.h"
#include "engines/privatizer/device/control.h"
#include "engines/privatizer/device/first.h"

typedef struct Slot {
    GR_GLOBAL GrPrivControl *control;
    uint64_t head, table, lists, rows, row_bytes, copies, marks, log,
        changed; // rows, copies, marks: where number 0 would be
    uint64_t window,
        numbers; // window: shared memory, by generic addresses; numbers: of its line 0, if that were near
    GrPrivNear near;
    uint32_t n, capacity, most_copies, round, granule, ready;
    uint32_t region;
    uint64_t block, sequence;
    int commits, once, is_overlay;
} Slot;

GR_INLINE uint64_t shared_window(void) {
    uint64_t v;
    __asm__("cvta.shared.u64 %0, %1;" : "=l"(v) : "l"((uint64_t)0));
    return v;
}

GR_INLINE Slot slot_of_control(GR_GLOBAL GrPrivControl *c, uint64_t k) {
    return (Slot){.control = c,
                  .head = c->slot + k * sizeof(GrPrivSlot),
                  .table = c->tables + k * c->table_bytes,
                  .lists = c->lists + k * 8 * c->capacity,
                  .rows = c->rows + k * c->capacity * c->row_bytes - c->row_bytes,
                  .row_bytes = c->row_bytes,
                  .copies = c->copies + (k * c->most_copies - GR_COPY_FIRST) * GR_LINE,
                  .marks = c->marks + (k * c->most_copies - GR_COPY_FIRST) * sizeof(GrPrivMark),
                  .window = shared_window(),
                  .near = c->near,
                  .numbers = c->numbers + (k * (c->near.size / GR_LINE) - c->near.first / GR_LINE) *
                                              GR_NEAR_NUMBERS(c->privates),
                  .log = c->log,
                  .changed = c->changed,
                  .n = c->privates,
                  .capacity = c->capacity,
                  .most_copies = c->most_copies,
                  .round = c->round,
                  .granule = c->granule,
                  .ready = c->ready,
                  .once = (int)c->once};
}

// The threads that take part: those with numbers below `threads`. lanes: at most so many of a warp.
typedef struct Team {
    uint32_t thread, threads, lanes;
} Team;

// The lanes of a warp that share a row: a power of two.
typedef struct Lanes {
    uint32_t lane, lanes;
} Lanes;

// Lanes of a warp meet, and see what each has written.
GR_INLINE void gr_meet(uint32_t lanes) { __asm__ volatile("bar.warp.sync %0;" ::"r"(lanes) : "memory"); }

// Global or shared memory, by generic addresses.
GR_INLINE uint32_t word_at(uint64_t at) { return *(uint32_t *)at; }
GR_INLINE void put_word(uint64_t at, uint32_t v) { *(uint32_t *)at = v; }
GR_INLINE uint8_t byte_at(uint64_t at) { return *(uint8_t *)at; }
GR_INLINE void put_byte(uint64_t at, uint8_t v) { *(uint8_t *)at = v; }

// The functions of device.h for any memory.
GR_INLINE uint32_t any_load32(const uint32_t *at) {
    uint32_t v;
    __asm__ volatile("ld.relaxed.sys.u32 %0, [%1];" : "=r"(v) : "l"(at));
    return v;
}
GR_INLINE void any_store32(uint32_t *at, uint32_t v) {
    __asm__ volatile("st.relaxed.sys.u32 [%0], %1;" ::"l"(at), "r"(v));
}
GR_INLINE uint32_t any_compare_swap(uint32_t *at, uint32_t expected, uint32_t desired) {
    uint32_t old;
    __asm__ volatile("atom.relaxed.sys.cas.b32 %0, [%1], %2, %3;"
                     : "=r"(old)
                     : "l"(at), "r"(expected), "r"(desired));
    return old;
}

// Yields what was there before.
GR_INLINE uint32_t gr_or32(GR_GLOBAL uint32_t *at, uint32_t bits) {
    uint32_t old;
    __asm__ volatile("atom.relaxed.sys.global.or.b32 %0, [%1], %2;" : "=r"(old) : "l"(at), "r"(bits));
    return old;
}

// Shared memory of the block.
GR_INLINE uint32_t shared_at(uint32_t at) {
    uint32_t v;
    __asm__ volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(at) : "memory");
    return v;
}
GR_INLINE void put_shared(uint32_t at, uint32_t v) {
    __asm__ volatile("st.shared.u32 [%0], %1;" ::"r"(at), "r"(v) : "memory");
}
// Loads what another thread may just have written.
GR_INLINE uint32_t shared_now(uint32_t at) {
    uint32_t v;
    __asm__ volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(v) : "r"(at) : "memory");
    return v;
}
GR_INLINE uint32_t shared_add(uint32_t at, uint32_t n) {
    uint32_t old;
    __asm__ volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(old) : "r"(at), "r"(n) : "memory");
    return old;
}

GR_INLINE int is_row(uint32_t v) { return v - 1 < GR_ROW_EDGE - 1; }
GR_INLINE GR_GLOBAL uint32_t *entry_of(const Slot *s, uint64_t line) {
    return (GR_GLOBAL uint32_t *)s->table + line;
}
// A near line has its row where the program has the line.
GR_INLINE int is_near_line(const Slot *s, uint64_t line) {
    return line - s->near.first / GR_LINE < s->near.size / GR_LINE;
}
GR_INLINE int is_near(const Slot *s, uint64_t row) { return row - s->window - s->near.first < s->near.size; }
GR_INLINE uint64_t near_row(const Slot *s, uint64_t line) { return s->window + line * GR_LINE; }
GR_INLINE uint64_t row_at(const Slot *s, uint32_t number) {
    return s->near.size && number >> 30 == 1 ? near_row(s, number - GR_ROW_NEAR)
                                             : s->rows + number * s->row_bytes;
}
// What the table says of a line, or would say.
GR_INLINE uint32_t number_of_line(const Slot *s, uint64_t line) {
    return is_near_line(s, line) ? GR_ROW_NEAR + (uint32_t)line : gr_load32(entry_of(s, line));
}
GR_INLINE GrPrivRow *head_of(const Slot *s, uint64_t row) {
    return (GrPrivRow *)(is_near(s, row) ? s->window + GR_NEAR_HEADS(&s->near) +
                                               (row - s->window - s->near.first) / GR_LINE * sizeof(GrPrivRow)
                                         : row + GR_ROW_HEAD);
}
GR_INLINE uint32_t line_of(const Slot *s, uint64_t row) {
    return is_near(s, row) ? (uint32_t)((row - s->window) / GR_LINE) : head_of(s, row)->line;
}
// The list of the region that runs, how many threads have asked for a place in a list, and the next place. If shared
// memory is near it holds these.
GR_INLINE uint32_t list_now(const Slot *s) {
    return s->near.size ? shared_now(s->near.says + GR_NEAR_NOW)
                        : gr_load32(&((GR_GLOBAL GrPrivSlot *)s->head)->now);
}
GR_INLINE uint32_t list_count(const Slot *s, uint32_t list) {
    return s->near.size ? shared_now(s->near.says + GR_NEAR_COUNT + 4 * list)
                        : ((GR_GLOBAL volatile GrPrivSlot *)s->head)->count[list];
}
GR_INLINE uint32_t list_place(const Slot *s, uint32_t list) {
    return s->near.size ? shared_add(s->near.says + GR_NEAR_COUNT + 4 * list, 1)
                        : gr_add32(&((GR_GLOBAL GrPrivSlot *)s->head)->count[list], 1);
}
GR_INLINE uint64_t list_at(const Slot *s, uint32_t list, uint32_t k) {
    return s->lists + 4 * ((uint64_t)list * s->capacity + k);
}
GR_INLINE uint64_t near_numbers(const Slot *s, uint64_t row) {
    return s->numbers + (row - s->window) / GR_LINE * GR_NEAR_NUMBERS(s->n);
}
GR_INLINE uint64_t number_at(const Slot *s, uint64_t row, uint32_t k) {
    return (is_near(s, row) ? near_numbers(s, row) : row + GR_ROW_COPIES) + 4 * (uint64_t)k;
}
GR_INLINE uint64_t copy_at(const Slot *s, uint32_t number) { return s->copies + (uint64_t)number * GR_LINE; }
GR_INLINE GR_GLOBAL GrPrivMark *mark_at(const Slot *s, uint32_t number) {
    return (GR_GLOBAL GrPrivMark *)s->marks + number;
}
GR_INLINE uint64_t touched_at(const Slot *s, uint32_t number, uint32_t word) {
    return (uint64_t)mark_at(s, number)->touched + word;
}

// The parts of a row.
enum { ROW_BASE = 0, ROW_UNION = GR_LINE, ROW_OWN = GR_ROW_OWN };
GR_INLINE uint64_t part_at(const Slot *s, uint64_t row, uint64_t part) {
    if (is_near(s, row))
        return part == ROW_OWN ? row : row + (part == ROW_BASE ? s->near.size : 2 * s->near.size);
    return row + part;
}
GR_INLINE uint64_t row_touched_at(uint64_t row, uint64_t part, uint32_t word) {
    return row + GR_ROW_TOUCHED + part / 4 + word;
}

// Where a row names the unit that owns a granule: the number of the unit's copy, and 1; 0: no unit owns the granule.
// Near memory has no such place.
GR_INLINE uint64_t owner_at(const Slot *s, uint64_t row, uint32_t low) {
    return row + GR_ROW_OWNERS + 4 * (uint64_t)(low >> s->granule);
}
GR_INLINE uint64_t near_owner_at(const Slot *s, uint64_t row, uint32_t low) {
    return s->window + GR_NEAR_OWNERS(&s->near) +
           (((uint32_t)(row - s->window) - s->near.first + low) >> s->near.shift) * s->near.entry;
}
GR_INLINE uint32_t near_owner(const Slot *s, uint64_t row, uint32_t low) {
    uint64_t at = near_owner_at(s, row, low);
    return s->near.entry == 2 ? *(volatile uint16_t *)at : *(volatile uint32_t *)at;
}
// The owner of a word; 0 if units share no copy. In near memory the first owner of some of `changed`, bits.
GR_INLINE uint32_t owner_of_word(const Slot *s, uint64_t row, uint32_t word, uint32_t changed) {
    if (is_near(s, row))
        return changed ? near_owner(s, row, 4 * word + (uint32_t)__builtin_ctz(changed) / 8) : 0;
    return s->granule ? word_at(owner_at(s, row, 4 * word)) : 0;
}
// 0: no unit has a private copy of the line but what it owns.
GR_INLINE int is_numbered(const Slot *s, uint64_t row) {
    return *(volatile uint32_t *)&head_of(s, row)->numbered == GR_NUMBERED;
}

// GrPrivRow.flags has a bit for so many private copies, as a power of two, which a warp's lanes divide up.
GR_INLINE uint32_t made_shift(const Slot *s) {
    uint32_t shift = 5;
    GR_ROLLED while (s->n > 16u << shift) shift++;
    return shift;
}
// The private copies that may be made, as bits; 0: none.
GR_INLINE uint32_t made_of(const Slot *s, uint64_t row, const volatile GrPrivRow *head) {
    return !head->numbered ? 0 : is_near(s, row) ? ~0u : head->flags >> GR_ROW_MADE;
}

GR_INLINE uint32_t members_of(const Lanes *l) { return l->lanes == 32 ? ~0u : (1u << l->lanes) - 1; }

// Goes through the private copies of a row that were made, by the unit's copy number, and loads one word of each. All
// lanes together. Loads some at a time, so that the warp waits for memory once for these.
enum { AT_A_TIME = 4 };
typedef struct Made {
    uint32_t next, bits, numbers; // numbers: of the lane's
    uint64_t from;                // where they are
    uint32_t some, shift;         // bits: which of each 1 << shift were made
    uint32_t n, k[AT_A_TIME], number[AT_A_TIME], word[AT_A_TIME];
} Made;

GR_INLINE int next_made(const Slot *s, const Lanes *l, uint32_t word, Made *m) {
    GR_ROLLED while (!m->bits) {
        uint32_t k = m->next + l->lane;
        if (m->next >= s->n)
            return 0;
        if (!(m->some >> (m->next >> m->shift) & 1)) {
            m->next += l->lanes;
            continue;
        }
        m->numbers = k < s->n ? word_at(m->from + 4 * (uint64_t)k) : 0;
        m->bits = gr_ballot(members_of(l), m->numbers >= GR_COPY_FIRST);
        m->next += l->lanes;
    }
    m->n = 0;
#pragma unroll
    for (uint32_t i = 0; i < AT_A_TIME; i++) {
        if (!m->bits)
            continue;
        uint32_t j = (uint32_t)__builtin_ctz(m->bits);
        m->bits &= m->bits - 1;
        m->k[i] = m->next - l->lanes + j;
        m->number[i] = gr_shuffle32(members_of(l), m->numbers, j);
        m->word[i] = word_at(copy_at(s, m->number[i]) + 4 * word);
        m->n = i + 1;
    }
    return 1;
}

// Goes through all of them, if there are any. `numbered`: which may be made, as bits.
#define EACH_MADE(m, i, ...)                                                                                 \
    for (Made m = {.next = numbered ? 0 : s->n,                                                              \
                  .from = number_at(s, row, 0),                                                              \
                  .some = numbered,                                                                          \
                  .shift = made_shift(s)};                                                                   \
         next_made(s, l, word, &m);)                                                                         \
    _Pragma("unroll") for (uint32_t i = 0; i < AT_A_TIME; i++) if (i < m.n) __VA_ARGS__

// Unless regions run once, `touched` has for each word, in two bytes, the copy that changed it: its number and one;
// OWNER_MANY: several. OWNER_UPDATED: atomic operations updated it. 0: none.
enum { OWNER_UPDATED = 0xfffe, OWNER_MANY = 0xffff };
GR_INLINE uint32_t owner_of(uint32_t copy) { return copy + 1 < OWNER_UPDATED ? copy + 1 : OWNER_MANY; }
GR_INLINE uint16_t *changer_at(const Slot *s, uint64_t row, uint32_t word) {
    return (uint16_t *)(is_near(s, row) ? near_numbers(s, row) + 4 * (uint64_t)s->n : row + GR_ROW_TOUCHED) +
           word;
}

// 0xff in each byte that is not 0.
GR_INLINE uint32_t bytes_of(uint32_t v) {
    v |= v >> 4 & 0x0f0f0f0f;
    v |= v >> 2 & 0x03030303;
    v |= v >> 1 & 0x01010101;
    return (v & 0x01010101) * 0xff;
}

GR_INLINE uint64_t copy_bit(uint32_t copy, uint32_t i) {
    return copy % GR_FOUND_COPIES / 64 == i ? (uint64_t)1 << copy % 64 : 0;
}

enum { SOME_LOOKS = 16 };

// The parts of a found difference that say whether another is the same. Loaded past the cache, which may be stale.
typedef struct FoundNow {
    uint32_t state, kind, region, round, part;
    uint64_t block, sequence, copies[GR_FOUND_COPIES / 64], first;
} FoundNow;

GR_INLINE void found_now(const GR_GLOBAL GrPrivFound *f, FoundNow *n) {
    uint32_t rest[3];
    __asm__ volatile("ld.relaxed.sys.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(n->state), "=r"(n->kind), "=r"(n->region), "=r"(n->round)
                     : "l"(f)
                     : "memory");
    __asm__ volatile("ld.relaxed.sys.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(n->part), "=r"(rest[0]), "=r"(rest[1]), "=r"(rest[2])
                     : "l"(&f->part)
                     : "memory");
    __asm__ volatile("ld.relaxed.sys.global.v2.u64 {%0, %1}, [%2];"
                     : "=l"(n->block), "=l"(n->sequence)
                     : "l"(&f->block)
                     : "memory");
    __asm__ volatile("ld.relaxed.sys.global.v2.u64 {%0, %1}, [%2];"
                     : "=l"(n->copies[0]), "=l"(n->copies[1])
                     : "l"(f->copies)
                     : "memory");
    __asm__ volatile("ld.relaxed.sys.global.v2.u64 {%0, %1}, [%2];"
                     : "=l"(n->copies[2]), "=l"(n->copies[3])
                     : "l"(&f->copies[2])
                     : "memory");
    __asm__ volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(n->first) : "l"(&f->first) : "memory");
}

// Adds what->copies and the bits of what->copy to the entry at `to`.
static GR_NOINLINE void gr_priv_found(uint64_t to, const GrPrivFound *what) {
    GR_GLOBAL GrPrivLog *log = (GR_GLOBAL GrPrivLog *)to;
    uint64_t first = gr_first_key(what);
    GR_ROLLED for (uint32_t k = 0; k < GR_MOST_FOUND; k++) {
        GR_GLOBAL GrPrivFound *f =
            &log->found[(what->region * 7 + what->round * 31 + what->part * 3 + what->kind + k) %
                        GR_MOST_FOUND];
        FoundNow now;
        found_now(f, &now); // lanes that load one place do it at once, and take turns at atomics
        uint32_t state = now.state ? now.state : gr_compare_swap(&f->state, 0, 1);
        if (state == 0) {
            f->kind = what->kind;
            f->region = what->region;
            f->round = what->round;
            f->part = what->part;
            f->copy[0] = what->copy[0];
            f->copy[1] = what->copy[1];
            f->size = what->size;
            f->same = what->same;
            f->offset = what->offset;
            f->block = what->block;
            f->sequence = what->sequence;
            __asm__ volatile("fence.acq_rel.gpu;" ::: "memory");
            gr_store32(&f->state, 2);
            gr_store32(&log->head.any, 1);
        }
        // An entry that is being written mostly becomes the same. Without this wait each of many lanes that come at
        // once would write one more, and look at those of all others.
        GR_ROLLED for (uint32_t n = 0; state == 1 && n < SOME_LOOKS; n++) {
            gr_sleep(64);
            state = gr_load32(&f->state);
        }
        // An entry that is still being written may become the same: then one region has two entries, and the host gets
        // both.
        if (now.state != 2)
            found_now(f, &now);
        if (now.state == 2 && now.kind == what->kind && now.region == what->region &&
            now.round == what->round && now.part == what->part) {
            if (what->bytes && now.block == what->block && now.sequence == what->sequence)
                gr_count(&f->bytes, what->bytes);
#pragma unroll
            for (uint32_t i = 0; i < GR_FOUND_COPIES / 64; i++) {
                uint64_t bits = what->copies[i] | copy_bit(what->copy[0], i) | copy_bit(what->copy[1], i);
                // Mostly the bits are there: lanes share loads of one place, but take turns at atomic operations.
                if (bits & ~now.copies[i])
                    __asm__ volatile("red.relaxed.sys.global.or.b64 [%0], %1;" ::"l"(&f->copies[i]),
                                     "l"(bits));
            }
            if (first > now.first)
                __asm__ volatile("red.relaxed.sys.global.max.u64 [%0], %1;" ::"l"(&f->first), "l"(first));
            return;
        }
    }
    gr_add32(&log->head.dropped, 1);
}

GR_INLINE GR_GLOBAL GrPrivExtent *extent(GR_GLOBAL GrPrivControl *c, uint32_t k) {
    return (GR_GLOBAL GrPrivExtent *)c->extents + k;
}

// How many extents begin at or before the offset. The last of them may hold it.
static GR_NOINLINE uint32_t gr_priv_extents_until(GR_GLOBAL GrPrivControl *c, uint64_t offset) {
    uint32_t low = 0, high = c->n_extents;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (extent(c, middle)->offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// The part of memory: different arrays are different parts. In shared memory, where variables cannot be told apart,
// neighbouring words are different parts, and even and odd lines.
enum { SHARED_PARTS = 8 };
static GR_NOINLINE uint32_t gr_priv_part(GR_GLOBAL GrPrivControl *c, uint64_t offset) {
    return offset < c->shared_bytes ? (uint32_t)(offset / 4 % 4 + offset / GR_LINE % 2 * 4)
                                    : SHARED_PARTS + gr_priv_extents_until(c, offset);
}

// What there is to report of one word. It is reported at once, as the log has few places, and lanes take turns at them.
_Static_assert(GR_FOUND_COPIES == 4 * 64, "the literals below");
typedef struct Told {
    uint32_t any, one, other, bytes; // one, other: the first two copies; bytes: bits
    uint64_t copies[GR_FOUND_COPIES / 64];
} Told;

GR_INLINE void tell(Told *t, uint32_t one, uint32_t other, uint32_t bytes) {
    t->one = t->any ? t->one : one;
    t->other = t->any ? t->other : other;
    t->any = 1;
    t->bytes |= bytes;
#pragma unroll
    for (uint32_t i = 0; i < GR_FOUND_COPIES / 64; i++)
        t->copies[i] |= copy_bit(one, i) | copy_bit(other, i);
}

// `at`: where the word is. The log gets the address of its first byte that differs, and the host looks for accesses to
// that byte: a unit may access another byte of the word.
static GR_NOINLINE void gr_priv_report_all(const Slot *s, uint32_t kind, uint64_t at, const Told *t) {
    at += t->bytes ? (uint32_t)__builtin_ctz(t->bytes) / 8 : 0;
    gr_priv_found(s->log, &(GrPrivFound){.kind = kind,
                                         .round = s->round,
                                         .part = gr_priv_part(s->control, at),
                                         .region = s->region,
                                         .copy = {t->one, t->other},
                                         .offset = at,
                                         .block = s->block,
                                         .sequence = s->sequence,
                                         .bytes = (uint64_t)__builtin_popcount(t->bytes) / 8,
                                         .copies = {t->copies[0], t->copies[1], t->copies[2], t->copies[3]}});
}

GR_INLINE void gr_priv_report(const Slot *s, uint32_t kind, uint32_t one, uint32_t other, uint64_t at,
                              uint32_t bytes) {
    Told t = {0};
    tell(&t, one, other, bytes);
    gr_priv_report_all(s, kind, at, &t);
}

// Merges one word behind pass 1, of a line that no atomic operation updated. True: two copies changed the same byte,
// which is reported. All lanes together.
GR_INLINE int merge_word(const Slot *s, uint64_t row, const Lanes *l, uint64_t offset, uint32_t word,
                         uint32_t numbered) {
    uint64_t base = part_at(s, row, ROW_BASE) + 4 * word, own_at = part_at(s, row, ROW_OWN) + 4 * word;
    uint32_t was = word_at(base), all = was, its = 0, twice = 0;
    int near = is_near(s, row);
    if (!near) {
        its = owner_of_word(s, row, word, 0);
        if (!its && !numbered) // the union is the base already
            return 0;
    }
    if (near || its)
        all = word_at(own_at);
    uint32_t changed = bytes_of(all ^ was), owned = changed;
    if (near)
        its = owner_of_word(s, row, word, changed);
    uint32_t owner = changed ? owner_of(its - 1) : 0, last = its - 1;
    Told told = {0};
    EACH_MADE(m, i, {
        uint32_t own = bytes_of(m.word[i] ^ was), again = own & changed;
        if (again)
            tell(&told, m.k[i], last, again & ~twice);
        twice |= again;
        changed |= own;
        last = own ? m.k[i] : last;
        all = (all & ~own) | (m.word[i] & own);
        owner = !own ? owner : owner ? OWNER_MANY : owner_of(m.k[i]);
    })
    if (told.any)
        gr_priv_report_all(s, GR_FOUND_WRITES, offset, &told);
    put_word(part_at(s, row, ROW_UNION) + 4 * word, all);
    *changer_at(s, row, word) = (uint16_t)owner;
    if (s->granule)
        put_word(own_at, (all & ~owned) | (was & owned));
    EACH_MADE(m, i, {
        uint32_t own = bytes_of(m.word[i] ^ was);
        if (all != was)
            put_word(copy_at(s, m.number[i]) + 4 * word, (all & ~own) | (was & own));
    })
    return twice != 0;
}

// Merges one word of a line that an atomic operation updated. True also if a copy stored to a word that another one
// updated.
static GR_NOINLINE int gr_priv_merge_updated(const Slot *s, uint64_t row, uint64_t offset, uint32_t word) {
    uint64_t base = row + ROW_BASE + 4 * word, united = row + ROW_UNION + 4 * word;
    uint32_t was = word_at(base), common = word_at(united), all = was, changed = 0, twice = 0, owner = 0;
    uint32_t updaters = 0, updated = 0, stores = 0, stored = 0,
             last = 0; // how many copies, and the last of them
    uint64_t updater[2] = {0, 0};
    GR_ROLLED for (uint32_t k = 0; k < s->n && is_numbered(s, row); k++) {
        uint32_t number = word_at(number_at(s, row, k));
        if (number < GR_COPY_FIRST)
            continue;
        uint64_t copy = copy_at(s, number) + 4 * word;
        uint32_t now = word_at(copy), own = bytes_of(now ^ was),
                 touched = byte_at(touched_at(s, number, word));
        int updates = touched & GR_UPDATED, plain = touched & GR_STORED || (own && !updates);
        if (updates)
            owner = OWNER_UPDATED;
        else if (own && owner != OWNER_UPDATED)
            owner = owner ? OWNER_MANY : owner_of(k);
        if ((updates && stores) || (plain && updaters)) {
            gr_priv_report(s, GR_FOUND_WRITES, k, stores ? stored : updated, offset, ~twice);
            twice = ~0u;
        }
        if (plain) {
            stores++;
            stored = k;
        }
        if (updates) {
            updater[updaters > 0] = copy;
            updaters++;
            updated = k;
            continue;
        }
        if (own & changed)
            gr_priv_report(s, GR_FOUND_WRITES, k, last, offset, own & changed & ~twice);
        twice |= own & changed;
        all = (all & ~own) | (now & own);
        changed |= own;
        last = own ? k : last;
    }
    if (updaters)
        all = word_at(updater[0]);
    put_word(united, all);
    *changer_at(s, row, word) = (uint16_t)owner;
    if (updaters) // one has stored besides, maybe; of several the union has had all updates
        put_word(base, updaters == 1 ? all : common);
    uint32_t other = updaters > 1 ? word_at(updater[1]) : was;
    GR_ROLLED for (uint32_t k = 0; k < s->n && is_numbered(s, row); k++) {
        uint32_t number = word_at(number_at(s, row, k));
        if (number < GR_COPY_FIRST)
            continue;
        uint64_t copy = copy_at(s, number) + 4 * word;
        uint32_t own = bytes_of(word_at(copy) ^ was);
        // The first updater finds another's update, and every other copy the union: one of the possible orders.
        if (updaters)
            put_word(copy, copy != updater[0] ? all : other);
        else
            put_word(copy, (all & ~own) | (was & own));
    }
    return twice != 0;
}

// Reports a word that its owner has made something else in pass 2 than it has to be.
static GR_NOINLINE void gr_priv_tell_owner(const Slot *s, uint64_t row, uint32_t word, uint64_t offset) {
    uint32_t all = word_at(part_at(s, row, ROW_UNION) + 4 * word),
             own = word_at(part_at(s, row, ROW_OWN) + 4 * word), changed = bytes_of(own ^ all),
             owner = owner_of_word(s, row, word, changed);
    if (owner && changed)
        gr_priv_report(s, GR_FOUND_READ, owner - 1, owner - 1, offset, changed);
}

// What the word is behind pass 2 if atomic operations updated it: these are not compared. False: none did.
static GR_NOINLINE int gr_priv_updated_word(const Slot *s, uint64_t row, uint32_t word, uint32_t *all) {
    uint32_t updaters = 0;
    uint64_t updater = 0;
    GR_ROLLED for (uint32_t k = 0; k < s->n && is_numbered(s, row); k++) {
        uint32_t number = word_at(number_at(s, row, k));
        if (number < GR_COPY_FIRST || !(byte_at(touched_at(s, number, word)) & GR_UPDATED))
            continue;
        updaters++;
        updater = copy_at(s, number) + 4 * word;
    }
    if (updaters)
        *all = word_at(updaters == 1 ? updater : row + ROW_BASE + 4 * word);
    return updaters > 0;
}

// Checks one word behind pass 2. `told`: two copies wrote in its line, and the race is reported. `updated`: atomic
// operations updated the line. All lanes together.
GR_INLINE void check_word(const Slot *s, uint64_t row, const Lanes *l, uint64_t offset, uint32_t word,
                          uint32_t numbered, int told, int updated) {
    uint64_t base = part_at(s, row, ROW_BASE) + 4 * word, united = part_at(s, row, ROW_UNION) + 4 * word,
             own_at = part_at(s, row, ROW_OWN) + 4 * word;
    uint32_t all = word_at(united), owned = s->granule ? word_at(own_at) ^ all : 0, differ = owned;
    EACH_MADE(m, i, differ |= m.word[i] ^ all;)
    updated = updated && gr_priv_updated_word(s, row, word, &all);
    int tells = differ && !updated && !told;
    if (tells && owned)
        gr_priv_tell_owner(s, row, word, offset);
    if (numbered && !gr_all(members_of(l), !tells)) {
        uint32_t said = bytes_of(owned);
        Told told_of = {0};
        EACH_MADE(m, i, {
            uint32_t now = bytes_of(m.word[i] ^ all);
            if (tells && now)
                tell(&told_of, m.k[i], m.k[i], now & ~said);
            said |= now;
        })
        if (told_of.any)
            gr_priv_report_all(s, GR_FOUND_READ, offset, &told_of);
    }
    if (!s->commits || (!differ && !updated && word_at(base) == all))
        return;
    put_word(base, all);
    put_word(united, all);
    if (s->granule && differ)
        put_word(own_at, all);
    *changer_at(s, row, word) = 0;
}

// Makes the base of one word out of what the units wrote, in their order, at the end of a region that runs once.
GR_INLINE void merge_once(const Slot *s, uint64_t row, const Lanes *l, uint32_t word, uint32_t numbered) {
    uint64_t base = row + ROW_BASE + 4 * word;
    uint32_t was = word_at(base), all = was, updaters = 0, updated = 0;
    EACH_MADE(m, i, {
        uint32_t own = bytes_of(m.word[i] ^ was);
        int updates = byte_at(touched_at(s, m.number[i], word)) & GR_UPDATED;
        updaters += updates != 0;
        updated = updates ? m.word[i] : updated;
        all = updates ? all : (all & ~own) | (m.word[i] & own);
    })
    if (updaters) {
        all = updaters == 1 ? updated : was;
        put_byte(row_touched_at(row, ROW_BASE, word), GR_UPDATED);
    }
    put_word(base, all);
}

enum {
    ROW_LISTED = GR_ROW_LISTED,
    ROW_MERGED = 2,
    ROW_TOLD = 4,
    ROW_UPDATED = 8
}; // UPDATED: by an atomic operation

// Lines of shared memory are few, and most regions write them: they are in no list, and every region's end looks at
// them.
GR_INLINE uint32_t lines_of_shared(const Slot *s) { return (uint32_t)(s->control->shared_bytes / GR_LINE); }
// The flags of a row that no unit has written in the region.
GR_INLINE uint32_t flags_of(const Slot *s, uint32_t line) {
    return line < lines_of_shared(s) ? ROW_LISTED : 0;
}

static GR_NOINLINE void gr_priv_one_row(const Slot *s, uint64_t row, const Lanes *l, int merges) {
    volatile GrPrivRow *head = head_of(s, row);
    uint32_t line = line_of(s, row), was = head->flags, near = is_near(s, row),
             numbered = made_of(s, row, head);
    int twice = 0, ends = s->once || !merges, cleared = head->numbered != 0;
    GR_ROLLED for (uint32_t k = l->lane; k < GR_LINE / 4; k += l->lanes) {
        uint64_t offset = (uint64_t)line * GR_LINE + 4 * k;
        if (s->once)
            merge_once(s, row, l, k, numbered);
        else if (!merges)
            check_word(s, row, l, offset, k, numbered, was & ROW_TOLD, was & ROW_UPDATED);
        else if (was & ROW_UPDATED)
            twice |= gr_priv_merge_updated(s, row, offset, k);
        else
            twice |= merge_word(s, row, l, offset, k, numbered);
    }
    int told = !gr_all(members_of(l), !twice);
    uint32_t owners = near ? (GR_LINE >> s->near.shift) * s->near.entry / 4 : GR_LINE / 4;
    gr_meet(members_of(l)); // another lane may still ask for the owner of its word
    GR_ROLLED for (uint32_t k = l->lane; k < owners && ends; k += l->lanes)
        put_word((near ? near_owner_at(s, row, 0) : row + GR_ROW_OWNERS) + 4 * k, 0);
    uint64_t numbers = number_at(s, row, 0);
    GR_ROLLED for (uint32_t k = l->lane; k < s->n && ends && cleared; k += l->lanes)
        put_word(numbers + 4 * (uint64_t)k, 0);
    if (l->lane)
        return;
    if (ends)
        head->numbered = 0;
    head->flags =
        ends ? flags_of(s, line)
             : ROW_LISTED | ROW_MERGED | (was & (ROW_UPDATED | ~0u << GR_ROW_MADE)) | (told ? ROW_TOLD : 0);
    if (s->once)
        put_byte(s->changed + line, 1);
    else if (ends && !s->commits) // the slot is not used again
        put_word(s->table + 4 * (uint64_t)line, head->was);
}

#endif
