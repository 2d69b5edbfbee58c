// SPDX-License-Identifier: Apache-2.0
// declared — what a module's PTX declares and an engine may hear of: parameters of kernels, and variables.
//
// Kept only for an engine with a callback for it, and to record launches.
#ifndef GR_INJECT_DECLARED_H
#define GR_INJECT_DECLARED_H

#include "inject/session.h"

// Sets m->declared from the original module.
gr_status gr_declared_take(LoadedModule *m, const PtxModule *ptx, gr_error *err);

// Sets where the parameters of a kernel lie, and their bytes together; `k` NULL: only the driver may know. The caller
// frees the layout. False: not known.
bool gr_declared_layout(const Kernel *k, CUfunction f, GrParam **out, uint32_t *n, size_t *bytes);

// Tells the engine of the module's variables in the current context. With the lock.
void gr_declared_tell(LoadedModule *m, CUcontext ctx, GrGetGlobal get_global);

#endif
