// SPDX-License-Identifier: Apache-2.0
// nvJitLink: keeps its inputs until it hands out machine code, which is then known to be made of them.
//
// PTX, fatbinaries with PTX and machine code whose PTX is known are units as they are. From LTO-IR (the intermediate
// language of link-time optimization) the linker makes PTX on its way: a link of our own asks for that, with the
// program's options and -ptx.
#include "inject/compilers.h"

#include "base/arena.h"
#include "base/map.h"
#include "base/str.h"
#include "inject/machine.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { KIND_LTOIR = 3, KIND_ANY = 10 }; // nvJitLinkInputType

typedef struct Input {
    int kind;
    const char *data, *name;
    size_t size;
} Input;

typedef struct Link {
    Arena arena; // of all texts
    const char **options;
    uint32_t n_options;
    VEC(Input) inputs;
} Link;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Map links; // nvJitLinkHandle -> Link

static Link *link_of(void *handle) {
    pthread_mutex_lock(&lock);
    Link *l = gr_map_get_u64(&links, (uintptr_t)handle);
    pthread_mutex_unlock(&lock);
    return l;
}

static void drop(void *handle) {
    pthread_mutex_lock(&lock);
    Link *l = gr_map_remove_u64(&links, (uintptr_t)handle);
    pthread_mutex_unlock(&lock);
    if (!l)
        return;
    gr_vec_free(&l->inputs);
    gr_arena_free(&l->arena);
    free(l);
}

// ---- what goes in ----------------------------------------------------------------------------------------

int gr_on_jitlink_create(const GrCompiler *row, int (*real)(void **, uint32_t, const char **), void **out,
                         uint32_t n, const char **options) {
    (void)row;
    int result = real(out, n, options);
    if (result || !out || !*out)
        return result;
    Link *l = calloc(1, sizeof *l);
    if (!l)
        return result;
    gr_arena_init(&l->arena);
    l->options = GR_NEW_ARRAY(&l->arena, const char *, (size_t)n + 2);
    for (uint32_t k = 0; l->options && options && k < n; k++)
        if (options[k] && (l->options[l->n_options] = gr_arena_strdup(&l->arena, options[k])))
            l->n_options++;
    pthread_mutex_lock(&lock);
    gr_map_put_u64(&links, (uintptr_t)*out, l);
    pthread_mutex_unlock(&lock);
    return result;
}

int gr_on_jitlink_destroy(const GrCompiler *row, int (*real)(void **), void **handle) {
    (void)row;
    if (handle)
        drop(*handle);
    return real(handle);
}

static void keep(void *handle, int kind, const void *data, size_t size, const char *name) {
    Link *l = link_of(handle);
    char *copy = l && data ? gr_arena_alloc(&l->arena, size + 1) : NULL;
    if (!copy)
        return;
    memcpy(copy, data, size);
    copy[size] = 0;
    gr_vec_push(&l->inputs, ((Input){kind, copy, name ? gr_arena_strdup(&l->arena, name) : NULL, size}));
}

int gr_on_jitlink_add_data(const GrCompiler *row,
                           int (*real)(void *, int, const void *, size_t, const char *), void *handle,
                           int kind, const void *data, size_t size, const char *name) {
    (void)row;
    int result = real(handle, kind, data, size, name);
    if (result == 0)
        keep(handle, kind, data, size, name);
    return result;
}

int gr_on_jitlink_add_file(const GrCompiler *row, int (*real)(void *, int, const char *), void *handle,
                           int kind, const char *path) {
    (void)row;
    int result = real(handle, kind, path);
    char *data;
    size_t size;
    if (result == 0 && gr_file_read(path, &data, &size, NULL) == GR_OK) {
        keep(handle, kind, data, size, path);
        free(data);
    }
    return result;
}

// ---- what comes out --------------------------------------------------------------------------------------

static bool has_option(const Link *l, const char *name) {
    for (uint32_t k = 0; k < l->n_options; k++)
        if (!strcmp(l->options[k], name))
            return true;
    return false;
}

// With -lto, input that says nothing of its kind and is none that can be told is taken for LTO-IR.
static bool is_lto(const Link *l, const Input *in) {
    return in->kind == KIND_LTOIR || (in->kind == KIND_ANY && has_option(l, "-lto") &&
                                      gr_image_kind(in->data, in->size) == IMAGE_UNKNOWN);
}

// The PTX that the linker makes of the LTO-IR.
static bool add_linked(const GrCompiler *row, const Link *l, MachineUnits *units) {
    typedef int (*Create)(void **, uint32_t, const char **);
    typedef int (*AddData)(void *, int, const void *, size_t, const char *);
    typedef int (*Complete)(void *);
    typedef int (*Destroy)(void **);
    typedef int (*GetSize)(void *, size_t *);
    typedef int (*GetText)(void *, char *);
    Create create = (Create)gr_compiler_function(row, "nvJitLinkCreate");
    AddData add = (AddData)gr_compiler_function(row, "nvJitLinkAddData");
    Complete complete = (Complete)gr_compiler_function(row, "nvJitLinkComplete");
    Destroy destroy = (Destroy)gr_compiler_function(row, "nvJitLinkDestroy");
    GetSize size_of = (GetSize)gr_compiler_function(row, "nvJitLinkGetLinkedPtxSize");
    GetText get = (GetText)gr_compiler_function(row, "nvJitLinkGetLinkedPtx");
    void *handle = NULL;
    char *text = NULL;
    size_t n = 0;
    if (!create || !add || !complete || !destroy || !size_of || !get || !l->options)
        return false;
    uint32_t n_options = l->n_options;
    if (!has_option(l, "-ptx"))
        l->options[n_options++] = "-ptx"; // room for one more was made
    bool ok = create(&handle, n_options, l->options) == 0;
    for (size_t k = 0; ok && k < l->inputs.len; k++) {
        const Input *in = &l->inputs.data[k];
        ok = !is_lto(l, in) || add(handle, in->kind, in->data, in->size, in->name) == 0;
    }
    ok = ok && complete(handle) == 0 && size_of(handle, &n) == 0 && n && (text = malloc(n + 1)) &&
         get(handle, text) == 0;
    if (ok) {
        text[n] = 0;
        ok = gr_machine_unit(units, text, n, NULL);
    }
    free(text);
    if (handle)
        destroy(&handle);
    return ok;
}

static bool add_inputs(const GrCompiler *row, const Link *l, MachineUnits *units) {
    bool lto = false;
    for (size_t k = 0; k < l->inputs.len; k++) {
        const Input *in = &l->inputs.data[k];
        switch (gr_image_kind(in->data, in->size)) {
        case IMAGE_PTX:
            if (!gr_machine_unit(units, in->data, in->size, in->name))
                return false;
            break;
        case IMAGE_CUBIN:
        case IMAGE_FATBIN:
            if (!gr_machine_units_of(units, in->data, in->size))
                return false;
            break;
        default:
            lto |= is_lto(l, in); // host objects and libraries: what of them is needed is the loader's to say
        }
    }
    return !lto || add_linked(row, l, units);
}

int gr_on_jitlink_get_cubin(const GrCompiler *row, int (*real)(void *, void *), void *handle, void *out) {
    typedef int (*GetSize)(void *, size_t *);
    int result = real(handle, out);
    const Link *l = link_of(handle);
    GetSize size_of = (GetSize)gr_compiler_function(row, "nvJitLinkGetLinkedCubinSize");
    size_t size = 0;
    if (result || !out || !l || !size_of || size_of(handle, &size))
        return result;
    MachineUnits units = {0};
    if (add_inputs(row, l, &units))
        gr_machine_made(out, size, &units);
    else
        gr_machine_units_free(&units);
    return result;
}
