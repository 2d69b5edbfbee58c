// SPDX-License-Identifier: Apache-2.0
// capture — streams whose work becomes nodes of a graph instead of being done.
//
// A capture begins in one stream. Work that would be queued there becomes a node that depends on the node before it. An
// event that is recorded there stands for that node, and a stream that waits for such an event joins the capture. The
// capture ends in the stream where it began, once all streams that joined have come back to it.
#include "driver/cuda/capture.h"
#include "driver/cuda/graph.h"
#include "driver/cuda/queue.h"
#include "driver/cuda/stream.h"

struct Capture {
    uint64_t id;
    Graph *graph;
    bool own_graph; // made for it
    bool invalid;
    Stream *origin;
    CUstreamCaptureMode mode;
    const void *thread; // that began it
    VEC(Stream *) streams;
    VEC(Node *) left; // the last work of streams that were destroyed since
    Capture *next;
};

static Capture *captures;
static _Thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

// An address that no other thread has.
static const void *this_thread(void) { return &thread_mode; }

static Capture *find(uint64_t id) {
    Capture *c = captures;
    while (c && c->id != id)
        c = c->next;
    return c;
}

static void leave(Stream *s) {
    s->capture = NULL;
    gr_vec_free(&s->after);
}

static void end(Capture *c) {
    for (size_t i = 0; i < c->streams.len; i++)
        leave(c->streams.data[i]);
    gr_vec_free(&c->streams);
    gr_vec_free(&c->left);
    Capture **link = &captures;
    while (*link != c)
        link = &(*link)->next;
    *link = c->next;
    free(c);
}

static bool join(Capture *c, Stream *s) {
    if (!gr_vec_push(&c->streams, s))
        return false;
    s->capture = c;
    return true;
}

static bool add_dependency(Stream *s, Node *n) {
    for (size_t i = 0; i < s->after.len; i++) {
        if (s->after.data[i] == n)
            return true;
    }
    return gr_vec_push(&s->after, n);
}

void gr_capture_forget(Stream *s) {
    Capture *c = s->capture;
    if (!c)
        return;
    // The stream's work must still come back, through an event that was recorded before.
    for (size_t i = 0; i < s->after.len; i++)
        c->invalid |= !gr_vec_push(&c->left, s->after.data[i]);
    size_t keep = 0;
    for (size_t i = 0; i < c->streams.len; i++) {
        if (c->streams.data[i] != s)
            c->streams.data[keep++] = c->streams.data[i];
    }
    c->streams.len = keep;
    leave(s);
    if (c->origin == s) {
        if (c->own_graph)
            gr_graph_free(c->graph);
        end(c);
    }
}

// ---- What may not be done meanwhile ------------------------------------------------------------------------

bool gr_capture_forbids(Ctx *ctx) {
    bool yes = false;
    for (Capture *c = captures; c; c = c->next) {
        if (c->origin->ctx == ctx)
            yes = c->invalid = true;
    }
    return yes;
}

CUresult gr_capture_stream_forbids(Stream *s) {
    if (!s->capture)
        return gr_capture_implicit(s);
    s->capture->invalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUresult gr_capture_event_forbids(const Event *e) {
    Capture *c = find(e->captured);
    if (c)
        c->invalid = true;
    return CUDA_ERROR_CAPTURED_EVENT;
}

// The legacy stream stands for all blocking ones of its context.
static bool includes(const Stream *s, const Capture *c) {
    for (size_t i = 0; i < c->streams.len && s == s->ctx->legacy; i++)
        if (c->streams.data[i]->ctx == s->ctx && !(c->streams.data[i]->flags & CU_STREAM_NON_BLOCKING))
            return true;
    return false;
}

CUresult gr_capture_implicit(const Stream *s) {
    CUresult r = CUDA_SUCCESS;
    for (Capture *c = captures; c; c = c->next)
        if (includes(s, c)) {
            c->invalid = true;
            r = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
        }
    return r;
}

// The thread's mode says which captures it must heed, in the sense of cuThreadExchangeStreamCaptureMode.
CUresult gr_capture_unsafe(void) {
    CUresult r = CUDA_SUCCESS;
    for (Capture *c = captures; c && thread_mode != CU_STREAM_CAPTURE_MODE_RELAXED; c = c->next) {
        bool heeds = c->thread == this_thread() ? c->mode != CU_STREAM_CAPTURE_MODE_RELAXED
                                                : thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
                                                      c->mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
        if (heeds) {
            c->invalid = true;
            r = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
    }
    return r;
}

CUresult gr_capture_unsafe_in(const Stream *s) {
    CUresult r = gr_capture_implicit(s);
    return r == CUDA_SUCCESS ? gr_capture_unsafe() : r;
}

bool gr_capture_is_unsafe(const char *function) {
    static const char *const names[] = {
#define UNSAFE(name) #name,
#include "driver/cuda/unsafe.def"
#undef UNSAFE
    };
    for (size_t k = 0; captures && k < sizeof names / sizeof *names; k++)
        if (!strcmp(function, names[k]))
            return true;
    return false;
}

// ---- Nodes -------------------------------------------------------------------------------------------------

// Makes the node of the stream's next work, on which the stream then depends.
static CUresult append(Stream *s, CUgraphNodeType type, Node **out) {
    Capture *c = s->capture;
    if (c->invalid)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    Node *n = gr_node_new(c->graph, type, gr_ctx_ref(s->ctx), s->after.data, s->after.len);
    s->after.len = 0;
    if (!n || !add_dependency(s, n)) {
        c->invalid = true;
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out = n;
    return CUDA_SUCCESS;
}

static CUresult type_of(const Item *it, CUgraphNodeType *type) {
    switch (it->kind) {
    case ITEM_KERNEL: *type = CU_GRAPH_NODE_TYPE_KERNEL; return CUDA_SUCCESS;
    case ITEM_FILL: *type = CU_GRAPH_NODE_TYPE_MEMSET; return CUDA_SUCCESS;
    case ITEM_HOST:
        *type = CU_GRAPH_NODE_TYPE_HOST;
        return it->host.callback ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
    case ITEM_WRITE_VALUE:
    case ITEM_WAIT_VALUE: *type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP; return CUDA_SUCCESS;
    default: return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED; // a prefetch
    }
}

CUresult gr_capture_item(Stream *s, Item *it) {
    CUgraphNodeType type;
    Node *n = NULL;
    CUresult r = type_of(it, &type);
    if (r != CUDA_SUCCESS)
        s->capture->invalid = true;
    else
        r = append(s, type, &n);
    if (r != CUDA_SUCCESS) {
        gr_item_free(it);
        return r;
    }
    n->work = it;
    return it->kind == ITEM_KERNEL ? gr_node_set_arguments(n) : CUDA_SUCCESS;
}

CUresult gr_capture_copy(Stream *s, const CUDA_MEMCPY3D *copy) {
    Node *n = NULL;
    CUresult r = append(s, CU_GRAPH_NODE_TYPE_MEMCPY, &n);
    if (r == CUDA_SUCCESS)
        n->copy = *copy;
    return r;
}

CUresult gr_capture_alloc(Stream *s, size_t size, CUdeviceptr *out) {
    Node *n = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS p = {.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                    .poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, s->ctx->dev->ordinal},
                                    .bytesize = size};
    CUresult r = out ? append(s, CU_GRAPH_NODE_TYPE_MEM_ALLOC, &n) : CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = gr_node_add_memory(n, &p);
    if (r == CUDA_SUCCESS)
        *out = p.dptr;
    return r;
}

CUresult gr_capture_free(Stream *s, CUdeviceptr address) {
    Node *n = NULL;
    CUresult r = s->capture->invalid ? CUDA_SUCCESS : gr_graph_memory_frees(s->capture->graph, address);
    if (r == CUDA_SUCCESS)
        r = append(s, CU_GRAPH_NODE_TYPE_MEM_FREE, &n);
    if (r == CUDA_SUCCESS)
        n->address = address;
    return r;
}

CUresult gr_capture_event(Stream *s, Event *e, CUgraphNodeType type) {
    Node *n = NULL;
    CUresult r = append(s, type, &n);
    if (r == CUDA_SUCCESS)
        n->event = e;
    return r;
}

CUresult gr_capture_record(Stream *s, Event *e) {
    if (s->capture->invalid)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    gr_event_set(e, NULL);
    e->captured = s->capture->id;
    for (size_t i = 0; i < s->after.len; i++) {
        if (!gr_vec_push(&e->after, s->after.data[i]))
            return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
}

CUresult gr_capture_wait(Stream *s, Event *e) {
    Capture *c = find(e->captured);
    if (!e->captured) { // by a stream that captures, for work outside
        if (!e->mark)
            return CUDA_SUCCESS;
        s->capture->invalid = true;
        return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    }
    if (!c)
        return CUDA_ERROR_CAPTURED_EVENT; // that capture is over
    if (c->invalid)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (s->capture && s->capture != c) {
        s->capture->invalid = c->invalid = true;
        return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    }
    if (s == s->ctx->legacy) {
        c->invalid = true;
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    if (!s->capture && !join(c, s))
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < e->after.len; i++) {
        if (!add_dependency(s, e->after.data[i]))
            return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
}

// ---- Beginning and ending ----------------------------------------------------------------------------------

static CUresult begin(CUstream handle, Graph *into, const CUgraphNode *after, size_t n,
                      CUstreamCaptureMode mode) {
    Ctx *ctx = gr_ctx_current();
    Stream *s = NULL;
    CUresult r = gr_stream_get(ctx, handle, &s);
    if (r != CUDA_SUCCESS)
        return r;
    if ((unsigned)mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    if (s == s->ctx->legacy)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (s->capture)
        return CUDA_ERROR_ILLEGAL_STATE;
    for (size_t i = 0; i < n; i++) {
        if (!after || !into || !gr_graph_has(into, gr_cu_handle(after[i], HANDLE_NODE)))
            return CUDA_ERROR_INVALID_VALUE;
    }
    Capture *c = calloc(1, sizeof *c);
    if (!c)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *c = (Capture){.id = ++gr_cu.next_id,
                   .graph = into,
                   .own_graph = !into,
                   .origin = s,
                   .mode = mode,
                   .thread = this_thread(),
                   .next = captures};
    captures = c;
    if (!c->graph)
        c->graph = gr_graph_new();
    bool ok = c->graph && join(c, s);
    for (size_t i = 0; i < n && ok; i++)
        ok = add_dependency(s, (Node *)after[i]);
    if (ok)
        return CUDA_SUCCESS;
    if (c->own_graph && c->graph)
        gr_graph_free(c->graph);
    end(c);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuStreamBeginCapture_v2(CUstream s, CUstreamCaptureMode mode) {
    API_ENTER(API_CONTEXT, NULL);
    return gr_cu_leave(begin(s, NULL, NULL, 0, mode));
}

CUresult cuStreamBeginCapture(CUstream s) {
    return cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

CUresult cuStreamBeginCaptureToGraph(CUstream s, CUgraph graph, const CUgraphNode *after,
                                     const CUgraphEdgeData *edges, size_t n, CUstreamCaptureMode mode) {
    (void)edges;
    API_ENTER(API_CONTEXT, NULL);
    Graph *g = gr_cu_handle(graph, HANDLE_GRAPH);
    return gr_cu_leave(g ? begin(s, g, after, n, mode) : CUDA_ERROR_INVALID_VALUE);
}

// Sets `inner` of the node and all that it depends on.
static void mark_past(Node *n) {
    if (n->inner)
        return;
    n->inner = true;
    for (size_t i = 0; i < n->after.len; i++)
        mark_past(n->after.data[i]);
}

// The work of all streams comes before the end of the first one's.
static bool is_joined(const Capture *c) {
    for (size_t i = 0; i < c->graph->nodes.len; i++)
        c->graph->nodes.data[i]->inner = false;
    for (size_t i = 0; i < c->origin->after.len; i++)
        mark_past(c->origin->after.data[i]);
    for (size_t i = 0; i < c->left.len; i++)
        if (!c->left.data[i]->inner)
            return false;
    for (size_t i = 0; i < c->streams.len; i++) {
        const Stream *s = c->streams.data[i];
        for (size_t k = 0; k < s->after.len; k++) {
            if (!s->after.data[k]->inner)
                return false;
        }
    }
    return true;
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph *out) {
    Ctx *ctx = NULL;
    Stream *s = NULL;
    API_ENTER(API_CONTEXT, &ctx);
    CUresult r = gr_stream_get(ctx, handle, &s);
    if (r == CUDA_SUCCESS && !s->capture)
        r = CUDA_ERROR_ILLEGAL_STATE;
    if (r != CUDA_SUCCESS || !out)
        return gr_cu_leave(r != CUDA_SUCCESS ? r : CUDA_ERROR_INVALID_VALUE);
    Capture *c = s->capture;
    *out = NULL;
    if (c->origin != s) {
        c->invalid = true;
        return gr_cu_leave(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    }
    if (c->mode != CU_STREAM_CAPTURE_MODE_RELAXED && c->thread != this_thread())
        r = CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD; // but it is over
    else if (c->invalid)
        r = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    else if (!is_joined(c))
        r = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    if (r == CUDA_SUCCESS)
        *out = (CUgraph)c->graph;
    else if (c->own_graph)
        gr_graph_free(c->graph);
    end(c);
    return gr_cu_leave(r);
}

// ---- Asking ------------------------------------------------------------------------------------------------

CUresult cuStreamGetCaptureInfo_v3(CUstream handle, CUstreamCaptureStatus *status, cuuint64_t *id,
                                   CUgraph *graph, const CUgraphNode **after, const CUgraphEdgeData **edges,
                                   size_t *n) {
    Ctx *ctx = NULL;
    Stream *s = NULL;
    API_ENTER(API_CONTEXT, &ctx);
    CUresult r = gr_stream_get(ctx, handle, &s);
    if (r != CUDA_SUCCESS || !status)
        return gr_cu_leave(r != CUDA_SUCCESS ? r : CUDA_ERROR_INVALID_VALUE);
    for (const Capture *k = captures; k; k = k->next)
        if (includes(s, k))
            return gr_cu_leave(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT); // which goes on
    const Capture *c = s->capture;
    bool active = c && !c->invalid;
    *status = active ? CU_STREAM_CAPTURE_STATUS_ACTIVE
              : c    ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                     : CU_STREAM_CAPTURE_STATUS_NONE;
    if (id)
        *id = active ? c->id : 0;
    if (graph)
        *graph = active ? (CUgraph)c->graph : NULL;
    if (after)
        *after = active ? (const CUgraphNode *)(void *)s->after.data : NULL;
    if (edges)
        *edges = NULL;
    if (n)
        *n = active ? s->after.len : 0;
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuStreamGetCaptureInfo_v2(CUstream handle, CUstreamCaptureStatus *status, cuuint64_t *id,
                                   CUgraph *graph, const CUgraphNode **after, size_t *n) {
    return cuStreamGetCaptureInfo_v3(handle, status, id, graph, after, NULL, n);
}

CUresult cuStreamGetCaptureInfo(CUstream handle, CUstreamCaptureStatus *status, cuuint64_t *id) {
    return cuStreamGetCaptureInfo_v3(handle, status, id, NULL, NULL, NULL, NULL);
}

CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus *status) {
    return cuStreamGetCaptureInfo_v3(handle, status, NULL, NULL, NULL, NULL, NULL);
}

CUresult cuStreamUpdateCaptureDependencies_v2(CUstream handle, CUgraphNode *after,
                                              const CUgraphEdgeData *edges, size_t n, unsigned int flags) {
    (void)edges;
    Ctx *ctx = NULL;
    Stream *s = NULL;
    API_ENTER(API_CONTEXT, &ctx);
    CUresult r = gr_stream_get(ctx, handle, &s);
    if (r == CUDA_SUCCESS && !s->capture)
        r = CUDA_ERROR_ILLEGAL_STATE;
    if (r == CUDA_SUCCESS && ((n && !after) || flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES))
        r = CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < n && r == CUDA_SUCCESS; i++) {
        if (!gr_graph_has(s->capture->graph, gr_cu_handle(after[i], HANDLE_NODE)))
            r = CUDA_ERROR_INVALID_VALUE;
    }
    if (r == CUDA_SUCCESS && flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES)
        s->after.len = 0;
    for (size_t i = 0; i < n && r == CUDA_SUCCESS; i++) {
        if (!add_dependency(s, (Node *)after[i]))
            r = CUDA_ERROR_OUT_OF_MEMORY;
    }
    return gr_cu_leave(r);
}

CUresult cuStreamUpdateCaptureDependencies(CUstream s, CUgraphNode *after, size_t n, unsigned int flags) {
    return cuStreamUpdateCaptureDependencies_v2(s, after, NULL, n, flags);
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
    if (!mode || (unsigned)*mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    CUstreamCaptureMode old = thread_mode;
    thread_mode = *mode;
    *mode = old;
    return CUDA_SUCCESS;
}
