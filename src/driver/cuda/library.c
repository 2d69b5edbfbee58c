// SPDX-License-Identifier: Apache-2.0
// library — images loaded for all contexts. An image is parsed when the library is loaded. It becomes a module of a
// context when the program first asks there for one of its kernels or variables.
#include "driver/cuda/driver.h"
#include "driver/cuda/module.h"
#include "driver/cuda/queue.h"

#include "fatbin/fatbin.h"

void gr_library_forget(Library *lib, Module *m) {
    for (size_t i = 0; i < lib->modules.len; i++) {
        if (lib->modules.data[i] == m)
            lib->modules.data[i] = lib->modules.data[--lib->modules.len];
    }
}

CUresult gr_library_module(Library *lib, Ctx *ctx, Module **out) {
    for (size_t i = 0; i < lib->modules.len; i++) {
        if (lib->modules.data[i]->ctx == ctx) {
            *out = lib->modules.data[i];
            return CUDA_SUCCESS;
        }
    }
    if (!gr_vec_reserve(&lib->modules, lib->modules.len + 1))
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult r = gr_module_new(ctx, lib->image, lib, NULL, out);
    if (r == CUDA_SUCCESS)
        (void)!gr_vec_push(&lib->modules, *out);
    return r;
}

// ---- Loading -----------------------------------------------------------------------------------------------

static CUresult make_kernels(Library *lib) {
    for (size_t i = 0; i < lib->image->count; i++) {
        const PtxModule *m = lib->image->modules[i];
        for (uint32_t k = 0; k < m->n_funcs; k++) {
            const PtxFunc *f = m->funcs[k];
            if (!f->is_entry || !f->has_body || gr_map_get(&lib->kernels, f->name))
                continue;
            Kernel *kernel = calloc(1, sizeof *kernel);
            if (!kernel || !gr_map_put(&lib->kernels, f->name, kernel)) {
                free(kernel);
                return CUDA_ERROR_OUT_OF_MEMORY;
            }
            kernel->library = lib;
            kernel->name = f->name;
            if (!gr_cu_handle_add(kernel, HANDLE_KERNEL))
                return CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    return CUDA_SUCCESS;
}

static void free_library(Library *lib) {
    while (lib->modules.len) {
        Module *m = lib->modules.data[0];
        gr_vec_drop(&m->ctx->modules, m);
        gr_module_free(m); // takes itself off lib->modules
    }
    gr_vec_free(&lib->modules);
    for (size_t i = 0; i < lib->kernels.len; i++) {
        if (lib->kernels.entries[i].live) {
            gr_cu_handle_remove(lib->kernels.entries[i].value);
            free(lib->kernels.entries[i].value);
        }
    }
    gr_map_free(&lib->kernels);
    gr_image_unref(lib->image);
    gr_cu_handle_remove(lib);
    free(lib);
}

static CUresult load(CUlibrary *out, Image *image) {
    Library *lib = calloc(1, sizeof *lib);
    if (!lib || !gr_cu_handle_add(lib, HANDLE_LIBRARY)) {
        free(lib);
        gr_image_unref(image);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    lib->image = image;
    CUresult r = make_kernels(lib);
    if (r == CUDA_SUCCESS)
        *out = (CUlibrary)lib;
    else
        free_library(lib);
    return r;
}

CUresult cuLibraryLoadData(CUlibrary *out, const void *code, CUjit_option *options, void **values,
                           unsigned int n, CUlibraryOption *library_options, void **library_values,
                           unsigned int n_library) {
    (void)library_options, (void)library_values, (void)n_library; // nothing of the image is kept in its place
    JitLog log;
    Image *image = NULL;
    API_ENTER(API_INIT, NULL);
    gr_jit_log_init(&log, n, options, values);
    CUresult r = out ? gr_image_load(code, GR_FATBIN_UNBOUNDED, &log, &image) : CUDA_ERROR_INVALID_VALUE;
    return gr_cu_leave(r == CUDA_SUCCESS ? load(out, image) : r);
}

CUresult cuLibraryLoadFromFile(CUlibrary *out, const char *path, CUjit_option *options, void **values,
                               unsigned int n, CUlibraryOption *library_options, void **library_values,
                               unsigned int n_library) {
    (void)library_options, (void)library_values, (void)n_library;
    JitLog log;
    Image *image = NULL;
    API_ENTER(API_INIT, NULL);
    gr_jit_log_init(&log, n, options, values);
    CUresult r = out ? gr_image_load_file(path, &log, &image) : CUDA_ERROR_INVALID_VALUE;
    return gr_cu_leave(r == CUDA_SUCCESS ? load(out, image) : r);
}

CUresult cuLibraryUnload(CUlibrary handle) {
    API_ENTER(API_INIT, NULL);
    Library *lib = gr_cu_handle(handle, HANDLE_LIBRARY);
    if (!lib)
        return gr_cu_leave(CUDA_ERROR_INVALID_HANDLE);
    gr_queue_drain_device();
    if (gr_queue_pending() == 0 || !gr_cu.exiting) // else the process ends with it in use
        free_library(lib);
    return gr_cu_leave(CUDA_SUCCESS);
}

// ---- What is in it -----------------------------------------------------------------------------------------

CUresult cuLibraryGetKernel(CUkernel *out, CUlibrary handle, const char *name) {
    API_ENTER(API_INIT, NULL);
    Library *lib = gr_cu_handle(handle, HANDLE_LIBRARY);
    if (!lib || !out || !name)
        return gr_cu_leave(lib ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE);
    Kernel *k = gr_map_get(&lib->kernels, name);
    if (k)
        *out = (CUkernel)k;
    return gr_cu_leave(k ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND);
}

CUresult cuLibraryGetKernelCount(unsigned int *count, CUlibrary handle) {
    API_ENTER(API_INIT, NULL);
    Library *lib = gr_cu_handle(handle, HANDLE_LIBRARY);
    if (!lib || !count)
        return gr_cu_leave(lib ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE);
    *count = (unsigned)lib->kernels.live;
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuLibraryEnumerateKernels(CUkernel *out, unsigned int n, CUlibrary handle) {
    API_ENTER(API_INIT, NULL);
    Library *lib = gr_cu_handle(handle, HANDLE_LIBRARY);
    if (!lib || (!out && n))
        return gr_cu_leave(lib ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE);
    unsigned k = 0;
    for (size_t i = 0; i < lib->kernels.len && k < n; i++) {
        if (lib->kernels.entries[i].live)
            out[k++] = lib->kernels.entries[i].value;
    }
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuLibraryGetModule(CUmodule *out, CUlibrary handle) {
    Ctx *c = NULL;
    API_ENTER(API_CONTEXT, &c);
    Library *lib = gr_cu_handle(handle, HANDLE_LIBRARY);
    if (!lib || !out)
        return gr_cu_leave(lib ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE);
    return gr_cu_leave(gr_library_module(lib, c, (Module **)(void *)out));
}

static CUresult get_variable(CUdeviceptr *addr, size_t *size, CUlibrary handle, const char *name,
                             bool only_managed) {
    Ctx *c = NULL;
    API_ENTER(API_CONTEXT, &c);
    Library *lib = gr_cu_handle(handle, HANDLE_LIBRARY);
    if (!lib || !name)
        return gr_cu_leave(lib ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE);
    Module *m = NULL;
    CUresult r = gr_library_module(lib, c, &m);
    uint64_t at, bytes;
    bool managed;
    if (r == CUDA_SUCCESS &&
        (!gr_vm_module_global(m->vm, name, &at, &bytes, &managed) || (only_managed && !managed)))
        r = CUDA_ERROR_NOT_FOUND;
    if (r == CUDA_SUCCESS && addr)
        *addr = at;
    if (r == CUDA_SUCCESS && size)
        *size = bytes;
    return gr_cu_leave(r);
}

CUresult cuLibraryGetGlobal(CUdeviceptr *addr, size_t *size, CUlibrary handle, const char *name) {
    return get_variable(addr, size, handle, name, false);
}

CUresult cuLibraryGetManaged(CUdeviceptr *addr, size_t *size, CUlibrary handle, const char *name) {
    return get_variable(addr, size, handle, name, true);
}

// ---- Kernels -----------------------------------------------------------------------------------------------

CUresult cuKernelGetFunction(CUfunction *out, CUkernel handle) {
    Ctx *c = NULL;
    API_ENTER(API_CONTEXT, &c);
    Kernel *k = gr_cu_handle(handle, HANDLE_KERNEL);
    Func *f = NULL;
    CUresult r = !k     ? CUDA_ERROR_INVALID_HANDLE
                 : !out ? CUDA_ERROR_INVALID_VALUE
                        : gr_func_get(c, (CUfunction)k, &f);
    if (r == CUDA_SUCCESS)
        *out = (CUfunction)f;
    return gr_cu_leave(r);
}

CUresult cuKernelGetLibrary(CUlibrary *out, CUkernel handle) {
    API_ENTER(API_INIT, NULL);
    Kernel *k = gr_cu_handle(handle, HANDLE_KERNEL);
    if (!k || !out)
        return gr_cu_leave(k ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE);
    *out = (CUlibrary)k->library;
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuKernelGetName(const char **name, CUkernel handle) {
    API_ENTER(API_INIT, NULL);
    Kernel *k = gr_cu_handle(handle, HANDLE_KERNEL);
    if (!k || !name)
        return gr_cu_leave(k ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE);
    *name = k->name;
    return gr_cu_leave(CUDA_SUCCESS);
}

// The kernel on a device: in the current context if that is on it, else in the device's primary one.
static CUresult kernel_on(CUkernel handle, CUdevice device, Func **out) {
    Kernel *k = gr_cu_handle(handle, HANDLE_KERNEL);
    Dev *d = gr_cu_device(device);
    if (!k || !d)
        return k ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_HANDLE;
    Ctx *c = gr_ctx_current();
    if (!c || c->dev != d)
        c = d->primary;
    return c ? gr_func_get(c, (CUfunction)k, out) : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel handle, CUdevice device) {
    Func *f = NULL;
    API_ENTER(API_INIT, NULL);
    CUresult r = value ? kernel_on(handle, device, &f) : CUDA_ERROR_INVALID_VALUE;
    return gr_cu_leave(r == CUDA_SUCCESS ? gr_func_attribute(f, attribute, value) : r);
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel handle, CUdevice device) {
    Func *f = NULL;
    API_ENTER(API_INIT, NULL);
    CUresult r = kernel_on(handle, device, &f);
    return gr_cu_leave(r == CUDA_SUCCESS ? gr_func_set_attribute(f, attribute, value) : r);
}

CUresult cuKernelSetCacheConfig(CUkernel handle, CUfunc_cache config, CUdevice device) {
    Func *f = NULL;
    API_ENTER(API_INIT, NULL);
    CUresult r = kernel_on(handle, device, &f);
    if (r == CUDA_SUCCESS)
        f->cache = config;
    return gr_cu_leave(r);
}

CUresult cuKernelGetParamInfo(CUkernel handle, size_t index, size_t *offset, size_t *size) {
    Ctx *c = NULL;
    API_ENTER(API_CONTEXT, &c);
    Func *f = NULL;
    CUresult r = gr_cu_handle(handle, HANDLE_KERNEL) ? gr_func_get(c, (CUfunction)handle, &f)
                                                     : CUDA_ERROR_INVALID_HANDLE;
    return gr_cu_leave(r == CUDA_SUCCESS ? gr_func_param_info(f, index, offset, size) : r);
}
