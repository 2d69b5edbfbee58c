// SPDX-License-Identifier: Apache-2.0
// graph_node — adding nodes, and their parameters: of a node, and of its copy in an executable graph.
#include "driver/cuda/capture.h"
#include "driver/cuda/graph.h"
#include "driver/cuda/memory.h"
#include "driver/cuda/module.h"
#include "driver/cuda/queue.h"

// ---- Work from parameters ----------------------------------------------------------------------------------

// These functions each fill a node that is in no graph (`n` only carries the work).
static CUresult kernel_work(const CUDA_KERNEL_NODE_PARAMS *p, Ctx *current, const Node *old, Node *n) {
    CUfunction f = p->func ? p->func : (CUfunction)p->kern;
    const Func *func = gr_cu_handle(f, HANDLE_FUNC);
    Ctx *ctx = func ? func->module->ctx : p->ctx ? gr_cu_handle(p->ctx, HANDLE_CTX) : current;
    n->ctx = gr_ctx_ref(ctx);
    if (!ctx)
        return CUDA_ERROR_INVALID_CONTEXT;
    // What attributes said stays as it is when parameters change.
    const VmLaunchParams *kept = old && old->work ? &old->work->kernel.params : NULL;
    CUlaunchAttribute attributes[2] = {
        {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = kept && kept->cooperative},
        {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION},
    };
    if (kept) {
        attributes[1].value.clusterDim.x = kept->cluster[0];
        attributes[1].value.clusterDim.y = kept->cluster[1];
        attributes[1].value.clusterDim.z = kept->cluster[2];
    }
    CUlaunchConfig c = {.gridDimX = p->gridDimX,
                        .gridDimY = p->gridDimY,
                        .gridDimZ = p->gridDimZ,
                        .blockDimX = p->blockDimX,
                        .blockDimY = p->blockDimY,
                        .blockDimZ = p->blockDimZ,
                        .sharedMemBytes = p->sharedMemBytes,
                        .attrs = attributes,
                        .numAttrs = kept && kept->cluster[0] ? 2 : 1};
    return gr_launch_item(ctx, &c, f, p->kernelParams, p->extra, &n->work);
}

static CUresult copy_work(const CUDA_MEMCPY3D *p, CtxRef ctx, Node *n) {
    Item *it = NULL; // only to see whether it can be done
    CUresult r = gr_copy_item(p, &it);
    if (r != CUDA_SUCCESS)
        return r;
    gr_item_free(it);
    n->ctx = ctx;
    n->copy = *p;
    return CUDA_SUCCESS;
}

static CUresult fill_work(const CUDA_MEMSET_NODE_PARAMS *p, CtxRef ctx, Node *n) {
    n->ctx = ctx;
    return gr_fill_item(p, &n->work);
}

static CUresult host_work(const CUDA_HOST_NODE_PARAMS *p, CtxRef ctx, Node *n) {
    if (!p->fn)
        return CUDA_ERROR_INVALID_VALUE;
    n->ctx = ctx;
    n->work = gr_item_new(ITEM_HOST);
    if (!n->work)
        return CUDA_ERROR_OUT_OF_MEMORY;
    n->work->host = (HostJob){.fn = p->fn, .user = p->userData};
    return CUDA_SUCCESS;
}

static CUresult event_work(CUevent handle, Node *n) {
    n->event = gr_event(handle);
    if (!n->event)
        return CUDA_ERROR_INVALID_HANDLE;
    n->ctx = n->event->ctx;
    return CUDA_SUCCESS;
}

static CUresult child_work(CUgraph handle, CtxRef ctx, Node *n) {
    const Graph *g = gr_cu_handle(handle, HANDLE_GRAPH);
    n->ctx = ctx;
    return g ? gr_graph_clone(g, &n->child) : CUDA_ERROR_INVALID_VALUE;
}

// ---- Adding ------------------------------------------------------------------------------------------------

// The parameters that all ways of adding a node share.
typedef struct Adding {
    CUgraphNode *out;
    CUgraph graph;
    const CUgraphNode *after;
    size_t n;
} Adding;

// Takes `work`'s work into a new node. The lock is held.
static CUresult add(const Adding *a, CUgraphNodeType type, Node *work) {
    Graph *g = gr_cu_handle(a->graph, HANDLE_GRAPH);
    CUresult r = g && a->out && (a->n == 0 || a->after) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < a->n && r == CUDA_SUCCESS; i++) {
        if (!gr_graph_has(g, gr_cu_handle(a->after[i], HANDLE_NODE)))
            r = CUDA_ERROR_INVALID_VALUE;
    }
    Node *n = r == CUDA_SUCCESS ? gr_node_new(g, type, work->ctx, (Node *const *)(const void *)a->after, a->n)
                                : NULL;
    if (r == CUDA_SUCCESS)
        r = n ? gr_node_set(n, work) : CUDA_ERROR_OUT_OF_MEMORY;
    if (r == CUDA_SUCCESS)
        *a->out = (CUgraphNode)n;
    else if (n)
        gr_node_free(n);
    gr_node_clear(work);
    return r;
}

// Enters, makes the work by `make`, adds the node and leaves.
#define ADD_NODE(type, out, graph, after, n, make)                                                           \
    do {                                                                                                     \
        Ctx *ctx = NULL;                                                                                     \
        Node work = {0};                                                                                     \
        API_ENTER(API_CONTEXT, &ctx);                                                                        \
        work.ctx = gr_ctx_ref(ctx);                                                                          \
        CUresult made_ = (make);                                                                             \
        Adding adding_ = {(out), (graph), (after), (n)};                                                     \
        if (made_ == CUDA_SUCCESS)                                                                           \
            made_ = add(&adding_, CU_GRAPH_NODE_TYPE_##type, &work);                                         \
        return gr_cu_leave(made_);                                                                           \
    } while (0)

// The context of a memcpy or memset node.
static Ctx *named(CUcontext handle, Ctx *current) {
    return handle ? gr_cu_handle(handle, HANDLE_CTX) : current;
}

#define WITH_CONTEXT(handle, make) (named((handle), ctx) ? (make) : CUDA_ERROR_INVALID_CONTEXT)

CUresult cuGraphAddKernelNode_v2(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t n,
                                 const CUDA_KERNEL_NODE_PARAMS *p) {
    ADD_NODE(KERNEL, out, g, after, n, p ? kernel_work(p, ctx, NULL, &work) : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuGraphAddMemcpyNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t n,
                              const CUDA_MEMCPY3D *p, CUcontext where) {
    ADD_NODE(MEMCPY, out, g, after, n,
             p ? WITH_CONTEXT(where, copy_work(p, gr_ctx_ref(named(where, ctx)), &work))
               : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuGraphAddMemsetNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t n,
                              const CUDA_MEMSET_NODE_PARAMS *p, CUcontext where) {
    ADD_NODE(MEMSET, out, g, after, n,
             p ? WITH_CONTEXT(where, fill_work(p, gr_ctx_ref(named(where, ctx)), &work))
               : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuGraphAddHostNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t n,
                            const CUDA_HOST_NODE_PARAMS *p) {
    ADD_NODE(HOST, out, g, after, n, p ? host_work(p, work.ctx, &work) : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuGraphAddChildGraphNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t n,
                                  CUgraph child) {
    ADD_NODE(GRAPH, out, g, after, n, child_work(child, work.ctx, &work));
}

CUresult cuGraphAddEmptyNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t n) {
    ADD_NODE(EMPTY, out, g, after, n, CUDA_SUCCESS);
}

CUresult cuGraphAddEventRecordNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t n,
                                   CUevent e) {
    ADD_NODE(EVENT_RECORD, out, g, after, n, event_work(e, &work));
}

CUresult cuGraphAddEventWaitNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t n, CUevent e) {
    ADD_NODE(WAIT_EVENT, out, g, after, n, event_work(e, &work));
}

CUresult cuGraphAddMemAllocNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t n,
                                CUDA_MEM_ALLOC_NODE_PARAMS *p) {
    ADD_NODE(MEM_ALLOC, out, g, after, n, p ? gr_node_add_memory(&work, p) : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuGraphAddMemFreeNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t n,
                               CUdeviceptr p) {
    ADD_NODE(MEM_FREE, out, g, after, n,
             (work.address = p, gr_graph_memory_frees(gr_cu_handle(g, HANDLE_GRAPH), p)));
}

// ---- Asking ------------------------------------------------------------------------------------------------

// Enters; `n` is the node, of the type, or the call ends here.
#define NODE_ENTER(handle, wanted, pointer, n)                                                               \
    API_ENTER(API_INIT, NULL);                                                                               \
    const Node *n = gr_cu_handle((handle), HANDLE_NODE);                                                     \
    if (!n || !(pointer) || n->type != CU_GRAPH_NODE_TYPE_##wanted)                                          \
    return gr_cu_leave(CUDA_ERROR_INVALID_VALUE)

// Enters, and yields what `value` says of the node n.
#define GET(handle, wanted, out, value)                                                                      \
    do {                                                                                                     \
        NODE_ENTER(handle, wanted, out, n);                                                                  \
        *(out) = (value);                                                                                    \
        return gr_cu_leave(CUDA_SUCCESS);                                                                    \
    } while (0)

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS *p) {
    NODE_ENTER(handle, KERNEL, p, n);
    const KernelJob *k = &n->work->kernel;
    *p = (CUDA_KERNEL_NODE_PARAMS){.func = (CUfunction)k->func,
                                   .gridDimX = k->params.grid[0],
                                   .gridDimY = k->params.grid[1],
                                   .gridDimZ = k->params.grid[2],
                                   .blockDimX = k->params.block[0],
                                   .blockDimY = k->params.block[1],
                                   .blockDimZ = k->params.block[2],
                                   .sharedMemBytes = k->params.shared_dynamic,
                                   .kernelParams = n->arguments,
                                   .kern = gr_cu_handle(k->handle, HANDLE_KERNEL),
                                   .ctx = (CUcontext)n->ctx.ctx};
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode handle, CUDA_MEMCPY3D *p) { GET(handle, MEMCPY, p, n->copy); }

CUresult cuGraphMemsetNodeGetParams(CUgraphNode handle, CUDA_MEMSET_NODE_PARAMS *p) {
    NODE_ENTER(handle, MEMSET, p, n);
    const FillJob *f = &n->work->fill;
    *p = (CUDA_MEMSET_NODE_PARAMS){.dst = f->addr,
                                   .pitch = f->pitch,
                                   .value = f->value,
                                   .elementSize = f->element,
                                   .width = f->width,
                                   .height = f->height};
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuGraphHostNodeGetParams(CUgraphNode handle, CUDA_HOST_NODE_PARAMS *p) {
    GET(handle, HOST, p, ((CUDA_HOST_NODE_PARAMS){.fn = n->work->host.fn, .userData = n->work->host.user}));
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode handle, CUgraph *out) {
    GET(handle, GRAPH, out, (CUgraph)n->child);
}

CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode handle, CUevent *out) {
    GET(handle, EVENT_RECORD, out, (CUevent)n->event);
}

CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode handle, CUevent *out) {
    GET(handle, WAIT_EVENT, out, (CUevent)n->event);
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode handle, CUDA_MEM_ALLOC_NODE_PARAMS *p) {
    GET(handle, MEM_ALLOC, p, n->memory->params);
}

CUresult cuGraphMemFreeNodeGetParams(CUgraphNode handle, CUdeviceptr *p) {
    GET(handle, MEM_FREE, p, n->address);
}

// ---- Changing: of a node, or of its copy in an executable graph ----------------------------------------------

// The node to change: the one of `exec` if that is asked for.
static Node *target(CUgraphExec exec, bool in_exec, CUgraphNode node, CUgraphNodeType type) {
    Node *n = gr_cu_handle(node, HANDLE_NODE);
    const Exec *e = in_exec ? gr_cu_handle(exec, HANDLE_EXEC) : NULL;
    if (n && in_exec)
        n = e ? gr_exec_node(e, n) : NULL;
    return n && n->type == type ? n : NULL;
}

#define CHANGE(exec, in_exec, node, wanted, make)                                                            \
    do {                                                                                                     \
        Ctx *ctx = NULL;                                                                                     \
        Node work = {0};                                                                                     \
        API_ENTER(API_CONTEXT, &ctx);                                                                        \
        Node *n = target((exec), (in_exec), (node), CU_GRAPH_NODE_TYPE_##wanted);                            \
        CUresult made_ = n ? (make) : CUDA_ERROR_INVALID_VALUE;                                              \
        if (made_ == CUDA_SUCCESS)                                                                           \
            made_ = gr_node_set(n, &work);                                                                   \
        gr_node_clear(&work);                                                                                \
        return gr_cu_leave(made_);                                                                           \
    } while (0)

static CUresult set_kernel(CUgraphExec e, bool in_exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p) {
    CHANGE(e, in_exec, node, KERNEL, p ? kernel_work(p, ctx, n, &work) : CUDA_ERROR_INVALID_VALUE);
}

static CUresult set_memcpy(CUgraphExec e, bool in_exec, CUgraphNode node, const CUDA_MEMCPY3D *p) {
    CHANGE(e, in_exec, node, MEMCPY, p ? copy_work(p, n->ctx, &work) : CUDA_ERROR_INVALID_VALUE);
}

static CUresult set_memset(CUgraphExec e, bool in_exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *p) {
    CHANGE(e, in_exec, node, MEMSET, p ? fill_work(p, n->ctx, &work) : CUDA_ERROR_INVALID_VALUE);
}

static CUresult set_host(CUgraphExec e, bool in_exec, CUgraphNode node, const CUDA_HOST_NODE_PARAMS *p) {
    CHANGE(e, in_exec, node, HOST, p ? host_work(p, n->ctx, &work) : CUDA_ERROR_INVALID_VALUE);
}

static CUresult set_record(CUgraphExec e, bool in_exec, CUgraphNode node, CUevent event) {
    CHANGE(e, in_exec, node, EVENT_RECORD, event_work(event, &work));
}

static CUresult set_wait(CUgraphExec e, bool in_exec, CUgraphNode node, CUevent event) {
    CHANGE(e, in_exec, node, WAIT_EVENT, event_work(event, &work));
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p) {
    return set_kernel(NULL, false, node, p);
}

CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D *p) {
    return set_memcpy(NULL, false, node, p);
}

CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *p) {
    return set_memset(NULL, false, node, p);
}

CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS *p) {
    return set_host(NULL, false, node, p);
}

CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent e) {
    return set_record(NULL, false, node, e);
}
CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent e) { return set_wait(NULL, false, node, e); }

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec e, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS *p) {
    return set_kernel(e, true, node, p);
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec e, CUgraphNode node, const CUDA_MEMCPY3D *p,
                                        CUcontext where) {
    (void)where; // may not change
    return set_memcpy(e, true, node, p);
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec e, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *p,
                                        CUcontext where) {
    (void)where;
    return set_memset(e, true, node, p);
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec e, CUgraphNode node, const CUDA_HOST_NODE_PARAMS *p) {
    return set_host(e, true, node, p);
}

CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec e, CUgraphNode node, CUevent event) {
    return set_record(e, true, node, event);
}

CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec e, CUgraphNode node, CUevent event) {
    return set_wait(e, true, node, event);
}

CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec e, CUgraphNode node, CUgraph child) {
    CHANGE(e, true, node, GRAPH, child_work(child, n->ctx, &work));
}

// ---- By a parameter structure for all types ------------------------------------------------------------------

static CUresult not_there(void) {
    gr_cu_hook_absent("graph nodes of this type");
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuGraphAddNode_v2(CUgraphNode *out, CUgraph g, const CUgraphNode *after,
                           const CUgraphEdgeData *edges, size_t n, CUgraphNodeParams *p) {
    (void)edges;
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: {
        CUDA_KERNEL_NODE_PARAMS k;
        _Static_assert(sizeof k == sizeof p->kernel, "kernel node parameters");
        memcpy(&k, &p->kernel, sizeof k);
        return cuGraphAddKernelNode_v2(out, g, after, n, &k);
    }
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return cuGraphAddMemcpyNode(out, g, after, n, &p->memcpy.copyParams, p->memcpy.copyCtx);
    case CU_GRAPH_NODE_TYPE_MEMSET: {
        CUDA_MEMSET_NODE_PARAMS m = {p->memset.dst,         p->memset.pitch, p->memset.value,
                                     p->memset.elementSize, p->memset.width, p->memset.height};
        return cuGraphAddMemsetNode(out, g, after, n, &m, p->memset.ctx);
    }
    case CU_GRAPH_NODE_TYPE_HOST: {
        CUDA_HOST_NODE_PARAMS h = {p->host.fn, p->host.userData};
        return cuGraphAddHostNode(out, g, after, n, &h);
    }
    case CU_GRAPH_NODE_TYPE_GRAPH: return cuGraphAddChildGraphNode(out, g, after, n, p->graph.graph);
    case CU_GRAPH_NODE_TYPE_EMPTY: return cuGraphAddEmptyNode(out, g, after, n);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return cuGraphAddEventRecordNode(out, g, after, n, p->eventRecord.event);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return cuGraphAddEventWaitNode(out, g, after, n, p->eventWait.event);
    case CU_GRAPH_NODE_TYPE_MEM_FREE: return cuGraphAddMemFreeNode(out, g, after, n, p->free.dptr);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: {
        CUDA_MEM_ALLOC_NODE_PARAMS a;
        _Static_assert(sizeof a == sizeof p->alloc, "allocation node parameters");
        memcpy(&a, &p->alloc, sizeof a);
        CUresult r = cuGraphAddMemAllocNode(out, g, after, n, &a);
        p->alloc.dptr = a.dptr;
        return r;
    }
    default: return not_there();
    }
}

CUresult cuGraphAddNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t n,
                        CUgraphNodeParams *p) {
    return cuGraphAddNode_v2(out, g, after, NULL, n, p);
}

static CUresult set_params(CUgraphExec e, bool in_exec, CUgraphNode node, const CUgraphNodeParams *p) {
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: {
        CUDA_KERNEL_NODE_PARAMS k;
        memcpy(&k, &p->kernel, sizeof k);
        return set_kernel(e, in_exec, node, &k);
    }
    case CU_GRAPH_NODE_TYPE_MEMCPY: return set_memcpy(e, in_exec, node, &p->memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_MEMSET: {
        CUDA_MEMSET_NODE_PARAMS m = {p->memset.dst,         p->memset.pitch, p->memset.value,
                                     p->memset.elementSize, p->memset.width, p->memset.height};
        return set_memset(e, in_exec, node, &m);
    }
    case CU_GRAPH_NODE_TYPE_HOST: {
        CUDA_HOST_NODE_PARAMS h = {p->host.fn, p->host.userData};
        return set_host(e, in_exec, node, &h);
    }
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return set_record(e, in_exec, node, p->eventRecord.event);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return set_wait(e, in_exec, node, p->eventWait.event);
    default: return not_there();
    }
}

CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams *p) {
    return set_params(NULL, false, node, p);
}

CUresult cuGraphExecNodeSetParams(CUgraphExec e, CUgraphNode node, CUgraphNodeParams *p) {
    return set_params(e, true, node, p);
}

// ---- Attributes of kernel nodes: those that have an effect here ------------------------------------------------

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode handle, CUkernelNodeAttrID attr,
                                       CUkernelNodeAttrValue *value) {
    NODE_ENTER(handle, KERNEL, value, n);
    const VmLaunchParams *p = &n->work->kernel.params;
    memset(value, 0, sizeof *value);
    if (attr == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
        value->cooperative = p->cooperative;
    if (attr == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
        value->clusterDim.x = p->cluster[0];
        value->clusterDim.y = p->cluster[1];
        value->clusterDim.z = p->cluster[2];
    }
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode handle, CUkernelNodeAttrID attr,
                                       const CUkernelNodeAttrValue *value) {
    NODE_ENTER(handle, KERNEL, value, n);
    VmLaunchParams *p = &n->work->kernel.params;
    if (attr == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
        p->cooperative = value->cooperative != 0;
    if (attr == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
        p->cluster[0] = value->clusterDim.x;
        p->cluster[1] = value->clusterDim.y;
        p->cluster[2] = value->clusterDim.z;
    }
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from) {
    NODE_ENTER(from, KERNEL, to, n);
    const Node *t = gr_cu_handle(to, HANDLE_NODE);
    if (!t || t->type != CU_GRAPH_NODE_TYPE_KERNEL)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    t->work->kernel.params.cooperative = n->work->kernel.params.cooperative;
    memcpy(t->work->kernel.params.cluster, n->work->kernel.params.cluster,
           sizeof n->work->kernel.params.cluster);
    return gr_cu_leave(CUDA_SUCCESS);
}
