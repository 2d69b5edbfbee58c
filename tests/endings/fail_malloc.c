// SPDX-License-Identifier: Apache-2.0
// fail_malloc — preloaded: of the process named FAIL_NAME allocation FAIL_AT fails, counted from 0; with FAIL_ALL all
// after it, too. With FAIL_MEMFD the system has no memory with a name, with FAIL_THREADS it starts no threads (ulimit
// -u).
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

extern char *program_invocation_short_name;
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);

static atomic_long count;
static long at = -2; // -2: not known yet, -1: none
static bool all;

static long first(void) {
    const char *text = getenv("FAIL_AT"), *name = getenv("FAIL_NAME");
    if (!text || !name || !program_invocation_short_name || strcmp(program_invocation_short_name, name) != 0)
        return -1;
    all = getenv("FAIL_ALL") != NULL;
    return atol(text);
}

static bool fails(void) {
    if (at == -2)
        at = first();
    if (at < 0)
        return false;
    long now = atomic_fetch_add(&count, 1);
    if (now != at && !(all && now > at))
        return false;
    errno = ENOMEM;
    return true;
}

EXPORT void *malloc(size_t size);
EXPORT void *calloc(size_t n, size_t size);
EXPORT void *realloc(void *p, size_t size);

EXPORT int memfd_create(const char *name, unsigned flags);
EXPORT int memfd_create(const char *name, unsigned flags) {
    if (!getenv("FAIL_MEMFD"))
        return (int)syscall(SYS_memfd_create, name, flags);
    errno = ENOSYS;
    return -1;
}

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *a, void *(*body)(void *), void *user) {
    typedef int (*Create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    Create real = (Create)dlsym(RTLD_NEXT, "pthread_create");
    return getenv("FAIL_THREADS") ? EAGAIN : real(thread, a, body, user);
}

EXPORT void *malloc(size_t size) { return fails() ? NULL : __libc_malloc(size); }
EXPORT void *calloc(size_t n, size_t size) { return fails() ? NULL : __libc_calloc(n, size); }
EXPORT void *realloc(void *p, size_t size) { return fails() ? NULL : __libc_realloc(p, size); }
