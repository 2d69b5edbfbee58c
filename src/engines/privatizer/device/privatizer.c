// SPDX-License-Identifier: Apache-2.0
// privatizer — the device runtime that inserted code calls (control.h).
#include "engines/privatizer/device/merge.h"

extern GR_GLOBAL GrPrivControl __gr_control;
GR_GLOBAL GrPrivControl __gr_control = {0};
#define CONTROL __gr_control

GR_SREG32(ntid_x, "ntid.x")
GR_SREG32(ntid_y, "ntid.y")
GR_SREG32(ntid_z, "ntid.z")
GR_SREG32(nctaid_x, "nctaid.x")
GR_SREG32(nctaid_y, "nctaid.y")

static GR_NOINLINE uint64_t gr_priv_block_number(void) {
    return gr_ctaid_x() + (uint64_t)nctaid_x() * (gr_ctaid_y() + (uint64_t)nctaid_y() * gr_ctaid_z());
}

static GR_NOINLINE uint32_t gr_priv_thread_number(void) {
    return gr_tid_x() + ntid_x() * (gr_tid_y() + ntid_y() * gr_tid_z());
}

GR_INLINE GR_GLOBAL uint32_t *slot_of_block(void) {
    return (GR_GLOBAL uint32_t *)CONTROL.slot_of + gr_priv_block_number();
}

GR_INLINE uint64_t slot_number(void) { return CONTROL.mode == GR_OF_WARPS ? *slot_of_block() - 1 : 0; }

GR_INLINE void fence(void) { __asm__ volatile("fence.acq_rel.gpu;" ::: "memory"); }

GR_INLINE uint64_t lines_of_slot(void) { return CONTROL.lines + slot_number() * CONTROL.lines_stride; }

// Blocks that have a slot are resident and give it back.
void __gr_enter(void) {
    GR_GLOBAL uint32_t *taken = (GR_GLOBAL uint32_t *)CONTROL.taken;
    uint64_t slots = CONTROL.slots, block = gr_priv_block_number(), k = block % slots;
    if (gr_priv_thread_number() || (CONTROL.ask.kind && CONTROL.ask.block != block))
        return;
    if (CONTROL.once) { // there is one for each
        gr_store32(slot_of_block(), (uint32_t)block + 1);
        return;
    }
    while (gr_compare_swap(&taken[k], 0, 1)) {
        k = k + 1 == slots ? 0 : k + 1;
        if (k != block % slots)
            continue;
        if (gr_load32(
                &((GR_GLOBAL GrPrivLog *)CONTROL.log)->apart)) // a block that gave up does not give it back
            return;
        gr_sleep(2000);
    }
    fence();
    gr_store32(slot_of_block(), (uint32_t)k + 1);
    // The block before it may have ended with the other list.
    *(GR_GLOBAL volatile GrPrivLines *)(CONTROL.lines + k * CONTROL.lines_stride) =
        (GrPrivLines){0, {0, 0}, 0};
}

void __gr_leave(void) {
    if (gr_priv_thread_number() || CONTROL.once)
        return;
    fence();
    gr_store32((GR_GLOBAL uint32_t *)CONTROL.taken + slot_number(), 0);
}

uint64_t __gr_mine(void) {
    int warps = CONTROL.mode == GR_OF_WARPS;
    uint64_t unit = warps ? gr_priv_thread_number() / CONTROL.threads : gr_priv_block_number();
    if (warps && !gr_load32(slot_of_block()))
        return 0;
    return CONTROL.copies + slot_number() * CONTROL.slot_stride +
           (2 + unit / CONTROL.divide % CONTROL.privates) * CONTROL.stride;
}

uint64_t __gr_lines(void) { return flag_at(lines_of_slot(), 0); }

void __gr_line(uint64_t line) {
    GR_GLOBAL GrPrivLines *of = (GR_GLOBAL GrPrivLines *)lines_of_slot();
    uint64_t n_lines = CONTROL.span >> GR_LINE_SHIFT;
    GR_GLOBAL uint32_t *flag = (GR_GLOBAL uint32_t *)flag_at(lines_of_slot(), line);
    uint32_t list = gr_load32(&of->now);
    for (uint32_t was = gr_load32(flag); !(was & LINE_LISTED);) {
        uint32_t seen = gr_compare_swap(flag, was, was | LINE_LISTED);
        if (seen == was) {
            uint32_t k = gr_add32(&of->count[list], 1);
            gr_store32((GR_GLOBAL uint32_t *)flag_at(lines_of_slot(), n_lines * (1 + list) + k),
                       (uint32_t)line);
            return;
        }
        was = seen;
    }
}

uint32_t __gr_asks(void) {
    return CONTROL.ask.kind && (CONTROL.mode == GR_OF_BLOCKS || CONTROL.ask.block == gr_priv_block_number());
}

static GR_NOINLINE void gr_priv_outside(uint64_t a) {
    gr_store64(&((GR_GLOBAL GrPrivLog *)CONTROL.log)->outside, a | 1);
}

void __gr_over(void) { gr_store32(&((GR_GLOBAL GrPrivLog *)CONTROL.log)->over, 1); }

#define IS_IN(name, space)                                                                                   \
    GR_INLINE int name(uint64_t a) {                                                                         \
        uint32_t yes;                                                                                        \
        __asm__("{ .reg .pred p; isspacep." space " p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(yes) : "l"(a));   \
        return (int)yes;                                                                                     \
    }
IS_IN(is_local, "local")
IS_IN(is_const, "const")

// The offset in a copy of global memory; ~0: it is in none.
static GR_NOINLINE uint64_t gr_priv_offset_of(uint64_t a, uint32_t size) {
    if (a - CONTROL.arena < CONTROL.arena_bytes)
        return CONTROL.shared_bytes + (a - CONTROL.arena);
    uint32_t low = 0, high = CONTROL.n_extents;
    while (low < high) { // the last one that begins at or before it
        uint32_t middle = (low + high) / 2;
        if (((GR_GLOBAL GrPrivExtent *)CONTROL.extents)[middle].at <= a)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low)
        return ~UINT64_C(0);
    GR_GLOBAL GrPrivExtent *e = (GR_GLOBAL GrPrivExtent *)CONTROL.extents + (low - 1);
    return a - e->at < e->size && size <= e->size - (a - e->at) ? e->offset + (a - e->at) : ~UINT64_C(0);
}

uint64_t __gr_at(uint64_t a, uint64_t mine, uint32_t what) {
    uint32_t space = what & GR_AT_SPACE;
    uint64_t offset = ~UINT64_C(0), in;
    if (space == GR_AT_GENERIC && (is_local(a) || is_const(a)))
        return a;
    if (space == GR_AT_GENERIC && gr_is_shared(a, &in)) {
        if (CONTROL.mode == GR_OF_BLOCKS)
            return a;
        space = GR_AT_SHARED;
        a = in;
    }
    if (space != GR_AT_SHARED)
        offset = gr_priv_offset_of(a, what >> GR_AT_SIZE);
    else if (a < CONTROL.shared_bytes)
        offset = a;
    if (offset == ~UINT64_C(0)) {
        gr_priv_outside(a);
        return 0;
    }
    if (what & GR_AT_STORE)
        __gr_line(offset >> GR_LINE_SHIFT);
    return mine + offset;
}

GR_INLINE void touch(uint64_t offset, uint64_t mine, uint32_t size, uint8_t how) {
    GR_ROLLED for (uint64_t word = offset / 4; word <= (offset + size - 1) / 4; word++) {
        uint64_t at = mine + CONTROL.span + word;
        put_byte(at, byte_at(at) | how);
    }
}

void __gr_stored(uint64_t at, uint64_t mine, uint32_t size) {
    if (at - mine < CONTROL.span)
        touch(at - mine, mine, size, GR_STORED);
}

uint32_t __gr_once(void) { return CONTROL.once; }

void __gr_done(uint64_t stores, uint64_t mine) {
    uint64_t slot = CONTROL.copies, copy = (mine - slot) / CONTROL.stride - 2;
    gr_count((GR_GLOBAL uint64_t *)CONTROL.sums + (CONTROL.pass - 1) * CONTROL.privates + copy, stores);
}

uint64_t __gr_updated(uint64_t at, uint64_t mine, uint32_t pass, uint32_t size) {
    uint64_t offset = at - mine;
    if (offset >= CONTROL.span)
        return 0;
    touch(offset, mine, size, GR_UPDATED);
    return CONTROL.mode == GR_OF_WARPS && (pass == 2 || CONTROL.once)
               ? CONTROL.copies + slot_number() * CONTROL.slot_stride + offset
               : 0;
}

// Lanes that store to one place at once (the GRace papers' check of a warp, LDetector's section 4.7): the last one's value stays, and there
// is a race.
uint32_t __gr_lanes(uint32_t site, uint64_t at, uint32_t what, uint64_t value, uint64_t mine, uint32_t pass,
                    uint32_t sequence) {
    uint32_t lanes = gr_active_mask(), same = gr_match_any(lanes, at),
             equal = gr_match_any(lanes, value) & same;
    uint32_t lane = gr_lane(), first = (uint32_t)__builtin_ctz(same);
    uint64_t offset = at - mine;
    if (offset >= CONTROL.span) // local memory, by a generic address
        return 1;
    if (same != 1u << lane && lane == first && pass == 1) {
        uint32_t others = equal != same ? same & ~equal : same & ~(1u << lane);
        uint32_t other = (uint32_t)__builtin_ctz(others), thread = gr_priv_thread_number();
        gr_priv_found(CONTROL.log, &(GrPrivFound){.kind = GR_FOUND_LANES,
                                                  .region = site,
                                                  .copy = {thread, thread - lane + other},
                                                  .size = what >> GR_AT_SIZE,
                                                  .same = equal == same,
                                                  .offset = offset,
                                                  .block = gr_priv_block_number(),
                                                  .sequence = sequence,
                                                  .bytes = what >> GR_AT_SIZE,
                                                  .copies = 1});
    }
    return !(same >> lane >> 1);
}

uint64_t __gr_updates_all(uint64_t at, uint64_t mine, uint32_t size) {
    uint64_t offset = at - mine;
    (void)size;
    return CONTROL.once && offset < CONTROL.span && offset >= CONTROL.shared_bytes ? CONTROL.sum + offset : 0;
}

GR_INLINE uint32_t copy_number(uint64_t mine) {
    uint64_t slot = CONTROL.copies + slot_number() * CONTROL.slot_stride;
    return (uint32_t)((mine - slot) / CONTROL.stride) - 2;
}

// A lane may wait for one that has ended: a warp's operations go without lanes that have. Here it has not, so it must not wait for ever at the end of
// the region. `ends`: how many regions the thread has ended.
uint32_t __gr_gather(uint32_t ends) {
    GR_GLOBAL GrPrivLines *of = (GR_GLOBAL GrPrivLines *)lines_of_slot();
    uint32_t all = ntid_x() * ntid_y() * ntid_z() * ends;
    GR_GLOBAL uint32_t *apart = &((GR_GLOBAL GrPrivLog *)CONTROL.log)->apart;
    gr_add32(&of->arrived, 1);
    GR_ROLLED for (uint32_t k = 0; k < 4096 && !gr_load32(apart); k++) { // 80 ms; once for all
        if (gr_load32(&of->arrived) >= all)
            return 1;
        gr_sleep(20000);
    }
    gr_store32(apart, 1);
    return 0;
}

// In pass 2: whether the byte that the copy has there is what others wrote.
static GR_NOINLINE int gr_priv_is_of_others(uint64_t slot, uint64_t mine, uint64_t at, uint32_t copy) {
    uint64_t united = slot + CONTROL.stride;
    if (!(word_at(flag_at(lines_of_slot(), at >> GR_LINE_SHIFT)) & LINE_MERGED))
        return 0; // nobody wrote in this line, and the union is not made
    uint8_t owner = byte_at(united + CONTROL.span + at / 4);
    if (owner == OWNER_UPDATED)
        return 1;
    return owner && owner != owner_of(copy) && byte_at(slot + at) != byte_at(united + at) &&
           byte_at(mine + at) == byte_at(united + at);
}

void __gr_look(uint32_t site, uint64_t at, uint32_t what, uint64_t value, uint64_t mine, uint32_t pass,
               uint32_t sequence) {
    GR_GLOBAL GrPrivAsk *ask = &CONTROL.ask;
    uint64_t slot = CONTROL.copies + slot_number() * CONTROL.slot_stride, offset = at - mine;
    uint32_t copy = copy_number(mine), size = what >> GR_AT_SIZE, store = what & GR_AT_STORE;
    if (offset >= CONTROL.span || (CONTROL.mode == GR_OF_WARPS && sequence != ask->sequence))
        return;
    if (CONTROL.mode == GR_OF_BLOCKS)
        pass = CONTROL.pass;
    uint64_t found = offset;
    if (ask->kind == GR_ASK_WHO) {
        if (pass != 1 || ask->offset - offset >= size)
            return;
    } else {
        if (pass != 2 || !(ask->copies >> copy % 64 & 1) || store)
            return;
        uint64_t end = offset + size;
        while (found < end && !gr_priv_is_of_others(slot, mine, found, copy))
            found++;
        if (found == end)
            return;
    }
    GR_GLOBAL GrPrivLog *log = (GR_GLOBAL GrPrivLog *)CONTROL.log;
    GR_ROLLED for (uint32_t k = 0; k < GR_MOST_SEEN; k++) {
        GR_GLOBAL GrPrivSeen *s = &log->seen[k];
        uint32_t state = gr_compare_swap(&s->state, 0, 1);
        if (state == 0) {
            s->site = site;
            s->copy = copy;
            s->what = what;
            s->offset = found;
            s->value = value;
            s->thread[0] = gr_tid_x();
            s->thread[1] = gr_tid_y();
            s->thread[2] = gr_tid_z();
            s->block[0] = gr_ctaid_x();
            s->block[1] = gr_ctaid_y();
            s->block[2] = gr_ctaid_z();
            gr_store32(&s->state, 2);
            return;
        }
        if (gr_load32(&s->state) == 2 && s->site == site && (s->copy == copy || ask->kind == GR_ASK_READS))
            return;
    }
}

void __gr_differs(uint32_t region, uint64_t mine, uint32_t sequence) {
    uint32_t copy = copy_number(mine);
    gr_priv_found(CONTROL.log, &(GrPrivFound){.kind = GR_FOUND_READ,
                                              .region = region,
                                              .copy = {copy, copy},
                                              .block = gr_priv_block_number(),
                                              .sequence = sequence,
                                              .copies = (uint64_t)1 << copy % 64});
}

static GR_NOINLINE void gr_priv_lines_of_block(uint32_t region, uint32_t sequence, int merges) {
    uint64_t slot = CONTROL.copies + slot_number() * CONTROL.slot_stride;
    Slot s = {.base = slot,
              .united = slot + CONTROL.stride,
              .privates = slot + 2 * CONTROL.stride,
              .stride = CONTROL.stride,
              .span = CONTROL.span,
              .lines = lines_of_slot(),
              .n_lines = CONTROL.span >> GR_LINE_SHIFT,
              .log = CONTROL.log,
              .changed = CONTROL.changed,
              .n = CONTROL.privates,
              .region = region,
              .block = gr_priv_block_number(),
              .sequence = sequence,
              .commits = 1,
              .once = (int)CONTROL.once};
    Team t = {gr_priv_thread_number(), ntid_x() * ntid_y() * ntid_z()};
    gr_priv_all_lines(&s, &t, merges);
}

void __gr_merge(uint32_t region, uint32_t sequence) { gr_priv_lines_of_block(region, sequence, 1); }
void __gr_check(uint32_t region, uint32_t sequence) { gr_priv_lines_of_block(region, sequence, 0); }
