// SPDX-License-Identifier: Apache-2.0
// hold — kernels that are held: they wait, in a window, until what may run beside them has come.
//
// A kernel that is held and the host share a page of the host's memory (GrHold, device/record.h), one in each context:
//
//     GrControl.beside    in front of a launch, in its stream, a fill tells the kernel that it is held, by which
//                         number, and how
//     GrHold.begun        the kernel tells that it has begun, GrHold.inside that one of its threads waits in a window
//     GrHold.host         the host tells what it does: whether something may come, is about to, or nothing more does
//
// Each wait of a kernel has a bound (device/hold.h). Where there is no such page, kernels are told and do not wait.
#ifndef GR_ENGINES_COLLIDER_HOLD_H
#define GR_ENGINES_COLLIDER_HOLD_H

#include "base/vec.h"
#include "engines/collider/device/record.h"
#include "engines/collider/late_driver.h"

#include <pthread.h>

// The control block of a module, or of a part of it, in a context; and the last word told to it in a stream.
typedef struct HoldControl {
    const GrModule *module;
    CUcontext context;
    CUdeviceptr word;
    uint32_t told;
} HoldControl;

typedef struct HoldPage {
    CUcontext context;
    GrHold *words;  // on pages of its own, until gr_holds_free
    CUdeviceptr at; // 0: the context is gone
} HoldPage;

typedef struct Holds {
    GrSession *session;
    const LateDriver *driver;
    pthread_mutex_t lock; // of the fields below
    VEC(HoldControl) controls;
    VEC(HoldPage) pages;
    bool said;
    GrHostState host;
    unsigned n_before, n_behind; // gates that are shut, from before and behind the newest launch
    // By any thread, without it:
    uint32_t newest;  // number of the launch that was told last
    uint32_t state;   // as GrHold.host
    uint64_t changed; // when it changed, in gr_late_now's ns
} Holds;

uint64_t gr_late_now(void); // ns

void gr_holds_begin(Holds *h, GrSession *s, const LateDriver *d);
void gr_holds_end(Holds *h);
// A module is in the driver, in the current context. Yields what its GrControl.hold is to be.
CUdeviceptr gr_holds_loaded(Holds *h, const GrModule *m, CUcontext context, CUdeviceptr control);
// Forgets a module or a context: the other one is NULL.
void gr_holds_forget(Holds *h, const GrModule *m, CUcontext context);

// Before launches of the module (NULL: of all modules) in the context: tells those that come next in the stream how
// they are held. `how`: GR_BESIDE_STAYS and the shift of GR_BESIDE_SHORTER. Yields the launch's number.
uint32_t gr_holds_tell(Holds *h, const GrModule *m, CUcontext context, CUstream stream, uint32_t how);
// Whether launches that are not held would have to be told so.
bool gr_holds_are_told(Holds *h, const GrModule *m, CUcontext context);
// Tells the launches that come next in the stream that they are not held.
void gr_holds_release(Holds *h, const GrModule *m, CUcontext context, CUstream stream);

void gr_holds_say(Holds *h, GrHostState state);
// gr_holds_shut counts one more gate, and yields the newest launch's number; gr_holds_opened takes it back by that.
// While gates are shut from before the newest launch, or that wait for it, kernels wait for the work behind. Both may
// be called in host functions.
uint32_t gr_holds_shut(Holds *h, bool for_newest);
void gr_holds_opened(Holds *h, uint32_t newest, bool for_newest);
GrHostState gr_holds_state(const Holds *h);
// Whether the launch of that number has begun; false where there is no page. May be called in a function of the host.
bool gr_holds_begun(Holds *h, uint32_t number);
// Waits until a thread of the launch waits in a window, for HOLD_INSIDE_NS at most: the first time that code runs takes
// long, and in some launches none does.
void gr_holds_await_inside(Holds *h, uint32_t number);
enum { HOLD_INSIDE_NS = 60000 };
// Where there are several contexts, whose pages a kernel does not share: waits for HOLD_SHARE_NS at most until it has
// begun, and tells the kernels of the others.
enum { HOLD_SHARE_NS = 200000 };
void gr_holds_share(Holds *h, uint32_t number);

#endif
