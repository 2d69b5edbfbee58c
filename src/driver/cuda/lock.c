// SPDX-License-Identifier: Apache-2.0
// lock — the one lock of the driver, taken in order of arrival, and the gate of every entry point.
//
// With a plain mutex a thread that drains a stream, slice after slice, would starve all others; so the lock is a queue
// of tickets. After fork, the child has the parent's handles but no device and no threads. If the parent had
// initialized, every call then returns CUDA_ERROR_NOT_INITIALIZED, as under NVIDIA's driver.
#include "device_api/hooks.h"
#include "driver/cuda/capture.h"
#include "driver/cuda/driver.h"
#include "driver/cuda/queue.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn = PTHREAD_COND_INITIALIZER;  // `serving` moved
static pthread_cond_t woken = PTHREAD_COND_INITIALIZER; // gr_cu_wake
static uint64_t next_ticket, serving;
static _Atomic uint64_t calls; // entered or left
static _Atomic int last_caller;
static _Atomic int owner;         // of the lock
static _Atomic uint64_t returned; // waits whose calls have given up the lock
static _Thread_local int thread_id;
static _Thread_local uint64_t began; // `returned` when this thread's call began
static _Thread_local bool in_callback;
static _Thread_local int cancel_before; // whether this thread could be cancelled when it took the lock

uint64_t gr_cu_real_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

uint64_t gr_cu_calls(int *caller) {
    *caller = atomic_load(&last_caller);
    return atomic_load(&calls);
}

static int self(void) {
    if (!thread_id)
        thread_id = (int)syscall(SYS_gettid);
    return thread_id;
}

bool gr_cu_lock_is_mine(void) { return atomic_load_explicit(&owner, memory_order_relaxed) == self(); }

__attribute__((visibility("default"))) int gr_cpu_device_lock_is_mine(void) { return gr_cu_lock_is_mine(); }

__attribute__((visibility("default"))) void gr_cpu_device_locked(void (*f)(void *user), void *user) {
    gr_cu_lock();
    f(user);
    gr_cu_unlock();
}

static void count_call(void) {
    atomic_store_explicit(&last_caller, self(), memory_order_relaxed);
    atomic_fetch_add(&calls, 1);
}

static void take_ticket(void) {
    uint64_t mine = next_ticket++;
    while (serving != mine)
        pthread_cond_wait(&turn, &mutex);
    atomic_store_explicit(&owner, self(), memory_order_relaxed);
}

int gr_cu_caller(uint64_t *when) {
    *when = began;
    return self();
}

void gr_cu_call_begins(void) { began = atomic_load(&returned); }

static void pass_on(void) {
    atomic_store(&returned, gr_work_waits());
    atomic_store_explicit(&owner, 0, memory_order_relaxed);
    serving++;
    if (serving != next_ticket)
        pthread_cond_broadcast(&turn);
}

// pthread_cancel may end a thread while it waits here. The thread would end with the lock held.
void gr_cu_lock(void) {
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    pthread_mutex_lock(&mutex);
    take_ticket();
    pthread_mutex_unlock(&mutex);
    cancel_before = before;
}

void gr_cu_unlock(void) {
    int before = cancel_before;
    pthread_mutex_lock(&mutex);
    pass_on();
    pthread_mutex_unlock(&mutex);
    pthread_setcancelstate(before, NULL);
}

bool gr_cu_contended(void) {
    pthread_mutex_lock(&mutex);
    bool yes = next_ticket - serving > 1;
    pthread_mutex_unlock(&mutex);
    return yes;
}

bool gr_cu_busy(void) {
    pthread_mutex_lock(&mutex);
    bool yes = next_ticket != serving;
    pthread_mutex_unlock(&mutex);
    return yes;
}

void gr_cu_wait(unsigned ms) {
    pthread_mutex_lock(&mutex);
    pass_on();
    if (ms == 0) {
        pthread_cond_wait(&woken, &mutex);
    } else {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += ms / 1000;
        until.tv_nsec += (long)(ms % 1000) * 1000000;
        if (until.tv_nsec >= 1000000000) {
            until.tv_sec++;
            until.tv_nsec -= 1000000000;
        }
        pthread_cond_timedwait(&woken, &mutex, &until);
    }
    take_ticket();
    pthread_mutex_unlock(&mutex);
}

void gr_cu_wake(void) {
    pthread_mutex_lock(&mutex);
    pthread_cond_broadcast(&woken);
    pthread_mutex_unlock(&mutex);
}

void gr_cu_in_callback(bool yes) { in_callback = yes; }

// ---- fork --------------------------------------------------------------------------------------------------

// The child gets a copy of a lock that no thread is left to release, so the lock is held across the fork.
static void before_fork(void) {
    gr_cu_lock();
    pthread_mutex_lock(&mutex);
}

static void after_fork_parent(void) {
    pthread_mutex_unlock(&mutex);
    gr_cu_unlock();
}

static void after_fork_child(void) {
    pthread_mutex_init(&mutex, NULL);
    pthread_cond_init(&turn, NULL);
    pthread_cond_init(&woken, NULL);
    next_ticket = serving = 0;
    in_callback = false;
    thread_id = 0;
    atomic_store(&owner, 0);
    gr_cu.forked = gr_cu.initialized;
}

__attribute__((constructor)) static void watch_forks(void) {
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}

bool gr_cu_host_is_alone(void) {
    static const char ours[] = "gpurace-";
    DIR *tasks = opendir("/proc/self/task");
    if (!tasks)
        return false;
    bool alone = true;
    for (struct dirent *d; alone && (d = readdir(tasks));) {
        char path[64], line[128] = "";
        int tid = atoi(d->d_name);
        if (tid <= 0 || tid == self())
            continue;
        snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
        FILE *f = fopen(path, "re");
        if (f) { // else it has ended meanwhile; "pid (name) state"
            const char *name = fgets(line, sizeof line, f) ? strchr(line, '(') : NULL,
                       *ends = strrchr(line, ')');
            bool has_ended = ends && ends[1] && ends[2] == 'Z'; // main, by pthread_exit
            alone = has_ended || (name && !strncmp(name + 1, ours, sizeof ours - 1));
            fclose(f);
        }
    }
    closedir(tasks);
    return alone;
}

int gr_cu_start_thread(void *(*body)(void *), const char *name) {
    // The program's signals are its own threads' business.
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pthread_t thread;
    int failed = pthread_create(&thread, NULL, body, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (failed)
        return failed;
    pthread_setname_np(thread, name);
    pthread_detach(thread);
    return 0;
}

// ---- Entry points ------------------------------------------------------------------------------------------

CUresult gr_cu_enter(ApiNeed need, Ctx **ctx, const char *function) {
    if (in_callback && need != API_ANY)
        return CUDA_ERROR_NOT_PERMITTED;
    if (gr_cu_lock_is_mine()) // a signal handler that interrupted a call, or what exit called from one runs
        return CUDA_ERROR_DEINITIALIZED;
    gr_cu_call_begins();
    gr_cu_lock();
    count_call();
    CUresult r = CUDA_SUCCESS;
    Ctx *current = NULL;
    if (gr_cu.forked)
        r = CUDA_ERROR_NOT_INITIALIZED;
    else if (need != API_ANY && !gr_cu.initialized)
        r = CUDA_ERROR_NOT_INITIALIZED;
    else if (need != API_ANY) {
        gr_queue_advance();
        current = gr_ctx_current();
        if (need >= API_CONTEXT && !current)
            r = CUDA_ERROR_INVALID_CONTEXT;
        else if (need == API_CONTEXT)
            r = current->sticky;
        if (r == CUDA_SUCCESS && gr_capture_is_unsafe(function))
            r = gr_capture_unsafe();
    }
    if (ctx)
        *ctx = current;
    if (r != CUDA_SUCCESS && need != API_ANY)
        gr_cu_unlock();
    else if (r != CUDA_SUCCESS) // API_ANY after fork: those calls need no device
        r = CUDA_SUCCESS;
    return r;
}

CUresult gr_cu_leave(CUresult result) {
    gr_queue_leave();
    count_call();
    gr_cu_unlock();
    return result;
}
