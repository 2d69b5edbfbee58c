// SPDX-License-Identifier: Apache-2.0
// describe — what the record of a module needs to know of the original, before the engine changes it.
#ifndef GR_INJECT_DESCRIBE_H
#define GR_INJECT_DESCRIBE_H

#include "inject/session.h"

// Fills m->info, and makes room for m->pub.checked_sites. The texts are in the module's arena.
gr_status gr_module_describe(LoadedModule *m, const PtxModule *ptx, gr_error *err);

#endif
