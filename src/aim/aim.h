// SPDX-License-Identifier: Apache-2.0
// aim — race-directed testing in two steps (Sen, PLDI 2008): a run notes which accesses conflict, by whatever threads
// and however far apart in time. In the next runs a thread that comes to one of the two accesses waits until another
// thread comes to the other one.
//
// The first step need not be right: a pair that something orders costs time when it is aimed at, and is never reported
// for that. A run notes accesses of different threads to the same bytes, one of which writes and one of which is weak,
// unless something stands between them: a barrier of the block, a __syncwarp() of both lanes, a wait for an
// asynchronous one; between launches, the order of a stream or the host's waiting. Accesses that atomics and fences
// order are noted (Conflict.likely is false then). For each four bytes the last few accesses are remembered, so not all
// conflicts are seen.
//
// What to aim at is a text, which a report repeats: words separated by commas.
//
//     FUNCTION:NTH                      an access (passes/sample.h) of a pair that has not met: threads that come there
//                                       may wait
//     FUNCTION:NTH@LAUNCH.BLOCK.WARP    threads of that warp that come there wait until no other thread can go on
//     FUNCTION:0                        this kernel's threads begin late
//     new                               nothing is left to aim at: try something new
#ifndef GR_AIM_AIM_H
#define GR_AIM_AIM_H

#include "base/status.h"
#include "findings/conflict.h"
#include "findings/race.h"
#include "vm/observer.h"

typedef struct Aim Aim;

typedef struct AimOptions {
    const char *at; // what to aim at, as above; "": nothing
    bool notes;     // conflicts are noted
    // Called when this run first sees a pair conflict, and again when it knows more of it.
    void (*noted)(void *user, const Conflict *c);
    void *user;
    // What a module is called in a RaceSide, and what it has in common with the device's.
    uint64_t (*fingerprint)(const PtxModule *m);
} AimOptions;

// GR_ERR_ARGUMENT says what is wrong with `at`.
gr_status gr_aim_create(const AimOptions *o, Aim **out, gr_error *err);
void gr_aim_free(Aim *a);
VmObserver gr_aim_observer(Aim *a);
// What gr_aim_create says of `at`.
gr_status gr_aim_check(const char *at, gr_error *err);

// A module as the program has it: accesses are named after its functions. The device's is another one, with the same
// fingerprint. False: memory is out.
bool gr_aim_module(Aim *a, const PtxModule *m);

// The device begins a launch of a stream. `blocking`: the context whose legacy stream waits for it; 0: none does.
void gr_aim_launch(Aim *a, uint64_t launch, uint64_t stream, uint64_t blocking);
// The host has waited for a stream's launches; 0: for all. `legacy`: the context of which it is the legacy stream, so
// that it has waited for the blocking ones, too; 0: it is none.
void gr_aim_waited(Aim *a, uint64_t stream, uint64_t legacy);
// Two accesses overlapped.
void gr_aim_met(Aim *a, const Race *r);

#endif
