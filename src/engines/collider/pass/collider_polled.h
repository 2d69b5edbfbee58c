// SPDX-License-Identifier: Apache-2.0
// collider_polled — memory that threads look at by strong loads and atomic operations.
//
// Many programs publish by a plain store what other threads poll with volatile loads, or give a lock back that others
// take with atom.cas. By PTX that is a race, but no window of a load sees it, because strong loads have none. A
// poisoned store there would hand the garbage to a thread that acts on it at once: cuSOLVER's pivot search computed
// with a wrong pivot, and nothing was reported. So stores to such memory are not poisoned.
//
// What a function's strong reads are of is known by the parameter or variable that the address comes from
// (passes/origin.h). An address that comes from elsewhere may be any. Functions that are called count for all kernels
// of the module, and of them nothing is known but the state space. Kernels that poll what another kernel stores, at the
// same time and from memory that the storing kernel does not poll, are not thought of.
#ifndef GR_ENGINES_COLLIDER_PASS_COLLIDER_POLLED_H
#define GR_ENGINES_COLLIDER_PASS_COLLIDER_POLLED_H

#include "passes/origin.h"

// Which state spaces strong reads may be of.
typedef struct PolledSpaces {
    bool global, shared;
} PolledSpaces;

// Of a module: strong reads of functions that are called, and of all functions.
typedef struct PolledModule {
    PolledSpaces called, all;
} PolledModule;

// Of a function.
typedef struct Polled {
    Arena arena;
    Origins origins;
    PolledSpaces any; // of addresses that come from nowhere in particular
    uint32_t roots;   // bit k: of what comes from origins.roots[k]
    bool is_kernel;
} Polled;

// Before anything is inserted.
PolledModule gr_polled_module(const PtxModule *m);
// Likewise of `f`. *out is to be freed in any case.
gr_status gr_polled_begin(const PtxModule *m, const PolledModule *module, const PtxFunc *f, Polled *out,
                          gr_error *err);
void gr_polled_free(Polled *p);

// Whether a strong read may be of what the store writes.
bool gr_is_polled(const Polled *p, const PtxSite *store, const PtxOperand *address);

#endif
