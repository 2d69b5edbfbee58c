// SPDX-License-Identifier: Apache-2.0
#include "base/demangle.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// Where device code is linked (-rdc=true), nvcc gives static names a prefix of the source's name and a hash of its
// path: __nv_static_22__4f8ac668_5_app_cu_main__Z1kPi; 22 is the length of _4f8ac668_5_app_cu_main. Yields the rest.
static const char *without_prefix(const char *name) {
    static const char prefix[] = "__nv_static_";
    if (strncmp(name, prefix, sizeof prefix - 1))
        return name;
    char *end;
    unsigned long n = strtoul(name + sizeof prefix - 1, &end, 10);
    if (end == name + sizeof prefix - 1 || *end != '_' || n >= strlen(end) - 1 || end[1 + n] != '_' ||
        !end[2 + n])
        return name;
    return end + 2 + n;
}

#ifdef GR_HAVE_LIBIBERTY
#include <libiberty/demangle.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { LONGEST = 1 << 15, STACK = 64 << 20 };

static __thread struct {
    const char *name;
    char *text;
} job;

static void demangle_job(void) {
    job.text = cplus_demangle_v3(job.name, DMGL_PARAMS | DMGL_TYPES | DMGL_NO_RECURSE_LIMIT);
}

// The C++ library refuses names of more than 1024 bytes, which templates have. libiberty takes them if told to; its
// licence lets that file be linked into anything. Its stack grows with the name, and threads of a program may have
// little stack: it gets a stack of its own. NULL: no such name, or too long a one.
static char *demangle_long(const char *name) {
    ucontext_t here, there;
    if (strlen(name) > LONGEST)
        return NULL;
    char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED)
        return NULL;
    mprotect(stack, 1 << 12, PROT_NONE);
    job.name = name;
    job.text = NULL;
    if (!getcontext(&there)) {
        there.uc_stack = (stack_t){.ss_sp = stack, .ss_size = STACK};
        there.uc_link = &here;
        makecontext(&there, demangle_job, 0);
        swapcontext(&here, &there);
    }
    munmap(stack, STACK);
    return job.text;
}
#else
static char *demangle_long(const char *name) {
    (void)name;
    return NULL;
}
#endif

// The C++ library is opened when a mangled name comes up: the command itself needs none.
const char *gr_demangle(const char *name, Arena *arena) {
    static char *(*demangle)(const char *, char *, size_t *, int *);
    static bool tried;
    if (!name)
        return NULL;
    name = without_prefix(name);
    if (strncmp(name, "_Z", 2))
        return name;
    if (!tried) {
        tried = true;
        void *lib = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
        if (lib)
            *(void **)&demangle = dlsym(lib, "__cxa_demangle");
    }
    int status = -1;
    char *text = demangle ? demangle(name, NULL, NULL, &status) : NULL;
    if (status || !text) {
        free(text);
        text = demangle_long(name);
    }
    char *copy = text ? gr_arena_strdup(arena, text) : NULL;
    free(text);
    return copy ? copy : name;
}
