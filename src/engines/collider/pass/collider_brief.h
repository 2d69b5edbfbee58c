// SPDX-License-Identifier: Apache-2.0
// collider_brief — windows as calls, in functions of very many accesses (ColliderOptions.thinned).
//
// What is inserted for an access is some hundred instructions, and ptxas takes more than in proportion for more of them
// in one function: a radix sort of CUB with 1319 accesses took it 84 s. So in functions of BRIEF_SITES accesses or more
// each access has a window as everywhere, by calls of the device runtime (device/brief.c): a wait, and one look. What
// such functions do not have: several looks in a window, looks at loads in later windows (collider_again.h), what is
// kept to the end of the segment with late stores and late starts (collider_segment.h), and waits for what runs beside
// the launch (device/hold.h).
//
// Accesses that the calls do not know have a window in place, with one look: those of more than 16 bytes, of parts of
// elements, and whose value a thread may throw away.
#ifndef GR_ENGINES_COLLIDER_PASS_COLLIDER_BRIEF_H
#define GR_ENGINES_COLLIDER_PASS_COLLIDER_BRIEF_H

#include "engines/collider/pass/collider_time.h"

enum { BRIEF_SITES = 192 };

// Whether the function is one of these; before anything is inserted. `status`: which sites are left alone.
bool gr_brief_is(const ColliderOptions *o, const PtxFunc *f, const GrSiteStatus *status);
// Before a module's functions are rewritten: what these call.
gr_status gr_brief_link(PtxModule *m, const ColliderOptions *o, const GrSiteStatus *status, gr_error *err);

// In such a function (w->brief), the code of gr_collider_wait.
gr_status gr_brief_wait(ColliderWork *w, const Access *a, PtxStmt *at, ColliderWait what, uint32_t max_ns);
// Whether calls know the access, whose elements are `values`, of `bits` bits.
bool gr_brief_knows(const ColliderWork *w, const Access *a, const PtxOperand *values, unsigned bits);
// The value and the address of such an access, at `at`, for the calls below.
typedef struct BriefAccess {
    char value[2][24];
    const PtxReg *address;
} BriefAccess;
gr_status gr_brief_access(const Access *a, PtxStmt *at, const PtxOperand *values, unsigned bits,
                          BriefAccess *b);
// A look at `at`.
gr_status gr_brief_look(const ColliderWork *w, const Access *a, PtxStmt *at, const BriefAccess *b,
                        GrRaceClass class);
// At `at`, before a store: what comes before it everywhere.
gr_status gr_brief_before(ColliderWork *w, const Access *a, PtxStmt *at, const BriefAccess *b);

#endif
