// SPDX-License-Identifier: Apache-2.0
// sites — sets of sites: which instructions accessed which bytes of a word, in which launches, while they are few. Sets
// are numbered and never change. A longer history has the set of the shorter one, or a set with one site more.
#ifndef GR_ENGINES_EXACT_SITES_H
#define GR_ENGINES_EXACT_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SITES_MAX = 64, SITES_NUMBER_BITS = 27 };

typedef struct SiteSet {
    uint64_t key[SITES_MAX];
    uint32_t n;
    uint32_t but_last; // the set without the last of them
} SiteSet;

typedef struct SiteSets {
    SiteSet *set;    // [0] and [1]: of SITES_MANY and SITES_NONE
    uint32_t n;      // 0: nothing has been made yet
    uint32_t *index; // by the set without the last and the last
    uint32_t age;    // numbers of another age mean nothing
} SiteSets;

// SITES_MANY: too many, or not known.
#define SITES_MANY UINT32_C(0)
#define SITES_NONE UINT32_C(1)

// The number of the set with that site added.
uint32_t gr_sites_with(SiteSets *s, uint32_t set, uint64_t key);
// The set of that number. NULL: SITES_MANY.
const SiteSet *gr_sites_get(const SiteSets *s, uint32_t set);
bool gr_sites_has(const SiteSet *set, uint64_t key);
void gr_sites_free(SiteSets *s);

#endif
