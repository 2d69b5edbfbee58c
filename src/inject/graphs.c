// SPDX-License-Identifier: Apache-2.0
#include "inject/graphs.h"

#include "inject/copies.h"
#include "inject/launches.h"

#include <stdlib.h>
#include <string.h>

typedef struct Followed {
    CUgraph clone;   // NULL: not followed
    const char *why; // not
    VEC(CUgraphNode) disabled;
    CUevent ended; // the end of its last launch: the next one waits for it, in whatever stream
} Followed;

static Map followed; // CUgraphExec -> Followed; with the session's lock

// A function of the driver as a local variable, and its call.
#define DRIVER(name, params) CUresult(*driver_##name) params = (CUresult(*) params)gr_driver_function(#name)
#define CALL(name, ...)      (driver_##name ? driver_##name(__VA_ARGS__) : CUDA_ERROR_NOT_FOUND)

static Followed *find(CUgraphExec exec) {
    gr_session_lock();
    Followed *f = gr_map_get_u64(&followed, (uintptr_t)exec);
    gr_session_unlock();
    return f;
}

// ---- The nodes of a graph, each after those it depends on -----------------------------------------------------------

typedef struct Nodes {
    CUgraphNode *nodes;
    size_t n;
} Nodes;

static size_t position(const Nodes *all, CUgraphNode node) {
    size_t i = 0;
    while (i < all->n && all->nodes[i] != node)
        i++;
    return i;
}

static bool is_ready(const Nodes *all, size_t i, const bool *placed, CUgraphNode *const ends[2],
                     size_t n_edges) {
    bool ready = !placed[i];
    for (size_t e = 0; ready && e < n_edges; e++) {
        size_t from = position(all, ends[0][e]);
        ready = ends[1][e] != all->nodes[i] || from == all->n || placed[from];
    }
    return ready;
}

static CUresult sort(const Nodes *all, CUgraphNode *const ends[2], size_t n_edges, CUgraphNode *out) {
    bool *placed = calloc(all->n + 1, sizeof *placed);
    size_t n = 0;
    for (bool moved = placed != NULL; moved && n < all->n;) {
        moved = false;
        for (size_t i = 0; i < all->n; i++) {
            if (!is_ready(all, i, placed, ends, n_edges))
                continue;
            out[n++] = all->nodes[i];
            placed[i] = moved = true;
        }
    }
    free(placed);
    return n == all->n ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

// To be freed. Edges that carry data (programmatic launches) are refused by the driver.
static CUresult ordered(CUgraph graph, CUgraphNode **out, size_t *n) {
    DRIVER(cuGraphGetNodes, (CUgraph, CUgraphNode *, size_t *));
    DRIVER(cuGraphGetEdges, (CUgraph, CUgraphNode *, CUgraphNode *, size_t *));
    size_t n_edges = 0;
    CUgraphNode *ends[2] = {NULL, NULL};
    Nodes all = {NULL, 0};
    *out = NULL;
    CUresult rc = CALL(cuGraphGetNodes, graph, NULL, &all.n);
    if (rc == CUDA_SUCCESS)
        rc = CALL(cuGraphGetEdges, graph, NULL, NULL, &n_edges);
    all.nodes = calloc(all.n + 1, sizeof(CUgraphNode));
    *out = calloc(all.n + 1, sizeof(CUgraphNode));
    ends[0] = calloc(n_edges + 1, sizeof(CUgraphNode));
    ends[1] = calloc(n_edges + 1, sizeof(CUgraphNode));
    if (rc == CUDA_SUCCESS && (!all.nodes || !*out || !ends[0] || !ends[1]))
        rc = CUDA_ERROR_OUT_OF_MEMORY;
    if (rc == CUDA_SUCCESS && all.n)
        rc = CALL(cuGraphGetNodes, graph, all.nodes, &all.n);
    if (rc == CUDA_SUCCESS && n_edges)
        rc = CALL(cuGraphGetEdges, graph, ends[0], ends[1], &n_edges);
    if (rc == CUDA_SUCCESS)
        rc = sort(&all, ends, n_edges, *out);
    *n = all.n;
    free(all.nodes);
    free(ends[0]);
    free(ends[1]);
    return rc;
}

static CUgraphNodeType type_of(CUgraphNode node) {
    DRIVER(cuGraphNodeGetType, (CUgraphNode, CUgraphNodeType *));
    CUgraphNodeType type;
    return CALL(cuGraphNodeGetType, node, &type) == CUDA_SUCCESS ? type : (CUgraphNodeType)-1;
}

static CUgraph child_of(CUgraphNode node) {
    DRIVER(cuGraphChildGraphNodeGetGraph, (CUgraphNode, CUgraph *));
    CUgraph child = NULL;
    return CALL(cuGraphChildGraphNodeGetGraph, node, &child) == CUDA_SUCCESS ? child : NULL;
}

// ---- What one node does, in a stream ----------------------------------------------------------------------------

// Those that matter to how a kernel runs.
static unsigned attributes_of(CUgraphNode node, CUlaunchAttribute *out) {
    static const CUlaunchAttributeID ids[] = {
        CU_LAUNCH_ATTRIBUTE_COOPERATIVE, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
        CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, CU_LAUNCH_ATTRIBUTE_PRIORITY};
    static const CUlaunchAttributeValue zero;
    DRIVER(cuGraphKernelNodeGetAttribute, (CUgraphNode, CUlaunchAttributeID, CUlaunchAttributeValue *));
    unsigned n = 0;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        CUlaunchAttributeValue v = zero;
        if (CALL(cuGraphKernelNodeGetAttribute, node, ids[i], &v) == CUDA_SUCCESS &&
            memcmp(&v, &zero, sizeof v))
            out[n++] = (CUlaunchAttribute){.id = ids[i], .value = v};
    }
    return n;
}

static CUresult run_kernel(CUgraphNode node, CUstream stream) {
    DRIVER(cuGraphKernelNodeGetParams, (CUgraphNode, CUDA_KERNEL_NODE_PARAMS *));
    CUDA_KERNEL_NODE_PARAMS p;
    CUlaunchAttribute attributes[8];
    CUresult rc = CALL(cuGraphKernelNodeGetParams, node, &p);
    if (rc != CUDA_SUCCESS)
        return rc;
    Launching l = {.launch = {.func = p.func ? p.func : (CUfunction)p.kern,
                              .grid = {p.gridDimX, p.gridDimY, p.gridDimZ},
                              .block = {p.blockDimX, p.blockDimY, p.blockDimZ},
                              .shared_bytes = p.sharedMemBytes,
                              .stream = stream,
                              .from_graph = true,
                              .attributes = attributes,
                              .n_attributes = attributes_of(node, attributes)},
                   .params = p.kernelParams,
                   .extra = p.kernelParams ? NULL : p.extra};
    gr_launch_begin(&l);
    return gr_launch_end(&l, gr_launch_around(&l));
}

// A copy in a stream reads pageable memory when it is called, one in a graph when it runs: after what the nodes before it did.
static CUresult run_copy(CUgraphNode node, CUstream stream) {
    DRIVER(cuGraphMemcpyNodeGetParams, (CUgraphNode, CUDA_MEMCPY3D *));
    DRIVER(cuStreamSynchronize, (CUstream));
    DRIVER(cuMemcpy3DAsync, (const CUDA_MEMCPY3D *, CUstream));
    CUDA_MEMCPY3D p;
    CUresult rc = CALL(cuGraphMemcpyNodeGetParams, node, &p);
    if (rc == CUDA_SUCCESS &&
        (p.srcMemoryType == CU_MEMORYTYPE_HOST || p.srcMemoryType == CU_MEMORYTYPE_UNIFIED))
        rc = CALL(cuStreamSynchronize, stream);
    if (rc == CUDA_SUCCESS)
        rc = CALL(cuMemcpy3DAsync, &p, stream);
    if (rc != CUDA_SUCCESS)
        return rc;
    GrCopy c = gr_copy_of(&p);
    c.stream = stream;
    c.async = true;
    gr_copy_tell(&c);
    return rc;
}

static CUresult fill(const CUDA_MEMSET_NODE_PARAMS *p, CUstream stream) {
    DRIVER(cuMemsetD2D8Async, (CUdeviceptr, size_t, unsigned char, size_t, size_t, CUstream));
    DRIVER(cuMemsetD2D16Async, (CUdeviceptr, size_t, unsigned short, size_t, size_t, CUstream));
    DRIVER(cuMemsetD2D32Async, (CUdeviceptr, size_t, unsigned, size_t, size_t, CUstream));
    size_t pitch = p->height > 1 ? p->pitch : p->width * p->elementSize;
    switch (p->elementSize) {
    case 1:
        return CALL(cuMemsetD2D8Async, p->dst, pitch, (unsigned char)p->value, p->width, p->height, stream);
    case 2:
        return CALL(cuMemsetD2D16Async, p->dst, pitch, (unsigned short)p->value, p->width, p->height, stream);
    default: return CALL(cuMemsetD2D32Async, p->dst, pitch, p->value, p->width, p->height, stream);
    }
}

static CUresult run_fill(CUgraphNode node, CUstream stream) {
    DRIVER(cuGraphMemsetNodeGetParams, (CUgraphNode, CUDA_MEMSET_NODE_PARAMS *));
    CUDA_MEMSET_NODE_PARAMS p;
    CUresult rc = CALL(cuGraphMemsetNodeGetParams, node, &p);
    if (rc == CUDA_SUCCESS)
        rc = fill(&p, stream);
    if (rc != CUDA_SUCCESS)
        return rc;
    GrFill f = gr_fill_of(p.dst, p.pitch, p.value, p.elementSize, p.width, p.height);
    f.stream = stream;
    f.async = true;
    gr_fill_tell(&f);
    return rc;
}

static CUresult run_host(CUgraphNode node, CUstream stream) {
    DRIVER(cuGraphHostNodeGetParams, (CUgraphNode, CUDA_HOST_NODE_PARAMS *));
    DRIVER(cuLaunchHostFunc, (CUstream, CUhostFn, void *));
    CUDA_HOST_NODE_PARAMS p;
    CUresult rc = CALL(cuGraphHostNodeGetParams, node, &p);
    return rc == CUDA_SUCCESS ? CALL(cuLaunchHostFunc, stream, p.fn, p.userData) : rc;
}

static CUresult run_event(CUgraphNode node, CUstream stream, bool record) {
    DRIVER(cuGraphEventRecordNodeGetEvent, (CUgraphNode, CUevent *));
    DRIVER(cuGraphEventWaitNodeGetEvent, (CUgraphNode, CUevent *));
    DRIVER(cuEventRecord, (CUevent, CUstream));
    DRIVER(cuStreamWaitEvent, (CUstream, CUevent, unsigned));
    CUevent event = NULL;
    CUresult rc = record ? CALL(cuGraphEventRecordNodeGetEvent, node, &event)
                         : CALL(cuGraphEventWaitNodeGetEvent, node, &event);
    if (rc != CUDA_SUCCESS)
        return rc;
    return record ? CALL(cuEventRecord, event, stream) : CALL(cuStreamWaitEvent, stream, event, 0);
}

static bool is_disabled(const Followed *f, CUgraphNode node) {
    size_t i = 0;
    while (i < f->disabled.len && f->disabled.data[i] != node)
        i++;
    return i < f->disabled.len;
}

static CUresult run_all(const Followed *f, CUgraph graph, CUstream stream);

static CUresult run_node(const Followed *f, CUgraphNode node, CUstream stream) {
    if (is_disabled(f, node))
        return CUDA_SUCCESS;
    switch (type_of(node)) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return run_kernel(node, stream);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return run_copy(node, stream);
    case CU_GRAPH_NODE_TYPE_MEMSET: return run_fill(node, stream);
    case CU_GRAPH_NODE_TYPE_HOST: return run_host(node, stream);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return run_event(node, stream, true);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return run_event(node, stream, false);
    case CU_GRAPH_NODE_TYPE_GRAPH: return run_all(f, child_of(node), stream);
    default: return CUDA_SUCCESS; // an empty one
    }
}

static CUresult run_all(const Followed *f, CUgraph graph, CUstream stream) {
    CUgraphNode *nodes;
    size_t n;
    CUresult rc = ordered(graph, &nodes, &n);
    for (size_t i = 0; i < n && rc == CUDA_SUCCESS; i++)
        rc = run_node(f, nodes[i], stream);
    free(nodes);
    return rc;
}

// ---- What can be run so --------------------------------------------------------------------------------------------

// NULL, or why not.
static const char *check_node(CUgraphNode node, CUcontext *only) {
    DRIVER(cuGraphKernelNodeGetParams, (CUgraphNode, CUDA_KERNEL_NODE_PARAMS *));
    CUDA_KERNEL_NODE_PARAMS p;
    switch (type_of(node)) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        if (CALL(cuGraphKernelNodeGetParams, node, &p) != CUDA_SUCCESS)
            return "the driver does not tell what a kernel node does";
        if (p.ctx && *only && p.ctx != *only)
            return "its kernels are of several contexts";
        *only = p.ctx ? p.ctx : *only;
        return NULL;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
    case CU_GRAPH_NODE_TYPE_MEMSET:
    case CU_GRAPH_NODE_TYPE_HOST:
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CU_GRAPH_NODE_TYPE_GRAPH:
    case CU_GRAPH_NODE_TYPE_EMPTY: return NULL;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
    case CU_GRAPH_NODE_TYPE_MEM_FREE: return "it allocates or frees memory";
    default: return "it has a node of a kind that no stream runs";
    }
}

static const char *check(CUgraph graph, CUcontext *only) {
    CUgraphNode *nodes;
    size_t n;
    const char *why =
        ordered(graph, &nodes, &n) == CUDA_SUCCESS ? NULL : "the driver does not tell the order of its nodes";
    for (size_t i = 0; i < n && !why; i++) {
        why = check_node(nodes[i], only);
        if (!why && type_of(nodes[i]) == CU_GRAPH_NODE_TYPE_GRAPH)
            why = check(child_of(nodes[i]), only);
    }
    free(nodes);
    return why;
}

// ---- Following -----------------------------------------------------------------------------------------------------

static void drop_clone(Followed *f) {
    DRIVER(cuGraphDestroy, (CUgraph));
    if (f->clone)
        (void)CALL(cuGraphDestroy, f->clone);
    f->clone = NULL;
}

static void lose(Followed *f, const char *why) {
    drop_clone(f);
    f->why = why;
}

void gr_graph_follow(CUgraphExec exec, CUgraph graph) {
    DRIVER(cuGraphClone, (CUgraph *, CUgraph));
    CUcontext only = NULL;
    Followed *f = find(exec);
    if (!f && (f = calloc(1, sizeof *f))) {
        gr_session_lock();
        bool kept = gr_map_put_u64(&followed, (uintptr_t)exec, f);
        gr_session_unlock();
        if (!kept) {
            free(f);
            f = NULL;
        }
    }
    if (!f)
        return; // a graph that is not in the map is launched as a whole
    const char *why = f->disabled.len ? "it was updated while nodes were disabled" : check(graph, &only);
    drop_clone(f);
    f->why = why;
    if (!why && CALL(cuGraphClone, &f->clone, graph) != CUDA_SUCCESS)
        lose(f, "the driver does not clone it");
}

void gr_graph_forget(CUgraphExec exec) {
    DRIVER(cuEventDestroy, (CUevent));
    gr_session_lock();
    Followed *f = gr_map_remove_u64(&followed, (uintptr_t)exec);
    gr_session_unlock();
    if (!f)
        return;
    drop_clone(f);
    if (f->ended)
        (void)CALL(cuEventDestroy, f->ended);
    gr_vec_free(&f->disabled);
    free(f);
}

void gr_graph_lose(CUgraphExec exec) {
    Followed *f = find(exec);
    if (f)
        lose(f, "it was changed in a way that is not followed");
}

CUgraphNode gr_graph_node(CUgraphExec exec, CUgraphNode node) {
    DRIVER(cuGraphNodeFindInClone, (CUgraphNode *, CUgraphNode, CUgraph));
    Followed *f = find(exec);
    CUgraphNode mine = NULL;
    if (!f || !f->clone)
        return NULL;
    if (CALL(cuGraphNodeFindInClone, &mine, node, f->clone) == CUDA_SUCCESS && mine)
        return mine;
    lose(f, "a node of it was changed whose clone is not known");
    return NULL;
}

void gr_graph_enable(CUgraphExec exec, CUgraphNode node, bool yes) {
    CUgraphNode mine = gr_graph_node(exec, node);
    Followed *f = mine ? find(exec) : NULL;
    if (!f || yes == !is_disabled(f, mine))
        return;
    if (!yes && !gr_vec_push(&f->disabled, mine))
        lose(f, "memory is out");
    size_t n = 0;
    for (size_t i = 0; yes && i < f->disabled.len; i++)
        if (f->disabled.data[i] != mine)
            f->disabled.data[n++] = f->disabled.data[i];
    f->disabled.len = yes ? n : f->disabled.len;
}

// ---- Launching -----------------------------------------------------------------------------------------------------

bool gr_graph_run(CUgraphExec exec, CUstream stream, CUresult *result) {
    DRIVER(cuEventCreate, (CUevent *, unsigned));
    DRIVER(cuEventRecord, (CUevent, CUstream));
    DRIVER(cuStreamWaitEvent, (CUstream, CUevent, unsigned));
    Followed *f = find(exec);
    if (!f || !f->clone) {
        gr_session_notef("a CUDA graph was launched as a whole, so engine %s did not see its launches: %s",
                         gr_session.engine->name, f ? f->why : "where it came from is not known");
        return false;
    }
    *result = f->ended ? CALL(cuStreamWaitEvent, stream, f->ended, 0) : CUDA_SUCCESS;
    if (*result == CUDA_SUCCESS)
        *result = run_all(f, f->clone, stream);
    if (!f->ended && CALL(cuEventCreate, &f->ended, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS)
        f->ended = NULL;
    if (*result == CUDA_SUCCESS && f->ended)
        *result = CALL(cuEventRecord, f->ended, stream);
    return true;
}
