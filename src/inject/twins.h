// SPDX-License-Identifier: Apache-2.0
// twins — kernels that are compiled when they are launched, each in a module of its own (pieces.h).
//
// The driver has the program's own module, and the program its handles: these are not compiled anew. When a kernel is
// first launched, its part of the rewritten text is loaded. From then on this twin is launched in the kernel's place,
// and answers for what depends on the code: registers, occupancy. With the session's lock, unless said otherwise.
#ifndef GR_INJECT_TWINS_H
#define GR_INJECT_TWINS_H

#include "inject/session.h"

// Modules may be loaded so (--compile). One thread compiles a kernel that comes alone, several compile a module
// (modules.c): so twins are no gain if most kernels are launched.
bool gr_twins_wanted(void);

// The module's kernels get twins, if they can: then the driver is to have the program's own image.
bool gr_twins_begin(LoadedModule *m);

// What to launch in this context: the twin of `f`, which is of kernel `k`, or `f` itself if there is none.
CUfunction gr_twin_of(Kernel *k, CUfunction f);

// Whether any module is loaded so.
bool gr_twins_exist(void);

// The kernel nodes of a graph, of graphs within it too, launch twins from now on. Without the session's lock.
void gr_twins_in_graph(CUgraph graph);
// What a node is to launch that the program sets to `f`. Without the session's lock.
CUfunction gr_twin_for_node(CUfunction f);

// The driver refused a twin with `error`: launch the program's kernel, unchecked, as it takes fewer registers.
bool gr_twin_is_too_large(const Kernel *k, CUresult error);

// The driver drops the module.
void gr_twins_unload(LoadedModule *m);

#endif
