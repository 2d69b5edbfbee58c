// SPDX-License-Identifier: Apache-2.0
// What the program itself tells gpurace, through the header gpurace/gpurace.h. None of these calls begins the session:
// a program may stop checking before it uses CUDA.
#include "inject/inside_run.h"
#include "inject/session.h"
#include "inject/thread_clocks.h"

#include <time.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int gr_user_stop(const volatile void *none);
EXPORT int gr_user_start(const volatile void *none);
EXPORT int gr_user_report_now(const volatile void *none);
EXPORT int gr_user_release(const volatile void *address);
EXPORT int gr_user_acquire(const volatile void *address);

static int set_stopped(uint32_t stopped) {
    GrResultsHeader *h = gr_run_results()->header;
    if (h)
        __atomic_store_n(&h->stopped, stopped, __ATOMIC_SEQ_CST);
    return h != NULL;
}

int gr_user_stop(const volatile void *none) {
    (void)none;
    return set_stopped(1);
}

int gr_user_start(const volatile void *none) {
    (void)none;
    return set_stopped(0);
}

// What a GPU's engine keeps elsewhere goes into the results file.
static void sync_records(void) {
    if (!gr_session.engine || !gr_session_enter())
        return;
    gr_session_lock();
    gr_records_sync();
    gr_session_unlock();
    gr_session_leave();
}

int gr_user_report_now(const volatile void *none) {
    enum { PATIENCE = 3000, NAP_NS = 10000000 }; // naps: half a minute
    (void)none;
    GrResultsHeader *h = gr_run_results()->header;
    if (!h)
        return 0;
    sync_records();
    uint32_t mine = __atomic_add_fetch(&h->asked, 1, __ATOMIC_SEQ_CST);
    for (unsigned k = 0; k < PATIENCE; k++) {
        if ((int32_t)(__atomic_load_n(&h->answered, __ATOMIC_SEQ_CST) - mine) >= 0)
            return 1;
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    }
    return 0;
}

// thread_clocks.h needs two bits of the address.
static const volatile void *object_of(const volatile void *address) {
    return (const volatile void *)((uintptr_t)address & ~(uintptr_t)3);
}

int gr_user_release(const volatile void *address) {
    gr_threads_release(object_of(address), GR_CLOCK_MAIN, __builtin_return_address(0));
    return gr_run_results()->header != NULL;
}

int gr_user_acquire(const volatile void *address) {
    GrResultsHeader *h = gr_run_results()->header;
    gr_threads_acquire(object_of(address), GR_CLOCK_MAIN);
    if (h)
        __atomic_add_fetch(&h->acquired, 1, __ATOMIC_RELAXED);
    return h != NULL;
}
