// SPDX-License-Identifier: Apache-2.0
// formats — a report in each of the formats of formats.def.
//
// All of them list at most max_reports races, as report.h says of text and JSON. docs/reports.md says what each is for.
#ifndef GR_REPORT_WRITE_FORMATS_H
#define GR_REPORT_WRITE_FORMATS_H

#include "report/report.h"

// Appends the report to `out`. GR_ERR_NOMEM.
typedef gr_status GrFormatWriter(const GrReport *r, StrBuf *out, gr_error *err);

typedef struct GrFormat {
    const char *word, *file; // file: what it is called in a folder
    GrFormatWriter *write;
} GrFormat;

extern const GrFormat gr_formats[]; // ends with a word that is NULL

#define FORMAT(word, function, file) GrFormatWriter function;
#include "report/write/formats.def"
#undef FORMAT

#endif
