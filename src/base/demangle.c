// SPDX-License-Identifier: Apache-2.0
#include "base/demangle.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// Where device code is linked (-rdc=true), nvcc gives what is static a prefix made of the source's name and a hash of its path:
// __nv_static_22__4f8ac668_5_app_cu_main__Z1kPi, where 22 is the length of _4f8ac668_5_app_cu_main. Yields what is behind it.
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
    char *copy = status == 0 && text ? gr_arena_strdup(arena, text) : NULL;
    free(text);
    return copy ? copy : name;
}
