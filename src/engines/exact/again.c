// SPDX-License-Identifier: Apache-2.0
// again — races of pairs of sites that have raced before. Only their number can change, so one lane that raced is
// enough, and a store is not compared again with each of many threads that stored to the word.
//
// Only weak accesses of the generic proxy come here, and only while nothing else hangs on a race: no fence.sc whose
// order it might say, no accesses that the options leave out, no test that asks for each occurrence.
#include "engines/exact/again.h"

enum { SITE_BITS = 28 };

static unsigned is_fill(const Stamp *s) { return !s->site && s->elem; }

// How far apart the two are. A barrier that orders lanes does not order warps, so a pair that races at several widths
// is told at each of them.
typedef enum Width { WIDTH_LANES, WIDTH_WARPS, WIDTH_BLOCKS, WIDTH_LAUNCHES, WIDTHS } Width;

static inline Width width_of(const Exact *x, const Stamp *s, const Stamp *t) {
    if (s->at.launch != t->at.launch)
        return WIDTH_LAUNCHES;
    if (s->at.id != t->at.id) { // perhaps of operations of one block; NULL: what is remembered makes no sense
        const BlockInfo *a = gr_order_info(&x->order, s->at.id), *b = gr_order_info(&x->order, t->at.id);
        if (!a || !b || a->launch != b->launch || a->linear != b->linear)
            return WIDTH_BLOCKS;
    }
    return s->at.warp == t->at.warp ? WIDTH_LANES : WIDTH_WARPS;
}

// A copy touches both spaces: the same two instructions may race in either. Copies and memsets share a site.
uint64_t gr_exact_pair(const Exact *x, const Stamp *s, const Stamp *t, bool shared, RaceClass class) {
    uint32_t lo = s->site < t->site ? s->site : t->site, hi = s->site < t->site ? t->site : s->site;
    unsigned fills = is_fill(s) + is_fill(t), spaces = shared ? 0 : WIDTHS;
    unsigned kind = fills ? 2 * WIDTHS + 2 * fills + shared : spaces + width_of(x, s, t);
    return (uint64_t)lo << (SITE_BITS + 8) | (uint64_t)hi << 8 | kind << 4 | class;
}

uint64_t gr_exact_pair_at_all(uint64_t pair) {
    unsigned kind = pair >> 4 & 15;
    return kind < 2 * WIDTHS ? (pair | 0xf0) - (kind < WIDTHS ? 16 : 0) : pair;
}

bool gr_exact_may_be_wider(FoundRace *f, const Exact *x, const Stamp *s, const Stamp *t, bool shared) {
    if (!f || !f->patience || width_of(x, s, t) >= (shared ? WIDTH_WARPS : WIDTH_BLOCKS))
        return false;
    f->patience--;
    return true;
}

bool gr_exact_only_numbers_matter(const Exact *x) {
    return !x->options.occurred && !x->options.speculated && !gr_exact_passes_some(x) &&
           !x->order.sc_number && !x->order.talking && !x->hosts.several;
}

bool gr_exact_find_again(Exact *x, const Access *a, const Stamp *t, RaceClass class, FoundRace **out) {
    const Stamp *mine = &x->shadow.stamps.data[a->stamp];
    *out = NULL;
    if (class == RACE_SAME_VALUE && x->options.no_same_value)
        return true;
    uint64_t key = gr_exact_pair(x, mine, t, a->owner != NULL, class);
    Again *g = &x->again[(mine->site * 5 + t->site + (key & 255)) % AGAIN_PAIRS];
    if (!g->found || g->key != key)
        *g = (Again){key, gr_map_get_u64(&x->pairs, key)};
    *out = g->found;
    return g->found != NULL;
}

static bool is_common(const Stamp *s) {
    return s->site && s->proxy == VM_PROXY_GENERIC && !(s->mark & ~(STAMP_COMPARED | STAMP_VOLATILE));
}

// One side is weak, and the other side is weak or a read, so no thread has learnt an order by reading it: the kinds of
// the two accesses tell the class.
static bool kinds_tell_class(const Stamp *mine, const Stamp *t) {
    return is_common(mine) && is_common(t) && !(mine->strong && t->strong) &&
           (!t->strong || t->access == PTX_ACCESS_READ);
}

Raced gr_exact_raced_again(Exact *x, Access *a, const Entry *e, uint32_t changed, uint32_t lane,
                           uint32_t bytes, uint64_t word) {
    const Stamp *mine = &x->shadow.stamps.data[a->stamp], *t = &x->shadow.stamps.data[e->stamp];
    FoundRace *f;
    if (!kinds_tell_class(mine, t) || !gr_exact_only_numbers_matter(x))
        return RACED_UNKNOWN;
    RaceClass class =
        mine->access == PTX_ACCESS_READ || t->access == PTX_ACCESS_READ ? RACE_READ_WRITE : RACE_WRITE_WRITE;
    if (class == RACE_WRITE_WRITE && (mine->mark & t->mark & STAMP_COMPARED) && !(changed & bytes) &&
        gr_exact_is_silent(a, lane, word, bytes))
        class = RACE_SAME_VALUE;
    if (!gr_exact_find_again(x, a, t, class, &f))
        return RACED_UNKNOWN;
    for (uint32_t m = e->lanes; m; m &= m - 1) {
        uint32_t u = (uint32_t)__builtin_ctz(m);
        if (gr_order_knows(&x->order, &a->view, &t->at, u))
            continue;
        if (!(a->checked ? gr_exact_is_sound_with : gr_exact_is_sound)(x, a, lane, t, u,
                                                                       word + (uint64_t)__builtin_ctz(bytes)))
            continue;
        a->raced = a->checked = true;
        x->reports++;
        if (f)
            gr_exact_count(f, x->moment, UINT32_C(1) << lane);
        if (gr_exact_may_be_wider(f, x, mine, t, a->owner != NULL))
            return RACED_NARROW;
        return class == RACE_READ_WRITE   ? RACED_READ_WRITE
               : class == RACE_SAME_VALUE ? RACED_SAME_VALUE
                                          : RACED_WRITE_WRITE;
    }
    return RACED_NOT;
}

void gr_exact_pass_again(const Exact *x, const Access *a, History from, Raced raced, const Entry *e,
                         uint32_t changed, uint32_t bytes, History *rest) {
    const Stamp *stamps = x->shadow.stamps.data;
    bool steady, known = raced == RACED_NOT && stamps[e->stamp].at.launch + 1 == a->before &&
                         !x->hosts.several && stamps[a->stamp].proxy == VM_PROXY_GENERIC;
    if (stamps[a->stamp].proxy != VM_PROXY_GENERIC) // the same as in final_within
        return;
    if (!known &&
        (raced == RACED_UNKNOWN || raced == RACED_NARROW || raced == RACED_NOT || (bytes & ~e->bytes)))
        return;
    History oldest = gr_history_oldest_alike(&x->shadow, from, &steady);
    if (oldest != from &&
        (known || raced == RACED_READ_WRITE || (raced == RACED_WRITE_WRITE && !(bytes & ~changed)) ||
         (raced == RACED_SAME_VALUE && steady)))
        *rest = oldest;
}

// ---- What is settled -----------------------------------------------------------------------------------------------

// Both are strong operations that reach all threads of the only device: so are all others of the two sites.
static bool are_strong_anywhere(const Exact *x, const Stamp *mine, const Stamp *t) {
    return !x->several_devices && !((mine->mark | t->mark) & STAMP_VOLATILE) && mine->scope >= SAME_DEVICE &&
           t->scope >= SAME_DEVICE && mine->elem && t->elem && gr_exact_morally_strong(x, mine, t);
}

// All lanes of the entry come before the access.
static bool comes_before(const Exact *x, const Access *a, const Entry *e) {
    const Stamp *t = &x->shadow.stamps.data[e->stamp];
    for (uint32_t m = e->lanes; m; m &= m - 1)
        if (!gr_order_knows(&x->order, &a->view, &t->at, (uint32_t)__builtin_ctz(m)))
            return false;
    return true;
}

// Entry e is a read-modify-write that comes before the access, or that one observed which comes before the access. So
// older entries of its site were observed, too (judge.c, `observed`). An entry that is no race only because both are
// strong says nothing of older ones, for which the scope of the access may be too narrow.
static bool is_observed(const Exact *x, const Access *a, const Stamp *mine, const Entry *e, uint32_t bytes) {
    const Stamp *t = &x->shadow.stamps.data[e->stamp];
    return t->strong && t->access == PTX_ACCESS_RMW && t->scope >= SAME_DEVICE && t->elem &&
           t->proxy == VM_PROXY_GENERIC && mine->proxy == VM_PROXY_GENERIC && !(bytes & ~e->bytes) &&
           !(mine->mark & STAMP_VOLATILE) && !x->several_devices && !x->hosts.several &&
           (!gr_exact_morally_strong(x, mine, t) || comes_before(x, a, e));
}

// Of the older entries of the site of e, the newest of `from`: those that have only these bytes in common with the
// access. They say nothing that e has not said. (A same-value race needs a byte that neither store changed.)
static uint32_t final_within(const Exact *x, const Access *a, History from, Raced raced, const Entry *e,
                             uint32_t changed, uint32_t bytes) {
    const Stamp *mine = &x->shadow.stamps.data[a->stamp], *t = &x->shadow.stamps.data[e->stamp];
    bool all = false;
    if (mine->proxy != VM_PROXY_GENERIC) // an older one that comes before may still lack a proxy fence
        return 0;
    switch (raced) {
    case RACED_READ_WRITE: return ALL_BYTES;
    case RACED_WRITE_WRITE: return mine->mark & t->mark & STAMP_COMPARED ? changed : ALL_BYTES;
    case RACED_SAME_VALUE: return gr_history_still(&x->shadow, from) & e->bytes;
    case RACED_NOT:
        all = (t->at.launch + 1 == a->before && !x->hosts.several && mine->proxy == VM_PROXY_GENERIC) ||
              are_strong_anywhere(x, mine, t) || is_observed(x, a, mine, e, bytes);
        break;
    default: break;
    }
    return all ? ALL_BYTES : 0;
}

static bool has(const Settled *d, uint64_t key) {
    uint32_t both = gr_site_key_bytes(key) & d->bytes;
    key = gr_site_key_of_all(key);
    for (unsigned k = 0; both && k < d->n; k++)
        if (d->key[k] == key)
            return !(both & ~(uint32_t)d->within[k]);
    return !both;
}

static void settle_within(Settled *d, uint64_t key, uint32_t bytes) {
    unsigned k = 0;
    key = gr_site_key_of_all(key);
    while (k < d->n && d->key[k] != key)
        k++;
    if (k == SITES_MAX)
        return;
    d->within[k] = (uint8_t)(bytes | (k < d->n ? d->within[k] : 0));
    d->key[k] = key;
    d->n += k == d->n;
}

bool gr_exact_is_settled(const Exact *x, const Settled *d, const Entry *e) {
    uint64_t key = d->n ? gr_stamp_site_key(&x->shadow.stamps.data[e->stamp], e->bytes) : 0;
    return key && has(d, key);
}

bool gr_exact_knows_the_rest(const Exact *x, Access *a, History from, const Entry *e) {
    return from >> 31 && gr_history_is_alone(&x->shadow, from) && !x->hosts.several && !a->late &&
           x->shadow.stamps.data[a->stamp].proxy == VM_PROXY_GENERIC && comes_before(x, a, e);
}

// The site's weak accesses are of an earlier launch, which came before as a whole.
static bool came_before(const Exact *x, Access *a, uint64_t key) {
    const Stamp *mine = &x->shadow.stamps.data[a->stamp];
    return !gr_site_key_is_strong(key) && gr_site_key_launch(key) != mine->at.launch && !x->hosts.several &&
           mine->proxy == VM_PROXY_GENERIC && !a->late && gr_exact_came_before(x, a, gr_site_key_launch(key));
}

bool gr_exact_settle(const Exact *x, Access *a, Settled *d, History from, Raced raced, const Entry *e,
                     uint32_t changed) {
    History rest = from;
    Entry skipped;
    (void)gr_history_next(&x->shadow, &rest, &skipped);
    uint64_t key = gr_stamp_site_key(&x->shadow.stamps.data[e->stamp], e->bytes);
    uint32_t within = key ? final_within(x, a, from, raced, e, changed, d->bytes) : 0;
    if (within)
        settle_within(d, key, within);
    else if (raced == RACED_NOT && gr_exact_knows_the_rest(x, a, from, e))
        return true;
    const SiteSet *left = gr_history_sites(&x->shadow, rest);
    if (!left)
        return false;
    for (uint32_t k = left->n; k-- > 0;) // those that older entries have less often first
        if (!has(d, left->key[k]) && !came_before(x, a, left->key[k]))
            return false;
    return true;
}
