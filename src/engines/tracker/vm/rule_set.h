// SPDX-License-Identifier: Apache-2.0
// rule_set — the end of each rules_*.c: its table, named GR_RULES.

static bool begin(const RuleLane *l) {
    gr_now = *l;
    __gr_begin();
    return gr_now.trap;
}

static bool run(const RuleLane *l, uint32_t site, uint32_t what, uint64_t at, uint64_t value) {
    gr_now = *l;
    __gr_access(site, what, at, value);
    return gr_now.trap;
}

static bool range(const RuleLane *l, uint32_t site, uint32_t what, uint64_t at, uint32_t bytes) {
    gr_now = *l;
    __gr_range(site, what, at, bytes);
    return gr_now.trap;
}

static bool saw(const RuleLane *l, uint32_t what, uint64_t at) {
    gr_now = *l;
    __gr_saw(what, at);
    return gr_now.trap;
}

static bool order(const RuleLane *l, uint32_t what, uint32_t lanes) {
    gr_now = *l;
    __gr_order(what, lanes);
    return gr_now.trap;
}

#ifdef GR_TRACKER_DEVICE_EXTENT_H
static uint64_t extent(const RuleLane *l, uint64_t base) {
    gr_now = *l;
    return __gr_extent(base);
}

static bool stray(const RuleLane *l, uint64_t at) {
    gr_now = *l;
    __gr_stray(at);
    return gr_now.trap;
}

#else // its pass inserts no such calls
#define extent NULL
#define stray  NULL
#endif

const RuleSet GR_RULES = {begin, run, saw, range, order, extent, stray};
