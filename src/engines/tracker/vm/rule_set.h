// SPDX-License-Identifier: Apache-2.0
// rule_set — the end of each rules_*.c: its table, named GR_RULES. GR_HAS_OWN: the functions give and take `own`.

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

#ifdef GR_HAS_OWN
static uint64_t begin(const RuleLane *l) {
    gr_now = *l;
    return __gr_begin();
}

static uint64_t own(const RuleLane *l) {
    gr_now = *l;
    return __gr_own();
}

static uint64_t order(const RuleLane *l, uint32_t what, uint32_t lanes) {
    gr_now = *l;
    return __gr_order(what, lanes);
}

static bool run(const RuleLane *l, uint32_t site, uint32_t what, uint64_t at, uint64_t value, uint64_t of) {
    gr_now = *l;
    __gr_access(site, what, at, value, of);
    return gr_now.trap;
}

static uint64_t extent(const RuleLane *l, uint64_t base) {
    gr_now = *l;
    return __gr_extent(base);
}

static bool stray(const RuleLane *l, uint64_t at) {
    gr_now = *l;
    __gr_stray(at);
    return gr_now.trap;
}
#else // its pass inserts no calls of those that are missing
#define own    NULL
#define extent NULL
#define stray  NULL

static uint64_t begin(const RuleLane *l) {
    gr_now = *l;
    __gr_begin();
    return 0;
}

static uint64_t order(const RuleLane *l, uint32_t what, uint32_t lanes) {
    gr_now = *l;
    __gr_order(what, lanes);
    return 0;
}

static bool run(const RuleLane *l, uint32_t site, uint32_t what, uint64_t at, uint64_t value, uint64_t of) {
    (void)of;
    gr_now = *l;
    __gr_access(site, what, at, value);
    return gr_now.trap;
}
#endif

const RuleSet GR_RULES = {begin, own, order, run, saw, range, extent, stray};
