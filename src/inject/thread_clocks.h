// SPDX-License-Identifier: Apache-2.0
// thread_clocks — what each thread of the program knows of the others, as far as pthreads and C11 threads order them.
//
// Each thread has a vector clock: for every thread that has waited for the device, up to which of its waits this one
// comes after. A release (a mutex unlocked, a semaphore posted, ...) leaves its thread's clock with the object, and an
// acquire joins the object's clock to its thread's. Nothing is followed before the first wait, as no thread knows
// anything then.
//
// Any thread at any time may come here, signal handlers too: memory comes from mmap, the lock is a leaf, and a thread
// that is interrupted here passes. All is of fixed size or bounded: the last 65536 objects are remembered, and 256
// threads that wait for the device. A forgotten order may cause a needless remark, and never a race in the report.
#ifndef GR_INJECT_THREAD_CLOCKS_H
#define GR_INJECT_THREAD_CLOCKS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct GrHostThreads;

// For engines (GrSession.threads).
extern const struct GrHostThreads gr_thread_clocks;

extern bool gr_threads_followed; // atomic
static inline bool gr_threads_are_followed(void) {
    return __atomic_load_n(&gr_threads_followed, __ATOMIC_RELAXED);
}

// An object has two low bits to spare, for up to four clocks. `caller`: the address that the call returns to. Calls of
// our own libraries order nothing of the program's. errno stays as it is.
enum { GR_CLOCK_MAIN, GR_CLOCK_SECOND, GR_CLOCK_THIRD, GR_CLOCK_COUNTER };
void gr_threads_acquire(const volatile void *object, unsigned which);
void gr_threads_release(const volatile void *object, unsigned which, const void *caller);
// An object is made or destroyed: forgets what was at its place.
void gr_threads_forget(const volatile void *object);

// A barrier of `count` threads. Yields the clock of the phase that the caller arrives at; GR_CLOCK_COUNTER: not known.
void gr_threads_barrier(const volatile void *barrier, unsigned count);
unsigned gr_threads_arrive(const volatile void *barrier);

// What a new thread begins with; NULL: nothing. The thread must take it, or the caller drop it.
typedef struct SyncThread SyncThread;
SyncThread *gr_threads_child(const void *caller);
void gr_threads_begin(SyncThread *t);
void gr_threads_drop(SyncThread *t);
// Thread `id` has ended, and the caller knows.
void gr_threads_joined(pthread_t id);

// Small memory that a signal handler may ask for, too. NULL: there is none.
void *gr_threads_alloc(unsigned size);
void gr_threads_free(void *p, unsigned size);

#endif
