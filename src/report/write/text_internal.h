// SPDX-License-Identifier: Apache-2.0
// text_internal — what the writers of text reports share: text.c (the whole, the coverage), text_race.c (a race).
#ifndef GR_REPORT_WRITE_TEXT_INTERNAL_H
#define GR_REPORT_WRITE_TEXT_INTERNAL_H

#include "report/report_internal.h"

#define GR_TEXT_RULE "================================================================================\n"

// What is painted, if the report is to be in colour.
typedef enum GrPaint {
    GR_PAINT_OFF,
    GR_PAINT_HEAD,
    GR_PAINT_STRONG,
    GR_PAINT_HIT,
    GR_PAINT_GOOD,
    GR_PAINT_WARN
} GrPaint;

// From here on what is written is painted so.
static inline void gr_text_paint(const GrReport *r, GrPaint paint, StrBuf *out) {
    static const char *const codes[] = {"\033[0m",    "\033[1;31m", "\033[1m",
                                        "\033[1;36m", "\033[1;32m", "\033[1;33m"};
    if (r->look.color)
        gr_str_add(out, codes[paint]);
}

// Breaks the lines of out->data + from at blanks, so that they fit into `width` columns; lines of source and commands
// stay as they are (text_width.c).
void gr_text_break(StrBuf *out, size_t from, unsigned width);

// FILE:LINE:COLUMN.
void gr_text_place(const GrReport *r, const GrFrame *f, StrBuf *out);
// "PTX line N", and why that is all. `kernel`: the finding's; NULL: not known.
void gr_text_ptx_line(const GrAccess *a, const char *kernel, StrBuf *out);

// The lines around the place.
void gr_text_excerpt(const GrReport *r, const GrFrame *f, StrBuf *out);

// The lines around the headline of an access, and beneath them the places in the toolkit's headers that it leads to.
void gr_text_source(const GrReport *r, const GrAccess *a, Arena *arena, StrBuf *out);

// "WHAT main at app.cu:12, called by …", a line, some frames of it. Nothing where no stack is known.
void gr_text_stack(const GrReport *r, const char *what, const GrStack *s, Arena *arena, StrBuf *out);

// "WHAT (x,y,z)".
void gr_text_triple(const char *what, const uint32_t v[3], StrBuf *out);

// A misuse of synchronization.
void gr_text_misuse(const GrReport *r, const GrRace *misuse, Arena *arena, StrBuf *out);

// A race or misuse in one line: "a.cu:7: data race: lost update in kernel k, 3 times, id 0123456789abcdef".
void gr_text_line(const GrReport *r, const GrRace *race, bool misuse, Arena *arena, StrBuf *out);

// Says which runs of a merged report saw it, and which command shows the race `shown` again.
void gr_text_runs(const GrReport *r, const GrSeenIn *seen, uint32_t n, const GrRace *shown, StrBuf *out);

// A race with all that is known of it. Names are demangled in `arena`.
void gr_text_race(const GrReport *r, const GrRace *race, Arena *arena, StrBuf *out);

// The values of a race that a value showed: what should have been there by program order, and what was.
void gr_text_values(const GrReport *r, const GrRace *race, Arena *arena, StrBuf *out);

// Where a side of the race is: FILE:LINE:COLUMN, or as near as that is known.
void gr_text_where(const GrReport *r, const GrRace *race, const GrAccess *a, StrBuf *out);

// A kernel's or function's name: without its parameters, unless full names are wanted.
const char *gr_text_function(const GrReport *r, const char *name, Arena *arena);

// The k-th of all causes of a report: what it is, what to do, both sides, why.
void gr_text_cause(const GrReport *r, const GrCauseRaces *all, size_t k, Arena *arena, StrBuf *out);

#endif
