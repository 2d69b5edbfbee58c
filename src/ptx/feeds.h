// SPDX-License-Identifier: Apache-2.0
// feeds — what the value of a load is for: data, or only the way that the thread takes.
#ifndef GR_PTX_FEEDS_H
#define GR_PTX_FEEDS_H

#include "ptx/cfg.h"

// The value, or what is computed from it, is stored, passed on or used as an address. A polled value, or a lock that is
// looked at, is no data: a branch of a loop around the load depends on it, and the smallest such loop does nothing else
// with it, whatever the code behind the loop does. The first look, which compilers take out of `while`, counts as the
// loop's. By the text, whatever the order of execution. False in doubt, and when memory is out.
bool gr_ptx_feeds_data(const PtxFunc *f, const PtxStmt *load);

typedef enum PtxDecides {
    PTX_DECIDES_NOTHING,
    // The value, of an arrival counter perhaps, is compared with something and no more, or returned to the caller.
    PTX_DECIDES_ONCE,
    PTX_DECIDES_LOOK, // it is polled: a loop around it goes on or ends by the value, and does nothing else with it
} PtxDecides;

// What the value of a load or an atomic operation decides, as far as its function shows, of which `g` is the graph.
PtxDecides gr_ptx_decides(const PtxFunc *f, const Cfg *g, const PtxStmt *s);

#endif
