// SPDX-License-Identifier: Apache-2.0
// collider_time — how long a warp waits, and where: in windows, and before what other threads' windows are to see.
//
// A window shows what another thread does while it is open. Two warps that start together, or leave a barrier together,
// run in step, so that both sides must wait: one in its window, the other one before its store. There are two ways to
// draw how long:
//
// On the CPU device, whose time is virtual, every power of two below the maximum is as likely as any other. A race
// whose other side is near is met as well as one whose other side is far.
//
// On a GPU (ColliderOptions.thinned) windows are rare where code runs often, and where one opens it is worth its time.
// Windows there have about one length L: warps that wait in each of their windows stay side by side, and the smaller
// waits before stores decide which one comes first. With waits of all sizes the longest wait before an access decides
// where its warp is, and that wait is another one in each warp. A model of two to four warps with two or three accesses
// each (docs/detection-gpu.md) gave these:
//
//     WAIT_WINDOW   after a load: L/2 to L
//     WAIT_STORED   after a store: in 5 cases of 8, L/2 to L. Only another store shows there, and the wait makes the
//                   warp late for what follows
//     WAIT_LATE     before a store, a strong or an atomic access: in one case of 2, up to L/2
//     WAIT_POISON   between a poisoned store and the store: up to L
//
// L is what the launch has in a thread's first window of a function. After each window L is an eighth shorter, down to
// WAIT_LEAST_NS. Then the thread has no more windows outside loops, but where it keeps what it accesses.
//
// How long: what decides is not the length but that warps wait differently long. Most kernels take microseconds, so L
// is WAIT_USUAL hundredths of the maximum in most launches. Of WAIT_CYCLE seeds in a row one has a longer L, and one
// the longest for kernels in which a barrier of the grid, a lock or a flag may come between the two sides of a race
// (WAIT_KINDS). With two of them threads keep what they access (collider_segment.h) and wait for less; in a kernel's
// first launches, of few threads, with a third one as well; in all three some warps begin late (collider_halves.h).
// Code that runs for the first time takes some microsecond for each window (it seems: the code is fetched from far;
// docs/detection-gpu.md), so that warps that wait less come up with each other. In small launches L is WAIT_SMALL times
// as long for that, but where something may run beside them; in large ones later blocks have the code. In four of five
// one half of the warps waits 4 or 32 times less than the others: it comes to what is far while a window of the others
// is open. In every launch one half of the blocks waits WAIT_QUICKER times less (collider_halves.h). Every second
// launch of a kernel goes on to the next kind.
//
// Each kernel counts its launches (GrControl.launches). Behind WAIT_FIRST of them all windows stay shut in most
// launches: one of WAIT_ONE_IN has some, which the seed chooses, and each beside which something may run. L is half
// behind the second launch, a quarter behind the fourth, and so on; behind WAIT_AGAIN launches it begins anew. So a
// program that launches often does not pay for waits each time. In a function that is called, which may be often, L is
// WAIT_CALLED times less.
//
// An H100 sleeps for the next power of two above what nanosleep is told (measured: docs/detection-gpu.md). So that two
// warps do not wait for the same time, a wait there is several sleeps, one for each of the WAIT_PARTS highest bits that
// are set. To sleep for less than WAIT_SHORT_NS takes longer than that.
#ifndef GR_ENGINES_COLLIDER_PASS_COLLIDER_TIME_H
#define GR_ENGINES_COLLIDER_PASS_COLLIDER_TIME_H

#include "engines/collider/device/brief.h"
#include "engines/collider/device/late_starts.h"
#include "engines/collider/pass/collider_access.h"

enum {
    WAIT_LEAST_NS = GR_WAIT_LEAST_NS,
    WAIT_CALLED = 8,
    WAIT_PARTS = GR_WAIT_PARTS,
    WAIT_SHORT_NS = GR_WAIT_SHORT_NS,
    WAIT_AGAIN = 64, // a power of two
    WAIT_FIRST = 2,  // launches of a kernel have windows, later ones
    WAIT_ONE_IN = 4, // of so many one: a power of two
    WAIT_CYCLE = 5,
    WAIT_USUAL = 10,          // hundredths of the maximum
    WAIT_WATCHES = 8,         // likewise: where threads keep what they access (collider_segment.h)
    WAIT_NEAR = 40,           // likewise: the longest L where no side can be far
    WAIT_SMALL = 4,           // times as long, where L would be WAIT_USUAL or less, in launches
    WAIT_SMALL_THREADS = 256, // of so many threads at most
    WAIT_LONGEST = 16,        // times the maximum: no L is longer
    WAIT_QUICKER = 4
};
// A kind of launches: L in hundredths of the maximum, how many times less one half of the warps waits, and whether
// threads keep what they access. `late`: which warps begin late in a kernel's first launches, if they have few threads
// (collider_halves.h). `few`: only in such launches do threads keep what they access, and there the others hardly wait.
typedef struct WaitKind {
    uint32_t hundredths, quicker;
    bool watches, few;
    GrLateStarts late;
} WaitKind;
#define WAIT_KINDS                                                                                           \
    {                                                                                                        \
        {WAIT_USUAL, 1, true, true, GR_LATE_WARPS}, {WAIT_WATCHES, 4, true, false, GR_LATE_BLOCKS},          \
            {WAIT_NEAR, 4, false, false, GR_LATE_NONE}, {WAIT_WATCHES, 4, true, false, GR_LATE_FOURTH},      \
            {160, 4, false, false, GR_LATE_NONE},                                                            \
    }

typedef enum ColliderWait { WAIT_WINDOW, WAIT_STORED, WAIT_LATE, WAIT_POISON } ColliderWait;

// Emits a delay of up to `max_ns` at `at`, for the lanes of a->guard.
gr_status gr_collider_wait(ColliderWork *w, const Access *a, PtxStmt *at, ColliderWait what, uint32_t max_ns);

// Only sleeps: `delay` is a register, which it changes, or a number.
gr_status gr_collider_sleep(ColliderWork *w, const Access *a, PtxStmt *at, const char *delay);

// The function waits somewhere: w->length and w->random are there from now on.
void gr_collider_need_waits(ColliderWork *w, PtxFunc *f);
// A number below `below`, in `drawn`. Where there are waits.
gr_status gr_collider_draw_below(ColliderWork *w, const Access *a, PtxStmt *at, uint32_t below,
                                 const char *drawn);

// `ns`, or less, down to half of that, in `drawn`. Likewise.
gr_status gr_collider_draw_about(ColliderWork *w, const Access *a, PtxStmt *at, uint32_t ns,
                                 const char *drawn);
// Sleeps for that, whatever L is.
gr_status gr_collider_sleep_about(ColliderWork *w, const Access *a, PtxStmt *at, uint32_t ns);

// Only chooses it: `delay` is the register or the number that holds it.
enum { DELAY_TEXT = 32 };
gr_status gr_collider_draw(ColliderWork *w, const Access *a, PtxStmt *at, ColliderWait what, uint32_t max_ns,
                           char delay[DELAY_TEXT]);

// No wait of up to `max_ns` is longer than that.
uint32_t gr_collider_longest(uint32_t max_ns);
// Behind a window whose waits are of up to `max_ns`: whether the thread has more of them outside loops.
gr_status gr_collider_last(const ColliderWork *w, const Access *a, PtxStmt *at, uint32_t max_ns);

// Draws whether something is done, at `at`: `p` holds in `of` cases of 2^32, for all lanes that are together alike.
gr_status gr_collider_chance(ColliderWork *w, const Access *a, PtxStmt *at, uint32_t of, const PtxReg *p);

// Before an access that has no window of its own.
gr_status gr_collider_come_late(ColliderWork *w, Access *a);
// At a function's beginning `at`, behind what counts the blocks: how often the kernel was launched, and whether this
// launch has windows.
gr_status gr_collider_begin_count(ColliderWork *w, PtxFunc *f, PtxStmt *at);
// Where threads end of which one, for which `p` holds, counts the launch: so all threads of a launch, which are there
// before it ends, see one number.
gr_status gr_collider_count_launch(const ColliderWork *w, const Access *a, PtxStmt *at, const PtxReg *p);
// At a function's beginning `at`, behind what sets the generator: how long L is.
gr_status gr_collider_begin_waits(ColliderWork *w, PtxFunc *f, PtxStmt *at);

#endif
