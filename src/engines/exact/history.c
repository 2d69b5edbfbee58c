// SPDX-License-Identifier: Apache-2.0
// history — what of earlier accesses to a word has to be remembered when another one comes.
#include "engines/exact/exact_internal.h"

#include "base/rng.h"

// OBSERVERS_MAX: at most so many entries are kept only for what they have seen. LOOKED_AT: so many strong reads are, as
// a thread's others are left out later (read_since).
enum { NEWEST = 16, LOOKED_AT = 4, SEEN = 1 << 8, OBSERVERS_MAX = 16 };

bool gr_exact_all_over(const Exact *x, const Access *a, History h) {
    Entry e;
    while (gr_history_next(&x->shadow, &h, &e))
        if (!gr_exact_is_over(x, a, &x->shadow.stamps.data[e.stamp]))
            return false;
    return true;
}

// The lanes of `e` that a later access may race with and not race with the current one too. The current access makes a
// lane of its own site and kind superfluous if it covers the bytes and comes after. *seen: accesses that come after
// older ones only because e observed those still need e (`observed`).
static uint32_t still_needed(const Exact *x, Access *a, const Entry *e, uint32_t bytes, bool chain,
                             bool *seen) {
    const Stamp *mine = &x->shadow.stamps.data[a->stamp], *t = &x->shadow.stamps.data[e->stamp];
    *seen = false;
    if (gr_exact_is_over(x, a, t)) {
        a->gone = e->stamp;
        return 0;
    }
    if ((e->bytes & ~bytes) || !gr_exact_same_kind(t, mine))
        return e->lanes;
    // A read-modify-write comes after the one whose value it saw, for all that come after itself (`observed`).
    if (chain && t->strong && t->access == PTX_ACCESS_RMW && gr_exact_morally_strong(x, mine, t) &&
        (t->at.id == mine->at.id || (t->scope >= SAME_DEVICE && !x->narrow))) {
        *seen = true;
        return 0;
    }
    if ((a->late && mine->access != PTX_ACCESS_WRITE) ||
        (t->strong && t->at.id != mine->at.id && (t->scope < SAME_DEVICE || x->narrow)))
        return e->lanes;
    if (gr_exact_knows_stamp(x, a, e->stamp, t)) {
        if (a->known == e->stamp)
            a->gone = e->stamp;
        return 0;
    }
    if (gr_exact_is_apart(x, a, t))
        return e->lanes;
    uint32_t left = 0;
    for (uint32_t m = e->lanes; m; m &= m - 1)
        if (!gr_order_knows(&x->order, &a->view, &t->at, (uint32_t)__builtin_ctz(m)))
            left |= m & -m;
    return left;
}

// The bytes that the access changes. Only older entries make that matter, as it costs something to find out. Single
// bytes are compared only where accesses to parts of the word meet.
static uint32_t changed_by(const Exact *x, Access *a, uint32_t lanes, uint64_t word, uint32_t bytes,
                           bool parts) {
    if (a->asked)
        return a->changed;
    const Stamp *s = &x->shadow.stamps.data[a->stamp];
    uint32_t lane = (uint32_t)__builtin_ctz(lanes);
    a->asked = true;
    a->changed = s->access == PTX_ACCESS_READ ? 0 : bytes;
    if (s->access == PTX_ACCESS_READ || !(s->mark & STAMP_COMPARED))
        return a->changed;
    if (gr_exact_is_silent(a, lane, word, bytes))
        return a->changed = 0;
    for (uint32_t m = parts ? bytes : 0; m; m &= m - 1)
        if (gr_exact_is_silent(a, lane, word, m & -m))
            a->changed &= ~(m & -m);
    return a->changed;
}

static bool is_strong_rmw(const Exact *x, uint32_t stamp) {
    const Stamp *s = &x->shadow.stamps.data[stamp];
    return s->strong && s->access == PTX_ACCESS_RMW;
}

// An older entry of the same thread has observed all that entry k of the scratch has.
static bool observes_nothing_new(const Exact *x, size_t k) {
    const Entry *e = &x->scratch.data[k];
    const Stamp *s = &x->shadow.stamps.data[e->stamp];
    for (size_t n = k + 1; n < x->scratch.len; n++) {
        const Entry *old = &x->scratch.data[n];
        const Stamp *t = &x->shadow.stamps.data[old->stamp];
        if (!(old->bytes & SEEN) && t->strong)
            return false; // the older entry has not observed this one
        if ((old->bytes & SEEN) && old->lanes == e->lanes && t->site == s->site && t->at.id == s->at.id &&
            t->at.warp == s->at.warp)
            return true;
    }
    return false;
}

static bool interns(const Exact *x, const Access *a) {
    const Stamp *s = &x->shadow.stamps.data[a->stamp];
    // The next atomic operation takes the place of this one, and threads that poll have an entry each: neither would be
    // shared.
    return !a->owner && !(s->strong && s->access != PTX_ACCESS_WRITE);
}

// Yields the history with one more entry, for a word. It is not interned where no other word has h.
static History with(Exact *x, const Access *a, History h, Entry e) {
    return gr_history_push(&x->shadow, h, e, interns(x, a) && !gr_history_is_unshared(&x->shadow, h));
}

static void push(Exact *x, const Access *a, History *h, Entry e) {
    e.bytes &= ALL_BYTES;
    History longer = gr_history_push(&x->shadow, *h, e, interns(x, a));
    gr_history_release(&x->shadow, *h);
    *h = longer;
}

// ---- Reads of one thread --------------------------------------------------------------------------------------------

// Of the reads of one thread by one instruction the newest is enough: an access that comes after the newest comes after
// all of them. So a place that threads poll is remembered once for each thread, however often the thread looks.
static ReadBy *read_by(Exact *x, const Stamp *t, uint32_t bytes) {
    size_t mask = x->readers.len - 1;
    uint64_t h = gr_mix64((t->at.id << 5 | t->at.warp) * UINT64_C(0x9e3779b97f4a7c15) +
                          ((uint64_t)t->site << 12 | (uint64_t)t->mark << 4 | bytes));
    for (size_t k = h & mask;; k = (k + 1) & mask) {
        ReadBy *r = &x->readers.data[k];
        if (!r->lanes)
            *r = (ReadBy){t->at.id, t->site, (uint16_t)t->at.warp, t->mark, (uint8_t)bytes, 0};
        if (!r->lanes || (r->id == t->at.id && r->warp == t->at.warp && r->site == t->site &&
                          r->mark == t->mark && r->bytes == bytes))
            return r;
    }
}

// Makes room for all entries of h and one more. False: there is none, or h is short.
static bool begin_readers(Exact *x, History h) {
    size_t n = 0, cap = 1;
    for (Entry e; gr_history_next(&x->shadow, &h, &e);)
        n++;
    if (n < 8)
        return false;
    while (cap < 2 * (n + 1))
        cap *= 2;
    x->readers.len = 0;
    for (size_t k = 0; k < cap; k++)
        if (!gr_vec_push(&x->readers, (ReadBy){.lanes = 0}))
            return false;
    return true;
}

// The lanes of the entry that have read since. From now on all of its lanes count as readers.
static uint32_t read_since(Exact *x, const Entry *e) {
    ReadBy *r = read_by(x, &x->shadow.stamps.data[e->stamp], e->bytes);
    uint32_t before = r->lanes & e->lanes;
    r->lanes |= e->lanes;
    return before;
}

// ---- What is kept ---------------------------------------------------------------------------------------------------

// A history of n entries has just been tidied up: it may grow by as many as pay for that. (By twice as many if tidying
// a strong access's history removed nothing: others poll the place too. Weak ones find more to leave out soon.)
static History tidied(Exact *x, History h, size_t n) {
    gr_history_tidied(&x->shadow, h, n > 4 ? n : 0);
    return h;
}

// Yields a history of all that is still needed, with the access as the newest. The changes of an entry that goes count
// as the next newer one's.
static History tidy(Exact *x, Access *a, History h, uint32_t lanes, uint64_t word, uint32_t bytes) {
    Entry e, mine = {a->stamp, lanes, bytes, 0}; // changed: as far as it takes the place of others
    bool compared = x->shadow.stamps.data[a->stamp].mark & STAMP_COMPARED;
    bool chain = true, same = true, parts = false;
    uint32_t *newer = &mine.changed;
    // Stores of different values stay apart, to tell which later store stores the same; atomic operations do, as their
    // order tells which saw which.
    bool rmw = is_strong_rmw(x, a->stamp), merges = !rmw, seen = false,
         strong = x->shadow.stamps.data[a->stamp].strong;
    bool reads = x->shadow.stamps.data[a->stamp].access == PTX_ACCESS_READ && begin_readers(x, h);
    x->scratch.len = 0;
    if (reads)
        (void)read_since(x, &mine);
    for (History rest = h; gr_history_next(&x->shadow, &rest, &e);) {
        bool again = e.stamp == a->stamp && e.bytes == bytes;
        parts |= e.bytes != bytes;
        if (again && merges && (!compared || !changed_by(x, a, lanes, word, bytes, true))) {
            mine.lanes |= e.lanes;
            *newer |= e.changed;
            same = false;
            continue;
        }
        uint32_t since = reads ? read_since(x, &e) : 0;
        e.lanes &= ~since;
        same &= !since;
        if (!e.lanes)
            continue;
        uint32_t needed = again && (!rmw || e.lanes == mine.lanes)
                              ? e.lanes & ~mine.lanes
                              : still_needed(x, a, &e, bytes, chain, &seen);
        same &= needed == e.lanes;
        e.lanes = seen ? e.lanes : needed;
        e.bytes |= seen ? SEEN : 0;
        seen = false;
        chain &= x->shadow.stamps.data[e.stamp].access == PTX_ACCESS_RMW;
        merges &= !(e.changed & bytes) || !compared;
        if (!e.lanes) {
            *newer |= e.changed;
            continue;
        }
        if (!gr_vec_push(&x->scratch, e)) {
            x->nomem = true;
            continue;
        }
        newer = &x->scratch.data[x->scratch.len - 1].changed;
    }
    if (same) {
        mine.changed |= h ? changed_by(x, a, lanes, word, bytes, parts) : bytes;
        return tidied(x, with(x, a, h, mine), (strong ? 2 : 1) * (x->scratch.len + 1));
    }
    History now = 0;
    size_t n = 1;
    uint32_t observers = 0;
    bool observable = false;
    for (size_t k = x->scratch.len; k-- > 0;) {
        Entry *next = &x->scratch.data[k];
        if ((next->bytes & SEEN) &&
            (!observable || observers == OBSERVERS_MAX || observes_nothing_new(x, k))) {
            next->lanes = 0;
            *(k ? &next[-1].changed : &mine.changed) |= next->changed;
            continue;
        }
        observers += (next->bytes & SEEN) != 0;
        const Stamp *t = &x->shadow.stamps.data[next->stamp];
        observable |= !(next->bytes & SEEN) && t->strong && t->access != PTX_ACCESS_READ;
        push(x, a, &now, *next);
        n++;
    }
    mine.changed |= now ? changed_by(x, a, lanes, word, bytes, parts) : bytes;
    push(x, a, &now, mine);
    return tidied(x, now, n);
}

// How many of the newest entries to search for the stamp. A stamp of this event can only be in the newest one.
static unsigned newest_of(const Exact *x, uint32_t stamp, unsigned newest) {
    return x->shadow.stamps.data[stamp].first == x->moment ? 1 : newest;
}

// The lanes have read the place before, as a thread that polls in a loop does.
static bool has_read(const Exact *x, History h, uint32_t stamp, uint32_t lanes, uint32_t bytes) {
    Entry e;
    const Shadow *s = &x->shadow;
    unsigned newest = newest_of(x, stamp, s->stamps.data[stamp].strong ? LOOKED_AT : NEWEST);
    for (unsigned k = 0; k < newest && gr_history_next(s, &h, &e); k++)
        if (e.stamp == stamp && !(bytes & ~e.bytes) && !(lanes & ~e.lanes))
            return true;
    return false;
}

// A history is tidied up when it has doubled since the last time, so that this costs little for each access.
History gr_exact_remember(Exact *x, Access *a, History h, uint32_t lanes, uint64_t word, uint32_t bytes) {
    if (h >> 5 == a->stamp && !(lanes & ~(UINT32_C(1) << (h & 31))))
        return h;
    a->asked = false;
    Entry e;
    Shadow *sh = &x->shadow;
    if (gr_exact_reads_apart(a, &sh->stamps.data[a->stamp])) {
        uint64_t other = 0;
        History rest = h;
        for (unsigned k = 0; k < NEWEST && gr_history_next(sh, &rest, &e); k++)
            if (!(bytes & ~e.bytes) &&
                gr_exact_is_told(x, &sh->stamps.data[a->stamp], &sh->stamps.data[e.stamp], &other))
                return gr_history_retain(sh, h);
    }
    bool reads = sh->stamps.data[a->stamp].access == PTX_ACCESS_READ;
    if (reads && has_read(x, h, a->stamp, lanes, bytes))
        return gr_history_retain(sh, h);
    if (!gr_history_left(sh, h))
        return tidy(x, a, h, lanes, word, bytes);
    History newest = h;
    bool parts = gr_history_next(sh, &newest, &e) && e.bytes != bytes;
    Entry mine = {a->stamp, lanes, bytes, changed_by(x, a, lanes, word, bytes, parts)};
    bool rmw = is_strong_rmw(x, a->stamp),
         merges = !rmw && (!mine.changed || !(sh->stamps.data[a->stamp].mark & STAMP_COMPARED));
    History rest = h;
    unsigned newest_ones = reads ? 0 : rmw ? 1 : newest_of(x, a->stamp, NEWEST);
    for (unsigned k = 0; k < newest_ones && gr_history_next(sh, &rest, &e); k++)
        if (e.stamp == a->stamp && !(bytes & ~e.bytes) && !(lanes & ~e.lanes) &&
            (merges || (!k && !(mine.changed & ~e.changed) && e.lanes == lanes)))
            return gr_history_retain(sh, h);
    rest = h;
    (void)gr_history_next(sh, &rest, &e);
    if (merges && e.stamp == a->stamp && e.bytes == bytes) {
        e.lanes |= lanes;
        return with(x, a, rest, e);
    }
    return with(x, a, h, mine);
}
