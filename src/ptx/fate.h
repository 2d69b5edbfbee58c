// SPDX-License-Identifier: Apache-2.0
// fate — where a thread turns out to use a value that it has loaded, when not every thread does.
//
// speculate.h has loads whose value all ends in selects. Here a value may also be used behind branches: nvcc hoists the
// load of `for (…) if (c) x += s[0];` out of the loop, and what loads it need never come to the addition. The PTX does
// not say whether it was the compiler. But no compiler moves a load up over a fence, a barrier or the like: where one
// comes between, the source loads there, too.
#ifndef GR_PTX_FATE_H
#define GR_PTX_FATE_H

#include "ptx/cfg.h"
#include "ptx/speculate.h"

// Whether threads may throw the value of the load `s` away: then *out has all places where one chooses or uses it
// (`pred` NULL: each thread that comes there uses it), and the registers in which the value may be until then. Each
// register holds something of the value from such a statement (`holder`) on until another statement overwrites it. When
// in doubt every thread uses the value, and this is false.
bool gr_may_be_discarded(const DefUse *d, const Cfg *g, PtxStmt *s, Decisions *out);

// Whether an instruction that orders may come between the load and one of those places. Then the source loads where the
// PTX does, whatever it guards: nothing was hoisted. A sequence lock's data is such a load.
bool gr_crosses_order(const Cfg *g, const Decisions *t, const PtxStmt *load);

// Whether the straight line of code behind the load has an instruction that uses the value: then the above is false,
// and no Cfg is needed to know it. With `d`: or puts it into a register that other statements write, too. In a function
// that selects nothing the above is false then.
bool gr_used_at_once(const DefUse *d, PtxStmt *s);

// Whether `later` stands in the same straight line of code, at `s` or behind it.
bool gr_leads_to(const PtxStmt *s, const PtxStmt *later);

#endif
