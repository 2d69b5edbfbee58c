// SPDX-License-Identifier: Apache-2.0
#include "inject/compilers.h"

#include "findings/results.h"
#include "inject/machine.h"
#include "inject/session.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT     __attribute__((visibility("default")))
#define PAREN(...) __VA_ARGS__

enum {
    NOT_FOUND =
        7, // NVRTC_ERROR_BUILTIN_OPERATION_FAILURE; nvJitLink has no such number, and calls it an unknown error
};

// ---- the table -------------------------------------------------------------------------------------------

#define COMPILER(library, symbol, handler, params, args) EXPORT int symbol params;
#include "inject/compilers.def"
#undef COMPILER

enum {
#define COMPILER(library, symbol, handler, params, args) ROW_##symbol,
#include "inject/compilers.def"
#undef COMPILER
    N_ROWS
};

static GrCompiler rows[N_ROWS] = {
#define COMPILER(library, symbol, handler, params, args) {library, #symbol, (GrFn)symbol, NULL},
#include "inject/compilers.def"
#undef COMPILER
};

bool gr_compilers_are_watched(void) { return getenv(GR_RESULTS_ENV) != NULL; }

static bool learn(GrCompiler *row, GrFn real) {
    GrFn before = NULL;
    return __atomic_compare_exchange_n(&row->real, &before, real, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE) ||
           before == real;
}

// ---- where the real ones are -----------------------------------------------------------------------------

typedef struct Search {
    const char *library;
    void *found;
} Search;

static int look_at(struct dl_phdr_info *info, size_t size, void *user) {
    (void)size;
    Search *s = user;
    const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
    const char *base = slash ? slash + 1 : info->dlpi_name;
    if (!base || strncmp(base, s->library, strlen(s->library)) != 0)
        return 0;
    s->found = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    return s->found != NULL;
}

// A program that was linked with the compiler's library never asked for its functions.
static GrFn real_of(GrCompiler *row) {
    GrFn real = __atomic_load_n(&row->real, __ATOMIC_ACQUIRE);
    if (real)
        return real;
    Search s = {.library = row->library};
    dl_iterate_phdr(look_at, &s);
    real = s.found ? (GrFn)gr_real_dlsym(s.found, row->symbol) : NULL;
    if (real)
        learn(row, real);
    return real;
}

void *gr_compiler_wrapper(const char *symbol, void *real) {
    if (!gr_compilers_are_watched())
        return NULL;
    for (size_t k = 0; k < N_ROWS; k++) {
        GrCompiler *row = &rows[k];
        if (strcmp(row->symbol, symbol) != 0 || real == (void *)row->wrapper)
            continue;
        if (learn(row, (GrFn)real))
            return (void *)row->wrapper;
        gr_session_notef("the program uses %s of two libraries: what the second one compiles is not known",
                         symbol);
    }
    return NULL;
}

GrFn gr_compiler_function(const GrCompiler *row, const char *name) {
    Dl_info in;
    char versioned[128];
    GrFn real = __atomic_load_n(&row->real, __ATOMIC_ACQUIRE);
    if (!dladdr((void *)real, &in) || !in.dli_fname)
        return NULL;
    void *library = dlopen(in.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (!library)
        return NULL;
    const char *suffix = row->symbol[0] == '_' ? strchr(row->symbol, '_') + strlen("__") : "";
    suffix = strchr(suffix, '_') ? strchr(suffix, '_') : "";
    gr_format(versioned, sizeof versioned, "__%s%s", name, suffix);
    void *p = gr_real_dlsym(library, *suffix ? versioned : name);
    p = p ? p : gr_real_dlsym(library, name);
    dlclose(library); // it stays: the program uses it
    return (GrFn)p;
}

// ---- the wrappers ----------------------------------------------------------------------------------------

#define COMPILER(library, symbol, handler, params, args)                                                     \
    int symbol params {                                                                                      \
        int(*real) params = (int(*) params)real_of(&rows[ROW_##symbol]);                                     \
        if (!real)                                                                                           \
            return NOT_FOUND;                                                                                \
        if (!gr_compilers_are_watched())                                                                     \
            return real args;                                                                                \
        return gr_on_##handler(&rows[ROW_##symbol], real, PAREN args);                                       \
    }
#include "inject/compilers.def"
#undef COMPILER

// ---- NVRTC -----------------------------------------------------------------------------------------------

// NVRTC compiles to PTX first, and gives that out as well, whatever it was asked for ("nvrtcGetPTX", NVRTC 13.0, 3.1).
static void note_program(const GrCompiler *row, void *program, const char *code) {
    typedef int (*GetSize)(void *, size_t *);
    typedef int (*GetText)(void *, char *);
    GetSize code_size = (GetSize)gr_compiler_function(row, "nvrtcGetCUBINSize"),
            size_of = (GetSize)gr_compiler_function(row, "nvrtcGetPTXSize");
    GetText get = (GetText)gr_compiler_function(row, "nvrtcGetPTX");
    size_t len = 0, n = 0;
    if (!code_size || !size_of || !get || code_size(program, &len) || size_of(program, &n) || !len || !n)
        return;
    char *text = malloc(n + 1);
    MachineUnits units = {0};
    if (text && get(program, text) == 0) {
        text[n] = 0;
        gr_machine_unit(&units, text, n, NULL);
        gr_machine_made(code, len, &units);
    }
    free(text);
}

int gr_on_nvrtc_get_cubin(const GrCompiler *row, int (*real)(void *, char *), void *program, char *out) {
    int result = real(program, out);
    if (result == 0 && out)
        note_program(row, program, out);
    return result;
}
