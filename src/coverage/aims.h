// SPDX-License-Identifier: Apache-2.0
// aims — what earlier runs noted of conflicting accesses, and what the next run should therefore aim at (aim/aim.h).
#ifndef GR_COVERAGE_AIMS_H
#define GR_COVERAGE_AIMS_H

#include "coverage/coverage.h"

// Appends what a run with that seed aims at, in the words of --aim: half of the accesses that come first in conflicts
// whose sides have not met, and of those the ones that were aimed at least. Nothing when no conflict is known, and
// mostly nothing when no thread can wait at the conflicts that have not met.
gr_status gr_aims_choose(const GrCoverage *c, uint64_t seed, StrBuf *out, gr_error *err);

// If the file is full, forgets what was known of code that has changed since.
void gr_aims_make_room(GrCoverage *c);
// Adds a conflict that a run noted, unless the file is full. False: memory is out.
bool gr_aims_note(GrCoverage *c, const Conflict *seen);
// Counts a run that had those words.
void gr_aims_count(GrCoverage *c, const char *aim);

// Whether the words make threads that come to this access wait for all others.
bool gr_aims_waits_at(const char *aim, uint64_t function, uint32_t nth);
// At how many accesses the words make threads wait for all others.
uint64_t gr_aims_waiting(const char *aim);

#endif
