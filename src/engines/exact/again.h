// SPDX-License-Identifier: Apache-2.0
// again — races of pairs of sites that have been found before: what can be said of many of them at once (again.c).
#ifndef GR_ENGINES_EXACT_AGAIN_H
#define GR_ENGINES_EXACT_AGAIN_H

#include "engines/exact/exact_internal.h"

// The key of a pair of sites, in shared or in global memory, so far apart as the two are.
uint64_t gr_exact_pair(const Exact *x, const Stamp *s, const Stamp *t, bool shared, RaceClass class);
// The same of all widths together.
uint64_t gr_exact_pair_at_all(uint64_t pair);
// Counts the accesses of `lanes` at `moment`, which have raced as f (again).
static inline void gr_exact_count(FoundRace *f, uint64_t moment, uint32_t lanes) {
    gr_race_count(&f->counts->race, moment, lanes);
}
// The stamp is of a weak access of the generic proxy.
static inline bool gr_stamp_is_plain(const Stamp *s) {
    return s->site && !s->strong && s->proxy == VM_PROXY_GENERIC && !(s->mark & ~STAMP_COMPARED);
}
// The kinds of two plain accesses alone say the class of their race, and only the number of the race's pairs can
// change.
bool gr_exact_only_numbers_matter(const Exact *x);
// The two raced as f says, and threads further apart may race as the same two sites: older accesses are worth a look.
// The answer is yes so often only.
bool gr_exact_may_be_wider(FoundRace *f, const Exact *x, const Stamp *s, const Stamp *t, bool shared);
// True: the access would race with one of stamp t as a pair that has been found, or that is not reported (*out: NULL).
bool gr_exact_find_again(Exact *x, const Access *a, const Stamp *t, RaceClass class, FoundRace **out);
// Yields what gr_exact_check_entry would for a pair that has been found, and counts the race. RACED_UNKNOWN: the pair
// is new, or more depends on it.
Raced gr_exact_raced_again(Exact *x, Access *a, const Entry *e, uint32_t changed, uint32_t lane,
                           uint32_t bytes, uint64_t word);
// Entry e, the newest of `from`, raced so. *rest skips older entries that can say nothing more. changed: as for
// gr_exact_check_entry.
void gr_exact_pass_again(const Exact *x, const Access *a, History from, Raced raced, const Entry *e,
                         uint32_t changed, uint32_t bytes, History *rest);

// Sites whose entries say nothing more of an access to a word: they have no races with it, or all have been counted.
typedef struct Settled {
    uint64_t key[SITES_MAX];   // gr_site_key_of_all
    uint8_t within[SITES_MAX]; // the entries that have no other bytes in common with the access
    uint32_t bytes;            // of the access
    unsigned n;
} Settled;
// The access comes after entry e, the newest of `from`, and so after all older ones, which the same lanes made.
bool gr_exact_knows_the_rest(const Exact *x, Access *a, History from, const Entry *e);
bool gr_exact_is_settled(const Exact *x, const Settled *d, const Entry *e);
// Called when gr_exact_check_entry has said `raced` of entry e, the newest of `from`. True: older entries have nothing
// to add.
bool gr_exact_settle(const Exact *x, Access *a, Settled *d, History from, Raced raced, const Entry *e,
                     uint32_t changed);

#endif
