// SPDX-License-Identifier: Apache-2.0
// text_internal — what the files that write a report as text share: text.c the whole and the coverage, text_race.c a race.
#ifndef GR_REPORT_TEXT_INTERNAL_H
#define GR_REPORT_TEXT_INTERNAL_H

#include "report/report_internal.h"

#define GR_TEXT_RULE "================================================================================\n"

// FILE:LINE:COLUMN.
void gr_text_place(const GrReport *r, const GrFrame *f, StrBuf *out);

// The lines around the place.
void gr_text_excerpt(const GrReport *r, const GrFrame *f, StrBuf *out);

// The lines around the headline of an access, and beneath them the places in the toolkit's headers that it leads to.
void gr_text_source(const GrReport *r, const GrAccess *a, Arena *arena, StrBuf *out);

// "WHAT (x,y,z)".
void gr_text_triple(const char *what, const uint32_t v[3], StrBuf *out);

// A misuse of synchronization.
void gr_text_misuse(const GrReport *r, const GrRace *misuse, Arena *arena, StrBuf *out);

// A race or misuse in one line: "a.cu:7: data race: lost update in kernel k, 3 times, id 0123456789abcdef".
void gr_text_line(const GrReport *r, const GrRace *race, bool misuse, Arena *arena, StrBuf *out);

// Of a merged report: which runs saw the race.
void gr_text_runs(const GrReport *r, const GrRace *race, StrBuf *out);

// The i-th race of the report. Names are demangled in `arena`.
void gr_text_race(const GrReport *r, size_t i, Arena *arena, StrBuf *out);

#endif
