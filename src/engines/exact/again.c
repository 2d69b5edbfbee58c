// SPDX-License-Identifier: Apache-2.0
// again — races of pairs of sites that have been found before. Only their number can change, so one lane that raced is enough, and a
// word that many threads store to is not held against each of them again.
//
// Only weak accesses of the generic proxy are told here, while nothing else hangs on a race: no fence.sc whose order it might say, no
// accesses that the options leave out, no test that asks for each occurrence. The kinds of the two accesses alone decide the class.
#include "engines/exact/exact_internal.h"

enum { SITE_BITS = 28 };

static unsigned is_fill(const Stamp *s) { return !s->site && s->elem; }

// A copy touches both spaces: the same two instructions may race in either. Copies and memsets share a site.
uint64_t gr_exact_pair(const Stamp *s, const Stamp *t, bool shared, RaceClass class) {
    uint32_t lo = s->site < t->site ? s->site : t->site, hi = s->site < t->site ? t->site : s->site;
    return (uint64_t)lo << (SITE_BITS + 8) | (uint64_t)hi << 8 | class | (shared ? 128 : 0) |
           (is_fill(s) + is_fill(t)) << 4;
}

static bool is_plain(const Stamp *s) {
    return s->site && !s->strong && s->proxy == VM_PROXY_GENERIC && !(s->mark & ~STAMP_COMPARED);
}

static bool only_numbers_matter(const Exact *x) {
    return !x->options.occurred && !x->options.speculated && !gr_exact_passes_some(x) &&
           !x->order.sc_number && !x->order.talking && !x->hosts.several;
}

bool gr_exact_find_again(Exact *x, const Access *a, const Stamp *t, RaceClass class, FoundRace **out) {
    const Stamp *mine = &x->shadow.stamps.data[a->stamp];
    *out = NULL;
    if (class == RACE_SAME_VALUE && x->options.no_same_value)
        return true;
    uint64_t key = gr_exact_pair(mine, t, a->owner != NULL, class);
    Again *g = &x->again[(mine->site * 5 + t->site + class) % AGAIN_PAIRS];
    if (!g->found || g->key != key)
        *g = (Again){key, gr_map_get_u64(&x->pairs, key)};
    *out = g->found;
    return g->found != NULL;
}

bool gr_exact_may_be_again(const Exact *x, const Stamp *mine, const Stamp *t) {
    return is_plain(mine) && is_plain(t) && only_numbers_matter(x);
}

Raced gr_exact_raced_again(Exact *x, Access *a, const Entry *e, uint32_t changed, uint32_t lane,
                           uint32_t bytes, uint64_t word) {
    const Stamp *mine = &x->shadow.stamps.data[a->stamp], *t = &x->shadow.stamps.data[e->stamp];
    FoundRace *f;
    if (!gr_exact_may_be_again(x, mine, t))
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
        if (!gr_exact_is_sound(x, a, lane, t, u, word + (uint64_t)__builtin_ctz(bytes)))
            continue;
        a->raced = true;
        x->reports++;
        if (f)
            gr_race_count(&f->race, x->moment, UINT32_C(1) << lane);
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
    if (!known && (raced == RACED_UNKNOWN || raced == RACED_NOT || (bytes & ~e->bytes)))
        return;
    History oldest = gr_history_oldest_alike(&x->shadow, from, &steady);
    if (oldest != from &&
        (known || raced == RACED_READ_WRITE || (raced == RACED_WRITE_WRITE && !(bytes & ~changed)) ||
         (raced == RACED_SAME_VALUE && steady)))
        *rest = oldest;
}
