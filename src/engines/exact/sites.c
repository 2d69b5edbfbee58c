// SPDX-License-Identifier: Apache-2.0
// sites — see sites.h. When there are too many sets all are forgotten, and the numbers in histories are of an older
// age.
#include "engines/exact/sites.h"

#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

enum {
    SET_BITS = 12,
    SETS_MAX = 1 << SET_BITS,
    INDEX = 4 * SETS_MAX,
    AGES = 1 << (SITES_NUMBER_BITS - SET_BITS)
};

void gr_sites_free(SiteSets *s) {
    free(s->set);
    free(s->index);
    *s = (SiteSets){.age = s->age};
}

// Begins a new age. False: there are no more.
static bool begin(SiteSets *s) {
    if (!s->set)
        s->set = calloc(SETS_MAX, sizeof *s->set);
    if (!s->index)
        s->index = malloc(INDEX * sizeof *s->index);
    if (!s->set || !s->index || s->age + 1 == AGES)
        return false;
    memset(s->index, 0, INDEX * sizeof *s->index);
    s->set[SITES_NONE].n = 0;
    s->n = 2;
    s->age++;
    return true;
}

const SiteSet *gr_sites_get(const SiteSets *s, uint32_t set) {
    static const SiteSet none = {.n = 0};
    if (set == SITES_NONE)
        return &none;
    return set != SITES_MANY && s->n && set >> SET_BITS == s->age ? &s->set[set & (SETS_MAX - 1)] : NULL;
}

bool gr_sites_has(const SiteSet *set, uint64_t key) {
    for (uint32_t k = set->n; k-- > 0;)
        if (set->key[k] == key)
            return true;
    return false;
}

uint32_t gr_sites_with(SiteSets *s, uint32_t set, uint64_t key) {
    if ((!s->n || s->n == SETS_MAX) && !begin(s))
        return SITES_MANY;
    const SiteSet *old = gr_sites_get(s, set);
    if (!old || gr_sites_has(old, key))
        return old ? set : SITES_MANY;
    if (old->n == SITES_MAX)
        return SITES_MANY;
    uint32_t *at;
    for (size_t k = gr_mix64(key * UINT64_C(0x9e3779b97f4a7c15) + set);; k++) {
        at = &s->index[k % INDEX];
        if (!*at)
            break;
        const SiteSet *t = &s->set[*at];
        if (t->but_last == set && t->key[t->n - 1] == key)
            return s->age << SET_BITS | *at;
    }
    SiteSet *t = &s->set[s->n];
    *t = *old;
    t->key[t->n++] = key;
    t->but_last = set;
    *at = s->n++;
    return s->age << SET_BITS | *at;
}
