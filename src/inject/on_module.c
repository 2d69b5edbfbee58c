// SPDX-License-Identifier: Apache-2.0
// The entry points that bring code into the driver, and those that look something up in it.
#include "inject/handlers.h"
#include "inject/session.h"

#include "fatbin/fatbin.h"

#include <stdlib.h>

// ---- modules and libraries -------------------------------------------------------------------------------

// One load, as the three steps around it: what goes in, whether it went, what came out.
typedef struct Load {
    LoadedModule *list;
    const void *image; // what the driver gets
    bool changed;
} Load;

static Load begin_load(const void *image, size_t len, const char *file) {
    const void *instead = NULL;
    gr_session_lock();
    Load l = {.list = file ? gr_modules_prepare_file(file, &instead)
                           : gr_modules_prepare(image, len, NULL, &instead)};
    gr_session_unlock();
    l.changed = instead != NULL;
    l.image = instead ? instead : image;
    return l;
}

static void refuse(Load *l, CUresult error) {
    gr_session_lock();
    gr_modules_refused(l->list, error);
    gr_session_unlock();
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
    Load l = begin_load(image, GR_FATBIN_UNBOUNDED, NULL);
    CUresult rc = real(out, l.image);
    if (rc != CUDA_SUCCESS && l.changed) {
        refuse(&l, rc);
        rc = real(out, image);
    }
    return end_load(&l, rc, *out, NULL);
}

CUresult gr_on_module_load_data_ex(CUresult (*real)(CUmodule *, const void *, unsigned, CUjit_option *,
                                                    void **),
                                   CUmodule *out, const void *image, unsigned n, CUjit_option *options,
                                   void **values) {
    if (!out || !image)
        return real(out, image, n, options, values);
    Load l = begin_load(image, GR_FATBIN_UNBOUNDED, NULL);
    CUresult rc = real(out, l.image, n, options, values);
    if (rc != CUDA_SUCCESS && l.changed) {
        refuse(&l, rc);
        rc = real(out, image, n, options, values);
    }
    return end_load(&l, rc, *out, NULL);
}

CUresult gr_on_module_load(CUresult (*real)(CUmodule *, const char *), CUmodule *out, const char *file) {
    CUresult (*load)(CUmodule *, const void *) =
        (CUresult(*)(CUmodule *, const void *))gr_driver_function("cuModuleLoadData");
    if (!out || !file || !load)
        return real(out, file);
    Load l = begin_load(NULL, 0, file);
    CUresult rc = l.changed ? load(out, l.image) : CUDA_ERROR_NOT_SUPPORTED;
    if (rc != CUDA_SUCCESS) {
        if (l.changed)
            refuse(&l, rc);
        rc = real(out, file);
    }
    return end_load(&l, rc, *out, NULL);
}

CUresult gr_on_library_load_data(CUresult (*real)(CUlibrary *, const void *, CUjit_option *, void **,
                                                  unsigned, CUlibraryOption *, void **, unsigned),
                                 CUlibrary *out, const void *code, CUjit_option *jit, void **jit_values,
                                 unsigned n_jit, CUlibraryOption *options, void **values, unsigned n) {
    if (!out || !code)
        return real(out, code, jit, jit_values, n_jit, options, values, n);
    Load l = begin_load(code, GR_FATBIN_UNBOUNDED, NULL);
    CUresult rc = real(out, l.image, jit, jit_values, n_jit, options, values, n);
    if (rc != CUDA_SUCCESS && l.changed) {
        refuse(&l, rc);
        rc = real(out, code, jit, jit_values, n_jit, options, values, n);
    }
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
    Load l = begin_load(NULL, 0, file);
    CUresult rc =
        l.changed ? load(out, l.image, jit, jit_values, n_jit, options, values, n) : CUDA_ERROR_NOT_SUPPORTED;
    if (rc != CUDA_SUCCESS) {
        if (l.changed)
            refuse(&l, rc);
        rc = real(out, file, jit, jit_values, n_jit, options, values, n);
    }
    return end_load(&l, rc, NULL, *out);
}

CUresult gr_on_module_unload(CUresult (*real)(CUmodule), CUmodule module) {
    gr_session_lock();
    gr_records_sync();
    gr_modules_unloaded(module);
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
        gr_map_put_u64(&gr_session.modules_of, (uintptr_t)*out, list);
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
} LinkState;

static LinkState *link_state(CUlinkState state) {
    LinkState *l = gr_map_get_u64(&gr_session.links, (uintptr_t)state);
    if (!l && (l = calloc(1, sizeof *l)))
        gr_map_put_u64(&gr_session.links, (uintptr_t)state, l);
    return l;
}

static Load begin_link(CUlinkState state, const void *data, size_t size, const char *file) {
    Load l = begin_load(data, size, file);
    gr_session_lock();
    LinkState *link = link_state(state);
    if (link && l.list) {
        LoadedModule *last = l.list;
        while (last->next)
            last = last->next;
        last->next = link->list;
        link->list = l.list;
    }
    gr_session_unlock();
    return l;
}

// Only one PTX text can be handed on in place of one input; l.list has more when it is a wrapper, which no linker takes.
CUresult gr_on_link_add_data(CUresult (*real)(CUlinkState, CUjitInputType, void *, size_t, const char *,
                                              unsigned, CUjit_option *, void **),
                             CUlinkState state, CUjitInputType type, void *data, size_t size,
                             const char *name, unsigned n, CUjit_option *options, void **values) {
    Load l = begin_link(state, data, size, NULL);
    if (!l.changed)
        return real(state, type, data, size, name, n, options, values);
    CUresult rc = real(state, CU_JIT_INPUT_PTX, (void *)(uintptr_t)l.image, l.list->text_len + 1, name, n,
                       options, values);
    if (rc == CUDA_SUCCESS)
        return rc;
    refuse(&l, rc);
    return real(state, type, data, size, name, n, options, values);
}

CUresult gr_on_link_add_file(CUresult (*real)(CUlinkState, CUjitInputType, const char *, unsigned,
                                              CUjit_option *, void **),
                             CUlinkState state, CUjitInputType type, const char *path, unsigned n,
                             CUjit_option *options, void **values) {
    typedef CUresult (*AddData)(CUlinkState, CUjitInputType, void *, size_t, const char *, unsigned,
                                CUjit_option *, void **);
    AddData add = (AddData)gr_driver_function("cuLinkAddData");
    Load l = begin_link(state, NULL, 0, path);
    if (!l.changed || !add)
        return real(state, type, path, n, options, values);
    CUresult rc = add(state, CU_JIT_INPUT_PTX, (void *)(uintptr_t)l.image, l.list->text_len + 1, path, n,
                      options, values);
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
    }
    gr_session_unlock();
    return rc;
}

CUresult gr_on_link_destroy(CUresult (*real)(CUlinkState), CUlinkState state) {
    gr_session_lock();
    LinkState *link = gr_map_remove_u64(&gr_session.links, (uintptr_t)state);
    if (link && link->image) // its memory goes with the linker
        gr_modules_unalias(link->image);
    free(link);
    gr_session_unlock();
    return real(state);
}
