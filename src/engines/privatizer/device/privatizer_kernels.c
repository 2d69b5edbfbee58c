// SPDX-License-Identifier: Apache-2.0
// privatizer_kernels — what the host launches between the passes of GR_OF_BLOCKS.
#include "engines/privatizer/device/window.h"

#define KERNEL __attribute__((nvptx_kernel))

static GR_NOINLINE void gr_priv_rows_of_grid(const Slot *s, int merges) {
    Team t = {gr_ctaid_x() * ntid_x() + gr_tid_x(), nctaid_x() * ntid_x(), 32};
    gr_priv_all_rows(s, &t, merges);
}

// The warp has a row. In most launches most warps have none.
GR_INLINE int has_row(GR_GLOBAL GrPrivControl *c) {
    uint32_t warp = (gr_ctaid_x() * ntid_x() + gr_tid_x()) / 32;
    return warp == 0 || warp < c->shared_bytes / GR_LINE + ((GR_GLOBAL GrPrivSlot *)c->slot)->count[0];
}

// Makes the row of line `line`, which the program has at `from`, with the lanes of a warp.
GR_INLINE void make_ready(uint64_t row, uint64_t entry, uint32_t number, uint32_t line, uint64_t from) {
    uint32_t lane = gr_tid_x() % 32, v = word_at(from + 4 * lane);
    put_word(row + ROW_BASE + 4 * lane, v);
    put_word(row + ROW_UNION + 4 * lane, v);
    put_word(row + ROW_OWN + 4 * lane, v);
    put_word(row + GR_ROW_OWNERS + 4 * lane, 0);
    if (lane < 2 * (GR_LINE / 4) / 4)
        put_word(row + GR_ROW_TOUCHED + 4 * lane, 0);
    if (lane < sizeof(GrPrivRow) / 4) // its line comes first
        put_word(row + GR_ROW_HEAD + 4 * lane, lane ? 0 : line);
    if (lane == 0)
        put_word(entry, number);
}

// Something that ran before on the same tables was cut short. The host will make them anew.
static GR_NOINLINE int gr_priv_finds_rest(uint64_t logs, uint64_t n, uint32_t exchanges) {
    int rest = 0;
    GR_ROLLED for (uint64_t k = 0; k < n; k++) {
        const GR_GLOBAL GrPrivHead *of = &((GR_GLOBAL GrPrivLog *)logs)[k].head;
        rest |= of->skipped || gr_is_cut_short(of->apart, of->full, of->waited, exchanges);
    }
    return rest;
}

// Runs in front of a round. One launch takes less time than a copy from the host and a memset.
KERNEL void __gr_set(const GrPrivSet set) {
    uint32_t thread = gr_ctaid_x() * ntid_x() + gr_tid_x(), threads = nctaid_x() * ntid_x();
    // Code for blocks has one slot, and begins with it; in code for warps each block sets its own.
    const uint64_t used = set.control.mode == GR_OF_BLOCKS ? __builtin_offsetof(GrPrivSlot, used) / 8 : ~0ull;
    const uint64_t *from = (const uint64_t *)&set.control;
    GR_ROLLED for (uint32_t k = thread; k < sizeof set.control / 8;
                   k += threads)((GR_GLOBAL uint64_t *)set.to)[k] = from[k];
    if (thread == 0 && set.n_before && gr_priv_finds_rest(set.before, set.n_before, set.control.exchanges)) {
        ((GR_GLOBAL GrPrivControl *)set.to)->mode = GR_HELD;
        ((GR_GLOBAL GrPrivLog *)set.control.log)->head.skipped = 1;
    }
    GR_ROLLED for (uint64_t k = thread; k < set.zero_bytes / 8;
                   k += threads)((GR_GLOBAL uint64_t *)set.zeros)[k] = k == used ? set.control.ready : 0;
    if (set.control.window.size)
        window_make(&set.control.window, set.spans, set.lines, set.control.privates);
    uint64_t rows = set.control.slots * set.control.ready;
    GR_ROLLED for (uint64_t k = thread / 32; k < rows; k += threads / 32) {
        uint64_t slot = k / set.control.ready, from = 0;
        uint32_t number = (uint32_t)(k % set.control.ready), line = 0;
        from = line_of_spans(set.spans, number, &line);
        make_ready(set.control.rows + (slot * set.control.capacity + number) * set.control.row_bytes,
                   set.control.tables + slot * set.control.table_bytes + 4 * (uint64_t)line, number + 1, line,
                   from);
    }
}

// Ends pass 1.
KERNEL void __gr_merge_blocks(uint64_t control) {
    GR_GLOBAL GrPrivControl *c = (GR_GLOBAL GrPrivControl *)control;
    if (gr_ctaid_x() == 0 && gr_tid_x() == 0)
        c->pass = 2;
    if (!has_row(c))
        return;
    Slot s = slot_of_control(c, 0);
    gr_priv_rows_of_grid(&s, 1);
}

// Compares what the threads of each unit stored in both passes.
static GR_NOINLINE void gr_priv_check_sums(const Slot *s, GR_GLOBAL GrPrivControl *c) {
    GR_GLOBAL uint64_t *sum = (GR_GLOBAL uint64_t *)c->sums;
    GR_ROLLED for (uint32_t k = gr_ctaid_x() * ntid_x() + gr_tid_x(); k < s->n * GR_SUMS;
                   k += nctaid_x() * ntid_x()) if (sum[k] != sum[s->n * GR_SUMS + k])
        gr_priv_report(s, GR_FOUND_READ, k / GR_SUMS, k / GR_SUMS, 0, 0);
}

KERNEL void __gr_check_blocks(uint64_t control) {
    GR_GLOBAL GrPrivControl *c = (GR_GLOBAL GrPrivControl *)control;
    if (!has_row(c) && gr_ctaid_x() * ntid_x() + gr_tid_x() >= c->privates * GR_SUMS)
        return;
    Slot s = slot_of_control(c, 0);
    if (has_row(c))
        gr_priv_rows_of_grid(&s, 0);
    gr_priv_check_sums(&s, c);
}

// The gate does little, but each launch waits for it, and code that has not run for a while comes from far. So it is
// short: loops are unrolled only where memory is asked for all at once.
enum { THERE = 2 }; // GrPrivFound.state
enum { HEAD_WORDS = sizeof(GrPrivHead) / 8, ANY_WORD = __builtin_offsetof(GrPrivHead, any) / 8 };
#define ANY_BITS (~UINT64_C(0) << 32) // of that word
_Static_assert(__builtin_offsetof(GrPrivHead, any) % 8 == 4 && GR_LOGS * HEAD_WORDS <= 32, "a lane has one");

// What the log has, as bits of each lane: bit i is place 32 * i + lane.
GR_INLINE uint32_t found_places(const GR_GLOBAL GrPrivLog *log) {
    enum { EACH = GR_MOST_FOUND / 32 };
    uint32_t state[EACH], places = 0;
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++)
        state[i] = log->found[gr_tid_x() + 32 * i].state;
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++)
        places |= state[i] ? 1u << i : 0;
    return places;
}

GR_INLINE uint64_t found_at(uint64_t log, uint32_t places) {
    uint32_t place = gr_tid_x() + 32 * (uint32_t)__builtin_ctz(places);
    return log + __builtin_offsetof(GrPrivLog, found) + place * sizeof(GrPrivFound);
}

// Sends what was found to the host, by one warp; yields how many. Each lane asks for all its memory at once.
static GR_NOINLINE uint64_t gr_priv_tell_host(GR_GLOBAL GrPrivLog *log, GR_GLOBAL GrPrivFound *to) {
    enum { WORDS = sizeof(GrPrivFound) / 8 };
    uint32_t n = 0;
    GR_ROLLED for (uint32_t places = found_places(log); gr_ballot(~0u, places != 0); places &= places - 1) {
        GR_GLOBAL uint64_t *from = (GR_GLOBAL uint64_t *)found_at((uint64_t)log, places);
        int there = places && ((GR_GLOBAL GrPrivFound *)from)->state == THERE;
        uint32_t all = gr_ballot(~0u, there),
                 place = n + (uint32_t)__builtin_popcount(all & gr_lanes_before());
        n += (uint32_t)__builtin_popcount(all);
        if (!there)
            continue;
        uint64_t v[WORDS];
#pragma unroll
        for (uint32_t w = 0; w < WORDS; w++)
            v[w] = from[w];
#pragma unroll
        for (uint32_t w = 0; w < WORDS; w++)
            gr_store64((GR_GLOBAL uint64_t *)(to + place) + w, v[w]);
    }
    return n;
}

// Which of what is expected was found, as bits; 0: something else was, too. By one warp, for all of its lanes.
GR_INLINE uint32_t found_again(uint64_t log, const GrPrivExpected *e) {
    uint32_t mine = 0, bits = 0;
    int other = 0;
    GR_ROLLED for (uint32_t places = found_places((GR_GLOBAL GrPrivLog *)log); places; places &= places - 1) {
        const GR_GLOBAL GrPrivFound *f = (GR_GLOBAL GrPrivFound *)found_at(log, places);
        uint32_t state = f->state, kind = f->kind, region = f->region, round = f->round, part = f->part,
                 k = 0;
        GR_ROLLED while (k < e->n &&
                         (e->of[k].kind != kind || e->of[k].region != region || e->of[k].part != part)) k++;
        other |= k == e->n || state != THERE || round;
        mine |= k < e->n ? 1u << k : 0;
    }
    GR_ROLLED for (uint32_t k = 0; k < e->n; k++) bits |= gr_all(~0u, !(mine >> k & 1)) ? 0 : 1u << k;
    return gr_all(~0u, !other) ? bits : 0;
}

// Sets the log to what it was before the first unit reported something.
GR_INLINE void make_empty(uint64_t log) {
    GR_ROLLED for (uint32_t places = found_places((GR_GLOBAL GrPrivLog *)log); places; places &= places - 1) {
        GR_GLOBAL uint64_t *word = (GR_GLOBAL uint64_t *)found_at(log, places);
        GR_ROLLED for (uint32_t w = 0; w < sizeof(GrPrivFound) / 8; w++) word[w] = 0;
    }
    if (gr_tid_x() < HEAD_WORDS)
        ((GR_GLOBAL uint64_t *)log)[gr_tid_x()] = 0;
}

// True: the logs with something in them (`any`) have only what is expected. Then the host gets which, and they are
// empty again. (Inlined: if a called function got the address of a kernel's parameters, they would be copied to local
// memory.)
GR_INLINE int finds_again(const GrPrivGate *g, uint32_t any) {
    GR_GLOBAL GrPrivHeads *heads = (GR_GLOBAL GrPrivHeads *)g->to;
    int other = 0;
    GR_ROLLED for (uint32_t k = 0; k < GR_LOGS; k++) {
        uint32_t has = any >> k * HEAD_WORDS & ((1u << HEAD_WORDS) - 1),
                 bits = has ? found_again(g->logs + k * sizeof(GrPrivLog), &g->expected[k]) : 0;
        other |= has && !bits;
        if (gr_tid_x() == 0)
            gr_store64(&heads->again[k], GR_AGAIN(g->number, bits));
    }
    GR_ROLLED for (uint32_t k = 0; k < GR_LOGS && !other;
                   k++) if (any >> k * HEAD_WORDS & ((1u << HEAD_WORDS) - 1))
        make_empty(g->logs + k * sizeof(GrPrivLog));
    return !other;
}

// Sends all that the logs say to the host.
GR_INLINE void tell_all(const GrPrivGate *g) {
    GR_GLOBAL GrPrivHeads *heads = (GR_GLOBAL GrPrivHeads *)g->to;
    GR_ROLLED for (uint32_t k = 0; k < GR_LOGS; k++) {
        uint64_t found = gr_priv_tell_host((GR_GLOBAL GrPrivLog *)g->logs + k, heads->found[k]);
        if (gr_tid_x() == 0)
            gr_store64(&heads->n[k], found);
    }
}

// Runs in front of the program's launch: lets it run, or holds it until the host has seen to what the logs say. One
// word says that it runs, so the host need not have the others by then; GrPrivHeads.again says itself when it is there.
// By one warp: each lane has one word of the logs' heads, as memory is far.
KERNEL void __gr_gate(const GrPrivGate g) {
    uint32_t lane = gr_tid_x(), word = lane % HEAD_WORDS;
    GR_GLOBAL GrPrivHeads *heads = (GR_GLOBAL GrPrivHeads *)g.to;
    uint64_t v = 0;
    if (lane < GR_LOGS * HEAD_WORDS) {
        v = gr_load64((GR_GLOBAL uint64_t *)(g.logs + lane / HEAD_WORDS * sizeof(GrPrivLog)) + word);
        gr_store64((GR_GLOBAL uint64_t *)heads->of + lane, v);
    }
    // In a head only `any` is about what was found. The rest went wrong, or was not done.
    uint64_t found = word == ANY_WORD ? v & ANY_BITS : 0;
    uint32_t any = gr_ballot(~0u, found != 0);
    uint64_t says = gr_all(~0u, !v)                                   ? 0
                    : gr_all(~0u, v == found) && finds_again(&g, any) ? GR_GATE_AGAIN
                                                                      : GR_GATE_HELD;
    if (says == GR_GATE_HELD) {
        tell_all(&g);
        __asm__ volatile("fence.acq_rel.sys;" ::: "memory"); // what each lane has stored
        gr_meet(~0u);
    }
    if (lane)
        return;
    ((GR_GLOBAL GrPrivControl *)g.control)->mode = says == GR_GATE_HELD ? GR_HELD : GR_AS_IT_IS;
    gr_store64(&heads->number, GR_GATE * g.number + says);
}

// Does what __gr_merge_blocks and __gr_check_blocks do, where units have copies of a window.
KERNEL void __gr_merge_window(const GrPrivWindowed w) {
    GR_GLOBAL GrPrivControl *c = (GR_GLOBAL GrPrivControl *)w.control;
    if (gr_ctaid_x() == 0 && gr_tid_x() == 0)
        c->pass = 2;
    Slot s = slot_of_control(c, 0);
    EACH_LINE(k, w.lines) {
        uint32_t line;
        uint64_t from = line_of_spans(w.spans, k, &line);
        gr_priv_merge_line(&s, &c->window, from, line, k);
    }
}

KERNEL void __gr_check_window(const GrPrivWindowed w) {
    GR_GLOBAL GrPrivControl *c = (GR_GLOBAL GrPrivControl *)w.control;
    Slot s = slot_of_control(c, 0);
    EACH_LINE(k, w.lines) {
        uint32_t line;
        uint64_t from = line_of_spans(w.spans, k, &line);
        gr_priv_check_line(&s, &c->window, from, line, k);
    }
    gr_priv_check_sums(&s, c);
}

static GR_NOINLINE uint64_t gr_priv_address(GR_GLOBAL GrPrivControl *c, uint64_t offset) {
    GR_ROLLED for (uint32_t k = 0; k < c->n_extents; k++) {
        GR_GLOBAL GrPrivExtent *e = (GR_GLOBAL GrPrivExtent *)c->extents + k;
        if (offset - e->offset < e->size)
            return e->at + (offset - e->offset);
    }
    return 0;
}

// Writes what the blocks with slots wrote, in their order, to the program's memory. Each word has one thread, so
// nothing is atomic.
KERNEL void __gr_commit(uint64_t control) {
    GR_GLOBAL GrPrivControl *c = (GR_GLOBAL GrPrivControl *)control;
    uint64_t n_lines = c->span >> GR_LINE_SHIFT;
    uint32_t thread = gr_ctaid_x() * ntid_x() + gr_tid_x(), warps = nctaid_x() * ntid_x() / 32;
    Slot sums = slot_of_control(c, c->slots);
    GR_ROLLED for (uint64_t line = c->shared_bytes / GR_LINE + thread / 32; line < n_lines; line += warps) {
        GR_ROLLED for (uint32_t k = thread % 32; k < GR_LINE / 4 && byte_at(c->changed + line); k += 32) {
            uint32_t valid = 0, was = 0; // bytes of the program's
            uint64_t to[4];
            GR_ROLLED for (uint32_t b = 0; b < 4; b++) {
                to[b] = gr_priv_address(c, line * GR_LINE + k * 4 + b);
                valid |= to[b] ? 0xffu << b * 8 : 0;
                was |= to[b] ? (uint32_t)byte_at(to[b]) << b * 8 : 0;
            }
            // The program's memory is what it was before the launch.
            uint32_t all = was, updaters = 0, updated = 0;
            GR_ROLLED for (uint64_t n = 0; n < c->slots; n++) {
                Slot s = slot_of_control(c, n);
                uint32_t v = word_at((uint64_t)entry_of(&s, line));
                if (!is_row(v))
                    continue;
                uint64_t row = row_at(&s, v);
                uint32_t now = word_at(row + ROW_BASE + 4 * k), own = bytes_of(now ^ was) & valid;
                if (byte_at(row_touched_at(row, ROW_BASE, k))) {
                    updaters++;
                    updated = now;
                } else {
                    all = (all & ~own) | (now & own);
                }
            }
            if (updaters > 1)
                updated = word_at(row_at(&sums, word_at((uint64_t)entry_of(&sums, line))) + ROW_BASE + 4 * k);
            if (updaters)
                all = updated;
            GR_ROLLED for (uint32_t b = 0; b < 4; b++) if (to[b] && (all ^ was) >> b * 8 & 0xff)
                put_byte(to[b], (uint8_t)(all >> b * 8));
        }
    }
}
