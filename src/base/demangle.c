// SPDX-License-Identifier: Apache-2.0
#include "base/demangle.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// The C++ library is opened when a mangled name comes up: the command itself needs none.
const char *gr_demangle(const char *name, Arena *arena) {
    static char *(*demangle)(const char *, char *, size_t *, int *);
    static bool tried;
    if (!name || strncmp(name, "_Z", 2))
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
