// SPDX-License-Identifier: Apache-2.0
// The entry points that bring code into the driver, and those that look something up in it.
#include "inject/handlers.h"
#include "inject/machine.h"
#include "inject/twins.h"

#include "fatbin/fatbin.h"

#include <stdlib.h>
#include <string.h>

// ---- modules and libraries -------------------------------------------------------------------------------

// One load, as the steps around it: what goes in, what is tried next if the driver refuses, what came out.
typedef struct Load {
    LoadedModule *list;
    const void *image; // what the driver gets; NULL: the program's file
    bool changed;      // it is not the program's
    unsigned units;    // of `list` that are this one's
    // Tried next: what is rewritten but not linked (NULL: `image` is not linked), then the program's own.
    const void *unlinked, *original;
} Load;

static Load prepare(const void *image, size_t len, const char *file) {
    const void *instead = NULL;
    Load l = {.list = file ? gr_modules_prepare_file(file, &instead)
                           : gr_modules_prepare(image, len, NULL, &instead),
              .original = image};
    l.changed = instead != NULL;
    l.image = instead ? instead : image;
    return l;
}

static Load begin_load(const void *image, const char *file) {
    gr_session_lock();
    Load l = prepare(image, GR_FATBIN_UNBOUNDED, file);
    if (l.changed && !l.list->next && gr_twins_begin(l.list)) {
        l.image = image;
        l.changed = false;
    }
    // What is not changed may be a wrapper of the program that has rewritten code already.
    const void *linked = l.list && (l.changed || l.list->wrapped) ? gr_modules_link(l.list) : NULL;
    if (linked) {
        l.unlinked = l.image;
        l.image = linked;
    } else if (l.changed && l.list->boxed && l.image == l.list->boxed) {
        l.unlinked = l.list->text;
    }
    gr_session_unlock();
    return l;
}

static void refuse(Load *l, CUresult error) {
    gr_session_lock();
    gr_modules_refused(l->list, error);
    gr_session_unlock();
}

// Takes the driver's answer. True: it refused, and l->image is now the next to try.
static bool try_next(Load *l, CUresult rc) {
    if (rc == CUDA_SUCCESS || (!l->unlinked && !l->changed))
        return false;
    if (l->unlinked) {
        gr_session_lock();
        gr_modules_not_linked(l->list, rc);
        gr_session_unlock();
        l->image = l->unlinked;
        l->unlinked = NULL;
        return true;
    }
    refuse(l, rc);
    l->image = l->original;
    l->changed = false;
    return true;
}

static CUresult end_load(const Load *l, CUresult rc, CUmodule module, CUlibrary library) {
    gr_session_lock();
    if (rc == CUDA_SUCCESS)
        gr_modules_loaded(l->list, module, library);
    for (const LoadedModule *m = l->list; m && rc != CUDA_SUCCESS; m = m->next)
        if (m->unchecked) // nothing in it can run, but why not is what the user wants to know
            gr_session_notef("%s was not loaded (CUDA error %d): %s", m->pub.name, (int)rc, m->unchecked);
    gr_session_unlock();
    return rc;
}

CUresult gr_on_module_load_data(CUresult (*real)(CUmodule *, const void *), CUmodule *out,
                                const void *image) {
    if (!out || !image)
        return real(out, image);
    Load l = begin_load(image, NULL);
    CUresult rc;
    do
        rc = real(out, l.image);
    while (try_next(&l, rc));
    return end_load(&l, rc, *out, NULL);
}

CUresult gr_on_module_load_data_ex(CUresult (*real)(CUmodule *, const void *, unsigned, CUjit_option *,
                                                    void **),
                                   CUmodule *out, const void *image, unsigned n, CUjit_option *options,
                                   void **values) {
    if (!out || !image)
        return real(out, image, n, options, values);
    Load l = begin_load(image, NULL);
    CUresult rc;
    do
        rc = real(out, l.image, n, options, values);
    while (try_next(&l, rc));
    return end_load(&l, rc, *out, NULL);
}

CUresult gr_on_module_load(CUresult (*real)(CUmodule *, const char *), CUmodule *out, const char *file) {
    CUresult (*load)(CUmodule *, const void *) =
        (CUresult(*)(CUmodule *, const void *))gr_driver_function("cuModuleLoadData");
    if (!out || !file || !load)
        return real(out, file);
    Load l = begin_load(NULL, file);
    CUresult rc;
    do
        rc = l.image ? load(out, l.image) : real(out, file);
    while (try_next(&l, rc));
    return end_load(&l, rc, *out, NULL);
}

CUresult gr_on_library_load_data(CUresult (*real)(CUlibrary *, const void *, CUjit_option *, void **,
                                                  unsigned, CUlibraryOption *, void **, unsigned),
                                 CUlibrary *out, const void *code, CUjit_option *jit, void **jit_values,
                                 unsigned n_jit, CUlibraryOption *options, void **values, unsigned n) {
    if (!out || !code)
        return real(out, code, jit, jit_values, n_jit, options, values, n);
    Load l = begin_load(code, NULL);
    CUresult rc;
    do
        rc = real(out, l.image, jit, jit_values, n_jit, options, values, n);
    while (try_next(&l, rc));
    return end_load(&l, rc, NULL, *out);
}

CUresult gr_on_library_load_file(CUresult (*real)(CUlibrary *, const char *, CUjit_option *, void **,
                                                  unsigned, CUlibraryOption *, void **, unsigned),
                                 CUlibrary *out, const char *file, CUjit_option *jit, void **jit_values,
                                 unsigned n_jit, CUlibraryOption *options, void **values, unsigned n) {
    typedef CUresult (*LoadData)(CUlibrary *, const void *, CUjit_option *, void **, unsigned,
                                 CUlibraryOption *, void **, unsigned);
    LoadData load = (LoadData)gr_driver_function("cuLibraryLoadData");
    if (!out || !file || !load)
        return real(out, file, jit, jit_values, n_jit, options, values, n);
    Load l = begin_load(NULL, file);
    CUresult rc;
    do
        rc = l.image ? load(out, l.image, jit, jit_values, n_jit, options, values, n)
                     : real(out, file, jit, jit_values, n_jit, options, values, n);
    while (try_next(&l, rc));
    return end_load(&l, rc, NULL, *out);
}

CUresult gr_on_module_unload(CUresult (*real)(CUmodule), CUmodule module) {
    gr_session_lock();
    const LoadedModule *list = gr_modules_of(module);
    if (!list || !list->library) { // a library's module stays: the driver refuses (cuModuleUnload)
        gr_records_sync();
        gr_modules_unloaded(module);
    }
    gr_session_unlock();
    return real(module);
}

CUresult gr_on_library_unload(CUresult (*real)(CUlibrary), CUlibrary library) {
    gr_session_lock();
    gr_records_sync();
    gr_modules_unloaded(library);
    gr_session_unlock();
    return real(library);
}

// ---- kernels ---------------------------------------------------------------------------------------------

CUresult gr_on_module_get_function(CUresult (*real)(CUfunction *, CUmodule, const char *), CUfunction *out,
                                   CUmodule module, const char *name) {
    CUresult rc = real(out, module, name);
    if (rc != CUDA_SUCCESS)
        return rc;
    gr_session_lock();
    gr_kernel_found(*out, name, gr_modules_of(module));
    gr_session_unlock();
    return rc;
}

CUresult gr_on_library_get_kernel(CUresult (*real)(CUkernel *, CUlibrary, const char *), CUkernel *out,
                                  CUlibrary library, const char *name) {
    CUresult rc = real(out, library, name);
    if (rc != CUDA_SUCCESS)
        return rc;
    gr_session_lock();
    gr_kernel_found(*out, name, gr_modules_of(library));
    gr_session_unlock();
    return rc;
}

CUresult gr_on_library_get_module(CUresult (*real)(CUmodule *, CUlibrary), CUmodule *out, CUlibrary library) {
    CUresult rc = real(out, library);
    if (rc != CUDA_SUCCESS)
        return rc;
    gr_session_lock();
    LoadedModule *list = gr_modules_of(library);
    if (list)
        gr_modules_known_as(list, *out);
    gr_session_unlock();
    return rc;
}

CUresult gr_on_kernel_get_function(CUresult (*real)(CUfunction *, CUkernel), CUfunction *out,
                                   CUkernel kernel) {
    CUresult rc = real(out, kernel);
    if (rc != CUDA_SUCCESS)
        return rc;
    gr_session_lock();
    Kernel *k = gr_map_get_u64(&gr_session.kernels_of, (uintptr_t)kernel);
    if (k)
        gr_map_put_u64(&gr_session.kernels_of, (uintptr_t)*out, k);
    gr_session_unlock();
    return rc;
}

// ---- the driver's linker ---------------------------------------------------------------------------------

typedef struct LinkState {
    LoadedModule *list;
    const void *image;
    Arena arena; // of the inputs' options
} LinkState;

static LinkState *link_state(CUlinkState state) {
    LinkState *l = gr_map_get_u64(&gr_session.links, (uintptr_t)state);
    if (!l && (l = calloc(1, sizeof *l))) {
        gr_arena_init(&l->arena);
        gr_map_put_u64(&gr_session.links, (uintptr_t)state, l);
    }
    return l;
}

static Load begin_link(CUlinkState state, const void *data, size_t size, const char *file) {
    gr_session_lock();
    Load l = prepare(data, size, file);
    LinkState *link = link_state(state);
    if (link && l.list) {
        LoadedModule *last = l.list;
        for (l.units = 1; last->next; l.units++)
            last = last->next;
        last->next = link->list;
        link->list = l.list;
    }
    gr_session_unlock();
    return l;
}

typedef CUresult (*AddData)(CUlinkState, CUjitInputType, void *, size_t, const char *, unsigned,
                            CUjit_option *, void **);

// Adds the rewritten PTX of a unit, with the program's options and, unless these say it, its functions' register limit.
static CUresult add_unit(AddData add, CUlinkState state, const LoadedModule *m, const char *name, unsigned n,
                         CUjit_option *options, void **values) {
    size_t len = m->text_len + 1;
    bool limited = !m->pub.link_registers;
    for (unsigned k = 0; k < n && options; k++)
        limited |= options[k] == CU_JIT_MAX_REGISTERS;
    gr_session_lock();
    LinkState *link = limited ? NULL : link_state(state);
    CUjit_option *more = link ? GR_NEW_ARRAY(&link->arena, CUjit_option, (size_t)n + 1) : NULL;
    void **more_values = link ? GR_NEW_ARRAY(&link->arena, void *, (size_t)n + 1) : NULL;
    gr_session_unlock();
    if (!more || !more_values || (n && (!options || !values)))
        return add(state, CU_JIT_INPUT_PTX, m->text, len, name, n, options, values);
    if (n) {
        memcpy(more, options, n * sizeof *more);
        memcpy(more_values, values, n * sizeof *more_values);
    }
    more[n] = CU_JIT_MAX_REGISTERS;
    more_values[n] = (void *)(uintptr_t)m->pub.link_registers;
    CUresult rc = add(state, CU_JIT_INPUT_PTX, m->text, len, name, n + 1, more, more_values);
    if (n) // some are answers
        memcpy(values, more_values, n * sizeof *values);
    return rc;
}

// Adds, for one input, its PTX or all PTX of a piece of machine code; the list has those of earlier inputs behind them.
static CUresult add_rewritten(AddData add, CUlinkState state, const Load *l, const char *name, unsigned n,
                              CUjit_option *options, void **values) {
    const LoadedModule *m = l->list;
    CUresult rc = CUDA_SUCCESS;
    for (unsigned k = 0; k < l->units; k++, m = m->next)
        if (!m->pub.rewritten)
            return CUDA_ERROR_INVALID_SOURCE; // the machine code as a whole, then
    m = l->list;
    for (unsigned k = 0; k < l->units && rc == CUDA_SUCCESS; k++, m = m->next)
        rc = add_unit(add, state, m, name, n, options, values);
    return rc;
}

CUresult gr_on_link_add_data(CUresult (*real)(CUlinkState, CUjitInputType, void *, size_t, const char *,
                                              unsigned, CUjit_option *, void **),
                             CUlinkState state, CUjitInputType type, void *data, size_t size,
                             const char *name, unsigned n, CUjit_option *options, void **values) {
    Load l = begin_link(state, data, size, NULL);
    if (!l.changed)
        return real(state, type, data, size, name, n, options, values);
    CUresult rc = add_rewritten(real, state, &l, name, n, options, values);
    if (rc == CUDA_SUCCESS)
        return rc;
    refuse(&l, rc);
    return real(state, type, data, size, name, n, options, values);
}

CUresult gr_on_link_add_file(CUresult (*real)(CUlinkState, CUjitInputType, const char *, unsigned,
                                              CUjit_option *, void **),
                             CUlinkState state, CUjitInputType type, const char *path, unsigned n,
                             CUjit_option *options, void **values) {
    AddData add = (AddData)gr_driver_function("cuLinkAddData");
    Load l = begin_link(state, NULL, 0, path);
    if (!l.changed || !add)
        return real(state, type, path, n, options, values);
    CUresult rc = add_rewritten(add, state, &l, path, n, options, values);
    if (rc == CUDA_SUCCESS)
        return rc;
    refuse(&l, rc);
    return real(state, type, path, n, options, values);
}

CUresult gr_on_link_complete(CUresult (*real)(CUlinkState, void **, size_t *), CUlinkState state,
                             void **cubin, size_t *size) {
    CUresult rc = real(state, cubin, size);
    if (rc != CUDA_SUCCESS || !cubin)
        return rc;
    gr_session_lock();
    LinkState *link = link_state(state);
    if (link && link->list) {
        link->image = *cubin;
        gr_modules_alias(*cubin, link->list);
        gr_machine_linked(*cubin, size ? *size : GR_FATBIN_UNBOUNDED,
                          link->list); // programs load copies of it
    }
    gr_session_unlock();
    return rc;
}

CUresult gr_on_link_destroy(CUresult (*real)(CUlinkState), CUlinkState state) {
    gr_session_lock();
    LinkState *link = gr_map_remove_u64(&gr_session.links, (uintptr_t)state);
    if (link && link->image) // its memory goes with the linker
        gr_modules_unalias(link->image);
    if (link)
        gr_arena_free(&link->arena);
    free(link);
    gr_session_unlock();
    return real(state);
}
