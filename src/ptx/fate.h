// SPDX-License-Identifier: Apache-2.0
// fate — where a thread turns out to use a value that it has loaded, if not every thread does.
//
// speculate.h has loads whose value ends in selects only. Here a value may also be used behind branches: nvcc hoists
// the load of `for (…) if (c) x += s[0];` out of the loop, and a thread that loads need never come to the addition. The
// PTX does not say whether the compiler did that. But no compiler moves a load up over a fence, a barrier or the like:
// if one comes between, the source loads there, too.
#ifndef GR_PTX_FATE_H
#define GR_PTX_FATE_H

#include "ptx/cfg.h"
#include "ptx/speculate.h"

// Threads may throw the value of the load `s` away. *out then has all places where one chooses or uses it (`pred` NULL:
// each thread that comes there uses it), and the registers in which the value may be until then. Each register holds
// something of the value from such a statement (`holder`) on until another statement overwrites it. False in doubt:
// every thread uses the value.
bool gr_may_be_discarded(const DefUse *d, const Cfg *g, PtxStmt *s, Decisions *out);

// An instruction that orders may come between the load and one of those places. Then the source loads where the PTX
// does, and nothing was hoisted. A sequence lock's data is such a load.
bool gr_crosses_order(const Cfg *g, const Decisions *t, const PtxStmt *load);

// The straight line behind the load uses the value: then gr_may_be_discarded() is false, and no Cfg is needed to know
// so. With `d` also true if the line puts the value into a register that other statements write, too: in a function
// without selects gr_may_be_discarded() is false then, too.
bool gr_used_at_once(const DefUse *d, PtxStmt *s);

// Whether `later` stands in the same straight line of code, at `s` or behind it.
bool gr_leads_to(const PtxStmt *s, const PtxStmt *later);

#endif
