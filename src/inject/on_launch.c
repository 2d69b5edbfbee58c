// SPDX-License-Identifier: Apache-2.0
// Launches: numbered, counted by kernel, and shown to the engine, which may do them itself.
#include "inject/handlers.h"
#include "inject/session.h"

#include <string.h>

typedef struct Launching {
    GrLaunch launch;
    Kernel *kernel;
    bool done; // by the engine
    CUresult result;
} Launching;

static void begin_launch(Launching *l, CUfunction f) {
    Session *s = &gr_session;
    gr_session_lock();
    l->kernel = gr_kernel_of(f);
    l->launch.number = s->n_launches + 1;
    l->launch.func = f;
    if (l->kernel) {
        l->launch.kernel = l->kernel->name;
        l->launch.module = l->kernel->module ? &l->kernel->module->pub : NULL;
        for (LoadedModule *m = l->kernel->modules; m; m = m->next) // a linked kernel runs code of all of them
            gr_module_attach(m);
    } else {
        gr_session_notef("a kernel was launched that no interposed call had looked up");
    }
    if (s->engine->before_launch)
        s->engine->before_launch(s->engine_self, &l->launch);
    l->done =
        s->engine->instead_of_launch && s->engine->instead_of_launch(s->engine_self, &l->launch, &l->result);
    gr_session_unlock();
}

static CUresult end_launch(Launching *l, CUresult result) {
    Session *s = &gr_session;
    gr_session_lock();
    if (l->kernel)
        gr_kernel_launched(l->kernel, &l->launch, result);
    if (s->engine->after_launch)
        s->engine->after_launch(s->engine_self, &l->launch, result);
    gr_session_unlock();
    return result;
}

CUresult gr_on_launch_kernel(CUresult (*real)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                                              unsigned, unsigned, CUstream, void **, void **),
                             CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                             unsigned bz, unsigned shared, CUstream stream, void **params, void **extra) {
    Launching l = {.launch = {.grid = {gx, gy, gz},
                              .block = {bx, by, bz},
                              .shared_bytes = shared,
                              .stream = stream,
                              .params = params,
                              .extra = extra}};
    begin_launch(&l, f);
    return end_launch(&l, l.done ? l.result : real(f, gx, gy, gz, bx, by, bz, shared, stream, params, extra));
}

CUresult gr_on_launch_kernel_ex(CUresult (*real)(const CUlaunchConfig *, CUfunction, void **, void **),
                                const CUlaunchConfig *c, CUfunction f, void **params, void **extra) {
    if (!c)
        return real(c, f, params, extra);
    Launching l = {.launch = {.grid = {c->gridDimX, c->gridDimY, c->gridDimZ},
                              .block = {c->blockDimX, c->blockDimY, c->blockDimZ},
                              .shared_bytes = c->sharedMemBytes,
                              .stream = c->hStream,
                              .params = params,
                              .extra = extra}};
    begin_launch(&l, f);
    return end_launch(&l, l.done ? l.result : real(c, f, params, extra));
}

CUresult gr_on_launch_cooperative(CUresult (*real)(CUfunction, unsigned, unsigned, unsigned, unsigned,
                                                   unsigned, unsigned, unsigned, CUstream, void **),
                                  CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                  unsigned by, unsigned bz, unsigned shared, CUstream stream, void **params) {
    Launching l = {.launch = {.grid = {gx, gy, gz},
                              .block = {bx, by, bz},
                              .shared_bytes = shared,
                              .stream = stream,
                              .params = params}};
    begin_launch(&l, f);
    return end_launch(&l, l.done ? l.result : real(f, gx, gy, gz, bx, by, bz, shared, stream, params));
}

CUresult gr_on_graph_launch(CUresult (*real)(CUgraphExec, CUstream), CUgraphExec graph, CUstream stream) {
    gr_session_lock();
    // A graph's kernels are rewritten like all others, but what they are called is not looked up node by node.
    for (size_t i = 0; i < gr_session.modules.len; i++)
        gr_module_attach(gr_session.modules.data[i]);
    gr_session_unlock();
    gr_session_remarkf("%s", GR_REMARK_GRAPH);
    return real(graph, stream);
}
