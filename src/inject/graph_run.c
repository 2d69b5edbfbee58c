// SPDX-License-Identifier: Apache-2.0
// The nodes of a graph, asked of the driver, and run in a stream one after the other.
#include "inject/graphs.h"
#include "inject/launches.h"
#include "inject/memory.h"

#include <stdlib.h>
#include <string.h>

// ---- The nodes of a graph, each after those it depends on -----------------------------------------------------------

// The edges of a graph by the numbers of their nodes: node i comes after before[first[i]] to before[first[i + 1] - 1].
typedef struct Edges {
    size_t *first, *before;
} Edges;

static bool take_edges(Edges *out, CUgraphNode *const *nodes, size_t n, CUgraphNode *const ends[2],
                       size_t n_edges) {
    Map numbers = {0};
    bool ok =
        (out->first = calloc(n + 2, sizeof(size_t))) && (out->before = calloc(n_edges + 1, sizeof(size_t)));
    for (size_t i = 0; ok && i < n; i++)
        ok = gr_map_put_u64(&numbers, (uintptr_t)(*nodes)[i], (void *)(i + 1));
    for (size_t e = 0; ok && e < n_edges; e++) {
        size_t to = (size_t)(uintptr_t)gr_map_get_u64(&numbers, (uintptr_t)ends[1][e]);
        ok = to && gr_map_get_u64(&numbers, (uintptr_t)ends[0][e]);
        if (ok)
            out->first[to + 1]++;
    }
    for (size_t i = 0; ok && i <= n; i++)
        out->first[i + 1] += out->first[i];
    for (size_t e = 0; ok && e < n_edges; e++) { // moves first[i + 1] to where the edges of node i end
        size_t to = (size_t)(uintptr_t)gr_map_get_u64(&numbers, (uintptr_t)ends[1][e]);
        out->before[out->first[to]++] =
            (size_t)(uintptr_t)gr_map_get_u64(&numbers, (uintptr_t)ends[0][e]) - 1;
    }
    gr_map_free(&numbers);
    return ok;
}

static bool is_ready(const Edges *e, size_t i, const bool *placed) {
    bool ready = !placed[i];
    for (size_t k = e->first[i]; ready && k < e->first[i + 1]; k++)
        ready = placed[e->before[k]];
    return ready;
}

// In order of creation where the edges allow it: one pass for most graphs.
static CUresult sort(CUgraphNode *const *nodes, size_t n, CUgraphNode *const ends[2], size_t n_edges,
                     CUgraphNode *out) {
    Edges edges = {NULL, NULL};
    bool *placed = calloc(n + 1, sizeof *placed);
    bool moved = placed && take_edges(&edges, nodes, n, ends, n_edges);
    size_t done = 0;
    while (moved && done < n) {
        moved = false;
        for (size_t i = 0; i < n; i++) {
            if (!is_ready(&edges, i, placed))
                continue;
            out[done++] = (*nodes)[i];
            placed[i] = moved = true;
        }
    }
    free(placed);
    free(edges.first);
    free(edges.before);
    return done == n ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

// The graph's nodes, to be freed. The driver refuses edges that carry data (programmatic launches).
CUresult gr_graph_nodes(CUgraph graph, CUgraphNode **out, size_t *n) {
    DRIVER(cuGraphGetNodes, (CUgraph, CUgraphNode *, size_t *));
    DRIVER(cuGraphGetEdges, (CUgraph, CUgraphNode *, CUgraphNode *, size_t *));
    size_t n_edges = 0;
    CUgraphNode *ends[2] = {NULL, NULL};
    CUgraphNode *all = NULL;
    *n = 0;
    *out = NULL;
    CUresult rc = CALL(cuGraphGetNodes, graph, NULL, n);
    if (rc == CUDA_SUCCESS)
        rc = CALL(cuGraphGetEdges, graph, NULL, NULL, &n_edges);
    all = calloc(*n + 1, sizeof(CUgraphNode));
    *out = calloc(*n + 1, sizeof(CUgraphNode));
    ends[0] = calloc(n_edges + 1, sizeof(CUgraphNode));
    ends[1] = calloc(n_edges + 1, sizeof(CUgraphNode));
    if (rc == CUDA_SUCCESS && (!all || !*out || !ends[0] || !ends[1]))
        rc = CUDA_ERROR_OUT_OF_MEMORY;
    if (rc == CUDA_SUCCESS && *n)
        rc = CALL(cuGraphGetNodes, graph, all, n);
    if (rc == CUDA_SUCCESS && n_edges)
        rc = CALL(cuGraphGetEdges, graph, ends[0], ends[1], &n_edges);
    if (rc == CUDA_SUCCESS)
        rc = sort(&all, *n, ends, n_edges, *out);
    free(all);
    free(ends[0]);
    free(ends[1]);
    return rc;
}

CUgraphNodeType gr_node_type(CUgraphNode node) {
    DRIVER(cuGraphNodeGetType, (CUgraphNode, CUgraphNodeType *));
    CUgraphNodeType type;
    return CALL(cuGraphNodeGetType, node, &type) == CUDA_SUCCESS ? type : (CUgraphNodeType)-1;
}

CUgraph gr_node_child(CUgraphNode node) {
    DRIVER(cuGraphChildGraphNodeGetGraph, (CUgraphNode, CUgraph *));
    CUgraph child = NULL;
    return CALL(cuGraphChildGraphNodeGetGraph, node, &child) == CUDA_SUCCESS ? child : NULL;
}

static bool is_second(Map *seen, const void *node) {
    return gr_map_get_u64(seen, (uintptr_t)node) || !gr_map_put_u64(seen, (uintptr_t)node, seen);
}

// The nodes of a chain have one edge less than they are, and no two of these begin or end at the same node.
bool gr_graph_branches(CUgraph graph) {
    DRIVER(cuGraphGetEdges, (CUgraph, CUgraphNode *, CUgraphNode *, size_t *));
    CUgraphNode *nodes, *ends[2] = {NULL, NULL};
    size_t n, n_edges = 0;
    Map seen[2] = {{0}, {0}};
    bool branches = gr_graph_nodes(graph, &nodes, &n) != CUDA_SUCCESS ||
                    CALL(cuGraphGetEdges, graph, NULL, NULL, &n_edges) != CUDA_SUCCESS ||
                    (n && n_edges != n - 1);
    for (unsigned k = 0; !branches && k < 2; k++)
        branches = !(ends[k] = calloc(n_edges + 1, sizeof(CUgraphNode)));
    if (!branches && n_edges)
        branches = CALL(cuGraphGetEdges, graph, ends[0], ends[1], &n_edges) != CUDA_SUCCESS;
    for (size_t e = 0; !branches && e < n_edges; e++)
        branches = is_second(&seen[0], ends[0][e]) || is_second(&seen[1], ends[1][e]);
    for (size_t i = 0; !branches && i < n; i++) {
        CUgraphNodeType type = gr_node_type(nodes[i]);
        branches = type == CU_GRAPH_NODE_TYPE_GRAPH ? gr_graph_branches(gr_node_child(nodes[i]))
                                                    : type > CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
    }
    for (unsigned k = 0; k < 2; k++) {
        gr_map_free(&seen[k]);
        free(ends[k]);
    }
    free(nodes);
    return branches;
}

// ---- What one node does, in a stream ----------------------------------------------------------------------------

// The attributes that matter to how a kernel runs.
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
            memcmp(v.pad, zero.pad, sizeof v.pad))
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

// A copy in a stream reads pageable memory when it is called; one in a graph when it runs, after the nodes before it.
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

static bool is_among(CUgraphNode node, const CUgraphNode *nodes, size_t n) {
    size_t i = 0;
    while (i < n && nodes[i] != node)
        i++;
    return i < n;
}

static CUresult run_node(CUgraphNode node, const CUgraphNode *without, size_t n, CUstream stream) {
    if (is_among(node, without, n))
        return CUDA_SUCCESS;
    switch (gr_node_type(node)) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return run_kernel(node, stream);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return run_copy(node, stream);
    case CU_GRAPH_NODE_TYPE_MEMSET: return run_fill(node, stream);
    case CU_GRAPH_NODE_TYPE_HOST: return run_host(node, stream);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return run_event(node, stream, true);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return run_event(node, stream, false);
    case CU_GRAPH_NODE_TYPE_GRAPH: return gr_graph_run_nodes(gr_node_child(node), without, n, stream);
    default: return CUDA_SUCCESS; // an empty one
    }
}

CUresult gr_graph_run_nodes(CUgraph graph, const CUgraphNode *without, size_t n_without, CUstream stream) {
    CUgraphNode *nodes;
    size_t n;
    CUresult rc = gr_graph_nodes(graph, &nodes, &n);
    for (size_t i = 0; i < n && rc == CUDA_SUCCESS; i++)
        rc = run_node(nodes[i], without, n_without, stream);
    free(nodes);
    return rc;
}

// ---- What can be run so --------------------------------------------------------------------------------------------

// NULL, or why not.
static const char *check_node(CUgraphNode node, CUcontext *only) {
    DRIVER(cuGraphKernelNodeGetParams, (CUgraphNode, CUDA_KERNEL_NODE_PARAMS *));
    CUDA_KERNEL_NODE_PARAMS p;
    switch (gr_node_type(node)) {
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
    const char *why = gr_graph_nodes(graph, &nodes, &n) == CUDA_SUCCESS
                          ? NULL
                          : "the driver does not tell the order of its nodes";
    for (size_t i = 0; i < n && !why; i++) {
        why = check_node(nodes[i], only);
        if (!why && gr_node_type(nodes[i]) == CU_GRAPH_NODE_TYPE_GRAPH)
            why = check(gr_node_child(nodes[i]), only);
    }
    free(nodes);
    return why;
}

const char *gr_graph_why_not(CUgraph graph) {
    CUcontext only = NULL;
    return check(graph, &only);
}
