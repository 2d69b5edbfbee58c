// SPDX-License-Identifier: Apache-2.0
// Modules that are in the driver, given to the engine: once for each context that may have a copy of their variables.
#include "inject/declared.h"
#include "inject/memory.h"
#include "inject/session.h"

static gr_status get_global(void *handle, const char *name, CUdeviceptr *addr, size_t *size) {
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
    return rc == CUDA_SUCCESS ? GR_OK : GR_ERR_NOT_FOUND;
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
        gr_session_notef("module %s runs without its runtime: %s", m->pub.name, err.msg);
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
