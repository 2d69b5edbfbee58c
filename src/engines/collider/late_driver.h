// SPDX-License-Identifier: Apache-2.0
// late_driver — the functions of the driver that --late-work needs.
#ifndef GR_ENGINES_COLLIDER_LATE_DRIVER_H
#define GR_ENGINES_COLLIDER_LATE_DRIVER_H

#include "engines/core/engine.h"

typedef struct LateDriver {
    bool there, missing;
    CUresult (*current)(CUcontext *);
    CUresult (*fill)(CUdeviceptr, unsigned, size_t, CUstream);
    CUresult (*host_function)(CUstream, CUhostFn, void *);
    CUresult (*ask)(void *, CUpointer_attribute, CUdeviceptr);
    CUresult (*wait)(CUstream);
    CUresult (*new_event)(CUevent *, unsigned);
    CUresult (*record)(CUevent, CUstream);
    CUresult (*query)(CUevent);
    CUresult (*device)(CUdevice *);
    // NULL: there is none.
    CUresult (*prefetch)(CUdeviceptr, size_t, CUdevice, CUstream);
    CUresult (*flags)(CUstream, unsigned *);
} LateDriver;

// Looks them up at the first call. False, and said once: the driver lacks something.
bool gr_late_driver(LateDriver *d, GrSession *s);

#endif
