// SPDX-License-Identifier: Apache-2.0
// cause_words — what every format says of a cause: what it means, what to do, why, and which runs saw it.
#ifndef GR_REPORT_WRITE_CAUSE_WORDS_H
#define GR_REPORT_WRITE_CAUSE_WORDS_H

#include "report/report_internal.h"

// What a cause of its kind means: a class's meaning, or that of an update without an atomic.
const char *gr_cause_meaning(const GrReport *r, const GrCauseRaces *c);

// Why the two sides race, for a reader who does not know the words of PTX. NULL: one side is not known.
const char *gr_cause_why(const GrCauseRaces *c);

// Appends what to do: "insert __syncthreads()", and for a report `r` (not NULL) in which file. False: nothing is
// proposed.
bool gr_cause_fix(const GrReport *r, const GrCauseRaces *c, bool file, StrBuf *out);

// Appends what the bytes are: " on data", " on memory allocated at a.cu:7", " through argument 2". Nothing where that
// is not known.
void gr_cause_object(const GrReport *r, const GrFinding *f, Arena *arena, StrBuf *out);

// How many of its races the baseline has.
uint32_t gr_cause_known(const GrCauseRaces *c);

// A cause in one line, as gr_text_line has a race: "a.cu:7: data race: lost update on data in kernel k, 2 races, …".
void gr_cause_line(const GrReport *r, const GrCauseRaces *c, Arena *arena, StrBuf *out);

// The runs of a merged report that saw one of the cause's races, by seed, then id. In `arena`; *n 0: there are none.
// NULL: out of memory.
const GrSeenIn *gr_cause_seen(const GrCauseRaces *c, Arena *arena, uint32_t *n);

#endif
