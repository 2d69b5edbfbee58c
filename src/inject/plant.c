// SPDX-License-Identifier: Apache-2.0
#include "inject/plant.h"

#include "engines/core/control.h"
#include "inject/handlers.h"
#include "inject/inside_run.h"
#include "inject/launches.h"

#include <stdio.h>

// The loading, the look-up and the launch go the way of the program's own, through the handlers.
#define DRIVER(var, name, type)                                                                              \
    CUresult(*var) type = (CUresult(*) type)gr_session.pub.driver(&gr_session.pub, name)

static CUresult load(CUfunction *out, uint64_t *module) {
    DRIVER(load_data, "cuModuleLoadData", (CUmodule *, const void *));
    DRIVER(get_function, "cuModuleGetFunction", (CUfunction *, CUmodule, const char *));
    CUmodule handle = NULL;
    if (!load_data || !get_function)
        return CUDA_ERROR_NOT_SUPPORTED;
    CUresult rc = gr_on_module_load_data(load_data, &handle, gr_control_racy);
    if (rc != CUDA_SUCCESS)
        return rc;
    gr_session_lock();
    const LoadedModule *m = gr_modules_of(handle);
    *module = m ? m->pub.number : 0;
    gr_session_unlock();
    return gr_on_module_get_function(get_function, out, handle, GR_CONTROL_RACY);
}

static CUresult launch(CUfunction f, CUstream stream) {
    DRIVER(launch_kernel, "cuLaunchKernel",
           (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
            void **, void **));
    if (!launch_kernel)
        return CUDA_ERROR_NOT_SUPPORTED;
    Launching l = {.launch = {.func = f,
                              .grid = {GR_CONTROL_BLOCKS, 1, 1},
                              .block = {GR_CONTROL_THREADS, 1, 1},
                              .stream = stream},
                   .unrecorded = true};
    gr_launch_begin(&l);
    CUresult rc = l.shown ? gr_launch_around(&l)
                          : launch_kernel(l.twin, GR_CONTROL_BLOCKS, 1, 1, GR_CONTROL_THREADS, 1, 1, 0,
                                          stream, NULL, NULL);
    return gr_launch_end(&l, rc);
}

// Before the launch, so that what it shows is never taken for the program's own, whatever ends the program.
static void tell(uint64_t module, const char *failed, CUresult rc) {
    char why[64] = "";
    if (rc != CUDA_SUCCESS)
        snprintf(why, sizeof why, "the driver did not %s it (CUDA error %d)", failed, (int)rc);
    StrBuf b = {0};
    gr_put_u64(&b, module);
    gr_put_str(&b, why);
    gr_results_append(&gr_session.results, GR_RECORD_PLANTED, &b);
    gr_str_free(&b);
}

void gr_plant_before(CUstream stream) {
    static bool planted; // atomic
    const char *wanted = gr_run_variable(GR_PLANT_ENV);
    if (__atomic_load_n(&planted, __ATOMIC_RELAXED) || !wanted || !*wanted || gr_a_capture_is_open() ||
        !gr_current_context() || __atomic_exchange_n(&planted, true, __ATOMIC_RELAXED))
        return;
    CUfunction f = NULL;
    uint64_t module = 0;
    CUresult rc = load(&f, &module);
    tell(module, "load", rc);
    if (rc == CUDA_SUCCESS && (rc = launch(f, stream)) != CUDA_SUCCESS)
        tell(0, "launch", rc);
}
