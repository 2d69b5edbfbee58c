// SPDX-License-Identifier: Apache-2.0
// module — an image loaded into a context.
#include "driver/cuda/module.h"
#include "driver/cuda/driver.h"
#include "driver/cuda/memory.h"
#include "driver/cuda/queue.h"

#include "fatbin/fatbin.h"

#include <stdio.h>

// Instructions that the device lacks fault when they are reached; the tool hears of them before.
static void report_unknown(const VmModule *vm) {
    const char *const *names;
    size_t n = gr_vm_module_unknown(vm, &names);
    for (size_t i = 0; i < n; i++) {
        char text[256];
        snprintf(text, sizeof text, "the CPU device does not know the instruction %s", names[i]);
        gr_cu_hook_note(text);
    }
}

static int64_t count_managed(const Image *image) {
    int64_t n = 0;
    for (size_t i = 0; i < image->count; i++) {
        for (uint32_t k = 0; k < image->modules[i]->n_vars; k++)
            n += image->modules[i]->vars[k]->is_managed;
    }
    return n;
}

CUresult gr_module_new(Ctx *ctx, Image *image, Library *library, JitLog *log, Module **out) {
    gr_error err = {0};
    Module *m = calloc(1, sizeof *m);
    if (!m)
        return CUDA_ERROR_OUT_OF_MEMORY;
    VmModule *runtime = NULL;
    gr_status st = image->runtime ? gr_vm_runtime(ctx->dev->vm, image->runtime, &runtime, &err) : GR_OK;
    if (st == GR_OK)
        st = gr_vm_module_load(ctx->dev->vm, image->modules, image->count, runtime, image->suffix, &m->vm,
                               &err);
    if (st != GR_OK) {
        free(m);
        gr_jit_log_error(log, &err);
        // An unresolved symbol: as NVIDIA's JIT compiler, which links while it compiles.
        return st == GR_ERR_NOT_FOUND ? CUDA_ERROR_INVALID_PTX : gr_cu_status(st);
    }
    if (!gr_vec_push(&ctx->modules, m) || !gr_cu_handle_add(m, HANDLE_MODULE)) {
        gr_vm_module_unload(m->vm);
        free(m);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    m->ctx = ctx;
    m->image = image;
    m->library = library;
    image->refs++;
    gr_mem_count_visible(count_managed(image));
    report_unknown(m->vm);
    *out = m;
    return CUDA_SUCCESS;
}

void gr_module_free(Module *m) {
    if (m->library)
        gr_library_forget(m->library, m);
    for (size_t i = 0; i < m->funcs.len; i++) {
        if (m->funcs.entries[i].live) {
            gr_cu_handle_remove(m->funcs.entries[i].value);
            free(m->funcs.entries[i].value);
        }
    }
    gr_map_free(&m->funcs);
    gr_mem_count_visible(-count_managed(m->image));
    gr_vm_module_unload(m->vm);
    gr_image_unref(m->image);
    gr_cu_handle_remove(m);
    free(m);
}

CUresult gr_module_func(Module *m, const char *name, Func **out) {
    Func *f = gr_map_get(&m->funcs, name);
    VmFunc *vm = f ? NULL : gr_vm_module_func(m->vm, name);
    if (!f && (!vm || !gr_vm_func_is_kernel(vm)))
        return CUDA_ERROR_NOT_FOUND;
    if (!f) {
        f = calloc(1, sizeof *f);
        if (!f || !gr_cu_handle_add(f, HANDLE_FUNC) || !gr_map_put(&m->funcs, gr_vm_func_name(vm), f)) {
            free(f);
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        const VmFuncAttrs *a = gr_vm_func_attrs(vm);
        uint32_t limit = m->ctx->dev->props->shared_per_block;
        f->module = m;
        f->vm = vm;
        f->max_dynamic_shared = a->shared_static < limit ? limit - (uint32_t)a->shared_static : 0;
        f->carveout = -1;
        memcpy(f->cluster, a->cluster, sizeof f->cluster);
    }
    *out = f;
    return CUDA_SUCCESS;
}

// ---- Loading -----------------------------------------------------------------------------------------------

static CUresult load(CUmodule *out, Ctx *ctx, Image *image, CUresult r, JitLog *log) {
    Module *m = NULL;
    if (r == CUDA_SUCCESS) {
        r = gr_module_new(ctx, image, NULL, log, &m);
        gr_image_unref(image);
    }
    if (r == CUDA_SUCCESS)
        *out = (CUmodule)m;
    return r;
}

CUresult cuModuleLoad(CUmodule *out, const char *path) {
    Ctx *c = NULL;
    Image *image = NULL;
    API_ENTER(API_CONTEXT, &c);
    CUresult r = out ? gr_image_load_file(path, NULL, &image) : CUDA_ERROR_INVALID_VALUE;
    return gr_cu_leave(load(out, c, image, r, NULL));
}

CUresult cuModuleLoadDataEx(CUmodule *out, const void *data, unsigned int n, CUjit_option *options,
                            void **values) {
    Ctx *c = NULL;
    Image *image = NULL;
    JitLog log;
    API_ENTER(API_CONTEXT, &c);
    gr_jit_log_init(&log, n, options, values);
    CUresult r = out ? gr_image_load(data, GR_FATBIN_UNBOUNDED, &log, &image) : CUDA_ERROR_INVALID_VALUE;
    return gr_cu_leave(load(out, c, image, r, &log));
}

CUresult cuModuleLoadData(CUmodule *out, const void *data) {
    return cuModuleLoadDataEx(out, data, 0, NULL, NULL);
}

CUresult cuModuleLoadFatBinary(CUmodule *out, const void *data) {
    return cuModuleLoadDataEx(out, data, 0, NULL, NULL);
}

CUresult cuModuleUnload(CUmodule handle) {
    API_ENTER(API_CONTEXT, NULL);
    Module *m = gr_cu_handle(handle, HANDLE_MODULE);
    if (!m || m->library)
        return gr_cu_leave(m ? CUDA_ERROR_NOT_PERMITTED : CUDA_ERROR_INVALID_HANDLE);
    Ctx *c = m->ctx;
    CUresult r = gr_queue_drain_ctx(c);
    if (gr_cu.exiting && gr_queue_pending())
        return gr_cu_leave(r);
    gr_vec_drop(&c->modules, m);
    gr_module_free(m);
    return gr_cu_leave(r);
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode) {
    if (!mode)
        return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
}

// ---- What is in it -----------------------------------------------------------------------------------------

CUresult cuModuleGetFunction(CUfunction *out, CUmodule handle, const char *name) {
    API_ENTER(API_CONTEXT, NULL);
    Module *m = gr_cu_handle(handle, HANDLE_MODULE);
    Func *f = NULL;
    CUresult r = !m              ? CUDA_ERROR_INVALID_HANDLE
                 : !out || !name ? CUDA_ERROR_INVALID_VALUE
                                 : gr_module_func(m, name, &f);
    if (r == CUDA_SUCCESS)
        *out = (CUfunction)f;
    return gr_cu_leave(r);
}

CUresult cuModuleGetFunctionCount(unsigned int *count, CUmodule handle) {
    API_ENTER(API_CONTEXT, NULL);
    Module *m = gr_cu_handle(handle, HANDLE_MODULE);
    VmFunc *const *kernels;
    if (!m || !count)
        return gr_cu_leave(m ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE);
    *count = (unsigned)gr_vm_module_kernels(m->vm, &kernels);
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuModuleEnumerateFunctions(CUfunction *out, unsigned int n, CUmodule handle) {
    API_ENTER(API_CONTEXT, NULL);
    Module *m = gr_cu_handle(handle, HANDLE_MODULE);
    if (!m || !out)
        return gr_cu_leave(m ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE);
    VmFunc *const *kernels;
    size_t count = gr_vm_module_kernels(m->vm, &kernels);
    CUresult r = CUDA_SUCCESS;
    for (size_t i = 0; i < count && i < n && r == CUDA_SUCCESS; i++) {
        Func *f;
        r = gr_module_func(m, gr_vm_func_name(kernels[i]), &f);
        if (r == CUDA_SUCCESS)
            out[i] = (CUfunction)f;
    }
    return gr_cu_leave(r);
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *addr, size_t *size, CUmodule handle, const char *name) {
    API_ENTER(API_CONTEXT, NULL);
    Module *m = gr_cu_handle(handle, HANDLE_MODULE);
    if (!m || !name)
        return gr_cu_leave(m ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE);
    uint64_t at, bytes;
    bool managed;
    if (!gr_vm_module_global(m->vm, name, &at, &bytes, &managed))
        return gr_cu_leave(CUDA_ERROR_NOT_FOUND);
    if (addr)
        *addr = at;
    if (size)
        *size = bytes;
    return gr_cu_leave(CUDA_SUCCESS);
}
