// SPDX-License-Identifier: Apache-2.0
// graph — CUDA graphs: the driver's, with parameters in the runtime's terms. What takes a stream is in stream_work.c.
//
// Graphs, nodes and executable graphs have the same handles in both APIs.
#include "driver/cudart/runtime.h"

#include <string.h>

_Static_assert((int)cudaGraphNodeTypeConditional == (int)CU_GRAPH_NODE_TYPE_CONDITIONAL, "node types");
_Static_assert((int)cudaGraphInstantiateFlagUseNodePriority ==
                   (int)CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY,
               "instantiation flags");
_Static_assert((int)cudaGraphExecUpdateErrorAttributesChanged ==
                   (int)CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED,
               "update results");
_Static_assert(sizeof(cudaGraphExecUpdateResultInfo) == sizeof(CUgraphExecUpdateResultInfo),
               "update results");
_Static_assert(sizeof(struct cudaMemsetParams) == offsetof(CUDA_MEMSET_NODE_PARAMS_v2, ctx),
               "memset parameters");
_Static_assert(sizeof(struct cudaHostNodeParams) == sizeof(CUDA_HOST_NODE_PARAMS), "host parameters");
_Static_assert(sizeof(struct cudaMemAllocNodeParams) == sizeof(CUDA_MEM_ALLOC_NODE_PARAMS),
               "allocation parameters");
_Static_assert(sizeof(cudaKernelNodeAttrValue) == sizeof(CUkernelNodeAttrValue), "attributes");

// ---- graphs

cudaError_t CUDARTAPI cudaGraphCreate(cudaGraph_t *pGraph, unsigned int flags) {
    GR_RT_CALL(cuGraphCreate(pGraph, flags));
}

cudaError_t CUDARTAPI cudaGraphDestroy(cudaGraph_t graph) { GR_RT_CALL(cuGraphDestroy(graph)); }

cudaError_t CUDARTAPI cudaGraphClone(cudaGraph_t *pGraphClone, cudaGraph_t originalGraph) {
    GR_RT_CALL(cuGraphClone(pGraphClone, originalGraph));
}

cudaError_t CUDARTAPI cudaGraphNodeFindInClone(cudaGraphNode_t *pNode, cudaGraphNode_t originalNode,
                                               cudaGraph_t clonedGraph) {
    GR_RT_CALL(cuGraphNodeFindInClone(pNode, originalNode, clonedGraph));
}

cudaError_t CUDARTAPI cudaGraphDestroyNode(cudaGraphNode_t node) { GR_RT_CALL(cuGraphDestroyNode(node)); }

cudaError_t CUDARTAPI cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *pType) {
    GR_RT_CALL(cuGraphNodeGetType(node, (CUgraphNodeType *)pType));
}

cudaError_t CUDARTAPI cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *numNodes) {
    GR_RT_CALL(cuGraphGetNodes(graph, nodes, numNodes));
}

cudaError_t CUDARTAPI cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *pRootNodes,
                                            size_t *pNumRootNodes) {
    GR_RT_CALL(cuGraphGetRootNodes(graph, pRootNodes, pNumRootNodes));
}

cudaError_t CUDARTAPI cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                                        cudaGraphEdgeData *edgeData, size_t *numEdges) {
    GR_RT_CALL(cuGraphGetEdges(graph, from, to, (CUgraphEdgeData *)edgeData, numEdges));
}

cudaError_t CUDARTAPI cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *pDependencies,
                                                   cudaGraphEdgeData *edgeData, size_t *pNumDependencies) {
    GR_RT_CALL(
        cuGraphNodeGetDependencies(node, pDependencies, (CUgraphEdgeData *)edgeData, pNumDependencies));
}

cudaError_t CUDARTAPI cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *pDependentNodes,
                                                     cudaGraphEdgeData *edgeData,
                                                     size_t *pNumDependentNodes) {
    GR_RT_CALL(
        cuGraphNodeGetDependentNodes(node, pDependentNodes, (CUgraphEdgeData *)edgeData, pNumDependentNodes));
}

cudaError_t CUDARTAPI cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                               const cudaGraphNode_t *to, const cudaGraphEdgeData *edgeData,
                                               size_t numDependencies) {
    GR_RT_CALL(cuGraphAddDependencies(graph, from, to, (const CUgraphEdgeData *)edgeData, numDependencies));
}

cudaError_t CUDARTAPI cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                                  const cudaGraphNode_t *to,
                                                  const cudaGraphEdgeData *edgeData, size_t numDependencies) {
    GR_RT_CALL(
        cuGraphRemoveDependencies(graph, from, to, (const CUgraphEdgeData *)edgeData, numDependencies));
}

cudaError_t CUDARTAPI cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned int flags) {
    GR_RT_CALL(cuGraphDebugDotPrint(graph, path, flags));
}

cudaError_t CUDARTAPI cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode) {
    GR_RT_CALL(cuThreadExchangeStreamCaptureMode((CUstreamCaptureMode *)mode));
}

// ---- kernel nodes

static cudaError_t kernel_params(const struct cudaKernelNodeParams *p, CUDA_KERNEL_NODE_PARAMS *out) {
    if (p == NULL)
        return cudaErrorInvalidValue;
    *out = (CUDA_KERNEL_NODE_PARAMS){.gridDimX = p->gridDim.x,
                                     .gridDimY = p->gridDim.y,
                                     .gridDimZ = p->gridDim.z,
                                     .blockDimX = p->blockDim.x,
                                     .blockDimY = p->blockDim.y,
                                     .blockDimZ = p->blockDim.z,
                                     .sharedMemBytes = p->sharedMemBytes,
                                     .kernelParams = p->kernelParams,
                                     .extra = p->extra};
    return gr_rt_kernel(p->func, &out->kern);
}

// Enters, translates the parameters, calls the driver, and leaves.
#define WITH_KERNEL(source, call)                                                                            \
    do {                                                                                                     \
        CUDA_KERNEL_NODE_PARAMS p;                                                                           \
        cudaError_t error_ = gr_rt_enter();                                                                  \
        if (error_ == cudaSuccess)                                                                           \
            error_ = kernel_params((source), &p);                                                            \
        if (error_ == cudaSuccess)                                                                           \
            error_ = gr_rt_translate(gr_rt_legacy.call);                                                     \
        return gr_rt_leave(error_);                                                                          \
    } while (0)

cudaError_t CUDARTAPI cudaGraphAddKernelNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                             const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                             const struct cudaKernelNodeParams *pNodeParams) {
    WITH_KERNEL(pNodeParams, cuGraphAddKernelNode(pGraphNode, graph, pDependencies, numDependencies, &p));
}

cudaError_t CUDARTAPI cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                                   const struct cudaKernelNodeParams *pNodeParams) {
    WITH_KERNEL(pNodeParams, cuGraphKernelNodeSetParams(node, &p));
}

cudaError_t CUDARTAPI cudaGraphExecKernelNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                       const struct cudaKernelNodeParams *pNodeParams) {
    WITH_KERNEL(pNodeParams, cuGraphExecKernelNodeSetParams(hGraphExec, node, &p));
}

cudaError_t CUDARTAPI cudaGraphKernelNodeGetParams(cudaGraphNode_t node,
                                                   struct cudaKernelNodeParams *pNodeParams) {
    GR_RT_REQUIRE(pNodeParams != NULL, cudaErrorInvalidValue);
    CUDA_KERNEL_NODE_PARAMS p = {0};
    cudaError_t e = gr_rt_enter();
    if (e == cudaSuccess)
        e = gr_rt_translate(gr_rt_legacy.cuGraphKernelNodeGetParams(node, &p));
    if (e == cudaSuccess)
        *pNodeParams = (struct cudaKernelNodeParams){
            .func = p.kern != NULL ? (void *)(uintptr_t)gr_rt_host_function(p.kern) : (void *)p.func,
            .gridDim = {p.gridDimX, p.gridDimY, p.gridDimZ},
            .blockDim = {p.blockDimX, p.blockDimY, p.blockDimZ},
            .sharedMemBytes = p.sharedMemBytes,
            .kernelParams = p.kernelParams,
            .extra = p.extra};
    return gr_rt_leave(e);
}

cudaError_t CUDARTAPI cudaGraphKernelNodeGetAttribute(cudaGraphNode_t hNode, cudaKernelNodeAttrID attr,
                                                      cudaKernelNodeAttrValue *value_out) {
    GR_RT_CALL(
        cuGraphKernelNodeGetAttribute(hNode, (CUkernelNodeAttrID)attr, (CUkernelNodeAttrValue *)value_out));
}

cudaError_t CUDARTAPI cudaGraphKernelNodeSetAttribute(cudaGraphNode_t hNode, cudaKernelNodeAttrID attr,
                                                      const cudaKernelNodeAttrValue *value) {
    GR_RT_CALL(
        cuGraphKernelNodeSetAttribute(hNode, (CUkernelNodeAttrID)attr, (const CUkernelNodeAttrValue *)value));
}

cudaError_t CUDARTAPI cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t hDst, cudaGraphNode_t hSrc) {
    GR_RT_CALL(cuGraphKernelNodeCopyAttributes(hDst, hSrc));
}

// ---- memcpy nodes

static cudaError_t box_params(const struct cudaMemcpy3DParms *p, CUDA_MEMCPY3D *out, CUcontext *ctx) {
    if (p == NULL)
        return cudaErrorInvalidValue;
    cudaError_t e = gr_rt_box(p, out);
    return e != cudaSuccess ? e : gr_rt_translate(gr_rt_legacy.cuCtxGetCurrent(ctx));
}

static struct cudaMemcpy3DParms line_params(void *dst, const void *src, size_t count,
                                            enum cudaMemcpyKind kind) {
    return (struct cudaMemcpy3DParms){.srcPtr = {(void *)(uintptr_t)src, count, count, 1},
                                      .dstPtr = {dst, count, count, 1},
                                      .extent = {count, 1, 1},
                                      .kind = kind};
}

static cudaError_t symbol_params(const void *symbol, bool to, void *other, size_t count, size_t offset,
                                 enum cudaMemcpyKind kind, struct cudaMemcpy3DParms *out) {
    CUdeviceptr address = 0;
    size_t size = 0, end = 0;
    cudaError_t e = gr_rt_symbol(symbol, &address, &size);
    if (e != cudaSuccess)
        return e;
    if (__builtin_add_overflow(offset, count, &end) || end > size)
        return cudaErrorInvalidValue;
    void *at = (void *)(uintptr_t)(address + offset);
    *out = to ? line_params(at, other, count, kind) : line_params(other, at, count, kind);
    return cudaSuccess;
}

// What takes the parameters in the driver: a new node, a node, or a node's copy in an executable graph.
typedef struct Taker {
    cudaGraphNode_t *out;
    cudaGraph_t graph;
    const cudaGraphNode_t *after;
    size_t n;
    cudaGraphExec_t exec;
    cudaGraphNode_t node;
} Taker;

static cudaError_t give_copy(Taker t, const struct cudaMemcpy3DParms *p) {
    CUDA_MEMCPY3D c;
    CUcontext ctx = NULL;
    cudaError_t e = box_params(p, &c, &ctx);
    if (e != cudaSuccess)
        return e;
    if (t.out != NULL)
        return gr_rt_translate(gr_rt_legacy.cuGraphAddMemcpyNode(t.out, t.graph, t.after, t.n, &c, ctx));
    if (t.exec != NULL)
        return gr_rt_translate(gr_rt_legacy.cuGraphExecMemcpyNodeSetParams(t.exec, t.node, &c, ctx));
    return gr_rt_translate(gr_rt_legacy.cuGraphMemcpyNodeSetParams(t.node, &c));
}

static cudaError_t copy_node(Taker t, const struct cudaMemcpy3DParms *p) {
    cudaError_t e = gr_rt_enter();
    return gr_rt_leave(e != cudaSuccess ? e : give_copy(t, p));
}

static cudaError_t line_node(Taker t, void *dst, const void *src, size_t count, enum cudaMemcpyKind kind) {
    struct cudaMemcpy3DParms p = line_params(dst, src, count, kind);
    return copy_node(t, &p);
}

static cudaError_t symbol_node(Taker t, const void *symbol, bool to, const void *other, size_t count,
                               size_t offset, enum cudaMemcpyKind kind) {
    struct cudaMemcpy3DParms p;
    cudaError_t e = gr_rt_enter();
    if (e == cudaSuccess)
        e = symbol_params(symbol, to, (void *)(uintptr_t)other, count, offset, kind, &p);
    return gr_rt_leave(e != cudaSuccess ? e : give_copy(t, &p));
}

// A new node must have a place to go to: without one the driver would be asked to change a node.
#define ADDING(out, graph, after, n)                                                                         \
    (Taker) { (out), (graph), (after), (n), NULL, NULL }
#define CHANGING(node)                                                                                       \
    (Taker) { .node = (node) }
#define CHANGING_IN(exec_, node_)                                                                            \
    (Taker) { .exec = (exec_), .node = (node_) }

cudaError_t CUDARTAPI cudaGraphAddMemcpyNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                             const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                             const struct cudaMemcpy3DParms *pCopyParams) {
    GR_RT_REQUIRE(pGraphNode != NULL, cudaErrorInvalidValue);
    return copy_node(ADDING(pGraphNode, graph, pDependencies, numDependencies), pCopyParams);
}

cudaError_t CUDARTAPI cudaGraphAddMemcpyNode1D(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                               const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                               void *dst, const void *src, size_t count,
                                               enum cudaMemcpyKind kind) {
    GR_RT_REQUIRE(pGraphNode != NULL, cudaErrorInvalidValue);
    return line_node(ADDING(pGraphNode, graph, pDependencies, numDependencies), dst, src, count, kind);
}

cudaError_t CUDARTAPI cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                                     const cudaGraphNode_t *pDependencies,
                                                     size_t numDependencies, const void *symbol,
                                                     const void *src, size_t count, size_t offset,
                                                     enum cudaMemcpyKind kind) {
    GR_RT_REQUIRE(pGraphNode != NULL, cudaErrorInvalidValue);
    return symbol_node(ADDING(pGraphNode, graph, pDependencies, numDependencies), symbol, true, src, count,
                       offset, kind);
}

cudaError_t CUDARTAPI cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                                       const cudaGraphNode_t *pDependencies,
                                                       size_t numDependencies, void *dst, const void *symbol,
                                                       size_t count, size_t offset,
                                                       enum cudaMemcpyKind kind) {
    GR_RT_REQUIRE(pGraphNode != NULL, cudaErrorInvalidValue);
    return symbol_node(ADDING(pGraphNode, graph, pDependencies, numDependencies), symbol, false, dst, count,
                       offset, kind);
}

cudaError_t CUDARTAPI cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                                   const struct cudaMemcpy3DParms *pNodeParams) {
    return copy_node(CHANGING(node), pNodeParams);
}

cudaError_t CUDARTAPI cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *dst, const void *src,
                                                     size_t count, enum cudaMemcpyKind kind) {
    return line_node(CHANGING(node), dst, src, count, kind);
}

cudaError_t CUDARTAPI cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol,
                                                           const void *src, size_t count, size_t offset,
                                                           enum cudaMemcpyKind kind) {
    return symbol_node(CHANGING(node), symbol, true, src, count, offset, kind);
}

cudaError_t CUDARTAPI cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *dst,
                                                             const void *symbol, size_t count, size_t offset,
                                                             enum cudaMemcpyKind kind) {
    return symbol_node(CHANGING(node), symbol, false, dst, count, offset, kind);
}

cudaError_t CUDARTAPI cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                       const struct cudaMemcpy3DParms *pNodeParams) {
    GR_RT_REQUIRE(hGraphExec != NULL, cudaErrorInvalidValue);
    return copy_node(CHANGING_IN(hGraphExec, node), pNodeParams);
}

cudaError_t CUDARTAPI cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                         void *dst, const void *src, size_t count,
                                                         enum cudaMemcpyKind kind) {
    GR_RT_REQUIRE(hGraphExec != NULL, cudaErrorInvalidValue);
    return line_node(CHANGING_IN(hGraphExec, node), dst, src, count, kind);
}

cudaError_t CUDARTAPI cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t hGraphExec,
                                                               cudaGraphNode_t node, const void *symbol,
                                                               const void *src, size_t count, size_t offset,
                                                               enum cudaMemcpyKind kind) {
    GR_RT_REQUIRE(hGraphExec != NULL, cudaErrorInvalidValue);
    return symbol_node(CHANGING_IN(hGraphExec, node), symbol, true, src, count, offset, kind);
}

cudaError_t CUDARTAPI cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t hGraphExec,
                                                                 cudaGraphNode_t node, void *dst,
                                                                 const void *symbol, size_t count,
                                                                 size_t offset, enum cudaMemcpyKind kind) {
    GR_RT_REQUIRE(hGraphExec != NULL, cudaErrorInvalidValue);
    return symbol_node(CHANGING_IN(hGraphExec, node), symbol, false, dst, count, offset, kind);
}

static enum cudaMemcpyKind kind_of(CUmemorytype src, CUmemorytype dst) {
    if (src == CU_MEMORYTYPE_UNIFIED || dst == CU_MEMORYTYPE_UNIFIED)
        return cudaMemcpyDefault;
    if (src == CU_MEMORYTYPE_HOST)
        return dst == CU_MEMORYTYPE_HOST ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice;
    return dst == CU_MEMORYTYPE_HOST ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
}

cudaError_t CUDARTAPI cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node,
                                                   struct cudaMemcpy3DParms *pNodeParams) {
    GR_RT_REQUIRE(pNodeParams != NULL, cudaErrorInvalidValue);
    CUDA_MEMCPY3D c = {0};
    cudaError_t e = gr_rt_enter();
    if (e == cudaSuccess)
        e = gr_rt_translate(gr_rt_legacy.cuGraphMemcpyNodeGetParams(node, &c));
    if (e == cudaSuccess)
        *pNodeParams = (struct cudaMemcpy3DParms){
            .srcPos = {c.srcXInBytes, c.srcY, c.srcZ},
            .srcPtr = {c.srcMemoryType == CU_MEMORYTYPE_HOST ? (void *)(uintptr_t)c.srcHost
                                                             : (void *)(uintptr_t)c.srcDevice,
                       c.srcPitch, c.WidthInBytes, c.srcHeight},
            .dstPos = {c.dstXInBytes, c.dstY, c.dstZ},
            .dstPtr = {c.dstMemoryType == CU_MEMORYTYPE_HOST ? c.dstHost : (void *)(uintptr_t)c.dstDevice,
                       c.dstPitch, c.WidthInBytes, c.dstHeight},
            .extent = {c.WidthInBytes, c.Height, c.Depth},
            .kind = kind_of(c.srcMemoryType, c.dstMemoryType)};
    return gr_rt_leave(e);
}

// ---- memset nodes

static cudaError_t fill_params(const struct cudaMemsetParams *p, CUDA_MEMSET_NODE_PARAMS *out,
                               CUcontext *ctx) {
    if (p == NULL)
        return cudaErrorInvalidValue;
    *out = (CUDA_MEMSET_NODE_PARAMS){.dst = (CUdeviceptr)(uintptr_t)p->dst,
                                     .pitch = p->pitch,
                                     .value = p->value,
                                     .elementSize = p->elementSize,
                                     .width = p->width,
                                     .height = p->height};
    return gr_rt_translate(gr_rt_legacy.cuCtxGetCurrent(ctx));
}

#define WITH_FILL(source, call)                                                                              \
    do {                                                                                                     \
        CUDA_MEMSET_NODE_PARAMS p;                                                                           \
        CUcontext ctx = NULL;                                                                                \
        cudaError_t error_ = gr_rt_enter();                                                                  \
        if (error_ == cudaSuccess)                                                                           \
            error_ = fill_params((source), &p, &ctx);                                                        \
        if (error_ == cudaSuccess)                                                                           \
            error_ = gr_rt_translate(gr_rt_legacy.call);                                                     \
        return gr_rt_leave(error_);                                                                          \
    } while (0)

cudaError_t CUDARTAPI cudaGraphAddMemsetNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                             const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                             const struct cudaMemsetParams *pMemsetParams) {
    WITH_FILL(pMemsetParams,
              cuGraphAddMemsetNode(pGraphNode, graph, pDependencies, numDependencies, &p, ctx));
}

cudaError_t CUDARTAPI cudaGraphMemsetNodeSetParams(cudaGraphNode_t node,
                                                   const struct cudaMemsetParams *pNodeParams) {
    WITH_FILL(pNodeParams, cuGraphMemsetNodeSetParams(node, &p));
}

cudaError_t CUDARTAPI cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                       const struct cudaMemsetParams *pNodeParams) {
    WITH_FILL(pNodeParams, cuGraphExecMemsetNodeSetParams(hGraphExec, node, &p, ctx));
}

cudaError_t CUDARTAPI cudaGraphMemsetNodeGetParams(cudaGraphNode_t node,
                                                   struct cudaMemsetParams *pNodeParams) {
    GR_RT_CALL(cuGraphMemsetNodeGetParams(node, (CUDA_MEMSET_NODE_PARAMS *)pNodeParams));
}

// ---- other nodes

cudaError_t CUDARTAPI cudaGraphAddHostNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                           const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                           const struct cudaHostNodeParams *pNodeParams) {
    GR_RT_CALL(cuGraphAddHostNode(pGraphNode, graph, pDependencies, numDependencies,
                                  (const CUDA_HOST_NODE_PARAMS *)pNodeParams));
}

cudaError_t CUDARTAPI cudaGraphHostNodeGetParams(cudaGraphNode_t node,
                                                 struct cudaHostNodeParams *pNodeParams) {
    GR_RT_CALL(cuGraphHostNodeGetParams(node, (CUDA_HOST_NODE_PARAMS *)pNodeParams));
}

cudaError_t CUDARTAPI cudaGraphHostNodeSetParams(cudaGraphNode_t node,
                                                 const struct cudaHostNodeParams *pNodeParams) {
    GR_RT_CALL(cuGraphHostNodeSetParams(node, (const CUDA_HOST_NODE_PARAMS *)pNodeParams));
}

cudaError_t CUDARTAPI cudaGraphExecHostNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                     const struct cudaHostNodeParams *pNodeParams) {
    GR_RT_CALL(cuGraphExecHostNodeSetParams(hGraphExec, node, (const CUDA_HOST_NODE_PARAMS *)pNodeParams));
}

cudaError_t CUDARTAPI cudaGraphAddChildGraphNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                                 const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                                 cudaGraph_t childGraph) {
    GR_RT_CALL(cuGraphAddChildGraphNode(pGraphNode, graph, pDependencies, numDependencies, childGraph));
}

cudaError_t CUDARTAPI cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *pGraph) {
    GR_RT_CALL(cuGraphChildGraphNodeGetGraph(node, pGraph));
}

cudaError_t CUDARTAPI cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                           cudaGraph_t childGraph) {
    GR_RT_CALL(cuGraphExecChildGraphNodeSetParams(hGraphExec, node, childGraph));
}

cudaError_t CUDARTAPI cudaGraphAddEmptyNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                            const cudaGraphNode_t *pDependencies, size_t numDependencies) {
    GR_RT_CALL(cuGraphAddEmptyNode(pGraphNode, graph, pDependencies, numDependencies));
}

cudaError_t CUDARTAPI cudaGraphAddEventRecordNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                                  const cudaGraphNode_t *pDependencies,
                                                  size_t numDependencies, cudaEvent_t event) {
    GR_RT_CALL(cuGraphAddEventRecordNode(pGraphNode, graph, pDependencies, numDependencies, event));
}

cudaError_t CUDARTAPI cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event_out) {
    GR_RT_CALL(cuGraphEventRecordNodeGetEvent(node, event_out));
}

cudaError_t CUDARTAPI cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
    GR_RT_CALL(cuGraphEventRecordNodeSetEvent(node, event));
}

cudaError_t CUDARTAPI cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode,
                                                           cudaEvent_t event) {
    GR_RT_CALL(cuGraphExecEventRecordNodeSetEvent(hGraphExec, hNode, event));
}

cudaError_t CUDARTAPI cudaGraphAddEventWaitNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                                const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                                cudaEvent_t event) {
    GR_RT_CALL(cuGraphAddEventWaitNode(pGraphNode, graph, pDependencies, numDependencies, event));
}

cudaError_t CUDARTAPI cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event_out) {
    GR_RT_CALL(cuGraphEventWaitNodeGetEvent(node, event_out));
}

cudaError_t CUDARTAPI cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
    GR_RT_CALL(cuGraphEventWaitNodeSetEvent(node, event));
}

cudaError_t CUDARTAPI cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode,
                                                         cudaEvent_t event) {
    GR_RT_CALL(cuGraphExecEventWaitNodeSetEvent(hGraphExec, hNode, event));
}

cudaError_t CUDARTAPI cudaGraphAddMemAllocNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                               const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                               struct cudaMemAllocNodeParams *nodeParams) {
    GR_RT_CALL(cuGraphAddMemAllocNode(pGraphNode, graph, pDependencies, numDependencies,
                                      (CUDA_MEM_ALLOC_NODE_PARAMS *)nodeParams));
}

cudaError_t CUDARTAPI cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node,
                                                     struct cudaMemAllocNodeParams *params_out) {
    GR_RT_CALL(cuGraphMemAllocNodeGetParams(node, (CUDA_MEM_ALLOC_NODE_PARAMS *)params_out));
}

cudaError_t CUDARTAPI cudaGraphAddMemFreeNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                              const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                              void *dptr) {
    GR_RT_CALL(cuGraphAddMemFreeNode(pGraphNode, graph, pDependencies, numDependencies,
                                     (CUdeviceptr)(uintptr_t)dptr));
}

cudaError_t CUDARTAPI cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *dptr_out) {
    GR_RT_CALL(cuGraphMemFreeNodeGetParams(node, (CUdeviceptr *)dptr_out));
}

// ---- by a parameter structure for all types

cudaError_t CUDARTAPI cudaGraphAddNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                       const cudaGraphNode_t *pDependencies,
                                       const cudaGraphEdgeData *dependencyData, size_t numDependencies,
                                       struct cudaGraphNodeParams *nodeParams) {
    (void)dependencyData; // see driver/cuda/graph.c
    GR_RT_REQUIRE(nodeParams != NULL, cudaErrorInvalidValue);
    struct cudaKernelNodeParams kernel;
    struct cudaMemsetParams fill;
    struct cudaHostNodeParams host;
    struct cudaMemAllocNodeParams alloc;
    _Static_assert(sizeof kernel == sizeof nodeParams->kernel, "kernel parameters");
    _Static_assert(sizeof fill == sizeof nodeParams->memset, "memset parameters");
    _Static_assert(sizeof host == sizeof nodeParams->host, "host parameters");
    switch (nodeParams->type) {
    case cudaGraphNodeTypeKernel:
        memcpy(&kernel, &nodeParams->kernel, sizeof kernel);
        return cudaGraphAddKernelNode(pGraphNode, graph, pDependencies, numDependencies, &kernel);
    case cudaGraphNodeTypeMemcpy:
        return cudaGraphAddMemcpyNode(pGraphNode, graph, pDependencies, numDependencies,
                                      &nodeParams->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
        memcpy(&fill, &nodeParams->memset, sizeof fill);
        return cudaGraphAddMemsetNode(pGraphNode, graph, pDependencies, numDependencies, &fill);
    case cudaGraphNodeTypeHost:
        memcpy(&host, &nodeParams->host, sizeof host);
        return cudaGraphAddHostNode(pGraphNode, graph, pDependencies, numDependencies, &host);
    case cudaGraphNodeTypeGraph:
        return cudaGraphAddChildGraphNode(pGraphNode, graph, pDependencies, numDependencies,
                                          nodeParams->graph.graph);
    case cudaGraphNodeTypeEmpty:
        return cudaGraphAddEmptyNode(pGraphNode, graph, pDependencies, numDependencies);
    case cudaGraphNodeTypeEventRecord:
        return cudaGraphAddEventRecordNode(pGraphNode, graph, pDependencies, numDependencies,
                                           nodeParams->eventRecord.event);
    case cudaGraphNodeTypeWaitEvent:
        return cudaGraphAddEventWaitNode(pGraphNode, graph, pDependencies, numDependencies,
                                         nodeParams->eventWait.event);
    case cudaGraphNodeTypeMemAlloc: {
        _Static_assert(sizeof alloc == sizeof nodeParams->alloc, "allocation parameters");
        memcpy(&alloc, &nodeParams->alloc, sizeof alloc);
        cudaError_t e = cudaGraphAddMemAllocNode(pGraphNode, graph, pDependencies, numDependencies, &alloc);
        nodeParams->alloc.dptr = alloc.dptr;
        return e;
    }
    case cudaGraphNodeTypeMemFree:
        return cudaGraphAddMemFreeNode(pGraphNode, graph, pDependencies, numDependencies,
                                       nodeParams->free.dptr);
    default: gr_rt_report_absent("cudaGraphAddNode of this type"); return gr_rt_leave(cudaErrorNotSupported);
    }
}

static cudaError_t set_params(cudaGraphExec_t exec, cudaGraphNode_t node,
                              const struct cudaGraphNodeParams *p) {
    struct cudaKernelNodeParams kernel;
    struct cudaMemsetParams fill;
    struct cudaHostNodeParams host;
    switch (p->type) {
    case cudaGraphNodeTypeKernel:
        memcpy(&kernel, &p->kernel, sizeof kernel);
        return exec != NULL ? cudaGraphExecKernelNodeSetParams(exec, node, &kernel)
                            : cudaGraphKernelNodeSetParams(node, &kernel);
    case cudaGraphNodeTypeMemcpy:
        return exec != NULL ? cudaGraphExecMemcpyNodeSetParams(exec, node, &p->memcpy.copyParams)
                            : cudaGraphMemcpyNodeSetParams(node, &p->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
        memcpy(&fill, &p->memset, sizeof fill);
        return exec != NULL ? cudaGraphExecMemsetNodeSetParams(exec, node, &fill)
                            : cudaGraphMemsetNodeSetParams(node, &fill);
    case cudaGraphNodeTypeHost:
        memcpy(&host, &p->host, sizeof host);
        return exec != NULL ? cudaGraphExecHostNodeSetParams(exec, node, &host)
                            : cudaGraphHostNodeSetParams(node, &host);
    case cudaGraphNodeTypeEventRecord:
        return exec != NULL ? cudaGraphExecEventRecordNodeSetEvent(exec, node, p->eventRecord.event)
                            : cudaGraphEventRecordNodeSetEvent(node, p->eventRecord.event);
    case cudaGraphNodeTypeWaitEvent:
        return exec != NULL ? cudaGraphExecEventWaitNodeSetEvent(exec, node, p->eventWait.event)
                            : cudaGraphEventWaitNodeSetEvent(node, p->eventWait.event);
    default:
        gr_rt_report_absent("cudaGraphNodeSetParams of this type");
        return gr_rt_leave(cudaErrorNotSupported);
    }
}

cudaError_t CUDARTAPI cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *nodeParams) {
    GR_RT_REQUIRE(nodeParams != NULL, cudaErrorInvalidValue);
    return set_params(NULL, node, nodeParams);
}

cudaError_t CUDARTAPI cudaGraphExecNodeSetParams(cudaGraphExec_t graphExec, cudaGraphNode_t node,
                                                 struct cudaGraphNodeParams *nodeParams) {
    GR_RT_REQUIRE(graphExec != NULL && nodeParams != NULL, cudaErrorInvalidValue);
    return set_params(graphExec, node, nodeParams);
}

// ---- executable graphs

cudaError_t CUDARTAPI cudaGraphInstantiateWithFlags(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
                                                    unsigned long long flags) {
    GR_RT_CALL(cuGraphInstantiateWithFlags(pGraphExec, graph, flags));
}

cudaError_t CUDARTAPI cudaGraphInstantiate(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
                                           unsigned long long flags) {
    return cudaGraphInstantiateWithFlags(pGraphExec, graph, flags);
}

cudaError_t CUDARTAPI cudaGraphExecGetFlags(cudaGraphExec_t graphExec, unsigned long long *flags) {
    GR_RT_CALL(cuGraphExecGetFlags(graphExec, (cuuint64_t *)flags));
}

cudaError_t CUDARTAPI cudaGraphExecDestroy(cudaGraphExec_t graphExec) {
    GR_RT_CALL(cuGraphExecDestroy(graphExec));
}

cudaError_t CUDARTAPI cudaGraphExecUpdate(cudaGraphExec_t hGraphExec, cudaGraph_t hGraph,
                                          cudaGraphExecUpdateResultInfo *resultInfo) {
    GR_RT_CALL(cuGraphExecUpdate(hGraphExec, hGraph, (CUgraphExecUpdateResultInfo *)resultInfo));
}

cudaError_t CUDARTAPI cudaGraphNodeSetEnabled(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode,
                                              unsigned int isEnabled) {
    GR_RT_CALL(cuGraphNodeSetEnabled(hGraphExec, hNode, isEnabled));
}

cudaError_t CUDARTAPI cudaGraphNodeGetEnabled(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode,
                                              unsigned int *isEnabled) {
    GR_RT_CALL(cuGraphNodeGetEnabled(hGraphExec, hNode, isEnabled));
}
