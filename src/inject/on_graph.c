// SPDX-License-Identifier: Apache-2.0
// Graphs: made executable, changed, launched.
#include "inject/graphs.h"
#include "inject/handlers.h"
#include "inject/launches.h"
#include "inject/plant.h"
#include "inject/twins.h"
#include "inject/uses.h"

// A graph may run code of any module.
static void attach_modules(void) {
    gr_session_lock();
    for (size_t i = 0; i < gr_session.modules.len; i++)
        gr_module_attach(gr_session.modules.data[i]);
    gr_session_unlock();
}

CUresult gr_on_graph_launch(CUresult (*real)(CUgraphExec, CUstream), CUgraphExec graph, CUstream stream) {
    CUresult result;
    CUstream in = gr_call_stream(stream);
    bool captured = gr_stream_is_captured(in); // then it is run with the graph that this becomes a part of
    gr_use_seen(GR_USE_GRAPHS);
    if (!captured) {
        gr_plant_before(in);
        gr_use_stream(in);
    }
    if (gr_graphs_are_shown() && !captured && gr_graph_run(graph, in, &result))
        return result;
    attach_modules();
    if (!captured)
        gr_graph_comes(graph, stream);
    CUresult rc = real(graph, stream);
    if (rc == CUDA_SUCCESS && !captured && !gr_graph_count(graph, in))
        gr_session_remarkf("%s", GR_REMARK_GRAPH);
    return rc;
}

// ---- Executable graphs ----------------------------------------------------------------------------------------

static CUresult made(CUresult rc, const CUgraphExec *out, CUgraph graph) {
    if (rc == CUDA_SUCCESS)
        gr_graph_follow(*out, graph);
    return rc;
}

CUresult gr_on_graph_instantiate(CUresult (*real)(CUgraphExec *, CUgraph, CUgraphNode *, char *, size_t),
                                 CUgraphExec *out, CUgraph graph, CUgraphNode *bad, char *log, size_t size) {
    gr_twins_in_graph(graph);
    return made(real(out, graph, bad, log, size), out, graph);
}

CUresult gr_on_graph_instantiate_flags(CUresult (*real)(CUgraphExec *, CUgraph, unsigned long long),
                                       CUgraphExec *out, CUgraph graph, unsigned long long flags) {
    gr_twins_in_graph(graph);
    return made(real(out, graph, flags), out, graph);
}

CUresult
gr_on_graph_instantiate_params(CUresult (*real)(CUgraphExec *, CUgraph, CUDA_GRAPH_INSTANTIATE_PARAMS *),
                               CUgraphExec *out, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params) {
    gr_twins_in_graph(graph);
    return made(real(out, graph, params), out, graph);
}

CUresult
gr_on_graph_update_v1(CUresult (*real)(CUgraphExec, CUgraph, CUgraphNode *, CUgraphExecUpdateResult *),
                      CUgraphExec exec, CUgraph graph, CUgraphNode *bad, CUgraphExecUpdateResult *result) {
    gr_twins_in_graph(graph);
    return made(real(exec, graph, bad, result), &exec, graph);
}

CUresult gr_on_graph_update(CUresult (*real)(CUgraphExec, CUgraph, CUgraphExecUpdateResultInfo *),
                            CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info) {
    gr_twins_in_graph(graph);
    return made(real(exec, graph, info), &exec, graph);
}

CUresult gr_on_graph_exec_destroy(CUresult (*real)(CUgraphExec), CUgraphExec exec) {
    gr_graph_forget(exec);
    return real(exec);
}

// ---- Their nodes ----------------------------------------------------------------------------------------------

CUresult gr_on_graph_set_enabled(CUresult (*real)(CUgraphExec, CUgraphNode, unsigned), CUgraphExec exec,
                                 CUgraphNode node, unsigned yes) {
    CUresult rc = real(exec, node, yes);
    if (rc == CUDA_SUCCESS)
        gr_graph_enable(exec, node, yes != 0);
    return rc;
}

// Does to the clone of a node, by the function of a plain graph's nodes, what the driver did to the executable graph's.
#define CHANGE_CLONE(rc, exec, node, name, type, value)                                                      \
    do {                                                                                                     \
        CUgraphNode mine_ = (rc) == CUDA_SUCCESS ? gr_graph_node((exec), (node)) : NULL;                     \
        CUresult (*set_)(CUgraphNode, type) =                                                                \
            mine_ ? (CUresult(*)(CUgraphNode, type))gr_driver_function(name) : NULL;                         \
        if (mine_ && (!set_ || set_(mine_, (value)) != CUDA_SUCCESS))                                        \
            gr_graph_lose(exec);                                                                             \
        return (rc);                                                                                         \
    } while (0)

static CUresult lost(CUresult rc, CUgraphExec exec) {
    if (rc == CUDA_SUCCESS)
        gr_graph_lose(exec);
    return rc;
}

CUresult
gr_on_graph_set_kernel_v1(CUresult (*real)(CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS_v1 *),
                          CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *params) {
    CUDA_KERNEL_NODE_PARAMS_v1 mine = params ? *params : (CUDA_KERNEL_NODE_PARAMS_v1){0};
    mine.func = gr_twin_for_node(mine.func);
    return lost(real(exec, node, params ? &mine : NULL), exec);
}

// Puts the twin in the place of the node's kernel, in `p`, a structure of the later version.
static void use_twin(CUDA_KERNEL_NODE_PARAMS *p) {
    CUfunction f = p->func ? p->func : (CUfunction)p->kern, twin = gr_twin_for_node(f);
    if (twin != f) {
        p->func = twin;
        p->kern = NULL;
    }
}

// Notes the kernel that `p` names, a structure of either version.
#define NOTE_KERNEL(rc, exec, node, p)                                                                       \
    do {                                                                                                     \
        if ((rc) == CUDA_SUCCESS)                                                                            \
            gr_graph_set_kernel((exec), (node), (p)->func ? (p)->func : (CUfunction)(p)->kern,               \
                                (unsigned[]){(p)->gridDimX, (p)->gridDimY, (p)->gridDimZ},                   \
                                (unsigned[]){(p)->blockDimX, (p)->blockDimY, (p)->blockDimZ});               \
    } while (0)

CUresult gr_on_graph_set_kernel(CUresult (*real)(CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS *),
                                CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params) {
    CUDA_KERNEL_NODE_PARAMS mine;
    if (params) {
        mine = *params;
        use_twin(&mine);
        params = &mine;
    }
    CUresult rc = real(exec, node, params);
    NOTE_KERNEL(rc, exec, node, params);
    CHANGE_CLONE(rc, exec, node, "cuGraphKernelNodeSetParams", const CUDA_KERNEL_NODE_PARAMS *, params);
}

CUresult gr_on_graph_set_memcpy(CUresult (*real)(CUgraphExec, CUgraphNode, const CUDA_MEMCPY3D *, CUcontext),
                                CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *params,
                                CUcontext ctx) {
    CUresult rc = real(exec, node, params, ctx);
    CHANGE_CLONE(rc, exec, node, "cuGraphMemcpyNodeSetParams", const CUDA_MEMCPY3D *, params);
}

CUresult gr_on_graph_set_memset(CUresult (*real)(CUgraphExec, CUgraphNode, const CUDA_MEMSET_NODE_PARAMS *,
                                                 CUcontext),
                                CUgraphExec exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *params,
                                CUcontext ctx) {
    CUresult rc = real(exec, node, params, ctx);
    CHANGE_CLONE(rc, exec, node, "cuGraphMemsetNodeSetParams", const CUDA_MEMSET_NODE_PARAMS *, params);
}

CUresult gr_on_graph_set_host(CUresult (*real)(CUgraphExec, CUgraphNode, const CUDA_HOST_NODE_PARAMS *),
                              CUgraphExec exec, CUgraphNode node, const CUDA_HOST_NODE_PARAMS *params) {
    CUresult rc = real(exec, node, params);
    CHANGE_CLONE(rc, exec, node, "cuGraphHostNodeSetParams", const CUDA_HOST_NODE_PARAMS *, params);
}

CUresult gr_on_graph_set_child(CUresult (*real)(CUgraphExec, CUgraphNode, CUgraph), CUgraphExec exec,
                               CUgraphNode node, CUgraph child) {
    return lost(real(exec, node, child), exec);
}

CUresult gr_on_graph_set_record(CUresult (*real)(CUgraphExec, CUgraphNode, CUevent), CUgraphExec exec,
                                CUgraphNode node, CUevent event) {
    CUresult rc = real(exec, node, event);
    CHANGE_CLONE(rc, exec, node, "cuGraphEventRecordNodeSetEvent", CUevent, event);
}

CUresult gr_on_graph_set_wait(CUresult (*real)(CUgraphExec, CUgraphNode, CUevent), CUgraphExec exec,
                              CUgraphNode node, CUevent event) {
    CUresult rc = real(exec, node, event);
    CHANGE_CLONE(rc, exec, node, "cuGraphEventWaitNodeSetEvent", CUevent, event);
}

CUresult gr_on_graph_set_node(CUresult (*real)(CUgraphExec, CUgraphNode, CUgraphNodeParams *),
                              CUgraphExec exec, CUgraphNode node, CUgraphNodeParams *params) {
    CUresult rc = real(exec, node, params);
    if (rc == CUDA_SUCCESS && params->type == CU_GRAPH_NODE_TYPE_KERNEL)
        NOTE_KERNEL(rc, exec, node, &params->kernel);
    else if (rc == CUDA_SUCCESS && params->type == CU_GRAPH_NODE_TYPE_GRAPH)
        gr_graph_lose(exec);
    CHANGE_CLONE(rc, exec, node, "cuGraphNodeSetParams", CUgraphNodeParams *, params);
}
