// SPDX-License-Identifier: Apache-2.0
// volatiles — unordered accesses that volatile makes strong. PTX treats volatile as relaxed, so they are no race by its
// letter; CUDA C++ calls them one.
//
// Most are flags and values that are polled, which work. What no longer works is code from when the lanes of a warp ran
// in lockstep: one lane loads as data, from shared memory, what another has just stored. Such pairs are reported; the
// others are counted, unless the user asks for all.
#include "engines/exact/exact_internal.h"
#include "ptx/feeds.h"

enum { DATA = 1, NO_DATA = 2 };

// A pair found ordered so often is not looked at again: it would only be counted, and each look goes through a history.
enum { ORDERED_OFTEN = 4096 };

static bool is_data(Exact *x, const Launch *running, uint32_t site) {
    uintptr_t known = (uintptr_t)gr_map_get_u64(&x->feeds, site);
    if (known)
        return known == DATA;
    const PtxSite *s = gr_exact_code(x, running, site);
    int answer = s && gr_ptx_feeds_data(s->func, s->stmt) ? DATA : NO_DATA;
    if (!gr_map_put_u64(&x->feeds, site, (void *)(uintptr_t)answer))
        x->nomem = true;
    return answer == DATA;
}

// One lane loads as data what another of its warp stores, both by volatile accesses in one launch.
static bool is_lockstep(Exact *x, const Launch *running, const Stamp *a, const Stamp *b) {
    if (!(a->mark & b->mark & STAMP_VOLATILE) || a->at.id != b->at.id || a->at.warp != b->at.warp)
        return false;
    if (a->access == PTX_ACCESS_WRITE && b->access == PTX_ACCESS_READ)
        return is_data(x, running, b->site);
    return a->access == PTX_ACCESS_READ && b->access == PTX_ACCESS_WRITE && is_data(x, running, a->site);
}

static uint64_t pair_of(const Stamp *a, const Stamp *b) {
    uint32_t lo = a->site < b->site ? a->site : b->site, hi = a->site < b->site ? b->site : a->site;
    return (uint64_t)lo << 32 | hi;
}

bool gr_exact_has_counted(Exact *x, const Access *access, const Stamp *a, const Stamp *b) {
    uint64_t key = pair_of(a, b);
    bool lockstep = access->owner && x->options.volatiles == EXACT_VOLATILE_LOCKSTEP &&
                    a->mark & b->mark & STAMP_VOLATILE && a->access != b->access;
    if (x->options.volatiles == EXACT_VOLATILE_ALL || lockstep || x->hosts.several)
        return false;
    if (x->last_pair != key && (gr_map_get_u64(&x->volatile_pairs, key) ||
                                (uintptr_t)gr_map_get_u64(&x->volatile_ordered, key) >= ORDERED_OFTEN))
        x->last_pair = key;
    return x->last_pair == key;
}

void gr_exact_volatile_ordered(Exact *x, const Stamp *a, const Stamp *b) {
    uint64_t key = pair_of(a, b);
    uintptr_t times = (uintptr_t)gr_map_get_u64(&x->volatile_ordered, key) + 1;
    if (!gr_map_put_u64(&x->volatile_ordered, key, (void *)times))
        x->nomem = true;
}

bool gr_exact_counts_sites(const Exact *x, const Access *access) {
    return x->options.volatiles != EXACT_VOLATILE_ALL && !access->owner && !x->hosts.several;
}

bool gr_exact_reports_volatile(Exact *x, const Access *access, const Stamp *a, const Stamp *b) {
    if (x->options.volatiles == EXACT_VOLATILE_ALL ||
        (access->owner && x->options.volatiles == EXACT_VOLATILE_LOCKSTEP &&
         is_lockstep(x, access->view.launch, a, b)))
        return true;
    uint64_t key = pair_of(a, b);
    if (!gr_map_get_u64(&x->volatile_pairs, key) && !gr_map_put_u64(&x->volatile_pairs, key, x))
        x->nomem = true;
    return false;
}

size_t gr_exact_volatiles(const Exact *x) { return x->volatile_pairs.live; }
