// SPDX-License-Identifier: Apache-2.0
// Modules that are in the driver, given to the engine: once for each context that may have a copy of their variables.
#include "inject/declared.h"
#include "inject/memory.h"
#include "inject/session.h"

#include <stdlib.h>

enum { KERNELS_LOADED = 256 }; // of a module with more, kernels are loaded as they are launched

static CUresult get_global(void *handle, const char *name, CUdeviceptr *addr, size_t *size) {
    LoadedModule *m = handle;
    CUresult rc = CUDA_ERROR_NOT_FOUND;
    if (m->module) {
        CUresult (*get)(CUdeviceptr *, size_t *, CUmodule, const char *) = (CUresult(*)(
            CUdeviceptr *, size_t *, CUmodule, const char *))gr_driver_function("cuModuleGetGlobal");
        if (get)
            rc = get(addr, size, m->module, name);
    } else if (m->library) {
        CUresult (*get)(CUdeviceptr *, size_t *, CUlibrary, const char *) = (CUresult(*)(
            CUdeviceptr *, size_t *, CUlibrary, const char *))gr_driver_function("cuLibraryGetGlobal");
        if (get)
            rc = get(addr, size, m->library, name);
    }
    return rc;
}

CUcontext gr_current_context(void) {
    static CUresult (*get)(CUcontext *); // asked before every launch; found under the session's lock
    CUcontext ctx = NULL;
    if (!get)
        get = (CUresult(*)(CUcontext *))gr_driver_function("cuCtxGetCurrent");
    return get && get(&ctx) == CUDA_SUCCESS ? ctx : NULL;
}

static bool load_into_engine(LoadedModule *m) {
    Session *s = &gr_session;
    gr_error err = {0};
    unsigned aside = gr_aside_begin();
    gr_status st = s->engine->loaded && m->pub.records ? gr_records_map(m, &err) : GR_OK;
    if (st == GR_OK && s->engine->loaded)
        st = s->engine->loaded(s->engine_self, &m->pub, get_global, m, &err);
    gr_aside_end(aside);
    if (st != GR_OK && !m->attach_failed)
        gr_session_notef("%s runs without its runtime: %s", m->pub.name, err.msg);
    m->attach_failed = m->attach_failed || st != GR_OK;
    return st == GR_OK;
}

bool gr_module_attach(LoadedModule *m) {
    const GrEngine *e = gr_session.engine;
    if (!m->pub.rewritten || (!e->loaded && !gr_ranges_are_told()))
        return m->pub.rewritten;
    CUcontext ctx = gr_current_context();
    if (!ctx || (!m->module && !m->library))
        return false;
    for (size_t i = 0; i < m->ready.len; i++)
        if (m->ready.data[i] == ctx)
            return true;
    if ((!m->by_kernel && !load_into_engine(m)) || !gr_vec_push(&m->ready, ctx))
        return false;
    unsigned aside = gr_aside_begin(); // a capture may be open, and the driver may load what is asked for
    gr_declared_tell(m, ctx, get_global);
    gr_aside_end(aside);
    return true;
}

// ---- Kernels --------------------------------------------------------------------------------------------------------

// The driver functions are CUDA 12.4's; an older driver has none of them, and loads kernels as they are launched.
static void load_library(CUlibrary library) {
    CUresult (*count)(unsigned *, CUlibrary) =
        (CUresult(*)(unsigned *, CUlibrary))gr_driver_function("cuLibraryGetKernelCount");
    CUresult (*list)(CUkernel *, unsigned, CUlibrary) =
        (CUresult(*)(CUkernel *, unsigned, CUlibrary))gr_driver_function("cuLibraryEnumerateKernels");
    CUresult (*of)(CUfunction *, CUkernel) =
        (CUresult(*)(CUfunction *, CUkernel))gr_driver_function("cuKernelGetFunction");
    CUresult (*load)(CUfunction) = (CUresult(*)(CUfunction))gr_driver_function("cuFuncLoad");
    unsigned n = 0;
    if (!count || !list || !of || !load || count(&n, library) != CUDA_SUCCESS || n > KERNELS_LOADED)
        return;
    CUkernel *kernels = calloc(n, sizeof *kernels);
    for (unsigned i = 0; kernels && list(kernels, n, library) == CUDA_SUCCESS && i < n; i++) {
        CUfunction f;
        if (of(&f, kernels[i]) == CUDA_SUCCESS)
            (void)load(f);
    }
    free(kernels);
}

static void load_module(CUmodule module) {
    CUresult (*count)(unsigned *, CUmodule) =
        (CUresult(*)(unsigned *, CUmodule))gr_driver_function("cuModuleGetFunctionCount");
    CUresult (*list)(CUfunction *, unsigned, CUmodule) =
        (CUresult(*)(CUfunction *, unsigned, CUmodule))gr_driver_function("cuModuleEnumerateFunctions");
    CUresult (*load)(CUfunction) = (CUresult(*)(CUfunction))gr_driver_function("cuFuncLoad");
    unsigned n = 0;
    if (!count || !list || !load || count(&n, module) != CUDA_SUCCESS || n > KERNELS_LOADED)
        return;
    CUfunction *functions = calloc(n, sizeof *functions);
    for (unsigned i = 0; functions && list(functions, n, module) == CUDA_SUCCESS && i < n; i++)
        (void)load(functions[i]);
    free(functions);
}

static bool has(const LoadedModule *m, CUcontext context) {
    for (size_t i = 0; i < m->complete.len; i++)
        if (m->complete.data[i] == context)
            return true;
    return false;
}

// A module that the driver has, but perhaps not its kernels; NULL: there is none.
static LoadedModule *next_to_load(CUcontext context) {
    for (size_t i = 0; i < gr_session.modules.len; i++) {
        LoadedModule *m = gr_session.modules.data[i];
        if (m->pub.rewritten && !m->by_kernel && (m->module || m->library) && !has(m, context))
            return gr_vec_push(&m->complete, context) ? m : NULL;
    }
    return NULL;
}

void gr_modules_load_kernels(void) {
    CUcontext context = gr_current_context();
    for (bool more = context != NULL; more;) {
        gr_session_lock();
        LoadedModule *m = next_to_load(context);
        CUlibrary library = m ? m->library : NULL;
        CUmodule module = m ? m->module : NULL;
        if (m)
            gr_module_attach(m);
        gr_session_unlock();
        unsigned aside = m ? gr_aside_begin() : 0;
        if (module)
            load_module(module);
        else if (library)
            load_library(library);
        if (m)
            gr_aside_end(aside);
        more = m != NULL;
    }
}
