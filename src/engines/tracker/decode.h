// SPDX-License-Identifier: Apache-2.0
// decode — the tracker's area of the results file as findings, and the classes of these.
#ifndef GR_ENGINES_TRACKER_DECODE_H
#define GR_ENGINES_TRACKER_DECODE_H

#include "findings/area.h"

extern const GrDecoder gr_tracker_decoder;

// How many pairs a module of so many sites has room for, a power of two.
uint32_t gr_tracker_pairs(uint32_t n_sites);
uint64_t gr_tracker_area_bytes(uint32_t n_sites);

#endif
