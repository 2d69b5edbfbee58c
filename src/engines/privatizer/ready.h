// SPDX-License-Identifier: Apache-2.0
// ready — which lines of a launch get their rows before a unit writes there. If they are not too many, making all at
// once takes less time than making each while a unit waits.
#ifndef GR_ENGINES_PRIVATIZER_READY_H
#define GR_ENGINES_PRIVATIZER_READY_H

#include "engines/privatizer/passes.h"

enum {
    GR_MOST_READY = 1 << 17
}; // rows of all slots: to make more takes longer than to make those that are needed

// Sets `out` to whole lines that the launch may write, for all that is known. Yields how many; 0: none, or they are too
// many, or lie in too many pieces.
uint64_t gr_ready_spans(const Passes *p, uint32_t mode, GrPrivSpan out[GR_SPANS]);

// gr_ready_spans for a window (GrPrivWindow): also takes lines of which only some bytes are the program's, but they
// must be one piece within the arena; 0: they are not, and a unit would find in its copy what it only reads.
uint64_t gr_window_spans(const Passes *p, uint32_t mode, GrPrivSpan out[GR_SPANS]);

// A number for these lines: tables say from launch to launch for which lines they have rows.
uint64_t gr_ready_number(const Passes *p, uint32_t mode);

#endif
