// SPDX-License-Identifier: Apache-2.0
// runtime — links a device runtime (an engine's device/, as PTX text) into a module, its names made the module's own.
#ifndef GR_PASSES_RUNTIME_H
#define GR_PASSES_RUNTIME_H

#include "ptx/ptx.h"

// A device runtime may be linked into the program's module `m`, of this text. GR_ERR_UNSUPPORTED: the module is
// rewritten already (a pass would take inserted code for the program's, and its fences would hide races), or, if the
// runtime `will_enter`, a name of the program's begins as all names of the runtime do.
gr_status gr_runtime_may_enter(const PtxModule *m, const char *text, size_t len, bool will_enter,
                               gr_error *err);

// Links the runtime, "__gr_NAME" as "__gr<suffix>_NAME", so that several rewritten modules can be linked together.
// Leaves what `m` has already. If m->apart.wanted, it declares only what other modules may see of the runtime, and
// m->apart says what the loader has to link: `ptx` has to stay.
gr_status gr_runtime_link(PtxModule *m, const char *ptx, const char *suffix, gr_error *err);

// Raises the module to sm_70 and PTX 6.3, which device runtimes need. GR_ERR_UNSUPPORTED: its addresses have 32 bits,
// or it has shuffles and votes without .sync, which sm_70 no longer has.
gr_status gr_runtime_raise(PtxModule *m, gr_error *err);

#endif
