// SPDX-License-Identifier: Apache-2.0
// graph — what the parts of CUDA graphs share.
//
//   graph.c        graphs: nodes, edges, clones, and what can be asked of them
//   graph_node.c   nodes by type: adding them, their parameters
//   graph_memory.c memory of allocation nodes: when it is there, and which calls may free it
//   graph_exec.c   executable graphs: a clone of the graph, flattened into steps when it is launched
//   capture.c      streams whose work goes into a graph
//
// A node keeps its work in the form in which the stream API would submit it. A launch submits copies of that work to
// streams of its own. A node follows the first node that it depends on in that node's stream, and waits for marks of
// the others. So the parts of a graph that do not depend on each other run in seeded order, like streams.
#ifndef GR_DRIVER_CUDA_GRAPH_H
#define GR_DRIVER_CUDA_GRAPH_H

#include "driver/cuda/driver.h"
#include "driver/cuda/queue.h"
#include "driver/cuda/stream.h"

typedef struct Graph Graph;
typedef struct Exec Exec;

// Memory of an allocation node and its clones. It holds its addresses from the node's creation until all these are gone
// and what a launch has allocated is freed. Kernels reach it from an allocation until something frees it.
typedef struct GraphMemory {
    unsigned refs; // nodes, and items that have not ended
    CUDA_MEM_ALLOC_NODE_PARAMS params;
    bool allocated;       // by a launch, and no call since has freed it
    bool inside, outside; // a free node frees it: of its own graph, of another one
    uint64_t launch;      // the last that has looked at it (graph_exec.c)
} GraphMemory;

struct Node {
    HandleKind kind;
    CUgraphNodeType type;
    uint64_t id, origin; // of the node that this one is a clone of
    Graph *graph;
    CtxRef ctx; // where it runs
    VEC(Node *) after;
    bool disabled;
    // By the node's type:
    Item *work;          // kernel, memset, host, memory operation
    void **arguments;    // kernel: pointers into work's parameter buffer
    CUDA_MEMCPY3D copy;  // memcpy
    Event *event;        // event record and wait
    Graph *child;        // graph
    GraphMemory *memory; // allocation
    CUdeviceptr address; // free
    // While a graph is flattened: the steps after which the node is done; it has a place; others need it.
    VEC(uint32_t) steps;
    bool placed, inner;
};

struct Graph {
    HandleKind kind;
    VEC(Node *) nodes; // in order of creation
};

struct Exec {
    HandleKind kind;
    Graph *graph; // a clone
    cuuint64_t flags;
    Mark *end; // of its last launch: the next one waits for it
};

Graph *gr_graph_new(void);
void gr_graph_free(Graph *g);
CUresult gr_graph_clone(const Graph *g, Graph **out);
bool gr_graph_has(const Graph *g, const Node *n);
// A node without work. NULL when memory is out.
Node *gr_node_new(Graph *g, CUgraphNodeType type, CtxRef ctx, Node *const *after, size_t n);
void gr_node_free(Node *n); // and all its edges
// Gives a node the work of another of its type, and drops what it had.
CUresult gr_node_set(Node *n, const Node *from);
void gr_node_clear(Node *n);
bool gr_node_is_alive(const Node *n);    // false: its kernel was unloaded
CUresult gr_node_set_arguments(Node *n); // after work has been set to a kernel
// The executable's copy of a node, NULL when it has none.
Node *gr_exec_node(const Exec *e, const Node *n);

// ---- graph_memory.c ------------------------------------------------------------------------------------------

CUresult gr_node_add_memory(Node *n, CUDA_MEM_ALLOC_NODE_PARAMS *params);
GraphMemory *gr_graph_memory(CUdeviceptr address); // that begins there; NULL: there is none
GraphMemory *gr_graph_memory_ref(GraphMemory *m);
void gr_graph_memory_unref(GraphMemory *m);
// Called when the device reaches an allocation, or a free.
void gr_graph_memory_set(GraphMemory *m, bool there);
// Notes a free node that is to be added to the graph. An error: the graph may not have it.
CUresult gr_graph_memory_frees(const Graph *g, CUdeviceptr address);
// An item for the memory's begin or end, when the device comes to it. NULL: out of memory.
Item *gr_graph_memory_item(GraphMemory *m, ItemKind kind);

#endif
