// SPDX-License-Identifier: Apache-2.0
// thread_calls — functions of the C library (thread_calls.def), and those that make or meet threads, or call once.
//
// A thread leaves what it knows with an object before the real function lets others in, and learns after it has been
// let in. Results, errno and cancellation are the real function's. Before anything is followed a call costs a look at
// one variable.
#include "inject/thread_clocks.h"

#include "inject/hooks.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>

#define EXPORT __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

// Functions are looked up when this library is loaded, as a look-up takes the lock of the dynamic linker. A thread that
// closes a library holds that lock while it runs the library's destructors. If these waited for a thread that holds a
// mutex and looks a function up here, both would wait for ever.
#define FOUND(name, params) static int(*found_##name) params;
#define EACH                FOUND
#include "inject/thread_calls.def"
FOUND(pthread_barrier_init, (pthread_barrier_t *restrict, const pthread_barrierattr_t *restrict, unsigned))
FOUND(pthread_barrier_destroy, (pthread_barrier_t *))
FOUND(pthread_barrier_wait, (pthread_barrier_t *))
FOUND(pthread_once, (pthread_once_t *, void (*)(void)))
FOUND(pthread_create,
      (pthread_t *restrict, const pthread_attr_t *restrict, void *(*)(void *), void *restrict))
FOUND(thrd_create, (thrd_t *, thrd_start_t, void *))

// Other libraries may call before this one's constructors. Threads may look up at once: they find the same. No program
// was linked with a function that this C library does not have.
#define REAL(name, params)                                                                                   \
    int(*real) params = __atomic_load_n(&found_##name, __ATOMIC_RELAXED);                                    \
    if (!real) {                                                                                             \
        *(void **)&real = gr_real_dlsym(RTLD_NEXT, #name);                                                   \
        __atomic_store_n(&found_##name, real, __ATOMIC_RELAXED);                                             \
    }                                                                                                        \
    if (!real)                                                                                               \
    return ENOSYS

// A lock that a reader holds has no writer.
static bool is_writer(const pthread_rwlock_t *l) {
#ifdef __GLIBC__
    return __atomic_load_n(&l->__data.__cur_writer, __ATOMIC_RELAXED) != 0;
#else
    (void)l;
    return true;
#endif
}

#define ACQUIRES(name, params, args, did, object)                                                            \
    EXPORT int name params;                                                                                  \
    EXPORT int name params {                                                                                 \
        REAL(name, params);                                                                                  \
        int result = real args;                                                                              \
        if (gr_threads_are_followed() && (did))                                                              \
            gr_threads_acquire((object), GR_CLOCK_MAIN);                                                     \
        return result;                                                                                       \
    }
#define ACQUIRES_ALL(name, params, args, did, object)                                                        \
    EXPORT int name params;                                                                                  \
    EXPORT int name params {                                                                                 \
        REAL(name, params);                                                                                  \
        int result = real args;                                                                              \
        if (gr_threads_are_followed() && (did)) {                                                            \
            gr_threads_acquire((object), GR_CLOCK_MAIN);                                                     \
            gr_threads_acquire((object), GR_CLOCK_SECOND);                                                   \
        }                                                                                                    \
        return result;                                                                                       \
    }
#define RELEASES(name, params, args, which, object)                                                          \
    EXPORT int name params;                                                                                  \
    EXPORT int name params {                                                                                 \
        REAL(name, params);                                                                                  \
        if (gr_threads_are_followed())                                                                       \
            gr_threads_release((object), (which), CALLER);                                                   \
        return real args;                                                                                    \
    }
#define WAITS(name, params, args, did, object)                                                               \
    EXPORT int name params;                                                                                  \
    EXPORT int name params {                                                                                 \
        REAL(name, params);                                                                                  \
        if (gr_threads_are_followed())                                                                       \
            gr_threads_release((object), GR_CLOCK_MAIN, CALLER);                                             \
        int result = real args;                                                                              \
        if (gr_threads_are_followed() && (did))                                                              \
            gr_threads_acquire((object), GR_CLOCK_MAIN);                                                     \
        return result;                                                                                       \
    }
#define RENEWS(name, params, args, object)                                                                   \
    EXPORT int name params;                                                                                  \
    EXPORT int name params {                                                                                 \
        REAL(name, params);                                                                                  \
        if (gr_threads_are_followed())                                                                       \
            gr_threads_forget(object);                                                                       \
        return real args;                                                                                    \
    }
#define JOINS(name, params, args, did, thread)                                                               \
    EXPORT int name params;                                                                                  \
    EXPORT int name params {                                                                                 \
        REAL(name, params);                                                                                  \
        int result = real args;                                                                              \
        if (did)                                                                                             \
            gr_threads_joined(thread);                                                                       \
        return result;                                                                                       \
    }
#include "inject/thread_calls.def"

EXPORT void mtx_destroy(mtx_t *m) {
    static void (*real)(mtx_t *);
    if (!__atomic_load_n((void **)&real, __ATOMIC_RELAXED))
        *(void **)&real = gr_real_dlsym(RTLD_NEXT, "mtx_destroy");
    if (gr_threads_are_followed())
        gr_threads_forget(m);
    real(m);
}

// ---- Barriers -------------------------------------------------------------------------------------------------------

EXPORT int pthread_barrier_init(pthread_barrier_t *restrict b, const pthread_barrierattr_t *restrict a,
                                unsigned count) {
    REAL(pthread_barrier_init,
         (pthread_barrier_t *restrict, const pthread_barrierattr_t *restrict, unsigned));
    int shared = PTHREAD_PROCESS_PRIVATE, result = real(b, a, count);
    gr_threads_forget(b);
    if (a)
        pthread_barrierattr_getpshared(a, &shared);
    if (result == 0 && shared == PTHREAD_PROCESS_PRIVATE) // else other processes' threads arrive, too
        gr_threads_barrier(b, count);
    return result;
}

EXPORT int pthread_barrier_destroy(pthread_barrier_t *b) {
    REAL(pthread_barrier_destroy, (pthread_barrier_t *));
    gr_threads_forget(b);
    return real(b);
}

EXPORT int pthread_barrier_wait(pthread_barrier_t *b) {
    REAL(pthread_barrier_wait, (pthread_barrier_t *));
    unsigned phase = gr_threads_arrive(b); // counted from the first one on
    bool known = phase != GR_CLOCK_COUNTER;
    if (known && gr_threads_are_followed())
        gr_threads_release(b, phase, CALLER);
    int result = real(b);
    if (known && gr_threads_are_followed())
        gr_threads_acquire(b, phase);
    return result;
}

// ---- Once -----------------------------------------------------------------------------------------------------------

// The real function calls `call_it`, if any, on the thread that set this.
typedef struct Once {
    void (*f)(void);
    const volatile void *flag;
    const void *caller;
} Once;
static __thread __attribute__((tls_model("initial-exec"))) Once *once_now;

static void call_it(void) {
    Once once = *once_now;
    once.f();
    if (gr_threads_are_followed())
        gr_threads_release(once.flag, GR_CLOCK_MAIN, once.caller);
}

EXPORT int pthread_once(pthread_once_t *flag, void (*f)(void)) {
    REAL(pthread_once, (pthread_once_t *, void (*)(void)));
    if (!gr_threads_are_followed())
        return real(flag, f);
    Once once = {f, flag, CALLER}, *outer = once_now;
    once_now = &once;
    int result = real(flag, call_it);
    once_now = outer;
    if (result == 0)
        gr_threads_acquire(flag, GR_CLOCK_MAIN);
    return result;
}

EXPORT void call_once(once_flag *flag, void (*f)(void)) {
    static void (*real)(once_flag *, void (*)(void));
    if (!__atomic_load_n((void **)&real, __ATOMIC_RELAXED))
        *(void **)&real = gr_real_dlsym(RTLD_NEXT, "call_once");
    if (!gr_threads_are_followed()) {
        real(flag, f);
        return;
    }
    Once once = {f, flag, CALLER}, *outer = once_now;
    once_now = &once;
    real(flag, call_it);
    once_now = outer;
    gr_threads_acquire(flag, GR_CLOCK_MAIN);
}

// ---- New threads ----------------------------------------------------------------------------------------------------

typedef struct Start {
    union {
        void *(*posix)(void *);
        int (*c11)(void *);
    } f;
    void *arg;
    SyncThread *thread;
} Start;

static Start *start_of(Start s, const void *caller) {
    s.thread = gr_threads_child(caller);
    Start *p = s.thread ? gr_threads_alloc(sizeof *p) : NULL;
    if (p)
        *p = s;
    else
        gr_threads_drop(s.thread);
    return p;
}

static void not_started(Start *p) {
    gr_threads_drop(p->thread);
    gr_threads_free(p, sizeof *p);
}

static Start begin(void *arg) {
    Start s = *(Start *)arg;
    gr_threads_free(arg, sizeof s);
    gr_threads_begin(s.thread);
    return s;
}

static void *begin_posix(void *arg) {
    Start s = begin(arg);
    return s.f.posix(s.arg);
}

static int begin_c11(void *arg) {
    Start s = begin(arg);
    return s.f.c11(s.arg);
}

EXPORT int pthread_create(pthread_t *restrict t, const pthread_attr_t *restrict a, void *(*f)(void *),
                          void *restrict arg) {
    REAL(pthread_create,
         (pthread_t *restrict, const pthread_attr_t *restrict, void *(*)(void *), void *restrict));
    Start *p = start_of((Start){.f.posix = f, .arg = arg}, CALLER);
    if (!p)
        return real(t, a, f, arg);
    int result = real(t, a, begin_posix, p);
    if (result)
        not_started(p);
    return result;
}

EXPORT int thrd_create(thrd_t *t, thrd_start_t f, void *arg) {
    REAL(thrd_create, (thrd_t *, thrd_start_t, void *));
    Start *p = start_of((Start){.f.c11 = f, .arg = arg}, CALLER);
    if (!p)
        return real(t, f, arg);
    int result = real(t, begin_c11, p);
    if (result != thrd_success)
        not_started(p);
    return result;
}

// ---- Looked up beforehand -------------------------------------------------------------------------------------------

#define LOOK_UP(name)      *(void **)&found_##name = gr_real_dlsym(RTLD_NEXT, #name);
#define EACH(name, params) LOOK_UP(name)

__attribute__((constructor)) static void look_up_all(void) {
#include "inject/thread_calls.def"
    LOOK_UP(pthread_barrier_init)
    LOOK_UP(pthread_barrier_destroy)
    LOOK_UP(pthread_barrier_wait)
    LOOK_UP(pthread_once)
    LOOK_UP(pthread_create)
    LOOK_UP(thrd_create)
    (void)dlerror(); // that one is missing is no error of the program's
}
