// SPDX-License-Identifier: Apache-2.0
// talk — what strong accesses pass on, on the CPU device. Device code only; part of order.h.
//
// Without this each acquire may come from every release before it. On the CPU device strong accesses leave at their
// place the numbers of the releases that their block made or may have heard of, and hear what others left there. Reads
// leave theirs, too, as a later write says which of two fence.sc came first. What the host says comes by the system's
// scope, and may be anything.
#ifndef GR_ENGINES_TRACKER_DEVICE_TALK_H
#define GR_ENGINES_TRACKER_DEVICE_TALK_H

GR_INLINE void hear(const Me *m, uint32_t n) {
    gr_max64(&gr_block_state(m->block)->word[HEARD], with_launch(m->launch, n));
}

GR_INLINE uint32_t own_word(const Me *m, unsigned k) {
    uint64_t w = gr_load64(&gr_block_state(m->block)->word[k]);
    return w >> 32 == m->launch ? (uint32_t)w : 0;
}

#ifdef GR_SEQUENTIAL
static void talk_at(const Me *m, uint32_t slot) {
    GR_GLOBAL GrTalk *t = (GR_GLOBAL GrTalk *)GR_CONTROL.talks + slot;
    uint32_t me = (m->block * (gr_ntid_x() * gr_ntid_y() * gr_ntid_z()) + m->tid + 1) ^ m->launch * GR_PLACES;
    uint32_t most = gr_load32(&t->most), next = gr_load32(&t->next);
    int mine = gr_load32(&t->by) == me;
    hear(m, mine ? next : most);
    uint32_t heard = own_word(m, HEARD), own = own_word(m, LAST_NUMBER), n = heard > own ? heard : own;
    if (n > most) {
        gr_store32(&t->most, n);
        gr_store32(&t->by, me);
        next = mine ? next : most;
    } else if (!mine) {
        next = n > next ? n : next;
    }
    gr_store32(&t->next, next);
    gr_store64(&m->state->word[TALKED].is, with_launch(m->launch, slot));
}
#endif

// The block may have heard of everything that was released until now.
GR_INLINE void hear_all(const Me *m) {
#ifdef GR_SEQUENTIAL
    if (GR_CONTROL.talks)
        hear(m, gr_load32((GR_GLOBAL uint32_t *)GR_CONTROL.numbers));
#else
    (void)m;
#endif
}

// Called before a strong access, and behind one that reads.
GR_INLINE void talk(uint32_t what, uint64_t at) {
#ifdef GR_SEQUENTIAL
    uint32_t strength = what >> GR_WHAT_STRENGTH & 7, owner;
    if (!GR_CONTROL.area || !GR_CONTROL.talks || strength == GR_WEAK || strength == GR_ASYNC)
        return;
    Me m = gr_me();
    int shared = gr_shared_owner(what >> GR_WHAT_SPACE & 3, m.block, &at, &owner);
    if (strength >= GR_STRONG_SYS)
        hear_all(&m);
    for (uint32_t done = 0; done < (what & 0xff); done += 4)
        talk_at(&m, gr_talk_slot(at + done, shared ? owner + 1 : 0));
#else
    (void)what, (void)at;
#endif
}

#ifdef GR_SEQUENTIAL
// Notes what others learn, or the thread does, other than by strong accesses.
static void note_beside(const Me *m, uint32_t what, uint32_t syncs, int wide) {
    uint32_t kind = what & 0xf;
    int fence = kind == GR_ORDER_FENCE && wide;
    uint64_t beside = gr_load64(&m->state->word[BESIDE].is), high = beside >> 32;
    if ((what & GR_ORDER_RELEASES || kind == GR_ORDER_WARP) && !fence)
        beside = high << 32 | syncs;
    if (what & GR_ORDER_RELEASES && what & GR_ORDER_SC && fence)
        beside = (uint64_t)syncs << 32 | (uint32_t)beside;
    gr_store64(&m->state->word[BESIDE].is, beside);
    uint64_t talked = gr_load64(&m->state->word[TALKED].is);
    if (what & GR_ORDER_RELEASES && GR_CONTROL.talks && talked >> 32 == m->launch)
        talk_at(m, (uint32_t)talked); // an access that releases was told before its release got a number
    if (what & GR_ORDER_TOLD || (what & GR_ORDER_ACQUIRES && kind != GR_ORDER_FENCE && kind != GR_ORDER_WARP))
        hear_all(m);
}
#endif

#endif
