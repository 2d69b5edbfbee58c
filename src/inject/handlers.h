// SPDX-License-Identifier: Apache-2.0
// handlers — gr_on_HANDLER(real function, its arguments): what happens around each interposed call.
//
// A handler runs without the session's lock, takes it for its own work, and never holds it while the real function
// runs, which may wait for another thread of the program.
#ifndef GR_INJECT_HANDLERS_H
#define GR_INJECT_HANDLERS_H

#include "inject/hooks.h"

#define GR_LIST(...)                                __VA_ARGS__
#define HOOK0(base, since, flavor, symbol, handler) CUresult gr_on_##handler(CUresult (*real)(void));
#define HOOK(base, since, flavor, symbol, handler, params, args)                                             \
    CUresult gr_on_##handler(CUresult(*real) params, GR_LIST params);
#include "inject/hooks.def"
#undef HOOK

#endif
