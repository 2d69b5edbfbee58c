// SPDX-License-Identifier: Apache-2.0
// graph — graphs, their nodes and edges. Edges are full dependencies. The ports that kernels may have for programmatic
// dependent launches permit a sooner start, which this driver does not use.
#include "driver/cuda/graph.h"
#include "driver/cuda/memory.h"
#include "driver/cuda/module.h"
#include "driver/cuda/queue.h"

#include <stdio.h>

// ---- Nodes -------------------------------------------------------------------------------------------------

void gr_node_clear(Node *n) {
    if (n->work)
        gr_item_free(n->work);
    n->work = NULL;
    free(n->arguments);
    n->arguments = NULL;
    if (n->child)
        gr_graph_free(n->child);
    n->child = NULL;
    if (n->memory)
        gr_graph_memory_unref(n->memory);
    n->memory = NULL;
}

Node *gr_node_new(Graph *g, CUgraphNodeType type, CtxRef ctx, Node *const *after, size_t n) {
    Node *node = calloc(1, sizeof *node);
    if (!node || !gr_cu_handle_add(node, HANDLE_NODE)) {
        free(node);
        return NULL;
    }
    node->type = type;
    node->id = ++gr_cu.next_id;
    node->graph = g;
    node->ctx = ctx;
    bool ok = gr_vec_push(&g->nodes, node) && gr_vec_reserve(&node->after, n);
    for (size_t i = 0; ok && i < n; i++)
        ok = gr_vec_push(&node->after, after[i]);
    if (ok)
        return node;
    gr_node_free(node);
    return NULL;
}

static void release(Node *n) {
    gr_node_clear(n);
    gr_vec_free(&n->after);
    gr_vec_free(&n->steps);
    gr_cu_handle_remove(n);
    free(n);
}

void gr_node_free(Node *n) {
    Graph *g = n->graph;
    size_t keep = 0;
    for (size_t i = 0; i < g->nodes.len; i++) {
        gr_vec_drop(&g->nodes.data[i]->after, n);
        if (g->nodes.data[i] != n)
            g->nodes.data[keep++] = g->nodes.data[i];
    }
    g->nodes.len = keep;
    release(n);
}

CUresult gr_node_set_arguments(Node *n) {
    const VmParam *layout;
    uint32_t total;
    size_t count = gr_vm_func_params(n->work->kernel.func->vm, &layout, &total);
    void **arguments = calloc(count + 1, sizeof *arguments);
    if (!arguments)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < count; i++)
        arguments[i] = (char *)n->work->owned + layout[i].offset;
    free(n->arguments);
    n->arguments = arguments;
    return CUDA_SUCCESS;
}

bool gr_node_is_alive(const Node *n) {
    return !n->work || n->work->kind != ITEM_KERNEL || gr_cu_handle(n->work->kernel.func, HANDLE_FUNC);
}

CUresult gr_node_set(Node *n, const Node *from) {
    if (!gr_node_is_alive(from))
        return CUDA_ERROR_INVALID_HANDLE;
    Item *work = from->work ? gr_item_clone(from->work) : NULL;
    Graph *child = NULL;
    CUresult r = from->work && !work ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
    if (r == CUDA_SUCCESS && from->child)
        r = gr_graph_clone(from->child, &child);
    if (r != CUDA_SUCCESS) {
        if (work)
            gr_item_free(work);
        return r;
    }
    if (from->memory)
        gr_graph_memory_ref(from->memory);
    gr_node_clear(n);
    n->ctx = from->ctx;
    n->work = work;
    n->copy = from->copy;
    n->event = from->event;
    n->child = child;
    n->memory = from->memory;
    n->address = from->address;
    return work && work->kind == ITEM_KERNEL ? gr_node_set_arguments(n) : CUDA_SUCCESS;
}

// ---- Graphs ------------------------------------------------------------------------------------------------

Graph *gr_graph_new(void) {
    Graph *g = calloc(1, sizeof *g);
    if (!g || !gr_cu_handle_add(g, HANDLE_GRAPH)) {
        free(g);
        return NULL;
    }
    return g;
}

void gr_graph_free(Graph *g) {
    for (size_t i = 0; i < g->nodes.len; i++)
        release(g->nodes.data[i]);
    gr_vec_free(&g->nodes);
    gr_cu_handle_remove(g);
    free(g);
}

bool gr_graph_has(const Graph *g, const Node *n) { return n && n->graph == g; }

static size_t index_of(const Graph *g, const Node *n) {
    size_t i = 0;
    while (i < g->nodes.len && g->nodes.data[i] != n)
        i++;
    return i;
}

CUresult gr_graph_clone(const Graph *g, Graph **out) {
    Graph *copy = gr_graph_new();
    CUresult r = copy ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < g->nodes.len && r == CUDA_SUCCESS; i++) {
        const Node *from = g->nodes.data[i];
        Node *n = gr_node_new(copy, from->type, from->ctx, NULL, 0);
        r = n ? gr_node_set(n, from) : CUDA_ERROR_OUT_OF_MEMORY;
        if (r == CUDA_SUCCESS)
            n->origin = from->id;
    }
    for (size_t i = 0; i < g->nodes.len && r == CUDA_SUCCESS; i++) {
        const Node *from = g->nodes.data[i];
        for (size_t k = 0; k < from->after.len && r == CUDA_SUCCESS; k++) {
            Node *after = copy->nodes.data[index_of(g, from->after.data[k])];
            r = gr_vec_push(&copy->nodes.data[i]->after, after) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    if (r != CUDA_SUCCESS && copy)
        gr_graph_free(copy);
    else
        *out = copy;
    return r;
}

CUresult cuGraphCreate(CUgraph *out, unsigned int flags) {
    API_ENTER(API_INIT, NULL);
    if (!out || flags)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    Graph *g = gr_graph_new();
    if (g)
        *out = (CUgraph)g;
    return gr_cu_leave(g ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

CUresult cuGraphDestroy(CUgraph handle) {
    API_ENTER(API_INIT, NULL);
    Graph *g = gr_cu_handle(handle, HANDLE_GRAPH);
    if (!g)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    gr_graph_free(g);
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuGraphClone(CUgraph *out, CUgraph original) {
    API_ENTER(API_INIT, NULL);
    Graph *g = gr_cu_handle(original, HANDLE_GRAPH), *copy = NULL;
    CUresult r = g && out ? gr_graph_clone(g, &copy) : CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *out = (CUgraph)copy;
    return gr_cu_leave(r);
}

static Node *find_clone(const Graph *g, const Node *original) {
    for (size_t i = 0; i < g->nodes.len; i++) {
        Node *n = g->nodes.data[i];
        Node *inside = n->child ? find_clone(n->child, original) : NULL;
        if (n->origin == original->id || inside)
            return inside ? inside : n;
    }
    return NULL;
}

Node *gr_exec_node(const Exec *e, const Node *n) { return find_clone(e->graph, n); }

CUresult cuGraphNodeFindInClone(CUgraphNode *out, CUgraphNode original, CUgraph clone) {
    API_ENTER(API_INIT, NULL);
    const Graph *g = gr_cu_handle(clone, HANDLE_GRAPH);
    const Node *n = gr_cu_handle(original, HANDLE_NODE);
    Node *found = g && n ? find_clone(g, n) : NULL;
    if (found && out)
        *out = (CUgraphNode)found;
    return gr_cu_leave(found && out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuGraphDestroyNode(CUgraphNode handle) {
    API_ENTER(API_INIT, NULL);
    Node *n = gr_cu_handle(handle, HANDLE_NODE);
    if (!n)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    gr_node_free(n);
    return gr_cu_leave(CUDA_SUCCESS);
}

// ---- What is asked -----------------------------------------------------------------------------------------

// CUDA's way to return lists: *n is how many there are, or how many fit; places that stay empty are NULL.
typedef struct List {
    CUgraphNode *nodes, *to; // `to`: for edges
    size_t *n, room, count;
} List;

static void put(List *l, Node *node, Node *to) {
    if (l->nodes && l->count < l->room)
        l->nodes[l->count] = (CUgraphNode)node;
    if (l->to && l->count < l->room)
        l->to[l->count] = (CUgraphNode)to;
    l->count++;
}

static CUresult finish_list(List *l, CUgraphEdgeData *edges) {
    bool given = l->nodes || l->to;
    size_t filled = l->count < l->room ? l->count : l->room;
    for (size_t i = filled; given && i < l->room; i++) {
        if (l->nodes)
            l->nodes[i] = NULL;
        if (l->to)
            l->to[i] = NULL;
    }
    if (given && edges)
        memset(edges, 0, filled * sizeof *edges);
    *l->n = given ? filled : l->count;
    return CUDA_SUCCESS;
}

#define LIST(nodes, to, n)                                                                                   \
    { (nodes), (to), (n), *(n), 0 }

static bool is_root(const Node *n) { return n->after.len == 0; }

static CUresult list_nodes(CUgraph handle, CUgraphNode *nodes, size_t *n, bool only_roots) {
    API_ENTER(API_INIT, NULL);
    const Graph *g = gr_cu_handle(handle, HANDLE_GRAPH);
    if (!g || !n)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    List l = LIST(nodes, NULL, n);
    for (size_t i = 0; i < g->nodes.len; i++) {
        if (!only_roots || is_root(g->nodes.data[i]))
            put(&l, g->nodes.data[i], NULL);
    }
    return gr_cu_leave(finish_list(&l, NULL));
}

CUresult cuGraphGetNodes(CUgraph g, CUgraphNode *nodes, size_t *n) { return list_nodes(g, nodes, n, false); }
CUresult cuGraphGetRootNodes(CUgraph g, CUgraphNode *nodes, size_t *n) {
    return list_nodes(g, nodes, n, true);
}

CUresult cuGraphGetEdges_v2(CUgraph handle, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *edges,
                            size_t *n) {
    API_ENTER(API_INIT, NULL);
    const Graph *g = gr_cu_handle(handle, HANDLE_GRAPH);
    if (!g || !n || !from != !to)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    List l = LIST(from, to, n);
    for (size_t i = 0; i < g->nodes.len; i++) {
        Node *node = g->nodes.data[i];
        for (size_t k = 0; k < node->after.len; k++)
            put(&l, node->after.data[k], node);
    }
    return gr_cu_leave(finish_list(&l, edges));
}

CUresult cuGraphGetEdges(CUgraph g, CUgraphNode *from, CUgraphNode *to, size_t *n) {
    return cuGraphGetEdges_v2(g, from, to, NULL, n);
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode handle, CUgraphNode *nodes, CUgraphEdgeData *edges,
                                       size_t *n) {
    API_ENTER(API_INIT, NULL);
    const Node *node = gr_cu_handle(handle, HANDLE_NODE);
    if (!node || !n)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    List l = LIST(nodes, NULL, n);
    for (size_t i = 0; i < node->after.len; i++)
        put(&l, node->after.data[i], NULL);
    return gr_cu_leave(finish_list(&l, edges));
}

CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *nodes, size_t *n) {
    return cuGraphNodeGetDependencies_v2(node, nodes, NULL, n);
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode handle, CUgraphNode *nodes, CUgraphEdgeData *edges,
                                         size_t *n) {
    API_ENTER(API_INIT, NULL);
    const Node *node = gr_cu_handle(handle, HANDLE_NODE);
    if (!node || !n)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    List l = LIST(nodes, NULL, n);
    for (size_t i = 0; i < node->graph->nodes.len; i++) {
        Node *other = node->graph->nodes.data[i];
        for (size_t k = 0; k < other->after.len; k++) {
            if (other->after.data[k] == node)
                put(&l, other, NULL);
        }
    }
    return gr_cu_leave(finish_list(&l, edges));
}

CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *nodes, size_t *n) {
    return cuGraphNodeGetDependentNodes_v2(node, nodes, NULL, n);
}

CUresult cuGraphNodeGetType(CUgraphNode handle, CUgraphNodeType *type) {
    API_ENTER(API_INIT, NULL);
    const Node *n = gr_cu_handle(handle, HANDLE_NODE);
    if (n && type)
        *type = n->type;
    return gr_cu_leave(n && type ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuGraphDebugDotPrint(CUgraph handle, const char *path, unsigned int flags) {
    (void)flags; // always the same, short form
    static const char *const types[] = {"kernel",     "memcpy",       "memset", "host", "graph", "empty",
                                        "wait event", "event record", "signal", "wait", "alloc", "free"};
    API_ENTER(API_INIT, NULL);
    const Graph *g = gr_cu_handle(handle, HANDLE_GRAPH);
    FILE *f = g && path ? fopen(path, "we") : NULL;
    if (!f)
        return gr_cu_leave(g && path ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_ERROR_INVALID_VALUE);
    fprintf(f, "digraph dot {\n");
    for (size_t i = 0; i < g->nodes.len; i++) {
        const Node *n = g->nodes.data[i];
        bool known = (unsigned)n->type < sizeof types / sizeof *types;
        bool kernel = n->type == CU_GRAPH_NODE_TYPE_KERNEL && gr_node_is_alive(n);
        fprintf(f, "  node_%zu [label=\"%zu %s%s%s\"];\n", i, i, known ? types[n->type] : "operation",
                kernel ? " " : "", kernel ? gr_vm_func_name(n->work->kernel.func->vm) : "");
        for (size_t k = 0; k < n->after.len; k++)
            fprintf(f, "  node_%zu -> node_%zu;\n", index_of(g, n->after.data[k]), i);
    }
    fprintf(f, "}\n");
    bool failed = fclose(f) != 0;
    return gr_cu_leave(failed ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_SUCCESS);
}

// ---- Edges -------------------------------------------------------------------------------------------------

static bool has_edge(const Node *to, const Node *from) {
    for (size_t i = 0; i < to->after.len; i++) {
        if (to->after.data[i] == from)
            return true;
    }
    return false;
}

static CUresult change_edges(CUgraph handle, const CUgraphNode *from, const CUgraphNode *to, size_t n,
                             bool add) {
    API_ENTER(API_INIT, NULL);
    const Graph *g = gr_cu_handle(handle, HANDLE_GRAPH);
    CUresult r = g && (n == 0 || (from && to)) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < n && r == CUDA_SUCCESS; i++) {
        Node *a = gr_cu_handle(from[i], HANDLE_NODE), *b = gr_cu_handle(to[i], HANDLE_NODE);
        if (!gr_graph_has(g, a) || !gr_graph_has(g, b) || a == b || has_edge(b, a) == add)
            r = CUDA_ERROR_INVALID_VALUE;
        else if (!add)
            gr_vec_drop(&b->after, a);
        else if (!gr_vec_push(&b->after, a))
            r = CUDA_ERROR_OUT_OF_MEMORY;
    }
    return gr_cu_leave(r);
}

CUresult cuGraphAddDependencies_v2(CUgraph g, const CUgraphNode *from, const CUgraphNode *to,
                                   const CUgraphEdgeData *edges, size_t n) {
    (void)edges;
    return change_edges(g, from, to, n, true);
}

CUresult cuGraphAddDependencies(CUgraph g, const CUgraphNode *from, const CUgraphNode *to, size_t n) {
    return change_edges(g, from, to, n, true);
}

CUresult cuGraphRemoveDependencies_v2(CUgraph g, const CUgraphNode *from, const CUgraphNode *to,
                                      const CUgraphEdgeData *edges, size_t n) {
    (void)edges;
    return change_edges(g, from, to, n, false);
}

CUresult cuGraphRemoveDependencies(CUgraph g, const CUgraphNode *from, const CUgraphNode *to, size_t n) {
    return change_edges(g, from, to, n, false);
}
