// SPDX-License-Identifier: Apache-2.0
// clock — see clock.h.
#include "exact/clock.h"

#include <stdlib.h>

enum { BITS = 4, WAYS = 16 };

// A slot is an entry or, where the node's `child` bit is set, a deeper node.
typedef union Slot {
    struct {
        uint64_t key; // mixed
        uint32_t value;
    } leaf;
    Clock *child;
} Slot;

struct Clock {
    uint32_t refs;
    uint16_t used, child; // which of the 16 ways are there; which of them are nodes
    Slot slot[];
};

static bool starved;
static uint64_t bytes; // of all nodes, as asked for

uint64_t gr_clock_bytes(void) { return bytes; }

bool gr_clock_starved(void) { return starved; }

// Invertible, so that two keys differ somewhere in their 16 digits.
static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

// The inverses of the two constants modulo 2^64.
static uint64_t unmix(uint64_t z) {
    z ^= z >> 31 ^ z >> 62;
    z *= 0x319642b2d24d8ec3u;
    z ^= z >> 27 ^ z >> 54;
    z *= 0x96de1b173f119089u;
    return z ^ z >> 30 ^ z >> 60;
}

static unsigned digit(uint64_t key, unsigned depth) { return (unsigned)(key >> (BITS * depth)) & (WAYS - 1); }

// Bits of 16: without an instruction for it, the builtin is a call.
static unsigned count_bits(unsigned m) {
    m -= m >> 1 & 0x5555;
    m = (m & 0x3333) + (m >> 2 & 0x3333);
    m = (m + (m >> 4)) & 0x0f0f;
    return (m + (m >> 8)) & 31;
}

static unsigned place(const Clock *c, unsigned way) { return count_bits(c->used & ((1u << way) - 1)); }

static Clock *new_node(unsigned n) {
    Clock *c = malloc(sizeof *c + n * sizeof(Slot));
    if (!c) {
        starved = true;
        return NULL;
    }
    bytes += sizeof *c + n * sizeof(Slot);
    c->refs = 1;
    c->used = c->child = 0;
    return c;
}

static void free_node(Clock *c) {
    bytes -= sizeof *c + count_bits(c->used) * sizeof(Slot);
    free(c);
}

Clock *gr_clock_retain(Clock *c) {
    if (c)
        c->refs++;
    return c;
}

void gr_clock_release(Clock *c) {
    if (!c || --c->refs)
        return;
    for (unsigned m = c->used, k = 0; m; m &= m - 1, k++)
        if (c->child >> __builtin_ctz(m) & 1)
            gr_clock_release(c->slot[k].child);
    free_node(c);
}

uint32_t gr_clock_get(const Clock *c, uint64_t key) {
    key = mix(key);
    for (unsigned depth = 0; c; depth++) {
        unsigned way = digit(key, depth);
        if (!(c->used >> way & 1))
            return 0;
        const Slot *s = &c->slot[place(c, way)];
        if (!(c->child >> way & 1))
            return s->leaf.key == key ? s->leaf.value : 0;
        c = s->child;
    }
    return 0;
}

// ---- One entry -----------------------------------------------------------------------------------------------------

static Slot retained(const Clock *c, unsigned way) {
    Slot s = c->slot[place(c, way)];
    if (c->child >> way & 1)
        gr_clock_retain(s.child);
    return s;
}

// A copy of c in which `way` holds s, of which it takes the reference.
static Clock *replace(const Clock *c, unsigned way, Slot s, bool is_child) {
    unsigned used = c->used | 1u << way;
    Clock *n = new_node(count_bits(used));
    if (!n) {
        if (is_child)
            gr_clock_release(s.child);
        return NULL;
    }
    n->used = (uint16_t)used;
    n->child = (uint16_t)((c->child & ~(1u << way)) | (unsigned)is_child << way);
    for (unsigned m = used, k = 0; m; m &= m - 1, k++) {
        unsigned w = (unsigned)__builtin_ctz(m);
        n->slot[k] = w == way ? s : retained(c, w);
    }
    return n;
}

// Two entries with different keys, as a node.
static Clock *pair(Slot a, Slot b, unsigned depth) {
    unsigned x = digit(a.leaf.key, depth), y = digit(b.leaf.key, depth);
    Clock *n = new_node(x == y ? 1 : 2);
    if (!n)
        return NULL;
    n->used = (uint16_t)(1u << x | 1u << y);
    if (x != y) {
        n->slot[x > y] = a;
        n->slot[x < y] = b;
        return n;
    }
    n->child = n->used;
    n->slot[0].child = pair(a, b, depth + 1);
    if (n->slot[0].child)
        return n;
    free_node(n);
    return NULL;
}

// c itself (retained) when it says so already; NULL when memory is out.
static Clock *insert(Clock *c, Slot leaf, unsigned depth) {
    unsigned way = digit(leaf.leaf.key, depth);
    if (!(c->used >> way & 1))
        return replace(c, way, leaf, false);
    Slot *old = &c->slot[place(c, way)];
    Slot s = {.child = NULL};
    if (c->child >> way & 1) {
        s.child = insert(old->child, leaf, depth + 1);
        if (s.child == old->child) {
            gr_clock_release(s.child);
            return gr_clock_retain(c);
        }
    } else if (old->leaf.key == leaf.leaf.key) {
        return old->leaf.value >= leaf.leaf.value ? gr_clock_retain(c) : replace(c, way, leaf, false);
    } else {
        s.child = pair(*old, leaf, depth + 1);
    }
    return s.child ? replace(c, way, s, true) : NULL;
}

static Slot entry(uint64_t mixed, uint32_t v) {
    Slot s = {.leaf = {mixed, v}};
    return s;
}

Clock *gr_clock_with(Clock *c, uint64_t key, uint32_t v) {
    if (!v)
        return gr_clock_retain(c);
    Slot leaf = entry(mix(key), v);
    if (c) {
        Clock *n = insert(c, leaf, 0);
        return n ? n : gr_clock_retain(c);
    }
    Clock *n = new_node(1);
    if (!n)
        return NULL;
    n->used = (uint16_t)(1u << digit(leaf.leaf.key, 0));
    n->slot[0] = leaf;
    return n;
}

// ---- Joining -------------------------------------------------------------------------------------------------------

static Clock *join(Clock *a, Clock *b, unsigned depth, bool *all_a, bool *all_b);

// Both have `way`. *s gets the slot with its reference, *is_child what it is. Sets *from_a, *from_b to whether it is
// that side's own. False when memory is out.
static bool join_slot(Clock *a, Clock *b, unsigned way, unsigned depth, Slot *s, bool *is_child, bool *from_a,
                      bool *from_b) {
    bool ca = a->child >> way & 1, cb = b->child >> way & 1;
    Slot x = a->slot[place(a, way)], y = b->slot[place(b, way)];
    *is_child = true;
    *from_a = *from_b = false;
    if (ca && cb) {
        s->child = join(x.child, y.child, depth + 1, from_a, from_b);
    } else if (ca) {
        s->child = insert(x.child, y, depth + 1);
        *from_a = s->child == x.child;
    } else if (cb) {
        s->child = insert(y.child, x, depth + 1);
        *from_b = s->child == y.child;
    } else if (x.leaf.key == y.leaf.key) {
        *is_child = false;
        *from_a = x.leaf.value >= y.leaf.value;
        *from_b = y.leaf.value >= x.leaf.value;
        *s = *from_a ? x : y;
        return true;
    } else {
        s->child = pair(x, y, depth + 1);
    }
    return s->child != NULL;
}

static void drop(Slot *s, unsigned n, unsigned children) {
    for (unsigned k = 0; k < n; k++)
        if (children >> k & 1)
            gr_clock_release(s[k].child);
}

// *all_a and *all_b: whether it says no more than that side. NULL when memory is out.
static Clock *join(Clock *a, Clock *b, unsigned depth, bool *all_a, bool *all_b) {
    unsigned used = a->used | b->used, n = 0, children = 0, ways = 0;
    *all_a = used == a->used;
    *all_b = used == b->used;
    if (a == b)
        return gr_clock_retain(a);
    Slot s[WAYS];
    for (unsigned m = used; m; m &= m - 1, n++) {
        unsigned way = (unsigned)__builtin_ctz(m);
        bool in_a = a->used >> way & 1, in_b = b->used >> way & 1, child, from_a = in_a, from_b = in_b;
        if (in_a && in_b) {
            if (!join_slot(a, b, way, depth, &s[n], &child, &from_a, &from_b)) {
                drop(s, n, children);
                return NULL;
            }
        } else {
            const Clock *c = in_a ? a : b;
            s[n] = retained(c, way);
            child = c->child >> way & 1;
        }
        children |= (unsigned)child << n;
        ways |= (unsigned)child << way;
        *all_a &= from_a;
        *all_b &= from_b;
    }
    Clock *same = *all_a ? a : *all_b ? b : NULL;
    Clock *c = same ? gr_clock_retain(same) : new_node(n);
    if (same || !c) {
        drop(s, n, children);
        return c;
    }
    c->used = (uint16_t)used;
    c->child = (uint16_t)ways;
    for (unsigned k = 0; k < n; k++)
        c->slot[k] = s[k];
    return c;
}

Clock *gr_clock_join(Clock *a, Clock *b) {
    if (a == b || !b)
        return gr_clock_retain(a);
    if (!a)
        return gr_clock_retain(b);
    bool all_a, all_b;
    Clock *c = join(a, b, 0, &all_a, &all_b);
    return c ? c : gr_clock_retain(a);
}

// ---- Leaving out ---------------------------------------------------------------------------------------------------

static Clock *kept_of(ClockFilter *f, Clock *c);

// A node of the slots that are left, n of them. One entry alone belongs into the node above.
static Clock *node_of(const Slot *s, unsigned n, unsigned used, unsigned child) {
    Clock *c = n ? new_node(n) : NULL;
    if (!c)
        return NULL;
    c->used = (uint16_t)used;
    c->child = (uint16_t)child;
    for (unsigned k = 0; k < n; k++)
        c->slot[k] = s[k];
    return c;
}

static bool is_single(const Clock *c) { return c && !c->child && !(c->used & (c->used - 1)); }

static Clock *filter_node(ClockFilter *f, Clock *c) {
    Slot s[WAYS];
    unsigned n = 0, used = 0, child = 0, k = 0;
    bool same = true;
    f->visited++;
    for (unsigned m = c->used; m; m &= m - 1, k++) {
        unsigned way = m & -m;
        s[n] = c->slot[k];
        if (!(c->child & way)) {
            if (!f->keep(f->user, unmix(s[n].leaf.key))) {
                same = false;
                continue;
            }
        } else {
            Clock *below = kept_of(f, s[n].child);
            same &= below == s[n].child;
            if (!below)
                continue;
            s[n].child = below;
            child |= way;
            if (is_single(below)) {
                s[n] = below->slot[0];
                child &= ~way;
                gr_clock_release(below);
            }
        }
        used |= way;
        n++;
    }
    Clock *now = same ? gr_clock_retain(c) : node_of(s, n, used, child);
    bool failed = !same && n && !now;
    for (unsigned m = used, i = 0; (same || failed) && m; m &= m - 1, i++)
        if (child & m & -m)
            gr_clock_release(s[i].child);
    return failed ? gr_clock_retain(c) : now;
}

// A reference of the caller's own; NULL: nothing is kept.
static Clock *kept_of(ClockFilter *f, Clock *c) {
    static Clock nothing;
    if (c->refs == 1)
        return filter_node(f, c);
    Clock *now = gr_map_get_u64(&f->done, (uintptr_t)c);
    if (now)
        return now == &nothing ? NULL : gr_clock_retain(now);
    now = filter_node(f, c);
    // The node itself is kept too, so that no other one gets its address meanwhile.
    if (gr_map_put_u64(&f->done, (uintptr_t)c, now ? now : &nothing)) {
        gr_clock_retain(c);
        gr_clock_retain(now);
    }
    return now;
}

void gr_clock_filter(ClockFilter *f, Clock **c) {
    if (!*c)
        return;
    Clock *now = kept_of(f, *c);
    gr_clock_release(*c);
    *c = now;
}

void gr_clock_filter_end(ClockFilter *f) {
    for (size_t k = 0; k < f->done.len; k++) {
        Clock *now = f->done.entries[k].value;
        gr_clock_release((Clock *)(uintptr_t)f->done.entries[k].key);
        if (now->refs) // `nothing` has none
            gr_clock_release(now);
    }
    gr_map_free(&f->done);
}

void gr_clock_each(const Clock *c, void (*f)(void *user, uint64_t key, uint32_t v), void *user) {
    for (unsigned m = c ? c->used : 0, k = 0; m; m &= m - 1, k++)
        if (c->child >> __builtin_ctz(m) & 1)
            gr_clock_each(c->slot[k].child, f, user);
        else
            f(user, unmix(c->slot[k].leaf.key), c->slot[k].leaf.value);
}
