// SPDX-License-Identifier: Apache-2.0
// rule_set — the end of each rules_*.c: its table, named GR_RULES. GR_HAS_OWN: the functions give and take `own`.

#ifdef GR_HAS_OWN
#define AND_OWN , of
#else
#define AND_OWN
#endif

static bool range(const RuleLane *l, uint32_t site, uint32_t what, uint64_t at, uint32_t bytes, uint64_t of) {
    (void)of;
    gr_now = *l;
    __gr_range(site, what, at, bytes AND_OWN);
    return gr_now.trap;
}

static bool saw(const RuleLane *l, uint32_t what, uint64_t at, uint64_t of) {
    (void)of;
    gr_now = *l;
    __gr_saw(what, at AND_OWN);
    return gr_now.trap;
}

static bool run(const RuleLane *l, uint32_t site, uint32_t what, uint64_t at, uint64_t value, uint64_t of) {
    (void)of;
    gr_now = *l;
    __gr_access(site, what, at, value AND_OWN);
    return gr_now.trap;
}

#ifdef GR_HAS_OWN
static uint64_t begin(const RuleLane *l, uint32_t kept) {
    gr_now = *l;
    return __gr_begin(kept);
}

static uint64_t own(const RuleLane *l) {
    gr_now = *l;
    return __gr_own();
}

static uint64_t order(const RuleLane *l, uint32_t what, uint32_t lanes, uint64_t of) {
    gr_now = *l;
    return __gr_order(what, lanes, of);
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
static bool quick(RuleLane *l, const RuleCall *c) {
    gr_now = *l;
    quick_call(c);
    l->lane = gr_now.lane;
    return gr_now.trap;
}
#else // its pass inserts no calls of those that are missing
#define own    NULL
#define quick  NULL
#define extent NULL
#define stray  NULL

static uint64_t begin(const RuleLane *l, uint32_t kept) {
    (void)kept;
    gr_now = *l;
    __gr_begin();
    return 0;
}

static uint64_t order(const RuleLane *l, uint32_t what, uint32_t lanes, uint64_t of) {
    (void)of;
    gr_now = *l;
    __gr_order(what, lanes);
    return 0;
}
#endif

const RuleSet GR_RULES = {begin, own, order, run, quick, saw, range, extent, stray};
