// SPDX-License-Identifier: Apache-2.0
// graph_memory — memory of allocation nodes, after CUDA's programming guide ("Graph Memory Nodes"). Its address is
// fixed when the node is created, and each launch of the graph allocates it anew. A free node, cudaFreeAsync, cudaFree
// or the next launch (with CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) frees it. Memory that its own graph does
// not free outlives even the graph.
#include "driver/cuda/graph.h"
#include "driver/cuda/memory.h"

static Map memories; // by address

GraphMemory *gr_graph_memory(CUdeviceptr address) { return gr_map_get_u64(&memories, address); }

GraphMemory *gr_graph_memory_ref(GraphMemory *m) {
    m->refs++;
    return m;
}

void gr_graph_memory_unref(GraphMemory *m) {
    if (--m->refs || m->allocated)
        return;
    if (gr_graph_memory(m->params.dptr) == m)
        gr_map_remove_u64(&memories, m->params.dptr);
    gr_mem_free_now(m->params.dptr); // unless its context is gone
    free(m);
}

CUresult gr_node_add_memory(Node *n, CUDA_MEM_ALLOC_NODE_PARAMS *p) {
    Dev *d = p->poolProps.location.type == CU_MEM_LOCATION_TYPE_DEVICE
                 ? gr_cu_device(p->poolProps.location.id)
                 : NULL;
    if (!d || p->poolProps.allocType != CU_MEM_ALLOCATION_TYPE_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    GraphMemory *m = calloc(1, sizeof *m);
    if (!m)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult r = gr_pool_alloc(n->ctx.ctx, d->default_pool, p->bytesize, &p->dptr);
    if (r == CUDA_SUCCESS && !gr_map_put_u64(&memories, p->dptr, m)) {
        gr_mem_free_now(p->dptr);
        r = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (r != CUDA_SUCCESS) {
        free(m);
        return r;
    }
    *m = (GraphMemory){.refs = 1, .params = *p};
    m->params.accessDescs = NULL;
    m->params.accessDescCount = 0;
    n->memory = m;
    return CUDA_SUCCESS;
}

// The memory is there before the first launch, too: the order of work judges what uses it too early.
void gr_graph_memory_set(GraphMemory *m, bool there) {
    VmRange *r = gr_vm_mem_find(gr_cu.mem, m->params.dptr);
    if (r && r->addr == m->params.dptr && r->absent == there)
        gr_vm_mem_set_absent(gr_cu.mem, r, !there);
}

static bool allocates(const Graph *g, const GraphMemory *m) {
    for (size_t i = 0; i < g->nodes.len; i++)
        if (g->nodes.data[i]->memory == m ||
            (g->nodes.data[i]->child && allocates(g->nodes.data[i]->child, m)))
            return true;
    return false;
}

// CUDA allows one free node per graph, and none in other graphs beside one in its own.
CUresult gr_graph_memory_frees(const Graph *g, CUdeviceptr address) {
    GraphMemory *m = gr_graph_memory(address);
    if (!g || !m)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < g->nodes.len; i++)
        if (g->nodes.data[i]->type == CU_GRAPH_NODE_TYPE_MEM_FREE && g->nodes.data[i]->address == address)
            return CUDA_ERROR_INVALID_VALUE;
    bool own = allocates(g, m);
    if (own ? m->outside : m->inside)
        return CUDA_ERROR_INVALID_VALUE;
    m->inside |= own;
    m->outside |= !own;
    return CUDA_SUCCESS;
}

Item *gr_graph_memory_item(GraphMemory *m, ItemKind kind) {
    Item *it = gr_item_new(kind);
    if (!it)
        return NULL;
    it->address = m->params.dptr;
    it->memory = gr_graph_memory_ref(m);
    return it;
}
