// SPDX-License-Identifier: Apache-2.0
// submits — the host's statements that submit a kernel, and the streams that they name.
#ifndef GR_REPAIR_SUBMITS_H
#define GR_REPAIR_SUBMITS_H

#include "repair/place.h"

enum { GR_SUBMITS = 16 }; // of a kernel that are looked at

typedef struct GrSubmit {
    GrPlace place;      // in a function of the host
    const char *stream; // as its text has it; NULL: not known, or the default one
} GrSubmit;

// The statements of the file's host functions that name the kernel, in the order of the text; returns how many.
unsigned gr_submits(GrRepairs *r, const GrPlace *kernel, GrSubmit out[GR_SUBMITS]);

// The kernel of an access: the outermost place that it was inlined into. False: it is no kernel's.
bool gr_submits_kernel(GrRepairs *r, const GrAccess *a, GrPlace *out);

#endif
