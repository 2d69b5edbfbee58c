// SPDX-License-Identifier: Apache-2.0
#include "engines/tracker/pass/work.h"

#include "engines/tracker/device/record.h"
#include "engines/tracker/pass/order.h"
#include "ptx/feeds.h"

#include <stdio.h>

uint32_t gr_tracker_space(PtxSpace s) {
    return s == PTX_GLOBAL           ? GR_SPACE_GLOBAL
           : s == PTX_GENERIC        ? GR_SPACE_GENERIC
           : s == PTX_SHARED_CLUSTER ? GR_SPACE_CLUSTER
                                     : GR_SPACE_SHARED;
}

static GrStrength strength_of(const PtxSite *site) {
    const PtxInstr *i = site->stmt->instr;
    if (!site->strong)
        return GR_WEAK;
    if (i->sem == PTX_VOLATILE)
        return GR_VOLATILE;
    switch (i->scope) {
    case PTX_SCOPE_CTA: return GR_STRONG_CTA;
    case PTX_SCOPE_CLUSTER: return GR_STRONG_CLUSTER;
    case PTX_SCOPE_SYS: return GR_STRONG_SYS;
    case PTX_SCOPE_GPU: return GR_STRONG_GPU;
    default:
        return site->access == PTX_ACCESS_RMW ? GR_STRONG_GPU : GR_STRONG_SYS; // atom without a scope; .mmio
    }
}

uint32_t gr_tracker_what(const PtxSite *site, PtxAccess access, PtxSpace space, unsigned size) {
    const PtxInstr *i = site->stmt->instr;
    return size << GR_WHAT_SIZE |
           (gr_tracker_order(i) & GR_ORDER_ACQUIRES && site->strong ? GR_WHAT_ACQUIRES : 0) |
           (uint32_t)strength_of(site) << GR_WHAT_STRENGTH |
           (strength_of(site) == GR_VOLATILE && access == PTX_ACCESS_READ &&
                    gr_ptx_feeds_data(site->func, site->stmt)
                ? GR_WHAT_DATA
                : 0) |
           (access & PTX_ACCESS_WRITE ? GR_WHAT_WRITES : 0) | (access & PTX_ACCESS_READ ? GR_WHAT_READS : 0) |
           (access == PTX_ACCESS_RMW ? GR_WHAT_ATOMIC : 0) | gr_tracker_space(space) << GR_WHAT_SPACE |
           (i->op == PTX_OP_ATOM && gr_ptx_instr_has(i, PTX_MOD_cas) ? GR_WHAT_CAS : 0) |
           (i->op == PTX_OP_ATOM && gr_ptx_instr_has(i, PTX_MOD_exch) ? GR_WHAT_EXCH : 0);
}

const char *gr_tracker_own(const TrackerWork *w, char *buf, size_t size) {
    snprintf(buf, size, "%s%s", w->own ? ", " : "", w->own ? w->own->name : "");
    return buf;
}

// The function of the common path for such an access.
static const char *quick_name(bool shared, bool writes, bool strong) {
#define QUICK_NAME(name, of_shared, of_write, of_strong)                                                     \
    if (shared == of_shared && writes == of_write && strong == of_strong)                                    \
        return #name;
    GR_QUICK(QUICK_NAME)
#undef QUICK_NAME
    return "access";
}

gr_status gr_tracker_put_call(const TrackerWork *w, const Access *a, PtxStmt *at, uint32_t what,
                              const PtxReg *address, const char *value) {
    char guard[64], own[64];
    uint32_t space = what >> GR_WHAT_SPACE & 3, strength = what >> GR_WHAT_STRENGTH & 7;
    bool special = strength > GR_STRONG_SYS || what & GR_WHAT_ACQUIRES || space > GR_SPACE_SHARED;
    const PtxReg *where = special ? NULL : w->where[space];
    const char *name =
        where ? quick_name(space == GR_SPACE_SHARED, (what & GR_WHAT_WRITES) != 0, strength != GR_WEAK)
              : "access";
    gr_access_guard(a, guard, sizeof guard);
    gr_tracker_own(w, own, sizeof own);
    if (!where || (what & 0xff) > 4)
        return gr_access_put(a, at, NULL, 0, "%scall __gr%s_%s, (%u, %u, %s, %s%s%s%s);", guard, w->o->suffix,
                             name, a->site->id, what, address->name, value, own, where ? ", " : "",
                             where ? where->name : "");
    const PtxReg *rest = gr_ptx_new_reg(a->func, PTX_B64), *any = gr_ptx_new_reg(a->func, PTX_PRED);
    gr_status st = gr_access_put(a, at, NULL, 0, "%scall (%s), __gr%s_%s_word, (%u, %u, %s, %s%s, %s);",
                                 guard, rest->name, w->o->suffix, name, a->site->id, what, address->name,
                                 value, own, where->name);
    if (st == GR_OK)
        st = gr_access_put(a, at, NULL, 0, "setp.ne%s.u64 %s, %s, 0%s%s;", a->guard ? ".and" : "", any->name,
                           rest->name, a->guard ? ", " : "", a->guard ? a->guard->name : "");
    return st != GR_OK
               ? st
               : gr_access_put(a, at, NULL, 0, "@%s call __gr%s_rest, (%u, %u, %s, %s%s, %s);", any->name,
                               w->o->suffix, a->site->id, what, address->name, value, own, rest->name);
}
