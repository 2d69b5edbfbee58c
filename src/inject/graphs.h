// SPDX-License-Identifier: Apache-2.0
// graphs — executable graphs: the kernels they launch; for an engine that must see what graphs do, a run node by node.
//
// The driver has no way to ask an executable graph what it does. So its kernels are noted when it is made, and changes
// update the notes. For such an engine there is a clone of the graph, too: changes go to both, and a launch walks the
// clone. The clone and its nodes' parameters are the driver's.
#ifndef GR_INJECT_GRAPHS_H
#define GR_INJECT_GRAPHS_H

#include "inject/hooks.h"

// ---- graphs.c ------------------------------------------------------------------------------------------------------

// `exec` was made from `graph`, or updated from it.
void gr_graph_follow(CUgraphExec exec, CUgraph graph);
void gr_graph_forget(CUgraphExec exec);

// These change nodes, which handles of the graph that `exec` was made from name.
void gr_graph_enable(CUgraphExec exec, CUgraphNode node, bool yes);
void gr_graph_set_kernel(CUgraphExec exec, CUgraphNode node, CUfunction f, const unsigned grid[3],
                         const unsigned block[3]);
// The clone of the node; NULL: there is none. If there should be one, the graph is followed no more.
CUgraphNode gr_graph_node(CUgraphExec exec, CUgraphNode node);
// The graph changes in a way that is not followed.
void gr_graph_lose(CUgraphExec exec);

// Runs the graph's nodes in `stream`. False: it has to be launched as a whole, and that was noted.
bool gr_graph_run(CUgraphExec exec, CUstream stream, CUresult *result);
// Tells the engine that the graph is about to be launched as a whole in `stream`, as the program's call says it.
void gr_graph_comes(CUgraphExec exec, CUstream stream);
// Counts the kernels of a graph that was launched as a whole. False: they are not known.
bool gr_graph_count(CUgraphExec exec, CUstream stream);

// ---- graph_run.c ---------------------------------------------------------------------------------------------------

// A function of the driver as a local variable, and its call.
#define DRIVER(name, params) CUresult(*driver_##name) params = (CUresult(*) params)gr_driver_function(#name)
#define CALL(name, ...)      (driver_##name ? driver_##name(__VA_ARGS__) : CUDA_ERROR_NOT_FOUND)

// The nodes of a graph, each after those it depends on; to be freed.
CUresult gr_graph_nodes(CUgraph graph, CUgraphNode **out, size_t *n);
// Nodes of the graph may run side by side, or the driver does not tell.
bool gr_graph_branches(CUgraph graph);
CUgraphNodeType gr_node_type(CUgraphNode node);
CUgraph gr_node_child(CUgraphNode node);

// NULL, or why the nodes of a graph cannot be run in a stream.
const char *gr_graph_why_not(CUgraph graph);
// Runs the graph's nodes, without some.
CUresult gr_graph_run_nodes(CUgraph graph, const CUgraphNode *without, size_t n_without, CUstream stream);

#endif
