// SPDX-License-Identifier: Apache-2.0
// area — the bytes of a results file that one engine's code writes in place while a program runs, one per module.
//
// Only that engine knows what the bytes mean. The module's record says whose they are (GrAreaTag); the engine hands
// over the GrDecoder that makes findings of them. An area without a decoder makes the verdict inconclusive.
#ifndef GR_FINDINGS_AREA_H
#define GR_FINDINGS_AREA_H

#include "base/status.h"
#include "findings/finding.h"

typedef struct GrArea {
    const GrModuleInfo *module; // its area_bytes are all at `bytes`
    const uint8_t *bytes;       // written by a program that may have been killed at any instruction
    Arena *arena;               // what findings point to lives there, or in the modules
    const void *user;           // of these two, which ask about the module's process:
    const char *(*kernel_of)(const void *user, uint64_t launch);         // NULL: not known
    const GrModuleInfo *(*module_of)(const void *user, uint64_t number); // NULL: there is none
} GrArea;

typedef struct GrDecoder {
    GrAreaTag tag; // what it reads
    // GR_ERR_FORMAT: the bytes cannot be such an area. GR_ERR_NOMEM also when the sink says so.
    gr_status (*decode)(const GrArea *area, const GrSink *to, gr_error *err);
} GrDecoder;

#endif
