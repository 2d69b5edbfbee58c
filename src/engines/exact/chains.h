// SPDX-License-Identifier: Apache-2.0
// chains — histories of words (shadow.h): their entries, newest first, and what is known of all entries from one on.
#ifndef GR_ENGINES_EXACT_CHAINS_H
#define GR_ENGINES_EXACT_CHAINS_H

#include "engines/exact/shadow.h"

typedef struct Entry {
    uint32_t stamp, lanes, bytes;
    // The bytes that changed since the next older entry: by this one, or by an entry whose place it took. For the
    // oldest entry the field means nothing.
    uint32_t changed;
} Entry;

// Takes the newest entry off *h. False when there is none.
static inline bool gr_history_next(const Shadow *s, History *h, Entry *e) {
    if (!*h)
        return false;
    if (!(*h >> 31)) {
        *e = (Entry){*h >> 5, UINT32_C(1) << (*h & 31), ALL_BYTES, ALL_BYTES};
        *h = 0;
        return true;
    }
    const Node *n = &s->nodes.data[*h & INT32_MAX];
    *e = (Entry){n->stamp, n->lanes, n->bytes, n->changed};
    *h = n->rest;
    return true;
}

// True: all from *h on are counted with that site; *h moves behind them.
static inline bool gr_history_pass_counted(const Shadow *s, History *h, uint32_t site) {
    if (!(*h >> 31) || s->nodes.data[*h & INT32_MAX].counted != site)
        return false;
    *h = s->nodes.data[*h & INT32_MAX].uncounted;
    return true;
}
static inline void gr_history_note_counted(Shadow *s, History h, uint32_t site, History uncounted) {
    if (!(h >> 31) || h == uncounted || site >> NODE_SITE_BITS)
        return;
    s->nodes.data[h & INT32_MAX].counted = site & ((1u << NODE_SITE_BITS) - 1);
    s->nodes.data[h & INT32_MAX].uncounted = uncounted;
}

// The stamp of the newest entry of a history that is not empty.
static inline uint32_t gr_history_stamp(const Shadow *s, History h) {
    return h >> 31 ? s->nodes.data[h & INT32_MAX].stamp : h >> 5;
}

// How many entries may be added before the history should be tidied up.
static inline uint32_t gr_history_left(const Shadow *s, History h) {
    return h >> 31 ? s->nodes.data[h & INT32_MAX].left : 0;
}

// Yields the history from the last entry of those, newest first, that are weak accesses of one kind by one site in one
// launch. *steady: all the newer ones are compared stores that changed nothing.
static inline History gr_history_oldest_alike(const Shadow *s, History h, bool *steady) {
    const Node *n = h >> 31 ? &s->nodes.data[h & INT32_MAX] : NULL;
    *steady = !n || n->steady;
    return n && n->oldest && !s->stamps.data[n->stamp].strong ? n->oldest : h;
}

// A key of the site, the launch, the bytes and the kind of access: accesses with one key race alike. 0: there is none.
static inline uint64_t gr_stamp_site_key(const Stamp *s, uint32_t bytes) {
    enum { LAUNCH_BITS = 23, SITE_BITS = 26 };
    if (s->site >> SITE_BITS || s->at.launch >> LAUNCH_BITS)
        return 0;
    return (uint64_t)s->at.launch << 41 | (uint64_t)s->site << 15 | (uint64_t)(bytes & ALL_BYTES) << 11 |
           (uint64_t)(s->mark & 63) << 5 | (uint64_t)s->strong << 4 | (uint64_t)s->proxy << 2 | s->access;
}
static inline uint32_t gr_site_key_launch(uint64_t key) { return (uint32_t)(key >> 41); } // index
static inline uint32_t gr_site_key_bytes(uint64_t key) { return key >> 11 & ALL_BYTES; }
static inline uint64_t gr_site_key_of_all(uint64_t key) {
    return key & ~((uint64_t)ALL_BYTES << 11);
} // whatever the bytes
static inline bool gr_site_key_is_strong(uint64_t key) { return key >> 4 & 1; }
// The sites of all entries. NULL: they are many.
static inline const SiteSet *gr_history_sites(const Shadow *s, History h) {
    return gr_sites_get(&s->sites, h >> 31 ? s->nodes.data[h & INT32_MAX].sites
                                   : h     ? SITES_MANY
                                           : SITES_NONE);
}
// The bytes that no entry but the oldest changed; none unless all entries are compared stores.
static inline uint32_t gr_history_still(const Shadow *s, History h) {
    return h >> 31                                              ? s->nodes.data[h & INT32_MAX].still
           : !h || s->stamps.data[h >> 5].mark & STAMP_COMPARED ? ALL_BYTES
                                                                : 0;
}
// All entries are weak, of the same warp and launch as the newest, of lanes of that one, and of no later epochs.
static inline bool gr_history_is_alone(const Shadow *s, History h) {
    return h >> 31 ? s->nodes.data[h & INT32_MAX].alone : !h || !s->stamps.data[h >> 5].strong;
}

// What all entries of a history have in common: strong operations of the generic proxy, of the device's scope or wider,
// on elements of 1 << (strong - 1) bytes. Such are morally strong with each other on one device. strong 0: not so.
typedef struct Alike {
    uint32_t strong; // the size, as a power of two and 1; ALIKE_SIZELESS: they go with any; 0: they are not
    bool some_volatile;
    bool one_site; // all are of the site of the newest
    bool narrow;   // some reach the threads of one device only
    bool sizeless; // some are the host's, which go with any size, and reach all
} Alike;
enum { ALIKE_SIZELESS = 7 };
static inline Alike gr_stamp_alike(const Stamp *s) {
    bool narrow = s->scope < SAME_SYSTEM, sizeless = !s->elem;
    bool is = s->strong && s->proxy == VM_PROXY_GENERIC && s->scope >= SAME_DEVICE && !(narrow && sizeless);
    uint32_t size = sizeless ? ALIKE_SIZELESS : (uint32_t)__builtin_ctz(s->elem) + 1;
    return (Alike){is ? size : 0, s->mark & STAMP_VOLATILE, true, narrow, sizeless};
}
// What the accesses of a and b have in common; the caller sets `one_site`.
static inline Alike gr_alike_both(Alike a, Alike b) {
    uint32_t size = a.strong == ALIKE_SIZELESS ? b.strong : a.strong;
    bool same = size == b.strong || b.strong == ALIKE_SIZELESS;
    Alike both = {same ? size : 0, a.some_volatile || b.some_volatile, false, a.narrow || b.narrow,
                  a.sizeless || b.sizeless};
    if (both.narrow && both.sizeless)
        both.strong = 0;
    return both;
}
static inline Alike gr_history_alike(const Shadow *s, History h) {
    if (!(h >> 31))
        return gr_stamp_alike(&s->stamps.data[h >> 5]);
    const Node *n = &s->nodes.data[h & INT32_MAX];
    return (Alike){n->strong, n->some_volatile, n->one_site, n->narrow, n->sizeless};
}

// The entry is a strong operation that reads: what came before the value that it read may be known through it (judge.c,
// `observed`).
static inline bool gr_stamp_observes(const Stamp *s) { return s->strong && s->access != PTX_ACCESS_WRITE; }
static inline bool gr_history_observes(const Shadow *s, History h) {
    return h >> 31 ? s->nodes.data[h & INT32_MAX].observes : h && gr_stamp_observes(&s->stamps.data[h >> 5]);
}

// h has been tidied up: `left` more entries may be added.
static inline void gr_history_tidied(Shadow *s, History h, size_t left) {
    if (h >> 31)
        s->nodes.data[h & INT32_MAX].left = left < HISTORY_LEFT ? left & HISTORY_LEFT : HISTORY_LEFT;
}

// h is a node that only one word, or one node, refers to.
static inline bool gr_history_is_unshared(const Shadow *s, History h) {
    return h >> 31 && s->nodes.data[h & INT32_MAX].refs == 1;
}

// Yields h and one more entry, as a reference of the caller's own.
History gr_history_push(Shadow *s, History h, Entry e, bool intern);
void gr_history_free(Shadow *s, History h); // a chain whose last reference goes

static inline void gr_history_release(Shadow *s, History h) {
    if (h >> 31 && --s->nodes.data[h & INT32_MAX].refs == 0)
        gr_history_free(s, h);
}

static inline History gr_history_retain(Shadow *s, History h) {
    if (h >> 31)
        s->nodes.data[h & INT32_MAX].refs++;
    return h;
}

#endif
