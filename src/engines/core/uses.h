// SPDX-License-Identifier: Apache-2.0
// uses — what a program uses that not every engine looks at, and what an engine does not look for then. It is said in
// the report, and changes no verdict.
#ifndef GR_ENGINES_CORE_USES_H
#define GR_ENGINES_CORE_USES_H

#include "ptx/ptx.h"

typedef enum GrUse {
#define USE(id, what) GR_USE_##id,
#include "engines/core/uses.def"
#undef USE
    GR_USES
} GrUse;

// What an engine does not look for on a device, where the program has the use. An engine's blind.def has a row
// BLIND(use, devices, "what") for each; `devices` is CPU, GPU or ANY. A table ends with what NULL.
typedef struct GrBlind {
    GrUse use;
    unsigned devices;
    const char *what;
} GrBlind;

enum { GR_BLIND_CPU = 1, GR_BLIND_GPU = 2, GR_BLIND_ANY = 3 };
#define GR_BLIND_ROW(use, devices, what) {GR_USE_##use, GR_BLIND_##devices, what},

// The row for a use on a device (GR_BLIND_CPU, GR_BLIND_GPU); NULL: the engine looks for it. `table` may be NULL.
const GrBlind *gr_blind_find(const GrBlind *table, GrUse use, unsigned device);

// What a kernel and the functions that it may call have, of the uses `wanted`, as bits. Of the program's own text.
// *callees, at first GR_USES_UNKNOWN, keeps for the module's other kernels what its functions have.
#define GR_USES_UNKNOWN (~0u)
unsigned gr_uses_of_kernel(const PtxFunc *kernel, unsigned wanted, unsigned *callees);

#endif
