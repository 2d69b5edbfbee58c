// SPDX-License-Identifier: Apache-2.0
// signal — by what threads tell each other that data is there: atomics, volatile variables, mbarriers, flags in PTX;
// and the fences beside them.
#ifndef GR_REPAIR_SIGNAL_H
#define GR_REPAIR_SIGNAL_H

#include "repair/place.h"

// Whether tokens [from, to) of the function signal, or call a function of the file that does.
bool gr_signals(const GrCode *c, const GrFunctionCode *f, uint32_t from, uint32_t to);

// Whether the statement is a loop that waits for a signal: while (!*flag).
bool gr_waits(const GrCode *c, const GrFunctionCode *f, const GrStatement *s);

// Whether a lock seems to be held at the statement: the thread has waited for a signal, or tried an atomic, before, and
// signals afterwards.
bool gr_is_locked(const GrCode *c, const GrFunctionCode *f, const GrStatement *s);

// Whether the statement is a fence, by its words. NULL is none.
bool gr_fences(const GrCode *c, const GrStatement *s);

// The statement before `s` in its block, or NULL.
const GrStatement *gr_before(const GrStatement *s);

#endif
