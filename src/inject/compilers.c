// SPDX-License-Identifier: Apache-2.0
#include "inject/compilers.h"

#include "findings/results.h"
#include "inject/inside_run.h"
#include "inject/machine.h"
#include "inject/session.h"
#include "inject/sources.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT     __attribute__((visibility("default")))
#define PAREN(...) __VA_ARGS__

enum {
    // NVRTC_ERROR_BUILTIN_OPERATION_FAILURE; nvJitLink has no such number, and calls it an unknown error.
    NOT_FOUND = 7,
};

// ---- the table -------------------------------------------------------------------------------------------

// A process may have several versions of a compiler's library, and must not mix their functions. A program that links a
// library calls the exported wrapper, which looks which library calls it. A library that is asked by name gets wrappers
// of its own for its functions.
#define COMPILER(library, symbol, handler, params, args)                                                     \
    EXPORT int symbol params;                                                                                \
    static int first_##symbol params;                                                                        \
    static int second_##symbol params;                                                                       \
    static int third_##symbol params;
#include "inject/compilers.def"
#undef COMPILER

enum {
#define COMPILER(library, symbol, handler, params, args) FIRST_##symbol, SECOND_##symbol, THIRD_##symbol,
#include "inject/compilers.def"
#undef COMPILER
    N_ROWS
};

static GrCompiler rows[N_ROWS] = {
#define ROW(name, symbol) {#symbol, (GrFn)name##_##symbol, (GrFn)symbol, NULL},
#define COMPILER(library, symbol, handler, params, args)                                                     \
    ROW(first, symbol) ROW(second, symbol) ROW(third, symbol)
#include "inject/compilers.def"
#undef COMPILER
};

bool gr_compilers_are_watched(void) { return gr_run_variable(GR_RESULTS_ENV) != NULL; }

static bool learn(GrCompiler *row, GrFn real) {
    GrFn before = NULL;
    return __atomic_compare_exchange_n(&row->real, &before, real, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE) ||
           before == real;
}

// ---- where the real ones are -----------------------------------------------------------------------------

typedef struct Search {
    const char *begins; // the name of the library's file
    void *found;
} Search;

static int look_at(struct dl_phdr_info *info, size_t size, void *user) {
    (void)size;
    Search *s = user;
    const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
    const char *base = slash ? slash + 1 : info->dlpi_name;
    if (!base || strncmp(base, s->begins, strlen(s->begins)) != 0)
        return 0;
    s->found = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    return s->found != NULL;
}

// The function of the library with which the caller was linked; with none named (global scope), of the first one.
static GrFn real_for(const void *caller, const char *library, const char *symbol) {
    Search s = {.begins = library, .found = gr_needed_library(caller, library)};
    if (!s.found)
        dl_iterate_phdr(look_at, &s);
    return s.found ? (GrFn)gr_real_dlsym(s.found, symbol) : NULL;
}

void *gr_compiler_wrapper(const char *symbol, void *real) {
    bool known = false;
    if (!gr_compilers_are_watched())
        return NULL;
    for (size_t k = 0; k < N_ROWS; k++) {
        GrCompiler *row = &rows[k];
        if (strcmp(row->symbol, symbol) != 0)
            continue;
        if (real == (void *)row->exported) // the program asked the global scope
            return NULL;
        if (learn(row, (GrFn)real))
            return (void *)row->wrapper;
        known = true;
    }
    if (known)
        gr_session_notef(
            "the program uses %s of more than three libraries: what the fourth one compiles is not known",
            symbol);
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

#define BODY(row, handler, params, args)                                                                     \
    int(*real) params = (int(*) params)(row)->real;                                                          \
    if (!real)                                                                                               \
        return NOT_FOUND;                                                                                    \
    if (!gr_compilers_are_watched())                                                                         \
        return real args;                                                                                    \
    return gr_on_##handler(row, real, PAREN args);
#define LOOKED_UP(name, row, handler, params, args)                                                          \
    static int name params { BODY(&rows[row], handler, params, args) }
#define COMPILER(library, symbol, handler, params, args)                                                     \
    int symbol params {                                                                                      \
        GrCompiler linked = {#symbol, NULL, NULL, real_for(__builtin_return_address(0), library, #symbol)};  \
        BODY(&linked, handler, params, args)                                                                 \
    }                                                                                                        \
    LOOKED_UP(first_##symbol, FIRST_##symbol, handler, params, args)                                         \
    LOOKED_UP(second_##symbol, SECOND_##symbol, handler, params, args)                                       \
    LOOKED_UP(third_##symbol, THIRD_##symbol, handler, params, args)
#include "inject/compilers.def"
#undef COMPILER

// ---- NVRTC -----------------------------------------------------------------------------------------------

// NVRTC always compiles to PTX first, and gives that out as well ("nvrtcGetPTX", NVRTC 13.0, 3.1).
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

int gr_on_nvrtc_create(const GrCompiler *row,
                       int (*real)(void **, const char *, const char *, int, const char *const *,
                                   const char *const *),
                       void **out, const char *source, const char *name, int n, const char *const *headers,
                       const char *const *names) {
    int result = real(out, source, name, n, headers, names);
    (void)row;
    if (result != 0)
        return result;
    gr_source_compiled(name ? name : "default_program", source);
    for (int k = 0; k < n; k++)
        gr_source_compiled(names[k], headers[k]);
    return result;
}

int gr_on_nvrtc_get_cubin(const GrCompiler *row, int (*real)(void *, char *), void *program, char *out) {
    int result = real(program, out);
    if (result == 0 && out)
        note_program(row, program, out);
    return result;
}
