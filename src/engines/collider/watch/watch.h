// SPDX-License-Identifier: Apache-2.0
// watch — watchpoints: a thread that touches the bytes of an access while the access's thread waits right behind it
// races with it, whatever the values are. SuperCollider has to go by values because GPUs have no watchpoints (section
// 7.2); the CPU device tells of every window that opens and of every access.
//
// Why each such meeting is a race (theorems A.2 and A.3 of the paper, with "sees another value" read as "meets an
// access"): an order that synchronization makes agrees with the order in which the device executes. The thread of a
// window has done nothing since its access. So an access that comes while the window is open is not ordered before the
// window's access, because it is later. It is not ordered after it either: for that the thread would have had to
// release something since. Both overlap, one writes, and the window's access is weak, so no strength excuses them. The
// same holds
//
//     of an asynchronous operation under way: it reads and writes after everything that comes before then, its own
//         thread's accesses included. No access is ordered after it before a thread has waited for it, and the wait
//         completes it. Only what preceded its issue is ordered before it;
//     of a copy or memset of the API, between its beginning, which whatever its stream waits for precedes, and its end;
//     of an access by the host, by such an operation or such a copy, in a window or in another of these.
//
// A load that the compiler hoisted out of its guard is an access only of lanes that keep the value: what met its window
// waits until that is known. Told late itself, it counts against windows that are open then: its thread has released
// nothing since.
//
// Not judged: two strong operations (reductions under way against atomic ones), operations that write only some bytes
// of what they name, the host where its accesses are not seen one by one.
#ifndef GR_ENGINES_COLLIDER_WATCH_WATCH_H
#define GR_ENGINES_COLLIDER_WATCH_WATCH_H

#include "base/status.h"
#include "device_api/work.h"
#include "findings/race.h"
#include "vm/observer.h"

typedef struct Watch Watch;

typedef struct WatchOptions {
    // Called when a pair of places is first seen to race; it may set r->mine.count and r->ours.
    void (*found)(void *user, Race *r);
    // NULL: all kernels are watched. Else those for which it says so.
    bool (*wanted)(void *user, const char *kernel);
    // NULL: all of their accesses. Else those for which it says so.
    bool (*wanted_site)(void *user, const PtxModule *m, uint32_t site);
    // Whether there is work that accesses of the host may race with: true at each submission. NULL: none is seen.
    void (*pending)(void *user, bool on);
    // What a module is called in a side of a race. NULL: where it is.
    uint64_t (*fingerprint)(const PtxModule *m);
    void *user;
    bool no_same_value;
} WatchOptions;

gr_status gr_watchpoints_create(const WatchOptions *o, Watch **out, gr_error *err);
void gr_watchpoints_free(Watch *w);
VmObserver gr_watchpoints_observer(Watch *w);

// A copy (FILL: a memset, without `from`) begins; it ends, as anything else that was submitted may.
void gr_watchpoints_submitted(Watch *w);
void gr_watchpoints_copy_begins(Watch *w, uint64_t item, uint32_t call, bool fill, const GrBox *from,
                                const GrBox *to);
void gr_watchpoints_ended(Watch *w, uint64_t item);

void gr_watchpoints_host_touched(Watch *w, const GrHostTouch *t);

size_t gr_watchpoints_races(const Watch *w);
const Race *gr_watchpoints_race(const Watch *w, size_t k);
// Something was left out because memory ran out.
bool gr_watchpoints_incomplete(const Watch *w);

#endif
