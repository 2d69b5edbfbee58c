// SPDX-License-Identifier: Apache-2.0
// kept — memory in which no store is poisoned, because the host or another device may look at it while a kernel runs:
// managed, pinned, registered and imported memory, and all global memory once kernels of a second device are loaded.
//
// Device code compares an address with one range, which has all of it (GrControl.kept), and looks at the bit of the
// address's granule (GrControl.kept_granules), so that most memory that merely lies between is poisoned. Both only
// grow. Host memory that no call made known to CUDA (pageable memory that a GPU reaches by itself) is not known here.
#ifndef GR_ENGINES_COLLIDER_KEPT_H
#define GR_ENGINES_COLLIDER_KEPT_H

#include "base/vec.h"
#include "engines/collider/device/record.h"
#include "engines/core/engine.h"

typedef struct GrKept {
    GrSession *session; // NULL: nothing is poisoned, and nothing needs to be known
    uint64_t low, high; // equal: no such memory
    uint64_t granules;
    bool has_device;
    CUdevice device; // of the first module
    VEC(struct GrKeptControl {
        const GrModule *module;
        CUdeviceptr at;
    })
    controls;
    bool failed; // said so
} GrKept;

void gr_kept_init(GrKept *k, GrSession *s);
void gr_kept_free(GrKept *k);

// Whether the host, or another process, may look at it.
bool gr_kept_is_shared(GrSession *s, const GrRange *r);

void gr_kept_allocated(GrKept *k, const GrRange *r);
// Fills the control block for a module's `at`, and remembers its right contents until the module is unloaded.
void gr_kept_loaded(GrKept *k, const GrModule *m, CUdeviceptr at, GrControl *control);
void gr_kept_unloaded(GrKept *k, const GrModule *m);

#endif
