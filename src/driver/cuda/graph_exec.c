// SPDX-License-Identifier: Apache-2.0
// graph_exec — executable graphs: instantiated, launched, updated.
//
// A launch turns the graph, child graphs included, into steps in an order that respects the edges, and submits them to
// streams that exist for that launch only. The launching stream waits for all steps for which no other step waits.
// Launches of one executable graph follow each other, whatever streams they are in.
#include "driver/cuda/capture.h"
#include "driver/cuda/graph.h"
#include "driver/cuda/memory.h"
#include "driver/cuda/queue.h"
#include "driver/cuda/stream.h"

enum { MAX_LANES = 32 }; // streams of one launch; more would take time at each choice of what runs next

typedef struct Step {
    Node *node;
    VEC(uint32_t) after;
    uint32_t lane;
    bool awaited; // by a step of another lane, or by the end
    Mark *mark;
} Step;

typedef struct Lane {
    Stream *stream;
    uint32_t last; // its last step
} Lane;

typedef struct Plan {
    VEC(Step) steps;
    VEC(Lane) lanes;
} Plan;

// ---- Flattening --------------------------------------------------------------------------------------------

static void free_plan(Plan *p) {
    for (size_t i = 0; i < p->steps.len; i++) {
        gr_vec_free(&p->steps.data[i].after);
        gr_mark_unref(p->steps.data[i].mark);
    }
    gr_vec_free(&p->steps);
    gr_vec_free(&p->lanes);
}

typedef VEC(uint32_t) Numbers;

static bool add_all(Numbers *to, const uint32_t *from, size_t n) {
    for (size_t i = 0; i < n; i++) {
        bool there = false;
        for (size_t k = 0; k < to->len && !there; k++)
            there = to->data[k] == from[i];
        if (!there && !gr_vec_push(to, from[i]))
            return false;
    }
    return true;
}

static bool add_step(Plan *p, Node *n, const Numbers *after) {
    Step s = {.node = n};
    if (!gr_vec_reserve(&s.after, after->len) || !gr_vec_push(&p->steps, s)) {
        gr_vec_free(&s.after);
        return false;
    }
    Step *step = &p->steps.data[p->steps.len - 1];
    for (size_t i = 0; i < after->len; i++)
        (void)gr_vec_push(&step->after, after->data[i]);
    n->steps.len = 0;
    return gr_vec_push(&n->steps, (uint32_t)(p->steps.len - 1));
}

static bool is_ready(const Node *n) {
    bool yes = !n->placed;
    for (size_t d = 0; d < n->after.len && yes; d++)
        yes = n->after.data[d]->placed;
    return yes;
}

static CUresult flatten(Plan *p, Graph *g, const Numbers *entry, Numbers *ends);

static CUresult place(Plan *p, Node *n, const Numbers *entry) {
    Numbers after = {0}, inside = {0};
    bool ok = n->after.len || add_all(&after, entry->data, entry->len);
    for (size_t d = 0; d < n->after.len && ok; d++) {
        Node *before = n->after.data[d];
        ok = add_all(&after, before->steps.data, before->steps.len);
        before->inner = true;
    }
    CUresult r = ok ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    n->placed = true;
    if (r == CUDA_SUCCESS && n->child && n->child->nodes.len) {
        r = flatten(p, n->child, &after, &inside);
        n->steps.len = 0;
        for (size_t i = 0; i < inside.len && r == CUDA_SUCCESS; i++)
            r = gr_vec_push(&n->steps, inside.data[i]) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    } else if (r == CUDA_SUCCESS && !add_step(p, n, &after)) {
        r = CUDA_ERROR_OUT_OF_MEMORY;
    }
    gr_vec_free(&after);
    gr_vec_free(&inside);
    return r;
}

// Appends the nodes of `g`, each after those it depends on; roots come after `entry`. *ends: those nothing depends on.
// CUDA_ERROR_INVALID_VALUE when the edges make a circle.
static CUresult flatten(Plan *p, Graph *g, const Numbers *entry, Numbers *ends) {
    CUresult r = CUDA_SUCCESS;
    size_t left = g->nodes.len;
    for (size_t i = 0; i < g->nodes.len; i++)
        g->nodes.data[i]->placed = g->nodes.data[i]->inner = false;
    for (bool moved = true; r == CUDA_SUCCESS && moved;) { // once, if they were created in order
        moved = false;
        for (size_t i = 0; i < g->nodes.len && r == CUDA_SUCCESS; i++) {
            if (!is_ready(g->nodes.data[i]))
                continue;
            r = place(p, g->nodes.data[i], entry);
            moved = left-- > 1;
        }
    }
    if (r == CUDA_SUCCESS && left)
        r = CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < g->nodes.len && r == CUDA_SUCCESS; i++) {
        const Node *n = g->nodes.data[i];
        if (!n->inner && !add_all(ends, n->steps.data, n->steps.len))
            r = CUDA_ERROR_OUT_OF_MEMORY;
    }
    return r;
}

// ---- Launching ---------------------------------------------------------------------------------------------

// Makes the item that does a node's work.
static CUresult make_item(const Node *n, Item **out) {
    *out = NULL;
    if (!gr_ctx_of(n->ctx))
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (n->disabled) {
        *out = gr_item_new(ITEM_BARRIER);
        return *out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    }
    switch (n->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        if (!gr_node_is_alive(n))
            return CUDA_ERROR_INVALID_HANDLE;
        *out = gr_item_clone(n->work);
        break;
    case CU_GRAPH_NODE_TYPE_MEMSET:
        if (!gr_mem_device_view(n->work->fill.addr, 1)) // freed meanwhile
            return CUDA_ERROR_INVALID_VALUE;
        *out = gr_item_clone(n->work);
        break;
    case CU_GRAPH_NODE_TYPE_HOST:
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: *out = gr_item_clone(n->work); break;
    case CU_GRAPH_NODE_TYPE_MEMCPY: return gr_copy_item(&n->copy, out);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: {
        if (!gr_cu_handle(n->event, HANDLE_EVENT))
            return CUDA_ERROR_INVALID_HANDLE;
        bool record = n->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD;
        *out = gr_item_new(record ? ITEM_RECORD : n->event->mark ? ITEM_WAIT : ITEM_BARRIER);
        if (!*out)
            return CUDA_ERROR_OUT_OF_MEMORY;
        if (record) {
            Mark *m = gr_mark_new(n->ctx.ctx->dev);
            if (!m)
                return CUDA_ERROR_OUT_OF_MEMORY; // an item without a mark is freed as it is
            gr_event_set(n->event, m);
        }
        if ((*out)->kind != ITEM_BARRIER)
            (*out)->mark = gr_mark_ref(n->event->mark);
        break;
    }
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: *out = gr_graph_memory_item(n->memory, ITEM_ALLOC); break;
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        *out = gr_graph_memory_item(gr_graph_memory(n->address), ITEM_FREE);
        break;
    default: *out = gr_item_new(ITEM_BARRIER); break; // empty
    }
    if (*out)
        (*out)->node = true;
    return *out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

// ---- Memory that nodes allocate and free ---------------------------------------------------------------------

static GraphMemory *allocated_by(const Node *n) {
    return n->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC ? n->memory : NULL;
}

// Memory of an earlier launch must be free by now, or this launch must free it. What the graph frees must be allocated.
static CUresult check_memory(const Exec *e, const Plan *p) {
    static uint64_t launches;
    launches++;
    for (size_t i = 0; i < p->steps.len; i++) {
        GraphMemory *m = allocated_by(p->steps.data[i].node);
        if (m && m->allocated && !(e->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH))
            return CUDA_ERROR_INVALID_VALUE;
        if (m)
            m->launch = launches;
    }
    for (size_t i = 0; i < p->steps.len; i++) {
        const Node *n = p->steps.data[i].node;
        const GraphMemory *m = gr_graph_memory(n->address);
        if (n->type == CU_GRAPH_NODE_TYPE_MEM_FREE && !(m && (m->allocated || m->launch == launches)))
            return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

// Frees in the stream's order, as cuMemFreeAsync does.
static CUresult free_unfreed(const Plan *p, Stream *s) {
    for (size_t i = 0; i < p->steps.len; i++) {
        GraphMemory *m = allocated_by(p->steps.data[i].node);
        Item *it = m && m->allocated ? gr_graph_memory_item(m, ITEM_FREE) : NULL;
        if (m && m->allocated && !it)
            return CUDA_ERROR_OUT_OF_MEMORY;
        if (!it)
            continue;
        m->allocated = false;
        gr_queue_submit(s, it);
    }
    return CUDA_SUCCESS;
}

static void note_memory(const Plan *p) {
    for (size_t i = 0; i < p->steps.len; i++)
        if (allocated_by(p->steps.data[i].node))
            p->steps.data[i].node->memory->allocated = true;
    for (size_t i = 0; i < p->steps.len; i++)
        if (p->steps.data[i].node->type == CU_GRAPH_NODE_TYPE_MEM_FREE)
            gr_graph_memory(p->steps.data[i].node->address)->allocated = false;
}

// ---- Submitting ----------------------------------------------------------------------------------------------

static CUresult submit_mark(Stream *s, ItemKind kind, Mark *m) {
    Item *it = gr_item_new(kind);
    if (!it)
        return CUDA_ERROR_OUT_OF_MEMORY;
    it->mark = gr_mark_ref(m);
    gr_queue_submit(s, it);
    return CUDA_SUCCESS;
}

// Chooses a stream for each step: that of the first step for which it waits, if that is the stream's last one.
static CUresult choose_lanes(Plan *p) {
    for (uint32_t i = 0; i < p->steps.len; i++) {
        Step *s = &p->steps.data[i];
        uint32_t lane = UINT32_MAX;
        for (uint32_t k = 0; k < p->lanes.len && lane == UINT32_MAX; k++) {
            bool same = p->lanes.data[k].stream->ctx == s->node->ctx.ctx;
            for (size_t d = 0; d < s->after.len && same; d++) {
                if (p->lanes.data[k].last == s->after.data[d])
                    lane = k;
            }
            if (same && p->lanes.len >= MAX_LANES && k == i % MAX_LANES)
                lane = k;
        }
        if (lane == UINT32_MAX) {
            Stream *stream = gr_stream_new(s->node->ctx.ctx, CU_STREAM_NON_BLOCKING, 0);
            if (!stream || !gr_vec_push(&p->lanes, ((Lane){stream, i})))
                return CUDA_ERROR_OUT_OF_MEMORY;
            lane = (uint32_t)p->lanes.len - 1;
        }
        s->lane = lane;
        p->lanes.data[lane].last = i;
        for (size_t d = 0; d < s->after.len; d++)
            p->steps.data[s->after.data[d]].awaited |= p->steps.data[s->after.data[d]].lane != lane;
    }
    return CUDA_SUCCESS;
}

static CUresult submit_step(Plan *p, Step *s, Item *it, Mark *start) {
    Stream *stream = p->lanes.data[s->lane].stream;
    CUresult r = CUDA_SUCCESS;
    if (s->after.len == 0)
        r = submit_mark(stream, ITEM_WAIT, start);
    for (size_t d = 0; d < s->after.len && r == CUDA_SUCCESS; d++) {
        const Step *before = &p->steps.data[s->after.data[d]];
        if (before->lane != s->lane)
            r = submit_mark(stream, ITEM_WAIT, before->mark);
    }
    gr_queue_submit(stream, it);
    if (r == CUDA_SUCCESS && s->awaited) {
        s->mark = gr_mark_new(stream->ctx->dev);
        r = s->mark ? submit_mark(stream, ITEM_RECORD, s->mark) : CUDA_ERROR_OUT_OF_MEMORY;
    }
    return r;
}

static CUresult submit_plan(Exec *e, Plan *p, const Numbers *ends, Item **items, Stream *s) {
    Mark *start = gr_mark_new(s->ctx->dev), *end = gr_mark_new(s->ctx->dev);
    CUresult r = start && end ? choose_lanes(p) : CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < ends->len; i++)
        p->steps.data[ends->data[i]].awaited = true;
    if (r == CUDA_SUCCESS && e->end)
        r = submit_mark(s, ITEM_WAIT, e->end);
    if (r == CUDA_SUCCESS)
        r = free_unfreed(p, s);
    if (r == CUDA_SUCCESS)
        note_memory(p);
    if (r == CUDA_SUCCESS)
        r = submit_mark(s, ITEM_RECORD, start);
    for (size_t i = 0; i < p->steps.len && r == CUDA_SUCCESS; i++) {
        r = submit_step(p, &p->steps.data[i], items[i], start);
        items[i] = NULL;
    }
    for (size_t i = 0; i < ends->len && r == CUDA_SUCCESS; i++)
        r = submit_mark(s, ITEM_WAIT, p->steps.data[ends->data[i]].mark);
    if (r == CUDA_SUCCESS)
        r = submit_mark(s, ITEM_RECORD, end);
    if (r == CUDA_SUCCESS) {
        gr_mark_unref(e->end);
        e->end = gr_mark_ref(end);
    }
    // The streams go when their work has ended.
    for (size_t i = 0; i < p->lanes.len; i++)
        gr_stream_free(p->lanes.data[i].stream);
    if (start)
        gr_mark_unref(start);
    if (end)
        gr_mark_unref(end);
    return r;
}

static CUresult launch_exec(Exec *e, Stream *s) {
    Plan p = {0};
    Numbers none = {0}, ends = {0};
    CUresult r = flatten(&p, e->graph, &none, &ends);
    if (r == CUDA_SUCCESS)
        r = check_memory(e, &p);
    Item **items = calloc(p.steps.len + 1, sizeof(Item *));
    if (r == CUDA_SUCCESS && !items)
        r = CUDA_ERROR_OUT_OF_MEMORY;
    // Either all steps are submitted, or none.
    for (size_t i = 0; i < p.steps.len && r == CUDA_SUCCESS; i++)
        r = make_item(p.steps.data[i].node, &items[i]);
    if (r == CUDA_SUCCESS && p.steps.len)
        r = submit_plan(e, &p, &ends, items, s);
    for (size_t i = 0; items && i < p.steps.len; i++) {
        if (items[i] && items[i]->kind == ITEM_RECORD && items[i]->mark)
            items[i]->mark->done = true; // the event has it already
        if (items[i])
            gr_item_free(items[i]);
    }
    free(items);
    gr_vec_free(&ends);
    free_plan(&p);
    return r;
}

static CUresult launch(CUgraphExec handle, CUstream stream, bool really) {
    Ctx *c = NULL;
    Stream *s = NULL;
    API_ENTER(API_CONTEXT, &c);
    Exec *e = gr_cu_handle(handle, HANDLE_EXEC);
    CUresult r = e ? gr_stream_get(c, stream, &s) : CUDA_ERROR_INVALID_VALUE;
    if (r ==
        CUDA_SUCCESS) // a capture does not take it either, as observed on an H200: that is what child nodes are for
        r = gr_capture_stream_forbids(s);
    return gr_cu_leave(r == CUDA_SUCCESS && really ? launch_exec(e, s) : r);
}

CUresult cuGraphLaunch(CUgraphExec e, CUstream s) { return launch(e, s, true); }
CUresult cuGraphUpload(CUgraphExec e, CUstream s) { return launch(e, s, false); } // nothing is to be prepared

// ---- Instantiating -----------------------------------------------------------------------------------------

// The nodes must have an order, and each must be able to do its work.
static CUresult check(Graph *g) {
    Plan p = {0};
    Numbers none = {0}, ends = {0};
    CUresult r = flatten(&p, g, &none, &ends);
    gr_vec_free(&ends);
    free_plan(&p);
    return r;
}

static CUresult instantiate(CUgraphExec *out, CUgraph handle, cuuint64_t flags) {
    API_ENTER(API_CONTEXT, NULL);
    const cuuint64_t known = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                             CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
                             CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    const Graph *g = gr_cu_handle(handle, HANDLE_GRAPH);
    if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) {
        gr_cu_hook_absent("graphs that kernels launch");
        return gr_cu_leave(CUDA_ERROR_NOT_SUPPORTED);
    }
    if (!g || !out || (flags & ~known))
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    Graph *clone = NULL;
    CUresult r = gr_graph_clone(g, &clone);
    if (r != CUDA_SUCCESS)
        return gr_cu_leave(r);
    r = check(clone);
    Exec *e = r == CUDA_SUCCESS ? calloc(1, sizeof *e) : NULL;
    if (!e || !gr_cu_handle_add(e, HANDLE_EXEC)) {
        free(e);
        gr_graph_free(clone);
        return gr_cu_leave(r != CUDA_SUCCESS ? r : CUDA_ERROR_OUT_OF_MEMORY);
    }
    e->graph = clone;
    e->flags = flags;
    *out = (CUgraphExec)e;
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *out, CUgraph g, unsigned long long flags) {
    return instantiate(out, g, flags);
}

CUresult cuGraphInstantiate_v2(CUgraphExec *out, CUgraph g, CUgraphNode *bad, char *log, size_t size) {
    if (bad)
        *bad = NULL;
    if (log && size)
        log[0] = 0;
    return instantiate(out, g, 0);
}

CUresult cuGraphInstantiate(CUgraphExec *out, CUgraph g, CUgraphNode *bad, char *log, size_t size) {
    return cuGraphInstantiate_v2(out, g, bad, log, size);
}

CUresult cuGraphInstantiateWithParams(CUgraphExec *out, CUgraph g, CUDA_GRAPH_INSTANTIATE_PARAMS *params) {
    if (!params)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = instantiate(out, g, params->flags);
    params->hErrNode_out = NULL;
    params->result_out = r == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_ERROR;
    return r;
}

CUresult cuGraphExecGetFlags(CUgraphExec handle, cuuint64_t *flags) {
    API_ENTER(API_INIT, NULL);
    const Exec *e = gr_cu_handle(handle, HANDLE_EXEC);
    if (e && flags)
        *flags = e->flags;
    return gr_cu_leave(e && flags ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuGraphExecDestroy(CUgraphExec handle) {
    API_ENTER(API_INIT, NULL);
    Exec *e = gr_cu_handle(handle, HANDLE_EXEC);
    if (!e)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    gr_cu_handle_remove(e);
    gr_graph_free(e->graph);
    gr_mark_unref(e->end);
    free(e);
    return gr_cu_leave(CUDA_SUCCESS);
}

// ---- Updating ----------------------------------------------------------------------------------------------

static size_t position(const Graph *g, const Node *n) {
    size_t i = 0;
    while (i < g->nodes.len && g->nodes.data[i] != n)
        i++;
    return i;
}

// Whether the nodes, in order of creation, are of the same types and have the same edges.
static bool compare(const Graph *a, const Graph *b, CUgraphExecUpdateResultInfo *info) {
    info->result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    if (a->nodes.len != b->nodes.len)
        return false;
    for (size_t i = 0; i < a->nodes.len; i++) {
        const Node *x = a->nodes.data[i], *y = b->nodes.data[i];
        info->errorNode = (CUgraphNode)(uintptr_t)y;
        info->result = CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
        if (x->type != y->type)
            return false;
        info->result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
        if (x->after.len != y->after.len)
            return false;
        for (size_t k = 0; k < x->after.len; k++) {
            if (position(a, x->after.data[k]) != position(b, y->after.data[k]))
                return false;
        }
        if (x->child && !compare(x->child, y->child, info))
            return false;
    }
    *info = (CUgraphExecUpdateResultInfo){.result = CU_GRAPH_EXEC_UPDATE_SUCCESS};
    return true;
}

// The executable keeps its nodes, so that handles of the graph it came from go on naming them.
static CUresult update(Graph *to, const Graph *from) {
    CUresult r = CUDA_SUCCESS;
    for (size_t i = 0; i < to->nodes.len && r == CUDA_SUCCESS; i++) {
        Node *n = to->nodes.data[i];
        r = n->child ? update(n->child, from->nodes.data[i]->child) : gr_node_set(n, from->nodes.data[i]);
    }
    return r;
}

CUresult cuGraphExecUpdate_v2(CUgraphExec handle, CUgraph graph, CUgraphExecUpdateResultInfo *info) {
    API_ENTER(API_INIT, NULL);
    Exec *e = gr_cu_handle(handle, HANDLE_EXEC);
    const Graph *g = gr_cu_handle(graph, HANDLE_GRAPH);
    if (!e || !g || !info)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    *info = (CUgraphExecUpdateResultInfo){0};
    if (!compare(e->graph, g, info))
        return gr_cu_leave(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    return gr_cu_leave(update(e->graph, g));
}

CUresult cuGraphExecUpdate(CUgraphExec handle, CUgraph graph, CUgraphNode *bad,
                           CUgraphExecUpdateResult *result) {
    CUgraphExecUpdateResultInfo info = {.result = CU_GRAPH_EXEC_UPDATE_ERROR};
    CUresult r = cuGraphExecUpdate_v2(handle, graph, &info);
    if (bad)
        *bad = info.errorNode;
    if (result)
        *result = info.result;
    return r;
}

CUresult cuGraphNodeSetEnabled(CUgraphExec handle, CUgraphNode node, unsigned int yes) {
    API_ENTER(API_INIT, NULL);
    Exec *e = gr_cu_handle(handle, HANDLE_EXEC);
    const Node *n = gr_cu_handle(node, HANDLE_NODE);
    Node *mine = e && n ? gr_exec_node(e, n) : NULL;
    // Only these can be switched off.
    if (!mine || (mine->type != CU_GRAPH_NODE_TYPE_KERNEL && mine->type != CU_GRAPH_NODE_TYPE_MEMCPY &&
                  mine->type != CU_GRAPH_NODE_TYPE_MEMSET))
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    mine->disabled = !yes;
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuGraphNodeGetEnabled(CUgraphExec handle, CUgraphNode node, unsigned int *yes) {
    API_ENTER(API_INIT, NULL);
    const Exec *e = gr_cu_handle(handle, HANDLE_EXEC);
    const Node *n = gr_cu_handle(node, HANDLE_NODE), *mine = e && n ? gr_exec_node(e, n) : NULL;
    if (mine && yes)
        *yes = !mine->disabled;
    return gr_cu_leave(mine && yes ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}
