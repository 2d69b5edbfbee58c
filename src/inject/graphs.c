// SPDX-License-Identifier: Apache-2.0
#include "inject/graphs.h"

#include "inject/launches.h"
#include "inject/memory.h"
#include "inject/recording.h"

#include <stdlib.h>
#include <string.h>

typedef struct GraphKernel {
    CUgraphNode node;
    CUfunction f;
    uint32_t grid[3], block[3];
    bool disabled;
} GraphKernel;

typedef struct Followed {
    VEC(GraphKernel) kernels; // in the order of their launches
    bool known;               // the list has all of them
    bool branches;
    // For an engine that sees what graphs do:
    CUgraph clone;             // NULL: it cannot be run node by node
    const char *why;           // not
    VEC(CUgraphNode) disabled; // of the clone
    CUevent ended;             // the end of its last launch: the next one waits for it, in whatever stream
} Followed;

static Map followed; // CUgraphExec -> Followed; with the session's lock

// A program uses an executable graph in one thread at a time, so what the map holds needs no lock.
static Followed *find(CUgraphExec exec) {
    gr_session_lock();
    Followed *f = gr_map_get_u64(&followed, (uintptr_t)exec);
    gr_session_unlock();
    return f;
}

static Followed *find_or_add(CUgraphExec exec) {
    Followed *f = find(exec);
    if (f || !(f = calloc(1, sizeof *f)))
        return f;
    gr_session_lock();
    bool kept = gr_map_put_u64(&followed, (uintptr_t)exec, f);
    gr_session_unlock();
    if (kept)
        return f;
    free(f);
    return NULL;
}

// ---- Its kernels ----------------------------------------------------------------------------------------------------

static bool note_kernel(Followed *f, CUgraphNode node) {
    DRIVER(cuGraphKernelNodeGetParams, (CUgraphNode, CUDA_KERNEL_NODE_PARAMS *));
    CUDA_KERNEL_NODE_PARAMS p;
    if (CALL(cuGraphKernelNodeGetParams, node, &p) != CUDA_SUCCESS)
        return false;
    GraphKernel k = {.node = node,
                     .f = p.func ? p.func : (CUfunction)p.kern,
                     .grid = {p.gridDimX, p.gridDimY, p.gridDimZ},
                     .block = {p.blockDimX, p.blockDimY, p.blockDimZ}};
    return gr_vec_push(&f->kernels, k);
}

// What a conditional node launches is decided on the device.
static bool note_kernels(Followed *f, CUgraph graph) {
    CUgraphNode *nodes;
    size_t n;
    bool ok = gr_graph_nodes(graph, &nodes, &n) == CUDA_SUCCESS;
    for (size_t i = 0; i < n && ok; i++) {
        CUgraphNodeType type = gr_node_type(nodes[i]);
        if (type == CU_GRAPH_NODE_TYPE_KERNEL)
            ok = note_kernel(f, nodes[i]);
        else if (type == CU_GRAPH_NODE_TYPE_GRAPH)
            ok = note_kernels(f, gr_node_child(nodes[i]));
        else
            ok = type <= CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
    }
    free(nodes);
    return ok;
}

static GraphKernel *kernel_of(Followed *f, CUgraphNode node) {
    for (size_t i = 0; i < f->kernels.len; i++)
        if (f->kernels.data[i].node == node)
            return &f->kernels.data[i];
    return NULL;
}

void gr_graph_set_kernel(CUgraphExec exec, CUgraphNode node, CUfunction f, const unsigned grid[3],
                         const unsigned block[3]) {
    Followed *followed_ = find(exec);
    GraphKernel *k = followed_ ? kernel_of(followed_, node) : NULL;
    if (k) {
        k->f = f;
        memcpy(k->grid, grid, sizeof k->grid);
        memcpy(k->block, block, sizeof k->block);
    } else if (followed_) {
        followed_->known = false;
    }
}

void gr_graph_comes(CUgraphExec exec, CUstream stream) {
    const Followed *f = find(exec);
    gr_work_comes((GrComing){.kind = f && !f->branches ? GR_COMING_GRAPH : GR_COMING_BRANCHING_GRAPH,
                             .stream = stream,
                             .async = true,
                             .size = f ? f->kernels.len : 0});
}

bool gr_graph_count(CUgraphExec exec, CUstream stream) {
    const Followed *f = find(exec);
    uint64_t n = 0;
    gr_session_lock();
    for (size_t i = 0; f && i < f->kernels.len; i++) {
        const GraphKernel *k = &f->kernels.data[i];
        if (k->disabled)
            continue;
        GrLaunch l = {.number = gr_launch_reserve(), .stream = stream};
        memcpy(l.grid, k->grid, sizeof l.grid);
        memcpy(l.block, k->block, sizeof l.block);
        Kernel *kernel = gr_kernel_of(k->f);
        gr_kernel_launched(kernel, &l, gr_launch_choice(kernel, l.number, true), CUDA_SUCCESS);
        n++;
    }
    if (gr_recording_is_on()) // one at least where they are not known
        gr_recording_left_out(n + !(f && f->known));
    gr_session_unlock();
    return f && f->known;
}

// ---- Its clone ------------------------------------------------------------------------------------------------------

static void drop_clone(Followed *f) {
    DRIVER(cuGraphDestroy, (CUgraph));
    if (f->clone)
        (void)CALL(cuGraphDestroy, f->clone);
    f->clone = NULL;
}

static void lose(Followed *f, const char *why) {
    if (f->clone)
        f->why = why;
    drop_clone(f);
}

static void make_clone(Followed *f, CUgraph graph) {
    DRIVER(cuGraphClone, (CUgraph *, CUgraph));
    drop_clone(f);
    f->why = f->disabled.len ? "it was updated while nodes were disabled" : gr_graph_why_not(graph);
    if (!f->why && CALL(cuGraphClone, &f->clone, graph) != CUDA_SUCCESS) {
        f->clone = NULL;
        f->why = "the driver does not clone it";
    }
}

void gr_graph_follow(CUgraphExec exec, CUgraph graph) {
    Followed *f = find_or_add(exec);
    if (!f)
        return; // launched as a whole, and not counted
    bool some_disabled = false;
    for (size_t i = 0; i < f->kernels.len; i++)
        some_disabled = some_disabled || f->kernels.data[i].disabled;
    f->kernels.len = 0;
    f->known = note_kernels(f, graph) && !some_disabled;
    f->branches = gr_session.engine->submitting && gr_graph_branches(graph);
    if (gr_graphs_are_shown())
        make_clone(f, graph);
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
    gr_vec_free(&f->kernels);
    gr_vec_free(&f->disabled);
    free(f);
}

void gr_graph_lose(CUgraphExec exec) {
    Followed *f = find(exec);
    if (!f)
        return;
    f->known = false;
    lose(f, "it was changed in a way that gpurace does not follow");
}

CUgraphNode gr_graph_node(CUgraphExec exec, CUgraphNode node) {
    Followed *f = find(exec);
    CUgraphNode mine = NULL;
    if (!f || !f->clone)
        return NULL;
    DRIVER(cuGraphNodeFindInClone, (CUgraphNode *, CUgraphNode, CUgraph));
    if (CALL(cuGraphNodeFindInClone, &mine, node, f->clone) == CUDA_SUCCESS && mine)
        return mine;
    lose(f, "a node of it was changed, and the clone of that node is not known");
    return NULL;
}

static void enable_clone(Followed *f, CUgraphNode node, bool yes) {
    size_t n = 0;
    for (size_t i = 0; i < f->disabled.len; i++)
        if (f->disabled.data[i] != node)
            f->disabled.data[n++] = f->disabled.data[i];
    f->disabled.len = n;
    if (!yes && !gr_vec_push(&f->disabled, node))
        lose(f, "memory ran out");
}

void gr_graph_enable(CUgraphExec exec, CUgraphNode node, bool yes) {
    CUgraphNode mine = gr_graph_node(exec, node);
    Followed *f = find(exec);
    GraphKernel *k = f ? kernel_of(f, node) : NULL;
    if (k)
        k->disabled = !yes;
    else if (f && gr_node_type(node) == CU_GRAPH_NODE_TYPE_KERNEL)
        f->known = false;
    if (f && mine)
        enable_clone(f, mine, yes);
}

// ---- Launching ------------------------------------------------------------------------------------------------------

bool gr_graph_run(CUgraphExec exec, CUstream stream, CUresult *result) {
    Followed *f = find(exec);
    if (!f || !f->clone) {
        if (gr_engine_wants_graphs())
            gr_session_notef(
                "a CUDA graph was launched as a whole, so engine %s did not see its launches: %s",
                gr_session.engine->name, f ? f->why : "its origin is not known");
        return false;
    }
    DRIVER(cuEventCreate, (CUevent *, unsigned));
    DRIVER(cuEventRecord, (CUevent, CUstream));
    DRIVER(cuStreamWaitEvent, (CUstream, CUevent, unsigned));
    *result = f->ended ? CALL(cuStreamWaitEvent, stream, f->ended, 0) : CUDA_SUCCESS;
    if (*result == CUDA_SUCCESS)
        *result = gr_graph_run_nodes(f->clone, f->disabled.data, f->disabled.len, stream);
    if (!f->ended && CALL(cuEventCreate, &f->ended, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS)
        f->ended = NULL;
    if (*result == CUDA_SUCCESS && f->ended)
        *result = CALL(cuEventRecord, f->ended, stream);
    return true;
}
