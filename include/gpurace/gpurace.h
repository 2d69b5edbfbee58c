// SPDX-License-Identifier: Apache-2.0
// gpurace — what a program may tell gpurace that checks it. This header is all there is: nothing is to be linked (with
// a C library older than glibc 2.34: -ldl), and without gpurace the calls do nothing and return 0.
//
// For C (from C99 on) and C++, in code of the host. Any thread may call. docs/selecting.md has examples.
#ifndef GPURACE_GPURACE_H
#define GPURACE_GPURACE_H

#include <dlfcn.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int (*gpurace_function_)(const volatile void *address);

static inline int gpurace_nothing_(const volatile void *address) {
    (void)address;
    return 0;
}

// Finds gpurace's part of the process once, and calls it.
static inline int gpurace_call_(gpurace_function_ *known, const char *name, const volatile void *address) {
    gpurace_function_ f = __atomic_load_n(known, __ATOMIC_ACQUIRE);
    if (!f) {
        void *process = dlopen(0, RTLD_LAZY), *found = process ? dlsym(process, name) : 0;
        union {
            void *object;
            gpurace_function_ function;
        } as;
        as.object = found;
        f = found ? as.function : gpurace_nothing_;
        __atomic_store_n(known, f, __ATOMIC_RELEASE);
    }
    return f(address);
}

// Launches from now on are not checked, those of all processes of the run: until gpurace_start(). 1: it was noted; 0:
// there is no gpurace here. An engine that checks launches all the same says so in its report.
static inline int gpurace_stop(void) {
    static gpurace_function_ f;
    return gpurace_call_(&f, "gr_user_stop", 0);
}

// Launches from now on are checked again.
static inline int gpurace_start(void) {
    static gpurace_function_ f;
    return gpurace_call_(&f, "gr_user_start", 0);
}

// Writes the report of what was found so far, to where the report of the run goes. 1: it is written.
static inline int gpurace_report_now(void) {
    static gpurace_function_ f;
    return gpurace_call_(&f, "gr_user_report_now", 0);
}

// Order between threads of the host that gpurace cannot see, such as by another process, or by a network card that
// writes to memory: what came before gpurace_release(address) comes before what follows a later gpurace_acquire of that
// address. The address only names the order; nothing is read or written there. 1: it was noted.
static inline int gpurace_release(const volatile void *address) {
    static gpurace_function_ f;
    return gpurace_call_(&f, "gr_user_release", address);
}

static inline int gpurace_acquire(const volatile void *address) {
    static gpurace_function_ f;
    return gpurace_call_(&f, "gr_user_acquire", address);
}

#ifdef __cplusplus
}
#endif

#endif
