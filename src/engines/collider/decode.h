// SPDX-License-Identifier: Apache-2.0
// decode — the areas that the collider's device runtime writes, read back as findings: the GrSlots of a module's sites
// (device/record.h), and behind them the GrMeetings of a replay (device/meet.h).
#ifndef GR_ENGINES_COLLIDER_DECODE_H
#define GR_ENGINES_COLLIDER_DECODE_H

#include "findings/area.h"

extern const GrDecoder gr_collider_decoder;

// The bytes of the slots of a module of so many sites.
uint64_t gr_collider_slot_bytes(uint32_t n_sites);

#endif
