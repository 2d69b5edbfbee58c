// SPDX-License-Identifier: Apache-2.0
// collider_hoisted — the collider's code around a load whose value its thread may throw away (ptx/fate.h).
//
// The thread looks twice when it loads, as for any load, and reports where it uses the value:
//
//     p = false;  ld r, [a];  delay, ld again;     differs: p = true, and what was seen is remembered
//     …
//     selp x, r, y, q;                             before it: p and q: report
//
// p goes with the value from register to register. What overwrites a register makes its p false. Where the load's own
// register alone has the value, the thread also keeps it to the end of the segment, and looks at it there if it has
// used it.
#ifndef GR_ENGINES_COLLIDER_PASS_COLLIDER_HOISTED_H
#define GR_ENGINES_COLLIDER_PASS_COLLIDER_HOISTED_H

#include "base/map.h"
#include "engines/collider/pass/collider_access.h"
#include "ptx/fate.h"

typedef struct Hoisted {
    const DefUse *uses;
    Decisions d;
    PtxReg *raced[SPEC_MAX_HOLDERS];         // of each holder: whether what it holds was seen to change
    bool shares[SPEC_MAX_HOLDERS];           // it is the flag of the load
    const PtxReg *address, *expected, *seen; // of the change
    // Whether the thread keeps what it loaded to the end of the segment (collider_segment.h); NULL: never.
    PtxReg *kept;
    unsigned words; // that it keeps
} Hoisted;

// Of one function, built when the first load asks.
typedef struct HoistedCode {
    Arena arena;
    Cfg cfg;
    Map scopes;
    bool has_cfg, has_none, selects, looked;
} HoistedCode;
void gr_collider_forget_code(HoistedCode *code);

// Whether the load is such a one. If it is, *h is for w->hoisted while gr_collider_load puts its code, and for
// gr_collider_put_uses behind that.
gr_status gr_collider_is_hoisted(ColliderWork *w, const Access *a, const DefUse *uses, HoistedCode *code,
                                 Hoisted *h, bool *is);
gr_status gr_collider_put_uses(ColliderWork *w, Access *a, Hoisted *h);

// At `at`, in the load's window: the thread may keep what it loaded.
gr_status gr_collider_keep_hoisted(ColliderWork *w, Access *a, PtxStmt *at);

// At `at`, where threads come that saw a change.
gr_status gr_collider_remember(Hoisted *h, const Access *a, PtxStmt *at, const PtxReg *address,
                               const PtxReg *expected, const PtxReg *seen);

#endif
