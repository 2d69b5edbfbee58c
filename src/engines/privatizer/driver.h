// SPDX-License-Identifier: Apache-2.0
// driver — the functions of the driver that the privatizer calls, in stream order.
#ifndef GR_ENGINES_PRIVATIZER_DRIVER_H
#define GR_ENGINES_PRIVATIZER_DRIVER_H

#include "engines/core/engine.h"

typedef struct PrivatizerDriver {
    bool there; // all of them
    CUresult (*alloc)(CUdeviceptr *, size_t), (*release)(CUdeviceptr), (*info)(size_t *, size_t *);
    CUresult (*copy)(CUdeviceptr, CUdeviceptr, size_t, CUstream),
        (*fill)(CUdeviceptr, unsigned char, size_t, CUstream),
        (*fill_words)(CUdeviceptr, unsigned, size_t, CUstream);
    CUresult (*write)(CUdeviceptr, const void *, size_t, CUstream),
        (*read)(void *, CUdeviceptr, size_t, CUstream);
    CUresult (*host_alloc)(void **, size_t, unsigned), (*of_host)(CUdeviceptr *, void *, unsigned);
    CUresult (*query)(CUstream), (*wait)(CUstream);
    CUresult (*event_new)(CUevent *, unsigned), (*event_record)(CUevent, CUstream), (*event_query)(CUevent),
        (*event_wait)(CUevent);
    CUresult (*load)(CUmodule *, const void *), (*function)(CUfunction *, CUmodule, const char *);
    CUresult (*launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                       CUstream, void **, void **);
    CUresult (*attribute)(int *, CUfunction_attribute, CUfunction),
        (*set_attribute)(CUfunction, CUfunction_attribute, int),
        (*of_device)(int *, CUdevice_attribute, CUdevice);
    CUresult (*device)(CUdevice *);
    CUresult (*of_kernel)(CUfunction *, CUkernel); // may be missing, as the next one
    CUresult (*load_function)(CUfunction);
    bool is_cpu;
} PrivatizerDriver;

// Looks the functions up, once.
void gr_privatizer_driver(GrSession *s, PrivatizerDriver *d);

#endif
