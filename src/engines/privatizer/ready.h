// SPDX-License-Identifier: Apache-2.0
// ready — which lines of a launch get their rows before a unit writes there. To make them all at once takes less time
// than to make each of them where a unit waits for it, if there are not too many of them.
#ifndef GR_ENGINES_PRIVATIZER_READY_H
#define GR_ENGINES_PRIVATIZER_READY_H

#include "engines/privatizer/passes.h"

enum {
    GR_MOST_READY = 1 << 17
}; // rows of all slots: to make more takes longer than to make those that are needed

// Whole lines that the launch may write, for all that is known of it. How many there are; 0: none, or they are too
// many, or lie in too many pieces.
uint64_t gr_ready_spans(const Passes *p, uint32_t mode, GrPrivSpan out[GR_SPANS]);

// Likewise with lines of which some bytes are the program's, for a window (GrPrivWindow), in one piece; 0 also if some
// lie elsewhere than in the arena, or apart: a unit would find in its copy what it only reads.
uint64_t gr_window_spans(const Passes *p, uint32_t mode, GrPrivSpan out[GR_SPANS]);

// A number for these lines. Tables say from launch to launch that they have rows.
uint64_t gr_ready_number(const Passes *p, uint32_t mode);

#endif
