// SPDX-License-Identifier: Apache-2.0
// watch — sees the host's own accesses to memory that it shares with the CPU device, while device work is under way.
//
//     host ──▶ mapping of the program, protected ──▶ SIGSEGV: noted, let through, one instruction later protected again
//     device ──▶ its own mapping of the same memory, never protected
//
// watch.c keeps the pages. watch_signals.c has the handlers; it calls the program's own for signals that are not
// gpurace's. watch_calls.c has the C library's functions whose system calls would fail on a protected page.
//
// A fault handler may interrupt anything, so it only hands the fault to a thread of ours and waits. That thread takes
// the driver's lock, tells the engine, and opens the page. A page stays open after its first access if there is no
// single-stepping, or once it was accessed very often; the engine hears of that.
#ifndef GR_INJECT_WATCH_H
#define GR_INJECT_WATCH_H

#include "device_api/hooks.h"
#include "engines/core/engine.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

// Tells `w`, too, from now on. False: it cannot be done, and nothing changed.
bool gr_watch_start(const GrHostWatcher *w);
// Device work is under way, or not any more. With the driver's lock held.
void gr_watch_set(bool on);
// Stops for good.
void gr_watch_stop(void);

typedef enum GrWatchAnswer { GR_WATCH_NOT_OURS, GR_WATCH_OPEN, GR_WATCH_STEP } GrWatchAnswer;

// For the handlers; async-signal-safe. STEP: the page at `address` is open for one instruction, then gr_watch_close.
// `top`: the top of the stack, the caller of a C library function that has not pushed anything.
GrWatchAnswer gr_watch_fault(uint64_t address, uint64_t pc, uint64_t top, bool writes, bool whole);
void gr_watch_close(uint64_t page);
uint64_t gr_watch_page_size(void);

// For system calls on behalf of the program: some of [p, p + n) is watched now. It is open until gr_watch_told, which
// notes what was done with `done` bytes of it.
bool gr_watch_is_on(void);
bool gr_watch_meets(const void *p, size_t n);
int gr_watch_let(const void *p, size_t n); // for gr_watch_told
void gr_watch_told(int let, const void *p, size_t done, bool writes, const void *pc);

// watch_signals.c
bool gr_watch_signals(void);

#endif
