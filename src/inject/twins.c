// SPDX-License-Identifier: Apache-2.0
#include "inject/twins.h"

#include "inject/graphs.h"
#include "inject/pieces.h"
#include "inject/wrote.h"

#include <stdlib.h>
#include <string.h>

// Attributes that a program sets at a function and that change the launch.
static const CUfunction_attribute followed[] = {
    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
    CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
    CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
    CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
};
enum { FOLLOWED = sizeof followed / sizeof *followed };

typedef struct Twin {
    struct Twin *next;           // of the module
    struct Twin *next_of_kernel; // in another context
    Kernel *kernel;
    uint64_t context; // which() of it
    CUmodule module;  // NULL: there is none, and `f` is the program's
    CUfunction f;
    bool making; // by another thread, which has let go of the lock: `made` tells when it is done
    int set[FOLLOWED];
} Twin;

static pthread_cond_t made = PTHREAD_COND_INITIALIZER;

bool gr_twins_wanted(void) {
    const GrOptions *o = &gr_session.options;
    // An observer of the CPU device knows statements by their module.
    bool possible = !strcmp(o->device, "gpu") || (!(o->caps & CAP_LISTENS) && !o->watchpoints);
    bool picks = o->caps & CAP_PARTS &&
                 (o->only_launches[0] || o->only_ranges[0] || o->stopped || strcmp(o->toggle_signal, "none"));
    return possible && (picks || !strcmp(o->compile, "launched"));
}

static bool exist;

bool gr_twins_begin(LoadedModule *m) {
    m->by_kernel = m->pieces && m->pub.rewritten;
    exist |= m->by_kernel;
    return m->by_kernel;
}

bool gr_twins_exist(void) { return exist; }

// The number of the current context, which no other one ever gets, even at the same address. 0: there is none.
static uint64_t which(void) {
    static CUresult (*id_of)(CUcontext, unsigned long long *);
    if (!id_of)
        id_of = (CUresult(*)(CUcontext, unsigned long long *))gr_driver_function("cuCtxGetId");
    CUcontext context = gr_current_context();
    unsigned long long id;
    if (!context)
        return 0;
    return id_of && id_of(context, &id) == CUDA_SUCCESS ? id * 2 + 1 : (uintptr_t)context;
}

// ---- One twin ------------------------------------------------------------------------------------------------------

static CUresult get_global(void *handle, const char *name, CUdeviceptr *addr, size_t *size) {
    const Twin *t = handle;
    CUresult (*get)(CUdeviceptr *, size_t *, CUmodule, const char *) =
        (CUresult(*)(CUdeviceptr *, size_t *, CUmodule, const char *))gr_driver_function("cuModuleGetGlobal");
    return get ? get(addr, size, t->module, name) : CUDA_ERROR_NOT_SUPPORTED;
}

static gr_status attach(Twin *t, LoadedModule *m, gr_error *err) {
    const Session *s = &gr_session;
    if (m->pub.records)
        GR_MUST(gr_records_map(m, err));
    if (s->engine->loaded)
        return s->engine->loaded(s->engine_self, &m->pub, get_global, t, err);
    return GR_OK;
}

static gr_status load_container(Twin *t, const void *container, gr_error *err) {
    CUresult (*load)(CUmodule *, const void *) =
        (CUresult(*)(CUmodule *, const void *))gr_driver_function("cuModuleLoadData");
    CUresult (*get)(CUfunction *, CUmodule, const char *) =
        (CUresult(*)(CUfunction *, CUmodule, const char *))gr_driver_function("cuModuleGetFunction");
    CUresult rc = load && get ? load(&t->module, container) : CUDA_ERROR_NOT_SUPPORTED;
    if (rc != CUDA_SUCCESS) {
        t->module = NULL;
        return gr_fail(err, GR_ERR_IO, "the driver refused its rewritten PTX (CUDA error %d)", (int)rc);
    }
    rc = get(&t->f, t->module, t->kernel->name);
    return rc == CUDA_SUCCESS
               ? GR_OK
               : gr_fail(err, GR_ERR_IO, "the driver does not find it in its rewritten PTX (CUDA error %d)",
                         (int)rc);
}

static void unload(Twin *t) {
    CUresult (*drop)(CUmodule) = (CUresult(*)(CUmodule))gr_driver_function("cuModuleUnload");
    if (t->module) {
        gr_map_remove_u64(&gr_session.kernels_of, (uintptr_t)t->f);
        if (drop)
            (void)drop(t->module);
    }
    t->module = NULL;
}

static gr_status make(Twin *t, LoadedModule *m, Kernel *k, gr_error *err) {
    gr_status st = GR_OK;
    StrBuf text = {0};
    void *container = NULL;
    size_t len;
    FatbinPtx built = m->built;
    GR_TRY(gr_pieces_cut(m->pieces, m->text, k->name, &text, err));
    built.text = text.data;
    built.len = text.len;
    GR_TRY(gr_wrote(text.data, text.len, m->apart) ? GR_OK : gr_no_memory(err));
    GR_TRY(gr_fatbin_build(&built, 1, &container, &len, err));
    gr_session_verbose("kernel %s: %zu bytes of rewritten PTX", k->name, text.len);
    // The driver compiles, and may wait for kernels that wait for other threads of the program.
    unsigned aside = gr_aside_begin();
    t->making = true;
    gr_session_unlock();
    st = load_container(t, container, err);
    gr_session_lock();
    t->making = false;
    pthread_cond_broadcast(&made);
    if (st == GR_OK)
        st = attach(t, m, err);
    gr_aside_end(aside);
    if (st == GR_OK && !gr_map_put_u64(&gr_session.kernels_of, (uintptr_t)t->f, k))
        st = gr_no_memory(err);
done:
    free(container);
    gr_str_free(&text);
    return st;
}

static Twin *find(const Kernel *k, uint64_t context) {
    for (Twin *t = k->twins; t; t = t->next_of_kernel)
        if (t->context == context)
            return t;
    return NULL;
}

// A handle may be a CUkernel, which has a function for each context.
static CUfunction function_of(CUfunction f) {
    CUresult (*get)(CUfunction *, CUkernel) =
        (CUresult(*)(CUfunction *, CUkernel))gr_driver_function("cuKernelGetFunction");
    CUfunction own = NULL;
    return get && get(&own, (CUkernel)(void *)f) == CUDA_SUCCESS && own ? own : f;
}

static void follow_settings(Twin *t, CUfunction f) {
    static CUresult (*get)(int *, CUfunction_attribute, CUfunction);
    static CUresult (*set)(CUfunction, CUfunction_attribute, int);
    if (!get || !set) {
        get = (CUresult(*)(int *, CUfunction_attribute, CUfunction))gr_driver_function("cuFuncGetAttribute");
        set = (CUresult(*)(CUfunction, CUfunction_attribute, int))gr_driver_function("cuFuncSetAttribute");
    }
    int value;
    for (unsigned k = 0; k < FOLLOWED && get && set; k++) {
        CUresult rc = get(&value, followed[k], f);
        if (rc == CUDA_ERROR_INVALID_HANDLE)
            rc = get(&value, followed[k], f = function_of(f));
        if (rc == CUDA_SUCCESS && value != t->set[k] && set(t->f, followed[k], value) == CUDA_SUCCESS)
            t->set[k] = value;
    }
}

static Twin *new_twin(LoadedModule *m, Kernel *k, CUfunction f, uint64_t context) {
    gr_error err = {0};
    Twin *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    *t = (Twin){.next = m->twins, .next_of_kernel = k->twins, .kernel = k, .context = context, .f = f};
    for (unsigned n = 0; n < FOLLOWED; n++)
        t->set[n] = -2; // none of their values
    m->twins = k->twins = t;
    if (make(t, m, k, &err) != GR_OK) {
        unload(t);
        t->f = f;
        gr_session_notef("kernel %s was not checked: %s", k->name, err.msg);
    }
    return t;
}

CUfunction gr_twin_of(Kernel *k, CUfunction f) {
    LoadedModule *m = k ? k->module : NULL;
    uint64_t context = m && m->by_kernel ? which() : 0;
    if (!context)
        return f;
    Twin *t = find(k, context);
    while (t && t->making)
        pthread_cond_wait(&made, &gr_session.lock);
    if (!t)
        t = new_twin(m, k, f, context);
    if (!t || !t->module || t->f == f)
        return f;
    follow_settings(t, f);
    return t->f;
}

bool gr_twin_is_too_large(const Kernel *k, CUresult error) {
    if (error != CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES && error != CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE)
        return false;
    gr_session_notef(
        "kernel %s was launched unchecked, with as many threads as its rewritten code has no registers for",
        k->name);
    return true;
}

// ---- Graphs --------------------------------------------------------------------------------------------------------

CUfunction gr_twin_for_node(CUfunction f) {
    if (!f)
        return f;
    gr_session_lock();
    CUfunction twin = exist ? gr_twin_of(gr_kernel_of(f), f) : f;
    gr_session_unlock();
    return twin;
}

static void replace_in_node(CUgraphNode node) {
    DRIVER(cuGraphKernelNodeGetParams, (CUgraphNode, CUDA_KERNEL_NODE_PARAMS *));
    DRIVER(cuGraphKernelNodeSetParams, (CUgraphNode, const CUDA_KERNEL_NODE_PARAMS *));
    CUDA_KERNEL_NODE_PARAMS p;
    if (CALL(cuGraphKernelNodeGetParams, node, &p) != CUDA_SUCCESS)
        return;
    CUfunction f = p.func ? p.func : (CUfunction)p.kern, twin = gr_twin_for_node(f);
    if (twin == f)
        return;
    p.func = twin;
    p.kern = NULL;
    if (CALL(cuGraphKernelNodeSetParams, node, &p) != CUDA_SUCCESS)
        gr_session_notef("a kernel of a CUDA graph was not checked: the driver does not let its node launch "
                         "the rewritten one");
}

void gr_twins_in_graph(CUgraph graph) {
    CUgraphNode *nodes = NULL;
    size_t n = 0;
    if (!exist || gr_graph_nodes(graph, &nodes, &n) != CUDA_SUCCESS)
        n = 0;
    for (size_t i = 0; i < n; i++) {
        CUgraphNodeType type = gr_node_type(nodes[i]);
        if (type == CU_GRAPH_NODE_TYPE_KERNEL)
            replace_in_node(nodes[i]);
        else if (type == CU_GRAPH_NODE_TYPE_GRAPH)
            gr_twins_in_graph(gr_node_child(nodes[i]));
    }
    free(nodes);
}

// ---- The end -------------------------------------------------------------------------------------------------------

// Unloads twins of this context. Others stay: their context may be gone, and they with it.
void gr_twins_unload(LoadedModule *m) {
    uint64_t context = m->twins ? which() : 0;
    while (m->twins) {
        Twin *t = m->twins;
        m->twins = t->next;
        t->kernel->twins = NULL; // all of them go
        if (t->context == context)
            unload(t);
        else if (t->module)
            gr_map_remove_u64(&gr_session.kernels_of, (uintptr_t)t->f);
        free(t);
    }
}
