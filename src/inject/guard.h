// SPDX-License-Identifier: Apache-2.0
// guard — work, on what a program handed over, that may crash: then it has failed, and the program goes on.
#ifndef GR_INJECT_GUARD_H
#define GR_INJECT_GUARD_H

#include "base/status.h"

// Yields what work(user, err) does, or GR_ERR_INTERNAL when it ends in SIGSEGV, SIGBUS, SIGFPE, SIGILL or abort(), and
// leaks its memory. One at a time, with the injection's lock. Signals of other threads go where they went before.
gr_status gr_guarded(gr_status (*work)(void *user, gr_error *err), void *user, gr_error *err);

#endif
