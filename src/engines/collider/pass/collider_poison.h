// SPDX-License-Identifier: Apache-2.0
// collider_poison — garbage before a store (section 3.2 of the paper), so that the store shows even to threads that
// store or know the same value.
//
// The garbage is the value with the lowest bit of each element turned. A racy program may use what it reads meanwhile:
// one bit of an index is the next element, where the complement was an illegal address in ten programs of the corpus.
// Never poisoned are
//
//  - what strong loads and atomic operations may be of (collider_polled.h),
//  - elements of 64 bits that may be an address (bits 32 to 48 are not all zero, those above are),
//  - what the host or another device may look at (GrControl.kept; the engine knows the memory).
#ifndef GR_ENGINES_COLLIDER_PASS_COLLIDER_POISON_H
#define GR_ENGINES_COLLIDER_PASS_COLLIDER_POISON_H

#include "engines/collider/pass/collider_access.h"

// Before the store `a`, whose elements are `stored` (registers of `bits` bits, of which `type` is loaded and stored).
// `mods` are the modifiers of a strong store of the same bytes.
// `alone`: the store may be late (collider_segment.h) where this holds; *late becomes whether code for that was
// inserted, *poisoned whether there is any.
gr_status gr_collider_poison(ColliderWork *w, Access *a, const PtxOperand *stored, const char *type,
                             unsigned bits, const char *mods, const PtxReg *alone, bool *late,
                             bool *poisoned);

#endif
