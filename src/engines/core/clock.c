// SPDX-License-Identifier: Apache-2.0
// clock — see clock.h.
#include "engines/core/clock.h"

#include <stdlib.h>
#include <string.h>

enum { BITS = 4, WAYS = 16, LEAF_KEYS = 32 };

// What a leaf and an inner node begin with.
struct Clock {
    uint32_t refs;
    uint32_t used; // an inner node's: which of the 16 ways are there; 0: a leaf
};

// Entries whose keys differ in nothing but five bits: the lanes of a warp.
typedef struct Leaf {
    Clock head;
    uint64_t group; // the children's common bits, mixed
    uint32_t mask;  // the children that are there
    uint32_t value[];
} Leaf;

// Two leaves at least are below it.
typedef struct Inner {
    Clock head;
    Clock *way[];
} Inner;

static bool starved;
static uint64_t bytes; // of all nodes, as asked for

uint64_t gr_clock_bytes(void) { return bytes; }

bool gr_clock_starved(void) { return starved; }

// ---- Keys ----------------------------------------------------------------------------------------------------------

#define LOW63 (UINT64_MAX >> 1)

// Invertible over 63 bits, so that two keys differ somewhere in their 16 digits.
static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u & LOW63;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu & LOW63;
    return z ^ (z >> 31);
}

// The inverses of the two constants modulo 2^64, and so modulo 2^63.
static uint64_t unmix(uint64_t z) {
    z ^= z >> 31 ^ z >> 62;
    z = z * 0x319642b2d24d8ec3u & LOW63;
    z ^= z >> 27 ^ z >> 54;
    z = z * 0x96de1b173f119089u & LOW63;
    return z ^ z >> 30 ^ z >> 60;
}

// The five bits that tell keys of a leaf apart lie above the lowest three. The lowest bit of a group is GR_CLOCK_APART,
// so that ways of the root lead to keys of one kind only.
static uint64_t group_of(uint64_t key) { return mix((key & LOW63) >> 8 << 3 | (key & 7)) << 1 | key >> 63; }
static unsigned index_of(uint64_t key) { return key >> 3 & (LEAF_KEYS - 1); }
static uint64_t key_of(uint64_t group, unsigned index) {
    uint64_t common = unmix(group >> 1);
    return common >> 3 << 8 | (uint64_t)index << 3 | (common & 7) | group << 63;
}

static unsigned digit(uint64_t group, unsigned depth) {
    return (unsigned)(group >> (BITS * depth)) & (WAYS - 1);
}

// Without an instruction for it, the builtin is a call.
static unsigned count_bits(uint32_t m) {
    m -= m >> 1 & 0x55555555;
    m = (m & 0x33333333) + (m >> 2 & 0x33333333);
    return ((m + (m >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24;
}

static unsigned rank(uint32_t mask, unsigned bit) {
    return mask == UINT32_MAX ? bit : count_bits(mask & ((UINT32_C(1) << bit) - 1));
}

// ---- Nodes ---------------------------------------------------------------------------------------------------------

static const Leaf *leaf(const Clock *c) { return (const Leaf *)(const void *)c; }
static Clock *const *ways(const Clock *c) { return ((const Inner *)(const void *)c)->way; }
static Clock *at_way(const Clock *c, unsigned way) { return ways(c)[rank(c->used, way)]; }

static size_t size_of(const Clock *c) {
    return c->used ? sizeof(Inner) + count_bits(c->used) * sizeof(Clock *)
                   : sizeof(Leaf) + count_bits(leaf(c)->mask) * sizeof(uint32_t);
}

static void *new_node(size_t size, uint32_t used) {
    Clock *c = malloc(size);
    if (!c) {
        starved = true;
        return NULL;
    }
    bytes += size;
    *c = (Clock){1, used};
    return c;
}

static Leaf *new_leaf(uint64_t group, uint32_t mask) {
    Leaf *l = new_node(sizeof *l + count_bits(mask) * sizeof *l->value, 0);
    if (l) {
        l->group = group;
        l->mask = mask;
    }
    return l;
}

static Inner *new_inner(uint32_t used) {
    return new_node(sizeof(Inner) + count_bits(used) * sizeof(Clock *), used);
}

static Clock *single(uint64_t group, unsigned index, uint32_t v) {
    Leaf *l = new_leaf(group, UINT32_C(1) << index);
    if (!l)
        return NULL;
    l->value[0] = v;
    return &l->head;
}

Clock *gr_clock_retain(Clock *c) {
    if (c)
        c->refs++;
    return c;
}

void gr_clock_drop(Clock *c) {
    if (--c->refs)
        return;
    for (unsigned m = c->used, k = 0; m; m &= m - 1, k++)
        gr_clock_release(ways(c)[k]);
    bytes -= size_of(c);
    free(c);
}

uint32_t gr_clock_get(const Clock *c, uint64_t key) {
    uint64_t group = group_of(key);
    unsigned index = index_of(key);
    for (unsigned depth = 0; c && c->used; depth++) {
        unsigned way = digit(group, depth);
        c = c->used >> way & 1 ? at_way(c, way) : NULL;
    }
    const Leaf *l = leaf(c);
    return c && l->group == group && (l->mask >> index & 1) ? l->value[rank(l->mask, index)] : 0;
}

// ---- One entry -----------------------------------------------------------------------------------------------------

// A copy of the inner node in which `way` leads to `child`, of which it takes the reference.
static Clock *replace(const Clock *c, unsigned way, Clock *child) {
    Inner *n = child ? new_inner(c->used | 1u << way) : NULL;
    if (!n) {
        gr_clock_release(child);
        return NULL;
    }
    for (unsigned m = n->head.used, k = 0; m; m &= m - 1, k++) {
        unsigned w = (unsigned)__builtin_ctz(m);
        n->way[k] = w == way ? child : gr_clock_retain(at_way(c, w));
    }
    return &n->head;
}

// Two leaves of different groups, of which it takes the references, as one clock.
static Clock *pair(Clock *a, Clock *b, unsigned depth) {
    unsigned x = a ? digit(leaf(a)->group, depth) : 0, y = b ? digit(leaf(b)->group, depth) : 0;
    Inner *n = a && b ? new_inner(1u << x | 1u << y) : NULL;
    if (!n) {
        gr_clock_release(a);
        gr_clock_release(b);
        return NULL;
    }
    if (x != y) {
        n->way[x > y] = a;
        n->way[x < y] = b;
        return &n->head;
    }
    n->way[0] = pair(a, b, depth + 1);
    if (n->way[0])
        return &n->head;
    bytes -= size_of(&n->head);
    free(n);
    return NULL;
}

static Clock *insert_into_leaf(Clock *c, unsigned index, uint32_t v) {
    const Leaf *old = leaf(c);
    unsigned at = rank(old->mask, index), n = count_bits(old->mask), had = old->mask >> index & 1;
    if (had && old->value[at] >= v)
        return gr_clock_retain(c);
    Leaf *l = new_leaf(old->group, old->mask | UINT32_C(1) << index);
    if (!l)
        return NULL;
    memcpy(l->value, old->value, at * sizeof v);
    l->value[at] = v;
    memcpy(l->value + at + 1, old->value + at + had, (n - at - had) * sizeof v);
    return &l->head;
}

// c itself (retained) when it says so already; NULL when memory is out.
static Clock *insert(Clock *c, uint64_t group, unsigned index, uint32_t v, unsigned depth) {
    if (!c->used && leaf(c)->group == group)
        return insert_into_leaf(c, index, v);
    if (!c->used)
        return pair(gr_clock_retain(c), single(group, index, v), depth);
    unsigned way = digit(group, depth);
    if (!(c->used >> way & 1))
        return replace(c, way, single(group, index, v));
    Clock *old = at_way(c, way), *now = insert(old, group, index, v, depth + 1);
    if (now != old)
        return replace(c, way, now);
    gr_clock_release(now);
    return gr_clock_retain(c);
}

Clock *gr_clock_with(Clock *c, uint64_t key, uint32_t v) {
    if (!v)
        return gr_clock_retain(c);
    if (!c)
        return single(group_of(key), index_of(key), v);
    Clock *n = insert(c, group_of(key), index_of(key), v, 0);
    return n ? n : gr_clock_retain(c);
}

// ---- Joining -------------------------------------------------------------------------------------------------------

// Whether what is joined says no more than the one side, than the other: then it is that side.
typedef struct Sides {
    bool a, b;
} Sides;

static Clock *join(Clock *a, Clock *b, unsigned depth, Sides *all);

// Joins the values of a and b, n of equal keys, into *to. *more_a, *more_b: what of the result that side lacked.
static void join_values(const uint32_t *a, const uint32_t *b, uint32_t *to, unsigned n, uint32_t *more_a,
                        uint32_t *more_b) {
    uint32_t x = 0, y = 0;
    for (unsigned k = 0; k < n; k++) {
        uint32_t v = a[k] > b[k] ? a[k] : b[k];
        x |= v ^ a[k];
        y |= v ^ b[k];
        to[k] = v;
    }
    *more_a = x;
    *more_b = y;
}

static Clock *join_leaves(Clock *a, Clock *b, Sides *all) {
    const Leaf *x = leaf(a), *y = leaf(b);
    uint32_t mask = x->mask | y->mask, v[LEAF_KEYS], more_a = mask & ~x->mask, more_b = mask & ~y->mask;
    unsigned n = 0;
    if (x->mask == y->mask) {
        n = count_bits(mask);
        join_values(x->value, y->value, v, n, &more_a, &more_b);
    } else {
        const uint32_t *p = x->value, *q = y->value;
        for (uint32_t m = mask; m; m &= m - 1, n++) {
            uint32_t bit = m & -m, s = x->mask & bit ? *p++ : 0, t = y->mask & bit ? *q++ : 0;
            v[n] = s > t ? s : t;
            more_a |= s < t;
            more_b |= t < s;
        }
    }
    *all = (Sides){!more_a, !more_b};
    if (!more_a || !more_b)
        return gr_clock_retain(!more_a ? a : b);
    Leaf *l = new_leaf(x->group, mask);
    if (!l)
        return NULL;
    memcpy(l->value, v, n * sizeof *v);
    return &l->head;
}

// `a` is a leaf, `b` an inner node.
static Clock *join_leaf(Clock *a, Clock *b, unsigned depth, Sides *all) {
    unsigned way = digit(leaf(a)->group, depth);
    *all = (Sides){false, false};
    if (!(b->used >> way & 1))
        return replace(b, way, gr_clock_retain(a));
    Sides below;
    Clock *c = join(a, at_way(b, way), depth + 1, &below);
    all->b = c && below.b;
    if (!all->b)
        return replace(b, way, c);
    gr_clock_release(c);
    return gr_clock_retain(b);
}

static Clock *join_inner(Clock *a, Clock *b, unsigned depth, Sides *all) {
    uint32_t used = a->used | b->used;
    Clock *s[WAYS];
    unsigned n = 0, x = 0, y = 0;
    *all = (Sides){used == a->used, used == b->used};
    for (uint32_t m = used; m; m &= m - 1, n++) {
        Clock *p = a->used & m & -m ? ways(a)[x++] : NULL, *q = b->used & m & -m ? ways(b)[y++] : NULL;
        Sides below = {p != NULL, q != NULL};
        s[n] = p && q ? join(p, q, depth + 1, &below) : gr_clock_retain(p ? p : q);
        if (!s[n])
            break;
        if (below.a && below.b && s[n] != q) { // the same in both: b's, which others like b have, too
            gr_clock_release(s[n]);
            s[n] = gr_clock_retain(q);
        }
        all->a &= below.a;
        all->b &= below.b;
    }
    bool failed = n < count_bits(used);
    Clock *same = failed ? NULL : all->a ? a : all->b ? b : NULL;
    Inner *c = same || failed ? NULL : new_inner(used);
    if (c) {
        memcpy(c->way, s, n * sizeof *s);
        return &c->head;
    }
    for (unsigned k = 0; k < n; k++)
        gr_clock_release(s[k]);
    return gr_clock_retain(same);
}

// NULL when memory is out.
static Clock *join(Clock *a, Clock *b, unsigned depth, Sides *all) {
    if (a == b) {
        *all = (Sides){true, true};
        return gr_clock_retain(a);
    }
    if (a->used && b->used)
        return join_inner(a, b, depth, all);
    if (b->used)
        return join_leaf(a, b, depth, all);
    if (a->used) {
        Sides turned;
        Clock *c = join_leaf(b, a, depth, &turned);
        *all = (Sides){turned.b, turned.a};
        return c;
    }
    if (leaf(a)->group == leaf(b)->group)
        return join_leaves(a, b, all);
    *all = (Sides){false, false};
    return pair(gr_clock_retain(a), gr_clock_retain(b), depth);
}

Clock *gr_clock_join(Clock *a, Clock *b) {
    if (a == b || !b)
        return gr_clock_retain(a);
    if (!a)
        return gr_clock_retain(b);
    Sides all;
    Clock *c = join(a, b, 0, &all);
    return c ? c : gr_clock_retain(a);
}

// ---- Parts ---------------------------------------------------------------------------------------------------------

enum { WAYS_APART = 0xaaaa };

bool gr_clock_has_apart(const Clock *c) {
    return c && (c->used ? (c->used & WAYS_APART) != 0 : leaf(c)->group & 1);
}

// The ways of the root that are in `wanted`; of a leaf, whether it is.
static Clock *part(Clock *c, uint32_t wanted) {
    if (!c || !c->used)
        return c && wanted >> digit(leaf(c)->group, 0) & 1 ? gr_clock_retain(c) : NULL;
    uint32_t used = c->used & wanted;
    if (used == c->used || !used)
        return used ? gr_clock_retain(c) : NULL;
    Clock *first = at_way(c, (unsigned)__builtin_ctz(used));
    if (!(used & (used - 1)) && !first->used) // a leaf alone takes the node's place
        return gr_clock_retain(first);
    Inner *n = new_inner(used);
    for (unsigned m = n ? used : 0, k = 0; m; m &= m - 1, k++)
        n->way[k] = gr_clock_retain(at_way(c, (unsigned)__builtin_ctz(m)));
    return n ? &n->head : NULL;
}

Clock *gr_clock_apart(Clock *c) { return part(c, WAYS_APART); }
Clock *gr_clock_without_apart(Clock *c) { return part(c, (uint16_t)~WAYS_APART); }

typedef struct Changes {
    void (*f)(void *user, uint64_t key, uint32_t v);
    void *user;
} Changes;

static void changes(const Clock *old, const Clock *now, unsigned depth, const Changes *to) {
    if (old == now)
        return;
    for (unsigned m = now->used, k = 0; m; m &= m - 1, k++) {
        unsigned way = (unsigned)__builtin_ctz(m);
        const Clock *below = !old        ? NULL
                             : old->used ? (old->used >> way & 1 ? at_way(old, way) : NULL)
                                         : (digit(leaf(old)->group, depth) == way ? old : NULL);
        changes(below, ways(now)[k], depth + 1, to);
    }
    if (now->used)
        return;
    const Leaf *x = leaf(now), *y = old && !old->used && leaf(old)->group == x->group ? leaf(old) : NULL;
    const uint32_t *v = x->value;
    for (uint32_t m = x->mask; m; m &= m - 1, v++) {
        unsigned index = (unsigned)__builtin_ctz(m);
        if (*v > (y && y->mask >> index & 1 ? y->value[rank(y->mask, index)] : 0))
            to->f(to->user, key_of(x->group, index), *v);
    }
}

void gr_clock_changes(const Clock *old, const Clock *now, void (*f)(void *user, uint64_t key, uint32_t v),
                      void *user) {
    Changes to = {f, user};
    if (now)
        changes(old, now, 0, &to);
}

// ---- Leaving out ---------------------------------------------------------------------------------------------------

static Clock *kept_of(ClockFilter *f, Clock *c);

static Clock *filter_leaf(ClockFilter *f, Clock *c) {
    const Leaf *old = leaf(c);
    uint32_t kept = 0;
    for (uint32_t m = old->mask; m; m &= m - 1)
        kept |= f->keep(f->user, key_of(old->group, (unsigned)__builtin_ctz(m))) ? m & -m : 0;
    if (kept == old->mask || !kept)
        return kept ? gr_clock_retain(c) : NULL;
    Leaf *l = new_leaf(old->group, kept);
    if (!l)
        return gr_clock_retain(c);
    for (uint32_t m = kept, k = 0; m; m &= m - 1, k++)
        l->value[k] = old->value[rank(old->mask, (unsigned)__builtin_ctz(m))];
    return &l->head;
}

static Clock *filter_inner(ClockFilter *f, Clock *c) {
    Clock *s[WAYS];
    unsigned n = 0, used = 0, k = 0;
    bool same = true;
    for (unsigned m = c->used; m; m &= m - 1, k++) {
        Clock *below = kept_of(f, ways(c)[k]);
        same &= below == ways(c)[k];
        if (!below)
            continue;
        s[n++] = below;
        used |= m & -m;
    }
    if (!n || (n == 1 && !s[0]->used)) // a leaf alone takes the node's place
        return n ? s[0] : NULL;
    Inner *now = same ? NULL : new_inner(used);
    if (now) {
        memcpy(now->way, s, n * sizeof *s);
        return &now->head;
    }
    for (unsigned i = 0; i < n; i++)
        gr_clock_release(s[i]);
    return gr_clock_retain(c);
}

static Clock *filter_node(ClockFilter *f, Clock *c) {
    f->visited++;
    return c->used ? filter_inner(f, c) : filter_leaf(f, c);
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
    if (!c)
        return;
    for (unsigned m = c->used, k = 0; m; m &= m - 1, k++)
        gr_clock_each(ways(c)[k], f, user);
    for (uint32_t m = c->used ? 0 : leaf(c)->mask, k = 0; m; m &= m - 1, k++)
        f(user, key_of(leaf(c)->group, (unsigned)__builtin_ctz(m)), leaf(c)->value[k]);
}

// ---- In a variable -------------------------------------------------------------------------------------------------

void gr_clock_add(Clock **to, uint64_t key, uint32_t v) { gr_clock_take(to, gr_clock_with(*to, key, v)); }

void gr_clock_merge(Clock **to, Clock *c) { gr_clock_take(to, gr_clock_join(*to, c)); }
