// SPDX-License-Identifier: Apache-2.0
// feeds — what the value of a load is for: data, or only the way that the thread takes.
#ifndef GR_PTX_FEEDS_H
#define GR_PTX_FEEDS_H

#include "ptx/ptx.h"

// Whether the value, or what is computed from it, is stored, passed on or used as an address, and decides about no branch of a
// loop around the load. A flag, a lock that is looked at and a value that is polled are no such thing. By the text, whatever
// the order of execution: when in doubt it is not. False when memory is out.
bool gr_ptx_feeds_data(const PtxFunc *f, const PtxStmt *load);

#endif
