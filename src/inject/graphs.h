// SPDX-License-Identifier: Apache-2.0
// graphs — executable graphs, run node by node for an engine that is to see what they do.
//
// The driver has no way to ask an executable graph what it does. So each gets a clone of the graph that it was made from, changes
// are made to both, and a launch walks the clone. The clone is the driver's, and so are its nodes' parameters.
#ifndef GR_INJECT_GRAPHS_H
#define GR_INJECT_GRAPHS_H

#include <cuda.h>
#include <stdbool.h>

// `exec` was made from `graph`, or updated from it.
void gr_graph_follow(CUgraphExec exec, CUgraph graph);
void gr_graph_forget(CUgraphExec exec);

// The clone of a node that names one of `exec`; NULL: there is none, and the graph is followed no more.
CUgraphNode gr_graph_node(CUgraphExec exec, CUgraphNode node);
void gr_graph_enable(CUgraphExec exec, CUgraphNode node, bool yes);
// It was changed in a way that is not followed.
void gr_graph_lose(CUgraphExec exec);

// Runs the graph's nodes in `stream`, one after the other. False: it has to be launched as a whole, and that was noted.
bool gr_graph_run(CUgraphExec exec, CUstream stream, CUresult *result);

#endif
