// SPDX-License-Identifier: Apache-2.0
#include "inject/launches.h"

#include "inject/declared.h"
#include "inject/memory.h"
#include "inject/recording.h"
#include "inject/twins.h"
#include "inject/uses.h"

#include <stdlib.h>
#include <string.h>

typedef CUresult LaunchEx(const CUlaunchConfig *, CUfunction, void **, void **);

static LaunchEx *launch_ex(void) {
    static LaunchEx *found; // threads may do this at once: they find the same
    LaunchEx *f = __atomic_load_n(&found, __ATOMIC_RELAXED);
    if (!f) {
        f = (LaunchEx *)gr_driver_function("cuLaunchKernelEx");
        __atomic_store_n(&found, f, __ATOMIC_RELAXED);
    }
    return f;
}

// ---- Captures -----------------------------------------------------------------------------------------------

static int open_captures; // atomic; too many do no harm

void gr_capture_began(void) { __atomic_add_fetch(&open_captures, 1, __ATOMIC_SEQ_CST); }

void gr_capture_ended(void) { __atomic_sub_fetch(&open_captures, 1, __ATOMIC_SEQ_CST); }

bool gr_a_capture_is_open(void) { return __atomic_load_n(&open_captures, __ATOMIC_SEQ_CST) > 0; }

bool gr_engine_wants_graphs(void) {
    const GrEngine *e = gr_session.engine;
    return e->around_launch || e->copied || e->filled;
}

bool gr_graphs_are_shown(void) { return gr_engine_wants_graphs() || gr_recording_is_on(); }

bool gr_stream_is_captured(CUstream stream) {
    typedef CUresult IsCapturing(CUstream, CUstreamCaptureStatus *);
    if (!gr_a_capture_is_open())
        return false;
    IsCapturing *ask = (IsCapturing *)gr_driver_function("cuStreamIsCapturing");
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    // An error means the legacy stream during a capture that it would break, so that the driver is about to refuse.
    return ask && (ask(stream, &status) != CUDA_SUCCESS || status != CU_STREAM_CAPTURE_STATUS_NONE);
}

// ---- The driver's side -----------------------------------------------------------------------------------------

// Submits the launch in one form, whatever call it was. Without a layout only the program's own parameters will do.
static CUresult submit(GrRun *run, const void *params) {
    Launching *l = (Launching *)run;
    const GrLaunch *g = &l->launch;
    LaunchEx *launch = launch_ex();
    if (!launch || (params && !g->params_known))
        return CUDA_ERROR_NOT_SUPPORTED;
    CUlaunchConfig config = {.gridDimX = g->grid[0],
                             .gridDimY = g->grid[1],
                             .gridDimZ = g->grid[2],
                             .blockDimX = g->block[0],
                             .blockDimY = g->block[1],
                             .blockDimZ = g->block[2],
                             .sharedMemBytes = g->shared_bytes + run->more_shared,
                             .hStream = g->stream,
                             .attrs = g->attributes,
                             .numAttrs = g->n_attributes};
    if (!g->params_known)
        return launch(&config, g->func, l->params, l->extra);
    const char *bytes = params ? params : g->params;
    for (uint32_t i = 0; i < g->n_params; i++)
        l->pointers[i] = (void *)(uintptr_t)(bytes + g->layout[i].offset);
    return launch(&config, g->func, l->pointers, NULL);
}

// ---- What the launch owns ----------------------------------------------------------------------------------------

static void read_attribute(GrLaunch *g, const CUlaunchAttribute *a) {
    switch (a->id) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: g->cooperative = a->value.cooperative != 0; break;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY: g->priority = a->value.priority; break;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
        g->programmatic = a->value.programmaticStreamSerializationAllowed != 0;
        break;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        g->cluster[0] = a->value.clusterDim.x;
        g->cluster[1] = a->value.clusterDim.y;
        g->cluster[2] = a->value.clusterDim.z;
        break;
    default: break;
    }
}

static bool copy_attributes(Launching *l) {
    GrLaunch *g = &l->launch;
    bool asked = g->cooperative, found = false;
    l->attributes = calloc((size_t)g->n_attributes + 1, sizeof *l->attributes);
    if (!l->attributes)
        return false;
    for (uint32_t i = 0; i < g->n_attributes; i++) {
        l->attributes[i] = g->attributes[i];
        found = found || g->attributes[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
        read_attribute(g, &l->attributes[i]);
    }
    if (asked && !found) // cuLaunchCooperativeKernel
        l->attributes[g->n_attributes++] =
            (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};
    g->attributes = l->attributes;
    return true;
}

// The caller's own buffer, if it has one large enough.
static const void *own_buffer(void **extra, size_t need) {
    const void *buffer = NULL;
    size_t size = 0;
    for (size_t i = 0; extra && extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
        if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[i + 1];
        else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[i + 1])
            size = *(const size_t *)extra[i + 1];
        else
            return NULL;
    }
    return size >= need ? buffer : NULL;
}

// Launches that the driver would refuse get no layout and stay as they are: the driver says what is wrong.
static bool copy_params(Launching *l) {
    GrLaunch *g = &l->launch;
    if (!gr_declared_layout(l->kernel, g->func, &g->layout, &g->n_params, &g->param_bytes))
        return true;
    l->pointers = calloc((size_t)g->n_params + 1, sizeof *l->pointers);
    char *bytes = g->params = calloc(1, g->param_bytes + 1);
    if (!l->pointers || !bytes)
        return false;
    const void *buffer = l->params ? NULL : own_buffer(l->extra, g->param_bytes);
    g->params_known = !(l->params && l->extra) && (l->params || buffer || !g->n_params);
    if (buffer)
        memcpy(bytes, buffer, g->param_bytes);
    for (uint32_t i = 0; l->params && g->params_known && i < g->n_params; i++) {
        g->params_known = l->params[i] != NULL;
        if (l->params[i])
            memcpy(bytes + g->layout[i].offset, l->params[i], g->layout[i].size);
    }
    return true;
}

static void drop_copies(Launching *l) {
    free(l->attributes);
    free(l->pointers);
    free(l->launch.params);
    free(l->launch.layout);
}

CUresult gr_launch_around(Launching *l) {
    Session *s = &gr_session;
    GrLaunch *g = &l->launch;
    l->run = (GrRun){.submit = submit};
    g->context = gr_current_context();
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
    // What the engine asks of the driver would break a capture that is open in another stream.
    bool capturing = gr_a_capture_is_open();
    unsigned aside = capturing ? gr_aside_begin() : 0;
    if (copy_attributes(l) && copy_params(l))
        result = s->engine->around_launch ? s->engine->around_launch(s->engine_self, g, &l->run)
                                          : submit(&l->run, NULL); // a node of a graph
    if (capturing)
        gr_aside_end(aside);
    drop_copies(l);
    return result;
}

// Makes the line of the launch, from copies of its own. With the lock.
static void record(Launching *l) {
    Launching copy = *l;
    if (copy_attributes(&copy) && copy_params(&copy))
        l->line = gr_recording_line(&copy.launch);
    drop_copies(&copy);
}

static bool is_in(const void *word, unsigned kinds, GrRange *out) {
    CUdeviceptr at;
    memcpy(&at, word, sizeof at);
    const GrRange *r = gr_range_at(at);
    if (!r || !(kinds >> r->kind & 1))
        return false;
    *out = *r;
    out->at = at;
    out->size = r->size - (at - r->at);
    return true;
}

bool gr_launch_points(const GrLaunch *g, unsigned kinds, GrRange *out) {
    const Launching *l = (const Launching *)((const char *)g - offsetof(Launching, launch));
    GrParam *layout = NULL;
    uint32_t n = 0;
    size_t bytes = 0;
    bool found = false;
    gr_session_lock();
    bool known = gr_declared_layout(l->kernel, g->func, &layout, &n, &bytes);
    const char *buffer = known && !l->params ? own_buffer(l->extra, bytes) : NULL;
    for (uint32_t i = 0; known && i < n && !found; i++) {
        const char *from = l->params ? l->params[i] : buffer ? buffer + layout[i].offset : NULL;
        // In a structure, each word may be an address.
        for (size_t k = 0; from && k + sizeof(CUdeviceptr) <= layout[i].size && !found;
             k += sizeof(CUdeviceptr))
            found = is_in(from + k, kinds, out);
    }
    gr_session_unlock();
    free(layout);
    return found;
}

// Tells the engine of the launch, before it and with its result. The engine's own calls would break an open capture.
static void tell(Launching *l, const CUresult *result) {
    const GrEngine *e = gr_session.engine;
    bool capturing = gr_a_capture_is_open();
    unsigned aside = capturing ? gr_aside_begin() : 0;
    if (result)
        e->launched(gr_session.engine_self, &l->launch, *result);
    else
        e->launching(gr_session.engine_self, &l->launch);
    if (capturing)
        gr_aside_end(aside);
}

// ---- Around the call ---------------------------------------------------------------------------------------------

static void note_uses(const Launching *l) {
    const GrLaunch *g = &l->launch;
    if (!l->captured && !g->from_graph)
        gr_use_stream(g->stream);
    for (uint32_t k = 0; k < g->n_attributes; k++)
        if (g->attributes[k].id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION &&
            g->attributes[k].value.programmaticStreamSerializationAllowed)
            gr_use_seen(GR_USE_DEPENDENT);
}

void gr_launch_begin(Launching *l) {
    bool shows = gr_session.engine->around_launch != NULL;
    l->captured = !l->launch.from_graph && gr_stream_is_captured(l->launch.stream);
    l->shown = shows && !l->captured && launch_ex();
    note_uses(l);
    gr_session_lock();
    l->kernel = gr_kernel_of(l->launch.func);
    if (l->captured) {
        l->twin = gr_twin_of(l->kernel, l->launch.func); // may take long, without the lock
    } else {
        CUfunction twin = gr_twin_of(l->kernel, l->launch.func);
        l->launch.number = gr_launch_reserve();
        l->choice = gr_launch_choice(l->kernel, l->launch.number, l->launch.from_graph);
        l->twin = l->choice == GR_CHOSEN ? twin : l->launch.func;
    }
    if (l->kernel) {
        l->launch.kernel = l->kernel->name;
        l->launch.module = l->kernel->module ? &l->kernel->module->pub : NULL;
        for (LoadedModule *m = l->kernel->modules; m; m = m->next) // a linked kernel runs code of all of them
            gr_module_attach(m);
    } else {
        gr_session_notef("a kernel was launched that no interposed call had looked up");
    }
    if (gr_recording_is_on() && !l->captured && !l->unrecorded)
        record(l);
    gr_session_unlock();
    if (gr_session.engine->launching && !l->captured)
        tell(l, NULL);
}

bool gr_launch_again(const Launching *l, CUresult result) {
    return l->twin != l->launch.func && gr_twin_is_too_large(l->kernel, result);
}

CUresult gr_launch_end(Launching *l, CUresult result) {
    if (l->captured)
        return result;
    if (gr_session.engine->launched)
        tell(l, &result);
    gr_session_lock();
    gr_kernel_launched(l->kernel, &l->launch, l->choice, result);
    if (gr_recording_is_on() && result == CUDA_SUCCESS && !l->unrecorded)
        gr_recording_count(l->line);
    gr_session_unlock();
    free(l->line);
    return result;
}
